/* worker/command.h - the worker's other trade: it runs a tuner's programs, one at a time, and sees to their end. */
#ifndef CLT_WORKER_COMMAND_H
#define CLT_WORKER_COMMAND_H

#include <sys/types.h>

/* Serves requests (docs/worker-protocol.md, "Commands") until the parent closes its end, or is gone; then whatever runs
 * is ended first. Returns the process's exit status. */
int clt_worker_run_commands(int fd, pid_t parent);

#endif
