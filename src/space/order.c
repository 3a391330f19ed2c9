/* Chooses the order in which the parameters of a group are set, by estimating how many states each order must
 * distinguish. */
#include "base/base.h"
#include "base/hash.h"
#include "space/flow.h"

#define MOST_PAIRS 4096  /* pairs of operand values that are tried to count the results */
#define MOST_WAYS 200000 /* approximate number of steps of the beam search in all rounds: a fraction of a second */

/* A node of the flow that other nodes use. Its value is part of the state from the level that sets its last parameter
 * until its last user is computed. */
typedef struct held {
  clt_mask support;
  double bits;     /* upper estimate of log2 of the number of its values */
  clt_mask *users; /* supports of the users; none is a subset of another */
  size_t n_users;
} held;

struct clt_estimate {
  held *held;
  size_t n_held;
  double parameter_bits[CLT_MAX_PARAMETERS]; /* log2 of the number of positions, by parameter */
};

/* An estimate for a node of the flow. */
typedef struct guess {
  size_t held;       /* its number among the held nodes, plus 1; 0: not held */
  clt_value *values; /* its possible values; NULL: unknown */
  size_t n_values;
  double bits;
} guess;

void clt_estimate_free(clt_estimate *estimate) {
  if (estimate == NULL) return;
  for (size_t i = 0; estimate->held && i < estimate->n_held; i++) free(estimate->held[i].users);
  free(estimate->held);
  free(estimate);
}

static int compare_bytes(const void *left, const void *right) {
  const clt_value *a = left, *b = right;
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  return (a->integer > b->integer) - (a->integer < b->integer);
}

/* Lists the values of a node if possible: those of a table, or the results of all pairs of operand values. The list may
 * be too long if both operands depend on the same parameters. */
static int guess_values(const clt_group *group, const double *parameter_bits, guess *guesses, uint32_t i) {
  const clt_flow_node *node = &group->flow->nodes[i];
  clt_op op = (clt_op)node->op;
  guess *out = &guesses[i];
  const clt_domain *domain = NULL;
  const guess *a = NULL, *b = NULL;
  size_t most = 1;
  if (node->n_support == 1) {
    for (size_t d = 0; domain == NULL; d++)
      if (group->domains[d]->parameter == clt_mask_least(node->support)) domain = group->domains[d];
    most = domain->n_positions;
  } else if (node->n_support == 2 && clt_op_arity(op) == 2) {
    a = &guesses[node->operands[0]];
    b = &guesses[node->operands[1]];
    most = a->n_values * b->n_values;
  }
  bool pairs = a && a->values && b->values && most <= MOST_PAIRS;
  if (node->n_support == 2 && !pairs) {
    bool truth = (op >= CLT_OP_EQUAL && op <= CLT_OP_GREATER_EQUAL) || op == CLT_OP_NOT || op == CLT_OP_BOOL ||
                 op == CLT_OP_INSIDE || op == CLT_OP_IN_RANGE;
    double bits = 0, all = 0;
    for (unsigned k = 0; k < clt_op_arity(op); k++) bits += guesses[node->operands[k]].bits;
    for (size_t p = 0; p < group->flow->n_parameters; p++)
      if (clt_mask_has(&node->support, p)) all += parameter_bits[p];
    out->bits = truth ? 1 : fmin(bits, all);
    return CLT_OK;
  }
  clt_value *values = out->values = clt_new_array(most, sizeof *values);
  if (values == NULL) return CLT_E_MEMORY;
  size_t n = node->n_support == 0 ? 1 : most, kept = 0;
  for (size_t k = 0; k < n; k++) {
    if (pairs) {
      const clt_value *operands[2] = {&a->values[k / b->n_values], &b->values[k % b->n_values]};
      values[k] = clt_op_apply(op, operands);
    } else {
      values[k] = domain ? node->table[domain->positions[k]] : node->value;
    }
  }
  qsort(values, n, sizeof *values, compare_bytes);
  for (size_t k = 0; k < n; k++)
    if (kept == 0 || compare_bytes(&values[kept - 1], &values[k]) != 0) values[kept++] = values[k];
  out->n_values = kept;
  out->bits = log2((double)(kept ? kept : 1));
  return CLT_OK;
}

