/* worker/process.h - one worker process: started in a process group of its own, with a socket for messages and pipes
 * for what it prints; the request that it is at and when its time is up (deadline.c); and its certain end. */
#ifndef CLT_WORKER_PROCESS_H
#define CLT_WORKER_PROCESS_H

#include <poll.h>
#include <sys/types.h>

#include "base/text.h"
#include "worker/message.h"

/* How long the phases of a request may take. */
typedef struct clt_deadlines {
  double compile_s; /* until RUNNING */
  double run_s;     /* from each RUNNING */
  double host_s;    /* everything else: starting, data, verification */
} clt_deadlines;

typedef struct clt_process {
  bool alive; /* there is a process */
  pid_t pid;
  int pid_fd;                 /* -1: the kernel has none */
  int socket;                 /* messages; closed on exec, sends give up after some seconds */
  int output;                 /* what it prints, non-blocking; -1: it has closed it */
  int answers;                /* its standard output where that is apart from `output`, non-blocking; otherwise -1 */
  clt_text printed, answered; /* from them: of much, the end */
  clt_frame_reader reader;
  bool busy;    /* a request (or the greeting) is awaited */
  bool heard;   /* the request: a phase of it was reported */
  bool garbled; /* it sent what is no message */
  clt_phase phase;
  clt_deadlines limits;
  double deadline_s; /* on clt_now_s's clock */
  double paused_s;   /* since when the deadline stands still; 0: it runs */
  double end_by_s;   /* by when a killed one should have ended; 0: it was not killed */
  /* What excuses a deadline that has passed: of the phase since begun_s, pauses left out. */
  double begun_s, cpu_s;   /* its start, and the processor time that the process had had by then */
  double late_s;           /* how long we were kept from looking */
  double checked_s, got_s; /* when it was last asked for an excuse, and the processor time by then */
  bool starved;            /* in this request a deadline was moved: the machine was busy */
  bool asleep;             /* its time was up, and it had not computed */
  bool killed;             /* ended by a signal that others send, not by a fault of its own; set by stop */
} clt_process;

/* Where standard output goes: with errors into `output`, into a pipe of its own, or into a terminal of its own, in
 * front of which programs hold nothing back. */
typedef enum clt_answers { CLT_ANSWERS_WITH_ERRORS, CLT_ANSWERS_IN_PIPE, CLT_ANSWERS_ON_TERMINAL } clt_answers;

typedef struct clt_process_setup {
  const char *path;           /* of the program, clt_worker_path */
  const char *folder;         /* its private folder, must exist; temporary files go there */
  const char *cache;          /* PoCL's cache; NULL: in the folder */
  int64_t memory_limit_bytes; /* 0: none */
  const char *trade;          /* a further argument; NULL: none */
  clt_answers answers;
  bool heap_checks; /* glibc's, where they are there: whoever damages the heap is ended by them */
} clt_process_setup;

/* Where the worker program is: $CLATUNE_WORKER, beside the executable or in the build tree or in libexec next to it,
 * the installed place. *out is malloc'ed. CLT_E_WORKER with what was tried. */
int clt_worker_path(char **out, clt_error *error);

/* The environment that a worker gets, for clt_words_free (environment.c). */
int clt_worker_environment(char ***out, const clt_process_setup *setup, clt_error *error);

/* Starts a worker; its greeting is awaited within limits->host_s: by the caller, or (begin) here. */
int clt_process_start(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error);
int clt_process_begin(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error);

/* Sends a request (a new reference, taken over also on failure; NULL: out of memory) that begins at `phase`. */
int clt_process_request(clt_process *process, json_t *request, clt_phase phase, const clt_deadlines *limits,
                        clt_error *error);
/* Sends a message that is no request. */
int clt_process_tell(clt_process *process, json_t *message, clt_error *error);

