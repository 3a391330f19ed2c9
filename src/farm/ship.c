#include "farm/queue.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"

int clt_shipper_init(clt_shipper *out, clt_pq *pq, int64_t plan, clt_error *error) {
  *out = (clt_shipper){.pq = pq};
  return clt_store_over(&out->shared, pq, plan, error);
}

void clt_shipper_release(clt_shipper *s) {
  clt_pq_records_forget(&s->records);
  clt_store_free(s->shared);
  clt_map_release(&s->described);
  clt_map_release(&s->seen);
  *s = (clt_shipper){0};
}

/* After a reconnection it may be another database, or an older, restored one. */
static void forget_what_may_be_gone(clt_shipper *s) {
  if (s->connection == clt_pq_connection(s->pq)) return;
  s->connection = clt_pq_connection(s->pq);
  s->file[0] = '\0';
  s->revoked = 0;
  clt_map_release(&s->described);
  clt_map_release(&s->seen);
}

/* No key of a map is UINT64_MAX. */
static uint64_t hash_key(const clt_store_key *key) {
  char text[sizeof *key + 3];
  int n = clt_snprintf(text, sizeof text, "%s\n%s\n%s", key->problem, key->device, key->driver);
  return clt_hash64_here(text, (size_t)n) >> 1;
}

/* --- to the database --- */

static int know_file(clt_shipper *s, clt_store *file, clt_error *error) {
  static const char ask[] = "SELECT upto FROM shipper WHERE file = $1 AND login = session_user";
  char id[CLT_ORIGIN_BYTES];
  clt_pq_rows *rows = NULL;
  int rc = clt_store_file_id(id, file, error);
  if (rc || strcmp(id, s->file) == 0) return rc;
  rc = clt_pq_run(s->pq, &rows, ask, error, "t", id);
  if (rc) return rc;
  s->whole = clt_pq_n_rows(rows) == 0;
  s->upto = s->whole ? 0 : clt_pq_whole(rows, 0, 0);
  memcpy(s->file, id, sizeof id);
  clt_pq_rows_free(rows);
  return CLT_OK;
}

typedef struct taking {
  clt_shipper *shipper;
  int64_t last; /* the last record that was read */
  clt_map keys; /* hashes of keys that are not described yet */
  clt_store_key newest;
  clt_error *error;
} taking;

static int take_record(void *user, const clt_store_description *d, const clt_store_record *record) {
  taking *t = user;
  clt_shipper *s = t->shipper;
  if (clt_pq_records_full(&s->records)) return 1;
  int rc = CLT_OK;
  if (s->whole || record->own) {
    rc = clt_pq_records_take(&s->records, &d->key, record, t->error);
    const uint64_t key = hash_key(&d->key);
    bool is_new = false;
    if (rc == CLT_OK && !clt_map_find(&s->described, key) && !clt_map_add(&t->keys, key, &is_new)) rc = CLT_E_MEMORY;
    if (is_new) t->newest = d->key;
  }
  if (rc == CLT_OK) t->last = record->number;
  return rc;
}

/* Sends a key's description before its records, so that no reader sees them without it. */
static int send_piece(clt_shipper *s, clt_store *file, const taking *t, clt_error *error) {
  clt_store_description *keys = NULL;
  size_t n = 0;
  const clt_store_key *only = t->keys.n == 1 ? &t->newest : NULL;
  int rc = t->keys.n == 0 ? CLT_OK : clt_store_keys_of(&keys, &n, file, only, false, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const uint64_t key = hash_key(&keys[i].key);
    if (!clt_map_find(&t->keys, key)) continue;
    rc = clt_store_describe(s->shared, &keys[i], error);
    if (rc == CLT_OK && clt_map_add(&s->described, key, NULL) == NULL) rc = clt_fail_memory(error);
  }
  clt_store_keys_free(keys, n);
  return rc ? rc : clt_pq_records_send(&s->records, s->pq, NULL, error);
}

/* Notes in the database how far the file was sent. If the database does not know the file, the whole file is sent
 * again. It may be another or a restored database at any time, so an update must match the previous state. */
