/* base/base.h - what most files need: C's usual headers, errors, memory, numbers in texts, time, threads. */
#pragma once

#include <clatune/error.h>
#include <clatune/log.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- reporting errors from inside the library, and requests to stop --- */

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

/* --- allocation with overflow checks --- */

/* Computes a * b. False: it overflows. */
bool clt_size_multiply(size_t *out, size_t a, size_t b);

static inline size_t clt_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t clt_max(size_t a, size_t b) { return a > b ? a : b; }

/* For qsort, of doubles without NaNs or of structures that begin with one. */
static inline int clt_by_number(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Allocates n zeroed elements. NULL: overflow, or out of memory. n = 0 gives one element, so NULL always means failure.
 */
void *clt_new_array(size_t n, size_t element_bytes);

/* Makes *array large enough for `need` elements of element_bytes each; array is the address of a pointer. If it must
 * grow, *capacity at least doubles. CLT_E_MEMORY: *array stays as it was. */
int clt_grow(void *array, size_t *capacity, size_t need, size_t element_bytes);

/* --- arrays that are released together --- */

#define CLT_VECTOR_BYTES 64 /* arrays begin at multiples of this, and are padded to one with zeros */

/* The owner of any number of arrays. Zeroed before use. */
typedef struct clt_arena {
  struct clt_arena_block *blocks;
  bool failed; /* an array could not be allocated */
} clt_arena;

/* An array of n zeroed elements, until clt_arena_release. NULL: out of memory, or an overflow. */
void *clt_arena_array(clt_arena *arena, size_t n, size_t element_bytes);

/* CLT_OK, or CLT_E_MEMORY if any of the arrays could not be allocated. */
int clt_arena_check(const clt_arena *arena, clt_error *error);

void clt_arena_release(clt_arena *arena); /* leaves it empty */

/* --- printing and reading numbers with a decimal point, in any locale --- */

/* strtod, snprintf and vsnprintf. Use them for all texts that contain numbers. */
double clt_strtod(const char *text, char **end);
int clt_snprintf(char *out, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int clt_vsnprintf(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* printf into a malloc'ed string. NULL: out of memory. */
char *clt_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *clt_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* For libraries that print numbers themselves: between enter and leave, the calling thread uses the C locale. Pass
 * enter's result to leave. It is 0 if memory ran out; then the locale stays as it is. */
locale_t clt_c_locale_enter(void);
void clt_c_locale_leave(locale_t before);

/* --- the host's monotonic clock, and processor time --- */

/* Seconds since an arbitrary fixed moment; never goes back. */
static inline double clt_now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* poll(2) for at most wait_s, and at most a second. Returns by how much the clock jumped meanwhile, 0 if by less than a
 * second: the machine was suspended, or this process was stopped. Deadlines that were being waited for move by it. */
double clt_poll(struct pollfd *watched, size_t n, double wait_s);

/* Seconds of processor time that the calling thread has used. */
static inline double clt_thread_time_s(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Seconds of processor time of all processors since the machine started: busy_s, all_s (including idle), and own_s, the
 * part of this process and of the processes that it has waited for. NaN: not known. */
typedef struct clt_processor_time {
  double busy_s, all_s, own_s;
} clt_processor_time;
clt_processor_time clt_processor_time_now(void);

/* --- a loop on several threads --- */

/* Calls task(user, index, error) once for each index 0 .. n - 1, on up to `threads` threads including the calling one
 * (0: one per available processor; at most 64). After a failure, no further index is started. Returns the first
 * failure, with its error. */
int clt_parallel(unsigned threads, size_t n, int (*task)(void *user, size_t index, clt_error *error), void *user,
                 clt_error *error);

unsigned clt_processors(void);
