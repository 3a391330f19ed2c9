#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"

/* --- parameters --- */

static int copy_parameters(clt_space *space, const clt_space_builder *builder, clt_error *error) {
  space->parameters = clt_new_array(builder->n_parameters, sizeof *space->parameters);
  space->weights = clt_new_array(builder->n_parameters, sizeof *space->weights);
  if (space->parameters == NULL || space->weights == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < builder->n_parameters; i++) {
    const clt_parameter *from = &builder->parameters[i];
    clt_parameter *to = &space->parameters[space->n_parameters++];
    to->name = strdup(from->name);
    to->values = clt_values_copy(from->values, from->n_values);
    to->n_values = from->n_values;
    if (to->name == NULL || to->values == NULL) return clt_fail_memory(error);
  }
  return CLT_OK;
}

static int weigh(clt_space *space, clt_error *error) {
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

/* --- constraints and aliases --- */

static int copy_constraints(clt_space *space, const clt_space_builder *builder, const clt_symbol *symbols, size_t n,
                            clt_error *error) {
  space->constraints = clt_new_array(builder->n_constraints, sizeof *space->constraints);
  if (space->constraints == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < builder->n_constraints; i++) {
    const clt_constraint_text *from = &builder->constraints[i];
    clt_constraint *to = &space->constraints[i];
    int rc = clt_expr_compile(&to->expr, from->text, symbols, n, error);
    if (rc) return rc;
    space->n_constraints++;
    to->origin = from->origin;
    to->message = strdup(from->message);
    if (to->message == NULL) return clt_fail_memory(error);
  }
  return CLT_OK;
}

static int find_value(const clt_space *space, const clt_alias_text *from, clt_alias *to, clt_error *error) {
  int p = clt_space_find_parameter(space, from->name);
  if (p < 0)
    return clt_fail(error, CLT_E_NOT_FOUND, "an alias is for '%.200s', which is no tuning parameter", from->name);
  const clt_parameter *parameter = &space->parameters[p];
  to->parameter = (uint32_t)p;
  for (size_t v = 0; v < parameter->n_values; v++) {
    to->position = (uint32_t)v;
    if (clt_value_equal(parameter->values[v], from->value)) return CLT_OK;
  }
  char text[100];
  clt_value_print(from->value, text, sizeof text);
  return clt_fail(error, CLT_E_NOT_FOUND, "an alias sets '%.200s' to %s, which is not among its values", from->name,
                  text);
}

static int copy_aliases(clt_space *space, const clt_space_builder *builder, const clt_symbol *symbols, size_t n,
                        clt_error *error) {
  space->aliases = clt_new_array(builder->n_aliases, sizeof *space->aliases);
  if (space->aliases == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < builder->n_aliases; i++) {
    clt_alias *to = &space->aliases[i];
    int rc = find_value(space, &builder->aliases[i], to, error);
    if (rc == CLT_OK) rc = clt_expr_compile(&to->when, builder->aliases[i].when, symbols, n, error);
    if (rc) return rc;
    space->n_aliases++;
  }
  return CLT_OK;
}

static int compile(clt_space *space, const clt_space_builder *builder, clt_error *error) {
  size_t n = builder->n_constants + space->n_parameters;
  clt_symbol *symbols = clt_new_array(n, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  if (builder->n_constants) memcpy(symbols, builder->constants, builder->n_constants * sizeof *symbols);
  for (size_t i = 0; i < space->n_parameters; i++)
    symbols[builder->n_constants + i] = (clt_symbol){.name = space->parameters[i].name, .slot = (uint32_t)i};
  int rc = copy_constraints(space, builder, symbols, n, error);
  if (rc == CLT_OK) rc = copy_aliases(space, builder, symbols, n, error);
  free(symbols);
  return rc;
}

/* --- the whole --- */

void clt_space_free(clt_space *space) {
  if (space == NULL) return;
  for (size_t i = 0; i < space->n_parameters; i++) {
    free((void *)(uintptr_t)space->parameters[i].name);
    free((void *)(uintptr_t)space->parameters[i].values);
  }
  for (size_t i = 0; i < space->n_constraints; i++) {
    clt_expr_free(space->constraints[i].expr);
    free(space->constraints[i].message);
  }
  for (size_t i = 0; i < space->n_aliases; i++) clt_expr_free(space->aliases[i].when);
  for (size_t i = 0; i < space->n_groups; i++) clt_diagram_free(space->groups[i]);
  free(space->parameters);
  free(space->weights);
  free(space->constraints);
  free(space->aliases);
  free(space->groups);
  free(space->configs);
  free(space);
}

int clt_space_new_bare(clt_space **out, const clt_space_builder *builder, clt_error *error) {
  if (builder->n_parameters == 0) return clt_fail(error, CLT_E_ARGUMENT, "there are no tuning parameters");
  clt_space *space = clt_new_array(1, sizeof *space);
  if (space == NULL) return clt_fail_memory(error);
  int rc = copy_parameters(space, builder, error);
  if (rc == CLT_OK) rc = weigh(space, error);
  if (rc == CLT_OK) rc = compile(space, builder, error);
  if (rc)
    clt_space_free(space);
  else
    *out = space;
  return rc;
}

int clt_space_new(clt_space **out, const clt_space_builder *builder, clt_error *error) {
  double start_s = clt_now_s();
  clt_space *space = NULL;
  int rc = clt_space_new_bare(&space, builder, error);
  if (rc == CLT_OK) rc = clt_space_build_groups(space, CLT_SPACE_LIMITS, error);
  if (rc) {
    clt_space_free(space);
    return rc;
  }
  space->build_s = clt_now_s() - start_s;
  *out = space;
  return CLT_OK;
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

static bool same_parameter(const clt_parameter *p, const clt_parameter *q) {
  bool same = strcmp(p->name, q->name) == 0 && p->n_values == q->n_values;
  for (size_t v = 0; same && v < p->n_values; v++) same = clt_value_equal(p->values[v], q->values[v]);
  return same;
}

bool clt_space_same_parameters(const clt_space *a, const clt_space *b) {
  bool same = a->n_parameters == b->n_parameters;
  for (size_t i = 0; same && i < a->n_parameters; i++) same = same_parameter(&a->parameters[i], &b->parameters[i]);
  return same;
}

void clt_space_positions(const clt_space *space, clt_config config, uint32_t *positions) {
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
  clt_space_positions(space, config, positions);
  clt_space_values(space, positions, values);
  for (size_t i = 0; i < space->n_constraints; i++) {
    const clt_constraint *c = &space->constraints[i];
    if (clt_expr_eval(c->expr, values, &result, NULL) == CLT_OK && clt_value_truthy(result)) continue;
    if (origin) *origin = c->origin;
    return c->message;
  }
  return NULL;
}
