/* The launches of a configuration: at an instance's sizes; and, with the conditions, as C code over any sizes. */
#include "base/base.h"
#include "problem/instance.h"
#include "problem/plan.h"
#include "space/space.h"

/* --- at the instance's sizes --- */

clt_launch_sizes *clt_launch_sizes_copy(const clt_launch_sizes *launches, size_t n) {
  size_t bytes = n * sizeof *launches;
  for (size_t i = 0; i < n; i++) bytes += strlen(launches[i].kernel) + 1;
  clt_launch_sizes *copy = n ? malloc(bytes) : NULL;
  if (copy == NULL) return NULL;
  char *text = (char *)&copy[n];
  for (size_t i = 0; i < n; i++) {
    copy[i] = launches[i];
    copy[i].kernel = strcpy(text, launches[i].kernel);
    text += strlen(text) + 1;
  }
  return copy;
}

int clt_instance_launches(clt_launch_sizes **out, size_t *n, const clt_instance *instance, clt_config config,
                          clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_calculation c = {instance, slots, error, CLT_OK};
  if (!clt_space_numbers(instance->space, config))
    return clt_fail(error, CLT_E_RANGE, "configuration %llu is outside of the space", (unsigned long long)config);
  clt_launch_sizes *launches = clt_new_array(problem->n_launches, sizeof *launches), *copy = NULL;
  if (launches == NULL) return clt_fail_memory(error);
  clt_instance_slots(instance, config, slots);
  size_t n_launches = 0;
  for (size_t i = 0; i < problem->n_launches && c.rc == CLT_OK; i++) {
    clt_plan_launch launch = {0};
    if (!clt_plan_launch_sizes(&launch, &c, &problem->launches[i])) continue;
    if (problem->launches[i].kernel == NULL || problem->launches[i].global.n == 0)
      continue; /* only the generator knows it */
    clt_launch_sizes *l = &launches[n_launches++];
    *l = (clt_launch_sizes){.kernel = problem->launches[i].kernel,
                            .n_dimensions = launch.n_dimensions,
                            .repeat = launch.repeat,
                            .group = (unsigned)problem->launches[i].group};
    memcpy(l->global, launch.global, sizeof l->global);
    memcpy(l->local, launch.local, sizeof l->local);
  }
  if (c.rc == CLT_OK && n_launches > 0 && (copy = clt_launch_sizes_copy(launches, n_launches)) == NULL)
    c.rc = clt_fail_memory(error);
  free(launches);
  if (c.rc) return c.rc;
  *out = copy;
  *n = n_launches;
  return CLT_OK;
}

/* --- at other sizes --- */

/* Makes an instance in which the tuning parameters have fixed values (borrowed) and the sizes are slots, and a builder
 * with its constraints. Free both, also on failure. */
static int fix_values(clt_instance **out, clt_space_builder **builder, const clt_instance *instance,
                      const clt_value *values, clt_error *error) {
  const char *key = NULL;
  int rc = instance->has_device ? CLT_OK : clt_fail(error, CLT_E_DEVICE, "no device was chosen");
  if (rc == CLT_OK) rc = clt_instance_new_compiled(out, instance->problem, NULL, 0, &instance->device, values, error);
  if (rc == CLT_OK) rc = clt_space_builder_new(builder, error);
  return rc ? rc : clt_instance_fill_builder(*out, *builder, &key, error);
}

bool clt_problem_allows(const clt_problem *problem, const int64_t *sizes) {
  for (size_t i = 0; i < problem->n_passed; i++)
    if (sizes[i] < problem->sizes[i].min || sizes[i] > problem->sizes[i].max) return false;
  return true;
}

struct clt_size_tester {
  const clt_problem *problem;
  clt_value values[CLT_MAX_PARAMETERS], *slots; /* of the parameters; one per size */
  clt_instance *fixed;
  clt_space_builder *builder;
};

void clt_size_tester_free(clt_size_tester *tester) {
  if (tester == NULL) return;
  clt_space_builder_free(tester->builder);
  clt_instance_free(tester->fixed);
  free(tester->slots);
  free(tester);
}

clt_size_tester *clt_size_tester_new(const clt_instance *instance, clt_config config) {
  clt_size_tester *tester = calloc(1, sizeof *tester);
  if (tester == NULL) return NULL;
  tester->problem = instance->problem;
  tester->slots = clt_new_array(instance->problem->n_passed, sizeof *tester->slots);
  clt_instance_slots(instance, config, tester->values);
  if (tester->slots && !fix_values(&tester->fixed, &tester->builder, instance, tester->values, NULL)) return tester;
  clt_size_tester_free(tester);
  return NULL;
}

