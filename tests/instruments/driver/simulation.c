#include "driver/simulation.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "common/description.h"
#include "common/wait.h"

#define NO_TIME_S 1e-6 /* of configurations without a time of their own */
#define LEAST_S 1e-9

/* --- the description --- */

static const char *const root_keys[] = {"platform", "devices", "platform_ids", "kernels", NULL};
static const char *const platform_keys[] = {"name", "vendor", "version", "profile", "icd_suffix", NULL};
static const char *const device_keys[] = {"name",
                                          "vendor",
                                          "driver_version",
                                          "type",
                                          "compute_units",
                                          "max_work_group_size",
                                          "local_memory_bytes",
                                          "global_memory_bytes",
                                          "timer_resolution_ns",
                                          "space",
                                          "time_s",
                                          "figures",
                                          "fails",
                                          "launch_status",
                                          "run_status",
                                          "after_fault",
                                          "lost_file",
                                          "watchdog_s",
                                          "wrong",
                                          "untouched",
                                          "work_group_limit",
                                          "stated_work_group_limit",
                                          "undescribed_arguments",
                                          "max_work_item_sizes",
                                          "max_groups",
                                          "scale",
                                          "build_s",
                                          "build_cpu_s",
                                          "build_memory_bytes",
                                          "registers",
                                          "spill_bytes",
                                          "private_bytes",
                                          "waits",
                                          "spins",
                                          "noise",
                                          "timer",
                                          "energy",
                                          "warm_s",
                                          "caches",
                                          "exclusive",
                                          "clock",
                                          "launch_s",
                                          "device_version",
                                          "opencl_c_version",
                                          "extensions",
                                          "pci_address",
                                          "sub_group_sizes",
                                          "local_memory_dedicated",
                                          "images",
                                          "max_allocation_bytes",
                                          "clock_mhz",
                                          "address_bits",
                                          "preferred_vector_width_float",
                                          "max_constant_bytes",
                                          "max_parameter_bytes",
                                          "global_cache_bytes",
                                          "base_address_align_bits",
                                          "image1d_buffer_max_width",
                                          "image2d_max_width",
                                          "image2d_max_height",
                                          "image3d_max_width",
                                          "image3d_max_height",
                                          "image3d_max_depth",
                                          "preferred_work_group_multiple",
                                          "warp_size",
                                          NULL};
static const char *const noise_keys[] = {"sigma", "slowed_share", "slowed_by", "seed", NULL};
static const char *const timer_keys[] = {"tick_ns", "reversed_share", "jump_share", "jump_s", NULL};
static const char *const energy_keys[] = {"power_w", "counter", NULL};
static const char *const cache_keys[] = {"file", "off", NULL};
static const char *const fail_keys[] = {"build", "launch", "run", "late", NULL};

static clt_recording *load(const char *folder, const char *path) {
  clt_error error = {0};
  clt_recording *recording = NULL;
  char *whole = *path == '/' ? clt_format("%s", path) : clt_format("%s/%s", folder, path);
  if (whole == NULL || clt_recording_new(&recording, whole, &error)) description_wrong("%s", error.message);
  free(whole);
  return recording;
}

static void describe_noise(sim_device *d, const json_t *noise) {
  description_keys(noise, noise_keys, "the noise of a simulated device");
  d->noise = description_number(noise, "sigma", 0);
  d->slowed_share = description_number(noise, "slowed_share", 0);
  d->slowed_by = description_number(noise, "slowed_by", 1);
  d->noise_seed = (uint64_t)description_number(noise, "seed", 1);
}

static void describe_timer(sim_device *d, const json_t *timer) {
  description_keys(timer, timer_keys, "the timer of a simulated device");
  d->tick_ns = (uint64_t)fmax(1, description_number(timer, "tick_ns", 1));
  d->reversed_share = description_number(timer, "reversed_share", 0);
  d->jump_share = description_number(timer, "jump_share", 0);
  d->jump_s = description_number(timer, "jump_s", 0);
}

static void describe_energy(sim_device *d, const json_t *energy, const char *folder) {
  if (energy == NULL) return;
  description_keys(energy, energy_keys, "'energy' of a simulated device");
  const char *path = description_text(energy, "counter", NULL);
  d->power_w = description_formula(energy, "power_w", "1");
  if (path == NULL) description_wrong("'energy' of a simulated device needs a 'counter'");
  d->energy_counter = *path == '/' ? clt_format("%s", path) : clt_format("%s/%s", folder, path);
  if (d->energy_counter == NULL) description_wrong("out of memory");
}

