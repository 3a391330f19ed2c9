/* Configurations that stand for others. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/parts.h"
#include "space/space.h"

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

/* Aliases that lead in a circle name all of its members: the least one stands for them. Circles are found by a second
 * walk at half the speed. */
clt_config clt_space_canonical(const clt_space *space, clt_config config) {
  if (space->n_aliases == 0 || config >= space->cartesian) return config;
  clt_config end = config, slow = config;
  for (uint64_t step = 1;; step++) {
    clt_config next = apply_alias(space, end);
    if (next == end) break;
    end = next;
    if (step % 2 == 0) slow = apply_alias(space, slow);
    if (end != slow) continue;
    for (clt_config c = apply_alias(space, slow); c != slow; c = apply_alias(space, c))
      if (c < end) end = c;
    break;
  }
  return end != config && clt_space_contains(space, end) ? end : config;
}

static void mark_group(bool *decides, const clt_space *space, size_t parameter) {
  int group = parameter < space->n_parameters ? clt_space_group_of(space, parameter) : -1;
  if (group >= 0) decides[group] = true;
}

/* The groups that decide whether a configuration is canonical are those of the parameters that an alias reads or sets.
 * A constraint on a parameter that is set lies in its group, so the others have no say: one part of each is enough. */
static int count_in_product(uint64_t *out, const clt_space *space, clt_error *error) {
  bool *decides = clt_new_array(space->n_groups, sizeof *decides);
  uint64_t combinations = 1, aliased = 0;
  clt_config rest = 0;
  if (decides == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < space->n_aliases; i++) {
    const clt_alias *alias = &space->aliases[i];
    mark_group(decides, space, alias->parameter);
    for (size_t k = 0; k < clt_expr_n_slots(alias->when); k++)
      mark_group(decides, space, clt_expr_slot(alias->when, k));
  }
  for (size_t g = 0; g < space->n_groups; g++) {
    if (!decides[g])
      rest += clt_space_group_at(space, g, 0);
    else if (__builtin_mul_overflow(combinations, clt_space_group_valid(space, g), &combinations))
      combinations = UINT64_MAX;
  }
  int rc = combinations <= MAX_LOOKED_AT
               ? CLT_OK
               : clt_fail(error, CLT_E_RANGE, "the aliases depend on more than %llu combinations of values",
                          (unsigned long long)MAX_LOOKED_AT);
  for (uint64_t i = 0; rc == CLT_OK && i < combinations; i++) {
    clt_config config = rest;
    uint64_t left = i;
    for (size_t g = 0; g < space->n_groups; g++) {
      if (!decides[g]) continue;
      config += clt_space_group_at(space, g, left % clt_space_group_valid(space, g));
      left /= clt_space_group_valid(space, g);
    }
    aliased += clt_space_canonical(space, config) != config;
  }
  if (rc == CLT_OK) *out = aliased * (space->valid / combinations);
  free(decides);
  return rc;
}

int clt_space_count_aliases(uint64_t *out, const clt_space *space, clt_error *error) {
  uint64_t aliased = 0;
  if (space->n_aliases == 0 || space->valid == 0) return *out = 0, CLT_OK;
  if (!space->listed) return count_in_product(out, space, error);
  for (uint64_t rank = 0; rank < space->valid; rank++)
    aliased += clt_space_canonical(space, space->configs[rank]) != space->configs[rank];
  *out = aliased;
  return CLT_OK;
}
