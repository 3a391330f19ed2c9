/* The searchers that do not use results. random: uniformly, without repeats; exhaustive: every valid
 * configuration, in the order of rank. */
#include "search/search.h"
#include "space/space.h"

#define AHEAD 512 /* configurations enumerated at once: clt_space_enumerate is far cheaper than clt_space_at */

typedef struct exhaustive_state {
  clt_steps steps; /* first: its ask and tell are the searchers' */
  uint64_t rank;   /* of exhaustive: the next to be enumerated */
  clt_config ahead[AHEAD];
  size_t n_ahead, n_taken;
} exhaustive_state;

static int random_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.phase = "sampling", .propose = clt_steps_random};
  return clt_steps_init(state, setup, &rules, error);
}

static int exhaustive_propose(void *state, clt_config *out, clt_error *error) {
  exhaustive_state *s = state;
  do {
    if (s->n_taken == s->n_ahead) {
      s->n_taken = 0;
      s->n_ahead = clt_space_enumerate(s->steps.space, s->rank, AHEAD, s->ahead);
      s->rank += s->n_ahead;
      if (s->n_ahead == 0) {
        s->steps.left = 0;
        *out = CLT_CONFIG_NONE;
        return CLT_OK;
      }
    }
    *out = s->ahead[s->n_taken++];
  } while (!clt_steps_is_new(&s->steps, *out));
  return CLT_OK;
}

static int exhaustive_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.phase = "all configurations", .propose = exhaustive_propose};
  int rc = clt_steps_init(state, setup, &rules, error);
  return rc == CLT_OK && clt_space_has_too_many(setup->space) ? clt_search_too_many(error) : rc;
}

const clt_searcher_type clt_searcher_random = {
    CLT_STEPS_SEARCHER("random", "uniformly random configurations, none twice", clt_steps),
    .tell = clt_steps_tell,
    .init = random_init,
    .report = clt_steps_report,
    .fini = clt_steps_fini,
};

const clt_searcher_type clt_searcher_exhaustive = {
    CLT_STEPS_SEARCHER("exhaustive", "all valid configurations, in order", exhaustive_state),
    .budget = clt_search_without_end,
    .tell = clt_steps_tell,
    .init = exhaustive_init,
    .report = clt_steps_report,
    .fini = clt_steps_fini,
};
