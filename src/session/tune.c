/* clt_tune_run: opens, drives and ends a session. */
#include "base/base.h"
#include "base/hash.h"
#include "base/text.h"
#include "format/format.h"
#include "lookup/lookup.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"
#include "session/session.h"
#include "space/space.h"
#include "store/store.h"
#include "worker/process.h"

#define WAIT_S 0.1           /* the longest delay until a request to stop is seen */
#define WAIT_ELSEWHERE_MS 20 /* until another tuner's answer is looked for again */

void clt_tune_settings_init(clt_tune_settings *settings) {
  *settings = (clt_tune_settings){.struct_size = sizeof *settings, .finalists = 5, .seed = 1};
}

const char *clt_ending_name(clt_ending ending) {
  static const char *const names[] = {"space", "budget", "time", "target", "stagnation", "request"};
  return (size_t)ending < sizeof names / sizeof *names ? names[ending] : "unknown";
}

/* --- the end of a search --- */

/* The budget of the settings; else of the searcher's options, plus the initial configurations; else of the problem;
 * else none if the search has another limit; else the default. At most a fraction of the space. */
static int64_t find_budget(const clt_session *s) {
  const clt_tune_settings *settings = s->settings;
  const clt_search_loop *l = &s->loop;
  int64_t before = (int64_t)l->n_initial, n = settings->budget;
  int64_t own = l->searcher->budget ? l->searcher->budget(l->options) : 0;
  if (settings->configurations) return before + (int64_t)settings->n_configurations;
  if (n <= 0 && own > 0) n = own == INT64_MAX ? own : own + before;
  if (n <= 0 && settings->instance) n = clt_problem_guidance(clt_instance_problem(settings->instance))->budget;
  if (n <= 0) {
    bool ends_otherwise = settings->time_s > 0 || settings->stagnation > 0 || settings->space_fraction > 0;
    n = ends_otherwise ? INT64_MAX : CLT_DEFAULT_BUDGET;
  }
  double share = ceil(settings->space_fraction * (double)s->result->valid - 1e-6);
  if (settings->space_fraction > 0 && share < (double)n) n = share < 1 ? 1 : (int64_t)share;
  return n;
}

clt_ending clt_session_ending(const clt_session *s) {
  const clt_tune_settings *settings = s->settings;
  const clt_measurement *best = &s->result->best;
  if (clt_stop_asked(settings->stop)) return CLT_ENDED_ON_REQUEST;
  if (settings->target != 0 && best->config != CLT_CONFIG_NONE &&
      clt_objective_cost(s->loop.objective, best) <= clt_objective_cost_of(s->loop.objective, settings->target))
    return CLT_ENDED_BY_TARGET;
  if (s->loop.n_begun >= s->loop.budget) return CLT_ENDED_BY_BUDGET;
  if (settings->stagnation > 0 && s->result->evaluations - s->improved_at >= settings->stagnation)
    return CLT_ENDED_BY_STAGNATION;
  if (settings->time_s > 0 && clt_now_s() - s->start_s - s->result->waited_s >= settings->time_s)
    return CLT_ENDED_BY_TIME;
  return CLT_NOT_ENDED;
}

/* --- opening --- */

static bool is_initial(const clt_search_loop *l, clt_config config) {
  for (size_t i = 0; i < l->n_initial; i++)
    if (clt_space_canonical(l->space, l->initial[i]) == config) return true;
  return false;
}

/* Whether it differs from all suggestions in at least so many parameters. */
static bool differs(const clt_search_loop *l, size_t first_suggestion, clt_config config, size_t parameters) {
  for (size_t i = first_suggestion; i < l->n_initial; i++)
    if (clt_space_difference(l->space, l->initial[i], config) < parameters) return false;
  return true;
}

/* Chosen on the problems of docs/notebook/predictive.md: with 8 suggestions one is nearly always close to the best, and
 * if the model is wrong they cost little. */
#define SUGGESTIONS 8
#define DIFFERENT 3     /* parameters in which any two of them differ, if possible */
#define PREDICTED 32768 /* configurations used of a larger space: the best ones */
#define MIN_P_VALID 0.5

