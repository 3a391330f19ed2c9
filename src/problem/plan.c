#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

#define ABSENT SIZE_MAX

bool clt_arg_is_image(clt_arg_kind kind) {
  return kind == CLT_ARG_IMAGE2D || kind == CLT_ARG_IMAGE3D || kind == CLT_ARG_IMAGE1D_BUFFER;
}

static int stored_bytes(const clt_instance *instance, const clt_argument *argument, clt_plan_arg *out,
                        clt_error *error) {
  size_t bytes = argument->element.bytes;
  for (size_t d = 0; d < 3; d++) {
    size_t side;
    if (__builtin_add_overflow(out->extent[d], out->border[d], &side) ||
        __builtin_add_overflow(side, out->border[d], &side) || !clt_size_multiply(&bytes, bytes, side))
      return clt_key_fail(&instance->problem->source, argument->key, CLT_E_RANGE, error, "\"%s\" exceeds 2^64 bytes",
                          argument->name);
  }
  out->bytes = bytes;
  return CLT_OK;
}

static int plan_scalar(const clt_instance *instance, const clt_argument *argument, const clt_value *slots,
                       clt_plan_arg *out, clt_error *error) {
  clt_value value = {.type = CLT_INT};
  out->is_repetition = argument->fill.kind == CLT_FILL_REPETITION;
  int rc = out->is_repetition ? CLT_OK : clt_evaluate(instance, argument->fill.value, slots, &value, error);
  if (rc) return rc;
  if (value.type == CLT_STRING)
    return clt_key_fail(&instance->problem->source, argument->key, CLT_E_EXPRESSION, error,
                        "\"FillValue\" needs a number");
  size_t step = clt_element_base_bytes(argument->element.base);
  for (int i = 0; i < argument->element.components; i++)
    clt_store_value(out->scalar + (size_t)i * step, argument->element.base, value);
  out->bytes = argument->element.bytes;
  return CLT_OK;
}

static int plan_extents(const clt_instance *instance, const clt_argument *argument, const clt_value *slots,
                        clt_plan_arg *out, clt_error *error) {
  /* What has content is the same for all configurations. */
  bool data = clt_holds_data(argument) && (clt_problem_fill(instance->problem, argument->name) ||
                                           clt_is_verified(instance->problem, argument->name));
  int rc = clt_evaluate_extent(instance, &argument->size, data ? NULL : slots, 1, 1, out->extent, error);
  if (rc == CLT_OK) rc = clt_evaluate_extent(instance, &argument->border, slots, 0, 0, out->border, error);
  return rc ? rc : stored_bytes(instance, argument, out, error);
}

/* Fills out with what an argument is for one configuration. */
static int plan_arg(const clt_instance *instance, const clt_argument *argument, const clt_value *slots,
                    clt_plan_arg *out, clt_error *error) {
  const clt_problem *problem = instance->problem;
  *out = (clt_plan_arg){.kind = argument->kind,
                        .access = argument->access,
                        .element = argument->element,
                        .extent = {1, 1, 1},
                        .border_mode = argument->border_mode,
                        .channel = argument->channel,
                        .sampler_normalised = argument->sampler_normalised,
                        .sampler_clamp_to_edge = argument->sampler_clamp_to_edge,
                        .sampler_linear = argument->sampler_linear};
  if ((out->name = strdup(argument->name)) == NULL) return clt_fail_memory(error);
  if (argument->kind == CLT_ARG_SAMPLER) return CLT_OK;
  if (argument->kind == CLT_ARG_SCALAR) return plan_scalar(instance, argument, slots, out, error);
  out->has_data = clt_holds_data(argument) && clt_problem_fill(problem, argument->name);
  out->verified = argument->output && problem->reference.kind != CLT_REFERENCE_NONE;
  return plan_extents(instance, argument, slots, out, error);
}

/* Makes the arguments that exist; places[i] is where the problem's argument i went, or ABSENT. */
static int plan_args(const clt_instance *instance, const clt_value *slots, clt_plan *plan, size_t *places,
                     clt_error *error) {
  const clt_problem *problem = instance->problem;
  plan->args = clt_new_array(problem->n_arguments, sizeof *plan->args);
  if (plan->args == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < problem->n_arguments; i++) {
    bool exists = false;
    int rc = clt_evaluate_when(instance, problem->arguments[i].when, slots, &exists, error);
    places[i] = exists ? plan->n_args : ABSENT;
    if (rc == CLT_OK && exists)
      rc = plan_arg(instance, &problem->arguments[i], slots, &plan->args[plan->n_args++], error);
    if (rc) return rc;
  }
  return CLT_OK;
}

