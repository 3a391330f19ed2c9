#include "session/contest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"

#define TURN_S 1e-3 /* short runs are repeated so long before it is another's turn */
#define MOST_IN_A_TURN 8
#define SIGNIFICANT 0.05
#define CERTAIN 0.001
#define MANY 200                    /* rounds from which on the binomial is as good as normal */
#define MAD_TO_DEVIATION 1.4826     /* of normal numbers */
#define MEDIAN_TO_MEAN_ERROR 1.2533 /* sqrt(pi / 2): the standard error of a median over that of a mean */
#define KNOWN_WELL 0.3              /* a median whose error is this part of the tolerance */

static double upper_tail(double wins, double n) { return 0.5 * erfc((wins - 0.5 - n / 2) / sqrt(n / 2)); }

double clt_sign_test(const double *a, const double *b, size_t n) {
  size_t wins = 0, decided = 0;
  for (size_t i = 0; i < n; i++) {
    wins += a[i] < b[i];
    decided += a[i] != b[i];
  }
  if (decided > MANY) return upper_tail((double)wins, (double)decided);
  double p = 0, term = ldexp(1, -(int)decided); /* of k = decided wins; then one fewer each time */
  for (size_t k = decided; k + 1 > wins; k--) {
    p += term;
    if (k == 0) break;
    term *= (double)k / (double)(decided - k + 1);
  }
  return fmin(p, 1);
}

double clt_median_error(const double *runs_s, size_t n) {
  if (n < 2) return INFINITY;
  double deviation = MAD_TO_DEVIATION * clt_mad(runs_s, n);
  return MEDIAN_TO_MEAN_ERROR * deviation / sqrt((double)n) / clt_median(runs_s, n);
}

static size_t find_leader(const clt_contender *c, size_t n) {
  size_t leader = n;
  double best_s = INFINITY;
  for (size_t i = 0; i < n; i++) {
    double median_s = c[i].runs_s && c[i].n ? clt_median(c[i].runs_s, c[i].n) : INFINITY;
    if (!(median_s < best_s)) continue;
    best_s = median_s;
    leader = i;
  }
  return leader;
}

static clt_standing judge(const clt_contender *leader, const clt_contender *other, double tolerance) {
  double best_s = clt_median(leader->runs_s, leader->n);
  if (clt_median(other->runs_s, other->n) <= best_s * (1 + tolerance)) {
    double error = fmax(clt_median_error(leader->runs_s, leader->n), clt_median_error(other->runs_s, other->n));
    return error <= KNOWN_WELL * tolerance ? CLT_STANDING_NEAR : CLT_STANDING_OPEN;
  }
  double p = clt_sign_test(leader->runs_s, other->runs_s, leader->n < other->n ? leader->n : other->n);
  return p > SIGNIFICANT ? CLT_STANDING_OPEN : p > CERTAIN ? CLT_STANDING_BEHIND : CLT_STANDING_BEATEN;
}

bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, clt_standing *out) {
  size_t leader = find_leader(contenders, n);
  bool decided = true;
  for (size_t i = 0; i < n; i++) {
    const clt_contender *c = &contenders[i];
    out[i] = c->runs_s == NULL || leader == n ? CLT_STANDING_OUT
             : i == leader                    ? CLT_STANDING_LEADS
                                              : judge(&contenders[leader], c, tolerance);
    decided = decided && out[i] != CLT_STANDING_OPEN;
  }
  return decided;
}

/* --- rounds --- */

/* What was measured of one finalist. */
typedef struct entry {
  double *runs_s;
  size_t n_runs, runs_capacity;
  double *costs; /* by another objective than time: of each run, or of each turn where its energy was measured */
  size_t n_costs, costs_capacity;
  double *energies_J; /* of the turns, where it is measured */
  size_t n_energies, energies_capacity;
  clt_standing standing;
} entry;

