/* A space from what a store holds alone. Its texts are not trusted: names and values have to be what a problem could
 * have. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/lex.h"
#include "store/config_text.h"
#include "store/record.h"

#define MAX_OCCURRING (1u << 21)
#define MAX_VALUES 65536 /* of a parameter */
#define MAX_NAME_BYTES 200
#define MAX_VALUE_BYTES 256

typedef struct occurring_parameter {
  char *name;
  clt_value *values; /* texts owned; those that occur at first, then the different ones */
  size_t n, capacity;
} occurring_parameter;

typedef struct occurring {
  occurring_parameter parameters[CLT_MAX_PARAMETERS];
  size_t n;
  char **texts; /* of configurations, the newest last */
  size_t n_texts, capacity;
} occurring;

static void forget_value(clt_value value) {
  if (value.type == CLT_STRING) free((char *)(uintptr_t)value.text);
}

static void release(occurring *o) {
  for (size_t i = 0; i < o->n; i++) {
    occurring_parameter *p = &o->parameters[i];
    for (size_t v = 0; v < p->n; v++) forget_value(p->values[v]);
    free(p->values);
    free(p->name);
  }
  for (size_t i = 0; i < o->n_texts; i++) free(o->texts[i]);
  free(o->texts);
}

/* --- texts --- */

static int keep_text(void *user, const clt_store_record *record) {
  occurring *o = user;
  if (record->configuration == NULL || record->kind == CLT_RECORD_ATTEMPT) return 0;
  if (strnlen(record->configuration, CLT_MAX_CONFIG_TEXT) == CLT_MAX_CONFIG_TEXT || o->n_texts == MAX_OCCURRING)
    return 0;
  if (clt_grow(&o->texts, &o->capacity, o->n_texts + 1, sizeof *o->texts)) return CLT_E_MEMORY;
  char *text = strdup(record->configuration);
  if (text == NULL) return CLT_E_MEMORY;
  o->texts[o->n_texts++] = text;
  return 0;
}

static bool usable_name(const char *name) {
  if (!isalpha((unsigned char)*name) && *name != '_') return false;
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && *c != '_')) return false;
  return strlen(name) <= MAX_NAME_BYTES && !clt_is_keyword(name, strlen(name));
}

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

/* %XX back to bytes, in place; nothing that a terminal would obey. */
static bool decode(char *text) {
  char *to = text;
  for (const char *c = text; *c; c++) {
    int byte = (unsigned char)*c;
    if (*c == '%') {
      int high = hex_digit(c[1]), low = high < 0 ? -1 : hex_digit(c[2]);
      if (low < 0) return false;
      byte = high * 16 + low;
      c += 2;
    }
    if (byte < 32 || byte > 126) return false;
    *to++ = (char)byte;
  }
  *to = '\0';
  return to > text && to - text <= MAX_VALUE_BYTES;
}

static bool prints_as(clt_value value, const char *text) {
  char printed[64];
  return clt_value_print(value, printed, sizeof printed) < (int)sizeof printed && strcmp(printed, text) == 0;
}

/* What prints as the text; false where there is none, *memory where there was no room for it. */
static bool read_value(clt_value *out, char *text, bool *memory) {
  char *end;
  if (!decode(text)) return false;
  errno = 0;
  *out = (clt_value){CLT_INT, .integer = strtoll(text, &end, 10)};
  if (errno == 0 && prints_as(*out, text)) return true;
  *out = (clt_value){CLT_REAL, .real = strtod(text, &end)};
  if (isfinite(out->real) && prints_as(*out, text)) return true;
  *out = (clt_value){CLT_STRING, .text = strdup(text)};
  if (out->text == NULL) *memory = true;
  return out->text != NULL;
}

/* --- parameters --- */

/* Those of one text; false where it cannot be a configuration. */
static bool read_names(occurring *o, const char *text, bool *memory) {
  char *copy = strdup(text), *rest = NULL;
  bool good = copy != NULL;
  for (char *token = good ? strtok_r(copy, " ", &rest) : NULL; good && token; token = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(token, '=');
    if (equals) *equals = '\0';
    good = equals && usable_name(token) && o->n < CLT_MAX_PARAMETERS;
    if (good && (o->parameters[o->n++].name = strdup(token)) == NULL) good = false, *memory = true;
  }
  if (copy == NULL) *memory = true;
  free(copy);
  return good && o->n > 0;
}

static void forget_names(occurring *o) {
  for (size_t i = 0; i < o->n; i++) {
    free(o->parameters[i].name);
    o->parameters[i] = (occurring_parameter){0};
  }
  o->n = 0;
}

static int push(occurring_parameter *p, clt_value value) {
  if (clt_grow(&p->values, &p->capacity, p->n + 1, sizeof *p->values)) {
    forget_value(value);
    return CLT_E_MEMORY;
  }
  p->values[p->n++] = value;
  return 0;
}

