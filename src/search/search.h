/* search/search.h - shared code of the searchers: the table's entries, random configurations without repeats, and steps
 * for sequential algorithms. */
#pragma once

#include <clatune/sys/searcher.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/plugin.h"
#include "space/space.h"

extern const clt_searcher_type clt_searcher_random;
extern const clt_searcher_type clt_searcher_exhaustive;
extern const clt_searcher_type clt_searcher_two_stage;
extern const clt_searcher_type clt_searcher_hill_climb;
extern const clt_searcher_type clt_searcher_local;
extern const clt_searcher_type clt_searcher_annealing;
extern const clt_searcher_type clt_searcher_genetic;
extern const clt_searcher_type clt_searcher_ants;
extern const clt_searcher_type clt_searcher_groups;
extern const clt_searcher_type clt_searcher_surrogate;

/* The budget function of searchers that end by themselves: no limit (steps.c). */
int64_t clt_search_without_end(const void *options);
int clt_search_too_many(clt_error *error); /* fails: they cannot go through a space of more than 2^63 (steps.c) */

static inline void clt_search_note(clt_search_report *report, const char *name, double value) {
  if (report->n_notes < CLT_MOST_NOTES) report->notes[report->n_notes++] = (clt_note){name, value};
}

/* The incumbent. config CLT_CONFIG_NONE and cost INFINITY: no correct result yet. */
typedef struct clt_best {
  clt_config config;
  double cost;
} clt_best;

#define CLT_NO_BEST ((clt_best){CLT_CONFIG_NONE, INFINITY})

static inline void clt_best_keep(clt_best *best, clt_config config, double cost) {
  if (cost < best->cost) *best = (clt_best){config, cost}; /* not NaN */
}

/* --- random configurations (steps.c) --- */

/* A uniformly random order of the canonical configurations that is computed only as far as it is read: a Fisher-Yates
 * shuffle of the ranks that stores only the positions it has changed. n draws take time and memory proportional to n,
 * independent of the size of the space. The order depends on the seed alone. */
typedef struct clt_draw {
  const clt_space *space;
  clt_rng rng;
  uint64_t n_ranks, n_drawn;
  clt_map moved; /* changed position -> its rank */
} clt_draw;

void clt_draw_init(clt_draw *draw, const clt_space *space, uint64_t seed);
void clt_draw_release(clt_draw *draw);

/* Draws the next configuration that is not a key of `skip` (nullable); CLT_CONFIG_NONE if none is left. */
int clt_draw_next(clt_draw *draw, const clt_map *skip, clt_config *out, clt_error *error);

/* --- steps (steps.c) ---
 *
 * A sequential metaheuristic learns the cost of each proposal before it makes the next one. Workers need several
 * proposals at once, and their results arrive in any order. So proposal k is made when exactly the results of the
 * proposals 0 .. k-w have been learnt, in the order of the proposals. w is the largest batch requested so far. With
 * batches of one this is the textbook's algorithm; with larger batches each proposal lacks the last w - 1 results.
 * The proposals do not depend on when and in which order results arrive, so that a killed search can be repeated. The
 * price: a late result delays the proposal that is w positions after it. */

/* An algorithm, whose state begins with its clt_steps. The cost of a configuration that failed is INFINITY. */
typedef struct clt_steps_rules {
  const char *phase; /* the first phase that is reported */
  /* Proposes a configuration for which clt_steps_is_new is true. CLT_CONFIG_NONE: the next result is needed first. If
   * no result is pending, a random configuration is taken instead; steps.left = 0 ends the search. */
  int (*propose)(void *state, clt_config *out, clt_error *error);
  /* Learns the result of a proposal, of a random configuration taken instead of one, or of a configuration that was
   * evaluated before the search. NULL: proposals depend on no result, or on all of the earlier ones (steps.n_learnt ==
   * steps.n_asked), so that no result delays them. */
  int (*learn)(void *state, clt_config config, double cost, clt_error *error);
  /* Not 0: proposals are made in blocks of the size of the first batch, at most this many. A block depends on the
   * results of all earlier blocks. For algorithms whose learning takes long. */
  size_t most_in_block;
} clt_steps_rules;

