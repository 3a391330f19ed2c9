/* Looking up: each tier, their precedence, and the memory of answers. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "fixture.h"
#include "lookup/lookup.h"
#include "store/store.h"

static int set_up(void **state) {
  char *folder = make_folder();
  clt_problem_free(make_add_problem(folder));
  *state = fixture_new(folder, "add.json");
  return 0;
}

static int set_up_older(void **state) {
  set_up(state);
  ((fixture *)*state)->older = true;
  return 0;
}

/* Adds a measurement of block=16 (positions 1) or 8 (0) as a tuning does. n_runs 0: two, as elsewhere; each of
 * them takes longer by `scatter` than the one before. */
static void know_as(const fixture *f, const char *store_path, const clt_device_info *device, int64_t n,
                    clt_record_kind kind, clt_config config, double time_s) {
  clt_instance *instance = instance_on(f, device, n);
  clt_store *store = NULL;
  clt_store_key key;
  clt_error error = {0};
  char *json = NULL, sizes[64];
  snprintf(sizes, sizeof sizes, "n=%lld", (long long)n);
  clt_measurement m = make_measurement(config, time_s);
  if (isnan(time_s)) {
    clt_measurement_init(&m, config);
    m.reason = CLT_REASON_WRONG_OUTPUT;
  }
  json_t *described = clt_device_json(device);
  assert_non_null(json = json_dumps(described, 0));
  json_decref(described);
  if (clt_store_new(&store, NULL, store_path, &error) || clt_store_key_init(&key, instance, &error) ||
      (!f->older && clt_store_describe_instance(store, &key, instance, &error)) ||
      (f->older && clt_store_describe(store, &(clt_store_description){.key = key,
          .problem_name = "add", .problem_path = f->problem_path, .sizes = sizes, .device_json = json}, &error)) ||
      clt_store_add(store, &key, clt_instance_space(instance), kind, &m, &error))
    fail_msg("%s", error.message);
  clt_store_free(store);
  clt_instance_free(instance);
  free(json);
}

static void know(const fixture *f, const clt_device_info *device, int64_t n, clt_config config, double time_s) {
  know_as(f, f->store_path, device, n, CLT_RECORD_SEARCH, config, time_s);
}

/* Looks n up and checks tier and configuration. */
static clt_lookup_result look_up(const fixture *f, clt_catalog *catalog, int64_t n, clt_tier tier,
                                 const char *configuration) {
  clt_lookup_result found;
  clt_error error = {0};
  const clt_size size = {"n", n};
  if (clt_catalog_lookup(&found, catalog, f->problem_path, &size, 1, &f->device, &error)) fail_msg("%s", error.message);
  assert_string_equal(clt_tier_name(found.tier), clt_tier_name(tier));
  assert_string_equal(found.configuration, configuration);
  return found;
}

static void expect(const fixture *f, int64_t n, clt_tier tier, bool stale, const char *configuration, double time_s) {
  clt_catalog *catalog = open_catalog(f);
  clt_lookup_result found = look_up(f, catalog, n, tier, configuration);
  assert_int_equal(found.stale, stale);
  assert_true(isnan(time_s) ? isnan(found.expected_time_s) : found.expected_time_s == time_s);
  clt_lookup_result_release(&found);
  clt_catalog_free(catalog);
}

static void without_a_store_the_default_is_the_answer(void **state) {
  expect(*state, 64, CLT_TIER_DEFAULT, false, "block=8", NAN);
  assert_int_equal(access(((fixture *)*state)->store_path, F_OK), -1); /* nothing was made */
}

static void what_was_measured_is_exact(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 0, 2e-3);
  know(f, &f->device, 64, 1, 1e-3);
  expect(f, 64, CLT_TIER_EXACT, false, "block=16", 1e-3);
  clt_catalog *catalog = open_catalog(f);
  clt_lookup_result found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=16");
  assert_non_null(strstr(found.options, "-Dblock=16"));
  assert_string_equal(found.sizes, "n=64");
  assert_int_equal(found.n_launches, 1);
  assert_string_equal(found.launches[0].kernel, "add");
  assert_int_equal(found.launches[0].global[0], 64);
  assert_int_equal(found.launches[0].local[0], 16);
  clt_lookup_result_release(&found);
  clt_catalog_free(catalog);
}

