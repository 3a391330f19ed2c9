/* A report for a terminal. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "report/rows.h"

#define LEAST_WIDTH 60
#define VALUE_COLUMNS 11 /* of a figure */
#define LABEL_COLUMNS 12 /* of a parameter's value */
#define MOST_LABELS 16

/* A tuning, and how its figures are written. */
typedef struct sheet {
  clt_text *out;
  int width;
  const json_t *json;
  bool is_time, in_seconds, maximised;
  const char *unit;
} sheet;

/* --- members --- */

static size_t count_of(const json_t *object, const char *key) {
  return (size_t)json_integer_value(json_object_get(object, key));
}

static bool is_set(const json_t *object, const char *key) { return json_is_true(json_object_get(object, key)); }

/* A figure of a parameter's value, which for time has another name. */
static double effect_of(const sheet *s, const json_t *value, bool median) {
  return clt_json_number(value, median ? (s->is_time ? "median_s" : "median") : s->is_time ? "least_s" : "best");
}

static const char *label_of(const json_t *value, char out[64]) {
  if (json_is_string(value))
    snprintf(out, 64, "%s", json_string_value(value));
  else if (json_is_real(value))
    clt_snprintf(out, 64, "%.6g", json_real_value(value));
  else if (json_is_boolean(value))
    snprintf(out, 64, "%s", json_is_true(value) ? "true" : "false");
  else
    snprintf(out, 64, "%lld", (long long)json_integer_value(value));
  return out;
}

/* --- figures --- */

/* "1.234 ms"; a figure that is no time has its unit only where with_unit says so. */
static void put_figure(const sheet *s, double value, bool with_unit) {
  char time[32];
  if (s->in_seconds && isfinite(value))
    clt_text_add(s->out, clt_time_text(time, value));
  else
    clt_text_printf(s->out, "%.4g%s%s", value, with_unit && s->unit[0] ? " " : "", with_unit ? s->unit : "");
}

/* In a column: units stand below each other. */
static void put_column(const sheet *s, double value) {
  sheet cell = *s;
  clt_text text = {0};
  cell.out = &text;
  if (isfinite(value)) put_figure(&cell, value, false);
  bool short_unit = s->in_seconds && text.n > 2 && text.bytes[text.n - 2] == ' ';
  if (short_unit) clt_text_add(&text, " ");
  clt_text_printf(s->out, "%*s", VALUE_COLUMNS, isfinite(value) && text.bytes ? text.bytes : "-");
  clt_text_release(&text);
}

/* How near a value is to the best one, as a bar. */
static void put_bar(const sheet *s, double best, double value, int columns) {
  double share = s->maximised ? value / best : best / value;
  if (!isfinite(share)) return;
  for (long i = lround(fmax(0, fmin(1, share)) * columns); i > 0; i--) clt_text_add(s->out, "#");
}

static double better_of(const sheet *s, double a, double b) { return s->maximised ? fmax(a, b) : fmin(a, b); }

/* --- parts --- */

