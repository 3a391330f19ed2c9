/* The rules for every store in the table. */
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
  clt_store *store;
  char *folder, *path;
} fixture;

static int open_fixture(void **state) {
  const clt_store_type *type = *state;
  fixture *f = calloc(1, sizeof *f);
  f->folder = make_folder();
  f->path = malloc(PLACE_BYTES);
  make_place(f->path, type->name, f->folder, 0);
  assert_int_equal(clt_store_new(&f->store, type->name, f->path, NULL), 0);
  *state = f;
  return 0;
}

static int close_fixture(void **state) {
  fixture *f = *state;
  clt_store_free(f->store);
  remove_folder(f->folder);
  free(f->path);
  free(f);
  return 0;
}

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void assert_same(const clt_measurement *a, const clt_measurement *b) {
  assert_int_equal(a->config, b->config);
  assert_int_equal(a->reason, b->reason);
  assert_int_equal(a->clock, b->clock);
  assert_int_equal(a->n_runs, b->n_runs);
  assert_true(same_number(a->time_s, b->time_s) && same_number(a->max_abs_error, b->max_abs_error));
  assert_true(same_number(a->energy_J, b->energy_J) && same_number(a->figure, b->figure));
  for (size_t i = 0; i < a->n_runs; i++) assert_true(a->runs_s[i] == b->runs_s[i]);
  const double *x = &a->phases.build_s, *y = &b->phases.build_s;
  for (size_t i = 0; i < sizeof(clt_phases) / sizeof *x; i++) assert_true(x[i] == y[i]);
  x = &a->state.launch_s, y = &b->state.launch_s;
  for (size_t i = 0; i < sizeof(clt_device_state) / sizeof *x; i++) assert_true(same_number(x[i], y[i]));
  assert_int_equal(a->log == NULL, b->log == NULL);
  if (a->log) assert_string_equal(a->log, b->log);
}

static void add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                const clt_measurement *m) {
  clt_error error = {0};
  if (clt_store_add(store, key, space, kind, m, &error)) fail_msg("%s", error.message);
}

static void everything_of_a_measurement_comes_back_in_order(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2, 4]", "b", "[0, 1]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement in[4];
  in[0] = make_measurement(3, 0.1 + 0.2);
  in[0].phases = (clt_phases){0.5, 0.25, 1e-9, 0, 3600};
  in[0].clock = CLT_CLOCK_HOST;
  in[0].max_abs_error = INFINITY;
  in[0].energy_J = 0.1 + 0.7;
  in[0].figure = 1e300;
  in[0].state = (clt_device_state){4.8e-6, 1e-8, 0.9e-8, 1755, 0, NAN};
  in[1] = make_measurement(0, 5e-324);
  for (in[1].n_runs = 0; in[1].n_runs < CLT_MAX_RUNS; in[1].n_runs++)
    in[1].runs_s[in[1].n_runs] = 1.0 / (1.0 + in[1].n_runs);
  in[2] = make_measurement(5, 1);
  clt_measurement_fail(&in[2], CLT_REASON_OUT_OF_BOUNDS, "wrote 'x'\n\xff\xc3 before; DROP TABLE run; %s");
  clt_measurement_init(&in[3], 0);
  clt_measurement_fail(&in[3], CLT_REASON_COMPILE_CRASH, NULL);
  const clt_record_kind kinds[4] = {CLT_RECORD_SEARCH, CLT_RECORD_COMPARED, CLT_RECORD_SEARCH, CLT_RECORD_SEARCH};
  for (size_t i = 0; i < 4; i++) add(f->store, &key, space, kinds[i], &in[i]);
  size_t n_foreign = 99;
  collected *out = collect(f->store, &key, space, &n_foreign);
  assert_int_equal(out->n, 4);
  assert_int_equal(n_foreign, 0);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(out->kinds[i], kinds[i]);
    assert_same(&in[i], &out->measurements[i]);
    clt_measurement_release(&in[i]);
  }
  free_collected(out);
  clt_space_free(space);
}

