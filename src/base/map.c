#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Open addressing with linear probing, at most half full; removing closes the gap, so that there are no tombstones. */
struct clt_map_slot {
  uint64_t key, value;
};

#define FREE UINT64_MAX
#define FIRST_CAPACITY 64

/* Fibonacci hashing of the folded key, so that consecutive keys and keys that differ only in their high bits spread;
 * then multiply-shift, in which two keys collide with at most twice the probability of random ones. */
static size_t home_of(uint64_t key, size_t capacity) {
  uint64_t hash = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
  return (size_t)((hash ^ (hash >> 32)) * clt_secret >> (__builtin_clzll(capacity) + 1));
}

/* The slot of the key, or the free slot in which it would be inserted. */
static size_t slot_of(const clt_map *map, uint64_t key) {
  size_t at = home_of(key, map->capacity);
  while (map->slots[at].key != key && map->slots[at].key != FREE) at = (at + 1) & (map->capacity - 1);
  return at;
}

void clt_map_release(clt_map *map) {
  free(map->slots);
  *map = (clt_map){0};
}

uint64_t *clt_map_find(const clt_map *map, uint64_t key) {
  if (map->n == 0 || key == FREE) return NULL;
  size_t at = slot_of(map, key);
  return map->slots[at].key == key ? &map->slots[at].value : NULL;
}

static bool grow_map(clt_map *map) {
  clt_map grown = {.n = map->n, .capacity = map->capacity ? 2 * map->capacity : FIRST_CAPACITY};
  grown.slots = malloc(grown.capacity * sizeof *grown.slots);
  if (grown.slots == NULL) return false;
  memset(grown.slots, 0xff, grown.capacity * sizeof *grown.slots);
  for (size_t i = 0; i < map->capacity; i++)
    if (map->slots[i].key != FREE) grown.slots[slot_of(&grown, map->slots[i].key)] = map->slots[i];
  free(map->slots);
  *map = grown;
  return true;
}

uint64_t *clt_map_add(clt_map *map, uint64_t key, bool *is_new) {
  if (key == FREE) return NULL;
  if (map->n >= map->capacity / 2 && !grow_map(map)) return NULL;
  struct clt_map_slot *slot = &map->slots[slot_of(map, key)];
  bool adds = slot->key == FREE;
  if (adds) {
    *slot = (struct clt_map_slot){.key = key};
    map->n++;
  }
  if (is_new) *is_new = adds;
  return &slot->value;
}

bool clt_map_remove(clt_map *map, uint64_t key) {
  if (map->n == 0 || key == FREE) return false;
  size_t mask = map->capacity - 1, gap = slot_of(map, key);
  if (map->slots[gap].key != key) return false;
  /* Later entries move into the gap, unless their home is after the gap. */
  for (size_t at = (gap + 1) & mask; map->slots[at].key != FREE; at = (at + 1) & mask) {
    size_t home = home_of(map->slots[at].key, map->capacity);
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    map->slots[gap] = map->slots[at];
    gap = at;
  }
  map->slots[gap].key = FREE;
  map->n--;
  return true;
}

bool clt_map_next(const clt_map *map, size_t *at, uint64_t *key, uint64_t **value) {
  while (*at < map->capacity && map->slots[*at].key == FREE) (*at)++;
  if (*at >= map->capacity) return false;
  if (key) *key = map->slots[*at].key;
  if (value) *value = &map->slots[*at].value;
  (*at)++;
  return true;
}

static int compare_u64(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

void clt_sort_u64(uint64_t *values, size_t n) {
  if (n) qsort(values, n, sizeof *values, compare_u64);
}

bool clt_search_u64(const uint64_t *values, size_t n, uint64_t wanted, size_t *place) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (values[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (place) *place = low;
  return low < n && values[low] == wanted;
}