static void finalists_go_before_what_the_search_saw(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  know_as(f, f->store_path, &f->device, 64, CLT_RECORD_FINALIST, 1, 3e-3);
  know_as(f, f->store_path, &f->device, 64, CLT_RECORD_FINALIST, 0, 2e-3);
  expect(f, 64, CLT_TIER_EXACT, false, "block=8", 2e-3);
  know_as(f, f->store_path, &f->device, 64, CLT_RECORD_FINALIST, 0, 4e-3); /* the newer one counts */
  expect(f, 64, CLT_TIER_EXACT, false, "block=16", 3e-3);
}

static void a_finalist_that_failed_is_no_answer(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  know(f, &f->device, 64, 0, 2e-3);
  know_as(f, f->store_path, &f->device, 64, CLT_RECORD_FINALIST, 1, NAN);
  expect(f, 64, CLT_TIER_EXACT, false, "block=8", 2e-3);
}

static void a_slow_finalist_is_no_answer_where_the_fast_ones_are_not_valid(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3); /* fast, and not valid if work-groups are small: here, nothing else is faster */
  know(f, &f->device, 64, 0, 9e-3);
  know_as(f, f->store_path, &f->device, 64, CLT_RECORD_FINALIST, 0, 9e-3);
  expect(f, 64, CLT_TIER_EXACT, false, "block=16", 1e-3);
}

static void another_driver_is_stale(void **state) {
  const fixture *f = *state;
  clt_device_info old = f->device;
  strcpy(old.driver_version, "3.0");
  know(f, &old, 64, 1, 1e-3);
  expect(f, 64, CLT_TIER_OTHER_DRIVER, true, "block=16", 1e-3);
  know(f, &f->device, 64, 0, 2e-3);
  expect(f, 64, CLT_TIER_EXACT, false, "block=8", 2e-3);
}

static void the_nearest_size_answers(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 0, 1e-3);
  know(f, &f->device, 4096, 1, 1e-3);
  expect(f, 128, CLT_TIER_NEAREST_SIZE, false, "block=8", NAN);
  expect(f, 1024, CLT_TIER_NEAREST_SIZE, false, "block=16", NAN); /* by ratio, not by difference */
}

static void another_text_of_the_kernel_is_stale(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  write_text(f->folder, "add.cl", "__kernel void add(__global float *c, int n) { c[get_global_id(0)] = 2; }\n");
  expect(f, 64, CLT_TIER_NEAREST_SIZE, true, "block=16", NAN);
}

/* Another version of the kernel, by number. */
static void write_version(const fixture *f, int version) {
  char text[160];
  snprintf(text, sizeof text, "__kernel void add(__global float *c, int n) { c[get_global_id(0)] = %d; }\n", version);
  write_text(f->folder, "add.cl", text);
}

/* Many texts, so that their hashes are in any order. */
static void of_equally_near_ones_the_present_text_answers(void **state) {
  const fixture *f = *state;
  for (int version = 1; version <= 6; version++) {
    write_version(f, version);
    know(f, &f->device, 64, version % 2, 1e-3);
  }
  for (int version = 1; version <= 6; version++) {
    write_version(f, version);
    expect(f, 128, CLT_TIER_NEAREST_SIZE, false, version % 2 ? "block=16" : "block=8", NAN);
  }
  clt_device_info old = f->device; /* the text counts for more than the driver */
  strcpy(old.driver_version, "3.0");
  write_version(f, 7);
  know(f, &old, 64, 1, 1e-3);
  expect(f, 128, CLT_TIER_NEAREST_SIZE, true, "block=16", NAN);
  know(f, &f->device, 64, 0, 1e-3);
  expect(f, 128, CLT_TIER_NEAREST_SIZE, false, "block=8", NAN);
}

