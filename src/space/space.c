/* Builders and spaces: construction and properties. */
#include "space/space.h"
#include "base/base.h"
#include "base/json.h"
#include "base/text.h"
#include "space/parts.h"

/* --- builders --- */

#define MOST_NAME_BYTES 200

int clt_space_builder_new(clt_space_builder **out, clt_error *error) {
  clt_space_builder *builder = clt_new_array(1, sizeof *builder);
  if (builder == NULL) return clt_fail_memory(error);
  *out = builder;
  return CLT_OK;
}

static void drop_text(const void *owned) { free((void *)(uintptr_t)owned); }

/* Frees everything that a space or a builder's draft owns. */
static void release_space(clt_space *space) {
  for (size_t i = 0; i < space->n_parameters; i++) {
    drop_text(space->parameters[i].name);
    drop_text(space->parameters[i].values);
  }
  for (size_t i = 0; i < space->n_constraints; i++) {
    clt_expr_free(space->constraints[i].expr);
    free(space->constraints[i].message);
  }
  for (size_t i = 0; i < space->n_aliases; i++) clt_expr_free(space->aliases[i].when);
  for (size_t i = 0; i < space->n_groups; i++) clt_diagram_free(space->groups[i]);
  free(space->parameters);
  free(space->constraints);
  free(space->aliases);
  free(space->weights);
  free(space->groups);
  clt_met_free(space->met);
}

static void release_constant(const clt_symbol *constant) {
  drop_text(constant->name);
  if (constant->value.type == CLT_STRING) drop_text(constant->value.text);
}

void clt_space_builder_free(clt_space_builder *builder) {
  if (builder == NULL) return;
  for (size_t i = 0; i < builder->n_constants; i++) release_constant(&builder->constants[i]);
  for (size_t i = 0; i < builder->draft.n_parameters; i++) free(builder->sorted[i]);
  free(builder->constants);
  release_space(&builder->draft);
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
    good = clt_is_name(part);
    if (at[n] == '\0') break;
    at += n + 1;
  }
  if (!good)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "'%.200s' is not a valid parameter name; use letters, digits and '_', but no keyword of Python",
                    name);
  bool taken = clt_space_find_parameter(&builder->draft, name) >= 0;
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
    release_constant(&symbol);
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
  clt_space *draft = &builder->draft;
  const size_t index = draft->n_parameters;
  char *copy = strdup(name);
  const clt_value **sorted = clt_new_array(n, sizeof *sorted);
  int rc = CLT_OK;
  if (copy == NULL || values == NULL || sorted == NULL ||
      clt_grow(&draft->parameters, &builder->parameters_capacity, index + 1, sizeof *draft->parameters))
    rc = clt_fail_memory(error);
  else if (n == 0)
    rc = clt_fail(error, CLT_E_ARGUMENT, "'%.200s' has no values", name);
  else if (n > UINT32_MAX / 2)
    rc = clt_fail(error, CLT_E_RANGE, "'%.200s' has too many values; list fewer", name);
  else if (index >= CLT_MAX_PARAMETERS)
    rc = clt_fail(error, CLT_E_RANGE, "more than %d tuning parameters are not supported", CLT_MAX_PARAMETERS);
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
  builder->sorted[index] = sorted;
  draft->parameters[draft->n_parameters++] = (clt_parameter){.name = copy, .values = values, .n_values = n};
  return CLT_OK;
}

int clt_space_builder_parameter(clt_space_builder *builder, const char *name, const clt_value *values, size_t n_values,
                                clt_error *error) {
  int rc = check_name(builder, name, false, error);
  return rc ? rc : add_parameter(builder, name, clt_values_copy(values, n_values), n_values, error);
}

