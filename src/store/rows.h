/* store/rows.h - records as rows: the columns, values and SQL that SQLite and PostgreSQL share.
 *
 * Parameters are $1, $2, ...; SQLite numbers them by their first occurrence, so they first occur in this order. */
#pragma once

#include "store/store.h"

/* The columns of a measurement: name and expression in a query. Rows are not trusted, so the lengths of texts are
 * limited, and those of arrays of numbers by A: runs, figures (first the summary, then those of the runs), use and
 * state. comparison: see clt_store_record. state came later: files of this version may lack it. */
#define CLT_FIELDS(X, A)                                \
  X(origin, "substr(m.origin, 1, 64)")                  \
  X(number, "m.number")                                 \
  X(kind, "substr(m.kind, 1, 64)")                      \
  X(configuration, "substr(m.configuration, 1, 65536)") \
  X(reason, "substr(m.reason, 1, 64)")                  \
  X(time_s, "m.time_s")                                 \
  X(clock, "substr(m.clock, 1, 64)")                    \
  X(build_s, "m.build_s")                               \
  X(first_launch_s, "m.first_launch_s")                 \
  X(runs_s, "m.runs_s")                                 \
  X(verify_s, "m.verify_s")                             \
  X(wait_s, "m.wait_s")                                 \
  X(max_abs_error, "m.max_abs_error")                   \
  X(log, "substr(m.log, 1, 16384)")                     \
  X(created_s, "m.created_s")                           \
  X(runs, A("m.runs"))                                  \
  X(energy_j, "m.energy_j")                             \
  X(figures, A("m.figures"))                            \
  X(use, A("m.use"))                                    \
  X(confirmed, "m.confirmed")                           \
  X(comparison, "m.comparison")                         \
  X(state, A("m.state"))
#define CLT_FIELD_ENUM(name, expression) CLT_FIELD_##name,
#define CLT_FIELD_NAME(name, expression) ", " #name
#define CLT_FIELD_SELECT(name, expression) ", " expression
#define CLT_FIELD_WHOLE(expression) expression
enum { CLT_FIELDS(CLT_FIELD_ENUM, CLT_FIELD_WHOLE) CLT_N_FIELDS };

/* --- SQL --- */

/* The columns of a key, k, for clt_row_key. s_p, s_d, s_k: what has those of its description. */
#define CLT_KEY_COLUMNS_OF(s_p, s_d, s_k)                                                   \
  ", substr(p.hash, 1, 64), substr(d.key, 1, 1024), substr(d.driver, 1, 1024), substr(" s_p \
  ".name, 1, 4096),"                                                                        \
  " substr(" s_p ".path, 1, 4096), substr(" s_p ".sizes, 1, 4096), substr(" s_d             \
  ".description, 1, 65536),"                                                                \
  " substr(" s_k ".tuning, 1, 262144), substr(" s_p ".kernel, 1, 64)"
#define CLT_KEY_COLUMNS CLT_KEY_COLUMNS_OF("p", "d", "k")
#define CLT_KEY_NAMES " JOIN problem AS p ON p.id=k.problem JOIN device AS d ON d.id=k.device"

#define CLT_KEY_ID(problem, device, driver) \
  "(SELECT k.id FROM key AS k" CLT_KEY_NAMES " WHERE p.hash=" problem " AND d.key=" device " AND d.driver=" driver ")"
#define CLT_OF_KEY " WHERE m.key=" CLT_KEY_ID("$1", "$2", "$3")
#define CLT_SELECTED CLT_OF_KEY " AND ($4=0 OR m.created_s < $4)" /* of a key, before a time */
#define CLT_COUNT_SELECTED "SELECT count(*) FROM measurement AS m" CLT_SELECTED

/* The two parts of the order "best first". */
#define CLT_FINALISTS CLT_OF_KEY " AND m.kind='finalist'"
#define CLT_CORRECT_ONES CLT_OF_KEY " AND m.kind='search' AND m.reason='none'"
#define CLT_BY_SPEED " ORDER BY coalesce(m.time_s, 0), m.id"

/* Texts that are NULL stay. */
#define CLT_DESCRIBE_PROBLEM                                                                           \
  "UPDATE problem SET name=coalesce($1, name), path=coalesce($2, path), sizes=coalesce($3, sizes),"    \
  " kernel=coalesce($4, kernel) WHERE hash=$5 AND (name, path, sizes, kernel) <> (coalesce($1, name)," \
  " coalesce($2, path), coalesce($3, sizes), coalesce($4, kernel))"
#define CLT_DESCRIBE_DEVICE "UPDATE device SET description=$1 WHERE description<>$1 AND key=$2 AND driver=$3"
#define CLT_DESCRIBE_TUNING "UPDATE key SET tuning=$1 WHERE tuning<>$1 AND id=" CLT_KEY_ID("$2", "$3", "$4")

/* For stores of version 2: the finalists that an origin added without a record of another kind between them were
 * compared with each other. order: the column in whose order an origin's records were added. */
#define CLT_FIND_COMPARISONS(order)                                     \
  "UPDATE measurement AS m SET comparison=1+coalesce((SELECT n." order  \
  " FROM measurement AS n"                                              \
  " WHERE n.key=m.key AND n.origin=m.origin AND n." order " < m." order \
  " AND n.kind NOT IN ('finalist', 'compared')"                         \
  " ORDER BY n." order " DESC LIMIT 1), 0) WHERE kind IN ('finalist', 'compared')"

/* --- values --- */

/* The value of a column. type: 't' a text (NULL is NULL), 'w' a whole number, 'n' a number (NaN is NULL), 'a' n numbers
 * (NULL is NULL). */
typedef struct clt_field {
  const char *name;
  char type;
  const char *text;
  int64_t whole;
  double number;
  const double *numbers;
  size_t n;
} clt_field;

typedef struct clt_record_row {
  clt_field fields[CLT_N_FIELDS]; /* borrow from the record, and from here */
  double figures[1 + CLT_MAX_RUNS];
} clt_record_row;

/* The columns of a record that has an identity. */
void clt_record_row_make(clt_record_row *out, const clt_store_record *record);

/* How to read a row that a database returned. */
typedef struct clt_row_type {
  const char *(*text)(const void *row, int column); /* NULL: NULL, or no text; borrowed */
  int64_t (*whole)(const void *row, int column);    /* 0: NULL, or no whole number */
  double (*number)(const void *row, int column);    /* NaN: NULL, or no number */
  /* The number of numbers: most + 1 if there are more, or if it is no such array; 0 for NULL. */
  size_t (*numbers)(const void *row, int column, double *out, size_t most);
} clt_row_type;

/* Visits a record, of which number and own are known. first: the first of its columns; with_key: those of its key
 * follow. A record of an unknown kind has no configuration. */
int clt_row_visit(const clt_row_type *type, const void *row, int first, clt_store_record record, bool with_key,
                  clt_store_walk_visit visit, void *user);

clt_store_description clt_row_key(const clt_row_type *type, const void *row, int first);
