#include "cli/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"

/* As a file that the shell makes: mkstemp's is for its owner alone. */
static void open_to_others(int fd) {
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd, 0666 & ~mask)) return; /* a file system without modes */
}

int cli_outfile_begin(cli_outfile *out, const char *path) {
  *out = (cli_outfile){.path = path};
  if (path == NULL) return 0;
  size_t bytes = strlen(path) + sizeof ".XXXXXX";
  if ((out->beside = malloc(bytes)) == NULL) return cli_failure("out of memory");
  snprintf(out->beside, bytes, "%s.XXXXXX", path);
  int fd = mkstemp(out->beside);
  if (fd < 0) {
    int rc = cli_failure("cannot create '%s': %s", path, strerror(errno));
    free(out->beside);
    return rc;
  }
  open_to_others(fd);
  fflush(stdout);
  bool moved = dup2(fd, STDOUT_FILENO) >= 0;
  close(fd);
  return moved ? 0 : cli_outfile_end(out, cli_failure("cannot write '%s': %s", path, strerror(errno)));
}

int cli_outfile_end(cli_outfile *out, int rc) {
  if (out->path == NULL) return rc;
  if (rc == 0 && (fflush(stdout) || ferror(stdout)))
    rc = cli_failure("cannot write '%s': %s", out->path, strerror(errno));
  if (rc == 0 && rename(out->beside, out->path))
    rc = cli_failure("cannot replace '%s': %s", out->path, strerror(errno));
  if (rc) unlink(out->beside);
  free(out->beside);
  return rc;
}
