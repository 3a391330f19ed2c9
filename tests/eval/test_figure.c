/* Figures of merit in texts, and the texts of the batch protocol. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eval/command.h"

static void expect(const clt_figure *figure, const char *text, clt_reason reason, double expected) {
  char why[200] = "";
  double x = NAN;
  clt_reason got = clt_figure_read(&x, figure, text, why, sizeof why);
  if (got != reason) fail_msg("'%s': %s (%s)", text, clt_reason_name(got), why);
  if (reason == CLT_REASON_NONE && x != expected) fail_msg("'%s': %g", text, x);
  if (reason != CLT_REASON_NONE) assert_true(why[0] != 0);
}

static void a_plain_text_is_a_number(void **state) {
  (void)state;
  const clt_figure plain = {.scale = 1};
  expect(&plain, "1.5", CLT_REASON_NONE, 1.5);
  expect(&plain, "\n  2e-3 seconds\nand more", CLT_REASON_NONE, 2e-3);
  expect(&plain, "", CLT_REASON_NO_FIGURE, 0);
  expect(&plain, " \n", CLT_REASON_NO_FIGURE, 0);
  expect(&plain, "fast", CLT_REASON_BAD_FIGURE, 0);
  expect(&plain, "1.2.3", CLT_REASON_BAD_FIGURE, 0);
}

static void the_last_match_of_a_pattern_counts(void **state) {
  (void)state;
  clt_figure figure = {.scale = 1, .pattern = "time: ([^ \n]+)"};
  expect(&figure, "time: 1\ntime: 2 ms\nend", CLT_REASON_NONE, 2);
  expect(&figure, "no such line", CLT_REASON_NO_FIGURE, 0);
  expect(&figure, "", CLT_REASON_NO_FIGURE, 0);
  expect(&figure, "time: soon", CLT_REASON_BAD_FIGURE, 0);
  figure.pattern = "^[0-9]+$"; /* without a group it is the whole match; ^ is any line's beginning */
  expect(&figure, "12\nx 13\n14\n", CLT_REASON_NONE, 14);
  figure.pattern = "x*"; /* matches nothing, everywhere */
  expect(&figure, "aaa", CLT_REASON_BAD_FIGURE, 0);
}

static void json_may_stand_among_other_lines(void **state) {
  (void)state;
  clt_figure figure = {.scale = 1, .member = "result.times.1"};
  expect(&figure, "{\"result\": {\"times\": [1, 2.5]}}", CLT_REASON_NONE, 2.5);
  expect(&figure, "hello\n{\"result\": {\"times\": [1, 3]}}\nbye\n", CLT_REASON_NONE, 3);
  expect(&figure, "{\"result\": {\"times\": [1]}}", CLT_REASON_NO_FIGURE, 0);
  expect(&figure, "{\"result\": {\"times\": [1, \"2\"]}}", CLT_REASON_BAD_FIGURE, 0);
  expect(&figure, "{broken", CLT_REASON_NO_FIGURE, 0);
  expect(&figure, "", CLT_REASON_NO_FIGURE, 0);
}

static void figures_keep_their_unit(void **state) {
  (void)state;
  double x;
  const clt_figure ms = {.scale = 1e-3, .unit = "s"}, larger = {.scale = 1, .unit = "", .larger_is_better = true};
  assert_true(clt_figure_scale(&x, &ms, 5) && x == 5e-3 && clt_figure_cost(&ms, x) == 5e-3);
  assert_true(clt_figure_scale(&x, &larger, 4) && x == 4 && clt_figure_cost(&larger, x) == 0.25);
  const clt_figure seconds = {.scale = 1e-3, .unit = "s"}, score = {.scale = 1, .unit = "points"};
  const double bad[] = {NAN, INFINITY, 0, -1};
  for (int i = 0; i < 4; i++) assert_false(clt_figure_scale(&x, &seconds, bad[i])); /* only times are above 0 */
  for (int i = 0; i < 4; i++) assert_int_equal(clt_figure_scale(&x, &score, bad[i]), i >= 2);
  assert_true(clt_figure_cost(&score, -1) < clt_figure_cost(&score, 0));
}

/* Runs that took 3 s, 2 s, ... */
static clt_measurement runs_of(const clt_figure *figure) {
  const double values[] = {4, 1, 1, 10};
  clt_measurement m;
  clt_measurement_init(&m, 0);
  for (int i = 0; i < 4; i++) clt_figure_put_run(&m, figure, values[i], 3 - 0.5 * i);
  assert_int_equal(m.n_runs, 4);
  return m;
}