typedef struct clt_steps {
  clt_arena memory; /* until fini; an algorithm may put its arrays here, too */
  const clt_space *space;
  const clt_steps_rules *rules;
  clt_draw draw;
  clt_rng rng;            /* for the algorithm; independent of draw's */
  const char *phase;      /* as reported; at first that of the rules */
  int64_t left;           /* evaluations left of the budget */
  struct clt_step *steps; /* in the order of the proposals */
  size_t n_asked, n_learnt, capacity, window;
  clt_map known; /* proposed or earlier evaluated configurations -> their costs (clt_steps_cost) */
  clt_branch *branches;
} clt_steps;

/* steps must be zeroed; rules must outlive it. */
int clt_steps_init(clt_steps *steps, const clt_search_setup *setup, const clt_steps_rules *rules, clt_error *error);

/* Functions for the searcher's table. A searcher with further memory has its own fini, which calls this one. */
int clt_steps_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error);
int clt_steps_tell(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error);
void clt_steps_report(const void *state, clt_search_report *out);
void clt_steps_fini(void *state);

/* The common entries of these searchers' tables. */
#define CLT_STEPS_SEARCHER(NAME, SUMMARY, STATE) \
  .abi = CLT_SEARCHER_ABI, .name = NAME, .summary = SUMMARY, .state_size = sizeof(STATE), .ask = clt_steps_ask

/* The cost of a canonical configuration: INFINITY if it failed; NaN if it was not proposed or its result is not learnt
 * yet. */
double clt_steps_cost(const clt_steps *steps, clt_config config);

/* Whether a configuration is valid, canonical, and neither proposed nor evaluated before. */
bool clt_steps_is_new(const clt_steps *steps, clt_config config);

/* A random new configuration; CLT_CONFIG_NONE if none is left. state: a clt_steps, as for propose. */
int clt_steps_random(void *state, clt_config *out, clt_error *error);

/* Crossover and mutation: each parameter has the value of a or of b with equal probability, and with probability `rate`
 * a random value instead. a == b: mutation only. If many tries give no valid configuration, a walk down the tree
 * replaces values that do not fit the earlier ones by random ones. The result is valid and canonical, not always new.
 */
clt_config clt_steps_mix(clt_steps *steps, clt_config a, clt_config b, double rate);

/* Changes the value of one random parameter. The result is valid and canonical; the configuration itself if many tries
 * give no valid one. */
clt_config clt_vary(const clt_space *space, clt_config config, clt_rng *rng);

extern clt_plugins clt_searchers; /* of clt_searcher_type */

/* --- search quality: the results of recorded searches of the same length (searchers.c) ---
 *
 * Estimates of the probability that a result is optimal are not calibrated on kernels outside of their training
 * (docs/notebook/miss-rates.md), so none is given. Instead, clatune reports how often replays of recorded spaces, whose
 * optimum is known, missed it. benchmarks/miss_rates.py writes the table. */

/* Replays of one length with one searcher, with its default options and without sources. */
typedef struct clt_certainty {
  const char *searcher;
  int64_t evaluations; /* the budget of each search */
  int spaces, searches;
  double tolerance; /* relative; a search has missed the optimum if the optimum is faster than its best by more */
  double missed;    /* fraction of the searches, 0 .. 1 */
  double mean_loss; /* mean over all searches of 1 - optimum / best found, 0 .. 1 */
} clt_certainty;

size_t clt_n_certainties(void);
const clt_certainty *clt_certainty_at(size_t index); /* NULL beyond the last */

/* The longest replays with this searcher that have at most `evaluations`; NULL: none. */
const clt_certainty *clt_certainty_find(const char *searcher, int64_t evaluations);
