/* Finalists: prepared in all workers, run in interleaved rounds, then verified on other data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "clatune/sys/evaluator.h"
#include "worker/pool.h"
#include "eval/rounds.h"

#define FURTHER_SEED 2
#define PUMP_S 0.1  /* how long a request to stop may go unseen */
#define TURN_S 1e-3 /* short runs are repeated so long before it is another's turn */
#define MOST_IN_A_TURN 8
#define LONG_RUN_S 1.0       /* gains nothing from a warm-up */
#define SPARE_PREPARATIONS 3 /* beyond one, and one more for each other finalist that may take its worker along */

typedef struct finalist {
  clt_config config;
  clt_pool_worker *worker;
  size_t slot;
  uint64_t generation; /* of the process that it is prepared in; 0: none */
  size_t preparations;
  bool pending, failed, verified;
  clt_measurement *result; /* the caller's */
  clt_measurement answer;  /* of the last request */
  double *runs_s;
  size_t n_runs, runs_capacity;
  double *costs; /* by another objective than time: of each run, or of each turn where its energy was measured */
  size_t n_costs, costs_capacity;
  double *energies_J; /* of the turns, where it is measured */
  size_t n_energies, energies_capacity;
  bool beaten; /* does not run at present */
} finalist;

typedef struct contest {
  clt_pool *pool;
  const clt_compare_policy *policy;
  finalist *finalists;
  size_t n;
} contest;