static const char *path_beside(const char *folder, const char *path) {
  const char *whole = *path == '/' ? clt_format("%s", path) : clt_format("%s/%s", folder, path);
  if (whole == NULL) description_wrong("out of memory");
  return whole;
}

static void describe_caches(sim_device *d, const json_t *caches) {
  for (size_t i = 0; i < json_array_size(caches); i++) {
    const json_t *cache = json_array_get(caches, i);
    description_keys(cache, cache_keys, "a cache of a simulated device");
    const char *off = description_text(cache, "off", "");
    if (description_text(cache, "file", NULL) == NULL || *off == 0)
      description_wrong("a cache of a simulated device needs a 'file' and 'off', NAME=VALUE or NAME");
  }
  d->caches = caches;
}

static void describe_failures(sim_device *d, const json_t *json) {
  const json_t *fails = json_object_get(json, "fails");
  description_keys(fails, fail_keys, "'fails' of a simulated device");
  d->build_fails = description_formula(fails, "build", NULL);
  d->launch_fails = description_formula(fails, "launch", NULL);
  d->run_fails = description_formula(fails, "run", NULL);
  d->fault = description_formula(fails, "late", NULL);
  d->launch_status = description_formula(json, "launch_status", "-54");
  d->run_status = description_formula(json, "run_status", "-5");
  static const char *const names[SIM_N_AFTERMATHS] = {"nothing", "dead-context", "hang", "abort", "lost", "stuck"};
  const char *name = description_text(json, "after_fault", "nothing");
  while (d->after_fault < SIM_N_AFTERMATHS && strcmp(names[d->after_fault], name) != 0) d->after_fault++;
  if (d->after_fault == SIM_N_AFTERMATHS) description_wrong("'after_fault' of a simulated device cannot be '%s'", name);
  d->lost_file = description_text(json, "lost_file", NULL);
  if (d->after_fault >= SIM_LOST && d->lost_file == NULL) description_wrong("'after_fault' of that kind needs a 'lost_file'");
  d->watchdog_s = description_number(json, "watchdog_s", 0);
}

static void describe_hardware(sim_device *d, const json_t *json, size_t index) {
  d->name = description_text(json, "name", "Simulated device");
  d->said = json;
  d->is_cpu = strcmp(description_text(json, "type", "gpu"), "cpu") == 0;
  d->compute_units = (unsigned)description_number(json, "compute_units", 16);
  d->max_work_group_size = (size_t)description_number(json, "max_work_group_size", 1024);
  const json_t *sizes = json_object_get(json, "max_work_item_sizes");
  for (size_t i = 0; i < 3; i++) {
    const json_t *size = json_array_get(sizes, i);
    if (sizes && !json_is_integer(size)) description_wrong("'max_work_item_sizes' of a simulated device are three numbers");
    d->max_work_item_sizes[i] = size ? (size_t)json_integer_value(size) : d->max_work_group_size;
  }
  d->max_groups = (size_t)description_number(json, "max_groups", 0x1p32);
  d->local_memory_bytes = (size_t)description_number(json, "local_memory_bytes", 65536);
  d->global_memory_bytes = (size_t)description_number(json, "global_memory_bytes", 0x1p30);
  d->max_allocation_bytes = (size_t)description_number(json, "max_allocation_bytes", (double)(d->global_memory_bytes / 4));
  d->base_address_align_bytes = (size_t)description_number(json, "base_address_align_bits", 1024) / 8;
  d->preferred_work_group_multiple = (size_t)description_number(json, "preferred_work_group_multiple", 32);
  d->timer_resolution_ns = (size_t)description_number(json, "timer_resolution_ns", 1);
  uint64_t identity[2] = {clt_hash64(d->name, strlen(d->name)), index};
  memcpy(d->uuid, identity, sizeof d->uuid);
}

