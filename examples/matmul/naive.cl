/* The reference: one work-item a result. */
__kernel void naive(__global const float *a, __global const float *b, __global float *c) {
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
