#define AT(x) in[y * width + clamp(x, 0, width - 1)]

kernel void row(global const float *in, global float *out, local float *tile) {
  const int first = get_group_id(0) * wg * ppt, y = get_global_id(1);
#if use_local
  for (int i = get_local_id(0); i < wg * ppt + 2; i += wg) tile[i] = AT(first + i - 1);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (int i = get_local_id(0); i < wg * ppt && first + i < width; i += wg) {
    const int x = first + i;
#if use_local
    out[y * width + x] = (tile[i] + tile[i + 1] + tile[i + 2]) / 3;
#else
    out[y * width + x] = (AT(x - 1) + AT(x) + AT(x + 1)) / 3;
#endif
  }
}

kernel void naive(global const float *in, global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  out[y * width + x] = (AT(x - 1) + AT(x) + AT(x + 1)) / 3;
}
