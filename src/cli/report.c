/* 'clatune report': stores, recordings and problem files as one report, in three forms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "problem/instance.h"
#include "report/report.h"
#include "store/pq.h"

#define DEFAULT_WIDTH 100
#define MOST_WIDTH 160
#define MOST_TUNINGS 64

/* share: of a path only the file's name. A URL is shown without its password. */
static void add_word(clt_text *text, const char *word, bool share) {
  char *shown = NULL;
  if (clt_pq_is_url(word)) word = clt_pq_shown(&shown, word, NULL) ? "" : shown;
  const char *slash = share ? strrchr(word, '/') : NULL;
  clt_text_add_word(text, slash ? slash + 1 : word);
  free(shown);
}

/* The command line; share: with the names of files instead of paths. */
static char *command_text(const cli_arguments *arguments, bool share) {
  char *out;
  clt_text text = {0};
  clt_text_printf(&text, "clatune %s", arguments->command->name);
  for (size_t i = 0; i < arguments->n_positional; i++) add_word(&text, arguments->positional[i], share);
  for (size_t i = 0; i < arguments->n_typed; i++) {
    const char *name = arguments->typed[i].name, *value = arguments->typed[i].value;
    const bool is_path = strcmp(name, "output") == 0 || strcmp(name, "store") == 0;
    const cli_flag *flag = cli_find_flag(arguments->command, name);
    clt_text_printf(&text, " --%s", name);
    if (flag && flag->argument) add_word(&text, value, share && is_path);
  }
  cli_check(clt_text_take(&out, &text, &cli_error));
  return cli_keep_memory(out);
}

static bool is_store(const char *path) {
  static const char store_mark[] = "SQLite format 3"; /* with its terminator */
  char begin[sizeof store_mark];
  size_t n = sizeof begin;
  return clt_pq_is_url(path) || (clt_file_read_start(begin, &n, path, NULL) == CLT_OK && n == sizeof begin &&
                                 memcmp(begin, store_mark, sizeof begin) == 0);
}

static void check_number(const clt_report *report) {
  if (clt_report_n_tunings(report) == MOST_TUNINGS)
    cli_usage("a report has at most %d tunings; select some with --problem, --device or --size", MOST_TUNINGS);
}

static void add_problem(clt_report *report, const cli_arguments *arguments, const char *path) {
  const cli_subject subject = cli_subject_new(arguments, path, CLI_DEVICE_KNOWN);
  clt_store *store = cli_open_store_to_read(arguments);
  if (store == NULL) cli_no_store(arguments);
  cli_check(clt_report_add_instance(report, store, subject.instance, &cli_error));
}

static void add_store(clt_report *report, const cli_arguments *a, const char *path) {
  const char *problem = cli_text(a, "problem"), *device = cli_text(a, "device");
  clt_store *store = cli_read_store(path);
  clt_store_description *keys = NULL;
  size_t n = 0, before = clt_report_n_tunings(report);
  cli_check(clt_store_keys(&keys, &n, store, false, &cli_error));
  const clt_store_key *last = NULL; /* of several descriptions of a key the first that matches */
  for (const clt_store_description *d = keys; d < keys + n; d++) {
    bool chosen = (problem == NULL || strcmp(problem, d->problem_name) == 0) &&
                  (device == NULL || strcasestr(d->key.device, device));
    for (size_t i = 0; chosen && i < a->n_typed; i++)
      chosen = strcmp(a->typed[i].name, "size") != 0 || cli_has_words(d->sizes, a->typed[i].value);
    if (!chosen || (last && clt_store_same_key(last, &d->key))) continue;
    last = &d->key;
    clt_error why = {0};
    check_number(report);
    if (clt_report_add_key(report, store, d, &why) && why.code != CLT_E_NOT_FOUND) /* only attempts, no measurement */
      cli_report(&why);
  }
  if (clt_report_n_tunings(report) == before)
    cli_failure("no tuning in the store '%s' matches; 'clatune store list --store FILE' shows names and devices",
                clt_store_path(store));
  clt_store_keys_free(keys, n);
}

