/* Who a record is: an origin and a number, in every type of store, in files of version 1 and after a removal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/store.h"
#include "store_support.h"

typedef struct fixture {
  char *folder, path[4][PLACE_BYTES];
  clt_space *space;
  const char *type;
} fixture;

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->type = *state; /* the initial state of each test */
  f->folder = make_folder();
  f->space = make_space("a", "[1, 2, 4, 8]", NULL);
  for (int i = 0; i < 4; i++) make_place(f->path[i], f->type, f->folder, i);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  clt_space_free(f->space);
  remove_folder(f->folder);
  free(f);
  return 0;
}

static clt_store *open_store(const fixture *f, int i) {
  clt_store *store = NULL;
  clt_error error = {0};
  if (clt_store_new(&store, f->type, f->path[i], &error)) fail_msg("%s", error.message);
  return store;
}

static clt_store *open_to_read(const fixture *f, int i) {
  clt_store *store = NULL;
  clt_error error = {0};
  if (clt_store_open_to_read(&store, f->type, f->path[i], &error)) fail_msg("%s", error.message);
  return store;
}

static void add(const fixture *f, clt_store *store, const char *problem, clt_config config) {
  clt_store_key key = make_key(problem);
  clt_measurement m = make_measurement(config, 1); /* without phases */
  clt_error error = {0};
  if (clt_store_add(store, &key, f->space, CLT_RECORD_SEARCH, &m, &error)) fail_msg("%s", error.message);
}

static uint64_t merge(clt_store *into, clt_store *from) {
  uint64_t n = 0;
  clt_error error = {0};
  if (clt_store_merge(into, from, NULL, &n, &error)) fail_msg("%s", error.message);
  return n;
}

typedef struct seen {
  char origin[17], problem[33], name[16];
  int64_t sequence, number;
  bool own;
} seen;

typedef struct list {
  seen all[32];
  size_t n;
} list;

static int see(void *user, const clt_store_description *d, const clt_store_record *record) {
  list *l = user;
  seen *s = &l->all[l->n++];
  assert_true(l->n < 32 && record->origin && strlen(record->origin) < sizeof s->origin);
  strcpy(s->origin, record->origin);
  strcpy(s->problem, d->key.problem);
  snprintf(s->name, sizeof s->name, "%s", d->problem_name ? d->problem_name : "");
  s->sequence = record->sequence;
  s->number = record->number;
  s->own = record->own;
  return 0;
}

static list walk(clt_store *store, const char *problem, int64_t after) {
  list l = {.n = 0};
  clt_error error = {0};
  const clt_store_key key = make_key(problem ? problem : "");
  if (clt_store_each_identified(store, CLT_STORE_BY_NUMBER, problem ? &key : NULL, after, see, &l, &error))
    fail_msg("%s", error.message);
  for (size_t i = 1; i < l.n; i++) assert_true(l.all[i].number >= l.all[i - 1].number);
  return l;
}

static bool same_identity(const seen *a, const seen *b) {
  return strcmp(a->origin, b->origin) == 0 && a->sequence == b->sequence;
}

/* --- every type of store --- */

static void what_is_added_is_numbered_by_who_adds(void **state) {
  const fixture *f = *state;
  clt_store *store = open_store(f, 0), *other = open_store(f, 1);
  const clt_store_key key = make_key("p");
  add(f, store, "p", 0);
  add(f, store, "q", 0);
  assert_int_equal(clt_store_describe(store, &(clt_store_description){.key = key, .problem_name = "box"}, NULL), 0);
  add(f, store, "p", 0);
  add(f, other, "p", 0);
  const list all = walk(store, NULL, 0), p = walk(store, "p", 0), later = walk(store, NULL, all.all[0].number);
  assert_int_equal(all.n, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(strspn(all.all[i].origin, "0123456789abcdef"), 16);
    assert_string_equal(all.all[i].origin, all.all[0].origin);
    assert_true(all.all[i].sequence > (i ? all.all[i - 1].sequence : 0));
    assert_string_equal(all.all[i].problem, i == 1 ? "q" : "p");
    assert_string_equal(all.all[i].name, i == 1 ? "" : "box");
  }
  assert_true(p.n == 2 && same_identity(&p.all[1], &all.all[2]));
  assert_true(later.n == 2 && same_identity(&later.all[0], &all.all[1]));
  assert_string_not_equal(walk(other, NULL, 0).all[0].origin, all.all[0].origin);
  clt_store_free(other);
  clt_store_free(store);
}

