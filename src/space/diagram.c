/* Builds decision diagrams. First the operations of a group are sorted into levels: a level sets one parameter and then
 * calculates everything that is known from there on. Values stand in registers, one for each node of the flow; a
 * level's registers stay as they are while deeper levels run. Then the tree of the levels is searched depth first, with
 * a memory for subtrees by the intermediate values they depend on, and one for nodes by their edges, so that equal
 * subtrees are one even if they come from different values. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "space/parts.h"

#define DEAD UINT32_MAX /* a node without combinations */
#define END 0           /* what the edges of the last level lead to */
#define KEY_BYTES 9     /* of a register */
#define INDEX_BYTES 16  /* of an entry in a table, which is half empty */

/* One operation; or, with root >= 0, the check that a register is true. */
typedef struct step {
  uint8_t op, n_operands;
  int32_t root; /* number of the root in the flow */
  uint32_t target;
  uint32_t operands[4];
} step;

/* A table's entry at the position of the level goes into a register. */
typedef struct load {
  uint32_t target;
  const clt_value *table;
} load;

typedef struct level {
  const clt_domain *domain;
  load *loads;
  size_t n_loads, loads_capacity;
  step *steps;
  size_t n_steps, steps_capacity;
  uint32_t *live; /* registers that deeper levels read */
  size_t n_live;
  /* The subtrees behind the level, by its live registers. */
  clt_table index;
  unsigned char *keys;
  uint32_t *nodes;
  size_t n_known, keys_capacity, nodes_capacity;
} level;

typedef struct maker {
  const clt_group *group;
  level *levels;
  size_t n_levels;
  clt_value *registers; /* constants are set */
  clt_diagram *diagram;
  size_t first_capacity, edges_capacity, counts_capacity;
  uint64_t *counts;  /* combinations of a node */
  clt_edge *pending; /* edges of the nodes under construction */
  size_t n_pending, pending_capacity;
  unsigned char *key; /* scratch: enough for the largest */
  clt_table unique;
  size_t tried, bytes;
  clt_diagram_limits limits;
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_diagram_failure *failure;
} maker;

/* --- levels --- */

static int add_step(level *l, step s) {
  if (clt_grow(&l->steps, &l->steps_capacity, l->n_steps + 1, sizeof *l->steps)) return CLT_E_MEMORY;
  l->steps[l->n_steps++] = s;
  return CLT_OK;
}

/* What is known of a node of the flow while the levels are planned. */
typedef struct planned {
  size_t level;     /* the last one of its parameters */
  size_t last_used; /* the deepest level that reads it, plus one */
  bool reached;     /* by the root at hand */
  bool emitted;
} planned;

/* The operations of level k that a root needs; the check as well if it is decided here. */
static int plan_root(maker *m, planned *nodes, size_t k, uint32_t root) {
  const clt_flow *flow = m->group->flow;
  uint32_t top = flow->roots[root].node;
  level *l = &m->levels[k];
  for (uint32_t i = 0; i <= top; i++) nodes[i].reached = i == top;
  for (uint32_t i = top + 1; i-- > 0;) { /* without the insides of tables */
    const clt_flow_node *node = &flow->nodes[i];
    for (unsigned o = 0; nodes[i].reached && node->n_support == 2 && o < clt_op_arity(node->op); o++)
      nodes[node->operands[o]].reached = true;
  }
  for (uint32_t i = 0; i <= top; i++) {
    const clt_flow_node *node = &flow->nodes[i];
    if (!nodes[i].reached || nodes[i].emitted || node->n_support == 0 || nodes[i].level != k) continue;
    nodes[i].emitted = true;
    if (node->n_support == 1) {
      if (clt_grow(&l->loads, &l->loads_capacity, l->n_loads + 1, sizeof *l->loads)) return CLT_E_MEMORY;
      l->loads[l->n_loads++] = (load){.target = i, .table = node->table};
      continue;
    }
    step s = {.op = node->op, .n_operands = (uint8_t)clt_op_arity(node->op), .root = -1, .target = i};
    for (unsigned o = 0; o < s.n_operands; o++) {
      s.operands[o] = node->operands[o];
      if (nodes[node->operands[o]].last_used < k + 1) nodes[node->operands[o]].last_used = k + 1;
    }
    if (add_step(l, s)) return CLT_E_MEMORY;
  }
  return nodes[top].level == k ? add_step(l, (step){.root = (int32_t)root, .target = top}) : CLT_OK;
}

