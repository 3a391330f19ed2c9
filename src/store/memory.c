#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/store.h"

typedef struct kept_record {
  clt_store_record record;     /* its configuration is owned */
  clt_measurement measurement; /* the record's, owned */
} kept_record;

/* Everything known of one key. */
typedef struct kept_key {
  clt_store_key key;
  char *texts[4]; /* problem name, problem path, sizes, device; NULL: not described */
  kept_record *records;
  size_t n_records, capacity;
} kept_key;

typedef struct memory_store {
  kept_key *keys; /* those with records in the order of their first one */
  size_t n_keys, capacity;
  uint64_t n_records;
} memory_store;

static kept_key *find_key(const memory_store *store, const clt_store_key *key) {
  for (size_t i = 0; i < store->n_keys; i++)
    if (clt_store_same_key(&store->keys[i].key, key)) return &store->keys[i];
  return NULL;
}

static int open_memory(void *state, const char *path, bool to_read, clt_error *error) {
  (void)state, (void)path, (void)to_read, (void)error;
  return CLT_OK;
}

static int add_to_memory(void *state, const clt_store_description *d, const clt_store_record *record,
                         clt_error *error) {
  memory_store *store = state;
  kept_key *k = find_key(store, &d->key);
  if (k == NULL) {
    if (clt_grow(&store->keys, &store->capacity, store->n_keys + 1, sizeof *store->keys)) return clt_fail_memory(error);
    k = &store->keys[store->n_keys++];
    *k = (kept_key){.key = d->key};
  }
  const char *const texts[4] = {d->problem_name, d->problem_path, d->sizes, d->device_json};
  for (size_t i = 0; i < 4; i++) {
    if (texts[i] == NULL) continue;
    char *copy = strdup(texts[i]);
    if (copy == NULL) return clt_fail_memory(error);
    free(k->texts[i]);
    k->texts[i] = copy;
  }
  if (record == NULL) return CLT_OK;
  if (clt_grow(&k->records, &k->capacity, k->n_records + 1, sizeof *k->records)) return clt_fail_memory(error);
  kept_record kept = {.record = *record};
  kept.record.configuration = strdup(record->configuration);
  if (kept.record.configuration == NULL) return clt_fail_memory(error);
  int rc = clt_measurement_copy(&kept.measurement, record->measurement, error);
  if (rc) {
    free((char *)kept.record.configuration);
    return rc;
  }
  if (k->n_records == 0) { /* its first: the key goes to the end */
    kept_key moved = *k;
    size_t n_behind = (size_t)(store->keys + store->n_keys - k) - 1;
    memmove(k, k + 1, n_behind * sizeof *k);
    k += n_behind;
    *k = moved;
  }
  k->records[k->n_records++] = kept;
  store->n_records++;
  return CLT_OK;
}

static int by_speed(const void *a, const void *b) {
  const kept_record *const *x = a, *const *y = b;
  double s = (*x)->measurement.time_s, t = (*y)->measurement.time_s;
  return s != t ? (s > t) - (s < t) : (*x > *y) - (*x < *y);
}

static int walk_memory(void *state, clt_store_order order, const clt_store_key *key, clt_store_walk_visit visit,
                       void *user, clt_error *error) {
  const memory_store *store = state;
  int rc = CLT_OK;
  if (order == CLT_STORE_KEYS || order == CLT_STORE_KEYS_COUNTED) {
    for (const kept_key *k = store->keys; rc == CLT_OK && k < store->keys + store->n_keys; k++) {
      const clt_store_description description = {.key = k->key,
                                                 .problem_name = k->texts[0] ? k->texts[0] : "",
                                                 .problem_path = k->texts[1] ? k->texts[1] : "",
                                                 .sizes = k->texts[2] ? k->texts[2] : "",
                                                 .device_json = k->texts[3] ? k->texts[3] : "",
                                                 .n_records = order == CLT_STORE_KEYS ? 0 : k->n_records};
      if (k->n_records) rc = visit(user, &description, NULL);
    }
    return rc;
  }
  const kept_key *k = find_key(store, key);
  if (k == NULL) return CLT_OK;
  const kept_record **chosen = clt_new_array(k->n_records, sizeof *chosen);
  size_t n = 0;
  if (chosen == NULL) return clt_fail_memory(error);
  if (order == CLT_STORE_OLDEST_FIRST) {
    for (; n < k->n_records; n++) chosen[n] = &k->records[n];
  } else {
    for (size_t i = k->n_records; i > 0; i--)
      if (k->records[i - 1].record.kind == CLT_RECORD_FINALIST) chosen[n++] = &k->records[i - 1];
    size_t n_finalists = n;
    for (size_t i = 0; i < k->n_records; i++)
      if (k->records[i].record.kind == CLT_RECORD_SEARCH && clt_measurement_correct(&k->records[i].measurement))
        chosen[n++] = &k->records[i];
    qsort(chosen + n_finalists, n - n_finalists, sizeof *chosen, by_speed);
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_store_record record = chosen[i]->record;
    record.measurement = &chosen[i]->measurement;
    rc = visit(user, NULL, &record);
  }
  free(chosen);
  return rc;
}

static void release_record(kept_record *kept) {
  free((char *)kept->record.configuration);
  clt_measurement_release(&kept->measurement);
}

static int remove_from_memory(void *state, const clt_store_key *key, int64_t before_s, bool count_only, uint64_t *n,
                              clt_error *error) {
  (void)error;
  kept_key *k = find_key(state, key);
  size_t kept = 0;
  *n = 0;
  for (size_t i = 0; k && i < k->n_records; i++) {
    bool selected = before_s == 0 || k->records[i].record.created_s < before_s;
    *n += selected;
    if (selected && !count_only)
      release_record(&k->records[i]);
    else
      k->records[kept++] = k->records[i];
  }
  if (k) k->n_records = kept;
  return CLT_OK;
}

/* It ends with the process, and need not undo. */
static int step_in_memory(void *state, clt_store_step step, uint64_t *version, clt_error *error) {
  (void)step, (void)error;
  if (version) *version = ((const memory_store *)state)->n_records;
  return CLT_OK;
}

static void close_memory(void *state) {
  memory_store *store = state;
  for (size_t i = 0; i < store->n_keys; i++) {
    kept_key *k = &store->keys[i];
    for (size_t j = 0; j < 4; j++) free(k->texts[j]);
    for (size_t j = 0; j < k->n_records; j++) release_record(&k->records[j]);
    free(k->records);
  }
  free(store->keys);
}

const clt_store_type clt_store_memory = {
    .abi = CLT_STORE_ABI,
    .name = "memory",
    .summary = "kept only as long as it is open",
    .state_size = sizeof(memory_store),
    .open = open_memory,
    .add = add_to_memory,
    .walk = walk_memory,
    .remove = remove_from_memory,
    .transaction = step_in_memory,
    .close = close_memory,
};
