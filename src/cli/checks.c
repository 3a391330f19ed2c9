/* How the checks of a configuration are told: as text, and in answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

json_t *cli_json_checks(const clt_check_result *checks, size_t n) {
  json_t *out = json_array();
  for (size_t i = 0; i < n; i++) {
    const clt_check_result *c = &checks[i];
    json_array_append_new(
        out, json_pack("{s:o, s:s, s:b, s:s, s:b, s:o}", "sizes", clt_json_text(c->sizes), "inputs", c->inputs,
                       "opposite_order", c->mirrored, "judge", c->by_default ? "default" : "reference", "passed",
                       c->passed, "why", c->why ? clt_json_text(c->why) : json_null()));
  }
  return out;
}

bool cli_checked_elsewhere(const clt_check_result *checks, size_t n, const char **other_sizes) {
  bool any = false;
  *other_sizes = NULL;
  for (size_t i = 0; i < n; i++) {
    any = any || checks[i].passed;
    if (checks[i].passed && !checks[i].own_sizes && *other_sizes == NULL) *other_sizes = checks[i].sizes;
  }
  return any;
}

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

/* Prints the inputs of all checks like the i-th: with the same outcome, reason and sizes. */
static void print_alike(const clt_check_result *checks, size_t n, size_t i, int width, const char *title) {
  const clt_check_result *first = &checks[i];
  printf("%-*s", width, title);
  const char *between = "";
  for (size_t k = i; k < n; k++) {
    const clt_check_result *c = &checks[k];
    if (c->passed != first->passed || !same_text(c->why, first->why) || !same_text(c->sizes, first->sizes)) continue;
    printf("%s%s%s", between, c->inputs, c->mirrored ? " in the opposite order" : "");
    between = ", ";
  }
  const int length = first->why ? (int)strcspn(first->why, "\n") : 0;
  printf("%s%s: %.*s\n", first->sizes[0] && !first->own_sizes ? " at " : "", first->own_sizes ? "" : first->sizes,
         length < 300 ? length : 300, first->why ? first->why : "");
}

void cli_print_checks(const char *title, const clt_check_result *checks, size_t n, int width) {
  size_t n_passed = 0, n_default = 0;
  bool mirrored = false, elsewhere = false;
  for (size_t i = 0; i < n; i++) {
    n_passed += checks[i].passed;
    n_default += checks[i].passed && checks[i].by_default;
    mirrored = mirrored || (checks[i].passed && checks[i].mirrored);
    elsewhere = elsewhere || (checks[i].passed && !checks[i].own_sizes);
  }
  printf("%-*s", width, title);
  if (n_passed == 0) {
    printf("on one input only\n");
  } else {
    const char *between = "on ";
    for (size_t i = 0; i < n; i++) {
      bool told = !checks[i].passed;
      size_t alike = 0;
      for (size_t k = 0; k < n; k++) {
        if (!checks[k].passed || !same_text(checks[k].sizes, checks[i].sizes)) continue;
        told = told || k < i;
        alike++;
      }
      if (told) continue;
      printf("%s%zu other input%s", between, alike, alike == 1 ? "" : "s");
      if (checks[i].sizes[0]) printf(" at %s", checks[i].sizes);
      between = ", ";
    }
    printf("%s%s\n", mirrored ? ", also in the opposite order" : "", elsewhere ? ", in a fresh process" : "");
  }
  if (n_default > 0 && n_default == n_passed)
    printf("%-*sthe default configuration, whose result counts as correct on other inputs\n", width, "judge");
  for (size_t i = 0; i < n; i++) {
    bool told = checks[i].why == NULL;
    for (size_t k = 0; k < i; k++)
      told = told || (checks[k].passed == checks[i].passed && same_text(checks[k].why, checks[i].why) &&
                      same_text(checks[k].sizes, checks[i].sizes));
    if (!told) print_alike(checks, n, i, width, checks[i].passed ? "with less" : "not checked");
  }
}
