/* Results of other tuners: CLTune, CLBlast's tuners and KTT are read, and every form becomes T4 and a cache file of
 * Kernel Tuner, and is the same when it is read back. */
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "format/format.h"

static const char *samples; /* the folder */
static char folder[512], path[600], copy[600];

static int make_folder(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/clatune-others-XXXXXX", base ? base : "/tmp");
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/results.json", folder);
  snprintf(copy, sizeof copy, "%s/copy.json", folder);
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

static clt_recording *load(const char *file) {
  clt_recording *recording = NULL;
  clt_error error = {0};
  if (clt_recording_new(&recording, file, &error)) fail_msg("%s", error.message);
  return recording;
}

static clt_recording *load_sample(const char *name) {
  snprintf(path, sizeof path, "%s/%s", samples, name);
  clt_recording *recording = load(path);
  snprintf(path, sizeof path, "%s/results.json", folder);
  return recording;
}

static const clt_measurement *find(const clt_recording *recording, const char *configuration) {
  clt_config config;
  clt_error error = {0};
  if (clt_config_parse(&config, clt_recording_space(recording), configuration, &error)) fail_msg("%s", error.message);
  const clt_measurement *m = clt_recording_find(recording, config);
  assert_non_null(m);
  return m;
}

static void near(double a, double b) { assert_true(fabs(a - b) <= 1e-12 * fabs(b)); }

/* --- reading --- */

static void cltune_reads(void **state) {
  (void)state;
  clt_recording *recording = load_sample("cltune.json");
  assert_string_equal(recording->kernel, "blur");
  assert_string_equal(recording->device, "A made-up GPU");
  assert_int_equal(recording->n, 3);
  assert_int_equal(recording->n_sizes, 0);
  near(find(recording, "GROUP=64 TILE=1")->time_s, 1.25e-3);
  near(find(recording, "GROUP=64 TILE=4")->time_s, 0.875e-3);
  assert_int_equal(find(recording, "GROUP=128 TILE=1")->reason, CLT_REASON_UNKNOWN); /* 0.000: below its digits */
  near(recording->optimum_s, 0.875e-3);
  clt_recording_free(recording);
}

static void clblast_reads_with_its_sizes(void **state) {
  (void)state;
  clt_recording *recording = load_sample("clblast.json");
  assert_string_equal(recording->kernel, "Sum");
  assert_int_equal(recording->n_sizes, 2); /* alpha is no whole number */
  assert_string_equal(recording->sizes[0].name, "m");
  assert_int_equal(recording->sizes[0].value, 1024);
  assert_int_equal(recording->sizes[1].value, 512);
  near(find(recording, "PRECISION=32 VW=4 WGS=128")->time_s, 0.5e-3); /* its "best_parameters" as they are */
  clt_recording_free(recording);
}

static void ktt_reads(void **state) {
  (void)state;
  clt_recording *recording = load_sample("ktt.json");
  assert_string_equal(recording->kernel, "Sum");
  assert_string_equal(recording->device, "A made-up GPU");
  assert_int_equal(recording->n, 3);
  const clt_measurement *m = find(recording, "GROUP=64 FAST=1 SHARE=0.5 MODE=rows");
  near(m->time_s, 1.5e-3);
  assert_int_equal(m->n_runs, 1);
  near(m->runs_s[0], 1.5e-3);
  near(m->phases.build_s, 0.25);
  near(m->phases.verify_s, 4e-3);
  m = find(recording, "GROUP=128 FAST=1 SHARE=0.5 MODE=rows");
  assert_int_equal(m->reason, CLT_REASON_DEVICE_LIMIT);
  assert_int_equal(m->n_runs, 0); /* the value there is no time */
  assert_int_equal(find(recording, "GROUP=64 FAST=0 SHARE=0.5 MODE=columns")->reason, CLT_REASON_WRONG_OUTPUT);
  clt_recording_free(recording);
}

static void write_text(const char *text) {
  unlink(path); /* overwriting makes some file systems wait for the disk */
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#define KTT(unit, results) "{\"Metadata\": {\"TimeUnit\": \"" unit "\"}, \"Results\": [" results "]}"
#define PAIR "{\"Name\": \"a\", \"Value\": 1}"
#define RESULT(status, time) \
  "{\"KernelName\": \"k\", \"Status\": \"" status "\", \"TotalDuration\": " time ", \"Configuration\": [" PAIR "]}"

static void every_unit_and_status_of_ktt(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double time_s;
    clt_reason reason;
  } cases[] = {{KTT("Nanoseconds", RESULT("Ok", "1500000.0")), 1.5e-3, CLT_REASON_NONE},
               {KTT("Microseconds", RESULT("Ok", "1500.0")), 1.5e-3, CLT_REASON_NONE},
               {KTT("Milliseconds", RESULT("Ok", "1.5")), 1.5e-3, CLT_REASON_NONE},
               {KTT("Seconds", RESULT("Ok", "0.0015")), 1.5e-3, CLT_REASON_NONE},
               {KTT("Seconds", RESULT("Ok", "0")), NAN, CLT_REASON_UNKNOWN},
               {KTT("Seconds", RESULT("ComputationFailed", "1")), NAN, CLT_REASON_RUN_ERROR},
               {KTT("Seconds", RESULT("CompilationFailed", "1")), NAN, CLT_REASON_COMPILE_ERROR},
               {KTT("Seconds", RESULT("SomethingNew", "1")), NAN, CLT_REASON_UNKNOWN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text(cases[i].text);
    clt_recording *recording = load(path);
    const clt_measurement *m = clt_recording_at(recording, 0);
    assert_int_equal(m->reason, cases[i].reason);
    if (cases[i].reason == CLT_REASON_NONE) near(m->time_s, cases[i].time_s);
    clt_recording_free(recording);
  }
}

#define CLTUNE(results) "{\"results\": [" results "]}"
#define TIMED(kernel, parameters) "{\"kernel\": \"" kernel "\", \"time\": 1.0, \"parameters\": {" parameters "}}"

static void mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *because;
  } cases[] = {
      {CLTUNE(TIMED("k", "")), "configuration each"},
      {CLTUNE(TIMED("k", "\"a b\": 1")), "is not a valid name"},
      {CLTUNE(TIMED("k", "\"a\": {}")), "a string for 'a'"},
      {CLTUNE(TIMED("k", "\"a\": 1") "," TIMED("l", "\"a\": 1")), "two kernels, 'k' and 'l'"},
      {CLTUNE(TIMED("k", "\"a\": 1") "," TIMED("k", "\"b\": 1")), "result 1"},
      {CLTUNE(TIMED("k", "\"a\": 1") "," TIMED("k", "\"a\": 1, \"b\": 1")), "the same 1 parameters"},
      {CLTUNE(TIMED("GEMM_kernel_selection", "\"a\": 1")), "by a score"},
      {"{\"Results\": []}", "list of results"},
      {"{\"Results\": 1}", "list of results"},
      {"{\"Results\": [1]}", "Nanoseconds"},
      {KTT("Fortnights", RESULT("Ok", "1")), "Nanoseconds"},
      {KTT("Seconds", "1"), "configuration each"},
      {KTT("Seconds", "{\"Configuration\": [{\"Name\": \"a\"}]}"), "a \"Name\" and a \"Value\""},
      {KTT("Seconds", "{\"Configuration\": [" PAIR "," PAIR "]}"), "'a' twice"},
      {KTT("Seconds", RESULT("Ok", "1") ", {\"KernelName\": \"l\"}"), "two kernels"},
      {KTT("Seconds", RESULT("Ok", "1") ", {\"KernelName\": \"k\"}"), "result 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_recording *recording = NULL;
    clt_error error = {0};
    write_text(cases[i].text);
    if (clt_recording_new(&recording, path, &error) != CLT_E_FORMAT) fail_msg("case %zu: %s", i, error.message);
    if (strstr(error.message, cases[i].because) == NULL) fail_msg("'%s' lacks '%s'", error.message, cases[i].because);
  }
}

/* --- damage --- */

static size_t read_sample(char *bytes, size_t capacity, const char *name) {
  char sample[600];
  snprintf(sample, sizeof sample, "%s/%s", samples, name);
  FILE *file = fopen(sample, "rb");
  assert_non_null(file);
  size_t n = fread(bytes, 1, capacity, file);
  fclose(file);
  assert_in_range(n, 100, capacity - 1);
  return n;
}

static void read_or_refuse(const char *bytes, size_t n) {
  unlink(path);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
  clt_recording *recording = NULL;
  clt_error error = {0};
  int rc = clt_recording_new(&recording, path, &error);
  assert_int_equal(rc, error.code);
  clt_recording_free(recording);
}

static const char *const names[] = {"cltune.json", "clblast.json", "ktt.json"};
#define N_NAMES (sizeof names / sizeof *names)

static void every_prefix_reads_or_is_refused(void **state) {
  (void)state;
  static char whole[1 << 14];
  for (size_t i = 0; i < N_NAMES; i++)
    for (size_t n = read_sample(whole, sizeof whole, names[i]); n > 0; n--) read_or_refuse(whole, n - 1);
}

static void mutated_files_read_or_are_refused(void **state) {
  (void)state;
  static const char alphabet[] = "{}[]\",:\\0159eE+-.NaIt \n\xff";
  static char whole[1 << 14], text[1 << 14];
  clt_rng rng;
  clt_rng_init(&rng, 7);
  for (int round = 0; round < 1500; round++) {
    size_t n = read_sample(whole, sizeof whole, names[round % N_NAMES]);
    memcpy(text, whole, n);
    for (uint64_t k = 1 + clt_rng_below(&rng, 4); k; k--)
      text[clt_rng_below(&rng, n)] = alphabet[clt_rng_below(&rng, sizeof alphabet - 1)];
    read_or_refuse(text, n);
  }
}

/* --- writing, and reading back --- */

static void expect_same(const clt_recording *a, const clt_recording *b) {
  const clt_space *x = clt_recording_space(a), *y = clt_recording_space(b);
  assert_string_equal(a->kernel, b->kernel);
  assert_string_equal(a->device, b->device);
  assert_int_equal(a->n, b->n);
  assert_true(clt_space_cartesian(x) == clt_space_cartesian(y));
  for (size_t i = 0; i < a->n; i++) {
    const clt_measurement *m = clt_recording_at(a, i), *n = clt_recording_find(b, m->config);
    char *config = clt_config_string(x, m->config), *other = clt_config_string(y, m->config);
    assert_string_equal(config, other);
    free(config);
    free(other);
    assert_non_null(n);
    assert_int_equal(m->reason, n->reason);
    assert_int_equal(m->n_runs, n->n_runs);
    if (clt_measurement_correct(m)) near(m->time_s, n->time_s);
    for (size_t k = 0; k < m->n_runs; k++) near(m->runs_s[k], n->runs_s[k]);
    near(m->phases.build_s, n->phases.build_s);
    near(m->phases.verify_s, n->phases.verify_s);
  }
}

static char *text_of(const char *file) {
  static char bytes[1 << 16];
  FILE *stream = fopen(file, "rb");
  assert_non_null(stream);
  bytes[fread(bytes, 1, sizeof bytes - 1, stream)] = '\0';
  fclose(stream);
  return strdup(bytes);
}

static void every_form_survives_both_others(void **state) {
  (void)state;
  static const char *const all[] = {"cltune.json", "clblast.json", "ktt.json", "kernel_tuner.json", "t4.json"};
  clt_error error = {0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    clt_recording *original = load_sample(all[i]);
    if (clt_t4_write(path, &(clt_results){.recording = original}, &error)) fail_msg("%s", error.message);
    clt_recording *t4 = load(path);
    char *first = text_of(path);
    expect_same(original, t4);
    if (clt_kernel_tuner_write(path, &(clt_results){.recording = t4}, &error)) fail_msg("%s", error.message);
    clt_recording *cache = load(path);
    expect_same(original, cache);
    if (clt_t4_write(path, &(clt_results){.recording = t4}, &error)) fail_msg("%s", error.message);
    char *second = text_of(path);
    assert_string_equal(first, second); /* once written, nothing drifts */
    free(first);
    free(second);
    clt_recording_free(original);
    clt_recording_free(t4);
    clt_recording_free(cache);
  }
}

static clt_space *space_of(const char *name, const clt_value *values, size_t n) {
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, name, values, n, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

/* Writes a measurement of every configuration and reads them back. */
static clt_recording *recorded(const clt_space *space, clt_reason (*reason_of)(size_t)) {
  clt_measurement m[CLT_N_REASONS];
  clt_error error = {0};
  size_t n = clt_space_valid(space);
  assert_true(n <= CLT_N_REASONS);
  for (size_t i = 0; i < n; i++) {
    clt_measurement_init(&m[i], i);
    m[i].time_s = m[i].runs_s[m[i].n_runs++] = 1e-3 * (double)(i + 1);
    if (reason_of(i)) clt_measurement_fail(&m[i], reason_of(i), "not written");
  }
  const clt_results results = {.space = space, .measurements = m, .n = n};
  if (clt_t4_write(path, &results, &error)) fail_msg("%s", error.message);
  for (size_t i = 0; i < n; i++) clt_measurement_release(&m[i]);
  return load(path);
}

static clt_reason each_reason(size_t i) { return (clt_reason)i; }
static clt_reason no_reason(size_t i) { return (void)i, CLT_REASON_NONE; }

static void every_reason_survives_a_cache_file(void **state) {
  (void)state;
  clt_value values[CLT_N_REASONS];
  for (size_t i = 0; i < CLT_N_REASONS; i++) values[i] = (clt_value){CLT_INT, .integer = (int64_t)i};
  clt_space *space = space_of("a", values, CLT_N_REASONS);
  clt_recording *recording = recorded(space, each_reason);
  assert_int_equal(clt_kernel_tuner_write(copy, &(clt_results){.recording = recording}, NULL), 0);
  clt_recording *cache = load(copy);
  for (size_t i = 0; i < CLT_N_REASONS; i++) {
    assert_int_equal(clt_recording_at(recording, i)->reason, i);
    assert_int_equal(clt_recording_at(cache, i)->reason, i);
  }
  clt_recording_free(cache);
  clt_recording_free(recording);
  clt_space_free(space);
}

/* The key by which Kernel Tuner looks a configuration up: str() of each value. */
static void keys_are_what_python_prints(void **state) {
  (void)state;
  static const clt_value values[] = {{CLT_REAL, .real = 0.5},    {CLT_REAL, .real = 2},
                                     {CLT_REAL, .real = 1e-5},   {CLT_REAL, .real = 0.0001},
                                     {CLT_REAL, .real = 1.5e20}, {CLT_REAL, .real = 1e15},
                                     {CLT_REAL, .real = 1e16},   {CLT_REAL, .real = -12345.678},
                                     {CLT_STRING, .text = "w"},  {CLT_INT, .integer = 1 << 20}};
  static const char *const keys[] = {"0.5",   "2.0",        "1e-05", "0.0001", "1.5e+20", "1000000000000000.0",
                                     "1e+16", "-12345.678", "w",     "1048576"};
  clt_space *space = space_of("a", values, sizeof values / sizeof *values);
  clt_recording *recording = recorded(space, no_reason);
  assert_int_equal(clt_kernel_tuner_write(copy, &(clt_results){.recording = recording}, NULL), 0);
  json_t *root = json_load_file(copy, 0, NULL);
  assert_non_null(root);
  const json_t *cache = json_object_get(root, "cache");
  assert_int_equal(json_object_size(cache), sizeof values / sizeof *values);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (json_object_get(cache, keys[i]) == NULL) fail_msg("no entry '%s'", keys[i]);
  json_decref(root);
  clt_recording_free(recording);
  clt_space_free(space);
  static const clt_value truth[] = {{CLT_BOOL, .integer = 0}, {CLT_BOOL, .integer = 1}};
  space = space_of("a", truth, 2);
  recording = recorded(space, no_reason);
  assert_int_equal(clt_kernel_tuner_write(copy, &(clt_results){.recording = recording}, NULL), 0);
  char *text = text_of(copy);
  assert_non_null(strstr(text, "\"True\": {\"a\":true,"));
  assert_non_null(strstr(text, "\"False\": {\"a\":false,"));
  assert_string_equal(text + strlen(text) - 4, "}}\n}"); /* the end by which Kernel Tuner knows a closed file */
  free(text);
  clt_recording_free(recording);
  clt_space_free(space);
}

static void a_parameter_cannot_hide_a_field(void **state) {
  (void)state;
  static const clt_value values[] = {{CLT_INT, .integer = 1}};
  clt_error error = {0};
  clt_space *space = space_of("times", values, 1);
  clt_recording *recording = recorded(space, no_reason);
  unlink(copy);
  assert_int_equal(clt_kernel_tuner_write(copy, &(clt_results){.recording = recording}, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "'times'"));
  assert_int_not_equal(access(copy, F_OK), 0);
  clt_recording_free(recording);
  clt_space_free(space);
}

static void a_t4_files_unit_is_obeyed(void **state) {
  (void)state;
  write_text(
      "{\"metadata\": {\"timeunit\": \"seconds\"}, \"results\": [{\"configuration\": {\"a\": 1}, \"invalidity\": "
      "\"correct\", \"times\": {\"runtimes\": [2.0, 4.0], \"compilation\": 5}, \"measurements\": []}]}");
  clt_recording *recording = load(path);
  const clt_measurement *m = clt_recording_at(recording, 0);
  near(m->time_s, 3);
  near(m->runs_s[1], 4);
  near(m->phases.build_s, 5);
  clt_recording_free(recording);
}

#define ENTRY(a, time, energy, rate, more) \
  "\"" a "\": {\"time\": " time ", \"nvml_energy\": " energy ", \"energy\": " energy ", \"GFLOP/s\": " rate more "}"

static double best_by(const clt_recording *r, const char *text) {
  clt_objective *o = NULL;
  clt_error error = {0};
  if (clt_recording_objective(&o, r, text, &error)) fail_msg("%s", error.message);
  const double best = clt_objective_value_of(o, clt_recording_least_cost(r, o));
  clt_objective_free(o);
  return best;
}

static void further_quantities_are_kept(void **state) {
  (void)state;
  write_text("{\"tune_params\": {\"a\": [1, 2, 3]}, \"cache\": {" ENTRY(
      "2", "2", "0.5", "10", ", \"when\": \"now\"") "," ENTRY("1", "1", "0.75", "30",
                                                              ", \"fan\": NaN") "," ENTRY("3",
                                                                                          "\"RuntimeFailedConfig\"",
                                                                                          "NaN", "\"x\"", "") "}}");
  clt_recording *recording = load(path);
  clt_error error = {0};
  clt_objective *o = NULL;
  char *loss = NULL;
  for (int form = 0; form < 4; form++) {
    assert_int_equal(recording->n_columns, 2);
    assert_true(best_by(recording, NULL) == 1e-3 && best_by(recording, "GFLOP/s") == 30);
    assert_true(best_by(recording, "energy") == 0.5 && best_by(recording, "nvml_energy") == 0.5);
    assert_true(best_by(recording, "maximise nvml_energy / a") == 0.75);
    assert_int_equal(clt_recording_objective(&o, recording, "gflops", &error), CLT_E_ARGUMENT);
    assert_non_null(strstr(error.message, "did you mean 'GFLOP/s'?"));
    error = (clt_error){0};
    assert_int_equal(clt_recording_objective(&o, recording, "watts", &error), CLT_E_ARGUMENT);
    assert_non_null(strstr(error.message, "among time, energy, nvml_energy, GFLOP/s;"));
    error = (clt_error){0};
    assert_int_equal(clt_recording_loss(&loss, recording, true, NULL), 0);
    assert_string_equal(loss, form ? "" : "'when'");
    free(loss);
    const clt_results results = {.recording = recording};
    if ((form % 2 ? clt_kernel_tuner_write : clt_t4_write)(copy, &results, &error)) fail_msg("%s", error.message);
    clt_recording_free(recording);
    recording = load(copy);
  }
  clt_recording_free(recording);
}

static void what_a_form_lacks_is_said(void **state) {
  (void)state;
  write_text(
      "{\"results\": [{\"configuration\": {\"a\": 1}, \"invalidity\": \"correct\", \"measurements\": ["
      "{\"name\": \"time\", \"value\": 1}, {\"name\": \"power\", \"value\": 9, \"unit\": \"W\"}]}]}");
  clt_recording *recording = load(path);
  clt_error error = {0};
  clt_objective *o = NULL;
  char *loss = NULL;
  assert_int_equal(clt_recording_loss(&loss, recording, false, NULL), 0);
  assert_string_equal(loss, "the units: power in W");
  assert_int_equal(clt_recording_objective(&o, recording, "energy", &error), CLT_E_NO_VALID);
  assert_non_null(strstr(error.message, "has 'energy'; its objectives are time, power"));
  free(loss);
  clt_recording_free(recording);
}

static void a_score_keeps_its_direction(void **state) {
  (void)state;
  write_text(
      "{\"metadata\": {\"goal\": \"maximise\"}, \"results\": [{\"configuration\": {\"a\": 1}, \"invalidity\": "
      "\"correct\","
      "\"times\": {\"runtimes\": [250]}, \"objectives\": [\"figure\"], \"measurements\": ["
      "{\"name\": \"figure\", \"value\": 4, \"unit\": \"\"}]}]}");
  clt_recording *recording = load(path);
  assert_int_equal(clt_kernel_tuner_write(copy, &(clt_results){.recording = recording}, NULL), 0);
  clt_recording *again = load(copy);
  assert_int_equal(again->figure.goal, CLT_MAXIMISE);
  assert_true(clt_recording_at(again, 0)->figure == 4 && clt_recording_at(again, 0)->figures[0] == 4);
  clt_recording_free(again);
  clt_recording_free(recording);
}

static void repeated_results_are_said(void **state) {
  (void)state;
  write_text(KTT("Milliseconds",
                 RESULT("Ok", "3") "," RESULT("Ok", "1") "," RESULT("Ok", "2") "," RESULT("ValidationFailed", "2")));
  clt_recording *recording = load(path);
  const clt_measurement *m = clt_recording_at(recording, 0);
  assert_int_equal(recording->n, 1);
  assert_true(m->time_s == 1e-3 && m->n_runs == 3);
  assert_non_null(strstr(recording->note, "has 3 results of configurations that have an earlier one"));
  clt_recording_free(recording);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cltune_reads),
      cmocka_unit_test(clblast_reads_with_its_sizes),
      cmocka_unit_test(ktt_reads),
      cmocka_unit_test(every_unit_and_status_of_ktt),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(every_prefix_reads_or_is_refused),
      cmocka_unit_test(mutated_files_read_or_are_refused),
      cmocka_unit_test(every_form_survives_both_others),
      cmocka_unit_test(every_reason_survives_a_cache_file),
      cmocka_unit_test(keys_are_what_python_prints),
      cmocka_unit_test(a_parameter_cannot_hide_a_field),
      cmocka_unit_test(a_t4_files_unit_is_obeyed),
      cmocka_unit_test(further_quantities_are_kept),
      cmocka_unit_test(what_a_form_lacks_is_said),
      cmocka_unit_test(a_score_keeps_its_direction),
      cmocka_unit_test(repeated_results_are_said),
  };
  if (argc < 2) return 1;
  samples = argv[1];
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
