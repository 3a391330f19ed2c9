#include <clatune/store.h>

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

typedef struct arrival {
  clt_measurement measurement;
  size_t order;
} arrival;

typedef struct arrival_list {
  const clt_space *space;
  arrival *items;
  size_t n, capacity;
} arrival_list;

static int collect(void *user, clt_record_kind kind, const clt_measurement *m) {
  arrival_list *list = user;
  if (kind != CLT_RECORD_SEARCH || clt_space_canonical(list->space, m->config) != m->config) return 0;
  if (clt_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items)) return CLT_E_MEMORY;
  list->items[list->n] = (arrival){*m, list->n};
  list->items[list->n++].measurement.log = NULL; /* borrowed */
  return 0;
}

static int by_configuration(const void *a, const void *b) {
  const arrival *x = a, *y = b;
  if (x->measurement.config != y->measurement.config) return x->measurement.config < y->measurement.config ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static int keep_newest(clt_measurement **out, size_t *n_out, arrival_list *list) {
  clt_measurement *kept = calloc(list->n + 1, sizeof *kept);
  size_t n = 0;
  if (kept == NULL) return CLT_E_MEMORY;
  if (list->n) qsort(list->items, list->n, sizeof *list->items, by_configuration);
  for (size_t i = 0; i < list->n; i++)
    if (i + 1 == list->n || list->items[i].measurement.config != list->items[i + 1].measurement.config)
      kept[n++] = list->items[i].measurement;
  *out = kept;
  *n_out = n;
  return CLT_OK;
}

int clt_store_newest(clt_measurement **out, size_t *n, clt_store *store, const clt_store_key *key,
                     const clt_space *space, clt_error *error) {
  arrival_list list = {.space = space};
  int rc = clt_store_each(store, key, space, collect, &list, NULL, error);
  if (rc == CLT_OK) rc = keep_newest(out, n, &list);
  free(list.items);
  return rc == CLT_E_MEMORY ? clt_fail_memory(error) : rc;
}
