/* The queue of a farm, by many connections: which agent gets which row and may finish it, which rows fail in the end;
 * and records on their way to the database and back. CLATUNE_TEST_DATABASE is the URL of an empty store of the
 * superuser's (tests/farm/with_database.py). */
#include "../problem/scratch.h"

#include "base/base.h"
#include "base/json.h"
#include "farm/agent.h"
#include "farm/queue.h"
#include "session/session.h"
#include "store/schema.h"

static const char problem_json[] =
    "{\"General\": {\"BenchmarkName\": \"bank\"}, \"ProblemParameters\": [{\"Name\": \"R\", \"Default\": 64}],\n"
    "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Type\": \"int\", \"Values\": \"[1, 2, 4, 8]\"}]},\n"
    "\"KernelSpecification\": {\"KernelName\": \"f\", \"KernelFile\": \"f.cl\", \"GlobalSize\": [\"R\"], \"LocalSize\": [\"wg\"],\n"
    " \"Arguments\": [{\"Name\": \"a\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\","
    " \"Size\": \"R\"}]}}\n";
static const clt_device_info board = {.name = "Board", .platform_name = "P", .driver_version = "1", .compute_units = 4};

static clt_pq *pq;
static json_t *unlisted; /* for clt_queue_submit: only failed rows are reopened */
static int64_t plan, target;

static clt_pq *connect_to(void) {
  clt_pq *made = NULL;
  clt_error error = {0};
  if (clt_pq_new(&made, getenv("CLATUNE_TEST_DATABASE"), CLT_PQ_SCHEMA, 30, &error)) fail_msg("%s", error.message);
  return made;
}

static void check(int rc, const clt_error *error) {
  if (rc) fail_msg("%s", error->message);
}

static void run(const char *sql) {
  clt_error error = {0};
  check(clt_pq_run_text(pq, sql, &error), &error);
}

static int64_t number(const char *sql) {
  clt_error error = {0};
  clt_pq_rows *rows = NULL;
  check(clt_pq_run(pq, &rows, sql, &error, ""), &error);
  int64_t n = clt_pq_whole(rows, 0, 0);
  clt_pq_rows_free(rows);
  return n;
}

static clt_sweep *load_with(const char *seeds, const char *budgets) {
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  char json[200];
  snprintf(json, sizeof json, "{\"Problems\": \"bank.json\", \"Searchers\": \"random\", \"Budgets\": \"%s\", \"Seeds\": \"%s\"}",
           budgets, seeds);
  scratch_write("plan.json", json);
  check(clt_sweep_load(&sweep, scratch_path("plan.json"), &error), &error);
  return sweep;
}

static clt_sweep *load(const char *seeds) { return load_with(seeds, "5"); }

/* Leases of a thousandth of a second: longer than the server has run. */
static void submit(const char *seeds, double lease_s) {
  char sql[100];
  clt_error error = {0};
  int64_t submitted_s = 0, other = 0;
  char *text = NULL;
  clt_sweep *sweep = load(seeds);
  check(clt_sweep_share(&text, sweep, &error), &error);
  check(clt_queue_submit(pq, &plan, &submitted_s, "a plan", text, 60, NULL, &error), &error);
  snprintf(sql, sizeof sql, "UPDATE clatune.plan SET lease_s = %d * 0.001", (int)(1000 * lease_s));
  run(sql);
  check(clt_queue_submit(pq, &other, &submitted_s, "again", text, 50, NULL, &error), &error);
  assert_int_equal(other, plan);
  size_t n = 0, again = 0;
  check(clt_queue_join(pq, &target, &n, plan, sweep, &board, &error), &error);
  check(clt_queue_join(pq, &other, &again, plan, sweep, &board, &error), &error);
  assert_int_equal(other, target);
  assert_int_equal(n, sweep->n_cells);
  assert_int_equal(again, n);
  clt_sweep_free(sweep);
  free(text);
}

static int setup(void **state) {
  if (scratch_setup(state)) return -1;
  scratch_write("bank.json", problem_json);
  scratch_write("f.cl", "kernel void f(global float *a) { a[get_global_id(0)] = 0; }\n");
  clt_error error = {0};
  check(clt_schema_init(getenv("CLATUNE_TEST_DATABASE"), &error), &error);
  pq = connect_to();
  unlisted = json_array();
  return 0;
}

static int teardown(void **state) {
  clt_pq_free(pq);
  json_decref(unlisted);
  return scratch_teardown(state);
}

static int empty(void **state) {
  (void)state;
  run("TRUNCATE clatune.plan, clatune.target, clatune.cell, clatune.result, clatune.agent, clatune.shipper, clatune.measurement, clatune.described,"
      " clatune.origin, clatune.revoked, clatune.key, clatune.device, clatune.problem");
  return 0;
}

static bool take(clt_claim *claim, const char *agent) {
  clt_error error = {0};
  bool found = false;
  check(clt_queue_claim(pq, claim, &found, agent, &target, 1, &error), &error);
  return found;
}

