#include "eval/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fail.h"
#include "base/memory.h"

/* --- programs --- */

double clt_command_run_limit(const clt_command_context *context, double best_s) {
  bool times = context->command->figure.source == CLT_FIGURE_WALL; /* then the best is a run's time */
  if (!times || !(context->run_timeout_factor > 0 && best_s > 0)) return context->run_timeout_s;
  return fmin(context->run_timeout_s, fmax(context->run_timeout_floor_s, context->run_timeout_factor * best_s));
}

/* Programs run in the scratch folder, so names in it need no path. */
clt_command_places clt_command_places_in(const clt_command_context *context, const char *scratch) {
  const clt_command *command = context->command;
  return (clt_command_places){.scratch = scratch,
                              .folder = context->instance->problem->folder,
                              .parameters = command->parameters_file,
                              .input = command->batch.input,
                              .output = command->batch.output};
}

static int start(clt_evaluation *e, const clt_command_line *line, double limit_s, clt_evaluation_stage stage,
                 clt_error *error) {
  clt_command_places places = clt_command_places_in(e->context, e->scratch);
  clt_error why = {0};
  char **words = NULL, text[sizeof why.message + 600];
  int rc = clt_command_words(e->context->instance, line, e->config, &places, &words, &why);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
  if (rc) { /* an expression without a value for this configuration */
    clt_error_format(&why, text, sizeof text);
    clt_measurement_fail(&e->measurement, CLT_REASON_NOT_STARTED, text);
    e->stage = CLT_EVALUATION_DONE;
    return CLT_OK;
  }
  clt_words_free(e->words);
  e->words = words;
  e->stage = stage;
  const clt_program_run run = {
      .words = words, .environment = e->environment, .folder = e->scratch, .input = "", .limit_s = limit_s};
  return clt_program_begin(e->program, &run, error);
}

static int build_next(clt_evaluation *e, clt_error *error) {
  const clt_command *command = e->context->command;
  if (e->step == command->n_build) return e->stage = CLT_EVALUATION_BUILT, CLT_OK;
  return start(e, &command->build[e->step], e->context->compile_timeout_s, CLT_EVALUATION_BUILDING, error);
}

int clt_evaluation_begin(clt_evaluation *e, clt_config config, double best_s, clt_error *error) {
  const clt_instance *instance = e->context->instance;
  clt_measurement_release(&e->measurement);
  clt_measurement_init(&e->measurement, config);
  e->measurement.clock = CLT_CLOCK_HOST;
  e->config = config;
  e->best_s = best_s;
  e->step = 0;
  e->cold = 0;
  e->checked = e->context->command->check.n == 0;
  int rc = clt_scratch_new(&e->scratch, &e->context->run, e->name, instance, config, error);
  if (rc == 0) rc = clt_command_environment(instance, config, &e->environment, error);
  return rc ? rc : build_next(e, error);
}

int clt_evaluation_run(clt_evaluation *e, clt_error *error) {
  const clt_command_context *c = e->context;
  return start(e, &c->command->run, clt_command_run_limit(c, e->best_s), CLT_EVALUATION_RUNNING, error);
}

bool clt_evaluation_active(const clt_evaluation *e) {
  return e->stage == CLT_EVALUATION_BUILDING || e->stage == CLT_EVALUATION_RUNNING ||
         e->stage == CLT_EVALUATION_CHECKING;
}

/* --- what became of them --- */

/* Why a program that ended has failed; NONE: it has not. */
static clt_reason judge(clt_evaluation_stage stage, const clt_program_end *end) {
  bool building = stage == CLT_EVALUATION_BUILDING, checking = stage == CLT_EVALUATION_CHECKING;
  if (!end->started) return CLT_REASON_NOT_STARTED;
  if (!end->expired && WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0) return CLT_REASON_NONE;
  if (checking) return CLT_REASON_CHECK_FAILED;
  if (end->expired) return building ? CLT_REASON_COMPILE_TIMEOUT : CLT_REASON_RUN_TIMEOUT;
  if (WIFSIGNALED(end->status)) return building ? CLT_REASON_COMPILE_CRASH : CLT_REASON_RUN_CRASH;
  return building ? CLT_REASON_COMPILE_ERROR : CLT_REASON_EXIT_STATUS;
}

