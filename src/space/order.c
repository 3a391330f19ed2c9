/* In which order the parameters of a group are set, by estimates of how many states each order tells apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "space/parts.h"

#define MOST_PAIRS 4096  /* of operands' values that are tried out to see how many results there are */
#define MOST_WAYS 200000 /* that the beam search tries in all of its rounds, about: a fraction of a second */

/* A node of the flow that others use: it is on hold from when its parameters are set until its last user is known. */
typedef struct held {
  clt_mask support;
  double bits;     /* logarithm (2) of how many values it takes, an estimate from above */
  clt_mask *users; /* their supports, none inside another */
  size_t n_users;
} held;

struct clt_estimate {
  held *held;
  size_t n_held;
  double parameter_bits[CLT_MAX_PARAMETERS]; /* of the domains, by parameter */
};

/* The values that a node can take; unknown if values is NULL. */
typedef struct value_set {
  clt_value *values;
  size_t n;
} value_set;

typedef struct estimator {
  const clt_group *group;
  const clt_flow *flow;
  clt_estimate *estimate;
  bool *reached;
  size_t *numbers; /* of a node among the held ones, plus one */
  value_set *sets; /* by node */
  double *bits;    /* by node */
} estimator;

void clt_estimate_free(clt_estimate *estimate) {
  if (estimate == NULL) return;
  for (size_t i = 0; estimate->held && i < estimate->n_held; i++) free(estimate->held[i].users);
  free(estimate->held);
  free(estimate);
}

/* --- how many values a node takes --- */

static int compare_bytes(const void *left, const void *right) {
  const clt_value *a = left, *b = right;
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  return (a->integer > b->integer) - (a->integer < b->integer);
}

static void make_distinct(value_set *set) {
  size_t kept = 0;
  qsort(set->values, set->n, sizeof *set->values, compare_bytes);
  for (size_t i = 0; i < set->n; i++)
    if (kept == 0 || compare_bytes(&set->values[kept - 1], &set->values[i]) != 0) set->values[kept++] = set->values[i];
  set->n = kept;
}

/* Its values where these can be listed: of a table, or each value of one operand with each of the other, which are more
 * than there are if both come from the same parameters. */
static int list_values(estimator *e, uint32_t i) {
  const clt_flow_node *node = &e->flow->nodes[i];
  value_set *out = &e->sets[i];
  const clt_domain *domain = NULL;
  const value_set *a = NULL, *b = NULL;
  size_t most = 1;
  if (node->n_support == 1) {
    for (size_t d = 0; domain == NULL; d++)
      if (e->group->domains[d]->parameter == clt_mask_least(node->support)) domain = e->group->domains[d];
    most = domain->n_positions;
  } else if (node->n_support == 2) {
    if (clt_op_arity((clt_op)node->op) != 2) return CLT_OK;
    a = &e->sets[node->operands[0]];
    b = &e->sets[node->operands[1]];
    most = a->n * b->n;
    if (a->values == NULL || b->values == NULL || most > MOST_PAIRS) return CLT_OK;
  }
  out->values = clt_new_array(most, sizeof *out->values);
  if (out->values == NULL) return CLT_E_MEMORY;
  if (node->n_support == 0) out->values[out->n++] = node->value;
  for (size_t k = 0; domain && k < most; k++) out->values[out->n++] = node->table[domain->positions[k]];
  for (size_t k = 0; a && k < most; k++) {
    const clt_value *operands[2] = {&a->values[k / b->n], &b->values[k % b->n]};
    out->values[out->n++] = clt_op_apply((clt_op)node->op, operands, 0);
  }
  make_distinct(out);
  return CLT_OK;
}

static double bits_of(const estimator *e, uint32_t i) {
  const clt_flow_node *node = &e->flow->nodes[i];
  clt_op op = (clt_op)node->op;
  double bits = 0, most = 0;
  if (e->sets[i].values) return log2((double)(e->sets[i].n ? e->sets[i].n : 1));
  if ((op >= CLT_OP_EQUAL && op <= CLT_OP_GREATER_EQUAL) || op == CLT_OP_NOT || op == CLT_OP_BOOL ||
      op == CLT_OP_INSIDE || op == CLT_OP_IN_RANGE)
    return 1;
  for (unsigned k = 0; k < clt_op_arity(op); k++) bits += e->bits[node->operands[k]];
  for (size_t p = 0; p < e->flow->n_parameters; p++)
    if (clt_mask_has(&node->support, p)) most += e->estimate->parameter_bits[p];
  return bits < most ? bits : most;
}

/* --- who uses what --- */

