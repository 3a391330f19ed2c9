/* Schedules the work of a pool's workers, and decides on the outcome of each configuration. */
#include "base/base.h"
#include "worker/workers.h"

#define MAX_ATTEMPTS 2     /* attempts with a configuration that may have ended its worker, over all sessions */
#define MAX_RETRIES 2      /* retries for other reasons */
#define MOST_CACHED 512    /* configurations in the compiler's cache, of about 0.1 MB each */
#define LAUNCH_GRACE_S 5.0 /* the minimum time for a launch after it was permitted */

/* --- measurements --- */

bool clt_pool_taints(clt_reason reason) {
  switch (reason) {
    case CLT_REASON_LAUNCH:
    case CLT_REASON_RUN_ERROR:
    case CLT_REASON_RUN_CRASH:
    case CLT_REASON_OUT_OF_BOUNDS:
    case CLT_REASON_UNKNOWN: return true;
    default: return false;
  }
}

int clt_pool_measurement(clt_measurement *out, const clt_pool_worker *worker, clt_config config,
                         const clt_outcome *outcome, clt_error *error) {
  const json_t *reply = outcome->reply;
  const char *printed = worker->process.printed.bytes;
  if (reply && strcmp(clt_json_string(reply, "reply"), "error") == 0) return clt_message_to_error(reply, error);
  int rc = reply ? clt_message_to_measurement(out, json_object_get(reply, "measurement"), NULL) : CLT_E_WORKER;
  if (rc == CLT_OK && out->config != config) clt_measurement_release(out), rc = CLT_E_FORMAT;
  if (rc) clt_measurement_init(out, config);
  if (rc && reply) clt_measurement_fail(out, CLT_REASON_RUN_CRASH, "the worker sent an invalid answer");
  if (rc && !reply) clt_measurement_fail(out, outcome->reason, outcome->text);
  if (reply && out->reason != CLT_REASON_NONE && printed && *printed) {
    const char *earlier = out->log ? out->log : "";
    char *log = clt_format("%s%soutput of the worker:\n%s", earlier, out->log ? "\n" : "", printed);
    if (log) clt_measurement_fail(out, out->reason, log);
    free(log);
  }
  /* It is not the configuration's fault if there was no space to build it. */
  const bool building = clt_reason_invalidity(out->reason) == CLT_COMPILE || out->reason == CLT_REASON_LAUNCH ||
                        out->reason == CLT_REASON_OUT_OF_MEMORY || out->reason == CLT_REASON_RUN_ERROR;
  rc = building ? clt_check_space(out->log, worker->folder, "a configuration could not be built", error) : CLT_OK;
  if (rc) {
    clt_measurement_release(out);
    return rc;
  }
  out->confirmed_alone = out->reason != CLT_REASON_NONE && worker->n_prepared == 1;
  return CLT_OK;
}

/* --- the outcome of a configuration --- */

