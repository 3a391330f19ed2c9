#include "eval/figure.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* --- numbers in texts --- */

/* A number that nothing but space, or a unit without digits, follows closely: "1.5", "1.5 ms", not "1.5.2". */
static bool parse_number(double *out, const char *text) {
  char *end;
  double x = strtod(text, &end);
  if (end == text || (*end && !isspace((unsigned char)*end))) return false;
  *out = x;
  return true;
}

static clt_reason no_figure(char *why, size_t capacity, const char *what) {
  snprintf(why, capacity, "%s", what);
  return CLT_REASON_NO_FIGURE;
}

static clt_reason bad_figure(char *why, size_t capacity, const char *text) {
  snprintf(why, capacity, "not a number: '%.*s'", (int)fmin(60, (double)strcspn(text, "\n")), text);
  return CLT_REASON_BAD_FIGURE;
}

static clt_reason read_plain(double *out, const char *text, char *why, size_t capacity) {
  while (isspace((unsigned char)*text)) text++;
  if (*text == 0) return no_figure(why, capacity, "there is nothing where the figure should stand");
  return parse_number(out, text) ? CLT_REASON_NONE : bad_figure(why, capacity, text);
}

/* --- patterns --- */

/* The last match: what a program says in the end counts. */
static clt_reason read_match(double *out, const char *pattern, const char *text, char *why, size_t capacity) {
  regex_t compiled;
  regmatch_t match[2], last[2] = {{-1, -1}, {-1, -1}};
  const char *base = text, *at = text;
  char number[64];
  if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE)) return no_figure(why, capacity, "the pattern is none");
  while (*at && regexec(&compiled, at, 2, match, at == text ? 0 : REG_NOTBOL) == 0) {
    memcpy(last, match, sizeof last);
    base = at;
    at += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
  }
  regfree(&compiled);
  if (last[0].rm_so < 0) return no_figure(why, capacity, "nothing that it printed matches the pattern");
  const regmatch_t *part = last[1].rm_so >= 0 ? &last[1] : &last[0];
  snprintf(number, sizeof number, "%.*s", (int)fmin(60, (double)(part->rm_eo - part->rm_so)), base + part->rm_so);
  return parse_number(out, number) ? CLT_REASON_NONE : bad_figure(why, capacity, number);
}

/* --- JSON --- */

/* The last line that is an object, as programs print other things before. */
static json_t *last_object(const char *text) {
  json_t *json = json_loads(text, 0, NULL);
  for (const char *end = text + strlen(text); json == NULL && end > text;) {
    const char *begin = end;
    while (begin > text && begin[-1] != '\n') begin--;
    if (*begin == '{') json = json_loadb(begin, (size_t)(end - begin), 0, NULL);
    end = begin > text ? begin - 1 : text;
  }
  return json;
}

static const json_t *member_of(const json_t *json, const char *name, size_t n) {
  char key[128], *end;
  snprintf(key, sizeof key, "%.*s", (int)(n < sizeof key ? n : sizeof key - 1), name);
  if (!json_is_array(json)) return json_object_get(json, key);
  size_t index = strtoul(key, &end, 10);
  return *end || end == key ? NULL : json_array_get(json, index);
}

static clt_reason read_json(double *out, const char *path, const char *text, char *why, size_t capacity) {
  json_t *root = last_object(text);
  const json_t *json = root;
  if (root == NULL) return no_figure(why, capacity, "there is no JSON where the figure should stand");
  for (const char *at = path; json && at; at = strchr(at, '.')) {
    at += *at == '.';
    json = member_of(json, at, strcspn(at, "."));
  }
  clt_reason reason = CLT_REASON_NONE;
  if (json == NULL) {
    snprintf(why, capacity, "the JSON has no \"%.100s\"", path);
    reason = CLT_REASON_NO_FIGURE;
  } else if (!json_is_number(json)) {
    snprintf(why, capacity, "\"%.100s\" is not a number", path);
    reason = CLT_REASON_BAD_FIGURE;
  } else {
    *out = json_number_value(json);
  }
  json_decref(root);
  return reason;
}

clt_reason clt_figure_read(double *out, const clt_figure *figure, const char *text, char *why, size_t capacity) {
  if (figure->member) return read_json(out, figure->member, text, why, capacity);
  if (figure->pattern) return read_match(out, figure->pattern, text, why, capacity);
  return read_plain(out, text, why, capacity);
}

/* --- of a run --- */

static clt_reason read_file(double *out, const clt_figure *figure, const char *scratch, char *why, size_t capacity) {
  char *path = clt_path_join(scratch, figure->file), *text = NULL;
  clt_error error = {0};
  clt_reason reason = CLT_REASON_NO_FIGURE;
  if (path && clt_file_read(&text, NULL, path, CLT_MAX_ANSWER_BYTES, &error) == 0)
    reason = clt_figure_read(out, figure, text, why, capacity);
  else
    snprintf(why, capacity, "%.180s", error.message[0] ? error.message : "out of memory");
  free(path);
  free(text);
  return reason;
}

bool clt_figure_rank(double *out, const clt_figure *figure, double number) {
  double scaled = figure->larger_is_better ? 1 / number : number * figure->scale;
  if (!(isfinite(number) && number > 0 && isfinite(scaled) && scaled > 0)) return false;
  *out = scaled;
  return true;
}

/* Processors' time is counted in ticks by some systems: 0 is less than one. */
static double at_least_a_tick(double seconds) { return fmax(seconds, 1e-6); }

static clt_reason take_number(double *out, const clt_figure *figure, const clt_program *program,
                              const clt_program_end *end, const char *scratch, char *why, size_t capacity) {
  switch (figure->source) {
    case CLT_FIGURE_WALL: *out = end->wall_s; break;
    case CLT_FIGURE_USER: *out = at_least_a_tick(end->user_s); break;
    case CLT_FIGURE_SYSTEM: *out = at_least_a_tick(end->system_s); break;
    case CLT_FIGURE_CPU: *out = at_least_a_tick(end->user_s + end->system_s); break;
    case CLT_FIGURE_MEMORY: *out = end->memory_bytes; break;
    case CLT_FIGURE_FILE: return read_file(out, figure, scratch, why, capacity);
    case CLT_FIGURE_OUTPUT: return clt_figure_read(out, figure, program->answers.bytes, why, capacity);
  }
  return CLT_REASON_NONE;
}

clt_reason clt_figure_take(double *out, const clt_figure *figure, const clt_program *program,
                           const clt_program_end *end, const char *scratch, char *why, size_t capacity) {
  double number = NAN;
  clt_reason reason = take_number(&number, figure, program, end, scratch, why, capacity);
  if (reason != CLT_REASON_NONE || clt_figure_rank(out, figure, number)) return reason;
  snprintf(why, capacity, "%g is not a positive number", number);
  return CLT_REASON_BAD_FIGURE;
}

double clt_figure_summary(const clt_figure *figure, const double *runs, size_t n) {
  double least = INFINITY, sum = 0;
  for (size_t i = 0; i < n; i++) {
    least = fmin(least, runs[i]);
    sum += runs[i];
  }
  switch (figure->statistic) {
    case CLT_STATISTIC_MEDIAN: return clt_median(runs, n);
    case CLT_STATISTIC_MEAN: return sum / (double)n;
    default: return least;
  }
}
