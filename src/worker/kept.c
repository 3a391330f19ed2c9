/* Finalists: prepared in all workers, verified on other data, kept there, and timed when the caller says so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "worker/pool.h"

#define FURTHER_SEED 2
#define PUMP_S 0.1           /* how long a request to stop may go unseen */
#define LONG_RUN_S 1.0       /* gains nothing from a warm-up */
#define SPARE_PREPARATIONS 3 /* beyond one, and one more for each other finalist that may take its worker along */

struct clt_kept {
  clt_config config;
  clt_pool_worker *worker;
  size_t slot;
  uint64_t generation; /* of the process that it is prepared in; 0: none */
  size_t n_preparations;
  bool wanted;                 /* by the call under way: prepared again where its worker is lost */
  bool verified;               /* on the other data, or that is impossible */
  clt_measurement measurement; /* of the preparation, or why it failed: then it is out */
  clt_measurement answer;      /* to the last request; config CLT_CONFIG_NONE: none */
};

/* Everything that waits does so here. */
static int pump_or_stop(clt_pool *pool, clt_error *error) {
  if (clt_stop_asked(pool->setup.evaluator.stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
  return clt_pool_pump(pool, PUMP_S, error);
}

static int await_requests(clt_pool *pool, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < pool->setup.n_workers; i++)
    while (rc == 0 && pool->workers[i].done) rc = pump_or_stop(pool, error);
  return rc;
}

static int await_lock(clt_pool *pool, clt_lock_state wanted, clt_error *error) {
  int rc = CLT_OK;
  while (rc == 0 && !clt_pool_lock(pool, wanted)) rc = pump_or_stop(pool, error);
  return rc;
}

static bool has_failed(const clt_kept *k) { return k->measurement.reason != CLT_REASON_NONE; }

static bool is_ready(const clt_kept *k) {
  return k->generation != 0 && k->generation == k->worker->generation && k->worker->process.alive;
}

static bool needs_preparing(const clt_kept *k) { return k->wanted && !has_failed(k) && !is_ready(k); }

/* --- requests --- */

static int note_answer(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_kept *k = worker->done_data;
  if (outcome->unheard) return CLT_OK; /* lost with its worker, to be prepared again */
  int rc = clt_pool_measurement(&k->answer, worker, k->config, outcome, error);
  if (rc == 0 && outcome->reply) pool->setbacks = 0;
  return rc;
}

static int send_request(clt_pool *pool, clt_kept *k, json_t *request, clt_phase phase, clt_load load,
                        clt_error *error) {
  clt_deadlines limits = clt_pool_deadlines(pool, 0);
  k->worker->done_data = k;
  clt_process_forget_output(&k->worker->process);
  return clt_pool_request(pool, k->worker, request, phase, &limits, load, note_answer, error);
}

/* Whether the last request was answered and nothing failed. What fails is out for good, and a tainted process is
 * replaced. */
static bool take_answer(clt_pool *pool, clt_kept *k, clt_measurement *out) {
  if (k->answer.config == CLT_CONFIG_NONE) return false;
  bool failed = k->answer.reason != CLT_REASON_NONE;
  if (failed) {
    k->answer.phases.build_s = k->measurement.phases.build_s;
    k->generation = 0;
    out = &k->measurement;
  }
  clt_measurement_release(out);
  *out = k->answer;
  clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
  if (failed && k->worker->process.alive && clt_pool_taints(out->reason)) clt_pool_replace(pool, k->worker);
  return !failed;
}

/* In waves: one of each worker's that are not prepared, side by side, until none is left. */
static int prepare_wanted(clt_pool *pool, clt_error *error) {
  for (;;) {
    bool any = false;
    for (size_t i = 0; i < pool->n_kept; i++) any = any || needs_preparing(&pool->kept[i]);
    if (!any) return CLT_OK;
    int rc = await_lock(pool, CLT_LOCK_SHARED, error);
    for (size_t i = 0; rc == 0 && i < pool->setup.n_workers;) {
      if (clt_pool_idle(&pool->workers[i])) {
        i++;
        continue;
      }
      rc = clt_pool_start_workers(pool, error);
      if (rc == 0) rc = pump_or_stop(pool, error);
      i = 0;
    }
    for (size_t i = 0; rc == 0 && i < pool->n_kept; i++) {
      clt_kept *k = &pool->kept[i];
      if (!needs_preparing(k) || !clt_pool_idle(k->worker)) continue;
      if (k->n_preparations++ >= pool->n_kept + SPARE_PREPARATIONS) {
        clt_measurement_fail(&k->measurement, CLT_REASON_RUN_CRASH,
                             "workers that had prepared it ended again and again");
        continue;
      }
      k->generation = 0;
      json_t *request = json_pack("{s:s, s:I, s:I, s:b}", "request", "prepare", "slot", (json_int_t)k->slot, "config",
                                  (json_int_t)k->config, "gate", 0);
      rc = send_request(pool, k, request, CLT_PHASE_BUILD, CLT_LOAD_NOISE, error);
    }
    if (rc == 0) rc = await_requests(pool, error);
    for (size_t i = 0; i < pool->n_kept; i++) {
      clt_kept *k = &pool->kept[i];
      uint64_t generation = k->worker->generation;
      if (take_answer(pool, k, &k->measurement)) k->generation = generation;
    }
    if (rc) return rc;
  }
}

/* Each process loads the other data once; the first one that does makes them. */
static int note_further(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_error why = {0};
  (void)error;
  if (outcome->reply && strcmp(clt_json_string(outcome->reply, "reply"), "ok") == 0) {
    worker->further_generation = worker->generation;
    pool->further_made = true;
    return CLT_OK;
  }
  if (outcome->reply) clt_message_to_error(outcome->reply, &why);
  clt_pool_log(pool, CLT_LOG_WARNING, "finalists cannot be verified on other data: %s",
               outcome->reply ? why.message : outcome->text);
  pool->further_failed = true;
  return CLT_OK;
}

static int verify_kept(clt_pool *pool, clt_error *error) {
  int rc = CLT_OK;
  pool->further_failed = false;
  for (size_t i = 0; rc == 0 && i < pool->n_kept; i++) {
    clt_kept *k = &pool->kept[i];
    while (rc == 0 && !has_failed(k) && !k->verified) {
      clt_measurement further;
      rc = prepare_wanted(pool, error);
      if (rc || has_failed(k) || !is_ready(k)) continue;
      if (pool->further_failed) {
        k->verified = true;
      } else if (k->worker->further_generation != k->worker->generation) {
        rc = clt_pool_request(pool, k->worker, clt_pool_data_request(pool, FURTHER_SEED, !pool->further_made),
                              CLT_PHASE_VERIFY, NULL, CLT_LOAD_NOISE, note_further, error);
        if (rc == 0) rc = await_requests(pool, error);
      } else {
        json_t *request =
            json_pack("{s:s, s:I, s:i}", "request", "verify", "slot", (json_int_t)k->slot, "seed", FURTHER_SEED);
        clt_measurement_init(&further, k->config);
        rc = send_request(pool, k, request, CLT_PHASE_VERIFY, CLT_LOAD_NOISE, error);
        if (rc == 0) rc = await_requests(pool, error);
        if (rc || !take_answer(pool, k, &further)) continue;
        k->verified = true;
        k->measurement.max_abs_error = fmax(k->measurement.max_abs_error, further.max_abs_error);
        k->measurement.phases.verify_s += further.phases.verify_s;
        clt_measurement_release(&further);
      }
    }
  }
  return rc;
}

/* --- keeping --- */

static void free_kept(clt_kept *kept, size_t n) {
  for (size_t i = 0; i < n; i++) {
    clt_measurement_release(&kept[i].measurement);
    clt_measurement_release(&kept[i].answer);
  }
  free(kept);
}

void clt_pool_give_up_kept(clt_pool *pool) {
  if (pool->n_kept == 0) return;
  for (size_t i = 0; i < pool->n_kept; i++) {
    clt_kept *k = &pool->kept[i];
    bool in_flight = k->worker->process.busy && (k->worker->done == note_answer || k->worker->done == note_further);
    if (in_flight || is_ready(k)) clt_pool_replace(pool, k->worker);
  }
  free_kept(pool->kept, pool->n_kept);
  pool->kept = NULL;
  pool->n_kept = 0;
  clt_pool_lock(pool, CLT_UNLOCKED);
}

/* The new list takes over what is kept already; the others get the places that are left, spread over the workers. */
static int replace_list(clt_pool *pool, const clt_config *configs, size_t n, clt_error *error) {
  size_t n_workers = pool->setup.n_workers, place = 0;
  clt_kept *list = clt_new_array(n, sizeof *list);
  bool *taken = clt_new_array(n_workers * CLT_WORKER_SLOTS, sizeof *taken);
  if (list == NULL || taken == NULL) return free(list), free(taken), clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    list[i] = (clt_kept){.config = configs[i]};
    clt_measurement_init(&list[i].measurement, configs[i]);
    clt_measurement_init(&list[i].answer, CLT_CONFIG_NONE);
    for (size_t k = 0; k < pool->n_kept; k++) {
      clt_kept *old = &pool->kept[k];
      if (old->config != configs[i] || has_failed(old)) continue;
      list[i] = *old;
      taken[old->slot * n_workers + (size_t)(old->worker - pool->workers)] = true;
      clt_measurement_init(&old->measurement, CLT_CONFIG_NONE);
      old->config = CLT_CONFIG_NONE;
    }
    list[i].wanted = true;
    list[i].n_preparations = 0;
  }
  for (size_t i = 0; i < n; i++) {
    if (list[i].worker) continue;
    while (taken[place]) place++;
    list[i].worker = &pool->workers[place % n_workers];
    list[i].slot = place++ / n_workers;
  }
  free(taken);
  free_kept(pool->kept, pool->n_kept);
  pool->kept = list;
  pool->n_kept = n;
  return CLT_OK;
}

