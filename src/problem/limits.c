/* The device's limits as constraints, wherever the problem states the resource. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

typedef struct limits {
  const clt_instance *instance;
  clt_space_builder *builder;
  clt_symbol *symbols;
  size_t n_symbols;
  clt_error *error;
} limits;

static const char *text_of(const limits *l, clt_expression_id id) { return clt_expr_text(l->instance->compiled[id]); }

static const char *optional_text(const limits *l, clt_expression_id id) {
  return id == CLT_NO_EXPRESSION ? NULL : text_of(l, id);
}

/* A constraint that holds for every configuration is no use to anybody. */
static bool always_holds(const limits *l, const char *text) {
  clt_expr *compiled = NULL;
  clt_value value;
  if (clt_expr_compile(&compiled, text, l->symbols, l->n_symbols, NULL) != CLT_OK) return false;
  bool holds = clt_expr_n_slots(compiled) == 0 && clt_expr_eval(compiled, NULL, &value, NULL) == CLT_OK &&
               clt_value_truthy(value);
  clt_expr_free(compiled);
  return holds;
}

/* "condition" has to hold where `when` does (NULL: always). Takes the ownership of condition (NULL: out of memory). */
static int require(const limits *l, const char *when, char *condition, const char *message) {
  char *text = condition;
  if (condition && when) {
    text = clt_format("not (%s) or (%s)", when, condition);
    free(condition);
  }
  if (text == NULL) return clt_fail_memory(l->error);
  int rc = always_holds(l, text) ? CLT_OK
                                 : clt_space_builder_constraint(l->builder, text, CLT_DEVICE_LIMIT, message, l->error);
  free(text);
  return rc;
}

/* text <= bound; a bound of 0 is unknown. */
static int at_most(const limits *l, const char *when, const char *text, uint64_t bound, const char *what,
                   const char *unit) {
  char message[300];
  if (bound == 0 || bound > INT64_MAX) return CLT_OK;
  snprintf(message, sizeof message, "%s at most %llu%s", what, (unsigned long long)bound, unit);
  return require(l, when, clt_format("(%s) <= %llu", text, (unsigned long long)bound), message);
}

/* Where a launch takes place: where "When" holds and "Repeat" is not 0. *out: NULL for always, malloc'ed. */
static int launch_guard(const limits *l, const clt_launch *launch, char **out) {
  const char *when = optional_text(l, launch->when), *repeat = optional_text(l, launch->repeat);
  *out = NULL;
  if (repeat && always_holds(l, repeat)) repeat = NULL;
  if (when == NULL && repeat == NULL) return CLT_OK;
  *out = when && repeat ? clt_format("(%s) and (%s)", when, repeat) : strdup(when ? when : repeat);
  return *out ? CLT_OK : clt_fail_memory(l->error);
}

static int limit_work_group(const limits *l, const clt_launch *launch, const char *when) {
  const clt_device_info *device = &l->instance->device;
  static const char *const names[] = {"work-group size in x", "work-group size in y", "work-group size in z"};
  const clt_extent *local = &launch->local;
  int rc = CLT_OK;
  for (size_t d = 0; rc == CLT_OK && d < local->n && d < 3; d++)
    rc = at_most(l, when, text_of(l, local->id[d]), device->max_work_item_sizes[d], names[d], "");
  if (rc || local->n == 0) return rc;
  char *product =
      clt_format("(%s) * (%s) * (%s)", text_of(l, local->id[0]), local->n > 1 ? text_of(l, local->id[1]) : "1",
                 local->n > 2 ? text_of(l, local->id[2]) : "1");
  if (product == NULL) return clt_fail_memory(l->error);
  rc = at_most(l, when, product, device->max_work_group_size, "work-group size", "");
  free(product);
  return rc;
}

static bool takes(const clt_launch *launch, const char *name) {
  if (launch->all_args) return true;
  for (size_t i = 0; i < launch->n_args; i++)
    if (strcmp(launch->args[i], name) == 0) return true;
  return false;
}

/* Writes the number of elements of a stored argument, border included, as an expression. */
static void write_elements(const limits *l, FILE *out, const clt_argument *argument) {
  fputc('1', out);
  for (size_t d = 0; d < argument->size.n; d++) {
    if (d < argument->border.n) {
      fprintf(out, " * ((%s) + 2 * (%s))", text_of(l, argument->size.id[d]), text_of(l, argument->border.id[d]));
    } else {
      fprintf(out, " * (%s)", text_of(l, argument->size.id[d]));
    }
  }
}

static void write_bytes(const limits *l, FILE *out, const clt_argument *argument) {
  fprintf(out, "%zu * ", argument->element.bytes);
  write_elements(l, out, argument);
}