static int plan_levels(maker *m) {
  const clt_group *group = m->group;
  const clt_flow *flow = group->flow;
  planned *nodes = clt_new_array(flow->n_nodes, sizeof *nodes);
  m->n_levels = group->n_domains;
  m->levels = clt_new_array(m->n_levels, sizeof *m->levels);
  m->registers = clt_new_array(flow->n_nodes, sizeof *m->registers);
  int rc = nodes && m->levels && m->registers ? CLT_OK : CLT_E_MEMORY;
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++) m->levels[k].domain = group->domains[k];
  for (size_t i = 0; rc == CLT_OK && i < flow->n_nodes; i++) {
    size_t k = m->n_levels;
    while (k > 1 && !clt_mask_has(&flow->nodes[i].support, m->levels[k - 1].domain->parameter)) k--;
    nodes[i].level = k - 1;
    if (flow->nodes[i].n_support == 0) m->registers[i] = flow->nodes[i].value;
  }
  /* First what decides on a level, so that it prunes early; then what deeper levels want. */
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++)
    for (int deeper = 0; deeper < 2; deeper++)
      for (size_t r = 0; rc == CLT_OK && r < group->n_roots; r++)
        if ((nodes[flow->roots[group->roots[r]].node].level == k) == !deeper)
          rc = plan_root(m, nodes, k, group->roots[r]);
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++) {
    level *l = &m->levels[k];
    size_t capacity = 0;
    for (uint32_t i = 0; rc == CLT_OK && i < flow->n_nodes; i++) {
      if (!nodes[i].emitted || nodes[i].level > k || nodes[i].last_used <= k + 1) continue;
      rc = clt_grow(&l->live, &capacity, l->n_live + 1, sizeof *l->live);
      if (rc == CLT_OK) l->live[l->n_live++] = i;
    }
  }
  free(nodes);
  return rc;
}

/* Sets a level to a position and runs it. The check that failed; its register says how. NULL: none. */
static const step *run_level(const level *l, clt_value *registers, uint32_t position) {
  for (size_t i = 0; i < l->n_loads; i++) registers[l->loads[i].target] = l->loads[i].table[position];
  for (size_t i = 0; i < l->n_steps; i++) {
    const step *s = &l->steps[i];
    clt_value *target = &registers[s->target];
    if (s->root >= 0) {
      bool holds =
          target->type == CLT_BOOL ? target->integer != 0 : target->type != CLT_FAILED && clt_value_truthy(*target);
      if (!holds) return s;
      continue;
    }
    const clt_value *operands[4];
    clt_value quick;
    for (unsigned k = 0; k < s->n_operands; k++) operands[k] = &registers[s->operands[k]];
    if (s->n_operands == 2 && operands[0]->type == CLT_INT && operands[1]->type == CLT_INT &&
        clt_op_quick((clt_op)s->op, operands[0]->integer, operands[1]->integer, &quick))
      *target = quick;
    else
      *target = clt_op_apply((clt_op)s->op, operands, 0);
  }
  return NULL;
}

/* --- nodes --- */

