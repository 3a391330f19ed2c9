/* opencl/declarations.h - why PoCL compiles a small kernel slowly, and what is done about it.
 *
 * PoCL hands Clang, before every program, Clang's header of all builtin functions: some 14,500 declarations, which are
 * preprocessed, hashed and parsed anew for each configuration. A program that declares for itself the ones that it
 * mentions, and keeps the header out by the header's own guard, compiles to the same code in a fraction of that time.
 * What is kept is taken from the driver's own header: every declaration of a name that occurs in the source or in the
 * options, with all preprocessor directives around it. A name that occurs in neither (made by ##, or used by an
 * included file) is an error in OpenCL C, so such a program fails to build and is built again in the driver's own way.
 */
#ifndef CLT_OPENCL_DECLARATIONS_H
#define CLT_OPENCL_DECLARATIONS_H

#include <clatune/error.h>
#include <stddef.h>

/* A header of declarations, cut into directives and statements, and the names that sources were found to use without
 * mentioning them. */
typedef struct clt_declarations clt_declarations;

/* To be added to the options of a program that begins with its own declarations. */
#define CLT_DECLARATIONS_OPTION " -D_OPENCL_H_"

/* Cuts a header; `text` is copied. CLT_E_FORMAT where it does not begin with the guard that Clang's has. */
int clt_declarations_parse(clt_declarations **out, const char *text, clt_error *error);
/* The header of the PoCL that this process has loaded; *out is NULL where there is none that is known to work so. Reads
 * about a megabyte. */
int clt_declarations_of_pocl(clt_declarations **out, const char *platform_version, clt_error *error);
void clt_declarations_free(clt_declarations *declarations);

/* From now on the names that a log mentions are declared for every source. How many of them were not so before: 0 means
 * that another build would fail in the same way. */
size_t clt_declarations_learn(clt_declarations *declarations, const char *log);

/* The source behind the declarations that it, or the options (nullable), mention; line numbers stay the source's. NULL
 * when out of memory; caller frees. */
char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options);

#endif