static int note_file(clt_shipper *s, int64_t upto, clt_error *error) {
  static const char add[] = "SELECT ship($1, $2, NULL)", move[] = "SELECT ship($1, $2, $3)";
  clt_pq_rows *rows = NULL;
  int rc = CLT_OK;
  bool noted = true;
  if (s->whole) {
    rc = clt_pq_begin(s->pq, error);
    if (rc) return rc;
    noted = s->connection == clt_pq_connection(s->pq);
    rc = noted ? clt_pq_run(s->pq, NULL, add, error, "tw", s->file, upto) : CLT_OK;
    const int ended = clt_pq_end(s->pq, noted && rc == CLT_OK, error);
    if (rc == CLT_OK) rc = ended;
  } else if (upto > s->upto) {
    rc = clt_pq_run(s->pq, &rows, move, error, "tww", s->file, upto, s->upto);
    noted = rc == CLT_OK && clt_pq_whole(rows, 0, 0);
    if (rc == CLT_OK) clt_pq_rows_free(rows);
  }
  if (rc || !noted) s->file[0] = '\0'; /* ask for the state again */
  s->whole = false;
  s->upto = upto;
  return rc;
}

/* Sends a piece of the file's records after *last, and moves that. */
static int ship_piece(clt_shipper *s, clt_store *file, int64_t *last, bool *full, clt_error *error) {
  taking t = {.shipper = s, .last = *last, .error = error};
  clt_pq_records_forget(&s->records);
  int rc = clt_store_each_identified(file, CLT_STORE_BY_NUMBER, NULL, *last, take_record, &t, error);
  *full = clt_pq_records_full(&s->records);
  if (rc == CLT_OK) rc = send_piece(s, file, &t, error);
  clt_map_release(&t.keys);
  *last = t.last;
  return rc;
}

int clt_ship(clt_shipper *s, clt_store *file, bool one_piece, bool *more, clt_error *error) {
  bool full = true;
  int rc = CLT_OK;
  do {
    forget_what_may_be_gone(s);
    rc = know_file(s, file, error);
    int64_t last = s->upto;
    if (rc == CLT_OK) rc = ship_piece(s, file, &last, &full, error);
    if (rc == CLT_OK && s->whole && full)
      s->upto = last;
    else if (rc == CLT_OK)
      rc = note_file(s, last, error);
    full = full || s->file[0] == '\0' || s->connection != clt_pq_connection(s->pq);
  } while (rc == CLT_OK && full && !one_piece);
  if (more) *more = full;
  return rc;
}

int clt_ship_again(clt_shipper *s, clt_store *file, clt_error *error) {
  int64_t last = 0;
  int rc = CLT_OK;
  for (bool full = true; rc == CLT_OK && full;) rc = ship_piece(s, file, &last, &full, error);
  return rc;
}

/* --- from the database --- */

#define PULLED_AT_ONCE 1000 /* records per piece */
#define ASKED_AT_ONCE 50    /* keys */

typedef struct pulling {
  clt_store *into;
  int64_t reached;
  size_t n, n_bytes;
  clt_error *error;
} pulling;

static bool is_full(const pulling *p) { return p->n >= PULLED_AT_ONCE || p->n_bytes > CLT_PQ_MOST_BYTES; }

static int keep_record(void *user, const clt_store_description *d, const clt_store_record *record) {
  pulling *p = user;
  clt_store_record copy = *record;
  if (record->number > p->reached) p->reached = record->number;
  copy.own = false;
  p->n++;
  p->n_bytes += clt_pq_record_bytes(record);
  int rc = p->into->type->add(p->into->state, &(clt_store_description){.key = d->key}, &copy, NULL, p->error);
  return rc ? rc : is_full(p);
}

static bool is_wanted(const clt_store_description *d, const clt_store_key *key, const char *problem_name) {
  return clt_store_same_key(&d->key, key) ||
         (problem_name && (strcmp(d->problem_name, problem_name) == 0 || strcmp(d->key.problem, key->problem) == 0));
}

