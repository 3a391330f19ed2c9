#include "farm/queue.h"

#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "store/schema.h"
#include "store/store.h"

#define RAN_OUT "(cell.state = 'running' AND lease_end(cell.lease, cell.lease_s) < clock_timestamp())"
#define PRINTED(name) "regexp_replace(left(" name ", 200), '[[:cntrl:]]', '?', 'g')" /* anyone may have chosen it */
/* The first, because an index has it, however many rows there are. */
#define TARGET_HAS(such) "(SELECT min(n) FROM cell WHERE target = t.id" such ") IS NOT NULL"
#define PLAN_HAS(plan, such) "EXISTS (SELECT FROM target t WHERE t.plan = " plan " AND " TARGET_HAS(such) ")"
#define UNFINISHED " AND state IN ('open', 'running')"

/* --- plans and their rows --- */

int clt_queue_submit(clt_pq *pq, int64_t *id, int64_t *submitted_s, const char *name, const char *text, double lease_s,
                     const json_t *again, clt_error *error) {
  static const char add[] = "SELECT * FROM submit($1, $2, $3, $4::json)";
  clt_pq_rows *rows = NULL;
  char *list = json_dumps(again, JSON_COMPACT); /* NULL: NULL */
  int rc = again && list == NULL ? clt_fail_memory(error) : CLT_OK;
  bool found = false;
  for (int i = 0; rc == CLT_OK && !found && i < 3;
       i++) { /* no row: another agent added it after this statement began */
    rc = clt_pq_run(pq, &rows, add, error, again ? "*ttnt" : "ttnt", name, text, lease_s, list);
    found = rc == CLT_OK && clt_pq_n_rows(rows) > 0;
    if (found) {
      *id = clt_pq_whole(rows, 0, 0);
      *submitted_s = clt_pq_whole(rows, 0, 1);
    }
    if (rc == CLT_OK) clt_pq_rows_free(rows);
  }
  free(list);
  if (rc == CLT_OK && !found)
    return clt_fail(error, CLT_E_STORE, "another machine is adding the same plan; run the command again");
  return rc;
}

/* First waits for those who are adding rows. */
int clt_queue_withdraw(clt_pq *pq, int64_t *n, int64_t plan, clt_error *error) {
  static const char withdraw[] =
      "WITH c AS (UPDATE cell SET state = 'failed', output = 'withdrawn', code = NULL, finished = clock_timestamp()"
      " FROM target t WHERE t.plan = $1 AND cell.target = t.id AND cell.state IN ('open', 'running') RETURNING 1),"
      " empty AS (DELETE FROM target t WHERE t.plan = $1 AND NOT EXISTS (SELECT FROM cell WHERE cell.target = t.id)),"
      " p AS (DELETE FROM plan WHERE id = $1 AND NOT " PLAN_HAS("$1", "")
      " RETURNING 1), w AS (UPDATE plan SET withdrawn = true WHERE id = $1 AND " PLAN_HAS("$1", "") ")"
      " SELECT (SELECT count(*) FROM c) - (SELECT count(*) FROM p) FROM plan WHERE id = $1";
  clt_pq_rows *rows = NULL;
  clt_error why = {0};
  int rc = clt_pq_begin(pq, &why);
  if (rc == CLT_OK) rc = clt_pq_run(pq, NULL, "SELECT FROM plan WHERE id = $1 FOR UPDATE", &why, "w", plan);
  if (rc == CLT_OK) rc = clt_pq_run(pq, &rows, withdraw, &why, "*w", plan);
  const bool denied = rc && strcmp(clt_pq_state(pq), "42501") == 0;
  const int ended = clt_pq_end(pq, rc == CLT_OK, &why);
  if (rc == CLT_OK) rc = ended;
  if (denied)
    return clt_fail(error, rc,
                    "withdrawing a plan needs the role " CLT_ROLE_OWNER
                    ": connect as a user with that role (&user=NAME), or GRANT " CLT_ROLE_OWNER " TO \"%s\"",
                    clt_pq_user(pq));
  if (rc) return clt_fail(error, rc, "%s", why.message);
  *n = clt_pq_whole(rows, 0, 0);
  if (clt_pq_n_rows(rows) == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "there is no plan %lld in '%s'; 'clatune sweep --status URL' lists the plans",
                  (long long)plan, clt_pq_url(pq));
  clt_pq_rows_free(rows);
  return rc;
}

