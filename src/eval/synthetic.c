/* The evaluator "synthetic": no device, but a landscape with a known optimum, with given noise and a given share of
 * invalid configurations. Results depend only on the configuration and the two seeds, not on the order of measuring. */
#include "base/base.h"
#include "base/hash.h"
#include "eval/evaluators.h"
#include "measurement/measurement.h"

#define N_PROBES 4096 /* sampled configurations that determine the threshold of failure */
#define N_PAIRS 3     /* interactions per parameter */
#define MAX_CAPACITY 1024
#define SLOPE \
  1.0 /* towards the edge, per parameter of the space; the rest of the landscape rises by about 0.6 per parameter */

typedef struct synthetic_options {
  double optimum_s, spread, noise, invalid;
  int64_t edge, landscape, runs, capacity;
} synthetic_options;

#define AT(member) offsetof(synthetic_options, member)
static const clt_option options[] = {
    {"optimum", CLT_OPTION_REAL, "0.001", 1e-9, 1e6, AT(optimum_s), "time of the best configuration, in seconds"},
    {"spread", CLT_OPTION_REAL, "30", 1, 1e9, AT(spread), "time of the slowest configurations relative to the best"},
    {"noise", CLT_OPTION_REAL, "0.02", 0, 10, AT(noise), "standard deviation of the logarithm of run times"},
    {"invalid", CLT_OPTION_REAL, "0.2", 0, 0.95, AT(invalid), "fraction of the configurations that fail"},
    {"edge", CLT_OPTION_INT, "0", 0, CLT_MAX_PARAMETERS, AT(edge),
     "number of parameters whose product has a limit: configurations near it are fast, beyond it they fail; 0: none"},
    {"landscape", CLT_OPTION_INT, "1", 0, 1e15, AT(landscape),
     "seed of the landscape; the noise uses the seed of the session"},
    {"runs", CLT_OPTION_INT, "3", 1, CLT_MAX_RUNS, AT(runs), "runs per configuration"},
    {"capacity", CLT_OPTION_INT, "1", 1, MAX_CAPACITY, AT(capacity),
     "configurations under way at once; their results arrive in random order"},
};

/* log(time / optimum) = scale * (sum of weight * d^2 + sum of strength * (d_p + sign * d_q)^2). d is the distance of
 * a parameter's position from the optimum's, as a fraction of its range, so no other configuration is as fast. With
 * an edge, the optimum is one of the configurations at the edge, and slope * (distance to the edge) is added; beyond
 * the edge the time would go on falling, but configurations fail. */
typedef struct pair {
  size_t p, q;
  double strength, sign;
} pair;

/* A finalist and the generator of its next run's noise. */
typedef struct kept_noise {
  clt_config config;
  clt_rng rng;
} kept_noise;

typedef struct synthetic_state {
  const clt_space *space;
  synthetic_options o;
  uint64_t seed;
  clt_rng order;
  size_t n; /* parameters */
  double weights[CLT_MAX_PARAMETERS], fail_weights[CLT_MAX_PARAMETERS];
  pair pairs[CLT_MAX_PARAMETERS * N_PAIRS];
  uint32_t optimum[CLT_MAX_PARAMETERS], positions[CLT_MAX_PARAMETERS];
  double scale, slope, fail_threshold; /* fails above it */
  clt_config pending[MAX_CAPACITY];
  size_t n_pending;
  kept_noise *kept; /* the finalists */
  size_t n_kept;
} synthetic_state;

static double fraction(const synthetic_state *s, size_t p, uint32_t position) {
  size_t n = clt_space_parameter(s->space, p)->n_values;
  return n > 1 ? (double)position / (double)(n - 1) : 0;
}

/* Configurations fail on one side of a folded plane, so that failures can be learned. With an edge they fail beyond
 * it; the sum of positions then stands for the logarithm of the product of values. */
static double fail_score(synthetic_state *s, clt_config config) {
  double score = 0;
  clt_space_positions(s->positions, s->space, config);
  for (size_t p = 0; p < s->n; p++)
    score += s->fail_weights[p] * (s->o.edge ? (double)s->positions[p] : fraction(s, p, s->positions[p]));
  return s->o.edge ? score : score + 0.5 * fabs(score);
}

