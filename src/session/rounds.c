/* Interleaved rounds of the finalists: runs and judges them. */
#include "base/base.h"
#include "measurement/measurement.h"
#include "session/contest.h"

/* --- statistics --- */

#define SIGNIFICANT (1 - CLT_USUAL_CONFIDENCE)
#define CERTAIN 0.001  /* stricter, as a resting finalist has fewer chances to recover */
#define MANY 200       /* rounds above which the normal approximation of the binomial is good */
#define KNOWN_WELL 0.6 /* a median is known if its interval is below this part of the tolerance */

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
      out[i] = p > CERTAIN ? CLT_STANDING_BEHIND : CLT_STANDING_BEATEN;
      if (p > chance) out[i] = CLT_STANDING_OPEN;
    }
    decided = decided && out[i] != CLT_STANDING_OPEN;
  }
  return decided;
}

/* --- rounds --- */

#define TURN_S 1e-3      /* seconds of short runs per turn: a request costs about 0.1 ms */
#define MOST_IN_A_TURN 8 /* runs, so that rounds stay interleaved */
#define STILL_NEAR 0.1   /* the process makes no larger difference */

/* A growing array. */
typedef struct samples {
  double *values;
  size_t n, capacity;
} samples;

/* The measurements of a finalist, one number per round: the medians of its runs and, if measured, of figures and
 * energies. costs has a number for every round, NaN if it was left out, so that finalists are compared within rounds.
 */
typedef struct entry {
  samples runs_s, costs, figures, energies_J;
} entry;

static int add_number(samples *s, double x, clt_error *error) {
  if (clt_grow(&s->values, &s->capacity, s->n + 1, sizeof *s->values)) return clt_fail_memory(error);
  s->values[s->n++] = x;
  return CLT_OK;
}

/* Adds the result of a turn; of a failure, the measurement itself. */
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
  turn->state.throttled = fmax(result->state.throttled, turn->state.throttled);
  result->state = turn->state;
  result->phases.runs_s += turn->phases.runs_s;
  result->phases.verify_s += turn->phases.verify_s;
  return rc;
}

/* Only those with a place among the kept ones; SIZE_MAX: none. */
static int play_rounds(entry *entries, clt_measurement *results, const size_t *places, size_t n,
                       const clt_evaluator_type *evaluator, void *state, const clt_contest_policy *policy,
                       clt_error *error) {
  clt_arena arena = {0};
  size_t *indices = clt_arena_array(&arena, n, sizeof *indices), n_before = 0;
  size_t *kept = clt_arena_array(&arena, n, sizeof *kept);
  clt_measurement *turns = clt_arena_array(&arena, n, sizeof *turns);
  clt_contender *contenders = clt_arena_array(&arena, n, sizeof *contenders);
  clt_standing *standings = clt_arena_array(&arena, n, sizeof *standings);
  int rc = clt_arena_check(&arena, error);
  for (size_t i = 0; i < n; i++)
    if (entries[i].costs.n > n_before) n_before = entries[i].costs.n;
  const double zero = 0, *waited_s = policy->waited_s ? policy->waited_s : &zero;
  const double begin_s = clt_now_s() - *waited_s;
  bool decided = false;
  for (size_t done = 0, look = policy->min_rounds, n_looks = 0;
       rc == CLT_OK && !decided && done++ < policy->max_rounds;) {
    size_t n_running = 0, n_runs = 1;
    double least_s = INFINITY; /* a turn is one run, or more if runs are shorter than the request */
    for (size_t i = 0; i < n; i++) {
      const samples *runs_s = &entries[i].runs_s;
      if (results[i].reason != CLT_REASON_NONE || places[i] == SIZE_MAX) continue;
      if (standings[i] != CLT_STANDING_BEATEN) kept[n_running] = places[i], indices[n_running++] = i;
      const size_t n_last = runs_s->n < MOST_IN_A_TURN ? runs_s->n : MOST_IN_A_TURN;
      if (n_last > 0) least_s = fmin(least_s, clt_median(runs_s->values + runs_s->n - n_last, n_last));
    }
    if (n_running == 0) break;
    if (least_s < TURN_S / 2) n_runs = (size_t)fmin(TURN_S / least_s, MOST_IN_A_TURN);
    for (size_t k = 0; k < n_running; k++) clt_measurement_init(&turns[k], CLT_CONFIG_NONE);
    rc = evaluator->time_again(state, kept, n_running, n_runs, turns, error);
    for (size_t k = 0; k < n_running; k++) {
      if (rc == CLT_OK) rc = take_turn(&entries[indices[k]], &results[indices[k]], &turns[k], policy->objective, error);
      clt_measurement_release(&turns[k]);
    }
    for (size_t i = 0; rc == CLT_OK && i < n; i++)
      if (entries[i].costs.n < n_before + done) rc = add_number(&entries[i].costs, NAN, error);
    double took_s = clt_now_s() - *waited_s - begin_s;
    if (policy->max_total_s > 0 && took_s > policy->max_total_s) break;
    if (rc || done < policy->min_rounds) continue;
    if (policy->enough_s > 0 && took_s > policy->enough_s) break;
    if (done < look) continue;
    look = done + (done + 1) / 2;
    n_looks++;
    /* Every look judges all again, since the leader may change. Repeated looks raise the risk that chance seems
     * significant; so the k-th look spends 1 / (k (k + 1)) of the 5 %, and all looks together spend no more than that
     * (alpha spending: Lan and DeMets, "Discrete sequential boundaries for clinical trials", 1983; here with
     * Bonferroni's inequality). Halved, as either of two may seem to lead. */
    for (size_t i = 0; i < n; i++) {
      const samples *costs = &entries[i].costs;
      bool stands = results[i].reason == CLT_REASON_NONE && !isnan(clt_median(costs->values, costs->n));
      contenders[i] = stands ? (clt_contender){costs->values, costs->n} : (clt_contender){NULL, 0};
    }
    decided = clt_rounds_judge(contenders, n, policy->tolerance, SIGNIFICANT / 2 / (double)(n_looks * (n_looks + 1)),
                               standings);
  }
  clt_arena_release(&arena);
  return rc;
}

