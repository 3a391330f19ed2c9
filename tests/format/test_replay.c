/* The evaluator that answers from a recording. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clatune/recording.h"
#include "eval/evaluators.h"
#include "base/plugin.h"

static const char cache[] =
    "{\"tune_params\": {\"a\": [1, 2, 3, 4]}, \"cache\": {"
    "\"1\": {\"time\": 2.0, \"times\": [1.0, 2.0, 3.0]}, \"2\": {\"time\": \"RuntimeFailedConfig\"},"
    "\"4\": {\"time\": 8.0}}}";

static int load_recording(void **state) {
  char path[] = "/tmp/clatune-replay-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0 || write(fd, cache, sizeof cache - 1) != sizeof cache - 1) return -1;
  close(fd);
  int rc = clt_recording_new((clt_recording **)state, path, NULL);
  unlink(path);
  return rc;
}

static int free_recording(void **state) {
  clt_recording_free(*state);
  return 0;
}

static void *open_replay(const clt_recording *recording, uint64_t seed, const char *noise, const char *capacity) {
  const clt_evaluator_type *type = &clt_evaluator_replay;
  const clt_setting settings[] = {{"noise", noise}, {"capacity", capacity}};
  const clt_evaluator_setup setup = {.space = clt_recording_space(recording), .recording = recording, .seed = seed};
  void *options = malloc(type->options_size), *state = calloc(1, type->state_size);
  assert_int_equal(clt_options_parse(options, type->options_size, type->options, type->n_options, settings, 2, NULL),
                   0);
  clt_evaluator_limits limits;
  assert_int_equal(type->open(state, &setup, options, &limits, NULL), 0);
  assert_int_equal(limits.capacity, strtol(capacity, NULL, 10));
  free(options);
  return state;
}

static void close_replay(void *replay) {
  clt_evaluator_replay.close(replay);
  free(replay);
}

static clt_measurement evaluate(void *replay, clt_config config) {
  clt_measurement m;
  assert_int_equal(clt_evaluator_replay.submit(replay, config, 0, NULL), 0);
  assert_int_equal(clt_evaluator_replay.wait(replay, &m, 1, NULL), 0);
  assert_int_equal(m.config, config);
  return m;
}

static void without_noise_the_recorded_mean_is_the_answer(void **state) {
  void *replay = open_replay(*state, 1, "no", "1");
  clt_measurement m = evaluate(replay, 0);
  assert_true(m.time_s == 2e-3 && m.n_runs == 3);
  m = evaluate(replay, 3);
  assert_true(m.time_s == 8e-3 && m.n_runs == 0);
  m = evaluate(replay, 1);
  assert_int_equal(m.reason, CLT_REASON_RUN_ERROR);
  assert_true(isnan(m.time_s));
  close_replay(replay);
}

static void with_noise_a_recorded_run_is_drawn_by_the_seed(void **state) {
  bool seen[4] = {false};
  for (uint64_t seed = 0; seed < 64; seed++) {
    void *replay = open_replay(*state, seed, "yes", "1");
    clt_measurement first = evaluate(replay, 0), again = evaluate(replay, 0);
    assert_int_equal(first.n_runs, 1);
    assert_true(first.time_s == again.time_s && first.runs_s[0] == first.time_s);
    long ms = lround(first.time_s * 1e3);
    assert_in_range(ms, 1, 3);
    seen[ms] = true;
    assert_true(evaluate(replay, 3).time_s == 8e-3); /* no runs to draw from */
    assert_int_equal(evaluate(replay, 1).reason, CLT_REASON_RUN_ERROR);
    close_replay(replay);
  }
  assert_true(seen[1] && seen[2] && seen[3]);
}

static void as_many_as_its_capacity_are_under_way(void **state) {
  const clt_evaluator_type *type = &clt_evaluator_replay;
  void *replay = open_replay(*state, 1, "no", "2");
  clt_measurement m;
  for (int round = 0; round < 3; round++) {
    assert_int_equal(type->wait(replay, &m, 0, NULL), CLT_E_AGAIN);
    assert_int_equal(type->submit(replay, 3, 0, NULL), 0);
    assert_int_equal(type->submit(replay, 0, 0, NULL), 0);
    assert_int_equal(type->submit(replay, 1, 0, NULL), CLT_E_ARGUMENT);
    assert_int_equal(type->wait(replay, &m, 0, NULL), 0);
    assert_int_equal(m.config, 3);
    assert_int_equal(type->submit(replay, 1, 0, NULL), 0); /* over the end of the ring */
    assert_int_equal(type->wait(replay, &m, 0, NULL), 0);
    assert_int_equal(m.config, 0);
    assert_int_equal(type->wait(replay, &m, 0, NULL), 0);
    assert_int_equal(m.config, 1);
  }
  close_replay(replay);
}

static void what_was_not_recorded_cannot_be_replayed(void **state) {
  void *replay = open_replay(*state, 1, "no", "1");
  clt_error error = {0};
  assert_int_equal(clt_evaluator_replay.submit(replay, 2, 0, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "clatune-replay-"));
  close_replay(replay);
  const clt_evaluator_setup setup = {.space = clt_recording_space(*state)};
  char chosen[64] = {0}, *memory = calloc(1, clt_evaluator_replay.state_size);
  assert_non_null(memory);
  assert_true(clt_evaluator_replay.options_size <= sizeof chosen);
  assert_int_equal(clt_evaluator_replay.open(memory, &setup, chosen, &(clt_evaluator_limits){0}, &(clt_error){0}),
                   CLT_E_ARGUMENT);
  clt_evaluator_replay.close(memory);
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_noise_the_recorded_mean_is_the_answer),
      cmocka_unit_test(with_noise_a_recorded_run_is_drawn_by_the_seed),
      cmocka_unit_test(as_many_as_its_capacity_are_under_way),
      cmocka_unit_test(what_was_not_recorded_cannot_be_replayed),
  };
  return cmocka_run_group_tests(tests, load_recording, free_recording);
}
