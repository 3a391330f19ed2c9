/* Configurations as text: "a=1 b=2". */
#include <ctype.h>

#include "base/base.h"
#include "base/json.h"
#include "base/text.h"
#include "space/code.h"
#include "space/parts.h"
#include "space/space.h"

#define SEPARATORS " \t\r\n,"
#define MOST_VALUES_SHOWN 12

bool clt_value_parse(clt_value *out, const char *text, size_t length) {
  bool minus = length > 0 && *text == '-',
       truth = clt_is_word(text, length, "true") || clt_is_word(text, length, "True");
  *out = (clt_value){.type = CLT_BOOL, .integer = truth};
  if (truth || clt_is_word(text, length, "false") || clt_is_word(text, length, "False")) return true;
  *out = clt_integer(INT64_MIN);
  if (clt_is_word(text, length, "-9223372036854775808")) return true; /* 2^63 is a number only with its minus */
  if (!clt_number_parse(out, text + minus, length - minus)) return false;
  if (minus && out->type == CLT_REAL) out->real = -out->real;
  if (minus && out->type == CLT_INT) out->integer = -out->integer;
  return true;
}

size_t clt_parameter_find(const clt_parameter *parameter, clt_value value) {
  size_t v = 0;
  while (v < parameter->n_values && !clt_value_equal(parameter->values[v], value)) v++;
  return v;
}

bool clt_value_looks_listed(const clt_parameter *parameter, const char *text) {
  clt_value number;
  return clt_value_parse(&number, text, strlen(text)) && clt_parameter_find(parameter, number) < parameter->n_values;
}

/* --- in another space --- */

clt_space_match clt_space_match_new(const clt_space *from, const clt_space *to) {
  clt_space_match match = {.from = from, .to = to};
  for (size_t p = from->n_parameters; p-- > 0;) {
    const clt_parameter *parameter = &from->parameters[p];
    if (parameter->n_values > 1 && clt_space_find_parameter(to, parameter->name) < 0) match.extra = parameter->name;
  }
  for (size_t p = to->n_parameters; p-- > 0;) {
    const clt_parameter *parameter = &to->parameters[p];
    match.column[p] = clt_space_find_parameter(from, parameter->name);
    if (match.column[p] < 0 && parameter->n_values > 1) match.missing = parameter->name;
  }
  return match;
}

clt_config clt_space_translate(const clt_space_match *match, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  for (size_t p = 0; p < match->to->n_parameters; p++) {
    const clt_parameter *parameter = &match->to->parameters[p];
    if (match->column[p] < 0) continue;
    const clt_value value = clt_space_value(match->from, config, (size_t)match->column[p]);
    positions[p] = (uint32_t)clt_parameter_find(parameter, value);
    if (positions[p] == parameter->n_values) return CLT_CONFIG_NONE;
  }
  return clt_space_from_positions(match->to, positions);
}

/* --- writing --- */

void clt_value_spell(clt_text *out, const clt_parameter *parameter, size_t position) {
  clt_value value = parameter->values[position];
  if (value.type != CLT_STRING) {
    clt_text_add_value(out, value);
    return;
  }
  bool numeric = clt_value_looks_listed(parameter, value.text);
  for (const char *c = value.text; *c; c++) {
    unsigned char byte = (unsigned char)*c;
    bool plain = byte < 128 && (isalnum(byte) || strchr("_.+-", byte)) && !(numeric && c == value.text);
    if (plain)
      clt_text_add_bytes(out, c, 1);
    else
      clt_text_printf(out, "%%%02X", byte);
  }
}

char *clt_config_string(const clt_space *space, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_text text = {0};
  char *out = NULL;
  clt_space_positions(positions, space, config);
  for (size_t i = 0; i < space->n_parameters; i++) {
    clt_text_printf(&text, "%s%s=", i ? " " : "", space->parameters[i].name);
    clt_value_spell(&text, &space->parameters[i], positions[i]);
  }
  return clt_text_take(&out, &text, NULL) ? NULL : out;
}

