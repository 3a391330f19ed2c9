/* A report for a terminal. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "report/report.h"
#include "report/view.h"

#define LEAST_WIDTH 60
#define TIME_COLUMNS 11
#define VALUE_COLUMNS 12

static void put_time(FILE *out, double time_s) {
  if (!isfinite(time_s)) {
    fprintf(out, "%*s", TIME_COLUMNS, "-");
    return;
  }
  clt_report_view_unit unit = clt_report_view_unit_of(time_s);
  fprintf(out, "%*.4g %-2s", TIME_COLUMNS - 3, time_s / unit.seconds, unit.name);
}

static bool by_time(const clt_report *r) { return clt_report_figure_of(r).is_time; }

static void put_cost(FILE *out, const clt_report *r, double cost) {
  double value = clt_report_value(r, cost);
  if (clt_report_figure_of(r).in_seconds || !isfinite(value))
    put_time(out, value);
  else
    fprintf(out, "%*.4g", TIME_COLUMNS, value);
}

/* The same outside of columns, with the unit. */
static void put_cost_plainly(FILE *out, const clt_report *r, double cost) {
  clt_report_figure figure = clt_report_figure_of(r);
  double value = clt_report_value(r, cost);
  clt_report_view_unit unit = {1, figure.unit};
  if (figure.in_seconds) unit = clt_report_view_unit_of(value);
  fprintf(out, "%.4g%s%s", value / unit.seconds, unit.name[0] ? " " : "", unit.name);
}

static void put_bar(FILE *out, double share, int columns) {
  int n = (int)lround(fmax(0, fmin(1, share)) * columns);
  for (int i = 0; i < n; i++) fputc('#', out);
}

static void put_value(FILE *out, clt_value value) {
  char text[64];
  fprintf(out, "%*.*s", VALUE_COLUMNS, VALUE_COLUMNS, clt_report_view_value(value, text, sizeof text));
}

/* --- the head --- */

static void put_device(FILE *out, const clt_report *r) {
  const clt_device_info *d = r->device_info;
  if (r->sizes[0]) fprintf(out, "%s\n", r->sizes);
  if (r->device[0]) fprintf(out, "%s\n", r->device);
  if (d == NULL) return;
  fprintf(out, "%s, %s, %s\n", d->name, d->platform_name, d->device_version);
  fprintf(out, "%u compute units, local memory %llu KiB, work groups of at most %llu\n", d->compute_units,
          (unsigned long long)(d->local_memory_bytes / 1024), (unsigned long long)d->max_work_group_size);
}

static void put_objective(FILE *out, const clt_report *r) {
  clt_report_figure f = clt_report_figure_of(r);
  if (f.is_time) return;
  if (clt_objective_is_standard(r->objective))
    fprintf(out, "figure: %s%sthe %s the better\n", f.unit, f.unit[0] ? ", " : "", f.maximised ? "larger" : "smaller");
  else
    fprintf(out, "objective: %s %s%s%s%s\n", f.maximised ? "maximise" : "minimise", f.name, f.unit[0] ? " (" : "",
            f.unit, f.unit[0] ? ")" : "");
}

static void put_head(FILE *out, const clt_report *r, const clt_report_options *options) {
  fprintf(out, "%s\n", r->title);
  put_device(out, r);
  fprintf(out, "\n%zu configurations, %zu correct, of %llu %s ones\n", r->rows.n, r->n_correct,
          (unsigned long long)clt_space_valid(r->space), r->own_space ? "known" : "valid");
  put_objective(out, r);
  fprintf(out, "clatune %s%s%s\n", CLATUNE_VERSION, options->command ? ": " : "",
          options->command ? options->command : "");
}

/* --- the best --- */

/* As 'clatune tune' says it. */
static int put_best(FILE *out, const clt_report_view *v, clt_error *error) {
  const clt_report *r = v->report;
  bool none = v->best == SIZE_MAX;
  char *text = none ? NULL : clt_config_string(r->space, r->rows.items[v->best].config);
  if (text == NULL && !none) return clt_fail_memory(error);
  fprintf(out, "\nbest configuration  %s\n", none ? "none: no configuration was correct" : text);
  free(text);
  if (none) return CLT_OK;
  bool finalist = isfinite(r->rows.items[v->best].final_s) && clt_objective_ranks_by_time(r->objective);
  bool own = !clt_objective_is_standard(r->objective);
  fprintf(out, "%-20s", own ? "objective" : by_time(r) ? "time" : "figure");
  if (own) fprintf(out, "%s: ", clt_objective_name(r->objective));
  put_cost_plainly(out, r, clt_report_view_best_s(v));
  fprintf(out, "%s\n", finalist ? " (median of its runs against the other finalists)" : "");
  return CLT_OK;
}

/* --- failures --- */

