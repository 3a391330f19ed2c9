/* The workers of a pool: requests and how they end, starting, and the outcome of the configurations of a lost one. */
#include "worker/workers.h"
#include "base/base.h"
#include "base/text.h"
#include "measurement/measurement.h"
#include "worker/pool.h"

#define MAX_SETBACKS 3
/* The compile timeout, unless the user sets one: at first, and at least, after ENOUGH_BUILDS builds. */
#define FIRST_COMPILE_S 60
#define LEAST_COMPILE_S 30
#define COMPILE_FACTOR 10 /* times the 90th percentile of the builds */
#define ENOUGH_BUILDS 10
#define MOST_SAID 300   /* bytes of beginning and end that fit into a message */
#define LOOK_S 0.1      /* how often workers are checked, so that delays of this process are noticed */
#define LATENESS_S 0.05 /* the delay of a wake-up that is normal on an idle machine */

void clt_pool_log(const clt_pool *pool, clt_log_level level, const char *format, ...) {
  char text[1024];
  va_list arguments;
  if (pool->setup.evaluator.log == NULL) return;
  va_start(arguments, format);
  const int n = snprintf(text, sizeof text, "%s%s", pool->setup.label, pool->setup.label[0] ? ": " : "");
  clt_vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
  va_end(arguments);
  pool->setup.evaluator.log(pool->setup.evaluator.log_user, level, text);
}

int clt_pool_usable(const clt_pool *pool, clt_error *error) {
  if (pool->broken) clt_fail_as(error, &pool->broken_error);
  return pool->broken;
}

void clt_pool_break(clt_pool *pool, int rc, const clt_error *why) {
  if (rc == CLT_OK || pool->broken) return;
  pool->broken = rc;
  pool->broken_error = *why;
}

void clt_pool_kill(clt_pool *pool) {
  for (size_t i = 0; pool->workers && i < CLT_POOL_MAX_WORKERS; i++) clt_process_kill(&pool->workers[i].process);
}

/* A process that survives SIGKILL keeps the device from others. The pool makes no further requests, but still
 * returns results that it has. The other processes may be in the same state, so they are killed together. */
static void give_up_device(clt_pool *pool, pid_t left_behind) {
  pool->stuck = true;
  if (!pool->broken)
    pool->broken =
        clt_fail(&pool->broken_error, CLT_E_DEVICE,
                 "device-lost: worker process %lld cannot be killed, because a driver call does not return; reset "
                 "the device or restart the machine, then run the same command to continue",
                 (long long)left_behind);
  clt_pool_kill(pool);
}

static void log_waiting(void *pool, clt_log_level level, const char *text) { clt_pool_log(pool, level, "%s", text); }

bool clt_pool_lock(clt_pool *pool, clt_lock_state wanted) {
  return clt_lock_try(&pool->lock, wanted, log_waiting, pool);
}

bool clt_pool_idle(const clt_pool_worker *worker) { return worker->stage == CLT_STAGE_UP && !worker->process.busy; }

/* --- the outcome of a configuration --- */

void clt_job_finish(clt_pool *pool, clt_job *job) {
  job->state = CLT_JOB_DONE;
  job->turn = ++pool->last_turn;
}

void clt_job_give_up(clt_pool *pool, clt_job *job) {
  clt_measurement_release(&job->measurement);
  clt_measurement_init(&job->measurement, job->config);
  clt_measurement_fail(&job->measurement, CLT_REASON_RUN_CRASH, "both workers that prepared it ended unexpectedly");
  job->measurement.confirmed_alone = true;
  clt_job_finish(pool, job);
}

void clt_job_suspect(clt_pool *pool, const clt_job *job) {
  const clt_evaluator_setup *caller = &pool->setup.evaluator;
  clt_error why = {0};
  if (caller->lost) clt_pool_break(pool, caller->lost(caller->attempts_user, job->config, &why), &why);
}

void clt_job_requeue(clt_pool *pool, clt_job *job, clt_company company, bool lost) {
  clt_measurement_release(&job->measurement);
  if (company > job->company) job->company = company;
  if (lost) clt_job_suspect(pool, job);
  job->state = CLT_JOB_QUEUED;
  job->turn = --pool->first_turn;
  job->ready_s = 0;
}

/* --- requests --- */

