/* problem/plan.h - everything that running one configuration takes, with all expressions evaluated: what src/opencl
 * executes. A plan owns its memory and refers to nothing else but its problem, so that it outlives its instance. */
#ifndef CLT_PROBLEM_PLAN_H
#define CLT_PROBLEM_PLAN_H

#include <clatune/log.h>
#include <clatune/problem.h>

typedef enum clt_arg_kind {
  CLT_ARG_SCALAR,
  CLT_ARG_BUFFER,   /* global memory */
  CLT_ARG_CONSTANT, /* a buffer passed as __constant */
  CLT_ARG_LOCAL,    /* local memory, bytes only */
  CLT_ARG_IMAGE2D,
  CLT_ARG_IMAGE3D,
  CLT_ARG_SAMPLER,
  CLT_ARG_IMAGE1D_BUFFER /* an image that is a view of a buffer: any number of dimensions, one behind the other. Stored
                            keys count on the order */
} clt_arg_kind;

/* Whether a kernel reads it as an image. */
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

int clt_element_parse(clt_element *out, const char *name); /* CLT_E_FORMAT if it is no such type */
void clt_element_print(char out[16], clt_element element); /* "float4" */
size_t clt_element_base_bytes(clt_element_base base);
void clt_store_value(void *at, clt_element_base base, clt_value value); /* one component, converted */

/* What lies outside of the logical array in an argument stored with a border. */
typedef enum clt_border_mode { CLT_BORDER_ZERO, CLT_BORDER_CLAMP } clt_border_mode;

typedef enum clt_image_channel { CLT_CHANNEL_NATIVE, CLT_CHANNEL_NORMALISED } clt_image_channel;

/* One argument of one configuration. The stored array has extent[d] + 2*border[d] elements in dimension d (x fastest);
 * its content is the logical array in the middle and the border around it. */
typedef struct clt_plan_arg {
  char *name;
  const char *key; /* of its entry in the problem file, the problem's; NULL: none */
  clt_arg_kind kind;
  clt_access access;
  clt_element element;
  size_t extent[3]; /* logical; unused dimensions 1 */
  size_t border[3];
  clt_border_mode border_mode;
  clt_image_channel channel;
  size_t bytes;              /* stored size; of a scalar, of local memory */
  unsigned char scalar[128]; /* a scalar's bytes */
  bool is_repetition; /* the scalar is set before each launch: how many times it has run before, in this evaluation */
  bool sampler_normalised, sampler_clamp_to_edge, sampler_linear;
  bool has_data; /* content comes from the data set of this name (inputs); otherwise poison is written */
  bool verified; /* compared with the reference data of this name after a run */
} clt_plan_arg;

typedef struct clt_plan_launch {
  char *kernel;
  const char *key; /* as of an argument */
  unsigned n_dimensions;
  size_t global[3]; /* in work-items, OpenCL's way, a multiple of local where that is given */
  size_t local[3];
  bool has_local; /* false: left to the driver */
  size_t *args;   /* indices into clt_plan.args, in argument order */
  size_t n_args;
  unsigned repeat; /* >= 1 */
  size_t together; /* this launch and so many less one behind it are repeated as one, and so share `repeat`; 0 stands
                      for 1 */
} clt_plan_launch;

typedef struct clt_plan {
  clt_config config;
  char *source;      /* kernel text, one program */
  char *source_file; /* as the problem file names it, for the compiler's messages; NULL: none */
  char *options;     /* build options, -D of every parameter included */
  clt_plan_arg *args;
  size_t n_args;
  clt_plan_launch *launches;
  size_t n_launches;
  const clt_problem *problem; /* for clt_plan_locate; NULL: none */
} clt_plan;

/* A mistake at a key of the plan's problem, with file, line and key where there are such. */
void clt_plan_locate(char *out, size_t capacity, const clt_plan *plan, const char *key, const char *message);

/* As clt_instance_options, but without the -D of problem parameters. */
int clt_instance_options_without_sizes(char **out, const clt_instance *instance, clt_config config, clt_error *error);