static void runs_are_summed_up(void **state) {
  (void)state;
  static const double of_times[] = {1, 2.5, 4}, of_walls[] = {1.5, 2.25, 2.25}, of_points[] = {10, 2.5, 4};
  for (int i = CLT_STATISTIC_MINIMUM; i <= CLT_STATISTIC_MEAN; i++) {
    const clt_figure time = {.statistic = (clt_statistic)i, .unit = "s"};
    const clt_figure points = {.statistic = (clt_statistic)i, .unit = "points", .larger_is_better = true};
    clt_measurement m = runs_of(&time);
    assert_true(m.time_s == of_times[i] && m.runs_s[3] == 10 && isnan(m.figure));
    m = runs_of(&points);
    assert_true(m.time_s == of_walls[i] && m.runs_s[3] == 1.5);
    assert_true(m.figure == of_points[i] && m.figures[3] == 10);
  }
}

static void seconds_may_be_unknown(void **state) {
  (void)state;
  const clt_figure points = {.unit = "points"}, time = {.unit = "s"};
  clt_measurement m;
  clt_measurement_init(&m, 0);
  clt_figure_put_run(&m, &points, 7, NAN);
  assert_true(m.n_runs == 1 && isnan(m.time_s) && isnan(m.runs_s[0]) && m.figure == 7);
  clt_measurement_init(&m, 0);
  clt_figure_put_run(&m, &time, 7, NAN);
  assert_true(m.time_s == 7 && m.runs_s[0] == 7 && isnan(m.figure));
}

/* --- batches --- */

static clt_space *three_by_four(void) {
  const clt_value values[] = {{.type = CLT_INT, .integer = 10},
                              {.type = CLT_INT, .integer = 20},
                              {.type = CLT_INT, .integer = 30},
                              {.type = CLT_INT, .integer = 40}};
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "a", values, 3, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "b", values, 4, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static clt_config at(const clt_space *space, uint32_t a, uint32_t b) {
  return clt_space_from_positions(space, (const uint32_t[]){a, b});
}

static void a_question_has_positions(void **state) {
  (void)state;
  clt_space *space = three_by_four();
  const clt_evaluation queue[] = {{.config = at(space, 2, 3), .stage = CLT_EVALUATION_RUNNING},
                                  {.config = at(space, 1, 1), .stage = CLT_EVALUATION_DONE},
                                  {.config = at(space, 0, 1), .stage = CLT_EVALUATION_RUNNING},
                                  {.config = at(space, 0, 0), .stage = CLT_EVALUATION_BUILT}};
  char *text = clt_batch_question(space, queue, 4);
  assert_string_equal(text, "2 2\n2 3\n0 1\n");
  free(text);
  clt_space_free(space);
}

static void answers_are_found_in_other_text(void **state) {
  (void)state;
  clt_space *space = three_by_four();
  const clt_evaluation queue[] = {{.config = at(space, 2, 3), .stage = CLT_EVALUATION_RUNNING},
                                  {.config = at(space, 0, 1), .stage = CLT_EVALUATION_RUNNING},
                                  {.config = at(space, 1, 1), .stage = CLT_EVALUATION_DONE}};
  static const struct {
    const char *line;
    int index;
    double number;
  } cases[] = {{"2 3 0.5", 0, 0.5},
               {"0 1 -1", 1, -1},
               {"0,1,1e-3", 1, 1e-3},
               {"[worker] result: 0 1 0.25 ms", 1, 0.25},
               {"7: 2 3 = 4.5", 0, 4.5},
               {"evaluating 0 1 ...", -1, 0},
               {"evaluating 0 1", -1, 0},
               {"1 1 0.5", -1, 0}, /* has been answered */
               {"1 2 0.5", -1, 0}, /* was not asked */
               {"3 3 0.5", -1, 0},
               {"2 3", -1, 0},
               {"", -1, 0},
               {"0.5 2 3", -1, 0},
               {"-2 3 0.5", -1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t index = 99;
    double number = NAN;
    bool found = clt_batch_answer(cases[i].line, strlen(cases[i].line), space, queue, 3, &index, &number);
    if (found != (cases[i].index >= 0)) fail_msg("'%s'", cases[i].line);
    if (found && ((int)index != cases[i].index || number != cases[i].number))
      fail_msg("'%s': %g", cases[i].line, number);
  }
  size_t index;
  double number;
  assert_true(clt_batch_answer("2 3 nothing", 11, space, queue, 3, &index, &number) && isnan(number));
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_plain_text_is_a_number),
                                     cmocka_unit_test(the_last_match_of_a_pattern_counts),
                                     cmocka_unit_test(json_may_stand_among_other_lines),
                                     cmocka_unit_test(figures_keep_their_unit),
                                     cmocka_unit_test(runs_are_summed_up),
                                     cmocka_unit_test(seconds_may_be_unknown),
                                     cmocka_unit_test(a_question_has_positions),
                                     cmocka_unit_test(answers_are_found_in_other_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
