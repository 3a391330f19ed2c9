/* base/fail.h - reporting errors from inside the library, and requests to stop. */
#ifndef CLT_BASE_FAIL_H
#define CLT_BASE_FAIL_H

#include <clatune/error.h>
#include <clatune/log.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets code and message, unless an error is already set or error is NULL. Returns code, so that callers can write
 * `return clt_fail(...)`. */
int clt_fail(clt_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a mistake in a text file. file and key may be NULL, line may be 0, if they are unknown. */
int clt_fail_at(clt_error *error, int code, const char *file, int line, const char *key, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
int clt_vfail_at(clt_error *error, int code, const char *file, int line, const char *key, const char *format,
                 va_list arguments) __attribute__((format(printf, 6, 0)));

/* Passes on an error that was collected apart, and returns its code. */
int clt_fail_as(clt_error *error, const clt_error *why);

/* Reports CLT_E_MEMORY, and returns it. */
int clt_fail_memory(clt_error *error);

/* Reports "cannot <what> '<path>': <strerror(errno)>". */
int clt_fail_errno(clt_error *error, int code, const char *what, const char *path);

/* Formats one line and passes it to log. Does nothing if log is NULL. */
void clt_log(clt_log_fn log, void *user, clt_log_level level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Tells the static analyser, which sees one file at a time, that none of these functions returns 0. */
#if defined(__clang_analyzer__) && !defined(CLT_BASE_FAIL_C)
#define CLT_NOT_ZERO(call, code) ((void)(call), (code) ? (code) : -1)
#define clt_fail(error, code, ...) CLT_NOT_ZERO((clt_fail)(error, code, __VA_ARGS__), code)
#define clt_fail_at(error, code, ...) CLT_NOT_ZERO((clt_fail_at)(error, code, __VA_ARGS__), code)
#define clt_vfail_at(error, code, ...) CLT_NOT_ZERO((clt_vfail_at)(error, code, __VA_ARGS__), code)
#define clt_fail_errno(error, code, ...) CLT_NOT_ZERO((clt_fail_errno)(error, code, __VA_ARGS__), code)
#define clt_fail_memory(error) CLT_NOT_ZERO((clt_fail_memory)(error), CLT_E_MEMORY)
#endif

/* Whether a signal handler or another thread has requested a stop. stop NULL: never. */
static inline bool clt_stop_asked(const volatile int *stop) {
  return stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

#endif
