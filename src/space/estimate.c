#include "space/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_PAIRS 4096 /* of operands' values that are tried out to see how many results there are */

/* The values that a node can take; unknown if values is NULL. */
typedef struct value_set {
  clt_value *values;
  size_t n;
} value_set;

typedef struct estimator {
  const clt_flow *flow;
  const clt_domain *const *domains;
  size_t n_domains;
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

/* --- how many values --- */

static int by_bytes(const void *left, const void *right) {
  const clt_value *a = left, *b = right;
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  return (a->integer > b->integer) - (a->integer < b->integer);
}

static void make_distinct(value_set *set) {
  size_t kept = 0;
  qsort(set->values, set->n, sizeof *set->values, by_bytes);
  for (size_t i = 0; i < set->n; i++)
    if (kept == 0 || by_bytes(&set->values[kept - 1], &set->values[i]) != 0) set->values[kept++] = set->values[i];
  set->n = kept;
}

static const clt_domain *domain_of(const estimator *e, size_t parameter) {
  for (size_t i = 0; i < e->n_domains; i++)
    if (e->domains[i]->parameter == parameter) return e->domains[i];
  return NULL;
}

static int table_set(const estimator *e, const clt_flow_node *node, value_set *out) {
  const clt_domain *domain = domain_of(e, clt_mask_least(node->support));
  out->values = clt_new_array(domain->n_positions, sizeof *out->values);
  if (out->values == NULL) return CLT_E_MEMORY;
  for (size_t i = 0; i < domain->n_positions; i++) out->values[out->n++] = node->table[domain->positions[i]];
  make_distinct(out);
  return CLT_OK;
}

/* Each value of one operand with each of the other: more than there are if both come from the same parameters. */
static int pair_set(const clt_flow_node *node, const value_set *a, const value_set *b, value_set *out) {
  out->values = clt_new_array(a->n * b->n, sizeof *out->values);
  if (out->values == NULL) return CLT_E_MEMORY;
  for (size_t i = 0; i < a->n; i++)
    for (size_t k = 0; k < b->n; k++) {
      const clt_value *operands[2] = {&a->values[i], &b->values[k]};
      out->values[out->n++] = clt_op_apply((clt_op)node->op, operands, 0);
    }
  make_distinct(out);
  return CLT_OK;
}

static int node_set(estimator *e, uint32_t i) {
  const clt_flow_node *node = &e->flow->nodes[i];
  value_set *out = &e->sets[i];
  if (node->n_support == 1) return table_set(e, node, out);
  if (node->n_support == 0) {
    out->values = clt_new_array(1, sizeof *out->values);
    if (out->values == NULL) return CLT_E_MEMORY;
    out->values[out->n++] = node->value;
    return CLT_OK;
  }
  if (clt_op_arity((clt_op)node->op) != 2) return CLT_OK;
  const value_set *a = &e->sets[node->operands[0]], *b = &e->sets[node->operands[1]];
  if (a->values == NULL || b->values == NULL || a->n * b->n > MOST_PAIRS) return CLT_OK;
  return pair_set(node, a, b, out);
}

static bool is_truth(clt_op op) {
  return (op >= CLT_OP_EQUAL && op <= CLT_OP_GREATER_EQUAL) || op == CLT_OP_NOT || op == CLT_OP_BOOL ||
         op == CLT_OP_INSIDE || op == CLT_OP_IN_RANGE;
}

static double node_bits(const estimator *e, uint32_t i) {
  const clt_flow_node *node = &e->flow->nodes[i];
  double bits = 0, most = 0;
  if (e->sets[i].values) return log2((double)(e->sets[i].n ? e->sets[i].n : 1));
  if (is_truth((clt_op)node->op)) return 1;
  for (unsigned k = 0; k < clt_op_arity((clt_op)node->op); k++) bits += e->bits[node->operands[k]];
  for (size_t p = 0; p < e->flow->n_parameters; p++)
    if (clt_mask_has(&node->support, p)) most += e->estimate->parameter_bits[p];
  return bits < most ? bits : most;
}

/* --- who uses what --- */

static void reach(estimator *e, const uint32_t *roots, size_t n_roots) {
  const clt_flow *flow = e->flow;
  for (size_t r = 0; r < n_roots; r++) e->reached[flow->roots[roots[r]].node] = true;
  for (size_t i = flow->n_nodes; i-- > 0;)
    for (unsigned k = 0; e->reached[i] && flow->nodes[i].n_support == 2 && k < clt_op_arity(flow->nodes[i].op); k++)
      e->reached[flow->nodes[i].operands[k]] = true;
}

static int add_user(clt_held *held, clt_mask user) {
  size_t kept = 0, capacity;
  for (size_t i = 0; i < held->n_users; i++) {
    if (clt_mask_within(user, held->users[i])) return CLT_OK;
    if (!clt_mask_within(held->users[i], user)) held->users[kept++] = held->users[i];
  }
  held->n_users = capacity = kept;
  if (clt_grow(&held->users, &capacity, kept + 1, sizeof *held->users)) return CLT_E_MEMORY;
  held->users[held->n_users++] = user;
  return CLT_OK;
}

static int hold(estimator *e, uint32_t i, clt_mask user) {
  const clt_flow_node *node = &e->flow->nodes[i];
  if (node->n_support == 0) return CLT_OK;
  if (e->numbers[i] == 0) {
    e->estimate->held[e->estimate->n_held++] = (clt_held){.support = node->support, .bits = e->bits[i]};
    e->numbers[i] = e->estimate->n_held;
  }
  return add_user(&e->estimate->held[e->numbers[i] - 1], user);
}

static int hold_operands(estimator *e, uint32_t i) {
  const clt_flow_node *node = &e->flow->nodes[i];
  int rc = CLT_OK;
  for (unsigned k = 0; rc == CLT_OK && node->n_support == 2 && k < clt_op_arity((clt_op)node->op); k++)
    rc = hold(e, node->operands[k], node->support);
  return rc;
}

static int estimate_all(estimator *e, const uint32_t *roots, size_t n_roots) {
  int rc = CLT_OK;
  for (size_t i = 0; i < e->n_domains; i++) {
    size_t n = e->domains[i]->n_positions;
    e->estimate->parameter_bits[e->domains[i]->parameter] = log2((double)(n ? n : 1));
  }
  reach(e, roots, n_roots);
  for (uint32_t i = 0; rc == CLT_OK && i < e->flow->n_nodes; i++) {
    if (!e->reached[i]) continue;
    rc = node_set(e, i);
    if (rc == CLT_OK) e->bits[i] = node_bits(e, i);
  }
  for (uint32_t i = 0; rc == CLT_OK && i < e->flow->n_nodes; i++)
    if (e->reached[i]) rc = hold_operands(e, i);
  return rc;
}

int clt_estimate_new(clt_estimate **out, const clt_flow *flow, const clt_domain *const *domains, size_t n_domains,
                     const uint32_t *roots, size_t n_roots) {
  estimator e = {.flow = flow, .domains = domains, .n_domains = n_domains};
  e.estimate = clt_new_array(1, sizeof *e.estimate);
  e.reached = clt_new_array(flow->n_nodes, sizeof *e.reached);
  e.numbers = clt_new_array(flow->n_nodes, sizeof *e.numbers);
  e.sets = clt_new_array(flow->n_nodes, sizeof *e.sets);
  e.bits = clt_new_array(flow->n_nodes, sizeof *e.bits);
  if (e.estimate) e.estimate->held = clt_new_array(flow->n_nodes, sizeof *e.estimate->held);
  bool ok = e.estimate && e.estimate->held && e.reached && e.numbers && e.sets && e.bits &&
            estimate_all(&e, roots, n_roots) == CLT_OK;
  for (size_t i = 0; e.sets && i < flow->n_nodes; i++) free(e.sets[i].values);
  free(e.reached);
  free(e.numbers);
  free(e.sets);
  free(e.bits);
  if (ok)
    *out = e.estimate;
  else
    clt_estimate_free(e.estimate);
  return ok ? CLT_OK : CLT_E_MEMORY;
}

/* --- asking --- */

static bool is_held(const clt_held *held, clt_mask set) {
  if (!clt_mask_within(held->support, set)) return false;
  for (size_t i = 0; i < held->n_users; i++)
    if (!clt_mask_within(held->users[i], set)) return true;
  return false;
}

double clt_estimate_bits(const clt_estimate *estimate, clt_mask set) {
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
