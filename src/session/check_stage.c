/* Makes the checks of one stage of the check plan: by the winner, and those that it fails by the default configuration.
 */
#include "session/check_stage.h"
#include "base/base.h"
#include "base/text.h"
#include "problem/guidance.h"

#define DEFAULT_PATIENCE 5.0 /* the default configuration may take so many times the limit of a stage */
#define MOST_ROUNDS 4
#define HANG_PATIENCE 5.0 /* a run that takes so many times the limit of a stage hangs */
#define BUILD_PATIENCE_S 60.0

int clt_checking_add(clt_checking *c, const clt_instance *instance, const clt_recipe *recipe, bool passed,
                     const char *why, clt_error *error) {
  if (clt_grow(&c->results, &c->capacity, c->n_results + 1, sizeof *c->results)) return clt_fail_memory(error);
  const clt_reference_kind kind = clt_instance_reference_kind(instance);
  clt_check_result *result = &c->results[c->n_results];
  *result = (clt_check_result){.sizes = clt_instance_sizes_text(instance),
                               .own_sizes = instance == c->instance,
                               .inputs = strdup(clt_recipe_name(recipe)),
                               .mirrored = c->mirrored,
                               .by_default = recipe->judged || kind == CLT_REFERENCE_DEFAULT,
                               .passed = passed,
                               .why = why ? strdup(why) : NULL};
  c->n_results++;
  return result->sizes && result->inputs && (!why || result->why) ? CLT_OK : clt_fail_memory(error);
}

int clt_checking_run(clt_measurement *seen, clt_check_answer *answers, clt_checking *c, const clt_instance *instance,
                     clt_config config, const clt_recipe *inputs, const clt_check *checks, size_t n, double limit_s,
                     clt_error *error) {
  clt_tune_settings settings = *c->settings;
  const clt_evaluator_setup setup = {.checks = checks,
                                     .n_checks = n,
                                     .answers = answers,
                                     .lenient = true,
                                     .mirrored = c->mirrored,
                                     .more_follow = c->more_follow,
                                     .inputs = inputs,
                                     .limit_s = limit_s};
  settings.finalists = 0;
  settings.log = NULL; /* already logged */
  clt_measurement_init(seen, config);
  int rc = clt_keep_configs(seen, setup, instance, &config, 1, NULL, &settings, error);
  if (rc != CLT_E_OPENCL || c->make_room == NULL) return rc;
  *error = (clt_error){0};
  clt_check_answers_clear(answers, n);
  rc = c->make_room(c->user, error);
  if (rc == CLT_OK) rc = clt_keep_configs(seen, setup, instance, &config, 1, NULL, &settings, error);
  return rc;
}

void clt_check_answers_clear(clt_check_answer *answers, size_t n) {
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
  const char *why; /* borrowed: why it is not as planned; NULL: it is */
  bool settled;
} attempt;

/* Where the checks of a stage are made, and by whom. */
typedef struct site {
  clt_checking *c;
  const clt_check_stage *stage;
  const clt_instance *instance;
  clt_config judge; /* the default configuration there, or the first valid one */
  bool has_judge, is_judge;
  char *sizes;
  double limit_s, began_s;
  attempt attempts[CLT_MAX_CHECKS];
} site;

/* One round: the checks that are not settled, made by the winner, and those that the winner fails by the default. */
typedef struct trial {
  attempt *attempts[CLT_MAX_CHECKS];
  clt_check checks[CLT_MAX_CHECKS];
  clt_check_answer answers[CLT_MAX_CHECKS], of_default[CLT_MAX_CHECKS];
  size_t n;
  clt_measurement winner; /* on the inputs of the stage */
  bool prepared, late;    /* neither: it cannot run there, or fails on the inputs of the stage */
  bool default_works;     /* on the inputs of the stage; true: not tried */
  bool default_late;      /* it ran out of time */
  char why[1100];         /* why it cannot run */
} trial;

static int pass_on(int code, const clt_error *why, clt_error *error) {
  return code == CLT_E_STOPPED || code == CLT_E_MEMORY ? clt_fail(error, code, "%s", why->message) : CLT_OK;
}