void clt_pull_release(clt_pull *p) {
  clt_store_keys_free(p->keys, p->n);
  free(p->newest);
  *p = (clt_pull){0};
}

static int begin_pull(clt_pull *p, clt_shipper *s, const clt_store_key *key, bool related, clt_error *error) {
  clt_pull_release(p);
  p->connection = s->connection;
  p->place = CLT_PQ_BEGIN;
  int rc = clt_store_keys_of(&p->keys, &p->n, s->shared, related ? NULL : key, false, error);
  p->newest = rc ? NULL : clt_new_array(p->n, sizeof *p->newest);
  for (size_t i = 0; p->newest && i < p->n; i++) {
    const uint64_t *seen = clt_map_find(&s->seen, hash_key(&p->keys[i].key));
    p->newest[i] = seen ? (int64_t)*seen : 0;
  }
  return rc || p->newest ? rc : clt_fail_memory(error);
}

/* Copied through memory: no file is locked while waiting for the network, and the connection is not blocked while a
 * file is written. */
int clt_pull_next(clt_store **piece, clt_pull *p, clt_shipper *s, const clt_store_key *key, const char *problem_name,
                  clt_error *error) {
  pulling now = {.error = error};
  *piece = NULL;
  forget_what_may_be_gone(s);
  int rc =
      p->newest == NULL || p->connection != s->connection ? begin_pull(p, s, key, problem_name != NULL, error) : CLT_OK;
  for (; rc == CLT_OK && p->kept < p->next; p->kept++) {
    uint64_t *seen = clt_map_add(&s->seen, hash_key(&p->keys[p->kept].key), NULL);
    if (seen) *seen = (uint64_t)p->newest[p->kept];
  }
  if (rc || p->next == p->n) return rc;
  clt_pq_place place = p->place;
  now.reached = p->reached;
  clt_store_keep_place(s->shared, &place);
  rc = clt_store_new(&now.into, "memory", NULL, error);
  for (size_t n_asked = 0; rc == CLT_OK && p->next < p->n && !is_full(&now) && n_asked < ASKED_AT_ONCE;) {
    const clt_store_description *d = &p->keys[p->next];
    const size_t n_before = now.n;
    const bool repeats = p->next > 0 && clt_store_same_key(&d->key, &d[-1].key); /* another description */
    const int64_t after = p->newest[p->next - repeats];
    if (after > now.reached) now.reached = after;
    if (is_wanted(d, key, problem_name)) {
      n_asked++;
      rc = clt_store_each_identified(s->shared, CLT_STORE_BY_NUMBER, &d->key, after, keep_record, &now, error);
    }
    if (rc == CLT_OK && now.n > n_before) rc = clt_store_describe(now.into, d, error);
    if (rc || is_full(&now)) break;
    p->newest[p->next++] = now.reached;
    now.reached = 0;
    place = CLT_PQ_BEGIN;
  }
  clt_store_keep_place(s->shared, NULL);
  if (rc) {
    clt_store_free(now.into);
    return rc;
  }
  p->reached = now.reached;
  p->place = place;
  *piece = now.into;
  return CLT_OK;
}

