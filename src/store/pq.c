#include "store/pq.h"

#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"
#include "store/pq_values.h"
#include "store/pq_wait.h"
#include "store/schema.h"

#define CONNECT_S 5        /* per attempt */
#define FIRST_NAP_S 0.02   /* before the first repetition; then doubled each time */
#define LONGEST_NAP_S 0.5  /* so that a recovered server is noticed within a second */
#define MOST_STATEMENTS 64 /* kept prepared */
#define SAID_BYTES 600     /* of the server's text in a message */

struct clt_pq {
  char *url, *shown;
  clt_pq_schema schema;
  double patience_s;
  PGconn *conn; /* NULL: not connected */
  uint64_t connection;
  bool in_transaction, removes;       /* removes: the current statement deletes rows */
  bool unlimited;                     /* it may take as long as it needs */
  const char *known[MOST_STATEMENTS]; /* statements that were run; the index is the name */
  bool prepared[MOST_STATEMENTS];     /* on this connection */
  size_t n_known;
  char state[6], agent[160];
};

static clt_pq_wait_fn wait_for_others;
void clt_pq_on_wait(clt_pq_wait_fn wait) { wait_for_others = wait; }

/* --- errors --- */

/* The first line of libpq's or the server's message, without control characters. */
static void copy_said(char out[SAID_BYTES], const char *text) {
  clt_text shown = {0};
  size_t n = strcspn(text, "\n");
  clt_text_add_shown(&shown, text, n < SAID_BYTES - 1 ? n : SAID_BYTES - 1, "");
  snprintf(out, SAID_BYTES, "%s", shown.bytes ? shown.bytes : "");
  clt_text_release(&shown);
}

/* Whether an SQLSTATE is temporary. */
static bool is_away(const char *state) {
  static const char *const states[] = {"57P01", "57P02", "57P03", "57P05", "53200", "53300", "25P03", NULL};
  return clt_starts_with(state, "08") || clt_is_one_of(state, states);
}

/* Whether it conflicted with others' transactions: the whole transaction must be repeated. */
static bool is_conflict(const char *state) { return strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0; }

/* Whether only the statement must be repeated: it conflicted with another one, or timed out waiting for it. */
static bool is_collision(const char *state) {
  return is_conflict(state) || strcmp(state, "55P03") == 0 || strcmp(state, "57014") == 0;
}

/* Whether other logins hold what is needed: a lock, or all connections or locks of the server. */
static bool is_held(const char *state) {
  return strcmp(state, "55P03") == 0 || strcmp(state, "53200") == 0 || strcmp(state, "53300") == 0;
}

static void disconnect(clt_pq *pq) {
  if (pq->conn) libpq.PQfinish(pq->conn);
  pq->conn = NULL;
  memset(pq->prepared, 0, sizeof pq->prepared);
}

