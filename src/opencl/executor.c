/* An executor: OpenCL's status codes; a device with its context and queue; preparing a configuration. */
#include "opencl/internal.h"

#include <pthread.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "device/device.h"
#include "problem/guidance.h"

enum { CACHE_SHARE = 8, RETIRED_SHARE = 128 }; /* of the device's memory; each worker retires its own buffers */
enum { ANSWER_S = 5 };                         /* a device that takes longer for an empty kernel is considered dead */
#define DEVICE_KERNEL_EXEC_TIMEOUT 0x4005      /* cl_nv_device_attribute_query: CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV */
#define CACHE_MIN_BYTES ((size_t)64 << 20)

/* --- executors --- */

int clt_executor_new(clt_executor **out, int platform_index, int device_index, clt_error *error) {
  cl_device_id device;
  cl_int status = CL_SUCCESS;
  int rc = clt_cl_find(&device, platform_index, device_index, error);
  if (rc) return rc;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  if (context == NULL) return clt_fail_cl(error, status, "create an OpenCL context");
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (queue == NULL) /* some devices do not support profiling, although the standard requires it */
    queue = clCreateCommandQueue(context, device, 0, &status);
  rc = queue ? clt_executor_new_on(out, context, device, queue, error)
             : clt_fail_cl(error, status, "create a command queue");
  if (queue) clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return rc;
}

int clt_executor_new_on(clt_executor **out, cl_context context, cl_device_id device, cl_command_queue queue,
                        clt_error *error) {
  cl_context of_queue = NULL;
  cl_int status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, NULL);
  if (status != CL_SUCCESS) return clt_fail_cl(error, status, "use the command queue");
  if (of_queue != context) return clt_fail(error, CLT_E_ARGUMENT, "the command queue belongs to another context");
  clt_executor *executor = clt_new_array(1, sizeof *executor);
  if (executor == NULL) return clt_fail_memory(error);
  cl_command_queue_properties properties = 0;
  clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  cl_bool watchdog = CL_FALSE;
  clGetDeviceInfo(device, DEVICE_KERNEL_EXEC_TIMEOUT, sizeof watchdog, &watchdog, NULL);
  executor->watchdog = watchdog != CL_FALSE;
  executor->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  executor->device = device;
  if (clRetainContext(context) == CL_SUCCESS) executor->context = context;
  if (clRetainCommandQueue(queue) == CL_SUCCESS) executor->queue = queue;
  int rc = clt_cl_describe(&executor->info, device, error);
  if (rc) {
    clt_executor_free(executor);
    return rc;
  }
  size_t share = (size_t)(executor->info.global_memory_bytes / CACHE_SHARE);
  executor->inputs.limit_bytes = share > CACHE_MIN_BYTES ? share : CACHE_MIN_BYTES;
  executor->retired.limit_bytes = (size_t)(executor->info.global_memory_bytes / RETIRED_SHARE);
  executor->clock = properties & CL_QUEUE_PROFILING_ENABLE ? clt_judge_clock(executor) : CLT_CLOCK_HOST;
  *out = executor;
  return CLT_OK;
}

void clt_executor_free(clt_executor *executor) {
  if (executor == NULL) return;
  clt_executor_reset(executor);
  clt_declarations_free(executor->declarations);
  clt_energy_close(executor->meter);
  clt_state_free(executor);
  if (executor->queue) clReleaseCommandQueue(executor->queue);
  if (executor->context) clReleaseContext(executor->context);
  free(executor);
}

void clt_executor_reset(clt_executor *executor) {
  clt_executor_forget(executor, NULL);
  clt_executor_free_other(executor);
  clt_executor_free_checks(executor);
  clt_sum_free(executor);
  clt_objects_drop(executor);
  clt_generator_free(executor->generator);
  executor->generator = NULL;
  executor->types_of = executor->source_hash = executor->generated = 0;
}

void clt_executor_limit_generator(clt_executor *executor, double limit_s) { executor->generate_s = limit_s; }
uint64_t clt_executor_generated(const clt_executor *executor) { return executor->generated; }

const clt_device_info *clt_executor_device(const clt_executor *executor) { return &executor->info; }

void clt_executor_on_phase(clt_executor *executor, clt_phase_fn fn, void *user) {
  executor->phase = fn;
  executor->phase_user = user;
}

/* --- a configuration, from its plan to a checked result --- */

