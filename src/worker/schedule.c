/* Who does what next, and what becomes of a configuration. */
#include <math.h>

#include "base/clock.h"
#include "base/fail.h"
#include "worker/pool.h"

#define MAX_ATTEMPTS 2     /* of a configuration that may have ended its worker */
#define MAX_RETRIES 2      /* for other reasons */
#define LAUNCH_GRACE_S 5.0 /* to launch in, however long its leave took to come */

/* --- what becomes of a configuration --- */

static void finish_job(clt_pool *pool, clt_job *job) {
  job->state = CLT_JOB_DONE;
  job->turn = ++pool->last_turn;
}

static void give_up_job(clt_pool *pool, clt_job *job) {
  clt_measurement_init(&job->measurement, job->config);
  clt_measurement_fail(&job->measurement, CLT_REASON_RUN_CRASH, "both workers that had prepared it ended");
  finish_job(pool, job);
}

/* To the front: it has waited longest. A suspect that is lost again is what the workers die of. */
static void requeue_job(clt_pool *pool, clt_job *job, bool suspect) {
  clt_measurement_release(&job->measurement);
  if (suspect && ++job->attempts >= MAX_ATTEMPTS) {
    give_up_job(pool, job);
    return;
  }
  /* Put on record before it is tried again, so that a tuner that ends meanwhile does not begin to count anew. */
  const clt_evaluator_setup *caller = &pool->setup.evaluator;
  if (suspect && caller->lost) {
    clt_error why = {0};
    int rc = caller->lost(caller->attempts_user, job->config, &why);
    if (rc && !pool->broken) pool->broken = rc, pool->broken_error = why;
  }
  job->state = CLT_JOB_QUEUED;
  job->turn = --pool->first_turn;
  job->ready_s = 0;
}

