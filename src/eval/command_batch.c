/* The batch protocol: a program is handed several configurations and answers one after the other. It may die between
 * two answers: those that it gave count, and the rest goes to a new run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "eval/batch_text.h"
#include "eval/command.h"

#define MAX_ANSWER_FILE_BYTES ((size_t)64 << 20)
#define WAIT_S 0.1 /* how long an answer in a file may go unseen */

void clt_batch_release(clt_command_batch *batch) {
  clt_scratch_remove(batch->scratch);
  clt_words_free(batch->words);
  free(batch->configs);
  free(batch->answered);
  batch->scratch = NULL;
}

static clt_program *program_of(clt_command_state *s) { return &s->slots[0].program; }

/* --- beginning --- */

static int start(clt_command_state *s, const clt_command_line *line, double limit_s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  clt_command_places places = clt_command_places_in(&s->context, b->scratch);
  const char *input = s->context.command->batch.input ? "" : "input";
  char **words = NULL, *path = clt_path_join(b->scratch, input);
  int rc = path ? CLT_OK : clt_fail_memory(error);
  if (rc == 0) rc = clt_command_words(s->context.instance, line, CLT_CONFIG_NONE, &places, &words, error);
  if (rc) return free(path), rc;
  clt_words_free(b->words);
  b->words = words;
  bool reads = input[0] && line == &s->context.command->run;
  const clt_program_run run = {
      .words = words, .environment = NULL, .folder = b->scratch, .input = reads ? path : "", .limit_s = limit_s};
  rc = clt_program_begin(program_of(s), &run, error);
  b->running = rc == 0;
  b->interrupted = false;
  free(path);
  return rc;
}

/* Standard input comes from a file as well. */
static int write_question(clt_command_state *s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  const clt_batch *stated = &s->context.command->batch;
  char *text = clt_batch_question(s->setup.space, b->configs, b->n);
  char *path = clt_path_join(b->scratch, stated->input ? stated->input : "input");
  char *old = clt_path_join(b->scratch, stated->output ? stated->output : "output");
  int rc = text && path && old ? clt_file_write(path, text, strlen(text), error) : clt_fail_memory(error);
  if (rc == 0 && stated->output) unlink(old);
  free(text);
  free(path);
  free(old);
  return rc;
}

static double patience_s(const clt_command_state *s) {
  double each_s = s->context.run_timeout_s;
  return s->batch.streams ? each_s : each_s * (double)s->batch.n;
}

static int begin_batch(clt_command_state *s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  b->n = s->n_queue < b->limit ? s->n_queue : b->limit;
  b->n_answered = 0;
  for (size_t i = 0; i < b->n; i++) {
    b->configs[i] = s->queue[i].config;
    b->answered[i] = false;
  }
  s->n_queue -= b->n;
  memmove(s->queue, s->queue + b->n, s->n_queue * sizeof *s->queue);
  int rc = write_question(s, error);
  if (rc == 0) rc = start(s, &s->context.command->run, 0, error);
  b->deadline_s = clt_now_s() + patience_s(s);
  return rc;
}

/* Builds first, once; then the next batch. */
static int begin_next(clt_command_state *s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  const clt_command *command = s->context.command;
  int rc = clt_command_bring_up(s, &s->slots[0], error);
  if (b->limit == 0) b->limit = b->size;
  if (rc == 0 && b->scratch == NULL)
    rc = clt_scratch_new(&b->scratch, &s->context.run, "scratch", s->context.instance, CLT_CONFIG_NONE, error);
  if (rc) return rc;
  if (b->step < command->n_build) return start(s, &command->build[b->step], s->context.compile_timeout_s, error);
  return clt_command_lock(s, CLT_LOCK_EXCLUSIVE) ? begin_batch(s, error) : CLT_OK;
}

/* --- answers --- */

static void put(clt_command_state *s, size_t i, clt_reason reason, double figure, const char *log) {
  clt_measurement m;
  clt_measurement_init(&m, s->batch.configs[i]);
  m.clock = CLT_CLOCK_HOST;
  if (reason == CLT_REASON_NONE) {
    m.time_s = m.runs_s[0] = figure;
    m.n_runs = 1;
    if (strcmp(s->context.command->figure.unit, "s") == 0) m.phases.runs_s = figure;
  } else {
    clt_measurement_fail(&m, reason, log);
  }
  s->batch.answered[i] = true;
  s->batch.n_answered++;
  clt_command_put_result(s, &m);
}

