/* Reports: rows, effects, text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "clatune/report.h"

/* A recording of a x b with 4 x 3 configurations: time 1 ms * a, whatever b; a=8 with b=3 fails. */
static clt_recording *make_recording(char *folder) {
  char text[4096] =
      "{\"device_name\": \"a card\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"],"
      " \"tune_params\": {\"a\": [1, 2, 4, 8], \"b\": [1, 2, 3]}, \"cache\": {",
       path[600];
  clt_recording *recording = NULL;
  clt_error error = {0};
  for (int a = 1; a <= 8; a *= 2)
    for (int b = 1; b <= 3; b++) {
      size_t n = strlen(text);
      bool last = a == 8 && b == 3;
      snprintf(text + n, sizeof text - n, "\"%d,%d\": {\"a\": %d, \"b\": %d, \"time\": %s, \"times\": [%d, %d]}%s", a,
               b, a, b, last ? "\"RuntimeFailedConfig\"" : (char[]){(char)('0' + a), '\0'}, a, a, last ? "}}" : ", ");
    }
  write_text(folder, "card.json", text);
  snprintf(path, sizeof path, "%s/card.json", folder);
  if (clt_recording_load(&recording, path, &error)) fail_msg("%s", error.message);
  return recording;
}

static clt_report *make_report(char **folder, clt_recording **recording) {
  clt_report *report = NULL;
  *folder = make_folder();
  *recording = make_recording(*folder);
  assert_int_equal(clt_report_from_recording(&report, *recording, NULL), 0);
  return report;
}

static void end(char *folder, clt_recording *recording, clt_report *report) {
  clt_report_free(report);
  clt_recording_free(recording);
  remove_folder(folder);
}

static void rows_and_the_fastest(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_report *report = make_report(&folder, &recording);
  size_t fastest[4];
  assert_int_equal(clt_report_n_rows(report), 12);
  assert_int_equal(clt_report_n_correct(report), 11);
  assert_string_equal(clt_report_device(report), "a card");
  assert_int_equal(clt_report_fastest(report, fastest, 4), 4);
  for (size_t i = 0; i < 4; i++) assert_true(clt_report_row_at(report, fastest[i])->time_s == (i < 3 ? 1e-3 : 2e-3));
  assert_true(clt_report_row_at(report, 0)->spread == 0);
  size_t all[20];
  assert_int_equal(clt_report_fastest(report, all, 20), 11);
  end(folder, recording, report);
}

static void effects(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_report *report = make_report(&folder, &recording);
  clt_effect a, b;
  assert_int_equal(clt_report_effect(&a, report, 0, NULL), 0);
  assert_int_equal(clt_report_effect(&b, report, 1, NULL), 0);
  assert_true(fabs(a.importance - 1) < 1e-12);
  assert_true(b.importance < 0.1);
  assert_int_equal(a.n_values, 4);
  assert_true(a.values[2].median_s == 4e-3 && a.values[2].least_s == 4e-3 && a.values[2].n == 3);
  assert_int_equal(a.values[3].n_failed, 1);
  assert_int_equal(b.values[2].n_failed, 1);
  clt_effect_release(&a);
  clt_effect_release(&b);
  end(folder, recording, report);
}

static const clt_report_options options = {.seed = 1, .threads = 1, .command = "clatune report 'a file'"};

static void the_text_has_all_of_it(void **state) {
  (void)state;
  char *folder, *text = NULL;
  clt_recording *recording;
  clt_report *report = make_report(&folder, &recording);
  assert_int_equal(clt_report_text(&text, report, &options, 80, NULL), 0);
  static const char *const parts[] = {"card",
                                      "a card",
                                      "12 configurations, 11 correct",
                                      "1 run-error",
                                      "clatune report 'a file'",
                                      "it takes 30 correct",
                                      "least time of each a",
                                      "The 10 fastest",
                                      "a explains 100 %",
                                      "a=1 b=1",
                                      "*"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(text, parts[i]) == NULL) fail_msg("'%s' is missing in\n%s", parts[i], text);
  assert_true(strstr(text, "a explains") < strstr(text, "b explains"));
  for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    assert_true(strcspn(line, "\n") <= 100);
  free(text);
  end(folder, recording, report);
}

