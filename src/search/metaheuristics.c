/* The textbook's metaheuristics, in steps (search.h): each proposes a configuration and learns its cost. */
#include "base/base.h"
#include "search/search.h"

#define TRIES 100 /* known children before a random configuration is taken */

typedef struct walk_options {
  int64_t starts, cooling, population, tournament;
  double rate, temperature, final_temperature, mutation;
} walk_options;

typedef struct walk_state {
  clt_steps steps; /* first: its ask, tell and report are the searchers' */
  walk_options options;
  clt_best best;               /* so far; of local: of the starts or the neighbours; of annealing: the current one */
  int64_t starts_left, n_open; /* of local and annealing; n_open: starts and neighbours without a result */
  /* local */
  clt_best centre;        /* none: a start is looked for */
  clt_config *neighbours; /* in random order */
  size_t n_neighbours, next, capacity;
  /* annealing */
  int64_t n_learnt; /* in this cooling */
  /* genetic */
  int64_t n_first; /* random ones proposed */
  clt_best *members;
  size_t n_members;
} walk_state;

static int walk_init(walk_state *s, const clt_search_setup *setup, const void *options, const clt_steps_rules *rules,
                     clt_error *error) {
  s->options = *(const walk_options *)options;
  s->best = s->centre = CLT_NO_BEST;
  s->starts_left = s->options.starts;
  return clt_steps_init(&s->steps, setup, rules, error);
}

static void walk_fini(void *state) {
  walk_state *s = state;
  free(s->neighbours);
  clt_steps_fini(state);
}

#define WALK(NAME, SUMMARY, TABLE, INIT)                                                    \
  {                                                                                         \
    CLT_STEPS_SEARCHER(NAME, SUMMARY, walk_state), CLT_OPTIONS(TABLE, walk_options),        \
        .tell = clt_steps_tell, .init = INIT, .report = clt_steps_report, .fini = walk_fini \
  }

/* A new configuration with some of config's parameters drawn again, else a random one. */
static int propose_mutant(clt_steps *steps, clt_config config, double rate, clt_config *out, clt_error *error) {
  for (int i = 0; config != CLT_CONFIG_NONE && i < TRIES; i++) {
    *out = clt_steps_mix(steps, config, config, rate);
    if (clt_steps_is_new(steps, *out)) return CLT_OK;
  }
  return clt_steps_random(steps, out, error);
}

/* --- hill-climb: some parameters of the best configuration get random values; a faster result replaces it
 * (Bergstra, Pinto and Cox, "Machine learning for predictive auto-tuning with boosted regression trees", InPar 2012).
 */

static int hill_climb_propose(void *state, clt_config *out, clt_error *error) {
  walk_state *s = state;
  return propose_mutant(&s->steps, s->best.config, s->options.rate, out, error);
}

static int hill_climb_learn(void *state, clt_config config, double cost, clt_error *error) {
  clt_best_keep(&((walk_state *)state)->best, config, cost);
  return CLT_OK;
}

static int hill_climb_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.phase = "climbing", .propose = hill_climb_propose, .learn = hill_climb_learn};
  return walk_init(state, setup, options, &rules, error);
}

static const clt_option hill_climb_table[] = {
    {"rate", CLT_OPTION_REAL, "0.25", 0, 1, offsetof(walk_options, rate), "probability that a parameter is drawn anew"},
};

const clt_searcher_type clt_searcher_hill_climb =
    WALK("hill-climb", "draws some parameters of the best configuration anew, and keeps the result if it is faster",
         hill_climb_table, hill_climb_init);

/* --- local: measures all neighbours of a configuration and moves to the fastest; if none is faster, the search
 * restarts elsewhere (best improvement; Aarts and Lenstra, "Local search in combinatorial optimization",
 * 1997, chapter 1). */

