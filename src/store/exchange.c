/* Merging stores and deleting records. Records are identified by origin and number in every store, so a merge can be
 * repeated. Records of earlier versions are identical if their content is, except for the log. */

#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "device/device.h"
#include "store/store.h"

bool clt_store_selects(const clt_store_selection *s, const clt_store_description *d) {
  return (s == NULL || s->problem_name == NULL || strcmp(s->problem_name, d->problem_name) == 0) &&
         (s == NULL || s->device == NULL || strcasestr(d->key.device, s->device) != NULL);
}

/* last: the key that was selected before, whose other descriptions follow it. */
static bool is_selected(const clt_store_selection *s, const clt_store_description *d, const clt_store_key **last) {
  const bool is = clt_store_selects(s, d) && (*last == NULL || !clt_store_same_key(*last, &d->key));
  if (is) *last = &d->key;
  return is;
}

/* Ends a transaction; returns rc, or the error of the commit. */
static int end_transaction(clt_store *store, int rc, clt_error *error) {
  int ended = store->type->transaction(store->state, rc ? CLT_STORE_UNDO : CLT_STORE_COMMIT, NULL, error);
  return rc ? rc : ended;
}

/* --- identities of records --- */

static void hash_number(clt_hasher *hasher, double x) {
  if (isnan(x)) x = 0; /* all NaNs alike; a time is never 0 */
  clt_hasher_add(hasher, &x, sizeof x);
}

int clt_record_identify(clt_store_record *record, const clt_store_key *key, clt_map *known) {
  const clt_measurement *m = record->measurement;
  const int32_t whole[] = {(int32_t)record->kind, (int32_t)m->reason, (int32_t)m->clock, (int32_t)m->n_runs};
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return CLT_E_MEMORY;
  clt_hasher_add_text(hasher, key->problem);
  clt_hasher_add_text(hasher, key->device);
  clt_hasher_add_text(hasher, key->driver);
  clt_hasher_add_text(hasher, record->configuration);
  clt_hasher_add(hasher, whole, sizeof whole);
  clt_hasher_add(hasher, &record->created_s, sizeof record->created_s);
  hash_number(hasher, m->time_s);
  hash_number(hasher, m->energy_J);
  if (!isnan(m->figure)) hash_number(hasher, m->figure); /* without a figure the hash must stay as it was */
  hash_number(hasher, m->phases.build_s);
  hash_number(hasher, m->phases.first_launch_s);
  hash_number(hasher, m->phases.verify_s);
  for (size_t i = 0; i < m->n_runs; i++) hash_number(hasher, m->runs_s[i]);
  for (size_t i = 0; i < m->n_runs && !isnan(m->figure); i++) hash_number(hasher, m->figures[i]);
  char hex[33];
  clt_hasher_hex(hasher, hex);
  clt_hasher_free(hasher);
  hex[16] = '\0';
  const uint64_t fingerprint = strtoull(hex, NULL, 16) >> 1; /* 63 bits: UINT64_MAX cannot be a map's key */
  uint64_t *n_same = clt_map_add(known, fingerprint, NULL);
  if (n_same == NULL) return CLT_E_MEMORY;
  const uint64_t sequence = (fingerprint + (*n_same)++) & INT64_MAX;
  record->origin = "";
  record->sequence = (int64_t)sequence;
  return clt_map_add(known, sequence, NULL) ? CLT_OK : CLT_E_MEMORY;
}

typedef struct identified_walk {
  clt_store_description key_alone;
  clt_store_walk_visit visit;
  void *user;
  clt_map known;
} identified_walk;

static bool is_origin(const char *text) {
  return text && (text[0] == '\0' ||
                  (strlen(text) == CLT_ORIGIN_BYTES - 1 && strspn(text, "0123456789abcdef") == CLT_ORIGIN_BYTES - 1));
}

static int visit_identified(void *user, const clt_store_description *d, const clt_store_record *record) {
  identified_walk *w = user;
  clt_store_record copy = *record;
  if (!clt_record_plausible(record)) return 0;
  if (d == NULL) d = &w->key_alone;
  int rc = is_origin(record->origin) && record->sequence >= 0 ? CLT_OK : clt_record_identify(&copy, &d->key, &w->known);
  return rc ? rc : w->visit(w->user, d, &copy);
}

int clt_store_each_identified(clt_store *store, clt_store_order order, const clt_store_key *key, int64_t after,
                              clt_store_walk_visit visit, void *user, clt_error *error) {
  identified_walk w = {.visit = visit, .user = user};
  if (key) w.key_alone.key = *key;
  int rc = store->type->walk(store->state, order, key, NULL, after, visit_identified, &w, error);
  clt_map_release(&w.known);
  if (rc == CLT_E_MEMORY) clt_fail_memory(error); /* the visitor cannot set the error itself */
  return rc < 0 ? rc : CLT_OK;
}

