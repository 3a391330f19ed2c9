"""Kernels that are correct but unusual: both variants, at every size and with all data that the description allows."""
from array import array

from case import MODULE, case


def read(name, type, size, top=1.0, **more):
    """An input: random from 0 to top unless `more` says how it is filled."""
    fill = {} if "FillType" in more else {"FillType": "Random", "FillValue": top}
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": size, **fill, **more}


def made(name, type, size, function):
    """An input that a C function of gen.c writes."""
    return read(name, type, size, FillType="Generator", Generator=function, Module="gen.c")


def written(name, type, size, **more):
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": size, **more}


def changed(name, type, size, **more):
    """Read and written: restored before each run if it has a FillType, scratch memory with Output=0 and none."""
    return {"Name": name, "Type": type, "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": size, **more}


def scalar(name, value, type="int"):
    return {"Name": name, "Type": type, "MemoryType": "Scalar", "FillValue": value}


def module(text):
    """A C file of generators or judges; T(type, a): the array to fill; R(i): a random number for element i and this seed."""
    return MODULE + """#define T(type, name) type *name = call->target->data; \\
  const long count = (long)call->target->extent[0]; (void)count
#define R(i) (((uint32_t)(i) * 2654435761u ^ (uint32_t)call->seed * 40503u) * 2246822519u >> 8)
""" + text


def right(name, sizes, arguments, body, **more):
    more = {"global_size": ["n"], "local_size": [64], **more}
    case(name, wrong=False, kind="right", sizes=sizes, arguments=arguments, body=body, **more)


# ---- Memory that is restored, cleared, or written only in part

# Between two barriers its argument `a` holds squares, for the neighbour i ^ 1 of the same group; at the end `a` is as before.
# `a` is an output by its AccessType, with the values that it began with. Stumbles: "the kernel changed its input".
right("restores_its_input", {"n": 65536}, [changed("a", "float", "n", FillType="Random", FillValue=1.0),
      written("out", "float", "n")], """
kernel void k(global float *a, global float *out) {
  const int i = get_global_id(0), j = (i ^ 1) < n ? i ^ 1 : i;
  const float own = i < n ? a[i] : 0;
#if !fast
  SLOW
#endif
  if (i < n) a[i] = own * own;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (i < n) out[i] = a[j] - 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (i < n) a[i] = own;
}""", reference="""A(float, a); A(float, out); for (long i = 0; i < N(out, 0); i++) {
long j = (i ^ 1) < N(out, 0) ? i ^ 1 : i; out[i] = a[j] * a[j] - 1; }""")

# The first launch initialises the scratch memory, the group that finishes last writes the sum and clears the state again. No
# group waits for another one. Stumbles: scratch that is read by the launch which writes it; a winner that depends on the order
# of groups, unlike the result.
right("last_group_done", {"n": 65536}, [read("in", "uint", "n", 1000), changed("state", "uint", 2, Output=0),
      written("out", "uint", 1)], """
kernel void begin(global uint *state) { state[0] = state[1] = 0; }
kernel void k(global const uint *in, volatile global uint *state, global uint *out) {
  local uint sum;
  const int i = get_global_id(0), l = get_local_id(0);
#if !fast
  SLOW
#endif
  if (l == 0) sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_add(&sum, in[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    atomic_add(&state[0], sum);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(&state[1]) == get_num_groups(0) - 1) {
      out[0] = atomic_xchg(&state[0], 0);
      atomic_xchg(&state[1], 0);
    }
  }
}""", work=2000, reference="""A(uint32_t, in); A(uint32_t, out); uint32_t s = 0;
for (long i = 0; i < N(in, 0); i++) s += in[i]; out[0] = s;""",
      launches=[{"KernelName": "begin", "GlobalSize": [1], "LocalSize": [1], "Arguments": ["state"]},
                {"GlobalSize": ["n"], "LocalSize": [64], "Arguments": ["in", "state", "out"]}])

# A counter hands out pieces of work to whichever work-item asks first. It begins with 0 before each run, by its FillType, and
# is not reset. Stumbles: scratch with a content that must not be poisoned; which work-item does what differs from run to run.
right("work_counter", {"n": 65536}, [read("in", "float", "n"), changed("next",
      "int", 1, Output=0, FillType="Constant", FillValue=0),
      written("out", "float", "n")], """
kernel void k(global const float *in, global int *next, global float *out) {
#if !fast
  SLOW
#endif
  for (;;) {
    const int first = 64 * atomic_inc(next);
    if (first >= n) break;
    for (int i = first; i < min(first + 64, n); i++) out[i] = in[i] + 1;
  }
}""", global_size=[2048], work=3000, reference="""A(float, in); A(float, out);
for (long i = 0; i < N(in, 0); i++) out[i] = in[i] + 1;""")

# In place, like one half of a red-black sweep: odd elements become the mean of their neighbours, even ones are only read. The
# array is an output that is mostly as it was. Stumbles: poison in an output that has a content; elements that no work-item writes.
right("red_black_in_place", {"n": 65536}, [changed("a", "float", "n", FillType="Random", FillValue=1.0)], """
kernel void k(global float *a) {
  const int i = 2 * get_global_id(0) + 1;
#if !fast
  SLOW
#endif
  if (i + 1 < n) a[i] = 0.5f * (a[i - 1] + a[i + 1]);
}""", work=80, global_size=["(n + 1) // 2"], sink="a[0]", reference="""A(float, a);
for (long i = 1; i + 1 < N(a, 0); i += 2) a[i] = 0.5f * (a[i - 1] + a[i + 1]);""")

# Three pairs of Jacobi steps between two scratch arrays, which an earlier launch of the same run fills. Every launch writes all
# that the next one reads. Stumbles: scratch memory that carries data between launches, one kernel with its arguments swapped.
right("ping_pong_launches", {"n": {"Default": 16384, "Min": 3}},
      [read("in", "float", "n"), changed("a", "float", "n", Output=0), changed("b", "float", "n", Output=0),
      written("out", "float", "n")], """
kernel void copy(global const float *from, global float *to) { const int i = get_global_id(0); if (i < n) to[i] = from[i]; }
kernel void k(global const float *from, global float *to) {
  const int i = get_global_id(0);
#if !fast
  SLOW
#endif
  if (i < n) to[i] = 0.25f * from[max(i - 1, 0)] + 0.5f * from[i] + 0.25f * from[min(i + 1, n - 1)];
}""", work=100, sink="to[0]", reference="""A(float, in); A(float, out); long n = N(in, 0);
double *a = malloc(n * 8), *b = malloc(n * 8);
for (long i = 0; i < n; i++) a[i] = in[i];
for (int t = 0; t < 6; t++) {
for (long i = 0; i < n; i++) b[i] = 0.25 * a[i > 0 ? i - 1 : 0] + 0.5 * a[i] + 0.25 * a[i < n - 1 ? i + 1 : i];
  double *c = a; a = b; b = c; }
for (long i = 0; i < n; i++) out[i] = (float)a[i];
free(a); free(b);""", launches=[{"KernelName": "copy", "GlobalSize": ["n"], "LocalSize": [64], "Arguments": ["in", "a"]},
                                {"Repeat": 3, "Launches": [{"GlobalSize": ["n"], "LocalSize": [64], "Arguments": ["a", "b"]},
                                                           {"GlobalSize": ["n"],
      "LocalSize": [64], "Arguments": ["b", "a"]}]},
                                {"KernelName": "copy", "GlobalSize": ["n"], "LocalSize": [64], "Arguments": ["a", "out"]}])

