/* ants: paths over the tree of configurations that follow the pheromones of the best ones (Papenhausen and Mueller,
 * "Coding Ants: Optimization of GPU code using ant colony optimization", Computer Languages, Systems and Structures,
 * 2018). */
#include "search/ants.h"
#include "base/base.h"
#include "model/trees.h"
#include "problem/guidance.h"
#include "space/space.h"

/* The bounds and the initial value of Blum and Dorigo's framework (section 4). */
#define LEAST_TRAIL 0.001
#define MOST_TRAIL 0.999
#define FIRST_TRAIL 0.5

/* The author's desirabilities may be far off, so that they are limited to this range, relative to their mean. */
#define SAMPLE 2000
#define LEAST_DESIRABLE 0.01
#define MOST_DESIRABLE 100

#define TRIES 20   /* paths for each one that is kept, before the trails are cleared */
#define MIN_LEAF 3 /* measurements in a leaf of the regression tree */
#define FAILED 0.7 /* a failed configuration counts as this much worse than the worst in log cost: twice */

int clt_pheromones_init(clt_pheromones *p, const clt_space *space, double alpha, double beta, clt_error *error) {
  size_t n_parameters = clt_space_n_parameters(space), most = clt_walk_most_branches(space), n = 0;
  *p = (clt_pheromones){.space = space, .alpha = alpha, .beta = beta};
  p->first = clt_arena_array(&p->memory, n_parameters + 1, sizeof *p->first);
  if (p->first == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n_parameters; i++) {
    p->first[i] = n;
    n += clt_space_parameter(space, i)->n_values;
  }
  p->first[n_parameters] = n;
  p->trail = clt_arena_array(&p->memory, n, sizeof *p->trail);
  p->desirable = clt_arena_array(&p->memory, n, sizeof *p->desirable);
  p->branches = clt_arena_array(&p->memory, most, sizeof *p->branches);
  p->weights = clt_arena_array(&p->memory, most, sizeof *p->weights);
  p->orders = clt_arena_array(&p->memory, n_parameters, sizeof *p->orders);
  clt_order_trail order;
  for (size_t set = 0; p->orders && (order.n = clt_space_distinct(space, set, order.items)) > 0; set++) {
    if (order.n < clt_space_parameter(space, order.items[0])->n_values) continue;
    order.trail = clt_arena_array(&p->memory, order.n + 1, order.n * sizeof *order.trail);
    p->orders[p->n_orders++] = order;
  }
  if (p->memory.failed) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) p->desirable[i] = 1;
  clt_pheromones_reset(p);
  return CLT_OK;
}

void clt_pheromones_release(clt_pheromones *p) { clt_arena_release(&p->memory); }

void clt_pheromones_reset(clt_pheromones *p) {
  size_t n = p->first[clt_space_n_parameters(p->space)];
  for (size_t i = 0; i < n; i++) p->trail[i] = FIRST_TRAIL;
  for (const clt_order_trail *o = p->orders; o < p->orders + p->n_orders; o++)
    for (size_t i = 0; i < (o->n + 1) * o->n; i++) o->trail[i] = FIRST_TRAIL;
}

/* The index of one of n branches, by their weights. */
static size_t draw_branch(const clt_pheromones *p, size_t n, clt_rng *rng) {
  double sum = 0;
  size_t chosen = 0;
  if (n < 2) return 0;
  for (size_t i = 0; i < n; i++) sum += p->weights[i];
  double left = clt_rng_unit(rng) * sum;
  for (; chosen + 1 < n && !(left < p->weights[chosen]); chosen++) left -= p->weights[chosen];
  return chosen;
}

static void draw_order(clt_pheromones *p, const clt_order_trail *o, uint32_t *positions, clt_rng *rng) {
  clt_mask placed = {{0}};
  size_t last = o->n;
  for (uint32_t position = 0; position < o->n; position++) {
    size_t n = 0;
    for (size_t k = 0; k < o->n; k++) {
      if (clt_mask_has(&placed, k)) continue;
      const size_t at = p->first[o->items[k]] + position;
      p->branches[n].position = (uint32_t)k;
      p->weights[n++] = pow(o->trail[last * o->n + k] * p->trail[at], p->alpha) * pow(p->desirable[at], p->beta);
    }
    last = p->branches[draw_branch(p, n, rng)].position;
    clt_mask_add(&placed, last);
    positions[o->items[last]] = position;
  }
}

