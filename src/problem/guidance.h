/* problem/guidance.h - the parts of a problem that guide a search: for sessions, searchers, models and objectives. */
#pragma once

#include <clatune/problem.h>
#include <clatune/sys/option.h>

#include "space/expr.h"

/* settings: options of searchers and evaluators, with their names on the command line; settings of the caller take
 * precedence. Groups form a tree: once the parameters of a group and of its ancestors are fixed, the best values in
 * each child group do not depend on the other child groups. Group 0 is the root, and parents come before their
 * children. */
typedef struct clt_guidance {
  const char *searcher; /* "Strategy": a searcher's name; NULL: not stated */
  clt_setting *settings;
  size_t n_settings;
  size_t *group_parents, n_groups; /* "ConfigurationSpace.Groups"; 0: none are stated */
  size_t *group_of;                /* of each tuning parameter */
  int64_t budget;                  /* "Budget" of type ConfigurationCount; 0: none */
  clt_metric *metrics;             /* "Metrics" */
  size_t n_metrics;
  const char
      *objective;  /* "Objective", in the form that clt_objective_new takes (measurement/measurement.h); NULL: none */
  bool cold_cache; /* "Timing": the device's caches contain none of a run's data when it begins */
} clt_guidance;

const clt_guidance *clt_problem_guidance(const clt_problem *problem); /* borrowed from it */

/* KernelSpecification.Desirability (docs/reference/problem-file.md): how promising a configuration is before any
 * measurement; larger is better. NaN: there is none, or it cannot be evaluated. */
bool clt_instance_has_desirability(
    const clt_instance *instance); /* also false if it needs a device and the instance has none */
double clt_instance_desirability(const clt_instance *instance, clt_config config);

/* Resource expressions (KernelSpecification.Resources, docs/reference/problem-file.md), which are also inputs of the
 * models. */
size_t clt_instance_n_resources(const clt_instance *instance);
const char *clt_instance_resource_name(const clt_instance *instance, size_t index);
/* Writes the values of all resources for a configuration to out[n_resources]; NaN: the expression cannot be evaluated.
 */
void clt_instance_resources(const clt_instance *instance, clt_config config, double *out);
/* Whether a resource's expression uses a tuning parameter (index in the space). */
bool clt_instance_resource_uses(const clt_instance *instance, size_t resource, size_t parameter);

/* Whether a global or local size uses a tuning parameter (index in the space). */
bool clt_instance_launch_uses(const clt_instance *instance, size_t parameter);
/* Whether the kernel's files mention local memory. False: a generated kernel. */
bool clt_instance_has_local_memory(const clt_instance *instance);

/* With a cold cache, a problem counts as a different one, with its own key and a name that ends with this suffix. */
#define CLT_COLD_NAME " (cold cache)"
void clt_problem_set_cold_cache(clt_problem *problem, bool cold); /* call it before making instances */

/* As clt_problem_new, but from a text. path is used in messages and for relative file names. text NULL: reads the file.
 */
int clt_problem_parse(clt_problem **out, const char *path, const char *text, clt_error *error);

const char *clt_problem_path(const clt_problem *problem);
char *clt_instance_sizes_text(
    const clt_instance *instance); /* "width=2048 height=2048", as in stores; malloc'ed, NULL: out of memory */

/* As clt_instance_key, but without the sizes, so that all instances of a kernel have the same key. If the result of the
 * default configuration is the reference, the kernel key contains its values as the file states them. The model key
 * contains the default configuration at these sizes instead, for compatibility with existing model files. */
int clt_instance_kernel_key(char out[33], const clt_instance *instance, clt_error *error);
int clt_instance_model_key(char out[33], const clt_instance *instance, clt_error *error);

/* Whether the file has a "Command" instead of a kernel. Then no OpenCL device is needed (clt_device_host). */
bool clt_problem_is_command(const clt_problem *problem);
/* Whether tuning it runs programs on the host: a command, or modules. */
bool clt_problem_runs_programs(const clt_problem *problem);
bool clt_problem_generates(const clt_problem *problem); /* a program writes the kernel's source */
/* Whether clt_instance_options are used: by the compiler of a kernel (a generated one may have none), or by a command
 * with "{options}". */
bool clt_problem_has_options(const clt_problem *problem);

/* --- metrics: expressions over the measurement, the configuration, the sizes, the device and earlier metrics
 * (docs/reference/objectives.md) --- */

#define CLT_MAX_METRICS 64

/* Slots of metrics after those of the tuning parameters: the measurement (the numbers of clt_kernel_use begin at
 * CLT_SLOT_USE), the value of each metric, and the properties of the device if the instance has none. */
#define CLT_METRIC_USES 4 /* numbers of clt_kernel_use */
enum {
  CLT_SLOT_TIME = CLT_MAX_PARAMETERS, /* time_s, energy_J, figure */
  CLT_SLOT_ENERGY,
  CLT_SLOT_FIGURE,
  CLT_SLOT_USE,
  CLT_SLOT_METRICS = CLT_SLOT_USE + CLT_METRIC_USES,
  CLT_SLOT_DEVICE = CLT_SLOT_METRICS + CLT_MAX_METRICS
};

/* The names that a metric may use: of an instance, or of a space with sizes, as in a recording. */
typedef struct clt_metric_scope {
  const clt_instance *instance; /* NULL: none; need not have a space yet */
  const clt_space *space;       /* used if instance is NULL */
  const clt_size *sizes;
  size_t n_sizes;
  const clt_metric *above; /* earlier metrics, n_above; they can be used if their name is a C name */
  size_t n_above;
} clt_metric_scope;

/* Compiles a metric. CLT_E_EXPRESSION: the message has the column, and for an unknown name the nearest known one. */
int clt_metric_compile(clt_expr **out, const char *text, const clt_metric_scope *scope, clt_error *error);
