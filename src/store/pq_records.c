#include "store/pq_records.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "store/store.h"

#define MOST_BYTES (8 << 20) /* in one statement */

/* Each column is an array, as a text that lacks its end. */
enum { PROBLEM, DEVICE, DRIVER, ORIGIN, KIND, CONFIGURATION, REASON, CLOCK, LOG, N_TEXTS };
enum { RUNS = N_TEXTS, FIGURES, USE, SEQUENCE, CREATED, CONFIRMED };
enum { TIME = CONFIRMED + 1, BUILD, FIRST_LAUNCH, RUNS_TIME, VERIFY, WAIT, MAX_ERROR, ENERGY, N_COLUMNS };

struct clt_pq_records {
  size_t n;
  clt_text columns[N_COLUMNS];
};

int clt_pq_records_new(clt_pq_records **out, clt_error *error) {
  *out = calloc(1, sizeof **out);
  return *out ? CLT_OK : clt_fail_memory(error);
}

void clt_pq_records_forget(clt_pq_records *records) {
  for (size_t t = 0; t < N_COLUMNS; t++) clt_text_release(&records->columns[t]);
  records->n = 0;
}

void clt_pq_records_free(clt_pq_records *records) {
  if (records) clt_pq_records_forget(records);
  free(records);
}

size_t clt_pq_records_n(const clt_pq_records *records) { return records->n; }

bool clt_pq_records_full(const clt_pq_records *records) {
  size_t n_bytes = 0;
  for (size_t t = 0; t < N_COLUMNS; t++) n_bytes += records->columns[t].n;
  return records->n == CLT_PQ_MOST_RECORDS || n_bytes > MOST_BYTES;
}

/* Arrays of one length cannot hold arrays of several: these go as texts. */
static void add_array(clt_text *out, bool wanted, double first, const double *numbers, size_t n) {
  clt_text_add(out, wanted ? "\"{" : "NULL");
  if (!wanted) return;
  if (!isnan(first)) clt_pq_add_number(out, first);
  for (size_t i = 0; i < n; i++) {
    clt_text_add(out, i || !isnan(first) ? "," : "");
    clt_pq_add_number(out, numbers[i]);
  }
  clt_text_add(out, "}\"");
}

int clt_pq_records_take(clt_pq_records *records, const clt_store_key *key, const clt_store_record *record,
                        clt_error *error) {
  const clt_measurement *m = record->measurement;
  clt_text *columns = records->columns;
  if (record->origin == NULL || clt_pq_records_full(records))
    return clt_fail(error, CLT_E_ARGUMENT, "a record for the shared store lacks its origin, or there are too many");
  const char *const texts[N_TEXTS] = {
      [PROBLEM] = key->problem,
      [DEVICE] = key->device,
      [DRIVER] = key->driver,
      [ORIGIN] = record->origin,
      [KIND] = clt_kind_names[record->kind],
      [CONFIGURATION] = record->configuration,
      [REASON] = clt_reason_name(m->reason),
      [CLOCK] = clt_clock_names[m->clock == CLT_CLOCK_HOST],
      [LOG] = m->log,
  };
  const double numbers[N_COLUMNS] = {[TIME] = m->time_s,
                                     [BUILD] = m->phases.build_s,
                                     [FIRST_LAUNCH] = m->phases.first_launch_s,
                                     [RUNS_TIME] = m->phases.runs_s,
                                     [VERIFY] = m->phases.verify_s,
                                     [WAIT] = m->phases.wait_s,
                                     [MAX_ERROR] = m->max_abs_error,
                                     [ENERGY] = m->energy_J > 0 ? m->energy_J : NAN};
  size_t before[N_COLUMNS];
  int rc = CLT_OK;
  for (size_t t = 0; t < N_COLUMNS; t++) {
    before[t] = columns[t].n;
    clt_text_add(&columns[t], records->n ? "," : "{");
    if (t < N_TEXTS) clt_pq_add_text(&columns[t], texts[t]);
    if (t >= TIME) clt_pq_add_number(&columns[t], numbers[t]);
  }
  add_array(&columns[RUNS], true, NAN, m->runs_s, m->n_runs);
  add_array(&columns[FIGURES], !isnan(m->figure), m->figure, m->figures, m->n_runs);
  add_array(&columns[USE], clt_use_is_known(&m->use), NAN, (const double *)&m->use, CLT_N_USE);
  clt_text_printf(&columns[SEQUENCE], "%" PRId64, record->sequence);
  clt_text_printf(&columns[CREATED], "%" PRId64, record->created_s);
  clt_text_add(&columns[CONFIRMED], m->confirmed_alone ? "1" : "0");
  for (size_t t = 0; t < N_COLUMNS; t++) rc = rc ? rc : columns[t].rc;
  for (size_t t = 0; rc && t < N_COLUMNS; t++) columns[t].n = before[t], columns[t].rc = CLT_OK;
  records->n += rc == CLT_OK;
  return rc ? clt_fail_memory(error) : CLT_OK;
}

/* --- sending --- */

/* $1 to $3: keys. In an order, so that two who make the same ones do not wait for each other in a circle. */
static const char add_problems[] =
    "INSERT INTO problem(hash) SELECT DISTINCT h FROM unnest($1::text[]) AS u(h)"
    " WHERE NOT EXISTS(SELECT FROM problem WHERE hash=h) ORDER BY 1 ON CONFLICT DO NOTHING";
