/* Reports: rows, effects, the document, text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "base/text.h"
#include "report/report.h"
#include "store/store.h"

/* A recording of a x b with 4 x 3 configurations: time 1 ms * a, for each b; a=8 with b=3 fails. */
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
  if (clt_recording_new(&recording, path, &error)) fail_msg("%s", error.message);
  return recording;
}

static const clt_report_options options = {.seed = 1, .threads = 1, .command = "clatune report 'a file'"};

/* The rows of a recording of two parameters' effects. */
static clt_tuning make_tuning(char **folder, clt_recording **recording) {
  clt_tuning tuning;
  *folder = make_folder();
  *recording = make_recording(*folder);
  assert_int_equal(clt_tuning_of_recording(&tuning, NULL, *recording, NULL), 0);
  return tuning;
}

static void end(char *folder, clt_recording *recording, clt_tuning *tuning) {
  if (tuning) clt_tuning_release(tuning);
  clt_recording_free(recording);
  remove_folder(folder);
}

/* A file as a recording of the folder. */
static clt_recording *load(const char *folder, const char *name, const char *text) {
  clt_recording *recording = NULL;
  char path[600];
  write_text(folder, name, text);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(clt_recording_new(&recording, path, NULL), 0);
  return recording;
}

static char *text_of(const clt_recording *recording, int width) {
  clt_report *report = NULL;
  char *text = NULL;
  assert_int_equal(clt_report_new(&report, &options, NULL), 0);
  assert_int_equal(clt_report_add_recording(report, recording, NULL), 0);
  assert_int_equal(clt_report_text(&text, report, width, NULL), 0);
  clt_report_free(report);
  return text;
}

static void rows_and_the_fastest(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_tuning t = make_tuning(&folder, &recording);
  clt_report_ranked fastest[4], all[20];
  assert_int_equal(t.rows.n, 12);
  assert_int_equal(t.n_correct, 11);
  assert_string_equal(t.device, "a card");
  assert_int_equal(clt_tuning_fastest(&t, fastest, 4), 4);
  for (size_t i = 0; i < 4; i++) assert_true(t.rows.items[fastest[i].index].time_s == (i < 3 ? 1e-3 : 2e-3));
  assert_true(t.rows.items[0].spread == 0);
  assert_int_equal(clt_tuning_fastest(&t, all, 20), 11);
  end(folder, recording, &t);
}

/* The configurations' positions of a, of b, and of both. */
static void groups_of(size_t a[12], size_t b[12], size_t both[12], const clt_tuning *t) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < 12; i++) {
    clt_space_positions(positions, t->space, t->rows.items[i].config);
    a[i] = positions[0];
    b[i] = positions[1];
    both[i] = a[i] * 3 + b[i];
  }
}

static void effects(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_tuning t = make_tuning(&folder, &recording);
  clt_effect *a, *b, *pairs;
  double of_a, of_b;
  size_t as[12], bs[12], both[12];
  groups_of(as, bs, both, &t);
  assert_int_equal(clt_effects_new(&a, &of_a, 4, &t, as, NULL), 0);
  assert_int_equal(clt_effects_new(&b, &of_b, 3, &t, bs, NULL), 0);
  assert_int_equal(clt_effects_new(&pairs, NULL, 12, &t, both, NULL), 0);
  assert_true(fabs(of_a - 1) < 1e-12);
  assert_true(of_b < 0.1);
  assert_true(a[2].median == 4e-3 && a[2].least == 4e-3 && a[2].n == 3);
  assert_true(a[3].n_failed == 1 && b[2].n_failed == 1);
  /* 1, 2, 4, 8 ms: a quarter of the way between, as is customary. */
  assert_true(fabs(b[0].lower_quartile - 1.75e-3) < 1e-12 && fabs(b[0].upper_quartile - 5e-3) < 1e-12);
  assert_true(b[2].n == 4 && fabs(b[2].median - 2e-3) < 1e-12);
  for (size_t i = 0; i < 12; i++) {
    assert_true(pairs[i].n == 1 && pairs[i].n_failed == (i == 11));
    assert_true(i == 11 ? isnan(pairs[i].least) : pairs[i].median == 1e-3 * (1 << i / 3));
  }
  free(a);
  free(b);
  free(pairs);
  end(folder, recording, &t);
}

