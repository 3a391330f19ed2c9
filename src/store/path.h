/* store/path.h - where a store's file lies. */
#ifndef CLT_STORE_PATH_H
#define CLT_STORE_PATH_H

#include <clatune/error.h>

#define CLT_STORE_FILE "store.sqlite"

/* $XDG_DATA_HOME/clatune/<file>, or ~/.local/share/clatune/<file> where the variable is unset or relative (as the XDG
 * base directory specification asks). *out is malloc'ed and owned by the caller. */
int clt_standard_path(char **out, const char *file, clt_error *error);

/* The path as a store gets it, absolute or beginning with "./", malloc'ed; nothing is made. */
int clt_absolute_path(char **out, const char *path, clt_error *error);

/* The same, and its folders are created (0700) as needed. */
int clt_prepare_path(char **out, const char *path, clt_error *error);

#endif
