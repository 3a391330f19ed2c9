/* Metrics and objectives: parsing of texts, values, costs, and the keys of a problem file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "measurement/measurement.h"

static char *folder;

/* The problem "add" with `sections` before its end. */
static int load(clt_problem **out, const char *sections, clt_error *error) {
  static char text[8192];
  char path[600];
  clt_problem_free(make_add_problem(folder));
  snprintf(path, sizeof path, "%s/add.json", folder);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  *strrchr(text, '}') = '\0';
  snprintf(text + strlen(text), sizeof text - strlen(text), ", %s}", sections);
  write_text(folder, "add.json", text);
  return clt_problem_new(out, path, error);
}

typedef struct subject {
  clt_problem *problem;
  clt_instance *instance;
} subject;

static subject make(const char *sections) {
  subject s = {0};
  clt_error error = {0};
  clt_device_info device = make_device();
  if (load(&s.problem, sections, &error) || clt_instance_new(&s.instance, s.problem, NULL, 0, &device, &error))
    fail_msg("%s: %s", error.key, error.message);
  return s;
}

static void drop(subject *s) {
  clt_instance_free(s->instance);
  clt_problem_free(s->problem);
}

static clt_objective *objective(const subject *s, const char *text) {
  clt_objective *o = NULL;
  clt_error error = {0};
  if (clt_objective_new(&o, s->instance, text, &error)) fail_msg("%s", error.message);
  return o;
}

static void expect_failure(const subject *s, const char *text, int code, const char *part) {
  clt_objective *o = NULL;
  clt_error error = {0};
  assert_int_equal(clt_objective_new(&o, s->instance, text, &error), code);
  assert_null(o);
  if (strstr(error.message, part) == NULL) fail_msg("'%s' lacks '%s'", error.message, part);
}

#define METRICS                                                                                         \
  "\"Metrics\": [{\"Name\": \"items\", \"Expression\": \"n / time_s\", \"Goal\": \"Maximise\"},"        \
  "{\"Name\": \"GB/s\", \"Expression\": \"4e-9 * items\", \"Unit\": \"GB/s\", \"Goal\": \"maximize\"}," \
  "{\"Name\": \"waste\", \"Expression\": \"time_s * block\"},"                                          \
  "{\"Name\": \"edp\", \"Expression\": \"energy_J * time_s\", \"Unit\": \"J s\", \"Goal\": \"Minimise\"}]"

static clt_measurement measured(clt_config config, double time_s, double energy_J) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  m.time_s = time_s;
  m.energy_J = energy_J;
  return m;
}

static void time_is_the_objective_unless_something_else_is_stated(void **state) {
  (void)state;
  subject s = make("\"Search\": {\"Name\": \"x\"}");
  clt_objective *o = objective(&s, NULL);
  clt_measurement m = measured(1, 2e-3, NAN);
  assert_true(clt_objective_is_time(o) && clt_objective_ranks_by_time(o));
  assert_false(clt_objective_needs_energy(o));
  assert_string_equal(clt_objective_name(o), "time");
  assert_true(clt_objective_value(o, &m) == 2e-3 && clt_objective_cost(o, &m) == 2e-3);
  clt_measurement_fail(&m, CLT_REASON_LAUNCH, NULL);
  assert_true(isnan(clt_objective_cost(o, &m)));
  clt_objective_free(o);
  drop(&s);
}

static void a_metric_may_use_those_above_it(void **state) {
  (void)state;
  subject s = make(METRICS ", \"Objective\": \"GB/s\"");
  clt_objective *o = objective(&s, NULL);
  clt_measurement m = measured(0, 1e-6, NAN);
  assert_string_equal(clt_objective_name(o), "GB/s");
  assert_string_equal(clt_objective_unit(o), "GB/s");
  assert_int_equal(clt_objective_goal(o), CLT_MAXIMISE);
  assert_true(fabs(clt_objective_value(o, &m) - 0.256) < 1e-12); /* 64 * 4 bytes in a microsecond */
  assert_true(fabs(clt_objective_cost(o, &m) - 1 / 0.256) < 1e-9);
  assert_true(clt_objective_ranks_by_time(o));
  assert_false(clt_objective_is_time(o));
  assert_int_equal(clt_objective_n_metrics(o), 6);
  assert_true(fabs(clt_objective_metric_value(o, 2, &m) - 64e6) < 1e-3);
  assert_true(isnan(clt_objective_metric_value(o, 5, &m))); /* its energy is not known */
  clt_objective_free(o);
  drop(&s);
}

