/* The contest of the fastest: who takes part and wins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/plugin.h"
#include "base/text.h"
#include "measurement/objective.h"
#include "measurement/statistics.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "session/session.h"

#define WINDOW \
  0.5 /* worse ones than this are no finalists, even where runs are noisy: medians are never that far off */
#define MAX_ATTEMPTS 4 /* how often the next best take the place of rejected ones */
#define MIN_ROUNDS 7   /* the fewest that can be significant at the first look: 1 in 128 by chance, not 1 in 80 */
#define MAX_ROUNDS 2000
/* A contest takes at most a tenth of the user's time limit, and twenty seconds. Beyond its fewest rounds it takes half
 * of what the search took or two seconds, whichever is more: it is to be felt as the end of the search, but where all
 * was known already that took no time, and one round decides nothing. */
#define SHARE_OF_TIME 0.1
#define SHARE_OF_SEARCH 0.5
#define ALWAYS_S 2.0
#define MAX_TOTAL_S 20.0
/* Chosen on convolution on PoCL (docs/searchers/surrogate.md, "On a device"): with medians where runs scatter, searches
 * lose none of what they found. */
#define NOISY 0.05        /* a spread of runs from which on medians rank better than the least runs */
#define NOISE_FACTOR 2.0  /* of the spread: how far down in the ranking the best may stand */
#define MOST_FINALISTS 32 /* however noisy */
/* On CPUs the times of a process hang on the pages that it got, by a tenth and more for a transpose. */
#define CPU_PROCESSES 3

typedef struct finals {
  clt_config *configs; /* of this attempt: n_field from the ranking, then the default and what is timed beside it */
  clt_measurement *measurements;
  size_t n, n_field;
  size_t next;            /* in the ranking: the first that has not been in the field */
  size_t n_standing;      /* of the field: correct, compared again if others have to be replaced */
  size_t n_rejected;      /* of the field, in this attempt */
  size_t n_out_of_memory; /* of the field, in all attempts: beside the others, so nothing is known of them */
  clt_config beside;      /* what the searcher wants timed beside the winner; CLT_CONFIG_NONE: nothing */
  clt_config checked;     /* what stood up to check_fastest last; CLT_CONFIG_NONE: nothing yet */
  clt_measurement leader; /* config CLT_CONFIG_NONE: none yet */
} finals;

static int by_rank(const void *a, const void *b) {
  const clt_ranked *x = a, *y = b;
  if (x->rank != y->rank) return (x->rank > y->rank) - (x->rank < y->rank);
  return (x->config > y->config) - (x->config < y->config);
}

/* The best of the ranking that has not been rejected; NULL: none is left. */
static const clt_ranked *best_left(const clt_session *s) {
  for (size_t i = 0; i < s->n_ranked; i++)
    if (!s->ranked[i].rejected) return &s->ranked[i];
  return NULL;
}

/* log: nullable; its first line is quoted. */
static void warn_of(const clt_session *s, clt_config config, const char *what, const char *log) {
  char name[512];
  int n = log ? (int)strcspn(log, "\n") : 0;
  clt_config_print(name, sizeof name, s->loop.space, config);
  clt_log(s->settings->log, s->settings->user, CLT_LOG_WARNING, "finalist %s: %s%s%.*s", name, what, n ? ": " : "",
          n < 300 ? n : 300, log ? log : "");
}

/* Out of memory because others were prepared as well is not the configuration's fault. */
static bool lacks_memory(const finals *f, size_t i) {
  return f->n > 1 && f->measurements[i].reason == CLT_REASON_OUT_OF_MEMORY;
}