int clt_queue_find(clt_pq *pq, int64_t *id, int64_t *submitted_s, const char *text, clt_error *error) {
  static const char ask[] = "SELECT id, floor(extract(epoch FROM submitted))::bigint FROM plan WHERE hash = md5($1)";
  clt_pq_rows *rows = NULL;
  int rc = clt_pq_run(pq, &rows, ask, error, "t", text);
  if (rc) return rc;
  if (clt_pq_n_rows(rows) == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "the plan was not submitted to '%s', or was withdrawn; submit it with --submit", clt_pq_url(pq));
  *id = clt_pq_whole(rows, 0, 0);
  *submitted_s = clt_pq_whole(rows, 0, 1);
  clt_pq_rows_free(rows);
  return rc;
}

int clt_queue_plans(clt_pq *pq, clt_pq_rows **rows, int64_t after, const char *devices, clt_error *error) {
  /* Of each login the newest, so that one with many does not hold up those of others. */
  static const char ask[] =
      "SELECT p.* FROM (SELECT DISTINCT maker FROM plan) m CROSS JOIN LATERAL"
      " (SELECT id, floor(extract(epoch FROM submitted))::bigint, " PRINTED("name") ", hash FROM plan p"
      " WHERE p.maker = m.maker AND id > $1 AND (NOT " PLAN_HAS("p.id", "") " OR " PLAN_HAS("p.id", UNFINISHED)
      " OR EXISTS (SELECT FROM json_array_elements_text($2::json) d WHERE"
      " NOT EXISTS (SELECT FROM target t WHERE t.plan = p.id AND t.device = d AND p.n_cells <="
      " (SELECT count(*) FROM cell WHERE cell.target = t.id))))"
      " ORDER BY id DESC LIMIT 100) p ORDER BY id LIMIT 50";
  return clt_pq_run(pq, rows, ask, error, "wt", after, devices);
}

/* Any login can add a device that nobody has. */
int clt_queue_goes_on(clt_pq *pq, bool *out, int64_t plan, clt_error *error) {
  static const char ask[] =
      "SELECT (SELECT coalesce(bool_or(is_left) FILTER (WHERE is_known), NOT p.withdrawn) FROM"
      " (SELECT " TARGET_HAS(UNFINISHED) " OR NOT p.withdrawn AND"
      " (SELECT count(*) FROM cell WHERE target = t.id) < p.n_cells AS is_left,"
      " EXISTS (SELECT FROM result WHERE target = t.id AND best_origin IS NOT NULL)"
      " OR EXISTS (SELECT FROM agent WHERE names(devices) @> ARRAY[t.name]) AS is_known FROM target t"
      " WHERE plan = p.id AND " TARGET_HAS("") ") AS t) FROM plan AS p WHERE id = $1";
  clt_pq_rows *rows = NULL;
  int rc = clt_pq_run(pq, &rows, ask, error, "w", plan);
  if (rc == CLT_OK) *out = clt_pq_n_rows(rows) && clt_pq_whole(rows, 0, 0);
  clt_pq_rows_free(rows);
  return rc;
}

