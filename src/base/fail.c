#define CLT_BASE_FAIL_C
#include "base/base.h"

#include <errno.h>

static const struct {
  int code;
  const char *text;
} table[] = {
#define ROW(id, value, text) {value, text},
    CLT_ERROR_TABLE(ROW)
#undef ROW
};

const char *clt_version(void) { return CLT_VERSION; }

const char *clt_error_text(int code) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].code == code) return table[i].text;
  return "unknown";
}

int clt_error_format(char *out, size_t capacity, const clt_error *error) {
  char place[600] = "";
  if (error->file[0] && error->line > 0) {
    snprintf(place, sizeof place, "%s:%d: ", error->file, error->line);
  } else if (error->file[0]) {
    snprintf(place, sizeof place, "%s: ", error->file);
  }
  const char *message = error->message[0] ? error->message : clt_error_text(error->code);
  return snprintf(out, capacity, "%s%s%s%s", place, error->key, error->key[0] ? ": " : "", message);
}

int clt_vfail_at(clt_error *error, int code, const char *file, int line, const char *key, const char *format,
                 va_list arguments) {
  if (error == NULL || error->code != 0) return code;
  memset(error, 0, sizeof *error);
  error->code = code;
  error->line = line;
  if (file) snprintf(error->file, sizeof error->file, "%s", file);
  if (key) snprintf(error->key, sizeof error->key, "%s", key);
  clt_vsnprintf(error->message, sizeof error->message, format, arguments);
  return code;
}

int clt_fail(clt_error *error, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  clt_vfail_at(error, code, NULL, 0, NULL, format, arguments);
  va_end(arguments);
  return code;
}

int clt_fail_at(clt_error *error, int code, const char *file, int line, const char *key, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  clt_vfail_at(error, code, file, line, key, format, arguments);
  va_end(arguments);
  return code;
}

int clt_fail_as(clt_error *error, const clt_error *why) {
  if (error && error->code == CLT_OK) *error = *why;
  return why->code;
}

int clt_fail_memory(clt_error *error) { return clt_fail(error, CLT_E_MEMORY, "out of memory"); }

int clt_fail_errno(clt_error *error, int code, const char *what, const char *path) {
  return clt_fail(error, code, "cannot %s '%s': %s", what, path, strerror(errno));
}

void clt_log(clt_log_fn log, void *user, clt_log_level level, const char *format, ...) {
  va_list arguments;
  if (log == NULL) return;
  va_start(arguments, format);
  char *text = clt_vformat(format, arguments);
  va_end(arguments);
  if (text) log(user, level, text);
  free(text);
}