/* Everything that waits does so here. */
static int pump(contest *c, clt_error *error) {
  if (clt_stop_asked(c->policy->stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
  return clt_pool_pump(c->pool, PUMP_S, error);
}

/* --- requests --- */

static int answered(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  finalist *f = worker->done_data;
  f->pending = false;
  if (outcome->unheard) return CLT_OK; /* lost with its worker, to be prepared again */
  int rc = clt_pool_measurement(&f->answer, f->config, outcome, error);
  if (rc) return rc;
  if (outcome->reply) pool->setbacks = 0;
  if (outcome->reply) clt_pool_attach_output(worker, &f->answer);
  return CLT_OK;
}

static int ask(contest *c, finalist *f, json_t *request, clt_worker_phase phase, clt_load load, clt_error *error) {
  clt_deadlines limits = clt_pool_deadlines(c->pool, 0);
  f->pending = true;
  f->worker->done_data = f;
  clt_process_forget_output(&f->worker->link.process);
  return clt_pool_request(c->pool, f->worker, request, phase, &limits, load, answered, error);
}

static bool any_pending(const contest *c) {
  for (size_t i = 0; i < c->n; i++)
    if (c->finalists[i].pending) return true;
  return false;
}

static int await_answers(contest *c, clt_error *error) {
  int rc = CLT_OK;
  while (rc == 0 && any_pending(c)) rc = pump(c, error);
  return rc;
}

/* What went wrong for good: the finalist is out, and a tainted process is replaced. */
static void take_failure(contest *c, finalist *f) {
  clt_measurement failed = f->answer;
  failed.phases.build_s = f->result->phases.build_s;
  clt_measurement_release(f->result);
  *f->result = failed;
  f->failed = true;
  f->generation = 0;
  if (f->worker->link.alive && clt_pool_taints(failed.reason)) clt_pool_replace(c->pool, f->worker);
}

/* --- preparing --- */

static int await_lock(contest *c, clt_lock_state wanted, clt_error *error) {
  int rc = CLT_OK;
  while (rc == 0 && !clt_pool_lock(c->pool, wanted)) rc = pump(c, error);
  return rc;
}

static bool all_up(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    if (!clt_pool_idle(&pool->workers[i])) return false;
  return true;
}

static int bring_up(contest *c, clt_error *error) {
  int rc = CLT_OK;
  while (rc == 0 && !all_up(c->pool)) {
    rc = clt_pool_start_workers(c->pool, error);
    if (rc == 0) rc = pump(c, error);
  }
  return rc;
}

static bool is_prepared(const finalist *f) {
  return f->generation != 0 && f->generation == f->worker->generation && f->worker->link.alive;
}

static bool is_lost(const finalist *f) { return !f->failed && !f->pending && !is_prepared(f); }

static int prepare_one(contest *c, finalist *f, clt_error *error) {
  json_t *request = json_pack("{s:s, s:I, s:I, s:b}", "request", "prepare", "slot", (json_int_t)f->slot, "config",
                              (json_int_t)f->config, "gate", 0);
  f->generation = 0;
  return ask(c, f, request, CLT_AT_BUILD, CLT_LOAD_NOISE, error);
}

static void give_up(finalist *f) {
  clt_measurement_fail(f->result, CLT_REASON_RUN_CRASH, "workers that had prepared it ended again and again");
  f->failed = true;
}

/* One of each worker's finalists that are not prepared. */
static int prepare_wave(contest *c, size_t *n_begun, clt_error *error) {
  int rc = CLT_OK;
  *n_begun = 0;
  for (size_t i = 0; rc == 0 && i < c->n; i++) {
    finalist *f = &c->finalists[i];
    if (!is_lost(f) || !clt_pool_idle(f->worker)) continue;
    if (f->preparations++ >= c->n + SPARE_PREPARATIONS) {
      give_up(f);
      continue;
    }
    rc = prepare_one(c, f, error);
    ++*n_begun;
  }
  return rc;
}

static void take_prepared(contest *c) {
  for (size_t i = 0; i < c->n; i++) {
    finalist *f = &c->finalists[i];
    if (f->answer.config == CLT_CONFIG_NONE) continue;
    if (f->answer.reason != CLT_REASON_NONE) {
      take_failure(c, f);
    } else {
      clt_measurement_release(f->result);
      *f->result = f->answer;
      f->generation = f->worker->generation;
    }
    clt_measurement_init(&f->answer, CLT_CONFIG_NONE);
  }
}

static int prepare_all(contest *c, clt_error *error) {
  size_t n_begun = 1;
  int rc = await_lock(c, CLT_LOCK_SHARED, error);
  while (rc == 0 && n_begun > 0) {
    rc = bring_up(c, error);
    if (rc == 0) rc = prepare_wave(c, &n_begun, error);
    if (rc == 0) rc = await_answers(c, error);
    take_prepared(c);
  }
  return rc;
}

static bool any_lost(const contest *c) {
  for (size_t i = 0; i < c->n; i++)
    if (is_lost(&c->finalists[i])) return true;
  return false;
}

/* --- rounds --- */

/* What is compared in the place of runs; NULL: the runs. */
static const clt_objective *objective_of(const contest *c) {
  const clt_objective *o = c->policy->objective;
  return o && !clt_objective_ranks_by_time(o) ? o : NULL;
}

static int keep_costs(const contest *c, finalist *f, clt_error *error) {
  const clt_measurement *m = &f->answer;
  const clt_objective *o = objective_of(c);
  bool per_turn = o && clt_objective_needs_energy(o);
  size_t n = o == NULL ? 0 : per_turn ? 1 : m->n_runs;
  if (clt_grow(&f->costs, &f->costs_capacity, f->n_costs + n, sizeof *f->costs) ||
      clt_grow(&f->energies_J, &f->energies_capacity, f->n_energies + 1, sizeof *f->energies_J))
    return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    double time_s = per_turn ? clt_median(m->runs_s, m->n_runs) : m->runs_s[i];
    f->costs[f->n_costs++] = clt_objective_cost_of(o, f->config, time_s, m->energy_J);
  }
  if (m->energy_J > 0) f->energies_J[f->n_energies++] = m->energy_J;
  return CLT_OK;
}

static int keep_runs(finalist *f, clt_error *error) {
  const clt_measurement *m = &f->answer;
  if (clt_grow(&f->runs_s, &f->runs_capacity, f->n_runs + m->n_runs, sizeof *f->runs_s)) return clt_fail_memory(error);
  for (size_t i = 0; i < m->n_runs; i++) f->runs_s[f->n_runs++] = m->runs_s[i];
  f->result->clock = m->clock;
  f->result->phases.runs_s += m->phases.runs_s;
  return CLT_OK;
}

static int take_turn(contest *c, finalist *f, size_t n_runs, clt_error *error) {
  clt_worker_timing turn = {.min_runs = (int)n_runs,
                            .max_runs = (int)n_runs,
                            .max_total_s = LONG_RUN_S,
                            .warm_up = true,
                            .energy_s = c->pool->setup.timing.energy_s};
  json_t *request = json_pack("{s:s, s:I, s:b, s:o}", "request", "time", "slot", (json_int_t)f->slot, "keep", 1,
                              "timing", clt_message_from_timing(&turn));
  int rc = ask(c, f, request, CLT_AT_VERIFY, CLT_LOAD_TIMING, error);
  if (rc == 0) rc = await_answers(c, error);
  if (rc || f->answer.config == CLT_CONFIG_NONE) return rc;
  if (f->answer.reason != CLT_REASON_NONE || f->answer.n_runs < 1) {
    if (f->answer.reason == CLT_REASON_NONE) clt_measurement_fail(&f->answer, CLT_REASON_UNKNOWN, "it was not timed");
    take_failure(c, f);
  } else {
    rc = keep_runs(f, error);
    if (rc == 0) rc = keep_costs(c, f, error);
    clt_measurement_release(&f->answer);
  }
  clt_measurement_init(&f->answer, CLT_CONFIG_NONE);
  return rc;
}

/* A finalist that was lost with its worker is prepared again, as often as it takes (prepare_wave gives up). */
static int run_in_round(contest *c, finalist *f, size_t n_runs, clt_error *error) {
  int rc = CLT_OK;
  size_t wanted = f->n_runs + n_runs;
  while (rc == 0 && !f->failed && f->n_runs < wanted) {
    if (any_lost(c)) rc = prepare_all(c, error);
    if (rc == 0) rc = await_lock(c, CLT_LOCK_EXCLUSIVE, error);
    if (rc == 0 && !f->failed && is_prepared(f)) rc = take_turn(c, f, wanted - f->n_runs, error);
  }
  return rc;
}

static int run_round(contest *c, size_t n_runs, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < c->n; i++)
    if (!c->finalists[i].beaten) rc = run_in_round(c, &c->finalists[i], n_runs, error);
  clt_pool_lock(c->pool, CLT_UNLOCKED);
  return rc;
}

