#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/expr.h"
#include "sweep/sweep.h"

/* 1e6 is a whole number too. */
static bool whole(int64_t *out, const json_t *json) {
  double real = json_real_value(json);
  if (json_is_integer(json)) return *out = json_integer_value(json), true;
  if (!json_is_real(json) || !(real >= -0x1p53 && real <= 0x1p53) || real != (double)(int64_t)real) return false;
  return *out = (int64_t)real, true;
}

static int read_text(int64_t **out, size_t *n, const clt_source *source, const clt_node *node, clt_error *error) {
  clt_error cause = {0};
  clt_value *values = NULL;
  int rc = clt_values_parse(&values, n, json_string_value(node->json), "int64", NULL, 0, &cause);
  if (rc) return clt_key_wrap(source, node->key, rc, error, &cause);
  *out = clt_new_array(*n, sizeof **out);
  for (size_t i = 0; *out && i < *n; i++) (*out)[i] = values[i].integer;
  free(values);
  return *out ? CLT_OK : clt_fail_memory(error);
}

static int read_list(int64_t **out, size_t *n, const clt_source *source, const clt_node *node, clt_error *error) {
  *n = json_array_size(node->json);
  *out = clt_new_array(*n, sizeof **out);
  if (*out == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < *n; i++) {
    clt_node item = clt_node_item(node, i);
    if (!whole(&(*out)[i], item.json)) return clt_node_fail(source, &item, error, "needs a whole number");
  }
  return CLT_OK;
}

static int read_one(int64_t **out, size_t *n, const clt_source *source, const clt_node *node, clt_error *error) {
  int64_t number;
  if (!whole(&number, node->json))
    return clt_node_fail(source, node, error,
                         "needs a whole number, a list of them, or a text such as \"range(1, 11)\"");
  *out = clt_new_array(1, sizeof **out);
  if (*out == NULL) return clt_fail_memory(error);
  **out = number;
  *n = 1;
  return CLT_OK;
}

static int check(const int64_t *numbers, size_t n, const clt_source *source, const clt_node *node, int64_t min,
                 int64_t max, size_t most, clt_error *error) {
  if (n == 0) return clt_node_fail(source, node, error, "must not be empty");
  if (n > most) return clt_node_fail(source, node, error, "has %zu numbers; there may be %zu", n, most);
  for (size_t i = 0; i < n; i++)
    if (numbers[i] < min || numbers[i] > max)
      return clt_node_fail(source, node, error, "%lld lies outside of %lld to %lld", (long long)numbers[i],
                           (long long)min, (long long)max);
  return CLT_OK;
}

int clt_sweep_numbers(int64_t **out, size_t *n, const clt_source *source, const clt_node *node, int64_t min,
                      int64_t max, size_t most, clt_error *error) {
  int64_t *numbers = NULL;
  size_t n_numbers = 0;
  if (node->json == NULL) return CLT_OK;
  int rc = json_is_array(node->json)    ? read_list(&numbers, &n_numbers, source, node, error)
           : json_is_string(node->json) ? read_text(&numbers, &n_numbers, source, node, error)
                                        : read_one(&numbers, &n_numbers, source, node, error);
  if (rc == CLT_OK) rc = check(numbers, n_numbers, source, node, min, max, most, error);
  if (rc) return free(numbers), rc;
  *out = numbers;
  *n = n_numbers;
  return CLT_OK;
}
