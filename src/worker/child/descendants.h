/* worker/descendants.h - processes that programs start and leave behind. */
#ifndef CLT_WORKER_DESCENDANTS_H
#define CLT_WORKER_DESCENDANTS_H

#include <sys/types.h>

/* From now on orphaned descendants of this process become its children, wherever they put themselves. */
void clt_adopt_descendants(void);

/* Kills a process group, and then all descendants that are left, until there are none (a second at most). */
void clt_end_descendants(pid_t group);

#endif
