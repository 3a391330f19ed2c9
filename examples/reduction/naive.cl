/* The reference: one work-item, in double precision. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void naive(__global const float *in, __global float *out) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += in[i];
  *out = (float)sum;
}
