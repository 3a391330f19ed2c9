/* worker/reserve.h - workers between two tunings. */
#ifndef CLT_WORKER_RESERVE_H
#define CLT_WORKER_RESERVE_H

#include <stdbool.h>

/* For threads that run one tuning after another. wanted: from now on, workers that a tuning of this thread no longer
 * needs are kept for its next tuning on the same device. Not wanted: they end, and so do the kept ones; a thread must
 * call this in the end. keeps_builds: later tunings use the driver's compiler cache of earlier ones, for the same
 * kernels on other inputs; their build times then mean nothing. */
void clt_workers_reserve(bool wanted, bool keeps_builds);
bool clt_workers_reserved(void); /* what the thread asked for last */
/* Ends the kept workers; with keeps_builds, the compiler's cache stays. The next tuning gets new processes, with other
 * memory pages, and need not compile the same configurations again. */
void clt_workers_renew(void);

#endif
