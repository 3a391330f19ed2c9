/* Builds decision diagrams. First, the operations of a group are assigned to levels: a level sets one parameter, and
 * then computes all nodes whose operands are known from there on. Values are kept in registers, one per node of the
 * flow; a level's registers do not change while deeper levels run.
 *
 * Then the tree of the levels is searched depth first. One map finds subtrees by the intermediate values that they
 * depend on. Another finds nodes by their edges, so that equal subtrees are stored once even if they come from
 * different values. If each remaining check concerns only one further parameter, subtrees are found by the positions
 * that remain possible instead of the values. In a permutation, for example, these are the numbers that are still free.
 */
#include "base/base.h"
#include "base/hash.h"
#include "space/flow.h"

#define DEAD UINT32_MAX /* a node without combinations */
#define END 0           /* the child of the edges of the last level */
#define KEY_BYTES 9     /* of a register */
#define INDEX_BYTES 32  /* of an entry in a map, which is half empty */

/* Sets a register to a table's entry at the position of the level, or to the result of an operation. With root >= 0,
 * checks instead that the register is true. */
typedef struct step {
  const clt_value *table;
  uint8_t op, n_operands;
  int32_t root; /* index of the root in the flow; negative: not a check */
  uint32_t target;
  uint32_t operands[4];
} step;

typedef struct level level;
struct level {
  const clt_domain *domain;
  step *steps;
  size_t n_steps, n_loads, steps_capacity; /* steps that read tables come first */
  uint32_t *live;                          /* registers that deeper levels read */
  size_t n_live, live_capacity;
  level *
      filters; /* used instead of the live registers: checks of deeper levels that concern only one further parameter */
  size_t n_filters, filter_bytes; /* one byte per position of their parameters */
  uint64_t open; /* sets of parameters that differ from each other, as bits: some are set, and others are not */
  /* The subtrees below the level by its live registers: hash of a key -> number of the key in the high half of the
   * value, the node in the low half. */
  clt_map subtrees;
  unsigned char *keys;
  size_t n_keys, keys_capacity;
};

typedef struct maker {
  clt_arena arena; /* of the levels and the data needed to plan them */
  const clt_group *group;
  level *levels;
  size_t n_levels;
  clt_value *registers; /* constants are set */
  clt_diagram *diagram;
  size_t first_capacity, edges_capacity, counts_capacity;
  uint64_t *counts;  /* number of combinations below each node */
  clt_edge *pending; /* edges of the nodes under construction */
  size_t n_pending, pending_capacity;
  clt_map unique; /* hash of a node's edges -> node */
  size_t tried, bytes;
  clt_diagram_limits limits;
  uint32_t *positions;                    /* by parameter */
  uint64_t taken[CLT_MAX_PARAMETERS / 2]; /* by set of parameters that differ: the positions that they have, as bits */
  uint32_t failed;
} maker;

/* --- levels --- */

/* A node of the flow while the levels are planned. */
typedef struct planned {
  size_t level;     /* the last level that sets one of its parameters */
  size_t decides;   /* the first level with a check that needs it */
  size_t last_used; /* the deepest level that reads it, plus one */
  int32_t root;     /* index of the root that it is; -1: none */
} planned;

#define LEAST_FILTERED 3 /* live registers and parameters; with fewer, the values are the cheaper key */
#define MOST_FILTERED 64 /* positions of each parameter */

/* Plans filters for level k if each root that reads its live registers depends on one further parameter, and together
 * they depend on several. */
