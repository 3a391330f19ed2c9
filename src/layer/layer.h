/* layer/layer.h - libclatune-layer.so, an OpenCL layer (OPENCL_LAYERS) between an application and its driver.
 *
 * CLATUNE_LAYER names a file of instructions, a JSON object whose "use" is "capture" or "apply"; without it every call
 * goes to the driver unchanged. The tracker (track.c) replaces functions in the application's dispatch table; then the
 * use replaces some again and calls the previous ones. All other entries stay the driver's own functions and cost
 * nothing. The parts of libclatune that it needs are linked statically and hidden, because the application may use
 * another version of the library. */
#pragma once

#include <CL/cl_layer.h>
#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <uthash.h>

/* The driver's functions, for the layer's own calls. */
extern cl_icd_dispatch layer_next;

typedef struct layer_use {
  const char *name;
  const char *build_options; /* added to the options of every build; "": none */
  /* Reads the instructions (borrowed during the call) and replaces functions in `own`, the application's table, after
   * saving the previous ones. False: failed, with a message; then every call goes to the driver unchanged. */
  bool (*start)(const json_t *instructions, cl_icd_dispatch *own);
  /* Called when the process ends, not in a child process of fork. Must make no OpenCL call, as drivers may be gone. */
  void (*finish)(void);
} layer_use;

extern const layer_use layer_capture, layer_apply;

/* The seconds that a command took by the device's clock; NaN if that is not usable: the queue has no profiling, or the
 * driver reports implausible times (rusticl: 1 ns). */
double layer_event_s(cl_event event);

/* Creates the application's queues with profiling from now on, which layer_device_time needs. */
void layer_profile_queues(cl_icd_dispatch *own);

/* Whether a program has `global` variables, which another build of it would not share; false if the driver does not
 * report it (before OpenCL 2.0). */
bool layer_has_variables(cl_program program, cl_device_id device);

/* Prints "clatune: ..." on standard error. The format must be a literal without real numbers, which would follow the
 * application's locale. */
#define layer_say(...) (fprintf(stderr, "clatune: " __VA_ARGS__), (void)fputc('\n', stderr))

/* Zeroed memory for n elements. If there is none, the process ends with a message. */
void *layer_new(size_t n, size_t bytes);

/* --- the application's OpenCL objects: programs, kernels with their arguments, and queues ---
 * A record lives as long as the application holds a reference to its object. The tracker counts clRetain and
 * clRelease, and removes the record before the driver sees the last release, so that a reused handle is a new object.
 * A record that a function below returns stays valid as long as the application may use the handle. Memory objects
 * are not tracked: the kernels' arguments hold their handles, and the driver describes them.
 *
 * Each table has its own lock, and each kernel one for its arguments. */

/* A program's origin. Only a program from TRACK_SOURCE can be built again. */
typedef enum track_origin {
  TRACK_SOURCE,
  TRACK_BINARY,
  TRACK_IL, /* SPIR-V */
  TRACK_BUILT_IN,
  TRACK_LINKED, /* clLinkProgram, not all of whose programs are from source */
  TRACK_LINKED_OPTIONS,
  TRACK_LINKED_HEADERS,
  TRACK_MIXED,  /* built with different options for different devices */
  TRACK_UNKNOWN /* created before the layer was loaded, or by an extension */
} track_origin;

/* A source text with build options. Shared by the program and the kernels created from it; if the program is built
 * again, existing kernels keep theirs. */
typedef struct track_build {
  size_t users;
  cl_context context;     /* not retained: its kernels live */
  char *source, *options; /* options: the application's, "" for none */
  cl_device_id *devices;
  cl_uint n_devices;
  bool mixed;                     /* the program also has a build with other options for other devices */
  char hash[33];                  /* of both, in hex; the same in every run */
  void *attached;                 /* for the use; initially NULL */
  void (*detach)(void *attached); /* frees `attached` with the record; set by the use */
} track_build;

typedef enum track_argument_kind {
  TRACK_UNSET,   /* never set, or set by an extension */
  TRACK_VALUE,   /* size bytes: a scalar, a sampler, a memory object, as the kernel declares it */
  TRACK_NOTHING, /* size without a value: local memory, or no buffer */
  TRACK_SVM      /* a pointer to shared virtual memory */
} track_argument_kind;