/* The node with these edges, of which there is at least one: an old node, or a new one. */
static int intern_node(maker *m, const clt_edge *edges, size_t n, uint32_t *out) {
  clt_diagram *d = m->diagram;
  uint64_t hash = n, before = 0;
  size_t at;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ ((uint64_t)edges[i].position << 32 | edges[i].child)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  if (clt_table_reserve(&m->unique)) return CLT_E_MEMORY;
  for (uint32_t i = clt_table_first(&m->unique, hash, &at); i != CLT_TABLE_NONE;
       i = clt_table_next(&m->unique, hash, &at)) {
    const clt_edge *known = &d->edges[d->first[i]];
    size_t same = 0;
    if (d->first[i + 1] - d->first[i] != n) continue;
    while (same < n && known[same].position == edges[same].position && known[same].child == edges[same].child) same++;
    if (same == n) return *out = i, CLT_OK;
  }
  clt_table_put(&m->unique, hash, at, (uint32_t)d->n_nodes);
  if (clt_grow(&d->first, &m->first_capacity, d->n_nodes + 2, sizeof *d->first)) return CLT_E_MEMORY;
  if (clt_grow(&d->edges, &m->edges_capacity, d->n_edges + n, sizeof *d->edges)) return CLT_E_MEMORY;
  if (clt_grow(&m->counts, &m->counts_capacity, d->n_nodes + 1, sizeof *m->counts)) return CLT_E_MEMORY;
  for (size_t i = 0; i < n; i++) {
    d->edges[d->n_edges] = edges[i];
    d->edges[d->n_edges++].before = before;
    before += m->counts[edges[i].child];
  }
  m->counts[d->n_nodes] = before;
  m->bytes += n * sizeof *d->edges + sizeof *d->first + sizeof *m->counts + INDEX_BYTES;
  *out = (uint32_t)d->n_nodes++;
  d->first[d->n_nodes] = (uint32_t)d->n_edges;
  return CLT_OK;
}

/* --- subtrees --- */

static int expand_level(maker *m, size_t k, uint32_t *out);

/* The number of the subtree with a key; CLT_TABLE_NONE: not known. Leaves `at` where it would be put. */
static uint32_t find_subtree(const level *l, const unsigned char *key, size_t bytes, uint64_t hash, size_t *at) {
  uint32_t i = clt_table_first(&l->index, hash, at);
  while (i != CLT_TABLE_NONE && memcmp(l->keys + (size_t)i * bytes, key, bytes) != 0)
    i = clt_table_next(&l->index, hash, at);
  return i;
}

/* The subtree behind level k as it is set. */
static int find_child(maker *m, size_t k, uint32_t *out) {
  unsigned char own_key[KEY_BYTES * 64], *key = own_key;
  level *l = &m->levels[k];
  size_t bytes = l->n_live * KEY_BYTES, at;
  *out = END;
  if (k + 1 == m->n_levels) return CLT_OK;
  for (size_t i = 0; i < l->n_live; i++) {
    clt_value v = m->registers[l->live[i]];
    memcpy(m->key + i * KEY_BYTES, &v.integer, 8);
    m->key[i * KEY_BYTES + 8] = (unsigned char)v.type;
  }
  uint64_t hash = clt_hash64(m->key, bytes);
  uint32_t known = l->n_known ? find_subtree(l, m->key, bytes, hash, &at) : CLT_TABLE_NONE;
  if (known != CLT_TABLE_NONE) return *out = l->nodes[known], CLT_OK;
  if (bytes > sizeof own_key && (key = malloc(bytes)) == NULL) return CLT_E_MEMORY;
  memcpy(key, m->key, bytes); /* the scratch is used by the deeper levels */
  int rc = expand_level(m, k + 1, out);
  if (rc == CLT_OK &&
      (clt_table_reserve(&l->index) || clt_grow(&l->keys, &l->keys_capacity, (l->n_known + 1) * bytes, 1) ||
       clt_grow(&l->nodes, &l->nodes_capacity, l->n_known + 1, sizeof *l->nodes)))
    rc = CLT_E_MEMORY;
  if (rc == CLT_OK) {
    find_subtree(l, key, bytes, hash, &at);
    memcpy(l->keys + l->n_known * bytes, key, bytes);
    l->nodes[l->n_known] = *out;
    m->bytes += bytes + sizeof *l->nodes + INDEX_BYTES;
    clt_table_put(&l->index, hash, at, (uint32_t)l->n_known++);
  }
  if (key != own_key) free(key);
  return rc;
}