bool clt_size_tester_holds(clt_size_tester *tester, const int64_t *sizes) {
  if (!clt_problem_allows(tester->problem, sizes)) return false;
  for (size_t i = 0; i < tester->problem->n_passed; i++)
    tester->slots[i] = (clt_value){.type = CLT_INT, .integer = sizes[i]};
  return clt_space_builder_holds(tester->builder, tester->slots);
}

bool clt_instance_valid_at(const clt_instance *instance, clt_config config, const int64_t *sizes) {
  clt_size_tester *tester = clt_size_tester_new(instance, config);
  const bool valid = tester && clt_size_tester_holds(tester, sizes);
  clt_size_tester_free(tester);
  return valid;
}

/* --- as C --- */

typedef struct c_texts {
  const clt_instance *instance; /* has fixed values */
  const char *const *names;
  clt_text out;
  clt_error *why;
  int rc;
} c_texts;

static void write_c(c_texts *t, clt_expression_id id, bool truth) {
  if (t->rc == CLT_OK) t->rc = clt_expr_write_c(&t->out, t->instance->compiled[id], t->names, false, truth, t->why);
}

/* Writes the size in a dimension, or `otherwise` if the extent does not have it. */
static void write_c_size(c_texts *t, const char *before, const clt_extent *extent, size_t d, const char *otherwise) {
  clt_text_add(&t->out, before);
  if (d < extent->n && extent->id[d])
    write_c(t, extent->id[d], false);
  else
    clt_text_add(&t->out, otherwise);
}

static const char *name_of_kernel(const char *name) { return clt_is_name(name) ? name : ""; }

static void write_c_launch(c_texts *t, const clt_launch *launch) {
  const size_t n = launch->global.n > launch->local.n ? launch->global.n : launch->local.n;
  const clt_expr *when = launch->when ? t->instance->compiled[launch->when] : NULL;
  clt_value runs = {.type = CLT_BOOL, .integer = true};
  bool same = when == NULL || (clt_expr_n_slots(when) == 0 && clt_expr_eval(when, NULL, &runs, NULL) == CLT_OK);
  if (same && !clt_value_truthy(runs)) return;
  clt_text_add(&t->out, "      ");
  if (!same) {
    clt_text_add(&t->out, "if (!failed && ");
    write_c(t, launch->when, true);
    clt_text_add(&t->out, ")\n        ");
  }
  clt_text_printf(&t->out, "@add_launch(out, capacity, &i, &failed, \"%s\", %zu, %zu, %d",
                  name_of_kernel(launch->kernel), n, launch->group, launch->grid != CLT_GRID_ITEMS);
  write_c_size(t, ", ", &(clt_extent){1, {launch->repeat}}, 0, "1.0");
  for (size_t d = 0; d < 3; d++) {
    const bool divided = launch->grid == CLT_GRID_DIVIDED && d < launch->divisor.n && launch->divisor.id[d];
    write_c_size(t, divided ? ", @share(" : ", ", &launch->global, d, "1.0");
    if (divided) write_c_size(t, ", ", &launch->divisor, d, "1.0");
    if (divided) clt_text_add(&t->out, ", &failed)");
  }
  for (size_t d = 0; d < 3; d++) write_c_size(t, ", ", &launch->local, d, launch->local.n ? "1.0" : "-1.0");
  clt_text_add(&t->out, ");\n");
}

/* A header has one text per option, so an option must not depend on sizes. */
static int write_formulas(clt_c_formulas *out, const clt_instance *fixed, const clt_space_builder *builder,
                          const char *const *names, clt_error *why) {
  const clt_problem *problem = fixed->problem;
  c_texts t = {.instance = fixed, .names = names, .why = why};
  for (const clt_compiler_option *o = problem->options; o < problem->options + problem->n_options; o++) {
    size_t n_slots = o->when ? clt_expr_n_slots(fixed->compiled[o->when]) : 0;
    for (size_t i = 0; i < o->n_holes; i++) n_slots += clt_expr_n_slots(fixed->compiled[o->holes[i]]);
    if (n_slots) return clt_fail(why, CLT_E_UNSUPPORTED, "the compiler option '%.200s' depends on sizes", o->text);
  }
  for (size_t i = 0; i < problem->n_passed; i++) {
    const clt_problem_parameter *size = &problem->sizes[i];
    if (size->min > INT64_MIN)
      clt_text_printf(&t.out, "%s%s >= %lld", t.out.n ? " && " : "", names[i], (long long)size->min);
    if (size->max < INT64_MAX)
      clt_text_printf(&t.out, "%s%s <= %lld", t.out.n ? " && " : "", names[i], (long long)size->max);
  }
  t.rc = clt_space_builder_write_c(&t.out, builder, names, why);
  if (t.rc == CLT_OK) t.rc = clt_text_take(&out->valid, &t.out, why);
  for (size_t i = 0; i < problem->n_launches && t.rc == CLT_OK; i++) write_c_launch(&t, &problem->launches[i]);
  if (t.rc == CLT_OK) t.rc = clt_text_take(&out->launches, &t.out, why);
  clt_text_release(&t.out);
  return t.rc;
}

