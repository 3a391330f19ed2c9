/* worker/limits.h - what a worker may do, and when it ends. */
#ifndef CLT_WORKER_LIMITS_H
#define CLT_WORKER_LIMITS_H

#include <stdint.h>
#include <sys/types.h>

/* Ends the process when its parent does; false if the parent is gone already. */
int clt_worker_follow(pid_t parent);

/* No core files; at most memory_bytes of memory (0: any amount); the first to go when the machine runs out of it; no
 * descriptors but the standard ones and the socket, which children do not get. */
void clt_worker_limit(int64_t memory_bytes);

#endif
