/* two-stage: random samples, a model, then the configurations that it predicts to be the fastest (Falch and Elster,
 * "Machine learning based auto-tuning for enhanced OpenCL performance portability", 2015, section 4). */
#include <errno.h>

#include "base/base.h"
#include "model/model.h"
#include "model/rows.h"
#include "search/search.h"

#define SAMPLES_WITHOUT_BUDGET 200
#define MIN_CORRECT 5    /* clt_model_new needs as many */
#define MIN_P_VALID 0.5  /* with the option 'validity': more probable than not */
#define REFIT_SHARE 0.25 /* fraction of a block: refit if more failed */
#define MIN_BLOCK 16     /* see next_block: small, but large enough for a fraction of failures */
#define AT_ONCE 4096     /* candidates that a sweep finds: far more than most second stages take */

typedef struct two_stage_options {
  int64_t samples;          /* 0: from the budget */
  const char *second_stage; /* "rest", "auto" or a number */
  int64_t second_stage_max; /* with "auto" */
  bool validity;            /* configurations that probably fail come last */
} two_stage_options;

typedef enum stage { SAMPLING, SECOND, OVER } stage;

typedef struct two_stage_state {
  clt_steps steps; /* first: its ask is the searcher's */
  clt_search_setup setup;
  int64_t n_samples, most_second; /* how the budget is divided */
  bool chosen;                    /* the second stage ends when the confidence is reached */
  double min_p_valid;             /* less likely ones come after all others */
  clt_rows rows; /* told, by configuration, so that the order in which results arrived makes no difference */
  size_t n_correct;
  double best_cost;
  clt_best sample; /* the best of the samples, which the second stage must beat */
  bool drawn_out;  /* the whole space was sampled */
  stage stage;

  clt_model *model;
  clt_config *candidates; /* the fastest by its predictions, in order */
  clt_prediction *predictions;
  size_t n_candidates, next, block_end; /* next: the first not taken; block_end: the end of this block of them */
  bool exhausted;                       /* the model has no others */
  double margin;                        /* with chosen: find_margin */
  double beyond; /* the predicted log cost from which on, by the margin, nothing is better by more than the tolerance */
  int64_t n_second, block_told, block_failed;
  int64_t n_second_told, n_second_failed;
  double n_needed; /* size that the confidence needs; more than told: a limit was reached first. NaN: not known */
  double fit_s, predict_s;
} two_stage_state;

/* --- dividing the budget --- */

/* The option second-stage: a number, 0 for auto, INT64_MAX for rest. */
static int parse_second_stage(int64_t *out, const char *text, clt_error *error) {
  char *end;
  if (strcmp(text, "auto") == 0) {
    *out = 0;
    return CLT_OK;
  }
  if (strcmp(text, "rest") == 0) {
    *out = INT64_MAX;
    return CLT_OK;
  }
  errno = 0;
  long long n = strtoll(text, &end, 10);
  *out = n;
  if (end == text || *end || errno || n < 0 || n > INT32_MAX)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'second-stage' needs a whole number, auto or rest, not '%s'", text);
  return CLT_OK;
}

static int divide_budget(two_stage_state *s, const two_stage_options *options, clt_error *error) {
  int64_t count, budget = s->steps.left;
  bool limited = budget != INT64_MAX;
  int rc = parse_second_stage(&count, options->second_stage, error);
  if (rc) return rc;
  s->n_samples = limited ? budget / 2 + budget % 2 : SAMPLES_WITHOUT_BUDGET;
  if (limited && count > 0 && count < budget) s->n_samples = budget - count;
  if (options->samples) s->n_samples = options->samples;
  if (s->n_samples > budget) s->n_samples = budget;
  s->most_second = count > 0 ? count : options->second_stage_max;
  if (limited && s->most_second > budget - s->n_samples) s->most_second = budget - s->n_samples;
  s->chosen = count == 0;
  return CLT_OK;
}

static int64_t two_stage_budget(const void *opaque) {
  const two_stage_options *options = opaque;
  int64_t count, samples = options->samples;
  if (parse_second_stage(&count, options->second_stage, NULL)) return 0; /* init reports the error */
  if (count == 0) return samples ? samples + options->second_stage_max : 0;
  if (count == INT64_MAX) return 2 * samples;
  return (samples ? samples : count) + count;
}

/* --- how deep the second stage must go: docs/explanation/searching.md --- */

typedef struct fast_row {
  double log_cost;
  double residual; /* predicted - measured */
} fast_row;

