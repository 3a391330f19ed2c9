/* ants: paths over the tree of configurations that follow the pheromones of the best ones (Papenhausen and Mueller,
 * "Coding Ants: Optimization of GPU code using ant colony optimization", Computer Languages, Systems and Structures,
 * 2018). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/trees.h"
#include "search/desirability.h"
#include "search/pheromones.h"
#include "search/searchers.h"
#include "search/steps.h"

#define TRIES 20   /* paths for each one that is kept, before the trails are cleared */
#define MIN_LEAF 3 /* measurements in a leaf of the regression tree */
#define FAILED 0.7 /* a failed configuration counts as slower than the slowest by so much in log time: twice */

typedef struct ants_options {
  int64_t ants, iterations;
  double alpha, beta, rho, filter;
} ants_options;

typedef struct path {
  clt_config config;
  double predicted; /* log time */
} path;

typedef struct best {
  clt_config config; /* CLT_CONFIG_NONE: nothing correct */
  double time_s;
} best;

typedef struct ants_state {
  clt_steps steps; /* first: its ask and tell are the searcher's */
  ants_options options;
  clt_pheromones pheromones;
  path *paths; /* of this iteration: n_paths, the next one to be proposed */
  size_t max_paths, n_paths, next;
  int64_t n_home; /* ants of the iteration whose time is learnt */
  best iteration, overall;
  clt_config *configs; /* learnt, with their log times; INFINITY: failed */
  double *log_times;
  size_t n, n_capacity, t_capacity;
} ants_state;

/* --- learning --- */

static const best nothing = {.config = CLT_CONFIG_NONE, .time_s = INFINITY};

static void consider(best *b, clt_config config, double time_s) {
  if (time_s < b->time_s) *b = (best){config, time_s};
}

static int learn(void *state, clt_config config, double time_s, clt_error *error) {
  ants_state *s = state;
  const ants_options *o = &s->options;
  if (clt_grow(&s->configs, &s->n_capacity, s->n + 1, sizeof *s->configs) ||
      clt_grow(&s->log_times, &s->t_capacity, s->n + 1, sizeof *s->log_times))
    return clt_fail_memory(error);
  s->configs[s->n] = config;
  s->log_times[s->n++] = log(time_s);
  consider(&s->iteration, config, time_s);
  consider(&s->overall, config, time_s);
  if (++s->n_home < o->ants) return CLT_OK;
  if (s->iteration.config != CLT_CONFIG_NONE) clt_pheromones_deposit(&s->pheromones, s->iteration.config, o->rho / 2);
  if (s->overall.config != CLT_CONFIG_NONE) clt_pheromones_deposit(&s->pheromones, s->overall.config, o->rho / 2);
  s->iteration = nothing;
  s->n_home = 0;
  return CLT_OK;
}

/* --- paths --- */

static bool is_planned(const ants_state *s, clt_config config) {
  for (size_t i = 0; i < s->n_paths; i++)
    if (s->paths[i].config == config) return true;
  return false;
}

static void walk_paths(ants_state *s) {
  s->n_paths = s->next = 0;
  for (size_t i = 0; i < TRIES * s->max_paths && s->n_paths < s->max_paths; i++) {
    clt_config config = clt_space_canonical(s->steps.space, clt_pheromones_path(&s->pheromones, &s->steps.rng));
    if (clt_steps_is_new(&s->steps, config) && !is_planned(s, config)) s->paths[s->n_paths++].config = config;
  }
  if (s->n_paths < s->max_paths) clt_pheromones_reset(&s->pheromones);
}

/* What the tree splits: the positions of a configuration's values, in the order in which they are listed. */
static void encode_positions(const ants_state *s, clt_config config, float *out) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(s->steps.space, config, positions);
  for (size_t p = 0; p < clt_space_n_parameters(s->steps.space); p++) out[p] = (float)positions[p];
}

static int grow_tree(ants_state *s, clt_tree *out, clt_error *error) {
  size_t n_inputs = clt_space_n_parameters(s->steps.space);
  float *x = clt_new_array(s->n, n_inputs * sizeof *x), *y = clt_new_array(s->n, sizeof *y);
  double slowest = -INFINITY;
  int rc = x && y ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; i < s->n; i++)
    if (isfinite(s->log_times[i])) slowest = fmax(slowest, s->log_times[i]);
  for (size_t i = 0; !rc && i < s->n; i++) {
    encode_positions(s, s->configs[i], x + i * n_inputs);
    y[i] = (float)(isfinite(s->log_times[i]) ? s->log_times[i] : slowest + FAILED);
  }
  if (!rc) rc = clt_tree_fit(out, x, n_inputs, y, s->n, MIN_LEAF, error);
  free(x);
  free(y);
  return rc;
}

