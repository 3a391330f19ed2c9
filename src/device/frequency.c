/* The clock that the driver or the system reports: NVML for NVIDIA GPUs, Linux's sysfs for other GPUs and CPUs. */
#include <glob.h>

#include "base/base.h"
#include "base/text.h"
#include "device/device.h"

#define SYSFS "/sys"
#define MOST_MHZ 1e5 /* what is above it is no clock */

struct clt_frequency_meter {
  clt_nvml nvml; /* closed: the files are read */
  bool is_cpu;
  glob_t files;
};

/* Files of a device, the best first: below its PCI device those of amdgpu, i915 (0 while the GPU sleeps, hence the
 * second) and xe; of a CPU its first eight processors, because reading one may interrupt it. */
static const char *const of_gpu[] = {"hwmon/hwmon*/freq1_input",  "pp_dpm_sclk",
                                     "drm/card*/gt_act_freq_mhz", "drm/card*/gt_cur_freq_mhz",
                                     "tile0/gt0/freq0/act_freq",  "tile0/gt0/freq0/cur_freq"};
#define OF_CPU "devices/system/cpu/cpu[0-7]/cpufreq/scaling_cur_freq"

/* NaN: the file states no clock. "pp_dpm_sclk" lists levels, "1: 1700Mhz *", of which the star marks the current. */
static double read_mhz(const char *path) {
  FILE *file = fopen(path, "re");
  char line[128];
  double mhz = NAN;
  const bool lists = clt_ends_with(path, "pp_dpm_sclk");
  while (file && isnan(mhz) && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (!lists) mhz = clt_strtod(line, NULL);
    if (lists && colon && strchr(colon, '*')) mhz = clt_strtod(colon + 1, NULL);
  }
  if (file) fclose(file);
  if (clt_ends_with(path, "freq1_input")) mhz *= 1e-6;
  if (clt_ends_with(path, "scaling_cur_freq")) mhz *= 1e-3;
  return mhz > 0 && mhz < MOST_MHZ ? mhz : NAN;
}

static void find_files(clt_frequency_meter *m, const char *folder, const char *pattern) {
  char *path = clt_format("%s/%s", folder, pattern);
  if (path) glob(path, m->files.gl_pathc ? GLOB_APPEND : 0, NULL, &m->files);
  free(path);
}

clt_frequency_meter *clt_frequency_open(const clt_device_info *device) {
  const char *chosen = getenv("CLATUNE_SYSFS"), *root = chosen && chosen[0] ? chosen : SYSFS;
  clt_frequency_meter *m = clt_new_array(1, sizeof *m);
  char why[400];
  if (m == NULL) return NULL;
  m->is_cpu = device->type == CLT_DEVICE_CPU;
  if (strcasestr(device->vendor, "nvidia") && !clt_nvml_open(&m->nvml, device, why)) clt_nvml_close(&m->nvml);
  if (m->is_cpu) find_files(m, root, OF_CPU);
  char *folder = device->pci_address[0] ? clt_format("%s/bus/pci/devices/%s", root, device->pci_address) : NULL;
  for (size_t i = 0; folder && i < sizeof of_gpu / sizeof *of_gpu; i++) find_files(m, folder, of_gpu[i]);
  free(folder);
  if (!isnan(clt_frequency_read(m))) return m;
  clt_frequency_close(m);
  return NULL;
}

void clt_frequency_close(clt_frequency_meter *meter) {
  if (meter == NULL) return;
  clt_nvml_close(&meter->nvml);
  if (meter->files.gl_pathc) globfree(&meter->files);
  free(meter);
}

double clt_frequency_read(const clt_frequency_meter *m) {
  unsigned now_mhz = 0;
  if (m && m->nvml.clock && m->nvml.clock(m->nvml.gpu, CLT_NVML_CLOCK_SM, &now_mhz) == 0 && now_mhz > 0) return now_mhz;
  double mhz = NAN;
  for (size_t i = 0; m && i < m->files.gl_pathc; i++)
    if (m->is_cpu || isnan(mhz)) mhz = fmax(mhz, read_mhz(m->files.gl_pathv[i]));
  return mhz;
}
