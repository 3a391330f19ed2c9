#include "opencl/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "device/energy.h"
#include "opencl/clock.h"
#include "opencl/declarations.h"
#include "opencl/devices.h"
#include "opencl/inputs.h"

enum { CACHE_SHARE = 8 }; /* of the device's memory */
#define CACHE_MIN_BYTES ((size_t)64 << 20)

void clt_executor_announce(const clt_executor *executor, clt_phase phase) {
  if (executor->phase) executor->phase(executor->phase_user, phase);
}

void clt_executor_drop_declarations(clt_executor *executor) {
  clt_declarations_free(executor->declarations);
  executor->declarations = NULL;
}

void *clt_scratch_get(clt_scratch *scratch, size_t bytes) {
  if (bytes > scratch->capacity || scratch->bytes == NULL) {
    free(scratch->bytes);
    scratch->bytes = malloc(bytes ? bytes : 1);
    scratch->capacity = scratch->bytes ? bytes : 0;
  }
  return scratch->bytes;
}

void clt_executor_check(clt_executor *executor) {
  cl_event event = NULL;
  cl_int status = clEnqueueMarkerWithWaitList(executor->queue, 0, NULL, &event);
  if (status == CL_SUCCESS) status = clWaitForEvents(1, &event);
  if (event) clReleaseEvent(event);
  if (status != CL_SUCCESS) executor->broken = true;
}

static void describe(clt_executor *executor, int platform_index, int device_index) {
  clt_device_info *info = &executor->info;
  clt_cl_describe(info, executor->device);
  info->platform_index = platform_index;
  info->device_index = device_index;
  size_t share = (size_t)(info->global_memory_bytes / CACHE_SHARE);
  executor->inputs.limit_bytes = share > CACHE_MIN_BYTES ? share : CACHE_MIN_BYTES;
}

static int find_device(cl_device_id *out, int platform_index, int device_index, clt_error *error) {
  cl_platform_id *platforms = NULL;
  cl_device_id *devices = NULL;
  cl_uint n_platforms = 0, n_devices = 0;
  int rc = clt_cl_platforms(&platforms, &n_platforms, error);
  if (rc == 0 && platform_index >= 0 && (cl_uint)platform_index < n_platforms)
    rc = clt_cl_platform_devices(&devices, &n_devices, platforms[platform_index], error);
  if (rc == 0 && (device_index < 0 || (cl_uint)device_index >= n_devices))
    rc = clt_fail(error, CLT_E_DEVICE, "no OpenCL device '%d:%d'; 'clatune devices' lists them", platform_index,
                  device_index);
  if (rc == 0) *out = devices[device_index];
  free(devices);
  free(platforms);
  return rc;
}

int clt_executor_new(clt_executor **out, int platform_index, int device_index, clt_error *error) {
  cl_int status = CL_SUCCESS;
  clt_executor *executor = clt_new_array(1, sizeof *executor);
  if (executor == NULL) return clt_fail_memory(error);
  int rc = find_device(&executor->device, platform_index, device_index, error);
  if (rc) goto done;
  executor->context = clCreateContext(NULL, 1, &executor->device, NULL, NULL, &status);
  if (executor->context == NULL) {
    rc = clt_fail_cl(error, status, "make an OpenCL context");
    goto done;
  }
  executor->queue = clCreateCommandQueue(executor->context, executor->device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (executor->queue == NULL) /* a device may lack profiling in spite of the standard */
    executor->queue = clCreateCommandQueue(executor->context, executor->device, 0, &status);
  if (executor->queue == NULL) {
    rc = clt_fail_cl(error, status, "make a command queue");
    goto done;
  }
  describe(executor, platform_index, device_index);
  executor->clock = clt_clock_judge(executor);
done:
  if (rc) {
    clt_executor_free(executor);
    return rc;
  }
  *out = executor;
  return CLT_OK;
}

/* The device's place among all devices, -1 where it is a sub-device. */
static void place_of(int *platform_index, int *device_index, cl_device_id device) {
  cl_platform_id *platforms = NULL;
  cl_uint n_platforms = 0;
  *platform_index = *device_index = -1;
  if (clt_cl_platforms(&platforms, &n_platforms, NULL)) return;
  for (cl_uint p = 0; p < n_platforms; p++) {
    cl_device_id *devices = NULL;
    cl_uint n = 0;
    if (clt_cl_platform_devices(&devices, &n, platforms[p], NULL)) break;
    for (cl_uint d = 0; d < n; d++) {
      if (devices[d] != device) continue;
      *platform_index = (int)p;
      *device_index = (int)d;
    }
    free(devices);
  }
  free(platforms);
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
  executor->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  executor->device = device;
  if (clRetainContext(context) == CL_SUCCESS) executor->context = context;
  if (clRetainCommandQueue(queue) == CL_SUCCESS) executor->queue = queue;
  int platform_index, device_index;
  place_of(&platform_index, &device_index, device);
  describe(executor, platform_index, device_index);
  executor->clock = clt_clock_judge(executor);
  *out = executor;
  return CLT_OK;
}

void clt_executor_free(clt_executor *executor) {
  if (executor == NULL) return;
  clt_inputs_clear(executor);
  clt_executor_drop_declarations(executor);
  clt_energy_close(executor->meter);
  if (executor->queue) clReleaseCommandQueue(executor->queue);
  if (executor->context) clReleaseContext(executor->context);
  free(executor->stored.bytes);
  free(executor->logical.bytes);
  free(executor);
}

const clt_device_info *clt_executor_device(const clt_executor *executor) { return &executor->info; }

void clt_executor_on_phase(clt_executor *executor, clt_phase_fn fn, void *user) {
  executor->phase = fn;
  executor->phase_user = user;
}
