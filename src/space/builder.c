#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/lex.h"
#include "space/parts.h"

int clt_space_builder_new(clt_space_builder **out, clt_error *error) {
  clt_space_builder *builder = clt_new_array(1, sizeof *builder);
  if (builder == NULL) return clt_fail_memory(error);
  *out = builder;
  return CLT_OK;
}

static void drop(const void *owned) { free((void *)(uintptr_t)owned); }

static void drop_text(clt_value value) {
  if (value.type == CLT_STRING) drop(value.text);
}

void clt_space_builder_free(clt_space_builder *builder) {
  if (builder == NULL) return;
  for (size_t i = 0; i < builder->n_parameters; i++) {
    drop(builder->parameters[i].name);
    drop(builder->parameters[i].values);
  }
  for (size_t i = 0; i < builder->n_constants; i++) {
    drop(builder->constants[i].name);
    drop_text(builder->constants[i].value);
  }
  for (size_t i = 0; i < builder->n_constraints; i++) {
    free(builder->constraints[i].text);
    free(builder->constraints[i].message);
  }
  for (size_t i = 0; i < builder->n_aliases; i++) {
    free(builder->aliases[i].when);
    free(builder->aliases[i].name);
    drop_text(builder->aliases[i].value);
  }
  free(builder->parameters);
  free(builder->constants);
  free(builder->constraints);
  free(builder->aliases);
  free(builder);
}

/* --- names --- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name(const char *name, bool dots) {
  if (!is_letter(*name) || strlen(name) > 200 || clt_is_keyword(name, strlen(name))) return false;
  for (const char *c = name + 1; *c; c++) {
    bool dot = dots && *c == '.' && is_letter(c[1]);
    if (!is_letter(*c) && !is_digit(*c) && !dot) return false;
  }
  return true;
}

static bool is_taken(const clt_space_builder *builder, const char *name) {
  for (size_t i = 0; i < builder->n_parameters; i++)
    if (strcmp(builder->parameters[i].name, name) == 0) return true;
  for (size_t i = 0; i < builder->n_constants; i++)
    if (strcmp(builder->constants[i].name, name) == 0) return true;
  return false;
}

static int check_name(const clt_space_builder *builder, const char *name, bool dots, clt_error *error) {
  if (!is_name(name, dots))
    return clt_fail(error, CLT_E_ARGUMENT,
                    "'%.200s' cannot be a parameter's name: use letters, digits and '_', and no word of Python", name);
  if (is_taken(builder, name)) return clt_fail(error, CLT_E_ARGUMENT, "the name '%.200s' is given twice", name);
  return CLT_OK;
}

/* --- adding --- */

int clt_space_builder_constant(clt_space_builder *builder, const char *name, clt_value value, clt_error *error) {
  int rc = check_name(builder, name, true, error);
  if (rc) return rc;
  if (clt_grow(&builder->constants, &builder->constants_capacity, builder->n_constants + 1, sizeof *builder->constants))
    return clt_fail_memory(error);
  clt_symbol symbol = {.name = strdup(name), .constant = true, .value = value};
  if (value.type == CLT_STRING) symbol.value.text = strdup(value.text);
  if (symbol.name == NULL || (value.type == CLT_STRING && symbol.value.text == NULL)) {
    drop(symbol.name);
    drop_text(symbol.value);
    return clt_fail_memory(error);
  }
  builder->constants[builder->n_constants++] = symbol;
  return CLT_OK;
}

static int by_value(const void *left, const void *right) {
  const clt_value *a = *(const clt_value *const *)left, *b = *(const clt_value *const *)right;
  bool a_text = a->type == CLT_STRING, b_text = b->type == CLT_STRING;
  if (a_text != b_text) return a_text - b_text;
  if (a_text) return strcmp(a->text, b->text);
  double x = clt_value_number(*a), y = clt_value_number(*b);
  return (x > y) - (x < y);
}

/* Equal values are neighbours when sorted (integers beyond 2^53 that share a double are told apart by the comparison).
 */
