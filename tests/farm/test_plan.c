/* Plans: their cells, and that every mistake is reported with its line, its key and the fix. */
#include "../problem/scratch.h"

#include "device/device.h"
#include "farm/plan.h"
#include "farm/sweep.h"

static const char problem_json[] =
    "{\"General\": {\"BenchmarkName\": \"bank\"},\n"
    "\"ProblemParameters\": [{\"Name\": \"R\", \"Default\": 64, \"Min\": 8, \"Max\": 4096}, {\"Name\": \"C\", "
    "\"Default\": 64},\n"
    " {\"Name\": \"H\", \"Default\": 3}, {\"Name\": \"F\", \"Default\": 4}],\n"
    "\"ConfigurationSpace\": {\"TuningParameters\": [\n"
    " {\"Name\": \"wg\", \"Type\": \"int\", \"Values\": \"[1, 2, 4, 8]\", \"Default\": 2},\n"
    " {\"Name\": \"mode\", \"Type\": \"string\", \"Values\": [\"row\", \"column\"]}],\n"
    " \"Conditions\": [{\"Expression\": \"wg <= R // 8\"}]},\n"
    "\"KernelSpecification\": {\"KernelName\": \"f\", \"KernelFile\": \"f.cl\", \"GlobalSize\": [\"R\"], "
    "\"LocalSize\": [\"wg\"],\n"
    " \"Arguments\": [{\"Name\": \"a\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
    "\"WriteOnly\", \"Size\": \"R\"}]}}\n";

static int setup(void **state) {
  if (scratch_setup(state)) return -1;
  scratch_write("bank.json", problem_json);
  scratch_write("f.cl", "kernel void f(global float *a) { a[get_global_id(0)] = 0; }\n");
  return 0;
}

static clt_sweep *load(const char *json) {
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  char text[2000];
  scratch_write("plan.json", json);
  if (clt_sweep_load(&sweep, scratch_path("plan.json"), &error) == CLT_OK) return sweep;
  clt_error_format(text, sizeof text, &error);
  fail_msg("%s", text);
  return NULL;
}

static void expect_cell(const clt_sweep *sweep, size_t index, const char *text) {
  const clt_sweep_cell cell = sweep->cells[index];
  char printed[256], short_one[8];
  assert_int_equal(clt_sweep_cell_print(&cell, printed, sizeof printed), strlen(text));
  assert_string_equal(printed, text);
  assert_int_equal(clt_sweep_cell_print(&cell, short_one, sizeof short_one), strlen(text));
  assert_memory_equal(short_one, text, sizeof short_one - 1);
}

static void the_least_plan_is_one_tuning_with_the_defaults(void **state) {
  (void)state;
  clt_sweep *sweep = load("{\"Problems\": \"bank.json\"}");
  assert_int_equal(sweep->n_cells, 1);
  assert_int_equal(sweep->n_devices, 0);
  expect_cell(sweep, 0, "bank R=64 C=64 H=3 F=4 " CLT_DEFAULT_SEARCHER " seed=1");
  assert_string_equal(clt_sweep_name(sweep), scratch_path("plan.json"));
  clt_sweep_free(sweep);
}

static void default_sizes_that_depend_on_the_device_are_left_to_it(void **state) {
  (void)state;
  static const char stated[] = "\"Default\": 64, \"Min\": 8",
                    rule[] = "\"Default\": \"64 if device.type == 'cpu' else 512\", \"Min\": 8";
  const char *at = strstr(problem_json, stated);
  char *text = clt_format("%.*s%s%s", (int)(at - problem_json), problem_json, rule, at + strlen(stated));
  scratch_write("ruled.json", text);
  free(text);
  clt_sweep *sweep = load("{\"Problems\": [\"ruled.json\", {\"Problem\": \"ruled.json\", \"Sizes\": [{\"R\": 8}]}]}");
  assert_int_equal(sweep->n_cells, 2);
  expect_cell(sweep, 0, "bank " CLT_DEFAULT_SEARCHER " seed=1");
  expect_cell(sweep, 1, "bank R=8 C=64 H=3 F=4 " CLT_DEFAULT_SEARCHER " seed=1");
  clt_sweep_free(sweep);
}

