/* search/surrogate.h - shared code of the searcher surrogate (docs/explanation/searching.md). */
#pragma once

#include "base/hash.h"
#include "model/network.h"
#include "model/trees.h"
#include "search/search.h"

typedef struct clt_result_row {
  clt_config config;
  double cost;     /* NaN: failed */
  uint32_t branch; /* the branch that proposed it; 0: the main search */
} clt_result_row;

/* --- prior data (prior.c) --- */

#define CLT_P_FAIL 0.5f /* configurations with a higher probability of failure come after all others */

#define CLT_MOST_SOURCES 8   /* the first ones */
#define CLT_MOST_ENCODED 512 /* with more inputs, configurations that a source lacks get the source's mean */

/* Sources as inputs of the networks: the speed of a configuration there, least cost / cost; 0 if it failed. */
typedef struct clt_prior_data {
  clt_arena memory;
  const clt_search_source *sources;
  size_t n;
  const clt_encoding *encoding;
  bool nearest; /* configurations that a source lacks get the value of its nearest ones; otherwise the mean */
  float *x[CLT_MOST_SOURCES], *speed[CLT_MOST_SOURCES]; /* of a source's configurations */
  float mean[CLT_MOST_SOURCES];
  double correlation[CLT_MOST_SOURCES]; /* with the measurements */
  bool fits[CLT_MOST_SOURCES];          /* the source is used; true until it is compared */
} clt_prior_data;

/* This and the other init functions of this header: release the struct's memory, also after a failure. */
int clt_prior_data_init(clt_prior_data *data, const clt_search_setup *setup, const clt_encoding *encoding,
                        clt_error *error);

/* The speeds of a configuration in the sources, from -1 (failed) to 1 (the fastest): out[data->n]. */
void clt_prior_data_speeds(const clt_prior_data *data, clt_config config, float *out);

/* The same as inputs of the networks, a clt_extra_inputs function: 0 for sources that do not fit. */
void clt_prior_data_fill(const void *data, clt_config config, float *out);

/* Compares the sources with the measurements by rank correlation (Kendall's tau); speeds[n_rows][data->n] are the
 * sources' speeds of the measured configurations. A source with a negative or a much lower correlation than the best
 * one does not fit. Failed configurations do not count. lenient: adds half a standard error to tau. Returns whether the
 * set of fitting sources has changed. */
bool clt_prior_data_judge(clt_prior_data *data, const float *speeds, const clt_result_row *rows, size_t n_rows,
                          bool lenient);

/* The smallest squared distance between x and the first n of points[][n_inputs]. */
float clt_least_distance(const float *points, size_t n, size_t n_inputs, const float *x);

/* --- expected costs, corrected by measurements (prior.c) --- */

typedef struct clt_prior_rules {
  double deviation; /* standard deviation of the log cost from the expected one */
  double length;    /* its covariance falls to 1/e over this number of parameters, each changed from end to end */
  double kappa;     /* weight in the acquisition mean - kappa * deviation */
  size_t n_rows;    /* the prior picks until there are this many results */
} clt_prior_rules;

typedef struct clt_prior {
  clt_arena memory;
  const clt_encoding *encoding;
  clt_config *configs; /* canonical configurations that are expected to be valid, ascending */
  float *log_cost;     /* up to a constant */
  float *x;            /* [n][n_inputs] */
  size_t n;
  clt_prior_rules rules;
} clt_prior;

/* Takes the expected costs from the fitting sources, at most CLT_MOST_SOURCES. predicted: the sources are a model's
 * predictions for the sizes of this search. Borrows the encoding. */
int clt_prior_init(clt_prior *prior, const clt_search_source *sources, size_t n_sources, const bool *fits,
                   bool predicted, const clt_encoding *encoding, clt_error *error);

/* The most promising configuration that is not in asked; those that probably fail according to `failures` (nullable)
 * come last. rows: n_rows with results, then up to n_known without; failed rows and rows without an expected cost do
 * not count. CLT_CONFIG_NONE: none is left. */
int clt_prior_best(clt_config *out, const clt_prior *prior, const clt_result_row *rows, size_t n_rows, size_t n_known,
                   const clt_map *asked, const clt_forest *failures, clt_error *error);

/* --- several objectives (weights.c) ---
 *
 * The models are fitted to a single cost, which has other random weights for each proposal (ParEGO: Knowles, "ParEGO: a
 * hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization problems", IEEE
 * Transactions on Evolutionary Computation 10, 2006). */

