/* Plans, their cells, and the listed configurations. A plan names its problem by a path relative to itself,
 * /proc/PID/fd: there "100" is a problem file, and "101" a file of configurations. */
#include "device/device.h"
#include "farm/plan.h"

#include "fuzz.h"

static const char problem[] =
    "{\"ProblemParameters\": [{\"Name\": \"R\", \"Default\": 64, \"Min\": 8, \"Max\": 4096}, {\"Name\": \"C\", "
    "\"Default\": 64},"
    " {\"Name\": \"H\", \"Default\": 3}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": ["
    " {\"Name\": \"wg\", \"Type\": \"int\", \"Values\": \"[1, 2, 4, 8]\", \"Default\": 2},"
    " {\"Name\": \"mode\", \"Type\": \"string\", \"Values\": [\"row\", \"column\"]}],"
    " \"Conditions\": [{\"Expression\": \"wg <= R // 8\"}]},"
    "\"KernelSpecification\": {\"KernelName\": \"f\", \"KernelFile\": \"f.cl\", \"GlobalSize\": [\"R\"], "
    "\"LocalSize\": [\"wg\"],"
    " \"Arguments\": [{\"Name\": \"a\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\","
    " \"Size\": \"R\"}]}}";
static const char configurations[] = "[{\"wg\": 4, \"mode\": \"column\"}, {\"configuration\": {\"wg\": 1}}]";

static void provide(int at, const char *text) {
  int fd;
  fuzz_file(&fd, (const uint8_t *)text, strlen(text));
  if (dup2(fd, at) != at) abort();
  close(fd);
}

/* Standard input is none, so that opening it by name does not wait. */
static void set_up(void) {
  static bool done;
  if (done) return;
  done = true;
  provide(100, problem);
  provide(101, configurations);
  if (freopen("/dev/null", "r", stdin) == NULL) abort();
}

static void use_cell(const clt_sweep *sweep, size_t index) {
  static clt_device_info device = {.name = "d", .platform_name = "p", .driver_version = "1", .compute_units = 1};
  const clt_sweep_cell cell = sweep->cells[index];
  clt_instance *instance = NULL;
  clt_tune_settings settings;
  char text[64];
  clt_sweep_cell_print(&cell, text, sizeof text);
  if (clt_instance_new(&instance, cell.problem, cell.sizes, cell.n_sizes, &device, NULL)) return;
  if (clt_sweep_settings(&settings, sweep, &cell, instance, NULL, NULL) == 0) clt_sweep_settings_release(&settings);
  clt_instance_free(instance);
}

static void use(const clt_sweep *sweep) {
  size_t n = sweep->n_cells, found[2], n_found;
  clt_device_info devices[2] = {{.name = "One", .type = CLT_DEVICE_GPU}, {.name = "Two", .type = CLT_DEVICE_CPU}};
  if (n == 0) abort();
  use_cell(sweep, 0);
  use_cell(sweep, n / 2);
  use_cell(sweep, n - 1);
  for (size_t i = 0; i < sweep->n_devices; i++)
    if (clt_device_select_all(found, &n_found, devices, 2, sweep->devices[i], true, NULL) == 0 && n_found > 2) abort();
}

/* The same text from others, who are not trusted. */
static void use_as_shared(const uint8_t *data, size_t size) {
  static const char *const folders[] = {"/proc/self/fd"};
  const clt_sweep_trust trust = {folders, 1, false};
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  char *text = fuzz_text(data, size);
  if (clt_sweep_load_shared(&sweep, text, "plan 1", &trust, &error) == 0)
    use(sweep);
  else if (error.code == 0)
    abort();
  clt_sweep_free(sweep);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  set_up();
  use_as_shared(data, size);
  if (clt_sweep_load(&sweep, fuzz_file(&fd, data, size), &error) == 0)
    use(sweep);
  else if (error.code == 0)
    abort();
  clt_sweep_free(sweep);
  close(fd);
  return 0;
}
