/* problem/stated.h - what a problem file states: expressions, parameters, arguments, launches, references. */
#pragma once

#include "base/json.h"
#include "problem/data.h"

/* Index in the problem's table of expressions, from 1; 0: none. An instance compiles the whole table. */
typedef size_t clt_expression_id;

typedef struct clt_expression {
  const char *text, *key;
  bool of_values; /* max(name) of a tuning parameter is the largest of its values, as in T1's "Size" */
  bool of_index;  /* may use only constants and i, the index of an element (slot 0) */
  bool of_order;  /* says that the positions in a permutation differ */
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

/* The program that writes the kernel's source (problem/command.h). n_words 0: there is none. */
typedef struct clt_generation {
  clt_compiler_option *words;
  size_t n_words;
  bool persistent;    /* it answers line by line, and stays alive for the next configuration */
  bool macros;        /* its source gets the macros of the parameters and sizes, as a kernel's file does */
  const char **files; /* as written; the program depends on them */
  size_t n_files;
  const char *version; /* Nullable: part of the key */
} clt_generation;
