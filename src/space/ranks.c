/* Valid configurations: membership, ranks, samples, neighbours, walks and canonical configurations. A rank is a
 * mixed-radix number of the ranks in the groups, the last group fastest. */
#include "base/base.h"
#include "base/hash.h"
#include "space/parts.h"
#include "space/space.h"

#define MOST_LOOKED_AT ((uint64_t)1 << 22) /* combinations; enumerating them takes less than a second */

/* --- in one diagram --- */

/* In these functions, `taken` has the positions of the levels above if all parameters differ. */

static size_t n_edges_of(const clt_diagram *d, uint32_t node) {
  return d->n_distinct ? d->n_distinct - node : d->first[node + 1] - d->first[node];
}

/* i < n_edges_of. If there are too many combinations, all edges count the same. */
static clt_edge edge_at(const clt_diagram *d, uint32_t node, const clt_mask *taken, size_t i) {
  if (d->n_distinct == 0) return d->edges[d->first[node] + i];
  return (clt_edge){clt_mask_free(taken, i), node + 1, d->below ? i * d->below[node] : i};
}

/* The last stored edge of a node with `before` <= rank. */
static const clt_edge *stored_edge_of_rank(const clt_diagram *d, uint32_t node, uint64_t rank) {
  size_t low = d->first[node], high = d->first[node + 1];
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (d->edges[middle].before <= rank)
      low = middle;
    else
      high = middle;
  }
  return &d->edges[low];
}

static clt_edge edge_of_rank(const clt_diagram *d, uint32_t node, const clt_mask *taken, uint64_t rank) {
  if (d->n_distinct) return edge_at(d, node, taken, (size_t)(rank / d->below[node]));
  return *stored_edge_of_rank(d, node, rank);
}

static bool find_edge(clt_edge *out, const clt_diagram *d, uint32_t node, const clt_mask *taken, uint32_t position) {
  if (d->n_distinct) {
    const uint64_t i = position - clt_mask_below(taken, position);
    *out = (clt_edge){position, node + 1, d->below ? i * d->below[node] : i};
    return !clt_mask_has(taken, position);
  }
  size_t low = d->first[node], high = d->first[node + 1];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (d->edges[middle].position < position)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == d->first[node + 1] || d->edges[low].position != position) return false;
  *out = d->edges[low];
  return true;
}

/* What an edge adds to clt_config. */
static clt_config edge_adds(const clt_diagram *d, size_t level, const clt_edge *edge) {
  return d->unit ? edge->before * d->unit : edge->position * d->weights[level];
}

/* The contribution of a combination to clt_config. rank < valid. */
static clt_config combination_at(const clt_diagram *d, uint64_t rank) {
  clt_config config = 0;
  clt_mask taken = {{0}};
  uint32_t node = d->root;
  if (d->unit) return rank * d->unit;
  for (size_t l = 0; l < d->n_levels; l++) {
    const clt_edge edge = edge_of_rank(d, node, &taken, rank);
    rank -= edge.before;
    config += edge_adds(d, l, &edge);
    node = edge.child;
    if (d->n_distinct) clt_mask_add(&taken, edge.position);
  }
  return config;
}

/* positions: by parameter of the space. False: they are not valid. rank is nullable. */
static bool rank_in_diagram(const clt_diagram *d, const uint32_t *positions, uint64_t *rank) {
  uint64_t sum = 0;
  clt_mask taken = {{0}};
  uint32_t node = d->root;
  clt_edge edge;
  if (d->valid == 0) return false;
  for (size_t l = 0; l < d->n_levels; l++) {
    if (!find_edge(&edge, d, node, &taken, positions[d->parameters[l]])) return false;
    sum += edge.before;
    node = edge.child;
    if (d->n_distinct) clt_mask_add(&taken, edge.position);
  }
  if (rank) *rank = sum;
  return true;
}