static int try_winner(trial *t, site *s, clt_error *error) {
  clt_error why = {0};
  *t = (trial){.default_works = true};
  for (size_t i = 0; i < s->stage->n_checks; i++)
    if (!s->attempts[i].settled) t->attempts[t->n] = &s->attempts[i], t->checks[t->n++] = s->attempts[i].check;
  const double left_s = s->limit_s > 0 ? fmax(s->limit_s - (clt_now_s() - s->began_s), 0.1) : 0;
  const int done = clt_checking_run(&t->winner, t->answers, s->c, s->instance, s->stage->config, &s->stage->inputs,
                                    t->checks, t->n, left_s, &why);
  t->late = done == CLT_E_AGAIN;
  t->prepared = done == CLT_OK && clt_measurement_correct(&t->winner);
  snprintf(t->why, sizeof t->why, "%s",
           done            ? why.message
           : t->winner.log ? t->winner.log
                           : clt_reason_text(t->winner.reason));
  s->c->late = t->late || (done == CLT_OK && t->winner.reason == CLT_REASON_RUN_TIMEOUT);
  for (size_t k = 0; k < t->n; k++) {
    const double took_s = t->answers[k].took_s;
    if (took_s > 0 && (s->c->check_s == 0 || took_s < s->c->check_s)) s->c->check_s = took_s;
  }
  return pass_on(done, &why, error);
}

/* Whether the winner fails on the inputs of the stage. At large sizes a long run is no fault; clt_check_hang judges. */
static bool fails_inputs(const trial *t, const site *s) {
  const clt_reason reason = t->winner.reason;
  const bool large = s->stage->kind == CLT_SIZES_LARGE;
  return !t->prepared && !t->late && is_fault(reason) && !(large && reason == CLT_REASON_RUN_TIMEOUT);
}

/* The default configuration tries the checks that the winner fails. */
static int try_default(trial *t, site *s, clt_error *error) {
  clt_check failed[CLT_MAX_CHECKS];
  clt_check_answer answers[CLT_MAX_CHECKS] = {0};
  size_t places[CLT_MAX_CHECKS], n = 0;
  clt_measurement seen;
  clt_error why = {0};
  const bool fails = fails_inputs(t, s);
  for (size_t k = 0; k < t->n; k++)
    if (t->answers[k].done && is_fault(t->answers[k].reason)) places[n] = k, failed[n++] = t->checks[k];
  if (n == 0 && !fails) return CLT_OK;
  if (s->is_judge) { /* it has tried already */
    t->default_works = !fails;
    for (size_t i = 0; i < n; i++)
      t->of_default[places[i]] = (clt_check_answer){.done = true, .reason = t->answers[places[i]].reason};
    return CLT_OK;
  }
  for (size_t i = 0; i < n; i++) t->of_default[places[i]].done = true; /* without a default the reference decides */
  if (!s->has_judge) return CLT_OK;
  const int done = clt_checking_run(&seen, answers, s->c, s->instance, s->judge, &s->stage->inputs, failed, n,
                                    DEFAULT_PATIENCE * s->limit_s, &why);
  t->default_late = done == CLT_E_AGAIN;
  t->default_works = t->default_late || (done == CLT_OK && clt_measurement_correct(&seen));
  for (size_t i = 0; i < n; i++) t->of_default[places[i]] = answers[i];
  clt_measurement_release(&seen);
  return pass_on(done, &why, error);
}

/* Which arguments the reference does not follow, if the default configuration is correct: each varies alone. */
static const char *name_unfollowed(site *s, const clt_recipe *recipe) {
  const char *names[CLT_MAX_CHECKS];
  clt_check checks[CLT_MAX_CHECKS];
  clt_check_answer answers[CLT_MAX_CHECKS] = {0};
  clt_measurement seen;
  clt_text text = {0};
  if (s->c->unfollowed) return s->c->unfollowed;
  const size_t n = clt_instance_varying(names, CLT_MAX_CHECKS, s->instance);
  for (size_t i = 0; i < n; i++) {
    checks[i] = (clt_check){.recipe = *recipe};
    checks[i].recipe.only = names[i];
  }
  const int done = clt_checking_run(&seen, answers, s->c, s->instance, s->judge, &s->stage->inputs, checks, n,
                                    DEFAULT_PATIENCE * s->limit_s, &(clt_error){0});
  clt_text_add(&text, "the reference does not follow");
  const size_t before = text.n;
  for (size_t i = 0; i < n; i++)
    if (answers[i].done && answers[i].reason == CLT_REASON_WRONG_OUTPUT)
      clt_text_printf(&text, "%s '%s'", text.n > before ? "," : "", names[i]);
  if (text.n == before) clt_text_add(&text, " these inputs");
  if (done == CLT_OK || done == CLT_E_AGAIN) clt_text_take(&s->c->unfollowed, &text, NULL);
  clt_text_release(&text);
  clt_check_answers_clear(answers, n);
  clt_measurement_release(&seen);
  return s->c->unfollowed ? s->c->unfollowed : "the reference does not follow these inputs";
}

