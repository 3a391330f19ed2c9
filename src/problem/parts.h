/* problem/parts.h - what a loaded problem is made of; shared by the files of this room. */
#ifndef CLT_PROBLEM_PARTS_H
#define CLT_PROBLEM_PARTS_H

#include <clatune/module.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "problem/data.h"
#include "problem/strategy.h"
#include "space/expr.h"

#define CLT_MAX_TEXT_BYTES ((size_t)64 << 20) /* of a problem file, a kernel, an included file, a module */

/* Expressions stand in one table of the problem; an instance compiles the whole table. */
typedef size_t clt_expression_id;
#define CLT_NO_EXPRESSION SIZE_MAX

typedef struct clt_expression {
  char *text, *key;
  bool of_values; /* max(name) of a tuning parameter means the largest of its values, as in T1's "Size" */
  bool of_index;  /* over an element's index i, which is slot 0, and constants only */
} clt_expression;

/* Up to three expressions, x first. */
typedef struct clt_extent {
  size_t n;
  clt_expression_id id[3];
} clt_extent;

typedef struct clt_problem_parameter {
  char *name;
  int64_t standard, min, max;
  bool passed; /* as -Dname=value */
} clt_problem_parameter;

/* values: the T1 text, or NULL where the file has a JSON list (list). */
typedef struct clt_tuning_parameter {
  char *name, *type, *values, *key;
  const json_t *list, *standard;
} clt_tuning_parameter;

typedef struct clt_alias {
  clt_expression_id when;
  char *parameter, *key;
  const json_t *value;
} clt_alias;

/* A compiler option; holes are the expressions in its braces. */
typedef struct clt_compiler_option {
  char *text;
  clt_expression_id when;
  clt_expression_id *holes;
  size_t n_holes;
} clt_compiler_option;

typedef enum clt_fill_kind {
  CLT_FILL_NONE,
  CLT_FILL_CONSTANT,
  CLT_FILL_RANDOM,
  CLT_FILL_BUILT_IN, /* function: "ramp", "noise", "image" */
  CLT_FILL_FORMULA,  /* T1: an expression over the element's index i */
  CLT_FILL_MODULE,
  CLT_FILL_RAW,
  CLT_FILL_PGM,
  CLT_FILL_REPETITION /* of a scalar: the number of the launch's repetition */
} clt_fill_kind;

typedef struct clt_fill {
  clt_fill_kind kind;
  clt_expression_id value; /* constant, upper bound, or formula */
  char *file;              /* absolute */
  char *module, *function;
  int64_t seed;
} clt_fill;

typedef struct clt_argument {
  char *name, *key;
  clt_arg_kind kind;
  clt_access access;
  clt_element element;
  clt_extent size, border;
  clt_expression_id when;
  clt_border_mode border_mode;
  clt_image_channel channel;
  bool sampler_normalised, sampler_clamp_to_edge, sampler_linear;
  bool output;
  clt_fill fill;
  double absolute_tolerance, relative_tolerance;
  bool absolute_is_stated; /* the entry has an "AbsoluteTolerance" */
} clt_argument;

/* How the global size is stated: in work-items, in work-groups, or as Kernel Tuner's problem size and divisors. */
typedef enum clt_grid_kind { CLT_GRID_ITEMS, CLT_GRID_GROUPS, CLT_GRID_DIVIDED } clt_grid_kind;

typedef struct clt_launch {
  char *kernel, *key;
  clt_grid_kind grid, stated; /* stated: what "GlobalSizeType" makes of a "GlobalSize" */
  clt_extent global, divisor; /* divisor: of CLT_GRID_DIVIDED, CLT_NO_EXPRESSION for 1 */
  clt_extent local;           /* n = 0: left to the driver */
  bool all_args;
  char **args;
  size_t n_args;
  clt_expression_id repeat, when;
  size_t group; /* launches that are repeated together have the same, other than 0 */
} clt_launch;

typedef struct clt_resource {
  char *name;
  clt_expression_id value;
} clt_resource;

/* The reference data of one argument, from a file or a fill. */
typedef struct clt_reference_array {
  char *target;
  clt_fill fill;
} clt_reference_array;

/* A figure of how good the right result is, by a module's function. name NULL: the problem has none. */
typedef struct clt_quality {
  char *module, *function, *name, *unit;
} clt_quality;

/* An entry of "Metrics"; clt_metric of clatune/problem.h is what others see of it. */
typedef struct clt_stated_metric {
  char *name, *expression, *unit, *key;
  clt_goal goal;
} clt_stated_metric;

