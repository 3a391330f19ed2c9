/* worker/link.h - a worker process with a request in flight: what it answers, at which phase it is, and when its time is
 * up. */
#ifndef CLT_WORKER_LINK_H
#define CLT_WORKER_LINK_H

#include <jansson.h>

#include "worker/frame.h"
#include "worker/message.h"
#include "worker/process.h"

/* How long the phases of a request may take. */
typedef struct clt_deadlines {
  double compile_s; /* until RUNNING */
  double run_s;     /* from each RUNNING */
  double host_s;    /* everything else: starting, data, verification */
} clt_deadlines;

typedef struct clt_link {
  clt_process process;
  clt_frame_reader reader;
  bool alive;   /* there is a process */
  bool busy;    /* a request (or the greeting) is awaited */
  bool heard;   /* the request: a phase of it was reported */
  bool garbled; /* it sent what is no message */
  clt_worker_phase phase;
  clt_deadlines limits;
  double deadline_s; /* on clt_now_s's clock */
  double paused_s;   /* since when the deadline stands still; 0: it runs */
} clt_link;

typedef enum clt_link_event {
  CLT_LINK_NOTHING,
  CLT_LINK_PHASE, /* link->phase is new */
  CLT_LINK_REPLY, /* the request is answered */
  CLT_LINK_ENDED, /* the process closed its end, or sent what is no message */
} clt_link_event;

/* Starts a worker; its greeting is awaited within limits->host_s. */
int clt_link_start(clt_link *link, const char *path, const char *folder, int64_t memory_limit_bytes,
                   const clt_deadlines *limits, clt_error *error);

int clt_link_launch(clt_link *link, const clt_process_setup *setup, const clt_deadlines *limits, clt_error *error);

/* Sends a request (a new reference, taken over also on failure; NULL: out of memory) that begins at `phase`. */
int clt_link_request(clt_link *link, json_t *request, clt_worker_phase phase, const clt_deadlines *limits,
                     clt_error *error);
/* Sends a message that is no request. */
int clt_link_tell(clt_link *link, json_t *message, clt_error *error);

/* The next thing that the worker said; never blocks. *reply is owned by the caller, set with CLT_LINK_REPLY only. */
clt_link_event clt_link_next(clt_link *link, json_t **reply);

/* The deadline stands still while a worker waits for the device. After it at least grace_s are left. */
void clt_link_pause(clt_link *link);
void clt_link_resume(clt_link *link, double grace_s);
bool clt_link_expired(const clt_link *link, double now_s);

/* Kills the process; *why says how it ended where it did so itself, and what it printed. *why is malloc'ed, or NULL
 * when out of memory. */
void clt_link_stop(clt_link *link, bool by_itself, char **why);

/* Waits for the answer to the request in flight: CLT_E_WORKER where the worker ends or its time is up, or the error
 * that the worker reports. */
int clt_link_await(clt_link *link, json_t **reply, clt_error *error);

/* Whether a greeting is one of this version; CLT_E_WORKER says what to do. */
int clt_link_check_greeting(const json_t *greeting, clt_error *error);

#endif
