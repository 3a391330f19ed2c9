/* Saying how far a session is. */
#include "base/clock.h"
#include "session/session.h"

#define TICK_S 0.4 /* so that calls come at least every 0.5 s with waits of 0.1 s */

static int64_t total(const clt_session *session) {
  int64_t valid = session->result->valid > INT64_MAX ? INT64_MAX : (int64_t)session->result->valid;
  return valid < session->budget ? valid : session->budget;
}

void clt_session_progress(clt_session *session, const clt_measurement *last) {
  session->last_progress_s = clt_now_s();
  if (session->settings->progress == NULL) return;
  const clt_tune_result *result = session->result;
  clt_search_report report = {.phase = "search"};
  if (session->searcher_state && session->searcher->report) session->searcher->report(session->searcher_state, &report);
  clt_progress now = {
      .phase = session->phase ? session->phase : report.phase,
      .done = result->evaluations,
      .total = total(session),
      .measured = result->measured,
      .reused = result->reused,
      .best = result->best.config,
      .best_s = result->best.time_s,
      .best_value = session->objective ? clt_objective_value(session->objective, &result->best) : result->best.time_s,
      .elapsed_s = session->last_progress_s - session->start_s,
      .time_limit_s = session->settings->time_s,
      .last = last,
  };
  for (int i = 0; i < CLT_N_INVALIDITIES; i++) now.by_invalidity[i] = result->by_invalidity[i];
  session->settings->progress(session->settings->user, &now);
}

void clt_session_tick(clt_session *session) {
  if (clt_now_s() - session->last_progress_s >= TICK_S) clt_session_progress(session, NULL);
}
