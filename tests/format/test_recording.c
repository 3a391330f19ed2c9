/* Kernel Tuner's cache files: every form of them reads, and nothing in them does harm. */
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "clatune/recording.h"
#include "format/format.h"

static char folder[512];

static int make_folder(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/clatune-format-XXXXXX", base ? base : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where) {
  (void)status, (void)type, (void)where;
  return remove(path);
}

static int remove_folder(void **state) {
  (void)state;
  return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *write_bytes(const char *name, const char *bytes, size_t n) {
  static char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  unlink(path); /* overwriting makes some file systems wait for the disk */
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
  return path;
}

static const char *write_text(const char *text) { return write_bytes("cache.json", text, strlen(text)); }

static clt_recording *load(const char *path) {
  clt_recording *recording = NULL;
  clt_error error = {0};
  if (clt_recording_new(&recording, path, &error)) fail_msg("%s", error.message);
  return recording;
}

static void assert_refused(const char *path, int code, const char *because) {
  clt_recording *recording = NULL;
  clt_error error = {0};
  char text[2048];
  assert_int_equal(clt_recording_new(&recording, path, &error), code);
  clt_error_format(text, sizeof text, &error);
  if (strstr(text, because) == NULL) fail_msg("'%s' does not say '%s'", text, because);
  assert_null(recording);
}

#define HEAD                                                                               \
  "{\n\"device_name\": \"Some GPU\",\n\"kernel_name\": \"add\",\n\"problem_size\": 100,\n" \
  "\"tune_params_keys\": [\"block\", \"mode\"],\n"                                         \
  "\"tune_params\": {\"block\": [32, 64, 128], \"mode\": [\"fast\", \"safe\"]},\n\"cache\": {\n"
#define FIRST                                                                                 \
  "\"64,fast\": {\"block\": 64, \"mode\": \"fast\", \"time\": 2.5, \"times\": [3, 2.0, 2.5]," \
  " \"compile_time\": 400, \"verification_time\": 0, \"benchmark_time\": 8, \"GFLOP/s\": 1e3}"
#define SECOND "\"32,safe\": {\"block\": 32, \"mode\": \"safe\", \"time\": 1.25}"
#define THIRD "\"128,safe\": {\"block\": 128, \"mode\": \"safe\", \"time\": \"CompilationFailedConfig\"}"
#define WHOLE HEAD FIRST ",\n" SECOND ",\n" THIRD "}\n}"

static void assert_whole(const clt_recording *r, size_t n) {
  const clt_space *space = clt_recording_space(r);
  assert_int_equal(r->n, n);
  assert_int_equal(clt_space_cartesian(space), 6);
  assert_int_equal(clt_space_valid(space), n);
  const clt_measurement *m = clt_recording_find(r, 2); /* 64, fast */
  assert_non_null(m);
  assert_true(m->time_s == 2.5 * 1e-3 && m->n_runs == 3 && m->runs_s[0] == 3 * 1e-3);
  assert_true(m->phases.build_s == 400 * 1e-3 && m->phases.runs_s == 8 * 1e-3);
  m = clt_recording_find(r, 1); /* 32, safe */
  if (n > 1) assert_true(m && m->time_s == 1.25 * 1e-3 && m->n_runs == 0);
  m = clt_recording_find(r, 5); /* 128, safe */
  if (n > 2) assert_true(m && m->reason == CLT_REASON_COMPILE_ERROR && isnan(m->time_s));
  assert_null(clt_recording_find(r, 0));
  assert_true(r->optimum_s == (n > 1 ? 1.25 : 2.5) * 1e-3);
}

static void a_cache_file_reads(void **state) {
  (void)state;
  clt_recording *r = load(write_text(WHOLE));
  assert_string_equal(clt_recording_name(r), "cache");
  assert_string_equal(r->kernel, "add");
  assert_string_equal(r->device, "Some GPU");
  assert_whole(r, 3);
  clt_recording_free(r);
}

static void measurements_stand_in_the_order_of_rank(void **state) {
  (void)state;
  clt_recording *r = load(write_text(WHOLE));
  const clt_space *space = clt_recording_space(r);
  for (size_t i = 0; i < r->n; i++) assert_int_equal(clt_recording_at(r, i)->config, clt_space_at(space, i));
  char text[64];
  clt_config_print(text, sizeof text, space, clt_recording_at(r, 1)->config);
  assert_string_equal(text, "block=64 mode=fast");
  clt_recording_free(r);
}

static void a_compressed_file_reads(void **state) {
  (void)state;
  char path[600];
  snprintf(path, sizeof path, "%s/add-gpu.json.gz", folder);
  gzFile file = gzopen(path, "wb");
  assert_int_equal(gzwrite(file, WHOLE, strlen(WHOLE)), strlen(WHOLE));
  gzclose(file);
  clt_recording *r = load(path);
  assert_string_equal(clt_recording_name(r), "add-gpu");
  assert_whole(r, 3);
  clt_recording_free(r);
  FILE *cut = fopen(path, "r+b"); /* a compressed file that is cut off is damaged */
  assert_int_equal(ftruncate(fileno(cut), 60), 0);
  fclose(cut);
  assert_refused(path, CLT_E_FORMAT, "add-gpu.json.gz': unexpected end of file");
}

/* What a few bytes of text would make the parser take. */
static void what_takes_too_much_memory_is_refused(void **state) {
  (void)state;
  static const char *const pieces[] = {"{},", "[],", "{\"\":0},", "[[]],"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    size_t n = strlen(pieces[i]), bytes = 8 << 20;
    char *text = malloc(bytes), path[600];
    assert_non_null(text);
    for (size_t k = 0; k < bytes; k++) text[k] = pieces[i][(k + n - 12 % n) % n];
    memcpy(text, "{\"results\":[", 12);
    assert_refused(write_bytes("large.json", text, bytes), CLT_E_RANGE, "memory");
    snprintf(path, sizeof path, "%s/large.json.gz", folder);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, text, (unsigned)bytes), bytes);
    gzclose(file);
    assert_refused(path, CLT_E_RANGE, "times its size");
    free(text);
  }
}

