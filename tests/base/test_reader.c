/* Reading JSON that people write: lines of members, and the first mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"

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

static void read_text(clt_source *source, const char *json) {
  char path[] = "/tmp/clatune-test-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, json, strlen(json)), (ssize_t)strlen(json));
  close(fd);
  assert_int_equal(clt_source_read(source, path, 1 << 20, NULL), CLT_OK);
  unlink(path);
}

static void members_are_read_by_type(void **state) {
  (void)state;
  clt_source source = {0};
  read_text(&source, "{\"t\": \"a\", \"i\": 1e3, \"r\": 0.5, \"f\": 1, \"c\": \"TWO\", \"n\": null, \"l\": [7, {}]}");
  clt_reading reading = {&source, NULL, CLT_OK};
  clt_node root = clt_node_root(&reading), list = clt_node_member(&root, "l"), item = clt_node_item(&list, 1);
  assert_string_equal(clt_read_required_text(&root, "t"), "a");
  assert_null(clt_read_text(&root, "n"));
  assert_int_equal(clt_read_integer(&root, "i", 0), 1000);
  assert_int_equal(clt_read_integer(&root, "absent", 5), 5);
  assert_true(clt_read_number(&root, "r", 0) == 0.5);
  assert_true(clt_read_flag(&root, "f", false));
  assert_int_equal(clt_read_choice(&root, "c", CLT_NAMES("one", "two"), 0), 1);
  assert_int_equal(clt_read_list(&list), 2);
  assert_string_equal(item.key, "l[1]");
  assert_true(clt_read_object(&item, CLT_NAMES("x"), true));
  assert_int_equal(reading.rc, CLT_OK);
  clt_source_release(&source);
}

static void the_first_mistake_is_kept_and_ends_the_reading(void **state) {
  (void)state;
  clt_source source = {0};
  clt_error error = {0};
  read_text(&source, "{\"a\": 1,\n\"b\": [1,\n\"x\"], \"c\": 2}");
  clt_reading reading = {&source, &error, CLT_OK};
  clt_node root = clt_node_root(&reading), list = clt_node_member(&root, "b"), item = clt_node_item(&list, 1);
  assert_int_equal(clt_read_integer(&root, "a", 0), 1);
  assert_int_equal(clt_node_fail(&item, "is no %s", "number"), CLT_E_FORMAT);
  assert_int_equal(clt_node_fail_as(&root, CLT_E_RANGE, "another"), CLT_E_FORMAT);
  assert_int_equal(clt_read_integer(&root, "c", 7), 7);
  assert_int_equal(clt_read_list(&list), 0);
  assert_int_equal(reading.rc, CLT_E_FORMAT);
  assert_int_equal(error.line, 3);
  assert_string_equal(error.key, "b[1]");
  assert_string_equal(error.message, "is no number");
  clt_source_release(&source);
}

static void long_keys_are_cut(void **state) {
  (void)state;
  char name[1000];
  clt_source source = {0};
  read_text(&source, "{}");
  clt_reading reading = {&source, NULL, CLT_OK};
  clt_node node = clt_node_root(&reading);
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = 0;
  for (int i = 0; i < 5; i++) {
    node = clt_node_member(&node, name);
    node = clt_node_item(&node, 123456789);
    assert_true(strlen(node.key) < sizeof node.key);
  }
  clt_source_release(&source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_and_items_are_found),
      cmocka_unit_test(what_is_missing_has_the_line_of_its_parent),
      cmocka_unit_test(broken_texts_and_keys_are_survived),
      cmocka_unit_test(members_are_read_by_type),
      cmocka_unit_test(the_first_mistake_is_kept_and_ends_the_reading),
      cmocka_unit_test(long_keys_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
