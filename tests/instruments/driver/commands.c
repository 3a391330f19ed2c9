/* Commands and their events. Everything is done when it is enqueued, and a device that waits says that it runs as long as it
 * would take; the timestamps are the description's. Reading and mapping wait for running commands. */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "common/description.h"
#include "common/wait.h"
#include "driver/objects.h"

#define OVERHEAD_NS 100 /* between two commands */
#define BYTES_PER_NS 8  /* of copies */
#define SHORT_S 1e-4    /* such runs always take their time, and a wait for them does not sleep */

/* The queue's commands run one after the other. */
static void occupy(cl_command_queue queue, double s) {
  queue->busy_until_s = fmax(queue->busy_until_s, clt_now_s()) + s;
}

/* A wait for running commands, in the driver. */
static void wait_for_queue(cl_command_queue queue, double until_s) {
  const char *spins = queue->device->simulation.spins;
  if (until_s <= clt_now_s()) return;
  int fd = spins ? open(spins, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (spins && (fd < 0 || write(fd, ".", 1) != 1)) description_wrong("cannot write to '%s'", spins);
  if (fd >= 0) close(fd);
  while ((spins || until_s - clt_now_s() < SHORT_S) && clt_now_s() < until_s) continue;
  wait_until(until_s);
}

/* --- events --- */

/* The device timer's values for the start and the end of a command. */
static void stamp_event(cl_event event, cl_command_queue queue) {
  const sim_device *d = &queue->device->simulation;
  const uint64_t key[] = {d->noise_seed, queue->n_commands};
  clt_rng rng;
  clt_rng_init(&rng, clt_hash64(key, sizeof key));
  bool reversed = clt_rng_unit(&rng) < d->reversed_share, jumps = clt_rng_unit(&rng) < d->jump_share;
  event->start_ns -= event->start_ns % d->tick_ns;
  event->end_ns -= event->end_ns % d->tick_ns;
  if (jumps) event->end_ns += (cl_ulong)(int64_t)(d->jump_s * 1e9); /* back, too: to before it started */
  if (!reversed) return;
  cl_ulong start_ns = event->start_ns;
  event->start_ns = event->end_ns;
  event->end_ns = start_ns;
}

/* Adds the command to the queue's clock; *out (nullable) becomes its event. */
static cl_int end_command(cl_command_queue queue, cl_command_type type, cl_ulong ns, cl_event *out) {
  cl_int status = sim_aftermath_of(queue->context);
  if (status != CL_SUCCESS) return status;
  cl_ulong start = queue->clock_ns + OVERHEAD_NS;
  queue->clock_ns = start + ns;
  queue->n_commands++;
  if (out == NULL) return CL_SUCCESS;
  cl_event event = sim_new(sizeof *event);
  if (event == NULL) return CL_OUT_OF_HOST_MEMORY;
  event->queue = queue;
  event->type = type;
  event->start_ns = start;
  event->end_ns = queue->clock_ns;
  event->until_s = queue->busy_until_s;
  stamp_event(event, queue);
  clRetainCommandQueue(queue);
  *out = event;
  return CL_SUCCESS;
}

cl_int clRetainEvent(cl_event event) { return sim_retain(event), CL_SUCCESS; }

cl_int clReleaseEvent(cl_event event) {
  sim_aftermath_of(event->queue->context);
  if (!sim_dropped(event)) return CL_SUCCESS;
  clReleaseCommandQueue(event->queue);
  free(event);
  return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint n, const cl_event *events) {
  if (n == 0 || events == NULL) return CL_INVALID_VALUE;
  cl_int status = sim_aftermath_of(events[0]->queue->context);
  events[0]->queue->queued_s = 0;
  for (cl_uint i = 0; i < n; i++) wait_for_queue(events[i]->queue, events[i]->until_s);
  for (cl_uint i = 0; i < n; i++)
    if (events[i]->status < 0) status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (status < 0) sim_fault_shows(events[0]->queue->context);
  return status;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t capacity, void *out, size_t *n_out) {
  switch (what) {
    case CL_EVENT_COMMAND_QUEUE: return SIM_ANSWER(cl_command_queue, event->queue);
    case CL_EVENT_CONTEXT: return SIM_ANSWER(cl_context, event->queue->context);
    case CL_EVENT_COMMAND_TYPE: return SIM_ANSWER(cl_command_type, event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      if (event->status < 0) sim_fault_shows(event->queue->context);
      return SIM_ANSWER(cl_int, event->until_s > 0 && clt_now_s() < event->until_s ? CL_RUNNING : event->status);
    case CL_EVENT_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, (cl_uint)event->references);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t capacity, void *out, size_t *n_out) {
  if (!(event->queue->properties & CL_QUEUE_PROFILING_ENABLE)) return CL_PROFILING_INFO_NOT_AVAILABLE;
  switch (what) {
    case CL_PROFILING_COMMAND_QUEUED:
    case CL_PROFILING_COMMAND_SUBMIT:
    case CL_PROFILING_COMMAND_START: return SIM_ANSWER(cl_ulong, event->start_ns);
    case CL_PROFILING_COMMAND_END: return SIM_ANSWER(cl_ulong, event->end_ns);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clFlush(cl_command_queue queue) { return queue ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }

cl_int clFinish(cl_command_queue queue) {
  if (queue == NULL) return CL_INVALID_COMMAND_QUEUE;
  cl_int status = sim_aftermath_of(queue->context);
  queue->queued_s = 0;
  wait_for_queue(queue, queue->busy_until_s);
  return status;
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n, const cl_event *after, cl_event *event) {
  (void)n, (void)after;
  return end_command(queue, CL_COMMAND_MARKER, 0, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n, const cl_event *after, cl_event *event) {
  (void)n, (void)after;
  return end_command(queue, CL_COMMAND_BARRIER, 0, event);
}

/* --- memory --- */

static bool lies_within(cl_mem memory, size_t offset, size_t size) {
  return offset <= memory->size && size <= memory->size - offset;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                           void *out, cl_uint n, const cl_event *after, cl_event *event) {
  (void)blocking, (void)n, (void)after;
  if (!lies_within(memory, offset, size)) return CL_INVALID_VALUE;
  wait_for_queue(queue, queue->busy_until_s);
  memcpy(out, memory->bytes + offset, size);
  return end_command(queue, CL_COMMAND_READ_BUFFER, 1 + size / BYTES_PER_NS, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                            const void *bytes, cl_uint n, const cl_event *after, cl_event *event) {
  (void)blocking, (void)n, (void)after;
  if (!lies_within(memory, offset, size)) return CL_INVALID_VALUE;
  memcpy(memory->bytes + offset, bytes, size);
  return end_command(queue, CL_COMMAND_WRITE_BUFFER, 1 + size / BYTES_PER_NS, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t size, cl_uint n, const cl_event *after, cl_event *event) {
  (void)n, (void)after;
  if (!lies_within(from, from_offset, size) || !lies_within(to, to_offset, size)) return CL_INVALID_VALUE;
  double began_s = clt_now_s();
  memmove(to->bytes + to_offset, from->bytes + from_offset, size);
  /* As long as it took: its times may not contradict the host's clock. Never a multiple of 2 or 5, as the overhead is:
   * a search for the clock's tick finds the true one, whatever the machine does. */
  return end_command(queue, CL_COMMAND_COPY_BUFFER, 1 + 10 * (cl_ulong)(1e8 * (clt_now_s() - began_s)), event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint n, const cl_event *after, cl_event *event) {
  (void)n, (void)after;
  if (pattern_size == 0 || size % pattern_size || !lies_within(memory, offset, size)) return CL_INVALID_VALUE;
  unsigned char *to = memory->bytes + offset;
  if (size > 0) memcpy(to, pattern, pattern_size);
  for (size_t done = pattern_size; done < size; done *= 2) memcpy(to + done, to, done < size - done ? done : size - done);
  return end_command(queue, CL_COMMAND_FILL_BUFFER, 1 + size / BYTES_PER_NS, event);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint n, const cl_event *after, cl_event *event, cl_int *status) {
  (void)blocking, (void)flags, (void)n, (void)after;
  if (!lies_within(memory, offset, size)) return sim_status(status, CL_INVALID_VALUE), NULL;
  wait_for_queue(queue, queue->busy_until_s);
  sim_status(status, end_command(queue, CL_COMMAND_MAP_BUFFER, 1, event));
  return memory->bytes + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped, cl_uint n, const cl_event *after,
                               cl_event *event) {
  (void)memory, (void)mapped, (void)n, (void)after;
  return end_command(queue, CL_COMMAND_UNMAP_MEM_OBJECT, 1, event);
}

/* --- kernels: all of them copy their first buffer to their last --- */

static cl_mem first_buffer(cl_kernel kernel) {
  for (cl_uint i = 0; i < kernel->n_arguments; i++)
    if (kernel->memory[i]) return kernel->memory[i];
  return NULL;
}

static cl_mem last_buffer(cl_kernel kernel) {
  for (cl_uint i = kernel->n_arguments; i > 0; i--)
    if (kernel->memory[i - 1]) return kernel->memory[i - 1];
  return NULL;
}

/* A whole number, whatever its type: one byte of it may be within a tolerance. */
static void invert(unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) bytes[i] ^= 0xff;
}

static void copy(cl_kernel kernel) {
  cl_mem from = first_buffer(kernel), to = last_buffer(kernel);
  if (from == NULL) return;
  size_t n = from->size < to->size ? from->size : to->size;
  if (from != to) memmove(to->bytes, from->bytes, n);
  if (kernel->program->configuration.wrong) invert(to->bytes + n / 2 / 8 * 8, n < 8 ? n : 8);
}

/* clatune's own checksum of the first buffer, which a device makes so that contents need not travel. */
static void sum(cl_kernel kernel) {
  const cl_mem from = first_buffer(kernel), to = last_buffer(kernel);
  const cl_ulong salt = kernel->number[2], first = salt + clt_sum64(from->bytes, 16 * kernel->number[1], 0);
  for (size_t at = 0; at < to->size; at += sizeof salt) memcpy(to->bytes + at, at ? &salt : &first, sizeof salt);
}

/* Whether a kernel's first buffer is still in the cache; all of its buffers are there afterwards. */
static bool touch_buffers(cl_kernel kernel, const sim_device *device, cl_context context) {
  const cl_mem first = first_buffer(kernel);
  const bool warm = first && first->touched_at > 0 && context->touched_bytes - first->touched_at < device->cache_bytes;
  for (cl_uint i = 0; i < kernel->n_arguments; i++)
    if (kernel->memory[i]) kernel->memory[i]->touched_at = context->touched_bytes += kernel->memory[i]->size;
  return warm;
}

/* Launches that the standard allows and the driver refuses. */
static bool is_refused(const sim_device *d, const sim_configuration *c, cl_uint n_dimensions, const size_t *global,
                       const size_t *local) {
  size_t items = 1;
  bool refused = false;
  for (cl_uint i = 0; local && i < n_dimensions; i++) {
    items *= local[i];
    refused = refused || local[i] > d->max_work_item_sizes[i] || global[i] / local[i] > d->max_groups;
  }
  return refused || items > c->work_group_limit;
}

static bool legal_sizes(cl_command_queue queue, cl_uint n_dimensions, const size_t *global, const size_t *local,
                        cl_int *status) {
  size_t items = 1;
  *status = n_dimensions < 1 || n_dimensions > 3 ? CL_INVALID_WORK_DIMENSION : CL_SUCCESS;
  for (cl_uint d = 0; *status == CL_SUCCESS && d < n_dimensions; d++) {
    if (global[d] == 0) *status = CL_INVALID_GLOBAL_WORK_SIZE;
    if (local && (local[d] == 0 || global[d] % local[d])) *status = CL_INVALID_WORK_GROUP_SIZE;
    if (local) items *= local[d];
  }
  if (*status == CL_SUCCESS && items > queue->device->simulation.max_work_group_size)
    *status = CL_INVALID_WORK_GROUP_SIZE;
  return *status == CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint n, const cl_event *after,
                              cl_event *event) {
  cl_int status;
  sim_configuration *configuration = &kernel->program->configuration;
  (void)offset, (void)n, (void)after;
  if (!legal_sizes(queue, n_dimensions, global, local, &status)) return status;
  if (queue->context->state == SIM_LATE_FAULT && configuration->hash != queue->context->culprit)
    sim_fault_shows(queue->context);
  status = sim_aftermath_of(queue->context);
  if (status != CL_SUCCESS) return status;
  const sim_device *device = &queue->device->simulation;
  if (configuration->launch_fails || is_refused(device, configuration, n_dimensions, global, local))
    return configuration->launch_status;
  if (strcmp(kernel->name, "clatune_sum") == 0)
    sum(kernel);
  else if (!configuration->untouched)
    copy(kernel);
  double s = sim_run_s(device, configuration, kernel->time_s, touch_buffers(kernel, device, queue->context));
  sim_count_energy(&queue->device->simulation, configuration, s);
  queue->queued_s += s;
  const bool fails = configuration->run_fails || (device->watchdog_s > 0 && queue->queued_s > device->watchdog_s);
  if ((device->waits || s < SHORT_S) && !fails) occupy(queue, s);
  status = end_command(queue, CL_COMMAND_NDRANGE_KERNEL, (cl_ulong)(s * 1e9 + 0.5), event);
  /* A runtime that aborts says nothing before. */
  if (status == CL_SUCCESS && event && fails && device->after_fault != SIM_ABORT) (*event)->status = configuration->run_status;
  if (queue->device->simulation.after_fault != SIM_NOTHING && (fails || configuration->fault)) {
    queue->context->state = fails ? SIM_FAULT : SIM_LATE_FAULT;
    queue->context->culprit = configuration->hash;
  }
  return status;
}
