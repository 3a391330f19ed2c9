// In the manner of KTT: vectors whose width is tuned, a memory space and an unroll factor by macros.
#if USE_CONSTANT_MEMORY == 1
#define ATOMS __constant
#else
#define ATOMS __global const
#endif
#if VECTOR_SIZE == 1
typedef float vector;
#define LANES 0
#elif VECTOR_SIZE == 2
typedef float2 vector;
#define LANES ((float2)(0, 1))
#elif VECTOR_SIZE == 4
typedef float4 vector;
#define LANES ((float4)(0, 1, 2, 3))
#endif
__attribute__((reqd_work_group_size(WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y, 1)))
__kernel void potential(ATOMS float4 *atoms, const float spacing, const int atom_count, __global vector *energies) {
  const int x = get_global_id(0), y = get_global_id(1);
  vector sum = 0;
#if INNER_UNROLL_FACTOR > 1
#pragma unroll INNER_UNROLL_FACTOR
#endif
  for (int i = 0; i < atom_count; i++) {
    float dy = y * spacing - atoms[i].y, z2 = atoms[i].z * atoms[i].z;
    vector dx = (x * VECTOR_SIZE + LANES) * spacing - atoms[i].x;
    sum += atoms[i].w * rsqrt(dx * dx + dy * dy + z2 + 1);
  }
  energies[y * get_global_size(0) + x] = sum;
}
