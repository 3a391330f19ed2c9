#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/stores.h"

typedef struct kept_record {
  clt_record_kind kind;
  char *configuration;
  int64_t created_s;
  clt_measurement measurement;
} kept_record;

/* Everything known of one key. */
typedef struct shelf {
  clt_store_key key;
  char *problem_name, *problem_path, *sizes, *device_json; /* NULL: not described */
  kept_record *records;
  size_t n_records, capacity;
  uint64_t first; /* the number of its first record in the whole store */
} shelf;

typedef struct memory_store {
  shelf *shelves;
  size_t n_shelves, capacity;
  uint64_t n_records;
} memory_store;

static bool same_key(const clt_store_key *a, const clt_store_key *b) {
  return strcmp(a->problem, b->problem) == 0 && strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0;
}

static shelf *find_shelf(memory_store *store, const clt_store_key *key) {
  for (size_t i = 0; i < store->n_shelves; i++)
    if (same_key(&store->shelves[i].key, key)) return &store->shelves[i];
  return NULL;
}

static shelf *find_or_add_shelf(memory_store *store, const clt_store_key *key) {
  shelf *found = find_shelf(store, key);
  if (found) return found;
  if (clt_grow(&store->shelves, &store->capacity, store->n_shelves + 1, sizeof *store->shelves)) return NULL;
  found = &store->shelves[store->n_shelves++];
  *found = (shelf){.key = *key};
  return found;
}

static int open_store(void *state, const char *path, bool to_read, clt_error *error) {
  (void)state, (void)path, (void)to_read, (void)error;
  return CLT_OK;
}

static void forget_description(shelf *s) {
  free(s->problem_name);
  free(s->problem_path);
  free(s->sizes);
  free(s->device_json);
}

static int describe(void *state, const clt_store_description *d, clt_error *error) {
  shelf *s = find_or_add_shelf(state, &d->key);
  if (s == NULL) return clt_fail_memory(error);
  shelf copy = {.problem_name = strdup(d->problem_name),
                .problem_path = strdup(d->problem_path),
                .sizes = strdup(d->sizes),
                .device_json = strdup(d->device_json)};
  if (!copy.problem_name || !copy.problem_path || !copy.sizes || !copy.device_json) {
    forget_description(&copy);
    return clt_fail_memory(error);
  }
  forget_description(s);
  s->problem_name = copy.problem_name;
  s->problem_path = copy.problem_path;
  s->sizes = copy.sizes;
  s->device_json = copy.device_json;
  return CLT_OK;
}

static int add(void *state, const clt_store_key *key, const clt_store_record *record, clt_error *error) {
  memory_store *store = state;
  shelf *s = find_or_add_shelf(store, key);
  if (s == NULL || clt_grow(&s->records, &s->capacity, s->n_records + 1, sizeof *s->records))
    return clt_fail_memory(error);
  kept_record kept = {
      .kind = record->kind, .created_s = record->created_s, .configuration = strdup(record->configuration)};
  if (kept.configuration == NULL) return clt_fail_memory(error);
  int rc = clt_measurement_copy(&kept.measurement, record->measurement, error);
  if (rc) {
    free(kept.configuration);
    return rc;
  }
  if (s->n_records == 0) s->first = store->n_records;
  s->records[s->n_records++] = kept;
  store->n_records++;
  return CLT_OK;
}

static int show(const kept_record *kept, clt_store_record_visit visit, void *user) {
  const clt_store_record record = {.kind = kept->kind,
                                   .configuration = kept->configuration,
                                   .created_s = kept->created_s,
                                   .measurement = &kept->measurement};
  return visit(user, &record);
}

static int each(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error) {
  (void)error;
  const shelf *s = find_shelf(state, key);
  int rc = CLT_OK;
  for (size_t i = 0; s && rc == CLT_OK && i < s->n_records; i++) rc = show(&s->records[i], visit, user);
  return rc;
}

static int by_speed(const void *a, const void *b) {
  const kept_record *const *x = a, *const *y = b;
  double s = (*x)->measurement.time_s, t = (*y)->measurement.time_s;
  return s != t ? (s > t) - (s < t) : (*x > *y) - (*x < *y);
}

