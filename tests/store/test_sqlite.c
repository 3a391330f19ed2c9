/* The store's file: its place, who may read it, refusals, and the effects of damage and hostile rows. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/database.h"
#include "store/store.h"
#include "store_support.h"

static char *folder;

static int make_scratch(void **state) {
  (void)state;
  folder = make_folder();
  return 0;
}

static int remove_scratch(void **state) {
  (void)state;
  remove_folder(folder);
  return 0;
}

static const char *in_folder(const char *name) {
  static char path[4][600];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
  return path[next];
}

static unsigned mode_of(const char *path) {
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  return status.st_mode & 0777;
}

static void execute(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  char *message = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message)) fail_msg("%s", message);
  sqlite3_close(db);
}

static clt_store *open_store(const char *path) {
  clt_store *store = NULL;
  clt_error error = {0};
  if (clt_store_new(&store, "sqlite", path, &error)) fail_msg("%s", error.message);
  return store;
}

static void assert_refused(const char *path, const char *because) {
  clt_store *store = NULL;
  clt_error error = {0};
  assert_int_equal(clt_store_new(&store, "sqlite", path, &error), CLT_E_STORE);
  if (strstr(error.message, because) == NULL) fail_msg("'%s' does not say '%s'", error.message, because);
  assert_null(store);
}

static size_t read_file(const char *path, char *out, size_t capacity) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t n = fread(out, 1, capacity, file);
  fclose(file);
  return n;
}

static void write_file(const char *path, const char *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

/* Ten correct records. */
static void fill(const char *path, const clt_space *space) {
  clt_store *store = open_store(path);
  clt_store_key key = make_key("p");
  for (clt_config c = 0; c < 10; c++) {
    clt_measurement m = make_measurement(c, 1.0 + (double)c);
    assert_int_equal(clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  }
  clt_store_free(store);
}

static clt_space *ten_values(void) { return make_space("a", "range(10)", NULL); }

static void files_and_folders_are_private(void **state) {
  (void)state;
  mode_t before = umask(0);
  clt_store *store = open_store(in_folder("new/deeper/store.sqlite"));
  clt_space *space = ten_values();
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(0, 1);
  assert_int_equal(clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  umask(before);
  assert_int_equal(mode_of(in_folder("new")), 0700);
  assert_int_equal(mode_of(in_folder("new/deeper")), 0700);
  assert_int_equal(mode_of(in_folder("new/deeper/store.sqlite")), 0600);
  assert_int_equal(mode_of(in_folder("new/deeper/store.sqlite-wal")), 0600);
  clt_store_free(store);
  clt_space_free(space);
}

static void the_standard_place_follows_the_environment(void **state) {
  (void)state;
  setenv("XDG_DATA_HOME", in_folder("data"), 1);
  setenv("HOME", in_folder("home"), 1);
  clt_store *store = open_store(NULL);
  assert_string_equal(clt_store_path(store), in_folder("data/clatune/store.sqlite"));
  clt_store_free(store);
  setenv("XDG_DATA_HOME", "relative/is/ignored", 1);
  store = open_store(NULL);
  assert_string_equal(clt_store_path(store), in_folder("home/.local/share/clatune/store.sqlite"));
  clt_store_free(store);
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  assert_refused(NULL, "name a file with --store");
}

static void a_name_is_a_file_whatever_it_looks_like(void **state) {
  (void)state;
  assert_int_equal(chdir(folder), 0);
  clt_store_free(open_store(":memory:"));
  assert_int_equal(access(":memory:", F_OK), 0);
  clt_store_free(open_store("file:x?mode=ro"));
  assert_int_equal(access("file:x?mode=ro", F_OK), 0);
  assert_int_equal(chdir("/"), 0);
}

static void an_empty_file_becomes_a_store(void **state) {
  (void)state;
  write_file(in_folder("empty"), "", 0);
  clt_space *space = ten_values();
  fill(in_folder("empty"), space);
  clt_store *store = open_store(in_folder("empty"));
  clt_store_key key = make_key("p");
  collected *out = collect(store, &key, space, NULL);
  assert_int_equal(out->n, 10);
  free_collected(out);
  clt_store_free(store);
  clt_space_free(space);
}

static void assert_refused_untouched(const char *name, const char *because) {
  static char before[1 << 16], after[1 << 16];
  size_t n = read_file(in_folder(name), before, sizeof before);
  assert_refused(in_folder(name), because);
  assert_int_equal(read_file(in_folder(name), after, sizeof after), n);
  assert_memory_equal(before, after, n);
}

static void a_file_of_another_program_is_refused_and_left_alone(void **state) {
  (void)state;
  execute(in_folder("other"), "CREATE TABLE measurement(a); INSERT INTO measurement VALUES(1)");
  assert_refused_untouched("other", "another program");
  execute(in_folder("marked"), "PRAGMA application_id=42; CREATE TABLE measurement(a)");
  assert_refused_untouched("marked", "another program");
  write_file(in_folder("text"), "these are my notes, and they are precious to me\n", 48);
  assert_refused_untouched("text", "not a store");
}

static void a_newer_store_is_refused_and_left_alone(void **state) {
  (void)state;
  clt_store_free(open_store(in_folder("newer")));
  execute(in_folder("newer"), "PRAGMA user_version=7");
  assert_refused_untouched("newer", "newer clatune");
}

static void a_place_that_cannot_be_used_is_named(void **state) {
  (void)state;
  write_file(in_folder("plain"), "x", 1);
  assert_refused(in_folder("plain/store.sqlite"), "plain/store.sqlite");
  assert_refused("/proc/no/such/store.sqlite", "/proc/no");
  assert_refused(folder, folder);
}

static void a_store_that_is_read_only_is_refused_at_once(void **state) {
  (void)state;
  if (geteuid() == 0) skip(); /* nothing is read-only for root */
  clt_store_free(open_store(in_folder("fixed")));
  assert_int_equal(chmod(in_folder("fixed"), 0400), 0);
  assert_refused(in_folder("fixed"), "read-only");
}

/* In a child that is no root: status 0 if the ten records can be read and nothing can be added. */
static int use_as_ordinary_user(const char *path, const clt_space *space) {
  if (geteuid() == 0 && (setgid(65534) || setuid(65534))) return 2;
  clt_store *store = NULL;
  clt_store_key key = make_key("p");
  clt_error error = {0};
  if (clt_store_open_to_read(&store, NULL, path, &error)) return fprintf(stderr, "%s\n", error.message), 3;
  collected *out = collect(store, &key, space, NULL);
  size_t n = out->n;
  free_collected(out);
  clt_store_free(store);
  if (n != 10) return 4;
  if (clt_store_new(&store, NULL, path, &error) != CLT_E_STORE) return 5;
  return strstr(error.message, "read-only") ? 0 : 6;
}

static void a_store_of_the_system_is_read_by_everybody(void **state) {
  (void)state;
  clt_space *space = ten_values();
  const char *path = in_folder("system.sqlite");
  fill(path, space);
  assert_int_equal(chmod(path, 0444), 0);
  assert_int_equal(chmod(folder, 0555), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(use_as_ordinary_user(path, space));
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(chmod(folder, 0700), 0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  clt_space_free(space);
}

static int add_one(clt_store *store, const clt_space *space, clt_config config, clt_error *error) {
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(config, 1);
  return clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, error);
}

/* The name of the copy that a message speaks of, or NULL. */
static char *saved_copy(const char *message) {
  const char *begin = strstr(message, "is in '");
  return begin ? strndup(begin + 7, strcspn(begin + 7, "'")) : NULL;
}

static void a_store_that_leaves_its_place_is_told_and_saved(void **state) {
  (void)state;
  clt_space *space = ten_values();
  clt_store_key key = make_key("p");
  for (int way = 0; way < 3; way++) {
    const char *path = in_folder("in/place.sqlite"), *other = in_folder("other.sqlite");
    clt_error error = {0};
    clt_store *store = open_store(path);
    assert_int_equal(add_one(store, space, 1, &error), 0);
    if (way == 0) {
      assert_int_equal(unlink(path), 0);
    } else if (way == 1) { /* another one comes */
      fill(other, space);
      assert_int_equal(rename(other, path), 0);
    } else {
      remove_folder(strdup(in_folder("in")));
    }
    assert_int_equal(add_one(store, space, 2, &error), CLT_E_STORE);
    assert_non_null(strstr(error.message, "deleted or replaced"));
    char *copy = saved_copy(error.message);
    assert_non_null(copy);
    assert_int_equal(mode_of(copy), 0600);
    assert_int_equal(access(path, F_OK), way == 1 ? 0 : -1); /* no file is where the user removed it */
    error = (clt_error){0};
    assert_int_equal(add_one(store, space, 3, &error), CLT_E_STORE);
    assert_null(saved_copy(error.message)); /* once */
    clt_store_free(store);
    store = open_store(copy);
    collected *out = collect(store, &key, space, NULL);
    assert_int_equal(out->n, 2);
    assert_true(out->measurements[0].config == 1 && out->measurements[1].config == 2);
    free_collected(out);
    clt_store_free(store);
    unlink(copy);
    free(copy);
    remove_folder(strdup(in_folder("in")));
  }
  clt_space_free(space);
}

/* --- many keys --- */

static uint64_t n_steps;
static sqlite3 *watched;

static int count_steps(void *user) { return (void)user, n_steps++, 0; }

static int watch_connection(sqlite3 *db, char **message, const struct sqlite3_api_routines *api) {
  (void)message, (void)api;
  watched = db;
  return sqlite3_progress_handler(db, 100, count_steps, NULL), SQLITE_OK;
}

static int count_key(void *user, const clt_store_description *d) {
  clt_store_key *last = user;
  assert_true(strcmp(d->key.problem, last->problem) > 0); /* the one whose first record is oldest first */
  return *last = d->key, 0;
}

/* By SQLite's steps and not by its time: 300 problems and 300 devices, each problem on one of them, with
 * 100 records each. The records themselves, on 300 pages, are not read. */
static void keys_take_no_time_with_problems_times_devices_or_records(void **state) {
  (void)state;
  const char *path = in_folder("wide");
  clt_store_key last = {.problem = ""};
  clt_store_free(open_store(path));
  execute(path,
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300)"
          " INSERT INTO problem(id, hash) SELECT i, printf('%04d', i) FROM n;"
          "INSERT INTO device(id, key, driver) SELECT id, 'd'||id, '1' FROM problem;"
          "INSERT INTO key(id, problem, device) SELECT id, id, 1+id*7%300 FROM problem;"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<100)"
          "INSERT INTO measurement(key, kind, configuration, reason, clock, created_s, origin, number, own)"
          " SELECT id, 'search', 'a=1', 'timeout', 'host', 0, '', 1000*id+i, 1 FROM problem, n ORDER BY id");
  sqlite3_auto_extension((void (*)(void))watch_connection);
  clt_store *store = NULL;
  assert_int_equal(clt_store_open_to_read(&store, NULL, path, NULL), 0);
  n_steps = 0;
  assert_int_equal(clt_store_each_key(store, false, count_key, &last, NULL), 0);
  sqlite3_cancel_auto_extension((void (*)(void))watch_connection);
  assert_string_equal(last.problem, "0300");
  int n_pages = 0, most = 0;
  assert_int_equal(sqlite3_db_status(watched, SQLITE_DBSTATUS_CACHE_MISS, &n_pages, &most, 0), SQLITE_OK);
  assert_in_range(n_pages, 1, 150);
  assert_true(n_steps > 0 && n_steps < 1000); /* of 100 instructions each: 90,000 pairs, or 30,000 records, would take more */
  clt_store_free(store);
}

static void a_lock_is_said_to_be_one(void **state) {
  (void)state;
  const char *path = in_folder("locked");
  clt_store_free(open_store(path));
  sqlite3 *holder = NULL, *other = NULL;
  clt_error error = {0};
  assert_int_equal(sqlite3_open(path, &holder), SQLITE_OK);
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_BUSY);
  assert_int_equal(clt_database_fail(&error, other, path), CLT_E_STORE);
  assert_non_null(strstr(error.message, "locked by another program"));
  sqlite3_close(other);
  sqlite3_close(holder);
}

