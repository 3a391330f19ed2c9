/* The tables of `clatune replay`. */
#include <string.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/output.h"
#include "cli/replay.h"

#define MAX_COLUMNS 16

typedef struct columns {
  size_t at[MAX_COLUMNS]; /* evaluations */
  size_t n;
} columns;

/* The customary numbers of evaluations up to the budget, and the budget. */
static columns columns_of(const clt_replay_result *r) {
  static const size_t customary[] = {10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
  columns c = {.n = 0};
  for (size_t i = 0; i < sizeof customary / sizeof *customary && customary[i] < r->budget; i++)
    c.at[c.n++] = customary[i];
  c.at[c.n++] = r->budget;
  return c;
}

/* Figures of one space, a column each. Returns 0 or an exit code. */
static int figures_of(clt_replay_figures *out, const clt_replay_result *r, size_t space, const columns *c) {
  clt_error error = {0};
  for (size_t i = 0; i < c->n; i++)
    if (clt_replay_figures_at(&out[i], r, space, c->at[i], &error)) return cli_report(&error);
  return 0;
}

/* The mean over spaces; its standard error takes the spaces as given, the seeds as drawn. */
static void add_to_mean(clt_replay_figures *mean, const clt_replay_figures *space, const columns *c, size_t n_spaces) {
  double n = (double)n_spaces;
  for (size_t i = 0; i < c->n; i++) {
    mean[i].mean += space[i].mean / n;
    mean[i].standard_error = hypot(mean[i].standard_error, space[i].standard_error / n);
    mean[i].percentile_5 += space[i].percentile_5 / n;
    mean[i].missed += space[i].missed / n;
  }
}

/* --- JSON --- */

static void set(json_t *object, size_t evaluations, double value) {
  char key[24];
  snprintf(key, sizeof key, "%zu", evaluations);
  json_object_set_new(object, key, clt_json_real(value));
}

/* figure: its offset in clt_replay_figures. */
static json_t *by_evaluations(const clt_replay_figures *figures, const columns *c, size_t figure) {
  json_t *out = json_object();
  for (size_t i = 0; i < c->n; i++) {
    double value;
    memcpy(&value, (const char *)&figures[i] + figure, sizeof value);
    set(out, c->at[i], value);
  }
  return out;
}

#define FIGURE(name) offsetof(clt_replay_figures, name)

/* The best time after each evaluation (by another objective its cost), mean of the runs that have one; null before. */
static json_t *curve(const clt_replay_result *r, const clt_replay_space *space) {
  json_t *out = json_array();
  for (size_t k = 0; k < r->budget; k++) {
    double sum = 0, n = 0;
    for (size_t i = 0; i < r->repeats; i++) {
      double fraction = space->fractions[i * r->budget + k];
      if (fraction > 0) sum += space->least_cost / fraction, n++;
    }
    json_array_append_new(out, clt_json_real(n > 0 ? sum / n : NAN));
  }
  return out;
}

static json_int_t n_failed(const clt_recording *recording) {
  json_int_t n = 0;
  for (size_t i = 0; i < clt_recording_size(recording); i++)
    n += !clt_measurement_correct(clt_recording_at(recording, i));
  return n;
}

static json_t *space_json(const clt_replay_space *space, const char *searcher, const clt_replay_figures *f,
                          const columns *c) {
  json_t *out = json_pack(
      "{s:s, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "space", clt_recording_name(space->recording),
      "configurations", (json_int_t)clt_recording_size(space->recording), "failed", n_failed(space->recording),
      "searcher", searcher, "optimum_s", clt_json_real(clt_recording_optimum_s(space->recording)),
      "fraction_of_optimum", by_evaluations(f, c, FIGURE(mean)), "percentile_5",
      by_evaluations(f, c, FIGURE(percentile_5)), "standard_error", by_evaluations(f, c, FIGURE(standard_error)),
      "missed", by_evaluations(f, c, FIGURE(missed)), "search_s", clt_json_real(space->search_s));
  static const char *const stages[] = {"second_stage_measured", "second_stage_failed"};
  if (!(clt_note_value(space->notes, space->n_notes, stages[0]) > 0)) return out;
  for (size_t i = 0; i < 2; i++)
    json_object_set_new(out, stages[i],
                        json_integer((json_int_t)clt_note_value(space->notes, space->n_notes, stages[i])));
  return out;
}

int cli_replay_print_json(const clt_replay_result *r, const clt_replay_settings *settings, bool with_curves) {
  const char *searcher = settings->searcher;
  columns c = columns_of(r);
  clt_replay_figures mean[MAX_COLUMNS] = {{0}}, figures[MAX_COLUMNS];
  json_t *results = json_array();
  for (size_t i = 0; i < r->n_spaces; i++) {
    int rc = figures_of(figures, r, i, &c);
    if (rc) return json_decref(results), rc;
    add_to_mean(mean, figures, &c, r->n_spaces);
    json_t *space = space_json(&r->spaces[i], searcher, figures, &c);
    if (settings->objective) json_object_set_new(space, "optimum", clt_json_real(r->spaces[i].optimum));
    if (with_curves)
      json_object_set_new(space, settings->objective ? "mean_best_cost" : "mean_best_s", curve(r, &r->spaces[i]));
    json_array_append_new(results, space);
  }
  return cli_print_json(json_pack("{s:o, s:o, s:o, s:o, s:f}", "results", results, "mean",
                                  by_evaluations(mean, &c, FIGURE(mean)), "mean_standard_error",
                                  by_evaluations(mean, &c, FIGURE(standard_error)), "mean_missed",
                                  by_evaluations(mean, &c, FIGURE(missed)), "tolerance", r->tolerance));
}

/* --- text --- */

static int name_width(const clt_replay_result *r) {
  int width = 5;
  for (size_t i = 0; i < r->n_spaces; i++) {
    int n = snprintf(NULL, 0, "%s", clt_recording_name(r->spaces[i].recording));
    if (n > width) width = n;
  }
  return width;
}

static void print_line(const char *name, int width, const clt_replay_figures *f, const columns *c) {
  printf("%-*s", width, name);
  for (size_t i = 0; i < c->n; i++)
    printf("  %.4f +-%.4f", f[i].mean, isnan(f[i].standard_error) ? 0 : f[i].standard_error);
}

int cli_replay_print(const clt_replay_result *r, const char *searcher) {
  columns c = columns_of(r);
  clt_replay_figures mean[MAX_COLUMNS] = {{0}}, figures[MAX_COLUMNS];
  int width = name_width(r);
  printf("%s, %zu runs a space: optimum / best found (+- standard error) after so many evaluations\n", searcher,
         r->repeats);
  printf("%-*s", width, "space");
  for (size_t i = 0; i < c.n; i++) printf("  %15zu", c.at[i]);
  printf("  search/evaluation\n");
  for (size_t i = 0; i < r->n_spaces; i++) {
    char time[32];
    int rc = figures_of(figures, r, i, &c);
    if (rc) return rc;
    add_to_mean(mean, figures, &c, r->n_spaces);
    print_line(clt_recording_name(r->spaces[i].recording), width, figures, &c);
    printf("  %s\n", cli_time(time, r->spaces[i].search_s));
  }
  print_line("mean", width, mean, &c);
  putchar('\n');
  return 0;
}
