/* The search quality that `clatune tune` prints: the table's row, and nothing if no recorded search is like this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cli/tuning.h"

static const clt_tune_settings settings = {.searcher = "random"};
static const clt_tune_result result = {.evaluations = 210, .valid = 5000, .best = {.config = 7}, .comparable = true};

static void the_nearest_lower_budget_is_quoted(void **state) {
  (void)state;
  const clt_certainty *row = clt_certainty_find("random", 200);
  char text[200], share[32];
  assert_true(cli_certainty_text(text, &settings, &result));
  assert_non_null(strstr(text, " searches of 200 evaluations ended "));
  assert_non_null(strstr(text, cli_share(share, row->missed)));
  assert_non_null(strstr(text, "more than 2 % behind the optimum; mean loss "));
  assert_null(strstr(text, "probab"));
  json_t *json = cli_certainty_json(&settings, &result);
  assert_int_equal(json_integer_value(json_object_get(json, "evaluations")), 200);
  assert_int_equal(json_integer_value(json_object_get(json, "searches")), row->searches);
  assert_true(json_real_value(json_object_get(json, "missed")) == row->missed);
  assert_true(json_real_value(json_object_get(json, "mean_loss")) == row->mean_loss);
  assert_string_equal(json_string_value(json_object_get(json, "searcher")), "random");
  json_decref(json);
}

static void says_nothing(const clt_tune_settings *s, const clt_tune_result *r) {
  char text[200];
  json_t *json = cli_certainty_json(s, r);
  assert_false(cli_certainty_text(text, s, r));
  assert_true(json_is_null(json));
  json_decref(json);
}

static void nothing_is_quoted_for_what_was_not_recorded(void **state) {
  (void)state;
  clt_tune_settings s = settings;
  clt_tune_result r = result;
  r.evaluations = 24;
  json_t *json = cli_certainty_json(&settings, &r);
  char text[200];
  assert_true(cli_certainty_text(text, &settings, &r));
  assert_non_null(strstr(text, "not known for fewer than 25 evaluations"));
  assert_true(json_is_null(json));
  json_decref(json);
  r = result;
  r.comparable = false;
  says_nothing(&settings, &r);
  s.searcher = "of somebody else";
  says_nothing(&s, &result);
}

static void shares_have_few_digits(void **state) {
  (void)state;
  static const struct {
    double share;
    const char *text;
  } cases[] = {{0, "no"},
               {0.012, "about 1 in 83"},
               {0.21, "about 1 in 5"},
               {0.32, "about 1 in 3"},
               {0.4, "about 4 in 10"},
               {0.49, "about 1 in 2"},
               {0.7, "about 7 in 10"},
               {0.97, "nearly all"},
               {1, "nearly all"}};
  char text[32];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(cli_share(text, cases[i].share), cases[i].text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nearest_lower_budget_is_quoted),
      cmocka_unit_test(nothing_is_quoted_for_what_was_not_recorded),
      cmocka_unit_test(shares_have_few_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
