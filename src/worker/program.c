#include "worker/program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"

#define START_S 60 /* a worker's greeting */
#define GRACE_S 30 /* the worker minds the limit; it is given up so long after */
#define NO_LIMIT_S 1e9
#define DISMISS_S 5.0
#define WORDS_SHOWN 300
#define ANSWERS_SHOWN 8000

int clt_program_start(clt_process *process, const clt_process_setup *setup, clt_error *error) {
  const clt_deadlines limits = {START_S, START_S, START_S};
  clt_process_setup programs = *setup;
  programs.trade = CLT_COMMAND_TRADE;
  int rc = clt_process_start(process, &programs, &limits, error);
  if (rc == 0) rc = clt_process_greet(process, error);
  if (rc) clt_program_stop(process);
  return rc;
}

void clt_program_stop(clt_process *process) {
  if (process->alive) clt_process_dismiss(process, DISMISS_S);
  clt_process_stop(process, false, NULL);
}

static json_t *pack_texts(char *const *list) {
  json_t *out = json_array();
  for (size_t i = 0; list && list[i]; i++)
    if (json_array_append_new(out, clt_json_text(list[i]))) return json_decref(out), NULL;
  return out;
}

int clt_program_begin(clt_process *process, const clt_program_run *run, clt_error *error) {
  double patience_s = run->limit_s > 0 ? run->limit_s + GRACE_S : NO_LIMIT_S;
  const clt_deadlines limits = {patience_s, patience_s, patience_s};
  clt_process_forget_output(process); /* of the last one */
  json_t *request = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f}", "request", "command", "words", pack_texts(run->words),
                              "environment", pack_texts(run->environment), "folder", clt_json_text(run->folder),
                              "input", clt_json_text(run->input), "limit_s", run->limit_s);
  return clt_process_request(process, request, CLT_PHASE_VERIFY, &limits, error);
}

void clt_program_interrupt(clt_process *process) {
  clt_process_tell(process, json_pack("{s:s}", "request", "end"), NULL);
  process->deadline_s = fmin(process->deadline_s, clt_now_s() + GRACE_S);
}

static double positive_number(const json_t *reply, const char *key) {
  double x = json_number_value(json_object_get(reply, key));
  return isfinite(x) && x > 0 ? x : 0;
}

int clt_program_poll(clt_process *process, clt_program_end *out, clt_error *error) {
  json_t *reply = NULL;
  if (!process->alive) return clt_fail(error, CLT_E_WORKER, "there is no worker");
  clt_process_event event = clt_process_next(process, &reply);
  clt_process_drain(process);
  int rc = process->answered.rc ? clt_fail_memory(error) : CLT_OK;
  if (rc == 0 && event == CLT_PROCESS_REPLY) {
    const char *kind = clt_json_string(reply, "reply");
    int64_t status = 0;
    *out = (clt_program_end){.started = strcmp(kind, "ended") == 0};
    if (out->started) {
      rc = clt_message_integer(&status, reply, "status", INT32_MIN, INT32_MAX, error);
      out->status = (int)status;
      out->expired = json_is_true(json_object_get(reply, "expired"));
      out->wall_s = positive_number(reply, "wall_s");
      out->user_s = positive_number(reply, "user_s");
      out->system_s = positive_number(reply, "system_s");
      out->memory_bytes = positive_number(reply, "memory_bytes");
    } else if (strcmp(kind, "not-started") == 0) {
      snprintf(out->why, sizeof out->why, "%s", clt_json_string(reply, "why"));
    } else {
      rc = clt_fail(error, CLT_E_WORKER, "the worker's answer makes no sense");
    }
  }
  json_decref(reply);
  if (rc || event == CLT_PROCESS_REPLY) return rc ? rc : 1;
  bool ended = event == CLT_PROCESS_ENDED;
  if (!ended && !clt_process_expired(process, clt_now_s())) return 0;
  char *why = NULL;
  clt_process_stop(process, ended, &why);
  rc = clt_fail(error, CLT_E_WORKER, "%s", why ? why : "out of memory");
  free(why);
  return rc;
}

char *clt_program_story(const clt_process *process, char *const *words, const clt_program_end *end) {
  clt_text out = {0};
  char *text = NULL, status[64];
  const char *printed = process->answered.bytes, *errors = process->printed.bytes;
  size_t n_printed = process->answered.n, n_errors = process->printed.n, left = WORDS_SHOWN;
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
