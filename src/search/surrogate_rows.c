/* What the surrogate search was told, and what its models are fitted on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/surrogate.h"

#define IMPROVEMENT 0.005 /* relative; less than that is none */

static void note_best(clt_told *told, double time_s) {
  clt_epoch *epoch = &told->epoch;
  bool first = !(epoch->best_s > 0);
  if (first || time_s < epoch->best_s * (1 - IMPROVEMENT)) epoch->best_at = told->n;
  if (first || time_s < epoch->best_s) epoch->best_s = time_s;
}

int clt_told_add(clt_told *told, const clt_encoding *encoding, const clt_measurement *m, clt_error *error) {
  size_t n_inputs = encoding->n_inputs;
  bool correct = clt_measurement_correct(m);
  if (clt_grow(&told->rows, &told->rows_capacity, told->n + 1, sizeof *told->rows) ||
      clt_grow(&told->x, &told->x_capacity, told->n + 1, (n_inputs + 1) * sizeof *told->x))
    return clt_fail_memory(error);
  clt_encode(encoding, m->config, told->x + told->n * n_inputs);
  told->rows[told->n++] = (clt_row){.config = m->config, .time_s = m->time_s, .failed = !correct};
  told->n_failed += !correct;
  if (correct) note_best(told, m->time_s);
  return CLT_OK;
}

void clt_told_release(clt_told *told) {
  free(told->rows);
  free(told->x);
}

static size_t epoch_first(const clt_told *told) { return told->epoch.fresh ? told->epoch.first : 0; }

size_t clt_told_correct(const clt_told *told) {
  size_t n = 0;
  for (size_t i = epoch_first(told); i < told->n; i++) n += !told->rows[i].failed;
  return n;
}

bool clt_told_stalled(const clt_told *told, int64_t patience) {
  const clt_epoch *epoch = &told->epoch;
  size_t since = epoch->best_at > epoch->first ? epoch->best_at : epoch->first;
  return (int64_t)(told->n - since) >= patience;
}

static double least_s(const clt_told *told) {
  double least = 0;
  for (size_t i = 0; i < told->n; i++)
    if (!told->rows[i].failed && !(least > 0 && least <= told->rows[i].time_s)) least = told->rows[i].time_s;
  return least;
}

void clt_told_turn(clt_told *told) {
  bool fresh = !told->epoch.fresh;
  told->epoch = (clt_epoch){.fresh = fresh, .first = told->n, .best_s = fresh ? 0 : least_s(told)};
}

float clt_least_distance(const float *points, size_t n, size_t n_inputs, const float *x) {
  float least = INFINITY;
  for (size_t i = 0; i < n; i++, points += n_inputs) {
    float sum = 0;
    for (size_t j = 0; j < n_inputs; j++) sum += (x[j] - points[j]) * (x[j] - points[j]);
    least = fminf(least, sum);
  }
  return least;
}

/* The epoch's correct rows: inputs, and their speed relative to the fastest of them. Both are malloc'ed. */
static int training_rows(const clt_told *told, size_t n_inputs, float **x, float **speed, size_t *n, clt_error *error) {
  *x = clt_new_array(told->n, (n_inputs + 1) * sizeof **x);
  *speed = clt_new_array(told->n, sizeof **speed);
  *n = 0;
  if (*x == NULL || *speed == NULL) return clt_fail_memory(error);
  for (size_t i = epoch_first(told); i < told->n; i++) {
    if (told->rows[i].failed) continue;
    memcpy(*x + *n * n_inputs, told->x + i * n_inputs, n_inputs * sizeof **x);
    (*speed)[(*n)++] = (float)(told->epoch.best_s / told->rows[i].time_s);
  }
  return CLT_OK;
}

int clt_told_fit(const clt_told *told, clt_committee *committee, const clt_encoding *encoding, clt_rng *rng,
                 clt_error *error) {
  float *x, *y;
  size_t n;
  int rc = training_rows(told, encoding->n_inputs, &x, &y, &n, error);
  for (size_t i = 0; !rc && i < n; i++) y[i] = -y[i];
  if (!rc) rc = clt_committee_fit(committee, x, y, n, rng, error);
  free(x);
  free(y);
  return rc;
}

int clt_told_trees(clt_forest **out, const clt_told *told, const clt_encoding *encoding, uint64_t seed,
                   clt_error *error) {
  float *x, *y;
  size_t n;
  int rc = training_rows(told, encoding->n_inputs, &x, &y, &n, error);
  for (size_t i = 0; !rc && i < n; i++) y[i] = y[i] < 1 ? 1 - y[i] : 0;
  if (!rc) rc = clt_forest_fit_values(out, encoding, x, y, n, seed, error);
  free(x);
  free(y);
  return rc;
}

int clt_told_validity(clt_forest **out, const clt_told *told, const clt_encoding *encoding, uint64_t seed,
                      clt_error *error) {
  *out = NULL;
  if (told->n_failed == 0) return CLT_OK;
  bool *failed = clt_new_array(told->n, sizeof *failed);
  if (failed == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < told->n; i++) failed[i] = told->rows[i].failed;
  int rc = clt_forest_fit(out, encoding, told->x, failed, told->n, seed, error);
  free(failed);
  return rc;
}
