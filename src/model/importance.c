/* How much each tuning parameter matters to what a model predicts. */
#include <clatune/rng.h>
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

static double variance(const clt_prediction *p, size_t n) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += p[i].log_cost;
  for (size_t i = 0; i < n; i++) squares += (p[i].log_cost - sum / (double)n) * (p[i].log_cost - sum / (double)n);
  return squares / (double)n;
}

static double half_mean_square(const clt_prediction *p, const clt_prediction *q, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += ((double)p[i].log_cost - q[i].log_cost) * ((double)p[i].log_cost - q[i].log_cost);
  return sum / (2 * (double)n);
}

typedef struct samples {
  clt_config *configs, *redrawn;
  clt_prediction *here, *there;
  uint32_t *positions;
  size_t n;
} samples;

static int measure(const clt_model *model, samples *s, double *out, clt_error *error) {
  const clt_space *space = model->space;
  clt_rng rng;
  clt_rng_init(&rng, 1);
  int64_t n = clt_space_sample(space, &rng, N_SAMPLES, s->configs, error);
  int rc = n < 0 ? (int)n : clt_model_predict_costs(model, s->configs, s->n = (size_t)n, false, s->here, error);
  double all = rc ? 0 : variance(s->here, s->n);
  for (size_t p = 0; !rc && p < clt_space_n_parameters(space); p++) {
    for (size_t i = 0; i < s->n; i++) s->redrawn[i] = redraw(space, s->configs[i], p, s->positions, &rng);
    rc = clt_model_predict_costs(model, s->redrawn, s->n, false, s->there, error);
    out[p] = all > 0 ? half_mean_square(s->here, s->there, s->n) / all : 0;
  }
  return rc;
}

int clt_model_importance(const clt_model *model, double *out, clt_error *error) {
  samples s = {.configs = clt_new_array(N_SAMPLES, sizeof *s.configs),
               .redrawn = clt_new_array(N_SAMPLES, sizeof *s.redrawn),
               .here = clt_new_array(N_SAMPLES, sizeof *s.here),
               .there = clt_new_array(N_SAMPLES, sizeof *s.there),
               .positions = clt_new_array(clt_space_n_parameters(model->space), sizeof *s.positions)};
  bool room = s.configs && s.redrawn && s.here && s.there && s.positions;
  int rc = room ? measure(model, &s, out, error) : clt_fail_memory(error);
  free(s.configs);
  free(s.redrawn);
  free(s.here);
  free(s.there);
  free(s.positions);
  return rc;
}
