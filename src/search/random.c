/* The searchers that learn nothing. random: uniformly, without repeats; exhaustive: every valid configuration, in the
 * order of rank. */
#include <stdio.h>

#include "search/search.h"
#include "space/space.h"

#define AHEAD 512 /* configurations enumerated at once: clt_space_enumerate is far cheaper than clt_space_at */

static int tell_nothing(void *state, clt_config config, double cost, const clt_measurement *measurement,
                        clt_error *error) {
  (void)state, (void)config, (void)cost, (void)measurement, (void)error;
  return CLT_OK;
}

typedef struct random_state {
  clt_draw draw;
  clt_search_setup setup;
  int64_t left;
} random_state;

static int random_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  (void)options, (void)error;
  random_state *s = state;
  clt_draw_init(&s->draw, setup->space, setup->seed);
  s->setup = *setup;
  s->left = clt_search_allowance(setup);
  return CLT_OK;
}

static int random_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  random_state *s = state;
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

static void random_report(const void *state, clt_search_report *out) {
  (void)state;
  snprintf(out->phase, sizeof out->phase, "sampling");
}

static void random_fini(void *state) { clt_draw_release(&((random_state *)state)->draw); }

const clt_searcher_type clt_searcher_random = {
    .abi = CLT_SEARCHER_ABI,
    .name = "random",
    .summary = "configurations uniformly at random, none twice",
    .state_size = sizeof(random_state),
    .init = random_init,
    .ask = random_ask,
    .tell = tell_nothing,
    .report = random_report,
    .fini = random_fini,
};

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
    .tell = tell_nothing,
    .report = exhaustive_report,
    .fini = exhaustive_fini,
};
