/* model/rows.h - training rows: collecting and encoding them, folds, and the dependence of cost on the sizes alone. */
#ifndef CLT_MODEL_ROWS_H
#define CLT_MODEL_ROWS_H

#include <clatune/model.h>
#include <clatune/rng.h>
#include <jansson.h>
#include <math.h>

#include "base/base.h"
#include "model/encoding.h"

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

#endif
