#include "eval/program.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "problem/command.h"

#define START_S 60 /* a worker's greeting */
#define GRACE_S 30 /* the worker minds the limit; it is given up so long after */
#define NO_LIMIT_S 1e9
#define DISMISS_S 5.0
#define CHUNK_BYTES 65536
#define WORDS_SHOWN 300
#define ANSWERS_SHOWN 8000

int clt_program_start(clt_program *program, const clt_program_setup *setup, clt_error *error) {
  const clt_process_setup process = {.path = setup->worker_path,
                                     .folder = setup->folder,
                                     .memory_limit_bytes = setup->memory_limit_bytes,
                                     .trade = CLT_COMMAND_TRADE,
                                     .answers = setup->terminal ? CLT_ANSWERS_ON_TERMINAL : CLT_ANSWERS_IN_PIPE};
  const clt_deadlines limits = {START_S, START_S, START_S};
  json_t *greeting = NULL;
  *program = (clt_program){.link = {.alive = false}};
  int rc = clt_link_launch(&program->link, &process, &limits, error);
  if (rc) return rc;
  rc = clt_link_await(&program->link, &greeting, error);
  if (rc == 0) rc = clt_link_check_greeting(greeting, error);
  json_decref(greeting);
  if (rc) clt_program_stop(program);
  return rc;
}

void clt_program_stop(clt_program *program) {
  char *why = NULL;
  if (program->link.alive) clt_process_dismiss(&program->link.process, DISMISS_S);
  clt_link_stop(&program->link, false, &why);
  free(why);
  free(program->answers);
  program->answers = NULL;
  program->n_answers = program->capacity = 0;
}

/* --- what it prints --- */

/* Of what is too much the first half goes. */
static void make_room(clt_program *p) {
  if (p->n_answers + CHUNK_BYTES < CLT_MAX_ANSWER_BYTES) return;
  size_t gone = p->n_answers / 2;
  memmove(p->answers, p->answers + gone, p->n_answers - gone);
  p->n_answers -= gone;
  p->cut = true;
}

static int drain(clt_program *p, clt_error *error) {
  ssize_t got = 1;
  clt_process_drain(&p->link.process);
  while (got > 0 || (got < 0 && errno == EINTR)) {
    make_room(p);
    if (clt_grow(&p->answers, &p->capacity, p->n_answers + CHUNK_BYTES + 1, 1)) return clt_fail_memory(error);
    got = read(p->link.process.answers, p->answers + p->n_answers, CHUNK_BYTES);
    if (got > 0) p->n_answers += (size_t)got;
  }
  p->answers[p->n_answers] = 0;
  return CLT_OK;
}

static int forget(clt_program *p, clt_error *error) {
  int rc = drain(p, error);
  if (rc) return rc;
  clt_process_forget_output(&p->link.process);
  p->n_answers = 0;
  p->answers[0] = 0;
  p->cut = false;
  return CLT_OK;
}

/* --- running --- */

static json_t *texts(char *const *list) {
  json_t *out = json_array();
  for (size_t i = 0; list && list[i]; i++)
    if (json_array_append_new(out, clt_message_text(list[i]))) return json_decref(out), NULL;
  return out;
}

int clt_program_begin(clt_program *program, const clt_program_run *run, clt_error *error) {
  double patience_s = run->limit_s > 0 ? run->limit_s + GRACE_S : NO_LIMIT_S;
  const clt_deadlines limits = {patience_s, patience_s, patience_s};
  int rc = forget(program, error);
  if (rc) return rc;
  json_t *request = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f}", "request", "command", "words", texts(run->words),
                              "environment", texts(run->environment), "folder", clt_message_text(run->folder), "input",
                              clt_message_text(run->input), "limit_s", run->limit_s);
  return clt_link_request(&program->link, request, CLT_AT_VERIFY, &limits, error);
}

