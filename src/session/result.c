/* What a session leaves behind: counts, the best, the medians; and what it says on the way there. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "measurement/objective.h"
#include "measurement/statistics.h"
#include "session/session.h"

clt_tune_result *clt_result_new(void) {
  clt_counted_result *made = clt_new_array(1, sizeof *made);
  if (made == NULL) return NULL;
  clt_tune_result *result = &made->result;
  clt_measurement_init(&result->best, CLT_CONFIG_NONE);
  clt_measurement_init(&result->default_measurement, CLT_CONFIG_NONE);
  clt_measurement_init(&result->timed_beside, CLT_CONFIG_NONE);
  result->least_s = result->median_s = result->least_cost = result->median_cost = NAN;
  result->quality = result->best_spread = NAN;
  made->search.timed_beside = CLT_CONFIG_NONE;
  result->search = &made->search;
  return result;
}

void clt_tune_result_free(clt_tune_result *result) {
  if (result == NULL) return;
  clt_measurement_release(&result->best);
  clt_measurement_release(&result->default_measurement);
  clt_measurement_release(&result->timed_beside);
  free(result->second_size);
  free(result);
}

int64_t clt_tune_n_failed(clt_config *example, const clt_tune_result *result, clt_reason reason) {
  const clt_counted_result *r = (const clt_counted_result *)result;
  if (reason <= CLT_REASON_NONE || reason >= CLT_N_REASONS) return 0;
  if (example) *example = r->example[reason];
  return r->by_reason[reason];
}

int64_t clt_tune_n_invalid(const clt_tune_result *result, clt_invalidity invalidity) {
  int64_t n = 0;
  for (int i = 0; i < CLT_N_REASONS; i++)
    if (clt_reason_invalidity((clt_reason)i) == invalidity) n += ((const clt_counted_result *)result)->by_reason[i];
  return n;
}

void clt_session_log(const clt_session *s, clt_log_level level, char *text) {
  if (text && s->settings->log) s->settings->log(s->settings->user, level, text);
  free(text);
}

void clt_session_report(const clt_session *s, clt_search_report *out) {
  *out = (clt_search_report){.phase = "search", .timed_beside = CLT_CONFIG_NONE};
  if (s->loop.state && s->loop.searcher->report) s->loop.searcher->report(s->loop.state, out);
}

void clt_session_progress(clt_session *s, const clt_measurement *last) {
  const clt_search_loop *l = &s->loop;
  const clt_tune_result *result = s->result;
  s->last_progress_s = clt_now_s();
  if (s->settings->progress == NULL) return;
  clt_search_report report;
  clt_session_report(s, &report);
  bool at_default = l->has_default && l->n_initial_answered == 0;
  int64_t valid = result->valid > INT64_MAX ? INT64_MAX : (int64_t)result->valid;
  const clt_progress now = {
      .phase = s->in_contest                          ? "finalists"
               : at_default                           ? "default"
               : l->n_initial_answered < l->n_initial ? "suggestions"
                                                      : report.phase,
      .done = result->evaluations,
      .total = valid < l->budget ? valid : l->budget,
      .so_far = result,
      .best_value = clt_objective_value(l->objective, &result->best),
      .elapsed_s = s->last_progress_s - s->start_s,
      .time_limit_s = s->settings->time_s,
      .last = last,
  };
  s->settings->progress(s->settings->user, &now);
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

int clt_session_count(clt_session *s, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                      clt_error *error) {
  clt_tune_result *result = s->result;
  clt_counted_result *counts = (clt_counted_result *)result;
  bool correct = clt_measurement_correct(m), has_cost = cost > 0;
  int rc = CLT_OK;
  result->evaluations++;
  result->n_correct += correct;
  result->n_confirmed_alone += m->confirmed_alone;
  if (counts->by_reason[m->reason]++ == 0) counts->example[m->reason] = asked;
  *(origin == CLT_NOT_KNOWN ? &result->measured : origin == CLT_FROM_STORE ? &result->reused : &result->aliased) += 1;
  if (origin == CLT_NOT_KNOWN) {
    result->phases.build_s += m->phases.build_s;
    result->phases.first_launch_s += m->phases.first_launch_s;
    result->phases.runs_s += m->phases.runs_s;
    result->phases.verify_s += m->phases.verify_s;
    result->phases.wait_s += m->phases.wait_s;
  }
  if (correct && !has_cost && result->n_without_value++ == 0) { /* said once: there may be many */
    char name[512];
    clt_config_print(name, sizeof name, s->loop.space, asked);
    clt_session_log(
        s, CLT_LOG_WARNING,
        clt_format("the objective '%.200s' has no value above 0 for %s: such configurations are passed over",
                   clt_objective_name(s->loop.objective), name));
  }
  if (has_cost && !(s->improved_cost > 0 && !(cost < s->improved_cost * (1 - s->tolerance)))) {
    s->improved_cost = cost;
    s->improved_at = result->evaluations;
  }
  if (has_cost && origin != CLT_FROM_SESSION) {
    if (clt_grow(&s->ranked, &s->ranked_capacity, s->n_ranked + 1, sizeof *s->ranked)) return clt_fail_memory(error);
    bool by_figure = !isnan(m->figure);
    const double *runs = by_figure ? m->figures : m->runs_s;
    double lowest = INFINITY, median = clt_median(runs, m->n_runs), highest = 0;
    for (size_t i = 0; i < m->n_runs; i++) {
      lowest = fmin(lowest, runs[i]);
      highest = fmax(highest, runs[i]);
    }
    clt_measurement at_median = *m; /* borrowed */
    if (!isnan(median)) *(by_figure ? &at_median.figure : &at_median.time_s) = median;
    bool larger = by_figure && clt_objective_goal(s->loop.objective) == CLT_MAXIMISE;
    s->ranked[s->n_ranked++] = (clt_ranked){.config = m->config,
                                            .time_s = m->time_s,
                                            .cost = cost,
                                            .median_cost = clt_objective_cost(s->loop.objective, &at_median),
                                            .spread = m->n_runs < 3 || isnan(median) ? -1
                                                      : larger                       ? highest / median - 1
                                                                                     : median / lowest - 1};
  }
  /* Among equals the lower configuration, so that the order of arrival makes no difference. */
  double least =
      result->best.config == CLT_CONFIG_NONE ? INFINITY : clt_objective_cost(s->loop.objective, &result->best);
  bool better = has_cost && (cost < least || (cost == least && m->config < result->best.config));
  if (rc == CLT_OK && better) rc = clt_session_keep(&result->best, m->config, m, error);
  if (rc || asked != s->first) return rc;
  result->has_default = correct;
  return clt_session_keep(&result->default_measurement, asked, m, error);
}

