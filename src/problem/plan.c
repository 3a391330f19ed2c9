/* Makes plans: build options, arguments and launches of a configuration or of the reference kernel. Makes instances at
 * smaller sizes. */
#include "base/base.h"
#include "base/file.h"
#include "problem/command.h"
#include "problem/instance.h"
#include "space/space.h"

#define ABSENT SIZE_MAX
#define MAX_SIZE 0x1p53
#define MAX_REPEAT 1000000000

/* Reports a mistake at a key. */
#define FAIL_AT(c, key, code, ...) \
  ((c)->rc = (c)->rc ? (c)->rc : clt_key_fail(&(c)->instance->problem->source, key, code, (c)->error, __VA_ARGS__))

/* NULL: there was a failure before, or memory runs out. */
static void *new_array(clt_calculation *c, clt_plan *plan, size_t n, size_t element_bytes) {
  void *array = c->rc ? NULL : clt_arena_array(&plan->arena, n, element_bytes);
  if (array == NULL && c->rc == CLT_OK) c->rc = clt_fail_memory(c->error);
  return array;
}

/* --- global and local sizes --- */

static void plan_sizes(clt_calculation *c, const clt_launch *launch, clt_plan_launch *out) {
  size_t global[3] = {1, 1, 1}, local[3];
  for (size_t d = 0; d < launch->global.n; d++) { /* "width / tile" is rounded up */
    double number = clt_evaluate_number(c, launch->global.id[d]);
    if (!(number >= 0 && number <= MAX_SIZE))
      clt_calculation_fail(c, launch->global.id[d], CLT_E_RANGE, "must be a number from 0 to 2^53, but is %.10g",
                           number);
    else
      global[d] = (size_t)ceil(number);
  }
  clt_evaluate_extent(c, &launch->local, 0, 1, local);
  for (size_t d = 0; d < 3 && c->rc == CLT_OK; d++) {
    if (launch->grid == CLT_GRID_DIVIDED && d < launch->divisor.n && launch->divisor.id[d]) {
      double divisor = clt_evaluate_number(c, launch->divisor.id[d]);
      if (!(divisor > 0)) clt_calculation_fail(c, launch->divisor.id[d], CLT_E_RANGE, "the divisor must be above 0");
      if (c->rc == CLT_OK) global[d] = (size_t)ceil((double)global[d] / divisor);
    }
    if (local[d] == 0) continue; /* the driver refuses it */
    size_t groups = launch->grid == CLT_GRID_ITEMS ? global[d] / local[d] + (global[d] % local[d] != 0) : global[d];
    if (!clt_size_multiply(&global[d], groups, local[d]))
      FAIL_AT(c, launch->key, CLT_E_RANGE, "the global size exceeds 2^64");
  }
  out->n_dimensions = (unsigned)(launch->global.n > launch->local.n ? launch->global.n : launch->local.n);
  out->has_local = launch->local.n > 0;
  for (size_t d = 0; d < 3; d++) out->global[d] = global[d], out->local[d] = out->has_local ? local[d] : 0;
}

/* --- build options --- */

static void add_options(clt_text *out, clt_calculation *c, const clt_compiler_option *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char *text = list[i].text;
    /* T1 files may contain options of the CUDA compiler, which OpenCL compilers refuse. */
    bool foreign = text[0] == 0 || clt_starts_with(text, "-std=c++") || clt_starts_with(text, "-std=gnu++");
    if (!clt_evaluate_when(c, list[i].when) || foreign) continue;
    clt_expand_option(out, c, &list[i], NULL, NULL);
    clt_text_add(out, " ");
  }
}

/* Adds the build options: -D of the first n_defines parameters and, unless that is 0, the macros that Kernel Tuner
 * defines; the problem's options, `more`, and the include folders. No space at the end. */
