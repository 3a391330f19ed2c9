/* What the surrogate search was told, and what its models are fitted on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/surrogate.h"

#define IMPROVEMENT 0.005 /* relative; less than that is none */

static void note(clt_progress_of *progress, const clt_row *row) {
  bool first = !(progress->best_s > 0);
  progress->n++;
  if (row->failed) return;
  if (first || row->time_s < progress->best_s * (1 - IMPROVEMENT)) progress->best_at = progress->n;
  if (first || row->time_s < progress->best_s) progress->best_s = row->time_s;
}

int clt_told_add(clt_told *told, const clt_encoding *encoding, clt_row row, uint32_t branch, clt_error *error) {
  size_t n_inputs = encoding->n_inputs;
  if (clt_grow(&told->rows, &told->rows_capacity, told->n + 1, sizeof *told->rows) ||
      clt_grow(&told->branch, &told->branch_capacity, told->n + 1, sizeof *told->branch) ||
      clt_grow(&told->x, &told->x_capacity, told->n + 1, (n_inputs + 1) * sizeof *told->x))
    return clt_fail_memory(error);
  size_t n_extra = told->inputs ? told->inputs->n : 0;
  if (clt_grow(&told->extra, &told->extra_capacity, told->n + 1, (n_extra + 1) * sizeof *told->extra))
    return clt_fail_memory(error);
  if (n_extra) told->inputs->fill(told->inputs->user, row.config, told->extra + told->n * n_extra);
  clt_encode(encoding, row.config, told->x + told->n * n_inputs);
  told->branch[told->n] = branch;
  told->rows[told->n++] = row;
  told->n_failed += row.failed;
  note(&told->all, &row);
  if (branch && branch == told->latest) note(&told->own, &row);
  return CLT_OK;
}

void clt_told_release(clt_told *told) {
  free(told->rows);
  free(told->branch);
  free(told->x);
  free(told->extra);
}

static bool belongs(const clt_told *told, size_t row, uint32_t branch) {
  return branch == 0 || told->branch[row] == branch;
}

size_t clt_told_correct(const clt_told *told, uint32_t branch) {
  size_t n = 0;
  for (size_t i = 0; i < told->n; i++) n += !told->rows[i].failed && belongs(told, i, branch);
  return n;
}

/* Among equals the lower configuration. */
static bool is_faster(const clt_row *a, const clt_row *b) {
  return a->time_s != b->time_s ? a->time_s < b->time_s : a->config < b->config;
}

static size_t faster_than(const clt_told *told, const size_t *rows, size_t n, size_t row) {
  size_t place = 0;
  while (place < n && !is_faster(&told->rows[row], &told->rows[rows[place]])) place++;
  return place;
}

size_t clt_told_fastest(const clt_told *told, clt_config *out, size_t n) {
  size_t rows[CLT_MOST_FASTEST], found = 0;
  for (size_t i = 0; i < told->n; i++) {
    if (told->rows[i].failed) continue;
    size_t place = faster_than(told, rows, found, i);
    if (place == n) continue;
    if (found < n) found++;
    for (size_t k = found - 1; k > place; k--) rows[k] = rows[k - 1];
    rows[place] = i;
  }
  for (size_t k = 0; k < found; k++) out[k] = told->rows[rows[k]].config;
  return found;
}

bool clt_told_stalled(const clt_told *told, int64_t patience) {
  const clt_progress_of *progress = told->latest ? &told->own : &told->all;
  return (int64_t)(progress->n - progress->best_at) >= patience;
}

void clt_told_begin_branch(clt_told *told) {
  told->latest++;
  told->own = (clt_progress_of){0};
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

/* A branch's correct rows: inputs, with the extra ones if wanted, and their speed relative to the fastest of them. Both
 * are malloc'ed. */
static int training_rows(const clt_told *told, uint32_t branch, size_t n_inputs, size_t n_extra, float **x,
                         float **speed, size_t *n, clt_error *error) {
  size_t width = n_inputs + n_extra;
  *x = clt_new_array(told->n, (width + 1) * sizeof **x);
  *speed = clt_new_array(told->n, sizeof **speed);
  *n = 0;
  if (*x == NULL || *speed == NULL) return clt_fail_memory(error);
  double best_s = (branch ? &told->own : &told->all)->best_s;
  for (size_t i = 0; i < told->n; i++) {
    if (told->rows[i].failed || !belongs(told, i, branch)) continue;
    memcpy(*x + *n * width, told->x + i * n_inputs, n_inputs * sizeof **x);
    memcpy(*x + *n * width + n_inputs, told->extra + i * n_extra, n_extra * sizeof **x);
    (*speed)[(*n)++] = (float)(best_s / told->rows[i].time_s);
  }
  return CLT_OK;
}

int clt_told_fit(const clt_told *told, uint32_t branch, clt_committee *committee, bool blind,
                 const clt_encoding *encoding, clt_rng *rng, clt_error *error) {
  float *x, *y;
  size_t n, n_extra = told->inputs && !blind ? told->inputs->n : 0;
  int rc = training_rows(told, branch, encoding->n_inputs, n_extra, &x, &y, &n, error);
  for (size_t i = 0; !rc && i < n; i++) y[i] = -y[i];
  if (!rc) rc = clt_committee_fit(committee, x, y, n, rng, error);
  free(x);
  free(y);
  return rc;
}

int clt_told_trees(clt_forest **out, const clt_told *told, uint32_t branch, const clt_encoding *encoding, uint64_t seed,
                   clt_error *error) {
  float *x, *y;
  size_t n;
  int rc = training_rows(told, branch, encoding->n_inputs, 0, &x, &y, &n, error);
  for (size_t i = 0; !rc && i < n; i++) y[i] = y[i] < 1 ? 1 - y[i] : 0;
  if (!rc) rc = clt_forest_fit(out, encoding, x, y, n, seed, error);
  free(x);
  free(y);
  return rc;
}

int clt_told_validity(clt_forest **out, const clt_told *told, const clt_encoding *encoding, uint64_t seed,
                      clt_error *error) {
  *out = NULL;
  if (told->n_failed == 0) return CLT_OK;
  float *failed = clt_new_array(told->n, sizeof *failed);
  if (failed == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < told->n; i++) failed[i] = told->rows[i].failed;
  int rc = clt_forest_fit(out, encoding, told->x, failed, told->n, seed, error);
  free(failed);
  return rc;
}
