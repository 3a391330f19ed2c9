// In the manner of Rodinia: several kernels in a file, of one dimension and of two, and a type for all numbers.
#define fp float
#ifdef RD_WG_SIZE
#define NUMBER_THREADS RD_WG_SIZE
#else
#define NUMBER_THREADS 256
#endif
__kernel void extract(long d_Ne, __global fp *d_I) {
  int bx = get_group_id(0), tx = get_local_id(0), ei = bx * NUMBER_THREADS + tx;
  if (ei < d_Ne) d_I[ei] = exp(d_I[ei] / 255);
}
__kernel void prepare(long d_Ne, __global fp *d_I, __global fp *d_sums, __global fp *d_sums2) {
  int bx = get_group_id(0), tx = get_local_id(0), ei = bx * NUMBER_THREADS + tx;
  if (ei < d_Ne) {
    d_sums[ei] = d_I[ei];
    d_sums2[ei] = d_I[ei] * d_I[ei];
  }
}
__kernel void smooth(__global const fp *in, __global fp *out, int rows, int cols) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < cols && y < rows) out[y * cols + x] = in[y * cols + x] / EDGE_BLOCK_Y;
}