/* libpq does not report the SQLSTATE of a refused connection, but its message contains it: "FATAL:  28P01: ...". */
static const char *find_refusal(char state[6], const char *message) {
  for (const char *at = strstr(message, ":  "); at; at = strstr(at + 1, ":  ")) {
    const char *code = at + 3;
    if (strspn(code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5 || code[5] != ':') continue;
    memcpy(state, code, 5);
    state[5] = '\0';
    return code[6] == ' ' ? code + 7 : code + 6;
  }
  state[0] = '\0';
  return message;
}

/* The connection is lost: CLT_E_AGAIN. */
static int fail_lost(clt_pq *pq, const char *why, clt_error *error) {
  char said[SAID_BYTES], state[6];
  copy_said(said, find_refusal(state, why));
  disconnect(pq);
  return clt_fail(error, CLT_E_AGAIN, "the server of the store '%s' is unreachable (%s)", pq->shown, said);
}

/* Why there is no connection. A server that was never reached is an error at once, without waiting. */
static int fail_to_connect(clt_pq *pq, clt_error *error) {
  char said[SAID_BYTES], user[64], database[64];
  const char *message = libpq.PQerrorMessage(pq->conn);
  const bool needs_password = libpq.PQconnectionNeedsPassword(pq->conn),
             is_bad_name = strstr(message, "translate host name");
  const bool is_certificate = strstr(message, "certificate"), no_tls = strstr(message, "does not support SSL");
  const bool is_service = strstr(message, "definition of service") || strstr(message, "service file");
  copy_said(said, find_refusal(pq->state, message));
  snprintf(user, sizeof user, "%s", libpq.PQuser(pq->conn) ? libpq.PQuser(pq->conn) : "");
  snprintf(database, sizeof database, "%s", libpq.PQdb(pq->conn) ? libpq.PQdb(pq->conn) : "");
  const char *state = pq->state, *url = pq->shown;
  disconnect(pq);
  if (needs_password || strcmp(state, "28P01") == 0)
    return clt_fail(
        error, CLT_E_STORE,
        "cannot open the store '%s': %s for '%.64s'; put the password into ~/.pgpass (mode 0600) or a service file",
        url, needs_password ? "the server asks for a password" : "the server refuses the password", user);
  if (is_certificate)
    return clt_fail(error, CLT_E_STORE,
                    "cannot open the store '%s': %s; the server's certificate must be signed by the authority in "
                    "sslrootcert (else ~/.postgresql/root.crt), name the host, and not have expired",
                    url, said);
  if (is_service)
    return clt_fail(error, CLT_E_STORE, "cannot open the store '%s': %s; services are defined in ~/.pg_service.conf",
                    url, said);
  if (no_tls)
    return clt_fail(error, CLT_E_STORE, "cannot open the store '%s': %s; enable TLS on the server (ssl = on)", url,
                    said);
  if (strcmp(state, "3D000") == 0)
    return clt_fail(error, CLT_E_STORE,
                    "cannot open the store '%s': the server has no database '%.64s'; create it (createdb), then run "
                    "'clatune store init URL'",
                    url, database);
  if (strcmp(state, "53300") == 0)
    return clt_fail(error, CLT_E_AGAIN,
                    "the server of the store '%s' has no free connection (%s); pg_stat_activity lists who has them, "
                    "ALTER ROLE name CONNECTION LIMIT 20 limits a login",
                    url, said);
  if (state[0] && !is_away(state))
    return clt_fail(error, CLT_E_STORE, "cannot open the store '%s': the server refuses the user '%.64s' (%s)", url,
                    user, said);
  if (is_bad_name && pq->connection == 0)
    return clt_fail(error, CLT_E_STORE, "cannot open the store '%s': unknown host (%s); check the URL", url, said);
  if (state[0] == '\0' && pq->connection == 0 && pq->patience_s > 0)
    return clt_fail(error, CLT_E_STORE, "cannot open the store '%s': %s; is PostgreSQL running there?", url, said);
  return clt_fail(error, CLT_E_AGAIN, "the server of the store '%s' is unreachable (%s)", url, said);
}

/* Who holds locks in the store, the oldest transaction first: others cannot see when it began. */
static const char holders[] =
    "SELECT string_agg(concat('''', usename, ''' (process ', pid, ': ', tables, ')'), ', ') FROM (SELECT"
    " a.usename, a.pid, string_agg(DISTINCT c.relname, ', ') AS tables FROM pg_locks AS l JOIN pg_stat_activity AS a"
    " ON a.pid=l.pid LEFT JOIN pg_class AS c ON c.oid=l.relation AND c.relkind='r' AND"
    " c.relnamespace=to_regnamespace('clatune') WHERE l.granted AND a.datname=current_database() AND"
    " a.pid<>pg_backend_pid() GROUP BY 1, 2 HAVING count(c.oid) > 0 ORDER BY"
    " max(age(l.transactionid)) DESC NULLS LAST LIMIT 3) AS o";

static int send_text(clt_pq *pq, const char *sql, clt_pq_rows **rows, clt_error *error);

/* A statement has waited too long for a lock. Its transaction goes on from before it. */
static int fail_locked(clt_pq *pq, const char *said, clt_error *error) {
  clt_pq_rows *rows = NULL;
  char who[SAID_BYTES] = "";
  if (pq->in_transaction && send_text(pq, "ROLLBACK TO SAVEPOINT clatune", NULL, NULL)) disconnect(pq);
  if (pq->conn && send_text(pq, holders, &rows, NULL) == CLT_OK) copy_said(who, clt_pq_text(rows, 0, 0));
  clt_pq_rows_free(rows);
  memcpy(pq->state, "55P03", sizeof pq->state);
  return clt_fail(error, CLT_E_AGAIN, "the store '%s' is busy (%s)%s%s", pq->shown, said,
                  who[0] ? "; open transactions, which pg_terminate_backend can end: " : "", who);
}

/* The error of a failed statement. */
static int fail_statement(clt_pq *pq, const PGresult *result, clt_error *error) {
  char said[SAID_BYTES];
  const char *state = libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char *message = libpq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), *url = pq->shown;
  if (message == NULL) message = libpq.PQresultErrorMessage(result);
  snprintf(pq->state, sizeof pq->state, "%s", state ? state : "");
  state = pq->state;
  if (libpq.PQstatus(pq->conn) == CONNECTION_BAD || is_away(state)) return fail_lost(pq, message, error);
  /* Prepared statements are gone, or refer to old tables. */
  const char *function = libpq.PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
  if (strcmp(state, "26000") == 0 || (function && strcmp(function, "RevalidateCachedQuery") == 0))
    return fail_lost(pq, message, error);
  copy_said(said, message);
  if (strcmp(state, "55P03") == 0) return fail_locked(pq, said, error);
  if (is_collision(state))
    return clt_fail(error, CLT_E_AGAIN, "the store '%s' is busy (%s); try again later", url, said);
  /* A login without rights does not see what is in the schema; nor does its session once it has them again. */
  const bool unseen = (strcmp(state, "42P01") == 0 || strcmp(state, "42883") == 0) && !strstr(said, "clatune.");
  if (!unseen && (strcmp(state, "42P01") == 0 || strcmp(state, "3F000") == 0 || strcmp(state, "42703") == 0))
    return clt_fail(error, CLT_E_STORE,
                    "the database '%s' is not a clatune store (%s); its owner must run 'clatune store init URL'", url,
                    said);
  if (strcmp(state, "42501") == 0 && pq->schema == CLT_PQ_BARE)
    return clt_fail(
        error, CLT_E_STORE,
        "'%.64s' lacks the rights to prepare the store '%s' (%s); use the database's owner, who may create roles",
        libpq.PQuser(pq->conn), url, said);
  if (unseen || strcmp(state, "42501") == 0) {
    const bool looks = strstr(said, "for schema") != NULL;
    const char *role = looks ? CLT_ROLE_READER : CLT_ROLE_WORKER;
    if (pq->removes || strstr(said, "function revoke")) role = CLT_ROLE_OWNER;
    clt_fail(error, CLT_E_STORE,
             "'%.64s' lacks rights in the store '%s' (%s); its owner can grant them: GRANT %s TO \"%.64s\"%s",
             libpq.PQuser(pq->conn), url, said, role, libpq.PQuser(pq->conn),
             looks ? " (" CLT_ROLE_WORKER " to add measurements)" : "");
    if (unseen) disconnect(pq);
    return CLT_E_STORE;
  }
  if (strcmp(state, "25006") == 0)
    return clt_fail(error, CLT_E_STORE, "the server of the store '%s' is read-only (%s); use the primary server", url,
                    said);
  if (clt_starts_with(state, "53"))
    return clt_fail(error, CLT_E_STORE, "the server of the store '%s' is out of disk space, memory or connections (%s)",
                    url, said);
  return clt_fail(error, CLT_E_STORE, "the store '%s' cannot be used: %s (%s)", url, said,
                  state[0] ? state : "unknown cause");
}

