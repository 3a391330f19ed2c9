/* Runs the check plan of a prospective winner (docs/explanation/trust.md). */
#include "base/base.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "session/check_stage.h"
#include "worker/pool.h"

#define RUN_S 5e-4 /* a run of a ragged stage takes at most about so long */
#define LEAST_ITEMS 256.0
#define MOST_ITEMS 65536.0
#define MOST_ELEMENTS 20971520.0 /* 1.25 * 2^24: above 2^24 not every integer is a float */
#define CHECK_S 4e-3             /* of a check, however small its inputs */
#define LARGE_SHARE 2.0          /* of a small check's time per element most is overhead */
#define MEMORY_SHARE 0.125       /* of the device's memory */
#define MOST_BYTES 2e9
#define THOROUGH_S 60.0 /* the limit of a large stage for `clatune verify` */
/* Large sizes are chosen for this share of a search's time, and at least so many seconds; it may become PATIENCE times
 * that, as on a busy machine. */
#define CHECKS_SHARE 0.02
#define CHECKS_S 0.8
#define PATIENCE 3.0
#define QUICK 0.5    /* of that: another large size is tried */
#define SMALL_S 20.0 /* of all checks at small sizes, which take a second if the machine is idle */

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

clt_recipe clt_recipe_with_judge(clt_recipe recipe, const clt_instance *at) {
  recipe.judged = clt_instance_reference_kind(at) == CLT_REFERENCE_FILE;
  recipe.judge = clt_instance_reference_configuration(at);
  return recipe;
}

/* Gives a stage its checks. */
static void choose_checks(clt_check_stage *stage, const clt_instance *instance, clt_config config) {
  const clt_instance *at = stage->instance ? stage->instance : instance;
  const bool finite = clt_instance_stays_finite(instance, config) != NULL;
  stage->n_checks = clt_checks_list(stage->checks, clt_instance_problem(instance), finite);
  for (size_t i = 0; i < stage->n_checks; i++)
    stage->checks[i].recipe = clt_recipe_with_judge(stage->checks[i].recipe, at);
  if (stage->instance && clt_instance_reference_kind(at) == CLT_REFERENCE_FILE)
    stage->inputs = clt_recipe_with_judge((clt_recipe){.inputs = CLT_INPUTS_OTHER}, at);
}

/* Makes a large stage; on other inputs, without checks of its own. */
static int new_large(clt_check_stage *out, const clt_checking *c, clt_config config, double elements,
                     double quick_bytes, clt_size_growth growth, size_t turn, bool even, clt_error *error) {
  const double memory = (double)clt_instance_device(c->instance)->global_memory_bytes;
  const clt_stage_limits limits = {elements, fmin(MEMORY_SHARE * memory, MOST_BYTES), quick_bytes};
  const int rc = clt_stage_new_large(out, c->instance, config, limits, growth, turn, even, error);
  out->inputs = clt_recipe_with_judge((clt_recipe){.inputs = CLT_INPUTS_OTHER, .stays = CLT_STAYS_INTEGERS},
                                      out->instance ? out->instance : c->instance);
  return rc;
}

int clt_check_margins(clt_margin **out, size_t *n, clt_checking *c, clt_config config, clt_error *error) {
  clt_check checks[CLT_MAX_CHECKS];
  clt_check_answer answers[CLT_MAX_CHECKS] = {0};
  const char *names[CLT_MAX_CHECKS / 2];
  clt_measurement seen;
  const size_t n_names = clt_instance_inputs(names, CLT_MAX_CHECKS / 2, c->instance);
  const clt_recipe omitted = clt_recipe_with_judge((clt_recipe){CLT_INPUTS_OMITTED}, c->instance);
  for (size_t i = 0; i < 2 * n_names; i++) {
    checks[i] = (clt_check){.recipe = omitted};
    checks[i].recipe.variant = i % 2;
    checks[i].recipe.only = names[i / 2];
  }
  clt_margin *margins = clt_new_array(n_names, sizeof *margins);
  int rc =
      margins ? clt_checking_run(&seen, answers, c, c->instance, config, &clt_own_inputs, checks, 2 * n_names, 0, error)
              : clt_fail_memory(error);
  if (rc) {
    clt_check_answers_clear(answers, 2 * n_names);
    free(margins);
    return rc;
  }
  for (size_t i = 0; i < n_names; i++) {
    const clt_check_answer *last = &answers[2 * i], *middle = &answers[2 * i + 1];
    margins[i] = (clt_margin){names[i], last->done && !last->impossible ? last->margin : NAN,
                              middle->done && !middle->impossible ? middle->margin : NAN,
                              clt_instance_relative_tolerance(c->instance)};
  }
  clt_check_answers_clear(answers, 2 * n_names);
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
  if (rc == CLT_OK && !own)
    rc = new_large(&out[n++], c, config, MOST_ELEMENTS, INFINITY, CLT_GROWS_FULLY, 0, even, error);
  *n_stages = n;
  return rc;
}