static bool fails(synthetic_state *s, clt_config config) {
  return s->o.invalid > 0 && fail_score(s, config) > s->fail_threshold;
}

/* The height of the landscape above the optimum, before scaling. */
static double height(synthetic_state *s, clt_config config) {
  double distance[CLT_MAX_PARAMETERS];
  double sum = s->slope > 0 ? s->slope * (s->fail_threshold - fail_score(s, config)) : 0;
  clt_space_positions(s->positions, s->space, config);
  for (size_t p = 0; p < s->n; p++) {
    distance[p] = fraction(s, p, s->positions[p]) - fraction(s, p, s->optimum[p]);
    sum += s->weights[p] * distance[p] * distance[p];
  }
  for (const pair *x = s->pairs; x < s->pairs + s->n * N_PAIRS; x++) {
    double d = distance[x->p] + x->sign * distance[x->q];
    sum += x->strength * d * d;
  }
  return sum;
}

static void synthetic_close(void *state) {
  synthetic_state *s = state;
  free(s->kept);
  s->kept = NULL;
}

static int synthetic_open(void *state, const clt_evaluator_setup *setup, const void *given,
                          clt_evaluator_limits *limits, clt_error *error) {
  synthetic_state *s = state;
  uint64_t valid = clt_space_valid(setup->space);
  double highest = 0;
  clt_rng rng;
  s->space = setup->space;
  s->seed = setup->seed;
  s->n = clt_space_n_parameters(setup->space);
  s->o = *(const synthetic_options *)given;
  *limits = (clt_evaluator_limits){(size_t)s->o.capacity, (size_t)s->o.capacity};
  if (s->n == 0 || valid == 0)
    return clt_fail(error, CLT_E_NO_VALID,
                    "the space has no valid configuration; relax the constraints of the problem");
  clt_rng_init(&s->order, setup->seed);
  clt_rng_init(&rng, (uint64_t)s->o.landscape);
  for (size_t p = 0; p < s->n; p++) {
    s->weights[p] = exp(clt_rng_normal(&rng));
    s->fail_weights[p] = clt_rng_normal(&rng);
  }
  for (size_t i = 0; i < s->n * N_PAIRS; i++) {
    pair *x = &s->pairs[i];
    x->p = i / N_PAIRS;
    x->q = clt_rng_below(&rng, s->n);
    x->sign = clt_rng_unit(&rng) < 0.5 ? -1 : 1;
    x->strength = 0.5 * clt_rng_unit(&rng);
  }
  if (s->o.edge) memset(s->fail_weights, 0, sizeof s->fail_weights);
  for (size_t i = 0; i < (size_t)s->o.edge && i < s->n; i++) {
    size_t p = clt_rng_below(&rng, s->n);
    while (s->fail_weights[p] > 0) p = (p + 1) % s->n;
    s->fail_weights[p] = 1;
  }
  /* Sets the threshold such that the given share of configurations fails. */
  double *scores = clt_new_array(N_PROBES, sizeof *scores);
  if (scores == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < N_PROBES; i++)
    scores[i] = fail_score(s, clt_space_at(s->space, valid <= N_PROBES ? i % valid : clt_rng_below(&rng, valid)));
  qsort(scores, N_PROBES, sizeof *scores, clt_by_number);
  size_t rank = (size_t)((1 - s->o.invalid) * N_PROBES);
  s->fail_threshold = scores[rank < N_PROBES ? rank : N_PROBES - 1];
  if (s->o.edge && s->fail_threshold > scores[0]) s->slope = SLOPE * (double)s->n / (s->fail_threshold - scores[0]);
  free(scores);
  /* The optimum is the first configuration after a random one that does not fail, and that is at the edge if there
   * is one. */
  clt_config optimum = CLT_CONFIG_NONE;
  rank = clt_rng_below(&rng, valid);
  for (uint64_t i = 0; optimum == CLT_CONFIG_NONE && i < valid && i < 1000000; i++) {
    clt_config config = clt_space_at(s->space, (rank + i) % valid);
    bool inside = s->slope > 0 && fail_score(s, config) < s->fail_threshold;
    if (!inside && !fails(s, config)) optimum = config;
  }
  if (optimum == CLT_CONFIG_NONE)
    return clt_fail(error, CLT_E_NO_VALID, "every configuration fails; lower the option 'invalid'");
  clt_space_positions(s->optimum, s->space, optimum);
  for (size_t i = 0; i < N_PROBES; i++)
    highest = fmax(highest, height(s, clt_space_at(s->space, clt_rng_below(&rng, valid))));
  s->scale = highest > 0 ? log(s->o.spread) / highest : 1;
  return CLT_OK;
}

