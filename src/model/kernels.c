/* The inner loops. This file is compiled once for each instruction set, with relaxed arithmetic. */
#include "model/kernels.h"

/* Compiled with -DCLT_KERNELS=<name of the table> and flags for one instruction set. Vectors of the language extension,
 * as wide as the processor's registers, keep the sums in registers, which the vectoriser does not manage for these
 * loops. */
#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
typedef float vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));

#define INLINE static inline __attribute__((always_inline))
#define PARTS (CLT_LANES / WIDTH) /* vectors that hold one number of every lane */

/* Lane by lane: gcc makes a minimum and a maximum of it, but not of comparisons of whole vectors. */
INLINE vec limit(vec x, float bound) {
  for (int i = 0; i < WIDTH; i++) {
    float low = x[i] < bound ? x[i] : bound;
    x[i] = low > -bound ? low : -bound;
  }
  return x;
}

/* exp(x) for |x| <= 80 or so: 2^n by the exponent bits, the rest by Taylor's series (relative error below 2e-7). */
INLINE vec exponential(vec x) {
  vec t = x * 1.442695041f;
  ivec n = __builtin_convertvector(t + 128.5f, ivec) - 128;
  vec f = t - __builtin_convertvector(n, vec);
  vec p = f * 1.540353039e-4f + 1.333355815e-3f;
  p = p * f + 9.618129108e-3f;
  p = p * f + 5.550410866e-2f;
  p = p * f + 2.402265070e-1f;
  p = p * f + 6.931471806e-1f;
  p = p * f + 1.0f;
  return p * (vec)((n + 127) << 23);
}

INLINE vec sigmoid(vec z) { return 1.0f / (1.0f + exponential(-limit(z, CLT_EXPONENT))); }

INLINE vec hyperbolic_tangent(vec z) { return 1.0f - 2.0f / (1.0f + exponential(2 * limit(z, CLT_EXPONENT / 4))); }

INLINE float sum_lanes(vec v) {
  float sum = 0;
  for (int i = 0; i < WIDTH; i++) sum += v[i];
  return sum;
}

/* --- training: lanes are rows --- */

#define ROW_VECS (CLT_BLOCK_ROWS / WIDTH) /* vectors that hold one number of every row of a block */
#define STRIP 4 /* vectors of rows worked on at once: as many sums that do not wait for each other */
_Static_assert(ROW_VECS % STRIP == 0, "a block is whole strips");

/* Where the parts of a layer begin in the scratch memory: active and delta [unit][STRIP], sums [weight]. */
struct layers {
  size_t n;
  const float *weights[CLT_MAX_LAYERS];
  size_t n_in[CLT_MAX_LAYERS], n_out[CLT_MAX_LAYERS];
  vec *active[CLT_MAX_LAYERS], *delta[CLT_MAX_LAYERS], *sums[CLT_MAX_LAYERS];
  bool symmetric;
};

static struct layers lay_out(const clt_shape *shape, const float *weights, void *scratch) {
  struct layers l = {.n = shape->n_layers, .symmetric = shape->symmetric};
  vec *next = scratch;
  size_t n_in = shape->n_inputs;
  for (size_t i = 0; i < l.n; i++) {
    size_t n_out = shape->width[i], n_weights = n_out * (n_in + 1);
    l.weights[i] = weights;
    l.n_in[i] = n_in;
    l.n_out[i] = n_out;
    l.active[i] = next;
    l.delta[i] = next += STRIP * n_out;
    l.sums[i] = next += STRIP * n_out;
    next += n_weights;
    weights += n_weights;
    n_in = n_out;
  }
  return l;
}

/* All layers for k vectors of rows; an input's stand `stride` vectors behind those of the one before. */
INLINE void strip_forward(const struct layers *l, const vec *in, size_t stride, int k) {
  for (size_t layer = 0; layer < l->n; layer++, in = l->active[layer - 1], stride = STRIP) {
    const float *w = l->weights[layer];
    size_t n_in = l->n_in[layer];
    for (size_t o = 0; o < l->n_out[layer]; o++, w += n_in + 1) {
      vec z[STRIP], *out = l->active[layer] + o * STRIP;
      for (int r = 0; r < k; r++) z[r] = (vec){0} + w[n_in];
      for (size_t i = 0; i < n_in; i++)
        for (int r = 0; r < k; r++) z[r] += w[i] * in[i * stride + (size_t)r];
      if (layer + 1 == l->n)
        for (int r = 0; r < k; r++) out[r] = z[r];
      else if (l->symmetric)
        for (int r = 0; r < k; r++) out[r] = hyperbolic_tangent(z[r]);
      else
        for (int r = 0; r < k; r++) out[r] = sigmoid(z[r]);
    }
  }
}

