#include <clatune/measurement.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define MAX_LOG_BYTES 16384

void clt_measurement_init(clt_measurement *m, clt_config config) {
  memset(m, 0, sizeof *m);
  m->config = config;
  m->reason = CLT_REASON_NONE;
  m->time_s = NAN;
  m->energy_J = NAN;
  m->max_abs_error = NAN;
}

void clt_measurement_release(clt_measurement *m) {
  if (m == NULL) return;
  free(m->log);
  m->log = NULL;
}

int clt_measurement_copy(clt_measurement *out, const clt_measurement *m, clt_error *error) {
  char *log = m->log ? strdup(m->log) : NULL;
  if (m->log && log == NULL) return clt_fail_memory(error);
  *out = *m;
  out->log = log;
  return CLT_OK;
}

/* How much of a log is kept: its beginning, cut between two characters where it is UTF-8. */
static size_t kept_bytes(const char *log) {
  size_t n = strnlen(log, MAX_LOG_BYTES + 1);
  if (n <= MAX_LOG_BYTES) return n;
  for (n = MAX_LOG_BYTES; n > MAX_LOG_BYTES - 4; n--)
    if (((unsigned char)log[n] & 0xc0) != 0x80) return n;
  return MAX_LOG_BYTES;
}

void clt_measurement_fail(clt_measurement *m, clt_reason reason, const char *log) {
  char *kept = log ? strndup(log, kept_bytes(log)) : NULL;
  free(m->log);
  m->log = kept;
  m->reason = reason;
  m->time_s = NAN;
  m->energy_J = NAN;
}

bool clt_measurement_correct(const clt_measurement *m) { return m->reason == CLT_REASON_NONE; }