static int fail(clt_evaluation *e, clt_reason reason, const clt_program_end *end, const char *why, clt_error *error) {
  char *story = clt_program_story(e->program, e->words, end);
  char *text = story ? clt_format("%s%s%s", why, why[0] ? "\n" : "", story) : NULL;
  if (text) clt_measurement_fail(&e->measurement, reason, text);
  free(story);
  free(text);
  e->stage = CLT_EVALUATION_DONE;
  return text ? CLT_OK : clt_fail_memory(error);
}

static bool enough(const clt_evaluation *e) {
  const clt_command_context *c = e->context;
  const clt_measurement *m = &e->measurement;
  double least = INFINITY;
  for (size_t i = 0; i < m->n_runs; i++) least = fmin(least, m->runs_s[i]);
  if ((int64_t)m->n_runs >= c->max_runs) return true;
  if (e->best_s > 0 && c->abandon_factor > 0 && least > c->abandon_factor * e->best_s) return true;
  if (m->phases.runs_s >= c->max_total_s) return true;
  return (int64_t)m->n_runs >= c->min_runs && clt_runs_steady(m->runs_s, m->n_runs, c->steady);
}

static int go_on(clt_evaluation *e, clt_error *error) {
  clt_measurement *m = &e->measurement;
  if (!e->checked)
    return start(e, &e->context->command->check, e->context->check_timeout_s, CLT_EVALUATION_CHECKING, error);
  if (e->single) return e->stage = CLT_EVALUATION_BUILT, CLT_OK;
  if (m->n_runs == 0 || !enough(e)) return clt_evaluation_run(e, error);
  m->time_s = clt_figure_summary(&e->context->command->figure, m->runs_s, m->n_runs);
  e->stage = CLT_EVALUATION_DONE;
  return CLT_OK;
}

static int take_run(clt_evaluation *e, const clt_program_end *end, clt_error *error) {
  char why[256] = "";
  double figure = NAN;
  clt_measurement *m = &e->measurement;
  clt_reason reason =
      clt_figure_take(&figure, &e->context->command->figure, e->program, end, e->scratch, why, sizeof why);
  if (reason != CLT_REASON_NONE) return fail(e, reason, end, why, error);
  bool cold = !e->single && e->cold < e->context->warm_up;
  e->cold += cold;
  if (!cold) m->runs_s[m->n_runs++] = figure;
  if (!cold) m->phases.runs_s += end->wall_s;
  return go_on(e, error);
}

static int take_end(clt_evaluation *e, const clt_program_end *end, clt_error *error) {
  clt_phases *phases = &e->measurement.phases;
  clt_reason reason = judge(e->stage, end);
  if (e->stage == CLT_EVALUATION_BUILDING) phases->build_s += end->wall_s;
  if (e->stage == CLT_EVALUATION_CHECKING) phases->verify_s += end->wall_s;
  if (reason != CLT_REASON_NONE) return fail(e, reason, end, "", error);
  if (e->stage == CLT_EVALUATION_BUILDING) return e->step++, build_next(e, error);
  if (e->stage == CLT_EVALUATION_RUNNING) return take_run(e, end, error);
  e->checked = true;
  return go_on(e, error);
}

int clt_evaluation_poll(clt_evaluation *e, clt_error *error) {
  clt_program_end end;
  if (!clt_evaluation_active(e)) return CLT_OK;
  int ended = clt_program_poll(e->program, &end, error);
  return ended > 0 ? take_end(e, &end, error) : ended;
}

void clt_evaluation_end(clt_evaluation *e, clt_measurement *out) {
  if (out)
    *out = e->measurement;
  else
    clt_measurement_release(&e->measurement);
  clt_measurement_init(&e->measurement, CLT_CONFIG_NONE);
  clt_scratch_remove(e->scratch);
  clt_words_free(e->environment);
  clt_words_free(e->words);
  e->scratch = NULL;
  e->environment = e->words = NULL;
  e->stage = CLT_EVALUATION_NONE;
}