clt_deadlines clt_pool_deadlines(const clt_pool *pool, double best_s) {
  const clt_pool_setup *s = &pool->setup;
  double run_s = s->run_timeout_s, compile_s = FIRST_COMPILE_S, sorted[CLT_POOL_BUILDS];
  const size_t n = clt_min(pool->n_builds, CLT_POOL_BUILDS);
  if (n >= ENOUGH_BUILDS) {
    memcpy(sorted, pool->builds_s, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, clt_by_number);
    compile_s = fmax(LEAST_COMPILE_S, COMPILE_FACTOR * sorted[n * 9 / 10]);
  }
  if (s->compile_timeout_s > 0) compile_s = s->compile_timeout_s;
  if (s->run_timeout_factor > 0 && best_s > 0)
    run_s = fmin(run_s, fmax(s->run_timeout_floor_s, s->run_timeout_factor * best_s));
  return (clt_deadlines){.compile_s = compile_s, .run_s = run_s, .host_s = s->host_timeout_s};
}

int clt_pool_request(clt_pool *pool, clt_pool_worker *worker, json_t *request, clt_phase phase,
                     const clt_deadlines *limits, clt_request_load load, clt_outcome_fn done, clt_error *error) {
  double host_s = pool->setup.host_timeout_s;
  const clt_deadlines host = {host_s, host_s, host_s};
  if (request == NULL) return clt_fail_memory(error);
  worker->done = done;
  worker->load = load;
  /* If sending fails, the worker is dead; the event loop notices that and handles it like any other end. */
  clt_process_request(&worker->process, request, phase, limits ? limits : &host, NULL);
  return CLT_OK;
}

static int finish_request(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_outcome_fn done = worker->done;
  worker->done = NULL;
  worker->load = CLT_LOAD_NONE;
  if (worker->process.starved && pool->setup.evaluator.n_machine_busy) ++*pool->setup.evaluator.n_machine_busy;
  worker->process.starved = false;
  return done ? done(pool, worker, outcome, error) : CLT_OK;
}

int clt_pool_setback(clt_pool *pool, const char *what, const char *why, clt_error *error) {
  /* A long text is cut in the middle: it begins with how the worker ended, and the last part of its output is the
   * most useful one. */
  size_t n = strlen(why);
  const char *last = n > 2 * MOST_SAID ? why + n - MOST_SAID : why, *line = strchr(last, '\n');
  char *text = NULL;
  if (last == why)
    text = strdup(why);
  else
    text = clt_format("%.*s\n...\n%s", (int)strcspn(why, "\n"), why, line && line[1] ? line + 1 : last);
  int rc = text ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && ++pool->setbacks >= MAX_SETBACKS) {
    rc = clt_fail(error, CLT_E_WORKER, "%s failed %d times in a row: %s", what, pool->setbacks, text);
  } else if (rc == CLT_OK) {
    clt_pool_log(pool, CLT_LOG_WARNING, "%s failed, trying again: %s", what, text);
  }
  free(text);
  return rc;
}

/* Puts its prepared configurations back at the front of the queue. suspect: one of them may have ended the worker,
 * unless a signal from outside did. */
static char *stop_process(clt_pool *pool, clt_pool_worker *worker, bool by_itself, bool suspect) {
  char *why = NULL;
  pid_t left_behind = clt_process_stop(&worker->process, by_itself, &why);
  if (left_behind) give_up_device(pool, left_behind);
  if (worker->folder) clt_remove_tree(worker->folder, true);
  const clt_company proof = worker->process.killed ? CLT_UNDISTURBED : CLT_ALONE;
  for (clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++) {
    if (job->state != CLT_JOB_READY || job->worker != worker) continue;
    if (suspect && job->company >= proof)
      clt_job_give_up(pool, job);
    else
      clt_job_requeue(pool, job, suspect ? proof : CLT_AMONG_OTHERS, suspect && !worker->process.killed);
  }
  return why;
}

void clt_pool_replace(clt_pool *pool, clt_pool_worker *worker) {
  free(stop_process(pool, worker, false, false));
  if (worker->stage != CLT_STAGE_REFUSED) worker->stage = CLT_STAGE_DOWN;
  worker->done = NULL;
  worker->load = CLT_LOAD_NONE;
  worker->makes_data = false;
}

