/* base/file.h - files, folders and paths; programs. */
#pragma once

#include <sys/types.h>

#include "base/text.h"

/* --- files, folders and paths --- */

/* Opens a regular file for reading; *bytes (nullable) is its size. Use it for every file that a user names: it refuses
 * FIFOs and devices, on which open could wait. CLT_E_IO. */
int clt_file_open(int *fd, size_t *bytes, const char *path, clt_error *error);

/* The size of such a file, before anything of it is read. */
int clt_file_size(size_t *bytes, const char *path, clt_error *error);

/* Reads the first *n bytes of such a file, or all if it is shorter, and sets *n to their number. */
int clt_file_read_start(void *out, size_t *n, const char *path, clt_error *error);

/* Reads a regular file. *out is malloc'ed and has a terminator after its *n bytes (n nullable). CLT_E_RANGE: it is
 * larger than max_bytes. */
int clt_file_read(char **out, size_t *n, const char *path, size_t max_bytes, clt_error *error);

/* Reads a plain or gzip file. CLT_E_RANGE: it has more than max_bytes when unpacked. */
int clt_file_read_packed(clt_text *out, const char *path, size_t max_bytes, clt_error *error);

/* A number that changes when the file at this path is changed or replaced; 0: there is no file. */
uint64_t clt_file_version(const char *path);

/* Writes a file (mode 0600) directly at its path; an existing file is overwritten. */
int clt_file_write(const char *path, const void *bytes, size_t n, clt_error *error);

/* An atomic replacement of a file: the new content is written to a temporary file in the same folder, which is then
 * renamed, so that readers see the old or the new file. A symbolic link is kept and its target replaced. Special files
 * (/dev/null, a pipe) are written to directly; /dev/stdout continues at the current position of standard output. */
typedef struct clt_replacement {
  char *path;   /* owned; symbolic links resolved */
  char *beside; /* of the temporary file, owned; NULL: path is written to directly */
  int fd;       /* for writing. A caller that takes it over (fdopen, gzdopen) sets it to -1 */
} clt_replacement;

/* Whether path is a special file, which is written to instead of replaced. */
bool clt_file_is_special(const char *path);

/* Creates the temporary file, under an unpredictable name and with the mode of an ordinary new file (0666 less umask).
 * The caller ends with clt_file_replace_commit or clt_file_replace_abort. */
int clt_file_replace_open(clt_replacement *out, const char *path, clt_error *error);
int clt_file_replace_commit(clt_replacement *replacement, clt_error *error); /* renames; aborts on failure */
void clt_file_replace_abort(clt_replacement *replacement); /* path stays as it was; can be called again */

/* Replaces a file in one call. */
int clt_file_replace(const char *path, const void *bytes, size_t n, clt_error *error);

/* CLT_E_IO if a program failed because a disk or quota was full: its words (nullable) say so, or nothing more fits into
 * `folder`. what: the failure, such as "the module 'x.c' could not be compiled". Otherwise CLT_OK. */
int clt_check_space(const char *words, const char *folder, const char *what, clt_error *error);

/* Makes a folder (mode 0700) and its missing parents. */
int clt_folder_make(const char *path, clt_error *error);

/* Removes the content of a folder, and the folder itself unless keep_top. Does not follow links. */
void clt_remove_tree(const char *path, bool keep_top);

/* $TMPDIR, or /tmp. Borrowed from the environment. */
const char *clt_temporary_folder(void);

/* The folder of a file, as an absolute path if it exists; and a path that is relative to a folder (an absolute path
 * stays as it is). malloc'ed; NULL: out of memory. */
char *clt_path_folder(const char *path);
char *clt_path_join(const char *folder, const char *path);

/* Finds an installed file, also if the installation was moved: returns the first of `names` (such as
 * "../libexec/clatune-worker"; NULL at the end) for which access(2) with `mode` succeeds. Names are relative to the
 * folder of the running program, or to the folder of libclatune.so (the program's, if the library is linked
 * statically). malloc'ed; NULL: not found, or out of memory. */
char *clt_find_near_program(const char *const *names, int mode);
char *clt_find_near_library(const char *const *names, int mode);
char *clt_find_near(const char *const *names, int mode); /* near the program, else near the library */

/* The temporary folder of a run: $TMPDIR/clatune-XXXXXX (mode 0700). Its owner holds a lock on it, so that the next run
 * can recognise and remove the folder of a killed one. */
typedef struct clt_run_folder {
  char *path; /* NULL: none */
  int lock_fd;
} clt_run_folder;

/* Removes the folders of runs that no longer exist, then makes a new one. */
int clt_run_folder_new(clt_run_folder *out, clt_error *error);
void clt_run_folder_remove(clt_run_folder *folder); /* with its content; can be called again */

/* Makes "<folder>/<name>" (mode 0700) if it does not exist. *out, its path, is malloc'ed. */
int clt_run_folder_make(char **out, const clt_run_folder *folder, const char *name, clt_error *error);

/* --- starts programs with posix_spawn --- */

#define CLT_SPAWN_NULL 0 /* for in, out and err: /dev/null */

typedef struct clt_spawn {
  const char *program;      /* a path, or a name that is searched in PATH */
  char *const *arguments;   /* the first is the program's name; NULL at the end */
  char *const *environment; /* "NAME=value", NULL at the end; NULL: this process's own */
  const char *folder;       /* the working folder; NULL: this process's own */
  int in, out, err;         /* CLT_SPAWN_NULL, or descriptors above 2 */
  int extra_fd, extra_as;   /* another descriptor to pass, and its number in the program; extra_as 0: none */
  bool own_group;           /* start it in its own process group, with all signals unblocked and at their defaults */
  bool default_signals;     /* unblock all signals, and reset SIGPIPE and SIGXFSZ, which clatune's programs ignore */
} clt_spawn;

/* Starts a program. The caller keeps its descriptors. Returns 0 or an errno value. */
int clt_spawn_start(pid_t *pid, const clt_spawn *spawn);

/* Waits for the end of a process; signals do not interrupt it. *status is as from waitpid. False: waitpid failed. */
bool clt_spawn_wait(int *status, pid_t pid);

/* Runs a program and collects its standard output and standard error in *output: the first max_bytes, the rest is
 * discarded. CLT_E_IO: it cannot be started. */
int clt_spawn_output(clt_text *output, int *status, const clt_spawn *spawn, size_t max_bytes, clt_error *error);
