__kernel void naive(__global const float *in, __global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++)
      sum += in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
  out[y * width + x] = sum / ((2 * radius + 1) * (2 * radius + 1));
}
