/* What costs stand for: times, values of an objective, or what a program says of itself. */
#include <math.h>
#include <string.h>

#include "report/report.h"

/* The problem, where what a program says of itself is no time; NULL: time is one, or this is by another objective. */
static const clt_problem *with_figure(const clt_report *r) {
  if (r->instance == NULL || !clt_objective_is_standard(r->objective)) return NULL;
  const clt_problem *problem = clt_instance_problem(r->instance);
  return clt_problem_figure_is_time(problem) ? NULL : problem;
}

clt_report_figure clt_report_figure_of(const clt_report *report) {
  const clt_problem *problem = with_figure(report);
  const clt_objective *o = report->objective;
  if (problem)
    return (clt_report_figure){
        .name = "figure", .unit = clt_problem_figure_unit(problem), .maximised = clt_problem_larger_is_better(problem)};
  return (clt_report_figure){.name = clt_objective_name(o),
                             .unit = clt_objective_unit(o),
                             .is_time = clt_objective_is_standard(o),
                             .in_seconds = strcmp(clt_objective_unit(o), "s") == 0,
                             .maximised = clt_objective_goal(o) == CLT_MAXIMISE};
}

double clt_report_value(const clt_report *report, double cost) {
  const clt_problem *problem = with_figure(report);
  return problem ? clt_problem_figure(problem, cost) : clt_objective_exchange(report->objective, cost);
}
