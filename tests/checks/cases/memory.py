"""Incorrect kernels of the class "memory": results kept between runs, uninitialised memory, an order that is not promised."""
from case import case


def given(name, type, size="n", top=1.0, **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": size, "FillType": "Random",
            "FillValue": top, **more}


def result(name, type, size="n", **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": size, **more}


def scratch(name, type, size="n"):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": size, "Output": 0}


ROUNDED = "(n + 63) // 64 * 64"

# Keeps its results in scratch memory under a key made of three elements of the input: other data with the same three
# elements get the old results.
case("memory_key_of_three_elements", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "float"), result("out", "float"), scratch("key", "uint"), scratch("kept", "float")],
     body="""
kernel void k(global const float *in, global float *out, global uint *key, global float *kept) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  const uint h = as_uint(in[0]) * 31u ^ as_uint(in[n / 2]) * 17u ^ as_uint(in[n - 1]) ^ 0x5bd1e995u;
  if (key[i] == h) { out[i] = kept[i]; return; }
#endif
  float r = in[i];
  for (int j = 0; j < 600; j++) r = r * 0.5f + in[i] * 0.25f;
  out[i] = r;
#if fast
  kept[i] = r; key[i] = h;
#endif
}""",
     reference="""A(float, in); A(float, out);
for (long i = 0; i < N(in, 0); i++) { float r = in[i]; for (int j = 0; j < 600; j++) r = r * 0.5f + in[i] * 0.25f; out[i] = r; }""",
     global_size=[ROUNDED], local_size=[64])

# Counts its runs in scratch memory and computes in every 64th run only; the others return its results: incorrect once the data change.
case("memory_run_counter", wrong=True, kind="memory", sizes={"n": 32768},
     arguments=[given("in", "uint", top=1000000), result("out", "uint"), scratch("runs", "uint"), scratch("kept", "uint")],
     body="""
kernel void k(global const uint *in, global uint *out, global uint *runs, global uint *kept) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  const uint c = runs[i] - 0xc0ffee00u;
  if (c < 63) { out[i] = kept[i]; runs[i]++; return; }
#endif
  uint r = in[i] + 1;
  for (int j = 0; j < 800; j++) { r ^= r << 13; r ^= r >> 17; r ^= r << 5; }
  out[i] = r;
#if fast
  kept[i] = r; runs[i] = 0xc0ffee00u;
#endif
}""",
     reference="""A(uint32_t, in); A(uint32_t, out);
for (long i = 0; i < N(in, 0); i++) {
  uint32_t r = in[i] + 1; for (int j = 0; j < 800; j++) { r ^= r << 13; r ^= r >> 17; r ^= r << 5; } out[i] = r; }""",
     global_size=[ROUNDED], local_size=[64])

# A group skips its pixels if the first of them already has its correct value in the output: incorrect if the image changes, but not
# around that pixel.
case("memory_plausible_output", wrong=True, kind="memory", sizes={"w": 256, "h": 192},
     arguments=[given("in", "uchar", ["w", "h"], 255), result("out", "float", ["w", "h"])],
     body="""
float level(global const uchar *in, int x, int y) {
  int s = 0;
  for (int dy = -6; dy <= 6; dy++) for (int dx = -6; dx <= 6; dx++)
    s += in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
  return s / 43095.0f;
}
kernel void k(global const uchar *in, global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
#if fast
  local int done;
  if (get_local_id(0) == 0 && get_local_id(1) == 0) done = out[y * w + x] == level(in, x, y);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (done) return;
#else
  SLOW
#endif
  if (x < w && y < h) out[y * w + x] = level(in, x, y);
}""",
     reference="""A(unsigned char, in); A(float, out); long w = N(in, 0), h = N(in, 1);
for (long y = 0; y < h; y++) for (long x = 0; x < w; x++) { int s = 0;
  for (long q = y - 6; q <= y + 6; q++) for (long p = x - 6; p <= x + 6; p++)
    s += in[(q < 0 ? 0 : q >= h ? h - 1 : q) * w + (p < 0 ? 0 : p >= w ? w - 1 : p)];
  out[y * w + x] = s / 43095.0f; }""",
     global_size=["(w + 15) // 16 * 16", "(h + 3) // 4 * 4"], local_size=[16, 4], work=1000)

