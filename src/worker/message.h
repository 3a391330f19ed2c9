/* worker/message.h - what the messages between the tuner and its workers hold (docs/worker-protocol.md). What is received
 * is untrusted: everything is checked for type and range. */
#ifndef CLT_WORKER_MESSAGE_H
#define CLT_WORKER_MESSAGE_H

#include <clatune/measurement.h>
#include <jansson.h>

/* What a worker is at; deadlines and the blame for a crash depend on it. */
typedef enum clt_worker_phase {
  CLT_AT_BUILD,
  CLT_AT_LAUNCH,
  CLT_AT_RUNNING,
  CLT_AT_VERIFY,
  CLT_AT_DONE,
  CLT_N_WORKER_PHASES
} clt_worker_phase;
const char *clt_worker_phase_name(clt_worker_phase phase);
int clt_worker_phase_parse(clt_worker_phase *out, const char *name); /* CLT_E_FORMAT: none */

/* How a worker times a prepared configuration; see clt_timing_policy. */
typedef struct clt_worker_timing {
  int min_runs, max_runs;
  double max_total_s, steady_relative, best_s, abandon_factor;
  bool warm_up;
  double energy_s; /* 0: energy is not measured */
} clt_worker_timing;

/* Text as JSON; bytes that are no UTF-8 become '?'. NULL when out of memory. */
json_t *clt_message_text(const char *text);

/* New references; NULL when out of memory. */
json_t *clt_message_from_measurement(const clt_measurement *m);
json_t *clt_message_from_timing(const clt_worker_timing *timing);
json_t *clt_message_from_error(const clt_error *error);
json_t *clt_message_phase(clt_worker_phase phase);

/* Adds the figure of quality to the reply of who has made the data, and reads it: NaN where there is none. -1 when out
 * of memory; CLT_E_FORMAT for anything but a finite number, null or nothing. */
int clt_message_add_quality(json_t *reply, double quality);
int clt_message_to_quality(double *out, const json_t *reply, clt_error *error);

/* *out is initialised here, and owned by the caller on success. */
int clt_message_to_measurement(clt_measurement *out, const json_t *message, clt_error *error);
int clt_message_to_timing(clt_worker_timing *out, const json_t *message, clt_error *error);
/* Sets *error as the other side had it and returns its code (never 0). */
int clt_message_to_error(const json_t *message, clt_error *error);

/* A member of an object, or "" / CLT_E_FORMAT where it is missing or of another type. */
const char *clt_message_string(const json_t *message, const char *key);
int clt_message_integer(int64_t *out, const json_t *message, const char *key, int64_t min, int64_t max,
                        clt_error *error);

#endif