/* The first job in a state, in a worker if one is given; NULL: none. */
static clt_job *first_job(const clt_pool *pool, int state, const clt_pool_worker *worker) {
  clt_job *first = NULL;
  for (clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    if ((int)job->state == state && (worker == NULL || job->worker == worker) && (!first || job->turn < first->turn))
      first = job;
  return first;
}

static bool any_load(const clt_pool *pool, clt_request_load load) {
  for (size_t i = 0; i < pool->n_workers; i++)
    if (pool->workers[i].process.busy && pool->workers[i].load == load) return true;
  return false;
}

/* Whether the device was dead already, as far as the worker could see. */
static bool is_dead(const clt_outcome *outcome) {
  return outcome->reply && json_is_true(json_object_get(outcome->reply, "dead"));
}

/* How isolated a configuration must be for its failure to count. */
static clt_company find_proof(const clt_pool *pool, clt_job *job, const clt_pool_worker *worker,
                              const clt_outcome *outcome, const clt_measurement *m) {
  bool among_others = worker->n_prepared > 1;
  /* If the device was dead, the next worker probes it before this configuration is tried again and its failure
   * counts. A device that another worker's failure made unusable makes configurations fail here, too. */
  if (outcome->killed || is_dead(outcome) || (pool->in_doubt && clt_pool_taints(m->reason))) return CLT_UNDISTURBED;
  if (outcome->late && !job->was_late) { /* the machine was busy: try once more */
    job->was_late = true;
    return job->company == CLT_AMONG_OTHERS ? CLT_ALONE : CLT_UNDISTURBED;
  }
  /* A damaged heap can block its users for ever. A configuration that computes until its deadline is itself to
   * blame, unless it was fast enough at its first launch. */
  bool late = m->reason == CLT_REASON_RUN_TIMEOUT || m->reason == CLT_REASON_ABANDONED;
  bool stopped = outcome->asleep || (job->ready_s > 0 && late);
  /* Failures that other configurations in the same process can cause by writing outside of their buffers. */
  bool doubtful = outcome->unheard || stopped || clt_pool_taints(m->reason) || m->reason == CLT_REASON_COMPILE_CRASH ||
                  m->reason == CLT_REASON_OUT_OF_MEMORY || m->reason == CLT_REASON_WRONG_OUTPUT;
  return doubtful && (among_others || outcome->unheard) ? CLT_ALONE : CLT_AMONG_OTHERS;
}

void clt_pool_learn(clt_pool *pool, const clt_measurement *timed) {
  const clt_device_state *state = &timed->state;
  if (state->launch_s > 0) pool->setup.timing.launch_s = state->launch_s;
  if (state->usual_step_s > 0) pool->setup.timing.usual_step_s = state->usual_step_s;
}

/* --- equal sources --- */

/* The hash in the reply to a preparation; 0: the source was not generated. */
static uint64_t generated_source(const json_t *reply) {
  int64_t hash = 0;
  clt_message_integer(&hash, reply, "generated", 1, INT64_MAX, NULL);
  return (uint64_t)hash;
}

/* Keeps the results of generated sources, and gives them to prepared configurations with an equal source. */
static void answer_equal(clt_pool *pool) {
  for (const clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    if (job->state == CLT_JOB_DONE) clt_equals_keep(&pool->equals, job->generated, &job->measurement);
  for (clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++) {
    if (job->state != CLT_JOB_READY || !clt_equals_answer(&pool->equals, job->generated, &job->measurement)) continue;
    job->generated = 0;
    clt_job_finish(pool, job);
  }
}

/* Handles the end of a preparation or of a timing. */
static int note_measured(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_job *job = worker->done_data;
  clt_measurement m;
  clt_error why = {0};
  const bool timed = job->ready_s > 0;
  /* Killed before it began: the cause may be the earlier work of its process. */
  if (outcome->killed && outcome->unheard && job->retries++ < MAX_RETRIES) {
    clt_job_requeue(pool, job, CLT_UNDISTURBED, false);
    return CLT_OK;
  }
  if (clt_pool_measurement(&m, worker, job->config, outcome, &why)) {
    /* The worker reported an error of its own: try once more in another process, then give up. */
    if (why.code == CLT_E_IO) pool->n_cached = SIZE_MAX; /* perhaps the cache has filled the disk */
    int rc = clt_pool_setback(pool, "a worker", why.message, NULL);
    if (rc || ++job->retries >= MAX_RETRIES) return clt_fail_as(error, &why);
    clt_job_requeue(pool, job, CLT_AMONG_OTHERS, false);
    clt_pool_replace(pool, worker);
    return CLT_OK;
  }
  if (m.reason == CLT_REASON_WRONG_OUTPUT || m.reason == CLT_REASON_OUT_OF_MEMORY) worker->doubtful = true;
  /* If the clock jumped meanwhile, neither a time nor a missed deadline means anything: try once more. */
  const bool again = worker->process.jumped && !job->was_late;
  clt_company proof = m.reason == CLT_REASON_NONE ? CLT_AMONG_OTHERS : find_proof(pool, job, worker, outcome, &m);
  if (timed) {
    const clt_phases *before = &job->measurement.phases;
    if (outcome->reply == NULL) m.phases = *before; /* the worker is lost */
    m.phases.wait_s = before->wait_s;
    clt_pool_learn(pool, &m);
  } else {
    if (outcome->reply) pool->setbacks = 0;
    m.phases.first_launch_s = fmax(0, m.phases.first_launch_s - job->gate_s);
    m.phases.wait_s = job->gate_s;
    if (m.reason == CLT_REASON_NONE && !again) {
      job->measurement = m;
      job->ready_s = clt_now_s();
      job->generated = generated_source(outcome->reply);
      job->state = CLT_JOB_READY;
      pool->builds_s[pool->n_builds++ % CLT_POOL_BUILDS] = m.phases.build_s + m.phases.first_launch_s;
      return CLT_OK;
    }
    /* If others are prepared at the same time, they may be the cause of a lack of memory on the device, but not in
     * the compiler. */
    bool others = m.phases.first_launch_s > 0 && first_job(pool, CLT_JOB_READY, NULL) != NULL;
    if (m.reason == CLT_REASON_OUT_OF_MEMORY && others && ++job->retries < MAX_RETRIES) {
      if (pool->n_slots > 1)
        clt_pool_log(pool, CLT_LOG_INFO, "out of memory; from now on each worker prepares one configuration at a time");
      pool->n_slots = 1;
      clt_measurement_release(&m);
      clt_job_requeue(pool, job, CLT_AMONG_OTHERS, false);
      return CLT_OK;
    }
  }
  const bool taints = clt_pool_taints(m.reason);
  const bool doubtful =
      taints && !pool->setup.quiet_builds && (outcome->reply || worker->process.phase == CLT_PHASE_RUNNING);
  /* A failing run may make the device fail, and then the tuner; the next worker will show that. Of those that fail at
   * the same time, any may be the cause, so each is tried once more with nothing else running. */
  for (clt_job *other = pool->jobs; doubtful && pool->in_doubt && other < pool->jobs + pool->capacity; other++)
    if (other->state == CLT_JOB_IN_DOUBT) clt_job_requeue(pool, other, CLT_UNDISTURBED, false);
  const bool fatal = doubtful && m.reason == CLT_REASON_RUN_ERROR && !is_dead(outcome);
  if (again || proof > job->company) {
    job->was_late = job->was_late || again;
    clt_measurement_release(&m);
    clt_job_requeue(pool, job, proof,
                    fatal || (outcome->reply == NULL && !again && !outcome->late && !outcome->killed));
  } else {
    clt_measurement_release(&job->measurement);
    job->measurement = m;
    if (doubtful && job->company != CLT_UNDISTURBED &&
        (any_load(pool, CLT_LOAD_NOISE) || any_load(pool, CLT_LOAD_TIMING))) {
      job->state = CLT_JOB_IN_DOUBT;
      if (fatal) clt_job_suspect(pool, job);
    } else {
      clt_job_finish(pool, job);
    }
  }
  if (doubtful) pool->in_doubt = true;
  if (taints && outcome->reply) clt_pool_replace(pool, worker);
  return CLT_OK;
}

/* --- scheduling --- */

/* The first queued job that a worker may prepare now. A job that must be alone needs a fresh worker. A job that must
 * be undisturbed begins, and is measured, while nothing else is under way and the device answers. NULL: none. */
static clt_job *next_queued(const clt_pool *pool, bool fresh) {
  clt_job *first = NULL, *undisturbed = NULL;
  size_t n_under_way = 0;
  for (clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++) {
    bool under_way = job->state == CLT_JOB_BUSY || job->state == CLT_JOB_READY;
    n_under_way += under_way;
    if ((under_way || job->state == CLT_JOB_QUEUED) && job->company == CLT_UNDISTURBED) undisturbed = job;
    if (job->state != CLT_JOB_QUEUED || (job->company && !fresh)) continue;
    if (first == NULL || job->turn < first->turn) first = job;
  }
  if (undisturbed) return fresh && n_under_way == 0 && !pool->in_doubt ? undisturbed : NULL;
  return first;
}

static int prepare_queued(clt_pool *pool, clt_error *error) {
  bool quiet = pool->setup.quiet_builds, wanted = first_job(pool, CLT_JOB_QUEUED, NULL) != NULL;
  bool held = first_job(pool, CLT_JOB_BUSY, NULL) || first_job(pool, CLT_JOB_READY, NULL);
  size_t n_alone = 0, n_fresh = 0;
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    wanted = wanted || pool->workers[i].stage < CLT_STAGE_UP;
    held = held || pool->workers[i].makes_data;
  }
  if (!wanted || (quiet && !clt_pool_lock(pool, CLT_LOCK_SHARED))) return CLT_OK;
  /* Limits the use of the disk by PoCL's cache, which has no limit of its own. It can be emptied only while no program
   * is in use, as there is a moment on CPUs before everything is timed. */
  const size_t most_cached = quiet ? MOST_CACHED : SIZE_MAX;
  if (pool->n_cached >= most_cached && held) return CLT_OK;
  if (pool->n_cached >= most_cached) clt_remove_tree(pool->cache, true), pool->n_cached = 0;
  for (const clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    n_alone += job->state == CLT_JOB_QUEUED && job->company != CLT_AMONG_OTHERS;
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    n_fresh += pool->workers[i].stage != CLT_STAGE_REFUSED &&
               (pool->workers[i].stage != CLT_STAGE_UP || pool->workers[i].n_prepared == 0);
  for (size_t i = 0; i < pool->setup.n_workers && n_fresh < n_alone; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (!clt_pool_idle(worker) || worker->n_prepared == 0 || first_job(pool, CLT_JOB_READY, worker)) continue;
    clt_pool_replace(pool, worker);
    n_fresh++;
  }
  /* This many workers get no new job until their prepared ones are measured. */
  size_t n_emptied = n_alone > n_fresh ? n_alone - n_fresh : 0;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    bool shared = true, taken[CLT_POOL_MAX_SLOTS] = {false};
    for (const clt_job *other = pool->jobs; other < pool->jobs + pool->capacity; other++) {
      if (other->state != CLT_JOB_READY || other->worker != worker) continue;
      taken[other->slot] = true;
      shared = shared && other->company == CLT_AMONG_OTHERS;
    }
    size_t slot = 0;
    while (slot < pool->n_slots && taken[slot]) slot++;
    if (worker->n_prepared > 0 && n_emptied > 0) {
      n_emptied--;
      continue;
    }
    if (!clt_pool_idle(worker) || slot == pool->n_slots || !shared) continue;
    clt_job *job = next_queued(pool, worker->n_prepared == 0);
    if (job == NULL) continue;
    job->state = CLT_JOB_BUSY;
    job->worker = worker;
    job->slot = slot;
    job->gate_s = 0;
    worker->n_prepared++;
    pool->n_cached++;
    clt_measurement_init(&job->measurement, job->config);
    worker->done_data = job;
    clt_process_forget_output(&worker->process);
    clt_deadlines limits = clt_pool_deadlines(pool, job->best_s);
    json_t *request =
        json_pack("{s:s, s:I, s:I, s:o, s:b, s:b}", "request", "prepare", "slot", (json_int_t)slot, "config",
                  (json_int_t)job->config, "values", clt_message_from_config(pool->setup.evaluator.space, job->config),
                  "gate", !quiet, "anew", job->company != CLT_AMONG_OTHERS);
    rc = clt_pool_request(pool, worker, request, CLT_PHASE_BUILD, &limits, quiet ? CLT_LOAD_NOISE : CLT_LOAD_GATED,
                          note_measured, error);
  }
  return rc ? rc : clt_pool_start_workers(pool, error);
}

/* A job with the same source is measured, or what it has computed is compared. */
static bool equals_busy(const clt_pool *pool, const clt_job *job) {
  bool found = false;
  for (const clt_job *other = pool->jobs; job->generated && other < pool->jobs + pool->capacity; other++)
    found = found || (other->state == CLT_JOB_BUSY && other->generated == job->generated);
  return found;
}

/* A prepared job in an idle worker; jobs in busy workers must wait. */
static clt_job *find_ready(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    clt_job *job = clt_pool_idle(&pool->workers[i]) ? first_job(pool, CLT_JOB_READY, &pool->workers[i]) : NULL;
    if (job && !equals_busy(pool, job)) return job;
  }
  return NULL;
}

