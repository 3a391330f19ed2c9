/* genetic: a population whose members are mixed, and whose slowest gives way to a faster child. Steady state, one child
 * at a time (Whitley, "The GENITOR algorithm and selection pressure", ICGA 1989), uniform crossover (Syswerda, "Uniform
 * crossover in genetic algorithms", ICGA 1989). */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/search.h"

#define TRIES 100 /* before a random configuration is taken */

typedef struct genetic_options {
  int64_t population, tournament;
  double mutation;
} genetic_options;

typedef struct member {
  clt_config config;
  double cost;
} member;

typedef struct genetic_state {
  clt_steps steps; /* first: its ask and tell are the searcher's */
  genetic_options options;
  int64_t n_first; /* random ones proposed */
  member *members;
  size_t n_members;
} genetic_state;

static clt_config parent(genetic_state *s) {
  const member *best = &s->members[clt_rng_below(&s->steps.rng, s->n_members)];
  for (int64_t i = 1; i < s->options.tournament; i++) {
    const member *m = &s->members[clt_rng_below(&s->steps.rng, s->n_members)];
    if (m->cost < best->cost) best = m;
  }
  return best->config;
}

/* Mutation grows with each child that is known already. */
static int breed_propose(void *state, clt_config *out, clt_error *error) {
  genetic_state *s = state;
  bool grown = s->n_first >= s->options.population && s->n_members > 0;
  for (int i = 0; grown && i < TRIES; i++) {
    double rate = s->options.mutation + (1 - s->options.mutation) * i / TRIES;
    clt_config mother = parent(s), father = parent(s);
    *out = clt_vary_mix(&s->steps.vary, mother, father, rate);
    s->steps.phase = "breeding";
    if (clt_steps_is_new(&s->steps, *out)) return CLT_OK;
  }
  s->n_first++;
  return clt_steps_random(&s->steps, out, error);
}

static int breed_learn(void *state, clt_config config, double cost, clt_error *error) {
  (void)error;
  genetic_state *s = state;
  if (!isfinite(cost)) return CLT_OK;
  if (s->n_members < (size_t)s->options.population) {
    s->members[s->n_members++] = (member){config, cost};
    return CLT_OK;
  }
  member *slowest = s->members;
  for (size_t i = 1; i < s->n_members; i++)
    if (s->members[i].cost > slowest->cost) slowest = &s->members[i];
  if (cost < slowest->cost) *slowest = (member){config, cost};
  return CLT_OK;
}

static const clt_steps_rules rules = {breed_propose, breed_learn};

static int genetic_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  genetic_state *s = state;
  s->options = *(const genetic_options *)options;
  s->members = clt_new_array((size_t)s->options.population, sizeof *s->members);
  if (s->members == NULL) return clt_fail_memory(error);
  int rc = clt_steps_init(&s->steps, setup, &rules, s, error);
  s->steps.phase = "first population";
  return rc;
}

static void genetic_fini(void *state) {
  genetic_state *s = state;
  free(s->members);
  clt_steps_fini(s);
}

static const clt_option options[] = {
    {"population", CLT_OPTION_INT, "20", 1, 100000, offsetof(genetic_options, population),
     "members; as many random configurations begin"},
    {"tournament", CLT_OPTION_INT, "3", 1, 1000, offsetof(genetic_options, tournament),
     "members drawn for each parent, of which the fastest is taken"},
    {"mutation", CLT_OPTION_REAL, "0.1", 0, 1, offsetof(genetic_options, mutation),
     "probability with which each parameter of a child is drawn anew"},
};

const clt_searcher_type clt_searcher_genetic = {
    .abi = CLT_SEARCHER_ABI,
    .name = "genetic",
    .summary = "a population of configurations that are mixed and mutated, the slowest giving way",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(genetic_options),
    .state_size = sizeof(genetic_state),
    .init = genetic_init,
    .ask = clt_steps_ask,
    .tell = clt_steps_tell,
    .report = clt_steps_report,
    .fini = genetic_fini,
};