static void quartiles_and_pairs(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_report *report = make_report(&folder, &recording);
  clt_effect b;
  clt_effect_value *pairs = NULL;
  assert_int_equal(clt_report_effect(&b, report, 1, NULL), 0);
  /* 1, 2, 4, 8 ms: a quarter of the way between, as is customary. */
  assert_true(fabs(b.values[0].lower_quartile_s - 1.75e-3) < 1e-12 &&
              fabs(b.values[0].upper_quartile_s - 5e-3) < 1e-12);
  assert_true(b.values[2].n == 4 && b.values[2].n_failed == 1 && fabs(b.values[2].median_s - 2e-3) < 1e-12);
  clt_effect_release(&b);
  assert_int_equal(clt_report_pairs(&pairs, report, 0, 1, NULL), 0);
  for (size_t i = 0; i < 12; i++) {
    assert_true(pairs[i].n == 1 && pairs[i].n_failed == (i == 11));
    assert_true(i == 11 ? isnan(pairs[i].least_s) : pairs[i].median_s == 1e-3 * (1 << i / 3));
  }
  free(pairs);
  end(folder, recording, report);
}

static void rows_are_in_the_order_of_the_file(void **state) {
  (void)state;
  char *folder = make_folder(), path[600];
  clt_recording *recording = NULL;
  clt_report *report = NULL;
  write_text(folder, "o.json",
             "{\"device_name\": \"\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\"], \"tune_params\":"
             " {\"a\": [1, 2, 3, 4]}, \"cache\": {\"3\": {\"a\": 3, \"time\": 3}, \"1\": {\"a\": 1, \"time\": 9}, "
             "\"4\": {\"a\": 4, \"time\": 4},"
             " \"again\": {\"a\": 1, \"time\": 1}}}");
  snprintf(path, sizeof path, "%s/o.json", folder);
  assert_int_equal(clt_recording_load(&recording, path, NULL), 0);
  assert_int_equal(clt_report_from_recording(&report, recording, NULL), 0);
  const double times_s[] = {3e-3, 4e-3, 1e-3}; /* of one configuration the last counts, where it stands */
  assert_int_equal(clt_report_n_rows(report), 3);
  for (size_t i = 0; i < 3; i++) assert_true(clt_report_row_at(report, i)->time_s == times_s[i]);
  end(folder, recording, report);
}

/* a x b with 20 x 20 configurations, the best in the last column and row of a table that has room for neither. */
static void the_pairs_keep_the_best_column_and_row(void **state) {
  (void)state;
  char *folder = make_folder(), path[600], *written = NULL, *text = NULL;
  size_t bytes;
  clt_recording *recording = NULL;
  clt_report *report = NULL;
  FILE *out = open_memstream(&written, &bytes);
  fputs("{\"device_name\": \"\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"], \"tune_params\": {",
        out);
  for (int p = 0; p < 2; p++)
    for (int i = 1; i <= 20; i++)
      fprintf(out, "%s%d%s", i > 1 ? ", " : p ? "\"b\": [" : "\"a\": [", 100 * i, i < 20 ? "" : p ? "]}" : "], ");
  fputs(", \"cache\": {", out);
  for (int i = 0; i < 400; i++)
    fprintf(out, "\"%d\": {\"a\": %d, \"b\": %d, \"time\": %d}%s", i, 100 * (i / 20 + 1), 100 * (i % 20 + 1),
            i == 399 ? 1 : 2 + i / 20 + i % 20, i == 399 ? "}}" : ", ");
  fclose(out);
  write_text(folder, "w.json", written);
  snprintf(path, sizeof path, "%s/w.json", folder);
  assert_int_equal(clt_recording_load(&recording, path, NULL), 0);
  assert_int_equal(clt_report_from_recording(&report, recording, NULL), 0);
  assert_int_equal(clt_report_text(&text, report, &options, 80, NULL), 0);
  const char *table = strstr(text, "The least time of each"), *row = strstr(table, "\n        2000 ");
  assert_non_null(row);
  /* 80 columns: a label and five times. */
  assert_non_null(strstr(table, "(15 columns of "));
  assert_non_null(strstr(table, "(4 rows of "));
  assert_non_null(strstr(table, " 100          200          300          400         2000\n"));
  size_t length = strcspn(row + 1, "\n");
  assert_memory_equal(row + 1 + length - 13, " *       1 ms", 13);
  free(text);
  free(written);
  end(folder, recording, report);
}

