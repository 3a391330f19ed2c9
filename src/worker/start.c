/* Starts the workers of a pool: greeting, opening the device, loading the data that one of them makes. */
#include <stdatomic.h>

#include "base/base.h"
#include "worker/workers.h"

#define MAX_UNANSWERED 2
#define FIRST_WORKERS 2 /* on a device other than a CPU, before any has opened it */

static clt_request_load start_load(const clt_pool *pool) {
  return pool->setup.quiet_builds ? CLT_LOAD_NOISE : CLT_LOAD_NONE;
}

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

json_t *clt_pool_data_request(const clt_pool *pool, const clt_check *check, bool make) {
  const clt_evaluator_setup *setup = &pool->setup.evaluator;
  const clt_recipe *recipe = setup->inputs ? setup->inputs : &clt_own_inputs;
  if (check) recipe = &check->recipe;
  char folder[4096];
  const clt_pool *maker = check == NULL && pool->setup.data_of ? pool->setup.data_of : pool;
  snprintf(folder, sizeof folder, "%s/data-%zu", maker->folder.path, check ? 1 + (size_t)(check - setup->checks) : 0);
  return json_pack("{s:s, s:i, s:o, s:o, s:b}", "request", "data", "set", check ? 2 : 1, "recipe",
                   clt_message_from_recipe(recipe, setup->space), "folder", clt_json_text(folder), "make", make);
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
  const char *what = "computing the input and the reference";
  if (worker->stage == CLT_STAGE_GREETING) what = "starting a worker";
  if (worker->stage == CLT_STAGE_OPENING) what = "opening the device in a worker";
  /* Making data starts in a phase after the kernels', so any other phase belongs to the reference kernel. */
  clt_phase phase = worker->process.phase;
  bool made = worker->makes_data;
  if (made && phase != CLT_PHASE_VERIFY && phase != CLT_PHASE_DONE) what = "running the kernel of the reference";
  worker->makes_data = false;
  if (worker->stage == CLT_STAGE_OPENING && worker->probe) {
    clt_error unanswered = {0};
    if (is_unanswered(worker, outcome, &unanswered)) return note_unanswered(pool, worker, outcome, &unanswered, error);
    if (reply) pool->in_doubt = false, pool->n_unanswered = 0;
    for (clt_job *job = pool->jobs; reply && job < pool->jobs + pool->capacity; job++)
      if (job->state == CLT_JOB_IN_DOUBT) clt_job_finish(pool, job);
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
    worker->stage = CLT_STAGE_AWAITING_DATA;
    return CLT_OK;
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
    if (pool->setup.quiet_builds && pool->n_spare > 0) {
      clt_pool_replace(pool, worker);
      return CLT_OK;
    }
  }
  worker->stage = CLT_STAGE_UP;
  clt_process_forget_output(&worker->process);
  return CLT_OK;
}

int clt_pool_start_process(clt_pool *pool, clt_pool_worker *worker, clt_outcome_fn done, clt_error *error) {
  static atomic_uint n_folders; /* spare workers bring folders from other pools, so names are unique in the process */
  const clt_deadlines limits = clt_pool_deadlines(pool, 0); /* the greeting has host_s */
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
  worker->doubtful = worker->unused = false;
  worker->stage = CLT_STAGE_GREETING;
  worker->done = done;
  worker->load = start_load(pool);
  return CLT_OK;
}

int clt_pool_start_worker(clt_pool *pool, clt_pool_worker *worker, clt_error *error) {
  if (worker->stage == CLT_STAGE_DOWN && clt_pool_use_spare(pool, worker)) {
    worker->generation++;
    return open_device(pool, worker, error);
  }
  if (worker->stage == CLT_STAGE_DOWN) return clt_pool_start_process(pool, worker, note_started, error);
  if (worker->stage == CLT_STAGE_AWAITING_DATA) {
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

int clt_pool_start_workers(clt_pool *pool, clt_error *error) {
  const bool at_once = pool->setup.quiet_builds;
  size_t n_waiting = 0, n_starting = 0, n_loading = 0, n_up = 0;
  int rc = CLT_OK;
  for (const clt_job *job = pool->jobs; job < pool->jobs + pool->capacity; job++)
    n_waiting += job->state == CLT_JOB_QUEUED || job->state == CLT_JOB_IN_DOUBT;
  for (const clt_pool_worker *w = pool->workers; w < pool->workers + pool->setup.n_workers; w++) {
    n_starting += w->stage == CLT_STAGE_GREETING || w->stage == CLT_STAGE_OPENING;
    n_loading += w->stage == CLT_STAGE_AWAITING_DATA || w->stage == CLT_STAGE_LOADING;
    n_up += w->stage == CLT_STAGE_UP;
  }
  for (size_t i = 0; rc == CLT_OK && i < pool->setup.n_workers; i++) {
    clt_pool_worker *worker = &pool->workers[i];
    const bool is_first = n_starting + n_loading + n_up < FIRST_WORKERS;
    /* Those that are not up yet will each take one that waits. */
    const bool is_needed = n_waiting > n_starting + n_loading && n_starting < n_loading + n_up;
    if (worker->stage == CLT_STAGE_DOWN && !at_once && !is_first && !is_needed) continue;
    n_starting += worker->stage == CLT_STAGE_DOWN;
    rc = clt_pool_start_worker(pool, worker, error);
  }
  return rc;
}
