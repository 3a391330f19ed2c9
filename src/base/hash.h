/* base/hash.h - hashes, and maps and sets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- hashing with xxHash (XXH3, 128 bits) ---
 * Not collision-resistant against an adversary. */

typedef struct clt_hasher clt_hasher;

clt_hasher *clt_hasher_new(void);                      /* NULL when out of memory */
clt_hasher *clt_hasher_copy(const clt_hasher *hasher); /* a copy with the same state; NULL: out of memory */
void clt_hasher_free(clt_hasher *hasher);
void clt_hasher_add(clt_hasher *hasher, const void *bytes, size_t n);
void clt_hasher_add_text(clt_hasher *hasher,
                         const char *text); /* with its terminator, so that ("ab", "c") and ("a", "bc") differ */
void clt_hasher_hex(const clt_hasher *hasher, char out[33]);
uint64_t clt_hash64(const void *bytes, size_t n);

/* Odd, and of each process its own: no keys or texts collide in all processes, whoever chose them. The hash depends on
 * it, and is for maps in memory. */
extern uint64_t clt_secret;
uint64_t clt_hash64_here(const void *bytes, size_t n);

/* A checksum that many work-items can make together: the sum over all pairs of words of 64 bits, each pair mixed with
 * its position. The mix (x, y: the pair, i: its position) is wyhash's: the product, its halves combined by exclusive
 * or. It is C and OpenCL C alike. A rest of fewer than 16 bytes is a pair that ends with zeros. */
#define CLT_SUM_MIX                        \
  x += (2 * i + 1) * 0x9e3779b97f4a7c15ul; \
  y += (2 * i + 2) * 0x9e3779b97f4a7c15ul; \
  x = (x * y) ^ mul_hi(x, y);
uint64_t clt_sum64(const void *bytes, size_t n, uint64_t first); /* first: the position of the first pair */

/* Writes n hex digits (n even, at most 128) from the system's random generator, and a terminator. False: it failed. */
bool clt_draw_hex(char *out, size_t n);

/* --- maps and sets of 64-bit keys, such as configurations and ranks, and sorted arrays of them --- */

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
