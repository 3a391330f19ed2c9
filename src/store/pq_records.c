#include "store/pq_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

#define MOST_BYTES (8 << 20) /* of texts in one statement */

enum { PROBLEM, DEVICE, DRIVER, ORIGIN, KIND, CONFIGURATION, REASON, CLOCK, LOG, RUNS, FIGURES, USE, N_TEXTS };
enum { SEQUENCE, CREATED, CONFIRMED, N_WHOLE };
enum { TIME, BUILD, FIRST_LAUNCH, RUNS_TIME, VERIFY, WAIT, MAX_ERROR, ENERGY, N_NUMBERS };

struct clt_pq_records {
  size_t n, n_bytes;
  char *texts[N_TEXTS][CLT_PQ_MOST_RECORDS];
  int64_t whole[N_WHOLE][CLT_PQ_MOST_RECORDS];
  double numbers[N_NUMBERS][CLT_PQ_MOST_RECORDS];
};

const char *const clt_pq_kinds[] = {[CLT_RECORD_SEARCH] = "search",
                                    [CLT_RECORD_FINALIST] = "finalist",
                                    [CLT_RECORD_ATTEMPT] = "attempt",
                                    [CLT_RECORD_COMPARED] = "compared"};
const char *const clt_pq_clocks[] = {[CLT_CLOCK_DEVICE] = "device", [CLT_CLOCK_HOST] = "host"};

int clt_pq_records_new(clt_pq_records **out, clt_error *error) {
  *out = calloc(1, sizeof **out);
  return *out ? CLT_OK : clt_fail_memory(error);
}

void clt_pq_records_forget(clt_pq_records *records) {
  for (size_t t = 0; t < N_TEXTS; t++)
    for (size_t i = 0; i < records->n; i++) free(records->texts[t][i]);
  records->n = records->n_bytes = 0;
}

void clt_pq_records_free(clt_pq_records *records) {
  if (records) clt_pq_records_forget(records);
  free(records);
}

size_t clt_pq_records_n(const clt_pq_records *records) { return records->n; }

bool clt_pq_records_full(const clt_pq_records *records) {
  return records->n == CLT_PQ_MOST_RECORDS || records->n_bytes > MOST_BYTES;
}

/* Arrays of one length cannot hold arrays of several: these go as texts. NULL: out of memory. */
static char *array_text(const double *numbers, size_t n) {
  clt_text text = {0};
  char *out = NULL;
  clt_text_add(&text, "{");
  for (size_t i = 0; i < n; i++) {
    if (i) clt_text_add(&text, ",");
    if (isnan(numbers[i]))
      clt_text_add(&text, "NULL");
    else
      clt_text_printf(&text, "%.17g", numbers[i]);
  }
  clt_text_add(&text, "}");
  clt_text_take(&out, &text, NULL);
  return out;
}

static char *figures_text(const clt_measurement *m) {
  double figures[1 + CLT_MAX_RUNS] = {m->figure};
  memcpy(figures + 1, m->figures, m->n_runs * sizeof *figures);
  return array_text(figures, 1 + m->n_runs);
}

static bool has_use(const clt_kernel_use *use) {
#define IS_KNOWN(member) || !isnan(use->member)
  return false CLT_KERNEL_USE_TABLE(IS_KNOWN);
}

static char *use_text(const clt_kernel_use *use) {
#define VALUE(member) use->member,
  const double values[] = {CLT_KERNEL_USE_TABLE(VALUE)};
  return array_text(values, sizeof values / sizeof *values);
}