# Stage `s` (0 to 5) of an integer butterfly, in place over global memory; each work-item owns its pair in each stage. `s` is
# the number of the repetition: another value is a shift too far. n is a multiple of 64, so that all pairs exist.
right("repetition_stages", {"n": {"Default": 32768, "Min": 64}}, [changed("a",
      "uint", "n", FillType="Random", FillValue=4294967295),
      {"Name": "s", "Type": "int", "MemoryType": "Scalar", "FillType": "Repetition"}], """
kernel void k(global uint *a, const int s) {
  const int i = get_global_id(0), low = (i >> s << (s + 1)) | (i & ((1 << s) - 1));
#if !fast
  SLOW
#endif
  const uint x = a[low], y = a[low | (1 << s)];
  a[low] = x + y;
  a[low | (1 << s)] = x - y;
}""", work=150, sink="a[0]", launches=[{"GlobalSize": ["n // 2"], "LocalSize": [32], "Repeat": 6, "Arguments": ["a", "s"]}],
      reference="""A(uint32_t, a); long n = N(a, 0);
for (long h = 1; h < 64; h *= 2) for (long i = 0; i < n; i++) if (!(i & h)) { uint32_t x = a[i], y = a[i + h]; a[i] = x + y;
a[i + h] = x - y; }""",
      more={"ConfigurationSpace": {"Conditions": [{"Expression": "n % 64 == 0"}]}})

# ---- Integers that overflow by definition, values written twice

# Unsigned arithmetic is modulo 2^32 in the kernel and in C. Stumbles: inputs up to the type's largest value, "overflow".
right("hash_wraps", {"n": 65536}, [read("in", "uint", "n", 4294967295), written("out", "uint", "n")], """
kernel void k(global const uint *in, global uint *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  uint h = in[i] + 0x9e3779b9u;
#if !fast
  SLOW
  h ^= h >> 16; h *= 0x85ebca6bu; h = h * 33 + (uint)i; h ^= h >> 13;
#else
  h ^= h >> 16; h *= 0x85ebca6bu; h = (h << 5) + h + (uint)i; h ^= h >> 13;
#endif
  out[i] = h;
}""", work=40, reference="""A(uint32_t, in); A(uint32_t, out); for (long i = 0; i < N(in, 0); i++) {
uint32_t h = in[i] + 0x9e3779b9u; h ^= h >> 16; h *= 0x85ebca6bu; h = h * 33u + (uint32_t)i; h ^= h >> 13; out[i] = h; }""")

# `steps` is a number of iterations of a linear congruential generator; fast jumps ahead with repeated squaring, which is the
# same modulo 2^32 for every number of steps. Stumbles: a scalar that is made huge makes the slow variant endless.
right("generator_jumps", {"n": 32768}, [read("in", "uint", "n", 4294967295), written("out", "uint", "n"),
      scalar("steps", 517)], """
kernel void k(global const uint *in, global uint *out, const int steps) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
  uint x = in[i];
  for (int s = 0; s < steps; s++) x = x * 1664525u + 1013904223u;
  out[i] = x;
#else
  uint a = 1664525u, c = 1013904223u, all_a = 1, all_c = 0;
  for (int s = steps; s > 0; s >>= 1) {
    if (s & 1) { all_a *= a; all_c = all_c * a + c; }
    c *= a + 1;
    a *= a;
  }
  out[i] = in[i] * all_a + all_c;
#endif
}""", work=100, reference="""A(uint32_t, in); A(uint32_t, out); for (long i = 0; i < N(in, 0); i++) { uint32_t x = in[i];
for (long s = 0; s < (long)S(steps); s++) x = x * 1664525u + 1013904223u; out[i] = x; }""")

# Which values occur: many work-items write the same 1 to the same byte, which a launch before has cleared. The result does not
# depend on who writes last. Stumbles: a race of equal writes; an index that must stay within FillValue.
right("same_value_twice", {"n": 65536, "bins": {"Default": 256, "Min": 1}}, [read("in", "int", "n", "bins - 1"),
      written("seen", "int", "bins")], """
kernel void clear(global int *seen) { seen[get_global_id(0)] = 0; }
kernel void k(global const int *in, global int *seen) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
#endif
  seen[in[i]] = 1;
}""", sink="seen[0]", launches=[{"KernelName": "clear", "GlobalSize": ["bins"], "LocalSize": [1], "Arguments": ["seen"]},
                                {"GlobalSize": ["n"], "LocalSize": [64], "Arguments": ["in", "seen"]}],
      reference="""A(int, in); A(int, seen); memset(seen, 0, 4 * N(seen, 0));
for (long i = 0; i < N(in, 0); i++) seen[in[i]] = 1;""")

# ---- Real numbers that differ slightly

# A dot product per row: four partial sums instead of one. Both are within the tolerance of a sum, also if terms cancel.
right("dot_in_another_order", {"rows": 4096, "n": 64}, [read("a", "float", "rows * n"), read("x", "float", "n"),
      written("out", "float", "rows")], """
kernel void k(global const float *a, global const float *x, global float *out) {
  const int r = get_global_id(0);
  if (r >= rows) return;
#if !fast
  SLOW
  float sum = 0;
  for (int j = 0; j < n; j++) sum += a[r * n + j] * x[j];
  out[r] = sum;
#else
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int j = 0;
  for (; j + 3 < n; j += 4) {
    s0 = fma(a[r * n + j], x[j], s0); s1 = fma(a[r * n + j + 1], x[j + 1], s1);
    s2 = fma(a[r * n + j + 2], x[j + 2], s2); s3 = fma(a[r * n + j + 3], x[j + 3], s3);
  }
  for (; j < n; j++) s0 += a[r * n + j] * x[j];
  out[r] = (s0 + s1) + (s2 + s3);
#endif
}""", global_size=["rows"], work=500, reference="""A(float, a); A(float, x); A(float, out); long n = N(x, 0);
for (long r = 0; r < N(out, 0); r++) { double s = 0; for (long j = 0; j < n; j++) s += (double)a[r * n + j] * x[j];
out[r] = (float)s; }""")