int clt_pull_revoked(clt_revoked_place *at, clt_shipper *s, clt_store *store, clt_error *error) {
  static const char ask[] =
      "SELECT origin, number, gone, pg_snapshot_xmin(pg_current_snapshot())::text::bigint,"
      " EXISTS (SELECT FROM agent AS a WHERE a.id = r.agent AND a.login = session_user) FROM (SELECT) AS one LEFT JOIN"
      " (SELECT origin, number, gone, agent FROM revoked"
      " WHERE (gone, origin, number) > ($1, $2, $3) AND octet_length(origin) < 65"
      " ORDER BY gone, origin, number LIMIT $4) AS r ON true ORDER BY gone, origin, number";
  clt_pq_rows *rows = NULL;
  forget_what_may_be_gone(s);
  if (at->connection != s->connection)
    *at = (clt_revoked_place){.connection = s->connection, .gone = s->revoked, .number = INT64_MIN};
  int rc = clt_pq_run(s->pq, &rows, ask, error, "wtww", at->gone, at->origin, at->number, (int64_t)PULLED_AT_ONCE);
  if (rc) return rc;
  const size_t n = clt_pq_is_null(rows, 0, 0) ? 0 : clt_pq_n_rows(rows);
  if (at->oldest == 0) at->oldest = clt_pq_whole(rows, 0, 3);
  if (n > 0) rc = store->type->transaction(store->state, CLT_STORE_BEGIN, NULL, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    snprintf(at->origin, sizeof at->origin, "%s", clt_pq_text(rows, i, 0));
    at->number = clt_pq_whole(rows, i, 1);
    at->gone = clt_pq_whole(rows, i, 2);
    rc = clt_store_forget(store, at->origin, at->number, clt_pq_whole(rows, i, 4), error);
  }
  if (n > 0) {
    const clt_store_step step = rc ? CLT_STORE_UNDO : CLT_STORE_COMMIT;
    const int ended = store->type->transaction(store->state, step, NULL, error);
    if (rc == CLT_OK) rc = ended;
  }
  at->ended = n < PULLED_AT_ONCE;
  if (rc == CLT_OK && at->ended) s->revoked = at->oldest;
  clt_pq_rows_free(rows);
  return rc;
}

/* --- the files --- */

/* The default folder is next to the standard store. */
static char *outbox_folder(const char *folder, clt_error *error) {
  char *store = NULL, *beside = NULL;
  if (folder) return strdup(folder);
  if (clt_store_place(&store, NULL, error)) return NULL;
  char *above = clt_path_folder(store);
  if (above) beside = clt_format("%s/outbox", above);
  free(above);
  free(store);
  return beside;
}

/* Takes the lock, on a separate file: closing the store's file would drop SQLite's own locks. */
static bool lock_outbox(clt_outbox *out, const char *stem, bool make) {
  char *path = clt_format("%s.lock", stem);
  const int flags = make ? O_RDWR | O_CLOEXEC | O_CREAT : O_RDWR | O_CLOEXEC;
  out->lock_fd = path ? open(path, flags, 0600) : -1;
  free(path);
  if (out->lock_fd < 0) return false;
  out->exists = true;
  if (flock(out->lock_fd, LOCK_EX | LOCK_NB) == 0) return true;
  close(out->lock_fd);
  out->lock_fd = -1;
  return false;
}

int clt_outbox_open(clt_outbox *out, const char *folder, int n, clt_error *error) {
  char host[65] = "";
  char *place = outbox_folder(folder, error);
  *out = (clt_outbox){.lock_fd = -1};
  if (place == NULL) return error && error->code ? error->code : clt_fail_memory(error);
  if (gethostname(host, sizeof host - 1) || host[0] == '\0') memcpy(host, "host", 5);
  for (char *c = host; *c; c++)
    if (*c == '/') *c = '_';
  int rc = clt_folder_make(place, NULL) ? clt_fail_errno(error, CLT_E_STORE, "make the folder", place) : CLT_OK;
  bool locked = false;
  for (int i = n ? n : 1; rc == CLT_OK && !locked && i <= (n ? n : CLT_MOST_OUTBOXES); i++) {
    char *stem = clt_format("%s/%s-%d", place, host, i);
    locked = stem && lock_outbox(out, stem, n == 0);
    if (locked && (out->path = clt_format("%s.sqlite", stem)) == NULL) rc = clt_fail_memory(error);
    free(stem);
  }
  if (rc == CLT_OK && !locked && n == 0)
    rc = clt_fail(error, CLT_E_STORE, "cannot lock a file in the folder '%s'; choose another one with --outbox", place);
  if (rc == CLT_OK && locked) rc = clt_store_new(&out->store, "sqlite", out->path, error);
  free(place);
  if (rc) clt_outbox_close(out);
  return rc;
}

void clt_outbox_close(clt_outbox *outbox) {
  clt_store_free(outbox->store);
  free(outbox->path);
  if (outbox->lock_fd >= 0) close(outbox->lock_fd);
  *outbox = (clt_outbox){.exists = outbox->exists, .lock_fd = -1};
}
