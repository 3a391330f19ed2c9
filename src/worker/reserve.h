/* worker/reserve.h - workers between two tunings. */
#ifndef CLT_WORKER_RESERVE_H
#define CLT_WORKER_RESERVE_H

#include <stdbool.h>

/* For who runs one tuning after the other: from now on workers that this thread's tunings need no more wait for its
 * next one on the same device; false: they end, and so do those that wait. A thread that asks for it has to end it,
 * too. */
void clt_workers_reserve(bool wanted);

#endif
