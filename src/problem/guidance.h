/* problem/guidance.h - how a problem wants to be searched: for searchers and the session. */
#ifndef CLT_PROBLEM_GUIDANCE_H
#define CLT_PROBLEM_GUIDANCE_H

#include <clatune/problem.h>

/* "Strategy": a searcher's name (NULL: not stated), and options of searchers and evaluators, by the names they have on
 * the command line. What a caller sets goes before. */
typedef struct clt_problem_option {
  const char *name, *value;
} clt_problem_option;
const char *clt_problem_searcher(const clt_problem *problem);
size_t clt_problem_n_options(const clt_problem *problem);
clt_problem_option clt_problem_option_at(const clt_problem *problem, size_t index);

/* "ConfigurationSpace.Groups", a tree: given the parameters of a group and of those above it, the best values in each
 * of the groups below it do not depend on the others'. Group 0 is the outermost, parents come before their children. 0
 * groups: none are stated. */
size_t clt_problem_n_groups(const clt_problem *problem);
size_t clt_problem_group_parent(const clt_problem *problem, size_t group);
size_t clt_problem_group_of(const clt_problem *problem,
                            size_t parameter); /* where there are groups; of a parameter of the space */

/* KernelSpecification.Desirability (docs/problem-format.md): how promising a configuration is before anything was
 * measured, the larger the better. NaN where there is none or it cannot be evaluated. */
bool clt_instance_has_desirability(const clt_instance *instance); /* false also where it needs a device not chosen */
double clt_instance_desirability(const clt_instance *instance, clt_config config);

#endif
