/* worker/program.h - a process of clatune-worker that runs programs for us, one at a time: started in a process group
 * of their own, timed, ended with all that they started when their time is up, and when we are gone. What a program
 * prints is the process's `answered` and `printed`. */
#ifndef CLT_WORKER_PROGRAM_H
#define CLT_WORKER_PROGRAM_H

#include "worker/process.h"

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

/* Starts the worker, for this trade, and awaits its greeting. */
int clt_program_start(clt_process *process, const clt_process_setup *setup, clt_error *error);
void clt_program_stop(clt_process *process); /* ends what runs; again does nothing */

int clt_program_begin(clt_process *process, const clt_program_run *run, clt_error *error);
/* Asks for the end of what runs; clt_program_poll tells when that has come. */
void clt_program_interrupt(clt_process *process);

/* Takes what was printed. 1: it has ended, *out says how; 0: it still runs; CLT_E_WORKER: the worker itself is gone. */
int clt_program_poll(clt_process *process, clt_program_end *out, clt_error *error);

/* "./a.out 3 exited with status 1; it had printed:\n..." malloc'ed; NULL when out of memory. */
char *clt_program_story(const clt_process *process, char *const *words, const clt_program_end *end);

#endif