int clt_queue_text(clt_pq *pq, char **out, int64_t plan, clt_error *error) {
  static const char ask[] = "SELECT left(text, 16777217) FROM plan WHERE id = $1";
  clt_pq_rows *rows = NULL;
  int rc = clt_pq_run(pq, &rows, ask, error, "w", plan);
  if (rc) return rc;
  *out = clt_pq_n_rows(rows) ? strdup(clt_pq_text(rows, 0, 0)) : NULL;
  if (clt_pq_n_rows(rows) == 0)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "the database has no plan %lld any more", (long long)plan);
  else if (*out == NULL)
    rc = clt_fail_memory(error);
  clt_pq_rows_free(rows);
  return rc;
}

#define AT_ONCE 10000 /* rows per statement */

static int add_rows(clt_pq *pq, int64_t target, const clt_sweep *sweep, size_t first, size_t n, clt_error *error) {
  static const char add[] = "SELECT FROM add_cells($1, $2, $3)";
  json_t *texts = json_array();
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    char *text = clt_sweep_cell_text(&sweep->cells[first + i]);
    if (text == NULL || json_array_append_new(texts, clt_pq_json_text(text))) rc = clt_fail_memory(error);
    free(text);
  }
  if (rc == CLT_OK) rc = clt_pq_run(pq, NULL, add, error, "wwj", target, (int64_t)first, texts);
  json_decref(texts);
  return rc;
}

int clt_queue_join(clt_pq *pq, int64_t *target, size_t *n, int64_t plan, const clt_sweep *sweep,
                   const clt_device_info *device, clt_error *error) {
  static const char add[] = "SELECT * FROM join_plan($1, $2, $3, $4, $5)";
  clt_store_key key;
  clt_pq_rows *rows = NULL;
  int rc = clt_store_key_of_device(&key, device, error);
  bool found = *n > 0;
  for (int i = 0; rc == CLT_OK && !found && i < 3; i++) {
    rc =
        clt_pq_run(pq, &rows, add, error, "wtttw", plan, key.device, key.driver, device->name, (int64_t)sweep->n_cells);
    if (rc) return rc;
    found = clt_pq_n_rows(rows) > 0;
    if (found) *target = clt_pq_whole(rows, 0, 0);
    if (found && clt_pq_whole(rows, 0, 1) == (int64_t)sweep->n_cells) *n = sweep->n_cells;
    clt_pq_rows_free(rows);
  }
  if (rc == CLT_OK && !found)
    return clt_fail(error, CLT_E_NOT_FOUND, "the database has no plan %lld any more", (long long)plan);
  const size_t left = sweep->n_cells - *n, n_now = left < AT_ONCE ? left : AT_ONCE;
  if (rc == CLT_OK && n_now > 0) rc = add_rows(pq, *target, sweep, *n, n_now, error);
  if (rc == CLT_OK) *n += n_now;
  return rc;
}

/* --- claims --- */

int clt_queue_claim(clt_pq *pq, clt_claim *claim, bool *found, const char *agent, const int64_t *targets, size_t n,
                    clt_error *error) {
  static const char take[] = "SELECT * FROM claim($1, $2, $3)";
  clt_pq_rows *rows = NULL;
  int rc = CLT_OK;
  if (claim->id[0] == '\0' && !clt_draw_hex(claim->id, sizeof claim->id - 1))
    rc = clt_fail_errno(error, CLT_E_IO, "read", "getrandom");
  *found = false;
  json_t *list = json_array();
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (json_array_append_new(list, json_integer(targets[i]))) rc = clt_fail_memory(error);
  if (rc != CLT_OK) {
    json_decref(list);
    return rc;
  }
  clt_error why;
  for (int i = 0; i == 0 || (rc && i <= 3 && strcmp(clt_pq_state(pq), "23505") == 0); i++) {
    why = (clt_error){0};
    rc = clt_pq_run(pq, &rows, take, &why, "ttj", claim->id, agent, list);
  }
  json_decref(list);
  if (rc) return clt_fail(error, rc, "%s", why.message);
  if (clt_pq_n_rows(rows) > 0) {
    claim->target = clt_pq_whole(rows, 0, 0);
    claim->n = clt_pq_whole(rows, 0, 1);
    claim->lease_s = clt_pq_number(rows, 0, 2);
    claim->ahead_s = clt_pq_number(rows, 0, 3) - clt_now_s();
    snprintf(claim->origin, sizeof claim->origin, "%s", clt_pq_text(rows, 0, 4));
    claim->progress = 0;
    claim->lost = false;
    *found = true;
  } else {
    claim->id[0] = '\0';
  }
  clt_pq_rows_free(rows);
  return rc;
}

