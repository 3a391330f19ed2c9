/* Replaces PostgreSQL's files in a build without it: only reports an error. */

#include "base/base.h"
#include "store/pq.h"

int clt_pq_new(clt_pq **out, const char *url, clt_pq_schema schema, double patience_s, clt_error *error) {
  (void)out, (void)url, (void)schema, (void)patience_s;
  return clt_fail(error, CLT_E_UNSUPPORTED,
                  "this clatune was built without PostgreSQL; use a file as the store, or build with libpq-dev and "
                  "-Dpostgresql=enabled");
}

/* Without a connection these are never called. */
void clt_pq_free(clt_pq *pq) { (void)pq; }
const char *clt_pq_url(const clt_pq *pq) { return (void)pq, ""; }
const char *clt_pq_user(const clt_pq *pq) { return (void)pq, ""; }
const char *clt_pq_agent(const clt_pq *pq) { return (void)pq, ""; }
uint64_t clt_pq_connection(const clt_pq *pq) { return (void)pq, 0; }
const char *clt_pq_state(const clt_pq *pq) { return (void)pq, ""; }

int clt_pq_run(clt_pq *pq, clt_pq_rows **rows, const char *sql, clt_error *error, const char *places, ...) {
  (void)rows, (void)sql, (void)places;
  return clt_pq_new(NULL, NULL, CLT_PQ_BARE, 0, error), (void)pq, CLT_E_UNSUPPORTED;
}

int clt_pq_run_text(clt_pq *pq, const char *sql, clt_error *error) { return clt_pq_run(pq, NULL, sql, error, ""); }
void clt_pq_on_wait(clt_pq_wait_fn wait) { (void)wait; }

bool clt_pq_is_held(const clt_pq *pq) { return (void)pq, false; }

int clt_pq_begin(clt_pq *pq, clt_error *error) { return clt_pq_run(pq, NULL, "", error, ""); }
int clt_pq_end(clt_pq *pq, bool commit, clt_error *error) { return (void)commit, clt_pq_run(pq, NULL, "", error, ""); }

size_t clt_pq_n_rows(const clt_pq_rows *rows) { return (void)rows, 0; }
bool clt_pq_is_null(const clt_pq_rows *rows, size_t row, int column) {
  return (void)rows, (void)row, (void)column, true;
}
const char *clt_pq_text(const clt_pq_rows *rows, size_t row, int column) {
  return (void)rows, (void)row, (void)column, "";
}
int64_t clt_pq_whole(const clt_pq_rows *rows, size_t row, int column) { return (void)rows, (void)row, (void)column, 0; }
double clt_pq_number(const clt_pq_rows *rows, size_t row, int column) {
  return (void)rows, (void)row, (void)column, NAN;
}
size_t clt_pq_numbers(const clt_pq_rows *rows, size_t row, int column, double *out, size_t most) {
  return (void)rows, (void)row, (void)column, (void)out, (void)most, 0;
}
void clt_pq_rows_free(clt_pq_rows *rows) { (void)rows; }
