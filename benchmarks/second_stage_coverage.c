/* How often a chosen second stage keeps its promise: that with probability `confidence` nothing better than the best
 * found by more than `tolerance` remains unmeasured.
 *
 *   second_stage_coverage [-n SAMPLES] [-r RUNS] [-p CONFIDENCE] [-t TOLERANCE] [-m MAX] [RECORDING...]
 *
 * Runs two-stage searches with --second-stage auto, with seeds 1 .. RUNS, on recorded spaces or, without any, on
 * landscapes of the synthetic evaluator. A line a space: the share of runs that kept the promise, the mean and the
 * largest second stage, how much slower than the optimum the best was on average, the share of failures in the second
 * stage. */
#include <clatune/tune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/format.h"

typedef struct options {
  const char *samples, *max;
  long n_runs;
  double confidence, tolerance;
} options;

typedef struct tally {
  double n, kept, second_stage, loss, failed;
  int64_t largest;
} tally;

static void count(tally *t, const clt_tune_result *result, double optimum_s, double tolerance) {
  const clt_search_report *search = result->search;
  double measured = fmax(clt_note_value(search->notes, search->n_notes, "second_stage_measured"), 0);
  double best_s = result->best.config == CLT_CONFIG_NONE ? INFINITY : result->best.time_s;
  t->n++;
  t->kept += best_s <= (1 + tolerance) * optimum_s;
  t->loss += best_s / optimum_s - 1;
  t->second_stage += measured;
  t->failed += fmax(clt_note_value(search->notes, search->n_notes, "second_stage_failed"), 0);
  if (measured > (double)t->largest) t->largest = (int64_t)measured;
}

static int run(tally *t, clt_tune_settings settings, const options *o, double optimum_s) {
  const clt_setting two_stage[] = {{"samples", o->samples}, {"second-stage", "auto"}, {"second-stage-max", o->max}};
  settings.searcher = "two-stage";
  settings.searcher_settings = two_stage;
  settings.n_searcher_settings = 3;
  settings.finalists = 0;
  settings.confidence = o->confidence;
  settings.tolerance = o->tolerance;
  settings.batch = 64;
  for (long seed = 1; seed <= o->n_runs; seed++) {
    clt_tune_result *result;
    clt_error error = {0};
    settings.seed = (uint64_t)seed;
    int rc = clt_tune_run(&result, &settings, &error);
    if (rc && rc != CLT_E_NO_VALID) return fprintf(stderr, "%s\n", error.message), rc;
    count(t, result, optimum_s, o->tolerance);
    clt_tune_result_free(result);
  }
  return 0;
}

static void print(const char *name, uint64_t valid, const tally *t) {
  printf("%-28s %10llu  %5.3f  %8.1f %8lld  %6.2f %%  %5.1f %%\n", name, (unsigned long long)valid, t->kept / t->n,
         t->second_stage / t->n, (long long)t->largest, 100 * t->loss / t->n,
         t->second_stage > 0 ? 100 * t->failed / t->second_stage : 0);
  fflush(stdout);
}

static void add(tally *sum, const tally *part) {
  sum->n += part->n;
  sum->kept += part->kept;
  sum->second_stage += part->second_stage;
  sum->loss += part->loss;
  sum->failed += part->failed;
  if (part->largest > sum->largest) sum->largest = part->largest;
}

static int on_recording(tally *sum, const char *path, const options *o) {
  clt_recording *recording;
  clt_error error = {0};
  tally t = {0};
  if (clt_recording_new(&recording, path, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.evaluator = "replay";
  settings.recording = recording;
  int rc = run(&t, settings, o, recording->optimum_s);
  if (rc == 0) print(clt_recording_name(recording), clt_space_valid(clt_recording_space(recording)), &t);
  add(sum, &t);
  clt_recording_free(recording);
  return rc;
}

/* Six parameters of eight values under a limit on a product. */
static int synthetic_space(clt_space **out) {
  clt_space_builder *builder;
  clt_value values[8];
  if (clt_space_builder_new(&builder, NULL)) return 1;
  for (int i = 0; i < 8; i++) values[i] = (clt_value){CLT_INT, .integer = 1 << i};
  int rc = 0;
  for (char name[] = "a"; rc == 0 && name[0] <= 'f'; name[0]++)
    rc = clt_space_builder_parameter(builder, name, values, name[0] < 'e' ? 8 : 4, NULL);
  if (rc == 0) rc = clt_space_builder_constraint(builder, "a * b <= 1024", CLT_CONDITION, NULL, NULL);
  if (rc == 0) rc = clt_space_new(out, builder, NULL);
  clt_space_builder_free(builder);
  return rc;
}

static int on_landscape(tally *sum, const clt_space *space, const char *landscape, const options *o) {
  const clt_setting synthetic[] = {
      {"landscape", landscape}, {"optimum", "0.001"}, {"noise", "0"}, {"invalid", "0.2"}, {"capacity", "64"}};
  char name[64];
  tally t = {0};
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.evaluator = "synthetic";
  settings.space = space;
  settings.evaluator_settings = synthetic;
  settings.n_evaluator_settings = sizeof synthetic / sizeof *synthetic;
  snprintf(name, sizeof name, "synthetic, landscape %s", landscape);
  int rc = run(&t, settings, o, 0.001);
  if (rc == 0) print(name, clt_space_valid(space), &t);
  add(sum, &t);
  return rc;
}

static int on_landscapes(tally *sum, const options *o) {
  static const char *const landscapes[] = {"1", "2", "3", "4"};
  clt_space *space = NULL;
  int rc = synthetic_space(&space);
  for (size_t i = 0; rc == 0 && i < 4; i++) rc = on_landscape(sum, space, landscapes[i], o);
  clt_space_free(space);
  return rc;
}

static int usage(const char *program) {
  fprintf(stderr, "usage: %s [-n SAMPLES] [-r RUNS] [-p CONFIDENCE] [-t TOLERANCE] [-m MAX] [RECORDING...]\n", program);
  return 2;
}

int main(int argc, char **argv) {
  options o = {.samples = "200", .max = "1000000", .n_runs = 5, .confidence = 0.9, .tolerance = 0.02};
  tally sum = {0};
  for (int c; (c = getopt(argc, argv, "n:r:p:t:m:")) != -1;) {
    switch (c) {
      case 'n': o.samples = optarg; break;
      case 'r': o.n_runs = strtol(optarg, NULL, 10); break;
      case 'p': o.confidence = strtod(optarg, NULL); break;
      case 't': o.tolerance = strtod(optarg, NULL); break;
      case 'm': o.max = optarg; break;
      default: return usage(argv[0]);
    }
  }
  printf("%s samples, confidence %g, tolerance %g, %ld runs a space\n", o.samples, o.confidence, o.tolerance, o.n_runs);
  printf("%-28s %10s  %5s  %8s %8s  %8s  %7s\n", "space", "valid", "kept", "mean M", "largest", "loss", "failed");
  int rc = optind == argc ? on_landscapes(&sum, &o) : 0;
  for (int i = optind; rc == 0 && i < argc; i++) rc = on_recording(&sum, argv[i], &o);
  if (rc == 0 && sum.n > 0) print("all", 0, &sum);
  return rc ? 1 : 0;
}
