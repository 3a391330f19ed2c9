/* Whole sessions, without a device: the synthetic evaluator, replay, and the memory store. */
#include <stdio.h>
#include <unistd.h>

#include "../search/bench.h"
#include "base/base.h"
#include "base/text.h"
#include "clatune/tune.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "search/search.h"
#include "session/session.h"

static clt_tune_settings settings_for(const clt_space *space, const char *searcher, int64_t budget) {
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.space = space;
  settings.evaluator = "synthetic";
  settings.searcher = searcher;
  settings.budget = budget;
  settings.threads = 1;
  settings.finalists = 0;
  return settings;
}

static int tune(clt_tune_result **result, const clt_tune_settings *settings) {
  clt_error error = {0};
  int rc = clt_tune_run(result, settings, &error);
  if (rc && rc != CLT_E_STOPPED && rc != CLT_E_NO_VALID) print_message("%s\n", error.message);
  return rc;
}

static clt_store *memory_store(void) {
  clt_store *store;
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  return store;
}

static double note(const clt_tune_result *result, const char *name) {
  return clt_note_value(result->search->notes, result->search->n_notes, name);
}

static void the_budget_is_used_up_exactly(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting capacities[] = {{"capacity", "1"}, {"capacity", "5"}};
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    for (int k = 0; k < 2; k++) {
      clt_tune_settings settings = settings_for(space, clt_plugin_name(&clt_searchers, i), 37);
      clt_tune_result *result;
      settings.evaluator_settings = &capacities[k];
      settings.n_evaluator_settings = 1;
      assert_int_equal(tune(&result, &settings), 0);
      assert_int_equal(result->evaluations, 37);
      assert_int_equal(result->measured, 37);
      int64_t by_reason = result->n_correct, by_invalidity = 0;
      for (int r = 0; r < CLT_N_REASONS; r++) by_reason += clt_tune_n_failed(NULL, result, (clt_reason)r);
      for (int v = 0; v < CLT_N_INVALIDITIES; v++) by_invalidity += clt_tune_n_invalid(result, (clt_invalidity)v);
      assert_int_equal(by_reason, 37);
      assert_int_equal(by_invalidity, 37);
      assert_true(result->n_correct > 0);
      assert_true(result->median_s >= result->best.time_s);
      assert_false(result->stopped);
      clt_tune_result_free(result);
    }
  }
  clt_space_free(space);
}

static void note_config(void *user, const clt_progress *now) {
  clt_config *next = user;
  if (now->last) next[1 + next[0]++] = now->last->config;
}

static void only_what_is_like_the_recorded_searches_is_comparable(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting setting = {"population", "5"};
  const clt_config warm = clt_space_canonical(space, clt_space_at(space, 3));
  for (int i = 0; i < 6; i++) {
    clt_tune_settings settings = settings_for(space, "genetic", i == 4 ? INT64_MAX : 30);
    clt_tune_result *result;
    settings.searcher_settings = &setting;
    settings.n_searcher_settings = i == 1;
    settings.begin_with = &warm;
    settings.n_begin_with = i == 2;
    settings.configurations = i == 3 ? &warm : NULL;
    settings.n_configurations = 1;
    settings.no_transfer = i == 5;
    assert_int_equal(tune(&result, &settings), 0);
    assert_int_equal(result->comparable, i == 0 || i == 5); /* 4: all was measured */
    clt_tune_result_free(result);
  }
  clt_space_free(space);
}

static void settings_say_how_large_they_are(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_tune_settings settings = settings_for(space, "random", 5);
  clt_tune_result *result;
  settings.struct_size = 0;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), CLT_E_ARGUMENT);
  assert_null(result);
  settings.struct_size = sizeof settings + 8; /* of a later version, which may want more */
  assert_int_equal(clt_tune_run(&result, &settings, NULL), CLT_E_ARGUMENT);
  settings.struct_size = offsetof(clt_tune_settings, stop); /* of an earlier version */
  assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
  clt_tune_result_free(result);
  clt_space_free(space);
}

