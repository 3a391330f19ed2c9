__kernel void naive(__global const float *in, __global float *out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  out[x * height + y] = in[y * width + x];
}