/* What is next for a check that the default configuration does not pass or that cannot be made: other inputs, or the
 * default as the judge. False: nothing is left. */
static bool weaken(attempt *a, site *s) {
  clt_recipe *recipe = &a->check.recipe;
  const clt_reference_kind kind = clt_instance_reference_kind(s->instance);
  const bool moves = recipe->inputs == CLT_INPUTS_OTHER || recipe->inputs == CLT_INPUTS_RANGE;
  if (moves && recipe->stays == CLT_STAYS_NOTHING) {
    recipe->stays = CLT_STAYS_INTEGERS;
    a->why = "integers that the file states stay as they are: with others the default configuration fails";
    return true;
  }
  if (recipe->judged || kind == CLT_REFERENCE_DEFAULT || !s->has_judge) return false;
  recipe->stays = CLT_STAYS_NOTHING;
  a->why =
      recipe->inputs == CLT_INPUTS_OTHER ? name_unfollowed(s, recipe) : "the reference does not follow these inputs";
  recipe->judged = true;
  recipe->judge = s->judge;
  return true;
}

/* Notes a configuration that only the default configuration calls incorrect, on these inputs. If there was another
 * before, that one is asked: if both agree, the default may be the incorrect one. */
static int accuse(site *s, clt_config config, clt_recipe inputs, clt_error *error) {
  clt_checking *c = s->c;
  const clt_config before = c->accused == CLT_CONFIG_NONE || c->accused == config
                                ? CLT_CONFIG_NONE
                                : clt_instance_translate(s->instance, c->instance, c->accused);
  clt_check_answer none = {0};
  clt_measurement seen;
  clt_error why = {0};
  c->accused = config;
  if (before == CLT_CONFIG_NONE || c->allied) return CLT_OK;
  inputs.judged = true;
  inputs.judge = before;
  const int done = clt_checking_run(&seen, &none, c, s->instance, s->stage->config, &inputs, NULL, 0,
                                    DEFAULT_PATIENCE * s->limit_s, &why);
  c->allied = done == CLT_OK && clt_measurement_correct(&seen);
  clt_measurement_release(&seen);
  return pass_on(done, &why, error);
}

/* How a problem file says that inputs cannot occur. */
static const char *way_out(const clt_recipe *recipe) {
  if (recipe->inputs == CLT_INPUTS_OTHER) return "; an argument that must stay as it is gets \"Vary\": false";
  const bool hostile = recipe->inputs == CLT_INPUTS_RANGE || recipe->inputs == CLT_INPUTS_SPECIAL;
  return hostile ? "; an argument in which such numbers cannot occur gets \"HostileData\": false" : "";
}

/* Makes *m, which fails a check (NULL: on the inputs of the stage), a failure. One that the usual order of work-items
 * has, too, is told as that one's, which is easier to look into. */
