/* Measurements: failures are data, copies own their log, and the statistics of runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "clatune/measurement.h"
#include "measurement/measurement.h"

static void a_new_measurement_knows_nothing(void **state) {
  (void)state;
  clt_measurement m;
  clt_measurement_init(&m, 42);
  assert_int_equal(m.config, 42);
  assert_true(clt_measurement_correct(&m));
  assert_true(isnan(m.time_s) && isnan(m.max_abs_error));
  assert_int_equal(m.n_runs, 0);
  assert_null(m.log);
  clt_measurement_release(&m);
  clt_measurement_release(NULL);
}

static void a_failure_has_a_reason_a_log_and_no_time(void **state) {
  (void)state;
  clt_measurement m;
  clt_measurement_init(&m, 1);
  m.time_s = 0.5;
  clt_measurement_fail(&m, CLT_REASON_RUN_TIMEOUT, "stopped after 10 s");
  assert_false(clt_measurement_correct(&m));
  assert_true(isnan(m.time_s));
  assert_string_equal(m.log, "stopped after 10 s");
  clt_measurement_fail(&m, CLT_REASON_LAUNCH, m.log); /* its own log may be given again */
  assert_string_equal(m.log, "stopped after 10 s");
  clt_measurement_fail(&m, CLT_REASON_LAUNCH, NULL);
  assert_null(m.log);
  assert_int_equal(clt_reason_invalidity(m.reason), CLT_RUNTIME);
  clt_measurement_release(&m);
}

static void a_long_log_is_cut_between_characters(void **state) {
  (void)state;
  size_t n = 40000;
  char *log = malloc(n + 1);
  for (size_t i = 0; i < n; i += 2) memcpy(log + i, "\xc3\xa9", 2);
  log[n] = 0;
  clt_measurement m;
  clt_measurement_init(&m, 1);
  clt_measurement_fail(&m, CLT_REASON_COMPILE_ERROR, log);
  assert_int_equal(strlen(m.log), 16384);
  clt_measurement_fail(&m, CLT_REASON_COMPILE_ERROR, log + 1); /* now the limit falls into a character */
  assert_int_equal(strlen(m.log), 16383);
  clt_measurement_release(&m);
  free(log);
}

static void a_copy_owns_its_log(void **state) {
  (void)state;
  clt_measurement m, copy;
  clt_measurement_init(&m, 7);
  m.runs_s[0] = 0.25;
  m.n_runs = 1;
  clt_measurement_fail(&m, CLT_REASON_WRONG_OUTPUT, "element 3");
  assert_int_equal(clt_measurement_copy(&copy, &m, NULL), 0);
  clt_measurement_release(&m);
  assert_string_equal(copy.log, "element 3");
  assert_int_equal(copy.config, 7);
  assert_true(copy.runs_s[0] == 0.25);
  clt_measurement_release(&copy);
}

static void every_reason_has_a_name_that_reads_back(void **state) {
  (void)state;
  for (int i = 0; i < CLT_N_REASONS; i++) {
    clt_reason reason = CLT_N_REASONS;
    assert_int_equal(clt_reason_parse(&reason, clt_reason_name((clt_reason)i), NULL), 0);
    assert_int_equal(reason, i);
    assert_true(strlen(clt_reason_text(reason)) > 0);
    assert_int_equal(clt_reason_invalidity(reason) == CLT_CORRECT, reason == CLT_REASON_NONE);
  }
  clt_reason untouched = CLT_REASON_LAUNCH;
  clt_error error = {0};
  assert_int_equal(clt_reason_parse(&untouched, "sunspots", &error), CLT_E_NOT_FOUND);
  assert_non_null(strstr(error.message, "sunspots"));
  assert_int_equal(untouched, CLT_REASON_LAUNCH);
}

static void numbers_outside_of_the_tables_are_unknown(void **state) {
  (void)state;
  assert_string_equal(clt_reason_name((clt_reason)99), "unknown");
  assert_int_equal(clt_reason_invalidity((clt_reason)99), CLT_RUNTIME);
  assert_string_equal(clt_invalidity_name((clt_invalidity)99), "unknown");
  assert_string_equal(clt_invalidity_name(CLT_TIMEOUT), "timeout");
}

static void medians_and_deviations_are_right(void **state) {
  (void)state;
  const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, noisy[] = {1, 1, 2, 2, 4, 6, 9};
  assert_true(clt_median(odd, 3) == 3);
  assert_true(clt_median(even, 4) == 2.5);
  assert_true(clt_median(noisy, 7) == 2);
  assert_true(clt_mad(noisy, 7) == 1);
  assert_true(isnan(clt_median(odd, 0)) && isnan(clt_mad(odd, 0)));
  assert_true(odd[0] == 5 && odd[1] == 1);
}

