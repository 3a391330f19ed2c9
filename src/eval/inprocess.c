/* The evaluator "in-process": the same steps as "opencl" in the calling process, without isolation and deadlines. A
 * kernel that crashes or hangs takes the process along. */
#include "base/base.h"
#include "device/device.h"
#include "eval/evaluators.h"
#include "measurement/measurement.h"
#include "opencl/executor.h"

typedef struct inprocess_options {
  clt_run_options runs;
  double energy_s;
} inprocess_options;

static const clt_option options[] = {
    CLT_RUN_OPTIONS(inprocess_options, CLT_TIMING_TEXT(CLT_TIMING_MAX_TOTAL_S)),
    {"energy-time", CLT_OPTION_SECONDS, "1", 0.001, 1000, offsetof(inprocess_options, energy_s),
     "duration of the repeated runs that energy is measured over, in seconds, if the objective needs energy"},
};

typedef struct kept_kernel {
  clt_prepared *prepared; /* NULL: it failed, or is not prepared yet */
  clt_measurement measurement;
} kept_kernel;

typedef struct inprocess_state {
  clt_evaluator_setup setup;
  clt_executor *executor;
  clt_timing_policy policy;
  clt_data *data;
  clt_data *of_check[CLT_MAX_CHECKS]; /* NULL: not made yet */
  char *failure[CLT_MAX_CHECKS];      /* why it cannot be made */
  bool submitted;
  double opened_s;
  clt_config config; /* the submitted configuration */
  clt_equals equals;
  kept_kernel *kept;
  size_t n_kept;
} inprocess_state;

static void give_up_kept(inprocess_state *s) {
  for (size_t i = 0; i < s->n_kept; i++) {
    clt_prepared_free(s->kept[i].prepared);
    clt_measurement_release(&s->kept[i].measurement);
  }
  free(s->kept);
  s->kept = NULL;
  s->n_kept = 0;
}

static void inprocess_close(void *state) {
  inprocess_state *s = state;
  give_up_kept(s);
  for (size_t i = 0; i < CLT_MAX_CHECKS; i++) clt_data_free(s->of_check[i]), free(s->failure[i]);
  clt_data_free(s->data);
  clt_equals_release(&s->equals);
  clt_executor_free(s->executor);
  *s = (inprocess_state){.submitted = false};
}

static int inprocess_open(void *state, const clt_evaluator_setup *setup, const void *given,
                          clt_evaluator_limits *limits, clt_error *error) {
  inprocess_state *s = state;
  const inprocess_options *o = given;
  const clt_device_info *device = setup->instance ? clt_instance_device(setup->instance) : NULL;
  if (device == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the evaluator 'in-process' needs a problem and a device");
  *s = (inprocess_state){.setup = *setup, .opened_s = clt_now_s()};
  *limits = (clt_evaluator_limits){1, 1};
  int rc = clt_run_options_policy(&s->policy, &o->runs, setup, error);
  if (rc == CLT_OK && setup->energy) s->policy.energy_s = o->energy_s, rc = clt_energy_check(device, error);
  if (rc == CLT_OK) rc = clt_problem_check_kernel(clt_instance_problem(setup->instance), error);
  if (rc == CLT_OK && setup->log) clt_warn_unused(setup->instance, setup->log, setup->log_user);
  if (rc == CLT_OK) rc = clt_executor_new(&s->executor, device->platform_index, device->device_index, error);
  if (rc == CLT_OK)
    rc = clt_reference_data(&s->data, s->executor, setup->instance, setup->inputs ? setup->inputs : &clt_own_inputs,
                            error);
  for (size_t i = 0; rc == CLT_OK && setup->log && !s->data->verify && i < s->data->n_arrays; i++)
    clt_array_warn(&s->data->arrays[i], setup->log, setup->log_user);
  if (rc == CLT_OK && setup->quality) rc = clt_data_quality(setup->quality, setup->instance, s->data, error);
  if (rc) inprocess_close(s);
  return rc;
}

static int inprocess_submit(void *state, clt_config config, double best_s, clt_error *error) {
  inprocess_state *s = state;
  int rc = clt_check_submitted(s->submitted, 1, error);
  if (rc) return rc;
  give_up_kept(s);
  s->policy.best_s = best_s;
  s->config = config;
  s->submitted = true;
  return CLT_OK;
}

static int inprocess_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  inprocess_state *s = state;
  clt_prepared *prepared;
  clt_measurement m;
  if (!s->submitted) return CLT_E_AGAIN;
  s->submitted = false;
  /* NVIDIA's driver has no log, which says what a kernel uses, for a program from the user's cache. */
  const clt_build build = clt_cl_is_nvidia(clt_executor_device(s->executor)) ? CLT_BUILD_ANEW : CLT_BUILD_AS_IS;
  int rc = clt_executor_prepare_config(s->executor, &prepared, s->setup.instance, s->config, build, s->data, &m, error);
  const uint64_t hash = clt_executor_generated(s->executor);
  if (rc == CLT_OK && prepared && !clt_equals_answer(&s->equals, hash, &m)) {
    rc = clt_executor_time(s->executor, prepared, &s->policy, &m, error);
    if (rc == CLT_OK) clt_equals_keep(&s->equals, hash, &m);
  }
  clt_prepared_free(prepared);
  if (rc == CLT_OK)
    *out = m;
  else
    clt_measurement_release(&m);
  return rc;
}

