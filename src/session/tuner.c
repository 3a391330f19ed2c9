/* The functions of clatune/clatune.h, on top of sessions, online tuning and look-up. */
#include <clatune/clatune.h>
#include <clatune/lookup.h>
#include <clatune/online.h>
#include <clatune/sys/searcher.h>
#include <clatune/tune.h>
#include <pthread.h>

#include "base/base.h"
#include "base/plugin.h"
#include "lookup/lookup.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"

struct clt_tuner {
  pthread_mutex_t mutex;     /* for store and online, which are opened when first needed */
  clt_tuner_options options; /* their texts are owned */
  const char *problem_path;  /* owned */
  clt_size *sizes;           /* names borrowed from the problem */
  size_t n_sizes;
  clt_device_info device;
  clt_problem *problem;
  clt_instance *instance;
  clt_catalog *catalog;
  clt_store *store;
  clt_online *online;
};

struct clt_answer {
  clt_lookup_result result; /* the texts, and the expected time */
  const char *source;
  clt_config config; /* of clt_ask */
};

static int fail_null(const char *argument, clt_error *error) {
  return clt_fail(error, CLT_E_ARGUMENT, "%s is NULL", argument);
}

int clt_open(clt_tuner **out, const char *problem_path, const clt_size *sizes, size_t n_sizes,
             struct _cl_device_id *device, const clt_tuner_options *options, clt_error *error) {
  if (out == NULL || problem_path == NULL) return fail_null(out ? "problem_path" : "out", error);
  if (sizes == NULL && n_sizes > 0) return fail_null("sizes", error);
  for (size_t i = 0; i < n_sizes; i++) {
    if (sizes[i].name == NULL) return fail_null("sizes[].name", error);
    for (size_t k = 0; k < i; k++)
      if (strcmp(sizes[i].name, sizes[k].name) == 0)
        return clt_fail(error, CLT_E_ARGUMENT, "the size '%.200s' is given twice", sizes[i].name);
  }
  int rc = CLT_OK;
  clt_tuner *t = calloc(1, sizeof *t);
  if (t == NULL) return clt_fail_memory(error);
  pthread_mutex_init(&t->mutex, NULL);
  if (options) rc = clt_copy_settings(&t->options, sizeof t->options, options, "clt_tuner_options", error);
  const char **texts[] = {&t->options.store, &t->options.objective, &t->options.searcher, &t->problem_path};
  if (rc == CLT_OK) t->problem_path = problem_path;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) /* all of them, as all are freed */
    if (*texts[i] && (*texts[i] = strdup(*texts[i])) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_device_describe(&t->device, device, error);
  if (rc == CLT_OK) rc = clt_problem_new(&t->problem, problem_path, error);
  if (rc == CLT_OK) rc = clt_instance_new(&t->instance, t->problem, sizes, n_sizes, &t->device, error);
  if (rc == CLT_OK && !(t->options.budget >= 0 && t->options.time_limit_s >= 0))
    rc = clt_fail(error, CLT_E_ARGUMENT, "budget and time_limit_s must not be negative");
  if (rc == CLT_OK && t->options.searcher && clt_searcher_find(t->options.searcher) == NULL)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "there is no searcher '%.64s'", t->options.searcher);
  if (rc == CLT_OK) {
    clt_objective *objective = NULL; /* only to check it */
    rc = clt_objective_new(&objective, t->instance, t->options.objective, error);
    clt_objective_free(objective);
  }
  if (rc == CLT_OK) { /* a look-up is cached by path and all sizes, which makes the second one fast */
    t->n_sizes = clt_instance_n_sizes(t->instance);
    t->sizes = clt_new_array(t->n_sizes, sizeof *t->sizes);
    if (t->sizes == NULL) rc = clt_fail_memory(error);
    for (size_t i = 0; rc == CLT_OK && i < t->n_sizes; i++) t->sizes[i] = clt_instance_size(t->instance, i);
  }
  const char *stores[] = {t->options.store, clt_catalog_system_path()};
  if (rc == CLT_OK) rc = clt_catalog_new(&t->catalog, stores, 2, error);
  if (rc == CLT_OK && t->options.objective) rc = clt_catalog_set_objective(t->catalog, t->options.objective, error);
  if (rc == CLT_OK)
    *out = t;
  else
    clt_close(t);
  return rc;
}

void clt_close(clt_tuner *t) {
  if (t == NULL) return;
  clt_online_free(t->online);
  clt_store_free(t->store);
  clt_catalog_free(t->catalog);
  clt_instance_free(t->instance);
  clt_problem_free(t->problem);
  free((void *)t->options.store);
  free((void *)t->options.objective);
  free((void *)t->options.searcher);
  free((void *)t->problem_path);
  free(t->sizes);
  pthread_mutex_destroy(&t->mutex);
  free(t);
}

int clt_lookup(clt_answer **out, clt_tuner *t, clt_error *error) {
  if (out == NULL || t == NULL) return fail_null(out ? "tuner" : "out", error);
  clt_answer *answer = calloc(1, sizeof *answer);
  if (answer == NULL) return clt_fail_memory(error);
  int rc = clt_catalog_lookup(&answer->result, t->catalog, t->problem_path, t->sizes, t->n_sizes, &t->device, error);
  if (rc) {
    free(answer);
    return rc;
  }
  answer->config = CLT_CONFIG_NONE;
  answer->source = clt_tier_name(answer->result.tier);
  *out = answer;
  return CLT_OK;
}

