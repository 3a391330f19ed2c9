/* A report for a terminal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "report/report.h"

#define LEAST_WIDTH 60
#define FASTEST 10
#define MOST_VALUES 16 /* of a parameter; of longer lists those with the best times */
#define TIME_COLUMNS 11

static void put_time(FILE *out, double time_s) {
  static const struct {
    double least_s, unit_s;
    const char *name;
  } units[] = {{1, 1, "s"}, {1e-3, 1e-3, "ms"}, {1e-6, 1e-6, "us"}, {0, 1e-9, "ns"}};
  size_t u = 0;
  if (!isfinite(time_s)) {
    fprintf(out, "%*s", TIME_COLUMNS, "-");
    return;
  }
  while (u < 3 && time_s < units[u].least_s) u++;
  fprintf(out, "%*.4g %-2s", TIME_COLUMNS - 3, time_s / units[u].unit_s, units[u].name);
}

static void put_bar(FILE *out, double share, int columns) {
  int n = (int)lround(fmax(0, fmin(1, share)) * columns);
  for (int i = 0; i < n; i++) fputc('#', out);
}

/* --- the parts --- */

static void put_head(FILE *out, const clt_report *r) {
  fprintf(out, "%s\n%s\n\n", r->title, r->device);
  fprintf(out, "%zu configurations, %zu correct, of %llu valid ones\n", r->n, r->n_correct,
          (unsigned long long)clt_space_valid(r->space));
}

static void put_failures(FILE *out, const clt_report *r) {
  size_t counts[CLT_N_REASONS] = {0};
  for (size_t i = 0; i < r->n; i++) counts[r->rows[i].reason]++;
  for (int reason = CLT_REASON_NONE + 1; reason < CLT_N_REASONS; reason++)
    if (counts[reason])
      fprintf(out, "%zu %s: %s\n", counts[reason], clt_reason_name((clt_reason)reason),
              clt_reason_text((clt_reason)reason));
}

/* Each improvement, with how far it was still from the end. */
static void put_progress(FILE *out, const clt_report *r, int width) {
  double best_s = INFINITY, last_s = NAN;
  for (size_t i = 0; i < r->n; i++) last_s = fmin(last_s, r->rows[i].time_s);
  fputs("\nThe best so far, over evaluations\n", out);
  for (size_t i = 0; i < r->n; i++) {
    if (!(r->rows[i].time_s < best_s)) continue;
    best_s = r->rows[i].time_s;
    fprintf(out, "%8zu ", i + 1);
    put_time(out, best_s);
    fputs("  ", out);
    put_bar(out, last_s / best_s, width - 8 - TIME_COLUMNS - 4);
    fputc('\n', out);
  }
}

static int put_fastest(FILE *out, const clt_report *r, clt_error *error) {
  size_t indices[FASTEST], n = clt_report_fastest(r, indices, FASTEST);
  fprintf(out, "\nThe %zu fastest%s\n", n, n ? "            spread" : "");
  for (size_t i = 0; i < n; i++) {
    const clt_report_row *row = &r->rows[indices[i]];
    char *text = clt_config_string(r->space, row->config);
    if (text == NULL) return clt_fail_memory(error);
    put_time(out, row->time_s);
    if (isfinite(row->spread))
      fprintf(out, " %6.1f %%  %s\n", 100 * row->spread, text);
    else
      fprintf(out, "        -  %s\n", text);
    free(text);
  }
  return CLT_OK;
}

/* --- parameters --- */

typedef struct ranked {
  size_t parameter;
  clt_effect effect;
} ranked;

static int by_importance(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  double p = isnan(x->effect.importance) ? -1 : x->effect.importance;
  double q = isnan(y->effect.importance) ? -1 : y->effect.importance;
  if (p != q) return p > q ? -1 : 1;
  return (x->parameter > y->parameter) - (x->parameter < y->parameter);
}

static void put_value(FILE *out, clt_value value) {
  char text[32];
  switch (value.type) {
    case CLT_STRING: snprintf(text, sizeof text, "%s", value.text); break;
    case CLT_REAL: snprintf(text, sizeof text, "%.6g", value.real); break;
    default: snprintf(text, sizeof text, "%lld", (long long)value.integer);
  }
  fprintf(out, "%12.12s", text);
}

/* The least time among a parameter's values, and whether a value is among the best MOST_VALUES. */
static bool is_shown(const clt_effect *e, size_t v) {
  size_t n_better = 0;
  if (e->values[v].n == 0) return false;
  for (size_t i = 0; i < e->n_values; i++)
    n_better += e->values[i].least_s < e->values[v].least_s || (isnan(e->values[v].least_s) && i < v);
  return n_better < MOST_VALUES;
}

static void put_effect(FILE *out, const clt_report *r, const ranked *p, int width) {
  const clt_parameter *parameter = clt_space_parameter(r->space, p->parameter);
  const clt_effect *e = &p->effect;
  double least_s = NAN, least_median_s = NAN;
  for (size_t v = 0; v < e->n_values; v++) {
    least_s = fmin(least_s, e->values[v].least_s);
    least_median_s = fmin(least_median_s, e->values[v].median_s);
  }
  fprintf(out, "\n%s explains %.0f %% of the times' spread\n", parameter->name,
          isnan(e->importance) ? 0 : 100 * e->importance);
  fprintf(out, "%12s %6s %6s %*s %*s\n", "value", "rows", "fail", TIME_COLUMNS, "least", TIME_COLUMNS, "median");
  for (size_t v = 0; v < e->n_values; v++) {
    const clt_effect_value *value = &e->values[v];
    if (!is_shown(e, v)) continue;
    put_value(out, parameter->values[v]);
    fprintf(out, " %6zu %6zu ", value->n, value->n_failed);
    put_time(out, value->least_s);
    fputc(' ', out);
    put_time(out, value->median_s);
    fputs(value->least_s == least_s ? " *" : "  ", out);
    if (isfinite(value->median_s)) put_bar(out, least_median_s / value->median_s, width - 26 - 2 * TIME_COLUMNS - 5);
    fputc('\n', out);
  }
}

static int put_parameters(FILE *out, const clt_report *r, int width, clt_error *error) {
  size_t n = clt_space_n_parameters(r->space);
  ranked *all = clt_new_array(n, sizeof *all);
  int rc = all ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    all[i].parameter = i;
    rc = clt_report_effect(&all[i].effect, r, i, error);
  }
  if (rc == CLT_OK) qsort(all, n, sizeof *all, by_importance);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (all[i].effect.n_values > 1) put_effect(out, r, &all[i], width);
  if (rc == CLT_OK) fputs("\n* the fastest is among these. Bars: speed of the median.\n", out);
  for (size_t i = 0; all && i < n; i++) clt_effect_release(&all[i].effect);
  free(all);
  return rc;
}

int clt_report_text(char **out, const clt_report *report, int width, clt_error *error) {
  char *text = NULL;
  size_t bytes;
  FILE *file = open_memstream(&text, &bytes);
  if (file == NULL) return clt_fail_memory(error);
  if (width < LEAST_WIDTH) width = LEAST_WIDTH;
  put_head(file, report);
  put_failures(file, report);
  put_progress(file, report, width);
  int rc = put_fastest(file, report, error);
  if (rc == CLT_OK) rc = put_parameters(file, report, width, error);
  bool failed = ferror(file) != 0;
  if ((fclose(file) || failed) && rc == CLT_OK) rc = clt_fail_memory(error);
  if (rc) {
    free(text);
  } else {
    *out = text;
  }
  return rc;
}