static const char add_devices[] =
    "INSERT INTO device(key, driver) SELECT DISTINCT k, d FROM unnest($1::text[], $2::text[]) AS u(k, d)"
    " WHERE NOT EXISTS(SELECT FROM device WHERE key=k AND driver=d) ORDER BY 1, 2 ON CONFLICT DO NOTHING";
static const char add_keys[] =
    "INSERT INTO key(problem, device) SELECT DISTINCT p.id, v.id FROM unnest($1::text[], $2::text[],"
    " $3::text[]) AS u(h, k, d)"
    " JOIN problem AS p ON p.hash=h JOIN device AS v ON v.key=k AND v.driver=d"
    " WHERE NOT EXISTS(SELECT FROM key WHERE problem=p.id AND device=v.id) ORDER BY 1, 2 ON CONFLICT DO NOTHING";

static int add_missing_keys(clt_pq *pq, const char *problems, const char *devices, const char *drivers,
                            clt_error *error) {
  int rc = clt_pq_run(pq, NULL, add_problems, error, "t", problems);
  if (rc == CLT_OK) rc = clt_pq_run(pq, NULL, add_devices, error, "tt", devices, drivers);
  return rc ? rc : clt_pq_run(pq, NULL, add_keys, error, "ttt", problems, devices, drivers);
}

int clt_pq_add_key(clt_pq *pq, const clt_store_key *key, clt_error *error) {
  const char *const texts[] = {key->problem, key->device, key->driver};
  clt_text arrays[3] = {{0}};
  int rc = CLT_OK;
  for (size_t i = 0; i < 3; i++) {
    clt_text_add(&arrays[i], "{");
    clt_pq_add_text(&arrays[i], texts[i]);
    clt_text_add(&arrays[i], "}");
    if (arrays[i].rc) rc = clt_fail_memory(error);
  }
  if (rc == CLT_OK) rc = add_missing_keys(pq, arrays[0].bytes, arrays[1].bytes, arrays[2].bytes, error);
  for (size_t i = 0; i < 3; i++) clt_text_release(&arrays[i]);
  return rc;
}

/* Also how many have a row of their key. */
static const char add_records[] =
    "WITH r AS (SELECT k.id AS of, u.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], "
    "$6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[], "
    "$14::bigint[], $15::bigint[], $16::float8[], $17::float8[], $18::float8[], $19::float8[], $20::float8[], "
    "$21::float8[], $22::float8[], $23::float8[]) WITH ORDINALITY AS u(problem,"
    " device, driver, origin, kind, configuration, reason, clock, log, runs, figures, use, number, created_s,"
    " confirmed, time_s, build_s, first_launch_s, runs_s, verify_s, wait_s, max_abs_error, energy_J, place)"
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
#define TEXT(column) records->columns[column].bytes
  int rc =
      clt_pq_run(pq, &rows, add_records, error, "ttttttttttttttttttttttt", TEXT(PROBLEM), TEXT(DEVICE), TEXT(DRIVER),
                 TEXT(ORIGIN), TEXT(KIND), TEXT(CONFIGURATION), TEXT(REASON), TEXT(CLOCK), TEXT(LOG), TEXT(RUNS),
                 TEXT(FIGURES), TEXT(USE), TEXT(SEQUENCE), TEXT(CREATED), TEXT(CONFIRMED), TEXT(TIME), TEXT(BUILD),
                 TEXT(FIRST_LAUNCH), TEXT(RUNS_TIME), TEXT(VERIFY), TEXT(WAIT), TEXT(MAX_ERROR), TEXT(ENERGY));
  if (rc == CLT_OK) *n_found = (size_t)clt_pq_whole(rows, 0, 0);
  if (rc == CLT_OK) *n_added += (uint64_t)clt_pq_whole(rows, 0, 1);
  clt_pq_rows_free(rows);
  return rc;
}

static int send_all(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error) {
  size_t n_found = 0;
  int rc = send_once(records, pq, &n_found, n_added, error);
  if (rc || n_found == records->n) return rc;
  /* Keys are made when they turn out to be missing, which is once for thousands of records. */
  rc = add_missing_keys(pq, TEXT(PROBLEM), TEXT(DEVICE), TEXT(DRIVER), error);
  if (rc == CLT_OK) rc = send_once(records, pq, &n_found, n_added, error);
  if (rc == CLT_OK && n_found < records->n)
    rc = clt_fail(error, CLT_E_STORE, "the store '%s' does not keep its keys", clt_pq_url(pq));
  return rc;
}

int clt_pq_records_send(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error) {
  uint64_t n = 0;
  int rc = CLT_OK;
  if (n_added) *n_added = 0;
  if (records->n == 0) return CLT_OK;
  for (size_t t = 0; t < N_COLUMNS; t++) {
    clt_text_add(&records->columns[t], "}");
    if (records->columns[t].rc) rc = clt_fail_memory(error);
  }
  if (rc == CLT_OK) rc = send_all(records, pq, &n, error);
  if (rc == CLT_OK && n_added) *n_added = n;
  if (rc == CLT_OK) return clt_pq_records_forget(records), CLT_OK;
  for (size_t t = 0; t < N_COLUMNS; t++) { /* more may come before it is tried again */
    clt_text *column = &records->columns[t];
    column->n -= column->rc == CLT_OK;
    column->rc = CLT_OK;
  }
  return rc;
}
