/* base/hash.h - hashing with xxHash (XXH3, 128 bits). Not collision-resistant against an adversary. */
#ifndef CLT_BASE_HASH_H
#define CLT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
