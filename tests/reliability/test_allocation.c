/* The n-th allocation fails, n = 1, 2, ...: each time a clean error, or success without it, and nothing is leaked.
 *
 * malloc and its family are replaced for the whole process, libraries included (glibc lets a program do that), and
 * count the live allocations while an operation is watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>
#include "format/format.h"
#include <cmocka.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../model/landscape.h"
#include "../problem/scratch.h"
#include "problem/command.h"
#include "model/model.h"
#include "store/store.h"

/* --- failing --- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static atomic_long until_failure; /* 0: none is going to fail */
static atomic_long n_alive;
static atomic_bool failed;

/* FANN keeps the text of an error that it has no caller to report to: its own failures are left out. */
static struct { uintptr_t begin, end; } fann;

static int find_fann(struct dl_phdr_info *library, size_t size, void *user) {
  (void)size, (void)user;
  for (int i = 0; strstr(library->dlpi_name, "libfann") && i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    fann.begin = library->dlpi_addr + part->p_vaddr;
    fann.end = fann.begin + part->p_memsz;
  }
  return 0;
}

static bool is_fanns(const void *caller) { return (uintptr_t)caller >= fann.begin && (uintptr_t)caller < fann.end; }

static bool must_fail(const void *caller) {
  if (atomic_load(&until_failure) == 0 || is_fanns(caller)) return false;
  if (atomic_fetch_sub(&until_failure, 1) != 1) return false;
  atomic_store(&failed, true);
  errno = ENOMEM;
  return true;
}

void *malloc(size_t n) {
  void *p = must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
  if (p) atomic_fetch_add(&n_alive, 1);
  return p;
}

void *calloc(size_t n, size_t size) {
  void *p = must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
  if (p) atomic_fetch_add(&n_alive, 1);
  return p;
}

void *realloc(void *old, size_t n) {
  void *p = must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(old, n);
  if (p && old == NULL) atomic_fetch_add(&n_alive, 1);
  return p;
}

void free(void *p) {
  if (p) atomic_fetch_sub(&n_alive, 1);
  __libc_free(p);
}

/* Writes to the disk are no matter of this program: its stores do not wait for them. */
int fsync(int fd) { return (void)fd, 0; }
int fdatasync(int fd) { return (void)fd, 0; }

/* --- watching --- */

typedef int (*operation)(void *user, clt_error *error);

#define MOST_ALLOCATIONS 200000

/* Every allocation of the operation fails once; step > 1: of those after the first 200 every step-th. */
static void fail_each(operation run, void *user, long step) {
  clt_error error = {0};
  assert_int_equal(run(user, &error), CLT_OK); /* from here on the libraries' own allocations exist */
  assert_int_equal(run(user, &error), CLT_OK);
  long n_errors = 0;
  for (long n = 1; n < MOST_ALLOCATIONS; n += n < 200 ? 1 : step) {
    memset(&error, 0, sizeof error);
    atomic_store(&failed, false);
    long before = atomic_load(&n_alive);
    atomic_store(&until_failure, n);
    int rc = run(user, &error);
    atomic_store(&until_failure, 0);
    long leaked = atomic_load(&n_alive) - before;
    if (!atomic_load(&failed)) {
      assert_int_equal(rc, CLT_OK);
      break;
    }
    if (leaked > 0) fail_msg("allocation %ld: %ld blocks are leaked (%d: %s)", n, leaked, rc, error.message);
    if (rc == CLT_OK) continue; /* it did without */
    n_errors++;
    if (rc > 0 || error.code != rc || error.message[0] == '\0')
      fail_msg("allocation %ld: result %d, error %d '%s'", n, rc, error.code, error.message);
  }
  assert_true(n_errors > 0);
}

/* --- operations --- */

static int load_problem(void *user, clt_error *error) {
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  char key[33], *options = NULL;
  int rc = clt_problem_new(&problem, user, error);
  if (!rc) rc = clt_instance_new(&instance, problem, NULL, 0, NULL, error);
  if (!rc) rc = clt_instance_key(key, instance, error);
  if (!rc) rc = clt_instance_options(&options, instance, clt_space_at(clt_instance_space(instance), 0), error);
  free(options);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}

static int load_command(void *user, clt_error *error) {
  const clt_command_places places = {"s", "f", "p", NULL, NULL};
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  char key[33], **words = NULL, **environment = NULL, *parameters = NULL;
  int rc = clt_problem_new(&problem, user, error);
  if (!rc) rc = clt_instance_new(&instance, problem, NULL, 0, NULL, error);
  if (!rc) rc = clt_instance_key(key, instance, error);
  if (!rc) rc = clt_command_words(instance, &clt_instance_command(instance)->run, 1, &places, &words, error);
  if (!rc) rc = clt_command_environment(instance, 1, &environment, error);
  if (!rc) rc = clt_command_parameters(instance, 1, &parameters, error);
  clt_words_free(words);
  clt_words_free(environment);
  free(parameters);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}

static int build_space(void *user, clt_error *error) {
  clt_space_builder *b = NULL;
  clt_space *space = NULL;
  (void)user;
  int rc = clt_space_builder_new(&b, error);
  const char *const names[] = {"a", "b", "c"};
  for (int i = 0; !rc && i < 3; i++)
    rc = clt_space_builder_parameter_text(b, names[i], "int", "list(range(1, 40))", error);
  if (!rc) rc = clt_space_builder_constraint(b, "a * b <= 64 and c % a == 0", CLT_CONDITION, NULL, error);
  if (!rc) rc = clt_space_builder_alias(b, "a == 1", "b", (clt_value){.type = CLT_INT, .integer = 1}, error);
  if (!rc) rc = clt_space_new(&space, b, error);
  clt_space_builder_free(b);
  clt_space_free(space);
  return rc;
}

