#include "worker/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"

/* --- making and ending --- */

static int make_workers(clt_pool *pool, clt_error *error) {
  pool->workers = clt_new_array(pool->setup.n_workers, sizeof *pool->workers);
  if (pool->workers == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < pool->setup.n_workers; i++) {
    char name[32];
    snprintf(name, sizeof name, "worker-%zu", i);
    int rc = clt_run_folder_make(&pool->workers[i].folder, &pool->folder, name, error);
    if (rc) return rc;
  }
  return CLT_OK;
}

static int make_queues(clt_pool *pool, clt_error *error) {
  pool->capacity = pool->setup.n_workers * pool->n_slots;
  pool->queue = clt_new_array(pool->capacity, sizeof *pool->queue);
  pool->results = clt_new_array(pool->capacity, sizeof *pool->results);
  return pool->queue && pool->results ? CLT_OK : clt_fail_memory(error);
}

/* A lock that cannot be made must not keep anybody from tuning. */
static void open_lock(clt_pool *pool) {
  clt_error why = {0};
  if (clt_lock_open(&pool->lock, pool->setup.lock_key, &why))
    clt_pool_log(pool, CLT_LOG_WARNING, "%s; going on without the lock that keeps other tuners off the device",
                 why.message);
}

int clt_pool_new(clt_pool **out, const clt_pool_setup *setup, clt_error *error) {
  if (setup->n_workers < 1 || setup->n_workers > CLT_POOL_MAX_WORKERS || setup->n_slots < 1 ||
      setup->n_slots > CLT_POOL_MAX_SLOTS)
    return clt_fail(error, CLT_E_ARGUMENT, "a pool of %zu workers with %zu places each cannot be made",
                    setup->n_workers, setup->n_slots);
  clt_pool *pool = clt_new_array(1, sizeof *pool);
  if (pool == NULL) return clt_fail_memory(error);
  pool->setup = *setup;
  pool->n_slots = setup->n_slots;
  pool->lock.fd = -1;
  int rc = clt_worker_path(&pool->worker_path, error);
  if (rc == 0) rc = clt_run_folder_new(&pool->folder, error);
  if (rc == 0) rc = make_workers(pool, error);
  if (rc == 0) rc = make_queues(pool, error);
  if (rc == 0) open_lock(pool);
  if (rc == 0 && clt_pool_lock(pool, CLT_LOCK_SHARED)) rc = clt_pool_start_workers(pool, error);
  if (rc) {
    clt_pool_free(pool);
    return rc;
  }
  *out = pool;
  return CLT_OK;
}

static void free_worker(clt_pool_worker *worker) {
  char *why = NULL;
  clt_link_stop(&worker->link, false, &why);
  free(why);
  free(worker->folder);
  for (size_t i = 0; i < CLT_POOL_MAX_SLOTS; i++)
    if (worker->slots[i].state != CLT_SLOT_EMPTY) clt_measurement_release(&worker->slots[i].job.measurement);
}

void clt_pool_free(clt_pool *pool) {
  if (pool == NULL) return;
  if (pool->n_kept) clt_pool_give_up_kept(pool);
  for (size_t i = 0; pool->workers && i < pool->setup.n_workers; i++) free_worker(&pool->workers[i]);
  for (size_t i = 0; i < pool->n_results; i++) clt_measurement_release(&pool->results[i]);
  clt_lock_close(&pool->lock);
  clt_run_folder_remove(&pool->folder);
  free(pool->workers);
  free(pool->queue);
  free(pool->results);
  free(pool->worker_path);
  free(pool);
}

/* --- for the evaluator --- */

size_t clt_pool_workers(const clt_pool *pool) { return pool->setup.n_workers; }
size_t clt_pool_capacity(const clt_pool *pool) { return pool->capacity; }

int clt_pool_submit(clt_pool *pool, clt_config config, double best_s, clt_error *error) {
  if (pool->n_submitted >= pool->capacity)
    return clt_fail(error, CLT_E_ARGUMENT, "more than %zu configurations submitted at once", pool->capacity);
  if (pool->n_kept) clt_pool_give_up_kept(pool);
  clt_pool_enqueue(pool, config, best_s);
  pool->n_submitted++;
  return CLT_OK;
}

static void take_result(clt_pool *pool, clt_measurement *out) {
  *out = pool->results[0];
  pool->n_results--;
  pool->n_submitted--;
  memmove(pool->results, pool->results + 1, pool->n_results * sizeof *pool->results);
}

static int turn(clt_pool *pool, clt_measurement *out, double until_s, clt_error *error) {
  bool quiet = pool->setup.quiet_builds;
  /* On a CPU nothing may be timed while the caller is busy with a result, so timing begins only when there is none. */
  int rc = clt_pool_schedule(pool, !quiet || pool->n_results == 0, error);
  if (rc) return rc;
  if (pool->n_results > 0 && !(quiet && clt_pool_times(pool))) {
    take_result(pool, out);
    return CLT_OK;
  }
  double left_s = until_s - clt_now_s();
  rc = clt_pool_pump(pool, fmax(left_s, 0), error);
  if (rc) return rc;
  return pool->n_results == 0 && left_s <= 0 ? CLT_E_AGAIN : 1;
}

int clt_pool_wait(clt_pool *pool, clt_measurement *out, double timeout_s, clt_error *error) {
  if (pool->broken) {
    if (error && error->code == 0) *error = pool->broken_error;
    return pool->broken;
  }
  if (pool->n_submitted == 0) return CLT_E_AGAIN;
  clt_error why = {0};
  double until_s = clt_now_s() + timeout_s;
  int rc;
  do {
    rc = turn(pool, out, until_s, &why);
  } while (rc == 1);
  if (rc && rc != CLT_E_AGAIN) {
    pool->broken = rc;
    pool->broken_error = why;
    if (error && error->code == 0) *error = why;
  }
  return rc;
}