static void end_leases(void) { run("UPDATE clatune.cell SET lease = clock_timestamp() - interval '1 hour' WHERE state = 'running'"); }

static void finish(clt_claim *claim, bool lost) {
  clt_error error = {0};
  clt_queue_ending ending;
  json_t *none = json_object();
  check(clt_queue_finish(pq, claim, "{\"tuning\":\"x\"}", 0, none, &ending, &error), &error);
  json_decref(none);
  assert_int_equal(ending, lost ? CLT_QUEUE_LOST : CLT_QUEUE_DONE);
  assert_int_equal(claim->lost, lost);
}

static void renew(clt_claim *claim, int64_t progress, bool lost) {
  clt_error error = {0};
  snprintf(claim->output, sizeof claim->output, "said last");
  claim->progress = progress;
  check(clt_queue_renew(pq, &claim, 1, &error), &error);
  assert_int_equal(claim->lost, lost);
}

static bool is_unfinished(void) {
  clt_error error = {0};
  bool is = false;
  check(clt_queue_goes_on(pq, &is, plan, &error), &error);
  return is;
}

/* --- claims --- */

enum { ROWS = 300, AGENTS = 8 };

struct agents {
  int64_t rows[AGENTS][ROWS];
  size_t n[AGENTS];
};

static int work(void *user, size_t index, clt_error *error) {
  struct agents *agents = user;
  clt_pq *own = connect_to();
  for (bool found = true; found;) {
    clt_claim claim = {0};
    char name[16];
    snprintf(name, sizeof name, "agent %zu", index);
    int rc = clt_queue_claim(own, &claim, &found, name, &target, 1, error);
    if (rc == 0 && found) agents->rows[index][agents->n[index]++] = claim.n;
    clt_queue_ending ending;
    json_t *none = json_object();
    if (rc == 0 && found) rc = clt_queue_finish(own, &claim, "{}", 0, none, &ending, error);
    json_decref(none);
    if (rc) return rc;
  }
  clt_pq_free(own);
  return 0;
}

static void every_row_is_taken_once_by_whomever(void **state) {
  (void)state;
  static struct agents agents;
  bool seen[ROWS] = {false};
  size_t n = 0;
  clt_error error = {0};
  submit("range(1, 301)", 60);
  check(clt_parallel(AGENTS, AGENTS, work, &agents, &error), &error);
  for (size_t a = 0; a < AGENTS; a++)
    for (size_t i = 0; i < agents.n[a]; i++, n++) {
      assert_false(seen[agents.rows[a][i]]);
      seen[agents.rows[a][i]] = true;
    }
  assert_int_equal(n, ROWS);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'done' AND attempts = 0"), ROWS);
}

static void a_claim_that_is_repeated_gets_the_row_that_it_got(void **state) {
  (void)state;
  submit("range(1, 4)", 60);
  clt_claim claim = {0}, again = {0}, other = {0};
  assert_true(take(&claim, "a"));
  assert_int_equal(claim.n, 0);
  memcpy(again.id, claim.id, sizeof claim.id); /* the answer was lost */
  assert_true(take(&again, "a"));
  assert_int_equal(again.n, 0);
  assert_true(take(&other, "b"));
  assert_int_equal(other.n, 1);
  finish(&again, false);
  finish(&claim, false); /* a finish whose answer was lost */
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'done'"), 1);
}

static void who_comes_back_too_late_has_lost_the_row(void **state) {
  (void)state;
  submit("1", 0.001);
  clt_claim late = {0}, other = {0};
  assert_true(take(&late, "a"));
  end_leases();
  renew(&late, 1, false); /* no agent has taken it */
  end_leases();
  assert_true(take(&other, "b"));
  renew(&late, 2, true);
  finish(&late, true);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'running' AND agent = 'b'"), 1);
  renew(&other, 1, false);
  finish(&other, false);
  finish(&late, true);
}

static void within_a_lease_of_the_servers_start_nothing_has_run_out(void **state) {
  (void)state;
  submit("1", 1e6);
  clt_claim claim = {0}, other = {0};
  assert_true(take(&claim, "a"));
  end_leases();
  assert_false(take(&other, "b"));
  finish(&claim, false);
}

