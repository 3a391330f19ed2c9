/* Loading problem files: every kind of mistake is reported with its line, its key and the fix. */
#include "scratch.h"

#include "problem/guidance.h"
#include "problem/load.h"

/* A good file in lines, into which mistakes are put. */
static const char *const good[] = {
    "{",
    "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": 64, \"Min\": 1, \"Max\": 4096}],",
    "\"ConfigurationSpace\": {",
    "\"TuningParameters\": [",
    "{\"Name\": \"wg\", \"Type\": \"int\", \"Values\": \"[1, 2, 4]\", \"Default\": 2},",
    "{\"Name\": \"ppt\", \"Type\": \"int\", \"Values\": [1, 2]}],",
    "\"Conditions\": [{\"Expression\": \"wg * ppt <= 8\"}],",
    "\"Aliases\": []",
    "},",
    "\"KernelSpecification\": {",
    "\"Language\": \"OpenCL\", \"KernelName\": \"f\", \"KernelFile\": \"f.cl\",",
    "\"CompilerOptions\": [\"-DTILE={wg * ppt}\"],",
    "\"GlobalSize\": [\"width\"], \"LocalSize\": [\"wg\"],",
    "\"Arguments\": [",
    "{\"Name\": \"a\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"Size\": "
    "\"width\", \"FillType\": \"Random\"},",
    "{\"Name\": \"b\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": "
    "\"width\"},",
    "{\"Name\": \"n\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": \"width\"}],",
    "\"Launches\": [{\"Repeat\": 1}]",
    "},",
    "\"Budget\": [{\"Type\": \"ConfigurationCount\", \"BudgetValue\": 7}]",
    "}",
};
#define N_LINES (sizeof good / sizeof *good)

/* The good file with one line replaced (line 1 ..; 0: none). */
static char *with_line(size_t line, const char *text) {
  char *json = calloc(1, 8192);
  for (size_t i = 0; i < N_LINES; i++) {
    strcat(json, i + 1 == line ? text : good[i]);
    strcat(json, "\n");
  }
  return json;
}

static void expect_mistake(size_t line, const char *text, int code, int at, const char *key, const char *message) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  char *json = with_line(line, text);
  scratch_write("bad.json", json);
  int rc = clt_problem_new(&problem, scratch_path("bad.json"), &error);
  if (rc == CLT_OK) rc = clt_problem_check_kernel(problem, &error); /* errors that matter only if the kernel is run */
  if (rc != code) fail_msg("'%s' gives %d: %s", text, rc, error.message);
  if (error.line != at) fail_msg("'%s' is reported for line %d, not %d (%s)", text, error.line, at, error.message);
  if (strcmp(error.key, key) != 0) fail_msg("'%s' is reported for key '%s', not '%s'", text, error.key, key);
  if (strstr(error.message, message) == NULL) fail_msg("'%s' says: %s", text, error.message);
  assert_string_equal(error.file, scratch_path("bad.json"));
  clt_problem_free(problem);
  free(json);
}

static void a_good_file_is_loaded(void **state) {
  (void)state;
  char *json = with_line(0, "");
  clt_problem *problem = scratch_problem(json);
  assert_string_equal(clt_problem_name(problem), "f");
  assert_int_equal(clt_problem_guidance(problem)->budget, 7);
  assert_int_equal(clt_problem_n_sizes(problem), 1);
  assert_string_equal(clt_problem_size(problem, 0).name, "width");
  assert_int_equal(clt_problem_size(problem, 0).value, 64);
  assert_string_equal(clt_problem_path(problem), scratch_path("p.json"));
  clt_problem_free(problem);
  free(json);
}

static void files_that_are_not_there_or_not_json_are_named(void **state) {
  (void)state;
  clt_problem *problem = NULL;
  clt_error error = {0};
  assert_int_equal(clt_problem_new(&problem, "/nonexistent/x.json", &error), CLT_E_IO);
  assert_string_equal(error.message, "cannot open '/nonexistent/x.json': No such file or directory");
  error.code = 0;
  assert_int_equal(clt_problem_new(&problem, "/", &error), CLT_E_IO);
  expect_mistake(3, "\"ConfigurationSpace\": {{", CLT_E_FORMAT, 3, "", "string or '}' expected");
  expect_mistake(20, "\"General\": {}, \"General\": {}", CLT_E_FORMAT, 20, "", "duplicate");
}

