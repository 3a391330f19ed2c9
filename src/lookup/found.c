/* What an answer's text says. */
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "lookup/lookup.h"
#include "space/lex.h"

/* What stands behind "name=" in "a=1 b=2"; NULL: there is no such name. */
static const char *value_of(const char *configuration, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = configuration; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
  }
  return NULL;
}

int clt_lookup_result_number(const clt_lookup_result *found, const char *name, double *out, clt_error *error) {
  const char *text = value_of(found->configuration, name);
  if (text == NULL)
    return clt_fail(error, CLT_E_NOT_FOUND, "the configuration '%.100s' has no parameter '%.100s'",
                    found->configuration, name);
  const size_t length = strcspn(text, " ");
  const bool minus = length > 0 && *text == '-';
  clt_value value;
  if (!clt_number_parse(&value, text + minus, length - minus))
    return clt_fail(error, CLT_E_FORMAT, "the parameter '%.100s' is no number but '%.*s'", name,
                    (int)(length < 100 ? length : 100), text);
  const double number = clt_value_number(value);
  *out = minus ? -number : number;
  return CLT_OK;
}
