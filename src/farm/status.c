/* The results of a plan from all machines, and --status and --withdraw. */
#include <unistd.h>

#include "base/base.h"
#include "farm/agent.h"
#include "space/space.h"

/* --- the results of a plan --- */

typedef struct known_agent {
  int64_t id;
  size_t device; /* SIZE_MAX: it has not described this one */
} known_agent;

/* Reading the rows of a target. Devices of the same kind may differ in what a tuning depends on, so each row is checked
 * with what its agent says of its own. */
typedef struct target_reader {
  farm_sweep sweep; /* the plan's; its devices: the kinds that agents have described */
  clt_pq *pq;
  int64_t id;
  clt_store_key key; /* of the target's device */
  size_t capacity, n_agents, agents_capacity;
  known_agent *agents;
  farm_sweep_tuning tuning;
} target_reader;

/* The index of a row's device; SIZE_MAX: unknown. */
static size_t find_device(target_reader *r, int64_t agent) {
  clt_pq_rows *rows = NULL;
  size_t found = SIZE_MAX;
  for (size_t i = r->n_agents; i-- > 0;)
    if (r->agents[i].id == agent) return r->agents[i].device;
  cli_check(clt_queue_devices(r->pq, &rows, r->id, agent, &cli_error));
  for (size_t i = 0; found == SIZE_MAX && i < clt_pq_n_rows(rows); i++) {
    clt_device_info info;
    if (!clt_store_read_device(&info, clt_pq_text(rows, i, 0), &r->key)) continue;
    for (found = 0; found < r->sweep.n_devices && memcmp(&r->sweep.devices[found], &info, sizeof info) != 0;) found++;
    if (found < r->sweep.n_devices) continue;
    if (clt_grow(&r->sweep.devices, &r->capacity, found + 1, sizeof info)) cli_failure("out of memory");
    r->sweep.devices[r->sweep.n_devices++] = info;
  }
  clt_pq_rows_free(rows);
  if (clt_grow(&r->agents, &r->agents_capacity, r->n_agents + 1, sizeof *r->agents)) cli_failure("out of memory");
  r->agents[r->n_agents++] = (known_agent){agent, found};
  return found;
}

/* The measurement that a row's result rests on, with the configuration that the result states. False: it is of another
 * problem or configuration. */
static bool read_best(clt_measurement *m, const clt_pq_rows *rows, size_t i, const farm_sweep_tuning *t,
                      const json_t *line) {
  bool given[CLT_MAX_PARAMETERS];
  clt_store_key key;
  char *text = NULL;
  clt_config config = clt_instance_default(t->instance);
  const json_t *stated = json_object_get(line, "configuration");
  if (!json_is_object(stated) || clt_store_key_init(&key, t->instance, NULL) ||
      clt_config_read_onto(&config, given, clt_instance_space(t->instance), stated, NULL) ||
      clt_config_text(&text, clt_instance_space(t->instance), config, NULL))
    return false;
  clt_measurement_init(m, config);
  m->reason = CLT_REASON_NONE;
  m->time_s = clt_pq_number(rows, i, 8);
  m->energy_J = clt_pq_number(rows, i, 9);
  m->figure = clt_pq_number(rows, i, 10);
  const bool is = strcmp(clt_pq_text(rows, i, 6), key.problem) == 0 && strcmp(clt_pq_text(rows, i, 7), text) == 0;
  free(text);
  return is;
}

/* Why a result does not count, as whoever holds a claim can write any line; NULL: it is of this tuning, and says what
 * was measured. */
static const char *find_fault(target_reader *r, const json_t *line, const clt_pq_rows *rows, size_t i, size_t cell) {
  const size_t device = find_device(r, clt_pq_whole(rows, i, 5));
  farm_row unused = {0};
  clt_measurement best;
  if (device == SIZE_MAX) return "the agent that finished it has not described its device";
  const bool ready = farm_sweep_prepare(&r->tuning, &r->sweep, device, cell, &unused);
  farm_clear_row(&unused);
  const bool none = json_is_null(json_object_get(line, "configuration"));
  if (!ready) return "the plan's tuning cannot be prepared for its device";
  if (!none && clt_pq_is_null(rows, i, 6)) return "the measurement that its result rests on was removed or revoked";
  if (!none && !read_best(&best, rows, i, &r->tuning, line)) return "its result in the database was not measured";
  json_t *made = farm_sweep_line(&r->tuning, &r->sweep.devices[device], none ? NULL : &best), *value;
  char *text = farm_result_text(made); /* as the line: with as many digits */
  json_t *expected = text ? json_loads(text, 0, NULL) : NULL;
  const char *name;
  bool same = expected != NULL;
  json_object_foreach(expected, name, value) same = same && json_equal(value, json_object_get(line, name));
  same = same && (json_object_get(made, "best_value") || !json_object_get(line, "best_value"));
  json_decref(expected);
  json_decref(made);
  free(text);
  return same ? NULL : "its result in the database is of another tuning";
}

