/* problem/guidance.h - what a problem says for those who search: for the session, searchers and models. */
#ifndef CLT_PROBLEM_GUIDANCE_H
#define CLT_PROBLEM_GUIDANCE_H

#include <clatune/problem.h>
#include <clatune/sys/option.h>

/* settings: options of searchers and evaluators, by the names they have on the command line; what a caller sets goes
 * before. Groups are a tree: given the parameters of a group and of those above it, the best values in each of the
 * groups below it do not depend on the others'. Group 0 is the outermost, parents come before their children. */
typedef struct clt_guidance {
  const char *searcher; /* "Strategy": a searcher's name; NULL: not stated */
  clt_setting *settings;
  size_t n_settings;
  size_t *group_parents, n_groups; /* "ConfigurationSpace.Groups"; 0: none are stated */
  size_t *group_of;                /* of each tuning parameter */
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

const char *clt_problem_path(const clt_problem *problem);
int64_t clt_problem_budget(const clt_problem *problem);      /* Budget of type ConfigurationCount; 0: none */
char *clt_instance_sizes_text(const clt_instance *instance); /* "width=2048 height=2048", as stores have it; malloc'ed,
                                                                NULL when out of memory */

/* The same without the sizes: what the instances of one kernel on whatever sizes have in common. */
int clt_instance_kernel_key(const clt_instance *instance, char out[33], clt_error *error);

/* Whether the file has a "Command" in place of a kernel. Then no OpenCL device is needed: clt_device_host. */
bool clt_problem_is_command(const clt_problem *problem);

#endif
