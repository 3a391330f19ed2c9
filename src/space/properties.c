/* Properties of a space, and configurations as positions and values. */
#include <string.h>

#include "base/json.h"
#include "space/parts.h"
#include "space/space.h"

size_t clt_space_n_parameters(const clt_space *space) { return space->n_parameters; }
const clt_parameter *clt_space_parameter(const clt_space *space, size_t index) { return &space->parameters[index]; }
uint64_t clt_space_cartesian(const clt_space *space) { return space->cartesian; }
uint64_t clt_space_valid(const clt_space *space) { return space->valid; }
size_t clt_space_n_groups(const clt_space *space) { return space->n_groups; }
double clt_space_build_s(const clt_space *space) { return space->build_s; }

int clt_space_find_parameter(const clt_space *space, const char *name) {
  for (size_t i = 0; i < space->n_parameters; i++)
    if (strcmp(space->parameters[i].name, name) == 0) return (int)i;
  return -1;
}

bool clt_space_same_parameters(const clt_space *a, const clt_space *b) {
  if (a->n_parameters != b->n_parameters) return false;
  for (size_t i = 0; i < a->n_parameters; i++) {
    const clt_parameter *p = &a->parameters[i], *q = &b->parameters[i];
    if (strcmp(p->name, q->name) != 0 || p->n_values != q->n_values) return false;
    for (size_t v = 0; v < p->n_values; v++)
      if (!clt_value_equal(p->values[v], q->values[v])) return false;
  }
  return true;
}

void clt_space_hash(clt_hasher *hasher, const clt_space *space) {
  char text[256];
  for (size_t p = 0; p < space->n_parameters; p++) {
    clt_hasher_add_text(hasher, space->parameters[p].name);
    for (size_t v = 0; v < space->parameters[p].n_values; v++) {
      clt_value_print(text, sizeof text, space->parameters[p].values[v]);
      clt_hasher_add_text(hasher, text);
    }
  }
}

void clt_space_positions(uint32_t *positions, const clt_space *space, clt_config config) {
  for (size_t i = space->n_parameters; i-- > 0;) {
    uint64_t n = space->parameters[i].n_values;
    positions[i] = (uint32_t)(config % n);
    config /= n;
  }
}

size_t clt_space_difference(const clt_space *space, clt_config a, clt_config b) {
  size_t n_different = 0;
  for (size_t i = 0; i < space->n_parameters; i++) { /* independent divisions, which the processor can overlap */
    uint64_t n = space->parameters[i].n_values, weight = space->weights[i];
    n_different += a / weight % n != b / weight % n;
  }
  return n_different;
}

clt_config clt_space_from_positions(const clt_space *space, const uint32_t *positions) {
  clt_config config = 0;
  for (size_t i = 0; i < space->n_parameters; i++) config += positions[i] * space->weights[i];
  return config;
}

clt_value clt_space_value(const clt_space *space, clt_config config, size_t parameter) {
  const clt_parameter *p = &space->parameters[parameter];
  return p->values[config / space->weights[parameter] % p->n_values];
}

void clt_space_values(const clt_space *space, const uint32_t *positions, clt_value *values) {
  for (size_t i = 0; i < space->n_parameters; i++) values[i] = space->parameters[i].values[positions[i]];
}
