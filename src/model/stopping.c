#include "model/stopping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define FEW_ROWS 6 /* fewer left-out rows say nothing: the last weights stand */

int clt_stopping_init(clt_stopping *out, const clt_shape *shape, const float *x, const float *y, const size_t *left_out,
                      size_t n_left_out, long patience, clt_error *error) {
  *out = (clt_stopping){clt_kernels_best(), shape, .patience = patience, .n_weights = clt_shape_n_weights(shape)};
  int rc = clt_matrix_init(&out->rows, x, shape->n_inputs, y, left_out, n_left_out, error);
  if (rc) return rc;
  out->outputs = clt_vector_memory(out->rows.n_blocks, CLT_BLOCK_ROWS * sizeof *out->outputs);
  out->scratch = clt_vector_memory(1, clt_gradient_scratch(shape));
  bool enough = out->outputs && out->scratch;
  for (int i = 0; i < CLT_N_STOPS; i++) {
    out->loss[i] = INFINITY;
    out->weights[i] = clt_vector_memory(out->n_weights, sizeof(float));
    enough = enough && out->weights[i];
  }
  return enough ? CLT_OK : clt_fail_memory(error);
}

void clt_stopping_release(clt_stopping *stopping) {
  clt_matrix_release(&stopping->rows);
  free(stopping->outputs);
  free(stopping->scratch);
  for (int i = 0; i < CLT_N_STOPS; i++) free(stopping->weights[i]);
}

static void keep(clt_stopping *s, int stop, const float *weights, double loss, long step) {
  s->loss[stop] = loss;
  s->best_step[stop] = step;
  memcpy(s->weights[stop], weights, s->n_weights * sizeof *weights);
}

static void run(clt_stopping *s, const float *weights) {
  s->kernels->outputs(s->shape, weights, &s->rows, s->scratch, s->outputs);
}

bool clt_stopping_look(clt_stopping *s, const float *weights, long step) {
  if (s->rows.n_rows < FEW_ROWS) {
    for (int i = 0; i < CLT_N_STOPS; i++) keep(s, i, weights, 0, step);
    return true;
  }
  double loss[CLT_N_STOPS] = {0};
  run(s, weights);
  for (size_t i = 0; i < s->rows.n_rows; i++) {
    double error = s->outputs[i] - s->rows.targets[i];
    loss[i % 2] += error * error;
  }
  loss[CLT_BOTH_HALVES] = loss[CLT_HALF_A] + loss[CLT_HALF_B];
  bool hope = false;
  for (int i = 0; i < CLT_N_STOPS; i++) {
    if (loss[i] < s->loss[i]) keep(s, i, weights, loss[i], step);
    hope = hope || step - s->best_step[i] < s->patience;
  }
  return hope;
}

void clt_stopping_predict(clt_stopping *s, float *out) {
  run(s, s->weights[CLT_HALF_B]);
  for (size_t i = 0; i < s->rows.n_rows; i += 2) out[i] = s->outputs[i];
  run(s, s->weights[CLT_HALF_A]);
  for (size_t i = 1; i < s->rows.n_rows; i += 2) out[i] = s->outputs[i];
}