static int tell_failure(site *s, clt_measurement *m, const clt_check *check, clt_reason reason, const char *why,
                        clt_error *error) {
  clt_checking *c = s->c;
  const clt_recipe *inputs = check ? &check->recipe : &s->stage->inputs;
  clt_check_answer answer = {0};
  clt_measurement seen;
  clt_error ignored = {0};
  bool by_order = c->mirrored;
  int done = CLT_OK;
  clt_measurement_init(&seen, m->config);
  c->more_follow = false;
  if (c->mirrored) {
    c->mirrored = false;
    done = clt_checking_run(&seen, &answer, c, s->instance, m->config, &s->stage->inputs, check, check != NULL,
                            DEFAULT_PATIENCE * s->limit_s, &ignored);
    c->mirrored = true;
    /* On the inputs of the stage; a check that was reached says more. */
    clt_check_answer plain = {.reason = done == CLT_OK ? seen.reason : CLT_REASON_NONE, .log = seen.log};
    if (check && answer.done && !answer.impossible) plain = answer;
    by_order = !is_fault(plain.reason);
    if (!by_order) reason = plain.reason, why = log_of(&plain);
  }
  const char *at = *s->sizes ? s->sizes : "the same sizes";
  char *log = clt_format("at %s%s: %s%s", at, by_order && !check ? ", work-items in the opposite order" : "", why,
                         check ? way_out(inputs) : "");
  clt_measurement_fail(m, reason, log);
  free(log);
  clt_measurement_release(&seen);
  clt_check_answers_clear(&answer, 1);
  const int rc = pass_on(done, &ignored, error);
  const bool by_default = inputs->judged || clt_instance_reference_kind(s->instance) == CLT_REFERENCE_DEFAULT;
  if (rc || by_order || !by_default) return rc;
  c->mirrored = false;
  return accuse(s, m->config, *inputs, error);
}

/* Reports the outcome of the k-th check of a round, or changes it for the next round. */
static int settle_check(bool *wrong, site *s, const trial *t, size_t k, clt_measurement *m, bool is_last,
                        clt_error *error) {
  attempt *a = t->attempts[k];
  const clt_check check = a->check;
  const clt_check_answer *answer = &t->answers[k], *other = &t->of_default[k];
  const bool fails = answer->done && is_fault(answer->reason);
  a->settled = true;
  if (fails && other->done && !other->impossible && other->reason == CLT_REASON_NONE) {
    *wrong = true;
    return tell_failure(s, m, &check, answer->reason, log_of(answer), error);
  }
  const bool passed = answer->done && answer->reason == CLT_REASON_NONE && !answer->impossible;
  const bool unclear = fails || (answer->done && answer->impossible);
  if (unclear && !t->late && !is_last && weaken(a, s)) {
    a->settled = false;
    return CLT_OK;
  }
  return clt_checking_add(s->c, s->instance, &check.recipe, passed,
                          passed         ? a->why
                          : answer->done ? log_of(answer)
                          : t->late      ? "no time was left"
                                         : "not reached",
                          error);
}

/* If the winner does not run, or fails on the inputs of the stage, or the stage proves nothing. *ends: that is so. */
static int settle_stage(bool *ends, bool *wrong, bool *unfit, site *s, const trial *t, clt_measurement *m,
                        clt_error *error) {
  const clt_recipe *inputs = &s->stage->inputs;
  const bool fault = fails_inputs(t, s);
  *ends = true;
  if (fault && t->default_late) {
    *unfit = s->stage->instance != NULL || s->c->mirrored;
    return clt_checking_add(s->c, s->instance, inputs, false,
                            "it fails, but the default configuration takes too long to judge that", error);
  }
  if (fault && t->default_works) {
    *wrong = true;
    return tell_failure(s, m, NULL, t->winner.reason, t->why, error);
  }
  if (!t->default_works) {
    *unfit = s->stage->instance != NULL || s->c->mirrored;
    const char *why = "the default configuration fails at these sizes";
    if (clt_problem_has_fixed_structure(clt_instance_problem(s->c->instance)))
      why =
          "the default configuration fails at these sizes; if the structure from a file depends on them, state its "
          "\"Fields\"";
    return clt_checking_add(s->c, s->instance, inputs, false, why, error);
  }
  if (!t->prepared && !t->late) { /* a configuration need not build or launch at other sizes */
    *unfit = s->stage->instance != NULL || s->c->mirrored;
    return clt_checking_add(s->c, s->instance, inputs, false, t->why, error);
  }
  if (t->n == 0)
    return clt_checking_add(s->c, s->instance, inputs, t->prepared, t->prepared ? NULL : "it takes too long", error);
  *ends = false;
  return CLT_OK;
}

