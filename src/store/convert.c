/* The tables of a store, and how older ones are converted to them. */

#include "base/base.h"
#include "store/database.h"
#include "store/rows.h"

/* One row per measurement; arrays of numbers are blobs of IEEE doubles in the machine's order, which is little-endian
 * on all supported machines. origin and number identify a record in all stores; own: 1 if it was added here, else
 * clt_store_record's voice. comparison: see clt_store_record. state was added later, so it is the last column. file: a
 * random id of the file, and the highest measurement id before the last deletion, so that ids are not reused. */
#define SCHEMA(temporary, in)                                                                                         \
  "CREATE " temporary                                                                                                 \
  "TABLE problem("                                                                                                    \
  "  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL DEFAULT '',"                               \
  "  path TEXT NOT NULL DEFAULT '', sizes TEXT NOT NULL DEFAULT '', kernel TEXT NOT NULL DEFAULT '');"                \
  "CREATE " temporary                                                                                                 \
  "TABLE device("                                                                                                     \
  "  id INTEGER PRIMARY KEY, key TEXT NOT NULL, driver TEXT NOT NULL, description TEXT NOT NULL DEFAULT '',"          \
  "  UNIQUE(key, driver));"                                                                                           \
  "CREATE " temporary                                                                                                 \
  "TABLE key("                                                                                                        \
  "  id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES problem, device INTEGER NOT NULL REFERENCES device," \
  "  tuning TEXT NOT NULL DEFAULT '', UNIQUE(problem, device));"                                                      \
  "CREATE " temporary                                                                                                 \
  "TABLE measurement("                                                                                                \
  "  id INTEGER PRIMARY KEY, key INTEGER NOT NULL REFERENCES key, kind TEXT NOT NULL, configuration TEXT NOT NULL,"   \
  "  reason TEXT NOT NULL, time_s REAL, clock TEXT NOT NULL, build_s REAL, first_launch_s REAL, runs_s REAL,"         \
  "  verify_s REAL, wait_s REAL, max_abs_error REAL, log TEXT, created_s INTEGER NOT NULL, runs BLOB, energy_j REAL," \
  "  figures BLOB, use BLOB, confirmed INTEGER NOT NULL DEFAULT 0, comparison INTEGER NOT NULL DEFAULT 0,"            \
  "  origin TEXT NOT NULL, number INTEGER NOT NULL, own INTEGER NOT NULL, state BLOB, UNIQUE(origin, number));"       \
  "CREATE INDEX " in                                                                                                  \
  "measurement_of ON measurement(key);"                                                                               \
  "CREATE INDEX " in                                                                                                  \
  "measurement_finalist ON measurement(key) WHERE kind='finalist';"                                                   \
  "CREATE INDEX " in                                                                                                  \
  "measurement_speed ON measurement(key, coalesce(time_s, 0))"                                                        \
  "  WHERE kind='search' AND reason='none';"                                                                          \
  "CREATE " temporary "TABLE file(id INTEGER NOT NULL, highest INTEGER NOT NULL);"

const char clt_store_schema[] = SCHEMA("", "");

/* --- version 3 before `state` --- */

