/* worker/fault.h - whose fault a fault is. */
#ifndef CLT_WORKER_FAULT_H
#define CLT_WORKER_FAULT_H

/* A kernel that crashes at once does so before its event can be seen running, and the parent would blame the compiler.
 * So where a fault's instruction lies in generated code, the parent is told that the kernel was running. */
void clt_worker_watch_faults(int fd);

/* Takes the signals back from a driver that has put its own handlers there. LLVM does at its first compilation, and its
 * handler is gone while it runs (SA_RESETHAND): of threads that fault together the second one then ends the process
 * before anything is said. Nothing, unless faults are watched. */
void clt_worker_watch_faults_again(void);

#endif