# Prefix sums of blocks of 64 numbers from -0.5 to 0.5, by doubling in local memory instead of one after the other: sums near 0
# have a large relative error, so the problem states an absolute tolerance.
right("scan_in_another_order", {"n": 65536}, [read("in", "float", "n"), written("out",
      "float", "n", AbsoluteTolerance=1e-4)], """
kernel void k(global const float *in, global float *out) {
  local float t[2][64];
  const int i = get_global_id(0), l = get_local_id(0);
#if !fast
  SLOW
  float sum = 0;
  for (int j = i - l; j <= i && i < n; j++) sum += in[j] - 0.5f;
  if (i < n) out[i] = sum;
#else
  t[0][l] = i < n ? in[i] - 0.5f : 0;
  int now = 0;
  for (int h = 1; h < 64; h *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    t[!now][l] = t[now][l] + (l >= h ? t[now][l - h] : 0);
    now = !now;
  }
  if (i < n) out[i] = t[now][l];
#endif
}""", reference="""A(float, in); A(float, out); double s = 0; for (long i = 0; i < N(in, 0); i++) { if (i % 64 == 0) s = 0;
s += in[i] - 0.5; out[i] = (float)s; }""")

# One sum of a large array: float sums of pieces, then their total, against double precision. fast joins neighbours first.
right("long_sum", {"n": 262144}, [read("in", "float", "n"), changed("part", "float", 1024, Output=0),
      written("out", "float", 1, AbsoluteTolerance=0.01)], """
kernel void k(global const float *in, global float *part) {
  const int g = get_global_id(0);
  float sum = 0;
#if !fast
  SLOW
  for (int i = g; i < n; i += 1024) sum += in[i];
#else
  for (int i = g; i < n; i += 4096)
    sum += (in[i] + (i + 1024 < n ? in[i + 1024] : 0)) + ((i + 2048 < n ? in[i + 2048] : 0) + (i + 3072 < n ? in[i + 3072] : 0));
#endif
  part[g] = sum;
}
kernel void total(global const float *part, global float *out) {
  float sum = 0;
  for (int g = 0; g < 1024; g++) sum += part[g];
  out[0] = sum;
}""", work=25000, sink="part[0]", launches=[{"GlobalSize": [1024], "LocalSize": [64], "Arguments": ["in", "part"]},
                                            {"KernelName": "total", "GlobalSize": [1],
      "LocalSize": [1], "Arguments": ["part", "out"]}],
      reference="""A(float, in); A(float, out); double s = 0; for (long i = 0; i < N(in, 0); i++) s += in[i];
out[0] = (float)s;""")

# A product of 8 factors between 0.5 and 1.5 from the left, or as a tree. Within the declared range nothing under- or overflows.
right("product_as_tree", {"n": 32768}, [read("in", "float", "8 * n", HostileData=False), written("out", "float", "n")], """
#define F(j) (in[8 * i + (j)] + 0.5f)
kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
  float p = 1;
  for (int j = 0; j < 8; j++) p *= F(j);
  out[i] = p;
#else
  out[i] = ((F(0) * F(1)) * (F(2) * F(3))) * ((F(4) * F(5)) * (F(6) * F(7)));
#endif
}""", work=150, reference="""A(float, in); A(float, out); for (long i = 0; i < N(out, 0); i++) { double p = 1;
for (int j = 0; j < 8; j++) p *= in[8 * i + j] + 0.5f; out[i] = (float)p; }""")

# Built-in functions with OpenCL's accuracy, in two equal forms, for numbers from 0.5 to 1.5, which are the only ones ever met.
right("elementary_functions", {"n": 32768}, [read("in", "float", "n", HostileData=False), written("out", "float", "n")], """
kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float x = in[i] + 0.5f;
#if !fast
  SLOW
  out[i] = pow(x, 1.5f) + exp(-x) + log(x + 1) + 1 / sqrt(x) + tanh(x);
#else
  const float e = exp(2 * x);
  out[i] = x * sqrt(x) + 1 / exp(x) + log2(x + 1) * M_LN2_F + rsqrt(x) + (e - 1) / (e + 1);
#endif
}""", work=700, reference="""A(float, in); A(float, out); for (long i = 0; i < N(in, 0); i++) { double x = in[i] + 0.5f;
out[i] = (float)(pow(x, 1.5) + exp(-x) + log(x + 1) + 1 / sqrt(x) + tanh(x)); }""")

# fast is built with relaxed arithmetic, which the author allows: positive, finite data, nothing cancels. Angles are within one
# turn (HostileData false), and native functions are good enough for the stated tolerance.
right("relaxed_math_angles", {"n": 32768}, [read("angle", "float", "n", 6.2831853, HostileData=False),
      read("r", "float", "n", HostileData=False),
      written("out", "float2", "n", AbsoluteTolerance=2e-4)], """
kernel void k(global const float *angle, global const float *r, global float2 *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float d = (r[i] + 1) / (r[i] + 2);
#if !fast
  SLOW
  out[i] = d * (float2)(cos(angle[i]), sin(angle[i]));
#else
  out[i] = (float2)(native_cos(angle[i]) * d, native_sin(angle[i]) * d);
#endif
}""", work=400, options=[{"Option": "-cl-fast-relaxed-math", "When": "fast == 1"}], reference="""A(float, angle); A(float, r);
A(float, out);
for (long i = 0; i < N(r, 0); i++) { double d = (r[i] + 1.0) / (r[i] + 2.0); out[2 * i] = (float)(d * cos(angle[i]));
out[2 * i + 1] = (float)(d * sin(angle[i])); }""")

# Horner's rule with fma, or powers and sums. `order` is a size, but no extent of anything except the order + 1 coefficients:
# halving it is fine, 4096 is not (hence Max), and 0 is a constant polynomial.
right("polynomial_order", {"n": 32768, "order": {"Default": 12, "Min": 0, "Max": 16}},
      [read("x", "float", "n"), read("c", "float", "order + 1", HostileData=False, MemType="Constant"),
      written("out", "float", "n", AbsoluteTolerance=1e-5)], """
kernel void k(global const float *x, constant float *c, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
  float sum = 0, power = 1;
  for (int j = 0; j <= order; j++) { sum += c[j] * power; power *= x[i]; }
#else
  float sum = c[order];
  for (int j = order - 1; j >= 0; j--) sum = fma(sum, x[i], c[j]);
#endif
  out[i] = sum;
}""", work=200, reference="""A(float, x); A(float, c); A(float, out); for (long i = 0; i < N(x, 0); i++) { double s = 0;
for (long j = N(c, 0) - 1; j >= 0; j--) s = s * x[i] + c[j]; out[i] = (float)s; }""")

# ---- Indices and tables whose values have a meaning

# Histogram: integers up to FillValue, which is bins - 1, are indices. Local counters, then atomic additions to an output that a
# earlier launch has cleared, whatever its content (7). Stumbles: larger values in the input; `bins` made smaller without the data.
right("histogram", {"n": 65536, "bins": {"Default": 100, "Min": 1, "Max": 1024}}, [read("in", "uint", "n", "bins - 1"),
      changed("out", "uint", "bins", FillType="Constant", FillValue=7)], """
kernel void clear(global uint *out) { out[get_global_id(0)] = 0; }
kernel void k(global const uint *in, global uint *out) {
  local uint count[bins];
  const int i = get_global_id(0), l = get_local_id(0);
#if !fast
  SLOW
  if (i < n) atomic_inc(&out[in[i]]);
#else
  for (int b = l; b < bins; b += 256) count[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_inc(&count[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int b = l; b < bins; b += 256) if (count[b] > 0) atomic_add(&out[b], count[b]);
#endif
}""", work=400, launches=[{"KernelName": "clear", "GlobalSize": ["bins"], "LocalSize": [1], "Arguments": ["out"]},
                           {"GlobalSize": ["n"], "LocalSize": [256], "Arguments": ["in", "out"]}],
      reference="""A(uint32_t, in); A(uint32_t, out); memset(out, 0, 4 * N(out, 0));
for (long i = 0; i < N(in, 0); i++) out[in[i]]++;""")

