/* base/replace.h - files that are seen whole or not at all: written beside their place, then renamed. */
#ifndef CLT_BASE_REPLACE_H
#define CLT_BASE_REPLACE_H

#include <clatune/error.h>

/* Creates a file beside path, 0600, under a name that nobody can have prepared, and opens it for writing: *fd is the
 * caller's. *beside is malloc'ed and goes to clt_replace_end or clt_replace_abandon. */
int clt_replace_begin(char **beside, int *fd, const char *path, clt_error *error);

/* Puts the file in the place of path, once its descriptor is closed; on failure it is removed. Frees beside. */
int clt_replace_end(char *beside, const char *path, clt_error *error);

/* Removes the file, path stays as it was. Frees beside; NULL does nothing. */
void clt_replace_abandon(char *beside);

#endif
