/* space/mask.h - sets of tuning parameters. */
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

/* Whether all of a is in b. */
static inline bool clt_mask_within(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++)
    if (a.words[w] & ~b.words[w]) return false;
  return true;
}

static inline bool clt_mask_meets(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++)
    if (a.words[w] & b.words[w]) return true;
  return false;
}

static inline size_t clt_mask_count(clt_mask m) {
  size_t n = 0;
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) n += (size_t)__builtin_popcountll(m.words[w]);
  return n;
}

/* The least member; the set is not empty. */
static inline size_t clt_mask_least(clt_mask m) {
  size_t w = 0;
  while (m.words[w] == 0) w++;
  return w * 64 + (size_t)__builtin_ctzll(m.words[w]);
}

#endif
