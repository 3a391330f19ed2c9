#include "layer/apply.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "layer/layer.h"

#define MOST_DEVICES 16

static cl_icd_dispatch before; /* the application's table as it was */
static apply_entry *entries;
static size_t n_entries;
static bool checks, times;
static report *told;
static pthread_mutex_t prepare_lock = PTHREAD_MUTEX_INITIALIZER;

void apply_switch_off(apply_entry *entry, const char *format, ...) {
  char why[REPORT_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  clt_vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (atomic_exchange(&entry->is_off, true)) return;
  pthread_mutex_lock(&entry->lock);
  memcpy(entry->report->message, why, sizeof why);
  pthread_mutex_unlock(&entry->lock);
  layer_say("%s: kernel '%s' is launched untuned: %s", entry->problem, entry->kernel, why);
}

/* --- tuned programs (attached to the application's builds) and tuned kernels (attached to its kernels) --- */

typedef struct tuned_program {
  struct tuned_program *next;
  const apply_entry *entry;
  bool is_other;      /* the application's included files differ from the captured ones */
  cl_program program; /* NULL: it cannot be built */
  cl_device_id devices[MOST_DEVICES];
  cl_uint n_devices;
} tuned_program;

typedef struct tuned_kernel {
  apply_entry *entry;
  cl_kernel kernel;
  cl_device_id devices[MOST_DEVICES];
  cl_uint n_devices;
} tuned_kernel;

typedef struct tuned_kernels {
  report_reason why; /* why there is none; the reason of the entry that fits best */
  size_t n;
  tuned_kernel all[];
} tuned_kernels;

static void free_programs(void *attached) {
  for (tuned_program *p = attached, *next; p; p = next) {
    next = p->next;
    if (p->program) layer_next.clReleaseProgram(p->program);
    free(p);
  }
}

static void free_kernels(void *attached) {
  tuned_kernels *kernels = attached;
  for (size_t i = 0; i < kernels->n; i++) layer_next.clReleaseKernel(kernels->all[i].kernel);
  free(kernels);
}

/* Whether an OpenCL info text, without blanks at its ends, equals another text. */
static bool is_same_name(const char *said, const char *wanted) {
  const size_t n = strlen(wanted);
  while (*said == ' ') said++;
  return strncmp(said, wanted, n) == 0 && strspn(said + n, " ") == strlen(said + n);
}

static bool is_device_of(const apply_entry *entry, cl_device_id device) {
  char text[1024] = "";
  cl_platform_id platform = NULL;
  cl_uint units = 0; /* a sub-device has fewer */
  layer_next.clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
  if (entry->compute_units && units != entry->compute_units) return false;
  if (layer_next.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL) || !is_same_name(text, entry->device))
    return false;
  if (layer_next.clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof text, text, NULL) ||
      !is_same_name(text, entry->driver))
    return false;
  return layer_next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS &&
         layer_next.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, NULL) == CL_SUCCESS &&
         is_same_name(text, entry->platform);
}

/* The first lines of the build log. */
static void read_log(char *out, size_t capacity, cl_program program, cl_device_id device) {
  size_t n = 0;
  *out = '\0';
  if (layer_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) || n == 0) return;
  char *log = layer_new(n + 1, 1);
  layer_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL);
  snprintf(out, capacity, "%s", log);
  free(log);
}

/* The tuned program of an entry in a build's context, built at the first call and kept with the build. prepare_lock is
 * held. */
static tuned_program *tuned_program_of(track_build *build, apply_entry *entry) {
  tuned_program *p, *first = build->attached;
  cl_int status = CL_SUCCESS;
  for (p = first; p; p = p->next)
    if (p->entry == entry) return p;
  p = layer_new(1, sizeof *p);
  *p = (tuned_program){.next = first, .entry = entry};
  for (cl_uint i = 0; i < build->n_devices && p->n_devices < MOST_DEVICES; i++)
    if (is_device_of(entry, build->devices[i])) p->devices[p->n_devices++] = build->devices[i];
  build->attached = p;
  build->detach = free_programs;
  p->is_other = !apply_includes_same(entry);
  if (p->is_other || p->n_devices == 0 || atomic_load(&entry->is_off)) return p;
  for (const tuned_program *q = first; q && p->program == NULL; q = q->next)
    if (q->program && strcmp(q->entry->source, entry->source) == 0 && strcmp(q->entry->options, entry->options) == 0 &&
        q->n_devices == p->n_devices && memcmp(q->devices, p->devices, sizeof p->devices) == 0)
      p->program = q->program;
  if (p->program) {
    layer_next.clRetainProgram(p->program);
    return p;
  }
  const char *source = entry->source;
  p->program = layer_next.clCreateProgramWithSource(build->context, 1, &source, NULL, &status);
  if (p->program) status = layer_next.clBuildProgram(p->program, p->n_devices, p->devices, entry->options, NULL, NULL);
  if (status) {
    char log[300] = "";
    if (p->program) read_log(log, sizeof log, p->program, p->devices[0]);
    if (p->program) layer_next.clReleaseProgram(p->program);
    p->program = NULL;
    apply_switch_off(entry, "the tuned program cannot be built (OpenCL error %d) with %.100s%s%s", status,
                     entry->options, *log ? ": " : "", log);
    return p;
  }
  for (cl_uint i = 0; i < p->n_devices; i++)
    if (layer_has_variables(p->program, p->devices[i]))
      apply_switch_off(entry, "its program has 'global' variables, which the tuned program would not share");
  return p;
}