typedef enum clt_process_event {
  CLT_PROCESS_NOTHING,
  CLT_PROCESS_PHASE, /* process->phase is new */
  CLT_PROCESS_REPLY, /* the request is answered */
  CLT_PROCESS_ENDED, /* it closed its end, or sent what is no message */
} clt_process_event;

/* The next thing that the worker said; never blocks. *reply is owned by the caller, set with CLT_PROCESS_REPLY only. */
clt_process_event clt_process_next(clt_process *process, json_t **reply);

/* Waits for the answer to the request in flight: CLT_E_WORKER where the worker ends or its time is up, or the error
 * that the worker reports. */
int clt_process_await(clt_process *process, json_t **reply, clt_error *error);

/* Whether a greeting is one of this version; CLT_E_WORKER says what to do. */
int clt_process_check_greeting(const json_t *greeting, clt_error *error);

/* The deadline of process->phase, from now on. */
void clt_process_begin_phase(clt_process *process);

/* The deadline stands still while a worker waits for the device. After it at least grace_s are left. */
void clt_process_pause(clt_process *process);
void clt_process_resume(clt_process *process, double grace_s);
bool clt_process_expired(const clt_process *process, double now_s);

/* We were kept from looking at it for so long: not asked for, and not spent on computing. */
void clt_process_add_lateness(clt_process *process, double now_s, double late_s);

/* Moves a deadline that has passed, and says whether it did: by our own lateness; and where the phase computes on the
 * processor, by what the process lacks of its time while it would run and gets less than half of what its threads could
 * use. Up to ten times the limit in all. */
bool clt_process_excuse(clt_process *process, bool computes, double now_s);

/* Whether it has ended by itself; false where the kernel cannot tell. */
bool clt_process_gone(const clt_process *process);

/* Fills what poll has to watch: messages, output, answers, end. */
#define CLT_PROCESS_WATCHED 4
void clt_process_watch(const clt_process *process, struct pollfd *out);

void clt_process_forget_output(clt_process *process); /* what was printed */

/* Kills the process with its group, without waiting for its end; again does nothing. */
void clt_process_kill(clt_process *process);

/* Kills it, waits for its end for the time that the host's work may take, 30 s at most, and releases everything; does
 * nothing where there is none. *why (nullable) says how it ended where it did so by itself, and what it printed;
 * malloc'ed, or NULL when there is nothing to say or out of memory. Returns the number of a process that does not end,
 * since a call of a driver does not return, and is left behind; else 0. */
pid_t clt_process_stop(clt_process *process, bool by_itself, char **why);

/* --- a worker that runs programs for us, one at a time: in a process group of their own, timed, ended with all that
 * they started when their time is up, and when we are gone. What a program prints is the process's `answered` and
 * `printed`.
 */

/* What is run; borrowed for the call. environment goes over ours, input is a file's path ("": nothing). limit_s 0:
 * none. */
typedef struct clt_program_run {
  char **words, **environment;
  const char *folder, *input;
  double limit_s;
} clt_program_run;

/* How it ended. Seconds and bytes are of all its processes that it waited for. */
typedef struct clt_program_end {
  bool started, expired;
  char why[200]; /* it could not be started */
  int status;    /* as from waitpid */
  double wall_s, user_s, system_s, memory_bytes;
} clt_program_end;

int clt_program_start(clt_process *process, const clt_process_setup *setup, clt_error *error); /* the worker */
void clt_program_stop(clt_process *process); /* and what runs; again does nothing */

int clt_program_begin(clt_process *process, const clt_program_run *run, clt_error *error);
/* Asks for the end of what runs; clt_program_poll tells when that has come. */
void clt_program_interrupt(clt_process *process);

/* Takes what was printed. 1: it has ended, *out says how; 0: it still runs; CLT_E_WORKER: the worker itself is gone. */
int clt_program_poll(clt_process *process, clt_program_end *out, clt_error *error);

/* "./a.out 3 exited with status 1; it had printed:\n..." malloc'ed; NULL when out of memory. */
char *clt_program_story(const clt_process *process, char *const *words, const clt_program_end *end);

#endif
