/* search/search.h - what the searchers share: the table's entries, random configurations without repeats, and steps for
 * algorithms that go one at a time. */
#ifndef CLT_SEARCH_SEARCH_H
#define CLT_SEARCH_SEARCH_H

#include <clatune/model.h>
#include <clatune/sys/searcher.h>
#include <math.h>

#include "base/map.h"
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

/* The budget of searchers that are over when they have gone through what there is (steps.c). */
int64_t clt_search_without_end(const void *options);

static inline void clt_search_note(clt_search_report *report, const char *name, double value) {
  if (report->n_notes < CLT_MOST_NOTES) report->notes[report->n_notes++] = (clt_note){name, value};
}

/* The best so far; config CLT_CONFIG_NONE and cost INFINITY: nothing correct yet. */
typedef struct clt_best {
  clt_config config;
  double cost;
} clt_best;

#define CLT_NO_BEST ((clt_best){CLT_CONFIG_NONE, INFINITY})

static inline void clt_best_keep(clt_best *best, clt_config config, double cost) {
  if (cost < best->cost) *best = (clt_best){config, cost}; /* not NaN */
}

/* --- random configurations (steps.c) --- */

/* A uniformly random order of the valid configurations, made as far as it is read: a Fisher-Yates shuffle of the ranks
 * that keeps only the places it has touched. n draws take time and memory proportional to n, whatever the size of the
 * space, and the order depends on the seed alone. Only canonical configurations are drawn. */
typedef struct clt_draw {
  const clt_space *space;
  clt_rng rng;
  uint64_t n_ranks, n_drawn;
  clt_map moved; /* position -> the rank that the shuffle has moved there */
} clt_draw;

void clt_draw_init(clt_draw *draw, const clt_space *space, uint64_t seed);
void clt_draw_release(clt_draw *draw);

/* The next configuration that is not a key of `skip` (nullable); CLT_CONFIG_NONE when all were drawn. */
int clt_draw_next(clt_draw *draw, const clt_map *skip, clt_config *out, clt_error *error);

/* --- steps (steps.c) ---
 *
 * A metaheuristic proposes a configuration and learns its cost before it proposes the next one. Workers want several at
 * once, and their results come late and in any order. So proposal k is made when exactly the results of the proposals
 * 0 .. k-w have been learnt, in the order of proposing, w being the largest batch asked for so far. With batches of one
 * that is the algorithm of the textbook; with larger ones it works with knowledge that is w - 1 results old. What is
 * asked for depends neither on the order of the results nor on when they come, so that a search that was killed finds
 * its way again. The price: a late result holds up the request w places behind it. */

/* An algorithm, whose state begins with its clt_steps. The cost of a configuration that failed is INFINITY. */
typedef struct clt_steps_rules {
  const char *phase; /* the first one that is reported */
  /* A configuration that clt_steps_is_new. CLT_CONFIG_NONE: cannot tell before the next result is learnt; where none is
   * to come, a random configuration is taken, unless steps.left was set to 0: it is over. */
  int (*propose)(void *state, clt_config *out, clt_error *error);
  /* The result of a proposal, of a random configuration taken in its place, or of what is evaluated first. NULL: what
   * is proposed depends on no result, or on all of those before (steps.n_learnt == steps.n_asked): nothing is held up.
   */
  int (*learn)(void *state, clt_config config, double cost, clt_error *error);
  /* Not 0: proposals come in blocks of the size of the first batch, at most so many, and a block's depend on the
   * results of all blocks before: for algorithms whose learning is dear. */
  size_t most_in_block;
} clt_steps_rules;

typedef struct clt_steps {
  const clt_space *space;
  const clt_steps_rules *rules;
  clt_draw draw;
  clt_rng rng;            /* for the algorithm; not that of draw */
  const char *phase;      /* what is reported; the first one is the rules' */
  int64_t left;           /* may still be asked for */
  struct clt_step *steps; /* by order of asking */
  size_t n_asked, n_learnt, capacity, window;
  clt_map known; /* what was asked for or evaluated first, and its cost: clt_steps_cost */
  clt_branch *branches;
} clt_steps;

/* steps is zeroed; rules outlive it. */
int clt_steps_init(clt_steps *steps, const clt_search_setup *setup, const clt_steps_rules *rules, clt_error *error);

/* The searcher's functions, for its table. One that allocates more has a fini of its own, which calls this one. */
int clt_steps_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error);
int clt_steps_tell(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error);
void clt_steps_report(const void *state, clt_search_report *out);
void clt_steps_fini(void *state);