/* --- requests --- */

/* Finishes a request; gives its result if rows is not NULL. `sent`: whether libpq accepted it. */
static int finish(clt_pq *pq, int sent, clt_pq_rows **rows, clt_error *error) {
  PGresult *result = NULL;
  if (!sent || !clt_pq_receive(pq->conn, pq->unlimited, &result)) {
    const char *why = libpq.PQerrorMessage(pq->conn);
    return fail_lost(pq, why[0] ? why : "no answer", error);
  }
  const ExecStatusType kind = libpq.PQresultStatus(result);
  const bool is_done = kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK;
  int rc = is_done ? CLT_OK : fail_statement(pq, result, error);
  if (rc == CLT_OK && rows) {
    clt_pq_restore_texts(result);
    *rows = result;
  } else {
    libpq.PQclear(result);
  }
  return rc;
}

static int send_text(clt_pq *pq, const char *sql, clt_pq_rows **rows, clt_error *error) {
  return finish(pq, libpq.PQsendQuery(pq->conn, sql), rows, error);
}

/* --- connecting --- */

/* Keep-alives let both ends notice a dead connection. Time-outs limit waiting. The search path protects against
 * operators that others have added to the database. Short statements need no JIT, and numbers need all their digits. */
static const char session_text[] =
    "SET search_path=pg_catalog,clatune,pg_temp; SET lock_timeout='4s';"
    "SET idle_in_transaction_session_timeout='10s'; SET default_transaction_isolation='read committed';"
    "SET synchronous_commit=on; SET jit=off; SET extra_float_digits=1; SET tcp_keepalives_idle=5;"
    "SET tcp_keepalives_interval=2; SET tcp_keepalives_count=3; SET tcp_user_timeout='10s'; SELECT ";

