/* measurement/objective.h - figures of merit: which of two configurations is better, and what is shown of one.
 *
 * A metric is an expression over what was measured (time_s, energy_J, figure), the configuration, the sizes and the
 * device (docs/objectives.md). One of the metrics is the objective: it is minimised or maximised. What is stored is
 * what was measured; metrics are computed when it is read. An objective is immutable once made, and may be used by
 * several threads. */
#ifndef CLT_MEASUREMENT_OBJECTIVE_H
#define CLT_MEASUREMENT_OBJECTIVE_H

#include <clatune/measurement.h>
#include <clatune/problem.h>

typedef struct clt_objective clt_objective;

/* The objective that text names: "time" (least time_s), "energy" (least energy_J), "figure" (what a program reports of
 * itself, where that is no time; in its own unit, least or greatest as the problem file says), a metric of the
 * problem's that states a goal; or, for any expression and for a metric without a goal or with the other one, "minimise
 * EXPRESSION" or "maximise EXPRESSION". text "": the standard one, "figure" where there is one and else "time". text
 * NULL: the problem's "Objective", the standard one where it has none. The instance must outlive the objective.
 * CLT_E_ARGUMENT where text is none of these, CLT_E_EXPRESSION where the expression does not compile. Free with
 * clt_objective_free. */
int clt_objective_new(clt_objective **out, const clt_instance *instance, const char *text, clt_error *error);
/* The same for configurations of a space that belongs to no problem (a recording's); sizes are copied, the space must
 * outlive the objective. figure (nullable, its texts too): what the measurements' figures are, which is then the
 * standard objective, by this name. */
int clt_objective_new_for(clt_objective **out, const clt_space *space, const clt_size *sizes, size_t n_sizes,
                          const clt_metric *figure, const char *text, clt_error *error);
void clt_objective_free(clt_objective *objective);

const char *clt_objective_name(const clt_objective *objective); /* "time", a metric's name, or the expression */
const char *clt_objective_expression(const clt_objective *objective);
const char *clt_objective_unit(const clt_objective *objective); /* "s", "J", "GFLOP/s"; "" where none is stated */
clt_goal clt_objective_goal(const clt_objective *objective);    /* never CLT_GOAL_NOT_STATED */
bool clt_objective_is_time(const clt_objective *objective);     /* it is "time" itself */
/* It is what is optimised where nothing is stated: "figure" where the program reports one that is no time, else "time".
 */
bool clt_objective_is_standard(const clt_objective *objective);
size_t clt_objective_standard(const clt_objective *objective); /* the index of that metric */
bool clt_objective_needs_energy(const clt_objective *objective);
/* Whether of two configurations the faster one is always the better one: the objective's expression reads time_s and
 * nothing else that varies, and consists of sums, products, quotients and powers that make it worse as time_s grows.
 * Then slow configurations can be given up early. */
bool clt_objective_ranks_by_time(const clt_objective *objective);
bool clt_objective_ranks_as_usual(const clt_objective *objective); /* by time, or it is the standard one */

/* The value for a correct measurement; NaN where there is none: it failed, lacks the energy, or the expression cannot
 * be evaluated (CLT_E_RANGE of clatune/space.h's expressions). */
double clt_objective_value(const clt_objective *objective, const clt_measurement *measurement);

/* What searchers minimise: the value where that is minimised, 1 / value where it is maximised, so that a ratio of costs
 * is the ratio of values whichever way it goes, and the logarithm is defined. Above 0; NaN where there is no value, and
 * where that is not above 0 or not finite. This is the only place where a value becomes a cost. */
double clt_objective_cost(const clt_objective *objective, const clt_measurement *measurement);
/* From a value to its cost; it is its own inverse, so also back. */
double clt_objective_exchange(const clt_objective *objective, double value_or_cost);
/* A value as people read it: "25.9 ms", "1.2 GFLOP/s"; "-" where it is none. Returns out. */
const char *clt_objective_value_text(char out[96], const clt_objective *objective, double value);

/* All metrics: "time", "energy", "figure" where there is one, the problem's, and the objective's expression where it
 * has no name. The last two parts of clt_metric may be "" and CLT_GOAL_NOT_STATED. */
size_t clt_objective_n_metrics(const clt_objective *objective);
clt_metric clt_objective_metric(const clt_objective *objective, size_t index);
size_t clt_objective_chosen(const clt_objective *objective); /* the index of the objective */
double clt_objective_metric_value(const clt_objective *objective, size_t index, const clt_measurement *measurement);
/* The cost by the standard metric alone, whatever the objective is. */
double clt_objective_standard_cost(const clt_objective *objective, const clt_measurement *measurement);

/* For files of other tools, which know times alone: where a program reports a figure, *out is m with the figures' costs
 * in the place of seconds, which is also what records of before hold; otherwise m as it is. log stays m's. */
void clt_objective_figure_as_time(const clt_objective *objective, const clt_measurement *m, clt_measurement *out);

/* --- the words that files of other tools have for what they measured --- */

/* Seconds, or joules, in a unit by any of the names that tuners give it, in any case, of one or many ("miliseconds"
 * stands in files of the field). 0: it is none of these. */
double clt_unit_amount(const char *unit, bool of_energy);

/* Which way a quantity is better, by its name and unit, as Kernel Tuner knows them too: "GFLOP/s" is maximised. */
clt_goal clt_goal_of_words(const char *name, const char *unit);

#endif