int clt_executor_generate(clt_plan **plan, clt_executor *executor, const clt_instance *instance, clt_measurement *m,
                          clt_error *error) {
  const double began_s = clt_now_s(), limit_s = executor->generate_s > 0 ? executor->generate_s : CLT_GENERATE_S;
  clt_generated generated = CLT_GENERATION_FAILED;
  clt_text why = {0};
  clt_executor_announce(executor, CLT_PHASE_GENERATE);
  int rc = clt_generate(&generated, &why, &executor->generator, *plan, instance, limit_s, error);
  m->phases.build_s += clt_now_s() - began_s;
  if (rc == CLT_OK && generated == CLT_GENERATED) executor->generated = clt_plan_hash(*plan);
  if (rc == CLT_OK && generated != CLT_GENERATED)
    clt_measurement_fail(m, generated == CLT_NOT_GENERATED ? CLT_REASON_NOT_GENERATED : CLT_REASON_GENERATOR_FAILED,
                         why.bytes);
  clt_text_release(&why);
  if (rc == CLT_OK && generated == CLT_GENERATED) return CLT_OK;
  clt_plan_free(*plan);
  *plan = NULL;
  return rc;
}

int clt_executor_plan(clt_plan **out, clt_executor *executor, const clt_instance *instance, clt_config config,
                      clt_measurement *measurement, clt_error *error) {
  clt_error own = {0};
  char text[2048];
  executor->generated = 0;
  int rc = clt_plan_new(out, instance, config, &own);
  if (rc == CLT_OK && (*out)->source == NULL) return clt_executor_generate(out, executor, instance, measurement, error);
  if (rc == CLT_OK) return CLT_OK;
  clt_error_format(text, sizeof text, &own);
  if (rc != CLT_E_RANGE && rc != CLT_E_EXPRESSION) {
    if (error && error->code == 0) *error = own;
    return rc;
  }
  *out = NULL;
  clt_measurement_fail(measurement, CLT_REASON_LAUNCH, text);
  return CLT_OK;
}

/* --- faults --- */

void clt_executor_on_fault(clt_executor *executor, clt_fault_fn fn, void *user) {
  executor->fault = fn;
  executor->fault_user = user;
}

/* A query that is sent to the device in a thread of its own, because it may never return. */
typedef struct inquiry {
  cl_command_queue queue;
  cl_kernel kernel; /* NULL: sends a marker instead */
  bool answered;
} inquiry;

static void *inquire(void *user) {
  inquiry *q = user;
  const size_t one = 1;
  cl_event event = NULL;
  cl_int status = q->kernel ? clEnqueueNDRangeKernel(q->queue, q->kernel, 1, NULL, &one, NULL, 0, NULL, &event)
                            : clEnqueueMarkerWithWaitList(q->queue, 0, NULL, &event);
  if (status == CL_SUCCESS) status = clFlush(q->queue);
  if (status == CL_SUCCESS) status = clt_cl_await(event, CL_COMPLETE);
  if (event) clReleaseEvent(event);
  /* A shortage of memory does not mean that the device is dead. */
  q->answered = status == CL_SUCCESS || status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY;
  return NULL;
}

/* Whether the device responds within ANSWER_S. with_kernel: runs an empty kernel, because markers may complete when
 * kernels no longer do. */
static bool device_answers(clt_executor *executor, bool with_kernel) {
  pthread_t thread;
  struct timespec until;
  if (with_kernel) clt_state_prepare(executor, true);
  inquiry *q = malloc(sizeof *q);
  if (q == NULL) return true;
  *q = (inquiry){executor->queue, with_kernel ? executor->probe.empty : NULL, false};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ANSWER_S;
  const bool asked = pthread_create(&thread, NULL, inquire, q) == 0;
  if (asked && pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until)) {
    pthread_detach(thread); /* it owns q */
    return false;
  }
  const bool answered = q->answered || !asked;
  free(q);
  return answered;
}

bool clt_executor_answers(clt_executor *executor) { return device_answers(executor, true); }

void clt_executor_fault(clt_executor *executor, const clt_bindings *bindings, clt_measurement *m) {
  const bool faulty = m->reason == CLT_REASON_LAUNCH || m->reason == CLT_REASON_RUN_ERROR;
  const bool lacking = m->reason == CLT_REASON_LAUNCH_RESOURCES || m->reason == CLT_REASON_OUT_OF_MEMORY;
  if (!faulty && !lacking) return;
  if (faulty) clt_tell_fault(executor, m);
  if (device_answers(executor, lacking)) {
    clt_check_memory(bindings, executor, NULL);
    return;
  }
  executor->broken = true;
  if (faulty) return;
  char *log =
      clt_format("%s\nthe device no longer runs any kernel; an earlier failure may be the cause", m->log ? m->log : "");
  clt_measurement_fail(m, CLT_REASON_RUN_ERROR, log);
  free(log);
  clt_tell_fault(executor, m);
}

/* --- on data --- */