static void a_ratio_of_costs_is_a_ratio_of_values(void **state) {
  (void)state;
  subject s = make(METRICS);
  const char *const texts[] = {"time", "items", "maximise waste", "minimise waste", "minimise 3 / time_s", "edp"};
  clt_measurement a = measured(0, 1e-3, 2), b = measured(1, 3e-3, 5);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    clt_objective *o = objective(&s, texts[i]);
    double x = clt_objective_value(o, &a), y = clt_objective_value(o, &b);
    double costs = clt_objective_cost(o, &b) / clt_objective_cost(o, &a);
    bool maximised = clt_objective_goal(o) == CLT_MAXIMISE;
    assert_true(fabs(costs - (maximised ? x / y : y / x)) < 1e-12 * costs);
    assert_true(fabs(clt_objective_value_of(o, clt_objective_cost(o, &a)) / x - 1) < 1e-12);
    clt_objective_free(o);
  }
  drop(&s);
}

static void any_finite_value_has_a_cost(void **state) {
  (void)state;
  const double values[] = {-1e90, -3.5, -0.25, -1e-30, 0, 1e-30, 0.1, 7, 1e30};
  const clt_goal goals[] = {CLT_MINIMISE, CLT_MAXIMISE};
  for (int g = 0; g < 2; g++)
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      const double cost = clt_goal_cost(goals[g], values[i]), x = i ? values[i] : -1e80;
      assert_true(cost > 0 && isfinite(log(cost)) && fabs(clt_goal_value(goals[g], cost) - x) <= 1e-12 * fabs(x));
      if (i) assert_true((clt_goal_cost(goals[g], values[i - 1]) < cost) == (goals[g] == CLT_MINIMISE));
      assert_true(isnan(clt_goal_cost(goals[g], i % 2 ? NAN : -INFINITY)));
    }
  assert_true(fabs(clt_cost_ratio(clt_goal_cost(CLT_MINIMISE, -1), clt_goal_cost(CLT_MINIMISE, -4)) - 4) < 1e-12);
  assert_true(isnan(clt_cost_ratio(clt_goal_cost(CLT_MINIMISE, 1), clt_goal_cost(CLT_MINIMISE, -4))));
}

static void an_expression_needs_its_goal(void **state) {
  (void)state;
  subject s = make(METRICS);
  clt_objective *o = objective(&s, " Maximise  n ** 2 / time_s / block");
  clt_measurement m = measured(1, 0.5, NAN);
  assert_string_equal(clt_objective_name(o), "n ** 2 / time_s / block");
  assert_true(clt_objective_value(o, &m) == 64.0 * 64 / 0.5 / 16);
  assert_false(clt_objective_ranks_by_time(o)); /* it reads the configuration */
  clt_objective_free(o);
  expect_failure(&s, "n / time_s", CLT_E_ARGUMENT, "'maximise n / time_s'");
  expect_failure(&s, "waste", CLT_E_ARGUMENT, "has no goal");
  expect_failure(&s, "itemz", CLT_E_ARGUMENT, "did you mean 'items'");
  expect_failure(&s, "minimise", CLT_E_ARGUMENT, "there is no objective");
  expect_failure(&s, "minimise tyme_s", CLT_E_EXPRESSION, "time_s");
  expect_failure(&s, "minimise 3 +", CLT_E_EXPRESSION, "column");
  drop(&s);
}

