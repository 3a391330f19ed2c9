/* The chooser of Muralidharan et al. ("Architecture-adaptive code variant tuning", ASPLOS 2016): a support-vector
 * machine with radial basis functions that names the best arm. libsvm fits it; choosing needs no libsvm. */
#include "base/base.h"
#include "family/train.h"

#ifdef CLT_HAVE_SVM
#include <libsvm/svm.h>

static const double penalties[] = {1, 8, 64, 512}, gammas[] = {0.0625, 0.25, 1, 4}; /* gammas: divided by the inputs */
#define N_GAMMAS (sizeof gammas / sizeof *gammas)

static void print_nothing(const char *text) { (void)text; }

/* Among the arms that are as good as the best, the one with the best mean. */
static size_t label_of(const clt_family_rows *rows, size_t row) {
  const double *cost = rows->log_cost + row * rows->n_arms;
  double least = INFINITY;
  size_t best = 0, best_rank = SIZE_MAX;
  for (size_t a = 0; a < rows->n_arms; a++) least = fmin(least, cost[a]);
  for (size_t a = 0; a < rows->n_arms; a++)
    if (cost[a] <= least + log(1 + CLT_FAMILY_TIE) && rows->rank[a] < best_rank) best = a, best_rank = rows->rank[a];
  return best;
}

static void copy_model(clt_family_numbers *out, const struct svm_model *m, size_t n_inputs) {
  const size_t k = (size_t)m->nr_class, l = (size_t)m->l, n_pairs = k * (k - 1) / 2;
  *out = (clt_family_numbers){.n = 2 + 2 * k + n_pairs + (k - 1) * l + l * n_inputs, .dim = m->nr_class};
  float *to = out->values = clt_family_alloc(out->n, sizeof *to);
  *to++ = (float)m->param.gamma;
  *to++ = (float)m->l;
  for (size_t i = 0; i < k; i++) *to++ = (float)m->label[i];
  for (size_t i = 0; i < k; i++) *to++ = (float)m->nSV[i];
  for (size_t i = 0; i < n_pairs; i++) *to++ = (float)m->rho[i];
  for (size_t i = 0; i + 1 < k; i++)
    for (size_t v = 0; v < l; v++) *to++ = (float)m->sv_coef[i][v];
  for (size_t v = 0; v < l; v++)
    for (size_t i = 0; i < n_inputs; i++) *to++ = (float)m->SV[v][i].value;
}

static int fit_svm(clt_family_numbers *out, const clt_family_rows *rows, unsigned setting, uint64_t seed,
                   clt_error *error) {
  const size_t width = rows->n_inputs + 1;
  struct svm_node *nodes = clt_family_alloc(rows->n * width, sizeof *nodes), **x = clt_family_alloc(rows->n, sizeof *x);
  double *labels = clt_family_alloc(rows->n, sizeof *labels);
  const struct svm_parameter parameter = {.svm_type = C_SVC,
                                          .kernel_type = RBF,
                                          .gamma = gammas[setting % N_GAMMAS] / (double)rows->n_inputs,
                                          .C = penalties[setting / N_GAMMAS],
                                          .cache_size = 64,
                                          .eps = 1e-3,
                                          .shrinking = 1};
  struct svm_problem problem = {.l = (int)rows->n, .y = labels, .x = x};
  bool several = false;
  (void)seed;
  int rc = CLT_OK;
  for (size_t i = 0; i < rows->n; i++) {
    labels[i] = (double)label_of(rows, i);
    several |= labels[i] != labels[0];
    x[i] = nodes + i * width;
    for (size_t k = 0; k < rows->n_inputs; k++)
      x[i][k] = (struct svm_node){.index = (int)k + 1, .value = (double)rows->x[i * rows->n_inputs + k]};
    x[i][rows->n_inputs].index = -1;
  }
  if (several) {
    svm_set_print_string_function(print_nothing);
    struct svm_model *model = svm_train(&problem, &parameter);
    if (model) copy_model(out, model, rows->n_inputs);
    if (model == NULL) rc = clt_fail_memory(error);
    if (model) svm_free_and_destroy_model(&model);
  } else {
    *out = (clt_family_numbers){.n = 4, .dim = 1, .values = clt_family_alloc(4, sizeof *out->values)};
    out->values[2] = (float)labels[0];
  }
  free(nodes);
  free(x);
  free(labels);
  return rc;
}
#define N_SETTINGS (sizeof penalties / sizeof *penalties * N_GAMMAS)
#else
#define fit_svm NULL
#define N_SETTINGS 0
#endif

const clt_family_chooser clt_family_chooser_svm = {
    .scorer = &clt_family_svm,
    .summary = "classifies inputs by their best variant with a support-vector machine (libsvm)",
    .n_settings = N_SETTINGS,
    .fit = fit_svm};
