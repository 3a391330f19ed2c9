/* search/surrogate.h - what the files of the sequential surrogate search share: docs/searchers/surrogate.md. */
#ifndef CLT_SEARCH_SURROGATE_H
#define CLT_SEARCH_SURROGATE_H

#include "model/committee.h"
#include "model/trees.h"
#include "search/draw.h"
#include "search/searchers.h"

typedef struct clt_surrogate_options {
  int64_t start, patience, members, hidden, iterations;
  double kappa, decay;
  const char *policy, *late_policy;
} clt_surrogate_options;

/* --- what is known elsewhere (surrogate_sources.c) --- */

#define CLT_MOST_SOURCES 8   /* the first ones */
#define CLT_MOST_ENCODED 512 /* inputs; beyond, a source's mean stands for what it lacks */

typedef struct clt_elsewhere {
  const clt_search_source *sources;
  size_t n;
  const clt_encoding *encoding;
  bool nearest; /* what a source lacks is taken from the nearest that it has; else from its mean */
  float *x[CLT_MOST_SOURCES];
  float *speed[CLT_MOST_SOURCES]; /* of each of its configurations: least cost / cost; 0: failed */
  float mean[CLT_MOST_SOURCES];
} clt_elsewhere;

int clt_elsewhere_init(clt_elsewhere *elsewhere, const clt_search_setup *setup, const clt_encoding *encoding,
                       clt_error *error);
void clt_elsewhere_release(clt_elsewhere *elsewhere);

/* The speed in the k-th source, 0 .. 1. */
float clt_elsewhere_speed(const clt_elsewhere *elsewhere, size_t k, clt_config config);
/* The networks' inputs, one a source: a clt_extra_inputs function. */
void clt_elsewhere_fill(const void *elsewhere, clt_config config, float *out);

/* The fastest elsewhere, for the k-th pick: differs from those before in two parameters at least. CLT_CONFIG_NONE:
 * none. */
clt_config clt_elsewhere_best(const clt_elsewhere *elsewhere, size_t k, const clt_config *before, size_t n_before,
                              const clt_config_set *asked);

/* --- what was told (surrogate_rows.c) --- */

/* Improvement over some of the rows. */
typedef struct clt_progress_of {
  size_t n;       /* rows told */
  size_t best_at; /* of these, when the best came */
  double best_s;  /* 0: none yet */
} clt_progress_of;

/* All results, in the order of arrival; x[row][n_inputs]. A branch is a search beside the main one that knows nothing
 * but its own rows: branch[row] is the number of the one that asked for the row, 0 for the main one. */
typedef struct clt_told {
  clt_row *rows;
  float *x, *extra; /* extra[row][n of the extra inputs] */
  uint32_t *branch;
  size_t n, n_failed, rows_capacity, x_capacity, extra_capacity, branch_capacity;
  const clt_extra_inputs *inputs; /* NULL: none */
  clt_progress_of all, own;       /* of all rows; of the latest branch's */
  uint32_t latest;                /* branch; 0: none yet */
} clt_told;

int clt_told_add(clt_told *told, const clt_encoding *encoding, clt_row row, uint32_t branch, clt_error *error);
void clt_told_release(clt_told *told);
size_t clt_told_correct(const clt_told *told, uint32_t branch); /* 0: of all */

#define CLT_MOST_FASTEST 16

/* The n (up to CLT_MOST_FASTEST) fastest correct rows, the fastest first; returns how many there are. */
size_t clt_told_fastest(const clt_told *told, clt_config *out, size_t n);

/* Whether the latest branch, or without one the whole search, has stalled. */
bool clt_told_stalled(const clt_told *told, int64_t patience);
void clt_told_begin_branch(clt_told *told);

/* The least squared distance of x to any of the first n of points[][n_inputs]. */
float clt_least_distance(const float *points, size_t n, size_t n_inputs, const float *x);

/* Fits the committee on the correct rows of a branch (0: on all): minus the speed, relative to the fastest of them. One
 * that is blind does not see the extra inputs. */
int clt_told_fit(const clt_told *told, uint32_t branch, clt_committee *committee, bool blind,
                 const clt_encoding *encoding, clt_rng *rng, clt_error *error);
/* Trees on the same target, 1 - speed: the lower, the faster. */
int clt_told_trees(clt_forest **out, const clt_told *told, uint32_t branch, const clt_encoding *encoding, uint64_t seed,
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
  const clt_extra_inputs *extra; /* NULL: none */
  unsigned threads;
  clt_split split[2];   /* for laying out: [1] for committees that are blind for what is extra, where anything is */
  clt_layout layout[2]; /* so too */
  clt_config *configs;
  float *mean, *spread, *p_fail, *tree;
  uint8_t *blocked; /* asked for already */
  size_t n, capacity;
  clt_config *sample; /* of a huge space */
  size_t n_sample;
  bool complete;
  int age; /* refits since the last look */
} clt_view;

/* Borrows the encoding and its space, and extra. */
int clt_view_init(clt_view *view, const clt_encoding *encoding, const clt_extra_inputs *extra, unsigned threads,
                  clt_rng *rng, clt_error *error);
void clt_view_release(clt_view *view);
void clt_view_block(clt_view *view, clt_config config);

/* Predicts speeds; before that looks at the whole space where it is time, and says so in *changed. asked and told say
 * what is left out and whose neighbourhoods are looked at. */
int clt_view_predict(clt_view *view, const clt_committee *committee, bool blind, const clt_config_set *asked,
                     const clt_told *told, double kappa, bool *changed, clt_error *error);
/* The same by trees, and failures. */
int clt_view_predict_trees(clt_view *view, const clt_forest *trees, clt_error *error);
int clt_view_predict_failures(clt_view *view, const clt_forest *validity, clt_error *error);

/* The configuration with the lowest mean - kappa * spread, those that probably fail last; CLT_CONFIG_NONE: all are
 * blocked. */
clt_config clt_view_best(const clt_view *view, double kappa, bool by_trees);

/* Of those that differ from one of the fastest three told in one parameter, and probably do not fail, the one with the
 * lowest mean; CLT_CONFIG_NONE: there is none. */
clt_config clt_view_near(const clt_view *view, const clt_told *told);

#endif
