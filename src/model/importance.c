/* How much each tuning parameter matters to what a model predicts. */
#include <clatune/rng.h>
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/model.h"

#define N_SAMPLES 2048

/* The configuration with one parameter drawn anew from the values that the others allow. */
static clt_config redraw(const clt_space *space, clt_config config, size_t parameter, uint32_t *positions,
                         clt_rng *rng) {
  clt_config chosen = config;
  uint64_t n_valid = 0;
  clt_space_positions(space, config, positions);
  for (size_t v = 0; v < clt_space_parameter(space, parameter)->n_values; v++) {
    positions[parameter] = (uint32_t)v;
    clt_config candidate = clt_space_from_positions(space, positions);
    if (clt_space_contains(space, candidate) && clt_rng_below(rng, ++n_valid) == 0) chosen = candidate;
  }
  return chosen;
}

int clt_model_importance(const clt_model *model, double *out, clt_error *error) {
  const clt_space *space = model->space;
  size_t n_parameters = clt_space_n_parameters(space);
  clt_config *configs = clt_new_array(N_SAMPLES, sizeof *configs), *redrawn = clt_new_array(N_SAMPLES, sizeof *redrawn);
  clt_prediction *here = clt_new_array(N_SAMPLES, sizeof *here), *there = clt_new_array(N_SAMPLES, sizeof *there);
  uint32_t *positions = clt_new_array(n_parameters, sizeof *positions);
  bool enough = configs && redrawn && here && there && positions;
  clt_rng rng;
  clt_rng_init(&rng, 1);
  int64_t n = enough ? clt_space_sample(space, &rng, N_SAMPLES, configs, error) : clt_fail_memory(error);
  int rc = n < 0 ? (int)n : clt_model_predict_costs(model, configs, (size_t)n, false, here, error);
  double mean = 0, variance = 0;
  for (int64_t i = 0; !rc && i < n; i++) mean += here[i].log_cost / (double)n;
  for (int64_t i = 0; !rc && i < n; i++) variance += (here[i].log_cost - mean) * (here[i].log_cost - mean) / (double)n;
  for (size_t p = 0; !rc && p < n_parameters; p++) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) redrawn[i] = redraw(space, configs[i], p, positions, &rng);
    rc = clt_model_predict_costs(model, redrawn, (size_t)n, false, there, error);
    for (int64_t i = 0; !rc && i < n; i++) squares += pow((double)here[i].log_cost - (double)there[i].log_cost, 2);
    out[p] = variance > 0 ? squares / (2 * (double)n) / variance : 0; /* Jansen's estimator */
  }
  free(configs);
  free(redrawn);
  free(here);
  free(there);
  free(positions);
  return rc;
}
