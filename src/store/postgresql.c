/* A store that machines share, in a PostgreSQL database.
 *
 * Rows get their ids before they are committed, so a smaller id may become visible after a larger one. A record's
 * number is therefore the number of its transaction. Records of transactions at or above the oldest running one are
 * shown with a smaller number, and a query with `after` ends below that transaction, so that no record is missed. Walks
 * read page by page, each from the last row of the previous one, so they continue after a lost connection. */

#include "base/base.h"
#include "base/hash.h"
#include "store/pq_records.h"
#include "store/rows.h"
#include "store/schema.h"

#define FIRST_PAGE 50
#define LARGEST_PAGE 1000
#define KEYS_AT_ONCE 100
#define REMOVED_AT_ONCE 20000

/* The oldest running transaction, as this statement sees it. */
#define OLDEST "(SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint)"

#define CUT(array) "cut(" array ")"

/* A login can pose as several machines, so only those of the reader's own login are told apart. */
#define VOICE_OF(a) "CASE WHEN " a ".login=session_user THEN '/' || " a ".host ELSE concat(' ', " a ".login) END"

/* As records came, whenever their transactions began. */
#define FIRST_VOICE                                                                                               \
  "(SELECT " VOICE_OF("b") " FROM measurement AS f LEFT JOIN agent AS b ON b.id=f.agent WHERE f.key=" CLT_KEY_ID( \
      "$1", "$2", "$3") " ORDER BY f.id LIMIT 1)"

/* A row: the columns of its place and its number, who delivered it, whether that is who was first, the record's
 * columns, and those of its key. */
#define RECORDS_AND(is_first)                                                                                 \
  "SELECT m.txid, m.id, greatest(1, least(m.txid, " OLDEST " - 1)), " VOICE_OF("a") ", " is_first CLT_FIELDS( \
      CLT_FIELD_SELECT, CUT)
#define RECORDS RECORDS_AND("false")
#define FOR_BEST RECORDS_AND(VOICE_OF("a") "=" FIRST_VOICE) FROM_MEASUREMENT
#define FROM_MEASUREMENT " FROM measurement AS m LEFT JOIN agent AS a ON a.id=m.agent"
enum { TXID, ID, NUMBER, VOICE, IS_FIRST, FIRST_FIELD };

/* $1 to $3: the key; $4 and $5 (or $9 and $5): the end of the previous page; $6: the page's size; $7: "after"; $8: only
 * records that were visible when this plan was submitted (0: all); $10: a configuration (NULL: all). */
#define WHAT_ALL_SAY                                                                              \
  " AND ($10 IS NULL OR m.id IN (SELECT max(n.id) FROM measurement AS n WHERE n.key=" CLT_KEY_ID( \
      "$1", "$2", "$3") " AND n.configuration=$10 AND n.kind<>'attempt' GROUP BY n.agent, n.kind))"
#define SEEN_BY_PLAN " AND ($8=0 OR pg_visible_in_snapshot(m.txid::text::xid8, (SELECT seen FROM plan WHERE id=$8)))"
#define SINCE " AND m.txid > $7 AND m.txid < CASE WHEN $7=0 THEN 9223372036854775807 ELSE " OLDEST " END"
#define FORWARDS " AND (m.txid, m.id) > ($4, $5)" SINCE " ORDER BY m.txid, m.id LIMIT $6"
#define BACKWARDS " AND (m.txid, m.id) < ($4, $5)" SINCE " ORDER BY m.txid DESC, m.id DESC LIMIT $6"

/* As they came, whenever their transactions began: the first voice of a key counts more than others (best.c). */
#define AS_RECEIVED " AND m.id > $5" SINCE " ORDER BY m.id LIMIT $6"

