/* problem/parts.h - the structures of a loaded problem, shared by the files of this component. */
#ifndef CLT_PROBLEM_PARTS_H
#define CLT_PROBLEM_PARTS_H

#include <clatune/module.h>
#include <clatune/rng.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/reader.h"
#include "base/text.h"
#include "problem/data.h"
#include "problem/guidance.h"
#include "space/expr.h"

#define CLT_MAX_TEXT_BYTES ((size_t)64 << 20) /* of a problem file, a kernel, an included file, a module */
#define CLT_MAX_DATA_BYTES ((size_t)1 << 40)  /* of a file with the content of an argument */

/* Index in the problem's table of expressions, from 1; 0: none. An instance compiles the whole table. */
typedef size_t clt_expression_id;

typedef struct clt_expression {
  const char *text, *key;
  bool of_values; /* max(name) of a tuning parameter is the largest of its values, as in T1's "Size" */
  bool of_index;  /* may use only constants and i, the index of an element (slot 0) */
} clt_expression;

/* Up to three expressions, in the order x, y, z. */
typedef struct clt_extent {
  size_t n;
  clt_expression_id id[3];
} clt_extent;

typedef struct clt_problem_parameter {
  const char *name, *key;          /* key: of "Default" */
  const char *rule;                /* Nullable: "Default" as an expression of the device's properties */
  int64_t default_value, min, max; /* default_value: that of an unknown device */
  bool no_macro;                   /* not passed to the kernel as a macro, so that one build serves all sizes */
} clt_problem_parameter;

/* values: the T1 text; NULL: the file has a JSON list (list). */
typedef struct clt_tuning_parameter {
  const char *name, *type, *values, *key; /* the key of "Values" */
  const json_t *list, *default_value;
} clt_tuning_parameter;

typedef struct clt_stated_alias {
  clt_expression_id when;
  const char *parameter, *key;
  const json_t *value;
} clt_stated_alias;

/* A compiler option, or a word of a command. holes are the expressions in its braces. */
typedef struct clt_compiler_option {
  const char *text;
  clt_expression_id when;
  clt_expression_id *holes;
  size_t n_holes;
} clt_compiler_option;

typedef enum clt_fill_kind { /* keys in stores depend on these numbers */
                             CLT_FILL_NONE,
                             CLT_FILL_CONSTANT,
                             CLT_FILL_RANDOM,
                             CLT_FILL_BUILT_IN, /* function: "ramp", "noise", "image" */
                             CLT_FILL_FORMULA,  /* T1: an expression over the index i of the element */
                             CLT_FILL_MODULE,
                             CLT_FILL_RAW,
                             CLT_FILL_PGM,
                             CLT_FILL_REPETITION, /* of a scalar: how many times the launch has run before */
                             CLT_FILL_FIELDS      /* of a structure: its argument's fields */
} clt_fill_kind;

typedef struct clt_fill {
  clt_fill_kind kind;
  clt_expression_id value; /* constant, upper bound, or formula */
  const char *file;        /* absolute */
  const char *module, *function;
  int64_t seed;
  bool never_hostile; /* "HostileData" is false */
  bool stays;         /* "Vary" is false, or the content is a structure: the same in all checks */
} clt_fill;

/* A field of a structure. One value is that of all its elements and components. */
typedef struct clt_stated_field {
  const char *name, *key;
  clt_expression_id *values;
  size_t n_values;
} clt_stated_field;

typedef struct clt_argument {
  const char *name, *key;
  clt_plan_arg plan; /* the members that are the same for all configurations; has no name */
  clt_extent size, border;
  clt_expression_id when;
  bool output;
  clt_fill fill;
  const char *structure; /* with fields: the name of the type; NULL: the one with these fields */
  clt_stated_field *fields;
  size_t n_fields;
  double absolute_tolerance, relative_tolerance;
  bool absolute_is_stated; /* the entry has an "AbsoluteTolerance" */
} clt_argument;

/* The unit of the global size: work-items, work-groups, or Kernel Tuner's problem size and divisors. */
typedef enum clt_grid_kind { CLT_GRID_ITEMS, CLT_GRID_GROUPS, CLT_GRID_DIVIDED } clt_grid_kind;

typedef struct clt_launch {
  const char *kernel, *key;
  clt_grid_kind grid, stated; /* stated: the kind of a "GlobalSize", according to "GlobalSizeType" */
  clt_extent global, divisor; /* divisor: for CLT_GRID_DIVIDED; an id of 0 stands for 1 */
  clt_extent local;           /* n = 0: the driver chooses */
  bool all_args;
  const char **args;
  size_t n_args;
  clt_expression_id repeat, when;
  size_t group; /* not 0: launches with the same number are repeated together */
} clt_launch;

typedef struct clt_resource {
  const char *name;
  clt_expression_id value;
} clt_resource;

/* The reference data of one argument, from a file or a fill. */
typedef struct clt_reference_array {
  const char *target;
  clt_fill fill;
} clt_reference_array;

/* The figure of quality: a module's function that rates the correct result. name NULL: the problem has none. */
typedef struct clt_quality {
  const char *module, *function, *name, *unit;
} clt_quality;

typedef struct clt_reference {
  clt_reference_kind kind;
  clt_quality quality;
  const char *module, *function;
  const char *verify_module, *verify_function; /* check results; NULL: results are compared */
  const char *kernel_file;
  clt_launch launch;
  clt_compiler_option *options;
  size_t n_options;
  clt_reference_array *arrays;
  size_t n_arrays;
} clt_reference;

/* The program that writes the kernel's source (problem/generate.h). n_words 0: there is none. */
typedef struct clt_generation {
  clt_compiler_option *words;
  size_t n_words;
  bool persistent;    /* it answers line by line, and stays alive for the next configuration */
  bool macros;        /* its source gets the macros of the parameters and sizes, as a kernel's file does */
  const char **files; /* as written; the program depends on them */
  size_t n_files;
  const char *version; /* Nullable: part of the key */
} clt_generation;

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
