/* format/t4_source.h - where the results of a recording come from, as members of its file beside "results". */
#ifndef CLT_FORMAT_T4_SOURCE_H
#define CLT_FORMAT_T4_SOURCE_H

#include <clatune/problem.h>
#include <clatune/recording.h>
#include <jansson.h>

/* General.BenchmarkName, ProblemParameters with their values, Device, and the ConfigurationSpace: parameters with all
 * their values in their order, and conditions and aliases as the problem's file states them. A new reference; NULL when
 * out of memory. */
json_t *clt_t4_source(const clt_instance *instance);

/* The same of what a recording knows; a device of which only the name is known is {"name": ...}. */
json_t *clt_t4_source_of_recording(const clt_recording *recording);

/* A moment of Unix time as Python prints it; a new reference. */
json_t *clt_t4_timestamp(int64_t created_s);

/* JSON_REAL_PRECISION for all digits that times have: 15, so that what is read and written again is the same text, or
 * 17 where a value of the space needs them. */
size_t clt_t4_digits(const clt_space *space);

/* A value of a configuration; a new reference. */
json_t *clt_t4_value(clt_value value);

#endif
