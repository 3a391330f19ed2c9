/* problem/plan.h - plans: all data for running one configuration, with all expressions evaluated, as src/opencl
 * executes it. A plan owns its memory and refers only to its problem, so it can outlive its instance. */
#pragma once

#include <clatune/problem.h>

#include "base/base.h"

typedef enum clt_arg_kind {
  CLT_ARG_SCALAR,
  CLT_ARG_BUFFER,   /* global memory */
  CLT_ARG_CONSTANT, /* a buffer that is passed as __constant */
  CLT_ARG_LOCAL,    /* local memory; has only a size in bytes */
  CLT_ARG_IMAGE2D,
  CLT_ARG_IMAGE3D,
  CLT_ARG_SAMPLER,
  CLT_ARG_IMAGE1D_BUFFER /* an image that is a view of a buffer; all its dimensions are stored in one row. Last, because
                            stored keys depend on these numbers */
} clt_arg_kind;

/* Whether the kernel accesses it as an image. */
bool clt_arg_is_image(clt_arg_kind kind);

typedef enum clt_access { CLT_READ_ONLY, CLT_WRITE_ONLY, CLT_READ_WRITE } clt_access;

typedef enum clt_element_base {
  CLT_ELEMENT_CHAR,
  CLT_ELEMENT_UCHAR,
  CLT_ELEMENT_SHORT,
  CLT_ELEMENT_USHORT,
  CLT_ELEMENT_INT,
  CLT_ELEMENT_UINT,
  CLT_ELEMENT_LONG,
  CLT_ELEMENT_ULONG,
  CLT_ELEMENT_HALF,
  CLT_ELEMENT_FLOAT,
  CLT_ELEMENT_DOUBLE
} clt_element_base;

/* An OpenCL C scalar or vector type: "float4" is {FLOAT, 4}; float3 is stored as 4. */
typedef struct clt_element {
  clt_element_base base;
  int components; /* 1, 2, 3, 4, 8, 16 */
  size_t bytes;   /* stored size of one element */
} clt_element;

int clt_element_parse(clt_element *out, const char *name); /* CLT_E_FORMAT: unknown type */
void clt_element_print(char out[16], clt_element element); /* "float4" */
size_t clt_element_base_bytes(clt_element_base base);
double clt_default_tolerance(clt_element_base base); /* absolute tolerance, for results of magnitude 1 */
void clt_store_value(void *at, clt_element_base base, clt_value value); /* stores one component, converted to base */

/* The content of the border around the logical array. */
typedef enum clt_border_mode { CLT_BORDER_ZERO, CLT_BORDER_CLAMP } clt_border_mode;

typedef enum clt_image_channel { CLT_CHANNEL_NATIVE, CLT_CHANNEL_NORMALISED } clt_image_channel;

/* One argument of one configuration. The stored array has extent[d] + 2 * border[d] elements in dimension d (x
 * fastest): the logical array, surrounded by the border. */
typedef struct clt_plan_arg {
  const char *name; /* borrowed from the problem */
  const char *key;  /* key of its entry in the problem file, borrowed from the problem; NULL: none */
  clt_arg_kind kind;
  clt_access access;
  clt_element element;
  size_t extent[3]; /* logical; unused dimensions 1 */
  size_t border[3];
  clt_border_mode border_mode;
  clt_image_channel channel;
  size_t bytes;              /* stored size; size of a scalar or of local memory */
  unsigned char scalar[128]; /* a scalar's bytes */
  bool is_repetition; /* the scalar is set before each launch to the number of previous runs of this launch in this
                         evaluation */
  bool sampler_normalised, sampler_clamp_to_edge, sampler_linear;
  bool has_data; /* an input: its content comes from the array of this name in the data set; otherwise it is filled with
                    poison */
  bool verified; /* compared after a run with the reference of this name */
} clt_plan_arg;

typedef struct clt_plan_launch {
  const char *kernel; /* borrowed from the problem or the plan's arena */
  const char *key;    /* as in clt_plan_arg */
  unsigned n_dimensions;
  size_t global[3]; /* in work-items; a multiple of local if has_local */
  size_t local[3];
  bool has_local; /* false: the driver chooses */
  size_t *args;   /* indices into clt_plan.args, in the order of the kernel's arguments */
  size_t n_args;
  unsigned repeat; /* >= 1 */
  size_t together; /* consecutive launches, from this one on, that are repeated together and share `repeat`; 0: 1 */
} clt_plan_launch;

typedef struct clt_plan {
  clt_arena arena; /* of the arguments and launches */
  clt_config config;
  char *source;            /* text of the kernel file, built as one program; NULL: clt_generate is still to make it */
  const char *source_file; /* as named in the problem file, for the compiler's messages; borrowed from it; NULL: none */
  char *options;           /* build options, including -D of every parameter */
  clt_plan_arg *args;
  size_t n_args;
  clt_plan_launch *launches;
  size_t n_launches;
  uint64_t known_group; /* work-groups of this many work-items are known to work, even if the driver states a lower
                           limit; 0: unknown */
  const clt_problem *problem; /* for clt_plan_locate; NULL: none */
} clt_plan;

/* Writes a message about a key of the plan's problem, prefixed with file, line and key as far as known. */
void clt_plan_locate(char *out, size_t capacity, const clt_plan *plan, const char *key, const char *message);

/* As clt_instance_options, but without -D of problem parameters. */
int clt_instance_options_without_sizes(char **out, const clt_instance *instance, clt_config config, clt_error *error);

/* Whether these sizes, one per problem parameter, are within "Min" and "Max". */
bool clt_problem_allows(const clt_problem *problem, const int64_t *sizes);

