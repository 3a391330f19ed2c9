/* A session around a scripted searcher and a fake evaluator. Included by tests of its parts. */
#ifndef TESTS_SESSION_STAGE_H
#define TESTS_SESSION_STAGE_H

#include "../search/bench.h"
#include "base/base.h"
#include "measurement/measurement.h"
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
  struct scripted *s = *(struct scripted **)state;
  (void)error;
  for (*n_out = 0; *n_out < n && s->next < n_script;) out[(*n_out)++] = script[s->next++];
  return 0;
}

static inline int scripted_tell(void *state, clt_config config, double cost, const clt_measurement *measurement,
                                clt_error *error) {
  struct scripted *s = *(struct scripted **)state;
  (void)measurement, (void)error;
  s->told[s->n_told] = config;
  s->told_s[s->n_told++] = cost;
  return 0;
}

static struct scripted *next_scripted;

static inline int scripted_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  (void)setup, (void)options, (void)error;
  *(struct scripted **)state = next_scripted;
  return 0;
}

static inline void scripted_fini(void *state) { (void)state; }

static inline void scripted_report(const void *state, clt_search_report *out) {
  *out = (*(struct scripted *const *)state)->report;
}

static const clt_searcher_type scripted = {.abi = CLT_SEARCHER_ABI,
                                           .name = "scripted",
                                           .state_size = sizeof(struct scripted *),
                                           .init = scripted_init,
                                           .ask = scripted_ask,
                                           .tell = scripted_tell,
                                           .report = scripted_report,
                                           .fini = scripted_fini};

static inline clt_config config_of(const clt_space *space, const char *text) {
  clt_config config;
  assert_int_equal(clt_config_parse(&config, space, text, NULL), 0);
  return config;
}

/* Times are bench_bowl's; answers the newest first, three at a time. Those in `fails` fail when compared, for the
 * reason, beginning with a comparison. The comparison `stopped_in` is stopped. */
struct failure {
  clt_config config;
  clt_reason reason;
  size_t from;
};

struct fake {
  const clt_space *space;
  size_t n_steps, stops_at; /* calls of keep and time_again; one of them is stopped */
  bool scatters; /* half of the runs of the fastest take three times as long, so that medians rank others first */
  clt_config pending[MAX], kept[MAX];
  size_t n_pending, n_submitted, n_compared, n_comparisons;
  struct failure fails[MAX];
  size_t n_fails, stopped_in;
  double slower;             /* how many times longer than in the search runs take when compared; 0: as long */
  const bool *unbound;       /* nullable: while it is true, */
  clt_config slower_unbound; /* this one takes three times as long */
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
  if (!f->scatters) return;
  const bool lucky = out->time_s == bench_bowl(f->space, config_of(f->space, "a=16 b=4 c=0 d=0 e=7"));
  for (out->n_runs = 3; out->n_runs > 1; out->n_runs--) out->runs_s[out->n_runs - 1] = out->time_s * (lucky ? 3 : 1.06);
  out->n_runs = 3;
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
  if (++f->n_steps == f->stops_at) return clt_fail(error, CLT_E_STOPPED, "stopped");
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
  (void)n_runs;
  if (++f->n_steps == f->stops_at) return clt_fail(error, CLT_E_STOPPED, "stopped");
  for (size_t i = 0; i < n; i++) {
    measure(f, f->kept[indices[i]], &out[i]);
    if (f->slower > 0) out[i].time_s = out[i].runs_s[0] *= f->slower;
    if (f->unbound && *f->unbound && out[i].config == f->slower_unbound) out[i].time_s = out[i].runs_s[0] *= 3;
  }
  return 0;
}

static const clt_evaluator_type fake = {.abi = CLT_EVALUATOR_ABI,
                                        .name = "fake",
                                        .submit = fake_submit,
                                        .wait = fake_wait,
                                        .keep = fake_keep,
                                        .time_again = fake_time_again};

/* A session around them; everything is on the caller's stack but the memory that clt_session_end frees. */
struct stage {
  clt_tune_settings settings;
  clt_tune_result *result;
  struct scripted searcher;
  struct fake evaluator;
  clt_session session;
  const clt_config *warm_start; /* n_warm_start */
  size_t n_warm_start;
};

static inline void begin(struct stage *stage, const clt_space *space) {
  memset(stage, 0, sizeof *stage);
  clt_tune_settings_init(&stage->settings);
  stage->result = clt_result_new();
  stage->searcher.report.timed_beside = CLT_CONFIG_NONE;
  stage->evaluator.space = space;
  stage->session = (clt_session){.settings = &stage->settings,
                                 .result = stage->result,
                                 .tolerance = 0.02,
                                 .first = CLT_CONFIG_NONE,
                                 .evaluator = &fake,
                                 .limits = {3, 3},
                                 .evaluator_state = &stage->evaluator,
                                 .loop = {.space = space, .budget = INT64_MAX, .searcher = &scripted}};
  assert_int_equal(clt_objective_new_for(&stage->session.loop.objective, space, NULL, 0, NULL, NULL, NULL), 0);
}

/* Evaluates the session's first and the script's configurations. */
static inline int search_stage(struct stage *stage, clt_error *error) {
  clt_search_loop *loop = &stage->session.loop;
  next_scripted = &stage->searcher;
  loop->has_default = stage->session.first != CLT_CONFIG_NONE;
  loop->initial = calloc(1 + stage->n_warm_start, sizeof *loop->initial);
  if (loop->has_default) loop->initial[loop->n_initial++] = stage->session.first;
  for (size_t i = 0; i < stage->n_warm_start; i++) loop->initial[loop->n_initial++] = stage->warm_start[i];
  int rc = clt_loop_start(loop, (clt_search_setup){.seed = 1}, error);
  return rc ? rc : clt_session_search(&stage->session, error);
}

static inline void end(struct stage *stage) {
  clt_loop_release(&stage->session.loop);
  free(stage->session.ranked);
  clt_tune_result_free(stage->result);
}

enum { AGENT = 5, LIAR = 7 };

/* What a voice says of a configuration. time_s NaN: it failed. */
static inline void say(clt_store *store, const clt_space *space, int64_t voice, clt_config config, double time_s) {
  static int64_t n_said;
  const clt_store_key key = {.problem = "p", .device = "d", .driver = "1"};
  char *text = NULL;
  clt_measurement m;
  clt_measurement_init(&m, config);
  m.time_s = m.runs_s[0] = time_s;
  m.n_runs = 1;
  if (isnan(time_s)) m.n_runs = 0, clt_measurement_fail(&m, CLT_REASON_WRONG_OUTPUT, "");
  assert_int_equal(clt_config_text(&text, space, config, NULL), 0);
  const clt_store_record record = {.kind = CLT_RECORD_SEARCH, .configuration = text, .created_s = 2000000000, .measurement = &m,
                                   .origin = "0123456789abcdef", .sequence = ++n_said, .voice = voice};
  assert_int_equal(store->type->add(store->state, &(clt_store_description){.key = key}, &record, NULL, NULL), 0);
  clt_measurement_release(&m);
  free(text);
}

#endif
