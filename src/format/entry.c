#include "format/entry.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_TEXT_BYTES 256

/* ASCII alone, whatever the locale. */
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool digit(char c) { return c >= '0' && c <= '9'; }

bool clt_entry_name(const char *name) {
  if (!letter(name[0]) && name[0] != '_') return false;
  for (const char *c = name; *c; c++)
    if (!letter(*c) && !digit(*c) && *c != '_') return false;
  return strlen(name) <= MAX_TEXT_BYTES;
}

static bool good_text(const char *text) {
  for (const char *c = text; *c; c++)
    if (!letter(*c) && !digit(*c) && !strchr("_.+-", *c)) return false;
  return strlen(text) <= MAX_TEXT_BYTES;
}

bool clt_entry_value(clt_value *out, const json_t *json) {
  if (json == NULL) return false;
  switch (json_typeof(json)) {
    case JSON_INTEGER: *out = (clt_value){CLT_INT, .integer = json_integer_value(json)}; return true;
    case JSON_REAL: *out = (clt_value){CLT_REAL, .real = json_real_value(json)}; return true;
    case JSON_TRUE: *out = (clt_value){CLT_BOOL, .integer = 1}; return true;
    case JSON_FALSE: *out = (clt_value){CLT_BOOL, .integer = 0}; return true;
    case JSON_STRING: *out = (clt_value){CLT_STRING, .text = json_string_value(json)}; return good_text(out->text);
    default: return false;
  }
}

double clt_entry_number(const json_t *json, double otherwise) {
  double x = json_is_number(json) ? json_number_value(json) : otherwise;
  return isfinite(x) && x >= 0 ? x : otherwise;
}

/* "miliseconds" stands in files of the field. */
double clt_entry_seconds_per(const json_t *json, double otherwise) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"s", 1},     {"seconds", 1},         {"ms", 1e-3}, {"milliseconds", 1e-3}, {"miliseconds", 1e-3},
               {"us", 1e-6}, {"microseconds", 1e-6}, {"ns", 1e-9}, {"nanoseconds", 1e-9}};
  const char *text = json_string_value(json);
  for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
    if (strcasecmp(units[i].unit, text) == 0) return units[i].seconds;
  return otherwise;
}

void clt_entry_runs(clt_measurement *m, const json_t *times, double seconds_per_unit) {
  size_t n = json_array_size(times);
  for (size_t i = 0; i < n && m->n_runs < CLT_MAX_RUNS; i++) {
    double time = clt_entry_number(json_array_get(times, i), 0);
    if (time > 0 && time < CLT_FAILED_TIME_MS) m->runs_s[m->n_runs++] = time * seconds_per_unit;
  }
}

clt_reason clt_entry_reason(const char *text) {
  static const struct {
    const char *text;
    clt_reason reason;
  } known[] = {
      {"InvalidConfig", CLT_REASON_DEVICE_LIMIT},    {"CompilationFailedConfig", CLT_REASON_COMPILE_ERROR},
      {"RuntimeFailedConfig", CLT_REASON_RUN_ERROR}, {"constraints", CLT_REASON_CONDITION},
      {"compile", CLT_REASON_COMPILE_ERROR},         {"runtime", CLT_REASON_RUN_ERROR},
      {"correctness", CLT_REASON_WRONG_OUTPUT},      {"timeout", CLT_REASON_RUN_TIMEOUT},
  };
  for (size_t i = 0; text && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].text, text) == 0) return known[i].reason;
  return CLT_REASON_UNKNOWN;
}

const char *clt_entry_error(clt_reason reason) {
  switch (clt_reason_invalidity(reason)) {
    case CLT_CORRECT: return NULL;
    case CLT_CONSTRAINTS: return "InvalidConfig";
    case CLT_COMPILE: return "CompilationFailedConfig";
    default: return reason == CLT_REASON_COMPILE_TIMEOUT ? "CompilationFailedConfig" : "RuntimeFailedConfig";
  }
}

/* Also the control characters from 0x80 to 0x9f, which are two bytes in UTF-8. */
static bool control(const char *c) {
  return (unsigned char)c[0] < 0x20 || c[0] == 0x7f || (c[0] == '\xc2' && (unsigned char)c[1] - 0x80u < 0x20);
}

char *clt_entry_line(const json_t *json) {
  const char *text = json_is_string(json) ? json_string_value(json) : "";
  char *copy = strndup(text, MAX_TEXT_BYTES);
  for (char *c = copy; c && *c; c++)
    if (control(c)) *c = '?';
  return copy;
}