static void a_list_is_evaluated_in_its_order(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_config list[20], seen[21] = {0};
  for (size_t i = 0; i < 20; i++) list[i] = clt_space_at(space, 900 - 41 * i);
  clt_tune_settings settings = settings_for(space, "random", 5);
  clt_tune_result *result;
  settings.configurations = list;
  settings.n_configurations = 20;
  settings.progress = note_config;
  settings.user = seen;
  assert_int_equal(tune(&result, &settings), 0);
  assert_int_equal(result->evaluations, 20);
  assert_int_equal(seen[0], 20);
  assert_memory_equal(seen + 1, list, sizeof list);
  clt_tune_result_free(result);
  settings.configurations = &(clt_config){clt_space_cartesian(space)};
  settings.n_configurations = 1;
  assert_int_equal(tune(&result, &settings), CLT_E_ARGUMENT);
  clt_tune_result_free(result);
  clt_space_free(space);
}

static void a_second_run_measures_nothing(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  clt_store *store = memory_store();
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    clt_tune_settings settings = settings_for(space, clt_plugin_name(&clt_searchers, i), 80);
    clt_tune_result *first, *second;
    settings.store = store;
    settings.seed = 10 + i;
    assert_int_equal(tune(&first, &settings), 0);
    assert_int_equal(first->measured, 80);
    assert_int_equal(tune(&second, &settings), 0);
    assert_int_equal(second->measured, 0);
    assert_int_equal(second->reused, 80);
    assert_int_equal(second->evaluations, 80);
    assert_true(first->best.config == second->best.config && first->best.time_s == second->best.time_s);
    assert_int_equal(first->best.n_runs, second->best.n_runs);
    for (int r = 0; r < CLT_N_REASONS; r++)
      assert_int_equal(clt_tune_n_failed(NULL, first, (clt_reason)r), clt_tune_n_failed(NULL, second, (clt_reason)r));
    assert_true(first->median_s == second->median_s);
    clt_tune_result_free(first);
    clt_tune_result_free(second);
  }
  clt_store_free(store);
  clt_space_free(space);
}

static void what_is_known_is_measured_again_on_request(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store = memory_store();
  clt_tune_settings settings = settings_for(space, "random", 20);
  clt_tune_result *result;
  settings.store = store;
  settings.no_reuse = true;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tune(&result, &settings), 0);
    assert_int_equal(result->measured, 20);
    clt_tune_result_free(result);
  }
  clt_store_free(store);
  clt_space_free(space);
}

/* --- stopping and resuming --- */

struct stopper {
  int64_t after;
  int stop;
  int64_t n_results;
};

static void stop_after(void *user, const clt_progress *progress) {
  struct stopper *stopper = user;
  stopper->n_results += progress->last != NULL;
  if (progress->done >= stopper->after) stopper->stop = 1;
}

static void a_stop_is_obeyed_and_the_result_filled(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stopper stopper = {.after = 12};
  clt_tune_settings settings = settings_for(space, "random", 100);
  clt_tune_result *result;
  settings.progress = stop_after;
  settings.user = &stopper;
  settings.stop = &stopper.stop;
  assert_int_equal(tune(&result, &settings), CLT_E_STOPPED);
  assert_true(result->stopped);
  assert_int_equal(result->evaluations, 12);
  assert_int_equal(stopper.n_results, 12);
  assert_true(result->best.config != CLT_CONFIG_NONE);
  clt_tune_result_free(result);
  clt_space_free(space);
}

struct seen {
  const clt_space *space;
  unsigned char times[4096];
};

static int count_record(void *user, clt_record_kind kind, const clt_measurement *measurement) {
  struct seen *seen = user;
  if (kind == CLT_RECORD_SEARCH) seen->times[measurement->config]++;
  return 0;
}

/* Every configuration's number of search records under the only key of a store. */
static int count_key(void *user, const clt_store_description *description) {
  *(clt_store_key *)user = description->key;
  return 0;
}

static struct seen records(clt_store *store, const clt_space *space) {
  struct seen seen = {.space = space};
  clt_store_key key;
  assert_int_equal(clt_store_each_key(store, true, count_key, &key, NULL), 0);
  assert_int_equal(clt_store_each(store, &key, space, count_record, &seen, NULL, NULL), 0);
  return seen;
}

