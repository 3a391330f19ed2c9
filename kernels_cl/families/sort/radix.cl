/* radix.cl - radix sort from the lowest digit of radix_bits on. In each pass work-groups count the digits of their share of
 * neighbouring tiles of wg * items keys, one work-group adds up what comes before, and the keys are moved, those of equal
 * digits in their order. */
#define COUNTER ushort
#include "../scan.h"
#include "keys.h"

#define TILE (wg * items)
#define DIGITS (1 << radix_bits)
#define DIGIT(key) ((int)((key) >> shift) & (DIGITS - 1))
#define SHIFT(pass_offset, half_pass) (radix_bits * (2 * (half_pass) + (pass_offset)))

int share_of_group(const int n_keys) {
  const int tiles = (n_keys + TILE - 1) / TILE, n_groups = groups;
  return (tiles + n_groups - 1) / n_groups * TILE;
}

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void count_digits(INPUT(key_t) keys, __global uint *restrict counts,
                                                                           const int n_keys, const int half_pass,
                                                                           const int pass_offset) {
  __local uint found[DIGITS];
  const int shift = SHIFT(pass_offset, half_pass), item = get_local_id(0), group = get_group_id(0);
  const int share = share_of_group(n_keys), first = min(group * share, n_keys), end = min(first + share, n_keys);
  for (int d = item; d < DIGITS; d += wg) found[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = first + item; i < end; i += wg) atomic_inc(&found[DIGIT(keys[i])]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = item; d < DIGITS; d += wg) counts[d * groups + group] = found[d];
}

/* One work-group; a work-item's part are neighbours. */
__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void add_up(__global uint *counts) {
  __local uint sums[wg];
  const int item = get_local_id(0), each = (DIGITS * groups + wg - 1) / wg;
  const int first = min(item * each, DIGITS * groups), end = min(first + each, DIGITS * groups);
  uint sum = 0, before = 0;
  for (int i = first; i < end; i++) sum += counts[i];
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < item; i++) before += sums[i];
  for (int i = first; i < end; i++) {
    const uint count = counts[i];
    counts[i] = before;
    before += count;
  }
}

/* With `staged` a tile is brought into order in local memory, and neighbours write neighbours. */
__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void move_keys(INPUT(key_t) from, __global key_t *restrict to,
                                                                        INPUT(uint) counts, const int n_keys,
                                                                        const int half_pass, const int pass_offset) {
  __local key_t tile[TILE];
#if staged
  __local key_t ordered[TILE];
#endif
  __local ushort counters[DIGITS * wg], starts[DIGITS];
  __local uint totals[wg], bases[DIGITS];
  const int shift = SHIFT(pass_offset, half_pass), item = get_local_id(0), group = get_group_id(0);
  const int share = share_of_group(n_keys), first = min(group * share, n_keys), end = min(first + share, n_keys);
  for (int d = item; d < DIGITS; d += wg) bases[d] = counts[d * groups + group];
  for (int start = first; start < end; start += TILE) {
    const int length = min(TILE, end - start), own = max(0, min(items, length - item * items));
    for (int i = item; i < length; i += wg) tile[i] = from[start + i];
    for (int d = 0; d < DIGITS; d++) counters[d * wg + item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < own; i++) counters[DIGIT(tile[item * items + i]) * wg + item]++;
    scan_exclusive(counters, totals, DIGITS);
    /* What a digit's first work-item begins with is where the digit begins, in the tile. */
    for (int d = item; d < DIGITS; d += wg) starts[d] = counters[d * wg];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < own; i++) {
      const key_t key = tile[item * items + i];
      const int digit = DIGIT(key), rank = counters[digit * wg + item]++;
#if staged
      ordered[rank] = key;
#else
      to[bases[digit] + rank - starts[digit]] = key;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if staged
    for (int i = item; i < length; i += wg) {
      const int digit = DIGIT(ordered[i]);
      to[bases[digit] + i - starts[digit]] = ordered[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int d = item; d < DIGITS; d += wg) bases[d] += (d + 1 < DIGITS ? starts[d + 1] : length) - starts[d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
