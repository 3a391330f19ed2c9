/* Repairs a damaged store: copies all readable rows to a new file, and renames the damaged one, never overwriting a
 * file.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "store/database.h"
#include "store/pq.h"
#include "store/store.h"

/* In the file, big-endian: SQLite's file format, section 1.3. */
#define USER_VERSION_AT 60
#define APPLICATION_ID_AT 68
#define MOST_ROWS 100000000 /* numbers are looked up one by one */

/* --- opening a damaged file --- */

/* Opens a store's file; path NULL: the standard one. *own: its path, malloc'ed; *whole: SQLite finds no damage. Only
 * the header says whether the file is a store, and of which version. */
static int open_and_check(char **own, sqlite3 **db, bool *whole, int *version, const char *path, clt_error *error) {
  static const unsigned char id[4] = {CLT_APPLICATION_ID >> 24, CLT_APPLICATION_ID >> 16 & 0xff,
                                      CLT_APPLICATION_ID >> 8 & 0xff, CLT_APPLICATION_ID & 0xff};
  unsigned char header[100] = {0};
  if (clt_pq_is_url(path))
    return clt_fail(error, CLT_E_ARGUMENT,
                    "only a store in a file can be checked and repaired; for a database use the server's tools "
                    "(pg_amcheck, backups)");
  int rc = path ? CLT_OK : clt_store_place(own, NULL, error);
  if (path && (*own = strdup(path)) == NULL) rc = clt_fail_memory(error);
  if (rc) return rc;
  clt_error why = {0};
  size_t n = sizeof header;
  if (clt_file_read_start(header, &n, *own, &why)) return clt_fail(error, CLT_E_STORE, "%s", why.message);
  if (n != sizeof header || memcmp(header, "SQLite format 3", 16) != 0 ||
      memcmp(header + APPLICATION_ID_AT, id, sizeof id) != 0)
    return clt_fail(error, CLT_E_STORE, "'%s' is not a store, or its header is damaged; restore a backup", *own);
  *version = header[USER_VERSION_AT + 3];
  if (sqlite3_open_v2(*own, db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
    return *db ? clt_database_fail(error, *db, *own) : clt_fail_memory(error);
  sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* the damaged file must not change */
  sqlite3_stmt *statement = NULL;
  *whole = false;
  rc = sqlite3_prepare_v2(*db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
  if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
    *whole = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
  sqlite3_finalize(statement);
  if (rc == SQLITE_ROW || rc == SQLITE_CORRUPT || rc == SQLITE_ERROR || rc == SQLITE_NOTADB) return CLT_OK;
  return clt_database_fail(error, *db, *own);
}

int clt_store_check(bool *whole, const char *path, clt_error *error) {
  sqlite3 *db = NULL;
  int version;
  char *own = NULL;
  int rc = open_and_check(&own, &db, whole, &version, path, error);
  sqlite3_close(db);
  free(own);
  return rc;
}

/* --- copying readable rows --- */

static sqlite3_stmt *prepare_and_free(sqlite3 *db, char *text) {
  sqlite3_stmt *out = NULL;
  if (text) sqlite3_prepare_v2(db, text, -1, &out, NULL);
  sqlite3_free(text);
  return out;
}

/* The largest row number that can be read, scanning from either end. */
static int64_t find_last_row(sqlite3 *from, const char *table) {
  static const char *const ends[] = {"SELECT rowid FROM %s NOT INDEXED ORDER BY rowid",
                                     "SELECT max(rowid) FROM %s NOT INDEXED"};
  int64_t last = 0;
  for (size_t i = 0; i < 2; i++) {
    sqlite3_stmt *statement = prepare_and_free(from, sqlite3_mprintf(ends[i], table));
    while (statement && sqlite3_step(statement) == SQLITE_ROW)
      if (sqlite3_column_int64(statement, 0) > last) last = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
  }
  return last < MOST_ROWS ? last : MOST_ROWS;
}

/* Copies the rows with a number. Returns less than 0 if they cannot be written. A row that violates the schema counts
 * as damaged. */
static int copy_rows(sqlite3_stmt *read, sqlite3_stmt *write, int64_t number) {
  sqlite3_reset(read);
  sqlite3_bind_int64(read, 1, number);
  while (sqlite3_step(read) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(read); i++)
      sqlite3_bind_value(write, i + 1, sqlite3_column_value(read, i));
    int rc = sqlite3_step(write);
    sqlite3_reset(write);
    if (rc != SQLITE_DONE && rc != SQLITE_CONSTRAINT) return -1;
  }
  return 0;
}

/* Copies a table number by number, so that a damaged page only loses its own rows. first: the first column of `into`,
 * which is the row's number, or that of a row of the table it is named after. Skips tables that an older file lacks.
 * Returns less than 0 for an error. */
static int copy_table(sqlite3 *to, sqlite3 *from, const char *into, const char *table, const char *first) {
  static const char places[] = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";
  const bool is_own = strcmp(first, "id") == 0 || strcmp(first, "first") == 0;
  sqlite3_stmt *read = prepare_and_free(from, sqlite3_mprintf("SELECT * FROM %s WHERE %s = ?1", table, first));
  /* A store of this version may lack the last column, which stays NULL then. */
  sqlite3_stmt *all = prepare_and_free(to, sqlite3_mprintf("SELECT * FROM %s", into));
  const int n_columns = sqlite3_column_count(all);
  sqlite3_finalize(all);
  sqlite3_stmt *write =
      prepare_and_free(to, sqlite3_mprintf("INSERT OR IGNORE INTO %s VALUES(%.*s)", into, 3 * n_columns - 2, places));
  const int64_t last = read && write ? find_last_row(from, is_own ? table : first) : 0;
  int rc = 0;
  for (int64_t number = 1; rc >= 0 && number <= last; number++) rc = copy_rows(read, write, number);
  sqlite3_finalize(read);
  sqlite3_finalize(write);
  return rc;
}

/* Copies a damaged store to an empty one of this version. In one transaction, in the tables' order of creation: rows
 * come after those that they refer to. The rows of an older store are converted once they are copied. */
static int salvage(clt_store_repair_report *out, sqlite3 *to, const char *to_path, sqlite3 *from, int version,
                   clt_error *error) {
  static const char tables[] =
      "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type='table'"
      " AND t.name NOT IN ('file', 'old_file') AND (t.name GLOB 'old_*') = ?1 AND c.cid=0 ORDER BY t.rowid";
  const bool is_old = version < CLT_STORE_VERSION;
  sqlite3_stmt *table = NULL, *count = NULL;
  int rc = sqlite3_exec(to, is_old ? "PRAGMA foreign_keys=OFF; BEGIN IMMEDIATE" : "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (rc == SQLITE_OK && is_old) rc = clt_database_make_old(to);
  if (rc || sqlite3_prepare_v2(to, tables, -1, &table, NULL) || sqlite3_bind_int(table, 1, is_old))
    return clt_database_fail(error, to, to_path);
  while (rc >= 0 && sqlite3_step(table) == SQLITE_ROW) {
    const char *into = (const char *)sqlite3_column_text(table, 0);
    rc = copy_table(to, from, into, is_old ? into + strlen("old_") : into, (const char *)sqlite3_column_text(table, 1));
  }
  sqlite3_finalize(table);
  bool done = rc >= 0 && (!is_old || clt_database_convert_old(to) == SQLITE_OK) &&
              sqlite3_prepare_v2(to, "SELECT count(*) FROM measurement", -1, &count, NULL) == SQLITE_OK &&
              sqlite3_step(count) == SQLITE_ROW;
  const uint64_t n = done ? (uint64_t)sqlite3_column_int64(count, 0) : 0;
  const uint64_t last = (uint64_t)find_last_row(from, "measurement");
  sqlite3_finalize(count);
  const bool readable = !done || n > 0;
  done = done && readable && sqlite3_exec(to, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
  out->n_saved = n;
  out->n_lost = last > n ? last - n : 0;
  if (done) return CLT_OK;
  rc = readable ? clt_database_fail(error, to, to_path)
                : clt_fail(error, CLT_E_STORE, "nothing in the store is readable: %s; restore a backup",
                           sqlite3_errmsg(from));
  sqlite3_exec(to, "ROLLBACK", NULL, NULL, NULL);
  return rc;
}

/* --- replacing the file --- */

static const char *const side_files[] = {"", "-wal", "-shm"};

static int repair_damaged(clt_store_repair_report *out, const char *path, sqlite3 **damaged, int version,
                          clt_error *error) {
  char *fresh = clt_format("%s.repaired-%ld", path, (long)getpid());
  sqlite3 *db = NULL;
  if (fresh == NULL) return clt_fail_memory(error);
  if (access(fresh, F_OK) == 0) { /* perhaps of a killed repair, perhaps not ours */
    clt_fail(error, CLT_E_STORE, "'%s' exists already; move it elsewhere", fresh);
    return free(fresh), CLT_E_STORE;
  }
  int rc = clt_database_open(&db, fresh, error);
  if (rc == CLT_OK) rc = salvage(out, db, fresh, *damaged, version, error);
  if (sqlite3_close(db) != SQLITE_OK && rc == CLT_OK) /* closing merges the write-ahead log */
    rc = clt_fail(error, CLT_E_STORE, "cannot complete '%s'; check the free space on the disk", fresh);
  sqlite3_close(*damaged); /* before renaming: on closing, SQLite removes side files by name */
  *damaged = NULL;
  char *aside = out->set_aside; /* a free name: PATH.damaged, PATH.damaged-2, ... */
  bool is_free = false;
  for (int i = 1; rc == CLT_OK && i < 1000 && !is_free; i++) {
    const size_t capacity = sizeof out->set_aside;
    int n =
        i == 1 ? snprintf(aside, capacity, "%s.damaged", path) : snprintf(aside, capacity, "%s.damaged-%d", path, i);
    if (n < 0 || (size_t)n + 8 >= capacity) break;
    is_free = access(aside, F_OK) != 0 && errno == ENOENT;
  }
  if (rc == CLT_OK && !is_free)
    rc = clt_fail(error, CLT_E_STORE, "there are too many '%s.damaged' files; move some away", path);
  /* Rename the damaged file and its side files together, then move the new one into place. */
  for (size_t i = 3; rc == CLT_OK && i-- > 0;) {
    char *from = clt_format("%s%s", path, side_files[i]), *to = clt_format("%s%s", aside, side_files[i]);
    if (from == NULL || to == NULL)
      rc = clt_fail_memory(error);
    else if (rename(from, to) && (i == 0 || errno != ENOENT))
      rc = clt_fail_errno(error, CLT_E_STORE, "move the damaged store to", to);
    free(from);
    free(to);
  }
  if (rc == CLT_OK && rename(fresh, path)) rc = clt_fail_errno(error, CLT_E_STORE, "move the repaired store to", path);
  for (size_t i = 0; rc && i < 3; i++) {
    char *name = clt_format("%s%s", fresh, side_files[i]);
    if (name) unlink(name);
    free(name);
  }
  free(fresh);
  return rc;
}

int clt_store_repair(clt_store_repair_report *out, const char *path, clt_error *error) {
  sqlite3 *db = NULL;
  char *own = NULL;
  bool whole = false;
  int version = 0;
  clt_store_repair_report report = {0};
  int rc = open_and_check(&own, &db, &whole, &version, path, error);
  if (rc == CLT_OK && !whole) rc = repair_damaged(&report, own, &db, version, error);
  sqlite3_close(db);
  free(own);
  if (rc == CLT_OK) *out = report;
  return rc;
}
