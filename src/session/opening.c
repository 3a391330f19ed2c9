/* Opening and closing what a session works with. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"
#include "session/session.h"
#include "session/strategy.h"
#include "space/hash.h"

/* --- the default configuration --- */

/* One that violates a constraint is not measured; the result says why. */
static void choose_first(clt_session *s) {
  clt_constraint_origin origin = CLT_CONDITION;
  clt_measurement *result = &s->result->default_measurement;
  s->first = CLT_CONFIG_NONE;
  if (s->settings->instance == NULL || s->settings->skip_default) return;
  clt_config config = clt_instance_default(s->settings->instance);
  if (clt_space_contains(s->space, config)) {
    s->first = config;
    return;
  }
  const char *violation = clt_space_violation(s->space, config, &origin);
  clt_measurement_release(result);
  clt_measurement_init(result, config);
  clt_measurement_fail(result, origin == CLT_DEVICE_LIMIT ? CLT_REASON_DEVICE_LIMIT : CLT_REASON_CONDITION, violation);
}

/* --- the store --- */

static void hash_evaluator(clt_hasher *hasher, const clt_tune_settings *settings) {
  for (size_t i = 0; i < settings->n_evaluator_settings; i++) {
    clt_hasher_add_text(hasher, settings->evaluator_settings[i].name);
    clt_hasher_add_text(hasher, settings->evaluator_settings[i].value);
  }
  if (settings->recording) {
    clt_hasher_add_text(hasher, clt_recording_name(settings->recording));
    clt_hasher_add_text(hasher, clt_recording_kernel(settings->recording));
    clt_hasher_add_text(hasher, clt_recording_device(settings->recording));
  } else {
    clt_hasher_add(hasher, &settings->seed, sizeof settings->seed);
  }
}

/* Where no device is measured, what tells measurements apart is the evaluator and what it works on. */
static int make_up_key(clt_session *s, clt_error *error) {
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  clt_space_hash(hasher, s->space);
  hash_evaluator(hasher, s->settings);
  clt_hasher_hex(hasher, s->key.problem);
  clt_hasher_free(hasher);
  snprintf(s->key.device, sizeof s->key.device, "%s", s->evaluator->name);
  return CLT_OK;
}

static int describe_problem(clt_session *s, clt_error *error) {
  const clt_instance *instance = s->settings->instance;
  const clt_problem *problem = clt_instance_problem(instance);
  char *device_json = NULL, *sizes = clt_instance_sizes_text(instance);
  int rc = sizes ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_device_to_json(&device_json, clt_instance_device(instance), error);
  if (rc == CLT_OK)
    rc = clt_store_describe(s->settings->store, &s->key, clt_problem_name(problem), clt_problem_path(problem), sizes,
                            device_json, error);
  free(device_json);
  free(sizes);
  return rc;
}

static int describe_other(clt_session *s, clt_error *error) {
  const clt_recording *recording = s->settings->recording;
  return clt_store_describe(s->settings->store, &s->key, recording ? clt_recording_name(recording) : s->evaluator->name,
                            "", "", "{}", error);
}

/* What was computed or replayed must not be found by those who ask for measurements. */
static bool is_of_problem(const clt_session *s) {
  const clt_instance *instance = s->settings->instance;
  return s->evaluator->measures_device && instance != NULL && clt_instance_device(instance) != NULL;
}

static int open_store(clt_session *s, clt_error *error) {
  if (s->settings->store == NULL) return CLT_OK;
  bool of_problem = is_of_problem(s);
  int rc = of_problem ? clt_store_key_init(&s->key, s->settings->instance, error) : make_up_key(s, error);
  if (rc == CLT_OK) rc = of_problem ? describe_problem(s, error) : describe_other(s, error);
  if (rc || s->settings->no_reuse) return rc;
  s->known.needs_energy = clt_objective_needs_energy(s->objective);
  return clt_known_load(&s->known, s->settings->store, &s->key, s->space, error);
}

/* --- what is known elsewhere --- */

static int find_sources(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  int rc = clt_sources_add_recordings(&s->sources, s->space, s->objective, settings->learn_from, settings->n_learn_from,
                                      settings->log, settings->user, error);
  bool from_store = s->searcher->transfers && settings->store && !settings->no_transfer && is_of_problem(s);
  if (rc || !from_store || settings->configurations || s->predicted) return rc;
  char *sizes = clt_instance_sizes_text(settings->instance);
  if (sizes == NULL) return clt_fail_memory(error);
  const clt_source_wish wish = {&s->key, clt_problem_name(clt_instance_problem(settings->instance)), sizes};
  rc = clt_sources_add_stored(&s->sources, s->space, s->objective, settings->store, &wish, settings->log,
                              settings->user, error);
  free(sizes);
  return rc;
}

/* --- plug-ins --- */

