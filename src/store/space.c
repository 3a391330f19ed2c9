/* A space from what a store holds alone. Its texts are not trusted: names and values have to be what a problem could
 * have. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/expr.h"
#include "space/space.h"
#include "store/store.h"

#define MAX_TEXTS (1u << 21)
#define MAX_VALUES 65536 /* of a parameter */
#define MAX_NAME_BYTES 200

/* The newest comes last. */
static int collect_text(void *user, const clt_store_description *none, const clt_store_record *record) {
  clt_words *t = user;
  (void)none;
  if (record->configuration == NULL || record->kind == CLT_RECORD_ATTEMPT || t->n == MAX_TEXTS) return 0;
  if (strnlen(record->configuration, CLT_MAX_CONFIG_TEXT) == CLT_MAX_CONFIG_TEXT) return 0;
  return clt_words_add(t, strdup(record->configuration), NULL);
}

/* --- one text --- */

/* An assignment of a text, cut in place. */
typedef struct assignment {
  char *name, *value;
} assignment;

/* How many assignments a text has; 0 where it cannot be a configuration. */
static size_t cut_text(assignment *out, char *text) {
  size_t n = 0;
  char *rest = NULL;
  for (char *token = strtok_r(text, " ", &rest); token; token = strtok_r(NULL, " ", &rest), n++) {
    char *equals = strchr(token, '=');
    if (equals == NULL || n == CLT_MAX_PARAMETERS) return 0;
    *equals = '\0';
    out[n] = (assignment){token, equals + 1};
    if (!clt_is_name(token) || strlen(token) > MAX_NAME_BYTES || clt_is_keyword(token, strlen(token))) return 0;
  }
  return n;
}

static bool prints_as(clt_value value, const char *text) {
  char printed[64];
  return clt_value_print(printed, sizeof printed, value) < (int)sizeof printed && strcmp(printed, text) == 0;
}

/* What the text spells: a number where one prints so. Texts are changed in place and borrowed. False: it is nothing
 * that clatune stores, or has what a terminal would obey, other than line ends and tabs. */
static bool read_value(clt_value *out, char *text) {
  bool spelled = strchr(text, '%') != NULL;
  if (!clt_value_unspell(text)) return false;
  for (const char *c = text; *c; c++) {
    bool control = (unsigned char)*c < 32 || *c == 127 || (*c == '\xc2' && (unsigned char)c[1] - 0x80u < 32);
    if (control && *c != '\n' && *c != '\t') return false;
  }
  clt_value integer = {CLT_INT}, real = {CLT_REAL};
  errno = 0;
  integer.integer = strtoll(text, NULL, 10);
  bool is_integer = errno == 0 && prints_as(integer, text);
  real.real = clt_strtod(text, NULL);
  bool is_real = isfinite(real.real) && prints_as(real, text);
  *out = spelled      ? (clt_value){CLT_STRING, .text = text}
         : is_integer ? integer
         : is_real    ? real
                      : (clt_value){CLT_STRING, .text = text};
  return true;
}

/* --- all of them --- */

/* values: n_rows configurations of n parameters each. */
static int make_space(clt_space **out, const assignment *names, size_t n, const clt_value *values, size_t n_rows,
                      clt_error *error) {
  clt_space_builder *builder = NULL;
  clt_config *configs = clt_new_array(n_rows, sizeof *configs);
  clt_value *column = clt_new_array(n_rows, sizeof *column);
  size_t n_different = 0;
  uint64_t cartesian = 1;
  int rc = configs && column ? clt_space_builder_new(&builder, error) : clt_fail_memory(error);
  for (size_t p = 0; rc == CLT_OK && p < n; p++) {
    for (size_t i = 0; i < n_rows; i++) column[i] = values[i * n + p];
    const size_t kept = clt_values_sort(column, n_rows);
    if (kept > MAX_VALUES || __builtin_mul_overflow(cartesian, kept, &cartesian) || cartesian > (uint64_t)1 << 63) {
      rc = clt_fail(error, CLT_E_RANGE, "the store has too many values of '%s'", names[p].name);
      break;
    }
    rc = clt_space_builder_parameter(builder, names[p].name, column, kept, error);
    for (size_t i = 0; rc == CLT_OK && i < n_rows; i++)
      clt_space_builder_extend(builder, &configs[i], p, values[i * n + p]); /* it is one of the column */
  }
  if (rc == CLT_OK) {
    clt_sort_u64(configs, n_rows);
    for (size_t i = 0; i < n_rows; i++)
      if (n_different == 0 || configs[n_different - 1] != configs[i]) configs[n_different++] = configs[i];
    rc = clt_space_new_explicit(out, builder, configs, n_different, error);
  }
  clt_space_builder_free(builder);
  free(configs);
  free(column);
  return rc;
}

int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error) {
  clt_words t = {0};
  assignment names[CLT_MAX_PARAMETERS], own[CLT_MAX_PARAMETERS];
  clt_value *values = NULL;
  size_t n = 0, n_rows = 0;
  int rc = store->type->walk(store->state, CLT_STORE_OLDEST_FIRST, key, collect_text, &t, error);
  if (rc == CLT_E_MEMORY) clt_fail_memory(error);
  /* The names are those of the newest text that can be a configuration; who has others, or in another order, is left
   * out. */
  for (size_t i = t.n; rc == CLT_OK && i-- > 0;) {
    size_t n_own = cut_text(own, t.all[i]);
    bool usable = n_own > 0 && (n == 0 || n_own == n);
    if (n == 0 && usable) {
      memcpy(names, own, sizeof names);
      n = n_own;
      values = clt_new_array(t.n, n * sizeof *values);
      if (values == NULL) rc = clt_fail_memory(error);
    }
    for (size_t p = 0; rc == CLT_OK && usable && p < n; p++) {
      usable = strcmp(own[p].name, names[p].name) == 0 && read_value(&values[n_rows * n + p], own[p].value);
    }
    n_rows += rc == CLT_OK && usable;
  }
  if (rc == CLT_OK && n_rows == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "the store holds no configuration of this key");
  if (rc == CLT_OK) rc = make_space(out, names, n, values, n_rows, error);
  clt_words_free(t.all);
  free(values);
  return rc;
}