static void an_interrupted_file_is_mended_in_memory(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t n;
  } cases[] = {
      {HEAD FIRST ",\n" SECOND ",", 2},
      {HEAD FIRST ",\n" SECOND "\n", 2},
      {HEAD FIRST ",\n" SECOND "}", 2},
      {HEAD FIRST ",\n" SECOND ",\n\"128,sa", 2},
      {HEAD FIRST ",\n" SECOND ",\n\"128,safe\": {\"block\": 128, \"mode\": \"sa\\", 2},
      {HEAD FIRST ",\n" SECOND ",\n\"128,safe\": {\"block\": 128, \"times\": [1, 2", 2},
      {HEAD FIRST ",\n\"32,safe\": {", 1},
      {HEAD FIRST, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_recording *r = load(write_text(cases[i].text));
    assert_whole(r, cases[i].n);
    clt_recording_free(r);
  }
  assert_refused(write_text(HEAD), CLT_E_FORMAT, "is incomplete; ");
  assert_refused(write_text("{\"tune_params\": {\"a\": [1,"), CLT_E_FORMAT, "is incomplete; ");
}

static void every_prefix_of_a_file_reads_or_is_refused(void **state) {
  (void)state;
  for (size_t n = 0; n < strlen(WHOLE); n++) {
    clt_recording *r = NULL;
    clt_error error = {0};
    int rc = clt_recording_new(&r, write_bytes("prefix.json", WHOLE, n), &error);
    assert_true(rc == CLT_OK || (rc == CLT_E_FORMAT && error.message[0]));
    if (n >= strlen(HEAD FIRST)) assert_int_equal(rc, CLT_OK);
    clt_recording_free(r);
  }
}

#define ONE(fields) \
  "{\"tune_params\": {\"a\": [1, 2]}, \"cache\": {\"1\": {\"a\": 1, " fields "}, \"2\": {\"time\": 7.0}}}"

