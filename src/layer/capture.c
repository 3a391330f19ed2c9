/* The use "capture": counts and times the application's kernel launches, and captures the data of one launch per
 * kernel. It waits for each launch, so that times do not overlap; this slows the application down. */
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "layer/layer.h"
#include "measurement/measurement.h"

#define MOST_UNCHANGED 8             /* launches that change nothing, until the first of them is good enough */
#define MOST_TIMES ((size_t)1 << 16) /* kept per size, for the median */

/* Launches of a kernel with the same sizes. */
typedef struct size_entry {
  char *key; /* the JSON of the sizes */
  json_t *sizes;
  size_t launches, first, n_times, capacity;
  double total_s, *times_s;
  track_argument *values; /* of the first launch; TRACK_UNSET if a later launch had another value */
  cl_uint n_values;
  UT_hash_handle hh;
} size_entry;

/* A kernel of a program; the same record if the application creates it again. */
typedef struct kernel_entry {
  char *key;
  char name[256], hash[33], source[64]; /* source: a file; "": none */
  char *options;
  track_origin origin;
  size_t launches, unchanged; /* unchanged: captured ones that left all memory as it was */
  json_t *capture;            /* NULL: none yet */
  char why[256];              /* why the last attempt failed; "": none failed */
  size_entry *sizes;
  UT_hash_handle hh;
} kernel_entry;

static char *folder;
static json_t *only;  /* the names of the kernels to capture; NULL: all */
static size_t wanted; /* the number of the launch to capture, from 1; 0: none */
static cl_icd_dispatch before;

/* The turn: one launch at a time, so that no other launch changes a captured one's data or time. The holder waits for
 * the driver, which may wait for launches from callbacks or with user events (waits.c): these never ask for the turn.
 */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Protects all variables below; held only for look-ups, never while waiting for the driver. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kernel_entry *kernels;
static size_t n_captures, n_out_of_turn; /* n_out_of_turn: launches without the turn */

/* --- the manifest --- */

/* For messages. */
static const char *origin_text(track_origin origin) {
  static const char *const texts[] = {
      [TRACK_SOURCE] = "source",
      [TRACK_BINARY] = "a binary",
      [TRACK_IL] = "SPIR-V",
      [TRACK_BUILT_IN] = "the driver's built-in kernels",
      [TRACK_LINKED] = "linked programs of which one is not from source",
      [TRACK_LINKED_OPTIONS] = "linked sources that were compiled with different options",
      [TRACK_LINKED_HEADERS] = "linked sources that include headers from memory",
      [TRACK_MIXED] = "source that was built with different options for different devices",
      [TRACK_UNKNOWN] = "a program that the layer did not see"};
  return texts[origin];
}

static json_t *size_json(size_entry *s) {
  json_t *json = json_copy(s->sizes);
  if (s->n_times) qsort(s->times_s, s->n_times, sizeof *s->times_s, clt_by_number);
  json_t *varying = json_array();
  for (cl_uint i = 0; i < s->n_values; i++)
    if (s->values[i].kind == TRACK_UNSET) json_array_append_new(varying, json_integer(i));
  json_object_set_new(json, "varying", varying);
  json_object_set_new(json, "launches", json_integer((json_int_t)s->launches));
  json_object_set_new(json, "first", json_integer((json_int_t)s->first));
  json_object_set_new(json, "total_s", json_real(s->total_s));
  json_object_set_new(json, "median_s", s->n_times ? json_real(s->times_s[s->n_times / 2]) : json_null());
  return json;
}

