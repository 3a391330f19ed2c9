/* Workers between two tunings. Starting a process and its driver, and the driver's first build, take about a second on
 * PoCL. A thread that runs one tuning after another may therefore keep its workers for the next one. A kept worker
 * releases its problem, its data and the device, but keeps the loaded driver. The workers belong to the thread, because
 * they end with it.
 *
 * A kernel on the CPU may have damaged its process. So only workers without any failure are kept; a failure in one
 * is repeated in a new process; and a new process makes the data, because all results are compared with them. */
#include "worker/pool.h"

#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "worker/workers.h"

#define MOST_PROBLEMS 50 /* tunings per process, because drivers leak some memory with each */
#define GIVE_UP_S 5.0    /* time limit for a worker to release its problem */

/* The kept workers, if any, with their folder and the compiler's cache. cache NULL: nothing is kept. */
static _Thread_local struct {
  bool wanted, keeps_builds;
  uint64_t kind; /* hash of the processes' settings; a pool with another hash cannot use them */
  clt_pool_worker *workers;
  size_t n;
  clt_run_folder folder;
  char *cache;
  size_t n_cached; /* as in clt_pool */
} reserve;

static void end_workers(clt_pool_worker *workers, size_t n) {
  for (size_t i = 0; i < n; i++) clt_process_kill(&workers[i].process);
  for (size_t i = 0; i < n; i++) {
    clt_process_stop(&workers[i].process, false, NULL);
    free(workers[i].folder);
  }
  free(workers);
}

void clt_workers_renew(void) {
  for (size_t i = 0; i < reserve.n; i++) clt_remove_tree(reserve.workers[i].folder, false);
  end_workers(reserve.workers, reserve.n);
  reserve.workers = NULL;
  reserve.n = 0;
}

static void end_reserve(void) {
  clt_workers_renew();
  clt_run_folder_remove(&reserve.folder);
  free(reserve.cache);
  reserve.cache = NULL;
}

bool clt_workers_reserved(void) { return reserve.wanted; }

void clt_workers_reserve(bool wanted, bool keeps_builds) {
  reserve.wanted = wanted;
  reserve.keeps_builds = keeps_builds;
  if (!wanted) end_reserve();
}

/* A hash of the settings that a process starts with, and of the device whose driver it has loaded. 0: unknown. */
static uint64_t hash_kind(const clt_pool *pool) {
  clt_text text = {0};
  char *device = json_dumps(json_object_get(pool->setup.open, "device"), JSON_COMPACT | JSON_SORT_KEYS), *all = NULL;
  clt_text_printf(&text, "%s\n%lld\n%s", pool->worker_path, (long long)pool->setup.memory_limit_bytes,
                  device ? device : "");
  for (char **entry = environ; entry && *entry; entry++) clt_text_printf(&text, "\n%s", *entry);
  for (const char *const *entry = clt_worker_added_environment(); *entry; entry++)
    clt_text_printf(&text, "\n%s", *entry);
  free(device);
  const size_t n = text.n;
  if (clt_text_take(&all, &text, NULL)) return 0;
  const uint64_t hash = clt_hash64(all, n);
  free(all);
  return hash;
}

void clt_pool_take_reserve(clt_pool *pool) {
  if (reserve.cache == NULL || reserve.kind != hash_kind(pool)) return;
  pool->spare = reserve.workers;
  pool->n_spare = reserve.n;
  pool->folder = reserve.folder;
  pool->cache = reserve.cache;
  pool->n_cached = reserve.n_cached;
  reserve.workers = NULL;
  reserve.n = 0;
  reserve.folder = (clt_run_folder){.lock_fd = -1};
  reserve.cache = NULL;
}

/* Removes this tuning's data and compiler cache from the folder. The cache would distort later build times, so it
 * stays only if the caller does not need these. */