/* --- the model --- */

/* a x b with 8 x 8 configurations of time 1 ms * a * (1 + b / 10). */
static void a_model_is_judged_by_rows_that_it_has_not_seen(void **state) {
  (void)state;
  char *folder = make_folder(), path[600],
       text[8192] =
           "{\"device_name\": \"\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"],"
           " \"tune_params\": {\"a\": [1, 2, 3, 4, 5, 6, 7, 8], \"b\": [1, 2, 3, 4, 5, 6, 7, 8]}, \"cache\": {";
  clt_recording *recording = NULL;
  clt_report *report = NULL;
  clt_report_fit fit, again;
  for (int i = 0; i < 64; i++) {
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "\"%d\": {\"a\": %d, \"b\": %d, \"time\": %.3f}%s", i, i / 8 + 1, i % 8 + 1,
             (i / 8 + 1) * (1 + (i % 8 + 1) / 10.0), i == 63 ? "}}" : ", ");
  }
  write_text(folder, "m.json", text);
  snprintf(path, sizeof path, "%s/m.json", folder);
  assert_int_equal(clt_recording_load(&recording, path, NULL), 0);
  assert_int_equal(clt_report_from_recording(&report, recording, NULL), 0);
  assert_int_equal(clt_report_fit_init(&fit, report, 7, 1, NULL), 0);
  assert_int_equal(clt_report_fit_init(&again, report, 7, 1, NULL), 0);
  assert_int_equal(fit.n, 64);
  double sum = 0;
  for (size_t i = 0; i < fit.n; i++) {
    assert_true(fit.measured_s[i] == clt_report_row_at(report, i)->time_s);
    assert_true(fit.predicted_s[i] == again.predicted_s[i]);
    sum += fabs(fit.predicted_s[i] - fit.measured_s[i]) / fit.measured_s[i];
  }
  assert_true(fabs(sum / 64 - fit.accuracy.mean_relative_error) < 1e-4);
  assert_true(fit.accuracy.mean_relative_error < 0.2 && fit.accuracy.mean_relative_error > 0);
  clt_report_fit_release(&fit);
  clt_report_fit_release(&again);
  end(folder, recording, report);
}

static void too_few_rows_are_no_model(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_report *report = make_report(&folder, &recording);
  clt_report_fit fit;
  assert_int_equal(clt_report_fit_init(&fit, report, 1, 1, NULL), 0);
  assert_int_equal(fit.n, 0);
  clt_report_fit_release(&fit);
  end(folder, recording, report);
}

/* --- stores --- */

typedef struct stocked {
  char *folder;
  clt_problem *problem;
  clt_instance *instance;
  clt_store *store;
  clt_store_key key;
} stocked;

static stocked stock(void) {
  stocked s = {.folder = make_folder()};
  clt_device_info device = make_device();
  s.problem = make_add_problem(s.folder);
  assert_int_equal(clt_instance_new(&s.instance, s.problem, NULL, 0, &device, NULL), 0);
  assert_int_equal(clt_store_open(&s.store, "memory", NULL, NULL), 0);
  assert_int_equal(clt_store_key_init(&s.key, s.instance, NULL), 0);
  return s;
}

static void add(stocked *s, clt_record_kind kind, clt_config config, double time_s) {
  clt_measurement m = make_measurement(config, time_s);
  assert_int_equal(clt_store_add(s->store, &s->key, clt_instance_space(s->instance), kind, &m, NULL), 0);
}

static void clear(stocked *s) {
  clt_store_close(s->store);
  clt_instance_free(s->instance);
  clt_problem_free(s->problem);
  remove_folder(s->folder);
}

static void of_a_store_the_newest_counts(void **state) {
  (void)state;
  stocked s = stock();
  clt_report *report = NULL;
  const double times_s[] = {3, 2, 1};
  for (int i = 0; i < 3; i++) add(&s, CLT_RECORD_SEARCH, (clt_config)(i % 2), times_s[i]);
  assert_int_equal(clt_report_from_store(&report, s.store, s.instance, NULL), 0);
  assert_string_equal(clt_report_title(report), "add");
  assert_int_equal(clt_report_n_rows(report), 2);
  assert_true(clt_report_row_at(report, 0)->time_s == 2 && clt_report_row_at(report, 1)->time_s == 1);
  assert_int_equal(clt_report_best(report), 1);
  clt_report_free(report);
  clear(&s);
}

