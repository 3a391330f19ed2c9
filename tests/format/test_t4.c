/* T4 results: written as the schema says, and read back as they were. */
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "clatune/recording.h"
#include "format/format.h"
#include "measurement/measurement.h"

static char folder[512], path[600];

static int make_folder(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/clatune-t4-XXXXXX", base ? base : "/tmp");
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/results.json", folder);
  return 0;
}

static int remove_entry(const char *entry, const struct stat *status, int type, struct FTW *where) {
  (void)status, (void)type, (void)where;
  return remove(entry);
}

static int remove_folder(void **state) {
  (void)state;
  return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static clt_space *make_space(void) {
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  const clt_value blocks[] = {{CLT_INT, .integer = 32}, {CLT_INT, .integer = 64}, {CLT_INT, .integer = 128}};
  const clt_value modes[] = {{CLT_STRING, .text = "fast"}, {CLT_STRING, .text = "safe"}};
  const clt_value shares[] = {{CLT_REAL, .real = 0.1}, {CLT_REAL, .real = 0.7}};
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "block", blocks, 3, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "mode", modes, 2, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "share", shares, 2, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

/* Correct if i is even; otherwise the reasons in turn. All 12 configurations. */
static clt_measurement make_measurement(clt_config i) {
  clt_measurement m;
  clt_measurement_init(&m, i);
  m.phases = (clt_phases){0.5, 0.25, 0.125, 0.0625, 1};
  for (m.n_runs = 0; m.n_runs < 3; m.n_runs++) m.runs_s[m.n_runs] = 0.25 + 0.125 * (double)(i + m.n_runs);
  m.time_s = 0.25 + 0.125 * (double)i;
  if (i % 2) clt_measurement_fail(&m, (clt_reason)(1 + i), "not written");
  return m;
}

#define N 12

static void write_results(const clt_space *space) {
  clt_measurement measurements[N];
  clt_error error = {0};
  for (size_t i = 0; i < N; i++) measurements[i] = make_measurement(i);
  const clt_results results = {.space = space, .measurements = measurements, .n = N};
  if (clt_t4_write(path, &results, &error)) fail_msg("%s", error.message);
  for (size_t i = 0; i < N; i++) clt_measurement_release(&measurements[i]);
}

static void results_come_back_as_they_were(void **state) {
  (void)state;
  clt_space *space = make_space();
  clt_recording *recording = NULL;
  clt_error error = {0};
  write_results(space);
  if (clt_recording_new(&recording, path, &error)) fail_msg("%s", error.message);
  assert_int_equal(recording->n, N);
  assert_string_equal(clt_recording_name(recording), "results");
  for (size_t i = 0; i < N; i++) { /* values were listed in ascending order: the numbers are the same */
    clt_measurement expected = make_measurement(i);
    const clt_measurement *m = clt_recording_find(recording, i);
    assert_non_null(m);
    assert_int_equal(m->reason, expected.reason);
    assert_true(m->time_s == expected.time_s || i % 2);
    assert_int_equal(m->n_runs, 3);
    for (size_t k = 0; k < 3; k++) assert_true(m->runs_s[k] == expected.runs_s[k]);
    assert_true(m->phases.build_s == 0.5 && m->phases.runs_s == 0.125 && m->phases.verify_s == 0.0625);
    clt_measurement_release(&expected);
  }
  assert_true(recording->optimum_s == 0.25);
  clt_recording_free(recording);
  clt_space_free(space);
}

static void a_result_has_what_the_schema_requires(void **state) {
  (void)state;
  clt_space *space = make_space();
  write_results(space);
  json_t *root = json_load_file(path, 0, NULL);
  assert_non_null(root);
  assert_string_equal(json_string_value(json_object_get(root, "schema_version")), "1.0.0");
  const json_t *list = json_object_get(root, "results");
  assert_int_equal(json_array_size(list), N);
  for (size_t i = 0; i < N; i++) {
    const json_t *result = json_array_get(list, i), *configuration = json_object_get(result, "configuration");
    const char *invalidity = json_string_value(json_object_get(result, "invalidity"));
    assert_int_equal(json_object_size(configuration), 3);
    assert_true(json_is_integer(json_object_get(configuration, "block")));
    assert_true(json_is_string(json_object_get(configuration, "mode")));
    assert_true(json_is_object(json_object_get(result, "times")));
    assert_true(json_is_array(json_object_get(json_object_get(result, "times"), "runtimes")));
    assert_int_equal(json_integer_value(json_object_get(result, "correctness")), i % 2 == 0);
    assert_string_equal(invalidity,
                        clt_invalidity_name(i % 2 ? clt_reason_invalidity((clt_reason)(1 + i)) : CLT_CORRECT));
  }
  json_decref(root);
  clt_space_free(space);
}

/* The item of a result's "measurements" with this name. */
static const json_t *quantity(const json_t *result, const char *name) {
  size_t i;
  const json_t *item;
  json_array_foreach(json_object_get(result, "measurements"), i, item) {
    if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) return item;
  }
  return NULL;
}

static void metrics_and_energy_are_among_the_measurements(void **state) {
  (void)state;
  clt_space *space = make_space();
  clt_objective *objective = NULL;
  clt_measurement m[] = {make_measurement(2), make_measurement(3)};
  clt_error error = {0};
  m[0].energy_J = 0.75;
  assert_int_equal(clt_objective_new_for(&objective, space, NULL, 0, NULL, "minimise energy_J * block", &error), 0);
  const clt_results results = {.space = space, .measurements = m, .n = 2, .objective = objective};
  if (clt_t4_write(path, &results, &error)) fail_msg("%s", error.message);
  json_t *root = json_load_file(path, 0, NULL);
  const json_t *first = json_array_get(json_object_get(root, "results"), 0);
  assert_string_equal(json_string_value(json_array_get(json_object_get(first, "objectives"), 0)), "energy_J * block");
  assert_true(json_real_value(json_object_get(quantity(first, "energy"), "value")) == 0.75);
  assert_string_equal(json_string_value(json_object_get(quantity(first, "energy"), "unit")), "J");
  assert_true(json_real_value(json_object_get(quantity(first, "energy_J * block"), "value")) == 24);
  const json_t *second = json_array_get(json_object_get(root, "results"), 1);
  assert_null(quantity(second, "energy"));
  assert_true(json_is_string(json_object_get(quantity(second, "energy_J * block"), "value"))); /* no number */
  json_decref(root);
  clt_recording *recording = NULL;
  if (clt_recording_new(&recording, path, &error)) fail_msg("%s", error.message);
  assert_int_equal(recording->n, 2);
  for (size_t i = 0; i < 2; i++) {
    const clt_measurement *back = clt_recording_at(recording, i);
    assert_true(clt_measurement_correct(back) ? back->energy_J == 0.75 : isnan(back->energy_J));
  }
  clt_recording_free(recording);
  clt_objective_free(objective);
  clt_measurement_release(&m[1]);
  clt_space_free(space);
}

static void numbers_that_json_lacks_are_left_out(void **state) {
  (void)state;
  clt_space *space = make_space();
  clt_measurement m = make_measurement(0);
  m.max_abs_error = INFINITY;
  m.phases.build_s = NAN;
  m.runs_s[1] = NAN;
  const clt_results result = {.space = space, .measurements = &m, .n = 1};
  assert_int_equal(clt_t4_write(path, &result, NULL), 0);
  clt_recording *recording = NULL;
  assert_int_equal(clt_recording_new(&recording, path, NULL), 0);
  assert_int_equal(clt_recording_at(recording, 0)->n_runs, 2);
  clt_recording_free(recording);
  clt_space_free(space);
}

static void a_file_that_cannot_be_written_stays_as_it_was(void **state) {
  (void)state;
  clt_space *space = make_space();
  clt_measurement m = make_measurement(0);
  const clt_results result = {.space = space, .measurements = &m, .n = 1};
  clt_error error = {0};
  assert_int_equal(clt_t4_write("/nowhere/results.json", &result, &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "/nowhere/results.json"));
  remove(path);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_int_equal(clt_t4_write(path, &result, NULL), CLT_E_IO); /* a folder cannot be replaced */
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(rmdir(folder), 0); /* nothing else was left behind */
  assert_int_equal(mkdir(folder, 0700), 0);
  clt_space_free(space);
}

static void write_text(const char *text) {
  unlink(path); /* overwriting makes some file systems wait for the disk */
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#define RESULT(configuration, rest) "{\"configuration\": {" configuration "}" rest "}"

static void files_of_other_tuners_read(void **state) {
  (void)state;
  write_text("{\"results\": ["
             RESULT("\"a\": 2", ", \"times\": {\"compilation\": 400, \"runtimes\": [4, 2]}, \"invalidity\": \"correct\"") ","
             RESULT("\"a\": 1", ", \"invalidity\": \"correct\", \"measurements\": [{\"name\": \"time\", \"value\": 5, \"unit\": \"us\"}]") ","
             RESULT("\"a\": 3", ", \"invalidity\": \"correct\"") ","
             RESULT("\"a\": 4", ", \"invalidity\": \"timeout\", \"measurements\": [{\"name\": \"reason\", \"value\": \"none\"}]") ","
             RESULT("\"a\": 5", ", \"invalidity\": \"correctness\", \"measurements\": [7, {\"name\": 1}]") ","
             RESULT("\"a\": 6", "") "]}");
  static const clt_reason reasons[] = {CLT_REASON_NONE,        CLT_REASON_NONE,         CLT_REASON_UNKNOWN,
                                       CLT_REASON_RUN_TIMEOUT, CLT_REASON_WRONG_OUTPUT, CLT_REASON_UNKNOWN};
  clt_recording *recording = NULL;
  assert_int_equal(clt_recording_new(&recording, path, NULL), 0);
  assert_int_equal(recording->n, 6);
  for (size_t i = 0; i < 6; i++) assert_int_equal(clt_recording_at(recording, i)->reason, reasons[i]);
  assert_true(clt_recording_at(recording, 0)->time_s == 5 * 1e-6);
  assert_true(fabs(clt_recording_at(recording, 1)->time_s - 3e-3) < 1e-15); /* the mean of its runs */
  assert_true(clt_recording_at(recording, 1)->phases.build_s == 0.4);
  clt_recording_free(recording);
}

/* One result "a": 1 with a run, its measurements, and its objective. */
#define FILE_OF(metadata, run, name, value, unit, objectives)                                                          \
  "{\"metadata\": {" metadata "}, \"results\": [" RESULT(                                                              \
      "\"a\": 1", ", \"times\": {\"compilation_time\": 2, \"runtimes\": [" run "]}, \"invalidity\": \"correct\", "      \
                  "\"measurements\": [{\"name\": \"" name "\", \"value\": " value ", \"unit\": \"" unit               \
                  "\"}], \"objectives\": [" objectives "]") "]}"

static void every_unit_of_time_is_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double run_s, time_s, build_s;
  } cases[] = {
      {FILE_OF("", "1500", "TotalDuration", "1500", "Microseconds", "\"TotalDuration\""), 1.5e-3, 1.5e-3, 2e-6},
      {FILE_OF("", "1500000", "TotalDuration", "1500000", "Nanoseconds", "\"TotalDuration\""), 1.5e-3, 1.5e-3, 2e-9},
      {FILE_OF("", "1.5", "TotalDuration", "1.5", "", "\"TotalDuration\""), 1.5e-3, 1.5e-3, 2e-3},
      {FILE_OF("", "1.5", "time", "1500", "us", "\"time\""), 1.5e-3, 1.5e-3, 2e-3},
      {FILE_OF("", "1600", "time", "1500", "\xc2\xb5s", "\"time\""), 1.6e-3, 1.5e-3, 2e-6},
      {FILE_OF("\"timeunit\": \"seconds\"", "0.0015", "latency", "1500", "usec", "\"latency\""), 1.5e-3, 1.5e-3, 2},
      {FILE_OF("\"timeunit\": \"nanosecond\"", "1500000", "time", "1500000", "", "\"time\""), 1.5e-3, 1.5e-3, 2e-9},
      {FILE_OF("\"timeunit\": \"miliseconds\"", "1.5", "x", "7", "", "\"y\""), 1.5e-3, 1.5e-3, 2e-3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_recording *recording = NULL;
    clt_error error = {0};
    write_text(cases[i].text);
    if (clt_recording_new(&recording, path, &error)) fail_msg("case %zu: %s", i, error.message);
    const clt_measurement *m = clt_recording_at(recording, 0);
    const double found[] = {m->runs_s[0], m->time_s, m->phases.build_s};
    const double wanted[] = {cases[i].run_s, cases[i].time_s, cases[i].build_s};
    for (size_t k = 0; k < 3; k++)
      if (!(fabs(found[k] - wanted[k]) <= 1e-12 * wanted[k])) fail_msg("case %zu: %g, not %g", i, found[k], wanted[k]);
    clt_recording_free(recording);
  }
}

static void another_objective_than_time_counts(void **state) {
  (void)state;
  static const struct {
    const char *text, *name, *unit, *said; /* said: goal, or the error */
    double value;
  } cases[] = {
      {FILE_OF("", "3", "GFLOP/s", "250", "", "\"GFLOP/s\""), "GFLOP/s", "", "maximise", 250},
      {FILE_OF("", "3", "speed", "250", "GB/s", "\"speed\", \"time\""), "speed", "GB/s", "maximise", 250},
      {FILE_OF("", "3", "step", "4", "ms/step", "\"step\""), "step", "ms/step", "says no goal", 4},
      {FILE_OF("\"goal\": \"minimise\"", "3", "step", "4", "ms/step", "\"step\""), "step", "ms/step", "minimise", 4},
      {FILE_OF("", "3", "nvml_energy", "250", "mJ", "\"nvml_energy\""), "energy", "J", "minimise", 0.25},
      {FILE_OF("", "3", "nvml_energy", "250", "", "\"nvml_energy\""), "energy", "J", "minimise", 250},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_recording *recording = NULL, *again = NULL;
    clt_objective *o = NULL;
    clt_error error = {0};
    write_text(cases[i].text);
    if (clt_recording_new(&recording, path, &error)) fail_msg("case %zu: %s", i, error.message);
    assert_true(clt_recording_at(recording, 0)->time_s == 3e-3); /* is known too */
    if (clt_recording_objective(&o, recording, NULL, &error)) {
      assert_string_equal(cases[i].said, "says no goal");
      assert_non_null(strstr(error.message, "'maximise step'"));
      assert_int_equal(clt_recording_objective(&o, recording, "minimise step", NULL), 0);
    } else {
      assert_string_equal(clt_objective_goal(o) == CLT_MAXIMISE ? "maximise" : "minimise", cases[i].said);
    }
    assert_string_equal(clt_objective_name(o), cases[i].name);
    assert_string_equal(clt_objective_unit(o), cases[i].unit);
    assert_true(clt_objective_value(o, clt_recording_at(recording, 0)) == cases[i].value);
    for (int form = 0; form < 2; form++) { /* and is written */
      clt_objective *copied = NULL;
      const clt_results results = {.recording = recording};
      if ((form ? clt_kernel_tuner_write : clt_t4_write)(path, &results, &error)) fail_msg("%s", error.message);
      assert_int_equal(clt_recording_new(&again, path, &error), 0);
      int rc = clt_recording_objective(&copied, again, i == 2 || form ? "minimise time_s" : NULL, &error);
      if (rc) fail_msg("case %zu: %s", i, error.message);
      if (i != 2 && !form) assert_int_equal(clt_objective_goal(copied), clt_objective_goal(o));
      const clt_measurement *m = clt_recording_at(again, 0);
      assert_true(m->time_s == 3e-3);
      assert_true((again->by_energy ? m->energy_J : m->figure) == cases[i].value);
      assert_string_equal(again->by_energy ? "energy" : again->figure.name, cases[i].name);
      clt_objective_free(copied);
      clt_recording_free(again);
    }
    clt_objective_free(o);
    clt_recording_free(recording);
  }
}

static void mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *because;
  } cases[] = {
      {"{\"results\": []}", "list of results"},
      {"{\"results\": {}}", "list of results"},
      {"{\"results\": [1]}", "configuration"},
      {"{\"results\": [{\"configuration\": {}}]}", "configuration"},
      {"{\"results\": [{\"configuration\": {\"a b\": 1}}]}", "is not a valid name"},
      {"{\"results\": [{\"configuration\": {\"a\": null}}]}", "a string for 'a'"},
      {"{\"results\": [{\"configuration\": {\"a\": 1}}, {\"configuration\": {\"b\": 1}}]}", "result 1"},
      {"{\"results\": [{\"configuration\": {\"a\": 1}}, {\"configuration\": {\"a\": 1, \"b\": 1}}]}",
       "the same 1 parameters"},
      {FILE_OF("\"timeunit\": \"fortnights\"", "1", "time", "1", "", "\"time\""), "unknown unit of time 'fortnights'"},
      {FILE_OF("", "1", "time", "1", "cycles", "\"time\""), "unknown unit 'cycles' of 'time'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_recording *recording = NULL;
    clt_error error = {0};
    write_text(cases[i].text);
    assert_int_equal(clt_recording_new(&recording, path, &error), CLT_E_FORMAT);
    if (strstr(error.message, cases[i].because) == NULL) fail_msg("'%s' lacks '%s'", error.message, cases[i].because);
  }
}

