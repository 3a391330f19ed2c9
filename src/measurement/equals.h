/* measurement/equals.h - configurations with equal programs.
 *
 * A generator may write the same source for several configurations. The first that is measured answers for them. */
#ifndef CLT_MEASUREMENT_EQUALS_H
#define CLT_MEASUREMENT_EQUALS_H

#include <clatune/measurement.h>

#include "base/hash.h"

/* The correct measurements of programs by clt_plan_hash; all zeros: none. */
typedef struct clt_equals {
  clt_map indices;
  clt_measurement *all; /* without logs */
  size_t n, capacity;
} clt_equals;

void clt_equals_release(clt_equals *equals);

/* Keeps m if it is correct. hash 0: its source was not generated. If memory is short, equal programs are measured
 * again. */
void clt_equals_keep(clt_equals *equals, uint64_t hash, const clt_measurement *m);

/* Puts the result of another configuration with this hash into m, except for the phases, which are those of m's own
 * preparation. False: there is none. */
bool clt_equals_answer(const clt_equals *equals, uint64_t hash, clt_measurement *m);

#endif
