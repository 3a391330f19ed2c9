/* Random configurations without repeats, crossover and mutation, and sequential algorithms with batched proposals. */
#include "base/base.h"
#include "search/search.h"
#include "space/space.h"

#define VARY_TRIES 64 /* before the walk down the tree, which is biased towards values that fit few others */

int64_t clt_search_without_end(const void *options) { return INT64_MAX; }

int clt_search_too_many(clt_error *error) {
  return clt_fail(error, CLT_E_RANGE,
                  "more than 2^63 configurations cannot all be measured; choose another searcher, such as surrogate");
}

/* --- random configurations --- */

void clt_draw_init(clt_draw *draw, const clt_space *space, uint64_t seed) {
  *draw = (clt_draw){.space = space, .n_ranks = clt_space_valid(space)};
  clt_rng_init(&draw->rng, seed);
}

void clt_draw_release(clt_draw *draw) { clt_map_release(&draw->moved); }

/* Each iteration is a step of the shuffle: draws one of the remaining ranks, and moves the first one to its position.
 */
int clt_draw_next(clt_draw *draw, const clt_map *skip, clt_config *out, clt_error *error) {
  while (draw->n_drawn < draw->n_ranks) {
    uint64_t here = draw->n_drawn++, there = here + clt_rng_below(&draw->rng, draw->n_ranks - here);
    const uint64_t *moved = clt_map_find(&draw->moved, here);
    uint64_t first = moved ? *moved : here, rank = first;
    clt_map_remove(&draw->moved, here);
    if (there != here) {
      bool is_new;
      uint64_t *entry = clt_map_add(&draw->moved, there, &is_new);
      if (entry == NULL) return clt_fail_memory(error);
      rank = is_new ? there : *entry;
      *entry = first;
    }
    clt_config config = clt_space_at(draw->space, rank);
    if (clt_space_canonical(draw->space, config) != config || (skip && clt_map_find(skip, config))) continue;
    *out = config;
    return CLT_OK;
  }
  *out = CLT_CONFIG_NONE;
  return CLT_OK;
}

/* --- steps --- */

struct clt_step {
  clt_config config;
  double cost;
  bool told;
};

/* known: the bits of a double. */
static int set_cost(clt_steps *s, clt_config config, double cost, clt_error *error) {
  uint64_t *bits = clt_map_add(&s->known, config, NULL);
  if (bits == NULL) return clt_fail_memory(error);
  memcpy(bits, &cost, sizeof cost);
  return CLT_OK;
}

int clt_steps_init(clt_steps *s, const clt_search_setup *setup, const clt_steps_rules *rules, clt_error *error) {
  clt_rng rng;
  clt_rng_init(&rng, setup->seed);
  *s = (clt_steps){.space = setup->space, .rules = rules, .window = 1, .phase = rules->phase};
  clt_rng_init(&s->rng, clt_rng_next(&rng));
  s->left = setup->budget;
  if (s->left != INT64_MAX) s->left = (int64_t)setup->n_evaluated < s->left ? s->left - (int64_t)setup->n_evaluated : 0;
  clt_draw_init(&s->draw, setup->space, setup->seed);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < setup->n_evaluated; i++) rc = set_cost(s, setup->evaluated[i], NAN, error);
  s->branches = clt_arena_array(&s->memory, clt_walk_most_branches(setup->space), sizeof *s->branches);
  return rc || s->branches ? rc : clt_fail_memory(error);
}

void clt_steps_report(const void *state, clt_search_report *out) {
  snprintf(out->phase, sizeof out->phase, "%s", ((const clt_steps *)state)->phase);
}

void clt_steps_fini(void *state) {
  clt_steps *s = state;
  clt_arena_release(&s->memory);
  clt_map_release(&s->known);
  clt_draw_release(&s->draw);
  free(s->steps);
}

double clt_steps_cost(const clt_steps *s, clt_config config) {
  const uint64_t *bits = clt_map_find(&s->known, config);
  double cost = NAN;
  if (bits) memcpy(&cost, bits, sizeof cost);
  return cost;
}

bool clt_steps_is_new(const clt_steps *s, clt_config config) {
  return clt_space_contains(s->space, config) && clt_space_canonical(s->space, config) == config &&
         clt_map_find(&s->known, config) == NULL;
}

int clt_steps_random(void *state, clt_config *out, clt_error *error) {
  clt_steps *s = state;
  return clt_draw_next(&s->draw, &s->known, out, error);
}

