/* histogram.cl - how many of the items fall into each of the bins, which divide the range of 32 bits evenly. Work-groups
 * count `tiles` of wg * items. With DYNAMIC a work-group takes the next tile when it is done with one; else each has an even
 * share of neighbours. */
#define TILE (wg * items)
#define INPUT(type) __global const type *restrict

/* The tile that a work-group counts next. All of its work-items call it. */
int next_tile(__global int *queue, __local int *taken, const int tile) {
#ifdef DYNAMIC
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) *taken = atomic_inc(queue);
  barrier(CLK_LOCAL_MEM_FENCE);
  return *taken;
#else
  return tile + 1;
#endif
}

int first_tile(__global int *queue, __local int *taken, const int share) {
#ifdef DYNAMIC
  return next_tile(queue, taken, 0);
#else
  return (int)get_group_id(0) * share;
#endif
}

/* Those of even shares end with the share. */
int end_of_tiles(const int n_items, const int share) {
  const int all = (n_items + TILE - 1) / TILE;
#ifdef DYNAMIC
  return all;
#else
  return min(all, ((int)get_group_id(0) + 1) * share);
#endif
}

/* The share of a work-group, in tiles. */
int even_share(const int n_items) {
  const int all = (n_items + TILE - 1) / TILE;
  return (all + (int)get_num_groups(0) - 1) / (int)get_num_groups(0);
}

#ifndef radix_bits

/* Adds a tile's items to `counts`. With `combine` equal neighbours of a work-item are added at once. */
#define COUNT_TILE(place)                                                                 \
  for (int i = 0; i < items / vec; i++) {                                                 \
    const int from = tile * TILE + (i * wg + (int)get_local_id(0)) * vec;                 \
    for (int j = 0; j < vec; j++) {                                                       \
      if (from + j < n_items) {                                                           \
        const uint bin = mul_hi(data[from + j], n_bins);                                  \
        if (!combine) {                                                                   \
          atomic_inc(&counts[place(bin)]);                                                  \
        } else if (bin == current) {                                                      \
          count++;                                                                        \
        } else {                                                                          \
          if (count > 0) atomic_add(&counts[place(current)], count);                        \
          current = bin;                                                                  \
          count = 1;                                                                      \
        }                                                                                 \
      }                                                                                   \
    }                                                                                     \
  }

#define AS_IT_IS(bin) (bin)

/* With several copies a work-group adds to one of them. */
__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void count_globally(INPUT(uint) data, __global uint *all_counts,
                                                                             __global int *queue, const int n_items,
                                                                             const uint n_bins) {
  __local int taken;
  __global uint *counts = all_counts + (get_group_id(0) % copies) * n_bins;
  const int share = even_share(n_items), end = end_of_tiles(n_items, share);
  uint current = 0, count = 0;
  int tile = first_tile(queue, &taken, share);
  while (tile < end) {
    COUNT_TILE(AS_IT_IS)
    tile = next_tile(queue, &taken, tile);
  }
  if (combine && count > 0) atomic_add(&counts[current], count);
}

__kernel void add_copies(INPUT(uint) all_counts, __global uint *histogram, const uint n_bins) {
  const uint bin = get_global_id(0);
  uint sum = 0;
  if (bin < n_bins) {
    for (int i = 0; i < copies; i++) sum += all_counts[i * n_bins + bin];
    histogram[bin] = sum;
  }
}

#define IN_COPY(bin) ((bin) * copies + get_local_id(0) % copies)

/* Counts in local memory first, work-items by turns in one of the copies. */
__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void count_locally(INPUT(uint) data, __global uint *histogram,
                                                                            __global int *queue, const int n_items,
                                                                            const uint n_bins, __local uint *counts) {
  __local int taken;
  const int share = even_share(n_items), end = end_of_tiles(n_items, share);
  uint current = 0, count = 0;
  for (int i = get_local_id(0); i < n_bins * copies; i += wg) counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int tile = first_tile(queue, &taken, share);
  while (tile < end) {
    COUNT_TILE(IN_COPY)
    tile = next_tile(queue, &taken, tile);
  }
  if (combine && count > 0) atomic_add(&counts[IN_COPY(current)], count);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = get_local_id(0); bin < n_bins; bin += wg) {
    uint sum = 0;
    for (int i = 0; i < copies; i++) sum += counts[bin * copies + i];
    if (sum > 0) atomic_add(&histogram[bin], sum);
  }
}

#else

#define COUNTER ushort
#include "../scan.h"
#define DIGITS (1 << radix_bits)

/* Sorts a tile's bins in local memory, digit by digit, and adds a bin's last place + 1 and takes away its first: that is how
 * many there are, and unsigned sums may wrap in between. With local_sums they are added up in local memory first. */
__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void count_sorted(INPUT(uint) data, __global uint *histogram,
                                                                           __global int *queue, const int n_items,
                                                                           const uint n_bins, const int n_bits,
                                                                           __local uint *counts) {
  __local ushort sorted[2 * TILE], counters[DIGITS * wg];
  __local uint totals[wg];
  __local int taken;
  const int item = get_local_id(0), share = even_share(n_items), end = end_of_tiles(n_items, share);
#if local_sums
  for (int i = item; i < n_bins; i += wg) counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  int tile = first_tile(queue, &taken, share);
  while (tile < end) {
    const int length = min(n_items - tile * TILE, TILE);
    int from = 0; /* which half holds the bins: 0 or TILE */
    /* Places behind the last item get the largest key there is, and stay the last. */
    for (int i = item; i < TILE; i += wg) sorted[i] = i < length ? mul_hi(data[tile * TILE + i], n_bins) : 0xffff;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int shift = 0; shift < n_bits; shift += radix_bits) {
      for (int d = 0; d < DIGITS; d++) counters[d * wg + item] = 0;
      for (int i = 0; i < items; i++) counters[(sorted[from + item * items + i] >> shift) % DIGITS * wg + item]++;
      scan_exclusive(counters, totals, DIGITS);
      for (int i = 0; i < items; i++) {
        const ushort bin = sorted[from + item * items + i];
        sorted[TILE - from + counters[(bin >> shift) % DIGITS * wg + item]++] = bin;
      }
      from = TILE - from;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = item; i < length; i += wg) {
      const ushort bin = sorted[from + i];
#if local_sums
      if (i == 0 || sorted[from + i - 1] != bin) atomic_sub(&counts[bin], (uint)i);
      if (i + 1 == length || sorted[from + i + 1] != bin) atomic_add(&counts[bin], (uint)i + 1);
#else
      if (i == 0 || sorted[from + i - 1] != bin) atomic_sub(&histogram[bin], (uint)i);
      if (i + 1 == length || sorted[from + i + 1] != bin) atomic_add(&histogram[bin], (uint)i + 1);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    tile = next_tile(queue, &taken, tile);
  }
#if local_sums
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = item; bin < n_bins; bin += wg)
    if (counts[bin] != 0) atomic_add(&histogram[bin], counts[bin]);
#endif
}

#endif
