#include "worker/child/slots.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "worker/child/spread.h"
#include "worker/open_request.h"
#include "worker/reference.h"

/* --- opening --- */

/* The parent chose this place from a list that another process made. */
static int check_device(const clt_worker *worker, clt_error *error) {
  const clt_device_info *wanted = clt_instance_device(worker->instance), *found = clt_executor_device(worker->executor);
  if (strcmp(wanted->name, found->name) == 0 && strcmp(wanted->driver_version, found->driver_version) == 0)
    return CLT_OK;
  return clt_fail(error, CLT_E_DEVICE, "device %d:%d is '%s', but '%s' was chosen; list the devices again",
                  wanted->platform_index, wanted->device_index, found->name, wanted->name);
}

int clt_worker_open(clt_worker *worker, const json_t *request, clt_phase_fn on_phase, void *user, clt_error *error) {
  if (worker->executor) return clt_fail(error, CLT_E_ARGUMENT, "the worker is open already");
  int rc = clt_open_request_take(&worker->problem, &worker->instance, request, error);
  if (rc) return rc;
  const clt_device_info *device = clt_instance_device(worker->instance);
  rc = clt_executor_new(&worker->executor, device->platform_index, device->device_index, error);
  if (rc == 0) rc = check_device(worker, error);
  if (rc == 0) clt_executor_on_phase(worker->executor, on_phase, user);
  return rc;
}

/* --- data --- */

/* The figure of quality last, so that what a module's function does to the arrays reaches nobody. */
static int make_data(clt_worker *worker, uint64_t seed, const char *folder, double *quality, clt_error *error) {
  clt_data *data = NULL;
  clt_remove_tree(folder, 0); /* of a worker that did not finish */
  if (mkdir(folder, 0700)) return clt_fail_errno(error, CLT_E_IO, "make the folder", folder);
  int rc = clt_reference_data(&data, worker->executor, worker->instance, seed, error);
  if (rc == 0) rc = clt_data_save(data, folder, error);
  if (rc == 0 && seed == 1) rc = clt_data_quality(quality, worker->instance, data, error);
  clt_data_free(data);
  return rc;
}