# A scatter through a permutation that a generator writes: every element is written, once. With other indices, some would not be
# written, and others out of bounds. The generator makes another permutation for each seed.
right("scatter_permutation", {"n": {"Default": 65536, "Min": 2}}, [read("in", "float", "n"),
      made("to", "int", "n", "permutation"), written("out", "float", "n")], """
kernel void k(global const float *in, global const int *to, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
#endif
  out[to[i]] = in[i] * 2;
}""", work=150, files={"gen.c": module("""int permutation(const clt_module_call *call) { T(int, p);
for (long i = 0; i < count; i++) p[i] = (int)i;
for (long i = count - 1; i > 0; i--) { long j = R(i) % (i + 1); int t = p[i]; p[i] = p[j]; p[j] = t; }
return 0; }""")}, reference="""A(float, in); A(int, to); A(float, out);
for (long i = 0; i < N(in, 0); i++) out[to[i]] = in[i] * 2;""")

# Two tables from files belong together: slow searches the value in the first, fast looks it up in the second, its inverse.
# Stumbles: one table changed without the other; slow would search past the end. Input bytes cover all 256 values.
BOX = [(167 * j + 13) % 256 for j in range(256)]
right("inverse_tables", {"n": 32768}, [read("in", "uchar", "n", 255), read("box",
      "uchar", 256, FillType="BinaryRaw", DataSource="box.bin"),
      read("inverse", "uchar", 256, FillType="BinaryRaw", DataSource="inverse.bin"),
      written("out", "uchar", "n")], """
kernel void k(global const uchar *in, global const uchar *box, global const uchar *inverse, global uchar *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
  int j = 0;
  while (box[j] != in[i]) j++;
  out[i] = j;
#else
  out[i] = inverse[in[i]];
#endif
}""", work=40, files={"box.bin": bytes(BOX), "inverse.bin": bytes(BOX.index(v) for v in range(256))},
      reference="""A(uint8_t, in); A(uint8_t, box); A(uint8_t, out);
uint8_t inverse[256]; for (int j = 0; j < 256; j++) inverse[box[j]] = (uint8_t)j;
for (long i = 0; i < N(in, 0); i++) out[i] = inverse[in[i]];""")

# A sparse matrix in CSR form: row offsets begin with 0, do not fall and end with the number of values, columns are below n.
# Rows have 1 to 15 values. Neither array can hold anything else, nor n change without them.
right("sparse_rows", {"n": 8192}, [made("row", "int", "n + 1", "rows"), made("column", "int", "8 * n", "columns"),
      read("value", "float", "8 * n"),
      read("x", "float", "n"), written("out", "float", "n")], """
kernel void k(global const int *row, global const int *column, global const float *value,
                   global const float *x, global float *out) {
  const int r = get_global_id(0);
  if (r >= n) return;
#if !fast
  SLOW
  float sum = 0;
  for (int j = row[r]; j < row[r + 1]; j++) sum += value[j] * x[column[j]];
  out[r] = sum;
#else
  float a = 0, b = 0;
  int j = row[r + 1] - 1;
  for (; j > row[r]; j -= 2) { a += value[j] * x[column[j]]; b += value[j - 1] * x[column[j - 1]]; }
  if (j == row[r]) a += value[j] * x[column[j]];
  out[r] = a + b;
#endif
}""", work=300, files={"gen.c": module("""int rows(const clt_module_call *call) { T(int, p); p[0] = 0;
for (long i = 0; i + 1 < count; i++) { int d = (int)(R(i / 2) % 8);
p[i + 1] = p[i] + 8 + (i % 2 ? -d : i + 2 < count ? d : 0); }
return 0; }
int columns(const clt_module_call *call) { T(int, p); for (long i = 0; i < count; i++) p[i] = (int)(R(i) % (count / 8));
return 0; }""")},
      reference="""A(int, row); A(int, column); A(float, value); A(float, x); A(float, out);
for (long r = 0; r < N(out, 0); r++) {
double s = 0; for (int j = row[r]; j < row[r + 1]; j++) s += (double)value[j] * x[column[j]]; out[r] = (float)s; }""")

# Linked lists through an array: an element's successor has a larger index, or is -1. Other numbers are out of bounds, or a ring
# in which the kernel never ends.
right("linked_lists", {"n": 32768}, [made("next", "int", "n", "links"), read("value", "uint", "n", 4294967295),
      written("out", "uint", "n")], """
kernel void k(global const int *next, global const uint *value, global uint *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
#endif
  uint sum = 0;
  for (int j = i; j >= 0; j = next[j]) sum = sum * 3 + value[j];
  out[i] = sum;
}""", work=600, files={"gen.c": module("""int links(const clt_module_call *call) { T(int, p);
for (long i = 0; i < count; i++) { long j = i + 1 + R(i) % 64; p[i] = R(i) % 8 == 0 || j >= count ? -1 : (int)j; }
return 0; }""")}, reference="""A(int, next); A(uint32_t, value); A(uint32_t, out); for (long i = 0; i < N(out, 0); i++) {
uint32_t s = 0; for (int j = (int)i; j >= 0; j = next[j]) s = s * 3 + value[j]; out[i] = s; }""")

# The first key that is not below a query, by counting or by bisection: the same only if keys are sorted, which they are. Keys
# repeat, queries are below, between and above them.
right("sorted_keys", {"n": 16384, "keys": {"Default": 200, "Min": 1}}, [made("key", "int", "keys", "sorted"),
      read("query", "int", "n", "10 * keys"), written("out", "int", "n")], """
kernel void k(global const int *key, global const int *query, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  int low = 0;
#if !fast
  SLOW
  for (int j = 0; j < keys; j++) low += key[j] < query[i];
#else
  for (int high = keys; low < high;) {
    const int middle = (low + high) / 2;
    if (key[middle] < query[i]) low = middle + 1; else high = middle;
  }
#endif
  out[i] = low;
}""", work=1500, files={"gen.c": module("""int sorted(const clt_module_call *call) { T(int, p); int v = 3;
for (long i = 0; i < count; i++) { v += (int)(R(i) % 17); p[i] = v; } return 0; }""")},
      reference="""A(int, key); A(int, query); A(int, out); for (long i = 0; i < N(out, 0); i++) { int c = 0;
for (long j = 0; j < N(key, 0); j++) c += key[j] < query[i]; out[i] = c; }""")

