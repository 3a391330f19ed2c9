/* What the surrogate search knows: its own results, which its models are fitted on, and prior data, which is an input
 * of the networks and where the search begins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/surrogate.h"

#define IMPROVEMENT 0.005 /* relative; less than that is none: the noise of repeated runs */
#define NEAR 1e-6f        /* squared distances that count as equal */

/* --- results --- */

static void note_improvement(clt_improvement *i, double cost) {
  bool first = !(i->best_cost > 0);
  i->n++;
  if (isnan(cost)) return;
  if (first || cost < i->best_cost * (1 - IMPROVEMENT)) i->best_at = i->n;
  if (first || cost < i->best_cost) i->best_cost = cost;
}

int clt_results_add(clt_results *r, clt_result_row row, clt_error *error) {
  size_t n_inputs = r->encoding->n_inputs, n_extra = r->inputs ? r->inputs->n : 0;
  if (clt_grow(&r->rows, &r->rows_capacity, r->n + 1, sizeof *r->rows) ||
      clt_grow(&r->x, &r->x_capacity, r->n + 1, (n_inputs + 1) * sizeof *r->x) ||
      clt_grow(&r->extra, &r->extra_capacity, r->n + 1, (n_extra + 1) * sizeof *r->extra))
    return clt_fail_memory(error);
  if (n_extra) r->inputs->fill(r->inputs->user, row.config, r->extra + r->n * n_extra);
  clt_encode(r->encoding, row.config, r->x + r->n * n_inputs);
  r->rows[r->n++] = row;
  r->n_failed += isnan(row.cost);
  note_improvement(&r->all, row.cost);
  if (row.branch && row.branch == r->latest) note_improvement(&r->own, row.cost);
  return CLT_OK;
}

void clt_results_release(clt_results *r) {
  free(r->rows);
  free(r->x);
  free(r->extra);
}

static bool trains(const clt_result_row *row, uint32_t branch) {
  return !isnan(row->cost) && (branch == 0 || row->branch == branch);
}

size_t clt_results_n_correct(const clt_results *r, uint32_t branch) {
  size_t n = 0;
  for (size_t i = 0; i < r->n; i++) n += trains(&r->rows[i], branch);
  return n;
}

/* Among equals the lower configuration. */
static bool is_faster(const clt_result_row *a, const clt_result_row *b) {
  return a->cost != b->cost ? a->cost < b->cost : a->config < b->config;
}

