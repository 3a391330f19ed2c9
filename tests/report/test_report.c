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
  char text[4096] = "{\"device_name\": \"a card\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"],"
                    " \"tune_params\": {\"a\": [1, 2, 4, 8], \"b\": [1, 2, 3]}, \"cache\": {", path[600];
  clt_recording *recording = NULL;
  clt_error error = {0};
  for (int a = 1; a <= 8; a *= 2)
    for (int b = 1; b <= 3; b++) {
      size_t n = strlen(text);
      bool last = a == 8 && b == 3;
      snprintf(text + n, sizeof text - n, "\"%d,%d\": {\"a\": %d, \"b\": %d, \"time\": %s, \"times\": [%d, %d]}%s", a, b, a, b,
               last ? "\"RuntimeFailedConfig\"" : (char[]){(char)('0' + a), '\0'}, a, a, last ? "}}" : ", ");
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
  for (size_t i = 0; i < 4; i++)
    assert_true(clt_report_row_at(report, fastest[i])->time_s == (i < 3 ? 1e-3 : 2e-3));
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

static void the_text_has_all_of_it(void **state) {
  (void)state;
  char *folder, *text = NULL;
  clt_recording *recording;
  clt_report *report = make_report(&folder, &recording);
  assert_int_equal(clt_report_text(&text, report, 80, NULL), 0);
  static const char *const parts[] = {"card",           "a card",        "12 configurations, 11 correct", "1 run-error",
                                      "The 10 fastest", "a explains 100 %", "a=1 b=1", "*"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(text, parts[i]) == NULL) fail_msg("'%s' is missing in\n%s", parts[i], text);
  assert_true(strstr(text, "a explains") < strstr(text, "b explains"));
  for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    assert_true(strcspn(line, "\n") <= 100);
  free(text);
  end(folder, recording, report);
}

static void of_a_store_the_newest_counts(void **state) {
  (void)state;
  char *folder = make_folder();
  clt_problem *problem = make_add_problem(folder);
  clt_device_info device = make_device();
  clt_instance *instance = NULL;
  clt_store *store = NULL;
  clt_store_key key;
  clt_report *report = NULL;
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, &device, NULL), 0);
  assert_int_equal(clt_store_open(&store, "memory", NULL, NULL), 0);
  assert_int_equal(clt_store_key_init(&key, instance, NULL), 0);
  const double times_s[] = {3, 2, 1};
  for (int i = 0; i < 3; i++) {
    clt_measurement m = make_measurement((clt_config)(i % 2), times_s[i]);
    assert_int_equal(clt_store_add(store, &key, clt_instance_space(instance), CLT_RECORD_SEARCH, &m, NULL), 0);
  }
  assert_int_equal(clt_report_from_store(&report, store, instance, NULL), 0);
  assert_string_equal(clt_report_title(report), "add");
  assert_int_equal(clt_report_n_rows(report), 2);
  assert_true(clt_report_row_at(report, 0)->time_s == 2 && clt_report_row_at(report, 1)->time_s == 1);
  clt_report_free(report);
  clt_store_close(store);
  clt_instance_free(instance);
  clt_problem_free(problem);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_and_the_fastest),
      cmocka_unit_test(effects),
      cmocka_unit_test(the_text_has_all_of_it),
      cmocka_unit_test(of_a_store_the_newest_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
