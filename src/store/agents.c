#include "store/agents.h"

#include "base/base.h"
#include "base/json.h"
#include "store/pq.h"

static int ask(clt_pq_rows **rows, clt_pq **pq, const char *sql, const char *url, const char *who, double since_s,
               clt_error *error) {
  int rc = clt_pq_new(pq, url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, error);
  if (rc) return rc;
  return who ? clt_pq_run(*pq, rows, sql, error, "*tn", who, since_s) : clt_pq_run(*pq, rows, sql, error, "*");
}

int clt_store_agents(json_t **out, const char *url, clt_error *error) {
  /* By turns, so that a login with many agents does not hide those of others. */
  static const char list[] =
      "WITH m AS (SELECT agent, count(*) AS n, min(received) AS first, max(received) AS last FROM measurement"
      " GROUP BY 1), g AS (SELECT agent, count(*) AS n, min(received) AS first, max(received) AS last FROM revoked"
      " GROUP BY 1), o AS (SELECT coalesce(a.login, ''), coalesce(left(a.name, 200), ''), coalesce(left(a.host, 200),"
      " ''), coalesce(m.n, 0), coalesce(g.n, 0),"
      " (SELECT count(DISTINCT (target, n)) FROM result AS r WHERE r.login=a.login AND r.agent=a.name),"
      " extract(epoch FROM least(m.first, g.first))::float8, extract(epoch FROM greatest(m.last, g.last))::float8"
      " AS last FROM m FULL JOIN g ON g.agent=m.agent LEFT JOIN agent AS a ON a.id=coalesce(m.agent, g.agent) ORDER BY"
      " row_number() OVER (PARTITION BY a.login ORDER BY greatest(m.last, g.last) DESC NULLS LAST) LIMIT 10000)"
      " SELECT * FROM o ORDER BY last DESC NULLS LAST";
  clt_pq *pq = NULL;
  clt_pq_rows *rows = NULL;
  int rc = ask(&rows, &pq, list, url, NULL, NAN, error);
  json_t *agents = *out = rc ? NULL : json_array();
  for (size_t i = 0; rc == CLT_OK && i < clt_pq_n_rows(rows); i++) {
    json_t *agent =
        json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "login", clt_json_text(clt_pq_text(rows, i, 0)), "agent",
                  clt_json_text(clt_pq_text(rows, i, 1)), "host", clt_json_text(clt_pq_text(rows, i, 2)),
                  "measurements", (json_int_t)clt_pq_whole(rows, i, 3), "revoked", (json_int_t)clt_pq_whole(rows, i, 4),
                  "tunings", (json_int_t)clt_pq_whole(rows, i, 5), "first_s", clt_json_real(clt_pq_number(rows, i, 6)),
                  "last_s", clt_json_real(clt_pq_number(rows, i, 7)));
    if (json_array_append_new(agents, agent)) rc = clt_fail_memory(error);
  }
  clt_pq_rows_free(rows);
  clt_pq_free(pq);
  return rc;
}

int clt_store_revoke(json_t **out, const char *url, const char *who, double since_s, clt_error *error) {
  static const char revoke[] =
      "SELECT n, coalesce(plan, ''), coalesce(device, ''), coalesce(tuning, ''), coalesce(whose, ''),"
      " EXISTS(SELECT FROM agent AS a WHERE is_of(a, $1)) FROM revoke($1, to_timestamp($2))";
  clt_pq *pq = NULL;
  clt_pq_rows *rows = NULL;
  int rc = ask(&rows, &pq, revoke, url, who, since_s, error);
  json_t *tunings = json_array();
  if (rc == CLT_OK && !clt_pq_whole(rows, 0, 5))
    rc = clt_fail(error, CLT_E_NOT_FOUND,
                  "no agent, host or login '%.200s' has delivered anything; 'clatune store show --by agent' lists them",
                  who);
  for (size_t i = 1; rc == CLT_OK && i < clt_pq_n_rows(rows); i++)
    if (json_array_append_new(
            tunings, json_pack("{s:o, s:o, s:o, s:o}", "plan", clt_json_text(clt_pq_text(rows, i, 1)), "device",
                               clt_json_text(clt_pq_text(rows, i, 2)), "tuning", clt_json_text(clt_pq_text(rows, i, 3)),
                               "agent", clt_json_text(clt_pq_text(rows, i, 4)))))
      rc = clt_fail_memory(error);
  if (rc == CLT_OK) *out = json_pack("{s:I, s:O}", "revoked", (json_int_t)clt_pq_whole(rows, 0, 0), "tunings", tunings);
  json_decref(tunings);
  clt_pq_rows_free(rows);
  clt_pq_free(pq);
  return rc;
}
