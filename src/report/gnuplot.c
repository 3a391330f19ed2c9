#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

#define PATIENCE_MS 120000
#define MAX_SVG_BYTES ((size_t)16 << 20)
#define MAX_MESSAGE_BYTES 400

extern char **environ;

/* --- writing --- */

static FILE *open_in(const clt_gnuplot *g, const char *name, const char *mode) {
  char *path = clt_format("%s/%s", g->folder.path, name);
  FILE *file = path ? fopen(path, mode) : NULL;
  free(path);
  return file;
}

int clt_gnuplot_begin(clt_gnuplot *out, clt_error *error) {
  clt_gnuplot g = {0};
  int rc = clt_run_folder_new(&g.folder, error);
  if (rc) return rc;
  g.script = open_in(&g, "plots.gp", "we");
  if (g.script == NULL) {
    rc = clt_fail_errno(error, CLT_E_IO, "make a file in", g.folder.path);
    clt_run_folder_remove(&g.folder);
    return rc;
  }
  *out = g;
  return CLT_OK;
}

void clt_gnuplot_release(clt_gnuplot *g) {
  if (g->script) fclose(g->script);
  for (size_t i = 0; g->svgs && i < g->n_plots; i++) free(g->svgs[i]);
  free(g->svgs);
  clt_run_folder_remove(&g->folder);
  *g = (clt_gnuplot){0};
}

FILE *clt_gnuplot_data(clt_gnuplot *g, size_t *number) {
  char name[32];
  *number = g->n_files++;
  snprintf(name, sizeof name, "%zu.dat", *number);
  return open_in(g, name, "we");
}

size_t clt_gnuplot_plot(clt_gnuplot *g, int width, int height) {
  fprintf(g->script,
          "reset\nset encoding utf8\nset datafile missing 'NaN'\n"
          "set terminal svg size %d,%d dynamic noenhanced rounded font 'sans-serif,13'\nset output '%zu.svg'\n"
          "set border 3 lw 1 lc rgb " CLT_COLOUR
          "\nset tics nomirror out scale 0.6 textcolor rgb 'black'\n"
          "set grid lt 1 lw 1 lc rgb " CLT_COLOUR "\n",
          width, height, g->n_plots, CLT_COLOUR_AXIS, CLT_COLOUR_GRID);
  return g->n_plots++;
}

/* --- running --- */

static int start(const clt_gnuplot *g, pid_t *child) {
  char name[] = "gnuplot", plain[] = "-d", script[] = "plots.gp"; /* -d: nobody's own settings */
  char *const words[] = {name, plain, script, NULL};
  posix_spawn_file_actions_t actions;
  int rc = posix_spawn_file_actions_init(&actions);
  if (rc) return rc;
  rc = posix_spawn_file_actions_addchdir_np(&actions, g->folder.path);
  if (rc == 0) rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (rc == 0) rc = posix_spawn_file_actions_addopen(&actions, 1, "messages", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (rc == 0) rc = posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (rc == 0) rc = posix_spawnp(child, name, &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return rc;
}

/* A kernel that has no descriptors of processes cannot be asked to wait for so long and no longer. */
static bool ends_in_time(pid_t child) {
  int fd = (int)syscall(SYS_pidfd_open, child, 0);
  struct pollfd watched = {.fd = fd, .events = POLLIN};
  int rc;
  if (fd < 0) return true;
  do rc = poll(&watched, 1, PATIENCE_MS);
  while (rc < 0 && errno == EINTR);
  close(fd);
  return rc != 0;
}

static int wait_for(pid_t child, int *status) {
  bool in_time = ends_in_time(child);
  if (!in_time) kill(child, SIGKILL);
  while (waitpid(child, status, 0) < 0)
    if (errno != EINTR) return -1;
  return in_time ? 0 : -1;
}

static int failed(const clt_gnuplot *g, clt_error *error) {
  char words[MAX_MESSAGE_BYTES] = "";
  FILE *file = open_in(g, "messages", "re");
  size_t n = file ? fread(words, 1, sizeof words - 1, file) : 0;
  if (file) fclose(file);
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)words[i] < ' ') words[i] = ' ';
  return clt_fail(error, CLT_E_IO, "gnuplot failed:%s%s", words[0] ? " " : "", words[0] ? words : " without a word");
}

/* It signs what it draws. */
static void read_version(clt_gnuplot *g, const char *svg) {
  static const char words[] = "Produced by GNUPLOT ";
  const char *at = strstr(svg, words);
  size_t n = at ? strspn(at + strlen(words), "0123456789. abcdefghijklmnopqrstuvwxyz") : 0;
  if (at) snprintf(g->version, sizeof g->version, "%.*s", (int)n, at + strlen(words));
  for (size_t i = strlen(g->version); i > 0 && g->version[i - 1] == ' '; i--) g->version[i - 1] = '\0';
}

/* NULL: there is none that can be used. */
static char *read_svg(clt_gnuplot *g, size_t plot) {
  char name[32], *text = malloc(MAX_SVG_BYTES + 1), *clean = NULL;
  snprintf(name, sizeof name, "%zu.svg", plot);
  FILE *file = text ? open_in(g, name, "re") : NULL;
  size_t n = file ? fread(text, 1, MAX_SVG_BYTES + 1, file) : 0;
  if (file) fclose(file);
  if (n > 0 && n <= MAX_SVG_BYTES) {
    text[n] = '\0';
    if (g->version[0] == '\0') read_version(g, text);
    clt_svg_clean(&clean, text, plot, NULL);
  }
  free(text);
  return clean;
}

int clt_gnuplot_run(clt_gnuplot *g, clt_error *error) {
  pid_t child;
  int status = 0;
  bool written = fflush(g->script) == 0 && !ferror(g->script);
  if (fclose(g->script)) written = false;
  g->script = NULL;
  if (!written) return clt_fail_errno(error, CLT_E_IO, "write in", g->folder.path);
  int rc = start(g, &child);
  if (rc == ENOENT || rc == EACCES)
    return clt_fail(error, CLT_E_NOT_FOUND,
                    "there is no gnuplot to make plots with: install the Debian package gnuplot-nox");
  if (rc) return clt_fail(error, CLT_E_IO, "cannot start gnuplot: %s", strerror(rc));
  if (wait_for(child, &status) || status != 0) return failed(g, error);
  g->svgs = clt_new_array(g->n_plots, sizeof *g->svgs);
  if (g->svgs == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < g->n_plots; i++) g->svgs[i] = read_svg(g, i);
  return CLT_OK;
}

const char *clt_gnuplot_svg(const clt_gnuplot *g, size_t plot) {
  return g->svgs && plot < g->n_plots ? g->svgs[plot] : NULL;
}