static void which_objectives_rank_by_time(void **state) {
  (void)state;
  subject s = make(METRICS);
  static const struct {
    const char *text;
    bool by_time, energy;
  } cases[] = {{"time", true, false},
               {"items", true, false},
               {"minimise 2 * time_s ** 2", true, false},
               {"minimise items", false, false}, /* the slowest is the best */
               {"maximise time", false, false},
               {"minimise waste", false, false}, /* the configuration is part of it */
               {"minimise 2 * waste", false, false},
               {"minimise time_s - 1", false, false}, /* has no cost for short ones */
               {"minimise sqrt(time_s) * 2 + 1e-3", true, false},
               {"maximise n / (time_s + 1) ** 2", true, false},
               {"minimise (1 + time_s) / time_s", false, false},
               {"minimise max(time_s, 1)", false, false},
               {"energy", false, true},
               {"edp", false, true},
               {"maximise 1 / edp", false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_objective *o = objective(&s, cases[i].text);
    if (clt_objective_ranks_by_time(o) != cases[i].by_time || clt_objective_needs_energy(o) != cases[i].energy)
      fail_msg("%s", cases[i].text);
    clt_objective_free(o);
  }
  drop(&s);
}

static void what_has_no_value_has_no_cost(void **state) {
  (void)state;
  subject s = make(METRICS);
  const char *const texts[] = {"minimise log(time_s - 1)",      "minimise 1 / (block - 8)", "minimise 'text'", "energy",
                               "minimise 10.0 ** 400 * time_s", "minimise log(block - 8)"};
  clt_measurement m = measured(0, 0.5, NAN);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    clt_objective *o = objective(&s, texts[i]);
    assert_true(isnan(clt_objective_cost(o, &m)));
    clt_objective_free(o);
  }
  drop(&s);
}

/* A problem of a program that reports something; `figure` is the value of "Figure". */
static subject make_program(const char *figure) {
  subject s = {0};
  clt_error error = {0};
  char text[1024], path[600];
  snprintf(
      text, sizeof text,
      "{\"General\": {\"BenchmarkName\": \"program\"}, \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\":"
      " \"block\", \"Type\": \"int\", \"Values\": [8, 16]}]}, \"Command\": {\"Run\": [\"true\"], \"Figure\": {%s}}}",
      figure);
  write_text(folder, "program.json", text);
  snprintf(path, sizeof path, "%s/program.json", folder);
  if (clt_problem_new(&s.problem, path, &error) || clt_instance_new(&s.instance, s.problem, NULL, 0, NULL, &error))
    fail_msg("%s: %s", error.key, error.message);
  return s;
}

static void a_programs_own_figure_is_the_standard_objective(void **state) {
  (void)state;
  subject s = make_program("\"From\": \"output\", \"Unit\": \"points\", \"Better\": \"larger\"");
  clt_objective *o = objective(&s, NULL), *by_time = objective(&s, "time"),
                *metric = objective(&s, "minimise figure + 2");
  clt_measurement m = measured(0, 0.5, NAN), old = measured(0, 1.0 / 40, NAN);
  m.figure = 40;
  assert_string_equal(clt_objective_name(o), "figure");
  assert_string_equal(clt_objective_unit(o), "points");
  assert_int_equal(clt_objective_goal(o), CLT_MAXIMISE);
  assert_true(clt_objective_is_default(o) && !clt_objective_is_time(o) && !clt_objective_ranks_by_time(o));
  assert_true(clt_objective_value(o, &m) == 40 && clt_objective_cost(o, &m) == 1.0 / 40);
  assert_true(clt_objective_value(by_time, &m) == 0.5 && !clt_objective_is_default(by_time));
  assert_true(clt_objective_value(metric, &m) == 42);
  /* Records of before the figure had a field hold its cost. */
  assert_true(fabs(clt_objective_value(o, &old) - 40) < 1e-12);
  assert_true(fabs(clt_objective_cost(o, &old) - 1.0 / 40) < 1e-12);
  assert_true(isnan(clt_objective_value(by_time, &old)));
  clt_objective_free(o);
  clt_objective_free(by_time);
  clt_objective_free(metric);
  drop(&s);
  s = make_program("\"From\": \"memory\"");
  o = objective(&s, "");
  assert_int_equal(clt_objective_goal(o), CLT_MINIMISE);
  assert_true(clt_objective_is_default(o) && clt_objective_value(o, &old) == 1.0 / 40);
  clt_objective_free(o);
  drop(&s);
  s = make_program("\"From\": \"output\", \"Unit\": \"ms\"");
  o = objective(&s, NULL);
  assert_true(clt_objective_is_default(o) && clt_objective_is_time(o) && clt_objective_ranks_by_time(o));
  clt_objective_free(o);
  drop(&s);
}