static void add_build_options(clt_text *out, clt_calculation *c, size_t n_defines, const clt_compiler_option *more,
                              size_t n_more) {
  static const char *const grid_sizes[3] = {"grid_size_x", "grid_size_y", "grid_size_z"};
  const clt_instance *instance = c->instance;
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < n_defines; i++) {
    if (i >= problem->n_parameters && problem->sizes[i - problem->n_parameters].no_macro) continue;
    clt_add_define_option(out, c, i);
    clt_text_add(out, " ");
  }
  /* The grid in work-groups; and the block size, in dimensions in which it is not a parameter. */
  if (n_defines > 0 && problem->problem_size.n > 0 && problem->n_launches > 0) {
    clt_plan_launch sizes;
    plan_sizes(c, &problem->launches[0], &sizes);
    for (size_t d = 0; d < 3; d++) {
      size_t local = sizes.local[d] ? sizes.local[d] : 1;
      if (clt_problem_parameter_index(problem, grid_sizes[d]) < 0)
        clt_text_printf(out, "-D%s=%zu ", grid_sizes[d], sizes.global[d] / local);
      if (clt_problem_parameter_index(problem, clt_block_sizes[d]) < 0)
        clt_text_printf(out, "-D%s=%zu ", clt_block_sizes[d], local);
    }
    if (clt_problem_parameter_index(problem, "kernel_tuner") < 0) clt_text_add(out, "-Dkernel_tuner=1 ");
  }
  add_options(out, c, problem->options, problem->n_options);
  add_options(out, c, more, n_more);
  for (size_t i = 0; i < problem->n_include_paths; i++) {
    const char *quote = strchr(problem->include_paths[i], ' ') ? "\"" : "";
    clt_text_printf(out, "-I%s%s%s ", quote, problem->include_paths[i], quote);
  }
  if (problem->opencl_standard) clt_text_printf(out, "-cl-std=%s ", problem->opencl_standard);
  if (out->n > 0) out->bytes[--out->n] = 0;
}

static int make_options(char **out, const clt_instance *instance, clt_config config, size_t n_defines,
                        clt_error *error) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_calculation c = {instance, slots, error, CLT_OK};
  clt_text text = {0};
  clt_instance_slots(instance, config, slots);
  const bool has_macros = !clt_problem_generates(instance->problem) || instance->problem->generation.macros;
  add_build_options(&text, &c, has_macros ? n_defines : 0, NULL, 0);
  if (c.rc == CLT_OK) return clt_text_take(out, &text, error);
  clt_text_release(&text);
  return c.rc;
}

int clt_instance_options(char **out, const clt_instance *instance, clt_config config, clt_error *error) {
  return make_options(out, instance, config, clt_n_defines(instance), error);
}

int clt_instance_options_without_sizes(char **out, const clt_instance *instance, clt_config config, clt_error *error) {
  return make_options(out, instance, config, clt_space_n_parameters(clt_instance_space(instance)), error);
}

/* Reads the kernel's text and makes its build options. The kernel's folder is an include folder. */
static void plan_source(clt_calculation *c, clt_plan *plan, const char *key, const char *file,
                        const clt_compiler_option *more, size_t n_more) {
  clt_error why = {0};
  clt_text options = {0};
  char *path = clt_kernel_path(c->instance->problem, file), *folder = path ? clt_path_folder(path) : NULL;
  add_build_options(&options, c, clt_n_defines(c->instance), more, n_more);
  if (c->rc == CLT_OK && folder == NULL) c->rc = clt_fail_memory(c->error);
  if (c->rc == CLT_OK && (c->rc = clt_file_read(&plan->source, NULL, path, CLT_MAX_TEXT_BYTES, &why)))
    clt_key_wrap(&c->instance->problem->source, key, c->rc, c->error, &why);
  if (c->rc == CLT_OK && strstr(plan->source, "include")) {
    const char *quote = strchr(folder, ' ') ? "\"" : "";
    clt_text_printf(&options, " -I%s%s%s", quote, folder, quote);
  }
  if (c->rc == CLT_OK) c->rc = clt_text_take(&plan->options, &options, c->error);
  clt_text_release(&options);
  free(path);
  free(folder);
}

/* --- arguments --- */