/* Stopped again and again, the same command ends where an uninterrupted one does, and nothing is measured twice. */
static void a_resumed_search_equals_an_uninterrupted_one(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_setting capacity = {"capacity", "4"};
  clt_tune_result *whole, *part;
  clt_store *store = memory_store(), *resumed = memory_store();
  clt_tune_settings settings = settings_for(space, "two-stage", 160);
  struct stopper stopper = {0};
  settings.evaluator_settings = &capacity;
  settings.n_evaluator_settings = 1;
  settings.store = store;
  assert_int_equal(tune(&whole, &settings), 0);
  settings.store = resumed;
  settings.progress = stop_after;
  settings.user = &stopper;
  settings.stop = &stopper.stop;
  int rc = CLT_E_STOPPED, n_stops = 0;
  for (int64_t after = 30; rc == CLT_E_STOPPED; after += 30, n_stops++) {
    stopper = (struct stopper){.after = after};
    if (after > 30) clt_tune_result_free(part);
    rc = tune(&part, &settings);
  }
  assert_int_equal(rc, 0);
  assert_true(n_stops >= 5);
  assert_int_equal(part->evaluations, whole->evaluations);
  assert_true(part->best.config == whole->best.config && part->best.time_s == whole->best.time_s);
  struct seen a = records(store, space), b = records(resumed, space);
  assert_memory_equal(a.times, b.times, sizeof a.times);
  for (size_t i = 0; i < sizeof a.times; i++) assert_true(a.times[i] <= 1);
  clt_tune_result_free(whole);
  clt_tune_result_free(part);
  clt_store_free(store);
  clt_store_free(resumed);
  clt_space_free(space);
}

/* Lets the time limit pass while the tenth result is reported. */
static void dawdle(void *user, const clt_progress *progress) {
  const double *limit_s = user;
  double start_s = clt_now_s();
  while (progress->done == 10 && clt_now_s() - start_s < *limit_s) continue;
}

static void the_time_limit_is_obeyed(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  double limit_s = 2;
  clt_tune_settings settings = settings_for(space, "random", 1000);
  clt_tune_result *result;
  settings.time_s = limit_s;
  settings.progress = dawdle;
  settings.user = &limit_s;
  assert_int_equal(tune(&result, &settings), 0);
  assert_in_range(result->evaluations, 0, 10); /* fewer if the processor was busy with other work for so long */
  assert_true(result->stopped);
  clt_tune_result_free(result);
  clt_space_free(space);
}

/* --- results --- */

static void aliases_are_not_measured_twice(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  clt_store *store = memory_store();
  clt_tune_settings settings = settings_for(space, "exhaustive", 0);
  clt_tune_result *result;
  settings.store = store;
  assert_int_equal(tune(&result, &settings), 0);
  assert_int_equal(result->valid, clt_space_valid(space));
  assert_int_equal(result->measured, result->evaluations);
  struct seen seen = records(store, space);
  int64_t n = 0;
  for (clt_config config = 0; config < result->cartesian; config++) {
    bool expected = clt_space_contains(space, config) && clt_space_canonical(space, config) == config;
    assert_int_equal(seen.times[config], expected);
    n += expected;
  }
  assert_int_equal(result->measured, n);
  assert_true(n < (int64_t)result->valid);
  clt_tune_result_free(result);
  clt_store_free(store);
  clt_space_free(space);
}

static void two_stage_comes_close_to_the_optimum(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting synthetic[] = {{"optimum", "0.001"}, {"noise", "0.01"}, {"capacity", "3"}};
  const clt_setting stages[] = {{"samples", "200"}, {"second-stage", "50"}};
  int close = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    clt_tune_settings settings = settings_for(space, "two-stage", 0);
    clt_tune_result *result;
    settings.seed = seed;
    settings.evaluator_settings = synthetic;
    settings.n_evaluator_settings = 3;
    settings.searcher_settings = stages;
    settings.n_searcher_settings = 2;
    assert_int_equal(tune(&result, &settings), 0);
    assert_int_equal(result->evaluations, 250);
    assert_true(result->search->has_model && result->search->model.mean_relative_error > 0);
    assert_true(note(result, "second_stage_measured") == 50);
    assert_true(2 * note(result, "second_stage_failed") < 50);
    close += result->best.time_s < 1.1e-3;
    clt_tune_result_free(result);
  }
  assert_true(close >= 4);
  clt_space_free(space);
}

