/* opencl/program.h - building programs: from a text (build.c), for a plan (program.c), and on PoCL with only the
 * declarations that it needs (declarations.c). */
#pragma once

#include "opencl/executor.h"

/* --- OpenCL's status codes as errors of the tuner or as failures of a configuration --- */

/* A step returns CLT_OK, CLT_REJECTED (the configuration failed, and its measurement says why), or a negative CLT_E_...
 * (the tuner cannot go on). Functions that return cl_int return OpenCL's status, and do not wait unless they say so. */
enum { CLT_REJECTED = 1 };

const char *clt_cl_status_name(cl_int status); /* "CL_OUT_OF_RESOURCES"; "unknown status" */
bool clt_cl_out_of_memory(cl_int status);

/* "cannot <what>: <status>", CLT_E_OPENCL. */
int clt_fail_cl(clt_error *error, cl_int status, const char *what);
/* Marks the measurement (NULL: no configuration is blamed) as failed, with a log in printf's form. Returns
 * CLT_REJECTED. */
int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a call that the driver refused: if memory is short the reason is out-of-memory, else `reason`. */
int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what);

/* --- building --- */

/* A plan's program. */
typedef struct clt_program {
  cl_program program;
  cl_kernel *kernels; /* one per launch: each has arguments of its own */
  size_t n_kernels;
} clt_program;

/* Checks the device's limits, builds (a failure keeps the log), and checks the built kernels' limits. On PoCL it builds
 * with only the declarations that the source mentions (see below). If that fails it builds in the driver's own way, and
 * if that succeeds, it does so from then on. */
int clt_program_build(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error);
void clt_program_release(clt_program *program);
/* Makes a program from a text and builds it, so that the driver describes the kernels' arguments; *status is the status
 * of the build. An error means that it could not be made. Where NVIDIA's driver (580) makes PTX that it cannot
 * read itself, as for a kernel without parameters, they stay undescribed. */
int clt_program_build_described(cl_program *out, cl_int *status, clt_executor *executor, const char *text,
                                const char *options, clt_error *error);
/* A kernel from a text of clatune's own; NULL: see *status. */
cl_kernel clt_own_kernel(const clt_executor *executor, const char *text, const char *name, cl_int *status);
/* A build's log after lines that say which extensions the device lacks, and which names of the problem (plan nullable)
 * the source declares itself, so that macros replace them. malloc'ed; NULL when out of memory. */
char *clt_explain_build(const clt_executor *executor, const clt_plan *plan, const char *source, const char *log);
/* The driver's log of a build, malloc'ed; NULL if there is none. */
char *clt_program_log(cl_program program, cl_device_id device);

/* An argument of a kernel that clt_program_build_described built; false: the driver does not describe it. */
bool clt_cl_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint index);
/* inspect.c: replaces the names of typedefs by their types and sets the bytes of structs. It finds them by building the
 * text with probes appended. Types that cannot be resolved stay as they are. */
void clt_types_resolve(clt_kernel_argument *const *arguments, size_t n, const clt_executor *executor, const char *text,
                       const char *options);
/* Whether a type, or the type that it points to, is not one of OpenCL's own; out: its name. */
bool clt_type_is_own(char out[128], const char *type);

/* --- declarations.c: shorter builds on PoCL ---
 *
 * PoCL puts Clang's header of all builtin functions before every program: some 14,500 declarations, which are
 * preprocessed, hashed and parsed for each configuration. If a program contains only the declarations that it mentions,
 * and keeps the header out with the header's own guard, it compiles to the same code in a fraction of that time. The
 * declarations come from the driver's own header: each one whose name occurs in the source or in the options, with all
 * preprocessor directives around it. A name that occurs in neither (made by ##, or used by an included file) is an
 * error in OpenCL C, so such a program fails to build and is built again in the driver's own way.
 */

/* A header, split into directives and statements, and the names that sources use without mentioning them. */
typedef struct clt_declarations clt_declarations;

/* An option for programs that begin with their own declarations. */
#define CLT_DECLARATIONS_OPTION " -D_OPENCL_H_"

/* Splits a header; `text` is copied. CLT_E_FORMAT if it does not begin with the guard of Clang's header. */
int clt_declarations_parse(clt_declarations **out, const char *text, clt_error *error);
/* The header of the PoCL in this process; NULL if none is known to work in this way. Reads about a megabyte. */
clt_declarations *clt_declarations_of_pocl(const char *platform_version);
void clt_declarations_free(clt_declarations *declarations);

/* From now on the names in a log are declared for every source. Returns how many of them are new; 0: another build
 * would fail in the same way. */
size_t clt_declarations_learn(clt_declarations *declarations, const char *log);

/* The declarations that the source or the options (nullable) mention, then the source, whose line numbers are kept.
 * NULL when out of memory; caller frees. */
char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options);
