/* A store in a file, or in memory. */
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "store/database.h"
#include "store/rows.h"

/* A row: id, own, whether that is the first record's, the record's columns, and those of its key. */
#define RECORDS                                                                                           \
  "SELECT m.id, m.own, m.own>1 AND m.own=(SELECT own FROM measurement WHERE key=m.key ORDER BY id LIMIT " \
  "1)" CLT_FIELDS(CLT_FIELD_SELECT, CLT_FIELD_WHOLE)
#define FIRST_FIELD 3
#define OF_KEY RECORDS " FROM measurement AS m" CLT_OF_KEY

#define STATEMENTS(ROW)                                                                                               \
  ROW(ADD_PROBLEM, "INSERT INTO problem(hash) VALUES($1) ON CONFLICT DO NOTHING")                                     \
  ROW(ADD_DEVICE, "INSERT INTO device(key, driver) VALUES($1, $2) ON CONFLICT DO NOTHING")                            \
  ROW(ADD_KEY,                                                                                                        \
      "INSERT INTO key(problem, device) SELECT p.id, d.id FROM problem AS p, device AS d"                             \
      " WHERE p.hash=$1 AND d.key=$2 AND d.driver=$3 ON CONFLICT DO NOTHING")                                         \
  ROW(ADD_RECORD,                                                                                                   \
      "INSERT INTO measurement(id, key, own" CLT_FIELDS(CLT_FIELD_NAME, CLT_FIELD_WHOLE) ")"                                         \
      " VALUES((SELECT 1+max(highest, ifnull((SELECT max(id) FROM measurement), 0)) FROM file), "                   \
      CLT_KEY_ID("$1", "$2", "$3") ", $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20," \
      " $21, $22, $23, $24, $25, $26) ON CONFLICT(origin, number) DO NOTHING") \
  ROW(DESCRIBE_PROBLEM, CLT_DESCRIBE_PROBLEM)                                                                         \
  ROW(DESCRIBE_DEVICE, CLT_DESCRIBE_DEVICE)                                                                           \
  ROW(DESCRIBE_TUNING, CLT_DESCRIBE_TUNING)                                                                           \
  ROW(OLDEST_FIRST, OF_KEY " AND m.id>$4 ORDER BY m.id")                                                              \
  ROW(NEWEST_FIRST, OF_KEY " AND m.id>$4 ORDER BY m.id DESC")                                                         \
  ROW(FINALISTS, RECORDS " FROM measurement AS m" CLT_FINALISTS " ORDER BY m.id")                                     \
  ROW(FASTEST, RECORDS " FROM measurement AS m" CLT_CORRECT_ONES CLT_BY_SPEED)                                        \
  ROW(BY_NUMBER, RECORDS CLT_KEY_COLUMNS " FROM measurement AS m JOIN key AS k ON k.id=m.key" CLT_KEY_NAMES           \
                                         " WHERE m.id>$1 ORDER BY m.id")                                              \
  ROW(KEYS, "SELECT CASE WHEN $1 THEN (SELECT count(*) FROM measurement WHERE key=k.id) ELSE 0 END" CLT_KEY_COLUMNS   \
            " FROM key AS k" CLT_KEY_NAMES                                                                            \
            " WHERE p.hash BETWEEN ifnull($2, '') AND ifnull($2, x'')"                                                \
            " AND EXISTS(SELECT 1 FROM measurement WHERE key=k.id)"                                                   \
            " ORDER BY (SELECT min(id) FROM measurement WHERE key=k.id)")                                             \
  ROW(FILE_ID, "SELECT id FROM file")                                                                                 \
  ROW(VERSION, "PRAGMA data_version")                                                                                 \
  ROW(COUNT, CLT_COUNT_SELECTED)                                                                                      \
  ROW(REMEMBER_HIGHEST, "UPDATE file SET highest=max(highest, ifnull((SELECT max(id) FROM measurement), 0))")         \
  ROW(FORGET, "DELETE FROM measurement WHERE origin=$1 AND number=$2 AND (own<>1 OR $3)")                             \
  ROW(REMOVE, "DELETE FROM measurement WHERE id IN (SELECT m.id FROM measurement AS m" CLT_SELECTED ")")              \
  ROW(LACKS_NUMBERS, "SELECT EXISTS(SELECT 1 FROM measurement WHERE origin='' AND number<0)")                         \
  ROW(WITHOUT_NUMBER, RECORDS CLT_KEY_COLUMNS " FROM measurement AS m JOIN key AS k ON k.id=m.key" CLT_KEY_NAMES      \
                                              " WHERE m.origin='' AND m.number<0 ORDER BY m.id")                      \
  ROW(SET_NUMBER, "UPDATE OR IGNORE measurement SET number=$1 WHERE id=$2")