/* A plan of a million tunings must not hold up those of others. */
static void rows_of_a_large_plan_come_a_part_at_a_time(void **state) {
  (void)state;
  clt_error error = {0};
  char *text = NULL;
  int64_t submitted_s = 0;
  clt_claim claim = {0};
  clt_sweep *sweep = load_with("range(1, 10001)", "range(1, 4)");
  check(clt_sweep_share(&text, sweep, &error), &error);
  check(clt_queue_submit(pq, &plan, &submitted_s, "large", text, 60, NULL, &error), &error);
  size_t n = 0, n_calls = 0;
  for (; n < sweep->n_cells; n_calls++) {
    check(clt_queue_join(pq, &target, &n, plan, sweep, &board, &error), &error);
    assert_int_equal(number("SELECT count(*) FROM clatune.cell"), n);
    claim.id[0] = '\0';
    assert_true(take(&claim, "a"));
  }
  assert_in_range(n_calls, 3, 10);
  assert_int_equal(n, 30000);
  /* Withdrawn after the first part: the others come as withdrawn. */
  run("DELETE FROM clatune.cell WHERE n >= 10000");
  check(clt_queue_withdraw(pq, &submitted_s, plan, &error), &error);
  n = 10000;
  check(clt_queue_join(pq, &target, &n, plan, sweep, &board, &error), &error);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE output = 'withdrawn'"), 20000);
  assert_false(is_unfinished());
  check(clt_queue_submit(pq, &plan, &submitted_s, "large", text, 60, unlisted, &error), &error);
  check(clt_queue_join(pq, &target, &n, plan, sweep, &board, &error), &error);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'open'"), 30000);
  clt_sweep_free(sweep);
  free(text);
}

/* --- failures --- */

static void what_ends_without_a_word_three_times_has_failed(void **state) {
  (void)state;
  clt_error error = {0};
  json_t *described = json_array();
  check(clt_queue_greet(pq, "a", "Board", "", described, &error), &error);
  json_decref(described);
  submit("range(1, 3)", 0.001);
  for (int i = 0; i < CLT_QUEUE_ATTEMPTS; i++) { /* always at the same evaluation */
    clt_claim claim = {0};
    check(clt_queue_expire(pq, &error), &error);
    assert_true(take(&claim, "a"));
    assert_int_equal(claim.n, 0);
    renew(&claim, 40, false);
    end_leases();
  }
  clt_claim next = {0};
  assert_true(take(&next, "a"));
  assert_int_equal(next.n, 1);
  check(clt_queue_expire(pq, &error), &error);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'failed' AND n = 0 AND output LIKE '%said last'"), 1);
  assert_true(is_unfinished());
  finish(&next, false);
  assert_false(is_unfinished());
}

static void what_gets_further_each_time_goes_on(void **state) {
  (void)state;
  clt_error error = {0};
  submit("1", 0.001);
  for (int i = 0; i < 2 * CLT_QUEUE_ATTEMPTS; i++) {
    clt_claim claim = {0};
    check(clt_queue_expire(pq, &error), &error);
    assert_true(take(&claim, "a"));
    renew(&claim, 10 + i, false);
    end_leases();
  }
}

static void where_many_end_without_a_word_it_is_nobodys_fault(void **state) {
  (void)state;
  clt_error error = {0};
  submit("range(1, 13)", 0.001);
  for (int round = 0; round <= CLT_QUEUE_ATTEMPTS; round++) {
    check(clt_queue_expire(pq, &error), &error);
    for (int i = 0; i < 12; i++) {
      clt_claim claim = {0};
      assert_true(take(&claim, "a"));
      assert_int_equal(claim.n, i);
      char text[200];
      snprintf(text, sizeof text, "UPDATE clatune.cell SET lease = clock_timestamp() + interval '1 hour' WHERE n = %d", i);
      run(text);
    }
    end_leases();
  }
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'failed'"), 0);
}

static void a_failure_is_left_to_others_first(void **state) {
  (void)state;
  clt_error error = {0};
  submit("1", 60);
  const char *const agents[] = {"a", "b", "c"};
  for (int i = 0; i < CLT_QUEUE_ATTEMPTS; i++) {
    clt_claim claim = {0};
    assert_true(take(&claim, agents[i]));
    check(clt_queue_fail(pq, &claim, "no such compiler", 1, false, &error), &error);
    check(clt_queue_fail(pq, &claim, "its answer was lost", 1, false, &error), &error);
    claim = (clt_claim){0};
    assert_false(take(&claim, agents[i]));
  }
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'failed' AND output = 'no such compiler'"), 1);
  char *text = NULL;
  int64_t id = 0, submitted_s = 0;
  clt_sweep *sweep = load("1");
  check(clt_sweep_share(&text, sweep, &error), &error);
  check(clt_queue_submit(pq, &id, &submitted_s, "again", text, 60, unlisted, &error), &error);
  clt_claim claim = {0};
  assert_true(take(&claim, "c"));
  check(clt_queue_fail(pq, &claim, "it cannot work anywhere", 1, true, &error), &error);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'failed'"), 1);
  clt_sweep_free(sweep);
  free(text);
}

static void what_is_given_back_was_no_attempt(void **state) {
  (void)state;
  clt_error error = {0};
  submit("1", 60);
  for (int i = 0; i < 2 * CLT_QUEUE_ATTEMPTS; i++) {
    clt_claim claim = {0}, *claims = &claim;
    assert_true(take(&claim, "a"));
    check(clt_queue_release(pq, &claims, 1, &error), &error);
    finish(&claim, true);
  }
}

/* --- who withdraws it, who is there --- */

/* The i-th item listed there, of a status that the caller frees. */
static const json_t *listed(const json_t *status, const char *name, size_t i) {
  const json_t *object = json_array_get(json_object_get(status, name), i);
  assert_non_null(object);
  return object;
}

