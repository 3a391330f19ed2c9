/* pattern.h - deterministic noise for the inputs of the shipped problems: the same seed gives the same bytes on every
 * machine, in any order and from any number of threads, because each value is a hash of its place. */
#ifndef CLATUNE_PATTERN_H
#define CLATUNE_PATTERN_H

#include <stdint.h>

/* 32 well mixed bits of a lattice point (finaliser of MurmurHash3's family, constants of "lowbias32"). */
static inline uint32_t pattern_hash(uint32_t x, uint32_t y, uint64_t seed) {
  uint32_t h =
      x * 0x9e3779b1u ^ (y + 0x7f4a7c15u) * 0x85ebca77u ^ (uint32_t)seed * 0xc2b2ae3du ^ (uint32_t)(seed >> 32);
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  return h ^ h >> 16;
}

/* Uniform in [0, 1): 24 bits, exact in a float. */
static inline float pattern_unit(uint32_t x, uint32_t y, uint64_t seed) {
  return (float)(pattern_hash(x, y, seed) >> 8) * (1.0f / 16777216.0f);
}

/* Value noise: lattice values every `cell` pixels, blended bilinearly; in [0, 1]. x, y >= 0. */
static inline float pattern_noise(int x, int y, int cell, uint64_t seed) {
  const uint32_t cx = (uint32_t)(x / cell), cy = (uint32_t)(y / cell);
  const float fx = (float)(x % cell) / (float)cell, fy = (float)(y % cell) / (float)cell;
  const float top = pattern_unit(cx, cy, seed) * (1 - fx) + pattern_unit(cx + 1, cy, seed) * fx;
  const float bottom = pattern_unit(cx, cy + 1, seed) * (1 - fx) + pattern_unit(cx + 1, cy + 1, seed) * fx;
  return top * (1 - fy) + bottom * fy;
}

#endif
