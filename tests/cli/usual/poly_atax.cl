// In the manner of PolyBench: two kernels of one dimension and one of two, a type of their own.
typedef float DATA_TYPE;
__kernel void rows_times_x(__global DATA_TYPE *a, __global DATA_TYPE *x, __global DATA_TYPE *tmp, int nx, int ny) {
  int i = get_global_id(0);
  if (i < nx)
    for (int j = 0; j < ny; j++) tmp[i] += a[i * ny + j] * x[j];
}
__kernel void columns_times_tmp(__global DATA_TYPE *a, __global DATA_TYPE *y, __global DATA_TYPE *tmp, int nx, int ny) {
  int j = get_global_id(0);
  if (j < ny)
    for (int i = 0; i < nx; i++) y[j] += a[i * ny + j] * tmp[i];
}
__kernel void clear(__global DATA_TYPE *a, int nx, int ny) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i < nx && j < ny) a[i * ny + j] = CLEAR_VALUE;
}