static int local_propose(void *state, clt_config *out, clt_error *error) {
  walk_state *s = state;
  const clt_space *space = s->steps.space;
  for (;;) {
    bool starting = s->centre.config == CLT_CONFIG_NONE;
    *out = CLT_CONFIG_NONE;
    if (starting && (s->starts_left > 0 || (s->n_open == 0 && s->best.config == CLT_CONFIG_NONE))) {
      if (s->starts_left > 0) s->starts_left--;
      int rc = clt_steps_random(&s->steps, out, error);
      s->n_open += rc == CLT_OK && *out != CLT_CONFIG_NONE;
      return rc;
    }
    while (!starting && s->next < s->n_neighbours) {
      clt_config config = clt_space_canonical(space, s->neighbours[s->next++]);
      if (clt_steps_is_new(&s->steps, config)) {
        s->n_open++;
        *out = config;
        return CLT_OK;
      }
      clt_best_keep(&s->best, config, clt_steps_cost(&s->steps, config));
    }
    if (s->n_open > 0) return CLT_OK;
    if (!starting && !(s->best.cost < s->centre.cost)) {
      s->centre = s->best = CLT_NO_BEST;
      s->starts_left = s->options.starts;
      s->steps.phase = "starting";
      continue;
    }
    s->steps.phase = "descending";
    s->centre = s->best;
    s->next = 0;
    s->n_neighbours = clt_space_neighbours(s->neighbours, s->capacity, space, s->centre.config);
    if (s->n_neighbours > s->capacity) {
      if (clt_grow(&s->neighbours, &s->capacity, s->n_neighbours, sizeof *s->neighbours)) return clt_fail_memory(error);
      clt_space_neighbours(s->neighbours, s->capacity, space, s->centre.config);
    }
    for (size_t i = s->n_neighbours; i > 1; i--) {
      size_t other = (size_t)clt_rng_below(&s->steps.rng, i);
      clt_config swapped = s->neighbours[other];
      s->neighbours[other] = s->neighbours[i - 1];
      s->neighbours[i - 1] = swapped;
    }
  }
}

static int local_learn(void *state, clt_config config, double cost, clt_error *error) {
  walk_state *s = state;
  if (s->n_open > 0)
    s->n_open--;
  else
    s->starts_left--; /* the first evaluations are starts */
  clt_best_keep(&s->best, config, cost);
  return CLT_OK;
}

static int local_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.phase = "starting", .propose = local_propose, .learn = local_learn};
  return walk_init(state, setup, options, &rules, error);
}

static const clt_option local_table[] = {
    {"starts", CLT_OPTION_INT, "10", 1, INT32_MAX, offsetof(walk_options, starts),
     "random configurations per start; the search starts from the fastest"},
};

const clt_searcher_type clt_searcher_local =
    WALK("local", "moves to the fastest neighbour; restarts if none is faster", local_table, local_init);

/* --- annealing: a walk that takes slower configurations with a probability that falls with the temperature
 * (Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220, 1983). Steps are mostly short
 * and sometimes long (Szu and Hartley, "Fast simulated annealing", Physics Letters A 122, 1987): next to
 * failing configurations at least two parameters change at once. */

#define STARTS 10   /* random configurations; it begins with the fastest; the same number as local's */
#define FURTHER 0.5 /* probability with which one more parameter is changed in a step, and again */
#define STEPS 200   /* through the known ones, before each parameter is drawn again with probability KICK */
#define KICK 0.25

/* Metropolis on the logarithm of time, so that the temperature is a ratio of times and has no unit. */
static void consider_move(walk_state *s, clt_config config, double cost) {
  if (!isfinite(cost)) return;
  const walk_options *o = &s->options;
  double rise = s->best.config == CLT_CONFIG_NONE ? 0 : log(cost / s->best.cost);
  double cooled = pow(o->final_temperature / o->temperature, (double)s->n_learnt / (double)o->cooling);
  if (rise > 0 && clt_rng_unit(&s->steps.rng) >= exp(-rise / (o->temperature * cooled))) return;
  s->best = (clt_best){config, cost};
}

/* Steps over known configurations need no evaluation. */
static int annealing_propose(void *state, clt_config *out, clt_error *error) {
  walk_state *s = state;
  if (s->starts_left > 0) {
    int rc = clt_steps_random(&s->steps, out, error);
    s->starts_left--;
    s->n_open += rc == CLT_OK && *out != CLT_CONFIG_NONE;
    return rc;
  }
  for (int i = 0; s->best.config != CLT_CONFIG_NONE && i < STEPS; i++) {
    *out = clt_vary(s->steps.space, s->best.config, &s->steps.rng);
    while (clt_rng_unit(&s->steps.rng) < FURTHER) *out = clt_vary(s->steps.space, *out, &s->steps.rng);
    if (clt_steps_is_new(&s->steps, *out)) return CLT_OK;
    consider_move(s, *out, clt_steps_cost(&s->steps, *out));
  }
  return propose_mutant(&s->steps, s->best.config, KICK, out, error);
}

