#include "model/kernels_lockstep.h"
#include "model/kernels_vec.h"

#define ROW_VECS (CLT_BLOCK_ROWS / WIDTH) /* vectors that hold one number of every row of a block */
_Static_assert(ROW_VECS % 4 == 0, "the loops below take four vectors at once");

extern const clt_kernels CLT_KERNELS;

INLINE float sum_lanes(vec v) {
  float sum = 0;
  for (int i = 0; i < WIDTH; i++) sum += v[i];
  return sum;
}

/* --- training: lanes are rows --- */

/* Four vectors of a layer's inputs, from in on, to the unit's four vectors. */
INLINE void unit_forward(const float *w, size_t n_in, const vec *in, vec *out, int linear) {
  vec z0 = {0}, z1 = {0}, z2 = {0}, z3 = {0};
  for (size_t i = 0; i < n_in; i++, in += ROW_VECS) {
    z0 += w[i] * in[0];
    z1 += w[i] * in[1];
    z2 += w[i] * in[2];
    z3 += w[i] * in[3];
  }
  out[0] = z0 + w[n_in];
  out[1] = z1 + w[n_in];
  out[2] = z2 + w[n_in];
  out[3] = z3 + w[n_in];
  for (int i = 0; !linear && i < 4; i++) out[i] = sigmoid(out[i]);
}

static void hidden_forward(const float *w, size_t n_in, size_t n_out, const vec *in, vec *out) {
  for (size_t o = 0; o < n_out; o++, w += n_in + 1, out += ROW_VECS)
    for (int q = 0; q < ROW_VECS; q += 4) unit_forward(w, n_in, in + q, out + q, 0);
}

static void output_forward(const float *w, size_t n_in, const vec *in, vec *out) {
  for (int q = 0; q < ROW_VECS; q += 4) unit_forward(w, n_in, in + q, out + q, 1);
}

/* Adds the derivatives of four vectors of rows to sums[n_in + 1], a vector each. */
INLINE void unit_weights(const vec *delta, size_t n_in, const vec *in, vec *sums) {
  vec d0 = delta[0], d1 = delta[1], d2 = delta[2], d3 = delta[3];
  for (size_t i = 0; i < n_in; i++, in += ROW_VECS) sums[i] += (d0 * in[0] + d1 * in[1]) + (d2 * in[2] + d3 * in[3]);
  sums[n_in] += (d0 + d1) + (d2 + d3);
}

static void layer_weights(const vec *delta, size_t n_in, size_t n_out, const vec *in, vec *sums) {
  for (size_t o = 0; o < n_out; o++, delta += ROW_VECS, sums += n_in + 1)
    for (int q = 0; q < ROW_VECS; q += 4) unit_weights(delta + q, n_in, in + q, sums);
}

/* From the derivatives by the sums of a layer to those of the sigmoid unit before it whose activation is s and whose
 * weights are w[0], w[stride] ... */
INLINE void unit_backward(const float *w, size_t stride, const vec *delta, size_t n_out, const vec *s, vec *before) {
  vec d0 = {0}, d1 = {0}, d2 = {0}, d3 = {0};
  for (size_t o = 0; o < n_out; o++, delta += ROW_VECS, w += stride) {
    d0 += *w * delta[0];
    d1 += *w * delta[1];
    d2 += *w * delta[2];
    d3 += *w * delta[3];
  }
  before[0] = d0 * s[0] * (1.0f - s[0]);
  before[1] = d1 * s[1] * (1.0f - s[1]);
  before[2] = d2 * s[2] * (1.0f - s[2]);
  before[3] = d3 * s[3] * (1.0f - s[3]);
}

static void layer_backward(const float *w, const vec *delta, size_t n_in, size_t n_out, const vec *s, vec *before) {
  for (size_t i = 0; i < n_in; i++, s += ROW_VECS, before += ROW_VECS)
    for (int q = 0; q < ROW_VECS; q += 4) unit_backward(w + i, n_in + 1, delta + q, n_out, s + q, before + q);
}

/* Where the parts of a layer begin in the scratch memory. */
struct layers {
  const float *weights[CLT_MAX_LAYERS];
  size_t n_in[CLT_MAX_LAYERS];
  vec *active[CLT_MAX_LAYERS], *delta[CLT_MAX_LAYERS], *sums[CLT_MAX_LAYERS];
  vec *end;
};