#define ID(id, text) id,
#define TEXT(id, text) text,
enum { STATEMENTS(ID) N_STATEMENTS };
static const char *const statement_texts[N_STATEMENTS] = {STATEMENTS(TEXT)};

typedef struct sqlite_store {
  const char *path;
  sqlite3 *db;
  sqlite3_stmt *statements[N_STATEMENTS]; /* NULL: not needed yet */
  bool in_transaction;                    /* started by the caller */
  bool to_read, left_place;               /* left_place: the file was deleted or replaced */
  clt_map counts;                         /* for clt_record_identify */
} sqlite_store;

static int fail_sqlite(const sqlite_store *store, clt_error *error) {
  return clt_database_fail(error, store->db, store->path);
}

/* --- statements --- */

/* NULL if it cannot be prepared. */
static sqlite3_stmt *find_statement(sqlite_store *store, int id) {
  sqlite3_stmt **s = &store->statements[id];
  if (*s == NULL) sqlite3_prepare_v3(store->db, statement_texts[id], -1, SQLITE_PREPARE_PERSISTENT, s, NULL);
  return *s;
}

static bool bind_text(sqlite3_stmt *s, int place, const char *text) { /* lives until the statement is reset */
  return sqlite3_bind_text(s, place, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_key(sqlite3_stmt *s, const clt_store_key *key) {
  return bind_text(s, 1, key->problem) && bind_text(s, 2, key->device) && bind_text(s, 3, key->driver);
}

static bool bind_field(sqlite3_stmt *s, int place, const clt_field *f) {
  switch (f->type) {
    case 't': return bind_text(s, place, f->text);
    case 'w': return sqlite3_bind_int64(s, place, f->whole) == SQLITE_OK;
    case 'n': return sqlite3_bind_double(s, place, f->number) == SQLITE_OK; /* NaN is NULL */
    default:
      return sqlite3_bind_blob(s, place, f->numbers, (int)(f->n * sizeof *f->numbers), SQLITE_STATIC) == SQLITE_OK;
  }
}

static void release_statement(sqlite3_stmt *s) {
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
}

/* Runs a statement with the values of its parameters: 'k' a clt_store_key * (three parameters), 't' a text (NULL is
 * NULL), 'w' an int64_t, 'r' a clt_record_row * (CLT_N_FIELDS parameters). It returns no rows, or, with out, one whole
 * number. The error must be read before the reset. */
static int run_statement(sqlite_store *store, int id, uint64_t *out, clt_error *error, const char *places, ...) {
  sqlite3_stmt *s = find_statement(store, id);
  va_list values;
  bool bound = true;
  int place = 1;
  if (s == NULL) return fail_sqlite(store, error);
  va_start(values, places);
  for (; *places && bound; places++, place++) {
    const clt_store_key *key;
    const clt_record_row *row;
    switch (*places) {
      case 'k':
        key = va_arg(values, const clt_store_key *);
        bound = bind_text(s, place, key->problem) && bind_text(s, place + 1, key->device) &&
                bind_text(s, place + 2, key->driver);
        place += 2;
        break;
      case 't': bound = bind_text(s, place, va_arg(values, const char *)); break;
      case 'w': bound = sqlite3_bind_int64(s, place, va_arg(values, int64_t)) == SQLITE_OK; break;
      default:
        row = va_arg(values, const clt_record_row *);
        for (int i = 0; i < CLT_N_FIELDS && bound; i++) bound = bind_field(s, place + i, &row->fields[i]);
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

/* --- reading: the file is not trusted --- */

static const char *row_text(const void *row, int column) {
  return (const char *)sqlite3_column_text((sqlite3_stmt *)row, column);
}

static int64_t row_whole(const void *row, int column) { return sqlite3_column_int64((sqlite3_stmt *)row, column); }

static double row_number(const void *row, int column) {
  const int type = sqlite3_column_type((sqlite3_stmt *)row, column);
  const bool is_number = type == SQLITE_FLOAT || type == SQLITE_INTEGER;
  return is_number ? sqlite3_column_double((sqlite3_stmt *)row, column) : NAN;
}

static size_t row_numbers(const void *row, int column, double *out, size_t most) {
  sqlite3_stmt *s = (sqlite3_stmt *)row;
  const int type = sqlite3_column_type(s, column);
  if (type == SQLITE_NULL) return 0;
  const void *blob = type == SQLITE_BLOB ? sqlite3_column_blob(s, column) : NULL;
  const size_t bytes = (size_t)sqlite3_column_bytes(s, column), n = bytes / sizeof *out;
  if (blob) memcpy(out, blob, (n < most ? n : most) * sizeof *out);
  return type == SQLITE_BLOB && bytes % sizeof *out == 0 && n <= most ? n : most + 1;
}

static const clt_row_type row_type = {row_text, row_whole, row_number, row_numbers};

/* number: only records with larger numbers; for keys: whether to count their records. */
static int walk_rows(sqlite_store *store, int id, const clt_store_key *key, int64_t number, clt_store_walk_visit visit,
                     void *user, clt_error *error) {
  sqlite3_stmt *s = find_statement(store, id);
  if (s == NULL) return fail_sqlite(store, error);
  const bool with_key = id == BY_NUMBER || id == WITHOUT_NUMBER, is_of_key = id != KEYS && !with_key;
  const int place = is_of_key ? 4 : 1;
  bool bound = is_of_key ? bind_key(s, key) : id != KEYS || bind_text(s, 2, key ? key->problem : NULL);
  if (sqlite3_bind_parameter_count(s) >= place) bound = bound && sqlite3_bind_int64(s, place, number) == SQLITE_OK;
  int rc = CLT_OK, step = bound ? sqlite3_step(s) : SQLITE_ERROR;
  for (; rc == CLT_OK && step == SQLITE_ROW; step = rc ? step : sqlite3_step(s)) {
    if (id == KEYS) {
      clt_store_description d = clt_row_key(&row_type, s, 1);
      d.n_records = (uint64_t)sqlite3_column_int64(s, 0);
      rc = visit(user, &d, NULL);
    } else {
      const clt_store_record known = {.number = sqlite3_column_int64(s, 0),
                                      .own = sqlite3_column_int64(s, 1) == 1,
                                      .voice = sqlite3_column_int64(s, 1) > 1 ? sqlite3_column_int64(s, 1) : 0,
                                      .is_first = sqlite3_column_int(s, 2) != 0};
      rc = clt_row_visit(&row_type, s, FIRST_FIELD, known, with_key, visit, user);
    }
  }
  if (rc == CLT_OK && step != SQLITE_DONE) rc = fail_sqlite(store, error);
  release_statement(s);
  return rc;
}

static int walk_sqlite(void *state, clt_store_order order, const clt_store_key *key, const char *configuration,
                       int64_t after, clt_store_walk_visit visit, void *user, clt_error *error) {
  (void)configuration;
  static const int ids[] = {KEYS, KEYS, OLDEST_FIRST, NEWEST_FIRST, FINALISTS, OLDEST_FIRST};
  const int id = order == CLT_STORE_BY_NUMBER && key == NULL ? BY_NUMBER : ids[order];
  int rc = walk_rows(state, id, key, id == KEYS ? order == CLT_STORE_KEYS_COUNTED : after, visit, user, error);
  return rc || order != CLT_STORE_BEST_FIRST ? rc : walk_rows(state, FASTEST, key, 0, visit, user, error);
}

/* --- opening --- */

typedef struct numbering {
  sqlite_store *store;
  clt_map counts;
  clt_error *error;
} numbering;

static int set_number(void *user, const clt_store_description *d, const clt_store_record *record) {
  numbering *n = user;
  clt_store_record known = *record;
  if (!clt_record_plausible(record)) return CLT_OK;
  if (clt_record_identify(&known, &d->key, &n->counts)) return clt_fail_memory(n->error);
  return run_statement(n->store, SET_NUMBER, NULL, n->error, "ww", known.sequence, record->number);
}

/* Gives the records of files of version 1 the identities that depend on their content (convert.c). */
static int number_old_records(sqlite_store *store, clt_error *error) {
  numbering n = {.store = store, .error = error};
  uint64_t lacks = 0;
  int rc = run_statement(store, LACKS_NUMBERS, &lacks, error, "");
  if (rc || !lacks) return rc;
  if (store->to_read) sqlite3_exec(store->db, "PRAGMA query_only=OFF", NULL, NULL, NULL); /* it has a copy */
  rc = run_text(store, "BEGIN IMMEDIATE", error);
  if (rc) return rc;
  rc = walk_rows(store, WITHOUT_NUMBER, NULL, 0, set_number, &n, error);
  clt_map_release(&n.counts);
  const int ended = run_text(store, rc ? "ROLLBACK" : "COMMIT", error);
  if (store->to_read) sqlite3_exec(store->db, "PRAGMA query_only=ON", NULL, NULL, NULL);
  return rc ? rc : ended;
}

/* Prepares all statements for a writer, so that a missing table is noticed before anything is measured. A reader needs
 * few and prepares them on demand: preparing takes longer than a look-up. */
static int open_sqlite(void *state, const char *path, bool to_read, clt_error *error) {
  sqlite_store *store = state;
  bool is_converted = false;
  store->path = path;
  store->to_read = to_read = to_read && path[0]; /* "": in memory */
  int rc = to_read ? clt_database_open_to_read(&store->db, path, &is_converted, error)
                   : clt_database_open(&store->db, path, error);
  for (int i = 0; rc == CLT_OK && !to_read && i < N_STATEMENTS; i++)
    if (find_statement(store, i) == NULL) rc = fail_sqlite(store, error);
  return rc == CLT_OK && (is_converted || !to_read) ? number_old_records(store, error) : rc;
}

static void close_sqlite(void *state) {
  sqlite_store *store = state;
  for (int i = 0; i < N_STATEMENTS; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  clt_map_release(&store->counts);
}

/* --- transactions --- */

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

static int add_record(sqlite_store *store, const clt_store_key *key, const clt_store_record *record, uint64_t *n_added,
                      clt_error *error) {
  clt_record_row row;
  clt_store_record known = *record;
  if (record->origin == NULL && clt_record_identify(&known, key, &store->counts)) return clt_fail_memory(error);
  clt_record_row_make(&row, &known);
  int rc = run_statement(store, ADD_RECORD, NULL, error, "kwr", key, record->own ? 1 : record->voice, &row);
  if (rc == CLT_OK && n_added) *n_added += sqlite3_changes(store->db) > 0;
  return rc;
}

static int add_to_sqlite(void *state, const clt_store_description *d, const clt_store_record *record, uint64_t *n_added,
                         clt_error *error) {
  sqlite_store *store = state;
  const clt_store_key *key = &d->key;
  const char *kernel = d->kernel && d->kernel[0] ? d->kernel : NULL;
  int rc = begin_writing(store, error);
  if (rc) return rc;
  rc = run_statement(store, ADD_PROBLEM, NULL, error, "t", key->problem);
  if (rc == CLT_OK) rc = run_statement(store, ADD_DEVICE, NULL, error, "tt", key->device, key->driver);
  if (rc == CLT_OK) rc = run_statement(store, ADD_KEY, NULL, error, "k", key);
  if (rc == CLT_OK && (d->problem_name || d->problem_path || d->sizes || kernel))
    rc = run_statement(store, DESCRIBE_PROBLEM, NULL, error, "ttttt", d->problem_name, d->problem_path, d->sizes,
                       kernel, key->problem);
  if (rc == CLT_OK && d->device_json)
    rc = run_statement(store, DESCRIBE_DEVICE, NULL, error, "ttt", d->device_json, key->device, key->driver);
  if (rc == CLT_OK && d->tuning_json && d->tuning_json[0])
    rc = run_statement(store, DESCRIBE_TUNING, NULL, error, "tk", d->tuning_json, key);
  if (rc == CLT_OK && record) rc = add_record(store, key, record, n_added, error);
  return end_writing(store, rc, error);
}

static int remove_from_sqlite(void *state, const clt_store_description *d, int64_t before_s, bool count_only,
                              uint64_t *n, clt_error *error) {
  sqlite_store *store = state;
  int rc = count_only ? CLT_OK : begin_writing(store, error);
  if (rc) return rc;
  rc = run_statement(store, COUNT, n, error, "kw", &d->key, before_s);
  if (count_only) return rc;
  if (rc == CLT_OK) rc = run_statement(store, REMEMBER_HIGHEST, NULL, error, "");
  if (rc == CLT_OK) rc = run_statement(store, REMOVE, NULL, error, "kw", &d->key, before_s);
  return end_writing(store, rc, error);
}

int clt_store_forget(clt_store *store, const char *origin, int64_t sequence, bool own_too, clt_error *error) {
  int rc = begin_writing(store->state, error);
  if (rc) return rc;
  rc = run_statement(store->state, REMEMBER_HIGHEST, NULL, error, "");
  if (rc == CLT_OK) rc = run_statement(store->state, FORGET, NULL, error, "tww", origin, sequence, (int64_t)own_too);
  return end_writing(store->state, rc, error);
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