/* In a child: the file may not grow any further, as on a full disk. Exit status 0: told so, and everything that was
 * acknowledged is there. */
static int fill_the_disk(const char *path, const clt_space *space) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {384 << 10, 384 << 10};
  if (setrlimit(RLIMIT_FSIZE, &limit)) return 2;
  clt_store *store = NULL;
  if (clt_store_new(&store, "sqlite", path, NULL)) return 3;
  clt_store_key key = make_key("p");
  clt_error error = {0};
  size_t n_added = 0;
  while (n_added < 2000) {
    clt_measurement m = make_measurement(n_added % 10, 1);
    if (clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, &error)) break;
    n_added++;
  }
  if (n_added < 10 || n_added == 2000 || error.code != CLT_E_STORE) return 4;
  if (strstr(error.message, path) == NULL) return 5;
  collected *out = collect(store, &key, space, NULL);
  int rc = out->n == n_added ? 0 : 6;
  free_collected(out);
  clt_store_free(store);
  return rc;
}

static void a_full_disk_is_told_and_loses_nothing(void **state) {
  (void)state;
  clt_space *space = ten_values();
  const char *path = in_folder("full");
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(fill_the_disk(path, space));
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  clt_store *store = open_store(path); /* and if there is space again, it goes on */
  clt_store_key key = make_key("q");
  clt_measurement m = make_measurement(0, 1);
  assert_int_equal(clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  clt_store_free(store);
  clt_space_free(space);
}

static void hostile_rows_are_foreign_and_never_wrong(void **state) {
  (void)state;
  clt_space *space = ten_values();
  const char *path = in_folder("hostile");
  fill(path, space);
  execute(path,
          "UPDATE measurement SET kind='guess' WHERE id=1;"
          "UPDATE measurement SET time_s=-1 WHERE id=2;"
          "UPDATE measurement SET time_s=9e999 WHERE id=3;"
          "UPDATE measurement SET time_s='fast' WHERE id=4;"
          "UPDATE measurement SET configuration=zeroblob(100) WHERE id=5;"
          "UPDATE measurement SET configuration=printf('%.*c', 100000, 'a') WHERE id=6;"
          "UPDATE measurement SET runs=x'000000000000f8ff' WHERE id=7;" /* NaN */
          "UPDATE measurement SET runs=zeroblob(8000) WHERE id=8;"
          "UPDATE measurement SET reason='sunspots', log=printf('%.*c', 1000000, 'x'), max_abs_error='big',"
          " build_s='long' WHERE id=9;");
  clt_store *store = open_store(path);
  clt_store_key key = make_key("p");
  size_t n_foreign = 0;
  collected *out = collect(store, &key, space, &n_foreign);
  assert_int_equal(n_foreign, 8);
  assert_int_equal(out->n, 2);
  const clt_measurement *odd = &out->measurements[0];
  assert_int_equal(odd->reason, CLT_REASON_UNKNOWN);
  assert_true(isnan(odd->time_s) && isnan(odd->max_abs_error) && odd->phases.build_s == 0);
  assert_int_equal(strlen(odd->log), 16384);
  assert_int_equal(out->measurements[1].config, 9);
  free_collected(out);
  clt_store_free(store);
  clt_space_free(space);
}

static void hostile_configurations_are_foreign(void **state) {
  (void)state;
  static const char *const bad[] = {"",     "a",     "a=",    "a=10",  "a=1 a=1", "a=1 b=1",  "b=1",
                                    "=1",   "a==1",  "A=1",   "a=1.0", "a=+1",    "a=%31",    "a=1\n",
                                    "a=01", "a=1=1", "a=1;b", "a='1'", "a=1 =",   "a=1 -DX=2"};
  clt_space *space = ten_values();
  clt_store_key key = make_key("p");
  const char *path = in_folder("configurations");
  fill(path, space);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *sql = sqlite3_mprintf("UPDATE measurement SET configuration=%Q", bad[i]);
    execute(path, sql);
    sqlite3_free(sql);
    clt_store *store = open_store(path);
    size_t n_foreign = 0;
    collected *out = collect(store, &key, space, &n_foreign);
    if (out->n || n_foreign != 10) fail_msg("'%s' was taken for a configuration", bad[i]);
    free_collected(out);
    clt_store_free(store);
  }
  clt_space_free(space);
}