static void misspelt_keys_are_found(void **state) {
  (void)state;
  expect_mistake(14, "\"Argumens\": [", CLT_E_FORMAT, 14, "KernelSpecification.Argumens",
                 "did you mean \"Arguments\"?");
  expect_mistake(3, "\"ConfigurationSpce\": {", CLT_E_FORMAT, 3, "ConfigurationSpce",
                 "did you mean \"ConfigurationSpace\"?");
  expect_mistake(7, "\"Condition\": [{\"Expression\": \"wg <= 8\"}],", CLT_E_FORMAT, 7, "ConfigurationSpace.Condition",
                 "did you mean \"Conditions\"?");
  expect_mistake(14, "\"Modifiers\": [], \"Arguments\": [", CLT_E_FORMAT, 14, "KernelSpecification.Modifiers",
                 "write expressions as \"GlobalSize\"");
  expect_mistake(18, "\"Launches\": [{\"Repeats\": 1}]", CLT_E_FORMAT, 18, "KernelSpecification.Launches[0].Repeats",
                 "did you mean \"Repeat\"?");
  expect_mistake(18, "\"Launches\": [{\"Colour\": 1}]", CLT_E_FORMAT, 18, "KernelSpecification.Launches[0].Colour",
                 "there is no key \"Colour\"");
  expect_mistake(3, "\"Restrictions\": [], \"ConfigurationSpace\": {", CLT_E_FORMAT, 3, "Restrictions",
                 "did you mean \"ConfigurationSpace.Conditions\"?");
  expect_mistake(7, "\"Constraints\": [\"wg <= 8\"],", CLT_E_FORMAT, 7, "ConfigurationSpace.Constraints",
                 "did you mean \"Conditions\"?");
  expect_mistake(14, "\"Options\": [], \"Arguments\": [", CLT_E_FORMAT, 14, "KernelSpecification.Options",
                 "did you mean \"CompilerOptions\"?");
  expect_mistake(14, "\"Arguments\": [{\"Tolerance\": 1},", CLT_E_FORMAT, 14,
                 "KernelSpecification.Arguments[0].Tolerance", "did you mean \"AbsoluteTolerance\"?");
  expect_mistake(14, "\"WorkGroupSize\": 8, \"Arguments\": [", CLT_E_FORMAT, 14, "KernelSpecification.WorkGroupSize",
                 "did you mean \"LocalSize\"?");
  expect_mistake(14, "\"Resources\": {\"LocalMemory\": 1}, \"Arguments\": [", CLT_E_FORMAT, 14,
                 "KernelSpecification.Resources.LocalMemory", "did you mean \"LocalMemoryBytes\"?");
}

static void keys_of_other_tools_are_ignored(void **state) {
  (void)state;
  char *json =
      with_line(12, "\"Stream\": null, \"Misc\": {\"jitify\": true}, \"SharedMemory\": 0, \"Colour\": 1, \"//\": 2,");
  clt_problem_free(scratch_problem(json));
  free(json);
}

static void mistakes_in_problem_parameters(void **state) {
  (void)state;
  expect_mistake(2, "\"ProblemParameters\": {},", CLT_E_FORMAT, 2, "ProblemParameters", "needs a list");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\"}],", CLT_E_FORMAT, 2, "ProblemParameters[0]",
                 "needs a \"Default\"");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"wi-dth\", \"Default\": 1}],", CLT_E_FORMAT, 2,
                 "ProblemParameters[0].Name", "not a valid name");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": 1.5}],", CLT_E_FORMAT, 2,
                 "ProblemParameters[0].Default", "needs a whole number");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": 1, \"Min\": 2}],", CLT_E_FORMAT, 2,
                 "ProblemParameters[0].Default", "between \"Min\" and \"Max\"");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": \"8 if device.typ == 'gpu' else 4\"}],",
                 CLT_E_EXPRESSION, 2, "ProblemParameters[0].Default", "did you mean 'device.type'?");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": \"1 / 2\"}],", CLT_E_EXPRESSION, 2,
                 "ProblemParameters[0].Default", "0.5");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": \"device.name\"}],", CLT_E_EXPRESSION,
                 2, "ProblemParameters[0].Default", "");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"width\", \"Default\": \"8 // device.compute_units\"}],",
                 CLT_E_RANGE, 2, "ProblemParameters[0].Default", "division");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"wg\", \"Default\": 1}],", CLT_E_FORMAT, 5,
                 "ConfigurationSpace.TuningParameters[0].Name", "two parameters named \"wg\"");
}

