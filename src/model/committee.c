#include "model/committee.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/lockstep.h"
#include "model/matrix.h"
#include "model/rows.h"

#define BLOCK 64 /* rests whose factors are worked on at once */

struct clt_committee {
  clt_committee_options options;
  size_t n_inputs, n_weights;
  float *weights; /* [weight][lane] */
  void *scratch;
  float *output;       /* of sigmoid units: [unit, bias][lane] */
  float centre, scale; /* y = centre + scale * output */
};

/* What a fit needs beside: rows padded for the lanes. */
struct rows {
  float *x, *targets, *shares;
  uint32_t *fold;
};

int clt_committee_new(clt_committee **out, const clt_encoding *encoding, size_t n_extra,
                      const clt_committee_options *options, clt_error *error) {
  clt_committee *c = clt_new_array(1, sizeof *c);
  if (c == NULL) return clt_fail_memory(error);
  c->n_inputs = encoding->n_inputs + n_extra;
  c->options = *options;
  c->n_weights = clt_lockstep_n_weights(c->n_inputs, options->hidden);
  c->weights = clt_vector_memory(c->n_weights, CLT_LANES * sizeof *c->weights);
  c->scratch = clt_vector_memory(1, clt_lockstep_scratch(c->n_inputs, options->hidden));
  c->output = clt_vector_memory(options->hidden + 1, CLT_LANES * sizeof *c->output);
  if (c->weights == NULL || c->scratch == NULL || c->output == NULL) {
    clt_committee_free(c);
    return clt_fail_memory(error);
  }
  *out = c;
  return CLT_OK;
}

void clt_committee_free(clt_committee *c) {
  if (c == NULL) return;
  free(c->weights);
  free(c->scratch);
  free(c->output);
  free(c);
}

/* --- fitting --- */

static void rows_release(struct rows *rows) {
  free(rows->x);
  free(rows->targets);
  free(rows->shares);
  free(rows->fold);
}

static int rows_init(struct rows *rows, size_t n, size_t n_inputs, clt_error *error) {
  size_t padded = clt_lockstep_padded(n);
  rows->x = clt_new_array(padded, n_inputs * sizeof *rows->x);
  rows->targets = clt_new_array(padded, sizeof *rows->targets);
  rows->shares = clt_vector_memory(padded, CLT_LANES * sizeof *rows->shares);
  rows->fold = clt_new_array(n, sizeof *rows->fold);
  return rows->x && rows->targets && rows->shares && rows->fold ? CLT_OK : clt_fail_memory(error);
}

static void standardise(clt_committee *c, const float *y, size_t n, float *out) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += y[i];
  double centre = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (y[i] - centre) * (y[i] - centre);
  double scale = sqrt(squares / (double)n);
  if (!(scale > 1e-12)) scale = 1;
  for (size_t i = 0; i < n; i++) out[i] = (float)((y[i] - centre) / scale);
  c->centre = (float)centre;
  c->scale = (float)scale;
}

/* Each member's mean is over the rows it sees: all but those of its fold. */
static void share_rows(const clt_committee *c, struct rows *rows, size_t n, clt_rng *rng) {
  size_t members = c->options.members, seen[CLT_LANES];
  clt_deal_folds(rows->fold, n, members, rng);
  for (size_t m = 0; m < members; m++) seen[m] = n;
  for (size_t i = 0; i < n && n > 1; i++) seen[rows->fold[i]]--;
  for (size_t i = 0; i < n; i++)
    for (size_t m = 0; m < members; m++)
      rows->shares[i * CLT_LANES + m] = n > 1 && rows->fold[i] == m ? 0 : 1.0f / (float)seen[m];
}

/* Uniform, with the standard deviation that keeps each unit's sum near 1 for inputs in [-1, 1]; biases 0. */
static void draw_weights(clt_committee *c, clt_rng *rng) {
  size_t n_inputs = c->n_inputs, hidden = c->options.hidden;
  float *w = c->weights;
  for (size_t u = 0; u <= hidden; u++) {
    size_t n = u < hidden ? n_inputs : hidden;
    double reach = sqrt(3.0 / (double)n);
    for (size_t i = 0; i < n * CLT_LANES; i++) *w++ = (float)(reach * (2 * clt_rng_unit(rng) - 1));
    for (size_t i = 0; i < CLT_LANES; i++) *w++ = 0;
  }
}

/* A member whose training went astray predicts the mean. */
static void remove_unsound(clt_committee *c) {
  for (size_t m = 0; m < CLT_LANES; m++) {
    bool sound = true;
    for (size_t i = 0; i < c->n_weights; i++) sound = sound && isfinite(c->weights[i * CLT_LANES + m]);
    for (size_t i = 0; !sound && i < c->n_weights; i++) c->weights[i * CLT_LANES + m] = 0;
  }
}

/* tanh(z) = 2 sigmoid(2 z) - 1: the first layer's weights are doubled where they are packed, the output's here. */
static void make_output(clt_committee *c) {
  size_t hidden = c->options.hidden;
  const float *w = c->weights + hidden * (c->n_inputs + 1) * CLT_LANES;
  float *bias = c->output + hidden * CLT_LANES;
  for (size_t m = 0; m < CLT_LANES; m++) bias[m] = w[hidden * CLT_LANES + m];
  for (size_t i = 0; i < hidden * CLT_LANES; i++) {
    c->output[i] = 2 * w[i];
    bias[i % CLT_LANES] -= w[i];
  }
}