bool clt_space_builder_position(uint32_t *position, const clt_space_builder *builder, size_t parameter,
                                clt_value value) {
  const clt_parameter *p = &builder->draft.parameters[parameter];
  const clt_value *wanted = &value, **place;
  place = bsearch(&wanted, builder->sorted[parameter], p->n_values, sizeof *place, compare_values);
  if (place == NULL || !clt_value_equal(**place, value)) return false;
  *position = (uint32_t)(*place - p->values);
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
  size_t n = builder->n_constants + builder->draft.n_parameters;
  clt_symbol *symbols = clt_new_array(n, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  if (builder->n_constants) memcpy(symbols, builder->constants, builder->n_constants * sizeof *symbols);
  for (size_t i = 0; i < builder->draft.n_parameters; i++)
    symbols[builder->n_constants + i] = (clt_symbol){.name = builder->draft.parameters[i].name, .slot = (uint32_t)i};
  int rc = clt_expr_compile_at(out, text, place, symbols, n, error);
  free(symbols);
  return rc;
}

int clt_space_builder_require(clt_space_builder *builder, clt_expr *expr, clt_constraint_origin origin,
                              const char *message, clt_error *error) {
  clt_space *draft = &builder->draft;
  clt_constraint c = {.expr = expr, .message = strdup(message ? message : clt_expr_text(expr)), .origin = origin};
  if (c.message == NULL || clt_grow(&draft->constraints, &builder->constraints_capacity, draft->n_constraints + 1,
                                    sizeof *draft->constraints)) {
    free(c.message);
    clt_expr_free(expr);
    return clt_fail_memory(error);
  }
  draft->constraints[draft->n_constraints++] = c;
  return CLT_OK;
}

/* The first constraint that does not hold; NULL: all hold. */
static const clt_constraint *violated_constraint(const clt_space *space, const clt_value *values) {
  clt_value value;
  for (const clt_constraint *c = space->constraints; c < space->constraints + space->n_constraints; c++)
    if (clt_expr_eval(c->expr, values, &value, NULL) || !clt_value_truthy(value)) return c;
  return NULL;
}

bool clt_space_builder_holds(const clt_space_builder *builder, const clt_value *slots) {
  return violated_constraint(&builder->draft, slots) == NULL;
}

int clt_space_builder_constraint(clt_space_builder *builder, const char *text, clt_constraint_origin origin,
                                 const char *message, clt_error *error) {
  clt_expr *expr = NULL;
  int rc = clt_space_builder_compile(&expr, builder, text, NULL, error);
  return rc ? rc : clt_space_builder_require(builder, expr, origin, message, error);
}

int clt_space_builder_alias_when(clt_space_builder *builder, clt_expr *when, const char *name, clt_value value,
                                 clt_error *error) {
  clt_space *draft = &builder->draft;
  const int index = clt_space_find_parameter(draft, name);
  const clt_parameter *p = index < 0 ? NULL : &draft->parameters[index];
  const size_t position = p ? clt_parameter_find(p, value) : 0;
  int rc = CLT_OK;
  if (p == NULL) {
    rc = clt_fail(error, CLT_E_NOT_FOUND, "an alias sets '%.200s', which is not a tuning parameter", name);
  } else if (position == p->n_values) {
    char text[100];
    clt_value_print(text, sizeof text, value);
    rc = clt_fail(error, CLT_E_NOT_FOUND, "an alias sets '%.200s' to %s, which is not among its values", name, text);
  } else if (clt_grow(&draft->aliases, &builder->aliases_capacity, draft->n_aliases + 1, sizeof *draft->aliases)) {
    rc = clt_fail_memory(error);
  }
  if (rc)
    clt_expr_free(when);
  else
    draft->aliases[draft->n_aliases++] = (clt_space_alias){when, (uint32_t)index, (uint32_t)position};
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
static int copy_draft(clt_space *space, const clt_space *draft, clt_error *error) {
  if (draft->n_parameters == 0) return clt_fail(error, CLT_E_ARGUMENT, "there are no tuning parameters");
  space->parameters = clt_new_array(draft->n_parameters, sizeof *space->parameters);
  space->weights = clt_new_array(draft->n_parameters, sizeof *space->weights);
  space->constraints = clt_new_array(draft->n_constraints, sizeof *space->constraints);
  space->aliases = clt_new_array(draft->n_aliases, sizeof *space->aliases);
  if (!space->parameters || !space->weights || !space->constraints || !space->aliases) return clt_fail_memory(error);
  for (; space->n_parameters < draft->n_parameters; space->n_parameters++) {
    const clt_parameter *from = &draft->parameters[space->n_parameters];
    const clt_parameter copy = {strdup(from->name), clt_values_copy(from->values, from->n_values), from->n_values};
    space->parameters[space->n_parameters] = copy;
  }
  for (; space->n_aliases < draft->n_aliases; space->n_aliases++) {
    space->aliases[space->n_aliases] = draft->aliases[space->n_aliases];
    clt_expr_share(draft->aliases[space->n_aliases].when);
  }
  for (; space->n_constraints < draft->n_constraints; space->n_constraints++) {
    const clt_constraint *from = &draft->constraints[space->n_constraints];
    const clt_constraint copy = {clt_expr_share(from->expr), strdup(from->message), from->origin};
    space->constraints[space->n_constraints] = copy;
  }
  for (size_t i = 0; i < space->n_parameters; i++)
    if (space->parameters[i].name == NULL || space->parameters[i].values == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < space->n_constraints; i++)
    if (space->constraints[i].message == NULL) return clt_fail_memory(error);
  space->cartesian = 1;
  for (size_t i = space->n_parameters; i-- > 0;) {
    space->weights[i] = space->cartesian;
    space->ranked |=
        __builtin_mul_overflow(space->cartesian, (uint64_t)space->parameters[i].n_values, &space->cartesian) ||
        space->cartesian > CLT_MOST_NUMBERS;
  }
  return CLT_OK;
}

static int compare_rows(const void *left, const void *right, void *n_positions) {
  const uint32_t *a = *(const uint32_t *const *)left, *b = *(const uint32_t *const *)right;
  const size_t n = *(const size_t *)n_positions;
  size_t i = 0;
  while (i < n && a[i] == b[i]) i++;
  return i == n ? 0 : (a[i] > b[i]) - (a[i] < b[i]);
}

/* One group of all parameters with several values. */
static int list_configs(clt_space *space, const uint32_t *positions, size_t n, clt_error *error) {
  uint32_t parameters[CLT_MAX_PARAMETERS];
  size_t n_levels = 0, n_different = 0;
  const uint32_t **rows = clt_new_array(n, sizeof *rows);
  space->listed = true;
  space->groups = clt_new_array(1, sizeof *space->groups);
  int rc = rows && space->groups ? CLT_OK : clt_fail_memory(error);
  for (size_t p = 0; p < space->n_parameters; p++) {
    space->distinct_of[p] = CLT_NO_GROUP;
    if (space->parameters[p].n_values > 1) parameters[n_levels++] = (uint32_t)p;
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rows[i] = positions + i * space->n_parameters;
  if (rc == CLT_OK) qsort_r(rows, n, sizeof *rows, compare_rows, &space->n_parameters);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (n_different == 0 || compare_rows(&rows[n_different - 1], &rows[i], &space->n_parameters) != 0)
      rows[n_different++] = rows[i];
  if (rc == CLT_OK && n_levels) {
    rc = clt_diagram_new_listed(space->groups, parameters, n_levels, space->weights, rows, n_different);
    if (rc) clt_fail_memory(error);
    space->n_groups = rc == CLT_OK;
  }
  free(rows);
  return rc ? rc : clt_space_count_valid(space, n == 0, error);
}

/* limits NULL: the valid configurations are the n listed ones. */
static int make_space(clt_space **out, const clt_space_builder *builder, const clt_diagram_limits *limits,
                      const uint32_t *positions, size_t n, clt_error *error) {
  double start_s = clt_now_s();
  clt_space *space = clt_new_array(1, sizeof *space);
  if (space == NULL) return clt_fail_memory(error);
  int rc = copy_draft(space, &builder->draft, error);
  if (rc == CLT_OK)
    rc = limits ? clt_space_build_groups(space, *limits, error) : list_configs(space, positions, n, error);
  space->build_s = clt_now_s() - start_s;
  if (rc == CLT_OK)
    *out = space;
  else
    clt_space_free(space);
  return rc;
}

int clt_space_new_within(clt_space **out, const clt_space_builder *builder, clt_diagram_limits limits,
                         clt_error *error) {
  return make_space(out, builder, &limits, NULL, 0, error);
}

int clt_space_new(clt_space **out, const clt_space_builder *builder, clt_error *error) {
  return clt_space_new_within(out, builder, CLT_SPACE_LIMITS, error);
}

int clt_space_new_explicit(clt_space **out, const clt_space_builder *builder, const uint32_t *positions, size_t n,
                           clt_error *error) {
  return make_space(out, builder, NULL, positions, n, error);
}

void clt_space_free(clt_space *space) {
  if (space == NULL) return;
  release_space(space);
  free(space);
}

const char *clt_space_violation_at(const clt_space *space, const uint32_t *positions, clt_constraint_origin *origin) {
  clt_value values[CLT_MAX_PARAMETERS];
  clt_space_values(space, positions, values);
  const clt_constraint *violated = violated_constraint(space, values);
  if (violated == NULL) return NULL;
  if (origin) *origin = violated->origin;
  return violated->message;
}

const char *clt_space_violation(const clt_space *space, clt_config config, clt_constraint_origin *origin) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  if (origin) *origin = CLT_CONDITION;
  if (!clt_space_numbers(space, config))
    return space->ranked ? "not among the valid configurations" : "not among the listed values";
  if (space->listed) return clt_space_contains(space, config) ? NULL : "not among the recorded configurations";
  clt_space_positions(positions, space, config);
  return clt_space_violation_at(space, positions, origin);
}
