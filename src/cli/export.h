/* cli/export.h - the best configurations as text for other people's builds. */
#ifndef CLT_CLI_EXPORT_H
#define CLT_CLI_EXPORT_H

#include <clatune/lookup.h>
#include <stdio.h>

/* What a header holds of one device and size. */
typedef struct cli_export_entry {
  char *device, *driver; /* the device's name as OpenCL has it, and its driver's version */
  char *configuration;
  char *options;  /* without the problem parameters */
  int64_t *sizes; /* in the problem's order */
  char **values;  /* of the tuning parameters, in the space's order, as they stand behind -Dname= */
  double time_s;
} cli_export_entry;

/* A tuning parameter, with a type that the values of all entries fit: CLT_INT, CLT_REAL or CLT_STRING. */
typedef struct cli_export_parameter {
  char *name;
  clt_value_type type;
} cli_export_parameter;

typedef struct cli_export {
  cli_export_entry *entries;
  size_t n;
  cli_export_parameter *parameters; /* known from the first entry on */
  size_t n_parameters;
} cli_export; /* zeroed: nothing */

/* Copies an answer. CLI_FAILURE without a message when out of memory. */
int cli_export_add(cli_export *export, const clt_instance *instance, const clt_lookup_result *found);
void cli_export_release(cli_export *export);

/* A C header: a table to choose from at run time (clatune_<name>_find), the build options of an entry at any sizes
 * (clatune_<name>_options), and macros for the entry that the compiler is told (-DCLATUNE_<NAME>_ENTRY=0). Texts are
 * quoted so that none of them can end its string or comment. */
int cli_export_header(FILE *out, const clt_problem *problem, const cli_export *export);

/* One configuration for all: a macro for each parameter, and CLATUNE_<NAME>_OPTIONS; also for a kernel. CMake
 * variables. */
int cli_export_portable_header(FILE *out, const clt_problem *problem, const char *configuration, const char *options);
void cli_export_portable_cmake(FILE *out, const clt_problem *problem, const char *configuration, const char *options);

/* CMake variables: CLATUNE_<NAME>_OPTIONS and one a parameter. */
void cli_export_cmake(FILE *out, const clt_instance *instance, const clt_lookup_result *found);

#endif
