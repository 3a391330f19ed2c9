/* Evaluates one configuration of a command: scratch folder, build, runs and their figure, check. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "eval/command.h"
#include "measurement/measurement.h"

#define COPIED_AT_ONCE ((size_t)1 << 26)

/* --- the scratch folder --- */

/* The path in the scratch folder of a file that is listed as "a/b/c"; makes the folders above it. */
static int make_scratch_path(char **out, const char *scratch, const char *relative, clt_error *error) {
  char *to = clt_path_join(scratch, relative), *slash = to ? strrchr(to, '/') : NULL;
  if (slash == NULL) {
    free(to);
    return clt_fail_memory(error);
  }
  *slash = 0;
  int rc = clt_folder_make(to, error);
  *slash = '/';
  if (rc == CLT_OK)
    *out = to;
  else
    free(to);
  return rc;
}

/* Copies a file with its permission to execute, but with a new time stamp, which make depends on. */
static int copy_to_scratch(void *user, const char *relative, const char *path, bool folder, clt_error *error) {
  struct stat status;
  ssize_t sent = 0;
  char *to = NULL;
  int in = -1, out = -1, rc = make_scratch_path(&to, user, relative, error);
  if (rc == CLT_OK && folder) {
    rc = clt_folder_make(to, error);
  } else if (rc == CLT_OK) {
    rc = clt_file_open(&in, NULL, path, error);
    mode_t mode = in >= 0 && fstat(in, &status) == 0 ? (status.st_mode & 0100) | 0600 : 0600;
    if (in >= 0 && (out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)) < 0)
      rc = clt_fail_errno(error, CLT_E_IO, "create", to);
    for (sent = out >= 0; sent > 0 || (sent < 0 && errno == EINTR);) sent = sendfile(out, in, NULL, COPIED_AT_ONCE);
    if (sent < 0) rc = clt_fail_errno(error, CLT_E_IO, "copy", path);
    if (out >= 0 && close(out) != 0 && rc == CLT_OK) rc = clt_fail_errno(error, CLT_E_IO, "write", to);
    if (in >= 0) close(in);
  }
  free(to);
  return rc;
}

static void remove_scratch(char *path) {
  if (path) clt_remove_tree(path, false);
  free(path);
}

/* Makes a new folder "<run>/<name>" with copies of the command's files, its links, and, for a configuration (not
 * CLT_CONFIG_NONE), the parameters file. *out is malloc'ed. */
static int make_scratch(char **out, const clt_command_state *s, const char *name, clt_config config, clt_error *error) {
  const clt_command *command = s->command;
  char *path = NULL;
  int rc = clt_run_folder_make(&path, &s->run, name, error);
  if (rc) return rc;
  clt_remove_tree(path, true);
  rc = clt_command_each_file(s->setup.instance, copy_to_scratch, path, error);
  for (size_t i = 0; rc == CLT_OK && i < command->n_links; i++) {
    char *to = NULL, *target = clt_path_join(clt_instance_problem(s->setup.instance)->folder, command->links[i]);
    rc = target ? make_scratch_path(&to, path, clt_name_in_scratch(command->links[i]), error) : clt_fail_memory(error);
    if (rc == CLT_OK && symlink(target, to)) rc = clt_fail_errno(error, CLT_E_IO, "create the link", to);
    free(target);
    free(to);
  }
  if (rc == CLT_OK && command->parameters_file && config != CLT_CONFIG_NONE) {
    char *to = NULL, *text = NULL;
    rc = make_scratch_path(&to, path, command->parameters_file, error);
    if (rc == CLT_OK) rc = clt_command_parameters(s->setup.instance, config, &text, error);
    if (rc == CLT_OK) rc = clt_file_write(to, text, strlen(text), error);
    free(text);
    free(to);
  }
  if (rc == CLT_OK)
    *out = path;
  else
    remove_scratch(path);
  return rc;
}

/* --- the figure of a run: its seconds or bytes, or a number in a file or in its output --- */

