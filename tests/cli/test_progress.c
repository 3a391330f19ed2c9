/* The line that shows the progress of a tuning. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../search/bench.h"
#include "cli/cli.h"
#include "session/session.h"

static char said[4000];

/* Shows an evaluation count at a time, each in a phase of its own, as lines otherwise follow each other in 10 s. */
static void show(cli_progress *progress, int64_t measured, double elapsed_s, const char *waits) {
  static char phase[2] = "a";
  clt_tune_result *result = clt_result_new();
  FILE *const before = stderr;
  char *text = NULL;
  size_t n = 0;
  assert_non_null(result);
  result->measured = measured;
  phase[0]++;
  const clt_progress now = {.phase = phase,
                            .done = measured,
                            .total = 100,
                            .so_far = result,
                            .best_value = NAN,
                            .elapsed_s = elapsed_s,
                            .waits = waits};
  assert_non_null(stderr = open_memstream(&text, &n));
  cli_progress_update(progress, &now);
  fclose(stderr);
  stderr = before;
  snprintf(said, sizeof said, "%s", text);
  free(text);
  clt_tune_result_free(result);
}

static clt_space *space;
static clt_objective *objective;

static int set_up(void **state) {
  (void)state;
  space = bench_space(false);
  return clt_objective_new_for(&objective, space, NULL, 0, NULL, NULL, NULL);
}

static int tear_down(void **state) {
  (void)state;
  clt_objective_free(objective);
  clt_space_free(space);
  return 0;
}

static void what_is_waited_for_is_said(void **state) {
  (void)state;
  cli_progress progress;
  cli_progress_init(&progress, false, objective);
  progress.terminal = false;
  show(&progress, 10, 10, NULL);
  assert_non_null(strstr(said, "10/100  1/s  best -  left 1m30s\n"));
  show(&progress, 10, 20, "compiling a configuration for 10 s (limit 60 s)");
  assert_non_null(strstr(said, "10/100  best -  left 3m00s: compiling a configuration for 10 s (limit 60 s)\n"));
  show(&progress, 100, 200, NULL);
  assert_null(strstr(said, "left"));
}

/* 90 s were left, for evaluations of 1 s. */
static void time_left_does_not_grow_in_silence(void **state) {
  (void)state;
  cli_progress progress;
  cli_progress_init(&progress, false, objective);
  progress.terminal = false;
  show(&progress, 10, 10, NULL);
  show(&progress, 11, 20, NULL); /* less than twice */
  assert_null(strstr(said, "before"));
  show(&progress, 14, 50, NULL);
  assert_non_null(
      strstr(said, "left 5m07s; before, 1m30s was expected: evaluations took 1 s each, and take 10 s now\n"));
  show(&progress, 14, 60, NULL);
  assert_null(strstr(said, "before"));
  show(&progress, 14, 250, NULL);
  assert_non_null(strstr(said, "no evaluation has ended for 3m20s\n"));
}

static void many_inputs_with_one_remark_are_counted(void **state) {
  (void)state;
  static const char *const names[] = {"nudged inputs", "NaN", "infinities", "spikes 1"};
  for (size_t n = 3; n <= 4; n++) {
    json_t *checks = json_array();
    for (size_t i = 0; i < n; i++)
      json_array_append_new(checks, json_pack("{s:s, s:s, s:b, s:s}", "sizes", "n=77", "inputs", names[i], "passed", 0,
                                              "why", "no time was left"));
    FILE *const before = stdout;
    char *text = NULL;
    size_t length = 0;
    assert_non_null(stdout = open_memstream(&text, &length));
    cli_draw_checks("verified", checks, 20);
    fclose(stdout);
    stdout = before;
    assert_non_null(strstr(text, n == 3 ? "nudged inputs, NaN, infinities at n=77: no time was left\n"
                                        : "nudged inputs and 3 others at n=77: no time was left\n"));
    free(text);
    json_decref(checks);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_waited_for_is_said),
                                     cmocka_unit_test(time_left_does_not_grow_in_silence),
                                     cmocka_unit_test(many_inputs_with_one_remark_are_counted)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
