/* problem/metric.h - the expressions of figures of merit: over what was measured of a configuration, the configuration,
 * the sizes, the device, and the metrics above (docs/objectives.md). */
#ifndef CLT_PROBLEM_METRIC_H
#define CLT_PROBLEM_METRIC_H

#include <clatune/problem.h>

#include "space/expr.h"

#define CLT_MAX_METRICS 64

/* The file's "Metrics". */
size_t clt_problem_n_metrics(const clt_problem *problem);
clt_metric clt_problem_metric(const clt_problem *problem, size_t index);
/* The file's "Objective", in the form that clt_objective_new takes (measurement/objective.h); NULL: it has none. */
const char *clt_problem_objective(const clt_problem *problem);

/* What was measured, and the value of each metric, stand in slots of their own behind those of the parameters and of
 * the device's properties. */
typedef struct clt_metric_slots {
  size_t time, energy, figure; /* time_s, energy_J, figure */
  size_t metrics;              /* the first metric's */
  size_t n;                    /* of all */
} clt_metric_slots;
clt_metric_slots clt_metric_slots_of(void);

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

/* Compiles all metrics of an instance's problem, to find their mistakes. */
struct clt_instance;
int clt_metrics_check(const struct clt_instance *instance, clt_error *error);

/* Whether a text can name a metric: a letter, then letters, digits and any of _ / . * ^ -, at most 63 in all. */
bool clt_is_metric_name(const char *text);

#endif
