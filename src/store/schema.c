#include "store/schema.h"

#include "base/fail.h"
#include "store/pq.h"

#define TO_TEXT(x) #x
#define TEXT_OF(x) TO_TEXT(x)

/* Logins get these roles; nobody logs in as them. Somebody else may make the same ones at the same time: roles belong
 * to the server, not to the database. */
#define ROLE(name)                                                           \
  "DO $$ BEGIN CREATE ROLE " name                                            \
  " NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;" \
  " END $$;"

/* What was measured. Texts are compared by their bytes, whatever the database's language. A record is known by origin
 * and number; txid says whether it came before or after what a reader has seen (postgresql.c). What was restored from
 * a backup has the numbers of another server's transactions: it is older than all that comes. */
#define MEASUREMENTS                                                                                                 \
  "CREATE TABLE IF NOT EXISTS clatune.problem("                                                                      \
  "  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hash text COLLATE \"C\" NOT NULL UNIQUE,"                  \
  "  name text NOT NULL DEFAULT '', path text NOT NULL DEFAULT '', sizes text NOT NULL DEFAULT '',"                  \
  "  kernel text NOT NULL DEFAULT '');"                                                                              \
  "CREATE TABLE IF NOT EXISTS clatune.device("                                                                       \
  "  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text COLLATE \"C\" NOT NULL,"                          \
  "  driver text COLLATE \"C\" NOT NULL, description text NOT NULL DEFAULT '', UNIQUE(key, driver));"                \
  "CREATE TABLE IF NOT EXISTS clatune.key("                                                                          \
  "  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, problem integer NOT NULL REFERENCES clatune.problem,"      \
  "  device integer NOT NULL REFERENCES clatune.device, tuning text NOT NULL DEFAULT '', UNIQUE(problem, device));"  \
  "CREATE TABLE IF NOT EXISTS clatune.measurement("                                                                  \
  "  origin text COLLATE \"C\" NOT NULL, number bigint NOT NULL,"                                                    \
  "  txid bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint, id bigint GENERATED ALWAYS AS IDENTITY,"       \
  "  key integer NOT NULL REFERENCES clatune.key, kind text COLLATE \"C\" NOT NULL, configuration text NOT NULL,"    \
  "  reason text COLLATE \"C\" NOT NULL, time_s float8, clock text NOT NULL, build_s float8, first_launch_s float8," \
  "  runs_s float8, verify_s float8, wait_s float8, max_abs_error float8, log text, created_s bigint NOT NULL,"      \
  "  runs float8[], energy_J float8, figures float8[], use float8[], confirmed bigint NOT NULL DEFAULT 0,"           \
  "  PRIMARY KEY(origin, number));"                                                                                  \
  "CREATE INDEX IF NOT EXISTS measurement_of ON clatune.measurement(key, txid, id);"                                 \
  "CREATE INDEX IF NOT EXISTS measurement_since ON clatune.measurement(txid, id);"                                   \
  "CREATE INDEX IF NOT EXISTS measurement_finalist ON clatune.measurement(key, txid, id) WHERE kind='finalist';"     \
  "CREATE INDEX IF NOT EXISTS measurement_speed ON clatune.measurement(key, coalesce(time_s, 0), id)"                \
  "  WHERE kind='search' AND reason='none';"                                                                         \
  "UPDATE clatune.measurement SET txid=1 WHERE txid > pg_current_xact_id()::text::bigint;"

#define RIGHTS                                                                                                     \
  "GRANT USAGE ON SCHEMA clatune TO " CLT_ROLE_READER ", " CLT_ROLE_WORKER ", " CLT_ROLE_OWNER                     \
  ";"                                                                                                              \
  "GRANT SELECT ON ALL TABLES IN SCHEMA clatune TO " CLT_ROLE_READER ", " CLT_ROLE_WORKER                          \
  ";"                                                                                                              \
  "GRANT INSERT(hash), UPDATE(name, path, sizes, kernel) ON clatune.problem TO " CLT_ROLE_WORKER                   \
  ";"                                                                                                              \
  "GRANT INSERT(key, driver), UPDATE(description) ON clatune.device TO " CLT_ROLE_WORKER                           \
  ";"                                                                                                              \
  "GRANT INSERT(problem, device), UPDATE(tuning) ON clatune.key TO " CLT_ROLE_WORKER                               \
  ";"                                                                                                              \
  "GRANT INSERT(origin, number, key, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s," \
  "  verify_s, wait_s, max_abs_error, log, created_s, runs, energy_J, figures, use, confirmed)"                    \
  "  ON clatune.measurement TO " CLT_ROLE_WORKER                                                                   \
  ";"                                                                                                              \
  "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA clatune TO " CLT_ROLE_OWNER ";"

static const char schema_text[] =
    "SELECT pg_advisory_xact_lock(1129075781);"
    ROLE(CLT_ROLE_READER) ROLE(CLT_ROLE_WORKER) ROLE(CLT_ROLE_OWNER)
    "CREATE SCHEMA IF NOT EXISTS clatune;"
    "CREATE TABLE IF NOT EXISTS clatune.about(version integer NOT NULL);"
    MEASUREMENTS
    RIGHTS
    "DELETE FROM clatune.about; INSERT INTO clatune.about VALUES(" TEXT_OF(CLT_SCHEMA_VERSION) ")";

/* A database that was made by a newer version stays as it is. */
int clt_schema_init(const char *url, clt_error *error) {
  clt_pq *pq = NULL;
  clt_pq_rows *rows = NULL;
  int64_t version = 0;
  int rc = clt_pq_new(&pq, url, CLT_PQ_BARE, CLT_PQ_PATIENCE_S, error);
  if (rc) return rc;
  if (clt_pq_run(pq, &rows, "SELECT version FROM clatune.about", NULL, "") == CLT_OK)
    version = clt_pq_whole(rows, 0, 0);
  clt_pq_rows_free(rows);
  if (version > CLT_SCHEMA_VERSION)
    rc = clt_fail(error, CLT_E_STORE,
                  "the store '%s' was made by a newer clatune (version %lld of the schema, this one knows %d); update "
                  "clatune",
                  clt_pq_url(pq), (long long)version, CLT_SCHEMA_VERSION);
  if (rc == CLT_OK) rc = clt_pq_run_text(pq, schema_text, error);
  clt_pq_free(pq);
  return rc;
}
