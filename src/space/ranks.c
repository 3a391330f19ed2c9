/* Valid configurations: membership, ranks, samples, neighbours. A rank is a mixed-radix number of ranks in the groups,
 * the last group fastest. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "space/parts.h"
#include "space/space.h"

/* --- in one diagram --- */

/* The last edge of a node with `before` <= rank. */
static const clt_edge *edge_of_rank(const clt_diagram *d, uint32_t node, uint64_t rank) {
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

static const clt_edge *edge_of_position(const clt_diagram *d, uint32_t node, uint32_t position) {
  size_t low = d->first[node], high = d->first[node + 1];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (d->edges[middle].position < position)
      low = middle + 1;
    else
      high = middle;
  }
  return low < d->first[node + 1] && d->edges[low].position == position ? &d->edges[low] : NULL;
}

/* A combination is the sum of its weighted positions: what it adds to a configuration. rank < valid. */
static clt_config combination_at(const clt_diagram *d, uint64_t rank) {
  clt_config config = 0;
  uint32_t node = d->root;
  for (size_t l = 0; l < d->n_levels; l++) {
    const clt_edge *edge = edge_of_rank(d, node, rank);
    rank -= edge->before;
    config += edge->position * d->weights[l];
    node = edge->child;
  }
  return config;
}

/* positions: by parameter of the space. False if they are not valid. rank may be NULL. */
static bool rank_in_diagram(const clt_diagram *d, const uint32_t *positions, uint64_t *rank) {
  uint64_t sum = 0;
  uint32_t node = d->root;
  if (d->valid == 0) return false;
  for (size_t l = 0; l < d->n_levels; l++) {
    const clt_edge *edge = edge_of_position(d, node, positions[d->parameters[l]]);
    if (edge == NULL) return false;
    sum += edge->before;
    node = edge->child;
  }
  if (rank) *rank = sum;
  return true;
}

/* Writes `base` plus each of the combinations first .. first+n-1, all below valid. n > 0. */
static void walk_diagram(const clt_diagram *d, uint64_t first, size_t n, clt_config base, clt_config *out) {
  const clt_edge *edges[CLT_MAX_PARAMETERS], *ends[CLT_MAX_PARAMETERS]; /* of each level, the edge taken */
  clt_config sums[CLT_MAX_PARAMETERS + 1];                              /* what the levels above add up to */
  size_t last = d->n_levels - 1, l = 0;
  sums[0] = base;
  for (uint64_t rank = first;; rank = 0) {
    for (; l <= last; l++) {
      uint32_t node = l == 0 ? d->root : edges[l - 1]->child;
      edges[l] = rank ? edge_of_rank(d, node, rank) : &d->edges[d->first[node]];
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
    /* The deepest level above the last that has a further edge steps on to it. */
    l = last;
    while (edges[l - 1] + 1 == ends[l - 1]) l--;
    edges[l - 1]++;
    sums[l] = sums[l - 1] + edges[l - 1]->position * d->weights[l - 1];
  }
}

/* --- in the space --- */

bool clt_space_rank(const clt_space *space, clt_config config, uint64_t *rank) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  uint64_t sum = 0, in_group;
  if (config >= space->cartesian || space->valid == 0) return false;
  if (space->listed) {
    size_t place;
    if (!clt_search_u64(space->configs, (size_t)space->valid, config, &place)) return false;
    sum = place;
  } else {
    clt_space_positions(space, config, positions);
    for (size_t g = 0; g < space->n_groups; g++) {
      if (!rank_in_diagram(space->groups[g], positions, &in_group)) return false;
      sum = sum * space->groups[g]->valid + in_group;
    }
  }
  if (rank) *rank = sum;
  return true;
}

bool clt_space_contains(const clt_space *space, clt_config config) { return clt_space_rank(space, config, NULL); }

clt_config clt_space_at(const clt_space *space, uint64_t rank) {
  clt_config config = 0;
  if (space->listed) return space->configs[rank];
  for (size_t g = space->n_groups; g-- > 0;) {
    const clt_diagram *d = space->groups[g];
    config += combination_at(d, rank % d->valid);
    rank /= d->valid;
  }
  return config;
}

uint64_t clt_space_group_valid(const clt_space *space, size_t group) { return space->groups[group]->valid; }

clt_config clt_space_group_at(const clt_space *space, size_t group, uint64_t rank) {
  return combination_at(space->groups[group], rank);
}

int clt_space_group_of(const clt_space *space, size_t parameter) {
  if (space->n_groups == 0 || space->group_of[parameter] == CLT_NO_GROUP) return -1;
  return (int)space->group_of[parameter];
}

/* --- many at once --- */

size_t clt_space_enumerate(const clt_space *space, uint64_t first, size_t n, clt_config *out) {
  if (first >= space->valid || n == 0) return 0;
  if (n > space->valid - first) n = (size_t)(space->valid - first);
  if (space->listed) {
    for (size_t i = 0; i < n; i++) out[i] = space->configs[first + i];
    return n;
  }
  if (space->n_groups == 0) return out[0] = 0, n; /* each parameter has a single value */
  const clt_diagram *last = space->groups[space->n_groups - 1];
  uint64_t in_last = first % last->valid, rank = first / last->valid;
  /* The groups but the last one are an odometer: their ranks, what each adds to a configuration, the sum. */
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
int64_t clt_space_sample(const clt_space *space, clt_rng *rng, size_t n, clt_config *out, clt_error *error) {
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
    ranks[i] = newest; /* cannot have been drawn before: it was out of reach */
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

size_t clt_space_neighbours(const clt_space *space, clt_config config, clt_config *out, size_t capacity) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  size_t n = 0, n_broken = 0, broken = 0; /* groups in which config itself is not valid, and one of them */
  if (config >= space->cartesian || space->valid == 0) return 0;
  clt_space_positions(space, config, positions);
  for (size_t g = 0; !space->listed && g < space->n_groups; g++) {
    if (rank_in_diagram(space->groups[g], positions, NULL)) continue;
    n_broken++;
    broken = g;
  }
  /* Lower positions of the slowest parameter give the least configurations, higher ones the greatest. */
  for (size_t i = 0; i < 2 * space->n_parameters; i++) {
    bool above = i >= space->n_parameters;
    size_t p = above ? 2 * space->n_parameters - 1 - i : i, g = space->group_of[p];
    uint32_t own = positions[p], end = above ? (uint32_t)space->parameters[p].n_values : own;
    /* Only the group of the changed parameter has to be looked at: it has to repair what is broken. */
    if (!space->listed && (n_broken > 1 || (n_broken == 1 && broken != g))) continue;
    for (positions[p] = above ? own + 1 : 0; positions[p] < end; positions[p]++) {
      clt_config neighbour = config + (positions[p] - (uint64_t)own) * space->weights[p];
      if (space->listed ? !clt_space_contains(space, neighbour) : !rank_in_diagram(space->groups[g], positions, NULL))
        continue;
      if (n < capacity) out[n] = neighbour;
      n++;
    }
    positions[p] = own;
  }
  return n;
}