static void take_answer(clt_command_state *s, size_t i, double number) {
  double figure = NAN;
  if (clt_figure_rank(&figure, &s->context.command->figure, number))
    put(s, i, CLT_REASON_NONE, figure, NULL);
  else if (number < 0)
    put(s, i, CLT_REASON_REFUSED, NAN, "the program answered with a negative time");
  else
    put(s, i, CLT_REASON_BAD_FIGURE, NAN, "the program answered with what is not a positive number");
}

/* With a single parameter, the question's first line looks like an answer, and some programs repeat it. */
static bool repeats_question(const clt_command_state *s, const char *line, size_t n) {
  char first[64];
  int length = snprintf(first, sizeof first, "%zu %zu", s->batch.n, clt_space_n_parameters(s->setup.space));
  return clt_space_n_parameters(s->setup.space) == 1 && n == (size_t)length && strncmp(line, first, n) == 0;
}

/* Whole lines only, unless the program has ended well: half a number is a number, too. */
static void take_answers(clt_command_state *s, const char *text, bool complete) {
  clt_command_batch *b = &s->batch;
  const char *line = text;
  while (*line && b->n_answered < b->n) {
    size_t n = strcspn(line, "\n"), i;
    double number;
    if (line[n] == 0 && !complete) break;
    bool header = line == text && repeats_question(s, line, n);
    if (!header && clt_batch_answer(line, n, s->setup.space, b->configs, b->answered, b->n, &i, &number))
      take_answer(s, i, number);
    line += n + (line[n] != 0);
  }
}

static void read_answers(clt_command_state *s, bool complete) {
  const char *file = s->context.command->batch.output;
  if (file == NULL) {
    take_answers(s, program_of(s)->answers.bytes, complete);
    return;
  }
  char *path = clt_path_join(s->batch.scratch, file), *text = NULL;
  if (path && clt_file_read(&text, NULL, path, MAX_ANSWER_FILE_BYTES, NULL) == 0) take_answers(s, text, complete);
  free(text);
  free(path);
}

/* While it runs. Text that ends within a line was held back until it was much, and tells nothing of where the program
 * is. */
static void look_for_answers(clt_command_state *s) {
  clt_command_batch *b = &s->batch;
  const clt_program *p = program_of(s);
  size_t before = b->n_answered;
  bool whole = s->context.command->batch.output || (p->answers.n > 0 && p->answers.bytes[p->answers.n - 1] == '\n');
  read_answers(s, false);
  if (b->n_answered == before) return;
  if (whole && b->n_answered < b->n) b->streams = true;
  b->deadline_s = clt_now_s() + patience_s(s);
}

/* --- ends --- */

static size_t first_unanswered(const clt_command_batch *b) {
  size_t i = 0;
  while (i < b->n && b->answered[i]) i++;
  return i;
}

/* In front of what is queued, in their order. */
static void requeue(clt_command_state *s) {
  clt_command_batch *b = &s->batch;
  size_t left = b->n - b->n_answered, at = 0;
  memmove(s->queue + left, s->queue, s->n_queue * sizeof *s->queue);
  for (size_t i = 0; i < b->n; i++)
    if (!b->answered[i]) s->queue[at++] = (clt_command_job){b->configs[i], 0};
  s->n_queue += left;
}

static clt_reason reason_of(const clt_command_batch *b, const clt_program_end *end) {
  if (b->interrupted) return CLT_REASON_RUN_TIMEOUT;
  if (WIFSIGNALED(end->status)) return CLT_REASON_RUN_CRASH;
  return WEXITSTATUS(end->status) ? CLT_REASON_EXIT_STATUS : CLT_REASON_NO_FIGURE;
}

/* Blames the first without an answer where that is certain; otherwise the next runs are smaller, until it is. One that
 * ended well without all answers has gone wrong only if it gave none. */
static void settle(clt_command_state *s, clt_reason reason, const char *story) {
  clt_command_batch *b = &s->batch;
  size_t left = b->n - b->n_answered;
  bool progress = reason == CLT_REASON_NO_FIGURE && b->n_answered > 0;
  bool certain = b->n == 1 || (b->streams && reason != CLT_REASON_NO_FIGURE);
  if (left > 0 && !progress && certain) put(s, first_unanswered(b), reason, NAN, story);
  if (left > 0 && !progress && !certain) {
    b->limit = left > 1 ? left / 2 : 1;
  } else {
    b->limit = 2 * b->limit < b->size ? 2 * b->limit : b->size;
  }
  requeue(s);
}

