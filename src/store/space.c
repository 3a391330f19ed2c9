/* A space from what a store holds alone. Its texts are not trusted: names and values have to be what a problem could
 * have. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/expr.h"
#include "store/store.h"

#define MAX_TEXTS (1u << 21)
#define MAX_VALUES 65536 /* of a parameter */
#define MAX_NAME_BYTES 200
#define MAX_VALUE_BYTES 256

typedef struct occurring_parameter {
  char *name;
  clt_value *values; /* texts borrowed from the copies; those that occur at first, then the different ones */
  size_t n, capacity;
} occurring_parameter;

typedef struct occurring {
  occurring_parameter parameters[CLT_MAX_PARAMETERS];
  size_t n;
  char **texts;  /* of configurations, the newest last */
  char **copies; /* of the same, which reading has cut */
  size_t n_texts, capacity, n_copies;
} occurring;

static int collect_text(void *user, const clt_store_description *none, const clt_store_record *record) {
  occurring *o = user;
  (void)none;
  if (record->configuration == NULL || record->kind == CLT_RECORD_ATTEMPT || o->n_texts == MAX_TEXTS) return 0;
  if (strnlen(record->configuration, CLT_MAX_CONFIG_TEXT) == CLT_MAX_CONFIG_TEXT) return 0;
  if (clt_grow(&o->texts, &o->capacity, o->n_texts + 1, sizeof *o->texts)) return CLT_E_MEMORY;
  char *text = strdup(record->configuration);
  if (text == NULL) return CLT_E_MEMORY;
  o->texts[o->n_texts++] = text;
  return 0;
}

/* --- parameters --- */

static void forget_names(occurring *o) {
  for (size_t i = 0; i < o->n; i++) free(o->parameters[i].name);
  o->n = 0;
}

