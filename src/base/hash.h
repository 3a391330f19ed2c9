/* base/hash.h - hashing, by xxHash (XXH3, 128 bits). Not against an adversary. */
#ifndef CLT_BASE_HASH_H
#define CLT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clt_hasher clt_hasher;

clt_hasher *clt_hasher_new(void);                      /* NULL when out of memory */
clt_hasher *clt_hasher_copy(const clt_hasher *hasher); /* goes on from what was added; NULL when out of memory */
void clt_hasher_free(clt_hasher *hasher);
void clt_hasher_add(clt_hasher *hasher, const void *bytes, size_t n);
void clt_hasher_add_text(clt_hasher *hasher,
                         const char *text); /* with its terminator, so that parts do not run together */
void clt_hasher_hex(const clt_hasher *hasher, char out[33]);
uint64_t clt_hash64(const void *bytes, size_t n);

/* n random hex digits (even, at most 128) of the system, and a terminator: what nobody else draws. false: it has none
 * to give. */
bool clt_draw_hex(char *out, size_t n);

#endif
