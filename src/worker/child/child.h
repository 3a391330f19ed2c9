/* worker/child/child.h - the program clatune-worker. serve.c has main, and builds and runs kernels; programs.c runs
 * programs for a tuner; self.c concerns the process itself. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* With CLT_COMMAND_TRADE: runs programs, one at a time (src/worker/PROTOCOL.md, "Commands"). If the parent closes its
 * end or is gone, the running program is ended first. Returns the process's exit status. */
int clt_worker_run_commands(int fd, pid_t parent);

/* --- the process itself --- */

/* The process will end when its parent does; false if the parent is already gone. */
int clt_worker_follow(pid_t parent);

/* Makes generators end with this process, also if that is killed: they are started by this program, with the argument
 * "--become", which does clt_worker_become. That returns only if it cannot start the program. */
void clt_worker_launch_generators(void);
int clt_worker_become(pid_t parent, char *const *words);

/* Limits the process: no core files; at most memory_bytes of memory (0: no limit); the first process to be killed if
 * the machine runs out of memory; no descriptors but the standard ones and the socket, which children do not inherit.
 */
void clt_worker_limit(int64_t memory_bytes);

/* Installs a handler for faults. A kernel that crashes at once does so before its event is seen running, and the parent
 * would blame the compiler. So if the faulting instruction is in generated code, the handler reports phase "running"
 * first.
 *
 * A second call takes the signals back from a driver that has installed its own handlers, as LLVM does at its first
 * compilation. LLVM's handler is reset while it runs (SA_RESETHAND), so if two threads fault together, the second one
 * would end the process before anything is reported.
 *
 * The handler needs a stack of its own in case a thread's is full. The calling thread gets one here, every later thread
 * from the pthread_create of self.c, which replaces the C library's. */
void clt_worker_watch_faults(int fd);

/* Binds the driver's threads to one processor each while something is timed. They sleep between launches, and the
 * scheduler may wake several of them on one processor and leave them there, so that short kernels take twice as long,
 * run after run. Otherwise they are free, because drivers also compile in them.
 *
 * Every thread of the process except the caller gets a processor, in the order of their start. Threads that are bound
 * already stay where they are. */
void clt_worker_spread_threads(void);
void clt_worker_free_threads(void); /* restores the processors that they could use before */
