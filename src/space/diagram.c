/* Construction: depth first, with a memory for subtrees by the intermediate values they depend on, and one for nodes by
 * their edges, so that equal subtrees are one even if they come from different values. */
#include "space/diagram.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

#define DEAD UINT32_MAX /* a node without combinations */
#define END 0           /* what the edges of the last level lead to */
#define KEY_BYTES 9     /* of a register */
#define INDEX_BYTES 16  /* of an entry in a table, which is half empty */

/* The subtrees behind a level, by the level's live registers. */
typedef struct subtrees {
  clt_table index;
  unsigned char *keys;
  size_t keys_capacity;
  uint32_t *nodes;
  size_t n, nodes_capacity;
} subtrees;

typedef struct maker {
  clt_program *program;
  clt_diagram *diagram;
  size_t first_capacity, edges_capacity, counts_capacity;
  uint64_t *counts;  /* combinations of a node */
  clt_edge *pending; /* edges of the nodes under construction */
  size_t n_pending, pending_capacity;
  subtrees *memories;
  unsigned char *key; /* scratch: enough for the largest */
  clt_table unique;
  size_t tried, bytes;
  clt_diagram_limits limits;
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_diagram_failure *failure;
} maker;

void clt_diagram_free(clt_diagram *diagram) {
  if (diagram == NULL) return;
  free(diagram->parameters);
  free(diagram->weights);
  free(diagram->edges);
  free(diagram->first);
  free(diagram);
}

size_t clt_diagram_bytes(const clt_diagram *d) { return d->n_edges * sizeof *d->edges + d->n_nodes * sizeof *d->first; }

/* --- nodes --- */

static uint64_t hash_edges(const clt_edge *edges, size_t n) {
  uint64_t hash = n;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ ((uint64_t)edges[i].position << 32 | edges[i].child)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static bool same_edges(const clt_edge *a, const clt_edge *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i].position != b[i].position || a[i].child != b[i].child) return false;
  return true;
}

static int append_node(maker *m, const clt_edge *edges, size_t n, uint32_t *out) {
  clt_diagram *d = m->diagram;
  if (clt_grow(&d->first, &m->first_capacity, d->n_nodes + 2, sizeof *d->first)) return CLT_E_MEMORY;
  if (clt_grow(&d->edges, &m->edges_capacity, d->n_edges + n, sizeof *d->edges)) return CLT_E_MEMORY;
  if (clt_grow(&m->counts, &m->counts_capacity, d->n_nodes + 1, sizeof *m->counts)) return CLT_E_MEMORY;
  uint64_t before = 0;
  for (size_t i = 0; i < n; i++) {
    clt_edge edge = edges[i];
    edge.before = before;
    before += m->counts[edge.child];
    d->edges[d->n_edges++] = edge;
  }
  m->counts[d->n_nodes] = before;
  m->bytes += n * sizeof *d->edges + sizeof *d->first + sizeof *m->counts + INDEX_BYTES;
  *out = (uint32_t)d->n_nodes++;
  d->first[d->n_nodes] = (uint32_t)d->n_edges;
  return CLT_OK;
}

/* The node with these edges, of which there is at least one: an old node, or a new one. */
static int intern(maker *m, const clt_edge *edges, size_t n, uint32_t *out) {
  const clt_diagram *d = m->diagram;
  uint64_t hash = hash_edges(edges, n);
  size_t at;
  if (clt_table_reserve(&m->unique)) return CLT_E_MEMORY;
  for (uint32_t i = clt_table_first(&m->unique, hash, &at); i != CLT_TABLE_NONE;
       i = clt_table_next(&m->unique, hash, &at)) {
    if (d->first[i + 1] - d->first[i] != n || !same_edges(&d->edges[d->first[i]], edges, n)) continue;
    *out = i;
    return CLT_OK;
  }
  clt_table_put(&m->unique, hash, at, (uint32_t)d->n_nodes);
  return append_node(m, edges, n, out);
}

/* --- subtrees --- */

static size_t make_key(maker *m, const clt_level *level) {
  unsigned char *key = m->key;
  for (size_t i = 0; i < level->n_live; i++, key += KEY_BYTES) {
    clt_value v = m->program->registers[level->live[i]];
    memcpy(key, &v.integer, 8);
    key[8] = (unsigned char)v.type;
  }
  return (size_t)(key - m->key);
}

static int expand(maker *m, size_t l, uint32_t *out);

static int remember(maker *m, subtrees *memory, const unsigned char *key, size_t bytes, uint64_t hash, uint32_t node) {
  size_t at;
  if (clt_table_reserve(&memory->index)) return CLT_E_MEMORY;
  if (clt_grow(&memory->keys, &memory->keys_capacity, (memory->n + 1) * bytes, 1)) return CLT_E_MEMORY;
  if (clt_grow(&memory->nodes, &memory->nodes_capacity, memory->n + 1, sizeof *memory->nodes)) return CLT_E_MEMORY;
  for (uint32_t i = clt_table_first(&memory->index, hash, &at); i != CLT_TABLE_NONE;)
    i = clt_table_next(&memory->index, hash, &at);
  memcpy(memory->keys + memory->n * bytes, key, bytes);
  memory->nodes[memory->n] = node;
  m->bytes += bytes + sizeof *memory->nodes + INDEX_BYTES;
  clt_table_put(&memory->index, hash, at, (uint32_t)memory->n++);
  return CLT_OK;
}

static bool recall(const subtrees *memory, const unsigned char *key, size_t bytes, uint64_t hash, uint32_t *out) {
  size_t at;
  if (memory->n == 0) return false;
  for (uint32_t i = clt_table_first(&memory->index, hash, &at); i != CLT_TABLE_NONE;
       i = clt_table_next(&memory->index, hash, &at)) {
    if (memcmp(memory->keys + (size_t)i * bytes, key, bytes) != 0) continue;
    *out = memory->nodes[i];
    return true;
  }
  return false;
}