static void every_reason_comes_back(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key key = make_key("p");
  for (int r = 1; r < CLT_N_REASONS; r++) {
    clt_measurement m;
    clt_measurement_init(&m, 1);
    clt_measurement_fail(&m, (clt_reason)r, clt_reason_text((clt_reason)r));
    add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
    clt_measurement_release(&m);
  }
  collected *out = collect(f->store, &key, space, NULL);
  assert_int_equal(out->n, CLT_N_REASONS - 1);
  for (int r = 1; r < CLT_N_REASONS; r++) assert_int_equal(out->measurements[r - 1].reason, r);
  free_collected(out);
  clt_space_free(space);
}

static void keys_are_kept_apart(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key keys[4] = {make_key("p"), make_key("q"), make_key("p"), make_key("p")};
  snprintf(keys[2].device, sizeof keys[2].device, "another device");
  snprintf(keys[3].driver, sizeof keys[3].driver, "3.2");
  for (size_t i = 0; i < 3; i++) {
    clt_measurement m = make_measurement(0, 1.0 + (double)i);
    add(f->store, &keys[i], space, CLT_RECORD_SEARCH, &m);
  }
  for (size_t i = 0; i < 4; i++) {
    collected *out = collect(f->store, &keys[i], space, NULL);
    assert_int_equal(out->n, i < 3);
    if (i < 3) assert_true(out->measurements[0].time_s == 1.0 + (double)i);
    free_collected(out);
  }
  clt_space_free(space);
}

static double time_of(const collected *c, clt_config config) {
  for (size_t i = 0; i < c->n; i++)
    if (c->measurements[i].config == config) return c->measurements[i].time_s;
  return NAN;
}

static void a_changed_space_orphans_nothing_that_it_still_has(void **state) {
  fixture *f = *state;
  clt_space *before = make_space("a", "[1, 2, 4]", "b", "[0, 1]", NULL);
  clt_store_key key = make_key("p");
  for (clt_config c = 0; c < 6; c++) { /* a = 1,1,2,2,4,4; b = 0,1,0,1,0,1 */
    clt_measurement m = make_measurement(c, 1.0 + (double)c);
    add(f->store, &key, before, CLT_RECORD_SEARCH, &m);
  }
  /* another order of parameters and values, a new value, one that is gone, a new parameter with one value */
  clt_space *after =
      make_space("b", "[1, 0]", "new", "[7]", "a", "[8, 4, 2]", "where", "not (a == 2 and b == 0)", NULL);
  size_t n_foreign = 0;
  collected *out = collect(f->store, &key, after, &n_foreign);
  assert_int_equal(out->n, 3);
  assert_int_equal(n_foreign, 3);    /* a=1 twice, and a configuration that the constraint now forbids */
  assert_true(time_of(out, 1) == 6); /* b=1 a=4 */
  assert_true(time_of(out, 4) == 5); /* b=0 a=4 */
  assert_true(time_of(out, 2) == 4); /* b=1 a=2 */
  free_collected(out);
  clt_space_free(after);
  clt_space_free(before);
}