static void mistakes_in_tuning_parameters(void **state) {
  (void)state;
  expect_mistake(5, "{\"Name\": \"wg\", \"Type\": \"int\", \"Values\": \"[1, 2\"},", CLT_E_EXPRESSION, 5,
                 "ConfigurationSpace.TuningParameters[0].Values", "");
  expect_mistake(5, "{\"Name\": \"wg\", \"Type\": \"integer?\", \"Values\": \"[1, 2]\"},", CLT_E_EXPRESSION, 5,
                 "ConfigurationSpace.TuningParameters[0].Values", "integer?");
  expect_mistake(5, "{\"Name\": \"wg\", \"Type\": \"int\"},", CLT_E_FORMAT, 5, "ConfigurationSpace.TuningParameters[0]",
                 "needs \"Values\"");
  expect_mistake(5, "{\"Values\": [1]},", CLT_E_FORMAT, 5, "ConfigurationSpace.TuningParameters[0]",
                 "needs a \"Name\"");
  expect_mistake(6, "{\"Name\": \"ppt\", \"Values\": []}],", CLT_E_FORMAT, 6,
                 "ConfigurationSpace.TuningParameters[1].Values", "needs a value");
  expect_mistake(6, "{\"Name\": \"ppt\", \"Type\": \"int\", \"Values\": [1, \"two\"]}],", CLT_E_EXPRESSION, 6,
                 "ConfigurationSpace.TuningParameters[1].Values", "");
  expect_mistake(6, "{\"Name\": \"ppt\", \"Values\": [[1]]}],", CLT_E_FORMAT, 6,
                 "ConfigurationSpace.TuningParameters[1].Values", "value 1 must be a number");
  expect_mistake(6, "7],", CLT_E_FORMAT, 6, "ConfigurationSpace.TuningParameters[1]", "needs an object");
}

