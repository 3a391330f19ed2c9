/* Training a chooser on a table, and judging it on inputs that it has not seen. */
#include <float.h>

#include "base/base.h"
#include "family/train.h"
#include "model/rows.h"

#define FOLDS 5
#define SLOWER 0.05 /* relative difference that a user would notice */
#define MARGIN 0.1  /* of the training range of a feature: how far beyond it the model still predicts */
#define FACTOR 8.0  /* features whose values above 0 span a larger factor are inputs as logarithms */
#define TRACE 1e-6  /* of the largest value of a feature */

/* The settings of a training, shared by all folds. */
typedef struct family_task {
  const clt_family_table *table;
  size_t columns[CLT_MAX_FEATURES], n_columns;
  double *log_cost; /* [input][arm]: finite if it may run */
  uint64_t seed;
  unsigned threads;
} family_task;

static double least_cost(const family_task *t, size_t input) {
  double least = INFINITY;
  for (size_t a = 0; a < t->table->n_arms; a++) least = fmin(least, t->log_cost[input * t->table->n_arms + a]);
  return least;
}

/* Log costs, with penalties for failures. Inputs on which all arms fail are left out of `rows`. */
static int begin_task(family_task *t, size_t **rows, size_t *n, const clt_family_table *table,
                      const clt_family_training *how, clt_error *error) {
  *t = (family_task){.table = table, .seed = how->seed, .threads = how->threads, .n_columns = how->n_features};
  memcpy(t->columns, how->features, sizeof t->columns);
  for (size_t k = 0, n_chosen = t->n_columns; k < table->family->n_features; k++) {
    bool is_in = false, is_needed = n_chosen == 0; /* the inputs of a condition are needed, too */
    for (size_t c = 0; c < n_chosen; c++) is_in |= t->columns[c] == k;
    for (size_t v = 0; v < table->family->n_variants; v++) {
      const clt_expr *where = table->family->variants[v].where;
      for (size_t s = 0; where && s < clt_expr_n_slots(where); s++) is_needed |= clt_expr_slot(where, s) == k;
    }
    if (is_needed && !is_in) t->columns[t->n_columns++] = k;
  }
  t->log_cost = clt_family_alloc(table->n * table->n_arms, sizeof *t->log_cost);
  *rows = clt_family_alloc(table->n, sizeof **rows);
  for (size_t i = 0; i < table->n; i++)
    if (clt_family_log_costs(&t->log_cost[i * table->n_arms], table, i) > 0) (*rows)[(*n)++] = i;
  if (*n == 0 || (*rows)[0] >= table->n_train)
    return clt_fail(error, CLT_E_NO_VALID, "no variant of the family '%s' gave a correct result on any training input",
                    table->family->name);
  return CLT_OK;
}

/* --- one model --- */

/* A feature as models see it, before it is centred (evaluate.h). */
static double transform(double value, double offset) { return offset < 0 ? value : log(value + offset); }

static void fit_scale(double scale[5], const double *values, size_t n) {
  double low = INFINITY, high = -INFINITY, least_above_0 = INFINITY, mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    low = fmin(low, values[i]), high = fmax(high, values[i]);
    if (values[i] > 0) least_above_0 = fmin(least_above_0, values[i]);
  }
  const bool is_wide = low >= 0 && high >= FACTOR * least_above_0;
  /* If there are zeros, the smallest value above them is added, unless that is a trace of rounding. */
  double offset = low > 0 ? 0 : fmax(least_above_0, TRACE * high);
  if (!is_wide) offset = -1;
  const double first = transform(low, offset), last = transform(high, offset);
  const double margin = MARGIN * (last - first) + 1e-9 * fabs(first);
  for (size_t i = 0; i < n; i++) mean += transform(values[i], offset) / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(transform(values[i], offset) - mean, 2) / (double)n;
  scale[0] = fmax(-DBL_MAX, offset < 0 ? first - margin : exp(first - margin) - offset);
  scale[1] = fmin(DBL_MAX, offset < 0 ? last + margin : exp(last + margin) - offset);
  scale[2] = offset;
  scale[3] = mean;
  scale[4] = last > first ? 1 / sqrt(fmax(squares, DBL_MIN)) : 0;
}