static json_t *look(int64_t id) {
  clt_error error = {0};
  json_t *status = NULL;
  check(clt_queue_status(pq, &status, id, &error), &error);
  return status;
}

static void what_is_withdrawn_is_over_until_it_is_submitted_again(void **state) {
  (void)state;
  clt_error error = {0};
  int64_t n = 0, id = 0, submitted_s = 0;
  char *text = NULL;
  submit("range(1, 4)", 60);
  clt_claim done = {0}, running = {0};
  assert_true(take(&done, "a"));
  finish(&done, false);
  assert_true(take(&running, "a"));
  run("SET ROLE clatune_worker");
  assert_int_equal(clt_queue_withdraw(pq, &n, plan, &error), CLT_E_STORE);
  assert_non_null(strstr(error.message, "(&user=NAME), or GRANT clatune_owner TO"));
  run("SET ROLE clatune_owner");
  error = (clt_error){0};
  check(clt_queue_withdraw(pq, &n, plan, &error), &error);
  run("RESET ROLE");
  assert_int_equal(n, 2);
  assert_false(is_unfinished());
  renew(&running, 1, true);
  finish(&running, true);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell JOIN clatune.result USING (target, n) WHERE state = 'done' AND line LIKE '{%'"), 1);
  json_t *status = look(plan);
  assert_int_equal(json_integer_value(json_object_get(listed(status, "plans", 0), "withdrawn")), 2);
  json_decref(status);
  clt_sweep *sweep = load("range(1, 4)");
  check(clt_sweep_share(&text, sweep, &error), &error);
  json_t *again = json_pack("[{s:I, s:I}]", "target", (json_int_t)target, "n", (json_int_t)done.n);
  check(clt_queue_submit(pq, &id, &submitted_s, "a plan", text, 60, again, &error), &error);
  assert_int_equal(id, plan);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'open'"), 3);
  assert_int_equal(number("SELECT count(*) FROM clatune.result"), 1);
  /* One that no agent has taken up goes altogether; and existing records do not use up numbers. */
  check(clt_queue_submit(pq, &id, &submitted_s, "another", "{\"Devices\": \"x\", \"Problems\": [\"a#0\", {\"Problem\": \"b#0\"}]}",
                         60, again, &error), &error);
  assert_int_equal(id, plan + 1);
  status = look(id);
  assert_string_equal(clt_json_string(listed(status, "plans", 0), "needs"), "x; a, b");
  json_decref(status);
  check(clt_queue_withdraw(pq, &n, id, &error), &error);
  assert_int_equal(n, -1);
  check(clt_queue_withdraw(pq, &n, plan, &error), &error);
  check(clt_queue_withdraw(pq, &n, plan, &error), &error);
  assert_int_equal(n, 0);
  assert_int_equal(clt_queue_withdraw(pq, &n, id, &error), CLT_E_NOT_FOUND);
  json_decref(again);
  clt_sweep_free(sweep);
  free(text);
}

static void a_device_that_nobody_has_is_not_waited_for(void **state) {
  (void)state;
  clt_error error = {0};
  clt_claim claim = {0};
  json_t *described = json_array();
  submit("1", 60);
  check(clt_queue_greet(pq, "a", "Board", "", described, &error), &error);
  run("INSERT INTO clatune.target(plan, device, driver, name) SELECT id, 'x', 'x', 'None' FROM clatune.plan;"
      "INSERT INTO clatune.cell(target, n, text) SELECT max(id), 0, 'x' FROM clatune.target");
  assert_true(is_unfinished()); /* perhaps somebody has such devices */
  assert_true(take(&claim, "a"));
  assert_true(is_unfinished());
  finish(&claim, false);
  assert_false(is_unfinished());
  check(clt_queue_greet(pq, "b", "Board; None", "", described, &error), &error);
  assert_true(is_unfinished());
  json_decref(described);
}

