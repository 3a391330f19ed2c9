/* The loop: ask -> known already? -> measure -> record -> tell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "session/session.h"

#define WAIT_S 0.1 /* how long a request to stop may go unseen */

/* Searchers minimise time_s: they are told the cost in its place. What the objective has no value for is told as
 * failed. */
static clt_measurement as_told(const clt_session *s, const clt_measurement *measurement) {
  clt_measurement told = *measurement;
  double cost = clt_session_cost(s, measurement);
  if (!clt_measurement_correct(measurement)) return told;
  told.time_s = cost;
  if (isnan(cost)) told.reason = CLT_REASON_UNKNOWN;
  return told;
}

/* The searcher is told in the order of the list, whatever the order of results. */
static void keep_for_later(clt_session *s, const clt_measurement *told) {
  for (size_t i = 0; i < s->n_suggested; i++)
    if (s->suggested[i] == told->config) {
      clt_measurement_init(&s->suggested_told[i], told->config);
      s->suggested_told[i].time_s = told->time_s;
      s->suggested_told[i].reason = told->reason;
    }
}

static int tell(clt_session *s, clt_config asked, const clt_measurement *measurement, clt_known_source source,
                clt_error *error) {
  int rc = clt_session_count(s, asked, measurement, source, error);
  if (rc) return rc;
  clt_measurement shown = *measurement, told = as_told(s, measurement); /* borrowed */
  shown.config = told.config = asked;                                   /* the name it was asked for by */
  double start_s = clt_now_s();
  if (s->suggesting)
    keep_for_later(s, &told);
  else if (s->settings->configurations == NULL)
    rc = s->searcher->tell(s->searcher_state, &told, error);
  s->result->search_s += clt_now_s() - start_s;
  if (rc == CLT_OK) clt_session_progress(s, &shown);
  return rc;
}

/* --- beginning --- */

static bool is_pending(const clt_session *s, clt_config canonical) {
  for (size_t i = 0; i < s->n_pending; i++)
    if (s->pending[i].canonical == canonical) return true;
  return false;
}

/* What others are given up against: not the luckiest run. By another objective a slow one may be the best. */
static double typical_best_s(const clt_session *s) {
  const clt_measurement *best = &s->result->best;
  if (best->config == CLT_CONFIG_NONE || (s->objective && !clt_objective_ranks_by_time(s->objective))) return 0;
  return best->n_runs > 0 ? clt_median(best->runs_s, best->n_runs) : best->time_s;
}

static int begin_unknown(clt_session *s, clt_config asked, clt_config canonical, clt_error *error) {
  bool waits = is_pending(s, canonical);
  if (clt_grow(&s->pending, &s->pending_capacity, s->n_pending + 1, sizeof *s->pending)) return clt_fail_memory(error);
  if (!waits) {
    int rc = s->evaluator->submit(s->evaluator_state, canonical, typical_best_s(s), error);
    if (rc) return rc;
    s->n_submitted++;
  }
  s->pending[s->n_pending++] = (clt_pending){asked, canonical, !waits};
  return CLT_OK;
}

/* Begins an evaluation: answered at once where the answer is known, otherwise submitted. */
static int begin(clt_session *s, clt_config asked, clt_error *error) {
  if (!clt_space_contains(s->space, asked))
    return clt_fail(error, CLT_E_ARGUMENT, "%s asked for a configuration that is not in the space",
                    s->settings->configurations ? "the list" : s->searcher->name);
  clt_config canonical = clt_space_canonical(s->space, asked);
  clt_measurement known;
  clt_known_source source = clt_known_take(&s->known, canonical, &known);
  s->n_begun++;
  if (source == CLT_KNOWN_NOT) return begin_unknown(s, asked, canonical, error);
  int rc = tell(s, asked, &known, source, error);
  clt_measurement_release(&known);
  return rc;
}