# The next state of a walk by its cumulated probabilities, which do not fall and end with 1, as the generator makes them: only
# then is "the first that exceeds u" the number of those that do not. u is a probability (HostileData false).
right("cumulated_probabilities", {"n": 32768}, [read("u", "float", "n", HostileData=False),
      made("cdf", "float", 32, "cumulated"), written("out", "int", "n")], """
kernel void k(global const float *u, global const float *cdf, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  int state = 0;
#if !fast
  SLOW
  while (state < 31 && u[i] >= cdf[state]) state++;
#else
  for (int j = 0; j < 31; j++) state += u[i] >= cdf[j];
#endif
  out[i] = state;
}""", work=150, files={"gen.c": module("""int cumulated(const clt_module_call *call) { T(float, p); double all = 0, sum = 0;
for (long i = 0; i < count; i++) all += R(i) % 100 + 1;
for (long i = 0; i < count; i++) { sum += R(i) % 100 + 1; p[i] = (float)(sum / all); }
p[count - 1] = 1; return 0; }""")}, reference="""A(float, u); A(float, cdf); A(int, out);
for (long i = 0; i < N(out, 0); i++) { int s = 0; while (s < 31 && u[i] >= cdf[s]) s++; out[i] = s; }""")

# Integer division by an array without 0. fast estimates the quotient in floating point and corrects it by one, which is exact
# for numerators up to FillValue (below 2^24) and the generator's divisors (1 to 1000). Stumbles: division by 0, negative numbers;
# Oclgrind 21.10 calls the stored vector uninitialised.
right("divisors", {"n": 65536}, [read("a", "int", "n", 9999999, HostileData=False), made("d", "int", "n", "divisor"),
      written("out", "int2", "n")], """
kernel void k(global const int *a, global const int *d, global int2 *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
  out[i] = (int2)(a[i] / d[i], a[i] % d[i]);
#else
  int q = (int)((float)a[i] / d[i]), rest = a[i] - q * d[i];
  if (rest < 0) { q--; rest += d[i]; }
  if (rest >= d[i]) { q++; rest -= d[i]; }
  out[i] = (int2)(q, rest);
#endif
}""", work=200, files={"gen.c": module("""int divisor(const clt_module_call *call) { T(int, p);
for (long i = 0; i < count; i++) p[i] = (int)(R(i) % 1000) + 1; return 0; }""")},
      reference="""A(int, a); A(int, d); A(int, out); for (long i = 0; i < N(a, 0); i++) { out[2 * i] = a[i] / d[i];
out[2 * i + 1] = a[i] % d[i]; }""")

# Five offsets in constant memory, from a file, in any order but within -2 to 2: the tile of local memory has just this halo.
# Stumbles: other offsets, which slow survives and fast does not.
right("offsets_and_halo", {"n": 65536}, [read("in", "float", "n"), read("offset",
      "int", 5, MemType="Constant", FillType="BinaryRaw", DataSource="offset.bin"), written("out", "float", "n")], """
kernel void k(global const float *in, constant int *offset, global float *out) {
  local float tile[68];
  const int i = get_global_id(0), l = get_local_id(0), first = i - l;
  float sum = 0;
#if !fast
  SLOW
  for (int j = 0; j < 5; j++) sum += (j + 1) * in[clamp(i + offset[j], 0, n - 1)];
#else
  for (int t = l; t < 68; t += 64) tile[t] = in[clamp(first + t - 2, 0, n - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < 5; j++) sum += (j + 1) * tile[l + 2 + offset[j]];
#endif
  if (i < n) out[i] = sum;
}""", files={"offset.bin": array("i", [2, -1, 0, -2, 1]).tobytes()}, reference="""A(float, in); A(int, offset); A(float, out);
long n = N(in, 0); for (long i = 0; i < n; i++) {
float s = 0; for (int j = 0; j < 5; j++) { long q = i + offset[j]; s += (j + 1) * in[q < 0 ? 0 : q > n - 1 ? n - 1 : q];
} out[i] = s; }""")

# `pitch` is the length of a row in memory, `last` an index: both follow from the sizes, and no other value fits the buffers. The
# C function knows the pitch by heart and does not follow the scalar, as references do. Padding is neither read nor verified.
right("pitch_and_last", {"width": {"Default": 253, "Min": 32}, "height": 128},
      [read("in", "float", "(width + 8) * height"), written("out", "float", "width * height"), scalar("pitch", "width + 8"),
      scalar("last", "width * height - 1", "uint")], """
kernel void k(global const float *in, global float *out, const int pitch, const uint last) {
  const uint i = get_global_id(0);
  if (i > last) return;
#if !fast
  SLOW
  out[last - i] = in[i / width * pitch + i % width];
#else
  const uint y = i / width;
  out[last - i] = in[i + y * (pitch - width)];
#endif
}""", work=60, global_size=["width * height"], reference="""A(float, in); A(float, out);
long w = (long)S(width), h = (long)S(height);
for (long i = 0; i < w * h; i++) out[w * h - 1 - i] = in[i / w * (w + 8) + i % w];""")

# `rounds` is a number of rounds, and 5 in the reference, which does not follow the scalar: changing it changes both variants
# alike, but not the reference.
right("rounds_written_down", {"n": 65536}, [read("in", "uint", "n", 4294967295), written("out", "uint", "n"),
      scalar("rounds", 5), scalar("key", 2654435769, "uint")], """
kernel void k(global const uint *in, global uint *out, const int rounds, const uint key) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
#endif
  uint x = in[i];
  for (int r = 0; r < rounds; r++) x = (rotate(x, 7u) ^ key) + (uint)r;
  out[i] = x;
}""", work=200, reference="""A(uint32_t, in); A(uint32_t, out); for (long i = 0; i < N(in, 0); i++) { uint32_t x = in[i];
for (uint32_t r = 0; r < 5; r++) x = ((x << 7 | x >> 25) ^ 2654435769u) + r; out[i] = x; }""")

# ---- The order of groups

# The largest number of each of 8 classes. The output begins with 0 before each run, by its FillType, and is added to with
# atomic_max, directly or after a local maximum: any order gives the same.
right("atomic_max_out", {"n": 65536}, [read("in", "int", "n", 1000000), changed("top",
      "int", 8, FillType="Constant", FillValue=0)], """
kernel void k(global const int *in, global int *top) {
  local int mine[8];
  const int i = get_global_id(0), l = get_local_id(0);
#if !fast
  SLOW
  if (i < n) atomic_max(&top[in[i] % 8], in[i]);
#else
  if (l < 8) mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_max(&mine[in[i] % 8], in[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 8) atomic_max(&top[l], mine[l]);
#endif
}""", work=250, sink="top[0]", reference="""A(int, in); A(int, top);
for (long i = 0; i < N(in, 0); i++) if (in[i] > top[in[i] % 8]) top[in[i] % 8] = in[i];""")