static void who_is_silent_is_waited_for_and_who_has_left_is_not_there(void **state) {
  (void)state;
  clt_error error = {0};
  submit("range(1, 4)", 60);
  clt_claim done = {0}, of_silent = {0};
  json_t *described = json_array();
  for (const char *const *name = (const char *const[]){"gone", "here", "silent", NULL}; *name; name++)
    check(clt_queue_greet(pq, *name, "Board", "", described, &error), &error);
  json_decref(described);
  check(clt_queue_leave(pq, "gone", &error), &error);
  assert_true(take(&done, "here"));
  finish(&done, false);
  assert_true(take(&of_silent, "silent"));
  run("UPDATE clatune.cell SET began = finished - interval '8 seconds' WHERE state = 'done'");
  run("UPDATE clatune.cell SET lease = clock_timestamp() + interval '5000 seconds' WHERE state = 'running'");
  run("UPDATE clatune.agent SET seen = clock_timestamp() - interval '69 seconds' WHERE name = 'silent'");
  json_t *status = look(0);
  assert_int_equal(json_array_size(json_object_get(status, "agents")), 2);
  assert_string_equal(clt_json_string(listed(status, "agents", 0), "name"), "here");
  assert_string_equal(clt_json_string(listed(status, "running", 0), "agent"), "silent");
  assert_true(clt_json_number(listed(status, "running", 0), "seen_s") >= 69);
  assert_true(clt_json_number(listed(status, "plans", 0), "left_s") > 1000); /* until it is free, not 16 s */
  json_decref(status);
  run("UPDATE clatune.cell SET lease_s = 0.001");
  end_leases();
  status = look(0); /* rows that others may take must be done */
  assert_int_equal(json_integer_value(json_object_get(listed(status, "plans", 0), "open")), 2);
  assert_int_equal(json_integer_value(json_object_get(listed(status, "plans", 0), "running")), 0);
  json_decref(status);
  finish(&of_silent, false);
  run("UPDATE clatune.agent SET seen = 'infinity'; UPDATE clatune.cell SET began = '-infinity', lease = 'infinity'");
  status = look(0);
  assert_int_equal(json_array_size(json_object_get(status, "agents")), 3);
  json_decref(status);
}

/* --- permissions --- */

static void workers_change_nothing_that_is_done(void **state) {
  (void)state;
  submit("range(1, 3)", 60);
  clt_claim claim = {0}, other = {0};
  run("SET ROLE clatune_worker");
  assert_true(take(&claim, "a"));
  renew(&claim, 1, false);
  finish(&claim, false);
  assert_true(take(&other, "b"));
  assert_int_not_equal(clt_pq_run_text(pq, "UPDATE clatune.result SET line = 'forged'", NULL), 0);
  assert_int_not_equal(clt_pq_run_text(pq, "DELETE FROM clatune.cell", NULL), 0);
  assert_int_not_equal(clt_pq_run_text(pq, "TRUNCATE clatune.cell", NULL), 0);
  assert_int_not_equal(clt_pq_run_text(pq, "UPDATE clatune.plan SET text = 'forged'", NULL), 0);
  assert_int_not_equal(clt_pq_run_text(pq, "INSERT INTO clatune.cell(target, n, text, state) VALUES (1, 99, '', 'done')", NULL), 0);
  run("RESET ROLE");
  assert_int_equal(number("SELECT count(*) FROM clatune.result WHERE line = 'forged'"), 0);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'done'"), 1);
}

static void rows_that_are_no_cells_have_failed(void **state) {
  (void)state;
  clt_error error = {0};
  clt_claim claim = {0};
  submit("range(1, 3)", 60);
  run("INSERT INTO clatune.cell(target, n, text) SELECT id, n, 'x' FROM clatune.target, (VALUES (-3), (2), (99)) AS v(n)");
  run("UPDATE clatune.cell SET state = 'running', lease = 'infinity' WHERE n = 99");
  check(clt_queue_reject(pq, plan, &error), &error);
  assert_int_equal(number("SELECT count(*) FROM clatune.cell WHERE state = 'failed' AND n NOT IN (0, 1)"), 3);
  assert_true(take(&claim, "a"));
  assert_int_equal(claim.n, 0);
  check(clt_queue_reject(pq, plan, &error), &error);
  finish(&claim, false);
}

/* --- the plans of an agent that serves --- */

static struct {
  farm_agent f;
  farm_sweep sweep;
  farm_agent_options options;
  size_t n_read;
} served = {.f = {.lock = PTHREAD_MUTEX_INITIALIZER}};

int __real_clt_sweep_load_shared(clt_sweep **out, const char *text, const char *name, const clt_sweep_trust *trust, clt_error *error);
int __wrap_clt_sweep_load_shared(clt_sweep **out, const char *text, const char *name, const clt_sweep_trust *trust, clt_error *error);

/* Whoever reads a plan must not hold the lock; another lane finds nothing to read meanwhile. */
int __wrap_clt_sweep_load_shared(clt_sweep **out, const char *text, const char *name, const clt_sweep_trust *trust, clt_error *error) {
  const size_t n_read = ++served.n_read;
  assert_int_equal(pthread_mutex_trylock(&served.f.lock), 0);
  check(farm_know_plans(&served.f, error), error);
  assert_int_equal(served.n_read, n_read);
  pthread_mutex_unlock(&served.f.lock);
  return __real_clt_sweep_load_shared(out, text, name, trust, error);
}

static void serve(void) {
  static const char *folder;
  static clt_device_info devices[1];
  folder = scratch;
  devices[0] = board;
  served.options.trust = (clt_sweep_trust){.folders = &folder, .n_folders = 1};
  served.sweep = (farm_sweep){.devices = devices, .n_devices = 1};
  served.f.sweep = &served.sweep;
  served.f.options = &served.options;
  served.f.pq = pq;
  served.n_read = 0;
}