static void cells_are_all_combinations_with_seeds_fastest(void **state) {
  (void)state;
  clt_sweep *sweep = load(
      "{\"Name\": \"all\", \"#\": \"a comment\", \"Devices\": [\"all\", \"pocl\"], \"Searchers\": [\"random\", "
      "\"local\"],\n"
      " \"Budgets\": [20, 1e2], \"Seeds\": \"range(1, 4)\",\n"
      " \"Problems\": [{\"Problem\": \"bank.json\", \"Sizes\": [{\"R\": 8}, {\"R\": 16, \"F\": 1}]},\n"
      "  {\"Problem\": \"bank.json\", \"Sizes\": [{\"C\": 5}], \"Searchers\": [{\"Name\": \"r\", \"Searcher\": "
      "\"random\"}],"
      " \"Budgets\": 7, \"Seeds\": 9}]}");
  assert_string_equal(clt_sweep_name(sweep), "all");
  assert_int_equal(sweep->n_devices, 2);
  assert_string_equal(sweep->devices[1], "pocl");
  assert_int_equal(sweep->n_cells, 2 * 2 * 2 * 3 + 1);
  expect_cell(sweep, 0, "bank R=8 C=64 H=3 F=4 random budget=20 seed=1");
  expect_cell(sweep, 2, "bank R=8 C=64 H=3 F=4 random budget=20 seed=3");
  expect_cell(sweep, 3, "bank R=8 C=64 H=3 F=4 random budget=100 seed=1");
  expect_cell(sweep, 6, "bank R=8 C=64 H=3 F=4 local budget=20 seed=1");
  expect_cell(sweep, 23, "bank R=16 C=64 H=3 F=1 local budget=100 seed=3");
  expect_cell(sweep, 24, "bank R=64 C=5 H=3 F=4 r budget=7 seed=9");
  assert_int_equal(sweep->cells[11].size_set, 0);
  assert_int_equal(sweep->cells[12].size_set, 1);
  assert_int_equal(sweep->cells[24].size_set, 2);
  clt_sweep_free(sweep);
}

static int64_t size_of(const clt_sweep *sweep, size_t index, size_t size) {
  return sweep->cells[index].sizes[size].value;
}

static void sizes_may_be_a_grid_with_conditions(void **state) {
  (void)state;
  clt_sweep *sweep = load(
      "{\"Problems\": {\"Problem\": \"bank.json\", \"Sizes\": {\"Values\":"
      " {\"R\": \"[2**i for i in range(3, 6)]\", \"C\": \"R\", \"F\": [4, 1], \"H\": 5},"
      " \"Where\": [\"C * F < 128\", \"C != 8 or H == 5\"]}}}");
  assert_int_equal(sweep->n_cells, 5);
  expect_cell(sweep, 0, "bank R=8 C=8 H=5 F=4 " CLT_DEFAULT_SEARCHER " seed=1");
  expect_cell(sweep, 1, "bank R=8 C=8 H=5 F=1 " CLT_DEFAULT_SEARCHER " seed=1");
  expect_cell(sweep, 4, "bank R=32 C=32 H=5 F=1 " CLT_DEFAULT_SEARCHER " seed=1");
  clt_sweep_free(sweep);
}

#define BANK(rest)                                                                                                  \
  "{\"Problems\": {\"Problem\": \"bank.json\", \"Sizes\": {\"Values\": {\"R\": \"range(32, 257)\", \"C\": \"R\",\n" \
  " \"H\": [3, 5, 7, 9, 11], \"F\": \"[4**i for i in range(5)]\"},\n"                                               \
  " \"Where\": \"0.02e6 <= 2 * F * H**2 * (R - H + 1) * (C - H + 1) <= 2e6\", " rest "}}}"

static void drawn_sizes_satisfy_the_conditions_and_differ(void **state) {
  (void)state;
  clt_sweep *sweep = load(BANK("\"Count\": 50"));
  assert_int_equal(sweep->n_cells, 50);
  for (size_t i = 0; i < 50; i++) {
    int64_t r = size_of(sweep, i, 0), c = size_of(sweep, i, 1), h = size_of(sweep, i, 2), f = size_of(sweep, i, 3);
    double work = 2.0 * (double)(f * h * h * (r - h + 1) * (c - h + 1));
    assert_int_equal(r, c);
    assert_true(r >= 32 && r <= 256 && work >= 0.02e6 && work <= 2e6);
    for (size_t k = 0; k < i; k++)
      assert_true(r != size_of(sweep, k, 0) || h != size_of(sweep, k, 2) || f != size_of(sweep, k, 3));
  }
  clt_sweep_free(sweep);
}

