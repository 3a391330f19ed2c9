#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "store/database.h"
#include "store/statements.h"
#include "store/store.h"

#define ID(id, text) id,
#define TEXT(id, text) text,
enum { STATEMENTS(ID) N_STATEMENTS };
enum { HAS_ENERGY = 1, HAS_FIGURE = 2, HAS_USE = 4, HAS_CONFIRMED = 8, HAS_ORIGINS = 16 }; /* the bits of PRESENT */
static const char *const statement_texts[N_STATEMENTS] = {STATEMENTS(TEXT)};

typedef struct sqlite_store {
  const char *path;
  sqlite3 *db;
  sqlite3_stmt *statements[N_STATEMENTS]; /* NULL: not needed yet */
  bool in_transaction;                    /* started by the caller */
  bool to_read, left_place;               /* left_place: the file was deleted or replaced */
  bool completed;                         /* missing tables were created */
  uint64_t present;                       /* HAS_...: in the file, for the current walk */
  clt_store_key old_key;                  /* the key of `old`, in this transaction */
  clt_map old;                            /* sequences of records of version 1 */
} sqlite_store;

static int fail_sqlite(const sqlite_store *store, clt_error *error) {
  return clt_database_fail(error, store->db, store->path);
}

/* --- opening --- */

/* NULL if it cannot be prepared. */
static sqlite3_stmt *find_statement(sqlite_store *store, int id) {
  sqlite3_stmt **s = &store->statements[id];
  while (*s == NULL && sqlite3_prepare_v3(store->db, statement_texts[id], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) &&
         store->to_read && !store->completed) {
    clt_database_complete(store->db);
    store->completed = true;
  }
  return *s;
}

/* Prepares all statements for a writer, so that a missing table is noticed before anything is measured. A reader needs
 * few and prepares them on demand: preparing takes longer than a look-up. */
static int open_sqlite(void *state, const char *path, bool to_read, clt_error *error) {
  sqlite_store *store = state;
  store->path = path;
  store->to_read = to_read = to_read && path[0]; /* "": in memory */
  int rc = to_read ? clt_database_open_to_read(&store->db, path, error) : clt_database_open(&store->db, path, error);
  for (int i = 0; rc == CLT_OK && !to_read && i < N_STATEMENTS; i++)
    if (find_statement(store, i) == NULL) rc = fail_sqlite(store, error);
  return rc;
}