static void a_record_that_lacks_a_real_choice_is_foreign(void **state) {
  fixture *f = *state;
  clt_space *before = make_space("a", "[1, 2]", NULL), *more = make_space("a", "[1, 2]", "c", "[0, 1]", NULL);
  clt_space *less = make_space("d", "[1]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(1, 1);
  add(f->store, &key, before, CLT_RECORD_SEARCH, &m);
  const clt_space *const others[] = {more, less};
  for (size_t i = 0; i < 2; i++) {
    size_t n_foreign = 0;
    collected *out = collect(f->store, &key, others[i], &n_foreign);
    assert_int_equal(out->n, 0);
    assert_int_equal(n_foreign, 1);
    free_collected(out);
  }
  clt_space_free(less);
  clt_space_free(more);
  clt_space_free(before);
}

static clt_space *odd_values(void) {
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  const clt_value texts[] = {{CLT_STRING, .text = "a b=1"},
                             {CLT_STRING, .text = ""},
                             {CLT_STRING, .text = "100%25"},
                             {CLT_STRING, .text = "100%"},
                             {CLT_STRING, .text = "\xc3\xa9"}};
  const clt_value reals[] = {{CLT_REAL, .real = 0.1}, {CLT_REAL, .real = 1e300}, {CLT_REAL, .real = -2}};
  const clt_value truths[] = {{CLT_BOOL, .integer = 0}, {CLT_BOOL, .integer = 1}};
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "text", texts, 5, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "real", reals, 3, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "truth", truths, 2, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static void odd_values_come_back_as_they_were(void **state) {
  fixture *f = *state;
  clt_space *space = odd_values();
  clt_store_key key = make_key("p");
  for (clt_config c = 0; c < 30; c++) {
    clt_measurement m = make_measurement(c, 1.0 + (double)c);
    add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
  }
  size_t n_foreign = 99;
  collected *out = collect(f->store, &key, space, &n_foreign);
  assert_int_equal(out->n, 30);
  assert_int_equal(n_foreign, 0);
  for (size_t i = 0; i < out->n; i++) assert_int_equal(out->measurements[i].config, i);
  free_collected(out);
  clt_space_free(space);
}

static int stop_at_second(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)kind, (void)m;
  return ++*(int *)user == 2;
}

static int fail_at_second(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)kind, (void)m;
  return ++*(int *)user == 2 ? CLT_E_NO_VALID : 0;
}

static void a_visitor_may_end_or_fail_the_walk(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2, 3]", NULL);
  clt_store_key key = make_key("p");
  for (clt_config c = 0; c < 3; c++) {
    clt_measurement m = make_measurement(c, 1);
    add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
  }
  int n = 0;
  assert_int_equal(clt_store_each(f->store, &key, space, stop_at_second, &n, NULL, NULL), 0);
  assert_int_equal(n, 2);
  n = 0;
  assert_int_equal(clt_store_each(f->store, &key, space, fail_at_second, &n, NULL, NULL), CLT_E_NO_VALID);
  assert_int_equal(n, 2);
  collected *out = collect(f->store, &key, space, NULL); /* and the store is as usable as before */
  assert_int_equal(out->n, 3);
  free_collected(out);
  clt_space_free(space);
}

static void what_cannot_be_right_is_not_stored(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key key = make_key("p");
  const double bad[] = {NAN, INFINITY, -1};
  for (size_t i = 0; i < 3; i++) {
    clt_error error = {0};
    clt_measurement m = make_measurement(0, 1);
    m.time_s = bad[i];
    assert_int_equal(clt_store_add(f->store, &key, space, CLT_RECORD_SEARCH, &m, &error), CLT_E_ARGUMENT);
    m = make_measurement(0, 1);
    m.runs_s[1] = bad[i];
    assert_int_equal(clt_store_add(f->store, &key, space, CLT_RECORD_SEARCH, &m, NULL), CLT_E_ARGUMENT);
  }
  collected *out = collect(f->store, &key, space, NULL);
  assert_int_equal(out->n, 0);
  free_collected(out);
  clt_space_free(space);
}

typedef struct seen_key {
  char problem[33], name[64], path[64], sizes[64], json[64], tuning[64], kernel[64];
  uint64_t n_records;
} seen_key;

typedef struct seen_keys {
  seen_key keys[8];
  size_t n;
} seen_keys;

