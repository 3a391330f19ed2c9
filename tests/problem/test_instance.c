/* Instances: sizes, spaces with and without a device, T1 files of several styles. */
#include "scratch.h"

#include "problem/guidance.h"
#include "space/space.h"

#include <math.h>

static clt_device_info small_device(void) {
  clt_device_info device = {.type = CLT_DEVICE_GPU,
                            .images = true,
                            .max_work_group_size = 8,
                            .max_work_item_sizes = {8, 4, 1},
                            .local_memory_bytes = 1024,
                            .max_allocation_bytes = 1 << 20,
                            .max_constant_bytes = 1 << 16,
                            .image2d_max_width = 128,
                            .image2d_max_height = 64};
  strcpy(device.extensions, "cl_khr_fp64");
  return device;
}

static const char sized[] =
    "{\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": 64, \"Min\": 8, \"Max\": 1000}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": ["
    "  {\"Name\": \"wg_x\", \"Values\": \"[1, 2, 4, 8, 16]\", \"Default\": 4},"
    "  {\"Name\": \"wg_y\", \"Values\": \"[1, 2, 4, 8]\"},"
    "  {\"Name\": \"use_local\", \"Type\": \"bool\", \"Values\": [0, 1], \"Default\": true}],"
    " \"Conditions\": [{\"Expression\": \"wg_x * 8 <= width\"},"
    "   {\"Expression\": \"use_local == 0 or 'cl_khr_fp64' in device.extensions\"}]},"
    "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"none.cl\","
    " \"GlobalSize\": [\"width\", \"width\"], \"LocalSize\": [\"wg_x\", \"wg_y\"], \"Arguments\": ["
    "  {\"Name\": \"in\", \"Type\": \"float\", \"MemoryType\": \"Image2D\", \"When\": \"not use_local\", \"FillType\": "
    "\"Random\","
    "   \"Size\": [\"width\", \"width\"]},"
    "  {\"Name\": \"in\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"When\": \"use_local\", \"AccessType\": "
    "\"ReadOnly\","
    "   \"Size\": [\"width\", \"width\"]},"
    "  {\"Name\": \"tile\", \"Type\": \"float\", \"MemoryType\": \"Local\", \"When\": \"use_local\","
    "   \"Size\": \"16 * wg_x * wg_y\"}],"
    " \"Resources\": {\"WorkGroupSize\": \"wg_x * wg_y\", \"Ratio\": \"wg_x / wg_y\", \"Odd\": \"1 // (wg_x - 1)\"}}}";

static void without_a_device_only_the_conditions_apply(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(sized);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_space *space = clt_instance_space(instance);
  assert_null(clt_instance_device(instance));
  assert_ptr_equal(clt_instance_problem(instance), problem);
  assert_int_equal(clt_space_cartesian(space), 40);
  assert_int_equal(clt_space_valid(space), 4 * 4 * 2); /* wg_x of 16 does not fit */
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void sizes_change_the_space_and_are_checked(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(sized);
  const clt_size large = {"width", 128}, small = {"width", 8}, bad[] = {{"width", 7}, {"width", 1001}, {"widht", 64}};
  clt_instance *instance = scratch_instance(problem, &large, 1, NULL);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 40);
  assert_int_equal(clt_instance_n_sizes(instance), 1);
  assert_int_equal(clt_instance_size(instance, 0).value, 128);
  clt_instance_free(instance);
  instance = scratch_instance(problem, &small, 1, NULL);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 8);
  clt_instance_free(instance);
  static const char *const messages[] = {"at least 8", "at most 1000", "did you mean 'width'?"};
  for (size_t i = 0; i < 3; i++) {
    clt_error error = {0};
    assert_int_equal(clt_instance_new(&instance, problem, &bad[i], 1, NULL, &error),
                     i < 2 ? CLT_E_RANGE : CLT_E_NOT_FOUND);
    assert_non_null(strstr(error.message, messages[i]));
  }
  clt_problem_free(problem);
}

static void expect_violation(const clt_instance *instance, const char *text, const char *message) {
  clt_constraint_origin origin = CLT_CONDITION;
  const char *violation = clt_space_violation(clt_instance_space(instance), scratch_config(instance, text), &origin);
  if (message == NULL) {
    if (violation) fail_msg("%s: %s", text, violation);
    return;
  }
  assert_non_null(violation);
  assert_string_equal(violation, message);
  assert_int_equal(origin, CLT_DEVICE_LIMIT);
}