/* The node of level k, all levels above being set. */
static int expand_level(maker *m, size_t k, uint32_t *out) {
  const level *l = &m->levels[k];
  size_t mark = m->n_pending;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < l->domain->n_positions; i++) {
    uint32_t position = m->positions[k] = l->domain->positions[i], node;
    if (++m->tried > m->limits.tries || m->bytes > m->limits.bytes) {
      rc = CLT_DIAGRAM_TOO_LARGE;
      break;
    }
    const step *failed = run_level(l, m->registers, position);
    if (failed && clt_failed_fatally(m->registers[failed->target])) {
      m->failure->root = (uint32_t)failed->root;
      m->failure->level = k;
      memcpy(m->failure->positions, m->positions, (k + 1) * sizeof *m->positions);
      rc = CLT_DIAGRAM_FAILED;
    }
    if (failed) continue;
    rc = find_child(m, k, &node);
    if (rc || node == DEAD) continue;
    rc = clt_grow(&m->pending, &m->pending_capacity, m->n_pending + 1, sizeof *m->pending);
    if (rc == CLT_OK) m->pending[m->n_pending++] = (clt_edge){.position = position, .child = node};
  }
  *out = DEAD;
  if (rc == CLT_OK && m->n_pending > mark) rc = intern_node(m, m->pending + mark, m->n_pending - mark, out);
  m->n_pending = mark;
  return rc;
}

/* --- the whole --- */

int clt_diagram_new(clt_diagram **out, const clt_group *group, const uint64_t *weights, clt_diagram_limits limits,
                    clt_diagram_failure *failure) {
  maker m = {.group = group, .limits = limits, .failure = failure};
  clt_diagram *d = m.diagram = clt_new_array(1, sizeof *d);
  size_t most_live = 0, n_levels = group->n_domains;
  int rc = d ? plan_levels(&m) : CLT_E_MEMORY;
  if (rc) goto done;
  d->n_levels = n_levels;
  d->parameters = clt_new_array(n_levels, sizeof *d->parameters);
  d->weights = clt_new_array(n_levels, sizeof *d->weights);
  for (size_t k = 0; k < n_levels; k++)
    if (m.levels[k].n_live > most_live) most_live = m.levels[k].n_live;
  m.key = clt_new_array(most_live, KEY_BYTES);
  if (d->parameters == NULL || d->weights == NULL || m.key == NULL ||
      clt_grow(&d->first, &m.first_capacity, 2, sizeof *d->first) ||
      clt_grow(&m.counts, &m.counts_capacity, 1, sizeof *m.counts)) {
    rc = CLT_E_MEMORY;
    goto done;
  }
  for (size_t k = 0; k < n_levels; k++) {
    d->parameters[k] = group->domains[k]->parameter;
    d->weights[k] = weights[d->parameters[k]];
  }
  /* node 0 is the end: no edges, one combination */
  d->first[0] = d->first[1] = 0;
  d->n_nodes = 1;
  m.counts[END] = 1;
  rc = expand_level(&m, 0, &d->root);
  if (rc) goto done;
  d->valid = d->root == DEAD ? 0 : m.counts[d->root];
  /* Gives back what clt_grow has in reserve. */
  void *edges = realloc(d->edges, (d->n_edges ? d->n_edges : 1) * sizeof *d->edges);
  if (edges) d->edges = edges;
  void *first = realloc(d->first, (d->n_nodes + 1) * sizeof *d->first);
  if (first) d->first = first;
  *out = d;
done:
  if (rc) clt_diagram_free(d);
  for (size_t k = 0; m.levels && k < n_levels; k++) {
    level *l = &m.levels[k];
    free(l->loads);
    free(l->steps);
    free(l->live);
    free(l->keys);
    free(l->nodes);
    clt_table_release(&l->index);
  }
  free(m.levels);
  free(m.registers);
  free(m.key);
  free(m.counts);
  free(m.pending);
  clt_table_release(&m.unique);
  return rc;
}

void clt_diagram_free(clt_diagram *diagram) {
  if (diagram == NULL) return;
  free(diagram->parameters);
  free(diagram->weights);
  free(diagram->edges);
  free(diagram->first);
  free(diagram);
}