/* The ranks of the arms by mean cost, and the standard arm. */
static int rank_arms(size_t *rank, size_t *standard, const family_task *t, const size_t *rows, size_t n,
                     clt_error *error) {
  const clt_family_table *table = t->table;
  double mean[CLT_MAX_ARMS], least = INFINITY;
  size_t fewest = SIZE_MAX;
  for (size_t a = 0; a < table->n_arms; a++) {
    size_t known = 0, failed = 0;
    mean[a] = 0;
    for (size_t i = 0; i < n; i++) {
      const size_t at = rows[i] * table->n_arms + a;
      if (isnan(t->log_cost[at])) continue;
      mean[a] += t->log_cost[at] - least_cost(t, rows[i]);
      failed += isinf(table->cost[at]) != 0;
      known++;
    }
    mean[a] = known ? mean[a] / (double)known : INFINITY;
    if (table->family->variants[table->arms[a].variant].where) continue;
    if (failed < fewest || (failed == fewest && mean[a] < least)) *standard = a, fewest = failed, least = mean[a];
  }
  for (size_t a = 0; a < table->n_arms; a++) {
    rank[a] = 0;
    for (size_t b = 0; b < table->n_arms; b++) rank[a] += mean[b] < mean[a] || (mean[b] == mean[a] && b < a);
  }
  if (fewest < n) return CLT_OK;
  return clt_fail(error, CLT_E_NO_VALID,
                  "no variant of the family '%s' without a \"Where\" gives correct results on all training inputs",
                  table->family->name);
}

/* A model without texts. */
static int fit_model(clt_family_model *m, const family_task *t, const size_t *rows, size_t n,
                     const clt_family_chooser *chooser, unsigned setting, clt_error *error) {
  const clt_family_table *table = t->table;
  size_t rank[CLT_MAX_ARMS];
  *m = (clt_family_model){.scorer = chooser->scorer, .n_features = t->n_columns, .n_arms = table->n_arms};
  m->scales = clt_family_alloc(t->n_columns, sizeof *m->scales);
  float *x = clt_family_alloc(n * t->n_columns, sizeof *x);
  double *costs = clt_family_alloc(n * table->n_arms, sizeof *costs), *column = clt_family_alloc(n, sizeof *column);
  for (size_t k = 0; k < t->n_columns; k++) {
    for (size_t i = 0; i < n; i++) column[i] = table->inputs[rows[i]].features[t->columns[k]];
    double *s = m->scales[k];
    fit_scale(s, column, n);
    for (size_t i = 0; i < n; i++) x[i * t->n_columns + k] = (float)((transform(column[i], s[2]) - s[3]) * s[4]);
  }
  for (size_t i = 0; i < n; i++)
    memcpy(&costs[i * table->n_arms], &t->log_cost[rows[i] * table->n_arms], table->n_arms * sizeof *costs);
  int rc = rank_arms(rank, &m->standard, t, rows, n, error);
  const clt_family_rows fitted = {n, t->n_columns, table->n_arms, x, costs, rank};
  if (rc == CLT_OK) rc = chooser->fit(&m->numbers, &fitted, setting, t->seed, error);
  free(x);
  free(costs);
  free(column);
  return rc;
}

static void release_fit(clt_family_model *m) {
  free(m->scales);
  free(m->numbers.values);
}

/* The chosen arm for an input and the second choice (the same arm if there is none). */
static size_t choose(size_t *second, const clt_family_model *m, const family_task *t, size_t input) {
  double features[CLT_MAX_FEATURES], scores[CLT_MAX_ARMS];
  const double *costs = t->log_cost + input * m->n_arms;
  for (size_t k = 0; k < t->n_columns; k++) features[k] = t->table->inputs[input].features[t->columns[k]];
  *second = m->standard;
  if (clt_family_score(scores, m, features) >= 0) return m->standard;
  size_t best = m->standard;
  double least = scores[best] - clt_family_margin(m);
  for (size_t a = 0; a < m->n_arms; a++)
    if (!isnan(costs[a]) && scores[a] < least) best = a, least = scores[a];
  *second = best == m->standard ? SIZE_MAX : m->standard;
  for (size_t a = 0; a < m->n_arms; a++)
    if (!isnan(costs[a]) && a != best && (*second == SIZE_MAX || scores[a] < scores[*second])) *second = a;
  if (*second == SIZE_MAX) *second = best;
  return best;
}

/* --- cross-validation --- */