/* Records what the i-th finalist came to, and rejects it if it failed. */
static int record_finalist(finals *f, clt_session *s, size_t i, clt_error *error) {
  clt_search_loop *l = &s->loop;
  clt_tune_result *result = s->result;
  clt_measurement *m = &f->measurements[i];
  bool correct = clt_measurement_correct(m);
  int rc = CLT_OK;
  if (lacks_memory(f, i)) {
    f->n_out_of_memory += i < f->n_field;
    warn_of(s, m->config, "the memory does not suffice for all finalists at once; it is left out", NULL);
    return CLT_OK;
  }
  /* A failure is one whatever it was compared for. */
  bool as_usual = clt_objective_ranks_as_usual(l->objective) || !correct;
  if (l->store)
    rc = clt_store_add(l->store, &l->key, l->space, as_usual ? CLT_RECORD_FINALIST : CLT_RECORD_COMPARED, m, error);
  if (rc == CLT_OK && s->first != CLT_CONFIG_NONE && m->config == clt_space_canonical(l->space, s->first)) {
    rc = clt_session_keep(&result->default_measurement, s->first, m, error);
    if (rc == CLT_OK) result->has_default = correct;
  }
  if (rc == CLT_OK && f->beside != CLT_CONFIG_NONE && m->config == f->beside) {
    if (correct) {
      rc = clt_session_keep(&result->timed_beside, m->config, m, error);
    } else {
      f->beside = CLT_CONFIG_NONE;
      clt_measurement_release(&result->timed_beside);
      clt_measurement_init(&result->timed_beside, CLT_CONFIG_NONE);
    }
  }
  if (rc) return rc;
  for (size_t k = 0; k < s->n_ranked; k++) {
    clt_ranked *ranked = &s->ranked[k];
    if (ranked->config != m->config) continue;
    ranked->rejected = m->reason;
    ranked->final_cost = correct ? clt_objective_cost(l->objective, m) : NAN;
    ranked->final_spread = clt_spread(m);
  }
  if (correct) {
    if (i < f->n_field) f->configs[f->n_standing++] = m->config;
    return CLT_OK;
  }
  f->n_rejected += i < f->n_field;
  warn_of(s, m->config, clt_reason_text(m->reason), m->log);
  return CLT_OK;
}

/* What would win has to stand up to more than it was searched by; one that does not makes way for the next fastest.
 * *out stays NULL where none stands. */
static int check_fastest(finals *f, clt_session *s, clt_measurement **out, clt_error *error) {
  for (;;) {
    clt_measurement *fastest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < f->n; i++) {
      clt_measurement *m = &f->measurements[i];
      const double cost = clt_measurement_correct(m) ? clt_objective_cost(s->loop.objective, m) : NAN;
      if (cost < least) fastest = m, least = cost;
    }
    if (fastest == NULL) return CLT_OK;
    if (fastest->config == f->checked) return *out = fastest, CLT_OK;
    int rc = clt_session_verify(s, fastest, error);
    if (rc == CLT_OK && clt_measurement_correct(fastest) && s->settings->check)
      rc = s->settings->check(s->settings->user, fastest, error);
    if (rc) return rc;
    if (clt_measurement_correct(fastest)) f->checked = fastest->config;
  }
}

/* So many rounds at most; beyond the first ones none begins after enough_s, and none at all after a share of the limit
 * of time. */
static clt_contest_policy policy_of_finals(clt_session *s, unsigned most, double enough_s) {
  const double share_s = SHARE_OF_TIME * s->settings->time_s, limit_s = share_s > 0 ? share_s : MAX_TOTAL_S;
  return (clt_contest_policy){
      MIN_ROUNDS, most, enough_s, fmin(limit_s, MAX_TOTAL_S), s->tolerance, s->loop.objective, &s->result->waited_s};
}

