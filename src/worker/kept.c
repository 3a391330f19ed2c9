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
  bool pending;                /* a request of it is in flight */
  bool verified;               /* on the other data, or that is impossible */
  clt_measurement measurement; /* of the preparation, or why it failed: then it is out */
  clt_measurement answer;      /* to the last request; config CLT_CONFIG_NONE: none */
};

/* Everything that waits does so here. */
static int pump_or_stop(clt_pool *pool, clt_error *error) {
  if (clt_stop_asked(pool->setup.stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
  return clt_pool_pump(pool, PUMP_S, error);
}

static bool has_failed(const clt_kept *k) { return k->measurement.reason != CLT_REASON_NONE; }

static bool is_ready(const clt_kept *k) {
  return k->generation != 0 && k->generation == k->worker->generation && k->worker->process.alive;
}

static bool needs_preparing(const clt_kept *k) { return k->wanted && !has_failed(k) && !k->pending && !is_ready(k); }

/* Takes the answer's place for good; a tainted process is replaced. */
static void put_out(clt_pool *pool, clt_kept *k) {
  k->answer.phases.build_s = k->measurement.phases.build_s;
  clt_measurement_release(&k->measurement);
  k->measurement = k->answer;
  clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
  k->generation = 0;
  if (k->worker->process.alive && clt_pool_taints(k->measurement.reason)) clt_pool_replace(pool, k->worker);
}

static int note_answer(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_kept *k = worker->done_data;
  k->pending = false;
  if (outcome->unheard) return CLT_OK; /* lost with its worker, to be prepared again */
  int rc = clt_pool_measurement(&k->answer, worker, k->config, outcome, error);
  if (rc) return rc;
  if (outcome->reply) pool->setbacks = 0;
  return CLT_OK;
}

static int send_request(clt_pool *pool, clt_kept *k, json_t *request, clt_worker_phase phase, clt_load load,
                        clt_error *error) {
  clt_deadlines limits = clt_pool_deadlines(pool, 0);
  k->pending = true;
  k->worker->done_data = k;
  clt_process_forget_output(&k->worker->process);
  return clt_pool_request(k->worker, request, phase, &limits, load, note_answer, error);
}

static int await_answers(clt_pool *pool, clt_error *error) {
  for (size_t i = 0; i < pool->n_kept;) {
    int rc = pool->kept[i].pending ? pump_or_stop(pool, error) : CLT_OK;
    if (rc) return rc;
    i += !pool->kept[i].pending;
  }
  return CLT_OK;
}

static int await_lock(clt_pool *pool, clt_lock_state wanted, clt_error *error) {
  int rc = CLT_OK;
  while (rc == 0 && !clt_pool_lock(pool, wanted)) rc = pump_or_stop(pool, error);
  return rc;
}

static int bring_workers_up(clt_pool *pool, clt_error *error) {
  for (size_t i = 0; i < pool->setup.n_workers;) {
    if (clt_pool_idle(&pool->workers[i])) {
      i++;
      continue;
    }
    int rc = clt_pool_start_workers(pool, error);
    if (rc == 0) rc = pump_or_stop(pool, error);
    if (rc) return rc;
    i = 0;
  }
  return CLT_OK;
}

/* In waves: one of each worker's that are not prepared, side by side, until none is left. */
static int prepare_wanted(clt_pool *pool, clt_error *error) {
  int rc = await_lock(pool, CLT_LOCK_SHARED, error);
  for (bool any = true; rc == 0 && any;) {
    any = false;
    rc = bring_workers_up(pool, error);
    for (size_t i = 0; rc == 0 && i < pool->n_kept; i++) {
      clt_kept *k = &pool->kept[i];
      if (!needs_preparing(k) || !clt_pool_idle(k->worker)) continue;
      if (k->n_preparations++ >= pool->n_kept + SPARE_PREPARATIONS) {
        clt_measurement_fail(&k->measurement, CLT_REASON_RUN_CRASH,
                             "workers that had prepared it ended again and again");
        continue;
      }
      k->generation = 0;
      rc = send_request(pool, k,
                        json_pack("{s:s, s:I, s:I, s:b}", "request", "prepare", "slot", (json_int_t)k->slot, "config",
                                  (json_int_t)k->config, "gate", 0),
                        CLT_AT_BUILD, CLT_LOAD_NOISE, error);
      any = true;
    }
    if (rc == 0) rc = await_answers(pool, error);
    for (size_t i = 0; i < pool->n_kept; i++) {
      clt_kept *k = &pool->kept[i];
      if (k->answer.config == CLT_CONFIG_NONE) continue;
      if (k->answer.reason != CLT_REASON_NONE) {
        put_out(pool, k);
        continue;
      }
      clt_measurement_release(&k->measurement);
      k->measurement = k->answer;
      k->generation = k->worker->generation;
      clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
    }
  }
  return rc;
}

static bool any_needs_preparing(const clt_pool *pool) {
  for (size_t i = 0; i < pool->n_kept; i++)
    if (needs_preparing(&pool->kept[i])) return true;
  return false;
}

/* --- on other data --- */

typedef struct data_call {
  bool pending, failed;
} data_call;

static int note_data(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  data_call *call = worker->done_data;
  clt_error why = {0};
  (void)error;
  call->pending = false;
  call->failed = outcome->reply == NULL || strcmp(clt_json_string(outcome->reply, "reply"), "ok") != 0;
  if (!call->failed) return CLT_OK;
  if (outcome->reply) clt_message_to_error(outcome->reply, &why);
  clt_pool_log(pool, CLT_LOG_WARNING, "finalists cannot be verified on other data: %s",
               outcome->reply ? why.message : outcome->text);
  return CLT_OK;
}

/* Each process loads the data once; the first one that does makes them. */
static int load_further_data(clt_pool *pool, clt_pool_worker *worker, bool *loaded, clt_error *error) {
  data_call call = {.pending = true};
  double s = pool->setup.host_timeout_s;
  clt_deadlines limits = {s, s, s};
  *loaded = worker->further_generation == worker->generation;
  if (*loaded) return CLT_OK;
  worker->done_data = &call;
  int rc = clt_pool_request(worker, clt_pool_data_request(pool, FURTHER_SEED, !pool->further_made), CLT_AT_VERIFY,
                            &limits, CLT_LOAD_NOISE, note_data, error);
  while (rc == 0 && call.pending) rc = pump_or_stop(pool, error);
  *loaded = rc == 0 && !call.failed;
  if (!*loaded) return rc;
  pool->further_made = true;
  worker->further_generation = worker->generation;
  return CLT_OK;
}

static int verify_kept(clt_pool *pool, clt_error *error) {
  bool possible = true;
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < pool->n_kept; i++) {
    clt_kept *k = &pool->kept[i];
    while (rc == 0 && !has_failed(k) && !k->verified) {
      if (any_needs_preparing(pool)) rc = prepare_wanted(pool, error);
      if (rc || has_failed(k) || !is_ready(k)) continue;
      if (possible) rc = load_further_data(pool, k->worker, &possible, error);
      if (rc || !possible) {
        k->verified = true;
        continue;
      }
      json_t *request =
          json_pack("{s:s, s:I, s:i}", "request", "verify", "slot", (json_int_t)k->slot, "seed", FURTHER_SEED);
      rc = send_request(pool, k, request, CLT_AT_VERIFY, CLT_LOAD_NOISE, error);
      if (rc == 0) rc = await_answers(pool, error);
      if (rc || k->answer.config == CLT_CONFIG_NONE) continue;
      if (k->answer.reason != CLT_REASON_NONE) {
        put_out(pool, k);
        continue;
      }
      k->verified = true;
      k->measurement.max_abs_error = fmax(k->measurement.max_abs_error, k->answer.max_abs_error);
      k->measurement.phases.verify_s += k->answer.phases.verify_s;
      clt_measurement_release(&k->answer);
      clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
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
    bool in_flight = k->worker->process.busy && (k->worker->done == note_answer || k->worker->done == note_data);
    if (in_flight || is_ready(k)) clt_pool_replace(pool, k->worker);
  }
  free_kept(pool->kept, pool->n_kept);
  pool->kept = NULL;
  pool->n_kept = 0;
  clt_pool_lock(pool, CLT_UNLOCKED);
}

static bool is_slot_taken(const clt_kept *kept, size_t n, const clt_pool_worker *worker, size_t slot) {
  for (size_t i = 0; i < n; i++)
    if (kept[i].worker == worker && kept[i].slot == slot) return true;
  return false;
}

/* The new list takes over what is kept already; the others get the places that are left, spread over the workers. */
static int replace_list(clt_pool *pool, const clt_config *configs, size_t n, clt_error *error) {
  clt_kept *list = clt_new_array(n, sizeof *list);
  if (list == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    list[i] = (clt_kept){.config = configs[i], .wanted = true};
    clt_measurement_init(&list[i].measurement, configs[i]);
    clt_measurement_init(&list[i].answer, CLT_CONFIG_NONE);
    for (size_t k = 0; k < pool->n_kept; k++) {
      clt_kept *old = &pool->kept[k];
      if (old->config != configs[i] || has_failed(old)) continue;
      list[i] = *old;
      list[i].wanted = true;
      list[i].n_preparations = 0;
      clt_measurement_init(&old->measurement, CLT_CONFIG_NONE);
      old->config = CLT_CONFIG_NONE;
    }
  }
  for (size_t i = 0, place = 0; i < n; i++) {
    while (list[i].worker == NULL) {
      clt_pool_worker *worker = &pool->workers[place % pool->setup.n_workers];
      size_t slot = place++ / pool->setup.n_workers;
      if (is_slot_taken(list, n, worker, slot)) continue;
      list[i].worker = worker;
      list[i].slot = slot;
    }
  }
  free_kept(pool->kept, pool->n_kept);
  pool->kept = list;
  pool->n_kept = n;
  return CLT_OK;
}

int clt_pool_keep(clt_pool *pool, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
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
  while (!has_failed(k) && k->answer.config == CLT_CONFIG_NONE) {
    int rc = any_needs_preparing(pool) ? prepare_wanted(pool, error) : CLT_OK;
    if (rc == 0) rc = await_lock(pool, CLT_LOCK_EXCLUSIVE, error);
    if (rc) return rc;
    if (has_failed(k) || !is_ready(k)) continue;
    json_t *request = json_pack("{s:s, s:I, s:b, s:o}", "request", "time", "slot", (json_int_t)k->slot, "keep", 1,
                                "timing", clt_message_from_timing(&turn));
    rc = send_request(pool, k, request, CLT_AT_VERIFY, CLT_LOAD_TIMING, error);
    if (rc == 0) rc = await_answers(pool, error);
    if (rc) return rc;
  }
  if (!has_failed(k) && k->answer.reason == CLT_REASON_NONE && k->answer.n_runs == 0)
    clt_measurement_fail(&k->answer, CLT_REASON_UNKNOWN, "it was not timed");
  if (!has_failed(k) && k->answer.reason != CLT_REASON_NONE) put_out(pool, k);
  if (has_failed(k)) return clt_measurement_copy(out, &k->measurement, error);
  *out = k->answer;
  clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
  return CLT_OK;
}

int clt_pool_time_again(clt_pool *pool, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                        clt_error *error) {
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