static void of_equally_near_ones_of_other_texts_the_newest_answers(void **state) {
  const fixture *f = *state;
  for (int version = 1; version <= 6; version++) {
    write_version(f, version);
    know(f, &f->device, 64, version % 2, 1e-3);
    write_version(f, 100 + version);
    expect(f, 128, CLT_TIER_NEAREST_SIZE, true, version % 2 ? "block=16" : "block=8", NAN);
    expect(f, 64, CLT_TIER_NEAREST_SIZE, true, version % 2 ? "block=16" : "block=8", NAN);
  }
  clt_device_info other = f->device;
  other.compute_units = 64;
  know(f, &other, 128, 1, 1e-3); /* of the present text, but of another device */
  expect(f, 128, CLT_TIER_NEAREST_SIZE, true, "block=8", NAN);
}

static void edit_problem(fixture *f, const char *old, const char *new) {
  char text[2048], edited[2048];
  FILE *file = fopen(f->problem_path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  char *at = strstr(text, old);
  assert_non_null(at);
  snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  write_text(f->folder, "add.json", edited);
  clt_problem_free(f->problem);
  assert_int_equal(clt_problem_new(&f->problem, f->problem_path, NULL), 0);
}

static void a_kernel_answers_by_whatever_name(void **state) {
  fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  edit_problem(f, "\"add\"}, \"Problem", "\"plus\"}, \"Problem");
  expect(f, 128, CLT_TIER_NEAREST_SIZE, false, "block=16", NAN);
  /* Others are compared with the default's result: that is another problem then. */
  edit_problem(f, "[8, 16]", "[8, 16], \"Default\": 16");
  expect(f, 128, CLT_TIER_DEFAULT, false, "block=16", NAN);
  edit_problem(f, "\"plus\"}, \"Problem", "\"add\"}, \"Problem");
  know(f, &f->device, 64, 0, 1e-3);
  expect(f, 128, CLT_TIER_NEAREST_SIZE, false, "block=8", NAN);
}

static void another_kernel_of_the_name_comes_last(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  write_version(f, 7);
  know(f, &f->device, 4096, 0, 1e-3);
  expect(f, 128, CLT_TIER_NEAREST_SIZE, false, "block=8", NAN);
  write_version(f, 9);
  expect(f, 128, CLT_TIER_NEAREST_SIZE, true, "block=16", NAN); /* nothing else is known */
}

static void a_device_of_the_same_kind_answers_and_another_does_not(void **state) {
  const fixture *f = *state;
  clt_device_info other = f->device;
  other.type = CLT_DEVICE_GPU;
  other.compute_units = 64;
  know(f, &other, 64, 1, 1e-3);
  expect(f, 64, CLT_TIER_DEFAULT, false, "block=8", NAN);
  other.type = f->device.type;
  know(f, &other, 64, 1, 1e-3);
  expect(f, 64, CLT_TIER_SAME_ARCHITECTURE, false, "block=16", NAN);
  know(f, &f->device, 128, 0, 1e-3); /* a size of this device is nearer */
  expect(f, 64, CLT_TIER_NEAREST_SIZE, false, "block=8", NAN);
}

static void what_is_not_valid_here_is_passed_over(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  know(f, &f->device, 64, 0, 2e-3);
  fixture small = *f;
  small.device.max_work_group_size = 8;
  expect(&small, 64, CLT_TIER_EXACT, false, "block=8", 2e-3);
}

static void the_first_store_goes_before_the_second(void **state) {
  const fixture *f = *state;
  char second[600];
  snprintf(second, sizeof second, "%s/system.sqlite", f->folder);
  know_as(f, second, &f->device, 64, CLT_RECORD_SEARCH, 0, 1e-3);
  clt_catalog *catalog = NULL;
  const char *const stores[] = {f->store_path, second};
  assert_int_equal(clt_catalog_new(&catalog, stores, 2, NULL), 0);
  clt_lookup_result found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=8");
  clt_lookup_result_release(&found);
  know(f, &f->device, 64, 1, 2e-3); /* the user's own store appears */
  found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=16");
  clt_lookup_result_release(&found);
  clt_catalog_free(catalog);
}

static void answers_are_remembered_until_somebody_adds(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 0, 2e-3);
  clt_catalog *catalog = open_catalog(f);
  clt_lookup_result found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=8");
  clt_lookup_result_release(&found);
  char hidden[620];
  snprintf(hidden, sizeof hidden, "%s.models", f->store_path);
  assert_int_equal(mkdir(hidden, 0700), 0); /* models say nothing about measured configurations */
  snprintf(hidden, sizeof hidden, "%s.away", f->problem_path);
  assert_int_equal(rename(f->problem_path, hidden), 0);
  found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=8"); /* without a look at the file */
  clt_lookup_result_release(&found);
  assert_int_equal(rename(hidden, f->problem_path), 0);
  know(f, &f->device, 64, 1, 1e-3);
  found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=16");
  clt_lookup_result_release(&found);
  clt_catalog_free(catalog);
}