/* Adds the values of a text whose names are the parameters', in their order, which is that of names. */
static int add_values(occurring *o, char *text) {
  clt_value values[CLT_MAX_PARAMETERS];
  size_t n = 0;
  char *rest = NULL;
  bool good = true, memory = false;
  for (char *token = strtok_r(text, " ", &rest); good && token; token = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(token, '=');
    if (equals) *equals = '\0';
    good =
        equals && n < o->n && strcmp(o->parameters[n].name, token) == 0 && read_value(&values[n], equals + 1, &memory);
    n += good;
  }
  good = good && n == o->n;
  int rc = memory ? CLT_E_MEMORY : 0;
  for (size_t i = 0; i < n; i++) {
    if (!good)
      forget_value(values[i]);
    else if (push(&o->parameters[i], values[i]))
      rc = CLT_E_MEMORY;
  }
  return rc;
}

static int by_value(const void *a, const void *b) {
  const clt_value *x = a, *y = b;
  if ((x->type == CLT_STRING) != (y->type == CLT_STRING)) return x->type == CLT_STRING ? 1 : -1;
  if (x->type == CLT_STRING) return strcmp(x->text, y->text);
  double p = clt_value_number(*x), q = clt_value_number(*y);
  return (p > q) - (p < q);
}

static void sort_values(occurring_parameter *p) {
  size_t kept = 0;
  if (p->n) qsort(p->values, p->n, sizeof *p->values, by_value);
  for (size_t i = 0; i < p->n; i++) {
    if (kept && by_value(&p->values[kept - 1], &p->values[i]) == 0) {
      forget_value(p->values[i]);
    } else {
      p->values[kept++] = p->values[i];
    }
  }
  p->n = kept;
}

static int find_parameters(occurring *o, clt_error *error) {
  bool memory = false;
  int rc = CLT_OK;
  for (size_t i = o->n_texts; i-- > 0 && o->n == 0 && !memory;)
    if (!read_names(o, o->texts[i], &memory)) forget_names(o);
  if (memory) return clt_fail_memory(error);
  if (o->n == 0) return clt_fail(error, CLT_E_NOT_FOUND, "the store holds no configuration of this key");
  for (size_t i = 0; rc == CLT_OK && i < o->n_texts; i++) {
    char *copy = strdup(o->texts[i]);
    if (copy == NULL || add_values(o, copy)) rc = clt_fail_memory(error);
    free(copy);
  }
  for (size_t i = 0; i < o->n; i++) sort_values(&o->parameters[i]);
  for (size_t i = 0; rc == CLT_OK && i < o->n; i++)
    if (o->parameters[i].n > MAX_VALUES)
      rc = clt_fail(error, CLT_E_RANGE, "the store has more than %d values of '%s'", MAX_VALUES, o->parameters[i].name);
  return rc;
}

/* --- the space --- */

/* A space of the whole product serves to read the texts. */
static int read_configs(clt_config **out, size_t *n, const occurring *o, const clt_space_builder *builder,
                        clt_error *error) {
  clt_space *product = NULL;
  clt_config_reader *reader = NULL;
  clt_config *configs = NULL;
  int rc = clt_space_new(&product, builder, error);
  if (rc == CLT_OK) rc = clt_config_reader_new(&reader, product, error);
  if (rc == CLT_OK && (configs = clt_new_array(o->n_texts, sizeof *configs)) == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < o->n_texts; i++)
    *n += clt_config_reader_read(reader, o->texts[i], &configs[*n]);
  clt_config_reader_free(reader);
  clt_space_free(product);
  *out = configs;
  return rc;
}

static int by_number(const void *a, const void *b) {
  const clt_config *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static size_t different(clt_config *configs, size_t n) {
  size_t kept = 0;
  if (n) qsort(configs, n, sizeof *configs, by_number);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || configs[kept - 1] != configs[i]) configs[kept++] = configs[i];
  return kept;
}

static int make_space(clt_space **out, const occurring *o, clt_error *error) {
  clt_space_builder *builder = NULL;
  clt_config *configs = NULL;
  size_t n = 0;
  int rc = clt_space_builder_new(&builder, error);
  for (size_t i = 0; rc == CLT_OK && i < o->n; i++)
    rc =
        clt_space_builder_parameter(builder, o->parameters[i].name, o->parameters[i].values, o->parameters[i].n, error);
  if (rc == CLT_OK) rc = read_configs(&configs, &n, o, builder, error);
  if (rc == CLT_OK) rc = clt_space_new_explicit(out, builder, configs, different(configs, n), error);
  clt_space_builder_free(builder);
  free(configs);
  return rc;
}

int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error) {
  occurring o = {0};
  int rc = store->type->each(store->state, key, keep_text, &o, error);
  if (rc == CLT_E_MEMORY) clt_fail_memory(error);
  if (rc == CLT_OK) rc = find_parameters(&o, error);
  if (rc == CLT_OK) rc = make_space(out, &o, error);
  release(&o);
  return rc;
}
