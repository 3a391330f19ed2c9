/* Configurations that stand for others. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/parts.h"

#define MAX_LOOKED_AT ((uint64_t)1 << 22) /* within a second */

bool clt_space_has_aliases(const clt_space *space) { return space->n_aliases > 0; }

/* The first alias that holds and changes something is applied. */
static clt_config apply_alias(const clt_space *space, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_value values[CLT_MAX_PARAMETERS], when;
  clt_space_positions(space, config, positions);
  clt_space_values(space, positions, values);
  for (size_t i = 0; i < space->n_aliases; i++) {
    const clt_alias *a = &space->aliases[i];
    if (positions[a->parameter] == a->position) continue;
    if (clt_expr_eval(a->when, values, &when, NULL) || !clt_value_truthy(when)) continue;
    return config + (a->position - (uint64_t)positions[a->parameter]) * space->weights[a->parameter];
  }
  return config;
}

/* Aliases that lead in a circle name all of its members: the least one stands for them. */
static clt_config least_of_circle(const clt_space *space, clt_config member) {
  clt_config least = member;
  for (clt_config c = apply_alias(space, member); c != member; c = apply_alias(space, c))
    if (c < least) least = c;
  return least;
}

clt_config clt_space_canonical(const clt_space *space, clt_config config) {
  if (space->n_aliases == 0 || config >= space->cartesian) return config;
  clt_config end = config, slow = config;
  for (uint64_t step = 1;; step++) {
    clt_config next = apply_alias(space, end);
    if (next == end) break;
    end = next;
    if (step % 2 == 0) slow = apply_alias(space, slow);
    if (end == slow) {
      end = least_of_circle(space, end);
      break;
    }
  }
  return end != config && clt_space_contains(space, end) ? end : config;
}

/* --- how many there are --- */

/* The groups that decide whether a configuration stands for itself: those of the parameters that an alias reads or
 * sets. A constraint on a parameter that is set lies in its group, so the others have no say. */
typedef struct deciders {
  const clt_space *space;
  size_t *groups;
  size_t n;
  uint64_t combinations; /* of their parts; UINT64_MAX: that many or more */
  clt_config rest;       /* some part of each other group */
} deciders;

static void add_group_of(bool *decides, const clt_space *space, size_t parameter) {
  int group = parameter < space->n_parameters ? clt_space_group_of(space, parameter) : -1;
  if (group >= 0) decides[group] = true;
}

static void add_groups(bool *decides, const clt_space *space) {
  for (size_t i = 0; i < space->n_aliases; i++) {
    const clt_alias *alias = &space->aliases[i];
    add_group_of(decides, space, alias->parameter);
    for (size_t k = 0; k < clt_expr_n_slots(alias->when); k++)
      add_group_of(decides, space, clt_expr_slot(alias->when, k));
  }
}

static void take_group(deciders *d, size_t group) {
  uint64_t parts = clt_space_group_valid(d->space, group);
  d->groups[d->n++] = group;
  if (__builtin_mul_overflow(d->combinations, parts, &d->combinations)) d->combinations = UINT64_MAX;
}

static int find_deciders(deciders *d, const clt_space *space, clt_error *error) {
  bool *decides = clt_new_array(space->n_groups, sizeof *decides);
  *d = (deciders){space, clt_new_array(space->n_groups, sizeof *d->groups), 0, 1, 0};
  if (decides && d->groups) add_groups(decides, space);
  for (size_t g = 0; decides && d->groups && g < space->n_groups; g++) {
    if (decides[g]) {
      take_group(d, g);
    } else {
      d->rest += clt_space_group_at(space, g, 0);
    }
  }
  int rc = decides && d->groups ? CLT_OK : clt_fail_memory(error);
  free(decides);
  return rc;
}

/* The n-th combination of the deciders' parts, the rest as it is. */
static clt_config combine(const deciders *d, uint64_t n) {
  clt_config config = d->rest;
  for (size_t i = 0; i < d->n; i++) {
    uint64_t parts = clt_space_group_valid(d->space, d->groups[i]);
    config += clt_space_group_at(d->space, d->groups[i], n % parts);
    n /= parts;
  }
  return config;
}

static int count_product(uint64_t *out, const clt_space *space, clt_error *error) {
  deciders d;
  uint64_t aliased = 0;
  int rc = find_deciders(&d, space, error);
  if (rc == CLT_OK && d.combinations > MAX_LOOKED_AT)
    rc = clt_fail(error, CLT_E_RANGE, "the aliases depend on more than %llu combinations of values",
                  (unsigned long long)MAX_LOOKED_AT);
  for (uint64_t i = 0; rc == CLT_OK && i < d.combinations; i++) {
    clt_config config = combine(&d, i);
    aliased += clt_space_canonical(space, config) != config;
  }
  if (rc == CLT_OK) *out = d.combinations ? aliased * (space->valid / d.combinations) : 0;
  free(d.groups);
  return rc;
}

int clt_space_count_aliases(uint64_t *out, const clt_space *space, clt_error *error) {
  uint64_t aliased = 0;
  if (space->n_aliases == 0 || space->valid == 0) return *out = 0, CLT_OK;
  if (!space->listed) return count_product(out, space, error);
  for (uint64_t rank = 0; rank < space->valid; rank++)
    aliased += clt_space_canonical(space, space->configs[rank]) != space->configs[rank];
  *out = aliased;
  return CLT_OK;
}