static int see_key(void *user, const clt_store_description *d) {
  seen_keys *seen = user;
  seen_key *k = &seen->keys[seen->n++];
  snprintf(k->problem, sizeof k->problem, "%s", d->key.problem);
  snprintf(k->name, sizeof k->name, "%s", d->problem_name);
  snprintf(k->path, sizeof k->path, "%s", d->problem_path);
  snprintf(k->sizes, sizeof k->sizes, "%s", d->sizes);
  snprintf(k->json, sizeof k->json, "%s", d->device_json);
  snprintf(k->tuning, sizeof k->tuning, "%s", d->tuning_json);
  snprintf(k->kernel, sizeof k->kernel, "%s", d->kernel);
  k->n_records = d->n_records;
  return 0;
}

static void keys_are_listed_with_their_newest_description(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key described = make_key("described"), bare = make_key("bare"), empty = make_key("empty");
  clt_measurement m = make_measurement(0, 1);
  add(f->store, &bare, space, CLT_RECORD_SEARCH, &m);
  assert_int_equal(clt_store_describe(f->store, &(clt_store_description){.key = described,
          .problem_name = "old", .problem_path = "o.json", .sizes = "w=1", .device_json = "{}", .kernel = "k"}, NULL), 0);
  assert_int_equal(clt_store_describe(f->store, &(clt_store_description){.key = empty,
          .problem_name = "nothing measured"}, NULL), 0);
  add(f->store, &described, space, CLT_RECORD_SEARCH, &m);
  add(f->store, &described, space, CLT_RECORD_FINALIST, &m);
  assert_int_equal(clt_store_describe(f->store, &(clt_store_description){.key = described,
          .problem_name = "box", .problem_path = "box.json", .sizes = "w=2", .device_json = "{\"a\":1}"}, NULL), 0);
  assert_int_equal(clt_store_describe(f->store,
      &(clt_store_description){.key = described, .tuning_json = "{\"seed\":1}"}, NULL), 0);
  assert_int_equal(clt_store_describe(f->store,
      &(clt_store_description){.key = described, .tuning_json = "{\"seed\":2}"}, NULL), 0);
  seen_keys seen = {.n = 0};
  assert_int_equal(clt_store_each_key(f->store, true, see_key, &seen, NULL), 0);
  assert_int_equal(seen.n, 2);
  assert_string_equal(seen.keys[0].problem, "bare");
  assert_string_equal(seen.keys[0].name, "");
  assert_int_equal(seen.keys[0].n_records, 1);
  assert_string_equal(seen.keys[1].problem, "described");
  assert_string_equal(seen.keys[1].name, "box");
  assert_string_equal(seen.keys[1].path, "box.json");
  assert_string_equal(seen.keys[1].sizes, "w=2");
  assert_string_equal(seen.keys[0].kernel, "");
  assert_string_equal(seen.keys[1].kernel, "k"); /* values not given again stay */
  assert_string_equal(seen.keys[0].tuning, "");
  assert_string_equal(seen.keys[1].tuning, "{\"seed\":2}");
  assert_int_equal(seen.keys[1].n_records, 2);
  clt_space_free(space);
}

static void a_store_with_a_file_says_where_and_keeps_it(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(1, 0.5);
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
  const char *path = clt_store_path(f->store);
  if (path[0]) {
    assert_string_equal(path, f->path);
    clt_store_free(f->store);
    assert_int_equal(clt_store_new(&f->store, NULL, f->path, NULL), 0);
  }
  collected *out = collect(f->store, &key, space, NULL);
  assert_int_equal(out->n, 1);
  free_collected(out);
  clt_space_free(space);
}

static void an_unknown_type_is_refused(void **state) {
  (void)state;
  clt_store *store = NULL;
  clt_error error = {0};
  assert_int_equal(clt_store_new(&store, "redis", NULL, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "'redis'"));
  assert_non_null(strstr(error.message, "'memory'"));
  assert_null(store);
}

/* They live until the next call. */
static clt_store_answers newest(clt_store *store, const clt_store_key *key, const clt_space *space, bool with_energy) {
  static clt_store_answers answers;
  clt_store_answers_release(&answers);
  assert_int_equal(clt_store_newest(&answers, store, key, space, with_energy, NULL, NULL), 0);
  return answers;
}

