/* clatune replay: a searcher on recorded spaces. */
#include "cli/replay.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "cli/progress.h"

#define MOST_EVALUATIONS 10000000

static int numbers(clt_replay_settings *s, const cli_arguments *a) {
  int64_t seed, repeats, batch, threads;
  int rc = cli_integer(&s->budget, a, "budget", 200, 1, MOST_EVALUATIONS);
  if (rc == 0) rc = cli_integer(&repeats, a, "repeat", 20, 1, 100000);
  if (rc == 0) rc = cli_integer(&seed, a, "seed", 1, 0, INT64_MAX);
  if (rc == 0) rc = cli_integer(&batch, a, "batch", 1, 1, 1000000);
  if (rc == 0) rc = cli_integer(&threads, a, "threads", 0, 0, 1024);
  if (rc) return rc;
  s->repeats = (unsigned)repeats;
  s->seed = (uint64_t)seed;
  s->batch = (size_t)batch;
  s->threads = (unsigned)threads;
  return 0;
}

static int plug_in(clt_replay_settings *s, clt_setting **settings, const cli_arguments *a) {
  const char *searcher = cli_text(a, "searcher");
  s->searcher = searcher ? searcher : CLT_DEFAULT_SEARCHER;
  if (clt_searcher_find(s->searcher) == NULL)
    return cli_usage("there is no searcher '%s' (see 'clatune replay --help')", s->searcher);
  int rc = cli_settings(settings, &s->n_searcher_settings, a, "searcher", s->searcher);
  s->searcher_settings = *settings;
  return rc;
}

static int replay(const clt_replay_settings *settings, bool as_json, bool with_curves) {
  clt_replay_result result;
  clt_error error = {0};
  cli_signals_install();
  int rc = clt_replay(&result, settings, &error);
  if (rc == CLT_E_STOPPED) return 128 + *cli_signals_flag();
  if (rc) return cli_report(&error);
  rc = as_json ? cli_replay_print_json(&result, settings, with_curves) : cli_replay_print(&result, settings->searcher);
  clt_replay_result_release(&result);
  return rc;
}

/* Leaves what it loaded to the caller, also on failure. */
static int load(clt_replay_settings *s, clt_recording ***recordings, clt_recording ***sources, const cli_arguments *a) {
  int rc = cli_load_recordings(recordings, (const char *const *)a->positional, a->n_positional);
  if (rc == 0) rc = cli_load_sources(sources, &s->n_learn_from, a);
  s->recordings = (const clt_recording *const *)*recordings;
  s->n_recordings = a->n_positional;
  s->learn_from = (const clt_recording *const *)*sources;
  return rc;
}

static int run_replay(const cli_arguments *a) {
  clt_replay_settings settings = {
      .struct_size = sizeof settings,
      .objective = cli_text(a, "objective"), .noise = cli_given(a, "noise"), .stop = cli_signals_flag()};
  clt_setting *searcher_settings = NULL;
  clt_recording **recordings = NULL, **sources = NULL;
  int rc = numbers(&settings, a);
  if (rc == 0) rc = plug_in(&settings, &searcher_settings, a);
  if (rc == 0) rc = load(&settings, &recordings, &sources, a);
  if (rc == 0) rc = replay(&settings, cli_given(a, "json"), cli_given(a, "curve"));
  cli_free_recordings(recordings, a->n_positional);
  cli_free_recordings(sources, settings.n_learn_from);
  free(searcher_settings);
  return rc;
}

static const cli_flag flags[] = {
    {"searcher", "NAME", "which searcher (default surrogate)"},
    CLI_FLAG_OBJECTIVE,
    {"budget", "N", "evaluations of a run (default 200)"},
    {"repeat", "R", "runs of a space, with seeds S to S+R-1 (default 20)"},
    {"batch", "N", "configurations asked of the searcher at once (default 1)"},
    {"noise", NULL, "answers with one of the recorded runs, drawn by the seed, in place of their mean"},
    {"threads", "N", "runs at once (default: all processors)"},
    CLI_FLAG_LEARN_FROM,
    CLI_FLAG_NO_TRANSFER,
    {"curve", NULL, "with --json: the mean best time after each evaluation too"},
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET,
};

const cli_command cli_replay = {
    .name = "replay",
    .summary = "judges a searcher on recorded spaces",
    .synopsis = "FILE... [--searcher NAME] [--budget N] [--repeat R] [OPTION...]",
    .description =
        "Runs a searcher on recorded spaces, without a device: T4 results, cache files of Kernel Tuner, what CLTune,\n"
        "CLBlast's tuners and KTT wrote, plain or gzip.\n"
        "Says how near to the recorded optimum the best of the first evaluations comes, as optimum / best found, mean\n"
        "over the runs. Every evaluation counts, failed ones too; before the first correct one the fraction is 0.",
    CLI_FLAGS(flags),
    .searcher_options = true,
    .n_positional = {1, 100000},
    .run = run_replay,
};
