/* worker/process.h - one worker process: its start in a process group of its own, with a socket for messages and pipes
 * for its output; its current request and deadline (deadline.c); and its end, which is certain. */
#pragma once

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

#define CLT_MOMENT_S 2.0 /* what takes longer is worth a word to a waiting user */

typedef struct clt_process {
  bool alive; /* there is a process */
  pid_t pid;
  int pid_fd;                 /* -1: the system has no pidfd */
  int socket;                 /* for messages; closed on exec; a send gives up after some seconds */
  int output;                 /* its output, non-blocking; -1: closed by the worker */
  int answers;                /* its standard output if separate from `output`, non-blocking; otherwise -1 */
  clt_text printed, answered; /* the last part of `output` and of `answers` */
  clt_frame_reader reader;
  bool busy;    /* an answer to a request (or the greeting) is awaited */
  bool heard;   /* the worker has reported a phase of the current request */
  bool garbled; /* it sent something that is no message */
  clt_phase phase;
  clt_deadlines limits;
  double deadline_s; /* on clt_now_s's clock */
  double paused_s;   /* since when the deadline is suspended; 0: it is not */
  double end_by_s;   /* when it should have ended after being killed; 0: it was not killed */
  /* Reasons to move a deadline that has passed; for the phase that began at begun_s, without suspensions. */
  double begun_s, cpu_s;   /* the phase's start, and the process's processor time then */
  double late_s;           /* how long this process was kept from checking */
  double checked_s, got_s; /* when it was last considered, and the processor time then */
  bool jumped;             /* the clock jumped during this request: its times and limits mean nothing */
  bool starved;            /* a deadline of this request was moved because the machine was busy */
  bool asleep;             /* it missed its deadline without computing */
  bool killed;             /* ended by a signal from outside, not by a fault of its own; set by clt_process_stop */
} clt_process;

/* Where standard output goes: with errors into `output`, into a pipe of its own, or into a pseudo-terminal of its own,
 * which programs do not buffer for. */
typedef enum clt_answers { CLT_ANSWERS_WITH_ERRORS, CLT_ANSWERS_IN_PIPE, CLT_ANSWERS_ON_TERMINAL } clt_answers;

typedef struct clt_process_setup {
  const char *path;           /* of the worker program: clt_worker_path */
  const char *folder;         /* its private folder, must exist; temporary files go there */
  const char *cache;          /* PoCL's compiler cache; NULL: in the folder */
  int64_t memory_limit_bytes; /* 0: none */
  const char *trade;          /* a further argument, such as CLT_COMMAND_TRADE; NULL: none */
  clt_answers answers;
  bool heap_checks; /* glibc's, if available: they end a process whose heap is damaged */
} clt_process_setup;

/* Finds the worker program: $CLATUNE_WORKER, next to the executable, in its build tree or its ../libexec, then where it
 * is installed. *out is malloc'ed. CLT_E_WORKER lists the paths tried. */
int clt_worker_path(char **out, clt_error *error);

/* Adds "NAME=value" to the environment of the workers that this thread starts from now on. NULL: nothing; the last is
 * NULL; borrowed until the next call. */
void clt_worker_add_environment(const char *const *entries);
const char *const *clt_worker_added_environment(void); /* never NULL */
/* The environment for a worker (environment.c); release with clt_words_free. */
int clt_worker_environment(char ***out, const clt_process_setup *setup, clt_error *error);

/* Starts a worker, whose greeting must come within limits->host_s. clt_process_begin waits for it, after
 * clt_process_start the caller does. */
int clt_process_start(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error);
int clt_process_begin(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error);

/* Sends a request that begins with `phase`. request is a new reference, taken over also on failure; NULL: out of
 * memory. */
int clt_process_request(clt_process *process, json_t *request, clt_phase phase, const clt_deadlines *limits,
                        clt_error *error);
/* Sends a message that is no request. */
int clt_process_tell(clt_process *process, json_t *message, clt_error *error);

typedef enum clt_process_event {
  CLT_PROCESS_NOTHING,
  CLT_PROCESS_PHASE, /* process->phase is new */
  CLT_PROCESS_REPLY, /* the request was answered */
  CLT_PROCESS_ENDED, /* it closed its end, or sent something that is no message */
} clt_process_event;

