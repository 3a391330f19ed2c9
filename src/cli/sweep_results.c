#include "cli/sweep_results.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"

#define MAX_LINE_BYTES 65536
#define MAX_FILE_BYTES ((off_t)1 << 30)
#define MOST 1e15

static bool is_time(const json_t *json) {
  double x = json_number_value(json);
  return json_is_null(json) || (json_is_number(json) && x > 0 && x < MOST);
}

/* It may be absent, and of any size above 0. */
static bool is_value(const json_t *json) {
  return json == NULL || json_is_null(json) || (json_is_number(json) && json_number_value(json) > 0);
}

static bool is_count(const json_t *json) {
  return json_is_integer(json) && json_integer_value(json) >= 0 && (double)json_integer_value(json) < MOST;
}

static bool is_outcome(const json_t *line) {
  const json_t *counts = json_object_get(line, "evaluations");
  return json_is_string(json_object_get(line, "tuning")) && json_object_get(line, "best_s") &&
         is_time(json_object_get(line, "best_s")) && is_time(json_object_get(line, "default_s")) &&
         is_value(json_object_get(line, "best_value")) && is_value(json_object_get(line, "default_value")) &&
         is_time(json_object_get(line, "wall_s")) && is_count(json_object_get(line, "left_out")) &&
         is_count(json_object_get(counts, "total")) && is_count(json_object_get(counts, "measured"));
}

/* The last line may lack its end: its writer was killed, or is writing. */
static int take_line(cli_results *results, const char *text, bool whole) {
  if (whole && text[strspn(text, " \t\r\n")] == '\0') return 0;
  json_t *line = whole ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
  int rc = 0;
  if (!is_outcome(line))
    results->n_unreadable++;
  else
    rc = json_object_set(results->lines, json_string_value(json_object_get(line, "tuning")), line);
  json_decref(line);
  return rc ? cli_failure("out of memory") : 0;
}

/* The rest of a line that was too long. */
static void skip_line(FILE *file) {
  for (int c; (c = getc(file)) != EOF && c != '\n';) continue;
}

static int read_lines(cli_results *results, FILE *file) {
  char *text = malloc(MAX_LINE_BYTES);
  int rc = text ? 0 : cli_failure("out of memory");
  while (rc == 0 && fgets(text, MAX_LINE_BYTES, file)) {
    size_t n = strlen(text);
    bool whole = n > 0 && text[n - 1] == '\n';
    if (!whole && !feof(file)) skip_line(file);
    rc = take_line(results, text, whole);
  }
  if (rc == 0 && ferror(file)) rc = cli_failure("cannot read '%s': %s", results->path, strerror(errno));
  free(text);
  return rc;
}

int cli_results_read(cli_results *out, const char *path) {
  struct stat status;
  *out = (cli_results){.path = strdup(path), .lines = json_object(), .fd = -1};
  if (out->path == NULL || out->lines == NULL) return cli_failure("out of memory");
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT ? 0 : cli_failure("cannot open '%s': %s", path, strerror(errno));
  bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MAX_FILE_BYTES;
  FILE *file = good ? fdopen(fd, "r") : NULL;
  if (file == NULL) return close(fd), cli_failure("cannot read '%s': no file of results, or too large", path);
  int rc = read_lines(out, file);
  fclose(file);
  return rc;
}

/* Whether the file ends within a line. */
static bool is_cut(const char *path) {
  char last = '\n';
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  if (fseek(file, -1, SEEK_END) == 0) last = (char)getc(file);
  fclose(file);
  return last != '\n';
}

static int cannot_write(const cli_results *results) {
  return cli_failure("cannot write to '%s': %s; --output names another file", results->path, strerror(errno));
}

int cli_results_open(cli_results *results) {
  results->fd = open(results->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (results->fd < 0) return cannot_write(results);
  if (is_cut(results->path) && write(results->fd, "\n", 1) != 1) return cannot_write(results);
  return 0;
}

/* In one piece, so that the lines of several sweeps that share the file do not run together. */
static int write_line(const cli_results *results, const char *text, size_t n) {
  if (flock(results->fd, LOCK_EX) != 0) return -1;
  ssize_t put = write(results->fd, text, n);
  int rc = put == (ssize_t)n && fdatasync(results->fd) == 0 ? 0 : -1;
  if (put >= 0 && put < (ssize_t)n) errno = ENOSPC;
  flock(results->fd, LOCK_UN);
  return rc;
}

int cli_results_append(cli_results *results, json_t *line) {
  char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
  size_t n = text ? strlen(text) : 0;
  char *longer = text ? realloc(text, n + 2) : NULL;
  json_decref(line);
  if (longer == NULL) return free(text), cli_failure("out of memory");
  memcpy(longer + n, "\n", 2);
  int rc = write_line(results, longer, n + 1) ? cannot_write(results) : 0;
  free(longer);
  return rc;
}

static double time_of(const json_t *line, const char *name) {
  const json_t *json = json_object_get(line, name);
  return json_is_number(json) ? json_number_value(json) : NAN;
}

bool cli_results_find(cli_outcome *out, const cli_results *results, const char *key) {
  const json_t *line = json_object_get(results->lines, key), *counts = json_object_get(line, "evaluations");
  if (line == NULL) return false;
  *out = (cli_outcome){.best_s = time_of(line, "best_s"),
                       .default_s = time_of(line, "default_s"),
                       .wall_s = time_of(line, "wall_s"),
                       .best_value = time_of(line, "best_value"),
                       .default_value = time_of(line, "default_value"),
                       .maximised = json_is_true(json_object_get(line, "maximised")),
                       .evaluations = json_integer_value(json_object_get(counts, "total")),
                       .measured = json_integer_value(json_object_get(counts, "measured")),
                       .left_out = json_integer_value(json_object_get(line, "left_out"))};
  return true;
}

void cli_results_close(cli_results *results) {
  if (results->path && results->fd >= 0) close(results->fd);
  free(results->path);
  json_decref(results->lines);
  *results = (cli_results){.fd = -1};
}
