/* Data sets: content, references, sharing. */
#include "scratch.h"

#include <math.h>
#include <sys/stat.h>

#include "problem/data.h"
#include "problem/instance.h"

/* A problem with the given arguments, and more at its top level. */
static clt_problem *with_arguments(const char *arguments, const char *more) {
  char json[4000];
  snprintf(
      json, sizeof json,
      "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 6}], \"ConfigurationSpace\": {\"TuningParameters\": "
      "[{\"Name\": \"a\", \"Values\": [0, 1]}]}, %s \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": "
      "\"k.cl\", \"GlobalSize\": 1, \"Arguments\": [%s]}}",
      more, arguments);
  return scratch_problem(json);
}

static clt_data *data_of(const clt_instance *instance, uint64_t seed) {
  clt_data *data = NULL;
  clt_error error = {0};
  const clt_recipe recipe = {.inputs = seed == 1 ? CLT_INPUTS_OWN : CLT_INPUTS_OTHER, .stays = CLT_STAYS_STATED};
  if (clt_data_new(&data, instance, &recipe, &error) != CLT_OK) fail_msg("%s", error.message);
  return data;
}

static clt_data *data_from(const clt_instance *instance, clt_inputs inputs, unsigned variant) {
  const clt_recipe recipe = {inputs, variant};
  clt_data *data = NULL;
  clt_error error = {0};
  if (clt_data_new(&data, instance, &recipe, &error) != CLT_OK) fail_msg("%s", error.message);
  return data;
}

