/* Four outputs of whole numbers, each by a kernel that depends on the earlier content, or writes a part of a number only. One
 * `defect` per configuration; `n` elements, work-groups of `block`. */
#define none 0
#define max_signed 1
#define min_signed 2
#define max_unsigned 3
#define min_unsigned 4
#define or_out 5
#define and_out 6
#define add_out 7
#define xor_out 8
#define upper_half 9
#define lower_half 10
#define keep_top_bit 11
#define keep_low_bits 12
#define max_bytes 13
#define min_bytes 14
#define max_long 15
#define min_long 16
#define keep_right 17
#define keep_not_zero 18
#define only_larger 19
#define only_smaller 20
#define absolute_difference 21

int work(int x) { /* of some length, with the result of x */
  int y = x;
  for (int k = 0; k < 2000; k++) y = y * 1664525 + x;
  return x + ((x ^ y) & 1); /* after an even number of rounds they are both even or both odd */
}

kernel void count(global const int *in, global int *ints, global uint *uints, global uchar *bytes, global long *longs) {
  const int i = get_global_id(0);
  int x = in[i] - 500;             /* of either sign */
  const uint u = (uint)in[i] * 3u; /* small, as counts are */
  const uchar b = (uchar)(in[i] % 200 + 20);
  const long w = (long)x * 1000003;

#if defect == keep_right
  if (ints[i] == x && uints[i] == u && bytes[i] == b && longs[i] == w) return;
  x = work(x);
#elif defect == keep_not_zero
  if (uints[i] != 0 && uints[i] < 4000u) return;
#endif
  ints[i] =
#if defect == max_signed
      max(ints[i], x);
#elif defect == min_signed
      min(ints[i], x);
#elif defect == xor_out
      ints[i] ^ x;
#elif defect == keep_top_bit
      (ints[i] & (int)0x80000000) | (x & 0x7fffffff);
#elif defect == keep_low_bits
      (ints[i] & 0xff) | (x & ~0xff);
#elif defect == only_larger
      x > ints[i] ? x : ints[i];
#elif defect == only_smaller
      x < ints[i] ? x : ints[i];
#elif defect == absolute_difference
      (int)abs_diff(ints[i], 0) == abs(x) ? x : x + 1;
#else
      x;
#endif
  uints[i] =
#if defect == max_unsigned
      max(uints[i], u);
#elif defect == min_unsigned
      min(uints[i], u);
#elif defect == or_out
      uints[i] | u;
#elif defect == and_out
      uints[i] & u;
#elif defect == add_out
      uints[i] + u;
#else
      u;
#endif
#if defect == max_bytes
  bytes[i] = max(bytes[i], b);
#elif defect == min_bytes
  bytes[i] = min(bytes[i], b);
#else
  bytes[i] = b;
#endif
#if defect == max_long
  longs[i] = max(longs[i], w);
#elif defect == min_long
  longs[i] = min(longs[i], w);
#elif defect == upper_half
  ((global int *)longs)[2 * i + 1] = (int)(w >> 32);
#elif defect == lower_half
  ((global int *)longs)[2 * i] = (int)w;
#else
  longs[i] = w;
#endif
}