/* Whether a configuration would be valid at other sizes, given one per problem parameter. Also false if this is
 * unknown: the values of the parameters depend on sizes, or memory runs out. The instance must have a device. */
bool clt_instance_valid_at(const clt_instance *instance, clt_config config, const int64_t *sizes);
/* The same for many sizes; NULL if it is unknown. Borrows the instance's problem. */
typedef struct clt_size_tester clt_size_tester;
clt_size_tester *clt_size_tester_new(const clt_instance *instance, clt_config config);
bool clt_size_tester_holds(clt_size_tester *tester, const int64_t *sizes);
void clt_size_tester_free(clt_size_tester *tester);

/* Copies launches with their texts into one malloc'ed block. NULL: out of memory, or n is 0. */
clt_launch_sizes *clt_launch_sizes_copy(const clt_launch_sizes *launches, size_t n);

/* The validity and the launches of a configuration as C code over the sizes (space/expr.h, "as C"). Release it with
 * clt_c_formulas_release. */
typedef struct clt_c_formulas {
  char *valid;    /* expression: whether all conditions and limits hold; "": always. NULL: it cannot be written as C */
  char *why_not;  /* the reason why `valid` is NULL; else NULL */
  char *launches; /* statements: "@add_launch(out, capacity, &i, &failed, kernel, n_dimensions, group, in_groups,
                     repeat, global x, y, z, local x, y, z);" for each launch. in_groups: `global` counts work-groups;
                     local size -1: the driver chooses. "@share(x, divisor, &failed)" divides a global size. If `valid`
                     is NULL, the launches are for the instance's own sizes */
} clt_c_formulas;

/* The instance must have a device. names: C names of the sizes. Fails only with CLT_E_MEMORY; other problems are
 * reported in why_not. */
int clt_instance_write_c(clt_c_formulas *out, const clt_instance *instance, clt_config config, const char *const *names,
                         clt_error *error);
/* The same for a generated kernel, which is known at the sizes of its plan only. */
int clt_plan_write_c(clt_c_formulas *out, const clt_plan *plan, clt_error *error);
/* The launches of a plan with its source. Free *out, which borrows the names of the kernels. */
int clt_plan_launches(clt_launch_sizes **out, const clt_plan *plan, clt_error *error);
void clt_c_formulas_release(clt_c_formulas *formulas);
/* Makes the plan of a configuration; that of a generated kernel lacks its source, and may lack the sizes and the name
 * of its launch. If an expression fails, the error has its key. */
int clt_plan_new(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error);

/* Makes the plan of the reference kernel ("Reference"). Its arguments have no borders, and its verified outputs become
 * the reference data. CLT_E_NOT_FOUND: the reference is not a kernel. */
int clt_plan_new_reference(clt_plan **out, const clt_instance *instance, clt_error *error);
void clt_plan_free(clt_plan *plan);

/* Makes an instance of the same problem and device at other sizes, one per problem parameter. *out_config is the
 * canonical form of the configuration there. CLT_E_NO_VALID: it is not valid there, or cannot be launched. */
int clt_instance_new_at(clt_instance **out, clt_config *out_config, const clt_instance *instance, clt_config config,
                        const int64_t *sizes, clt_error *error);
/* The same configuration in another instance, in canonical form; CLT_CONFIG_NONE: it is not valid there. */
clt_config clt_instance_translate(const clt_instance *to, const clt_instance *from, clt_config config);

/* Work-items and work-groups (0: the driver chooses) of all launches, and bytes of all arguments; items NaN: the
 * configuration cannot be launched. */
typedef struct clt_plan_extent {
  double items, groups, bytes;
} clt_plan_extent;
clt_plan_extent clt_instance_extent(const clt_instance *instance, clt_config config);

/* Makes an instance at smaller sizes on a device, for checks of a configuration. Halves the sizes as long as the
 * configuration stays valid and can be launched, until it has at most most_items work-items (INFINITY: halves once).
 * Sizes that cannot be halved stay the same. *out_config is the canonical form of the configuration in *out.
 * CLT_E_NO_VALID: the configuration is not valid on the device. */
int clt_instance_new_smaller(clt_instance **out, clt_config *out_config, const clt_instance *instance,
                             clt_config config, const clt_device_info *device, double most_items, clt_error *error);

/* Checks whether the kernel can be run on generated data, and whether its file overrides -D of the parameters.
 * CLT_E_UNSUPPORTED: it is not an OpenCL kernel. CLT_E_FORMAT: an argument lacks its size or content, or the file
 * defines a tuning parameter or a size unconditionally ("#define TS 16" without "#ifndef TS"); the error then has file
 * and line. Does not check included files, and ignores a kernel file that cannot be read. CLT_E_MEMORY. */
int clt_problem_check_kernel(const clt_problem *problem, clt_error *error);

/* Logs corrections that are otherwise silent: a "Default" that is not among the values, and a global size that is not a
 * whole number for the default configuration and is rounded up. */
void clt_instance_warn(const clt_instance *instance, clt_log_fn log, void *log_user);

/* Warns about tuning parameters whose value is read neither by the kernel's file, nor by its includes, nor by an
 * expression of the problem file. "#ifdef" does not count as reading. Does not warn if a file cannot be read. */
void clt_warn_unused(const clt_instance *instance, clt_log_fn log, void *user);

#define CLT_FIELD_BYTES 64
/* The ith field of the structure `of` in a kernel's text; false: there is none, or "Fields" cannot state it. */
bool clt_structure_field(char name[CLT_FIELD_BYTES], char type[CLT_FIELD_BYTES], const char *text, const char *of,
                         size_t i);
