/* The store's texts of configurations, and a space made from such texts. Unlike clt_config_parse, which reads what
 * users type, each configuration has exactly one spelling here, and thousands are read quickly. */

#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "space/expr.h"
#include "space/space.h"
#include "store/store.h"

#define MAX_TEXTS (1u << 21)
#define MAX_VALUES 65536 /* per parameter */
#define MAX_NAME_BYTES 200

typedef struct value_text {
  char *text;
  uint32_t position;
} value_text;

typedef struct parameter_text {
  const char *name;
  size_t index;       /* in the space */
  value_text *values; /* sorted by text */
  size_t n_values;
} parameter_text;

struct clt_config_reader {
  const clt_space *space;
  parameter_text parameters[CLT_MAX_PARAMETERS]; /* sorted by name */
  size_t n_parameters;
};

/* Compares structures that begin with a text. */
static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The parameters sorted by name, without values. */
static size_t sort_parameters(parameter_text *out, const clt_space *space) {
  size_t n = clt_space_n_parameters(space);
  for (size_t i = 0; i < n; i++) out[i] = (parameter_text){.name = clt_space_parameter(space, i)->name, .index = i};
  qsort(out, n, sizeof *out, by_text);
  return n;
}

int clt_config_text(char **out, const clt_space *space, clt_config config, clt_error *error) {
  parameter_text parameters[CLT_MAX_PARAMETERS];
  size_t n = sort_parameters(parameters, space);
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_text text = {0};
  clt_space_positions(positions, space, config);
  for (size_t i = 0; i < n; i++) {
    size_t index = parameters[i].index;
    clt_text_printf(&text, "%s%s=", i ? " " : "", parameters[i].name);
    clt_value_spell(&text, clt_space_parameter(space, index), positions[index]);
  }
  if (text.n >= CLT_MAX_CONFIG_TEXT) {
    clt_fail(error, CLT_E_RANGE, "the configuration is too long for the store: %zu bytes; shorten its texts", text.n);
    return clt_text_release(&text), CLT_E_RANGE;
  }
  return clt_text_take(out, &text, error);
}

int clt_config_reader_new(clt_config_reader **out, const clt_space *space, clt_error *error) {
  clt_config_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return clt_fail_memory(error);
  reader->space = space;
  reader->n_parameters = sort_parameters(reader->parameters, space);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < reader->n_parameters; i++) {
    parameter_text *p = &reader->parameters[i];
    const clt_parameter *parameter = clt_space_parameter(space, p->index);
    p->values = clt_new_array(parameter->n_values, sizeof *p->values);
    if (p->values == NULL) rc = clt_fail_memory(error);
    for (; rc == CLT_OK && p->n_values < parameter->n_values; p->n_values++) {
      clt_text text = {0};
      clt_value_spell(&text, parameter, p->n_values);
      p->values[p->n_values].position = (uint32_t)p->n_values;
      rc = clt_text_take(&p->values[p->n_values].text, &text, error);
    }
    if (rc == CLT_OK) qsort(p->values, p->n_values, sizeof *p->values, by_text);
  }
  if (rc != CLT_OK) {
    clt_config_reader_free(reader);
    return rc;
  }
  *out = reader;
  return CLT_OK;
}

void clt_config_reader_free(clt_config_reader *reader) {
  if (reader == NULL) return;
  for (size_t i = 0; i < reader->n_parameters; i++) {
    for (size_t j = 0; j < reader->parameters[i].n_values; j++) free(reader->parameters[i].values[j].text);
    free(reader->parameters[i].values);
  }
  free(reader);
}

/* --- splitting texts --- */

/* One assignment, cut from the text in place. */
typedef struct assignment {
  char *name, *value;
} assignment;

#define NO_TEXT SIZE_MAX

/* Splits a text into assignments; returns their number, or NO_TEXT if it is not a configuration. */
static size_t cut_text(assignment out[CLT_MAX_PARAMETERS], char *text) {
  size_t n = 0;
  char *rest = NULL;
  for (char *token = strtok_r(text, " ", &rest); token; token = strtok_r(NULL, " ", &rest), n++) {
    char *equals = strchr(token, '=');
    if (equals == NULL || n == CLT_MAX_PARAMETERS) return NO_TEXT;
    *equals = '\0';
    out[n] = (assignment){token, equals + 1};
  }
  return n;
}

#define NOT_SEEN UINT32_MAX

