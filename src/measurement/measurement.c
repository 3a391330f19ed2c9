#include <clatune/measurement.h>

#include "base/base.h"
#include "measurement/measurement.h"

#define MAX_LOG_BYTES 16384

void clt_measurement_init(clt_measurement *m, clt_config config) {
  memset(m, 0, sizeof *m);
  m->config = config;
  m->reason = CLT_REASON_NONE;
  m->time_s = m->energy_J = m->figure = m->max_abs_error = NAN;
  m->use = (clt_kernel_use){NAN, NAN, NAN, NAN};
  m->state = (clt_device_state){NAN, NAN, NAN, NAN, NAN, NAN};
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

void clt_measurement_fail(clt_measurement *m, clt_reason reason, const char *log) {
  size_t n = log ? strnlen(log, MAX_LOG_BYTES + 1) : 0;
  if (n > MAX_LOG_BYTES) { /* do not cut a UTF-8 character */
    for (n = MAX_LOG_BYTES; n > MAX_LOG_BYTES - 4 && ((unsigned char)log[n] & 0xc0) == 0x80;) n--;
    if (n == MAX_LOG_BYTES - 4) n = MAX_LOG_BYTES;
  }
  char *kept = log ? strndup(log, n) : NULL;
  free(m->log);
  m->log = kept;
  m->reason = reason;
  m->time_s = m->energy_J = m->figure = NAN;
}

bool clt_measurement_correct(const clt_measurement *m) { return m->reason == CLT_REASON_NONE; }

/* --- reasons --- */

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

static clt_reason known_reason(clt_reason reason) {
  return (unsigned)reason < CLT_N_REASONS ? reason : CLT_REASON_UNKNOWN;
}

clt_invalidity clt_reason_invalidity(clt_reason reason) { return reasons[known_reason(reason)].invalidity; }
const char *clt_reason_name(clt_reason reason) { return reasons[known_reason(reason)].name; }
const char *clt_reason_text(clt_reason reason) { return reasons[known_reason(reason)].text; }

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error) {
  for (size_t i = 0; i < CLT_N_REASONS; i++) {
    if (strcmp(reasons[i].name, name) == 0) {
      *out = (clt_reason)i;
      return CLT_OK;
    }
  }
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no failure reason '%.64s'", name);
}

const char *clt_invalidity_name(clt_invalidity invalidity) {
  return (unsigned)invalidity < CLT_N_INVALIDITIES ? invalidities[invalidity] : "unknown";
}

/* --- statistics --- */

const double *clt_measurement_runs(const clt_measurement *m) { return isnan(m->figure) ? m->runs_s : m->figures; }

double clt_spread(const clt_measurement *m) {
  const double *runs = clt_measurement_runs(m);
  return m->n_runs ? clt_mad(runs, m->n_runs) / fabs(clt_median(runs, m->n_runs)) : NAN;
}

/* Sorts the values, or |value - *centre| if centre is not NULL, without NaNs; *n becomes their number. small: a
 * buffer of CLT_MAX_RUNS numbers; the caller frees the result unless it is `small`. NULL: out of memory. */
static double *sort_numbers(const double *values, size_t *n, const double *centre, double *small) {
  double *sorted = *n <= CLT_MAX_RUNS ? small : clt_new_array(*n, sizeof *sorted);
  size_t n_numbers = 0;
  if (sorted == NULL) return NULL;
  for (size_t i = 0; i < *n; i++) {
    sorted[n_numbers] = centre ? fabs(values[i] - *centre) : values[i];
    n_numbers += !isnan(sorted[n_numbers]);
  }
  qsort(sorted, n_numbers, sizeof *sorted, clt_by_number);
  *n = n_numbers;
  return sorted;
}

