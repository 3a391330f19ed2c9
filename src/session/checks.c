/* Runs the check plan of a prospective winner (docs/explanation/trust.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "session/session.h"

#define RUN_S 5e-4 /* a run of a ragged stage takes at most about so long */
#define LEAST_ITEMS 256.0
#define MOST_ITEMS 65536.0
#define MOST_ELEMENTS 20971520.0 /* 1.25 * 2^24: above 2^24 not every integer is a float */
#define CHECK_S 2e-3             /* of a check, however small its inputs */
#define LARGE_SHARE \
  4.0 /* times the limit: of a small check's time per element most is overhead; the limit holds anyway */
#define MEMORY_SHARE 0.125 /* of the device's memory */
#define MOST_BYTES 2e9
#define DEFAULT_PATIENCE 5.0 /* the default configuration may take so many times the limit of a stage */
#define MOST_ROUNDS 4
/* Of a search's time, and at least so long: limits of what is checked at large sizes. */
#define CHECKS_SHARE 0.03
#define CHECKS_S 1.5

clt_check clt_finalist_check(const clt_instance *instance) {
  clt_check check = {{CLT_INPUTS_OTHER, .stays = CLT_STAYS_STATED}};
  if (clt_instance_reference_kind(instance) == CLT_REFERENCE_FILE) {
    check.recipe.judged = true;
    check.recipe.judge = clt_instance_reference_configuration(instance);
  }
  return check;
}

void clt_check_results_clear(clt_check_result **results, size_t *n) {
  for (size_t i = 0; i < *n; i++) {
    free((*results)[i].sizes);
    free((*results)[i].inputs);
    free((*results)[i].why);
  }
  free(*results);
  *results = NULL;
  *n = 0;
}

/* why: nullable, copied. */
static int add_result(clt_checking *c, const clt_instance *instance, const clt_recipe *recipe, bool mirrored,
                      bool passed, const char *why, clt_error *error) {
  if (clt_grow(&c->results, &c->capacity, c->n_results + 1, sizeof *c->results)) return clt_fail_memory(error);
  const clt_reference_kind kind = clt_instance_reference_kind(instance);
  clt_check_result *result = &c->results[c->n_results];
  *result = (clt_check_result){.sizes = clt_instance_sizes_text(instance),
                               .own_sizes = instance == c->instance,
                               .inputs = strdup(clt_recipe_name(recipe)),
                               .mirrored = mirrored,
                               .by_default = recipe->judged || kind == CLT_REFERENCE_DEFAULT,
                               .passed = passed,
                               .why = why ? strdup(why) : NULL};
  c->n_results++;
  return result->sizes && result->inputs && (!why || result->why) ? CLT_OK : clt_fail_memory(error);
}

/* Prepares `config` on `inputs` and makes checks, each of which gets an answer. CLT_E_AGAIN: the limit of time has
 * passed; the answers so far stand. */
static int run_checks(clt_measurement *seen, clt_check_answer *answers, clt_checking *c, const clt_instance *instance,
                      clt_config config, const clt_recipe *inputs, const clt_check *checks, size_t n, double limit_s,
                      clt_error *error) {
  clt_tune_settings settings = *c->settings;
  const clt_evaluator_setup setup = {
      .checks = checks, .n_checks = n, .answers = answers, .lenient = true, .inputs = inputs, .limit_s = limit_s};
  settings.finalists = 0;
  settings.log = NULL; /* already logged */
  clt_measurement_init(seen, config);
  int rc = clt_keep_configs(seen, setup, instance, &config, 1, NULL, &settings, error);
  if (rc != CLT_E_OPENCL || c->make_room == NULL) return rc;
  *error = (clt_error){0};
  rc = c->make_room(c->user, error);
  if (rc == CLT_OK) rc = clt_keep_configs(seen, setup, instance, &config, 1, NULL, &settings, error);
  return rc;
}

static void clear_answers(clt_check_answer *answers, size_t n) {
  for (size_t i = 0; i < n; i++) free(answers[i].log);
  memset(answers, 0, n * sizeof *answers);
}

