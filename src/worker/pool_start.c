#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "worker/pool.h"

#define MAX_SETBACKS 3

static int loaded(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error);

static clt_deadlines host_only(const clt_pool *pool) {
  double s = pool->setup.host_timeout_s;
  return (clt_deadlines){.compile_s = s, .run_s = s, .host_s = s};
}

static clt_load start_load(const clt_pool *pool) { return pool->setup.quiet_builds ? CLT_LOAD_NOISE : CLT_LOAD_NONE; }

#define MOST_SAID 300 /* bytes of each end: more would not fit into a message */

/* A text that is too long without its middle, which is what a worker printed first: how it ended stands before that,
 * and its last words come last. NULL when out of memory. */
static char *shorten(const char *text) {
  size_t n = strlen(text);
  if (n <= 2 * MOST_SAID) return strdup(text);
  const char *last = text + n - MOST_SAID;
  const char *line = strchr(last, '\n');
  return clt_format("%.*s\n...\n%s", (int)strcspn(text, "\n"), text, line && line[1] ? line + 1 : last);
}

int clt_pool_setback(clt_pool *pool, const char *what, const char *why, clt_error *error) {
  char *text = shorten(why);
  int rc = text ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && ++pool->setbacks >= MAX_SETBACKS) {
    rc = clt_fail(error, CLT_E_WORKER, "%s failed %d times in a row: %s", what, pool->setbacks, text);
  } else if (rc == CLT_OK) {
    clt_pool_log(pool, CLT_LOG_WARNING, "%s failed, trying again: %s", what, text);
  }
  free(text);
  return rc;
}

/* A start that failed by the worker's own word would fail again; one that crashed is tried some times. */
static int failed(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, const char *what,
                  clt_error *error) {
  worker->makes_data = false;
  if (outcome->reply) return clt_message_to_error(outcome->reply, error);
  return clt_pool_setback(pool, what, outcome->text, error);
}

static bool is_reply(const clt_outcome *outcome, const char *name) {
  return outcome->reply && strcmp(clt_message_string(outcome->reply, "reply"), name) == 0;
}

static int up(clt_pool_worker *worker) {
  worker->stage = CLT_STAGE_UP;
  clt_process_forget_output(&worker->link.process);
  return CLT_OK;
}

json_t *clt_pool_data_request(const clt_pool *pool, uint64_t seed, bool make) {
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/data-%llu", pool->folder.path, (unsigned long long)seed);
  return json_pack("{s:s, s:I, s:o, s:b}", "request", "data", "seed", (json_int_t)seed, "folder",
                   clt_message_text(folder), "make", make);
}

static bool somebody_makes_data(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    if (pool->workers[i].makes_data) return true;
  return false;
}

static int load(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  clt_deadlines limits = host_only(pool);
  worker->makes_data = !pool->data_made;
  worker->stage = CLT_STAGE_LOADING;
  return clt_pool_request(pool, worker, clt_pool_data_request(pool, 1, worker->makes_data), CLT_AT_VERIFY, &limits,
                          start_load(pool), loaded, error);
}

/* Making data begins with what comes after kernels, so any other phase is the reference kernel's. */
static bool is_at_kernel(clt_worker_phase phase) { return phase != CLT_AT_VERIFY && phase != CLT_AT_DONE; }

/* Whoever answers nonsense is not to be trusted with the rest. */
static int distrust(clt_pool *pool, clt_pool_worker *worker, const char *what, const clt_error *why, clt_error *error) {
  clt_pool_replace(pool, worker);
  return clt_pool_setback(pool, what, why->message, error);
}

static int loaded(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  const char *what = "making the input and the reference";
  clt_error why = {0};
  double quality = NAN;
  if (worker->makes_data && outcome->reply == NULL && is_at_kernel(worker->link.phase))
    what = "running the kernel that makes the reference";
  if (!is_reply(outcome, "ok")) return failed(pool, worker, outcome, what, error);
  if (worker->makes_data && clt_message_to_quality(&quality, outcome->reply, &why))
    return distrust(pool, worker, what, &why, error);
  if (worker->makes_data && pool->setup.quality) *pool->setup.quality = quality;
  if (worker->makes_data) pool->data_made = true;
  worker->makes_data = false;
  return up(worker);
}

static int opened(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  if (!is_reply(outcome, "ok")) return failed(pool, worker, outcome, "opening the device in a worker", error);
  worker->stage = CLT_STAGE_AWAITING_DATA;
  return CLT_OK;
}

static int greeted(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  if (outcome->reply == NULL) return failed(pool, worker, outcome, "starting a worker", error);
  int rc = clt_link_check_greeting(outcome->reply, error);
  if (rc) return rc;
  if (pool->setup.open == NULL) return up(worker);
  clt_deadlines limits = host_only(pool);
  worker->stage = CLT_STAGE_OPENING;
  return clt_pool_request(pool, worker, json_deep_copy(pool->setup.open), CLT_AT_VERIFY, &limits, start_load(pool),
                          opened, error);
}

static int start(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  clt_deadlines limits = host_only(pool);
  clt_remove_tree(worker->folder, true);
  int rc =
      clt_link_start(&worker->link, pool->worker_path, worker->folder, pool->setup.memory_limit_bytes, &limits, error);
  if (rc) return rc;
  worker->generation++;
  worker->stage = CLT_STAGE_GREETING;
  worker->done = greeted;
  worker->load = start_load(pool);
  return CLT_OK;
}

int clt_pool_start_workers(clt_pool *pool, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    if (worker->stage == CLT_STAGE_DOWN) {
      rc = start(pool, worker, error);
    } else if (worker->stage == CLT_STAGE_AWAITING_DATA && (pool->data_made || !somebody_makes_data(pool))) {
      rc = load(pool, worker, error);
    }
  }
  return rc;
}
