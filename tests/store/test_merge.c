/* Merging and pruning, on every type of store. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "store_support.h"

typedef struct fixture {
  char *folder;
  clt_space *space;
  const char *type;
  int n_stores;
} fixture;

static int set_up(void **state) {
  const char *type = *state; /* the initial state of each test */
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  *f = (fixture){make_folder(), make_space("a", "[1, 2, 4, 8]", "b", "[1, 2, 3]", NULL), type, 0};
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

static clt_store *open_store(fixture *f) {
  char path[PLACE_BYTES];
  clt_store *store = NULL;
  clt_error error = {0};
  if (clt_store_new(&store, f->type, make_place(path, f->type, f->folder, f->n_stores++), &error)) fail_msg("%s", error.message);
  return store;
}

static void add(const fixture *f, clt_store *store, const char *problem, clt_config config, double time_s) {
  clt_store_key key = make_key(problem);
  clt_measurement m = make_measurement(config, time_s);
  clt_error error = {0};
  if (clt_store_describe(store, &(clt_store_description){.key = key,
          .problem_name = problem, .problem_path = "file.json", .sizes = "n=1", .device_json = "{}"}, &error) ||
      clt_store_add(store, &key, f->space, CLT_RECORD_SEARCH, &m, &error))
    fail_msg("%s", error.message);
}

static size_t count(const fixture *f, clt_store *store, const char *problem) {
  clt_store_key key = make_key(problem);
  collected *c = collect(store, &key, f->space, NULL);
  size_t n = c->n;
  free_collected(c);
  return n;
}

static uint64_t merge(clt_store *into, clt_store *from, const clt_store_selection *selection) {
  uint64_t n = 0;
  clt_error error = {0};
  if (clt_store_merge(into, from, selection, &n, &error)) fail_msg("%s", error.message);
  return n;
}