/* The worker's next message, if any; never blocks. *reply is set with CLT_PROCESS_REPLY only; the caller owns it. */
clt_process_event clt_process_next(clt_process *process, json_t **reply);

/* Waits for the answer to the request in flight. CLT_E_WORKER if the worker ends or misses its deadline; or the error
 * that the worker reports. */
int clt_process_await(clt_process *process, json_t **reply, clt_error *error);

/* CLT_OK if a greeting is from this version; the message of CLT_E_WORKER says what to do. */
int clt_process_check_greeting(const json_t *greeting, clt_error *error);

/* Starts process->phase: its deadline counts from now. */
void clt_process_begin_phase(clt_process *process);

/* Suspends the deadline while a worker waits for the device. After clt_process_resume at least grace_s are left. */
void clt_process_pause(clt_process *process);
void clt_process_resume(clt_process *process, double grace_s);
/* Moves the phase by a jump of the clock (clt_poll), which the request's `jumped` notes. */
void clt_process_jump(clt_process *process, double jump_s);
bool clt_process_expired(const clt_process *process, double now_s);

/* Adds late_s, the time for which this process was kept from checking the worker: neither intended waiting nor
 * computing. */
void clt_process_add_lateness(clt_process *process, double now_s, double late_s);

/* Moves a deadline that has passed, and returns whether it did. It moves by the caller's own lateness, and, if the
 * phase computes on the processor, by the processor time that the worker did not get, while it gets less than half of
 * what its threads could use. At most to ten times the limit in all. */
bool clt_process_excuse(clt_process *process, bool computes, double now_s);

/* Whether it has ended by itself; false if the system cannot tell. */
bool clt_process_gone(const clt_process *process);

/* Fills the descriptors for poll: messages, output, answers, end. */
#define CLT_PROCESS_WATCHED 4
void clt_process_watch(const clt_process *process, struct pollfd *out);

void clt_process_forget_output(clt_process *process); /* discards `printed` */

/* Kills the process with its group, without waiting for its end; again does nothing. */
void clt_process_kill(clt_process *process);

/* Kills the process, waits for its end (limits.host_s, at most 30 s) and releases everything; does nothing if there is
 * no process. *why (nullable) says how it ended, if by itself, and what it printed; malloc'ed, or NULL if there is
 * nothing to say or memory is short. Returns 0, or the pid of a process that does not end because it is stuck in a
 * driver: that one is left behind. */
pid_t clt_process_stop(clt_process *process, bool by_itself, char **why);

/* --- a worker that runs programs, one at a time, each in a session of its own. At its time limit, or when the tuner is
 * gone, a program is ended with all processes that it started. Its output is in `answered` and `printed`.
 */

/* A program to run; borrowed for the call. environment is added to the worker's, input is a file's path ("": nothing),
 * limit_s 0 means no limit. */
typedef struct clt_program_run {
  char **words, **environment;
  const char *folder, *input;
  double limit_s;
} clt_program_run;

/* How it ended. Seconds and bytes include the child processes that it waited for. */
typedef struct clt_program_end {
  bool started, expired;
  char why[200]; /* why it could not be started */
  int status;    /* as from waitpid */
  double wall_s, user_s, system_s, memory_bytes;
} clt_program_end;

int clt_program_start(clt_process *process, const clt_process_setup *setup, clt_error *error); /* the worker */
void clt_program_stop(clt_process *process); /* also ends the running program; a second call does nothing */

int clt_program_begin(clt_process *process, const clt_program_run *run, clt_error *error);
/* Ends the running program; clt_program_poll reports its end. */
void clt_program_interrupt(clt_process *process);

/* Collects output. Returns 1: the program has ended, see *out; 0: it still runs; CLT_E_WORKER: the worker itself is
 * gone. */
int clt_program_poll(clt_process *process, clt_program_end *out, clt_error *error);

/* "./a.out 3 exited with status 1; it had printed:\n..." malloc'ed; NULL when out of memory. */
char *clt_program_story(const clt_process *process, char *const *words, const clt_program_end *end);