typedef struct clt_weighing {
  size_t n;        /* objectives */
  clt_map indices; /* configuration -> index in logs */
  double *logs;    /* [n_told][n]: logarithms of the costs */
  size_t n_told, capacity;
} clt_weighing;

/* Keeps the costs of a configuration. */
int clt_weighing_add(clt_weighing *weighing, clt_config config, const double *costs, clt_error *error);
/* Replaces the costs of correct rows: the augmented Tchebycheff norm, with new weights, of log costs between the least
 * and the greatest of these rows. Returns the least cost. */
double clt_weighing_draw(const clt_weighing *weighing, clt_result_row *rows, size_t n_rows, clt_rng *rng);
void clt_weighing_release(clt_weighing *weighing);

/* --- candidates (candidates.c) --- */

/* The configurations that are predicted at each refit. Small space: all. Large space: a short list of the most
 * promising ones, renewed from time to time by predicting the whole space. Huge space: a short list from a large
 * uniform sample and the neighbourhoods of the best. */
typedef struct clt_candidates {
  clt_arena memory;
  const clt_space *space;
  const clt_extra_inputs *extra; /* NULL: none */
  unsigned threads;
  clt_rng *rng;
  clt_split split[2];   /* [1]: for blind committees, which do without the extra inputs */
  clt_layout layout[2]; /* likewise */
  clt_config *configs;
  float *mean, *spread, *p_fail, *tree, *process;
  size_t n, capacity;
  clt_config *sample; /* of a huge space */
  size_t n_sample;
  bool complete;
  int age; /* refits since the short list was renewed */
} clt_candidates;

/* Borrows the encoding and its space, extra, and the generator. */
int clt_candidates_init(clt_candidates *candidates, const clt_encoding *encoding, const clt_extra_inputs *extra,
                        unsigned threads, clt_rng *rng, clt_error *error);
void clt_candidates_release(clt_candidates *candidates);

/* Recomputes the candidates' inputs after the extra inputs have changed. */
int clt_candidates_lay_out(clt_candidates *candidates, clt_error *error);

#define CLT_MOST_FASTEST 10

/* The fastest measured configurations, the fastest first. Huge spaces are searched more closely around them. */
typedef struct clt_fastest {
  clt_config configs[CLT_MOST_FASTEST];
  size_t n;
} clt_fastest;

/* Improvement over some of the rows. */
typedef struct clt_improvement {
  size_t n;         /* rows */
  size_t best_at;   /* of these, when the best came */
  double best_cost; /* 0: none yet */
} clt_improvement;

/* Adds a row. cost NaN: it failed. */
void clt_improvement_note(clt_improvement *improvement, double cost);

/* Among equals the lower configuration. */
clt_fastest clt_fastest_of(const clt_result_row *rows, size_t n_rows);

/* How much the candidates promise to improve on the best log cost, by a process fitted to n log costs. */
int clt_candidates_predict_improvement(clt_candidates *candidates, const clt_encoding *encoding,
                                       const clt_config *configs, const double *log_costs, size_t n, double best,
                                       clt_error *error);

/* Renews the short list if it is due (*changed: it was), without configurations in asked, then predicts mean and spread
 * of all candidates. */
int clt_candidates_predict(clt_candidates *candidates, const clt_committee *committee, bool blind, const clt_map *asked,
                           const clt_fastest *fastest, double kappa, bool *changed, clt_error *error);

/* The quantity that an acquisition minimises. */
typedef enum clt_acquisition {
  CLT_BY_MEAN,       /* of the networks */
  CLT_BY_BOUND,      /* mean - kappa * spread: the lower confidence bound */
  CLT_BY_TREES,      /* mean of the trees */
  CLT_BY_PROCESS,    /* minus log of the expected improvement of the Gaussian process */
  CLT_NEAR_INCUMBENT /* mean, among the neighbours of the best measured */
} clt_acquisition;

/* The best candidate that is not in asked; those that probably fail come last. CLT_CONFIG_NONE: none is left.
 * CLT_NEAR_INCUMBENT considers only neighbours that probably do not fail; if there are none, it acts as CLT_BY_MEAN. */
clt_config clt_candidates_best(const clt_candidates *candidates, clt_acquisition acquisition, double kappa,
                               const clt_map *asked, const clt_fastest *fastest);
