#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "store/database.h"
#include "store/path.h"
#include "store/stores.h"

#define OF_PROBLEM "(SELECT id FROM problem WHERE hash=?1)"
#define OF_DEVICE "(SELECT id FROM device WHERE key=?2 AND driver=?3)"

enum {
  ADD_PROBLEM,
  ADD_DEVICE,
  DESCRIBE_PROBLEM,
  DESCRIBE_DEVICE,
  ADD_MEASUREMENT,
  ADD_RUN,
  ADD_ENERGY,
  EACH,
  FINALISTS,
  FASTEST,
  EACH_RUN,
  ENERGY,
  EACH_KEY,
  EACH_KEY_UNCOUNTED,
  VERSION,
  COUNT,
  REMOVE_RUNS,
  REMOVE_ENERGY,
  REMOVE,
  N_STATEMENTS
};

#define RECORDS_OF_KEY                                                                                             \
  "SELECT id, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s, verify_s, wait_s,"     \
  " max_abs_error, substr(log, 1, 16384), created_s FROM measurement WHERE problem=" OF_PROBLEM " AND device=" OF_DEVICE

#define SELECTED "problem=" OF_PROBLEM " AND device=" OF_DEVICE " AND (?4=0 OR created_s<?4)"

/* Where a key is needed it is ?1 ?2 ?3. */
static const char *const statement_texts[N_STATEMENTS] = {
    [ADD_PROBLEM] = "INSERT INTO problem(hash) VALUES(?1) ON CONFLICT DO NOTHING",
    [ADD_DEVICE] = "INSERT INTO device(key, driver) VALUES(?2, ?3) ON CONFLICT DO NOTHING",
    [DESCRIBE_PROBLEM] = "UPDATE problem SET name=?4, path=?5, sizes=?6 WHERE hash=?1",
    [DESCRIBE_DEVICE] = "UPDATE device SET description=?4 WHERE key=?2 AND driver=?3",
    [ADD_MEASUREMENT] =
        "INSERT INTO measurement(problem, device, kind, configuration, reason, time_s, clock, build_s,"
        " first_launch_s, runs_s, verify_s, wait_s, max_abs_error, log, created_s)"
        " VALUES(" OF_PROBLEM ", " OF_DEVICE ", ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [ADD_RUN] = "INSERT INTO run(measurement, position, time_s) VALUES(?1, ?2, ?3)",
    [ADD_ENERGY] = "INSERT INTO energy(measurement, energy_J) VALUES(?1, ?2)",
    [EACH] = RECORDS_OF_KEY " ORDER BY id",
    [FINALISTS] = RECORDS_OF_KEY " AND kind='finalist' ORDER BY id DESC",
    [FASTEST] = RECORDS_OF_KEY " AND kind='search' AND reason='none' ORDER BY time_s, id",
    [EACH_RUN] = "SELECT time_s FROM run WHERE measurement=?1 ORDER BY position",
    [ENERGY] = "SELECT energy_J FROM energy WHERE measurement=?1",
    [VERSION] = "PRAGMA data_version",
    [COUNT] = "SELECT count(*) FROM measurement WHERE " SELECTED,
    [REMOVE_RUNS] = "DELETE FROM run WHERE measurement IN (SELECT id FROM measurement WHERE " SELECTED ")",
    [REMOVE_ENERGY] = "DELETE FROM energy WHERE measurement IN (SELECT id FROM measurement WHERE " SELECTED ")",
    [REMOVE] = "DELETE FROM measurement WHERE " SELECTED,
    [EACH_KEY] =
        "SELECT p.hash, d.key, d.driver, p.name, p.path, p.sizes, d.description, m.n FROM"
        " (SELECT problem, device, min(id) AS first, count(*) AS n FROM measurement GROUP BY problem, device) AS m"
        " JOIN problem AS p ON p.id=m.problem JOIN device AS d ON d.id=m.device ORDER BY m.first",
    [EACH_KEY_UNCOUNTED] =
        "SELECT p.hash, d.key, d.driver, p.name, p.path, p.sizes, d.description, 0,"
        " (SELECT min(id) FROM measurement WHERE problem=p.id AND device=d.id) AS first"
        " FROM problem AS p CROSS JOIN device AS d WHERE first IS NOT NULL ORDER BY first",
};