static void the_first_of_many_draws_are_those_of_fewer(void **state) {
  (void)state;
  clt_sweep *all = load(BANK("\"Count\": 70, \"Seed\": 3")), *first = load(BANK("\"Count\": 50, \"Seed\": 3"));
  clt_sweep *rest = load(BANK("\"Count\": 20, \"Seed\": 3, \"Skip\": 50")),
            *other = load(BANK("\"Count\": 50, \"Seed\": 4"));
  size_t same = 0;
  for (size_t i = 0; i < 70; i++)
    for (size_t s = 0; s < 4; s++)
      assert_int_equal(size_of(all, i, s), i < 50 ? size_of(first, i, s) : size_of(rest, i - 50, s));
  for (size_t i = 0; i < 50; i++)
    same += size_of(first, i, 0) == size_of(other, i, 0) && size_of(first, i, 2) == size_of(other, i, 2);
  assert_true(same < 10);
  clt_sweep_free(all);
  clt_sweep_free(first);
  clt_sweep_free(rest);
  clt_sweep_free(other);
}

static void the_examples_can_be_read(void **state) {
  (void)state;
  static const struct {
    const char *path;
    size_t n_cells;
  } examples[] = {{EXAMPLES "/convolution.json", 12}, {EXAMPLES "/random-sizes.json", 30}};
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    clt_sweep *sweep = NULL;
    clt_error error = {0};
    if (clt_sweep_load(&sweep, examples[i].path, &error) != CLT_OK) fail_msg("%s: %s", examples[i].path, error.message);
    assert_int_equal(sweep->n_cells, examples[i].n_cells);
    clt_sweep_free(sweep);
  }
}

/* --- settings --- */

static clt_instance *instance_of(const clt_sweep *sweep, size_t index, clt_sweep_cell *cell, int64_t R) {
  static clt_device_info device = {.name = "d", .platform_name = "p", .driver_version = "1", .compute_units = 2};
  clt_instance *instance = NULL;
  *cell = sweep->cells[index];
  clt_size size = {"R", R};
  assert_int_equal(
      clt_instance_new(&instance, cell->problem, R ? &size : cell->sizes, R ? 1 : cell->n_sizes, &device, NULL),
      CLT_OK);
  return instance;
}

static void settings_are_the_plans(void **state) {
  (void)state;
  clt_sweep *sweep = load(
      "{\"Problems\": \"bank.json\", \"Searchers\": [{\"Searcher\": \"two-stage\", \"Options\": {\"samples\": 30}}],\n"
      "\"Budgets\": 40, \"Seeds\": [6], \"Evaluator\": {\"Evaluator\": \"opencl\", \"Options\": {\"workers\": 2, "
      "\"lock\": false}},\n"
      "\"Tuning\": {\"Finalists\": 2, \"Time\": \"1.5m\", \"Transfer\": true, \"SkipDefault\": 1, \"Tolerance\": "
      "0.1}}");
  clt_sweep_cell cell;
  clt_instance *instance = instance_of(sweep, 0, &cell, 0);
  clt_tune_settings s;
  assert_int_equal(clt_sweep_settings(&s, sweep, &cell, instance, NULL, NULL), CLT_OK);
  assert_string_equal(s.searcher, "two-stage");
  assert_string_equal(s.searcher_settings[0].value, "30");
  assert_string_equal(s.evaluator_settings[0].value, "2");
  assert_string_equal(s.evaluator_settings[1].value, "no");
  assert_int_equal(s.budget, 40);
  assert_int_equal(s.seed, 6);
  assert_int_equal(s.finalists, 2);
  assert_true(s.time_s == 90 && s.tolerance == 0.1 && !s.no_transfer && s.skip_default && !s.no_reuse);
  assert_ptr_equal(s.instance, instance);
  clt_sweep_settings_release(&s);
  clt_instance_free(instance);
  clt_sweep_free(sweep);
}

/* The configurations of cell 0 as "a=1 b=2;..." */
static void expect_listed(const char *searcher, int64_t R, size_t expected_left_out, const char *expected) {
  char json[600], text[600] = "", *config;
  snprintf(json, sizeof json,
           "{\"Problems\": \"bank.json\", \"Searchers\": [%s], \"Budgets\": [1, 2], \"Seeds\": [1, 2]}", searcher);
  clt_sweep *sweep = load(json);
  clt_sweep_cell cell;
  clt_instance *instance = instance_of(sweep, 0, &cell, R);
  clt_tune_settings s;
  size_t left_out = 99;
  assert_int_equal(sweep->n_cells, 1);
  assert_int_equal(clt_sweep_settings(&s, sweep, &cell, instance, &left_out, NULL), CLT_OK);
  for (size_t i = 0; i < s.n_configurations; i++) {
    config = clt_config_string(clt_instance_space(instance), s.configurations[i]);
    strcat(strcat(text, config), ";");
    free(config);
  }
  assert_string_equal(text, expected);
  assert_int_equal(left_out, expected_left_out);
  assert_string_equal(cell.by->label, "grid");
  clt_sweep_settings_release(&s);
  clt_instance_free(instance);
  clt_sweep_free(sweep);
}

