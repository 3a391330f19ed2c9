/* An executor: OpenCL's status codes; a device with its context and queue; preparing a configuration. */
#include "opencl/internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/device.h"
#include "problem/guidance.h"

enum { CACHE_SHARE = 8 };                 /* of the device's memory */
enum { ANSWER_S = 5 };                    /* a device that takes longer for an empty kernel is considered dead */
#define DEVICE_KERNEL_EXEC_TIMEOUT 0x4005 /* cl_nv_device_attribute_query: CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV */
#define PROBE "kernel void clatune_probe(void) {}\n"
#define CACHE_MIN_BYTES ((size_t)64 << 20)

/* --- status codes --- */

/* In the order of the codes, from 0 downwards; -20 to -29 are not used. */
const char *clt_cl_status_name(cl_int status) {
  static const char names[] =
      "CL_SUCCESS\0CL_DEVICE_NOT_FOUND\0CL_DEVICE_NOT_AVAILABLE\0CL_COMPILER_NOT_AVAILABLE\0"
      "CL_MEM_OBJECT_ALLOCATION_FAILURE\0CL_OUT_OF_RESOURCES\0CL_OUT_OF_HOST_MEMORY\0"
      "CL_PROFILING_INFO_NOT_AVAILABLE\0CL_MEM_COPY_OVERLAP\0CL_IMAGE_FORMAT_MISMATCH\0"
      "CL_IMAGE_FORMAT_NOT_SUPPORTED\0CL_BUILD_PROGRAM_FAILURE\0CL_MAP_FAILURE\0CL_MISALIGNED_SUB_BUFFER_OFFSET\0"
      "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST\0CL_COMPILE_PROGRAM_FAILURE\0CL_LINKER_NOT_AVAILABLE\0"
      "CL_LINK_PROGRAM_FAILURE\0CL_DEVICE_PARTITION_FAILED\0CL_KERNEL_ARG_INFO_NOT_AVAILABLE\0\0\0\0\0\0\0\0\0\0\0"
      "CL_INVALID_VALUE\0CL_INVALID_DEVICE_TYPE\0CL_INVALID_PLATFORM\0CL_INVALID_DEVICE\0CL_INVALID_CONTEXT\0"
      "CL_INVALID_QUEUE_PROPERTIES\0CL_INVALID_COMMAND_QUEUE\0CL_INVALID_HOST_PTR\0CL_INVALID_MEM_OBJECT\0"
      "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR\0CL_INVALID_IMAGE_SIZE\0CL_INVALID_SAMPLER\0CL_INVALID_BINARY\0"
      "CL_INVALID_BUILD_OPTIONS\0CL_INVALID_PROGRAM\0CL_INVALID_PROGRAM_EXECUTABLE\0CL_INVALID_KERNEL_NAME\0"
      "CL_INVALID_KERNEL_DEFINITION\0CL_INVALID_KERNEL\0CL_INVALID_ARG_INDEX\0CL_INVALID_ARG_VALUE\0"
      "CL_INVALID_ARG_SIZE\0CL_INVALID_KERNEL_ARGS\0CL_INVALID_WORK_DIMENSION\0CL_INVALID_WORK_GROUP_SIZE\0"
      "CL_INVALID_WORK_ITEM_SIZE\0CL_INVALID_GLOBAL_OFFSET\0CL_INVALID_EVENT_WAIT_LIST\0CL_INVALID_EVENT\0"
      "CL_INVALID_OPERATION\0CL_INVALID_GL_OBJECT\0CL_INVALID_BUFFER_SIZE\0CL_INVALID_MIP_LEVEL\0"
      "CL_INVALID_GLOBAL_WORK_SIZE\0CL_INVALID_PROPERTY\0CL_INVALID_IMAGE_DESCRIPTOR\0CL_INVALID_COMPILER_OPTIONS\0"
      "CL_INVALID_LINKER_OPTIONS\0CL_INVALID_DEVICE_PARTITION_COUNT\0CL_INVALID_PIPE_SIZE\0CL_INVALID_DEVICE_QUEUE\0"
      "CL_INVALID_SPEC_ID\0CL_MAX_SIZE_RESTRICTION_EXCEEDED";
  /* Codes of extensions, and codes that vendors return without defining them; as numbers, because older headers lack
   * them. */
  static const struct {
    cl_int status;
    const char *name;
  } others[] = {
      {-1000, "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR"},
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
      {-1057, "CL_DEVICE_PARTITION_FAILED_EXT"},
      {-1058, "CL_INVALID_PARTITION_COUNT_EXT"},
      {-1059, "CL_INVALID_PARTITION_NAME_EXT"},
      {-1092, "CL_EGL_RESOURCE_NOT_ACQUIRED_KHR"},
      {-1093, "CL_INVALID_EGL_OBJECT_KHR"},
      {-1094, "CL_INVALID_ACCELERATOR_INTEL"},
      {-1095, "CL_INVALID_ACCELERATOR_TYPE_INTEL"},
      {-1096, "CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL"},
      {-1097, "CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL"},
      {-1108, "CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM"},
      {-1121, "CL_CONTEXT_TERMINATED_KHR"},
      {-9999, "NVIDIA: a kernel read or wrote outside its buffers"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i].status == status) return others[i].name;
  const char *name = names;
  if (status > 0) return "unknown status";
  for (cl_int i = 0; i > status && name < names + sizeof names; i--) name += strlen(name) + 1;
  return name < names + sizeof names && *name ? name : "unknown status";
}