/* The predictions of a model of other sizes give the suggestions, which are evaluated first, and prior data for a
 * searcher that transfers. Suggestions differ in several parameters: similar ones add little information. */
static int ask_model(clt_session *s, clt_error *error) {
  clt_search_loop *l = &s->loop;
  size_t n = s->result->valid < PREDICTED ? (size_t)s->result->valid : PREDICTED;
  size_t first = l->has_default, most = l->n_initial + SUGGESTIONS;
  clt_arena arena = {0};
  clt_config *best = clt_arena_array(&arena, n, sizeof *best);
  clt_prediction *predictions = clt_arena_array(&arena, n, sizeof *predictions);
  clt_known_cost *known = clt_arena_array(&arena, n, sizeof *known);
  int rc = clt_arena_check(&arena, error);
  if (rc == CLT_OK) rc = clt_model_best(best, predictions, &n, s->settings->model, n, MIN_P_VALID, NULL, 0, error);
  for (size_t parameters = DIFFERENT; rc == CLT_OK && parameters > 0; parameters--)
    for (size_t i = 0; i < n && l->n_initial < most; i++)
      if (clt_space_canonical(l->space, best[i]) == best[i] && !is_initial(l, best[i]) &&
          differs(l, first, best[i], parameters))
        l->initial[l->n_initial++] = best[i];
  if (rc == CLT_OK && l->searcher->transfers && l->list == NULL && clt_objective_n(l->objective) == 1) {
    for (size_t i = 0; i < n; i++)
      known[i] = (clt_known_cost){best[i], predictions[i].p_valid < MIN_P_VALID ? NAN : predictions[i].log_cost};
    rc = clt_sources_add(&s->sources, "a model of other sizes", known, n, error);
    s->predicted = rc == CLT_OK && n > 0;
  }
  clt_arena_release(&arena);
  return rc;
}

/* The default configuration, the caller's begin_with, then the model's suggestions. */
static int choose_initial(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  clt_search_loop *l = &s->loop;
  l->initial = clt_new_array(1 + settings->n_begin_with + SUGGESTIONS, sizeof *l->initial);
  if (l->initial == NULL) return clt_fail_memory(error);
  s->first = CLT_CONFIG_NONE;
  if (settings->instance && !settings->skip_default) {
    clt_config default_config = clt_instance_default(settings->instance);
    l->has_default = clt_space_contains(l->space, default_config);
    if (l->has_default) {
      l->initial[l->n_initial++] = s->first = default_config;
    } else { /* not measured; the result has the reason */
      clt_constraint_origin origin = CLT_CONDITION;
      clt_measurement *m = &s->result->default_measurement;
      const char *violation = clt_space_violation(l->space, default_config, &origin);
      clt_measurement_init(m, default_config);
      clt_measurement_fail(m, origin == CLT_DEVICE_LIMIT ? CLT_REASON_DEVICE_LIMIT : CLT_REASON_CONDITION, violation);
    }
  }
  for (size_t i = 0; i < settings->n_begin_with; i++) {
    if (!clt_space_contains(l->space, settings->begin_with[i]))
      return clt_fail(error, CLT_E_ARGUMENT, "a configuration of begin_with is not in the space");
    clt_config config = clt_space_canonical(l->space, settings->begin_with[i]);
    if (!is_initial(l, config)) l->initial[l->n_initial++] = config;
  }
  return settings->model ? ask_model(s, error) : CLT_OK;
}

/* Computed or replayed results must not be stored as measurements of the problem. */
static bool is_of_problem(const clt_session *s) {
  const clt_instance *instance = s->settings->instance;
  return s->evaluator->measures_device && instance != NULL && clt_instance_device(instance) != NULL;
}