static void configurations_may_be_listed(void **state) {
  (void)state;
  expect_listed("{\"Configurations\": [{\"wg\": 4, \"mode\": \"column\"}, {\"configuration\": {\"wg\": 1}}, {}]}", 0, 0,
                "wg=4 mode=column;wg=1 mode=row;wg=2 mode=row;");
  expect_listed("{\"Grid\": {\"mode\": [\"row\", \"column\"], \"wg\": \"[2**i for i in range(2, 4)]\"}}", 0, 0,
                "wg=4 mode=row;wg=8 mode=row;wg=4 mode=column;wg=8 mode=column;");
  expect_listed("{\"Grid\": {\"mode\": \"column\", \"wg\": [1, 2, 4, 8]}}", 16, 2,
                "wg=1 mode=column;wg=2 mode=column;");
  scratch_write("list.json", "[{\"wg\": 8}]");
  expect_listed("{\"Configurations\": \"list.json\"}", 0, 0, "wg=8 mode=row;");
}

static void expect_unlisted(const char *searcher, int64_t R, int code, const char *message) {
  char json[600];
  snprintf(json, sizeof json, "{\"Problems\": \"bank.json\", \"Searchers\": %s}", searcher);
  clt_sweep *sweep = load(json);
  clt_sweep_cell cell;
  clt_instance *instance = instance_of(sweep, 0, &cell, R);
  clt_tune_settings s;
  clt_error error = {0};
  assert_int_equal(clt_sweep_settings(&s, sweep, &cell, instance, NULL, &error), code);
  if (strstr(error.message, message) == NULL) fail_msg("%s", error.message);
  clt_instance_free(instance);
  clt_sweep_free(sweep);
}

static void listed_configurations_that_do_not_fit_are_refused(void **state) {
  (void)state;
  expect_unlisted("{\"Configurations\": [{\"wg\": 1}, {\"moda\": 1}]}", 0, CLT_E_NOT_FOUND,
                  "configuration 1: there is no parameter 'moda' (did you mean 'mode'?)");
  expect_unlisted("{\"Grid\": {\"wg\": [1, 3]}}", 0, CLT_E_NOT_FOUND, "3 is not among the values of 'wg'");
  expect_unlisted("{\"Grid\": {\"wg\": [4, 8]}}", 16, CLT_E_NO_VALID, "none of the 2 listed configurations");
}

static void key_of(char out[33], const char *json) {
  clt_sweep *sweep = load(json);
  clt_sweep_cell cell;
  clt_instance *instance = instance_of(sweep, 0, &cell, 0);
  clt_tune_settings s;
  assert_int_equal(clt_sweep_settings(&s, sweep, &cell, instance, NULL, NULL), CLT_OK);
  assert_int_equal(clt_sweep_key(out, &s, NULL), CLT_OK);
  clt_sweep_settings_release(&s);
  clt_instance_free(instance);
  clt_sweep_free(sweep);
}

static void the_key_is_another_for_whatever_changes_the_tuning(void **state) {
  (void)state;
  static const char *const others[] = {
      "{\"Problems\": \"bank.json\", \"Seeds\": 2}",
      "{\"Problems\": \"bank.json\", \"Budgets\": 2}",
      "{\"Problems\": \"bank.json\", \"Searchers\": \"random\"}",
      "{\"Problems\": \"bank.json\", \"Searchers\": {\"Searcher\": \"two-stage\"}}",
      "{\"Problems\": \"bank.json\", \"Searchers\": {\"Searcher\": \"two-stage\", \"Options\": {\"samples\": 30}}}",
      "{\"Problems\": \"bank.json\", \"Searchers\": {\"Grid\": {\"wg\": 1}}}",
      "{\"Problems\": \"bank.json\", \"Searchers\": {\"Grid\": {\"wg\": 2}}}",
      "{\"Problems\": \"bank.json\", \"Tuning\": {\"Finalists\": 0}}",
      "{\"Problems\": {\"Problem\": \"bank.json\", \"Sizes\": [{\"H\": 5}]}}",
      "{\"Problems\": \"bank.json\", \"Evaluator\": \"in-process\"}",
  };
  enum { N = sizeof others / sizeof *others };
  char keys[N + 1][33], again[33];
  key_of(keys[N], "{\"Problems\": \"bank.json\"}");
  for (size_t i = 0; i < N; i++) {
    key_of(keys[i], others[i]);
    assert_string_not_equal(keys[i], keys[N]);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(keys[i], keys[k]);
  }
  key_of(again,
         "{\"Name\": \"another\", \"Devices\": \"gpu\", \"Tuning\": {\"Threads\": 3}, \"Problems\": [\"bank.json\", "
         "\"bank.json\"]}");
  assert_string_equal(again, keys[N]);
  scratch_write("f.cl", "kernel void f(global float *a) { a[get_global_id(0)] = 1; }\n");
  key_of(again, "{\"Problems\": \"bank.json\"}");
  assert_string_not_equal(again, keys[N]);
}