int clt_config_print(char *out, size_t capacity, const clt_space *space, clt_config config) {
  char *text = clt_config_string(space, config);
  int n = snprintf(out, capacity, "%s", text ? text : "");
  free(text);
  return n;
}

/* --- reading --- */

/* -1: not a digit. */
static int hex_digit(char c) {
  static const char digits[] = "0123456789ABCDEF";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

bool clt_value_unspell(char *text) {
  for (const char *c = strchr(text, '%'); c; c = strchr(c + 1, '%'))
    if (hex_digit(c[1]) < 0 || hex_digit(c[2]) < 0 || strncmp(c, "%00", 3) == 0) return false;
  char *to = text;
  for (const char *c = text; *c; c++) {
    bool spelled = *c == '%';
    *to++ = spelled ? (char)(hex_digit(c[1]) * 16 + hex_digit(c[2])) : *c;
    if (spelled) c += 2;
  }
  *to = '\0';
  return true;
}

/* Reads the value at the beginning of a text, in the printed spelling. *taken: its length in bytes. False: there is no
 * listed value. */
static bool read_spelled(uint32_t *position, size_t *taken, const char *text, const clt_parameter *parameter) {
  size_t v = parameter->n_values;
  clt_value number;
  *taken = strcspn(text, SEPARATORS);
  if (clt_value_parse(&number, text, *taken)) v = clt_parameter_find(parameter, number);
  char *copy = v == parameter->n_values ? strndup(text, *taken) : NULL;
  if (copy) {
    clt_value_unspell(copy);
    v = clt_parameter_find(parameter, (clt_value){.type = CLT_STRING, .text = copy});
  }
  free(copy);
  *position = (uint32_t)v;
  return v < parameter->n_values;
}

/* The same for values as people type them, with spaces in strings: takes the longest listed value that matches. */
static bool read_typed(uint32_t *position, size_t *taken, const char *text, const clt_parameter *parameter) {
  bool found = read_spelled(position, taken, text, parameter);
  for (size_t v = 0; v < parameter->n_values; v++) {
    const clt_value *value = &parameter->values[v];
    size_t n = value->type == CLT_STRING ? strlen(value->text) : 0;
    if (value->type != CLT_STRING || (found && n <= *taken) || strncmp(text, value->text, n) != 0) continue;
    if (text[n] && strchr(SEPARATORS, text[n]) == NULL) continue;
    found = true;
    *taken = n;
    *position = (uint32_t)v;
  }
  return found;
}

static int find_parameter(size_t *index, const clt_space *space, const char *name, clt_error *error) {
  int p = clt_space_find_parameter(space, name);
  *index = (size_t)p;
  if (p >= 0) return CLT_OK;
  const char *near = clt_nearest_among(name, space->parameters, space->n_parameters, sizeof *space->parameters);
  if (near) return clt_fail(error, CLT_E_NOT_FOUND, "there is no parameter '%.200s' (did you mean '%s'?)", name, near);
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no parameter '%.200s'", name);
}

static int fail_value(const clt_parameter *parameter, const char *typed, clt_error *error) {
  const size_t length = strcspn(typed, SEPARATORS), n = clt_min(parameter->n_values, MOST_VALUES_SHOWN);
  clt_text values = {0};
  for (size_t v = 0; v < n; v++) {
    if (v) clt_text_add(&values, ", ");
    clt_value_spell(&values, parameter, v);
  }
  clt_fail(error, CLT_E_NOT_FOUND, "'%.*s' is not among the values of '%s': %.400s%s", (int)clt_min(length, 100), typed,
           parameter->name, values.bytes ? values.bytes : "", n < parameter->n_values ? ", ..." : "");
  clt_text_release(&values);
  return CLT_E_NOT_FOUND;
}

static int read_assignments(uint32_t *positions, bool *given, const clt_space *space, const char *text, bool as_typed,
                            clt_error *error) {
  memset(given, 0, space->n_parameters * sizeof *given);
  for (const char *at = text + strspn(text, SEPARATORS); *at; at += strspn(at, SEPARATORS)) {
    char name[256];
    size_t length = strcspn(at, "=" SEPARATORS), p;
    if (at[length] != '=' || length == 0 || length >= sizeof name)
      return clt_fail(error, CLT_E_FORMAT, "'%.100s' is not a configuration; write it as 'name=value name=value ...'",
                      at);
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    int rc = find_parameter(&p, space, name, error);
    if (rc) return rc;
    if (given[p]) return clt_fail(error, CLT_E_FORMAT, "'%s' is given twice", name);
    at += length + 1;
    given[p] = (as_typed ? read_typed : read_spelled)(&positions[p], &length, at, &space->parameters[p]);
    if (!given[p]) return fail_value(&space->parameters[p], at, error);
    at += length;
  }
  return CLT_OK;
}

/* Invalid configurations have numbers, too, unless there are too many. */
static int number_positions(clt_config *config, const clt_space *space, const uint32_t *positions, clt_error *error) {
  *config = clt_space_from_positions(space, positions);
  if (*config != CLT_CONFIG_NONE) return CLT_OK;
  const char *violated = space->listed ? NULL : clt_space_violation_at(space, positions, NULL);
  return clt_fail(error, CLT_E_NOT_FOUND, "the configuration is not in the space%s%s", violated ? ": it violates " : "",
                  violated ? violated : "");
}

/* The printed spelling takes precedence. Only if the text cannot be read in it, spaces may belong to strings. */
int clt_config_parse_onto(clt_config *config, bool *given, const clt_space *space, const char *text, clt_error *error) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, space, *config);
  if (read_assignments(positions, given, space, text, false, NULL)) {
    clt_space_positions(positions, space, *config);
    int rc = read_assignments(positions, given, space, text, true, error);
    if (rc) return rc;
  }
  return number_positions(config, space, positions, error);
}

