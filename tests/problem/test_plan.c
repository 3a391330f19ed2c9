/* Plans: everything evaluated for one configuration. */
#include "scratch.h"

#include <math.h>

#include "problem/guidance.h"
#include "problem/plan.h"

static clt_plan *plan_of(const clt_instance *instance, const char *config) {
  clt_plan *plan = NULL;
  clt_error error = {0};
  char text[2000];
  if (clt_plan_new(&plan, instance, scratch_config(instance, config), &error) != CLT_OK) {
    clt_error_format(text, sizeof text, &error);
    fail_msg("%s", text);
  }
  return plan;
}

static const clt_plan_arg *arg_of(const clt_plan *plan, size_t launch, size_t position) {
  assert_true(position < plan->launches[launch].n_args);
  return &plan->args[plan->launches[launch].args[position]];
}

static const char two_launches[] =
    "{\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": 100}, {\"Name\": \"height\", \"Default\": 30}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": ["
    " {\"Name\": \"wg\", \"Values\": \"[8, 16]\"}, {\"Name\": \"use_image\", \"Type\": \"bool\", \"Values\": \"[0, "
    "1]\"},"
    " {\"Name\": \"pad\", \"Type\": \"bool\", \"Values\": \"[0, 1]\"}, {\"Name\": \"passes\", \"Values\": \"[0, 3]\"},"
    " {\"Name\": \"scale\", \"Values\": \"[0.5, 1.0]\"}, {\"Name\": \"mode\", \"Type\": \"string\", \"Values\": "
    "\"['fast', 'exact']\"}]},"
    "\"KernelSpecification\": {\"KernelFile\": \"two.cl\", \"OpenCLStandard\": \"CL1.2\", \"IncludePaths\": [\"inc\"],"
    " \"CompilerOptions\": [\"-cl-fast-relaxed-math\", \"-DTILE={wg * 2}\", \"-DSET={{1}\","
    "   {\"Option\": \"-DEXACT={mode}\", \"When\": \"mode == 'exact'\"}],"
    " \"GlobalSize\": [\"width\", \"height\"], \"Arguments\": ["
    "  {\"Name\": \"in\", \"Type\": \"uchar\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"When\": "
    "\"not use_image\","
    "   \"Size\": [\"width\", \"height\"], \"FillType\": \"Random\", \"Border\": [\"2 * pad\", \"2 * pad\"], "
    "\"BorderMode\": \"Clamp\"},"
    "  {\"Name\": \"in\", \"Type\": \"uchar\", \"MemoryType\": \"Image2D\", \"When\": \"use_image\", \"ChannelType\": "
    "\"Normalised\","
    "   \"Size\": [\"width\", \"height\"]},"
    "  {\"Name\": \"smp\", \"MemoryType\": \"Sampler\", \"When\": \"use_image\", \"Addressing\": \"ClampToEdge\", "
    "\"Filter\": \"Linear\"},"
    "  {\"Name\": \"tmp\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"Output\": 0, \"Size\": \"width * wg\"},"
    "  {\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": "
    "\"width * height\"},"
    "  {\"Name\": \"scratch\", \"Type\": \"float4\", \"MemoryType\": \"Local\", \"Size\": \"wg\"},"
    "  {\"Name\": \"factor\", \"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillValue\": \"scale * 3\"},"
    "  {\"Name\": \"big\", \"Type\": \"int64\", \"MemoryType\": \"Scalar\", \"FillValue\": 9007199254740993},"
    "  {\"Name\": \"two\", \"Type\": \"int2\", \"MemoryType\": \"Scalar\", \"FillValue\": -7}],"
    " \"Launches\": ["
    "  {\"KernelName\": \"rows\", \"LocalSize\": [\"wg\"], \"Arguments\": [\"tmp\", \"in\", \"smp\", \"scratch\"], "
    "\"Repeat\": \"passes\"},"
    "  {\"KernelName\": \"columns\", \"GlobalSize\": {\"X\": \"height\"}},"
    "  {\"KernelName\": \"never\", \"When\": \"wg > 100\"}]},"
    "\"Reference\": {\"KernelFile\": \"naive.cl\", \"KernelName\": \"naive\", \"GlobalSize\": [\"width * height\"],"
    " \"Arguments\": [\"out\", \"in\", \"factor\"], \"CompilerOptions\": [\"-DNAIVE\"]}}";

static clt_problem *load_two(void) {
  scratch_write("two.cl", "kernel void rows() {}\n");
  scratch_write("naive.cl", "#include \"x.h\"\nkernel void naive() {}\n");
  return scratch_problem(two_launches);
}

static void launches_have_their_own_sizes_arguments_and_repeats(void **state) {
  (void)state;
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "wg=16 use_image=0 pad=1 passes=3 scale=0.5 mode=fast");
  assert_string_equal(plan->source, "kernel void rows() {}\n");
  assert_int_equal(plan->n_launches, 2);
  const clt_plan_launch *rows = &plan->launches[0], *columns = &plan->launches[1];
  assert_string_equal(rows->kernel, "rows");
  assert_int_equal(rows->repeat, 3);
  assert_int_equal(rows->n_dimensions, 2);
  assert_true(rows->has_local);
  assert_int_equal(rows->local[0], 16);
  assert_int_equal(rows->local[1], 1);
  assert_int_equal(rows->global[0], 112); /* 100 rounded up to a multiple of 16 */
  assert_int_equal(rows->global[1], 30);
  assert_int_equal(rows->n_args, 3); /* no sampler without an image */
  assert_string_equal(arg_of(plan, 0, 0)->name, "tmp");
  assert_string_equal(arg_of(plan, 0, 1)->name, "in");
  assert_string_equal(arg_of(plan, 0, 2)->name, "scratch");
  assert_string_equal(columns->kernel, "columns");
  assert_false(columns->has_local);
  assert_int_equal(columns->n_dimensions, 1);
  assert_int_equal(columns->global[0], 30);
  assert_int_equal(columns->repeat, 1);
  assert_int_equal(columns->n_args, 7);
  clt_plan_free(plan);
  plan = plan_of(instance, "wg=16 use_image=0 pad=1 passes=0 scale=0.5 mode=fast");
  assert_int_equal(plan->n_launches, 1);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void launches_are_those_that_take_place(void **state) {
  (void)state;
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_launch_sizes *launches = NULL;
  size_t n = 0;
  clt_error error = {0};
  clt_config config = scratch_config(instance, "wg=16 use_image=0 pad=1 passes=3 scale=0.5 mode=fast");
  assert_int_equal(clt_instance_launches(&launches, &n, instance, config, &error), 0);
  assert_int_equal(n, 2);
  assert_string_equal(launches[0].kernel, "rows");
  assert_int_equal(launches[0].n_dimensions, 2);
  assert_int_equal(launches[0].global[0], 112);
  assert_int_equal(launches[0].global[1], 30);
  assert_int_equal(launches[0].local[0], 16);
  assert_int_equal(launches[0].repeat, 3);
  assert_string_equal(launches[1].kernel, "columns");
  assert_int_equal(launches[1].global[0], 30);
  assert_int_equal(launches[1].local[0], 0);
  free(launches);
  launches = NULL;
  config = scratch_config(instance, "wg=16 use_image=0 pad=1 passes=0 scale=0.5 mode=fast");
  assert_int_equal(clt_instance_launches(&launches, &n, instance, config, &error), 0);
  assert_int_equal(n, 1);
  free(launches);
  launches = NULL;
  assert_int_equal(clt_instance_launches(&launches, &n, instance, CLT_CONFIG_NONE, NULL), CLT_E_RANGE);
  assert_null(launches);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_plan_outlives_its_instance(void **state) {
  (void)state;
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "wg=8 use_image=1 pad=0 passes=3 scale=1 mode=exact");
  clt_instance_free(instance);
  assert_string_equal(plan->launches[0].kernel, "rows");
  assert_string_equal(plan->args[0].name, "in");
  assert_non_null(strstr(plan->options, "-DEXACT=exact"));
  clt_plan_free(plan);
  clt_problem_free(problem);
}

static void arguments_are_buffers_or_images_with_borders(void **state) {
  (void)state;
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "wg=16 use_image=0 pad=1 passes=3 scale=0.5 mode=fast");
  const clt_plan_arg *in = arg_of(plan, 1, 0);
  assert_int_equal(in->kind, CLT_ARG_BUFFER);
  assert_int_equal(in->border[0], 2);
  assert_int_equal(in->border[1], 2);
  assert_int_equal(in->border[2], 0);
  assert_int_equal(in->border_mode, CLT_BORDER_CLAMP);
  assert_int_equal(in->bytes, 104 * 34);
  assert_true(in->has_data && !in->verified);
  clt_plan_free(plan);
  plan = plan_of(instance, "wg=16 use_image=1 pad=1 passes=3 scale=0.5 mode=fast");
  in = arg_of(plan, 1, 0);
  assert_int_equal(in->kind, CLT_ARG_IMAGE2D);
  assert_int_equal(in->channel, CLT_CHANNEL_NORMALISED);
  assert_int_equal(in->bytes, 100 * 30);
  assert_int_equal(in->access, CLT_READ_ONLY);
  assert_true(in->has_data); /* filled by the other entry of its name */
  const clt_plan_arg *sampler = arg_of(plan, 1, 1);
  assert_int_equal(sampler->kind, CLT_ARG_SAMPLER);
  assert_true(sampler->sampler_clamp_to_edge && sampler->sampler_linear && !sampler->sampler_normalised);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void scratch_memory_scalars_and_local_memory(void **state) {
  (void)state;
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "wg=16 use_image=0 pad=0 passes=3 scale=0.5 mode=fast");
  const clt_plan_arg *tmp = arg_of(plan, 1, 1), *out = arg_of(plan, 1, 2), *local = arg_of(plan, 1, 3);
  assert_int_equal(tmp->bytes, 100 * 16 * 4);
  assert_true(!tmp->has_data && !tmp->verified && tmp->access == CLT_READ_WRITE);
  assert_true(!out->has_data && out->verified && out->access == CLT_WRITE_ONLY);
  assert_int_equal(local->kind, CLT_ARG_LOCAL);
  assert_int_equal(local->bytes, 16 * 16);
  float factor;
  int64_t big;
  int32_t two[2];
  memcpy(&factor, arg_of(plan, 1, 4)->scalar, sizeof factor);
  memcpy(&big, arg_of(plan, 1, 5)->scalar, sizeof big);
  memcpy(two, arg_of(plan, 1, 6)->scalar, sizeof two);
  assert_true(factor == 1.5f);
  assert_true(big == 9007199254740993);
  assert_true(two[0] == -7 && two[1] == -7);
  assert_int_equal(arg_of(plan, 1, 6)->bytes, 8);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void options_are_definitions_templates_paths_and_standard(void **state) {
  (void)state;
  char *options = NULL, expected[1000];
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_config config = scratch_config(instance, "wg=8 use_image=1 pad=0 passes=3 scale=1 mode=exact");
  assert_int_equal(clt_instance_options(&options, instance, config, NULL), 0);
  snprintf(expected, sizeof expected,
           "-Dwg=8 -Duse_image=1 -Dpad=0 -Dpasses=3 -Dscale=1.0 -Dmode=exact -Dwidth=100 -Dheight=30 "
           "-cl-fast-relaxed-math -DTILE=16 -DSET={1} -DEXACT=exact -I%s/inc -cl-std=CL1.2",
           scratch);
  assert_string_equal(options, expected);
  free(options);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void sizes_that_are_no_macros_are_left_out_of_the_options(void **state) {
  (void)state;
  char *options = NULL;
  scratch_write("k.cl", "");
  clt_problem *problem = scratch_problem(
      "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 6, \"Macro\": false}, {\"Name\": \"m\", \"Default\": "
      "5}],"
      "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [2, 3]}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": [\"n\"],"
      "\"CompilerOptions\": [\"-DTWICE={2 * n}\"]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_options(&options, instance, scratch_config(instance, "a=3"), NULL), 0);
  assert_string_equal(options, "-Da=3 -Dm=5 -DTWICE=12");
  free(options);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void the_reference_kernel_has_plain_buffers(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_problem *problem = load_two();
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_plan_new_reference(&plan, instance, NULL), 0);
  assert_int_equal(plan->n_launches, 1);
  assert_string_equal(plan->launches[0].kernel, "naive");
  assert_int_equal(plan->launches[0].global[0], 3000);
  assert_int_equal(plan->n_args, 3);
  assert_true(strcmp(plan->args[0].name, "out") == 0 && plan->args[0].verified);
  assert_true(plan->args[1].kind == CLT_ARG_BUFFER && plan->args[1].bytes == 3000 && plan->args[1].has_data);
  assert_non_null(strstr(plan->options, "-DNAIVE"));
  assert_non_null(strstr(plan->options, "-I")); /* it includes a file */
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void mistakes_of_a_configuration_name_the_key(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_error error = {0};
  scratch_write("k.cl", "");
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [0, 3]}]},\n"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\",\n"
      "\"GlobalSize\": [100],\n\"LocalSize\": [\"100 / a\"]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_true(clt_plan_new(&plan, instance, scratch_config(instance, "a=0"), &error) < 0);
  assert_string_equal(error.key, "KernelSpecification.LocalSize[0]");
  assert_int_equal(error.line, 4);
  memset(&error, 0, sizeof error);
  assert_int_equal(clt_plan_new(&plan, instance, scratch_config(instance, "a=3"), &error), CLT_E_RANGE);
  assert_non_null(strstr(error.message, "is 33.33"));
  assert_int_equal(clt_plan_new(&plan, instance, 2, NULL), CLT_E_RANGE);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_missing_kernel_file_is_a_mistake_of_the_plan_only(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_error error = {0};
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1]}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"missing.cl\", \"GlobalSize\": [1]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_plan_new(&plan, instance, 0, &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "missing.cl': No such file"));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static const char grid_head[] =
    "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"block_size_x\", \"Type\": \"int\", \"Values\": "
    "\"[32]\"},"
    "{\"Name\": \"tile\", \"Type\": \"int\", \"Values\": \"[3]\"}]},"
    "\"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelName\": \"k\", \"KernelFile\": \"k.cl\", ";

/* Loads a problem with the grid and expects global and local size in x and y. */
static void expect_grid(const char *grid, size_t gx, size_t gy, size_t lx, size_t ly, const char *options) {
  char json[2000];
  snprintf(json, sizeof json, "%s%s}}", grid_head, grid);
  scratch_write("k.cl", "");
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "block_size_x=32 tile=3");
  const clt_plan_launch *launch = &plan->launches[0];
  if (launch->global[0] != gx || launch->global[1] != gy || launch->local[0] != lx || launch->local[1] != ly)
    fail_msg("%s: global %zu %zu, local %zu %zu", grid, launch->global[0], launch->global[1], launch->local[0],
             launch->local[1]);
  if (strcmp(plan->options, options) != 0) fail_msg("%s: %s", grid, plan->options);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void grids_of_all_customs(void **state) {
  (void)state;
  static const char plain[] = "-Dblock_size_x=32 -Dtile=3";
  expect_grid("\"GlobalSize\": {\"X\": \"1000\"}, \"LocalSize\": {\"X\": \"block_size_x\"}", 1024, 1, 32, 1, plain);
  expect_grid(
      "\"GlobalSize\": {\"X\": \"1000\", \"Y\": \"7\"}, \"GlobalSizeType\": \"CUDA\", "
      "\"LocalSize\": {\"X\": \"block_size_x\", \"Y\": \"2\", \"Z\": \"1\"}",
      32000, 14, 32, 2, plain);
  expect_grid("\"GlobalSize\": [1000]", 1024, 1, 32, 1, plain); /* block_size_x is the local size */
  expect_grid("\"GlobalSize\": [\"1000 / tile\"], \"LocalSize\": null", 334, 1, 0, 0, plain);
  expect_grid("\"GlobalSize\": [1000], \"LocalSize\": null", 1000, 1, 0, 0, plain);
  expect_grid("\"GlobalSize\": {\"X\": \"1\"}, \"ProblemSize\": [1000, 9], \"GridDivX\": [\"block_size_x\", \"tile\"]",
              11 * 32, 9, 32, 1,
              "-Dblock_size_x=32 -Dtile=3 -Dgrid_size_x=11 -Dgrid_size_y=9 -Dblock_size_y=1 -Dgrid_size_z=1 "
              "-Dblock_size_z=1 -Dkernel_tuner=1");
  expect_grid("\"ProblemSize\": 1000, \"GridDivX\": []", 32 * 32, 1, 32, 1,
              "-Dblock_size_x=32 -Dtile=3 -Dgrid_size_x=32 -Dgrid_size_y=1 -Dblock_size_y=1 -Dgrid_size_z=1 "
              "-Dblock_size_z=1 -Dkernel_tuner=1");
}

static void sizes_of_t1_know_the_problem_size_and_the_values(void **state) {
  (void)state;
  scratch_write("k.cl", "");
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"f\", \"Type\": \"int\", \"Values\": \"[3, 5]\"}]},"
      "\"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelName\": \"k\", \"KernelFile\": \"k.cl\", "
      "\"ProblemSize\": [\"10 * 2\", 7], \"CompilerOptions\": [\"-std=c++11\", \"\"], \"Arguments\": ["
      "{\"Name\": \"x\", \"Type\": \"bool\", \"MemoryType\": \"Vector\", \"FillType\": \"Random\","
      " \"Size\": \"(ProblemSize[0]+max(f)-1) * (ProblemSize[ 1 ]+min( f )-1)\"},"
      "{\"Name\": \"y\", \"Type\": \"custom\", \"TypeSize\": 12, \"MemoryType\": \"Vector\", \"FillValue\": 0, "
      "\"Size\": 3},"
      "{\"Name\": \"s\", \"Type\": \"float\", \"MemoryType\": \"Local\", \"Size\": \"max(f, 4)\"}]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "f=3");
  assert_int_equal(plan->args[0].bytes, 24 * 9);
  assert_int_equal(plan->args[1].bytes, 36);
  assert_int_equal(plan->args[2].bytes, 16);
  assert_null(strstr(plan->options, "c++"));
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_filled_size_must_not_depend_on_the_configuration(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_error error = {0};
  scratch_write("k.cl", "");
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"f\", \"Values\": [3, 5]}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1, \"Arguments\": ["
      "{\"Name\": \"x\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"FillType\": \"Random\", \"Size\": \"f * "
      "2\"}]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_plan_new(&plan, instance, 0, &error), CLT_E_EXPRESSION);
  assert_string_equal(error.key, "KernelSpecification.Arguments[0].Size");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* "size": the members that say the size above the launches. */
static void expect_global(const char *size, const char *launch, size_t global) {
  char json[1500];
  scratch_write("k.cl", "");
  snprintf(json, sizeof json,
           "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1]}]},"
           "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"LocalSize\": 8, %s,"
           "\"Launches\": [%s]}}",
           size, launch);
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "a=1");
  if (plan->launches[0].global[0] != global)
    fail_msg("%s, %s: %zu, not %zu", size, launch, plan->launches[0].global[0], global);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void size_and_type_of_a_launch_default_to_those_above(void **state) {
  (void)state;
  static const char items[] = "\"GlobalSize\": 32", groups[] = "\"GlobalSize\": 32, \"GlobalSizeType\": \"CUDA\"";
  static const char divided[] = "\"ProblemSize\": 32, \"GridDivX\": [2], \"GlobalSizeType\": \"CUDA\"";
  expect_global(items, "{}", 32);
  expect_global(items, "{\"GlobalSizeType\": \"CUDA\"}", 32 * 8);
  expect_global(items, "{\"GlobalSizeType\": \"CUDA\", \"GlobalSize\": 2}", 2 * 8);
  expect_global(groups, "{}", 32 * 8);
  expect_global(groups, "{\"GlobalSize\": 4}", 4 * 8);
  expect_global(groups, "{\"GlobalSizeType\": \"OpenCL\"}", 32);
  expect_global(divided, "{}", 16 * 8);
  expect_global(divided, "{\"GlobalSizeType\": \"OpenCL\"}", 16 * 8);
  expect_global(divided, "{\"GlobalSize\": 4}", 4 * 8);
  expect_global(divided, "{\"GlobalSize\": 16, \"GlobalSizeType\": \"OpenCL\"}", 16);
}

static const char rounds[] =
    "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"n\", \"Values\": [0, 1, 3]}, {\"Name\": \"both\", "
    "\"Values\": [0, 1]}]},"
    "\"KernelSpecification\": {\"KernelFile\": \"k.cl\", \"GlobalSize\": 8, \"Arguments\": ["
    "  {\"Name\": \"round\", \"Type\": \"uint\", \"MemoryType\": \"Scalar\", \"FillType\": \"Repetition\"},"
    "  {\"Name\": \"out\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": 8}],"
    " \"Launches\": [{\"KernelName\": \"first\"},"
    "  {\"Repeat\": \"n\", \"Launches\": [{\"KernelName\": \"a\", \"When\": \"both\"}, {\"KernelName\": \"b\", "
    "\"Arguments\": [\"round\"]}, {\"KernelName\": \"c\"}]},"
    "  {\"Repeat\": 2, \"Launches\": [{\"KernelName\": \"d\"}]}]}}";

static void groups_of_launches_are_repeated_together(void **state) {
  (void)state;
  scratch_write("k.cl", "");
  clt_problem *problem = scratch_problem(rounds);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  clt_plan *plan = plan_of(instance, "n=3 both=1");
  static const struct {
    const char *kernel;
    size_t together;
    unsigned repeat;
  } all[] = {{"first", 1, 1}, {"a", 3, 3}, {"b", 1, 3}, {"c", 1, 3}, {"d", 1, 2}};
  assert_int_equal(plan->n_launches, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(plan->launches[i].kernel, all[i].kernel);
    assert_int_equal(plan->launches[i].together, all[i].together);
    assert_int_equal(plan->launches[i].repeat, all[i].repeat);
  }
  assert_int_equal(plan->launches[2].n_args, 1);
  assert_true(arg_of(plan, 2, 0)->is_repetition);
  assert_false(arg_of(plan, 1, 1)->is_repetition);
  clt_plan_free(plan);
  plan = plan_of(instance, "n=3 both=0");
  assert_int_equal(plan->n_launches, 4);
  assert_string_equal(plan->launches[1].kernel, "b");
  assert_int_equal(plan->launches[1].together, 2);
  clt_plan_free(plan);
  plan = plan_of(instance, "n=0 both=1");
  assert_int_equal(plan->n_launches, 2);
  assert_string_equal(plan->launches[1].kernel, "d");
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* Two sizes, one of which a constraint binds to the configuration. */
static void a_problem_is_made_smaller_as_long_as_the_configuration_is_valid(void **state) {
  (void)state;
  static const char json[] =
      "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 4096}, {\"Name\": \"m\", \"Default\": 6, \"Min\": 3}],"
      "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Values\": [16, 64]}, {\"Name\": \"t\", "
      "\"Values\": \"[0, n]\"}], \"Conditions\": [{\"Parameters\": [\"wg\"], \"Expression\": \"n % (wg * 32) == "
      "0\"}]}, \"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": [\"n\", "
      "\"m\"], \"LocalSize\": [\"wg\", 1], \"Arguments\": []}}";
  scratch_write("k.cl", "kernel void k() {}\n");
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  static const struct {
    const char *config;
    double most_items;
    const char *sizes; /* NULL: the configuration is not valid there */
  } cases[] = {{"wg=64 t=0", INFINITY, "n=2048 m=3"}, {"wg=64 t=0", 6000, "n=2048 m=3"},
               {"wg=16 t=0", 6000, "n=1024 m=3"},     {"wg=64 t=0", 0, "n=2048 m=3"},
               {"wg=16 t=0", 0, "n=512 m=3"},         {"wg=16 t=4096", 0, "n=4096 m=3"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_instance *smaller = NULL;
    clt_config config;
    clt_error error = {0};
    if (clt_instance_new_smaller(&smaller, &config, instance, scratch_config(instance, cases[i].config), NULL,
                                 cases[i].most_items, &error))
      fail_msg("%s", error.message);
    char *sizes = clt_instance_sizes_text(smaller), text[100];
    assert_string_equal(sizes, cases[i].sizes);
    clt_config_print(text, sizeof text, clt_instance_space(smaller), config);
    assert_string_equal(text, cases[i].config);
    free(sizes);
    clt_instance_free(smaller);
  }
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void scalars_have_their_bytes_from_files(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_error error = {0};
  scratch_write("f.cl", "kernel void f() {}");
  scratch_write("setting.bin", "twelve bytes");
  scratch_write("two.bin", "8 bytes!");
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1]}]},"
      "\"KernelSpecification\": {\"KernelFile\": \"f.cl\", \"KernelName\": \"f\", \"GlobalSize\": [1], \"LocalSize\": "
      "[1],"
      " \"Arguments\": [{\"Type\": \"custom\", \"TypeSize\": 12, \"MemoryType\": \"Scalar\", \"FillType\": "
      "\"BinaryRaw\","
      " \"DataSource\": \"setting.bin\"}, {\"Name\": \"two\", \"Type\": \"int2\", \"MemoryType\": \"Scalar\", "
      "\"FillType\":"
      " \"BinaryRaw\", \"DataSource\": \"two.bin\"}]}, \"Capture\": {\"Local\": [16, 4]}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  plan = plan_of(instance, "a=1");
  assert_int_equal(arg_of(plan, 0, 0)->bytes, 12);
  assert_memory_equal(arg_of(plan, 0, 0)->scalar, "twelve bytes", 12);
  assert_memory_equal(arg_of(plan, 0, 1)->scalar, "8 bytes!", 8);
  assert_int_equal(plan->known_group, 64);
  clt_plan_free(plan);
  scratch_write("two.bin", "9 bytes: ");
  assert_int_equal(clt_plan_new(&plan, instance, scratch_config(instance, "a=1"), &error), CLT_E_FORMAT);
  assert_non_null(strstr(error.message, "has 9 bytes, but argument 'two' needs 8"));
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* The compiler of this test lays the same structures out. */
struct scattered {
  char c;
  unsigned long int l;
  short s[3], t;
  float f;
  struct {
    float of[4];
  } __attribute__((aligned(16))) three;
  unsigned char last;
} __attribute__((aligned(16)));
struct dense {
  char c;
  double d;
  unsigned u;
} __attribute__((packed));

static clt_problem *problem_with_fields(const char *argument) {
  char json[2000];
  snprintf(json, sizeof json,
           "{\"ProblemParameters\": [{\"Name\": \"size_n\", \"Default\": 100}],"
           "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 7]},"
           " {\"Name\": \"T\", \"Type\": \"string\", \"Values\": \"['float', 'double']\"}]},"
           "\"KernelSpecification\": {\"KernelFile\": \"f.cl\", \"KernelName\": \"f\", \"GlobalSize\": [1],"
           " \"Arguments\": [{\"Name\": \"p\", \"MemoryType\": \"Scalar\", %s}]}}",
           argument);
  return scratch_problem(json);
}

static void structures_are_laid_out_as_compilers_do(void **state) {
  (void)state;
  scratch_write("f.cl",
                "#include \"types.h\"\nstruct other { int c; };\n"
                "typedef struct __attribute__((packed)) dense_s { char c; double d; /* ; */ unsigned u; } dense;\n"
                "struct tuned { char c; T x; number y[2]; whole z; };\n"
                "kernel void f(struct scattered p) {}");
  scratch_write(
      "types.h",
      "#define whole unsigned short\ntypedef const float number;\n"
      "struct scattered { char c; unsigned long int l;\n short s[3], t; float f; float3 three; uchar last; };");
  clt_problem *problem = problem_with_fields(
      "\"Fields\": {\"l\": \"size_n * size_n\", \"c\": -3, \"s\": [1, 2, \"a\"], \"f\": 1.5, \"t\": 9, "
      "\"three\": [1, 2, 3], \"last\": 200}");
  const clt_size size = {"size_n", 1000};
  clt_instance *instance = scratch_instance(problem, &size, 1, NULL);
  clt_plan *plan = plan_of(instance, "a=7 T=float");
  struct scattered scattered;
  struct dense dense;
  memcpy(&scattered, arg_of(plan, 0, 0)->scalar, sizeof scattered);
  assert_int_equal(arg_of(plan, 0, 0)->bytes, sizeof scattered);
  assert_true(scattered.c == -3 && scattered.l == 1000000 && scattered.f == 1.5f && scattered.t == 9);
  assert_true(scattered.s[0] == 1 && scattered.s[1] == 2 && scattered.s[2] == 7 && scattered.last == 200);
  assert_true(scattered.three.of[0] == 1 && scattered.three.of[2] == 3);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
  problem = problem_with_fields("\"Type\": \"dense\", \"Fields\": {\"c\": 1, \"d\": 0.25, \"u\": 4e9}");
  instance = scratch_instance(problem, NULL, 0, NULL);
  plan = plan_of(instance, "a=1 T=float");
  memcpy(&dense, arg_of(plan, 0, 0)->scalar, sizeof dense);
  assert_int_equal(arg_of(plan, 0, 0)->bytes, sizeof dense);
  assert_true(dense.c == 1 && dense.d == 0.25 && dense.u == 4000000000u);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
  problem = problem_with_fields("\"Fields\": {\"c\": 1, \"x\": 2, \"y\": 3, \"z\": 4}");
  instance = scratch_instance(problem, NULL, 0, NULL);
  plan = plan_of(instance, "a=1 T=float");
  assert_int_equal(arg_of(plan, 0, 0)->bytes, 20);
  clt_plan_free(plan);
  plan = plan_of(instance, "a=1 T=double");
  assert_int_equal(arg_of(plan, 0, 0)->bytes, 32);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void mistakes_in_fields(void **state) {
  (void)state;
  static const struct {
    const char *argument, *kernel, *message;
  } cases[] = {
      {"\"Fields\": {\"n\": 1, \"m\": 2}", "struct p { int n; };", "the structure has no field of this name"},
      {"\"Type\": \"p\", \"Fields\": {\"alpah\": 1}", "struct p { int alpha; };", "did you mean 'alpha'?"},
      {"\"Fields\": {\"n\": 1}", "struct p { int n, m; };", "\"Fields\" lacks the field 'm'"},
      {"\"Fields\": {\"n\": 1}", "struct p { int m; };", "declare no structure with these fields"},
      {"\"Type\": \"q\", \"Fields\": {\"n\": 1}", "struct p { int n; };", "declare no structure q"},
      {"\"Fields\": {\"n\": \"'x'\"}", "struct p { int n; };", "needs a number"},
      {"\"Fields\": {\"n\": 127.5}", "struct p { int n; };", "the type 'int' cannot hold 127.5; give a number"},
      {"\"Fields\": {\"n\": [1, \"a / 2\"]}", "struct p { long n[2]; };", "the type 'long' cannot hold 0.5"},
      {"\"Fields\": {\"n\": -1}", "struct p { uint n; };", "the type 'uint' cannot hold -1"},
      {"\"Fields\": {\"n\": 1e39}", "struct p { float n; };", "the type 'float' cannot hold 1"},
      {"\"Type\": \"int\", \"FillValue\": 127.5", "", "the type 'int' cannot hold 127.5; give a number"},
      {"\"Type\": \"uchar4\", \"FillValue\": \"a + 255\"", "", "the type 'uchar' cannot hold 256"},
      {"\"Fields\": {\"n\": [1, 2]}", "struct p { int n[3]; };", "needs one value, or a list of 3"},
      {"\"Fields\": {\"n\": 1}", "struct p { size_t n; };", "the field 'n' has the type 'size_t'"},
      {"\"Fields\": {\"n\": 1}", "struct p { int n[N]; };", "has an array whose length is no number"},
      {"\"Type\": \"p\", \"Fields\": {\"n\": 1}", "struct p { global int *n; };", "has a field that is no number"},
      {"\"Type\": \"p\", \"Fields\": {\"n\": 1}", "struct p {\n#if X\nint n;\n#endif\n};", "has preprocessor lines"},
      {"\"Type\": \"p\", \"Fields\": {\"n\": 1}", "struct p { struct { int n; } q; };", "has a structure of its own"},
      {"\"Fields\": {\"n\": 1}", "struct p { double n[17]; };", "has 136 bytes; at most 128 are possible"},
      {"\"Type\": \"custom\", \"TypeSize\": 8, \"Fields\": {\"n\": 1}", "struct p { int n; };",
       "\"TypeSize\" is 8, but the structure in the kernel has 4 bytes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_plan *plan = NULL;
    clt_error error = {0};
    scratch_write("f.cl", cases[i].kernel);
    clt_problem *problem = problem_with_fields(cases[i].argument);
    clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
    assert_int_not_equal(clt_plan_new(&plan, instance, scratch_config(instance, "a=1 T=float"), &error), CLT_OK);
    if (strstr(error.message, cases[i].message) == NULL || strstr(error.key, "Arguments[0]") == NULL)
      fail_msg("%s: %s, not %s", error.key, error.message, cases[i].message);
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_problem_is_made_smaller_as_long_as_the_configuration_is_valid),
      cmocka_unit_test(launches_have_their_own_sizes_arguments_and_repeats),
      cmocka_unit_test(launches_are_those_that_take_place),
      cmocka_unit_test(a_plan_outlives_its_instance),
      cmocka_unit_test(scalars_have_their_bytes_from_files),
      cmocka_unit_test(structures_are_laid_out_as_compilers_do),
      cmocka_unit_test(mistakes_in_fields),
      cmocka_unit_test(arguments_are_buffers_or_images_with_borders),
      cmocka_unit_test(scratch_memory_scalars_and_local_memory),
      cmocka_unit_test(options_are_definitions_templates_paths_and_standard),
      cmocka_unit_test(sizes_that_are_no_macros_are_left_out_of_the_options),
      cmocka_unit_test(the_reference_kernel_has_plain_buffers),
      cmocka_unit_test(mistakes_of_a_configuration_name_the_key),
      cmocka_unit_test(a_missing_kernel_file_is_a_mistake_of_the_plan_only),
      cmocka_unit_test(grids_of_all_customs),
      cmocka_unit_test(size_and_type_of_a_launch_default_to_those_above),
      cmocka_unit_test(sizes_of_t1_know_the_problem_size_and_the_values),
      cmocka_unit_test(groups_of_launches_are_repeated_together),
      cmocka_unit_test(a_filled_size_must_not_depend_on_the_configuration),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