static void default_sizes_may_depend_on_the_device(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": \"256 * device.compute_units if device.type == 'gpu' "
      "else 64\","
      " \"Max\": 1024}], \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Values\": \"[n // "
      "64]\"}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"none.cl\", \"GlobalSize\": \"n\"}}");
  clt_device_info gpu = small_device(), cpu = {.type = CLT_DEVICE_CPU, .compute_units = 3};
  const clt_size typed = {"n", 128};
  gpu.compute_units = 2;
  const struct {
    const clt_device_info *device;
    size_t n_typed;
    int64_t expected;
  } cases[] = {{NULL, 0, 64}, {&cpu, 0, 64}, {&gpu, 0, 512}, {&gpu, 1, 128}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_instance *instance = scratch_instance(problem, &typed, cases[i].n_typed, cases[i].device);
    assert_int_equal(clt_instance_size(instance, 0).value, cases[i].expected);
    assert_int_equal(clt_space_parameter(clt_instance_space(instance), 0)->values[0].integer, cases[i].expected / 64);
    clt_instance_free(instance);
  }
  assert_int_equal(clt_problem_size(problem, 0).value, 64);
  clt_instance *instance = NULL;
  clt_error error = {0};
  gpu.compute_units = 5;
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, &gpu, &error), CLT_E_FORMAT);
  assert_string_equal(error.key, "ProblemParameters[0].Default");
  assert_non_null(strstr(error.message, "between \"Min\" and \"Max\", but is 1280"));
  clt_problem_free(problem);
}

static void a_device_brings_its_limits_with_messages(void **state) {
  (void)state;
  clt_device_info device = small_device();
  const clt_size width = {"width", 128};
  clt_problem *problem = scratch_problem(sized);
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  assert_string_equal(clt_instance_device(instance)->extensions, "cl_khr_fp64");
  expect_violation(instance, "wg_x=4 wg_y=2 use_local=1", NULL);
  expect_violation(instance, "wg_x=1 wg_y=8 use_local=0",
                   "work-group size in y at most 4 (KernelSpecification.LocalSize[1]: wg_y)");
  expect_violation(instance, "wg_x=8 wg_y=2 use_local=0",
                   "work-group size at most 8 (KernelSpecification: (wg_x) * (wg_y))");
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 2 * (3 + 3 + 2 + 1));
  clt_instance_free(instance);
  instance = scratch_instance(problem, &width, 1, &device);
  expect_violation(instance, "wg_x=4 wg_y=2 use_local=0", "image 'in': height at most 64");
  device.local_memory_bytes = 256;
  clt_instance_free(instance);
  instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "wg_x=4 wg_y=2 use_local=1", "local memory at most 256 bytes");
  expect_violation(instance, "wg_x=4 wg_y=2 use_local=0", NULL);
  clt_instance_free(instance);
  device.images = false;
  device.max_allocation_bytes = 1000;
  instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "wg_x=1 wg_y=1 use_local=0", "image 'in': the device does not support images");
  expect_violation(instance, "wg_x=1 wg_y=1 use_local=1",
                   "argument 'in' takes 4 * (width) * (width) bytes; '': allocated memory at most 1000 bytes");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void conditions_may_ask_the_device(void **state) {
  (void)state;
  clt_device_info device = small_device();
  device.extensions[0] = 0;
  clt_problem *problem = scratch_problem(sized);
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  clt_constraint_origin origin = CLT_DEVICE_LIMIT;
  assert_non_null(clt_space_violation(clt_instance_space(instance),
                                      scratch_config(instance, "wg_x=1 wg_y=1 use_local=1"), &origin));
  assert_int_equal(origin, CLT_CONDITION);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void unknown_limits_do_not_limit(void **state) {
  (void)state;
  clt_device_info device = {.images = true};
  clt_problem *problem = scratch_problem(sized);
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 16); /* without cl_khr_fp64: use_local = 0 */
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void the_default_configuration_is_the_stated_one(void **state) {
  (void)state;
  char text[100];
  clt_problem *problem = scratch_problem(sized);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_config_print(text, sizeof text, clt_instance_space(instance), clt_instance_default(instance));
  assert_string_equal(text, "wg_x=4 wg_y=1 use_local=1");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void resources_are_numbers_or_nan(void **state) {
  (void)state;
  double values[3];
  clt_problem *problem = scratch_problem(sized);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_n_resources(instance), 3);
  assert_string_equal(clt_instance_resource_name(instance, 1), "Ratio");
  clt_instance_resources(instance, scratch_config(instance, "wg_x=1 wg_y=4 use_local=0"), values);
  assert_true(values[0] == 4 && values[1] == 0.25 && isnan(values[2]));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void aliases_reach_the_space(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"image\", \"Type\": \"bool\", \"Values\": \"[0, "
      "1]\"},"
      " {\"Name\": \"constant\", \"Type\": \"bool\", \"Values\": \"[0, 1]\"}], \"Aliases\": ["
      " {\"When\": \"image and constant\", \"Parameter\": \"constant\", \"Value\": 0}]},"
      " \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_space *space = clt_instance_space(instance);
  assert_int_equal(clt_space_canonical(space, scratch_config(instance, "image=1 constant=1")),
                   scratch_config(instance, "image=1 constant=0"));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void aliases_are_checked(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [0, 1]}],\n"
      "\"Aliases\": [{\"When\": \"a\", \"Parameter\": \"a\", \"Value\": 3}]},\n"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1}}");
  clt_instance *instance = NULL;
  clt_error error = {0};
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, NULL, &error), CLT_E_NOT_FOUND);
  assert_int_equal(error.line, 2);
  assert_string_equal(error.key, "ConfigurationSpace.Aliases[0]");
  clt_problem_free(problem);
}