int clt_config_read_onto(clt_config *config, bool *given, const clt_space *space, const json_t *json,
                         clt_error *error) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  const json_t *inner = json_object_get(json, "configuration");
  const char *name;
  json_t *item;
  if (inner) json = inner;
  if (json_is_string(json)) return clt_config_parse_onto(config, given, space, json_string_value(json), error);
  if (!json_is_object(json)) return clt_fail(error, CLT_E_FORMAT, "must be an object or a string 'name=value ...'");
  memset(given, 0, space->n_parameters * sizeof *given);
  clt_space_positions(positions, space, *config);
  json_object_foreach((json_t *)json, name, item) {
    size_t p, taken;
    clt_value value;
    int rc = find_parameter(&p, space, name, error);
    if (rc) return rc;
    const clt_parameter *parameter = &space->parameters[p];
    if (clt_json_to_value(&value, item)) {
      positions[p] = (uint32_t)clt_parameter_find(parameter, value);
      given[p] = positions[p] < parameter->n_values ||
                 (value.type == CLT_STRING && read_spelled(&positions[p], &taken, value.text, parameter) &&
                  value.text[taken] == '\0');
    }
    if (given[p]) continue;
    char *shown = json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT);
    rc = clt_fail(error, CLT_E_NOT_FOUND, "%.100s is not among the values of '%s'", shown ? shown : "", name);
    free(shown);
    return rc;
  }
  return number_positions(config, space, positions, error);
}

int clt_config_check_given(const bool *given, const clt_space *space, clt_error *error) {
  for (size_t p = 0; p < space->n_parameters; p++)
    if (!given[p] && space->parameters[p].n_values > 1)
      return clt_fail(error, CLT_E_NOT_FOUND, "the configuration lacks a value for '%s'", space->parameters[p].name);
  return CLT_OK;
}

int clt_config_parse(clt_config *out, const clt_space *space, const char *text, clt_error *error) {
  bool given[CLT_MAX_PARAMETERS];
  clt_config config = 0;
  int rc = clt_config_parse_onto(&config, given, space, text, error);
  if (rc == CLT_OK) rc = clt_config_check_given(given, space, error);
  if (rc == CLT_OK) *out = config;
  return rc;
}
