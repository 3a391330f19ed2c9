/* A report for a terminal. */
#include "base/text.h"
#include "base/json.h"
#include "report/draw.h"
#include "report/report.h"

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
  const char *best_key, *median_key; /* of a parameter's value, which for time have other names */
} sheet;

/* --- members --- */

static size_t count_of(const json_t *object, const char *key) {
  return (size_t)json_integer_value(json_object_get(object, key));
}

static bool is_set(const json_t *object, const char *key) { return json_is_true(json_object_get(object, key)); }

static const char *label_of(const json_t *value, char out[64]) {
  clt_text text = {0};
  clt_draw_form(&text, value, "{.}");
  snprintf(out, 64, "%s", text.bytes ? text.bytes : "");
  clt_text_release(&text);
  return out;
}

/* --- figures --- */

/* In a column: units stand below each other. A figure that is no time is without its unit. */
static void put_column(const sheet *s, double value) {
  char text[40] = "-";
  if (isfinite(value) && s->in_seconds)
    clt_time_text(text, value);
  else if (isfinite(value))
    clt_snprintf(text, sizeof text, "%.4g", value);
  const size_t n = strlen(text);
  const bool short_unit = s->in_seconds && n > 2 && text[n - 2] == ' '; /* "s" is shorter than "ms" */
  clt_text_printf(s->out, "%*s%s", VALUE_COLUMNS - short_unit, text, short_unit ? " " : "");
}

/* How near a value is to the best one, as a bar: their ratio; with values of 0 or below, the part of the way from the
 * worst one. */
static void put_bar(const sheet *s, double best, double worst, double value, int columns) {
  double share = value == best ? 1 : (value - worst) / (best - worst);
  if (fmin(best, worst) > 0) share = s->maximised ? value / best : best / value;
  if (!isfinite(share)) return;
  for (long i = lround(fmax(0, fmin(1, share)) * columns); i > 0; i--) clt_text_add(s->out, "#");
}

static double better_of(const sheet *s, double a, double b) { return s->maximised ? fmax(a, b) : fmin(a, b); }

/* --- parts --- */

static const clt_line head_lines[] = {
    {.form = "{title}[\n{sizes}][\n{key}]"},
    {.form =
         "{device.name}[, {device.platform_name}][, {device.device_version}]"
         "[{?device.compute_units}\n{device.compute_units} compute unit{device.compute_units:s}]"
         "[{?device.local_memory_bytes}[{?device.compute_units}, |\n]local memory {device.local_memory_bytes:bytes}]"
         "[{?device.max_work_group_size}[{?device.compute_units}, |{?device.local_memory_bytes}, |\n]work groups of"
         " at most {device.max_work_group_size}]"},
    {.form = "\n{configurations} configuration{configurations:s}, {correct} correct[{?abandoned}, {abandoned} slow "
             "(ended far behind the best)], of {valid} [{?whole_space}valid|known] ones"},
    {.form = "{?objective.name=figure}figure: [{objective.unit}, ]the [{?objective.goal=maximise}larger|smaller] the"
             " better|{?objective.name!=time}objective: {objective.goal} {objective.name}[ ({objective.unit})]"},
    {.form = "measured {measured_from}[{?measured_until!=$measured_from} to {measured_until}] UTC"},
    {.form = "{?session}newest search: {session.searcher}, {session.evaluations} evaluation{session.evaluations:s}, "
             "seed {session.seed}"
             "[; load {session.load:.3g} on {session.processors} processor{session.processors:s} when it began]"}};
static const clt_text_layout head_layout = CLT_TEXT_LAYOUT(0, 1, head_lines);

/* Half a width says little about an interval that is far from symmetrical. */
#define INTERVAL(of)                                                                           \
  "[{!" of "finalist_interval>0.5}{" of "finalist_interval:pm " of                             \
  "finalist_confidence}"                                                                       \
  "|, {" of "finalist_low:in objective.unit} to {" of "finalist_high:in objective.unit} ({" of \
  "finalist_confidence:confidence})]"

