/* base/here.h - where this code was loaded from, so that what was installed with it is found also in a tree that was
 * moved. */
#ifndef CLT_BASE_HERE_H
#define CLT_BASE_HERE_H

/* The first of `names` (NULL at the end; such as "../libexec/clatune-worker") that can be accessed as `mode` says
 * (access(2)), relative to the folder of the running program, or to that of libclatune.so (of the program, where it is
 * linked in). malloc'ed; NULL where there is none, or out of memory. */
char *clt_find_near_program(const char *const *names, int mode);
char *clt_find_near_library(const char *const *names, int mode);

#endif
