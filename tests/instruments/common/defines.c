#include "common/defines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"

static clt_value value_of(const char *text) {
  char *end;
  errno = 0;
  long long integer = strtoll(text, &end, 10);
  if (*text && *end == '\0' && errno == 0) return (clt_value){.type = CLT_INT, .integer = integer};
  double real = strtod(text, &end);
  size_t n = strlen(text);
  bool is_float = end != text && (*end == '\0' || (end == text + n - 1 && *end == 'f'));
  if (is_float && isfinite(real)) return (clt_value){.type = CLT_REAL, .real = real};
  return (clt_value){.type = CLT_STRING, .text = text};
}

static int define(defines *d, char *definition, clt_error *error) {
  static const char one[] = "1";
  char *equals = strchr(definition, '=');
  if (equals) *equals = '\0';
  clt_symbol symbol = {.name = definition, .constant = true, .value = value_of(equals ? equals + 1 : one)};
  for (size_t i = 0; i < d->n; i++)
    if (strcmp(d->symbols[i].name, definition) == 0) return d->symbols[i] = symbol, CLT_OK;
  if (clt_grow(&d->symbols, &d->capacity, d->n + 1, sizeof *d->symbols)) return clt_fail_memory(error);
  d->symbols[d->n++] = symbol;
  return CLT_OK;
}

int defines_add(defines *d, const char *name, double value, clt_error *error) {
  if (clt_grow(&d->symbols, &d->capacity, d->n + 1, sizeof *d->symbols)) return clt_fail_memory(error);
  d->symbols[d->n++] = (clt_symbol){.name = name, .constant = true, .value = {.type = CLT_REAL, .real = value}};
  return CLT_OK;
}

int defines_read(defines *out, const char *options, clt_error *error) {
  *out = (defines){.text = strdup(options ? options : "")};
  if (out->text == NULL) return clt_fail_memory(error);
  char *rest = NULL;
  bool follows = false;
  int rc = CLT_OK;
  for (char *word = strtok_r(out->text, " \t\n", &rest); rc == CLT_OK && word; word = strtok_r(NULL, " \t\n", &rest)) {
    if (follows)
      rc = define(out, word, error);
    else if (strncmp(word, "-D", 2) == 0 && word[2])
      rc = define(out, word + 2, error);
    follows = !follows && strcmp(word, "-D") == 0;
  }
  return rc;
}

void defines_release(defines *d) {
  free(d->symbols);
  free(d->text);
  *d = (defines){0};
}

const clt_value *defines_find(const defines *d, const char *name) {
  for (size_t i = 0; i < d->n; i++)
    if (strcmp(d->symbols[i].name, name) == 0) return &d->symbols[i].value;
  return NULL;
}

int defines_evaluate(const defines *d, const char *expression, clt_value *out, clt_error *error) {
  clt_expr *expr = NULL;
  clt_value value;
  int rc = clt_expr_compile(&expr, expression, d->symbols, d->n, error);
  if (rc == CLT_OK) rc = clt_expr_eval(expr, NULL, &value, error);
  if (rc == CLT_OK && value.type == CLT_STRING) /* the text may be the expression's */
    rc = clt_fail(error, CLT_E_EXPRESSION, "'%s' is neither a number nor true or false", expression);
  if (rc == CLT_OK) *out = value;
  clt_expr_free(expr);
  return rc;
}

int defines_number(const defines *d, const char *expression, double *out, clt_error *error) {
  clt_value value;
  int rc = defines_evaluate(d, expression, &value, error);
  if (rc == CLT_OK) *out = clt_value_number(value);
  return rc;
}

int defines_truth(const defines *d, const char *expression, bool *out, clt_error *error) {
  clt_value value;
  int rc = defines_evaluate(d, expression, &value, error);
  if (rc == CLT_OK) *out = clt_value_truthy(value);
  return rc;
}

uint64_t defines_hash(const defines *d) {
  uint64_t hash = 0;
  for (size_t i = 0; i < d->n; i++) {
    char value[64];
    const clt_symbol *s = &d->symbols[i];
    int n = s->value.type == CLT_STRING ? 0 : clt_value_print(value, sizeof value, s->value);
    uint64_t parts[2] = {clt_hash64(s->name, strlen(s->name)),
                         s->value.type == CLT_STRING ? clt_hash64(s->value.text, strlen(s->value.text))
                                                     : clt_hash64(value, (size_t)n)};
    hash += clt_hash64(parts, sizeof parts);
  }
  return hash;
}