int clt_check_stage_run(bool *wrong, bool *unfit, clt_checking *c, clt_measurement *m, const clt_check_stage *stage,
                        double limit_s, clt_error *error) {
  site s = {.c = c,
            .stage = stage,
            .instance = stage->instance ? stage->instance : c->instance,
            .limit_s = limit_s,
            .began_s = clt_now_s()};
  const clt_space *space = clt_instance_space(s.instance);
  s.judge = clt_instance_reference_configuration(s.instance);
  s.has_judge = clt_space_contains(space, s.judge);
  s.is_judge = clt_space_canonical(space, s.judge) == stage->config;
  s.sizes = clt_instance_sizes_text(s.instance);
  char limit[64] = "";
  int rc = s.sizes ? CLT_OK : clt_fail_memory(error);
  if (limit_s > 0) clt_snprintf(limit, sizeof limit, ", at most %.0f s", limit_s);
  if (rc == CLT_OK && c->tell) {
    char *what = clt_format("checking %s%s%s", s.sizes[0] ? s.sizes : "the file's sizes",
                            c->mirrored ? " in the opposite order" : "", limit);
    if (what) c->tell(c->user, what);
    free(what);
  }
  for (size_t i = 0; i < stage->n_checks; i++) s.attempts[i] = (attempt){.check = stage->checks[i]};
  bool ends = false;
  for (int round = 0; rc == CLT_OK && !ends && round < MOST_ROUNDS; round++) {
    trial t;
    rc = try_winner(&t, &s, error);
    if (rc == CLT_OK) rc = try_default(&t, &s, error);
    if (rc == CLT_OK) rc = settle_stage(&ends, wrong, unfit, &s, &t, m, error);
    for (size_t k = 0; rc == CLT_OK && !ends && !*wrong && k < t.n; k++)
      rc = settle_check(wrong, &s, &t, k, m, round + 1 == MOST_ROUNDS, error);
    bool all = true;
    for (size_t i = 0; i < stage->n_checks; i++) all = all && s.attempts[i].settled;
    ends = ends || *wrong || all;
    clt_check_answers_clear(t.answers, t.n);
    clt_check_answers_clear(t.of_default, t.n);
    clt_measurement_release(&t.winner);
  }
  free(s.sizes);
  return rc;
}

int clt_check_hang(bool *wrong, clt_checking *c, clt_measurement *m, const clt_check_stage *stage, double limit_s,
                   clt_error *error) {
  const clt_config judge = clt_instance_reference_configuration(stage->instance);
  const double patience_s = HANG_PATIENCE * limit_s;
  const clt_tune_settings *usual = c->settings;
  clt_tune_settings patient = *usual;
  clt_measurement seen;
  clt_error why = {0};
  char text[32];
  if (!clt_space_contains(clt_instance_space(stage->instance), judge)) return CLT_OK;
  const double began_s = clt_now_s();
  int done = clt_checking_run(&seen, NULL, c, stage->instance, judge, &stage->inputs, NULL, 0, limit_s, &why);
  const double default_s = clt_now_s() - began_s;
  const bool quick = done == CLT_OK && clt_measurement_correct(&seen);
  clt_measurement_release(&seen);
  if (!quick) return pass_on(done, &why, error);
  why = (clt_error){0};
  clt_setting *settings = clt_new_array(usual->n_evaluator_settings + 1, sizeof *settings);
  if (settings == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < usual->n_evaluator_settings; i++) settings[i] = usual->evaluator_settings[i];
  clt_snprintf(text, sizeof text, "%g", patience_s);
  settings[usual->n_evaluator_settings] = (clt_setting){"run-timeout", text};
  patient.evaluator_settings = settings;
  patient.n_evaluator_settings++;
  c->settings = &patient;
  done = clt_checking_run(&seen, NULL, c, stage->instance, stage->config, &stage->inputs, NULL, 0,
                          patience_s + BUILD_PATIENCE_S, &why);
  c->settings = usual;
  free(settings);
  if (done == CLT_OK && seen.reason == CLT_REASON_RUN_TIMEOUT) {
    char *sizes = clt_instance_sizes_text(stage->instance);
    char *log = clt_format("at %s: a run does not end within %.0f s; the default configuration takes %.1f s in all",
                           sizes ? sizes : "", patience_s, default_s);
    clt_measurement_fail(m, CLT_REASON_RUN_TIMEOUT, log);
    free(log);
    free(sizes);
    *wrong = true;
  }
  clt_measurement_release(&seen);
  return pass_on(done, &why, error);
}