static void put_head(const sheet *s, const json_t *document) {
  const json_t *device = json_object_get(s->json, "device"), *objective = json_object_get(s->json, "objective");
  const char *sizes = clt_json_string(s->json, "sizes"), *key = clt_json_string(s->json, "key");
  const char *name = clt_json_string(objective, "name"), *command = clt_json_string(document, "command");
  clt_text_printf(s->out, "%s\n%s%s%s%s", clt_json_string(s->json, "title"), sizes, sizes[0] ? "\n" : "", key,
                  key[0] ? "\n" : "");
  if (json_is_object(device)) { /* what is not known is left out */
    static const char *const names[] = {"name", "platform_name", "device_version"};
    const struct {
      const char *before, *after;
      size_t n;
    } counts[] = {{"", " compute units", count_of(device, "compute_units")},
                  {"local memory ", " KiB", count_of(device, "local_memory_bytes") / 1024},
                  {"work groups of at most ", "", count_of(device, "max_work_group_size")}};
    const char *between = "";
    for (size_t i = 0; i < 3; i++) {
      const char *text = clt_json_string(device, names[i]);
      if (text[0]) clt_text_printf(s->out, "%s%s", between, text), between = ", ";
    }
    between = "\n";
    for (size_t i = 0; i < 3; i++)
      if (counts[i].n) {
        clt_text_printf(s->out, "%s%s%zu%s", between, counts[i].before, counts[i].n, counts[i].after);
        between = ", ";
      }
    clt_text_add(s->out, "\n");
  }
  clt_text_printf(s->out, "\n%zu configurations, %zu correct", count_of(s->json, "configurations"),
                  count_of(s->json, "correct"));
  if (count_of(s->json, "abandoned"))
    clt_text_printf(s->out, ", %zu slow (ended far behind the best)", count_of(s->json, "abandoned"));
  clt_text_printf(s->out, ", of %zu %s ones\n", count_of(s->json, "valid"),
                  is_set(s->json, "whole_space") ? "valid" : "known");
  if (strcmp(name, "figure") == 0)
    clt_text_printf(s->out, "figure: %s%sthe %s the better\n", s->unit, s->unit[0] ? ", " : "",
                    s->maximised ? "larger" : "smaller");
  else if (!s->is_time)
    clt_text_printf(s->out, "objective: %s %s%s%s%s\n", clt_json_string(objective, "goal"), name,
                    s->unit[0] ? " (" : "", s->unit, s->unit[0] ? ")" : "");
  const char *from = clt_json_string(s->json, "measured_from"), *until = clt_json_string(s->json, "measured_until");
  const json_t *session = json_object_get(s->json, "session");
  bool one_day = strncmp(from, until, 10) == 0;
  if (from[0])
    clt_text_printf(s->out, "measured %s%s%s UTC\n", from, strcmp(from, until) ? " to " : "",
                    strcmp(from, until) == 0 ? ""
                    : one_day                ? until + strcspn(until, " ") + 1
                                             : until);
  if (json_is_object(session)) {
    clt_text_printf(s->out, "newest search: %s, %zu evaluations, seed %zu", clt_json_string(session, "searcher"),
                    count_of(session, "evaluations"), count_of(session, "seed"));
    if (isfinite(clt_json_number(session, "load")))
      clt_text_printf(s->out, "; load %.2f on %zu processors when it began", clt_json_number(session, "load"),
                      count_of(session, "processors"));
    clt_text_add(s->out, "\n");
  }
  clt_text_printf(s->out, "clatune %s%s%s\n", clt_json_string(document, "version"), command[0] ? ": " : "", command);
}

/* The interval of a row's median as a finalist; nothing where it has none. */
static void put_interval(const sheet *s, const json_t *row) {
  char text[64];
  clt_text_add(s->out, clt_interval_text(text, clt_json_number(row, "finalist_interval"),
                                         clt_json_number(row, "finalist_confidence")));
}

/* As 'clatune tune' says it, the speed-up first. */
static void put_best(const sheet *s) {
  const json_t *best = json_object_get(s->json, "best"), *objective = json_object_get(s->json, "objective");
  const json_t *standard = json_object_get(s->json, "default");
  const char *name = clt_json_string(objective, "name"), *lookup = clt_json_string(s->json, "lookup");
  const char *sure = clt_json_string(json_object_get(s->json, "session"), "how_sure");
  json_t *metric, *note;
  size_t i;
  bool known = json_is_object(best), own = !s->is_time && strcmp(name, "figure") != 0;
  clt_text_add(s->out, "\n");
  if (known && json_is_object(standard) && !isfinite(clt_json_number(s->json, "gain_over_default"))) {
    clt_text_printf(s->out, "%-20snone over the default configuration: %s\n", s->is_time ? "speed-up" : "gain",
                    isfinite(clt_json_number(standard, "value")) ? "they were not timed side by side" : "it failed");
  } else if (known && json_is_object(standard)) {
    clt_text_printf(s->out, "%-20s%.3g over the default configuration (", s->is_time ? "speed-up" : "gain",
                    clt_json_number(s->json, "gain_over_default"));
    put_figure(s, clt_json_number(s->json, "default_value"), true);
    if (is_set(s->json, "best_is_finalist")) put_interval(s, standard);
    clt_text_printf(s->out, "): %s\n", clt_json_string(standard, "text"));
  }
  clt_text_printf(s->out, "best configuration  %s\n",
                  known ? clt_json_string(best, "text") : "none: no configuration was correct");
  if (!known) return;
  clt_text_printf(s->out, "%-20s%s%s", own ? "objective" : name, own ? name : "", own ? ": " : "");
  put_figure(s, clt_json_number(s->json, "best_value"), true);
  if (is_set(s->json, "best_is_finalist")) {
    put_interval(s, best);
    clt_text_add(s->out, " (median of its interleaved runs; ");
    put_figure(s, clt_json_number(best, "value"), true);
    clt_text_add(s->out, " in the search)");
  }
  clt_text_add(s->out, "\n");
  if (clt_json_string(s->json, "options")[0])
    clt_text_printf(s->out, "options             %s\n", clt_json_string(s->json, "options"));
  json_array_foreach(json_object_get(s->json, "metrics"), i, metric)
      clt_text_printf(s->out, "%-19s %.4g%s%s\n", clt_json_string(metric, "name"), clt_json_number(metric, "value"),
                      clt_json_string(metric, "unit")[0] ? " " : "", clt_json_string(metric, "unit"));
  if (sure[0]) clt_text_printf(s->out, "search quality      %s\n", sure);
  json_array_foreach(json_object_get(s->json, "notes"), i, note)
      clt_text_printf(s->out, "%-20s%s\n", i ? "" : "notes", json_string_value(note));
  if (lookup[0]) clt_text_printf(s->out, "look it up          %s\n", lookup);
}