static int best(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user, clt_error *error) {
  const shelf *s = find_shelf(state, key);
  int rc = CLT_OK;
  size_t n = 0;
  if (s == NULL) return CLT_OK;
  const kept_record **fastest = clt_new_array(s->n_records, sizeof *fastest);
  if (fastest == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_records; i++)
    if (s->records[i].kind == CLT_RECORD_SEARCH && clt_measurement_correct(&s->records[i].measurement))
      fastest[n++] = &s->records[i];
  qsort(fastest, n, sizeof *fastest, by_speed);
  for (size_t i = s->n_records; i > 0 && rc == CLT_OK; i--)
    if (s->records[i - 1].kind == CLT_RECORD_FINALIST) rc = show(&s->records[i - 1], visit, user);
  for (size_t i = 0; i < n && rc == CLT_OK; i++) rc = show(fastest[i], visit, user);
  free(fastest);
  return rc;
}

static int version(void *state, uint64_t *out, clt_error *error) {
  (void)error;
  *out = ((const memory_store *)state)->n_records;
  return CLT_OK;
}

static int by_first(const void *a, const void *b) {
  const shelf *const *x = a, *const *y = b;
  return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

static const char *text_or_none(const char *text) { return text ? text : ""; }

static int visit_shelf(const shelf *s, bool counted, clt_store_key_visit visit, void *user) {
  const clt_store_description description = {.key = s->key,
                                             .problem_name = text_or_none(s->problem_name),
                                             .problem_path = text_or_none(s->problem_path),
                                             .sizes = text_or_none(s->sizes),
                                             .device_json = text_or_none(s->device_json),
                                             .n_records = counted ? s->n_records : 0};
  return visit(user, &description);
}

static int each_key(void *state, bool counted, clt_store_key_visit visit, void *user, clt_error *error) {
  memory_store *store = state;
  const shelf **sorted = clt_new_array(store->n_shelves, sizeof *sorted);
  if (sorted == NULL) return clt_fail_memory(error);
  size_t n = 0;
  for (size_t i = 0; i < store->n_shelves; i++)
    if (store->shelves[i].n_records) sorted[n++] = &store->shelves[i];
  qsort(sorted, n, sizeof *sorted, by_first);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = visit_shelf(sorted[i], counted, visit, user);
  free(sorted);
  return rc;
}

static int remove_records(void *state, const clt_store_key *key, int64_t before_s, bool count_only, uint64_t *n,
                          clt_error *error) {
  (void)error;
  shelf *s = find_shelf(state, key);
  size_t kept = 0;
  *n = 0;
  for (size_t i = 0; s && i < s->n_records; i++) {
    bool selected = before_s == 0 || s->records[i].created_s < before_s;
    *n += selected;
    if (selected && !count_only) {
      free(s->records[i].configuration);
      clt_measurement_release(&s->records[i].measurement);
    } else {
      s->records[kept++] = s->records[i];
    }
  }
  if (s) s->n_records = kept;
  return CLT_OK;
}

static int begin(void *state, clt_error *error) {
  (void)state, (void)error;
  return CLT_OK;
}

static int end(void *state, int rc, clt_error *error) {
  (void)state, (void)error;
  return rc;
}

static void close_store(void *state) {
  memory_store *store = state;
  for (size_t i = 0; i < store->n_shelves; i++) {
    shelf *s = &store->shelves[i];
    forget_description(s);
    for (size_t j = 0; j < s->n_records; j++) {
      free(s->records[j].configuration);
      clt_measurement_release(&s->records[j].measurement);
    }
    free(s->records);
  }
  free(store->shelves);
}

const clt_store_type clt_store_memory = {
    .name = "memory",
    .summary = "kept only as long as it is open",
    .state_size = sizeof(memory_store),
    .open = open_store,
    .describe = describe,
    .add = add,
    .each = each,
    .best = best,
    .version = version,
    .each_key = each_key,
    .remove = remove_records,
    .begin = begin,
    .end = end,
    .close = close_store,
};
