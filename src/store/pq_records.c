#include "store/pq_records.h"

#include "base/base.h"
#include "store/rows.h"

void clt_pq_records_forget(clt_pq_records *records) {
  json_decref(records->list);
  *records = (clt_pq_records){0};
}

bool clt_pq_records_full(const clt_pq_records *records) {
  return json_array_size(records->list) == CLT_PQ_MOST_RECORDS || records->n_bytes > CLT_PQ_MOST_BYTES;
}

size_t clt_pq_record_bytes(const clt_store_record *record) {
  const clt_measurement *m = record->measurement;
  return strlen(record->configuration) + (m->log ? strlen(m->log) : 0) + 16 * m->n_runs;
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
  json_t *object = json_pack("{s:I, s:o, s:o, s:o, s:b}", "place", (json_int_t)json_array_size(records->list),
                             "problem", clt_pq_json_text(key->problem), "device", clt_pq_json_text(key->device),
                             "driver", clt_pq_json_text(key->driver), "own", (int)record->own);
  int failed = object == NULL;
  clt_record_row_make(&row, record);
  for (size_t i = 0; i < CLT_N_FIELDS; i++)
    failed |= json_object_set_new(object, row.fields[i].name, field_json(&row.fields[i]));
  if (failed) json_decref(object);
  if (failed || json_array_append_new(records->list, object)) return clt_fail_memory(error);
  records->n_bytes += clt_pq_record_bytes(record);
  return CLT_OK;
}

/* --- sending --- */

int clt_pq_records_send(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error) {
  clt_pq_rows *rows = NULL;
  if (n_added) *n_added = 0;
  if (json_array_size(records->list) == 0) return CLT_OK;
  int rc = clt_pq_run(pq, &rows, "SELECT deliver($1, $2)", error, "jt", records->list, clt_pq_agent(pq));
  if (rc) return rc;
  if (n_added) *n_added = (uint64_t)clt_pq_whole(rows, 0, 0);
  clt_pq_rows_free(rows);
  clt_pq_records_forget(records);
  return CLT_OK;
}