/* --- merging --- */

#define MOST_ATTEMPTS 10 /* of a transaction that others' deadlock with it ends */

typedef struct merge {
  clt_store *into;
  int64_t before_s; /* 0: all */
  int64_t newest_s; /* when the newest record was added */
  uint64_t n_added, n_left_out;
  bool is_public;
  clt_error *error;
} merge;

static int note_time(void *user, const clt_store_description *none, const clt_store_record *record) {
  int64_t *newest_s = user;
  (void)none;
  if (clt_record_plausible(record) && record->created_s > *newest_s) *newest_s = record->created_s;
  return 0;
}

static int note_voice(void *user, const clt_store_description *none, const clt_store_record *record) {
  (void)none;
  return *(int64_t *)user = record->voice, 1;
}

static bool describes_the_same(const void *none, const void *what, const void *other) {
  const clt_store_description *a = what, *b = other;
  (void)none;
  return strcmp(a->problem_name, b->problem_name) == 0 && strcmp(a->sizes, b->sizes) == 0 &&
         strcmp(a->kernel, b->kernel) == 0;
}

/* The description of a key, which several logins may have described: the one that counts (words.h). d: the first one.
 * *most: how much counts for it. */
static int find_description(clt_store_description *out, uint64_t *most, const clt_store_description *d,
                            const clt_store_description *end, clt_store *from, clt_error *error) {
  clt_saying said[CLT_MOST_VOICES];
  size_t n = 0;
  int64_t first = CLT_NO_VOICE;
  int rc = CLT_OK;
  for (const clt_store_description *a = d; a < end && n < CLT_MOST_VOICES && clt_store_same_key(&a->key, &d->key); a++)
    said[n++] = (clt_saying){a->voice, a};
  if (n > 1) rc = from->type->walk(from->state, CLT_STORE_OLDEST_FIRST, &d->key, NULL, 0, note_voice, &first, error);
  *out = *(const clt_store_description *)said[clt_sayings_judge(most, said, n, first, describes_the_same, NULL)].what;
  return rc < 0 ? rc : CLT_OK;
}

static int merge_record(void *user, const clt_store_description *key_alone, const clt_store_record *record) {
  merge *w = user;
  clt_store_record copy = *record;
  if (w->before_s && record->created_s >= w->before_s) return 0;
  clt_measurement without_log = *record->measurement;
  if (w->is_public) {
    const bool has_path = strchr(record->configuration, '/') != NULL;
    if (!clt_measurement_correct(record->measurement)) return 0;
    if (has_path && record->voice) return w->n_left_out++, 0;
    if (has_path)
      return clt_fail(w->error, CLT_E_ARGUMENT,
                      "the configuration '%.200s' may contain a path; leave its problem out with --problem or --device",
                      record->configuration);
    without_log.log = NULL;
    copy.measurement = &without_log;
  }
  if (record->created_s > w->newest_s) w->newest_s = record->created_s;
  copy.own = record->own && w->into->type == &clt_store_postgresql; /* where a login's own word counts */
  return w->into->type->add(w->into->state, key_alone, &copy, &w->n_added, w->error);
}

/* The description without what names a machine, a person or a path. *json (to be freed) has the device. */
static int make_public(clt_store_description *d, char **json, clt_error *error) {
  clt_device_info device;
  const bool known = clt_device_from_json(&device, d->device_json, NULL) == CLT_OK;
  d->problem_path = d->tuning_json = d->device_json = "";
  if (!known) return CLT_OK;
  d->device_json = *json = clt_device_public_text(&device);
  return *json ? CLT_OK : clt_fail_memory(error);
}

/* A file describes a problem once, however many of its keys are described: as counts most. weights: by problem, so far.
 */
static int describe_problem_once(clt_store_description *d, uint64_t weight, clt_map *weights, clt_error *error) {
  uint64_t *most = clt_map_add(weights, clt_hash64_here(d->key.problem, strlen(d->key.problem)) >> 1, NULL);
  if (most == NULL) return clt_fail_memory(error);
  if (weight <= *most) d->problem_name = d->problem_path = d->sizes = d->kernel = NULL;
  if (weight > *most) *most = weight;
  return CLT_OK;
}

