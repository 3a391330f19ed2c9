/* What ends a search: evaluations, a share of the space, seconds, a value that is good enough, stagnation. */
#include <math.h>

#include "base/clock.h"
#include "base/fail.h"
#include "session/session.h"

#define STANDARD_BUDGET 200

/* What is evaluated before the searcher is asked comes on top. */
static int64_t with_beginning(const clt_session *s, int64_t budget) {
  return budget == INT64_MAX ? budget : budget + (s->first != CLT_CONFIG_NONE) + (int64_t)s->n_suggested;
}

/* At least one. */
static int64_t share_of_space(const clt_session *s) {
  double n = ceil(s->settings->space_fraction * (double)s->result->valid - 1e-6);
  return n < 1 ? 1 : n < 9e18 ? (int64_t)n : INT64_MAX;
}

static bool ends_otherwise(const clt_tune_settings *settings) {
  return settings->time_s > 0 || settings->stagnation > 0 || settings->space_fraction > 0;
}

/* What was asked for; else what the searcher's options ask for; else the problem's; else as long as nothing else ends
 * it; else the standard. */
static int64_t evaluations(const clt_session *s) {
  const clt_tune_settings *settings = s->settings;
  if (settings->budget > 0) return settings->budget;
  int64_t own = s->searcher->budget ? s->searcher->budget(s->searcher_options) : 0;
  if (own > 0) return with_beginning(s, own);
  int64_t problems = settings->instance ? clt_problem_budget(clt_instance_problem(settings->instance)) : 0;
  if (problems > 0) return problems;
  return ends_otherwise(settings) ? INT64_MAX : STANDARD_BUDGET;
}

int64_t clt_session_budget(const clt_session *s) {
  const clt_tune_settings *settings = s->settings;
  if (settings->configurations) return with_beginning(s, (int64_t)settings->n_configurations);
  int64_t n = evaluations(s), share = settings->space_fraction > 0 ? share_of_space(s) : INT64_MAX;
  return share < n ? share : n;
}

bool clt_session_stopping(const clt_session *s) { return clt_stop_asked(s->settings->stop); }

bool clt_session_time_is_up(const clt_session *s) {
  double limit_s = s->settings->time_s;
  return limit_s > 0 && clt_now_s() - s->start_s >= limit_s;
}

void clt_session_note_improvement(clt_session *s, double cost) {
  if (s->improved_cost > 0 && !(cost < s->improved_cost * (1 - s->tolerance))) return;
  s->improved_cost = cost;
  s->improved_at = s->result->evaluations;
}

static bool reached_target(const clt_session *s) {
  double target = s->settings->target;
  if (target <= 0 || s->result->best.config == CLT_CONFIG_NONE) return false;
  if (s->objective) target = clt_objective_exchange(s->objective, target);
  return clt_session_cost(s, &s->result->best) <= target;
}

clt_ending clt_session_ending(const clt_session *s) {
  int64_t stagnation = s->settings->stagnation;
  if (clt_session_stopping(s)) return CLT_ENDED_ON_REQUEST;
  if (reached_target(s)) return CLT_ENDED_BY_TARGET;
  if (s->n_begun >= s->budget) return CLT_ENDED_BY_BUDGET;
  if (stagnation > 0 && s->result->evaluations - s->improved_at >= stagnation) return CLT_ENDED_BY_STAGNATION;
  if (clt_session_time_is_up(s)) return CLT_ENDED_BY_TIME;
  return CLT_NOT_ENDED;
}

const char *clt_ending_name(clt_ending ending) {
  static const char *const names[] = {"space", "budget", "time", "target", "stagnation", "request"};
  return (size_t)ending < sizeof names / sizeof *names ? names[ending] : "unknown";
}