/* NaN and infinities are checked only if their results are defined. */
static int tell_left_out(clt_checking *c, const clt_instance *at, clt_config config, clt_error *error) {
  const char *why = clt_instance_stays_finite(c->instance, config);
  int rc = CLT_OK;
  for (unsigned variant = CLT_SPECIAL_NAN; rc == CLT_OK && why && variant <= CLT_SPECIAL_INFINITY; variant++) {
    const clt_recipe recipe = {CLT_INPUTS_SPECIAL, variant};
    if (clt_recipe_applies(clt_instance_problem(c->instance), &recipe))
      rc = clt_checking_add(c, at, &recipe, false, why, error);
  }
  return rc;
}

/* A check at large sizes: as large as time seems to allow, else in proportion to the tuning's. If that was quick,
 * another one in which the other sizes grow. thorough: with each of the sizes as the long one. */
static int check_large(bool *wrong, clt_checking *c, clt_measurement *m, const clt_check_stage *small, bool even,
                       clt_error *error) {
  const clt_instance *instance = c->instance;
  const double began_s = clt_now_s(), aim_s = c->thorough ? THOROUGH_S : c->aim_s,
               limit_s = c->thorough ? THOROUGH_S : PATIENCE * c->aim_s;
  const double elements_s = fmax(c->check_s - CHECK_S, 0.1 * c->check_s);
  const double most_times = LARGE_SHARE * aim_s / fmax(elements_s, 1e-6), /* the small stage's work */
      most = fmin(most_times * clt_instance_elements(small->instance), MOST_ELEMENTS),
               quick_bytes = most_times * (double)clt_instance_extent(small->instance, small->config).bytes;
  size_t n_extents = 0;
  int rc = CLT_OK;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++)
    n_extents += clt_instance_size(instance, i).value > CLT_SMALL_SIZE;
  for (size_t turn = 0; rc == CLT_OK && !*wrong && turn < n_extents && (turn == 0 || c->thorough); turn++) {
    bool late = true, unfit = false;
    for (clt_size_growth growth = most < clt_instance_elements(instance) ? CLT_GROWS_4 : CLT_GROWS_FULLY;
         rc == CLT_OK && !*wrong && growth <= CLT_GROWS_OTHERS; growth++) {
      const size_t n_before = c->n_results;
      clt_check_stage large;
      if (growth == CLT_GROWS_OTHERS ? n_extents < 2 || clt_now_s() - began_s > QUICK * aim_s : !late) continue;
      rc = new_large(&large, c, m->config, most, quick_bytes, growth, turn, even, error);
      if (rc == CLT_OK && large.instance) rc = clt_check_stage_run(wrong, &unfit, c, m, &large, limit_s, error);
      late = rc == CLT_OK && (c->n_results == n_before || !c->results[c->n_results - 1].passed);
      const bool smallest = growth == CLT_GROWS_4 || growth == CLT_GROWS_HALF;
      if (rc == CLT_OK && smallest && large.instance && c->late && !*wrong)
        rc = clt_check_hang(wrong, c, m, &large, limit_s, error);
      if (rc == CLT_OK && large.instance == NULL && large.note && growth == CLT_GROWS_HALF)
        rc = clt_checking_add(c, instance, &large.inputs, false, large.note, error);
      clt_stage_release(&large);
    }
  }
  return rc;
}

/* All checks: at ragged sizes, else at even ones, else at the tuning's own; in the opposite order of work-items, or in
 * the usual one if the default configuration fails there. Then one or more at large sizes; if none passes, one at the
 * small ones in the usual order. */
