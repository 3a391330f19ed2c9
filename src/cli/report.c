/* 'clatune report': stores, recordings and problem files as one report, in three forms. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/tuning.h"
#include "problem/instance.h"
#include "report/report.h"
#include "store/pq.h"

#define DEFAULT_WIDTH 100
#define FOLLOW_PERIOD_S 2
#define FOLLOW_WAIT_MS 100 /* until new events are looked for */
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

/* What stands on the command line. A page that follows a search reads it again and again. */
typedef struct source {
  cli_subject subject; /* of a problem file */
  clt_store *store;    /* NULL: not opened yet */
  clt_recording *recording;
} source;

static void add_store(clt_report *report, const cli_arguments *a, const char *path, source *s) {
  const clt_store_selection selection = {.problem_name = cli_text(a, "problem"), .device = cli_text(a, "device")};
  if (s->store == NULL) s->store = cli_read_store(path);
  clt_store *store = s->store;
  clt_store_description *keys = NULL;
  size_t n = 0, before = clt_report_n_tunings(report);
  cli_check(clt_store_keys(&keys, &n, store, false, &cli_error));
  const clt_store_key *last = NULL; /* of several descriptions of a key the first that matches */
  for (const clt_store_description *d = keys; d < keys + n; d++) {
    bool chosen = clt_store_selects(&selection, d);
    for (size_t i = 0; chosen && i < a->n_typed; i++)
      chosen = strcmp(a->typed[i].name, "size") != 0 || cli_has_words(d->sizes, a->typed[i].value);
    if (!chosen || (last && clt_store_same_key(last, &d->key))) continue;
    last = &d->key;
    clt_error why = {0};
    check_number(report);
    if (clt_report_add_key(report, store, d, (size_t)(keys + n - d), &why) &&
        why.code != CLT_E_NOT_FOUND) /* only attempts, no measurement */
      cli_report(&why);
  }
  if (clt_report_n_tunings(report) == before && !cli_given(a, "follow"))
    cli_failure("no tuning in the store '%s' matches; 'clatune store list --store FILE' shows names and devices",
                clt_store_path(store));
  clt_store_keys_free(keys, n);
}

static void add_source(clt_report *report, const cli_arguments *arguments, const char *path, source *s) {
  const bool was_store = s->store && s->subject.instance == NULL, follows = cli_given(arguments, "follow");
  if (was_store || is_store(path)) {
    add_store(report, arguments, path, s);
    return;
  }
  const bool is_text = clt_ends_with(path, ".cl") || clt_ends_with(path, ".json") || clt_ends_with(path, ".gz");
  if (follows && !is_text && access(path, F_OK) && errno == ENOENT) return; /* a store, soon */
  check_number(report);
  if (clt_ends_with(path, ".cl") || clt_problem_is_file(path)) { /* for a kernel, this explains the mistake */
    if (s->subject.instance == NULL) s->subject = cli_subject_new(arguments, path, CLI_DEVICE_KNOWN);
    if (s->store == NULL && cli_has_store(arguments)) s->store = cli_open_store_to_read(arguments);
    if (s->store == NULL && follows) return;
    if (s->store == NULL) cli_no_store(arguments);
    const int rc = clt_report_add_instance(report, s->store, s->subject.instance, &cli_error);
    if (rc != CLT_E_NOT_FOUND || !follows) cli_check(rc);
    return;
  }
  if (s->recording == NULL) s->recording = cli_load_recordings(&path, 1)[0];
  cli_check(clt_report_add_recording(report, s->recording, &cli_error));
}

static void write_page(const clt_report *report, const char *path) {
  char *page = NULL;
  cli_check(clt_report_page(&page, report, &cli_error));
  cli_check(clt_file_replace(path, page, strlen(page), &cli_error));
  free(page);
}

/* Rewrites the page whenever there are new events, until the search ends or a signal comes. */
static int follow_search(const cli_arguments *arguments, clt_report_options options, const char *path) {
  cli_follow follow = {.path = cli_text(arguments, "follow")};
  source *sources = cli_new(arguments->n_positional, sizeof *sources);
  bool due = true, last = false;
  double written_s = 0;
  const bool quiet = cli_given(arguments, "quiet"), exists = access(follow.path, R_OK) == 0;
  if (!exists && errno != ENOENT) cli_failure("cannot read '%s': %s", follow.path, strerror(errno));
  if (!exists && !quiet)
    cli_message(CLI_FOUND, "note: '%s' does not exist yet; waiting for a command with '--events %s' (Ctrl-C ends)",
                follow.path, follow.path);
  cli_signals_install();
  while (!last) {
    clt_report *report;
    due |= cli_follow_read(&follow);
    last = follow.ended || *cli_signals_flag();
    if (follow.ended && written_s == 0 && !quiet)
      cli_message(CLI_FOUND, "note: what '%s' tells of has ended already; '%s' is written once", follow.path, path);
    if (!last && (!due || clt_now_s() - written_s < FOLLOW_PERIOD_S)) {
      poll(NULL, 0, FOLLOW_WAIT_MS);
      continue;
    }
    options.without_model = !last;
    json_t *state = cli_follow_json(&follow);
    if (last) json_object_set_new(state, "ended", json_true()); /* nobody writes the page any more */
    cli_check(clt_report_new(&report, &options, &cli_error));
    clt_report_follow(report, state);
    for (size_t i = 0; i < arguments->n_positional; i++)
      add_source(report, arguments, arguments->positional[i], &sources[i]);
    write_page(report, path);
    if (last && !quiet)
      printf("%s: report of %zu tuning%s\n", path, clt_report_n_tunings(report),
             CLT_PLURAL(clt_report_n_tunings(report)));
    clt_report_free(report);
    due = false;
    written_s = clt_now_s();
  }
  cli_follow_release(&follow);
  return *cli_signals_flag() ? 128 + *cli_signals_flag() : CLI_FOUND;
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
  if (path) umask(share ? 022 : 077); /* else readable only for its owner: it has paths and names of problems */
  if (cli_given(arguments, "follow")) {
    if (path == NULL || json || csv || cli_given(arguments, "text"))
      cli_usage("--follow writes a page; it needs -o FILE, and neither --text, --csv nor --json");
    return follow_search(arguments, options, path);
  }
  cli_check(clt_report_new(&report, &options, &cli_error));
  cli_keep(report, free_report);
  for (size_t i = 0; i < arguments->n_positional; i++)
    add_source(report, arguments, arguments->positional[i], &(source){.store = NULL});
  if (path) {
    size_t n = clt_report_n_tunings(report);
    write_page(report, path);
    if (!json) printf("%s: report of %zu tuning%s\n", path, n, CLT_PLURAL(n));
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
    {"follow", "EVENTS",
     "with -o: rewrites the page, which refreshes itself, while the tuning or sweep with '--events EVENTS' runs"},
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
        "tuners or KTT), or what is stored for a problem file at these sizes on this device. Several are compared.",
    CLI_FLAGS(flags),
    .n_positional = {1, 64},
    .run = run_report,
};
