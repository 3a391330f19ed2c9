#include "store/salvage.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "store/database.h"

#define MOST_ROWS 100000000 /* numbers are looked up one by one */

/* One table: how its last number is found, a row is read by its number, and written. */
typedef struct table {
  const char *last_forward, *last_backward, *read, *write;
} table;

static const table problems = {"SELECT id FROM problem ORDER BY id", "SELECT max(id) FROM problem",
                               "SELECT id, hash, name, path, sizes FROM problem WHERE id = ?1",
                               "INSERT OR IGNORE INTO problem VALUES(?1, ?2, ?3, ?4, ?5)"};
static const table devices = {"SELECT id FROM device ORDER BY id", "SELECT max(id) FROM device",
                              "SELECT id, key, driver, description FROM device WHERE id = ?1",
                              "INSERT OR IGNORE INTO device VALUES(?1, ?2, ?3, ?4)"};
static const table measurements = {
    "SELECT id FROM measurement NOT INDEXED ORDER BY id", "SELECT max(id) FROM measurement NOT INDEXED",
    "SELECT id, problem, device, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s, verify_s,"
    " wait_s, max_abs_error, log, created_s FROM measurement WHERE id = ?1",
    "INSERT OR IGNORE INTO measurement VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"};
static const char read_runs[] = "SELECT measurement, position, time_s FROM run WHERE measurement = ?1";
static const char write_runs[] = "INSERT OR IGNORE INTO run VALUES(?1, ?2, ?3)";
static const char read_energy[] = "SELECT measurement, energy_J FROM energy WHERE measurement = ?1";
static const char write_energy[] = "INSERT OR IGNORE INTO energy VALUES(?1, ?2)";

/* The largest number in the first column of the rows that can be read. */
static int64_t largest(sqlite3 *from, const char *sql) {
  sqlite3_stmt *statement = NULL;
  int64_t found = 0;
  if (sqlite3_prepare_v2(from, sql, -1, &statement, NULL) == SQLITE_OK)
    while (sqlite3_step(statement) == SQLITE_ROW)
      if (sqlite3_column_int64(statement, 0) > found) found = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return found;
}

static int64_t last_of(sqlite3 *from, const table *t) {
  int64_t forward = largest(from, t->last_forward), backward = largest(from, t->last_backward);
  int64_t last = forward > backward ? forward : backward;
  return last < MOST_ROWS ? last : MOST_ROWS;
}

/* Copies the rows that read gives for a number. -1: to cannot be written. A row that breaks a rule of the schema is
 * damaged, too. */
static int copy_rows(sqlite3_stmt *read, sqlite3_stmt *write, int64_t number) {
  int n = 0, columns = sqlite3_column_count(read);
  sqlite3_reset(read);
  sqlite3_bind_int64(read, 1, number);
  while (sqlite3_step(read) == SQLITE_ROW) {
    for (int i = 0; i < columns; i++) sqlite3_bind_value(write, i + 1, sqlite3_column_value(read, i));
    int rc = sqlite3_step(write);
    int changed = rc == SQLITE_DONE ? sqlite3_changes(sqlite3_db_handle(write)) : 0;
    sqlite3_reset(write);
    if (rc != SQLITE_DONE && rc != SQLITE_CONSTRAINT) return -1;
    n += changed;
  }
  return n;
}

/* The statements of a copy; NULL where they cannot be made: a table that is missing altogether. */
typedef struct pair {
  sqlite3_stmt *read, *write;
} pair;

static bool prepare(pair *out, sqlite3 *to, sqlite3 *from, const char *read, const char *write) {
  return sqlite3_prepare_v2(from, read, -1, &out->read, NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(to, write, -1, &out->write, NULL) == SQLITE_OK;
}

static void finish(pair *p) {
  sqlite3_finalize(p->read);
  sqlite3_finalize(p->write);
}

/* Number by number; what belongs to a measurement follows it (n_followers pairs; those without statements are left
 * out). *n_lost: numbers without a row. */
static int copy_table(sqlite3 *to, sqlite3 *from, const table *t, const pair *followers, size_t n_followers,
                      clt_salvage_count *count) {
  pair own = {NULL, NULL};
  int64_t last = last_of(from, t);
  int n = prepare(&own, to, from, t->read, t->write) || last == 0 ? 0 : -2;
  for (int64_t number = 1; n >= 0 && number <= last; number++) {
    n = copy_rows(own.read, own.write, number);
    for (size_t i = 0; n > 0 && i < n_followers; i++)
      if (followers[i].write && copy_rows(followers[i].read, followers[i].write, number) < 0) n = -1;
    if (n > 0) count->saved++;
    if (n == 0) count->lost++;
  }
  finish(&own);
  return n;
}

static int copy_all(clt_salvage_count *out, sqlite3 *to, sqlite3 *from) {
  clt_salvage_count ignored = {0};
  pair followers[2] = {{NULL, NULL}, {NULL, NULL}};
  int n = copy_table(to, from, &problems, NULL, 0, &ignored);
  if (n >= 0) n = copy_table(to, from, &devices, NULL, 0, &ignored);
  prepare(&followers[0], to, from, read_runs, write_runs);
  prepare(&followers[1], to, from, read_energy, write_energy);
  if (n >= 0) n = copy_table(to, from, &measurements, followers, 2, out);
  finish(&followers[0]);
  finish(&followers[1]);
  return n >= 0 && out->saved == 0 ? -2 : n;
}

int clt_salvage(clt_salvage_count *out, sqlite3 *to, const char *to_path, sqlite3 *from, clt_error *error) {
  clt_salvage_count count = {0};
  if (sqlite3_exec(to, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) return clt_database_fail(error, to, to_path);
  int n = copy_all(&count, to, from);
  if (n == -1) {
    clt_database_fail(error, to, to_path);
  } else if (n == -2) {
    clt_fail(error, CLT_E_STORE, "nothing of the store can be read any more: %s", sqlite3_errmsg(from));
  } else if (sqlite3_exec(to, "COMMIT", NULL, NULL, NULL) == SQLITE_OK) {
    *out = count;
    return CLT_OK;
  } else {
    clt_database_fail(error, to, to_path);
  }
  sqlite3_exec(to, "ROLLBACK", NULL, NULL, NULL);
  return CLT_E_STORE;
}
