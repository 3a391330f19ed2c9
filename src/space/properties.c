/* Properties of a space, and configurations as positions and values. */
#include "base/json.h"
#include "space/parts.h"
#include "space/space.h"

size_t clt_space_n_parameters(const clt_space *space) { return space->n_parameters; }
const clt_parameter *clt_space_parameter(const clt_space *space, size_t index) { return &space->parameters[index]; }

uint64_t clt_space_cartesian(const clt_space *space) {
  return space->ranked || space->cartesian > INT64_MAX ? INT64_MAX : space->cartesian;
}

uint64_t clt_space_valid(const clt_space *space) { return space->valid; }
size_t clt_space_n_groups(const clt_space *space) { return space->n_groups; }
double clt_space_build_s(const clt_space *space) { return space->build_s; }

int clt_space_find_parameter(const clt_space *space, const char *name) {
  for (size_t i = 0; i < space->n_parameters; i++)
    if (strcmp(space->parameters[i].name, name) == 0) return (int)i;
  return -1;
}

bool clt_parameter_same_values(const clt_parameter *a, const clt_parameter *b) {
  size_t v = 0;
  if (a->n_values != b->n_values) return false;
  while (v < a->n_values && clt_value_equal(a->values[v], b->values[v])) v++;
  return v == a->n_values;
}

static bool same_diagram(const clt_diagram *a, const clt_diagram *b) {
  return a->n_levels == b->n_levels && a->n_distinct == b->n_distinct && a->n_edges == b->n_edges &&
         memcmp(a->parameters, b->parameters, a->n_levels * sizeof *a->parameters) == 0 &&
         (a->n_edges == 0 || memcmp(a->edges, b->edges, a->n_edges * sizeof *a->edges) == 0);
}

bool clt_space_same_parameters(const clt_space *a, const clt_space *b) {
  if (a->met || b->met) return a == b;
  if (a->n_parameters != b->n_parameters) return false;
  for (size_t i = 0; i < a->n_parameters; i++) {
    const clt_parameter *p = &a->parameters[i], *q = &b->parameters[i];
    if (strcmp(p->name, q->name) != 0 || !clt_parameter_same_values(p, q)) return false;
  }
  if (a->ranked && a->n_groups != b->n_groups) return false;
  for (size_t g = 0; a->ranked && g < a->n_groups; g++)
    if (!same_diagram(a->groups[g], b->groups[g])) return false;
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

bool clt_space_is_ranked(const clt_space *space) { return space->ranked; }
bool clt_space_has_too_many(const clt_space *space) { return space->met != NULL; }

bool clt_space_numbers(const clt_space *space, clt_config config) {
  if (space->met) return config < clt_met_count(space->met);
  return config < (space->ranked ? space->valid : space->cartesian);
}

size_t clt_space_distinct(const clt_space *space, size_t set, uint32_t members[CLT_MAX_PARAMETERS]) {
  size_t n = 0;
  for (size_t p = 0; p < space->n_parameters; p++)
    if (space->distinct_of[p] == set) members[n++] = (uint32_t)p;
  return n;
}

size_t clt_space_distinct_of(const clt_space *space, size_t parameter) { return space->distinct_of[parameter]; }

void clt_space_move(const clt_space *space, uint32_t *positions, size_t parameter, uint32_t position, bool shift) {
  const size_t set = space->distinct_of[parameter];
  const uint32_t own = positions[parameter];
  bool taken = false;
  for (size_t p = 0; set != CLT_NO_GROUP && p < space->n_parameters; p++)
    taken |= space->distinct_of[p] == set && positions[p] == position;
  for (size_t p = 0; taken && p < space->n_parameters; p++) {
    if (space->distinct_of[p] != set) continue;
    if (!shift && positions[p] == position) positions[p] = own;
    if (shift && positions[p] > own && positions[p] <= position)
      positions[p]--;
    else if (shift && positions[p] < own && positions[p] >= position)
      positions[p]++;
  }
  positions[parameter] = position;
}

bool clt_space_is_neighbour(const clt_space *space, clt_config a, clt_config b) {
  uint32_t from[CLT_MAX_PARAMETERS], to[CLT_MAX_PARAMETERS], moved[CLT_MAX_PARAMETERS];
  const size_t bytes = space->n_parameters * sizeof *from;
  clt_space_positions(from, space, a);
  clt_space_positions(to, space, b);
  if (space->n_distinct == 0) return clt_space_difference(space, a, b) == 1;
  size_t moves = 0; /* the parameter that moves furthest; those in between move by one */
  for (size_t p = 1; p < space->n_parameters; p++)
    if (abs((int)from[p] - (int)to[p]) > abs((int)from[moves] - (int)to[moves])) moves = p;
  for (int shift = 0; from[moves] != to[moves] && shift < 2; shift++) {
    memcpy(moved, from, bytes);
    clt_space_move(space, moved, moves, to[moves], shift);
    if (memcmp(moved, to, bytes) == 0) return true;
  }
  return false;
}

void clt_space_positions(uint32_t *positions, const clt_space *space, clt_config config) {
  if (space->met && clt_space_numbers(space, config)) {
    clt_met_positions(positions, space->met, config);
    return;
  }
  if (space->ranked) {
    clt_space_unrank(positions, space, space->met ? CLT_CONFIG_NONE : config);
    return;
  }
  for (size_t i = space->n_parameters; i-- > 0;) {
    uint64_t n = space->parameters[i].n_values;
    positions[i] = (uint32_t)(config % n);
    config /= n;
  }
}

bool clt_space_agree(const clt_space *space, clt_config a, clt_config b, size_t parameter) {
  return clt_value_equal(clt_space_value(space, a, parameter), clt_space_value(space, b, parameter));
}

size_t clt_space_difference(const clt_space *space, clt_config a, clt_config b) {
  size_t n_different = 0;
  if (space->ranked) {
    uint32_t p[CLT_MAX_PARAMETERS], q[CLT_MAX_PARAMETERS];
    clt_space_positions(p, space, a);
    clt_space_positions(q, space, b);
    for (size_t i = 0; i < space->n_parameters; i++) n_different += p[i] != q[i];
    return n_different;
  }
  for (size_t i = 0; i < space->n_parameters; i++) { /* independent divisions, which the processor can overlap */
    uint64_t n = space->parameters[i].n_values, weight = space->weights[i];
    n_different += a / weight % n != b / weight % n;
  }
  return n_different;
}

clt_config clt_space_from_positions(const clt_space *space, const uint32_t *positions) {
  clt_config config = 0;
  if (space->ranked && !clt_space_rank_positions(&config, space, positions)) return CLT_CONFIG_NONE;
  if (space->ranked) return space->met ? clt_met_number(space->met, positions) : config;
  for (size_t i = 0; i < space->n_parameters; i++) config += positions[i] * space->weights[i];
  return config;
}

clt_value clt_space_value(const clt_space *space, clt_config config, size_t parameter) {
  const clt_parameter *p = &space->parameters[parameter];
  if (space->ranked) {
    uint32_t positions[CLT_MAX_PARAMETERS];
    clt_space_positions(positions, space, config);
    return p->values[positions[parameter]];
  }
  return p->values[config / space->weights[parameter] % p->n_values];
}

void clt_space_values(const clt_space *space, const uint32_t *positions, clt_value *values) {
  for (size_t i = 0; i < space->n_parameters; i++) values[i] = space->parameters[i].values[positions[i]];
}
