/* Bagged boosted regression trees on log run time: as many members as there are folds, each without one of them. */
#include "model/trees.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "model/rows.h"

typedef struct trees_options {
  int64_t members, rounds, depth, leaf_rows;
  double rate;
  bool resources;
} trees_options;

#define OPTION(name, type, standard, min, max, field, help) \
  { name, type, standard, min, max, offsetof(trees_options, field), help }

static const clt_option options[] = {
    OPTION("members", CLT_OPTION_INT, "11", 2, CLT_MOST_TREE_MEMBERS, members,
           "boosted models in the ensemble, each without one part of the rows"),
    OPTION("rounds", CLT_OPTION_INT, "100", 1, CLT_MOST_ROUNDS, rounds, "trees of each"),
    OPTION("depth", CLT_OPTION_INT, "4", 1, CLT_MOST_DEPTH, depth, "of a tree"),
    OPTION("leaf-rows", CLT_OPTION_INT, "10", 1, 1e6, leaf_rows, "fewest rows in a leaf"),
    OPTION("rate", CLT_OPTION_REAL, "0.1", 0.001, 1, rate, "share of a leaf's mean that a tree keeps"),
    OPTION("resources", CLT_OPTION_BOOL, "yes", 0, 0, resources,
           "whether the problem's resources are inputs, where it states some"),
};

/* What the members' tasks share. */
struct fit {
  clt_trees *trees;
  const clt_model_setup *setup;
  clt_boosting_options boosting;
  float *x, *y;
  uint32_t *fold;
};

static int fit_member(void *user, size_t member, clt_error *error) {
  struct fit *fit = user;
  clt_trees *t = fit->trees;
  size_t n_inputs = t->encoding->n_inputs, n = fit->setup->n_rows;
  size_t *rows = clt_new_array(n, sizeof *rows);
  if (rows == NULL) return clt_fail_memory(error);
  size_t n_train = clt_rows_split(rows, fit->fold, n, member);
  int rc = clt_boosted_fit(&t->members[member], &fit->boosting, fit->x, n_inputs, fit->y, rows, n_train, NULL, error);
  for (size_t i = n_train; !rc && i < n; i++)
    t->residuals[rows[i]] = clt_boosted_predict(&t->members[member], fit->x + rows[i] * n_inputs) - fit->y[rows[i]];
  free(rows);
  return rc;
}

static int fit_members(struct fit *fit, clt_error *error) {
  const clt_model_setup *setup = fit->setup;
  clt_trees *t = fit->trees;
  clt_rng rng;
  clt_rng_init(&rng, setup->seed);
  fit->x = clt_rows_encode(t->encoding, setup);
  fit->y = clt_new_array(setup->n_rows, sizeof *fit->y);
  fit->fold = clt_new_array(setup->n_rows, sizeof *fit->fold);
  t->residuals = clt_new_array(setup->n_rows, sizeof *t->residuals);
  t->n_residuals = setup->n_rows;
  t->members = clt_new_array(t->n_members, sizeof *t->members);
  if (!fit->x || !fit->y || !fit->fold || !t->residuals || !t->members) return clt_fail_memory(error);
  for (size_t i = 0; i < setup->n_rows; i++) fit->y[i] = (float)setup->log_time[i];
  int rc = clt_rows_folds(fit->fold, setup, t->n_members, &rng, error);
  return rc ? rc : clt_parallel(setup->threads, t->n_members, fit_member, fit, error);
}

static int fit_trees(void *state, const clt_model_setup *setup, const void *given, clt_error *error) {
  const trees_options *o = given;
  clt_trees *t = state;
  struct fit fit = {t, setup, {(size_t)o->rounds, (size_t)o->depth, (size_t)o->leaf_rows, o->rate}};
  int rc = clt_rows_encoding(&t->encoding, setup, o->resources, error);
  if (rc) return rc;
  t->n_members = (size_t)o->members < setup->n_rows ? (size_t)o->members : setup->n_rows;
  rc = fit_members(&fit, error);
  free(fit.x);
  free(fit.y);
  free(fit.fold);
  return rc;
}

/* The first n of a block of rows. */
static void predict_rows(const clt_trees *t, const float *x, size_t n_members, clt_prediction *out, size_t n) {
  double sum[CLT_BOOSTED_ROWS] = {0}, squares[CLT_BOOSTED_ROWS] = {0};
  float y[CLT_BOOSTED_ROWS];
  for (size_t m = 0; m < n_members; m++) {
    clt_boosted_predict_rows(y, &t->members[m], x);
    for (size_t r = 0; r < n; r++) {
      sum[r] += (double)y[r];
      squares[r] += (double)y[r] * (double)y[r];
    }
  }
  for (size_t r = 0; r < n; r++) {
    double mean = sum[r] / (double)n_members;
    out[r].log_time = (float)mean;
    out[r].spread = (float)sqrt(fmax(0, squares[r] / (double)n_members - mean * mean));
  }
}

static int predict_with(const clt_trees *t, size_t n_members, const clt_config *configs, size_t n, clt_prediction *out,
                        clt_error *error) {
  size_t n_inputs = t->encoding->n_inputs;
  float *x = clt_new_array(n_inputs * CLT_BOOSTED_ROWS, sizeof *x);
  if (x == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i += CLT_BOOSTED_ROWS) {
    size_t n_rows = n - i < CLT_BOOSTED_ROWS ? n - i : CLT_BOOSTED_ROWS;
    for (size_t r = 0; r < n_rows; r++) clt_encode(t->encoding, configs[i + r], x + r * n_inputs);
    predict_rows(t, x, n_members, out + i, n_rows);
  }
  free(x);
  return CLT_OK;
}

static int predict(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error) {
  const clt_trees *t = state;
  return predict_with(t, t->n_members, configs, n, out, error);
}

/* One member: eleven of them take eleven times as long. */
static int screen(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error) {
  return predict_with(state, 1, configs, n, out, error);
}

static bool screens(const void *state) {
  (void)state;
  return true;
}

static const float *residuals(const void *state, size_t *n) {
  const clt_trees *t = state;
  *n = t->n_residuals;
  return t->residuals;
}

static void bind(void *state, const clt_instance *instance) {
  clt_encoding_bind(((clt_trees *)state)->encoding, instance);
}

static void fini(void *state) {
  clt_trees *t = state;
  for (size_t m = 0; t->members && m < t->n_members; m++) clt_boosted_release(&t->members[m]);
  free(t->members);
  free(t->residuals);
  clt_encoding_free(t->encoding);
}

extern const clt_model_type clt_model_trees;
const clt_model_type clt_model_trees = {
    .name = "trees",
    .summary = "bagged boosted regression trees on log run time",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(trees_options),
    .state_size = sizeof(clt_trees),
    .fit = fit_trees,
    .predict = predict,
    .screens = screens,
    .screen = screen,
    .residuals = residuals,
    .save = clt_trees_save,
    .load = clt_trees_load,
    .bind = bind,
    .fini = fini,
};