/* A bound, in log cost, on how much slower than it is the optimum was predicted; it holds with probability
 * `confidence`. Assumption: the optimum is exchangeable with the k fastest rows, whose predictions come from networks
 * that used them neither for fitting nor for stopping. Then the optimum's error is the largest of the k + 1 with
 * probability 1 / (k + 1), so that the largest of the k errors bounds it with probability k / (k + 1). NaN: fewer than
 * k rows are correct. residuals: one per correct row, in the order of rows. */
static double find_margin(const clt_rows *rows, const float *residuals, size_t n_residuals, double confidence) {
  fast_row *fast = clt_new_array(n_residuals, sizeof *fast);
  if (fast == NULL) return NAN;
  double margin = NAN;
  size_t n = 0, k = (size_t)ceil(confidence / (1 - confidence) - 1e-9);
  for (size_t i = 0; i < rows->n && n < n_residuals; i++) {
    if (clt_rows_failed(rows, i)) continue;
    fast[n] = (fast_row){rows->log_cost[i], residuals[n]};
    n++;
  }
  qsort(fast, n, sizeof *fast, clt_by_number);
  for (size_t i = 0; i < k && k <= n; i++) margin = fmax(margin, fast[i].residual); /* NaN gives way */
  free(fast);
  return margin;
}

/* --- the model --- */

static int fit_model(two_stage_state *s, clt_error *error) {
  clt_model *model;
  int rc = clt_model_new(&model, "ensemble", NULL, 0, &s->rows, s->setup.seed, s->setup.threads, error);
  if (rc) return rc;
  clt_model_free(s->model);
  s->model = model;
  clt_model_accuracy accuracy;
  clt_model_accuracy_get(&accuracy, model);
  s->fit_s += accuracy.fit_s;
  return CLT_OK;
}

/* Replaces the candidates by the model's best of those not seen, canonical ones only; those less likely to be valid
 * than min_p_valid last. */
static int refill(two_stage_state *s, clt_error *error) {
  double start_s = clt_now_s();
  size_t n_skip = 0;
  uint64_t config;
  clt_config *skip = clt_new_array(s->steps.known.n, sizeof *skip);
  int rc = skip ? CLT_OK : clt_fail_memory(error);
  for (size_t at = 0; rc == CLT_OK && clt_map_next(&s->steps.known, &at, &config, NULL);) skip[n_skip++] = config;
  if (rc == CLT_OK) clt_sort_u64(skip, n_skip);
  s->n_candidates = s->next = s->block_end = 0;
  s->exhausted = false;
  for (size_t want = AT_ONCE; rc == CLT_OK && s->n_candidates == 0 && !s->exhausted; want *= 2) {
    size_t n = 0; /* again if the best were all aliases */
    free(s->candidates);
    free(s->predictions);
    s->candidates = clt_new_array(want, sizeof *s->candidates);
    s->predictions = clt_new_array(want, sizeof *s->predictions);
    rc = s->candidates && s->predictions ? CLT_OK : clt_fail_memory(error);
    if (rc == CLT_OK)
      rc = clt_model_best(s->candidates, s->predictions, &n, s->model, want, s->min_p_valid, skip, n_skip, error);
    if (rc) break;
    s->exhausted = n < want;
    for (size_t i = 0; i < n; i++) {
      if (!clt_steps_is_new(&s->steps, s->candidates[i])) continue;
      s->candidates[s->n_candidates] = s->candidates[i];
      s->predictions[s->n_candidates++] = s->predictions[i];
    }
  }
  free(skip);
  s->predict_s += clt_now_s() - start_s;
  return rc;
}

/* Called when all samples have results. The margin comes from the random rows only, since those of the second stage are
 * chosen by the model and are no unbiased sample of its errors. With too few correct samples for a model, takes more
 * samples, or ends the search. */
static int end_sampling(two_stage_state *s, clt_error *error) {
  int64_t more = s->steps.left;
  bool possible = !s->drawn_out && more > 0;
  size_t n;
  if (s->n_correct >= MIN_CORRECT) {
    s->stage = SECOND;
    s->steps.phase = "second stage";
    int rc = fit_model(s, error);
    if (rc) return rc;
    const float *residuals = clt_model_residuals(s->model, &n);
    s->margin = find_margin(&s->rows, residuals, n, s->setup.confidence);
    return refill(s, error);
  }
  const clt_log_level level = possible ? CLT_LOG_INFO : CLT_LOG_WARNING;
  const char *consequence = possible ? "sampling continues" : "the second stage is skipped";
  clt_log(s->setup.log, s->setup.log_user, level,
          "only %zu of the %zu sampled configurations are correct, and a model needs %d: %s", s->n_correct, s->rows.n,
          MIN_CORRECT, consequence);
  s->stage = possible ? SAMPLING : OVER;
  s->steps.phase = "sampling";
  s->n_samples = (int64_t)s->steps.n_asked + (int64_t)clt_min((size_t)more, MIN_CORRECT);
  return CLT_OK;
}