/* Node i is used by one with the support `user`. */
static int hold_node(estimator *e, uint32_t i, clt_mask user) {
  const clt_flow_node *node = &e->flow->nodes[i];
  if (node->n_support == 0) return CLT_OK;
  if (e->numbers[i] == 0) {
    e->estimate->held[e->estimate->n_held++] = (held){.support = node->support, .bits = e->bits[i]};
    e->numbers[i] = e->estimate->n_held;
  }
  held *h = &e->estimate->held[e->numbers[i] - 1];
  size_t kept = 0, capacity;
  for (size_t k = 0; k < h->n_users; k++) {
    if (clt_mask_within(user, h->users[k])) return CLT_OK;
    if (!clt_mask_within(h->users[k], user)) h->users[kept++] = h->users[k];
  }
  h->n_users = capacity = kept;
  if (clt_grow(&h->users, &capacity, kept + 1, sizeof *h->users)) return CLT_E_MEMORY;
  h->users[h->n_users++] = user;
  return CLT_OK;
}

static int estimate_nodes(estimator *e) {
  const clt_flow *flow = e->flow;
  const clt_group *group = e->group;
  int rc = CLT_OK;
  for (size_t i = 0; i < group->n_domains; i++) {
    size_t n = group->domains[i]->n_positions;
    e->estimate->parameter_bits[group->domains[i]->parameter] = log2((double)(n ? n : 1));
  }
  for (size_t r = 0; r < group->n_roots; r++) e->reached[flow->roots[group->roots[r]].node] = true;
  for (size_t i = flow->n_nodes; i-- > 0;)
    for (unsigned k = 0; e->reached[i] && flow->nodes[i].n_support == 2 && k < clt_op_arity(flow->nodes[i].op); k++)
      e->reached[flow->nodes[i].operands[k]] = true;
  for (uint32_t i = 0; rc == CLT_OK && i < flow->n_nodes; i++) {
    if (!e->reached[i]) continue;
    rc = list_values(e, i);
    if (rc == CLT_OK) e->bits[i] = bits_of(e, i);
  }
  for (uint32_t i = 0; i < flow->n_nodes; i++) {
    const clt_flow_node *node = &flow->nodes[i];
    for (unsigned k = 0; rc == CLT_OK && e->reached[i] && node->n_support == 2 && k < clt_op_arity(node->op); k++)
      rc = hold_node(e, node->operands[k], node->support);
  }
  return rc;
}

int clt_estimate_new(clt_estimate **out, const clt_group *group) {
  size_t n = group->flow->n_nodes;
  estimator e = {.group = group, .flow = group->flow};
  e.estimate = clt_new_array(1, sizeof *e.estimate);
  e.reached = clt_new_array(n, sizeof *e.reached);
  e.numbers = clt_new_array(n, sizeof *e.numbers);
  e.sets = clt_new_array(n, sizeof *e.sets);
  e.bits = clt_new_array(n, sizeof *e.bits);
  if (e.estimate) e.estimate->held = clt_new_array(n, sizeof *e.estimate->held);
  bool ok = e.estimate && e.estimate->held && e.reached && e.numbers && e.sets && e.bits;
  int rc = ok ? estimate_nodes(&e) : CLT_E_MEMORY;
  for (size_t i = 0; e.sets && i < n; i++) free(e.sets[i].values);
  free(e.reached);
  free(e.numbers);
  free(e.sets);
  free(e.bits);
  if (rc)
    clt_estimate_free(e.estimate);
  else
    *out = e.estimate;
  return rc;
}

static bool is_held(const held *h, clt_mask set) {
  if (!clt_mask_within(h->support, set)) return false;
  for (size_t i = 0; i < h->n_users; i++)
    if (!clt_mask_within(h->users[i], set)) return true;
  return false;
}

/* The logarithm of the number of different states behind a level when these parameters are set. */
static double bits_behind(const clt_estimate *estimate, clt_mask set) {
  clt_mask support = {{0}};
  double bits = 0, most = 0;
  for (size_t i = 0; i < estimate->n_held; i++) {
    if (!is_held(&estimate->held[i], set)) continue;
    bits += estimate->held[i].bits;
    support = clt_mask_union(support, estimate->held[i].support);
  }
  for (clt_mask rest = support; clt_mask_count(rest) > 0;) {
    size_t p = clt_mask_least(rest);
    most += estimate->parameter_bits[p];
    rest.words[p / 64] &= rest.words[p / 64] - 1;
  }
  return bits < most ? bits : most;
}

/* --- quick: each next domain is the one that grows the number of states least, with the fewest positions of equals ---
 */

