#include "worker/pool.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "measurement/statistics.h"

#define MAX_SETBACKS 3
#define MAX_UNANSWERED 2
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
  const int n = snprintf(text, sizeof text, "%s%s", pool->setup.place, pool->setup.place[0] ? ": " : "");
  clt_vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
  va_end(arguments);
  pool->setup.evaluator.log(pool->setup.evaluator.log_user, level, text);
}

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
  if (rc == 0) rc = clt_worker_path(&pool->worker_path, error);
  if (rc == 0) clt_pool_take_reserve(pool);
  if (rc == 0 && pool->folder.path == NULL) rc = clt_run_folder_new(&pool->folder, error);
  if (rc == 0 && pool->cache == NULL) rc = clt_run_folder_make(&pool->cache, &pool->folder, "cache", error);
  /* Tuning must be possible without a lock, too. */
  if (rc == 0 && clt_lock_open(&pool->lock, setup->lock_key[0] ? setup->lock_key : NULL, &why))
    clt_pool_log(pool, CLT_LOG_WARNING,
                 "%s; continuing without a device lock, so other tuners may disturb the measurements", why.message);
  pool->lock.waited_s = &pool->waited_s;
  const bool locked = rc == 0 && clt_pool_lock(pool, CLT_LOCK_SHARED);
  if (locked && rc == 0) rc = clt_pool_start_workers(pool, error);
  if (rc) clt_pool_close(pool);
  return rc;
}

int clt_pool_usable(const clt_pool *pool, clt_error *error) {
  if (pool->broken && error && error->code == 0) *error = pool->broken_error;
  return pool->broken;
}

void clt_pool_break(clt_pool *pool, int rc, const clt_error *why) {
  if (rc && !pool->broken) pool->broken = rc, pool->broken_error = *why;
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

void clt_pool_close(clt_pool *pool) {
  const bool was_broken = pool->broken != 0;
  clt_pool_give_up_kept(pool);
  for (size_t i = 0; pool->workers && i < pool->n_workers; i++)
    if (clt_pool_idle(&pool->workers[i])) clt_pool_dismiss(pool, &pool->workers[i]);
  clt_pool_kill(pool);
  for (size_t i = 0; pool->workers && i < CLT_POOL_MAX_WORKERS; i++) {
    pid_t left_behind = clt_process_stop(&pool->workers[i].process, false, NULL);
    if (left_behind) give_up_device(pool, left_behind);
    free(pool->workers[i].folder);
  }
  if (pool->broken && !was_broken) clt_pool_log(pool, CLT_LOG_WARNING, "%s", pool->broken_error.message);
  for (size_t i = 0; pool->jobs && i < pool->capacity; i++) clt_measurement_release(&pool->jobs[i].measurement);
  clt_lock_close(&pool->lock);
  clt_pool_leave_reserve(pool);
  clt_run_folder_remove(&pool->folder);
  json_decref(pool->setup.open);
  free(pool->workers);
  free(pool->jobs);
  free(pool->worker_path);
  free(pool->cache);
  *pool = (clt_pool){.lock = {.fd = -1}};
}

static void log_waiting(void *pool, clt_log_level level, const char *text) { clt_pool_log(pool, level, "%s", text); }

bool clt_pool_lock(clt_pool *pool, clt_lock_state wanted) {
  return clt_lock_try(&pool->lock, wanted, log_waiting, pool);
}

bool clt_pool_idle(const clt_pool_worker *worker) { return worker->stage == CLT_STAGE_UP && !worker->process.busy; }

/* --- requests --- */

static double compile_limit_s(const clt_pool *pool) {
  double sorted[CLT_POOL_BUILDS];
  const size_t n = pool->n_builds < CLT_POOL_BUILDS ? pool->n_builds : CLT_POOL_BUILDS;
  if (pool->setup.compile_timeout_s > 0) return pool->setup.compile_timeout_s;
  if (n < ENOUGH_BUILDS) return FIRST_COMPILE_S;
  memcpy(sorted, pool->builds_s, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, clt_by_number);
  return fmax(LEAST_COMPILE_S, COMPILE_FACTOR * sorted[n * 9 / 10]);
}

clt_deadlines clt_pool_deadlines(const clt_pool *pool, double best_s) {
  const clt_pool_setup *s = &pool->setup;
  double run_s = s->run_timeout_s;
  if (s->run_timeout_factor > 0 && best_s > 0)
    run_s = fmin(run_s, fmax(s->run_timeout_floor_s, s->run_timeout_factor * best_s));
  return (clt_deadlines){.compile_s = compile_limit_s(pool), .run_s = run_s, .host_s = s->host_timeout_s};
}

int clt_pool_request(clt_pool *pool, clt_pool_worker *worker, json_t *request, clt_phase phase,
                     const clt_deadlines *limits, clt_load load, clt_outcome_fn done, clt_error *error) {
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
  char *text = last == why
                   ? strdup(why)
                   : clt_format("%.*s\n...\n%s", (int)strcspn(why, "\n"), why, line && line[1] ? line + 1 : last);
  int rc = text ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && ++pool->setbacks >= MAX_SETBACKS) {
    rc = clt_fail(error, CLT_E_WORKER, "%s failed %d times in a row: %s", what, pool->setbacks, text);
  } else if (rc == CLT_OK) {
    clt_pool_log(pool, CLT_LOG_WARNING, "%s failed, trying again: %s", what, text);
  }
  free(text);
  return rc;
}

