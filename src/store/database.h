/* store/database.h - opens the store's SQLite file: refuses other programs' databases, creates missing files and
 * tables, and turns SQLite's errors into messages. */
#pragma once

#include <clatune/error.h>
#include <sqlite3.h>
#include <stdbool.h>

#define CLT_STORE_VERSION 3
#define CLT_APPLICATION_ID 0x434c5445 /* "CLTE": marks the file as a store */

/* Opens or creates a store; path "": in memory. *out may be set on failure, too: then it must be closed. */
int clt_database_open(sqlite3 **out, const char *path, clt_error *error);

/* Opens for reading only and creates nothing. *is_converted: the file has an older version, and what is read is a
 * converted copy. CLT_E_NOT_FOUND: there is no file, or it is empty. */
int clt_database_open_to_read(sqlite3 **out, const char *path, bool *is_converted, clt_error *error);

/* --- convert.c --- */

extern const char clt_store_schema[]; /* SQL that creates the tables */

/* Converts an older store to this version, within the caller's transaction. as_copy: the file stays as it is, and the
 * converted tables are temporary ones of this connection. Records without an identity get the origin "" and a negative
 * number, and sqlite.c numbers them. Returns SQLite's result code. */
int clt_database_convert(sqlite3 *db, bool as_copy);

/* Whether a store of this version has the column `state`, and adds it; as_copy as above. Returns SQLite's result code.
 */
bool clt_database_is_complete(sqlite3 *db);
int clt_database_complete(sqlite3 *db, bool as_copy);

/* Its steps, for a repair: makes the old tables, called old_NAME, and, after they were filled, adds their rows to the
 * empty tables of this version and drops them. */
int clt_database_make_old(sqlite3 *db);
int clt_database_convert_old(sqlite3 *db);

/* Rescues a store whose file was deleted or replaced while it is open: copies its content to a new file next to the old
 * path. Returns the copy's path, malloc'ed; NULL if that failed. */
char *clt_database_save(sqlite3 *db, const char *path);

/* CLT_E_STORE with a message for the last error on db and what to do about it. */
int clt_database_fail(clt_error *error, sqlite3 *db, const char *path);