/* Failures of the kernel, as opposed to limits of the device at other sizes. */
static bool is_fault(clt_reason reason) {
  return reason == CLT_REASON_WRONG_OUTPUT || reason == CLT_REASON_OUT_OF_BOUNDS || reason == CLT_REASON_RUN_CRASH ||
         reason == CLT_REASON_RUN_TIMEOUT || reason == CLT_REASON_RUN_ERROR;
}

static const char *log_of(const clt_check_answer *a) { return a->log ? a->log : clt_reason_text(a->reason); }

/* A check of a stage, which is made again with other inputs or another judge if it proves nothing. */
typedef struct attempt {
  clt_check check;
  const char *why; /* static: why it is not as planned */
  bool settled;
} attempt;

/* What is next for a check that the default configuration does not pass or that cannot be made: other inputs, or the
 * default as the judge. False: nothing is left. */
static bool weaken(attempt *a, const clt_instance *instance, clt_config standard) {
  clt_recipe *recipe = &a->check.recipe;
  const clt_reference_kind kind = clt_instance_reference_kind(instance);
  const bool moves = recipe->inputs == CLT_INPUTS_OTHER || recipe->inputs == CLT_INPUTS_RANGE;
  if (moves && recipe->stays == CLT_STAYS_NOTHING) {
    recipe->stays = CLT_STAYS_INTEGERS;
    a->why = "integers that the file states stay as they are: with others the default configuration fails";
    return true;
  }
  if (recipe->judged || kind == CLT_REFERENCE_DEFAULT) return false;
  recipe->judged = true;
  recipe->judge = standard;
  recipe->stays = CLT_STAYS_NOTHING;
  a->why = "the reference does not follow these inputs";
  return true;
}

/* Notes a configuration that only the default configuration calls incorrect. If there was another before, it is asked:
 * if both agree, the default may be the incorrect one. */
static int accuse(clt_checking *c, clt_config config, const clt_check_stage *stage, const clt_check *check,
                  clt_error *error) {
  const clt_instance *instance = stage->instance ? stage->instance : c->instance;
  const clt_config before = c->accused == CLT_CONFIG_NONE || c->accused == config
                                ? CLT_CONFIG_NONE
                                : clt_instance_translate(instance, c->instance, c->accused);
  clt_check again = *check;
  clt_check_answer answer = {0};
  clt_measurement seen;
  clt_error why = {0};
  c->accused = config;
  if (before == CLT_CONFIG_NONE || c->allied) return CLT_OK;
  again.recipe.judged = true;
  again.recipe.judge = before;
  int rc = run_checks(&seen, &answer, c, instance, stage->config, &stage->inputs, &again, 1, 0, &why);
  c->allied = rc == CLT_OK && answer.done && !answer.impossible && answer.reason == CLT_REASON_NONE;
  clt_measurement_release(&seen);
  clear_answers(&answer, 1);
  return rc == CLT_E_STOPPED || rc == CLT_E_MEMORY ? clt_fail(error, rc, "%s", why.message) : CLT_OK;
}

/* Makes the checks of a stage, in rounds: what the winner fails, the default configuration tries; what it fails too is
 * weakened and tried again by the winner. *wrong: the winner is wrong, and *m has failed. *unfit: the stage proves
 * nothing, as the default configuration does not work there. */