/* Nothing tells them from each other but that they were measured twice. */
static void two_equal_records_are_two_wherever_they_go(void **state) {
  const fixture *f = *state;
  clt_store *a = open_store(f, 0), *b = open_store(f, 1), *c = open_store(f, 2);
  add(f, a, "p", 1);
  add(f, a, "p", 1);
  add(f, b, "p", 1); /* in another store's same second */
  assert_int_equal(merge(c, a), 2);
  assert_int_equal(merge(c, b), 1);
  assert_int_equal(merge(c, a) + merge(c, b), 0);
  assert_int_equal(merge(b, c), 2);
  assert_int_equal(merge(a, c), 1);
  const list of_a = walk(a, NULL, 0), of_c = walk(c, NULL, 0);
  assert_int_equal(of_a.n, 3);
  for (int i = 0; i < 3; i++) assert_true(same_identity(&of_a.all[i], &of_c.all[i]));
  clt_store_free(a);
  clt_store_free(b);
  clt_store_free(c);
}

static void a_record_that_is_there_is_not_added(void **state) {
  const fixture *f = *state;
  clt_store *store = open_store(f, 0);
  const clt_measurement m = make_measurement(1, 1);
  const clt_store_description d = {.key = make_key("p")};
  clt_store_record record = {.configuration = "a=1", .measurement = &m, .origin = "00000000000000ab", .sequence = 7};
  uint64_t n_added = 0;
  for (int i = 0; i < 3; i++) {
    if (i == 2) record.sequence = INT64_MAX;
    assert_int_equal(store->type->add(store->state, &d, &record, &n_added, NULL), 0);
    assert_int_equal(n_added, i == 2 ? 2 : 1);
  }
  const list all = walk(store, NULL, 0);
  assert_int_equal(all.n, 2);
  assert_string_equal(all.all[1].origin, "00000000000000ab");
  assert_true(all.all[1].sequence == INT64_MAX && !all.all[1].own);
  clt_store_free(store);
}

/* --- files --- */

static void execute(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  char *message = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message)) fail_msg("%s", message);
  sqlite3_close(db);
}

static int64_t ask(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  int64_t answer = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return answer;
}

/* As the version before identities made it. Of problem p, two equal records and another one; of problem q, one that says the same. */
static void make_version_1(const char *path) {
  execute(path,
          "CREATE TABLE problem(  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE,  name TEXT NOT NULL DEFAULT '',"
          " path TEXT NOT NULL DEFAULT '', sizes TEXT NOT NULL DEFAULT '');"
          "CREATE TABLE device(  id INTEGER PRIMARY KEY, key TEXT NOT NULL, driver TEXT NOT NULL,"
          " description TEXT NOT NULL DEFAULT '',  UNIQUE(key, driver));"
          "CREATE TABLE measurement(  id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES problem,"
          " device INTEGER NOT NULL REFERENCES device,  kind TEXT NOT NULL, configuration TEXT NOT NULL,"
          " reason TEXT NOT NULL, time_s REAL, clock TEXT NOT NULL,  build_s REAL, first_launch_s REAL, runs_s REAL,"
          " verify_s REAL, wait_s REAL, max_abs_error REAL, log TEXT,  created_s INTEGER NOT NULL);"
          "CREATE INDEX measurement_of ON measurement(problem, device);"
          "CREATE INDEX measurement_speed ON measurement(problem, device, kind, time_s);"
          "CREATE TABLE run(  measurement INTEGER NOT NULL REFERENCES measurement, position INTEGER NOT NULL,"
          " time_s REAL,  PRIMARY KEY(measurement, position)) WITHOUT ROWID;"
          "CREATE TABLE energy(measurement INTEGER PRIMARY KEY REFERENCES measurement, energy_J REAL NOT NULL);"
          "PRAGMA application_id=0x434c5445; PRAGMA user_version=1; PRAGMA journal_mode=WAL;"
          "INSERT INTO problem(id, hash) VALUES(1, 'p'), (2, 'q');"
          "INSERT INTO device(id, key, driver) VALUES(1, 'Portable|cpu|2', '3.1');"
          "INSERT INTO measurement SELECT column1, column2, 1, 'search', column3, 'none', 0.5, 'device', 0, 0, 0, 0, 0,"
          " NULL, NULL, 1700000000 FROM (VALUES(1, 1, 'a=1'), (2, 1, 'a=2'), (3, 1, 'a=1'), (4, 2, 'a=1'));"
          "INSERT INTO run SELECT id, 0, 0.5 FROM measurement;"
          "INSERT INTO energy VALUES(2, 3.5);");
}