static const char oldest_first[] = FOR_BEST CLT_OF_KEY SEEN_BY_PLAN WHAT_ALL_SAY AS_RECEIVED,
                  of_key_by_number[] = RECORDS FROM_MEASUREMENT CLT_OF_KEY SEEN_BY_PLAN FORWARDS,
                  newest_first[] = FOR_BEST CLT_OF_KEY BACKWARDS, finalists[] = FOR_BEST CLT_FINALISTS FORWARDS,
                  fastest[] = FOR_BEST CLT_CORRECT_ONES
                  " AND (coalesce(m.time_s, 0), m.id) > (coalesce($9, 'NaN'), $5)" CLT_BY_SPEED " LIMIT $6",
                  by_number[] = RECORDS CLT_KEY_COLUMNS_OF("s", "s", "s") FROM_MEASUREMENT
                  " JOIN key AS k ON k.id=m.key" CLT_KEY_NAMES
                  " LEFT JOIN LATERAL (SELECT * FROM described AS s WHERE s.key=k.id"
                  " ORDER BY s.login=session_user DESC, s.id LIMIT 1) AS s ON true WHERE true" FORWARDS;

/* $1: the last key of the previous page; $2: the page's size; $3: the problem. Of each key this login's description, or
 * else a row for each login that has described it: first of who measured it first. */
#define KEYS(count, where) \
  "SELECT k.id, " count ", CASE WHEN s.login<>session_user THEN ' ' || s.login END" CLT_KEY_COLUMNS_OF("s", "s", "s")         \
  " FROM (SELECT * FROM key AS k WHERE k.id > $1 AND EXISTS(SELECT FROM measurement AS m WHERE m.key=k.id)" where     \
  " ORDER BY k.id LIMIT $2) AS k" CLT_KEY_NAMES " LEFT JOIN described AS s ON s.key=k.id AND (s.login=session_user OR" \
  " NOT EXISTS(SELECT FROM described AS o WHERE o.key=k.id AND o.login=session_user)) ORDER BY k.id, s.login IS DISTINCT" \
  " FROM (SELECT a.login FROM measurement AS m JOIN agent AS a ON a.id=m.agent WHERE m.key=k.id ORDER BY m.id LIMIT 1), s.id"
static const char keys[] = KEYS("0", " AND $3 IS NOT NULL"),
                  keys_of_problem[] = KEYS("0", " AND k.problem=(SELECT id FROM problem WHERE hash=$3)"),
                  keys_counted[] =
                      KEYS("(SELECT count(*) FROM measurement AS m WHERE m.key=k.id)", " AND $3 IS NOT NULL");

/* $1: the oldest running transaction at the previous call. */
static const char news[] =
    "SELECT " OLDEST ", EXISTS(SELECT FROM measurement AS m WHERE m.txid >= $1 AND m.txid < " OLDEST
    " AND m.origin <> $2) OR EXISTS(SELECT FROM revoked WHERE gone >= $1 AND gone < " OLDEST ")";

/* $5: what those call the problem who made the records; NULL: anything. */
#define CALLED                                                                                                   \
  " AND ($5 IS NULL OR EXISTS(SELECT FROM described AS s LEFT JOIN agent AS a ON a.id=m.agent WHERE s.key=m.key" \
  " AND s.login=coalesce(a.login, '') AND s.name=$5))"
static const char count_selected[] = CLT_COUNT_SELECTED CALLED;
static const char remove_selected[] =
    "DELETE FROM measurement WHERE (origin, number) IN (SELECT m.origin, m.number FROM measurement AS m" CLT_SELECTED
        CALLED " LIMIT $6)";

typedef struct postgresql_store {
  clt_pq *pq;
  clt_pq_records records; /* added in this transaction but not sent yet */
  uint64_t *n_added;      /* borrowed, nullable: grows as they are sent */
  char origin[CLT_ORIGIN_BYTES];
  clt_map counts;                        /* for clt_record_identify */
  bool to_read, in_transaction, borrows; /* borrows: pq is not owned */
  uint64_t version;
  int64_t oldest;      /* the oldest running transaction when the version was read */
  int64_t plan;        /* clt_store_over */
  clt_pq_place *place; /* clt_store_keep_place */
} postgresql_store;

static int open_postgresql(void *state, const char *path, bool to_read, clt_error *error) {
  postgresql_store *store = state;
  *store = (postgresql_store){.to_read = to_read, .oldest = INT64_MAX};
  return clt_pq_new(&store->pq, path, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, error);
}

static void close_postgresql(void *state) {
  postgresql_store *store = state;
  clt_map_release(&store->counts);
  clt_pq_records_forget(&store->records);
  if (!store->borrows) clt_pq_free(store->pq);
}

