#include "space/space.h"

#include "space/parts.h"

/* The first place in a list whose configuration is not below one. */
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

/* To the next parameter that has a choice, or the next group. */
static void enter_level(clt_walk *w) {
  const clt_space *space = w->space;
  if (space->listed) {
    while (w->level < space->n_parameters && space->parameters[w->level].n_values == 1) w->level++;
  } else if (w->level == 0 && w->group < space->n_groups) {
    w->node = space->groups[w->group]->root;
    w->end = space->groups[w->group]->valid;
  }
}

void clt_walk_start(clt_walk *walk, const clt_space *space) {
  *walk = (clt_walk){.space = space, .end = space->valid};
  enter_level(walk);
}

int clt_walk_parameter(const clt_walk *w) {
  if (w->space->listed) return w->level < w->space->n_parameters ? (int)w->level : -1;
  return w->group < w->space->n_groups ? (int)w->space->groups[w->group]->parameters[w->level] : -1;
}

size_t clt_walk_branches(const clt_walk *w, clt_branch *out) {
  size_t n = 0;
  if (w->space->listed) { /* the configurations that begin alike stand side by side */
    uint64_t weight = w->space->weights[w->level];
    for (uint64_t from = w->first, to; from < w->end; from = to) {
      uint32_t position = (uint32_t)((w->space->configs[from] - w->config) / weight);
      to = lower_bound(w, w->config + (position + (uint64_t)1) * weight);
      out[n++] = (clt_branch){position, to - from};
    }
    return n;
  }
  const clt_diagram *d = w->space->groups[w->group];
  for (size_t e = d->first[w->node]; e < d->first[w->node + 1]; e++) {
    uint64_t end = e + 1 < d->first[w->node + 1] ? d->edges[e + 1].before : w->end;
    out[n++] = (clt_branch){d->edges[e].position, end - d->edges[e].before};
  }
  return n;
}

void clt_walk_take(clt_walk *w, const clt_branch *branch) {
  if (w->space->listed) {
    uint64_t weight = w->space->weights[w->level++];
    w->config += branch->position * weight;
    w->first = lower_bound(w, w->config);
    w->end = lower_bound(w, w->config + weight);
  } else {
    const clt_diagram *d = w->space->groups[w->group];
    size_t e = d->first[w->node];
    while (d->edges[e].position != branch->position) e++;
    w->config += branch->position * d->weights[w->level];
    w->node = d->edges[e].child;
    w->end = branch->n;
    if (++w->level < d->n_levels) return;
    w->group++;
    w->level = 0;
  }
  enter_level(w);
}

size_t clt_walk_most_branches(const clt_space *space) {
  size_t most = 0;
  for (size_t i = 0; i < space->n_parameters; i++)
    if (space->parameters[i].n_values > most) most = space->parameters[i].n_values;
  return most;
}
