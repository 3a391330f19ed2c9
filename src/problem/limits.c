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
  char subject[120]; /* that messages begin with: "image 'input': " */
} limits;

/* NULL: no expression. */
static const char *text_of(const limits *l, clt_expression_id id) {
  return !id ? NULL : clt_expr_text(l->instance->compiled[id]);
}

static bool always_holds(const clt_expr *expr) {
  clt_value value;
  return clt_expr_n_slots(expr) == 0 && clt_expr_eval(expr, NULL, &value, NULL) == CLT_OK && clt_value_truthy(value);
}

/* The number in text, which is emptied, has to be at most bound (0: unknown) where `when` holds (NULL: always). What
 * holds for every configuration is left out. unit NULL: what says it all. */
static void require_at_most(limits *l, const char *when, clt_text *text, uint64_t bound, const char *what,
                            const char *unit) {
  const unsigned long long most = bound;
  char message[300], *condition = NULL;
  clt_text guarded = {.rc = text->rc};
  clt_expr *expr = NULL;
  int n = snprintf(message, sizeof message, "%s%s", l->subject, what);
  if (unit) snprintf(message + n, sizeof message - (size_t)n, " at most %llu%s", most, unit);
  if (when) clt_text_printf(&guarded, "not (%s) or ", when);
  clt_text_printf(&guarded, "((%s) <= %llu)", text->n ? text->bytes : "", most);
  clt_text_release(text);
  int rc = clt_text_take(&condition, &guarded, l->error);
  if (l->rc == CLT_OK) l->rc = rc;
  if (l->rc == CLT_OK && most > 0 && most <= INT64_MAX)
    l->rc = clt_space_builder_compile(&expr, l->builder, condition, NULL, l->error);
  if (expr && !always_holds(expr))
    l->rc = clt_space_builder_require(l->builder, expr, CLT_DEVICE_LIMIT, message, l->error);
  else
    clt_expr_free(expr);
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
  for (size_t d = 0; d < local->n; d++) {
    clt_text_add(&text, text_of(l, local->id[d]));
    require_at_most(l, when, &text, device->max_work_item_sizes[d], names[d], "");
  }
  for (size_t d = 0; d < local->n; d++) clt_text_printf(&text, "%s(%s)", d ? " * " : "", text_of(l, local->id[d]));
  if (local->n) require_at_most(l, when, &text, device->max_work_group_size, "work-group size", "");
  size_t n = 0; /* arguments of local memory, which count together */
  for (size_t i = 0; i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    bool taken = launch->all_args;
    for (size_t k = 0; k < launch->n_args && !taken; k++) taken = strcmp(launch->args[k], argument->name) == 0;
    if (argument->plan.kind != CLT_ARG_LOCAL || !taken) continue;
    clt_text_add(&text, n++ ? " + (" : "(");
    write_size(l, &text, argument, argument->plan.element.bytes);
    if (argument->when) clt_text_printf(&text, " if (%s) else 0", text_of(l, argument->when));
    clt_text_add(&text, ")");
  }
  if (n) require_at_most(l, when, &text, device->local_memory_bytes, "local memory", " bytes");
  clt_text_release(&text);
  free(both);
}

static void limit_argument(limits *l, const clt_argument *argument) {
  static const char *const sides[] = {"width", "height", "depth"};
  const clt_device_info *device = &l->instance->device;
  const uint64_t bounds[2][3] = {{device->image2d_max_width, device->image2d_max_height, 0},
                                 {device->image3d_max_width, device->image3d_max_height, device->image3d_max_depth}};
  const char *when = text_of(l, argument->when);
  const bool image = clt_arg_is_image(argument->plan.kind);
  clt_text text = {0};
  snprintf(l->subject, sizeof l->subject, "image '%.100s': ", argument->name);
  if (image && !device->images) {
    clt_text_add(&text, "2"); /* no configuration is possible */
    require_at_most(l, when, &text, 1, "the device has no images", NULL);
  } else if (argument->plan.kind == CLT_ARG_IMAGE1D_BUFFER) { /* all elements stand in one row */
    write_size(l, &text, argument, 1);
    require_at_most(l, when, &text, device->image1d_buffer_max_width, "elements", "");
  } else {
    for (size_t d = 0; image && d < argument->size.n; d++) {
      write_side(l, &text, argument, d);
      require_at_most(l, when, &text, bounds[argument->plan.kind == CLT_ARG_IMAGE3D][d], sides[d], "");
    }
  }
  uint64_t bound = device->max_allocation_bytes;
  const bool constant = argument->plan.kind == CLT_ARG_CONSTANT && device->max_constant_bytes > 0;
  if (constant && (bound == 0 || device->max_constant_bytes < bound)) bound = device->max_constant_bytes;
  snprintf(l->subject, sizeof l->subject, "argument '%.100s': ", argument->name);
  write_size(l, &text, argument, argument->plan.element.bytes);
  require_at_most(l, when, &text, bound, constant ? "constant memory" : "allocated memory", " bytes");
  l->subject[0] = 0;
}

int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_device_info *device = &instance->device;
  limits l = {.instance = instance, .builder = builder, .error = error};
  if (!instance->has_device) return CLT_OK;
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_launches; i++) limit_launch(&l, &problem->launches[i]);
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_arguments; i++)
    if (clt_holds_data(&problem->arguments[i])) limit_argument(&l, &problem->arguments[i]);
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_resources; i++) {
    const clt_resource *resource = &problem->resources[i];
    clt_text text = {0};
    clt_text_add(&text, text_of(&l, resource->value));
    if (strcmp(resource->name, "LocalMemoryBytes") == 0)
      require_at_most(&l, NULL, &text, device->local_memory_bytes, "local memory", " bytes");
    else if (strcmp(resource->name, "WorkGroupSize") == 0)
      require_at_most(&l, NULL, &text, device->max_work_group_size, "work-group size", "");
    clt_text_release(&text);
  }
  return l.rc;
}
