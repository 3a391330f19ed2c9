/* Tuning within the application's process: builds and runs the configurations of clt_online on its own buffers. */
#include <clatune/online.h>
#include <clatune/tune_kernel.h>

#include "base/base.h"
#include "measurement/measurement.h"
#include "opencl/internal.h"
#include "problem/guidance.h"
#include "session/session.h"

#define RUNS 5
#define RUNS_S 0.1 /* seconds of repeated runs */

typedef struct tuner {
  const clt_kernel_tuning *t;
  clt_executor *executor;
  clt_online *online;
  cl_mem *backups; /* one per argument; NULL: none */
  clt_objective *objective;
  double start_s, best_s; /* best_s: the limit for slow configurations is relative to it; 0: none */
  clt_kernel_tuned result;
  clt_counted_result so_far; /* the text that progress shows */
} tuner;

/* --- the application's buffers --- */

static int copy_buffer(const tuner *u, cl_mem from, cl_mem to, size_t bytes, clt_error *error) {
  cl_int status = clEnqueueCopyBuffer(u->t->queue, from, to, 0, 0, bytes, 0, NULL, NULL);
  if (status == CL_SUCCESS) status = clFinish(u->t->queue);
  return status ? clt_fail_cl(error, status, "copy a buffer") : CLT_OK;
}

static int restore_buffers(const tuner *u, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && u->backups && i < u->t->n_arguments; i++) {
    size_t bytes = 0;
    if (u->backups[i] == NULL) continue;
    clGetMemObjectInfo(u->backups[i], CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    rc = copy_buffer(u, u->backups[i], u->t->arguments[i].restored, bytes, error);
  }
  return rc;
}

/* --- one configuration: 0, CLT_REJECTED with the reason in m, or an error --- */

static int set_arguments(const tuner *u, const clt_program *program, const clt_plan *plan, clt_measurement *m,
                         clt_error *error) {
  const clt_plan_launch *launch = &plan->launches[0];
  if (plan->n_launches != 1 || launch->n_args != u->t->n_arguments)
    return clt_fail(error, CLT_E_UNSUPPORTED,
                    "the problem has %zu launches, the first with %zu arguments; this needs one launch with the %zu "
                    "given arguments",
                    plan->n_launches, launch->n_args, u->t->n_arguments);
  for (size_t i = 0; i < launch->n_args; i++) {
    const clt_host_argument *a = &u->t->arguments[i];
    size_t bytes = a->bytes || a->value ? a->bytes : plan->args[launch->args[i]].bytes;
    cl_int status = clSetKernelArg(program->kernels[0], (cl_uint)i, bytes, a->value);
    if (status == CL_INVALID_ARG_SIZE || status == CL_INVALID_ARG_VALUE || status == CL_INVALID_MEM_OBJECT)
      return clt_fail(error, CLT_E_ARGUMENT, "argument %zu ('%s') has the wrong type or size for the kernel (%s)", i,
                      plan->args[launch->args[i]].name, clt_cl_status_name(status));
    if (status) return clt_reject_cl(m, CLT_REASON_LAUNCH, status, "set an argument");
  }
  return CLT_OK;
}

/* Repeats runs for RUNS_S; a run far behind the best is not repeated. */
static int time_runs(const tuner *u, const clt_program *program, const clt_plan *plan, clt_measurement *m,
                     clt_error *error) {
  double start_s = clt_now_s(), least_s = INFINITY;
  const bool cold = clt_problem_guidance(clt_instance_problem(u->t->instance))->cold_cache;
  for (int i = 0; i < RUNS; i++) {
    clt_run run;
    int rc = restore_buffers(u, error);
    if (rc == CLT_OK && cold) rc = clt_executor_cool(u->executor, m, error);
    if (rc == CLT_OK) rc = clt_launch_run(&run, u->executor, program, plan, 1, m);
    if (rc) return rc;
    bool device = u->executor->clock == CLT_CLOCK_DEVICE && run.device_s > 0; /* the queue may have no profiling */
    m->clock = device ? CLT_CLOCK_DEVICE : CLT_CLOCK_HOST;
    m->runs_s[m->n_runs] = device ? run.device_s : run.host_s;
    least_s = fmin(least_s, m->runs_s[m->n_runs++]);
    if (clt_now_s() - start_s >= RUNS_S || (u->best_s > 0 && least_s > CLT_TIMING_ABANDON * u->best_s)) break;
  }
  m->time_s = least_s;
  return CLT_OK;
}

static int measure_in_place(const tuner *u, clt_config config, clt_measurement *m, clt_error *error) {
  clt_plan *plan = NULL;
  clt_program program = {0};
  double first_s;
  int rc = clt_executor_plan(&plan, u->executor, u->t->instance, config, m, error);
  if (rc || plan == NULL) return rc;
  rc = clt_program_build(&program, u->executor, plan, m, error);
  if (rc == CLT_OK) rc = set_arguments(u, &program, plan, m, error);
  if (rc == CLT_OK) rc = restore_buffers(u, error);
  if (rc == CLT_OK) rc = clt_launch_first(&first_s, u->executor, &program, plan, m);
  if (rc == CLT_OK && u->t->right && !u->t->right(u->t->user))
    rc = clt_reject(m, CLT_REASON_WRONG_OUTPUT, "the application has rejected the result");
  if (rc == CLT_OK) rc = time_runs(u, &program, plan, m, error);
  clt_program_release(&program);
  clt_plan_free(plan);
  return rc < 0 ? rc : CLT_OK;
}

/* --- the loop --- */

