#include <clatune/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/setting_up.h"

#define DEFAULT_WIDTH 100
#define MOST_WIDTH 160

static int terminal_width(void) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0) return DEFAULT_WIDTH;
  return size.ws_col < MOST_WIDTH ? size.ws_col : MOST_WIDTH;
}

/* Whether a file is a problem's; recordings, compressed or not, are left to their own reader. Of a kernel the problem's
 * says what it is. */
static bool is_problem(const char *path) {
  size_t n = strlen(path);
  if (n > 3 && strcmp(path + n - 3, ".cl") == 0) return true;
  json_t *json = json_load_file(path, 0, NULL);
  bool yes = json_object_get(json, "KernelSpecification") != NULL;
  json_decref(json);
  return yes;
}

static int print(const clt_report *report) {
  clt_error error = {0};
  char *text = NULL;
  if (clt_report_n_rows(report) == 0) return cli_failure("nothing is known of '%s'", clt_report_title(report));
  if (clt_report_text(&text, report, terminal_width(), &error)) return cli_report(&error);
  fputs(text, stdout);
  free(text);
  return CLI_FOUND;
}

static int report_problem(const cli_arguments *arguments, const char *path) {
  cli_subject subject;
  clt_store *store = NULL;
  clt_report *report = NULL;
  clt_error error = {0};
  int rc = cli_subject_init(&subject, arguments, path, CLI_DEVICE_KNOWN);
  if (rc) return rc;
  rc = cli_open_store_to_read(&store, arguments);
  if (rc == 0 && store == NULL) rc = cli_no_store(arguments);
  if (rc == 0 && clt_report_from_store(&report, store, subject.instance, &error)) rc = cli_report(&error);
  if (rc == 0) rc = print(report);
  clt_report_free(report);
  clt_store_close(store);
  cli_subject_release(&subject);
  return rc;
}

static int report_recording(const char *path) {
  clt_recording *recording = NULL;
  clt_report *report = NULL;
  clt_error error = {0};
  int rc = 0;
  if (clt_recording_load(&recording, path, &error) || clt_report_from_recording(&report, recording, &error))
    rc = cli_report(&error);
  if (rc == 0) rc = print(report);
  clt_report_free(report);
  clt_recording_free(recording);
  return rc;
}

static int run(const cli_arguments *arguments) {
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < arguments->n_positional; i++) {
    const char *path = arguments->positional[i];
    if (i) putchar('\n');
    rc = is_problem(path) ? report_problem(arguments, path) : report_recording(path);
  }
  return rc;
}

static const cli_flag flags[] = {
    {"text", NULL, "as text (the default)"}, CLI_FLAG_DEVICE, CLI_FLAG_SIZE, CLI_FLAG_STORE, CLI_FLAG_QUIET};

const cli_command cli_report_command = {
    .name = "report",
    .summary = "what was measured: the best, the parameters' effects, failures",
    .synopsis = "PROBLEM|RECORDING... [--device NAME] [--size NAME=N]... [--store FILE]",
    .description =
        "Of a problem file: what the store holds of it at these sizes on this device. Of a recording (T4 results, a\n"
        "cache file of Kernel Tuner, what CLTune, CLBlast's tuners, KTT or 'clatune record' wrote): what is in it.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .min_positional = 1,
    .max_positional = 64,
    .run = run,
};
