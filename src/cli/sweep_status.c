/* What a farm has come to: a plan's results from all machines, and who does what. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep_farm.h"

/* --- the results of a plan --- */

/* The row's line, if it can be one; else why there is none. */
static int read_row(cli_row *row, const clt_pq_rows *rows, size_t i) {
  const char *state = clt_pq_text(rows, i, 1), *line = clt_pq_text(rows, i, 2), *why = clt_pq_text(rows, i, 3);
  const int64_t code = clt_pq_whole(rows, i, 4);
  row->now = true;
  if (strcmp(state, "done") == 0) {
    row->line = cli_result_read(line, strlen(line));
    why = row->line ? "no configuration gave a right result" : "the line of its result cannot be read";
    if (row->line && cli_row_found(row)) return 0;
    row->code = row->line ? CLI_NO_VALID : CLI_FAILURE;
  } else if (strcmp(state, "failed") == 0) {
    row->code = code > 0 && code < 100 ? (int)code : CLI_FAILURE;
  } else {
    return 0;
  }
  row->reason = strdup(why);
  return row->reason ? 0 : cli_failure("out of memory");
}

static int read_rows(cli_sweep *sweep, clt_pq *pq, size_t device, int64_t target) {
  int rc = 0;
  size_t n = 1;
  for (int64_t after = -1; rc == 0 && n > 0;) {
    clt_error error = {0};
    clt_pq_rows *rows = NULL;
    if (clt_queue_rows(pq, &rows, target, after, &error)) return cli_report(&error);
    n = clt_pq_n_rows(rows);
    for (size_t i = 0; rc == 0 && i < n; i++) {
      after = clt_pq_whole(rows, i, 0);
      if (after >= 0 && after < (int64_t)sweep->n_cells)
        rc = read_row(cli_sweep_row(sweep, device, (size_t)after), rows, i);
    }
    clt_pq_rows_free(rows);
  }
  return rc;
}

/* In the plan's order what the file lacks by now, behind what it has: other machines, or other jobs, may share it, and
 * write the same lines. */
static int keep_results(const cli_sweep *sweep) {
  clt_error error = {0};
  const char *path = sweep->results.path;
  const bool special = clt_file_is_special(path);
  clt_text text = {0};
  char *old = NULL;
  size_t n = 0, n_added = 0, n_unreadable = 0;
  json_t *there = json_object();
  if (!special && access(path, F_OK) == 0 && clt_file_read(&old, &n, path, SIZE_MAX / 2, &error))
    return json_decref(there), cli_report(&error);
  if (cli_results_add(there, &n_unreadable, old, n)) return json_decref(there), free(old), CLI_FAILURE;
  if (n > 0) clt_text_add_bytes(&text, old, n);
  if (n > 0 && old[n - 1] != '\n') clt_text_add(&text, "\n");
  free(old);
  for (size_t i = 0; i < sweep->n_devices * sweep->n_cells; i++) {
    const json_t *line = sweep->rows[i].line;
    if (line == NULL || json_object_get(there, clt_json_string(line, "tuning"))) continue;
    char *json = cli_result_text(line);
    clt_text_printf(&text, "%s\n", json ? json : "");
    n_added++;
    free(json);
  }
  json_decref(there);
  char *whole = NULL;
  n = text.n;
  int rc = clt_text_take(&whole, &text, &error);
  if (rc == CLT_OK && n_added > 0) rc = clt_file_replace(path, whole, n, &error);
  free(whole);
  return rc ? cli_report(&error) : 0;
}

static int collect_rows(cli_sweep *sweep, clt_pq *pq, int64_t plan, bool keeps) {
  clt_error error = {0};
  clt_pq_rows *targets = NULL;
  if (clt_queue_targets(pq, &targets, plan, &error)) return cli_report(&error);
  const size_t n = clt_pq_n_rows(targets);
  free(sweep->devices);
  sweep->n_devices = n;
  sweep->devices = calloc(n + 1, sizeof *sweep->devices);
  sweep->rows = calloc(n * sweep->n_cells + 1, sizeof *sweep->rows);
  int rc = sweep->devices && sweep->rows ? 0 : cli_failure("out of memory");
  for (size_t d = 0; rc == 0 && d < n; d++) {
    clt_device_info *device = &sweep->devices[d];
    snprintf(device->name, sizeof device->name, "%s", clt_pq_text(targets, d, 3));
    snprintf(device->driver_version, sizeof device->driver_version, "%s", clt_pq_text(targets, d, 2));
    rc = read_rows(sweep, pq, d, clt_pq_whole(targets, d, 0));
  }
  clt_pq_rows_free(targets);
  return rc == 0 && keeps ? keep_results(sweep) : rc;
}

int cli_farm_collect(cli_sweep *sweep, const char *url, const char *text, bool keeps) {
  clt_error error = {0};
  clt_pq *pq = NULL;
  char *made = NULL;
  int64_t plan = 0;
  int rc = text ? CLT_OK : clt_sweep_share(&made, sweep->plan, &error);
  if (rc == CLT_OK) rc = clt_pq_new(&pq, url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, &error);
  if (rc == CLT_OK) rc = clt_queue_find(pq, &plan, text ? text : made, &error);
  rc = rc ? cli_report(&error) : collect_rows(sweep, pq, plan, keeps);
  clt_pq_free(pq);
  free(made);
  return rc;
}

/* --- who does what --- */