static int add_number(double **list, size_t *n, size_t *capacity, double x, clt_error *error) {
  if (clt_grow(list, capacity, *n + 1, sizeof **list)) return clt_fail_memory(error);
  (*list)[(*n)++] = x;
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
  for (size_t i = 0; rc == CLT_OK && i < turn->n_runs; i++)
    rc = add_number(&e->runs_s, &e->n_runs, &e->runs_capacity, turn->runs_s[i], error);
  bool per_turn = objective && clt_objective_needs_energy(objective);
  for (size_t i = 0; rc == CLT_OK && objective && i < (per_turn ? 1 : turn->n_runs); i++) {
    double time_s = per_turn ? clt_median(turn->runs_s, turn->n_runs) : turn->runs_s[i];
    double cost = clt_objective_cost_of(objective, turn->config, time_s, turn->energy_J);
    rc = add_number(&e->costs, &e->n_costs, &e->costs_capacity, cost, error);
  }
  if (rc == CLT_OK && turn->energy_J > 0)
    rc = add_number(&e->energies_J, &e->n_energies, &e->energies_capacity, turn->energy_J, error);
  result->clock = turn->clock;
  result->phases.runs_s += turn->phases.runs_s;
  result->phases.verify_s += turn->phases.verify_s;
  return rc;
}

/* The runs of a turn: one, unless that is so short that asking for it takes longer. */
static size_t runs_in_turn(const entry *entries, const clt_measurement *results, size_t n, size_t most) {
  double least_s = INFINITY;
  for (size_t i = 0; i < n; i++)
    if (results[i].reason == CLT_REASON_NONE && entries[i].n_runs > 0)
      least_s = fmin(least_s, clt_median(entries[i].runs_s, entries[i].n_runs));
  size_t n_runs = isfinite(least_s) && least_s < TURN_S / 2 ? (size_t)fmin(TURN_S / least_s, MOST_IN_A_TURN) : 1;
  return n_runs < most ? n_runs : most;
}

/* Who is beaten is judged anew each time: the leader may change, and with it who is behind. */
static int judge_entries(bool *decided, entry *entries, const clt_measurement *results, size_t n, bool by_cost,
                         double tolerance, clt_error *error) {
  clt_contender *contenders = clt_new_array(n, sizeof *contenders);
  clt_standing *standings = clt_new_array(n, sizeof *standings);
  int rc = contenders && standings ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const entry *e = &entries[i];
    if (results[i].reason != CLT_REASON_NONE) continue;
    contenders[i] = by_cost ? (clt_contender){e->costs, e->n_costs} : (clt_contender){e->runs_s, e->n_runs};
    if (isnan(clt_median(contenders[i].runs_s, contenders[i].n))) contenders[i].runs_s = NULL;
  }
  if (rc == CLT_OK) *decided = clt_rounds_judge(contenders, n, tolerance, standings);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) entries[i].standing = standings[i];
  free(contenders);
  free(standings);
  return rc;
}

/* One round is enough for a median, so the time limit goes before min_rounds. */
static int play_rounds(entry *entries, clt_measurement *results, size_t n, const clt_evaluator_type *evaluator,
                       void *state, const clt_contest_policy *policy, clt_error *error) {
  const clt_objective *objective = policy->objective;
  if (objective && clt_objective_ranks_by_time(objective)) objective = NULL;
  size_t *indices = clt_new_array(n, sizeof *indices);
  clt_measurement *turns = clt_new_array(n, sizeof *turns);
  int rc = indices && turns ? CLT_OK : clt_fail_memory(error);
  double begin_s = clt_now_s();
  bool decided = false;
  for (size_t done = 0; rc == CLT_OK && !decided && done < policy->max_rounds;) {
    size_t n_running = 0, n_runs = 0;
    for (size_t i = 0; i < n; i++)
      if (results[i].reason == CLT_REASON_NONE && entries[i].standing != CLT_STANDING_BEATEN) indices[n_running++] = i;
    if (n_running == 0) break;
    rc = evaluator->time_again(state, indices, n_running, runs_in_turn(entries, results, n, policy->max_rounds - done),
                               turns, error);
    if (rc) break;
    for (size_t k = 0; k < n_running; k++) {
      if (turns[k].n_runs > n_runs) n_runs = turns[k].n_runs;
      if (rc == CLT_OK) rc = take_turn(&entries[indices[k]], &results[indices[k]], &turns[k], objective, error);
      clt_measurement_release(&turns[k]);
    }
    done += n_runs > 0 ? n_runs : 1;
    if (policy->max_total_s > 0 && clt_now_s() - begin_s > policy->max_total_s) break;
    if (rc == CLT_OK && done >= policy->min_rounds)
      rc = judge_entries(&decided, entries, results, n, objective != NULL, policy->tolerance, error);
  }
  free(indices);
  free(turns);
  return rc;
}

