#include "store/pq_records.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "store/store.h"

#define MOST_BYTES (8 << 20) /* in one statement */

void clt_pq_records_forget(clt_pq_records *records) {
  json_decref(records->list);
  *records = (clt_pq_records){0};
}

bool clt_pq_records_full(const clt_pq_records *records) {
  return json_array_size(records->list) == CLT_PQ_MOST_RECORDS || records->n_bytes > MOST_BYTES;
}

/* first: NaN if there is none. */
static json_t *array_json(double first, const double *numbers, size_t n) {
  json_t *array = isnan(first) ? json_array() : json_pack("[o]", clt_pq_json_number(first));
  int failed = array == NULL;
  for (size_t i = 0; i < n && !failed; i++) failed = json_array_append_new(array, clt_pq_json_number(numbers[i]));
  return failed ? json_decref(array), NULL : array;
}

int clt_pq_records_take(clt_pq_records *records, const clt_store_key *key, const clt_store_record *record,
                        clt_error *error) {
  const clt_measurement *m = record->measurement;
  if (record->origin == NULL || clt_pq_records_full(records))
    return clt_fail(error, CLT_E_ARGUMENT, "a record for the shared store lacks its origin, or there are too many");
  if (records->list == NULL) records->list = json_array();
  const struct {
    const char *name;
    json_t *value;
  } members[] = {
      {"place", json_integer((json_int_t)json_array_size(records->list))},
      {"problem", clt_pq_json_text(key->problem)},
      {"device", clt_pq_json_text(key->device)},
      {"driver", clt_pq_json_text(key->driver)},
      {"origin", clt_pq_json_text(record->origin)},
      {"number", json_integer(record->sequence)},
      {"kind", json_string(clt_kind_names[record->kind])},
      {"configuration", clt_pq_json_text(record->configuration)},
      {"reason", json_string(clt_reason_name(m->reason))},
      {"time_s", clt_pq_json_number(m->time_s)},
      {"clock", json_string(clt_clock_names[m->clock == CLT_CLOCK_HOST])},
      {"build_s", clt_pq_json_number(m->phases.build_s)},
      {"first_launch_s", clt_pq_json_number(m->phases.first_launch_s)},
      {"runs_s", clt_pq_json_number(m->phases.runs_s)},
      {"verify_s", clt_pq_json_number(m->phases.verify_s)},
      {"wait_s", clt_pq_json_number(m->phases.wait_s)},
      {"max_abs_error", clt_pq_json_number(m->max_abs_error)},
      {"log", clt_pq_json_text(m->log)},
      {"created_s", json_integer(record->created_s)},
      {"runs", array_json(NAN, m->runs_s, m->n_runs)},
      {"energy_j", clt_pq_json_number(m->energy_J > 0 ? m->energy_J : NAN)},
      {"figures", isnan(m->figure) ? json_null() : array_json(m->figure, m->figures, m->n_runs)},
      {"use", clt_use_is_known(&m->use) ? array_json(NAN, (const double *)&m->use, CLT_N_USE) : json_null()},
      {"confirmed", json_integer(m->confirmed_alone)},
  };
  json_t *object = json_object();
  int failed = 0;
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    failed |= json_object_set_new(object, members[i].name, members[i].value);
  if (failed) json_decref(object);
  if (failed || json_array_append_new(records->list, object)) return clt_fail_memory(error);
  records->n_bytes += strlen(record->configuration) + (m->log ? strlen(m->log) : 0) + 16 * m->n_runs;
  return CLT_OK;
}

/* --- sending --- */

/* $1: records, or their keys. Sorted, so that two agents that insert the same rows do not deadlock. */
#define OF_KEYS " FROM json_to_recordset($1) AS u(problem text, device text, driver text)"
static const char add_problems[] =
    "INSERT INTO problem(hash) SELECT DISTINCT u.problem" OF_KEYS
    " WHERE NOT EXISTS(SELECT FROM problem WHERE hash=u.problem) ORDER BY 1 ON CONFLICT DO NOTHING";