static json_t *whole_at(const clt_pq_rows *rows, size_t row, int column) {
  return json_integer((json_int_t)clt_pq_whole(rows, row, column));
}

static json_t *real_at(const clt_pq_rows *rows, size_t row, int column) {
  return clt_json_real(clt_pq_number(rows, row, column));
}

static json_t *text_at(const clt_pq_rows *rows, size_t row, int column) {
  return clt_json_text(clt_pq_text(rows, row, column));
}

static json_t *status_json(const clt_pq_rows *plans, const clt_pq_rows *running, const clt_pq_rows *agents) {
  json_t *of_plans = json_array(), *of_rows = json_array(), *of_agents = json_array();
  for (size_t i = 0; i < clt_pq_n_rows(plans); i++)
    json_array_append_new(
        of_plans, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", whole_at(plans, i, 0),
                            "name", text_at(plans, i, 1), "age_s", real_at(plans, i, 2), "tunings",
                            whole_at(plans, i, 3), "open", whole_at(plans, i, 4), "running", whole_at(plans, i, 5),
                            "done", whole_at(plans, i, 6), "failed", whole_at(plans, i, 7), "done_in_the_last_hour",
                            whole_at(plans, i, 8), "tuning_s", real_at(plans, i, 9), "left_s", real_at(plans, i, 10)));
  for (size_t i = 0; i < clt_pq_n_rows(running); i++)
    json_array_append_new(
        of_rows, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "plan", whole_at(running, i, 0), "device",
                           text_at(running, i, 1), "tuning", text_at(running, i, 2), "agent", text_at(running, i, 3),
                           "since_s", real_at(running, i, 4), "lease_s", real_at(running, i, 5), "progress",
                           whole_at(running, i, 6), "attempts", whole_at(running, i, 7)));
  for (size_t i = 0; i < clt_pq_n_rows(agents); i++)
    json_array_append_new(
        of_agents, json_pack("{s:o, s:o, s:o, s:o}", "name", text_at(agents, i, 0), "devices", text_at(agents, i, 1),
                             "quarantined", text_at(agents, i, 2), "seen_s", real_at(agents, i, 3)));
  return json_pack("{s:o, s:o, s:o}", "plans", of_plans, "running", of_rows, "agents", of_agents);
}

static void print_status(const clt_pq_rows *plans, const clt_pq_rows *running, const clt_pq_rows *agents) {
  char took[32], left[32];
  for (size_t i = 0; i < clt_pq_n_rows(plans); i++) {
    const int64_t n_open = clt_pq_whole(plans, i, 4), n_running = clt_pq_whole(plans, i, 5);
    const double left_s = clt_pq_number(plans, i, 10);
    printf("plan %lld '%s': %lld tunings, %lld finished, %lld failed, %lld running, %lld to do",
           (long long)clt_pq_whole(plans, i, 0), clt_pq_text(plans, i, 1), (long long)clt_pq_whole(plans, i, 3),
           (long long)clt_pq_whole(plans, i, 6), (long long)clt_pq_whole(plans, i, 7), (long long)n_running,
           (long long)n_open);
    printf("; %lld in the last hour", (long long)clt_pq_whole(plans, i, 8));
    if (n_open + n_running > 0 && isfinite(left_s)) printf("; left %s", cli_duration(left, left_s));
    putchar('\n');
    for (size_t k = 0; k < clt_pq_n_rows(running); k++) {
      const int64_t attempts = clt_pq_whole(running, k, 7);
      const double lease_s = clt_pq_number(running, k, 5);
      if (clt_pq_whole(running, k, 0) != clt_pq_whole(plans, i, 0)) continue;
      printf("  %s: %s: %s since %s", clt_pq_text(running, k, 3), clt_pq_text(running, k, 1),
             clt_pq_text(running, k, 2), cli_duration(took, clt_pq_number(running, k, 4)));
      if (lease_s > 0)
        printf(", lease ends in %s", cli_duration(left, lease_s));
      else
        fputs(", lease has ended", stdout);
      if (attempts > 0) printf(", attempt %lld", (long long)attempts + 1);
      putchar('\n');
    }
  }
  if (clt_pq_n_rows(plans) == 0) puts("no plan was submitted");
  for (size_t i = 0; i < clt_pq_n_rows(agents); i++) {
    const char *lost = clt_pq_text(agents, i, 2);
    printf("agent %s: %s; seen %s ago", clt_pq_text(agents, i, 0), clt_pq_text(agents, i, 1),
           cli_duration(took, clt_pq_number(agents, i, 3)));
    printf("%s%s\n", lost[0] ? "; lost: " : "", lost);
  }
}

int cli_farm_status(const char *url, bool as_json) {
  clt_error error = {0};
  clt_pq *pq = NULL;
  clt_pq_rows *plans = NULL, *running = NULL, *agents = NULL;
  int rc = clt_pq_new(&pq, url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, &error);
  if (rc == CLT_OK) clt_queue_expire(pq, NULL); /* who may only read cannot */
  if (rc == CLT_OK) rc = clt_queue_status(pq, &plans, &running, &agents, &error);
  if (rc)
    rc = cli_report(&error);
  else if (as_json)
    rc = cli_print_json(status_json(plans, running, agents));
  else
    print_status(plans, running, agents);
  clt_pq_rows_free(plans);
  clt_pq_rows_free(running);
  clt_pq_rows_free(agents);
  clt_pq_free(pq);
  return rc;
}
