/* Everything written is read back equal: configurations as text and in a store, recordings in both formats, over
 * random spaces. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "clatune/recording.h"
#include "format/format.h"
#include "space/space.h"
#include "store/store.h"

#define ROUNDS 150
#define MOST 20 /* configurations of a recording */

static char folder[512], path[600], copy[600];

static int make_folder(void **state) {
  (void)state;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/clatune-round-trip-XXXXXX", base ? base : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

/* --- random spaces --- */

static json_t *draw_text(clt_rng *rng) {
  static const char *const pieces[] = {" ",   "=",      "'", "\"", "\\",  "\n",       "\t",           ",", "%", "%20",
                                       "-O3", "march",  "a", "1",  "0.5", "\xc3\xa4", "\xe2\x82\xac", "{", "]", "#",
                                       "b=2", "\x1b[2J"};
  static const char *const whole[] = {
      "",     "1",    "-1", "1.0", "0.5",  "True",   "true", "nan", "1e5", "-O3 -march=native",
      "0x10", "null", " ",  "%31", "None", "a=1 b=2"};
  char text[200] = "";
  if (clt_rng_below(rng, 3) == 0) return json_string(whole[clt_rng_below(rng, sizeof whole / sizeof *whole)]);
  for (uint64_t n = clt_rng_below(rng, 6); n; n--)
    strcat(text, pieces[clt_rng_below(rng, sizeof pieces / sizeof *pieces)]);
  return json_string(text);
}

static json_t *draw_value(clt_rng *rng) {
  static const double reals[] = {0.1, 1.5, -0.25, 1e300, 5e-324, 1e16, 123456789.123456789, 1.0 / 3, 1e-5, 2};
  static const long long integers[] = {0, 1, -1, 16, 5, INT64_MAX, INT64_MIN, 100000};
  switch (clt_rng_below(rng, 6)) {
    case 0: return json_integer(integers[clt_rng_below(rng, 8)]);
    case 1: return json_real(reals[clt_rng_below(rng, 10)]);
    case 2: return json_boolean(clt_rng_below(rng, 2));
    default: return draw_text(rng);
  }
}

/* Different values: the problem's file lists them, and a builder gets them. */
static json_t *draw_values(clt_rng *rng) {
  json_t *list = json_array();
  for (uint64_t n = 1 + clt_rng_below(rng, 5); n; n--) {
    json_t *new = draw_value(rng);
    bool known = false;
    clt_value a, b;
    clt_json_to_value(&a, new);
    for (size_t i = 0; i < json_array_size(list); i++)
      known = known || (clt_json_to_value(&b, json_array_get(list, i)) && clt_value_equal(a, b));
    if (known)
      json_decref(new);
    else
      json_array_append_new(list, new);
  }
  return list;
}

static clt_problem *draw_problem(clt_rng *rng) {
  static const char *const names[] = {"a", "flags", "b", "reason"};
  clt_problem *problem = NULL;
  clt_error error = {0};
  json_t *parameters = json_array();
  for (size_t i = 0; i < 1 + clt_rng_below(rng, 4); i++)
    json_array_append_new(parameters, json_pack("{s:s, s:o}", "Name", names[i], "Values", draw_values(rng)));
  json_t *root =
      json_pack("{s:{s:s}, s:{s:o}, s:{s:s, s:s, s:s, s:{s:i}, s:{s:i}, s:[]}}", "General", "BenchmarkName", "p",
                "ConfigurationSpace", "TuningParameters", parameters, "KernelSpecification", "Language", "OpenCL",
                "KernelName", "k", "KernelFile", "k.cl", "GlobalSize", "X", 1, "LocalSize", "X", 1, "Arguments");
  snprintf(path, sizeof path, "%s/problem.json", folder);
  assert_int_equal(json_dump_file(root, path, 0), 0);
  json_decref(root);
  if (clt_problem_new(&problem, path, &error)) fail_msg("%s", error.message);
  unlink(path);
  return problem;
}

/* --- comparing --- */

static bool same_value(clt_value a, clt_value b) { return a.type == b.type && clt_value_equal(a, b); }

static void expect_same_values(const clt_space *a, clt_config config, const clt_space *b, clt_config other) {
  assert_int_equal(clt_space_n_parameters(a), clt_space_n_parameters(b));
  for (size_t p = 0; p < clt_space_n_parameters(a); p++) {
    assert_string_equal(clt_space_parameter(a, p)->name, clt_space_parameter(b, p)->name);
    assert_true(same_value(clt_space_value(a, config, p), clt_space_value(b, other, p)));
  }
}

static void expect_same_space(const clt_space *a, const clt_space *b) {
  assert_int_equal(clt_space_n_parameters(a), clt_space_n_parameters(b));
  for (size_t p = 0; p < clt_space_n_parameters(a); p++) {
    const clt_parameter *x = clt_space_parameter(a, p), *y = clt_space_parameter(b, p);
    assert_int_equal(x->n_values, y->n_values);
    for (size_t v = 0; v < x->n_values; v++) assert_true(same_value(x->values[v], y->values[v]));
  }
}

static clt_recording *load(const char *file) {
  clt_recording *recording = NULL;
  clt_error error = {0};
  if (clt_recording_new(&recording, file, &error)) fail_msg("%s", error.message);
  return recording;
}

/* The measurements that were written, in a space with the same parameters; if `listed`, with all their values. */
static void expect_recorded(const clt_recording *r, const clt_space *space, const clt_measurement *all, size_t n,
                            bool listed) {
  const clt_space *recorded = clt_recording_space(r);
  clt_space_match match = clt_space_match_new(clt_recording_space(r), space);
  assert_int_equal(r->n, n);
  if (listed) expect_same_space(space, recorded);
  for (size_t i = 0; i < n; i++) {
    const clt_measurement *m = clt_recording_at(r, i);
    size_t k = 0;
    while (k < n && all[k].config != clt_space_translate(&match, m->config)) k++;
    assert_true(k < n);
    expect_same_values(space, all[k].config, recorded, m->config);
    if (clt_space_find_parameter(space, "reason") < 0) /* its place in cache files, which know coarser words */
      assert_int_equal(m->reason, all[k].reason);
    assert_int_equal(clt_measurement_correct(m), clt_measurement_correct(&all[k]));
    if (clt_measurement_correct(m)) assert_true(fabs(m->time_s / all[k].time_s - 1) < 1e-8);
  }
}

static void what_is_recorded_and_converted_is_read_back(void **state) {
  (void)state;
  clt_rng rng;
  clt_rng_init(&rng, 18);
  for (int round = 0; round < ROUNDS; round++) {
    clt_problem *problem = draw_problem(&rng);
    clt_instance *instance = NULL;
    clt_error error = {0};
    clt_config configs[MOST];
    clt_measurement all[MOST];
    if (clt_instance_new(&instance, problem, NULL, 0, NULL, &error)) fail_msg("%s", error.message);
    const clt_space *space = clt_instance_space(instance);
    int64_t n = clt_space_sample(configs, space, &rng, MOST, &error);
    assert_true(n > 0);
    for (int64_t i = 0; i < n; i++) {
      clt_measurement_init(&all[i], configs[i]);
      all[i].time_s = 1e-3 * (double)(i + 1) / 7;
      if (i == 3) clt_measurement_fail(&all[i], CLT_REASON_LAUNCH, NULL);
    }
    for (int form = 0; form < 3; form++) {
      snprintf(path, sizeof path, "%s/written.json", folder);
      snprintf(copy, sizeof copy, "%s/copy.json", folder);
      const clt_results results = {
          .instance = form ? instance : NULL, .space = space, .measurements = all, .n = (size_t)n};
      int rc = (form < 2 ? clt_t4_write : clt_kernel_tuner_write)(path, &results, &error);
      if (rc) fail_msg("%s", error.message);
      clt_recording *r = load(path);
      expect_recorded(r, space, all, (size_t)n, form > 0);
      for (int as_t4 = 0; as_t4 < 2; as_t4++) {
        if ((as_t4 ? clt_t4_write : clt_kernel_tuner_write)(copy, &(clt_results){.recording = r}, &error))
          fail_msg("%s", error.message);
        clt_recording *again = load(copy);
        expect_recorded(again, space, all, (size_t)n, form > 0);
        expect_same_space(clt_recording_space(r), clt_recording_space(again));
        clt_recording_free(again);
        unlink(copy);
      }
      clt_recording_free(r);
      unlink(path);
    }
    for (int64_t i = 0; i < n; i++) clt_measurement_release(&all[i]);
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

static void texts_of_configurations_are_read_back(void **state) {
  (void)state;
  clt_rng rng;
  clt_rng_init(&rng, 11);
  for (int round = 0; round < ROUNDS; round++) {
    clt_problem *problem = draw_problem(&rng);
    clt_instance *instance = NULL;
    clt_config_reader *reader = NULL;
    clt_error error = {0};
    clt_config configs[MOST], back;
    bool given[CLT_MAX_PARAMETERS];
    assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, NULL, &error), 0);
    const clt_space *space = clt_instance_space(instance);
    assert_int_equal(clt_config_reader_new(&reader, space, &error), 0);
    int64_t n = clt_space_sample(configs, space, &rng, MOST, &error);
    for (int64_t i = 0; i < n; i++) {
      char *typed = clt_config_string(space, configs[i]), *stored = NULL;
      json_t *object = json_object();
      if (clt_config_parse(&back, space, typed, &error)) fail_msg("%s: %s", typed, error.message);
      assert_int_equal(back, configs[i]);
      for (const char *c = typed; *c; c++) assert_in_range((unsigned char)*c, 32, 126);
      assert_int_equal(clt_config_text(&stored, space, configs[i], &error), 0);
      assert_int_equal(clt_config_parse(&back, space, stored, &error), 0);
      assert_int_equal(back, configs[i]);
      assert_true(clt_config_reader_read(reader, stored, &back));
      assert_int_equal(back, configs[i]);
      for (size_t p = 0; p < clt_space_n_parameters(space); p++)
        json_object_set_new(object, clt_space_parameter(space, p)->name,
                            clt_json_value(clt_space_value(space, configs[i], p)));
      back = 0;
      if (clt_config_read_onto(&back, given, space, object, &error)) fail_msg("%s", error.message);
      assert_int_equal(back, configs[i]);
      json_decref(object);
      free(typed);
      free(stored);
    }
    clt_config_reader_free(reader);
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_recorded_and_converted_is_read_back),
      cmocka_unit_test(texts_of_configurations_are_read_back),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