static int find_plugins(clt_session *s, clt_error *error) {
  const clt_instance *instance = s->settings->instance;
  const clt_problem *problem = instance ? clt_instance_problem(instance) : NULL;
  const char *evaluator = clt_tune_evaluator(s->settings->evaluator, problem);
  const char *searcher = clt_tune_searcher(s->settings->searcher, problem);
  s->evaluator = clt_evaluator_find(evaluator);
  s->searcher = clt_searcher_find(searcher);
  if (s->evaluator == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no evaluator '%s'", evaluator);
  if (s->searcher == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no searcher '%s'", searcher);
  return CLT_OK;
}

static int parse_options(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  const clt_problem *problem = settings->instance ? clt_instance_problem(settings->instance) : NULL;
  s->evaluator_options = clt_new_array(1, s->evaluator->options_size);
  s->searcher_options = clt_new_array(1, s->searcher->options_size);
  if (s->evaluator_options == NULL || s->searcher_options == NULL) return clt_fail_memory(error);
  const clt_wished_options evaluator = {s->evaluator->options, s->evaluator->n_options, s->evaluator->options_size,
                                        settings->evaluator_settings, settings->n_evaluator_settings};
  const clt_wished_options searcher = {s->searcher->options, s->searcher->n_options, s->searcher->options_size,
                                       settings->searcher_settings, settings->n_searcher_settings};
  int rc = problem ? clt_strategy_check(problem, error) : CLT_OK;
  if (rc == CLT_OK) rc = clt_strategy_parse(s->evaluator_options, problem, &evaluator, error);
  return rc ? rc : clt_strategy_parse(s->searcher_options, problem, &searcher, error);
}

static int note_lost(void *user, clt_config config, clt_error *error) {
  clt_session *s = user;
  clt_measurement m;
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, CLT_REASON_RUN_CRASH, "its worker ended; it is tried once more");
  int rc = clt_known_add_attempt(&s->known, config, error);
  if (rc == CLT_OK && s->settings->store)
    rc = clt_store_add(s->settings->store, &s->key, s->space, CLT_RECORD_ATTEMPT, &m, error);
  clt_measurement_release(&m);
  return rc;
}

static unsigned attempts_of(void *user, clt_config config) {
  return clt_known_attempts(&((clt_session *)user)->known, config);
}

static int open_evaluator(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  clt_evaluator_setup setup = {.instance = settings->instance,
                               .space = s->space,
                               .recording = settings->recording,
                               .seed = settings->seed,
                               .energy = clt_objective_needs_energy(s->objective),
                               .quality = &s->result->quality,
                               .stop = settings->stop,
                               .log = settings->log,
                               .log_user = settings->user,
                               .lost = note_lost,
                               .attempts = attempts_of,
                               .attempts_user = s};
  void *state = clt_new_array(1, s->evaluator->state_size);
  if (state == NULL) return clt_fail_memory(error);
  int rc = s->evaluator->open(state, &setup, s->evaluator_options, &s->limits, error);
  if (rc) return free(state), rc;
  s->evaluator_state = state;
  return CLT_OK;
}

static int init_searcher(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  clt_search_setup setup = {.space = s->space,
                            .instance = settings->instance,
                            .budget = s->budget,
                            .first = s->first,
                            .begun = s->suggested,
                            .n_begun = s->n_suggested,
                            .seed = settings->seed,
                            .threads = settings->threads,
                            .tolerance = s->tolerance,
                            .confidence = s->confidence,
                            .sources = s->sources.sources,
                            .n_sources = s->sources.n,
                            .predicted = s->predicted,
                            .log = settings->log,
                            .log_user = settings->user};
  s->searcher_state = clt_new_array(1, s->searcher->state_size);
  if (s->searcher_state == NULL) return clt_fail_memory(error);
  return s->searcher->init(s->searcher_state, &setup, s->searcher_options, error);
}

static int find_space(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  s->space = settings->instance    ? clt_instance_space(settings->instance)
             : settings->space     ? settings->space
             : settings->recording ? clt_recording_space(settings->recording)
                                   : NULL;
  if (s->space == NULL) return clt_fail(error, CLT_E_ARGUMENT, "a session needs a problem, a space or a recording");
  s->result->cartesian = clt_space_cartesian(s->space);
  s->result->valid = clt_space_valid(s->space);
  if (s->result->valid > 0) return CLT_OK;
  return clt_fail(error, CLT_E_NO_VALID, "none of the %llu configurations satisfies the constraints",
                  (unsigned long long)s->result->cartesian);
}

static int make_objective(clt_session *s, clt_error *error) {
  const clt_tune_settings *settings = s->settings;
  if (settings->instance) return clt_objective_new(&s->objective, settings->instance, settings->objective, error);
  if (settings->recording)
    return clt_recording_objective(&s->objective, settings->recording, settings->objective, error);
  return clt_objective_new_for(&s->objective, s->space, NULL, 0, settings->objective, error);
}

int clt_session_open(clt_session *s, clt_error *error) {
  s->tolerance = s->settings->tolerance > 0 ? s->settings->tolerance : 0.02;
  s->confidence = s->settings->confidence > 0 ? s->settings->confidence : 0.9;
  if (s->confidence >= 1) return clt_fail(error, CLT_E_ARGUMENT, "the confidence must be below 1");
  int rc = find_plugins(s, error);
  if (rc == CLT_OK) rc = parse_options(s, error);
  if (rc == CLT_OK) rc = find_space(s, error);
  if (rc == CLT_OK) rc = make_objective(s, error);
  if (rc) return rc;
  choose_first(s);
  rc = clt_session_choose_suggestions(s, error); /* before other sources: the model is the first */
  s->budget = clt_session_budget(s);
  if (rc == CLT_OK) rc = open_store(s, error);
  if (rc == CLT_OK) rc = find_sources(s, error);
  if (rc == CLT_OK) rc = init_searcher(s, error);
  return rc ? rc : open_evaluator(s, error);
}

void clt_session_close_evaluator(clt_session *s) {
  if (s->evaluator_state) s->evaluator->close(s->evaluator_state);
  free(s->evaluator_state);
  s->evaluator_state = NULL;
}

void clt_session_close(clt_session *s) {
  clt_session_close_evaluator(s);
  if (s->searcher_state) s->searcher->fini(s->searcher_state);
  free(s->searcher_state);
  free(s->evaluator_options);
  free(s->searcher_options);
  clt_sources_release(&s->sources);
  clt_known_release(&s->known);
  clt_objective_free(s->objective);
  free(s->suggested);
  free(s->suggested_told);
  free(s->queue);
  free(s->pending);
  free(s->ranked);
}