static void every_form_of_failure_is_understood(void **state) {
  (void)state;
  static const struct {
    const char *text;
    clt_reason reason;
  } cases[] = {
      {ONE("\"time\": \"InvalidConfig\""), CLT_REASON_DEVICE_LIMIT},
      {ONE("\"time\": \"CompilationFailedConfig\""), CLT_REASON_COMPILE_ERROR},
      {ONE("\"time\": \"RuntimeFailedConfig\""), CLT_REASON_RUN_ERROR},
      {ONE("\"time\": \"timeout\""), CLT_REASON_RUN_TIMEOUT},
      {ONE("\"time\": \"SunspotConfig\""), CLT_REASON_UNKNOWN},
      {ONE("\"time\": 1e20"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": 1e+20, \"times\": [1e20]"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": 0"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": null"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": [1]"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": NaN"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": -Infinity"), CLT_REASON_UNKNOWN},
      {ONE("\"other\": 1"), CLT_REASON_UNKNOWN},
      {ONE("\"time\": {\"__error__\": \"CompilationFailedConfig\"}"), CLT_REASON_COMPILE_ERROR},
      {ONE("\"time\": 3.5, \"__error__\": \"RuntimeFailedConfig\""), CLT_REASON_RUN_ERROR},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_recording *r = load(write_text(cases[i].text));
    const clt_measurement *m = clt_recording_find(r, 0);
    if (m->reason != cases[i].reason) fail_msg("%s: %s", cases[i].text, clt_reason_name(m->reason));
    assert_true(isnan(m->time_s) && m->n_runs == 0);
    assert_true(r->optimum_s == 7 * 1e-3);
    clt_recording_free(r);
  }
  assert_refused(write_text(ONE("\"time\": -3")), CLT_E_FORMAT, "has the time -3, which is below 0");
}

static void what_is_not_understood_is_kept_as_text(void **state) {
  (void)state;
  clt_recording *r = load(write_text(ONE("\"time\": \"SunspotConfig\"")));
  assert_string_equal(clt_recording_find(r, 0)->log, "SunspotConfig");
  clt_recording_free(r);
}

static void a_recording_of_failures_has_no_optimum(void **state) {
  (void)state;
  clt_recording *r =
      load(write_text("{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"time\": \"InvalidConfig\"}}}"));
  assert_true(isnan(r->optimum_s));
  clt_recording_free(r);
}

static void configurations_come_from_the_key_where_fields_are_missing(void **state) {
  (void)state;
  clt_recording *r =
      load(write_text("{\"tune_params_keys\": [\"s\", \"x\", \"t\", \"r\"], \"tune_params\": {"
                      "\"r\": [0.5, 1e-3], \"t\": [false, true], \"x\": [1, 2], \"s\": [\"float\", \"float4\"]},"
                      "\"cache\": {\"float4,1,True,0.001\": {\"time\": 1.0},"
                      "            \"float,2,False,0.5\": {\"r\": 5e-1, \"time\": 2.0}}}"));
  assert_true(clt_recording_find(r, 8 + 0 + 2 + 1)->time_s == 1e-3);
  assert_true(clt_recording_find(r, 0 + 4 + 0 + 0)->time_s == 2e-3);
  clt_recording_free(r);
}

static void the_best_of_several_entries_counts(void **state) {
  (void)state;
  clt_recording *r = load(
      write_text("{\"tune_params\": {\"a\": [1, 2]}, \"cache\": {"
                 "\"1\": {\"time\": \"NoReason\"}, \"1.0\": {\"time\": 2.0, \"times\": [2.0]}, \"2\": {\"time\": 1},"
                 "\"01\": {\"time\": 3.0, \"times\": [3.0, 4.0]}}}"));
  assert_int_equal(r->n, 2);
  const clt_measurement *m = clt_recording_find(r, 0);
  assert_true(m->time_s == 2e-3 && m->n_runs == 3 && m->runs_s[2] == 4e-3);
  assert_non_null(strstr(r->note, "has 2 results of configurations that have an earlier one"));
  clt_recording_free(r);
}

