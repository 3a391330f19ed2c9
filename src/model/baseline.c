#include "model/baseline.h"

#include <math.h>

#include "base/fail.h"
#include "model/json.h"

#define RIDGE 1e-3

static double log_size(const clt_instance *instance, size_t index) {
  int64_t value = clt_instance_size(instance, index).value;
  return value > 0 ? log((double)value) : 0;
}

/* A symmetric, positive definite system by elimination; the solution replaces b. */
static void solve(double a[][CLT_BASELINE_MOST], double *b, size_t n) {
  for (size_t k = 0; k < n; k++)
    for (size_t i = k + 1; i < n; i++) {
      double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < n; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
}

static void find_centres(clt_baseline *out, const clt_instance *const *instances, const double *level, size_t n) {
  for (size_t i = 0; i < n; i++) {
    out->constant += level[i] / (double)n;
    for (size_t s = 0; s < out->n; s++) out->centre[s] += log_size(instances[i], s) / (double)n;
  }
}

void clt_baseline_fit(clt_baseline *out, const clt_instance *const *instances, const double *level, size_t n) {
  double a[CLT_BASELINE_MOST][CLT_BASELINE_MOST] = {{0}};
  *out = (clt_baseline){0};
  out->n =
      clt_instance_n_sizes(instances[0]) < CLT_BASELINE_MOST ? clt_instance_n_sizes(instances[0]) : CLT_BASELINE_MOST;
  find_centres(out, instances, level, n);
  for (size_t i = 0; i < n; i++)
    for (size_t s = 0; s < out->n; s++) {
      double x = log_size(instances[i], s) - out->centre[s];
      for (size_t t = 0; t < out->n; t++) a[s][t] += x * (log_size(instances[i], t) - out->centre[t]);
      out->slope[s] += x * (level[i] - out->constant);
    }
  for (size_t s = 0; s < out->n; s++) a[s][s] += RIDGE * (double)n;
  solve(a, out->slope, out->n);
}

double clt_baseline_at(const clt_baseline *baseline, const clt_instance *instance) {
  double sum = baseline->constant;
  for (size_t s = 0; s < baseline->n; s++) sum += baseline->slope[s] * (log_size(instance, s) - baseline->centre[s]);
  return sum;
}

json_t *clt_baseline_save(const clt_baseline *baseline) {
  json_t *slopes = json_array(), *centres = json_array();
  for (size_t s = 0; s < baseline->n; s++) {
    json_array_append_new(slopes, json_real(baseline->slope[s]));
    json_array_append_new(centres, json_real(baseline->centre[s]));
  }
  return json_pack("{s:f, s:o, s:o}", "constant", baseline->constant, "slopes", slopes, "centres", centres);
}

int clt_baseline_load(clt_baseline *out, const clt_instance *instance, const json_t *json, clt_error *error) {
  *out = (clt_baseline){0};
  if (json == NULL || json_is_null(json)) return CLT_OK;
  const json_t *slopes = json_object_get(json, "slopes"), *centres = json_object_get(json, "centres");
  clt_baseline read = {.n = json_array_size(slopes)};
  bool good = clt_json_read_number(&read.constant, json_object_get(json, "constant")) && read.n <= CLT_BASELINE_MOST &&
              read.n == json_array_size(centres) &&
              (read.n == 0 || (instance && read.n <= clt_instance_n_sizes(instance)));
  for (size_t s = 0; good && s < read.n; s++)
    good = clt_json_read_number(&read.slope[s], json_array_get(slopes, s)) &&
           clt_json_read_number(&read.centre[s], json_array_get(centres, s));
  if (!good) return clt_model_damaged(error, "baseline");
  *out = read;
  return CLT_OK;
}
