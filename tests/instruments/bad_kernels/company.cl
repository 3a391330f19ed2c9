/* One of 24 configurations damages the heap of the process that it runs in; it is the fastest, and its result is correct. */
kernel void twice(global const float *in, global float *out) {
  const int i = get_global_id(0);
  float result = 2 * in[i];
#if a == 3 && b == 1
  /* Far behind the guard bands, in steps, so that blocks of others and the allocator's data between them are hit. */
  if (i < reach) ((global volatile int *)out)[n + behind + i] = 0x41414141;
#else
  for (int k = 0; k < 200 + 20 * abs(a - 4) + 30 * abs(b - 2); k++) result = fma(result, 1.0000001f, 1e-30f);
  result = 2 * in[i] + 1e-30f * result;
#endif
  out[i] = result;
}
