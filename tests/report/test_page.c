/* Pages: texts, drawings, and what stands in them where there is no gnuplot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "clatune/report.h"
#include "report/gnuplot.h"
#include "report/markup.h"

static char *written(const char *text) {
  char *out = NULL;
  size_t bytes;
  FILE *file = open_memstream(&out, &bytes);
  clt_put_text(file, text);
  fclose(file);
  return out;
}

static void texts_are_text(void **state) {
  (void)state;
  static const struct {
    const char *text, *markup;
  } cases[] = {{"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
               {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
               {"\x1b[2J\n", "\xef\xbf\xbd[2J\xef\xbf\xbd"},
               {"\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* '<' in two bytes */
               {"\xe2\x80\xaex", "\xef\xbf\xbdx"},                       /* right to left from here */
               {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* half a pair */
               {"\xf0\x9f", "\xef\xbf\xbd\xef\xbf\xbd"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *markup = written(cases[i].text);
    assert_string_equal(markup, cases[i].markup);
    free(markup);
  }
}

static void a_drawing_wears_the_pages_colours(void **state) {
  (void)state;
  char *clean = NULL;
  const char *svg =
      "<?xml version=\"1.0\"?><svg viewBox=\"0 0 4 3\" xmlns:xlink=\"x\"><title>t</title><desc>Produced by "
      "GNUPLOT</desc>"
      "<filter id='textbox'><x/></filter><g id='gpPt1'/><g fill=\"none\" color=\"black\">\n</g><path stroke='rgb(  1,  "
      " 0,   3)'/>"
      "<path stroke='rgb(255, 16,   0)'/><use xlink:href='#gpPt1' color='rgb(  0,   0,   0)'/></svg>";
  assert_int_equal(clt_svg_clean(&clean, svg, 7, NULL), 0);
  assert_string_equal(clean,
                      "viewBox=\"0 0 4 3\"><g id='p7-gpPt1'/><path stroke='var(--p3)'/><path stroke='#ff1000'/>"
                      "<use href='#p7-gpPt1' color='currentColor'/></svg>");
  free(clean);
}

/* Every prefix of a drawing is refused or cleaned. */
static void a_cut_drawing_does_no_harm(void **state) {
  (void)state;
  const char *svg =
      "<svg viewBox=\"0 0 4 3\"><title>t</title><g fill=\"none\"> </g><path stroke='rgb(  1,   0,   3)'/></svg>";
  for (size_t n = 0; n < strlen(svg); n++) {
    char *cut = strndup(svg, n), *clean = NULL;
    assert_int_equal(clt_svg_clean(&clean, cut, 0, NULL), CLT_E_FORMAT);
    assert_null(clean);
    free(cut);
  }
}

static char *page_of(const char *device, const char *path_variable, char **note) {
  char *folder = make_folder(), path[600], text[1024], *page = NULL, *before = strdup(getenv("PATH"));
  clt_recording *recording = NULL;
  clt_report *report = NULL;
  clt_error error = {0};
  const clt_report_options options = {.seed = 1, .threads = 1, .command = "clatune report '<x>'"};
  snprintf(text, sizeof text,
           "{\"device_name\": \"%s\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\"], \"tune_params\":"
           " {\"a\": [1, 2]}, \"cache\": {\"1\": {\"a\": 1, \"time\": 3}, \"2\": {\"a\": 2, \"time\": 2}}}",
           device);
  write_text(folder, "r.json", text);
  snprintf(path, sizeof path, "%s/r.json", folder);
  if (clt_recording_load(&recording, path, &error) || clt_report_from_recording(&report, recording, &error))
    fail_msg("%s", error.message);
  if (path_variable) setenv("PATH", path_variable, 1);
  const clt_report *reports[] = {report, report};
  int rc = clt_report_page(&page, note, reports, 2, &options, &error);
  setenv("PATH", before, 1);
  if (rc) fail_msg("%s", error.message);
  free(before);
  clt_report_free(report);
  clt_recording_free(recording);
  remove_folder(folder);
  return page;
}

static void a_page_without_gnuplot_has_all_but_plots(void **state) {
  (void)state;
  char *note = NULL, *page = page_of("a <card>", "/nonexistent", &note);
  assert_non_null(strstr(note, "gnuplot-nox"));
  static const char *const parts[] = {"gnuplot-nox", "2 tunings compared", "a &lt;card&gt;",
                                      "<code>clatune report &#39;&lt;x&gt;&#39;</code>", "</html>"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(page, parts[i]) == NULL) fail_msg("'%s' is missing in\n%s", parts[i], page);
  assert_null(strstr(page, "<svg"));
  assert_null(strstr(page, "<card"));
  free(page);
  free(note);
}

static void nothing_is_no_page(void **state) {
  (void)state;
  char *page = NULL, *note = NULL;
  const clt_report_options options = {.seed = 1};
  assert_int_equal(clt_report_page(&page, &note, NULL, 0, &options, NULL), CLT_E_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_are_text),
      cmocka_unit_test(a_drawing_wears_the_pages_colours),
      cmocka_unit_test(a_cut_drawing_does_no_harm),
      cmocka_unit_test(a_page_without_gnuplot_has_all_but_plots),
      cmocka_unit_test(nothing_is_no_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
