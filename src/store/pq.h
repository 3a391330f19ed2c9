/* store/pq.h - a connection to PostgreSQL: what libpq leaves to its callers. Deadlines, statements prepared once, texts
 * of any bytes, repeating what was lost, and messages that say what to do. Nothing of libpq shows, so that those who
 * use it are built without it, too: clt_pq_new then fails.
 *
 * A statement runs in a transaction of its own. When the connection is lost, nobody can tell whether it was carried
 * out; so it is run again, and has to be one that may be: INSERT ... ON CONFLICT DO NOTHING, an UPDATE that finds its
 * own work done. Names are found in the schemas pg_catalog and clatune alone. */
#ifndef CLT_STORE_PQ_H
#define CLT_STORE_PQ_H

#include <clatune/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef struct clt_pq clt_pq;         /* for one thread at a time */
typedef struct pg_result clt_pq_rows; /* what a statement gave */

/* Whether a --store names a database: it begins with postgresql:// or postgres://. NULL does not. */
bool clt_pq_is_url(const char *path);

/* The URL as it may be shown: without a password. malloc'ed. */
int clt_pq_shown(char **out, const char *url, clt_error *error);

/* PostgreSQL has texts of UTF-8 alone: adds one of any bytes as it is stored, and makes it what it was, in place. */
void clt_pq_add_text(clt_text *out, const char *text);
void clt_pq_restore_text(char *text);

/* What stands for such a text and for a number within a JSON place: NULL and NaN are null. New references; NULL when
 * out of memory. */
json_t *clt_pq_json_text(const char *text);
json_t *clt_pq_json_number(double number);

/* Which database is asked for. */
typedef enum clt_pq_schema {
  CLT_PQ_SCHEMA, /* one with clatune's schema, of a version that is known */
  CLT_PQ_BARE    /* any: for who makes the schema */
} clt_pq_schema;

/* How long a call waits for a server that was there and is away, or is starting or full: that of who measures. */
#define CLT_PQ_PATIENCE_S 30

/* Connects. patience_s: how long this and later calls wait until a lost server is back and repeat what was lost;
 * afterwards, and at once where nothing can be expected of waiting (wrong password, no such host or database, a
 * certificate that is not accepted, no schema or a newer one): CLT_E_STORE. 0: for who has better things to do than to
 * wait: each call tries once, and returns CLT_E_AGAIN, with the reason, where the server is away; the next call
 * connects again. Then *out is made here also where the server is away (the result is CLT_E_AGAIN all the same).
 * CLT_E_UNSUPPORTED: this clatune was built without PostgreSQL. Free with clt_pq_free. */
int clt_pq_new(clt_pq **out, const char *url, clt_pq_schema schema, double patience_s, clt_error *error);
void clt_pq_free(clt_pq *pq); /* NULL does nothing */

const char *clt_pq_url(const clt_pq *pq);  /* as it may be shown */
const char *clt_pq_user(const clt_pq *pq); /* whom the server knows us as; "" while there is no connection */

/* Counts connections, from 1; another number than before: what was learnt of the database may hold no longer. */
uint64_t clt_pq_connection(const clt_pq *pq);

/* The SQLSTATE of the last call's failure ("23505"); "" where there was none, or no server to say it. */
const char *clt_pq_state(const clt_pq *pq);

/* Runs one statement, a text that lives as long as pq does (it is known by its address). What $1, $2 ... stand for
 * follows places, a letter each:
 *   't' const char * (NULL is NULL; any bytes but 0)   'w' int64_t   'n' double (NaN is NULL)
 *   'j' const json_t *: a list, for json_to_recordset and the like
 * rows (nullable): what it gave, of whole numbers, float8, text and arrays of float8 alone (cast others);
 * free with clt_pq_rows_free. Within a transaction of the caller's a loss is CLT_E_STORE: it has to be begun anew. */
int clt_pq_run(clt_pq *pq, clt_pq_rows **rows, const char *sql, clt_error *error, const char *places, ...);

/* The same for statements without places and rows, one or several, in a transaction if there are several; not prepared
 * and without a limit of time. */
int clt_pq_run_text(clt_pq *pq, const char *sql, clt_error *error);

/* A transaction of several statements. end: commit, or undo (which succeeds also where the connection is lost). After a
 * loss nothing of it is kept, or, where COMMIT's answer was lost, all. */
int clt_pq_begin(clt_pq *pq, clt_error *error);
int clt_pq_end(clt_pq *pq, bool commit, clt_error *error);

size_t clt_pq_n_rows(const clt_pq_rows *rows);
bool clt_pq_is_null(const clt_pq_rows *rows, size_t row, int column);
const char *clt_pq_text(const clt_pq_rows *rows, size_t row, int column); /* "": NULL, or no text; borrowed */
int64_t clt_pq_whole(const clt_pq_rows *rows, size_t row, int column); /* 0: NULL, or no whole number; of boolean 1 */
double clt_pq_number(const clt_pq_rows *rows, size_t row, int column); /* NaN: NULL, or no float8 */
/* The first `most` numbers of an array, NULL as NaN; most + 1: it has more, or is no such array. NULL has 0. */
size_t clt_pq_numbers(const clt_pq_rows *rows, size_t row, int column, double *out, size_t most);
void clt_pq_rows_free(clt_pq_rows *rows); /* NULL does nothing */

#endif