static int plan_filters(maker *m, const planned *nodes, size_t k) {
  enum {
    READ = 1,
    FILTERS = 2
  }; /* read by roots that need several further parameters; read by roots that filter one */
  const clt_flow *flow = m->group->flow;
  level *l = &m->levels[k];
  if (l->n_live < LEAST_FILTERED || k + LEAST_FILTERED >= m->n_levels) return CLT_OK;
  unsigned char *uses = clt_arena_array(&m->arena, flow->n_nodes, sizeof *uses);
  l->filters = clt_arena_array(&m->arena, m->n_levels - k, sizeof *l->filters);
  int rc = clt_arena_check(&m->arena, NULL);
  clt_mask set = {{0}};
  for (size_t j = 0; j <= k; j++) clt_mask_add(&set, m->levels[j].domain->parameter);
  for (size_t n = m->group->n_nodes; rc == CLT_OK && n-- > 0;) {
    uint32_t i = m->group->nodes[n];
    if (nodes[i].root >= 0 && nodes[i].level > k) {
      clt_mask with = set;
      clt_mask_add(&with, m->levels[nodes[i].level].domain->parameter);
      uses[i] |= clt_mask_within(flow->nodes[i].support, with) ? FILTERS : READ;
    }
    for (unsigned o = 0; o < clt_flow_arity(&flow->nodes[i]); o++) uses[flow->nodes[i].operands[o]] |= uses[i];
  }
  size_t read = 0;
  for (size_t i = 0; rc == CLT_OK && i < l->n_live; i++) read += (uses[l->live[i]] & READ) != 0;
  for (size_t j = k + 1; rc == CLT_OK && read == 0 && j < m->n_levels; j++) {
    const level *from = &m->levels[j];
    level *filter = &l->filters[l->n_filters];
    for (size_t s = 0; rc == CLT_OK && s < from->n_steps; s++) {
      if (!(uses[from->steps[s].target] & FILTERS)) continue;
      rc = clt_grow(&filter->steps, &filter->steps_capacity, filter->n_steps + 1, sizeof *filter->steps);
      if (rc) break;
      filter->steps[filter->n_steps++] = from->steps[s];
      filter->n_loads += s < from->n_loads;
    }
    if (filter->n_steps == 0) continue;
    filter->domain = from->domain;
    l->filter_bytes += from->domain->n_positions;
    l->n_filters++;
  }
  if (rc == CLT_OK && (l->n_filters < LEAST_FILTERED || l->filter_bytes > MOST_FILTERED * l->n_live)) {
    while (l->n_filters > 0) free(l->filters[--l->n_filters].steps);
  }
  return rc;
}

static size_t set_of_level(const maker *m, size_t k) { return m->group->distinct_of[m->levels[k].domain->parameter]; }

static uint64_t set_bit(const maker *m, size_t k) {
  const size_t set = set_of_level(m, k);
  return set == CLT_NO_GROUP ? 0 : UINT64_C(1) << set;
}