static int take_end(clt_command_state *s, const clt_program_end *end, clt_error *error) {
  clt_command_batch *b = &s->batch;
  bool building = b->step < s->context.command->n_build;
  bool well = end->started && !end->expired && end->status == 0;
  char *story = clt_program_story(program_of(s), b->words, end);
  int rc = story ? CLT_OK : clt_fail_memory(error);
  b->running = false;
  if (rc == 0 && (!end->started || (building && !well)))
    rc = clt_fail(error, CLT_E_WORKER, "the program of the batch protocol cannot be %s: %s",
                  building ? "built" : "started", story);
  if (rc == 0 && building) b->step++;
  if (rc == 0 && !building) {
    read_answers(s, well);
    settle(s, reason_of(b, end), story);
    clt_remove_tree(s->slots[0].folder, true);
  }
  free(story);
  return rc;
}

static int take_events(clt_command_state *s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  clt_program_end end = {.started = true};
  clt_error why = {0};
  int ended = clt_program_poll(program_of(s), &end, &why);
  bool building = b->step < s->context.command->n_build;
  if (ended > 0) return take_end(s, &end, error);
  if (ended == CLT_E_WORKER && !building) { /* the process that ran it is gone: so is the program */
    b->running = false;
    clt_program_stop(program_of(s));
    settle(s, CLT_REASON_RUN_CRASH, why.message);
    return CLT_OK;
  }
  if (ended < 0) return clt_fail(error, ended, "%s", why.message);
  if (building) return CLT_OK;
  look_for_answers(s);
  if (clt_now_s() < b->deadline_s || b->interrupted) return CLT_OK;
  clt_program_interrupt(program_of(s));
  b->interrupted = true;
  return CLT_OK;
}

/* Nothing begins while the caller may be busy with results, nor is any given while a batch runs. */
int clt_batch_turn(clt_command_state *s, clt_error *error) {
  int rc = s->batch.running ? take_events(s, error) : CLT_OK;
  if (rc == 0 && !s->batch.running && s->n_results == 0 && s->n_queue > 0) rc = begin_next(s, error);
  if (rc == 0 && !s->batch.running && s->n_queue == 0) clt_command_lock(s, CLT_UNLOCKED);
  return rc;
}

/* --- finalists --- */

/* The program is built once, with the first batch: there is nothing to prepare. */
int clt_batch_keep(clt_command_state *s, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  clt_evaluation *list = clt_new_array(n, sizeof *list);
  if (list == NULL) return clt_fail_memory(error);
  clt_command_give_up_kept(s);
  s->kept = list;
  s->n_kept = n;
  for (size_t i = 0; i < n; i++) {
    list[i].config = configs[i];
    clt_measurement_init(&list[i].measurement, configs[i]);
    clt_measurement_init(&out[i], configs[i]);
    out[i].clock = CLT_CLOCK_HOST;
  }
  return CLT_OK;
}

/* Each once, as many at a time as there is room for; results as they come. */
int clt_batch_time_again(clt_command_state *s, const size_t *indices, size_t n, clt_measurement *out,
                         clt_error *error) {
  int rc = CLT_OK;
  size_t n_queued = 0, n_left = 0;
  for (size_t i = 0; i < n; i++) clt_measurement_init(&out[i], CLT_CONFIG_NONE);
  while (rc == 0 && (n_queued < n || n_left > 0)) {
    for (; n_left < s->capacity && n_queued < n && s->n_queue < s->capacity; n_left++)
      s->queue[s->n_queue++] = (clt_command_job){s->kept[indices[n_queued++]].config, 0};
    if (clt_stop_asked(s->setup.stop)) rc = clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    if (rc == 0) rc = clt_batch_turn(s, error);
    for (; rc == 0 && !s->batch.running && s->n_results > 0; n_left--) {
      clt_measurement *got = &s->results[--s->n_results];
      size_t i = 0;
      while (s->kept[indices[i]].config != got->config || out[i].config != CLT_CONFIG_NONE) i++;
      out[i] = *got;
    }
    if (rc == 0 && n_left > 0) clt_command_wait_for_events(s, WAIT_S);
  }
  if (rc == 0) return CLT_OK;
  for (size_t i = 0; i < n; i++) clt_measurement_release(&out[i]);
  clt_program_stop(program_of(s));
  s->batch.running = false;
  s->n_queue = 0;
  clt_command_lock(s, CLT_UNLOCKED);
  return rc;
}