int clt_worker_load(clt_worker *worker, const json_t *request, double *quality, clt_error *error) {
  int64_t seed;
  const char *folder = clt_message_string(request, "folder");
  if (worker->executor == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the worker is not open");
  int rc = clt_message_integer(&seed, request, "seed", 1, CLT_WORKER_DATA_SETS, error);
  if (rc) return rc;
  clt_data **slot = &worker->data[seed - 1];
  clt_data_free(*slot);
  *slot = NULL;
  if (json_is_true(json_object_get(request, "make"))) rc = make_data(worker, (uint64_t)seed, folder, quality, error);
  return rc ? rc : clt_data_map(slot, worker->instance, (uint64_t)seed, folder, error);
}

/* --- slots --- */

static int find_slot(clt_worker_slot **out, clt_worker *worker, const json_t *request, bool prepared,
                     clt_error *error) {
  int64_t slot;
  int rc = clt_message_integer(&slot, request, "slot", 0, CLT_WORKER_SLOTS - 1, error);
  if (rc) return rc;
  if (worker->executor == NULL || worker->data[0] == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "the worker has no device or no data");
  if (prepared && worker->slots[slot].prepared == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "nothing is prepared in slot %d", (int)slot);
  *out = &worker->slots[slot];
  return CLT_OK;
}

/* The compiler's cache would fill the disk. It can go only while no program is held. */
static void empty_cache(const clt_worker *worker) {
  const char *cache = getenv("POCL_CACHE_DIR");
  for (size_t i = 0; i < CLT_WORKER_SLOTS; i++)
    if (worker->slots[i].prepared) return;
  if (cache) clt_remove_tree(cache, 1);
}

static void empty_slot(clt_worker *worker, clt_worker_slot *slot) {
  clt_prepared_free(slot->prepared);
  clt_plan_free(slot->plan);
  clt_measurement_release(&slot->measurement);
  memset(slot, 0, sizeof *slot);
  empty_cache(worker);
}

int clt_worker_release(clt_worker *worker, const json_t *request, clt_error *error) {
  clt_worker_slot *slot = NULL;
  int rc = find_slot(&slot, worker, request, true, error);
  if (rc == 0) empty_slot(worker, slot);
  return rc;
}

/* --- measuring --- */

/* A kernel saved in the middle of a tuning would be measured under the old one's name. */
static int check_source(clt_worker *worker, const clt_plan *plan, clt_error *error) {
  uint64_t hash = clt_hash64(plan->source, strlen(plan->source));
  if (worker->source_hash == 0) worker->source_hash = hash;
  if (worker->source_hash == hash) return CLT_OK;
  return clt_fail(error, CLT_E_FORMAT, "the kernel of '%s' has changed since tuning began; start again",
                  clt_problem_path(worker->problem));
}

static int plan_and_prepare(clt_worker *worker, clt_worker_slot *slot, clt_config config, clt_error *error) {
  clt_measurement *m = &slot->measurement;
  int rc = clt_executor_plan(&slot->plan, worker->instance, config, m, error);
  if (rc == 0 && slot->plan) rc = check_source(worker, slot->plan, error);
  if (rc || slot->plan == NULL) return rc;
  return clt_executor_prepare(worker->executor, &slot->prepared, slot->plan, worker->data[0], m, error);
}

int clt_worker_prepare(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error) {
  clt_worker_slot *slot = NULL;
  int64_t config;
  int rc = find_slot(&slot, worker, request, false, error);
  if (rc == 0) rc = clt_message_integer(&config, request, "config", 0, INT64_MAX, error);
  if (rc) return rc;
  if (slot->prepared) empty_slot(worker, slot);
  clt_measurement_init(&slot->measurement, (clt_config)config);
  rc = plan_and_prepare(worker, slot, (clt_config)config, error);
  if (rc == 0) rc = clt_measurement_copy(out, &slot->measurement, error);
  if (rc || slot->prepared == NULL) empty_slot(worker, slot);
  return rc;
}

static clt_timing_policy policy_of(const clt_worker_timing *timing) {
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = (unsigned)timing->min_runs;
  policy.max_runs = (unsigned)timing->max_runs;
  policy.max_total_s = timing->max_total_s;
  policy.steady_relative = timing->steady_relative;
  policy.best_s = timing->best_s;
  policy.abandon_factor = timing->abandon_factor;
  policy.warm_up = timing->warm_up;
  policy.energy_s = timing->energy_s;
  return policy;
}

int clt_worker_time(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error) {
  clt_worker_slot *slot = NULL;
  clt_worker_timing timing;
  int rc = find_slot(&slot, worker, request, true, error);
  if (rc == 0) rc = clt_message_to_timing(&timing, json_object_get(request, "timing"), error);
  if (rc) return rc;
  clt_timing_policy policy = policy_of(&timing);
  slot->measurement.n_runs = 0;
  slot->measurement.phases.runs_s = 0;
  clt_spread spread = {0};
  if (clt_instance_device(worker->instance)->type == CLT_DEVICE_CPU) clt_spread_begin(&spread);
  rc = clt_executor_time(worker->executor, slot->prepared, &policy, &slot->measurement, error);
  clt_spread_end(&spread);
  if (rc == 0) rc = clt_measurement_copy(out, &slot->measurement, error);
  bool keep = json_is_true(json_object_get(request, "keep")) && rc == 0 && slot->measurement.reason == CLT_REASON_NONE;
  if (!keep) empty_slot(worker, slot);
  return rc;
}

int clt_worker_verify(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error) {
  clt_worker_slot *slot = NULL;
  int64_t seed;
  int rc = find_slot(&slot, worker, request, true, error);
  if (rc == 0) rc = clt_message_integer(&seed, request, "seed", 1, CLT_WORKER_DATA_SETS, error);
  if (rc) return rc;
  if (worker->data[seed - 1] == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the worker has no data of that seed");
  clt_measurement m;
  clt_measurement_init(&m, slot->measurement.config);
  rc = clt_executor_verify(worker->executor, slot->prepared, worker->data[seed - 1], &m, error);
  if (rc) {
    clt_measurement_release(&m);
    return rc;
  }
  *out = m;
  return CLT_OK;
}
