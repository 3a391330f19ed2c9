/* space/mask.h - sets of tuning parameters, or of the positions that such a set has taken. */
#ifndef CLT_SPACE_MASK_H
#define CLT_SPACE_MASK_H

#include <clatune/space.h>

#define CLT_MASK_WORDS (CLT_MAX_PARAMETERS / 64)

typedef struct clt_mask {
  uint64_t words[CLT_MASK_WORDS];
} clt_mask;

static inline void clt_mask_add(clt_mask *m, size_t i) { m->words[i / 64] |= (uint64_t)1 << (i % 64); }
static inline bool clt_mask_has(const clt_mask *m, size_t i) { return m->words[i / 64] >> (i % 64) & 1; }

static inline clt_mask clt_mask_union(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) a.words[w] |= b.words[w];
  return a;
}

/* Whether a is a subset of b. */
static inline bool clt_mask_within(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++)
    if (a.words[w] & ~b.words[w]) return false;
  return true;
}

static inline size_t clt_mask_count(clt_mask m) {
  size_t n = 0;
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) n += (size_t)__builtin_popcountll(m.words[w]);
  return n;
}

/* The smallest member; the set must not be empty. */
static inline size_t clt_mask_least(clt_mask m) {
  size_t w = 0;
  while (m.words[w] == 0) w++;
  return w * 64 + (size_t)__builtin_ctzll(m.words[w]);
}

/* The i-th number that is no member, from 0 on. There must be one. */
static inline uint32_t clt_mask_free(const clt_mask *m, size_t i) {
  size_t w = 0;
  uint64_t free = ~m->words[0];
  for (size_t n; (n = (size_t)__builtin_popcountll(free)) <= i; free = ~m->words[++w]) i -= n;
  while (i-- > 0) free &= free - 1;
  return (uint32_t)(w * 64 + (size_t)__builtin_ctzll(free));
}

/* How many members are below i. */
static inline size_t clt_mask_below(const clt_mask *m, size_t i) {
  size_t n = (size_t)__builtin_popcountll(m->words[i / 64] & (((uint64_t)1 << (i % 64)) - 1));
  for (size_t w = 0; w < i / 64; w++) n += (size_t)__builtin_popcountll(m->words[w]);
  return n;
}

#endif