static void describe_device(sim_device *d, const json_t *json, size_t index, const char *folder) {
  description_keys(json, device_keys, "a simulated device");
  describe_hardware(d, json, index);
  const char *space = description_text(json, "space", NULL);
  if (space) d->recording = load(folder, space);
  d->time_s = description_formula(json, "time_s", NULL);
  d->figures = json_object_get(json, "figures");
  d->wrong = description_formula(json, "wrong", NULL);
  d->untouched = description_formula(json, "untouched", NULL);
  d->work_group_limit = description_formula(json, "work_group_limit", NULL);
  d->build_memory_bytes = description_formula(json, "build_memory_bytes", "0");
  d->registers = description_formula(json, "registers", "0");
  d->spill_bytes = description_formula(json, "spill_bytes", "0");
  d->private_bytes = description_formula(json, "private_bytes", "0");
  d->undescribed_arguments = json_is_true(json_object_get(json, "undescribed_arguments"));
  d->stated_group = (size_t)description_number(json, "stated_work_group_limit", 0);
  d->scale = description_number(json, "scale", 1);
  d->build_s = description_number(json, "build_s", 0);
  d->build_cpu_s = description_number(json, "build_cpu_s", 0);
  d->spins = description_text(json, "spins", NULL);
  d->waits = json_is_true(json_object_get(json, "waits"));
  describe_noise(d, json_object_get(json, "noise"));
  sim_describe_clock(d, json_object_get(json, "clock"));
  d->launch_s = description_number(json, "launch_s", 0);
  describe_timer(d, json_object_get(json, "timer"));
  describe_failures(d, json);
  describe_energy(d, json_object_get(json, "energy"), folder);
  d->cache_bytes = (size_t)description_number(json, "global_cache_bytes", 1 << 20);
  d->warm_s = description_formula(json, "warm_s", NULL);
  describe_caches(d, json_object_get(json, "caches"));
  const char *exclusive = description_text(json, "exclusive", NULL);
  if (exclusive) d->exclusive = path_beside(folder, exclusive);
}

static json_t *description; /* whose texts the devices borrow */

__attribute__((destructor)) static void forget_description(void) { json_decref(description); }

sim_device *sim_describe(size_t *n) {
  char folder[PATH_MAX];
  Dl_info own;
  char *beside = dladdr((void *)(uintptr_t)sim_describe, &own) ? clt_format("%s.json", own.dli_fname) : NULL;
  json_t *root = description_read("CLATUNE_SIMULATED", beside, folder), *list = json_object_get(root, "devices");
  free(beside);
  *n = 0;
  if (root == NULL) return NULL;
  description_keys(root, root_keys, "the description of the simulated driver");
  description_keys(json_object_get(root, "platform"), platform_keys, "the platform of the simulated driver");
  description = root;
  if (!json_is_array(list)) description_wrong("CLATUNE_SIMULATED: the list 'devices' is missing");
  sim_device *devices = clt_new_array(json_array_size(list), sizeof *devices);
  if (devices == NULL) description_wrong("out of memory");
  for (; *n < json_array_size(list); (*n)++) describe_device(&devices[*n], json_array_get(list, *n), *n, folder);
  return devices;
}

const char *sim_platform_text(const char *key, const char *standard) {
  return description_text(json_object_get(description, "platform"), key, standard);
}

bool sim_enter(sim_device *device) {
  if (device->exclusive == NULL || device->entered) return true;
  int fd = open(device->exclusive, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) description_wrong("cannot open '%s'", device->exclusive);
  device->entered = flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!device->entered) close(fd);
  return device->entered;
}

int sim_platform_ids(void) {
  const char *what = description ? description_text(description, "platform_ids", "") : "";
  volatile uintptr_t nowhere = 16; /* no page is there; a null pointer would be UBSan's */
  if (strcmp(what, "segv") == 0) *(volatile int *)nowhere = 0;
  if (strcmp(what, "abort") == 0) abort();
  while (strcmp(what, "hang") == 0) pause();
  if (strcmp(what, "error") == 0) return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
  if (*what) description_wrong("'platform_ids' of the simulated driver is segv, abort, hang or error");
  return 0;
}

/* --- a configuration --- */

static bool find_position(const clt_parameter *parameter, const clt_value *value, uint32_t *out) {
  for (size_t i = 0; i < parameter->n_values; i++) {
    if (!clt_value_equal(parameter->values[i], *value)) continue;
    *out = (uint32_t)i;
    return true;
  }
  return false;
}

static bool find_configuration(const clt_space *space, const defines *d, clt_config *out) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) {
    const clt_parameter *parameter = clt_space_parameter(space, p);
    const clt_value *value = defines_find(d, parameter->name);
    if (value == NULL && parameter->n_values == 1) continue;
    if (value == NULL || !find_position(parameter, value, &positions[p])) return false;
  }
  *out = clt_space_from_positions(space, positions);
  return true;
}

