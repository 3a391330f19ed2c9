/* OpenCL's status codes, and failed configurations. */
#include "base/base.h"
#include "opencl/internal.h"
#include "opencl/program.h"

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

/* --- for all steps of an executor --- */

void clt_executor_announce(const clt_executor *executor, clt_phase phase) {
  if (executor->phase) executor->phase(executor->phase_user, phase);
}

int clt_executor_usable(const clt_executor *executor, clt_error *error) {
  if (!executor->broken) return CLT_OK;
  return clt_fail(error, CLT_E_OPENCL, "the device '%s' no longer responds after a fault; open it again",
                  executor->info.name);
}

void clt_name_check(clt_measurement *m, const char *check) {
  char *log = clt_format("%s: %s", check, m->log ? m->log : clt_reason_text(m->reason));
  clt_measurement_fail(m, m->reason, log);
  free(log);
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