static int plan_levels(maker *m) {
  const clt_group *group = m->group;
  const clt_flow *flow = group->flow;
  planned *nodes = clt_arena_array(&m->arena, flow->n_nodes, sizeof *nodes);
  m->n_levels = group->n_domains;
  m->levels = clt_arena_array(&m->arena, m->n_levels, sizeof *m->levels);
  m->registers = clt_arena_array(&m->arena, flow->n_nodes, sizeof *m->registers);
  int rc = clt_arena_check(&m->arena, NULL);
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++) m->levels[k].domain = group->domains[k];
  for (size_t n = 0; rc == CLT_OK && n < group->n_nodes; n++) {
    uint32_t i = group->nodes[n];
    size_t k = m->n_levels;
    while (k > 1 && !clt_mask_has(&flow->nodes[i].support, m->levels[k - 1].domain->parameter)) k--;
    nodes[i] = (planned){.level = k - 1, .decides = SIZE_MAX, .root = -1};
    if (flow->nodes[i].n_support == 0) m->registers[i] = flow->nodes[i].value;
  }
  for (size_t r = group->n_roots; rc == CLT_OK && r-- > 0;) {
    planned *root = &nodes[flow->roots[group->roots[r]].node];
    root->root = (int32_t)group->roots[r];
    root->decides = root->level;
  }
  for (size_t n = group->n_nodes; rc == CLT_OK && n-- > 0;) {
    uint32_t i = group->nodes[n];
    for (unsigned o = 0; o < clt_flow_arity(&flow->nodes[i]); o++) {
      planned *operand = &nodes[flow->nodes[i].operands[o]];
      if (operand->decides > nodes[i].decides) operand->decides = nodes[i].decides;
      if (operand->last_used < nodes[i].level + 1) operand->last_used = nodes[i].level + 1;
    }
  }
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++) {
    level *l = &m->levels[k];
    /* After the tables come the operations for checks on this level, so that it prunes early; then those for deeper
     * levels. */
    for (size_t i = 0; rc == CLT_OK && i < 3 * group->n_nodes; i++) {
      uint32_t target = group->nodes[i % group->n_nodes];
      size_t turn = i / group->n_nodes;
      const clt_flow_node *node = &flow->nodes[target];
      const planned *plan = &nodes[target];
      size_t own_turn = plan->decides == k ? 1 : 2;
      if (node->n_support == 1) own_turn = 0;
      if (node->n_support == 0 || plan->level != k || turn != own_turn) continue;
      rc = clt_grow(&l->steps, &l->steps_capacity, l->n_steps + 2, sizeof *l->steps);
      if (rc) break;
      step s = {.table = node->table, .op = node->op, .root = -1, .target = target};
      s.n_operands = (uint8_t)clt_flow_arity(node);
      memcpy(s.operands, node->operands, sizeof s.operands);
      l->steps[l->n_steps++] = s;
      l->n_loads += turn == 0;
      if (plan->root >= 0) l->steps[l->n_steps++] = (step){.root = plan->root, .target = target};
    }
    for (size_t n = 0; rc == CLT_OK && n < group->n_nodes; n++) {
      uint32_t i = group->nodes[n];
      if (flow->nodes[i].n_support == 0 || nodes[i].level > k || nodes[i].last_used <= k + 1) continue;
      rc = clt_grow(&l->live, &l->live_capacity, l->n_live + 1, sizeof *l->live);
      if (rc == CLT_OK) l->live[l->n_live++] = i;
    }
  }
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++) rc = plan_filters(m, nodes, k);
  uint64_t begun = 0, left = 0;
  for (size_t k = m->n_levels; rc == CLT_OK && k-- > 0; left |= set_bit(m, k)) m->levels[k].open = left;
  for (size_t k = 0; rc == CLT_OK && k < m->n_levels; k++) m->levels[k].open &= begun |= set_bit(m, k);
  return rc;
}

/* Sets a level to a position and runs its steps. Returns the check that failed, whose register has the value; NULL:
 * none. (Inlined, because a call costs 6 % of the construction.) */
__attribute__((always_inline)) static inline const step *run_level(const level *l, clt_value *registers,
                                                                   uint32_t position) {
  if (l->n_steps == 0) return NULL;
  const step *s = l->steps, *end = s + l->n_steps;
  for (const step *loads_end = s + l->n_loads; s < loads_end; s++) registers[s->target] = s->table[position];
  for (; s < end; s++) {
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
      *target = clt_op_apply((clt_op)s->op, operands);
  }
  return NULL;
}

/* --- nodes --- */

/* Finds or adds the node with these edges; n > 0. */
static int intern_node(maker *m, const clt_edge *edges, size_t n, uint32_t *out) {
  clt_diagram *d = m->diagram;
  uint64_t hash = n, before = 0, *entry;
  bool is_new = false, too_many = false;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ ((uint64_t)edges[i].position << 32 | edges[i].child)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  for (uint64_t key = hash >> 1;; key++) { /* different nodes with equal hashes have consecutive keys */
    if ((entry = clt_map_add(&m->unique, key, &is_new)) == NULL) return CLT_E_MEMORY;
    if (is_new) break;
    const clt_edge *known = &d->edges[d->first[*entry]];
    size_t same = 0;
    if (d->first[*entry + 1] - d->first[*entry] != n) continue;
    while (same < n && known[same].position == edges[same].position && known[same].child == edges[same].child) same++;
    if (same < n) continue;
    *out = (uint32_t)*entry;
    return CLT_OK;
  }
  *entry = *out = (uint32_t)d->n_nodes;
  if (clt_grow(&d->first, &m->first_capacity, d->n_nodes + 2, sizeof *d->first)) return CLT_E_MEMORY;
  if (clt_grow(&d->edges, &m->edges_capacity, d->n_edges + n, sizeof *d->edges)) return CLT_E_MEMORY;
  if (clt_grow(&m->counts, &m->counts_capacity, d->n_nodes + 1, sizeof *m->counts)) return CLT_E_MEMORY;
  for (size_t i = 0; i < n; i++) {
    d->edges[d->n_edges] = edges[i];
    d->edges[d->n_edges++].before = before;
    too_many |= __builtin_add_overflow(before, m->counts[edges[i].child], &before) || before > CLT_MOST_NUMBERS;
  }
  m->counts[d->n_nodes++] = before;
  m->bytes += n * sizeof *d->edges + sizeof *d->first + sizeof *m->counts + INDEX_BYTES;
  d->first[d->n_nodes] = (uint32_t)d->n_edges;
  return too_many ? CLT_DIAGRAM_TOO_MANY : CLT_OK;
}