# Indices of all numbers above 700, in no particular order, and how many there are; the rest of `list` is never written. A
# function judges: each index once. Stumbles: two runs differ, and poison is left in an output.
right("compacted_list", {"n": 65536}, [read("in", "int", "n", 1000), written("list", "int", "n"),
      changed("found", "int", 1, FillType="Constant", FillValue=0)], """
kernel void k(global const int *in, global int *list, global int *found) {
  const int i = get_global_id(0);
#if !fast
  SLOW
  if (i < n && in[i] > 700) list[atomic_inc(found)] = i;
#else
  local int count, base;
  if (get_local_id(0) == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int place = 0;
  if (i < n && in[i] > 700) place = atomic_inc(&count);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) base = atomic_add(found, count);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n && in[i] > 700) list[base + place] = i;
#endif
}""", work=250, sink="list[0]", files={"judge.c": MODULE + """int same_set(const clt_module_call *call) { A(int, in);
A(int, list); A(int, found); long n = N(in, 0);
if (found[0] != *(const int *)clt_module_find_reference(call, "found")->data) { strcpy(call->message, "a wrong count");
return 1; }
char *seen = calloc(n, 1); int bad = 0;
for (int j = 0; j < found[0] && !bad; j++) { int i = list[j]; bad = i < 0 || i >= n || in[i] <= 700 || seen[i];
if (!bad) seen[i] = 1; }
free(seen); if (bad) strcpy(call->message, "a wrong index"); return bad; }"""},
      reference="""A(int, in); A(int, list); A(int, found); found[0] = 0;
for (long i = 0; i < N(in, 0); i++) if (in[i] > 700) list[found[0]++] = (int)i;""",
      more={"Reference": {"Verify": {"Module": "judge.c", "Function": "same_set"}}})

# ---- Sizes and work-groups

# Walsh-Hadamard transform: n must be a power of two. Slow adds up with signs, fast with butterflies in local memory. Stumbles:
# a size that the condition excludes; many barriers in a loop; sums that cancel.
right("power_of_two", {"rows": 64, "n": {"Default": 256, "Min": 2, "Max": 2048}}, [read("in", "float", "rows * n"),
      written("out", "float", "rows * n", AbsoluteTolerance=1e-3)], """
kernel void k(global const float *in, global float *out) {
  local float t[n];
  const int first = get_group_id(0) * n, l = get_local_id(0);
  for (int j = l; j < n; j += 32) t[j] = in[first + j];
  barrier(CLK_LOCAL_MEM_FENCE);
#if !fast
  SLOW
  for (int j = l; j < n; j += 32) {
    float sum = 0;
    for (int q = 0; q < n; q++) sum += popcount(j & q) & 1 ? -t[q] : t[q];
    out[first + j] = sum;
  }
#else
  for (int h = 1; h < n; h *= 2) {
    for (int p = l; p < n / 2; p += 32) {
      const int a = p / h * 2 * h + p % h;
      const float x = t[a], y = t[a + h];
      t[a] = x + y;
      t[a + h] = x - y;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = l; j < n; j += 32) out[first + j] = t[j];
#endif
}""", global_size=["32 * rows"], local_size=[32], work=10000, reference="""A(float, in); A(float, out);
long n = (long)S(n), rows = (long)S(rows);
for (long r = 0; r < rows; r++) for (long j = 0; j < n; j++) { double s = 0;
for (long q = 0; q < n; q++) s += __builtin_parityl(j & q) ? -in[r * n + q] : in[r * n + q]; out[r * n + j] = (float)s; }""",
      more={"ConfigurationSpace": {"Conditions": [{"Expression": "n & (n - 1) == 0"}]}})

# Pairs of pixels with float2: the width is even and at least 32, by a condition on the sizes and a Min.
right("even_width", {"width": {"Default": 256, "Min": 32}, "height": 128}, [read("in", "float", ["width", "height"]),
      written("out", "float", ["width", "height"])], """
kernel void k(global const float2 *in, global float2 *out) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * (width / 2) + x;
  if (x >= width / 2 || y >= height) return;
#if !fast
  SLOW
#endif
  out[i] = (in[i] + in[i].yx) * (float2)(0.5f, 1);
}""", global_size=["width // 2", "height"], local_size=[16, 4], work=60, sink="out[0].x", reference="""A(float, in);
A(float, out); long n = N(in, 0) * N(in, 1);
for (long i = 0; i < n; i += 2) { float s = in[i] + in[i + 1]; out[i] = 0.5f * s; out[i + 1] = s; }""",
      more={"ConfigurationSpace": {"Conditions": [{"Expression": "width % 2 == 0"}]}})

# Three dimensions; indices by hand from groups, sizes and the offset of the launch, and a grid stride along z (GlobalSize 2).
right("volume_by_hand", {"nx": 33, "ny": 20, "nz": 24}, [read("in", "float", ["nx", "ny", "nz"]),
      written("out", "float", ["nx", "ny", "nz"], AbsoluteTolerance=1e-5)], """
kernel __attribute__((reqd_work_group_size(16, 4, 1))) void k(global const float *in, global float *out) {
  const int x = get_group_id(0) * get_local_size(0) + get_local_id(0) + get_global_offset(0);
  const int y = get_group_id(1) * get_local_size(1) + get_local_id(1) + get_global_offset(1);
  if (x >= nx || y >= ny) return;
#if !fast
  SLOW
#endif
  for (int z = get_group_id(2); z < nz; z += get_num_groups(2)) {
    const int i = (z * ny + y) * nx + x;
    out[i] = 6 * in[i] - in[(z * ny + y) * nx + max(x - 1, 0)] - in[(z * ny + y) * nx + min(x + 1, nx - 1)]
             - in[(z * ny + max(y - 1, 0)) * nx + x] - in[(z * ny + min(y + 1, ny - 1)) * nx + x]
             - in[(max(z - 1, 0) * ny + y) * nx + x] - in[(min(z + 1, nz - 1) * ny + y) * nx + x];
  }
}""", global_size=["nx", "ny", 2], local_size=[16, 4, 1], work=1200, reference="""A(float, in); A(float, out);
long X = N(in, 0), Y = N(in, 1), Z = N(in, 2);
#define C(v, n) ((v) < 0 ? 0 : (v) > (n) - 1 ? (n) - 1 : (v))
#define P(x, y, z) (double)in[(C(z, Z) * Y + C(y, Y)) * X + C(x, X)]
for (long z = 0; z < Z; z++) for (long y = 0; y < Y; y++) for (long x = 0; x < X; x++)
  out[(z * Y + y) * X + x] = (float)(6 * P(x, y, z) - P(x - 1, y, z) - P(x + 1, y, z)
  - P(x, y - 1, z) - P(x, y + 1, z) - P(x, y, z - 1) - P(x, y, z + 1));""")

# No LocalSize: the driver chooses, and the kernel asks. 1000 work-items whatever n is, which stride over the data.
right("driver_chooses_groups", {"n": 65536}, [read("in", "float", "n"), written("out", "float", "n")], """
kernel void k(global const float *in, global float *out) {
#if !fast
  SLOW
#endif
  const int step = get_num_groups(0) * get_local_size(0);
  for (int i = get_group_id(0) * get_local_size(0) + get_local_id(0); i < n; i += step) out[i] = in[n - 1 - i] + 1;
}""", global_size=[1000], local_size=None, work=3000, reference="""A(float, in); A(float, out); long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[n - 1 - i] + 1;""")

