/* Contexts, queues and samplers. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "common/description.h"
#include "driver/objects.h"

/* As a process in an uninterruptible call: SIGKILL is sent, and no process can wait for the end. A child outside of the
 * process group traces us, so that we stay dead in the table of processes until it ends: once it has the lock. */
static void stay_for_ever(const char *lock) {
  int ends[2];
  char byte;
  if (pipe2(ends, O_CLOEXEC)) description_wrong("cannot make a pipe");
  const pid_t held = getpid(), holder = fork();
  if (holder == 0) {
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    close(ends[1]);
    setsid();
    if (read(ends[0], &byte, 1) < 0 || ptrace(PTRACE_SEIZE, held, NULL, NULL)) _exit(1);
    _exit(fd < 0 || flock(fd, LOCK_EX));
  }
  prctl(PR_SET_PTRACER, holder); /* if only descendants may be traced */
  close(ends[0]);
  close(ends[1]);
  for (;;) pause();
}

void sim_fault_shows(cl_context context) {
  const sim_device *d = &context->device->simulation;
  if (context->state == SIM_WELL) return;
  context->state = SIM_DEAD;
  if (d->after_fault == SIM_STUCK) stay_for_ever(d->lost_file);
  int fd = d->after_fault == SIM_LOST ? open(d->lost_file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) close(fd);
}

cl_int sim_aftermath_of(cl_context context) {
  const sim_device *d = &context->device->simulation;
  if (d->after_fault == SIM_ABORT && (context->state == SIM_FAULT || context->state == SIM_DEAD)) {
    fputs("Memory access fault by GPU node-1. Reason: Page not present or supervisor privilege.\n", stderr);
    abort();
  }
  const bool lost = d->after_fault == SIM_LOST && access(d->lost_file, F_OK) == 0;
  if (context->state != SIM_DEAD && !lost) return CL_SUCCESS;
  while (d->after_fault == SIM_HANG) pause();
  return CL_OUT_OF_RESOURCES;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n_devices, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                           cl_int *status) {
  (void)properties, (void)notify, (void)user;
  if (n_devices != 1 || devices == NULL) return sim_status(status, CL_INVALID_VALUE), NULL; /* one device is enough */
  if (!sim_enter(&devices[0]->simulation)) return sim_status(status, CL_DEVICE_NOT_AVAILABLE), NULL;
  cl_context context = sim_new(sizeof *context);
  if (context) context->device = devices[0];
  sim_status(status, context ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
  return context;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                   void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                   cl_int *status) {
  cl_device_id device;
  if (clGetDeviceIDs(&sim_platform, type, 1, &device, NULL) != CL_SUCCESS)
    return sim_status(status, CL_DEVICE_NOT_FOUND), NULL;
  return clCreateContext(properties, 1, &device, notify, user, status);
}

cl_int clRetainContext(cl_context context) { return sim_retain(context), CL_SUCCESS; }

cl_int clReleaseContext(cl_context context) {
  if (sim_dropped(context)) free(context);
  return CL_SUCCESS;
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t capacity, void *out, size_t *n_out) {
  switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, (cl_uint)context->references);
    case CL_CONTEXT_NUM_DEVICES: return SIM_ANSWER(cl_uint, 1);
    case CL_CONTEXT_DEVICES: return SIM_ANSWER(cl_device_id, context->device);
    case CL_CONTEXT_PROPERTIES: return sim_answer(NULL, 0, capacity, out, n_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *status) {
  if (properties & ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE)
    return sim_status(status, CL_INVALID_QUEUE_PROPERTIES), NULL;
  cl_command_queue queue = sim_new(sizeof *queue);
  sim_status(status, queue ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
  if (queue == NULL) return NULL;
  queue->context = context;
  queue->device = device;
  queue->properties = properties;
  clRetainContext(context);
  return queue;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties, cl_int *status) {
  cl_command_queue_properties wanted = 0;
  for (; properties && properties[0]; properties += 2)
    if (properties[0] == CL_QUEUE_PROPERTIES) wanted = properties[1];
  return clCreateCommandQueue(context, device, wanted, status);
}

cl_int clRetainCommandQueue(cl_command_queue queue) { return sim_retain(queue), CL_SUCCESS; }

cl_int clReleaseCommandQueue(cl_command_queue queue) {
  if (!sim_dropped(queue)) return CL_SUCCESS;
  clReleaseContext(queue->context);
  free(queue);
  return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t capacity, void *out,
                             size_t *n_out) {
  switch (what) {
    case CL_QUEUE_CONTEXT: return SIM_ANSWER(cl_context, queue->context);
    case CL_QUEUE_DEVICE: return SIM_ANSWER(cl_device_id, queue->device);
    case CL_QUEUE_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, (cl_uint)queue->references);
    case CL_QUEUE_PROPERTIES: return SIM_ANSWER(cl_command_queue_properties, queue->properties);
    default: return CL_INVALID_VALUE;
  }
}

cl_sampler clCreateSampler(cl_context context, cl_bool normalised, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int *status) {
  (void)context, (void)normalised, (void)addressing, (void)filter;
  return sim_status(status, CL_INVALID_OPERATION), NULL; /* a device without images */
}

cl_int clRetainSampler(cl_sampler sampler) { return (void)sampler, CL_INVALID_SAMPLER; }
cl_int clReleaseSampler(cl_sampler sampler) { return (void)sampler, CL_INVALID_SAMPLER; }
