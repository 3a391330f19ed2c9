/* The checks of a configuration: in answers, and as text. */
#include "base/text.h"
#include "cli/cli.h"

#define MOST_WHY 300 /* bytes of a reason that are printed */
#define MOST_NAMED 3 /* inputs with the same remark; of more, the first */

json_t *cli_json_checks(const clt_check_result *checks, size_t n) {
  json_t *out = json_array();
  for (size_t i = 0; i < n; i++) {
    const clt_check_result *c = &checks[i];
    json_array_append_new(
        out, json_pack("{s:o, s:b, s:s, s:b, s:s, s:b, s:o}", "sizes", clt_json_text(c->sizes), "own_sizes",
                       c->own_sizes, "inputs", c->inputs, "opposite_order", c->mirrored, "judge",
                       c->by_default ? "default" : "reference", "passed", c->passed, "why", clt_json_text(c->why)));
  }
  return out;
}

static bool is_set(const json_t *check, const char *key) { return json_is_true(json_object_get(check, key)); }

/* How many other inputs it passed " at n=77 in the opposite order", in the order of the checks. */
static json_t *count_passed(const json_t *checks) {
  json_t *counts = json_object(), *check;
  size_t i;
  json_array_foreach(checks, i, check) {
    clt_text where = {0};
    if (!is_set(check, "passed")) continue;
    clt_draw_form(&where, check, "[ at {sizes}][{?opposite_order} in the opposite order]");
    const char *key = where.n ? where.bytes : "";
    json_object_set_new(counts, key, json_integer(json_integer_value(json_object_get(counts, key)) + 1));
    clt_text_release(&where);
  }
  return counts;
}

/* A line for all checks with the same outcome, reason and sizes: the line's end, and the inputs before it. */
static json_t *gather_remarks(const json_t *checks, bool passed) {
  json_t *remarks = json_object(), *check;
  size_t i;
  json_array_foreach(checks, i, check) {
    const char *sizes = clt_json_string(check, "sizes"), *why = clt_json_string(check, "why");
    char end[1000];
    if (is_set(check, "passed") != passed || why[0] == '\0') continue;
    const int length = (int)strcspn(why, "\n"), printed = length < MOST_WHY ? length : MOST_WHY;
    if (sizes[0] && !is_set(check, "own_sizes"))
      snprintf(end, sizeof end, " at %.600s: %.*s", sizes, printed, why);
    else
      snprintf(end, sizeof end, ": %.*s", printed, why);
    clt_text inputs = {0};
    const char *before = clt_json_string(remarks, end);
    if (before[0]) clt_text_printf(&inputs, "%s, ", before);
    clt_draw_form(&inputs, check, "{inputs}[{?opposite_order} in the opposite order]");
    json_object_set_new_nocheck(remarks, end, json_string_nocheck(inputs.bytes ? inputs.bytes : ""));
    clt_text_release(&inputs);
  }
  return remarks;
}

static void print_remarks(const char *title, const json_t *checks, bool passed, int width) {
  json_t *remarks = gather_remarks(checks, passed), *inputs;
  const char *end;
  json_object_foreach(remarks, end, inputs) {
    const char *text = json_string_value(inputs);
    size_t n = 0; /* after the first */
    for (const char *at = text; (at = strstr(at, ", ")) != NULL; at++) n++;
    if (n < MOST_NAMED)
      printf("%-*s%s%s\n", width, title, text, end);
    else
      printf("%-*s%.*s and %zu others%s\n", width, title, (int)strcspn(text, ","), text, n, end);
  }
  json_decref(remarks);
}

void cli_draw_checks(const char *title, const json_t *checks, int width) {
  json_t *passed = count_passed(checks), *count, *check;
  const char *where, *between = "on ";
  bool elsewhere = false, by_default = true;
  size_t i;
  json_array_foreach(checks, i, check) {
    if (!is_set(check, "passed")) continue;
    elsewhere = elsewhere || !is_set(check, "own_sizes");
    by_default = by_default && strcmp(clt_json_string(check, "judge"), "default") == 0;
  }
  printf("%-*s%s", width, title, json_object_size(passed) ? "" : "on one input only");
  json_object_foreach(passed, where, count) {
    const long long n = json_integer_value(count);
    printf("%s%lld other input%s%s", between, n, CLT_PLURAL(n), where);
    between = ", ";
  }
  puts(elsewhere ? ", in a fresh process" : "");
  if (by_default && json_object_size(passed))
    printf(
        "%-*sthe default configuration, or else the first valid one, whose result counts as correct on other inputs\n",
        width, "judge");
  print_remarks("with less", checks, true, width);
  print_remarks("not checked", checks, false, width);
  json_decref(passed);
}