static int ignore(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)user, (void)kind;
  return m->config < 10 && m->n_runs <= CLT_MAX_RUNS ? 0 : CLT_E_RANGE;
}

/* Whatever the file contains: an error with a message, or records that can be correct. */
static void use_damaged(const char *path, const clt_space *space) {
  clt_store *store = NULL;
  clt_store_key key = make_key("p");
  clt_error error = {0};
  clt_measurement m = make_measurement(1, 1);
  int rc = clt_store_new(&store, "sqlite", path, &error);
  if (rc == 0) rc = clt_store_each(store, &key, space, ignore, NULL, NULL, &error);
  if (rc == 0) rc = clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, &error);
  assert_true(rc == 0 || (rc == CLT_E_STORE && error.message[0]));
  clt_store_free(store);
}

static void a_damaged_file_is_an_error_and_no_crash(void **state) {
  (void)state;
  static char whole[1 << 17], damaged[1 << 17];
  clt_space *space = ten_values();
  fill(in_folder("sound"), space);
  size_t n = read_file(in_folder("sound"), whole, sizeof whole);
  assert_in_range(n, 4096, sizeof whole - 1);
  clt_rng rng;
  clt_rng_init(&rng, 7);
  for (int round = 0; round < 150; round++) {
    memcpy(damaged, whole, n);
    size_t kept = clt_rng_below(&rng, 4) ? n : clt_rng_below(&rng, n);
    for (uint64_t flips = clt_rng_below(&rng, 40); flips; flips--)
      damaged[clt_rng_below(&rng, n)] = (char)clt_rng_next(&rng);
    const char *path = in_folder("damaged");
    unlink(in_folder("damaged-wal"));
    unlink(in_folder("damaged-shm"));
    write_file(path, damaged, kept);
    use_damaged(path, space);
  }
  clt_space_free(space);
}