static void put_failures(const sheet *s) {
  json_t *reasons = json_object_get(s->json, "reasons"), *count, *item;
  const char *name;
  char label[64];
  size_t i;
  if (json_object_size(reasons) == 0) return;
  clt_text_add(s->out, "\nFailures\n");
  json_object_foreach(reasons, name, count)
      clt_text_printf(s->out, "%lld %s: %s\n", (long long)json_integer_value(count), name,
                      clt_json_string(json_object_get(s->json, "reason_texts"), name));
  json_array_foreach(json_object_get(s->json, "failing"), i, item)
      clt_text_printf(s->out, "%zu of %zu with %s=%s\n", count_of(item, "failed"), count_of(item, "rows"),
                      clt_json_string(item, "parameter"), label_of(json_object_get(item, "value"), label));
}

/* Each improvement, with how far it was still from the end. */
static void put_progress(const sheet *s) {
  const json_t *progress = json_object_get(s->json, "progress");
  bool timed = clt_json_number(s->json, "spent_s") > 0;
  double last = clt_json_number(json_array_get(progress, json_array_size(progress) - 1), "best_value");
  json_t *step;
  size_t i;
  clt_text_printf(s->out, "\nThe best so far, over evaluations%s\n", timed ? " and seconds of measuring" : "");
  if (is_set(s->json, "in_order"))
    clt_text_add(s->out, "(in the order of the configurations' numbers, not of a search)\n");
  json_array_foreach(progress, i, step) {
    clt_text_printf(s->out, "%8zu ", count_of(step, "evaluation"));
    if (timed) clt_text_printf(s->out, "%10.2f ", clt_json_number(step, "spent_s"));
    put_column(s, clt_json_number(step, "best_value"));
    clt_text_add(s->out, "  ");
    put_bar(s, last, clt_json_number(step, "best_value"), s->width - 8 - VALUE_COLUMNS - 4 - (timed ? 11 : 0));
    clt_text_add(s->out, "\n");
  }
  if (is_set(s->json, "best_is_finalist")) {
    clt_text_printf(s->out, "%*s ", timed ? 19 : 8, "finally");
    put_column(s, clt_json_number(s->json, "best_value"));
    clt_text_add(s->out, "  the median of the best finalist\n");
  }
}

static void put_row(const sheet *s, const json_t *row, bool is_best, bool is_default) {
  double spread = clt_json_number(row, "spread"), finalist = clt_json_number(row, "finalist_value");
  put_column(s, clt_json_number(row, "value"));
  if (isfinite(spread))
    clt_text_printf(s->out, " %6.1f %% ", 100 * spread);
  else
    clt_text_add(s->out, "        - ");
  clt_text_printf(s->out, "%s %s", is_best ? "*" : " ", clt_json_string(row, "text"));
  if (isfinite(finalist)) {
    clt_text_add(s->out, "  finalist");
    put_column(s, finalist);
    put_interval(s, row);
  }
  clt_text_add(s->out, is_default ? "  (default)\n" : "\n");
}

