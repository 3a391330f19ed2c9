/* worker/process.h - one worker process: started with posix_spawn in a process group of its own, a socket for messages, a
 * pipe for what it prints, and its certain end. */
#ifndef CLT_WORKER_PROCESS_H
#define CLT_WORKER_PROCESS_H

#include <clatune/error.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLT_CAPTURE_BYTES 16384

typedef struct clt_process {
  pid_t pid; /* 0: none */
  int pid_fd;
  int socket;     /* messages; closed on exec, sends give up after some seconds */
  int output;     /* what it prints, non-blocking; -1: it has closed it */
  int answers;    /* its standard output where that is apart from `output`, non-blocking; otherwise -1 */
  char *captured; /* the last CLT_CAPTURE_BYTES printed, terminated */
  size_t n_captured;
} clt_process;

/* Where standard output goes: with errors into `output`, into a pipe of its own, or into a terminal of its own, in
 * front of which programs hold nothing back. */
typedef enum clt_answers { CLT_ANSWERS_WITH_ERRORS, CLT_ANSWERS_IN_PIPE, CLT_ANSWERS_ON_TERMINAL } clt_answers;

typedef struct clt_process_setup {
  const char *path, *folder;
  int64_t memory_limit_bytes;
  const char *trade; /* a further argument; NULL: none */
  clt_answers answers;
} clt_process_setup;

/* As clt_process_start, with all that can be chosen. */
int clt_process_launch(clt_process *process, const clt_process_setup *setup, clt_error *error);

/* Starts the worker program at `path`. folder: its private folder, must exist; caches and temporary files go there.
 * memory_limit_bytes 0: none. */
int clt_process_start(clt_process *process, const char *path, const char *folder, int64_t memory_limit_bytes,
                      clt_error *error);

/* Whether the process has ended by itself; false where the kernel cannot tell. */
bool clt_process_gone(const clt_process *process);

/* Fills what poll has to watch: messages, output, end. */
#define CLT_PROCESS_WATCHED 3
void clt_process_watch(const clt_process *process, struct pollfd *out);

/* Takes what was printed. */
void clt_process_drain(clt_process *process);
void clt_process_forget_output(clt_process *process);

/* Closes its socket, which asks it to end, and waits as long as patience_s. */
void clt_process_dismiss(clt_process *process, double patience_s);

/* Kills the process group, reaps the process, takes what it printed last (process->captured stays) and closes
 * everything. *status is as from waitpid. False where the kernel would not let it end within some seconds. */
bool clt_process_end(clt_process *process, int *status);
void clt_process_release(clt_process *process); /* end, and free; NULL-safe, idempotent */

/* "was killed by SIGSEGV", "exited with status 1". */
void clt_process_status_text(int status, char *out, size_t capacity);

/* Where the worker program is: $CLATUNE_WORKER, beside the executable or in the build tree or in libexec next to it,
 * the installed place. *out is malloc'ed. CLT_E_WORKER with what was tried. */
int clt_worker_path(char **out, clt_error *error);

#endif
