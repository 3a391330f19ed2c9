#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "worker/pool.h"

#define MAX_ATTEMPTS 2 /* of a configuration that may have ended its worker */
#define MAX_RETRIES 2  /* for other reasons */

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

void clt_pool_attach_output(const clt_pool_worker *worker, clt_measurement *m) {
  const char *printed = worker->link.process.captured;
  if (m->reason == CLT_REASON_NONE || printed == NULL || *printed == 0) return;
  char *log = clt_format("%s%sprinted meanwhile:\n%s", m->log ? m->log : "", m->log ? "\n" : "", printed);
  if (log) clt_measurement_fail(m, m->reason, log);
  free(log);
}

static int decode(clt_measurement *out, clt_config config, const json_t *message) {
  int rc = clt_message_to_measurement(out, json_object_get(message, "measurement"), NULL);
  if (rc == 0 && out->config == config) return CLT_OK;
  if (rc == 0) clt_measurement_release(out);
  return CLT_E_FORMAT;
}

int clt_pool_measurement(clt_measurement *out, clt_config config, const clt_outcome *outcome, clt_error *error) {
  if (outcome->reply && strcmp(clt_message_string(outcome->reply, "reply"), "error") == 0)
    return clt_message_to_error(outcome->reply, error);
  if (outcome->reply && decode(out, config, outcome->reply) == 0) return CLT_OK;
  clt_measurement_init(out, config);
  if (outcome->reply) {
    clt_measurement_fail(out, CLT_REASON_RUN_CRASH, "the worker's answer makes no sense");
  } else {
    clt_measurement_fail(out, outcome->reason, outcome->text);
  }
  return CLT_OK;
}

static void deliver(clt_pool *pool, clt_measurement *m) { pool->results[pool->n_results++] = *m; }

static void empty(clt_slot *slot) {
  clt_measurement_release(&slot->job.measurement);
  slot->state = CLT_SLOT_EMPTY;
}

static void give_up(clt_pool *pool, clt_config config) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, CLT_REASON_RUN_CRASH, "both workers that had prepared it ended");
  deliver(pool, &m);
}

void clt_pool_enqueue(clt_pool *pool, clt_config config, double best_s) {
  unsigned attempts = pool->setup.attempts ? pool->setup.attempts(pool->setup.attempts_user, config) : 0;
  if (attempts >= MAX_ATTEMPTS)
    give_up(pool, config);
  else
    pool->queue[pool->n_queue++] = (clt_job){.config = config, .best_s = best_s, .attempts = attempts};
}

/* Put on record before it is tried again, so that a tuner that ends meanwhile does not begin to count anew. */
static void note_lost(clt_pool *pool, clt_config config) {
  clt_error error = {0};
  int rc = pool->setup.lost ? pool->setup.lost(pool->setup.attempts_user, config, &error) : CLT_OK;
  if (rc == CLT_OK || pool->broken) return;
  pool->broken = rc;
  pool->broken_error = error;
}

/* To the front: it has waited longest. A suspect that is lost again is what the workers die of. */
void clt_pool_requeue(clt_pool *pool, clt_slot *slot, bool suspect) {
  clt_job job = slot->job;
  empty(slot);
  if (suspect && ++job.attempts >= MAX_ATTEMPTS) {
    give_up(pool, job.config);
    return;
  }
  if (suspect) note_lost(pool, job.config);
  memmove(pool->queue + 1, pool->queue, pool->n_queue * sizeof *pool->queue);
  pool->queue[0] = job;
  pool->n_queue++;
}

/* The worker could not do its own work: once more with another process, then give up. */
static int again(clt_pool *pool, clt_pool_worker *worker, clt_slot *slot, const clt_error *why, clt_error *error) {
  int rc = clt_pool_setback(pool, "a worker", why->message, NULL);
  if (rc || ++slot->job.retries >= MAX_RETRIES) {
    if (error && error->code == 0) *error = *why;
    return why->code;
  }
  clt_pool_requeue(pool, slot, false);
  clt_pool_replace(pool, worker);
  return CLT_OK;
}

static bool try_again(clt_pool *pool, clt_slot *slot, const clt_outcome *outcome) {
  if (!outcome->unheard || slot->job.attempts + 1 >= MAX_ATTEMPTS) return false;
  clt_pool_requeue(pool, slot, true);
  return true;
}

static bool others_hold_memory(const clt_pool *pool, const clt_slot *slot) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    for (size_t k = 0; k < CLT_POOL_MAX_SLOTS; k++) {
      const clt_slot *other = &pool->workers[i].slots[k];
      if (other != slot && other->state == CLT_SLOT_READY) return true;
    }
  return false;
}

/* Out of memory because much is prepared at once is not the configuration's fault. */
static bool try_with_less(clt_pool *pool, clt_slot *slot, clt_measurement *m) {
  if (m->reason != CLT_REASON_OUT_OF_MEMORY || !others_hold_memory(pool, slot)) return false;
  if (++slot->job.retries >= MAX_RETRIES) return false;
  if (pool->n_slots > 1) clt_pool_log(pool, CLT_LOG_INFO, "out of memory: from now on a worker prepares one at a time");
  pool->n_slots = 1;
  clt_measurement_release(m);
  clt_pool_requeue(pool, slot, false);
  return true;
}

int clt_pool_prepared(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_slot *slot = &worker->slots[worker->slot];
  clt_measurement m;
  clt_error why = {0};
  clt_measurement_init(&m, CLT_CONFIG_NONE);
  if (try_again(pool, slot, outcome)) return CLT_OK;
  if (clt_pool_measurement(&m, slot->job.config, outcome, &why)) return again(pool, worker, slot, &why, error);
  if (outcome->reply) pool->setbacks = 0;
  if (m.reason == CLT_REASON_NONE) {
    slot->job.measurement = m;
    slot->job.ready_s = clt_now_s();
    slot->state = CLT_SLOT_READY;
    return CLT_OK;
  }
  if (try_with_less(pool, slot, &m)) return CLT_OK;
  if (outcome->reply) clt_pool_attach_output(worker, &m);
  empty(slot);
  deliver(pool, &m);
  if (outcome->reply && clt_pool_taints(m.reason)) clt_pool_replace(pool, worker);
  return CLT_OK;
}

int clt_pool_timed(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_slot *slot = &worker->slots[worker->slot];
  clt_measurement m;
  clt_error why = {0};
  clt_measurement_init(&m, CLT_CONFIG_NONE);
  if (try_again(pool, slot, outcome)) return CLT_OK;
  if (clt_pool_measurement(&m, slot->job.config, outcome, &why)) return again(pool, worker, slot, &why, error);
  const clt_phases *before = &slot->job.measurement.phases;
  if (outcome->reply == NULL) m.phases = *before; /* the worker can no longer tell */
  m.phases.wait_s = before->wait_s;
  if (outcome->reply) clt_pool_attach_output(worker, &m);
  empty(slot);
  deliver(pool, &m);
  if (outcome->reply && clt_pool_taints(m.reason)) clt_pool_replace(pool, worker);
  return CLT_OK;
}
