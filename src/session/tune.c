#include <clatune/tune.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "session/session.h"

void clt_tune_settings_init(clt_tune_settings *settings) { *settings = (clt_tune_settings){.finalists = 5, .seed = 1}; }

void clt_tune_result_release(clt_tune_result *result) {
  clt_measurement_release(&result->best);
  clt_measurement_release(&result->default_measurement);
  clt_measurement_release(&result->first_stage_best);
}

static void result_init(clt_tune_result *result) {
  memset(result, 0, sizeof *result);
  clt_measurement_init(&result->best, CLT_CONFIG_NONE);
  clt_measurement_init(&result->default_measurement, CLT_CONFIG_NONE);
  clt_measurement_init(&result->first_stage_best, CLT_CONFIG_NONE);
  result->median_s = NAN;
  result->least_cost = result->median_cost = NAN;
  result->quality = NAN;
  result->best_spread = NAN;
  result->search.second_stage_needed = -1;
}

static int fail_no_value(const clt_session *session, clt_error *error) {
  return clt_fail(error, CLT_E_NO_VALID,
                  "of %lld correct evaluations none has a value of the objective '%.200s' above 0",
                  (long long)session->result->n_without_value, clt_objective_name(session->objective));
}

/* "200 evaluations, none correct: 150 compile, 50 timeout" */
static int fail_no_valid(const clt_session *session, clt_error *error) {
  const clt_tune_result *result = session->result;
  if (result->n_without_value > 0) return fail_no_value(session, error);
  char counts[256] = "";
  size_t used = 0;
  for (int i = CLT_CORRECT + 1; i < CLT_N_INVALIDITIES; i++) {
    if (result->by_invalidity[i] == 0 || used >= sizeof counts) continue;
    used += (size_t)snprintf(counts + used, sizeof counts - used, "%s%lld %s", used ? ", " : "",
                             (long long)result->by_invalidity[i], clt_invalidity_name((clt_invalidity)i));
  }
  return clt_fail(error, CLT_E_NO_VALID, "%lld evaluations, none correct%s%s", (long long)result->evaluations,
                  used ? ": " : "", counts);
}

static int run(clt_session *session, clt_error *error) {
  int rc = clt_session_search(session, error);
  if (rc == CLT_OK && session->result->best.config == CLT_CONFIG_NONE) rc = fail_no_valid(session, error);
  if (rc == CLT_OK) rc = clt_session_finalists(session, error);
  if (rc != CLT_E_STOPPED) return rc;
  session->result->stopped = true;
  session->result->ending = CLT_ENDED_ON_REQUEST;
  return rc;
}

int clt_tune(clt_tune_result *result, const clt_tune_settings *settings, clt_error *error) {
  clt_session session = {.settings = settings, .result = result, .first = CLT_CONFIG_NONE, .start_s = clt_now_s()};
  result_init(result);
  int rc = clt_session_open(&session, error);
  if (rc == CLT_OK) rc = run(&session, error);
  clt_session_close_evaluator(&session);
  int summed = clt_session_summarise(&session, error);
  clt_session_close(&session);
  return rc ? rc : summed;
}
