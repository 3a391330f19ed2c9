/* The figure of merit of a run: from its measured seconds or bytes, a file, or what it printed. */
#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "eval/command.h"
#include "measurement/statistics.h"

/* A number that nothing but space, or a unit without digits, follows closely: "1.5", "1.5 ms", not "1.5.2". */
static clt_reason parse_number(double *out, const char *text, char *why, size_t capacity) {
  char *end;
  double x = strtod(text, &end);
  if (end != text && (*end == 0 || isspace((unsigned char)*end))) return *out = x, CLT_REASON_NONE;
  snprintf(why, capacity, "not a number: '%.*s'", (int)fmin(60, (double)strcspn(text, "\n")), text);
  return CLT_REASON_BAD_FIGURE;
}

/* The last match: what a program says in the end counts. */
static clt_reason read_match(double *out, const char *pattern, const char *text, char *why, size_t capacity) {
  regex_t compiled;
  regmatch_t match[2], last[2] = {{-1, -1}, {-1, -1}};
  const char *base = text, *at = text;
  char number[64];
  snprintf(why, capacity, "nothing that it printed matches the pattern");
  if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE)) return CLT_REASON_NO_FIGURE;
  while (*at && regexec(&compiled, at, 2, match, at == text ? 0 : REG_NOTBOL) == 0) {
    memcpy(last, match, sizeof last);
    base = at;
    at += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
  }
  regfree(&compiled);
  if (last[0].rm_so < 0) return CLT_REASON_NO_FIGURE;
  const regmatch_t *part = last[1].rm_so >= 0 ? &last[1] : &last[0];
  snprintf(number, sizeof number, "%.*s", (int)fmin(60, (double)(part->rm_eo - part->rm_so)), base + part->rm_so);
  return parse_number(out, number, why, capacity);
}

/* Of the whole text, or of its last line that is an object, as programs print other things before. */
static clt_reason read_json(double *out, const char *path, const char *text, char *why, size_t capacity) {
  json_t *root = json_loads(text, 0, NULL);
  for (const char *end = text + strlen(text); root == NULL && end > text;) {
    const char *begin = end;
    while (begin > text && begin[-1] != '\n') begin--;
    if (*begin == '{') root = json_loadb(begin, (size_t)(end - begin), 0, NULL);
    end = begin > text ? begin - 1 : text;
  }
  const json_t *json = root;
  for (const char *at = path; json && at; at = strchr(at, '.')) {
    char key[128], *end;
    at += *at == '.';
    size_t n = strcspn(at, ".");
    snprintf(key, sizeof key, "%.*s", (int)(n < sizeof key ? n : sizeof key - 1), at);
    size_t index = strtoul(key, &end, 10);
    if (json_is_array(json))
      json = *end || end == key ? NULL : json_array_get(json, index);
    else
      json = json_object_get(json, key);
  }
  clt_reason reason = CLT_REASON_NONE;
  if (json_is_number(json)) {
    *out = json_number_value(json);
  } else if (json) {
    snprintf(why, capacity, "\"%.100s\" is not a number", path);
    reason = CLT_REASON_BAD_FIGURE;
  } else {
    snprintf(why, capacity, root ? "the JSON has no \"%.100s\"" : "there is no JSON where the figure should stand",
             path);
    reason = CLT_REASON_NO_FIGURE;
  }
  json_decref(root);
  return reason;
}

clt_reason clt_figure_read(double *out, const clt_figure *figure, const char *text, char *why, size_t capacity) {
  if (figure->member) return read_json(out, figure->member, text, why, capacity);
  if (figure->pattern) return read_match(out, figure->pattern, text, why, capacity);
  while (isspace((unsigned char)*text)) text++;
  if (*text) return parse_number(out, text, why, capacity);
  snprintf(why, capacity, "there is nothing where the figure should stand");
  return CLT_REASON_NO_FIGURE;
}

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

static double summarise_runs(clt_statistic statistic, bool larger_is_better, const double *runs, size_t n) {
  double best = larger_is_better ? -INFINITY : INFINITY, sum = 0;
  for (size_t i = 0; i < n; i++) {
    best = larger_is_better ? fmax(best, runs[i]) : fmin(best, runs[i]);
    sum += runs[i];
  }
  switch (statistic) {
    case CLT_STATISTIC_MEDIAN: return clt_median(runs, n);
    case CLT_STATISTIC_MEAN: return sum / (double)n;
    default: return isfinite(best) ? best : NAN;
  }
}

bool clt_figure_scale(double *out, const clt_figure *figure, double number) {
  *out = figure->larger_is_better ? number : number * figure->scale;
  return isfinite(*out) && *out > 0 && isfinite(1 / *out);
}

double clt_figure_cost(const clt_figure *figure, double value) { return figure->larger_is_better ? 1 / value : value; }

void clt_figure_put_run(clt_measurement *m, const clt_figure *figure, double value, double wall_s) {
  bool is_time = clt_figure_is_time(figure);
  size_t i = m->n_runs++;
  m->runs_s[i] = is_time ? value : wall_s;
  m->figures[i] = is_time ? NAN : value;
  m->time_s = summarise_runs(figure->statistic, false, m->runs_s, m->n_runs);
  m->figure = is_time ? NAN : summarise_runs(figure->statistic, figure->larger_is_better, m->figures, m->n_runs);
}

clt_reason clt_figure_take(double *out, const clt_figure *figure, const clt_process *process,
                           const clt_program_end *end, const char *scratch, char *why, size_t capacity) {
  double number = NAN;
  clt_reason reason = CLT_REASON_NONE;
  const char *printed = process->answered.bytes ? process->answered.bytes : "";
  const double tick_s = 1e-6; /* processors' time is counted in ticks by some systems: 0 is less than one */
  switch (figure->source) {
    case CLT_FIGURE_WALL: number = end->wall_s; break;
    case CLT_FIGURE_USER: number = fmax(end->user_s, tick_s); break;
    case CLT_FIGURE_SYSTEM: number = fmax(end->system_s, tick_s); break;
    case CLT_FIGURE_CPU: number = fmax(end->user_s + end->system_s, tick_s); break;
    case CLT_FIGURE_MEMORY: number = end->memory_bytes; break;
    case CLT_FIGURE_FILE: reason = read_file(&number, figure, scratch, why, capacity); break;
    case CLT_FIGURE_OUTPUT: reason = clt_figure_read(&number, figure, printed, why, capacity); break;
  }
  if (reason != CLT_REASON_NONE || clt_figure_scale(out, figure, number)) return reason;
  snprintf(why, capacity, "%g is not a positive number", number);
  return CLT_REASON_BAD_FIGURE;
}
