/* model/encoding.h - configurations as numbers that a model can learn from.
 *
 * Each parameter is encoded by its nature: constant ones are left out, numbers whose values span a factor of four or
 * more go in as log2, the rest as they are, both centred and scaled to [-1, 1]; a boolean is a number with two values;
 * text gets one input a value. Integers with more than four values that are not all powers of two get a second input,
 * the exponent of two in the value. The resources of an instance (docs/problem-format.md) may follow as further inputs,
 * and where rows come from several sizes of a problem, the sizes that differ: for one instance these are constants.
 */
#ifndef CLT_MODEL_ENCODING_H
#define CLT_MODEL_ENCODING_H

#include <clatune/problem.h>
#include <jansson.h>

#define CLT_MAX_RESOURCES 256

/* The inputs of one parameter: table holds width numbers for each of its values. width 0: constant, left out. */
typedef struct clt_encoded_parameter {
  size_t first, width, n_values;
  uint64_t stride; /* a configuration's value position is config / stride % n_values */
  float *table;
} clt_encoded_parameter;

/* One resource, or one size: (log2 of) its value, mapped from low..high to -1..1. */
typedef struct clt_encoded_resource {
  size_t index; /* among the instance's resources and, behind them, its sizes */
  bool log2;
  double low, high;
} clt_encoded_resource;

typedef struct clt_encoding {
  const clt_space *space;
  const clt_instance *instance; /* the one that is encoded for; NULL where no resources or sizes are inputs */
  size_t n_parameters, n_resources, n_inputs;
  size_t first_resource; /* inputs from here on are resources */
  clt_encoded_parameter *parameters;
  clt_encoded_resource *resources;
} clt_encoding;

/* Borrows space and instance (nullable: no resources). The ranges of the resources are taken from configurations spread
 * evenly over the ranks. */
int clt_encoding_new(clt_encoding **out, const clt_space *space, const clt_instance *instance, clt_error *error);
void clt_encoding_free(clt_encoding *encoding);

/* For rows of n instances of a problem, with the same parameters (0: none is known): sizes that differ are inputs,
 * resources where asked for. It encodes for instances[0]. */
int clt_encoding_new_over(clt_encoding **out, const clt_space *space, const clt_instance *const *instances, size_t n,
                          bool resources, clt_error *error);

/* Encodes for another instance of the problem from now on: its resources and sizes. Borrows it and its space. */
void clt_encoding_bind(clt_encoding *encoding, const clt_instance *instance);

/* The resources and sizes among the inputs as a model file has them (docs/model-file.md): a new reference, NULL when
 * out of memory. And an encoding with them: they must be the instance's by name, the ranges are the file's;
 * CLT_E_FORMAT where they are not, or where there is no input at all. */
json_t *clt_encoding_save(const clt_encoding *encoding);
int clt_encoding_load(clt_encoding **out, const clt_space *space, const clt_instance *instance, const json_t *resources,
                      clt_error *error);

/* out[n_inputs]. */
void clt_encode(const clt_encoding *encoding, clt_config config, float *out);

/* The inputs of resources and sizes alone, out[n_resources]. */
void clt_encode_resources(const clt_encoding *encoding, clt_config config, float *out);

/* Whether an input other than the parameter's own may depend on it. */
bool clt_encoding_in_resources(const clt_encoding *encoding, size_t parameter);

/* The value position of a parameter. */
static inline size_t clt_encoded_position(const clt_encoded_parameter *parameter, clt_config config) {
  return (size_t)(config / parameter->stride % parameter->n_values);
}

#endif