/* --- measuring --- */

static int synthetic_submit(void *state, clt_config config, double best_s, clt_error *error) {
  synthetic_state *s = state;
  int rc = clt_check_submitted(s->n_pending, (size_t)s->o.capacity, error);
  if (rc == CLT_OK) s->pending[s->n_pending++] = config;
  return rc;
}

static clt_rng noise_of(const synthetic_state *s, clt_config config, uint64_t purpose) {
  const uint64_t key[] = {config, s->seed, purpose};
  clt_rng rng;
  clt_rng_init(&rng, clt_hash64(key, sizeof key));
  return rng;
}

static void draw_runs(synthetic_state *s, clt_config config, size_t n_runs, clt_rng *noise, clt_measurement *out) {
  clt_measurement_init(out, config);
  if (fails(s, config)) {
    static const clt_reason reasons[] = {CLT_REASON_COMPILE_ERROR, CLT_REASON_KERNEL_LIMIT, CLT_REASON_RUN_TIMEOUT,
                                         CLT_REASON_WRONG_OUTPUT};
    clt_reason reason = reasons[s->positions[s->n - 1] % (sizeof reasons / sizeof *reasons)];
    clt_measurement_fail(out, reason, "simulated failure");
    return;
  }
  double log_time = s->scale * height(s, config);
  for (size_t i = 0; i < n_runs; i++) {
    out->runs_s[i] = s->o.optimum_s * exp(log_time + s->o.noise * clt_rng_normal(noise));
    out->phases.runs_s += out->runs_s[i];
    out->time_s = i ? fmin(out->time_s, out->runs_s[i]) : out->runs_s[i];
  }
  out->n_runs = n_runs;
  out->max_abs_error = 0;
}

static int synthetic_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  synthetic_state *s = state;
  if (s->n_pending == 0) return CLT_E_AGAIN;
  size_t i = clt_rng_below(&s->order, s->n_pending);
  clt_rng noise = noise_of(s, s->pending[i], 0);
  draw_runs(s, s->pending[i], (size_t)s->o.runs, &noise, out);
  s->pending[i] = s->pending[--s->n_pending];
  return CLT_OK;
}

static int synthetic_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  synthetic_state *s = state;
  kept_noise *kept = clt_new_array(n, sizeof *kept);
  if (kept == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    kept[i] = (kept_noise){configs[i], noise_of(s, configs[i], 1)};
    for (size_t k = 0; k < s->n_kept; k++)
      if (s->kept[k].config == configs[i]) kept[i] = s->kept[k];
    draw_runs(s, configs[i], 0, NULL, &out[i]);
  }
  free(s->kept);
  s->kept = kept;
  s->n_kept = n;
  return CLT_OK;
}

/* Makes one run each, so that the number of runs equals the number of rounds. */
static int synthetic_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                                clt_error *error) {
  synthetic_state *s = state;
  int rc = clt_check_indices(indices, n, s->n_kept, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    kept_noise *kept = &s->kept[indices[i]];
    draw_runs(s, kept->config, 1, &kept->rng, &out[i]);
  }
  return rc;
}

const clt_evaluator_type clt_evaluator_synthetic = {
    CLT_EVALUATOR(options, synthetic_options, synthetic_state),
    .name = "synthetic",
    .summary = "computes times from a landscape with a known optimum, without a device",
    .open = synthetic_open,
    .submit = synthetic_submit,
    .wait = synthetic_wait,
    .keep = synthetic_keep,
    .time_again = synthetic_time_again,
    .close = synthetic_close,
};
