#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "worker/pool.h"

#define LOCK_RETRY_S 0.01
#define LOCK_SAY_AFTER_S 1.0

void clt_pool_log(const clt_pool *pool, clt_log_level level, const char *format, ...) {
  char text[1024];
  va_list arguments;
  if (pool->setup.log == NULL) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pool->setup.log(pool->setup.log_user, level, text);
}

/* --- requests --- */

clt_deadlines clt_pool_deadlines(const clt_pool *pool, double best_s) {
  const clt_pool_setup *s = &pool->setup;
  double run_s = s->run_timeout_s;
  if (s->run_timeout_factor > 0 && best_s > 0)
    run_s = fmin(run_s, fmax(s->run_timeout_floor_s, s->run_timeout_factor * best_s));
  return (clt_deadlines){.compile_s = s->compile_timeout_s, .run_s = run_s, .host_s = s->host_timeout_s};
}

int clt_pool_request(clt_pool *pool, clt_pool_worker *worker, json_t *request, clt_worker_phase phase,
                     const clt_deadlines *limits, clt_load load, clt_outcome_fn done, clt_error *error) {
  (void)pool;
  if (request == NULL) return clt_fail_memory(error);
  worker->done = done;
  worker->load = load;
  worker->at_gate = false;
  /* A worker that cannot be told anything is dead: the loop finds its end and bills it as any other. */
  clt_link_request(&worker->link, request, phase, limits, NULL);
  return CLT_OK;
}

static int finish(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_outcome_fn done = worker->done;
  worker->done = NULL;
  worker->load = CLT_LOAD_NONE;
  worker->at_gate = false;
  return done ? done(pool, worker, outcome, error) : CLT_OK;
}

static clt_reason blame(clt_worker_phase phase, bool expired) {
  bool compiling = phase == CLT_AT_BUILD || phase == CLT_AT_LAUNCH;
  if (expired) return compiling ? CLT_REASON_COMPILE_TIMEOUT : CLT_REASON_RUN_TIMEOUT;
  return compiling ? CLT_REASON_COMPILE_CRASH : CLT_REASON_RUN_CRASH;
}

static void requeue_all(clt_pool *pool, clt_pool_worker *worker, bool suspect) {
  for (size_t i = 0; i < CLT_POOL_MAX_SLOTS; i++)
    if (worker->slots[i].state == CLT_SLOT_READY) clt_pool_requeue(pool, &worker->slots[i], suspect);
}

static char *stop(clt_pool *pool, clt_pool_worker *worker, bool by_itself, bool suspect) {
  char *why = NULL;
  clt_link_stop(&worker->link, by_itself, &why);
  clt_remove_tree(worker->folder, true);
  requeue_all(pool, worker, suspect);
  return why;
}

void clt_pool_replace(clt_pool *pool, clt_pool_worker *worker) {
  free(stop(pool, worker, false, false));
  worker->stage = CLT_STAGE_DOWN;
  worker->done = NULL;
  worker->load = CLT_LOAD_NONE;
  worker->at_gate = worker->makes_data = false;
}

/* The process is gone, or has to go: ends it and bills what it was at. The stage is left for `done` to look at. */
static int lose(clt_pool *pool, clt_pool_worker *worker, bool expired, clt_error *error) {
  clt_outcome outcome = {.reason = blame(worker->link.phase, expired), .unheard = !expired && !worker->link.heard};
  const char *phase = clt_worker_phase_name(worker->link.phase);
  bool busy = worker->link.busy || worker->done;
  char *why = stop(pool, worker, !expired, !busy || outcome.unheard);
  char *text = clt_format("%s%s: %s", expired ? "took too long at phase " : "lost at phase ", phase, why ? why : "");
  outcome.text = text ? text : "out of memory";
  int rc = busy ? finish(pool, worker, &outcome, error)
                : clt_pool_setback(pool, "a worker that had nothing to do", outcome.text, error);
  worker->stage = CLT_STAGE_DOWN;
  free(why);
  free(text);
  return rc;
}

/* --- the loop --- */

static int handle(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  json_t *reply = NULL;
  while (worker->link.alive) {
    bool was_busy = worker->link.busy;
    clt_link_event event = clt_link_next(&worker->link, &reply);
    if (event == CLT_LINK_NOTHING) break;
    if (event == CLT_LINK_ENDED || !was_busy) { /* one that speaks unasked is as good as dead */
      if (event == CLT_LINK_REPLY) json_decref(reply);
      return lose(pool, worker, false, error);
    }
    if (event == CLT_LINK_PHASE) {
      clt_pool_note_phase(worker);
      continue;
    }
    int rc = finish(pool, worker, &(clt_outcome){.reply = reply}, error);
    json_decref(reply);
    if (rc) return rc;
  }
  return CLT_OK;
}

static double nearest_deadline_s(const clt_pool *pool, double now_s, double timeout_s) {
  if (pool->lock_wait_s > 0) timeout_s = fmin(timeout_s, LOCK_RETRY_S);
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    const clt_link *link = &pool->workers[i].link;
    if (link->alive && link->busy && link->paused_s == 0) timeout_s = fmin(timeout_s, link->deadline_s - now_s);
  }
  return fmax(timeout_s, 0);
}

static void sleep_until_something(const clt_pool *pool, double timeout_s) {
  struct pollfd watched[CLT_PROCESS_WATCHED * CLT_POOL_MAX_WORKERS];
  size_t n = 0;
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    const clt_link *link = &pool->workers[i].link;
    if (!link->alive) continue;
    clt_process_watch(&link->process, watched + n);
    n += CLT_PROCESS_WATCHED;
  }
  double wait_s = nearest_deadline_s(pool, clt_now_s(), timeout_s);
  poll(watched, n, (int)ceil(fmin(wait_s, 3600) * 1e3));
}

/* What has arrived is looked at before the clock is: the caller may have been away for long. */
int clt_pool_pump(clt_pool *pool, double timeout_s, clt_error *error) {
  int rc = CLT_OK;
  sleep_until_something(pool, timeout_s);
  for (size_t i = 0; rc == 0 && i < pool->setup.n_workers; i++)
    if (pool->workers[i].link.alive) rc = handle(pool, &pool->workers[i], error);
  double now_s = clt_now_s();
  for (size_t i = 0; rc == 0 && i < pool->setup.n_workers; i++)
    if (pool->workers[i].link.alive && clt_link_expired(&pool->workers[i].link, now_s))
      rc = lose(pool, &pool->workers[i], true, error);
  return rc;
}

bool clt_pool_lock(clt_pool *pool, clt_lock_state wanted) {
  if (clt_lock_try(&pool->lock, wanted)) {
    pool->lock_wait_s = 0;
    pool->lock_said = false;
    return true;
  }
  if (pool->lock_wait_s == 0) pool->lock_wait_s = clt_now_s();
  if (!pool->lock_said && clt_now_s() - pool->lock_wait_s > LOCK_SAY_AFTER_S) {
    clt_pool_log(pool, CLT_LOG_INFO, "waiting for another tuner that uses the device");
    pool->lock_said = true;
  }
  return false;
}
