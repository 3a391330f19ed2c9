/* The results of a plan from all machines, and --status and --withdraw. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "farm/agent.h"

/* --- the results of a plan --- */

/* Whether a result is of this tuning: whoever holds a claim can write any line. */
static bool is_of_cell(const json_t *line, const clt_device_info *device, const clt_sweep_cell *cell) {
  const json_t *sizes = json_object_get(line, "sizes");
  /* Not the device's name: whoever adds the device to the plan first says what it is called. */
  bool is = strcmp(clt_json_string(line, "driver"), device->driver_version) == 0 &&
            strcmp(clt_json_string(line, "problem"), clt_problem_name(cell->problem)) == 0 &&
            strcmp(clt_json_string(line, "searcher"), cell->by->label) == 0 &&
            json_integer_value(json_object_get(line, "budget")) == (json_int_t)cell->budget &&
            json_integer_value(json_object_get(line, "seed")) == (json_int_t)cell->seed;
  for (size_t i = 0; is && i < cell->n_sizes; i++)
    is = json_integer_value(json_object_get(sizes, cell->sizes[i].name)) == cell->sizes[i].value;
  return is;
}

/* Sets the row's line, or the reason why it has none. */
static void read_row(farm_row *row, const clt_pq_rows *rows, size_t i, const clt_device_info *device,
                     const clt_sweep_cell *cell) {
  const char *state = clt_pq_text(rows, i, 1), *line = clt_pq_text(rows, i, 2), *why = clt_pq_text(rows, i, 3);
  const int64_t code = clt_pq_whole(rows, i, 4);
  row->now = true;
  if (strcmp(state, "done") == 0) {
    row->line = farm_result_read(line, strlen(line));
    why = row->line ? "no configuration gave a correct result" : "its result in the database cannot be read";
    if (row->line && !is_of_cell(row->line, device, cell)) {
      json_decref(row->line);
      row->line = NULL;
      why = "its result in the database is of another tuning";
    }
    if (row->line && farm_row_found(row)) return;
    row->code = row->line ? CLI_NO_VALID : CLI_FAILURE;
  } else if (strcmp(state, "failed") == 0) {
    row->code = code > 0 && code < 100 ? (int)code : CLI_FAILURE;
  } else {
    return;
  }
  row->reason = strdup(why);
}

static void read_rows(farm_sweep *sweep, clt_pq *pq, size_t device, int64_t target) {
  size_t n = 1;
  for (int64_t after = -1; n > 0;) {
    clt_pq_rows *rows = NULL;
    cli_check(clt_queue_rows(pq, &rows, target, after, &cli_error));
    n = clt_pq_n_rows(rows);
    for (size_t i = 0; i < n; i++) {
      after = clt_pq_whole(rows, i, 0);
      if (after >= 0 && after < (int64_t)sweep->n_cells)
        read_row(farm_sweep_row(sweep, device, (size_t)after), rows, i, &sweep->devices[device], &sweep->cells[after]);
    }
    clt_pq_rows_free(rows);
  }
}

/* Appends the lines that the file lacks, in the plan's order. The file is read again first, because other machines or
 * jobs may share it and write the same lines. */
static void keep_results(const farm_sweep *sweep) {
  const char *path = sweep->results.path;
  clt_text text = {0};
  char *old = NULL;
  size_t n = 0, n_added = 0, n_unreadable = 0;
  json_t *there = json_object();
  if (!clt_file_is_special(path) && access(path, F_OK) == 0)
    cli_check(clt_file_read(&old, &n, path, SIZE_MAX / 2, &cli_error));
  farm_results_add(there, &n_unreadable, old, n);
  if (n > 0) clt_text_add_bytes(&text, old, n);
  if (n > 0 && old[n - 1] != '\n') clt_text_add(&text, "\n");
  free(old);
  for (size_t i = 0; i < sweep->n_devices * sweep->n_cells; i++) {
    const json_t *line = sweep->rows[i].line;
    if (line == NULL || json_object_get(there, clt_json_string(line, "tuning"))) continue;
    char *json = farm_result_text(line);
    clt_text_printf(&text, "%s\n", json ? json : "");
    n_added++;
    free(json);
  }
  json_decref(there);
  if (text.rc) cli_failure("out of memory");
  if (n_added > 0) cli_check(clt_file_replace(path, text.bytes, text.n, &cli_error));
  clt_text_release(&text);
}

static void free_pq(void *pq) { clt_pq_free(pq); }

void farm_collect(farm_sweep *sweep, const char *url, const char *text, bool keeps) {
  clt_pq *pq = NULL;
  clt_pq_rows *targets = NULL;
  char *made = NULL;
  int64_t plan = 0;
  if (text == NULL) cli_check(clt_sweep_share(&made, sweep->plan, &cli_error));
  cli_check(clt_pq_new(&pq, url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, &cli_error));
  cli_keep(pq, free_pq);
  cli_check(clt_queue_find(pq, &plan, text ? text : made, &cli_error));
  free(made);
  cli_check(clt_queue_targets(pq, &targets, plan, &cli_error));
  const size_t n = sweep->n_devices = clt_pq_n_rows(targets);
  sweep->devices = cli_new(n, sizeof *sweep->devices);
  sweep->rows = cli_new(n * sweep->n_cells, sizeof *sweep->rows);
  for (size_t d = 0; d < n; d++) {
    clt_device_info *device = &sweep->devices[d];
    snprintf(device->name, sizeof device->name, "%s", clt_pq_text(targets, d, 3));
    snprintf(device->driver_version, sizeof device->driver_version, "%s", clt_pq_text(targets, d, 2));
    read_rows(sweep, pq, d, clt_pq_whole(targets, d, 0));
  }
  clt_pq_rows_free(targets);
  if (keeps) keep_results(sweep);
}