static const char add_devices[] =
    "INSERT INTO device(key, driver) SELECT DISTINCT u.device, u.driver" OF_KEYS
    " WHERE NOT EXISTS(SELECT FROM device AS d WHERE d.key=u.device AND d.driver=u.driver) ORDER BY 1, 2"
    " ON CONFLICT DO NOTHING";
static const char add_keys[] =
    "INSERT INTO key(problem, device) SELECT DISTINCT p.id, d.id" OF_KEYS
    " JOIN problem AS p ON p.hash=u.problem JOIN device AS d ON d.key=u.device AND d.driver=u.driver"
    " WHERE NOT EXISTS(SELECT FROM key WHERE problem=p.id AND device=d.id) ORDER BY 1, 2 ON CONFLICT DO NOTHING";

static int add_missing_keys(clt_pq *pq, const json_t *list, clt_error *error) {
  int rc = clt_pq_run(pq, NULL, add_problems, error, "j", list);
  if (rc == CLT_OK) rc = clt_pq_run(pq, NULL, add_devices, error, "j", list);
  return rc ? rc : clt_pq_run(pq, NULL, add_keys, error, "j", list);
}

int clt_pq_add_key(clt_pq *pq, const clt_store_key *key, clt_error *error) {
  json_t *list = json_pack("[{s:o, s:o, s:o}]", "problem", clt_pq_json_text(key->problem), "device",
                           clt_pq_json_text(key->device), "driver", clt_pq_json_text(key->driver));
  int rc = list ? add_missing_keys(pq, list, error) : clt_fail_memory(error);
  json_decref(list);
  return rc;
}

/* Also returns how many records have a row of their key. */
#define COLUMNS                                                                                                    \
  "origin, number, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s, verify_s, wait_s," \
  " max_abs_error, log, created_s, runs, energy_J, figures, use, confirmed"
static const char add_records[] =
    "WITH r AS (SELECT k.id AS of, u.* FROM json_to_recordset($1) AS u(place bigint, problem text, device text,"
    " driver text, origin text, number bigint, kind text, configuration text, reason text, time_s float8, clock text,"
    " build_s float8, first_launch_s float8, runs_s float8, verify_s float8, wait_s float8, max_abs_error float8,"
    " log text, created_s bigint, runs float8[], energy_J float8, figures float8[], use float8[], confirmed bigint)"
    " JOIN problem AS p ON p.hash=u.problem JOIN device AS d ON d.key=u.device AND d.driver=u.driver"
    " JOIN key AS k ON k.problem=p.id AND k.device=d.id),"
    " a AS (INSERT INTO measurement(key, " COLUMNS ") SELECT of, " COLUMNS
    " FROM r ORDER BY place ON CONFLICT (origin, number) DO NOTHING RETURNING 1)"
    " SELECT (SELECT count(*) FROM r), (SELECT count(*) FROM a)";

static int send_once(const clt_pq_records *records, clt_pq *pq, bool *all_have_keys, uint64_t *n_added,
                     clt_error *error) {
  clt_pq_rows *rows = NULL;
  int rc = clt_pq_run(pq, &rows, add_records, error, "j", records->list);
  if (rc == CLT_OK) *all_have_keys = (size_t)clt_pq_whole(rows, 0, 0) == json_array_size(records->list);
  if (rc == CLT_OK) *n_added += (uint64_t)clt_pq_whole(rows, 0, 1);
  clt_pq_rows_free(rows);
  return rc;
}

int clt_pq_records_send(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error) {
  uint64_t n = 0;
  bool have_keys = true;
  int rc = json_array_size(records->list) ? send_once(records, pq, &have_keys, &n, error) : CLT_OK;
  if (rc == CLT_OK && !have_keys) {
    /* Keys are created only when they turn out to be missing, once per thousands of records. */
    rc = add_missing_keys(pq, records->list, error);
    if (rc == CLT_OK) rc = send_once(records, pq, &have_keys, &n, error);
    if (rc == CLT_OK && !have_keys)
      rc = clt_fail(error, CLT_E_STORE, "the store '%s' loses its keys; ask its owner to check the database",
                    clt_pq_url(pq));
  }
  if (rc == CLT_OK) clt_pq_records_forget(records);
  if (n_added) *n_added = rc ? 0 : n;
  return rc;
}