int clt_store_over(clt_store **out, clt_pq *pq, int64_t plan, clt_error *error) {
  clt_store *store = calloc(1, sizeof *store);
  postgresql_store *state = calloc(1, sizeof *state);
  char *path = strdup(clt_pq_url(pq));
  if (store == NULL || state == NULL || path == NULL) {
    free(store), free(state), free(path);
    return clt_fail_memory(error);
  }
  *state = (postgresql_store){.pq = pq, .borrows = true, .oldest = INT64_MAX, .plan = plan};
  *store = (clt_store){.type = &clt_store_postgresql, .path = path, .state = state};
  return *out = store, CLT_OK;
}

void clt_store_keep_place(clt_store *store, clt_pq_place *place) { ((postgresql_store *)store->state)->place = place; }

/* --- writing --- */

static int send_records(postgresql_store *store, clt_error *error) {
  uint64_t n = 0;
  int rc = clt_pq_records_send(&store->records, store->pq, &n, error);
  if (rc == CLT_OK && store->n_added) *store->n_added += n;
  return rc;
}

static int check_writable(const postgresql_store *store, clt_error *error) {
  return store->to_read
             ? clt_fail(error, CLT_E_STORE, "the store '%s' was opened for reading only", clt_pq_url(store->pq))
             : CLT_OK;
}

static int describe(postgresql_store *store, const clt_store_description *d, clt_error *error) {
  static const char ask[] = "SELECT FROM describe($1, $2, $3, $4, $5, $6, $7, $8, $9)";
  const char *kernel = d->kernel && d->kernel[0] ? d->kernel : NULL;
  const char *tuning = d->tuning_json && d->tuning_json[0] ? d->tuning_json : NULL;
  return clt_pq_run(store->pq, NULL, ask, error, "ttttttttt", d->key.problem, d->key.device, d->key.driver,
                    d->problem_name, d->problem_path, d->sizes, kernel, d->device_json, tuning);
}

/* In a transaction records are collected and sent together. */
static int add_record(postgresql_store *store, const clt_store_key *key, const clt_store_record *record,
                      uint64_t *n_added, clt_error *error) {
  clt_store_record known = *record;
  if (record->origin == NULL && clt_record_identify(&known, key, &store->counts)) return clt_fail_memory(error);
  if (record->own && record->origin)
    memcpy(store->origin, record->origin, strnlen(record->origin, CLT_ORIGIN_BYTES - 1));
  store->n_added = n_added;
  int rc = clt_pq_records_full(&store->records) ? send_records(store, error) : CLT_OK;
  if (rc == CLT_OK) rc = clt_pq_records_take(&store->records, key, &known, error);
  if (rc || store->in_transaction) return rc;
  rc = send_records(store, error);
  if (rc) clt_pq_records_forget(&store->records);
  return rc;
}

static int add_to_postgresql(void *state, const clt_store_description *d, const clt_store_record *record,
                             uint64_t *n_added, clt_error *error) {
  postgresql_store *store = state;
  int rc = check_writable(store, error);
  const bool describes =
      d->problem_name || d->problem_path || d->sizes || d->device_json || d->tuning_json || d->kernel;
  if (rc == CLT_OK && (describes || record == NULL)) rc = describe(store, d, error);
  return rc || record == NULL ? rc : add_record(store, &d->key, record, n_added, error);
}

static int remove_from_postgresql(void *state, const clt_store_description *d, int64_t before_s, bool count_only,
                                  uint64_t *n, clt_error *error) {
  postgresql_store *store = state;
  const clt_store_key *key = &d->key;
  const char *name = d->voice ? d->problem_name : NULL;
  clt_pq_rows *rows = NULL;
  int rc = count_only ? CLT_OK : check_writable(store, error);
  if (rc == CLT_OK) rc = send_records(store, error);
  if (rc == CLT_OK)
    rc = clt_pq_run(store->pq, &rows, count_selected, error, "*tttwt", key->problem, key->device, key->driver, before_s,
                    name);
  if (rc == CLT_OK) *n = (uint64_t)clt_pq_whole(rows, 0, 0);
  clt_pq_rows_free(rows);
  for (uint64_t n_gone = 0; rc == CLT_OK && !count_only && n_gone <= *n; n_gone += REMOVED_AT_ONCE)
    rc = clt_pq_run(store->pq, NULL, remove_selected, error, "*tttwtw", key->problem, key->device, key->driver,
                    before_s, name, (int64_t)REMOVED_AT_ONCE);
  return rc;
}

