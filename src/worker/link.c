#include "worker/link.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"

int clt_link_launch(clt_link *link, const clt_process_setup *setup, const clt_deadlines *limits, clt_error *error) {
  memset(link, 0, sizeof *link);
  int rc = clt_process_launch(&link->process, setup, error);
  if (rc) return rc;
  link->alive = link->busy = true;
  link->phase = CLT_AT_BUILD;
  link->limits = *limits;
  link->deadline_s = clt_now_s() + limits->host_s;
  return CLT_OK;
}

int clt_link_start(clt_link *link, const char *path, const char *folder, int64_t memory_limit_bytes,
                   const clt_deadlines *limits, clt_error *error) {
  clt_process_setup setup = {.path = path, .folder = folder, .memory_limit_bytes = memory_limit_bytes};
  return clt_link_launch(link, &setup, limits, error);
}

int clt_link_tell(clt_link *link, json_t *message, clt_error *error) {
  if (message == NULL) return clt_fail_memory(error);
  int rc = clt_frame_send(link->process.socket, message, error);
  json_decref(message);
  return rc;
}

static double allowed_s(const clt_deadlines *limits, clt_worker_phase phase) {
  switch (phase) {
    case CLT_AT_BUILD:
    case CLT_AT_LAUNCH: return limits->compile_s;
    case CLT_AT_RUNNING: return limits->run_s;
    default: return limits->host_s;
  }
}

int clt_link_request(clt_link *link, json_t *request, clt_worker_phase phase, const clt_deadlines *limits,
                     clt_error *error) {
  link->busy = true;
  link->heard = false;
  link->phase = phase;
  link->limits = *limits;
  link->paused_s = 0;
  link->deadline_s = clt_now_s() + allowed_s(limits, phase);
  return clt_link_tell(link, request, error);
}

/* Compiling goes on in the first launch, so LAUNCH after BUILD has no new deadline. */
static void enter(clt_link *link, clt_worker_phase phase) {
  if (phase != CLT_AT_LAUNCH || link->phase != CLT_AT_BUILD)
    link->deadline_s = clt_now_s() + allowed_s(&link->limits, phase);
  link->phase = phase;
  link->heard = true;
}

static clt_link_event judge(clt_link *link, json_t *message, json_t **reply) {
  clt_worker_phase phase;
  if (strcmp(clt_message_string(message, "reply"), "phase") != 0) {
    link->busy = false;
    *reply = message;
    return CLT_LINK_REPLY;
  }
  int rc = clt_worker_phase_parse(&phase, clt_message_string(message, "phase"));
  json_decref(message);
  if (rc) return link->garbled = true, CLT_LINK_ENDED;
  enter(link, phase);
  return CLT_LINK_PHASE;
}

clt_link_event clt_link_next(clt_link *link, json_t **reply) {
  json_t *message = NULL;
  clt_process_drain(&link->process);
  for (;;) {
    int taken = clt_frame_take(&link->reader, &message, NULL);
    if (taken < 0) return link->garbled = true, CLT_LINK_ENDED;
    if (taken > 0) return judge(link, message, reply);
    /* Asked before reading, so that its last words are heard. Its socket alone would not tell: a child may hold it. */
    bool gone = clt_process_gone(&link->process);
    clt_frame_input input = clt_frame_receive(&link->reader, link->process.socket, false);
    if (input == CLT_FRAME_CLOSED || (gone && input == CLT_FRAME_NOTHING)) return CLT_LINK_ENDED;
    if (input == CLT_FRAME_NOTHING) return CLT_LINK_NOTHING;
  }
}

void clt_link_pause(clt_link *link) {
  if (link->paused_s == 0) link->paused_s = clt_now_s();
}

void clt_link_resume(clt_link *link, double grace_s) {
  double now_s = clt_now_s();
  if (link->paused_s != 0) link->deadline_s += now_s - link->paused_s;
  link->deadline_s = fmax(link->deadline_s, now_s + grace_s);
  link->paused_s = 0;
}

bool clt_link_expired(const clt_link *link, double now_s) {
  return link->busy && link->paused_s == 0 && now_s >= link->deadline_s;
}

void clt_link_stop(clt_link *link, bool by_itself, char **why) {
  int status = 0;
  char ending[64];
  *why = NULL;
  if (!link->alive) return;
  bool ended = clt_process_end(&link->process, &status);
  clt_process_status_text(status, ending, sizeof ending);
  if (!by_itself) strcpy(ending, ended ? "was ended" : "cannot be ended");
  if (link->garbled) strcpy(ending, "sent what is no message");
  const char *printed = link->process.captured;
  int length = (int)strlen(printed);
  while (length > 0 && printed[length - 1] == '\n') length--;
  *why = clt_format("the worker %s%s%.*s", ending, length > 0 ? "; it had printed:\n" : "", length, printed);
  clt_process_release(&link->process);
  clt_frame_reader_release(&link->reader);
  link->alive = link->busy = false;
}

/* --- one after the other --- */

static bool wait_for_bytes(clt_link *link) {
  struct pollfd watched[CLT_PROCESS_WATCHED];
  clt_process_watch(&link->process, watched);
  double left_s = link->deadline_s - clt_now_s();
  if (left_s <= 0) return false;
  return poll(watched, CLT_PROCESS_WATCHED, (int)fmin(ceil(left_s * 1e3), 1e6)) >= 0 || errno == EINTR;
}

static int ended(clt_link *link, bool by_itself, const char *what, clt_error *error) {
  char *why = NULL;
  clt_link_stop(link, by_itself, &why);
  int rc = clt_fail(error, CLT_E_WORKER, "%s: %s", what, why ? why : "out of memory");
  free(why);
  return rc;
}

int clt_link_await(clt_link *link, json_t **reply, clt_error *error) {
  json_t *message = NULL;
  for (;;) {
    clt_link_event event = clt_link_next(link, &message);
    if (event == CLT_LINK_ENDED) return ended(link, true, "the worker gave no answer", error);
    if (event == CLT_LINK_REPLY) break;
    if (event == CLT_LINK_NOTHING && !wait_for_bytes(link))
      return ended(link, false, "the worker took too long", error);
  }
  if (strcmp(clt_message_string(message, "reply"), "error") == 0) {
    int rc = clt_message_to_error(message, error);
    json_decref(message);
    return rc;
  }
  *reply = message;
  return CLT_OK;
}

int clt_link_check_greeting(const json_t *greeting, clt_error *error) {
  int64_t protocol = 0;
  const char *version = clt_message_string(greeting, "version");
  if (strcmp(clt_message_string(greeting, "reply"), "hello") != 0 ||
      clt_message_integer(&protocol, greeting, "protocol", 0, INT32_MAX, NULL))
    return clt_fail(error, CLT_E_WORKER, "the program that should be clatune-worker is something else");
  if (protocol != CLT_PROTOCOL_VERSION || strcmp(version, CLATUNE_VERSION) != 0)
    return clt_fail(error, CLT_E_WORKER,
                    "clatune-worker is of version %.32s (protocol %d), this is %s (protocol %d); install both from one "
                    "build, or name the right one in CLATUNE_WORKER",
                    version, (int)protocol, CLATUNE_VERSION, CLT_PROTOCOL_VERSION);
  return CLT_OK;
}
