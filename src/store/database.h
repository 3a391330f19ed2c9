/* store/database.h - opens the store's SQLite file: refuses other programs' databases, creates missing files and
 * tables, and turns SQLite's errors into messages. */
#ifndef CLT_STORE_DATABASE_H
#define CLT_STORE_DATABASE_H

#include <clatune/error.h>
#include <sqlite3.h>

#define CLT_APPLICATION_ID 0x434c5445 /* "CLTE": marks the file as a store */

/* Opens or creates a store; path "": in memory. *out may be set on failure, too: then it must be closed. */
int clt_database_open(sqlite3 **out, const char *path, clt_error *error);

/* Opens for reading only and creates nothing. CLT_E_NOT_FOUND: there is no file, or it is empty. */
int clt_database_open_to_read(sqlite3 **out, const char *path, clt_error *error);

/* Creates tables that an older file lacks as empty temporary ones of a read-only connection. */
void clt_database_complete(sqlite3 *db);

/* Rescues a store whose file was deleted or replaced while it is open: copies its content to a new file next to the old
 * path. Returns the copy's path, malloc'ed; NULL if that failed. */
char *clt_database_save(sqlite3 *db, const char *path);

/* CLT_E_STORE with a message for the last error on db and what to do about it. */
int clt_database_fail(clt_error *error, sqlite3 *db, const char *path);

#endif