/* Writes `base` plus each of the combinations first .. first+n-1, all below valid. n > 0. */
static void walk_diagram(const clt_diagram *d, uint64_t first, size_t n, clt_config base, clt_config *out) {
  const clt_edge *edges[CLT_MAX_PARAMETERS],
      *ends[CLT_MAX_PARAMETERS];           /* per level: the edge taken, and the end of its node's edges */
  clt_config sums[CLT_MAX_PARAMETERS + 1]; /* the sum of the levels above */
  size_t last = d->n_levels - 1, l = 0;
  if (d->unit || d->n_distinct) { /* by arithmetic */
    for (size_t i = 0; i < n; i++) out[i] = base + combination_at(d, first + i);
    return;
  }
  sums[0] = base;
  for (uint64_t rank = first;; rank = 0) {
    for (; l <= last; l++) {
      uint32_t node = l == 0 ? d->root : edges[l - 1]->child;
      edges[l] = rank ? stored_edge_of_rank(d, node, rank) : &d->edges[d->first[node]];
      ends[l] = d->edges + d->first[node + 1];
      rank -= edges[l]->before;
      sums[l + 1] = sums[l] + edges[l]->position * d->weights[l];
    }
    const clt_edge *edge = edges[last];
    size_t run = (size_t)(ends[last] - edge);
    if (run > n) run = n;
    for (size_t i = 0; i < run; i++) *out++ = sums[last] + edge[i].position * d->weights[last];
    n -= run;
    if (n == 0) return;
    /* Advance the deepest level above the last that has another edge. */
    l = last;
    while (edges[l - 1] + 1 == ends[l - 1]) l--;
    edges[l - 1]++;
    sums[l] = sums[l - 1] + edges[l - 1]->position * d->weights[l - 1];
  }
}

/* --- in the space --- */

bool clt_space_rank_positions(uint64_t *rank, const clt_space *space, const uint32_t *positions) {
  uint64_t sum = 0, in_group;
  if (space->valid == 0) return false;
  for (size_t g = 0; g < space->n_groups; g++) {
    if (!rank_in_diagram(space->groups[g], positions, &in_group)) return false;
    sum = sum * space->groups[g]->valid + in_group;
  }
  if (rank) *rank = sum;
  return true;
}

void clt_space_unrank(uint32_t *positions, const clt_space *space, uint64_t rank) {
  clt_rng rng;
  clt_rng_init(&rng, rank);
  for (size_t p = 0; p < space->n_parameters; p++) positions[p] = 0;
  for (size_t g = rank < space->valid ? space->n_groups : 0; g-- > 0;) {
    const clt_diagram *d = space->groups[g];
    const bool too_many = d->valid == CLT_TOO_MANY;
    uint64_t left = space->met && !too_many ? clt_rng_below(&rng, d->valid) : rank % d->valid;
    clt_mask taken = {{0}};
    uint32_t node = d->root;
    for (size_t l = 0; l < d->n_levels; l++) {
      const clt_edge edge = too_many ? edge_at(d, node, &taken, clt_rng_below(&rng, n_edges_of(d, node)))
                                     : edge_of_rank(d, node, &taken, left);
      left -= edge.before;
      positions[d->parameters[l]] = edge.position;
      node = edge.child;
      if (d->n_distinct) clt_mask_add(&taken, edge.position);
    }
    rank /= d->valid;
  }
}

bool clt_space_rank(uint64_t *rank, const clt_space *space, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  if (!clt_space_numbers(space, config)) return false;
  if (space->ranked) {
    if (rank) *rank = config;
    return rank == NULL || space->met == NULL;
  }
  clt_space_positions(positions, space, config);
  return clt_space_rank_positions(rank, space, positions);
}

bool clt_space_contains(const clt_space *space, clt_config config) { return clt_space_rank(NULL, space, config); }

clt_config clt_space_at(const clt_space *space, uint64_t rank) {
  clt_config config = 0;
  if (space->met) {
    uint32_t positions[CLT_MAX_PARAMETERS];
    clt_space_unrank(positions, space, rank);
    return clt_met_number(space->met, positions);
  }
  for (size_t g = space->n_groups; g-- > 0;) {
    const clt_diagram *d = space->groups[g];
    config += combination_at(d, rank % d->valid);
    rank /= d->valid;
  }
  return config;
}