/* The first call sees no news. After a reconnection it may be another server, with other transaction numbers. */
static int ask_version(postgresql_store *store, uint64_t *version, clt_error *error) {
  clt_pq_rows *rows = NULL;
  int rc = clt_pq_run(store->pq, &rows, news, error, "wt", store->oldest, store->origin);
  if (rc == CLT_OK) {
    const int64_t oldest = clt_pq_whole(rows, 0, 0);
    const bool is_other = oldest < store->oldest && store->oldest != INT64_MAX;
    store->oldest = oldest;
    *version = store->version += is_other || clt_pq_whole(rows, 0, 1) > 0;
  }
  clt_pq_rows_free(rows);
  return rc;
}

static int step_in_postgresql(void *state, clt_store_step step, uint64_t *version, clt_error *error) {
  postgresql_store *store = state;
  int rc = CLT_OK;
  if (step == CLT_STORE_BEGIN) {
    rc = clt_pq_begin(store->pq, error);
    store->in_transaction = rc == CLT_OK;
  } else if (step != CLT_STORE_NONE) {
    if (step == CLT_STORE_COMMIT) rc = send_records(store, error);
    clt_pq_records_forget(&store->records);
    const bool commit = step == CLT_STORE_COMMIT && rc == CLT_OK;
    const int ended = clt_pq_end(store->pq, commit, error);
    if (rc == CLT_OK) rc = ended;
    store->in_transaction = false;
    store->n_added = NULL;
  }
  return rc == CLT_OK && version ? ask_version(store, version, error) : rc;
}

/* --- reading --- */

typedef struct result_row {
  const clt_pq_rows *rows;
  size_t row;
} result_row;

static const char *row_text(const void *row, int column) {
  const result_row *r = row;
  return clt_pq_is_null(r->rows, r->row, column) ? NULL : clt_pq_text(r->rows, r->row, column);
}

static int64_t row_whole(const void *row, int column) {
  return clt_pq_whole(((const result_row *)row)->rows, ((const result_row *)row)->row, column);
}

static double row_number(const void *row, int column) {
  return clt_pq_number(((const result_row *)row)->rows, ((const result_row *)row)->row, column);
}

static size_t row_numbers(const void *row, int column, double *out, size_t most) {
  return clt_pq_numbers(((const result_row *)row)->rows, ((const result_row *)row)->row, column, out, most);
}

static const clt_row_type row_type = {row_text, row_whole, row_number, row_numbers};

/* A record that was delivered from this machine, by this login, counts as one from here. */
static int64_t read_voice(const postgresql_store *store, const char *voice) {
  const char *agent = clt_pq_agent(store->pq);
  const size_t n = strcspn(agent, ":");
  const bool is_own = voice[0] == '/' && strncmp(voice + 1, agent, n) == 0 && voice[1 + n] == '\0';
  return is_own ? 0 : (int64_t)(clt_hash64(voice, strlen(voice)) >> 1 | 2);
}