static char *stop_process(clt_pool *pool, clt_pool_worker *worker, bool by_itself, bool suspect) {
  char *why = NULL;
  pid_t left_behind = clt_process_stop(&worker->process, by_itself, &why);
  if (left_behind) give_up_device(pool, left_behind);
  if (worker->folder) clt_remove_tree(worker->folder, true);
  clt_pool_requeue_ready(pool, worker, suspect);
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
  if (expired)
    outcome.reason = compiling ? CLT_REASON_COMPILE_TIMEOUT : slow ? CLT_REASON_ABANDONED : CLT_REASON_RUN_TIMEOUT;
  else
    outcome.reason = compiling ? CLT_REASON_COMPILE_CRASH : CLT_REASON_RUN_CRASH;
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
  char *text = clt_format("%s%s at phase %s: %s", limited, expired ? "took too long" : "lost", clt_phase_name(phase),
                          why ? why : "");
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
  poll(watched, n, (int)ceil(wait_s * 1e3));
  return clt_pool_handle(pool, wait_s, error);
}

/* Handles arrived messages before deadlines, because the caller may have been away for long. */
int clt_pool_handle(clt_pool *pool, double waited_s, clt_error *error) {
  const size_t n_workers = pool->n_workers;
  double now_s = clt_now_s();
  /* Neither requested waiting nor the caller's own computing: this process was stopped, or others had the
   * processors. */
  double computed_s = clt_thread_time_s(), late_s = now_s - pool->looked_s - waited_s - (computed_s - pool->computed_s);
  for (size_t i = 0; late_s > LATENESS_S && i < n_workers; i++)
    clt_process_add_lateness(&pool->workers[i].process, now_s, late_s);
  pool->looked_s = now_s;
  pool->computed_s = computed_s;
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    while (rc == 0 && worker->process.alive) {
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
      }
      json_decref(reply);
      if (rc == 0) rc = clt_pool_usable(pool, error);
    }
  }
  now_s = clt_now_s();
  bool busy = false;
  for (size_t i = 0; rc == 0 && i < n_workers; i++) {
    clt_process *process = &pool->workers[i].process;
    busy = busy || (process->alive && process->busy && process->paused_s == 0);
    /* Compiling takes place on the processor; with a CPU device, runs do, too. */
    bool computes = pool->setup.quiet_builds || process->phase != CLT_PHASE_RUNNING;
    if (process->alive && clt_process_expired(process, now_s) && !clt_process_excuse(process, computes, now_s))
      rc = lose_process(pool, &pool->workers[i], true, error);
    if (rc == 0) rc = clt_pool_usable(pool, error);
  }
  if (busy && pool->setup.evaluator.steps) __atomic_add_fetch(pool->setup.evaluator.steps, 1, __ATOMIC_RELAXED);
  return rc;
}

/* --- bringing workers up: greeting, opening the device, loading the data that one of them makes --- */

static clt_load start_load(const clt_pool *pool) { return pool->setup.quiet_builds ? CLT_LOAD_NOISE : CLT_LOAD_NONE; }

/* Whether a worker that probed the device got no response; why: the reason. */
static bool is_unanswered(const clt_pool_worker *worker, const clt_outcome *outcome, clt_error *why) {
  if (outcome->reply == NULL) /* heap checks and signals from outside have other causes */
    return !outcome->killed && !worker->heap_checks && clt_fail(why, CLT_E_DEVICE, "%.300s", outcome->text);
  if (strcmp(clt_json_string(outcome->reply, "reply"), "error") != 0) return false;
  int rc = clt_message_to_error(outcome->reply, why);
  return rc == CLT_E_DEVICE || rc == CLT_E_OPENCL;
}

