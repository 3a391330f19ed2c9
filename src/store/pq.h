/* store/pq.h - a connection to PostgreSQL. Adds to libpq: deadlines, prepared statements, texts of any bytes,
 * repetition after a lost connection, and helpful messages. Hides libpq, so that its users also build without it; then
 * clt_pq_new fails.
 *
 * Each statement runs in its own transaction. After a lost connection it is not known whether it was carried out, so it
 * is run again; therefore it must be repeatable, as the functions of schema.sql are. Names are searched in the schemas
 * pg_catalog and clatune only. */
#pragma once

#include <clatune/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef struct clt_pq clt_pq;         /* to be used by one thread at a time */
typedef struct pg_result clt_pq_rows; /* the rows of a statement's result */

/* Whether a --store is a database's URL: it begins with postgresql:// or postgres://. False for NULL. */
bool clt_pq_is_url(const char *path);

/* The URL without a password, for messages. malloc'ed. */
int clt_pq_shown(char **out, const char *url, clt_error *error);

/* PostgreSQL only stores UTF-8. The first function adds a text of any bytes in an escaped form; the second one undoes
 * that in place. */
void clt_pq_add_text(clt_text *out, const char *text);
void clt_pq_restore_text(char *text);

/* Such a text, and a number, as values inside a JSON parameter; NULL and NaN become null. New references; NULL when out
 * of memory. */
json_t *clt_pq_json_text(const char *text);
json_t *clt_pq_json_number(double number);

/* The kind of database that a caller needs. */
typedef enum clt_pq_schema {
  CLT_PQ_SCHEMA, /* one with clatune's schema, of a known version */
  CLT_PQ_BARE    /* any, for creating the schema */
} clt_pq_schema;

/* Seconds that a call waits for a lost, starting or full server while tuning. */
#define CLT_PQ_PATIENCE_S 30

/* Connects. patience_s: how many seconds this and later calls wait for a lost server and repeat the statement; then, or
 * at once if waiting is useless (wrong password, unknown host or database, invalid certificate, no schema or a newer
 * one), they return CLT_E_STORE. With 0 they do not wait: each call tries once, and returns CLT_E_AGAIN with the reason
 * if the server is unreachable; the next call reconnects. In that case *out is set here even though the result is
 * CLT_E_AGAIN. CLT_E_UNSUPPORTED: this clatune was built without PostgreSQL. Free with clt_pq_free. */
int clt_pq_new(clt_pq **out, const char *url, clt_pq_schema schema, double patience_s, clt_error *error);
void clt_pq_free(clt_pq *pq); /* NULL does nothing */

/* What others hold, locks or all connections, is waited for beyond patience_s if a program says so here, once: it gets
 * the reason, or NULL when it was told already, and returns whether to go on waiting. */
typedef bool (*clt_pq_wait_fn)(const char *why);
void clt_pq_on_wait(clt_pq_wait_fn wait);

bool clt_pq_is_held(const clt_pq *pq); /* whether that is why the last call failed */

const char *clt_pq_url(const clt_pq *pq);  /* without a password */
const char *clt_pq_user(const clt_pq *pq); /* the user on the server; "" while not connected */

/* This process in the database, "host:process:random digits"; drawn by clt_pq_new. */
const char *clt_pq_agent(const clt_pq *pq);

/* Counts connections, from 1. If it changes, data read before may be out of date. */
uint64_t clt_pq_connection(const clt_pq *pq);

/* The SQLSTATE of the last call's failure ("23505"); "" if it succeeded, or failed without an answer. */
const char *clt_pq_state(const clt_pq *pq);

/* Runs one statement, a text that must live as long as pq (it is identified by its address). `places` has a letter for
 * each of $1, $2, ...; their values follow:
 *   't' const char * (NULL is NULL; any bytes but 0)   'w' int64_t   'n' double (NaN is NULL)
 *   'j' const json_t *: a list, for json_to_recordset and the like
 * '*' before all letters: without a time limit, for what the number of rows may slow down; not in a transaction.
 * rows (nullable): the result, with columns of whole numbers, float8, text and arrays of float8 only (cast others);
 * free with clt_pq_rows_free. In a transaction of the caller, a lost connection is CLT_E_STORE, and a deadlock
 * CLT_E_AGAIN: the caller must start again. */
int clt_pq_run(clt_pq *pq, clt_pq_rows **rows, const char *sql, clt_error *error, const char *places, ...);

/* The same for one or several statements without parameters and rows; several run in one transaction. Not prepared, and
 * without a time limit. */
int clt_pq_run_text(clt_pq *pq, const char *sql, clt_error *error);

/* A transaction of several statements. end: commits or rolls back (the latter succeeds without a connection, too).
 * After a lost connection nothing is stored, or everything if only COMMIT's answer was lost. */
int clt_pq_begin(clt_pq *pq, clt_error *error);
int clt_pq_end(clt_pq *pq, bool commit, clt_error *error);

size_t clt_pq_n_rows(const clt_pq_rows *rows);
bool clt_pq_is_null(const clt_pq_rows *rows, size_t row, int column);
const char *clt_pq_text(const clt_pq_rows *rows, size_t row, int column); /* "" for NULL or no text; borrowed */
int64_t clt_pq_whole(const clt_pq_rows *rows, size_t row, int column); /* 0: NULL, or no whole number; of boolean 1 */
double clt_pq_number(const clt_pq_rows *rows, size_t row, int column); /* NaN: NULL, or no float8 */
/* Reads the first `most` numbers of an array, NULL as NaN. Returns their number: most + 1 if there are more or it is
 * not such an array, 0 for NULL. */
size_t clt_pq_numbers(const clt_pq_rows *rows, size_t row, int column, double *out, size_t most);
void clt_pq_rows_free(clt_pq_rows *rows); /* NULL does nothing */