static void a_store_that_cannot_be_written_is_read(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  assert_int_equal(chmod(f->store_path, 0400), 0);
  assert_int_equal(chmod(f->folder, 0500), 0);
  expect(f, 64, CLT_TIER_EXACT, false, "block=16", 1e-3);
  assert_int_equal(chmod(f->folder, 0700), 0);
}

static void what_is_wrong_is_said(void **state) {
  const fixture *f = *state;
  clt_catalog *catalog = open_catalog(f);
  clt_lookup_result found;
  clt_error error = {0};
  const clt_size size = {"m", 64};
  assert_int_equal(clt_catalog_lookup(&found, catalog, f->problem_path, &size, 1, &f->device, &error), CLT_E_NOT_FOUND);
  assert_non_null(strstr(error.message, "'m'"));
  error = (clt_error){0};
  assert_int_equal(clt_catalog_lookup(&found, catalog, "none.json", NULL, 0, &f->device, &error), CLT_E_IO);
  clt_catalog_free(catalog);
  write_text(f->folder, "store.sqlite", "this is no database, and long enough for SQLite to see that it is not");
  const char *const stores[] = {f->store_path};
  error = (clt_error){0};
  assert_int_equal(clt_catalog_new(&catalog, stores, 1, &error), CLT_E_STORE);
}

typedef struct caller {
  const fixture *f;
  clt_catalog *catalog;
  int n_right;
} caller;

static void *call_often(void *data) {
  caller *c = data;
  for (int i = 0; i < 200; i++) {
    const clt_size size = {"n", i % 3 ? 64 : 128};
    clt_lookup_result found;
    if (clt_catalog_lookup(&found, c->catalog, c->f->problem_path, &size, 1, &c->f->device, NULL)) continue;
    c->n_right += strcmp(found.configuration, "block=16") == 0;
    clt_lookup_result_release(&found);
  }
  return NULL;
}

