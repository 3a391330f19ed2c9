/* Sessions of a problem read from a file, on no device: the default configuration and the budget. */
#include <stdio.h>
#include <unistd.h>

#include "../search/bench.h"
#include "base/base.h"
#include "clatune/tune.h"
#include "search/search.h"
#include "session/session.h"

typedef struct a_problem {
  clt_problem *problem;
  clt_instance *instance;
} a_problem;

/* a of 1, 2, 4 ... 128, b and c of 0 .. 9, a * b <= 512; the default of a is given. */
static a_problem load(int default_a, const char *budget) {
  a_problem p;
  clt_error error = {0};
  char path[] = "/tmp/clatune-problem-XXXXXX";
  int fd = mkstemp(path);
  FILE *out = fdopen(fd, "w");
  assert_non_null(out);
  fprintf(
      out,
      "{\"General\": {\"BenchmarkName\": \"nothing\"}, \"ConfigurationSpace\": {\"TuningParameters\": ["
      "{\"Name\": \"a\", \"Type\": \"int\", \"Values\": \"[2**i for i in range(8)]\", \"Default\": %d},"
      "{\"Name\": \"b\", \"Type\": \"int\", \"Values\": \"list(range(10))\", \"Default\": 9},"
      "{\"Name\": \"c\", \"Type\": \"int\", \"Values\": \"list(range(10))\", \"Default\": 9}],"
      "\"Conditions\": [{\"Expression\": \"a * b <= 512\", \"Parameters\": [\"a\", \"b\"]}]},"
      "\"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelFile\": \"none.cl\", \"KernelName\": \"nothing\","
      "\"GlobalSize\": {\"X\": 1024}, \"LocalSize\": {\"X\": \"a\"},"
      "\"Arguments\": [{\"Name\": \"x\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": "
      "\"WriteOnly\", \"Size\": 1024}]}%s}",
      default_a, budget);
  fclose(out);
  int rc = clt_problem_new(&p.problem, path, &error);
  if (rc == 0) rc = clt_instance_new(&p.instance, p.problem, NULL, 0, NULL, &error);
  if (rc) print_message("%s: %s\n", error.key, error.message);
  unlink(path);
  assert_int_equal(rc, 0);
  return p;
}

static void unload(a_problem *p) {
  clt_instance_free(p->instance);
  clt_problem_free(p->problem);
}

static clt_tune_settings settings_for(const a_problem *p) {
  static const clt_setting all_correct[] = {{"invalid", "0"}};
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.instance = p->instance;
  settings.evaluator = "synthetic";
  settings.evaluator_settings = all_correct;
  settings.n_evaluator_settings = 1;
  settings.searcher = "random";
  settings.budget = 25;
  settings.threads = 1;
  return settings;
}

struct log {
  clt_config first;
  char phase[32], warning[300];
  int64_t n, n_warned; /* answers, and those before the warning */
};

static void note_warning(void *user, clt_log_level level, const char *text) {
  struct log *log = user;
  assert_int_equal(level, CLT_LOG_WARNING);
  assert_string_equal(log->warning, "");
  snprintf(log->warning, sizeof log->warning, "%s", text);
  log->n_warned = log->n;
}

static void note_first(void *user, const clt_progress *progress) {
  struct log *log = user;
  if (progress->last == NULL || log->n++ > 0) return;
  log->first = progress->last->config;
  snprintf(log->phase, sizeof log->phase, "%s", progress->phase);
}

static void the_default_is_evaluated_first_and_once(void **state) {
  (void)state;
  a_problem p = load(16, "");
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    struct log log = {0};
    clt_tune_settings settings = settings_for(&p);
    clt_tune_result *result;
    settings.searcher = clt_plugin_name(&clt_searchers, i);
    settings.progress = note_first;
    settings.user = &log;
    assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
    assert_true(log.first == clt_instance_default(p.instance));
    assert_string_equal(log.phase, "default");
    assert_int_equal(log.n, 25);
    assert_int_equal(result->evaluations, 25);
    assert_true(result->has_default);
    assert_true(result->default_measurement.config == clt_instance_default(p.instance));
    assert_true(result->best.time_s <= result->default_measurement.time_s); /* compared side by side */
    assert_in_range(result->default_measurement.n_runs, 5, result->best.n_runs); /* who is beaten rests */
    clt_tune_result_free(result);
  }
  unload(&p);
}

static void the_default_can_be_left_out(void **state) {
  (void)state;
  a_problem p = load(16, "");
  struct log log = {0};
  clt_tune_settings settings = settings_for(&p);
  clt_tune_result *result;
  settings.skip_default = true;
  settings.progress = note_first;
  settings.user = &log;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
  assert_string_equal(log.phase, "sampling");
  assert_int_equal(result->evaluations, 25);
  assert_false(result->has_default);
  clt_tune_result_free(result);
  unload(&p);
}

static void a_default_against_the_constraints_is_not_measured(void **state) {
  (void)state;
  a_problem p = load(128, "");
  struct log log = {0};
  clt_tune_settings settings = settings_for(&p);
  clt_tune_result *result;
  settings.progress = note_first;
  settings.log = note_warning;
  settings.user = &log;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
  assert_string_equal(log.warning,
                      "the default configuration fails: violates a condition of the problem (condition): a * b <= 512");
  assert_int_equal(log.n_warned, 0);
  assert_int_equal(result->evaluations, 25);
  assert_int_equal(result->n_correct, 25);
  assert_false(result->has_default);
  assert_true(result->default_measurement.config == clt_instance_default(p.instance));
  assert_int_equal(result->default_measurement.reason, CLT_REASON_CONDITION);
  clt_tune_result_free(result);
  unload(&p);
}

