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

int clt_space_count_aliases(uint64_t *out, const clt_space *space, clt_error *error) {
  uint64_t aliased = 0;
  if (space->listed || space->n_aliases == 0 || space->valid == 0) {
    for (uint64_t rank = 0; space->n_aliases > 0 && rank < space->valid; rank++)
      aliased += clt_space_canonical(space, space->configs[rank]) != space->configs[rank];
    *out = aliased;
    return CLT_OK;
  }
  /* The groups that decide whether a configuration is canonical are those of the parameters that an alias reads or
   * sets. A constraint on a parameter that is set lies in its group, so the others have no say: one part of each is
   * enough. */
  bool *decides = clt_new_array(space->n_groups, sizeof *decides);
  uint64_t combinations = 1;
  clt_config rest = 0;
  if (decides == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < space->n_aliases; i++) {
    const clt_expr *when = space->aliases[i].when;
    for (size_t k = 0; k <= clt_expr_n_slots(when); k++) { /* the last one is for the parameter that is set */
      size_t p = k < clt_expr_n_slots(when) ? clt_expr_slot(when, k) : space->aliases[i].parameter;
      int group = p < space->n_parameters ? clt_space_group_of(space, p) : -1;
      if (group >= 0) decides[group] = true;
    }
  }
  for (size_t g = 0; g < space->n_groups; g++) {
    if (!decides[g])
      rest += clt_space_group_at(space, g, 0);
    else if (__builtin_mul_overflow(combinations, space->groups[g]->valid, &combinations))
      combinations = UINT64_MAX;
  }
  for (uint64_t i = 0; combinations <= MAX_LOOKED_AT && i < combinations; i++) {
    clt_config config = rest;
    uint64_t left = i;
    for (size_t g = 0; g < space->n_groups; g++) {
      if (!decides[g]) continue;
      config += clt_space_group_at(space, g, left % space->groups[g]->valid);
      left /= space->groups[g]->valid;
    }
    aliased += clt_space_canonical(space, config) != config;
  }
  free(decides);
  if (combinations > MAX_LOOKED_AT)
    return clt_fail(error, CLT_E_RANGE, "the aliases depend on more than %llu combinations of values",
                    (unsigned long long)MAX_LOOKED_AT);
  *out = aliased * (space->valid / combinations);
  return CLT_OK;
}
