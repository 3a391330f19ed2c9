#include "eval/evaluators.h"

#include <clatune/recording.h>

#include "base/base.h"
#include "base/hash.h"

#define MAX_CAPACITY 1024

typedef struct replay_options {
  bool noise;
  int64_t capacity;
} replay_options;

static const clt_option options[] = {
    {"noise", CLT_OPTION_BOOL, "no", 0, 0, offsetof(replay_options, noise),
     "answers with one recorded run, drawn by the seed, instead of the mean"},
    {"capacity", CLT_OPTION_INT, "1", 1, MAX_CAPACITY, offsetof(replay_options, capacity),
     "configurations under way at once"},
};

/* Results come in the order of submission. */
typedef struct replay_state {
  const clt_recording *recording;
  uint64_t seed;
  replay_options o;
  size_t n;
  clt_config queue[MAX_CAPACITY];
} replay_state;

static int open_replay(void *state, const clt_evaluator_setup *setup, const void *chosen, clt_evaluator_limits *limits,
                       clt_error *error) {
  replay_state *r = state;
  if (setup->recording == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the evaluator 'replay' needs a recording");
  r->recording = setup->recording;
  r->seed = setup->seed;
  r->o = *(const replay_options *)chosen;
  *limits = (clt_evaluator_limits){(size_t)r->o.capacity, (size_t)r->o.capacity};
  return CLT_OK;
}

static int submit(void *state, clt_config config, double best_s, clt_error *error) {
  replay_state *r = state;
  int rc = clt_check_submitted(r->n, (size_t)r->o.capacity, error);
  if (rc) return rc;
  if (clt_recording_find(r->recording, config) == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "configuration %llu is not in the recording '%s'",
                    (unsigned long long)config, clt_recording_name(r->recording));
  r->queue[r->n++] = config;
  return CLT_OK;
}

static int wait_for_result(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  replay_state *r = state;
  if (r->n == 0) return CLT_E_AGAIN;
  int rc = clt_measurement_copy(out, clt_recording_find(r->recording, r->queue[0]), error);
  if (rc) return rc;
  memmove(r->queue, r->queue + 1, --r->n * sizeof *r->queue);
  if (!r->o.noise || !clt_measurement_correct(out) || out->n_runs == 0) return CLT_OK;
  /* The drawn run depends only on seed and configuration, so that batches and their order do not matter. */
  clt_rng rng;
  clt_rng_init(&rng, r->seed ^ clt_hash64(&out->config, sizeof out->config));
  const size_t drawn = clt_rng_below(&rng, out->n_runs);
  out->time_s = out->runs_s[0] = out->runs_s[drawn];
  out->figures[0] = out->figures[drawn];
  if (!isnan(out->figure) && !isnan(out->figures[0])) out->figure = out->figures[0];
  out->n_runs = 1;
  return CLT_OK;
}

static void close_replay(void *state) { (void)state; }

const clt_evaluator_type clt_evaluator_replay = {
    CLT_EVALUATOR(options, replay_options, replay_state),
    .name = "replay",
    .summary = "answers from a recording, without a device",
    .open = open_replay,
    .submit = submit,
    .wait = wait_for_result,
    .close = close_replay,
};
