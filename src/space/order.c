#include "space/order.h"

#include <math.h>
#include <string.h>

typedef struct ordering {
  const clt_domain *const *domains;
  size_t n;
  const clt_mask *supports;
  size_t n_supports;
} ordering;

/* The logarithm of how many combinations the parameters on hold have: set, and in a constraint that is still open. */
static double on_hold(const ordering *o, clt_mask set) {
  clt_mask open = {{0}};
  double total = 0;
  for (size_t i = 0; i < o->n_supports; i++)
    if (!clt_mask_within(o->supports[i], set)) open = clt_mask_union(open, o->supports[i]);
  for (size_t i = 0; i < o->n; i++) {
    uint32_t p = o->domains[i]->parameter;
    if (clt_mask_has(&set, p) && clt_mask_has(&open, p)) total += log2((double)o->domains[i]->n_positions);
  }
  return total;
}

/* How many constraints parameter p shares with the set ones. */
static size_t ties(const ordering *o, clt_mask set, uint32_t p) {
  size_t n = 0;
  for (size_t i = 0; i < o->n_supports; i++)
    n += clt_mask_has(&o->supports[i], p) && clt_mask_meets(o->supports[i], set);
  return n;
}

static size_t best_next(const ordering *o, clt_mask set) {
  size_t best = 0, best_ties = 0;
  double best_hold = INFINITY;
  for (size_t i = 0; i < o->n; i++) {
    uint32_t p = o->domains[i]->parameter;
    if (clt_mask_has(&set, p)) continue;
    clt_mask then = set;
    clt_mask_add(&then, p);
    double hold = on_hold(o, then);
    size_t t = ties(o, set, p);
    if (hold > best_hold || (hold == best_hold && t <= best_ties)) continue;
    best = i;
    best_hold = hold;
    best_ties = t;
  }
  return best;
}

/* Greedy from domain `start` on. Returns the cost: about how many edges are tried. */
static double greedy(const ordering *o, size_t start, size_t *order) {
  clt_mask set = {{0}};
  double cost = 0, hold = 0;
  for (size_t l = 0; l < o->n; l++) {
    order[l] = l == 0 ? start : best_next(o, set);
    const clt_domain *domain = o->domains[order[l]];
    cost += exp2(hold) * (double)domain->n_positions;
    clt_mask_add(&set, domain->parameter);
    hold = on_hold(o, set);
  }
  return cost;
}

/* The start whose greedy order has `variant` cheaper ones before it. */
static size_t choose_start(const ordering *o, size_t variant) {
  double costs[CLT_MAX_PARAMETERS];
  size_t order[CLT_MAX_PARAMETERS], n = o->n;
  bool taken[CLT_MAX_PARAMETERS] = {false};
  size_t best = 0;
  for (size_t i = 0; i < n; i++) costs[i] = greedy(o, i, order);
  for (size_t v = 0; v <= variant && v < n; v++) {
    best = n;
    for (size_t i = 0; i < n; i++)
      if (!taken[i] && (best == n || costs[i] < costs[best])) best = i;
    taken[best] = true;
  }
  return best;
}

void clt_order_domains(const clt_domain **domains, size_t n_domains, const clt_mask *supports, size_t n_supports,
                       size_t variant) {
  const clt_domain *sorted[CLT_MAX_PARAMETERS];
  size_t order[CLT_MAX_PARAMETERS];
  ordering o = {domains, n_domains, supports, n_supports};
  greedy(&o, choose_start(&o, variant), order);
  for (size_t l = 0; l < n_domains; l++) sorted[l] = domains[order[l]];
  memcpy(domains, sorted, n_domains * sizeof *sorted);
}