/* --- the stages --- */

/* Whether a configuration may, within the margin, be better than the incumbent by more than the tolerance.
 * Configurations that probably fail are not. */
static bool is_promising(const two_stage_state *s, const clt_prediction *prediction) {
  return prediction->p_valid >= s->min_p_valid && prediction->log_cost < s->beyond;
}

static int count_promising(void *user, uint64_t first_rank, size_t n, const clt_prediction *predictions) {
  two_stage_state *s = user;
  for (size_t i = 0; i < n; i++)
    s->n_needed +=
        is_promising(s, &predictions[i]) && clt_steps_is_new(&s->steps, clt_space_at(s->setup.space, first_rank + i));
  return 0;
}

/* Ends the second stage. If a limit was reached before the confidence, warns of the size that it needs. */
static int finish_second_stage(two_stage_state *s, clt_error *error) {
  s->stage = OVER;
  if (!s->chosen) return CLT_OK;
  if (isnan(s->margin)) {
    clt_log(
        s->setup.log, s->setup.log_user, CLT_LOG_WARNING,
        "too few correct samples to choose the size of the second stage by the confidence; it went up to its limit");
    return CLT_OK;
  }
  s->n_needed = (double)s->n_second;
  if (s->next == s->n_candidates || !is_promising(s, &s->predictions[s->next])) return CLT_OK;
  if (clt_space_valid(s->setup.space) > CLT_MOST_SWEPT) return CLT_OK; /* it takes too long to count them */
  int rc = clt_model_sweep(s->model, count_promising, s, error);
  if (rc) return rc;
  s->n_needed = fmax(s->n_needed, (double)s->n_second + 1);
  clt_log(s->setup.log, s->setup.log_user, CLT_LOG_WARNING,
          "a confidence of %g needs a second stage of about %.0f evaluations; its limit was %lld", s->setup.confidence,
          s->n_needed, (long long)s->n_second);
  return CLT_OK;
}

/* The second stage is proposed in blocks. The next block is decided when all results of a block are known, so that the
 * decision depends neither on the order of the results nor on the size of the batches. If too much of a block failed,
 * the model is fitted again. */
static int next_block(two_stage_state *s, clt_error *error) {
  bool learnt = s->block_failed > 0 && s->block_failed >= REFIT_SHARE * (double)s->block_told;
  int rc = learnt ? fit_model(s, error) : CLT_OK;
  if (rc == CLT_OK && (learnt || (s->next == s->n_candidates && !s->exhausted))) rc = refill(s, error);
  if (rc) return rc;
  s->block_told = s->block_failed = 0;
  int64_t block = s->n_second / 4 > MIN_BLOCK ? s->n_second / 4 : MIN_BLOCK;
  if (block > s->most_second - s->n_second) block = s->most_second - s->n_second;
  if (block > s->steps.left) block = s->steps.left;
  size_t end = s->n_candidates - s->next < (size_t)block ? s->n_candidates : s->next + (size_t)block;
  s->block_end = s->chosen && !isnan(s->margin) ? s->next : end;
  s->beyond = log(s->best_cost) - log1p(s->setup.tolerance) + s->margin;
  while (s->block_end < end && is_promising(s, &s->predictions[s->block_end])) s->block_end++;
  return s->block_end == s->next ? finish_second_stage(s, error) : CLT_OK;
}

/* --- the searcher --- */

static int two_stage_propose(void *state, clt_config *out, clt_error *error) {
  two_stage_state *s = state;
  int rc = CLT_OK;
  *out = CLT_CONFIG_NONE;
  while (rc == CLT_OK && s->stage != OVER) {
    if (s->stage == SECOND && s->next < s->block_end) {
      s->n_second++;
      *out = s->candidates[s->next++];
      return CLT_OK;
    }
    if (s->stage == SAMPLING && (int64_t)s->steps.n_asked < s->n_samples && !s->drawn_out) {
      rc = clt_steps_random(&s->steps, out, error);
      if (rc || *out != CLT_CONFIG_NONE) return rc;
      s->drawn_out = true;
    }
    if (s->steps.n_learnt < s->steps.n_asked) return CLT_OK;
    rc = s->stage == SECOND ? next_block(s, error) : end_sampling(s, error);
  }
  s->steps.left = 0;
  return rc;
}