static double median_of(const double *values, size_t n, const double *centre) {
  double small[CLT_MAX_RUNS], median = NAN, *sorted = sort_numbers(values, &n, centre, small);
  if (sorted && n > 0) {
    double low = sorted[(n - 1) / 2], high = sorted[n / 2];
    median = low == high ? low : low * 0.5 + high * 0.5;
  }
  if (sorted != small) free(sorted);
  return median;
}

double clt_median(const double *values, size_t n) { return median_of(values, n, NULL); }

double clt_mad(const double *values, size_t n) {
  double median = clt_median(values, n);
  return median_of(values, n, &median);
}

clt_interval clt_median_interval(const double *values, size_t n) {
  clt_interval interval = {NAN, NAN, 0};
  double small[CLT_MAX_RUNS], *sorted = sort_numbers(values, &n, NULL, small);
  /* The probability that fewer than `cut` values are below the true median is `outside`, and the same holds above
   * it: as for the number of heads in n throws of a coin. */
  double log_chance = -(double)n * log(2), outside = 0;
  size_t cut = 0;
  for (; cut < n / 2 && 2 * (outside + exp(log_chance)) <= 1 - CLT_USUAL_CONFIDENCE; cut++) {
    outside += exp(log_chance);
    log_chance += log((double)(n - cut) / (double)(cut + 1));
  }
  if (cut == 0) cut = 1, outside = ldexp(1, -(int)n); /* too few values for this confidence: use the whole range */
  if (sorted && n > 1) interval = (clt_interval){sorted[cut - 1], sorted[n - cut], 1 - 2 * outside};
  if (sorted != small) free(sorted);
  return interval;
}

clt_interval clt_measurement_interval(const clt_measurement *m) {
  return clt_median_interval(clt_measurement_runs(m), m->n_runs);
}

double clt_median_error(const double *values, size_t n) {
  const clt_interval interval = clt_median_interval(values, n);
  return clt_interval_error(&interval, clt_median(values, n));
}

double clt_interval_error(const clt_interval *interval, double centre) {
  if (!(interval->confidence > 0)) return INFINITY;
  return fmax(fmax(interval->high - centre, centre - interval->low), 0) / centre;
}

const char *clt_interval_text(char out[64], double error, double confidence) {
  out[0] = 0;
  if (isfinite(error))
    clt_snprintf(out, 64, " +- %.*g %% (%.3g %%)", error < 1 ? 2 : 3, 100 * error,
                 100 * fmin(confidence, CLT_USUAL_CONFIDENCE));
  return out;
}

bool clt_runs_steady(const double *runs_s, size_t n, double relative) {
  double first = INFINITY, second = INFINITY;
  for (size_t i = 0; i < n; i++) {
    if (runs_s[i] < second) second = runs_s[i] < first ? first : runs_s[i];
    if (runs_s[i] < first) first = runs_s[i];
  }
  return second <= first * (1 + relative);
}

/* --- configurations with equal programs --- */

void clt_equals_release(clt_equals *equals) {
  clt_map_release(&equals->indices);
  free(equals->all);
  *equals = (clt_equals){.n = 0};
}

void clt_equals_keep(clt_equals *equals, uint64_t hash, const clt_measurement *m) {
  bool is_new = false;
  if (hash == 0 || !clt_measurement_correct(m)) return;
  if (clt_grow(&equals->all, &equals->capacity, equals->n + 1, sizeof *equals->all)) return;
  uint64_t *index = clt_map_add(&equals->indices, hash, &is_new);
  if (index == NULL) return;
  if (is_new) *index = equals->n++;
  equals->all[*index] = *m;
  equals->all[*index].log = NULL;
}

bool clt_equals_answer(const clt_equals *equals, uint64_t hash, clt_measurement *m) {
  const uint64_t *index = clt_map_find(&equals->indices, hash);
  if (index == NULL || equals->all[*index].config == m->config) return false; /* it is to be measured again */
  const clt_config config = m->config;
  const clt_phases phases = m->phases;
  clt_measurement_release(m);
  *m = equals->all[*index];
  m->config = config;
  m->phases = phases;
  return true;
}