static int by_config(const void *a, const void *b) {
  const clt_measurement *x = a, *y = b;
  return x->config != y->config ? (x->config > y->config) - (x->config < y->config)
                                : (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

static void expect_same_records(const fixture *f, clt_store *a, clt_store *b, const char *problem) {
  clt_store_key key = make_key(problem);
  collected *x = collect(a, &key, f->space, NULL), *y = collect(b, &key, f->space, NULL);
  assert_int_equal(x->n, y->n);
  qsort(x->measurements, x->n, sizeof *x->measurements, by_config);
  qsort(y->measurements, y->n, sizeof *y->measurements, by_config);
  for (size_t i = 0; i < x->n; i++) {
    assert_true(x->measurements[i].config == y->measurements[i].config);
    assert_true(x->measurements[i].time_s == y->measurements[i].time_s);
    assert_int_equal(x->measurements[i].n_runs, y->measurements[i].n_runs);
  }
  free_collected(x);
  free_collected(y);
}

/* The text of the newest tuning of a problem in a store; "": none. */
static const char *tuning_of(clt_store *store, const char *problem) {
  static char text[64];
  clt_store_description *keys = NULL;
  size_t n = 0;
  assert_int_equal(clt_store_keys(&keys, &n, store, false, NULL), 0);
  strcpy(text, "no such key");
  for (size_t i = 0; i < n; i++)
    if (strcmp(keys[i].key.problem, make_key(problem).problem) == 0) snprintf(text, sizeof text, "%s", keys[i].tuning_json);
  clt_store_keys_free(keys, n);
  return text;
}

static void describe_tuning(clt_store *store, const char *problem, const char *json) {
  clt_store_key key = make_key(problem);
  assert_int_equal(clt_store_describe(store, &(clt_store_description){.key = key, .tuning_json = json}, NULL), 0);
}

static void what_a_tuning_says_goes_with_its_measurements(void **state) {
  fixture *f = *state;
  clt_store *a = open_store(f), *b = open_store(f), *c = open_store(f);
  add(f, a, "p", 0, 1);
  describe_tuning(a, "p", "{\"seed\":1}");
  merge(b, a, NULL); /* a key that it does not have */
  assert_string_equal(tuning_of(b, "p"), "{\"seed\":1}");
  add(f, c, "p", 1, 1); /* a key that it has, without */
  merge(c, a, NULL);
  assert_string_equal(tuning_of(c, "p"), "{\"seed\":1}");
  describe_tuning(c, "p", "{\"seed\":2}");
  merge(a, b, NULL); /* its own, and nothing newer */
  assert_string_equal(tuning_of(a, "p"), "{\"seed\":1}");
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(2, 1);
  clt_store_record record = {.configuration = "a=8 b=1", .created_s = INT64_MAX / 2, .measurement = &m}; /* after all others */
  assert_int_equal(c->type->add(c->state, &(clt_store_description){.key = key}, &record, NULL, NULL), 0);
  merge(c, a, NULL);
  assert_string_equal(tuning_of(c, "p"), "{\"seed\":2}");
  merge(a, c, NULL);
  assert_string_equal(tuning_of(a, "p"), "{\"seed\":2}");
  clt_store_free(a);
  clt_store_free(b);
  clt_store_free(c);
}

static void merging_is_commutative_and_idempotent(void **state) {
  fixture *f = *state;
  clt_store *a = open_store(f), *b = open_store(f), *ab = open_store(f), *ba = open_store(f);
  for (int i = 0; i < 6; i++) add(f, a, "p", (clt_config)i, 1 + i);
  for (int i = 4; i < 9; i++) add(f, b, "p", (clt_config)i, 20 + i);
  add(f, b, "q", 0, 1);
  assert_int_equal(merge(ab, a, NULL), 6);
  assert_int_equal(merge(ab, b, NULL), 6);
  merge(ba, b, NULL);
  merge(ba, a, NULL);
  expect_same_records(f, ab, ba, "p");
  expect_same_records(f, ab, ba, "q");
  assert_int_equal(count(f, ab, "p"), 11); /* two measurements of one configuration are two */
  assert_int_equal(merge(ab, a, NULL) + merge(ab, b, NULL) + merge(ab, ba, NULL), 0);
  assert_int_equal(count(f, ab, "p"), 11);
  clt_store_free(a);
  clt_store_free(b);
  clt_store_free(ab);
  clt_store_free(ba);
}

static int note_name(void *user, const clt_store_description *d) {
  snprintf(user, 64, "%s %s %s", d->problem_name, d->problem_path, d->sizes);
  return 0;
}

static void descriptions_come_along(void **state) {
  fixture *f = *state;
  clt_store *a = open_store(f), *b = open_store(f);
  char name[64] = "";
  add(f, a, "p", 0, 1);
  merge(b, a, NULL);
  assert_int_equal(clt_store_each_key(b, true, note_name, name, NULL), 0);
  assert_string_equal(name, "p file.json n=1");
  clt_store_free(a);
  clt_store_free(b);
}

static void a_selection_is_kept_to(void **state) {
  fixture *f = *state;
  clt_store *a = open_store(f), *b = open_store(f);
  add(f, a, "p", 0, 1);
  add(f, a, "q", 0, 1);
  const clt_store_selection nobody = {.device = "gpu"}, early = {.before_s = 1000}, p = {.problem_name = "p"},
                            cpu = {.device = "CPU"};
  assert_int_equal(merge(b, a, &nobody), 0);
  assert_int_equal(merge(b, a, &early), 0);
  assert_int_equal(merge(b, a, &p), 1);
  assert_int_equal(count(f, b, "q"), 0);
  assert_int_equal(merge(b, a, &cpu), 1);
  clt_store_free(a);
  clt_store_free(b);
}

static void pruning_removes_what_is_selected(void **state) {
  fixture *f = *state;
  clt_store *store = open_store(f);
  uint64_t n = 0;
  clt_error error = {0};
  for (int i = 0; i < 3; i++) add(f, store, "p", (clt_config)i, 1), add(f, store, "q", (clt_config)i, 1);
  const clt_store_selection p = {.problem_name = "p"}, early = {.before_s = 1000}, all = {0};
  assert_int_equal(clt_store_prune(store, &all, false, &n, &error), CLT_E_ARGUMENT);
  assert_int_equal(clt_store_prune(store, &early, false, &n, NULL), 0);
  assert_int_equal(n, 0);
  assert_int_equal(clt_store_prune(store, &p, true, &n, NULL), 0);
  assert_int_equal(n, 3);
  assert_int_equal(count(f, store, "p"), 3);
  assert_int_equal(clt_store_prune(store, &p, false, &n, NULL), 0);
  assert_int_equal(n, 3);
  assert_int_equal(count(f, store, "p"), 0);
  assert_int_equal(count(f, store, "q"), 3);
  add(f, store, "p", 0, 1); /* and can be measured again */
  assert_int_equal(count(f, store, "p"), 1);
  clt_store_free(store);
}

typedef struct walk {
  clt_config configs[16];
  clt_record_kind kinds[16];
  int n;
} walk;

static int note_record(void *user, const clt_store_record *record, const clt_measurement *m) {
  walk *w = user;
  w->configs[w->n] = m->config;
  w->kinds[w->n++] = record->kind;
  return 0;
}

static void the_best_come_finalists_first_then_by_speed(void **state) {
  fixture *f = *state;
  clt_store *store = open_store(f);
  clt_store_key key = make_key("p");
  clt_measurement m;
  walk w = {.n = 0};
  add(f, store, "p", 5, 3);
  add(f, store, "p", 6, 1);
  add(f, store, "p", 7, 2);
  for (clt_config c = 1; c < 3; c++) {
    m = make_measurement(c, 9);
    assert_int_equal(clt_store_add(store, &key, f->space, CLT_RECORD_FINALIST, &m, NULL), 0);
  }
  clt_measurement_init(&m, 8);
  clt_measurement_fail(&m, CLT_REASON_RUN_CRASH, NULL);
  assert_int_equal(clt_store_add(store, &key, f->space, CLT_RECORD_SEARCH, &m, NULL), 0);
  assert_int_equal(clt_store_walk(store, CLT_STORE_BEST_FIRST, &key, f->space, note_record, &w, NULL), 0);
  const clt_config expected[] = {1, 2, 6, 7, 5};
  assert_int_equal(w.n, 5);
  for (int i = 0; i < 5; i++) {
    assert_true(w.configs[i] == expected[i]);
    assert_int_equal(w.kinds[i], i < 2 ? CLT_RECORD_FINALIST : CLT_RECORD_SEARCH);
  }
  clt_measurement_release(&m);
  clt_store_free(store);
}

int main(void) {
  static const CMUnitTestFunction functions[] = {merging_is_commutative_and_idempotent, descriptions_come_along,
                                                 what_a_tuning_says_goes_with_its_measurements,
                                                 a_selection_is_kept_to, pruning_removes_what_is_selected,
                                                 the_best_come_finalists_first_then_by_speed};
  static const char *const names[] = {"merging", "descriptions", "tunings", "selection", "pruning", "best"};
  enum { N = sizeof functions / sizeof *functions };
  int failed = 0;
  for (size_t t = 0; clt_stores.types[t]; t++) {
    struct CMUnitTest tests[N];
    if (!has_stores(clt_plugin_name(&clt_stores, t))) continue;
    for (int i = 0; i < N; i++)
      tests[i] = (struct CMUnitTest){names[i], functions[i], set_up, tear_down, (void *)clt_plugin_name(&clt_stores, t)};
    failed += cmocka_run_group_tests_name(clt_plugin_name(&clt_stores, t), tests, NULL, NULL);
  }
  return failed;
}