/* --- many configurations --- */

size_t clt_space_enumerate(const clt_space *space, uint64_t first, size_t n, clt_config *out) {
  if (first >= space->valid || n == 0) return 0;
  if (n > space->valid - first) n = (size_t)(space->valid - first);
  if (space->n_groups == 0) return out[0] = 0, n; /* each parameter has a single value */
  for (size_t i = 0; space->met && i < n; i++) out[i] = clt_space_at(space, first + i);
  if (space->met) return n;
  const clt_diagram *last = space->groups[space->n_groups - 1];
  uint64_t in_last = first % last->valid, rank = first / last->valid;
  /* An odometer over all groups except the last: their ranks, their contributions to clt_config, and the sum. */
  uint64_t ranks[CLT_MAX_PARAMETERS];
  clt_config parts[CLT_MAX_PARAMETERS], sum = 0;
  for (size_t g = space->n_groups - 1; g-- > 0; rank /= space->groups[g]->valid) {
    ranks[g] = rank % space->groups[g]->valid;
    parts[g] = combination_at(space->groups[g], ranks[g]);
    sum += parts[g];
  }
  for (size_t left = n; left > 0; in_last = 0) {
    size_t run = last->valid - in_last < left ? (size_t)(last->valid - in_last) : left;
    walk_diagram(last, in_last, run, sum, out);
    out += run;
    left -= run;
    for (size_t g = space->n_groups - 1; left > 0 && g-- > 0;) {
      ranks[g] = ranks[g] + 1 == space->groups[g]->valid ? 0 : ranks[g] + 1;
      sum -= parts[g];
      parts[g] = combination_at(space->groups[g], ranks[g]);
      sum += parts[g];
      if (ranks[g] > 0) break;
    }
  }
  return n;
}

/* Without repetition (R. W. Floyd, in J. Bentley, "A sample of brilliance", CACM 1987), then shuffled. */
int64_t clt_space_sample(clt_config *out, const clt_space *space, clt_rng *rng, size_t n, clt_error *error) {
  if (n > space->valid) n = (size_t)space->valid;
  if (n > INT64_MAX) return clt_fail(error, CLT_E_RANGE, "a sample of %zu configurations is too large", n);
  bool all = n == space->valid;
  clt_map drawn = {0};
  uint64_t *ranks = clt_new_array(n, sizeof *ranks);
  int rc = ranks ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    uint64_t newest = space->valid - n + i;
    bool is_new = true;
    ranks[i] = all ? i : clt_rng_below(rng, newest + 1);
    if (!all && clt_map_add(&drawn, ranks[i], &is_new) == NULL) rc = clt_fail_memory(error);
    if (is_new) continue;
    ranks[i] = newest; /* not drawn before, because it was out of range */
    if (clt_map_add(&drawn, newest, NULL) == NULL) rc = clt_fail_memory(error);
  }
  clt_map_release(&drawn);
  for (size_t i = n; rc == CLT_OK && i > 1; i--) {
    size_t other = (size_t)clt_rng_below(rng, i);
    uint64_t swapped = ranks[other];
    ranks[other] = ranks[i - 1];
    ranks[i - 1] = swapped;
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++) out[i] = clt_space_at(space, ranks[i]);
  free(ranks);
  return rc ? rc : (int64_t)n;
}