/* The names in one text. *usable: whether it can be a configuration. */
static int read_names(occurring *o, const char *text, bool *usable, clt_error *error) {
  char *copy = strdup(text), *rest = NULL;
  int rc = copy ? CLT_OK : clt_fail_memory(error);
  *usable = copy != NULL;
  for (char *token = copy ? strtok_r(copy, " ", &rest) : NULL; *usable && token; token = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(token, '=');
    if (equals) *equals = '\0';
    *usable = equals && clt_is_name(token) && strlen(token) <= MAX_NAME_BYTES && o->n < CLT_MAX_PARAMETERS &&
              !clt_is_keyword(token, strlen(token));
    if (!*usable) break;
    o->parameters[o->n] = (occurring_parameter){.name = strdup(token)};
    if (o->parameters[o->n].name == NULL)
      rc = clt_fail_memory(error), *usable = false;
    else
      o->n++;
  }
  free(copy);
  *usable = *usable && o->n > 0;
  if (!*usable) forget_names(o);
  return rc;
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

/* What prints as the text, which is decoded in place and may be borrowed. */
static bool read_value(clt_value *out, char *text) {
  if (!decode(text)) return false;
  errno = 0;
  *out = (clt_value){CLT_INT, .integer = strtoll(text, NULL, 10)};
  if (errno == 0 && prints_as(*out, text)) return true;
  *out = (clt_value){CLT_REAL, .real = strtod(text, NULL)};
  if (!isfinite(out->real) || !prints_as(*out, text)) *out = (clt_value){CLT_STRING, .text = text};
  return true;
}

/* Adds the values of a text whose names are the parameters', in their order, which is that of names; cuts the text. */
static int add_values(occurring *o, char *text, clt_error *error) {
  clt_value values[CLT_MAX_PARAMETERS];
  size_t n = 0;
  char *rest = NULL;
  for (char *token = strtok_r(text, " ", &rest); token; token = strtok_r(NULL, " ", &rest), n++) {
    char *equals = strchr(token, '=');
    if (equals) *equals = '\0';
    if (equals == NULL || n == o->n || strcmp(o->parameters[n].name, token) || !read_value(&values[n], equals + 1))
      return CLT_OK;
  }
  for (size_t i = 0; n == o->n && i < n; i++) {
    occurring_parameter *p = &o->parameters[i];
    if (clt_grow(&p->values, &p->capacity, p->n + 1, sizeof *p->values)) return clt_fail_memory(error);
    p->values[p->n++] = values[i];
  }
  return CLT_OK;
}

static int by_value(const void *a, const void *b) {
  const clt_value *x = a, *y = b;
  if ((x->type == CLT_STRING) != (y->type == CLT_STRING)) return x->type == CLT_STRING ? 1 : -1;
  if (x->type == CLT_STRING) return strcmp(x->text, y->text);
  double p = clt_value_number(*x), q = clt_value_number(*y);
  return (p > q) - (p < q);
}

/* The names are those of the newest text that can be a configuration. */
static int find_parameters(occurring *o, clt_error *error) {
  int rc = CLT_OK;
  bool usable = false;
  for (size_t i = o->n_texts; rc == CLT_OK && i-- > 0 && !usable;) rc = read_names(o, o->texts[i], &usable, error);
  if (rc == CLT_OK && !usable) rc = clt_fail(error, CLT_E_NOT_FOUND, "the store holds no configuration of this key");
  if (rc == CLT_OK && (o->copies = clt_new_array(o->n_texts, sizeof *o->copies)) == NULL) rc = clt_fail_memory(error);
  for (; rc == CLT_OK && o->n_copies < o->n_texts; o->n_copies++) {
    char *copy = o->copies[o->n_copies] = strdup(o->texts[o->n_copies]);
    rc = copy ? add_values(o, copy, error) : clt_fail_memory(error);
  }
  for (size_t i = 0; rc == CLT_OK && i < o->n; i++) {
    occurring_parameter *p = &o->parameters[i];
    size_t kept = 0;
    if (p->n) qsort(p->values, p->n, sizeof *p->values, by_value);
    for (size_t v = 0; v < p->n; v++)
      if (kept == 0 || by_value(&p->values[kept - 1], &p->values[v])) p->values[kept++] = p->values[v];
    p->n = kept;
    if (kept > MAX_VALUES)
      rc = clt_fail(error, CLT_E_RANGE, "the store has more than %d values of '%s'", MAX_VALUES, p->name);
  }
  return rc;
}

/* A space of the whole product serves to read the texts. */
static int make_space(clt_space **out, const occurring *o, clt_error *error) {
  clt_space_builder *builder = NULL;
  clt_space *product = NULL;
  clt_config_reader *reader = NULL;
  clt_config *configs = clt_new_array(o->n_texts, sizeof *configs);
  size_t n = 0, n_different = 0;
  int rc = configs ? clt_space_builder_new(&builder, error) : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < o->n; i++)
    rc =
        clt_space_builder_parameter(builder, o->parameters[i].name, o->parameters[i].values, o->parameters[i].n, error);
  if (rc == CLT_OK) rc = clt_space_new(&product, builder, error);
  if (rc == CLT_OK) rc = clt_config_reader_new(&reader, product, error);
  for (size_t i = 0; rc == CLT_OK && i < o->n_texts; i++) n += clt_config_reader_read(reader, o->texts[i], &configs[n]);
  if (rc == CLT_OK) {
    clt_sort_u64(configs, n);
    for (size_t i = 0; i < n; i++)
      if (n_different == 0 || configs[n_different - 1] != configs[i]) configs[n_different++] = configs[i];
    rc = clt_space_new_explicit(out, builder, configs, n_different, error);
  }
  clt_config_reader_free(reader);
  clt_space_free(product);
  clt_space_builder_free(builder);
  free(configs);
  return rc;
}

int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error) {
  occurring o = {0};
  int rc = store->type->walk(store->state, CLT_STORE_OLDEST_FIRST, key, collect_text, &o, error);
  if (rc == CLT_E_MEMORY) clt_fail_memory(error);
  if (rc == CLT_OK) rc = find_parameters(&o, error);
  if (rc == CLT_OK) rc = make_space(out, &o, error);
  for (size_t i = 0; i < o.n; i++) free(o.parameters[i].values);
  forget_names(&o);
  for (size_t i = 0; i < o.n_texts; i++) free(o.texts[i]);
  for (size_t i = 0; i < o.n_texts && o.copies; i++) free(o.copies[i]);
  free(o.texts);
  free(o.copies);
  return rc;
}
