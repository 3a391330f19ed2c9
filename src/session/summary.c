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

static double cost_of(const clt_session *session, clt_config config, double time_s, double energy_J) {
  return session->objective ? clt_objective_cost_of(session->objective, config, time_s, energy_J) : time_s;
}

double clt_session_cost(const clt_session *session, const clt_measurement *m) {
  return clt_measurement_correct(m) ? cost_of(session, m->config, m->time_s, m->energy_J) : NAN;
}

/* Among equals the lower configuration, so that the order of arrival makes no difference. */
static bool better(const clt_session *session, const clt_measurement *a, const clt_measurement *b) {
  if (b->config == CLT_CONFIG_NONE) return true;
  double cost = clt_session_cost(session, a), other = clt_session_cost(session, b);
  return cost < other || (cost == other && a->config < b->config);
}

/* Once: there may be many. */
static void say_no_value(clt_session *session, clt_config config) {
  char name[512];
  const clt_tune_settings *settings = session->settings;
  if (session->result->n_without_value++ > 0 || settings->log == NULL) return;
  clt_config_print(session->space, config, name, sizeof name);
  char *text = clt_format("the objective '%.200s' has no value above 0 for %s: such configurations are passed over",
                          clt_objective_name(session->objective), name);
  if (text) settings->log(settings->user, CLT_LOG_WARNING, text);
  free(text);
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
  session->ranked[session->n_ranked++] =
      (clt_ranked){.config = measurement->config,
                   .time_s = measurement->time_s,
                   .energy_J = measurement->energy_J,
                   .cost = clt_session_cost(session, measurement),
                   .median_cost = cost_of(session, measurement->config, median_s, measurement->energy_J),
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
  double cost = clt_session_cost(session, measurement);
  bool counts = cost > 0;
  if (correct && !counts) say_no_value(session, asked);
  if (counts) clt_session_note_improvement(session, cost);
  if (counts && source != CLT_KNOWN_SESSION) rc = rank(session, measurement, error);
  if (rc == CLT_OK && counts && better(session, measurement, &result->best))
    rc = clt_session_keep(&result->best, measurement->config, measurement, error);
  if (rc || asked != session->first) return rc;
  result->has_default = correct;
  return clt_session_keep(&result->default_measurement, asked, measurement, error);
}

static void find_least(clt_tune_result *out, const clt_session *session) {
  out->least_s = out->least_cost = NAN;
  for (size_t i = 0; i < session->n_ranked; i++) {
    const clt_ranked *r = &session->ranked[i];
    if (r->cost >= out->least_cost) continue; /* false for the first */
    out->least_cost = r->cost;
    out->least_s = r->time_s;
  }
}

static int find_medians(clt_tune_result *out, const clt_session *session, clt_error *error) {
  size_t n = session->n_ranked;
  double *values = clt_new_array(n, sizeof *values);
  if (values == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) values[i] = session->ranked[i].time_s;
  out->median_s = clt_median(values, n);
  for (size_t i = 0; i < n; i++) values[i] = session->ranked[i].cost;
  out->median_cost = clt_median(values, n);
  free(values);
  return CLT_OK;
}

int clt_session_summarise(clt_session *session, clt_error *error) {
  clt_tune_result *result = session->result;
  const clt_measurement *best = &result->best;
  if (best->config != CLT_CONFIG_NONE && best->n_runs)
    result->best_spread = clt_mad(best->runs_s, best->n_runs) / clt_median(best->runs_s, best->n_runs);
  if (session->searcher_state && session->searcher->report)
    session->searcher->report(session->searcher_state, &result->search);
  find_least(result, session);
  result->wall_s = clt_now_s() - session->start_s;
  return find_medians(result, session, error);
}
