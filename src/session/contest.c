/* The contest of the fastest: how rounds are judged, how they are played, and who takes part and wins. */
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

/* --- statistics --- */

#define SIGNIFICANT (1 - CLT_USUAL_CONFIDENCE)
#define CERTAIN 0.001  /* one that rests has fewer chances to come back */
#define MANY 200       /* rounds from which on the binomial is as good as normal */
#define KNOWN_WELL 0.6 /* a median whose interval is this part of the tolerance, which is three standard errors */

double clt_sign_test(const double *a, const double *b, size_t n) {
  size_t wins = 0, decided = 0;
  for (size_t i = 0; i < n; i++) {
    wins += a[i] < b[i];
    decided += a[i] < b[i] || a[i] > b[i];
  }
  if (decided > MANY) {
    double n_decided = (double)decided;
    return 0.5 * erfc(((double)wins - 0.5 - n_decided / 2) / sqrt(n_decided / 2));
  }
  double p = 0, term = ldexp(1, -(int)decided); /* of k = decided wins; then one fewer each time */
  for (size_t k = decided; k + 1 > wins; k--) {
    p += term;
    if (k == 0) break;
    term *= (double)k / (double)(decided - k + 1);
  }
  return fmin(p, 1);
}

bool clt_rounds_judge(const clt_contender *c, size_t n, double tolerance, double chance, clt_standing *out) {
  size_t leader = n;
  double best = INFINITY;
  bool decided = true;
  for (size_t i = 0; i < n; i++) {
    double median = c[i].costs && c[i].n ? clt_median(c[i].costs, c[i].n) : INFINITY;
    if (!(median < best)) continue;
    best = median;
    leader = i;
  }
  for (size_t i = 0; i < n; i++) {
    const clt_contender *l = &c[leader < n ? leader : 0];
    if (c[i].costs == NULL || leader == n) {
      out[i] = CLT_STANDING_OUT;
    } else if (i == leader) {
      out[i] = CLT_STANDING_LEADS;
    } else if (clt_median(c[i].costs, c[i].n) <= best * (1 + tolerance)) {
      double error = fmax(clt_median_error(l->costs, l->n), clt_median_error(c[i].costs, c[i].n));
      out[i] = error <= KNOWN_WELL * tolerance ? CLT_STANDING_NEAR : CLT_STANDING_OPEN;
    } else {
      double p = clt_sign_test(l->costs, c[i].costs, l->n < c[i].n ? l->n : c[i].n);
      out[i] = p > chance ? CLT_STANDING_OPEN : p > CERTAIN ? CLT_STANDING_BEHIND : CLT_STANDING_BEATEN;
    }
    decided = decided && out[i] != CLT_STANDING_OPEN;
  }
  return decided;
}

/* --- rounds --- */

#define TURN_S 1e-3      /* short runs are repeated so long before it is another's turn: asking costs about 0.1 ms */
#define MOST_IN_A_TURN 8 /* so that rounds stay interleaved */

/* Numbers that are added one by one. */
typedef struct series {
  double *values;
  size_t n, capacity;
} series;

/* What was measured of one finalist, one number a round: the medians of its runs and, where there are such, of figures
 * and energies. costs has one of every round, NaN where it was left out, so that finalists are compared within rounds.
 */
typedef struct entry {
  series runs_s, costs, figures, energies_J;
} entry;

static int add_number(series *s, double x, clt_error *error) {
  if (clt_grow(&s->values, &s->capacity, s->n + 1, sizeof *s->values)) return clt_fail_memory(error);
  s->values[s->n++] = x;
  return CLT_OK;
}

/* Takes what a turn gave, and the measurement itself where it failed. */
static int take_turn(entry *e, clt_measurement *result, clt_measurement *turn, const clt_objective *objective,
                     clt_error *error) {
  int rc = CLT_OK;
  if (turn->reason != CLT_REASON_NONE) {
    turn->phases.build_s = result->phases.build_s;
    clt_measurement_release(result);
    *result = *turn;
    clt_measurement_init(turn, CLT_CONFIG_NONE);
    return CLT_OK;
  }
  /* Runs of one turn are not independent of each other: a turn is one number. */
  if (turn->n_runs > 0) {
    turn->time_s = clt_median(turn->runs_s, turn->n_runs);
    rc = add_number(&e->runs_s, turn->time_s, error);
    if (rc == CLT_OK) rc = add_number(&e->costs, objective ? clt_objective_cost(objective, turn) : turn->time_s, error);
  }
  if (rc == CLT_OK && !isnan(turn->figure)) rc = add_number(&e->figures, turn->figure, error);
  if (rc == CLT_OK && turn->energy_J > 0) rc = add_number(&e->energies_J, turn->energy_J, error);
  result->clock = turn->clock;
  result->phases.runs_s += turn->phases.runs_s;
  result->phases.verify_s += turn->phases.verify_s;
  return rc;
}