/* --- subtrees --- */

static int expand_level(maker *m, size_t k, uint32_t *out);

/* Finds or builds the subtree below level k, for the current registers. */
static int find_child(maker *m, size_t k, uint32_t *out) {
  level *l = &m->levels[k];
  size_t values_bytes = l->n_filters ? l->filter_bytes : l->n_live * KEY_BYTES;
  size_t bytes = values_bytes + (size_t)__builtin_popcountll(l->open) * sizeof *m->taken;
  uint64_t *entry;
  bool is_new = false;
  *out = END;
  if (k + 1 == m->n_levels) return CLT_OK;
  if (l->keys_capacity <= (l->n_keys + 1) * bytes &&
      clt_grow(&l->keys, &l->keys_capacity, (l->n_keys + 1) * bytes + 1, 1))
    return CLT_E_MEMORY;
  unsigned char *key = l->keys + l->n_keys * bytes; /* stays there if it is new */
  unsigned char *left = key; /* per position: POSSIBLE, IMPOSSIBLE, or FATAL: it cannot be evaluated */
  enum { IMPOSSIBLE, POSSIBLE, FATAL };
  for (size_t f = 0; f < l->n_filters; f++) {
    const clt_domain *domain = l->filters[f].domain;
    for (size_t i = 0; i < domain->n_positions; i++) {
      const step *failed = run_level(&l->filters[f], m->registers, domain->positions[i]);
      *left = failed ? IMPOSSIBLE : POSSIBLE;
      if (failed && clt_failed_fatally(m->registers[failed->target])) *left = FATAL;
      left++;
    }
    m->tried += domain->n_positions;
  }
  for (size_t i = 0; l->n_filters == 0 && i < l->n_live; i++) {
    const clt_value *v = &m->registers[l->live[i]];
    memcpy(key + i * KEY_BYTES, &v->integer, 8);
    key[i * KEY_BYTES + 8] = (unsigned char)v->type;
  }
  unsigned char *to = key + values_bytes;
  for (uint64_t open = l->open; open; open &= open - 1, to += sizeof *m->taken)
    memcpy(to, &m->taken[__builtin_ctzll(open)], sizeof *m->taken);
  for (uint64_t hash = clt_hash64(key, bytes) >> 1;; hash++) {
    if ((entry = clt_map_add(&l->subtrees, hash, &is_new)) == NULL) return CLT_E_MEMORY;
    if (is_new) break;
    if (memcmp(l->keys + (*entry >> 32) * bytes, key, bytes) != 0) continue;
    *out = (uint32_t)*entry;
    return CLT_OK;
  }
  uint64_t number = l->n_keys++;
  int rc = expand_level(m, k + 1, out);
  *entry = number << 32 | *out; /* (deeper levels have maps of their own) */
  m->bytes += bytes + INDEX_BYTES;
  return rc;
}

