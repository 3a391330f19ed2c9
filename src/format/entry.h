/* format/entry.h - what the readers of untrusted JSON share: names, values, times and reasons. */
#ifndef CLT_FORMAT_ENTRY_H
#define CLT_FORMAT_ENTRY_H

#include <clatune/measurement.h>
#include <jansson.h>

#define CLT_SECONDS_PER_MS 1e-3
#define CLT_FAILED_TIME_MS 1e20 /* what old versions of Kernel Tuner wrote for a failure */

/* Whether a text can be the name of a parameter: an identifier of reasonable length. */
bool clt_entry_name(const char *name);

/* A number, a truth value, or a word of [A-Za-z0-9_.+-]: nothing that could be more in a build option. Texts are
 * borrowed. */
bool clt_entry_value(clt_value *out, const json_t *json);

/* A finite number of at least 0, or `otherwise`. */
double clt_entry_number(const json_t *json, double otherwise);

/* Seconds in a unit of time by any of the names that tuners give it, in any case: "s", "seconds", "ms", "Milliseconds",
 * "us", ... `otherwise` for other texts, and where json is none. */
double clt_entry_seconds_per(const json_t *json, double otherwise);

/* Fills runs_s from a list of times; what is no time is left out. */
void clt_entry_runs(clt_measurement *m, const json_t *times, double seconds_per_unit);

/* The reason behind the words that Kernel Tuner and T4 use; CLT_REASON_UNKNOWN for others and NULL. */
clt_reason clt_entry_reason(const char *text);

/* The word that Kernel Tuner has for a failure, coarser than the reason; NULL for CLT_REASON_NONE. */
const char *clt_entry_error(clt_reason reason);

/* A line for people, malloc'ed: capped, and without what a terminal would obey; "" where json is no text. */
char *clt_entry_line(const json_t *json);

#endif