/* The plan's arguments of one name, in the order of the entries. */
static void take_name(const clt_problem *problem, const char *name, const size_t *places, clt_plan_launch *out) {
  for (size_t i = 0; i < problem->n_arguments; i++)
    if (places[i] != ABSENT && strcmp(problem->arguments[i].name, name) == 0) out->args[out->n_args++] = places[i];
}

static int launch_args(const clt_problem *problem, const clt_launch *launch, const size_t *places, clt_plan_launch *out,
                       clt_error *error) {
  size_t capacity = problem->n_arguments * (launch->n_args + 1);
  out->args = clt_new_array(capacity, sizeof *out->args);
  if (out->args == NULL) return clt_fail_memory(error);
  for (size_t i = 0; launch->all_args && i < problem->n_arguments; i++)
    if (places[i] != ABSENT) out->args[out->n_args++] = places[i];
  for (size_t i = 0; i < launch->n_args; i++) take_name(problem, launch->args[i], places, out);
  return CLT_OK;
}

static int plan_launch(const clt_instance *instance, const clt_launch *launch, const clt_value *slots,
                       const size_t *places, clt_plan *plan, clt_error *error) {
  bool runs = false;
  size_t repeat = 1;
  int rc = clt_evaluate_when(instance, launch->when, slots, &runs, error);
  if (rc == CLT_OK && launch->repeat != CLT_NO_EXPRESSION)
    rc = clt_evaluate_count(instance, launch->repeat, slots, 0, &repeat, error);
  if (rc || !runs || repeat == 0) return rc;
  if (repeat > 1000000000)
    return clt_key_fail(&instance->problem->source, launch->key, CLT_E_RANGE, error, "repeats %zu times", repeat);
  clt_plan_launch *out = &plan->launches[plan->n_launches++];
  out->repeat = (unsigned)repeat;
  out->together = 1;
  if ((out->kernel = strdup(launch->kernel)) == NULL) return clt_fail_memory(error);
  rc = clt_launch_sizes(instance, launch, slots, out, error);
  return rc ? rc : launch_args(instance->problem, launch, places, out, error);
}

static int plan_launches(const clt_instance *instance, const clt_value *slots, const size_t *places, clt_plan *plan,
                         clt_error *error) {
  const clt_problem *problem = instance->problem;
  size_t head = 0, head_group = 0;
  int rc = CLT_OK;
  plan->launches = clt_new_array(problem->n_launches, sizeof *plan->launches);
  if (plan->launches == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_launches; i++) {
    const size_t before = plan->n_launches, group = problem->launches[i].group;
    rc = plan_launch(instance, &problem->launches[i], slots, places, plan, error);
    if (rc || plan->n_launches == before) continue;
    if (group > 0 && group == head_group)
      plan->launches[head].together++;
    else
      head = before, head_group = group;
  }
  if (rc == CLT_OK && plan->n_launches == 0)
    rc = clt_key_fail(&problem->source, "KernelSpecification.Launches", CLT_E_RANGE, error,
                      "no launch is left for this configuration");
  return rc;
}

