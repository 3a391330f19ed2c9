#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"

#define BUSY_TIMEOUT_MS 30000
#define MAX_VALUE_BYTES (16 << 20) /* of a text; the file is not trusted */

static const char new_file[] = "INSERT INTO file VALUES(random(), 0); PRAGMA application_id=" CLT_TEXT_OF(
    CLT_APPLICATION_ID) "; PRAGMA user_version=" CLT_TEXT_OF(CLT_STORE_VERSION);

static int fail_read_only(clt_error *error, const char *path) {
  return clt_fail(
      error, CLT_E_STORE,
      "the store '%s' is read-only; make the file and its folder writable, or choose another one with --store", path);
}

static int fail_full(clt_error *error, const char *path, const char *text) {
  return clt_fail(error, CLT_E_STORE, "cannot write to the store '%s' (%s); free some space on the disk", path, text);
}

int clt_database_fail(clt_error *error, sqlite3 *db, const char *path) {
  const char *text = sqlite3_errmsg(db);
  int cause = sqlite3_system_errno(db);
  switch (sqlite3_errcode(db)) {
    case SQLITE_NOMEM: return clt_fail_memory(error);
    case SQLITE_READONLY: return fail_read_only(error, path);
    case SQLITE_NOTADB:
      return clt_fail(error, CLT_E_STORE, "'%s' is not a store (%s); it was not changed, choose another file", path,
                      text);
    case SQLITE_FULL: return fail_full(error, path, text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return clt_fail(error, CLT_E_STORE, "the store '%s' is locked by another program (%s); try again later", path,
                      text);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a missing table or column */
      return clt_fail(error, CLT_E_STORE,
                      "the store '%s' is damaged (%s); 'clatune store repair' saves what can be read", path, text);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      if (cause == ENOSPC || cause == EDQUOT) return fail_full(error, path, strerror(cause));
      return clt_fail(error, CLT_E_STORE, "cannot use the store '%s': %s (%s)", path, text,
                      cause ? strerror(cause) : "unknown cause");
    default: return clt_fail(error, CLT_E_STORE, "cannot use the store '%s': %s", path, text);
  }
}

static int execute(sqlite3 *db, const char *path, const char *sql, clt_error *error) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? CLT_OK : clt_database_fail(error, db, path);
}

/* Checks that the file is a store of a known version, or empty (*version 0); with `create`, upgrades it to this
 * version. In one transaction, so that another process that creates the same store at the same time is seen completely
 * or not at all. */
static int check_or_create(sqlite3 *db, const char *path, bool create, int64_t *of_version, clt_error *error) {
  static const char question[] =
      "SELECT (SELECT count(*) FROM sqlite_master), application_id, user_version"
      " FROM pragma_application_id, pragma_user_version";
  sqlite3_stmt *statement = NULL;
  int rc = execute(db, path, create ? "BEGIN IMMEDIATE" : "BEGIN", error);
  if (rc) return rc;
  if (sqlite3_prepare_v2(db, question, -1, &statement, NULL) || sqlite3_step(statement) != SQLITE_ROW)
    rc = clt_database_fail(error, db, path);
  const int64_t n_objects = rc ? 0 : sqlite3_column_int64(statement, 0);
  const int64_t id = rc ? 0 : sqlite3_column_int64(statement, 1), version = rc ? 0 : sqlite3_column_int64(statement, 2);
  sqlite3_finalize(statement);
  const bool empty = n_objects == 0 && id == 0 && version == 0;
  *of_version = version;
  if (rc == CLT_OK && !empty && id != CLT_APPLICATION_ID)
    rc = clt_fail(error, CLT_E_STORE, "'%s' is a database of another program; it was not changed, choose another file",
                  path);
  if (rc == CLT_OK && version > CLT_STORE_VERSION)
    rc = clt_fail(error, CLT_E_STORE,
                  "the store '%s' was written by a newer clatune (store version %lld, this one knows %d); "
                  "update clatune or choose another file",
                  path, (long long)version, CLT_STORE_VERSION);
  if (rc == CLT_OK && !empty && version < 1)
    rc = clt_fail(error, CLT_E_STORE, "the store '%s' is damaged (version %lld); move it to another name", path,
                  (long long)version);
  if (rc == CLT_OK && empty && create) rc = execute(db, path, clt_store_schema, error);
  if (rc == CLT_OK && empty && create) rc = execute(db, path, new_file, error);
  if (rc == CLT_OK && !empty && version < CLT_STORE_VERSION && create && clt_database_convert(db, false))
    rc = clt_database_fail(error, db, path);
  const bool is_incomplete = version == CLT_STORE_VERSION && !clt_database_is_complete(db);
  if (rc == CLT_OK && is_incomplete && create && clt_database_complete(db, false))
    rc = clt_database_fail(error, db, path);
  if (rc == CLT_OK && create) rc = execute(db, path, "COMMIT", error);
  /* After a failure the connection is closed, so SQLite's message is read first. */
  if (create ? rc != CLT_OK : rc == CLT_OK) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return rc;
}

/* If two processes create the same store, SQLite returns "busy" here without calling its busy handler, because one of
 * them must yield. */
