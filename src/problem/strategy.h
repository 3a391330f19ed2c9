/* problem/strategy.h - how a problem wants to be searched: its "Strategy", and groups of parameters whose optima do not
 * depend on each other ("ConfigurationSpace.Groups"). */
#ifndef CLT_PROBLEM_STRATEGY_H
#define CLT_PROBLEM_STRATEGY_H

#include <stddef.h>

#include "base/json.h"

typedef struct clt_strategy_option {
  char *name, *value;
} clt_strategy_option;

typedef struct clt_strategy {
  char *searcher; /* NULL: not stated */
  clt_strategy_option *options;
  size_t n_options;
} clt_strategy;

/* A tree: group 0 is the outermost; parents come before their children. n 0: none are stated. */
typedef struct clt_independence {
  size_t *parents; /* of each group; 0 of group 0 */
  size_t n;
  size_t *group_of; /* of each tuning parameter */
} clt_independence;

struct clt_problem;
int clt_load_strategy(struct clt_problem *problem, const clt_node *root, clt_error *error);
int clt_load_groups(struct clt_problem *problem, const clt_node *space, clt_error *error);
void clt_strategy_release(clt_strategy *strategy);
void clt_independence_release(clt_independence *groups);

#endif