static void close_sqlite(void *state) {
  sqlite_store *store = state;
  for (int i = 0; i < N_STATEMENTS; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  clt_map_release(&store->old);
}

/* --- statements --- */

static bool bind_text(sqlite3_stmt *s, int place, const char *text) { /* lives until the statement is reset */
  return sqlite3_bind_text(s, place, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_key(sqlite3_stmt *s, const clt_store_key *key) {
  return bind_text(s, 1, key->problem) && bind_text(s, 2, key->device) && bind_text(s, 3, key->driver);
}

static void release_statement(sqlite3_stmt *s) {
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
}

/* Runs a statement with the values of its parameters: 'k' a clt_store_key * (three parameters), 't' a text (NULL is
 * NULL), 'w' an int64_t, 'n' a double (NaN is NULL). It returns no rows, or, with out, one whole number. The error must
 * be read before the reset. */
static int run_statement(sqlite_store *store, int id, uint64_t *out, clt_error *error, const char *places, ...) {
  sqlite3_stmt *s = find_statement(store, id);
  va_list values;
  bool bound = true;
  int place = 1;
  if (s == NULL) return fail_sqlite(store, error);
  va_start(values, places);
  for (; *places && bound; places++, place++) {
    switch (*places) {
      case 'k':
        bound = bind_key(s, va_arg(values, const clt_store_key *));
        place += 2;
        break;
      case 't': bound = bind_text(s, place, va_arg(values, const char *)); break;
      case 'w': bound = sqlite3_bind_int64(s, place, va_arg(values, int64_t)) == SQLITE_OK; break;
      default: bound = sqlite3_bind_double(s, place, va_arg(values, double)) == SQLITE_OK;
    }
  }
  va_end(values);
  int rc = bound && sqlite3_step(s) == (out ? SQLITE_ROW : SQLITE_DONE) ? CLT_OK : fail_sqlite(store, error);
  if (rc == CLT_OK && out) *out = (uint64_t)sqlite3_column_int64(s, 0);
  release_statement(s);
  return rc;
}

static int run_text(sqlite_store *store, const char *sql, clt_error *error) {
  return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? CLT_OK : fail_sqlite(store, error);
}

static int check_place(sqlite_store *store, clt_error *error) {
  int moved = store->left_place;
  if (!moved && store->path[0]) sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (!moved) return CLT_OK;
  char *copy = store->left_place ? NULL : clt_database_save(store->db, store->path);
  int rc = clt_fail(error, CLT_E_STORE, "the store '%s' was deleted or replaced while it was in use%s%s%s", store->path,
                    copy ? "; its content, with all new measurements, is in '" : "", copy ? copy : "",
                    copy ? "'; add it to a store with 'clatune store import'" : "");
  store->left_place = true;
  free(copy);
  return rc;
}

/* Takes the write lock at once, so that waiting for another process can only happen here. */
static int begin_writing(sqlite_store *store, clt_error *error) {
  if (store->left_place) return check_place(store, error);
  if (!store->in_transaction) store->old_key = (clt_store_key){0};
  return store->in_transaction ? CLT_OK : run_text(store, "BEGIN IMMEDIATE", error);
}

static int end_writing(sqlite_store *store, int rc, clt_error *error) {
  if (store->in_transaction) return rc;
  if (rc == CLT_OK) rc = run_text(store, "COMMIT", error);
  if (rc != CLT_OK && !sqlite3_get_autocommit(store->db)) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  return rc ? rc : check_place(store, error);
}

static int step_in_sqlite(void *state, clt_store_step step, uint64_t *version, clt_error *error) {
  sqlite_store *store = state;
  int rc = CLT_OK;
  if (step == CLT_STORE_BEGIN) {
    rc = begin_writing(store, error);
    store->in_transaction = rc == CLT_OK;
  } else if (step != CLT_STORE_NONE) {
    store->in_transaction = false;
    rc = end_writing(store, step == CLT_STORE_UNDO ? CLT_E_STOPPED : CLT_OK, error);
    if (step == CLT_STORE_UNDO) rc = CLT_OK;
  }
  if (rc == CLT_OK && version) rc = run_statement(store, VERSION, version, error, "");
  /* For a reader, SQLite's version does not change for a read-only file or if the file was replaced. */
  if (rc == CLT_OK && version && store->to_read) *version ^= clt_file_version(store->path);
  return rc;
}

int clt_store_file_id(char out[CLT_ORIGIN_BYTES], clt_store *store, clt_error *error) {
  uint64_t id = 0;
  struct stat now = {0};
  if (store->type != &clt_store_sqlite || stat(store->path, &now))
    return clt_fail(error, CLT_E_STORE, "'%s' is not a store's file; name one with --store", store->path);
  int rc = run_statement(store->state, FILE_ID, &id, error, "");
  const uint64_t both[] = {id, now.st_ino};
  if (rc == CLT_OK) snprintf(out, CLT_ORIGIN_BYTES, "%016" PRIx64, clt_hash64(both, sizeof both));
  return rc;
}

/* --- writing --- */

static int walk_rows(sqlite_store *store, int id, const clt_store_key *key, int64_t after, clt_store_walk_visit visit,
                     void *user, clt_error *error);

typedef struct old_walk {
  const clt_store_key *key;
  clt_map *sequences;
} old_walk;

static int note_old(void *user, const clt_store_description *none, const clt_store_record *record) {
  const old_walk *w = user;
  clt_store_record known = *record;
  (void)none;
  return clt_record_plausible(record) ? clt_record_identify(&known, w->key, w->sequences) : 0;
}

/* Whether the store already has an imported record. Checks the key's own records of version 1 first, with a list made
 * once per transaction. */
static int find_record(sqlite_store *store, const clt_store_key *key, const clt_store_record *record,
                       uint64_t *is_there, clt_error *error) {
  int rc = CLT_OK;
  if (record->origin[0] == '\0' && !clt_store_same_key(&store->old_key, key)) {
    old_walk w = {key, &store->old};
    clt_map_release(&store->old);
    rc = walk_rows(store, WITHOUT_IDENTITY, key, 0, note_old, &w, error);
    if (rc == CLT_E_MEMORY) clt_fail_memory(error); /* the visitor cannot set the error itself */
    if (rc == CLT_OK) store->old_key = *key;
  }
  *is_there = record->origin[0] == '\0' && clt_map_find(&store->old, (uint64_t)record->sequence);
  if (rc || *is_there) return rc;
  return run_statement(store, IS_THERE, is_there, error, "tw", record->origin, record->sequence);
}

/* The number of a record added here is its id. */
static int begin_span(sqlite_store *store, int64_t id, const char *origin, clt_error *error) {
  uint64_t goes_on = 0;
  int rc = run_statement(store, IS_LAST_SPAN, &goes_on, error, "t", origin);
  if (rc || goes_on) return rc;
  rc = run_statement(store, ADD_ORIGIN, NULL, error, "t", origin);
  return rc ? rc : run_statement(store, ADD_SPAN, NULL, error, "wt", id, origin);
}

static int add_measurement(sqlite_store *store, const clt_store_key *key, const clt_store_record *record,
                           clt_error *error) {
  const clt_measurement *m = record->measurement;
  const clt_phases *phases = &m->phases;
  int rc = run_statement(store, ADD_MEASUREMENT, NULL, error, "ktttntnnnnnntw", key, clt_kind_names[record->kind],
                         record->configuration, clt_reason_name(m->reason), m->time_s,
                         clt_clock_names[m->clock == CLT_CLOCK_HOST], phases->build_s, phases->first_launch_s,
                         phases->runs_s, phases->verify_s, phases->wait_s, m->max_abs_error, m->log, record->created_s);
  int64_t id = sqlite3_last_insert_rowid(store->db);
  if (rc == CLT_OK && record->own)
    rc = begin_span(store, id, record->origin, error);
  else if (rc == CLT_OK && record->origin)
    rc = run_statement(store, ADD_ORIGIN, NULL, error, "t", record->origin);
  if (rc == CLT_OK && record->origin && !record->own)
    rc = run_statement(store, ADD_IDENTITY, NULL, error, "wtw", id, record->origin, record->sequence);
  for (size_t i = 0; rc == CLT_OK && i < m->n_runs; i++)
    rc = run_statement(store, ADD_RUN, NULL, error, "wwn", id, (int64_t)i, m->runs_s[i]);
  if (rc == CLT_OK && m->energy_J > 0) rc = run_statement(store, ADD_ENERGY, NULL, error, "wn", id, m->energy_J);
  if (rc == CLT_OK && m->confirmed_alone) rc = run_statement(store, ADD_CONFIRMED, NULL, error, "ww", id, (int64_t)1);
  for (size_t i = 0; rc == CLT_OK && !isnan(m->figure) && i <= m->n_runs; i++)
    rc = run_statement(store, ADD_FIGURE, NULL, error, "wwn", id, (int64_t)i, i ? m->figures[i - 1] : m->figure);
  const double *use = (const double *)&m->use;
  const size_t n_use = clt_use_is_known(&m->use) ? CLT_N_USE : 0;
  for (size_t i = 0; rc == CLT_OK && i < n_use; i++)
    rc = run_statement(store, ADD_USE, NULL, error, "wwn", id, (int64_t)i, use[i]);
  return rc;
}

static int add_to_sqlite(void *state, const clt_store_description *d, const clt_store_record *record, bool *is_new,
                         clt_error *error) {
  sqlite_store *store = state;
  const clt_store_key *key = &d->key;
  uint64_t is_there = 0;
  int rc = begin_writing(store, error);
  if (rc) return rc;
  if (record && record->origin && !record->own) rc = find_record(store, key, record, &is_there, error);
  if (rc == CLT_OK && !is_there) rc = run_statement(store, ADD_PROBLEM, NULL, error, "t", key->problem);
  if (rc == CLT_OK && !is_there) rc = run_statement(store, ADD_DEVICE, NULL, error, "tt", key->device, key->driver);
  if (rc == CLT_OK && (d->problem_name || d->problem_path || d->sizes))
    rc = run_statement(store, DESCRIBE_PROBLEM, NULL, error, "tttt", key->problem, d->problem_name, d->problem_path,
                       d->sizes);
  if (rc == CLT_OK && d->device_json)
    rc = run_statement(store, DESCRIBE_DEVICE, NULL, error, "ttt", key->device, key->driver, d->device_json);
  if (rc == CLT_OK && d->tuning_json && d->tuning_json[0])
    rc = run_statement(store, DESCRIBE_TUNING, NULL, error, "kt", key, d->tuning_json);
  if (rc == CLT_OK && d->kernel && d->kernel[0])
    rc = run_statement(store, DESCRIBE_KERNEL, NULL, error, "tt", key->problem, d->kernel);
  if (rc == CLT_OK && record && !is_there) rc = add_measurement(store, key, record, error);
  if (rc == CLT_OK && is_new) *is_new = !is_there;
  return end_writing(store, rc, error);
}

static int remove_from_sqlite(void *state, const clt_store_key *key, int64_t before_s, bool count_only, uint64_t *n,
                              clt_error *error) {
  static const int removals[] = {REMOVE_RUNS,      REMOVE_ENERGY,   REMOVE_FIGURE, REMOVE_USE,
                                 REMOVE_CONFIRMED, REMOVE_IDENTITY, REMOVE};
  sqlite_store *store = state;
  int rc = count_only ? CLT_OK : begin_writing(store, error);
  if (rc) return rc;
  rc = run_statement(store, COUNT, n, error, "kw", key, before_s);
  if (count_only) return rc;
  if (rc == CLT_OK) rc = run_statement(store, REMEMBER_HIGHEST, NULL, error, "");
  for (size_t i = 0; rc == CLT_OK && i < sizeof removals / sizeof *removals; i++)
    rc = run_statement(store, removals[i], NULL, error, "kw", key, before_s);
  return end_writing(store, rc, error);
}

/* --- reading: the file is not trusted --- */

static const char *column_text(sqlite3_stmt *s, int column) {
  const char *text = (const char *)sqlite3_column_text(s, column);
  return text ? text : "";
}

static double column_number(sqlite3_stmt *s, int column, double otherwise) {
  int type = sqlite3_column_type(s, column);
  return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(s, column) : otherwise;
}

/* Reads at most `most` numbers of a measurement. If there are more, *n is out of range, and the record will be refused.
 */
static int read_numbers(sqlite_store *store, int statement, int64_t id, double *out, size_t most, size_t *n,
                        clt_error *error) {
  sqlite3_stmt *s = find_statement(store, statement);
  *n = 0;
  if (s == NULL) return fail_sqlite(store, error);
  int step = sqlite3_bind_int64(s, 1, id) == SQLITE_OK ? sqlite3_step(s) : SQLITE_ERROR;
  for (; step == SQLITE_ROW && *n < most; step = sqlite3_step(s)) out[(*n)++] = column_number(s, 0, NAN);
  *n += step == SQLITE_ROW;
  int rc = step == SQLITE_ROW || step == SQLITE_DONE ? CLT_OK : fail_sqlite(store, error);
  release_statement(s);
  return rc;
}

static clt_store_description read_key(sqlite3_stmt *s, int first) {
  const char *texts[9];
  for (int i = 0; i < 9; i++) texts[i] = column_text(s, first + i);
  return clt_row_key(texts);
}

static int visit_identified(sqlite_store *store, const clt_store_description *d, clt_store_record *record,
                            clt_store_walk_visit visit, void *user, clt_error *error) {
  sqlite3_stmt *s = NULL;
  int step = SQLITE_DONE;
  record->own = true; /* if an earlier version added it */
  if (store->present & HAS_ORIGINS) {
    if ((s = find_statement(store, IDENTITY)) == NULL) return fail_sqlite(store, error);
    step = sqlite3_bind_int64(s, 1, record->number) == SQLITE_OK ? sqlite3_step(s) : SQLITE_ERROR;
  }
  if (step == SQLITE_ROW) {
    record->origin = column_text(s, 0);
    record->sequence = sqlite3_column_int64(s, 1);
    record->own = sqlite3_column_int64(s, 2) != 0;
  }
  int rc = step == SQLITE_ROW || step == SQLITE_DONE ? visit(user, d, record) : fail_sqlite(store, error);
  if (s) release_statement(s);
  return rc;
}

static int visit_row(sqlite_store *store, int walk, sqlite3_stmt *s, clt_store_walk_visit visit, void *user,
                     clt_error *error) {
  clt_measurement m;
  clt_row_begin(&m, column_text(s, 3), column_text(s, 5));
  m.time_s = column_number(s, 4, NAN);
  m.phases.build_s = column_number(s, 6, 0);
  m.phases.first_launch_s = column_number(s, 7, 0);
  m.phases.runs_s = column_number(s, 8, 0);
  m.phases.verify_s = column_number(s, 9, 0);
  m.phases.wait_s = column_number(s, 10, 0);
  m.max_abs_error = column_number(s, 11, NAN);
  m.log = (char *)sqlite3_column_text(s, 12); /* borrowed from the row */
  int64_t id = sqlite3_column_int64(s, 0);
  double figures[1 + CLT_MAX_RUNS], alone = 0;
  size_t n = 0, n_one;
  int rc = read_numbers(store, RUNS, id, m.runs_s, CLT_MAX_RUNS, &m.n_runs, error);
  const bool correct = m.reason == CLT_REASON_NONE;
  if (rc == CLT_OK && correct && (store->present & HAS_ENERGY))
    rc = read_numbers(store, ENERGY, id, &m.energy_J, 1, &n_one, error);
  if (rc == CLT_OK && correct && (store->present & HAS_FIGURE))
    rc = read_numbers(store, FIGURE, id, figures, 1 + CLT_MAX_RUNS, &n, error);
  if (rc == CLT_OK && (store->present & HAS_USE))
    rc = read_numbers(store, USE, id, (double *)&m.use, CLT_N_USE, &n_one, error);
  if (rc == CLT_OK && !correct && (store->present & HAS_CONFIRMED))
    rc = read_numbers(store, CONFIRMED, id, &alone, 1, &n_one, error);
  m.confirmed_alone = alone > 0;
  if (rc) return rc;
  clt_store_record record = {.created_s = sqlite3_column_int64(s, 13), .number = id};
  clt_row_end(&record, &m, column_text(s, 1), (const char *)sqlite3_column_text(s, 2), figures, n);
  if (walk != BY_NUMBER && walk != BY_NUMBER_OF_KEY) return visit(user, NULL, &record);
  const clt_store_description d = walk == BY_NUMBER ? read_key(s, 14) : (clt_store_description){0};
  return visit_identified(store, walk == BY_NUMBER ? &d : NULL, &record, visit, user, error);
}

/* All rows are read in one transaction, so the file is asked once, not for each record, whether it has energies,
 * figures or confirmed failures. */
/* number: only records with larger numbers; for keys: whether to count their records. */
static int walk_rows(sqlite_store *store, int id, const clt_store_key *key, int64_t number, clt_store_walk_visit visit,
                     void *user, clt_error *error) {
  sqlite3_stmt *s = find_statement(store, id);
  if (s == NULL) return fail_sqlite(store, error);
  const int place = id == KEYS ? 2 : 4;
  bool bound = id == KEYS ? bind_text(s, 1, key ? key->problem : NULL) : id == BY_NUMBER || bind_key(s, key);
  if (sqlite3_bind_parameter_count(s) >= place) bound = bound && sqlite3_bind_int64(s, place, number) == SQLITE_OK;
  int rc = CLT_OK, step = bound ? sqlite3_step(s) : SQLITE_ERROR;
  if (id != KEYS && step == SQLITE_ROW) rc = run_statement(store, PRESENT, &store->present, error, "");
  for (; rc == CLT_OK && step == SQLITE_ROW; step = rc ? step : sqlite3_step(s)) {
    clt_store_description d = id == KEYS ? read_key(s, 1) : (clt_store_description){0};
    d.n_records = (uint64_t)sqlite3_column_int64(s, 0);
    rc = id == KEYS ? visit(user, &d, NULL) : visit_row(store, id, s, visit, user, error);
  }
  if (rc == CLT_OK && step != SQLITE_DONE) rc = fail_sqlite(store, error);
  release_statement(s);
  return rc;
}

static int walk_sqlite(void *state, clt_store_order order, const clt_store_key *key, int64_t after,
                       clt_store_walk_visit visit, void *user, clt_error *error) {
  static const int ids[] = {KEYS, KEYS, OLDEST_FIRST, NEWEST_FIRST, FINALISTS, BY_NUMBER_OF_KEY};
  const int id = order == CLT_STORE_BY_NUMBER && key == NULL ? BY_NUMBER : ids[order];
  int rc = walk_rows(state, id, key, id == KEYS ? order == CLT_STORE_KEYS_COUNTED : after, visit, user, error);
  return rc || order != CLT_STORE_BEST_FIRST ? rc : walk_rows(state, FASTEST, key, 0, visit, user, error);
}

#define FUNCTIONS                                                                                      \
  .abi = CLT_STORE_ABI, .state_size = sizeof(sqlite_store), .open = open_sqlite, .add = add_to_sqlite, \
  .walk = walk_sqlite, .remove = remove_from_sqlite, .transaction = step_in_sqlite, .close = close_sqlite

const clt_store_type clt_store_sqlite = {
    .name = "sqlite",
    .summary = "one file, shared by processes; a record that was added survives a crash",
    .standard_file = CLT_STORE_FILE,
    FUNCTIONS,
};

const clt_store_type clt_store_memory = {
    .name = "memory",
    .summary = "kept only as long as it is open",
    FUNCTIONS,
};
