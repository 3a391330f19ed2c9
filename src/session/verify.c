/* Prepares given configurations, and verifies or times them. */
#include "base/base.h"
#include "problem/guidance.h"
#include "session/session.h"

#define RUN_LIMIT_S "1.5" /* of a run in the check plan, whose sizes are chosen for short runs */

int clt_keep_configs(clt_measurement *out, clt_evaluator_setup setup, const clt_instance *instance,
                     const clt_config *configs, size_t n_configs, const clt_contest_policy *contest,
                     const clt_tune_settings *settings, clt_error *error) {
  static const clt_setting one_worker[] = {{"workers", "1"}, {"prepare-ahead", "1"}, {"run-timeout", RUN_LIMIT_S}},
                           one_build[] = {{"builds", "1"}};
  double waited_s = 0;
  clt_contest_policy rounds = {.min_rounds = 1, .max_rounds = settings->finalists > 0};
  const clt_problem *problem = clt_instance_problem(instance);
  const char *name = clt_tune_evaluator(settings->evaluator, problem);
  const clt_evaluator_type *evaluator = clt_evaluator_find(name);
  const clt_setting *one = NULL;
  size_t n_one = 0;
  if (strcmp(name, "opencl") == 0) {
    one = one_worker;
    n_one = 2 + (setup.lenient && setup.n_checks > 0);
  } else if (strcmp(name, "command") == 0) {
    one = one_build;
    n_one = 1;
  }
  const size_t n = settings->n_evaluator_settings;
  if (evaluator == NULL) return clt_fail(error, CLT_E_NOT_FOUND, "there is no evaluator '%s'", name);
  clt_setting *all = clt_new_array(n + n_one, sizeof *all);
  void *options = NULL, *state = clt_new_array(1, evaluator->state_size);
  clt_evaluator_limits limits;
  if (contest) rounds = *contest;
  rounds.waited_s = setup.waited_s = &waited_s;
  setup.instance = instance;
  setup.space = clt_instance_space(instance);
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

clt_check clt_finalist_check(const clt_instance *instance) {
  const clt_recipe drawn = {CLT_INPUTS_OTHER, .stays = CLT_STAYS_STATED};
  return (clt_check){.recipe = clt_recipe_with_judge(drawn, instance)};
}

int clt_verify_configs(clt_measurement *out, double *quality, const clt_instance *instance, const clt_config *configs,
                       size_t n, const clt_contest_policy *contest, const clt_tune_settings *settings,
                       clt_error *error) {
  const clt_objective *objective = contest ? contest->objective : NULL;
  const clt_check hostile = {{CLT_INPUTS_RANGE, CLT_RANGE_ENDS, .stays = CLT_STAYS_STATED}, true},
                  check = contest ? clt_finalist_check(instance) : hostile;
  const clt_evaluator_setup setup = {.quality = quality,
                                     .energy = objective && clt_objective_needs_energy(objective),
                                     .checks = &check,
                                     .printed = contest == NULL,
                                     .n_checks = !clt_problem_is_command(clt_instance_problem(instance))};
  if (quality) *quality = NAN;
  return clt_keep_configs(out, setup, instance, configs, n, contest, settings, error);
}

int clt_run_config(clt_measurement *out, const clt_instance *instance, clt_config config,
                   const clt_tune_settings *settings, double limit_s, clt_error *error) {
  const clt_evaluator_setup watched = {.no_reference = true, .limit_s = limit_s};
  return clt_keep_configs(out, watched, instance, &config, 1, NULL, settings, error);
}
