/* measurement/measurement.h - objectives, statistics of runs, configurations with equal programs. */
#pragma once

#include <clatune/measurement.h>
#include <clatune/problem.h>

#include "base/hash.h"

/* --- objectives: which of two configurations is better ---
 * A metric is an expression over measured quantities (time_s, energy_J, figure), the configuration, the sizes and the
 * device (docs/reference/objectives.md). One of the metrics is the objective, which is minimised or maximised. The
 * store holds the measured quantities; metrics are computed from them when they are read. An objective does not
 * change once made, and several threads may use it. */

typedef struct clt_objective clt_objective;

#define CLT_MOST_OBJECTIVES 4

/* Makes the objective that text describes: "time" (minimises time_s); "energy" (minimises energy_J); "figure" (the
 * figure that a program reports, if it is not a time, in its own unit and with the problem file's direction); a metric
 * of the problem that has a goal; or "minimise EXPRESSION" or "maximise EXPRESSION", for any expression, for a metric
 * without a goal, and to reverse a metric's goal; or up to CLT_MOST_OBJECTIVES of them, with commas between. "" means
 * the default objective: "figure" if there is one, else "time". NULL means the problem's "Objective", or the default
 * one.
 *
 * The instance must outlive the objective. CLT_E_ARGUMENT if text is none of these, CLT_E_EXPRESSION if the
 * expression does not compile. Free with clt_objective_free. */
int clt_objective_new(clt_objective **out, const clt_instance *instance, const char *text, clt_error *error);
/* The same for a space without a problem, such as a recording's. sizes are copied; the space must outlive the
 * objective. figure (nullable, borrowed with its texts) describes the measurements' figures, and is then the
 * default objective under its own name. */
int clt_objective_new_for(clt_objective **out, const clt_space *space, const clt_size *sizes, size_t n_sizes,
                          const clt_metric *figure, const char *text, clt_error *error);

/* Further quantities that a recording has: a metric each, with the values of the measurements. */
typedef struct clt_column {
  clt_metric metric;
  double *values; /* of each measurement; NaN: none */
} clt_column;
typedef struct clt_columns {
  const clt_measurement *measurements; /* ascending by config */
  const clt_column *all;               /* CLT_MAX_METRICS at most */
  size_t n_measurements, n;
} clt_columns;
/* The same with these metrics, which are borrowed and can be used in expressions if their name is a C name. */
int clt_objective_new_with(clt_objective **out, const clt_space *space, const clt_size *sizes, size_t n_sizes,
                           const clt_metric *figure, clt_columns columns, const char *text, clt_error *error);
void clt_objective_free(clt_objective *objective);

const char *clt_objective_name(const clt_objective *objective); /* "time", a metric's name, or the expression */
const char *clt_objective_expression(const clt_objective *objective);
const char *clt_objective_unit(const clt_objective *objective); /* "s", "J", "GFLOP/s"; "" if none is stated */
clt_goal clt_objective_goal(const clt_objective *objective);    /* never CLT_GOAL_NOT_STATED */
bool clt_objective_is_time(const clt_objective *objective);     /* whether it is the metric "time", minimised */
/* Whether it is the default objective: "figure" if the program reports a figure that is not a time, else "time". */
bool clt_objective_is_default(const clt_objective *objective);
size_t clt_objective_default(const clt_objective *objective); /* the index of the default objective's metric */
bool clt_objective_needs_energy(const clt_objective *objective);
/* Whether the faster of two configurations is always the better one: the expression depends on time_s alone, through
 * sums, products, quotients and powers that get worse as time_s grows. Slow configurations can then be abandoned
 * early. */
bool clt_objective_ranks_by_time(const clt_objective *objective);
bool clt_objective_ranks_as_usual(const clt_objective *objective); /* ranks by time, or is the default objective */

/* The objective's value for a correct measurement, in its unit. NaN: the configuration failed, its energy was not
 * measured, or the expression cannot be evaluated (CLT_E_RANGE of the expressions in clatune/space.h). */
double clt_objective_value(const clt_objective *objective, const clt_measurement *measurement);

/* The cost that searchers minimise, above 0, for any finite value. For a value above 0 it is the value itself if it is
 * minimised, 1 / value if it is maximised: a ratio of costs equals a ratio of values in either direction, and the
 * logarithm is defined. Values of 0 and below are better (minimised) or worse (maximised) than all of these by orders
 * of magnitude; among negative values a ratio of costs equals a ratio of values, too. NaN: no finite value. Magnitudes
 * outside 1e-80 to 1e80 are not told apart. Values become costs only here. */
double clt_objective_cost(const clt_objective *objective, const clt_measurement *measurement);
double clt_objective_cost_of(const clt_objective *objective, double value);
double clt_objective_value_of(const clt_objective *objective, double cost); /* the inverse */
const char *clt_goal_name(clt_goal goal);                                   /* maximise, else minimise */
double clt_goal_cost(clt_goal goal, double value);
double clt_goal_value(clt_goal goal, double cost);
/* How many times as high a cost is as another; NaN if one of them is NaN, or their values have different signs. */
double clt_cost_ratio(double cost, double other);
/* --- several objectives: what is about one is about the first --- */