/* Counts probes without a response. The configuration that was measured last is not blamed. */
static int note_unanswered(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, const clt_error *why,
                           clt_error *error) {
  if (worker->probe > pool->n_unanswered) pool->n_unanswered++;
  if (pool->n_unanswered >= MAX_UNANSWERED)
    return clt_fail(
        error, CLT_E_DEVICE,
        "device-lost: the device no longer responds since a configuration failed (%s); log in again or restart "
        "the machine, then run the same command to continue",
        why->message);
  clt_pool_log(pool, CLT_LOG_WARNING, "the device does not respond, trying again: %s", why->message);
  if (outcome->reply) clt_pool_replace(pool, worker);
  return CLT_OK;
}

/* Continues without a worker that the device refuses, if others have it. False: no other worker has it. */
static bool leave_out(clt_pool *pool, clt_pool_worker *worker, const char *why) {
  bool others = false, first = true;
  for (size_t i = 0; i < CLT_POOL_MAX_WORKERS; i++) {
    const clt_pool_worker *other = &pool->workers[i];
    others = others || (other != worker && other->process.alive && other->stage >= CLT_STAGE_OPENING);
    first = first && other->stage != CLT_STAGE_REFUSED;
  }
  if (!others) return false;
  if (first)
    clt_pool_log(pool, CLT_LOG_WARNING,
                 "the device accepts no further process: %s; continuing with fewer workers (one if the GPU's compute "
                 "mode is EXCLUSIVE_PROCESS)",
                 why);
  clt_pool_replace(pool, worker);
  worker->stage = CLT_STAGE_REFUSED;
  for (size_t i = 0; i < CLT_POOL_MAX_WORKERS; i++) /* those that never had the device */
    if (pool->workers[i].stage == CLT_STAGE_DOWN && pool->workers[i].generation == 0)
      pool->workers[i].stage = CLT_STAGE_REFUSED;
  return true;
}

/* Whether another worker is processing a configuration, which may kill its neighbours repeatedly. */
static bool has_company(const clt_pool *pool, const clt_pool_worker *worker) {
  for (const clt_pool_worker *other = pool->workers; other < pool->workers + pool->n_workers; other++)
    if (other != worker && other->process.busy && other->n_prepared > 0) return true;
  return false;
}

static int note_started(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error);

static int open_device(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  json_t *open = json_deep_copy(pool->setup.open);
  const clt_deadlines limits = clt_pool_deadlines(pool, 0);
  const double probe_s = fmin(limits.compile_s, limits.host_s);
  worker->stage = CLT_STAGE_OPENING;
  worker->probe = pool->in_doubt ? pool->n_unanswered + 1 : 0;
  if (worker->probe) json_object_set_new(open, "probe", json_true());
  return clt_pool_request(pool, worker, open, CLT_PHASE_VERIFY,
                          worker->probe ? &(clt_deadlines){probe_s, probe_s, probe_s} : NULL, start_load(pool),
                          note_started, error);
}

/* The end of a step in starting a worker. An error that the worker reports would occur again; after a crash it is
 * started again. */
