/* base/map.h - maps and sets of 64-bit keys, such as configurations and ranks, and sorted arrays of them. */
#ifndef CLT_BASE_MAP_H
#define CLT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key is any number but UINT64_MAX, which is CLT_CONFIG_NONE. A value is what the user makes of it: a number, or the
 * index of an entry in an array of the user's own. All zeros is an empty map. */
typedef struct clt_map {
  struct clt_map_slot *slots;
  size_t n, capacity;
} clt_map;

void clt_map_release(clt_map *map); /* leaves an empty map */

/* The value of a key; NULL where the key is not there. It can be written to until the next add or remove. */
uint64_t *clt_map_find(const clt_map *map, uint64_t key);

/* The same, but adds a key that is not there, with the value 0. is_new may be NULL. NULL: out of memory. */
uint64_t *clt_map_add(clt_map *map, uint64_t key, bool *is_new);

/* Whether the key was there. */
bool clt_map_remove(clt_map *map, uint64_t key);

/* The next entry, in no order that means anything: `for (size_t at = 0; clt_map_next(&map, &at, &key, &value);)`.
 * key and value may be NULL. */
bool clt_map_next(const clt_map *map, size_t *at, uint64_t *key, uint64_t **value);

/* Ascending order, and where `wanted` stands in it, or would stand (place may be NULL). */
void clt_sort_u64(uint64_t *values, size_t n);
bool clt_search_u64(const uint64_t *values, size_t n, uint64_t wanted, size_t *place);

#endif
