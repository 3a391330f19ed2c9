/* problem/load.h - the structures of a loaded problem, and the loader, whose functions read some members of a node
 * (base/json.h). */
#pragma once

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

/* --- the loader --- */

/* load_kernel.c */
void clt_load_kernel(clt_problem *problem, const clt_node *root);
void clt_load_hints(clt_problem *problem, const clt_node *section); /* "Resources", "Desirability" */
/* Reads a text, or {"<name>": text, "When": expression}. Sets out->when, and *place to the node of the text. Returns
 * the text; NULL: a mistake. */
const char *clt_load_option(clt_problem *problem, clt_compiler_option *out, clt_node *place, const clt_node *node,
                            const char *name);
/* Adds the expression of each "{...}" in the option's text to its holes; "{{" is a literal brace. */
void clt_load_holes(clt_problem *problem, clt_compiler_option *option, const clt_node *node);
void clt_load_options(clt_problem *problem, clt_compiler_option **out, size_t *n, const clt_node *parent);
/* Reads one launch. Members that its entry lacks are taken from defaults. */
void clt_load_launch(clt_problem *problem, clt_launch *out, const clt_launch *defaults, const clt_node *node);

/* load.c: reads {"name": value, ...} as settings, with values as texts as on the command line; real numbers have
 * `digits` digits. NULL: the node is missing. */
clt_setting *clt_load_settings(size_t *n_out, const clt_node *node, int digits);

/* Reads 1 to `most` integers from min to max: one, a list, or a text as in T1 ("range(1, 11)"). Sets *n. NULL if the
 * member is missing. */
int64_t *clt_load_integers(size_t *n, const clt_node *node, int64_t min, int64_t max, size_t most);

/* A copy of node whose mistakes do not make the file invalid: they are kept as the reason why the kernel cannot be run
 * on generated data, which clt_problem_check_kernel reports. */
clt_node clt_node_of_run(clt_problem *problem, const clt_node *node);

/* load_arguments.c */
void clt_load_arguments(clt_problem *problem, const clt_node *kernel);
void clt_load_reference(clt_problem *problem, const clt_node *root);

/* load_permutation.c: adds the parameters and conditions of a permutation. */
void clt_load_permutation(clt_problem *problem, const char *name, const clt_node *node);

/* load_command.c: leaves problem->command NULL if there is no section "Command". */
void clt_load_command(clt_problem *problem, const clt_node *root);
/* Reads a list of paths of files, which must exist. */
void clt_load_file_names(clt_problem *problem, const char ***out, size_t *n_out, const clt_node *list);

/* --- expressions (expression.c) --- */

/* Add an expression to the problem: from a node that is a number, boolean or text, from a text, or from a member of
 * parent. Return its id; 0: the node is missing, or a mistake. */
clt_expression_id clt_add_expression(clt_problem *problem, const clt_node *node);
clt_expression_id clt_add_expression_text(clt_problem *problem, const char *text, const clt_node *node);
clt_expression_id clt_load_expression(clt_problem *problem, const clt_node *parent, const char *name);

/* Reads {"X": e, "Y": e, "Z": e}, a list of up to three expressions, or one expression. n = 0: the member is missing.
 */
clt_extent clt_load_extent(clt_problem *problem, const clt_node *parent, const char *name);

/* All results are owned by the source. clt_load_list allocates zeroed elements, one per item of the list. clt_load_key
 * copies the key of a node. clt_load_path returns the path of a file that the problem names (name NULL: NULL). */
void *clt_load_list(size_t *n, const clt_node *list, size_t element_bytes);
const char *clt_load_key(const clt_node *node);
const char *clt_load_path(const clt_problem *problem, const clt_node *node, const char *name);

/* Replaces "ProblemSize[1]" in the text of an expression by that expression in parentheses. The result is owned by the
 * source. */
const char *clt_expand_problem_size(const clt_problem *problem, const char *text, const clt_node *node);