/* The subtree behind level l as it is set. */
static int child(maker *m, size_t l, uint32_t *out) {
  unsigned char own_key[KEY_BYTES * 64], *key = own_key;
  subtrees *memory = &m->memories[l];
  const clt_level *level = &m->program->levels[l];
  *out = END;
  if (l + 1 == m->program->n_levels) return CLT_OK;
  size_t bytes = make_key(m, level);
  uint64_t hash = clt_hash64(m->key, bytes);
  if (recall(memory, m->key, bytes, hash, out)) return CLT_OK;
  if (bytes > sizeof own_key && (key = malloc(bytes)) == NULL) return CLT_E_MEMORY;
  memcpy(key, m->key, bytes); /* the scratch is used by the deeper levels */
  int rc = expand(m, l + 1, out);
  if (rc == CLT_OK) rc = remember(m, memory, key, bytes, hash, *out);
  if (key != own_key) free(key);
  return rc;
}

static int report(maker *m, size_t l, const clt_step *failed) {
  m->failure->root = (uint32_t)failed->root;
  m->failure->level = l;
  memcpy(m->failure->positions, m->positions, (l + 1) * sizeof *m->positions);
  return CLT_DIAGRAM_FAILED;
}

static int try_position(maker *m, size_t l, uint32_t position) {
  const clt_step *failed;
  uint32_t node;
  m->positions[l] = position;
  if (++m->tried > m->limits.tries || m->bytes > m->limits.bytes) return CLT_DIAGRAM_TOO_LARGE;
  if (!clt_program_run(m->program, l, position, &failed))
    return clt_failed_fatally(m->program->registers[failed->target]) ? report(m, l, failed) : CLT_OK;
  int rc = child(m, l, &node);
  if (rc || node == DEAD) return rc;
  if (clt_grow(&m->pending, &m->pending_capacity, m->n_pending + 1, sizeof *m->pending)) return CLT_E_MEMORY;
  m->pending[m->n_pending++] = (clt_edge){.position = position, .child = node};
  return CLT_OK;
}

/* The node of level l, all levels above being set. */
static int expand(maker *m, size_t l, uint32_t *out) {
  const clt_domain *domain = m->program->levels[l].domain;
  size_t mark = m->n_pending;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < domain->n_positions; i++) rc = try_position(m, l, domain->positions[i]);
  *out = DEAD;
  if (rc == CLT_OK && m->n_pending > mark) rc = intern(m, m->pending + mark, m->n_pending - mark, out);
  m->n_pending = mark;
  return rc;
}

/* --- the whole --- */

static int prepare(maker *m, const uint64_t *weights) {
  const clt_program *program = m->program;
  clt_diagram *d = m->diagram;
  size_t most_live = 0;
  d->n_levels = program->n_levels;
  d->parameters = clt_new_array(d->n_levels, sizeof *d->parameters);
  d->weights = clt_new_array(d->n_levels, sizeof *d->weights);
  m->memories = clt_new_array(d->n_levels, sizeof *m->memories);
  if (d->parameters == NULL || d->weights == NULL || m->memories == NULL) return CLT_E_MEMORY;
  for (size_t l = 0; l < d->n_levels; l++) {
    d->parameters[l] = program->levels[l].domain->parameter;
    d->weights[l] = weights[d->parameters[l]];
    if (program->levels[l].n_live > most_live) most_live = program->levels[l].n_live;
  }
  m->key = clt_new_array(most_live, KEY_BYTES);
  if (m->key == NULL) return CLT_E_MEMORY;
  /* node 0 is the end: no edges, one combination */
  if (clt_grow(&d->first, &m->first_capacity, 2, sizeof *d->first)) return CLT_E_MEMORY;
  if (clt_grow(&m->counts, &m->counts_capacity, 1, sizeof *m->counts)) return CLT_E_MEMORY;
  d->first[0] = d->first[1] = 0;
  d->n_nodes = 1;
  m->counts[END] = 1;
  return CLT_OK;
}

static void release(maker *m) {
  for (size_t l = 0; m->memories && l < m->program->n_levels; l++) {
    clt_table_release(&m->memories[l].index);
    free(m->memories[l].keys);
    free(m->memories[l].nodes);
  }
  free(m->memories);
  free(m->key);
  free(m->counts);
  free(m->pending);
  clt_table_release(&m->unique);
}

/* Gives back what clt_grow has in reserve. */
static void trim(clt_diagram *d) {
  void *edges = realloc(d->edges, (d->n_edges ? d->n_edges : 1) * sizeof *d->edges);
  if (edges) d->edges = edges;
  void *first = realloc(d->first, (d->n_nodes + 1) * sizeof *d->first);
  if (first) d->first = first;
}

int clt_diagram_new(clt_diagram **out, clt_program *program, const uint64_t *weights, clt_diagram_limits limits,
                    clt_diagram_failure *failure) {
  maker m = {.program = program, .limits = limits, .failure = failure};
  m.diagram = clt_new_array(1, sizeof *m.diagram);
  if (m.diagram == NULL) return CLT_E_MEMORY;
  int rc = prepare(&m, weights);
  if (rc == CLT_OK) rc = expand(&m, 0, &m.diagram->root);
  if (rc == CLT_OK) {
    m.diagram->valid = m.diagram->root == DEAD ? 0 : m.counts[m.diagram->root];
    trim(m.diagram);
    *out = m.diagram;
  } else {
    clt_diagram_free(m.diagram);
  }
  release(&m);
  return rc;
}
