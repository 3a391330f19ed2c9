/* Configurations as "a=1 b=2". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/parts.h"

int clt_config_print(const clt_space *space, clt_config config, char *out, size_t capacity) {
  size_t used = 0;
  if (capacity) out[0] = '\0';
  for (size_t i = 0; i < 2 * space->n_parameters; i++) { /* names and values in turn */
    char *at = used < capacity ? out + used : NULL;
    size_t left = used < capacity ? capacity - used : 0;
    int n = i % 2 ? clt_value_print(clt_space_value(space, config, i / 2), at, left)
                  : snprintf(at, left, "%s%s=", i ? " " : "", space->parameters[i / 2].name);
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

#define SEPARATORS " \t\r\n,"

/* A number, also one that is written otherwise than it is printed: 1.0 for 1, true for 1. */
static bool read_number(const char *text, size_t length, clt_value *out) {
  bool minus = length > 0 && *text == '-',
       truth = clt_is_word(text, length, "true") || clt_is_word(text, length, "True");
  *out = (clt_value){.type = CLT_BOOL, .integer = truth};
  if (truth || clt_is_word(text, length, "false") || clt_is_word(text, length, "False")) return true;
  if (!clt_number_parse(out, text + minus, length - minus)) return false;
  if (minus && out->type == CLT_REAL) out->real = -out->real;
  if (minus && out->type == CLT_INT) out->integer = -out->integer;
  return true;
}

/* The value that stands at the beginning of a text, and how many of its bytes it takes. Texts may hold blanks: the
 * longest of the listed values is meant. False: none is there. */
static bool read_value(const char *text, const clt_parameter *parameter, uint32_t *position, size_t *taken) {
  size_t length = strcspn(text, SEPARATORS), longest = 0;
  bool found = false;
  clt_value number;
  bool numeric = read_number(text, length, &number);
  for (size_t v = 0; v < parameter->n_values; v++) {
    clt_value value = parameter->values[v];
    char printed[64];
    const char *written = value.type == CLT_STRING ? value.text : printed;
    if (value.type != CLT_STRING) clt_value_print(value, printed, sizeof printed);
    size_t n = strlen(written);
    bool here = strncmp(text, written, n) == 0 && (text[n] == '\0' || strchr(SEPARATORS, text[n]));
    if (numeric && value.type != CLT_STRING && clt_value_equal(value, number)) {
      here = true;
      n = length;
    }
    if (!here || (found && n <= longest)) continue;
    found = true;
    longest = n;
    *position = (uint32_t)v;
  }
  *taken = longest;
  return found;
}

int clt_config_parse(clt_config *out, const clt_space *space, const char *text, clt_error *error) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  bool given[CLT_MAX_PARAMETERS] = {false};
  const char *names[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < space->n_parameters; i++) names[i] = space->parameters[i].name;
  for (const char *at = text + strspn(text, SEPARATORS); *at; at += strspn(at, SEPARATORS)) {
    char name[256];
    size_t length = strcspn(at, "=" SEPARATORS);
    if (at[length] != '=' || length == 0 || length >= sizeof name)
      return clt_fail(error, CLT_E_FORMAT, "a configuration is written 'name=value name=value ...': '%.100s' is not",
                      at);
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    int p = clt_space_find_parameter(space, name);
    const char *near = p < 0 ? clt_nearest_name(name, names, space->n_parameters) : NULL;
    if (near) return clt_fail(error, CLT_E_NOT_FOUND, "there is no parameter '%s' (did you mean '%s'?)", name, near);
    if (p < 0) return clt_fail(error, CLT_E_NOT_FOUND, "there is no parameter '%s'", name);
    if (given[p]) return clt_fail(error, CLT_E_FORMAT, "'%s' is given twice", name);
    at += length + 1;
    given[p] = read_value(at, &space->parameters[p], &positions[p], &length);
    if (!given[p]) {
      length = strcspn(at, SEPARATORS);
      return clt_fail(error, CLT_E_NOT_FOUND, "'%.*s' is not among the values of '%s'",
                      length < 100 ? (int)length : 100, at, name);
    }
    at += length;
  }
  for (size_t p = 0; p < space->n_parameters; p++)
    if (!given[p] && space->parameters[p].n_values > 1)
      return clt_fail(error, CLT_E_NOT_FOUND, "the configuration does not say what '%s' is", names[p]);
  *out = clt_space_from_positions(space, positions);
  return CLT_OK;
}
