/* Workers between two tunings. A process, its driver's start and the driver's first build take a second on PoCL. So a
 * thread that runs one tuning after the other may have its workers wait for the next one: each gives up its problem,
 * its data and the device, and keeps what the driver has loaded. They belong to the thread, since they end with it.
 *
 * A kernel on the CPU may have damaged its process. So only those wait in which nothing went wrong; what fails there is
 * tried again in a new process, as ever; and the data, which all are judged by, are made in a new one. */
#include "worker/reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "worker/pool.h"

#define MOST_PROBLEMS 50 /* of a process: drivers lose some memory with each */
#define GIVE_UP_S 5.0    /* what a worker may take to give up its problem */
#define DATA_SEEDS 4

/* What waits, with the folder that it was started in. */
static _Thread_local struct {
  bool wanted;
  uint64_t kind; /* of the processes: others are of no use to a pool */
  clt_pool_worker *workers;
  size_t n;
  clt_run_folder folder;
  char *cache;
} reserve;

static void end_workers(clt_pool_worker *workers, size_t n) {
  for (size_t i = 0; i < n; i++) clt_process_kill(&workers[i].process);
  for (size_t i = 0; i < n; i++) {
    clt_process_stop(&workers[i].process, false, NULL);
    free(workers[i].folder);
  }
  free(workers);
}

static void end_reserve(void) {
  end_workers(reserve.workers, reserve.n);
  clt_run_folder_remove(&reserve.folder);
  free(reserve.cache);
  reserve.workers = NULL;
  reserve.n = 0;
  reserve.cache = NULL;
}

void clt_workers_reserve(bool wanted) {
  reserve.wanted = wanted;
  if (!wanted) end_reserve();
}

/* What a process is given when it starts, and the device whose driver it has loaded. 0: unknown. */
static uint64_t hash_kind(const clt_pool *pool) {
  clt_text text = {0};
  char *device = json_dumps(json_object_get(pool->setup.open, "device"), JSON_COMPACT | JSON_SORT_KEYS), *all = NULL;
  clt_text_printf(&text, "%s\n%lld\n%s", pool->worker_path, (long long)pool->setup.memory_limit_bytes,
                  device ? device : "");
  for (char **entry = environ; entry && *entry; entry++) clt_text_printf(&text, "\n%s", *entry);
  free(device);
  const size_t n = text.n;
  if (clt_text_take(&all, &text, NULL)) return 0;
  const uint64_t hash = clt_hash64(all, n);
  free(all);
  return hash;
}

void clt_pool_take_reserve(clt_pool *pool) {
  if (reserve.n == 0 || reserve.kind != hash_kind(pool)) return;
  pool->spare = reserve.workers;
  pool->n_spare = reserve.n;
  pool->folder = reserve.folder;
  pool->cache = reserve.cache;
  reserve.workers = NULL;
  reserve.n = 0;
  reserve.folder = (clt_run_folder){.lock_fd = -1};
  reserve.cache = NULL;
}

/* Nothing of this tuning stays in the folder: what was compiled for it would hide how long compiling takes. */
void clt_pool_leave_reserve(clt_pool *pool) {
  char path[4096];
  const uint64_t kind = reserve.wanted && !pool->broken && pool->n_spare > 0 ? hash_kind(pool) : 0;
  if (kind == 0) {
    end_workers(pool->spare, pool->n_spare);
  } else {
    end_reserve();
    for (int seed = 1; seed <= DATA_SEEDS; seed++) {
      snprintf(path, sizeof path, "%s/data-%d", pool->folder.path, seed);
      clt_remove_tree(path, false);
    }
    clt_remove_tree(pool->cache, true);
    reserve.kind = kind;
    reserve.workers = pool->spare;
    reserve.n = pool->n_spare;
    reserve.folder = pool->folder;
    reserve.cache = pool->cache;
    pool->folder = (clt_run_folder){.lock_fd = -1};
    pool->cache = NULL;
  }
  pool->spare = NULL;
  pool->n_spare = 0;
}

/* Whether another one has run nothing before this tuning, or is about to come up so. */
static bool has_clean(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    if (pool->workers[i].process.alive && pool->workers[i].n_problems == 1) return true;
  return false;
}

/* What has to be alone in its process, and the data, need one that has run nothing. */
bool clt_pool_use_spare(clt_pool *pool, clt_pool_worker *worker) {
  const bool data_there = pool->data_made || pool->setup.data_of || has_clean(pool);
  if (pool->n_spare == 0 || worker->heap_checks || pool->in_doubt || !data_there) return false;
  for (const clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    if (job->state == CLT_JOB_QUEUED && job->company != CLT_AMONG_OTHERS) return false;
  const uint64_t generation = worker->generation;
  free(worker->folder);
  *worker = pool->spare[--pool->n_spare];
  worker->generation = generation;
  worker->n_problems++;
  return true;
}

bool clt_pool_may_make_data(clt_pool *pool, clt_pool_worker *worker) {
  if (worker->n_problems == 1) return true;
  if (!has_clean(pool)) clt_pool_replace(pool, worker);
  return false;
}

/* Whether it has given up all that it had. */
static bool gives_up(clt_pool_worker *worker) {
  const clt_deadlines limits = {GIVE_UP_S, GIVE_UP_S, GIVE_UP_S};
  json_t *reply = NULL;
  int rc =
      clt_process_request(&worker->process, json_pack("{s:s}", "request", "close"), CLT_PHASE_VERIFY, &limits, NULL);
  if (rc == 0) rc = clt_process_await(&worker->process, &reply, NULL);
  if (rc == 0) rc = clt_process_check_greeting(reply, NULL);
  json_decref(reply);
  return rc == 0;
}

void clt_pool_dismiss(clt_pool *pool, clt_pool_worker *worker) {
  const bool wanted = reserve.wanted && clt_pool_idle(worker) && !worker->heap_checks && !worker->doubtful &&
                      !pool->broken && !pool->in_doubt && worker->n_problems < MOST_PROBLEMS &&
                      pool->n_spare < pool->setup.n_workers;
  if (wanted && pool->spare == NULL) pool->spare = clt_new_array(CLT_POOL_MAX_WORKERS, sizeof *pool->spare);
  if (!wanted || pool->spare == NULL || !gives_up(worker)) {
    clt_pool_replace(pool, worker);
    return;
  }
  clt_process_forget_output(&worker->process);
  clt_remove_tree(worker->folder, true);
  pool->spare[pool->n_spare++] = (clt_pool_worker){.process = worker->process,
                                                   .folder = worker->folder,
                                                   .n_prepared = worker->n_prepared,
                                                   .n_problems = worker->n_problems};
  *worker = (clt_pool_worker){.generation = worker->generation};
}
