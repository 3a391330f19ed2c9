#include "session/probe.h"

#include <unistd.h>

#include <clatune/tune.h>

#include "base/base.h"
#include "base/file.h"
#include "device/device.h"
#include "problem/module_paths.h" /* made by meson */
#include "space/space.h"
#include "store/store.h"

#define PROBE "probe/probe.json"

/* The work of one work-item of each kernel in probe.cl, in the unit of the name. */
static const struct {
  const char *name;
  double per_item;
} probes[] = {{"stream_GB_s", 32e-9},
              {"gather_G_s", 128e-9},
              {"local_GB_s", 1024 * 16e-9},
              {"single_GFLOP_s", 512 * 128e-9},
              {"double_GFLOP_s", 256 * 128e-9},
              {"global_atomic_G_s", 128e-9},
              {"local_atomic_G_s", 512e-9},
              {"barrier_M_s", 2048e-6}, /* of a work-group */
              {"launch_us", 1e6}};
#define N_PROBES (sizeof probes / sizeof *probes)

static const char *const said[] = {
    "compute_units",       "clock_mhz",           "local_memory_bytes",           "global_cache_bytes",
    "global_memory_bytes", "max_work_group_size", "preferred_vector_width_float", "preferred_work_group_multiple"};

/* All have is_balance. */
static const struct {
  const char *name, *of, *to;
  bool times; /* of * to; else of / to */
} shares[] = {{"flops_per_byte", "single_GFLOP_s", "stream_GB_s", false},
              {"double_share", "double_GFLOP_s", "single_GFLOP_s", false},
              {"local_share", "local_GB_s", "stream_GB_s", false},
              {"gather_per_byte", "gather_G_s", "stream_GB_s", false},
              {"atomic_share", "global_atomic_G_s", "local_atomic_G_s", false},
              {"flops_per_unit", "single_GFLOP_s", "compute_units", false},
              {"launch_kB", "stream_GB_s", "launch_us", true},
              {"barrier_kB", "stream_GB_s", "barrier_M_s", false}};

/* The kernels take about 1 ms on a CPU and 0.1 ms on the fastest GPU. A shorter time means that nothing was run. */
#define LEAST_S 10e-6

/* Size of the streamed array: at least four times the cache that the driver states, with these limits, since not all
 * drivers state the last-level cache. */
#define LEAST_BYTES 0x1p26
#define LEAST_GPU_BYTES 0x1p27
#define MOST_BYTES 0x1p29

/* The probe on a device; free both in either case. */
static int open_probe(clt_problem **problem, clt_instance **instance, const clt_device_info *device, clt_error *error) {
  const bool is_cpu = device->type == CLT_DEVICE_CPU;
  double bytes = fmax(4 * (double)device->global_cache_bytes, is_cpu ? LEAST_BYTES : LEAST_GPU_BYTES);
  bytes = fmin(fmin(bytes, MOST_BYTES), (double)device->max_allocation_bytes / 2);
  bytes = fmin(bytes, (double)device->global_memory_bytes / 16);
  const clt_size size = {"elements", (int64_t)exp2(fmax(11, floor(log2(bytes / 4))))}; /* whole work-groups */
  static const char *const near[] = {"../share/clatune/" PROBE, "../../share/clatune/" PROBE, NULL};
  const char *built = CLATUNE_SOURCE_INCLUDE[0] ? CLATUNE_SOURCE_INCLUDE "/../kernels_cl/" PROBE : "";
  char *path = access(built, R_OK) == 0 ? strdup(built) : clt_find_near(near, R_OK);
  if (path == NULL) path = strdup(CLATUNE_INSTALLED_DATA "/" PROBE);
  int rc = path ? clt_problem_new(problem, path, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_instance_new(instance, *problem, &size, 1, device, error);
  free(path);
  return rc;
}

int clt_probe_device(const clt_device_info *device, clt_store *store, bool fresh, const volatile int *stop,
                     clt_error *error) {
  /* Two workers: one builds while the other is timed; one array each. */
  static const clt_setting runs[] = {{"workers", "2"}, {"prepare-ahead", "1"}, {"run-timeout-factor", "0"}};
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_config configs[N_PROBES];
  clt_tune_result *result = NULL;
  clt_error why = {0};
  clt_tune_settings settings;
  int rc = open_probe(&problem, &instance, device, error);
  if (rc == CLT_OK) {
    clt_tune_settings_init(&settings);
    settings.instance = instance;
    settings.evaluator_settings = runs;
    settings.n_evaluator_settings = sizeof runs / sizeof *runs;
    settings.configurations = configs;
    settings.n_configurations = clt_space_enumerate(clt_instance_space(instance), 0, N_PROBES, configs);
    settings.objective = "maximise 1"; /* all are equal: none is stopped as slow or measured again as suspicious */
    settings.no_transfer = settings.skip_default = true;
    settings.finalists = 0;
    settings.store = store;
    settings.no_reuse = fresh;
    settings.stop = stop;
    rc = clt_tune_run(&result, &settings, &why);
    if (rc == CLT_E_NO_VALID) rc = CLT_OK;
    if (rc && error && error->code == 0) *error = why;
    clt_tune_result_free(result);
  }
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}

/* --- features --- */

static double find_feature(const clt_feature *features, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(features[i].name, name) == 0) return features[i].value;
  return NAN;
}