static void a_recording_has_sizes_and_parameters_but_no_metrics(void **state) {
  (void)state;
  clt_space *space = make_space("block", "[8, 16]", NULL);
  const clt_size sizes[] = {{"n", 100}};
  clt_objective *o = NULL;
  clt_error error = {0};
  clt_measurement m = measured(0, 0.25, NAN);
  assert_int_equal(clt_objective_new_for(&o, space, sizes, 1, NULL, "maximise n / time_s", &error), 0);
  assert_true(clt_objective_value(o, &m) == 400);
  clt_objective_free(o);
  o = NULL;
  assert_int_equal(clt_objective_new_for(&o, space, sizes, 1, NULL, "GB/s", &error), CLT_E_ARGUMENT);
  assert_null(o);
  clt_space_free(space);
}

static void mistakes_in_a_file_are_told_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *sections, *key, *part;
  } cases[] = {
      {"\"Metrics\": [{\"Name\": \"a b\", \"Expression\": \"time_s\"}]", "Metrics[0].Name", "letter"},
      {"\"Metrics\": [{\"Name\": \"time\", \"Expression\": \"time_s\"}]", "Metrics[0].Name", "built-in metric"},
      {"\"Metrics\": [{\"Name\": \"x\"}]", "Metrics[0]", "Expression"},
      {"\"Metrics\": [{\"Name\": \"x\", \"Expression\": \"tim_s\"}]", "Metrics[0].Expression", "time_s"},
      {"\"Metrics\": [{\"Name\": \"x\", \"Expression\": \"y\"}, {\"Name\": \"y\", \"Expression\": \"1\"}]",
       "Metrics[0].Expression", "y"},
      {"\"Metrics\": [{\"Name\": \"x\", \"Expression\": \"1\"}, {\"Name\": \"x\", \"Expression\": \"1\"}]",
       "Metrics[1].Name", "two metrics"},
      {"\"Metrics\": [{\"Name\": \"x\", \"Expression\": \"1\", \"Goal\": \"best\"}]", "Metrics[0].Goal", "best"},
      {"\"Metrics\": [{\"Name\": \"x\", \"Expression\": \"1\", \"Aim\": \"x\"}]", "Metrics[0].Aim", "no key"},
      {"\"Metrics\": 3", "Metrics", "list"},
      {"\"Objective\": 3", "Objective", "string"},
      {"\"Metric\": []", "Metric", "Metrics"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_problem *problem = NULL;
    clt_error error = {0};
    assert_int_not_equal(load(&problem, cases[i].sections, &error), 0);
    assert_null(problem);
    if (strcmp(error.key, cases[i].key) != 0 || strstr(error.message, cases[i].part) == NULL)
      fail_msg("%s: %s: %s", cases[i].sections, error.key, error.message);
  }
}

static int set_up(void **state) {
  (void)state;
  folder = make_folder();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  remove_folder(folder);
  return 0;
}

int main(void) {
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(time_is_the_objective_unless_something_else_is_stated),
      WITH_FOLDER(a_metric_may_use_those_above_it),
      WITH_FOLDER(a_ratio_of_costs_is_a_ratio_of_values),
      cmocka_unit_test(any_finite_value_has_a_cost),
      WITH_FOLDER(an_expression_needs_its_goal),
      WITH_FOLDER(which_objectives_rank_by_time),
      WITH_FOLDER(what_has_no_value_has_no_cost),
      WITH_FOLDER(a_programs_own_figure_is_the_standard_objective),
      WITH_FOLDER(a_recording_has_sizes_and_parameters_but_no_metrics),
      WITH_FOLDER(mistakes_in_a_file_are_told_with_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