static void write_sizes(clt_text *out, const clt_launch_sizes *l) {
  clt_text_printf(out, "      @add_launch(out, capacity, &i, &failed, \"%s\", %u, %u, 0, %u.0, %zu.0, %zu.0, %zu.0",
                  name_of_kernel(l->kernel), l->n_dimensions, l->group, l->repeat, l->global[0], l->global[1],
                  l->global[2]);
  for (size_t d = 0; d < 3; d++) clt_text_printf(out, ", %lld.0", l->local[0] > 0 ? (long long)l->local[d] : -1);
  clt_text_add(out, ");\n");
}

/* Writes the launches at the instance's own sizes. */
static int write_own_launches(clt_c_formulas *out, const clt_instance *instance, clt_config config, clt_error *error) {
  clt_launch_sizes *launches = NULL;
  clt_text text = {0};
  size_t n = 0;
  if (clt_instance_launches(&launches, &n, instance, config, NULL) == CLT_E_MEMORY) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) write_sizes(&text, &launches[i]);
  free(launches);
  return clt_text_take(&out->launches, &text, error);
}

int clt_plan_launches(clt_launch_sizes **out, const clt_plan *plan, clt_error *error) {
  clt_launch_sizes *launches = clt_new_array(plan->n_launches, sizeof *launches);
  if (launches == NULL) return clt_fail_memory(error);
  for (size_t i = 0, end = 0; i < plan->n_launches; i++) {
    const clt_plan_launch *l = &plan->launches[i];
    if (l->together > 1) end = i + l->together;
    launches[i] = (clt_launch_sizes){.kernel = l->kernel,
                                     .n_dimensions = l->n_dimensions,
                                     .repeat = l->repeat,
                                     .group = i < end ? (unsigned)end : 0};
    memcpy(launches[i].global, l->global, sizeof l->global);
    if (l->has_local) memcpy(launches[i].local, l->local, sizeof l->local);
  }
  *out = launches;
  return CLT_OK;
}

int clt_plan_write_c(clt_c_formulas *out, const clt_plan *plan, clt_error *error) {
  clt_launch_sizes *launches = NULL;
  clt_text text = {0};
  *out = (clt_c_formulas){.why_not = strdup("the source was generated for the sizes of the measurement")};
  int rc = out->why_not ? clt_plan_launches(&launches, plan, error) : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < plan->n_launches; i++) write_sizes(&text, &launches[i]);
  free(launches);
  if (rc == CLT_OK) rc = clt_text_take(&out->launches, &text, error);
  if (rc) clt_c_formulas_release(out);
  return rc;
}

int clt_instance_write_c(clt_c_formulas *out, const clt_instance *instance, clt_config config, const char *const *names,
                         clt_error *error) {
  clt_value values[CLT_MAX_PARAMETERS];
  clt_instance *fixed = NULL;
  clt_space_builder *builder = NULL;
  clt_error why = {0};
  *out = (clt_c_formulas){0};
  clt_instance_slots(instance, config, values);
  int rc = fix_values(&fixed, &builder, instance, values, &why);
  if (rc == CLT_OK) rc = write_formulas(out, fixed, builder, names, &why);
  clt_space_builder_free(builder);
  clt_instance_free(fixed);
  if (rc == CLT_OK) return CLT_OK;
  clt_c_formulas_release(out);
  rc = rc == CLT_E_MEMORY ? clt_fail_memory(error) : write_own_launches(out, instance, config, error);
  if (rc == CLT_OK && (out->why_not = strdup(why.message)) == NULL) rc = clt_fail_memory(error);
  if (rc) clt_c_formulas_release(out);
  return rc;
}

void clt_c_formulas_release(clt_c_formulas *formulas) {
  free(formulas->valid);
  free(formulas->why_not);
  free(formulas->launches);
  *formulas = (clt_c_formulas){0};
}