/* Adds the derivatives by the weights, lane by lane, to the sums; the last layer's delta is there. */
INLINE void strip_backward(const struct layers *l, const vec *first_in, size_t first_stride, int k) {
  for (size_t layer = l->n; layer-- > 0;) {
    const vec *in = layer ? l->active[layer - 1] : first_in, *delta = l->delta[layer];
    size_t stride = layer ? STRIP : first_stride, n_in = l->n_in[layer], n_out = l->n_out[layer];
    vec *sums = l->sums[layer];
    for (size_t o = 0; o < n_out; o++, sums += n_in + 1) {
      vec d[STRIP], bias = {0};
      for (int r = 0; r < k; r++) bias += d[r] = delta[o * STRIP + (size_t)r];
      for (size_t i = 0; i < n_in; i++) {
        vec even = {0}, odd = {0};
        for (int r = 0; r < k; r += 2) even += d[r] * in[i * stride + (size_t)r];
        for (int r = 1; r < k; r += 2) odd += d[r] * in[i * stride + (size_t)r];
        sums[i] += even + odd;
      }
      sums[n_in] += bias;
    }
    for (size_t i = 0; layer && i < n_in; i++) {
      const float *w = l->weights[layer] + i;
      const vec *s = l->active[layer - 1] + i * STRIP;
      vec d[STRIP], *before = l->delta[layer - 1] + i * STRIP;
      for (int r = 0; r < k; r++) d[r] = (vec){0};
      for (size_t o = 0; o < n_out; o++, w += n_in + 1)
        for (int r = 0; r < k; r++) d[r] += *w * delta[o * STRIP + (size_t)r];
      if (l->symmetric)
        for (int r = 0; r < k; r++) before[r] = d[r] * (1.0f - s[r] * s[r]);
      else
        for (int r = 0; r < k; r++) before[r] = d[r] * s[r] * (1.0f - s[r]);
    }
  }
}

/* Half the sum of the strip's squared errors. */
INLINE double strip_gradient(const struct layers *l, const vec *in, const vec *targets, const vec *presence, int k) {
  vec squares = {0}, *delta = l->delta[l->n - 1];
  const vec *out = l->active[l->n - 1];
  strip_forward(l, in, ROW_VECS, k);
  for (int r = 0; r < k; r++) {
    delta[r] = (out[r] - targets[r]) * presence[r];
    squares += delta[r] * delta[r];
  }
  strip_backward(l, in, ROW_VECS, k);
  return 0.5 * sum_lanes(squares);
}

/* How many vectors the rows of a matrix fill; a block has ROW_VECS of them. */
static size_t count_vectors(const clt_matrix *rows) { return (rows->n_rows + WIDTH - 1) / WIDTH; }

static const vec *block_inputs(const clt_matrix *rows, size_t vector) {
  const float *block = rows->inputs + vector / ROW_VECS * rows->n_inputs * CLT_BLOCK_ROWS;
  return (const vec *)(const void *)block + vector % ROW_VECS;
}