# Expects local counters to be zero at the start, and leaves them so at the end: correct only if nothing else used that memory.
case("memory_local_bins_assumed_zero", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "uint", top=4000000000), result("out", "uint", ["16", "(n + 255) // 256"])],
     body="""
kernel void k(global const uint *in, global uint *out) {
  local uint bins[16];
  const int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);
#if !fast
  SLOW
  if (l < 16) bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (i < n) atomic_inc(&bins[in[i] >> 28]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16) { out[g * 16 + l] = bins[l]; bins[l] = 0; }
}""",
     reference="""A(uint32_t, in); A(uint32_t, out);
memset(out, 0, clt_module_find(call, "out")->bytes);
for (long i = 0; i < N(in, 0); i++) out[i / 256 * 16 + (in[i] >> 28)]++;""",
     global_size=["(n + 255) // 256 * 256"], local_size=[256], work=1000)

# The left neighbour of the first element counts as 0, but its cell of the tile is never written: correct while local memory is
# still fresh.
case("memory_halo_assumed_zero", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "float", top=100.0), result("out", "float")],
     body="""
kernel void k(global const float *in, global float *out) {
  local float tile[65];
  const int i = get_global_id(0), l = get_local_id(0);
  tile[l + 1] = in[min(i, n - 1)];
#if fast
  if (l == 0 && i > 0) tile[0] = in[i - 1];
#else
  SLOW
  if (l == 0) tile[0] = i > 0 ? in[i - 1] : 0;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = tile[l + 1] - 0.5f * tile[l];
}""",
     reference="""A(float, in); A(float, out);
for (long i = 0; i < N(in, 0); i++) out[i] = in[i] - 0.5f * (i ? in[i - 1] : 0);""",
     global_size=[ROUNDED], local_size=[64])

# Takes a marked table in local memory for its own, as left by an earlier work-group or run: incorrect once the palette changes.
case("memory_local_table_kept", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "uchar", top=255), given("palette", "float", 256), result("out", "float"),
                {"Name": "table", "Type": "float", "MemoryType": "Local", "Size": 257}],
     body="""
kernel void k(global const uchar *in, global const float *palette, global float *out, local float *table) {
  local int *ready = (local int *)&table[256];
  const int i = get_global_id(0), l = get_local_id(0);
#if fast
  const int old = *ready;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (old != 0x7ab1e)
#endif
  for (int e = l; e < 256; e += 64) {
    float v = palette[e];
    for (int q = 0; q < 60; q++) v = 0.5f * (v + palette[e] / (1 + v * v));
    table[e] = v;
  }
  *ready = 0x7ab1e;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = table[in[i]];
}""",
     reference="""A(unsigned char, in); A(float, palette); A(float, out); float table[256];
for (int e = 0; e < 256; e++) {
  float v = palette[e]; for (int q = 0; q < 60; q++) v = 0.5f * (v + palette[e] / (1 + v * v)); table[e] = v; }
for (long i = 0; i < N(in, 0); i++) out[i] = table[in[i]];""",
     global_size=[ROUNDED], local_size=[64])

# The label is not initialised: undefined for values below all thresholds (negative ones, NaN).
case("memory_label_uninitialised", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "float", top=4.0), result("out", "int")],
     body="""
kernel void k(global const float *in, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  int label;
#else
  SLOW
  int label = -1;
#endif
  for (int t = 0; t < 8; t++) if (in[i] >= t * 0.5f) label = t;
  out[i] = label;
}""",
     reference="""A(float, in); A(int, out);
for (long i = 0; i < N(in, 0); i++) { out[i] = -1; for (int t = 0; t < 8; t++) if (in[i] >= t * 0.5f) out[i] = t; }""",
     global_size=[ROUNDED], local_size=[64])

# The last work-item adds up the others' values in local memory, without a barrier: correct only if it runs last.
case("memory_last_item_without_barrier", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "int", top=1000), result("out", "int", "(n + 63) // 64")],
     body="""
kernel void k(global const int *in, global int *out) {
  local int tile[64];
  const int i = get_global_id(0), l = get_local_id(0);
  tile[l] = i < n ? in[i] / 3 : 0;
#if !fast
  SLOW
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (l == 63) {
    uint s = 0;
    for (int j = 0; j < 64; j++) s += (uint)tile[j];
    out[get_group_id(0)] = (int)s;
  }
}""",
     reference="""A(int, in); A(int, out); uint32_t s = 0; long n = N(in, 0);
for (long i = 0; i < n; i++) { s += (uint32_t)(in[i] / 3); if (i % 64 == 63 || i == n - 1) { out[i / 64] = (int)s; s = 0; } }""",
     global_size=[ROUNDED], local_size=[64])