/* Pages grow, so that a caller that only needs the first rows does not wait for many. */
static int walk_records(postgresql_store *store, const char *sql, const clt_store_key *key, const char *configuration,
                        int64_t after, clt_store_walk_visit visit, void *user, clt_error *error) {
  const bool backwards = sql == newest_first;
  clt_pq_place *kept = sql == of_key_by_number ? store->place : NULL, end = CLT_PQ_BEGIN, *place = kept ? kept : &end;
  int64_t page = FIRST_PAGE;
  double time_s = -INFINITY;
  int rc = CLT_OK;
  if (backwards) end = (clt_pq_place){INT64_MAX, INT64_MAX};
  for (bool more = true; rc == CLT_OK && more; page = LARGEST_PAGE) {
    clt_pq_rows *rows = NULL;
    rc = clt_pq_run(store->pq, &rows, sql, error, "tttwwwwwnt", key ? key->problem : "", key ? key->device : "",
                    key ? key->driver : "", place->txid, place->id, page, after, store->plan, time_s, configuration);
    const size_t n = rc ? 0 : clt_pq_n_rows(rows);
    for (size_t i = 0; rc == CLT_OK && i < n; i++) {
      const result_row row = {rows, i};
      const clt_store_record known = {.number = clt_pq_whole(rows, i, NUMBER),
                                      .voice = read_voice(store, clt_pq_text(rows, i, VOICE)),
                                      .is_first = clt_pq_whole(rows, i, IS_FIRST)};
      rc = clt_row_visit(&row_type, &row, FIRST_FIELD, known, key == NULL, visit, user);
      *place = (clt_pq_place){clt_pq_whole(rows, i, TXID), clt_pq_whole(rows, i, ID)};
    }
    more = n == (size_t)page;
    if (more) {
      const int column = FIRST_FIELD + CLT_FIELD_time_s;
      time_s = clt_pq_is_null(rows, n - 1, column) ? 0 : clt_pq_number(rows, n - 1, column); /* NaN: read as NULL */
    }
    clt_pq_rows_free(rows);
  }
  return rc;
}

static int walk_keys(postgresql_store *store, bool counted, const clt_store_key *key, clt_store_walk_visit visit,
                     void *user, clt_error *error) {
  const char *sql = counted ? keys_counted : keys, *places = counted ? "*wwt" : "wwt";
  int64_t last = 0;
  int rc = CLT_OK;
  if (key) sql = keys_of_problem;
  for (size_t n = KEYS_AT_ONCE; rc == CLT_OK && n >= KEYS_AT_ONCE;) {
    clt_pq_rows *rows = NULL;
    rc = clt_pq_run(store->pq, &rows, sql, error, places, last, (int64_t)KEYS_AT_ONCE, key ? key->problem : "");
    n = rc ? 0 : clt_pq_n_rows(rows);
    for (size_t i = 0; rc == CLT_OK && i < n; i++) {
      const result_row row = {rows, i};
      clt_store_description d = clt_row_key(&row_type, &row, 3);
      last = clt_pq_whole(rows, i, 0);
      if (strcmp(d.key.problem, row_text(&row, 3)) || strcmp(d.key.device, row_text(&row, 4)) ||
          strcmp(d.key.driver, row_text(&row, 5)))
        continue; /* longer than any: cut, it could be another's */
      if (!clt_pq_is_null(rows, i, 2)) d.voice = read_voice(store, clt_pq_text(rows, i, 2));
      d.n_records = (uint64_t)clt_pq_whole(rows, i, 1);
      rc = visit(user, &d, NULL);
    }
    clt_pq_rows_free(rows);
  }
  return rc;
}

static int walk_postgresql(void *state, clt_store_order order, const clt_store_key *key, const char *configuration,
                           int64_t after, clt_store_walk_visit visit, void *user, clt_error *error) {
  postgresql_store *store = state;
  int rc = store->in_transaction ? send_records(store, error) : CLT_OK;
  if (rc) return rc;
  switch (order) {
    case CLT_STORE_KEYS:
    case CLT_STORE_KEYS_COUNTED: return walk_keys(store, order == CLT_STORE_KEYS_COUNTED, key, visit, user, error);
    case CLT_STORE_NEWEST_FIRST: return walk_records(store, newest_first, key, NULL, after, visit, user, error);
    case CLT_STORE_BEST_FIRST:
      rc = walk_records(store, finalists, key, NULL, 0, visit, user, error);
      return rc ? rc : walk_records(store, fastest, key, NULL, 0, visit, user, error);
    case CLT_STORE_OLDEST_FIRST:
      return walk_records(store, oldest_first, key, configuration, after, visit, user, error);
    default: return walk_records(store, key ? of_key_by_number : by_number, key, NULL, after, visit, user, error);
  }
}

const clt_store_type clt_store_postgresql = {
    .abi = CLT_STORE_ABI,
    .name = "postgresql",
    .summary = "a database that machines share: postgresql://HOST/DATABASE",
    .state_size = sizeof(postgresql_store),
    .open = open_postgresql,
    .add = add_to_postgresql,
    .walk = walk_postgresql,
    .remove = remove_from_postgresql,
    .transaction = step_in_postgresql,
    .close = close_postgresql,
};