/* As 'clatune tune' says it, the speed-up first. */
static const clt_line best_lines[] = {
    {.form = ""},
    {"[{?objective.name=time}speed-up|gain]",
     "{?best}{?default}{gain_over_default:.3g} over the default configuration ({default_value:in objective.unit}"
     "[{?best_is_finalist}" INTERVAL("default.") "]): {default.text}"
                                                 "|{?best}{?default}none over the default configuration: "
                                                 "[{?default.value}they were not timed side by side"
                                                 "|it failed]"},
    {"best configuration", "[{best.text}|none: no configuration was correct]"},
    {"[{?objective.name=time}time|{?objective.name=figure}figure|objective]",
     "{?best}[{?objective.name!=time}{?objective.name!=figure}{objective.name}: ]{best_value:in objective.unit}"
     "[{?best_is_finalist}" INTERVAL("best.") " (median of its interleaved runs;"
                                              " {best.value:in objective.unit} at best in the search)]"},
    {"options", "{?best}{options}"},
    CLT_STATE_LINES("best.", "{?best.state.launch_share>0.1}"),
    {"{name}", "{value:.4g}[ {unit}]", .each = "metrics"},
    {"search quality", "{?best}{session.how_sure}"},
    {"[{?first}notes]", "{?best}{.}", .each = "notes"},
    {"look it up", "{?best}{lookup}"}};
static const clt_text_layout best_layout = CLT_TEXT_LAYOUT(0, 20, best_lines);

static const clt_line front_lines[] = {
    {.form = "[{?first}\nThe front, which no other configuration dominates\n]{text}: {summary}",
     .each = "front.members"}};
static const clt_text_layout front_layout = CLT_TEXT_LAYOUT(0, 1, front_lines);

static const clt_line failing_lines[] = {{.form = "{failed} of {rows} with {parameter}={value}", .each = "failing"}};
static const clt_text_layout failing_layout = CLT_TEXT_LAYOUT(0, 1, failing_lines);

static const clt_line model_lines[] = {
    {.form = "\nA model of these [{?objective.name=time}times|values]"},
    {.form = "{?model.useless}useless: no better than the mean of the [{?objective.name=time}times|values], on "
             "{model.predicted_rows} rows not used for training"
             "|[{!model.mean_relative_error>1}mean error {model.mean_relative_error:.3%}|a few predictions far off], "
             "standard deviation a factor of {model.error_factor:.3g}, on"
             " {model.predicted_rows} rows not used for training"
             "|none: a model needs " CLT_TEXT_OF(CLT_REPORT_LEAST_ROWS) " correct configurations with different"
                                                                        " [{?objective.name=time}times|values]"}};
static const clt_text_layout model_layout = CLT_TEXT_LAYOUT(0, 1, model_lines);

static void put_failures(const sheet *s) {
  json_t *reasons = json_object_get(s->json, "reasons"), *count;
  const char *name;
  if (json_object_size(reasons) == 0) return;
  clt_text_add(s->out, "\nFailures\n");
  json_object_foreach(reasons, name, count)
      clt_text_printf(s->out, "%lld %s: %s\n", (long long)json_integer_value(count), name,
                      clt_json_string(json_object_get(s->json, "reason_texts"), name));
  clt_draw_layout(s->out, s->json, &failing_layout);
}

/* Each improvement, with how far it was still from the end. */
static void put_progress(const sheet *s) {
  const json_t *progress = json_object_get(s->json, "progress");
  bool timed = clt_json_number(s->json, "spent_s") > 0;
  double last = clt_json_number(json_array_get(progress, json_array_size(progress) - 1), "best_value");
  double first = clt_json_number(json_array_get(progress, 0), "best_value");
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
    put_bar(s, last, first, clt_json_number(step, "best_value"), s->width - 8 - VALUE_COLUMNS - 4 - (timed ? 11 : 0));
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
    if (clt_json_number(row, "finalist_interval") > 0.5) {
      clt_text_add(s->out, ",");
      put_column(s, clt_json_number(row, "finalist_low"));
      clt_text_add(s->out, " to");
      put_column(s, clt_json_number(row, "finalist_high"));
    } else {
      clt_draw_form(s->out, row, "{finalist_interval:pm finalist_confidence}");
    }
  }
  clt_text_add(s->out, is_default ? "  (default)\n" : "\n");
}

/* A finalist that was slow in the search may be the best, and yet not be among these. */
static void put_fastest(const sheet *s) {
  const json_t *fastest = json_object_get(s->json, "fastest"), *best = json_object_get(s->json, "best");
  size_t i, of_best = count_of(best, "evaluation");
  size_t of_default = count_of(json_object_get(s->json, "default"), "evaluation");
  bool has_best = !json_is_object(best);
  json_t *row;
  json_array_foreach(fastest, i, row) if (count_of(row, "evaluation") == of_best) has_best = true;
  clt_draw_form(s->out, s->json,
                "\nThe {fastest:n} [{?objective.name=time}fastest|best   ][{?fastest}            spread]");
  clt_text_add(s->out, has_best ? "\n" : "    and the best finalist\n");
  json_array_foreach(fastest, i, row)
      put_row(s, row, count_of(row, "evaluation") == of_best, count_of(row, "evaluation") == of_default);
  if (!has_best) put_row(s, best, true, of_best == of_default);
}