/* Kernels that include files find those beside them. */
static int read_source(const clt_problem *problem, const char *file, clt_plan *plan, clt_error *error) {
  char *folder = NULL;
  int rc = clt_kernel_read(problem, file, &plan->source, &folder, error);
  if (rc == CLT_OK && (plan->source_file = strdup(file)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && strstr(plan->source, "include")) {
    const char *quote = strchr(folder, ' ') ? "\"" : "";
    char *options = clt_format("%s -I%s%s%s", plan->options, quote, folder, quote);
    if (options == NULL) rc = clt_fail_memory(error);
    if (options) free(plan->options), plan->options = options;
  }
  free(folder);
  return rc;
}

static int fill_plan(const clt_instance *instance, clt_plan *plan, const clt_value *slots, clt_error *error) {
  const clt_problem *problem = instance->problem;
  size_t *places = clt_new_array(problem->n_arguments, sizeof *places);
  if (places == NULL) return clt_fail_memory(error);
  int rc = clt_options_text(instance, slots, NULL, 0, &plan->options, error);
  if (rc == CLT_OK) rc = plan_args(instance, slots, plan, places, error);
  if (rc == CLT_OK) rc = plan_launches(instance, slots, places, plan, error);
  if (rc == CLT_OK) rc = read_source(problem, problem->kernel_file, plan, error);
  free(places);
  return rc;
}

int clt_plan_new(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error) {
  clt_value slots[CLT_MAX_PARAMETERS];
  if (config >= clt_space_cartesian(instance->space))
    return clt_fail(error, CLT_E_RANGE, "there is no configuration %llu", (unsigned long long)config);
  clt_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) return clt_fail_memory(error);
  plan->config = config;
  clt_instance_slots(instance, config, slots);
  int rc = fill_plan(instance, plan, slots, error);
  if (rc == CLT_OK) {
    *out = plan;
  } else {
    clt_plan_free(plan);
  }
  return rc;
}

/* An argument as the reference kernel sees it: without its border, and a buffer where there is a choice. */
static int reference_arg(const clt_instance *instance, const char *name, const clt_value *slots, clt_plan *plan,
                         clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_argument argument = *clt_problem_argument(problem, name);
  argument.border.n = 0;
  if (clt_problem_n_entries(problem, name) > 1) argument.kind = CLT_ARG_BUFFER;
  argument.output = clt_is_verified(problem, name);
  plan->launches[0].args[plan->launches[0].n_args++] = plan->n_args;
  return plan_arg(instance, &argument, slots, &plan->args[plan->n_args++], error);
}

static int reference_args(const clt_instance *instance, const clt_value *slots, clt_plan *plan, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_launch *launch = &problem->reference.launch;
  size_t n = problem->n_arguments + launch->n_args;
  int rc = CLT_OK;
  plan->args = clt_new_array(n, sizeof *plan->args);
  plan->launches[0].args = clt_new_array(n, sizeof *plan->launches[0].args);
  if (plan->args == NULL || plan->launches[0].args == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && launch->all_args && i < problem->n_arguments; i++)
    if (clt_problem_argument(problem, problem->arguments[i].name) == &problem->arguments[i])
      rc = reference_arg(instance, problem->arguments[i].name, slots, plan, error);
  for (size_t i = 0; rc == CLT_OK && i < launch->n_args; i++)
    rc = reference_arg(instance, launch->args[i], slots, plan, error);
  return rc;
}

int clt_plan_new_reference(clt_plan **out, const clt_instance *instance, clt_error *error) {
  const clt_reference *reference = &instance->problem->reference;
  clt_value slots[CLT_MAX_PARAMETERS];
  if (reference->kind != CLT_REFERENCE_KERNEL)
    return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no reference kernel");
  clt_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) return clt_fail_memory(error);
  plan->config = CLT_CONFIG_NONE;
  clt_instance_slots(instance, clt_instance_default(instance), slots);
  plan->launches = clt_new_array(1, sizeof *plan->launches);
  int rc = plan->launches ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    plan->n_launches = 1;
    plan->launches[0].repeat = 1;
    if ((plan->launches[0].kernel = strdup(reference->launch.kernel)) == NULL) rc = clt_fail_memory(error);
  }
  if (rc == CLT_OK)
    rc = clt_options_text(instance, slots, reference->options, reference->n_options, &plan->options, error);
  if (rc == CLT_OK) rc = reference_args(instance, slots, plan, error);
  if (rc == CLT_OK) rc = clt_launch_sizes(instance, &reference->launch, slots, &plan->launches[0], error);
  if (rc == CLT_OK) rc = read_source(instance->problem, reference->kernel_file, plan, error);
  if (rc == CLT_OK) {
    *out = plan;
  } else {
    clt_plan_free(plan);
  }
  return rc;
}

void clt_plan_free(clt_plan *plan) {
  if (plan == NULL) return;
  for (size_t i = 0; i < plan->n_args; i++) free(plan->args[i].name);
  for (size_t i = 0; i < plan->n_launches; i++) {
    free(plan->launches[i].kernel);
    free(plan->launches[i].args);
  }
  free(plan->args);
  free(plan->launches);
  free(plan->source);
  free(plan->source_file);
  free(plan->options);
  free(plan);
}