/* As a lane does before each tuning. */
static void look_for_plans(void) {
  clt_error error = {0};
  pthread_mutex_lock(&served.f.lock);
  served.f.plans_s = 0;
  check(farm_know_plans(&served.f, &error), &error);
  pthread_mutex_unlock(&served.f.lock);
}

static void plans_are_read_one_at_a_time_without_the_lock(void **state) {
  (void)state;
  clt_error error = {0};
  int64_t id = 0, submitted_s = 0;
  serve();
  check(clt_queue_submit(pq, &id, &submitted_s, "bad", "{\"Problems\": \"bank.json#0\"}", 60, NULL, &error), &error);
  submit("1", 60);
  submit("2", 60);
  for (size_t i = 1; i <= 4; i++) {
    look_for_plans();
    assert_int_equal(served.n_read, i < 2 ? 2 : 3); /* one is refused */
  }
  assert_int_equal(served.f.n_plans, 3);
  assert_null(served.f.plans[0]->sweep.plan);
  assert_int_equal(served.f.plans[2]->id, plan);
  /* Finished ones are dropped once all are read again, except what a lane has. */
  farm_agent_lane lane = {.plan = served.f.plans[2]};
  served.f.lanes = &lane;
  served.f.n_lanes = 1;
  run("UPDATE clatune.cell SET state = 'done'");
  for (size_t n = 2; n >= 1; n--) {
    served.f.connection = 0;
    for (int i = 0; i < 2; i++) look_for_plans();
    assert_int_equal(served.f.n_plans, n);
    lane.plan = NULL;
  }
  assert_int_equal(served.n_read, 3);
  farm_drop_plan(&served.f, 0);
}

/* Plans with four million values each, one that no device here is for, and a small one. */
static void plans_in_memory_are_few(void **state) {
  (void)state;
  clt_error error = {0};
  serve();
  served.f.n_lanes = 0;
  for (int i = 0; i < 4; i++) {
    clt_text json = {0};
    char *text = NULL;
    clt_sweep *sweep = NULL;
    int64_t id = 0, submitted_s = 0;
    clt_text_printf(&json, "{\"Name\": \"%d\", \"Devices\": \"%s\", \"Problems\": [\"bank.json\"", i, i == 3 ? "Absent" : "Board");
    for (int k = 0; k < 60 && i != 1; k++)
      clt_text_add(&json, ", {\"Problem\": \"bank.json\", \"Sizes\": {\"Values\": {\"R\": \"range(65536)\"}, \"Count\": 1}}");
    clt_text_add(&json, "]}");
    scratch_write("plan.json", json.bytes);
    check(clt_sweep_load(&sweep, scratch_path("plan.json"), &error), &error);
    check(clt_sweep_share(&text, sweep, &error), &error);
    check(clt_queue_submit(pq, &id, &submitted_s, "a plan", text, 60, NULL, &error), &error);
    clt_text_release(&json);
    clt_sweep_free(sweep);
    free(text);
  }
  for (int i = 0; i < 5; i++) look_for_plans();
  assert_int_equal(served.n_read, 4);
  assert_int_equal(served.f.n_plans, 3); /* not the first one */
  for (size_t i = 0; i < 3; i++) assert_int_equal(served.f.plans[i]->sweep.plan != NULL, i < 2);
  assert_int_equal(served.f.plans[0]->sweep.n_cells, 1);
  while (served.f.n_plans > 0) farm_drop_plan(&served.f, 0);
}

/* --- records --- */

/* Two stores, and the copies of records to the database and back. */
static struct {
  clt_sweep *sweep;
  clt_instance *instance;
  const clt_space *space;
  clt_store_key key;
  clt_store *mine, *others;
  clt_shipper shipper;
} of;

static int open_stores(void **state) {
  clt_error error = {0};
  empty(state);
  of.sweep = load("1");
  check(clt_instance_new(&of.instance, of.sweep->cells[0].problem, NULL, 0, &board, &error), &error);
  of.space = clt_instance_space(of.instance);
  check(clt_store_key_init(&of.key, of.instance, &error), &error);
  unlink(scratch_path("mine.sqlite"));
  unlink(scratch_path("others.sqlite"));
  check(clt_store_new(&of.mine, "sqlite", scratch_path("mine.sqlite"), &error), &error);
  check(clt_store_new(&of.others, "sqlite", scratch_path("others.sqlite"), &error), &error);
  check(clt_shipper_init(&of.shipper, pq, 0, &error), &error);
  return 0;
}

static int close_stores(void **state) {
  (void)state;
  clt_shipper_release(&of.shipper);
  clt_store_free(of.mine);
  clt_store_free(of.others);
  clt_instance_free(of.instance);
  clt_sweep_free(of.sweep);
  return 0;
}

/* Adds a record of the space's i-th configuration. */
static void measure(clt_store *store, uint64_t i) {
  clt_measurement m;
  clt_error error = {0};
  clt_measurement_init(&m, clt_space_at(of.space, i));
  m.time_s = m.runs_s[0] = (double)i + 1;
  m.n_runs = 1;
  check(clt_store_describe_instance(store, &of.key, of.instance, &error), &error);
  check(clt_store_add(store, &of.key, of.space, CLT_RECORD_SEARCH, &m, &error), &error);
}

