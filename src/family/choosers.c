/* The choosers time, which predicts the time of each arm, and pairwise, which compares arms in pairs. The third is in
 * svm.c. */
#include <lapacke.h>

#include "base/base.h"
#include "family/train.h"
#include "model/network.h"
#include "model/rows.h"
#include "model/trees.h"

/* --- time: a linear model and small networks for each arm, and for the mean of all --- */

#define MEMBERS 4 /* networks per arm, each trained without a part of the rows if there are enough */
#define HIDDEN 4  /* units of a network; 8 are no better (docs/notebook/families.md) */
#define LEAST_ROWS 5
#define ITERATIONS 300
#define NEVER 1e6f /* score of an arm without any known cost */
#define RIDGE 1.0  /* 0.3 to 3 hardly differ on bfs and spmv */

/* Divided by the number of rows. 0.02 to 3 hardly differ on made-up tables of 54 inputs and 10 arms; less than 0.1 is
 * worse. */
static const double decays[] = {0.1, 1};

/* A ridge regression of y on the inputs, for the rows chosen, which y loses. With a few dozen inputs networks alone
 * differ from seed to seed by as much as the arms do; what they add to a line differs less. */
static int fit_line(float *slopes, float *y, const clt_family_rows *rows, const size_t *chosen, size_t n,
                    clt_error *error) {
  double a[CLT_MAX_FEATURES * CLT_MAX_FEATURES] = {0}, b[CLT_MAX_FEATURES] = {0};
  const size_t n_in = rows->n_inputs;
  for (size_t i = 0; i < n; i++) {
    const float *x = rows->x + chosen[i] * n_in;
    for (size_t k = 0; k < n_in; k++) {
      for (size_t j = 0; j < n_in; j++) a[k * n_in + j] += (double)(x[k] * x[j]);
      b[k] += (double)(x[k] * y[chosen[i]]);
    }
  }
  for (size_t k = 0; k < n_in; k++) a[k * n_in + k] += RIDGE;
  const lapack_int order = (lapack_int)n_in;
  if (n_in && LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', order, 1, a, order, b, 1))
    return clt_fail(error, CLT_E_MODEL,
                    "the linear regression on the inputs' features failed; leave features out with --features");
  for (size_t k = 0; k < n_in; k++) slopes[k] = (float)b[k];
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n_in; k++) y[chosen[i]] -= slopes[k] * rows->x[chosen[i] * n_in + k];
  return CLT_OK;
}

/* Fits the linear model and the networks of one arm, and writes them to its block of values. */
static int fit_arm(float *block, const clt_family_rows *rows, size_t arm, double decay, clt_rng *rng,
                   clt_error *error) {
  const size_t h = HIDDEN, n_in = rows->n_inputs, units = MEMBERS * h;
  const clt_shape shape = {.n_inputs = n_in, .n_layers = 2, .width = {h, 1}, .symmetric = true};
  const size_t n_weights = clt_shape_n_weights(&shape);
  float *bias = block + n_in * units, *factor = bias + units, *constant = factor + units, *slopes = constant + 1;
  size_t *chosen = clt_family_alloc(rows->n, sizeof *chosen), *order = clt_family_alloc(rows->n, sizeof *order), n = 0;
  float *y = clt_family_alloc(rows->n, sizeof *y), *weights = clt_family_alloc(n_weights, sizeof *weights);
  uint32_t *fold = clt_family_alloc(rows->n, sizeof *fold);
  int rc = CLT_OK;
  double mean = 0, deviation = 0;
  for (size_t i = 0; i < rows->n; i++)
    if (!isnan(rows->log_cost[i * rows->n_arms + arm])) chosen[n++] = i;
  for (size_t i = 0; i < n; i++) mean += rows->log_cost[chosen[i] * rows->n_arms + arm] / (double)n;
  for (size_t i = 0; i < n; i++) deviation += pow(rows->log_cost[chosen[i] * rows->n_arms + arm] - mean, 2) / (double)n;
  deviation = sqrt(deviation);
  *constant = n ? (float)mean : NEVER;
  const bool flat = n < LEAST_ROWS || !(deviation > 0);
  for (size_t i = 0; !flat && i < n; i++)
    y[chosen[i]] = (float)((rows->log_cost[chosen[i] * rows->n_arms + arm] - mean) / deviation);
  if (!flat) rc = fit_line(slopes, y, rows, chosen, n, error);
  for (size_t k = 0; !flat && k < n_in; k++) slopes[k] *= (float)deviation;
  if (!flat) clt_deal_folds(fold, n, MEMBERS, rng);
  for (size_t m = 0; !flat && rc == CLT_OK && m < MEMBERS; m++) {
    const size_t n_train = clt_fold_split(order, fold, n, n < 3 * MEMBERS ? MEMBERS : m);
    for (size_t i = 0; i < n_train; i++) order[i] = chosen[order[i]];
    for (size_t i = 0; i < n_weights; i++)
      weights[i] = (float)(clt_rng_normal(rng) / sqrt((double)(i < h * (n_in + 1) ? n_in + 1 : h + 1)));
    const clt_training training = {.shape = &shape,
                                   .x = rows->x,
                                   .y = y,
                                   .rows = order,
                                   .n_rows = n_train,
                                   .iterations = ITERATIONS,
                                   .decay = decay / (double)n_train};
    rc = clt_train(&training, weights, NULL, error);
    for (size_t u = 0; rc == CLT_OK && u < h; u++) {
      for (size_t k = 0; k < n_in; k++) block[k * units + m * h + u] = weights[u * (n_in + 1) + k];
      bias[m * h + u] = weights[u * (n_in + 1) + n_in];
      factor[m * h + u] = (float)(deviation / MEMBERS) * weights[h * (n_in + 1) + u];
    }
    *constant += (float)(deviation / MEMBERS) * weights[h * (n_in + 1) + h];
  }
  free(chosen);
  free(order);
  free(y);
  free(weights);
  free(fold);
  return rc;
}