/* An answer for this device and these sizes. */
static int new_answer(clt_answer **out, const clt_tuner *t, clt_config config, double time_s, const char *source,
                      clt_error *error) {
  clt_answer *answer = calloc(1, sizeof *answer);
  if (answer == NULL) return clt_fail_memory(error);
  clt_lookup_result *r = &answer->result;
  char device[640];
  clt_device_key(device, sizeof device, &t->device);
  int rc = clt_instance_options(&r->options, t->instance, config, error);
  if (rc == CLT_OK) rc = clt_instance_launches(&r->launches, &r->n_launches, t->instance, config, error);
  r->configuration = clt_config_string(clt_instance_space(t->instance), config);
  r->device = strdup(device);
  r->sizes = clt_instance_sizes_text(t->instance);
  r->expected_time_s = time_s;
  answer->source = source;
  answer->config = config;
  if (rc == CLT_OK && !(r->configuration && r->device && r->sizes)) rc = clt_fail_memory(error);
  if (rc == CLT_OK)
    *out = answer;
  else
    clt_answer_free(answer);
  return rc;
}

static int open_store(clt_tuner *t, clt_error *error) {
  return t->store ? CLT_OK : clt_store_new(&t->store, NULL, t->options.store, error);
}

int clt_tune(clt_answer **out, clt_tuner *t, clt_error *error) {
  if (out == NULL || t == NULL) return fail_null(out ? "tuner" : "out", error);
  clt_tune_settings settings;
  clt_tune_result *result = NULL;
  clt_tune_settings_init(&settings);
  settings.instance = t->instance;
  settings.budget = t->options.budget;
  settings.time_s = t->options.time_limit_s;
  settings.objective = t->options.objective;
  settings.searcher = t->options.searcher;
  settings.seed = t->options.seed;
  pthread_mutex_lock(&t->mutex);
  int rc = open_store(t, error);
  settings.store = t->store;
  if (rc == CLT_OK) rc = clt_tune_run(&result, &settings, error);
  if (rc == CLT_OK) rc = new_answer(out, t, result->best.config, result->best.time_s, "tuned", error);
  pthread_mutex_unlock(&t->mutex);
  clt_tune_result_free(result);
  return rc;
}

int clt_ask(clt_answer **out, bool *exploring, clt_tuner *t, clt_error *error) {
  if (out == NULL || t == NULL) return fail_null(out ? "tuner" : "out", error);
  if (exploring == NULL) return fail_null("exploring", error);
  clt_config config = CLT_CONFIG_NONE, best;
  double time_s = NAN;
  bool proposed = false;
  pthread_mutex_lock(&t->mutex);
  int rc = open_store(t, error);
  const clt_online_settings settings = {.struct_size = sizeof settings,
                                        .instance = t->instance,
                                        .searcher = t->options.searcher,
                                        .budget = t->options.budget,
                                        .seed = t->options.seed,
                                        .objective = t->options.objective,
                                        .store = t->store};
  if (rc == CLT_OK && t->online == NULL) rc = clt_online_new(&t->online, &settings, error);
  if (rc == CLT_OK) rc = clt_online_ask(&config, &proposed, t->online, error);
  if (rc == CLT_OK && !proposed && !clt_online_best(&best, &time_s, t->online)) time_s = NAN;
  if (rc == CLT_OK) rc = new_answer(out, t, config, time_s, proposed ? "proposed" : "best", error);
  pthread_mutex_unlock(&t->mutex);
  if (rc == CLT_OK) *exploring = proposed;
  return rc;
}

int clt_tell(clt_tuner *t, const clt_answer *answer, double time_s, clt_error *error) {
  if (t == NULL || answer == NULL) return fail_null(t ? "answer" : "tuner", error);
  if (isnan(time_s) || time_s == INFINITY)
    return clt_fail(error, CLT_E_ARGUMENT, "the time must be a number of seconds, or 0 for a failure");
  pthread_mutex_lock(&t->mutex);
  int rc;
  if (t->online == NULL || answer->config == CLT_CONFIG_NONE)
    rc = clt_fail(error, CLT_E_ARGUMENT, "clt_tell needs an answer from clt_ask");
  else if (time_s > 0)
    rc = clt_online_tell(t->online, answer->config, time_s, error);
  else
    rc = clt_online_fail(t->online, answer->config, CLT_REASON_RUN_ERROR, error);
  pthread_mutex_unlock(&t->mutex);
  return rc;
}

const char *clt_answer_text(const clt_answer *answer, clt_answer_field field) {
  if (answer == NULL) return "";
  const clt_lookup_result *r = &answer->result;
  const char *text = NULL;
  switch (field) {
    case CLT_ANSWER_OPTIONS: text = r->options; break;
    case CLT_ANSWER_CONFIGURATION: text = r->configuration; break;
    case CLT_ANSWER_SOURCE: text = answer->source; break;
    case CLT_ANSWER_DEVICE: text = r->device; break;
    case CLT_ANSWER_SIZES: text = r->sizes; break;
  }
  return text ? text : "";
}

const clt_launch_sizes *clt_answer_launch(const clt_answer *answer, size_t index) {
  return answer && index < answer->result.n_launches ? &answer->result.launches[index] : NULL;
}

int clt_answer_number(double *out, const clt_answer *answer, const char *name, clt_error *error) {
  if (out == NULL || answer == NULL) return fail_null(out ? "answer" : "out", error);
  if (name == NULL) return fail_null("name", error);
  if (strcmp(name, "time_s") == 0) {
    *out = answer->result.expected_time_s;
    return CLT_OK;
  }
  return clt_lookup_result_number(out, &answer->result, name, error);
}

void clt_answer_free(clt_answer *answer) {
  if (answer == NULL) return;
  clt_lookup_result_release(&answer->result);
  free(answer);
}
