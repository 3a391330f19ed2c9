/* report/view.h - what the forms of a report have in common: which parameters, which values, which steps are shown. */
#ifndef CLT_REPORT_VIEW_H
#define CLT_REPORT_VIEW_H

#include <clatune/report.h>
#include <stdio.h>

#define CLT_REPORT_VIEW_FASTEST 10
#define CLT_REPORT_VIEW_VALUES 16 /* of a parameter; of longer lists those with the best times */
#define CLT_REPORT_VIEW_FAILING 12

/* A parameter of which more than one value was measured, and the values to show, in the order of the list. */
typedef struct clt_report_view_parameter {
  size_t index; /* in the space */
  const clt_parameter *parameter;
  clt_effect effect;
  size_t shown[CLT_REPORT_VIEW_VALUES], n_shown;
  size_t best; /* the value of the best row (clt_report_best), always among those shown; SIZE_MAX: none is correct */
} clt_report_view_parameter;

/* An improvement of the best so far: at the evaluation `number`, after spent_s seconds of measuring. */
typedef struct clt_report_view_step {
  size_t number;
  double best_s; /* its cost: seconds, where the objective is time */
  double spent_s;
} clt_report_view_step;

/* A value with which more fails than on the whole. */
typedef struct clt_report_view_failing {
  const clt_report_view_parameter *parameter;
  size_t value, n, n_failed;
} clt_report_view_failing;

typedef struct clt_report_view {
  const clt_report *report;
  clt_report_view_parameter *parameters; /* the most important first */
  size_t n_parameters;
  clt_report_view_step *steps;
  size_t n_steps;
  double spent_s; /* on all rows; 0: not written down */
  clt_effect_value
      *pairs; /* of parameters[0] and [1], as clt_report_pairs; NULL where there are no two, or too many pairs */
  clt_report_view_failing failing[CLT_REPORT_VIEW_FAILING]; /* the largest share first */
  size_t n_failing;
  size_t fastest[CLT_REPORT_VIEW_FASTEST], n_fastest;
  size_t best;     /* row; SIZE_MAX: none */
  bool in_order;   /* of the configurations' numbers: a whole space, not a search */
  double median_s; /* of the correct rows' costs; NaN: none */
  clt_report_fit fit;
} clt_report_view;

int clt_report_view_init(clt_report_view *out, const clt_report *report, const clt_report_options *options,
                         clt_error *error);
void clt_report_view_release(clt_report_view *view);

/* The pair of shown values: a of the most important parameter, b of the second. */
const clt_effect_value *clt_report_view_pair(const clt_report_view *view, size_t a, size_t b);

/* The cost of the best: as a finalist, else as in the search. */
double clt_report_view_best_s(const clt_report_view *view);

/* A unit in which a time reads well. */
typedef struct clt_report_view_unit {
  double seconds;
  const char *name; /* "ms" */
} clt_report_view_unit;
clt_report_view_unit clt_report_view_unit_of(double time_s);

/* A value for people, at most capacity - 1 bytes. Returns out. */
const char *clt_report_view_value(clt_value value, char *out, size_t capacity);

#endif