static void plan_argument(clt_calculation *c, const clt_argument *argument, clt_plan *plan) {
  clt_plan_arg *out = &plan->args[plan->n_args++];
  *out = argument->plan;
  out->name = argument->name;
  out->key = argument->key;
  for (size_t d = 0; d < 3; d++) out->extent[d] = 1;
  if (out->kind == CLT_ARG_SAMPLER) return;
  out->bytes = out->element.bytes;
  if (argument->n_fields > 0 && c->rc == CLT_OK) clt_plan_structure(c, argument, plan->source_file, out);
  if (argument->n_fields > 0) return;
  if (out->kind == CLT_ARG_SCALAR && argument->fill.kind == CLT_FILL_RAW) {
    if (c->rc == CLT_OK) c->rc = clt_fill_raw(out->scalar, out->bytes, argument->fill.file, argument->name, c->error);
    return;
  }
  if (out->kind == CLT_ARG_SCALAR) {
    out->is_repetition = argument->fill.kind == CLT_FILL_REPETITION;
    if (argument->fill.value)
      clt_evaluate_component(c, argument->fill.value, out->scalar, out->element.base, (size_t)out->element.components);
    return;
  }
  const clt_problem *problem = c->instance->problem;
  const clt_entries entries = clt_problem_entries(problem, argument->name);
  const bool holds = clt_holds_data(argument), filled = holds && entries.fill;
  const bool content = filled || (holds && entries.verified);
  /* The size of an argument with content must not depend on the configuration. */
  clt_calculation size = {c->instance, content ? NULL : c->slots, c->error, c->rc};
  clt_evaluate_extent(&size, &argument->size, 1, 1, out->extent);
  c->rc = size.rc;
  clt_evaluate_extent(c, &argument->border, 0, 0, out->border);
  out->has_data = filled;
  out->verified = argument->output && problem->reference.kind != CLT_REFERENCE_NONE;
  for (size_t d = 0; d < 3 && c->rc == CLT_OK; d++) {
    size_t side;
    if (__builtin_add_overflow(out->extent[d], out->border[d], &side) ||
        __builtin_add_overflow(side, out->border[d], &side) || !clt_size_multiply(&out->bytes, out->bytes, side))
      FAIL_AT(c, argument->key, CLT_E_RANGE, "\"%s\" exceeds 2^64 bytes", argument->name);
  }
}

/* --- launches --- */

bool clt_plan_launch_sizes(clt_plan_launch *out, clt_calculation *c, const clt_launch *launch) {
  bool runs = clt_evaluate_when(c, launch->when);
  size_t repeat = 1;
  if (runs && launch->repeat) repeat = clt_evaluate_count(c, launch->repeat, 0);
  if (repeat > MAX_REPEAT)
    FAIL_AT(c, launch->key, CLT_E_RANGE, "repeats %zu times; the maximum is %d", repeat, MAX_REPEAT);
  if (c->rc || !runs || repeat == 0) return false;
  *out = (clt_plan_launch){.repeat = (unsigned)repeat, .together = 1, .key = launch->key};
  plan_sizes(c, launch, out);
  return c->rc == CLT_OK;
}

/* places[i]: index in the plan of the problem's argument i, or ABSENT. */
static void plan_launch(clt_calculation *c, const clt_launch *launch, const size_t *places, clt_plan *plan) {
  const clt_problem *problem = c->instance->problem;
  clt_plan_launch *out = &plan->launches[plan->n_launches];
  if (!clt_plan_launch_sizes(out, c, launch)) return;
  plan->n_launches++;
  out->kernel = launch->kernel;
  out->args = new_array(c, plan, problem->n_arguments * (launch->n_args + 1), sizeof *out->args);
  size_t n_lists = launch->all_args ? 1 : launch->n_args;
  for (size_t k = 0; k < n_lists && c->rc == CLT_OK; k++) /* entries with this name, in their order */
    for (size_t i = 0; i < problem->n_arguments; i++)
      if (places[i] != ABSENT && (launch->all_args || strcmp(problem->arguments[i].name, launch->args[k]) == 0))
        out->args[out->n_args++] = places[i];
}

static void plan_configuration(clt_calculation *c, clt_plan *plan) {
  const clt_problem *problem = c->instance->problem;
  size_t head = 0, head_group = 0, *places = new_array(c, plan, problem->n_arguments, sizeof *places);
  plan->args = new_array(c, plan, problem->n_arguments, sizeof *plan->args);
  plan->launches = new_array(c, plan, problem->n_launches, sizeof *plan->launches);
  for (size_t i = 0; i < problem->n_arguments && c->rc == CLT_OK; i++) {
    bool exists = clt_evaluate_when(c, problem->arguments[i].when);
    places[i] = exists ? plan->n_args : ABSENT;
    if (exists) plan_argument(c, &problem->arguments[i], plan);
  }
  for (size_t i = 0; i < problem->n_launches && c->rc == CLT_OK; i++) {
    const size_t before = plan->n_launches, group = problem->launches[i].group;
    plan_launch(c, &problem->launches[i], places, plan);
    if (plan->n_launches == before) continue;
    if (group > 0 && group == head_group)
      plan->launches[head].together++;
    else
      head = before, head_group = group;
  }
  if (plan->n_launches == 0)
    FAIL_AT(c, "KernelSpecification.Launches", CLT_E_RANGE,
            "every launch has a \"When\" that is false for this configuration");
  if (problem->kernel_file)
    plan_source(c, plan, "KernelSpecification.KernelFile", problem->kernel_file, NULL, 0);
  else if (c->rc == CLT_OK)
    c->rc = clt_instance_options(&plan->options, c->instance, plan->config, c->error);
}

