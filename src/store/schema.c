#include "store/schema.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/text.h"
#include "store/pq.h"
#include "store/rows.h"

/* Roles to grant to logins. Another command may create them at the same time, because roles belong to the server, not
 * to the database. */
#define ROLE(name)                                                           \
  "DO $$ BEGIN CREATE ROLE " name                                            \
  " NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;" \
  " END $$;"

/* The measurements. Texts are compared by bytes, independently of the database's language. origin and number identify a
 * record; txid says whether it came before or after what a reader has seen (postgresql.c). In a restored backup txid
 * belongs to another server, so it is set below all new ones. */
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
  "ALTER TABLE clatune.measurement ADD COLUMN IF NOT EXISTS comparison bigint NOT NULL DEFAULT 0;"                   \
  "ALTER TABLE clatune.measurement ADD COLUMN IF NOT EXISTS state float8[];"                                         \
  "CREATE INDEX IF NOT EXISTS measurement_of ON clatune.measurement(key, txid, id);"                                 \
  "CREATE INDEX IF NOT EXISTS measurement_since ON clatune.measurement(txid, id);"                                   \
  "CREATE INDEX IF NOT EXISTS measurement_finalist ON clatune.measurement(key, txid, id) WHERE kind='finalist';"     \
  "CREATE INDEX IF NOT EXISTS measurement_speed ON clatune.measurement(key, coalesce(time_s, 0), id)"                \
  "  WHERE kind='search' AND reason='none';"                                                                         \
  "UPDATE clatune.measurement SET txid=1 WHERE txid > pg_current_xact_id()::text::bigint;"

/* Plans, a target for each kind of device that works on one, and a row for each of its tunings (farm/queue.c).
 * plan.seen: the measurements that were visible when the plan was submitted. cell.attempts: how often the lease expired
 * without more progress than in all attempts before (best), counted when the next attempt begins. cell.lease: for an
 * open row, when the agent that failed on it may try again. shipper: how far an agent's file was sent (sweep/ship.c).
 * Only owners can change finished rows. lease_s and attempts are bounded, because larger values would make the claims
 * of all agents fail. */
#define QUEUE                                                                                                     \
  "CREATE TABLE IF NOT EXISTS clatune.plan("                                                                      \
  "  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, text text NOT NULL,"                 \
  "  hash text GENERATED ALWAYS AS (md5(text)) STORED UNIQUE,"                                                    \
  "  lease_s float8 NOT NULL CHECK(lease_s BETWEEN 0 AND 1e7),"                                                   \
  "  submitted timestamptz NOT NULL DEFAULT clock_timestamp());"                                                  \
  "ALTER TABLE clatune.plan ADD COLUMN IF NOT EXISTS"                                                             \
  "  seen pg_snapshot NOT NULL DEFAULT pg_current_snapshot();"                                                    \
  "CREATE TABLE IF NOT EXISTS clatune.target("                                                                    \
  "  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, plan bigint NOT NULL REFERENCES clatune.plan,"           \
  "  device text COLLATE \"C\" NOT NULL, driver text COLLATE \"C\" NOT NULL, name text NOT NULL,"                 \
  "  lease_s float8 NOT NULL CHECK(lease_s BETWEEN 0 AND 1e7), UNIQUE(plan, device, driver));"                    \
  "CREATE TABLE IF NOT EXISTS clatune.cell("                                                                      \
  "  target bigint NOT NULL REFERENCES clatune.target, n bigint NOT NULL, text text NOT NULL,"                    \
  "  state text COLLATE \"C\" NOT NULL DEFAULT 'open' CHECK(state IN ('open', 'running', 'done', 'failed')),"     \
  "  claim text COLLATE \"C\" UNIQUE, agent text COLLATE \"C\", lease timestamptz, began timestamptz,"            \
  "  finished timestamptz, progress bigint NOT NULL DEFAULT 0,"                                                   \
  "  attempts bigint NOT NULL DEFAULT 0 CHECK(attempts BETWEEN 0 AND 100),"                                       \
  "  best bigint NOT NULL DEFAULT -1, line text CHECK(octet_length(line) <= 65536), output text, code bigint,"    \
  "  PRIMARY KEY(target, n)) WITH (fillfactor = 70);"                                                             \
  "CREATE INDEX IF NOT EXISTS cell_left ON clatune.cell(target, n) WHERE state IN ('open', 'running');"           \
  "CREATE INDEX IF NOT EXISTS cell_running ON clatune.cell(target) WHERE state = 'running';"                      \
  "CREATE INDEX IF NOT EXISTS cell_died ON clatune.cell(target, n) WHERE attempts > 0;"                           \
  "CREATE TABLE IF NOT EXISTS clatune.agent("                                                                     \
  "  name text COLLATE \"C\" PRIMARY KEY, devices text NOT NULL, lost text NOT NULL,"                             \
  "  began timestamptz NOT NULL DEFAULT clock_timestamp(), seen timestamptz NOT NULL DEFAULT clock_timestamp());" \
  "CREATE TABLE IF NOT EXISTS clatune.shipper(file text COLLATE \"C\" PRIMARY KEY, upto bigint NOT NULL);"        \
  "ALTER TABLE clatune.cell ENABLE ROW LEVEL SECURITY;"                                                           \
  "DROP POLICY IF EXISTS cell_read ON clatune.cell; DROP POLICY IF EXISTS cell_add ON clatune.cell;"              \
  "DROP POLICY IF EXISTS cell_work ON clatune.cell; DROP POLICY IF EXISTS cell_own ON clatune.cell;"              \
  "CREATE POLICY cell_read ON clatune.cell FOR SELECT USING (true);"                                              \
  "CREATE POLICY cell_add ON clatune.cell FOR INSERT WITH CHECK (state = 'open');"                                \
  "CREATE POLICY cell_work ON clatune.cell FOR UPDATE USING (state <> 'done') WITH CHECK (true);"                 \
  "CREATE POLICY cell_own ON clatune.cell TO " CLT_ROLE_OWNER " USING (true);"