size_t clt_space_neighbours(clt_config *out, size_t capacity, const clt_space *space, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS], moved[CLT_MAX_PARAMETERS];
  size_t n = 0, n_broken = 0, broken = 0; /* number of groups in which config itself is invalid, and one of them */
  if (!clt_space_numbers(space, config) || space->valid == 0) return 0;
  clt_space_positions(positions, space, config);
  for (size_t g = 0; g < space->n_groups; g++) {
    if (rank_in_diagram(space->groups[g], positions, NULL)) continue;
    n_broken++;
    broken = g;
  }
  /* For ascending order: first the lower positions, from the slowest parameter to the fastest; then the higher ones,
   * from the fastest to the slowest. */
  for (size_t i = 0; i < 2 * space->n_parameters; i++) {
    bool above = i >= space->n_parameters;
    size_t p = above ? 2 * space->n_parameters - 1 - i : i, g = space->group_of[p];
    uint32_t own = positions[p], end = above ? (uint32_t)space->parameters[p].n_values : own;
    /* A change affects only the group of its parameter, so it must make the only invalid group valid. */
    if (g == CLT_NO_GROUP || n_broken > 1 || (n_broken == 1 && broken != g)) continue;
    for (positions[p] = above ? own + 1 : 0; positions[p] < end; positions[p]++) {
      if (!rank_in_diagram(space->groups[g], positions, NULL)) continue;
      if (n < capacity) out[n] = clt_space_from_positions(space, positions);
      n++;
    }
    positions[p] = own;
  }
  for (size_t p = 0; p < space->n_parameters && n_broken == 0; p++) {
    for (uint32_t v = 0; space->distinct_of[p] != CLT_NO_GROUP && v < space->parameters[p].n_values; v++) {
      for (int shift = 0; shift < 2; shift++) {
        memcpy(moved, positions, space->n_parameters * sizeof *moved);
        clt_space_move(space, moved, p, v, shift);
        size_t other = 0; /* the parameter that had the position */
        while (other < space->n_parameters &&
               (other == p || space->distinct_of[other] != space->distinct_of[p] || positions[other] != v))
          other++;
        /* Each once: an exchange is listed for the first of the two; a shift by one is an exchange. */
        const uint32_t own = positions[p], by = own > v ? own - v : v - own;
        if (other == space->n_parameters || (shift ? by < 2 : other < p)) continue;
        if (!rank_in_diagram(space->groups[space->group_of[p]], moved, NULL)) continue;
        if (n < capacity) out[n] = clt_space_from_positions(space, moved);
        n++;
      }
    }
  }
  return n;
}

/* --- walks --- */

/* At the beginning of a group. */
static void enter_group(clt_walk *w) {
  const clt_space *space = w->space;
  if (w->group == space->n_groups) return;
  w->level = 0;
  w->taken = (clt_mask){{0}};
  w->node = space->groups[w->group]->root;
  w->end = space->groups[w->group]->valid;
}

void clt_walk_start(clt_walk *walk, const clt_space *space) {
  *walk = (clt_walk){.space = space};
  enter_group(walk);
}

int clt_walk_parameter(const clt_walk *w) {
  return w->group < w->space->n_groups ? (int)w->space->groups[w->group]->parameters[w->level] : -1;
}

size_t clt_walk_branches(const clt_walk *w, clt_branch *out) {
  const clt_diagram *d = w->space->groups[w->group];
  const size_t n = n_edges_of(d, w->node);
  for (size_t i = 0; i < n; i++) {
    const clt_edge edge = edge_at(d, w->node, &w->taken, i);
    if (i) out[i - 1].n = edge.before - out[i - 1].n;
    out[i] = (clt_branch){edge.position, edge.before};
  }
  out[n - 1].n = d->valid == CLT_TOO_MANY ? 1 : w->end - out[n - 1].n;
  return n;
}

void clt_walk_take(clt_walk *w, const clt_branch *branch) {
  const clt_diagram *d = w->space->groups[w->group];
  clt_edge edge = {0};
  find_edge(&edge, d, w->node, &w->taken, branch->position);
  w->config += edge_adds(d, w->level, &edge);
  w->positions[d->parameters[w->level]] = edge.position;
  w->node = edge.child;
  w->end = branch->n;
  if (d->n_distinct) clt_mask_add(&w->taken, edge.position);
  if (++w->level < d->n_levels) return;
  w->group++;
  enter_group(w);
  if (w->space->met && w->group == w->space->n_groups) w->config = clt_met_number(w->space->met, w->positions);
}

