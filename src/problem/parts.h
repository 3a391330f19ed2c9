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
  const char *name;
  int64_t default_value, min, max;
  bool no_macro; /* not passed to the kernel as a macro, so that one build serves all sizes */
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
                             CLT_FILL_REPETITION /* of a scalar: how many times the launch has run before */
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

typedef struct clt_argument {
  const char *name, *key;
  clt_plan_arg plan; /* the members that are the same for all configurations; has no name */
  clt_extent size, border;
  clt_expression_id when;
  bool output;
  clt_fill fill;
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
  const char *kernel_name, *kernel_file; /* file as written */
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

<<<<<<< HEAD
/* --- the loader: each function reads some members of a node (base/reader.h) --- */

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
/* Reads one launch. Members that its entry lacks are taken from standard. */
void clt_load_launch(clt_problem *problem, clt_launch *out, const clt_launch *standard, const clt_node *node);

/* load.c: reads {"name": value, ...} as settings, with values as texts as on the command line; real numbers have
 * `digits` digits. NULL: the node is missing. */
clt_setting *clt_load_settings(size_t *n_out, const clt_node *node, int digits);

/* Reads 1 to `most` whole numbers from min to max: one, a list, or a text as in T1 ("range(1, 11)"). Sets *n.
 * NULL if the member is missing. */
int64_t *clt_load_integers(size_t *n, const clt_node *node, int64_t min, int64_t max, size_t most);

/* A copy of node whose mistakes do not make the file invalid: they are kept as the reason why the kernel cannot be run
 * on generated data, which clt_problem_check_kernel reports. */
clt_node clt_node_of_run(clt_problem *problem, const clt_node *node);

/* load_arguments.c */
void clt_load_arguments(clt_problem *problem, const clt_node *kernel);
void clt_load_reference(clt_problem *problem, const clt_node *root);
double clt_default_tolerance(clt_element_base base); /* absolute tolerance, for results of magnitude 1 */

/* load_command.c: leaves problem->command NULL if there is no section "Command". */
void clt_load_command(clt_problem *problem, const clt_node *root);

/* giles.c: the configuration file of Giles' generic tuner (docs/reference/program-problems.md). clt_is_giles tells
 * whether a text is one instead of JSON. clt_giles_parse converts it to JSON in source->root, with the lines of the
 * members in source->lines. */
bool clt_is_giles(const char *text);
int clt_giles_parse(clt_source *source, clt_error *error);

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

/* Replaces names in a text; *out is malloc'ed. Names in string literals stay. replace is called with each name (n
 * bytes) and may look at the text after it. It writes the replacement to out and returns where to continue, or returns
 * NULL to keep the name. */
typedef const char *(*clt_name_replacer)(clt_text *out, const void *user, const char *name, size_t n);
int clt_replace_names(char **out, const char *text, clt_name_replacer replace, const void *user, clt_error *error);

/* Replaces "ProblemSize[1]" in the text of an expression by that expression in parentheses. The result is owned by the
 * source. */
const char *clt_expand_problem_size(const clt_problem *problem, const char *text, const clt_node *node);

=======
>>>>>>> h-core-a
/* --- looking things up (problem.c) --- */

/* The index of a tuning parameter, or -1. */
int clt_problem_parameter_index(const clt_problem *problem, const char *name);
bool clt_is_declared(const clt_problem *problem, const char *name); /* a tuning parameter or a size */

bool clt_holds_data(const clt_argument *argument); /* a vector in global or constant memory, or an image */

/* The combined properties of all argument entries with one name, which are the same data. */
typedef struct clt_entries {
  const clt_argument *first; /* NULL: there is no entry */
  size_t n;
  const clt_fill *fill; /* of any of the entries; NULL: the data set has no content for them */
  bool verified;        /* any of the entries is */
} clt_entries;
clt_entries clt_problem_entries(const clt_problem *problem, const char *name);

/* Whether a file looks like a problem file: JSON with a kernel or a command, or Giles' configuration file. */
bool clt_problem_is_file(const char *path);

<<<<<<< HEAD
/* --- instances (problem.c, expression.c) --- */
struct clt_instance {
  const clt_problem *problem;
  clt_space *space;
  clt_device_info device;
  bool has_device;
  int64_t *sizes;
  const clt_value
      *fixed; /* Nullable, borrowed: the values of the tuning parameters. If set, tuning parameters are constants and
                 the sizes are slots 0 ..., so that expressions describe one configuration at any size */
  clt_expr **compiled;       /* the compiled problem->expressions */
  clt_parameter *parameters; /* of the problem; names borrowed, values in one block each */
};

/* Makes an instance without its space: reads the values of the parameters and compiles all expressions (with fixed, not
 * those over an index). fixed: see above. */
int clt_instance_new_compiled(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                              const clt_device_info *device, const clt_value *fixed, clt_error *error);

/* Adds the parameters (with fixed, the sizes), conditions, aliases and limits of an instance to a builder. On failure,
 * *key is the key of the cause. */
int clt_instance_fill_builder(const clt_instance *instance, clt_space_builder *builder, const char **key,
                              clt_error *error);

/* The names of the parameters that Kernel Tuner uses as block size: "block_size_x" ... */
extern const char *const clt_block_sizes[3];

/* The symbols for expressions of the instance: n_constants constants, then the tuning parameters as slots 0 ... If the
 * instance has no device, device properties are slots from CLT_SLOT_DEVICE on. */
int clt_instance_symbols(const clt_instance *instance, clt_symbol **out, size_t *n, size_t *n_constants,
                         clt_error *error);

/* Writes the values of the tuning parameters in a configuration; slots has CLT_MAX_PARAMETERS entries. */
void clt_instance_slots(const clt_instance *instance, clt_config config, clt_value *slots);

/* The evaluation of several expressions for one configuration. After the first failure (rc is not 0, error has its
 * place), all further results are 0. slots NULL: no expression may depend on the configuration. */
typedef struct clt_calculation {
  const clt_instance *instance;
  const clt_value *slots;
  clt_error *error;
  int rc;
} clt_calculation;

clt_value clt_evaluate(clt_calculation *c, clt_expression_id id);
double clt_evaluate_number(clt_calculation *c, clt_expression_id id);
size_t clt_evaluate_count(clt_calculation *c, clt_expression_id id,
                          size_t min);                            /* must be a whole number from min to 2^62 */
bool clt_evaluate_when(clt_calculation *c, clt_expression_id id); /* no condition: true */
/* Evaluates an extent; unused dimensions get `unused`. */
void clt_evaluate_extent(clt_calculation *c, const clt_extent *extent, size_t min, size_t unused, size_t out[3]);
/* Reports a mistake in an expression, as "<message>: <its text>". */
void clt_calculation_fail(clt_calculation *c, clt_expression_id id, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The parameters that are passed to a kernel or command as name=value: first the tuning parameters, then the sizes.
 * clt_add_define writes "<before><name><between><value>". */
size_t clt_n_defines(const clt_instance *instance);
void clt_add_define(clt_text *out, const clt_calculation *c, size_t index, const char *before, const char *between);

/* Evaluates the sizes and repetitions of a launch, without kernel and arguments (plan.c). False: its "When" does not
 * hold, or there was an error. */
bool clt_plan_launch_sizes(clt_plan_launch *out, clt_calculation *c, const clt_launch *launch);

/* Whether an expression uses the device, but the instance has none. */
bool clt_needs_device(const clt_instance *instance, clt_expression_id id);

/* Adds the constraints of valid launch sizes and the limits of the device to a builder (limits.c). */
int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error);

/* --- files of the kernel (key.c) --- */

/* The path of a kernel's file, which may be relative to the problem's folder or, as in Kernel Tuner, to its parent.
 * malloc'ed; NULL: out of memory. */
char *clt_kernel_path(const clt_problem *problem, const char *file);

/* Adds a file to a hash, and once each file that it may include from its own folder or from `folder` (NULL: none). */
int clt_hash_with_includes(clt_hasher *hasher, const char *path, const char *folder, clt_error *error);

/* --- data (array.c, fill.c, vary.c, module.c) --- */

/* Stores a number as an element's base type, saturated to its range. */
void clt_store_number(void *at, clt_element_base base, double number);
double clt_load_number(const void *at, clt_element_base base);

/* Fills a logical array. call has the arrays and scalars that a module's function may read. */
int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_recipe *recipe, const clt_module_call *call, clt_error *error);
bool clt_fill_is_drawn(const clt_fill *fill); /* random numbers of a stated range, not stated numbers */

/* Changes the file's own content of an array to what a recipe asks for (vary.c). drawn: the content is random between 0
 * and bound, with another seed already. mild: only values of the declared range. Returns CLT_OK or CLT_E_MEMORY. */
int clt_vary_array(const clt_array *array, void *data, const clt_recipe *recipe, bool drawn, double bound, bool mild,
                   clt_rng *rng);
/* Changes real numbers by rounding errors, towards 0 so that they keep to their range. */
void clt_shake_array(const clt_array *array, void *data);
/* The value of a scalar that the file states as a number. index: among these scalars. */
double clt_vary_scalar(double value, bool is_real, const clt_recipe *recipe, size_t index, clt_rng *rng);

/* Finds a function of a module. A module in C is compiled first. Modules stay loaded (module.c). */
int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error);

=======
>>>>>>> h-core-a
#endif
