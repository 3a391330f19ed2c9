/* clatune/error.h - result codes and error details.
 *
 * A function that can fail returns 0 or a negative CLT_E_... code. Its last parameter is a clt_error, which may be
 * NULL. The caller owns it and sets it to zeros before the first use. Reporting an error allocates no memory. An error
 * that is already set stays as it is, so the first of several errors is kept. On failure nothing is written to the out
 * parameters. The library prints nothing and never ends the process. */
#ifndef CLATUNE_ERROR_H
#define CLATUNE_ERROR_H

#include <clatune/version.h>
#include <stddef.h>

/* These enclose the declarations of every public header except clatune/module.h. */
#ifdef __cplusplus
#define CLT_BEGIN_C extern "C" {
#define CLT_END_C }
#else
#define CLT_BEGIN_C
#define CLT_END_C
#endif

CLT_BEGIN_C

/* One line per result code: enumerator, value, text. */
#define CLT_ERROR_TABLE(X)                                      \
  X(CLT_OK, 0, "no error")                                      \
  X(CLT_E_MEMORY, -1, "out of memory")                          \
  X(CLT_E_ARGUMENT, -2, "invalid argument")                     \
  X(CLT_E_IO, -3, "reading or writing failed")                  \
  X(CLT_E_FORMAT, -4, "invalid format")                         \
  X(CLT_E_EXPRESSION, -5, "invalid expression")                 \
  X(CLT_E_RANGE, -6, "number or size out of range")             \
  X(CLT_E_NOT_FOUND, -7, "not found")                           \
  X(CLT_E_AMBIGUOUS, -8, "several OpenCL devices match")        \
  X(CLT_E_DEVICE, -9, "OpenCL device not found")                \
  X(CLT_E_OPENCL, -10, "an OpenCL call failed")                 \
  X(CLT_E_WORKER, -11, "the worker process failed")             \
  X(CLT_E_STORE, -12, "the store cannot be used")               \
  X(CLT_E_NO_VALID, -13, "no valid configuration")              \
  X(CLT_E_VERIFY, -14, "the result differs from the reference") \
  X(CLT_E_MODEL, -15, "the model cannot be fitted or used")     \
  X(CLT_E_STOPPED, -16, "stopped on request")                   \
  X(CLT_E_AGAIN, -17, "no result yet, try again")               \
  X(CLT_E_UNSUPPORTED, -18, "not supported")

typedef enum clt_result {
#define CLT_ERROR_ENUM(id, value, text) id = value,
  CLT_ERROR_TABLE(CLT_ERROR_ENUM)
#undef CLT_ERROR_ENUM
} clt_result;

/* Details of an error. code is 0 if there was none. message is one line without a full stop, such as
 * "cannot open 'x.json': No such file or directory". If the cause is in a text file, file, line and key say where: line
 * counts from 1 (0: unknown), key is the path of a JSON member, such as
 * "ConfigurationSpace.TuningParameters[2].Values".
 */
typedef struct clt_error {
  int code;
  int line;
  char file[512];
  char key[256];
  char message[1024];
} clt_error;

/* The text of a result code, such as "out of memory"; "unknown" for codes that are not in the table. Static. */
const char *clt_error_text(int code);

/* Writes "file:line: key: message", without unknown parts, into out, which has capacity bytes and is always
 * terminated. Returns the length that the whole text needs, as snprintf does. */
int clt_error_format(char *out, size_t capacity, const clt_error *error);

CLT_END_C
#endif