typedef struct fold_search {
  const family_task *task;
  const size_t *rows;
  size_t n, n_folds;
  uint32_t *fold;
  const clt_family_chooser **choosers; /* by candidate */
  unsigned *settings;
  double *regret; /* [candidate][fold]: the sum over its rows */
} fold_search;

static int try_fold(void *user, size_t index, clt_error *error) {
  const fold_search *s = user;
  const size_t candidate = index / s->n_folds, fold = index % s->n_folds;
  size_t *order = clt_family_alloc(s->n, sizeof *order), second;
  clt_family_model model = {0};
  const size_t n_train = clt_fold_split(order, s->fold, s->n, fold);
  for (size_t i = 0; i < s->n; i++) order[i] = s->rows[order[i]];
  int rc = fit_model(&model, s->task, order, n_train, s->choosers[candidate], s->settings[candidate], error);
  for (size_t i = n_train; rc == CLT_OK && i < s->n; i++) {
    const size_t arm = choose(&second, &model, s->task, order[i]);
    const double regret = s->task->log_cost[order[i] * model.n_arms + arm] - least_cost(s->task, order[i]);
    if (regret > log(1 + CLT_FAMILY_TIE)) s->regret[index] += regret;
  }
  release_fit(&model);
  free(order);
  return rc;
}

/* Fits the chooser (NULL: any) and setting with the lowest regret on these rows in cross-validation. */
static int train_rows(clt_family_model *m, const family_task *t, const size_t *rows, size_t n,
                      const clt_family_chooser *chooser, clt_error *error) {
  const clt_family_chooser *choosers[64];
  unsigned settings[64];
  size_t n_candidates = 0, best = 0;
  fold_search s = {
      .task = t, .rows = rows, .n = n, .n_folds = n < FOLDS ? n : FOLDS, .choosers = choosers, .settings = settings};
  for (size_t c = 0; clt_family_choosers[c]; c++)
    for (unsigned k = 0;
         (chooser == NULL || chooser == clt_family_choosers[c]) && k < clt_family_choosers[c]->n_settings; k++)
      choosers[n_candidates] = clt_family_choosers[c], settings[n_candidates++] = k;
  s.fold = clt_family_alloc(n, sizeof *s.fold);
  s.regret = clt_family_alloc(n_candidates * s.n_folds, sizeof *s.regret);
  int rc = CLT_OK;
  clt_rng rng;
  clt_rng_init(&rng, t->seed);
  clt_deal_folds(s.fold, n, s.n_folds, &rng);
  if (n_candidates > 1 && n > 1) rc = clt_parallel(t->threads, n_candidates * s.n_folds, try_fold, &s, error);
  for (size_t c = 0, least = 0; rc == CLT_OK && c < n_candidates; c++) {
    for (size_t k = 1; k < s.n_folds; k++) s.regret[c * s.n_folds] += s.regret[c * s.n_folds + k];
    if (s.regret[c * s.n_folds] < s.regret[least * s.n_folds] * (1 - 1e-9)) least = c;
    best = least;
  }
  free(s.fold);
  free(s.regret);
  return rc ? rc : fit_model(m, t, rows, n, choosers[best], settings[best], error);
}

/* The first rows are those to learn from. */
static size_t count_train(const clt_family_table *table, const size_t *rows, size_t n) {
  size_t n_train = 0;
  while (n_train < n && rows[n_train] < table->n_train) n_train++;
  return n_train;
}

