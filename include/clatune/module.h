/* clatune/module.h - the interface of a problem's own C functions.
 *
 * A problem file may name a module beside it ("Module": "convolution.c" or "convolution.so"): C functions that fill an
 * argument with input (FillType "Generator"), compute the reference, judge a configuration's result, or say how good
 * the right result is. A .c file is compiled once with $CC or cc (-O3 -fopenmp -shared -fPIC) into the user's cache.
 * The functions run in worker processes, and in the tuner's own only with the evaluator that measures there, too
 * (in-process).
 *
 *   int fill_image(const clt_module_call *call);        // a generator: writes the array call->target
 *   int box_filter(const clt_module_call *call);        // a reference: reads inputs, writes the verified outputs
 *   int same_sum(const clt_module_call *call);          // a judge ("Verify"): reads the outputs and call->references
 *   int disparity_error(const clt_module_call *call);   // a quality: reads the verified outputs, which hold the right
 *                                                       // result, and writes one double to call->target
 *
 * Return 0, or anything else for failure; of a judge: the result is wrong; of a quality: there is none (at these
 * sizes), as if NaN had been written.
 * Arrays are *logical*: without the border that an argument may be stored with, and independent of the configuration.
 */
#ifndef CLATUNE_MODULE_H
#define CLATUNE_MODULE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  uint64_t seed;                  /* 1 for the usual input, others for further input; of a quality always 1 */
  /* Of a judge only, whose arrays hold what the configuration wrote, and whose scalars are its tuning parameters too. */
  const clt_module_array *references; /* the right results of the verified arrays */
  size_t n_references;
  const char *configuration; /* "wg=64 groups=16 layout=rows" */
  char *message;             /* room for CLT_MODULE_MESSAGE_BYTES: why the result is wrong */
} clt_module_call;

typedef int (*clt_module_function)(const clt_module_call *call);

/* Look-ups by name: NULL and `otherwise` where there is none. */
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
