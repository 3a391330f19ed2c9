/* Builders and spaces: construction and properties. */
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

/* --- builders --- */

#define MOST_NAME_BYTES 200

int clt_space_builder_new(clt_space_builder **out, clt_error *error) {
  clt_space_builder *builder = clt_new_array(1, sizeof *builder);
  if (builder == NULL) return clt_fail_memory(error);
  *out = builder;
  return CLT_OK;
}

static void drop_text(const void *owned) { free((void *)(uintptr_t)owned); }

/* Frees the members that both builders and spaces own. */
static void release_contents(clt_parameter *parameters, size_t n_parameters, clt_constraint *constraints,
                             size_t n_constraints, clt_space_alias *aliases, size_t n_aliases) {
  for (size_t i = 0; i < n_parameters; i++) {
    drop_text(parameters[i].name);
    drop_text(parameters[i].values);
  }
  for (size_t i = 0; i < n_constraints; i++) {
    clt_expr_free(constraints[i].expr);
    free(constraints[i].message);
  }
  for (size_t i = 0; i < n_aliases; i++) clt_expr_free(aliases[i].when);
  free(parameters);
  free(constraints);
  free(aliases);
}

void clt_space_builder_free(clt_space_builder *builder) {
  if (builder == NULL) return;
  for (size_t i = 0; i < builder->n_constants; i++) {
    drop_text(builder->constants[i].name);
    if (builder->constants[i].value.type == CLT_STRING) drop_text(builder->constants[i].value.text);
  }
  free(builder->constants);
  for (size_t i = 0; i < builder->n_parameters; i++) free(builder->sorted[i]);
  release_contents(builder->parameters, builder->n_parameters, builder->constraints, builder->n_constraints,
                   builder->aliases, builder->n_aliases);
  free(builder);
}

/* A name has letters, digits and '_'; the name of a constant may consist of several such names, joined by dots. */
static int check_name(const clt_space_builder *builder, const char *name, bool dots, clt_error *error) {
  char part[MOST_NAME_BYTES + 1];
  bool good = strlen(name) < sizeof part && !clt_is_keyword(name, strlen(name));
  for (const char *at = name; good;) {
    size_t n = dots ? strcspn(at, ".") : strlen(at);
    memcpy(part, at, n);
    part[n] = '\0';
    good = clt_is_name(part) && (at == name || !(part[0] >= '0' && part[0] <= '9'));
    if (at[n] == '\0') break;
    at += n + 1;
  }
  if (!good)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "'%.200s' is not a valid parameter name; use letters, digits and '_', but no keyword of Python",
                    name);
  bool taken = false;
  for (size_t i = 0; i < builder->n_parameters; i++) taken |= strcmp(builder->parameters[i].name, name) == 0;
  for (size_t i = 0; i < builder->n_constants; i++) taken |= strcmp(builder->constants[i].name, name) == 0;
  return taken ? clt_fail(error, CLT_E_ARGUMENT, "the name '%.200s' is used twice", name) : CLT_OK;
}

int clt_space_builder_constant(clt_space_builder *builder, const char *name, clt_value value, clt_error *error) {
  int rc = check_name(builder, name, true, error);
  if (rc) return rc;
  if (clt_grow(&builder->constants, &builder->constants_capacity, builder->n_constants + 1, sizeof *builder->constants))
    return clt_fail_memory(error);
  clt_symbol symbol = {.name = strdup(name), .constant = true, .value = value};
  if (value.type == CLT_STRING) symbol.value.text = strdup(value.text);
  if (symbol.name == NULL || (value.type == CLT_STRING && symbol.value.text == NULL)) {
    drop_text(symbol.name);
    if (value.type == CLT_STRING) drop_text(symbol.value.text);
    return clt_fail_memory(error);
  }
  builder->constants[builder->n_constants++] = symbol;
  return CLT_OK;
}