typedef struct clt_reference {
  clt_reference_kind kind;
  clt_quality quality;
  char *module, *function;
  char *kernel_file;
  clt_launch launch;
  clt_compiler_option *options;
  size_t n_options;
  clt_reference_array *arrays;
  size_t n_arrays;
} clt_reference;

struct clt_problem {
  clt_source source;
  char *folder; /* absolute */
  json_t *root;
  char *name;
  int64_t budget;

  clt_expression *expressions;
  size_t n_expressions, expressions_capacity;

  clt_problem_parameter *sizes;
  size_t n_sizes;
  clt_tuning_parameter *parameters;
  size_t n_parameters;
  clt_expression_id *conditions;
  size_t n_conditions;
  clt_alias *aliases;
  size_t n_aliases;

  char *kernel_name, *kernel_file; /* file as written */
  clt_compiler_option *options;
  size_t n_options;
  char **include_paths; /* absolute */
  size_t n_include_paths;
  char *opencl_standard;
  clt_extent problem_size; /* T1; n = 0: none */
  clt_argument *arguments;
  size_t n_arguments;
  clt_launch *launches;
  size_t n_launches;
  clt_resource *resources;
  size_t n_resources;
  clt_expression_id desirability;
  clt_reference reference;

  struct clt_command *command; /* NULL: a kernel, described by what stands above (problem/command.h) */
  clt_strategy strategy;
  clt_independence groups;
  clt_stated_metric *metrics;
  size_t n_metrics;
  char *objective; /* NULL: none */
};

/* --- expressions (expression.c) --- */

/* Adds the expression at a node: a number, a truth value or a text. A node without anything gives CLT_NO_EXPRESSION. */
int clt_add_expression(clt_problem *problem, clt_expression_id *out, const clt_node *node, clt_error *error);
int clt_add_expression_text(clt_problem *problem, clt_expression_id *out, const char *text, const char *key,
                            clt_error *error);

/* {"X": e, "Y": e, "Z": e}, a list of up to three, or one expression. Nothing there: n = 0. */
int clt_add_extent(clt_problem *problem, clt_extent *out, const clt_node *node, clt_error *error);

/* The texts that expressions are compiled from: "ProblemSize[1]" becomes that expression in parentheses. malloc'ed. */
char *clt_expand_problem_size(const clt_problem *problem, const char *text);

/* "max(name)" and "min(name)" of a tuning parameter become the number; the parameters' values stand in values[i][n[i]].
 */
char *clt_expand_value_limits(const clt_problem *problem, const char *text, clt_value *const *values, const size_t *n);

/* --- the parts of the loader --- */
int clt_load_parameters(clt_problem *problem, const clt_node *root, clt_error *error);     /* load_space.c */
int clt_load_problem_size(clt_problem *problem, const clt_node *kernel, clt_error *error); /* load_kernel.c */
int clt_load_kernel(clt_problem *problem, const clt_node *root, clt_error *error);         /* load_kernel.c */
int clt_load_hints(clt_problem *problem, const clt_node *section, clt_error *error);       /* load_kernel.c */
/* Adds the expression of every "{...}" of an option; "{{" stands for a brace (load_options.c). */
int clt_load_holes(clt_problem *problem, clt_compiler_option *option, const clt_node *node, clt_error *error);
int clt_load_options(clt_problem *problem, clt_compiler_option **out, size_t *n, const clt_node *list,
                     clt_error *error);                                                /* load_options.c */
int clt_load_paths(clt_problem *problem, const clt_node *kernel, clt_error *error);    /* load_options.c */
int clt_load_launches(clt_problem *problem, const clt_node *kernel, clt_error *error); /* load_launches.c */
int clt_load_launch(clt_problem *problem, clt_launch *out, const clt_launch *standard, const clt_node *node,
                    clt_error *error);                                                          /* load_launches.c */
int clt_load_arguments(clt_problem *problem, const clt_node *kernel, clt_error *error);         /* load_arguments.c */
int clt_load_fill(clt_problem *problem, clt_fill *out, const clt_node *node, clt_error *error); /* load_fill.c */
int clt_load_reference(clt_problem *problem, const clt_node *root, const clt_node *kernel, clt_error *error);
int clt_load_metrics(clt_problem *problem, const clt_node *root, clt_error *error); /* load_metrics.c */

/* Where a file named in the problem lies. malloc'ed, NULL when out of memory. */
char *clt_problem_file(const clt_problem *problem, const char *name);

/* The first argument entry of a name, or NULL; how many entries the name has. */
const clt_argument *clt_problem_argument(const clt_problem *problem, const char *name);
size_t clt_problem_n_entries(const clt_problem *problem, const char *name);

