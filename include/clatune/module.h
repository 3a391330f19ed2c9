/* clatune/module.h - the interface of C functions that belong to a problem.
 *
 * A problem file can name a module ("Module": "convolution.c" or "convolution.so") with C functions that fill an
 * argument with input (FillType "Generator"), compute the reference, judge a result, or compute the quality of the
 * correct result. A .c file is compiled once with $CC or cc (-O3 -fopenmp -shared -fPIC) into the user's cache. The
 * functions run in worker processes; with the evaluator in-process, in the tuner's own.
 *
 *   int fill_image(const clt_module_call *call);        // a generator: writes the array call->target
 *   int box_filter(const clt_module_call *call);        // a reference: reads inputs, writes the verified outputs
 *   int same_sum(const clt_module_call *call);          // a judge ("Verify"): reads the outputs and call->references
 *   int disparity_error(const clt_module_call *call);   // a quality: reads the verified outputs, which hold the
 *                                                       // correct result, and writes one double to call->target
 *
 * A function returns 0, or another number if it failed. For a judge that means that the result is incorrect; for a
 * quality that there is none at these sizes, as if it had written NaN. Arrays have no border, even if the kernel's
 * argument is stored with one, and do not depend on the configuration. */
#ifndef CLATUNE_MODULE_H
#define CLATUNE_MODULE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The content of an argument. */
typedef struct clt_module_array {
  const char *name;  /* the argument's name */
  const char *type;  /* "float", "uchar4", "int" ... */
  size_t extent[3];  /* x fastest; unused dimensions are 1 */
  void *data;        /* extent[0]*extent[1]*extent[2] elements */
  size_t bytes;
} clt_module_array;

typedef struct clt_module_scalar {
  const char *name;  /* a problem parameter or a scalar argument */
  double value;
} clt_module_scalar;

#define CLT_MODULE_MESSAGE_BYTES 256

typedef struct clt_module_call {
  const clt_module_array *arrays;
  size_t n_arrays;
  const clt_module_scalar *scalars;
  size_t n_scalars;
  const clt_module_array *target; /* generator: the array to fill; quality: one "double"; others: NULL */
  uint64_t seed;                  /* 1: the usual input; other numbers: other input; for a quality always 1 */
  /* For a judge only. Its arrays hold what the configuration wrote; its scalars include the tuning parameters. */
  const clt_module_array *references; /* the correct results of the verified arrays */
  size_t n_references;
  const char *configuration; /* "wg=64 groups=16 layout=rows" */
  char *message;             /* why the result is incorrect; CLT_MODULE_MESSAGE_BYTES long */
} clt_module_call;

typedef int (*clt_module_function)(const clt_module_call *call);

/* The array, reference or scalar of this name; NULL or `otherwise` if there is none. */
static inline const clt_module_array *clt_module_find(const clt_module_call *call, const char *name) {
  for (size_t i = 0; i < call->n_arrays; i++)
    if (strcmp(call->arrays[i].name, name) == 0) return &call->arrays[i];
  return NULL;
}
static inline const clt_module_array *clt_module_find_reference(const clt_module_call *call, const char *name) {
  for (size_t i = 0; i < call->n_references; i++)
    if (strcmp(call->references[i].name, name) == 0) return &call->references[i];
  return NULL;
}
static inline double clt_module_value(const clt_module_call *call, const char *name, double otherwise) {
  for (size_t i = 0; i < call->n_scalars; i++)
    if (strcmp(call->scalars[i].name, name) == 0) return call->scalars[i].value;
  return otherwise;
}

#ifdef __cplusplus
}
#endif
#endif