static int note_started(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  const json_t *reply = outcome->reply;
  const char *what = worker->stage == CLT_STAGE_GREETING  ? "starting a worker"
                     : worker->stage == CLT_STAGE_OPENING ? "opening the device in a worker"
                                                          : "computing the input and the reference";
  /* Making data starts in a phase after the kernels', so any other phase belongs to the reference kernel. */
  clt_phase phase = worker->process.phase;
  bool made = worker->makes_data;
  if (made && phase != CLT_PHASE_VERIFY && phase != CLT_PHASE_DONE) what = "running the kernel of the reference";
  worker->makes_data = false;
  if (worker->stage == CLT_STAGE_OPENING && worker->probe) {
    clt_error unanswered = {0};
    if (is_unanswered(worker, outcome, &unanswered)) return note_unanswered(pool, worker, outcome, &unanswered, error);
    if (reply) pool->in_doubt = false, pool->n_unanswered = 0;
  }
  if (reply == NULL && worker->heap_checks) pool->no_heap_checks = true; /* next time without them */
  /* If a worker from an earlier tuning fails, a new one shows whether the failure is real. */
  if (worker->n_problems > 1 && (reply == NULL || strcmp(clt_json_string(reply, "reply"), "error") == 0)) {
    if (reply) clt_pool_replace(pool, worker);
    return CLT_OK;
  }
  /* If it was killed while another worker was busy, it starts again until that one has answered, which has a
   * deadline. */
  if (outcome->killed && has_company(pool, worker)) return CLT_OK;
  if (reply == NULL) return clt_pool_setback(pool, what, outcome->text, error);
  if (worker->stage == CLT_STAGE_GREETING) {
    int rc = clt_process_check_greeting(reply, error);
    if (rc) return rc;
    if (pool->setup.open) return open_device(pool, worker, error);
  } else if (strcmp(clt_json_string(reply, "reply"), "ok") != 0) {
    clt_error why = {0};
    bool refused = clt_message_to_error(reply, &why) == CLT_E_OPENCL && worker->stage == CLT_STAGE_OPENING;
    return refused && leave_out(pool, worker, why.message) ? CLT_OK : clt_message_to_error(reply, error);
  } else if (worker->stage == CLT_STAGE_OPENING) {
    return worker->stage = CLT_STAGE_AWAITING_DATA, CLT_OK;
  } else if (made) {
    clt_error why = {0};
    double quality = NAN;
    if (clt_message_to_quality(&quality, reply, &why)) {
      clt_pool_replace(pool, worker); /* its other answers cannot be trusted either */
      return clt_pool_setback(pool, "computing the input and the reference", why.message, error);
    }
    const json_t *warnings = json_object_get(reply, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
      const char *text = json_string_value(json_array_get(warnings, i));
      if (text) clt_pool_log(pool, CLT_LOG_WARNING, "%s", text);
    }
    if (pool->setup.evaluator.quality) *pool->setup.evaluator.quality = quality;
    pool->data_made = true;
    /* The first build of this process would take longer than opening the problem in a spare one that has built
     * before. */
    if (pool->setup.quiet_builds && pool->n_spare > 0) return clt_pool_replace(pool, worker), CLT_OK;
  }
  worker->stage = CLT_STAGE_UP;
  clt_process_forget_output(&worker->process);
  return CLT_OK;
}

int clt_pool_start_worker(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  static atomic_uint n_folders; /* spare workers bring folders from other pools, so names are unique in the process */
  const clt_deadlines limits = clt_pool_deadlines(pool, 0); /* the greeting has host_s */
  if (worker->stage == CLT_STAGE_DOWN && clt_pool_use_spare(pool, worker)) {
    worker->generation++;
    return open_device(pool, worker, error);
  }
  if (worker->stage == CLT_STAGE_DOWN) {
    char name[32];
    snprintf(name, sizeof name, "worker-%u", atomic_fetch_add(&n_folders, 1));
    int rc = worker->folder ? CLT_OK : clt_run_folder_make(&worker->folder, &pool->folder, name, error);
    if (rc) return rc;
    const clt_process_setup setup = {.path = pool->worker_path,
                                     .folder = worker->folder,
                                     .cache = pool->cache,
                                     .memory_limit_bytes = pool->setup.memory_limit_bytes,
                                     .heap_checks = worker->heap_checks && !pool->no_heap_checks};
    clt_remove_tree(worker->folder, true);
    rc = clt_process_start(&worker->process, &setup, &limits, error);
    if (rc) return rc;
    worker->generation++;
    worker->n_prepared = 0;
    worker->n_problems = 1;
    worker->doubtful = false;
    worker->stage = CLT_STAGE_GREETING;
    worker->done = note_started;
    worker->load = start_load(pool);
  } else if (worker->stage == CLT_STAGE_AWAITING_DATA) {
    const bool made = (pool->setup.data_of ? pool->setup.data_of : pool)->data_made;
    bool being_made = pool->setup.data_of != NULL;
    for (size_t k = 0; k < pool->n_workers; k++) being_made = being_made || pool->workers[k].makes_data;
    if (!made && (being_made || !clt_pool_may_make_data(pool, worker))) return CLT_OK;
    worker->makes_data = !made;
    worker->stage = CLT_STAGE_LOADING;
    return clt_pool_request(pool, worker, clt_pool_data_request(pool, NULL, worker->makes_data), CLT_PHASE_VERIFY, NULL,
                            start_load(pool), note_started, error);
  }
  return CLT_OK;
}
