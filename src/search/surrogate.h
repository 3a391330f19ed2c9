/* search/surrogate.h - what the files of the sequential surrogate search share: docs/searchers/surrogate.md. */
#ifndef CLT_SEARCH_SURROGATE_H
#define CLT_SEARCH_SURROGATE_H

#include "model/committee.h"
#include "model/forest.h"
#include "search/draw.h"
#include "search/searchers.h"

typedef struct clt_surrogate_options {
  int64_t start, patience, members, hidden, iterations;
  double kappa, decay;
  const char *policy;
} clt_surrogate_options;

/* --- what was told (surrogate_rows.c) --- */

/* An epoch trains on the rows from `first` on. It stalls when its best has not improved for `patience` evaluations. */
typedef struct clt_epoch {
  bool fresh; /* begun anew; otherwise on all rows */
  size_t first;
  double best_s;
  size_t best_at; /* rows told when the best came */
} clt_epoch;

/* All results, in the order of arrival; x[row][n_inputs]. */
typedef struct clt_told {
  clt_row *rows;
  float *x;
  size_t n, n_failed, rows_capacity, x_capacity;
  clt_epoch epoch;
} clt_told;

int clt_told_add(clt_told *told, const clt_encoding *encoding, const clt_measurement *measurement, clt_error *error);
void clt_told_release(clt_told *told);
size_t clt_told_correct(const clt_told *told); /* of the epoch */

/* Whether the epoch has stalled. */
bool clt_told_stalled(const clt_told *told, int64_t patience);
/* From all rows to a new beginning, or back to all rows. */
void clt_told_turn(clt_told *told);

/* The least squared distance of x to any of the first n of points[][n_inputs]. */
float clt_least_distance(const float *points, size_t n, size_t n_inputs, const float *x);

/* Fits the committee on the epoch's correct rows: minus the speed, relative to the fastest of them. */
int clt_told_fit(const clt_told *told, clt_committee *committee, const clt_encoding *encoding, clt_rng *rng,
                 clt_error *error);
/* Trees on the same target, 1 - speed: the lower, the faster. */
int clt_told_trees(clt_forest **out, const clt_told *told, const clt_encoding *encoding, uint64_t seed,
                   clt_error *error);
/* A forest on all rows; NULL where none failed. */
int clt_told_validity(clt_forest **out, const clt_told *told, const clt_encoding *encoding, uint64_t seed,
                      clt_error *error);

/* --- what may be asked for (surrogate_view.c) --- */

/* The configurations that are predicted at each refit: all of a small space; the most promising of a large one, chosen
 * anew from time to time by a look at the whole space; of a huge one, at a large uniform sample and the neighbourhoods
 * of the best. */
typedef struct clt_view {
  const clt_space *space;
  const clt_encoding *encoding;
  unsigned threads;
  clt_split split; /* for laying out */
  clt_layout layout;
  clt_config *configs;
  float *mean, *spread, *p_fail, *tree;
  uint8_t *blocked; /* asked for already */
  size_t n, capacity;
  clt_config *sample; /* of a huge space */
  size_t n_sample;
  bool complete;
  int age; /* refits since the last look */
} clt_view;

/* Borrows the encoding and its space. */
int clt_view_init(clt_view *view, const clt_encoding *encoding, unsigned threads, clt_rng *rng, clt_error *error);
void clt_view_release(clt_view *view);
void clt_view_block(clt_view *view, clt_config config);

/* Predicts; before that looks at the whole space where it is time. asked and told say what is left out and whose
 * neighbourhoods are looked at. */
int clt_view_predict(clt_view *view, const clt_committee *committee, const clt_forest *forest, const clt_forest *trees,
                     const clt_config_set *asked, const clt_told *told, double kappa, clt_error *error);

/* The configuration with the lowest mean - kappa * spread, those that probably fail last; CLT_CONFIG_NONE: all are
 * blocked. */
clt_config clt_view_best(const clt_view *view, double kappa, bool by_trees);

#endif