static void mistakes_in_permutations(void **state) {
  (void)state;
  static const struct {
    const char *rest, *key, *message;
  } cases[] = {
      {"\"Values\": \"range(101)\"", ".Values", "has 101 items, and at most 100 can be ordered"},
      {"\"Values\": [7]", ".Values", "needs at least two items"},
      {"\"Values\": [[1], 2]", ".Values", "item 1 must be a number or a string"},
      {"\"Values\": [\"x y\", 1]", ".Values", "'o_x y' is not a name"},
      {"\"Values\": [1, 2, 1]", ".Values", "two parameters named \"o_1\""},
      {"\"Values\": [1, 2], \"Default\": [2]", ".Default", "needs the 2 items in an order"},
      {"\"Values\": [1, 2], \"Default\": [2, 3]", ".Default", "needs the 2 items in an order"},
      {"\"Values\": [1, 2], \"Default\": [2, 2]", ".Default", "needs the 2 items in an order"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char line[200], key[100];
    snprintf(line, sizeof line, "{\"Name\": \"o\", \"Type\": \"permutation\", %s}],", cases[i].rest);
    snprintf(key, sizeof key, "ConfigurationSpace.TuningParameters[1]%s", cases[i].key);
    expect_mistake(6, line, CLT_E_FORMAT, 6, key, cases[i].message);
  }
  expect_mistake(6, "{\"Name\": \"o\", \"Type\": \"permutation\", \"Values\": \"[1,\"}],", CLT_E_EXPRESSION, 6,
                 "ConfigurationSpace.TuningParameters[1].Values", "");
}

static void mistakes_in_expressions(void **state) {
  (void)state;
  expect_mistake(7, "\"Conditions\": [{\"Expression\": \"wg * pppt <= 8\"}],", CLT_E_EXPRESSION, 7,
                 "ConfigurationSpace.Conditions[0].Expression", "ppt");
  expect_mistake(7, "\"Conditions\": [{\"Expression\": \"wg * <= 8\"}],", CLT_E_EXPRESSION, 7,
                 "ConfigurationSpace.Conditions[0].Expression", "");
  expect_mistake(7, "\"Conditions\": [{}],", CLT_E_FORMAT, 7, "ConfigurationSpace.Conditions[0]",
                 "needs an \"Expression\"");
  expect_mistake(8, "\"Aliases\": [{\"Parameter\": \"wg\", \"Value\": 1}]", CLT_E_FORMAT, 8,
                 "ConfigurationSpace.Aliases[0]", "needs a \"When\"");
  expect_mistake(12, "\"CompilerOptions\": [\"-DTILE={wg * ppt\"],", CLT_E_FORMAT, 12,
                 "KernelSpecification.CompilerOptions[0]", "a '}' is missing");
  expect_mistake(12, "\"CompilerOptions\": [{\"Option\": \"-DX={nothing}\", \"When\": \"wg > 1\"}],", CLT_E_EXPRESSION,
                 12, "KernelSpecification.CompilerOptions[0].Option", "nothing");
  expect_mistake(13, "\"GlobalSize\": [\"width\"], \"LocalSize\": {\"X\": \"wgg\"},", CLT_E_EXPRESSION, 13,
                 "KernelSpecification.LocalSize.X", "wg");
  expect_mistake(17,
                 "{\"Name\": \"n\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": \"device.fast\"}],",
                 CLT_E_EXPRESSION, 17, "KernelSpecification.Arguments[2].FillValue", "device.fast");
}

static void mistakes_in_the_kernel(void **state) {
  (void)state;
  expect_mistake(11, "\"Language\": \"CUDA\", \"KernelName\": \"f\", \"KernelFile\": \"f.cu\",", CLT_E_UNSUPPORTED, 11,
                 "KernelSpecification.Language", "only in \"OpenCL\"");
  expect_mistake(11, "\"KernelName\": \"f\",", CLT_E_FORMAT, 10, "KernelSpecification", "needs a \"KernelFile\"");
  expect_mistake(11, "\"KernelFile\": \"f.cl\",", CLT_E_FORMAT, 18, "KernelSpecification.Launches[0]",
                 "needs a \"KernelName\"");
  expect_mistake(13, "", CLT_E_FORMAT, 18, "KernelSpecification.Launches[0]", "needs a \"GlobalSize\"");
  expect_mistake(13, "\"GlobalSize\": {\"Y\": 1},", CLT_E_FORMAT, 13, "KernelSpecification.GlobalSize",
                 "needs \"X\" as well");
  expect_mistake(13, "\"GlobalSize\": [1, 2, 3, 4],", CLT_E_FORMAT, 13, "KernelSpecification.GlobalSize",
                 "one to three sizes");
  expect_mistake(13, "\"GlobalSize\": [1], \"GlobalSizeType\": \"CUDA\",", CLT_E_FORMAT, 18,
                 "KernelSpecification.Launches[0]", "needs a \"LocalSize\"");
  expect_mistake(13, "\"GlobalSize\": [1], \"GlobalSizeType\": \"Metal\",", CLT_E_FORMAT, 13,
                 "KernelSpecification.GlobalSizeType", "needs \"OpenCL\", \"CUDA\" or \"Vulkan\", not \"Metal\"");
  expect_mistake(18, "\"Launches\": [{\"Arguments\": [\"a\", \"bb\"]}]", CLT_E_FORMAT, 18,
                 "KernelSpecification.Launches[0].Arguments[1]", "did you mean");
  expect_mistake(18, "\"Launches\": []", CLT_E_FORMAT, 18, "KernelSpecification.Launches", "needs a launch");
  expect_mistake(18, "\"Launches\": [{\"Launches\": []}]", CLT_E_FORMAT, 18, "KernelSpecification.Launches[0].Launches",
                 "needs a launch");
  expect_mistake(18, "\"Launches\": [{\"Launches\": [{}], \"When\": 1}]", CLT_E_FORMAT, 18,
                 "KernelSpecification.Launches[0].When", "there is no key");
  expect_mistake(18, "\"Launches\": [{\"Launches\": [{}, {\"Repeat\": 2}]}]", CLT_E_FORMAT, 18,
                 "KernelSpecification.Launches[0].Launches[1].Repeat", "not allowed within a group");
  expect_mistake(18, "\"Launches\": [{\"Launches\": [{\"Launches\": [{}]}]}]", CLT_E_FORMAT, 18,
                 "KernelSpecification.Launches[0].Launches[0].Launches", "not allowed within a group");
  expect_mistake(18, "\"Launches\": [{\"Launches\": [{}, 7]}]", CLT_E_FORMAT, 18,
                 "KernelSpecification.Launches[0].Launches[1]", "");
}

/* Keys that an application with its own buffers need not state; clt_problem_check_kernel asks for it. */
static void arguments_may_lack_size_and_content(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_error error = {0};
  char *json = with_line(17,
                         "{\"Name\": \"n\", \"Type\": \"int\", \"MemoryType\": \"Scalar\"},"
                         "{\"Name\": \"c\", \"Type\": \"float\", \"MemoryType\": \"Vector\"}],");
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_problem_check_kernel(problem, &error), CLT_E_FORMAT);
  assert_string_equal(error.key, "KernelSpecification.Arguments[2]");
  assert_string_equal(error.message, "needs a \"FillValue\"");
  scratch_write("f.cl", "kernel void f() {}");
  assert_int_equal(clt_plan_new(&plan, instance, clt_instance_default(instance), NULL), 0);
  assert_int_equal(plan->n_args, 4);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
  free(json);
}

