/* search/surrogate.h - what the files of the sequential surrogate search share: docs/searchers/surrogate.md. */
#ifndef CLT_SEARCH_SURROGATE_H
#define CLT_SEARCH_SURROGATE_H

#include "base/map.h"
#include "model/network.h"
#include "model/trees.h"
#include "search/search.h"

typedef struct clt_result_row {
  clt_config config;
  double cost;     /* NaN: failed */
  uint32_t branch; /* that asked for it; 0: the main search */
} clt_result_row;

/* --- prior data (prior.c) --- */

#define CLT_P_FAIL 0.5f /* what fails more probably than not stands behind all others */

#define CLT_MOST_SOURCES 8   /* the first ones */
#define CLT_MOST_ENCODED 512 /* inputs; beyond, a source's mean stands for what it lacks */

/* Sources, as the networks see them: the speed of a configuration there, least cost / cost, 0 where it failed. */
typedef struct clt_prior_data {
  const clt_search_source *sources;
  size_t n;
  const clt_encoding *encoding;
  bool nearest; /* what a source lacks is taken from the nearest that it has; else from its mean */
  float *x[CLT_MOST_SOURCES], *speed[CLT_MOST_SOURCES]; /* of a source's configurations */
  float mean[CLT_MOST_SOURCES];
  double correlation[CLT_MOST_SOURCES]; /* with what was measured */
  bool fits[CLT_MOST_SOURCES];          /* is used; all of them, until they are judged */
} clt_prior_data;

int clt_prior_data_init(clt_prior_data *data, const clt_search_setup *setup, const clt_encoding *encoding,
                        clt_error *error);
void clt_prior_data_release(clt_prior_data *data);

/* What the sources say of a configuration, from -1 (it failed) to 1 (the fastest): one a source. */
void clt_prior_data_speeds(const clt_prior_data *data, clt_config config, float *out);

/* The same as the networks' inputs, a clt_extra_inputs function: 0 in place of what does not fit. */
void clt_prior_data_fill(const void *data, clt_config config, float *out);

/* Compares the sources with what was measured, speeds[n_rows][data->n] being what they say of it, by rank (Kendall's
 * tau): one that disagrees, or agrees far less than the best, does not fit. What failed does not count. lenient: half a
 * standard error of tau is in favour of each. Whether others fit than before. */
bool clt_prior_data_judge(clt_prior_data *data, const float *speeds, const clt_result_row *rows, size_t n_rows,
                          bool lenient);

/* The least squared distance of x to any of the first n of points[][n_inputs]. */
float clt_least_distance(const float *points, size_t n, size_t n_inputs, const float *x);

/* --- what is expected before anything is measured, corrected by measurements (prior.c) --- */

typedef struct clt_prior_rules {
  double deviation, length; /* of log cost from what is expected; over so many parameters, from one end to the other, it
                             * is forgotten to 1/e */
  double kappa;             /* of mean - kappa * deviation */
  size_t n_rows;            /* until so many results are there it picks */
} clt_prior_rules;

typedef struct clt_prior {
  const clt_encoding *encoding;
  clt_config *configs; /* canonical ones that are expected to be valid, ascending */
  float *log_cost;     /* up to a constant */
  float *x;            /* [n][n_inputs] */
  size_t n;
  clt_prior_rules rules;
} clt_prior;

/* Of those sources that fit, at most CLT_MOST_SOURCES; predicted: a model's predictions for these very sizes. Borrows
 * the encoding. */
int clt_prior_init(clt_prior *prior, const clt_search_source *sources, size_t n_sources, const bool *fits,
                   bool predicted, const clt_encoding *encoding, clt_error *error);
void clt_prior_release(clt_prior *prior);

/* The most promising of those not in asked; those that fail by `failures` (nullable) last. rows: the n_rows measured
 * ones, and up to n_known those without a result yet; failed ones and those of which nothing is expected do not count.
 * CLT_CONFIG_NONE: none is left. */
int clt_prior_best(clt_config *out, const clt_prior *prior, const clt_result_row *rows, size_t n_rows, size_t n_known,
                   const clt_map *asked, const clt_forest *failures, clt_error *error);

/* --- what may be asked for (candidates.c) --- */

/* The configurations that are predicted at each refit: all of a small space; the most promising of a large one, chosen
 * anew from time to time by a look at the whole space; of a huge one, at a large uniform sample and the neighbourhoods
 * of the best. */
typedef struct clt_candidates {
  const clt_space *space;
  const clt_extra_inputs *extra; /* NULL: none */
  unsigned threads;
  clt_split split[2];   /* for laying out: [1] for committees that are blind for what is extra, where anything is */
  clt_layout layout[2]; /* so too */
  clt_config *configs;
  float *mean, *spread, *p_fail, *tree; /* one array */
  size_t n, capacity;
  clt_config *sample; /* of a huge space */
  size_t n_sample;
  bool complete;
  int age; /* refits since the last look */
} clt_candidates;

/* Borrows the encoding and its space, and extra. */
int clt_candidates_init(clt_candidates *candidates, const clt_encoding *encoding, const clt_extra_inputs *extra,
                        unsigned threads, clt_rng *rng, clt_error *error);
void clt_candidates_release(clt_candidates *candidates);

/* Computes the candidates' inputs anew: what is extra has changed. */
int clt_candidates_lay_out(clt_candidates *candidates, clt_error *error);

#define CLT_MOST_FASTEST 10

/* The fastest of what was measured, the fastest first: around them it is looked more closely. */
typedef struct clt_fastest {
  clt_config configs[CLT_MOST_FASTEST];
  size_t n;
} clt_fastest;

/* Predicts speeds; before that looks at the whole space where it is time, and says so in *changed. asked is left out.
 */
int clt_candidates_predict(clt_candidates *candidates, const clt_committee *committee, bool blind, const clt_map *asked,
                           const clt_fastest *fastest, double kappa, bool *changed, clt_error *error);

/* What an acquisition function minimises. */
typedef enum clt_acquisition {
  CLT_BY_MEAN,       /* of the networks */
  CLT_BY_BOUND,      /* mean - kappa * spread: the lower confidence bound */
  CLT_BY_TREES,      /* mean of the trees */
  CLT_NEAR_INCUMBENT /* mean, among the neighbours of the best measured */
} clt_acquisition;

/* The best by an acquisition function that is not in asked, those that probably fail last; CLT_CONFIG_NONE: none is
 * left. Of the neighbours of the fastest few, only those that probably do not fail; where there are none, the least
 * mean. */
clt_config clt_candidates_best(const clt_candidates *candidates, clt_acquisition acquisition, double kappa,
                               const clt_map *asked, const clt_fastest *fastest);

#endif
