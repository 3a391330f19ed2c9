/* clatune/problem.h - tuning problems, read from JSON files (docs/reference/problem-file.md) in a superset of the T1
 * format.
 *
 * Read only problem files that you trust, as you would a Makefile: they name files to read, compiler options and code
 * to load. Several threads may read a clt_problem or a clt_instance; neither changes after its creation. Returned texts
 * are borrowed from the problem or instance, unless their comment says otherwise. */
#ifndef CLATUNE_PROBLEM_H
#define CLATUNE_PROBLEM_H

#include <clatune/device.h>
#include <clatune/space.h>

CLT_BEGIN_C

typedef struct clt_problem clt_problem;   /* a problem file */
typedef struct clt_instance clt_instance; /* a problem at given sizes, on a device or on none */

/* A problem parameter and its value, such as "width" and 4096. */
typedef struct clt_size {
  const char *name;
  int64_t value;
} clt_size;

/* Reads and checks a problem file, but does not open its kernel file. Errors have file, line and key. CLT_E_IO: the
 * file cannot be read. CLT_E_FORMAT, CLT_E_EXPRESSION: it is invalid. CLT_E_UNSUPPORTED: it needs what OpenCL or
 * clatune lacks. Free *out with clt_problem_free (NULL is allowed). */
int clt_problem_new(clt_problem **out, const char *path, clt_error *error);
void clt_problem_free(clt_problem *problem);

/* The name: General.BenchmarkName, else the kernel's name; followed by " (cold cache)" if the file's "Timing" asks for
 * it. */
const char *clt_problem_name(const clt_problem *problem);

/* The problem parameters. */
size_t clt_problem_n_sizes(const clt_problem *problem);
/* With its default for an unknown device; clt_instance_size has the device's. index < n_sizes */
clt_size clt_problem_size(const clt_problem *problem, size_t index);

/* A metric of a problem file (docs/reference/objectives.md). unit is "" if the file does not state it. A metric without
 * a goal can be shown, but can be an objective only together with a direction. */
typedef enum clt_goal { CLT_GOAL_NOT_STATED, CLT_MINIMISE, CLT_MAXIMISE } clt_goal;
typedef struct clt_metric {
  const char *name, *expression, *unit;
  clt_goal goal;
} clt_metric;

/* Makes an instance: the problem at the given sizes, on a device. Sizes that are not given have their defaults. problem
 * must outlive the instance. device is copied.
 *
 * The constraints of its space are the conditions of the file, and valid launch sizes: a global size above 0 and a
 * local size that is an integer of at least 1 (both CLT_CONDITION). Limits of the device (work-group size, local
 * memory, allocation and image sizes, image support) are added if the file states the need as an expression
 * (CLT_DEVICE_LIMIT). With device NULL, conditions that use device.* are left out.
 *
 * CLT_E_NOT_FOUND: the problem has no size of this name. CLT_E_RANGE: a size is out of its range, or the space is too
 * large. CLT_E_EXPRESSION: a condition cannot be evaluated. Free *out with clt_instance_free (NULL is allowed). */
int clt_instance_new(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                     const clt_device_info *device, clt_error *error);
void clt_instance_free(clt_instance *instance);

/* The parts of an instance, borrowed from it. */
const clt_problem *clt_instance_problem(const clt_instance *instance);
const clt_space *clt_instance_space(const clt_instance *instance);
const clt_device_info *clt_instance_device(const clt_instance *instance); /* NULL: none */
size_t clt_instance_n_sizes(const clt_instance *instance);
clt_size clt_instance_size(const clt_instance *instance, size_t index); /* index < n_sizes */

/* The default configuration: each parameter's "Default", or its first value. It may be invalid. */
clt_config clt_instance_default(const clt_instance *instance);

/* The build options of a configuration, such as "-Dwg_x=16 ... -cl-std=CL1.2". Free *out with free(). */
int clt_instance_options(char **out, const clt_instance *instance, clt_config config, clt_error *error);

/* A launch of a kernel; sizes are as clEnqueueNDRangeKernel takes them. */
typedef struct clt_launch_sizes {
  const char *kernel;
  unsigned n_dimensions;
  size_t global[3]; /* in work-items; 1 in unused dimensions */
  size_t local[3];  /* 1 in unused dimensions; all 0: the driver chooses, pass NULL */
  unsigned repeat;  /* how many times it runs consecutively */
  unsigned group;   /* consecutive launches with the same number other than 0 are repeated together: a b a b */
} clt_launch_sizes;

/* The launches of a configuration in their order, without launches whose "When" does not hold. Free *out with free(),
 * which also frees the texts. *out is NULL and *n is 0 for a problem that runs programs. CLT_E_EXPRESSION, CLT_E_RANGE:
 * an expression does not give a size. CLT_E_DEVICE: an expression needs a device. */
int clt_instance_launches(clt_launch_sizes **out, size_t *n, const clt_instance *instance, clt_config config,
                          clt_error *error);

/* The key of this instance in the store: a hash, as 32 hex digits, of the kernel text with its includes, kernel names,
 * compiler options, sizes, input, reference and cache state. Tuning parameters, values and conditions are not part of
 * it. Reads the kernel file. */
int clt_instance_key(char out[33], const clt_instance *instance, clt_error *error);

CLT_END_C
#endif