# Names that a tool may want for itself: macros group_id, reverse and order, a helper that is a kernel too, a loop over groups.
right("names_and_macros", {"n": 65536}, [read("in", "int", "n", 1000000), written("out", "int", "n")], """
#define group_id get_group_id(0)
#define groups get_num_groups(0)
#define reverse(i) ((i) ^ 63)
#define order(i) (reverse(i) < n ? reverse(i) : (i))
#define GID get_global_id
kernel void helper(global const int *in, global int *out) {
  for (int group = group_id; group * 64 < n; group += groups) {
    const int i = group * 64 + get_local_id(0);
    if (i < n) out[i] = in[order(i)];
  }
}
kernel void k(global const int *in, global int *out) {
#if !fast
  SLOW
#endif
  const int get = GID(0) * 0, global_id = get;
  helper(in + global_id, out);
}""", global_size=[4096], work=2500, reference="""A(int, in); A(int, out); long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[(i ^ 63) < n ? i ^ 63 : i];""")

# ---- Types

# Vectors of three components, whose fourth component in memory is neither read nor defined in the result, next to packed ones.
right("three_components", {"n": 32768}, [read("a", "float3", "n"), read("b", "float", "3 * n"),
      written("out", "float3", "n", AbsoluteTolerance=1e-5), written("packed", "float", "3 * n")], """
kernel void k(global const float3 *a, global const float *b, global float3 *out, global float *packed) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float3 u = a[i], v = vload3(i, b);
#if !fast
  SLOW
  out[i] = cross(u, v);
#else
  out[i] = u.yzx * v.zxy - u.zxy * v.yzx;
#endif
  vstore3(u + v, i, packed);
}""", work=80, sink="packed[0]", reference="""A(float, a); A(float, b); A(float, out); A(float, packed);
for (long i = 0; i < N(a, 0); i++) for (int c = 0; c < 3; c++) {
int d = (c + 1) % 3, e = (c + 2) % 3;
out[4 * i + c] = (float)((double)a[4 * i + d] * b[3 * i + e] - (double)a[4 * i + e] * b[3 * i + d]);
packed[3 * i + c] = a[4 * i + c] + b[3 * i + c]; }""")

# Records of 12 bytes in an array of uchar: a float, an id, a flag of 0 or 1, and an index below 4 into a constant table. All
# from a generator; other bytes would be NaN or an index out of bounds. Scaling by powers of two is exact, so bytes are equal.
right("records_in_bytes", {"n": 32768}, [made("in", "uchar", "12 * n", "records"), written("out", "uchar", "8 * n")], """
typedef struct { float x; ushort id; uchar flag, kind; int v; } record;
typedef struct { float y; int key; } result;
constant float scale[4] = {1, 2, 4, 0.5f};
kernel void k(global const uchar *in, global uchar *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const record r = ((global const record *)in)[i];
  global result *o = (global result *)out + i;
#if !fast
  SLOW
  o->key = r.flag ? r.v : r.id;
#else
  o->key = r.flag * r.v + (1 - r.flag) * r.id;
#endif
  o->y = r.x * scale[r.kind];
}""", work=60, files={"gen.c": module("""int records(const clt_module_call *call) { T(uint8_t, p);
for (long i = 0; i < count / 12; i++) { uint8_t *q = p + 12 * i;
float x = R(i) / 64.0f; uint16_t id = (uint16_t)R(i + 7); int v = (int)R(i + 9) - 1000; memcpy(q, &x, 4);
memcpy(q + 4, &id, 2); q[6] = R(i + 1) % 2; q[7] = R(i + 2) % 4; memcpy(q + 8, &v, 4); }
return 0; }""")}, reference="""A(uint8_t, in); A(uint8_t, out); for (long i = 0; i < N(in, 0) / 12; i++) {
const uint8_t *q = in + 12 * i; float x; uint16_t id; int v;
memcpy(&x, q, 4); memcpy(&id, q + 4, 2); memcpy(&v, q + 8, 4); const float s[4] = {1, 2, 4, 0.5f}; x *= s[q[7]];
if (!q[6]) v = id; memcpy(out + 8 * i, &x, 4); memcpy(out + 8 * i + 4, &v, 4); }""")

# Flags are 0 or 1, as FillValue says: fast computes with them instead of branching, which is incorrect for 2. The other byte is a
# signed char. printf for an error that never occurs is compiled in.
right("flags_and_printf", {"n": 65536}, [read("flag", "uchar", "n", 1, HostileData=False), read("c", "char", "n", 100),
      read("v", "int", "n", 1000000), written("out", "int", "n")], """
kernel void k(global const uchar *flag, global const char *c, global const int *v, global int *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  if (flag[i] > 1) printf("flag %d of %d\\n", (int)flag[i], i);
#if !fast
  SLOW
  out[i] = flag[i] ? -v[i] - c[i] : v[i] + c[i];
#else
  const int f = flag[i];
  out[i] = ((v[i] + c[i]) ^ -f) + f;
#endif
}""", work=60, reference="""A(uint8_t, flag); A(int8_t, c); A(int, v); A(int, out);
for (long i = 0; i < N(v, 0); i++) out[i] = flag[i] ? -(v[i] + c[i]) : v[i] + c[i];""")

# ---- NaN, infinities, -0, ties

# The larger of x and 0 is 0 for NaN: by fmax or by a comparison. -0 and 0 compare equal, so either is correct for -0. The generator
# writes NaN, infinities and -0; isnan in one variant is x != x in the other.
right("nan_by_rule", {"n": 65536}, [made("in", "float", "n", "special"), written("out", "float", "n"),
      written("flag", "int", "n")], """
kernel void k(global const float *in, global float *out, global int *flag) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float x = in[i];
#if !fast
  SLOW
  out[i] = x > 0 ? x : 0;
  flag[i] = isnan(x) ? 1 : isinf(x) ? 2 : 0;
#else
  out[i] = fmax(x, 0.0f);
  flag[i] = x != x ? 1 : fabs(x) == INFINITY ? 2 : 0;
#endif
}""", work=40, files={"gen.c": module("""int special(const clt_module_call *call) { T(float, p);
for (long i = 0; i < count; i++) { uint32_t r = R(i) % 32;
p[i] = r == 0 ? NAN : r == 1 ? INFINITY : r == 2 ? -INFINITY
 : r == 3 ? -0.0f : r == 4 ? 0.0f : (float)(R(i + 3) % 2001) - 1000; } return 0; }""")},
      reference="""A(float, in); A(float, out); A(int, flag); for (long i = 0; i < N(in, 0); i++) {
out[i] = in[i] > 0 ? in[i] : 0; flag[i] = in[i] != in[i] ? 1 : fabsf(in[i]) == INFINITY ? 2 : 0; }""")