static double gradient_of(const clt_shape *shape, const float *weights, const clt_matrix *rows, float decay,
                          void *scratch, float *gradient) {
  struct layers l = lay_out(shape, weights, scratch);
  const vec *targets = (const vec *)(const void *)rows->targets, *presence = (const vec *)(const void *)rows->presence;
  size_t n_vectors = count_vectors(rows);
  double loss = 0, squares = 0;
  float share = 1.0f / (float)rows->n_rows;
  for (size_t i = 0; i < l.n; i++)
    for (size_t j = 0; j < l.n_out[i] * (l.n_in[i] + 1); j++) l.sums[i][j] = (vec){0};
  for (size_t v = 0; v < n_vectors; v += STRIP) {
    const vec *in = block_inputs(rows, v);
    switch (n_vectors - v) { /* the last strip may be narrower */
      case 1: loss += strip_gradient(&l, in, targets + v, presence + v, 1); break;
      case 2: loss += strip_gradient(&l, in, targets + v, presence + v, 2); break;
      case 3: loss += strip_gradient(&l, in, targets + v, presence + v, 3); break;
      default: loss += strip_gradient(&l, in, targets + v, presence + v, STRIP);
    }
  }
  for (size_t layer = 0; layer < l.n; layer++) {
    const vec *sums = l.sums[layer];
    for (size_t o = 0; o < l.n_out[layer]; o++, gradient += l.n_in[layer] + 1, weights += l.n_in[layer] + 1) {
      float unit_squares = 0;
      for (size_t i = 0; i < l.n_in[layer]; i++) {
        gradient[i] = share * sum_lanes(*sums++) + decay * weights[i];
        unit_squares += weights[i] * weights[i];
      }
      gradient[l.n_in[layer]] = share * sum_lanes(*sums++);
      squares += unit_squares;
    }
  }
  return loss / (double)rows->n_rows + 0.5 * decay * squares;
}

static void outputs_of(const clt_shape *shape, const float *weights, const clt_matrix *rows, void *scratch,
                       float *out) {
  struct layers l = lay_out(shape, weights, scratch);
  for (size_t v = 0; v < count_vectors(rows); v += STRIP) {
    strip_forward(&l, block_inputs(rows, v), ROW_VECS, STRIP);
    const float *result = (const float *)l.active[l.n - 1];
    for (size_t i = 0; i < STRIP * WIDTH; i++) out[v * WIDTH + i] = result[i];
  }
}

static double dot_of(const float *a, const float *b, size_t n) {
  const vec *x = (const vec *)(const void *)a, *y = (const vec *)(const void *)b;
  vec even = {0}, odd = {0};
  for (size_t i = 0; i < n; i += 2 * WIDTH, x += 2, y += 2) {
    even += x[0] * y[0];
    if (i + WIDTH < n) odd += x[1] * y[1];
  }
  return (double)sum_lanes(even + odd);
}

static void add_of(float *y, float factor, const float *x, size_t n) {
  vec *to = (vec *)(void *)y;
  const vec *from = (const vec *)(const void *)x;
  for (size_t i = 0; i < n; i += WIDTH) *to++ += factor * *from++;
}

/* --- the sweep: lanes are members --- */

INLINE vec factor(vec z) { return exponential(-limit(z, CLT_EXPONENT)); }

#define FACTOR_ROWS 4 /* every weight is loaded once for so many rows */

/* A unit's factors for n_rows rows, at most FACTOR_ROWS; `row` vectors lie between the results of two rows. */
INLINE void factors(const vec *w, size_t n_inputs, const float *x, vec *out, size_t row, size_t n_rows) {
  vec z[FACTOR_ROWS];
  for (size_t r = 0; r < n_rows; r++) z[r] = w[n_inputs * PARTS];
  for (size_t i = 0; i < n_inputs; i++, w += PARTS)
    for (size_t r = 0; r < n_rows; r++) z[r] += *w * x[r * n_inputs + i];
  for (size_t r = 0; r < n_rows; r++) out[r * row] = factor(z[r]);
}

static void exponentials_of(const float *weights, size_t n_units, size_t n_inputs, const float *x, size_t n_rows,
                            float *out) {
  const vec *w = (const vec *)(const void *)weights;
  vec *to = (vec *)(void *)out;
  size_t row = n_units * PARTS, unit = (n_inputs + 1) * PARTS;
  for (; n_rows >= FACTOR_ROWS; n_rows -= FACTOR_ROWS, x += FACTOR_ROWS * n_inputs, to += FACTOR_ROWS * row)
    for (size_t v = 0; v < row; v++) factors(w + v / PARTS * unit + v % PARTS, n_inputs, x, to + v, row, FACTOR_ROWS);
  for (; n_rows; n_rows--, x += n_inputs, to += row)
    for (size_t v = 0; v < row; v++) factors(w + v / PARTS * unit + v % PARTS, n_inputs, x, to + v, row, 1);
}

