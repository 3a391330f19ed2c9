#include "model/rows.h"

#include <lapacke.h>

#include "base/base.h"
#include "format/format.h"
#include "model/model.h"

#define FEWEST_SIZES 5 /* from which on whole sizes are left out */
#define RIDGE 1e-3 /* of a size's variance in log: only keeps sizes that never vary from making the system singular */

int clt_rows_add_instance(clt_rows *rows, const clt_instance *instance, clt_error *error) {
  const clt_instance **grown = realloc(rows->instances, (rows->n_instances + 1) * sizeof *grown);
  if (grown == NULL) return clt_fail_memory(error);
  rows->instances = grown;
  rows->instances[rows->n_instances++] = instance;
  if (rows->space == NULL) rows->space = clt_instance_space(instance);
  return CLT_OK;
}

int clt_rows_add(clt_rows *rows, clt_config config, double log_cost, size_t instance, clt_error *error) {
  size_t configs = rows->capacity, costs = rows->capacity, of = rows->capacity;
  if (clt_grow(&rows->configs, &configs, rows->n + 1, sizeof *rows->configs) ||
      clt_grow(&rows->log_cost, &costs, rows->n + 1, sizeof *rows->log_cost) ||
      clt_grow(&rows->instance_of, &of, rows->n + 1, sizeof *rows->instance_of))
    return clt_fail_memory(error);
  rows->capacity = configs;
  rows->configs[rows->n] = config;
  rows->log_cost[rows->n] = log_cost;
  rows->instance_of[rows->n++] = (uint32_t)instance;
  return CLT_OK;
}

void clt_rows_release(clt_rows *rows) {
  free(rows->instances);
  free(rows->configs);
  free(rows->log_cost);
  free(rows->instance_of);
  *rows = (clt_rows){0};
}

int clt_rows_encoding(clt_encoding **out, const clt_rows *rows, bool resources, clt_error *error) {
  clt_encoding *encoding = NULL;
  size_t n = rows->n_instances > 1 || resources ? rows->n_instances : 0;
  const clt_space *space = n > 1 ? clt_instance_space(rows->instances[0]) : rows->space;
  int rc = clt_encoding_new_over(&encoding, space, rows->instances, n, resources, error);
  if (rc) return rc;
  if (encoding->n_inputs == 0) {
    clt_encoding_free(encoding);
    return clt_fail(error, CLT_E_MODEL, "a model needs a parameter with more than one value");
  }
  *out = encoding;
  return CLT_OK;
}

float *clt_rows_encode(clt_arena *memory, const clt_encoding *encoding, const clt_rows *rows) {
  float *x = clt_arena_array(memory, rows->n, encoding->n_inputs * sizeof *x);
  clt_encoding at = *encoding;
  for (size_t i = 0; x && i < rows->n; i++) {
    if (encoding->instance) at.instance = rows->instances[clt_rows_instance_of(rows, i)];
    clt_encode(&at, rows->configs[i], x + i * encoding->n_inputs);
  }
  return x;
}

void clt_deal_folds(uint32_t *fold, size_t n, size_t k, clt_rng *rng) {
  for (size_t i = 0; i < n; i++) {
    size_t j = (size_t)clt_rng_below(rng, i + 1);
    if (j != i) fold[i] = fold[j]; /* inside-out shuffle of 0, 1, .. k-1, 0, 1 .. */
    fold[j] = (uint32_t)(i % k);
  }
}

size_t clt_fold_split(size_t *order, const uint32_t *fold, size_t n, size_t member) {
  size_t placed = 0;
  for (size_t i = 0; i < n; i++)
    if (fold[i] != member) order[placed++] = i;
  size_t n_train = placed;
  for (size_t i = 0; i < n; i++)
    if (fold[i] == member) order[placed++] = i;
  return n_train;
}

static int fit_member(void *user, size_t member, clt_error *error) {
  const clt_bag *bag = user;
  clt_arena scratch = {0};
  float *outputs = clt_arena_array(&scratch, bag->n, sizeof *outputs);
  size_t *rows = clt_arena_array(&scratch, bag->n, sizeof *rows);
  size_t n_train = rows ? clt_fold_split(rows, bag->fold, bag->n, member) : 0;
  int rc = clt_arena_check(&scratch, error);
  if (rc == CLT_OK) rc = bag->fit_member(bag, member, rows, n_train, outputs, error);
  for (size_t i = n_train; rc == CLT_OK && i < bag->n; i++)
    bag->residuals[rows[i]] = (float)(bag->scale * (outputs[i - n_train] - bag->y[rows[i]]));
  clt_arena_release(&scratch);
  return rc;
}

/* If there are enough sizes, all rows of a size go into one fold, since the model will predict sizes that it has not
 * seen. */
int clt_bag_fit(clt_bag *bag, const clt_encoding *encoding, const clt_rows *rows, size_t n_members, uint64_t seed,
                unsigned threads, float *residuals, clt_error *error) {
  bool by_size = rows->n_instances >= FEWEST_SIZES;
  clt_arena scratch = {0};
  uint32_t *of_size = clt_arena_array(&scratch, rows->n_instances, sizeof *of_size);
  clt_rng rng;
  clt_rng_init(&rng, seed);
  bag->n = rows->n;
  bag->residuals = residuals;
  bag->x = clt_rows_encode(&scratch, encoding, rows);
  bag->y = clt_arena_array(&scratch, rows->n, sizeof *bag->y);
  bag->fold = clt_arena_array(&scratch, rows->n, sizeof *bag->fold);
  bag->rng = clt_arena_array(&scratch, n_members, sizeof *bag->rng);
  int rc = clt_arena_check(&scratch, error);
  if (rc) goto done;
  if (by_size)
    clt_deal_folds(of_size, rows->n_instances, n_members, &rng);
  else
    clt_deal_folds(bag->fold, rows->n, n_members, &rng);
  for (size_t i = 0; i < rows->n; i++) {
    if (by_size) bag->fold[i] = of_size[clt_rows_instance_of(rows, i)];
    bag->y[i] = (float)((rows->log_cost[i] - bag->centre) / bag->scale);
  }
  for (size_t i = 0; i < n_members; i++) clt_rng_init(&bag->rng[i], clt_rng_next(&rng));
  rc = clt_parallel(threads, n_members, fit_member, bag, error);
done:
  clt_arena_release(&scratch);
  return rc;
}