/* The runs of a turn: one, unless that is so short that asking for it takes longer. */
static size_t runs_in_turn(const contest *c, size_t most) {
  double least_s = INFINITY;
  for (size_t i = 0; i < c->n; i++) {
    const finalist *f = &c->finalists[i];
    if (!f->failed && f->n_runs > 0) least_s = fmin(least_s, clt_median(f->runs_s, f->n_runs));
  }
  size_t n = isfinite(least_s) && least_s < TURN_S / 2 ? (size_t)fmin(TURN_S / least_s, MOST_IN_A_TURN) : 1;
  return n < most ? n : most;
}

static clt_contender contender_of(const contest *c, const finalist *f) {
  if (f->failed) return (clt_contender){NULL, 0};
  if (objective_of(c) == NULL) return (clt_contender){f->runs_s, f->n_runs};
  bool has_value = !isnan(clt_median(f->costs, f->n_costs));
  return (clt_contender){has_value ? f->costs : NULL, f->n_costs};
}

/* Who is beaten is judged anew each time: the leader may change, and with it who is behind. */
static bool decided(contest *c, double tolerance) {
  clt_contender *contenders = clt_new_array(c->n, sizeof *contenders);
  clt_standing *standings = clt_new_array(c->n, sizeof *standings);
  bool yes = false;
  for (size_t i = 0; contenders && standings && i < c->n; i++) {
    const finalist *f = &c->finalists[i];
    contenders[i] = contender_of(c, f);
  }
  if (contenders && standings) {
    yes = clt_rounds_judge(contenders, c->n, tolerance, standings);
    for (size_t i = 0; i < c->n; i++) c->finalists[i].beaten = standings[i] == CLT_STANDING_BEATEN;
  }
  free(contenders);
  free(standings);
  return yes;
}