/* Whether a compiler or a driver printed that it was out of memory. */
static bool lacked_memory(const char *words) {
  static const char *const known[] = {"out of memory", "bad_alloc", "cannot allocate memory"};
  bool found = false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) found = found || strcasestr(words, known[i]);
  return found;
}

/* Ends a process that is lost or has missed its deadline, and reports the outcome of its request. `done` still sees
 * the worker's stage. */
static int lose_process(clt_pool *pool, clt_pool_worker *worker, bool expired, clt_error *error) {
  clt_process *process = &worker->process;
  clt_phase phase = process->phase;
  bool compiling = phase == CLT_PHASE_BUILD || phase == CLT_PHASE_LAUNCH, busy = process->busy || worker->done;
  clt_outcome outcome = {.unheard = !expired && !process->heard,
                         .late = expired && process->starved,
                         .asleep = expired && process->asleep};
  /* Exceeding the limit from the best time means slow; exceeding the general limit is a failure. */
  const bool slow = expired && phase == CLT_PHASE_RUNNING && process->limits.run_s < pool->setup.run_timeout_s;
  if (compiling)
    outcome.reason = expired ? CLT_REASON_COMPILE_TIMEOUT : CLT_REASON_COMPILE_CRASH;
  else if (expired)
    outcome.reason = slow ? CLT_REASON_ABANDONED : CLT_REASON_RUN_TIMEOUT;
  else
    outcome.reason = CLT_REASON_RUN_CRASH;
  char *why = stop_process(pool, worker, !expired, !busy || outcome.unheard);
  worker->process.phase = phase;
  outcome.killed = worker->process.killed;
  pool->n_killed += outcome.killed;
  char limited[100] = "";
  if (!expired && why && lacked_memory(why)) {
    const long long limit_mib = pool->setup.memory_limit_bytes >> 20;
    outcome.reason = CLT_REASON_OUT_OF_MEMORY;
    if (limit_mib) snprintf(limited, sizeof limited, "a worker may use %lld MiB (--memory-limit); ", limit_mib);
  }
  char what[100] = "lost";
  const bool running = phase == CLT_PHASE_RUNNING;
  double limit_s = running ? process->limits.run_s : process->limits.host_s;
  const char *option = running ? "--run-timeout" : "--host-timeout";
  if (compiling) limit_s = process->limits.compile_s, option = "--compile-timeout";
  if (expired)
    clt_snprintf(what, sizeof what, "took too long (limit %.3g s, %s%s)", limit_s, option, slow ? "-factor" : "");
  char *text = why ? clt_format("%s%s at phase %s: %s", limited, what, clt_phase_name(phase), why) : NULL;
  outcome.text = text ? text : "out of memory";
  int rc = CLT_OK;
  if (busy)
    rc = finish_request(pool, worker, &outcome, error);
  else if (!outcome.killed)
    rc = clt_pool_setback(pool, "an idle worker", outcome.text, error);
  if (busy && !pool->setup.quiet_builds && phase == CLT_PHASE_RUNNING) pool->in_doubt = true;
  worker->stage = CLT_STAGE_DOWN;
  free(why);
  free(text);
  return rc;
}

static const char *doing(const clt_pool_worker *worker) {
  switch (worker->process.phase) {
    case CLT_PHASE_BUILD:
    case CLT_PHASE_LAUNCH: return "compiling";
    case CLT_PHASE_RUNNING: return "running";
    case CLT_PHASE_GENERATE: return "generating the source";
    default: return worker->stage == CLT_STAGE_UP ? "verifying" : "preparing";
  }
}