static void mistakes_in_arguments(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int code;
    const char *key, *message;
  } cases[] = {
      {"{\"Type\": \"floaty\", \"MemoryType\": \"Scalar\", \"FillValue\": 1}],", CLT_E_FORMAT, ".Type",
       "not an OpenCL type"},
      {"{\"Type\": \"int\"}],", CLT_E_FORMAT, "", "needs a \"MemoryType\""},
      {"{\"Type\": \"int\", \"MemoryType\": \"Scalar\"}],", CLT_E_FORMAT, "", "needs a \"FillValue\""},
      {"{\"Type\": \"custom\", \"MemoryType\": \"Scalar\", \"FillType\": \"BinaryRaw\", \"DataSource\": \"f.cl\"}],",
       CLT_E_FORMAT, "", "needs a \"TypeSize\" from 1 to 128"},
      {"{\"Type\": \"custom\", \"MemoryType\": \"Scalar\", \"TypeSize\": 12, \"FillValue\": 1}],", CLT_E_FORMAT, "",
       "needs \"Fields\", or the \"FillType\" \"BinaryRaw\""},
      {"{\"MemoryType\": \"Scalar\", \"Fields\": {\"n\": 1}, \"FillValue\": 1}],", CLT_E_FORMAT, ".Fields",
       "conflicts with \"FillValue\"; remove"},
      {"{\"MemoryType\": \"Vector\", \"Size\": 1, \"Fields\": {\"n\": 1}}],", CLT_E_FORMAT, ".Fields",
       "is for a structure"},
      {"{\"MemoryType\": \"Scalar\", \"Fields\": {}}],", CLT_E_FORMAT, ".Fields", "needs a field"},
      {"{\"Type\": \"int\", \"MemoryType\": \"Symbol\", \"FillValue\": 1}],", CLT_E_UNSUPPORTED, ".MemoryType",
       "Constant"},
      {"{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"FillType\": \"Script\", \"Size\": 1}],", CLT_E_UNSUPPORTED,
       ".FillType", "would execute code"},
      {"{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"FillType\": \"BinaryHDF\", \"Size\": 1}],", CLT_E_UNSUPPORTED,
       ".FillType", "not supported"},
      {"{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"FillType\": \"Randm\", \"Size\": 1}],", CLT_E_FORMAT,
       ".FillType", "needs \"Constant\", \"Random\""},
      {"{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"FillType\": \"Random\"}],", CLT_E_FORMAT, "",
       "needs a \"Size\""},
      {"{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"Size\": 1}],", CLT_E_FORMAT, "",
       "needs a \"FillType\""},
      {"{\"Type\": \"float\", \"MemoryType\": \"Image2D\", \"FillType\": \"Random\", \"Size\": [1]}],", CLT_E_FORMAT,
       ".Size", "needs 2 sizes"},
      {"{\"Type\": \"float3\", \"MemoryType\": \"Image2D\", \"FillType\": \"Random\", \"Size\": [1, 1]}],",
       CLT_E_FORMAT, ".Type", "1, 2 or 4 components"},
      {"{\"Type\": \"float\", \"MemoryType\": \"Image2D\", \"FillType\": \"Random\", \"Size\": [1, 1], "
       "\"ChannelType\": \"Normalised\"}],",
       CLT_E_FORMAT, ".ChannelType", "8 or 16 bits"},
      {"{\"Name\": \"a\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"FillType\": \"Random\", \"Size\": "
       "\"width\"}],",
       CLT_E_FORMAT, "", "must have the same \"Type\" and \"Size\""},
      {"{\"Name\": \"a\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": 1}],", CLT_E_FORMAT, "",
       "two arguments named"},
      {"{\"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": 1, \"Generator\": \"perlin\"}],", CLT_E_FORMAT,
       ".Generator", "unknown generator"},
      {"{\"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": 1, \"FillType\": \"BinaryRaw\"}],", CLT_E_FORMAT,
       "", "needs a \"DataSource\""},
      {"{\"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": 1, \"FillValue\": 0, \"AbsoluteTolerance\": -1}],",
       CLT_E_FORMAT, "", "negative tolerance"},
      {"{\"Type\": \"float\", \"MemoryType\": \"Scalar\", \"FillType\": \"Repetition\"}],", CLT_E_FORMAT, "",
       "for integer scalars only"},
      {"{\"Type\": \"int\", \"MemoryType\": \"Vector\", \"Size\": 1, \"FillType\": \"Repetition\"}],", CLT_E_FORMAT, "",
       "for integer scalars only"},
      {"{\"Type\": \"float3\", \"MemoryType\": \"Image1DBuffer\", \"FillType\": \"Random\", \"Size\": 1}],",
       CLT_E_FORMAT, ".Type", "1, 2 or 4 components"},
      {"{\"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": {}, \"FillValue\": 0}],", CLT_E_FORMAT, ".Size",
       "needs \"X\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char key[100];
    snprintf(key, sizeof key, "KernelSpecification.Arguments[2]%s", cases[i].key);
    expect_mistake(17, cases[i].text, cases[i].code, 17, key, cases[i].message);
  }
}

