#include <math.h>

#include "base/clock.h"
#include "base/fail.h"
#include "worker/pool.h"

#define LAUNCH_GRACE_S 5.0 /* to launch in, however long its leave took to come */

bool clt_pool_idle(const clt_pool_worker *worker) { return worker->stage == CLT_STAGE_UP && !worker->link.busy; }

static bool any_load(const clt_pool *pool, clt_load load) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    if (pool->workers[i].link.busy && pool->workers[i].load == load) return true;
  return false;
}

bool clt_pool_noisy(const clt_pool *pool) { return any_load(pool, CLT_LOAD_NOISE); }
bool clt_pool_times(const clt_pool *pool) { return any_load(pool, CLT_LOAD_TIMING); }

static clt_slot *find_slot(clt_pool_worker *worker, size_t n, clt_slot_state state) {
  for (size_t i = 0; i < n; i++)
    if (worker->slots[i].state == state) return &worker->slots[i];
  return NULL;
}

/* --- preparing --- */

static int prepare(clt_pool *pool, clt_pool_worker *worker, clt_slot *slot, clt_error *error) {
  clt_job job = pool->queue[0];
  pool->n_queue--;
  for (size_t i = 0; i < pool->n_queue; i++) pool->queue[i] = pool->queue[i + 1];
  slot->state = CLT_SLOT_BUSY;
  slot->job = job;
  clt_measurement_init(&slot->job.measurement, job.config);
  worker->slot = (size_t)(slot - worker->slots);
  clt_process_forget_output(&worker->link.process);
  clt_deadlines limits = clt_pool_deadlines(pool, job.best_s);
  json_t *request = json_pack("{s:s, s:I, s:I, s:b}", "request", "prepare", "slot", (json_int_t)worker->slot, "config",
                              (json_int_t)job.config, "gate", !pool->setup.quiet_builds);
  return clt_pool_request(pool, worker, request, CLT_AT_BUILD, &limits,
                          pool->setup.quiet_builds ? CLT_LOAD_NOISE : CLT_LOAD_NONE, clt_pool_prepared, error);
}

/* What was lost before, with nothing else to blame, is prepared alone: then it is known whose fault it is. */
static bool may_join(const clt_pool_worker *worker, const clt_job *job) {
  for (size_t i = 0; i < CLT_POOL_MAX_SLOTS; i++) {
    const clt_slot *other = &worker->slots[i];
    if (other->state == CLT_SLOT_READY && (job->attempts > 0 || other->job.attempts > 0)) return false;
  }
  return true;
}

static int prepare_more(clt_pool *pool, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && pool->n_queue > 0 && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (!clt_pool_idle(worker) || !may_join(worker, &pool->queue[0])) continue;
    clt_slot *slot = find_slot(worker, pool->n_slots, CLT_SLOT_EMPTY);
    if (slot) rc = prepare(pool, worker, slot, error);
  }
  return rc;
}

/* --- launching, where compiling alone disturbs nobody --- */

/* Before the clock is looked at: who waits at the gate while the caller is away is not compiling. */
void clt_pool_note_phase(clt_pool_worker *worker) {
  bool gated = worker->done == clt_pool_prepared && worker->load == CLT_LOAD_NONE;
  if (!gated || worker->link.phase != CLT_AT_LAUNCH) return;
  clt_link_pause(&worker->link);
  worker->at_gate = true;
}

static void let_launch(clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (!worker->at_gate) continue;
    if (pool->timing || !clt_pool_lock(pool, CLT_LOCK_SHARED)) continue;
    worker->at_gate = false;
    worker->load = CLT_LOAD_NOISE;
    clt_link_resume(&worker->link, fmin(LAUNCH_GRACE_S, pool->setup.compile_timeout_s));
    clt_link_tell(&worker->link, json_pack("{s:s}", "request", "go"), NULL);
  }
}

/* --- timing --- */

/* A worker that could time something at once; a busy one's prepared configurations have to wait for it. */
static clt_pool_worker *find_ready(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (clt_pool_idle(worker) && find_slot(worker, CLT_POOL_MAX_SLOTS, CLT_SLOT_READY)) return worker;
  }
  return NULL;
}

static int time_one(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  clt_slot *slot = find_slot(worker, CLT_POOL_MAX_SLOTS, CLT_SLOT_READY);
  clt_worker_timing timing = pool->setup.timing;
  timing.best_s = timing.abandon_factor > 0 ? slot->job.best_s : 0;
  clt_deadlines limits = clt_pool_deadlines(pool, slot->job.best_s);
  slot->state = CLT_SLOT_BUSY;
  slot->job.measurement.phases.wait_s += clt_now_s() - slot->job.ready_s;
  worker->slot = (size_t)(slot - worker->slots);
  json_t *request = json_pack("{s:s, s:I, s:b, s:o}", "request", "time", "slot", (json_int_t)worker->slot, "keep", 0,
                              "timing", clt_message_from_timing(&timing));
  return clt_pool_request(pool, worker, request, CLT_AT_VERIFY, &limits, CLT_LOAD_TIMING, clt_pool_timed, error);
}

static int time_next(clt_pool *pool, clt_error *error) {
  clt_pool_worker *worker = find_ready(pool);
  if (worker == NULL || clt_pool_noisy(pool) || clt_pool_times(pool)) return CLT_OK;
  return clt_pool_lock(pool, CLT_LOCK_EXCLUSIVE) ? time_one(pool, worker, error) : CLT_OK;
}

/* --- the two together --- */

/* Nothing of ours needs the device: others may have it. */
static void give_up_lock(clt_pool *pool) {
  if (pool->lock_wait_s > 0 || pool->timing || clt_pool_noisy(pool) || clt_pool_times(pool)) return;
  clt_lock_try(&pool->lock, CLT_UNLOCKED);
}

static bool wants_to_prepare(const clt_pool *pool) {
  bool wanted = pool->n_queue > 0;
  for (size_t i = 0; i < pool->setup.n_workers; i++) wanted = wanted || pool->workers[i].stage != CLT_STAGE_UP;
  return wanted;
}

static int prepare_phase(clt_pool *pool, clt_error *error) {
  if (!wants_to_prepare(pool)) return CLT_OK;
  if (pool->setup.quiet_builds && !clt_pool_lock(pool, CLT_LOCK_SHARED)) return CLT_OK;
  int rc = clt_pool_start_workers(pool, error);
  return rc ? rc : prepare_more(pool, error);
}

/* The CPU: everybody prepares until nobody can any more, then all that is ready is timed. */
static int alternate(clt_pool *pool, bool may_time, clt_error *error) {
  if (!pool->timing) {
    int rc = prepare_phase(pool, error);
    if (rc) return rc;
    pool->timing = find_ready(pool) && !clt_pool_noisy(pool);
  }
  return pool->timing && may_time ? time_next(pool, error) : CLT_OK;
}

/* Other devices: compiling goes on while something is timed; launches wait. */
static int overlap(clt_pool *pool, clt_error *error) {
  pool->timing = pool->timing || find_ready(pool);
  int rc = time_next(pool, error);
  if (rc == 0) rc = prepare_phase(pool, error);
  let_launch(pool);
  return rc;
}

int clt_pool_schedule(clt_pool *pool, bool may_time, clt_error *error) {
  if (pool->timing && !clt_pool_times(pool) && find_ready(pool) == NULL) pool->timing = false;
  int rc = pool->setup.quiet_builds ? alternate(pool, may_time, error) : overlap(pool, error);
  give_up_lock(pool);
  return rc;
}