/* Tells the caller what takes long: waiting for the device, or the request that has taken longest. */
static void tell_waits(const clt_pool *pool, double now_s) {
  const clt_evaluator_setup *caller = &pool->setup.evaluator;
  const clt_pool_worker *longest = NULL;
  char text[400], owner[300];
  size_t n = 0;
  double begun_s = now_s - CLT_MOMENT_S;
  if (caller->waits == NULL) return;
  if (pool->lock.wait_s > 0 && pool->lock.wait_s < begun_s) {
    snprintf(text, sizeof text, "waiting for %lld s for %s", (long long)(now_s - pool->lock.wait_s),
             clt_lock_owner(owner, &pool->lock));
    caller->waits(caller->waits_user, text);
    return;
  }
  for (const clt_pool_worker *w = pool->workers; w < pool->workers + pool->n_workers; w++)
    if (w->process.busy && w->process.paused_s == 0 && w->process.begun_s < begun_s)
      begun_s = w->process.begun_s, longest = w;
  if (longest == NULL) return;
  for (const clt_pool_worker *w = pool->workers; w < pool->workers + pool->n_workers; w++)
    n += w->process.busy && w->process.paused_s == 0 && doing(w) == doing(longest);
  char what[64], limit[32];
  if (n == 1 && longest->stage == CLT_STAGE_UP)
    snprintf(what, sizeof what, "%s a configuration", doing(longest));
  else if (longest->stage == CLT_STAGE_UP)
    snprintf(what, sizeof what, "%s %zu configurations, the longest", doing(longest), n);
  else
    strcpy(what, longest->makes_data ? "computing the input and the reference" : "starting worker processes");
  clt_time_text(limit, longest->process.deadline_s - begun_s);
  snprintf(text, sizeof text, "%s for %lld s (limit %s)", what, (long long)(now_s - begun_s), limit);
  caller->waits(caller->waits_user, text);
}

size_t clt_pool_watch(const clt_pool *pool, struct pollfd *out, double *wait_s) {
  size_t n = 0;
  const double now_s = clt_now_s();
  *wait_s = fmin(*wait_s, pool->lock.wait_s > 0 ? CLT_LOCK_RETRY_S : LOOK_S);
  for (size_t i = 0; i < pool->n_workers; i++) {
    const clt_process *process = &pool->workers[i].process;
    if (!process->alive) continue;
    clt_process_watch(process, out + n);
    n += CLT_PROCESS_WATCHED;
    if (process->busy && process->paused_s == 0) *wait_s = fmin(*wait_s, process->deadline_s - now_s);
  }
  *wait_s = fmax(*wait_s, 0);
  return n;
}

int clt_pool_pump(clt_pool *pool, double timeout_s, clt_error *error) {
  struct pollfd watched[CLT_POOL_WATCHED];
  double wait_s = timeout_s;
  const size_t n = clt_pool_watch(pool, watched, &wait_s);
  return clt_pool_handle(pool, wait_s, clt_poll(watched, n, wait_s), error);
}

/* Handles arrived messages before deadlines, because the caller may have been away for long. */
int clt_pool_handle(clt_pool *pool, double waited_s, double jump_s, clt_error *error) {
  const size_t n_workers = pool->n_workers;
  double now_s = clt_now_s();
  /* Neither requested waiting nor the caller's own computing: this process was stopped, or others had the
   * processors. */
  double computed_s = clt_thread_time_s();
  double late_s = now_s - pool->looked_s - waited_s - jump_s - (computed_s - pool->computed_s);
  for (size_t i = 0; i < n_workers; i++) clt_process_jump(&pool->workers[i].process, jump_s);
  for (size_t i = 0; late_s > LATENESS_S && i < n_workers; i++)
    clt_process_add_lateness(&pool->workers[i].process, now_s, late_s);
  pool->looked_s = now_s;
  pool->computed_s = computed_s;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    while (rc == CLT_OK && worker->process.alive) {
      json_t *reply = NULL;
      bool was_busy = worker->process.busy;
      clt_process_event event = clt_process_next(&worker->process, &reply);
      if (event == CLT_PROCESS_NOTHING) break;
      if (event == CLT_PROCESS_ENDED || !was_busy) { /* an unexpected message is treated like an end */
        rc = lose_process(pool, worker, false, error);
      } else if (event == CLT_PROCESS_REPLY) {
        rc = finish_request(pool, worker, &(clt_outcome){.reply = reply}, error);
      } else if (worker->load == CLT_LOAD_GATED && worker->process.phase == CLT_PHASE_LAUNCH) {
        /* Before deadlines are checked: a worker that waits at the gate while the caller is away is not compiling. */
        clt_process_pause(&worker->process);
        worker->load = CLT_LOAD_AT_GATE;
      } else if (worker->process.phase == CLT_PHASE_COMPARE && !pool->setup.quiet_builds) {
        worker->load = CLT_LOAD_NONE; /* the device is free for others; on a CPU it is the host's */
      }
      json_decref(reply);
      if (rc == CLT_OK) rc = clt_pool_usable(pool, error);
    }
  }
  now_s = clt_now_s();
  bool busy = false;
  for (size_t i = 0; rc == CLT_OK && i < n_workers; i++) {
    clt_process *process = &pool->workers[i].process;
    busy = busy || (process->alive && process->busy && process->paused_s == 0);
    /* Compiling takes place on the processor; with a CPU device, runs do, too. */
    bool computes = pool->setup.quiet_builds || process->phase != CLT_PHASE_RUNNING;
    if (process->alive && clt_process_expired(process, now_s) && !clt_process_excuse(process, computes, now_s))
      rc = lose_process(pool, &pool->workers[i], true, error);
    if (rc == CLT_OK) rc = clt_pool_usable(pool, error);
  }
  tell_waits(pool, now_s);
  if (busy && pool->setup.evaluator.steps) __atomic_add_fetch(pool->setup.evaluator.steps, 1, __ATOMIC_RELAXED);
  return rc;
}