static void mistakes_in_references_and_budget(void **state) {
  (void)state;
  expect_mistake(20, "\"Reference\": {\"Module\": \"m.c\"}", CLT_E_FORMAT, 20, "Reference", "needs a \"Function\"");
  expect_mistake(20, "\"Reference\": {\"Module\": \"m.c\", \"Functon\": \"f\"}", CLT_E_FORMAT, 20, "Reference.Functon",
                 "did you mean \"Function\"?");
  expect_mistake(20, "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"f\", \"Quality\": {\"Function\": \"q\"}}",
                 CLT_E_FORMAT, 20, "Reference.Quality", "needs a \"Name\"");
  expect_mistake(20,
                 "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"f\", \"Quality\": {\"Function\": \"q\", "
                 "\"Name\": \"n\", \"Units\": \"px\"}}",
                 CLT_E_FORMAT, 20, "Reference.Quality.Units", "did you mean \"Unit\"?");
  expect_mistake(20,
                 "\"Reference\": {\"KernelName\": \"g\", \"GlobalSize\": 1, \"Quality\": {\"Function\": \"q\", "
                 "\"Name\": \"n\"}}",
                 CLT_E_FORMAT, 20, "Reference.Quality", "needs a \"Module\"");
  expect_mistake(20, "\"Reference\": {\"KernelName\": \"g\", \"GlobalSize\": 1, \"Verify\": {\"Function\": \"v\"}}",
                 CLT_E_FORMAT, 20, "Reference.Verify", "needs a \"Module\"");
  expect_mistake(20, "\"Reference\": {\"KernelName\": \"g\"}", CLT_E_FORMAT, 20, "Reference", "needs a \"GlobalSize\"");
  expect_mistake(20, "\"ReferenceArguments\": [{\"Name\": \"r\", \"TargetName\": \"c\", \"FillType\": \"BinaryRaw\"}]",
                 CLT_E_FORMAT, 20, "ReferenceArguments[0].TargetName", "no vector or image \"c\"");
  expect_mistake(20, "\"ReferenceArguments\": [{\"Name\": \"r\", \"TargetName\": \"b\", \"FillType\": \"Random\"}]",
                 CLT_E_FORMAT, 20, "ReferenceArguments[0]", "correct result");
  expect_mistake(20,
                 "\"ReferenceArguments\": [{\"TargetName\": \"b\", \"FillType\": \"BinaryRaw\", \"DataSource\": \"r\", "
                 "\"ValidationMethod\": \"Guess\"}]",
                 CLT_E_FORMAT, 20, "ReferenceArguments[0].ValidationMethod", "SideBySideComparison");
  expect_mistake(20, "\"Budget\": [{\"Type\": \"ConfigurationCount\", \"BudgetValue\": 0}]", CLT_E_FORMAT, 20,
                 "Budget[0].BudgetValue", "at least 1");
  expect_mistake(20, "\"Budget\": 3", CLT_E_FORMAT, 20, "Budget", "needs a list");
}

