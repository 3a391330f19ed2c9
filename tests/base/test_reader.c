/* Lines of members in a JSON text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/reader.h"

static const char text[] =
    "{\n"
    "  \"General\": {\"Name\": \"a } \\\" ] b\"},\n"  /* 2 */
    "  \"Space\": {\n"                                /* 3 */
    "    \"Parameters\": [\n"                         /* 4 */
    "      {\"Name\": \"x\",\n"                       /* 5 */
    "       \"Values\": [1, [2, 3], {\"a\": []}]},\n" /* 6 */
    "      {\"Name\": \"y\", \"Values\":\n"           /* 7 */
    "        \"[1, 2]\"}\n"                           /* 8 */
    "    ],\n"
    "    \"ParametersX\": 1\n" /* 10 */
    "  },\n"
    "  \"Last\"\n" /* 12 */
    "  : {\n"
    "  }\n"
    "}\n";

static void members_and_items_are_found(void **state) {
  (void)state;
  static const struct {
    const char *key;
    int line;
  } cases[] = {{"General", 2},
               {"General.Name", 2},
               {"Space", 3},
               {"Space.Parameters", 4},
               {"Space.Parameters[0]", 5},
               {"Space.Parameters[0].Values", 6},
               {"Space.Parameters[0].Values[1]", 6},
               {"Space.Parameters[0].Values[1][1]", 6},
               {"Space.Parameters[1]", 7},
               {"Space.Parameters[1].Values", 7},
               {"Space.ParametersX", 10},
               {"Last", 12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (clt_json_line(text, cases[i].key) != cases[i].line)
      fail_msg("%s: line %d", cases[i].key, clt_json_line(text, cases[i].key));
}

static void what_is_missing_has_the_line_of_its_parent(void **state) {
  (void)state;
  assert_int_equal(clt_json_line(text, "Space.Parameters[1].Type"), 7);
  assert_int_equal(clt_json_line(text, "Space.Parameters[7].Type"), 4);
  assert_int_equal(clt_json_line(text, "Space.Nothing.Here"), 3);
  assert_int_equal(clt_json_line(text, "Nothing"), 1);
  assert_int_equal(clt_json_line(text, ""), 0);
}

static void broken_texts_and_keys_are_survived(void **state) {
  (void)state;
  static const char *const keys[] = {"Space.Parameters[0].Values[2].a", "a[", "[3].b", "a[x]", "..", "Last"};
  char cut[sizeof text];
  for (size_t n = 0; n < sizeof text; n++) {
    memcpy(cut, text, n);
    cut[n] = 0;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) assert_true(clt_json_line(cut, keys[k]) >= 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_and_items_are_found),
      cmocka_unit_test(what_is_missing_has_the_line_of_its_parent),
      cmocka_unit_test(broken_texts_and_keys_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
