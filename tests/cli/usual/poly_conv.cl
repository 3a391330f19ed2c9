// In the manner of PolyBench: sizes and type are the build's.
__kernel void conv(__global const DATA_TYPE *A, __global DATA_TYPE *B) {
  int j = get_global_id(0), i = get_global_id(1);
  DATA_TYPE c0 = (DATA_TYPE)0.25, c1 = (DATA_TYPE)0.5;
  if (i < NI - 1 && j < NJ - 1 && i > 0 && j > 0)
    B[i * NJ + j] = c0 * (A[(i - 1) * NJ + j] + A[(i + 1) * NJ + j]) + c1 * (A[i * NJ + j - 1] + A[i * NJ + j + 1]);
}