int clt_session_summarise(clt_session *s, clt_error *error) {
  clt_tune_result *result = s->result;
  const clt_tune_settings *settings = s->settings;
  const clt_measurement *best = &result->best;
  size_t n = s->n_ranked;
  double *values = clt_new_array(n, sizeof *values);
  if (best->config != CLT_CONFIG_NONE) result->best_spread = clt_spread(best);
  clt_session_report(s, &((clt_counted_result *)result)->search);
  for (size_t i = 0; i < n; i++) {
    if (s->ranked[i].cost >= result->least_cost) continue; /* false for the first */
    result->least_cost = s->ranked[i].cost;
    result->least_s = s->ranked[i].time_s;
  }
  result->search_s = s->loop.search_s;
  result->comparable = s->loop.default_options && s->sources.n == 0 && settings->n_begin_with == 0 &&
                       settings->model == NULL && settings->configurations == NULL && !result->stopped &&
                       best->config != CLT_CONFIG_NONE && (uint64_t)result->evaluations < result->valid;
  if (values) {
    for (size_t i = 0; i < n; i++) values[i] = s->ranked[i].time_s;
    result->median_s = clt_median(values, n);
    for (size_t i = 0; i < n; i++) values[i] = s->ranked[i].cost;
    result->median_cost = clt_median(values, n);
  }
  free(values);
  result->wall_s = clt_now_s() - s->start_s;
  return values ? CLT_OK : clt_fail_memory(error);
}