void clt_pool_leave_reserve(clt_pool *pool) {
  char path[4096];
  const bool is_of_use = pool->n_spare > 0 || reserve.keeps_builds;
  const uint64_t kind = reserve.wanted && !pool->broken && is_of_use ? hash_kind(pool) : 0;
  if (kind == 0) {
    end_workers(pool->spare, pool->n_spare);
  } else {
    end_reserve();
    for (int set = 0; set <= CLT_MAX_CHECKS; set++) {
      snprintf(path, sizeof path, "%s/data-%d", pool->folder.path, set);
      clt_remove_tree(path, false);
    }
    if (!reserve.keeps_builds) clt_remove_tree(pool->cache, true), pool->n_cached = 0;
    reserve.n_cached = pool->n_cached;
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

/* Whether some worker has had no earlier tuning. */
static bool has_clean(const clt_pool *pool) {
  for (size_t i = 0; i < pool->setup.n_workers; i++)
    if (pool->workers[i].process.alive && pool->workers[i].n_problems == 1) return true;
  return false;
}

/* Making the data, and configurations that must be alone in their process, need a worker without earlier tunings. */
static bool is_clean_enough(const clt_pool *pool, const clt_pool_worker *spare) {
  if (spare->unused) return true;
  if (pool->in_doubt || !(pool->data_made || pool->setup.data_of || has_clean(pool))) return false;
  for (const clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    if (job->state == CLT_JOB_QUEUED && job->company != CLT_AMONG_OTHERS) return false;
  return true;
}

bool clt_pool_use_spare(clt_pool *pool, clt_pool_worker *worker) {
  size_t i = pool->n_spare;
  while (i > 0 &&
         !(pool->spare[i - 1].heap_checks == worker->heap_checks && is_clean_enough(pool, &pool->spare[i - 1])))
    i--;
  if (i == 0) return false;
  const uint64_t generation = worker->generation;
  free(worker->folder);
  *worker = pool->spare[i - 1];
  pool->spare[i - 1] = pool->spare[--pool->n_spare];
  worker->generation = generation;
  worker->n_problems++;
  worker->unused = false;
  return true;
}

/* --- for the thread's next pool --- */

static int note_warm(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  if (outcome->reply == NULL || strcmp(clt_json_string(outcome->reply, "reply"), "ok") != 0) return CLT_OK;
  worker->stage = CLT_STAGE_UP;
  worker->unused = true;
  worker->n_problems = 0;
  return CLT_OK;
}

static int warm_up(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  if (outcome->reply == NULL || clt_process_check_greeting(outcome->reply, NULL)) return CLT_OK;
  json_t *open = json_deep_copy(pool->setup.open);
  json_object_set_new(open, "probe", json_true());
  worker->stage = CLT_STAGE_OPENING;
  return clt_pool_request(pool, worker, open, CLT_PHASE_VERIFY, NULL, CLT_LOAD_NOISE, note_warm, error);
}

void clt_pool_prepare_next(clt_pool *pool) {
  const bool of_use = reserve.wanted && pool->setup.quiet_builds && pool->setup.open && !pool->no_heap_checks;
  if (!of_use || pool->next) return;
  pool->next = &pool->workers[CLT_POOL_MAX_WORKERS - 1];
  pool->n_workers = CLT_POOL_MAX_WORKERS;
  pool->next->heap_checks = true;
  clt_pool_start_process(pool, pool->next, warm_up, NULL);
}

bool clt_pool_may_make_data(clt_pool *pool, clt_pool_worker *worker) {
  if (worker->n_problems == 1) return true;
  if (!has_clean(pool)) clt_pool_replace(pool, worker);
  return false;
}

/* Whether the worker has released everything. */
static bool gives_up(clt_pool_worker *worker) {
  const clt_deadlines limits = {GIVE_UP_S, GIVE_UP_S, GIVE_UP_S};
  json_t *reply = NULL;
  int rc =
      clt_process_request(&worker->process, json_pack("{s:s}", "request", "close"), CLT_PHASE_VERIFY, &limits, NULL);
  if (rc == CLT_OK) rc = clt_process_await(&worker->process, &reply, NULL);
  if (rc == CLT_OK) rc = clt_process_check_greeting(reply, NULL);
  json_decref(reply);
  return rc == CLT_OK;
}

void clt_pool_dismiss(clt_pool *pool, clt_pool_worker *worker) {
  const bool wanted = reserve.wanted && clt_pool_idle(worker) && (!worker->heap_checks || worker->unused) &&
                      !worker->doubtful && !pool->broken && !pool->in_doubt && worker->n_problems < MOST_PROBLEMS &&
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
                                                   .heap_checks = worker->heap_checks,
                                                   .unused = worker->unused,
                                                   .n_prepared = worker->n_prepared,
                                                   .n_problems = worker->n_problems};
  *worker = (clt_pool_worker){.generation = worker->generation};
}
