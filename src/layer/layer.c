/* The layer's entry points for the loader, and the choice of its use. */
#include "layer/layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_NS 100 /* shorter times of a command are not believed */
#define EXPORTED __attribute__((visibility("default")))

cl_icd_dispatch layer_next;
static cl_icd_dispatch own;  /* the application's table */
static const layer_use *use; /* NULL: every call goes to the driver unchanged */
static pid_t process;        /* the process in which `use` was started */

double layer_event_s(cl_event event) {
  cl_ulong start = 0, end = 0;
  if (layer_next.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
      layer_next.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS ||
      end < start + LEAST_NS)
    return NAN;
  return 1e-9 * (double)(end - start);
}

bool layer_has_variables(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  return layer_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes,
                                          &bytes, NULL) == CL_SUCCESS &&
         bytes > 0;
}

void *layer_new(size_t n, size_t bytes) {
  void *memory = calloc(n ? n : 1, bytes);
  if (memory == NULL) {
    layer_say("out of memory");
    abort();
  }
  return memory;
}

/* --- queues with profiling --- */

static cl_icd_dispatch unprofiled;

static cl_command_queue create_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                     cl_int *status) {
  return unprofiled.clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, status);
}

/* Adds profiling to a queue's properties. On-device queues are left as they are: host events cannot profile them. */
static cl_command_queue create_queue_with(cl_context context, cl_device_id device, const cl_queue_properties *list,
                                          cl_int *status) {
  size_t n = 0, at = SIZE_MAX;
  for (; list && list[n]; n += 2)
    if (list[n] == CL_QUEUE_PROPERTIES) at = n + 1;
  cl_queue_properties *more = layer_new(n + 3, sizeof *more);
  if (n) memcpy(more, list, n * sizeof *more);
  if (at == SIZE_MAX) {
    more[n] = CL_QUEUE_PROPERTIES;
    at = n + 1;
  }
  if (!(more[at] & CL_QUEUE_ON_DEVICE)) more[at] |= CL_QUEUE_PROFILING_ENABLE;
  cl_command_queue queue = unprofiled.clCreateCommandQueueWithProperties(context, device, more, status);
  free(more);
  return queue;
}

void layer_profile_queues(cl_icd_dispatch *table) {
  unprofiled = *table;
  table->clCreateCommandQueue = create_queue;
  table->clCreateCommandQueueWithProperties = create_queue_with;
}

/* --- entry points --- */

EXPORTED cl_int clGetLayerInfo(cl_layer_info what, size_t capacity, void *out, size_t *n_out) {
  static const char name[] = "clatune";
  static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  const void *value = what == CL_LAYER_NAME ? (const void *)name : &version;
  size_t n = what == CL_LAYER_NAME ? sizeof name : sizeof version;
  if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (out && capacity < n) return CL_INVALID_VALUE;
  if (out) memcpy(out, value, n);
  if (n_out) *n_out = n;
  return CL_SUCCESS;
}

/* Then applications that keep binaries in a cache compile their source. */
static cl_program refuse_binary(cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths,
                                const unsigned char **binaries, cl_int *statuses, cl_int *status) {
  for (cl_uint i = 0; statuses && i < n; i++) statuses[i] = CL_INVALID_BINARY;
  if (status) *status = CL_INVALID_BINARY;
  return NULL;
}

static void start_use(const char *path) {
  static const layer_use *const uses[] = {&layer_capture, &layer_apply};
  json_error_t error;
  json_t *instructions = json_load_file(path, 0, &error);
  const char *name = json_string_value(json_object_get(instructions, "use"));
  const layer_use *found = NULL;
  for (size_t i = 0; name && i < sizeof uses / sizeof *uses; i++)
    if (strcmp(uses[i]->name, name) == 0) found = uses[i];
  if (instructions == NULL)
    layer_say("cannot read CLATUNE_LAYER '%s': line %d: %s; the application runs unchanged", path, error.line,
              error.text);
  else if (found == NULL)
    layer_say(
        "CLATUNE_LAYER '%s': \"use\" must be \"capture\" or \"apply\", not \"%s\"; the application runs unchanged",
        path, name ? name : "");
  if (found) {
    track_start(&own, found->build_options);
    if (found->start(instructions, &own)) {
      use = found;
      process = getpid();
      if (json_is_true(json_object_get(instructions, "no_binaries"))) own.clCreateProgramWithBinary = refuse_binary;
    } else {
      own = layer_next;
    }
  }
  json_decref(instructions);
}

EXPORTED cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_out, const cl_icd_dispatch **out) {
  if (target == NULL || n_out == NULL || out == NULL) return CL_INVALID_VALUE;
  const char *path = getenv("CLATUNE_LAYER");
  size_t bytes = n * sizeof(void *) < sizeof layer_next ? n * sizeof(void *) : sizeof layer_next;
  memcpy(&layer_next, target, bytes);
  own = layer_next;
  if (path && *path) start_use(path);
  *n_out = (cl_uint)(sizeof own / sizeof(void *));
  *out = &own;
  return CL_SUCCESS;
}

static void __attribute__((destructor)) finish_use(void) {
  if (use && getpid() == process) use->finish();
}
