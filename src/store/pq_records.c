#include "store/pq_records.h"

#include <string.h>

#include "base/fail.h"
#include "store/rows.h"

#define MOST_BYTES (8 << 20) /* in one statement */

void clt_pq_records_forget(clt_pq_records *records) {
  json_decref(records->list);
  *records = (clt_pq_records){0};
}

bool clt_pq_records_full(const clt_pq_records *records) {
  return json_array_size(records->list) == CLT_PQ_MOST_RECORDS || records->n_bytes > MOST_BYTES;
}

static json_t *field_json(const clt_field *f) {
  if (f->type == 't') return clt_pq_json_text(f->text);
  if (f->type == 'w') return json_integer(f->whole);
  if (f->type == 'n') return clt_pq_json_number(f->number);
  if (f->numbers == NULL) return json_null();
  json_t *array = json_array();
  int failed = array == NULL;
  for (size_t i = 0; i < f->n && !failed; i++) failed = json_array_append_new(array, clt_pq_json_number(f->numbers[i]));
  if (failed) json_decref(array);
  return failed ? NULL : array;
}

int clt_pq_records_take(clt_pq_records *records, const clt_store_key *key, const clt_store_record *record,
                        clt_error *error) {
  clt_record_row row;
  if (record->origin == NULL || clt_pq_records_full(records))
    return clt_fail(error, CLT_E_ARGUMENT, "a record for the shared store lacks its origin, or there are too many");
  if (records->list == NULL) records->list = json_array();
  json_t *object = json_pack("{s:I, s:o, s:o, s:o}", "place", (json_int_t)json_array_size(records->list), "problem",
                             clt_pq_json_text(key->problem), "device", clt_pq_json_text(key->device), "driver",
                             clt_pq_json_text(key->driver));
  int failed = object == NULL;
  clt_record_row_make(&row, record);
  for (size_t i = 0; i < CLT_N_FIELDS; i++)
    failed |= json_object_set_new(object, row.fields[i].name, field_json(&row.fields[i]));
  if (failed) json_decref(object);
  if (failed || json_array_append_new(records->list, object)) return clt_fail_memory(error);
  const clt_measurement *m = record->measurement;
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
#define FIELD_TYPE(name, expression, type) ", " #name " " type
static const char add_records[] =
    "WITH r AS (SELECT k.id AS of, u.* FROM json_to_recordset($1) AS u(place bigint, problem text, device text,"
    " driver text" CLT_FIELDS(FIELD_TYPE) ")"
    " JOIN problem AS p ON p.hash=u.problem JOIN device AS d ON d.key=u.device AND d.driver=u.driver"
    " JOIN key AS k ON k.problem=p.id AND k.device=d.id),"
    " a AS (INSERT INTO measurement(key" CLT_FIELDS(CLT_FIELD_NAME) ") SELECT of" CLT_FIELDS(CLT_FIELD_NAME)
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
