/* Spaces: how they are made and what can be asked of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"
#include "space/space.h"

/* --- making --- */

/* The space but for its valid configurations. */
static int copy_builder(clt_space *space, const clt_space_builder *builder, clt_error *error) {
  if (builder->n_parameters == 0) return clt_fail(error, CLT_E_ARGUMENT, "there are no tuning parameters");
  space->parameters = clt_new_array(builder->n_parameters, sizeof *space->parameters);
  space->weights = clt_new_array(builder->n_parameters, sizeof *space->weights);
  space->constraints = clt_new_array(builder->n_constraints, sizeof *space->constraints);
  space->aliases = clt_new_array(builder->n_aliases, sizeof *space->aliases);
  if (!space->parameters || !space->weights || !space->constraints || !space->aliases) return clt_fail_memory(error);
  for (size_t i = 0; i < builder->n_parameters; i++) {
    const clt_parameter *from = &builder->parameters[i];
    clt_parameter *to = &space->parameters[space->n_parameters++];
    *to = (clt_parameter){strdup(from->name), clt_values_copy(from->values, from->n_values), from->n_values};
    if (to->name == NULL || to->values == NULL) return clt_fail_memory(error);
  }
  for (size_t i = 0; i < builder->n_constraints; i++) {
    const clt_constraint *from = &builder->constraints[i];
    clt_constraint *to = &space->constraints[space->n_constraints++];
    *to = (clt_constraint){clt_expr_share(from->expr), strdup(from->message), from->origin};
    if (to->message == NULL) return clt_fail_memory(error);
  }
  for (size_t i = 0; i < builder->n_aliases; i++) {
    space->aliases[space->n_aliases++] = builder->aliases[i];
    clt_expr_share(builder->aliases[i].when);
  }
  space->cartesian = 1;
  for (size_t i = space->n_parameters; i-- > 0;) {
    space->weights[i] = space->cartesian;
    if (__builtin_mul_overflow(space->cartesian, (uint64_t)space->parameters[i].n_values, &space->cartesian) ||
        space->cartesian > (uint64_t)1 << 63)
      return clt_fail(error, CLT_E_RANGE,
                      "the cartesian product of the values exceeds 2^63 configurations; list fewer values");
  }
  return CLT_OK;
}

static int list_configs(clt_space *space, const clt_config *configs, size_t n, clt_error *error) {
  space->listed = true;
  space->valid = n;
  space->configs = clt_new_array(n, sizeof *space->configs);
  if (space->configs == NULL) return clt_fail_memory(error);
  if (n) memcpy(space->configs, configs, n * sizeof *configs);
  clt_sort_u64(space->configs, n);
  for (size_t i = 0; i < n; i++) {
    if (space->configs[i] >= space->cartesian)
      return clt_fail(error, CLT_E_ARGUMENT, "a listed configuration is outside of the cartesian product");
    if (i > 0 && space->configs[i] == space->configs[i - 1]) {
      char text[400];
      clt_config_print(text, sizeof text, space, space->configs[i]);
      return clt_fail(error, CLT_E_ARGUMENT, "a configuration is listed twice: %s", text);
    }
  }
  return CLT_OK;
}

/* limits NULL: the valid configurations are the n listed ones. */
static int make_space(clt_space **out, const clt_space_builder *builder, const clt_diagram_limits *limits,
                      const clt_config *configs, size_t n, clt_error *error) {
  double start_s = clt_now_s();
  clt_space *space = clt_new_array(1, sizeof *space);
  if (space == NULL) return clt_fail_memory(error);
  int rc = copy_builder(space, builder, error);
  if (rc == CLT_OK)
    rc = limits ? clt_space_build_groups(space, *limits, error) : list_configs(space, configs, n, error);
  if (rc) return clt_space_free(space), rc;
  space->build_s = clt_now_s() - start_s;
  *out = space;
  return CLT_OK;
}

int clt_space_new_within(clt_space **out, const clt_space_builder *builder, clt_diagram_limits limits,
                         clt_error *error) {
  return make_space(out, builder, &limits, NULL, 0, error);
}

int clt_space_new(clt_space **out, const clt_space_builder *builder, clt_error *error) {
  return clt_space_new_within(out, builder, CLT_SPACE_LIMITS, error);
}

int clt_space_new_explicit(clt_space **out, const clt_space_builder *builder, const clt_config *configs, size_t n,
                           clt_error *error) {
  return make_space(out, builder, NULL, configs, n, error);
}

void clt_space_free(clt_space *space) {
  if (space == NULL) return;
  clt_space_release_contents(space->parameters, space->n_parameters, space->constraints, space->n_constraints,
                             space->aliases, space->n_aliases);
  for (size_t i = 0; i < space->n_groups; i++) clt_diagram_free(space->groups[i]);
  free(space->weights);
  free(space->groups);
  free(space->configs);
  free(space);
}

/* --- asking --- */

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

const char *clt_space_violation(const clt_space *space, clt_config config, clt_constraint_origin *origin) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_value values[CLT_MAX_PARAMETERS], result;
  if (origin) *origin = CLT_CONDITION;
  if (config >= space->cartesian) return "not among the listed values";
  if (space->listed) return clt_space_contains(space, config) ? NULL : "not among the recorded configurations";
  clt_space_positions(positions, space, config);
  clt_space_values(space, positions, values);
  for (size_t i = 0; i < space->n_constraints; i++) {
    const clt_constraint *c = &space->constraints[i];
    if (clt_expr_eval(c->expr, values, &result, NULL) == CLT_OK && clt_value_truthy(result)) continue;
    if (origin) *origin = c->origin;
    return c->message;
  }
  return NULL;
}
