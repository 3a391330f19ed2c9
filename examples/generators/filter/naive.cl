kernel void naive(global const float *in, global float *out) {
  const int i = get_global_id(0);
  out[i] = 0.0625f * in[i] + 0.25f * in[i + 1] + 0.375f * in[i + 2] + 0.25f * in[i + 3] + 0.0625f * in[i + 4];
}
