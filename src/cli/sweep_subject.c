/* Which tunings a sweep has: the plan's cells, on the devices, without what is filtered out. */
#include <clatune/sys/evaluator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/sweep.h"

#define CELL_TEXT 1024

/* --- devices --- */

typedef struct choice {
  clt_device_info *found;
  size_t n_found;
  bool *chosen;
  json_t *missing;
} choice;

static int choose(choice *c, const char *text) {
  clt_error error = {0};
  size_t *indices = calloc(c->n_found + 1, sizeof *indices), n = 0;
  if (indices == NULL) return cli_failure("out of memory");
  int rc = clt_sweep_select(indices, &n, c->found, c->n_found, text, &error);
  for (size_t i = 0; rc == 0 && i < n; i++) c->chosen[indices[i]] = true;
  free(indices);
  if (rc) json_array_append_new(c->missing, json_pack("{s:s, s:s}", "device", text, "reason", error.message));
  return 0;
}

/* What was typed counts in place of the plan's devices; where neither says anything, what counts for `tune`. */
static int choose_all(choice *c, const clt_sweep *plan, const cli_arguments *arguments) {
  const char **typed = NULL, *usual = clt_sweep_is_of_commands(plan) ? NULL : getenv("CLATUNE_DEVICE");
  size_t n_typed = 0, n_planned = clt_sweep_n_devices(plan);
  int rc = cli_texts(&typed, &n_typed, arguments, "device");
  for (size_t i = 0; rc == 0 && i < n_typed; i++) rc = choose(c, typed[i]);
  for (size_t i = 0; rc == 0 && n_typed == 0 && i < n_planned; i++) rc = choose(c, clt_sweep_device(plan, i));
  if (rc == 0 && n_typed == 0 && n_planned == 0) rc = choose(c, usual ? usual : "");
  free(typed);
  return rc;
}

static void warn_of_missing(const json_t *missing) {
  size_t i;
  json_t *item;
  json_array_foreach(missing, i, item)
      fprintf(stderr, "clatune: warning: %s\n", json_string_value(json_object_get(item, "reason")));
}

static int list_devices(choice *c, const clt_sweep *plan) {
  clt_error error = {0};
  if (!clt_sweep_is_of_commands(plan)) return clt_devices(&c->found, &c->n_found, &error) ? cli_report(&error) : 0;
  c->found = calloc(1, sizeof *c->found);
  if (c->found == NULL) return cli_failure("out of memory");
  clt_device_host(c->found);
  c->n_found = 1;
  return 0;
}

static int find_devices(cli_sweep_subject *out, const cli_arguments *arguments) {
  choice c = {.missing = out->missing};
  int rc = list_devices(&c, out->plan);
  if (rc) return rc;
  c.chosen = calloc(c.n_found + 1, sizeof *c.chosen);
  out->devices = calloc(c.n_found + 1, sizeof *out->devices);
  rc = c.chosen && out->devices ? choose_all(&c, out->plan, arguments) : cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && i < c.n_found; i++)
    if (c.chosen[i]) out->devices[out->n_devices++] = c.found[i];
  free(c.chosen);
  free(c.found);
  warn_of_missing(out->missing);
  if (rc == 0 && out->n_devices == 0) return cli_failure("there is no device to tune on"), CLI_NO_DEVICE;
  return rc;
}

/* --- cells --- */

static bool has_word(const char *text, const char *word, size_t n) {
  for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " "))
    if (strcspn(at, " ") == n && strncmp(at, word, n) == 0) return true;
  return false;
}

static bool has_words(const char *text, const char *words) {
  for (const char *at = words + strspn(words, " "); *at;) {
    size_t n = strcspn(at, " ");
    if (!has_word(text, at, n)) return false;
    at += n + strspn(at + n, " ");
  }
  return true;
}

static int choose_cells(cli_sweep_subject *out, const cli_arguments *arguments) {
  const char **only = NULL;
  char text[CELL_TEXT];
  size_t n_only = 0, n = clt_sweep_n_cells(out->plan);
  out->cells = calloc(n, sizeof *out->cells);
  int rc = out->cells ? cli_texts(&only, &n_only, arguments, "only") : cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && i < n; i++) {
    clt_sweep_cell cell;
    clt_sweep_cell_at(&cell, out->plan, i);
    clt_sweep_cell_print(&cell, text, sizeof text);
    bool chosen = n_only == 0;
    for (size_t k = 0; k < n_only && !chosen; k++) chosen = has_words(text, only[k]);
    if (chosen) out->cells[out->n_cells++] = i;
  }
  free(only);
  if (rc == 0 && out->n_cells == 0)
    return cli_usage("no tuning of the plan has these words (see 'clatune sweep --dry-run')");
  return rc;
}

