/* Text drawn from documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/draw.h"

static const char document_text[] =
    "{\"space\": {\"valid\": 12}, \"store\": \"a b\", \"empty\": \"\", \"none\": null, \"zero\": 0, \"stopped\": true,"
    " \"clock\": \"device\", \"other\": \"device\", \"share\": 0.12345, \"time_s\": 0.0015, \"bytes\": 3072,"
    " \"runs\": [1, 2, 3], \"one\": [7], \"unit\": \"GB/s\", \"reason\": \"wrong-output\", \"error\": 0.02,"
    " \"confidence\": 0.99, \"items\": [{\"name\": \"a\", \"value\": 1}, {\"name\": \"b\"}, {\"name\": \"c\", "
    "\"value\": 3}],"
    " \"m\": {\"time_s\": 0.002, \"figure\": null, \"interval\": 0.9, \"interval_low\": 0.001, \"interval_high\": "
    "0.004,"
    " \"interval_confidence\": 0.95}, \"figure\": {\"value\": 1, \"unit\": \"x\"}}";

static json_t *load(void) {
  json_t *json = json_loads(document_text, 0, NULL);
  assert_non_null(json);
  return json;
}

/* expected NULL: something is missing, and nothing is drawn. */
static void expect(const char *form, const char *expected) {
  json_t *json = load();
  clt_text text = {0};
  assert_int_equal(clt_draw_form(&text, json, form), expected != NULL);
  assert_string_equal(text.bytes ? text.bytes : "", expected ? expected : "");
  clt_text_release(&text);
  json_decref(json);
}

static void test_members(void **state) {
  (void)state;
  expect("{space.valid} of {store}", "12 of a b");
  expect("{none}", NULL);
  expect("{missing.deeper}", NULL);
  expect("before {empty}", NULL);
  expect("{zero}", "0");
  expect("\\[{clock}\\] 100 \\{", "[device] 100 {");
}

static void test_alternatives(void **state) {
  (void)state;
  expect("a[ {none}]b", "ab");
  expect("[{none}|{store}|c]", "a b");
  expect("[{none}|[{empty}|in {clock}] out]", "in device out");
  expect("{none}|whole", "whole");
  expect("[{store}|{clock}] end", "a b end");
  expect("[*items:{name}={value}]", "a=1, c=3");
  expect("none[*missing:{name}]", "none");
}

static void test_tests(void **state) {
  (void)state;
  expect("{?stopped}yes", "yes");
  expect("{!stopped}yes", NULL);
  expect("{?zero}yes", NULL);
  expect("{!none}{!missing}yes", "yes");
  expect("{?clock=device}{?clock!=host}{?clock=$other}{?runs>2}{?runs=3}{?store~ b}yes", "yes");
  expect("{?clock=host}yes", NULL);
  expect("{?none=0}yes", NULL);
  expect("{?runs>3}yes", NULL);
}

static void test_formats(void **state) {
  (void)state;
  expect("{share:.3g} {share:.2%} {share:%}", "0.123 12 % 12 %");
  expect("{time_s:time} {time_s:in unit} {bytes:bytes}", "1.5 ms 0.0015 GB/s 3 KiB");
  expect("{runs:n} run{runs:s}, {one:n} run{one:s}", "3 runs, 1 run");
  expect("{runs:x} {bytes:7}", "1 x 2 x 3    3072");
  expect("{reason:reason}{error:pm confidence}", "the result differs from the reference +- 2 % (95 %)");
  expect("{m:figure}", "2 ms");
  expect("{m:median}", "2 ms, 1 ms to 4 ms (95 %)");
}

static void test_layout(void **state) {
  static const clt_line inner[] = {{"{name}", "{value}[ in {clock}][{?first} first]"}};
  static const clt_text_layout items = CLT_TEXT_LAYOUT(2, 4, inner);
  static const clt_line lines[] = {{"label", "{store}"},
                                   {"left out", "{none}"},
                                   {.each = "items", .item = &items},
                                   {"[{?first}runs]", "{.}", .each = "runs"},
                                   {.form = "end\n"}};
  static const clt_text_layout layout = CLT_TEXT_LAYOUT(0, 7, lines);
  (void)state;
  json_t *json = load();
  clt_text text = {0};
  clt_draw_layout(&text, json, &layout);
  assert_string_equal(text.bytes,
                      "label  a b\n  a   1 in device first\n  c   3 in device\nruns   1\n       2\n       3\nend\n");
  clt_text_release(&text);
  json_decref(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_members), cmocka_unit_test(test_alternatives),
                                     cmocka_unit_test(test_tests), cmocka_unit_test(test_formats),
                                     cmocka_unit_test(test_layout)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