static int open_store(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  clt_search_loop *l = &s->loop;
  int rc = CLT_OK;
  if (settings->store == NULL) return CLT_OK;
  l->store = settings->store;
  if (is_of_problem(s)) {
    rc = clt_store_key_init(&l->key, settings->instance, error);
    if (rc == CLT_OK) rc = clt_store_describe_instance(l->store, &l->key, settings->instance, error);
  } else { /* without a device, the key is of the evaluator and its input */
    const char *name = settings->recording ? clt_recording_name(settings->recording) : s->evaluator->name;
    clt_hasher *hasher = clt_hasher_new();
    if (hasher == NULL) return clt_fail_memory(error);
    clt_space_hash(hasher, l->space);
    for (size_t i = 0; i < settings->n_evaluator_settings; i++) {
      clt_hasher_add_text(hasher, settings->evaluator_settings[i].name);
      clt_hasher_add_text(hasher, settings->evaluator_settings[i].value);
    }
    if (settings->recording) {
      clt_hasher_add_text(hasher, clt_recording_name(settings->recording));
      clt_hasher_add_text(hasher, settings->recording->kernel);
      clt_hasher_add_text(hasher, settings->recording->device);
    } else {
      clt_hasher_add(hasher, &settings->seed, sizeof settings->seed);
    }
    clt_hasher_hex(hasher, l->key.problem);
    clt_hasher_free(hasher);
    snprintf(l->key.device, sizeof l->key.device, "%s", s->evaluator->name);
    const clt_store_description description = {
        .key = l->key, .problem_name = name, .problem_path = "", .sizes = "", .device_json = "{}"};
    rc = clt_store_describe(l->store, &description, error);
  }
  if (rc || settings->no_reuse) return rc;
  return clt_loop_reuse(l, true, error);
}

/* Recordings; and stored measurements, unless a model was trained on them. */
static int find_sources(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  const clt_search_loop *l = &s->loop;
  if (clt_objective_n(l->objective) > 1) return CLT_OK; /* they have the costs of one */
  int rc = clt_sources_add_recordings(&s->sources, l->space, l->objective, settings->learn_from, settings->n_learn_from,
                                      settings->log, settings->user, error);
  bool from_store = l->searcher->transfers && settings->store && !settings->no_transfer && is_of_problem(s);
  if (rc || !from_store || settings->configurations || s->predicted) return rc;
  char *sizes = clt_instance_sizes_text(settings->instance), kernel[33];
  const char *name = clt_problem_name(clt_instance_problem(settings->instance));
  const clt_related_query query = {&l->key, kernel, name, sizes, true};
  rc = sizes ? clt_instance_kernel_key(kernel, settings->instance, error) : clt_fail_memory(error);
  clt_store *past = settings->store->past;
  if (past == NULL) settings->store->before_s = settings->learn_before_s;
  if (rc == CLT_OK)
    rc = clt_sources_add_stored(&s->sources, l->space, l->objective, past ? past : settings->store, &query,
                                settings->log, settings->user, error);
  settings->store->before_s = 0;
  free(sizes);
  return rc;
}

/* Without submissions, everything that was asked for is being measured by other tuners. */
static void await_others(clt_session *s) {
  double since_s = INFINITY;
  char text[120];
  for (size_t i = 0; i < s->loop.n_pending; i++)
    if (s->loop.pending[i].elsewhere_s > 0) since_s = fmin(since_s, s->loop.pending[i].elsewhere_s);
  const double for_s = clt_now_s() - since_s;
  if (for_s > CLT_MOMENT_S) {
    snprintf(text, sizeof text, "waiting for %lld s for another tuner that measures the same configuration",
             (long long)for_s);
    clt_session_note_waits(s, text);
  }
  poll(NULL, 0, WAIT_ELSEWHERE_MS);
}