/* One part of the lanes; all pointers are to that part of their first number. */
INLINE vec one_hidden_layer(const vec *output, size_t n, const vec *left, const vec *right) {
  vec sum = output[n * PARTS], odd = {0};
  size_t u = 0;
  for (; u + 2 <= n; u += 2) {
    size_t i = u * PARTS, j = i + PARTS;
    sum += output[i] / (1.0f + left[i] * right[i]);
    odd += output[j] / (1.0f + left[j] * right[j]);
  }
  if (u < n) sum += output[u * PARTS] / (1.0f + left[u * PARTS] * right[u * PARTS]);
  return sum + odd;
}

INLINE vec two_hidden_layers(const clt_further_layers *further, const vec *second, const vec *output, const vec *left,
                             const vec *right) {
  vec first[CLT_MAX_HIDDEN];
  for (size_t u = 0; u < further->n_first; u++) first[u] = 1.0f / (1.0f + left[u * PARTS] * right[u * PARTS]);
  vec sum = output[further->n_second * PARTS];
  for (size_t o = 0; o < further->n_second; o++, second += (further->n_first + 1) * PARTS) {
    vec z = second[further->n_first * PARTS], odd = {0};
    size_t u = 0;
    for (; u + 2 <= further->n_first; u += 2) {
      z += second[u * PARTS] * first[u];
      odd += second[(u + 1) * PARTS] * first[u + 1];
    }
    if (u < further->n_first) z += second[u * PARTS] * first[u];
    sum += output[o * PARTS] * sigmoid(z + odd);
  }
  return sum;
}

/* Over lanes below n; the sum of a whole vector's numbers is cheap, one by one they are not. */
static void members_of(const clt_further_layers *further, size_t n_members, const float *left, const uint32_t *a,
                       const float *right, const uint32_t *b, size_t n, float *mean, float *squares) {
  const vec *l = (const vec *)(const void *)left, *r = (const vec *)(const void *)right;
  const vec *second = (const vec *)(const void *)further->second, *output = (const vec *)(const void *)further->output;
  size_t row = further->n_first * PARTS;
  for (size_t i = 0; i < n; i++) {
    const vec *from = l + a[i] * row, *other = r + b[i] * row;
    vec outputs[PARTS];
    for (size_t p = 0; p < PARTS; p++)
      outputs[p] = further->n_second ? two_hidden_layers(further, second + p, output + p, from + p, other + p)
                                     : one_hidden_layer(output + p, further->n_first, from + p, other + p);
    const float *out = (const float *)outputs;
    float sum = 0, sum_squares = 0, difference[CLT_LANES];
    for (size_t k = 0; k < CLT_LANES; k++) sum += k < n_members ? out[k] : 0;
    mean[i] = sum / (float)n_members;
    for (size_t k = 0; k < CLT_LANES; k++) difference[k] = k < n_members ? out[k] - mean[i] : 0;
    for (size_t k = 0; k < CLT_LANES; k++) sum_squares += difference[k] * difference[k];
    squares[i] = sum_squares;
  }
}

/* --- the validity model: lanes are trees --- */

static void conjunction_of(const uint64_t *const *words, size_t n_words, uint64_t *out) {
  uint64_t left[CLT_TREES];
  for (int t = 0; t < CLT_TREES; t++) left[t] = UINT64_MAX;
  for (size_t i = 0; i < n_words; i++)
    for (int t = 0; t < CLT_TREES; t++) left[t] &= words[i][t];
  for (int t = 0; t < CLT_TREES; t++) out[t] = left[t];
}

/* Four sums, so that no addition waits for the one before. */
static float forest_of(const uint64_t *a, const uint64_t *b, const float *leaves) {
  float sum[4] = {0};
  for (int t = 0; t < CLT_TREES; t += 4)
    for (int i = 0; i < 4; i++) sum[i] += leaves[(t + i) * CLT_TREE_LEAVES + __builtin_ctzll(a[t + i] & b[t + i])];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#define TEXT(x) #x
#define NAME(x) TEXT(x)
extern const clt_kernels CLT_KERNELS;
const clt_kernels CLT_KERNELS = {
    .name = NAME(CLT_KERNELS),
    .gradient = gradient_of,
    .outputs = outputs_of,
    .dot = dot_of,
    .add = add_of,
    .exponentials = exponentials_of,
    .members = members_of,
    .conjunction = conjunction_of,
    .forest = forest_of,
};