typedef struct sqlite_store {
  const char *path;
  sqlite3 *db;
  sqlite3_stmt *statements[N_STATEMENTS];
  bool in_batch; /* a transaction of the caller's */
} sqlite_store;

static const char *const kind_names[] = {[CLT_RECORD_SEARCH] = "search",
                                         [CLT_RECORD_FINALIST] = "finalist",
                                         [CLT_RECORD_ATTEMPT] = "attempt",
                                         [CLT_RECORD_COMPARED] = "compared"};
static const char *const clock_names[] = {[CLT_CLOCK_DEVICE] = "device", [CLT_CLOCK_HOST] = "host"};

static int fail(const sqlite_store *store, clt_error *error) {
  return clt_database_fail(error, store->db, store->path);
}

/* --- opening --- */

/* A file that is opened to read may be older than the table. */
static bool may_lack(int id, bool to_read) {
  return to_read && (id == ADD_ENERGY || id == ENERGY || id == REMOVE_ENERGY);
}

static int open_store(void *state, const char *path, bool to_read, clt_error *error) {
  sqlite_store *store = state;
  store->path = path;
  int rc =
      to_read ? clt_database_open_to_read(&store->db, path, error) : clt_database_open(&store->db, path, error);
  for (int i = 0; rc == CLT_OK && i < N_STATEMENTS; i++)
    if (sqlite3_prepare_v3(store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i], NULL) &&
        !may_lack(i, to_read))
      rc = fail(store, error);
  return rc;
}

