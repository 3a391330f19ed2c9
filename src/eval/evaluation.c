/* One configuration of a command: its scratch folder, its build, its runs, its check. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "eval/command.h"
#include "measurement/statistics.h"

#define COPIED_AT_ONCE ((size_t)1 << 26)

/* --- the scratch folder --- */

/* The place of a file that is listed as "a/b/c", with the folders above it. */
static int make_place(char **out, const char *scratch, const char *relative, clt_error *error) {
  char *to = clt_path_join(scratch, relative);
  int rc = to ? CLT_OK : clt_fail_memory(error);
  for (char *slash = to ? strchr(to + strlen(scratch) + 1, '/') : NULL; rc == CLT_OK && slash;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(to, 0700) && errno != EEXIST) rc = clt_fail_errno(error, CLT_E_IO, "make the folder", to);
    *slash = '/';
  }
  if (rc) return free(to), rc;
  *out = to;
  return CLT_OK;
}

/* With its permissions to run, but as a new file: make goes by that. */
static int copy_file(const char *to, const char *from, clt_error *error) {
  struct stat status;
  ssize_t sent = 0;
  int rc = CLT_OK, in = open(from, O_RDONLY | O_CLOEXEC);
  if (in < 0) return clt_fail_errno(error, CLT_E_IO, "open", from);
  mode_t mode = fstat(in, &status) == 0 ? (status.st_mode & 0100) | 0600 : 0600;
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  if (out < 0) rc = clt_fail_errno(error, CLT_E_IO, "create", to);
  for (sent = rc == CLT_OK; sent > 0 || (sent < 0 && errno == EINTR);) sent = sendfile(out, in, NULL, COPIED_AT_ONCE);
  if (sent < 0) rc = clt_fail_errno(error, CLT_E_IO, "copy", from);
  close(in);
  if (out >= 0 && close(out) != 0 && rc == CLT_OK) rc = clt_fail_errno(error, CLT_E_IO, "write", to);
  return rc;
}

static int copy_to_scratch(void *user, const char *relative, const char *path, bool folder, clt_error *error) {
  char *to = NULL;
  int rc = make_place(&to, user, relative, error);
  if (rc == CLT_OK && !folder) rc = copy_file(to, path, error);
  if (rc == CLT_OK && folder && mkdir(to, 0700) && errno != EEXIST)
    rc = clt_fail_errno(error, CLT_E_IO, "make the folder", to);
  free(to);
  return rc;
}

int clt_scratch_new(char **out, const clt_command_state *s, const char *name, clt_config config, clt_error *error) {
  const clt_command *command = s->command;
  char *path = NULL;
  int rc = clt_run_folder_make(&path, &s->run, name, error);
  if (rc) return rc;
  clt_remove_tree(path, true);
  rc = clt_command_each_file(s->setup.instance, copy_to_scratch, path, error);
  for (size_t i = 0; rc == CLT_OK && i < command->n_links; i++) {
    char *to = NULL, *target = clt_problem_file(clt_instance_problem(s->setup.instance), command->links[i]);
    rc = target ? make_place(&to, path, clt_name_in_scratch(command->links[i]), error) : clt_fail_memory(error);
    if (rc == CLT_OK && symlink(target, to)) rc = clt_fail_errno(error, CLT_E_IO, "make the link", to);
    free(target);
    free(to);
  }
  if (rc == CLT_OK && command->parameters_file && config != CLT_CONFIG_NONE) {
    char *to = NULL, *text = NULL;
    rc = make_place(&to, path, command->parameters_file, error);
    if (rc == CLT_OK) rc = clt_command_parameters(s->setup.instance, config, &text, error);
    if (rc == CLT_OK) rc = clt_file_write(to, text, strlen(text), error);
    free(text);
    free(to);
  }
  if (rc) return clt_scratch_remove(path), rc;
  *out = path;
  return CLT_OK;
}

void clt_scratch_remove(char *path) {
  if (path) clt_remove_tree(path, false);
  free(path);
}

/* --- its programs --- */

clt_command_places clt_command_places_in(const clt_command_state *s, const char *scratch) {
  const clt_command *command = s->command;
  return (clt_command_places){.scratch = scratch,
                              .folder = s->setup.instance->problem->folder,
                              .parameters = command->parameters_file,
                              .input = command->batch.input,
                              .output = command->batch.output};
}

static int start_program(clt_evaluation *e, const clt_command_line *line, double limit_s, clt_evaluation_stage stage,
                         clt_error *error) {
  clt_command_places places = clt_command_places_in(e->all, e->scratch);
  clt_error why = {0};
  char **words = NULL, text[sizeof why.message + 600];
  int rc = clt_command_words(e->all->setup.instance, line, e->config, &places, &words, &why);
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
  return clt_program_begin(e->process, &run, error);
}

static int build_next(clt_evaluation *e, clt_error *error) {
  const clt_command *command = e->all->command;
  if (e->step == command->n_build) return e->stage = CLT_EVALUATION_BUILT, CLT_OK;
  return start_program(e, &command->build[e->step], e->all->options.compile_timeout_s, CLT_EVALUATION_BUILDING, error);
}