/* Notes that a node is used by one with the support `user`. */
static int hold_node(clt_estimate *estimate, const clt_flow_node *node, guess *g, clt_mask user) {
  if (node->n_support == 0) return CLT_OK;
  if (g->held == 0) {
    estimate->held[estimate->n_held++] = (held){.support = node->support, .bits = g->bits};
    g->held = estimate->n_held;
  }
  held *h = &estimate->held[g->held - 1];
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

int clt_estimate_new(clt_estimate **out, const clt_group *group) {
  const clt_flow *flow = group->flow;
  clt_estimate *estimate = clt_new_array(1, sizeof *estimate);
  guess *guesses = clt_new_array(flow->n_nodes, sizeof *guesses);
  if (estimate) estimate->held = clt_new_array(flow->n_nodes, sizeof *estimate->held);
  int rc = guesses && estimate && estimate->held ? CLT_OK : CLT_E_MEMORY;
  if (rc) goto done;
  for (size_t i = 0; i < group->n_domains; i++) {
    size_t n = group->domains[i]->n_positions;
    estimate->parameter_bits[group->domains[i]->parameter] = log2((double)(n ? n : 1));
  }
  for (size_t i = 0; rc == CLT_OK && i < group->n_nodes; i++) {
    const clt_flow_node *node = &flow->nodes[group->nodes[i]];
    rc = guess_values(group, estimate->parameter_bits, guesses, group->nodes[i]);
    for (unsigned k = 0; rc == CLT_OK && k < clt_flow_arity(node); k++)
      rc = hold_node(estimate, &flow->nodes[node->operands[k]], &guesses[node->operands[k]], node->support);
  }
done:
  for (size_t i = 0; guesses && i < flow->n_nodes; i++) free(guesses[i].values);
  free(guesses);
  if (rc)
    clt_estimate_free(estimate);
  else
    *out = estimate;
  return rc;
}

/* log2 of the number of different states when these parameters are set. */
static double bits_behind(const clt_estimate *estimate, clt_mask set) {
  clt_mask support = {{0}};
  double bits = 0, most = 0;
  for (size_t i = 0; i < estimate->n_held; i++) {
    const held *h = &estimate->held[i];
    size_t known = 0;
    if (!clt_mask_within(h->support, set)) continue;
    while (known < h->n_users && clt_mask_within(h->users[known], set)) known++;
    if (known == h->n_users) continue;
    bits += h->bits;
    support = clt_mask_union(support, h->support);
  }
  for (clt_mask rest = support; clt_mask_count(rest) > 0;) {
    size_t p = clt_mask_least(rest);
    most += estimate->parameter_bits[p];
    rest.words[p / 64] &= rest.words[p / 64] - 1;
  }
  return fmin(bits, most);
}

/* --- greedy: the next domain is the one that increases the number of states least; of equal ones, the one with the
 * fewest positions --- */

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

/* --- thorough: for each set of parameters, the cheapest order that sets it; sets grow by one parameter per round ---
 */

typedef struct way {
  clt_mask set;
  double cost;   /* edges tried so far */
  double states; /* states after the last level */
  uint8_t order[CLT_MAX_PARAMETERS];
} way;

static int compare_costs(const void *left, const void *right) {
  const way *a = left, *b = right;
  double x = a->cost + a->states, y = b->cost + b->states;
  return (x > y) - (x < y);
}

int clt_order_well(clt_group *group, const clt_estimate *estimate) {
  size_t n = group->n_domains, width = MOST_WAYS / (n * n), n_ways = 1, n_longer;
  if (width > 256) width = 256;
  if (width < 8) width = 8;
  /* ways of this round and of the next; index: of the next, by set */
  way *ways = clt_new_array(width, sizeof *ways), *longer = clt_new_array(width * n, sizeof *longer);
  clt_map index = {0};
  int rc = ways && longer ? CLT_OK : CLT_E_MEMORY;
  if (rc == CLT_OK) ways[0] = (way){.states = 1};
  for (size_t length = 0; rc == CLT_OK && length < n; length++) {
    n_longer = 0;
    for (size_t i = 0; rc == CLT_OK && i < n_ways * n; i++) {
      const way *from = &ways[i / n];
      const clt_domain *domain = group->domains[i % n];
      clt_mask set = from->set;
      if (clt_mask_has(&set, domain->parameter)) continue;
      clt_mask_add(&set, domain->parameter);
      uint64_t key = clt_hash64(&set, sizeof set) >> 1, *entry;
      bool is_new = false;
      while ((entry = clt_map_add(&index, key, &is_new)) && !is_new &&
             memcmp(&longer[*entry].set, &set, sizeof set) != 0)
        key++;
      if (entry == NULL) {
        rc = CLT_E_MEMORY;
        break;
      }
      if (is_new) {
        *entry = n_longer++;
        longer[*entry] = (way){.set = set, .cost = INFINITY, .states = exp2(bits_behind(estimate, set))};
      }
      way *to = &longer[*entry];
      double cost = from->cost + from->states * (double)domain->n_positions;
      if (cost >= to->cost) continue;
      to->cost = cost;
      memcpy(to->order, from->order, length);
      to->order[length] = (uint8_t)(i % n);
    }
    clt_map_release(&index);
    if (n_longer > width) qsort(longer, n_longer, sizeof *longer, compare_costs);
    n_ways = n_longer < width ? n_longer : width;
    memcpy(ways, longer, n_ways * sizeof *ways);
  }
  if (rc == CLT_OK) {
    const clt_domain *sorted[CLT_MAX_PARAMETERS];
    for (size_t l = 0; l < n; l++) sorted[l] = group->domains[ways[0].order[l]];
    memcpy(group->domains, sorted, n * sizeof *sorted);
  }
  free(ways);
  free(longer);
  return rc;
}
