"""Incorrect kernels that are correct at the default size: some need a regular size, some a size that is not larger."""
from case import case


def inp(name, type="float", size="n", value=1.0, **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": size, "FillType": "Random",
            "FillValue": value, **more}


def out(name, type="float", size="n", **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": size, **more}


# --- Correct only at regular sizes ---

# The vector store leaves out the last n % 4 elements.
case("saxpy_float4_drops_rest", wrong=True, kind="regular-size", sizes={"n": 65536}, sink="z[0]",
     arguments=[inp("x", HostileData=False), inp("y", HostileData=False), out("z")],
     global_size=["(n + 3) // 4"], local_size=[64],
     reference="A(float, x); A(float, y); A(float, z); for (long i = 0; i < N(x, 0); i++) z[i] = 3 * x[i] + y[i];",
     body="""kernel void k(global const float *x, global const float *y, global float *z) {
  const int i = get_global_id(0);
#if fast
  if (i < n / 4) vstore4(3.0f * vload4(i, x) + vload4(i, y), i, z);
#else
  SLOW
  for (int j = 4 * i; j < min(4 * i + 4, n); j++) z[j] = 3.0f * x[j] + y[j];
#endif
}
""")

# The transposed tile is checked against the extents of the input: incorrect if w and h differ.
case("transpose_guard_exchanged", wrong=True, kind="regular-size", sizes={"w": 256, "h": 256},
     arguments=[inp("in", "uint", ["w", "h"], 1000000), out("out", "uint", ["h", "w"])],
     global_size=["w", "h"], local_size=[16, 16],
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": ["w", "h"]},
     files={"naive.cl": """kernel void naive(global const uint *in, global uint *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  out[x * h + y] = in[y * w + x];
}
"""},
     body="""kernel void k(global const uint *in, global uint *out) {
  local uint tile[16][17];
  const int lx = get_local_id(0), ly = get_local_id(1), x0 = get_group_id(0) * 16, y0 = get_group_id(1) * 16;
#if !fast
  SLOW
#endif
  if (x0 + lx < w && y0 + ly < h) tile[ly][lx] = in[(y0 + ly) * w + x0 + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
#if fast
  if (y0 + lx < w && x0 + ly < h)
#else
  if (y0 + lx < h && x0 + ly < w)
#endif
    out[(x0 + ly) * h + y0 + lx] = tile[lx][ly];
}
""")

# The distance of two planes is taken as w * w: incorrect if w and h differ.
case("volume_plane_pitch", wrong=True, kind="regular-size", sizes={"w": 64, "h": 64, "depth": 16},
     arguments=[inp("in", "float", ["w", "h", "depth"], HostileData=False), out("out", "float", ["w", "h", "depth"])],
     global_size=["w", "h", "depth"], local_size=[8, 8, 1],
     reference="""A(float, in); A(float, out); const long w = N(in, 0), h = N(in, 1), d = N(in, 2);
#define AT(x, y, z) in[((z) * h + (y)) * w + (x)]
for (long z = 0; z < d; z++) for (long y = 0; y < h; y++) for (long x = 0; x < w; x++)
  out[(z * h + y) * w + x] = AT(x, y, z) + AT(x > 0 ? x - 1 : 0, y, z) + AT(x, y > 0 ? y - 1 : 0, z) +
                             AT(x, y, z > 0 ? z - 1 : 0);""",
     body="""#if fast
#define AT(x, y, z) in[(z) * w * w + (y) * w + (x)]
#else
#define AT(x, y, z) in[((z) * h + (y)) * w + (x)]
#endif
kernel void k(global const float *in, global float *out) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
#if !fast
  SLOW
#endif
  if (x >= w || y >= h) return;
  out[(z * h + y) * w + x] = AT(x, y, z) + AT(max(x - 1, 0), y, z) + AT(x, max(y - 1, 0), z) + AT(x, y, max(z - 1, 0));
}
""")

# The tree halves the number of columns, and loses one wherever that is odd.
case("row_sums_halving", wrong=True, kind="regular-size", sizes={"cols": 256, "rows": 128}, work=4000,
     arguments=[inp("in", "uint", ["cols", "rows"], 1000), out("out", "uint", "rows"),
                {"Name": "t", "Type": "uint", "MemoryType": "Local", "Size": "cols"}],
     global_size=["64 * rows"], local_size=[64],
     reference="""A(uint32_t, in); A(uint32_t, out); const long w = N(in, 0);
for (long y = 0; y < N(in, 1); y++) { out[y] = 0; for (long x = 0; x < w; x++) out[y] += in[y * w + x]; }""",
     body="""kernel void k(global const uint *in, global uint *out, local uint *t) {
  const int l = get_local_id(0), row = get_group_id(0);
  for (int x = l; x < cols; x += 64) t[x] = in[row * cols + x];
#if fast
  for (int s = cols / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int x = l; x < s; x += 64) t[x] += t[x + s];
  }
#else
  SLOW
  for (int m = cols; m > 1; m = (m + 1) / 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int x = l; x < m / 2; x += 64) t[x] += t[x + (m + 1) / 2];
  }
#endif
  if (l == 0) out[row] = t[0];
}
""")

# The delay line wraps with a mask: incorrect if n is no power of two.
case("delay_line_mask", wrong=True, kind="regular-size", sizes={"n": 65536},
     arguments=[inp("in", "int", "n", 1000), out("out", "int")], global_size=["n"], local_size=[64],
     reference="""A(int, in); A(int, out); const long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[i] - in[((i - 7) % n + n) % n];""",
     body="""kernel void k(global const int *in, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = in[i] - in[(i - 7) & (n - 1)];
#else
  SLOW
  out[i] = in[i] - in[((i - 7) % n + n) % n];
#endif
}
""")

# Each of 1024 work-items takes n / 1024 elements; the rest is never counted.
case("histogram_even_shares", wrong=True, kind="regular-size", sizes={"n": 65536}, work=40000, sink="bins[0]",
     arguments=[inp("in", "uchar", "n", 255), {"Name": "bins", "Type": "uint", "MemoryType": "Vector", "AccessType": "ReadWrite",
                                               "Size": 64, "FillType": "Constant", "FillValue": 0}],
     global_size=[1024], local_size=[64],
     reference="A(uint8_t, in); A(uint32_t, bins); for (long i = 0; i < N(in, 0); i++) bins[in[i] / 4]++;",
     body="""kernel void k(global const uchar *in, global uint *bins) {
  local uint t[64];
  const int l = get_local_id(0), i = get_global_id(0);
  t[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#if fast
  const int share = n / 1024;
  for (int j = i * share; j < (i + 1) * share; j++) atomic_inc(&t[in[j] / 4]);
#else
  SLOW
  for (int j = i; j < n; j += 1024) atomic_inc(&t[in[j] / 4]);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[l], t[l]);
}
""")

# Behind the right edge the tile repeats the last element only if that is the last of a work-group; else it holds 0.
case("tile_edge_in_last_group", wrong=True, kind="regular-size", sizes={"n": 65536},
     arguments=[inp("in", "int", "n", 1000), out("out", "int")], global_size=["n"], local_size=[64],
     reference="""A(int, in); A(int, out); const long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[i > 0 ? i - 1 : 0] + 2 * in[i] + in[i < n - 1 ? i + 1 : i];""",
     body="""kernel void k(global const int *in, global int *out) {
  local int t[66];
  const int i = get_global_id(0), l = get_local_id(0);
#if fast
  t[l + 1] = i < n ? in[i] : 0;
#else
  SLOW
  t[l + 1] = in[min(i, n - 1)];
#endif
  if (l == 0) t[0] = in[max(i - 1, 0)];
  if (l == 63) t[65] = in[min(i + 1, n - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = t[l] + 2 * t[l + 1] + t[l + 2];
}
""")

# The last, incomplete tile of the inner dimension is left out.
case("matmul_whole_tiles", wrong=True, kind="regular-size", sizes={"rows": 64, "inner": 64, "cols": 64}, work=4000,
     sink="c[0]", arguments=[inp("a", "float", ["inner", "rows"], HostileData=False),
                             inp("b", "float", ["cols", "inner"], HostileData=False), out("c", "float", ["cols", "rows"])],
     global_size=["cols", "rows"], local_size=[8, 8],
     reference="""A(float, a); A(float, b); A(float, c); const long inner = N(a, 0), rows = N(a, 1), cols = N(b, 0);
for (long y = 0; y < rows; y++) for (long x = 0; x < cols; x++) {
  double s = 0; for (long j = 0; j < inner; j++) s += a[y * inner + j] * b[j * cols + x]; c[y * cols + x] = s; }""",
     body="""kernel void k(global const float *a, global const float *b, global float *c) {
  local float ta[8][8], tb[8][8];
  const int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float s = 0;
#if fast
  const int tiles = inner / 8;
#else
  const int tiles = (inner + 7) / 8;
  SLOW
#endif
  for (int t = 0; t < tiles; t++) {
    ta[ly][lx] = y < rows && t * 8 + lx < inner ? a[y * inner + t * 8 + lx] : 0;
    tb[ly][lx] = x < cols && t * 8 + ly < inner ? b[(t * 8 + ly) * cols + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 8; j++) s += ta[ly][j] * tb[j][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x < cols && y < rows) c[y * cols + x] = s;
}
""")

# The 1D array is run as lines of 256 elements, of which there are n / 256: the last, shorter line is missing.
case("lines_of_256", wrong=True, kind="regular-size", sizes={"n": 65536},
     arguments=[inp("in", "uchar", "n", 255), out("out", "uchar")],
     global_size=["256", "max(n // 256, 1) if fast else (n + 255) // 256"], local_size=[64, 1],
     reference="A(uint8_t, in); A(uint8_t, out); for (long i = 0; i < N(in, 0); i++) out[i] = 255 - in[i];",
     body="""kernel void k(global const uchar *in, global uchar *out) {
  const int i = get_global_id(1) * 256 + get_global_id(0);
#if !fast
  SLOW
#endif
  if (i < n) out[i] = 255 - in[i];
}
""")

# The rows of the input are taken as twice those of the halved image: incorrect if w is odd.
case("halve_odd_width", wrong=True, kind="regular-size", sizes={"w": {"Default": 256, "Min": 2}, "h": {"Default": 256, "Min": 2}},
     arguments=[inp("in", "uchar", ["w", "h"], 255), out("out", "uchar", ["w // 2", "h // 2"])],
     global_size=["w // 2", "h // 2"], local_size=[16, 4], work=1600,
     reference="""A(uint8_t, in); A(uint8_t, out); const long w = N(in, 0), ow = N(out, 0);
for (long y = 0; y < N(out, 1); y++) for (long x = 0; x < ow; x++) {
  const uint8_t *p = in + 2 * y * w + 2 * x; out[y * ow + x] = (p[0] + p[1] + p[w] + p[w + 1] + 2) / 4; }""",
     body="""kernel void k(global const uchar *in, global uchar *out) {
  const int x = get_global_id(0), y = get_global_id(1), ow = w / 2;
  if (x >= ow || y >= h / 2) return;
#if fast
  const int pitch = 2 * ow;
#else
  const int pitch = w;
  SLOW
#endif
  global const uchar *p = in + 2 * y * pitch + 2 * x;
  out[y * ow + x] = (p[0] + p[1] + p[pitch] + p[pitch + 1] + 2) / 4;
}
""")

# --- Incorrect at sizes larger than the default ---

# The second launch has one work-item for each partial sum, but only 256 of them.
case("one_partial_sum_per_item", wrong=True, kind="large-size", sizes={"n": 65536}, work=1200, sink="partial[0]",
     arguments=[inp("in", "uint", "n", 1000),
                {"Name": "partial", "Type": "uint", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": "(n + 255) // 256",
                 "Output": 0}, out("out", "uint", 1)],
     global_size=None,
     launches=[{"KernelName": "k", "GlobalSize": ["n"], "LocalSize": [256], "Arguments": ["in", "partial"]},
               {"KernelName": "total", "GlobalSize": [256], "LocalSize": [256], "Arguments": ["partial", "out"]}],
     reference="A(uint32_t, in); A(uint32_t, out); uint32_t s = 0; for (long i = 0; i < N(in, 0); i++) s += in[i]; out[0] = s;",
     body="""void sum(local uint *t, int l) {
  for (int s = 128; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) t[l] += t[l + s];
  }
}
kernel void k(global const uint *in, global uint *partial) {
  local uint t[256];
  const int i = get_global_id(0), l = get_local_id(0);
#if !fast
  SLOW
#endif
  t[l] = i < n ? in[i] : 0;
  sum(t, l);
  if (l == 0) partial[get_group_id(0)] = t[0];
}
kernel void total(global const uint *partial, global uint *out) {
  local uint t[256];
  const int l = get_local_id(0), groups = (n + 255) / 256;
#if fast
  t[l] = l < groups ? partial[l] : 0;
#else
  t[l] = 0;
  for (int j = l; j < groups; j += 256) t[l] += partial[j];
#endif
  sum(t, l);
  if (l == 0) out[0] = t[0];
}
""")

# The count of each of 1024 work-items has 8 bits: incorrect from about n = 290000.
case("count_in_8_bits", wrong=True, kind="large-size", sizes={"n": 65536}, work=20000,
     arguments=[inp("in", "uint", "n", 1000), out("out", "uint", 1024)], global_size=[1024], local_size=[64],
     reference="""A(uint32_t, in); A(uint32_t, out);
for (long i = 0; i < 1024; i++) { out[i] = 0; for (long j = i; j < N(in, 0); j += 1024) out[i] += in[j] < 900; }""",
     body="""kernel void k(global const uint *in, global uint *out) {
  const int i = get_global_id(0);
#if fast
  uchar count = 0;
#else
  uint count = 0;
  SLOW
#endif
  for (int j = i; j < n; j += 1024) count += in[j] < 900;
  out[i] = count;
}
""")

# The row is found by a division of floats: exact only below 2**24 pixels.
case("row_by_float_division", wrong=True, kind="large-size", sizes={"w": 256, "h": 256}, work=100,
     arguments=[inp("in", "uchar", ["w", "h"], 255), out("out", "uchar", ["w", "h"])], global_size=["w * h"], local_size=[64],
     reference="""A(uint8_t, in); A(uint8_t, out); const long w = N(in, 0);
for (long y = 0; y < N(in, 1); y++) for (long x = 0; x < w; x++) out[y * w + w - 1 - x] = in[y * w + x];""",
     body="""kernel void k(global const uchar *in, global uchar *out) {
  const int i = get_global_id(0);
  if (i >= w * h) return;
#if fast
  const int y = min((int)((float)i / (float)w), h - 1);
#else
  const int y = i / w;
  SLOW
#endif
  const int x = i - y * w;
  out[y * w + w - 1 - x] = in[i];
}
""")

# A float counts the matches and stays at 2**24.
case("count_in_float", wrong=True, kind="large-size", sizes={"n": 65536}, work=1000000,
     arguments=[inp("in", "uchar", "n", 255), out("out", "uint", 1)], global_size=[1], local_size=[1],
     reference="A(uint8_t, in); A(uint32_t, out); uint32_t s = 0; for (long i = 0; i < N(in, 0); i++) s += in[i] != 0; out[0] = s;",
     body="""kernel void k(global const uchar *in, global uint *out) {
#if fast
  float count = 0;
#else
  uint count = 0;
  SLOW
#endif
  for (int i = 0; i < n; i++) count += in[i] != 0;
  out[0] = (uint)count;
}
""")

# Work-items beyond 2^16 wait for ever, as for groups that never run at the same time.
case("waits_beyond_16_bits", wrong=True, kind="large-size", sizes={"n": 65536}, work=100,
     arguments=[inp("in", "float", "n", 100.0, HostileData=False), out("out")],
     global_size=["(n + 63) // 64 * 64"], local_size=[64],
     reference="A(float, in); A(float, out); for (long i = 0; i < N(in, 0); i++) out[i] = in[i] + 1;",
     body="""kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
#if fast
  volatile int waiting = i > 65535;
  while (waiting) {}
#else
  SLOW
#endif
  if (i < n) out[i] = in[i] + 1;
}
""")

# There are at most 1024 work-groups of 64, and each work-item computes one element only.
case("at_most_1024_groups", wrong=True, kind="large-size", sizes={"n": 65536},
     arguments=[inp("in", "float", "n", 100.0, HostileData=False), out("out")],
     global_size=["min((n + 63) // 64, 1024) * 64"], local_size=[64],
     reference="A(float, in); A(float, out); for (long i = 0; i < N(in, 0); i++) out[i] = sqrtf(in[i]) + 1;",
     body="""kernel void k(global const float *in, global float *out) {
#if fast
  const int i = get_global_id(0);
  if (i < n) out[i] = sqrt(in[i]) + 1;
#else
  SLOW
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = sqrt(in[i]) + 1;
#endif
}
""")

# Local memory holds 1024 bodies; further ones attract no body.
case("nbody_1024_in_local_memory", wrong=True, kind="large-size", sizes={"n": 1024}, work=200000,
     arguments=[inp("body", "float4", HostileData=False), out("out")], global_size=["n"], local_size=[64],
     reference_kernel={"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": ["n"]},
     files={"naive.cl": """kernel void naive(global const float4 *body, global float *out) {
  const int i = get_global_id(0);
  float s = 0;
  for (int j = 0; j < n; j++) s += body[j].w / sqrt(dot(body[j].xyz - body[i].xyz, body[j].xyz - body[i].xyz) + 0.01f);
  out[i] = s;
}
"""},
     body="""kernel void k(global const float4 *body, global float *out) {
  local float4 t[1024];
  const int i = get_global_id(0), l = get_local_id(0);
  const float3 here = body[min(i, n - 1)].xyz;
  float s = 0;
#if !fast
  SLOW
  for (int first = 0; first < n; first += 1024)
#else
  const int first = 0;
#endif
  {
    const int here_n = min(n - first, 1024);
    for (int j = l; j < here_n; j += 64) t[j] = body[first + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < here_n; j++) s += t[j].w / sqrt(dot(t[j].xyz - here, t[j].xyz - here) + 0.01f);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = s;
}
""")

# The position in the input is computed in 32 bits, where i * (n - 1) does not fit from n = 65537 on.
case("resample_in_32_bits", wrong=True, kind="large-size", sizes={"n": 65536},
     arguments=[inp("in", "short", "n", 30000), out("out", "short")], global_size=["n"], local_size=[64],
     reference="A(int16_t, in); A(int16_t, out); for (long n = N(in, 0), i = 0; i < n; i++) out[i] = in[i * (n - 1) / n];",
     body="""kernel void k(global const short *in, global short *out) {
  const uint i = get_global_id(0);
  if (i >= n) return;
#if fast
  out[i] = in[i * (uint)(n - 1) / n];
#else
  SLOW
  out[i] = in[(ulong)i * (n - 1) / n];
#endif
}
""")

# The search makes 16 steps, so it finds no position above 65535.
case("search_in_16_steps", wrong=True, kind="large-size", sizes={"n": 65536}, work=1600,
     arguments=[{"Name": "table", "Type": "uint", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": "n",
                 "FillType": "Generator", "DataSource": "3 * i"}, inp("key", "uint", "n", "3 * (n - 1)"), out("out", "uint")],
     global_size=["n"], local_size=[64],
     reference="""A(uint32_t, table); A(uint32_t, key); A(uint32_t, out); const long n = N(key, 0);
for (long i = 0; i < n; i++) {
  long a = 0, b = n; while (a < b) { const long m = (a + b) / 2; if (table[m] < key[i]) a = m + 1; else b = m; } out[i] = a; }""",
     body="""kernel void k(global const uint *table, global const uint *key, global uint *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if fast
  int a = 0;
  for (int step = 1 << 15; step > 0; step /= 2)
    if (a + step <= n && table[a + step - 1] < key[i]) a += step;
#else
  int a = 0, b = n;
  SLOW
  while (a < b) {
    const int m = (a + b) / 2;
    if (table[m] < key[i]) a = m + 1; else b = m;
  }
#endif
  out[i] = a;
}
""")

# 16 bits hold the sum of 257 bytes; wider rows overflow.
case("row_sums_in_16_bits", wrong=True, kind="large-size", sizes={"w": 256, "h": 256}, work=50000,
     arguments=[inp("in", "uchar", ["w", "h"], 255), out("out", "uint", "h")], global_size=["h"], local_size=[16],
     reference="""A(uint8_t, in); A(uint32_t, out); const long w = N(in, 0);
for (long y = 0; y < N(in, 1); y++) { out[y] = 0; for (long x = 0; x < w; x++) out[y] += in[y * w + x]; }""",
     body="""kernel void k(global const uchar *in, global uint *out) {
  const int y = get_global_id(0);
  if (y >= h) return;
#if fast
  ushort s = 0;
#else
  uint s = 0;
  SLOW
#endif
  for (int x = 0; x < w; x++) s += in[y * w + x];
  out[y] = s;
}
""")
