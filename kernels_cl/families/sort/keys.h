/* keys.h - keys of 32 or 64 bits, and what work-groups do with a tile of them in local memory. */
#if WIDE
typedef ulong key_t;
#define LAST_KEY ULONG_MAX
#else
typedef uint key_t;
#define LAST_KEY UINT_MAX
#endif

#define INPUT(type) __global const type *restrict

/* How many of the first `diagonal` keys of the two rows, when merged, come from the first. */
#define SPLIT(low, diagonal, n_first, n_second, FIRST, SECOND)             \
  do {                                                                     \
    int high_ = min((int)(diagonal), (int)(n_first));                      \
    low = max(0, (int)(diagonal) - (int)(n_second));                       \
    while (low < high_) {                                                  \
      const int middle_ = (low + high_) / 2;                               \
      if (FIRST(middle_) <= SECOND((int)(diagonal) - 1 - middle_))         \
        low = middle_ + 1;                                                 \
      else                                                                 \
        high_ = middle_;                                                   \
    }                                                                      \
  } while (0)

/* Sorts the keys of a work-item. `network`: each pair of neighbours is compared, even and odd ones by turns; else each key is
 * put in its place among those before it. */
void sort_own(key_t *keys) {
#if network
#pragma unroll
  for (int round = 0; round < items; round++)
#pragma unroll
    for (int i = round % 2; i + 1 < items; i += 2) {
      const key_t low = min(keys[i], keys[i + 1]);
      keys[i + 1] = max(keys[i], keys[i + 1]);
      keys[i] = low;
    }
#else
  for (int i = 1; i < items; i++) {
    const key_t key = keys[i];
    int at = i;
    for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
    keys[at] = key;
  }
#endif
}

/* Merges what a work-item is to write: `count` keys from the place `first` in one row and `second` in the other. */
#define MERGE_OWN(out, count, first, end_first, second, end_second, FIRST, SECOND)          \
  do {                                                                                      \
    int a_ = first, b_ = second;                                                            \
    for (int i_ = 0; i_ < (count); i_++) {                                                  \
      const bool is_first = b_ >= (end_second) || (a_ < (end_first) && FIRST(a_) <= SECOND(b_)); \
      out[i_] = is_first ? FIRST(a_) : SECOND(b_);                                          \
      a_ += is_first;                                                                       \
      b_ += !is_first;                                                                      \
    }                                                                                       \
  } while (0)

/* A tile of wg * items keys in local memory, in which each work-item's are sorted, is sorted by merging neighbours. All
 * work-items call it; what it leaves is seen by all. With `done` nothing is left to do. */
void sort_tile(__local key_t *tile, const int done) {
#define FIRST(i) tile[start + (i)]
#define SECOND(i) tile[start + width + (i)]
  const int place = get_local_id(0) * items;
  for (int width = done ? wg * items : items; width < wg * items; width *= 2) {
    const int start = place / (2 * width) * (2 * width), diagonal = place - start;
    key_t own[items];
    int first;
    SPLIT(first, diagonal, width, width, FIRST, SECOND);
    MERGE_OWN(own, items, first, width, diagonal - first, width, FIRST, SECOND);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < items; i++) tile[place + i] = own[i];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#undef FIRST
#undef SECOND
}
