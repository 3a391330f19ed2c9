#include "cli/stored.h"

#include <stdlib.h>

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
  if (list->n == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 256;
    arrival *grown = realloc(list->items, capacity * sizeof *grown);
    if (grown == NULL) return CLT_E_MEMORY;
    list->items = grown;
    list->capacity = capacity;
  }
  list->items[list->n] = (arrival){*m, list->n};
  list->items[list->n++].measurement.log = NULL; /* borrowed */
  return 0;
}

static int by_configuration(const void *a, const void *b) {
  const arrival *x = a, *y = b;
  if (x->measurement.config != y->measurement.config) return x->measurement.config < y->measurement.config ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static int keep_newest(cli_stored *out, arrival_list *list) {
  out->measurements = calloc(list->n + 1, sizeof *out->measurements);
  if (out->measurements == NULL) return CLT_E_MEMORY;
  if (list->n) qsort(list->items, list->n, sizeof *list->items, by_configuration);
  for (size_t i = 0; i < list->n; i++)
    if (i + 1 == list->n || list->items[i].measurement.config != list->items[i + 1].measurement.config)
      out->measurements[out->n++] = list->items[i].measurement;
  return CLT_OK;
}

int cli_stored_read(cli_stored *out, clt_store *store, const clt_instance *instance, clt_error *error) {
  clt_store_key key;
  arrival_list list = {.space = clt_instance_space(instance)};
  *out = (cli_stored){0};
  int rc = clt_store_key_init(&key, instance, error);
  if (rc == 0) rc = clt_store_each(store, &key, list.space, collect, &list, NULL, error);
  if (rc == 0) rc = keep_newest(out, &list);
  if (rc == CLT_E_MEMORY && error->code == 0) *error = (clt_error){.code = CLT_E_MEMORY};
  free(list.items);
  return rc;
}

void cli_stored_release(cli_stored *stored) {
  free(stored->measurements);
  *stored = (cli_stored){0};
}