static size_t count_of(clt_store *store) {
  clt_store_answers answers = {0};
  clt_error error = {0};
  check(clt_store_newest(&answers, store, &of.key, of.space, false, NULL, &error), &error);
  size_t n = answers.n;
  clt_store_answers_release(&answers);
  return n;
}

static void ship(clt_store *store) {
  clt_error error = {0};
  bool more = true;
  check(clt_ship(&of.shipper, store, false, &more, &error), &error);
  assert_false(more);
}

/* Returns how many pieces there were, none of them larger than it should be. */
static size_t pull(clt_shipper *shipper, clt_store *store, const char *name, size_t most) {
  clt_pull all = {0};
  clt_store *piece = NULL;
  clt_error error = {0};
  size_t n = 0;
  while (check(clt_pull_next(&piece, &all, shipper, &of.key, name, &error), &error), piece) {
    uint64_t n_added = 0;
    check(clt_store_merge(store, piece, NULL, &n_added, &error), &error);
    assert_in_range(n_added, 0, most);
    clt_store_free(piece);
    n++;
  }
  clt_pull_release(&all);
  return n;
}

static void records_are_brought_once_and_found_by_others(void **state) {
  clt_error error = {0};
  measure(of.mine, 0);
  ship(of.mine);
  measure(of.mine, 1);
  ship(of.mine);
  ship(of.mine);
  assert_int_equal(number("SELECT count(*) FROM clatune.measurement"), 2);
  measure(of.others, 2);
  pull(&of.shipper, of.others, NULL, 2);
  assert_int_equal(count_of(of.others), 3);
  ship(of.others);
  assert_int_equal(number("SELECT count(*) FROM clatune.measurement"), 3);
  pull(&of.shipper, of.mine, "bank", 1);
  assert_int_equal(count_of(of.mine), 3);
  assert_int_equal(number("SELECT count(*) FROM clatune.described WHERE name = 'bank' AND sizes = 'R=64'"), 1);
  /* The database is dropped: the files' records come again, and with them those from others' files. */
  empty(state);
  clt_shipper_release(&of.shipper);
  check(clt_shipper_init(&of.shipper, pq, 0, &error), &error);
  ship(of.mine);
  assert_int_equal(number("SELECT count(*) FROM clatune.measurement"), 3);
}

static void a_plan_learns_from_what_was_there_when_it_was_submitted(void **state) {
  (void)state;
  clt_error error = {0};
  clt_shipper of_plan;
  measure(of.mine, 0);
  ship(of.mine);
  submit("1", 60);
  measure(of.mine, 1);
  ship(of.mine);
  run("UPDATE clatune.measurement SET created_s = 4102444800 - created_s"); /* despite the clocks */
  check(clt_shipper_init(&of_plan, pq, plan, &error), &error);
  for (int i = 0; i < 2; i++) {
    pull(&of_plan, of.others, "bank", 1);
    assert_int_equal(count_of(of.others), 1);
  }
  pull(&of.shipper, of.others, "bank", 1);
  assert_int_equal(count_of(of.others), 2);
  clt_shipper_release(&of_plan);
}

/* So that no agent waits for the connection until all of it is there, or holds all in memory. */
static void many_records_come_in_pieces(void **state) {
  (void)state;
  clt_error error = {0};
  measure(of.mine, 0);
  ship(of.mine);
  for (int i = 1; i <= 4; i++) {
    char sql[500];
    snprintf(sql, sizeof sql,
             "INSERT INTO clatune.measurement(origin, number, key, kind, configuration, reason, time_s, clock, created_s, runs)"
             " SELECT '0123456789abcdef', 700 * %d + i, k.id, 'search', 'wg=' || (1 << i %% 4), 'none', 1, 'device', 1, array[1]"
             " FROM generate_series(1, %d) i, clatune.key k", i, i < 4 ? 100 : 2500);
    run(sql);
  }
  assert_int_equal(pull(&of.shipper, of.others, "bank", 1000), 3);
  assert_int_equal(number("SELECT count(*) FROM clatune.measurement"), 2801);
  assert_int_equal(pull(&of.shipper, of.others, "bank", 0), 1); /* nothing new */
  uint64_t n_added = 0;
  check(clt_store_merge(of.mine, of.others, NULL, &n_added, &error), &error);
  assert_int_equal(n_added, 2800);
  run("INSERT INTO clatune.measurement(origin, number, key, kind, configuration, reason, time_s, clock, created_s, runs)"
      " SELECT '0123456789abcdef', 9000 + i, k.id, 'search', repeat('x', 60000), 'none', 1, 'device', 1, array[1]"
      " FROM generate_series(1, 400) i, clatune.key k");
  assert_int_equal(pull(&of.shipper, of.others, "bank", 150), 3); /* 24 MB */
}

