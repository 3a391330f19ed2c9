#include "store/stores.h"

#include <string.h>

static const clt_store_type *const stores[] = {&clt_store_sqlite, &clt_store_memory};

size_t clt_n_stores(void) { return sizeof stores / sizeof *stores; }

const clt_store_type *clt_store_type_at(size_t index) { return stores[index]; }

const clt_store_type *clt_store_type_find(const char *name) {
  for (size_t i = 0; i < clt_n_stores(); i++)
    if (strcmp(stores[i]->name, name) == 0) return stores[i];
  return NULL;
}