static int run_of_claims(clt_pq *pq, clt_pq_rows **rows, const char *sql, clt_claim *const *claims, size_t n,
                         clt_error *error) {
  json_t *list = json_array();
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (json_array_append_new(
            list, json_pack("{s:I, s:I, s:s, s:I, s:o}", "target", (json_int_t)claims[i]->target, "n",
                            (json_int_t)claims[i]->n, "claim", claims[i]->id, "progress",
                            (json_int_t)claims[i]->progress, "output", clt_pq_json_text(claims[i]->output))))
      rc = clt_fail_memory(error);
  if (rc == CLT_OK && n > 0) rc = clt_pq_run(pq, rows, sql, error, "j", list);
  json_decref(list);
  return rc;
}

int clt_queue_renew(clt_pq *pq, clt_claim *const *claims, size_t n, clt_error *error) {
  static const char renew[] = "SELECT renew($1)";
  clt_pq_rows *rows = NULL;
  int rc = run_of_claims(pq, &rows, renew, claims, n, error);
  for (size_t i = 0; rows && i < n; i++) {
    claims[i]->lost = true;
    for (size_t k = 0; k < clt_pq_n_rows(rows); k++)
      if (strcmp(clt_pq_text(rows, k, 0), claims[i]->id) == 0) claims[i]->lost = false;
  }
  clt_pq_rows_free(rows);
  return rc;
}

int clt_queue_release(clt_pq *pq, clt_claim *const *claims, size_t n, clt_error *error) {
  return run_of_claims(pq, NULL, "SELECT FROM give_back($1)", claims, n, error);
}

int clt_queue_finish(clt_pq *pq, clt_claim *claim, const char *line, int64_t n_made, const json_t *best,
                     clt_queue_ending *ending, clt_error *error) {
  static const char *const names[] = {"done", "lost", "incomplete", "unfounded"};
  clt_pq_rows *rows = NULL;
  int rc = clt_pq_run(pq, &rows, "SELECT finish($1, $2, $3, $4, $5, $6)", error, "wwttwj", claim->target, claim->n,
                      claim->id, line, n_made, best);
  if (rc) return rc;
  *ending = CLT_QUEUE_DONE;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(clt_pq_text(rows, 0, 0), names[i]) == 0) *ending = (clt_queue_ending)i;
  claim->lost = *ending == CLT_QUEUE_LOST;
  clt_pq_rows_free(rows);
  return CLT_OK;
}

int clt_queue_fail(clt_pq *pq, clt_claim *claim, const char *output, int code, bool for_good, clt_error *error) {
  return clt_pq_run(pq, NULL, "SELECT FROM fail($1, $2, $3, $4, $5, $6::bigint <> 0)", error, "wwttww", claim->target,
                    claim->n, claim->id, output, (int64_t)code, (int64_t)for_good);
}

int clt_queue_expire(clt_pq *pq, clt_error *error) { return clt_pq_run(pq, NULL, "SELECT FROM expire()", error, ""); }

int clt_queue_reject(clt_pq *pq, int64_t plan, clt_error *error) {
  return clt_pq_run(pq, NULL, "SELECT FROM reject($1)", error, "w", plan);
}

/* --- results --- */

int clt_queue_greet(clt_pq *pq, const char *agent, const char *devices, const char *lost, const json_t *described,
                    clt_error *error) {
  return clt_pq_run(pq, NULL, "SELECT FROM greet($1, $2, $3, $4)", error, "tttj", agent, devices, lost, described);
}