/* A finalist that was slow in the search may be the best, and yet not be among these. */
static void put_fastest(const sheet *s) {
  const json_t *fastest = json_object_get(s->json, "fastest"), *best = json_object_get(s->json, "best");
  size_t n = json_array_size(fastest), i, of_best = count_of(best, "evaluation");
  size_t of_default = count_of(json_object_get(s->json, "default"), "evaluation");
  bool has_best = !json_is_object(best);
  json_t *row;
  json_array_foreach(fastest, i, row) if (count_of(row, "evaluation") == of_best) has_best = true;
  clt_text_printf(s->out, "\nThe %zu %s%s%s\n", n, s->is_time ? "fastest" : "best   ", n ? "            spread" : "",
                  has_best ? "" : "    and the best finalist");
  json_array_foreach(fastest, i, row)
      put_row(s, row, count_of(row, "evaluation") == of_best, count_of(row, "evaluation") == of_default);
  if (!has_best) put_row(s, best, true, of_best == of_default);
}

static void put_model(const sheet *s) {
  const json_t *model = json_object_get(s->json, "model");
  const char *what = s->is_time ? "times" : "values";
  clt_text_printf(s->out, "\nA model of these %s\n", what);
  if (!json_is_object(model)) {
    clt_text_printf(s->out, "none: a model needs %d correct configurations with different %s\n", CLT_REPORT_LEAST_ROWS,
                    what);
    return;
  }
  clt_text_printf(s->out,
                  "mean error %.1f %%, standard deviation a factor of %.3g, on %zu rows not used for training\n",
                  100 * clt_json_number(model, "mean_relative_error"), exp(clt_json_number(model, "log_error_sd")),
                  count_of(model, "predicted_rows"));
}

static void put_effect(const sheet *s, const json_t *parameter) {
  double importance = clt_json_number(parameter, "importance"), best_median = NAN;
  json_t *values = json_object_get(parameter, "values"), *value;
  char label[64];
  size_t i;
  json_array_foreach(values, i, value) best_median = better_of(s, best_median, effect_of(s, value, true));
  clt_text_printf(s->out, "\n%s explains %.0f %% of the variance of the %s\n", clt_json_string(parameter, "name"),
                  isnan(importance) ? 0 : 100 * importance, s->is_time ? "times" : "values");
  clt_text_printf(s->out, "%*s %6s %6s %*s %*s\n", LABEL_COLUMNS, "value", "rows", "fail", VALUE_COLUMNS,
                  s->is_time ? "least" : "best", VALUE_COLUMNS, "median");
  json_array_foreach(values, i, value) {
    if (!is_set(value, "shown")) continue;
    clt_text_printf(s->out, "%*.*s %6zu %6zu ", LABEL_COLUMNS, LABEL_COLUMNS,
                    label_of(json_object_get(value, "value"), label), count_of(value, "rows"),
                    count_of(value, "failed"));
    put_column(s, effect_of(s, value, false));
    clt_text_add(s->out, " ");
    put_column(s, effect_of(s, value, true));
    clt_text_add(s->out, is_set(value, "of_best") ? " *" : is_set(value, "of_default") ? " d" : "  ");
    put_bar(s, best_median, effect_of(s, value, true), s->width - 26 - 2 * VALUE_COLUMNS - 5);
    clt_text_add(s->out, "\n");
  }
}

/* --- pairs --- */

/* The shown values of a parameter: their labels' values, and which of them is the best configuration's. */
typedef struct plot_axis {
  const char *name;
  const json_t *labels[MOST_LABELS];
  size_t n, n_measured, best; /* best: n where none of them is */
} plot_axis;

static plot_axis axis_of(const json_t *parameter) {
  plot_axis a = {.name = clt_json_string(parameter, "name")};
  json_t *values = json_object_get(parameter, "values"), *value;
  size_t i;
  a.n_measured = json_array_size(values);
  a.best = MOST_LABELS;
  json_array_foreach(values, i, value) {
    if (!is_set(value, "shown") || a.n == MOST_LABELS) continue;
    if (is_set(value, "of_best")) a.best = a.n;
    a.labels[a.n++] = json_object_get(value, "value");
  }
  return a;
}

