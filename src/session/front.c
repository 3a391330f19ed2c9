/* Several objectives: the configurations that no other one dominates, and which of them become finalists. */
#include "base/base.h"
#include "session/session.h"

void clt_front_clear(clt_measurement **front, size_t *n) {
  for (size_t i = 0; i < *n; i++) clt_measurement_release(&(*front)[i]);
  free(*front);
  *front = NULL;
  *n = 0;
}

void clt_front_remove(clt_tune_result *r, clt_config config) {
  for (size_t i = r->n_front; i-- > 0;) {
    if (r->front[i].config != config) continue;
    clt_measurement_release(&r->front[i]);
    r->front[i] = r->front[--r->n_front];
  }
}

int clt_front_offer(bool *changed, clt_tune_result *r, const clt_objective *o, const clt_measurement *m,
                    clt_error *error) {
  double costs[CLT_MOST_OBJECTIVES], others[CLT_MOST_OBJECTIVES];
  const size_t n = clt_objective_n(o);
  clt_front_remove(r, m->config);
  if (changed) *changed = false;
  if (!clt_objective_costs(o, m, costs)) return CLT_OK;
  for (size_t i = 0; i < r->n_front; i++) {
    clt_objective_costs(o, &r->front[i], others);
    /* Of equal ones the lower configuration, so that the front does not depend on the order of answers. */
    const bool equal = memcmp(others, costs, n * sizeof *costs) == 0;
    if (clt_costs_dominate(others, costs, n) || (equal && r->front[i].config < m->config)) return CLT_OK;
  }
  for (size_t i = r->n_front; i-- > 0;) {
    clt_objective_costs(o, &r->front[i], others);
    if (clt_costs_dominate(costs, others, n) || memcmp(others, costs, n * sizeof *costs) == 0)
      clt_front_remove(r, r->front[i].config);
  }
  clt_measurement *grown = realloc(r->front, (r->n_front + 1) * sizeof *grown);
  if (grown == NULL) return clt_fail_memory(error);
  r->front = grown;
  clt_measurement_init(&r->front[r->n_front], CLT_CONFIG_NONE);
  if (changed) *changed = true;
  return clt_session_keep(&r->front[r->n_front++], m->config, m, error);
}

typedef struct front_member {
  double costs[CLT_MOST_OBJECTIVES]; /* logarithms, from 0 to 1 over the front */
  double apart;                      /* the distance from the nearest one that is chosen */
  clt_config config;
  clt_measurement measurement;
} front_member;

static int by_first_cost(const void *a, const void *b) {
  const front_member *x = a, *y = b;
  if (x->costs[0] != y->costs[0]) return (x->costs[0] > y->costs[0]) - (x->costs[0] < y->costs[0]);
  return (x->config > y->config) - (x->config < y->config);
}

static front_member *new_members(clt_tune_result *r, const clt_objective *o) {
  front_member *members = clt_new_array(r->n_front, sizeof *members);
  for (size_t i = 0; members && i < r->n_front; i++) {
    members[i] = (front_member){.apart = INFINITY, .config = r->front[i].config, .measurement = r->front[i]};
    clt_objective_costs(o, &r->front[i], members[i].costs);
    for (size_t k = 0; k < clt_objective_n(o); k++) members[i].costs[k] = log(members[i].costs[k]);
  }
  if (members) qsort(members, r->n_front, sizeof *members, by_first_cost);
  return members;
}

int clt_front_sort(clt_tune_result *r, const clt_objective *o, clt_error *error) {
  front_member *members = new_members(r, o);
  if (members == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < r->n_front; i++) r->front[i] = members[i].measurement;
  free(members);
  return CLT_OK;
}

int clt_front_spread(clt_config *out, size_t *n_out, size_t most, clt_tune_result *r, const clt_objective *o,
                     clt_error *error) {
  const size_t n = r->n_front, n_costs = clt_objective_n(o);
  front_member *members = new_members(r, o);
  if (members == NULL) return clt_fail_memory(error);
  for (size_t c = 0; c < n_costs; c++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) low = fmin(low, members[i].costs[c]), high = fmax(high, members[i].costs[c]);
    for (size_t i = 0; i < n; i++) members[i].costs[c] = high > low ? (members[i].costs[c] - low) / (high - low) : 0;
  }
  for (*n_out = 0; *n_out < n && *n_out < most; ++*n_out) {
    size_t next = *n_out;
    for (size_t i = next + 1; i < n; i++) {
      const bool is_best = *n_out < n_costs; /* first the best by each objective */
      if (is_best ? members[i].costs[*n_out] < members[next].costs[*n_out] : members[i].apart > members[next].apart)
        next = i;
    }
    const front_member chosen = members[next];
    members[next] = members[*n_out];
    members[*n_out] = chosen;
    for (size_t k = *n_out + 1; k < n; k++) { /* how far the others are from it */
      double sum = 0;
      for (size_t c = 0; c < n_costs; c++) sum += pow(members[k].costs[c] - chosen.costs[c], 2);
      members[k].apart = fmin(members[k].apart, sum);
    }
    out[*n_out] = chosen.config;
  }
  free(members);
  return CLT_OK;
}