int clt_queue_leave(clt_pq *pq, const char *agent, clt_error *error) {
  return clt_pq_run(pq, NULL, "SELECT FROM leave($1)", error, "t", agent);
}

/* Few, because a login can add a hundred to a plan. */
int clt_queue_targets(clt_pq *pq, clt_pq_rows **rows, int64_t plan, clt_error *error) {
  static const char ask[] =
      "SELECT id, left(device, 1024), left(driver, 1024), " PRINTED("name") " FROM target t WHERE plan = $1 AND"
      " EXISTS (SELECT FROM cell WHERE target = t.id) ORDER BY device, driver";
  return clt_pq_run(pq, rows, ask, error, "w", plan);
}

int clt_queue_rows(clt_pq *pq, clt_pq_rows **rows, int64_t target, int64_t after, clt_error *error) {
  static const char ask[] =
      "SELECT c.n, c.state, line, left(output, 4096), code, a.id, p.hash, left(m.configuration, 65536), m.time_s,"
      " m.energy_j, m.figures[1] FROM (SELECT target, n, state, output, code FROM cell WHERE target = $1 AND n > $2"
      " ORDER BY n LIMIT 200) c LEFT JOIN result r USING (target, n)"
      " LEFT JOIN agent a ON a.login = r.login AND a.name = r.agent"
      " LEFT JOIN measurement m ON m.origin = best_origin AND m.number = best_number LEFT JOIN key k ON k.id = m.key"
      " LEFT JOIN problem p ON p.id = k.problem ORDER BY c.n, r.id";
  return clt_pq_run(pq, rows, ask, error, "ww", target, after);
}

int clt_queue_devices(clt_pq *pq, clt_pq_rows **rows, int64_t target, int64_t agent, clt_error *error) {
  static const char ask[] =
      "SELECT value::text FROM agent, json_array_elements(described) WHERE id = $2 UNION ALL (SELECT DISTINCT ON "
      "(s.login)"
      " left(description, 65536) FROM described s JOIN key k ON k.id = s.key JOIN device d ON d.id = k.device JOIN "
      "target t"
      " ON t.device = d.key AND t.driver = d.driver WHERE t.id = $1 AND description <> '' ORDER BY s.login, s.id LIMIT "
      "100)";
  return clt_pq_run(pq, rows, ask, error, "ww", target, agent);
}

/* --- status --- */

/* Converted before the subtraction, because a worker may have written infinite times. */
#define NOW_S "extract(epoch FROM clock_timestamp())::float8"
#define SINCE NOW_S " - extract(epoch FROM "
#define FREE_S "extract(epoch FROM lease_end(cell.lease, cell.lease_s))::float8 - " NOW_S
#define OF_AGENT " LEFT JOIN agent a ON a.login = cell.login AND a.name = cell.agent AND cell.state = 'running'"
#define IS_SILENT \
  "coalesce(a.seen < clock_timestamp() - make_interval(secs => " CLT_TEXT_OF(CLT_QUEUE_SILENT_S) "), true)"
#define N_OF(state) "count(*) FILTER (WHERE state = '" state "')"
#define N_RAN_OUT "count(*) FILTER (WHERE " RAN_OUT ")" /* running rows that other agents may take */
/* So that a login with many rows does not hide those of others. */
#define BY_TURNS(login, order) " ORDER BY row_number() OVER (PARTITION BY " login " ORDER BY " order ")"
#define WHOLE(sum) "coalesce(sum(" sum "), 0)::bigint"
/* The mean time of a tuning on a target; of the whole plan until one is finished there. */
#define TUNING_S "coalesce(k.s / nullif(done, 0), m.s)"

/* Anyone may have written it. */
static json_t *shown_text(const char *text) {
  clt_text shown = {0};
  clt_text_add_shown(&shown, text, strlen(text), "");
  json_t *out = clt_json_text(shown.bytes ? shown.bytes : "");
  clt_text_release(&shown);
  return out;
}