static int play_rounds(entry *entries, clt_measurement *results, size_t n, const clt_evaluator_type *evaluator,
                       void *state, const clt_contest_policy *policy, clt_error *error) {
  size_t *indices = clt_new_array(n, sizeof *indices);
  clt_measurement *turns = clt_new_array(n, sizeof *turns);
  clt_contender *contenders = clt_new_array(n, sizeof *contenders);
  clt_standing *standings = clt_new_array(n, sizeof *standings);
  int rc = indices && turns && contenders && standings ? CLT_OK : clt_fail_memory(error);
  const double zero = 0, *waited_s = policy->waited_s ? policy->waited_s : &zero;
  const double begin_s = clt_now_s() - *waited_s;
  bool decided = false;
  for (size_t done = 0, look = policy->min_rounds, n_looks = 0;
       rc == CLT_OK && !decided && done++ < policy->max_rounds;) {
    size_t n_running = 0, n_runs = 1;
    double least_s = INFINITY; /* a turn is one run, unless that is so short that asking for it takes longer */
    for (size_t i = 0; i < n; i++) {
      const series *runs_s = &entries[i].runs_s;
      if (results[i].reason != CLT_REASON_NONE) continue;
      if (standings[i] != CLT_STANDING_BEATEN) indices[n_running++] = i;
      const size_t n_last = runs_s->n < MOST_IN_A_TURN ? runs_s->n : MOST_IN_A_TURN;
      if (n_last > 0) least_s = fmin(least_s, clt_median(runs_s->values + runs_s->n - n_last, n_last));
    }
    if (n_running == 0) break;
    if (least_s < TURN_S / 2) n_runs = (size_t)fmin(TURN_S / least_s, MOST_IN_A_TURN);
    for (size_t k = 0; k < n_running; k++) clt_measurement_init(&turns[k], CLT_CONFIG_NONE);
    rc = evaluator->time_again(state, indices, n_running, n_runs, turns, error);
    for (size_t k = 0; k < n_running; k++) {
      if (rc == CLT_OK) rc = take_turn(&entries[indices[k]], &results[indices[k]], &turns[k], policy->objective, error);
      clt_measurement_release(&turns[k]);
    }
    for (size_t i = 0; rc == CLT_OK && i < n; i++)
      if (entries[i].costs.n < done) rc = add_number(&entries[i].costs, NAN, error);
    double took_s = clt_now_s() - *waited_s - begin_s;
    if (policy->max_total_s > 0 && took_s > policy->max_total_s) break;
    if (rc || done < policy->min_rounds) continue;
    if (policy->enough_s > 0 && took_s > policy->enough_s) break;
    if (done < look) continue;
    look = done + (done + 1) / 2;
    n_looks++;
    /* Who is beaten is judged anew each time: the leader may change, and with it who is behind. The more often one
     * looks, the likelier is it that chance once looks significant; so the k-th look spends 1 / (k (k + 1)) of the 5 %,
     * and all of them together, however many, spend no more than these (alpha spending: Lan and DeMets, "Discrete
     * sequential boundaries for clinical trials", 1983; here by Bonferroni's inequality). By half, since either of two
     * may be the one that seems to lead. */
    for (size_t i = 0; i < n; i++) {
      const series *costs = &entries[i].costs;
      bool stands = results[i].reason == CLT_REASON_NONE && !isnan(clt_median(costs->values, costs->n));
      contenders[i] = stands ? (clt_contender){costs->values, costs->n} : (clt_contender){NULL, 0};
    }
    decided = clt_rounds_judge(contenders, n, policy->tolerance, SIGNIFICANT / 2 / (double)(n_looks * (n_looks + 1)),
                               standings);
  }
  free(indices);
  free(turns);
  free(contenders);
  free(standings);
  return rc;
}

int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error) {
  entry *entries = clt_new_array(n, sizeof *entries);
  clt_measurement *results = clt_new_array(n, sizeof *results);
  int rc = entries && results ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) clt_measurement_init(&results[i], configs[i]);
  if (rc == CLT_OK) rc = evaluator->keep(state, configs, n, results, error);
  if (rc == CLT_OK) rc = play_rounds(entries, results, n, evaluator, state, policy, error);
  for (size_t i = 0; entries && results && i < n; i++) {
    const series *runs_s = &entries[i].runs_s, *figures = &entries[i].figures, *energies_J = &entries[i].energies_J;
    clt_measurement *m = &results[i];
    if (rc == CLT_OK && m->reason == CLT_REASON_NONE) {
      size_t kept = runs_s->n < CLT_MAX_RUNS ? runs_s->n : CLT_MAX_RUNS;
      for (size_t k = 0; k < kept; k++) m->runs_s[k] = runs_s->values[k * runs_s->n / kept];
      m->n_runs = kept;
      m->time_s = clt_median(runs_s->values, runs_s->n);
      m->figure = clt_median(figures->values, figures->n);
      for (size_t k = 0; k < kept && figures->n == runs_s->n; k++)
        m->figures[k] = figures->values[k * runs_s->n / kept];
      m->energy_J = energies_J->n ? clt_median(energies_J->values, energies_J->n) : NAN;
    }
    if (rc == CLT_OK)
      out[i] = *m;
    else
      clt_measurement_release(m);
    free(entries[i].runs_s.values);
    free(entries[i].costs.values);
    free(entries[i].figures.values);
    free(entries[i].energies_J.values);
  }
  free(entries);
  free(results);
  return rc;
}

/* --- who takes part, and who wins --- */

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
  clt_session_log(s, CLT_LOG_WARNING,
                  clt_format("finalist %s: %s%s%.*s", name, what, n ? ": " : "", n < 300 ? n : 300, log ? log : ""));
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
  const clt_contest_policy policy = policy_of_finals(s, most, enough_s);
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
      clt_sign_test(fastest->runs_s, best->runs_s, best->n_runs) <= SIGNIFICANT) {
    clt_config_print(name, sizeof name, s->loop.space, fastest->config);
    rc = clt_session_note(
        s,
        clt_format(
            "with the driver's threads not bound to processors, as in most programs, %s is faster than the best: "
            "%s, where the best takes %s",
            name, clt_time_text(time[0], fastest->time_s), clt_time_text(time[1], best->time_s)),
        error);
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
