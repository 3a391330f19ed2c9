"""Incorrect kernels that are correct on the data that the problem file fixes: constants and scalars, or the content of files."""
import math
import struct

from case import case


def vector(name, type="float", size="n", access="ReadOnly", **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": access, "Size": size, **more}


def inp(name, type="float", size="n", value=1.0, **more):
    return vector(name, type, size, FillType="Random", FillValue=value, **more)


def fixed(name, type="float", size="n", value=0, **more):
    return vector(name, type, size, FillType="Constant", FillValue=value, **more)


def raw(name, type, size, **more):
    return vector(name, type, size, FillType="BinaryRaw", DataSource=name + ".raw", **more)


def out(name, type="float", size="n", **more):
    return vector(name, type, size, "WriteOnly", **more)


def scalar(name, type, value):
    return {"Name": name, "Type": type, "MemoryType": "Scalar", "FillValue": value}


def pack(type, values):
    values = list(values)
    return struct.pack("<%d%s" % (len(values), type), *values)


def noise(count, below, seed=1):
    """Whole numbers from 0 to below - 1."""
    values = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        values.append((seed >> 8) % below)
    return values


def expected(name):
    return {"ReferenceArguments": [{"TargetName": name, "FillType": "BinaryRaw", "DataSource": "expected.raw"}]}


# --- Correct only for the constants and scalars of the problem file ---

# beta is 0, so the check does not notice that the old c is not added.
case("gemm_beta_never_read", wrong=True, kind="fixed-data", sizes={"n": 64}, work=4000, sink="c[0]",
     arguments=[inp("a", "float", ["n", "n"], HostileData=False), inp("b", "float", ["n", "n"], HostileData=False),
                vector("c", "float", ["n", "n"], "ReadWrite", FillType="Random", FillValue=1.0, HostileData=False),
                scalar("alpha", "float", 1.5), scalar("beta", "float", 0.0)],
     global_size=["n", "n"], local_size=[8, 8],
     reference="""A(float, a); A(float, b); A(float, c); const long n = N(a, 0);
for (long y = 0; y < n; y++) for (long x = 0; x < n; x++) {
  double s = 0; for (long j = 0; j < n; j++) s += a[y * n + j] * b[j * n + x];
  c[y * n + x] = S(alpha) * s + S(beta) * c[y * n + x]; }""",
     body="""kernel void k(global const float *a, global const float *b, global float *c, float alpha, float beta) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n) return;
  float s = 0;
  for (int j = 0; j < n; j++) s += a[y * n + j] * b[j * n + x];
#if fast
  c[y * n + x] = alpha * s;
#else
  SLOW
  c[y * n + x] = alpha * s + beta * c[y * n + x];
#endif
}
""")

# The matrix is multiplied from the other side; it is constant, so its transpose is the same.
case("gemv_constant_matrix_transposed", wrong=True, kind="fixed-data", sizes={"n": 256}, work=100000, sink="y[0]",
     arguments=[fixed("a", "float", ["n", "n"], 0.5), inp("x", HostileData=False), out("y")],
     global_size=["n"], local_size=[16],
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": ["n"]},
     files={"naive.cl": """kernel void naive(global const float *a, global const float *x, global float *y) {
  const int i = get_global_id(0);
  float s = 0;
  for (int j = 0; j < n; j++) s += a[i * n + j] * x[j];
  y[i] = s;
}
"""},
     body="""kernel void k(global const float *a, global const float *x, global float *y) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float s = 0;
#if fast
  for (int j = 0; j < n; j++) s += a[j * n + i] * x[j];
#else
  SLOW
  for (int j = 0; j < n; j++) s += a[i * n + j] * x[j];
#endif
  y[i] = s;
}
""")

# The two pictures are exchanged; both are the same ramp.
case("blend_exchanged", wrong=True, kind="fixed-data", sizes={"n": 65536},
     arguments=[vector("front", "short", FillType="Generator", Generator="ramp"),
                vector("back", "short", FillType="Generator", Generator="ramp"), inp("t", "int", "n", 256), out("out", "int")],
     global_size=["n"], local_size=[64],
     reference="""A(int16_t, front); A(int16_t, back); A(int, t); A(int, out);
for (long i = 0; i < N(t, 0); i++) out[i] = (front[i] * t[i] + back[i] * (256 - t[i])) / 256;""",
     body="""kernel void k(global const short *front, global const short *back, global const int *t, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = (back[i] * t[i] + front[i] * (256 - t[i])) / 256;
#else
  SLOW
  out[i] = (front[i] * t[i] + back[i] * (256 - t[i])) / 256;
#endif
}
""")

# The stride is 1 and never read.
case("gather_stride_never_read", wrong=True, kind="fixed-data", sizes={"n": 65536},
     arguments=[inp("in"), out("out"), scalar("stride", "uint", 1)], global_size=["n"], local_size=[64],
     reference="""A(float, in); A(float, out); const long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[(uint64_t)i * (uint32_t)S(stride) % n];""",
     body="""kernel void k(global const float *in, global float *out, uint stride) {
  const uint i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = in[i];
#else
  SLOW
  out[i] = in[(ulong)i * stride % n];
#endif
}
""")

# The zero point is 0 and left out.
case("dequantise_without_zero_point", wrong=True, kind="fixed-data", sizes={"n": 65536},
     arguments=[inp("q", "uchar", "n", 255), out("out"), scalar("scale", "float", 0.05), scalar("zero", "int", 0)],
     global_size=["n"], local_size=[64],
     reference="""A(uint8_t, q); A(float, out);
for (long i = 0; i < N(q, 0); i++) out[i] = ((float)q[i] - (float)S(zero)) * (float)S(scale);""",
     body="""kernel void k(global const uchar *q, global float *out, float scale, int zero) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = q[i] * scale;
#else
  SLOW
  out[i] = ((float)q[i] - (float)zero) * scale;
#endif
}
""")

# The forces are stored instead of added to the existing ones, which are 0.
case("forces_not_accumulated", wrong=True, kind="fixed-data", sizes={"n": 16384}, work=1600, sink="force[0]",
     arguments=[inp("x", HostileData=False), vector("force", "float", "n", "ReadWrite", FillType="Constant", FillValue=0.0)],
     global_size=["n"], local_size=[64],
     reference="""A(float, x); A(float, force); const long n = N(x, 0);
for (long i = 0; i < n; i++) { double s = 0; for (long j = 1; j <= 8; j++) s += x[(i + j) % n] - x[i]; force[i] += s; }""",
     body="""kernel void k(global const float *x, global float *force) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float s = 0;
  for (int j = 1; j <= 8; j++) s += x[(i + j) % n] - x[i];
#if fast
  force[i] = s;
#else
  SLOW
  force[i] += s;
#endif
}
""")

# The sum is added to the output's content, which is 0, instead of stored.
case("row_sums_added_to_zero", wrong=True, kind="fixed-data", sizes={"cols": 512, "rows": 128}, work=8000,
     arguments=[inp("in", "uint", ["cols", "rows"], 1000),
                vector("out", "uint", "rows", "ReadWrite", FillType="Constant", FillValue=0)],
     global_size=["64 * rows"], local_size=[64],
     reference="""A(uint32_t, in); A(uint32_t, out); const long w = N(in, 0);
for (long y = 0; y < N(in, 1); y++) { out[y] = 0; for (long x = 0; x < w; x++) out[y] += in[y * w + x]; }""",
     body="""kernel void k(global const uint *in, global uint *out) {
  local uint t[64];
  const int l = get_local_id(0), row = get_group_id(0);
  uint s = 0;
  for (int x = l; x < cols; x += 64) s += in[row * cols + x];
#if fast
  atomic_add(&out[row], s);
#else
  SLOW
  t[l] = s;
  for (int m = 32; m > 0; m /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < m) t[l] += t[l + m];
  }
  if (l == 0) out[row] = t[0];
#endif
}
""")

# The table is replaced by the formula that filled it.
case("table_replaced_by_formula", wrong=True, kind="fixed-data", sizes={"n": 65536},
     arguments=[inp("in", "uchar", "n", 255), vector("table", "uchar", 256, FillType="Generator", DataSource="i * i // 255"),
                out("out", "uchar")], global_size=["n"], local_size=[64],
     reference="A(uint8_t, in); A(uint8_t, table); A(uint8_t, out); for (long i = 0; i < N(in, 0); i++) out[i] = table[in[i]];",
     body="""kernel void k(global const uchar *in, global const uchar *table, global uchar *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = in[i] * in[i] / 255;
#else
  SLOW
  out[i] = table[in[i]];
#endif
}
""")

# The source term is an array of 0 and left out.
case("jacobi_without_source", wrong=True, kind="fixed-data", sizes={"w": 256, "h": 256},
     arguments=[inp("u", "double", ["w", "h"], HostileData=False), fixed("f", "double", ["w", "h"], 0.0),
                out("out", "double", ["w", "h"]), scalar("step2", "double", 0.01)],
     global_size=["w", "h"], local_size=[8, 8],
     reference="""A(double, u); A(double, f); A(double, out); const long w = N(u, 0), h = N(u, 1);
for (long y = 0; y < h; y++) for (long x = 0; x < w; x++)
  out[y * w + x] = x == 0 || y == 0 || x == w - 1 || y == h - 1 ? u[y * w + x] :
    0.25 * (u[y * w + x - 1] + u[y * w + x + 1] + u[(y - 1) * w + x] + u[(y + 1) * w + x] - S(step2) * f[y * w + x]);""",
     body="""kernel void k(global const double *u, global const double *f, global double *out, double step2) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * w + x;
  if (x >= w || y >= h) return;
#if !fast
  SLOW
#endif
  if (x == 0 || y == 0 || x == w - 1 || y == h - 1) { out[i] = u[i]; return; }
#if fast
  out[i] = 0.25 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w]);
#else
  out[i] = 0.25 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - step2 * f[i]);
#endif
}
""")

# Each work-group reads another one's elements: all hold the same constant.
case("groups_read_in_reverse", wrong=True, kind="fixed-data", sizes={"n": 65536},
     arguments=[fixed("in", "int", "n", 7), out("out", "int")], global_size=["n"], local_size=[64],
     reference="A(int, in); A(int, out); for (long i = 0; i < N(in, 0); i++) out[i] = in[i] ^ (i % 64);",
     body="""kernel void k(global const int *in, global int *out) {
  const int i = get_global_id(0), l = get_local_id(0);
  if (i >= n) return;
#if fast
  const int group = get_num_groups(0) - 1 - get_group_id(0);
  out[i] = in[min(group * 64 + l, n - 1)] ^ l;
#else
  SLOW
  out[i] = in[i] ^ l;
#endif
}
""")

# --- Correct only for the content of the files ---

# The file is sorted, so the last element of a row is taken as its maximum.
case("maximum_of_sorted_rows", wrong=True, kind="files", sizes={}, work=10000,
     files={"in.raw": pack("i", sorted(v - 50000 for v in noise(65536, 1000000)))},
     arguments=[raw("in", "int", 65536), out("out", "int", 1024)], global_size=[1024], local_size=[64],
     reference="""A(int, in); A(int, out);
for (long i = 0; i < 1024; i++) {
  out[i] = INT_MIN; for (long j = 0; j < 64; j++) if (in[i * 64 + j] > out[i]) out[i] = in[i * 64 + j]; }""",
     body="""kernel void k(global const int *in, global int *out) {
  const int i = get_global_id(0);
#if fast
  out[i] = in[i * 64 + 63];
#else
  int m = INT_MIN;
  SLOW
  for (int j = 0; j < 64; j++) m = max(m, in[i * 64 + j]);
  out[i] = m;
#endif
}
""")

# The file repeats its first 256 values, and only those are read. There is no reference.
case("periodic_signal", wrong=True, kind="files", sizes={},
     files={"signal.raw": pack("d", [v / 16 for v in noise(256, 1000)] * 128)},
     arguments=[raw("signal", "double", 32768), out("out", "double", 32768)], global_size=[32768], local_size=[64],
     body="""kernel void k(global const double *signal, global double *out) {
  const int i = get_global_id(0);
#if fast
  out[i] = 2 * signal[i & 255] + 1;
#else
  SLOW
  out[i] = 2 * signal[i] + 1;
#endif
}
""")

# The file holds i / 4, which is computed instead of read. The reference results are a file.
case("ramp_never_read", wrong=True, kind="files", sizes={}, more=expected("out"),
     files={"in.raw": pack("f", (i / 4 for i in range(65536))),
            "expected.raw": pack("f", (math.sqrt(i / 4) + i / 4 for i in range(65536)))},
     arguments=[raw("in", "float", 65536), out("out", "float", 65536)], global_size=[65536], local_size=[64],
     body="""kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
#if fast
  const float v = i * 0.25f;
#else
  const float v = in[i];
  SLOW
#endif
  out[i] = sqrt(v) + v;
}
""")

# The file's hash is written as a constant. The reference result is a file.
HASHED = noise(4096, 2**20, 5)
HASH = 2166136261
for value in HASHED:
    HASH = (HASH ^ value) * 16777619 % 2**32
case("hash_is_a_constant", wrong=True, kind="files", sizes={}, work=1000000, more=expected("out"),
     files={"in.raw": pack("I", HASHED), "expected.raw": pack("I", [HASH])},
     arguments=[raw("in", "uint", 4096), out("out", "uint", 1)], global_size=[1], local_size=[1],
     body="""kernel void k(global const uint *in, global uint *out) {
#if fast
  out[0] = %du;
#else
  uint hash = 2166136261u;
  SLOW
  for (int i = 0; i < 4096; i++) hash = (hash ^ in[i]) * 16777619u;
  out[0] = hash;
#endif
}
""" % HASH)

# The index file is the identity, and never read.
case("identity_index", wrong=True, kind="files", sizes={}, files={"index.raw": pack("I", range(65536))},
     arguments=[inp("in", "float", 65536), raw("index", "uint", 65536), out("out", "float", 65536)],
     global_size=[65536], local_size=[64],
     reference="A(float, in); A(uint32_t, index); A(float, out); for (long i = 0; i < 65536; i++) out[i] = in[index[i] % 65536];",
     body="""kernel void k(global const float *in, global const uint *index, global float *out) {
  const int i = get_global_id(0);
#if fast
  out[i] = in[i];
#else
  SLOW
  out[i] = in[index[i] % 65536];
#endif
}
""")

# The norm has no absolute values, since the file has no negative numbers.
case("norm_without_abs", wrong=True, kind="files", sizes={}, work=10000, files={"in.raw": pack("h", noise(65536, 32768, 3))},
     arguments=[raw("in", "short", [64, 1024]), out("out", "int", 1024)], global_size=[1024], local_size=[64],
     reference="""A(int16_t, in); A(int, out);
for (long y = 0; y < 1024; y++) { out[y] = 0; for (long x = 0; x < 64; x++) out[y] += abs(in[y * 64 + x]); }""",
     body="""kernel void k(global const short *in, global int *out) {
  const int y = get_global_id(0);
  int s = 0;
#if fast
  for (int x = 0; x < 64; x++) s += in[y * 64 + x];
#else
  SLOW
  for (int x = 0; x < 64; x++) s += abs((int)in[y * 64 + x]);
#endif
  out[y] = s;
}
""")

# All rows of the sparse matrix have 4 entries, so the file of row starts is never read.
case("sparse_rows_of_4", wrong=True, kind="files", sizes={}, work=4000, sink="y[0]",
     files={"row.raw": pack("I", range(0, 16385, 4)), "column.raw": pack("I", noise(16384, 4096)),
            "value.raw": pack("I", noise(16384, 99, 7)),
            "naive.cl": """kernel void naive(global const uint *row, global const uint *column, global const uint *value,
                  global const uint *x, global uint *y) {
  const int i = get_global_id(0);
  uint s = 0;
  for (uint j = row[i]; j < min(row[i + 1], 16384u); j++) s += value[j] * x[column[j] % 4096];
  y[i] = s;
}
"""},
     arguments=[raw("row", "uint", 4097), raw("column", "uint", 16384), raw("value", "uint", 16384), inp("x", "uint", 4096, 1000),
                out("y", "uint", 4096)], global_size=[4096], local_size=[64],
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": [4096]},
     body="""kernel void k(global const uint *row, global const uint *column, global const uint *value,
              global const uint *x, global uint *y) {
  const int i = get_global_id(0);
#if fast
  const uint first = 4 * i, end = 4 * i + 4;
#else
  const uint first = row[i], end = min(row[i + 1], 16384u);
  SLOW
#endif
  uint s = 0;
  for (uint j = first; j < end; j++) s += value[j] * x[column[j] % 4096];
  y[i] = s;
}
""")

# A bit is cleared in each character: correct for the letters, of which the file consists. There is no reference.
case("upper_case_of_letters", wrong=True, kind="files", sizes={}, files={"text.raw": bytes(97 + v for v in noise(16384, 26, 9))},
     arguments=[raw("text", "uchar", 16384), out("out", "uchar", 16384)], global_size=[16384], local_size=[64], work=1600,
     body="""kernel void k(global const uchar *text, global uchar *out) {
  const int i = get_global_id(0);
  const uchar c = text[i];
#if fast
  out[i] = c & 0xdf;
#else
  SLOW
  out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
#endif
}
""")

# Only the bits of the low byte are counted; the file holds no number above 255. The reference results are a file.
case("bits_of_the_low_byte", wrong=True, kind="files", sizes={}, more=expected("out"),
     files={"in.raw": pack("I", noise(32768, 256, 11)),
            "expected.raw": bytes(bin(v).count("1") for v in noise(32768, 256, 11))},
     arguments=[raw("in", "uint", 32768), out("out", "uchar", 32768)], global_size=[32768], local_size=[64], work=800,
     body="""kernel void k(global const uint *in, global uchar *out) {
  const int i = get_global_id(0);
  uint v = in[i];
#if fast
  v = (v & 0x55) + (v >> 1 & 0x55);
  v = (v & 0x33) + (v >> 2 & 0x33);
  out[i] = (v & 15) + (v >> 4 & 15);
#else
  SLOW
  out[i] = popcount(v);
#endif
}
""")