int clt_pq_records_take(clt_pq_records *records, const clt_store_key *key, const clt_store_record *record,
                        clt_error *error) {
  const clt_measurement *m = record->measurement;
  const size_t i = records->n;
  if (record->origin == NULL || clt_pq_records_full(records))
    return clt_fail(error, CLT_E_ARGUMENT, "a record for the shared store lacks its origin, or there are too many");
  const char *const texts[RUNS] = {
      [PROBLEM] = key->problem,
      [DEVICE] = key->device,
      [DRIVER] = key->driver,
      [ORIGIN] = record->origin,
      [KIND] = clt_pq_kinds[record->kind],
      [CONFIGURATION] = record->configuration,
      [REASON] = clt_reason_name(m->reason),
      [CLOCK] = clt_pq_clocks[m->clock == CLT_CLOCK_HOST],
      [LOG] = m->log,
  };
  bool copied = true;
  records->n++;
  for (size_t t = 0; t < N_TEXTS; t++) {
    char **out = &records->texts[t][i];
    bool wanted = true;
    if (t < RUNS)
      *out = (wanted = texts[t] != NULL) ? strdup(texts[t]) : NULL;
    else if (t == RUNS)
      *out = array_text(m->runs_s, m->n_runs);
    else if (t == FIGURES)
      *out = (wanted = !isnan(m->figure)) ? figures_text(m) : NULL;
    else
      *out = (wanted = has_use(&m->use)) ? use_text(&m->use) : NULL;
    copied = copied && (*out || !wanted);
    records->n_bytes += *out ? strlen(*out) : 0;
  }
  const double numbers[] = {[TIME] = m->time_s,
                            [BUILD] = m->phases.build_s,
                            [FIRST_LAUNCH] = m->phases.first_launch_s,
                            [RUNS_TIME] = m->phases.runs_s,
                            [VERIFY] = m->phases.verify_s,
                            [WAIT] = m->phases.wait_s,
                            [MAX_ERROR] = m->max_abs_error,
                            [ENERGY] = m->energy_J > 0 ? m->energy_J : NAN};
  for (size_t t = 0; t < N_NUMBERS; t++) records->numbers[t][i] = numbers[t];
  records->whole[SEQUENCE][i] = record->sequence;
  records->whole[CREATED][i] = record->created_s;
  records->whole[CONFIRMED][i] = m->confirmed_alone;
  if (copied) return CLT_OK;
  for (size_t t = 0; t < N_TEXTS; t++) free(records->texts[t][i]);
  records->n--;
  return clt_fail_memory(error);
}

/* --- sending --- */

/* $1 to $3: keys. In an order, so that two who make the same ones do not wait for each other in a circle. */
static const char add_problems[] =
    "INSERT INTO problem(hash) SELECT DISTINCT h FROM unnest($1) AS u(h)"
    " WHERE NOT EXISTS(SELECT FROM problem WHERE hash=h) ORDER BY 1 ON CONFLICT DO NOTHING";
static const char add_devices[] =
    "INSERT INTO device(key, driver) SELECT DISTINCT k, d FROM unnest($1, $2) AS u(k, d)"
    " WHERE NOT EXISTS(SELECT FROM device WHERE key=k AND driver=d) ORDER BY 1, 2 ON CONFLICT DO NOTHING";
static const char add_keys[] =
    "INSERT INTO key(problem, device) SELECT DISTINCT p.id, v.id FROM unnest($1, $2, $3) AS u(h, k, d)"
    " JOIN problem AS p ON p.hash=h JOIN device AS v ON v.key=k AND v.driver=d"
    " WHERE NOT EXISTS(SELECT FROM key WHERE problem=p.id AND device=v.id) ORDER BY 1, 2 ON CONFLICT DO NOTHING";

static int add_missing_keys(clt_pq *pq, size_t n, const char *const *problems, const char *const *devices,
                            const char *const *drivers, clt_error *error) {
  int rc = clt_pq_run(pq, NULL, add_problems, error, "T", n, problems);
  if (rc == CLT_OK) rc = clt_pq_run(pq, NULL, add_devices, error, "TT", n, devices, n, drivers);
  return rc ? rc : clt_pq_run(pq, NULL, add_keys, error, "TTT", n, problems, n, devices, n, drivers);
}

int clt_pq_add_key(clt_pq *pq, const clt_store_key *key, clt_error *error) {
  const char *const texts[] = {key->problem, key->device, key->driver};
  return add_missing_keys(pq, 1, &texts[0], &texts[1], &texts[2], error);
}