void clt_program_interrupt(clt_program *program) {
  clt_link_tell(&program->link, json_pack("{s:s}", "request", "end"), NULL);
  program->link.deadline_s = fmin(program->link.deadline_s, clt_now_s() + GRACE_S);
}

static double number(const json_t *reply, const char *key) {
  double x = json_number_value(json_object_get(reply, key));
  return isfinite(x) && x > 0 ? x : 0;
}

static int take_reply(clt_program_end *out, const json_t *reply, clt_error *error) {
  const char *kind = clt_message_string(reply, "reply");
  int64_t status = 0;
  *out = (clt_program_end){.started = strcmp(kind, "ended") == 0};
  if (strcmp(kind, "not-started") == 0) {
    snprintf(out->why, sizeof out->why, "%s", clt_message_string(reply, "why"));
    return CLT_OK;
  }
  if (!out->started) return clt_fail(error, CLT_E_WORKER, "the worker's answer makes no sense");
  int rc = clt_message_integer(&status, reply, "status", INT32_MIN, INT32_MAX, error);
  out->status = (int)status;
  out->expired = json_is_true(json_object_get(reply, "expired"));
  out->wall_s = number(reply, "wall_s");
  out->user_s = number(reply, "user_s");
  out->system_s = number(reply, "system_s");
  out->memory_bytes = number(reply, "memory_bytes");
  return rc;
}

static int gone(clt_program *program, bool by_itself, clt_error *error) {
  char *why = NULL;
  clt_link_stop(&program->link, by_itself, &why);
  int rc = clt_fail(error, CLT_E_WORKER, "%s", why ? why : "out of memory");
  free(why);
  return rc;
}

int clt_program_poll(clt_program *program, clt_program_end *out, clt_error *error) {
  json_t *reply = NULL;
  if (!program->link.alive) return clt_fail(error, CLT_E_WORKER, "there is no worker");
  clt_link_event event = clt_link_next(&program->link, &reply);
  int rc = drain(program, error);
  if (rc == 0 && event == CLT_LINK_REPLY) rc = take_reply(out, reply, error);
  json_decref(reply);
  if (rc || event == CLT_LINK_REPLY) return rc ? rc : 1;
  if (event == CLT_LINK_ENDED) return gone(program, true, error);
  return clt_link_expired(&program->link, clt_now_s()) ? gone(program, false, error) : 0;
}

void clt_program_watch(const clt_program *program, struct pollfd *out) {
  clt_process_watch(&program->link.process, out);
  out[CLT_PROCESS_WATCHED] = (struct pollfd){.fd = program->link.process.answers, .events = POLLIN};
}

/* --- telling of it --- */

static void write_words(FILE *out, char *const *words) {
  size_t left = WORDS_SHOWN;
  for (size_t i = 0; words[i] && left > 0; i++) {
    size_t n = strnlen(words[i], left);
    fprintf(out, "%s%.*s", i ? " " : "", (int)n, words[i]);
    left -= n;
  }
  if (left == 0) fputs("...", out);
}

static const char *tail(const char *text, size_t n, size_t most) { return n > most ? text + n - most : text; }

char *clt_program_story(const clt_program *program, char *const *words, const clt_program_end *end) {
  char *text = NULL, status[64];
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return NULL;
  clt_process_status_text(end->status, status, sizeof status);
  write_words(out, words);
  if (!end->started)
    fprintf(out, ": %s", end->why);
  else
    fprintf(out, " %s", end->expired ? "was ended: its time was up" : status);
  const char *printed = tail(program->answers ? program->answers : "", program->n_answers, ANSWERS_SHOWN);
  const char *errors = program->link.process.captured ? program->link.process.captured : "";
  if (*printed) fprintf(out, "\nstandard output:\n%s", printed);
  if (*errors) fprintf(out, "\nstandard error:\n%s", tail(errors, strlen(errors), ANSWERS_SHOWN));
  if (fclose(out) != 0 || text == NULL) return free(text), NULL;
  while (bytes > 0 && text[bytes - 1] == '\n') text[--bytes] = 0;
  return text;
}