/* How many may be under way at once. */
static size_t most_submitted(const clt_session *s) {
  bool fewer = s->searcher->sequential && s->settings->configurations == NULL && s->settings->batch == 0;
  return fewer ? s->limits.workers : s->limits.capacity;
}

static size_t wanted(const clt_session *s) {
  size_t n = s->settings->batch ? s->settings->batch : most_submitted(s) - s->n_submitted;
  int64_t left = s->budget - s->n_begun;
  return (int64_t)n < left ? n : (size_t)left;
}

/* The next of a given list. */
static size_t take_listed(clt_session *s, size_t n) {
  const clt_tune_settings *settings = s->settings;
  size_t left = settings->n_configurations - s->n_listed;
  if (n > left) n = left;
  for (size_t i = 0; i < n; i++) s->queue[i] = settings->configurations[s->n_listed++];
  return n;
}

static int ask(clt_session *s, clt_error *error) {
  size_t n = wanted(s), n_asked = 0;
  if (clt_grow(&s->queue, &s->queue_capacity, n, sizeof *s->queue)) return clt_fail_memory(error);
  clt_session_tick(s); /* an answer may take as long as training does */
  double start_s = clt_now_s();
  int rc = CLT_OK;
  if (s->settings->configurations) {
    n_asked = take_listed(s, n);
  } else {
    rc = s->searcher->ask(s->searcher_state, n, s->queue, &n_asked, error);
  }
  s->result->search_s += clt_now_s() - start_s;
  if (rc) return rc;
  s->n_queue = n_asked;
  s->queue_next = 0;
  return CLT_OK;
}

static bool may_begin(const clt_session *s) {
  return clt_session_ending(s) == CLT_NOT_ENDED && s->n_submitted < most_submitted(s);
}

/* Begins as many evaluations as the evaluator takes. Leaves with nothing pending only when the search is over. */
static int fill(clt_session *s, clt_error *error) {
  while (may_begin(s)) {
    int rc = CLT_OK;
    if (s->queue_next == s->n_queue) rc = ask(s, error);
    if (rc) return rc;
    if (s->n_queue == s->queue_next) return CLT_OK;
    rc = begin(s, s->queue[s->queue_next++], error);
    if (rc) return rc;
  }
  return CLT_OK;
}

/* --- receiving --- */

static int record(clt_session *s, const clt_measurement *measurement, clt_error *error) {
  int rc = CLT_OK;
  if (s->settings->store)
    rc = clt_store_add(s->settings->store, &s->key, s->space, CLT_RECORD_SEARCH, measurement, error);
  return rc ? rc : clt_known_add(&s->known, measurement, error);
}

/* Answers everything that waited for this configuration: the one that was submitted first. */
static int answer(clt_session *s, const clt_measurement *measurement, clt_error *error) {
  clt_known_source source = CLT_KNOWN_NOT;
  size_t kept = 0, n = s->n_pending;
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++) {
    clt_pending pending = s->pending[i];
    if (rc || pending.canonical != measurement->config) {
      s->pending[kept++] = pending;
      continue;
    }
    s->n_submitted -= pending.submitted;
    rc = tell(s, pending.asked, measurement, source, error);
    source = CLT_KNOWN_SESSION;
  }
  s->n_pending = kept;
  return rc;
}

/* Waits a moment for a result; none is no failure. */
static int receive(clt_session *s, clt_error *error) {
  clt_measurement measurement;
  clt_error failure = {0};
  int rc = s->evaluator->wait(s->evaluator_state, &measurement, WAIT_S, &failure);
  if (rc == CLT_E_AGAIN) {
    clt_session_tick(s);
    return CLT_OK;
  }
  if (rc) {
    if (error && error->code == 0) *error = failure;
    return rc;
  }
  rc = record(s, &measurement, error);
  if (rc == CLT_OK) rc = answer(s, &measurement, error);
  clt_measurement_release(&measurement);
  return rc;
}

static int stop(const clt_session *s, clt_error *error) {
  return clt_fail(error, CLT_E_STOPPED, "stopped after %lld evaluations", (long long)s->result->evaluations);
}

