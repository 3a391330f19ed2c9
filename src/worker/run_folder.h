/* worker/run_folder.h - the temporary folder of a run: $TMPDIR/clatune-XXXXXX (0700), locked while its owner lives, so
 * that what a killed tuner left behind is found and removed by the next one. */
#ifndef CLT_WORKER_RUN_FOLDER_H
#define CLT_WORKER_RUN_FOLDER_H

#include <clatune/error.h>

typedef struct clt_run_folder {
  char *path; /* NULL: none */
  int lock_fd;
} clt_run_folder;

/* Removes the folders of dead runs, then makes one. */
int clt_run_folder_new(clt_run_folder *out, clt_error *error);
void clt_run_folder_remove(clt_run_folder *folder); /* with everything in it; idempotent */

/* Makes "<folder>/<name>" (0700) unless it is there. *out is malloc'ed. */
int clt_run_folder_make(char **out, const clt_run_folder *folder, const char *name, clt_error *error);

/* Removes what is in a folder; the folder itself too unless keep. Does not follow links. */
void clt_remove_tree(const char *path, int keep_top);

#endif
