#include "opencl/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"

#define STATUS_TABLE(X)                                                                                              \
  X(CL_SUCCESS)                                                                                                      \
  X(CL_DEVICE_NOT_FOUND)                                                                                             \
  X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) \
      X(CL_OUT_OF_HOST_MEMORY) X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_IMAGE_FORMAT_MISMATCH) \
          X(CL_IMAGE_FORMAT_NOT_SUPPORTED) X(CL_BUILD_PROGRAM_FAILURE) X(CL_MAP_FAILURE)                             \
              X(CL_MISALIGNED_SUB_BUFFER_OFFSET) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(CL_INVALID_VALUE) \
                  X(CL_INVALID_DEVICE_TYPE) X(CL_INVALID_PLATFORM) X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT)        \
                      X(CL_INVALID_QUEUE_PROPERTIES) X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_HOST_PTR)              \
                          X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) X(CL_INVALID_IMAGE_SIZE)    \
                              X(CL_INVALID_SAMPLER) X(CL_INVALID_BINARY) X(CL_INVALID_BUILD_OPTIONS)                 \
                                  X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME)   \
                                      X(CL_INVALID_KERNEL_DEFINITION) X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX)   \
                                          X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS)   \
                                              X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE)             \
                                                  X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_GLOBAL_OFFSET)           \
                                                      X(CL_INVALID_EVENT_WAIT_LIST) X(CL_INVALID_EVENT)              \
                                                          X(CL_INVALID_OPERATION) X(CL_INVALID_BUFFER_SIZE)          \
                                                              X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_PROPERTY)  \
                                                                  X(CL_INVALID_IMAGE_DESCRIPTOR)                     \
                                                                      X(CL_INVALID_COMPILER_OPTIONS)

const char *clt_cl_status_name(cl_int status) {
  switch (status) {
#define CASE(id) \
  case id: return #id;
    STATUS_TABLE(CASE)
#undef CASE
    default: return "an unknown status";
  }
}

bool clt_cl_out_of_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY;
}

int clt_fail_cl(clt_error *error, cl_int status, const char *what) {
  return clt_fail(error, CLT_E_OPENCL, "cannot %s: %s (%d)", what, clt_cl_status_name(status), status);
}

int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) {
  char *log = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&log, format, arguments) < 0) log = NULL;
  va_end(arguments);
  clt_measurement_fail(m, reason, log);
  free(log);
  return CLT_REJECTED;
}

int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what) {
  if (clt_cl_out_of_memory(status)) reason = CLT_REASON_OUT_OF_MEMORY;
  return clt_reject(m, reason, "%s: %s (%d)", what, clt_cl_status_name(status), status);
}