static void close_store(void *state) {
  sqlite_store *store = state;
  for (int i = 0; i < N_STATEMENTS; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
}

/* --- statements --- */

/* Texts live until the statement is released. */
static bool bind_text(sqlite3_stmt *s, int place, const char *text) {
  return sqlite3_bind_text(s, place, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_number(sqlite3_stmt *s, int place, double x) {
  return sqlite3_bind_double(s, place, x) == SQLITE_OK; /* NaN becomes NULL */
}

static bool bind_whole(sqlite3_stmt *s, int place, int64_t x) { return sqlite3_bind_int64(s, place, x) == SQLITE_OK; }

/* A statement that names only parts of the key has fewer places. */
static bool bind_key(sqlite3_stmt *s, const clt_store_key *key) {
  int n = sqlite3_bind_parameter_count(s);
  return bind_text(s, 1, key->problem) && (n < 2 || bind_text(s, 2, key->device)) &&
         (n < 3 || bind_text(s, 3, key->driver));
}

static void release(sqlite3_stmt *s) {
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
}

/* Runs a statement without rows. The error is read before the reset. */
static int run(sqlite_store *store, int id, bool bound, clt_error *error) {
  sqlite3_stmt *s = store->statements[id];
  int rc = bound && sqlite3_step(s) == SQLITE_DONE ? CLT_OK : fail(store, error);
  release(s);
  return rc;
}

static int execute(sqlite_store *store, const char *sql, clt_error *error) {
  return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? CLT_OK : fail(store, error);
}

/* Takes the write lock at once, so that waiting for another process happens here and never in the middle. */
static int begin(sqlite_store *store, clt_error *error) {
  return store->in_batch ? CLT_OK : execute(store, "BEGIN IMMEDIATE", error);
}

static int end(sqlite_store *store, int rc, clt_error *error) {
  if (store->in_batch) return rc;
  if (rc == CLT_OK) rc = execute(store, "COMMIT", error);
  if (rc != CLT_OK && !sqlite3_get_autocommit(store->db)) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  return rc;
}

/* --- writing --- */

static int add_key(sqlite_store *store, const clt_store_key *key, clt_error *error) {
  int rc = run(store, ADD_PROBLEM, bind_key(store->statements[ADD_PROBLEM], key), error);
  return rc ? rc : run(store, ADD_DEVICE, bind_key(store->statements[ADD_DEVICE], key), error);
}

static int describe_key(sqlite_store *store, const clt_store_description *d, clt_error *error) {
  sqlite3_stmt *s = store->statements[DESCRIBE_PROBLEM];
  bool bound = bind_key(s, &d->key) && bind_text(s, 4, d->problem_name) && bind_text(s, 5, d->problem_path) &&
               bind_text(s, 6, d->sizes);
  int rc = run(store, DESCRIBE_PROBLEM, bound, error);
  s = store->statements[DESCRIBE_DEVICE];
  bound = bind_key(s, &d->key) && bind_text(s, 4, d->device_json);
  return rc ? rc : run(store, DESCRIBE_DEVICE, bound, error);
}

static int describe(void *state, const clt_store_description *description, clt_error *error) {
  sqlite_store *store = state;
  int rc = begin(store, error);
  if (rc) return rc;
  rc = add_key(store, &description->key, error);
  if (rc == CLT_OK) rc = describe_key(store, description, error);
  return end(store, rc, error);
}

static bool bind_phases(sqlite3_stmt *s, int place, const clt_phases *phases) {
  return bind_number(s, place, phases->build_s) && bind_number(s, place + 1, phases->first_launch_s) &&
         bind_number(s, place + 2, phases->runs_s) && bind_number(s, place + 3, phases->verify_s) &&
         bind_number(s, place + 4, phases->wait_s);
}

static int add_measurement(sqlite_store *store, const clt_store_key *key, const clt_store_record *record,
                           clt_error *error) {
  sqlite3_stmt *s = store->statements[ADD_MEASUREMENT];
  const clt_measurement *m = record->measurement;
  bool bound = bind_key(s, key) && bind_text(s, 4, kind_names[record->kind]) &&
               bind_text(s, 5, record->configuration) && bind_text(s, 6, clt_reason_name(m->reason)) &&
               bind_number(s, 7, m->time_s) && bind_text(s, 8, clock_names[m->clock == CLT_CLOCK_HOST]) &&
               bind_phases(s, 9, &m->phases) && bind_number(s, 14, m->max_abs_error) && bind_text(s, 15, m->log) &&
               bind_whole(s, 16, record->created_s);
  return run(store, ADD_MEASUREMENT, bound, error);
}

static int add_runs(sqlite_store *store, int64_t id, const clt_measurement *m, clt_error *error) {
  sqlite3_stmt *s = store->statements[ADD_RUN];
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < m->n_runs; i++)
    rc = run(store, ADD_RUN, bind_whole(s, 1, id) && bind_whole(s, 2, (int64_t)i) && bind_number(s, 3, m->runs_s[i]),
             error);
  return rc;
}

static int add_energy(sqlite_store *store, int64_t id, const clt_measurement *m, clt_error *error) {
  sqlite3_stmt *s = store->statements[ADD_ENERGY];
  if (!(m->energy_J > 0)) return CLT_OK;
  return run(store, ADD_ENERGY, bind_whole(s, 1, id) && bind_number(s, 2, m->energy_J), error);
}

static int add(void *state, const clt_store_key *key, const clt_store_record *record, clt_error *error) {
  sqlite_store *store = state;
  int rc = begin(store, error);
  if (rc) return rc;
  rc = add_key(store, key, error);
  if (rc == CLT_OK) rc = add_measurement(store, key, record, error);
  int64_t id = sqlite3_last_insert_rowid(store->db);
  if (rc == CLT_OK) rc = add_runs(store, id, record->measurement, error);
  if (rc == CLT_OK) rc = add_energy(store, id, record->measurement, error);
  return end(store, rc, error);
}

static int begin_batch(void *state, clt_error *error) {
  sqlite_store *store = state;
  int rc = begin(store, error);
  store->in_batch = rc == CLT_OK;
  return rc;
}

static int end_batch(void *state, int rc, clt_error *error) {
  sqlite_store *store = state;
  store->in_batch = false;
  return end(store, rc, error);
}

static int run_selected(sqlite_store *store, int id, const clt_store_key *key, int64_t before_s, clt_error *error) {
  sqlite3_stmt *s = store->statements[id];
  return run(store, id, bind_key(s, key) && bind_whole(s, 4, before_s), error);
}

static int count_selected(sqlite_store *store, const clt_store_key *key, int64_t before_s, uint64_t *n,
                          clt_error *error) {
  sqlite3_stmt *s = store->statements[COUNT];
  bool bound = bind_key(s, key) && bind_whole(s, 4, before_s);
  int rc = bound && sqlite3_step(s) == SQLITE_ROW ? CLT_OK : fail(store, error);
  if (rc == CLT_OK) *n = (uint64_t)sqlite3_column_int64(s, 0);
  release(s);
  return rc;
}

static int remove_records(void *state, const clt_store_key *key, int64_t before_s, bool count_only, uint64_t *n,
                          clt_error *error) {
  sqlite_store *store = state;
  if (count_only) return count_selected(store, key, before_s, n, error);
  int rc = begin(store, error);
  if (rc) return rc;
  rc = count_selected(store, key, before_s, n, error);
  if (rc == CLT_OK) rc = run_selected(store, REMOVE_RUNS, key, before_s, error);
  if (rc == CLT_OK) rc = run_selected(store, REMOVE_ENERGY, key, before_s, error);
  if (rc == CLT_OK) rc = run_selected(store, REMOVE, key, before_s, error);
  return end(store, rc, error);
}

/* --- reading: whatever stands in the file --- */

static const char *column_text(sqlite3_stmt *s, int column) {
  const char *text = (const char *)sqlite3_column_text(s, column);
  return text ? text : "";
}

static double column_number(sqlite3_stmt *s, int column, double otherwise) {
  int type = sqlite3_column_type(s, column);
  return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(s, column) : otherwise;
}

static clt_reason read_reason(const char *name) {
  clt_reason reason = CLT_REASON_UNKNOWN;
  clt_reason_parse(&reason, name, NULL);
  return reason;
}

static bool read_kind(clt_record_kind *out, const char *name) {
  for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
    if (strcmp(kind_names[i], name) == 0) return *out = (clt_record_kind)i, true;
  return false;
}

static void read_phases(sqlite3_stmt *s, int column, clt_phases *out) {
  double *const phases[] = {&out->build_s, &out->first_launch_s, &out->runs_s, &out->verify_s, &out->wait_s};
  for (int i = 0; i < 5; i++) *phases[i] = column_number(s, column + i, 0);
}

/* *out borrows its log from the row. */
static void read_measurement(sqlite3_stmt *s, clt_measurement *out) {
  clt_measurement_init(out, CLT_CONFIG_NONE);
  out->reason = read_reason(column_text(s, 3));
  out->time_s = column_number(s, 4, NAN);
  out->clock = strcmp(column_text(s, 5), clock_names[CLT_CLOCK_HOST]) == 0 ? CLT_CLOCK_HOST : CLT_CLOCK_DEVICE;
  read_phases(s, 6, &out->phases);
  out->max_abs_error = column_number(s, 11, NAN);
  out->log = (char *)sqlite3_column_text(s, 12);
}

/* More runs than a measurement can have leave n_runs out of range: the record is then refused. */
static int read_runs(sqlite_store *store, int64_t id, clt_measurement *out, clt_error *error) {
  sqlite3_stmt *s = store->statements[EACH_RUN];
  int step = bind_whole(s, 1, id) ? sqlite3_step(s) : SQLITE_ERROR;
  for (; step == SQLITE_ROW && out->n_runs < CLT_MAX_RUNS; step = sqlite3_step(s))
    out->runs_s[out->n_runs++] = column_number(s, 0, NAN);
  if (step == SQLITE_ROW) out->n_runs = CLT_MAX_RUNS + 1;
  int rc = step == SQLITE_ROW || step == SQLITE_DONE ? CLT_OK : fail(store, error);
  release(s);
  return rc;
}

static int read_energy(sqlite_store *store, int64_t id, clt_measurement *out, clt_error *error) {
  sqlite3_stmt *s = store->statements[ENERGY];
  if (s == NULL || out->reason != CLT_REASON_NONE) return CLT_OK;
  int step = bind_whole(s, 1, id) ? sqlite3_step(s) : SQLITE_ERROR;
  if (step == SQLITE_ROW) out->energy_J = column_number(s, 0, NAN);
  int rc = step == SQLITE_ROW || step == SQLITE_DONE ? CLT_OK : fail(store, error);
  release(s);
  return rc;
}

static int visit_row(sqlite_store *store, sqlite3_stmt *s, clt_store_record_visit visit, void *user, clt_error *error) {
  clt_measurement measurement;
  read_measurement(s, &measurement);
  int rc = read_runs(store, sqlite3_column_int64(s, 0), &measurement, error);
  if (rc == CLT_OK) rc = read_energy(store, sqlite3_column_int64(s, 0), &measurement, error);
  if (rc) return rc;
  clt_store_record record = {.configuration = (const char *)sqlite3_column_text(s, 2),
                             .created_s = sqlite3_column_int64(s, 13),
                             .measurement = &measurement};
  if (!read_kind(&record.kind, column_text(s, 1))) record.configuration = NULL;
  return visit(user, &record);
}

static int walk(sqlite_store *store, int id, const clt_store_key *key, clt_store_record_visit visit, void *user,
                clt_error *error) {
  sqlite3_stmt *s = store->statements[id];
  int rc = CLT_OK, step = bind_key(s, key) ? sqlite3_step(s) : SQLITE_ERROR;
  for (; rc == CLT_OK && step == SQLITE_ROW; step = rc ? step : sqlite3_step(s))
    rc = visit_row(store, s, visit, user, error);
  if (rc == CLT_OK && step != SQLITE_DONE) rc = fail(store, error);
  release(s);
  return rc;
}

static int each(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error) {
  return walk(state, EACH, key, visit, user, error);
}

static int best(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error) {
  int rc = walk(state, FINALISTS, key, visit, user, error);
  return rc ? rc : walk(state, FASTEST, key, visit, user, error);
}

static int version(void *state, uint64_t *out, clt_error *error) {
  sqlite_store *store = state;
  sqlite3_stmt *s = store->statements[VERSION];
  int rc = sqlite3_step(s) == SQLITE_ROW ? CLT_OK : fail(store, error);
  if (rc == CLT_OK) *out = (uint64_t)sqlite3_column_int64(s, 0);
  release(s);
  return rc;
}

static void read_key(sqlite3_stmt *s, clt_store_key *key) {
  snprintf(key->problem, sizeof key->problem, "%s", column_text(s, 0));
  snprintf(key->device, sizeof key->device, "%s", column_text(s, 1));
  snprintf(key->driver, sizeof key->driver, "%s", column_text(s, 2));
}

static int each_key(void *state, bool counted, clt_store_key_visit visit, void *user, clt_error *error) {
  sqlite_store *store = state;
  sqlite3_stmt *s = store->statements[counted ? EACH_KEY : EACH_KEY_UNCOUNTED];
  int rc = CLT_OK, step = sqlite3_step(s);
  for (; rc == CLT_OK && step == SQLITE_ROW; step = rc ? step : sqlite3_step(s)) {
    clt_store_description d = {.problem_name = column_text(s, 3),
                               .problem_path = column_text(s, 4),
                               .sizes = column_text(s, 5),
                               .device_json = column_text(s, 6),
                               .n_records = (uint64_t)sqlite3_column_int64(s, 7)};
    read_key(s, &d.key);
    rc = visit(user, &d);
  }
  if (rc == CLT_OK && step != SQLITE_DONE) rc = fail(store, error);
  release(s);
  return rc;
}

const clt_store_type clt_store_sqlite = {
    .name = "sqlite",
    .summary = "one file, shared by processes; a record that was added survives a crash",
    .standard_file = CLT_STORE_FILE,
    .state_size = sizeof(sqlite_store),
    .open = open_store,
    .describe = describe,
    .add = add,
    .each = each,
    .best = best,
    .version = version,
    .each_key = each_key,
    .remove = remove_records,
    .begin = begin_batch,
    .end = end_batch,
    .close = close_store,
};
