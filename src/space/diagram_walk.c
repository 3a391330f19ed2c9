#include "space/diagram.h"

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

clt_config clt_diagram_at(const clt_diagram *d, uint64_t rank) {
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

bool clt_diagram_rank(const clt_diagram *d, const uint32_t *positions, uint64_t *rank) {
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

/* --- walking: an edge on each level, and what the levels above add up to --- */

typedef struct walker {
  const clt_diagram *d;
  const clt_edge *edges[CLT_MAX_PARAMETERS], *ends[CLT_MAX_PARAMETERS];
  clt_config sums[CLT_MAX_PARAMETERS + 1];
} walker;

static uint32_t node_below(const walker *w, size_t l) { return l == 0 ? w->d->root : w->edges[l - 1]->child; }

static void set_edge(walker *w, size_t l, const clt_edge *edge) {
  w->edges[l] = edge;
  w->sums[l + 1] = w->sums[l] + edge->position * w->d->weights[l];
}

static void descend(walker *w, size_t from, uint64_t rank) {
  for (size_t l = from; l < w->d->n_levels; l++) {
    uint32_t node = node_below(w, l);
    const clt_edge *edge = edge_of_rank(w->d, node, rank);
    w->ends[l] = w->d->edges + w->d->first[node + 1];
    rank -= edge->before;
    set_edge(w, l, edge);
  }
}

/* The deepest level above the last that has a further edge steps on to it. */
static void advance(walker *w) {
  size_t l = w->d->n_levels - 1;
  while (l-- > 0) {
    if (w->edges[l] + 1 == w->ends[l]) continue;
    set_edge(w, l, w->edges[l] + 1);
    descend(w, l + 1, 0);
    return;
  }
}

void clt_diagram_walk(const clt_diagram *d, uint64_t first, size_t n, clt_config base, clt_config *out) {
  walker w = {.d = d, .sums = {base}};
  size_t last = d->n_levels - 1;
  uint64_t weight = d->weights[last];
  if (n == 0) return;
  descend(&w, 0, first);
  for (;;) {
    const clt_edge *edge = w.edges[last];
    size_t run = (size_t)(w.ends[last] - edge);
    if (run > n) run = n;
    for (size_t i = 0; i < run; i++) *out++ = w.sums[last] + edge[i].position * weight;
    n -= run;
    if (n == 0) return;
    advance(&w);
  }
}
