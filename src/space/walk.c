#include "space/walk.h"

#include "space/parts.h"

/* --- a list: the configurations that begin alike stand side by side --- */

static uint64_t lower_bound(const clt_walk *w, clt_config config) {
  uint64_t low = w->first, high = w->end;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (w->space->configs[middle] < config)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static size_t listed_branches(const clt_walk *w, clt_branch *out) {
  uint64_t weight = w->space->weights[w->level], from = w->first;
  size_t n = 0;
  while (from < w->end) {
    uint32_t position = (uint32_t)((w->space->configs[from] - w->config) / weight);
    uint64_t to = lower_bound(w, w->config + (position + (uint64_t)1) * weight);
    out[n++] = (clt_branch){position, to - from};
    from = to;
  }
  return n;
}

static void take_listed(clt_walk *w, uint32_t position) {
  uint64_t weight = w->space->weights[w->level];
  w->config += position * weight;
  w->first = lower_bound(w, w->config);
  w->end = lower_bound(w, w->config + weight);
  w->level++;
}

static void pass_single_values(clt_walk *w) {
  while (w->level < w->space->n_parameters && w->space->parameters[w->level].n_values == 1) w->level++;
}

/* --- a product of groups --- */

static const clt_diagram *diagram(const clt_walk *w) { return w->space->groups[w->group]; }

static void enter_group(clt_walk *w) {
  w->level = 0;
  if (w->group == w->space->n_groups) return;
  w->node = diagram(w)->root;
  w->end = diagram(w)->valid;
}

static uint64_t combinations_below(const clt_walk *w, size_t edge) {
  const clt_diagram *d = diagram(w);
  uint64_t end = edge + 1 < d->first[w->node + 1] ? d->edges[edge + 1].before : w->end;
  return end - d->edges[edge].before;
}

static size_t group_branches(const clt_walk *w, clt_branch *out) {
  const clt_diagram *d = diagram(w);
  size_t n = 0;
  for (size_t e = d->first[w->node]; e < d->first[w->node + 1]; e++)
    out[n++] = (clt_branch){d->edges[e].position, combinations_below(w, e)};
  return n;
}

static void take_in_group(clt_walk *w, const clt_branch *branch) {
  const clt_diagram *d = diagram(w);
  size_t e = d->first[w->node];
  while (d->edges[e].position != branch->position) e++;
  w->config += branch->position * d->weights[w->level];
  w->node = d->edges[e].child;
  w->end = branch->n;
  if (++w->level < d->n_levels) return;
  w->group++;
  enter_group(w);
}

/* --- both --- */

void clt_walk_start(clt_walk *walk, const clt_space *space) {
  *walk = (clt_walk){.space = space, .end = space->valid};
  if (space->listed)
    pass_single_values(walk);
  else
    enter_group(walk);
}

int clt_walk_parameter(const clt_walk *walk) {
  if (walk->space->listed) return walk->level < walk->space->n_parameters ? (int)walk->level : -1;
  return walk->group < walk->space->n_groups ? (int)diagram(walk)->parameters[walk->level] : -1;
}

size_t clt_walk_branches(const clt_walk *walk, clt_branch *out) {
  return walk->space->listed ? listed_branches(walk, out) : group_branches(walk, out);
}

void clt_walk_take(clt_walk *walk, const clt_branch *branch) {
  if (!walk->space->listed) {
    take_in_group(walk, branch);
    return;
  }
  take_listed(walk, branch->position);
  pass_single_values(walk);
}

size_t clt_walk_most_branches(const clt_space *space) {
  size_t most = 0;
  for (size_t i = 0; i < space->n_parameters; i++)
    if (space->parameters[i].n_values > most) most = space->parameters[i].n_values;
  return most;
}