void clt_order_quickly(clt_group *group, const clt_estimate *estimate) {
  clt_mask set = {{0}};
  for (size_t l = 0; l < group->n_domains; l++) {
    size_t best = l;
    double best_bits = INFINITY;
    for (size_t i = l; i < group->n_domains; i++) {
      clt_mask then = set;
      clt_mask_add(&then, group->domains[i]->parameter);
      double bits = bits_behind(estimate, then);
      if (bits > best_bits ||
          (bits == best_bits && group->domains[i]->n_positions >= group->domains[best]->n_positions))
        continue;
      best = i;
      best_bits = bits;
    }
    const clt_domain *chosen = group->domains[best];
    memmove(&group->domains[l + 1], &group->domains[l], (best - l) * sizeof *group->domains);
    group->domains[l] = chosen;
    clt_mask_add(&set, chosen->parameter);
  }
}

/* --- thorough: for each set of parameters the cheapest way to it; sets grow by one in each round --- */

typedef struct way {
  clt_mask set;
  double cost;   /* edges tried up to here */
  double states; /* behind the last level */
  uint8_t order[CLT_MAX_PARAMETERS];
} way;

typedef struct beam {
  const clt_group *group;
  const clt_estimate *estimate;
  way *ways, *longer; /* of this round and the next */
  size_t n_ways, n_longer, width;
  clt_table index; /* of `longer`, by set */
} beam;

static int compare_costs(const void *left, const void *right) {
  const way *a = left, *b = right;
  double x = a->cost + a->states, y = b->cost + b->states;
  return (x > y) - (x < y);
}

/* The entry for a set: a known one, or a new one without cost yet. */
static way *find_way(beam *s, clt_mask set) {
  uint64_t hash = clt_hash64(&set, sizeof set);
  size_t at;
  if (clt_table_reserve(&s->index)) return NULL;
  for (uint32_t i = clt_table_first(&s->index, hash, &at); i != CLT_TABLE_NONE;
       i = clt_table_next(&s->index, hash, &at))
    if (memcmp(&s->longer[i].set, &set, sizeof set) == 0) return &s->longer[i];
  clt_table_put(&s->index, hash, at, (uint32_t)s->n_longer);
  way *out = &s->longer[s->n_longer++];
  *out = (way){.set = set, .cost = INFINITY, .states = exp2(bits_behind(s->estimate, set))};
  return out;
}

static int lengthen_way(beam *s, const way *from, size_t length) {
  for (size_t i = 0; i < s->group->n_domains; i++) {
    const clt_domain *domain = s->group->domains[i];
    clt_mask set = from->set;
    if (clt_mask_has(&set, domain->parameter)) continue;
    clt_mask_add(&set, domain->parameter);
    double cost = from->cost + from->states * (double)domain->n_positions;
    way *to = find_way(s, set);
    if (to == NULL) return CLT_E_MEMORY;
    if (cost >= to->cost) continue;
    to->cost = cost;
    memcpy(to->order, from->order, length);
    to->order[length] = (uint8_t)i;
  }
  return CLT_OK;
}

int clt_order_well(clt_group *group, const clt_estimate *estimate) {
  size_t n = group->n_domains, width = MOST_WAYS / (n * n);
  beam s = {.group = group, .estimate = estimate, .width = width > 256 ? 256 : width < 8 ? 8 : width};
  s.ways = clt_new_array(s.width, sizeof *s.ways);
  s.longer = clt_new_array(s.width * n, sizeof *s.longer);
  int rc = s.ways && s.longer ? CLT_OK : CLT_E_MEMORY;
  if (rc == CLT_OK) s.ways[s.n_ways++] = (way){.states = 1};
  for (size_t length = 0; rc == CLT_OK && length < n; length++) {
    s.n_longer = 0;
    for (size_t i = 0; rc == CLT_OK && i < s.n_ways; i++) rc = lengthen_way(&s, &s.ways[i], length);
    clt_table_release(&s.index);
    if (s.n_longer > s.width) qsort(s.longer, s.n_longer, sizeof *s.longer, compare_costs);
    s.n_ways = s.n_longer < s.width ? s.n_longer : s.width;
    memcpy(s.ways, s.longer, s.n_ways * sizeof *s.ways);
  }
  if (rc == CLT_OK) {
    const clt_domain *sorted[CLT_MAX_PARAMETERS];
    for (size_t l = 0; l < n; l++) sorted[l] = group->domains[s.ways[0].order[l]];
    memcpy(group->domains, sorted, n * sizeof *sorted);
  }
  clt_table_release(&s.index);
  free(s.ways);
  free(s.longer);
  return rc;
}
