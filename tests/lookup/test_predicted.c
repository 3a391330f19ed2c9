/* Looking up by a model: kept in memory, turned to other sizes, and read again when it was trained again. */
#include <math.h>
#include <string.h>

#include "device/device.h"
#include "fixture.h"
#include "lookup/lookup.h"
#include "store/store.h"

#define N_SIZES 8

static const char problem_text[] =
    "{\"General\": {\"BenchmarkName\": \"scale\"},"
    "\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 64}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": ["
    "  {\"Name\": \"a\", \"Type\": \"int\", \"Values\": \"[i for i in range(1, 17)]\"},"
    "  {\"Name\": \"b\", \"Type\": \"int\", \"Values\": \"[i for i in range(1, 9)]\"}]},"
    "\"KernelSpecification\": {\"KernelName\": \"scale\", \"KernelFile\": \"scale.cl\","
    "  \"GlobalSize\": [\"n\"], \"LocalSize\": [1], \"Arguments\": []}}";

/* The best a is the size's logarithm, plus offset. */
static double true_time(const clt_space *space, clt_config config, int64_t n, double offset) {
  double a = clt_value_number(clt_space_value(space, config, 0)),
         b = clt_value_number(clt_space_value(space, config, 1));
  return 1e-6 * (double)n * (1 + 0.05 * fabs(a - log2((double)n) - offset) + 0.04 * fabs(b - 5));
}

static clt_instance *instance_at(const fixture *f, int64_t n) { return instance_on(f, &f->device, n); }

static void measure_all(const fixture *f, clt_store *store, int64_t n, double offset) {
  clt_instance *instance = instance_at(f, n);
  const clt_space *space = clt_instance_space(instance);
  clt_store_key key;
  char *json = NULL, sizes[32];
  snprintf(sizes, sizeof sizes, "n=%lld", (long long)n);
  assert_int_equal(clt_store_key_init(&key, instance, NULL), 0);
  json_t *described = clt_device_json(&f->device);
  assert_non_null(json = json_dumps(described, 0));
  json_decref(described);
  assert_int_equal(clt_store_describe(store, &(clt_store_description){.key = key,
          .problem_name = "scale", .problem_path = f->problem_path, .sizes = sizes, .device_json = json}, NULL), 0);
  for (uint64_t r = 0; r < clt_space_valid(space); r += 2) {
    clt_config config = clt_space_at(space, r);
    clt_measurement m = make_measurement(config, true_time(space, config, n, offset));
    assert_int_equal(clt_store_add(store, &key, space, CLT_RECORD_SEARCH, &m, NULL), 0);
  }
  free(json);
  clt_instance_free(instance);
}

static void measure(const fixture *f, double offset) {
  clt_store *store = NULL;
  assert_int_equal(clt_store_new(&store, NULL, f->store_path, NULL), 0);
  for (int i = 0; i < N_SIZES; i++) measure_all(f, store, (int64_t)16 << i, offset);
  clt_store_free(store);
}

static void train(const fixture *f, uint64_t seed) {
  clt_store *store = NULL;
  size_t n_sizes = 0;
  clt_model *model = NULL;
  clt_error error = {0};
  clt_instance *instance = instance_at(f, 64);
  assert_int_equal(clt_store_new(&store, NULL, f->store_path, NULL), 0);
  if (clt_predictor_fit(&model, &n_sizes, store, instance, false, "ensemble", NULL, 0, seed, 1, &error) ||
      clt_predictor_save(model, f->store_path, instance, &error))
    fail_msg("%s", error.message);
  clt_model_free(model);
  assert_int_equal(n_sizes, N_SIZES);
  clt_store_free(store);
  clt_instance_free(instance);
}

static int set_up(void **state) {
  char *folder = make_folder();
  write_text(folder, "scale.json", problem_text);
  write_text(folder, "scale.cl", "__kernel void scale(void) {}\n");
  fixture *f = fixture_new(folder, "scale.json");
  measure(f, 0);
  *state = f;
  return 0;
}

static double number(const clt_lookup_result *found, const char *name) {
  double out = NAN;
  assert_int_equal(clt_lookup_result_number(&out, found, name, NULL), 0);
  return out;
}

static void expect(const fixture *f, clt_catalog *catalog, int64_t n, double a) {
  clt_lookup_result found;
  const clt_size size = {"n", n};
  assert_int_equal(clt_catalog_lookup(&found, catalog, f->problem_path, &size, 1, &f->device, NULL), 0);
  assert_string_equal(clt_tier_name(found.tier), "prediction");
  assert_true(fabs(number(&found, "a") - a) <= 1);
  assert_true(fabs(number(&found, "b") - 5) <= 1);
  assert_true(fabs(found.expected_time_s / (1e-6 * (double)n) - 1) < 0.2);
  clt_lookup_result_release(&found);
}

static void a_kept_model_answers_for_one_size_after_another(void **state) {
  const fixture *f = *state;
  train(f, 1);
  clt_catalog *catalog = open_catalog(f);
  for (int round = 0; round < 2; round++) {
    expect(f, catalog, 90, log2(90));
    expect(f, catalog, 720, log2(720));
    expect(f, catalog, 180, log2(180));
  }
  clt_catalog_free(catalog);
}

static void a_caller_s_instance_may_go_while_the_model_stays(void **state) {
  const fixture *f = *state;
  train(f, 1);
  clt_catalog *catalog = open_catalog(f);
  expect(f, catalog, 90, log2(90));
  for (int i = 0; i < 2; i++) {
    clt_lookup_result found;
    clt_instance *instance = instance_at(f, 720);
    assert_int_equal(clt_catalog_lookup_instance(catalog, &found, instance, NULL), 0);
    assert_string_equal(clt_tier_name(found.tier), "prediction");
    assert_true(fabs(number(&found, "a") - log2(720)) <= 1);
    clt_lookup_result_release(&found);
    clt_instance_free(instance);
    expect(f, catalog, 90 + i, log2(90));
  }
  clt_catalog_free(catalog);
}

static void what_is_trained_anew_is_read_anew(void **state) {
  const fixture *f = *state;
  clt_catalog *catalog = open_catalog(f);
  clt_lookup_result found;
  const clt_size size = {"n", 90};
  assert_int_equal(clt_catalog_lookup(&found, catalog, f->problem_path, &size, 1, &f->device, NULL), 0);
  assert_string_equal(clt_tier_name(found.tier), "nearest-size");
  clt_lookup_result_release(&found);
  train(f, 1);
  expect(f, catalog, 90, log2(90)); /* although no tuning added to the store */
  measure(f, 4);
  train(f, 2);
  expect(f, catalog, 90, log2(90) + 4);
  clt_catalog_free(catalog);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_kept_model_answers_for_one_size_after_another),
      CASE(a_caller_s_instance_may_go_while_the_model_stays),
      CASE(what_is_trained_anew_is_read_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
