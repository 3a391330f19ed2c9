#include <clatune/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/report_json.h"
#include "cli/report_sources.h"

#define DEFAULT_WIDTH 100
#define MOST_WIDTH 160

static int terminal_width(void) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0) return DEFAULT_WIDTH;
  return size.ws_col < MOST_WIDTH ? size.ws_col : MOST_WIDTH;
}

/* --- the command, as it could be typed --- */

static void put_word(FILE *out, const char *word) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+@%-";
  if (word[0] && word[strspn(word, plain)] == '\0') {
    fprintf(out, " %s", word);
    return;
  }
  fputs(" '", out);
  for (; *word; word++) {
    if (*word == '\'')
      fputs("'\\''", out);
    else
      fputc(*word, out);
  }
  fputc('\'', out);
}

static bool takes_value(const cli_command *command, const char *flag) {
  for (size_t i = 0; i < command->n_flags; i++)
    if (strcmp(command->flags[i].name, flag) == 0) return command->flags[i].argument != NULL;
  return false;
}

static char *command_text(const cli_arguments *arguments) {
  char *text = NULL;
  size_t bytes;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return NULL;
  fprintf(out, "clatune %s", arguments->command->name);
  for (size_t i = 0; i < arguments->n_positional; i++) put_word(out, arguments->positional[i]);
  for (size_t i = 0; i < arguments->n_typed; i++) {
    fprintf(out, " --%s", arguments->typed[i].name);
    if (takes_value(arguments->command, arguments->typed[i].name)) put_word(out, arguments->typed[i].value);
  }
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* --- forms --- */

static int print(const cli_report_sources *sources, const clt_report_options *options) {
  clt_error error = {0};
  for (size_t i = 0; i < sources->n; i++) {
    char *text = NULL;
    if (clt_report_text(&text, sources->reports[i], options, terminal_width(), &error)) return cli_report(&error);
    printf("%s%s", i ? "\n" : "", text);
    free(text);
  }
  return CLI_FOUND;
}

static int print_json(const cli_report_sources *sources, const clt_report_options *options) {
  json_t *list = json_array();
  for (size_t i = 0; i < sources->n; i++) {
    clt_error error = {0};
    json_t *one = cli_report_json(sources->reports[i], options, &error);
    if (one == NULL && error.code) {
      json_decref(list);
      return cli_report(&error);
    }
    json_array_append_new(list, one);
  }
  return cli_print_json(json_pack("{s:s, s:o, s:I, s:o}", "version", CLATUNE_VERSION, "command",
                                  cli_report_json_text(options->command), "seed", (json_int_t)options->seed, "tunings",
                                  list));
}

static int set_objective(const cli_report_sources *sources, const char *objective) {
  clt_error error = {0};
  for (size_t i = 0; i < sources->n; i++)
    if (clt_report_set_objective(sources->reports[i], objective, &error)) return cli_report(&error);
  return 0;
}

static int write_page(const cli_report_sources *sources, const clt_report_options *options, const char *path,
                      bool says) {
  clt_error error = {0};
  char *page = NULL, *note = NULL;
  const clt_report *const *reports = (const clt_report *const *)sources->reports;
  int rc = clt_report_page(&page, &note, reports, sources->n, options, &error);
  if (rc == 0) rc = clt_report_page_write(path, page, &error);
  if (rc == 0 && note) fprintf(stderr, "clatune: warning: the page has no plots: %s\n", note);
  if (rc == 0 && says) printf("%s has the report of %zu tuning%s\n", path, sources->n, sources->n == 1 ? "" : "s");
  free(page);
  free(note);
  return rc ? cli_report(&error) : CLI_FOUND;
}

static int run_report(const cli_arguments *arguments) {
  cli_report_sources sources = {0};
  const char *path = cli_text(arguments, "output");
  char *command = command_text(arguments);
  int64_t seed;
  int rc = command ? cli_integer(&seed, arguments, "seed", 1, 0, INT64_MAX) : cli_failure("out of memory");
  if (rc == 0) rc = cli_report_sources_init(&sources, arguments);
  if (rc == 0) {
    const clt_report_options options = {.seed = (uint64_t)seed, .command = command};
    bool json = cli_given(arguments, "json"), text = cli_given(arguments, "text") || (!path && !json);
    rc = set_objective(&sources, cli_text(arguments, "objective"));
    if (rc == 0 && path) rc = write_page(&sources, &options, path, !json);
    if (rc == 0 && text) rc = print(&sources, &options);
    if (rc == 0 && json) rc = print_json(&sources, &options);
  }
  cli_report_sources_release(&sources);
  free(command);
  return rc;
}

static const cli_flag flags[] = {
    {"output", "FILE", "writes a page of HTML with plots, which needs nothing beside itself; also -o FILE"},
    {"text", NULL, "as text on standard output; what is done without -o, too"},
    {"problem", "NAME", "of a store: of this problem alone"},
    {"device", "NAME", "of a problem: its OpenCL device, as in 'clatune tune'; of a store: a part of the device's key"},
    CLI_FLAG_SIZE,
    CLI_FLAG_OBJECTIVE,
    CLI_FLAG_STORE,
    {"seed", "N", "seed of the model that is fitted to what was measured (default 1)"},
    CLI_FLAG_QUIET,
    CLI_FLAG_JSON};

const cli_command cli_report_command = {
    .name = "report",
    .summary = "what was measured: the best, the parameters' effects, failures",
    .synopsis = "STORE|RECORDING|PROBLEM... [-o FILE.html] [--text] [OPTION...]",
    .description =
        "Of a store: every problem on every device, or those that are chosen. Of a recording (T4 results, a cache\n"
        "file of Kernel Tuner, what CLTune, CLBlast's tuners, KTT or 'clatune record' wrote): what is in it. Of a\n"
        "problem file: what the store holds of it at these sizes on this device. Several are compared. Plots are\n"
        "made by gnuplot (Debian: gnuplot-nox); without it a page has none.",
    CLI_FLAGS(flags),
    .n_positional = {1, 64},
    .run = run_report,
};