/* The models learn, for each arm, its log cost minus the mean over the arms that are known in all rows. A further
 * block, after those of the arms, learns that mean. Only differences between arms matter for a choice, but most of the
 * variance is common to all arms, such as the size of the input. Costs are cut off at CLT_FAMILY_BEHIND above the
 * minimum, because how slow a slow arm is does not matter. malloc'ed. */
static double *relative_costs(const clt_family_rows *rows) {
  const size_t n_arms = rows->n_arms, width = n_arms + 1;
  double *out = clt_family_alloc(rows->n * width, sizeof *out);
  bool common[CLT_MAX_ARMS];
  size_t n_common = 0;
  for (size_t a = 0; a < n_arms; a++) {
    common[a] = true;
    for (size_t i = 0; i < rows->n; i++) common[a] = common[a] && !isnan(rows->log_cost[i * n_arms + a]);
    n_common += common[a];
  }
  for (size_t i = 0; i < rows->n; i++) {
    const double *cost = rows->log_cost + i * n_arms;
    double *own = out + i * width, least = INFINITY, mean = 0;
    for (size_t a = 0; a < n_arms; a++) least = fmin(least, cost[a]);
    for (size_t a = 0; a < n_arms; a++) own[a] = clt_family_cut(cost[a], least);
    for (size_t a = 0; a < n_arms; a++) mean += common[a] ? own[a] / (double)n_common : 0;
    for (size_t a = 0; a < n_arms; a++) own[a] -= mean;
    own[n_arms] = mean;
  }
  return out;
}

static int fit_time(clt_family_numbers *out, const clt_family_rows *rows, unsigned setting, uint64_t seed,
                    clt_error *error) {
  const size_t units = MEMBERS * HIDDEN, block = units * (rows->n_inputs + 2) + 1 + rows->n_inputs;
  clt_family_rows relative = *rows;
  clt_rng rng;
  clt_rng_init(&rng, seed);
  relative.n_arms++;
  *out = (clt_family_numbers){.n = block * relative.n_arms, .dim = (int)units};
  out->values = clt_family_alloc(out->n, sizeof *out->values);
  double *costs = relative_costs(rows);
  relative.log_cost = costs;
  int rc = CLT_OK;
  for (size_t a = 0; rc == CLT_OK && a < relative.n_arms; a++)
    rc = fit_arm(out->values + a * block, &relative, a, decays[setting], &rng, error);
  free(costs);
  return rc;
}

static const clt_family_chooser chooser_time = {
    .scorer = &clt_family_time,
    .summary = "predicts the time of each variant with small networks; leaves the standard one for a gain of 2 %",
    .n_settings = sizeof decays / sizeof *decays,
    .fit = fit_time};

/* --- pairwise: a forest for each pair of arms --- */

#define TREES 24
static const size_t leaf_rows[] = {1, 3};

