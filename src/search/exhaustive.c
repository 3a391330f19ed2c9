/* exhaustive: every valid configuration, in the order of rank. */
#include <stdio.h>

#include "search/search.h"

#define AHEAD 512 /* configurations enumerated at once: clt_space_enumerate is far cheaper than clt_space_at */

typedef struct exhaustive_state {
  clt_search_setup setup;
  int64_t left;
  uint64_t rank; /* the next to be enumerated */
  clt_config ahead[AHEAD];
  size_t n_ahead, n_taken;
} exhaustive_state;

static int exhaustive_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  (void)options, (void)error;
  exhaustive_state *s = state;
  s->setup = *setup;
  s->left = clt_search_allowance(setup);
  return CLT_OK;
}

static int exhaustive_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  (void)error;
  exhaustive_state *s = state;
  for (*n_out = 0; *n_out < n && s->left > 0;) {
    if (s->n_taken == s->n_ahead) {
      s->n_taken = 0;
      s->n_ahead = clt_space_enumerate(s->setup.space, s->rank, AHEAD, s->ahead);
      s->rank += s->n_ahead;
      if (s->n_ahead == 0) break;
    }
    clt_config config = s->ahead[s->n_taken++];
    if (clt_space_canonical(s->setup.space, config) != config || clt_search_is_evaluated(&s->setup, config)) continue;
    out[(*n_out)++] = config;
    s->left--;
  }
  return CLT_OK;
}

static int exhaustive_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                           clt_error *error) {
  (void)state, (void)config, (void)cost, (void)measurement, (void)error;
  return CLT_OK;
}

static void exhaustive_report(const void *state, clt_search_report *out) {
  (void)state;
  snprintf(out->phase, sizeof out->phase, "all configurations");
}

static void exhaustive_fini(void *state) { (void)state; }

/* As many as there are, whatever their number. */
static int64_t exhaustive_budget(const void *options) {
  (void)options;
  return INT64_MAX;
}

const clt_searcher_type clt_searcher_exhaustive = {
    .abi = CLT_SEARCHER_ABI,
    .name = "exhaustive",
    .summary = "every valid configuration, in order",
    .state_size = sizeof(exhaustive_state),
    .budget = exhaustive_budget,
    .init = exhaustive_init,
    .ask = exhaustive_ask,
    .tell = exhaustive_tell,
    .report = exhaustive_report,
    .fini = exhaustive_fini,
};