/* --- status --- */

char *farm_row_text(const json_t *row) {
  const double seen_s = clt_json_number(row, "seen_s"), lease_s = clt_json_number(row, "lease_s");
  char since[32], silent[32], free_in[32], *out;
  clt_text text = {0};
  clt_text_printf(&text, "%s: %s: %s for %s", clt_json_string(row, "agent"), clt_json_string(row, "device"),
                  clt_json_string(row, "tuning"), cli_duration(since, clt_json_number(row, "since_s")));
  if ((long long)clt_json_count(row, "attempts") > 0)
    clt_text_printf(&text, ", attempt %lld", (long long)clt_json_count(row, "attempts") + 1);
  if (seen_s > CLT_QUEUE_SILENT_S) clt_text_printf(&text, ", silent for %s", cli_duration(silent, seen_s));
  clt_text_add(&text, lease_s > 0 ? ", lease expires in " : ", lease expired");
  if (lease_s > 0) clt_text_add(&text, cli_duration(free_in, lease_s));
  return clt_text_take(&out, &text, NULL) == CLT_OK ? out : NULL;
}

static void print_plan(const json_t *plan, const json_t *running) {
  static const struct {
    const char *key, *name;
  } states[] = {{"done", "finished"},
                {"failed", "failed"},
                {"withdrawn", "withdrawn"},
                {"running", "running"},
                {"open", "to do"}};
  const long long n = (long long)clt_json_count(plan, "tunings"),
                  n_withdrawn = (long long)clt_json_count(plan, "withdrawn");
  const char *needs = clt_json_string(plan, "needs");
  const double left_s = clt_json_number(plan, "left_s");
  const json_t *row;
  char left[32];
  size_t i;
  printf("plan %lld '%s': ", (long long)clt_json_count(plan, "id"), clt_json_string(plan, "name"));
  if (n == 0) {
    printf("submitted; no agent has taken it yet");
    if (needs[0]) printf(" (%s)", needs);
    puts("\n  an agent that refuses a plan prints the reason on its standard error");
    return;
  }
  printf("%lld tunings", n);
  for (i = 0; i < sizeof states / sizeof *states; i++) {
    const long long k = (long long)clt_json_count(plan, states[i].key) - (i == 1 ? n_withdrawn : 0);
    if (k == n) printf(", all %s", states[i].name);
    if (k > 0 && k < n) printf(", %lld %s", k, states[i].name);
  }
  printf("; %lld in the last hour", (long long)clt_json_count(plan, "done_in_the_last_hour"));
  if ((long long)clt_json_count(plan, "running") > 0 && isfinite(left_s))
    printf("; left %s", cli_duration(left, left_s));
  putchar('\n');
  json_array_foreach(running, i, row) {
    if ((long long)clt_json_count(row, "plan") != (long long)clt_json_count(plan, "id")) continue;
    char *text = farm_row_text(row);
    printf("  %s\n", text ? text : "");
    free(text);
  }
}

int farm_show(clt_pq *pq, int64_t plan, bool as_json) {
  json_t *status = NULL, *plans, *object;
  char seen[32];
  size_t i;
  clt_queue_expire(pq, NULL); /* a login with the role clatune_reader cannot do that: no error */
  cli_check(clt_queue_status(pq, &status, plan, &cli_error));
  if (as_json) return cli_print_json(status);
  plans = json_object_get(status, "plans");
  json_array_foreach(plans, i, object) { print_plan(object, json_object_get(status, "running")); }
  if (json_array_size(plans) == 0)
    puts("there are no plans; submit one with 'clatune sweep PLAN --submit --store URL'");
  json_array_foreach(json_object_get(status, "agents"), i, object) {
    const double seen_s = clt_json_number(object, "seen_s");
    const char *lost = clt_json_string(object, "quarantined");
    printf("agent %s: %s; ", clt_json_string(object, "name"), clt_json_string(object, "devices"));
    printf(seen_s > CLT_QUEUE_SILENT_S ? "silent for %s" : "seen %s ago", cli_duration(seen, seen_s));
    if (lost[0]) printf("; lost: %s", lost);
    putchar('\n');
  }
  json_decref(status);
  return CLI_FOUND;
}

int farm_status(const char *url, int64_t withdrawn, bool as_json) {
  clt_pq *pq = NULL;
  int64_t n = 0;
  cli_check(clt_pq_new(&pq, url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, &cli_error));
  cli_keep(pq, free_pq);
  if (withdrawn == 0) return farm_show(pq, 0, as_json);
  cli_check(clt_queue_withdraw(pq, &n, withdrawn, &cli_error));
  if (n < 0)
    printf("plan %lld: withdrawn; no agent had started it\n", (long long)withdrawn);
  else if (n == 0)
    printf("plan %lld: nothing to withdraw, all tunings have ended\n", (long long)withdrawn);
  else
    printf("plan %lld: %lld tunings withdrawn; their measurements are kept\n", (long long)withdrawn, (long long)n);
  return CLI_FOUND;
}