static void expect_failure(const char *arguments, const char *more, int code, const char *message) {
  clt_data *data = NULL;
  clt_error error = {0};
  clt_problem *problem = with_arguments(arguments, more);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  int rc = clt_data_new(&data, instance, &clt_own_inputs, &error);
  if (rc != code || strstr(error.message, message) == NULL) fail_msg("%d: %s", rc, error.message);
  assert_null(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

#define VECTOR "\"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", "

static void constants_formulas_and_ramps(void **state) {
  (void)state;
  clt_problem *problem =
      with_arguments("{\"Name\": \"c\", \"Type\": \"short\", " VECTOR
                     "\"Size\": \"n\", \"FillType\": \"Constant\", \"FillValue\": \"n - 10\"},"
                     "{\"Name\": \"z\", \"Type\": \"double\", " VECTOR
                     "\"Size\": \"n\", \"FillType\": \"Constant\"},"
                     "{\"Name\": \"h\", \"Type\": \"half\", " VECTOR
                     "\"Size\": 1, \"FillValue\": 1.5},"
                     "{\"Name\": \"f\", \"Type\": \"float\", " VECTOR
                     "\"Size\": \"n\", \"FillType\": \"Generator\", \"DataSource\": \"i*0.5 if i%2 < 1 else -i\"},"
                     "{\"Name\": \"r\", \"Type\": \"int\", " VECTOR
                     "\"Size\": [2, \"n\"], \"FillType\": \"Generator\", \"Generator\": \"ramp\"},"
                     "{\"Name\": \"u\", \"Type\": \"uchar\", " VECTOR
                     "\"Size\": 300, \"FillType\": \"Generator\", \"Generator\": \"ramp\"}",
                     "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1);
  assert_int_equal(data->n_arrays, 6);
  const int16_t *c = clt_data_find(data, "c")->data;
  const double *z = clt_data_find(data, "z")->data;
  const float *f = clt_data_find(data, "f")->data;
  const int32_t *r = clt_data_find(data, "r")->data;
  const uint8_t *u = clt_data_find(data, "u")->data;
  assert_true(c[0] == -4 && c[5] == -4 && z[5] == 0);
  assert_int_equal(*(const uint16_t *)clt_data_find(data, "h")->data, 0x3e00);
  assert_true(f[0] == 0 && f[1] == -1 && f[4] == 2 && f[5] == -5);
  assert_true(r[0] == 0 && r[11] == 11 && clt_data_find(data, "r")->extent[1] == 6);
  assert_true(u[255] == 255 && u[256] == 0);
  assert_null(clt_data_find(data, "nothing"));
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static const char random_arguments[] = "{\"Name\": \"x\", \"Type\": \"float\", " VECTOR
                                       "\"Size\": 1000, \"FillType\": \"Random\", \"FillValue\": 4},"
                                       "{\"Name\": \"y\", \"Type\": \"float\", " VECTOR
                                       "\"Size\": 1000, \"FillType\": \"Random\", \"FillValue\": 4},"
                                       "{\"Name\": \"i\", \"Type\": \"uchar\", " VECTOR
                                       "\"Size\": 1000, \"FillType\": \"Random\", \"FillValue\": 3},"
                                       "{\"Name\": \"noise\", \"Type\": \"uchar4\", " VECTOR
                                       "\"Size\": 1000, \"FillType\": \"Generator\", \"Generator\": \"noise\"},"
                                       "{\"Name\": \"picture\", \"Type\": \"float\", " VECTOR
                                       "\"Size\": [64, 32], \"FillType\": \"Generator\", \"Generator\": \"image\"}";

static void the_same_seed_gives_the_same_data_and_another_does_not(void **state) {
  (void)state;
  clt_problem *problem = with_arguments(random_arguments, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *first = data_of(instance, 1), *again = data_of(instance, 1), *other = data_of(instance, 2);
  for (size_t i = 0; i < first->n_arrays; i++) {
    assert_memory_equal(first->arrays[i].data, again->arrays[i].data, first->arrays[i].bytes);
    assert_memory_not_equal(first->arrays[i].data, other->arrays[i].data, first->arrays[i].bytes);
  }
  assert_memory_not_equal(first->arrays[0].data, first->arrays[1].data, first->arrays[0].bytes);
  clt_data_free(first);
  clt_data_free(again);
  clt_data_free(other);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* Counts the kinds of numbers; all are within the bound. */
typedef struct kinds {
  size_t negative, zero, denormal, end;
} kinds;

static kinds kinds_of(const clt_data *data, const char *name, float bound) {
  const clt_array *array = clt_data_find(data, name);
  kinds n = {0};
  for (size_t i = 0; i < array->bytes / sizeof(float); i++) {
    const float x = ((const float *)array->data)[i];
    assert_true(fabsf(x) <= bound);
    n.negative += x < 0;
    n.zero += x == 0;
    n.denormal += fpclassify(x) == FP_SUBNORMAL;
    n.end += fabsf(x) > bound * 0.999999f;
  }
  return n;
}

static void hostile_numbers_have_signs_zeros_denormals_and_ends(void **state) {
  (void)state;
  clt_problem *problem =
      with_arguments("{\"Name\": \"x\", \"Type\": \"float\", " VECTOR
                     "\"Size\": 1000, \"FillType\": \"Random\", \"FillValue\": 4},"
                     "{\"Name\": \"y\", \"Type\": \"float\", " VECTOR
                     "\"Size\": 1000, \"FillType\": \"Random\", \"HostileData\": false},"
                     "{\"Name\": \"i\", \"Type\": \"int\", " VECTOR
                     "\"Size\": 1000, \"FillType\": \"Random\", \"FillValue\": 100000},"
                     "{\"Name\": \"h\", \"Type\": \"half\", " VECTOR "\"Size\": 3, \"FillType\": \"Random\"}",
                     "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_from(instance, CLT_INPUTS_RANGE, CLT_RANGE_ENDS);
  const kinds x = kinds_of(data, "x", 4), y = kinds_of(data, "y", 1);
  assert_true(x.negative > 400 && x.negative < 700 && x.zero > 100 && x.denormal > 100 && x.end > 100);
  assert_true(y.negative == 0 && y.denormal == 0 && y.end < 10);
  const int32_t *i = clt_data_find(data, "i")->data;
  size_t n_zero = 0, n_end = 0;
  for (size_t k = 0; k < 1000; k++) {
    assert_in_range(i[k], 0, 100000);
    n_zero += i[k] == 0;
    n_end += i[k] == 100000;
  }
  assert_true(n_zero > 100 && n_end > 100);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void random_numbers_lie_between_0_and_the_bound(void **state) {
  (void)state;
  clt_problem *problem = with_arguments(random_arguments, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1);
  const float *x = data->arrays[0].data;
  const uint8_t *i = data->arrays[2].data;
  size_t counts[4] = {0};
  double sum = 0;
  for (size_t k = 0; k < 1000; k++) {
    assert_true(x[k] >= 0 && x[k] < 4);
    assert_true(i[k] <= 3);
    counts[i[k]]++;
    sum += x[k];
  }
  assert_true(fabs(sum / 1000 - 2) < 0.2);
  for (size_t k = 0; k < 4; k++) assert_true(counts[k] > 180 && counts[k] < 320);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_built_in_image_has_structure(void **state) {
  (void)state;
  clt_problem *problem = with_arguments(random_arguments, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1);
  const float *p = clt_data_find(data, "picture")->data;
  double least = 1, largest = 0, steps = 0;
  for (size_t k = 1; k < 64 * 32; k++) {
    least = fmin(least, p[k]);
    largest = fmax(largest, p[k]);
    if (k % 64) steps += fabs(p[k] - p[k - 1]);
  }
  assert_true(least >= 0 && largest <= 1 && largest - least > 0.4);
  assert_true(steps / (63 * 32) < 0.15); /* neighbours resemble each other, as noise would not */
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void values_are_stored_saturated_and_rounded(void **state) {
  (void)state;
  unsigned char byte;
  int8_t small;
  uint64_t large;
  static const struct {
    double x;
    uint16_t half;
  } halves[] = {{0, 0},          {-1, 0xbc00},   {65504, 0x7bff},   {65520, 0x7c00},       {0x1p-24, 1},
                {0x1p-25, 0},    {0x1.8p-25, 1}, {0x1p-14, 0x0400}, {0x1.ff8p-15, 0x03ff}, {1.0 / 3, 0x3555},
                {2047.5, 0x6800}};
  clt_store_number(&byte, CLT_ELEMENT_UCHAR, 300);
  clt_store_number(&small, CLT_ELEMENT_CHAR, -1e30);
  clt_store_number(&large, CLT_ELEMENT_ULONG, 0x1p63);
  assert_true(byte == 255 && small == -128 && large == (uint64_t)1 << 63);
  clt_store_number(&byte, CLT_ELEMENT_UCHAR, NAN);
  assert_int_equal(byte, 0);
  for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
    uint16_t half;
    clt_store_number(&half, CLT_ELEMENT_HALF, halves[i].x);
    if (half != halves[i].half) fail_msg("%a is %04x", halves[i].x, half);
  }
}

static void raw_files_are_taken_whole(void **state) {
  (void)state;
  static const int32_t numbers[] = {5, -6, 7};
  static const char argument[] = "{\"Name\": \"x\", \"Type\": \"int\", " VECTOR
                                 "\"Size\": 3, \"FillType\": \"BinaryRaw\", \"DataSource\": \"x.raw\"}";
  scratch_write_bytes("x.raw", numbers, sizeof numbers);
  clt_problem *problem = with_arguments(argument, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 3);
  assert_memory_equal(data->arrays[0].data, numbers, sizeof numbers);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
  scratch_write_bytes("x.raw", numbers, 11);
  expect_failure(argument, "", CLT_E_FORMAT, "has 11 bytes, but argument 'x' needs 12");
  unlink(scratch_path("x.raw"));
  expect_failure(argument, "", CLT_E_IO, "x.raw': No such file");
}

static void pgm_files_of_8_and_16_bits_are_read(void **state) {
  (void)state;
  static const char small[] = "P5\n# a comment\n3 2\n255\n\x00\x33\x66\x99\xcc\xff";
  static const char wide[] = "P5 1 2 1023\n\x03\xff\x01\x00";
  scratch_write_bytes("a.pgm", small, sizeof small - 1);
  scratch_write_bytes("b.pgm", wide, sizeof wide - 1);
  clt_problem *problem = with_arguments("{\"Name\": \"f\", \"Type\": \"float\", " VECTOR
                                        "\"Size\": [3, 2], \"FillType\": \"PGM\", \"DataSource\": \"a.pgm\"},"
                                        "{\"Name\": \"u\", \"Type\": \"uchar\", " VECTOR
                                        "\"Size\": [3, 2], \"FillType\": \"PGM\", \"DataSource\": \"a.pgm\"},"
                                        "{\"Name\": \"w\", \"Type\": \"ushort\", " VECTOR
                                        "\"Size\": [1, 2], \"FillType\": \"PGM\", \"DataSource\": \"b.pgm\"}",
                                        "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1);
  const float *f = data->arrays[0].data;
  const uint16_t *w = data->arrays[2].data;
  assert_true(f[0] == 0 && fabsf(f[1] - 0.2f) < 1e-6f && f[5] == 1);
  assert_memory_equal(data->arrays[1].data, "\x00\x33\x66\x99\xcc\xff", 6);
  assert_true(w[0] == 1023 && w[1] == 256);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void pgm_files_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "P5",
                                    "P6 3 2 255\nxxxxxx",
                                    "P5 3 2 255\nxxxxx",
                                    "P5 3 2 0\nxxxxxx",
                                    "P5 3 2 70000\nxxxxxx",
                                    "P5 99999999999 2 255\nx",
                                    "P5 3 2 # 255\n"};
  static const char argument[] = "{\"Name\": \"x\", \"Type\": \"uchar\", " VECTOR
                                 "\"Size\": [3, 2], \"FillType\": \"PGM\", \"DataSource\": \"bad.pgm\"}";
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    scratch_write("bad.pgm", bad[i]);
    expect_failure(argument, "", CLT_E_FORMAT, "not a complete binary PGM");
  }
  scratch_write("bad.pgm", "P5 4294967295 4294967295 65535\nx");
  expect_failure(argument, "", CLT_E_FORMAT, "has 4294967295 x 4294967295 pixels");
  scratch_write("bad.pgm", "P5 2 3 255\nxxxxxx");
  expect_failure(argument, "", CLT_E_FORMAT, "has 2 x 3 pixels, but argument 'x' has 3 x 2 x 1");
}

static const char module_text[] =
    "#include <clatune/module.h>\n"
    "int ones(const clt_module_call *call) {\n"
    "  float *out = call->target->data;\n"
    "  if (strcmp(call->target->type, \"float\") != 0 || call->target->extent[1] != 2) return 1;\n"
    "  for (size_t i = 0; i < call->target->bytes / 4; i++) out[i] = (float)call->seed;\n"
    "  return 0;\n"
    "}\n"
    "int add(const clt_module_call *call) {\n"
    "  const clt_module_array *in = clt_module_find(call, \"in\"), *out = clt_module_find(call, \"out\"),\n"
    "                         *sum = clt_module_find(call, \"sum\");\n"
    "  double scale = clt_module_value(call, \"scale\", -1), n = clt_module_value(call, \"n\", -1);\n"
    "  for (size_t i = 0; i < in->bytes / 4; i++) {\n"
    "    ((float *)out->data)[i] = ((float *)in->data)[i] * (float)scale + (float)n;\n"
    "    ((float *)sum->data)[i] += ((float *)in->data)[i];\n"
    "  }\n"
    "  return call->target ? 1 : 0;\n"
    "}\n"
    "int fails(const clt_module_call *call) { return call != 0; }\n"
    "int last_of_out(const clt_module_call *call) {\n"
    "  const clt_module_array *in = clt_module_find(call, \"in\"), *out = clt_module_find(call, \"out\");\n"
    "  if (strcmp(call->target->type, \"double\") != 0 || call->target->bytes != sizeof(double)) return 1;\n"
    "  if (((float *)in->data)[0] != (float)call->seed || clt_module_value(call, \"n\", -1) != 6) return 1;\n"
    "  *(double *)call->target->data = ((float *)out->data)[11] / 4;\n"
    "  return 0;\n"
    "}\n"
    "int judge(const clt_module_call *call) {\n" /* the correct result is a times the reference */
    "  const float *out = clt_module_find(call, \"out\")->data;\n"
    "  const float *right = clt_module_find_reference(call, \"out\")->data;\n"
    "  double a = clt_module_value(call, \"a\", -1), varies = clt_module_value(call, \"varies\", -1);\n"
    "  if (call->target || ((float *)clt_module_find(call, \"in\")->data)[0] != (float)call->seed || varies != a) return 2;\n"
    "  if (out[11] == a * right[11]) return 0;\n"
    "  for (int i = 0; i < 9; i++) call->message[i] = call->configuration[i % 3];\n"
    "  return call->message[9] = 0, 1;\n"
    "}\n"
    "int infinite(const clt_module_call *call) { return *(double *)call->target->data = 1e308 * 10, 0; }\n"
    "int silent(const clt_module_call *call) { return call == 0; }\n";

static const char module_arguments[] =
    "{\"Name\": \"in\", \"Type\": \"float\", " VECTOR
    "\"Size\": [\"n\", 2], \"FillType\": \"Generator\", \"Generator\": \"ones\"},"
    "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": "
    "[\"n\", 2]},"
    "{\"Name\": \"sum\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"FillValue\": 10, \"Size\": [\"n\", 2]},"
    "{\"Name\": \"scale\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillValue\": 2.5},"
    "{\"Name\": \"varies\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillValue\": \"a\"}";

static void modules_generate_input_and_reference(void **state) {
  (void)state;
  scratch_write("m.c", module_text);
  clt_problem *problem =
      with_arguments(module_arguments, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"add\"},");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_reference_kind(instance), CLT_REFERENCE_MODULE);
  for (uint64_t seed = 1; seed <= 2; seed++) {
    clt_data *data = data_of(instance, seed);
    const clt_array *out = clt_data_find(data, "out"), *sum = clt_data_find(data, "sum");
    assert_true(out->verified && !out->input && out->data == NULL);
    assert_true(((float *)out->reference)[11] == (float)data->seed * 2.5f + 6);
    assert_true(((float *)sum->reference)[11] == (float)data->seed + 10);
    assert_true(((float *)sum->data)[11] == 10);
    clt_data_free(data);
  }
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_function_judges_what_a_configuration_wrote(void **state) {
  (void)state;
  scratch_write("m.c", module_text);
  clt_problem *problem = with_arguments(
      module_arguments,
      "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"add\", \"Verify\": {\"Function\": \"judge\"}},");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 2);
  const clt_space *space = clt_instance_space(instance);
  float result[12] = {0};
  void *results[3] = {NULL, result, NULL};
  char message[CLT_MODULE_MESSAGE_BYTES];
  assert_string_equal(data->arrays[1].name, "out");
  for (uint64_t i = 0; i < clt_space_valid(space); i++) {
    const clt_config config = clt_space_at(space, i);
    const float a = (float)clt_value_number(clt_space_value(space, config, 0));
    result[11] = a * ((float *)data->arrays[1].reference)[11];
    assert_int_equal(clt_data_verify(message, data, config, results), 0);
    assert_string_equal(message, "");
    result[11]++;
    assert_int_equal(clt_data_verify(message, data, config, results), 1);
    assert_true(strncmp(message, "a=", 2) == 0 && strlen(message) == 9);
  }
  clt_data_free(data);
  clt_problem_drop_reference(problem); /* then nothing is judged */
  data = data_of(instance, 2);
  assert_null(data->verify);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* The figure of quality of module_arguments by a function; NaN: none. */
static int quality_by(double *out, const char *function, clt_error *error) {
  char reference[300];
  clt_data *data = NULL;
  snprintf(reference, sizeof reference,
           "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"add\", \"Quality\": {\"Function\": \"%s\", "
           "\"Name\": \"last\", \"Unit\": \"apples\"}},",
           function);
  scratch_write("m.c", module_text);
  clt_problem *problem = with_arguments(module_arguments, reference);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_string_equal(clt_problem_quality_name(problem), "last");
  assert_string_equal(clt_problem_quality_unit(problem), "apples");
  data = data_of(instance, 1);
  int rc = clt_data_quality(out, instance, data, error);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}

static void a_quality_is_a_figure_of_the_right_result(void **state) {
  (void)state;
  double quality = 7;
  clt_error error = {0};
  assert_int_equal(quality_by(&quality, "last_of_out", &error), 0);
  assert_true(quality == 8.5 / 4);
  assert_int_equal(quality_by(&quality, "fails", &error), 0);
  assert_true(isnan(quality));
  assert_int_equal(quality_by(&quality, "infinite", &error), 0);
  assert_true(isnan(quality));
  assert_int_equal(quality_by(&quality, "silent", &error), 0);
  assert_true(isnan(quality));
  assert_int_equal(quality_by(&quality, "absent", &error), CLT_E_NOT_FOUND);
  assert_non_null(strstr(error.message, "has no function 'absent'"));
}

static void a_problem_without_a_quality_has_none(void **state) {
  (void)state;
  double quality = 7;
  clt_problem *problem = with_arguments(random_arguments, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1);
  assert_null(clt_problem_quality_name(problem));
  assert_string_equal(clt_problem_quality_unit(problem), "");
  assert_int_equal(clt_data_quality(&quality, instance, data, NULL), 0);
  assert_true(isnan(quality));
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void failing_and_missing_functions_are_named(void **state) {
  (void)state;
  scratch_write("m.c", module_text);
  expect_failure(module_arguments, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"fails\"},", CLT_E_VERIFY,
                 "the reference function 'fails'");
  expect_failure(module_arguments, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"absent\"},", CLT_E_NOT_FOUND,
                 "has no function 'absent'");
  expect_failure(
      "{\"Name\": \"x\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": 1, \"Module\": \"m.c\", "
      "\"FillType\": \"Generator\", \"Generator\": \"fails\"}",
      "", CLT_E_IO, "failed to fill argument 'x': it may not support these problem sizes");
  scratch_write("m2.c", "#include <clatune/module.h>\nint ones(const clt_module_call *call) { return call->oops; }\n");
  expect_failure(module_arguments, "\"Reference\": {\"Module\": \"m2.c\", \"Function\": \"add\"},", CLT_E_FORMAT,
                 "oops");
  expect_failure(module_arguments, "\"Reference\": {\"Module\": \"none.c\", \"Function\": \"add\"},", CLT_E_IO,
                 "none.c': No such file");
  setenv("CC", "no-such-compiler-anywhere", 1);
  expect_failure(module_arguments, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"add\"},", CLT_E_IO,
                 "set CC to a C compiler");
  unsetenv("CC");
}

static const char output_argument[] =
    "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": 2},"
    "{\"Name\": \"other\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": "
    "2}";

static void reference_files_hold_for_the_usual_input_only(void **state) {
  (void)state;
  static const float right[] = {1, 2};
  scratch_write_bytes("r.bin", right, sizeof right);
  clt_problem *problem =
      with_arguments(output_argument,
                     "\"ReferenceArguments\": [{\"Name\": \"r\", \"TargetName\": \"out\", \"FillType\": \"BinaryRaw\", "
                     "\"DataSource\": \"r.bin\","
                     " \"ValidationMethod\": \"SideBySideComparison\", \"ValidationThreshold\": 0.25}],");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1);
  assert_int_equal(clt_instance_reference_kind(instance), CLT_REFERENCE_FILE);
  assert_int_equal(data->n_arrays, 1); /* "other" has no reference, and nothing else to say */
  assert_true(data->arrays[0].verified && data->arrays[0].absolute_tolerance == 0.25);
  assert_true(data->arrays[0].relative_tolerance == 0);
  assert_memory_equal(data->arrays[0].reference, right, sizeof right);
  clt_data_free(data);
  data = data_of(instance, 2);
  assert_true(!data->arrays[0].verified && data->arrays[0].reference == NULL);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void without_a_reference_the_default_configuration_is_it(void **state) {
  (void)state;
  clt_problem *problem = with_arguments(output_argument, "");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_reference_kind(instance), CLT_REFERENCE_DEFAULT);
  clt_data *data = data_of(instance, 2);
  assert_true(data->arrays[0].verified && data->arrays[0].reference == NULL);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
  problem = with_arguments("", "");
  instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_reference_kind(instance), CLT_REFERENCE_NONE);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* A module's reference, around 1e-9, as it is made and as workers map it. */
static void only_default_tolerances_follow_the_reference(void **state) {
  (void)state;
  static const struct {
    const char *stated;
    double expected;
  } cases[] = {{"", 1e-15}, {", \"AbsoluteTolerance\": 1e-6", 1e-6}};
  scratch_write("m.c",
                "#include <clatune/module.h>\n"
                "int small(const clt_module_call *call) {\n"
                "  const clt_module_array *out = clt_module_find(call, \"out\");\n"
                "  for (size_t i = 0; i < out->extent[0]; i++) ((float *)out->data)[i] = i % 2 ? 1e-9f : -1e-9f;\n"
                "  return 0;\n}\n");
  for (size_t i = 0; i < 2; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments,
             "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", "
             "\"Size\": 50%s}",
             cases[i].stated);
    clt_problem *problem = with_arguments(arguments, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"small\"},");
    clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
    clt_data *data = data_of(instance, 1), *mapped = NULL;
    assert_true(fabs(data->arrays[0].absolute_tolerance / cases[i].expected - 1) < 1e-6);
    assert_int_equal(clt_data_save(data, scratch, NULL), 0);
    assert_int_equal(clt_data_map(&mapped, instance, &clt_own_inputs, scratch, NULL), 0);
    assert_true(mapped->arrays[0].absolute_tolerance == data->arrays[0].absolute_tolerance);
    unlink(scratch_path("array0.reference"));
    clt_data_free(mapped);
    clt_data_free(data);
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

static void saved_data_is_mapped_as_it_was(void **state) {
  (void)state;
  struct stat status;
  scratch_write("m.c", module_text);
  clt_problem *problem =
      with_arguments(module_arguments, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"add\"},");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_data *data = data_of(instance, 1), *mapped = NULL;
  assert_int_equal(clt_data_save(data, scratch, NULL), 0);
  assert_int_equal(stat(scratch_path("array0.data"), &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(clt_data_map(&mapped, instance, &clt_own_inputs, scratch, NULL), 0);
  assert_int_equal(mapped->n_arrays, data->n_arrays);
  for (size_t i = 0; i < data->n_arrays; i++) {
    const clt_array *a = &data->arrays[i], *b = &mapped->arrays[i];
    assert_true(b->mapped && (a->data == NULL) == (b->data == NULL) &&
                (a->reference == NULL) == (b->reference == NULL));
    if (a->data) assert_memory_equal(a->data, b->data, a->bytes);
    if (a->reference) assert_memory_equal(a->reference, b->reference, a->bytes);
  }
  clt_data_free(mapped);
  mapped = NULL;
  assert_int_equal(truncate(scratch_path("array0.data"), 5), 0);
  clt_error error = {0};
  assert_int_equal(clt_data_map(&mapped, instance, &clt_own_inputs, scratch, &error), CLT_E_FORMAT);
  assert_non_null(strstr(error.message, "must have 48 bytes, but has 5"));
  unlink(scratch_path("array0.data"));
  assert_int_equal(clt_data_map(&mapped, instance, &clt_own_inputs, scratch, NULL), CLT_E_IO);
  assert_null(mapped);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
  expect_failure("{\"Name\": \"x\", \"Type\": \"float\", " VECTOR
                 "\"Size\": [4294967296, 4294967296], \"FillValue\": 0}",
                 "", CLT_E_RANGE, "exceeds 2^64 bytes");
  expect_failure("{\"Name\": \"x\", \"Type\": \"float\", " VECTOR "\"Size\": \"n - 6\", \"FillValue\": 0}", "",
                 CLT_E_RANGE, "at least 1, but is 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_formulas_and_ramps),
      cmocka_unit_test(the_same_seed_gives_the_same_data_and_another_does_not),
      cmocka_unit_test(hostile_numbers_have_signs_zeros_denormals_and_ends),
      cmocka_unit_test(random_numbers_lie_between_0_and_the_bound),
      cmocka_unit_test(a_built_in_image_has_structure),
      cmocka_unit_test(values_are_stored_saturated_and_rounded),
      cmocka_unit_test(raw_files_are_taken_whole),
      cmocka_unit_test(pgm_files_of_8_and_16_bits_are_read),
      cmocka_unit_test(pgm_files_that_do_not_fit_are_refused),
      cmocka_unit_test(modules_generate_input_and_reference),
      cmocka_unit_test(a_quality_is_a_figure_of_the_right_result),
      cmocka_unit_test(a_problem_without_a_quality_has_none),
      cmocka_unit_test(failing_and_missing_functions_are_named),
      cmocka_unit_test(reference_files_hold_for_the_usual_input_only),
      cmocka_unit_test(without_a_reference_the_default_configuration_is_it),
      cmocka_unit_test(only_default_tolerances_follow_the_reference),
      cmocka_unit_test(a_function_judges_what_a_configuration_wrote),
      cmocka_unit_test(saved_data_is_mapped_as_it_was),
      cmocka_unit_test(sizes_that_overflow_are_refused),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