static int count_finalists(void *user, clt_record_kind kind, const clt_measurement *measurement) {
  (void)measurement;
  *(int *)user += kind == CLT_RECORD_FINALIST;
  return 0;
}

static void finalists_are_timed_again_and_kept(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store = memory_store();
  clt_tune_settings settings = settings_for(space, "random", 400);
  clt_tune_result *result;
  clt_store_key key;
  int n = 0;
  settings.store = store;
  settings.finalists = 4;
  assert_int_equal(tune(&result, &settings), 0);
  assert_true(result->best_is_finalist);
  assert_int_equal(result->evaluations, 400);
  assert_true(result->best.n_runs >= 5 && result->best_spread >= 0);
  assert_true(result->best.time_s == clt_median(result->best.runs_s, result->best.n_runs));
  assert_int_equal(clt_store_each_key(store, true, count_key, &key, NULL), 0);
  assert_int_equal(clt_store_each(store, &key, space, count_finalists, &n, NULL, NULL), 0);
  assert_in_range(n, 1, 4);
  clt_tune_result_free(result);
  clt_store_free(store);
  clt_space_free(space);
}

/* --- failures --- */

static void nothing_valid_is_said_so(void **state) {
  (void)state;
  clt_space_builder *builder;
  clt_space *space;
  clt_value values[] = {{CLT_INT, .integer = 1}, {CLT_INT, .integer = 2}};
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "a", values, 2, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "a > 5", CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  clt_tune_settings settings = settings_for(space, "random", 10);
  clt_tune_result *result;
  clt_error error = {0};
  assert_int_equal(clt_tune_run(&result, &settings, &error), CLT_E_NO_VALID);
  assert_int_equal(result->cartesian, 2);
  assert_int_equal(result->valid, 0);
  assert_non_null(strstr(error.message, "constraints"));
  clt_tune_result_free(result);
  clt_space_free(space);
}

static void unknown_names_are_refused(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting bad = {"smaples", "3"};
  clt_tune_result *result;
  clt_tune_settings settings = settings_for(space, "no such", 10);
  assert_int_equal(clt_tune_run(&result, &settings, NULL), CLT_E_NOT_FOUND);
  clt_tune_result_free(result);
  settings = settings_for(space, "random", 10);
  settings.evaluator = "no such";
  assert_int_equal(clt_tune_run(&result, &settings, NULL), CLT_E_NOT_FOUND);
  clt_tune_result_free(result);
  settings = settings_for(space, "two-stage", 10);
  settings.searcher_settings = &bad;
  settings.n_searcher_settings = 1;
  assert_int_equal(clt_tune_run(&result, &settings, NULL), CLT_E_ARGUMENT);
  clt_tune_result_free(result);
  settings = settings_for(NULL, "random", 10);
  assert_int_equal(clt_tune_run(&result, &settings, NULL), CLT_E_ARGUMENT);
  clt_tune_result_free(result);
  clt_space_free(space);
}

/* --- replay --- */

/* Writes the bench space as a cache file; with `failing` nothing is correct. Returns the path, to be freed and removed.
 */
