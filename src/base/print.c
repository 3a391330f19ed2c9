#include "base/base.h"

#include <pthread.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t clt_c_locale_enter(void) {
  pthread_once(&c_locale_once, make_c_locale);
  return c_locale ? uselocale(c_locale) : (locale_t)0;
}

void clt_c_locale_leave(locale_t before) {
  if (before) uselocale(before);
}

double clt_strtod(const char *text, char **end) {
  locale_t before = clt_c_locale_enter();
  double number = strtod(text, end);
  clt_c_locale_leave(before);
  return number;
}

int clt_vsnprintf(char *out, size_t capacity, const char *format, va_list arguments) {
  locale_t before = clt_c_locale_enter();
  int n = vsnprintf(out, capacity, format, arguments);
  clt_c_locale_leave(before);
  return n;
}

int clt_snprintf(char *out, size_t capacity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = clt_vsnprintf(out, capacity, format, arguments);
  va_end(arguments);
  return n;
}

char *clt_vformat(const char *format, va_list arguments) {
  locale_t before = clt_c_locale_enter();
  char *out = NULL;
  if (vasprintf(&out, format, arguments) < 0) out = NULL;
  clt_c_locale_leave(before);
  return out;
}

char *clt_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *out = clt_vformat(format, arguments);
  va_end(arguments);
  return out;
}