static void medians_leave_nan_out_and_take_many_numbers(void **state) {
  (void)state;
  const double holes[] = {NAN, 1, NAN, 3, 2};
  assert_true(clt_median(holes, 5) == 2);
  assert_true(isnan(clt_median(holes, 1)));
  double many[1001];
  for (size_t i = 0; i < 1001; i++) many[i] = (double)(i * 10 % 1001);
  assert_true(clt_median(many, 1001) == 500);
  assert_true(clt_mad(many, 1001) == 250);
  const double infinite[] = {1, INFINITY, INFINITY, INFINITY};
  assert_true(clt_median(infinite, 4) == INFINITY);
  assert_true(clt_mad(infinite, 4) == INFINITY);
}

static void intervals_are_between_order_statistics(void **state) {
  (void)state;
  double values[64];
  for (size_t i = 0; i < 64; i++) values[i] = (double)(i * 27 % 64 + 1); /* 1 to 64 */
  const double holes[] = {2, NAN, 1};
  const struct {
    size_t n;
    double low_rank, confidence;
  } cases[] = {{2, 1, 0.5}, {5, 1, 0.9375}, {6, 1, 0.96875}, {8, 1, 0.9921875}, {9, 2, 0.9609375}, {64, 24, 0.9672}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double sorted[64];
    const size_t n = cases[i].n;
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, clt_by_number);
    const clt_interval interval = clt_median_interval(values, n);
    assert_true(interval.low == sorted[(size_t)cases[i].low_rank - 1]);
    assert_true(interval.high == sorted[n - (size_t)cases[i].low_rank]);
    assert_true(fabs(interval.confidence - cases[i].confidence) < 1e-4);
  }
  clt_interval interval = clt_median_interval(holes, 3);
  assert_true(interval.low == 1 && interval.high == 2 && interval.confidence == 0.5);
  assert_true(fabs(clt_interval_error(&interval, 1.6) - 0.6 / 1.6) < 1e-15); /* the further end */
  assert_true(clt_median_error(holes, 3) == 0.5 / 1.5);
  interval = clt_median_interval(values, 1);
  assert_true(isnan(interval.low) && isnan(interval.high) && interval.confidence == 0);
  assert_true(isinf(clt_interval_error(&interval, 1)) && isinf(clt_median_error(values, 1)));
}

/* As often as it says, for few runs and many, of times as devices have them: skewed, and some far off. */
static void intervals_hold_the_true_median(void **state) {
  (void)state;
  const size_t sizes[] = {3, 5, 6, 7, 9, 20, 64, 1500};
  clt_rng rng;
  clt_rng_init(&rng, 20);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    static double times_s[1500];
    const size_t n = sizes[i], n_samples = n > 100 ? 500 : 4000;
    size_t n_held = 0;
    double confidence = 0;
    for (size_t k = 0; k < n_samples; k++) {
      for (size_t r = 0; r < n; r++) {
        const double burst = clt_rng_below(&rng, 10) == 0 ? 5 : 1;
        times_s[r] = 1e-3 * exp(0.2 * burst * clt_rng_normal(&rng));
      }
      const clt_interval interval = clt_median_interval(times_s, n);
      n_held += interval.low <= 1e-3 && 1e-3 <= interval.high;
      confidence = interval.confidence;
    }
    const double error = sqrt(confidence * (1 - confidence) / (double)n_samples);
    assert_true(n < 6 || confidence >= 0.95);
    assert_true(fabs((double)n_held / (double)n_samples - confidence) < 4 * error);
  }
}

static void errors_are_shown_with_their_confidence(void **state) {
  (void)state;
  char text[64];
  assert_string_equal(clt_interval_text(text, 0.02834, 0.96875), " +- 2.8 % (95 %)");
  assert_string_equal(clt_interval_text(text, 0.5, 0.875), " +- 50 % (87.5 %)");
  assert_string_equal(clt_interval_text(text, 2.2, 0.97), " +- 220 % (95 %)");
  assert_string_equal(clt_interval_text(text, INFINITY, 0), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_new_measurement_knows_nothing),
      cmocka_unit_test(a_failure_has_a_reason_a_log_and_no_time),
      cmocka_unit_test(a_long_log_is_cut_between_characters),
      cmocka_unit_test(a_copy_owns_its_log),
      cmocka_unit_test(every_reason_has_a_name_that_reads_back),
      cmocka_unit_test(numbers_outside_of_the_tables_are_unknown),
      cmocka_unit_test(medians_and_deviations_are_right),
      cmocka_unit_test(medians_leave_nan_out_and_take_many_numbers),
      cmocka_unit_test(intervals_are_between_order_statistics),
      cmocka_unit_test(intervals_hold_the_true_median),
      cmocka_unit_test(errors_are_shown_with_their_confidence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