/* In the manner of Kernel Tuner's own files. */
static const char kernel_tuner_style[] =
    "{\"General\": {\"BenchmarkName\": \"blur\", \"OutputFormat\": \"JSON\"},"
    "\"ConfigurationSpace\": {\"TuningParameters\": ["
    " {\"Name\": \"radius\", \"Type\": \"int\", \"Values\": \"[3]\", \"Default\": [3]},"
    " {\"Name\": \"block_size_x\", \"Type\": \"int\", \"Values\": \"[1, 2, 4] + list(range(8, 33, 8))\", \"Default\": "
    "16},"
    " {\"Name\": \"tile\", \"Type\": \"int\", \"Values\": \"[2**i for i in range(0, 3)]\", \"Default\": 99}],"
    " \"Conditions\": [{\"Expression\": \"block_size_x*tile>=4\", \"Parameters\": [\"block_size_x\", \"tile\"]}]},"
    "\"BenchmarkConfig\": {\"iterations\": 10, \"MAX_THREADS\": 1024},"
    "\"KernelSpecification\": {\"Language\": \"OpenCL\", \"CompilerOptions\": [\"-std=c++11\"], \"BenchmarkName\": "
    "\"GEMM\","
    " \"KernelName\": \"blur\", \"KernelFile\": \"blur.cl\", \"GlobalSizeType\": \"CUDA\","
    " \"LocalSize\": {\"X\": \"block_size_x\", \"Y\": \"block_size_y\", \"Z\": \"1\"},"
    " \"GlobalSize\": {\"X\": \"(262144 // block_size_x) // tile\", \"Y\": \"1\", \"Z\": \"1\"},"
    " \"GridDivX\": [\"block_size_x\", \"tile\"], \"ProblemSize\": [100, 50], \"SharedMemory\": 0, \"Stream\": null,"
    " \"Misc\": {\"jitify\": true}, \"Arguments\": ["
    " {\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", "
    "\"FillType\": \"Constant\","
    "  \"Size\": \"ProblemSize[0]*ProblemSize[1]\", \"FillValue\": 0.0, \"Output\": 1},"
    " {\"Name\": \"in\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"FillType\": "
    "\"Random\","
    "  \"Size\": \"(ProblemSize[0]+max(radius)-1) * ProblemSize[1]\", \"FillValue\": 1.0},"
    " {\"Name\": \"weights\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", "
    "\"MemType\": \"Constant\","
    "  \"FillType\": \"Random\", \"Size\": \"max(radius) * max(radius)\", \"FillValue\": 1.0}]}}";

