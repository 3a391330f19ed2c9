#include "search/search.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define TRIES 64

int clt_vary_init(clt_vary *v, const clt_space *space, clt_rng *rng, clt_error *error) {
  *v = (clt_vary){.space = space, .rng = rng};
  v->branches = clt_new_array(clt_walk_most_branches(space), sizeof *v->branches);
  return v->branches ? CLT_OK : clt_fail_memory(error);
}

void clt_vary_release(clt_vary *v) { free(v->branches); }

static bool with_probability(clt_vary *v, double p) { return clt_rng_unit(v->rng) < p; }

/* What each parameter should be; UINT32_MAX: drawn anew. */
static void plan(clt_vary *v, clt_config a, clt_config b, double rate, uint32_t *wanted) {
  uint32_t other[CLT_MAX_PARAMETERS];
  clt_space_positions(v->space, a, wanted);
  clt_space_positions(v->space, b, other);
  for (size_t i = 0; i < clt_space_n_parameters(v->space); i++) {
    if (a != b && with_probability(v, 0.5)) wanted[i] = other[i];
    if (with_probability(v, rate)) wanted[i] = UINT32_MAX;
  }
}

static clt_config draw_open(clt_vary *v, const uint32_t *wanted) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < clt_space_n_parameters(v->space); i++) {
    uint64_t n_values = clt_space_parameter(v->space, i)->n_values;
    positions[i] = wanted[i] == UINT32_MAX ? (uint32_t)clt_rng_below(v->rng, n_values) : wanted[i];
  }
  return clt_space_from_positions(v->space, positions);
}

static const clt_branch *pick(clt_vary *v, size_t n, uint32_t wanted) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    if (v->branches[i].position == wanted) return &v->branches[i];
    sum += v->branches[i].n;
  }
  uint64_t at = clt_rng_below(v->rng, sum);
  size_t i = 0;
  while (at >= v->branches[i].n) at -= v->branches[i++].n;
  return &v->branches[i];
}

static clt_config walk(clt_vary *v, const uint32_t *wanted) {
  clt_walk w;
  clt_walk_start(&w, v->space);
  for (int p; (p = clt_walk_parameter(&w)) >= 0;) {
    size_t n = clt_walk_branches(&w, v->branches);
    clt_walk_take(&w, pick(v, n, wanted[p]));
  }
  return clt_space_canonical(v->space, w.config);
}

clt_config clt_vary_mix(clt_vary *v, clt_config a, clt_config b, double rate) {
  uint32_t wanted[CLT_MAX_PARAMETERS];
  for (int i = 0; i < TRIES; i++) {
    plan(v, a, b, rate, wanted);
    clt_config config = clt_space_canonical(v->space, draw_open(v, wanted));
    if (config != a && config != b && clt_space_contains(v->space, config)) return config;
  }
  return walk(v, wanted);
}

clt_config clt_vary_one(clt_vary *v, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(v->space, config, positions);
  for (int i = 0; i < TRIES; i++) {
    size_t p = (size_t)clt_rng_below(v->rng, clt_space_n_parameters(v->space));
    uint32_t own = positions[p], n_values = (uint32_t)clt_space_parameter(v->space, p)->n_values;
    positions[p] = (uint32_t)clt_rng_below(v->rng, n_values);
    clt_config other = clt_space_canonical(v->space, clt_space_from_positions(v->space, positions));
    if (other != config && clt_space_contains(v->space, other)) return other;
    positions[p] = own;
  }
  return config;
}