/* All arguments of local memory of a launch together. */
static int limit_local_arguments(const limits *l, const clt_launch *launch, const char *when) {
  const clt_problem *problem = l->instance->problem;
  char *sum = NULL;
  size_t bytes = 0, n = 0;
  FILE *out = open_memstream(&sum, &bytes);
  if (out == NULL) return clt_fail_memory(l->error);
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    if (argument->kind != CLT_ARG_LOCAL || !takes(launch, argument->name)) continue;
    fputs(n++ ? " + (" : "(", out);
    write_bytes(l, out, argument);
    if (argument->when != CLT_NO_EXPRESSION) fprintf(out, " if (%s) else 0", text_of(l, argument->when));
    fputc(')', out);
  }
  int rc = fclose(out) == 0 ? CLT_OK : clt_fail_memory(l->error);
  if (rc == CLT_OK && n > 0)
    rc = at_most(l, when, sum, l->instance->device.local_memory_bytes, "local memory", " bytes");
  free(sum);
  return rc;
}

static int limit_launch(const limits *l, const clt_launch *launch) {
  char *when = NULL;
  int rc = launch_guard(l, launch, &when);
  if (rc == CLT_OK) rc = limit_work_group(l, launch, when);
  if (rc == CLT_OK) rc = limit_local_arguments(l, launch, when);
  free(when);
  return rc;
}

static int limit_bytes(const limits *l, const clt_argument *argument) {
  const clt_device_info *device = &l->instance->device;
  uint64_t bound = device->max_allocation_bytes;
  char what[200], *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return clt_fail_memory(l->error);
  write_bytes(l, out, argument);
  int rc = fclose(out) == 0 ? CLT_OK : clt_fail_memory(l->error);
  bool constant = argument->kind == CLT_ARG_CONSTANT && device->max_constant_bytes > 0;
  if (constant && (bound == 0 || device->max_constant_bytes < bound)) bound = device->max_constant_bytes;
  snprintf(what, sizeof what, "argument '%.100s': %s memory", argument->name, constant ? "constant" : "allocated");
  if (rc == CLT_OK) rc = at_most(l, optional_text(l, argument->when), text, bound, what, " bytes");
  free(text);
  return rc;
}

static int limit_image_side(const limits *l, const clt_argument *argument, size_t d, uint64_t bound) {
  static const char *const sides[] = {"width", "height", "depth"};
  char what[200];
  const char *size = text_of(l, argument->size.id[d]);
  char *text =
      d < argument->border.n ? clt_format("(%s) + 2 * (%s)", size, text_of(l, argument->border.id[d])) : strdup(size);
  if (text == NULL) return clt_fail_memory(l->error);
  snprintf(what, sizeof what, "image '%.100s': %s", argument->name, sides[d]);
  int rc = at_most(l, optional_text(l, argument->when), text, bound, what, "");
  free(text);
  return rc;
}

/* All elements stand in one row. */
static int limit_image_buffer(const limits *l, const clt_argument *argument) {
  char what[200], *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return clt_fail_memory(l->error);
  write_elements(l, out, argument);
  int rc = fclose(out) == 0 ? CLT_OK : clt_fail_memory(l->error);
  snprintf(what, sizeof what, "image '%.100s': elements", argument->name);
  if (rc == CLT_OK)
    rc = at_most(l, optional_text(l, argument->when), text, l->instance->device.image1d_buffer_max_width, what, "");
  free(text);
  return rc;
}

static int limit_image(const limits *l, const clt_argument *argument) {
  const clt_device_info *device = &l->instance->device;
  const uint64_t sides[2][3] = {{device->image2d_max_width, device->image2d_max_height, 0},
                                {device->image3d_max_width, device->image3d_max_height, device->image3d_max_depth}};
  char message[200];
  int rc = CLT_OK;
  snprintf(message, sizeof message, "image '%.100s': the device has no images", argument->name);
  if (!device->images) return require(l, optional_text(l, argument->when), strdup("0 == 1"), message);
  if (argument->kind == CLT_ARG_IMAGE1D_BUFFER) return limit_image_buffer(l, argument);
  for (size_t d = 0; rc == CLT_OK && d < argument->size.n && d < 3; d++)
    rc = limit_image_side(l, argument, d, sides[argument->kind == CLT_ARG_IMAGE3D][d]);
  return rc;
}

static int limit_argument(const limits *l, const clt_argument *argument) {
  int rc = CLT_OK;
  if (!clt_holds_data(argument)) return CLT_OK;
  if (clt_arg_is_image(argument->kind)) rc = limit_image(l, argument);
  return rc ? rc : limit_bytes(l, argument);
}

static int limit_resource(const limits *l, const clt_resource *resource) {
  const clt_device_info *device = &l->instance->device;
  if (strcmp(resource->name, "LocalMemoryBytes") == 0)
    return at_most(l, NULL, text_of(l, resource->value), device->local_memory_bytes, "local memory", " bytes");
  if (strcmp(resource->name, "WorkGroupSize") == 0)
    return at_most(l, NULL, text_of(l, resource->value), device->max_work_group_size, "work-group size", "");
  return CLT_OK;
}

int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  limits l = {.instance = instance, .builder = builder, .error = error};
  if (!instance->has_device) return CLT_OK;
  int rc = clt_instance_symbols(instance, &l.symbols, &l.n_symbols, error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_launches; i++) rc = limit_launch(&l, &problem->launches[i]);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_arguments; i++) rc = limit_argument(&l, &problem->arguments[i]);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_resources; i++) rc = limit_resource(&l, &problem->resources[i]);
  free(l.symbols);
  return rc;
}