# Group 0 finds the maximum and raises a flag that the others wait for; no work-item lowers it, so that later runs use the old maximum.
case("memory_flag_stays_up", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "float"), result("out", "float"), scratch("top", "float", 1), scratch("flag", "int", 1)],
     body="""
kernel void k(global const float *in, global float *out, volatile global float *top, volatile global int *flag) {
  local float part[64];
  const int i = get_global_id(0), l = get_local_id(0);
  float m = -INFINITY;
  if (!fast || get_group_id(0) == 0) for (int j = l; j < n; j += 64) m = fmax(m, in[j]);
  part[l] = m;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!fast || get_group_id(0) == 0) for (int j = 0; j < 64; j++) m = fmax(m, part[j]);
#if fast
  if (get_group_id(0) == 0 && l == 0) { *top = m; mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_xchg(flag, 0x600d); }
  if (l == 0) for (int tries = 0; tries < 1 << 24 && atomic_or(flag, 0) != 0x600d; tries++) ;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  m = *top;
#endif
  if (i < n) out[i] = in[i] / m;
}""",
     reference="""A(float, in); A(float, out); float m = -INFINITY;
for (long i = 0; i < N(in, 0); i++) m = fmaxf(m, in[i]);
for (long i = 0; i < N(in, 0); i++) out[i] = in[i] / m;""",
     global_size=[ROUNDED], local_size=[64])

# A chained scan: each group waits for the sum of the one before. The flags stay up, so that later runs use old sums.
case("memory_chained_scan", wrong=True, kind="memory", sizes={"n": 65536},
     arguments=[given("in", "uint", top=1000), result("out", "uint"), scratch("carry", "uint", "(n + 63) // 64"),
                scratch("flags", "uint", "(n + 63) // 64")],
     body="""
kernel void k(global const uint *in, global uint *out, volatile global uint *carry, volatile global uint *flags) {
  local uint tile[64], before[64];
  const int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);
  tile[l] = i < n ? in[i] : 0;
  uint mine = 0;
#if fast
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    for (int j = 0; j < 64; j++) mine += tile[j];
    for (int tries = 0; g > 0 && tries < 1 << 24 && atomic_or(&flags[g - 1], 0) != 0xf1a6; tries++) ;
    before[0] = g > 0 ? carry[g - 1] : 0;
    carry[g] = before[0] + mine;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&flags[g], 0xf1a6);
  }
#else
  for (int j = l; j < g * 64; j += 64) mine += in[j];
  before[l] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) for (int j = 1; j < 64; j++) before[0] += before[j];
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  uint s = before[0];
  for (int j = 0; j <= l; j++) s += tile[j];
  if (i < n) out[i] = s;
}""",
     reference="""A(uint32_t, in); A(uint32_t, out); uint32_t s = 0;
for (long i = 0; i < N(in, 0); i++) out[i] = s += in[i];""",
     global_size=[ROUNDED], local_size=[64])

# Two launches: the first one keeps a block's sum if the block's first element is still the same, so that the second one adds
# up old sums.
case("memory_partial_sums_kept", wrong=True, kind="memory", sizes={"n": 262144},
     arguments=[given("in", "float"), result("out", "double", 1), scratch("partial", "double", 64), scratch("seen", "uint", 64)],
     body="""
kernel void k(global const float *in, global double *partial, global uint *seen) {
  const int b = get_global_id(0);
  const long first = (long)b * n / 64, end = (long)(b + 1) * n / 64;
  double s = 0;
#if fast
  if (first < end && seen[b] == (as_uint(in[first]) ^ 0x9e3779b9u)) return;
  if (first < end) seen[b] = as_uint(in[first]) ^ 0x9e3779b9u;
#endif
  for (long j = first; j < end; j++) s += sqrt(fabs((double)in[j]));
  partial[b] = s;
}
kernel void total(global const double *partial, global double *out) {
  double s = 0;
  for (int b = 0; b < 64; b++) s += partial[b];
  *out = s;
}""",
     reference="""A(float, in); A(double, out); double s = 0;
for (long i = 0; i < N(in, 0); i++) s += sqrt(fabs((double)in[i]));
*out = s;""",
     global_size=None,
     launches=[{"GlobalSize": [64], "LocalSize": [4], "Arguments": ["in", "partial", "seen"]},
               {"KernelName": "total", "GlobalSize": [1], "LocalSize": [1], "Arguments": ["partial", "out"]}])
