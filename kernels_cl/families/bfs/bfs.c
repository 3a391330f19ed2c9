/* bfs.c - the family's graphs, reference and features. Edges go both ways; there are no loops and no double edges. A
 * graph follows from kind, size (vertices, about), degree (edges of a vertex, about) and seed alone. */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

enum { R_MAT, ERDOS_RENYI, ROADS, POWER_LAW, STENCIL, N_KINDS };

typedef struct graph {
  int n, n_edges;
  int *first;   /* n + 1 */
  int *targets; /* n_edges; of each vertex in order */
  int *pairs;   /* while it is made: 2 n_pairs ends */
  size_t n_pairs, capacity;
} graph;

static uint64_t next(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static double uniform(uint64_t *state) { return (double)(next(state) >> 11) / 9007199254740992.0; }

static void release(graph *g) {
  free(g->first), free(g->targets), free(g->pairs);
  memset(g, 0, sizeof *g);
}

/* Room for all pairs was made before. */
static void connect(graph *g, int a, int b) {
  if (a == b || g->n_pairs == g->capacity) return;
  g->pairs[2 * g->n_pairs] = a, g->pairs[2 * g->n_pairs + 1] = b;
  g->n_pairs++;
}

static int reserve(graph *g, int n, size_t capacity) {
  g->n = n, g->capacity = capacity;
  g->pairs = malloc((2 * capacity + 1) * sizeof *g->pairs);
  return g->pairs == NULL;
}

/* --- kinds --- */

static int make_r_mat(graph *g, int size, int degree, uint64_t *state) {
  int bits = 1;
  while ((1 << bits) < size) bits++;
  if (reserve(g, 1 << bits, (size_t)(degree / 2.0 * size))) return 1;
  while (g->n_pairs < g->capacity) {
    int a = 0, b = 0;
    for (int i = 0; i < bits; i++) {
      const double at = uniform(state);
      a = 2 * a + (at >= 0.76);
      b = 2 * b + ((at >= 0.57 && at < 0.76) || at >= 0.95);
    }
    connect(g, a, b);
  }
  return 0;
}

static int make_erdos_renyi(graph *g, int size, int degree, uint64_t *state) {
  if (reserve(g, size, (size_t)(degree / 2.0 * size))) return 1;
  while (g->n_pairs < g->capacity) connect(g, (int)(uniform(state) * size), (int)(uniform(state) * size));
  return 0;
}

/* Ends are drawn with a probability that falls with the vertex's place in a shuffled order. */
static int make_power_law(graph *g, int size, int degree, uint64_t *state) {
  int *place = malloc((size_t)size * sizeof *place);
  if (place == NULL || reserve(g, size, (size_t)(degree / 2.0 * size))) return free(place), 1;
  for (int i = 0; i < size; i++) place[i] = i;
  for (int i = size - 1; i > 0; i--) {
    const int j = (int)(uniform(state) * (i + 1)), kept = place[i];
    place[i] = place[j], place[j] = kept;
  }
  while (g->n_pairs < g->capacity) {
    const double a = uniform(state), b = uniform(state);
    connect(g, place[(int)(a * a * a * size)], place[(int)(b * b * size)]);
  }
  free(place);
  return 0;
}

/* A grid whose streets lead across at few places if the degree is low; here and there a block is missing. */
static int make_roads(graph *g, int size, int degree, uint64_t *state) {
  const int width = (int)(sqrt(size) * (0.5 + 1.5 * uniform(state))), height = size / width;
  const double across = fmin(0.95, 0.1 * degree);
  if (reserve(g, width * height, 2 * (size_t)width * height)) return 1;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      if (x + 1 < width && uniform(state) < 0.97) connect(g, y * width + x, y * width + x + 1);
      if (y + 1 < height && uniform(state) < across) connect(g, y * width + x, (y + 1) * width + x);
    }
  return 0;
}

/* A grid of two or three dimensions, with the neighbours along the axes or, of a degree above 6, all around. */
static int make_stencil(graph *g, int size, int degree, uint64_t *state) {
  const double stretch = 0.4 + 1.2 * uniform(state);
  const int flat = degree <= 4, around = degree > 6;
  const int nx = (int)fmax(2, (flat ? sqrt(size) : cbrt(size)) * stretch),
            ny = (int)fmax(2, flat ? size / nx : sqrt(size / nx));
  const int nz = flat ? 1 : (int)fmax(1, size / nx / ny);
  if (reserve(g, nx * ny * nz, 13 * (size_t)nx * ny * nz)) return 1;
  for (int i = 0; i < g->n; i++) {
    const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
    for (int k = 14; k < 27; k++) { /* half of the neighbours */
      const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
      if (!around && abs(dx) + abs(dy) + abs(dz) > 1) continue;
      if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz >= nz) continue;
      connect(g, i, i + dx + nx * (dy + ny * dz));
    }
  }
  return 0;
}

