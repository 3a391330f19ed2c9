/* search/desirability.h - what an author thinks of the values before anything was measured. */
#ifndef CLT_SEARCH_DESIRABILITY_H
#define CLT_SEARCH_DESIRABILITY_H

#include <clatune/problem.h>

#include "search/pheromones.h"

/* Fills in how desirable each value is: the mean of the problem's Desirability over those of 2,000 random
 * configurations that have the value, relative to the mean of all, at least 0.01 and at most 100. Configurations
 * without a number above 0 count as 0. Values that the sample lacks stay at 1, and so does everything where the
 * instance is NULL, has no Desirability, or is 0 everywhere. */
int clt_desirability_guess(clt_pheromones *pheromones, const clt_instance *instance, uint64_t seed, clt_error *error);

#endif
