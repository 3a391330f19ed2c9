/* Verifies or times given configurations, and verifies a prospective winner. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/plugin.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "session/session.h"

/* contest: NULL, or all configurations are timed together. */
static int keep_configs(clt_measurement *out, clt_evaluator_setup setup, const clt_instance *instance,
                        const clt_config *configs, size_t n_configs, const clt_contest_policy *contest,
                        const clt_tune_settings *settings, clt_error *error) {
  static const clt_setting one_worker[] = {{"workers", "1"}, {"prepare-ahead", "1"}}, one_build[] = {{"builds", "1"}};
  double waited_s = 0;
  clt_contest_policy rounds = {.min_rounds = 1, .max_rounds = settings->finalists > 0};
  const clt_problem *problem = clt_instance_problem(instance);
  const char *name = clt_tune_evaluator(settings->evaluator, problem);
  const clt_evaluator_type *evaluator = clt_evaluator_find(name);
  const clt_setting *one = strcmp(name, "opencl") == 0 ? one_worker : strcmp(name, "command") == 0 ? one_build : NULL;
  const size_t n = settings->n_evaluator_settings, n_one = one == one_worker ? 2 : one != NULL;
  if (evaluator == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no evaluator '%s'", name);
  clt_setting *all = clt_new_array(n + n_one, sizeof *all);
  void *options = NULL, *state = clt_new_array(1, evaluator->state_size);
  clt_evaluator_limits limits;
  if (contest) rounds = *contest;
  rounds.waited_s = setup.waited_s = &waited_s;
  setup.instance = instance;
  setup.space = clt_instance_space(instance);
  setup.hostile = contest == NULL;
  setup.stop = settings->stop;
  setup.steps = settings->steps;
  setup.log = settings->log;
  setup.log_user = settings->user;
  int rc = all && state ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n + n_one; i++) all[i] = i < n ? settings->evaluator_settings[i] : one[i - n];
  if (rc == CLT_OK)
    rc = clt_plugin_options(&options, NULL, evaluator->options, evaluator->n_options, evaluator->options_size, problem,
                            all, n + n_one, error);
  if (rc == CLT_OK) rc = evaluator->open(state, &setup, options, &limits, error);
  if (rc == CLT_OK) {
    const size_t step = contest ? n_configs : 1;
    for (size_t done = 0; rc == CLT_OK && done < n_configs;) {
      rc = clt_contest_run(evaluator, state, configs + done, step, &rounds, out + done, error);
      for (size_t i = 0; rc && i < done; i++) clt_measurement_release(&out[i]);
      done += step;
    }
    evaluator->close(state);
  }
  free(all);
  free(options);
  free(state);
  return rc;
}

int clt_verify_configs(clt_measurement *out, double *quality, const clt_instance *instance, const clt_config *configs,
                       size_t n, const clt_contest_policy *contest, const clt_tune_settings *settings,
                       clt_error *error) {
  const clt_objective *objective = contest ? contest->objective : NULL;
  const clt_evaluator_setup setup = {.quality = quality, .energy = objective && clt_objective_needs_energy(objective)};
  if (quality) *quality = NAN;
  return keep_configs(out, setup, instance, configs, n, contest, settings, error);
}

int clt_run_config(clt_measurement *out, const clt_instance *instance, clt_config config,
                   const clt_tune_settings *settings, double limit_s, clt_error *error) {
  const clt_evaluator_setup watched = {.no_reference = true, .limit_s = limit_s};
  return keep_configs(out, watched, instance, &config, 1, NULL, settings, error);
}

/* Verifies the configuration of *m, which is `config` in this instance, also on hostile data. *m fails if its result is
 * wrong and the default configuration's is not. sizes: the instance's sizes, NULL if they are those of the search.
 * *known: whether the result could be checked. */