static void more_runs_than_are_kept_do_no_harm(void **state) {
  (void)state;
  char text[4096];
  size_t n = (size_t)snprintf(text, sizeof text,
                              "{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"time\": 1, \"times\": [1");
  for (int i = 0; i < 500; i++) n += (size_t)snprintf(text + n, sizeof text - n, ",%d", i % 7);
  snprintf(text + n, sizeof text - n, ", \"x\", NaN, null]}}}");
  clt_recording *r = load(write_text(text));
  const clt_measurement *m = clt_recording_find(r, 0);
  assert_int_equal(m->n_runs, CLT_MAX_RUNS);
  for (size_t i = 0; i < m->n_runs; i++) assert_true(m->runs_s[i] > 0);
  clt_recording_free(r);
}

static void mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *because;
  } cases[] = {
      {"", "not JSON"},
      {"[]", "needs an object"},
      {"{\"KernelSpecification\": {}}", "is a problem file"},
      {"\xff\xfe{", "in UTF-16; save it as UTF-8"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"a\": 1, \"ti", "is incomplete; "},
      {"{\"tune_params\": {\"a\": [1]},\n\"cache\": ]}", "cache.json:2"},
      {"{\"cache\": {}}", "tune_params"},
      {"{\"tune_params\": {}}", "(T4, CLTune, CLBlast)"},
      {"{\"tune_params\": {}, \"cache\": {}}", "tune_params"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {}}", "contains no configurations"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": [1]}", "needs an object"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": 1}}", "not an object"},
      {"{\"tune_params\": {\"a\": 1}, \"cache\": {}}", "'a' needs a list"},
      {"{\"tune_params\": {\"a\": []}, \"cache\": {}}", "'a' needs a list"},
      {"{\"tune_params\": {\"a\": [[1]]}, \"cache\": {}}", "value 0 of 'a'"},
      {"{\"tune_params\": {\"a\": [1, 1]}, \"cache\": {\"1\": {}}}", "tune_params"},
      {"{\"tune_params\": {\"a b\": [1]}, \"cache\": {}}", "is not a valid name"},
      {"{\"tune_params\": {\"a\": [null]}, \"cache\": {}}", "value 0 of 'a'"},
      {"{\"tune_params\": {\"a\": [1]}, \"tune_params_keys\": [\"b\"], \"cache\": {}}", "'b' needs a list"},
      {"{\"tune_params\": {\"a\": [1]}, \"tune_params_keys\": [7], \"cache\": {}}", "tune_params_keys"},
      {"{\"tune_params\": {\"a\": [1]}, \"tune_params_keys\": [], \"cache\": {}}", "tune_params_keys"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"2\": {\"time\": 1}}}", "not listed"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"a\": 3}}}", "not listed"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1\": {\"a\": [1]}}}", "a string for 'a'"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"1,2\": {\"time\": 1}}}", "a string for 'a'"},
      {"{\"tune_params\": {\"a\": [1]}, \"cache\": {\"\": {\"time\": 1}}}", "not listed"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_refused(write_text(cases[i].text), CLT_E_FORMAT, cases[i].because);
  assert_refused("/nowhere/x.json", CLT_E_IO, "No such file");
  assert_refused(folder, CLT_E_IO, folder);
}

static void terminals_are_not_addressed(void **state) {
  (void)state;
  clt_recording *r =
      load(write_text("{\"device_name\": \"a\\u001b[2Jb\", \"kernel_name\": 7, \"tune_params\": {\"a\": [1]},"
                      " \"cache\": {\"1\": {\"time\": 1}}}"));
  assert_string_equal(r->device, "a?[2Jb");
  assert_string_equal(r->kernel, "");
  clt_recording_free(r);
}

static char *repeat(const char *piece, size_t n) {
  size_t length = strlen(piece);
  char *text = malloc(length * n + 1);
  assert_non_null(text);
  for (size_t i = 0; i < n; i++) memcpy(text + i * length, piece, length);
  text[length * n] = 0;
  return text;
}

