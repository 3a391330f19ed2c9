/* problem/guidance.h - what a problem says for those who search and judge: for the session, searchers, models and
 * objectives. */
#ifndef CLT_PROBLEM_GUIDANCE_H
#define CLT_PROBLEM_GUIDANCE_H

#include <clatune/problem.h>
#include <clatune/sys/option.h>

#include "space/expr.h"

/* settings: options of searchers and evaluators, by the names they have on the command line; what a caller sets goes
 * before. Groups are a tree: given the parameters of a group and of those above it, the best values in each of the
 * groups below it do not depend on the others'. Group 0 is the outermost, parents come before their children. */
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
      *objective;  /* "Objective", in the form that clt_objective_new takes (measurement/objective.h); NULL: none */
  bool cold_cache; /* "Timing": nothing of a run's data is in the device's caches when it begins */
} clt_guidance;

const clt_guidance *clt_problem_guidance(const clt_problem *problem); /* borrowed from it */

/* KernelSpecification.Desirability (docs/problem-format.md): how promising a configuration is before anything was
 * measured, the larger the better. NaN where there is none or it cannot be evaluated. */
bool clt_instance_has_desirability(const clt_instance *instance); /* false also where it needs a device not chosen */
double clt_instance_desirability(const clt_instance *instance, clt_config config);

/* Resource expressions (KernelSpecification.Resources, docs/problem-format.md), also used as inputs of the model. */
size_t clt_instance_n_resources(const clt_instance *instance);
const char *clt_instance_resource_name(const clt_instance *instance, size_t index);
/* Values of all resources for a configuration, out[n_resources]; NaN where an expression cannot be evaluated. */
void clt_instance_resources(const clt_instance *instance, clt_config config, double *out);
/* Whether a resource's expression mentions a tuning parameter (by index in the space). */
bool clt_instance_resource_uses(const clt_instance *instance, size_t resource, size_t parameter);

/* Measured with a cold cache a problem is another one: it has a key and a name of its own, which ends so. */
#define CLT_COLD_NAME " (cold cache)"
void clt_problem_set_cold_cache(clt_problem *problem, bool cold); /* before it has instances */

const char *clt_problem_path(const clt_problem *problem);
char *clt_instance_sizes_text(const clt_instance *instance); /* "width=2048 height=2048", as stores have it; malloc'ed,
                                                                NULL when out of memory */

/* As clt_instance_key, without the sizes: what instances of a kernel at whatever sizes have in common. Where the
 * default configuration's result is the reference, its values as the file states them count in the kernel's key; in a
 * model's, as files of models have always been named, the default configuration at these sizes. */
int clt_instance_kernel_key(char out[33], const clt_instance *instance, clt_error *error);
int clt_instance_model_key(char out[33], const clt_instance *instance, clt_error *error);

/* Whether the file has a "Command" in place of a kernel. Then no OpenCL device is needed: clt_device_host. */
bool clt_problem_is_command(const clt_problem *problem);
/* Whether tuning it runs more than a kernel: a command, or modules. */
bool clt_problem_runs_programs(const clt_problem *problem);
/* Whether anybody gets clt_instance_options: the compiler of a kernel, or a command with "{options}". */
bool clt_problem_has_options(const clt_problem *problem);

/* --- metrics: the expressions of figures of merit, over what was measured of a configuration, the configuration, the
 * sizes, the device, and the metrics above (docs/objectives.md) --- */

#define CLT_MAX_METRICS 64

/* Slots of expressions behind those of the tuning parameters: what was measured (the numbers of clt_kernel_use from
 * CLT_SLOT_USE on), the value of each metric, and the properties of a device that is not chosen. */
#define CLT_METRIC_USES 4 /* numbers of clt_kernel_use */
enum {
  CLT_SLOT_TIME = CLT_MAX_PARAMETERS, /* time_s, energy_J, figure */
  CLT_SLOT_ENERGY,
  CLT_SLOT_FIGURE,
  CLT_SLOT_USE,
  CLT_SLOT_METRICS = CLT_SLOT_USE + CLT_METRIC_USES,
  CLT_SLOT_DEVICE = CLT_SLOT_METRICS + CLT_MAX_METRICS
};

/* What an expression may speak of: an instance, or a space without one and sizes (a recording's). */
typedef struct clt_metric_scope {
  const clt_instance *instance; /* NULL: none; need not have a space yet */
  const clt_space *space;       /* used where instance is NULL */
  const clt_size *sizes;
  size_t n_sizes;
  const clt_metric *above; /* n_above, whose names may be used where they are C names */
  size_t n_above;
} clt_metric_scope;

/* Compiles text. CLT_E_EXPRESSION names the column, and the nearest name for one that is not known. */
int clt_metric_compile(clt_expr **out, const char *text, const clt_metric_scope *scope, clt_error *error);

#endif