static int check_stage(bool *wrong, bool *unfit, clt_checking *c, clt_measurement *m, const clt_check_stage *stage,
                       double limit_s, clt_error *error) {
  const clt_instance *instance = stage->instance ? stage->instance : c->instance;
  const clt_space *space = clt_instance_space(instance);
  const clt_config standard = clt_instance_default(instance);
  const bool has_standard = clt_space_contains(space, standard),
             is_standard = clt_space_canonical(space, standard) == stage->config;
  attempt attempts[CLT_MAX_CHECKS];
  char *sizes = clt_instance_sizes_text(instance);
  const double began_s = clt_now_s();
  size_t n_left = stage->n_checks;
  int rc = sizes ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; i < stage->n_checks; i++) attempts[i] = (attempt){.check = stage->checks[i]};
  for (int round = 0; rc == CLT_OK && !*wrong && !*unfit && (n_left > 0 || round == 0) && round < MOST_ROUNDS;
       round++) {
    clt_check checks[CLT_MAX_CHECKS], failed[CLT_MAX_CHECKS];
    clt_check_answer answers[CLT_MAX_CHECKS] = {0}, others[CLT_MAX_CHECKS] = {0};
    size_t of_check[CLT_MAX_CHECKS], of_failed[CLT_MAX_CHECKS], n = 0, n_failed = 0;
    clt_measurement seen, beside;
    clt_error why = {0};
    for (size_t i = 0; i < stage->n_checks; i++)
      if (!attempts[i].settled) of_check[n] = i, checks[n++] = attempts[i].check;
    const double left_s = limit_s > 0 ? fmax(limit_s - (clt_now_s() - began_s), 0.1) : 0;
    int done = run_checks(&seen, answers, c, instance, stage->config, &stage->inputs, checks, n, left_s, &why);
    const bool late = done == CLT_E_AGAIN, prepared = done == CLT_OK && clt_measurement_correct(&seen);
    const bool base_fault = done == CLT_OK && is_fault(seen.reason);
    if (done == CLT_E_STOPPED || done == CLT_E_MEMORY) rc = clt_fail(error, done, "%s", why.message);
    if (rc == CLT_OK && !prepared && !late && !base_fault) {
      /* A configuration need not build or launch at other sizes. */
      const char *text = done ? why.message : seen.log ? seen.log : clt_reason_text(seen.reason);
      for (size_t k = 0; rc == CLT_OK && (k < n || k == 0); k++)
        rc = add_result(c, instance, n ? &checks[k].recipe : &stage->inputs, n && checks[k].mirrored, false, text,
                        error);
      n_left = 0;
    }
    /* What the winner fails, the default tries. */
    for (size_t k = 0; k < n; k++)
      if (answers[k].done && is_fault(answers[k].reason)) of_failed[n_failed] = k, failed[n_failed++] = checks[k];
    clt_measurement_init(&beside, standard);
    bool base_shared = false;
    if (rc == CLT_OK && (n_failed > 0 || base_fault) && has_standard && !is_standard) {
      int tried = run_checks(&beside, others, c, instance, standard, &stage->inputs, failed, n_failed,
                             DEFAULT_PATIENCE * limit_s, &why);
      if (tried == CLT_E_STOPPED || tried == CLT_E_MEMORY) rc = clt_fail(error, tried, "%s", why.message);
      base_shared = tried != CLT_OK || !clt_measurement_correct(&beside);
    } else if (is_standard) {
      base_shared = base_fault;
    }
    if (rc == CLT_OK && base_fault && !base_shared) {
      char *log = clt_format("at %s: %s", *sizes ? sizes : "the same sizes", seen.log ? seen.log : "");
      clt_measurement_fail(m, seen.reason, log);
      free(log);
      *wrong = true;
    } else if (rc == CLT_OK && base_shared && (base_fault || n_failed > 0) && stage->instance) {
      rc = add_result(c, instance, &stage->inputs, false, false, "the default configuration fails at these sizes",
                      error);
      *unfit = true;
      n_left = 0;
    }
    for (size_t k = 0, f = 0; rc == CLT_OK && !*wrong && !*unfit && prepared + late > 0 && k < n; k++) {
      attempt *a = &attempts[of_check[k]];
      const clt_recipe recipe = a->check.recipe;
      const bool fails = f < n_failed && of_failed[f] == k;
      const clt_check_answer *other = fails ? &others[f++] : NULL;
      const bool shared =
          fails && (is_standard || base_shared ||
                    (has_standard && (!other->done || other->impossible || other->reason != CLT_REASON_NONE)));
      if (fails && !shared) {
        char *log = clt_format("%s%s%s%s", *sizes ? "at " : "", sizes, *sizes ? ": " : "", log_of(&answers[k]));
        clt_measurement_fail(m, answers[k].reason, log);
        free(log);
        if (recipe.judged || clt_instance_reference_kind(instance) == CLT_REFERENCE_DEFAULT)
          rc = accuse(c, m->config, stage, &a->check, error);
        *wrong = true;
      } else if (!answers[k].done) {
        rc = add_result(c, instance, &recipe, a->check.mirrored, false, late ? "no time was left" : "not reached",
                        error);
        a->settled = true;
      } else if (answers[k].reason == CLT_REASON_NONE && !answers[k].impossible) {
        rc = add_result(c, instance, &recipe, a->check.mirrored, true, a->why, error);
        a->settled = true;
      } else if (late || round + 1 == MOST_ROUNDS || !weaken(a, instance, standard)) {
        rc = add_result(c, instance, &recipe, a->check.mirrored, false, log_of(&answers[k]), error);
        a->settled = true;
      }
      n_left -= a->settled;
    }
    if (rc == CLT_OK && !*wrong && !*unfit && n == 0 && prepared)
      rc = add_result(c, instance, &stage->inputs, false, true, NULL, error);
    if (rc == CLT_OK && !*wrong && n == 0 && late)
      rc = add_result(c, instance, &stage->inputs, false, false, "it takes too long", error);
    for (size_t k = 0; k < n; k++)
      if (answers[k].took_s > 0 && (c->check_s == 0 || answers[k].took_s < c->check_s)) c->check_s = answers[k].took_s;
    clear_answers(answers, n);
    clear_answers(others, n_failed);
    clt_measurement_release(&seen);
    clt_measurement_release(&beside);
  }
  free(sizes);
  return rc;
}