/* Adds an argument of the reference kernel: without border, and as a buffer if it has an entry as a buffer. */
static void plan_reference_argument(clt_calculation *c, const char *name, clt_plan *plan) {
  const clt_entries entries = clt_problem_entries(c->instance->problem, name);
  clt_argument argument = *entries.first;
  argument.border.n = 0;
  if (entries.n > 1) argument.plan.kind = CLT_ARG_BUFFER;
  argument.output = entries.verified;
  plan->launches[0].args[plan->launches[0].n_args++] = plan->n_args;
  plan_argument(c, &argument, plan);
}

static void plan_reference(clt_calculation *c, clt_plan *plan) {
  const clt_problem *problem = c->instance->problem;
  const clt_reference *reference = &problem->reference;
  const clt_launch *launch = &reference->launch;
  size_t n = problem->n_arguments + launch->n_args;
  plan->args = new_array(c, plan, n, sizeof *plan->args);
  plan->launches = new_array(c, plan, 1, sizeof *plan->launches);
  if (c->rc) return;
  plan->n_launches = 1;
  plan->launches[0] = (clt_plan_launch){
      .repeat = 1, .kernel = launch->kernel, .key = launch->key, .args = new_array(c, plan, n, sizeof(size_t))};
  for (size_t i = 0; c->rc == CLT_OK && launch->all_args && i < problem->n_arguments; i++)
    if (clt_problem_entries(problem, problem->arguments[i].name).first == &problem->arguments[i])
      plan_reference_argument(c, problem->arguments[i].name, plan);
  for (size_t i = 0; c->rc == CLT_OK && i < launch->n_args; i++) plan_reference_argument(c, launch->args[i], plan);
  plan_sizes(c, launch, &plan->launches[0]);
  plan_source(c, plan, "Reference.KernelFile", reference->kernel_file, reference->options, reference->n_options);
}

/* --- plans --- */

static int make_plan(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error) {
  const bool of_reference = config == CLT_CONFIG_NONE;
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_calculation c = {instance, slots, error, CLT_OK};
  clt_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) return clt_fail_memory(error);
  clt_instance_slots(instance, of_reference ? clt_instance_default(instance) : config, slots);
  plan->config = config;
  plan->problem = instance->problem;
  plan->known_group = instance->problem->known_group;
  plan->source_file = of_reference ? instance->problem->reference.kernel_file : instance->problem->kernel_file;
  (of_reference ? plan_reference : plan_configuration)(&c, plan);
  if (c.rc == CLT_OK)
    *out = plan;
  else
    clt_plan_free(plan);
  return c.rc;
}

int clt_plan_new(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error) {
  if (!clt_space_numbers(instance->space, config))
    return clt_fail(error, CLT_E_RANGE, "configuration %llu is outside of the space", (unsigned long long)config);
  return make_plan(out, instance, config, error);
}

int clt_plan_new_reference(clt_plan **out, const clt_instance *instance, clt_error *error) {
  if (instance->problem->reference.kind != CLT_REFERENCE_KERNEL)
    return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no reference kernel");
  return make_plan(out, instance, CLT_CONFIG_NONE, error);
}

void clt_plan_locate(char *out, size_t capacity, const clt_plan *plan, const char *key, const char *message) {
  clt_error error = {0};
  if (plan->problem && key)
    clt_key_fail(&plan->problem->source, key, CLT_E_FORMAT, &error, "%s", message);
  else
    clt_fail(&error, CLT_E_FORMAT, "%s", message);
  clt_error_format(out, capacity, &error);
}

void clt_plan_free(clt_plan *plan) {
  if (plan == NULL) return;
  clt_arena_release(&plan->arena);
  free(plan->source);
  free(plan->options);
  free(plan);
}

/* --- at other sizes --- */

clt_config clt_instance_translate(const clt_instance *to, const clt_instance *from, clt_config config) {
  const clt_space_match match = clt_space_match_new(from->space, to->space);
  config = clt_space_translate(&match, config);
  return config != CLT_CONFIG_NONE && clt_space_contains(to->space, config) ? clt_space_canonical(to->space, config)
                                                                            : CLT_CONFIG_NONE;
}