/* Releases what a fill, a launch or a list of options owns (free.c). */
void clt_metrics_release(clt_problem *problem); /* load_metrics.c */
void clt_fill_release(clt_fill *fill);
void clt_launch_release(clt_launch *launch);
void clt_options_free(clt_compiler_option *options, size_t n);

/* --- instances (instance.c, evaluate.c) --- */
struct clt_instance {
  const clt_problem *problem;
  clt_space *space;
  clt_device_info device;
  bool has_device;
  int64_t *sizes;
  clt_expr **compiled; /* of problem->expressions */
  clt_value **values;  /* of problem->parameters, one block each */
  size_t *n_values;
};

/* Compiles all expressions of the problem and reads the values of the parameters: everything but the space. */
int clt_instance_compile(clt_instance *instance, clt_error *error);

/* The symbols that expressions of the instance know: constants, and the tuning parameters as slots 0 ... Device
 * properties are slots behind them where the instance has no device. */
int clt_instance_symbols(const clt_instance *instance, clt_symbol **out, size_t *n, clt_error *error);

/* Values of the tuning parameters for a configuration; slots has CLT_MAX_PARAMETERS entries. */
void clt_instance_slots(const clt_instance *instance, clt_config config, clt_value *slots);

/* Evaluates; errors name the place. slots NULL: the expression must not depend on the configuration. */
int clt_evaluate(const clt_instance *instance, clt_expression_id id, const clt_value *slots, clt_value *out,
                 clt_error *error);
int clt_evaluate_number(const clt_instance *instance, clt_expression_id id, const clt_value *slots, double *out,
                        clt_error *error);
/* A whole number from min to 2^62. */
int clt_evaluate_count(const clt_instance *instance, clt_expression_id id, const clt_value *slots, size_t min,
                       size_t *out, clt_error *error);
/* Absent: true. */
int clt_evaluate_when(const clt_instance *instance, clt_expression_id id, const clt_value *slots, bool *out,
                      clt_error *error);
/* Unused dimensions get `unused`. */
int clt_evaluate_extent(const clt_instance *instance, const clt_extent *extent, const clt_value *slots, size_t min,
                        size_t unused, size_t out[3], clt_error *error);

/* Whether an expression reads the configuration, or a device where the instance has none. */
bool clt_depends(const clt_instance *instance, clt_expression_id id);
bool clt_needs_device(const clt_instance *instance, clt_expression_id id);

/* Global and local sizes of a launch (launch.c). */
int clt_launch_sizes(const clt_instance *instance, const clt_launch *launch, const clt_value *slots,
                     clt_plan_launch *out, clt_error *error);

/* Adds the device's limits to a space under construction (limits.c). */
int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error);

/* Build options, without those that depend on the kernel's text (options.c). list: the problem's own or the
 * reference's. */
int clt_options_text(const clt_instance *instance, const clt_value *slots, const clt_compiler_option *list, size_t n,
                     char **out, clt_error *error);

/* Writes an option, expressions in braces replaced by their values (options.c). */
int clt_option_expand(const clt_instance *instance, const clt_value *slots, const clt_compiler_option *option,
                      FILE *out, clt_error *error);

/* Kernel text and where it lies (source.c). The path is tried from the problem's folder and, as Kernel Tuner does, from
 * the one above. */
int clt_kernel_read(const clt_problem *problem, const char *file, char **text, char **folder, clt_error *error);

/* Adds a text to a hash, and the files that it includes in quotes and that lie in `folder` or in one of the include
 * folders, each once (source.c). */
int clt_hash_with_includes(clt_hasher *hasher, const char *text, const char *folder, char *const *include_paths,
                           size_t n_include_paths, clt_error *error);

/* A value as a number of an element's base type, saturated (number.c). */
void clt_store_number(void *at, clt_element_base base, double number);

/* Content of a logical array (fill.c, pgm.c). call carries the arrays and scalars that a module's function may read. */
int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_module_call *call, clt_error *error);
int clt_pgm_read(const char *path, const clt_array *array, void *data, clt_error *error);

/* Whether an argument has content of the data set: any of the entries of its name is filled. */
const clt_fill *clt_problem_fill(const clt_problem *problem, const char *name);
bool clt_holds_data(const clt_argument *argument); /* a vector in global or constant memory, or an image */
bool clt_is_verified(const clt_problem *problem, const char *name);

/* A function of a module, which is compiled first where it is C (module.c). Modules stay loaded. */
int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error);

#endif
