#include "worker/program.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "problem/command.h"

#define START_S 60 /* a worker's greeting */
#define GRACE_S 30 /* the worker minds the limit; it is given up so long after */
#define NO_LIMIT_S 1e9
#define DISMISS_S 5.0
#define WORDS_SHOWN 300
#define ANSWERS_SHOWN 8000

int clt_program_start(clt_program *program, const clt_program_setup *setup, clt_error *error) {
  const clt_process_setup process = {.path = setup->worker_path,
                                     .folder = setup->folder,
                                     .memory_limit_bytes = setup->memory_limit_bytes,
                                     .trade = CLT_COMMAND_TRADE,
                                     .answers = setup->terminal ? CLT_ANSWERS_ON_TERMINAL : CLT_ANSWERS_IN_PIPE};
  const clt_deadlines limits = {START_S, START_S, START_S};
  *program = (clt_program){.process = {.alive = false}};
  int rc = clt_process_start(&program->process, &process, &limits, error);
  if (rc == 0) rc = clt_process_greet(&program->process, error);
  if (rc) clt_program_stop(program);
  return rc;
}

void clt_program_stop(clt_program *program) {
  if (program->process.alive) clt_process_dismiss(&program->process, DISMISS_S);
  clt_process_stop(&program->process, false, NULL);
  clt_text_release(&program->answers);
}

/* Of what is too much the first half goes. */
static int drain_answers(clt_program *p, clt_error *error) {
  char chunk[65536];
  ssize_t got = 1;
  clt_text *answers = &p->answers;
  clt_process_drain(&p->process);
  while (got > 0 || (got < 0 && errno == EINTR)) {
    got = read(p->process.answers, chunk, sizeof chunk);
    if (answers->n + sizeof chunk >= CLT_MAX_ANSWER_BYTES) {
      memmove(answers->bytes, answers->bytes + answers->n / 2, answers->n - answers->n / 2 + 1);
      answers->n -= answers->n / 2;
    }
    clt_text_add_bytes(answers, chunk, got > 0 ? (size_t)got : 0);
  }
  return answers->rc ? clt_fail_memory(error) : CLT_OK;
}

static json_t *pack_texts(char *const *list) {
  json_t *out = json_array();
  for (size_t i = 0; list && list[i]; i++)
    if (json_array_append_new(out, clt_json_text(list[i]))) return json_decref(out), NULL;
  return out;
}

int clt_program_begin(clt_program *program, const clt_program_run *run, clt_error *error) {
  double patience_s = run->limit_s > 0 ? run->limit_s + GRACE_S : NO_LIMIT_S;
  const clt_deadlines limits = {patience_s, patience_s, patience_s};
  int rc = drain_answers(program, error); /* the last one's */
  if (rc) return rc;
  clt_process_forget_output(&program->process);
  clt_text_release(&program->answers);
  json_t *request = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f}", "request", "command", "words", pack_texts(run->words),
                              "environment", pack_texts(run->environment), "folder", clt_json_text(run->folder),
                              "input", clt_json_text(run->input), "limit_s", run->limit_s);
  return clt_process_request(&program->process, request, CLT_PHASE_VERIFY, &limits, error);
}

void clt_program_interrupt(clt_program *program) {
  clt_process_tell(&program->process, json_pack("{s:s}", "request", "end"), NULL);
  program->process.deadline_s = fmin(program->process.deadline_s, clt_now_s() + GRACE_S);
}

static double positive_number(const json_t *reply, const char *key) {
  double x = json_number_value(json_object_get(reply, key));
  return isfinite(x) && x > 0 ? x : 0;
}

static int take_reply(clt_program_end *out, const json_t *reply, clt_error *error) {
  const char *kind = clt_json_string(reply, "reply");
  int64_t status = 0;
  *out = (clt_program_end){.started = strcmp(kind, "ended") == 0};
  if (strcmp(kind, "not-started") == 0) {
    snprintf(out->why, sizeof out->why, "%s", clt_json_string(reply, "why"));
    return CLT_OK;
  }
  if (!out->started) return clt_fail(error, CLT_E_WORKER, "the worker's answer makes no sense");
  int rc = clt_message_integer(&status, reply, "status", INT32_MIN, INT32_MAX, error);
  out->status = (int)status;
  out->expired = json_is_true(json_object_get(reply, "expired"));
  out->wall_s = positive_number(reply, "wall_s");
  out->user_s = positive_number(reply, "user_s");
  out->system_s = positive_number(reply, "system_s");
  out->memory_bytes = positive_number(reply, "memory_bytes");
  return rc;
}

int clt_program_poll(clt_program *program, clt_program_end *out, clt_error *error) {
  json_t *reply = NULL;
  if (!program->process.alive) return clt_fail(error, CLT_E_WORKER, "there is no worker");
  clt_process_event event = clt_process_next(&program->process, &reply);
  int rc = drain_answers(program, error);
  if (rc == 0 && event == CLT_PROCESS_REPLY) rc = take_reply(out, reply, error);
  json_decref(reply);
  if (rc || event == CLT_PROCESS_REPLY) return rc ? rc : 1;
  bool ended = event == CLT_PROCESS_ENDED;
  if (!ended && !clt_process_expired(&program->process, clt_now_s())) return 0;
  char *why = NULL;
  clt_process_stop(&program->process, ended, &why);
  rc = clt_fail(error, CLT_E_WORKER, "%s", why ? why : "out of memory");
  free(why);
  return rc;
}

void clt_program_watch(const clt_program *program, struct pollfd *out) {
  clt_process_watch(&program->process, out);
  out[CLT_PROCESS_WATCHED] = (struct pollfd){.fd = program->process.answers, .events = POLLIN};
}

char *clt_program_story(const clt_program *program, char *const *words, const clt_program_end *end) {
  clt_text out = {0};
  char *text = NULL, status[64];
  const char *printed = program->answers.bytes, *errors = program->process.captured;
  size_t n_printed = program->answers.n, n_errors = errors ? strlen(errors) : 0, left = WORDS_SHOWN;
  for (size_t i = 0; words[i] && left > 0; i++) {
    size_t n = strnlen(words[i], left);
    clt_text_printf(&out, "%s%.*s", i ? " " : "", (int)n, words[i]);
    left -= n;
  }
  clt_status_text(end->status, status, sizeof status);
  clt_text_printf(&out, "%s%s%s", left == 0 ? "..." : "", end->started ? " " : ": ",
                  !end->started  ? end->why
                  : end->expired ? "was ended: its time was up"
                                 : status);
  if (n_printed > 0)
    clt_text_printf(&out, "\nstandard output:\n%s",
                    printed + (n_printed > ANSWERS_SHOWN ? n_printed - ANSWERS_SHOWN : 0));
  if (n_errors > 0)
    clt_text_printf(&out, "\nstandard error:\n%s", errors + (n_errors > ANSWERS_SHOWN ? n_errors - ANSWERS_SHOWN : 0));
  while (out.n > 0 && out.bytes[out.n - 1] == '\n') out.bytes[--out.n] = 0;
  return clt_text_take(&text, &out, NULL) ? NULL : text;
}