/* --- cost as a function of the sizes --- */

static double log_size(const clt_instance *instance, size_t index) {
  int64_t value = clt_instance_size(instance, index).value;
  return value > 0 ? log((double)value) : 0;
}

/* Each size counts once, by the mean of its correct rows; sizes without one do not count. */
int clt_baseline_fit(clt_baseline *out, const clt_rows *rows, clt_error *error) {
  double a[CLT_BASELINE_MOST * CLT_BASELINE_MOST] = {0}, total = 0;
  *out = (clt_baseline){0};
  if (rows->n_instances < 2) return CLT_OK;
  double *level = clt_new_array(rows->n_instances, 2 * sizeof *level), *count = level + rows->n_instances;
  if (level == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < rows->n; i++) {
    if (clt_rows_failed(rows, i)) continue;
    level[clt_rows_instance_of(rows, i)] += rows->log_cost[i];
    count[clt_rows_instance_of(rows, i)]++;
  }
  out->n = clt_instance_n_sizes(rows->instances[0]);
  if (out->n > CLT_BASELINE_MOST) out->n = CLT_BASELINE_MOST;
  for (size_t k = 0; k < rows->n_instances; k++) {
    if (!(count[k] > 0)) continue;
    level[k] /= count[k];
    total++;
    out->constant += level[k];
    for (size_t s = 0; s < out->n; s++) out->centre[s] += log_size(rows->instances[k], s);
  }
  out->constant /= total;
  for (size_t s = 0; s < out->n; s++) out->centre[s] /= total;
  for (size_t k = 0; k < rows->n_instances; k++) {
    for (size_t s = 0; s < out->n && count[k] > 0; s++) {
      double x = log_size(rows->instances[k], s) - out->centre[s];
      for (size_t t = 0; t < out->n; t++) a[s * out->n + t] += x * (log_size(rows->instances[k], t) - out->centre[t]);
      out->slope[s] += x * (level[k] - out->constant);
    }
  }
  for (size_t s = 0; s < out->n; s++) a[s * out->n + s] += RIDGE * total;
  lapack_int n = (lapack_int)out->n;
  int rc = CLT_OK;
  if (n && LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, a, n, out->slope, 1))
    rc = clt_fail(error, CLT_E_MODEL, "the regression on the rows' sizes failed");
  free(level);
  return rc;
}

double clt_baseline_at(const clt_baseline *baseline, const clt_instance *instance) {
  double sum = baseline->constant;
  for (size_t s = 0; s < baseline->n; s++) sum += baseline->slope[s] * (log_size(instance, s) - baseline->centre[s]);
  return sum;
}

json_t *clt_baseline_save(const clt_baseline *baseline) {
  return json_pack("{s:f, s:o, s:o}", "constant", baseline->constant, "slopes",
                   clt_json_reals(baseline->slope, baseline->n), "centres",
                   clt_json_reals(baseline->centre, baseline->n));
}

int clt_baseline_load(clt_baseline *out, const clt_instance *instance, const json_t *json, clt_error *error) {
  *out = (clt_baseline){0};
  if (json == NULL || json_is_null(json)) return CLT_OK;
  const json_t *slopes = json_object_get(json, "slopes"), *centres = json_object_get(json, "centres");
  clt_baseline read = {.n = json_array_size(slopes)};
  bool good = clt_json_read_number(&read.constant, json_object_get(json, "constant")) && read.n <= CLT_BASELINE_MOST &&
              (read.n == 0 || (instance && read.n <= clt_instance_n_sizes(instance))) &&
              clt_json_read_doubles(read.slope, read.n, slopes) && clt_json_read_doubles(read.centre, read.n, centres);
  if (!good) return clt_model_damaged(error, "baseline");
  *out = read;
  return CLT_OK;
}

/* --- the sizes in a model file --- */

json_t *clt_sizes_save(const clt_rows *rows) {
  json_t *all = json_array();
  for (size_t k = 0; k < rows->n_instances; k++) clt_json_append(&all, clt_json_sizes(rows->instances[k]));
  if (all == NULL || rows->n_instances > 1) return all;
  json_t *out = rows->n_instances ? json_incref(json_array_get(all, 0)) : json_null();
  json_decref(all);
  return out;
}

int clt_sizes_check(const json_t *sizes, const clt_instance *instance, clt_error *error) {
  if (json_is_array(sizes) && instance == NULL)
    return clt_fail(error, CLT_E_FORMAT,
                    "the model was fitted at several sizes; give it the problem file instead of a space");
  if (!json_is_object(sizes) || instance == NULL) return CLT_OK;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    const json_t *fitted = json_object_get(sizes, size.name);
    if (!json_is_integer(fitted) || json_integer_value(fitted) == size.value) continue;
    return clt_fail(error, CLT_E_FORMAT, "the model was fitted at %s=%lld, not at %s=%lld; train one at this size",
                    size.name, (long long)json_integer_value(fitted), size.name, (long long)size.value);
  }
  return CLT_OK;
}