int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error) {
  entry *entries = clt_new_array(n, sizeof *entries);
  clt_measurement *results = clt_new_array(n, sizeof *results);
  int rc = entries && results ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = evaluator->keep(state, configs, n, results, error);
  if (rc) return free(entries), free(results), rc;
  rc = play_rounds(entries, results, n, evaluator, state, policy, error);
  for (size_t i = 0; i < n; i++) {
    entry *e = &entries[i];
    clt_measurement *m = &results[i];
    if (rc == CLT_OK && m->reason == CLT_REASON_NONE) {
      size_t kept = e->n_runs < CLT_MAX_RUNS ? e->n_runs : CLT_MAX_RUNS;
      if (kept) memcpy(m->runs_s, e->runs_s + e->n_runs - kept, kept * sizeof *m->runs_s);
      m->n_runs = kept;
      m->time_s = clt_median(e->runs_s, e->n_runs);
      m->energy_J = e->n_energies ? clt_median(e->energies_J, e->n_energies) : NAN;
    }
    if (rc == CLT_OK)
      out[i] = *m;
    else
      clt_measurement_release(m);
    free(e->runs_s);
    free(e->costs);
    free(e->energies_J);
  }
  free(entries);
  free(results);
  return rc;
}

int clt_verify_config(const clt_instance *instance, clt_config config, const clt_setting *settings, size_t n_settings,
                      clt_measurement *out, double *quality, clt_log_fn log, void *log_user, clt_error *error) {
  static const clt_setting one_worker[] = {{"workers", "1"}, {"prepare-ahead", "1"}}, one_build[] = {{"builds", "1"}};
  bool command = clt_problem_is_command(clt_instance_problem(instance));
  const clt_evaluator_type *evaluator = clt_evaluator_find(command ? "command" : "opencl");
  const clt_contest_policy once = {.min_rounds = 1, .max_rounds = 1};
  size_t n_all = command ? 1 : n_settings + 2;
  clt_setting *all = clt_new_array(n_all, sizeof *all);
  void *options = clt_new_array(1, evaluator->options_size), *state = clt_new_array(1, evaluator->state_size);
  clt_evaluator_setup setup = {.instance = instance,
                               .space = clt_instance_space(instance),
                               .quality = quality,
                               .log = log,
                               .log_user = log_user};
  clt_evaluator_limits limits;
  if (quality) *quality = NAN;
  int rc = all && options && state ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && command) all[0] = one_build[0];
  for (size_t i = 0; rc == CLT_OK && !command && i < n_all; i++)
    all[i] = i < n_settings ? settings[i] : one_worker[i - n_settings];
  if (rc == CLT_OK)
    rc = clt_options_parse(options, evaluator->options_size, evaluator->options, evaluator->n_options, all, n_all,
                           error);
  if (rc == CLT_OK) rc = evaluator->open(state, &setup, options, &limits, error);
  if (rc == CLT_OK) {
    rc = clt_contest_run(evaluator, state, &config, 1, &once, out, error);
    evaluator->close(state);
  }
  free(all);
  free(options);
  free(state);
  return rc;
}