/* Whether the sizes, one for each of the problem's, are within its "Min" and "Max". */
bool clt_problem_allows(const clt_problem *problem, const int64_t *sizes);

/* Whether a configuration would be valid at other sizes, of which there is one for each of the instance's. False also
 * where that cannot be said: the values of the parameters depend on sizes, or memory is short. Needs a device. */
bool clt_instance_valid_at(const clt_instance *instance, clt_config config, const int64_t *sizes);

/* A copy in one malloc'ed block with its texts; NULL when out of memory, or where n is 0. */
clt_launch_sizes *clt_launch_sizes_copy(const clt_launch_sizes *launches, size_t n);

/* What a configuration does at any size, as C over the sizes (space/expr.h, "as C"). Texts are malloc'ed. */
typedef struct clt_c_formulas {
  char *valid;    /* an expression: whether all conditions and limits hold; "" for always. NULL: C cannot say it */
  char *why_not;  /* then: why, in words; else NULL */
  char *launches; /* statements: "@add_launch(out, capacity, &i, &failed, kernel, n_dimensions, group, in_groups,
                     repeat, global x, y, z, local x, y, z);" for each launch, where in_groups says what `global`
                     counts, and a local size of -1 is left to the driver. "@share(x, divisor, &failed)" is a quotient
                     of global sizes. Where `valid` is NULL, those of the instance's own sizes */
} clt_c_formulas;

/* For an instance with a device. names: of the sizes in C. CLT_E_MEMORY only; what else goes wrong is a reason why C
 * cannot say it. */
int clt_instance_write_c(clt_c_formulas *out, const clt_instance *instance, clt_config config, const char *const *names,
                         clt_error *error);
void clt_c_formulas_release(clt_c_formulas *formulas);

/* Makes the plan of a configuration. Expressions that fail name the key in the error. */
int clt_plan_new(clt_plan **out, const clt_instance *instance, clt_config config, clt_error *error);

/* The plan of the reference kernel (Reference.Kernel...), or CLT_E_NOT_FOUND if the reference is none. Its arguments
 * have no borders; its verified outputs are the reference data. */
int clt_plan_new_reference(clt_plan **out, const clt_instance *instance, clt_error *error);
void clt_plan_free(clt_plan *plan);

/* The problem at smaller sizes, on a device, for checks of a configuration: each size is halved, as long as
 * the configuration is valid and can be launched, once and until it has at most most_items work-items (INFINITY: once).
 * Where none can be halved the sizes are the same. *out is owned by the caller; *out_config is the configuration there,
 * canonical. CLT_E_NO_VALID where it is not valid on that device. */
int clt_instance_new_smaller(clt_instance **out, clt_config *out_config, const clt_instance *instance,
                             clt_config config, const clt_device_info *device, double most_items, clt_error *error);

/* Whether the kernel can be run on data of its own: CLT_E_UNSUPPORTED where it is not OpenCL's, CLT_E_FORMAT where an
 * argument lacks its size or content. And whether its file lets the parameters be what -D says: CLT_E_FORMAT with file
 * and line where it defines a tuning parameter or a size without asking whether it is defined already ("#define TS 16"
 * without an "#ifndef TS"). What it includes is not looked at, and a file that cannot be read is no mistake yet.
 * CLT_E_MEMORY. */
int clt_problem_check_kernel(const clt_problem *problem, clt_error *error);

/* Tells `log` what is otherwise put right in silence: a "Default" that is not among the values, and a global size that
 * is no whole number for the default configuration and is rounded up. */
void clt_instance_warn(const clt_instance *instance, clt_log_fn log, void *log_user);

/* Warns of tuning parameters whose value neither the kernel's file, nor what it includes, nor an expression of the
 * problem file reads ("#ifdef" reads none). Says nothing where a file cannot be read. */
void clt_warn_unused(const clt_instance *instance, clt_log_fn log, void *user);

#endif
