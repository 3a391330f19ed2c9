/* scan.h - sums of what precedes, over arrays in local memory. */
#define SECTIONS (wg < 16 ? wg : 16)

/* Replaces each of wg * EACH counters by the sum of those before it, and returns the sum of all. `totals` has wg elements.
 * All work-items call it; what they wrote before is seen, and what it writes is seen after it. There is no loop around a
 * barrier. */
uint scan_exclusive(__local COUNTER *counters, __local uint *totals, const int each) {
  const int item = get_local_id(0), length = wg / SECTIONS;
  uint sum = 0, before = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < each; i++) sum += counters[item * each + i];
  totals[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < SECTIONS)
    for (int i = 1; i < length; i++) totals[item * length + i] += totals[item * length + i - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s <= item / length; s++) before += totals[s * length - 1];
  sum = before + totals[item] - sum;
  for (int i = 0; i < each; i++) {
    const uint count = counters[item * each + i];
    counters[item * each + i] = (COUNTER)sum;
    sum += count;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s <= SECTIONS; s++) before = s == 1 ? totals[length - 1] : before + totals[s * length - 1];
  return before;
}