/* Sets the row's line, or the reason why it has none. Called for each of its results, as long as none stands: what was
 * measured does, even if another login has reopened the row since; that nothing was correct, if it is done. */
static void read_row(target_reader *r, farm_row *row, const clt_pq_rows *rows, size_t i, size_t cell) {
  const char *state = clt_pq_text(rows, i, 1), *line = clt_pq_text(rows, i, 2), *why = clt_pq_text(rows, i, 3);
  const int64_t code = clt_pq_whole(rows, i, 4);
  const bool is_done = strcmp(state, "done") == 0;
  farm_row now = {.now = true, .line = farm_result_read(line, strlen(line))};
  clt_text shown = {0};
  const char *fault = now.line ? find_fault(r, now.line, rows, i, cell) : "its result in the database cannot be read";
  const bool found = fault == NULL && farm_row_found(&now);
  if (fault || !(found || is_done)) {
    json_decref(now.line);
    now.line = NULL;
  }
  if (is_done && !found) {
    now.code = fault ? CLI_FAILURE : CLI_NO_VALID;
    why = fault ? fault : "no configuration gave a correct result";
  } else if (!found && strcmp(state, "failed") == 0) {
    now.code = code > 0 && code < 100 ? (int)code : CLI_FAILURE;
  }
  if (now.code) clt_text_add_shown(&shown, why, strlen(why), "");
  if (now.code) clt_text_take(&now.reason, &shown, NULL);
  if (found || (row->line == NULL && (row->code == 0 || now.line))) {
    farm_clear_row(row);
    *row = now;
  } else {
    farm_clear_row(&now);
  }
}