clt_config clt_pheromones_path(clt_pheromones *p, clt_rng *rng) {
  uint32_t wanted[CLT_MAX_PARAMETERS];
  clt_walk walk;
  memset(wanted, 0xff, sizeof wanted); /* no position */
  for (size_t i = 0; i < p->n_orders; i++) draw_order(p, &p->orders[i], wanted, rng);
  clt_walk_start(&walk, p->space);
  for (int parameter; (parameter = clt_walk_parameter(&walk)) >= 0;) {
    size_t n = clt_walk_branches(&walk, p->branches), chosen = 0;
    while (chosen < n && p->branches[chosen].position != wanted[parameter]) chosen++;
    for (size_t i = 0; chosen == n && n > 1 && i < n; i++) {
      size_t at = p->first[parameter] + p->branches[i].position;
      p->weights[i] = pow(p->trail[at], p->alpha) * pow(p->desirable[at], p->beta);
    }
    if (chosen == n) chosen = draw_branch(p, n, rng);
    clt_walk_take(&walk, &p->branches[chosen]);
  }
  return walk.config;
}

static void move_trail(double *trail, size_t n, size_t taken, double rho) {
  for (size_t i = 0; i < n; i++)
    trail[i] = fmin(fmax(trail[i] + rho * ((i == taken) - trail[i]), LEAST_TRAIL), MOST_TRAIL);
}

void clt_pheromones_deposit(clt_pheromones *p, clt_config config, double rho) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_walk walk;
  clt_space_positions(positions, p->space, config);
  for (const clt_order_trail *o = p->orders; o < p->orders + p->n_orders; o++) {
    size_t order[CLT_MAX_PARAMETERS], last = o->n;
    for (size_t k = 0; k < o->n; k++) order[positions[o->items[k]]] = k;
    for (size_t k = 0; k < o->n; last = order[k++]) move_trail(o->trail + last * o->n, o->n, order[k], rho);
  }
  clt_walk_start(&walk, p->space);
  for (int parameter; (parameter = clt_walk_parameter(&walk)) >= 0;) {
    size_t n = clt_walk_branches(&walk, p->branches), i = 0;
    while (p->branches[i].position != positions[parameter]) i++;
    if (n > 1)
      move_trail(p->trail + p->first[parameter], p->first[parameter + 1] - p->first[parameter], positions[parameter],
                 rho);
    clt_walk_take(&walk, &p->branches[i]);
  }
}

int clt_pheromones_guess(clt_pheromones *p, const clt_instance *instance, uint64_t seed, clt_error *error) {
  clt_rng rng;
  if (instance == NULL || !clt_instance_has_desirability(instance)) return CLT_OK;
  size_t n_values = p->first[clt_space_n_parameters(p->space)];
  clt_arena scratch = {0};
  clt_config *configs = clt_arena_array(&scratch, SAMPLE, sizeof *configs);
  double *sums = clt_arena_array(&scratch, n_values, sizeof *sums);
  double *counts = clt_arena_array(&scratch, n_values, sizeof *counts), sum = 0;
  clt_rng_init(&rng, seed);
  int64_t n = clt_arena_check(&scratch, error);
  if (n == CLT_OK) n = clt_space_sample(configs, p->space, &rng, SAMPLE, error);
  for (int64_t i = 0; i < n; i++) {
    uint32_t positions[CLT_MAX_PARAMETERS];
    double guess = clt_instance_desirability(instance, configs[i]);
    if (!(guess > 0 && isfinite(guess))) guess = 0;
    sum += guess;
    clt_space_positions(positions, p->space, configs[i]);
    for (size_t k = 0; k < clt_space_n_parameters(p->space); k++) {
      sums[p->first[k] + positions[k]] += guess;
      counts[p->first[k] + positions[k]]++;
    }
  }
  for (size_t v = 0; n > 0 && sum > 0 && v < n_values; v++)
    if (counts[v] > 0)
      p->desirable[v] = fmin(fmax(sums[v] / counts[v] / (sum / (double)n), LEAST_DESIRABLE), MOST_DESIRABLE);
  clt_arena_release(&scratch);
  return n < 0 ? (int)n : CLT_OK;
}

