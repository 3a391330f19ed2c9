#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/sweep.h"

#define MAX_LINE_BYTES 65536
#define MAX_FILE_BYTES ((size_t)1 << 30)
#define MOST 1e15 /* seconds, evaluations */

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

int cli_results_read(cli_results *out, char *path) {
  clt_error error = {0};
  char *text = NULL;
  size_t n = 0, n_unreadable = 0;
  int rc = 0;
  *out = (cli_results){.path = path, .lines = json_object(), .fd = -1};
  if (path == NULL || out->lines == NULL) return cli_failure("out of memory");
  if (access(path, F_OK) != 0 && errno == ENOENT) return 0;
  if (clt_file_read(&text, &n, path, MAX_FILE_BYTES, &error)) return cli_report(&error);
  for (char *line = text, *end; rc == 0 && line < text + n; line = end + 1) {
    end = memchr(line, '\n', (size_t)(text + n - line));
    bool whole = end != NULL; /* the last line may lack its end: its writer was killed, or is writing */
    if (!whole) end = text + n;
    size_t length = (size_t)(end - line);
    if (whole && strspn(line, " \t\r") == length) continue;
    json_t *json = whole && length < MAX_LINE_BYTES ? json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!is_outcome(json))
      n_unreadable++;
    else if (json_object_set(out->lines, json_string_value(json_object_get(json, "tuning")), json))
      rc = cli_failure("out of memory");
    json_decref(json);
  }
  free(text);
  if (rc == 0 && n_unreadable)
    fprintf(stderr, "clatune: warning: %zu lines of '%s' cannot be read and are left out\n", n_unreadable, path);
  return rc;
}

static int fail_to_write(const cli_results *results) {
  return cli_failure("cannot write to '%s': %s; --output names another file", results->path, strerror(errno));
}

int cli_results_open(cli_results *results) {
  char last = '\n';
  results->fd = open(results->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (results->fd < 0) return fail_to_write(results);
  /* A file that ends within a line is continued on the next one. */
  off_t bytes = lseek(results->fd, 0, SEEK_END);
  bool cut = bytes > 0 && pread(results->fd, &last, 1, bytes - 1) == 1 && last != '\n';
  return cut && write(results->fd, "\n", 1) != 1 ? fail_to_write(results) : 0;
}

/* In one piece, so that the lines of several sweeps that share the file do not run together. */
int cli_results_append(cli_results *results, json_t *line) {
  char *json = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL, *text;
  clt_text whole = {0};
  json_decref(line);
  clt_text_printf(&whole, "%s\n", json ? json : "");
  free(json);
  size_t n = whole.n;
  if (clt_text_take(&text, &whole, NULL) || json == NULL) return cli_failure("out of memory");
  int rc = flock(results->fd, LOCK_EX) ? fail_to_write(results) : 0;
  if (rc == 0) {
    ssize_t put = write(results->fd, text, n);
    if (put >= 0 && put < (ssize_t)n) errno = ENOSPC;
    if (put != (ssize_t)n || fdatasync(results->fd)) rc = fail_to_write(results);
    flock(results->fd, LOCK_UN);
  }
  free(text);
  return rc;
}

static double number_of(const json_t *line, const char *name) {
  const json_t *json = json_object_get(line, name);
  return json_is_number(json) ? json_number_value(json) : NAN;
}

bool cli_results_find(cli_outcome *out, const cli_results *results, const char *key) {
  const json_t *line = json_object_get(results->lines, key), *counts = json_object_get(line, "evaluations");
  if (line == NULL) return false;
  *out = (cli_outcome){.best_s = number_of(line, "best_s"),
                       .default_s = number_of(line, "default_s"),
                       .wall_s = number_of(line, "wall_s"),
                       .best_value = number_of(line, "best_value"),
                       .default_value = number_of(line, "default_value"),
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