static void add_failure(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                        clt_config config, clt_reason reason) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, reason, NULL);
  add(store, key, space, kind, &m);
  clt_measurement_release(&m);
}

static void the_newest_answer_of_each_configuration_counts(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2, 4, 8, 16]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement m[] = {make_measurement(3, 5), make_measurement(3, 4), make_measurement(0, 2),
                         make_measurement(0, 9), make_measurement(1, 1), make_measurement(4, 7)};
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m[0]);
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m[1]);
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m[2]);
  add(f->store, &key, space, CLT_RECORD_FINALIST, &m[3]); /* interleaved with others: no answer */
  add_failure(f->store, &key, space, CLT_RECORD_ATTEMPT, 2, CLT_REASON_RUN_CRASH);
  add_failure(f->store, &key, space, CLT_RECORD_ATTEMPT, 2, CLT_REASON_RUN_CRASH);
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m[4]);
  add_failure(f->store, &key, space, CLT_RECORD_FINALIST, 1, CLT_REASON_WRONG_OUTPUT);
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m[5]);
  add_failure(f->store, &key, space, CLT_RECORD_FINALIST, 4, CLT_REASON_OUT_OF_MEMORY); /* next to others */
  clt_store_answers a = newest(f->store, &key, space, false);
  const double expected[] = {2, NAN, NAN, 4, 7};
  assert_int_equal(a.n, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(a.all[i].config, i);
    assert_int_equal(a.all[i].n_attempts, i == 2 ? 2 : 0);
    assert_int_equal(a.all[i].newest == NULL, i == 2);
    bool has_time = a.all[i].newest && clt_measurement_correct(a.all[i].newest);
    assert_true(same_number(has_time ? a.all[i].newest->time_s : NAN, expected[i]));
  }
  clt_space_free(space);
}

static void only_what_came_since_is_asked_for(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2, 4]", NULL);
  clt_store_key key = make_key("p");
  int64_t since = 0;
  for (clt_config c = 0; c < 3; c++) {
    clt_store_answers a = {0};
    clt_measurement m = make_measurement(c, 1);
    add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
    assert_int_equal(clt_store_newest(&a, f->store, &key, space, false, &since, NULL), 0);
    assert_true(a.n == 1 && a.all[0].config == c);
    clt_store_answers_release(&a);
  }
  clt_store_answers none = {0};
  assert_int_equal(clt_store_newest(&none, f->store, &key, space, false, &since, NULL), 0);
  assert_int_equal(none.n, 0);
  clt_space_free(space);
}

static void an_answer_without_the_energy_asked_for_is_none(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2, 4]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(0, 5);
  m.energy_J = 3;
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
  m.config = 1;
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
  m.energy_J = NAN; /* measured again, without: the earlier value no longer holds */
  add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
  add_failure(f->store, &key, space, CLT_RECORD_SEARCH, 2, CLT_REASON_RUN_CRASH);
  clt_store_answers a = newest(f->store, &key, space, true);
  assert_int_equal(a.n, 3);
  assert_true(a.all[0].newest && !a.all[1].newest && a.all[2].newest);
  a = newest(f->store, &key, space, false);
  assert_true(a.n == 3 && a.all[1].newest);
  clt_space_free(space);
}

static void a_transaction_that_is_undone_leaves_nothing(void **state) {
  fixture *f = *state;
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(0, 5);
  const clt_store_type *type = f->store->type;
  static const clt_store_step ends[] = {CLT_STORE_COMMIT, CLT_STORE_UNDO};
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(type->transaction(f->store->state, CLT_STORE_BEGIN, NULL, NULL), 0);
    add(f->store, &key, space, CLT_RECORD_SEARCH, &m);
    assert_int_equal(type->transaction(f->store->state, ends[i], NULL, NULL), 0);
    collected *out = collect(f->store, &key, space, NULL);
    assert_int_equal(out->n, 1);
    free_collected(out);
  }
  clt_space_free(space);
}