static void put_left_out(const sheet *s, const plot_axis *a, size_t n_put, const char *what) {
  size_t n = a->n_measured - n_put;
  if (n) clt_text_printf(s->out, "(%zu %s%s of %s left out)\n", n, what, n == 1 ? "" : "s", a->name);
}

/* The parameter with fewer values across: as many as fit, the best configuration's among them. */
static void put_pairs(const sheet *s, const json_t *first, const json_t *second) {
  const json_t *pairs = json_object_get(s->json, "pairs"), *best = json_object_get(pairs, "best");
  plot_axis axes[2] = {axis_of(first), axis_of(second)};
  bool turned = axes[0].n < axes[1].n;
  const plot_axis *down = &axes[turned], *across = &axes[!turned];
  size_t fit = (size_t)((s->width - LABEL_COLUMNS) / (VALUE_COLUMNS + 2)), columns[MOST_LABELS];
  size_t n = across->n < fit ? across->n : fit;
  char label[64];
  if (!json_is_object(pairs)) return;
  for (size_t i = 0; i < n; i++) columns[i] = i;
  if (across->best >= n && across->best < across->n) columns[n - 1] = across->best;
  clt_text_printf(s->out, "\nThe %s of each %s (down) and %s (across)\n", s->is_time ? "shortest time" : "best value",
                  down->name, across->name);
  put_left_out(s, across, n, "column");
  put_left_out(s, down, down->n, "row");
  clt_text_printf(s->out, "%*s", LABEL_COLUMNS, "");
  for (size_t i = 0; i < n; i++)
    clt_text_printf(s->out, " %*.*s", LABEL_COLUMNS, LABEL_COLUMNS, label_of(across->labels[columns[i]], label));
  clt_text_add(s->out, "\n");
  for (size_t a = 0; a < down->n; a++) {
    clt_text_printf(s->out, "%*.*s", LABEL_COLUMNS, LABEL_COLUMNS, label_of(down->labels[a], label));
    for (size_t i = 0; i < n; i++) {
      size_t b = columns[i];
      const json_t *cell = json_array_get(json_array_get(best, turned ? b : a), turned ? a : b);
      clt_text_add(s->out, a == down->best && b == across->best ? " *" : "  ");
      put_column(s, json_is_number(cell) ? json_number_value(cell) : NAN);
    }
    clt_text_add(s->out, "\n");
  }
}

static void put_parameters(const sheet *s) {
  const json_t *parameters = json_object_get(s->json, "parameters"), *ranking = json_object_get(s->json, "ranking");
  const json_t *ranked[2] = {NULL, NULL};
  json_t *index;
  size_t i;
  json_array_foreach(ranking, i, index) {
    const json_t *parameter = json_array_get(parameters, (size_t)json_integer_value(index));
    if (i < 2) ranked[i] = parameter;
    put_effect(s, parameter);
  }
  if (ranked[1]) put_pairs(s, ranked[0], ranked[1]);
  if (ranked[0])
    clt_text_printf(s->out, "\n* the best configuration is among these%s. Bars: %s of the median.\n",
                    json_is_object(json_object_get(s->json, "default")) ? ", d the default one" : "",
                    s->is_time ? "speed" : "merit");
}

int clt_document_text(char **out, const json_t *document, int width, clt_error *error) {
  clt_text text = {0};
  json_t *tuning;
  size_t i;
  json_array_foreach(json_object_get(document, "tunings"), i, tuning) {
    const json_t *objective = json_object_get(tuning, "objective");
    sheet s = {.out = &text,
               .width = width < LEAST_WIDTH ? LEAST_WIDTH : width,
               .json = tuning,
               .is_time = strcmp(clt_json_string(objective, "name"), "time") == 0,
               .in_seconds = strcmp(clt_json_string(objective, "unit"), "s") == 0,
               .maximised = strcmp(clt_json_string(objective, "goal"), "maximise") == 0,
               .unit = clt_json_string(objective, "unit")};
    if (i) clt_text_add(&text, "\n");
    put_head(&s, document);
    put_best(&s);
    put_failures(&s);
    put_progress(&s);
    put_fastest(&s);
    put_model(&s);
    put_parameters(&s);
  }
  return clt_text_take(out, &text, error);
}