/* At most so many elements that memory suffices and the stage takes about limit_s, judging by a smaller one. */
static double elements_within(const clt_checking *c, const clt_check_stage *ragged, double limit_s) {
  const clt_plan_extent extent = clt_instance_extent(ragged->instance, ragged->config);
  const double elements = clt_instance_elements(ragged->instance);
  const clt_device_info *device = clt_instance_device(c->instance);
  const double memory = fmin(MEMORY_SHARE * (double)device->global_memory_bytes, MOST_BYTES);
  const double by_memory = elements * memory / fmax(extent.bytes, 1);
  const double elements_s = fmax(c->check_s - CHECK_S, 0.1 * c->check_s);
  const double by_time = elements * LARGE_SHARE * limit_s / fmax(elements_s, 1e-6);
  return fmin(MOST_ELEMENTS, fmin(by_memory, by_time));
}

/* Gives a stage its checks. Data files are no reference for other inputs: there the default configuration judges. */
static void choose_checks(clt_check_stage *stage, const clt_instance *instance, clt_config config) {
  const clt_instance *at = stage->instance ? stage->instance : instance;
  stage->n_checks =
      clt_checks_list(stage->checks, clt_instance_problem(instance), clt_instance_assumes_finite(instance, config));
  if (clt_instance_reference_kind(instance) != CLT_REFERENCE_FILE) return;
  const clt_config judge = clt_instance_default(at);
  for (size_t i = 0; i < stage->n_checks; i++)
    stage->checks[i].recipe.judged = true, stage->checks[i].recipe.judge = judge;
  if (stage->instance) stage->inputs = (clt_recipe){.inputs = CLT_INPUTS_OTHER, .judged = true, .judge = judge};
}

int clt_check_margins(clt_margin **out, size_t *n, clt_checking *c, clt_config config, clt_error *error) {
  clt_check checks[CLT_MAX_CHECKS];
  clt_check_answer answers[CLT_MAX_CHECKS] = {0};
  const char *names[CLT_MAX_CHECKS / 2];
  clt_measurement seen;
  const size_t n_names = clt_instance_inputs(names, CLT_MAX_CHECKS / 2, c->instance);
  const clt_recipe by_default = {.judged = clt_instance_reference_kind(c->instance) == CLT_REFERENCE_FILE,
                                 .judge = clt_instance_reference_configuration(c->instance)};
  for (size_t i = 0; i < 2 * n_names; i++) {
    checks[i] = (clt_check){by_default, false};
    checks[i].recipe.inputs = CLT_INPUTS_OMITTED;
    checks[i].recipe.variant = i % 2;
    checks[i].recipe.only = names[i / 2];
  }
  clt_margin *margins = clt_new_array(n_names, sizeof *margins);
  int rc = margins ? run_checks(&seen, answers, c, c->instance, config, &clt_own_inputs, checks, 2 * n_names, 0, error)
                   : clt_fail_memory(error);
  if (rc) return free(margins), rc;
  for (size_t i = 0; i < n_names; i++) {
    const clt_check_answer *last = &answers[2 * i], *middle = &answers[2 * i + 1];
    margins[i] = (clt_margin){names[i], last->done && !last->impossible ? last->margin : NAN,
                              middle->done && !middle->impossible ? middle->margin : NAN,
                              clt_instance_relative_tolerance(c->instance)};
  }
  clear_answers(answers, 2 * n_names);
  clt_measurement_release(&seen);
  *out = margins;
  *n = n_names;
  return CLT_OK;
}

