/* cli/export.h - the best configurations as text for other people's builds, on standard output. */
#ifndef CLT_CLI_EXPORT_H
#define CLT_CLI_EXPORT_H

#include <clatune/lookup.h>

/* What a header holds of one device and size. */
typedef struct cli_export_entry {
  char *device, *driver; /* the device's name as OpenCL has it, and its driver's version */
  char *configuration;   /* "a=1 b=2", in the space's order */
  char *options;         /* without the problem parameters */
  int64_t *sizes;        /* in the problem's order */
  double time_s;
} cli_export_entry;

typedef struct cli_export {
  cli_export_entry *entries;
  size_t n;
  clt_value_type types[CLT_MAX_PARAMETERS]; /* of tuning parameters: CLT_INT, CLT_REAL or CLT_STRING, fit for all */
} cli_export;                               /* zeroed: nothing */

/* Copies an answer. CLT_E_MEMORY without a message. */
int cli_export_add(cli_export *export, const clt_instance *instance, const clt_lookup_result *found);
void cli_export_release(cli_export *export);

/* A C header: a table to choose from at run time (clatune_<name>_find), the build options of an entry at any sizes
 * (clatune_<name>_options), and macros for the entry that the compiler is told (-DCLATUNE_<NAME>_ENTRY=0). Texts are
 * quoted so that none of them can end its string or comment. */
void cli_export_header(const clt_problem *problem, const cli_export *export);

/* One configuration for all: a macro for each parameter, and CLATUNE_<NAME>_OPTIONS; also for a kernel. */
void cli_export_portable_header(const clt_problem *problem, const char *configuration, const char *options);

/* CMake variables: CLATUNE_<NAME>_OPTIONS and one a parameter. `from` is a comment. */
void cli_export_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options);

#endif
