/* base/map.h - maps and sets of 64-bit keys, such as configurations and ranks, and sorted arrays of them. */
#ifndef CLT_BASE_MAP_H
#define CLT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash map. A key is any number except UINT64_MAX (CLT_CONFIG_NONE). A value is a number, typically an index into an
 * array of the caller. All zeros is an empty map. */
typedef struct clt_map {
  struct clt_map_slot *slots;
  size_t n, capacity;
} clt_map;

void clt_map_release(clt_map *map); /* leaves an empty map */

/* The value of a key; NULL: the map lacks the key. The pointer is valid, and can be written to, until the next add or
 * remove. */
uint64_t *clt_map_find(const clt_map *map, uint64_t key);

/* The same, but adds a missing key with the value 0. *is_new (nullable): whether it was missing. NULL: out of memory.
 */
uint64_t *clt_map_add(clt_map *map, uint64_t key, bool *is_new);

/* Removes a key. Returns whether the map had it. */
bool clt_map_remove(clt_map *map, uint64_t key);

/* Iterates over the entries in an unspecified order: `for (size_t at = 0; clt_map_next(&map, &at, &key, &value);)`. key
 * and value may be NULL. */
bool clt_map_next(const clt_map *map, size_t *at, uint64_t *key, uint64_t **value);

/* Sort in ascending order, and search in sorted values. *place (nullable) is the index of `wanted`, or the index at
 * which it would have to be inserted. clt_search_u64 returns whether it was found. */
void clt_sort_u64(uint64_t *values, size_t n);
bool clt_search_u64(const uint64_t *values, size_t n, uint64_t wanted, size_t *place);

#endif