int clt_evaluation_begin(clt_evaluation *e, clt_config config, double best_cost, clt_error *error) {
  clt_measurement_release(&e->measurement);
  clt_measurement_init(&e->measurement, config);
  e->measurement.clock = CLT_CLOCK_HOST;
  e->config = config;
  e->best_cost = best_cost;
  e->step = 0;
  e->cold = 0;
  e->checked = e->all->command->check.n == 0;
  int rc = clt_scratch_new(&e->scratch, e->all, e->name, config, error);
  if (rc == 0) rc = clt_command_environment(e->all->setup.instance, config, &e->environment, error);
  return rc ? rc : build_next(e, error);
}

int clt_evaluation_run(clt_evaluation *e, clt_error *error) {
  const clt_command_options *o = &e->all->options;
  double limit_s = o->run_timeout_s;
  const clt_figure *figure = &e->all->command->figure;
  bool best_is_time = figure->source == CLT_FIGURE_WALL && clt_figure_is_time(figure);
  if (best_is_time && o->run_timeout_factor > 0 && e->best_cost > 0)
    limit_s = fmin(limit_s, fmax(o->run_timeout_floor_s, o->run_timeout_factor * e->best_cost));
  return start_program(e, &e->all->command->run, limit_s, CLT_EVALUATION_RUNNING, error);
}

bool clt_evaluation_active(const clt_evaluation *e) {
  return e->stage == CLT_EVALUATION_BUILDING || e->stage == CLT_EVALUATION_RUNNING ||
         e->stage == CLT_EVALUATION_CHECKING;
}

/* --- what became of them --- */

/* Why a program that ended has failed; NONE: it has not. */
static clt_reason judge_end(clt_evaluation_stage stage, const clt_program_end *end) {
  bool building = stage == CLT_EVALUATION_BUILDING;
  if (!end->started) return CLT_REASON_NOT_STARTED;
  if (!end->expired && WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0) return CLT_REASON_NONE;
  if (stage == CLT_EVALUATION_CHECKING) return CLT_REASON_CHECK_FAILED;
  if (end->expired) return building ? CLT_REASON_COMPILE_TIMEOUT : CLT_REASON_RUN_TIMEOUT;
  if (WIFSIGNALED(end->status)) return building ? CLT_REASON_COMPILE_CRASH : CLT_REASON_RUN_CRASH;
  return building ? CLT_REASON_COMPILE_ERROR : CLT_REASON_EXIT_STATUS;
}

static bool has_enough_runs(const clt_evaluation *e) {
  const clt_timing_policy *t = &e->all->policy;
  const clt_measurement *m = &e->measurement;
  double costs[CLT_MAX_RUNS], least = INFINITY;
  for (size_t i = 0; i < m->n_runs; i++) {
    costs[i] = clt_figure_cost(&e->all->command->figure, isnan(m->figure) ? m->runs_s[i] : m->figures[i]);
    least = fmin(least, costs[i]);
  }
  if (m->n_runs == 0 || m->n_runs >= t->max_runs) return m->n_runs > 0;
  if (e->best_cost > 0 && t->abandon_factor > 0 && least > t->abandon_factor * e->best_cost) return true;
  if (m->phases.runs_s >= t->max_total_s) return true;
  return m->n_runs >= t->min_runs && clt_runs_steady(costs, m->n_runs, t->steady_relative);
}

int clt_evaluation_poll(clt_evaluation *e, clt_error *error) {
  clt_program_end end;
  clt_measurement *m = &e->measurement;
  const clt_figure *stated = &e->all->command->figure;
  char why[256] = "";
  double figure = NAN;
  if (!clt_evaluation_active(e)) return CLT_OK;
  int ended = clt_program_poll(e->process, &end, error);
  if (ended <= 0) return ended;
  bool running = e->stage == CLT_EVALUATION_RUNNING;
  if (e->stage == CLT_EVALUATION_BUILDING) m->phases.build_s += end.wall_s;
  if (e->stage == CLT_EVALUATION_CHECKING) m->phases.verify_s += end.wall_s;
  clt_reason reason = judge_end(e->stage, &end);
  if (reason == CLT_REASON_NONE && running)
    reason = clt_figure_take(&figure, stated, e->process, &end, e->scratch, why, sizeof why);
  if (reason != CLT_REASON_NONE) {
    char *story = clt_program_story(e->process, e->words, &end);
    char *text = story ? clt_format("%s%s%s", why, why[0] ? "\n" : "", story) : NULL;
    if (text) clt_measurement_fail(m, reason, text);
    free(story);
    free(text);
    e->stage = CLT_EVALUATION_DONE;
    return text ? CLT_OK : clt_fail_memory(error);
  }
  if (e->stage == CLT_EVALUATION_BUILDING) return e->step++, build_next(e, error);
  if (e->stage == CLT_EVALUATION_CHECKING) e->checked = true;
  if (running && !e->single && e->cold < e->all->options.warm_up) {
    e->cold++;
  } else if (running) {
    clt_figure_put_run(m, stated, figure, end.wall_s);
    m->phases.runs_s += end.wall_s;
  }
  if (!e->checked)
    return start_program(e, &e->all->command->check, e->all->options.check_timeout_s, CLT_EVALUATION_CHECKING, error);
  if (e->single) return e->stage = CLT_EVALUATION_BUILT, CLT_OK;
  if (!has_enough_runs(e)) return clt_evaluation_run(e, error);
  e->stage = CLT_EVALUATION_DONE;
  return CLT_OK;
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
