/* The evaluator "opencl": worker processes build and run configurations. This process makes no OpenCL call. */
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "eval/evaluators.h"
#include "problem/command.h"
#include "problem/data.h"
#include "problem/guidance.h"
#include "worker/message.h"
#include "worker/pools.h"

#define MOST_WORKERS 16
#define MOST_AHEAD 4
#define LEAST_MEMORY_MIB 700 /* with less, PoCL cannot compile */

typedef struct opencl_options {
  int64_t workers, prepare_ahead;
  double compile_timeout_s, run_timeout_s, run_timeout_factor, run_timeout_floor_s, host_timeout_s;
  clt_run_options runs;
  int64_t memory_limit_mib;
  bool lock;
  double energy_s;
} opencl_options;

#define AT(member) offsetof(opencl_options, member)
static const clt_option options[] = {
    {"workers", CLT_OPTION_INT, "0", 0, CLT_POOL_MAX_WORKERS, AT(workers),
     "worker processes per device; 0: one per processor core, at most 16, fewer if memory is short; "
     "several devices share them"},
    {"prepare-ahead", CLT_OPTION_INT, "0", 0, CLT_POOL_MAX_SLOTS, AT(prepare_ahead),
     "configurations that a worker keeps prepared for timing; 0: up to 4, as memory allows"},
    {"compile-timeout", CLT_OPTION_SECONDS, "0", 0, 1e6, AT(compile_timeout_s),
     "time limit of a build and the start of the first launch, in seconds; 0: 60, and after ten builds ten times their "
     "90th percentile, at least 30"},
    {"run-timeout", CLT_OPTION_SECONDS, "10", 0.001, 1e6, AT(run_timeout_s), "time limit of a run, in seconds"},
    {"run-timeout-factor", CLT_OPTION_REAL, "20", 0, 1e9, AT(run_timeout_factor),
     "time limit of a run relative to the best so far, up to --run-timeout; 0: only --run-timeout applies"},
    {"run-timeout-floor", CLT_OPTION_SECONDS, "0.25", 0, 1e6, AT(run_timeout_floor_s),
     "minimum of the limit that --run-timeout-factor sets, in seconds"},
    {"host-timeout", CLT_OPTION_SECONDS, "600", 0.1, 1e6, AT(host_timeout_s),
     "time limit for starting a worker, making the reference and verifying a result, in seconds"},
    CLT_RUN_OPTIONS(opencl_options, CLT_TIMING_TEXT(CLT_TIMING_MAX_TOTAL_S)),
    {"memory-limit", CLT_OPTION_INT, "0", 0, 1e9, AT(memory_limit_mib),
     "memory limit of a worker, in MiB, at least 700; 0: half of the machine's memory if the device is a CPU, "
     "otherwise none"},
    {"energy-time", CLT_OPTION_SECONDS, "1", 0.001, 1000, AT(energy_s),
     "duration of the repeated runs that energy is measured over, in seconds, if the objective needs energy"},
    {"lock", CLT_OPTION_BOOL, "yes", 0, 0, AT(lock), "keeps other tuners off the device during timing"},
};

static size_t clamp(double x, size_t most) {
  if (!(x >= 1)) return 1;
  return x < (double)most ? (size_t)x : most;
}

/* Chooses the number of workers per device, their slots and their memory limit. With two workers, one builds while
 * the other is timed. */