static void finalists_decide_which_is_the_best(void **state) {
  (void)state;
  stocked s = stock();
  clt_report *report = NULL;
  add(&s, CLT_RECORD_SEARCH, 0, 1);
  add(&s, CLT_RECORD_SEARCH, 1, 1.1);
  add(&s, CLT_RECORD_FINALIST, 0, 1);
  add(&s, CLT_RECORD_FINALIST, 0, 1.5);
  add(&s, CLT_RECORD_FINALIST, 1, 1.2);
  assert_int_equal(clt_report_from_store(&report, s.store, s.instance, NULL), 0);
  assert_true(clt_report_row_at(report, 0)->final_s == 1.5 && clt_report_row_at(report, 1)->final_s == 1.2);
  assert_int_equal(clt_report_best(report), 1);
  clt_report_free(report);
  clear(&s);
}

/* The text names and marks the one that the finalists' medians decide for, not the fastest of the search. */
static void the_text_marks_the_best_finalist(void **state) {
  (void)state;
  stocked s = stock();
  clt_report *report = NULL;
  char *text = NULL, best[128], row[160];
  clt_config first = 0, second = 1;
  const clt_space *space = clt_instance_space(s.instance);
  add(&s, CLT_RECORD_SEARCH, first, 1);
  add(&s, CLT_RECORD_SEARCH, second, 1.1);
  add(&s, CLT_RECORD_FINALIST, first, 1.5);
  add(&s, CLT_RECORD_FINALIST, second, 1.2);
  assert_int_equal(clt_report_from_store(&report, s.store, s.instance, NULL), 0);
  assert_int_equal(clt_report_text(&text, report, &options, 80, NULL), 0);
  char *second_text = clt_config_string(space, second);
  snprintf(best, sizeof best, "\nbest configuration  %s\ntime                1.2 s (median", second_text);
  snprintf(row, sizeof row, "* %s  finalist", second_text);
  if (strstr(text, best) == NULL || strstr(text, row) == NULL)
    fail_msg("'%s' or '%s' is missing in\n%s", best, row, text);
  assert_true(strstr(text, best) < strstr(text, "The best so far"));
  assert_non_null(strstr(text, " 1.1 s  *")); /* its value's row */
  assert_null(strstr(text, " 1 s  *"));
  free(second_text);
  free(text);
  clt_report_free(report);
  clear(&s);
}

static void of_a_key_alone_the_space_is_what_occurs(void **state) {
  (void)state;
  stocked s = stock();
  clt_report *report = NULL;
  const clt_store_description description = {
      .key = s.key, .problem_name = "a\x1b[2Jdd", .sizes = "n=64", .device_json = "{broken"};
  assert_int_equal(clt_report_from_key(&report, s.store, &description, NULL), CLT_E_NOT_FOUND);
  add(&s, CLT_RECORD_SEARCH, 1, 2);
  assert_int_equal(clt_report_from_key(&report, s.store, &description, NULL), 0);
  assert_int_equal(clt_space_valid(clt_report_space(report)), 1);
  assert_int_equal(clt_space_value(clt_report_space(report), clt_report_row_at(report, 0)->config, 0).integer, 16);
  assert_string_equal(clt_report_title(report), "a?[2Jdd");
  assert_string_equal(clt_report_sizes(report), "n=64");
  assert_null(clt_report_device_info(report));
  clt_report_free(report);
  clear(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_and_the_fastest),
      cmocka_unit_test(effects),
      cmocka_unit_test(the_text_has_all_of_it),
      cmocka_unit_test(quartiles_and_pairs),
      cmocka_unit_test(rows_are_in_the_order_of_the_file),
      cmocka_unit_test(the_pairs_keep_the_best_column_and_row),
      cmocka_unit_test(a_model_is_judged_by_rows_that_it_has_not_seen),
      cmocka_unit_test(too_few_rows_are_no_model),
      cmocka_unit_test(of_a_store_the_newest_counts),
      cmocka_unit_test(finalists_decide_which_is_the_best),
      cmocka_unit_test(the_text_marks_the_best_finalist),
      cmocka_unit_test(of_a_key_alone_the_space_is_what_occurs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