static int compare_field(finals *f, clt_session *s, clt_error *error) {
  const double searched_s = clt_now_s() - s->start_s - s->result->waited_s;
  const double enough_s = fmax(SHARE_OF_SEARCH * searched_s, ALWAYS_S);
  /* Without a device, what comes out shall not depend on how much can be computed within the limit of time. */
  unsigned most = s->evaluator->measures_device ? MAX_ROUNDS : CLT_MAX_RUNS;
  clt_contest_policy policy = policy_of_finals(s, most, enough_s);
  policy.n_processes = s->limits.binds ? CPU_PROCESSES : 1;
  int rc = clt_contest_run(s->evaluator, s->evaluator_state, f->configs, f->n, &policy, f->measurements, error);
  if (rc) return rc;
  clt_measurement *fastest = NULL;
  f->n_rejected = f->n_standing = 0;
  rc = check_fastest(f, s, &fastest, error);
  for (size_t i = 0; rc == CLT_OK && i < f->n; i++) rc = record_finalist(f, s, i, error);
  /* The old leader's time belongs to other rounds, so it stands only if nobody does in these and it has not failed. */
  bool stands = fastest == NULL;
  for (size_t i = 0; i < f->n; i++) {
    stands = stands && (f->measurements[i].config != f->leader.config || lacks_memory(f, i));
    if (&f->measurements[i] != fastest) clt_measurement_release(&f->measurements[i]);
  }
  if (stands) return rc;
  clt_measurement_release(&f->leader);
  clt_measurement_init(&f->leader, CLT_CONFIG_NONE);
  if (fastest) f->leader = *fastest;
  return rc;
}