/* Reads a number that is followed by the end of the text or white space: "1.5", "1.5 ms", not "1.5.2". */
static clt_reason parse_number(double *out, const char *text, char *why, size_t capacity) {
  char *end;
  double x = clt_strtod(text, &end);
  if (end != text && (*end == 0 || isspace((unsigned char)*end))) {
    *out = x;
    return CLT_REASON_NONE;
  }
  snprintf(why, capacity, "not a number: '%.*s'", (int)fmin(60, (double)strcspn(text, "\n")), text);
  return CLT_REASON_BAD_FIGURE;
}

/* The last match counts, because programs print their result at the end. */
static clt_reason read_match(double *out, const char *pattern, const char *text, char *why, size_t capacity) {
  regex_t compiled;
  regmatch_t match[2], last[2] = {{-1, -1}, {-1, -1}};
  const char *base = text, *at = text;
  char number[64];
  snprintf(why, capacity, "the output contains no match for the figure's \"Pattern\"");
  if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE)) return CLT_REASON_NO_FIGURE;
  while (*at && regexec(&compiled, at, 2, match, at == text ? 0 : REG_NOTBOL) == 0) {
    memcpy(last, match, sizeof last);
    base = at;
    at += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
  }
  regfree(&compiled);
  if (last[0].rm_so < 0) return CLT_REASON_NO_FIGURE;
  const regmatch_t *part = last[1].rm_so >= 0 ? &last[1] : &last[0];
  snprintf(number, sizeof number, "%.*s", (int)fmin(60, (double)(part->rm_eo - part->rm_so)), base + part->rm_so);
  return parse_number(out, number, why, capacity);
}

/* Reads the whole text, or its last line that is an object, because programs may print other text before. */
static clt_reason read_json(double *out, const char *path, const char *text, char *why, size_t capacity) {
  json_t *root = json_loads(text, 0, NULL);
  for (const char *end = text + strlen(text); root == NULL && end > text;) {
    const char *begin = end;
    while (begin > text && begin[-1] != '\n') begin--;
    if (*begin == '{') root = json_loadb(begin, (size_t)(end - begin), 0, NULL);
    end = begin > text ? begin - 1 : text;
  }
  const json_t *json = root;
  for (const char *at = path; json && at; at = strchr(at, '.')) {
    char key[128], *end;
    at += *at == '.';
    size_t n = strcspn(at, ".");
    snprintf(key, sizeof key, "%.*s", (int)clt_min(n, sizeof key - 1), at);
    size_t index = strtoul(key, &end, 10);
    if (json_is_array(json))
      json = *end || end == key ? NULL : json_array_get(json, index);
    else
      json = json_object_get(json, key);
  }
  clt_reason reason = CLT_REASON_NONE;
  if (json_is_number(json)) {
    *out = json_number_value(json);
  } else if (json) {
    snprintf(why, capacity, "\"%.100s\" in the JSON is not a number", path);
    reason = CLT_REASON_BAD_FIGURE;
  } else {
    snprintf(why, capacity, root ? "the JSON has no \"%.100s\"" : "the output with the figure contains no JSON object",
             path);
    reason = CLT_REASON_NO_FIGURE;
  }
  json_decref(root);
  return reason;
}

clt_reason clt_figure_read(double *out, const clt_figure *figure, const char *text, char *why, size_t capacity) {
  if (figure->member) return read_json(out, figure->member, text, why, capacity);
  if (figure->pattern) return read_match(out, figure->pattern, text, why, capacity);
  while (isspace((unsigned char)*text)) text++;
  if (*text) return parse_number(out, text, why, capacity);
  snprintf(why, capacity, "the output with the figure is empty");
  return CLT_REASON_NO_FIGURE;
}

static double summarise_runs(clt_statistic statistic, bool larger_is_better, const double *runs, size_t n) {
  double best = larger_is_better ? -INFINITY : INFINITY, sum = 0;
  for (size_t i = 0; i < n; i++) {
    best = larger_is_better ? fmax(best, runs[i]) : fmin(best, runs[i]);
    sum += runs[i];
  }
  switch (statistic) {
    case CLT_STATISTIC_MEDIAN: return clt_median(runs, n);
    case CLT_STATISTIC_MEAN: return sum / (double)n;
    default: return isfinite(best) ? best : NAN;
  }
}

bool clt_figure_scale(double *out, const clt_figure *figure, double number) {
  *out = figure->larger_is_better ? number : number * figure->scale;
  return isfinite(*out) && (*out > 0 || !clt_figure_is_time(figure));
}

