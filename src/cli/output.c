#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"

/* --- the filter of standard output and standard error --- */

typedef struct shown_stream {
  int fd;
  bool exact;   /* without the filter */
  bool closed;  /* the reader has closed it */
  char rest[4]; /* the first bytes of an incomplete character */
  size_t n_rest;
} shown_stream;

static shown_stream shown_out = {.fd = STDOUT_FILENO}, shown_err = {.fd = STDERR_FILENO};

/* For fopencookie: 0 is a failure, with the reason in errno. DEL passes: JSON has it unescaped, and terminals ignore
 * it. */
static ssize_t write_shown(void *cookie, const char *bytes, size_t n) {
  shown_stream *s = cookie;
  clt_text in = {0}, out = {0};
  if (!s->exact) {
    clt_text_add_bytes(&in, s->rest, s->n_rest);
    clt_text_add_bytes(&in, bytes, n);
    size_t used = in.rc ? 0 : clt_text_add_shown(&out, in.bytes, in.n, "\n\t\177");
    s->n_rest = in.rc ? 0 : in.n - used;
    memcpy(s->rest, in.bytes + used, s->n_rest);
  }
  bool failed = in.rc || out.rc;
  const char *at = s->exact ? bytes : out.bytes;
  for (size_t left = s->exact ? n : out.n; !failed && left > 0;) {
    ssize_t written = write(s->fd, at, left);
    failed = written < 0 && errno != EINTR;
    s->closed = s->closed || (failed && errno == EPIPE);
    if (written > 0) at += written, left -= (size_t)written;
  }
  int why = errno;
  clt_text_release(&in);
  clt_text_release(&out);
  errno = why;
  return failed ? 0 : (ssize_t)n;
}

void cli_streams_open(void) {
  const cookie_io_functions_t functions = {.write = write_shown};
  FILE *out = fopencookie(&shown_out, "w", functions), *err = fopencookie(&shown_err, "w", functions);
  if (out == NULL || err == NULL) cli_failure("out of memory");
  setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
  setvbuf(err, NULL, _IOLBF, BUFSIZ);
  stdout = out;
  stderr = err;
}

void cli_exact_output(void) { shown_out.exact = !isatty(STDOUT_FILENO); }

void cli_command_terminal(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stderr);
  shown_err.exact = true;
  vfprintf(stderr, format, arguments);
  fflush(stderr);
  shown_err.exact = false;
  va_end(arguments);
}

/* --- messages --- */

int cli_output_failed(void) {
  return shown_out.closed ? CLI_FAILURE : cli_message(CLI_FAILURE, "cannot write to standard output");
}

static void __attribute__((format(printf, 1, 0))) say(const char *format, va_list arguments) {
  fputs("clatune: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

int cli_message(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return code;
}

int cli_exit_code(int code) {
  switch (code) {
    case CLT_E_ARGUMENT: return CLI_USAGE;
    case CLT_E_DEVICE:
    case CLT_E_AMBIGUOUS: return CLI_NO_DEVICE;
    case CLT_E_NO_VALID: return CLI_NO_VALID;
    case CLT_E_VERIFY: return CLI_VERIFY_FAILED;
    case CLT_E_STORE: return CLI_STORE_UNUSABLE;
    default: return CLI_FAILURE;
  }
}

int cli_say(const clt_error *error) {
  char text[2048];
  clt_error_format(text, sizeof text, error);
  return cli_message(cli_exit_code(error->code), "%s", text);
}

/* --- the end of the program --- */

clt_error cli_error;

static struct kept {
  void (*release)(void *what);
  void *what;
} * kept;
static size_t n_kept, kept_capacity;

void *cli_keep(void *what, void (*release)(void *what)) {
  if (clt_grow(&kept, &kept_capacity, n_kept + 1, sizeof *kept)) {
    release(what);
    cli_failure("out of memory");
  }
  kept[n_kept++] = (struct kept){release, what};
  return what;
}

static void free_json(void *json) { json_decref(json); }

json_t *cli_keep_json(json_t *json) { return cli_keep(json, free_json); }

void *cli_keep_memory(void *memory) {
  if (memory == NULL) cli_failure("out of memory");
  return cli_keep(memory, free);
}

void *cli_new(size_t n, size_t bytes) { return cli_keep_memory(calloc(n ? n : 1, bytes)); }

void cli_end(void) {
  for (size_t i = n_kept; i-- > 0;) /* memory last: other objects may point to it */
    if (kept[i].release != free) kept[i].release(kept[i].what);
  for (size_t i = 0; i < n_kept; i++)
    if (kept[i].release == free) free(kept[i].what);
  free(kept);
  kept = NULL;
  n_kept = kept_capacity = 0;
}

void cli_exit(int code) {
  cli_end();
  exit(code);
}

int cli_die(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  cli_exit(code);
}

int cli_report(const clt_error *error) { cli_exit(cli_say(error)); }

void cli_check(int rc) {
  if (rc) cli_report(&cli_error);
}

void cli_check_typed(int rc) {
  if (rc) cli_error.code = CLT_E_ARGUMENT;
  cli_check(rc);
}

void cli_log(void *user, clt_log_level level, const char *text) {
  const bool *quiet = user;
  if (level == CLT_LOG_WARNING) fprintf(stderr, "clatune: warning: %s\n", text);
  if (level == CLT_LOG_INFO && !(quiet && *quiet)) fprintf(stderr, "clatune: %s\n", text);
}
