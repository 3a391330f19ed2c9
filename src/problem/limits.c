/* The device's limits as constraints, wherever the problem states the resource. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

/* After the first failure (rc is no longer 0) nothing is added. */
typedef struct limits {
  const clt_instance *instance;
  clt_space_builder *builder;
  clt_error *error;
  int rc;
} limits;

/* NULL: no expression. */
static const char *text_of(const limits *l, clt_expression_id id) {
  return id == CLT_NO_EXPRESSION ? NULL : clt_expr_text(l->instance->compiled[id]);
}

static bool always_holds(const clt_expr *expr) {
  clt_value value;
  return clt_expr_n_slots(expr) == 0 && clt_expr_eval(expr, NULL, &value, NULL) == CLT_OK && clt_value_truthy(value);
}

/* condition has to hold where `when` does (NULL: always); what holds for every configuration is left out. */
static void require(limits *l, const char *when, const char *condition, const char *message) {
  char *guarded = when ? clt_format("not (%s) or (%s)", when, condition) : strdup(condition);
  clt_expr *expr = NULL;
  if (guarded == NULL && l->rc == CLT_OK) l->rc = clt_fail_memory(l->error);
  if (l->rc == CLT_OK) l->rc = clt_space_builder_compile(&expr, l->builder, guarded, NULL, l->error);
  if (l->rc == CLT_OK && !always_holds(expr))
    l->rc = clt_space_builder_require(l->builder, expr, CLT_DEVICE_LIMIT, message, l->error);
  else
    clt_expr_free(expr);
  free(guarded);
}

/* The number that was written to text has to be at most bound; 0 is an unknown one. Empties the text. */
static void require_at_most(limits *l, const char *when, clt_text *text, uint64_t bound, const char *what,
                            const char *unit) {
  char message[300], *number = NULL, *condition = NULL;
  snprintf(message, sizeof message, "%s at most %llu%s", what, (unsigned long long)bound, unit);
  int rc = clt_text_take(&number, text, l->error);
  if (rc == CLT_OK && (condition = clt_format("(%s) <= %llu", number, (unsigned long long)bound)) == NULL)
    rc = clt_fail_memory(l->error);
  if (l->rc == CLT_OK) l->rc = rc;
  if (l->rc == CLT_OK && bound > 0 && bound <= INT64_MAX) require(l, when, condition, message);
  free(number);
  free(condition);
}

/* The number of elements of a stored argument along a dimension, border included. */
static void write_side(const limits *l, clt_text *out, const clt_argument *argument, size_t d) {
  if (d < argument->border.n)
    clt_text_printf(out, "((%s) + 2 * (%s))", text_of(l, argument->size.id[d]), text_of(l, argument->border.id[d]));
  else
    clt_text_printf(out, "(%s)", text_of(l, argument->size.id[d]));
}

/* Its size, in multiples of unit. */
static void write_size(const limits *l, clt_text *out, const clt_argument *argument, size_t unit) {
  clt_text_printf(out, "%zu", unit);
  for (size_t d = 0; d < argument->size.n; d++) {
    clt_text_add(out, " * ");
    write_side(l, out, argument, d);
  }
}

static bool takes_argument(const clt_launch *launch, const char *name) {
  for (size_t i = 0; i < launch->n_args; i++)
    if (strcmp(launch->args[i], name) == 0) return true;
  return launch->all_args;
}