static void another_s_additions_change_the_version(void **state) {
  fixture *f = *state;
  if (f->store->type == &clt_store_memory) skip(); /* no other type can */
  clt_space *space = make_space("a", "[1, 2]", NULL);
  clt_store_key key = make_key("p");
  clt_measurement m = make_measurement(0, 5);
  clt_store *other = NULL;
  uint64_t before = 0, same = 1, after = 0;
  assert_int_equal(clt_store_new(&other, f->store->type->name, f->path, NULL), 0);
  assert_int_equal(clt_store_version(f->store, &before, NULL), 0);
  assert_int_equal(clt_store_version(f->store, &same, NULL), 0);
  add(other, &key, space, CLT_RECORD_SEARCH, &m);
  assert_int_equal(clt_store_version(f->store, &after, NULL), 0);
  assert_true(same == before && after != before);
  clt_store_free(other);
  clt_space_free(space);
}

/* --- a type of a program's own --- */

static int open_other(void *state, const char *path, bool to_read, clt_error *error) {
  (void)path, (void)to_read;
  return clt_store_memory.open(state, "", false, error);
}

static void a_program_may_add_a_type(void **state) {
  (void)state;
  static clt_store_type other;
  clt_store *store = NULL;
  clt_error error = {0};
  other = clt_store_memory;
  other.name = "other";
  other.open = open_other;
  assert_int_equal(clt_store_register(&clt_store_memory, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "already"));
  other.abi++;
  assert_int_equal(clt_store_register(&other, NULL), CLT_E_ARGUMENT);
  other.abi--;
  assert_int_equal(clt_store_register(&other, NULL), 0);
  assert_int_equal(clt_store_new(&store, "other", NULL, NULL), 0);
  assert_string_equal(clt_store_path(store), "");
  clt_store_free(store);
}

#define OVER_EACH(test) \
  { #test, test, open_fixture, close_fixture, NULL }

int main(void) {
  int failures = 0;
  for (size_t i = 0; clt_stores.types[i]; i++) {
    struct CMUnitTest tests[] = {
        OVER_EACH(everything_of_a_measurement_comes_back_in_order),
        OVER_EACH(every_reason_comes_back),
        OVER_EACH(keys_are_kept_apart),
        OVER_EACH(a_changed_space_orphans_nothing_that_it_still_has),
        OVER_EACH(a_record_that_lacks_a_real_choice_is_foreign),
        OVER_EACH(odd_values_come_back_as_they_were),
        OVER_EACH(a_visitor_may_end_or_fail_the_walk),
        OVER_EACH(what_cannot_be_right_is_not_stored),
        OVER_EACH(keys_are_listed_with_their_newest_description),
        OVER_EACH(a_store_with_a_file_says_where_and_keeps_it),
        OVER_EACH(the_newest_answer_of_each_configuration_counts),
        OVER_EACH(only_what_came_since_is_asked_for),
        OVER_EACH(an_answer_without_the_energy_asked_for_is_none),
        OVER_EACH(a_transaction_that_is_undone_leaves_nothing),
        OVER_EACH(another_s_additions_change_the_version),
    };
    if (!has_stores(clt_plugin_name(&clt_stores, i))) continue;
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) tests[t].initial_state = (void *)clt_stores.types[i];
    print_message("store '%s'\n", clt_plugin_name(&clt_stores, i));
    failures += cmocka_run_group_tests_name(clt_plugin_name(&clt_stores, i), tests, NULL, NULL);
  }
  const struct CMUnitTest table[] = {cmocka_unit_test(an_unknown_type_is_refused),
                                     cmocka_unit_test(a_program_may_add_a_type)};
  return failures + cmocka_run_group_tests(table, NULL, NULL);
}