double clt_figure_cost(const clt_figure *figure, double value) {
  return clt_goal_cost(figure->larger_is_better ? CLT_MAXIMISE : CLT_MINIMISE, value);
}

void clt_figure_put_run(clt_measurement *m, const clt_figure *figure, double value, double wall_s) {
  bool is_time = clt_figure_is_time(figure);
  size_t i = m->n_runs++;
  m->runs_s[i] = is_time ? value : wall_s;
  m->figures[i] = is_time ? NAN : value;
  m->time_s = summarise_runs(figure->statistic, false, m->runs_s, m->n_runs);
  m->figure = is_time ? NAN : summarise_runs(figure->statistic, figure->larger_is_better, m->figures, m->n_runs);
}

/* Sets *out to the figure, in seconds, above 0, or in its own unit. If there is none, returns the failure reason,
 * with an explanation in why. */
static clt_reason take_figure(double *out, const clt_evaluation *e, const clt_program_end *end, char *why,
                              size_t capacity) {
  const clt_figure *figure = &e->all->command->figure;
  double number = NAN;
  clt_reason reason = CLT_REASON_NONE;
  clt_error error = {0};
  char *path = NULL, *text = NULL;
  const char *printed = e->process->answered.bytes ? e->process->answered.bytes : "";
  const double tick_s = 1e-6; /* some systems count processor time in ticks, so 0 means less than one tick */
  switch (figure->source) {
    case CLT_FIGURE_WALL: number = end->wall_s; break;
    case CLT_FIGURE_USER: number = fmax(end->user_s, tick_s); break;
    case CLT_FIGURE_SYSTEM: number = fmax(end->system_s, tick_s); break;
    case CLT_FIGURE_CPU: number = fmax(end->user_s + end->system_s, tick_s); break;
    case CLT_FIGURE_MEMORY: number = end->memory_bytes; break;
    case CLT_FIGURE_FILE:
      path = clt_path_join(e->scratch, figure->file);
      reason = CLT_REASON_NO_FIGURE;
      if (path && clt_file_read(&text, NULL, path, CLT_MAX_ANSWER_BYTES, &error) == 0)
        reason = clt_figure_read(&number, figure, text, why, capacity);
      else
        snprintf(why, capacity, "%.180s", error.message[0] ? error.message : "out of memory");
      free(path);
      free(text);
      break;
    case CLT_FIGURE_OUTPUT: reason = clt_figure_read(&number, figure, printed, why, capacity); break;
  }
  if (reason != CLT_REASON_NONE || clt_figure_scale(out, figure, number)) return reason;
  clt_snprintf(why, capacity, clt_figure_is_time(figure) ? "the time %g is not above 0" : "the figure %g is not finite",
               number);
  return CLT_REASON_BAD_FIGURE;
}

/* --- programs --- */

clt_command_places clt_command_places_in(const clt_command_state *s, const char *scratch) {
  const clt_command *command = s->command;
  return (clt_command_places){.scratch = scratch,
                              .folder = s->setup.instance->problem->folder,
                              .parameters = command->parameters_file,
                              .input = command->batch.input,
                              .output = command->batch.output};
}

int clt_evaluation_start(clt_evaluation *e, const clt_command_line *line, const char *input, double limit_s,
                         clt_evaluation_stage stage, clt_error *error) {
  clt_command_places places = clt_command_places_in(e->all, e->scratch);
  clt_error why = {0};
  char **words = NULL, text[sizeof why.message + 600];
  int rc = clt_command_words(e->all->setup.instance, line, e->config, &places, &words, &why);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
  if (rc) { /* an expression has no value for this configuration */
    clt_error_format(text, sizeof text, &why);
    clt_measurement_fail(&e->measurement, CLT_REASON_NOT_STARTED, text);
    e->stage = CLT_EVALUATION_DONE;
    return CLT_OK;
  }
  clt_words_free(e->words);
  e->words = words;
  e->stage = stage;
  const clt_program_run run = {
      .words = words, .environment = e->environment, .folder = e->scratch, .input = input, .limit_s = limit_s};
  e->limit_s = limit_s;
  return clt_program_begin(e->process, &run, error);
}

