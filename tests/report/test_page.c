/* Pages: their content is data, whoever its author is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "report/report.h"

static const clt_report_options options = {.seed = 1, .threads = 1, .command = "clatune report '</script><x>'"};

static char *page_of(const char *device) {
  char *folder = make_folder(), path[600], text[1024], *page = NULL;
  clt_recording *recording = NULL;
  clt_report *report = NULL;
  clt_error error = {0};
  snprintf(text, sizeof text,
           "{\"device_name\": \"%s\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\"], \"tune_params\":"
           " {\"a\": [1, 2]}, \"cache\": {\"1\": {\"a\": 1, \"time\": 3}, \"2\": {\"a\": 2, \"time\": 2}}}",
           device);
  write_text(folder, "r.json", text);
  snprintf(path, sizeof path, "%s/r.json", folder);
  if (clt_recording_new(&recording, path, &error) || clt_report_new(&report, &options, &error) ||
      clt_report_add_recording(report, recording, &error) || clt_report_add_recording(report, recording, &error) ||
      clt_report_page(&page, report, &error))
    fail_msg("%s", error.message);
  clt_report_free(report);
  clt_recording_free(recording);
  remove_folder(folder);
  return page;
}

static size_t count(const char *text, const char *part) {
  size_t n = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) n++;
  return n;
}

/* Tags are the template's alone, and the document within is the report's. */
static void nothing_gets_out_of_the_data(void **state) {
  (void)state;
  char *harmless = page_of("a card"), *page = page_of("</script></pre><!--<script>alert(1)</script>&'");
  static const char *const tags[] = {"<", "</script", "<script", "<!--", "</pre", "</noscript"};
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
    assert_int_equal(count(page, tags[i]), count(harmless, tags[i]));
  assert_non_null(strstr(page, "\\u003c/script>\\u003c/pre>\\u003c!--\\u003cscript>alert(1)"));
  assert_non_null(
      strstr(page, "&#60;/script&#62;&#60;/pre&#62;&#60;!--&#60;script&#62;alert(1)&#60;/script&#62;&#38;&#39;"));
  free(harmless);
  free(page);
}

static void a_page_carries_its_document(void **state) {
  (void)state;
  static const char begin[] = "id=\"document\">";
  char *page = page_of("a card"), *json_text = strstr(page, begin) + strlen(begin);
  *strstr(json_text, "</script>") = '\0';
  json_t *document = json_loads(json_text, 0, NULL);
  assert_int_equal(json_array_size(json_object_get(document, "tunings")), 2);
  assert_string_equal(json_string_value(json_object_get(document, "command")), options.command);
  assert_null(strchr(json_text, '<'));
  json_decref(document);
  free(page);
}

static void nothing_is_no_page(void **state) {
  (void)state;
  char *page = NULL;
  clt_report *report = NULL;
  assert_int_equal(clt_report_new(&report, &options, NULL), 0);
  assert_int_equal(clt_report_page(&page, report, NULL), CLT_E_ARGUMENT);
  clt_report_free(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_gets_out_of_the_data),
      cmocka_unit_test(a_page_carries_its_document),
      cmocka_unit_test(nothing_is_no_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
