/* Adds constraints: valid launch sizes, and the limits of the device on resources that the problem states. */
#include "base/base.h"
#include "problem/instance.h"

#define MOST_TRIED 1024 /* combinations of values; trying them takes about as long as building a small space */

/* After the first failure (rc is not 0), nothing is added. */
typedef struct limits {
  const clt_instance *instance;
  clt_space_builder *builder;
  clt_symbol *symbols; /* of the instance */
  size_t n_symbols;
  clt_error *error;
  int rc;
  char subject[480]; /* prefix of messages: "image 'input': " */
} limits;

/* NULL: no expression. */
static const char *text_of(const limits *l, clt_expression_id id) {
  return id ? clt_expr_text(l->instance->compiled[id]) : NULL;
}

/* Whether an expression holds for all combinations of its parameters' values: 1 or 0; -1: there are more than `most`
 * combinations, or it cannot be evaluated for one of them. */
static int holds_always(const limits *l, const clt_expr *expr, size_t most) {
  clt_value values[CLT_MAX_PARAMETERS], value;
  size_t n = 1, n_slots = clt_expr_n_slots(expr);
  bool failed = false;
  if (l->instance->fixed && n_slots > 0) return -1; /* its slots are sizes, which have no list of values */
  for (size_t i = 0; i < n_slots; i++)
    if (!clt_size_multiply(&n, n, l->instance->parameters[clt_expr_slot(expr, i)].n_values) || n > most) return -1;
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0, rest = k; i < n_slots; i++) {
      const clt_parameter *parameter = &l->instance->parameters[clt_expr_slot(expr, i)];
      values[clt_expr_slot(expr, i)] = parameter->values[rest % parameter->n_values];
      rest /= parameter->n_values;
    }
    if (clt_expr_eval(expr, values, &value, NULL))
      failed = true;
    else if (!clt_value_truthy(value))
      return 0;
  }
  return failed ? -1 : 1;
}

/* Requires that a condition is true if `when` holds (NULL: always), and empties the text. Omits conditions that always
 * hold. Conditions for which this is unclear are added only with where_unclear. */
static void require_condition(limits *l, const char *when, clt_text *text, clt_constraint_origin origin,
                              const char *message, bool where_unclear) {
  clt_text guarded = {.rc = text->rc};
  clt_expr *expr = NULL;
  char *condition = NULL;
  if (when) clt_text_printf(&guarded, "not (%s) or ", when);
  clt_text_printf(&guarded, "(%s)", text->n ? text->bytes : "");
  clt_text_release(text);
  int rc = clt_text_take(&condition, &guarded, l->error);
  if (l->rc == CLT_OK) l->rc = rc;
  if (l->rc == CLT_OK) l->rc = clt_expr_compile(&expr, condition, l->symbols, l->n_symbols, l->error);
  const size_t most = origin == CLT_DEVICE_LIMIT ? 1 : MOST_TRIED;
  const int always = expr ? holds_always(l, expr, most) : 1;
  if (always == 0 || (always < 0 && where_unclear))
    l->rc = clt_space_builder_require(l->builder, expr, origin, message, l->error);
  else
    clt_expr_free(expr);
  free(condition);
}

/* Requires that the expression in text is at most bound (0: unknown) if `when` holds (NULL: always), and empties the
 * text. The message is "<what> at most <bound><unit>"; unit NULL: only what. key not NULL: the message also has the key
 * and the expression. */
static void require_at_most(limits *l, const char *when, clt_text *text, uint64_t bound, const char *what,
                            const char *unit, const char *key) {
  const unsigned long long most = bound;
  clt_text condition = {.rc = text->rc};
  char message[600];
  int n = snprintf(message, sizeof message, "%s%s", l->subject, what);
  if (unit) n += snprintf(message + n, sizeof message - (size_t)n, " at most %llu%s", most, unit);
  if (key) snprintf(message + n, sizeof message - (size_t)n, " (%s: %.300s)", key, text->n ? text->bytes : "");
  clt_text_printf(&condition, "(%s) <= %llu", text->n ? text->bytes : "", most);
  clt_text_release(text);
  if (most > 0 && most <= INT64_MAX)
    require_condition(l, when, &condition, CLT_DEVICE_LIMIT, message, true);
  else
    clt_text_release(&condition);
}

/* Writes the number of elements of a stored argument in a dimension, including the border. */
static void write_side(const limits *l, clt_text *out, const clt_argument *argument, size_t d) {
  if (d < argument->border.n)
    clt_text_printf(out, "((%s) + 2 * (%s))", text_of(l, argument->size.id[d]), text_of(l, argument->border.id[d]));
  else
    clt_text_printf(out, "(%s)", text_of(l, argument->size.id[d]));
}