/* Also written at each capture, as a process may end abnormally. */
static void write_manifest(void) {
  json_t *list = json_array();
  char name[64];
  for (kernel_entry *k = kernels; k; k = k->hh.next) {
    json_t *sizes = json_array();
    for (size_entry *s = k->sizes; s; s = s->hh.next) json_array_append_new(sizes, size_json(s));
    json_t *options = json_string(k->options ? k->options : ""), *capture = k->capture;
    const char *why = k->why[0] ? k->why : NULL, *source = k->source[0] ? k->source : NULL;
    if (options == NULL) {
      options = json_string("");
      capture = NULL;
      why = "its build options are not UTF-8";
    }
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s?, s:s, s:o, s:I, s:s?, s:O?, s:o}", "name", k->name, "program", k->hash,
                        "source", source, "origin", origin_text(k->origin), "options", options, "launches",
                        (json_int_t)k->launches, "refused", capture ? NULL : why, "capture", capture, "sizes", sizes));
  }
  json_t *json = json_pack("{s:o}", "kernels", list);
  char *text = json ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
  snprintf(name, sizeof name, "manifest-%ld.json", (long)getpid());
  if (text == NULL)
    layer_say("cannot write the manifest: out of memory");
  else
    capture_write(folder, name, text, strlen(text));
  free(text);
  json_decref(json);
}

/* --- records of kernels; the lock is held --- */

static kernel_entry *find_kernel(const track_kernel *kernel) {
  char key[320];
  kernel_entry *k;
  snprintf(key, sizeof key, "%s %.255s", kernel->build ? kernel->build->hash : origin_text(kernel->origin),
           kernel->name);
  HASH_FIND_STR(kernels, key, k);
  if (k) return k;
  k = layer_new(1, sizeof *k);
  k->key = strdup(key);
  k->origin = kernel->origin;
  snprintf(k->name, sizeof k->name, "%s", kernel->name);
  if (kernel->build) {
    k->options = strdup(kernel->build->options);
    snprintf(k->hash, sizeof k->hash, "%s", kernel->build->hash);
    snprintf(k->source, sizeof k->source, "%s.cl", k->hash);
    if (!capture_write(folder, k->source, kernel->build->source, strlen(kernel->build->source))) k->source[0] = '\0';
    if (!capture_is_described(kernel)) snprintf(k->why, sizeof k->why, "%s", CAPTURE_UNDESCRIBED);
  }
  HASH_ADD_KEYPTR(hh, kernels, k->key, strlen(k->key), k);
  return k;
}

static json_t *list_json(const size_t *values, cl_uint n) {
  json_t *list = values ? json_array() : json_null();
  for (cl_uint d = 0; values && d < n; d++) json_array_append_new(list, json_integer((json_int_t)values[d]));
  return list;
}

static size_entry *find_size(kernel_entry *k, const capture_launch *launch) {
  size_entry *s;
  json_t *sizes = json_pack("{s:o, s:o, s:o}", "global", list_json(launch->global, launch->n_dimensions), "local",
                            list_json(launch->local, launch->n_dimensions), "offset",
                            list_json(launch->offset, launch->n_dimensions));
  char *key = json_dumps(sizes, JSON_COMPACT);
  HASH_FIND_STR(k->sizes, key, s);
  if (s) {
    free(key);
    json_decref(sizes);
    return s;
  }
  s = layer_new(1, sizeof *s);
  s->key = key;
  s->sizes = sizes;
  s->first = k->launches;
  HASH_ADD_KEYPTR(hh, k->sizes, s->key, strlen(s->key), s);
  return s;
}

/* Marks the arguments whose values differ between launches. The kernel's lock is held. */
static void note_values(size_entry *s, const track_kernel *kernel) {
  const bool is_first = s->values == NULL;
  if (is_first) {
    s->n_values = kernel->n_arguments;
    s->values = layer_new(s->n_values, sizeof *s->values);
  }
  for (cl_uint i = 0; i < s->n_values && i < kernel->n_arguments; i++) {
    const track_argument *now = &kernel->arguments[i];
    track_argument *value = &s->values[i];
    if (is_first) {
      *value = *now;
      value->bytes = now->kind == TRACK_VALUE ? memcpy(layer_new(now->size, 1), now->bytes, now->size) : NULL;
    } else if (now->kind != value->kind || now->size != value->size ||
               (now->kind == TRACK_VALUE && memcmp(now->bytes, value->bytes, now->size) != 0)) {
      value->kind = TRACK_UNSET;
    }
  }
}