/* Of the compiler's words: where it says "error", else the first that says anything. Warnings may come before. */
static const char *telling_line(const char *log, int *n) {
  const char *first = NULL;
  for (const char *line = log; line && *line; line += strspn(line, "\n")) {
    size_t length = strcspn(line, "\n");
    bool is_error = memmem(line, length, "error", 5) != NULL;
    if (length > 0 && (first == NULL || is_error)) first = line, *n = (int)(length < 300 ? length : 300);
    if (is_error) break;
    line += length;
  }
  return first;
}

/* Whoever counts on being compared with it can stop here instead of learning it at the end. */
static void say_default_fails(const clt_session *s) {
  const clt_measurement *m = &s->result->default_measurement;
  if (s->settings->log == NULL || m->config == CLT_CONFIG_NONE || s->result->has_default) return;
  bool violates = m->reason == CLT_REASON_CONDITION || m->reason == CLT_REASON_DEVICE_LIMIT;
  bool explained = m->log && (violates || clt_problem_is_command(clt_instance_problem(s->settings->instance)));
  int n = 0;
  const char *why = explained ? m->log : telling_line(m->log, &n);
  if (explained) n = (int)strlen(m->log);
  char *text = clt_format("the default configuration fails: %s (%s)%s%.*s", clt_reason_text(m->reason),
                          clt_reason_name(m->reason),
                          explained ? ": "
                          : why     ? "\n  "
                                    : "",
                          n, why ? why : "");
  if (text) s->settings->log(s->settings->user, CLT_LOG_WARNING, text);
  free(text);
}

/* The default configuration is told before the searcher is asked for anything. */
static int evaluate_first(clt_session *s, clt_error *error) {
  if (s->first == CLT_CONFIG_NONE || s->budget < 1 || clt_session_stopping(s)) return CLT_OK;
  s->phase = "default";
  clt_session_progress(s, NULL);
  int rc = begin(s, s->first, error);
  while (rc == CLT_OK && s->n_pending > 0) {
    if (clt_session_stopping(s)) return stop(s, error);
    rc = receive(s, error);
  }
  return rc;
}

static int tell_suggestions(clt_session *s, size_t n, clt_error *error) {
  int rc = CLT_OK;
  double start_s = clt_now_s();
  for (size_t i = 0; rc == CLT_OK && i < n && s->settings->configurations == NULL; i++)
    rc = s->searcher->tell(s->searcher_state, &s->suggested_told[i], error);
  s->result->search_s += clt_now_s() - start_s;
  return rc;
}

/* What is begun with, likewise, but several at once. */
static int evaluate_suggestions(clt_session *s, clt_error *error) {
  size_t next = 0;
  int rc = CLT_OK;
  s->phase = "suggestions";
  s->suggesting = true;
  while (rc == CLT_OK && (next < s->n_suggested || s->n_pending > 0)) {
    if (clt_session_stopping(s)) return stop(s, error);
    if (next < s->n_suggested && may_begin(s))
      rc = begin(s, s->suggested[next++], error);
    else if (s->n_pending > 0)
      rc = receive(s, error);
    else
      break;
  }
  s->suggesting = false;
  return rc ? rc : tell_suggestions(s, next, error);
}

int clt_session_search(clt_session *s, clt_error *error) {
  int rc = evaluate_first(s, error);
  if (rc == CLT_OK) say_default_fails(s);
  if (rc == CLT_OK && s->n_suggested) rc = evaluate_suggestions(s, error);
  s->phase = NULL;
  while (rc == CLT_OK) {
    rc = fill(s, error);
    if (rc) break;
    if (clt_session_stopping(s)) return stop(s, error);
    if (s->n_pending == 0) break;
    rc = receive(s, error);
  }
  s->result->ending = clt_session_ending(s);
  if (s->result->ending == CLT_ENDED_BY_TIME) s->result->stopped = true;
  return rc;
}
