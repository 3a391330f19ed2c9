/* Repairing a damaged store: what can be read goes into a new file, and the damaged one is set aside, never
 * overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/store.h"

#define APPLICATION_ID_AT 68 /* in the file, big-endian: SQLite's file format, section 1.3 */
#define MOST_ROWS 100000000  /* numbers are looked up one by one */

/* --- opening what is damaged --- */

/* Opens a store's own file, path NULL: the standard one. *own is malloc'ed; *whole: SQLite finds nothing wrong.
 * The header is all that can be relied on: it says whether the file is a store. */
static int open_and_check(char **own, sqlite3 **db, bool *whole, const char *path, clt_error *error) {
  static const unsigned char id[4] = {CLT_APPLICATION_ID >> 24, CLT_APPLICATION_ID >> 16 & 0xff,
                                      CLT_APPLICATION_ID >> 8 & 0xff, CLT_APPLICATION_ID & 0xff};
  unsigned char header[100] = {0};
  int rc = path ? CLT_OK : clt_store_place(own, NULL, error);
  if (path && (*own = strdup(path)) == NULL) rc = clt_fail_memory(error);
  if (rc) return rc;
  int fd = open(*own, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return clt_fail_errno(error, CLT_E_STORE, "open the store", *own);
  ssize_t n = read(fd, header, sizeof header);
  close(fd);
  if (n != (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) != 0 ||
      memcmp(header + APPLICATION_ID_AT, id, sizeof id) != 0)
    return clt_fail(error, CLT_E_STORE, "'%s' is not a store, or its beginning is damaged; bring back a copy", *own);
  if (sqlite3_open_v2(*own, db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
    return *db ? clt_database_fail(error, *db, *own) : clt_fail_memory(error);
  sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* the damaged file stays as it is */
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
  char *own = NULL;
  int rc = open_and_check(&own, &db, whole, path, error);
  sqlite3_close(db);
  free(own);
  return rc;
}

/* --- copying what can still be read --- */

/* One table: how its last number is found, a row is read by its number, and written. last NULL: its rows follow those
 * of another table. */
typedef struct salvaged_table {
  const char *last[2], *read, *write;
} salvaged_table;

static const salvaged_table problems = {{"SELECT id FROM problem ORDER BY id", "SELECT max(id) FROM problem"},
                                        "SELECT id, hash, name, path, sizes FROM problem WHERE id = ?1",
                                        "INSERT OR IGNORE INTO problem VALUES(?1, ?2, ?3, ?4, ?5)"};
static const salvaged_table devices = {{"SELECT id FROM device ORDER BY id", "SELECT max(id) FROM device"},
                                       "SELECT id, key, driver, description FROM device WHERE id = ?1",
                                       "INSERT OR IGNORE INTO device VALUES(?1, ?2, ?3, ?4)"};
static const salvaged_table measurements = {
    {"SELECT id FROM measurement NOT INDEXED ORDER BY id", "SELECT max(id) FROM measurement NOT INDEXED"},
    "SELECT id, problem, device, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s, verify_s,"
    " wait_s, max_abs_error, log, created_s FROM measurement WHERE id = ?1",
    "INSERT OR IGNORE INTO measurement VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"};
static const salvaged_table runs = {{NULL, NULL},
                                    "SELECT measurement, position, time_s FROM run WHERE measurement = ?1",
                                    "INSERT OR IGNORE INTO run VALUES(?1, ?2, ?3)"};
static const salvaged_table energies = {{NULL, NULL},
                                        "SELECT measurement, energy_J FROM energy WHERE measurement = ?1",
                                        "INSERT OR IGNORE INTO energy VALUES(?1, ?2)"};
static const salvaged_table figures = {{NULL, NULL},
                                       "SELECT measurement, position, figure FROM figure WHERE measurement = ?1",
                                       "INSERT OR IGNORE INTO figure VALUES(?1, ?2, ?3)"};
#define N_FOLLOWERS 3

/* The statements of a copy. */
typedef struct copier {
  sqlite3_stmt *read, *write;
} copier;

/* False where they cannot be made: a table that is missing altogether. */
static bool prepare_copier(copier *out, sqlite3 *to, sqlite3 *from, const salvaged_table *t) {
  return sqlite3_prepare_v2(from, t->read, -1, &out->read, NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(to, t->write, -1, &out->write, NULL) == SQLITE_OK;
}

static void release_copier(copier *c) {
  sqlite3_finalize(c->read);
  sqlite3_finalize(c->write);
}

enum { CANNOT_WRITE = -1, CANNOT_READ = -2 };

/* Copies the rows that belong to a number: how many, or CANNOT_WRITE. A row that breaks a rule of the schema is
 * damaged, too. */
static int copy_rows(const copier *c, int64_t number) {
  int n = 0, columns = sqlite3_column_count(c->read);
  sqlite3_reset(c->read);
  sqlite3_bind_int64(c->read, 1, number);
  while (sqlite3_step(c->read) == SQLITE_ROW) {
    for (int i = 0; i < columns; i++) sqlite3_bind_value(c->write, i + 1, sqlite3_column_value(c->read, i));
    int rc = sqlite3_step(c->write);
    int changed = rc == SQLITE_DONE ? sqlite3_changes(sqlite3_db_handle(c->write)) : 0;
    sqlite3_reset(c->write);
    if (rc != SQLITE_DONE && rc != SQLITE_CONSTRAINT) return CANNOT_WRITE;
    n += changed;
  }
  return n;
}

/* Copies a table number by number, so that a damaged page costs its own rows only; what belongs to a row follows it
 * (followers without statements are left out). Returns 0, CANNOT_WRITE or CANNOT_READ. *n_lost: numbers without a row.
 */
static int copy_table(sqlite3 *to, sqlite3 *from, const salvaged_table *t, const copier followers[N_FOLLOWERS],
                      uint64_t *n_saved, uint64_t *n_lost) {
  copier own = {NULL, NULL};
  int64_t last = 0; /* the largest number of a row that can be read, from either end */
  for (size_t i = 0; i < 2; i++) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(from, t->last[i], -1, &statement, NULL) == SQLITE_OK)
      while (sqlite3_step(statement) == SQLITE_ROW)
        if (sqlite3_column_int64(statement, 0) > last) last = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
  }
  if (last > MOST_ROWS) last = MOST_ROWS;
  int n = prepare_copier(&own, to, from, t) || last == 0 ? 0 : CANNOT_READ;
  for (int64_t number = 1; n >= 0 && number <= last; number++) {
    n = copy_rows(&own, number);
    for (size_t i = 0; n > 0 && i < N_FOLLOWERS; i++)
      if (followers[i].write && copy_rows(&followers[i], number) < 0) n = CANNOT_WRITE;
    *n_saved += n > 0;
    *n_lost += n == 0;
  }
  release_copier(&own);
  return n < 0 ? n : 0;
}

/* from: a damaged store; to: an empty one. In one transaction. */
static int salvage(clt_store_repair_report *out, sqlite3 *to, const char *to_path, sqlite3 *from, clt_error *error) {
  static const copier nothing[N_FOLLOWERS] = {{NULL, NULL}};
  copier followers[N_FOLLOWERS] = {{NULL, NULL}};
  uint64_t ignored = 0;
  if (sqlite3_exec(to, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) return clt_database_fail(error, to, to_path);
  prepare_copier(&followers[0], to, from, &runs);
  prepare_copier(&followers[1], to, from, &energies);
  prepare_copier(&followers[2], to, from, &figures);
  int n = copy_table(to, from, &problems, nothing, &ignored, &ignored);
  if (n == 0) n = copy_table(to, from, &devices, nothing, &ignored, &ignored);
  if (n == 0) n = copy_table(to, from, &measurements, followers, &out->n_saved, &out->n_lost);
  if (n == 0 && out->n_saved == 0) n = CANNOT_READ;
  for (size_t i = 0; i < N_FOLLOWERS; i++) release_copier(&followers[i]);
  if (n == 0 && sqlite3_exec(to, "COMMIT", NULL, NULL, NULL) == SQLITE_OK) return CLT_OK;
  int rc = n == CANNOT_READ
               ? clt_fail(error, CLT_E_STORE, "nothing of the store can be read any more: %s", sqlite3_errmsg(from))
               : clt_database_fail(error, to, to_path);
  sqlite3_exec(to, "ROLLBACK", NULL, NULL, NULL);
  return rc;
}

/* --- changing places --- */

static const char *const side_files[] = {"", "-wal", "-shm"};

static void remove_fresh(const char *fresh) {
  for (size_t i = 0; i < 3; i++) {
    char *name = clt_format("%s%s", fresh, side_files[i]);
    if (name) unlink(name);
    free(name);
  }
}

static int repair_damaged(clt_store_repair_report *out, const char *path, sqlite3 **damaged, clt_error *error) {
  char *fresh = clt_format("%s.repaired", path);
  sqlite3 *db = NULL;
  if (fresh == NULL) return clt_fail_memory(error);
  remove_fresh(fresh); /* of a repair that was killed */
  int rc = clt_database_open(&db, fresh, error);
  if (rc == CLT_OK) rc = salvage(out, db, fresh, *damaged, error);
  if (sqlite3_close(db) != SQLITE_OK && rc == CLT_OK) /* folds its write-ahead log into it */
    rc = clt_fail(error, CLT_E_STORE, "cannot finish '%s'", fresh);
  sqlite3_close(*damaged); /* before the names change, by which it would remove its side files */
  *damaged = NULL;
  char *aside = out->set_aside; /* a name that is not taken: PATH.damaged, PATH.damaged-2, ... */
  bool is_free = false;
  for (int i = 1; rc == CLT_OK && i < 1000 && !is_free; i++) {
    const size_t capacity = sizeof out->set_aside;
    int n =
        i == 1 ? snprintf(aside, capacity, "%s.damaged", path) : snprintf(aside, capacity, "%s.damaged-%d", path, i);
    if (n < 0 || (size_t)n + 8 >= capacity) break;
    is_free = access(aside, F_OK) != 0 && errno == ENOENT;
  }
  if (rc == CLT_OK && !is_free)
    rc = clt_fail(error, CLT_E_STORE, "there is no free name beside '%s' for the damaged file", path);
  /* The damaged file and its side files leave together, then the new one comes in their place. */
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
  if (rc) remove_fresh(fresh);
  free(fresh);
  return rc;
}

int clt_store_repair(clt_store_repair_report *out, const char *path, clt_error *error) {
  sqlite3 *db = NULL;
  char *own = NULL;
  bool whole = false;
  clt_store_repair_report report = {0};
  int rc = open_and_check(&own, &db, &whole, path, error);
  if (rc == CLT_OK && !whole) rc = repair_damaged(&report, own, &db, error);
  sqlite3_close(db);
  free(own);
  if (rc == CLT_OK) *out = report;
  return rc;
}