static int prepare_tuning(tuner *u, clt_error *error) {
  const clt_kernel_tuning *t = u->t;
  const clt_online_settings settings = {.struct_size = sizeof settings,
                                        .instance = t->instance,
                                        .store = t->store,
                                        .budget = t->budget,
                                        .seed = t->seed,
                                        .objective = t->objective};
  if (t->instance == NULL || clt_instance_device(t->instance) == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "clt_tune_kernel needs an instance that was created for the device");
  const clt_space *space = clt_instance_space(t->instance);
  u->so_far.result.cartesian = clt_space_cartesian(space);
  u->so_far.result.valid = clt_space_valid(space);
  int rc = clt_objective_new(&u->objective, t->instance, t->objective, error);
  if (rc == CLT_OK) rc = clt_executor_new_on(&u->executor, t->context, t->device, t->queue, error);
  if (rc == CLT_OK) rc = clt_online_new(&u->online, &settings, error);
  if (rc == CLT_OK && (u->backups = clt_new_array(t->n_arguments, sizeof *u->backups)) == NULL)
    rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < t->n_arguments; i++) {
    cl_mem original = t->arguments[i].restored;
    size_t bytes = 0;
    if (original == NULL) continue;
    cl_int status = clGetMemObjectInfo(original, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (status == CL_SUCCESS) u->backups[i] = clCreateBuffer(t->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    rc = status ? clt_fail_cl(error, status, "create a buffer for a backup")
                : copy_buffer(u, original, u->backups[i], bytes, error);
  }
  return rc;
}

/* Counts a run and reports progress. */
static void report_run(tuner *u, const clt_measurement *m) {
  const clt_kernel_tuning *t = u->t;
  clt_tune_result *result = &u->so_far.result;
  int64_t budget = t->budget > 0 ? t->budget : CLT_DEFAULT_BUDGET;
  bool correct = clt_measurement_correct(m);
  if (!correct && u->so_far.by_reason[m->reason]++ == 0) u->so_far.example[m->reason] = m->config;
  if (!correct) {
    char *config = clt_config_string(clt_instance_space(t->instance), m->config);
    const char *text = config ? config : "", *reason = clt_reason_text(m->reason);
    if (m->log)
      clt_log(t->log, t->user, CLT_LOG_INFO, "%s: %s: %s", text, reason, m->log);
    else
      clt_log(t->log, t->user, CLT_LOG_INFO, "%s: %s", text, reason);
    free(config);
  }
  result->evaluations = result->measured = u->result.n_right + u->result.n_failed;
  result->n_correct = u->result.n_right;
  clt_measurement_init(&result->best, CLT_CONFIG_NONE);
  if (clt_online_best(&result->best.config, &result->best.time_s, u->online)) {
    result->best.runs_s[0] = result->best.time_s;
    result->best.n_runs = 1;
  }
  const clt_progress now = {.phase = "search",
                            .done = clt_online_n_answered(u->online),
                            .total = result->valid < (uint64_t)budget ? (int64_t)result->valid : budget,
                            .so_far = result,
                            .best_value = clt_objective_value(u->objective, &result->best),
                            .elapsed_s = clt_now_s() - u->start_s,
                            .time_limit_s = t->time_s,
                            .last = m};
  if (t->progress) t->progress(t->user, &now);
}

int clt_tune_kernel(clt_kernel_tuned *out, const clt_kernel_tuning *tuning, clt_error *error) {
  clt_kernel_tuning copy;
  tuner u = {.t = &copy, .start_s = clt_now_s()};
  int rc = clt_copy_settings(&copy, sizeof copy, tuning, "clt_kernel_tuning", error);
  if (rc) return rc;
  rc = prepare_tuning(&u, error);
  bool prepared = rc == CLT_OK;
  double end_s = copy.time_s > 0 ? clt_now_s() + copy.time_s : INFINITY;
  bool by_time = prepared && clt_objective_ranks_by_time(u.objective), stopped = false;
  while (rc == CLT_OK && clt_now_s() < end_s && !(stopped = copy.stop && *copy.stop)) {
    clt_config config;
    clt_measurement m;
    bool exploring;
    rc = clt_online_ask(&config, &exploring, u.online, error);
    if (rc || !exploring) break;
    clt_measurement_init(&m, config);
    rc = measure_in_place(&u, config, &m, error);
    if (rc == CLT_OK && clt_measurement_correct(&m)) {
      u.result.n_right++;
      if (by_time && (u.best_s == 0 || m.time_s < u.best_s)) u.best_s = m.time_s;
      rc = clt_online_tell(u.online, config, m.time_s, error);
    } else if (rc == CLT_OK) {
      u.result.n_failed++;
      rc = clt_online_fail(u.online, config, m.reason, error);
    }
    if (rc == CLT_OK) report_run(&u, &m);
    clt_measurement_release(&m);
  }
  if (prepared) {
    const int restored = restore_buffers(&u, rc ? NULL : error);
    if (rc == CLT_OK) rc = restored;
  }
  if (rc == CLT_OK && !clt_online_best(&u.result.config, &u.result.time_s, u.online))
    rc = stopped ? clt_fail(error, CLT_E_STOPPED, "stopped after %lld configurations", (long long)u.result.n_failed)
                 : clt_fail(error, CLT_E_NO_VALID, "none of %lld configurations ran with a correct result",
                            (long long)u.result.n_failed);
  if (rc == CLT_OK) rc = clt_instance_options(&u.result.options, copy.instance, u.result.config, error);
  for (size_t i = 0; u.backups && i < copy.n_arguments; i++)
    if (u.backups[i]) clReleaseMemObject(u.backups[i]);
  free(u.backups);
  clt_online_free(u.online);
  clt_objective_free(u.objective);
  clt_executor_free(u.executor);
  if (rc == CLT_OK) *out = u.result;
  return rc;
}

void clt_kernel_tuned_release(clt_kernel_tuned *tuned) {
  free(tuned->options);
  tuned->options = NULL;
}