static void several_threads_may_ask(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  pthread_t threads[4];
  caller callers[4];
  clt_catalog *catalog = open_catalog(f);
  for (int i = 0; i < 4; i++) {
    callers[i] = (caller){f, catalog, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(callers[i].n_right, 200);
  }
  clt_catalog_free(catalog);
}

static int count(void *user, const clt_instance *instance, const clt_lookup_result *found) {
  assert_non_null(clt_instance_device(instance));
  assert_int_equal(found->tier, CLT_TIER_EXACT);
  ++*(int *)user;
  return 0;
}

static void everything_known_of_a_problem_is_listed(void **state) {
  const fixture *f = *state;
  clt_device_info other = f->device;
  other.compute_units = 4;
  know(f, &f->device, 64, 1, 1e-3);
  know(f, &f->device, 128, 1, 1e-3);
  know(f, &other, 128, 1, 1e-3);
  clt_instance *instance = instance_on(f, &f->device, 64);
  clt_store_description copy = {.problem_name = "copy"}; /* the same was tuned under another name */
  clt_store *store = NULL;
  assert_int_equal(clt_store_new(&store, NULL, f->store_path, NULL), 0);
  assert_int_equal(clt_store_key_init(&copy.key, instance, NULL), 0);
  assert_int_equal(clt_store_describe(store, &copy, NULL), 0);
  clt_store_free(store);
  clt_instance_free(instance);
  clt_catalog *catalog = open_catalog(f);
  int n = 0;
  assert_int_equal(clt_catalog_each(catalog, f->problem, false, count, &n, NULL), 0);
  assert_int_equal(n, 3);
  write_text(f->folder, "add.cl", "__kernel void add(__global float *c, int n) { c[get_global_id(0)] = 2; }\n");
  n = 0;
  assert_int_equal(clt_catalog_each(catalog, f->problem, false, count, &n, NULL), 0);
  assert_int_equal(n, 0); /* of another text */
  clt_catalog_free(catalog);
}

static double number(const char *configuration, const char *name) {
  char text[128];
  snprintf(text, sizeof text, "%s", configuration);
  const clt_lookup_result found = {.configuration = text};
  double out = NAN;
  clt_error error = {0};
  if (clt_lookup_result_number(&out, &found, name, &error)) fail_msg("%s", error.message);
  return out;
}

static void numbers_are_read_out_of_an_answer(void **state) {
  const fixture *f = *state;
  know(f, &f->device, 64, 1, 1e-3);
  clt_catalog *catalog = open_catalog(f);
  clt_lookup_result found = look_up(f, catalog, 64, CLT_TIER_EXACT, "block=16");
  double block = 0;
  assert_int_equal(clt_lookup_result_number(&block, &found, "block", NULL), 0);
  assert_true(block == 16);
  clt_lookup_result_release(&found);
  clt_catalog_free(catalog);
  assert_true(number("a=1 aa=2 b=-3", "aa") == 2);
  assert_true(number("aa=1 a=2 b=-3", "a") == 2);
  assert_true(number("a=1 b=-3", "b") == -3);
  assert_true(number("a=0.25 b=1e-05", "a") == 0.25);
  assert_true(number("a=0.25 b=1e-05", "b") == 1e-5);
  assert_true(number("a=9007199254740992", "a") == 9007199254740992.0);
}

static void what_is_no_number_is_refused(void **state) {
  (void)state;
  char text[] = "a=1 flags=-fast empty=";
  const clt_lookup_result found = {.configuration = text};
  double out = 5;
  clt_error error = {0};
  assert_int_equal(clt_lookup_result_number(&out, &found, "lags", &error), CLT_E_NOT_FOUND);
  assert_string_equal(error.message, "the configuration 'a=1 flags=-fast empty=' has no parameter 'lags'");
  assert_int_equal(clt_lookup_result_number(&out, &found, "flags", NULL), CLT_E_FORMAT);
  assert_int_equal(clt_lookup_result_number(&out, &found, "empty", NULL), CLT_E_FORMAT);
  assert_int_equal(clt_lookup_result_number(&out, &found, "", NULL), CLT_E_NOT_FOUND);
  assert_true(out == 5);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define OLDER(test) {.name = #test "_of_an_older_store", .test_func = test, .setup_func = set_up_older, .teardown_func = tear_down}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(without_a_store_the_default_is_the_answer),
      CASE(what_was_measured_is_exact),
      CASE(numbers_are_read_out_of_an_answer),
      CASE(what_is_no_number_is_refused),
      CASE(finalists_go_before_what_the_search_saw),
      CASE(a_finalist_that_failed_is_no_answer),
      CASE(a_slow_finalist_is_no_answer_where_the_fast_ones_are_not_valid),
      CASE(another_driver_is_stale),
      CASE(the_nearest_size_answers),
      CASE(another_text_of_the_kernel_is_stale),
      CASE(of_equally_near_ones_the_present_text_answers),
      CASE(of_equally_near_ones_of_other_texts_the_newest_answers),
      CASE(a_kernel_answers_by_whatever_name),
      CASE(another_kernel_of_the_name_comes_last),
      CASE(a_device_of_the_same_kind_answers_and_another_does_not),
      CASE(what_is_not_valid_here_is_passed_over),
      CASE(the_first_store_goes_before_the_second),
      CASE(answers_are_remembered_until_somebody_adds),
      CASE(a_store_that_cannot_be_written_is_read),
      CASE(what_is_wrong_is_said),
      CASE(several_threads_may_ask),
      CASE(everything_known_of_a_problem_is_listed),
      OLDER(the_nearest_size_answers),
      OLDER(another_text_of_the_kernel_is_stale),
      OLDER(of_equally_near_ones_the_present_text_answers),
      OLDER(of_equally_near_ones_of_other_texts_the_newest_answers),
      OLDER(everything_known_of_a_problem_is_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
