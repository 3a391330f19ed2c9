/* problem/parts.h - the structures of a loaded problem, shared by the files of this component. */
#ifndef CLT_PROBLEM_PARTS_H
#define CLT_PROBLEM_PARTS_H

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "problem/data.h"
#include "problem/guidance.h"
#include "problem/stated.h"
#include "space/expr.h"

#define CLT_MAX_TEXT_BYTES ((size_t)64 << 20) /* of a problem file, a kernel, an included file, a module */
#define CLT_MAX_DATA_BYTES ((size_t)1 << 40)  /* of a file with the content of an argument */

/* All memory except the table of expressions is owned by the source. */
struct clt_problem {
  clt_source source;
  const char *folder; /* absolute */
  const char *name, *cold_name;
  clt_expression *expressions;
  size_t n_expressions, expressions_capacity;
  clt_problem_parameter *sizes; /* the first n_passed are problem parameters; the others are for expressions only */
  size_t n_sizes, n_passed;
  clt_tuning_parameter *parameters;
  size_t n_parameters;
  clt_expression_id *conditions;
  size_t n_conditions;
  clt_stated_alias *aliases;
  size_t n_aliases;

  clt_error not_run;          /* why the kernel cannot be run on generated data; code 0: it can */
  clt_reading reading_of_run; /* for nodes whose mistakes go into not_run */
  const char *language; /* of the kernel; NULL: OpenCL. For other languages, only the members up to here are read */
  const char *kernel_name, *kernel_file; /* file as written; NULL: the kernel is generated, and may be named later */
  clt_generation generation;
  clt_compiler_option *options;
  size_t n_options;
  const char **include_paths; /* absolute */
  size_t n_include_paths;
  uint64_t known_group; /* work-items of a work-group with which an application has launched it; 0: unknown */
  const char *opencl_standard;
  clt_extent problem_size; /* T1; n = 0: none */
  clt_argument *arguments;
  size_t n_arguments;
  clt_launch *launches;
  size_t n_launches;
  clt_resource *resources;
  size_t n_resources;
  clt_expression_id desirability;
  clt_reference reference;

  struct clt_command *command; /* NULL: the problem is a kernel, described by the members above (problem/command.h) */
  clt_guidance guidance;
};

/* Computes the default of a size on a device; NULL: an unknown one, whose properties are 0 and '' and its type 'cpu'.
 * Fails if it is not a whole number from min to max, with the place in the file. */
int clt_default_size(int64_t *out, const clt_problem *problem, const clt_problem_parameter *size,
                     const clt_device_info *device, clt_error *error);

/* --- looking things up (problem.c) --- */
int clt_problem_parameter_index(const clt_problem *problem, const char *name); /* of a tuning parameter; -1: none */
bool clt_is_declared(const clt_problem *problem, const char *name);            /* a tuning parameter or a size */
bool clt_holds_data(const clt_argument *argument); /* a vector in global or constant memory, or an image */

/* The combined properties of all argument entries with one name, which are the same data. */
typedef struct clt_entries {
  const clt_argument *first; /* NULL: there is no entry */
  size_t n;
  const clt_fill *fill; /* of any of the entries; NULL: the data set has no content for them */
  bool verified;        /* any of the entries is */
} clt_entries;
clt_entries clt_problem_entries(const clt_problem *problem, const char *name);

/* Whether a file looks like a problem file: JSON with a kernel or a command. */
bool clt_problem_is_file(const char *path);

#endif