static double rate(const clt_instance *instance, size_t probe, const clt_measurement *m, clt_error *error) {
  clt_launch_sizes *launches = NULL;
  size_t n = 0;
  double value = NAN;
  if (clt_instance_launches(&launches, &n, instance, m->config, error)) return NAN;
  const clt_launch_sizes *launch = launches;
  if (n == 0 || !(m->time_s >= LEAST_S)) {
    value = NAN;
  } else if (strcmp(probes[probe].name, "launch_us") == 0) {
    /* The device's clock has the time of an empty kernel; a launch takes host time, which is known for all runs
     * including the warm-up. */
    value = probes[probe].per_item * m->phases.runs_s / (double)(m->n_runs + 1) / launch->repeat;
  } else {
    value = probes[probe].per_item * (double)launch->global[0] / m->time_s;
    if (strcmp(probes[probe].name, "barrier_M_s") == 0) value /= (double)launch->local[0];
  }
  free(launches);
  return isfinite(value) && value > 0 ? value : NAN;
}

static int add_measured(clt_feature *features, clt_store *store, const clt_device_info *device, clt_error *error) {
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_store_key key;
  clt_store_answers answers = {0};
  int rc = open_probe(&problem, &instance, device, error);
  if (rc == CLT_OK) rc = clt_store_key_init(&key, instance, error);
  if (rc == CLT_OK) rc = clt_store_newest(&answers, store, &key, clt_instance_space(instance), false, NULL, error);
  for (size_t i = 0; rc == CLT_OK && i < answers.n; i++) {
    const clt_measurement *m = answers.all[i].newest;
    if (m == NULL) continue;
    const char *name = clt_space_value(clt_instance_space(instance), m->config, 0).text;
    for (size_t k = 0; k < N_PROBES; k++) {
      if (strcmp(probes[k].name, name) != 0) continue;
      features[k].reason = m->reason;
      if (clt_measurement_correct(m)) features[k].value = rate(instance, k, m, error);
    }
  }
  clt_store_answers_release(&answers);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}

static clt_feature *add_feature(clt_feature *out, size_t *n, const char *name, double value) {
  clt_feature *f = &out[(*n)++];
  *f = (clt_feature){.value = value};
  snprintf(f->name, sizeof f->name, "%s", name);
  return f;
}

int clt_device_features(clt_feature out[CLT_MOST_FEATURES], size_t *n_out, clt_store *store,
                        const clt_device_info *device, clt_error *error) {
  size_t n = 0;
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    clt_feature *f = add_feature(out, &n, said[i], NAN);
    f->is_said = true;
    for (size_t k = 0; k < clt_device_n_properties(); k++) {
      const clt_value value = clt_device_property(device, k);
      if (strcmp(clt_device_property_name(k) + strlen("device."), said[i]) == 0 && value.integer > 0)
        f->value = (double)value.integer;
    }
  }
  clt_feature *measured = &out[n];
  for (size_t k = 0; k < N_PROBES; k++) add_feature(out, &n, probes[k].name, NAN);
  int rc = store ? add_measured(measured, store, device, error) : CLT_OK;
  for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
    const double of = find_feature(out, n, shares[k].of), to = find_feature(out, n, shares[k].to);
    add_feature(out, &n, shares[k].name, shares[k].times ? of * to : of / to)->is_balance = true;
  }
  *n_out = n;
  return rc;
}
