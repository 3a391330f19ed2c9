/* model/baseline.h - how log time goes with the problem's sizes alone.
 *
 * Between sizes times differ by orders of magnitude, and that is what a model of all of them would spend itself on. A
 * ridge regression of the mean log time of each size on the logarithms of the sizes takes most of it away; models learn
 * the rest. */
#ifndef CLT_MODEL_BASELINE_H
#define CLT_MODEL_BASELINE_H

#include <clatune/problem.h>
#include <jansson.h>

#define CLT_BASELINE_MOST 32 /* sizes that are used */

/* Zeroed: 0 for every instance. */
typedef struct clt_baseline {
  size_t n;
  double constant, slope[CLT_BASELINE_MOST], centre[CLT_BASELINE_MOST]; /* by size, of its natural logarithm */
} clt_baseline;

/* level[n]: the mean log time of each instance. */
void clt_baseline_fit(clt_baseline *out, const clt_instance *const *instances, const double *level, size_t n);
double clt_baseline_at(const clt_baseline *baseline, const clt_instance *instance);

/* A new reference, NULL when out of memory; and back: CLT_E_FORMAT where it cannot be of this instance. */
json_t *clt_baseline_save(const clt_baseline *baseline);
int clt_baseline_load(clt_baseline *out, const clt_instance *instance, const json_t *json, clt_error *error);

#endif
