/* The scores of models, by the functions of evaluate.h. */
#include "choice/choice.h"

#define FAMILY(name) score_##name
#include "choice/evaluate.h"

/* Whether a number from a file is an integer in least .. end - 1. */
static bool is_index(float number, size_t least, size_t end) {
  return number >= (float)least && number < (float)end && number == floorf(number);
}

static bool time_fits(const clt_family_numbers *numbers, size_t n_inputs, size_t n_arms) {
  const int units = numbers->dim;
  return units >= 4 && units <= 64 && units % 4 == 0 &&
         numbers->n == (n_arms + 1) * ((size_t)units * (n_inputs + 2) + 1 + n_inputs);
}

static bool pairwise_fits(const clt_family_numbers *numbers, size_t n_inputs, size_t n_arms) {
  if (numbers->dim < 1 || numbers->dim > 1024) return false;
  const size_t n_roots = n_arms * (n_arms - 1) / 2 * (size_t)numbers->dim;
  if (numbers->n < n_roots || (numbers->n - n_roots) % 3 != 0) return false;
  const float *nodes = numbers->values + n_roots;
  const size_t n = (numbers->n - n_roots) / 3;
  if (n > CLT_FAMILY_MOST_NODES) return false; /* beyond, a node could be its own successor */
  for (size_t i = 0; i < n_roots; i++)
    if (!is_index(numbers->values[i], 0, n)) return false;
  for (size_t i = 0; i < n; i++)
    if (nodes[3 * i] >= 0 &&
        !(is_index(nodes[3 * i], 0, n_inputs) && i + 1 < n && is_index(nodes[3 * i + 2], i + 1, n)))
      return false;
  return true;
}

static bool svm_fits(const clt_family_numbers *numbers, size_t n_inputs, size_t n_arms) {
  const size_t k = (size_t)numbers->dim;
  const float *values = numbers->values, *arm = values + 2, *count = arm + k;
  if (numbers->dim < 1 || k > n_arms || numbers->n < 2 + 2 * k || !is_index(values[1], 0, 1 << 24)) return false;
  const size_t l = (size_t)values[1];
  size_t sum = 0;
  for (size_t i = 0; i < k; i++) {
    if (!is_index(arm[i], 0, n_arms) || !is_index(count[i], 0, l + 1)) return false;
    sum += (size_t)count[i];
  }
  return sum == l && numbers->n == 2 + 2 * k + k * (k - 1) / 2 + (k - 1) * l + l * n_inputs;
}

const clt_family_scorer clt_family_time = {.name = "time",
                                           .predicts_time = true,
                                           .score = score_time,
                                           .fits = time_fits},
                        clt_family_pairwise = {.name = "pairwise", .score = score_pairwise, .fits = pairwise_fits},
                        clt_family_svm = {.name = "svm", .score = score_svm, .fits = svm_fits};

const clt_family_scorer *clt_family_scorer_find(const char *name) {
  static const clt_family_scorer *const all[] = {&clt_family_time, &clt_family_pairwise, &clt_family_svm};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(all[i]->name, name) == 0) return all[i];
  return NULL;
}

int clt_family_score(double scores[CLT_MAX_ARMS], const clt_family_model *m, const double *features) {
  float x[CLT_MAX_FEATURES];
  const int outside = score_scale(x, features, (const double(*)[5])m->scales, (int)m->n_features);
  if (outside >= 0) return outside;
  m->scorer->score(scores, x, m->numbers.values, (int)m->n_features, (int)m->n_arms, m->numbers.dim);
  return -1;
}