int clt_family_train(clt_family_model **out, const clt_family_table *table, const clt_family_training *how,
                     clt_error *error) {
  const clt_family *f = table->family;
  family_task task;
  size_t *rows = NULL, n = 0;
  clt_family_model *m = clt_family_alloc(1, sizeof *m);
  int rc = begin_task(&task, &rows, &n, table, how, error);
  if (rc == CLT_OK) rc = train_rows(m, &task, rows, count_train(table, rows, n), how->chooser, error);
  m->arms = clt_family_alloc(table->n_arms, sizeof *m->arms);
  if (rc == CLT_OK && !((m->family = strdup(f->name)) && (m->path = realpath(f->source.path, NULL))))
    rc = clt_fail_memory(error);
  clt_symbol symbols[CLT_MAX_FEATURES];
  for (size_t k = 0; rc == CLT_OK && k < m->n_features; k++) {
    rc = clt_words_add(&m->names, strdup(f->features[task.columns[k]]), error);
    symbols[k] = (clt_symbol){.name = f->features[task.columns[k]], .slot = (uint32_t)k};
  }
  for (size_t a = 0; rc == CLT_OK && a < table->n_arms; a++) {
    const clt_family_variant *v = &f->variants[table->arms[a].variant];
    clt_family_model_arm *arm = &m->arms[a];
    arm->variant = strdup(v->name);
    arm->configuration = strdup(table->arms[a].configuration);
    arm->condition = v->where ? strdup(clt_expr_text(v->where)) : NULL;
    if (!arm->variant || !arm->configuration || (v->where && !arm->condition)) rc = clt_fail_memory(error);
    if (rc == CLT_OK && v->where) rc = clt_expr_compile(&arm->where, arm->condition, symbols, m->n_features, error);
  }
  free(task.log_cost);
  free(rows);
  if (rc == CLT_OK)
    *out = m;
  else
    clt_family_model_free(m);
  return rc;
}

/* --- judging --- */

typedef struct judgement {
  size_t n, slow[CLT_N_JUDGED], worse[CLT_N_JUDGED];
  double sum[CLT_N_JUDGED]; /* of best / chosen */
} judgement;

static void judge_rows(judgement *j, const clt_family_model *m, const family_task *t, const size_t *rows, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const double *costs = t->log_cost + rows[i] * m->n_arms, best = least_cost(t, rows[i]), single = costs[m->standard];
    size_t second;
    const size_t first = choose(&second, m, t, rows[i]);
    const double chosen[] = {costs[first], fmin(costs[first], costs[second]), single};
    for (size_t k = 0; k < CLT_N_JUDGED; k++) {
      j->sum[k] += exp(best - chosen[k]);
      j->slow[k] += chosen[k] > best + log(1 + SLOWER);
      j->worse[k] += chosen[k] > single + log(1 + SLOWER);
    }
    j->n++;
  }
}

int clt_family_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n_out, const clt_family_table *table,
                     const clt_family_training *how, clt_error *error) {
  family_task task;
  judgement j = {0};
  size_t *rows = NULL, *order = NULL, n = 0;
  uint32_t *fold = NULL;
  clt_family_model m = {0};
  int rc = begin_task(&task, &rows, &n, table, how, error);
  const size_t n_train = rc ? 0 : count_train(table, rows, n);
  if (rc == CLT_OK && n > n_train) {
    rc = train_rows(&m, &task, rows, n_train, how->chooser, error);
    if (rc == CLT_OK) judge_rows(&j, &m, &task, rows + n_train, n - n_train);
    release_fit(&m);
  } else if (rc == CLT_OK) {
    const size_t n_folds = n < FOLDS ? n : FOLDS;
    clt_rng rng;
    clt_rng_init(&rng, task.seed + 1);
    fold = clt_family_alloc(n, sizeof *fold);
    order = clt_family_alloc(n, sizeof *order);
    clt_deal_folds(fold, n, n_folds, &rng);
    for (size_t k = 0; rc == CLT_OK && k < n_folds; k++) {
      const size_t n_known = clt_fold_split(order, fold, n, k);
      for (size_t i = 0; i < n; i++) order[i] = rows[order[i]];
      m = (clt_family_model){0};
      rc = n_known
               ? train_rows(&m, &task, order, n_known, how->chooser, error)
               : clt_fail(error, CLT_E_MODEL,
                          "cross-validation needs at least two measured training inputs; run 'clatune family measure'");
      if (rc == CLT_OK) judge_rows(&j, &m, &task, order + n_known, n - n_known);
      release_fit(&m);
    }
  }
  free(task.log_cost);
  free(rows);
  free(order);
  free(fold);
  if (rc) return rc;
  const double single = j.sum[CLT_JUDGE_SINGLE] / (double)j.n;
  for (size_t k = 0; k < CLT_N_JUDGED; k++) {
    const double mean = j.sum[k] / (double)j.n;
    out[k] = (clt_family_figures){mean, (double)j.slow[k] / (double)j.n, (double)j.worse[k] / (double)j.n,
                                  single < 1 - 1e-9 ? (mean - single) / (1 - single) : NAN};
  }
  *n_out = j.n;
  return CLT_OK;
}
