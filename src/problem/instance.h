/* problem/instance.h - instances: a problem at given sizes on a device, with compiled expressions, and their
 * evaluation. */
#pragma once

#include "problem/load.h"

struct clt_instance {
  const clt_problem *problem;
  clt_arena arena; /* of sizes, compiled and parameters */
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
/* Stores n components of the value; it must be one of the type: 127.5 is no int, -1 no uint. */
void clt_evaluate_component(clt_calculation *c, clt_expression_id id, void *at, clt_element_base base, size_t n);
size_t clt_evaluate_count(clt_calculation *c, clt_expression_id id,
                          size_t min);                            /* must be a whole number from min to 2^62 */
bool clt_evaluate_when(clt_calculation *c, clt_expression_id id); /* no condition: true */
/* Evaluates an extent; unused dimensions get `unused`. */
void clt_evaluate_extent(clt_calculation *c, const clt_extent *extent, size_t min, size_t unused, size_t out[3]);
/* Reports a mistake in an expression, as "<message>: <its text>". */
void clt_calculation_fail(clt_calculation *c, clt_expression_id id, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The parameters that are passed to a kernel or command as name=value: first the tuning parameters, then the sizes.
 * clt_add_define_option writes an option, which quotes blanks. */
size_t clt_n_defines(const clt_instance *instance);
void clt_add_define_option(clt_text *out, const clt_calculation *c, size_t index);

/* Evaluates the sizes and repetitions of a launch, without kernel and arguments (plan.c). False: its "When" does not
 * hold, or there was an error. */
bool clt_plan_launch_sizes(clt_plan_launch *out, clt_calculation *c, const clt_launch *launch);

/* Whether an expression uses the device, but the instance has none. */
bool clt_needs_device(const clt_instance *instance, clt_expression_id id);

/* Adds the constraints of valid launch sizes and the limits of the device to a builder (limits.c). */
int clt_add_limits(const clt_instance *instance, clt_space_builder *builder, clt_error *error);

/* Replaces names in a text; *out is malloc'ed. Names in string literals stay. replace is called with each name (n
 * bytes) and may look at the text after it. It writes the replacement to out and returns where to continue, or returns
 * NULL to keep the name. */
typedef const char *(*clt_name_replacer)(clt_text *out, const void *user, const char *name, size_t n);
int clt_replace_names(char **out, const char *text, clt_name_replacer replace, const void *user, clt_error *error);

/* Stores the fields of a structure that is passed by value. Its declaration is in the kernel's file, or in a file that
 * one includes (structure.c). */
void clt_plan_structure(clt_calculation *c, const clt_argument *argument, const char *file, clt_plan_arg *out);

/* --- files of the kernel (kernel_files.c) --- */

/* The text of a kernel's file, then those of the files that it may include; malloc'ed. */
int clt_kernel_text(char **out, const clt_instance *instance, const char *file, clt_error *error);

/* The path of a kernel's file, which may be relative to the problem's folder or, as in Kernel Tuner, to its parent.
 * malloc'ed; NULL: out of memory. */
char *clt_kernel_path(const clt_problem *problem, const char *file);

/* Adds a file to a hash, and once each file that it may include from its own folder or from `folder` (NULL: none). */
int clt_hash_with_includes(clt_hasher *hasher, const char *path, const char *folder, clt_error *error);

/* The same for a kernel, in all folders of the driver's search path. more: further options, in which a path may be. */
int clt_hash_kernel(clt_hasher *hasher, const clt_instance *instance, const char *file, const clt_compiler_option *more,
                    size_t n_more, clt_error *error);

/* The same for the listed files of a generator and those that its words name; in Python with what they import from
 * their own folder. */
int clt_hash_generator(clt_hasher *hasher, const clt_problem *problem, clt_error *error);

/* --- the content of arrays: numbers, fills, variations, modules (array.c, fill.c, vary.c, module.c) --- */

/* Stores a number as an element's base type, saturated to its range. */
void clt_store_number(void *at, clt_element_base base, double number);
double clt_load_number(const void *at, clt_element_base base);

/* Fills a logical array. call has the arrays and scalars that a module's function may read. */
int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_recipe *recipe, const clt_module_call *call, clt_error *error);
/* Reads the content of an argument from a file of exactly this size. */
int clt_fill_raw(void *data, size_t bytes, const char *path, const char *argument, clt_error *error);
bool clt_fill_is_drawn(const clt_fill *fill); /* random numbers of a stated range, not stated numbers */

/* Changes the file's own content of an array to what a recipe asks for (vary.c). drawn: the content is random between 0
 * and bound, with another seed already. mild: only values of the declared range. Returns CLT_OK or CLT_E_MEMORY. */
int clt_vary_array(const clt_array *array, void *data, const clt_recipe *recipe, bool drawn, double bound, bool mild,
                   clt_rng *rng);
/* Changes real numbers that are no integers by rounding errors, towards 0 so that they keep to their range. */
void clt_shake_array(const clt_array *array, void *data);
/* The value of a scalar that the file states as a number. index: among these scalars. */
double clt_vary_scalar(double value, bool is_real, const clt_recipe *recipe, size_t index, clt_rng *rng);

/* Finds a function of a module. A module in C is compiled first. Modules stay loaded (module.c). */
int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error);
/* Compiles a module in C for machines without a compiler: into the folder that is installed as libexec/clatune/modules.
 */
int clt_module_ship(const char *path, const char *folder, clt_error *error);
