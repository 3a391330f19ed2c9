#include "space/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* --- quick --- */

/* Positions of the domain that grow the number of states least; the one with the fewest of equals. */
static size_t best_next(const clt_domain *const *domains, size_t from, size_t n, const clt_estimate *estimate,
                        clt_mask set) {
  size_t best = from;
  double best_bits = INFINITY;
  for (size_t i = from; i < n; i++) {
    clt_mask then = set;
    clt_mask_add(&then, domains[i]->parameter);
    double bits = clt_estimate_bits(estimate, then);
    if (bits > best_bits || (bits == best_bits && domains[i]->n_positions >= domains[best]->n_positions)) continue;
    best = i;
    best_bits = bits;
  }
  return best;
}

void clt_order_quickly(const clt_domain **domains, size_t n_domains, const clt_estimate *estimate) {
  clt_mask set = {{0}};
  for (size_t l = 0; l < n_domains; l++) {
    size_t best = best_next(domains, l, n_domains, estimate, set);
    const clt_domain *chosen = domains[best];
    memmove(&domains[l + 1], &domains[l], (best - l) * sizeof *domains);
    domains[l] = chosen;
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

typedef struct search {
  const clt_domain *const *domains;
  size_t n;
  const clt_estimate *estimate;
  way *ways, *longer; /* of this round and the next */
  size_t n_ways, n_longer, width;
  clt_table index; /* of `longer`, by set */
} search;

static int by_cost(const void *left, const void *right) {
  const way *a = left, *b = right;
  double x = a->cost + a->states, y = b->cost + b->states;
  return (x > y) - (x < y);
}

/* The entry for a set: a known one, or a new one without cost yet. */
static way *find_way(search *s, clt_mask set) {
  uint64_t hash = clt_hash64(&set, sizeof set);
  size_t at;
  if (clt_table_reserve(&s->index)) return NULL;
  for (uint32_t i = clt_table_first(&s->index, hash, &at); i != CLT_TABLE_NONE;
       i = clt_table_next(&s->index, hash, &at))
    if (memcmp(&s->longer[i].set, &set, sizeof set) == 0) return &s->longer[i];
  clt_table_put(&s->index, hash, at, (uint32_t)s->n_longer);
  way *out = &s->longer[s->n_longer++];
  *out = (way){.set = set, .cost = INFINITY, .states = exp2(clt_estimate_bits(s->estimate, set))};
  return out;
}

static int lengthen(search *s, const way *from, size_t length) {
  for (size_t i = 0; i < s->n; i++) {
    clt_mask set = from->set;
    if (clt_mask_has(&set, s->domains[i]->parameter)) continue;
    clt_mask_add(&set, s->domains[i]->parameter);
    double cost = from->cost + from->states * (double)s->domains[i]->n_positions;
    way *to = find_way(s, set);
    if (to == NULL) return CLT_E_MEMORY;
    if (cost >= to->cost) continue;
    to->cost = cost;
    memcpy(to->order, from->order, length);
    to->order[length] = (uint8_t)i;
  }
  return CLT_OK;
}

static int run(search *s) {
  int rc = CLT_OK;
  s->ways[0] = (way){.states = 1};
  s->n_ways = 1;
  for (size_t length = 0; rc == CLT_OK && length < s->n; length++) {
    s->n_longer = 0;
    for (size_t i = 0; rc == CLT_OK && i < s->n_ways; i++) rc = lengthen(s, &s->ways[i], length);
    clt_table_release(&s->index);
    if (s->n_longer > s->width) qsort(s->longer, s->n_longer, sizeof *s->longer, by_cost);
    s->n_ways = s->n_longer < s->width ? s->n_longer : s->width;
    memcpy(s->ways, s->longer, s->n_ways * sizeof *s->ways);
  }
  return rc;
}

int clt_order_well(const clt_domain **domains, size_t n_domains, const clt_estimate *estimate) {
  search s = {.domains = domains, .n = n_domains, .estimate = estimate};
  s.width = 200000 / (n_domains * n_domains);
  s.width = s.width > 256 ? 256 : s.width < 8 ? 8 : s.width;
  s.ways = clt_new_array(s.width, sizeof *s.ways);
  s.longer = clt_new_array(s.width * n_domains, sizeof *s.longer);
  int rc = s.ways && s.longer ? run(&s) : CLT_E_MEMORY;
  if (rc == CLT_OK) {
    const clt_domain *sorted[CLT_MAX_PARAMETERS];
    for (size_t l = 0; l < n_domains; l++) sorted[l] = domains[s.ways[0].order[l]];
    memcpy(domains, sorted, n_domains * sizeof *sorted);
  }
  clt_table_release(&s.index);
  free(s.ways);
  free(s.longer);
  return rc;
}
