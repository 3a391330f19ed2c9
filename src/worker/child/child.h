/* worker/child/child.h - the program clatune-worker. serve.c begins, and builds and runs kernels; programs.c runs a
 * tuner's programs; self.c is about the process itself. */
#ifndef CLT_WORKER_CHILD_H
#define CLT_WORKER_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The other trade: runs programs, one at a time, and sees to their end (docs/worker-protocol.md, "Commands"). When the
 * parent closes its end, or is gone, whatever runs is ended first. Returns the process's exit status. */
int clt_worker_run_commands(int fd, pid_t parent);

/* --- the process itself --- */

/* Ends the process when its parent does; false if the parent is gone already. */
int clt_worker_follow(pid_t parent);

/* No core files; at most memory_bytes of memory (0: any amount); the first to go when the machine runs out of it; no
 * descriptors but the standard ones and the socket, which children do not get. */
void clt_worker_limit(int64_t memory_bytes);

/* A kernel that crashes at once does so before its event can be seen running, and the parent would blame the compiler.
 * So where a fault's instruction lies in generated code, the parent is told that the kernel was running.
 *
 * Again takes the signals back from a driver that has put its own handlers there. LLVM does at its first compilation,
 * and its handler is gone while it runs (SA_RESETHAND): of threads that fault together the second one then ends the
 * process before anything is said.
 *
 * The handler needs a stack where a thread's own is full: the caller gets one here, and every thread that is started in
 * the process gets one by the pthread_create of self.c, which comes before the C library's. */
void clt_worker_watch_faults(int fd);

/* The driver's threads, each on one processor while something is timed: they sleep between launches, and the scheduler
 * may wake several of them on one processor and leave them there; short kernels then take twice as long, run after run.
 * While nothing is timed they are free, as drivers compile in them, too.
 *
 * Gives every thread of the process but the caller a processor of its own, in turns, in the order in which they were
 * started. Those that somebody has bound already stay where they are. */
void clt_worker_spread_threads(void);
void clt_worker_free_threads(void); /* they may use what they might before */

#endif