static void choose_sizes(clt_pool_setup *out, const opencl_options *o, const clt_instance *instance, size_t n_devices) {
  const clt_device_info *device = clt_instance_device(instance);
  const int64_t mib = 1 << 20, least = LEAST_MEMORY_MIB * mib;
  bool is_cpu = device->type == CLT_DEVICE_CPU;
  long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE), cores = sysconf(_SC_NPROCESSORS_ONLN);
  double machine = pages > 0 && page_bytes > 0 ? (double)pages * (double)page_bytes : 4e9;
  double memory = is_cpu || device->global_memory_bytes == 0 ? machine : (double)device->global_memory_bytes;
  /* Estimated memory of one prepared configuration: its arguments, with copies to restore and to compare. */
  double prepared = 1 << 20;
  clt_plan *plan = NULL;
  if (clt_plan_new(&plan, instance, clt_instance_default(instance), NULL)) plan = NULL;
  if (clt_problem_guidance(clt_instance_problem(instance))->cold_cache) prepared += (double)clt_cold_bytes(device);
  for (size_t i = 0; plan && i < plan->n_args; i++) prepared += 2.0 * (double)plan->args[i].bytes;
  clt_plan_free(plan);
  double n_fitting = memory / 3 / prepared;
  size_t n_most = clamp((double)cores, MOST_WORKERS);
  if (n_devices > 1) n_most = n_most / n_devices > 2 ? n_most / n_devices : 2;
  out->n_workers = o->workers ? (size_t)o->workers : clamp(n_fitting, n_most);
  out->n_slots = o->prepare_ahead ? (size_t)o->prepare_ahead : clamp(n_fitting / (double)out->n_workers, MOST_AHEAD);
  if (o->memory_limit_mib > 0)
    out->memory_limit_bytes = o->memory_limit_mib * mib;
  else if (is_cpu)
    out->memory_limit_bytes = (int64_t)fmax(machine / 2, (double)least);
}

static const clt_device_info *nth_device(const clt_evaluator_setup *setup, size_t i) {
  return i == 0 ? clt_instance_device(setup->instance) : &setup->more_devices[i - 1];
}

/* Checks that measurements on one device hold for all (same name and driver), and that the devices are different
 * ones. */
static int check_equal(const clt_evaluator_setup *setup, bool lock, clt_error *error) {
  for (size_t i = 1; i <= setup->n_more_devices; i++) {
    const clt_device_info *d = nth_device(setup, i), *first = nth_device(setup, 0);
    if (strcmp(d->name, first->name) != 0 || strcmp(d->driver_version, first->driver_version) != 0)
      return clt_fail(
          error, CLT_E_ARGUMENT,
          "device %d:%d (%s, driver %s) differs from %d:%d (%s, driver %s); all devices of a tuning must have the "
          "same name and driver version",
          d->platform_index, d->device_index, d->name, d->driver_version, first->platform_index, first->device_index,
          first->name, first->driver_version);
    for (size_t k = 0; lock && k < i; k++) {
      char key[256], other[256];
      clt_device_lock_key(d, key, sizeof key);
      clt_device_lock_key(first = nth_device(setup, k), other, sizeof other);
      if (strcmp(key, other) == 0)
        return clt_fail(
            error, CLT_E_ARGUMENT,
            "devices %d:%d and %d:%d cannot be told apart: they share their hardware, as all CPU devices do, or the "
            "driver reports neither a UUID nor a PCI address; choose one of them, or use both with '--lock=no'",
            first->platform_index, first->device_index, d->platform_index, d->device_index);
    }
  }
  return setup->n_more_devices > 0 && setup->energy
             ? clt_fail(error, CLT_E_UNSUPPORTED, "energy can be measured on one device only; choose one with --device")
             : CLT_OK;
}

/* Opens a pool per device, from their shared setup. Takes over `open`. */
static int open_pools(clt_pools *out, const clt_pool_setup *shared, json_t *open, bool lock, clt_error *error) {
  const clt_evaluator_setup *setup = &shared->evaluator;
  const size_t n = 1 + setup->n_more_devices;
  clt_pool_setup *pools = clt_new_array(n, sizeof *pools);
  int rc = pools ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const clt_device_info *device = nth_device(setup, i);
    pools[i] = *shared;
    if (lock) clt_device_lock_key(device, pools[i].lock_key, sizeof pools[i].lock_key);
    pools[i].open = json_deep_copy(open);
    if (n > 1) snprintf(pools[i].label, sizeof pools[i].label, "%d:%d", device->platform_index, device->device_index);
    if (json_object_set_new(pools[i].open, "device", clt_device_json(device))) rc = clt_fail_memory(error);
  }
  if (rc == CLT_OK) rc = clt_pools_open(out, pools, n, clt_instance_reference_configuration(setup->instance), error);
  for (size_t i = 0; pools && i < n; i++) json_decref(pools[i].open);
  json_decref(open);
  free(pools);
  return rc;
}