/* --- finalists --- */

/* Makes a check. *m fails if the result is incorrect, unless the setup has answers. */
static int check_finalist(inprocess_state *s, kept_kernel *k, size_t c, clt_error *error) {
  const clt_check *check = &s->setup.checks[c];
  clt_check_answer answer = {.done = true, .margin = NAN};
  const double began_s = clt_now_s();
  clt_measurement *m = &k->measurement, seen;
  clt_error why = {0};
  if (s->of_check[c] == NULL && s->failure[c] == NULL &&
      clt_reference_data(&s->of_check[c], s->executor, s->setup.instance, &check->recipe, &why)) {
    s->failure[c] = strdup(why.message);
    if (s->failure[c] == NULL) return clt_fail_memory(error);
    if (!s->setup.lenient)
      clt_log(s->setup.log, s->setup.log_user, CLT_LOG_WARNING, "finalists cannot be verified on other inputs: %s",
              why.message);
  }
  clt_measurement_init(&seen, m->config);
  int rc = s->failure[c] ? CLT_OK
                         : clt_executor_verify(s->executor, k->prepared, s->of_check[c], check->garbage, &seen, error);
  answer.impossible = s->failure[c] != NULL;
  answer.reason = seen.reason;
  const char *log = s->failure[c] ? s->failure[c] : seen.log;
  const bool tells = s->setup.lenient || answer.impossible || seen.reason == CLT_REASON_NONE;
  if (rc == CLT_OK && s->setup.answers && tells && !s->setup.answers[c].done) {
    answer.log = log ? strdup(log) : NULL;
    answer.took_s = clt_now_s() - began_s;
    s->setup.answers[c] = answer;
  }
  if (s->setup.lenient && s->of_check[c]) {
    clt_executor_forget(s->executor, s->of_check[c]);
    clt_data_free(s->of_check[c]);
    s->of_check[c] = NULL;
  }
  if (rc == CLT_OK && !s->setup.lenient && seen.reason != CLT_REASON_NONE)
    clt_measurement_fail(m, seen.reason, seen.log);
  m->max_abs_error = fmax(m->max_abs_error, seen.max_abs_error);
  m->phases.verify_s += seen.phases.verify_s;
  clt_measurement_release(&seen);
  return rc;
}

static int prepare_finalist(inprocess_state *s, kept_kernel *k, clt_error *error) {
  clt_measurement *m = &k->measurement;
  const clt_build build = s->setup.mirrored ? CLT_BUILD_MIRRORED : CLT_BUILD_AS_IS;
  int rc =
      clt_executor_prepare_config(s->executor, &k->prepared, s->setup.instance, m->config, build, s->data, m, error);
  const double limit_s = s->setup.limit_s;
  for (size_t c = 0; rc == CLT_OK && m->reason == CLT_REASON_NONE && c < s->setup.n_checks; c++) {
    if (limit_s > 0 && clt_now_s() - s->opened_s > limit_s)
      return clt_fail(error, CLT_E_AGAIN, "the time limit of %.0f s is exceeded", limit_s);
    rc = check_finalist(s, k, c, error);
  }
  return rc;
}

static int inprocess_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  inprocess_state *s = state;
  int rc = clt_check_finalists(s->submitted, error);
  if (rc) return rc;
  kept_kernel *list = clt_new_array(n, sizeof *list);
  if (list == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    clt_measurement_init(&list[i].measurement, configs[i]);
    for (size_t k = 0; k < s->n_kept; k++) {
      kept_kernel *old = &s->kept[k], empty = list[i];
      if (old->measurement.config != configs[i] || old->measurement.reason != CLT_REASON_NONE) continue;
      list[i] = *old;
      *old = empty;
    }
  }
  give_up_kept(s);
  s->kept = list;
  s->n_kept = n;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    rc = clt_check_stop(s->setup.stop, error);
    if (rc == CLT_OK && list[i].prepared == NULL) rc = prepare_finalist(s, &list[i], error);
    if (rc == CLT_OK) rc = clt_measurement_copy(&out[i], &list[i].measurement, error);
  }
  if (rc) give_up_kept(s);
  return rc;
}

static int inprocess_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                                clt_error *error) {
  inprocess_state *s = state;
  int rc = clt_check_indices(indices, n, s->n_kept, error);
  const clt_timing_policy turn = clt_timing_turn(n_runs, &s->policy);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    rc = clt_check_stop(s->setup.stop, error);
    if (rc) break;
    kept_kernel *k = &s->kept[indices[i]];
    clt_measurement *m = &k->measurement;
    m->n_runs = 0;
    m->phases = (clt_phases){0};
    if (m->reason == CLT_REASON_NONE) rc = clt_executor_time(s->executor, k->prepared, &turn, m, error);
    if (rc == CLT_OK) rc = clt_measurement_copy(&out[i], m, error);
  }
  return rc;
}

const clt_evaluator_type clt_evaluator_inprocess = {
    CLT_EVALUATOR(options, inprocess_options, inprocess_state),
    .name = "in-process",
    .summary = "builds and runs configurations in the caller's process, which a bad kernel can crash",
    .measures_device = true,
    .open = inprocess_open,
    .submit = inprocess_submit,
    .wait = inprocess_wait,
    .keep = inprocess_keep,
    .time_again = inprocess_time_again,
    .close = inprocess_close,
};
