/* clatune/error.h - result codes and error details.
 *
 * Every fallible function returns 0 or a negative CLT_E... code and takes, as its last parameter, a clt_error that may
 * be NULL. The caller owns the clt_error; it has fixed arrays, so reporting an error never allocates. The first error
 * wins: a function that fails leaves an error that is already set untouched. On failure nothing is written to the out
 * parameters. The library prints nothing and never ends the process. */
#ifndef CLATUNE_ERROR_H
#define CLATUNE_ERROR_H

#include <clatune/version.h>
#include <stddef.h>

/* Around the declarations of every public header but clatune/module.h. */
#ifdef __cplusplus
#define CLT_BEGIN_C extern "C" {
#define CLT_END_C }
#else
#define CLT_BEGIN_C
#define CLT_END_C
#endif

CLT_BEGIN_C

/* One line per result code: enumerator, value, text for people. */
#define CLT_ERROR_TABLE(X)                                      \
  X(CLT_OK, 0, "no error")                                      \
  X(CLT_E_MEMORY, -1, "out of memory")                          \
  X(CLT_E_ARGUMENT, -2, "bad argument")                         \
  X(CLT_E_IO, -3, "input or output failed")                     \
  X(CLT_E_FORMAT, -4, "the file is not of the expected form")   \
  X(CLT_E_EXPRESSION, -5, "an expression cannot be used")       \
  X(CLT_E_RANGE, -6, "a number is out of range")                \
  X(CLT_E_NOT_FOUND, -7, "there is no such thing")              \
  X(CLT_E_AMBIGUOUS, -8, "more than one thing fits")            \
  X(CLT_E_DEVICE, -9, "no such OpenCL device")                  \
  X(CLT_E_OPENCL, -10, "OpenCL failed")                         \
  X(CLT_E_WORKER, -11, "the worker process failed")             \
  X(CLT_E_STORE, -12, "the store cannot be used")               \
  X(CLT_E_NO_VALID, -13, "there is no valid configuration")     \
  X(CLT_E_VERIFY, -14, "the result differs from the reference") \
  X(CLT_E_MODEL, -15, "the model cannot be fitted or used")     \
  X(CLT_E_STOPPED, -16, "stopped on request")                   \
  X(CLT_E_AGAIN, -17, "nothing yet")                            \
  X(CLT_E_UNSUPPORTED, -18, "not supported")

typedef enum clt_result {
#define CLT_ERROR_ENUM(id, value, text) id = value,
  CLT_ERROR_TABLE(CLT_ERROR_ENUM)
#undef CLT_ERROR_ENUM
} clt_result;

/* What went wrong. code is 0 while nothing did. message is one line without a full stop, in the form
 * "cannot open 'x.json': No such file or directory". file, line and key are set where the cause is in a text file:
 * line is 1-based or 0, key is the path of the JSON member such as "ConfigurationSpace.TuningParameters[2].Values". */
typedef struct clt_error {
  int code;
  int line;
  char file[512];
  char key[256];
  char message[1024];
} clt_error;

/* The text of a result code, static: "out of memory"; "unknown" for codes not in the table. */
const char *clt_error_text(int code);

/* Writes "file:line: key: message" with the parts that are known into out (capacity bytes, always terminated).
 * Returns the length it would have needed, as snprintf does. */
int clt_error_format(char *out, size_t capacity, const clt_error *error);

CLT_END_C
#endif