static int open_evaluator(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  const clt_instance *instance = settings->instance;
  const bool has_kernel =
      instance && s->evaluator->measures_device && !clt_problem_is_command(clt_instance_problem(instance));
  if (has_kernel) s->finalist_check = clt_finalist_check(instance);
  clt_evaluator_setup setup = {.instance = settings->instance,
                               .space = s->loop.space,
                               .recording = settings->recording,
                               .seed = settings->seed,
                               .energy = clt_objective_needs_energy(s->loop.objective),
                               .quality = &s->result->quality,
                               .stop = settings->stop,
                               .log = settings->log,
                               .log_user = settings->user,
                               .lost = clt_loop_note_lost,
                               .attempts = clt_loop_attempts,
                               .attempts_user = &s->loop,
                               .n_machine_busy = &s->result->n_machine_busy,
                               .waited_s = &s->result->waited_s,
                               .unbound = &s->unbound,
                               .steps = settings->steps,
                               .waits = clt_session_note_waits,
                               .waits_user = s,
                               .checks = &s->finalist_check,
                               .n_checks = has_kernel,
                               .answers = &s->finalist_answer,
                               .more_devices = settings->more_devices,
                               .n_more_devices = settings->n_more_devices};
  void *state = clt_new_array(1, s->evaluator->state_size);
  if (state == NULL) return clt_fail_memory(error);
  int rc = s->evaluator->open(state, &setup, s->evaluator_options, &s->limits, error);
  if (rc) {
    free(state);
    return rc;
  }
  s->evaluator_state = state;
  if (settings->n_more_devices > 0 && s->limits.devices == 0)
    return clt_fail(error, CLT_E_UNSUPPORTED, "the evaluator '%s' uses one device; name one device, or use 'opencl'",
                    s->evaluator->name);
  return CLT_OK;
}

/* The number of configurations that may be under way at once. */
static size_t most_under_way(const clt_session *s) {
  bool fewer = s->loop.searcher->sequential && s->loop.list == NULL && s->settings->batch == 0;
  return fewer ? s->limits.workers : s->limits.capacity;
}

static bool may_begin(void *user) {
  const clt_session *s = user;
  return clt_session_ending(s) == CLT_NOT_ENDED && s->loop.n_measuring < most_under_way(s);
}

/* Warns at once, so that the user can stop the search. */
static void log_failed_default(const clt_session *s) {
  const clt_measurement *m = &s->result->default_measurement;
  const bool violates = clt_reason_invalidity(m->reason) == CLT_CONSTRAINTS;
  const bool all = violates || m->reason == CLT_REASON_GENERATOR_FAILED ||
                   clt_problem_is_command(clt_instance_problem(s->settings->instance));
  const char *why = m->log ? m->log : "";
  const char *before = all ? ": " : "\n  ";
  int n = (int)strlen(why);
  if (!all) why = clt_telling_line(&n, why);
  clt_log(s->settings->log, s->settings->user, CLT_LOG_WARNING, "the default configuration fails: %s (%s)%s%.*s",
          clt_reason_text(m->reason), clt_reason_name(m->reason), n ? before : "", n, why);
}

static int on_answer(void *user, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                     clt_error *error) {
  clt_session *s = user;
  int rc = clt_session_count(s, asked, cost, m, origin, error);
  if (rc) return rc;
  clt_measurement shown = *m; /* borrowed */
  shown.config = asked;
  clt_session_progress(s, &shown);
  if (asked == s->first && !clt_measurement_correct(m)) log_failed_default(s);
  return CLT_OK;
}