static double few_items(const clt_checking *c, clt_config config) {
  const double items = clt_instance_extent(c->instance, config).items;
  return fmin(fmax(items * RUN_S / fmax(c->run_s, 1e-7), LEAST_ITEMS), MOST_ITEMS);
}

int clt_check_stages(clt_check_stage out[3], size_t *n_stages, clt_checking *c, clt_config config, clt_error *error) {
  size_t n = 0;
  int rc = clt_stage_new_ragged(&out[n++], c->instance, config, few_items(c, config), error);
  const bool even = rc == CLT_OK && out[0].instance == NULL;
  if (even) rc = clt_stage_new_even(&out[n++], c->instance, config, error);
  const bool own = rc == CLT_OK && out[n - 1].instance == NULL;
  if (rc == CLT_OK && own) out[n++] = (clt_check_stage){.kind = CLT_SIZES_OWN, .config = config};
  if (rc == CLT_OK) choose_checks(&out[n - 1], c->instance, config);
  if (rc == CLT_OK && !own) {
    rc = clt_stage_new_large(&out[n++], c->instance, config, MOST_ELEMENTS, 0, 0, even, error);
    out[n - 1].inputs = (clt_recipe){.inputs = CLT_INPUTS_OTHER, .stays = CLT_STAYS_INTEGERS};
  }
  *n_stages = n;
  return rc;
}

/* NaN and infinities are checked only if their results are defined. */
static int tell_left_out(clt_checking *c, const clt_instance *at, clt_config config, clt_error *error) {
  const clt_reference_kind kind = clt_instance_reference_kind(c->instance);
  const bool promised = clt_instance_assumes_finite(c->instance, config);
  const bool stated = kind == CLT_REFERENCE_KERNEL || kind == CLT_REFERENCE_MODULE;
  int rc = CLT_OK;
  for (unsigned variant = CLT_SPECIAL_NAN; rc == CLT_OK && (promised || !stated) && variant <= CLT_SPECIAL_INFINITY;
       variant++) {
    const clt_recipe recipe = {CLT_INPUTS_SPECIAL, variant};
    if (clt_recipe_applies(clt_instance_problem(c->instance), &recipe))
      rc = add_result(c, at, &recipe, false, false,
                      promised ? "a compiler option promises that there are none"
                               : "no reference kernel or function defines the result",
                      error);
  }
  return rc;
}