/* --- the whole --- */

/* "plans/x.json" -> "plans/x.results.jsonl" */
static char *results_path(const char *plan) {
  size_t n = strlen(plan);
  if (n > 5 && strcmp(plan + n - 5, ".json") == 0) n -= 5;
  char *out = malloc(n + sizeof ".results.jsonl");
  if (out) snprintf(out, n + sizeof ".results.jsonl", "%.*s.results.jsonl", (int)n, plan);
  return out;
}

static int read_results(cli_sweep_subject *out, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "output");
  char *path = typed ? strdup(typed) : results_path(arguments->positional[0]);
  int rc = path ? cli_results_read(&out->results, path) : cli_failure("out of memory");
  if (rc == 0 && out->results.n_unreadable)
    fprintf(stderr, "clatune: warning: %zu lines of '%s' cannot be read and are left out\n", out->results.n_unreadable,
            path);
  free(path);
  return rc;
}

int cli_sweep_subject_init(cli_sweep_subject *out, const cli_arguments *arguments) {
  clt_error error = {0};
  *out = (cli_sweep_subject){.store_path = cli_text(arguments, "store"),
                             .no_store = cli_given(arguments, "no-store"),
                             .missing = json_array()};
  if (clt_sweep_load(&out->plan, arguments->positional[0], &error)) return cli_report(&error);
  int rc = choose_cells(out, arguments);
  if (rc == 0) rc = read_results(out, arguments);
  if (rc == 0) rc = find_devices(out, arguments);
  if (rc) return rc;
  out->rows = calloc(out->n_devices * out->n_cells, sizeof *out->rows);
  return out->rows ? 0 : cli_failure("out of memory");
}

void cli_sweep_subject_release(cli_sweep_subject *subject) {
  for (size_t i = 0; subject->rows && i < subject->n_devices * subject->n_cells; i++) free(subject->rows[i].reason);
  free(subject->rows);
  free(subject->cells);
  free(subject->devices);
  json_decref(subject->missing);
  cli_results_close(&subject->results);
  clt_sweep_free(subject->plan);
}

cli_row *cli_sweep_row(const cli_sweep_subject *subject, size_t device, size_t cell) {
  return &subject->rows[device * subject->n_cells + cell];
}

/* --- a tuning --- */

void cli_sweep_fail(cli_row *row, const clt_error *error) {
  char text[2048];
  clt_error_format(error, text, sizeof text);
  row->state = CLI_ROW_FAILED;
  row->now = true;
  row->code = cli_exit_code(error->code);
  row->reason = strdup(text[0] ? text : clt_error_text(error->code));
}

static int make_instance(cli_sweep_tuning *t, const cli_sweep_subject *subject, size_t device, clt_error *error) {
  if (t->instance && t->device == device && t->size_set == t->cell.size_set) return 0;
  clt_instance_free(t->instance);
  t->instance = NULL;
  t->device = device;
  t->size_set = t->cell.size_set;
  return clt_instance_new(&t->instance, t->cell.problem, t->cell.sizes, t->cell.n_sizes, &subject->devices[device],
                          error);
}

bool cli_sweep_prepare(cli_sweep_tuning *t, const cli_sweep_subject *subject, size_t device, size_t cell) {
  cli_row *row = cli_sweep_row(subject, device, cell);
  clt_error error = {0};
  clt_sweep_settings_release(&t->settings);
  clt_sweep_cell_at(&t->cell, subject->plan, subject->cells[cell]);
  int rc = make_instance(t, subject, device, &error);
  if (rc == 0) rc = clt_sweep_settings(&t->settings, subject->plan, &t->cell, t->instance, &t->n_left_out, &error);
  if (rc == 0) rc = clt_sweep_key(t->key, &t->settings, &error);
  if (rc) return cli_sweep_fail(row, &error), false;
  if (!cli_results_find(&row->outcome, &subject->results, t->key)) return true;
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
