/* The evaluator "in-process": the same steps in the caller's own process, without isolation. A bad kernel takes the
 * process with it, a hanging one hangs it, and there are no deadlines. */
#include <string.h>

#include "base/fail.h"
#include "energy/energy.h"
#include "eval/evaluators.h"
#include "worker/reference.h"
#include "opencl/executor.h"

typedef struct inprocess_options {
  int64_t min_runs, max_runs;
  double max_total_s, energy_s;
} inprocess_options;

#define AT(member) offsetof(inprocess_options, member)
static const clt_option options[] = {
    {"min-runs", CLT_OPTION_INT, CLT_TIMING_TEXT(CLT_TIMING_MIN_RUNS), 1, CLT_MAX_RUNS, AT(min_runs),
     "Timed runs of a configuration at least."},
    {"max-runs", CLT_OPTION_INT, CLT_TIMING_TEXT(CLT_TIMING_MAX_RUNS), 1, CLT_MAX_RUNS, AT(max_runs),
     "Timed runs of a configuration at most."},
    {"max-run-time", CLT_OPTION_REAL, CLT_TIMING_TEXT(CLT_TIMING_MAX_TOTAL_S), 0, 1e6, AT(max_total_s),
     "Seconds after which runs are not repeated."},
    {"energy-time", CLT_OPTION_REAL, "1", 0.001, 1000, AT(energy_s),
     "Seconds of repeated runs over which the energy of a run is measured, where the objective needs it."},
};

typedef struct inprocess_state {
  const clt_instance *instance;
  clt_executor *executor;
  clt_data *data;
  clt_timing_policy policy;
  clt_config config;
  bool submitted;
} inprocess_state;

static void inprocess_close(void *state) {
  inprocess_state *s = state;
  clt_data_free(s->data);
  clt_executor_free(s->executor);
  memset(s, 0, sizeof *s);
}

static int inprocess_open(void *state, const clt_evaluator_setup *setup, const void *given, clt_error *error) {
  inprocess_state *s = state;
  const inprocess_options *o = given;
  const clt_device_info *device = setup->instance ? clt_instance_device(setup->instance) : NULL;
  if (device == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the evaluator 'in-process' needs a problem and a device");
  if (o->min_runs > o->max_runs) return clt_fail(error, CLT_E_ARGUMENT, "option 'min-runs' is more than 'max-runs'");
  s->instance = setup->instance;
  clt_timing_policy_init(&s->policy);
  s->policy.min_runs = (unsigned)o->min_runs;
  s->policy.max_runs = (unsigned)o->max_runs;
  s->policy.max_total_s = o->max_total_s;
  s->policy.energy_s = setup->energy ? o->energy_s : 0;
  int rc = setup->energy ? clt_energy_check(device, error) : CLT_OK;
  if (rc == 0) rc = clt_problem_check_defines(clt_instance_problem(s->instance), error);
  if (rc == 0) rc = clt_executor_new(&s->executor, device->platform_index, device->device_index, error);
  if (rc == 0) rc = clt_reference_data(&s->data, s->executor, s->instance, 1, error);
  if (rc == 0 && setup->quality) rc = clt_data_quality(setup->quality, s->instance, s->data, error);
  if (rc) inprocess_close(s);
  return rc;
}

static size_t inprocess_capacity(const void *state) {
  (void)state;
  return 1;
}

static int inprocess_submit(void *state, clt_config config, double best_s, clt_error *error) {
  inprocess_state *s = state;
  if (s->submitted) return clt_fail(error, CLT_E_ARGUMENT, "more than one configuration submitted at once");
  s->policy.best_s = best_s;
  s->config = config;
  s->submitted = true;
  return CLT_OK;
}

static int measure(inprocess_state *s, clt_measurement *m, clt_error *error) {
  clt_plan *plan = NULL;
  clt_prepared *prepared = NULL;
  int rc = clt_executor_plan(&plan, s->instance, s->config, m, error);
  if (rc || plan == NULL) return rc;
  rc = clt_executor_prepare(s->executor, &prepared, plan, s->data, m, error);
  if (rc == 0 && m->reason == CLT_REASON_NONE) rc = clt_executor_time(s->executor, prepared, &s->policy, m, error);
  clt_prepared_free(prepared);
  clt_plan_free(plan);
  return rc;
}

static int inprocess_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  inprocess_state *s = state;
  clt_measurement m;
  (void)timeout_s;
  if (!s->submitted) return CLT_E_AGAIN;
  clt_measurement_init(&m, s->config);
  int rc = measure(s, &m, error);
  s->submitted = false;
  if (rc) {
    clt_measurement_release(&m);
    return rc;
  }
  *out = m;
  return CLT_OK;
}

const clt_evaluator_type clt_evaluator_inprocess = {
    .name = "in-process",
    .summary = "builds and runs configurations in the caller's process; a bad kernel takes it along",
    .measures_device = true,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(inprocess_options),
    .state_size = sizeof(inprocess_state),
    .open = inprocess_open,
    .capacity = inprocess_capacity,
    .submit = inprocess_submit,
    .wait = inprocess_wait,
    .close = inprocess_close,
};
