/* A session around a scripted searcher and a fake evaluator. Included by tests of its parts. */
#ifndef TESTS_SESSION_STAGE_H
#define TESTS_SESSION_STAGE_H

#include "../search/bench.h"
#include "base/fail.h"
#include "session/session.h"

#define MAX 64

/* Asks for a list. */
static clt_config script[MAX];
static size_t n_script;

struct scripted {
  size_t next;
  clt_config told[MAX];
  double told_s[MAX];
  size_t n_told;
  clt_search_report report;
};

static inline int scripted_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  struct scripted *s = state;
  (void)error;
  for (*n_out = 0; *n_out < n && s->next < n_script;) out[(*n_out)++] = script[s->next++];
  return 0;
}

static inline int scripted_tell(void *state, const clt_measurement *measurement, clt_error *error) {
  struct scripted *s = state;
  (void)error;
  s->told[s->n_told] = measurement->config;
  s->told_s[s->n_told++] = measurement->time_s;
  return 0;
}

static inline void scripted_report(const void *state, clt_search_report *out) {
  *out = ((const struct scripted *)state)->report;
}

static const clt_searcher_type scripted = {
    .name = "scripted", .ask = scripted_ask, .tell = scripted_tell, .report = scripted_report};

/* Times are bench_bowl's; answers the newest first, three at a time. Those in `fails` fail when compared, for the
 * reason, beginning with a comparison. The comparison `stopped_in` is stopped. */
struct failure {
  clt_config config;
  clt_reason reason;
  size_t from;
};

struct fake {
  const clt_space *space;
  clt_config pending[MAX], kept[MAX];
  size_t n_pending, n_submitted, n_compared, n_comparisons;
  struct failure fails[MAX];
  size_t n_fails, stopped_in;
};

static inline int fake_submit(void *state, clt_config config, double best_s, clt_error *error) {
  struct fake *f = state;
  (void)best_s, (void)error;
  f->pending[f->n_pending++] = config;
  f->n_submitted++;
  return 0;
}

static inline void measure(const struct fake *f, clt_config config, clt_measurement *out) {
  clt_measurement_init(out, config);
  out->time_s = out->runs_s[0] = bench_bowl(f->space, config);
  out->n_runs = 1;
}

static inline int fake_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  struct fake *f = state;
  (void)timeout_s, (void)error;
  if (f->n_pending == 0) return CLT_E_AGAIN;
  measure(f, f->pending[--f->n_pending], out);
  return 0;
}

static inline int fake_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  struct fake *f = state;
  if (++f->n_comparisons == f->stopped_in) return clt_fail(error, CLT_E_STOPPED, "stopped");
  for (size_t i = 0; i < n; i++, f->n_compared++) {
    f->kept[i] = configs[i];
    measure(f, configs[i], &out[i]);
    out[i].n_runs = 0;
    for (size_t k = 0; k < f->n_fails; k++)
      if (configs[i] == f->fails[k].config && f->n_comparisons >= f->fails[k].from)
        clt_measurement_fail(&out[i], f->fails[k].reason, NULL);
  }
  return 0;
}

static inline int fake_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                                  clt_error *error) {
  struct fake *f = state;
  (void)n_runs, (void)error;
  for (size_t i = 0; i < n; i++) measure(f, f->kept[indices[i]], &out[i]);
  return 0;
}

static const clt_evaluator_type fake = {.abi = CLT_EVALUATOR_ABI,
                                        .name = "fake",
                                        .submit = fake_submit,
                                        .wait = fake_wait,
                                        .keep = fake_keep,
                                        .time_again = fake_time_again};

/* A session around them; everything is on the caller's stack but what clt_session_end frees. */
struct stage {
  clt_tune_settings settings;
  clt_tune_result result;
  struct scripted searcher;
  struct fake evaluator;
  clt_session session;
};

static inline void begin(struct stage *stage, const clt_space *space) {
  memset(stage, 0, sizeof *stage);
  clt_tune_settings_init(&stage->settings);
  clt_measurement_init(&stage->result.best, CLT_CONFIG_NONE);
  clt_measurement_init(&stage->result.default_measurement, CLT_CONFIG_NONE);
  clt_measurement_init(&stage->result.first_stage_best, CLT_CONFIG_NONE);
  stage->evaluator.space = space;
  stage->session = (clt_session){.settings = &stage->settings,
                                 .result = &stage->result,
                                 .space = space,
                                 .tolerance = 0.02,
                                 .budget = INT64_MAX,
                                 .first = CLT_CONFIG_NONE,
                                 .evaluator = &fake,
                                 .limits = {3, 3},
                                 .evaluator_state = &stage->evaluator,
                                 .searcher = &scripted,
                                 .searcher_state = &stage->searcher};
}

static inline void end(struct stage *stage) {
  clt_known_release(&stage->session.known);
  free(stage->session.queue);
  free(stage->session.pending);
  free(stage->session.ranked);
  clt_tune_result_release(&stage->result);
}

static inline clt_config config_of(const clt_space *space, const char *text) {
  clt_config config;
  assert_int_equal(clt_config_parse(&config, space, text, NULL), 0);
  return config;
}

#endif
