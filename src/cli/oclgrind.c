#include "cli/oclgrind.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/output.h"

#define DRIVER "/usr/lib/oclgrind/liboclgrind-rt-icd.so" /* Debian's; it is not registered with the loader */
#define MOST_BYTES (1 << 20)                             /* of a log; a loop out of bounds says so for each element */

int cli_oclgrind_begin(cli_oclgrind *out) {
  snprintf(out->log, sizeof out->log, "%s/clatune-oclgrind-XXXXXX", clt_temporary_folder());
  int fd = mkstemp(out->log);
  if (fd < 0) {
    int rc = cli_failure("cannot make '%s': %s", out->log, strerror(errno));
    out->log[0] = '\0';
    return rc;
  }
  close(fd);
  setenv("OCLGRIND_LOG", out->log, 1);
  setenv("OCLGRIND_DATA_RACES", "1", 1);
  setenv("OCLGRIND_UNINITIALIZED", "1", 1);
  setenv("CLATUNE_DEVICE", "oclgrind", 0);
  if (access(DRIVER, R_OK) == 0) setenv("OCL_ICD_VENDORS", DRIVER, 1);
  return 0;
}

/* A finding begins at the first column; what follows of it is indented. */
static size_t count(const char *text) {
  size_t n = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
    n += *line != '\n' && *line != ' ' && *line != '\t';
  return n;
}

char *cli_oclgrind_findings(const cli_oclgrind *oclgrind, size_t *n) {
  char *text = calloc(MOST_BYTES + 1, 1);
  FILE *file = fopen(oclgrind->log, "r");
  bool read = text && file && (fread(text, 1, MOST_BYTES, file), !ferror(file));
  if (file) fclose(file);
  if (!read) return free(text), NULL;
  *n = count(text);
  return text;
}

void cli_oclgrind_end(cli_oclgrind *oclgrind) {
  if (oclgrind->log[0]) unlink(oclgrind->log);
  oclgrind->log[0] = '\0';
}