static void put_failures(FILE *out, const clt_report_view *v) {
  size_t counts[CLT_N_REASONS] = {0};
  const clt_report *r = v->report;
  if (r->n_correct == r->rows.n) return;
  fputs("\nFailures\n", out);
  for (size_t i = 0; i < r->rows.n; i++) counts[r->rows.items[i].reason]++;
  for (int reason = CLT_REASON_NONE + 1; reason < CLT_N_REASONS; reason++)
    if (counts[reason])
      fprintf(out, "%zu %s: %s\n", counts[reason], clt_reason_name((clt_reason)reason),
              clt_reason_text((clt_reason)reason));
  for (size_t i = 0; i < v->n_failing; i++) {
    const clt_report_view_failing *f = &v->failing[i];
    char text[64];
    fprintf(out, "%zu of %zu with %s=%s\n", f->n_failed, f->n, f->parameter->parameter->name,
            clt_report_view_value(f->parameter->parameter->values[f->value], text, sizeof text));
  }
}

/* --- rows --- */

/* Each improvement, with how far it was still from the end. */
static void put_progress(FILE *out, const clt_report_view *v, int width) {
  fprintf(out, "\nThe best so far, over evaluations%s\n", v->spent_s > 0 ? " and seconds of measuring" : "");
  if (v->in_order) fputs("(these are in the order of their numbers, not of a search)\n", out);
  for (size_t i = 0; i < v->n_steps; i++) {
    const clt_report_view_step *step = &v->steps[i];
    int columns = width - 8 - TIME_COLUMNS - 4;
    fprintf(out, "%8zu ", step->number);
    if (v->spent_s > 0) fprintf(out, "%10.2f ", step->spent_s);
    if (v->spent_s > 0) columns -= 11;
    put_cost(out, v->report, step->best_s);
    fputs("  ", out);
    put_bar(out, v->steps[v->n_steps - 1].best_s / step->best_s, columns);
    fputc('\n', out);
  }
}

static int put_row(FILE *out, const clt_report_view *v, size_t index, clt_error *error) {
  const clt_report_row *row = &v->report->rows.items[index];
  const char *mark = index == v->best ? "*" : " ";
  char *text = clt_config_string(v->report->space, row->config);
  if (text == NULL) return clt_fail_memory(error);
  put_cost(out, v->report, row->cost);
  if (isfinite(row->spread))
    fprintf(out, " %6.1f %% %s %s", 100 * row->spread, mark, text);
  else
    fprintf(out, "        - %s %s", mark, text);
  if (isfinite(row->final_s) && clt_objective_is_standard(v->report->objective)) {
    fputs("  finalist", out);
    put_cost(out, v->report, row->final_s);
  }
  fputc('\n', out);
  free(text);
  return CLT_OK;
}

/* A finalist that was slow in the search may be the best, and yet not be among these. */
static int put_fastest(FILE *out, const clt_report_view *v, clt_error *error) {
  bool has_best = v->best == SIZE_MAX;
  int rc = CLT_OK;
  for (size_t i = 0; i < v->n_fastest; i++) has_best |= v->fastest[i] == v->best;
  fprintf(out, "\nThe %zu %s%s%s\n", v->n_fastest, by_time(v->report) ? "fastest" : "best   ",
          v->n_fastest ? "            spread" : "", has_best ? "" : "    and the best finalist");
  for (size_t i = 0; rc == CLT_OK && i < v->n_fastest; i++) rc = put_row(out, v, v->fastest[i], error);
  return rc || has_best ? rc : put_row(out, v, v->best, error);
}

/* --- the model --- */

static void put_fit(FILE *out, const clt_report_view *v) {
  const clt_model_accuracy *a = &v->fit.accuracy;
  fprintf(out, "\nA model of these %s\n", by_time(v->report) ? "times" : "values");
  if (v->fit.n == 0) {
    fprintf(out, "none: it takes %d correct configurations of different %s\n", CLT_REPORT_LEAST_ROWS,
            by_time(v->report) ? "times" : "values");
    return;
  }
  fprintf(out,
          "errs by %.1f %% in the mean, by a factor of %.3g (one standard deviation), on %zu rows not trained on\n",
          100 * a->mean_relative_error, exp(a->log_error_sd), v->fit.n);
}

/* --- parameters --- */

static void put_effect(FILE *out, const clt_report *r, const clt_report_view_parameter *p, int width) {
  const clt_effect *e = &p->effect;
  double least_median_s = NAN;
  for (size_t v = 0; v < e->n_values; v++) least_median_s = fmin(least_median_s, e->values[v].median_s);
  fprintf(out, "\n%s explains %.0f %% of the %s' spread\n", p->parameter->name,
          isnan(e->importance) ? 0 : 100 * e->importance, by_time(r) ? "times" : "values");
  fprintf(out, "%*s %6s %6s %*s %*s\n", VALUE_COLUMNS, "value", "rows", "fail", TIME_COLUMNS,
          by_time(r) ? "least" : "best", TIME_COLUMNS, "median");
  for (size_t i = 0; i < p->n_shown; i++) {
    size_t v = p->shown[i];
    const clt_effect_value *value = &e->values[v];
    put_value(out, p->parameter->values[v]);
    fprintf(out, " %6zu %6zu ", value->n, value->n_failed);
    put_cost(out, r, value->least_s);
    fputc(' ', out);
    put_cost(out, r, value->median_s);
    fputs(v == p->best ? " *" : "  ", out);
    if (isfinite(value->median_s)) put_bar(out, least_median_s / value->median_s, width - 26 - 2 * TIME_COLUMNS - 5);
    fputc('\n', out);
  }
}