/* Prepares the *n_near finalists near the fastest in new processes; does nothing if there is only one. */
static int keep_near_anew(const entry *entries, clt_measurement *results, size_t *places, size_t *n_near, size_t n,
                          const clt_evaluator_type *evaluator, void *state, clt_error *error) {
  clt_arena arena = {0};
  clt_config *configs = clt_arena_array(&arena, n, sizeof *configs);
  clt_measurement *again = clt_arena_array(&arena, n, sizeof *again);
  int rc = clt_arena_check(&arena, error);
  double least = INFINITY;
  *n_near = 0;
  for (size_t i = 0; i < n; i++)
    if (results[i].reason == CLT_REASON_NONE)
      least = fmin(least, clt_median(entries[i].costs.values, entries[i].costs.n));
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const double cost = clt_median(entries[i].costs.values, entries[i].costs.n);
    const bool near = results[i].reason == CLT_REASON_NONE && cost <= least * (1 + STILL_NEAR);
    places[i] = near ? *n_near : SIZE_MAX;
    if (!near) continue;
    clt_measurement_init(&again[*n_near], results[i].config);
    configs[(*n_near)++] = results[i].config;
  }
  const bool anew = rc == CLT_OK && *n_near > 1;
  if (anew) rc = evaluator->keep(state, NULL, 0, NULL, error);
  if (anew && rc == CLT_OK) rc = evaluator->keep(state, configs, *n_near, again, error);
  for (size_t i = 0; anew && rc == CLT_OK && i < n; i++)
    if (places[i] != SIZE_MAX && again[places[i]].reason != CLT_REASON_NONE)
      rc = take_turn(NULL, &results[i], &again[places[i]], NULL, error);
  for (size_t k = 0; again && k < *n_near; k++) clt_measurement_release(&again[k]);
  clt_arena_release(&arena);
  return rc;
}

int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error) {
  clt_arena arena = {0};
  entry *entries = clt_arena_array(&arena, n, sizeof *entries);
  clt_measurement *results = clt_arena_array(&arena, n, sizeof *results);
  size_t *places = clt_arena_array(&arena, n, sizeof *places), n_near = n;
  int rc = clt_arena_check(&arena, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) clt_measurement_init(&results[i], configs[places[i] = i]);
  if (rc == CLT_OK) rc = evaluator->keep(state, configs, n, results, error);
  /* Times depend on the pages and addresses of a process. So the rounds are repeated in others, within the same time
   * limits. */
  clt_contest_policy leg = *policy;
  const unsigned n_processes = policy->n_processes ? policy->n_processes : 1;
  leg.enough_s /= n_processes;
  leg.max_total_s /= n_processes;
  for (unsigned p = 0; rc == CLT_OK && p < n_processes && (p == 0 || n_near > 1); p++) {
    rc = play_rounds(entries, results, places, n, evaluator, state, &leg, error);
    for (size_t i = 0; p == 0 && rc == CLT_OK && i < n; i++)
      if (entries[i].costs.n > 0) leg.min_rounds = leg.max_rounds = (unsigned)entries[i].costs.n;
    if (rc == CLT_OK && p + 1 < n_processes)
      rc = keep_near_anew(entries, results, places, &n_near, n, evaluator, state, error);
  }
  for (size_t i = 0; entries && results && i < n; i++) {
    const samples *runs_s = &entries[i].runs_s, *figures = &entries[i].figures, *energies_J = &entries[i].energies_J;
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
  clt_arena_release(&arena);
  return rc;
}