static void add_kernel(tuned_kernels *out, const track_kernel *k, apply_entry *entry) {
  const tuned_program *p = tuned_program_of(k->build, entry);
  cl_uint n = 0;
  cl_int status;
  if (p->is_other) return;
  if (out->why < REPORT_OTHER_DEVICE) out->why = REPORT_OTHER_DEVICE;
  if (p->n_devices == 0) return;
  out->why = REPORT_OFF;
  if (p->program == NULL) return;
  cl_kernel kernel = layer_next.clCreateKernel(p->program, k->name, &status);
  if (kernel) layer_next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  if (kernel == NULL || n != k->n_arguments || n != entry->n_arguments) {
    if (kernel) layer_next.clReleaseKernel(kernel);
    apply_switch_off(
        entry, kernel ? "the tuned kernel has another number of arguments" : "the tuned program has no such kernel");
    return;
  }
  tuned_kernel *t = &out->all[out->n++];
  *t = (tuned_kernel){entry, kernel, .n_devices = p->n_devices};
  memcpy(t->devices, p->devices, sizeof t->devices);
}

/* The tuned kernels for a kernel's launches, built at the first call. */
static tuned_kernels *tuned_kernels_of(track_kernel *k) {
  tuned_kernels *found = __atomic_load_n(&k->attached, __ATOMIC_ACQUIRE);
  if (found) return found;
  pthread_mutex_lock(&prepare_lock);
  found = k->attached;
  if (found == NULL) {
    found = layer_new(1, sizeof *found + n_entries * sizeof *found->all);
    for (size_t i = 0; i < n_entries; i++) {
      if (strcmp(entries[i].kernel, k->name) != 0) continue;
      if (found->why == REPORT_NO_KERNEL && k->build)
        found->why = REPORT_OTHER_PROGRAM;
      else if (found->why == REPORT_NO_KERNEL)
        found->why = k->origin == TRACK_BINARY ? REPORT_BINARY : REPORT_NO_SOURCE;
      if (k->build && strcmp(entries[i].program, k->build->hash) == 0) add_kernel(found, k, &entries[i]);
    }
    k->detach = free_kernels;
    __atomic_store_n(&k->attached, found, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&prepare_lock);
  return found;
}

static cl_kernel create_kernel(cl_program program, const char *name, cl_int *status) {
  cl_kernel kernel = before.clCreateKernel(program, name, status);
  track_kernel *k = kernel ? track_find_kernel(kernel) : NULL;
  if (k) tuned_kernels_of(k); /* build now: an application expects clCreateKernel to take time */
  return kernel;
}

/* --- the report --- */

static void pass(report_reason reason, const track_kernel *k, const apply_launch *l) {
  struct {
    report_reason reason;
    unsigned n_dimensions;
    size_t global[3], local[3];
    unsigned long long kernel, program;
  } about;
  memset(&about, 0, sizeof about);
  const char *name = k ? k->name : "", *program = "";
  if (k && k->build) program = k->build->hash;
  about.reason = reason;
  about.n_dimensions = l->n_dimensions <= 3 ? l->n_dimensions : 0;
  for (unsigned d = 0; d < about.n_dimensions && l->global; d++) {
    about.global[d] = l->global[d];
    about.local[d] = l->local ? l->local[d] : 0;
  }
  about.kernel = clt_hash64(name, strlen(name));
  about.program = clt_hash64(program, strlen(program));
  const unsigned long long key = clt_hash64(&about, sizeof about) | 1;
  for (unsigned i = 0; i < REPORT_PASSED; i++) {
    report_passed *row = &told->passed[(key / 2 + i) % REPORT_PASSED];
    unsigned long long there = atomic_load(&row->key);
    if (there == 0 && atomic_compare_exchange_strong(&row->key, &there, key)) {
      row->reason = reason;
      row->n_dimensions = about.n_dimensions;
      memcpy(row->global, about.global, sizeof row->global);
      memcpy(row->local, about.local, sizeof row->local);
      snprintf(row->kernel, sizeof row->kernel, "%s", name);
      memcpy(row->program, program, strlen(program));
      atomic_store(&row->is_set, 1);
      there = key;
    }
    if (there != key) continue;
    atomic_fetch_add(&row->launches, 1);
    return;
  }
  atomic_fetch_add(&told->others, 1);
}

/* Releases the event. */
static void CL_CALLBACK note_time(cl_event event, cl_int status, void *user) {
  report_applied *r = user;
  const double time_s = status == CL_COMPLETE ? layer_event_s(event) : NAN;
  if (!isnan(time_s))
    atomic_store(&r->times_ns[atomic_fetch_add(&r->n_times, 1) % REPORT_TIMES],
                 (unsigned long long)(1e9 * time_s + 0.5));
  layer_next.clReleaseEvent(event);
}

/* --- launches --- */

static bool has_sizes(const apply_entry *e, const apply_launch *l) {
  if (l->global == NULL || l->n_dimensions != e->n_dimensions || (l->local == NULL) != (e->local[0] == 0)) return false;
  return memcmp(l->global, e->global, e->n_dimensions * sizeof *e->global) == 0 &&
         (l->local == NULL || memcmp(l->local, e->local, e->n_dimensions * sizeof *e->local) == 0);
}

static bool has_device(const tuned_kernel *t, cl_command_queue queue) {
  cl_device_id device = NULL;
  layer_next.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, (void *)&device, NULL);
  for (cl_uint i = 0; i < t->n_devices; i++)
    if (t->devices[i] == device) return true;
  return false;
}

