#include "store/schema.h"

#include "base/base.h"
#include "base/text.h"
#include "store/pq.h"
#include "store/rows.h"

extern const char clt_schema_text[]; /* schema.sql */

static const char note_version[] =
    "; DELETE FROM clatune.about; INSERT INTO clatune.about VALUES(" CLT_TEXT_OF(CLT_SCHEMA_VERSION) ")";

/* A database of a newer version is not changed. */
int clt_schema_init(const char *url, clt_error *error) {
  clt_pq *pq = NULL;
  clt_pq_rows *rows = NULL;
  int64_t version = 0;
  clt_text text = {0};
  char *whole = NULL;
  int rc = clt_pq_new(&pq, url, CLT_PQ_BARE, CLT_PQ_PATIENCE_S, error);
  if (rc) return rc;
  if (clt_pq_run(pq, &rows, "SELECT version FROM clatune.about", NULL, "") == CLT_OK)
    version = clt_pq_whole(rows, 0, 0);
  clt_pq_rows_free(rows);
  if (version > CLT_SCHEMA_VERSION)
    rc = clt_fail(error, CLT_E_STORE,
                  "the store '%s' was made by a newer clatune (schema version %lld, this one knows %d); update "
                  "clatune",
                  clt_pq_url(pq), (long long)version, CLT_SCHEMA_VERSION);
  clt_text_add(&text, clt_schema_text);
  clt_text_add(&text, note_version);
  if (version == 2) clt_text_add(&text, "; " CLT_FIND_COMPARISONS("number") " AND origin<>''");
  if (rc == CLT_OK) rc = clt_text_take(&whole, &text, error);
  if (rc == CLT_OK) rc = clt_pq_run_text(pq, whole, error);
  clt_text_release(&text);
  free(whole);
  clt_pq_free(pq);
  return rc;
}
