/* The batch protocol: a program gets several configurations and answers them one after the other. If it dies in
 * between, its answers so far count, and the remaining configurations go to a new run. */
#include <ctype.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "eval/command.h"

#define MAX_ANSWER_FILE_BYTES ((size_t)64 << 20)
#define MAX_TOKENS 1024
#define MAX_TOKEN_BYTES 40

/* --- the texts --- */

char *clt_batch_question(const clt_space *space, const clt_evaluation *queue, size_t n) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  size_t n_parameters = clt_space_n_parameters(space), n_running = 0;
  clt_text out = {0};
  char *text = NULL;
  for (size_t i = 0; i < n; i++) n_running += queue[i].stage == CLT_EVALUATION_RUNNING;
  clt_text_printf(&out, "%zu %zu\n", n_running, n_parameters);
  for (size_t i = 0; i < n; i++) {
    if (queue[i].stage != CLT_EVALUATION_RUNNING) continue;
    clt_space_positions(positions, space, queue[i].config);
    for (size_t p = 0; p < n_parameters; p++) clt_text_printf(&out, "%s%u", p ? " " : "", (unsigned)positions[p]);
    clt_text_add(&out, "\n");
  }
  return clt_text_take(&text, &out, NULL) ? NULL : text;
}

/* A part of a line between spaces, commas and the like. */
typedef struct token {
  bool is_position; /* only digits */
  bool is_number;   /* any number */
  uint32_t position;
  double number;
} token;

static size_t split_line(token *out, const char *line, size_t length) {
  size_t n = 0;
  for (size_t at = 0; at < length && n < MAX_TOKENS;) {
    char copy[MAX_TOKEN_BYTES + 1], *end;
    size_t begin = at;
    while (at < length && !isspace((unsigned char)line[at]) && !strchr(",;:=", line[at])) at++;
    size_t bytes = at - begin;
    if (bytes == 0) {
      at++;
      continue;
    }
    token t = {.number = NAN};
    if (bytes <= MAX_TOKEN_BYTES) {
      memcpy(copy, line + begin, bytes);
      copy[bytes] = 0;
      t.is_position = copy[strspn(copy, "0123456789")] == 0 && bytes < 10;
      if (t.is_position) t.position = (uint32_t)strtoul(copy, NULL, 10);
      double x = clt_strtod(copy, &end);
      t.is_number = end != copy && *end == 0;
      if (t.is_number) t.number = x;
    }
    out[n++] = t;
  }
  return n;
}

/* Whether the tokens are the value positions of a configuration without an answer, followed by another token. */
static bool match_answer(const token *tokens, size_t n_tokens, const clt_space *space, const clt_evaluation *queue,
                         size_t n, size_t *index, double *number) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  size_t n_parameters = clt_space_n_parameters(space);
  if (n_parameters >= n_tokens) return false;
  for (size_t p = 0; p < n_parameters; p++) {
    if (!tokens[p].is_position || tokens[p].position >= clt_space_parameter(space, p)->n_values) return false;
    positions[p] = tokens[p].position;
  }
  clt_config config = clt_space_from_positions(space, positions);
  for (*index = 0; *index < n; ++*index)
    if (queue[*index].config == config && queue[*index].stage == CLT_EVALUATION_RUNNING) break;
  *number = tokens[n_parameters].number;
  return *index < n;
}

/* A line that consists of an answer alone is accepted first. An answer within other text must have a number, so that
 * merely naming a configuration is not an answer. If a line begins with other numbers, the last match counts,
 * because the time comes last. */
bool clt_batch_answer(const char *line, size_t length, const clt_space *space, const clt_evaluation *queue, size_t n,
                      size_t *index, double *number) {
  token tokens[MAX_TOKENS];
  size_t n_tokens = split_line(tokens, line, length), n_parameters = clt_space_n_parameters(space);
  if (n_tokens == n_parameters + 1) return match_answer(tokens, n_tokens, space, queue, n, index, number);
  for (size_t at = n_tokens; at-- > 0;)
    if (match_answer(tokens + at, n_tokens - at, space, queue, n, index, number) && tokens[at + n_parameters].is_number)
      return true;
  return false;
}

/* --- beginning --- */

/* Sets the deadline of the next answer. If the program answers one by one, each answer has its own time limit. */
static void set_deadline(clt_command_state *s) {
  double each_s = s->options.run_timeout_s;
  s->batch.deadline_s = clt_now_s() + (s->batch.streams ? each_s : each_s * (double)s->batch.n);
}

