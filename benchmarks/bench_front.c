/* How much of the front of two objectives a search finds: bench_front [RECORDING...] replays surrogate and random with
 * 100 evaluations and 20 seeds each, for the time and the size of a group's tile, and prints the hypervolume as a
 * share of that of the recording's whole front: the area that the front dominates, of logarithms from the least to the
 * greatest value in the recording. */
#include <clatune/tune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/format.h"
#include "measurement/measurement.h"

#define SEEDS 20
#define BUDGET 100
#define OBJECTIVES "time, minimise wg_x * wg_y * ppt_x * ppt_y"

static double low[2], high[2];

static void check(int rc, const clt_error *error) {
  if (rc == 0) return;
  fprintf(stderr, "bench_front: %s\n", error->message);
  exit(1);
}

static int by_first(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Sorts the points, of logarithms of costs. */
static double hypervolume(double points[][2], size_t n) {
  double area = 0, y = high[1];
  qsort(points, n, sizeof *points, by_first);
  for (size_t i = 0; i < n; i++) {
    if (!(points[i][1] < y)) continue;
    area += (high[0] - points[i][0]) * (y - points[i][1]);
    y = points[i][1];
  }
  return area / ((high[0] - low[0]) * (high[1] - low[1]));
}

static size_t add(double points[][2], size_t n, const clt_objective *o, const clt_measurement *m) {
  double costs[CLT_MOST_OBJECTIVES];
  if (!clt_measurement_correct(m) || !clt_objective_costs(o, m, costs)) return n;
  for (int k = 0; k < 2; k++) points[n][k] = log(costs[k]);
  return n + 1;
}

static double search(const clt_recording *recording, const clt_objective *o, const char *searcher, uint64_t seed) {
  clt_tune_settings settings;
  clt_tune_result *result;
  clt_error error = {0};
  double points[BUDGET][2];
  size_t n = 0;
  clt_tune_settings_init(&settings);
  settings.recording = recording;
  settings.evaluator = "replay";
  settings.searcher = searcher;
  settings.objective = OBJECTIVES;
  settings.budget = BUDGET;
  settings.finalists = 0;
  settings.seed = seed;
  check(clt_tune_run(&result, &settings, &error), &error);
  for (size_t i = 0; i < result->n_front; i++) n = add(points, n, o, &result->front[i]);
  clt_tune_result_free(result);
  return hypervolume(points, n);
}

static void replay(const char *path) {
  static const char *const searchers[] = {"surrogate", "random"};
  clt_recording *recording;
  clt_objective *o;
  clt_error error = {0};
  size_t n = 0, n_better = 0;
  double shares[2][SEEDS];
  check(clt_recording_new(&recording, path, &error), &error);
  check(clt_recording_objective(&o, recording, OBJECTIVES, &error), &error);
  double(*points)[2] = calloc(recording->n, sizeof *points);
  if (points == NULL) exit(1);
  for (size_t i = 0; i < recording->n; i++) n = add(points, n, o, &recording->measurements[i]);
  for (int k = 0; k < 2; k++) low[k] = INFINITY, high[k] = -INFINITY;
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 2; k++) low[k] = fmin(low[k], points[i][k]), high[k] = fmax(high[k], points[i][k]);
  const double whole = hypervolume(points, n);
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < SEEDS; i++) shares[s][i] = search(recording, o, searchers[s], (uint64_t)i + 1) / whole;
  for (int i = 0; i < SEEDS; i++) n_better += shares[0][i] > shares[1][i];
  printf("%-60s surrogate %.3f, random %.3f (medians of %d), better in %zu\n", path, clt_median(shares[0], SEEDS),
         clt_median(shares[1], SEEDS), SEEDS, n_better);
  free(points);
  clt_objective_free(o);
  clt_recording_free(recording);
}

int main(int argc, char **argv) {
  static const char *const shipped[] = {"convolution-h100", "stereo-h100", "convolution-pocl-2048", "stereo-pocl-256",
                                        "raycasting-pocl-256"};
  char path[600];
  for (int i = 1; i < argc; i++) replay(argv[i]);
  for (size_t i = 0; argc == 1 && i < sizeof shipped / sizeof *shipped; i++) {
    snprintf(path, sizeof path, RECORDINGS_FOLDER "/%s.json.gz", shipped[i]);
    replay(path);
  }
  return 0;
}