/* --- devices --- */

static void texts_may_stand_for_several_devices(void **state) {
  (void)state;
  const clt_device_info devices[] = {{.name = "One", .platform_name = "P", .type = CLT_DEVICE_GPU},
                                     {.name = "Cores", .type = CLT_DEVICE_CPU},
                                     {.name = "Other One", .platform_name = "P", .type = CLT_DEVICE_GPU}};
  size_t found[3], n = 0;
  clt_error error = {0};
  assert_int_equal(clt_device_select_all(found, &n, devices, 3, "ALL", true, NULL), CLT_OK);
  assert_int_equal(n, 3);
  assert_int_equal(clt_device_select_all(found, &n, devices, 3, "gpu", true, NULL), CLT_OK);
  assert_int_equal(n, 2);
  assert_int_equal(found[1], 2);
  assert_int_equal(clt_device_select_all(found, &n, devices, 3, "cores", true, NULL), CLT_OK);
  assert_int_equal(n, 1);
  assert_int_equal(found[0], 1);
  assert_int_equal(clt_device_select_all(found, &n, devices, 3, "accelerator", true, &error), CLT_E_DEVICE);
  error = (clt_error){0};
  assert_int_equal(clt_device_select_all(found, &n, devices, 3, "one", true, NULL), CLT_OK);
  assert_int_equal(found[0], 0); /* the whole name */
  assert_int_equal(clt_device_select_all(found, &n, devices, 3, "on", true, &error), CLT_E_AMBIGUOUS);
  assert_int_equal(clt_device_select_all(found, &n, devices, 0, "all", true, NULL), CLT_E_DEVICE);
}

/* --- the table --- */

static size_t n_asked;
bool __real_farm_row_found(const farm_row *row);
bool __wrap_farm_row_found(const farm_row *row);

bool __wrap_farm_row_found(const farm_row *row) {
  n_asked++;
  return __real_farm_row_found(row);
}

static double fraction_in(json_t *answer, size_t line) {
  return clt_json_number(json_array_get(json_object_get(answer, "table"), line), "fraction_of_best");
}

/* The best at a size is looked for once, not for each of the size's lines. */
static void the_work_of_a_table_grows_with_its_tunings(void **state) {
  (void)state;
  enum { BUDGETS = 300, N = 2 * BUDGETS };
  clt_device_info device = {.name = "d", .driver_version = "1"};
  static farm_row rows[N];
  clt_sweep *plan = load("{\"Problems\": {\"Problem\": \"bank.json\", \"Sizes\": [{\"R\": 8}, {\"R\": 16}]},"
                         " \"Searchers\": \"random\", \"Budgets\": \"range(1, 301)\"}");
  farm_sweep sweep = {.plan = plan, .devices = &device, .n_devices = 1, .cells = plan->cells, .n_cells = plan->n_cells, .rows = rows,
                      .missing = json_array(), .results.path = "none"};
  assert_int_equal(plan->n_cells, N);
  for (size_t i = 0; i < N; i++) rows[i].line = json_pack("{s:f, s:{s:i}}", "best_s", (double)(i + 1), "evaluations", "total", 1);
  FILE *usual = stdout;
  stdout = fopen(scratch_path("table.json"), "w");
  n_asked = 0;
  assert_int_equal(farm_sweep_print(&sweep, "json", false, true), 0);
  fclose(stdout);
  stdout = usual;
  assert_in_range(n_asked, 1, 4 * N);
  json_t *answer = json_load_file(scratch_path("table.json"), 0, NULL);
  assert_float_equal(fraction_in(answer, 1), 0.5, 1e-9);
  assert_float_equal(fraction_in(answer, BUDGETS), 1, 1e-9);
  assert_float_equal(fraction_in(answer, N - 1), (BUDGETS + 1.0) / N, 1e-9);
  for (size_t i = 0; i < N; i++) json_decref(rows[i].line);
  json_decref(answer);
  json_decref(sweep.missing);
  clt_sweep_free(plan);
}

/* --- mistakes --- */

