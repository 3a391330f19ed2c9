/* hill-climb: some parameters of the best configuration are drawn anew, and what is faster takes its place (Bergstra,
 * Pinto and Cox, "Machine learning for predictive auto-tuning with boosted regression trees", InPar 2012). */
#include <math.h>

#include "search/search.h"

#define TRIES 100 /* before a random configuration is taken */

typedef struct hill_climb_options {
  double rate;
} hill_climb_options;

typedef struct hill_climb_state {
  clt_steps steps; /* first: its ask and tell are the searcher's */
  double rate;
  clt_config best; /* CLT_CONFIG_NONE: nothing correct yet */
  double best_cost;
} hill_climb_state;

static int climb_propose(void *state, clt_config *out, clt_error *error) {
  hill_climb_state *s = state;
  for (int i = 0; s->best != CLT_CONFIG_NONE && i < TRIES; i++) {
    *out = clt_vary_mix(&s->steps.vary, s->best, s->best, s->rate);
    if (clt_steps_is_new(&s->steps, *out)) return CLT_OK;
  }
  return clt_steps_random(&s->steps, out, error);
}

static int climb_learn(void *state, clt_config config, double cost, clt_error *error) {
  (void)error;
  hill_climb_state *s = state;
  if (!(cost < s->best_cost)) return CLT_OK;
  s->best = config;
  s->best_cost = cost;
  return CLT_OK;
}

static const clt_steps_rules rules = {climb_propose, climb_learn};

static int hill_climb_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  hill_climb_state *s = state;
  s->rate = ((const hill_climb_options *)options)->rate;
  s->best = CLT_CONFIG_NONE;
  s->best_cost = INFINITY;
  int rc = clt_steps_init(&s->steps, setup, &rules, s, error);
  s->steps.phase = "climbing";
  return rc;
}

static const clt_option options[] = {
    {"rate", CLT_OPTION_REAL, "0.25", 0, 1, offsetof(hill_climb_options, rate),
     "probability with which each parameter is drawn anew"},
};

const clt_searcher_type clt_searcher_hill_climb = {
    .abi = CLT_SEARCHER_ABI,
    .name = "hill-climb",
    .summary = "the best configuration with some parameters drawn anew, kept if faster",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(hill_climb_options),
    .state_size = sizeof(hill_climb_state),
    .init = hill_climb_init,
    .ask = clt_steps_ask,
    .tell = clt_steps_tell,
    .report = clt_steps_report,
    .fini = clt_steps_fini,
};