static int two_stage_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  static const clt_steps_rules rules = {.phase = "sampling", .propose = two_stage_propose};
  two_stage_state *s = state;
  s->setup = *setup;
  int rc = clt_steps_init(&s->steps, setup, &rules, error);
  if (rc == CLT_OK) rc = divide_budget(s, options, error);
  if (rc) return rc;
  s->min_p_valid = ((const two_stage_options *)options)->validity ? MIN_P_VALID : 0;
  s->best_cost = INFINITY;
  s->sample = CLT_NO_BEST;
  s->n_needed = NAN;
  s->rows.space = setup->space;
  return setup->instance ? clt_rows_add_instance(&s->rows, setup->instance, error) : CLT_OK;
}

static int two_stage_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                          clt_error *error) {
  two_stage_state *s = state;
  bool correct = !isnan(cost);
  int rc = clt_steps_tell(state, config, cost, measurement, error);
  if (rc == CLT_OK) rc = clt_rows_add(&s->rows, config, log(cost), 0, error);
  if (rc) return rc;
  for (size_t i = s->rows.n - 1; i > 0 && s->rows.configs[i - 1] > config; i--) {
    s->rows.configs[i] = s->rows.configs[i - 1];
    s->rows.log_cost[i] = s->rows.log_cost[i - 1];
    s->rows.configs[i - 1] = config;
    s->rows.log_cost[i - 1] = log(cost);
  }
  s->n_correct += correct;
  if (cost < s->best_cost) s->best_cost = cost;
  if (s->rows.n <= s->setup.n_evaluated) return CLT_OK; /* evaluated first */
  if (s->stage == SECOND) {
    s->block_told++;
    s->block_failed += !correct;
    s->n_second_told++;
    s->n_second_failed += !correct;
    return CLT_OK;
  }
  /* Of equally good ones the lower configuration, so that the order of arrival makes no difference. */
  if (cost < s->sample.cost || (cost == s->sample.cost && config < s->sample.config))
    s->sample = (clt_best){config, cost};
  size_t n_told = s->rows.n - s->setup.n_evaluated;
  if (n_told == s->steps.n_asked && (int64_t)n_told >= s->n_samples)
    s->steps.phase = "training"; /* the next ask will */
  return CLT_OK;
}

static void two_stage_report(const void *state, clt_search_report *out) {
  const two_stage_state *s = state;
  clt_steps_report(state, out);
  out->has_model = s->model != NULL;
  if (s->model) clt_model_accuracy_get(&out->model, s->model);
  out->timed_beside = s->sample.config;
  clt_search_note(out, "fit_s", s->fit_s);
  clt_search_note(out, "predict_s", s->predict_s);
  clt_search_note(out, "second_stage_measured", (double)s->n_second_told);
  clt_search_note(out, "second_stage_failed", (double)s->n_second_failed);
  if (!isnan(s->n_needed)) clt_search_note(out, "second_stage_needed", s->n_needed);
}

static void two_stage_fini(void *state) {
  two_stage_state *s = state;
  clt_steps_fini(state);
  free(s->candidates);
  free(s->predictions);
  clt_model_free(s->model);
  clt_rows_release(&s->rows);
}

static const clt_option options[] = {
    {"samples", CLT_OPTION_INT, "0", 0, INT32_MAX, offsetof(two_stage_options, samples),
     "random configurations of the first stage; 0: the budget less a fixed second stage, otherwise half of the budget"},
    {"second-stage", CLT_OPTION_TEXT, "rest", 0, 0, offsetof(two_stage_options, second_stage),
     "size of the second stage: a number, rest (of the budget) or auto (until --confidence is reached)"},
    {"second-stage-max", CLT_OPTION_INT, "1000", 1, INT32_MAX, offsetof(two_stage_options, second_stage_max),
     "maximum size of the second stage with auto"},
    {"validity", CLT_OPTION_BOOL, "yes", 0, 0, offsetof(two_stage_options, validity),
     "configurations that probably fail are measured last; no: the order depends on predicted time alone"},
};

const clt_searcher_type clt_searcher_two_stage = {
    CLT_STEPS_SEARCHER(
        "two-stage", "measures random samples, fits a model, then measures the configurations predicted to be fastest",
        two_stage_state),
    CLT_OPTIONS(options, two_stage_options),
    .budget = two_stage_budget,
    .init = two_stage_init,
    .tell = two_stage_tell,
    .report = two_stage_report,
    .fini = two_stage_fini,
};