static void mutated_files_read_or_are_refused(void **state) {
  (void)state;
  static const char alphabet[] = "{}[]\",:\\0159eE+-.NaIt \n\xff";
  static char whole[1 << 15], text[1 << 15];
  clt_space *space = make_space();
  clt_rng rng;
  clt_rng_init(&rng, 5);
  write_results(space);
  FILE *file = fopen(path, "rb");
  size_t n = fread(whole, 1, sizeof whole - 1, file);
  fclose(file);
  assert_in_range(n, 1000, sizeof whole - 2);
  for (int round = 0; round < 1000; round++) {
    memcpy(text, whole, n + 1);
    for (uint64_t k = 1 + clt_rng_below(&rng, 4); k; k--)
      text[clt_rng_below(&rng, n)] = alphabet[clt_rng_below(&rng, sizeof alphabet - 1)];
    write_text(text);
    clt_recording *recording = NULL;
    clt_error error = {0};
    int rc = clt_recording_new(&recording, path, &error);
    assert_int_equal(rc, error.code);
    clt_recording_free(recording);
  }
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_come_back_as_they_were),
      cmocka_unit_test(a_result_has_what_the_schema_requires),
      cmocka_unit_test(metrics_and_energy_are_among_the_measurements),
      cmocka_unit_test(numbers_that_json_lacks_are_left_out),
      cmocka_unit_test(files_of_other_tuners_read),
      cmocka_unit_test(every_unit_of_time_is_read),
      cmocka_unit_test(another_objective_than_time_counts),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(mutated_files_read_or_are_refused),
      cmocka_unit_test(a_file_that_cannot_be_written_stays_as_it_was),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
