#include "space/parts.h"

#include <clatune/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_CAPACITY 64

void clt_table_release(clt_table *table) {
  free(table->slots);
  *table = (clt_table){0};
}

static size_t free_slot(const clt_table *table, uint32_t hash) {
  size_t at = hash & (table->capacity - 1);
  while (table->slots[at].entry != CLT_TABLE_NONE) at = (at + 1) & (table->capacity - 1);
  return at;
}

int clt_table_reserve(clt_table *table) {
  if (table->n < table->capacity / 2) return CLT_OK;
  clt_table grown = {.capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY, .n = table->n};
  grown.slots = clt_new_array(grown.capacity, sizeof *grown.slots);
  if (grown.slots == NULL) return CLT_E_MEMORY;
  memset(grown.slots, 0xff, grown.capacity * sizeof *grown.slots);
  for (size_t i = 0; i < table->capacity; i++)
    if (table->slots[i].entry != CLT_TABLE_NONE) grown.slots[free_slot(&grown, table->slots[i].hash)] = table->slots[i];
  free(table->slots);
  *table = grown;
  return CLT_OK;
}

static uint32_t from(const clt_table *table, uint32_t hash, size_t *at) {
  for (;; *at = (*at + 1) & (table->capacity - 1)) {
    const struct clt_table_slot *slot = &table->slots[*at];
    if (slot->entry == CLT_TABLE_NONE || slot->hash == hash) return slot->entry;
  }
}

uint32_t clt_table_first(const clt_table *table, uint64_t hash, size_t *at) {
  *at = (uint32_t)hash & (table->capacity - 1);
  return from(table, (uint32_t)hash, at);
}

uint32_t clt_table_next(const clt_table *table, uint64_t hash, size_t *at) {
  *at = (*at + 1) & (table->capacity - 1);
  return from(table, (uint32_t)hash, at);
}

void clt_table_put(clt_table *table, uint64_t hash, size_t at, uint32_t entry) {
  table->slots[at] = (struct clt_table_slot){.hash = (uint32_t)hash, .entry = entry};
  table->n++;
}