/* What the tables of these searchers have in common. */
#define CLT_STEPS_SEARCHER(NAME, SUMMARY, TABLE, OPTIONS, STATE)                                           \
  .abi = CLT_SEARCHER_ABI, .name = NAME, .summary = SUMMARY, .options = TABLE,                             \
  .n_options = sizeof TABLE / sizeof *TABLE, .options_size = sizeof(OPTIONS), .state_size = sizeof(STATE), \
  .ask = clt_steps_ask, .tell = clt_steps_tell

/* The cost of a canonical configuration: INFINITY if it failed; NaN if its result has not been learnt, or if it has not
 * been asked for. */
double clt_steps_cost(const clt_steps *steps, clt_config config);

/* Valid, canonical, and never asked for. */
bool clt_steps_is_new(const clt_steps *steps, clt_config config);

/* A random configuration that is new; CLT_CONFIG_NONE: there is none. state: as propose has it. */
int clt_steps_random(void *state, clt_config *out, clt_error *error);

/* The parents' values mixed: each parameter has that of a or of b with equal probability, and is drawn anew among its
 * values with probability `rate`. With a == b this is mutation alone. Where many tries give nothing valid, the tree is
 * walked: values that do not fit those before give way to random ones. Valid and canonical, but not always new. */
clt_config clt_steps_mix(clt_steps *steps, clt_config a, clt_config b, double rate);

/* So, too: another value for one parameter, chosen at random; the configuration itself where tries give nothing valid.
 */
clt_config clt_steps_vary(clt_steps *steps, clt_config config);

/* --- trails that ants leave on the values of the parameters, and the paths that follow them (ants.c) ---
 *
 * A path is a walk down the tree of valid configurations (space/space.h): a parameter that the values before leave
 * without a choice is passed without a decision. Max-Min Ant System (Stuetzle and Hoos, "MAX-MIN Ant System", Future
 * Generation Computer Systems 16, 2000, section 3) in the hyper-cube framework (Blum and Dorigo, "The hyper-cube
 * framework for ant colony optimization", IEEE Transactions on Systems, Man and Cybernetics B 34, 2004):
 * pheromones lie in [0.001, 0.999], begin at 0.5, and move towards 1 on the values of a good path and towards 0 on the
 * others. */

typedef struct clt_pheromones {
  const clt_space *space;
  double alpha, beta; /* exponents of pheromone and desirability */
  size_t *first;      /* of a parameter, its first value in the tables */
  double *trail;      /* pheromone */
  double *desirable;  /* desirability known before, above 0; 1 at the beginning */
  clt_branch *branches;
  double *weights;
} clt_pheromones;

int clt_pheromones_init(clt_pheromones *pheromones, const clt_space *space, double alpha, double beta,
                        clt_error *error);
void clt_pheromones_release(clt_pheromones *pheromones);

/* All trails at 0.5. */
void clt_pheromones_reset(clt_pheromones *pheromones);

/* A path; the space has a valid configuration. */
clt_config clt_pheromones_path(clt_pheromones *pheromones, clt_rng *rng);

/* Moves the trails of the parameters where the path of a valid configuration had a choice by the share rho. */
void clt_pheromones_deposit(clt_pheromones *pheromones, clt_config config, double rho);

/* Fills in how desirable each value is, by what the author thinks before anything was measured: the mean of the
 * problem's Desirability over those of 2,000 random configurations that have the value, relative to the mean of all, at
 * least 0.01 and at most 100. Configurations without a number above 0 count as 0. Values that the sample lacks stay at
 * 1, and so does everything where the instance is NULL, has no Desirability, or is 0 everywhere. */
int clt_pheromones_guess(clt_pheromones *pheromones, const clt_instance *instance, uint64_t seed, clt_error *error);

extern clt_plugins clt_searchers; /* of clt_searcher_type */

/* --- how sure a search may be of its result: what recorded searches of the same length missed (searchers.c) ---
 *
 * No probability of optimality is known that is calibrated on kernels it was not made from (docs/certainty.md), so none
 * is given. What can be said is how often searches on recorded spaces, where the optimum is known, missed something.
 * The table is written by benchmarks/miss_rates.py. */

/* Recorded searches of one length by one searcher with its default options, without knowledge from elsewhere. */
typedef struct clt_certainty {
  const char *searcher;
  int64_t evaluations; /* the budget of each search */
  int spaces, searches;
  double tolerance; /* a search has missed something if the space's optimum is faster than its best by more than this */
  double missed;    /* share of the searches, 0 .. 1 */
  double mean_loss; /* of all searches, 1 - optimum / best found, 0 .. 1 */
} clt_certainty;

size_t clt_n_certainties(void);
const clt_certainty *clt_certainty_at(size_t index); /* NULL beyond the last */

/* The longest recorded searches by this searcher that have at most so many evaluations; NULL: none was recorded. */
const clt_certainty *clt_certainty_find(const char *searcher, int64_t evaluations);

#endif