/* Adds the rows of a query to out under a name, as objects, and how many its limit left out. A column is a letter for
 * its type ('w' whole number, 'r' real number, 't' text), then its name; before the first is the count of all. */
static int list_rows(json_t *out, const char *name, clt_pq *pq, const char *sql, const char *const *columns,
                     int64_t plan, clt_error *error) {
  clt_pq_rows *rows = NULL;
  json_t *list = json_array();
  int rc = clt_pq_run(pq, &rows, sql, error, plan ? "w" : "*w", plan); /* an agent does not wait long */
  const size_t n = rc ? 0 : clt_pq_n_rows(rows);
  for (size_t i = 0; i < n; i++) {
    json_t *object = json_object();
    for (int c = 0; columns[c]; c++) {
      json_t *value = NULL;
      if (columns[c][0] == 'w') value = json_integer((json_int_t)clt_pq_whole(rows, i, c + 1));
      if (columns[c][0] == 'r') value = clt_json_real(clt_pq_number(rows, i, c + 1));
      if (columns[c][0] == 't') value = shown_text(clt_pq_text(rows, i, c + 1));
      json_object_set_new(object, columns[c] + 1, value);
    }
    json_array_append_new(list, object);
  }
  const json_int_t n_left_out = n > 0 ? (json_int_t)clt_pq_whole(rows, 0, 0) - (json_int_t)n : 0;
  clt_pq_rows_free(rows);
  json_object_set_new(json_object_get(out, "left_out"), name, json_integer(n_left_out));
  if (json_object_set_new(out, name, list) && rc == CLT_OK) rc = clt_fail_memory(error);
  return rc;
}

/* "pocl, gpu; matmul.json": the devices and problems of a plan's text, which may be invalid. */
static json_t *needs_of(const char *text) {
  json_t *plan = json_loads(text, 0, NULL);
  clt_text out = {0};
  for (int p = 0; p < 2; p++) {
    const json_t *all = json_object_get(plan, p ? "Problems" : "Devices");
    const size_t n = json_is_array(all) ? json_array_size(all) : all != NULL;
    for (size_t i = 0; i < n; i++) {
      const json_t *item = json_is_array(all) ? json_array_get(all, i) : all;
      const char *name = json_string_value(json_is_object(item) ? json_object_get(item, "Problem") : item);
      if (name == NULL) continue;
      clt_text_printf(&out, "%s%.*s", i ? ", " : out.n ? "; " : "", (int)(p ? strcspn(name, "#") : strlen(name)), name);
    }
  }
  json_t *needs = shown_text(out.bytes ? out.bytes : "");
  clt_text_release(&out);
  json_decref(plan);
  return needs;
}