static void limit_launch(limits *l, const clt_launch *launch) {
  static const char *const names[] = {"work-group size in x", "work-group size in y", "work-group size in z"};
  const clt_device_info *device = &l->instance->device;
  const clt_problem *problem = l->instance->problem;
  const clt_extent *local = &launch->local;
  /* It takes place where "When" holds and "Repeat" is not 0. */
  const char *when = text_of(l, launch->when), *repeat = text_of(l, launch->repeat);
  clt_text text = {0};
  char *both = NULL;
  if (repeat && always_holds(l->instance->compiled[launch->repeat])) repeat = NULL;
  if (when && repeat && (both = clt_format("(%s) and (%s)", when, repeat)) == NULL) l->rc = clt_fail_memory(l->error);
  when = both ? both : when ? when : repeat;
  for (size_t d = 0; d < local->n && d < 3; d++) {
    clt_text_add(&text, text_of(l, local->id[d]));
    require_at_most(l, when, &text, device->max_work_item_sizes[d], names[d], "");
  }
  for (size_t d = 0; d < local->n; d++) clt_text_printf(&text, "%s(%s)", d ? " * " : "", text_of(l, local->id[d]));
  if (local->n) require_at_most(l, when, &text, device->max_work_group_size, "work-group size", "");
  size_t n = 0; /* arguments of local memory, which count together */
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    if (argument->kind != CLT_ARG_LOCAL || !takes_argument(launch, argument->name)) continue;
    clt_text_add(&text, n++ ? " + (" : "(");
    write_size(l, &text, argument, argument->element.bytes);
    if (argument->when != CLT_NO_EXPRESSION) clt_text_printf(&text, " if (%s) else 0", text_of(l, argument->when));
    clt_text_add(&text, ")");
  }
  if (n) require_at_most(l, when, &text, device->local_memory_bytes, "local memory", " bytes");
  clt_text_release(&text);
  free(both);
}

static void limit_image(limits *l, const clt_argument *argument) {
  static const char *const sides[] = {"width", "height", "depth"};
  const clt_device_info *device = &l->instance->device;
  const uint64_t bounds[2][3] = {{device->image2d_max_width, device->image2d_max_height, 0},
                                 {device->image3d_max_width, device->image3d_max_height, device->image3d_max_depth}};
  const char *when = text_of(l, argument->when);
  clt_text text = {0};
  char what[200];
  if (!device->images) {
    snprintf(what, sizeof what, "image '%.100s': the device has no images", argument->name);
    require(l, when, "0 == 1", what);
  } else if (argument->kind == CLT_ARG_IMAGE1D_BUFFER) { /* all elements stand in one row */
    snprintf(what, sizeof what, "image '%.100s': elements", argument->name);
    write_size(l, &text, argument, 1);
    require_at_most(l, when, &text, device->image1d_buffer_max_width, what, "");
  } else {
    for (size_t d = 0; d < argument->size.n && d < 3; d++) {
      snprintf(what, sizeof what, "image '%.100s': %s", argument->name, sides[d]);
      write_side(l, &text, argument, d);
      require_at_most(l, when, &text, bounds[argument->kind == CLT_ARG_IMAGE3D][d], what, "");
    }
  }
}

static void limit_argument(limits *l, const clt_argument *argument) {
  const clt_device_info *device = &l->instance->device;
  uint64_t bound = device->max_allocation_bytes;
  bool constant = argument->kind == CLT_ARG_CONSTANT && device->max_constant_bytes > 0;
  clt_text text = {0};
  char what[200];
  if (clt_arg_is_image(argument->kind)) limit_image(l, argument);
  if (constant && (bound == 0 || device->max_constant_bytes < bound)) bound = device->max_constant_bytes;
  snprintf(what, sizeof what, "argument '%.100s': %s memory", argument->name, constant ? "constant" : "allocated");
  write_size(l, &text, argument, argument->element.bytes);
  require_at_most(l, text_of(l, argument->when), &text, bound, what, " bytes");
}

int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  limits l = {.instance = instance, .builder = builder, .error = error};
  if (!instance->has_device) return CLT_OK;
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_launches; i++) limit_launch(&l, &problem->launches[i]);
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_arguments; i++)
    if (clt_holds_data(&problem->arguments[i])) limit_argument(&l, &problem->arguments[i]);
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_resources; i++) {
    const clt_resource *resource = &problem->resources[i];
    bool local = strcmp(resource->name, "LocalMemoryBytes") == 0;
    clt_text text = {0};
    if (!local && strcmp(resource->name, "WorkGroupSize") != 0) continue;
    clt_text_add(&text, text_of(&l, resource->value));
    require_at_most(&l, NULL, &text, local ? instance->device.local_memory_bytes : instance->device.max_work_group_size,
                    local ? "local memory" : "work-group size", local ? " bytes" : "");
  }
  return l.rc;
}