/* Builds the program once, then begins the next batch. */
static int begin_next(clt_command_state *s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  clt_evaluation *program = &s->slots[0].evaluation;
  const clt_batch *stated = &s->command->batch;
  int rc = clt_command_bring_up(s, &s->slots[0], error);
  if (rc == CLT_OK && program->stage == CLT_EVALUATION_NONE) rc = clt_evaluation_begin(program, error);
  if (rc || program->stage != CLT_EVALUATION_BUILT || !clt_command_lock(s, CLT_LOCK_EXCLUSIVE)) return rc;
  b->n = b->n_answered = 0;
  for (int again = 0; again < 2; again++) /* new configurations first: one of these is more likely to end the program */
    for (clt_evaluation *e = b->queue; e < b->queue + s->n_submitted && b->n < b->limit; e++) {
      if (e->stage != CLT_EVALUATION_BUILT || (e->measurement.n_runs > 0) != again) continue;
      e->stage = CLT_EVALUATION_RUNNING;
      b->n++;
    }
  char *text = clt_batch_question(s->setup.space, b->queue, s->n_submitted);
  char *input = clt_path_join(program->scratch, stated->input ? stated->input : "input");
  char *old = clt_path_join(program->scratch, stated->output ? stated->output : "output");
  rc = text && input && old ? clt_file_write(input, text, strlen(text), error) : clt_fail_memory(error);
  if (rc == CLT_OK && stated->output) unlink(old);
  if (rc == CLT_OK)
    rc = clt_evaluation_start(program, &s->command->run, stated->input ? "" : input, 0, CLT_EVALUATION_RUNNING, error);
  b->interrupted = false;
  set_deadline(s);
  free(text);
  free(input);
  free(old);
  return rc;
}

/* --- answers --- */

static void put_failure(clt_command_state *s, clt_evaluation *e, clt_reason reason, const char *log) {
  clt_measurement_fail(&e->measurement, reason, log);
  e->stage = CLT_EVALUATION_DONE;
  s->batch.n_answered++;
}

/* Configurations with enough runs are done. The others are asked for again in the next batch, not twice in one
 * batch: a second answer could not be told from a repetition of the first. */
static void pass_on_results(clt_command_state *s) {
  const clt_figure *figure = &s->command->figure;
  double best = s->batch.best_cost;
  for (size_t i = 0; best > 0 && i < s->n_submitted; i++) {
    const clt_measurement *m = &s->batch.queue[i].measurement;
    best = fmin(best, clt_figure_cost(figure, isnan(m->figure) ? m->time_s : m->figure)); /* NaN: not run, failed */
  }
  for (clt_evaluation *e = s->batch.queue; e < s->batch.queue + s->n_submitted; e++) {
    e->best_cost = best;
    if (e->stage == CLT_EVALUATION_BUILT && clt_evaluation_has_enough(e)) e->stage = CLT_EVALUATION_DONE;
  }
}

/* Reads complete lines only, unless the program ended normally: a part of a number is also a number. */
static void read_answers(clt_command_state *s, bool complete) {
  clt_command_batch *b = &s->batch;
  const char *file = s->command->batch.output, *line = s->slots[0].process.answered.bytes;
  if (line == NULL) line = "";
  char *text = NULL, header[64];
  /* With a single parameter, the question's first line looks like an answer, and some programs repeat it. */
  size_t n_parameters = clt_space_n_parameters(s->setup.space);
  size_t n_header = (size_t)snprintf(header, sizeof header, "%zu %zu", b->n, n_parameters);
  if (file) {
    char *path = clt_path_join(s->slots[0].evaluation.scratch, file);
    line = path && clt_file_read(&text, NULL, path, MAX_ANSWER_FILE_BYTES, NULL) == 0 ? text : "";
    free(path);
  }
  for (bool first = true; *line && b->n_answered < b->n; first = false) {
    size_t n = strcspn(line, "\n"), i;
    double number, figure = NAN;
    if (line[n] == 0 && !complete) break;
    bool repeated = first && n_parameters == 1 && n == n_header && strncmp(line, header, n) == 0;
    if (!repeated && clt_batch_answer(line, n, s->setup.space, b->queue, s->n_submitted, &i, &number)) {
      clt_evaluation *e = &b->queue[i];
      if (number >= 0 && clt_figure_scale(&figure, &s->command->figure, number)) {
        clt_evaluation_put_run(e, figure, NAN);
        e->stage = CLT_EVALUATION_BUILT;
        b->n_answered++;
      } else if (number < 0) {
        put_failure(s, e, CLT_REASON_REFUSED, "the program answered with a negative time");
      } else {
        put_failure(s, e, CLT_REASON_BAD_FIGURE, "the program's answer is not a number that can be used");
      }
    }
    line += n + (line[n] != 0);
  }
  pass_on_results(s);
  free(text);
}

/* --- ends --- */

