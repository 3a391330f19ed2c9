/* local: all neighbours of a configuration are measured, the fastest takes its place, and where none is faster the
 * search starts anew elsewhere (best improvement; Aarts and Lenstra, "Local search in combinatorial optimization",
 * 1997, chapter 1). */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/search.h"

typedef struct local_options {
  int64_t starts;
} local_options;

typedef struct local_state {
  clt_steps steps;                       /* first: its ask and tell are the searcher's */
  int64_t n_starts, starts_left, n_open; /* n_open: neighbours or starts that are not learnt */
  clt_config centre, best;               /* CLT_CONFIG_NONE: a start is looked for; nothing correct since then */
  double centre_cost, best_cost;         /* best: of the starts, or of the neighbours */
  clt_config *neighbours;                /* in random order */
  size_t n_neighbours, next, capacity;
} local_state;

static void keep_better(local_state *s, clt_config config, double cost) {
  if (!(cost < s->best_cost)) return; /* NaN, too */
  s->best = config;
  s->best_cost = cost;
}

static void start_anew(local_state *s) {
  s->centre = s->best = CLT_CONFIG_NONE;
  s->centre_cost = s->best_cost = INFINITY;
  s->starts_left = s->n_starts;
  s->steps.phase = "starting";
}

static void shuffle(local_state *s) {
  for (size_t i = s->n_neighbours; i > 1; i--) {
    size_t other = (size_t)clt_rng_below(&s->steps.rng, i);
    clt_config swapped = s->neighbours[other];
    s->neighbours[other] = s->neighbours[i - 1];
    s->neighbours[i - 1] = swapped;
  }
}

/* Those that are known are looked up, aliases are what they stand for. */
static int move_to_best(local_state *s, clt_error *error) {
  const clt_space *space = s->steps.space;
  s->steps.phase = "descending";
  s->centre = s->best;
  s->centre_cost = s->best_cost;
  s->n_neighbours = clt_space_neighbours(space, s->centre, s->neighbours, s->capacity);
  if (s->n_neighbours > s->capacity) {
    if (clt_grow(&s->neighbours, &s->capacity, s->n_neighbours, sizeof *s->neighbours)) return clt_fail_memory(error);
    clt_space_neighbours(space, s->centre, s->neighbours, s->capacity);
  }
  shuffle(s);
  s->next = 0;
  return CLT_OK;
}

/* A neighbour that is new; CLT_CONFIG_NONE: there is none left. */
static clt_config next_neighbour(local_state *s) {
  while (s->next < s->n_neighbours) {
    clt_config config = clt_space_canonical(s->steps.space, s->neighbours[s->next++]);
    if (clt_steps_is_new(&s->steps, config)) return config;
    keep_better(s, config, clt_steps_cost(&s->steps, config));
  }
  return CLT_CONFIG_NONE;
}

static int propose_start(local_state *s, clt_config *out, clt_error *error) {
  if (s->starts_left > 0) s->starts_left--;
  int rc = clt_steps_random(&s->steps, out, error);
  if (rc == CLT_OK && *out != CLT_CONFIG_NONE) s->n_open++;
  return rc;
}

static int descend_propose(void *state, clt_config *out, clt_error *error) {
  local_state *s = state;
  int rc = CLT_OK;
  *out = CLT_CONFIG_NONE;
  while (rc == CLT_OK) {
    if (s->centre == CLT_CONFIG_NONE && (s->starts_left > 0 || (s->n_open == 0 && s->best == CLT_CONFIG_NONE)))
      return propose_start(s, out, error);
    if (s->centre != CLT_CONFIG_NONE && (*out = next_neighbour(s)) != CLT_CONFIG_NONE) return s->n_open++, CLT_OK;
    if (s->n_open > 0) return CLT_OK;
    if (s->centre == CLT_CONFIG_NONE || s->best_cost < s->centre_cost)
      rc = move_to_best(s, error);
    else
      start_anew(s);
  }
  return rc;
}

static int descend_learn(void *state, clt_config config, double cost, clt_error *error) {
  (void)error;
  local_state *s = state;
  if (s->n_open > 0)
    s->n_open--;
  else
    s->starts_left--; /* `first` is a start */
  keep_better(s, config, cost);
  return CLT_OK;
}

static const clt_steps_rules rules = {descend_propose, descend_learn};

static int local_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  local_state *s = state;
  s->n_starts = ((const local_options *)options)->starts;
  int rc = clt_steps_init(&s->steps, setup, &rules, s, error);
  start_anew(s);
  return rc;
}

static void local_fini(void *state) {
  local_state *s = state;
  free(s->neighbours);
  clt_steps_fini(s);
}

static const clt_option options[] = {
    {"starts", CLT_OPTION_INT, "10", 1, INT32_MAX, offsetof(local_options, starts),
     "random configurations of which the fastest is a starting point"},
};

const clt_searcher_type clt_searcher_local = {
    .abi = CLT_SEARCHER_ABI,
    .name = "local",
    .summary = "the fastest of all neighbours, again and again; a new start where none is faster",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(local_options),
    .state_size = sizeof(local_state),
    .init = local_init,
    .ask = clt_steps_ask,
    .tell = clt_steps_tell,
    .report = clt_steps_report,
    .fini = local_fini,
};