static void put_effect(const sheet *s, const json_t *parameter) {
  double best_median = NAN, worst_median = NAN;
  json_t *values = json_object_get(parameter, "values"), *value;
  char label[64];
  size_t i;
  json_array_foreach(values, i, value) {
    const double median = clt_json_number(value, s->median_key);
    best_median = better_of(s, best_median, median);
    worst_median = s->maximised ? fmin(worst_median, median) : fmax(worst_median, median);
  }
  clt_draw_form(s->out, parameter, "\n{name} explains [{importance:%}|0 %] of the variance of the ");
  clt_text_add(s->out, s->is_time ? "times\n" : "values\n");
  clt_text_printf(s->out, "%*s %6s %6s %*s %*s\n", LABEL_COLUMNS, "value", "rows", "fail", VALUE_COLUMNS,
                  s->is_time ? "least" : "best", VALUE_COLUMNS, "median");
  json_array_foreach(values, i, value) {
    if (!is_set(value, "shown")) continue;
    clt_text_printf(s->out, "%*.*s %6zu %6zu ", LABEL_COLUMNS, LABEL_COLUMNS,
                    label_of(json_object_get(value, "value"), label), count_of(value, "rows"),
                    count_of(value, "failed"));
    put_column(s, clt_json_number(value, s->best_key));
    clt_text_add(s->out, " ");
    put_column(s, clt_json_number(value, s->median_key));
    clt_draw_form(s->out, value, "[{?of_best} *|{?of_default} d|  ]");
    put_bar(s, best_median, worst_median, clt_json_number(value, s->median_key), s->width - 26 - 2 * VALUE_COLUMNS - 5);
    clt_text_add(s->out, "\n");
  }
}

/* --- pairs --- */

/* The shown values of a parameter: their labels' values, and which of them is the best configuration's. */
typedef struct plot_axis {
  const char *name;
  const json_t *labels[MOST_LABELS];
  size_t n, n_measured, best; /* best: n if none of them is */
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
  if (n) clt_text_printf(s->out, "(%zu %s%s of %s left out)\n", n, what, CLT_PLURAL(n), a->name);
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
      const json_t *row = json_array_get(best, turned ? b : a);
      const json_t *cell = json_array_get(row, turned ? a : b);
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
    clt_draw_form(s->out, s->json,
                  "\n* the best configuration is among these[{?default}, d the default one]. Bars:"
                  " [{?objective.name=time}speed|merit] of the median.\n");
}

static const clt_line follow_lines[] = {
    {.form = "{title}[, {sizes}][, {device}]: [{?ended}ended|{waits}|{phase}], {evaluations}[{?total} of {total}]"
             " evaluations, {failed} failed[, best {best_value:in objective.unit}: {best}]",
     .each = "follow.tunings"}};
static const clt_text_layout follow_layout = CLT_TEXT_LAYOUT(0, 1, follow_lines);

int clt_document_text(char **out, const json_t *document, int width, clt_error *error) {
  clt_text text = {0};
  json_t *tuning;
  size_t i;
  clt_draw_layout(&text, document, &follow_layout);
  json_array_foreach(json_object_get(document, "tunings"), i, tuning) {
    const json_t *objective = json_object_get(tuning, "objective");
    sheet s = {.out = &text,
               .width = width < LEAST_WIDTH ? LEAST_WIDTH : width,
               .json = tuning,
               .is_time = strcmp(clt_json_string(objective, "name"), "time") == 0,
               .in_seconds = strcmp(clt_json_string(objective, "unit"), "s") == 0,
               .maximised = strcmp(clt_json_string(objective, "goal"), "maximise") == 0};
    s.best_key = s.is_time ? "least_s" : "best";
    s.median_key = s.is_time ? "median_s" : "median";
    if (i) clt_text_add(&text, "\n");
    clt_draw_layout(&text, tuning, &head_layout);
    clt_draw_form(&text, document, "clatune {version}[: {command}]\n");
    clt_draw_layout(&text, tuning, &best_layout);
    put_failures(&s);
    put_progress(&s);
    put_fastest(&s);
    clt_draw_layout(&text, tuning, &front_layout);
    clt_draw_layout(&text, tuning, &model_layout);
    put_parameters(&s);
  }
  return clt_text_take(out, &text, error);
}