/* Blames the first configuration without an answer if that is certain. Otherwise the next batches are smaller, until
 * it is. A program that ended normally has failed only if it gave no answer at all. */
static void settle_rest(clt_command_state *s, clt_reason reason, const char *story) {
  clt_command_batch *b = &s->batch;
  size_t left = b->n - b->n_answered;
  bool progress = reason == CLT_REASON_NO_FIGURE && b->n_answered > 0;
  bool certain = b->n == 1 || (b->streams && reason != CLT_REASON_NO_FIGURE);
  clt_evaluation *first = b->queue;
  while (left > 0 && first->stage != CLT_EVALUATION_RUNNING) first++;
  if (left > 0 && !progress && certain) put_failure(s, first, reason, story);
  if (left > 0 && !progress && !certain) {
    b->limit = left > 1 ? left / 2 : 1;
  } else {
    b->limit = 2 * b->limit < b->size ? 2 * b->limit : b->size;
  }
  for (size_t i = 0; i < s->n_submitted; i++)
    if (b->queue[i].stage == CLT_EVALUATION_RUNNING) b->queue[i].stage = CLT_EVALUATION_BUILT;
}

static int take_events(clt_command_state *s, clt_error *error) {
  clt_command_batch *b = &s->batch;
  clt_evaluation *program = &s->slots[0].evaluation;
  clt_process *process = program->process;
  clt_program_end end = {.started = true};
  clt_error why = {0};
  if (program->stage == CLT_EVALUATION_BUILDING) return clt_evaluation_poll(program, error);
  int ended = clt_program_poll(process, &end, &why);
  if (ended == CLT_E_WORKER) { /* the worker process was lost, and the program with it */
    program->stage = CLT_EVALUATION_BUILT;
    clt_program_stop(process);
    settle_rest(s, CLT_REASON_RUN_CRASH, why.message);
    return CLT_OK;
  }
  if (ended < 0) return clt_fail_as(error, &why);
  /* Output that stops within a line was flushed because a buffer was full, so it does not show how far the program
   * is. */
  size_t n = s->command->batch.output ? 0 : process->answered.n;
  bool line_ended = n > 0 && process->answered.bytes[n - 1] == '\n';
  if (ended > 0) {
    bool well = end.started && !end.expired && end.status == 0;
    char *story = clt_program_story(process, program->words, &end);
    int rc = story ? CLT_OK : clt_fail_memory(error);
    program->stage = CLT_EVALUATION_BUILT;
    if (rc == CLT_OK && !end.started)
      rc = clt_fail(error, CLT_E_WORKER, "cannot start the program of the batch protocol: %s", story);
    if (rc == CLT_OK) {
      clt_reason reason = WEXITSTATUS(end.status) ? CLT_REASON_EXIT_STATUS : CLT_REASON_NO_FIGURE;
      if (WIFSIGNALED(end.status)) reason = CLT_REASON_RUN_CRASH;
      if (b->interrupted) reason = CLT_REASON_RUN_TIMEOUT;
      read_answers(s, well);
      if (!well && line_ended && b->n_answered > 0 && b->n_answered < b->n) b->streams = true;
      settle_rest(s, reason, story);
      clt_remove_tree(s->slots[0].folder, true);
    }
    free(story);
    return rc;
  }
  size_t before = b->n_answered;
  read_answers(s, false);
  if (b->n_answered > before) {
    if ((s->command->batch.output || line_ended) && b->n_answered < b->n) b->streams = true;
    set_deadline(s);
  }
  if (clt_now_s() < b->deadline_s || b->interrupted) return CLT_OK;
  clt_program_interrupt(process);
  b->interrupted = true;
  return CLT_OK;
}

/* Begins nothing while the caller may be busy with results. */
int clt_batch_turn(clt_command_state *s, clt_error *error) {
  const clt_evaluation *program = &s->slots[0].evaluation;
  int rc = clt_evaluation_active(program) ? take_events(s, error) : CLT_OK;
  size_t n_done = 0;
  for (size_t i = 0; i < s->n_submitted; i++) n_done += s->batch.queue[i].stage == CLT_EVALUATION_DONE;
  if (rc == CLT_OK && !clt_evaluation_active(program) && n_done == 0) rc = begin_next(s, error);
  if (rc == CLT_OK && program->stage == CLT_EVALUATION_DONE)
    rc = clt_fail(error, CLT_E_WORKER, "cannot build the program of the batch protocol: %s",
                  program->measurement.log ? program->measurement.log : "");
  if (rc == CLT_OK && !clt_evaluation_active(program) && n_done == s->n_submitted) clt_command_lock(s, CLT_UNLOCKED);
  return rc;
}