/* Builds the node of level k; all levels above are set. */
static int expand_level(maker *m, size_t k, uint32_t *out) {
  const level *l = &m->levels[k];
  const size_t mark = m->n_pending, set = set_of_level(m, k);
  uint64_t *taken = set == CLT_NO_GROUP ? NULL : &m->taken[set], taken_before = taken ? *taken : 0;
  int rc = CLT_OK;
  *out = DEAD;
  for (size_t i = 0; rc == CLT_OK && i < l->domain->n_positions; i++) {
    uint32_t position = m->positions[l->domain->parameter] = l->domain->positions[i], node;
    if (++m->tried > m->limits.tries || m->bytes > m->limits.bytes) {
      rc = CLT_DIAGRAM_TOO_LARGE;
      break;
    }
    if (taken) *taken = taken_before;
    if (taken && *taken >> position & 1) continue;
    if (taken) *taken |= UINT64_C(1) << position;
    const step *failed = run_level(l, m->registers, position);
    if (failed && clt_failed_fatally(m->registers[failed->target])) {
      m->failed = (uint32_t)failed->root;
      rc = CLT_DIAGRAM_FAILED;
    }
    if (failed) continue;
    rc = find_child(m, k, &node);
    if (rc || node == DEAD) continue;
    rc = clt_grow(&m->pending, &m->pending_capacity, m->n_pending + 1, sizeof *m->pending);
    if (rc == CLT_OK) m->pending[m->n_pending++] = (clt_edge){.position = position, .child = node};
  }
  if (rc == CLT_OK && m->n_pending > mark) rc = intern_node(m, m->pending + mark, m->n_pending - mark, out);
  if (taken) *taken = taken_before;
  m->n_pending = mark;
  return rc;
}

/* --- the diagram --- */

/* Without edges. weights: of all parameters of the space. */
static clt_diagram *new_diagram(maker *m, const uint32_t *parameters, size_t n_levels, const uint64_t *weights) {
  clt_diagram *d = m->diagram = clt_new_array(1, sizeof *d);
  if (d == NULL) return NULL;
  d->n_levels = n_levels;
  d->parameters = clt_new_array(n_levels, sizeof *d->parameters);
  d->weights = clt_new_array(n_levels, sizeof *d->weights);
  if (d->parameters == NULL || d->weights == NULL || clt_grow(&d->first, &m->first_capacity, 2, sizeof *d->first) ||
      clt_grow(&m->counts, &m->counts_capacity, 1, sizeof *m->counts)) {
    clt_diagram_free(d);
    return NULL;
  }
  for (size_t k = 0; k < n_levels; k++) {
    d->parameters[k] = parameters[k];
    d->weights[k] = weights[parameters[k]];
  }
  /* node 0 is the end: no edges, one combination */
  d->first[0] = d->first[1] = 0;
  d->n_nodes = 1;
  m->counts[END] = 1;
  return d;
}

/* Sets *root and the number of combinations, and gives unused capacity back. */
static void finish_diagram(const maker *m, uint32_t root) {
  clt_diagram *d = m->diagram;
  d->root = root;
  d->valid = root == DEAD ? 0 : m->counts[root];
  void *edges = realloc(d->edges, (d->n_edges ? d->n_edges : 1) * sizeof *d->edges);
  if (edges) d->edges = edges;
  void *first = realloc(d->first, (d->n_nodes + 1) * sizeof *d->first);
  if (first) d->first = first;
}

/* The number of positions of each parameter if the group has no constraint but that all differ; 0: it has others. */
static size_t count_distinct(const clt_group *group) {
  const size_t n = group->domains[0]->n_positions, set = group->distinct_of[group->domains[0]->parameter];
  for (size_t i = 0; i < group->n_domains; i++) {
    const clt_domain *d = group->domains[i];
    if (group->distinct_of[d->parameter] != set || d->n_positions != group->flow->parameters[d->parameter].n_values)
      return 0;
  }
  return set == CLT_NO_GROUP || group->n_roots > 0 || (n > CLT_MOST_PARTLY && n != group->n_domains) ? 0 : n;
}

/* Counts n (n - 1) (n - 2) ..., as far as there are numbers. */
static int count_arrangements(clt_diagram *d, size_t n) {
  d->n_distinct = n;
  d->below = clt_new_array(d->n_levels, sizeof *d->below);
  if (d->below == NULL) return CLT_E_MEMORY;
  d->valid = 1;
  for (size_t k = d->n_levels; k-- > 0 && d->valid != CLT_TOO_MANY;) {
    d->below[k] = d->valid;
    if (n < d->n_levels)
      d->valid = 0;
    else if (__builtin_mul_overflow(d->valid, n - k, &d->valid) || d->valid > CLT_MOST_NUMBERS)
      d->valid = CLT_TOO_MANY;
  }
  if (d->valid != CLT_TOO_MANY) return CLT_OK;
  free(d->below);
  d->below = NULL;
  return CLT_OK;
}

