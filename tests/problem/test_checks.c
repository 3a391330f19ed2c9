/* The check plan: other inputs, and other sizes. */
#include "scratch.h"

#include <math.h>

#include "problem/checks.h"
#include "problem/data.h"

#define DEVICE                                                                                                  \
  {                                                                                                             \
    .name = "d", .type = CLT_DEVICE_CPU, .max_work_group_size = 1024, .global_memory_bytes = (uint64_t)8 << 30, \
    .max_allocation_bytes = (uint64_t)2 << 30                                                                   \
  }

static clt_problem *problem_with(const char *sizes, const char *conditions, const char *arguments, const char *more) {
  static char json[16384];
  snprintf(
      json, sizeof json,
      "{\"ProblemParameters\": [%s], \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Values\": "
      "[7, 64]}], \"Conditions\": [%s]}, %s \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": "
      "\"k.cl\", \"GlobalSize\": [\"n\"], \"LocalSize\": [\"wg\"], \"Arguments\": [%s]}}",
      sizes, conditions, more, arguments);
  scratch_write("k.cl", "kernel void k(global float *a) {}\n");
  return scratch_problem(json);
}

#define N(size) "{\"Name\": \"n\", \"Default\": " #size "}"
#define OUT                                                                                                        \
  "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": " \
  "\"n\"}"
#define IN(name, type, more)                                                                                         \
  "{\"Name\": \"" name "\", \"Type\": \"" type "\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", " more \
  "},"

/* --- inputs --- */

static clt_data *data_of(const clt_instance *instance, clt_recipe recipe) {
  clt_data *data = NULL;
  clt_error error = {0};
  recipe.judged = true; /* no reference is made here */
  if (clt_data_new(&data, instance, &recipe, &error) != CLT_OK) fail_msg("%s", error.message);
  return data;
}

static const void *content(const clt_data *data, const char *name) { return clt_data_find(data, name)->data; }

static const char stated[] =
    IN("constant", "float", "\"Size\": 64, \"FillType\": \"Constant\", \"FillValue\": 0.2")
    IN("zero", "int", "\"Size\": 64, \"FillType\": \"Constant\", \"FillValue\": 0")
    IN("pinned", "float", "\"Size\": 64, \"FillType\": \"Constant\", \"FillValue\": 3, \"Vary\": false")
    IN("sorted", "float", "\"Size\": 200, \"FillType\": \"Generator\", \"DataSource\": \"i * 2\"")
    IN("identity", "int", "\"Size\": 200, \"FillType\": \"Generator\", \"DataSource\": \"i\"")
    IN("permuted", "int", "\"Size\": 200, \"FillType\": \"Generator\", \"DataSource\": \"(i * 7) % 200\"")
    IN("offsets", "int", "\"Size\": 200, \"FillType\": \"Generator\", \"DataSource\": \"i // 3 * 5\"")
    IN("letters", "uchar", "\"Size\": 200, \"FillType\": \"Generator\", \"DataSource\": \"97 + (i * 11) % 26\"")
    "{\"Name\": \"alpha\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillValue\": 1.5},"
    "{\"Name\": \"beta\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillValue\": 0},"
    "{\"Name\": \"steps\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": 10},"
    "{\"Name\": \"again\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": 10},"
    "{\"Name\": \"length\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": \"n\"}," OUT;

static bool is_permutation(const int32_t *x, size_t n) {
  bool seen[200] = {false};
  for (size_t i = 0; i < n; i++) {
    if (x[i] < 0 || (size_t)x[i] >= n || seen[x[i]]) return false;
    seen[x[i]] = true;
  }
  return true;
}