static void files_of_version_1_that_hold_copies_agree(void **state) {
  const fixture *f = *state;
  make_version_1(f->path[0]);
  make_version_1(f->path[1]);
  clt_store *old = open_to_read(f, 0);
  const list read = walk(old, "p", 0);
  assert_int_equal(read.n, 3);
  for (int i = 0; i < 3; i++) assert_string_equal(read.all[i].origin, "");
  assert_int_equal(read.all[2].sequence, read.all[0].sequence + 1); /* both are kept */
  clt_store *fresh = open_store(f, 2), *other = open_store(f, 1);
  assert_int_equal(merge(fresh, old), 4);
  assert_int_equal(merge(fresh, old), 0);
  assert_int_equal(merge(other, old), 0); /* which had no identities until now */
  assert_int_equal(merge(other, fresh) + merge(fresh, other), 0);
  clt_store_free(old);
  assert_int_equal(ask(f->path[0], "PRAGMA user_version"), 1); /* reading changes nothing */
  assert_int_equal(ask(f->path[1], "PRAGMA user_version"), 3);
  const list written = walk(other, "p", 0), merged = walk(fresh, "p", 0);
  for (int i = 0; i < 3; i++) assert_true(same_identity(&written.all[i], &read.all[i]));
  for (int i = 0; i < 3; i++) assert_true(same_identity(&merged.all[i], &read.all[i]));
  add(f, other, "p", 0);
  assert_int_equal(merge(fresh, other), 1);
  clt_store_free(other);
  clt_store_free(fresh);
}

static void identities_that_cannot_be_are_none(void **state) {
  const fixture *f = *state;
  clt_store *store = open_store(f, 0), *other = open_store(f, 1);
  for (clt_config c = 0; c < 4; c++) add(f, store, "p", c);
  execute(f->path[0],
          "UPDATE measurement SET origin=printf('%.*c', 100000, 'a') WHERE id=1;"
          "UPDATE measurement SET origin='ABCDEF0123456789' WHERE id=2;"
          "UPDATE measurement SET number=-5 WHERE id=3");
  const list all = walk(store, NULL, 0);
  assert_int_equal(all.n, 4);
  for (int i = 0; i < 4; i++) assert_int_equal(strlen(all.all[i].origin), i < 3 ? 0 : 16);
  assert_int_equal(merge(other, store), 4);
  assert_int_equal(merge(other, store), 0);
  clt_store_free(other);
  clt_store_free(store);
}

static void numbers_are_never_used_again(void **state) {
  const fixture *f = *state;
  const clt_store_selection all = {.device = "cpu"};
  uint64_t n = 0;
  clt_store *store = open_store(f, 0), *other = open_store(f, 1);
  for (clt_config c = 0; c < 3; c++) add(f, store, "p", c);
  merge(other, store);
  const int64_t last = walk(store, NULL, 0).all[2].number;
  assert_int_equal(clt_store_prune(store, &all, false, &n, NULL), 0);
  assert_int_equal(n, 3);
  clt_store_free(store);
  store = open_store(f, 0);
  add(f, store, "p", 0);
  assert_true(walk(store, NULL, 0).all[0].number > last);
  assert_int_equal(walk(store, NULL, last).n, 1);
  assert_int_equal(merge(store, other), 3); /* removed records can be brought back */
  clt_store_free(other);
  clt_store_free(store);
}

static void a_copy_of_a_file_has_an_id_of_its_own(void **state) {
  const fixture *f = *state;
  char id[3][CLT_ORIGIN_BYTES];
  clt_error error = {0};
  make_version_1(f->path[0]);
  clt_store *store = open_store(f, 0), *memory = NULL;
  assert_int_equal(clt_store_file_id(id[0], store, &error), 0);
  clt_store_free(store);
  store = open_store(f, 0);
  assert_int_equal(clt_store_file_id(id[1], store, &error), 0);
  assert_string_equal(id[0], id[1]);
  char *sql = sqlite3_mprintf("VACUUM INTO %Q", f->path[1]);
  execute(f->path[0], sql);
  sqlite3_free(sql);
  clt_store *copy = open_store(f, 1);
  assert_int_equal(clt_store_file_id(id[2], copy, &error), 0);
  assert_string_not_equal(id[0], id[2]);
  assert_int_equal(clt_store_new(&memory, "memory", NULL, NULL), 0);
  assert_int_equal(clt_store_file_id(id[2], memory, &error), CLT_E_STORE);
  clt_store_free(memory);
  clt_store_free(copy);
  clt_store_free(store);
}

#define TEST(test, type) \
  { #test, test, set_up, tear_down, (void *)(type) }

int main(void) {
  int failed = 0;
  for (size_t t = 0; clt_stores.types[t]; t++) {
    const char *type = clt_plugin_name(&clt_stores, t);
    if (!has_stores(type)) continue;
    const struct CMUnitTest tests[] = {TEST(what_is_added_is_numbered_by_who_adds, type),
                                       TEST(two_equal_records_are_two_wherever_they_go, type),
                                       TEST(a_record_that_is_there_is_not_added, type)};
    failed += cmocka_run_group_tests_name(type, tests, NULL, NULL);
  }
  const struct CMUnitTest tests[] = {TEST(files_of_version_1_that_hold_copies_agree, "sqlite"),
                                     TEST(identities_that_cannot_be_are_none, "sqlite"),
                                     TEST(numbers_are_never_used_again, "sqlite"),
                                     TEST(a_copy_of_a_file_has_an_id_of_its_own, "sqlite")};
  return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
