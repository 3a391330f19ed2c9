/* problem/command_files.h - the files that a command finds in the folder that it runs in. */
#ifndef CLT_PROBLEM_COMMAND_FILES_H
#define CLT_PROBLEM_COMMAND_FILES_H

#include <clatune/problem.h>

/* relative: where it lies in the scratch folder; path: where it comes from. Folders come before what is in them.
 * Anything but 0 ends the walk. */
typedef int (*clt_file_visitor)(void *user, const char *relative, const char *path, bool folder, clt_error *error);

/* Visits "Files" and what is in them, in an order that depends on names alone. Of a whole folder ("*") hidden files,
 * stores, folders of runs, the problem file and, where there is something to build, ELF files are left out. */
int clt_command_each_file(const clt_instance *instance, clt_file_visitor visit, void *user, clt_error *error);

/* Where a file that is listed as `written` lies in the scratch folder: there too, or by its last name where that would
 * be outside. Borrowed from written. */
const char *clt_name_in_scratch(const char *written);

#endif