static int compare_values(const void *left, const void *right) {
  return clt_value_compare(**(const clt_value *const *)left, **(const clt_value *const *)right);
}

/* Takes the block of values over, also on failure. values NULL: reports that memory ran out. */
static int add_parameter(clt_space_builder *builder, const char *name, clt_value *values, size_t n, clt_error *error) {
  char *copy = strdup(name);
  const clt_value **sorted = NULL;
  int rc = CLT_OK;
  if (copy == NULL || values == NULL ||
      clt_grow(&builder->parameters, &builder->parameters_capacity, builder->n_parameters + 1,
               sizeof *builder->parameters))
    rc = clt_fail_memory(error);
  else if (n == 0)
    rc = clt_fail(error, CLT_E_ARGUMENT, "'%.200s' has no values", name);
  else if (n > UINT32_MAX / 2)
    rc = clt_fail(error, CLT_E_RANGE, "'%.200s' has too many values; list fewer", name);
  else if (builder->n_parameters >= CLT_MAX_PARAMETERS)
    rc = clt_fail(error, CLT_E_RANGE, "more than %d tuning parameters are not supported", CLT_MAX_PARAMETERS);
  if (rc == CLT_OK && (sorted = clt_new_array(n, sizeof *sorted)) == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    sorted[i] = &values[i];
    if (values[i].type == CLT_REAL && values[i].real != values[i].real)
      rc = clt_fail(error, CLT_E_ARGUMENT, "the values of '%.200s' contain NaN", name);
  }
  /* After sorting, equal values are neighbours. Integers above 2^53 that map to the same double are distinguished
   * below. */
  if (rc == CLT_OK) qsort(sorted, n, sizeof *sorted, compare_values);
  for (size_t i = 1; rc == CLT_OK && i < n; i++) {
    if (!clt_value_equal(*sorted[i - 1], *sorted[i])) continue;
    clt_text text = {0};
    clt_value_spell(&text, &(clt_parameter){name, values, n}, (size_t)(sorted[i] - values));
    rc = clt_fail(error, CLT_E_ARGUMENT, "the values of '%.200s' contain %.200s twice", name, text.n ? text.bytes : "");
    clt_text_release(&text);
  }
  if (rc) {
    free(sorted);
    free(copy);
    free(values);
    return rc;
  }
  builder->sorted[builder->n_parameters] = sorted;
  builder->parameters[builder->n_parameters++] = (clt_parameter){.name = copy, .values = values, .n_values = n};
  return CLT_OK;
}

int clt_space_builder_parameter(clt_space_builder *builder, const char *name, const clt_value *values, size_t n_values,
                                clt_error *error) {
  int rc = check_name(builder, name, false, error);
  return rc ? rc : add_parameter(builder, name, clt_values_copy(values, n_values), n_values, error);
}

bool clt_space_builder_extend(const clt_space_builder *builder, clt_config *config, size_t parameter, clt_value value) {
  const clt_parameter *p = &builder->parameters[parameter];
  const clt_value *wanted = &value, **place;
  place = bsearch(&wanted, builder->sorted[parameter], p->n_values, sizeof *place, compare_values);
  if (place == NULL || !clt_value_equal(**place, value)) return false;
  *config = *config * p->n_values + (clt_config)(*place - p->values);
  return true;
}

int clt_space_builder_parameter_text(clt_space_builder *builder, const char *name, const char *type, const char *values,
                                     clt_error *error) {
  clt_value *parsed = NULL;
  size_t n = 0;
  int rc = check_name(builder, name, false, error);
  if (rc == CLT_OK) rc = clt_values_parse(&parsed, &n, values, type, builder->constants, builder->n_constants, error);
  return rc ? rc : add_parameter(builder, name, parsed, n, error);
}