static void hear_nothing(void *none, const PGresult *notice) { (void)none, (void)notice; }

/* Settings and schema version go in one request, because short-lived commands connect, too. */
static int begin_session(clt_pq *pq, clt_error *error) {
  clt_pq_rows *rows = NULL;
  char text[sizeof session_text + 80];
  const char *encoding = libpq.PQparameterStatus(pq->conn, "server_encoding");
  if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
    return clt_fail(error, CLT_E_STORE,
                    "the database '%s' has the encoding %.32s; create one with UTF8 (createdb -E UTF8 -T template0)",
                    pq->shown, encoding ? encoding : "unknown");
  snprintf(text, sizeof text, "%s%s%s", pq->unlimited ? "SET statement_timeout=0;" : "SET statement_timeout='5s';",
           session_text, pq->schema == CLT_PQ_BARE ? CLT_TEXT_OF(CLT_SCHEMA_VERSION) : "version FROM clatune.about");
  int rc = send_text(pq, text, &rows, error);
  if (rc) return rc;
  const long version = libpq.PQntuples(rows) == 1 ? strtol(libpq.PQgetvalue(rows, 0, 0), NULL, 10) : 0;
  clt_pq_rows_free(rows);
  if (version > CLT_SCHEMA_VERSION)
    return clt_fail(error, CLT_E_STORE,
                    "the store '%s' was made by a newer clatune (schema version %ld, this one knows %d); update "
                    "clatune",
                    pq->shown, version, CLT_SCHEMA_VERSION);
  if (version < CLT_SCHEMA_VERSION)
    return clt_fail(error, CLT_E_STORE,
                    "the store '%s' was made by an older clatune (schema version %ld, this one writes %d); its "
                    "owner must run 'clatune store init URL'",
                    pq->shown, version, CLT_SCHEMA_VERSION);
  return CLT_OK;
}

