/* Which tunings a sweep has: the plan's cells, on the devices, without what is filtered out. */
#include "cli/sweep.h"

#include <clatune/sys/evaluator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "device/device.h"

#define CELL_TEXT 1024

/* What was typed counts in place of the plan's devices; where neither says anything, what counts for `tune`. */
static int choose_devices(cli_sweep *out, const cli_arguments *arguments) {
  clt_error error = {0};
  clt_device_info *all = NULL;
  bool programs = clt_sweep_is_of_commands(out->plan);
  const char **typed = NULL, *usual = programs ? NULL : getenv("CLATUNE_DEVICE");
  size_t n_all = 1, n_typed = 0, n_planned = out->plan->n_devices;
  if (!programs && clt_devices(&all, &n_all, &error)) return cli_report(&error);
  if (programs && (all = calloc(1, sizeof *all)) != NULL) clt_device_host(all);
  bool *chosen = calloc(n_all + 1, sizeof *chosen);
  size_t *indices = calloc(n_all + 1, sizeof *indices);
  out->devices = calloc(n_all + 1, sizeof *out->devices);
  int rc = chosen && indices && out->devices && (all || !programs) ? cli_texts(&typed, &n_typed, arguments, "device")
                                                                   : cli_failure("out of memory");
  size_t n_texts = n_typed ? n_typed : n_planned ? n_planned : 1;
  for (size_t k = 0; rc == 0 && k < n_texts; k++) {
    const char *text = n_typed ? typed[k] : n_planned ? out->plan->devices[k] : usual ? usual : "";
    size_t n = 0;
    if (clt_sweep_select(indices, &n, all, n_all, text, &error)) {
      fprintf(stderr, "clatune: warning: %s\n", error.message);
      json_array_append_new(out->missing, json_pack("{s:s, s:s}", "device", text, "reason", error.message));
      error = (clt_error){0};
      continue;
    }
    for (size_t i = 0; i < n; i++) chosen[indices[i]] = true;
  }
  for (size_t i = 0; rc == 0 && i < n_all; i++)
    if (chosen[i]) out->devices[out->n_devices++] = all[i];
  free(typed);
  free(chosen);
  free(indices);
  free(all);
  if (rc == 0 && out->n_devices == 0) return cli_failure("there is no device to tune on"), CLI_NO_DEVICE;
  return rc;
}

/* Loads the plan, chooses devices and cells, reads the results so far. Returns 0, or an exit code after a message;
 * release in either case. */
static int sweep_init(cli_sweep *out, const cli_arguments *arguments) {
  clt_error error = {0};
  const char *plan = arguments->positional[0], *typed = cli_text(arguments, "output");
  *out = (cli_sweep){.store_path = cli_text(arguments, "store"),
                     .no_store = cli_given(arguments, "no-store"),
                     .missing = json_array()};
  if (clt_sweep_load(&out->plan, plan, &error)) return cli_report(&error);
  const char **only = NULL;
  size_t n_only = 0;
  out->cells = calloc(out->plan->n_cells, sizeof *out->cells);
  int rc = out->cells ? cli_texts(&only, &n_only, arguments, "only") : cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && i < out->plan->n_cells; i++) {
    char text[CELL_TEXT];
    clt_sweep_cell cell;
    clt_sweep_cell_at(&cell, out->plan, i);
    clt_sweep_cell_print(&cell, text, sizeof text);
    bool chosen = n_only == 0;
    for (size_t k = 0; k < n_only && !chosen; k++) chosen = cli_has_words(text, only[k]);
    if (chosen) out->cells[out->n_cells++] = i;
  }
  free(only);
  if (rc == 0 && out->n_cells == 0)
    return cli_usage("no tuning of the plan has these words (see 'clatune sweep --dry-run')");
  if (rc) return rc;
  clt_text path = {0}; /* "plans/x.json" -> "plans/x.results.jsonl" */
  char *results = NULL;
  clt_text_add_bytes(&path, typed ? typed : plan,
                     strlen(typed ? typed : plan) - (!typed && clt_ends_with(plan, ".json") ? 5 : 0));
  if (!typed) clt_text_add(&path, ".results.jsonl");
  if (clt_text_take(&results, &path, NULL)) return cli_failure("out of memory");
  rc = cli_results_read(&out->results, results);
  if (rc == 0) rc = choose_devices(out, arguments);
  if (rc) return rc;
  out->rows = calloc(out->n_devices * out->n_cells, sizeof *out->rows);
  return out->rows ? 0 : cli_failure("out of memory");
}

static void sweep_release(cli_sweep *s) {
  for (size_t i = 0; s->rows && i < s->n_devices * s->n_cells; i++) free(s->rows[i].reason);
  free(s->rows);
  free(s->cells);
  free(s->devices);
  json_decref(s->missing);
  cli_results_close(&s->results);
  clt_sweep_free(s->plan);
}

cli_row *cli_sweep_row(const cli_sweep *s, size_t device, size_t cell) { return &s->rows[device * s->n_cells + cell]; }

clt_sweep_cell cli_sweep_cell(const cli_sweep *s, size_t cell) {
  clt_sweep_cell out;
  clt_sweep_cell_at(&out, s->plan, s->cells[cell]);
  return out;
}