int clt_run_on_data(clt_bindings *bindings, double *first_run_s, clt_executor *executor, const clt_program *program,
                    const clt_plan *plan, const clt_data *data, bool compare, const clt_bindings *lender,
                    clt_measurement *m, clt_error *error) {
  clt_run run;
  double started = clt_now_s();
  executor->run.begun_s = started;
  executor->run.phase_s = first_run_s ? &m->phases.first_launch_s : &m->phases.verify_s;
  /* Before the uploads, as these disturb what another process times. */
  if (first_run_s) clt_executor_announce(executor, CLT_PHASE_LAUNCH);
  int rc = clt_bindings_init(bindings, executor, plan, data, compare, lender, m, error);
  if (rc == CLT_OK)
    rc = clt_bindings_restore(bindings, executor, lender ? CLT_RESTORE_OUTPUTS : CLT_RESTORE_ALL, m, error);
  if (rc == CLT_OK) rc = clt_bindings_set(bindings, program, plan, m);
  if (rc == CLT_OK) {
    if (first_run_s == NULL) clt_executor_announce(executor, CLT_PHASE_RUNNING);
    rc = first_run_s ? clt_launch_first(first_run_s, executor, program, plan, m)
                     : clt_launch_run(&run, executor, program, plan, 1, m);
  }
  *executor->run.phase_s += clt_now_s() - started;
  executor->run.phase_s = NULL;
  if (rc == CLT_OK) rc = clt_bindings_verify(bindings, executor, true, m);
  /* Releases the arguments first: if memory is short, querying the device needs some, too. */
  if (rc == CLT_REJECTED && m->reason == CLT_REASON_OUT_OF_MEMORY) {
    clt_bindings_release(bindings, executor);
    clt_objects_drop(executor);
  }
  if (rc == CLT_REJECTED) clt_executor_fault(executor, bindings, m);
  return rc;
}

int clt_executor_prepare(clt_executor *executor, clt_prepared **out, const clt_plan *plan, const clt_data *data,
                         clt_measurement *measurement, clt_error *error) {
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  clt_prepared *prepared = clt_new_array(1, sizeof *prepared);
  if (prepared == NULL) return clt_fail_memory(error);
  prepared->executor = executor;
  prepared->plan = plan;
  prepared->n_together = 1;
  clt_rng_init(&prepared->rng, (uint64_t)plan->config);
  clt_executor_announce(executor, CLT_PHASE_BUILD);
  for (size_t i = 0; data && i < data->n_arrays; i++) clt_sum_prepare(executor, data->arrays[i].bytes);
  if (executor->info.type != CLT_DEVICE_CPU) clt_state_prepare(executor, true); /* CPUs' drivers build slowly */
  rc = clt_program_build(&prepared->program, executor, plan, measurement, error);
  if (rc == CLT_OK)
    rc = clt_run_on_data(&prepared->bindings, &prepared->first_run_s, executor, &prepared->program, plan, data,
                         data != NULL, NULL, measurement, error);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  if (rc) clt_prepared_free(prepared);
  if (rc < 0) return rc;
  *out = rc == CLT_OK ? prepared : NULL;
  return CLT_OK;
}

int clt_executor_prepare_config(clt_executor *executor, clt_prepared **out, const clt_instance *instance,
                                clt_config config, clt_build build, const clt_data *data, clt_measurement *m,
                                clt_error *error) {
  clt_plan *plan = NULL;
  clt_measurement_init(m, config);
  *out = NULL;
  int rc = clt_executor_plan(&plan, executor, instance, config, m, error);
  if (rc || plan == NULL) return rc;
  uint64_t hash = clt_hash64(plan->source, strlen(plan->source));
  if (executor->source_hash == 0 || executor->generated) executor->source_hash = hash;
  if (executor->source_hash != hash) {
    rc = clt_fail(error, CLT_E_FORMAT, "the kernel of '%s' has changed since the tuning began; start the tuning again",
                  clt_problem_path(clt_instance_problem(instance)));
  } else if (build == CLT_BUILD_MIRRORED && clt_plan_mirror(plan)) {
    rc = clt_fail_memory(error);
  } else if (build == CLT_BUILD_ANEW) {
    char *text = clt_format("%s\n/* %lld */\n", plan->source, (long long)getpid());
    if (text == NULL) rc = clt_fail_memory(error);
    if (text) free(plan->source), plan->source = text;
  }
  if (rc == CLT_OK) rc = clt_executor_prepare(executor, out, plan, data, m, error);
  if (*out == NULL) {
    clt_plan_free(plan);
    return rc;
  }
  (*out)->own_plan = plan;
  (*out)->mirrored = build == CLT_BUILD_MIRRORED;
  return rc;
}

void clt_prepared_free(clt_prepared *prepared) {
  if (prepared == NULL) return;
  clt_bindings_release(&prepared->bindings, prepared->executor);
  clt_program_release(&prepared->program);
  clt_plan_free(prepared->own_plan);
  free(prepared);
}
