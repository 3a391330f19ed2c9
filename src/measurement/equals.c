/* Configurations with equal programs. */
#include "measurement/measurement.h"

#include <stdlib.h>

#include "base/base.h"

void clt_equals_release(clt_equals *equals) {
  clt_map_release(&equals->indices);
  free(equals->all);
  *equals = (clt_equals){.n = 0};
}

void clt_equals_keep(clt_equals *equals, uint64_t hash, const clt_measurement *m) {
  bool is_new = false;
  if (hash == 0 || !clt_measurement_correct(m)) return;
  if (clt_grow(&equals->all, &equals->capacity, equals->n + 1, sizeof *equals->all)) return;
  uint64_t *index = clt_map_add(&equals->indices, hash, &is_new);
  if (index == NULL) return;
  if (is_new) *index = equals->n++;
  equals->all[*index] = *m;
  equals->all[*index].log = NULL;
}

bool clt_equals_answer(const clt_equals *equals, uint64_t hash, clt_measurement *m) {
  const uint64_t *index = clt_map_find(&equals->indices, hash);
  if (index == NULL || equals->all[*index].config == m->config) return false; /* it is to be measured again */
  const clt_config config = m->config;
  const clt_phases phases = m->phases;
  clt_measurement_release(m);
  *m = equals->all[*index];
  m->config = config;
  m->phases = phases;
  return true;
}
