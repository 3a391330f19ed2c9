/* format/answers.h - common parts of answers in JSON. New references; NULL: out of memory. */
#ifndef CLT_FORMAT_ANSWERS_H
#define CLT_FORMAT_ANSWERS_H

#include <jansson.h>

#include "measurement/objective.h"

json_t *clt_json_configuration(const clt_space *space, clt_config config);
json_t *clt_json_parameter(const clt_parameter *parameter); /* {"name", "values"} */
json_t *clt_json_sizes(const clt_instance *instance);
json_t *clt_json_options(const clt_instance *instance,
                         clt_config config); /* build options; null: an expression fails */
json_t *clt_json_launches(const clt_launch_sizes *launches, size_t n);
/* {"name", "expression", "unit", "goal", "is_default"} */
json_t *clt_json_objective(const clt_objective *objective);
/* A member of a front: "values", and the same as one line, "summary". */
json_t *clt_json_values(const clt_objective *objective, const clt_measurement *measurement);

/* The share of a time that empty launches would take, too: as many as a run of the configuration has, or one if
 * `instance` is NULL. NaN: not known. */
double clt_launch_share(const clt_device_state *state, double time_s, const clt_instance *instance, clt_config config);
/* {"launch_s", "launch_share", "clock_mhz", "clock_share", "throttled", "busy_share"} */
json_t *clt_json_state(const clt_device_state *state, double launch_share);

#endif
