/* The tables of `clatune replay`. */
#include <math.h>
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
  }
}

/* --- JSON --- */

static void set(json_t *object, size_t evaluations, double value) {
  char key[24];
  snprintf(key, sizeof key, "%zu", evaluations);
  json_object_set_new(object, key, cli_json_real(value));
}

static json_t *by_evaluations(const clt_replay_figures *figures, const columns *c, int which) {
  json_t *out = json_object();
  for (size_t i = 0; i < c->n; i++) {
    const clt_replay_figures *f = &figures[i];
    set(out, c->at[i], which == 0 ? f->mean : which == 1 ? f->percentile_5 : f->standard_error);
  }
  return out;
}

static json_t *space_json(const clt_replay_space *space, const char *searcher, const clt_replay_figures *f,
                          const columns *c) {
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "space", clt_recording_name(space->recording), "searcher",
                   searcher, "optimum_s", cli_json_real(clt_recording_optimum_s(space->recording)),
                   "fraction_of_optimum", by_evaluations(f, c, 0), "percentile_5", by_evaluations(f, c, 1),
                   "standard_error", by_evaluations(f, c, 2), "search_s", cli_json_real(space->search_s));
}

int cli_replay_print_json(const clt_replay_result *r, const char *searcher) {
  columns c = columns_of(r);
  clt_replay_figures mean[MAX_COLUMNS] = {{0}}, figures[MAX_COLUMNS];
  json_t *results = json_array();
  for (size_t i = 0; i < r->n_spaces; i++) {
    int rc = figures_of(figures, r, i, &c);
    if (rc) return json_decref(results), rc;
    add_to_mean(mean, figures, &c, r->n_spaces);
    json_array_append_new(results, space_json(&r->spaces[i], searcher, figures, &c));
  }
  return cli_print_json(json_pack("{s:o, s:o, s:o}", "results", results, "mean", by_evaluations(mean, &c, 0),
                                  "mean_standard_error", by_evaluations(mean, &c, 2)));
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