size_t clt_results_fastest(const clt_results *r, clt_config *out, size_t n) {
  const clt_result_row *fastest[CLT_MOST_FASTEST + 1];
  size_t found = 0;
  for (size_t i = 0; i < r->n; i++) {
    if (isnan(r->rows[i].cost)) continue;
    size_t place = found;
    for (; place > 0 && is_faster(&r->rows[i], fastest[place - 1]); place--) fastest[place] = fastest[place - 1];
    fastest[place] = &r->rows[i];
    if (found < n) found++;
  }
  for (size_t k = 0; k < found; k++) out[k] = fastest[k]->config;
  return found;
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

/* A branch's correct rows: inputs, with n_extra further ones, and their speed relative to the fastest of them. Both are
 * malloc'ed. */
static int training_rows(const clt_results *r, uint32_t branch, size_t n_extra, float **x, float **speed, size_t *n,
                         clt_error *error) {
  size_t n_inputs = r->encoding->n_inputs, width = n_inputs + n_extra;
  double best = (branch ? &r->own : &r->all)->best_cost;
  *x = clt_new_array(r->n, (width + 1) * sizeof **x);
  *speed = clt_new_array(r->n, sizeof **speed);
  *n = 0;
  if (*x == NULL || *speed == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < r->n; i++) {
    if (!trains(&r->rows[i], branch)) continue;
    memcpy(*x + *n * width, r->x + i * n_inputs, n_inputs * sizeof **x);
    memcpy(*x + *n * width + n_inputs, r->extra + i * n_extra, n_extra * sizeof **x);
    (*speed)[(*n)++] = (float)(best / r->rows[i].cost);
  }
  return CLT_OK;
}

/* Speed is the target, and not log cost: a network that is fitted on log cost spends itself on the slow majority. */
int clt_results_fit(const clt_results *r, uint32_t branch, clt_committee *committee, bool blind, clt_rng *rng,
                    clt_error *error) {
  float *x, *y;
  size_t n, n_extra = r->inputs && !blind ? r->inputs->n : 0;
  int rc = training_rows(r, branch, n_extra, &x, &y, &n, error);
  for (size_t i = 0; !rc && i < n; i++) y[i] = -y[i];
  if (!rc) rc = clt_committee_fit(committee, x, y, n, rng, error);
  free(x);
  free(y);
  return rc;
}

int clt_results_fit_trees(clt_forest **out, const clt_results *r, uint32_t branch, uint64_t seed, clt_error *error) {
  float *x, *y;
  size_t n;
  int rc = training_rows(r, branch, 0, &x, &y, &n, error);
  for (size_t i = 0; !rc && i < n; i++) y[i] = y[i] < 1 ? 1 - y[i] : 0;
  if (!rc) rc = clt_forest_fit(out, r->encoding, x, y, n, seed, error);
  free(x);
  free(y);
  return rc;
}

int clt_results_fit_validity(clt_forest **out, const clt_results *r, uint64_t seed, clt_error *error) {
  *out = NULL;
  if (r->n_failed == 0) return CLT_OK;
  float *failed = clt_new_array(r->n, sizeof *failed);
  if (failed == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < r->n; i++) failed[i] = isnan(r->rows[i].cost);
  int rc = clt_forest_fit(out, r->encoding, r->x, failed, r->n, seed, error);
  free(failed);
  return rc;
}

/* --- prior data --- */

int clt_prior_data_init(clt_prior_data *d, const clt_search_setup *setup, const clt_encoding *encoding,
                        clt_error *error) {
  size_t n_inputs = encoding->n_inputs;
  *d = (clt_prior_data){setup->sources, setup->n_sources < CLT_MOST_SOURCES ? setup->n_sources : CLT_MOST_SOURCES,
                        encoding};
  d->nearest = clt_space_valid(encoding->space) <= CLT_LAYOUT_MOST;
  for (size_t k = 0; k < d->n; k++) {
    const clt_search_source *source = &d->sources[k];
    float least = INFINITY;
    double sum = 0;
    d->x[k] = clt_new_array(source->n, (n_inputs + 1) * sizeof(float));
    d->speed[k] = clt_new_array(source->n, sizeof(float));
    if (d->x[k] == NULL || d->speed[k] == NULL) return clt_fail_memory(error);
    for (size_t i = 0; i < source->n; i++) least = fminf(least, source->log_costs[i]);
    for (size_t i = 0; i < source->n; i++) {
      clt_encode(encoding, source->configs[i], d->x[k] + i * n_inputs);
      d->speed[k][i] = isnan(source->log_costs[i]) ? 0 : expf(least - source->log_costs[i]);
      sum += d->speed[k][i];
    }
    d->mean[k] = source->n ? (float)(sum / (double)source->n) : 0;
  }
  return CLT_OK;
}

void clt_prior_data_release(clt_prior_data *d) {
  for (size_t k = 0; k < CLT_MOST_SOURCES; k++) {
    free(d->x[k]);
    free(d->speed[k]);
  }
}

static bool find_speed(const clt_prior_data *d, size_t k, clt_config config, float *speed) {
  size_t place;
  if (!clt_search_u64(d->sources[k].configs, d->sources[k].n, config, &place)) return false;
  *speed = d->speed[k][place];
  return true;
}

/* The mean of the nearest ones. */
static float nearest_speed(const clt_prior_data *d, size_t k, clt_config config) {
  size_t n_inputs = d->encoding->n_inputs;
  float x[CLT_MOST_ENCODED], least = INFINITY, sum = 0, n = 0;
  if (!d->nearest || n_inputs > CLT_MOST_ENCODED) return d->mean[k];
  clt_encode(d->encoding, config, x);
  for (size_t i = 0; i < d->sources[k].n; i++) {
    float distance = clt_least_distance(d->x[k] + i * n_inputs, 1, n_inputs, x);
    if (distance > least + NEAR) continue;
    if (distance < least - NEAR) sum = n = 0;
    least = fminf(least, distance);
    sum += d->speed[k][i];
    n++;
  }
  return n > 0 ? sum / n : d->mean[k];
}

void clt_prior_data_fill(const void *user, clt_config config, float *out) {
  const clt_prior_data *d = user;
  for (size_t k = 0; k < d->n; k++) {
    float speed;
    if (!find_speed(d, k, config, &speed)) speed = nearest_speed(d, k, config);
    out[k] = 2 * speed - 1;
  }
}

/* Half the mean of all sources that have it, half the k-th one's own. */
static float promise(const clt_prior_data *d, size_t k, size_t row) {
  float sum = 0, n = 0, speed;
  for (size_t j = 0; j < d->n; j++) {
    if (!find_speed(d, j, d->sources[k].configs[row], &speed)) continue;
    sum += speed;
    n++;
  }
  return 0.5f * sum / n + 0.5f * d->speed[k][row];
}

clt_config clt_prior_data_best(const clt_prior_data *d, size_t k, const clt_config *before, size_t n_before,
                               const clt_map *asked) {
  const clt_search_source *source = &d->sources[k % d->n];
  const clt_space *space = d->encoding->space;
  clt_config best = CLT_CONFIG_NONE;
  float most = 0;
  for (size_t i = 0; i < source->n; i++) {
    clt_config config = source->configs[i];
    /* The other half is at most 1/2. */
    float here = d->speed[k % d->n][i] > 2 * most - 1 ? promise(d, k % d->n, i) : 0;
    bool near = false;
    for (size_t j = 0; here > most && j < n_before && !near; j++)
      near = clt_encoded_difference(d->encoding, config, before[j]) < 2;
    if (!(here > most) || near || !clt_space_contains(space, config) || clt_space_canonical(space, config) != config ||
        clt_map_find(asked, config))
      continue;
    best = config;
    most = here;
  }
  return best;
}