bool clt_database_is_complete(sqlite3 *db) {
  return sqlite3_table_column_metadata(db, "main", "measurement", "state", NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Programs that do not know the column go on reading and writing. A reader sees it as a view in its connection. */
int clt_database_complete(sqlite3 *db, bool as_copy) {
  return sqlite3_exec(db,
                      as_copy ? "CREATE TEMP VIEW measurement AS SELECT *, NULL AS state FROM main.measurement"
                              : "ALTER TABLE measurement ADD COLUMN state BLOB",
                      NULL, NULL, NULL);
}

/* --- versions 1 and 2 --- */

#define OF_MEASUREMENT "measurement INTEGER NOT NULL REFERENCES measurement, position INTEGER NOT NULL, "
#define IN_ORDER ", PRIMARY KEY(measurement, position)) WITHOUT ROWID"

/* span: a record added here has its id as number and the origin of the last span that begins at or before it. A merged
 * record has a row in identity. Records of version 1 have neither. */
static const char *const old_tables[][2] = {
    {"problem",
     "(id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL DEFAULT '', path TEXT NOT NULL DEFAULT '',"
     " sizes TEXT NOT NULL DEFAULT '')"},
    {"device",
     "(id INTEGER PRIMARY KEY, key TEXT NOT NULL, driver TEXT NOT NULL, description TEXT NOT NULL DEFAULT '',"
     " UNIQUE(key, driver))"},
    {"measurement",
     "(id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES problem, device INTEGER NOT NULL REFERENCES device,"
     " kind TEXT NOT NULL, configuration TEXT NOT NULL, reason TEXT NOT NULL, time_s REAL, clock TEXT NOT NULL,"
     " build_s REAL, first_launch_s REAL, runs_s REAL, verify_s REAL, wait_s REAL, max_abs_error REAL, log TEXT,"
     " created_s INTEGER NOT NULL)"},
    {"run", "(" OF_MEASUREMENT "time_s REAL" IN_ORDER},
    {"energy", "(measurement INTEGER PRIMARY KEY REFERENCES measurement, energy_J REAL NOT NULL)"},
    {"figure", "(" OF_MEASUREMENT "figure REAL" IN_ORDER},
    {"use", "(" OF_MEASUREMENT "use REAL" IN_ORDER},
    {"confirmed", "(measurement INTEGER PRIMARY KEY REFERENCES measurement, alone INTEGER NOT NULL)"},
    {"tuning",
     "(problem INTEGER NOT NULL REFERENCES problem, device INTEGER NOT NULL REFERENCES device, json TEXT NOT NULL,"
     " PRIMARY KEY(problem, device)) WITHOUT ROWID"},
    {"kernel", "(problem INTEGER PRIMARY KEY REFERENCES problem, hash TEXT NOT NULL)"},
    {"origin", "(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"},
    {"span", "(first INTEGER PRIMARY KEY, origin INTEGER NOT NULL REFERENCES origin)"},
    {"identity",
     "(measurement INTEGER PRIMARY KEY REFERENCES measurement, origin INTEGER NOT NULL REFERENCES origin,"
     " number INTEGER NOT NULL, UNIQUE(origin, number))"},
    {"file", "(id INTEGER NOT NULL, highest INTEGER NOT NULL)"}};

#define N_OLD_TABLES (sizeof old_tables / sizeof *old_tables)

#define ARRAY(column, table) \
  "(SELECT doubles(" column ") FROM (SELECT " column " FROM old_" table " WHERE measurement=m.id ORDER BY position))"
#define RECORDS_WITH(origin, number) \
  "INSERT OR IGNORE INTO measurement SELECT m.id, k.id, m.kind, m.configuration, m.reason, m.time_s, m.clock,"         \
  " m.build_s, m.first_launch_s, m.runs_s, m.verify_s, m.wait_s, m.max_abs_error, m.log, m.created_s, "                \
  ARRAY("time_s", "run") ", (SELECT energy_J FROM old_energy WHERE measurement=m.id), " ARRAY("figure", "figure")      \
  ", " ARRAY("use", "use") ", ifnull((SELECT alone FROM old_confirmed WHERE measurement=m.id), 0), 0, "                \
  origin ", " number ", i.measurement IS NULL, NULL FROM old_measurement AS m"                                            \
  " JOIN key AS k ON k.problem=m.problem AND k.device=m.device LEFT JOIN old_identity AS i ON i.measurement=m.id"

/* Identities that cannot be correct, and those that a record has already, are treated as missing. */
static const char conversion[] =
    "INSERT INTO problem SELECT p.id, p.hash, p.name, p.path, p.sizes, ifnull(k.hash, '') FROM old_problem AS p"
    " LEFT JOIN old_kernel AS k ON k.problem=p.id;"
    "INSERT INTO device SELECT id, key, driver, description FROM old_device;"
    "INSERT INTO key(problem, device, tuning) SELECT k.problem, k.device, ifnull(t.json, '')"
    " FROM (SELECT problem, device FROM old_measurement UNION SELECT problem, device FROM old_tuning) AS k"
    " JOIN old_problem AS p ON p.id=k.problem JOIN old_device AS d ON d.id=k.device"
    " LEFT JOIN old_tuning AS t ON t.problem=k.problem AND t.device=k.device;"
    RECORDS_WITH("o.name", "ifnull(i.number, m.id)")
    " JOIN old_origin AS o ON o.id=CASE WHEN i.measurement IS NULL THEN"
    " (SELECT origin FROM old_span WHERE first<=m.id ORDER BY first DESC LIMIT 1) ELSE i.origin END"
    " WHERE (o.name='' OR length(o.name)=16 AND o.name NOT GLOB '*[^0-9a-f]*') AND ifnull(i.number, 0)>=0;"
    RECORDS_WITH("''", "-m.id") " WHERE m.id NOT IN (SELECT id FROM measurement);"
    CLT_FIND_COMPARISONS("id") ";"
    "INSERT INTO file SELECT id, highest FROM (SELECT id, highest FROM old_file UNION ALL SELECT random(), 0)"
    " WHERE NOT EXISTS(SELECT 1 FROM file) LIMIT 1";

static int run(sqlite3 *db, char *sql) {
  const int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  return rc;
}

/* --- the aggregate function doubles(x): numbers as a blob, NULL as NaN --- */

typedef struct doubles {
  double *all;
  size_t n, capacity;
} doubles;

static void add_double(sqlite3_context *context, int n, sqlite3_value **values) {
  doubles *d = sqlite3_aggregate_context(context, sizeof *d);
  (void)n;
  const int type = sqlite3_value_type(values[0]);
  if (d == NULL || clt_grow(&d->all, &d->capacity, d->n + 1, sizeof *d->all)) {
    sqlite3_result_error_nomem(context);
    return;
  }
  d->all[d->n++] = type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_value_double(values[0]) : NAN;
}

static void give_doubles(sqlite3_context *context) {
  doubles *d = sqlite3_aggregate_context(context, 0); /* NULL: there are no rows */
  if (d) sqlite3_result_blob64(context, d->all, d->n * sizeof *d->all, free);
}

/* --- converting --- */

int clt_database_make_old(sqlite3 *db) {
  int rc = SQLITE_OK;
  for (size_t i = 0; rc == SQLITE_OK && i < N_OLD_TABLES; i++)
    rc = run(db, sqlite3_mprintf("CREATE TABLE old_%s%s", old_tables[i][0], old_tables[i][1]));
  return rc;
}

static int add_old_rows(sqlite3 *db) {
  const int rc = sqlite3_create_function_v2(db, "doubles", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, NULL, add_double,
                                            give_doubles, NULL);
  return rc ? rc : sqlite3_exec(db, conversion, NULL, NULL, NULL);
}

int clt_database_convert_old(sqlite3 *db) {
  int rc = add_old_rows(db);
  for (size_t i = N_OLD_TABLES; rc == SQLITE_OK && i-- > 0;)
    rc = run(db, sqlite3_mprintf("DROP TABLE old_%s", old_tables[i][0]));
  return rc;
}

int clt_database_convert(sqlite3 *db, bool as_copy) {
  static const char copy_schema[] = SCHEMA("TEMP ", "temp."),
                    prepare[] =
                        "PRAGMA legacy_alter_table=ON; DROP INDEX IF EXISTS measurement_of;"
                        "DROP INDEX IF EXISTS measurement_speed";
  int rc = as_copy ? SQLITE_OK : sqlite3_exec(db, prepare, NULL, NULL, NULL);
  for (size_t i = 0; rc == SQLITE_OK && i < N_OLD_TABLES; i++) {
    const char *name = old_tables[i][0], *columns = old_tables[i][1];
    const bool is_missing = sqlite3_table_column_metadata(db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL);
    if (is_missing)
      rc = run(db, sqlite3_mprintf("CREATE %sTABLE old_%s%s", as_copy ? "TEMP " : "", name, columns));
    else if (as_copy)
      rc = run(db, sqlite3_mprintf("CREATE TEMP VIEW old_%s AS SELECT * FROM main.%s", name, name));
    else
      rc = run(db, sqlite3_mprintf("ALTER TABLE %s RENAME TO old_%s", name, name));
  }
  if (rc == SQLITE_OK) rc = sqlite3_exec(db, as_copy ? copy_schema : clt_store_schema, NULL, NULL, NULL);
  if (rc == SQLITE_OK && as_copy) return add_old_rows(db);
  if (rc == SQLITE_OK) rc = clt_database_convert_old(db);
  return rc ? rc : run(db, sqlite3_mprintf("PRAGMA user_version=%d", CLT_STORE_VERSION));
}