int clt_check_config(clt_checking *c, clt_measurement *m, clt_error *error) {
  static const clt_sizes_kind kinds[] = {CLT_SIZES_RAGGED, CLT_SIZES_EVEN, CLT_SIZES_OWN};
  const clt_instance *instance = c->instance;
  const double few = few_items(c, m->config);
  clt_check_stage stage = {0};
  bool wrong = false, unfit = true, even = false;
  int rc = CLT_OK;
  const bool reserved = clt_workers_reserved();
  if (!reserved) clt_workers_reserve(true, true); /* the times of these builds mean nothing */
  c->more_follow = true;
  for (size_t i = 0; rc == CLT_OK && unfit && !wrong && i < 6; i++) {
    const clt_sizes_kind kind = kinds[i / 2];
    c->mirrored = i % 2 == 0;
    if (c->mirrored) { /* the usual order has the same stage */
      clt_stage_release(&stage);
      stage = (clt_check_stage){.kind = CLT_SIZES_OWN, .config = m->config};
      even = kind == CLT_SIZES_EVEN;
      if (kind == CLT_SIZES_RAGGED) rc = clt_stage_new_ragged(&stage, instance, m->config, few, error);
      if (even) rc = clt_stage_new_even(&stage, instance, m->config, error);
    }
    if (rc || (kind != CLT_SIZES_OWN && stage.instance == NULL)) continue;
    unfit = false;
    choose_checks(&stage, instance, m->config);
    rc = clt_check_stage_run(&wrong, &unfit, c, m, &stage, c->thorough ? 0 : fmax(SMALL_S, PATIENCE * c->aim_s), error);
  }
  const bool was_mirrored = c->mirrored;
  c->mirrored = c->more_follow = false;
  if (rc == CLT_OK && !wrong) rc = tell_left_out(c, stage.instance ? stage.instance : instance, m->config, error);
  if (rc == CLT_OK && !wrong && stage.instance) rc = check_large(&wrong, c, m, &stage, even, error);
  bool usual = !was_mirrored; /* any check at other sizes has passed with work-items in the usual order */
  for (size_t i = 0; i < c->n_results; i++)
    usual = usual || (c->results[i].passed && !c->results[i].mirrored && !c->results[i].own_sizes);
  if (rc == CLT_OK && !wrong && stage.instance && !usual) {
    const clt_recipe other = clt_recipe_with_judge((clt_recipe){CLT_INPUTS_OTHER}, stage.instance);
    stage.checks[0] = (clt_check){other, true};
    stage.n_checks = 1;
    rc = clt_check_stage_run(&wrong, &unfit, c, m, &stage, SMALL_S, error);
  }
  if (!reserved) clt_workers_reserve(false, false);
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
                    .aim_s = fmax(CHECKS_S, CHECKS_SHARE * (clt_now_s() - s->start_s)),
                    .accused = s->accused,
                    .unfollowed = s->unfollowed,
                    .allied = s->allied,
                    .make_room = make_room,
                    .tell = clt_session_note_waits,
                    .user = s};
  int rc = CLT_OK;
  if (s->finalist_answer.done && clt_recipe_applies(clt_instance_problem(instance), &s->finalist_check.recipe))
    rc = clt_checking_add(&c, instance, &s->finalist_check.recipe, !s->finalist_answer.impossible,
                          s->finalist_answer.impossible ? s->finalist_answer.log : NULL, error);
  const double began_s = clt_now_s();
  if (rc == CLT_OK) rc = clt_check_config(&c, m, error);
  result->checks_s += clt_now_s() - began_s;
  s->accused = c.accused;
  s->unfollowed = c.unfollowed;
  /* The last one that passes is the winner, even if others fail after it. */
  if (rc == CLT_OK && clt_measurement_correct(m)) {
    clt_check_results_clear(&result->checks, &result->n_checks);
    result->checks = c.results;
    result->n_checks = c.n_results;
  } else {
    clt_check_results_clear(&c.results, &c.n_results);
  }
  const bool is_new = c.allied && !s->allied;
  s->allied = c.allied;
  if (rc == CLT_OK && is_new)
    rc = clt_session_note(s, error,
                          "two finalists differ from the default configuration in the same check and agree with each "
                          "other, so the default configuration may be the incorrect one; give the problem a "
                          "\"Reference\" that decides");
  return rc;
}