static bool use_recording(const sim_device *device, const defines *d, sim_configuration *out, char **log) {
  clt_config config;
  bool found = find_configuration(clt_recording_space(device->recording), d, &config);
  const clt_measurement *m = found ? clt_recording_find(device->recording, config) : NULL;
  clt_invalidity invalidity = m ? clt_reason_invalidity(m->reason) : CLT_COMPILE;
  if (invalidity == CLT_COMPILE || invalidity == CLT_CONSTRAINTS) {
    *log = clt_format(m ? "error: recorded as %s" : "error: not in the recording", m ? clt_reason_name(m->reason) : "");
    return false;
  }
  out->launch_fails = invalidity == CLT_RUNTIME || invalidity == CLT_TIMEOUT;
  out->wrong = invalidity == CLT_CORRECTNESS;
  if (clt_measurement_correct(m)) out->time_s = m->time_s;
  return true;
}

static int truth(const defines *d, const char *formula, bool *out, clt_error *error) {
  return formula ? defines_truth(d, formula, out, error) : CLT_OK;
}

static int number(const defines *d, const char *formula, int *out, clt_error *error) {
  double x = 0;
  int rc = defines_number(d, formula, &x, error);
  if (rc == CLT_OK) *out = (int)x;
  return rc;
}

/* For as long as a build takes. Without it, does the same as LLVM. */
static void take_memory(size_t n) {
  void *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fputs("LLVM ERROR: out of memory\n", stderr);
    abort();
  }
  munmap(memory, n);
}

static bool use_formulas(const sim_device *device, const defines *d, sim_configuration *out, char **log) {
  clt_error error = {0};
  bool fails = false;
  int rc = truth(d, device->build_fails, &fails, &error);
  if (rc == CLT_OK) rc = truth(d, device->launch_fails, &out->launch_fails, &error);
  if (rc == CLT_OK) rc = truth(d, device->run_fails, &out->run_fails, &error);
  if (rc == CLT_OK) rc = number(d, device->launch_status, &out->launch_status, &error);
  if (rc == CLT_OK) rc = number(d, device->run_status, &out->run_status, &error);
  if (rc == CLT_OK) rc = truth(d, device->fault, &out->fault, &error);
  if (rc == CLT_OK) rc = truth(d, device->wrong, &out->wrong, &error);
  if (rc == CLT_OK) rc = truth(d, device->untouched, &out->untouched, &error);
  int limit = (int)device->max_work_group_size;
  if (rc == CLT_OK && device->work_group_limit) rc = number(d, device->work_group_limit, &limit, &error);
  out->work_group_limit = (size_t)limit;
  if (rc == CLT_OK && device->time_s) rc = defines_number(d, device->time_s, &out->time_s, &error);
  out->warm_s = out->time_s;
  if (rc == CLT_OK && device->warm_s) rc = defines_number(d, device->warm_s, &out->warm_s, &error);
  if (rc == CLT_OK && device->power_w) rc = defines_number(d, device->power_w, &out->power_w, &error);
  if (rc == CLT_OK) rc = number(d, device->registers, &out->registers, &error);
  if (rc == CLT_OK) rc = number(d, device->spill_bytes, &out->spill_bytes, &error);
  if (rc == CLT_OK) rc = number(d, device->private_bytes, &out->private_bytes, &error);
  double memory_bytes = 0;
  if (rc == CLT_OK) rc = defines_number(d, device->build_memory_bytes, &memory_bytes, &error);
  if (rc == CLT_OK && memory_bytes > 0) take_memory((size_t)memory_bytes);
  if (rc) *log = clt_format("error: the simulated device's description: %s", error.message);
  if (rc == CLT_OK && fails) *log = clt_format("error: this configuration does not build");
  return rc == CLT_OK && !fails;
}