/* --- the graph --- */

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Of pairs: both directions, each once. */
static int make_lists(graph *g) {
  int *at = calloc((size_t)g->n + 1, sizeof *at), n_edges = 0;
  g->first = calloc((size_t)g->n + 1, sizeof *g->first);
  g->targets = malloc((2 * g->n_pairs + 1) * sizeof *g->targets);
  if (at == NULL || g->first == NULL || g->targets == NULL) return free(at), 1;
  for (size_t i = 0; i < 2 * g->n_pairs; i++) at[g->pairs[i] + 1]++;
  for (int v = 0; v < g->n; v++) at[v + 1] += at[v];
  memcpy(g->first, at, ((size_t)g->n + 1) * sizeof *at);
  for (size_t i = 0; i < 2 * g->n_pairs; i++) g->targets[at[g->pairs[i]]++] = g->pairs[i ^ 1];
  for (int v = 0; v < g->n; v++) {
    const int from = g->first[v], to = g->first[v + 1];
    qsort(g->targets + from, (size_t)(to - from), sizeof *g->targets, order);
    g->first[v] = n_edges;
    for (int e = from; e < to; e++)
      if (e == from || g->targets[e] != g->targets[e - 1]) g->targets[n_edges++] = g->targets[e];
  }
  g->first[g->n] = g->n_edges = n_edges;
  free(at);
  return 0;
}

static int make_graph(graph *g, const clt_module_call *call) {
  const int kind = (int)clt_module_value(call, "kind", -1), size = (int)clt_module_value(call, "size", 0);
  const int degree = (int)clt_module_value(call, "degree", 0);
  static int (*const kinds[N_KINDS])(graph *, int, int, uint64_t *) = {make_r_mat, make_erdos_renyi, make_roads,
                                                                       make_power_law, make_stencil};
  uint64_t state =
      (uint64_t)clt_module_value(call, "seed", 0) * 1000003 + (uint64_t)(kind * 101 + degree) * 7919 + (uint64_t)size;
  memset(g, 0, sizeof *g);
  if (kind < 0 || kind >= N_KINDS || size < 16 || degree < 1 || kinds[kind](g, size, degree, &state) || make_lists(g))
    return release(g), 1;
  return 0;
}

/* Where the search begins: the first vertex of the highest degree. */
static int find_root(const graph *g) {
  int root = 0;
  for (int v = 1; v < g->n; v++)
    if (g->first[v + 1] - g->first[v] > g->first[root + 1] - g->first[root]) root = v;
  return root;
}

/* Distances from the root, -1 where there is no way; the largest one is returned, -1 without memory. */
static int find_distances(int *distance, const int *first, const int *targets, int n, int root) {
  int *queue = malloc((size_t)n * sizeof *queue), head = 0, tail = 1;
  if (queue == NULL) return -1;
  for (int v = 0; v < n; v++) distance[v] = -1;
  queue[0] = root, distance[root] = 0;
  while (head < tail) {
    const int v = queue[head++];
    for (int e = first[v]; e < first[v + 1]; e++)
      if (distance[targets[e]] < 0) distance[targets[e]] = distance[v] + 1, queue[tail++] = targets[e];
  }
  const int last = distance[queue[tail - 1]];
  free(queue);
  return last;
}

/* vertices, edges, levels, origin. The levels are those that a host would launch: the last one finds nothing new. */
int count(const clt_module_call *call) {
  graph g;
  double *out = call->target->data;
  if (make_graph(&g, call)) return 1;
  const int root = find_root(&g);
  int *distance = malloc((size_t)g.n * sizeof *distance);
  const int last = distance ? find_distances(distance, g.first, g.targets, g.n, root) : -1;
  out[0] = g.n, out[1] = g.n_edges, out[2] = last + 1, out[3] = root;
  free(distance);
  release(&g);
  return last < 0;
}

static int fill(const clt_module_call *call, int of_targets) {
  graph g;
  if (make_graph(&g, call)) return 1;
  const int is_right =
      g.n == (int)clt_module_value(call, "vertices", 0) && g.n_edges == (int)clt_module_value(call, "edges", 0);
  if (is_right) memcpy(call->target->data, of_targets ? g.targets : g.first, call->target->bytes);
  release(&g);
  return !is_right;
}

int fill_first_edge(const clt_module_call *call) { return fill(call, 0); }
int fill_targets(const clt_module_call *call) { return fill(call, 1); }

/* The reference. */
int search(const clt_module_call *call) {
  const int n = (int)clt_module_value(call, "vertices", 0),
            last = find_distances(clt_module_find(call, "distance")->data, clt_module_find(call, "first_edge")->data,
                                  clt_module_find(call, "targets")->data, n, (int)clt_module_value(call, "origin", 0));
  return last + 1 != (int)clt_module_value(call, "levels", 0);
}

/* --- features --- */

/* Of the number of edges of a vertex: mean, standard deviation, largest. */
int degrees(const clt_module_call *call) {
  const int *first = clt_module_find(call, "first_edge")->data, n = (int)clt_module_value(call, "vertices", 1);
  double *out = call->target->data, squares = 0, largest = 0;
  const double mean = (double)first[n] / n;
  for (int v = 0; v < n; v++) {
    const double degree = first[v + 1] - first[v];
    squares += (degree - mean) * (degree - mean);
    largest = fmax(largest, degree);
  }
  out[0] = mean, out[1] = sqrt(squares / n), out[2] = largest;
  return 0;
}

/* How far edges lead: the mean difference of the ends' numbers, as a share of the vertices. */
int span(const clt_module_call *call) {
  const int *first = clt_module_find(call, "first_edge")->data, *targets = clt_module_find(call, "targets")->data;
  const int n = (int)clt_module_value(call, "vertices", 1);
  double sum = 0;
  for (int v = 0; v < n; v++)
    for (int e = first[v]; e < first[v + 1]; e++) sum += abs(targets[e] - v);
  *(double *)call->target->data = sum / fmax(1, first[n]) / n;
  return 0;
}
