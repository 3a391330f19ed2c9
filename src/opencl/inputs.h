/* opencl/inputs.h - inputs on the device, uploaded once and shared by the configurations that store them alike. */
#ifndef CLT_OPENCL_INPUTS_H
#define CLT_OPENCL_INPUTS_H

#include "opencl/object.h"

typedef enum clt_content {
  CLT_CONTENT_INPUT,
  CLT_CONTENT_WRONG /* the reference with every number's top bit flipped: an integer output that was never written */
} clt_content;

typedef struct clt_input_key {
  const clt_data *data;
  const void *bytes;
  uint64_t seed, fingerprint; /* fingerprint: of a sample of the bytes, should memory have been given to other data */
  clt_content content;
  clt_arg_kind image; /* CLT_ARG_BUFFER where it is none */
  clt_element_base base;
  int components;
  clt_image_channel channel;
  clt_border_mode border_mode;
  size_t extent[3], border[3];
} clt_input_key;

typedef struct clt_input {
  struct clt_input *prev, *next;
  clt_input_key key;
  clt_object object;
  uint64_t hash; /* of the stored content */
  unsigned users;
  bool stale; /* damaged or forgotten: not given out again */
} clt_input;

/* Finds or uploads an input. 0, CLT_REJECTED or an error. Give back with clt_inputs_put. */
int clt_inputs_get(clt_input **out, clt_executor *executor, const clt_data *data, const clt_array *array,
                   const clt_plan_arg *arg, clt_content content, clt_measurement *m, clt_error *error);
void clt_inputs_put(clt_executor *executor, clt_input *input);

/* Whether the content on the device is still what was uploaded. Reads it all. */
cl_int clt_input_check(bool *intact, clt_executor *executor, const clt_input *input);

/* Drops unused inputs, the oldest first, until the cache holds no more than limit_bytes. */
void clt_inputs_shrink(clt_executor *executor, size_t limit_bytes);
void clt_inputs_clear(clt_executor *executor);

#endif