int clt_committee_fit(clt_committee *c, const float *x, const float *y, size_t n, clt_rng *rng, clt_error *error) {
  struct rows rows = {0};
  size_t n_inputs = c->n_inputs;
  int rc = rows_init(&rows, n, n_inputs, error);
  if (rc) goto done;
  memcpy(rows.x, x, n * n_inputs * sizeof *x);
  standardise(c, y, n, rows.targets);
  share_rows(c, &rows, n, rng);
  draw_weights(c, rng);
  clt_lockstep_task task = {n_inputs,
                            c->options.hidden,
                            n,
                            rows.x,
                            rows.targets,
                            rows.shares,
                            (float)c->options.decay,
                            c->options.iterations};
  clt_kernels_best()->lockstep(&task, c->weights, c->scratch);
  remove_unsound(c);
  make_output(c);
done:
  rows_release(&rows);
  return rc;
}

/* --- predicting --- */

/* One call's memory. */
struct factors {
  float *rest_weights, *row_weights; /* [unit][input, bias][lane], doubled */
  float *rests, *rows;               /* [BLOCK or row][unit][lane] */
  uint32_t *left;                    /* by place in the layout's order: rest within its block */
  float *mean, *spread;
};

static void factors_release(struct factors *f) {
  free(f->rest_weights);
  free(f->row_weights);
  free(f->rests);
  free(f->rows);
  free(f->left);
  free(f->mean);
  free(f->spread);
}

static int factors_init(struct factors *f, const clt_committee *c, const clt_layout *l, clt_error *error) {
  size_t units = c->options.hidden;
  f->rest_weights = clt_vector_memory(units * (l->n_rest_inputs + 1), CLT_LANES * sizeof(float));
  f->row_weights = clt_vector_memory(units * (l->n_row_inputs + 1), CLT_LANES * sizeof(float));
  f->rests = clt_vector_memory(BLOCK * units, CLT_LANES * sizeof(float));
  f->rows = clt_vector_memory(l->n_rows * units, CLT_LANES * sizeof(float));
  f->left = clt_new_array(l->n, sizeof *f->left);
  f->mean = clt_new_array(l->n, sizeof *f->mean);
  f->spread = clt_new_array(l->n, sizeof *f->spread);
  bool all = f->rest_weights && f->row_weights && f->rests && f->rows && f->left && f->mean && f->spread;
  return all ? CLT_OK : clt_fail_memory(error);
}

/* The weights of some inputs, doubled; the bias too if has_bias, else 0. */
static void pack(const clt_committee *c, const size_t *inputs, size_t n, bool has_bias, float *out) {
  size_t n_inputs = c->n_inputs;
  for (size_t u = 0; u < c->options.hidden; u++) {
    const float *w = c->weights + u * (n_inputs + 1) * CLT_LANES;
    for (size_t i = 0; i <= n; i++, out += CLT_LANES) {
      const float *from = w + (i < n ? inputs[i] : n_inputs) * CLT_LANES;
      for (size_t m = 0; m < CLT_LANES; m++) out[m] = i < n || has_bias ? 2 * from[m] : 0;
    }
  }
}

static void predict_block(const clt_committee *c, const clt_layout *l, struct factors *f, size_t first, size_t end) {
  const clt_kernels *kernels = clt_kernels_best();
  size_t units = c->options.hidden, from = l->start[first], n = l->start[end] - from;
  kernels->exponentials(f->rest_weights, units, l->n_rest_inputs, l->rest_x + first * l->n_rest_inputs, end - first,
                        f->rests);
  for (size_t r = first; r < end; r++)
    for (size_t i = l->start[r]; i < l->start[r + 1]; i++) f->left[i] = (uint32_t)(r - first);
  kernels->committee(c->output, units, c->options.members, f->rests, f->left + from, f->rows, l->row + from, n,
                     f->mean + from, f->spread + from);
}

int clt_committee_predict(const clt_committee *c, const clt_layout *l, float *mean, float *spread, clt_error *error) {
  struct factors f = {0};
  int rc = factors_init(&f, c, l, error);
  if (rc) goto done;
  pack(c, l->rest_inputs, l->n_rest_inputs, true, f.rest_weights);
  pack(c, l->row_inputs, l->n_row_inputs, false, f.row_weights);
  clt_kernels_best()->exponentials(f.row_weights, c->options.hidden, l->n_row_inputs, l->row_x, l->n_rows, f.rows);
  for (size_t r = 0; r < l->n_rests; r += BLOCK)
    predict_block(c, l, &f, r, r + BLOCK < l->n_rests ? r + BLOCK : l->n_rests);
  for (size_t i = 0; i < l->n; i++) {
    mean[l->order[i]] = c->centre + c->scale * f.mean[i];
    spread[l->order[i]] = c->scale * f.spread[i];
  }
done:
  factors_release(&f);
  return rc;
}