static int merge_once(clt_store *into, clt_store *from, const clt_store_selection *selection, uint64_t *n_added,
                      clt_error *error) {
  clt_store_description *keys = NULL, *own = NULL;
  size_t n_keys = 0, n_own = 0;
  const clt_store_key *last = NULL;
  clt_map weights = {0};
  merge m = {.into = into,
             .before_s = selection ? selection->before_s : 0,
             .is_public = selection && selection->is_public,
             .error = error};
  int rc = clt_store_keys(&keys, &n_keys, from, false, error);
  if (rc == CLT_OK) rc = clt_store_weigh_devices(keys, n_keys, sizeof *keys, false, error);
  if (rc == CLT_OK) rc = clt_store_keys(&own, &n_own, into, false, error);
  if (rc == CLT_OK) rc = into->type->transaction(into->state, CLT_STORE_BEGIN, NULL, error);
  if (rc == CLT_OK) {
    for (size_t i = 0; rc == CLT_OK && i < n_keys; i++) {
      clt_store_description stripped;
      const clt_store_description *d = &stripped, *known = own;
      char *device_json = NULL;
      uint64_t weight;
      if (!is_selected(selection, &keys[i], &last)) continue;
      rc = find_description(&stripped, &weight, &keys[i], keys + n_keys, from, error);
      if (rc == CLT_OK && stripped.voice) stripped.problem_path = ""; /* on another machine */
      if (rc == CLT_OK && m.is_public) rc = make_public(&stripped, &device_json, error);
      if (rc) break;
      while (known < own + n_own && !clt_store_same_key(&known->key, &d->key)) known++;
      const bool is_new = known == own + n_own || known->voice; /* described by others only */
      int64_t own_newest_s = INT64_MIN;
      m.newest_s = INT64_MIN;
      if (!is_new && d->tuning_json[0] && known->tuning_json[0])
        rc = into->type->walk(into->state, CLT_STORE_OLDEST_FIRST, &d->key, NULL, 0, note_time, &own_newest_s, error);
      if (rc == CLT_OK) /* as they came, so that the first voice stays the first */
        rc = clt_store_each_identified(from, CLT_STORE_OLDEST_FIRST, &d->key, 0, merge_record, &m, error);
      /* A key that is new to `into` gets its description; an existing one gets the newest tuning's data. */
      const clt_store_description tuning = {.key = d->key, .tuning_json = d->tuning_json, .kernel = d->kernel};
      const bool newer = !is_new && d->tuning_json[0] && (!known->tuning_json[0] || m.newest_s > own_newest_s);
      const bool describes = is_new && m.newest_s > INT64_MIN;
      if (rc == CLT_OK && describes && into->type != &clt_store_postgresql)
        rc = describe_problem_once(&stripped, weight, &weights, error);
      if (rc == CLT_OK && (newer || describes))
        rc = into->type->add(into->state, is_new ? d : &tuning, NULL, NULL, error);
      free(device_json);
    }
    rc = end_transaction(into, rc, error);
  }
  clt_store_keys_free(keys, n_keys);
  clt_store_keys_free(own, n_own);
  clt_map_release(&weights);
  if (rc == CLT_OK && n_added) *n_added = m.n_added;
  if (rc == CLT_OK && selection && selection->n_left_out) *selection->n_left_out = m.n_left_out;
  return rc;
}

int clt_store_merge(clt_store *into, clt_store *from, const clt_store_selection *selection, uint64_t *n_added,
                    clt_error *error) {
  clt_error why = {0};
  int rc = CLT_E_AGAIN;
  for (int i = 0; rc == CLT_E_AGAIN && i < MOST_ATTEMPTS; i++) {
    why = (clt_error){0};
    rc = merge_once(into, from, selection, n_added, &why);
  }
  if (rc == CLT_E_AGAIN)
    return clt_fail(error, CLT_E_STORE, "%s; gave up after %d attempts", why.message, MOST_ATTEMPTS);
  if (rc && error) *error = why;
  return rc;
}

/* --- deleting --- */

int clt_store_prune(clt_store *store, const clt_store_selection *selection, bool dry_run, uint64_t *n_removed,
                    clt_error *error) {
  clt_store_description *keys = NULL;
  size_t n_keys = 0;
  const clt_store_key *last = NULL;
  uint64_t sum = 0, n = 0;
  if (!selection->problem_name && !selection->device && !selection->before_s)
    return clt_fail(error, CLT_E_ARGUMENT, "select what to delete: a problem, a device or a time");
  int rc = clt_store_keys(&keys, &n_keys, store, false, error);
  if (rc == CLT_OK) rc = store->type->transaction(store->state, CLT_STORE_BEGIN, NULL, error);
  if (rc == CLT_OK) {
    for (size_t i = 0; rc == CLT_OK && i < n_keys; i++) {
      if (!is_selected(selection, &keys[i], &last)) continue;
      if (!selection->problem_name) keys[i].voice = 0; /* whatever it is called */
      rc = store->type->remove(store->state, &keys[i], selection->before_s, dry_run, &n, error);
      sum += n;
    }
    rc = end_transaction(store, rc, error);
  }
  clt_store_keys_free(keys, n_keys);
  if (rc == CLT_OK) *n_removed = sum;
  return rc;
}