/* --- the searcher --- */

typedef struct ants_options {
  int64_t ants, iterations;
  double alpha, beta, rho, filter;
} ants_options;

/* log_cost: measured (INFINITY: failed), or predicted by the tree. */
typedef struct path {
  clt_config config;
  double log_cost;
} path;

typedef struct ants_state {
  clt_steps steps; /* first: its ask and tell are the searcher's */
  ants_options options;
  clt_pheromones pheromones;
  path *paths; /* of this iteration: n_paths, the next one to be proposed */
  size_t max_paths, n_paths, next;
  int64_t n_home; /* results learnt in this iteration */
  clt_best iteration, overall;
  path *learnt;
  size_t n_learnt, capacity;
} ants_state;

static int ants_learn(void *state, clt_config config, double cost, clt_error *error) {
  ants_state *s = state;
  if (clt_grow(&s->learnt, &s->capacity, s->n_learnt + 1, sizeof *s->learnt)) return clt_fail_memory(error);
  s->learnt[s->n_learnt++] = (path){config, log(cost)};
  clt_best_keep(&s->iteration, config, cost);
  clt_best_keep(&s->overall, config, cost);
  if (++s->n_home < s->options.ants) return CLT_OK;
  const clt_config good[] = {s->iteration.config, s->overall.config};
  for (int i = 0; i < 2; i++)
    if (good[i] != CLT_CONFIG_NONE) clt_pheromones_deposit(&s->pheromones, good[i], s->options.rho / 2);
  s->iteration = CLT_NO_BEST;
  s->n_home = 0;
  return CLT_OK;
}

static int by_prediction(const void *a, const void *b) {
  const path *x = a, *y = b;
  if (x->log_cost != y->log_cost) return x->log_cost < y->log_cost ? -1 : 1;
  return (x->config > y->config) - (x->config < y->config);
}

/* The inputs of the tree: the positions of a configuration's values in their lists. */
static void encode_positions(const clt_space *space, clt_config config, float *out) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, space, config);
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) out[p] = (float)positions[p];
}

/* Sorts the paths by the predictions of a regression tree fitted to the measured costs. */
static int filter_paths(ants_state *s, clt_error *error) {
  const clt_space *space = s->steps.space;
  size_t n_inputs = clt_space_n_parameters(space);
  double worst = -INFINITY;
  clt_growth tree = {s->n_learnt / MIN_LEAF + 1, s->n_learnt, MIN_LEAF, .prior = NAN, .rate = 1};
  float *x = clt_arena_array(&tree.memory, s->n_learnt, n_inputs * sizeof *x);
  float *y = clt_arena_array(&tree.memory, s->n_learnt, sizeof *y);
  int rc = clt_arena_check(&tree.memory, error);
  for (size_t i = 0; i < s->n_learnt; i++)
    if (isfinite(s->learnt[i].log_cost)) worst = fmax(worst, s->learnt[i].log_cost);
  for (size_t i = 0; rc == CLT_OK && i < s->n_learnt; i++) {
    encode_positions(space, s->learnt[i].config, x + i * n_inputs);
    y[i] = (float)(isfinite(s->learnt[i].log_cost) ? s->learnt[i].log_cost : worst + FAILED);
  }
  if (rc == CLT_OK) rc = clt_growth_init(&tree, x, n_inputs, y, NULL, s->n_learnt, error);
  if (rc == CLT_OK) clt_growth_tree(&tree);
  for (size_t i = 0; rc == CLT_OK && i < s->n_paths; i++) {
    float at[CLT_MAX_PARAMETERS];
    encode_positions(space, s->paths[i].config, at);
    s->paths[i].log_cost = (double)clt_growth_predict(&tree, at);
  }
  if (rc == CLT_OK) qsort(s->paths, s->n_paths, sizeof *s->paths, by_prediction);
  clt_arena_release(&tree.memory);
  return rc;
}