static void what_is_too_large_is_refused_before_it_is_parsed(void **state) {
  (void)state;
  char *deep = repeat("[", 100000);
  assert_refused(write_text(deep), CLT_E_FORMAT, "nested");
  free(deep);
  clt_text text = {0};
  clt_error error = {0};
  assert_int_equal(clt_file_read_packed(&text, write_text("0123456789"), 9, &error), CLT_E_RANGE);
  assert_null(text.bytes);
}

static void only_recorded_configurations_count(void **state) {
  (void)state;
  char wide[8192];
  size_t n = (size_t)snprintf(wide, sizeof wide, "{\"tune_params\": {");
  for (int i = 0; i < 64; i++) n += (size_t)snprintf(wide + n, sizeof wide - n, "%s\"p%d\": [1, 2]", i ? ", " : "", i);
  n += (size_t)snprintf(wide + n, sizeof wide - n, "}, \"cache\": {\"1");
  for (int i = 1; i < 64; i++) n += (size_t)snprintf(wide + n, sizeof wide - n, ",1");
  n += (size_t)snprintf(wide + n, sizeof wide - n, "\": {\"time\": 3}, \"2");
  for (int i = 1; i < 64; i++) n += (size_t)snprintf(wide + n, sizeof wide - n, ",1");
  snprintf(wide + n, sizeof wide - n, "\": {\"time\": 2}}}");
  clt_recording *r = load(write_text(wide)); /* of 2^64 combinations */
  const clt_space *space = clt_recording_space(r);
  assert_int_equal(clt_space_valid(space), 2);
  for (clt_config config = 0; config < 2; config++) {
    assert_int_equal(clt_space_value(space, config, 0).integer, config + 1);
    assert_float_equal(clt_recording_find(r, config)->time_s, config ? 0.002 : 0.003, 1e-9);
  }
  clt_recording_free(r);
}

static void mutated_files_read_or_are_refused(void **state) {
  (void)state;
  static const char alphabet[] = "{}[]\",:\\0159eE+-.NaIt \n\xff";
  char text[sizeof WHOLE + 16];
  clt_rng rng;
  clt_rng_init(&rng, 11);
  for (int round = 0; round < 3000; round++) {
    size_t n = strlen(WHOLE);
    memcpy(text, WHOLE, n);
    for (uint64_t k = 1 + clt_rng_below(&rng, 4); k; k--)
      text[clt_rng_below(&rng, n)] = alphabet[clt_rng_below(&rng, sizeof alphabet)];
    if (clt_rng_below(&rng, 4) == 0) n = clt_rng_below(&rng, n);
    clt_recording *r = NULL;
    clt_error error = {0};
    int rc = clt_recording_new(&r, write_bytes("mutated.json", text, n), &error);
    assert_int_equal(rc, error.code);
    assert_true(rc == CLT_OK || error.message[0]);
    if (rc == CLT_OK) assert_int_equal(r->n, clt_space_valid(clt_recording_space(r)));
    clt_recording_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cache_file_reads),
      cmocka_unit_test(measurements_stand_in_the_order_of_rank),
      cmocka_unit_test(a_compressed_file_reads),
      cmocka_unit_test(what_takes_too_much_memory_is_refused),
      cmocka_unit_test(an_interrupted_file_is_mended_in_memory),
      cmocka_unit_test(every_prefix_of_a_file_reads_or_is_refused),
      cmocka_unit_test(every_form_of_failure_is_understood),
      cmocka_unit_test(what_is_not_understood_is_kept_as_text),
      cmocka_unit_test(a_recording_of_failures_has_no_optimum),
      cmocka_unit_test(configurations_come_from_the_key_where_fields_are_missing),
      cmocka_unit_test(the_best_of_several_entries_counts),
      cmocka_unit_test(more_runs_than_are_kept_do_no_harm),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(terminals_are_not_addressed),
      cmocka_unit_test(what_is_too_large_is_refused_before_it_is_parsed),
      cmocka_unit_test(only_recorded_configurations_count),
      cmocka_unit_test(mutated_files_read_or_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