/* Also how many have a row of their key. */
static const char add_records[] =
    "WITH r AS (SELECT k.id AS of, u.* FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
    " $16, $17, $18, $19, $20, $21, $22, $23) WITH ORDINALITY AS u(problem, device, driver, origin, kind,"
    " configuration, reason, clock, log, runs, figures, use, number, created_s, confirmed, time_s, build_s,"
    " first_launch_s, runs_s, verify_s, wait_s, max_abs_error, energy_J, place)"
    " JOIN problem AS p ON p.hash=u.problem JOIN device AS d ON d.key=u.device AND d.driver=u.driver"
    " JOIN key AS k ON k.problem=p.id AND k.device=d.id),"
    " a AS (INSERT INTO measurement(key, origin, kind, configuration, reason, clock, log, runs, figures, use, number,"
    " created_s, confirmed, time_s, build_s, first_launch_s, runs_s, verify_s, wait_s, max_abs_error, energy_J)"
    " SELECT of, origin, kind, configuration, reason, clock, log, runs::float8[], figures::float8[], use::float8[],"
    " number, created_s, confirmed, time_s, build_s, first_launch_s, runs_s, verify_s, wait_s, max_abs_error, energy_J"
    " FROM r ORDER BY place ON CONFLICT (origin, number) DO NOTHING RETURNING 1)"
    " SELECT (SELECT count(*) FROM r), (SELECT count(*) FROM a)";

static int send_once(clt_pq_records *records, clt_pq *pq, size_t *n_found, uint64_t *n_added, clt_error *error) {
  clt_pq_rows *rows = NULL;
  const size_t n = records->n;
#define TEXTS(column) n, (const char *const *)records->texts[column]
#define WHOLE(column) n, records->whole[column]
#define NUMBERS(column) n, records->numbers[column]
  int rc = clt_pq_run(pq, &rows, add_records, error, "TTTTTTTTTTTTWWWNNNNNNNN", TEXTS(PROBLEM), TEXTS(DEVICE),
                      TEXTS(DRIVER), TEXTS(ORIGIN), TEXTS(KIND), TEXTS(CONFIGURATION), TEXTS(REASON), TEXTS(CLOCK),
                      TEXTS(LOG), TEXTS(RUNS), TEXTS(FIGURES), TEXTS(USE), WHOLE(SEQUENCE), WHOLE(CREATED),
                      WHOLE(CONFIRMED), NUMBERS(TIME), NUMBERS(BUILD), NUMBERS(FIRST_LAUNCH), NUMBERS(RUNS_TIME),
                      NUMBERS(VERIFY), NUMBERS(WAIT), NUMBERS(MAX_ERROR), NUMBERS(ENERGY));
  if (rc == CLT_OK) *n_found = (size_t)clt_pq_whole(rows, 0, 0);
  if (rc == CLT_OK) *n_added += (uint64_t)clt_pq_whole(rows, 0, 1);
  clt_pq_rows_free(rows);
  return rc;
}

/* Keys are made when they turn out to be missing, which is once for thousands of records. */
int clt_pq_records_send(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error) {
  size_t n_found = 0;
  uint64_t n = 0;
  int rc = records->n ? send_once(records, pq, &n_found, &n, error) : CLT_OK;
  if (rc == CLT_OK && n_found < records->n) {
    rc = add_missing_keys(pq, records->n, (const char *const *)records->texts[PROBLEM],
                          (const char *const *)records->texts[DEVICE], (const char *const *)records->texts[DRIVER],
                          error);
    if (rc == CLT_OK) rc = send_once(records, pq, &n_found, &n, error);
    if (rc == CLT_OK && n_found < records->n)
      rc = clt_fail(error, CLT_E_STORE, "the store '%s' does not keep its keys", clt_pq_url(pq));
  }
  if (rc == CLT_OK && n_added) *n_added = n;
  if (rc == CLT_OK) clt_pq_records_forget(records);
  return rc;
}