static int annealing_learn(void *state, clt_config config, double cost, clt_error *error) {
  walk_state *s = state;
  if (s->n_open > 0) {
    s->n_open--;
    clt_best_keep(&s->best, config, cost);
  } else {
    consider_move(s, config, cost);
  }
  if (++s->n_learnt == s->options.cooling) s->n_learnt = 0; /* heated again */
  return CLT_OK;
}

static int annealing_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.phase = "annealing", .propose = annealing_propose, .learn = annealing_learn};
  walk_state *s = state;
  int rc = walk_init(s, setup, options, &rules, error);
  s->starts_left = setup->n_evaluated ? 0 : STARTS;
  if (s->options.cooling == 0) s->options.cooling = setup->budget == INT64_MAX ? 200 : setup->budget;
  if (s->options.cooling == 0) s->options.cooling = 1;
  return rc;
}

static const clt_option annealing_table[] = {
    {"temperature", CLT_OPTION_REAL, "0.2", 1e-6, 1e6, offsetof(walk_options, temperature),
     "initial temperature: the rise in log time that is accepted with probability 1/e"},
    {"final-temperature", CLT_OPTION_REAL, "0.003", 1e-6, 1e6, offsetof(walk_options, final_temperature),
     "temperature at the end of the cooling"},
    {"cooling", CLT_OPTION_INT, "0", 0, INT32_MAX, offsetof(walk_options, cooling),
     "evaluations per cooling, after which it starts again; 0: the budget, or 200 without one"},
};

const clt_searcher_type clt_searcher_annealing =
    WALK("annealing", "a random walk that accepts slower configurations less and less often", annealing_table,
         annealing_init);

/* --- genetic: crossover and mutation in a population, whose slowest member is replaced by a faster child. Steady
 * state, one child at a time (Whitley, "The GENITOR algorithm and selection pressure", ICGA 1989), uniform crossover
 * (Syswerda, "Uniform crossover in genetic algorithms", ICGA 1989). */

static clt_config pick_parent(walk_state *s) {
  const clt_best *best = &s->members[clt_rng_below(&s->steps.rng, s->n_members)];
  for (int64_t i = 1; i < s->options.tournament; i++) {
    const clt_best *m = &s->members[clt_rng_below(&s->steps.rng, s->n_members)];
    if (m->cost < best->cost) best = m;
  }
  return best->config;
}

/* The mutation rate grows with each child that is already known. */
static int genetic_propose(void *state, clt_config *out, clt_error *error) {
  walk_state *s = state;
  bool grown = s->n_first >= s->options.population && s->n_members > 0;
  for (int i = 0; grown && i < TRIES; i++) {
    double rate = s->options.mutation + (1 - s->options.mutation) * i / TRIES;
    clt_config mother = pick_parent(s), father = pick_parent(s);
    *out = clt_steps_mix(&s->steps, mother, father, rate);
    s->steps.phase = "breeding";
    if (clt_steps_is_new(&s->steps, *out)) return CLT_OK;
  }
  s->n_first++;
  return clt_steps_random(&s->steps, out, error);
}

static int genetic_learn(void *state, clt_config config, double cost, clt_error *error) {
  walk_state *s = state;
  if (!isfinite(cost)) return CLT_OK;
  if (s->n_members < (size_t)s->options.population) {
    s->members[s->n_members++] = (clt_best){config, cost};
    return CLT_OK;
  }
  clt_best *slowest = s->members;
  for (size_t i = 1; i < s->n_members; i++)
    if (s->members[i].cost > slowest->cost) slowest = &s->members[i];
  clt_best_keep(slowest, config, cost);
  return CLT_OK;
}

static int genetic_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {
      .phase = "first population", .propose = genetic_propose, .learn = genetic_learn};
  walk_state *s = state;
  int rc = walk_init(s, setup, options, &rules, error);
  s->members = clt_arena_array(&s->steps.memory, (size_t)s->options.population, sizeof *s->members);
  return rc || s->members ? rc : clt_fail_memory(error);
}

static const clt_option genetic_table[] = {
    {"population", CLT_OPTION_INT, "20", 1, 100000, offsetof(walk_options, population),
     "members; the first ones are random"},
    {"tournament", CLT_OPTION_INT, "3", 1, 1000, offsetof(walk_options, tournament),
     "members drawn per parent; the fastest becomes the parent"},
    {"mutation", CLT_OPTION_REAL, "0.1", 0, 1, offsetof(walk_options, mutation),
     "probability that a parameter of a child is drawn anew"},
};

const clt_searcher_type clt_searcher_genetic =
    WALK("genetic", "combines and mutates a population; faster children replace its slowest members", genetic_table,
         genetic_init);
