/* model/encoding.h - configurations as numbers that a model can learn from.
 *
 * The encoding of a parameter depends on its values. Constant parameters are left out. Numbers become one input, scaled
 * to [-1, 1], as log2 if they span a factor of four or more; booleans are numbers with two values. Text gets one input
 * per value. Integers with more than four values that are not all powers of two get a second input: the exponent of two
 * in the value. The resources of an instance (docs/reference/problem-file.md) may follow as further inputs. If the rows
 * come from several sizes of a problem, the sizes that differ are inputs as well; for one instance they are constants.
 */
#ifndef CLT_MODEL_ENCODING_H
#define CLT_MODEL_ENCODING_H

#include <clatune/problem.h>
#include <jansson.h>

#define CLT_MAX_RESOURCES 256

/* The inputs of one parameter: table[n_values][width]. width 0: the parameter is constant and left out. */
typedef struct clt_encoded_parameter {
  size_t first, width, n_values;
  uint64_t stride; /* unless the space is ranked, a value's position is config / stride % n_values */
  float *table;
} clt_encoded_parameter;

/* One resource or size: its value or the log2 of it, mapped from low..high to -1..1. */
typedef struct clt_encoded_resource {
  size_t index; /* among the instance's resources and, behind them, its sizes */
  bool log2;
  double low, high;
} clt_encoded_resource;

typedef struct clt_encoding {
  const clt_space *space;
  const clt_instance *instance; /* gives resources and sizes; NULL if neither are inputs */
  size_t n_parameters, n_resources, n_inputs;
  size_t first_resource; /* inputs from here on are resources */
  clt_encoded_parameter *parameters;
  clt_encoded_resource *resources;
} clt_encoding;

/* Borrows space and instance (NULL: no resources). The ranges of the resources come from configurations spread evenly
 * over the ranks. */
int clt_encoding_new(clt_encoding **out, const clt_space *space, const clt_instance *instance, clt_error *error);
void clt_encoding_free(clt_encoding *encoding);

/* For rows of n instances of a problem with the same parameters (n 0: no instance is known). Sizes that differ between
 * the instances are inputs; `resources`: resources too. The encoding is bound to instances[0]. */
int clt_encoding_new_over(clt_encoding **out, const clt_space *space, const clt_instance *const *instances, size_t n,
                          bool resources, clt_error *error);

/* Takes resources and sizes from another instance of the problem from now on. Borrows it and its space. */
void clt_encoding_bind(clt_encoding *encoding, const clt_instance *instance);

/* save: the resources and sizes among the inputs in the form of a model file (src/model/FORMAT.md); a new
 * reference, NULL when out of memory. load: an encoding with these resources and sizes and the file's ranges.
 * CLT_E_FORMAT: the instance does not have them, or there is no input at all. */
json_t *clt_encoding_save(const clt_encoding *encoding);
int clt_encoding_load(clt_encoding **out, const clt_space *space, const clt_instance *instance, const json_t *resources,
                      clt_error *error);

/* The inputs of a configuration: out[n_inputs]. */
void clt_encode(const clt_encoding *encoding, clt_config config, float *out);

/* Only the inputs of resources and sizes: out[n_resources]. */
void clt_encode_resources(const clt_encoding *encoding, clt_config config, float *out);

/* Whether inputs other than its own may depend on the parameter. */
bool clt_encoding_in_resources(const clt_encoding *encoding, size_t parameter);

#endif
