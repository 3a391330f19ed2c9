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

/* Writes n hex digits (n even, at most 128) from the system's random generator, and a terminator. False: it failed. */
bool clt_draw_hex(char *out, size_t n);

#endif
