#include "model/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/rows.h"

struct clt_committee {
  clt_committee_options options;
  size_t n_extra, n_weights;
  clt_shape shape;
  float *weights;      /* [member][weight], of sigmoid units once they are fitted */
  float centre, scale; /* y = centre + scale * output */
};

int clt_committee_new(clt_committee **out, const clt_encoding *encoding, size_t n_extra,
                      const clt_committee_options *options, clt_error *error) {
  clt_committee *c = clt_new_array(1, sizeof *c);
  if (c == NULL) return clt_fail_memory(error);
  c->options = *options;
  c->n_extra = n_extra;
  c->shape = (clt_shape){encoding->n_inputs + n_extra, 2, {options->hidden, 1}, .symmetric = true};
  c->n_weights = clt_shape_n_weights(&c->shape);
  c->weights = clt_new_array(options->members, c->n_weights * sizeof *c->weights);
  if (c->weights == NULL) return clt_committee_free(c), clt_fail_memory(error);
  *out = c;
  return CLT_OK;
}

void clt_committee_free(clt_committee *c) {
  if (c == NULL) return;
  free(c->weights);
  free(c);
}

/* Uniform, with the standard deviation that keeps each unit's sum near 1 for inputs in [-1, 1]; biases 0. All members
 * are drawn side by side, as many as there can be. */
static void draw_weights(clt_committee *c, clt_rng *rng) {
  size_t n_inputs = c->shape.n_inputs, hidden = c->options.hidden, at = 0;
  for (size_t u = 0; u <= hidden; u++) {
    size_t n = u < hidden ? n_inputs : hidden;
    double reach = sqrt(3.0 / (double)n);
    for (size_t i = 0; i <= n; i++, at++) {
      for (size_t m = 0; m < CLT_LANES; m++) {
        float w = i < n ? (float)(reach * (2 * clt_rng_unit(rng) - 1)) : 0;
        if (m < c->options.members) c->weights[m * c->n_weights + at] = w;
      }
    }
  }
}

/* From tanh units to sigmoid ones, which pack and predict: tanh(z) = 2 sigmoid(2 z) - 1. A member whose training went
 * astray predicts the mean. */
static void make_sigmoid(const clt_committee *c, float *weights) {
  size_t hidden = c->options.hidden, n_first = hidden * (c->shape.n_inputs + 1);
  float *output = weights + n_first, *bias = output + hidden;
  bool sound = true;
  for (size_t i = 0; i < c->n_weights; i++) sound = sound && isfinite(weights[i]);
  if (!sound) memset(weights, 0, c->n_weights * sizeof *weights);
  for (size_t i = 0; i < n_first; i++) weights[i] *= 2;
  for (size_t u = 0; u < hidden; u++) {
    *bias -= output[u];
    output[u] *= 2;
  }
}

int clt_committee_fit(clt_committee *c, const float *x, const float *y, size_t n, clt_rng *rng, clt_error *error) {
  float *targets = clt_new_array(n, sizeof *targets);
  uint32_t *fold = clt_new_array(n, sizeof *fold);
  size_t *rows = clt_new_array(n, sizeof *rows);
  int rc = targets && fold && rows ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += y[i];
  double centre = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (y[i] - centre) * (y[i] - centre);
  double scale = sqrt(squares / (double)n);
  if (!(scale > 1e-12)) scale = 1; /* all are the same */
  for (size_t i = 0; i < n; i++) targets[i] = (float)((y[i] - centre) / scale);
  c->centre = (float)centre;
  c->scale = (float)scale;
  clt_deal_folds(fold, n, c->options.members, rng);
  draw_weights(c, rng);
  for (size_t m = 0; !rc && m < c->options.members; m++) {
    float *weights = c->weights + m * c->n_weights;
    size_t n_train = clt_fold_split(rows, fold, n, m);
    clt_training training = {.shape = &c->shape,
                             .x = x,
                             .y = targets,
                             .rows = rows,
                             .n_rows = n_train ? n_train : n,
                             .iterations = (long)c->options.iterations,
                             .decay = c->options.decay};
    rc = clt_train(&training, weights, NULL, error);
    make_sigmoid(c, weights);
  }
done:
  free(targets);
  free(fold);
  free(rows);
  return rc;
}

int clt_committee_predict(const clt_committee *c, const clt_layout *layout, float *mean, float *spread,
                          clt_error *error) {
  clt_pack pack;
  int rc = clt_pack_init(&pack, layout->split, c->n_extra, &c->shape, c->weights, c->options.members, error);
  if (!rc) rc = clt_pack_predict(&pack, layout, mean, spread, error);
  for (size_t i = 0; !rc && i < layout->n; i++) {
    mean[i] = c->centre + c->scale * mean[i];
    spread[i] *= c->scale;
  }
  clt_pack_release(&pack);
  return rc;
}
