/* merge.cl - merge sort: tiles of wg * items keys are sorted in local memory; then sorted runs are merged in pairs, from one
 * buffer into the other, twice as long in each pass. A work-group of merge_runs writes merge_wg * merge_items keys: where
 * they begin in the two runs is searched for.
 *
 * With LOCALITY keys stay where they are while they are in their place. For each of those parts of merge_wg * merge_items
 * keys, `flags` say which of the buffers holds it, and a pass writes only parts that change, into the other buffer: as all
 * reads follow the flags of the pass before, nothing is written that is still read. */
#include "keys.h"

#define TILE (wg * items)
#define PART (merge_wg * merge_items)

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void sort_tiles(INPUT(key_t) keys, __global key_t *restrict sorted,
#ifdef LOCALITY
                                                                         __global int *restrict flags,
#endif
                                                                         const int n_keys) {
  __local key_t tile[TILE];
  const int item = get_local_id(0), first = get_group_id(0) * TILE, length = min(n_keys - first, TILE);
  key_t own[items];
  for (int i = item; i < TILE; i += wg) tile[i] = i < length ? keys[first + i] : LAST_KEY;
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef LOCALITY
  __local int unsorted;
  int wrong = 0;
  if (item == 0) unsorted = 0;
  for (int i = item; i < TILE - 1; i += wg) wrong |= tile[i] > tile[i + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wrong) atomic_or(&unsorted, 1);
  for (int i = first / PART + item; i * PART < first + length; i += wg) flags[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int done = !unsorted;
#else
  const int done = 0;
#endif
  if (!done) {
    for (int i = 0; i < items; i++) own[i] = tile[item * items + i];
    sort_own(own);
    for (int i = 0; i < items; i++) tile[item * items + i] = own[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sort_tile(tile, done);
  for (int i = item; i < length; i += wg) sorted[first + i] = tile[i];
}

#ifndef LOCALITY

#define FIRST(i) from[start + (i)]
#define SECOND(i) from[middle + (i)]
#define PLACED_FIRST(i) part[i]
#define PLACED_SECOND(i) part[n_first + (i)]

/* Runs are TILE << pass long. */
__kernel __attribute__((reqd_work_group_size(merge_wg, 1, 1))) void merge_runs(INPUT(key_t) from, __global key_t *restrict to,
                                                                               const int n_keys, const int half_pass,
                                                                               const int pass_offset) {
  const int run = TILE << (2 * half_pass + pass_offset), item = get_local_id(0), place = get_group_id(0) * PART;
  const int start = place / run / 2 * 2 * run, middle = min(start + run, n_keys), end = min(middle + run, n_keys);
  const int diagonal = place - start, length = min(PART, end - place);
  const int own_place = min(item * merge_items, length), own_length = min(merge_items, length - own_place);
  key_t own[merge_items];
  int own_first;
#if merge_local
  __local key_t part[PART];
  __local int splits[2];
  if (item < 2) {
    int split;
    SPLIT(split, diagonal + item * length, middle - start, end - middle, FIRST, SECOND);
    splits[item] = split;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int before = splits[0], n_first = splits[1] - splits[0], n_second = length - n_first;
  for (int i = item; i < length; i += merge_wg) part[i] = i < n_first ? FIRST(before + i) : SECOND(diagonal - before + i - n_first);
  barrier(CLK_LOCAL_MEM_FENCE);
  SPLIT(own_first, own_place, n_first, n_second, PLACED_FIRST, PLACED_SECOND);
  MERGE_OWN(own, own_length, own_first, n_first, own_place - own_first, n_second, PLACED_FIRST, PLACED_SECOND);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < own_length; i++) part[own_place + i] = own[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < length; i += merge_wg) to[place + i] = part[i];
#else
  SPLIT(own_first, diagonal + own_place, middle - start, end - middle, FIRST, SECOND);
  MERGE_OWN(own, own_length, own_first, middle - start, diagonal + own_place - own_first, end - middle, FIRST, SECOND);
  for (int i = 0; i < own_length; i++) to[place + own_place + i] = own[i];
#endif
}

#else

#define AT(place) (flags[(place) / PART] ? other[place] : sorted[place])
#define FIRST(i) AT(start + (i))
#define SECOND(i) AT(middle + (i))
#define PLACED_FIRST(i) part[i]
#define PLACED_SECOND(i) part[n_first + (i)]

__kernel __attribute__((reqd_work_group_size(merge_wg, 1, 1))) void merge_where_needed(__global key_t *sorted,
                                                                                       __global key_t *other,
                                                                                       INPUT(int) flags,
                                                                                       __global int *restrict new_flags,
                                                                                       const int n_keys, const int half_pass,
                                                                                       const int pass_offset) {
  __local key_t part[PART];
  __local int splits[2];
  const int run = TILE << (2 * half_pass + pass_offset), item = get_local_id(0), place = get_group_id(0) * PART;
  const int start = place / run / 2 * 2 * run, middle = min(start + run, n_keys), end = min(middle + run, n_keys);
  const int diagonal = place - start, length = min(PART, end - place), flag = flags[get_group_id(0)];
  if (item < 2) {
    int split;
    if (middle == end || FIRST(run - 1) <= SECOND(0))
      split = min(diagonal + item * length, middle - start);
    else
      SPLIT(split, diagonal + item * length, middle - start, end - middle, FIRST, SECOND);
    splits[item] = split;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int before = splits[0], n_first = splits[1] - before, n_second = length - n_first;
  /* All of it from the first run, from just here, or from the second when the first is used up: nothing changes. */
  const bool moves = !((n_second == 0 && before == diagonal) || (n_first == 0 && before == middle - start));
  __global key_t *to = flag ? sorted : other;
  key_t own[merge_items];
  for (int i = moves ? item : length; i < length; i += merge_wg)
    part[i] = i < n_first ? FIRST(before + i) : SECOND(diagonal - before + i - n_first);
  if (item == 0) new_flags[get_group_id(0)] = moves ? !flag : flag;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int own_place = min(item * merge_items, length), own_length = moves ? min(merge_items, length - own_place) : 0;
  if (moves) {
    int own_first;
    SPLIT(own_first, own_place, n_first, n_second, PLACED_FIRST, PLACED_SECOND);
    MERGE_OWN(own, own_length, own_first, n_first, own_place - own_first, n_second, PLACED_FIRST, PLACED_SECOND);
  }
#if merge_local
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < own_length; i++) part[own_place + i] = own[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = moves ? item : length; i < length; i += merge_wg) to[place + i] = part[i];
#else
  for (int i = 0; i < own_length; i++) to[place + own_place + i] = own[i];
#endif
}

/* What is in the other buffer at the end. */
__kernel __attribute__((reqd_work_group_size(merge_wg, 1, 1))) void bring_home(__global key_t *restrict sorted, INPUT(key_t) other,
                                                                               INPUT(int) flags, const int n_keys) {
  const int place = get_group_id(0) * PART, length = flags[get_group_id(0)] ? min(PART, n_keys - place) : 0;
  for (int i = get_local_id(0); i < length; i += merge_wg) sorted[place + i] = other[place + i];
}

#endif