#define RIGHTS                                                                                                         \
  "GRANT USAGE ON SCHEMA clatune TO " CLT_ROLE_READER ", " CLT_ROLE_WORKER ", " CLT_ROLE_OWNER                         \
  ";"                                                                                                                  \
  "GRANT SELECT ON ALL TABLES IN SCHEMA clatune TO " CLT_ROLE_READER ", " CLT_ROLE_WORKER                              \
  ";"                                                                                                                  \
  "GRANT INSERT(hash), UPDATE(name, path, sizes, kernel) ON clatune.problem TO " CLT_ROLE_WORKER                       \
  ";"                                                                                                                  \
  "GRANT INSERT(key, driver), UPDATE(description) ON clatune.device TO " CLT_ROLE_WORKER                               \
  ";"                                                                                                                  \
  "GRANT INSERT(problem, device), UPDATE(tuning) ON clatune.key TO " CLT_ROLE_WORKER                                   \
  ";"                                                                                                                  \
  "GRANT INSERT(origin, number, key, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s,"     \
  "  verify_s, wait_s, max_abs_error, log, created_s, runs, energy_J, figures, use, confirmed, comparison, state)"     \
  "  ON clatune.measurement TO " CLT_ROLE_WORKER                                                                       \
  ";"                                                                                                                  \
  "GRANT INSERT(name, text, lease_s) ON clatune.plan TO " CLT_ROLE_WORKER                                              \
  ";"                                                                                                                  \
  "GRANT INSERT(plan, device, driver, name, lease_s) ON clatune.target TO " CLT_ROLE_WORKER                            \
  ";"                                                                                                                  \
  "GRANT INSERT(target, n, text), UPDATE(state, claim, agent, lease, began, finished, attempts, progress, best, line," \
  "  output, code) ON clatune.cell TO " CLT_ROLE_WORKER                                                                \
  ";"                                                                                                                  \
  "GRANT INSERT, UPDATE ON clatune.agent, clatune.shipper TO " CLT_ROLE_WORKER                                         \
  ";"                                                                                                                  \
  "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA clatune TO " CLT_ROLE_OWNER ";"

static const char *const schema[] = {
    "SELECT pg_advisory_xact_lock(1129075781);"
    ROLE(CLT_ROLE_READER) ROLE(CLT_ROLE_WORKER) ROLE(CLT_ROLE_OWNER)
    "CREATE SCHEMA IF NOT EXISTS clatune;"
    "CREATE TABLE IF NOT EXISTS clatune.about(version integer NOT NULL);"
    MEASUREMENTS,
    QUEUE,
    RIGHTS
    "DELETE FROM clatune.about; INSERT INTO clatune.about VALUES(" CLT_TEXT_OF(CLT_SCHEMA_VERSION) ")"};

/* A database of a newer version is not changed. */
int clt_schema_init(const char *url, clt_error *error) {
  clt_pq *pq = NULL;
  clt_pq_rows *rows = NULL;
  int64_t version = 0;
  clt_text text = {0};
  char *whole = NULL; /* compilers need not accept literals of this length */
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
  for (size_t i = 0; i < sizeof schema / sizeof *schema; i++) clt_text_add(&text, schema[i]);
  if (version == 2) clt_text_add(&text, "; " CLT_FIND_COMPARISONS("number") " AND origin<>''");
  if (rc == CLT_OK) rc = clt_text_take(&whole, &text, error);
  if (rc == CLT_OK) rc = clt_pq_run_text(pq, whole, error);
  clt_text_release(&text);
  free(whole);
  clt_pq_free(pq);
  return rc;
}