static bool has_numbers(const apply_entry *e, const track_kernel *k) {
  for (size_t i = 0; i < e->n_arguments; i++) {
    const apply_argument *wanted = &e->arguments[i];
    const track_argument *is = &k->arguments[i];
    if (wanted->asked && is->size != wanted->asked) return false;
    if (wanted->number &&
        (is->kind != TRACK_VALUE || is->size != wanted->bytes || memcmp(is->bytes, wanted->number, wanted->bytes) != 0))
      return false;
  }
  return true;
}

/* Why a kernel's arguments cannot be passed to the tuned kernel; REPORT_NO_KERNEL: they can. */
static report_reason obstacle(const track_kernel *k, const apply_launch *l) {
  for (unsigned d = 0; l->offset && d < l->n_dimensions && d < 3; d++)
    if (l->offset[d]) return REPORT_OFFSET;
  if (k->exec_info) return REPORT_SHARED_MEMORY;
  for (cl_uint i = 0; i < k->n_arguments; i++) {
    if (k->arguments[i].kind == TRACK_SVM) return REPORT_SHARED_MEMORY;
    if (k->arguments[i].kind == TRACK_UNSET) return REPORT_UNSET;
  }
  return REPORT_NO_KERNEL;
}

static cl_int set_arguments(const tuned_kernel *t, const track_kernel *k) {
  cl_int status = CL_SUCCESS;
  for (cl_uint i = 0; status == CL_SUCCESS && i < k->n_arguments; i++) {
    const track_argument *a = &k->arguments[i];
    const apply_argument *tuned = &t->entry->arguments[i];
    const bool is_local = a->kind == TRACK_NOTHING && tuned->number == NULL && tuned->bytes > 0;
    status = layer_next.clSetKernelArg(t->kernel, i, is_local ? tuned->bytes : a->size,
                                       a->kind == TRACK_VALUE ? a->bytes : NULL);
  }
  return status;
}

/* Why a tuned kernel is not for this launch; REPORT_NO_KERNEL: it is. */
static report_reason misfit(const tuned_kernel *t, const track_kernel *k, const apply_launch *l) {
  if (!has_device(t, l->queue)) return REPORT_OTHER_DEVICE;
  if (!has_sizes(t->entry, l)) return REPORT_OTHER_SIZES;
  if (!has_numbers(t->entry, k)) return REPORT_OTHER_NUMBERS;
  return atomic_load(&t->entry->is_off) ? REPORT_OFF : REPORT_NO_KERNEL;
}

/* The tuned kernel for a launch; NULL with the reason in *why. k->lock is held. */
static tuned_kernel *choose(report_reason *why, tuned_kernels *kernels, const track_kernel *k, const apply_launch *l) {
  *why = kernels->why;
  if (kernels->n == 0) return NULL;
  *why = obstacle(k, l);
  if (*why != REPORT_NO_KERNEL) return NULL;
  *why = REPORT_OTHER_DEVICE;
  for (size_t i = 0; i < kernels->n; i++) {
    tuned_kernel *t = &kernels->all[i];
    const report_reason reason = misfit(t, k, l);
    if (reason == REPORT_NO_KERNEL) return t;
    if (reason > *why) *why = reason;
  }
  return NULL;
}

