/* layer/layer.h - libclatune-layer.so, an OpenCL layer (OPENCL_LAYERS) between an application and its driver.
 *
 * CLATUNE_LAYER names a file of instructions, a JSON object whose "use" is "capture" or "apply"; without it every call
 * goes to the driver unchanged. The tracker (track.h) replaces functions in the application's dispatch table; then the
 * use replaces some again and calls the previous ones. All other entries stay the driver's own functions and cost
 * nothing. The parts of libclatune that it needs are linked statically and hidden, because the application may use
 * another version of the library. */
#ifndef CLT_LAYER_LAYER_H
#define CLT_LAYER_LAYER_H

#include <CL/cl_layer.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
