/* Mending a damaged store: what can be read goes into a new file, and the damaged one is set aside, never overwritten.
 */
#include <clatune/store.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/database.h"
#include "store/path.h"
#include "store/salvage.h"

#define APPLICATION_ID_AT 68 /* in the file, big-endian: SQLite's file format, section 1.3 */

static const char *const companions[] = {"", "-wal", "-shm"};

/* Whether the header, which is all that can be relied on, is a store's. */
static int check_header(const char *path, clt_error *error) {
  unsigned char header[100] = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return clt_fail_errno(error, CLT_E_STORE, "open the store", path);
  ssize_t n = read(fd, header, sizeof header);
  close(fd);
  static const unsigned char id[4] = {CLT_APPLICATION_ID >> 24, CLT_APPLICATION_ID >> 16 & 0xff,
                                      CLT_APPLICATION_ID >> 8 & 0xff, CLT_APPLICATION_ID & 0xff};
  if (n == (ssize_t)sizeof header && memcmp(header, "SQLite format 3", 16) == 0 &&
      memcmp(header + APPLICATION_ID_AT, id, sizeof id) == 0)
    return CLT_OK;
  return clt_fail(error, CLT_E_STORE, "'%s' is not a store, or its beginning is damaged; bring back a copy", path);
}

/* *whole: SQLite finds nothing wrong. */
static int check_content(bool *whole, sqlite3 *db, const char *path, clt_error *error) {
  sqlite3_stmt *statement = NULL;
  *whole = false;
  int rc = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
  if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
    *whole = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
  sqlite3_finalize(statement);
  if (rc == SQLITE_ROW || rc == SQLITE_CORRUPT || rc == SQLITE_ERROR || rc == SQLITE_NOTADB) return CLT_OK;
  return clt_database_fail(error, db, path);
}

static int open_damaged(sqlite3 **out, const char *path, clt_error *error) {
  int rc = check_header(path, error);
  if (rc) return rc;
  if (sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
    return *out ? clt_database_fail(error, *out, path) : clt_fail_memory(error);
  sqlite3_db_config(*out, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* the damaged file stays as it is */
  return CLT_OK;
}

static int own_path(char **out, const char *path, clt_error *error) {
  if (path == NULL) return clt_standard_path(out, CLT_STORE_FILE, error);
  *out = strdup(path);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_store_check(bool *whole, const char *path, clt_error *error) {
  sqlite3 *db = NULL;
  char *own = NULL;
  int rc = own_path(&own, path, error);
  if (rc == CLT_OK) rc = open_damaged(&db, own, error);
  if (rc == CLT_OK) rc = check_content(whole, db, own, error);
  sqlite3_close(db);
  free(own);
  return rc;
}

/* A name that is not taken: PATH.damaged, PATH.damaged-2, ... */
static int find_name(char *out, size_t capacity, const char *path, clt_error *error) {
  for (int i = 1; i < 1000; i++) {
    int n = i == 1 ? snprintf(out, capacity, "%s.damaged", path) : snprintf(out, capacity, "%s.damaged-%d", path, i);
    if (n < 0 || (size_t)n + 8 >= capacity) break;
    if (access(out, F_OK) != 0 && errno == ENOENT) return CLT_OK;
  }
  return clt_fail(error, CLT_E_STORE, "there is no free name beside '%s' for the damaged file", path);
}

static int move(const char *from, const char *to, bool must_exist, clt_error *error) {
  if (rename(from, to) == 0 || (!must_exist && errno == ENOENT)) return CLT_OK;
  return clt_fail_errno(error, CLT_E_STORE, "move the damaged store to", to);
}

/* The damaged file and its companions leave together, then the new one comes in their place. */
static int change_places(const char *path, const char *fresh, const char *aside, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 3; rc == CLT_OK && i-- > 0;) {
    char *from = clt_format("%s%s", path, companions[i]), *to = clt_format("%s%s", aside, companions[i]);
    rc = from && to ? move(from, to, i == 0, error) : clt_fail_memory(error);
    free(from);
    free(to);
  }
  return rc ? rc : move(fresh, path, true, error);
}

static void remove_fresh(const char *fresh) {
  for (size_t i = 0; i < 3; i++) {
    char *name = clt_format("%s%s", fresh, companions[i]);
    if (name) unlink(name);
    free(name);
  }
}

/* Into a new file, closed again: its write-ahead log is folded into it. */
static int save(clt_salvage_count *count, const char *fresh, sqlite3 *damaged, clt_error *error) {
  sqlite3 *db = NULL;
  remove_fresh(fresh); /* of a repair that was killed */
  int rc = clt_database_open(&db, fresh, error);
  if (rc == CLT_OK) rc = clt_salvage(count, db, fresh, damaged, error);
  if (sqlite3_close(db) != SQLITE_OK && rc == CLT_OK) rc = clt_fail(error, CLT_E_STORE, "cannot finish '%s'", fresh);
  return rc;
}

static int repair(clt_store_repair_report *out, const char *path, sqlite3 **damaged, clt_error *error) {
  clt_salvage_count count = {0};
  char *fresh = clt_format("%s.repaired", path);
  if (fresh == NULL) return clt_fail_memory(error);
  int rc = save(&count, fresh, *damaged, error);
  sqlite3_close(*damaged); /* before the names change, by which it would remove its companions */
  *damaged = NULL;
  if (rc == CLT_OK) rc = find_name(out->set_aside, sizeof out->set_aside, path, error);
  if (rc == CLT_OK) rc = change_places(path, fresh, out->set_aside, error);
  if (rc) remove_fresh(fresh);
  free(fresh);
  out->n_saved = count.saved;
  out->n_lost = count.lost;
  return rc;
}

int clt_store_repair(clt_store_repair_report *out, const char *path, clt_error *error) {
  sqlite3 *db = NULL;
  char *own = NULL;
  bool whole = false;
  clt_store_repair_report report = {0};
  int rc = own_path(&own, path, error);
  if (rc == CLT_OK) rc = open_damaged(&db, own, error);
  if (rc == CLT_OK) rc = check_content(&whole, db, own, error);
  if (rc == CLT_OK && !whole) rc = repair(&report, own, &db, error);
  sqlite3_close(db);
  free(own);
  if (rc == CLT_OK) *out = report;
  return rc;
}
