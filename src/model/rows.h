/* model/rows.h - training rows: configurations as numbers, collecting them, folds, and the dependence of cost on the
 * sizes alone. */
#pragma once

#include <clatune/model.h>
#include <clatune/problem.h>
#include <clatune/rng.h>
#include <jansson.h>

#include "base/base.h"

/* --- configurations as numbers that a model can learn from ---
 * The encoding of a parameter depends on its values. Constant parameters are left out. Numbers become one input,
 * scaled to [-1, 1], as log2 if they span a factor of four or more; booleans are numbers with two values. Text gets
 * one input per value. Integers with more than four values that are not all powers of two get a second input: the
 * exponent of two in the value. The resources of an instance (docs/reference/problem-file.md) may follow as further
 * inputs. If the rows come from several sizes of a problem, the sizes that differ are inputs as well; for one
 * instance they are constants. */

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

/* --- training rows: collecting and encoding them, folds, and the dependence of cost on the sizes alone --- */

/* Rows that own their arrays; begin with zeroed rows. Instances are borrowed; the first one's space becomes that of the
 * rows. */
int clt_rows_add_instance(clt_rows *rows, const clt_instance *instance, clt_error *error);
int clt_rows_add(clt_rows *rows, clt_config config, double log_cost, size_t instance, clt_error *error);
void clt_rows_release(clt_rows *rows);

static inline bool clt_rows_failed(const clt_rows *rows, size_t row) { return isnan(rows->log_cost[row]); }
static inline size_t clt_rows_instance_of(const clt_rows *rows, size_t row) {
  return rows->instance_of ? rows->instance_of[row] : 0;
}

/* The encoding of the rows; `resources`: resources are inputs. CLT_E_MODEL: there would be no input. */
int clt_rows_encoding(clt_encoding **out, const clt_rows *rows, bool resources, clt_error *error);

/* The inputs of all rows, x[n][n_inputs]; NULL when out of memory. */
float *clt_rows_encode(clt_arena *memory, const clt_encoding *encoding, const clt_rows *rows);

/* Deals n rows at random into k folds whose sizes differ by at most one: fold[i] < k. */
void clt_deal_folds(uint32_t *fold, size_t n, size_t k, clt_rng *rng);

/* Sets a member's order[n]: the training rows, whose number is returned, then the rows of its fold. */
size_t clt_fold_split(size_t *order, const uint32_t *fold, size_t n, size_t member);

/* Bagging: one member per fold, fitted without the rows of that fold. */
typedef struct clt_bag clt_bag;
struct clt_bag {
  void *state;         /* of the type */
  const void *options; /* of the type */
  /* Fits a member to rows[0 .. n_train); outputs[n - n_train] are its predictions of the other rows. Must be
   * thread-safe. */
  int (*fit_member)(const clt_bag *bag, size_t member, const size_t *rows, size_t n_train, float *outputs,
                    clt_error *error);
  double centre, scale; /* log cost = centre + scale * y */

  /* Filled in for the members. */
  size_t n;
  float *x, *y; /* encoded rows */
  clt_rng *rng; /* [member] */
  uint32_t *fold;
  float *residuals;
};

/* The result does not depend on the number of threads. */
int clt_bag_fit(clt_bag *bag, const clt_encoding *encoding, const clt_rows *rows, size_t n_members, uint64_t seed,
                unsigned threads, float *residuals, clt_error *error);

/* Costs differ by orders of magnitude between sizes, and a model of all sizes would spend its capacity on that. A ridge
 * regression of the mean log cost per size on the logarithms of the sizes explains most of it; models learn the rest.
 */
#define CLT_BASELINE_MOST 32 /* problem parameters in the regression */

/* Zeroed: 0 for every instance. */
typedef struct clt_baseline {
  size_t n;
  double constant, slope[CLT_BASELINE_MOST], centre[CLT_BASELINE_MOST]; /* by size, of its natural logarithm */
} clt_baseline;

/* Fits the correct rows, of which there must be one; 0 if all have the same sizes. */
int clt_baseline_fit(clt_baseline *out, const clt_rows *rows, clt_error *error);
double clt_baseline_at(const clt_baseline *baseline, const clt_instance *instance);

/* save: a new reference, NULL when out of memory. load: CLT_E_FORMAT if it does not fit the instance. */
json_t *clt_baseline_save(const clt_baseline *baseline);
int clt_baseline_load(clt_baseline *out, const clt_instance *instance, const json_t *json, clt_error *error);

/* save: the sizes of the rows' instance by name, a list of such objects if there are several instances, null if there
 * is none; a new reference, NULL when out of memory. check: CLT_E_FORMAT if a file's sizes differ from the instance's.
 * Files without sizes, or with several, fit any instance. */
json_t *clt_sizes_save(const clt_rows *rows);
int clt_sizes_check(const json_t *sizes, const clt_instance *instance, clt_error *error);
