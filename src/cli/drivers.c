/* Finds OpenCL drivers that are registered and break the others, and drivers that are installed but not registered.
 * Each is tried in a worker that sees no other driver. */
#include <clatune/device.h>
#include <dirent.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "cli/cli.h"

#define VENDORS "OCL_ICD_VENDORS"
#define REGISTRY "/etc/OpenCL/vendors"

/* The user's OCL_ICD_VENDORS, malloc'ed; NULL: not set. */
static char *users_vendors(void) {
  const char *set = getenv("OCL_ICD_VENDORS");
  return set && *set ? strdup(set) : NULL;
}

static void restore_vendors(char *before) {
  before ? setenv(VENDORS, before, 1) : unsetenv(VENDORS);
  free(before);
}

/* The devices of one driver. vendors: for the loader, a folder or a library. */
static int list_alone(clt_device_info **out, size_t *n, const char *vendors, clt_error *error) {
  *out = NULL;
  *n = 0;
  return setenv(VENDORS, vendors, 1) ? clt_fail_memory(error) : clt_devices(out, n, error);
}

/* --- a driver that breaks the others --- */

static clt_run_folder sound; /* links to the working drivers, until the program ends */

static void remove_sound(void) { clt_run_folder_remove(&sound); }

/* Tries the driver that an .icd file registers, and adds it to the working ones. False: it could not be tried. */
static bool try_driver(const char *registry, const char *name, const char *good, size_t *n_good, size_t *n_bad) {
  clt_device_info *devices;
  clt_error why = {0};
  size_t n;
  char *file = clt_format("%s/%s", registry, name), *alone = NULL;
  char *target = file ? realpath(file, NULL) : NULL;
  char *link = clt_run_folder_make(&alone, &sound, "alone", NULL) ? NULL : clt_format("%s/%s", alone, name);
  char *kept = clt_format("%s/%s", good, name);
  bool tried = target && link && kept && symlink(target, link) == 0;
  if (tried && list_alone(&devices, &n, alone, &why)) {
    fprintf(stderr, "clatune: warning: left out the OpenCL driver registered by '%s': %s\n", file, why.message);
    ++*n_bad;
  } else if (tried) {
    free(devices);
    *n_good += symlink(target, kept) == 0;
  }
  if (tried) unlink(link);
  free(kept);
  free(link);
  free(alone);
  free(target);
  free(file);
  return tried;
}

/* The devices of the working drivers; false: leaving drivers out does not help. */
static bool list_sound(clt_device_info **out, size_t *n) {
  char *before = users_vendors(), *good = NULL;
  const char *registry = before ? before : REGISTRY;
  size_t n_good = 0, n_bad = 0;
  DIR *folder = opendir(registry);
  bool done = folder && clt_run_folder_new(&sound, NULL) == CLT_OK && atexit(remove_sound) == 0 &&
              clt_run_folder_make(&good, &sound, "drivers", NULL) == CLT_OK;
  for (const struct dirent *entry; done && (entry = readdir(folder));) {
    const char *ending = strrchr(entry->d_name, '.');
    if (ending && strcmp(ending, ".icd") == 0) done = try_driver(registry, entry->d_name, good, &n_good, &n_bad);
  }
  if (folder) closedir(folder);
  done = done && n_good > 0 && n_bad > 0 && list_alone(out, n, good, NULL) == CLT_OK;
  if (done)
    free(before); /* workers started from now on do not see the broken drivers */
  else
    restore_vendors(before);
  free(good);
  return done;
}

int cli_devices_here(clt_device_info **out, size_t *n, clt_error *error) {
  int rc = clt_devices(out, n, error);
  if (rc != CLT_E_WORKER || sound.path || !list_sound(out, n)) return rc;
  return CLT_OK;
}

/* --- a driver that is not registered --- */

void cli_suggest_drivers(const clt_device_info *devices, size_t n) {
  static const struct {
    const char *library, *icd;
  } known[] = {{"libnvidia-opencl.so.1", "nvidia.icd"},
               {"libamdocl64.so", "amdocl64.icd"},
               {"/opt/rocm/lib/libamdocl64.so", "amdocl64.icd"},
               {"libigdrcl.so", "intel.icd"},
               {"/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so", "intel.icd"},
               {"/usr/lib/intel-opencl/libigdrcl.so", "intel.icd"},
               {"libRusticlOpenCL.so.1", "rusticl.icd"},
               {"libmali.so.1", "mali.icd"},
               {"libOpenCL_adreno.so.1", "adreno.icd"}};
  for (size_t i = 0; i < n; i++)
    if (devices[i].type == CLT_DEVICE_GPU || devices[i].type == CLT_DEVICE_ACCELERATOR) return;
  char *before = users_vendors();
  bool suggested = false;
  for (size_t k = 0; k < sizeof known / sizeof *known && !suggested; k++) {
    const char *library = known[k].library;
    clt_device_info *found;
    clt_error why = {0};
    size_t n_found;
    if (*library == '/' && access(library, R_OK)) continue;
    if (list_alone(&found, &n_found, library, &why)) {
      fprintf(stderr, "clatune: warning: the driver library '%s' cannot be used: %s\n", library, why.message);
      continue;
    }
    for (size_t i = 0; i < n_found && !suggested; i++) {
      if (found[i].type != CLT_DEVICE_GPU && found[i].type != CLT_DEVICE_ACCELERATOR) continue;
      suggested = true;
      fprintf(stderr,
              "clatune: '%s' is not listed: its driver is installed, but not registered in " REGISTRY
              ", as happens in containers.\n"
              "To use it:      export OCL_ICD_VENDORS=%s\n"
              "To register it: echo %s > " REGISTRY "/%s\n",
              found[i].name, library, library, known[k].icd);
    }
    free(found);
  }
  restore_vendors(before);
}

void cli_check_device(int rc) {
  clt_device_info *devices = NULL;
  size_t n = 0;
  if (rc == CLT_OK) return;
  const int code = cli_say(&cli_error);
  if (rc == CLT_E_DEVICE && cli_devices_here(&devices, &n, NULL) == CLT_OK) cli_suggest_drivers(devices, n);
  free(devices);
  cli_exit(code);
}
