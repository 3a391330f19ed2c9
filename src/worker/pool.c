#include "worker/pool.h"

#include <stdlib.h>

#include "base/base.h"
#include "worker/workers.h"

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