static int start_connection(clt_pq *pq, clt_error *error) {
  /* Options of the URL take precedence over those before it here. */
  const char *const names[] = {
      "fallback_application_name", "keepalives_idle", "keepalives_interval", "keepalives_count",
      "tcp_user_timeout",          "dbname",          "client_encoding",     NULL};
  const char *const values[] = {"clatune", "5", "2", "3", "10000", pq->url, "UTF8", NULL};
  const double deadline_s = clt_now_s() + CONNECT_S;
  pq->conn = libpq.PQconnectStartParams(names, values, 1);
  if (pq->conn == NULL) return clt_fail_memory(error);
  libpq.PQsetErrorVerbosity(pq->conn, PQERRORS_VERBOSE);
  libpq.PQsetNoticeReceiver(pq->conn, hear_nothing, NULL);
  PostgresPollingStatusType step =
      libpq.PQstatus(pq->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
  while (step != PGRES_POLLING_OK) {
    if (step == PGRES_POLLING_FAILED) return fail_to_connect(pq, error);
    if (!clt_pq_wait(pq->conn, step == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_s))
      return fail_lost(pq, "no answer while connecting", error);
    step = libpq.PQconnectPoll(pq->conn);
  }
  return libpq.PQsetnonblocking(pq->conn, 1) ? fail_lost(pq, libpq.PQerrorMessage(pq->conn), error) : CLT_OK;
}

static int connect_once(clt_pq *pq, clt_error *error) {
  if (pq->conn) return CLT_OK;
  locale_t before = clt_c_locale_enter(); /* libpq's messages must be in English for the checks above */
  int rc = start_connection(pq, error);
  clt_c_locale_leave(before);
  if (rc == CLT_OK) rc = begin_session(pq, error);
  if (rc == CLT_OK)
    pq->connection++;
  else
    disconnect(pq);
  return rc;
}

/* --- statements --- */

/* A statement is prepared at its second use, so that one that runs once needs a single round trip. */
static int send_statement(clt_pq *pq, const char *sql, const clt_pq_values *values, clt_pq_rows **rows,
                          clt_error *error) {
  size_t i = 0;
  char name[24];
  while (i < pq->n_known && pq->known[i] != sql) i++;
  if (i == pq->n_known) {
    if (i < MOST_STATEMENTS) pq->known[pq->n_known++] = sql;
    return finish(pq,
                  libpq.PQsendQueryParams(pq->conn, sql, (int)values->n, values->types, values->values, NULL, NULL, 0),
                  rows, error);
  }
  snprintf(name, sizeof name, "%zu", i);
  if (!pq->prepared[i]) {
    int rc = finish(pq, libpq.PQsendPrepare(pq->conn, name, sql, (int)values->n, values->types), NULL, error);
    if (rc) return rc;
    pq->prepared[i] = true;
  }
  return finish(pq, libpq.PQsendQueryPrepared(pq->conn, name, (int)values->n, values->values, NULL, NULL, 0), rows,
                error);
}

/* One attempt. values NULL: sql is a text with statements; sql NULL: only connects. */
static int try_once(clt_pq *pq, const char *sql, const clt_pq_values *values, clt_pq_rows **rows, clt_error *error) {
  int rc = connect_once(pq, error);
  if (rc || sql == NULL) return rc;
  return values ? send_statement(pq, sql, values, rows, error) : send_text(pq, sql, rows, error);
}

static int fail_in_transaction(const clt_error *why, clt_error *error) {
  return clt_fail(error, CLT_E_STORE, "%s; the unfinished transaction was undone, run the command again", why->message);
}

/* In a transaction each statement can be undone and repeated alone. */
static int begin_statement(clt_pq *pq, clt_error *error) {
  return pq->in_transaction ? send_text(pq, "RELEASE SAVEPOINT clatune; SAVEPOINT clatune", NULL, error) : CLT_OK;
}

/* Repeats an attempt until it succeeds, fails permanently, or patience_s has passed; for what others hold, as long as
 * the program waits. */
static int try_often(clt_pq *pq, const char *sql, const clt_pq_values *values, clt_pq_rows **rows, clt_error *error) {
  const double begin_s = clt_now_s();
  double nap_s = FIRST_NAP_S;
  for (bool told = false;;) {
    clt_error why = {0};
    pq->state[0] = '\0';
    pq->removes = sql && clt_starts_with(sql, "DELETE");
    if (pq->in_transaction && pq->conn == NULL)
      return clt_fail(error, CLT_E_STORE, "the connection to the store '%s' was lost; run the command again",
                      pq->shown);
    int rc = begin_statement(pq, &why);
    if (rc == CLT_OK) rc = try_once(pq, sql, values, rows, &why);
    if (rc == CLT_OK) return CLT_OK;
    const bool held = is_held(pq->state);
    const bool ends = pq->in_transaction && is_conflict(pq->state);
    if (rc == CLT_E_AGAIN && pq->in_transaction && !ends && (!held || pq->conn == NULL))
      return fail_in_transaction(&why, error);
    if (rc != CLT_E_AGAIN || ends || pq->patience_s <= 0) return clt_fail(error, rc, "%s", why.message);
    const double waited_s = clt_now_s() - begin_s;
    const bool waits = held && wait_for_others && wait_for_others(told ? NULL : why.message);
    told = told || waits;
    if (!waits && waited_s >= pq->patience_s)
      return clt_fail(error, CLT_E_STORE, "%s; gave up after %.0f s", why.message, waited_s);
    poll(NULL, 0, (int)(nap_s * 1e3));
    nap_s = fmin(2 * nap_s, LONGEST_NAP_S);
  }
}

/* values NULL: sql is a text with statements. */
static int run_unlimited(clt_pq *pq, clt_pq_rows **rows, const char *sql, const clt_pq_values *values,
                         clt_error *error) {
  char state[sizeof pq->state];
  pq->unlimited = true;
  int rc = clt_pq_run(pq, NULL, "SET statement_timeout=0", error, "");
  if (rc == CLT_OK) rc = try_often(pq, sql, values, rows, error);
  pq->unlimited = false;
  memcpy(state, pq->state, sizeof state);
  if (pq->conn && clt_pq_run(pq, NULL, "SET statement_timeout='5s'", NULL, "")) disconnect(pq);
  memcpy(pq->state, state, sizeof state);
  return rc;
}

int clt_pq_run(clt_pq *pq, clt_pq_rows **rows, const char *sql, clt_error *error, const char *places, ...) {
  clt_pq_values values = {.n = 0};
  const bool unlimited = places[0] == '*';
  va_list arguments;
  va_start(arguments, places);
  int rc = clt_pq_values_make(&values, places + unlimited, arguments, error);
  va_end(arguments);
  if (rc == CLT_OK)
    rc = unlimited ? run_unlimited(pq, rows, sql, &values, error) : try_often(pq, sql, &values, rows, error);
  clt_pq_values_release(&values);
  return rc;
}

int clt_pq_run_text(clt_pq *pq, const char *sql, clt_error *error) { return run_unlimited(pq, NULL, sql, NULL, error); }

int clt_pq_begin(clt_pq *pq, clt_error *error) {
  int rc = try_often(pq, "BEGIN; SAVEPOINT clatune", NULL, NULL, error);
  pq->in_transaction = rc == CLT_OK;
  return rc;
}

int clt_pq_end(clt_pq *pq, bool commit, clt_error *error) {
  int rc = commit ? clt_pq_run(pq, NULL, "COMMIT", error, "") : CLT_OK;
  pq->in_transaction = false;
  if (pq->conn && (!commit || rc) && clt_pq_run(pq, NULL, "ROLLBACK", NULL, "")) disconnect(pq);
  return rc;
}

/* --- opening, asking --- */

/* libpq's message for an invalid URL may contain the password, so each key of the shown URL is tried by itself. Returns
 * the first unknown one, *n bytes; NULL: none. */
static const char *find_unknown_key(size_t *n, const char *shown) {
  char alone[128];
  for (const char *at = strchr(shown, '?'); at; at = strchr(at, '&')) {
    *n = strcspn(++at, "=&");
    if (clt_snprintf(alone, sizeof alone, "postgresql:///?%.*s=true", (int)*n, at) >= (int)sizeof alone) return at;
    PQconninfoOption *options = libpq.PQconninfoParse(alone, NULL);
    if (options == NULL) return at;
    libpq.PQconninfoFree(options);
  }
  return NULL;
}

static int name_agent(clt_pq *pq, clt_error *error) {
  char host[65] = "", drawn[7];
  if (gethostname(host, sizeof host - 1)) return clt_fail_errno(error, CLT_E_IO, "read", "the host name");
  if (!clt_draw_hex(drawn, sizeof drawn - 1)) return clt_fail_errno(error, CLT_E_IO, "read", "getrandom");
  snprintf(pq->agent, sizeof pq->agent, "%s:%ld:%s", host, (long)getpid(), drawn);
  return CLT_OK;
}

int clt_pq_new(clt_pq **out, const char *url, clt_pq_schema schema, double patience_s, clt_error *error) {
  clt_pq *pq = calloc(1, sizeof *pq);
  if (pq == NULL) return clt_fail_memory(error);
  *pq = (clt_pq){.url = strdup(url), .schema = schema, .patience_s = patience_s};
  int rc = pq->url ? clt_pq_shown(&pq->shown, url, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_libpq_load(error);
  if (rc == CLT_OK) rc = name_agent(pq, error);
  PQconninfoOption *options = rc == CLT_OK && clt_pq_is_url(url) ? libpq.PQconninfoParse(url, NULL) : NULL;
  if (rc == CLT_OK && options == NULL) {
    size_t n = 0;
    const char *key = find_unknown_key(&n, pq->shown);
    rc = clt_fail(error, CLT_E_ARGUMENT,
                  "'%s' is not a valid URL%s%.*s%s; write postgresql://[USER@]HOST[:PORT]/DATABASE"
                  "[?sslmode=verify-full&...]",
                  pq->shown, key ? ": unknown option '" : "", (int)n, key ? key : "", key ? "'" : "");
  }
  if (options) libpq.PQconninfoFree(options);
  if (rc == CLT_OK) rc = try_often(pq, NULL, NULL, NULL, error);
  if (rc && !(rc == CLT_E_AGAIN && patience_s <= 0)) {
    clt_pq_free(pq);
    return rc;
  }
  *out = pq;
  return rc;
}

void clt_pq_free(clt_pq *pq) {
  if (pq == NULL) return;
  disconnect(pq);
  free(pq->url);
  free(pq->shown);
  free(pq);
}

const char *clt_pq_url(const clt_pq *pq) { return pq->shown; }

const char *clt_pq_user(const clt_pq *pq) { return pq->conn ? libpq.PQuser(pq->conn) : ""; }

const char *clt_pq_agent(const clt_pq *pq) { return pq->agent; }

uint64_t clt_pq_connection(const clt_pq *pq) { return pq->connection; }

const char *clt_pq_state(const clt_pq *pq) { return pq->state; }

bool clt_pq_is_held(const clt_pq *pq) { return is_held(pq->state); }