static void add_time(size_entry *s, double time_s) {
  s->total_s += time_s;
  if (s->n_times == MOST_TIMES) return;
  if (s->n_times == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 16;
    s->times_s = realloc(s->times_s, s->capacity * sizeof *s->times_s);
    if (s->times_s == NULL) abort();
  }
  s->times_s[s->n_times++] = time_s;
}

/* --- launches --- */

static const char *device_text(char out[256], cl_device_id device, cl_device_info what) {
  if (layer_next.clGetDeviceInfo(device, what, 255, out, NULL) != CL_SUCCESS) out[0] = '\0';
  out[255] = '\0';
  return out;
}

static json_t *device_json(cl_device_id device) {
  char name[256], driver[256], platform[256] = "";
  cl_platform_id of = NULL;
  layer_next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof of, &of, NULL);
  if (layer_next.clGetPlatformInfo(of, CL_PLATFORM_NAME, 255, platform, NULL) != CL_SUCCESS) platform[0] = '\0';
  return json_pack("{s:s, s:s, s:s}", "name", device_text(name, device, CL_DEVICE_NAME), "platform", platform, "driver",
                   device_text(driver, device, CL_DRIVER_VERSION));
}

static bool wants(const kernel_entry *k) {
  bool named = only == NULL;
  for (size_t i = 0; i < json_array_size(only); i++)
    named |= strcmp(k->name, json_string_value(json_array_get(only, i))) == 0;
  const bool is_done = k->capture && !json_is_true(json_object_get(k->capture, "unchanged"));
  return wanted > 0 && !is_done && k->launches >= wanted && named && k->unchanged < MOST_UNCHANGED;
}