void clt_pool_requeue_ready(clt_pool *pool, clt_pool_worker *worker, bool suspect) {
  for (clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    if (job->state == CLT_JOB_READY && job->worker == worker) requeue_job(pool, job, suspect);
}

/* The first one in a state (and in a worker); NULL: none. */
static clt_job *first_job(const clt_pool *pool, int state, const clt_pool_worker *worker) {
  clt_job *first = NULL;
  for (clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    if ((int)job->state == state && (worker == NULL || job->worker == worker) && (!first || job->turn < first->turn))
      first = job;
  return first;
}

/* The end of a preparation, and of a timing. */
static int note_measured(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_job *job = worker->done_data;
  clt_measurement m;
  clt_error why = {0};
  bool timed = job->ready_s > 0;
  if (outcome->unheard && job->attempts + 1 < MAX_ATTEMPTS) return requeue_job(pool, job, true), CLT_OK;
  if (clt_pool_measurement(&m, worker, job->config, outcome, &why)) {
    /* The worker could not do its own work: once more with another process, then give up. */
    int rc = clt_pool_setback(pool, "a worker", why.message, NULL);
    if (rc || ++job->retries >= MAX_RETRIES) {
      if (error && error->code == 0) *error = why;
      return why.code;
    }
    requeue_job(pool, job, false);
    clt_pool_replace(pool, worker);
    return CLT_OK;
  }
  if (timed) {
    const clt_phases *before = &job->measurement.phases;
    if (outcome->reply == NULL) m.phases = *before; /* the worker can no longer tell */
    m.phases.wait_s = before->wait_s;
  } else {
    if (outcome->reply) pool->setbacks = 0;
    if (m.reason == CLT_REASON_NONE) {
      job->measurement = m;
      job->ready_s = clt_now_s();
      job->state = CLT_JOB_READY;
      return CLT_OK;
    }
    /* Out of memory because much is prepared at once is not the configuration's fault. */
    bool others = first_job(pool, CLT_JOB_READY, NULL) != NULL;
    if (m.reason == CLT_REASON_OUT_OF_MEMORY && others && ++job->retries < MAX_RETRIES) {
      if (pool->n_slots > 1)
        clt_pool_log(pool, CLT_LOG_INFO, "out of memory: from now on a worker prepares one at a time");
      pool->n_slots = 1;
      clt_measurement_release(&m);
      requeue_job(pool, job, false);
      return CLT_OK;
    }
  }
  clt_measurement_release(&job->measurement);
  job->measurement = m;
  finish_job(pool, job);
  if (outcome->reply && clt_pool_taints(m.reason)) clt_pool_replace(pool, worker);
  return CLT_OK;
}

/* --- who does what next --- */

static bool any_load(const clt_pool *pool, clt_load load) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    if (pool->workers[i].process.busy && pool->workers[i].load == load) return true;
  return false;
}

static int prepare_queued(clt_pool *pool, clt_error *error) {
  bool quiet = pool->setup.quiet_builds, wanted = first_job(pool, CLT_JOB_QUEUED, NULL) != NULL;
  for (size_t i = 0; i < pool->setup.n_workers; i++) wanted = wanted || pool->workers[i].stage != CLT_STAGE_UP;
  if (!wanted || (quiet && !clt_pool_lock(pool, CLT_LOCK_SHARED))) return CLT_OK;
  int rc = clt_pool_start_workers(pool, error);
  for (size_t i = 0; rc == 0 && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    clt_job *job = first_job(pool, CLT_JOB_QUEUED, NULL);
    if (job == NULL) break;
    /* What was lost before, with nothing else to blame, is prepared alone: then it is known whose fault it is. */
    bool joins = true, taken[CLT_POOL_MAX_SLOTS] = {false};
    for (const clt_job *other = pool->jobs; other < pool->jobs + pool->capacity; other++) {
      if (other->state != CLT_JOB_READY || other->worker != worker) continue;
      taken[other->slot] = true;
      joins = joins && job->attempts == 0 && other->attempts == 0;
    }
    size_t slot = 0;
    while (slot < pool->n_slots && taken[slot]) slot++;
    if (!clt_pool_idle(worker) || slot == pool->n_slots || !joins) continue;
    job->state = CLT_JOB_BUSY;
    job->worker = worker;
    job->slot = slot;
    clt_measurement_init(&job->measurement, job->config);
    worker->done_data = job;
    clt_process_forget_output(&worker->process);
    clt_deadlines limits = clt_pool_deadlines(pool, job->best_s);
    json_t *request = json_pack("{s:s, s:I, s:I, s:b}", "request", "prepare", "slot", (json_int_t)slot, "config",
                                (json_int_t)job->config, "gate", !quiet);
    rc = clt_pool_request(pool, worker, request, CLT_PHASE_BUILD, &limits, quiet ? CLT_LOAD_NOISE : CLT_LOAD_GATED,
                          note_measured, error);
  }
  return rc;
}

/* One that could be timed at once; what a busy worker has prepared has to wait for it. */
static clt_job *find_ready(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    clt_job *job = clt_pool_idle(&pool->workers[i]) ? first_job(pool, CLT_JOB_READY, &pool->workers[i]) : NULL;
    if (job) return job;
  }
  return NULL;
}

/* On the CPU everybody prepares until nobody can any more, then all that is ready is timed; nothing is timed while the
 * caller is busy with a result. On other devices compiling goes on while something is timed, and launches wait. */