static int build_next(clt_evaluation *e, clt_error *error) {
  const clt_command *command = e->all->command;
  if (e->step == command->n_build) {
    e->stage = CLT_EVALUATION_BUILT;
    return CLT_OK;
  }
  return clt_evaluation_start(e, &command->build[e->step], "", e->all->options.compile_timeout_s,
                              CLT_EVALUATION_BUILDING, error);
}

void clt_evaluation_init(clt_evaluation *e, const clt_command_state *all, clt_config config,
                         clt_evaluation_stage stage) {
  *e = (clt_evaluation){.all = all, .config = config, .stage = stage};
  clt_measurement_init(&e->measurement, config);
  e->measurement.clock = CLT_CLOCK_HOST;
}

int clt_evaluation_begin(clt_evaluation *e, clt_error *error) {
  clt_measurement_release(&e->measurement);
  clt_measurement_init(&e->measurement, e->config);
  e->measurement.clock = CLT_CLOCK_HOST;
  e->step = 0;
  e->cold = 0;
  e->checked = e->all->command->check.n == 0;
  int rc = make_scratch(&e->scratch, e->all, e->name, e->config, error);
  if (rc == CLT_OK && e->config != CLT_CONFIG_NONE)
    rc = clt_command_environment(e->all->setup.instance, e->config, &e->environment, error);
  return rc ? rc : build_next(e, error);
}

/* The time limit of a run, from the best cost so far and the timeout. */
static double run_limit_s(const clt_evaluation *e) {
  const clt_command_options *o = &e->all->options;
  const clt_figure *figure = &e->all->command->figure;
  bool best_is_time = figure->source == CLT_FIGURE_WALL && clt_figure_is_time(figure);
  if (!best_is_time || o->run_timeout_factor <= 0 || e->best_cost <= 0) return o->run_timeout_s;
  return fmin(o->run_timeout_s, fmax(o->run_timeout_floor_s, o->run_timeout_factor * e->best_cost));
}

int clt_evaluation_run(clt_evaluation *e, clt_error *error) {
  return clt_evaluation_start(e, &e->all->command->run, "", run_limit_s(e), CLT_EVALUATION_RUNNING, error);
}

bool clt_evaluation_active(const clt_evaluation *e) {
  return e->stage == CLT_EVALUATION_BUILDING || e->stage == CLT_EVALUATION_RUNNING ||
         e->stage == CLT_EVALUATION_CHECKING;
}

/* --- results --- */

/* The failure reason of a program that ended; NONE: it succeeded. */
static clt_reason judge_end(const clt_evaluation *e, const clt_program_end *end) {
  const clt_evaluation_stage stage = e->stage;
  bool building = stage == CLT_EVALUATION_BUILDING, slow = run_limit_s(e) < e->all->options.run_timeout_s;
  if (!end->started) return CLT_REASON_NOT_STARTED;
  if (!end->expired && WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0) return CLT_REASON_NONE;
  if (stage == CLT_EVALUATION_CHECKING) return CLT_REASON_CHECK_FAILED;
  if (end->expired && building) return CLT_REASON_COMPILE_TIMEOUT;
  if (end->expired) return slow ? CLT_REASON_ABANDONED : CLT_REASON_RUN_TIMEOUT;
  if (WIFSIGNALED(end->status)) return building ? CLT_REASON_COMPILE_CRASH : CLT_REASON_RUN_CRASH;
  return building ? CLT_REASON_COMPILE_ERROR : CLT_REASON_EXIT_STATUS;
}

void clt_evaluation_put_run(clt_evaluation *e, double figure, double wall_s) {
  clt_measurement *m = &e->measurement;
  if (!e->single && e->cold < e->all->options.warm_up) {
    e->cold++;
    return;
  }
  clt_figure_put_run(m, &e->all->command->figure, figure, wall_s);
  if (isnan(wall_s)) wall_s = m->runs_s[m->n_runs - 1];
  if (!isnan(wall_s)) m->phases.runs_s += wall_s;
}