/* On a CPU, all workers prepare configurations until none can go on, then all prepared ones are timed. Nothing is
 * timed while the caller processes a result. On other devices builds continue during timing, and launches wait. */
static int schedule_next(clt_pool *pool, clt_error *error) {
  bool quiet = pool->setup.quiet_builds;
  int rc = CLT_OK;
  answer_equal(pool);
  if (pool->timing && !any_load(pool, CLT_LOAD_TIMING) && find_ready(pool) == NULL) pool->timing = false;
  if (quiet && !pool->timing) {
    rc = prepare_queued(pool, error);
    pool->timing = rc == CLT_OK && find_ready(pool) && !any_load(pool, CLT_LOAD_NOISE);
  }
  if (!quiet) pool->timing = pool->timing || find_ready(pool);
  clt_job *job = rc == CLT_OK && pool->timing ? find_ready(pool) : NULL;
  bool alone = !any_load(pool, CLT_LOAD_NOISE) && !any_load(pool, CLT_LOAD_TIMING);
  if (quiet && first_job(pool, CLT_JOB_DONE, NULL)) alone = false; /* the caller is processing a result */
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
  if (rc == CLT_OK && !quiet) rc = prepare_queued(pool, error);
  for (size_t i = 0; !pool->timing && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (worker->load != CLT_LOAD_AT_GATE || !clt_pool_lock(pool, CLT_LOCK_SHARED)) continue;
    worker->load = CLT_LOAD_NOISE;
    clt_job *launched = worker->done_data;
    launched->gate_s = clt_now_s() - worker->process.paused_s;
    clt_process_resume(&worker->process, fmin(LAUNCH_GRACE_S, worker->process.limits.compile_s));
    clt_process_tell(&worker->process, json_pack("{s:s}", "request", "go"), NULL);
  }
  /* Release the device for other tuners if no worker needs it. */
  bool needed =
      pool->lock.wait_s > 0 || pool->timing || any_load(pool, CLT_LOAD_NOISE) || any_load(pool, CLT_LOAD_TIMING);
  if (!needed) clt_pool_lock(pool, CLT_UNLOCKED);
  return rc;
}