int clt_steps_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  clt_steps *s = state;
  *n_out = 0;
  if (s->rules->most_in_block == 0 && n > s->window) s->window = n;
  if (s->rules->most_in_block && s->n_asked == 0 && n > 0) s->window = clt_min(n, s->rules->most_in_block);
  while (*n_out < n && s->left > 0) {
    size_t due = s->n_asked + 1 > s->window ? s->n_asked + 1 - s->window : 0; /* results before the next proposal */
    if (s->rules->most_in_block) due = s->n_asked - s->n_asked % s->window;
    clt_config config = CLT_CONFIG_NONE;
    int rc = CLT_OK;
    while (rc == CLT_OK) {
      bool learns = s->rules->learn != NULL, told = s->n_learnt < s->n_asked && s->steps[s->n_learnt].told;
      if (learns ? s->n_learnt >= due : !told) rc = s->rules->propose(s, &config, error);
      if (rc || config != CLT_CONFIG_NONE || !told) break;
      const struct clt_step *step = &s->steps[s->n_learnt++];
      rc = set_cost(s, step->config, step->cost, error);
      if (rc == CLT_OK && learns) rc = s->rules->learn(s, step->config, step->cost, error);
    }
    if (rc) return rc;
    if (config == CLT_CONFIG_NONE) {
      if (s->n_learnt < s->n_asked || s->left == 0) return CLT_OK; /* a result is missing, or it is over */
      rc = clt_steps_random(s, &config, error);
      if (rc) return rc;
      if (config == CLT_CONFIG_NONE) {
        s->left = 0;
        return CLT_OK;
      }
    }
    if (clt_grow(&s->steps, &s->capacity, s->n_asked + 1, sizeof *s->steps)) return clt_fail_memory(error);
    rc = set_cost(s, config, NAN, error);
    if (rc) return rc;
    s->steps[s->n_asked++] = (struct clt_step){.config = config};
    s->left--;
    out[(*n_out)++] = config;
  }
  return CLT_OK;
}

int clt_steps_tell(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error) {
  clt_steps *s = state;
  if (isnan(cost)) cost = INFINITY;
  for (size_t i = s->n_learnt; i < s->n_asked; i++) {
    if (s->steps[i].config != config) continue;
    s->steps[i].cost = cost;
    s->steps[i].told = true;
    return CLT_OK;
  }
  int rc = set_cost(s, config, cost, error); /* was evaluated before the first step */
  return rc || s->rules->learn == NULL ? rc : s->rules->learn(s, config, cost, error);
}

/* --- configurations made of others --- */

/* Draws a parameter again. Those that must differ from it make way. */
static void move_anywhere(const clt_space *space, uint32_t *positions, size_t p, clt_rng *rng) {
  const uint32_t position = (uint32_t)clt_rng_below(rng, clt_space_parameter(space, p)->n_values);
  const bool shift = clt_space_distinct_of(space, p) != SIZE_MAX && clt_rng_unit(rng) < 0.5;
  clt_space_move(space, positions, p, position, shift);
}

clt_config clt_steps_mix(clt_steps *s, clt_config a, clt_config b, double rate) {
  const size_t n_parameters = clt_space_n_parameters(s->space);
  uint32_t wanted[CLT_MAX_PARAMETERS], other[CLT_MAX_PARAMETERS], positions[CLT_MAX_PARAMETERS];
  for (int i = 0; i < VARY_TRIES; i++) {
    clt_space_positions(wanted, s->space, a);
    clt_space_positions(other, s->space, b);
    for (size_t p = 0; p < n_parameters; p++) { /* UINT32_MAX: drawn again */
      if (a != b && clt_rng_unit(&s->rng) < 0.5) wanted[p] = other[p];
      if (clt_rng_unit(&s->rng) < rate) wanted[p] = UINT32_MAX;
    }
    for (size_t p = 0; p < n_parameters; p++) positions[p] = wanted[p] == UINT32_MAX ? other[p] : wanted[p];
    for (size_t p = 0; p < n_parameters; p++)
      if (wanted[p] == UINT32_MAX) move_anywhere(s->space, positions, p, &s->rng);
    clt_config config = clt_space_canonical(s->space, clt_space_from_positions(s->space, positions));
    if (config != a && config != b && clt_space_contains(s->space, config)) return config;
  }
  clt_walk w;
  clt_walk_start(&w, s->space);
  for (int p; (p = clt_walk_parameter(&w)) >= 0;) {
    size_t n = clt_walk_branches(&w, s->branches), i = 0;
    uint64_t sum = 0;
    while (i < n && s->branches[i].position != wanted[p]) sum += s->branches[i++].n;
    if (i == n) { /* none has the value: one by how many valid configurations it leads to */
      uint64_t at = clt_rng_below(&s->rng, sum);
      for (i = 0; at >= s->branches[i].n; i++) at -= s->branches[i].n;
    }
    clt_walk_take(&w, &s->branches[i]);
  }
  return clt_space_canonical(s->space, w.config);
}

clt_config clt_vary(const clt_space *space, clt_config config, clt_rng *rng) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  for (int i = 0; i < VARY_TRIES; i++) {
    size_t p = (size_t)clt_rng_below(rng, clt_space_n_parameters(space));
    clt_space_positions(positions, space, config);
    move_anywhere(space, positions, p, rng);
    clt_config other = clt_space_canonical(space, clt_space_from_positions(space, positions));
    if (other != config && clt_space_contains(space, other)) return other;
  }
  return config;
}