/* Each iteration generates more new paths than are measured; the tree selects among them. */
static int ants_propose(void *state, clt_config *out, clt_error *error) {
  ants_state *s = state;
  size_t n_ants = (size_t)s->options.ants;
  if (clt_space_valid(s->steps.space) == 0) {
    *out = CLT_CONFIG_NONE;
    return CLT_OK;
  }
  if (s->next == s->n_paths) {
    s->n_paths = s->next = 0;
    for (size_t i = 0; i < TRIES * s->max_paths && s->n_paths < s->max_paths; i++) {
      clt_config config = clt_space_canonical(s->steps.space, clt_pheromones_path(&s->pheromones, &s->steps.rng));
      bool is_new = clt_steps_is_new(&s->steps, config);
      for (size_t k = 0; is_new && k < s->n_paths; k++) is_new = s->paths[k].config != config;
      if (is_new) s->paths[s->n_paths++].config = config;
    }
    if (s->n_paths < s->max_paths) clt_pheromones_reset(&s->pheromones);
    int rc = s->overall.config != CLT_CONFIG_NONE && s->n_paths > n_ants ? filter_paths(s, error) : CLT_OK;
    if (rc) return rc;
    if (s->n_paths > n_ants) s->n_paths = n_ants;
  }
  if (s->n_paths == 0) return clt_steps_random(&s->steps, out, error);
  *out = s->paths[s->next++].config;
  return CLT_OK;
}

static int ants_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  ants_state *s = state;
  static const clt_steps_rules rules = {.propose = ants_propose, .learn = ants_learn};
  const ants_options *o = options;
  s->options = *o;
  s->iteration = s->overall = CLT_NO_BEST;
  s->max_paths = (size_t)ceil((double)o->ants / (1 - o->filter));
  int rc = clt_steps_init(&s->steps, setup, &rules, error);
  s->paths = clt_arena_array(&s->steps.memory, s->max_paths, sizeof *s->paths);
  if (rc == CLT_OK) rc = clt_arena_check(&s->steps.memory, error);
  if (rc == CLT_OK) rc = clt_pheromones_init(&s->pheromones, setup->space, o->alpha, o->beta, error);
  if (rc == CLT_OK) rc = clt_pheromones_guess(&s->pheromones, setup->instance, setup->seed, error);
  return rc;
}

static int64_t ants_budget(const void *options) {
  const ants_options *o = options;
  return o->ants * o->iterations;
}

static void ants_report(const void *state, clt_search_report *out) {
  const ants_state *s = state;
  snprintf(out->phase, sizeof out->phase, "iteration %zu", s->n_learnt / (size_t)s->options.ants + 1);
}

static void ants_fini(void *state) {
  ants_state *s = state;
  clt_pheromones_release(&s->pheromones);
  clt_steps_fini(s);
  free(s->learnt);
}

static const clt_option options[] = {
    {"ants", CLT_OPTION_INT, "10", 1, 10000, offsetof(ants_options, ants), "paths measured per iteration"},
    {"iterations", CLT_OPTION_INT, "5", 1, 1000000, offsetof(ants_options, iterations),
     "iterations if there is no budget"},
    {"alpha", CLT_OPTION_REAL, "1", 0, 10, offsetof(ants_options, alpha), "exponent of the pheromone"},
    {"beta", CLT_OPTION_REAL, "1", 0, 10, offsetof(ants_options, beta), "exponent of the problem file's Desirability"},
    {"rho", CLT_OPTION_REAL, "0.1", 0.001, 1, offsetof(ants_options, rho),
     "fraction by which an iteration changes the pheromones"},
    {"filter", CLT_OPTION_REAL, "0.5", 0, 0.99, offsetof(ants_options, filter),
     "fraction of the paths that a regression tree discards before they are measured"},
};

const clt_searcher_type clt_searcher_ants = {
    CLT_STEPS_SEARCHER("ants", "paths through the parameters, guided by the pheromones of fast configurations",
                       ants_state),
    CLT_OPTIONS(options, ants_options),
    .budget = ants_budget,
    .tell = clt_steps_tell,
    .init = ants_init,
    .report = ants_report,
    .fini = ants_fini,
};