/* One round is enough for a median, so the time limit goes before min_rounds. */
static int run_rounds(contest *c, clt_error *error) {
  const clt_compare_policy *policy = c->policy;
  size_t least = policy->min_rounds < 1 ? 1 : policy->min_rounds;
  double begin_s = clt_now_s();
  for (size_t done = 0; done < policy->max_rounds;) {
    size_t n_runs = runs_in_turn(c, policy->max_rounds - done);
    int rc = run_round(c, n_runs, error);
    if (rc) return rc;
    done += n_runs;
    if (policy->max_total_s > 0 && clt_now_s() - begin_s > policy->max_total_s) break;
    if (done >= least && decided(c, policy->tolerance)) break;
  }
  return CLT_OK;
}

static void take_runs(finalist *f) {
  if (f->failed) return;
  clt_rounds_take(f->result, f->runs_s, f->n_runs);
  f->result->energy_J = f->n_energies ? clt_median(f->energies_J, f->n_energies) : NAN;
}

/* --- other data --- */

typedef struct data_call {
  bool pending, failed;
} data_call;

static int data_answered(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  data_call *call = worker->done_data;
  clt_error why = {0};
  (void)error;
  call->pending = false;
  call->failed = outcome->reply == NULL || strcmp(clt_message_string(outcome->reply, "reply"), "ok") != 0;
  if (!call->failed) return CLT_OK;
  if (outcome->reply) clt_message_to_error(outcome->reply, &why);
  clt_pool_log(pool, CLT_LOG_WARNING, "finalists cannot be verified on other data: %s",
               outcome->reply ? why.message : outcome->text);
  return CLT_OK;
}

static int load_further(contest *c, clt_pool_worker *worker, bool make, bool *loaded, clt_error *error) {
  data_call call = {.pending = true};
  double s = c->pool->setup.host_timeout_s;
  clt_deadlines limits = {s, s, s};
  worker->done_data = &call;
  int rc = clt_pool_request(c->pool, worker, clt_pool_data_request(c->pool, FURTHER_SEED, make), CLT_AT_VERIFY, &limits,
                            CLT_LOAD_NOISE, data_answered, error);
  while (rc == 0 && call.pending) rc = pump(c, error);
  *loaded = rc == 0 && !call.failed;
  return rc;
}

static int verify_one(contest *c, finalist *f, clt_error *error) {
  json_t *request =
      json_pack("{s:s, s:I, s:i}", "request", "verify", "slot", (json_int_t)f->slot, "seed", FURTHER_SEED);
  int rc = ask(c, f, request, CLT_AT_VERIFY, CLT_LOAD_NOISE, error);
  if (rc == 0) rc = await_answers(c, error);
  if (rc || f->answer.config == CLT_CONFIG_NONE) return rc;
  if (f->answer.reason != CLT_REASON_NONE) {
    take_failure(c, f);
  } else {
    f->verified = true;
    f->result->max_abs_error = fmax(f->result->max_abs_error, f->answer.max_abs_error);
    f->result->phases.verify_s += f->answer.phases.verify_s;
    clt_measurement_release(&f->answer);
  }
  clt_measurement_init(&f->answer, CLT_CONFIG_NONE);
  return CLT_OK;
}

/* What the processes of the workers have: 0 nothing, else the generation that has loaded the data. */
typedef struct further {
  bool made, impossible;
  uint64_t loaded_by[CLT_POOL_MAX_WORKERS];
} further;