size_t clt_objective_n(const clt_objective *objective);
clt_metric clt_objective_nth(const clt_objective *objective, size_t index); /* with the objective's goal */
double clt_objective_nth_value(const clt_objective *objective, size_t index, const clt_measurement *measurement);
/* The cost of each, NaN if it has none. Returns whether all have one; if not, clt_objective_cost is NaN. */
bool clt_objective_costs(const clt_objective *objective, const clt_measurement *measurement, double *out);
/* Whether the first is nowhere worse and somewhere better. */
bool clt_costs_dominate(const double *costs, const double *others, size_t n);

/* The first objective that orders configurations by time alone as an *earlier one does, so adds nothing. 0: none. */
size_t clt_objective_restates(size_t *earlier, const clt_objective *objective);

/* Prints a value: "25.9 ms", "1.2 GFLOP/s"; "-" if it is not finite. Returns out. */
const char *clt_objective_value_text(char out[96], const clt_objective *objective, double value);
const char *clt_metric_value_text(char out[96], const clt_metric *metric, double value);

/* All metrics: "time", "energy", "figure" if there is one, the problem's metrics, and the objective's expression if
 * it has no name. unit may be "", goal may be CLT_GOAL_NOT_STATED. */
size_t clt_objective_n_metrics(const clt_objective *objective);
clt_metric clt_objective_metric(const clt_objective *objective, size_t index);
size_t clt_objective_chosen(const clt_objective *objective); /* the index of the objective */
double clt_objective_metric_value(const clt_objective *objective, size_t index, const clt_measurement *measurement);
/* The cost with the default objective, also if this objective is another one. */
double clt_objective_default_cost(const clt_objective *objective, const clt_measurement *measurement);

/* For files of other tools, which hold only times: if the program reports a figure, *out is m with the costs of the
 * figures in place of seconds, as older records have it. A figure that is not above 0 stays, without
 * any time. Otherwise *out is m. log remains m's. */
void clt_objective_figure_as_time(const clt_objective *objective, const clt_measurement *m, clt_measurement *out);

/* --- names of quantities and units in files of other tools --- */

/* The seconds, or joules, in one of a unit, from any of the names that tuners use, in any case, singular or plural
 * ("miliseconds" occurs). 0: not such a unit. */
double clt_unit_amount(const char *unit, bool of_energy);

/* The goal of a quantity, guessed from its name and unit as Kernel Tuner does: "GFLOP/s" is maximised. */
clt_goal clt_goal_of_words(const char *name, const char *unit);

/* --- medians, intervals and scatter of repeated runs --- */

/* Median and median absolute deviation of n numbers, without NaNs. NaN if no number is left or memory is short.
 * values stay as they are. */
double clt_median(const double *values, size_t n);
double clt_mad(const double *values, size_t n);

/* Its figures if the program reports any, else its seconds: m->n_runs of them. */
const double *clt_measurement_runs(const clt_measurement *m);

/* The median absolute deviation of a measurement's runs, divided by their median. NaN if there are no runs. */
double clt_spread(const clt_measurement *m);

#define CLT_USUAL_CONFIDENCE 0.95

/* A confidence interval for the median of the distribution that the values come from, whatever it is, with at least 95
 * %: from the k-th smallest to the k-th largest value, where k follows from the binomial distribution (order
 * statistics: Thompson 1936; David and Nagaraja, "Order Statistics", 2003, section 7.1). The values must be
 * independent: one per round.
 *
 * confidence is the actual confidence. For fewer than six values it is less than 95 %, and the interval is their
 * whole range: 1 - 2^(1-n), that is 93.75 % for five values and 50 % for two. For fewer than two, or if memory is
 * short, the interval is NaN, NaN, 0. NaNs are left out. */
typedef struct clt_interval {
  double low, high, confidence;
} clt_interval;
clt_interval clt_median_interval(const double *values, size_t n);

/* The interval of a measurement whose result is the median of its runs: the one behind every "+-". */
clt_interval clt_measurement_interval(const clt_measurement *m);

/* The number after "+-": the distance of the farther end from the centre, relative to the centre. Infinite for the
 * interval of a single value. */
double clt_interval_error(const clt_interval *interval, double centre);

/* The same for the median of n values and its interval. */
double clt_median_error(const double *values, size_t n);

/* Prints " +- 2.8 % (95 %)", or "" if the error is not finite. A confidence above 95 % is printed as 95 %. Returns
 * out. */
const char *clt_interval_text(char out[64], double error, double confidence);

/* Whether the shortest of n runs is confirmed: the second shortest takes at most (1 + relative) times as long. */
bool clt_runs_steady(const double *runs_s, size_t n, double relative);

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error);

/* --- configurations with equal programs ---
 * A generator may write the same source for several configurations. The first that is measured answers for them. */

/* The correct measurements of programs by clt_plan_hash; all zeros: none. */
typedef struct clt_equals {
  clt_map indices;
  clt_measurement *all; /* without logs */
  size_t n, capacity;
} clt_equals;

void clt_equals_release(clt_equals *equals);

/* Keeps m if it is correct. hash 0: its source was not generated. If memory is short, equal programs are measured
 * again. */
void clt_equals_keep(clt_equals *equals, uint64_t hash, const clt_measurement *m);

/* Puts the result of another configuration with this hash into m, except for the phases, which are those of m's own
 * preparation. False: there is none. */
bool clt_equals_answer(const clt_equals *equals, uint64_t hash, clt_measurement *m);
