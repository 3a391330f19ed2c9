/* format/t4_source.h - where the results of a recording come from, as members of its file beside "results". */
#ifndef CLT_FORMAT_T4_SOURCE_H
#define CLT_FORMAT_T4_SOURCE_H

#include <clatune/problem.h>
#include <jansson.h>

/* General.BenchmarkName, ProblemParameters with their values, Device, and the ConfigurationSpace: parameters with all
 * their values in their order, and conditions and aliases as the problem's file states them. A new reference; NULL when
 * out of memory. */
json_t *clt_t4_source(const clt_instance *instance);

/* A value of a configuration; a new reference. */
json_t *clt_t4_value(clt_value value);

#endif