static void energies_that_cannot_be_right_are_foreign(void **state) {
  (void)state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key key = make_key("p");
  const char *path = in_folder("hostile.sqlite");
  clt_store *store = open_store(path);
  clt_measurement m = make_measurement(1, 2e-3);
  size_t n_foreign = 0;
  m.energy_J = 0.5;
  assert_int_equal(clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  m.energy_J = -1;
  assert_int_equal(clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, NULL), CLT_E_ARGUMENT);
  clt_store_free(store);
  execute(path, "UPDATE measurement SET energy_j = -3.5");
  store = open_store(path);
  collected *out = collect(store, &key, space, &n_foreign);
  assert_int_equal(out->n, 0);
  assert_int_equal(n_foreign, 1);
  free_collected(out);
  clt_store_free(store);
  clt_space_free(space);
}

static void a_missing_table_is_damage(void **state) {
  (void)state;
  clt_store_free(open_store(in_folder("robbed")));
  execute(in_folder("robbed"), "DROP TABLE measurement");
  assert_refused(in_folder("robbed"), "damaged");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_and_folders_are_private),
      cmocka_unit_test(the_standard_place_follows_the_environment),
      cmocka_unit_test(a_name_is_a_file_whatever_it_looks_like),
      cmocka_unit_test(an_empty_file_becomes_a_store),
      cmocka_unit_test(a_file_of_another_program_is_refused_and_left_alone),
      cmocka_unit_test(a_newer_store_is_refused_and_left_alone),
      cmocka_unit_test(a_place_that_cannot_be_used_is_named),
      cmocka_unit_test(a_store_that_is_read_only_is_refused_at_once),
      cmocka_unit_test(a_store_of_the_system_is_read_by_everybody),
      cmocka_unit_test(a_store_that_leaves_its_place_is_told_and_saved),
      cmocka_unit_test(keys_take_no_time_with_problems_times_devices_or_records),
      cmocka_unit_test(a_lock_is_said_to_be_one),
      cmocka_unit_test(a_full_disk_is_told_and_loses_nothing),
      cmocka_unit_test(hostile_rows_are_foreign_and_never_wrong),
      cmocka_unit_test(hostile_configurations_are_foreign),
      cmocka_unit_test(a_damaged_file_is_an_error_and_no_crash),
      cmocka_unit_test(energies_that_cannot_be_right_are_foreign),
      cmocka_unit_test(a_missing_table_is_damage),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
