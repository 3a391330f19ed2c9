/* store/database.h - opening the store's SQLite file: refusing what is not ours, making what is not there, saying what
 * is wrong. */
#ifndef CLT_STORE_DATABASE_H
#define CLT_STORE_DATABASE_H

#include <clatune/error.h>
#include <sqlite3.h>

#define CLT_APPLICATION_ID 0x434c5445 /* "CLTE": marks the file as a store */

/* path "": in memory. *out is set also where opening fails, unless there is nothing to close. */
int clt_database_open(sqlite3 **out, const char *path, clt_error *error);

/* For reading alone: nothing is made. CLT_E_NOT_FOUND where there is no file, or nothing in it. */
int clt_database_open_to_read(sqlite3 **out, const char *path, clt_error *error);

/* A file that is opened to read may be older than some tables, which are then empty ones of this connection. */
void clt_database_complete(sqlite3 *db);

/* What is committed to a file that has left its place is lost with it, but can be read until it is closed: makes a copy
 * of all that it holds beside the place. malloc'ed; NULL where it cannot. */
char *clt_database_save(sqlite3 *db, const char *path);

/* CLT_E_STORE with what the last call on db says, in words for people, and what to do about it. */
int clt_database_fail(clt_error *error, sqlite3 *db, const char *path);

#endif