/* Writes the size of a stored argument as number of elements times unit. */
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
  /* The launch runs if "When" holds and "Repeat" is not 0. */
  const char *when = text_of(l, launch->when), *repeat = text_of(l, launch->repeat);
  clt_text text = {0};
  char *both = NULL, message[600];
  bool unknown = clt_needs_device(l->instance, launch->when) || clt_needs_device(l->instance, launch->repeat);
  for (size_t d = 0; d < local->n; d++) unknown = unknown || clt_needs_device(l->instance, local->id[d]);
  if (unknown) return;
  if (repeat && holds_always(l, l->instance->compiled[launch->repeat], 1) > 0) repeat = NULL;
  if (when && repeat && (both = clt_format("(%s) and (%s)", when, repeat)) == NULL) l->rc = clt_fail_memory(l->error);
  if (when == NULL) when = repeat;
  if (both) when = both;
  for (size_t d = 0; d < local->n; d++) {
    const char *size = text_of(l, local->id[d]), *key = problem->expressions[local->id[d]].key;
    snprintf(message, sizeof message, "%s: %.300s must be a whole number of at least 1", key, size);
    clt_text_printf(&text, "(%s) >= 1 and (%s) %% 1 == 0", size, size);
    require_condition(l, when, &text, CLT_CONDITION, message, true);
    clt_text_add(&text, size);
    require_at_most(l, when, &text, device->max_work_item_sizes[d], names[d], "", key);
  }
  /* If it takes long to show that a global size is never 0, no constraint is added, because it could join many
   * parameters into one group; the launch checks it. */
  for (size_t d = 0; d < launch->global.n; d++) {
    const clt_expression_id id = launch->global.id[d];
    if (clt_needs_device(l->instance, id)) continue;
    snprintf(message, sizeof message, "%s: %.300s must be above 0", problem->expressions[id].key,
             clt_expr_text(l->instance->compiled[id]));
    clt_text_printf(&text, "(%s) > 0", text_of(l, id));
    require_condition(l, when, &text, CLT_CONDITION, message, false);
  }
  for (size_t d = 0; d < local->n; d++) clt_text_printf(&text, "%s(%s)", d ? " * " : "", text_of(l, local->id[d]));
  if (local->n) require_at_most(l, when, &text, device->max_work_group_size, "work-group size", "", launch->key);
  size_t n = 0; /* arguments in local memory, whose sizes are added */
  for (size_t i = 0; l->instance->has_device && i < problem->n_arguments; i++) {
    const clt_argument *argument = &problem->arguments[i];
    bool taken = launch->all_args;
    for (size_t k = 0; k < launch->n_args && !taken; k++) taken = strcmp(launch->args[k], argument->name) == 0;
    if (argument->plan.kind != CLT_ARG_LOCAL || !taken) continue;
    clt_text_add(&text, n++ ? " + (" : "(");
    write_size(l, &text, argument, argument->plan.element.bytes);
    if (argument->when) clt_text_printf(&text, " if (%s) else 0", text_of(l, argument->when));
    clt_text_add(&text, ")");
  }
  if (n) require_at_most(l, when, &text, device->local_memory_bytes, "local memory", " bytes", NULL);
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
  if (image && !device->images && device->max_work_group_size > 0) { /* else only the name of the device is known */
    clt_text_add(&text, "2");                                        /* 2 <= 1: no configuration is valid */
    require_at_most(l, when, &text, 1, "the device does not support images", NULL, NULL);
  } else if (argument->plan.kind == CLT_ARG_IMAGE1D_BUFFER) { /* all elements are in one row */
    write_size(l, &text, argument, 1);
    require_at_most(l, when, &text, device->image1d_buffer_max_width, "elements", "", NULL);
  } else {
    for (size_t d = 0; image && d < argument->size.n; d++) {
      write_side(l, &text, argument, d);
      require_at_most(l, when, &text, bounds[argument->plan.kind == CLT_ARG_IMAGE3D][d], sides[d], "", NULL);
    }
  }
  uint64_t bound = device->max_allocation_bytes;
  const bool constant = argument->plan.kind == CLT_ARG_CONSTANT && device->max_constant_bytes > 0;
  if (constant && (bound == 0 || device->max_constant_bytes < bound)) bound = device->max_constant_bytes;
  write_size(l, &text, argument, argument->plan.element.bytes);
  snprintf(l->subject, sizeof l->subject, "argument '%.100s' takes %.200s bytes; '%.100s': ", argument->name,
           text.n ? text.bytes : "", device->name);
  require_at_most(l, when, &text, bound, constant ? "constant memory" : "allocated memory", " bytes", NULL);
  l->subject[0] = 0;
}

int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_device_info *device = &instance->device;
  const bool known = instance->has_device;
  limits l = {.instance = instance, .builder = builder, .error = error};
  size_t n_constants;
  l.rc = clt_instance_symbols(instance, &l.symbols, &l.n_symbols, &n_constants, error);
  for (size_t i = 0; l.rc == CLT_OK && i < problem->n_launches; i++) limit_launch(&l, &problem->launches[i]);
  for (size_t i = 0; l.rc == CLT_OK && known && i < problem->n_arguments; i++)
    if (clt_holds_data(&problem->arguments[i])) limit_argument(&l, &problem->arguments[i]);
  for (size_t i = 0; l.rc == CLT_OK && known && i < problem->n_resources; i++) {
    const clt_resource *resource = &problem->resources[i];
    const char *key = problem->expressions[resource->value].key;
    clt_text text = {0};
    clt_text_add(&text, text_of(&l, resource->value));
    if (strcmp(resource->name, "LocalMemoryBytes") == 0)
      require_at_most(&l, NULL, &text, device->local_memory_bytes, "local memory", " bytes", key);
    else if (strcmp(resource->name, "WorkGroupSize") == 0)
      require_at_most(&l, NULL, &text, device->max_work_group_size, "work-group size", "", key);
    clt_text_release(&text);
  }
  free(l.symbols);
  return l.rc;
}