static int verify_in(clt_session *s, bool *known, clt_measurement *m, const clt_instance *instance, clt_config config,
                     const char *sizes, clt_error *error) {
  const char *at = sizes ? " at " : "", *where = sizes ? sizes : "";
  clt_tune_settings settings = *s->settings;
  clt_config standard = clt_instance_default(instance);
  clt_measurement seen, beside;
  clt_error why = {0};
  bool shared = false;
  settings.evaluator = s->evaluator->name;
  settings.finalists = 0;
  settings.log = NULL; /* already logged */
  clt_measurement_init(&seen, config);
  clt_measurement_init(&beside, standard);
  int rc = clt_verify_configs(&seen, NULL, instance, &config, 1, NULL, &settings, &why);
  if (rc == CLT_E_OPENCL && s->evaluator->keep &&
      s->evaluator_state) { /* perhaps because the finalists use the memory */
    why = (clt_error){0};
    rc = s->evaluator->keep(s->evaluator_state, NULL, 0, NULL, &why);
    if (rc == CLT_OK) rc = clt_verify_configs(&seen, NULL, instance, &config, 1, NULL, &settings, &why);
  }
  const bool right = rc == CLT_OK && clt_measurement_correct(&seen);
  /* A configuration need not build or launch at another size. */
  bool wrong = rc == CLT_OK && (seen.reason == CLT_REASON_WRONG_OUTPUT || seen.reason == CLT_REASON_OUT_OF_BOUNDS ||
                                seen.reason == CLT_REASON_RUN_CRASH);
  const char *text = rc ? why.message : seen.log ? seen.log : clt_reason_text(seen.reason);
  if (wrong && clt_space_contains(clt_instance_space(instance), standard)) {
    shared = clt_space_canonical(clt_instance_space(instance), standard) == config;
    if (!shared) rc = clt_verify_configs(&beside, NULL, instance, &standard, 1, NULL, &settings, &why);
    shared = shared || !clt_measurement_correct(&beside);
    if (rc) wrong = false, text = why.message; /* not known whether the default is wrong as well */
  }
  *known = right || wrong;
  if (rc == CLT_E_STOPPED || rc == CLT_E_MEMORY) {
    if (error && error->code == 0) *error = why;
  } else if (wrong && shared) {
    clt_log(
        s->settings->log, s->settings->user, CLT_LOG_WARNING,
        "the winner's result is wrong with hostile data%s%s; the default configuration is wrong with this data too, "
        "so the winner is not rejected: %.300s",
        at, where, text);
  } else if (wrong) {
    char *log = sizes ? clt_format("at %s: %s", sizes, text) : strdup(text);
    clt_measurement_fail(m, CLT_REASON_WRONG_OUTPUT, log);
    free(log);
  } else if (!right) {
    clt_log(s->settings->log, s->settings->user, CLT_LOG_INFO,
            "the winner cannot be verified with hostile data%s%s: %.300s", at, where, text);
  } else if (sizes) {
    s->result->second_size = strdup(sizes);
  }
  clt_measurement_release(&seen);
  clt_measurement_release(&beside);
  return rc == CLT_E_STOPPED || rc == CLT_E_MEMORY ? rc : CLT_OK;
}

int clt_session_verify(clt_session *s, clt_measurement *m, clt_error *error) {
  const clt_instance *instance = s->settings->instance;
  clt_instance *smaller = NULL;
  clt_config config;
  bool known = false;
  if (instance == NULL || !s->evaluator->measures_device || clt_problem_is_command(clt_instance_problem(instance)))
    return CLT_OK;
  free(s->result->second_size);
  s->result->second_size = NULL;
  /* If there is no smaller instance, its own sizes are used. */
  int rc =
      clt_instance_new_smaller(&smaller, &config, instance, m->config, clt_instance_device(instance), INFINITY, NULL);
  rc = rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
  char *own = clt_instance_sizes_text(instance), *others = smaller ? clt_instance_sizes_text(smaller) : NULL;
  if (rc == CLT_OK && own && others && strcmp(own, others) != 0)
    rc = verify_in(s, &known, m, smaller, config, others, error);
  if (rc == CLT_OK && !known) rc = verify_in(s, &known, m, instance, m->config, NULL, error);
  clt_instance_free(smaller);
  free(own);
  free(others);
  return rc;
}