static void expect_mistake(const char *json, int line, const char *key, const char *message) {
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  scratch_write("plan.json", json);
  if (clt_sweep_load(&sweep, scratch_path("plan.json"), &error) == CLT_OK) fail_msg("%s is taken", json);
  if (error.line != line) fail_msg("%s is reported for line %d: %s", json, error.line, error.message);
  if (strcmp(error.key, key) != 0) fail_msg("%s is reported for key '%s': %s", json, error.key, error.message);
  if (strstr(error.message, message) == NULL) fail_msg("%s says: %s", json, error.message);
  assert_string_equal(error.file, scratch_path("plan.json"));
  assert_null(sweep);
}

#define P "{\"Problems\": \"bank.json\",\n"
#define S "{\"Problems\": {\"Problem\": \"bank.json\",\n\"Sizes\": "

static void mistakes_in_lists(void **state) {
  (void)state;
  expect_mistake("{\"Problems\": [}", 1, "", "");
  expect_mistake("[]", 0, "", "needs an object");
  expect_mistake("{}", 0, "", "needs \"Problems\"");
  expect_mistake("{\"Problem\": \"bank.json\"}", 1, "Problem", "did you mean \"Problems\"?");
  expect_mistake("{\"Problems\": []}", 1, "Problems", "needs 1 to");
  expect_mistake("{\"Problems\": [\n{\"Seeds\": 1}]}", 2, "Problems[0]", "needs a \"Problem\"");
  expect_mistake("{\"Problems\": [\"bank.json\",\n\"none.json\"]}", 2, "Problems[1]", "No such file");
  expect_mistake("{\"Problems\": [{\"Problem\": \"bank.json\", \"Size\": []}]}", 1, "Problems[0].Size",
                 "did you mean \"Sizes\"?");
  expect_mistake(P "\"Devices\": []}", 2, "Devices", "needs 1 to 64 devices");
  expect_mistake(P "\"Devices\": [\"gpu\", 3]}", 2, "Devices[1]", "needs a text");
  expect_mistake(P "\"Seeds\": []}", 2, "Seeds", "must not be empty");
  expect_mistake(P "\"Seeds\": [1, 1.5]}", 2, "Seeds[1]", "needs a whole number");
  expect_mistake(P "\"Seeds\": [1, 2, 1]}", 2, "Seeds", "1 is listed twice");
  expect_mistake(P "\"Seeds\": \"range(1, 2\"}", 2, "Seeds", "");
  expect_mistake(P "\"Seeds\": \"range(20000)\"}", 2, "Seeds", "20000 numbers; at most 10000");
  expect_mistake(P "\"Seeds\": true}", 2, "Seeds", "range(1, 11)");
  expect_mistake(P "\"Budgets\": 0}", 2, "Budgets", "0 is out of range; it must be from 1 to");
  expect_mistake("{\"Seeds\": \"range(10000)\", \"Budgets\": \"range(1, 102)\",\n\"Problems\": \"bank.json\"}", 2,
                 "Problems", "more than 1000000 tunings");
}

static void mistakes_in_searchers_and_tuning(void **state) {
  (void)state;
  expect_mistake(P "\"Searchers\": []}", 2, "Searchers", "needs 1 to");
  expect_mistake(P "\"Searchers\": [\"random\", \"lokal\"]}", 2, "Searchers[1]", "did you mean \"local\"?");
  expect_mistake(P "\"Searchers\": [3]}", 2, "Searchers[0]", "needs an object");
  expect_mistake(P "\"Searchers\": [{}]}", 2, "Searchers[0]",
                 "needs exactly one of \"Searcher\", \"Configurations\" and \"Grid\"");
  expect_mistake(P "\"Searchers\": [{\"Searcher\": \"random\", \"Grid\": {}}]}", 2, "Searchers[0]",
                 "needs exactly one of");
  expect_mistake(P "\"Searchers\": [{\"Searcher\": \"xyzzy\"}]}", 2, "Searchers[0].Searcher", "there is no searcher");
  expect_mistake(P "\"Searchers\": [{\"Searcher\": \"two-stage\", \"Options\": {\"sample\": 3}}]}", 2,
                 "Searchers[0].Options", "did you mean 'samples'?");
  expect_mistake(P "\"Searchers\": [{\"Searcher\": \"two-stage\", \"Options\": {\"samples\": []}}]}", 2,
                 "Searchers[0].Options.samples", "needs a string, a number");
  expect_mistake(P "\"Searchers\": [\"random\", \"random\"]}", 2, "Searchers", "\"random\" is listed twice");
  expect_mistake(P "\"Searchers\": [{\"Configurations\": []}]}", 2, "Searchers[0].Configurations", "needs 1 to");
  expect_mistake(P "\"Searchers\": [{\"Configurations\": [{}, 3]}]}", 2, "Searchers[0].Configurations[1]",
                 "needs a configuration");
  expect_mistake(P "\"Searchers\": [{\"Grid\": {\"wg\": [[1]]}}]}", 2, "Searchers[0].Grid.wg", "needs a value");
  expect_mistake(P "\"Searchers\": [{\"Grid\": {}}]}", 2, "Searchers[0].Grid", "needs values of 1 to 128 parameters");
  expect_mistake(P "\"Searchers\": [{\"Grid\": {\"a\": \"range(400)\", \"b\": \"range(400)\"}}]}", 2,
                 "Searchers[0].Grid.b", "at most 100000");
  expect_mistake(P "\"Evaluator\": \"opencll\"}", 2, "Evaluator", "did you mean \"opencl\"?");
  expect_mistake(P "\"Evaluator\": {\"Options\": {\"workers\": -1}}}", 2, "Evaluator.Options", "needs a number from");
  expect_mistake(P "\"Tuning\": {\"Finalist\": 3}}", 2, "Tuning.Finalist", "did you mean \"Finalists\"?");
  expect_mistake(P "\"Tuning\": {\"Time\": -1}}", 2, "Tuning.Time", "needs a number from 0.001");
  expect_mistake(P "\"Tuning\": {\"Time\": \"5d\"}}", 2, "Tuning.Time", "90s, 5m, 1h");
  expect_mistake(P "\"Tuning\": {\"Batch\": 0}}", 2, "Tuning.Batch", "needs a whole number from 1");
}