/* A build leaves a file in the home folder for each cache that no variable turns off. */
static void fill_caches(const json_t *caches) {
  const char *home = getenv("HOME");
  for (size_t i = 0; home && i < json_array_size(caches); i++) {
    const json_t *cache = json_array_get(caches, i);
    const char *off = description_text(cache, "off", ""), *equals = strchr(off, '=');
    char *name = clt_format("%.*s", (int)strcspn(off, "="), off);
    char *path = clt_format("%s/%s", home, description_text(cache, "file", ""));
    const char *value = name ? getenv(name) : NULL;
    int fd = path && (value == NULL || (equals && strcmp(value, equals + 1) != 0)) ? open(path, O_WRONLY | O_CREAT, 0600) : -1;
    if (fd >= 0) close(fd);
    free(name);
    free(path);
  }
}

bool sim_build(const sim_device *device, const char *options, sim_configuration *out, char **log) {
  defines d;
  clt_error error = {0};
  *out = (sim_configuration){.time_s = NO_TIME_S, .warm_s = NO_TIME_S, .work_group_limit = device->max_work_group_size};
  bool good = defines_read(&d, options, &error) == CLT_OK;
  if (good) out->hash = defines_hash(&d);
  const bool tuned = out->tuned = d.n > 0; /* a program without options is no configuration: it just works */
  if (good && tuned && device->recording) good = use_recording(device, &d, out, log);
  if (good && tuned) good = use_formulas(device, &d, out, log);
  defines_release(&d);
  fill_caches(device->caches);
  if (tuned) wait_s(device->build_s);
  if (tuned) compute_s(device->build_cpu_s);
  return good;
}

/* How many programs were built in this process: a second build of a configuration has noise of its own. */
static atomic_ullong n_noises;

double sim_kernel_s(const sim_device *device, const char *options, const char *kernel) {
  const char *formula = description_formula(json_object_get(description, "kernels"), kernel, NULL), *name;
  double s = NAN;
  defines d;
  clt_error error = {0};
  const json_t *figure;
  if (formula == NULL) return NAN;
  int rc = defines_read(&d, options, &error);
  if (rc == CLT_OK) rc = defines_add(&d, "compute_units", device->compute_units, &error);
  for (void *at = json_object_iter((json_t *)device->figures); rc == CLT_OK && at;
       at = json_object_iter_next((json_t *)device->figures, at)) {
    name = json_object_iter_key(at), figure = json_object_iter_value(at);
    if (!json_is_number(figure)) description_wrong("'figures' of a simulated device are numbers, not '%s'", name);
    rc = defines_add(&d, name, json_number_value(figure), &error);
  }
  if (rc == CLT_OK) rc = defines_number(&d, formula, &s, &error);
  if (rc) description_wrong("'kernels' of the simulated driver, '%s': %s", kernel, error.message);
  defines_release(&d);
  return s;
}

double sim_run_s(const sim_device *device, sim_configuration *c, double kernel_s, bool warm) {
  const double speed = sim_clock_speed(&device->clock);
  if (!c->tuned) return device->launch_s + fmax(isfinite(kernel_s) ? kernel_s / speed : 0, LEAST_S);
  if (c->n_runs == 0) c->n_runs = (uint64_t)atomic_fetch_add(&n_noises, 1) << 32;
  const uint64_t key[] = {device->noise_seed, c->hash, c->n_runs++};
  clt_rng rng;
  clt_rng_init(&rng, clt_hash64(key, sizeof key));
  double s = (isfinite(kernel_s) ? kernel_s : warm ? c->warm_s : c->time_s) * device->scale;
  if (device->noise > 0) s *= exp(device->noise * clt_rng_normal(&rng));
  if (clt_rng_unit(&rng) < device->slowed_share) s *= device->slowed_by;
  return device->launch_s + fmax(s / speed, LEAST_S);
}

/* Of always the same length, so that a reader never sees half a number. */
static bool add_to_counter(int fd, double uj) {
  char text[32] = "";
  if (flock(fd, LOCK_EX) || pread(fd, text, sizeof text - 1, 0) < 0) return false;
  uint64_t sum = strtoull(text, NULL, 10) + (uint64_t)llround(uj);
  int n = snprintf(text, sizeof text, "%020" PRIu64 "\n", sum);
  return pwrite(fd, text, (size_t)n, 0) == n;
}

void sim_count_energy(const sim_device *device, const sim_configuration *c, double run_s) {
  if (device->energy_counter == NULL) return;
  int fd = open(device->energy_counter, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  bool good = fd >= 0 && add_to_counter(fd, c->power_w * run_s * 1e6);
  if (fd >= 0) close(fd);
  if (!good) description_wrong("cannot write to the energy counter '%s'", device->energy_counter);
}
