/* Configurations as the store keeps them. clt_config_parse reads what people type; here one spelling alone stands for a
 * configuration, and many thousands are read. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/space.h"
#include "store/store.h"

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

/* malloc'ed; NULL when out of memory. */
static char *spell_value(const clt_parameter *parameter, size_t position) {
  size_t bytes = (size_t)clt_value_spell(NULL, 0, parameter, position) + 1;
  char *out = malloc(bytes);
  if (out) clt_value_spell(out, bytes, parameter, position);
  return out;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const parameter_text *)a)->name, ((const parameter_text *)b)->name);
}

/* The parameters in the order of their names, values left out. */
static size_t sort_parameters(parameter_text *out, const clt_space *space) {
  size_t n = clt_space_n_parameters(space);
  for (size_t i = 0; i < n; i++) out[i] = (parameter_text){.name = clt_space_parameter(space, i)->name, .index = i};
  qsort(out, n, sizeof *out, by_name);
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
    char *value = spell_value(clt_space_parameter(space, index), positions[index]);
    if (value == NULL) return clt_text_release(&text), clt_fail_memory(error);
    clt_text_printf(&text, "%s%s=%s", i ? " " : "", parameters[i].name, value);
    free(value);
  }
  if (text.n >= CLT_MAX_CONFIG_TEXT) {
    clt_fail(error, CLT_E_RANGE, "a configuration is too long for the store: %zu bytes", text.n);
    return clt_text_release(&text), CLT_E_RANGE;
  }
  return clt_text_take(out, &text, error);
}

static int by_text(const void *a, const void *b) {
  return strcmp(((const value_text *)a)->text, ((const value_text *)b)->text);
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
      p->values[p->n_values] = (value_text){spell_value(parameter, p->n_values), (uint32_t)p->n_values};
      if (p->values[p->n_values].text == NULL) rc = clt_fail_memory(error);
    }
    if (rc == CLT_OK) qsort(p->values, p->n_values, sizeof *p->values, by_text);
  }
  if (rc) return clt_config_reader_free(reader), rc;
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

#define NOT_SEEN UINT32_MAX

bool clt_config_reader_read(const clt_config_reader *reader, char *text, clt_config *out) {
  uint32_t positions[CLT_MAX_PARAMETERS]; /* in the order of the space */
  char *rest = NULL;
  for (size_t i = 0; i < reader->n_parameters; i++) positions[i] = NOT_SEEN;
  for (char *token = strtok_r(text, " ", &rest); token; token = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(token, '=');
    if (equals == NULL) return false;
    *equals = 0;
    const parameter_text wanted = {.name = token};
    const parameter_text *p =
        bsearch(&wanted, reader->parameters, reader->n_parameters, sizeof *reader->parameters, by_name);
    if (p == NULL || positions[p->index] != NOT_SEEN) return false;
    const value_text wanted_value = {.text = equals + 1};
    const value_text *value = bsearch(&wanted_value, p->values, p->n_values, sizeof *p->values, by_text);
    if (value == NULL) return false;
    positions[p->index] = value->position;
  }
  for (size_t i = 0; i < reader->n_parameters; i++) { /* what the text leaves out must have a single value */
    if (positions[i] != NOT_SEEN) continue;
    if (clt_space_parameter(reader->space, i)->n_values != 1) return false;
    positions[i] = 0;
  }
  clt_config config = clt_space_from_positions(reader->space, positions);
  if (!clt_space_contains(reader->space, config)) return false;
  *out = config;
  return true;
}