int clt_pool_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  clt_pool *pool = state;
  if (pool->n_submitted > 0) return clt_fail(error, CLT_E_ARGUMENT, "finalists cannot be kept while others run");
  if (n > pool->setup.n_workers * CLT_WORKER_SLOTS)
    return clt_fail(error, CLT_E_ARGUMENT, "%zu finalists are more than the %zu that can be kept", n,
                    pool->setup.n_workers * CLT_WORKER_SLOTS);
  if (n == 0) return clt_pool_give_up_kept(pool), CLT_OK;
  int rc = replace_list(pool, configs, n, error);
  if (rc) return rc;
  rc = prepare_wanted(pool, error);
  if (rc == 0) rc = verify_kept(pool, error);
  size_t n_copied = 0;
  while (rc == 0 && n_copied < n &&
         (rc = clt_measurement_copy(&out[n_copied], &pool->kept[n_copied].measurement, error)) == 0)
    n_copied++;
  while (rc && n_copied > 0) clt_measurement_release(&out[--n_copied]);
  if (rc) clt_pool_give_up_kept(pool);
  clt_pool_lock(pool, CLT_UNLOCKED);
  return rc;
}

static int time_kept(clt_pool *pool, clt_kept *k, size_t n_runs, clt_measurement *out, clt_error *error) {
  clt_timing_policy turn = {.min_runs = (unsigned)n_runs,
                            .max_runs = (unsigned)n_runs,
                            .max_total_s = LONG_RUN_S,
                            .warm_up = true,
                            .energy_s = pool->setup.timing.energy_s};
  while (!has_failed(k)) {
    int rc = prepare_wanted(pool, error);
    if (rc == 0) rc = await_lock(pool, CLT_LOCK_EXCLUSIVE, error);
    if (rc) return rc;
    if (has_failed(k) || !is_ready(k)) continue;
    json_t *request = json_pack("{s:s, s:I, s:b, s:o}", "request", "time", "slot", (json_int_t)k->slot, "keep", 1,
                                "timing", clt_message_from_timing(&turn));
    rc = send_request(pool, k, request, CLT_PHASE_VERIFY, CLT_LOAD_TIMING, error);
    if (rc == 0) rc = await_requests(pool, error);
    if (rc) return rc;
    clt_measurement *m = &k->answer;
    if (m->config != CLT_CONFIG_NONE && m->reason == CLT_REASON_NONE && m->n_runs == 0)
      clt_measurement_fail(m, CLT_REASON_UNKNOWN, "it was not timed");
    clt_measurement_init(out, k->config);
    if (take_answer(pool, k, out)) return CLT_OK;
  }
  return clt_measurement_copy(out, &k->measurement, error);
}

int clt_pool_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                        clt_error *error) {
  clt_pool *pool = state;
  size_t n_timed = 0;
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++)
    if (indices[i] >= pool->n_kept) return clt_fail(error, CLT_E_ARGUMENT, "finalist %zu is not kept", indices[i]);
  for (size_t i = 0; i < pool->n_kept; i++) pool->kept[i].wanted = false;
  for (size_t i = 0; i < n; i++) pool->kept[indices[i]].wanted = true;
  while (rc == 0 && n_timed < n &&
         (rc = time_kept(pool, &pool->kept[indices[n_timed]], n_runs, &out[n_timed], error)) == 0)
    n_timed++;
  while (rc && n_timed > 0) clt_measurement_release(&out[--n_timed]);
  if (rc) clt_pool_give_up_kept(pool);
  clt_pool_lock(pool, CLT_UNLOCKED);
  return rc;
}