static cl_int launch_tuned(const tuned_kernel *t, const apply_launch *l, cl_event *event) {
  const apply_entry *e = t->entry;
  cl_event own = NULL, *out = times ? &own : NULL;
  if (event) out = event;
  const cl_int status =
      layer_next.clEnqueueNDRangeKernel(l->queue, t->kernel, e->n_tuned_dimensions, NULL, e->tuned_global,
                                        e->tuned_local[0] ? e->tuned_local : NULL, l->n_after, l->after, out);
  if (status) return status;
  atomic_fetch_add(&e->report->launches, 1);
  if (!times) return status;
  if (event) layer_next.clRetainEvent(*event);
  if (layer_next.clSetEventCallback(*out, CL_COMPLETE, note_time, e->report)) layer_next.clReleaseEvent(*out);
  return status;
}

/* Launches the tuned kernel. False, with the reason in *why: the application's own kernel must be launched. */
static bool try_tuned(report_reason *why, track_kernel *k, const apply_launch *l, cl_event *event) {
  tuned_kernels *kernels = tuned_kernels_of(k);
  bool done = false;
  pthread_mutex_lock(&k->lock);
  tuned_kernel *t = choose(why, kernels, k, l);
  cl_int status = t ? set_arguments(t, k) : CL_SUCCESS;
  if (t && status == CL_SUCCESS && checks && atomic_load(&t->entry->checked) < 2) {
    int unchecked = 0;
    *why = REPORT_UNCHECKED;
    if (!atomic_compare_exchange_strong(&t->entry->checked, &unchecked, 1)) {
      t = NULL; /* another thread is checking it */
    } else {
      const bool is_right = check_launch(t->entry, k, l, t->kernel);
      atomic_store(&t->entry->checked, is_right ? 2 : 0);
      if (atomic_load(&t->entry->is_off)) *why = REPORT_OFF;
      if (!is_right) t = NULL;
    }
  }
  if (t && status == CL_SUCCESS) status = launch_tuned(t, l, event);
  done = t && status == CL_SUCCESS;
  pthread_mutex_unlock(&k->lock);
  if (status) {
    *why = REPORT_OFF;
    apply_switch_off(t->entry, "the tuned kernel cannot be launched (OpenCL error %d)", status);
  }
  return done;
}

static cl_int enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dimensions, const size_t *offset,
                             const size_t *global, const size_t *local, cl_uint n_after, const cl_event *after,
                             cl_event *event) {
  const apply_launch launch = {queue, kernel, n_dimensions, offset, global, local, n_after, after};
  track_kernel *k = track_find_kernel(kernel);
  report_reason why = REPORT_NO_SOURCE;
  if (k && try_tuned(&why, k, &launch, event)) return CL_SUCCESS;
  pass(why, k, &launch);
  return before.clEnqueueNDRangeKernel(queue, kernel, n_dimensions, offset, global, local, n_after, after, event);
}

/* --- the instructions --- */

/* Maps the report's file, or memory of this process if there is no file. */
static report *map_report(const char *path) {
  const size_t bytes = sizeof(report) + n_entries * sizeof(report_applied);
  const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  off_t there = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
  void *memory = MAP_FAILED;
  if (file >= 0 && there >= (off_t)bytes) memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  return memory == MAP_FAILED ? layer_new(1, bytes) : memory;
}

static bool start(const json_t *instructions, cl_icd_dispatch *own) {
  const json_t *list = json_object_get(instructions, "entries");
  n_entries = json_array_size(list);
  entries = layer_new(n_entries, sizeof *entries);
  checks = json_is_true(json_object_get(instructions, "check"));
  times = json_is_true(json_object_get(instructions, "times"));
  told = map_report(json_string_value(json_object_get(instructions, "report")));
  atomic_fetch_add(&told->processes, 1);
  for (size_t i = 0; i < n_entries; i++) {
    entries[i].report = &told->applied[i];
    if (apply_read_entry(&entries[i], json_array_get(list, i))) continue;
    layer_say(
        "CLATUNE_LAYER: entry %zu is invalid; write the file again with 'clatune apply --write'; the application runs "
        "untuned",
        i + 1);
    return false;
  }
  before = *own;
  own->clCreateKernel = create_kernel;
  own->clEnqueueNDRangeKernel = enqueue_kernel;
  if (times) layer_profile_queues(own);
  if (checks) waits_start(own);
  return true;
}

static void finish(void) {}

const layer_use layer_apply = {"apply", "", start, finish};
