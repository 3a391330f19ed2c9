#include "cli/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/sweep_table.h"

#define CELL_TEXT 1024

/* --- looking, without measuring --- */

static void look(cli_sweep_subject *subject) {
  cli_sweep_tuning t = {0};
  for (size_t d = 0; d < subject->n_devices; d++)
    for (size_t i = 0; i < subject->n_cells; i++) cli_sweep_prepare(&t, subject, d, i);
  cli_sweep_tuning_release(&t);
}

static const char *state_of(const cli_row *row) {
  return row->state == CLI_ROW_OPEN ? "to do" : row->state == CLI_ROW_FINISHED ? "finished" : "fails";
}

static int list_json(const cli_sweep_subject *s) {
  json_t *list = json_array();
  char text[CELL_TEXT];
  for (size_t d = 0; d < s->n_devices; d++)
    for (size_t i = 0; i < s->n_cells; i++) {
      const cli_row *row = cli_sweep_row(s, d, i);
      clt_sweep_cell cell;
      clt_sweep_cell_at(&cell, s->plan, s->cells[i]);
      clt_sweep_cell_print(&cell, text, sizeof text);
      json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "device", s->devices[d].name, "tuning", text,
                                            "state", state_of(row), "reason", row->reason));
    }
  return cli_print_json(
      json_pack("{s:s, s:O, s:o}", "plan", clt_sweep_name(s->plan), "missing_devices", s->missing, "tunings", list));
}

static int list_text(const cli_sweep_subject *s) {
  char text[CELL_TEXT];
  for (size_t d = 0; d < s->n_devices; d++) {
    printf("%s\n", s->devices[d].name);
    for (size_t i = 0; i < s->n_cells; i++) {
      const cli_row *row = cli_sweep_row(s, d, i);
      clt_sweep_cell cell;
      clt_sweep_cell_at(&cell, s->plan, s->cells[i]);
      clt_sweep_cell_print(&cell, text, sizeof text);
      printf("  %s: %s%s%s\n", text, state_of(row), row->state == CLI_ROW_FAILED ? ": " : "",
             row->state == CLI_ROW_FAILED && row->reason ? row->reason : "");
    }
  }
  cli_sweep_counts c = cli_sweep_count(s);
  printf("%zu tunings, %zu of them finished; nothing was measured\n", c.total, c.found);
  return 0;
}

/* --- the command --- */

static int list(cli_sweep_subject *subject, const char *format) {
  look(subject);
  int rc = strcmp(format, "json") == 0 ? list_json(subject) : list_text(subject);
  return rc ? rc : cli_sweep_exit_code(subject);
}

static int summarise(cli_sweep_subject *subject, const char *format) {
  look(subject);
  int rc = cli_sweep_print(subject, format, 0);
  return rc ? rc : cli_sweep_exit_code(subject);
}

static int measure(cli_sweep_subject *subject, const cli_arguments *arguments, const char *format) {
  int64_t jobs;
  int rc = cli_integer(&jobs, arguments, "jobs", 0, 1, 1000);
  if (rc) return rc;
  rc = cli_sweep_run(subject, jobs, cli_given(arguments, "quiet"));
  int printed = cli_sweep_print(subject, format, rc > 128);
  if (rc == 0) rc = printed;
  return rc ? rc : cli_sweep_exit_code(subject);
}

static int run_sweep(const cli_arguments *arguments) {
  cli_sweep_subject subject;
  static const char *const formats[] = {"text", "json", "csv", "markdown"};
  const char *format;
  int rc = cli_format(&format, arguments, formats, 4);
  if (rc) return rc;
  rc = cli_sweep_subject_init(&subject, arguments);
  if (rc == 0 && cli_given(arguments, "dry-run"))
    rc = list(&subject, format);
  else if (rc == 0 && cli_given(arguments, "summary"))
    rc = summarise(&subject, format);
  else if (rc == 0)
    rc = measure(&subject, arguments, format);
  cli_sweep_subject_release(&subject);
  return rc;
}

static const cli_flag flags[] = {
    {"device", "NAME",
     "on this device (as for 'tune'), or on all of a kind (all, cpu, gpu, accelerator), in place of the "
     "plan's; may be repeated"},
    {"only", "WORDS", "only tunings in whose line of --dry-run all these words stand; may be repeated"},
    {"jobs", "N", "devices at once (default: all that are physically different; the CPU is measured alone)"},
    {"dry-run", NULL, "lists the tunings, and which are finished; measures nothing"},
    {"summary", NULL, "the table of what is finished; measures nothing"},
    {"output", "FILE", "where finished tunings are kept (default: beside the plan, NAME.results.jsonl); also -o"},
    {"format", "NAME", "the table as text, json, csv or markdown"},
    CLI_FLAG_STORE,
    {"no-store", NULL, "keeps no measurements and reuses none"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET,
};

const cli_command cli_sweep = {
    .name = "sweep",
    .summary = "tunes all that a plan file lists: devices, problems, sizes, searchers, budgets, seeds",
    .synopsis = "PLAN [--device NAME]... [--only WORDS]... [--jobs N] [OPTION...]",
    .description =
        "Runs every tuning of a plan (docs/plans.md): every device x problem x size x searcher x budget x seed. "
        "Physical\n"
        "devices work side by side. A tuning that is finished is appended to the file of results, and its "
        "measurements\n"
        "are in the store; so the same command goes on where it was stopped, and measures nothing twice. A tuning "
        "that\n"
        "fails does not stop the others; the table at the end says why. Exit code: 0 all found, 130 interrupted (and\n"
        "resumable); where tunings failed, the code that they share, or 1.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_sweep,
};
