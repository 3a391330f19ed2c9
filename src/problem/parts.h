/* problem/parts.h - what a loaded problem is made of; shared by the files of this room. */
#ifndef CLT_PROBLEM_PARTS_H
#define CLT_PROBLEM_PARTS_H

#include <clatune/module.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/reader.h"
#include "base/text.h"
#include "problem/data.h"
#include "problem/guidance.h"
#include "space/expr.h"

#define CLT_MAX_TEXT_BYTES ((size_t)64 << 20) /* of a problem file, a kernel, an included file, a module */
#define CLT_MAX_DATA_BYTES ((size_t)1 << 40)  /* of a file with an argument's content */

/* Expressions stand in one table of the problem, from 1 on; 0 is none. An instance compiles the whole table. */
typedef size_t clt_expression_id;

typedef struct clt_expression {
  const char *text, *key;
  bool of_values; /* max(name) of a tuning parameter means the largest of its values, as in T1's "Size" */
  bool of_index;  /* over an element's index i, which is slot 0, and constants only */
} clt_expression;

/* Up to three expressions, x first. */
typedef struct clt_extent {
  size_t n;
  clt_expression_id id[3];
} clt_extent;

typedef struct clt_problem_parameter {
  const char *name;
  int64_t standard, min, max;
} clt_problem_parameter;

/* values: the T1 text, or NULL where the file has a JSON list (list). */
typedef struct clt_tuning_parameter {
  const char *name, *type, *values, *key; /* the key of "Values" */
  const json_t *list, *standard;
} clt_tuning_parameter;

typedef struct clt_alias {
  clt_expression_id when;
  const char *parameter, *key;
  const json_t *value;
} clt_alias;

/* A compiler option or a word of a command; holes are the expressions in its braces. */
typedef struct clt_compiler_option {
  const char *text;
  clt_expression_id when;
  clt_expression_id *holes;
  size_t n_holes;
} clt_compiler_option;

typedef enum clt_fill_kind { /* keys in stores count on the order */
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
  const char *file;        /* absolute */
  const char *module, *function;
  int64_t seed;
  bool never_hostile; /* "HostileData" is false */
} clt_fill;

typedef struct clt_argument {
  const char *name, *key;
  clt_plan_arg plan; /* what is the same for all configurations; without a name */
  clt_extent size, border;
  clt_expression_id when;
  bool output;
  clt_fill fill;
  double absolute_tolerance, relative_tolerance;
  bool absolute_is_stated; /* the entry has an "AbsoluteTolerance" */
} clt_argument;

/* How the global size is stated: in work-items, in work-groups, or as Kernel Tuner's problem size and divisors. */
typedef enum clt_grid_kind { CLT_GRID_ITEMS, CLT_GRID_GROUPS, CLT_GRID_DIVIDED } clt_grid_kind;

