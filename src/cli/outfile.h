/* cli/outfile.h - an answer in a file (-o FILE) that is seen whole or not at all. */
#ifndef CLT_CLI_OUTFILE_H
#define CLT_CLI_OUTFILE_H

typedef struct cli_outfile {
  const char *path; /* borrowed; NULL: standard output stays what it is */
  char *beside;
} cli_outfile;

/* From here on, standard output goes to a file beside path (NULL: nothing happens). Returns 0, or an exit code after a
 * message. */
int cli_outfile_begin(cli_outfile *out, const char *path);

/* rc 0: the file takes the place of path; else it is removed. Returns rc, or an exit code after a message. Nothing can
 * be printed after it. */
int cli_outfile_end(cli_outfile *out, int rc);

#endif
