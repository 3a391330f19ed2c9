/* Listed configurations: objects of name and value, or all combinations of a grid. What is not named has its default.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "sweep/sweep.h"

typedef struct lister {
  const clt_instance *instance;
  const clt_space *space;
  uint32_t standard[CLT_MAX_PARAMETERS]; /* positions of the defaults */
  clt_config *configs;
  size_t n, n_left_out;
} lister;

static int no_such_parameter(const clt_space *space, const char *name, clt_error *error) {
  const char *names[CLT_MAX_PARAMETERS];
  size_t n = clt_space_n_parameters(space);
  for (size_t i = 0; i < n; i++) names[i] = clt_space_parameter(space, i)->name;
  const char *near = clt_nearest_name(name, names, n);
  if (near)
    return clt_fail(error, CLT_E_NOT_FOUND, "there is no tuning parameter '%s'; did you mean '%s'?", name, near);
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no tuning parameter '%s'", name);
}

static clt_value value_of(const json_t *json) {
  if (json_is_integer(json)) return (clt_value){.type = CLT_INT, .integer = json_integer_value(json)};
  if (json_is_real(json)) return (clt_value){.type = CLT_REAL, .real = json_real_value(json)};
  if (json_is_boolean(json)) return (clt_value){.type = CLT_BOOL, .integer = json_is_true(json)};
  return (clt_value){.type = CLT_STRING, .text = json_is_string(json) ? json_string_value(json) : ""};
}

static int set_position(const lister *l, uint32_t *positions, const char *name, const json_t *json, clt_error *error) {
  int p = clt_space_find_parameter(l->space, name);
  if (p < 0) return no_such_parameter(l->space, name, error);
  const clt_parameter *parameter = clt_space_parameter(l->space, (size_t)p);
  clt_value value = value_of(json);
  for (size_t v = 0; v < parameter->n_values; v++)
    if (clt_value_equal(parameter->values[v], value)) return positions[p] = (uint32_t)v, CLT_OK;
  char text[128];
  clt_value_print(value, text, sizeof text);
  return clt_fail(error, CLT_E_NOT_FOUND, "'%s' is not a value of '%s'", text, name);
}

static void add(lister *l, const uint32_t *positions) {
  clt_config config = clt_space_from_positions(l->space, positions);
  if (clt_space_contains(l->space, config))
    l->configs[l->n++] = config;
  else
    l->n_left_out++;
}

static int list_items(lister *l, const json_t *items, clt_error *error) {
  size_t n = json_array_size(items);
  l->configs = clt_new_array(n, sizeof *l->configs);
  if (l->configs == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    const json_t *item = json_array_get(items, i), *inner = json_object_get(item, "configuration");
    uint32_t positions[CLT_MAX_PARAMETERS];
    const char *name;
    json_t *value;
    clt_error cause = {0};
    memcpy(positions, l->standard, sizeof positions);
    json_object_foreach((json_t *)(json_is_object(inner) ? inner : item), name, value) {
      int rc = set_position(l, positions, name, value, &cause);
      if (rc) return clt_fail(error, rc, "configuration %zu: %s", i, cause.message);
    }
    add(l, positions);
  }
  return CLT_OK;
}

static int list_grid(lister *l, const json_t *grid, clt_error *error) {
  size_t total = 1;
  const char *name;
  json_t *values;
  json_object_foreach((json_t *)grid, name, values) total *= json_array_size(values);
  l->configs = clt_new_array(total, sizeof *l->configs);
  if (l->configs == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < total; i++) {
    uint32_t positions[CLT_MAX_PARAMETERS];
    size_t before = total, rest = i;
    memcpy(positions, l->standard, sizeof positions);
    json_object_foreach((json_t *)grid, name, values) { /* the last one fastest */
      before /= json_array_size(values);
      int rc = set_position(l, positions, name, json_array_get(values, rest / before), error);
      if (rc) return rc;
      rest %= before;
    }
    add(l, positions);
  }
  return CLT_OK;
}

int clt_sweep_configurations(clt_config **out, size_t *n, size_t *n_left_out, const clt_sweep_searcher *searcher,
                             const clt_instance *instance, clt_error *error) {
  lister l = {.instance = instance, .space = clt_instance_space(instance)};
  clt_space_positions(l.space, clt_instance_default(instance), l.standard);
  int rc =
      searcher->configurations ? list_items(&l, searcher->configurations, error) : list_grid(&l, searcher->grid, error);
  if (rc == CLT_OK && l.n == 0)
    rc = clt_fail(error, CLT_E_NO_VALID, "none of the %zu listed configurations satisfies the constraints",
                  l.n_left_out);
  if (rc) return free(l.configs), rc;
  *out = l.configs;
  *n = l.n;
  *n_left_out = l.n_left_out;
  return CLT_OK;
}