typedef struct clt_launch {
  const char *kernel, *key;
  clt_grid_kind grid, stated; /* stated: what "GlobalSizeType" makes of a "GlobalSize" */
  clt_extent global, divisor; /* divisor: of CLT_GRID_DIVIDED, 0 for 1 */
  clt_extent local;           /* n = 0: left to the driver */
  bool all_args;
  const char **args;
  size_t n_args;
  clt_expression_id repeat, when;
  size_t group; /* launches that are repeated together have the same, other than 0 */
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

/* How good the right result is, by a module's function. name NULL: the problem does not say. */
typedef struct clt_quality {
  const char *module, *function, *name, *unit;
} clt_quality;

typedef struct clt_reference {
  clt_reference_kind kind;
  clt_quality quality;
  const char *module, *function;
  const char *verify_module, *verify_function; /* judge results; NULL: these are compared */
  const char *kernel_file;
  clt_launch launch;
  clt_compiler_option *options;
  size_t n_options;
  clt_reference_array *arrays;
  size_t n_arrays;
} clt_reference;

/* Everything but the table of expressions belongs to the source. */
struct clt_problem {
  clt_source source;
  const char *folder; /* absolute */
  const char *name, *cold_name;

  clt_expression *expressions;
  size_t n_expressions, expressions_capacity;

  clt_problem_parameter *sizes; /* n_passed are passed as -Dname=value, the others may only be used in expressions */
  size_t n_sizes, n_passed;
  clt_tuning_parameter *parameters;
  size_t n_parameters;
  clt_expression_id *conditions;
  size_t n_conditions;
  clt_alias *aliases;
  size_t n_aliases;

  clt_error not_run;                     /* why the kernel cannot be run on data of its own; code 0: it can */
  clt_reading reading_of_run;            /* what notes that */
  const char *language;                  /* the kernel's; NULL: OpenCL. Of another one only what stands here is read */
  const char *kernel_name, *kernel_file; /* file as written */
  clt_compiler_option *options;
  size_t n_options;
  const char **include_paths; /* absolute */
  size_t n_include_paths;
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

  struct clt_command *command; /* NULL: a kernel, described by what stands above (problem/command.h) */
  clt_guidance guidance;
};

/* --- the loader: each part reads its members of a node (base/reader.h) --- */

/* load_kernel.c */
void clt_load_kernel(clt_problem *problem, const clt_node *root);
void clt_load_hints(clt_problem *problem, const clt_node *section); /* "Resources", "Desirability" */
/* A text, or {"<name>": text, "When": expression}: sets out->when and returns the text, which stands at *place. NULL: a
 * mistake. */
const char *clt_load_option(clt_problem *problem, clt_compiler_option *out, clt_node *place, const clt_node *node,
                            const char *name);
/* Adds the expression of every "{...}" in the option's text; "{{" stands for a brace. */
void clt_load_holes(clt_problem *problem, clt_compiler_option *option, const clt_node *node);
void clt_load_options(clt_problem *problem, clt_compiler_option **out, size_t *n, const clt_node *parent);
/* One launch: what its entry does not state is that of the standard one. */
void clt_load_launch(clt_problem *problem, clt_launch *out, const clt_launch *standard, const clt_node *node);

/* load.c: {"name": value, ...} as settings, in texts as on the command line; real numbers with so many digits. NULL
 * where there is nothing. */
clt_setting *clt_load_settings(size_t *n_out, const clt_node *node, int digits);

/* The same node, whose mistakes are no mistakes of the file but reasons why the kernel cannot be run on data of its
 * own: clt_problem_check_kernel reports them. */
clt_node clt_node_of_run(clt_problem *problem, const clt_node *node);

/* load_arguments.c */
void clt_load_arguments(clt_problem *problem, const clt_node *kernel);
void clt_load_reference(clt_problem *problem, const clt_node *root);
double clt_default_tolerance(clt_element_base base); /* absolute, for results around 1 */

/* load_command.c: leaves problem->command NULL where there is no section "Command". */
void clt_load_command(clt_problem *problem, const clt_node *root);

/* giles.c: the configuration file of Giles' generic tuner (docs/commands.md). Whether a text is one and not JSON; and
 * its parsing into source->root, the JSON that it stands for, with the lines of its members in source->lines. */
bool clt_is_giles(const char *text);
int clt_giles_parse(clt_source *source, clt_error *error);

/* --- expressions (expression.c) --- */

/* Adds an expression: a node's number, truth value or text, or that of a parent's member. 0 where there is nothing. */
clt_expression_id clt_add_expression(clt_problem *problem, const clt_node *node);
clt_expression_id clt_add_expression_text(clt_problem *problem, const char *text, const clt_node *node);
clt_expression_id clt_load_expression(clt_problem *problem, const clt_node *parent, const char *name);

/* {"X": e, "Y": e, "Z": e}, a list of up to three, or one expression. Nothing there: n = 0. */
clt_extent clt_load_extent(clt_problem *problem, const clt_node *parent, const char *name);

/* Zeroed elements, as many as a list has items; and, kept by the source, a node's key, and where the file of a name
 * lies (of NULL: NULL). */
void *clt_load_list(size_t *n, const clt_node *list, size_t element_bytes);
const char *clt_load_key(const clt_node *node);
const char *clt_load_path(const clt_problem *problem, const clt_node *node, const char *name);

/* A text (malloc'ed) with some of its names replaced; names in string literals stay. replace is called with each name,
 * of n bytes, and may look at what is behind it: it writes to out and returns where to go on, or returns NULL to leave
 * it. */
typedef const char *(*clt_name_replacer)(clt_text *out, const void *user, const char *name, size_t n);
int clt_replace_names(char **out, const char *text, clt_name_replacer replace, const void *user, clt_error *error);

/* The texts that expressions are compiled from: "ProblemSize[1]" becomes that expression in parentheses. Kept by the
 * source. */
const char *clt_expand_problem_size(const clt_problem *problem, const char *text, const clt_node *node);

/* --- looking things up (problem.c) --- */

/* The index of a tuning parameter, or -1. */
int clt_problem_parameter_index(const clt_problem *problem, const char *name);
bool clt_is_declared(const clt_problem *problem, const char *name); /* a tuning parameter or a size */

bool clt_holds_data(const clt_argument *argument); /* a vector in global or constant memory, or an image */

/* What the argument entries of one name, which are the same data, say together. */
typedef struct clt_entries {
  const clt_argument *first; /* NULL: there is none */
  size_t n;
  const clt_fill *fill; /* of any of them; NULL: it has no content of the data set */
  bool verified;        /* any of them is */
} clt_entries;
clt_entries clt_problem_entries(const clt_problem *problem, const char *name);

/* Whether a file looks like a problem's: JSON with a kernel or a command, or a configuration file of Giles' tuner. */
bool clt_problem_is_file(const char *path);

/* --- instances (problem.c, expression.c) --- */
struct clt_instance {
  const clt_problem *problem;
  clt_space *space;
  clt_device_info device;
  bool has_device;
  int64_t *sizes;
  const clt_value *fixed;    /* Nullable, borrowed: the values of the tuning parameters. Then these are constants, and
                                the sizes are slots 0 ...: expressions say what one configuration does at any size */
  clt_expr **compiled;       /* of problem->expressions */
  clt_parameter *parameters; /* the problem's; names borrowed, values in one block each */
};

/* An instance with everything but its space: all expressions are compiled (with fixed, but those of an index), the
 * values of the parameters read. fixed: see above. */
int clt_instance_new_compiled(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                              const clt_device_info *device, const clt_value *fixed, clt_error *error);

/* Adds to a builder what an instance's space consists of: parameters (with fixed, the sizes), conditions,
 * aliases and limits. *key: of what failed. */
int clt_instance_fill_builder(const clt_instance *instance, clt_space_builder *builder, const char **key,
                              clt_error *error);

/* The parameters that are Kernel Tuner's block size: "block_size_x" ... */
extern const char *const clt_block_sizes[3];

/* The symbols that expressions of the instance know: constants first, then the tuning parameters as slots 0 ... Device
 * properties are slots from CLT_SLOT_DEVICE on where the instance has no device. */
int clt_instance_symbols(const clt_instance *instance, clt_symbol **out, size_t *n, size_t *n_constants,
                         clt_error *error);

/* Values of the tuning parameters for a configuration; slots has CLT_MAX_PARAMETERS entries. */
void clt_instance_slots(const clt_instance *instance, clt_config config, clt_value *slots);

/* Evaluating many expressions for one configuration. After the first that fails (rc is no longer 0, error names its
 * place) the others are 0. slots NULL: none of them may depend on the configuration. */
typedef struct clt_calculation {
  const clt_instance *instance;
  const clt_value *slots;
  clt_error *error;
  int rc;
} clt_calculation;

clt_value clt_evaluate(clt_calculation *c, clt_expression_id id);
double clt_evaluate_number(clt_calculation *c, clt_expression_id id);
size_t clt_evaluate_count(clt_calculation *c, clt_expression_id id, size_t min); /* a whole number from min to 2^62 */
bool clt_evaluate_when(clt_calculation *c, clt_expression_id id);                /* absent: true */
/* Unused dimensions get `unused`. */
void clt_evaluate_extent(clt_calculation *c, const clt_extent *extent, size_t min, size_t unused, size_t out[3]);
/* Notes that something is wrong with an expression: "<message>: <its text>". */
void clt_calculation_fail(clt_calculation *c, clt_expression_id id, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Everything that is passed as name=value, the tuning parameters before the sizes: "<before><name><between><value>". */
size_t clt_n_defines(const clt_instance *instance);
void clt_add_define(clt_text *out, const clt_calculation *c, size_t index, const char *before, const char *between);

/* One launch of a configuration (plan.c): its sizes and repetitions, without kernel and arguments. False: it does not
 * take place, or something is wrong. */
bool clt_plan_launch_sizes(clt_plan_launch *out, clt_calculation *c, const clt_launch *launch);

/* Whether an expression reads a device where the instance has none. */
bool clt_needs_device(const clt_instance *instance, clt_expression_id id);

/* Adds what launches need and the device's limits to a space under construction (limits.c). */
int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error);

/* --- files of the kernel (key.c) --- */

/* Where a kernel's file lies: tried from the problem's folder and, as Kernel Tuner does, from the one above. malloc'ed;
 * NULL when out of memory. */
char *clt_kernel_path(const clt_problem *problem, const char *file);

/* Adds a file to a hash, and each once the files that it may include from its own folder and from another (NULL: none).
 */
int clt_hash_with_includes(clt_hasher *hasher, const char *path, const char *folder, clt_error *error);

/* --- data (array.c, fill.c) --- */

/* A value as a number of an element's base type, saturated. */
void clt_store_number(void *at, clt_element_base base, double number);

/* Content of a logical array. call carries the arrays and scalars that a module's function may read. */
int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_module_call *call, clt_error *error);

/* A function of a module, which is compiled first where it is C (fill.c). Modules stay loaded. */
int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error);

#endif
