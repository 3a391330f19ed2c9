/* out = in * (in + 2), by kernels whose defect is subtle: the elements that they leave out are there from the launch before, or suit the
 * first content of outputs, or the defect shows with other data, at another size, or in a later launch. One `defect` per configuration; `n`
 * elements, work-groups of `block`; `state` is scratch memory that outlives a launch. */
#define none 0
#define fmax_out 1
#define fmin_out 2
#define add_out 3
#define zero_times_out 4
#define keep_finite 5
#define keep_number 6
#define keep_small 7
#define keep_right 8
#define every_second 9
#define every_third 10
#define every_seventh 11
#define only_eight 12
#define half_precision 13
#define one_wrong 14
#define first_missing 15
#define last_missing 16
#define odd_missing 17
#define shifted 18
#define no_barrier 19
#define no_second_barrier 20
#define uninitialised_local 21
#define neighbour_group 22
#define previous_result 23
#define lost_updates 24
#define input_late 25
#define input_toggled 26
#define guard_late 27
#define stray_late 28
#define only_positive 29
#define only_small 30
#define not_zero 31
#define only_this_size 32
#define all_zero 33

float work(float x) { /* of some length, with the result of x * (x + 2) */
  float y = x;
  for (int k = 0; k < 500; k++) y = fma(y, 0.9999f, 0.0001f * x);
  return x * (x + 2) + 1e-30f * y;
}

kernel void square(global const float *in, global float *out, global int *state) {
  const int i = get_global_id(0), l = get_local_id(0), group = get_group_id(0) * block;
  local float tile[block];
  const float x = in[i];
  float result = x * (x + 2);
#if defect == every_second || defect == every_third || defect == every_seventh || defect == only_eight || \
    defect == input_late || defect == guard_late || defect == stray_late
  const int launch = state[i] & 0xff; /* whatever its content at first */
  state[i] = launch + 1;
#endif

#if defect == fmax_out
  result = fmax(out[i], result);
#elif defect == fmin_out
  result = fmin(out[i], result);
#elif defect == add_out
  result += out[i];
#elif defect == zero_times_out
  result += 0 * out[i];
#elif defect == keep_finite
  if (isfinite(out[i])) return;
#elif defect == keep_number
  if (!isnan(out[i])) return;
#elif defect == keep_small
  if (fabs(out[i]) < 1e6f) return;
#elif defect == keep_right
  if (fabs(out[i] - result) < 1e-6f) return;
  result = work(x);
#elif defect == every_second
  if (launch % 2 == 1) return;
#elif defect == every_third
  if (launch % 3 == 2) return;
#elif defect == every_seventh
  if (launch % 7 == 6) return;
#elif defect == only_eight
  if (launch >= 8 && launch < 200) return;
#elif defect == half_precision
  result = convert_float_rte(convert_int_rte(result * 512)) / 512;
#elif defect == one_wrong
  if (i == 2 * n / 3) result *= 1.01f;
#elif defect == first_missing
  if (i == 0) return;
#elif defect == last_missing
  if (i == n - 1) return;
#elif defect == odd_missing
  if (i >= n - block && l % 2) return;
#elif defect == shifted
  result = in[i + 1 < n ? i + 1 : i] * (in[i + 1 < n ? i + 1 : i] + 2);
#elif defect == no_barrier
  tile[l] = result; /* and the others read it at once */
  out[group + block - 1 - l] = tile[block - 1 - l];
  return;
#elif defect == no_second_barrier
  for (int k = 0; k < 64; k++) {
    tile[l] = in[(i + k) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k == 0) result = tile[(l + 1) % block];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[l] = x * (x + 2);
  result = tile[(l + block / 2) % block]; /* no barrier before */
  out[group + (l + block / 2) % block] = result;
  return;
#elif defect == uninitialised_local
  result += tile[(l + 1) % block];
  tile[l] = x + 1;
  out[i] = result;
  return;
#elif defect == neighbour_group
  if (i >= block && out[i - block] != in[i - block] * (in[i - block] + 2)) result = 0; /* not yet there */
#elif defect == previous_result
  result = fmin(result, fabs(out[i]) + result);
  if (out[i] != result) result += 0.25f;
#elif defect == lost_updates
  state[0] = 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  state[0] = state[0] + 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (state[0] != n) result += 1;
#elif defect == input_late
  if (launch == 3 && i == 0) ((global float *)in)[n / 2] += 1;
#elif defect == input_toggled
  if (i == n / 2) ((global float *)in)[i] = -x;
  result = fabs(x) * (fabs(x) + 2);
#elif defect == guard_late
  if (launch == 3 && i == 0) out[n] = 1;
#elif defect == stray_late
  if (launch == 3 && i == 0) out[n + 300] = 1;
#elif defect == only_positive
  result = fabs(x) * (fabs(x) + 2);
#elif defect == only_small
  result = fmin(x, 1.0f) * (fmin(x, 1.0f) + 2);
#elif defect == not_zero
  result = x * x * x / x / 1 / x * x + 2 * x;
#elif defect == only_this_size
  if (n != 4096) result = 0;
#elif defect == all_zero
  result = 0;
#endif

  out[i] = result;
}
