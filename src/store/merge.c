/* What passes between stores, and what is taken out of one. A record is told from others by all that it says but its log, so
 * that a merge can be made again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"
#include "store/record.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* --- which keys --- */

typedef struct key_list {
  const clt_store_selection *selection;
  clt_store_description *all; /* texts owned */
  size_t n, capacity;
} key_list;

static bool is_selected(const clt_store_selection *s, const clt_store_description *d) {
  if (s == NULL) return true;
  if (s->problem_name && strcmp(s->problem_name, d->problem_name) != 0) return false;
  return s->device == NULL || strcasestr(d->key.device, s->device) != NULL;
}

static void release_description(clt_store_description *d) {
  free((char *)d->problem_name);
  free((char *)d->problem_path);
  free((char *)d->sizes);
  free((char *)d->device_json);
}

static int note_key(void *user, const clt_store_description *d) {
  key_list *list = user;
  if (!is_selected(list->selection, d)) return 0;
  if (clt_grow(&list->all, &list->capacity, list->n + 1, sizeof *list->all)) return CLT_E_MEMORY;
  clt_store_description copy = {.key = d->key,
                                .problem_name = strdup(d->problem_name),
                                .problem_path = strdup(d->problem_path),
                                .sizes = strdup(d->sizes),
                                .device_json = strdup(d->device_json)};
  list->all[list->n++] = copy;
  return copy.problem_name && copy.problem_path && copy.sizes && copy.device_json ? 0 : CLT_E_MEMORY;
}

static int list_keys(key_list *out, clt_store *store, const clt_store_selection *selection, clt_error *error) {
  *out = (key_list){.selection = selection};
  return clt_store_each_key_uncounted(store, note_key, out, error);
}

static void release_keys(key_list *list) {
  for (size_t i = 0; i < list->n; i++) release_description(&list->all[i]);
  free(list->all);
}

/* --- telling records apart --- */

typedef struct fingerprint {
  char hex[33];
  UT_hash_handle hh;
} fingerprint;

static void add_number(clt_hasher *hasher, double x) {
  if (isnan(x)) x = 0; /* one of them: a time is never 0 */
  clt_hasher_add(hasher, &x, sizeof x);
}

static int take_fingerprint(char out[33], const clt_store_record *record) {
  const clt_measurement *m = record->measurement;
  const int32_t numbers[] = {(int32_t)record->kind, (int32_t)m->reason, (int32_t)m->clock, (int32_t)m->n_runs};
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return CLT_E_MEMORY;
  clt_hasher_add_text(hasher, record->configuration);
  clt_hasher_add(hasher, numbers, sizeof numbers);
  clt_hasher_add(hasher, &record->created_s, sizeof record->created_s);
  add_number(hasher, m->time_s);
  add_number(hasher, m->energy_J);
  add_number(hasher, m->phases.build_s);
  add_number(hasher, m->phases.first_launch_s);
  add_number(hasher, m->phases.verify_s);
  for (size_t i = 0; i < m->n_runs; i++) add_number(hasher, m->runs_s[i]);
  clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  return CLT_OK;
}

/* --- merging one key --- */

typedef struct merge {
  clt_store *into;
  const clt_store_key *key;
  const clt_store_selection *selection;
  fingerprint *seen;
  uint64_t n_added;
  clt_error *error;
} merge;

/* *is_new: it was not among the seen; now it is. */
static int see(merge *m, const clt_store_record *record, bool *is_new) {
  char hex[33];
  fingerprint *found;
  int rc = take_fingerprint(hex, record);
  if (rc) return rc;
  HASH_FIND_STR(m->seen, hex, found);
  *is_new = found == NULL;
  if (found) return CLT_OK;
  if ((found = calloc(1, sizeof *found)) == NULL) return CLT_E_MEMORY;
  memcpy(found->hex, hex, sizeof hex);
  HASH_ADD_STR(m->seen, hex, found);
  if (found->hh.tbl) return CLT_OK;
  free(found);
  return CLT_E_MEMORY;
}

static bool readable(const clt_store_record *record) {
  return record->configuration && clt_record_plausible(record->kind, record->measurement);
}

static int note_own(void *user, const clt_store_record *record) {
  bool is_new;
  return readable(record) ? see(user, record, &is_new) : 0;
}

static int take_over(void *user, const clt_store_record *record) {
  merge *m = user;
  bool is_new = false;
  int64_t before_s = m->selection ? m->selection->before_s : 0;
  if (!readable(record) || (before_s && record->created_s >= before_s)) return 0;
  int rc = see(m, record, &is_new);
  if (rc || !is_new) return rc;
  m->n_added++;
  return m->into->type->add(m->into->state, m->key, record, m->error);
}

static int merge_key(merge *m, clt_store *from, const clt_store_description *d) {
  fingerprint *f, *next;
  m->key = &d->key;
  int rc = m->into->type->each(m->into->state, &d->key, note_own, m, m->error);
  bool has_any = m->seen != NULL;
  if (rc == CLT_OK) rc = from->type->each(from->state, &d->key, take_over, m, m->error);
  if (rc == CLT_OK && !has_any && m->seen) rc = m->into->type->describe(m->into->state, d, m->error);
  HASH_ITER(hh, m->seen, f, next) {
    HASH_DEL(m->seen, f);
    free(f);
  }
  return rc;
}

static int say_memory(int rc, clt_error *error) { return rc == CLT_E_MEMORY ? clt_fail_memory(error) : rc; }

int clt_store_merge(clt_store *into, clt_store *from, const clt_store_selection *selection, uint64_t *n_added,
                    clt_error *error) {
  key_list keys;
  merge m = {.into = into, .selection = selection, .error = error};
  int rc = list_keys(&keys, from, selection, error);
  if (rc == CLT_OK) rc = into->type->begin(into->state, error);
  if (rc == CLT_OK) {
    for (size_t i = 0; rc == CLT_OK && i < keys.n; i++) rc = merge_key(&m, from, &keys.all[i]);
    rc = into->type->end(into->state, rc, error);
  }
  release_keys(&keys);
  if (rc == CLT_OK && n_added) *n_added = m.n_added;
  return say_memory(rc, error);
}

/* --- taking out --- */

int clt_store_prune(clt_store *store, const clt_store_selection *selection, bool dry_run, uint64_t *n_removed,
                    clt_error *error) {
  key_list keys;
  uint64_t sum = 0, n = 0;
  if (!selection->problem_name && !selection->device && !selection->before_s)
    return clt_fail(error, CLT_E_ARGUMENT, "what is to be removed must be named: a problem, a device or a time");
  int rc = list_keys(&keys, store, selection, error);
  if (rc == CLT_OK) rc = store->type->begin(store->state, error);
  if (rc == CLT_OK) {
    for (size_t i = 0; rc == CLT_OK && i < keys.n; i++, sum += n)
      rc = store->type->remove(store->state, &keys.all[i].key, selection->before_s, dry_run, &n, error);
    rc = store->type->end(store->state, rc, error);
  }
  release_keys(&keys);
  if (rc == CLT_OK) *n_removed = sum;
  return say_memory(rc, error);
}