/* Which of the shown values make the columns: as many as fit, the best configuration's among them. Returns how many. */
static size_t choose_columns(size_t out[CLT_REPORT_VIEW_VALUES], const clt_report_view_parameter *across, int width) {
  size_t fit = (size_t)((width - VALUE_COLUMNS) / (TIME_COLUMNS + 2)),
         n = across->n_shown < fit ? across->n_shown : fit;
  for (size_t i = 0; i < n; i++) out[i] = i;
  for (size_t i = n; i < across->n_shown; i++)
    if (across->shown[i] == across->best) out[n - 1] = i;
  return n;
}

static size_t n_measured(const clt_report_view_parameter *p) {
  size_t n = 0;
  for (size_t v = 0; v < p->effect.n_values; v++) n += p->effect.values[v].n > 0;
  return n;
}

static void put_left_out(FILE *out, const clt_report_view_parameter *p, size_t n_put, const char *what) {
  size_t n = n_measured(p) - n_put;
  if (n) fprintf(out, "(%zu %s%s of %s left out)\n", n, what, n == 1 ? "" : "s", p->parameter->name);
}

static void put_pair_row(FILE *out, const clt_report_view *v, size_t d, size_t a, const size_t *columns, size_t n) {
  const clt_report_view_parameter *down = &v->parameters[d], *across = &v->parameters[!d];
  put_value(out, down->parameter->values[down->shown[a]]);
  for (size_t i = 0; i < n; i++) {
    size_t b = columns[i];
    bool best = down->shown[a] == down->best && across->shown[b] == across->best;
    fputs(best ? " *" : "  ", out);
    put_cost(out, v->report, (d ? clt_report_view_pair(v, b, a) : clt_report_view_pair(v, a, b))->least_s);
  }
  fputc('\n', out);
}

/* The one with fewer values across. */
static void put_pairs(FILE *out, const clt_report_view *v, int width) {
  if (v->pairs == NULL) return;
  size_t d = v->parameters[0].n_shown < v->parameters[1].n_shown, columns[CLT_REPORT_VIEW_VALUES];
  const clt_report_view_parameter *down = &v->parameters[d], *across = &v->parameters[!d];
  size_t n = choose_columns(columns, across, width);
  fprintf(out, "\nThe %s of each %s (down) and %s (across)\n", by_time(v->report) ? "least time" : "best value",
          down->parameter->name, across->parameter->name);
  put_left_out(out, across, n, "column");
  put_left_out(out, down, down->n_shown, "row");
  fprintf(out, "%*s", VALUE_COLUMNS, "");
  for (size_t i = 0; i < n; i++) {
    fputc(' ', out);
    put_value(out, across->parameter->values[across->shown[columns[i]]]);
  }
  fputc('\n', out);
  for (size_t a = 0; a < down->n_shown; a++) put_pair_row(out, v, d, a, columns, n);
}

static void put_parameters(FILE *out, const clt_report_view *v, int width) {
  for (size_t i = 0; i < v->n_parameters; i++) put_effect(out, v->report, &v->parameters[i], width);
  put_pairs(out, v, width);
  if (v->n_parameters)
    fprintf(out, "\n* the best configuration is among these. Bars: %s of the median.\n",
            by_time(v->report) ? "speed" : "merit");
}

int clt_report_text(char **out, const clt_report *report, const clt_report_options *options, int width,
                    clt_error *error) {
  clt_report_view view;
  char *text = NULL;
  size_t bytes;
  int rc = clt_report_view_init(&view, report, options, error);
  if (rc) return rc;
  FILE *file = open_memstream(&text, &bytes);
  if (file == NULL) {
    clt_report_view_release(&view);
    return clt_fail_memory(error);
  }
  if (width < LEAST_WIDTH) width = LEAST_WIDTH;
  put_head(file, report, options);
  rc = put_best(file, &view, error);
  put_failures(file, &view);
  put_progress(file, &view, width);
  if (rc == CLT_OK) rc = put_fastest(file, &view, error);
  put_fit(file, &view);
  put_parameters(file, &view, width);
  bool failed = ferror(file) != 0;
  if ((fclose(file) || failed) && rc == CLT_OK) rc = clt_fail_memory(error);
  clt_report_view_release(&view);
  if (rc) {
    free(text);
  } else {
    *out = text;
  }
  return rc;
}
