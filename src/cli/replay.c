/* clatune replay: runs a searcher on recorded spaces. */
#include "cli/cli.h"
#include "format/format.h"
#include "search/search.h"
#include "session/sources.h"

#define MOST_EVALUATIONS 10000000
#define MAX_COLUMNS 16

/* The columns: numbers of evaluations, and at each the figures of one space and of the mean over the spaces. */
typedef struct replay_columns {
  size_t at[MAX_COLUMNS], n;
  clt_replay_figures space[MAX_COLUMNS], mean[MAX_COLUMNS];
} replay_columns;

#define FIGURE(name) offsetof(clt_replay_figures, name)

/* One of the figures, by number of evaluations. */
static json_t *figures_json(const replay_columns *c, const clt_replay_figures *figures, size_t offset) {
  json_t *out = json_object();
  for (size_t i = 0; i < c->n; i++) {
    char key[24];
    double value;
    snprintf(key, sizeof key, "%zu", c->at[i]);
    memcpy(&value, (const char *)&figures[i] + offset, sizeof value);
    json_object_set_new(out, key, clt_json_real(value));
  }
  return out;
}

/* The best time after each evaluation (with another objective its cost): the mean of the runs that have one, else null.
 */
static json_t *curve_json(const clt_replay_result *r, const clt_replay_space *space) {
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

static json_t *space_json(const clt_replay_space *space, const char *searcher, const replay_columns *c) {
  static const char *const stages[] = {"second_stage_measured", "second_stage_failed"};
  const clt_recording *recording = space->recording;
  json_int_t n_failed = 0;
  for (size_t i = 0; i < recording->n; i++) n_failed += !clt_measurement_correct(clt_recording_at(recording, i));
  json_t *out =
      json_pack("{s:s, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "space", clt_recording_name(recording),
                "configurations", (json_int_t)recording->n, "failed", n_failed, "searcher", searcher, "optimum_s",
                clt_json_real(recording->optimum_s), "fraction_of_optimum", figures_json(c, c->space, FIGURE(mean)),
                "percentile_5", figures_json(c, c->space, FIGURE(percentile_5)), "standard_error",
                figures_json(c, c->space, FIGURE(standard_error)), "missed", figures_json(c, c->space, FIGURE(missed)),
                "search_s", clt_json_real(space->search_s));
  bool has_stages = clt_note_value(space->notes, space->n_notes, stages[0]) > 0;
  for (size_t i = 0; has_stages && i < 2; i++)
    json_object_set_new(out, stages[i],
                        json_integer((json_int_t)clt_note_value(space->notes, space->n_notes, stages[i])));
  return out;
}

/* Columns: the usual numbers of evaluations below the budget, and the budget. */
static json_t *replay_json(const clt_replay_result *r, const clt_tune_settings *settings, bool with_curves) {
  static const size_t customary[] = {10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
  replay_columns c = {.n = 0};
  json_t *results = json_array();
  double n_spaces = (double)r->n_spaces;
  for (size_t i = 0; i < sizeof customary / sizeof *customary && customary[i] < r->budget; i++)
    c.at[c.n++] = customary[i];
  c.at[c.n++] = r->budget;
  for (size_t s = 0; s < r->n_spaces; s++) {
    const clt_replay_space *space = &r->spaces[s];
    for (size_t i = 0; i < c.n; i++) {
      clt_replay_figures *f = &c.space[i], *mean = &c.mean[i];
      cli_check(clt_replay_figures_at(f, r, s, c.at[i], &cli_error));
      mean->mean += f->mean / n_spaces;
      /* The mean's standard error covers the choice of seeds, not that of spaces. */
      mean->standard_error = hypot(mean->standard_error, f->standard_error / n_spaces);
      mean->percentile_5 += f->percentile_5 / n_spaces;
      mean->missed += f->missed / n_spaces;
    }
    json_t *json = space_json(space, settings->searcher, &c);
    const bool by_time = !settings->objective && !space->recording->by_energy && !space->recording->figure.name;
    if (!by_time) json_object_set_new(json, "optimum", clt_json_real(space->optimum));
    if (with_curves) json_object_set_new(json, by_time ? "mean_best_s" : "mean_best_cost", curve_json(r, space));
    json_array_append_new(results, json);
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:f}", "results", results, "mean", figures_json(&c, c.mean, FIGURE(mean)),
                   "mean_standard_error", figures_json(&c, c.mean, FIGURE(standard_error)), "mean_missed",
                   figures_json(&c, c.mean, FIGURE(missed)), "tolerance", r->tolerance);
}

static void print_columns(const char *name, int width, const json_t *means, const json_t *errors) {
  const char *at;
  json_t *mean;
  printf("%-*s", width, name);
  json_object_foreach((json_t *)means, at, mean) {
    const double error = clt_json_number(errors, at);
    printf("  %.4f +-%.4f", json_number_value(mean), isnan(error) ? 0 : error);
  }
}

/* A table: a row for each space, and their mean. */
static void print_replay(const json_t *answer, const char *searcher, size_t repeats) {
  json_t *results = json_object_get(answer, "results"), *means = json_object_get(answer, "mean"), *space, *mean;
  const char *at;
  int width = 5;
  size_t i;
  json_array_foreach(results, i, space) {
    const int n = (int)strlen(clt_json_string(space, "space"));
    if (n > width) width = n;
  }
  printf("%s, %zu runs per space: optimum / best found (+- standard error) after N evaluations\n", searcher, repeats);
  printf("%-*s", width, "space");
  json_object_foreach(means, at, mean) printf("  %15s", at);
  puts("  search/evaluation");
  json_array_foreach(results, i, space) {
    char time[32];
    print_columns(clt_json_string(space, "space"), width, json_object_get(space, "fraction_of_optimum"),
                  json_object_get(space, "standard_error"));
    printf("  %s\n", clt_time_text(time, clt_json_number(space, "search_s")));
  }
  print_columns("mean", width, means, json_object_get(answer, "mean_standard_error"));
  putchar('\n');
}

/* Every evaluation of every run, in order. */
static void write_events(FILE *out, const clt_replay_result *r, uint64_t seed) {
  const cli_events events = {.out = out};
  for (size_t s = 0; out && s < r->n_spaces; s++) {
    const clt_replay_space *space = &r->spaces[s];
    for (size_t i = 0; i < r->repeats * r->budget; i++) {
      if (space->configs[i] == CLT_CONFIG_NONE) continue;
      cli_event(
          &events, "evaluation",
          json_pack("{s:s, s:I, s:I, s:o, s:f}", "space", clt_recording_name(space->recording), "seed",
                    (json_int_t)(seed + i / r->budget), "evaluations", (json_int_t)(i % r->budget + 1), "configuration",
                    clt_json_configuration(clt_recording_space(space->recording), space->configs[i]),
                    "fraction_of_optimum", space->fractions[i]));
    }
  }
}

/* --- the command --- */

static int run_replay(const cli_arguments *a) {
  const char *searcher = cli_text(a, "searcher");
  static const clt_setting noise = {"noise", "yes"};
  const unsigned repeats = (unsigned)cli_integer(a, "repeat", 20, 1, 100000);
  clt_tune_settings settings = {.struct_size = sizeof settings, /* no finalists */
                                .evaluator_settings = &noise,
                                .n_evaluator_settings = cli_given(a, "noise"),
                                .objective = cli_text(a, "objective"),
                                .searcher = searcher ? searcher : CLT_DEFAULT_SEARCHER,
                                .budget = cli_integer(a, "budget", CLT_DEFAULT_BUDGET, 1, MOST_EVALUATIONS),
                                .seed = (uint64_t)cli_integer(a, "seed", 1, 0, INT64_MAX),
                                .batch = (size_t)cli_integer(a, "batch", 1, 1, 1000000),
                                .threads = (unsigned)cli_integer(a, "threads", 0, 0, 1024),
                                .stop = cli_signals_flag()};
  clt_replay_result result;
  clt_error error = {0};
  if (clt_searcher_find(settings.searcher) == NULL) cli_no_plugin(a, &clt_searchers, settings.searcher);
  settings.searcher_settings = cli_settings(&settings.n_searcher_settings, a, &clt_searchers, settings.searcher);
  clt_recording **recordings = cli_load_recordings((const char *const *)a->positional, a->n_positional);
  settings.learn_from = (const clt_recording *const *)cli_load_sources(&settings.n_learn_from, a);
  FILE *events = cli_events_open(a);
  cli_signals_install();
  int rc = clt_replay(&result, (const clt_recording *const *)recordings, a->n_positional, repeats, &settings, &error);
  if (rc == CLT_E_STOPPED) return 128 + *cli_signals_flag();
  if (rc) cli_report(&error);
  write_events(events, &result, settings.seed);
  if (events != stdout) {
    json_t *answer = replay_json(&result, &settings, cli_given(a, "curve"));
    if (cli_given(a, "json"))
      rc = cli_print_json(json_incref(answer));
    else
      print_replay(answer, settings.searcher, repeats);
    json_decref(answer);
  }
  clt_replay_result_release(&result);
  const int closed = cli_events_close(events);
  return rc ? rc : closed;
}

static const cli_flag flags[] = {
    {"searcher", "NAME", "the search algorithm, see below (default surrogate)"},
    CLI_FLAG_OBJECTIVE,
    {"budget", "N", "evaluations per run (default 200)"},
    {"repeat", "R", "runs per space, with seeds S to S+R-1 (default 20)"},
    {"batch", "N", "configurations that the searcher proposes at once (default 1)"},
    {"noise", NULL, "answers with a randomly drawn recorded run instead of the mean of the runs"},
    {"threads", "N", "runs at the same time (default: one per processor)"},
    CLI_FLAG_LEARN_FROM,
    CLI_FLAG_NO_TRANSFER,
    {"events", "FILE",
     "writes every evaluation of every run as a JSON line: space, seed, configuration, optimum / best so far; -: to "
     "standard output, instead of the answer"},
    {"curve", NULL, "with --json: adds the mean best time after each evaluation"},
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET,
};

const cli_command cli_replay = {
    .name = "replay",
    .summary = "tests a searcher on recorded spaces, without a device",
    .synopsis = "FILE... [--searcher NAME] [--budget N] [--repeat R] [OPTION...]",
    .description =
        "Runs a searcher on recordings: T4 results, cache files of Kernel Tuner, and results of CLTune, CLBlast's "
        "tuners and KTT, plain or gzip. Prints optimum / best found after the first evaluations, mean over the runs. "
        "Every evaluation counts, including failed ones; before the first correct one the fraction is 0.",
    CLI_FLAGS(flags),
    .plugins = {&clt_searchers},
    .n_positional = {1, 100000},
    .run = run_replay,
};
