/* What a session leaves behind: counts, the best, the median. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "session/session.h"

static void add_phases(clt_phases *sum, const clt_phases *part) {
  sum->build_s += part->build_s;
  sum->first_launch_s += part->first_launch_s;
  sum->runs_s += part->runs_s;
  sum->verify_s += part->verify_s;
  sum->wait_s += part->wait_s;
}

/* Among equals the lower configuration, so that the order of arrival makes no difference. */
static bool better(const clt_measurement *a, const clt_measurement *b) {
  if (b->config == CLT_CONFIG_NONE || a->time_s < b->time_s) return true;
  return a->time_s == b->time_s && a->config < b->config;
}

int clt_session_keep(clt_measurement *out, clt_config config, const clt_measurement *measurement, clt_error *error) {
  clt_measurement copy;
  int rc = clt_measurement_copy(&copy, measurement, error);
  if (rc) return rc;
  copy.config = config;
  clt_measurement_release(out);
  *out = copy;
  return CLT_OK;
}

/* How noisy the device is, from what repeated runs show. */
static double spread_of(const clt_measurement *m) {
  double least_s = INFINITY;
  if (m->n_runs < 3) return -1;
  for (size_t i = 0; i < m->n_runs; i++) least_s = fmin(least_s, m->runs_s[i]);
  return clt_median(m->runs_s, m->n_runs) / least_s - 1;
}

static int rank(clt_session *session, const clt_measurement *measurement, clt_error *error) {
  if (clt_grow(&session->ranked, &session->ranked_capacity, session->n_ranked + 1, sizeof *session->ranked))
    return clt_fail_memory(error);
  double median_s = measurement->n_runs ? clt_median(measurement->runs_s, measurement->n_runs) : measurement->time_s;
  session->ranked[session->n_ranked++] = (clt_ranked){.config = measurement->config,
                                                      .time_s = measurement->time_s,
                                                      .median_s = median_s,
                                                      .spread = spread_of(measurement)};
  return CLT_OK;
}

int clt_session_count(clt_session *session, clt_config asked, const clt_measurement *measurement,
                      clt_known_source source, clt_error *error) {
  clt_tune_result *result = session->result;
  int rc = CLT_OK;
  result->evaluations++;
  if (result->by_reason[measurement->reason]++ == 0) result->example[measurement->reason] = asked;
  result->by_invalidity[clt_reason_invalidity(measurement->reason)]++;
  if (source == CLT_KNOWN_NOT) add_phases(&result->phases, &measurement->phases);
  *(source == CLT_KNOWN_NOT ? &result->measured : source == CLT_KNOWN_STORE ? &result->reused : &result->aliased) += 1;
  bool correct = clt_measurement_correct(measurement);
  if (correct) clt_session_note_improvement(session, measurement->time_s);
  if (correct && source != CLT_KNOWN_SESSION) rc = rank(session, measurement, error);
  if (rc == CLT_OK && correct && better(measurement, &result->best))
    rc = clt_session_keep(&result->best, measurement->config, measurement, error);
  if (rc || asked != session->first) return rc;
  result->has_default = correct;
  return clt_session_keep(&result->default_measurement, asked, measurement, error);
}

static double least(const clt_session *session) {
  double least_s = NAN;
  for (size_t i = 0; i < session->n_ranked; i++) least_s = fmin(least_s, session->ranked[i].time_s);
  return least_s;
}

static int median(double *out, const clt_session *session, clt_error *error) {
  double *times_s = clt_new_array(session->n_ranked, sizeof *times_s);
  if (times_s == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < session->n_ranked; i++) times_s[i] = session->ranked[i].time_s;
  *out = clt_median(times_s, session->n_ranked);
  free(times_s);
  return CLT_OK;
}

int clt_session_summarise(clt_session *session, clt_error *error) {
  clt_tune_result *result = session->result;
  const clt_measurement *best = &result->best;
  if (best->config != CLT_CONFIG_NONE && best->n_runs)
    result->best_spread = clt_mad(best->runs_s, best->n_runs) / clt_median(best->runs_s, best->n_runs);
  if (session->searcher_state && session->searcher->report)
    session->searcher->report(session->searcher_state, &result->search);
  result->least_s = least(session);
  result->wall_s = clt_now_s() - session->start_s;
  return median(&result->median_s, session, error);
}