static void what_the_file_states_varies_and_keeps_its_nature(void **state) {
  (void)state;
  clt_problem *problem = problem_with(N(1000), "", stated, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *own = data_of(instance, clt_own_inputs), *other = data_of(instance, (clt_recipe){CLT_INPUTS_OTHER});
  const float *constant = content(other, "constant"), *sorted = content(other, "sorted"),
              *pinned = content(other, "pinned");
  const int32_t *zero = content(other, "zero"), *identity = content(other, "identity"),
                *offsets = content(other, "offsets");
  const uint8_t *letters = content(other, "letters");
  size_t n_equal = 0, n_zero = 0;
  for (size_t i = 0; i < 64; i++) {
    assert_true(constant[i] >= 0.1f && constant[i] <= 0.3f && pinned[i] == 3.0f && zero[i] >= 0 && zero[i] <= 3);
    n_equal += constant[i] == constant[0];
    n_zero += zero[i] == 0;
  }
  assert_true(n_equal < 5 && n_zero < 32);
  for (size_t i = 1; i < 200; i++) assert_true(sorted[i] >= sorted[i - 1] && offsets[i] >= offsets[i - 1]);
  assert_true(sorted[0] == 0 && sorted[199] == 398 && offsets[0] == 0 && offsets[199] == 330);
  assert_true(memcmp(sorted, content(own, "sorted"), 200 * sizeof *sorted) != 0);
  assert_true(is_permutation(identity, 200) && memcmp(identity, content(own, "identity"), 800) != 0);
  assert_memory_equal(content(other, "permuted"), content(own, "permuted"), 800); /* may belong to its inverse */
  for (size_t i = 0; i < 200; i++) assert_in_range(letters[i], 97, 122);
  /* Scalars that are numbers, but not expressions; equal ones differ. */
  assert_int_equal(own->n_scalars, 0);
  assert_int_equal(other->n_scalars, 4);
  assert_true(*clt_data_scalar_value(other, "alpha") != 1.5 && *clt_data_scalar_value(other, "beta") != 0);
  assert_true(*clt_data_scalar_value(other, "steps") < 10 && *clt_data_scalar_value(other, "again") > 10);
  assert_null(clt_data_scalar_value(other, "length"));
  clt_data_free(other);
  other = data_of(instance, (clt_recipe){CLT_INPUTS_OTHER, .stays = CLT_STAYS_INTEGERS});
  assert_memory_equal(content(other, "identity"), content(own, "identity"), 800);
  assert_true(memcmp(content(other, "constant"), content(own, "constant"), 256) != 0);
  assert_true(other->n_scalars == 2 && clt_data_scalar_value(other, "steps") == NULL);
  clt_data_free(other);
  other = data_of(instance, (clt_recipe){CLT_INPUTS_OTHER, .only = "constant"});
  assert_memory_equal(content(other, "sorted"), content(own, "sorted"), 800);
  assert_true(other->n_scalars == 0 && memcmp(content(other, "constant"), content(own, "constant"), 256) != 0);
  clt_data_free(other);
  clt_data_free(own);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static const char drawn[] = IN("x", "float", "\"Size\": 3000, \"FillType\": \"Random\", \"FillValue\": 4")
    IN("mild", "float", "\"Size\": 3000, \"FillType\": \"Random\", \"FillValue\": 4, \"HostileData\": false")
        IN("i", "int", "\"Size\": 3000, \"FillType\": \"Random\", \"FillValue\": 1000") OUT;

static void spikes_dominate_every_sum(void **state) {
  (void)state;
  clt_problem *problem = problem_with(N(3000), "", drawn, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  for (unsigned variant = 0; variant < 10; variant += 2) {
    clt_data *data = data_of(instance, (clt_recipe){CLT_INPUTS_SPIKES, variant});
    const float *x = content(data, "x");
    double sum = 0;
    size_t n_top = 0;
    for (size_t k = 0; k < 3000; k++) sum += (double)x[k], n_top += x[k] == 4;
    assert_true(x[0] >= 1 && x[2999] >= 1 && x[1500] >= 1 && n_top == 1);
    for (size_t k = 0; k < 3000; k++) assert_true(x[k] >= 1 ? (double)x[k] / sum > 1e-3 : (double)x[k] / sum < 1e-5);
    clt_data_free(data);
    data = data_of(instance, (clt_recipe){CLT_INPUTS_SPIKES, variant + 1});
    x = content(data, "x");
    size_t n_least = 0;
    for (size_t k = 0; k < 3000; k++) n_least += x[k] == 0, assert_true(x[k] >= 0 && x[k] <= 4);
    assert_int_equal(n_least, 1);
    clt_data_free(data);
  }
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void ranges_and_special_values_are_full_unless_excluded(void **state) {
  (void)state;
  clt_problem *problem = problem_with(N(3000), "", drawn, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *type = data_of(instance, (clt_recipe){CLT_INPUTS_RANGE, CLT_RANGE_TYPE}),
           *negative = data_of(instance, (clt_recipe){CLT_INPUTS_RANGE, CLT_RANGE_SIGNED}),
           *nan = data_of(instance, (clt_recipe){CLT_INPUTS_SPECIAL, CLT_SPECIAL_NAN});
  const int32_t *whole = content(type, "i"), *both = content(negative, "i");
  size_t n_least = 0, n_large = 0, n_below = 0, n_nan = 0;
  for (size_t k = 0; k < 3000; k++) {
    n_least += whole[k] == INT32_MIN;
    n_large += whole[k] > 1 << 24;
    n_below += both[k] < 0;
    assert_true(both[k] >= -1001 && both[k] <= 1001);
    n_nan += isnan(((const float *)content(nan, "x"))[k]) != 0;
    assert_true(fabsf(((const float *)content(type, "x"))[k]) <= 4000);
    for (size_t d = 0; d < 2; d++) {
      const float mild = ((const float *)content(d ? nan : type, "mild"))[k];
      assert_true(mild >= 0 && mild < 4);
    }
  }
  assert_true(n_least > 20 && n_large > 500 && n_below > 1000 && n_nan > 10 && n_nan < 100);
  clt_data_free(type);
  clt_data_free(negative);
  clt_data_free(nan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_tolerance_allows_for_rounding_errors_but_not_for_jumps(void **state) {
  (void)state;
  float reference[100], shaken[100];
  for (int i = 0; i < 100; i++) reference[i] = (float)(i + 1), shaken[i] = reference[i] * (1 - 1e-6f);
  clt_array array = {.element = {CLT_ELEMENT_FLOAT, 1, sizeof(float)},
                     .bytes = sizeof reference,
                     .reference = reference,
                     .absolute_tolerance = 1e-9};
  assert_true(clt_array_allow_rounding(&array, shaken));
  assert_true(array.rounding > 5e-4 && array.rounding < 5e-3 && array.absolute_tolerance == array.rounding);
  shaken[7] = 90; /* a jump: at most 1 % of the largest */
  assert_true(clt_array_allow_rounding(&array, shaken) && array.rounding < 5e-3);
  for (int i = 0; i < 100; i++) shaken[i] = reference[i] * (i % 2 ? 1.1f : 0.9f);
  assert_false(clt_array_allow_rounding(&array, shaken)); /* the result is nothing but rounding errors */
}

static void shaken_inputs_differ_by_rounding_errors(void **state) {
  (void)state;
  clt_problem *problem = problem_with(N(3000), "", drawn, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *plain = data_of(instance, (clt_recipe){CLT_INPUTS_SPIKES, 1}),
           *shaken = data_of(instance, (clt_recipe){CLT_INPUTS_SPIKES, 1, .shaken = true});
  const float *x = content(plain, "x"), *y = content(shaken, "x");
  size_t n_changed = 0;
  for (size_t k = 0; k < 3000; k++) {
    n_changed += x[k] != y[k];
    assert_true(fabsf(y[k]) <= fabsf(x[k]) && fabsf(x[k] - y[k]) <= 4e-7f * fabsf(x[k]));
  }
  assert_true(n_changed > 1500);
  assert_memory_equal(content(plain, "i"), content(shaken, "i"), 3000 * sizeof(int32_t));
  clt_data_free(plain);
  clt_data_free(shaken);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void nudged_inputs_keep_what_a_kernel_may_remember(void **state) {
  (void)state;
  clt_problem *problem = problem_with(N(3000), "", drawn, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *own = data_of(instance, clt_own_inputs), *nudged = data_of(instance, (clt_recipe){CLT_INPUTS_NUDGED});
  const float *a = content(own, "x"), *b = content(nudged, "x");
  size_t n_changed = 0;
  for (size_t k = 0; k < 3000; k++) n_changed += a[k] != b[k], assert_true(b[k] >= a[k]);
  assert_true(a[0] == b[0] && a[2999] == b[2999] && a[1500] == b[1500] && a[64] == b[64]);
  assert_true(n_changed > 300 && n_changed < 900);
  clt_data_free(own);
  clt_data_free(nudged);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void the_list_has_what_makes_a_difference(void **state) {
  (void)state;
  static const char reference[] = "\"Reference\": {\"Module\": \"r.c\", \"Function\": \"r\"},";
  clt_check all[CLT_MAX_CHECKS], some[CLT_MAX_CHECKS], none[CLT_MAX_CHECKS];
  clt_problem *problem = problem_with(N(3000), "", drawn, reference), *bare = problem_with(N(3000), "", OUT, reference);
  const size_t n = clt_checks_list(all, problem, false), n_fast = clt_checks_list(some, problem, true);
  assert_int_equal(n, n_fast + 2); /* without NaN and infinities */
  assert_int_equal(n, 18);
  assert_int_equal(clt_checks_list(none, bare, true), 1); /* the order of work-items */
  clt_problem_free(problem);
  clt_problem_free(bare);
}

/* --- sizes --- */

static int64_t size_of(const clt_instance *instance, size_t i) { return clt_instance_size(instance, i).value; }

static void ragged_sizes_are_small_odd_and_unequal(void **state) {
  (void)state;
  static const clt_device_info device = DEVICE;
  clt_check_stage stage;
  clt_problem *problem = problem_with(
      N(1024) ", {\"Name\": \"m\", \"Default\": 1024}, {\"Name\": \"radius\", \"Default\": 2}", "", drawn, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  assert_int_equal(clt_stage_new_ragged(&stage, instance, scratch_config(instance, "wg=7"), 65536, NULL), CLT_OK);
  assert_non_null(stage.instance);
  const int64_t n = size_of(stage.instance, 0), m = size_of(stage.instance, 1), radius = size_of(stage.instance, 2);
  assert_true(n % 2 && m % 2 && n % 7 && m % 7 && n != m && n < 1024 && m < 1024 && radius == 1);
  clt_stage_release(&stage);
  assert_int_equal(clt_stage_new_large(&stage, instance, scratch_config(instance, "wg=7"),
                                       (clt_stage_limits){16e6, 1e9, 1e9}, CLT_GROWS_FULLY, 0, false, NULL),
                   CLT_OK);
  assert_true(size_of(stage.instance, 0) > 131072 && size_of(stage.instance, 1) > 16);
  assert_true(clt_instance_elements(stage.instance) > 8e6);
  clt_stage_release(&stage);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void conditions_and_bounds_of_sizes_hold(void **state) {
  (void)state;
  static const clt_device_info device = DEVICE;
  static const struct {
    const char *sizes, *condition;
    int64_t divisor, least, most; /* of the size n */
  } cases[] = {{N(1024), "{\"Expression\": \"n % 64 == 0\"}", 64, 64, 1 << 30},
               {N(1024), "{\"Expression\": \"n & (n - 1) == 0\"}", 2, 2, 1 << 30},
               {"{\"Name\": \"n\", \"Default\": 1024, \"Min\": 1000, \"Max\": 1100}", "", 1, 1000, 1100}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_problem *problem = problem_with(cases[i].sizes, cases[i].condition, drawn, "");
    clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
    for (int large = 0; large < 2; large++) {
      clt_check_stage stage;
      const clt_config config = scratch_config(instance, "wg=64");
      assert_int_equal(large ? clt_stage_new_large(&stage, instance, config, (clt_stage_limits){1e6, 1e9, 1e9},
                                                   CLT_GROWS_FULLY, 0, false, NULL)
                             : clt_stage_new_ragged(&stage, instance, config, 512, NULL),
                       CLT_OK);
      assert_non_null(stage.instance);
      const int64_t n = size_of(stage.instance, 0);
      assert_true(n != 1024 && n % cases[i].divisor == 0 && n >= cases[i].least && n <= cases[i].most);
      if (i == 1 && !large) assert_non_null(strstr(stage.note, "which a condition excludes"));
      clt_stage_release(&stage);
    }
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

static void without_other_sizes_there_is_a_reason(void **state) {
  (void)state;
  static const clt_device_info device = DEVICE;
  static const char file[] =
      IN("x", "float", "\"Size\": \"n\", \"FillType\": \"BinaryRaw\", \"DataSource\": \"x.raw\"") OUT;
  static const struct {
    const char *sizes, *arguments, *why;
  } cases[] = {
      {"{\"Name\": \"n\", \"Default\": 64, \"Min\": 64, \"Max\": 64}", drawn, "the problem allows no other sizes"},
      {N(64), file, "the data files have one size"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_check_stage stage;
    clt_problem *problem = problem_with(cases[i].sizes, "", cases[i].arguments, "");
    clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
    assert_int_equal(clt_stage_new_ragged(&stage, instance, scratch_config(instance, "wg=64"), 512, NULL), CLT_OK);
    assert_null(stage.instance);
    assert_string_equal(stage.note, cases[i].why);
    clt_stage_release(&stage);
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_the_file_states_varies_and_keeps_its_nature),
      cmocka_unit_test(spikes_dominate_every_sum),
      cmocka_unit_test(ranges_and_special_values_are_full_unless_excluded),
      cmocka_unit_test(a_tolerance_allows_for_rounding_errors_but_not_for_jumps),
      cmocka_unit_test(shaken_inputs_differ_by_rounding_errors),
      cmocka_unit_test(nudged_inputs_keep_what_a_kernel_may_remember),
      cmocka_unit_test(the_list_has_what_makes_a_difference),
      cmocka_unit_test(ragged_sizes_are_small_odd_and_unequal),
      cmocka_unit_test(conditions_and_bounds_of_sizes_hold),
      cmocka_unit_test(without_other_sizes_there_is_a_reason),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
