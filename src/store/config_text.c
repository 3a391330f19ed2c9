#include "store/config_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

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

static bool plain(unsigned char c) { return c < 128 && (isalnum(c) || strchr("_.+-", c)); }

static void write_encoded(FILE *out, const char *text) {
  for (; *text; text++) {
    if (plain((unsigned char)*text)) {
      fputc(*text, out);
    } else {
      fprintf(out, "%%%02X", (unsigned char)*text);
    }
  }
}

static void write_value(FILE *out, clt_value value) {
  char number[64];
  if (value.type != CLT_STRING) clt_value_print(value, number, sizeof number);
  write_encoded(out, value.type == CLT_STRING ? value.text : number);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const parameter_text *)a)->name, ((const parameter_text *)b)->name);
}

/* The parameters in the order of their names, values left out. */
static size_t sorted_parameters(parameter_text *out, const clt_space *space) {
  size_t n = clt_space_n_parameters(space);
  for (size_t i = 0; i < n; i++) out[i] = (parameter_text){.name = clt_space_parameter(space, i)->name, .index = i};
  qsort(out, n, sizeof *out, by_name);
  return n;
}

/* Closes a text stream: its text, or NULL when memory ran out. */
static char *finish(FILE *stream, char **text) {
  bool failed = ferror(stream);
  if (fclose(stream) == 0 && !failed) return *text;
  free(*text);
  return NULL;
}

int clt_config_text(char **out, const clt_space *space, clt_config config, clt_error *error) {
  parameter_text parameters[CLT_MAX_PARAMETERS];
  size_t n = sorted_parameters(parameters, space), bytes;
  char *text = NULL;
  FILE *stream = open_memstream(&text, &bytes);
  if (stream == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    fprintf(stream, "%s%s=", i ? " " : "", parameters[i].name);
    write_value(stream, clt_space_value(space, config, parameters[i].index));
  }
  text = finish(stream, &text);
  if (text == NULL) return clt_fail_memory(error);
  if (bytes >= CLT_MAX_CONFIG_TEXT) {
    free(text);
    return clt_fail(error, CLT_E_RANGE, "a configuration is too long for the store: %zu bytes", bytes);
  }
  *out = text;
  return CLT_OK;
}

static int by_text(const void *a, const void *b) {
  return strcmp(((const value_text *)a)->text, ((const value_text *)b)->text);
}

static char *encoded(clt_value value) {
  char *text = NULL;
  size_t bytes;
  FILE *stream = open_memstream(&text, &bytes);
  if (stream == NULL) return NULL;
  write_value(stream, value);
  return finish(stream, &text);
}

static int encode_values(parameter_text *p, const clt_parameter *parameter) {
  p->values = clt_new_array(parameter->n_values, sizeof *p->values);
  if (p->values == NULL) return CLT_E_MEMORY;
  for (; p->n_values < parameter->n_values; p->n_values++) {
    value_text *value = &p->values[p->n_values];
    value->position = (uint32_t)p->n_values;
    value->text = encoded(parameter->values[p->n_values]);
    if (value->text == NULL) return CLT_E_MEMORY;
  }
  qsort(p->values, p->n_values, sizeof *p->values, by_text);
  return CLT_OK;
}

int clt_config_reader_new(clt_config_reader **out, const clt_space *space, clt_error *error) {
  clt_config_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return clt_fail_memory(error);
  reader->space = space;
  reader->n_parameters = sorted_parameters(reader->parameters, space);
  for (size_t i = 0; i < reader->n_parameters; i++) {
    parameter_text *p = &reader->parameters[i];
    if (encode_values(p, clt_space_parameter(space, p->index)) == CLT_OK) continue;
    clt_config_reader_free(reader);
    return clt_fail_memory(error);
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

#define NOT_SEEN UINT32_MAX

/* Reads one "name=value"; positions are in the order of the space. */
static bool read_assignment(const clt_config_reader *reader, char *token, uint32_t *positions) {
  char *equals = strchr(token, '=');
  if (equals == NULL) return false;
  *equals = 0;
  const parameter_text wanted = {.name = token};
  const parameter_text *p =
      bsearch(&wanted, reader->parameters, reader->n_parameters, sizeof *reader->parameters, by_name);
  if (p == NULL || positions[p->index] != NOT_SEEN) return false;
  const value_text key = {.text = equals + 1},
                   *value = bsearch(&key, p->values, p->n_values, sizeof *p->values, by_text);
  if (value == NULL) return false;
  positions[p->index] = value->position;
  return true;
}

/* Parameters that the text leaves out must have a single value. */
static bool fill_gaps(const clt_space *space, uint32_t *positions, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (positions[i] != NOT_SEEN) continue;
    if (clt_space_parameter(space, i)->n_values != 1) return false;
    positions[i] = 0;
  }
  return true;
}

bool clt_config_reader_read(const clt_config_reader *reader, char *text, clt_config *out) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < reader->n_parameters; i++) positions[i] = NOT_SEEN;
  char *rest = NULL;
  for (char *token = strtok_r(text, " ", &rest); token; token = strtok_r(NULL, " ", &rest))
    if (!read_assignment(reader, token, positions)) return false;
  if (!fill_gaps(reader->space, positions, reader->n_parameters)) return false;
  clt_config config = clt_space_from_positions(reader->space, positions);
  if (!clt_space_contains(reader->space, config)) return false;
  *out = config;
  return true;
}