/* --- pools --- */

int clt_pool_open(clt_pool *pool, const clt_pool_setup *setup, clt_error *error) {
  clt_error why = {0};
  size_t n_workers = setup->n_workers, capacity = n_workers * setup->n_slots;
  *pool = (clt_pool){.setup = *setup,
                     .n_slots = setup->n_slots,
                     .n_workers = n_workers,
                     .opened_s = clt_now_s(),
                     .looked_s = clt_now_s(),
                     .computed_s = clt_thread_time_s(),
                     .capacity = capacity,
                     .no_heap_checks = setup->no_heap_checks,
                     .lock = {.fd = -1}};
  json_incref(setup->open);
  pool->workers = clt_new_array(CLT_POOL_MAX_WORKERS, sizeof *pool->workers);
  pool->jobs = clt_new_array(capacity, sizeof *pool->jobs);
  int rc = pool->workers && pool->jobs ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_worker_path(&pool->worker_path, error);
  if (rc == CLT_OK) clt_pool_take_reserve(pool);
  if (rc == CLT_OK && pool->folder.path == NULL) rc = clt_run_folder_new(&pool->folder, error);
  if (rc == CLT_OK && pool->cache == NULL) rc = clt_run_folder_make(&pool->cache, &pool->folder, "cache", error);
  /* Tuning must be possible without a lock, too. */
  if (rc == CLT_OK && clt_lock_open(&pool->lock, setup->lock_key[0] ? setup->lock_key : NULL, &why))
    clt_pool_log(pool, CLT_LOG_WARNING,
                 "%s; continuing without a device lock, so other tuners may disturb the measurements", why.message);
  pool->lock.waited_s = &pool->waited_s;
  const bool locked = rc == CLT_OK && clt_pool_lock(pool, CLT_LOCK_SHARED);
  /* With `lenient` all that follows is keeping one, in a process with heap checks. */
  if (locked && rc == CLT_OK && !setup->evaluator.lenient) rc = clt_pool_start_workers(pool, error);
  if (rc) clt_pool_close(pool);
  return rc;
}

void clt_pool_close(clt_pool *pool) {
  const bool was_broken = pool->broken != 0;
  clt_pool_give_up_kept(pool);
  for (size_t i = 0; pool->workers && i < pool->n_workers; i++)
    if (clt_pool_idle(&pool->workers[i])) clt_pool_dismiss(pool, &pool->workers[i]);
  if (pool->next && clt_pool_idle(pool->next)) clt_pool_dismiss(pool, pool->next);
  clt_pool_kill(pool);
  for (size_t i = 0; pool->workers && pool->jobs && i < CLT_POOL_MAX_WORKERS; i++) {
    clt_pool_replace(pool, &pool->workers[i]);
    free(pool->workers[i].folder);
  }
  if (pool->broken && !was_broken) clt_pool_log(pool, CLT_LOG_WARNING, "%s", pool->broken_error.message);
  for (size_t i = 0; pool->jobs && i < pool->capacity; i++) clt_measurement_release(&pool->jobs[i].measurement);
  clt_lock_close(&pool->lock);
  clt_pool_leave_reserve(pool);
  clt_run_folder_remove(&pool->folder);
  json_decref(pool->setup.open);
  clt_map_release(&pool->passed);
  clt_equals_release(&pool->equals);
  free(pool->workers);
  free(pool->jobs);
  free(pool->worker_path);
  free(pool->cache);
  *pool = (clt_pool){.lock = {.fd = -1}};
}