static void lay_out(struct layers *l, const clt_shape *shape, const float *weights, void *scratch) {
  vec *next = scratch;
  size_t n_in = shape->n_inputs;
  for (size_t i = 0; i < shape->n_layers; i++) {
    size_t n_out = shape->width[i];
    l->weights[i] = weights;
    l->n_in[i] = n_in;
    l->active[i] = next;
    l->delta[i] = next += ROW_VECS * n_out;
    l->sums[i] = next += ROW_VECS * n_out;
    next += n_out * (n_in + 1);
    weights += n_out * (n_in + 1);
    n_in = n_out;
  }
  l->end = next;
}

static void forward(const struct layers *l, const clt_shape *shape, const vec *in) {
  size_t last = shape->n_layers - 1;
  for (size_t i = 0; i < last; in = l->active[i++])
    /* All layers are set: NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    hidden_forward(l->weights[i], l->n_in[i], shape->width[i], in, l->active[i]);
  output_forward(l->weights[last], l->n_in[last], in, l->active[last]);
}

static void backward(const struct layers *l, const clt_shape *shape, const vec *in) {
  for (size_t i = shape->n_layers; i-- > 0;) {
    const vec *before = i ? l->active[i - 1] : in;
    layer_weights(l->delta[i], l->n_in[i], shape->width[i], before, l->sums[i]);
    if (i) layer_backward(l->weights[i], l->delta[i], l->n_in[i], shape->width[i], before, l->delta[i - 1]);
  }
}

/* Errors of a block into the output layer's delta; half their squares' sum. */
static double block_errors(vec *delta, const vec *out, const vec *targets, const vec *presence) {
  vec squares = {0};
  for (int i = 0; i < ROW_VECS; i++) {
    delta[i] = (out[i] - targets[i]) * presence[i];
    squares += delta[i] * delta[i];
  }
  return 0.5 * sum_lanes(squares);
}

static double gradient_of(const clt_shape *shape, const float *weights, const clt_matrix *rows, void *scratch,
                          double *gradient) {
  struct layers l;
  lay_out(&l, shape, weights, scratch);
  size_t n = 0, last = shape->n_layers - 1;
  for (size_t i = 0; i <= last; i++) {
    size_t here = shape->width[i] * (l.n_in[i] + 1);
    for (size_t j = 0; j < here; j++) l.sums[i][j] = (vec){0};
  }
  double loss = 0;
  for (size_t b = 0; b < rows->n_blocks; b++) {
    const vec *in = (const vec *)(const void *)(rows->inputs + b * rows->n_inputs * CLT_BLOCK_ROWS);
    const vec *targets = (const vec *)(const void *)(rows->targets + b * CLT_BLOCK_ROWS);
    const vec *presence = (const vec *)(const void *)(rows->presence + b * CLT_BLOCK_ROWS);
    forward(&l, shape, in);
    loss += block_errors(l.delta[last], l.active[last], targets, presence);
    backward(&l, shape, in);
  }
  for (size_t i = 0; i <= last; i++) {
    size_t here = shape->width[i] * (l.n_in[i] + 1);
    for (size_t j = 0; j < here; j++) gradient[n++] = sum_lanes(l.sums[i][j]);
  }
  return loss;
}

static void outputs_of(const clt_shape *shape, const float *weights, const clt_matrix *rows, void *scratch,
                       float *out) {
  struct layers l;
  lay_out(&l, shape, weights, scratch);
  for (size_t b = 0; b < rows->n_blocks; b++) {
    const vec *in = (const vec *)(const void *)(rows->inputs + b * rows->n_inputs * CLT_BLOCK_ROWS);
    forward(&l, shape, in);
    const float *result = (const float *)l.active[shape->n_layers - 1];
    for (int i = 0; i < CLT_BLOCK_ROWS; i++) out[b * CLT_BLOCK_ROWS + (size_t)i] = result[i];
  }
}

/* --- the sweep: lanes are members --- */

INLINE vec factor(vec z) { return exponential(-limit(z, CLT_EXPONENT)); }

/* The unit's weights for four rows at once, so that every weight is loaded once for four. */
INLINE void factors4(const vec *w, size_t n_inputs, const float *x, vec *out, size_t row) {
  const float *x0 = x, *x1 = x0 + n_inputs, *x2 = x1 + n_inputs, *x3 = x2 + n_inputs;
  vec z0 = w[n_inputs * PARTS], z1 = z0, z2 = z0, z3 = z0;
  for (size_t i = 0; i < n_inputs; i++, w += PARTS) {
    z0 += *w * x0[i];
    z1 += *w * x1[i];
    z2 += *w * x2[i];
    z3 += *w * x3[i];
  }
  out[0] = factor(z0);
  out[row] = factor(z1);
  out[2 * row] = factor(z2);
  out[3 * row] = factor(z3);
}

INLINE void factors1(const vec *w, size_t n_inputs, const float *x, vec *out) {
  vec z = w[n_inputs * PARTS];
  for (size_t i = 0; i < n_inputs; i++, w += PARTS) z += *w * x[i];
  *out = factor(z);
}

static void exponentials_of(const float *weights, size_t n_units, size_t n_inputs, const float *x, size_t n_rows,
                            float *out) {
  const vec *w = (const vec *)(const void *)weights;
  vec *to = (vec *)(void *)out;
  size_t row = n_units * PARTS, unit = (n_inputs + 1) * PARTS;
  for (; n_rows >= 4; n_rows -= 4, x += 4 * n_inputs, to += 4 * row)
    for (size_t v = 0; v < row; v++) factors4(w + v / PARTS * unit + v % PARTS, n_inputs, x, to + v, row);
  for (; n_rows; n_rows--, x += n_inputs, to += row)
    for (size_t v = 0; v < row; v++) factors1(w + v / PARTS * unit + v % PARTS, n_inputs, x, to + v);
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

INLINE vec two_hidden_layers(const clt_pack *pack, const vec *second, const vec *output, const vec *left,
                             const vec *right) {
  vec first[CLT_MAX_HIDDEN];
  for (size_t u = 0; u < pack->n_first; u++) first[u] = 1.0f / (1.0f + left[u * PARTS] * right[u * PARTS]);
  vec sum = output[pack->n_second * PARTS];
  for (size_t o = 0; o < pack->n_second; o++, second += (pack->n_first + 1) * PARTS) {
    vec z = second[pack->n_first * PARTS], odd = {0};
    size_t u = 0;
    for (; u + 2 <= pack->n_first; u += 2) {
      z += second[u * PARTS] * first[u];
      odd += second[(u + 1) * PARTS] * first[u + 1];
    }
    if (u < pack->n_first) z += second[u * PARTS] * first[u];
    sum += output[o * PARTS] * sigmoid(z + odd);
  }
  return sum;
}

static void members_of(const clt_pack *pack, const float *left, const uint32_t *a, const float *right,
                       const uint32_t *b, size_t n, float *out) {
  const vec *l = (const vec *)(const void *)left, *r = (const vec *)(const void *)right;
  const vec *second = (const vec *)(const void *)pack->second, *output = (const vec *)(const void *)pack->output;
  vec *to = (vec *)(void *)out;
  size_t row = pack->n_first * PARTS;
  for (size_t i = 0; i < n; i++, to += PARTS) {
    const vec *from = l + a[i] * row, *other = r + b[i] * row;
    for (size_t p = 0; p < PARTS; p++)
      to[p] = pack->n_second ? two_hidden_layers(pack, second + p, output + p, from + p, other + p)
                             : one_hidden_layer(output + p, pack->n_first, from + p, other + p);
  }
}

/* Over lanes below n; the sum of a whole vector's numbers is cheap, one by one they are not. */
static void summarise(const float *outputs, size_t n, float *mean, float *spread) {
  float sum = 0, squares = 0, difference[CLT_LANES];
  for (size_t i = 0; i < CLT_LANES; i++) sum += i < n ? outputs[i] : 0;
  float centre = sum / (float)n;
  for (size_t i = 0; i < CLT_LANES; i++) difference[i] = i < n ? outputs[i] - centre : 0;
  for (size_t i = 0; i < CLT_LANES; i++) squares += difference[i] * difference[i];
  *mean = centre;
  *spread = n > 1 ? __builtin_sqrtf(squares / (float)(n - 1)) : 0;
}

static void committee_of(const float *output, size_t n_units, size_t n_members, const float *left, const uint32_t *a,
                         const float *right, const uint32_t *b, size_t n, float *mean, float *spread) {
  const vec *l = (const vec *)(const void *)left, *r = (const vec *)(const void *)right;
  const vec *w = (const vec *)(const void *)output;
  size_t row = n_units * PARTS;
  for (size_t i = 0; i < n; i++) {
    vec outputs[PARTS];
    for (size_t p = 0; p < PARTS; p++)
      outputs[p] = one_hidden_layer(w + p, n_units, l + a[i] * row + p, r + b[i] * row + p);
    summarise((const float *)outputs, n_members, &mean[i], &spread[i]);
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
const clt_kernels CLT_KERNELS = {
    .name = NAME(CLT_KERNELS),
    .gradient = gradient_of,
    .outputs = outputs_of,
    .exponentials = exponentials_of,
    .members = members_of,
    .committee = committee_of,
    .conjunction = conjunction_of,
    .forest = forest_of,
    .lockstep = CLT_LOCKSTEP,
};