static int use_wal(sqlite3 *db, const char *path, clt_error *error) {
  const double deadline_s = clt_now_s() + BUSY_TIMEOUT_MS * 1e-3;
  for (;;) {
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode=WAL", -1, &statement, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    bool on = rc == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    if (on) return CLT_OK;
    if (rc == SQLITE_ROW)
      return clt_fail(
          error, CLT_E_STORE,
          "the file system of the store '%s' does not support SQLite's write-ahead log; choose a file on a local disk",
          path);
    if ((rc & 0xff) != SQLITE_BUSY || clt_now_s() >= deadline_s) return clt_database_fail(error, db, path);
    sqlite3_sleep(1);
  }
}

/* The file is not trusted: triggers and views in it are disabled. */
static void harden(sqlite3 *db) {
  sqlite3_extended_result_codes(db, 0);
  sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
}

/* SQLite would block on a FIFO, and treat a device as an empty database. */
static int check_regular(const char *path, clt_error *error) {
  struct stat status;
  return stat(path, &status) || S_ISREG(status.st_mode)
             ? CLT_OK
             : clt_fail(error, CLT_E_STORE, "cannot open the store '%s': not a regular file; choose another one", path);
}

int clt_database_open(sqlite3 **out, const char *path, clt_error *error) {
  /* Created here rather than by SQLite, for its mode, which -wal and -shm then share. An existing file is never opened
   * here: closing the descriptor would drop the locks of another connection of this process. */
  const bool in_memory = path[0] == '\0';
  if (check_regular(path, error)) return CLT_E_STORE;
  int fd = in_memory ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (!in_memory && fd < 0 && errno != EEXIST) return clt_fail_errno(error, CLT_E_STORE, "create the store", path);
  if (fd >= 0) close(fd);
  if (sqlite3_open_v2(in_memory ? ":memory:" : path, out, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
    return *out ? clt_database_fail(error, *out, path) : clt_fail_memory(error);
  sqlite3 *db = *out;
  harden(db);
  int64_t version = 0;
  int rc = check_or_create(db, path, false, &version, error);
  if (rc == CLT_OK && sqlite3_db_readonly(db, "main")) rc = fail_read_only(error, path);
  if (rc == CLT_OK && !in_memory) rc = use_wal(db, path, error);
  const bool is_older = version < CLT_STORE_VERSION || !clt_database_is_complete(db);
  if (rc == CLT_OK && is_older) rc = check_or_create(db, path, true, &version, error);
  if (rc == CLT_OK)
    rc = execute(db, path, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON", error);
  return rc;
}

/* --- opening to read --- */

static int open_one_way(sqlite3 **out, const char *path, bool immutable, bool *is_converted, clt_error *error) {
  clt_text text = {0};
  char *uri = NULL;
  int64_t version = 0;
  clt_text_add(&text, "file:");
  for (const char *c = path; *c; c++)
    if (strchr("%?#", *c))
      clt_text_printf(&text, "%%%02x", (unsigned char)*c);
    else
      clt_text_add_bytes(&text, c, 1);
  clt_text_add(&text, immutable ? "?immutable=1" : "?mode=rw");
  int rc = clt_text_take(&uri, &text, error);
  if (rc) return rc;
  /* A process that may write removes the log's files when the store is closed; SQLite falls back to reading by
   * itself. */
  int flags = immutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  int failed = sqlite3_open_v2(uri, out, flags | SQLITE_OPEN_URI, NULL);
  free(uri);
  if (failed) return *out ? clt_database_fail(error, *out, path) : clt_fail_memory(error);
  harden(*out);
  rc = check_or_create(*out, path, false, &version, error);
  if (rc == CLT_OK && version == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "the store '%s' is empty; 'clatune tune' fills it", path);
  *is_converted = version < CLT_STORE_VERSION;
  if (rc == CLT_OK && *is_converted && clt_database_convert(*out, true)) rc = clt_database_fail(error, *out, path);
  if (rc == CLT_OK && !*is_converted && !clt_database_is_complete(*out) && clt_database_complete(*out, true))
    rc = clt_database_fail(error, *out, path);
  return rc ? rc : execute(*out, path, "PRAGMA query_only=ON", error);
}

/* If SQLite cannot create the files of the write-ahead log, no other process is writing either. */
int clt_database_open_to_read(sqlite3 **out, const char *path, bool *is_converted, clt_error *error) {
  clt_error why = {0};
  struct stat status;
  if (stat(path, &status) && errno == ENOENT) return clt_fail(error, CLT_E_NOT_FOUND, "there is no store '%s'", path);
  if (check_regular(path, error)) return CLT_E_STORE;
  int rc = open_one_way(out, path, false, is_converted, &why);
  int cause = *out ? sqlite3_errcode(*out) : SQLITE_OK;
  if (rc && (cause == SQLITE_CANTOPEN || cause == SQLITE_READONLY)) {
    sqlite3_close(*out);
    *out = NULL;
    return open_one_way(out, path, true, is_converted, error);
  }
  return rc ? clt_fail(error, rc, "%s", why.message) : CLT_OK;
}

char *clt_database_save(sqlite3 *db, const char *path) {
  sqlite3_stmt *statement = NULL;
  char *copy = clt_format("%s.saved-XXXXXX", path), *folder = copy ? clt_path_folder(copy) : NULL;
  int fd = folder && clt_folder_make(folder, NULL) == CLT_OK ? mkstemp(copy) : -1;
  bool saved = fd >= 0 && sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_bind_text(statement, 1, copy, -1, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  if (fd >= 0) close(fd);
  if (fd >= 0 && !saved) unlink(copy);
  free(folder);
  if (saved) return copy;
  free(copy);
  return NULL;
}