/* All checks: at ragged sizes, else at even ones, else at the tuning's own. Then one or more at large sizes. */
int clt_check_config(clt_checking *c, clt_measurement *m, clt_error *error) {
  const clt_instance *instance = c->instance;
  const double few = few_items(c, m->config);
  clt_check_stage stage = {0};
  bool wrong = false, unfit = true, even = false;
  int rc = CLT_OK;
  for (clt_sizes_kind kind = CLT_SIZES_RAGGED; rc == CLT_OK && unfit && !wrong;
       kind = kind == CLT_SIZES_RAGGED ? CLT_SIZES_EVEN : CLT_SIZES_OWN) {
    clt_stage_release(&stage);
    stage = (clt_check_stage){.kind = CLT_SIZES_OWN, .config = m->config};
    even = kind == CLT_SIZES_EVEN;
    if (kind == CLT_SIZES_RAGGED) rc = clt_stage_new_ragged(&stage, instance, m->config, few, error);
    if (kind == CLT_SIZES_EVEN) rc = clt_stage_new_even(&stage, instance, m->config, error);
    if (rc || (kind != CLT_SIZES_OWN && stage.instance == NULL)) continue;
    unfit = false;
    choose_checks(&stage, instance, m->config);
    rc = check_stage(&wrong, &unfit, c, m, &stage, c->thorough ? 0 : 2 * c->limit_s, error);
  }
  if (rc == CLT_OK && !wrong) rc = tell_left_out(c, stage.instance ? stage.instance : instance, m->config, error);
  size_t n_turns = 0;
  for (size_t i = 0; stage.instance && i < clt_instance_n_sizes(instance); i++)
    n_turns += clt_instance_size(instance, i).value > 8;
  if (!c->thorough && n_turns > 1) n_turns = 1;
  for (size_t turn = 0; rc == CLT_OK && !wrong && turn < n_turns; turn++) {
    const double limit_s = c->thorough ? 60 : c->limit_s;
    /* First as large as time seems to allow, then in proportion to the tuning's. */
    static const double factors[] = {0, 4, 1.5};
    const double most = elements_within(c, &stage, limit_s);
    bool late = true;
    for (size_t i = most < clt_instance_elements(instance); rc == CLT_OK && !wrong && late && i < 3; i++) {
      const size_t n_before = c->n_results;
      clt_check_stage large;
      rc = clt_stage_new_large(&large, instance, m->config, most, factors[i], turn, even, error);
      large.inputs = (clt_recipe){.inputs = CLT_INPUTS_OTHER,
                                  .stays = CLT_STAYS_INTEGERS,
                                  .judged = clt_instance_reference_kind(instance) == CLT_REFERENCE_FILE};
      if (rc == CLT_OK && large.instance) {
        large.inputs.judge = clt_instance_default(large.instance);
        rc = check_stage(&wrong, &unfit, c, m, &large, limit_s, error);
      }
      late = rc == CLT_OK && c->n_results > n_before && !c->results[c->n_results - 1].passed;
      clt_stage_release(&large);
    }
  }
  clt_stage_release(&stage);
  return rc;
}

/* --- of a session --- */

static int make_room(void *user, clt_error *error) {
  clt_session *s = user;
  if (s->evaluator->keep == NULL || s->evaluator_state == NULL) return CLT_OK;
  return s->evaluator->keep(s->evaluator_state, NULL, 0, NULL, error);
}

int clt_session_verify(clt_session *s, clt_measurement *m, clt_error *error) {
  const clt_instance *instance = s->settings->instance;
  clt_tune_result *result = s->result;
  clt_tune_settings settings = *s->settings;
  if (instance == NULL || !s->evaluator->measures_device || clt_problem_is_command(clt_instance_problem(instance)) ||
      clt_instance_reference_kind(instance) == CLT_REFERENCE_NONE)
    return CLT_OK;
  settings.evaluator = s->evaluator->name;
  clt_checking c = {.instance = instance,
                    .settings = &settings,
                    .run_s = m->time_s,
                    .limit_s = fmax(CHECKS_S, CHECKS_SHARE * (clt_now_s() - s->start_s)),
                    .accused = s->accused,
                    .make_room = make_room,
                    .user = s};
  int rc = CLT_OK;
  if (s->finalist_answer.done && clt_recipe_applies(clt_instance_problem(instance), &s->finalist_check.recipe))
    rc = add_result(&c, instance, &s->finalist_check.recipe, false, !s->finalist_answer.impossible,
                    s->finalist_answer.log, error);
  const double began_s = clt_now_s();
  if (rc == CLT_OK) rc = clt_check_config(&c, m, error);
  result->checks_s += clt_now_s() - began_s;
  s->accused = c.accused;
  /* The last one that passes is the winner, even if others fail after it. */
  if (rc == CLT_OK && clt_measurement_correct(m)) {
    clt_check_results_clear(&result->checks, &result->n_checks);
    result->checks = c.results;
    result->n_checks = c.n_results;
  } else {
    clt_check_results_clear(&c.results, &c.n_results);
  }
  if (rc == CLT_OK && c.allied)
    rc = clt_session_note(s, error,
                          "two finalists differ from the default configuration in the same check and agree with each "
                          "other, so the default configuration may be the incorrect one; give the problem a "
                          "\"Reference\" that decides");
  return rc;
}