static void a_default_that_fails_is_said_at_once(void **state) {
  (void)state;
  a_problem p = load(16, "");
  static const char *const landscapes[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"};
  int n_failed = 0;
  for (int i = 0; i < 12; i++) {
    const clt_setting half[] = {{"invalid", "0.5"}, {"landscape", landscapes[i]}};
    struct log log = {0};
    clt_tune_settings settings = settings_for(&p);
    clt_tune_result *result;
    settings.evaluator_settings = half;
    settings.n_evaluator_settings = 2;
    settings.finalists = 0;
    settings.progress = note_first;
    settings.log = note_warning;
    settings.user = &log;
    assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
    assert_int_equal(log.warning[0] != 0, !result->has_default);
    if (!result->has_default) {
      n_failed++;
      assert_int_equal(log.n_warned, 1);
      assert_non_null(strstr(log.warning, clt_reason_text(result->default_measurement.reason)));
    }
    clt_tune_result_free(result);
  }
  assert_true(n_failed > 0 && n_failed < 12);
  unload(&p);
}

static void the_budget_comes_from_who_asks_for_one(void **state) {
  (void)state;
  a_problem silent = load(16, ""), modest = load(16,
                                                 ", \"Budget\": [{\"Type\": \"ConfigurationCount\", "
                                                 "\"BudgetValue\": 17}]");
  const clt_setting samples[] = {{"samples", "20"}, {"second-stage", "10"}};
  clt_tune_settings settings = settings_for(&modest);
  clt_tune_result *result;
  settings.budget = 0;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
  assert_int_equal(result->evaluations, 17);
  clt_tune_result_free(result);
  settings.searcher = "two-stage"; /* its own samples, and the default */
  settings.searcher_settings = samples;
  settings.n_searcher_settings = 2;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
  assert_int_equal(result->evaluations, 31);
  clt_tune_result_free(result);
  settings = settings_for(&silent);
  settings.budget = 0;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
  assert_int_equal(result->evaluations, 200);
  clt_tune_result_free(result);
  unload(&silent);
  unload(&modest);
}

static int keep_key(void *user, const clt_store_description *description) {
  *(clt_store_key *)user = description->key;
  return 0;
}

static void what_is_computed_is_not_kept_as_a_measurement_of_the_device(void **state) {
  (void)state;
  a_problem p = load(16, "");
  const clt_device_info device = {.name = "a device", .max_work_group_size = 256};
  clt_store *store;
  clt_store_key kept = {.problem = ""};
  clt_tune_result *result;
  clt_instance_free(p.instance);
  assert_int_equal(clt_instance_new(&p.instance, p.problem, NULL, 0, &device, NULL), 0);
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  clt_tune_settings settings = settings_for(&p);
  settings.store = store;
  for (int64_t reused = 0; reused <= 25; reused += 25) {
    assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
    assert_int_equal(result->reused, reused);
    clt_tune_result_free(result);
  }
  assert_int_equal(clt_store_each_key(store, true, keep_key, &kept, NULL), 0);
  assert_string_equal(kept.device, "synthetic");
  clt_store_free(store);
  unload(&p);
}

/* All configurations are incorrect on other data, but the default configuration cannot be checked at all. */
static clt_config cannot_be_checked;

static int open_doubtful(void *state, const clt_evaluator_setup *setup, const void *options,
                         clt_evaluator_limits *limits, clt_error *error) {
  (void)state, (void)setup, (void)options, (void)error;
  *limits = (clt_evaluator_limits){1, 1};
  return 0;
}

static int keep_doubtful(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  (void)state;
  if (configs[0] == cannot_be_checked) return clt_fail(error, CLT_E_DEVICE, "the device is gone");
  for (size_t i = 0; i < n; i++) {
    clt_measurement_init(&out[i], configs[i]);
    clt_measurement_fail(&out[i], CLT_REASON_WRONG_OUTPUT, NULL);
  }
  return 0;
}

static void close_doubtful(void *state) { (void)state; }

static void an_error_of_the_tuner_is_held_against_nobody(void **state) {
  (void)state;
  static const clt_evaluator_type doubtful = {.abi = CLT_EVALUATOR_ABI,
                                              .name = "doubtful",
                                              .measures_device = true,
                                              .open = open_doubtful,
                                              .keep = keep_doubtful,
                                              .close = close_doubtful};
  a_problem p = load(16, "");
  clt_tune_settings settings = settings_for(&p);
  clt_tune_result result = {0};
  clt_session session = {.settings = &settings, .result = &result, .evaluator = &doubtful};
  assert_int_equal(clt_evaluator_register(&doubtful, NULL), 0);
  settings.n_evaluator_settings = 0;
  for (int default_is_checked = 0; default_is_checked < 2; default_is_checked++) {
    clt_measurement winner;
    clt_measurement_init(&winner, clt_space_at(clt_instance_space(p.instance), 0));
    cannot_be_checked = default_is_checked ? CLT_CONFIG_NONE : clt_instance_default(p.instance);
    assert_true(winner.config != clt_instance_default(p.instance));
    assert_int_equal(clt_session_verify(&session, &winner, NULL), 0);
    assert_true(clt_measurement_correct(&winner));
    clt_measurement_release(&winner);
  }
  clt_check_results_clear(&result.checks, &result.n_checks);
  unload(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_default_is_evaluated_first_and_once),
      cmocka_unit_test(the_default_can_be_left_out),
      cmocka_unit_test(a_default_against_the_constraints_is_not_measured),
      cmocka_unit_test(a_default_that_fails_is_said_at_once),
      cmocka_unit_test(the_budget_comes_from_who_asks_for_one),
      cmocka_unit_test(what_is_computed_is_not_kept_as_a_measurement_of_the_device),
      cmocka_unit_test(an_error_of_the_tuner_is_held_against_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
