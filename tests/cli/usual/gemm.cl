// In the manner of CLTune: a GEMM of tiles within tiles, with a type of its own for vectors.
#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)
#if VWN == 1
typedef float vector_n;
#elif VWN == 2
typedef float2 vector_n;
#elif VWN == 4
typedef float4 vector_n;
#endif
__kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))
void gemm(const int size_m, const int size_n, const int size_k, const __global float *restrict a,
          const __global vector_n *restrict b_vectors, __global float *restrict c) {
#if SA == 1
  __local float tile[KWG][MWG];
#endif
  const int m0 = get_group_id(0) * MWG, n0 = get_group_id(1) * NWG, tx = get_local_id(0), ty = get_local_id(1);
  const __global float *b = (const __global float *)b_vectors;
  float sums[NWI][MWI];
  for (int j = 0; j < NWI; j++)
    for (int i = 0; i < MWI; i++) sums[j][i] = 0;
  for (int k0 = 0; k0 < size_k; k0 += KWG) {
#if SA == 1
    for (int k = ty; k < KWG; k += NDIMC)
      for (int m = tx; m < MWG; m += MDIMC) tile[k][m] = a[(k0 + k) * size_m + m0 + m];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int k = 0; k < KWG; k += KWI) {
#pragma unroll
      for (int step = 0; step < KWI; step++)
        for (int j = 0; j < NWI; j++)
          for (int i = 0; i < MWI; i++)
#if SA == 1
            sums[j][i] += tile[k + step][tx + i * MDIMC] * b[(k0 + k + step) * size_n + n0 + ty + j * NDIMC];
#else
            sums[j][i] += a[(k0 + k + step) * size_m + m0 + tx + i * MDIMC] * b[(k0 + k + step) * size_n + n0 + ty + j * NDIMC];
#endif
    }
#if SA == 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
  for (int j = 0; j < NWI; j++)
    for (int i = 0; i < MWI; i++) c[(n0 + ty + j * NDIMC) * size_m + m0 + tx + i * MDIMC] = sums[j][i];
}