static int check_different(const char *name, const clt_value *values, size_t n, clt_error *error) {
  const clt_value **sorted = clt_new_array(n, sizeof *sorted);
  int rc = CLT_OK;
  if (sorted == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) sorted[i] = &values[i];
  qsort(sorted, n, sizeof *sorted, by_value);
  for (size_t i = 1; rc == CLT_OK && i < n; i++) {
    char text[200];
    if (!clt_value_equal(*sorted[i - 1], *sorted[i])) continue;
    clt_value_print(*sorted[i], text, sizeof text);
    rc = clt_fail(error, CLT_E_ARGUMENT, "the values of '%.200s' have %.200s twice", name, text);
  }
  free(sorted);
  return rc;
}

static int check_values(const char *name, const clt_value *values, size_t n, clt_error *error) {
  if (n == 0) return clt_fail(error, CLT_E_ARGUMENT, "'%.200s' has no values", name);
  if (n > UINT32_MAX / 2) return clt_fail(error, CLT_E_RANGE, "'%.200s' has too many values", name);
  for (size_t i = 0; i < n; i++)
    if (values[i].type == CLT_REAL && values[i].real != values[i].real)
      return clt_fail(error, CLT_E_ARGUMENT, "the values of '%.200s' have a NaN", name);
  return check_different(name, values, n, error);
}

/* Takes the block of values over when it succeeds. */
static int add_parameter(clt_space_builder *builder, const char *name, clt_value *values, size_t n, clt_error *error) {
  int rc = check_values(name, values, n, error);
  if (rc) return rc;
  if (builder->n_parameters >= CLT_MAX_PARAMETERS)
    return clt_fail(error, CLT_E_RANGE, "there are more than %d tuning parameters", CLT_MAX_PARAMETERS);
  if (clt_grow(&builder->parameters, &builder->parameters_capacity, builder->n_parameters + 1,
               sizeof *builder->parameters))
    return clt_fail_memory(error);
  char *copy = strdup(name);
  if (copy == NULL) return clt_fail_memory(error);
  builder->parameters[builder->n_parameters++] = (clt_parameter){.name = copy, .values = values, .n_values = n};
  return CLT_OK;
}

int clt_space_builder_parameter(clt_space_builder *builder, const char *name, const clt_value *values, size_t n_values,
                                clt_error *error) {
  int rc = check_name(builder, name, false, error);
  if (rc) return rc;
  clt_value *copy = clt_values_copy(values, n_values);
  if (copy == NULL) return clt_fail_memory(error);
  rc = add_parameter(builder, name, copy, n_values, error);
  if (rc) free(copy);
  return rc;
}

int clt_space_builder_parameter_text(clt_space_builder *builder, const char *name, const char *type, const char *values,
                                     clt_error *error) {
  clt_value *parsed = NULL;
  size_t n = 0;
  int rc = check_name(builder, name, false, error);
  if (rc == CLT_OK) rc = clt_values_parse(&parsed, &n, values, type, builder->constants, builder->n_constants, error);
  if (rc == CLT_OK) rc = add_parameter(builder, name, parsed, n, error);
  if (rc) free(parsed);
  return rc;
}

int clt_space_builder_constraint(clt_space_builder *builder, const char *text, clt_constraint_origin origin,
                                 const char *message, clt_error *error) {
  if (clt_grow(&builder->constraints, &builder->constraints_capacity, builder->n_constraints + 1,
               sizeof *builder->constraints))
    return clt_fail_memory(error);
  clt_constraint_text c = {.text = strdup(text), .message = strdup(message ? message : text), .origin = origin};
  if (c.text == NULL || c.message == NULL) {
    free(c.text);
    free(c.message);
    return clt_fail_memory(error);
  }
  builder->constraints[builder->n_constraints++] = c;
  return CLT_OK;
}

int clt_space_builder_alias(clt_space_builder *builder, const char *when, const char *name, clt_value value,
                            clt_error *error) {
  if (clt_grow(&builder->aliases, &builder->aliases_capacity, builder->n_aliases + 1, sizeof *builder->aliases))
    return clt_fail_memory(error);
  clt_alias_text a = {.when = strdup(when), .name = strdup(name), .value = value};
  if (value.type == CLT_STRING) a.value.text = strdup(value.text);
  if (a.when == NULL || a.name == NULL || (value.type == CLT_STRING && a.value.text == NULL)) {
    free(a.when);
    free(a.name);
    drop_text(a.value);
    return clt_fail_memory(error);
  }
  builder->aliases[builder->n_aliases++] = a;
  return CLT_OK;
}
