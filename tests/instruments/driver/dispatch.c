/* The table that the loader calls through, and the functions that the loader itself looks for. */
#include <CL/cl_ext.h>

#include "driver/objects.h"

/* Functions that a simulated device does not need answer so. The arguments are the caller's to clean up on every
 * platform that the loader runs on, so one function without any replaces all; a function that should make an object
 * gives NULL. */
static cl_int not_there(void) { return CL_INVALID_OPERATION; }
static void *nothing(void) { return NULL; }

#define HAS(name) .name = name
#define LACKS(name) .name = (cl_api_##name)(void (*)(void))not_there
#define MAKES_NOTHING(name) .name = (cl_api_##name)(void (*)(void))nothing

const cl_icd_dispatch sim_dispatch = {
    HAS(clGetPlatformIDs),
    HAS(clGetPlatformInfo),
    HAS(clGetDeviceIDs),
    HAS(clGetDeviceInfo),
    HAS(clRetainDevice),
    HAS(clReleaseDevice),
    HAS(clCreateContext),
    HAS(clCreateContextFromType),
    HAS(clRetainContext),
    HAS(clReleaseContext),
    HAS(clGetContextInfo),
    HAS(clCreateCommandQueue),
    HAS(clCreateCommandQueueWithProperties),
    HAS(clRetainCommandQueue),
    HAS(clReleaseCommandQueue),
    HAS(clGetCommandQueueInfo),
    HAS(clCreateBuffer),
    HAS(clCreateSubBuffer),
    HAS(clRetainMemObject),
    HAS(clReleaseMemObject),
    HAS(clGetMemObjectInfo),
    HAS(clGetSupportedImageFormats),
    HAS(clCreateSampler),
    HAS(clRetainSampler),
    HAS(clReleaseSampler),
    HAS(clCreateProgramWithSource),
    HAS(clRetainProgram),
    HAS(clReleaseProgram),
    HAS(clBuildProgram),
    HAS(clGetProgramInfo),
    HAS(clGetProgramBuildInfo),
    HAS(clCreateKernel),
    HAS(clRetainKernel),
    HAS(clReleaseKernel),
    HAS(clSetKernelArg),
    HAS(clGetKernelInfo),
    HAS(clGetKernelWorkGroupInfo),
    HAS(clWaitForEvents),
    HAS(clGetEventInfo),
    HAS(clRetainEvent),
    HAS(clReleaseEvent),
    HAS(clGetEventProfilingInfo),
    HAS(clFlush),
    HAS(clFinish),
    HAS(clEnqueueReadBuffer),
    HAS(clEnqueueWriteBuffer),
    HAS(clEnqueueCopyBuffer),
    HAS(clEnqueueFillBuffer),
    HAS(clEnqueueMapBuffer),
    HAS(clEnqueueUnmapMemObject),
    HAS(clEnqueueNDRangeKernel),
    HAS(clEnqueueMarkerWithWaitList),
    HAS(clEnqueueBarrierWithWaitList),
    HAS(clGetExtensionFunctionAddress),
    MAKES_NOTHING(clCreateImage),
    MAKES_NOTHING(clCreateImage2D),
    MAKES_NOTHING(clCreateImage3D),
    MAKES_NOTHING(clCreateProgramWithBinary),
    MAKES_NOTHING(clCreateProgramWithBuiltInKernels),
    MAKES_NOTHING(clCreateUserEvent),
    MAKES_NOTHING(clLinkProgram),
    MAKES_NOTHING(clEnqueueMapImage),
    MAKES_NOTHING(clCreateSamplerWithProperties),
    MAKES_NOTHING(clSVMAlloc),
    MAKES_NOTHING(clCloneKernel),
    MAKES_NOTHING(clCreateProgramWithIL),
    MAKES_NOTHING(clCreateBufferWithProperties),
    MAKES_NOTHING(clCreateImageWithProperties),
    LACKS(clSetCommandQueueProperty),
    LACKS(clGetImageInfo),
    LACKS(clGetSamplerInfo),
    LACKS(clUnloadCompiler),
    LACKS(clCreateKernelsInProgram),
    LACKS(clEnqueueReadImage),
    LACKS(clEnqueueWriteImage),
    LACKS(clEnqueueCopyImage),
    LACKS(clEnqueueCopyImageToBuffer),
    LACKS(clEnqueueCopyBufferToImage),
    LACKS(clEnqueueTask),
    LACKS(clEnqueueNativeKernel),
    LACKS(clEnqueueMarker),
    LACKS(clEnqueueWaitForEvents),
    LACKS(clEnqueueBarrier),
    LACKS(clSetEventCallback),
    LACKS(clSetMemObjectDestructorCallback),
    LACKS(clSetUserEventStatus),
    LACKS(clEnqueueReadBufferRect),
    LACKS(clEnqueueWriteBufferRect),
    LACKS(clEnqueueCopyBufferRect),
    LACKS(clCreateSubDevices),
    LACKS(clCompileProgram),
    LACKS(clUnloadPlatformCompiler),
    LACKS(clGetKernelArgInfo),
    LACKS(clEnqueueFillImage),
    LACKS(clEnqueueMigrateMemObjects),
    LACKS(clGetKernelSubGroupInfo),
    LACKS(clGetDeviceAndHostTimer),
    LACKS(clGetHostTimer),
    LACKS(clSetKernelArgSVMPointer),
    LACKS(clSetKernelExecInfo),
};

__attribute__((visibility("default"))) cl_int clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id *out,
                                                                     cl_uint *n_out) {
  return clGetPlatformIDs(capacity, out, n_out);
}

__attribute__((visibility("default"))) void *clGetExtensionFunctionAddress(const char *name) {
  if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return (void *)(uintptr_t)clIcdGetPlatformIDsKHR;
  if (strcmp(name, "clGetPlatformInfo") == 0) return (void *)(uintptr_t)clGetPlatformInfo;
  return NULL;
}