static void free_report(void *report) { clt_report_free(report); }

static int run_report(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  bool json = cli_given(arguments, "json"), csv = cli_given(arguments, "csv"), share = cli_given(arguments, "share");
  bool text = cli_given(arguments, "text") || (!path && !json && !csv);
  if (csv && (path || json || text)) cli_usage("--csv writes to standard output; leave out -o, --text and --json");
  const clt_report_options options = {.objective = cli_text(arguments, "objective"),
                                      .seed = (uint64_t)cli_integer(arguments, "seed", 1, 0, INT64_MAX),
                                      .command = command_text(arguments, share),
                                      .share = share,
                                      .csv = csv};
  clt_report *report;
  char *output = NULL;
  cli_check(clt_report_new(&report, &options, &cli_error));
  cli_keep(report, free_report);
  for (size_t i = 0; i < arguments->n_positional; i++) {
    const char *source = arguments->positional[i];
    if (is_store(source)) {
      add_store(report, arguments, source);
      continue;
    }
    check_number(report);
    if (clt_ends_with(source, ".cl") || clt_problem_is_file(source)) { /* for a kernel, this explains the mistake */
      add_problem(report, arguments, source);
      continue;
    }
    cli_check(clt_report_add_recording(report, cli_load_recordings(&source, 1)[0], &cli_error));
  }
  if (path) {
    size_t n = clt_report_n_tunings(report);
    umask(share ? 022 : 077); /* else readable only for its owner: it has paths and names of problems */
    cli_check(clt_report_page(&output, report, &cli_error));
    cli_check(clt_file_replace(path, output, strlen(output), &cli_error));
    if (!json) printf("%s: report of %zu tuning%s\n", path, n, CLT_PLURAL(n));
    free(output);
  }
  if (text) {
    struct winsize size;
    int width = DEFAULT_WIDTH;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      width = size.ws_col < MOST_WIDTH ? size.ws_col : MOST_WIDTH;
    cli_check(clt_report_text(&output, report, width, &cli_error));
    fputs(output, stdout);
    free(output);
  }
  if (csv) {
    cli_exact_output();
    fputs(clt_report_csv(report), stdout);
  }
  return json ? cli_print_json(json_deep_copy(clt_report_document(report))) : CLI_FOUND;
}

static const cli_flag flags[] = {
    {"output", "FILE", "writes a self-contained HTML page with plots; also -o FILE"},
    {"share", NULL, "with -o: makes the page readable for other users (mode 0644) and omits the paths of files"},
    {"csv", NULL, "prints the measurements as comma-separated values, one per line"},
    {"text", NULL, "prints the report as text (the default without -o)"},
    {"problem", "NAME", "for a store: only this problem"},
    {"device", "NAME",
     "for a problem: the OpenCL device, as in 'clatune tune'; for a store: a part of the device's name"},
    CLI_FLAG_SIZE,
    CLI_FLAG_OBJECTIVE,
    CLI_FLAG_STORE,
    {"seed", "N", "seed of the model that is fitted to the measurements (default 1)"},
    CLI_FLAG_QUIET,
    CLI_FLAG_JSON};

const cli_command cli_report_command = {
    .name = "report",
    .summary = "reports measurements: best configurations, effects of parameters, failures",
    .synopsis = "STORE|RECORDING|PROBLEM... [-o FILE.html] [--text] [OPTION...]",
    .description =
        "Reports a store (all tunings, or those selected), a recording (of clatune, Kernel Tuner, CLTune, CLBlast's "
        "tuners\n"
        "or KTT), or what is stored for a problem file at these sizes on this device. Several are compared.",
    CLI_FLAGS(flags),
    .n_positional = {1, 64},
    .run = run_report,
};