int clt_space_builder_compile(clt_expr **out, const clt_space_builder *builder, const char *text,
                              const clt_place *place, clt_error *error) {
  size_t n = builder->n_constants + builder->n_parameters;
  clt_symbol *symbols = clt_new_array(n, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  if (builder->n_constants) memcpy(symbols, builder->constants, builder->n_constants * sizeof *symbols);
  for (size_t i = 0; i < builder->n_parameters; i++)
    symbols[builder->n_constants + i] = (clt_symbol){.name = builder->parameters[i].name, .slot = (uint32_t)i};
  int rc = clt_expr_compile_at(out, text, place, symbols, n, error);
  free(symbols);
  return rc;
}

int clt_space_builder_require(clt_space_builder *builder, clt_expr *expr, clt_constraint_origin origin,
                              const char *message, clt_error *error) {
  clt_constraint c = {.expr = expr, .message = strdup(message ? message : clt_expr_text(expr)), .origin = origin};
  if (c.message == NULL || clt_grow(&builder->constraints, &builder->constraints_capacity, builder->n_constraints + 1,
                                    sizeof *builder->constraints)) {
    free(c.message);
    clt_expr_free(expr);
    return clt_fail_memory(error);
  }
  builder->constraints[builder->n_constraints++] = c;
  return CLT_OK;
}

bool clt_space_builder_holds(const clt_space_builder *builder, const clt_value *slots) {
  clt_value value;
  for (size_t i = 0; i < builder->n_constraints; i++)
    if (clt_expr_eval(builder->constraints[i].expr, slots, &value, NULL) || !clt_value_truthy(value)) return false;
  return true;
}

int clt_space_builder_constraint(clt_space_builder *builder, const char *text, clt_constraint_origin origin,
                                 const char *message, clt_error *error) {
  clt_expr *expr = NULL;
  int rc = clt_space_builder_compile(&expr, builder, text, NULL, error);
  return rc ? rc : clt_space_builder_require(builder, expr, origin, message, error);
}

int clt_space_builder_alias_when(clt_space_builder *builder, clt_expr *when, const char *name, clt_value value,
                                 clt_error *error) {
  clt_space_alias alias = {.when = when};
  int rc = CLT_OK;
  while (alias.parameter < builder->n_parameters && strcmp(builder->parameters[alias.parameter].name, name) != 0)
    alias.parameter++;
  const clt_parameter *p = &builder->parameters[alias.parameter];
  if (alias.parameter == builder->n_parameters) {
    rc = clt_fail(error, CLT_E_NOT_FOUND, "an alias sets '%.200s', which is not a tuning parameter", name);
  } else {
    alias.position = clt_parameter_find(p, value);
    if (alias.position == p->n_values) {
      char text[100];
      clt_value_print(text, sizeof text, value);
      rc = clt_fail(error, CLT_E_NOT_FOUND, "an alias sets '%.200s' to %s, which is not among its values", name, text);
    }
  }
  if (rc == CLT_OK &&
      clt_grow(&builder->aliases, &builder->aliases_capacity, builder->n_aliases + 1, sizeof *builder->aliases))
    rc = clt_fail_memory(error);
  if (rc)
    clt_expr_free(when);
  else
    builder->aliases[builder->n_aliases++] = alias;
  return rc;
}

int clt_space_builder_alias(clt_space_builder *builder, const char *when, const char *name, clt_value value,
                            clt_error *error) {
  clt_expr *expr = NULL;
  int rc = clt_space_builder_compile(&expr, builder, when, NULL, error);
  return rc ? rc : clt_space_builder_alias_when(builder, expr, name, value, error);
}

/* --- spaces --- */

/* Copies everything except the valid configurations. */
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
  release_contents(space->parameters, space->n_parameters, space->constraints, space->n_constraints, space->aliases,
                   space->n_aliases);
  for (size_t i = 0; i < space->n_groups; i++) clt_diagram_free(space->groups[i]);
  free(space->weights);
  free(space->groups);
  free(space->configs);
  free(space);
}

/* --- properties --- */

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