int clt_diagram_new(clt_diagram **out, const clt_group *group, const uint64_t *weights, clt_diagram_limits limits,
                    uint32_t *positions, uint32_t *failed) {
  maker m = {.group = group, .limits = limits, .positions = positions};
  uint32_t parameters[CLT_MAX_PARAMETERS] = {0}, root = DEAD;
  const size_t n_levels = group->n_domains, n_distinct = count_distinct(group);
  for (size_t k = 0; k < n_levels; k++) {
    const size_t p = parameters[k] = group->domains[k]->parameter;
    if (group->distinct_of[p] != CLT_NO_GROUP && group->flow->parameters[p].n_values > CLT_MOST_TAKEN)
      m.limits.tries = 0; /* unless nothing is stored: it is too large */
  }
  clt_diagram *d = new_diagram(&m, parameters, n_levels, weights);
  int rc = d ? CLT_OK : CLT_E_MEMORY;
  if (rc == CLT_OK && n_distinct) {
    rc = count_arrangements(d, n_distinct);
  } else if (rc == CLT_OK) {
    rc = plan_levels(&m);
    if (rc == CLT_OK) rc = expand_level(&m, 0, &root);
    *failed = m.failed;
    if (rc == CLT_OK) finish_diagram(&m, root);
  }
  if (rc == CLT_OK) *out = d;
  if (rc) clt_diagram_free(d);
  for (size_t k = 0; m.levels && k < n_levels; k++) {
    level *l = &m.levels[k];
    free(l->steps);
    free(l->live);
    while (l->n_filters > 0) free(l->filters[--l->n_filters].steps);
    free(l->keys);
    clt_map_release(&l->subtrees);
  }
  clt_arena_release(&m.arena);
  free(m.counts);
  free(m.pending);
  clt_map_release(&m.unique);
  return rc;
}

/* The node of level k for rows[0 .. n - 1], which agree above that level. */
static int list_level(maker *m, size_t k, const uint32_t *const *rows, size_t n, uint32_t *out) {
  const clt_diagram *d = m->diagram;
  const size_t mark = m->n_pending;
  int rc = CLT_OK;
  *out = END;
  if (k == d->n_levels) return CLT_OK;
  const uint32_t p = d->parameters[k];
  for (size_t from = 0, to; rc == CLT_OK && from < n; from = to) {
    clt_edge edge = {.position = rows[from][p]};
    for (to = from + 1; to < n && rows[to][p] == edge.position;) to++;
    rc = list_level(m, k + 1, rows + from, to - from, &edge.child);
    if (rc == CLT_OK) rc = clt_grow(&m->pending, &m->pending_capacity, m->n_pending + 1, sizeof *m->pending);
    if (rc == CLT_OK) m->pending[m->n_pending++] = edge;
  }
  if (rc == CLT_OK) rc = intern_node(m, m->pending + mark, m->n_pending - mark, out);
  m->n_pending = mark;
  return rc;
}

int clt_diagram_new_listed(clt_diagram **out, const uint32_t *parameters, size_t n_levels, const uint64_t *weights,
                           const uint32_t *const *rows, size_t n) {
  maker m = {0};
  uint32_t root = DEAD;
  clt_diagram *d = new_diagram(&m, parameters, n_levels, weights);
  int rc = d ? CLT_OK : CLT_E_MEMORY;
  if (rc == CLT_OK && n) rc = list_level(&m, 0, rows, n, &root);
  if (rc == CLT_OK) {
    finish_diagram(&m, root);
    *out = d;
  } else {
    clt_diagram_free(d);
  }
  free(m.counts);
  free(m.pending);
  clt_map_release(&m.unique);
  return rc;
}

void clt_diagram_free(clt_diagram *diagram) {
  if (diagram == NULL) return;
  free(diagram->below);
  free(diagram->parameters);
  free(diagram->weights);
  free(diagram->edges);
  free(diagram->first);
  free(diagram);
}