static char *write_recording(const clt_space *space, bool failing) {
  char *path = strdup("/tmp/clatune-session-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *out = fdopen(fd, "w");
  fprintf(out,
          "{\"device_name\": \"none\", \"kernel_name\": \"bowl\", \"tune_params_keys\": [\"a\", \"b\", \"c\", \"d\", "
          "\"e\"],\n\"tune_params\": {");
  for (size_t p = 0; p < 5; p++) {
    const clt_parameter *parameter = clt_space_parameter(space, p);
    fprintf(out, "%s\"%s\": [", p ? ", " : "", parameter->name);
    for (size_t v = 0; v < parameter->n_values; v++)
      fprintf(out, "%s%lld", v ? ", " : "", (long long)parameter->values[v].integer);
    fputc(']', out);
  }
  fprintf(out, "},\n\"cache\": {\n");
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++) {
    clt_config config = clt_space_at(space, rank);
    fprintf(out, "%s\"", rank ? ",\n" : "");
    for (size_t p = 0; p < 5; p++)
      fprintf(out, "%s%lld", p ? "," : "", (long long)clt_space_value(space, config, p).integer);
    fprintf(out, "\": {");
    for (size_t p = 0; p < 5; p++)
      fprintf(out, "\"%s\": %lld, ", clt_space_parameter(space, p)->name,
              (long long)clt_space_value(space, config, p).integer);
    double time_ms = 1e3 * bench_bowl_failing(space, config);
    if (failing || isnan(time_ms)) {
      fprintf(out, "\"time\": \"RuntimeFailedConfig\"}");
    } else {
      char number[40];
      clt_snprintf(number, sizeof number, "%.17g", time_ms);
      fprintf(out, "\"time\": %s, \"times\": [%s]}", number, number);
    }
  }
  fprintf(out, "}}\n");
  assert_int_equal(fclose(out), 0);
  return path;
}

static clt_recording *a_recording(const clt_space *space, bool failing) {
  clt_recording *recording;
  clt_error error = {0};
  char *path = write_recording(space, failing);
  int rc = clt_recording_new(&recording, path, &error);
  if (rc) print_message("%s\n", error.message);
  assert_int_equal(rc, 0);
  unlink(path);
  free(path);
  return recording;
}

static void a_recording_is_searched(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_recording *recording = a_recording(space, false);
  clt_tune_settings settings = settings_for(NULL, "exhaustive", 0);
  clt_tune_result *result;
  settings.evaluator = "replay";
  settings.recording = recording;
  assert_int_equal(tune(&result, &settings), 0);
  assert_int_equal(result->evaluations, clt_space_valid(space));
  assert_true(result->best.time_s == recording->optimum_s);
  clt_tune_result_free(result);
  settings.searcher = "two-stage";
  settings.budget = 300;
  assert_int_equal(tune(&result, &settings), 0);
  assert_int_equal(result->evaluations, 300);
  assert_true(result->best.time_s <= 1.05 * recording->optimum_s);
  assert_true(2 * note(result, "second_stage_failed") < note(result, "second_stage_measured"));
  clt_tune_result_free(result);
  clt_recording_free(recording);
  clt_space_free(space);
}

static void where_all_fails_the_reasons_are_counted(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_recording *recording = a_recording(space, true);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    clt_tune_settings settings = settings_for(NULL, clt_plugin_name(&clt_searchers, i), 50);
    clt_tune_result *result;
    clt_error error = {0};
    settings.evaluator = "replay";
    settings.recording = recording;
    assert_int_equal(clt_tune_run(&result, &settings, &error), CLT_E_NO_VALID);
    assert_int_equal(result->evaluations, 50);
    assert_int_equal(clt_tune_n_invalid(result, CLT_RUNTIME), 50);
    assert_true(result->best.config == CLT_CONFIG_NONE);
    assert_non_null(strstr(error.message, "50 runtime"));
    clt_tune_result_free(result);
  }
  clt_recording_free(recording);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_budget_is_used_up_exactly),
      cmocka_unit_test(only_what_is_like_the_recorded_searches_is_comparable),
      cmocka_unit_test(settings_say_how_large_they_are),
      cmocka_unit_test(a_list_is_evaluated_in_its_order),
      cmocka_unit_test(a_second_run_measures_nothing),
      cmocka_unit_test(what_is_known_is_measured_again_on_request),
      cmocka_unit_test(a_stop_is_obeyed_and_the_result_filled),
      cmocka_unit_test(a_resumed_search_equals_an_uninterrupted_one),
      cmocka_unit_test(the_time_limit_is_obeyed),
      cmocka_unit_test(aliases_are_not_measured_twice),
      cmocka_unit_test(two_stage_comes_close_to_the_optimum),
      cmocka_unit_test(finalists_are_timed_again_and_kept),
      cmocka_unit_test(nothing_valid_is_said_so),
      cmocka_unit_test(unknown_names_are_refused),
      cmocka_unit_test(a_recording_is_searched),
      cmocka_unit_test(where_all_fails_the_reasons_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