static int verify_loaded(contest *c, finalist *f, further *data, clt_error *error) {
  uint64_t *loaded = &data->loaded_by[f->worker - c->pool->workers];
  bool good = true;
  int rc = CLT_OK;
  if (*loaded != f->worker->generation) rc = load_further(c, f->worker, !data->made, &good, error);
  data->impossible = !good;
  if (rc || !good) return rc;
  data->made = true;
  *loaded = f->worker->generation;
  return verify_one(c, f, error);
}

static int verify_further(contest *c, clt_error *error) {
  further data = {.made = false};
  int rc = await_lock(c, CLT_LOCK_SHARED, error);
  for (size_t i = 0; rc == 0 && i < c->n; i++) {
    finalist *f = &c->finalists[i];
    while (rc == 0 && !f->failed && !f->verified && !data.impossible) {
      if (any_lost(c)) rc = prepare_all(c, error);
      if (rc == 0 && !f->failed && is_prepared(f)) rc = verify_loaded(c, f, &data, error);
    }
  }
  return rc;
}

/* --- the whole --- */

/* A request of ours that is in flight, after a stop or an error, points to what is about to be freed. */
static bool is_ours(const clt_pool_worker *worker) {
  return worker->link.busy && (worker->done == answered || worker->done == data_answered);
}

static void release(contest *c) {
  for (size_t i = 0; i < c->pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &c->pool->workers[i];
    bool used = is_ours(worker);
    for (size_t k = 0; k < c->n; k++)
      used = used || (c->finalists[k].worker == worker && is_prepared(&c->finalists[k]));
    if (used) clt_pool_replace(c->pool, worker);
  }
  for (size_t i = 0; i < c->n; i++) {
    clt_measurement_release(&c->finalists[i].answer);
    free(c->finalists[i].runs_s);
    free(c->finalists[i].costs);
    free(c->finalists[i].energies_J);
  }
  clt_pool_lock(c->pool, CLT_UNLOCKED);
  free(c->finalists);
}

static void begin(contest *c, const clt_config *configs, clt_measurement *out) {
  for (size_t i = 0; i < c->n; i++) {
    finalist *f = &c->finalists[i];
    clt_measurement_init(&out[i], configs[i]);
    clt_measurement_init(&f->answer, CLT_CONFIG_NONE);
    f->config = configs[i];
    f->result = &out[i];
    f->worker = &c->pool->workers[i % c->pool->setup.n_workers];
    f->slot = i / c->pool->setup.n_workers;
  }
}

int clt_pool_compare(clt_pool *pool, const clt_config *configs, size_t n, const clt_compare_policy *policy,
                     clt_measurement *out, clt_error *error) {
  if (pool->n_submitted > 0) return clt_fail(error, CLT_E_ARGUMENT, "finalists cannot be compared while others run");
  if (n > pool->setup.n_workers * CLT_WORKER_SLOTS)
    return clt_fail(error, CLT_E_ARGUMENT, "%zu finalists are more than the %zu that can be kept", n,
                    pool->setup.n_workers * CLT_WORKER_SLOTS);
  contest c = {.pool = pool, .policy = policy, .finalists = clt_new_array(n, sizeof(finalist)), .n = n};
  clt_measurement *results = clt_new_array(n, sizeof *results);
  int rc = c.finalists && results ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  begin(&c, configs, results);
  rc = prepare_all(&c, error);
  if (rc == 0) rc = run_rounds(&c, error);
  for (size_t i = 0; i < n; i++) take_runs(&c.finalists[i]);
  if (rc == 0) rc = verify_further(&c, error);
  if (rc == 0) memcpy(out, results, n * sizeof *out);
  for (size_t i = 0; rc && i < n; i++) clt_measurement_release(&results[i]);
  release(&c);
  c.finalists = NULL;
done:
  free(c.finalists);
  free(results);
  return rc;
}
