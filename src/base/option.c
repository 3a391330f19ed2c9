#include <clatune/sys/option.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/option.h"
#include "base/text.h"

#define MAX_OPTIONS 64

static int out_of_table(const clt_option *table, size_t n, const char *name, clt_error *error) {
  const char *names[MAX_OPTIONS];
  size_t n_names = n < MAX_OPTIONS ? n : MAX_OPTIONS;
  for (size_t i = 0; i < n_names; i++) names[i] = table[i].name;
  const char *near = clt_nearest_name(name, names, n_names);
  return clt_fail(error, CLT_E_ARGUMENT, "there is no option '%s'%s%s%s", name, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
}

static int assign_option(void *options, const clt_option *option, const char *text, clt_error *error) {
  static const char *const yes[] = {"1", "true", "yes", "on"}, *const no[] = {"0", "false", "no", "off"};
  void *slot = (char *)options + option->offset;
  bool whole = option->type == CLT_OPTION_INT;
  int64_t integer = 0;
  double real = 0;
  char *end;
  switch (option->type) {
    case CLT_OPTION_TEXT: return *(const char **)slot = text, CLT_OK;
    case CLT_OPTION_BOOL:
      for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, yes[i]) == 0) return *(bool *)slot = true, CLT_OK;
        if (strcmp(text, no[i]) == 0) return *(bool *)slot = false, CLT_OK;
      }
      return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs yes or no, not '%s'", option->name, text);
    case CLT_OPTION_INT:
      errno = 0;
      integer = strtoll(text, &end, 10);
      real = errno ? NAN : (double)integer;
      break;
    case CLT_OPTION_REAL: real = clt_strtod(text, &end); break;
    default: return clt_fail(error, CLT_E_ARGUMENT, "option '%s' has an unknown type", option->name);
  }
  if (end == text || *end || isnan(real))
    return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs a%s number, not '%s'", option->name,
                    whole ? " whole" : "", text);
  if ((option->min != 0 || option->max != 0) && !(real >= option->min && real <= option->max))
    return clt_fail(error, CLT_E_ARGUMENT, "option '%s' needs a number from %.15g to %.15g, not '%s'", option->name,
                    option->min, option->max, text);
  if (whole)
    *(int64_t *)slot = integer;
  else
    *(double *)slot = real;
  return CLT_OK;
}

int clt_options_parse(void *options, size_t options_size, const clt_option *table, size_t n_table,
                      const clt_setting *settings, size_t n_settings, clt_error *error) {
  if (options_size) memset(options, 0, options_size);
  for (size_t i = 0; i < n_table; i++) {
    int rc = assign_option(options, &table[i], table[i].standard, error);
    if (rc) return rc;
  }
  for (size_t i = 0; i < n_settings; i++) {
    size_t at = 0;
    while (at < n_table && strcmp(table[at].name, settings[i].name) != 0) at++;
    int rc = at < n_table ? assign_option(options, &table[at], settings[i].value, error)
                          : out_of_table(table, n_table, settings[i].name, error);
    if (rc) return rc;
  }
  return CLT_OK;
}
