/* worker/spread.h - the driver's threads, each on one processor while something is timed.
 *
 * A CPU driver's threads sleep between launches, and the scheduler may wake several of them on one processor and leave
 * them there: short kernels then take twice as long, run after run. While nothing is timed they are free, as drivers
 * compile in them, too. */
#ifndef CLT_WORKER_SPREAD_H
#define CLT_WORKER_SPREAD_H

#include <stddef.h>

/* A thread, and which processors it might use before. */
typedef struct clt_spread_thread clt_spread_thread;

typedef struct clt_spread {
  clt_spread_thread *threads;
  size_t n;
} clt_spread; /* zeroed: none */

/* Gives every thread of the process but the caller a processor of its own, in turns, in the order in which they were
 * started. Those that somebody has bound already stay where they are, and so do all where anything fails. */
void clt_spread_begin(clt_spread *out);

/* They may use what they might before. */
void clt_spread_end(clt_spread *spread);

#endif