static int count_up(void *user, const clt_store_description *key, const clt_store_record *record) {
  if (record) assert_in_range(strlen(record->origin), 1, 64);
  if (key) assert_in_range(strlen(key->tuning_json), 0, 262144);
  return ++*(size_t *)user > 10000; /* goes round in circles */
}

static size_t n_walked(clt_store_order order, const clt_store_key *key) {
  size_t n = 0;
  clt_error error = {0};
  if (of.shipper.shared->type->walk(of.shipper.shared->state, order, key, NULL, 0, count_up, &n, &error) < 0)
    fail_msg("%s", error.message);
  return n;
}

/* Also ones from before a worker could only add what readers take. */
static void rows_of_others_neither_hide_nor_hold_up_any(void **state) {
  (void)state;
  measure(of.mine, 0);
  ship(of.mine);
  run("INSERT INTO clatune.measurement(origin, number, key, kind, configuration, reason, time_s, clock, created_s)"
      " SELECT 'a', i, k.id, 'search', 'wg=2', 'none', 'NaN', 'device', 1 FROM generate_series(1, 1500) i, clatune.key k");
  assert_int_equal(n_walked(CLT_STORE_BEST_FIRST, &of.key), 1501);
  run("UPDATE clatune.measurement SET runs = array_fill(1::float8, array[1000000]), use = array[[1, 2], [3, 4]],"
      " clock = repeat('x', 10000000), origin = repeat('a', 100000) WHERE origin = 'a' AND number <= 2");
  assert_int_equal(n_walked(CLT_STORE_OLDEST_FIRST, &of.key), 1501);
  /* More keys than there are in a page; and some without records. */
  run("INSERT INTO clatune.problem(hash) SELECT 'z' || i FROM generate_series(1, 250) i;"
      "INSERT INTO clatune.key(problem, device) SELECT p.id, d.id FROM clatune.problem p, clatune.device d WHERE p.hash LIKE 'z%';"
      "INSERT INTO clatune.described(key, login, tuning) SELECT k.id, session_user, 't' FROM clatune.key k"
      " JOIN clatune.problem p ON p.id = k.problem WHERE p.hash LIKE 'z%';"
      "INSERT INTO clatune.measurement(origin, number, key, kind, configuration, reason, clock, created_s)"
      " SELECT 'b', key, key, 'search', 'wg=1', 'wrong-output', 'device', 1 FROM clatune.described WHERE tuning = 't' AND key % 250 <> 0;"
      "UPDATE clatune.described SET tuning = repeat('t', 10000000) WHERE key IN (SELECT max(id) FROM clatune.key)");
  assert_int_equal(n_walked(CLT_STORE_KEYS, NULL), 250);
  assert_int_equal(n_walked(CLT_STORE_KEYS, &of.key), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(every_row_is_taken_once_by_whomever, empty),
      cmocka_unit_test_setup(a_claim_that_is_repeated_gets_the_row_that_it_got, empty),
      cmocka_unit_test_setup(who_comes_back_too_late_has_lost_the_row, empty),
      cmocka_unit_test_setup(within_a_lease_of_the_servers_start_nothing_has_run_out, empty),
      cmocka_unit_test_setup(rows_of_a_large_plan_come_a_part_at_a_time, empty),
      cmocka_unit_test_setup(what_ends_without_a_word_three_times_has_failed, empty),
      cmocka_unit_test_setup(what_gets_further_each_time_goes_on, empty),
      cmocka_unit_test_setup(where_many_end_without_a_word_it_is_nobodys_fault, empty),
      cmocka_unit_test_setup(a_failure_is_left_to_others_first, empty),
      cmocka_unit_test_setup(what_is_given_back_was_no_attempt, empty),
      cmocka_unit_test_setup(what_is_withdrawn_is_over_until_it_is_submitted_again, empty),
      cmocka_unit_test_setup(a_device_that_nobody_has_is_not_waited_for, empty),
      cmocka_unit_test_setup(who_is_silent_is_waited_for_and_who_has_left_is_not_there, empty),
      cmocka_unit_test_setup(workers_change_nothing_that_is_done, empty),
      cmocka_unit_test_setup(rows_that_are_no_cells_have_failed, empty),
      cmocka_unit_test_setup(plans_are_read_one_at_a_time_without_the_lock, empty),
      cmocka_unit_test_setup(plans_in_memory_are_few, empty),
      cmocka_unit_test_setup_teardown(records_are_brought_once_and_found_by_others, open_stores, close_stores),
      cmocka_unit_test_setup_teardown(a_plan_learns_from_what_was_there_when_it_was_submitted, open_stores, close_stores),
      cmocka_unit_test_setup_teardown(many_records_come_in_pieces, open_stores, close_stores),
      cmocka_unit_test_setup_teardown(rows_of_others_neither_hide_nor_hold_up_any, open_stores, close_stores),
  };
  if (getenv("CLATUNE_TEST_DATABASE") == NULL) return 77;
  return cmocka_run_group_tests(tests, setup, teardown);
}