static int play_finals(finals *f, clt_session *s, size_t most, clt_error *error) {
  /* Ranks by the least run, which is what a quiet device is best judged by. On a noisy one the least of many runs would
   * stand before the least of few. */
  double *spreads = clt_new_array(s->n_ranked, sizeof *spreads);
  size_t n_spreads = 0, wanted = 0;
  if (spreads == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_ranked; i++)
    if (s->ranked[i].spread >= 0) spreads[n_spreads++] = s->ranked[i].spread;
  double noise = n_spreads ? clt_median(spreads, n_spreads) : 0; /* nobody ran often enough */
  free(spreads);
  for (size_t i = 0; i < s->n_ranked; i++)
    s->ranked[i].rank = noise > NOISY ? s->ranked[i].median_cost : s->ranked[i].cost;
  qsort(s->ranked, s->n_ranked, sizeof *s->ranked, by_rank);
  /* Where runs scatter, the best may stand far down in the ranking. */
  double limit = s->ranked[0].rank * (1 + NOISE_FACTOR * noise);
  while (wanted < most && wanted < s->n_ranked && s->ranked[wanted].rank <= limit) wanted++;
  if (wanted < s->settings->finalists) wanted = s->settings->finalists;
  for (int attempt = 0; attempt < MAX_ATTEMPTS && wanted > 0; attempt++) {
    if (clt_stop_asked(s->settings->stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    /* Those that stand and the next `wanted` of the ranking within the window; and what the winner is compared with, so
     * that what is said of it is measured side by side. */
    const clt_ranked *best = best_left(s);
    const clt_config beside[] = {
        s->result->has_default ? clt_space_canonical(s->loop.space, s->first) : CLT_CONFIG_NONE, f->beside};
    limit = best ? best->rank * (1 + WINDOW) : 0;
    f->n = f->n_standing;
    for (; wanted > 0 && f->next < s->n_ranked && s->ranked[f->next].rank <= limit; f->next++) {
      if (s->ranked[f->next].rejected) continue; /* it was timed beside others and failed */
      f->configs[f->n++] = s->ranked[f->next].config;
      wanted--;
    }
    f->n_field = f->n;
    if (f->n_field == f->n_standing) break;
    for (size_t k = 0; k < 2; k++) {
      bool there = beside[k] == CLT_CONFIG_NONE;
      for (size_t i = 0; i < f->n; i++) there |= f->configs[i] == beside[k];
      if (!there) f->configs[f->n++] = beside[k];
    }
    clt_session_progress(s, NULL);
    int rc = compare_field(f, s, error);
    if (rc) return rc;
    wanted = f->n_rejected;
  }
  return CLT_OK;
}

/* Threads of CPU drivers are bound to processors while they are timed, and not where programs run them: so the
 * finalists run once more as they will there. Where another one is faster than the best then, the result says so. */
static int compare_unbound(finals *f, clt_session *s, clt_error *error) {
  const clt_contest_policy policy = policy_of_finals(s, MIN_ROUNDS, 0);
  const clt_measurement *best = NULL, *fastest = NULL;
  char name[512], time[2][32];
  size_t n = 0;
  while (n < f->n_standing && f->configs[n] != f->leader.config) n++;
  if (n == f->n_standing) f->configs[f->n_standing++] = f->leader.config; /* the default */
  if (f->n_standing < 2 || !clt_objective_ranks_by_time(s->loop.objective)) return CLT_OK;
  s->unbound = true;
  int rc =
      clt_contest_run(s->evaluator, s->evaluator_state, f->configs, f->n_standing, &policy, f->measurements, error);
  s->unbound = false;
  if (rc) return rc;
  for (size_t i = 0; i < f->n_standing; i++) {
    const clt_measurement *m = &f->measurements[i];
    if (!clt_measurement_correct(m)) continue;
    if (m->config == f->leader.config) best = m;
    if (fastest == NULL || m->time_s < fastest->time_s) fastest = m;
  }
  if (best && fastest->time_s * (1 + s->tolerance) < best->time_s && fastest->n_runs == best->n_runs &&
      clt_sign_test(fastest->runs_s, best->runs_s, best->n_runs) <= 1 - CLT_USUAL_CONFIDENCE) {
    clt_config_print(name, sizeof name, s->loop.space, fastest->config);
    rc = clt_session_note(
        s, error,
        "with the driver's threads not bound to processors, as in most programs, %s is faster than the best: "
        "%s, where the best takes %s",
        name, clt_time_text(time[0], fastest->time_s), clt_time_text(time[1], best->time_s));
  }
  for (size_t i = 0; i < f->n_standing; i++) clt_measurement_release(&f->measurements[i]);
  return rc;
}

int clt_session_finalists(clt_session *s, clt_error *error) {
  size_t most = s->settings->finalists > MOST_FINALISTS ? s->settings->finalists : MOST_FINALISTS;
  if (s->settings->finalists == 0 || s->evaluator->keep == NULL || s->n_ranked == 0) return CLT_OK;
  clt_search_report report;
  clt_session_report(s, &report);
  finals f = {.configs = clt_new_array(most + 2, sizeof *f.configs), /* the default and the one beside, too */
              .measurements = clt_new_array(most + 2, sizeof *f.measurements),
              .beside = report.timed_beside,
              .checked = CLT_CONFIG_NONE};
  clt_measurement *best = &s->result->best;
  clt_measurement_init(&f.leader, CLT_CONFIG_NONE);
  s->in_contest = true;
  int rc = f.configs && f.measurements ? play_finals(&f, s, most, error) : clt_fail_memory(error);
  if (rc == CLT_OK && s->limits.binds && f.leader.config != CLT_CONFIG_NONE) rc = compare_unbound(&f, s, error);
  s->in_contest = false;
  free(f.configs);
  free(f.measurements);
  bool stopped = rc == CLT_E_STOPPED, found = f.leader.config != CLT_CONFIG_NONE;
  if (rc && !stopped) return clt_measurement_release(&f.leader), rc;
  if (!found && (stopped || f.n_out_of_memory > 0)) {
    /* The search's word stands, but not for what failed since: of what is next only what the loop remembers is known.
     */
    const clt_ranked *left = best_left(s);
    if (best->config != (left ? left->config : CLT_CONFIG_NONE)) {
      clt_measurement_release(best);
      clt_measurement_init(best, CLT_CONFIG_NONE);
      if (left) clt_known_take(&s->loop.known, left->config, best);
    }
    if (stopped || left) return rc;
  }
  clt_measurement_release(best);
  *best = f.leader;
  s->result->best_is_finalist = found;
  if (found) return rc;
  return clt_fail(error, CLT_E_VERIFY,
                  "all of the %zu fastest configurations fail when run again on other data or at another size", f.next);
}