typedef struct track_argument {
  track_argument_kind kind;
  size_t size;
  void *bytes;     /* of TRACK_VALUE */
  size_t capacity; /* of bytes */
} track_argument;

/* The beginning of the records of all objects. */
typedef struct track_record {
  void *key;         /* the handle */
  size_t references; /* held by the application */
  UT_hash_handle hh;
} track_record;

typedef struct track_kernel {
  track_record record;
  track_origin origin;
  track_build *build; /* NULL if origin is not TRACK_SOURCE */
  char *name;
  bool exec_info;       /* clSetKernelExecInfo was called */
  pthread_mutex_t lock; /* of the arguments */
  track_argument *arguments;
  cl_uint n_arguments;
  void *attached; /* as in track_build */
  void (*detach)(void *attached);
} track_kernel;

/* Puts the tracker's functions into the application's table. options: added to those of each build, but not recorded in
 * it; "" for none. */
void track_start(cl_icd_dispatch *own, const char *options);

track_kernel *track_find_kernel(cl_kernel kernel); /* NULL: not known */

/* Flushes all queues, so that waiting for commands in any of them ends. */
void track_flush(void);

/* clFinish, also of commands that track_flush() has flushed. */
cl_int track_finish(cl_command_queue queue);

/* --- whether waiting for a queue could deadlock: a command may wait for a user event that the application sets later,
 * and a callback in a driver's thread must not wait for the driver --- */

/* Puts the functions that track user events and callbacks into the application's table. */
void waits_start(cl_icd_dispatch *own);

/* Whether the calling thread may wait for a queue now. */
bool waits_end(void);

/* --- the use "capture" ---
 *
 * capture.c counts and times launches and chooses which to capture; capture_data.c writes the data that a captured
 * launch reads and writes. Both write to the "folder" of the instructions (files 0600). Each process of the application
 * writes manifest-PID.json:
 *   {"kernels": [{"name", "program", "source", "origin" (text, such as "a binary"; null: source), "options",
 * "launches", "refused" (why nothing was captured; null), "capture": CAPTURE or null, "sizes": [{"global", "local"
 * (null: the driver's choice), "offset" (null: none), "launches", "first", "total_s", "median_s", "varying" (the
 * numbers of the arguments that differ between them)}]}]} CAPTURE: {"launch", "global", "local", "folder" (the
 * process's), "device": {"name", "platform", "driver"}, "most" (work-items of a group, as the driver states it for the
 * kernel; 0: it does not), "unchanged" (it left all memory as it was), "arguments": [{"name", "type", "const", "kind",
 * ...}]} where "source" and the "before" and "after" of an argument are names of files in the folder, and "changed" is
 * the share of its words that are not the same in both. */

/* The arguments of clEnqueueNDRangeKernel. */
typedef struct capture_launch {
  cl_command_queue queue;
  const track_kernel *kernel;
  cl_uint n_dimensions;
  const size_t *offset, *global, *local;
} capture_launch;

typedef struct capture_data {
  json_t *arguments; /* as in the manifest, owned; NULL: nothing is captured */
  char why[256];     /* then: the reason, for a message */
  bool unchanged;    /* the launch leaves all memory as it was */
  struct capture_memory *memories;
  size_t n_memories;
} capture_data;

/* Writes everything that the kernel may read to files whose names begin with `prefix`. All events that the launch waits
 * for must be complete. Then the caller launches the kernel, waits for it, and calls capture_after, which completes
 * out->arguments, or releases them and sets out->why. */
void capture_before(capture_data *out, const capture_launch *launch, const char *folder, const char *prefix);
void capture_after(capture_data *data, const capture_launch *launch, const char *folder);
void capture_data_release(capture_data *data);

/* Whether the driver describes a kernel's arguments; if not, it cannot be captured. */
bool capture_is_described(const track_kernel *kernel);
#define CAPTURE_UNDESCRIBED                                                                                     \
  "the driver does not describe its arguments (clGetKernelArgInfo fails), as some do for linked programs; use " \
  "another driver, or build its source with clBuildProgram"

/* Writes a new file (0600). False: it failed, with a message on standard error. */
bool capture_write(const char *folder, const char *name, const void *bytes, size_t n);