static int fit_pair(clt_family_numbers *out, size_t *capacity, float *roots, const clt_family_rows *rows, size_t a,
                    size_t b, size_t least, clt_rng *rng, clt_error *error) {
  size_t *chosen = clt_family_alloc(rows->n, sizeof *chosen), n = 0;
  float *y = clt_family_alloc(rows->n, sizeof *y);
  clt_growth g = {.most_depth = SIZE_MAX, .leaf_rows = least, .rng = rng, .prior = NAN, .rate = 1};
  int rc = CLT_OK;
  for (size_t i = 0; i < rows->n; i++) {
    const double *cost = rows->log_cost + i * rows->n_arms;
    if (isnan(cost[a]) || isnan(cost[b])) continue;
    y[i] = (float)fmax(-1, fmin(1, cost[a] - cost[b]));
    chosen[n++] = i;
  }
  g.most_leaves = n / least > 0 ? n / least : 1;
  clt_tree_node *nodes = clt_family_alloc(2 * g.most_leaves, sizeof *nodes);
  if (n) rc = clt_growth_init(&g, rows->x, rows->n_inputs, y, chosen, n, error);
  for (size_t t = 0; rc == CLT_OK && t < TREES; t++) {
    size_t n_nodes = 1;
    nodes[0] = (clt_tree_node){.input = -1}; /* the two are never known together: none is better */
    if (n) {
      clt_growth_tree(&g);
      n_nodes = clt_growth_write(&g, 0, nodes, 0);
    }
    const size_t first = out->n / 3;
    if (first + n_nodes > CLT_FAMILY_MOST_NODES)
      rc = clt_fail(error, CLT_E_RANGE, "the trees have too many nodes; use another chooser (--chooser time)");
    if (rc == CLT_OK && clt_grow(&out->values, capacity, out->n + 3 * n_nodes, sizeof *out->values))
      rc = clt_fail_memory(error);
    roots[t] = (float)first;
    for (size_t i = 0; rc == CLT_OK && i < n_nodes; i++) {
      out->values[out->n++] = (float)nodes[i].input;
      out->values[out->n++] = nodes[i].number;
      out->values[out->n++] = nodes[i].input < 0 ? 0 : (float)(first + nodes[i].right);
    }
  }
  if (n) clt_arena_release(&g.memory);
  free(nodes);
  free(chosen);
  free(y);
  return rc;
}

static int fit_pairwise(clt_family_numbers *out, const clt_family_rows *rows, unsigned setting, uint64_t seed,
                        clt_error *error) {
  const size_t n_roots = rows->n_arms * (rows->n_arms - 1) / 2 * TREES;
  clt_family_numbers nodes = {0};
  size_t capacity = 0, pair = 0;
  float *roots = clt_family_alloc(n_roots, sizeof *roots);
  clt_rng rng;
  clt_rng_init(&rng, seed);
  int rc = CLT_OK;
  for (size_t a = 0; a < rows->n_arms; a++)
    for (size_t b = a + 1; rc == CLT_OK && b < rows->n_arms; b++, pair++)
      rc = fit_pair(&nodes, &capacity, roots + pair * TREES, rows, a, b, leaf_rows[setting], &rng, error);
  *out = (clt_family_numbers){.n = n_roots + nodes.n, .dim = TREES};
  out->values = clt_family_alloc(out->n, sizeof *out->values);
  if (rc == CLT_OK && n_roots) {
    memcpy(out->values, roots, n_roots * sizeof *roots);
    memcpy(out->values + n_roots, nodes.values, nodes.n * sizeof *roots);
  }
  free(roots);
  free(nodes.values);
  return rc;
}

static const clt_family_chooser chooser_pairwise = {
    .scorer = &clt_family_pairwise,
    .summary = "compares the variants in pairs, with a forest of trees per pair; chooses the most preferred",
    .n_settings = sizeof leaf_rows / sizeof *leaf_rows,
    .fit = fit_pairwise};

/* --- all --- */

const clt_family_chooser *const clt_family_choosers[] = {&chooser_time, &clt_family_chooser_svm, &chooser_pairwise,
                                                         NULL};

const clt_family_chooser *clt_family_chooser_find(const char *name) {
  for (size_t i = 0; clt_family_choosers[i]; i++)
    if (strcmp(clt_family_choosers[i]->scorer->name, name) == 0) return clt_family_choosers[i];
  return NULL;
}