static void kernel_tuner_files_load(void **state) {
  (void)state;
  char text[200];
  clt_device_info device = small_device();
  clt_problem *problem = scratch_problem(kernel_tuner_style);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_string_equal(clt_problem_name(problem), "blur");
  assert_int_equal(clt_instance_n_sizes(instance), 0);
  assert_int_equal(clt_space_cartesian(clt_instance_space(instance)), 7 * 3);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 7 * 3 - 3);
  clt_config_print(text, sizeof text, clt_instance_space(instance), clt_instance_default(instance));
  assert_string_equal(text, "radius=3 block_size_x=16 tile=1");
  clt_instance_free(instance);
  instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "radius=3 block_size_x=16 tile=1",
                   "work-group size in x at most 8 (KernelSpecification.LocalSize.X: block_size_x)");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void conditions_may_use_the_benchmark_config(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Type\": \"uint\", \"Values\": \"[512, "
      "1024, 2048]\"}],"
      " \"Conditions\": [{\"Expression\": \"a <= MAX_THREADS\", \"Parameters\": [\"a\"]}]},"
      " \"BenchmarkConfig\": {\"MAX_THREADS\": 1024, \"a\": 1},"
      " \"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelName\": \"k\", \"KernelFile\": \"k.cl\","
      " \"GlobalSize\": {\"X\": \"2048\"}, \"LocalSize\": {\"X\": \"a\"}}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 2);
  assert_int_equal(clt_instance_n_sizes(instance), 0);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void words_of_python_in_the_benchmark_config_are_left_out(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 2]}],"
      " \"Conditions\": [\"a in [1, 3]\"]}, \"BenchmarkConfig\": {\"in\": 3, \"for\": 4},"
      " \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 1);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void the_problem_size_is_known_everywhere(void **state) {
  (void)state;
  const clt_size width = {"width", 16};
  clt_problem *problem = scratch_problem(
      "{\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": 8}], \"ConfigurationSpace\": {"
      " \"TuningParameters\": [{\"Name\": \"block_size_x\", \"Values\": [4, 8, 16, 32]},"
      "  {\"Name\": \"tile\", \"Values\": \"[1, 2, ProblemSize[1] + ProblemSize[0]]\"}],"
      " \"Conditions\": [\"block_size_x <= ProblemSize[0]\"],"
      " \"Aliases\": [{\"When\": \"block_size_x == ProblemSize[0]\", \"Parameter\": \"tile\", \"Value\": 1}]},"
      " \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"ProblemSize\": [\"width\", 3]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_space *space = clt_instance_space(instance);
  assert_int_equal(clt_space_valid(space), 2 * 3);
  assert_int_equal(clt_space_parameter(space, 1)->values[2].integer, 11);
  assert_int_equal(clt_space_canonical(space, scratch_config(instance, "block_size_x=8 tile=2")),
                   scratch_config(instance, "block_size_x=8 tile=1"));
  clt_instance_free(instance);
  instance = scratch_instance(problem, &width, 1, NULL);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 3 * 3);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void an_image_of_a_buffer_has_so_many_elements(void **state) {
  (void)state;
  clt_device_info device = small_device();
  device.image1d_buffer_max_width = 100;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"b\", \"Values\": [0, 1]}]},"
      " \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 64, \"Arguments\": ["
      "  {\"Name\": \"in\", \"Type\": \"float4\", \"MemoryType\": \"Image1DBuffer\", \"AccessType\": \"ReadOnly\", "
      "\"Size\": [9, 10], \"Border\": [\"b\"], \"FillType\": \"Random\"}]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "b=0", NULL);
  expect_violation(instance, "b=1", "image 'in': elements at most 100");
  clt_instance_free(instance);
  device.image1d_buffer_max_width = 1000;
  device.max_allocation_bytes = 16 * 100;
  instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "b=0", NULL);
  expect_violation(instance, "b=1",
                   "argument 'in' takes 16 * ((9) + 2 * (b)) * (10) bytes; '': allocated memory at most 1600 bytes");
  clt_instance_free(instance);
  device.images = false;
  instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "b=0", "image 'in': the device does not support images");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void launches_that_are_left_out_are_not_limited(void **state) {
  (void)state;
  clt_device_info device = small_device();
  device.local_memory_bytes = 64;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Values\": [8, 16]},"
      "  {\"Name\": \"passes\", \"Values\": [0, 1, 2]}, {\"Name\": \"two\", \"Values\": [0, 1]}]},"
      " \"KernelSpecification\": {\"KernelFile\": \"k.cl\", \"GlobalSize\": 64, \"Arguments\": ["
      "  {\"Name\": \"tile\", \"Type\": \"int\", \"MemoryType\": \"Local\", \"Size\": \"4 * wg\"}], \"Launches\": ["
      "  {\"KernelName\": \"a\", \"LocalSize\": \"wg\", \"Repeat\": \"passes\", \"When\": \"two\", \"Arguments\": []},"
      "  {\"KernelName\": \"b\", \"Repeat\": \"1 if passes == 2 else 0\"}, {\"KernelName\": \"c\", \"Repeat\": 0},"
      "  {\"KernelName\": \"d\", \"Arguments\": [], \"Repeat\": 2, \"LocalSize\": \"wg // 2\"}]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "wg=16 passes=0 two=1", NULL);
  expect_violation(instance, "wg=16 passes=1 two=0", NULL);
  expect_violation(instance, "wg=16 passes=1 two=1",
                   "work-group size in x at most 8 (KernelSpecification.Launches[0].LocalSize: wg)");
  expect_violation(instance, "wg=8 passes=1 two=1", NULL);
  expect_violation(instance, "wg=8 passes=2 two=0", "local memory at most 64 bytes");
  device.max_work_item_sizes[0] = 4;
  clt_instance_free(instance);
  instance = scratch_instance(problem, NULL, 0, &device);
  expect_violation(instance, "wg=16 passes=0 two=0",
                   "work-group size in x at most 4 (KernelSpecification.Launches[3].LocalSize: wg // 2)");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void what_launches_rule_out_is_a_constraint(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 8}],"
      " \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"tile\", \"Values\": [4, 8, 16, 20]},"
      "  {\"Name\": \"work\", \"Values\": [1, 4, 8]}, {\"Name\": \"twice\", \"Values\": [0, 1]}]},"
      " \"KernelSpecification\": {\"KernelFile\": \"k.cl\", \"Launches\": ["
      "  {\"KernelName\": \"a\", \"GlobalSize\": {\"X\": \"n / tile\", \"Y\": \"tile // work\"}, \"LocalSize\": \"tile "
      "/ work\"},"
      "  {\"KernelName\": \"b\", \"GlobalSize\": \"n // tile\", \"LocalSize\": \"work\", \"When\": \"twice\"}]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_space *space = clt_instance_space(instance);
  static const struct {
    const char *config, *message;
  } cases[] = {{"tile=8 work=4 twice=1", NULL},
               {"tile=16 work=4 twice=0", NULL},
               {"tile=4 work=8 twice=0", "Launches[0].LocalSize: tile / work must be a whole number of at least 1"},
               {"tile=20 work=8 twice=0", "Launches[0].LocalSize: tile / work must be a whole number of at least 1"},
               {"tile=16 work=4 twice=1", "Launches[1].GlobalSize: n // tile must be above 0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_constraint_origin origin = CLT_DEVICE_LIMIT;
    const char *violation = clt_space_violation(space, scratch_config(instance, cases[i].config), &origin);
    if (cases[i].message == NULL) assert_null(violation);
    if (cases[i].message == NULL) continue;
    assert_non_null(violation);
    assert_non_null(strstr(violation, cases[i].message));
    assert_int_equal(origin, CLT_CONDITION);
  }
  assert_int_equal(clt_space_valid(space), 10 + 5);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_condition_that_cannot_be_evaluated_is_named(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 99]},"
      " {\"Name\": \"s\", \"Values\": [\"u\", \"v\"]}],\n\"Conditions\": [\n\"a > 0\",\n{\"Expression\": \"a < s\"}]},"
      " \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1}}");
  clt_instance *instance = NULL;
  clt_error error = {0};
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, NULL, &error), CLT_E_EXPRESSION);
  assert_string_equal(error.file, scratch_path("p.json"));
  assert_int_equal(error.line, 4);
  assert_string_equal(error.key, "ConfigurationSpace.Conditions[1].Expression");
  clt_problem_free(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_device_only_the_conditions_apply),
      cmocka_unit_test(sizes_change_the_space_and_are_checked),
      cmocka_unit_test(default_sizes_may_depend_on_the_device),
      cmocka_unit_test(a_device_brings_its_limits_with_messages),
      cmocka_unit_test(conditions_may_ask_the_device),
      cmocka_unit_test(unknown_limits_do_not_limit),
      cmocka_unit_test(the_default_configuration_is_the_stated_one),
      cmocka_unit_test(resources_are_numbers_or_nan),
      cmocka_unit_test(aliases_reach_the_space),
      cmocka_unit_test(aliases_are_checked),
      cmocka_unit_test(kernel_tuner_files_load),
      cmocka_unit_test(conditions_may_use_the_benchmark_config),
      cmocka_unit_test(words_of_python_in_the_benchmark_config_are_left_out),
      cmocka_unit_test(the_problem_size_is_known_everywhere),
      cmocka_unit_test(an_image_of_a_buffer_has_so_many_elements),
      cmocka_unit_test(launches_that_are_left_out_are_not_limited),
      cmocka_unit_test(what_launches_rule_out_is_a_constraint),
      cmocka_unit_test(a_condition_that_cannot_be_evaluated_is_named),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