static void the_text_has_all_of_it(void **state) {
  (void)state;
  char *folder = make_folder();
  clt_recording *recording = make_recording(folder);
  char *text = text_of(recording, 80);
  static const char *const parts[] = {"card",
                                      "a card",
                                      "12 configurations, 11 correct",
                                      "options             -Da=1 -Db=1",
                                      "1 run-error",
                                      "clatune report 'a file'",
                                      "a model needs 30 correct",
                                      "shortest time of each a",
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
  end(folder, recording, NULL);
}

static void rows_are_in_the_order_of_the_file(void **state) {
  (void)state;
  char *folder = make_folder();
  clt_tuning t;
  clt_recording *recording =
      load(folder, "o.json",
           "{\"device_name\": \"\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\"], \"tune_params\":"
           " {\"a\": [1, 2, 3, 4]}, \"cache\": {\"3\": {\"a\": 3, \"time\": 3}, \"1\": {\"a\": 1, \"time\": 9}, "
           "\"4\": {\"a\": 4, \"time\": 4},"
           " \"again\": {\"a\": 1, \"time\": 1}}}");
  assert_int_equal(clt_tuning_of_recording(&t, NULL, recording, NULL), 0);
  const double times_s[] = {3e-3, 1e-3, 4e-3}; /* of one configuration the best counts, at the first place */
  assert_int_equal(t.rows.n, 3);
  for (size_t i = 0; i < 3; i++) assert_true(t.rows.items[i].time_s == times_s[i]);
  end(folder, recording, &t);
}

/* The document has no characters that a terminal or a page would obey. */
static void texts_are_text(void **state) {
  (void)state;
  static const struct {
    const char *text, *clean;
  } cases[] = {
      {"a<b>&\"'", "a<b>&\"'"}, {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\x1b[2J\n", "?[2J?"},   {"\xc0\xbc", "??"}, /* '<' in two bytes */
      {"\xe2\x80\xaex", "?x"},                      /* right to left from here */
      {"\xed\xa0\x80", "???"},                      /* half a pair */
      {"\xf0\x9f", "??"},       {"", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    json_t *json = clt_report_string(cases[i].text);
    assert_string_equal(json_string_value(json), cases[i].clean);
    json_decref(json);
  }
}

/* a x b with 20 x 20 configurations, the best in the last column and row of a table that has space for neither. */
static void the_pairs_keep_the_best_column_and_row(void **state) {
  (void)state;
  char *folder = make_folder(), *written = NULL;
  size_t bytes;
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
  clt_recording *recording = load(folder, "w.json", written);
  char *text = text_of(recording, 80);
  const char *table = strstr(text, "The shortest time of each"), *row = strstr(table, "\n        2000 ");
  assert_non_null(row);
  /* 80 columns: a label and five times. */
  assert_non_null(strstr(table, "(15 columns of "));
  assert_non_null(strstr(table, "(4 rows of "));
  assert_non_null(strstr(table, " 100          200          300          400         2000\n"));
  size_t length = strcspn(row + 1, "\n");
  assert_memory_equal(row + 1 + length - 13, " *       1 ms", 13);
  free(text);
  free(written);
  end(folder, recording, NULL);
}

/* --- the model --- */

/* a x b with 8 x 8 configurations of time 1 ms * a * (1 + b / 10). */
static void a_model_is_judged_by_rows_that_it_has_not_seen(void **state) {
  (void)state;
  char *folder = make_folder(),
       text[8192] =
           "{\"device_name\": \"\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"],"
           " \"tune_params\": {\"a\": [1, 2, 3, 4, 5, 6, 7, 8], \"b\": [1, 2, 3, 4, 5, 6, 7, 8]}, \"cache\": {";
  json_t *fit = NULL, *again = NULL;
  clt_tuning t;
  for (int i = 0; i < 64; i++) {
    size_t n = strlen(text);
    clt_snprintf(text + n, sizeof text - n, "\"%d\": {\"a\": %d, \"b\": %d, \"time\": %.3f}%s", i, i / 8 + 1, i % 8 + 1,
             (i / 8 + 1) * (1 + (i % 8 + 1) / 10.0), i == 63 ? "}}" : ", ");
  }
  clt_recording *recording = load(folder, "m.json", text);
  assert_int_equal(clt_tuning_of_recording(&t, NULL, recording, NULL), 0);
  assert_int_equal(clt_report_fit(&fit, &t, &options, NULL), 0);
  assert_int_equal(clt_report_fit(&again, &t, &options, NULL), 0);
  assert_true(json_equal(fit, again));
  const json_t *points = json_object_get(fit, "points"), *measured = json_object_get(points, "measured"),
               *predicted = json_object_get(points, "predicted");
  assert_int_equal(json_array_size(measured), 64);
  double sum = 0, mean = json_number_value(json_object_get(fit, "mean_relative_error"));
  for (size_t i = 0; i < 64; i++) {
    double is = json_number_value(json_array_get(measured, i));
    assert_true(fabs(is - t.rows.items[i].time_s) <= 1e-12 * is);
    sum += fabs(json_number_value(json_array_get(predicted, i)) - is) / is;
  }
  assert_true(fabs(sum / 64 - mean) < 1e-4);
  assert_true(mean < 0.2 && mean > 0);
  json_decref(fit);
  json_decref(again);
  end(folder, recording, &t);
}

static void too_few_rows_are_no_model(void **state) {
  (void)state;
  char *folder;
  clt_recording *recording;
  clt_tuning t = make_tuning(&folder, &recording);
  json_t *fit = NULL;
  assert_int_equal(clt_report_fit(&fit, &t, &options, NULL), 0);
  assert_true(json_is_null(fit));
  json_decref(fit);
  end(folder, recording, &t);
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
  assert_int_equal(clt_store_new(&s.store, "memory", NULL, NULL), 0);
  assert_int_equal(clt_store_key_init(&s.key, s.instance, NULL), 0);
  return s;
}

static void add(stocked *s, clt_record_kind kind, clt_config config, double time_s) {
  clt_measurement m = make_measurement(config, time_s);
  assert_int_equal(clt_store_add(s->store, &s->key, clt_instance_space(s->instance), kind, &m, NULL), 0);
}

static void clear(stocked *s) {
  clt_store_free(s->store);
  clt_instance_free(s->instance);
  clt_problem_free(s->problem);
  remove_folder(s->folder);
}

static void of_a_store_the_newest_counts(void **state) {
  (void)state;
  stocked s = stock();
  clt_tuning t;
  const double times_s[] = {3, 2, 1};
  for (int i = 0; i < 3; i++) add(&s, CLT_RECORD_SEARCH, (clt_config)(i % 2), times_s[i]);
  assert_int_equal(clt_tuning_of_instance(&t, NULL, s.store, s.instance, NULL), 0);
  assert_string_equal(t.title, "add");
  assert_int_equal(t.rows.n, 2);
  assert_true(t.rows.items[0].time_s == 2 && t.rows.items[1].time_s == 1);
  assert_int_equal((int)t.best, 1);
  clt_tuning_release(&t);
  clear(&s);
}

static void finalists_decide_which_is_the_best(void **state) {
  (void)state;
  stocked s = stock();
  clt_tuning t;
  add(&s, CLT_RECORD_SEARCH, 0, 1);
  add(&s, CLT_RECORD_SEARCH, 1, 1.1);
  add(&s, CLT_RECORD_FINALIST, 0, 1);
  add(&s, CLT_RECORD_FINALIST, 0, 1.5);
  add(&s, CLT_RECORD_FINALIST, 1, 1.2);
  assert_int_equal(clt_tuning_of_instance(&t, NULL, s.store, s.instance, NULL), 0);
  assert_true(t.rows.items[0].final_s == 1.5 && t.rows.items[1].final_s == 1.2);
  assert_int_equal((int)t.best, 1);
  clt_tuning_release(&t);
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
  assert_int_equal(clt_report_new(&report, &options, NULL), 0);
  assert_int_equal(clt_report_add_instance(report, s.store, s.instance, NULL), 0);
  assert_int_equal(clt_report_text(&text, report, 80, NULL), 0);
  char *second_text = clt_config_string(space, second);
  snprintf(best, sizeof best, "\nbest configuration  %s\ntime                1.2 s +- 50 %% (50 %%) (median", second_text);
  snprintf(row, sizeof row, "* %s  finalist", second_text);
  /* Next to it, the search's time; and how far it is ahead of the default, as a finalist as well. */
  assert_non_null(strstr(text, "interleaved runs; 1.1 s at best in the search)\n"));
  assert_non_null(strstr(text, "\nspeed-up            1.25 over the default configuration (1.5 s +- 50 % (50 %)): "));
  assert_non_null(strstr(text, "(default)\n"));
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

/* The default's runs of one contest are not divided by the best's of another, on a machine that was busier then. */
static void a_gain_is_of_one_contest(void **state) {
  (void)state;
  stocked s = stock();
  clt_tuning t;
  add(&s, CLT_RECORD_SEARCH, 0, 5);
  add(&s, CLT_RECORD_SEARCH, 1, 1);
  add(&s, CLT_RECORD_FINALIST, 0, 4);
  add(&s, CLT_RECORD_SEARCH, 1, 1.1);
  add(&s, CLT_RECORD_FINALIST, 1, 1);
  assert_int_equal(clt_tuning_of_instance(&t, NULL, s.store, s.instance, NULL), 0);
  assert_true(t.best == 1 && t.standard == 0 && isnan(t.default_cost)); /* never side by side */
  clt_tuning_release(&t);
  add(&s, CLT_RECORD_FINALIST, 0, 3);
  clt_store_begin_comparison(s.store);
  add(&s, CLT_RECORD_FINALIST, 1, 1.5); /* again: another contest, without the default */
  assert_int_equal(clt_tuning_of_instance(&t, NULL, s.store, s.instance, NULL), 0);
  assert_true(t.best_is_finalist && t.default_cost == 3 && t.rows.items[1].final_s == 1);
  clt_tuning_release(&t);
  clear(&s);
}

static void of_a_key_alone_the_space_is_what_occurs(void **state) {
  (void)state;
  stocked s = stock();
  clt_report *report = NULL;
  const clt_store_description description = {
      .key = s.key, .problem_name = "a\x1b[2Jdd", .sizes = "n=64", .device_json = "{broken"};
  assert_int_equal(clt_report_new(&report, &options, NULL), 0);
  assert_int_equal(clt_report_add_key(report, s.store, &description, 1, NULL), CLT_E_NOT_FOUND);
  add(&s, CLT_RECORD_SEARCH, 1, 2);
  assert_int_equal(clt_report_add_key(report, s.store, &description, 1, NULL), 0);
  assert_int_equal(clt_report_n_tunings(report), 1);
  const json_t *t = json_array_get(json_object_get(clt_report_document(report), "tunings"), 0);
  const json_t *configuration = json_object_get(json_object_get(t, "best"), "configuration");
  assert_int_equal(json_integer_value(json_object_get(t, "valid")), 1);
  assert_int_equal(json_integer_value(json_object_iter_value(json_object_iter((json_t *)configuration))), 16);
  assert_string_equal(json_string_value(json_object_get(t, "title")), "a?[2Jdd");
  assert_string_equal(json_string_value(json_object_get(t, "sizes")), "n=64");
  assert_true(json_is_null(json_object_get(t, "device")));
  clt_report_free(report);
  clear(&s);
}

/* --- CSV --- */

static void csv_has_a_line_for_each_row_and_one_set_of_columns(void **state) {
  (void)state;
  char *folder = make_folder();
  clt_recording *recording = make_recording(folder);
  clt_recording *other = load(folder, "other.json",
                              "{\"device_name\": \"x, \\\"y\\\"\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"c\"],"
                              " \"tune_params\": {\"c\": [\"u\"]}, \"cache\": {\"u\": {\"c\": \"u\", \"time\": 3}}}");
  const clt_report_options as_csv = {.seed = 1, .csv = true};
  clt_report *report = NULL, *of_other = NULL;
  assert_int_equal(clt_report_new(&report, &as_csv, NULL), 0);
  assert_int_equal(clt_report_add_recording(report, recording, NULL), 0);
  assert_int_equal(clt_report_add_recording(report, recording, NULL), 0);
  assert_int_equal(clt_report_n_tunings(report), 2);
  const char *csv = clt_report_csv(report);
  size_t n_lines = 0, n_names = 0;
  for (const char *c = csv; *c; c++) n_lines += *c == '\n';
  for (const char *at = csv; (at = strstr(at, "evaluation,a,b,reason,time_s,")); at++) n_names++;
  assert_int_equal(n_lines, 1 + 2 * 12);
  assert_int_equal(n_names, 1);
  assert_non_null(strstr(csv, "card,,a card,1,1,1,none,0.001,"));
  assert_non_null(strstr(csv, "card,,a card,12,8,3,run-error,,"));
  assert_int_equal(clt_report_add_recording(report, other, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_report_new(&of_other, &as_csv, NULL), 0);
  assert_int_equal(clt_report_add_recording(of_other, other, NULL), 0);
  assert_non_null(strstr(clt_report_csv(of_other), "\nother,,\"x, \"\"y\"\"\",1,u,none,0.003,"));
  clt_report_free(report);
  clt_report_free(of_other);
  clt_recording_free(other);
  end(folder, recording, NULL);
}

static void every_pair_of_parameters_is_there(void **state) {
  (void)state;
  char *folder = make_folder();
  clt_recording *recording = load(
      folder, "three.json",
      "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\", \"c\"], \"tune_params\":"
      " {\"a\": [1, 2], \"b\": [1, 2], \"c\": [1, 2]}, \"cache\": {"
      "\"1,1,1\": {\"a\": 1, \"b\": 1, \"c\": 1, \"time\": 8}, \"1,1,2\": {\"a\": 1, \"b\": 1, \"c\": 2, \"time\": 7},"
      "\"1,2,1\": {\"a\": 1, \"b\": 2, \"c\": 1, \"time\": 5}, \"2,1,2\": {\"a\": 2, \"b\": 1, \"c\": 2, \"time\": 2}}}");
  clt_report *report = NULL;
  assert_int_equal(clt_report_new(&report, &options, NULL), 0);
  assert_int_equal(clt_report_add_recording(report, recording, NULL), 0);
  const json_t *t = json_array_get(json_object_get(clt_report_document(report), "tunings"), 0);
  assert_int_equal(json_array_size(json_object_get(t, "other_pairs")), 2);
  assert_string_equal(json_string_value(json_array_get(json_object_get(json_object_get(t, "points"), "text"), 0)),
                      "a=1 b=1 c=1");
  clt_report_free(report);
  end(folder, recording, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_and_the_fastest),
      cmocka_unit_test(effects),
      cmocka_unit_test(the_text_has_all_of_it),
      cmocka_unit_test(texts_are_text),
      cmocka_unit_test(rows_are_in_the_order_of_the_file),
      cmocka_unit_test(the_pairs_keep_the_best_column_and_row),
      cmocka_unit_test(a_model_is_judged_by_rows_that_it_has_not_seen),
      cmocka_unit_test(too_few_rows_are_no_model),
      cmocka_unit_test(of_a_store_the_newest_counts),
      cmocka_unit_test(finalists_decide_which_is_the_best),
      cmocka_unit_test(the_text_marks_the_best_finalist),
      cmocka_unit_test(csv_has_a_line_for_each_row_and_one_set_of_columns),
      cmocka_unit_test(every_pair_of_parameters_is_there),
      cmocka_unit_test(a_gain_is_of_one_contest),
      cmocka_unit_test(of_a_key_alone_the_space_is_what_occurs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