static void note_capture(kernel_entry *k, const capture_launch *launch, capture_data *data) {
  char here[4096];
  size_t most = 0;
  cl_device_id device = NULL;
  if (data->arguments == NULL) {
    snprintf(k->why, sizeof k->why, "%s", data->why);
    return;
  }
  k->unchanged += data->unchanged;
  if (data->unchanged && k->capture) return; /* the first one serves as well */
  json_decref(k->capture);
  layer_next.clGetCommandQueueInfo(launch->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
  layer_next.clGetKernelWorkGroupInfo(launch->kernel->record.key, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                      NULL);
  k->capture =
      json_pack("{s:I, s:I, s:b, s:o, s:o, s:s, s:o, s:O}", "launch", (json_int_t)k->launches, "most", (json_int_t)most,
                "unchanged", data->unchanged, "global", list_json(launch->global, launch->n_dimensions), "local",
                list_json(launch->local, launch->n_dimensions), "folder", getcwd(here, sizeof here) ? here : ".",
                "device", device_json(device), "arguments", data->arguments);
  if (k->capture == NULL)
    snprintf(k->why, sizeof k->why, "its argument names, as reported by the driver, are not UTF-8");
}

/* Makes a launch and waits for it. The caller has the turn. */
static cl_int run_alone(kernel_entry *k, size_entry *s, const capture_launch *launch, cl_uint n_after,
                        const cl_event *after, cl_event *event) {
  cl_event own = NULL;
  capture_data data = {0};
  char prefix[32];
  track_flush();
  if (n_after) layer_next.clWaitForEvents(n_after, after);
  track_finish(launch->queue);
  pthread_mutex_lock(&lock);
  const bool captures = wants(k) && k->origin == TRACK_SOURCE;
  const size_t others = n_out_of_turn;
  snprintf(prefix, sizeof prefix, "%ld-%zu", (long)getpid(), n_captures);
  n_captures += captures;
  pthread_mutex_unlock(&lock);
  if (captures) capture_before(&data, launch, folder, prefix);
  const double start_s = clt_now_s();
  const cl_int status =
      before.clEnqueueNDRangeKernel(launch->queue, launch->kernel->record.key, launch->n_dimensions, launch->offset,
                                    launch->global, launch->local, n_after, after, &own);
  double time_s = 0;
  if (status == CL_SUCCESS) {
    layer_next.clWaitForEvents(1, &own);
    const double host_s = clt_now_s() - start_s, device_s = layer_event_s(own);
    time_s = device_s <= host_s ? device_s : host_s; /* NaN, or implausible: the host's */
    if (event)
      *event = own;
    else
      layer_next.clReleaseEvent(own);
  }
  if (data.arguments && status == CL_SUCCESS) capture_after(&data, launch, folder);
  pthread_mutex_lock(&lock);
  if (status == CL_SUCCESS) add_time(s, time_s);
  if (captures && status == CL_SUCCESS) {
    if (n_out_of_turn == others)
      note_capture(k, launch, &data);
    else
      snprintf(k->why, sizeof k->why, "other launches, made in callbacks or with user events, ran at the same time");
    if (k->capture) write_manifest();
  }
  pthread_mutex_unlock(&lock);
  capture_data_release(&data);
  return status;
}

static cl_int enqueue_kernel(cl_command_queue queue, cl_kernel handle, cl_uint n_dimensions, const size_t *offset,
                             const size_t *global, const size_t *local, cl_uint n_after, const cl_event *after,
                             cl_event *event) {
  track_kernel *kernel = track_find_kernel(handle);
  const capture_launch launch = {queue, kernel, n_dimensions, offset, global, local};
  if (kernel == NULL || global == NULL || n_dimensions < 1 || n_dimensions > 3)
    return before.clEnqueueNDRangeKernel(queue, handle, n_dimensions, offset, global, local, n_after, after, event);
  pthread_mutex_lock(&lock);
  kernel_entry *k = find_kernel(kernel);
  k->launches++;
  size_entry *s = find_size(k, &launch);
  s->launches++;
  if (pthread_mutex_trylock(&kernel->lock) == 0) { /* otherwise another thread is launching it with the same values */
    note_values(s, kernel);
    pthread_mutex_unlock(&kernel->lock);
  }
  const bool waits = waits_end();
  if (!waits) {
    n_out_of_turn++;
    if (wants(k) && k->why[0] == '\0')
      snprintf(k->why, sizeof k->why, "its launches may wait for events that the application sets later");
  }
  pthread_mutex_unlock(&lock);
  if (!waits)
    return before.clEnqueueNDRangeKernel(queue, handle, n_dimensions, offset, global, local, n_after, after, event);
  pthread_mutex_lock(&turn);
  pthread_mutex_lock(&kernel->lock);
  const cl_int status = run_alone(k, s, &launch, n_after, after, event);
  pthread_mutex_unlock(&kernel->lock);
  pthread_mutex_unlock(&turn);
  return status;
}

/* --- */

static bool start(const json_t *instructions, cl_icd_dispatch *own) {
  const char *path = json_string_value(json_object_get(instructions, "folder"));
  if (path == NULL) {
    layer_say("CLATUNE_LAYER: \"folder\" is missing; run the application with 'clatune capture'");
    return false;
  }
  folder = strdup(path);
  only = json_deep_copy(json_object_get(instructions, "kernels"));
  wanted = (size_t)clt_json_count(instructions, "launch");
  waits_start(own);
  before = *own;
  own->clEnqueueNDRangeKernel = enqueue_kernel;
  layer_profile_queues(own);
  return true;
}

static void finish(void) {
  /* Do not wait for the turn: a thread may hang in a launch. */
  if (pthread_mutex_trylock(&lock) == 0) {
    write_manifest();
    pthread_mutex_unlock(&lock);
  }
}

const layer_use layer_capture = {"capture", "-cl-kernel-arg-info", start, finish};
