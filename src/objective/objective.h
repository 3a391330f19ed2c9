/* objective/objective.h - the parts of an objective, shared by the files of this room. */
#ifndef CLT_OBJECTIVE_OBJECTIVE_H
#define CLT_OBJECTIVE_OBJECTIVE_H

#include <clatune/objective.h>

#include "problem/metric.h"

#define CLT_METRIC_TIME 0
#define CLT_METRIC_ENERGY 1
#define CLT_BUILT_IN_METRICS 2

typedef struct clt_compiled_metric {
  char *name, *text, *unit; /* owned */
  clt_goal goal;
  clt_expr *expr; /* NULL: a built-in */
  bool reads_configuration, reads_energy;
} clt_compiled_metric;

struct clt_objective {
  const clt_space *space;
  clt_compiled_metric *metrics;
  size_t n, chosen;
  clt_goal goal;
  bool ranks_by_time;
};

#endif
