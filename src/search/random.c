/* random: uniformly, without repeats. */
#include <stdio.h>

#include "search/search.h"

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

static int random_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                       clt_error *error) {
  (void)state, (void)config, (void)cost, (void)measurement, (void)error;
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
    .tell = random_tell,
    .report = random_report,
    .fini = random_fini,
};
