/* Configurations as "a=1 b=2". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"

int clt_config_print(const clt_space *space, clt_config config, char *out, size_t capacity) {
  size_t used = 0;
  if (capacity) out[0] = '\0';
  for (size_t i = 0; i < space->n_parameters; i++) {
    char *at = used < capacity ? out + used : NULL;
    size_t left = used < capacity ? capacity - used : 0;
    int n = snprintf(at, left, "%s%s=", i ? " " : "", space->parameters[i].name);
    used += n > 0 ? (size_t)n : 0;
    at = used < capacity ? out + used : NULL;
    left = used < capacity ? capacity - used : 0;
    n = clt_value_print(clt_space_value(space, config, i), at, left);
    used += n > 0 ? (size_t)n : 0;
  }
  return (int)used;
}

char *clt_config_string(const clt_space *space, clt_config config) {
  size_t bytes = (size_t)clt_config_print(space, config, NULL, 0) + 1;
  char *out = malloc(bytes);
  if (out) clt_config_print(space, config, out, bytes);
  return out;
}

/* --- reading --- */

typedef struct reader {
  const clt_space *space;
  const char *at;
  uint32_t positions[CLT_MAX_PARAMETERS];
  bool given[CLT_MAX_PARAMETERS];
  clt_error *error;
} reader;

static bool separates(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }
static bool ends(char c) { return c == '\0' || separates(c); }

static int unknown(reader *r, const char *name) {
  const char *names[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < r->space->n_parameters; i++) names[i] = r->space->parameters[i].name;
  const char *near = clt_nearest_name(name, names, r->space->n_parameters);
  if (near) return clt_fail(r->error, CLT_E_NOT_FOUND, "there is no parameter '%s' (did you mean '%s'?)", name, near);
  return clt_fail(r->error, CLT_E_NOT_FOUND, "there is no parameter '%s'", name);
}

static int read_name(reader *r, size_t *parameter) {
  char name[256];
  size_t length = strcspn(r->at, "= \t\r\n,");
  if (r->at[length] != '=' || length == 0 || length >= sizeof name)
    return clt_fail(r->error, CLT_E_FORMAT, "a configuration is written 'name=value name=value ...': '%.100s' is not",
                    r->at);
  snprintf(name, sizeof name, "%.*s", (int)length, r->at);
  int p = clt_space_find_parameter(r->space, name);
  if (p < 0) return unknown(r, name);
  if (r->given[p]) return clt_fail(r->error, CLT_E_FORMAT, "'%s' is given twice", name);
  r->at += length + 1;
  *parameter = (size_t)p;
  return CLT_OK;
}

/* Length of the printed value if the text begins with it, else 0. Empty texts are found as 0 as well: see read_value.
 */
static size_t matches(const char *text, clt_value value) {
  char number[64];
  const char *printed = value.type == CLT_STRING ? value.text : number;
  if (value.type != CLT_STRING) clt_value_print(value, number, sizeof number);
  size_t length = strlen(printed);
  return strncmp(text, printed, length) == 0 && ends(text[length]) ? length : 0;
}

static bool is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* A number that is written otherwise than it is printed: 1.0 for 1, true for 1. */
static bool read_number(const char *text, size_t length, clt_value *out) {
  bool minus = length > 0 && *text == '-';
  if (is_word(text, length, "true") || is_word(text, length, "True")) {
    *out = (clt_value){.type = CLT_BOOL, .integer = 1};
    return true;
  }
  if (is_word(text, length, "false") || is_word(text, length, "False")) {
    *out = (clt_value){.type = CLT_BOOL, .integer = 0};
    return true;
  }
  if (!clt_number_parse(out, text + minus, length - minus)) return false;
  if (minus && out->type == CLT_REAL) out->real = -out->real;
  if (minus && out->type == CLT_INT) out->integer = -out->integer;
  return true;
}

/* Texts may hold blanks: the longest of the listed values that stands here is meant. */
static bool read_value(reader *r, size_t p) {
  const clt_parameter *parameter = &r->space->parameters[p];
  size_t longest = 0, length = 0;
  bool found = false;
  while (!ends(r->at[length])) length++;
  clt_value number;
  bool numeric = read_number(r->at, length, &number);
  for (size_t v = 0; v < parameter->n_values; v++) {
    clt_value value = parameter->values[v];
    bool empty = value.type == CLT_STRING && value.text[0] == '\0' && length == 0;
    bool equal = numeric && value.type != CLT_STRING && clt_value_equal(value, number);
    size_t n = equal ? length : matches(r->at, value);
    if (n <= longest && !(empty && !found)) continue;
    found = true;
    longest = n;
    r->positions[p] = (uint32_t)v;
  }
  r->at += longest;
  r->given[p] = found;
  return found;
}

static int read_assignment(reader *r) {
  size_t p = 0;
  int rc = read_name(r, &p);
  if (rc || read_value(r, p)) return rc;
  size_t length = strcspn(r->at, " \t\r\n,");
  return clt_fail(r->error, CLT_E_NOT_FOUND, "'%.*s' is not among the values of '%s'", length < 100 ? (int)length : 100,
                  r->at, r->space->parameters[p].name);
}

static int check_complete(const reader *r) {
  for (size_t p = 0; p < r->space->n_parameters; p++)
    if (!r->given[p] && r->space->parameters[p].n_values > 1)
      return clt_fail(r->error, CLT_E_NOT_FOUND, "the configuration does not say what '%s' is",
                      r->space->parameters[p].name);
  return CLT_OK;
}

int clt_config_parse(clt_config *out, const clt_space *space, const char *text, clt_error *error) {
  reader r = {.space = space, .at = text, .error = error};
  int rc = CLT_OK;
  for (;;) {
    while (separates(*r.at)) r.at++;
    if (rc || *r.at == '\0') break;
    rc = read_assignment(&r);
  }
  if (rc == CLT_OK) rc = check_complete(&r);
  if (rc == CLT_OK) *out = clt_space_from_positions(space, r.positions);
  return rc;
}