void cli_sweep_fail(cli_row *row, const clt_error *error) {
  char text[2048];
  clt_error_format(error, text, sizeof text);
  row->state = CLI_ROW_FAILED;
  row->now = true;
  row->code = cli_exit_code(error->code);
  row->reason = strdup(text[0] ? text : clt_error_text(error->code));
}

bool cli_sweep_prepare(cli_sweep_tuning *t, const cli_sweep *s, size_t device, size_t cell) {
  cli_row *row = cli_sweep_row(s, device, cell);
  clt_error error = {0};
  int rc = 0;
  clt_sweep_settings_release(&t->settings);
  t->cell = cli_sweep_cell(s, cell);
  if (t->instance == NULL || t->device != device || t->size_set != t->cell.size_set) {
    clt_instance_free(t->instance);
    t->instance = NULL;
    t->device = device;
    t->size_set = t->cell.size_set;
    rc = clt_instance_new(&t->instance, t->cell.problem, t->cell.sizes, t->cell.n_sizes, &s->devices[device], &error);
  }
  if (rc == 0) rc = clt_sweep_settings(&t->settings, s->plan, &t->cell, t->instance, &t->n_left_out, &error);
  if (rc == 0) rc = clt_sweep_key(t->key, &t->settings, &error);
  if (rc) return cli_sweep_fail(row, &error), false;
  if (!cli_results_find(&row->outcome, &s->results, t->key)) return true;
  row->state = CLI_ROW_FINISHED;
  if (row->outcome.best_s > 0) return false;
  row->code = CLI_NO_VALID;
  row->reason = strdup("no configuration gave a right result");
  return false;
}

void cli_sweep_tuning_release(cli_sweep_tuning *tuning) {
  clt_sweep_settings_release(&tuning->settings);
  clt_instance_free(tuning->instance);
  *tuning = (cli_sweep_tuning){0};
}

/* --- the command --- */

static int list_tunings(const cli_sweep *s, bool as_json) {
  static const char *const states[] = {
      [CLI_ROW_OPEN] = "to do", [CLI_ROW_FINISHED] = "finished", [CLI_ROW_FAILED] = "fails"};
  json_t *list = json_array();
  char text[CELL_TEXT];
  for (size_t d = 0; d < s->n_devices; d++) {
    if (!as_json) printf("%s\n", s->devices[d].name);
    for (size_t i = 0; i < s->n_cells; i++) {
      const cli_row *row = cli_sweep_row(s, d, i);
      clt_sweep_cell cell = cli_sweep_cell(s, i);
      bool failed = row->state == CLI_ROW_FAILED;
      clt_sweep_cell_print(&cell, text, sizeof text);
      if (!as_json)
        printf("  %s: %s%s%s\n", text, states[row->state], failed ? ": " : "",
               failed && row->reason ? row->reason : "");
      json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "device", s->devices[d].name, "tuning", text,
                                            "state", states[row->state], "reason", row->reason));
    }
  }
  if (as_json)
    return cli_print_json(
        json_pack("{s:s, s:O, s:o}", "plan", clt_sweep_name(s->plan), "missing_devices", s->missing, "tunings", list));
  json_decref(list);
  cli_sweep_counts c = cli_sweep_count(s);
  printf("%zu tunings, %zu of them finished; nothing was measured\n", c.total, c.found);
  return 0;
}

/* 0; what all failures share; or CLI_FAILURE. Then whether a device was missing. */
static int exit_code_of_rows(const cli_sweep *s) {
  int code = 0;
  for (size_t i = 0; i < s->n_devices * s->n_cells; i++) {
    int other = s->rows[i].state == CLI_ROW_OPEN ? 0 : s->rows[i].code;
    if (other && code && other != code) return CLI_FAILURE;
    if (other) code = other;
  }
  return code == 0 && json_array_size(s->missing) ? CLI_NO_DEVICE : code;
}

static int run_sweep(const cli_arguments *arguments) {
  static const char *const formats[] = {"text", "json", "csv", "markdown"};
  const char *format;
  cli_sweep sweep;
  int64_t jobs;
  int rc = cli_format(&format, arguments, formats, 4);
  if (rc == 0) rc = cli_integer(&jobs, arguments, "jobs", 0, 1, 1000);
  if (rc) return rc;
  rc = sweep_init(&sweep, arguments);
  bool lists = cli_given(arguments, "dry-run"), measures = !lists && !cli_given(arguments, "summary");
  if (rc == 0 && !measures) { /* which are finished */
    cli_sweep_tuning t = {0};
    for (size_t d = 0; d < sweep.n_devices; d++)
      for (size_t i = 0; i < sweep.n_cells; i++) cli_sweep_prepare(&t, &sweep, d, i);
    cli_sweep_tuning_release(&t);
    rc = lists ? list_tunings(&sweep, strcmp(format, "json") == 0) : cli_sweep_print(&sweep, format, false);
  } else if (rc == 0) {
    rc = cli_sweep_run(&sweep, jobs, cli_given(arguments, "quiet"));
    int printed = cli_sweep_print(&sweep, format, rc > 128);
    if (rc == 0) rc = printed;
  }
  if (rc == 0) rc = exit_code_of_rows(&sweep);
  sweep_release(&sweep);
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

const cli_command cli_sweep_command = {
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