bool clt_cl_out_of_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY;
}

int clt_fail_cl(clt_error *error, cl_int status, const char *what) {
  return clt_fail(error, CLT_E_OPENCL, "cannot %s: %s (%d)", what, clt_cl_status_name(status), status);
}

int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) {
  va_list arguments;
  if (m == NULL) return CLT_REJECTED;
  va_start(arguments, format);
  char *log = clt_vformat(format, arguments);
  va_end(arguments);
  clt_measurement_fail(m, reason, log);
  free(log);
  return CLT_REJECTED;
}

int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what) {
  if (clt_cl_out_of_memory(status)) reason = CLT_REASON_OUT_OF_MEMORY;
  return clt_reject(m, reason, "%s: %s (%d)", what, clt_cl_status_name(status), status);
}

/* --- executors --- */

void clt_executor_announce(const clt_executor *executor, clt_phase phase) {
  if (executor->phase) executor->phase(executor->phase_user, phase);
}

int clt_executor_usable(const clt_executor *executor, clt_error *error) {
  if (!executor->broken) return CLT_OK;
  return clt_fail(error, CLT_E_OPENCL, "the device '%s' no longer responds after a fault; open it again",
                  executor->info.name);
}

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
  if (rc) return clt_executor_free(executor), rc;
  size_t share = (size_t)(executor->info.global_memory_bytes / CACHE_SHARE);
  executor->inputs.limit_bytes = share > CACHE_MIN_BYTES ? share : CACHE_MIN_BYTES;
  executor->clock = properties & CL_QUEUE_PROFILING_ENABLE ? clt_judge_clock(executor) : CLT_CLOCK_HOST;
  *out = executor;
  return CLT_OK;
}

void clt_executor_free(clt_executor *executor) {
  if (executor == NULL) return;
  clt_executor_forget(executor, NULL);
  clt_declarations_free(executor->declarations);
  clt_energy_close(executor->meter);
  if (executor->probe) clReleaseKernel(executor->probe);
  clt_executor_free_other(executor);
  clt_executor_free_checks(executor);
  if (executor->queue) clReleaseCommandQueue(executor->queue);
  if (executor->context) clReleaseContext(executor->context);
  free(executor);
}

void clt_executor_reset(clt_executor *executor) {
  clt_executor_forget(executor, NULL);
  clt_executor_free_other(executor);
  clt_executor_free_checks(executor);
  executor->types_of = executor->source_hash = 0;
}

const clt_device_info *clt_executor_device(const clt_executor *executor) { return &executor->info; }

void clt_executor_on_phase(clt_executor *executor, clt_phase_fn fn, void *user) {
  executor->phase = fn;
  executor->phase_user = user;
}

/* --- a configuration, from its plan to a checked result --- */