static int opencl_open(void *state, const clt_evaluator_setup *setup, const void *given, clt_evaluator_limits *limits,
                       clt_error *error) {
  const opencl_options *o = given;
  const clt_instance *instance = setup->instance;
  const clt_device_info *device = instance ? clt_instance_device(instance) : NULL;
  const size_t n_devices = 1 + setup->n_more_devices;
  if (device == NULL) return clt_fail(error, CLT_E_ARGUMENT, "the evaluator 'opencl' needs a problem and a device");
  if (o->memory_limit_mib > 0 && o->memory_limit_mib < LEAST_MEMORY_MIB)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "option 'memory-limit' must be at least %d MiB; with less, drivers cannot compile",
                    LEAST_MEMORY_MIB);
  clt_timing_policy timing;
  json_t *open = NULL;
  int rc = check_equal(setup, o->lock, error);
  if (rc == CLT_OK) rc = clt_run_options_policy(&timing, &o->runs, setup, error);
  if (rc == CLT_OK && setup->energy) timing.energy_s = o->energy_s, rc = clt_energy_check(device, error);
  if (rc == CLT_OK) rc = clt_problem_check_kernel(clt_instance_problem(instance), error);
  if (rc == CLT_OK) rc = clt_message_from_instance(&open, instance, error);
  if (rc) return rc;
  if (setup->no_reference) json_object_set_new(open, "reference", json_false());
  /* The worker keeps this limit, and the pool that for work on the host. */
  const double generate_s =
      fmin(o->compile_timeout_s > 0 ? o->compile_timeout_s : CLT_GENERATE_S, o->host_timeout_s / 2);
  clt_json_set(&open, "generate_s", json_real(generate_s));
  if (setup->log) clt_warn_unused(instance, setup->log, setup->log_user);
  if (setup->log && !setup->no_reference && clt_instance_reference_kind(instance) == CLT_REFERENCE_DEFAULT) {
    char configuration[512];
    clt_config right = clt_instance_reference_configuration(instance);
    clt_config_print(configuration, sizeof configuration, setup->space, right);
    clt_log(setup->log, setup->log_user, CLT_LOG_WARNING,
            "the problem file has no \"Reference\"; the result of %s configuration (%s) is taken as correct",
            right == clt_instance_default(instance) ? "the default" : "the first valid", configuration);
  }
  clt_pool_setup pool = {.evaluator = *setup,
                         .no_heap_checks = strcmp(device->platform_name, "Oclgrind") == 0,
                         .quiet_builds = device->type == CLT_DEVICE_CPU,
                         .compile_timeout_s = o->compile_timeout_s,
                         .run_timeout_s = o->run_timeout_s,
                         .host_timeout_s = o->host_timeout_s,
                         .run_timeout_factor = o->run_timeout_factor,
                         .run_timeout_floor_s = o->run_timeout_floor_s,
                         .timing = timing};
  choose_sizes(&pool, o, instance, n_devices);
  *limits = (clt_evaluator_limits){.capacity = n_devices * pool.n_workers * pool.n_slots,
                                   .workers = n_devices * pool.n_workers,
                                   .binds = device->type == CLT_DEVICE_CPU && clt_processors() > 1,
                                   .devices = n_devices};
  return open_pools(state, &pool, open, o->lock, error);
}

const clt_evaluator_type clt_evaluator_opencl = {
    CLT_EVALUATOR(options, opencl_options, clt_pools),
    .name = "opencl",
    .summary = "builds and runs configurations in worker processes, so that their faults do not reach the tuner",
    .measures_device = true,
    .open = opencl_open,
    .submit = clt_pools_submit,
    .wait = clt_pools_wait,
    .keep = clt_pools_keep,
    .time_again = clt_pools_time_again,
    .close = clt_pools_close,
};
