/* problem/file.h - files and paths. */
#ifndef CLT_PROBLEM_FILE_H
#define CLT_PROBLEM_FILE_H

#include <clatune/error.h>
#include <stddef.h>

/* Reads a regular file of at most max_bytes. *out is malloc'ed, with a terminator behind its *n bytes (n nullable). */
int clt_file_read(char **out, size_t *n, const char *path, size_t max_bytes, clt_error *error);

/* Writes a file (0600), replacing what is there. */
int clt_file_write(const char *path, const void *bytes, size_t n, clt_error *error);

/* Makes a folder and those above it. */
int clt_folder_make(const char *path, clt_error *error);

/* The folder that a file lies in, absolute where it exists, and path seen from a folder. malloc'ed; NULL when out of
 * memory. */
char *clt_path_folder(const char *path);
char *clt_path_join(const char *folder, const char *path);

#endif