bool clt_evaluation_has_enough(const clt_evaluation *e) {
  const clt_timing_policy *t = &e->all->policy;
  const clt_measurement *m = &e->measurement;
  double costs[CLT_MAX_RUNS], least = INFINITY;
  for (size_t i = 0; i < m->n_runs; i++) {
    costs[i] = clt_figure_cost(&e->all->command->figure, isnan(m->figure) ? m->runs_s[i] : m->figures[i]);
    least = fmin(least, costs[i]);
  }
  if (m->n_runs == 0 || m->n_runs >= t->max_runs || e->single) return m->n_runs > 0;
  if (e->best_cost > 0 && t->abandon_factor > 0 && least > t->abandon_factor * e->best_cost) return true;
  if (m->phases.runs_s >= t->max_total_s) return true;
  return m->n_runs >= t->min_runs && clt_runs_steady(costs, m->n_runs, t->steady_relative);
}

static int begin_check(clt_evaluation *e, clt_error *error) {
  return clt_evaluation_start(e, &e->all->command->check, "", e->all->options.check_timeout_s, CLT_EVALUATION_CHECKING,
                              error);
}

static int repeat_stage(clt_evaluation *e, clt_error *error) {
  if (e->stage == CLT_EVALUATION_BUILDING) return build_next(e, error);
  return e->stage == CLT_EVALUATION_CHECKING ? begin_check(e, error) : clt_evaluation_run(e, error);
}

int clt_evaluation_poll(clt_evaluation *e, clt_error *error) {
  clt_program_end end;
  clt_measurement *m = &e->measurement;
  char why[256] = "";
  double figure = NAN;
  if (!clt_evaluation_active(e)) return CLT_OK;
  int ended = clt_program_poll(e->process, &end, error);
  if (ended <= 0) return ended;
  if (e->process->jumped && !e->was_late) { /* the clock jumped: neither a time nor a limit means anything */
    e->was_late = true;
    return repeat_stage(e, error);
  }
  bool running = e->stage == CLT_EVALUATION_RUNNING;
  if (e->stage == CLT_EVALUATION_BUILDING) m->phases.build_s += end.wall_s;
  if (e->stage == CLT_EVALUATION_CHECKING) m->phases.verify_s += end.wall_s;
  clt_reason reason = judge_end(e, &end);
  if (reason == CLT_REASON_NONE && running) reason = take_figure(&figure, e, &end, why, sizeof why);
  if (end.expired) {
    const char *option = running ? "--run-timeout" : "--compile-timeout";
    if (e->stage == CLT_EVALUATION_CHECKING) option = "--check-timeout";
    clt_snprintf(why, sizeof why, "took too long (limit %.3g s, %s%s)", e->limit_s, option,
                 reason == CLT_REASON_ABANDONED ? "-factor" : "");
  }
  if (reason != CLT_REASON_NONE) {
    char *story = clt_program_story(e->process, e->words, &end);
    const char *separator = why[0] ? "\n" : "";
    char *text = story ? clt_format("%s%s%s", why, separator, story) : NULL;
    int rc = text ? CLT_OK : clt_fail_memory(error);
    if (rc == CLT_OK) rc = clt_check_space(text, e->scratch, "a program failed", error);
    if (rc == CLT_OK) clt_measurement_fail(m, reason, text);
    free(story);
    free(text);
    e->stage = CLT_EVALUATION_DONE;
    return rc;
  }
  if (e->stage == CLT_EVALUATION_BUILDING) {
    e->step++;
    return build_next(e, error);
  }
  if (e->stage == CLT_EVALUATION_CHECKING) e->checked = true;
  if (running) clt_evaluation_put_run(e, figure, end.wall_s);
  if (!e->checked) return begin_check(e, error);
  if (e->single) {
    e->stage = CLT_EVALUATION_BUILT;
    return CLT_OK;
  }
  if (!clt_evaluation_has_enough(e)) return clt_evaluation_run(e, error);
  e->stage = CLT_EVALUATION_DONE;
  return CLT_OK;
}

void clt_evaluation_end(clt_evaluation *e, clt_measurement *out) {
  if (out)
    *out = e->measurement;
  else
    clt_measurement_release(&e->measurement);
  clt_measurement_init(&e->measurement, CLT_CONFIG_NONE);
  remove_scratch(e->scratch);
  clt_words_free(e->environment);
  clt_words_free(e->words);
  e->scratch = NULL;
  e->environment = e->words = NULL;
  e->stage = CLT_EVALUATION_NONE;
}