int clt_queue_status(clt_pq *pq, json_t **out, int64_t plan, clt_error *error) {
  /* The estimate assumes that rows of silent agents are started again after their lease. */
  static const char of_plans[] =
      "WITH k AS (SELECT t.plan, count(*) AS n, " N_OF("open") " + " N_RAN_OUT " AS open, " N_OF("running")
      " - " N_RAN_OUT " AS running, "
      N_OF("done") " AS done, " N_OF("failed") " AS failed, " N_OF("failed' AND output = 'withdrawn") " AS withdrawn,"
      " count(*) FILTER (WHERE state = 'done' AND finished > clock_timestamp() - interval '1 hour') AS lately,"
      " count(*) FILTER (WHERE state = 'running' AND NOT " IS_SILENT ") AS alive,"
      " max(" FREE_S ") FILTER (WHERE state = 'running' AND " IS_SILENT ") AS free,"
      " sum(extract(epoch FROM finished)::float8 - extract(epoch FROM cell.began)::float8)"
      " FILTER (WHERE state = 'done') AS s"
      " FROM target t JOIN cell ON cell.target = t.id" OF_AGENT " WHERE $1 IN (0, t.plan) GROUP BY t.id),"
      " m AS (SELECT plan, sum(s) / nullif(sum(done), 0) AS s FROM k GROUP BY plan),"
      " p AS (SELECT count(*) OVER (), p.id, left(p.name, 200), " SINCE
      "p.submitted)::float8, " WHOLE("n") " AS n, " WHOLE("open") ", " WHOLE("running")
      ", " WHOLE("done") ", " WHOLE("failed") ", " WHOLE("k.withdrawn") ", " WHOLE("lately") ", max(m.s),"
      " max(greatest((open + running) * " TUNING_S " / greatest(alive, 1), free + " TUNING_S "))"
      " FROM plan p LEFT JOIN k ON k.plan = p.id LEFT JOIN m ON m.plan = p.id WHERE $1 IN (0, p.id) GROUP BY p.id"
      BY_TURNS("p.maker", "coalesce(sum(running), 0) > 0 DESC, coalesce(sum(open + running), 1) > 0 DESC, p.id DESC")
      ", p.id DESC LIMIT 100) SELECT p.*,"
      " CASE n WHEN 0 THEN (SELECT left(text, 65536) FROM plan WHERE plan.id = p.id) ELSE '' END FROM p ORDER BY id";
  static const char *const plan_columns[] = {"wid",       "tname",   "rage_s",  "wtunings",   "wopen",
                                             "wrunning",  "wdone",   "wfailed", "wwithdrawn", "wdone_in_the_last_hour",
                                             "rtuning_s", "rleft_s", "tneeds",  NULL};
  static const char of_rows[] =
      "WITH r AS (SELECT count(*) OVER (), t.plan, left(t.name, 200), left(cell.text, 1000), coalesce(cell.login, ''),"
      " coalesce(cell.agent, ''), " SINCE "cell.began)::float8, " FREE_S ", progress, attempts, " SINCE
      "a.seen)::float8, cell.began FROM cell JOIN target t ON t.id = cell.target" OF_AGENT
      " WHERE state = 'running' AND $1 IN (0, t.plan)" BY_TURNS(
          "cell.login", "cell.began") " LIMIT 10000) SELECT * FROM r ORDER BY plan, began";
  static const char *const row_columns[] = {"wplan",    "tdevice",   "ttuning",   "tlogin",  "tagent", "rsince_s",
                                            "rlease_s", "wprogress", "wattempts", "rseen_s", NULL};
  static const char of_agents[] =
      "WITH w AS (SELECT cell.login, cell.agent FROM cell JOIN target t ON t.id = cell.target WHERE state = 'running'"
      " AND $1 IN (0, t.plan)), a AS (SELECT count(*) OVER (), login, name, devices, lost, " SINCE
      "seen)::float8 FROM agent WHERE seen > clock_timestamp() - interval '1 minute'"
      " OR (login, name) IN (SELECT * FROM w)" BY_TURNS(
          "login", "(login, name) IN (SELECT * FROM w) DESC, seen DESC") " LIMIT 10000) SELECT * FROM a ORDER BY name";
  static const char *const agent_columns[] = {"tlogin", "tname", "tdevices", "tquarantined", "rseen_s", NULL};
  json_t *status = *out = json_pack("{s:{}}", "left_out"), *object;
  size_t i;
  int rc = status ? list_rows(status, "plans", pq, of_plans, plan_columns, plan, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = list_rows(status, "running", pq, of_rows, row_columns, plan, error);
  if (rc == CLT_OK) rc = list_rows(status, "agents", pq, of_agents, agent_columns, plan, error);
  json_array_foreach(json_object_get(status, "plans"), i, object) {
    json_object_set_new(object, "needs", needs_of(clt_json_string(object, "needs")));
  }
  if (rc) json_decref(status), *out = NULL;
  return rc;
}
