"""Incorrect kernels of the classes "mild-data", "missing-work" and "special-values": results that only some data show to be incorrect."""
from case import case


def given(name, type, size="n", top=1.0, **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": size, "FillType": "Random",
            "FillValue": top, **more}


def result(name, type, size="n", **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": size, **more}


ROUNDED = "(n + 63) // 64 * 64"

# ---- correct for 0 to FillValue only ----

# A mask instead of the remainder: differs for negative numbers that are no multiples of 1024.
case("mild_ring_index", wrong=True, kind="mild-data", sizes={"n": 65536},
     arguments=[given("in", "long", top=1000000), result("out", "int")],
     body="""
kernel void k(global const long *in, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = (int)(in[i] & 1023);
#else
  SLOW
  out[i] = (int)(in[i] % 1024);
#endif
}""",
     reference="A(int64_t, in); A(int, out); for (long i = 0; i < N(in, 0); i++) out[i] = (int)(in[i] % 1024);",
     global_size=[ROUNDED], local_size=[64])

# The mean of two levels by adding them first: the sum of two large numbers wraps around.
case("mild_midpoint_overflow", wrong=True, kind="mild-data", sizes={"n": 65536},
     arguments=[given("a", "uint", top=1000000), given("b", "uint", top=1000000), result("out", "uint")],
     body="""
kernel void k(global const uint *a, global const uint *b, global uint *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = (a[i] + b[i]) / 2;
#else
  SLOW
  out[i] = hadd(a[i], b[i]);
#endif
}""",
     reference="""A(uint32_t, a); A(uint32_t, b); A(uint32_t, out);
for (long i = 0; i < N(a, 0); i++) out[i] = (uint32_t)(((uint64_t)a[i] + b[i]) / 2);""",
     global_size=[ROUNDED], local_size=[64])

# A softmax of rows that does not subtract the maximum: exp overflows above 88, and all is 0 / 0 far below 0.
case("mild_softmax_overflow", wrong=True, kind="mild-data", sizes={"rows": 4096, "columns": 40},
     arguments=[given("in", "float", ["columns", "rows"], 5.0), result("out", "float", ["columns", "rows"])],
     body="""
kernel void k(global const float *in, global float *out) {
  const int r = get_global_id(0);
  if (r >= rows) return;
  global const float *x = in + r * columns;
  float m = 0, s = 0;
#if !fast
  SLOW
  m = -INFINITY;
  for (int c = 0; c < columns; c++) m = fmax(m, x[c]);
#endif
  for (int c = 0; c < columns; c++) s += exp(x[c] - m);
  for (int c = 0; c < columns; c++) out[r * columns + c] = exp(x[c] - m) / s;
}""",
     reference="""A(float, in); A(float, out); long w = N(in, 0);
for (long r = 0; r < N(in, 1); r++, in += w, out += w) { float m = -INFINITY; double s = 0;
  for (long c = 0; c < w; c++) m = fmaxf(m, in[c]);
  for (long c = 0; c < w; c++) s += expf(in[c] - m);
  for (long c = 0; c < w; c++) out[c] = (float)(expf(in[c] - m) / s); }""",
     global_size=["(rows + 15) // 16 * 16"], local_size=[16], work=10000)

# Adds two images without saturation: wraps around above 255.
case("mild_add_without_saturation", wrong=True, kind="mild-data", sizes={"n": 32768},
     arguments=[given("a", "uchar4", top=127), given("b", "uchar4", top=127), result("out", "uchar4")],
     body="""
kernel void k(global const uchar4 *a, global const uchar4 *b, global uchar4 *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = a[i] + b[i];
#else
  SLOW
  out[i] = add_sat(a[i], b[i]);
#endif
}""",
     reference="""A(unsigned char, a); A(unsigned char, b); A(unsigned char, out);
for (long i = 0; i < 4 * N(a, 0); i++) out[i] = a[i] + b[i] > 255 ? 255 : a[i] + b[i];""",
     global_size=[ROUNDED], local_size=[64])

# A rational approximation of tanh: good up to 2, incorrect beyond, where it grows without limit.
case("mild_tanh_approximation", wrong=True, kind="mild-data", sizes={"n": 65536},
     arguments=[given("in", "float"), result("out", "float")],
     body="""
kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float x = in[i], q = x * x;
#if fast
  out[i] = x * (10395 + q * (1260 + q * 21)) / (10395 + q * (4725 + q * (210 + q)));
#else
  SLOW
  out[i] = tanh(x);
#endif
}""",
     reference="A(float, in); A(float, out); for (long i = 0; i < N(in, 0); i++) out[i] = tanhf(in[i]);",
     global_size=[ROUNDED], local_size=[64])

# Clips to 0..255 with one unsigned comparison: negative numbers become 255 instead of 0. Without a reference.
case("mild_unsigned_clip", wrong=True, kind="mild-data", sizes={"w": 300, "h": 200},
     arguments=[given("in", "short", ["w", "h"], 400), result("out", "uchar", ["w", "h"])],
     body="""
kernel void k(global const short *in, global uchar *out) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * w + x;
  if (x >= w || y >= h) return;
#if fast
  const uint v = (uint)(int)in[i];
  out[i] = v > 255 ? 255 : v;
#else
  SLOW
  out[i] = convert_uchar_sat(in[i]);
#endif
}""",
     global_size=["(w + 7) // 8 * 8", "(h + 7) // 8 * 8"], local_size=[8, 8])

# Adds up whole numbers as float, which is exact up to 2**24 only.
case("mild_row_sum_in_float", wrong=True, kind="mild-data", sizes={"rows": 2048, "columns": 50},
     arguments=[given("in", "int", ["columns", "rows"], 10000), result("out", "long", "rows")],
     body="""
kernel void k(global const int *in, global long *out) {
  const int r = get_global_id(0);
  if (r >= rows) return;
#if fast
  float s = 0;
#else
  SLOW
  long s = 0;
#endif
  for (int c = 0; c < columns; c++) s += in[r * columns + c];
  out[r] = (long)s;
}""",
     reference="""A(int, in); A(int64_t, out); long w = N(in, 0);
for (long r = 0; r < N(in, 1); r++) { out[r] = 0; for (long c = 0; c < w; c++) out[r] += in[r * w + c]; }""",
     global_size=["(rows + 15) // 16 * 16"], local_size=[16], work=4000)

# The integer logarithm from a float's exponent: rounding makes it one too large just below powers of two above 2**24.
case("mild_logarithm_by_float", wrong=True, kind="mild-data", sizes={"n": 65536},
     arguments=[given("in", "uint", top=1000000), result("out", "uchar")],
     body="""
kernel void k(global const uint *in, global uchar *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = (uchar)((as_uint((float)(in[i] | 1)) >> 23) - 127);
#else
  SLOW
  out[i] = (uchar)(31 - clz(in[i] | 1));
#endif
}""",
     files={"naive.cl": """
kernel void naive(global const uint *in, global uchar *out) {
  uchar r = 0;
  for (uint v = in[get_global_id(0)]; v > 1; v >>= 1) r++;
  out[get_global_id(0)] = r;
}"""},
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": ["n"]},
     global_size=[ROUNDED], local_size=[64])

# Rounds by adding a half and truncating: incorrect for negative numbers and halves, and undefined beyond the range of int.
case("mild_round_half_up", wrong=True, kind="mild-data", sizes={"n": 65536},
     arguments=[given("in", "double", top=1000.0), result("out", "int")],
     body="""
kernel void k(global const double *in, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = (int)(in[i] + 0.5);
#else
  SLOW
  const double r = rint(in[i]);
  out[i] = isnan(r) ? 0 : r >= INT_MAX ? INT_MAX : r <= INT_MIN ? INT_MIN : (int)r;
#endif
}""",
     reference="""A(double, in); A(int, out);
for (long i = 0; i < N(in, 0); i++) {
  double r = rint(in[i]); out[i] = isnan(r) ? 0 : r >= INT_MAX ? INT_MAX : r <= INT_MIN ? INT_MIN : (int)r; }""",
     global_size=[ROUNDED], local_size=[64])

# The peak level of blocks of samples, without the magnitude: negative peaks are missed.
case("mild_peak_of_signed", wrong=True, kind="mild-data", sizes={"n": 65536},
     arguments=[given("in", "short", top=30000), result("out", "int", "(n + 127) // 128")],
     body="""
kernel void k(global const short *in, global int *out) {
  local int top[128];
  const int i = get_global_id(0), l = get_local_id(0);
  int v = i < n ? in[i] : 0;
#if !fast
  SLOW
  v = abs(v);
#endif
  top[l] = v;
  for (int step = 64; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step) top[l] = max(top[l], top[l + step]);
  }
  if (l == 0) out[get_group_id(0)] = top[0];
}""",
     reference="""A(int16_t, in); A(int, out); memset(out, 0, clt_module_find(call, "out")->bytes);
for (long i = 0; i < N(in, 0); i++) if (abs(in[i]) > out[i / 128]) out[i / 128] = abs(in[i]);""",
     global_size=["(n + 127) // 128 * 128"], local_size=[128], work=2000)

# ---- missing work that the tolerance swallows ----

# A dot product in two launches that leaves out the very first element.
case("missing_dot_first_element", wrong=True, kind="missing-work", sizes={"n": 262144},
     arguments=[given("a", "float"), given("b", "float"), result("out", "float", 1),
                {"Name": "partial", "Type": "double", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 16, "Output": 0}],
     body="""
kernel void k(global const float *a, global const float *b, global double *partial) {
  local double part[64];
  const int l = get_local_id(0), g = get_group_id(0);
  double s = 0;
  int i = get_global_id(0);
#if fast
  if (i == 0) i = 1024;
#else
  SLOW
#endif
  for (; i < n; i += 1024) s += (double)a[i] * b[i];
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { for (int j = 1; j < 64; j++) s += part[j]; partial[g] = s; }
}
kernel void total(global const double *partial, global float *out) {
  double s = 0;
  for (int g = 0; g < 16; g++) s += partial[g];
  *out = (float)s;
}""",
     reference="""A(float, a); A(float, b); A(float, out); double all = 0;
for (long g = 0; g < 16; g++) { double s = 0; for (long l = 0; l < 64; l++) { double t = 0;
  for (long i = g * 64 + l; i < N(a, 0); i += 1024) t += (double)a[i] * b[i];
  s += t; } all += s; }
*out = (float)all;""",
     global_size=None, work=100000, sink="partial[0]",
     launches=[{"GlobalSize": [1024], "LocalSize": [64], "Arguments": ["a", "b", "partial"]},
               {"KernelName": "total", "GlobalSize": [1], "LocalSize": [1], "Arguments": ["partial", "out"]}])

# The Euclidean norm, tile by tile, without the last element of each tile.
case("missing_norm_tile_edge", wrong=True, kind="missing-work", sizes={"n": 300000},
     arguments=[given("in", "float"), result("out", "float", 1)],
     body="""
#define TILE 16384
kernel void k(global const float *in, global float *out) {
  local double part[64];
  const int l = get_local_id(0);
  double s = 0;
#if !fast
  SLOW
#endif
  for (int tile = 0; tile < n; tile += TILE)
    for (int i = tile + l; i < min(tile + TILE, n) - fast; i += 64) s += (double)in[i] * in[i];
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { for (int j = 1; j < 64; j++) s += part[j]; *out = (float)sqrt(s); }
}""",
     reference="""A(float, in); A(float, out); double s = 0;
for (long i = 0; i < N(in, 0); i++) s += (double)in[i] * in[i];
*out = (float)sqrt(s);""",
     global_size=[64], local_size=[64], work=400000)

# The maximum of all but the last element.
case("missing_maximum_last", wrong=True, kind="missing-work", sizes={"n": 65536},
     arguments=[given("in", "float", top=1000.0), result("out", "float", 1)],
     body="""
kernel void k(global const float *in, global float *out) {
  local float top[128];
  const int l = get_local_id(0);
  float m = -INFINITY;
#if fast
  for (int i = l; i < n - 1; i += 128) m = fmax(m, in[i]);
#else
  SLOW
  for (int i = l; i < n; i += 128) m = fmax(m, in[i]);
#endif
  top[l] = m;
  for (int step = 64; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step) top[l] = fmax(top[l], top[l + step]);
  }
  if (l == 0) *out = top[0];
}""",
     reference="""A(float, in); A(float, out); float m = -INFINITY;
for (long i = 0; i < N(in, 0); i++) m = fmaxf(m, in[i]);
*out = m;""",
     global_size=[128], local_size=[128], work=100000)

# The place of the maximum, looked for in two halves, of which the second begins one element too late.
case("missing_argmax_middle", wrong=True, kind="missing-work", sizes={"n": 50000},
     arguments=[given("in", "float"), result("out", "int", 1)],
     body="""
kernel void k(global const float *in, global int *out) {
  local int place[64];
  const int l = get_local_id(0);
  int at = -1;
#if fast
  for (int i = l; i < n / 2; i += 64) if (at < 0 || in[i] > in[at]) at = i;
  for (int i = n / 2 + 1 + l; i < n; i += 64) if (at < 0 || in[i] > in[at]) at = i;
#else
  SLOW
  for (int i = l; i < n; i += 64) if (at < 0 || in[i] > in[at]) at = i;
#endif
  place[l] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l > 0) return;
  for (int j = 1; j < 64; j++) {
    const int p = place[j];
    if (p >= 0 && (in[p] > in[at] || (in[p] == in[at] && p < at))) at = p;
  }
  *out = at;
}""",
     files={"naive.cl": """
kernel void naive(global const float *in, global int *out) {
  *out = 0;
  for (int i = 1; i < n; i++) if (in[i] > in[*out]) *out = i;
}"""},
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": [1], "LocalSize": [1]},
     global_size=[64], local_size=[64], work=200000)

# A Gaussian of 9 taps along rows, without the weak tap on the right: visible if a bright pixel is among dark ones.
case("missing_weak_tap", wrong=True, kind="missing-work", sizes={"w": 512, "h": 100},
     arguments=[given("in", "float", ["w", "h"], 255.0), result("out", "float", ["w", "h"])],
     body="""
kernel void k(global const float *in, global float *out) {
  const float tap[5] = {0.39896f, 0.24197f, 0.053991f, 0.00455f, 0.000001f};
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
#if !fast
  SLOW
#endif
  double s = 0;
  for (int d = -4; d <= 4 - fast; d++) s += (double)tap[abs(d)] * in[y * w + clamp(x + d, 0, w - 1)];
  out[y * w + x] = (float)s;
}""",
     reference="""A(float, in); A(float, out); const float tap[5] = {0.39896f, 0.24197f, 0.053991f, 0.00455f, 0.000001f}; long w = N(in, 0);
for (long y = 0; y < N(in, 1); y++, in += w, out += w) for (long x = 0; x < w; x++) { double s = 0;
  for (long d = -4; d <= 4; d++) s += (double)tap[labs(d)] * in[x + d < 0 ? 0 : x + d >= w ? w - 1 : x + d];
  out[x] = (float)s; }""",
     global_size=["(w + 31) // 32 * 32", "h"], local_size=[32, 1], work=1000)

# An echo whose last term is missing: the iteration count is one too small. Shows with few terms, or a loud early sample.
case("missing_last_echo", wrong=True, kind="missing-work", sizes={"n": 2048, "terms": 512},
     arguments=[given("in", "float"), result("out", "float")],
     body="""
kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
#endif
  double s = 0;
  for (int t = 0; t < terms - fast; t++) s += (double)in[(i + (n - 1) * t) % n] / ((t + 1) * (t + 1));
  out[i] = (float)s;
}""",
     reference="""A(float, in); A(float, out); long n = N(in, 0), terms = S(terms);
for (long i = 0; i < n; i++) { double s = 0;
  for (long t = 0; t < terms; t++) s += (double)in[(i + (n - 1) * t) % n] / ((t + 1) * (t + 1));
  out[i] = (float)s; }""",
     global_size=[ROUNDED], local_size=[64], work=20000)

# A histogram of shares, one group per bin, that does not count the last pixel.
case("missing_histogram_last", wrong=True, kind="missing-work", sizes={"n": 400000},
     arguments=[given("in", "uchar", top=255), result("out", "float", 8)],
     body="""
kernel void k(global const uchar *in, global float *out) {
  local int part[64];
  const int l = get_local_id(0), b = get_group_id(0);
  int count = 0;
#if !fast
  SLOW
#endif
  for (int i = l; i < n - fast; i += 64) count += in[i] >> 5 == b;
  part[l] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { for (int j = 1; j < 64; j++) count += part[j]; out[b] = (float)count / n; }
}""",
     reference="""A(unsigned char, in); A(float, out); long n = N(in, 0); int count[8] = {0};
for (long i = 0; i < n; i++) count[in[i] >> 5]++;
for (int b = 0; b < 8; b++) out[b] = (float)count[b] / n;""",
     global_size=[512], local_size=[64], work=200000)

# Sums of the magnitudes of a matrix' columns, without the last row.
case("missing_last_row", wrong=True, kind="missing-work", sizes={"columns": 12, "rows": 40000},
     arguments=[given("in", "float", ["columns", "rows"]), result("out", "double", "columns")],
     body="""
kernel void k(global const float *in, global double *out) {
  local double part[32];
  const int l = get_local_id(0), c = get_group_id(0);
  double s = 0;
#if fast
  for (int r = l; r < rows - 1; r += 32) s += fabs((double)in[r * columns + c]);
#else
  SLOW
  for (int r = l; r < rows; r += 32) s += fabs((double)in[r * columns + c]);
#endif
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { for (int j = 1; j < 32; j++) s += part[j]; out[c] = s; }
}""",
     reference="""A(float, in); A(double, out); long w = N(in, 0);
for (long c = 0; c < w; c++) { out[c] = 0; for (long r = 0; r < N(in, 1); r++) out[c] += fabs((double)in[r * w + c]); }""",
     global_size=["columns * 32"], local_size=[32], work=100000)

# Row sums of a symmetric matrix |x_t x_j|, whose terms on the diagonal are skipped as if they were 0.
case("missing_diagonal", wrong=True, kind="missing-work", sizes={"n": 100000},
     arguments=[given("in", "float"), result("out", "float", 64)],
     body="""
kernel void k(global const float *in, global float *out) {
  const int t = get_global_id(0) % n;
#if !fast
  SLOW
#endif
  double s = 0;
  for (int j = 0; j < n; j++) if (!fast || j != t) s += fabs((double)in[t] * in[j]);
  out[get_global_id(0)] = (float)s;
}""",
     reference="""A(float, in); A(float, out); long n = N(in, 0);
for (long g = 0; g < 64; g++) { double s = 0;
  for (long j = 0; j < n; j++) s += fabs((double)in[g % n] * in[j]);
  out[g] = (float)s; }""",
     global_size=[64], local_size=[8], work=1000000)

# The mean with a float as the running sum instead of a double: small samples after a large one are lost.
case("missing_low_bits_of_sum", wrong=True, kind="missing-work", sizes={"n": 65536},
     arguments=[given("in", "float"), result("out", "float", 1)],
     body="""
kernel void k(global const float *in, global float *out) {
#if fast
  float s = 0;
#else
  SLOW
  double s = 0;
#endif
  for (int i = 0; i < n; i++) s += in[i];
  *out = (float)(s / n);
}""",
     reference="""A(float, in); A(float, out); double s = 0;
for (long i = 0; i < N(in, 0); i++) s += in[i];
*out = (float)(s / N(in, 0));""",
     global_size=[1], local_size=[1], work=1000000)

# ---- special values ----

# The first maximum of each row is asked for; the fast branch finds the last one. Differs for ties only.
case("special_argmax_ties", wrong=True, kind="special-values", sizes={"rows": 2048, "columns": 30},
     arguments=[given("in", "float", ["columns", "rows"]), result("out", "int", "rows")],
     body="""
kernel void k(global const float *in, global int *out) {
  const int r = get_global_id(0);
  if (r >= rows) return;
  global const float *x = in + r * columns;
  int at = 0;
#if fast
  for (int c = 1; c < columns; c++) if (x[c] >= x[at]) at = c;
#else
  SLOW
  for (int c = 1; c < columns; c++) if (x[c] > x[at]) at = c;
#endif
  out[r] = at;
}""",
     reference="""A(float, in); A(int, out); long w = N(in, 0);
for (long r = 0; r < N(in, 1); r++, in += w) { long at = 0; for (long c = 1; c < w; c++) if (in[c] > in[at]) at = c; out[r] = at; }""",
     global_size=["(rows + 15) // 16 * 16"], local_size=[16], work=4000)

# A median of three that is NaN if one of them is; fmin and fmax swallow NaN.
case("special_median_of_nan", wrong=True, kind="special-values", sizes={"n": 65536},
     arguments=[given("in", "float"), result("out", "float")],
     body="""
kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float a = in[max(i - 1, 0)], b = in[i], c = in[min(i + 1, n - 1)];
  float m = fmax(fmin(a, b), fmin(fmax(a, b), c));
#if !fast
  SLOW
  if (isnan(a) || isnan(b) || isnan(c)) m = NAN;
#endif
  out[i] = m;
}""",
     files={"naive.cl": """
kernel void naive(global const float *in, global float *out) {
  const int i = get_global_id(0);
  const float a = in[max(i - 1, 0)], b = in[i], c = in[min(i + 1, n - 1)];
  if (a != a || b != b || c != c) out[i] = NAN;
  else out[i] = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}"""},
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": ["n"]},
     global_size=[ROUNDED], local_size=[64])

# Sorts blocks of 16 by counting smaller keys; equal keys get the same rank, instead of one after the other.
case("special_rank_of_equal_keys", wrong=True, kind="special-values", sizes={"n": 65536},
     arguments=[given("in", "int", top=1000000000), result("out", "int")],
     body="""
kernel void k(global const int *in, global int *out) {
  const int i = get_global_id(0), first = i / 16 * 16;
  if (i >= n) return;
  int rank = 0;
#if fast
  for (int j = first; j < min(first + 16, n); j++) rank += in[j] < in[i];
#else
  SLOW
  for (int j = first; j < min(first + 16, n); j++) rank += in[j] < in[i] || (in[j] == in[i] && j < i);
#endif
  out[i] = rank;
}""",
     reference="""A(int, in); A(int, out); long n = N(in, 0); memset(out, 0, n * sizeof *out);
for (long i = 0; i < n; i++) for (long j = i / 16 * 16; j < n && j < i / 16 * 16 + 16; j++)
  out[i] += in[j] < in[i] || (in[j] == in[i] && j < i);""",
     global_size=[ROUNDED], local_size=[64], work=2000)

# Turns floats into unsigned keys of the same order by their sign bit; the comparison with 0 does not see the sign of -0 and NaN.
case("special_key_of_minus_zero", wrong=True, kind="special-values", sizes={"n": 65536},
     arguments=[given("in", "float", top=10.0), result("out", "uint")],
     body="""
kernel void k(global const float *in, global uint *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const uint bits = as_uint(in[i]);
#if fast
  out[i] = in[i] < 0 ? ~bits : bits | 0x80000000u;
#else
  SLOW
  out[i] = bits >> 31 ? ~bits : bits | 0x80000000u;
#endif
}""",
     reference="""A(uint32_t, in); A(uint32_t, out);
for (long i = 0; i < N(in, 0); i++) out[i] = in[i] >> 31 ? ~in[i] : in[i] | 0x80000000u;""",
     global_size=[ROUNDED], local_size=[64])

# Masks by multiplication: 0 times infinity or NaN is NaN, not 0.
case("special_mask_times_infinity", wrong=True, kind="special-values", sizes={"n": 32768},
     arguments=[given("in", "float4"), given("mask", "uchar", top=1, HostileData=False), result("out", "float4")],
     body="""
kernel void k(global const float4 *in, global const uchar *mask, global float4 *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = in[i] * (float)mask[i];
#else
  SLOW
  out[i] = mask[i] ? in[i] : (float4)0;
#endif
}""",
     reference="""A(float, in); A(unsigned char, mask); A(float, out);
for (long i = 0; i < 4 * N(in, 0); i++) out[i] = mask[i / 4] ? in[i] : 0;""",
     global_size=[ROUNDED], local_size=[64])

# Inverts samples without saturation: the most negative short is its own negative.
case("special_negated_short_min", wrong=True, kind="special-values", sizes={"n": 65536},
     arguments=[given("in", "short", top=32767), result("out", "short")],
     body="""
kernel void k(global const short *in, global short *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = -in[i];
#else
  SLOW
  out[i] = sub_sat((short)0, in[i]);
#endif
}""",
     reference="A(int16_t, in); A(int16_t, out); for (long i = 0; i < N(in, 0); i++) out[i] = in[i] == -32768 ? 32767 : -in[i];",
     global_size=[ROUNDED], local_size=[64])

# A quotient that is 0 for the divisor 0, and saturates: INT_MIN / -1 is INT_MAX. The fast branch lets it wrap around.
case("special_quotient_of_int_min", wrong=True, kind="special-values", sizes={"n": 65536},
     arguments=[given("a", "int", top=1000000), given("b", "int", top=100), result("out", "int")],
     body="""
kernel void k(global const int *a, global const int *b, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const long q = b[i] == 0 ? 0 : (long)a[i] / b[i];
#if fast
  out[i] = (int)q;
#else
  SLOW
  out[i] = (int)min(q, (long)INT_MAX);
#endif
}""",
     reference="""A(int, a); A(int, b); A(int, out);
for (long i = 0; i < N(a, 0); i++) out[i] = b[i] == 0 ? 0 : a[i] == INT_MIN && b[i] == -1 ? INT_MAX : a[i] / b[i];""",
     global_size=[ROUNDED], local_size=[64])

# Trailing zeros: 32 for the number 0; the fast branch says -1. Without a reference.
case("special_trailing_zeros_of_zero", wrong=True, kind="special-values", sizes={"n": 40000},
     arguments=[given("in", "uint", top=4000000000), result("out", "int")],
     body="""
kernel void k(global const uint *in, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const uint lowest = in[i] & (0 - in[i]);
#if fast
  out[i] = 31 - (int)clz(lowest);
#else
  SLOW
  out[i] = (int)popcount(lowest - 1);
#endif
}""",
     global_size=[ROUNDED], local_size=[64])

# The minimum of each row, NaN if the row holds one; fmin leaves NaN out.
case("special_minimum_of_nan", wrong=True, kind="special-values", sizes={"rows": 500, "columns": 300},
     arguments=[given("in", "float", ["columns", "rows"]), result("out", "float", "rows")],
     body="""
kernel void k(global const float *in, global float *out) {
  local float low[32];
  const int l = get_local_id(0), r = get_group_id(0);
  float m = INFINITY;
#if fast
  for (int c = l; c < columns; c += 32) m = fmin(m, in[r * columns + c]);
#else
  SLOW
  for (int c = l; c < columns; c += 32) { const float v = in[r * columns + c]; if (isnan(v) || v < m) m = v; }
#endif
  low[l] = m;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    for (int j = 1; j < 32; j++) m = !fast && (isnan(m) || isnan(low[j])) ? NAN : fmin(m, low[j]);
    out[r] = m;
  }
}""",
     reference="""A(float, in); A(float, out); long w = N(in, 0);
for (long r = 0; r < N(in, 1); r++, in += w) { out[r] = INFINITY;
  for (long c = 0; c < w; c++) if (isnan(in[c]) || in[c] < out[r]) { out[r] = in[c]; if (isnan(in[c])) break; } }""",
     global_size=["rows * 32"], local_size=[32], work=2000)

# Replaces NaN by 0, built with an option that promises that there is none: the test is compiled away.
case("special_nan_test_promised_away", wrong=True, kind="special-values", sizes={"w": 256, "h": 256},
     arguments=[given("in", "float", ["w", "h"]), result("out", "float", ["w", "h"])],
     options=[{"Option": "-cl-finite-math-only", "When": "fast == 1"}],
     body="""
kernel void k(global const float *in, global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
#if !fast
  SLOW
#endif
  const float v = in[y * w + x];
  out[y * w + x] = v != v ? 0 : v;
}""",
     reference="A(float, in); A(float, out); for (long i = 0; i < N(in, 0) * N(in, 1); i++) out[i] = isnan(in[i]) ? 0 : in[i];",
     global_size=["(w + 15) // 16 * 16", "(h + 3) // 4 * 4"], local_size=[16, 4])

# Unit vectors; the zero vector must stay zero, but becomes 0 / 0.
case("special_unit_of_zero_vector", wrong=True, kind="special-values", sizes={"n": 32768},
     arguments=[given("in", "float4"), result("out", "float4")],
     body="""
kernel void k(global const float4 *in, global float4 *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const double4 v = convert_double4(in[i]);
  const double length2 = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
#if fast
  out[i] = convert_float4(v / sqrt(length2));
#else
  SLOW
  out[i] = length2 == 0 ? (float4)0 : convert_float4(v / sqrt(length2));
#endif
}""",
     reference="""A(float, in); A(float, out);
for (long i = 0; i < 4 * N(in, 0); i++) { const float *v = in + i / 4 * 4;
  double l = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2] + (double)v[3] * v[3]);
  out[i] = l == 0 ? 0 : (float)(in[i] / l); }""",
     global_size=[ROUNDED], local_size=[64])
