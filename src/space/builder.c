/* Builders: parameters, constraints and aliases. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"
#include "space/space.h"

#define MOST_NAME_BYTES 200

int clt_space_builder_new(clt_space_builder **out, clt_error *error) {
  clt_space_builder *builder = clt_new_array(1, sizeof *builder);
  if (builder == NULL) return clt_fail_memory(error);
  *out = builder;
  return CLT_OK;
}

static void drop_text(const void *owned) { free((void *)(uintptr_t)owned); }

void clt_space_release_contents(clt_parameter *parameters, size_t n_parameters, clt_constraint *constraints,
                                size_t n_constraints, clt_alias *aliases, size_t n_aliases) {
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
  clt_space_release_contents(builder->parameters, builder->n_parameters, builder->constraints, builder->n_constraints,
                             builder->aliases, builder->n_aliases);
  free(builder);
}

/* A name has letters, digits and '_'; a constant's consists of such names with dots between them. */
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
                    "'%.200s' cannot be a parameter's name: use letters, digits and '_', and no word of Python", name);
  bool taken = false;
  for (size_t i = 0; i < builder->n_parameters; i++) taken |= strcmp(builder->parameters[i].name, name) == 0;
  for (size_t i = 0; i < builder->n_constants; i++) taken |= strcmp(builder->constants[i].name, name) == 0;
  return taken ? clt_fail(error, CLT_E_ARGUMENT, "the name '%.200s' is given twice", name) : CLT_OK;
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

/* Takes the block of values over, also on failure. NULL: out of memory. */
static int add_parameter(clt_space_builder *builder, const char *name, clt_value *values, size_t n, clt_error *error) {
  char *copy = strdup(name), text[200];
  const clt_value **sorted = NULL;
  int rc = CLT_OK;
  if (copy == NULL || values == NULL ||
      clt_grow(&builder->parameters, &builder->parameters_capacity, builder->n_parameters + 1,
               sizeof *builder->parameters))
    rc = clt_fail_memory(error);
  else if (n == 0)
    rc = clt_fail(error, CLT_E_ARGUMENT, "'%.200s' has no values", name);
  else if (n > UINT32_MAX / 2)
    rc = clt_fail(error, CLT_E_RANGE, "'%.200s' has too many values", name);
  else if (builder->n_parameters >= CLT_MAX_PARAMETERS)
    rc = clt_fail(error, CLT_E_RANGE, "there are more than %d tuning parameters", CLT_MAX_PARAMETERS);
  if (rc == CLT_OK && (sorted = clt_new_array(n, sizeof *sorted)) == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    sorted[i] = &values[i];
    if (values[i].type == CLT_REAL && values[i].real != values[i].real)
      rc = clt_fail(error, CLT_E_ARGUMENT, "the values of '%.200s' have a NaN", name);
  }
  /* Equal values are neighbours when sorted; integers beyond 2^53 that share a double are told apart below. */
  if (rc == CLT_OK) qsort(sorted, n, sizeof *sorted, compare_values);
  for (size_t i = 1; rc == CLT_OK && i < n; i++) {
    if (!clt_value_equal(*sorted[i - 1], *sorted[i])) continue;
    clt_value_spell(text, sizeof text, &(clt_parameter){name, values, n}, (size_t)(sorted[i] - values));
    rc = clt_fail(error, CLT_E_ARGUMENT, "the values of '%.200s' have %.200s twice", name, text);
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

int clt_space_builder_constraint(clt_space_builder *builder, const char *text, clt_constraint_origin origin,
                                 const char *message, clt_error *error) {
  clt_expr *expr = NULL;
  int rc = clt_space_builder_compile(&expr, builder, text, NULL, error);
  return rc ? rc : clt_space_builder_require(builder, expr, origin, message, error);
}

int clt_space_builder_alias_when(clt_space_builder *builder, clt_expr *when, const char *name, clt_value value,
                                 clt_error *error) {
  clt_alias alias = {.when = when};
  int rc = CLT_OK;
  while (alias.parameter < builder->n_parameters && strcmp(builder->parameters[alias.parameter].name, name) != 0)
    alias.parameter++;
  const clt_parameter *p = &builder->parameters[alias.parameter];
  if (alias.parameter == builder->n_parameters) {
    rc = clt_fail(error, CLT_E_NOT_FOUND, "an alias is for '%.200s', which is no tuning parameter", name);
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
