#include <clatune/measurement.h>
#include <string.h>

#include "base/fail.h"

static const struct {
  clt_invalidity invalidity;
  const char *name, *text;
} reasons[CLT_N_REASONS] = {
#define ROW(id, invalidity, name, text) [id] = {invalidity, name, text},
    CLT_REASON_TABLE(ROW)
#undef ROW
};

static const char *const invalidities[CLT_N_INVALIDITIES] = {
#define ROW(id, name) [id] = name,
    CLT_INVALIDITY_TABLE(ROW)
#undef ROW
};

static clt_reason known(clt_reason reason) { return (unsigned)reason < CLT_N_REASONS ? reason : CLT_REASON_UNKNOWN; }

clt_invalidity clt_reason_invalidity(clt_reason reason) { return reasons[known(reason)].invalidity; }

const char *clt_reason_name(clt_reason reason) { return reasons[known(reason)].name; }

const char *clt_reason_text(clt_reason reason) { return reasons[known(reason)].text; }

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error) {
  for (size_t i = 0; i < CLT_N_REASONS; i++) {
    if (strcmp(reasons[i].name, name) == 0) return *out = (clt_reason)i, CLT_OK;
  }
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no reason '%.64s' for a failure", name);
}

const char *clt_invalidity_name(clt_invalidity invalidity) {
  return (unsigned)invalidity < CLT_N_INVALIDITIES ? invalidities[invalidity] : "unknown";
}
