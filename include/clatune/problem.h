/* clatune/problem.h - a tuning problem, read from its JSON file (docs/problem-format.md), a superset of Kernel Tuner's
 * T1.
 *
 * A problem file and its kernel are trusted as a Makefile is: they name files to read, compiler options, and shared
 * modules to load. Everything is copied; a clt_problem and a clt_instance are immutable once made and may be read from
 * several threads. Texts that are returned are borrowed from the problem or instance unless it is said that they are
 * malloc'ed. */
#ifndef CLATUNE_PROBLEM_H
#define CLATUNE_PROBLEM_H

#include <clatune/device.h>
#include <clatune/space.h>

CLT_BEGIN_C

typedef struct clt_problem clt_problem;
typedef struct clt_instance clt_instance;

/* The value of a problem parameter ("width" = 4096). */
typedef struct clt_size {
  const char *name;
  int64_t value;
} clt_size;

/* Reads and checks a problem file. The kernel file is not opened here (clatune space needs none). Mistakes are reported
 * with file, line and key. */
int clt_problem_new(clt_problem **out, const char *path, clt_error *error);
void clt_problem_free(clt_problem *problem);

/* General.BenchmarkName, else KernelName; " (cold cache)" behind it where the file's "Timing" says so. */
const char *clt_problem_name(const clt_problem *problem);
size_t clt_problem_n_sizes(const clt_problem *problem);
clt_size clt_problem_size(const clt_problem *problem, size_t index); /* with its default */

/* A figure of merit (docs/objectives.md), such as the file's "Metrics" name. Texts are borrowed; unit is "" where none
 * is stated. A metric without a goal can be shown, and is an objective once somebody says which way it is better. */
typedef enum clt_goal { CLT_GOAL_NOT_STATED, CLT_MINIMISE, CLT_MAXIMISE } clt_goal;
typedef struct clt_metric {
  const char *name, *expression, *unit;
  clt_goal goal;
} clt_metric;

/* A problem at given sizes, on a device or on none. Sizes not given have their defaults; a name that the problem lacks
 * is CLT_E_NOT_FOUND with the nearest name. problem must outlive the instance; device is copied and may be NULL: then
 * expressions that use device.* in conditions are left out and only the conditions that can be evaluated apply.
 * What a launch cannot take place with (a local size that is no whole number of at least 1, a global size that is not
 * above 0) is a constraint of origin CLT_CONDITION, with the expression and its key as its message.
 * With a device, its limits (work-group size, local memory, allocation and image sizes, image support) become
 * constraints of origin CLT_DEVICE_LIMIT, wherever the file states the resource as an expression. */
int clt_instance_new(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                     const clt_device_info *device, clt_error *error);
void clt_instance_free(clt_instance *instance);

const clt_problem *clt_instance_problem(const clt_instance *instance);
const clt_space *clt_instance_space(const clt_instance *instance);
const clt_device_info *clt_instance_device(const clt_instance *instance); /* NULL: none */
size_t clt_instance_n_sizes(const clt_instance *instance);
clt_size clt_instance_size(const clt_instance *instance, size_t index);

/* The default configuration: the parameters' "Default", where given, else the first listed value. It need not be valid.
 */
clt_config clt_instance_default(const clt_instance *instance);

/* The build options of a configuration: "-Dwg_x=16 ... -cl-std=CL1.2". *out is malloc'ed and owned by the caller. */
int clt_instance_options(char **out, const clt_instance *instance, clt_config config, clt_error *error);

/* A launch of a configuration, as clEnqueueNDRangeKernel takes it. */
typedef struct clt_launch_sizes {
  const char *kernel;
  unsigned n_dimensions;
  size_t global[3]; /* in work-items; 1 in unused dimensions */
  size_t local[3];  /* 1 in unused dimensions; all 0: left to the driver */
  unsigned repeat;  /* how many times it runs in a row */
  unsigned group;   /* launches in a row with the same number other than 0 are repeated together: a b a b */
} clt_launch_sizes;

/* The launches of a configuration, in their order, those alone that take place. *out is malloc'ed in one block with its
 * texts (NULL where *n is 0: a problem that runs programs): free it with free(). CLT_E_EXPRESSION, CLT_E_RANGE where an
 * expression gives no size, CLT_E_DEVICE where it needs a device. */
int clt_instance_launches(clt_launch_sizes **out, size_t *n, const clt_instance *instance, clt_config config,
                          clt_error *error);

/* The store's key of this instance: a hash (32 hex digits) over kernel text with its includes, entry points, base
 * options, sizes, input and reference, and whether caches are cold; parameters, values and conditions are no part of
 * it. Reads the kernel file. */
int clt_instance_key(char out[33], const clt_instance *instance, clt_error *error);

/* --- problems that are evaluated by running programs (docs/commands.md) --- */

CLT_END_C
#endif