static void mistakes_in_sizes(void **state) {
  (void)state;
  expect_mistake(S "3}}", 2, "Problems.Sizes", "needs a list, or an object");
  expect_mistake(S "[]}}", 2, "Problems.Sizes", "needs 1 to");
  expect_mistake(S "[{\"R\": 8},\n{\"RR\": 8}]}}", 3, "Problems.Sizes[1].RR", "there is no size \"RR\"");
  expect_mistake(S "[{\"R\": 4}]}}", 2, "Problems.Sizes[0].R", "must be at least 8");
  expect_mistake(S "[{\"R\": 4097}]}}", 2, "Problems.Sizes[0].R", "must be at most 4096");
  expect_mistake(S "[{\"R\": \"8\"}]}}", 2, "Problems.Sizes[0].R", "needs a whole number");
  const char *const unnamed = "needs \"R\", because its default depends on the device";
  expect_mistake("{\"Problems\": {\"Problem\": \"ruled.json\",\n\"Sizes\": [{\"C\": 8}]}}", 2, "Problems.Sizes[0]",
                 unnamed);
  expect_mistake("{\"Problems\": {\"Problem\": \"ruled.json\",\n\"Sizes\": {\"Values\": {\"C\": 8}}}}", 2,
                 "Problems.Sizes.Values", unnamed);
  expect_mistake(S "{\"Where\": \"R < 8\"}}}", 2, "Problems.Sizes", "needs \"Values\"");
  expect_mistake(S "{\"Values\": {\"C\": \"R\"}}}}", 2, "Problems.Sizes.Values.C", "\"R\" needs its own values");
  expect_mistake(S "{\"Values\": {\"C\": \"width\"}}}}", 2, "Problems.Sizes.Values.C", "there is no size \"width\"");
  expect_mistake(S "{\"Values\": {\"R\": [8, 8]}}}}", 2, "Problems.Sizes", "");
  expect_mistake(S "{\"Values\": {\"R\": [8, 7]}}}}", 2, "Problems.Sizes.Values.R", "7: must be at least 8");
  expect_mistake(S "{\"Values\": {\"R\": 8}, \"Where\": \"R <\"}}}", 2, "Problems.Sizes.Where", "");
  expect_mistake(S "{\"Values\": {\"R\": 8}, \"Where\": [\"R < 9\", \"width > 8\"]}}}", 2, "Problems.Sizes.Where[1]",
                 "width");
  expect_mistake(S "{\"Values\": {\"R\": 8}, \"Where\": \"R > 8\"}}}", 2, "Problems.Sizes", "no size satisfies");
  expect_mistake(S "{\"Values\": {\"R\": [8, 9]}, \"Count\": 2, \"Skip\": 1}}}", 2, "Problems.Sizes",
                 "only 2 sizes satisfy");
  expect_mistake(S "{\"Values\": {\"R\": [8, 9]}, \"Seed\": 2}}}", 2, "Problems.Sizes.Seed", "needs a \"Count\"");
  expect_mistake(S "{\"Values\": {\"R\": [8, 9]}, \"Count\": 0}}}", 2, "Problems.Sizes.Count",
                 "needs a whole number from 1");
  expect_mistake(S "{\"Values\": {\"C\": \"range(400)\", \"F\": \"range(400)\"}}}}", 2, "Problems.Sizes",
                 "add \"Count\"");
  expect_mistake(S "{\"Values\": {\"C\": \"range(60000)\", \"F\": \"range(60000)\"}, \"Where\": \"C * F < 0\"}}}", 2,
                 "Problems.Sizes.Where", "more than 16777216 combinations");
}

