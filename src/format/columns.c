#include "format/columns.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/entry.h"

#define MAX_VALUES 65536 /* of a parameter */
#define FAIL(c, key, ...) clt_fail_at(error, CLT_E_FORMAT, (c)->path, 0, key, __VA_ARGS__)

static int add(clt_column **out, clt_columns *c, const char *key, const char *name, size_t n_values, clt_error *error) {
  if (name == NULL || !clt_entry_name(name)) return FAIL(c, key, "a parameter's name must be an identifier");
  if (c->n == CLT_MAX_PARAMETERS) return FAIL(c, key, "there are more than %d parameters", CLT_MAX_PARAMETERS);
  clt_column *column = &c->column[c->n++];
  column->name = name;
  column->values = clt_new_array(n_values, sizeof *column->values);
  *out = column;
  return column->values ? CLT_OK : clt_fail_memory(error);
}

static int make_index(clt_column *column, clt_error *error) {
  column->index = clt_value_index_new(column->values, column->n_values);
  return column->index ? CLT_OK : clt_fail_memory(error);
}

/* --- as they occur --- */

/* One value a configuration at first, then the different ones. */
static int collect(clt_columns *c, const char *name, json_t *const *configurations, size_t n, clt_error *error) {
  clt_column *column;
  int rc = add(&column, c, c->key, name, n, error);
  if (rc) return rc;
  clt_value *values = column->values;
  for (size_t i = 0; i < n; i++)
    if (!clt_entry_value(&values[i], json_object_get(configurations[i], name)))
      return FAIL(c, c->key, "the configuration of result %zu has no usable value of '%s'", i, name);
  qsort(values, n, sizeof *values, clt_value_compare);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || clt_value_compare(&values[column->n_values - 1], &values[i])) values[column->n_values++] = values[i];
  if (column->n_values > MAX_VALUES) return FAIL(c, c->key, "'%s' has more than %d values", name, MAX_VALUES);
  return make_index(column, error);
}

int clt_columns_occurring(clt_columns *columns, json_t *const *configurations, size_t n, clt_error *error) {
  json_t *first = n ? configurations[0] : NULL;
  if (json_object_size(first) == 0)
    return FAIL(columns, columns->key, "needs a list of results with a configuration each");
  int rc = CLT_OK;
  for (void *i = json_object_iter(first); i && rc == CLT_OK; i = json_object_iter_next(first, i))
    rc = collect(columns, json_object_iter_key(i), configurations, n, error);
  return rc;
}

/* --- as they are listed --- */

int clt_columns_add_listed(clt_columns *columns, const char *where, const char *name, const json_t *values,
                           clt_error *error) {
  size_t n = json_array_size(values);
  clt_column *column;
  int rc = add(&column, columns, where, name, n, error);
  if (rc) return rc;
  if (n < 1 || n > MAX_VALUES) return FAIL(columns, where, "'%s' needs a list of 1 to %d values", name, MAX_VALUES);
  for (; column->n_values < n; column->n_values++)
    if (!clt_entry_value(&column->values[column->n_values], json_array_get(values, column->n_values)))
      return FAIL(columns, where, "'%s' has a value that is neither a number, a truth value nor a word", name);
  return make_index(column, error);
}

/* --- the space --- */

int clt_columns_build(const clt_columns *columns, clt_space_builder *builder, clt_error *error) {
  uint64_t cartesian = 1;
  int rc = CLT_OK;
  for (size_t i = 0; i < columns->n && rc == CLT_OK; i++) {
    const clt_column *column = &columns->column[i];
    if (__builtin_mul_overflow(cartesian, column->n_values, &cartesian) || cartesian > (uint64_t)1 << 63)
      return clt_fail_at(error, CLT_E_RANGE, columns->path, 0, columns->key,
                         "the space has more than 2^63 configurations");
    rc = clt_space_builder_parameter(builder, column->name, column->values, column->n_values, error);
  }
  return rc;
}

int clt_columns_config(clt_config *out, const clt_columns *columns, const json_t *configuration, size_t index,
                       clt_error *error) {
  clt_config config = 0;
  for (size_t i = 0; i < columns->n; i++) {
    const clt_column *column = &columns->column[i];
    clt_value value;
    uint64_t position;
    if (!clt_entry_value(&value, json_object_get(configuration, column->name)) ||
        !clt_value_index_find(column->index, value, &position))
      return FAIL(columns, columns->key, "the configuration of result %zu has a value of '%s' that is not listed",
                  index, column->name);
    config = config * column->n_values + position;
  }
  if (json_object_size(configuration) != columns->n)
    return FAIL(columns, columns->key, "all results need the same %zu parameters: result %zu has %zu", columns->n,
                index, json_object_size(configuration));
  *out = config;
  return CLT_OK;
}

void clt_columns_release(clt_columns *columns) {
  for (size_t i = 0; i < columns->n; i++) {
    free(columns->column[i].values);
    clt_value_index_free(columns->column[i].index);
  }
  columns->n = 0;
}