static int by_prediction(const void *a, const void *b) {
  const path *x = a, *y = b;
  if (x->predicted != y->predicted) return x->predicted < y->predicted ? -1 : 1;
  return (x->config > y->config) - (x->config < y->config);
}

/* Keeps the paths whose leaves are the fastest. */
static int filter(ants_state *s, clt_error *error) {
  clt_tree tree = {0};
  float x[CLT_MAX_PARAMETERS];
  if (s->overall.config == CLT_CONFIG_NONE || s->n_paths <= (size_t)s->options.ants) return CLT_OK;
  int rc = grow_tree(s, &tree, error);
  for (size_t i = 0; !rc && i < s->n_paths; i++) {
    encode_positions(s, s->paths[i].config, x);
    s->paths[i].predicted = (double)clt_tree_predict(&tree, x);
  }
  if (!rc) qsort(s->paths, s->n_paths, sizeof *s->paths, by_prediction);
  clt_tree_release(&tree);
  return rc;
}

static int next_iteration(ants_state *s, clt_error *error) {
  walk_paths(s);
  int rc = filter(s, error);
  if (s->n_paths > (size_t)s->options.ants) s->n_paths = (size_t)s->options.ants;
  return rc;
}

static int propose(void *state, clt_config *out, clt_error *error) {
  ants_state *s = state;
  if (clt_space_valid(s->steps.space) == 0) return *out = CLT_CONFIG_NONE, CLT_OK;
  if (s->next == s->n_paths) {
    int rc = next_iteration(s, error);
    if (rc) return rc;
  }
  if (s->n_paths == 0) return clt_steps_random(&s->steps, out, error);
  *out = s->paths[s->next++].config;
  return CLT_OK;
}

static const clt_steps_rules rules = {propose, learn};

/* --- the searcher --- */

static int ants_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  ants_state *s = state;
  const ants_options *o = options;
  s->options = *o;
  s->iteration = s->overall = nothing;
  s->max_paths = (size_t)ceil((double)o->ants / (1 - o->filter));
  s->paths = clt_new_array(s->max_paths, sizeof *s->paths);
  if (s->paths == NULL) return clt_fail_memory(error);
  int rc = clt_steps_init(&s->steps, setup, &rules, s, error);
  if (rc == CLT_OK) rc = clt_pheromones_init(&s->pheromones, setup->space, o->alpha, o->beta, error);
  if (rc == CLT_OK) rc = clt_desirability_guess(&s->pheromones, setup->instance, setup->seed, error);
  return rc;
}

static int64_t ants_budget(const void *options) {
  const ants_options *o = options;
  return o->ants * o->iterations;
}

static void ants_report(const void *state, clt_search_report *out) {
  const ants_state *s = state;
  snprintf(out->phase, sizeof out->phase, "iteration %zu", s->n / (size_t)s->options.ants + 1);
}

static void ants_fini(void *state) {
  ants_state *s = state;
  clt_pheromones_release(&s->pheromones);
  clt_steps_release(&s->steps);
  free(s->paths);
  free(s->configs);
  free(s->log_times);
}

static const clt_option options[] = {
    {"ants", CLT_OPTION_INT, "10", 1, 10000, offsetof(ants_options, ants), "paths measured in an iteration"},
    {"iterations", CLT_OPTION_INT, "5", 1, 1000000, offsetof(ants_options, iterations),
     "how many there are without a budget"},
    {"alpha", CLT_OPTION_REAL, "1", 0, 10, offsetof(ants_options, alpha), "exponent of the pheromone"},
    {"beta", CLT_OPTION_REAL, "1", 0, 10, offsetof(ants_options, beta), "exponent of the problem's Desirability"},
    {"rho", CLT_OPTION_REAL, "0.1", 0.001, 1, offsetof(ants_options, rho),
     "share by which an iteration moves the pheromones"},
    {"filter", CLT_OPTION_REAL, "0.5", 0, 0.99, offsetof(ants_options, filter),
     "share of the paths that a regression tree of the measured times keeps from being measured"},
};

const clt_searcher_type clt_searcher_ants = {
    .abi = CLT_SEARCHER_ABI,
    .name = "ants",
    .summary = "paths through the parameters that follow the pheromones of fast configurations",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(ants_options),
    .state_size = sizeof(ants_state),
    .budget = ants_budget,
    .init = ants_init,
    .ask = clt_steps_ask,
    .tell = clt_steps_tell,
    .report = ants_report,
    .fini = ants_fini,
};