static int schedule_next(clt_pool *pool, clt_error *error) {
  bool quiet = pool->setup.quiet_builds;
  int rc = CLT_OK;
  if (pool->timing && !any_load(pool, CLT_LOAD_TIMING) && find_ready(pool) == NULL) pool->timing = false;
  if (quiet && !pool->timing) {
    rc = prepare_queued(pool, error);
    pool->timing = rc == 0 && find_ready(pool) && !any_load(pool, CLT_LOAD_NOISE);
  }
  if (!quiet) pool->timing = pool->timing || find_ready(pool);
  clt_job *job = rc == 0 && pool->timing ? find_ready(pool) : NULL;
  bool alone = !any_load(pool, CLT_LOAD_NOISE) && !any_load(pool, CLT_LOAD_TIMING);
  if (quiet && first_job(pool, CLT_JOB_DONE, NULL)) alone = false; /* the caller is busy with it */
  if (job && alone && clt_pool_lock(pool, CLT_LOCK_EXCLUSIVE)) {
    clt_timing_policy timing = pool->setup.timing;
    timing.best_s = timing.abandon_factor > 0 ? job->best_s : 0;
    clt_deadlines limits = clt_pool_deadlines(pool, job->best_s);
    job->state = CLT_JOB_BUSY;
    job->measurement.phases.wait_s += clt_now_s() - job->ready_s;
    job->worker->done_data = job;
    json_t *request = json_pack("{s:s, s:I, s:b, s:o}", "request", "time", "slot", (json_int_t)job->slot, "keep", 0,
                                "timing", clt_message_from_timing(&timing));
    rc = clt_pool_request(pool, job->worker, request, CLT_PHASE_VERIFY, &limits, CLT_LOAD_TIMING, note_measured, error);
  }
  if (rc == 0 && !quiet) rc = prepare_queued(pool, error);
  for (size_t i = 0; !pool->timing && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (worker->load != CLT_LOAD_AT_GATE || !clt_pool_lock(pool, CLT_LOCK_SHARED)) continue;
    worker->load = CLT_LOAD_NOISE;
    clt_process_resume(&worker->process, fmin(LAUNCH_GRACE_S, pool->setup.compile_timeout_s));
    clt_process_tell(&worker->process, json_pack("{s:s}", "request", "go"), NULL);
  }
  /* Where nothing of ours needs the device, others may have it. */
  bool needed =
      pool->lock.wait_s > 0 || pool->timing || any_load(pool, CLT_LOAD_NOISE) || any_load(pool, CLT_LOAD_TIMING);
  if (!needed) clt_pool_lock(pool, CLT_UNLOCKED);
  return rc;
}

/* --- for the evaluator --- */

int clt_pool_submit(void *state, clt_config config, double best_s, clt_error *error) {
  clt_pool *pool = state;
  const clt_evaluator_setup *caller = &pool->setup.evaluator;
  if (pool->n_submitted >= pool->capacity)
    return clt_fail(error, CLT_E_ARGUMENT, "more than %zu configurations submitted at once", pool->capacity);
  clt_pool_give_up_kept(pool);
  pool->n_submitted++;
  unsigned attempts = caller->attempts ? caller->attempts(caller->attempts_user, config) : 0;
  clt_job *job = first_job(pool, CLT_JOB_NONE, NULL);
  *job = (clt_job){.state = CLT_JOB_QUEUED, .config = config, .best_s = best_s, .attempts = attempts};
  job->turn = ++pool->last_turn;
  if (attempts >= MAX_ATTEMPTS) give_up_job(pool, job);
  return CLT_OK;
}

int clt_pool_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  clt_pool *pool = state;
  clt_error why = {0};
  double until_s = clt_now_s() + timeout_s;
  int rc = pool->broken;
  if (rc == 0 && pool->n_submitted == 0) return CLT_E_AGAIN;
  while (rc == 0) {
    rc = schedule_next(pool, &why);
    if (rc) break;
    clt_job *job = first_job(pool, CLT_JOB_DONE, NULL);
    if (job && !(pool->setup.quiet_builds && any_load(pool, CLT_LOAD_TIMING))) {
      *out = job->measurement;
      *job = (clt_job){.state = CLT_JOB_NONE};
      pool->n_submitted--;
      return CLT_OK;
    }
    double left_s = until_s - clt_now_s();
    rc = clt_pool_pump(pool, fmax(left_s, 0), &why);
    if (rc == 0 && left_s <= 0 && first_job(pool, CLT_JOB_DONE, NULL) == NULL) return CLT_E_AGAIN;
  }
  if (!pool->broken) pool->broken = rc, pool->broken_error = why;
  if (error && error->code == 0) *error = pool->broken_error;
  return pool->broken;
}