bool clt_config_reader_read(const clt_config_reader *reader, char *text, clt_config *out) {
  uint32_t positions[CLT_MAX_PARAMETERS]; /* of the values, in the space's order */
  assignment own[CLT_MAX_PARAMETERS];
  const size_t n = cut_text(own, text);
  if (n == NO_TEXT) return false;
  for (size_t i = 0; i < reader->n_parameters; i++) positions[i] = NOT_SEEN;
  for (size_t i = 0; i < n; i++) {
    const parameter_text wanted = {.name = own[i].name};
    const parameter_text *p =
        bsearch(&wanted, reader->parameters, reader->n_parameters, sizeof *reader->parameters, by_text);
    if (p == NULL || positions[p->index] != NOT_SEEN) return false;
    const value_text wanted_value = {.text = own[i].value};
    const value_text *value = bsearch(&wanted_value, p->values, p->n_values, sizeof *p->values, by_text);
    if (value == NULL) return false;
    positions[p->index] = value->position;
  }
  for (size_t i = 0; i < reader->n_parameters; i++) { /* a parameter may be missing only if it has a single value */
    if (positions[i] != NOT_SEEN) continue;
    if (clt_space_parameter(reader->space, i)->n_values != 1) return false;
    positions[i] = 0;
  }
  clt_config config = clt_space_from_positions(reader->space, positions);
  if (!clt_space_contains(reader->space, config)) return false;
  *out = config;
  return true;
}

/* --- a space from stored texts: these are not trusted, so names and values must be valid in a problem --- */

/* The newest is last. */
static int collect_text(void *user, const clt_store_description *none, const clt_store_record *record) {
  clt_words *t = user;
  (void)none;
  if (record->configuration == NULL || record->kind == CLT_RECORD_ATTEMPT || t->n == MAX_TEXTS) return 0;
  if (strnlen(record->configuration, CLT_MAX_CONFIG_TEXT) == CLT_MAX_CONFIG_TEXT) return 0;
  return clt_words_add(t, strdup(record->configuration), NULL);
}

static bool is_usable_name(const char *name) {
  return clt_is_name(name) && strlen(name) <= MAX_NAME_BYTES && !clt_is_keyword(name, strlen(name));
}

/* The value of a text: a number if that prints the same, otherwise the text, which is changed in place and borrowed.
 * False: not a value that clatune stores, or a text with control characters other than line ends and tabs. */
static bool read_value(clt_value *out, char *text) {
  const bool spelled = strchr(text, '%') != NULL;
  char printed[64];
  if (!clt_value_unspell(text)) return false;
  for (const char *c = text; *c; c++) {
    bool control = (unsigned char)*c < 32 || *c == 127 || (*c == '\xc2' && (unsigned char)c[1] - 0x80u < 32);
    if (control && *c != '\n' && *c != '\t') return false;
  }
  const bool is_number = !spelled && clt_value_parse(out, text, strlen(text)) &&
                         clt_value_print(printed, sizeof printed, *out) < (int)sizeof printed &&
                         strcmp(printed, text) == 0;
  if (!is_number) *out = (clt_value){CLT_STRING, .text = text};
  return true;
}

/* values: n_rows rows of n parameters. */
static int make_space(clt_space **out, const assignment *names, size_t n, const clt_value *values, size_t n_rows,
                      clt_error *error) {
  clt_space_builder *builder = NULL;
  uint32_t *positions = clt_new_array(n_rows, n * sizeof *positions);
  clt_value *column = clt_new_array(n_rows, sizeof *column);
  int rc = positions && column ? clt_space_builder_new(&builder, error) : clt_fail_memory(error);
  for (size_t p = 0; rc == CLT_OK && p < n; p++) {
    for (size_t i = 0; i < n_rows; i++) column[i] = values[i * n + p];
    const size_t kept = clt_values_sort(column, n_rows);
    if (kept > MAX_VALUES) {
      rc = clt_fail(error, CLT_E_RANGE, "the store has more values of '%s' than a parameter can have", names[p].name);
      break;
    }
    rc = clt_space_builder_parameter(builder, names[p].name, column, kept, error);
    for (size_t i = 0; rc == CLT_OK && i < n_rows; i++)
      clt_space_builder_position(&positions[i * n + p], builder, p,
                                 values[i * n + p]); /* the value is in the column, so this succeeds */
  }
  if (rc == CLT_OK) rc = clt_space_new_explicit(out, builder, positions, n_rows, error);
  clt_space_builder_free(builder);
  free(positions);
  free(column);
  return rc;
}

int clt_store_space(clt_space **out, clt_store *store, const clt_store_key *key, clt_error *error) {
  clt_words t = {0};
  assignment names[CLT_MAX_PARAMETERS], own[CLT_MAX_PARAMETERS];
  clt_value *values = NULL;
  size_t n = 0, n_rows = 0;
  int rc = store->type->walk(store->state, CLT_STORE_OLDEST_FIRST, key, NULL, 0, collect_text, &t, error);
  if (rc == CLT_E_MEMORY) clt_fail_memory(error);
  /* Uses the parameter names of the newest valid text; texts with other names, or in another order, are left out. */
  for (size_t i = t.n; rc == CLT_OK && i-- > 0;) {
    size_t n_own = cut_text(own, t.all[i]);
    bool usable = n_own > 0 && n_own != NO_TEXT && (n == 0 || n_own == n);
    for (size_t p = 0; usable && p < n_own; p++) usable = is_usable_name(own[p].name);
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
    rc = clt_fail(error, CLT_E_NOT_FOUND, "the store has no configuration of this problem on this device");
  if (rc == CLT_OK) rc = make_space(out, names, n, values, n_rows, error);
  clt_words_free(t.all);
  free(values);
  return rc;
}
