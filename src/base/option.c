#include <clatune/sys/option.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/option.h"
#include "base/text.h"

#define MAX_OPTIONS 64

static const clt_option *find(const clt_option *table, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}

static int unknown(const clt_option *table, size_t n, const char *name, clt_error *error) {
  const char *names[MAX_OPTIONS];
  size_t n_names = n < MAX_OPTIONS ? n : MAX_OPTIONS;
  for (size_t i = 0; i < n_names; i++) names[i] = table[i].name;
  const char *near = clt_nearest_name(name, names, n_names);
  if (near) return clt_fail(error, CLT_E_ARGUMENT, "there is no option '%s'; did you mean '%s'?", name, near);
  return clt_fail(error, CLT_E_ARGUMENT, "there is no option '%s'", name);
}

static int parse_bool(void *slot, const clt_option *option, const char *text, clt_error *error) {
  static const char *const yes[] = {"1", "true", "yes", "on"}, *const no[] = {"0", "false", "no", "off"};
  for (size_t i = 0; i < 4; i++) {
    if (strcmp(text, yes[i]) == 0) return *(bool *)slot = true, CLT_OK;
    if (strcmp(text, no[i]) == 0) return *(bool *)slot = false, CLT_OK;
  }
  return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs yes or no, not '%s'", option->name, text);
}

static bool in_range(const clt_option *option, double x) {
  return (option->min == 0 && option->max == 0) || (x >= option->min && x <= option->max);
}

static int out_of_range(const clt_option *option, const char *text, clt_error *error) {
  return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs a number from %.15g to %.15g, not '%s'", option->name,
                  option->min, option->max, text);
}

static int not_a_number(const clt_option *option, const char *text, clt_error *error) {
  return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs a%s number, not '%s'", option->name,
                  option->type == CLT_OPTION_INT ? " whole" : "", text);
}

static int parse_int(void *slot, const clt_option *option, const char *text, clt_error *error) {
  char *end;
  errno = 0;
  long long x = strtoll(text, &end, 10);
  if (end == text || *end || errno) return not_a_number(option, text, error);
  if (!in_range(option, (double)x)) return out_of_range(option, text, error);
  *(int64_t *)slot = x;
  return CLT_OK;
}

static int parse_real(void *slot, const clt_option *option, const char *text, clt_error *error) {
  char *end;
  double x = strtod(text, &end);
  if (end == text || *end || x != x) return not_a_number(option, text, error);
  if (!in_range(option, x)) return out_of_range(option, text, error);
  *(double *)slot = x;
  return CLT_OK;
}

static int assign(void *options, const clt_option *option, const char *text, clt_error *error) {
  void *slot = (char *)options + option->offset;
  switch (option->type) {
    case CLT_OPTION_BOOL: return parse_bool(slot, option, text, error);
    case CLT_OPTION_INT: return parse_int(slot, option, text, error);
    case CLT_OPTION_REAL: return parse_real(slot, option, text, error);
    case CLT_OPTION_TEXT: return *(const char **)slot = text, CLT_OK;
  }
  return clt_fail(error, CLT_E_ARGUMENT, "option '%s' has an unknown type", option->name);
}

int clt_options_parse(void *options, size_t options_size, const clt_option *table, size_t n_table,
                      const clt_setting *settings, size_t n_settings, clt_error *error) {
  if (options_size) memset(options, 0, options_size);
  for (size_t i = 0; i < n_table; i++) {
    int rc = assign(options, &table[i], table[i].standard, error);
    if (rc) return rc;
  }
  for (size_t i = 0; i < n_settings; i++) {
    const clt_option *option = find(table, n_table, settings[i].name);
    if (option == NULL) return unknown(table, n_table, settings[i].name, error);
    int rc = assign(options, option, settings[i].value, error);
    if (rc) return rc;
  }
  return CLT_OK;
}