int clt_executor_plan(clt_plan **out, const clt_instance *instance, clt_config config, clt_measurement *measurement,
                      clt_error *error) {
  clt_error own = {0};
  char text[2048];
  int rc = clt_plan_new(out, instance, config, &own);
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

void clt_tell_fault(const clt_executor *executor, clt_measurement *m) {
  if (executor->fault == NULL || m == NULL) return;
  clt_measurement told;
  if (clt_measurement_copy(&told, m, NULL)) return;
  if (executor->run.phase_s == &m->phases.first_launch_s)
    told.phases.first_launch_s += clt_now_s() - executor->run.begun_s;
  if (executor->run.check) clt_name_check(&told, executor->run.check);
  executor->fault(executor->fault_user, &told, executor->broken);
  clt_measurement_release(&told);
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
  if (status == CL_SUCCESS) status = clWaitForEvents(1, &event);
  if (event) clReleaseEvent(event);
  /* A shortage of memory does not mean that the device is dead. */
  q->answered = status == CL_SUCCESS || status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY;
  return NULL;
}

/* Whether the device responds within ANSWER_S. with_kernel: runs an empty kernel, because markers may complete when
 * kernels no longer do. */
static bool device_answers(clt_executor *executor, bool with_kernel) {
  cl_int status;
  pthread_t thread;
  struct timespec until;
  if (with_kernel && executor->probe == NULL)
    executor->probe = clt_own_kernel(executor, PROBE, "clatune_probe", &status);
  inquiry *q = malloc(sizeof *q);
  if (q == NULL) return true;
  *q = (inquiry){executor->queue, with_kernel ? executor->probe : NULL, false};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ANSWER_S;
  if (pthread_create(&thread, NULL, inquire, q)) return free(q), true;
  if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until))
    return pthread_detach(thread), false; /* the thread owns q */
  const bool answered = q->answered;
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
  int rc = clt_bindings_init(bindings, executor, plan, data, compare, lender, m, error);
  if (rc == 0) rc = clt_bindings_restore(bindings, executor, lender ? CLT_RESTORE_OUTPUTS : CLT_RESTORE_ALL, m, error);
  if (rc == 0) rc = clt_bindings_set(bindings, program, plan, m);
  if (rc == 0) {
    if (first_run_s == NULL) clt_executor_announce(executor, CLT_PHASE_RUNNING);
    rc = first_run_s ? clt_launch_first(first_run_s, executor, program, plan, m)
                     : clt_launch_run(&run, executor, program, plan, 1, m);
  }
  *executor->run.phase_s += clt_now_s() - started;
  executor->run.phase_s = NULL;
  if (rc == 0) rc = clt_bindings_verify(bindings, executor, true, m);
  /* Releases the arguments first: if memory is short, querying the device needs some, too. */
  if (rc == CLT_REJECTED && m->reason == CLT_REASON_OUT_OF_MEMORY) clt_bindings_release(bindings, executor);
  if (rc == CLT_REJECTED) clt_executor_fault(executor, bindings, m);
  return rc;
}

/* Does the work of clt_executor_prepare, with or without the comparison, and returns CLT_REJECTED for a failed
 * configuration. */
static int prepare_plan(clt_prepared **out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                        bool compare, clt_measurement *m, clt_error *error) {
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  clt_prepared *prepared = clt_new_array(1, sizeof *prepared);
  if (prepared == NULL) return clt_fail_memory(error);
  prepared->executor = executor;
  prepared->plan = plan;
  prepared->n_together = 1;
  clt_rng_init(&prepared->rng, (uint64_t)plan->config);
  clt_executor_announce(executor, CLT_PHASE_BUILD);
  rc = clt_program_build(&prepared->program, executor, plan, m, error);
  if (rc == 0)
    rc = clt_run_on_data(&prepared->bindings, &prepared->first_run_s, executor, &prepared->program, plan, data, compare,
                         NULL, m, error);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  if (rc) return clt_prepared_free(prepared), rc;
  *out = prepared;
  return CLT_OK;
}

int clt_executor_prepare(clt_executor *executor, clt_prepared **out, const clt_plan *plan, const clt_data *data,
                         clt_measurement *measurement, clt_error *error) {
  clt_prepared *prepared = NULL;
  int rc = prepare_plan(&prepared, executor, plan, data, data != NULL, measurement, error);
  if (rc < 0) return rc;
  *out = prepared;
  return CLT_OK;
}

int clt_executor_prepare_config(clt_executor *executor, clt_prepared **out, const clt_instance *instance,
                                clt_config config, bool anew, const clt_data *data, clt_measurement *m,
                                clt_error *error) {
  clt_plan *plan = NULL;
  clt_measurement_init(m, config);
  *out = NULL;
  int rc = clt_executor_plan(&plan, instance, config, m, error);
  if (rc || plan == NULL) return rc;
  uint64_t hash = clt_hash64(plan->source, strlen(plan->source));
  if (executor->source_hash == 0) executor->source_hash = hash;
  if (executor->source_hash != hash) {
    rc = clt_fail(error, CLT_E_FORMAT, "the kernel of '%s' has changed since the tuning began; start the tuning again",
                  clt_problem_path(clt_instance_problem(instance)));
  } else if (anew || clt_cl_is_nvidia(&executor->info)) { /* NVIDIA's has no log for a program from its cache */
    char *text = clt_format("%s\n/* %lld */\n", plan->source, (long long)getpid());
    if (text == NULL) rc = clt_fail_memory(error);
    if (text) free(plan->source), plan->source = text;
  }
  if (rc == 0) rc = clt_executor_prepare(executor, out, plan, data, m, error);
  if (*out)
    (*out)->own_plan = plan;
  else
    clt_plan_free(plan);
  return rc;
}

void clt_prepared_free(clt_prepared *prepared) {
  if (prepared == NULL) return;
  clt_bindings_release(&prepared->bindings, prepared->executor);
  clt_program_release(&prepared->program);
  clt_program_release(&prepared->mirrored);
  clt_plan_free(prepared->own_plan);
  free(prepared);
}