static int open_session(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  const clt_instance *instance = settings->instance;
  const clt_problem *problem = instance ? clt_instance_problem(instance) : NULL;
  const char *evaluator = clt_tune_evaluator(settings->evaluator, problem);
  clt_search_loop *l = &s->loop;
  s->tolerance = settings->tolerance > 0 ? settings->tolerance : CLT_DEFAULT_TOLERANCE;
  s->confidence = settings->confidence > 0 ? settings->confidence : CLT_DEFAULT_CONFIDENCE;
  if (s->confidence >= 1) return clt_fail(error, CLT_E_ARGUMENT, "the confidence must be below 1");
  s->evaluator = clt_evaluator_find(evaluator);
  if (s->evaluator == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no evaluator '%s'", evaluator);
  int rc = clt_loop_choose_searcher(l, clt_tune_searcher(settings->searcher, problem), problem,
                                    settings->searcher_settings, settings->n_searcher_settings, error);
  if (rc == CLT_OK)
    rc = clt_plugin_options(&s->evaluator_options, NULL, s->evaluator->options, s->evaluator->n_options,
                            s->evaluator->options_size, problem, settings->evaluator_settings,
                            settings->n_evaluator_settings, error);
  if (rc) return rc;
  if (settings->recording) l->space = clt_recording_space(settings->recording);
  if (settings->space) l->space = settings->space;
  if (instance) l->space = clt_instance_space(instance);
  if (l->space == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "clt_tune_settings needs an instance, a space or a recording");
  s->result->cartesian = clt_space_cartesian(l->space);
  s->result->valid = clt_space_valid(l->space);
  if (s->result->valid == 0) {
    char why[1000];
    clt_space_explain_empty(why, sizeof why, l->space);
    return clt_fail(error, CLT_E_NO_VALID, "%s", why);
  }
  if (instance)
    rc = clt_objective_new(&l->objective, instance, settings->objective, error);
  else if (settings->recording)
    rc = clt_recording_objective(&l->objective, settings->recording, settings->objective, error);
  else
    rc = clt_objective_new_for(&l->objective, l->space, NULL, 0, NULL, settings->objective, error);
  l->list = settings->configurations;
  l->n_list = settings->configurations ? settings->n_configurations : 0;
  if (rc == CLT_OK) rc = choose_initial(s, error); /* before other sources: the model is the first */
  l->budget = find_budget(s);
  if (rc == CLT_OK) rc = open_store(s, error);
  if (rc == CLT_OK) rc = find_sources(s, error);
  s->result->n_sources = s->sources.n;
  const clt_search_setup setup = {.instance = instance,
                                  .seed = settings->seed,
                                  .threads = settings->threads,
                                  .tolerance = s->tolerance,
                                  .confidence = s->confidence,
                                  .sources = s->sources.sources,
                                  .n_sources = s->sources.n,
                                  .predicted = s->predicted,
                                  .log = settings->log,
                                  .log_user = settings->user};
  if (rc == CLT_OK) rc = clt_loop_start(l, setup, error);
  return rc ? rc : open_evaluator(s, error);
}

/* --- driving --- */

/* The limit that slow configurations are compared with, in seconds or a figure's cost: not of the shortest run. Only if
 * the objective ranks as usual; with another one a slow configuration may be the best. */
static double typical_best(const clt_session *s) {
  const clt_objective *o = s->loop.objective;
  if (s->result->best.config == CLT_CONFIG_NONE) return 0;
  const clt_measurement best = clt_session_at_median(&s->result->best);
  if (clt_objective_is_default(o)) return clt_objective_cost(o, &best);
  return clt_objective_ranks_by_time(o) && isnan(best.figure) ? best.time_s : 0;
}

int clt_session_search(clt_session *s, clt_error *error) {
  s->loop.on_answer = on_answer;
  s->loop.may_begin = may_begin;
  s->loop.user = s;
  if (s->first == CLT_CONFIG_NONE && s->result->default_measurement.config != CLT_CONFIG_NONE) log_failed_default(s);
  for (;;) {
    clt_measurement m;
    clt_error failure = {0};
    clt_config config;
    /* Asking may take as long as training does. */
    if (clt_now_s() - s->last_progress_s >= CLT_TICK_S) clt_session_progress(s, NULL);
    do { /* as many as the evaluator takes */
      size_t batch = s->settings->batch ? s->settings->batch : most_under_way(s) - s->loop.n_measuring;
      int rc = clt_loop_next(&s->loop, batch, &config, error);
      if (rc == CLT_OK && config != CLT_CONFIG_NONE)
        rc = s->evaluator->submit(s->evaluator_state, config, typical_best(s), error);
      if (rc) return rc;
    } while (config != CLT_CONFIG_NONE);
    if (clt_stop_asked(s->settings->stop))
      return clt_fail(error, CLT_E_STOPPED, "stopped after %lld evaluation%s", (long long)s->result->evaluations,
                      CLT_PLURAL(s->result->evaluations));
    if (s->loop.n_pending == 0) break;
    int rc = s->evaluator->wait(s->evaluator_state, &m, WAIT_S, &failure);
    if (rc == CLT_E_AGAIN) {
      if (s->loop.n_measuring == s->loop.n_elsewhere) await_others(s);
      continue;
    }
    if (rc) {
      if (error && error->code == 0) *error = failure;
      return rc;
    }
    /* A program's runs may take minutes each, and have processes of their own. */
    const clt_measurement *best = &s->result->best;
    bool again = false;
    if (is_of_problem(s) && !clt_problem_is_command(clt_instance_problem(s->settings->instance)))
      rc = clt_loop_doubt(&s->loop, &m,
                          best->config == CLT_CONFIG_NONE ? NAN : clt_objective_cost(s->loop.objective, best), &again,
                          error);
    if (rc == CLT_OK && again) rc = s->evaluator->submit(s->evaluator_state, m.config, typical_best(s), error);
    if (rc || again) {
      clt_measurement_release(&m);
      if (rc) return rc;
      continue;
    }
    /* An error in the problem file concerns all configurations; nothing has run. */
    if ((m.reason == CLT_REASON_ARGUMENTS || m.reason == CLT_REASON_KERNEL_NAME) && s->first != CLT_CONFIG_NONE &&
        m.config == clt_space_canonical(s->loop.space, s->first))
      rc = clt_fail(error, CLT_E_FORMAT, "%.900s", m.log ? m.log : clt_reason_text(m.reason));
    else
      rc = clt_loop_answer(&s->loop, &m, error);
    clt_measurement_release(&m);
    if (rc) return rc;
  }
  s->result->ending = clt_session_ending(s);
  if (s->result->ending == CLT_ENDED_BY_TIME) s->result->stopped = true;
  return CLT_OK;
}

/* "200 evaluations, none correct: 150 compile, 50 timeout" */
static int fail_no_valid(const clt_session *s, clt_error *error) {
  const clt_tune_result *result = s->result;
  char counts[256] = "";
  size_t used = 0;
  if (result->n_without_value > 0)
    return clt_fail(error, CLT_E_NO_VALID, "none of %lld correct evaluations has a value of the objective '%.200s'",
                    (long long)result->n_without_value, clt_objective_name(s->loop.objective));
  for (int i = CLT_CORRECT + 1; i < CLT_N_INVALIDITIES; i++) {
    int64_t n = clt_tune_n_invalid(result, (clt_invalidity)i);
    if (n == 0 || used >= sizeof counts) continue;
    used += (size_t)snprintf(counts + used, sizeof counts - used, "%s%lld %s", used ? ", " : "", (long long)n,
                             clt_invalidity_name((clt_invalidity)i));
  }
  return clt_fail(error, CLT_E_NO_VALID, "%lld evaluation%s, none correct%s%s", (long long)result->evaluations,
                  CLT_PLURAL(result->evaluations), used ? ": " : "", counts);
}

int clt_tune_run(clt_tune_result **out, const clt_tune_settings *settings, clt_error *error) {
  clt_tune_settings copy;
  *out = NULL;
  int rc = clt_copy_settings(&copy, sizeof copy, settings, "clt_tune_settings", error);
  if (rc) return rc;
  clt_session s = {.settings = &copy,
                   .result = clt_result_new(),
                   .first = CLT_CONFIG_NONE,
                   .accused = CLT_CONFIG_NONE,
                   .start_s = clt_now_s(),
                   .used = clt_processor_time_now()};
  if (s.result == NULL) return clt_fail_memory(error);
  rc = open_session(&s, error);
  if (rc == CLT_OK) rc = clt_session_search(&s, error);
  if (rc == CLT_OK && s.result->best.config == CLT_CONFIG_NONE) rc = fail_no_valid(&s, error);
  if (rc == CLT_OK) rc = clt_session_finalists(&s, error);
  if (rc == CLT_OK || rc == CLT_E_STOPPED) {
    const int known = clt_session_take_best_known(&s, error);
    if (known) rc = known;
  }
  if (rc == CLT_E_STOPPED) {
    s.result->stopped = true;
    s.result->ending = CLT_ENDED_ON_REQUEST;
  }
  if (s.evaluator_state) s.evaluator->close(s.evaluator_state); /* ends work under way */
  free(s.evaluator_state);
  free(s.finalist_answer.log);
  free(s.unfollowed);
  int summed = clt_session_summarise(&s, error);
  free(s.evaluator_options);
  free(s.ranked);
  clt_loop_release(&s.loop);
  clt_sources_release(&s.sources);
  *out = s.result;
  return rc ? rc : summed;
}