clt_plan_extent clt_instance_extent(const clt_instance *instance, clt_config config) {
  clt_plan_extent out = {0};
  clt_plan *plan = NULL;
  if (clt_plan_new(&plan, instance, config, NULL)) return (clt_plan_extent){.items = NAN};
  for (size_t l = 0; l < plan->n_launches; l++) {
    const clt_plan_launch *launch = &plan->launches[l];
    const double items = (double)launch->global[0] * (double)launch->global[1] * (double)launch->global[2];
    const double local = (double)launch->local[0] * (double)launch->local[1] * (double)launch->local[2];
    out.items += items * launch->repeat;
    if (launch->has_local && local > 0) out.groups += items / local * launch->repeat;
  }
  for (size_t i = 0; i < plan->n_args; i++) {
    if (plan->args[i].kind == CLT_ARG_LOCAL || plan->args[i].kind == CLT_ARG_SCALAR) continue;
    out.bytes += (double)plan->args[i].bytes;
  }
  clt_plan_free(plan);
  return out;
}

/* Makes an instance in which the configuration can be launched. *items: its work-items. */
static int new_launchable(clt_instance **out, clt_config *out_config, double *items, const clt_instance *instance,
                          clt_config config, const clt_size *sizes, const clt_device_info *device, clt_error *error) {
  clt_instance *made = NULL;
  int rc = clt_instance_new(&made, instance->problem, sizes, instance->problem->n_passed, device, error);
  if (rc) return rc;
  const clt_config translated = clt_instance_translate(made, instance, config);
  const double n_items = translated == CLT_CONFIG_NONE ? NAN : clt_instance_extent(made, translated).items;
  if (isnan(n_items)) {
    clt_instance_free(made);
    return clt_fail(error, CLT_E_NO_VALID, "the configuration is not valid at these sizes");
  }
  *out = made;
  *out_config = translated;
  *items = n_items;
  return CLT_OK;
}

int clt_instance_new_at(clt_instance **out, clt_config *out_config, const clt_instance *instance, clt_config config,
                        const int64_t *sizes, clt_error *error) {
  const size_t n = instance->problem->n_passed;
  clt_size *named = clt_new_array(n, sizeof *named);
  double items;
  if (named == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) named[i] = (clt_size){clt_instance_size(instance, i).name, sizes[i]};
  int rc = new_launchable(out, out_config, &items, instance, config, named, clt_instance_device(instance), error);
  free(named);
  return rc;
}

int clt_instance_new_smaller(clt_instance **out, clt_config *out_config, const clt_instance *instance,
                             clt_config config, const clt_device_info *device, double most_items, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const size_t n = problem->n_passed;
  clt_arena arena = {0};
  clt_size *sizes = clt_arena_array(&arena, n, sizeof *sizes), *tried = clt_arena_array(&arena, n, sizeof *tried);
  double items = INFINITY;
  bool again = true;
  *out = NULL;
  int rc = clt_arena_check(&arena, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) sizes[i] = clt_instance_size(instance, i);
  while (rc == CLT_OK && again && (*out == NULL || items > most_items)) {
    again = false;
    /* Halve all sizes together; if the configuration is not valid then, each size alone. */
    for (size_t step = 0; step <= n && !(step == 1 && again); step++) {
      clt_instance *made = NULL;
      bool changed = false;
      for (size_t i = 0; i < n; i++) {
        const int64_t half = sizes[i].value / 2;
        const bool halved = (step == 0 || step == i + 1) && half >= 1 && half >= problem->sizes[i].min;
        tried[i] = halved ? (clt_size){sizes[i].name, half} : sizes[i];
        changed = changed || halved;
      }
      if (!changed || new_launchable(&made, out_config, &items, instance, config, tried, device, NULL)) continue;
      clt_instance_free(*out);
      *out = made;
      again = true;
      memcpy(sizes, tried, n * sizeof *sizes);
    }
  }
  if (rc == CLT_OK && *out == NULL) rc = clt_instance_new(out, problem, sizes, n, device, error);
  if (rc == CLT_OK && isinf(items)) {
    *out_config = clt_instance_translate(*out, instance, config);
    if (*out_config == CLT_CONFIG_NONE)
      rc = clt_fail(error, CLT_E_NO_VALID, "the configuration is not valid on this device");
  }
  if (rc) {
    clt_instance_free(*out);
    *out = NULL;
  }
  clt_arena_release(&arena);
  return rc;
}