static void words_of_expressions_are_no_names(void **state) {
  (void)state;
  expect_mistake(6, "{\"Name\": \"in\", \"Values\": [1, 2]}],", CLT_E_FORMAT, 6,
                 "ConfigurationSpace.TuningParameters[1].Name", "has a meaning in expressions");
  expect_mistake(2, "\"ProblemParameters\": [{\"Name\": \"lambda\", \"Default\": 1}],", CLT_E_FORMAT, 2,
                 "ProblemParameters[0].Name", "has a meaning in expressions");
}

static void resources_may_be_absent_and_have_comments(void **state) {
  (void)state;
  char *json = with_line(18,
                         "\"Resources\": {\"_note\": [1], \"//\": \"no expression\", \"PrivateBytes\": null, "
                         "\"Work\": \"wg * ppt\"}");
  clt_problem *problem = scratch_problem(json);
  assert_int_equal(problem->n_resources, 1);
  assert_string_equal(problem->resources[0].name, "Work");
  clt_problem_free(problem);
  free(json);
}

static void unknown_names_in_aliases_and_resources_are_found(void **state) {
  (void)state;
  expect_mistake(8, "\"Aliases\": [{\"When\": \"wgg > 1\", \"Parameter\": \"wg\", \"Value\": 1}]", CLT_E_EXPRESSION, 8,
                 "ConfigurationSpace.Aliases[0].When", "'wgg'");
  expect_mistake(18, "\"Resources\": {\"Work\": \"wgg * 2\"}", CLT_E_EXPRESSION, 18,
                 "KernelSpecification.Resources.Work", "'wgg'");
  expect_mistake(18, "\"Desirability\": \"wgg * 2\"", CLT_E_EXPRESSION, 18, "KernelSpecification.Desirability",
                 "'wgg'");
}

static void expect_tolerances(const char *tolerance, const char *method, double absolute, double relative) {
  char json[2000];
  snprintf(
      json, sizeof json,
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1]}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1, \"Arguments\": ["
      "{\"Name\": \"x\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", %s \"Size\": "
      "4}]},"
      "\"ReferenceArguments\": [{\"TargetName\": \"x\", \"FillType\": \"Constant\", \"FillValue\": 1,"
      "\"ValidationMethod\": \"%s\", \"ValidationThreshold\": 0.25}]}",
      tolerance, method);
  clt_problem *problem = scratch_problem(json);
  assert_true(problem->arguments[0].absolute_tolerance == absolute);
  assert_true(problem->arguments[0].relative_tolerance == relative);
  clt_problem_free(problem);
}

static void a_threshold_is_the_only_bound_unless_another_is_stated(void **state) {
  (void)state;
  expect_tolerances("", "AbsoluteDifference", 0.25, 0);
  expect_tolerances("", "RelativeDifference", 0, 0.25);
  expect_tolerances("", "SideBySideRelativeComparison", 0, 0.25);
  expect_tolerances("\"AbsoluteTolerance\": 0.5,", "RelativeDifference", 0.5, 0.25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_file_is_loaded),
      cmocka_unit_test(files_that_are_not_there_or_not_json_are_named),
      cmocka_unit_test(misspelt_keys_are_found),
      cmocka_unit_test(keys_of_other_tools_are_ignored),
      cmocka_unit_test(mistakes_in_problem_parameters),
      cmocka_unit_test(mistakes_in_tuning_parameters),
      cmocka_unit_test(mistakes_in_permutations),
      cmocka_unit_test(mistakes_in_expressions),
      cmocka_unit_test(mistakes_in_the_kernel),
      cmocka_unit_test(arguments_may_lack_size_and_content),
      cmocka_unit_test(mistakes_in_arguments),
      cmocka_unit_test(mistakes_in_references_and_budget),
      cmocka_unit_test(words_of_expressions_are_no_names),
      cmocka_unit_test(resources_may_be_absent_and_have_comments),
      cmocka_unit_test(unknown_names_in_aliases_and_resources_are_found),
      cmocka_unit_test(a_threshold_is_the_only_bound_unless_another_is_stated),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
