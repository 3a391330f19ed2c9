/* annealing: a walk over neighbours that takes slower ones with a probability that falls with the temperature
 * (Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220, 1983). */
#include <math.h>

#include "search/search.h"

#define STEPS 200 /* through what is known, before more than one parameter is changed */
#define KICK 0.25 /* probability with which each parameter is drawn anew then */
#define KICKS 100 /* before a random configuration is taken */

typedef struct annealing_options {
  double temperature, final_temperature;
  int64_t cooling;
} annealing_options;

typedef struct annealing_state {
  clt_steps steps; /* first: its ask and tell are the searcher's */
  annealing_options options;
  int64_t n_learnt;   /* in this cooling */
  clt_config current; /* CLT_CONFIG_NONE: nothing correct yet */
  double current_cost;
} annealing_state;

static double temperature(const annealing_state *s) {
  const annealing_options *o = &s->options;
  return o->temperature * pow(o->final_temperature / o->temperature, (double)s->n_learnt / (double)o->cooling);
}

/* Metropolis on the logarithm of time, so that the temperature is a ratio of times and has no unit. */
static void consider(annealing_state *s, clt_config config, double cost) {
  if (!isfinite(cost)) return;
  double rise = s->current == CLT_CONFIG_NONE ? 0 : log(cost / s->current_cost);
  if (rise > 0 && clt_rng_unit(&s->steps.rng) >= exp(-rise / temperature(s))) return;
  s->current = config;
  s->current_cost = cost;
}

/* Neighbours that are known are walked over without another evaluation. */
static int anneal_propose(void *state, clt_config *out, clt_error *error) {
  annealing_state *s = state;
  for (int i = 0; s->current != CLT_CONFIG_NONE && i < STEPS; i++) {
    *out = clt_vary_one(&s->steps.vary, s->current);
    if (clt_steps_is_new(&s->steps, *out)) return CLT_OK;
    double known = clt_steps_cost(&s->steps, *out);
    if (!isnan(known)) consider(s, *out, known);
  }
  for (int i = 0; s->current != CLT_CONFIG_NONE && i < KICKS; i++) {
    *out = clt_vary_mix(&s->steps.vary, s->current, s->current, KICK);
    if (clt_steps_is_new(&s->steps, *out)) return CLT_OK;
  }
  return clt_steps_random(&s->steps, out, error);
}

static int anneal_learn(void *state, clt_config config, double cost, clt_error *error) {
  (void)error;
  annealing_state *s = state;
  consider(s, config, cost);
  if (++s->n_learnt == s->options.cooling) s->n_learnt = 0; /* heated again */
  return CLT_OK;
}

static const clt_steps_rules rules = {anneal_propose, anneal_learn};

static int annealing_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  annealing_state *s = state;
  s->options = *(const annealing_options *)options;
  s->current = CLT_CONFIG_NONE;
  if (s->options.cooling == 0) s->options.cooling = setup->budget == INT64_MAX ? 200 : setup->budget;
  if (s->options.cooling == 0) s->options.cooling = 1;
  int rc = clt_steps_init(&s->steps, setup, &rules, s, error);
  s->steps.phase = "annealing";
  return rc;
}

static const clt_option options[] = {
    {"temperature", CLT_OPTION_REAL, "0.2", 1e-6, 1e6, offsetof(annealing_options, temperature),
     "at the beginning: the rise in log time that is taken with probability 1/e"},
    {"final-temperature", CLT_OPTION_REAL, "0.003", 1e-6, 1e6, offsetof(annealing_options, final_temperature),
     "at the end of the cooling"},
    {"cooling", CLT_OPTION_INT, "0", 0, INT32_MAX, offsetof(annealing_options, cooling),
     "evaluations from the first temperature to the final one, after which it is heated again; 0: the budget, or 200"},
};

const clt_searcher_type clt_searcher_annealing = {
    .abi = CLT_SEARCHER_ABI,
    .name = "annealing",
    .summary = "a walk over neighbours that takes slower ones less and less often",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(annealing_options),
    .state_size = sizeof(annealing_state),
    .init = annealing_init,
    .ask = clt_steps_ask,
    .tell = clt_steps_tell,
    .report = clt_steps_report,
    .fini = clt_steps_fini,
};
