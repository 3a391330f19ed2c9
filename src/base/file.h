/* base/file.h - files, folders and paths. */
#ifndef CLT_BASE_FILE_H
#define CLT_BASE_FILE_H

#include <clatune/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Every file that a user names is opened by this: a regular file, for reading. It never waits, so a FIFO is refused.
 * *bytes (nullable) is its size. */
int clt_file_open(int *fd, size_t *bytes, const char *path, clt_error *error);

/* The first *n bytes of such a file, or as many as it has: *n says how many. */
int clt_file_read_start(void *out, size_t *n, const char *path, clt_error *error);

/* Reads a regular file of at most max_bytes. *out is malloc'ed, with a terminator behind its *n bytes (n nullable). */
int clt_file_read(char **out, size_t *n, const char *path, size_t max_bytes, clt_error *error);

/* Reads a file, plain or gzip, of at most max_bytes when unpacked. */
int clt_file_read_packed(clt_text *out, const char *path, size_t max_bytes, clt_error *error);

/* A number that is another one once what stands at a path was changed, or is another file; 0: nothing stands there. */
uint64_t clt_file_version(const char *path);

/* Writes a file (0600) in place of what is there. */
int clt_file_write(const char *path, const void *bytes, size_t n, clt_error *error);

/* A file that is seen whole or not at all: written beside its place, then renamed. A link stays one; what is no regular
 * file (/dev/null, a pipe) is written to and stays what it is, and /dev/stdout goes on where standard output stands. */
typedef struct clt_replacement {
  char *path;   /* owned: without links */
  char *beside; /* owned; NULL: written to directly */
  int fd;       /* of the file beside it, for writing. Whoever takes it over (fdopen, gzdopen) sets -1 */
} clt_replacement;

/* Whether path is something that is written to and not replaced. */
bool clt_file_is_special(const char *path);

/* Creates the file beside path, under a name that nobody can have prepared, with the mode that a shell would give it.
 * clt_file_replace_commit or clt_file_replace_abort follows. */
int clt_file_replace_open(clt_replacement *out, const char *path, clt_error *error);
int clt_file_replace_commit(clt_replacement *replacement, clt_error *error); /* aborts on failure */
void clt_file_replace_abort(clt_replacement *replacement); /* path stays as it was; again does nothing */

/* All of it in one call. */
int clt_file_replace(const char *path, const void *bytes, size_t n, clt_error *error);

/* Makes a folder (0700) and those above it. */
int clt_folder_make(const char *path, clt_error *error);

/* Removes what is in a folder; the folder itself too unless keep_top. Does not follow links. */
void clt_remove_tree(const char *path, bool keep_top);

/* $TMPDIR, or /tmp. Borrowed from the environment. */
const char *clt_temporary_folder(void);

/* The folder that a file lies in, absolute where it exists, and path seen from a folder. malloc'ed; NULL when out of
 * memory. */
char *clt_path_folder(const char *path);
char *clt_path_join(const char *folder, const char *path);

/* The first of `names` (NULL at the end; such as "../libexec/clatune-worker") that can be accessed as `mode` says
 * (access(2)), relative to the folder of the running program, or to that of libclatune.so (of the program, where it is
 * linked in), so that what was installed together is found also in a tree that was moved. malloc'ed; NULL where there
 * is none, or out of memory. */
char *clt_find_near_program(const char *const *names, int mode);
char *clt_find_near_library(const char *const *names, int mode);

/* The temporary folder of a run: $TMPDIR/clatune-XXXXXX (0700), locked while its owner lives, so that what a killed
 * tuner left behind is found and removed by the next one. */
typedef struct clt_run_folder {
  char *path; /* NULL: none */
  int lock_fd;
} clt_run_folder;

/* Removes the folders of dead runs, then makes one. */
int clt_run_folder_new(clt_run_folder *out, clt_error *error);
void clt_run_folder_remove(clt_run_folder *folder); /* with everything in it; again does nothing */

/* Makes "<folder>/<name>" (0700) unless it is there. *out is malloc'ed. */
int clt_run_folder_make(char **out, const clt_run_folder *folder, const char *name, clt_error *error);

#endif