size_t clt_walk_most_branches(const clt_space *space) {
  size_t most = 0;
  for (size_t i = 0; i < space->n_parameters; i++)
    if (space->parameters[i].n_values > most) most = space->parameters[i].n_values;
  return most;
}

/* --- canonical configurations --- */

bool clt_space_has_aliases(const clt_space *space) { return space->n_aliases > 0; }

/* Applies the first alias that holds and changes the configuration. */
static clt_config apply_alias(const clt_space *space, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_value values[CLT_MAX_PARAMETERS], when;
  if (!clt_space_numbers(space, config)) return config;
  clt_space_positions(positions, space, config);
  clt_space_values(space, positions, values);
  for (size_t i = 0; i < space->n_aliases; i++) {
    const clt_space_alias *a = &space->aliases[i];
    if (positions[a->parameter] == a->position) continue;
    if (clt_expr_eval(a->when, values, &when, NULL) || !clt_value_truthy(when)) continue;
    positions[a->parameter] = a->position;
    return clt_space_from_positions(space, positions);
  }
  return config;
}

/* If aliases form a cycle, its smallest member is canonical. Cycles are found with a second walk at half the speed. */
clt_config clt_space_canonical(const clt_space *space, clt_config config) {
  if (space->n_aliases == 0) return config;
  clt_config end = config, slow = config;
  for (uint64_t step = 1;; step++) {
    clt_config next = apply_alias(space, end);
    if (next == end) break;
    end = next;
    if (step % 2 == 0) slow = apply_alias(space, slow);
    if (end != slow) continue;
    for (clt_config c = apply_alias(space, slow); c != slow; c = apply_alias(space, c))
      if (c < end) end = c;
    break;
  }
  return end != config && clt_space_contains(space, end) ? end : config;
}

int clt_space_count_aliases(uint64_t *out, const clt_space *space, clt_error *error) {
  uint64_t aliased = 0;
  if (space->n_aliases == 0 || space->valid == 0) {
    *out = 0;
    return CLT_OK;
  }
  if (space->met) return clt_fail(error, CLT_E_RANGE, "cannot count aliases: more than 2^63 configurations are valid");
  /* Only the groups of the parameters that an alias reads or sets decide whether a configuration is canonical. A
   * constraint on a parameter that is set belongs to its group, so one combination of each other group is enough. */
  clt_mask decides = {{0}};
  uint64_t combinations = 1;
  clt_config rest = 0;
  for (size_t i = 0; i < space->n_aliases; i++) {
    const clt_expr *when = space->aliases[i].when;
    for (size_t k = 0; k <= clt_expr_n_slots(when); k++) { /* the last index is for the parameter that is set */
      size_t p = k < clt_expr_n_slots(when) ? clt_expr_slot(when, k) : space->aliases[i].parameter;
      if (space->group_of[p] != CLT_NO_GROUP) clt_mask_add(&decides, space->group_of[p]);
    }
  }
  for (size_t g = 0; g < space->n_groups; g++) {
    if (!clt_mask_has(&decides, g))
      rest += combination_at(space->groups[g], 0);
    else if (__builtin_mul_overflow(combinations, space->groups[g]->valid, &combinations))
      combinations = UINT64_MAX;
  }
  if (combinations > MOST_LOOKED_AT)
    return clt_fail(error, CLT_E_RANGE, "cannot count aliases: they depend on more than %llu combinations of values",
                    (unsigned long long)MOST_LOOKED_AT);
  for (uint64_t i = 0; i < combinations; i++) {
    clt_config config = rest;
    uint64_t left = i;
    for (size_t g = 0; g < space->n_groups; g++) {
      if (!clt_mask_has(&decides, g)) continue;
      config += combination_at(space->groups[g], left % space->groups[g]->valid);
      left /= space->groups[g]->valid;
    }
    aliased += clt_space_canonical(space, config) != config;
  }
  *out = aliased * (space->valid / combinations);
  return CLT_OK;
}