static void what_sizes_are_drawn_from_is_not_kept_and_a_problem_is_loaded_once(void **state) {
  (void)state;
  clt_sweep *plain = load("{\"Problems\": [\"bank.json\", \"ruled.json\", \"bank.json\"]}");
  clt_sweep *drawn = load("{\"Problems\": [\"bank.json\", \"ruled.json\", {\"Problem\": \"bank.json\", \"Sizes\": {\"Values\":"
                          " {\"R\": \"range(8, 4000)\"}, \"Where\": [\"R > 8\"], \"Count\": 1}}]}");
  assert_int_equal(drawn->source.n_blocks, plain->source.n_blocks);
  assert_ptr_equal(drawn->problems[2].problem, drawn->problems[0].problem);
  assert_ptr_not_equal(drawn->problems[1].problem, drawn->problems[0].problem);
  assert_int_equal(drawn->n_cells, 3);
  clt_sweep_free(plain);
  clt_sweep_free(drawn);
}

/* Short texts that stand for so much that reading them would hold up all agents of a farm. */
static void what_takes_too_long_to_read_is_refused(void **state) {
  (void)state;
  static const char most[] = "the plan lists, draws and checks more than 4000000 values in all; list fewer";
  for (int n = 128; n <= 129; n++) {
    clt_text grid = {0};
    clt_text_add(&grid, P "\"Searchers\": [{\"Grid\": {\"all\": \"range(60000)\"");
    for (int i = 1; i < n; i++) clt_text_printf(&grid, ", \"p%d\": 0", i);
    clt_text_add(&grid, "}}]}");
    expect_mistake(grid.bytes, 2, "Searchers[0].Grid", n == 128 ? most : "needs values of 1 to 128 parameters");
    clt_text_release(&grid);
  }
  for (int n_conditions = 0; n_conditions <= 64; n_conditions += 64) {
    clt_text sizes = {0};
    const int n = n_conditions ? 1 : 62;
    for (int i = 0; i < n; i++) {
      clt_text_printf(&sizes, "%s{\"Problem\": \"bank.json\", \"Sizes\": {\"Values\": {\"F\": \"range(65536)\"%s},"
                              " \"Count\": 1, \"Where\": [", i ? ", " : "{\"Problems\": [", n_conditions ? ", \"C\": \"range(200)\"" : "");
      for (int k = 0; k < n_conditions; k++) clt_text_printf(&sizes, "%s\"F > %d\"", k ? ", " : "", k);
      clt_text_add(&sizes, "]}}");
    }
    clt_text_add(&sizes, "]}");
    expect_mistake(sizes.bytes, 1, n_conditions ? "Problems[0].Sizes.Where" : "Problems[61].Sizes.Values.F", most);
    clt_text_release(&sizes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_plan_is_one_tuning_with_the_defaults),
      cmocka_unit_test(default_sizes_that_depend_on_the_device_are_left_to_it),
      cmocka_unit_test(cells_are_all_combinations_with_seeds_fastest),
      cmocka_unit_test(sizes_may_be_a_grid_with_conditions),
      cmocka_unit_test(drawn_sizes_satisfy_the_conditions_and_differ),
      cmocka_unit_test(the_first_of_many_draws_are_those_of_fewer),
      cmocka_unit_test(the_examples_can_be_read),
      cmocka_unit_test(settings_are_the_plans),
      cmocka_unit_test(configurations_may_be_listed),
      cmocka_unit_test(listed_configurations_that_do_not_fit_are_refused),
      cmocka_unit_test(the_key_is_another_for_whatever_changes_the_tuning),
      cmocka_unit_test(texts_may_stand_for_several_devices),
      cmocka_unit_test(the_work_of_a_table_grows_with_its_tunings),
      cmocka_unit_test(mistakes_in_lists),
      cmocka_unit_test(mistakes_in_searchers_and_tuning),
      cmocka_unit_test(mistakes_in_sizes),
      cmocka_unit_test(what_sizes_are_drawn_from_is_not_kept_and_a_problem_is_loaded_once),
      cmocka_unit_test(what_takes_too_long_to_read_is_refused),
  };
  return cmocka_run_group_tests_name("sweep plan", tests, setup, scratch_teardown);
}
