/* The searchers that learn nothing. random: uniformly, without repeats; exhaustive: every valid configuration, in the
 * order of rank. */
#include <stdio.h>

#include "search/search.h"
#include "space/space.h"

#define AHEAD 512 /* configurations enumerated at once: clt_space_enumerate is far cheaper than clt_space_at */

typedef struct listing {
  clt_search_setup setup;
  int64_t left;
  clt_draw draw; /* of random */
  uint64_t rank; /* of exhaustive: the next to be enumerated */
  clt_config ahead[AHEAD];
  size_t n_ahead, n_taken;
} listing;

static int listing_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  (void)options, (void)error;
  listing *s = state;
  s->setup = *setup;
  s->left = clt_search_allowance(setup);
  clt_draw_init(&s->draw, setup->space, setup->seed);
  return CLT_OK;
}

static int random_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  listing *s = state;
  for (*n_out = 0; *n_out < n && s->left > 0;) {
    clt_config config;
    int rc = clt_draw_next(&s->draw, NULL, &config, error);
    if (rc || config == CLT_CONFIG_NONE) return rc;
    if (clt_search_is_evaluated(&s->setup, config)) continue;
    out[(*n_out)++] = config;
    s->left--;
  }
  return CLT_OK;
}

static int exhaustive_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  (void)error;
  listing *s = state;
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

static int listing_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                        clt_error *error) {
  (void)state, (void)config, (void)cost, (void)measurement, (void)error;
  return CLT_OK;
}

static void random_report(const void *state, clt_search_report *out) {
  (void)state;
  snprintf(out->phase, sizeof out->phase, "sampling");
}

static void exhaustive_report(const void *state, clt_search_report *out) {
  (void)state;
  snprintf(out->phase, sizeof out->phase, "all configurations");
}

static void listing_fini(void *state) { clt_draw_release(&((listing *)state)->draw); }

const clt_searcher_type clt_searcher_random = {
    .abi = CLT_SEARCHER_ABI,
    .name = "random",
    .summary = "configurations uniformly at random, none twice",
    .state_size = sizeof(listing),
    .init = listing_init,
    .ask = random_ask,
    .tell = listing_tell,
    .report = random_report,
    .fini = listing_fini,
};

const clt_searcher_type clt_searcher_exhaustive = {
    .abi = CLT_SEARCHER_ABI,
    .name = "exhaustive",
    .summary = "every valid configuration, in order",
    .state_size = sizeof(listing),
    .budget = clt_search_without_end,
    .init = listing_init,
    .ask = exhaustive_ask,
    .tell = listing_tell,
    .report = exhaustive_report,
    .fini = listing_fini,
};