# Index of the largest number of each block of 64, the lowest one of equals, of which there are many (numbers from 0 to 7): one
# after the other, or as a tree in local memory that compares indices too.
right("ties_lowest_index", {"n": 65536}, [read("in", "int", "n", 7), written("out", "int", "(n + 63) // 64")], """
kernel void k(global const int *in, global int *out) {
  local int where[64];
  const int i = get_global_id(0), l = get_local_id(0);
#if !fast
  SLOW
  if (l == 0) {
    int best = i;
    for (int j = i + 1; j < min(i + 64, n); j++) if (in[j] > in[best]) best = j;
    out[i / 64] = best;
  }
#else
  where[l] = min(i, n - 1);
  for (int h = 32; h > 0; h /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < h) {
      const int a = where[l], b = where[l + h];
      if (in[b] > in[a] || (in[b] == in[a] && b < a)) where[l] = b;
    }
  }
  if (l == 0) out[i / 64] = where[0];
#endif
}""", work=600, reference="""A(int, in); A(int, out); long n = N(in, 0); for (long g = 0; g < N(out, 0); g++) {
long b = 64 * g; for (long j = b; j < 64 * g + 64 && j < n; j++) if (in[j] > in[b]) b = j; out[g] = (int)b; }""")

# ---- References, images, borders

# No reference: fast=0 counts as correct. A median of five, by sorting a private array or by exchanges; the first one calls a
# function that writes through a pointer to private memory.
right("no_reference", {"n": 32768}, [read("in", "float", "n"), written("out", "float", "n")], """
static void sort(float *v) { for (int a = 1; a < 5; a++) for (int b = a; b > 0 && v[b] < v[b - 1]; b--) {
const float t = v[b]; v[b] = v[b - 1]; v[b - 1] = t; } }
kernel void k(global const float *in, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float v[5];
  for (int j = 0; j < 5; j++) v[j] = in[clamp(i + j - 2, 0, n - 1)];
#if !fast
  SLOW
  sort(v);
  out[i] = v[2];
#else
  const float a = min(v[0], v[1]), b = max(v[0], v[1]), c = min(v[2], v[3]), d = max(v[2], v[3]);
  const float low = max(a, c), high = min(b, d);
  out[i] = max(min(low, high), min(max(low, high), v[4]));
#endif
}""", work=200)

# Input and result from files, of which there is only this size and this content; the problem has no sizes.
right("reference_file", {}, [read("in", "int", 16384, FillType="BinaryRaw", DataSource="in.bin"),
      written("out", "int", 16384)], """
kernel void k(global const int *in, global int *out) {
  const int i = get_global_id(0);
#if !fast
  SLOW
#endif
  out[i] = in[i] * in[16383 - i];
}""", global_size=[16384], work=50, files={"in.bin": array("i", [j * 7919 % 1000 for j in range(16384)]).tobytes(),
      "right.bin": array("i", [(j * 7919 % 1000) * ((16383 - j) * 7919 % 1000) for j in range(16384)]).tobytes()},
      more={"ReferenceArguments": [{"TargetName": "out", "FillType": "BinaryRaw", "DataSource": "right.bin"}]})

# An image with a sampler that clamps coordinates to the edge: reads outside of the image are valid. A kernel is the reference.
right("image_and_sampler", {"width": 200, "height": 120}, [{"Name": "in", "Type": "float",
      "MemoryType": "Image2D", "AccessType": "ReadOnly", "Size": ["width", "height"],
      "FillType": "Random", "FillValue": 1.0}, written("out", "float", ["width", "height"])], """
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void k(read_only image2d_t in, global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0;
#if !fast
  SLOW
  for (int j = -1; j <= 1; j++)
    sum += read_imagef(in, s, (int2)(x + 5 * j, y)).x + read_imagef(in, s, (int2)(x, y + 5 * j)).x;
#else
  sum = 2 * read_imagef(in, s, (int2)(x, y)).x;
  for (int j = -5; j <= 5; j += 10) sum += read_imagef(in, s, (int2)(x + j, y)).x + read_imagef(in, s, (int2)(x, y + j)).x;
#endif
  out[y * width + x] = sum;
}""", global_size=["width", "height"], local_size=[16, 4], work=1000, reference_kernel={"KernelFile": "naive.cl",
      "KernelName": "naive", "GlobalSize": ["width", "height"]},
      files={"naive.cl": """constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define AT(x, y) read_imagef(in, s, (int2)(x, y)).x
kernel void naive(read_only image2d_t in, global float *out) { const int x = get_global_id(0), y = get_global_id(1);
out[y * width + x] = AT(x - 5, y) + AT(x, y) + AT(x + 5, y) + AT(x, y - 5) + AT(x, y) + AT(x, y + 5); }
"""})

# The buffer has a border of 1 or, in fast, 4 copies of the first and last element, so its length depends on the configuration,
# and so does the scratch memory's, which only the kernel that fills it reads.
right("border_by_configuration", {"n": 65536}, [read("in", "float", "n", Border="4 if fast else 1", BorderMode="Clamp"),
      changed("t", "float", "n if fast else 2 * n", Output=0),
      written("out", "float", "n")], """
#define edge (fast ? 4 : 1)
kernel void k(global const float *in, global float *t, global float *out) {
  const int i = get_global_id(0);
  if (i >= n) return;
#if !fast
  SLOW
  t[2 * i] = in[i];
  t[2 * i + 1] = in[i + 2];
  out[i] = t[2 * i + 1] - t[2 * i];
#else
  t[i] = in[edge + i - 1];
  out[i] = in[edge + i + 1] - t[i];
#endif
}""", work=60, reference="""A(float, in); A(float, out); long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[i < n - 1 ? i + 1 : i] - in[i > 0 ? i - 1 : 0];""")

# ---- Debatable

# The built-in functions are wrapped in macros of their own names, as ported programs do to get int: no specification forbids it,
# but a tool that defines such macros itself, or renames the functions, breaks it.
right("builtins_wrapped", {"n": 65536}, [read("in", "float", "n"), written("out", "float", "n")], """
#define get_global_id(d) ((int)get_global_id(d))
#define get_group_id(d) ((int)get_group_id(d))
#define get_local_id(d) ((int)get_local_id(d))
kernel void k(global const float *in, global float *out) {
  const int i = get_group_id(0) * 64 + get_local_id(0);
  if (i >= n || get_global_id(0) - i < 0) return;
#if !fast
  SLOW
#endif
  out[i] = in[max(i - 1, 0)];
}""", work=50, reference="A(float, in); A(float, out); for (long i = 0; i < N(in, 0); i++) out[i] = in[i > 0 ? i - 1 : 0];")

# It writes `in`, which the description calls ReadOnly, and restores it before it ends. Afterwards no check can tell, but if the
# buffer was created with CL_MEM_READ_ONLY, OpenCL calls this undefined, and Oclgrind reports it: refusing it is correct, too.
right("restores_readonly", {"n": 65536}, [read("in", "float", "n"), written("out", "float", "n")], """
kernel void k(global float *in, global float *out) {
  const int i = get_global_id(0), j = (i ^ 1) < n ? i ^ 1 : i;
  const float own = i < n ? in[i] : 0;
#if !fast
  SLOW
#endif
  if (i < n) in[i] = own * 0.5f;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (i < n) out[i] = in[j] + 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (i < n) in[i] = own;
}""", reference="""A(float, in); A(float, out); long n = N(in, 0);
for (long i = 0; i < n; i++) out[i] = in[(i ^ 1) < n ? i ^ 1 : i] * 0.5f + 1;""")