/* --- for the evaluator --- */

int clt_check_submitted(size_t n_submitted, size_t capacity, clt_error *error) {
  if (n_submitted < capacity) return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT, "at most %zu configurations can be submitted at once", capacity);
}

int clt_check_finalists(size_t n_submitted, clt_error *error) {
  if (n_submitted == 0) return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT, "finalists cannot be prepared while configurations are being evaluated");
}

int clt_check_indices(const size_t *indices, size_t n, size_t n_kept, clt_error *error) {
  for (size_t i = 0; i < n; i++)
    if (indices[i] >= n_kept) return clt_fail(error, CLT_E_ARGUMENT, "finalist %zu is not kept", indices[i]);
  return CLT_OK;
}

int clt_check_stop(const volatile int *stop, clt_error *error) {
  if (!clt_stop_asked(stop)) return CLT_OK;
  return clt_fail(error, CLT_E_STOPPED, "stopped while the finalists were compared");
}

int clt_pool_submit(clt_pool *pool, clt_config config, double best_s, clt_error *error) {
  const clt_evaluator_setup *caller = &pool->setup.evaluator;
  int rc = clt_check_submitted(pool->n_submitted, pool->capacity, error);
  if (rc) return rc;
  clt_pool_give_up_kept(pool);
  pool->n_submitted++;
  unsigned attempts = caller->attempts ? caller->attempts(caller->attempts_user, config) : 0;
  clt_job *job = first_job(pool, CLT_JOB_NONE, NULL);
  *job = (clt_job){.state = CLT_JOB_QUEUED,
                   .config = config,
                   .best_s = best_s,
                   .company = attempts ? CLT_UNDISTURBED : CLT_AMONG_OTHERS};
  job->turn = ++pool->last_turn;
  if (attempts >= MAX_ATTEMPTS) clt_job_give_up(pool, job);
  return CLT_OK;
}

int clt_pool_take(clt_pool *pool, clt_measurement *out, clt_error *error) {
  clt_error why = {0};
  clt_job *job;
  if (!pool->broken) clt_pool_break(pool, schedule_next(pool, &why), &why);
  if (!pool->broken && pool->setup.quiet_builds && any_load(pool, CLT_LOAD_TIMING)) return CLT_E_AGAIN;
  /* If the pool is broken, correct results from before are still returned. Failures are not, because the device may
   * have been lost already, unless a process that cannot be killed shows the cause. */
  while ((job = first_job(pool, CLT_JOB_DONE, NULL)) != NULL) {
    *out = job->measurement;
    *job = (clt_job){.state = CLT_JOB_NONE};
    pool->n_submitted--;
    if (!pool->broken || pool->stuck || clt_measurement_correct(out)) return CLT_OK;
    clt_measurement_release(out);
  }
  return pool->broken ? clt_pool_usable(pool, error) : CLT_E_AGAIN;
}