struct fitting {
  clt_space *space;
  row *rows;
  size_t n;
};

static int fit_and_predict(void *user, clt_error *error) {
  const struct fitting *f = user;
  clt_model *model = NULL, *loaded = NULL;
  clt_config configs[10];
  clt_prediction out[10];
  clt_setting settings[] = {{"iterations", "3"}, {"members", "2"}, {"hidden", "4"}, {"hidden2", "3"}};
  int rc = fit_rows(&model, "ensemble", settings, 4, f->space, NULL, f->rows, f->n, 1, 1, error);
  for (size_t i = 0; i < 10; i++) configs[i] = clt_space_at(f->space, i);
  if (!rc) rc = clt_model_predict(out, model, configs, 10, error);
  if (!rc) rc = clt_model_save(model, scratch_path("model"), error);
  if (!rc) rc = clt_model_new_saved(&loaded, f->space, NULL, scratch_path("model"), error);
  clt_model_free(model);
  clt_model_free(loaded);
  return rc;
}

/* A model that is there already. */
static int climb_and_rank(void *user, clt_error *error) {
  const clt_model *model = user;
  clt_config configs[5];
  clt_prediction predictions[5];
  double importance[16];
  size_t n;
  int rc = clt_model_climb(model, 5, 0.5, 200, configs, predictions, &n, error);
  return rc ? rc : clt_model_importance(model, importance, error);
}

static int count_record(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)kind, (void)m;
  ++*(size_t *)user;
  return 0;
}

/* A store of its own each time: records of an earlier round are no matter of this one. */
static int store_and_read(void *user, clt_error *error) {
  const struct fitting *f = user;
  clt_store *store = NULL;
  clt_store_key key = {"0123456789abcdef0123456789abcdef", "device", "driver"};
  clt_measurement m;
  size_t n = 0;
  unlink(scratch_path("s.sqlite"));
  unlink(scratch_path("s.sqlite-wal"));
  unlink(scratch_path("s.sqlite-shm"));
  clt_measurement_init(&m, clt_space_at(f->space, 0));
  m.time_s = m.runs_s[0] = 1e-3;
  m.n_runs = 1;
  int rc = clt_store_new(&store, "sqlite", scratch_path("s.sqlite"), error);
  if (!rc) rc = clt_store_describe(store, &(clt_store_description){.key = key,
          .problem_name = "name", .problem_path = "path", .sizes = "n=1", .device_json = "{}"}, error);
  if (!rc) rc = clt_store_add(store, &key, f->space, CLT_RECORD_SEARCH, &m, error);
  if (!rc) rc = clt_store_each(store, &key, f->space, count_record, &n, NULL, error);
  if (!rc) assert_int_equal(n, 1);
  clt_store_free(store);
  clt_measurement_release(&m);
  return rc;
}

static int load_recording(void *user, clt_error *error) {
  clt_recording *recording = NULL;
  int rc = clt_recording_new(&recording, user, error);
  clt_recording_free(recording);
  return rc;
}

/* --- tests --- */

static void loading_a_problem(void **state) {
  (void)state;
  fail_each(load_problem, PROBLEMS "/convolution.json", 1);
}

static void loading_a_command(void **state) {
  (void)state;
  fail_each(load_command, EXAMPLES "/blocks/blocks.json", 1); /* without a pattern: regcomp leaks then */
}

static void building_a_space(void **state) {
  (void)state;
  fail_each(build_space, NULL, 1);
}

static void fitting_and_predicting(void **state) {
  (void)state;
  struct fitting f = {landscape_space(false), NULL, 60};
  f.rows = landscape_rows(f.space, f.n, 0.02, 5);
  fail_each(fit_and_predict, &f, 997);
  clt_model *model = NULL;
  clt_setting small[] = {{"members", "2"}, {"hidden", "4"}, {"hidden2", "3"}};
  assert_int_equal(fit_rows(&model, "ensemble", small, 3, f.space, NULL, f.rows, f.n, 1, 1, NULL), CLT_OK);
  fail_each(climb_and_rank, model, 1);
  clt_model_free(model);
  assert_int_equal(fit_rows(&model, "trees", NULL, 0, f.space, NULL, f.rows, f.n, 1, 1, NULL), CLT_OK);
  fail_each(climb_and_rank, model, 1);
  clt_model_free(model);
  free(f.rows);
  clt_space_free(f.space);
}

static void storing(void **state) {
  (void)state;
  struct fitting f = {landscape_space(false), NULL, 0};
  fail_each(store_and_read, &f, 7);
  clt_space_free(f.space);
}

static void loading_a_recording(void **state) {
  (void)state;
  scratch_write(
      "r.json",
      "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"], \"tune_params\": "
      "{\"a\": [1, 2], \"b\": [3, 4]}, \"cache\": {\"1,3\": {\"a\": 1, \"b\": 3, \"time\": 1.5, \"times\": [1, 2]},"
      "\"2,3\": {\"a\": 2, \"b\": 3, \"time\": \"RuntimeFailedConfig\"}}}");
  char path[600];
  snprintf(path, sizeof path, "%s", scratch_path("r.json"));
  fail_each(load_recording, path, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loading_a_problem), cmocka_unit_test(loading_a_command),
      cmocka_unit_test(building_a_space),  cmocka_unit_test(fitting_and_predicting),
      cmocka_unit_test(storing),           cmocka_unit_test(loading_a_recording),
  };
  dl_iterate_phdr(find_fann, NULL);
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