static void read_rows(target_reader *r, farm_row *out) {
  size_t n = 1;
  for (int64_t after = -1; n > 0;) {
    clt_pq_rows *rows = NULL;
    cli_check(clt_queue_rows(r->pq, &rows, r->id, after, &cli_error));
    n = clt_pq_n_rows(rows);
    for (size_t i = 0; i < n; i++) {
      after = clt_pq_whole(rows, i, 0);
      if (after >= 0 && after < (int64_t)r->sweep.n_cells && !farm_row_found(&out[after]))
        read_row(r, &out[after], rows, i, (size_t)after);
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

void farm_collect(farm_sweep *sweep, const char *url, const char *text, json_t *again, bool keeps) {
  clt_pq *pq = NULL;
  clt_pq_rows *targets = NULL;
  char *made = NULL;
  int64_t plan = 0, submitted_s = 0;
  if (text == NULL) cli_check(clt_sweep_share(&made, sweep->plan, &cli_error));
  cli_check(clt_pq_new(&pq, url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, &cli_error));
  cli_keep(pq, free_pq);
  cli_check(clt_queue_find(pq, &plan, &submitted_s, text ? text : made, &cli_error));
  free(made);
  if (sweep->plan->learns_before_submission) sweep->plan->tuning.learn_before_s = submitted_s;
  cli_check(clt_queue_targets(pq, &targets, plan, &cli_error));
  const size_t n = sweep->n_devices = clt_pq_n_rows(targets);
  sweep->devices = cli_new(n, sizeof *sweep->devices);
  sweep->rows = cli_new(n * sweep->n_cells, sizeof *sweep->rows);
  for (size_t d = 0; d < n; d++) {
    clt_device_info *device = &sweep->devices[d];
    target_reader r = {.pq = pq, .id = clt_pq_whole(targets, d, 0)};
    r.sweep = (farm_sweep){.plan = sweep->plan, .cells = sweep->cells, .n_cells = sweep->n_cells};
    snprintf(r.key.device, sizeof r.key.device, "%s", clt_pq_text(targets, d, 1));
    snprintf(r.key.driver, sizeof r.key.driver, "%s", clt_pq_text(targets, d, 2));
    snprintf(device->name, sizeof device->name, "%s", clt_pq_text(targets, d, 3));
    snprintf(device->driver_version, sizeof device->driver_version, "%s", clt_pq_text(targets, d, 2));
    read_rows(&r, farm_sweep_row(sweep, d, 0));
    for (size_t i = 0; again && i < sweep->n_cells; i++)
      if (farm_sweep_row(sweep, d, i)->code)
        json_array_append_new(again, json_pack("{s:I, s:I}", "target", (json_int_t)r.id, "n", (json_int_t)i));
    if (r.sweep.n_devices > 0) *device = r.sweep.devices[0]; /* whoever adds a device first says what it is called */
    farm_sweep_tuning_release(&r.tuning);
    free(r.sweep.devices);
    free(r.agents);
  }
  clt_pq_rows_free(targets);
  if (keeps) keep_results(sweep);
}

/* --- status --- */

/* What stands before an agent's name: its login, if it is not one's own. */
static const char *login_before(char out[72], const json_t *agent, const char *own) {
  const char *login = clt_json_string(agent, "login");
  out[0] = '\0';
  if (login[0] && strcmp(login, own) != 0) snprintf(out, 72, "%s/", login);
  return out;
}

char *farm_row_text(const json_t *row, const char *own) {
  const double seen_s = clt_json_number(row, "seen_s"), lease_s = clt_json_number(row, "lease_s");
  char login[72], since[32], silent[32], free_in[32], *out;
  clt_text text = {0};
  clt_text_printf(&text, "%s%s: %s: %s for %s", login_before(login, row, own), clt_json_string(row, "agent"),
                  clt_json_string(row, "device"), clt_json_string(row, "tuning"),
                  cli_duration(since, clt_json_number(row, "since_s")));
  if ((long long)clt_json_count(row, "attempts") > 0)
    clt_text_printf(&text, ", attempt %lld", (long long)clt_json_count(row, "attempts") + 1);
  if (seen_s > CLT_QUEUE_SILENT_S) clt_text_printf(&text, ", silent for %s", cli_duration(silent, seen_s));
  clt_text_add(&text, lease_s > 0 ? ", lease expires in " : ", lease expired");
  if (lease_s > 0) clt_text_add(&text, cli_duration(free_in, lease_s));
  return clt_text_take(&out, &text, NULL) == CLT_OK ? out : NULL;
}

static void print_plan(const json_t *plan, const json_t *running, const char *own) {
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
    char *text = farm_row_text(row, own);
    printf("  %s\n", text ? text : "");
    free(text);
  }
}

int farm_show(clt_pq *pq, int64_t plan, bool as_json) {
  json_t *status = NULL, *plans, *object;
  const char *what, *own = clt_pq_user(pq);
  char login[72], seen[32];
  size_t i;
  clt_queue_expire(pq, NULL); /* a login with the role clatune_reader cannot do that: no error */
  cli_check(clt_queue_status(pq, &status, plan, &cli_error));
  if (as_json) return cli_print_json(status);
  plans = json_object_get(status, "plans");
  json_array_foreach(plans, i, object) { print_plan(object, json_object_get(status, "running"), own); }
  if (json_array_size(plans) == 0)
    puts("there are no plans; submit one with 'clatune sweep PLAN --submit --store URL'");
  json_array_foreach(json_object_get(status, "agents"), i, object) {
    const double seen_s = clt_json_number(object, "seen_s");
    const char *lost = clt_json_string(object, "quarantined");
    printf("agent %s%s: %s; ", login_before(login, object, own), clt_json_string(object, "name"),
           clt_json_string(object, "devices"));
    printf(seen_s > CLT_QUEUE_SILENT_S ? "silent for %s" : "seen %s ago", cli_duration(seen, seen_s));
    if (lost[0]) printf("; lost: %s", lost);
    putchar('\n');
  }
  json_object_foreach(json_object_get(status, "left_out"), what, object) {
    const long long n = (long long)json_integer_value(object);
    if (n > 0) printf("%lld more %s\n", n, strcmp(what, "running") == 0 ? "running tunings" : what);
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
