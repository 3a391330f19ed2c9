/* device/device.h - the library's own functions on devices, in addition to clatune/device.h: selection, keys, JSON;
 * what a kernel file contains; energy counters and clocks. */
#pragma once

#include <clatune/device.h>
#include <jansson.h>

const char *clt_device_type_name(clt_device_type type); /* "cpu", "gpu", "accelerator", "other" */

/* All devices that a text selects, in its order, each once: a kind ("all", "gpu:all"; with `kinds` also "gpu"), a text
 * for clt_device_select, or a list of these, separated by commas. Writes their indices to out (n at most) and their
 * number to *n_out. CLT_E_DEVICE and CLT_E_AMBIGUOUS as clt_device_select. */
int clt_device_select_all(size_t *out, size_t *n_out, const clt_device_info *devices, size_t n, const char *text,
                          bool kinds, clt_error *error);

/* The key of the physical device, for its lock: "cpu", "gpu-<uuid>", "gpu-<pci address>" or a form of the name. Returns
 * the length needed. */
int clt_device_lock_key(const clt_device_info *device, char *out, size_t capacity);

/* How many bytes must be read to replace the content of a device's caches: twice the size of the last level. For a CPU
 * it is known; GPU drivers do not all state it, so there it is at least 512 MiB. At most a sixteenth of the device's
 * memory, and one allocation. */
uint64_t clt_cold_bytes(const clt_device_info *device);

/* This machine as a device, for programs that need no OpenCL device: platform "host", the processor's name, its
 * logical processors as compute units, the operating system as driver. */
void clt_device_host(clt_device_info *out);
bool clt_device_is_host(const clt_device_info *device); /* such a one, of any machine */

/* Properties, by the names in expressions, such as "device.local_memory_bytes", "device.max_work_group_size",
 * "device.extensions" (a string: "'cl_khr_fp64' in device.extensions"), "device.images", "device.type" ("cpu") ...
 * The whole list is in docs/reference/devices.md. The text of string values is borrowed from device. */
size_t clt_device_n_properties(void);
const char *clt_device_property_name(size_t index);
clt_value clt_device_property(const clt_device_info *device, size_t index);

/* A device as JSON, for other processes and --json: a new reference; NULL when out of memory. */
json_t *clt_device_json(const clt_device_info *device);
char *clt_device_public_text(clt_device_info *device); /* without what names a machine, which is cleared */
int clt_device_read(clt_device_info *out, const json_t *json, clt_error *error);
int clt_device_from_json(clt_device_info *out, const char *text, clt_error *error); /* the same from JSON text */

/* --- the content of a kernel file: its kernels and arguments, as the OpenCL compiler sees them; its macros ---
 */

typedef enum clt_address {
  CLT_ADDRESS_GLOBAL,
  CLT_ADDRESS_CONSTANT,
  CLT_ADDRESS_LOCAL,
  CLT_ADDRESS_PRIVATE
} clt_address;

typedef struct clt_kernel_argument {
  char name[128], type[128]; /* "in", "float*", "image2d_t" */
  size_t bytes;              /* size of a type that is not OpenCL's own, or that a pointer points to; 0: not known */
  clt_address address;
  bool is_const; /* the data that it points to is not written */
  bool reads_image, writes_image;
} clt_kernel_argument;

#define CLT_MAX_KERNEL_ARGUMENTS 64

typedef struct clt_kernel_info {
  char name[128];
  uint64_t local_size[3]; /* reqd_work_group_size; zeros: none */
  size_t n_arguments;
  clt_kernel_argument arguments[CLT_MAX_KERNEL_ARGUMENTS];
} clt_kernel_info;

/* A worker process that builds. It is kept, because a driver's first build in a process takes much longer than later
 * ones. */
typedef struct clt_inspector clt_inspector;
void clt_inspector_free(clt_inspector *inspector); /* NULL does nothing */

/* Builds a text in a worker process on a device, with options (include paths, definitions; "" for none), and lists its
 * kernels. *out is malloc'ed and owned by the caller; finding no kernel is no error. CLT_E_OPENCL with the compiler's
 * log if it does not build, CLT_E_WORKER if the compiler crashes or takes longer than a minute. kept (nullable): keeps
 * the worker for further calls; *kept is NULL at first, and the caller frees it in the end. */
int clt_inspect(clt_kernel_info **out, size_t *n, clt_inspector **kept, const clt_device_info *device, const char *text,
                const char *options, clt_error *error);

/* A "#define" in a kernel's text. */
typedef struct clt_define {
  char name[64], value[64]; /* value: as written, without comments, truncated */
  int line;                 /* from 1 */
  bool has_arguments;
  bool conditional; /* it is inside an #if, #ifdef or #ifndef */
  bool guarded;     /* one of these tests the name, or an #undef of it comes before */
} clt_define;

#define CLT_MAX_DEFINES 4096

/* Lists the first CLT_MAX_DEFINES macros that a text defines, in their order. Includes are not read, conditions not
 * evaluated. A macro that is neither conditional nor guarded overrides a build option -D. *out is malloc'ed and owned
 * by the caller, NULL if there is none. CLT_E_MEMORY. */
int clt_defines(clt_define **out, size_t *n, const char *text, clt_error *error);

/* A copy of C text without comments and continued lines, so that every directive is one line. Line numbers are kept:
 * the missing line breaks follow the joined line. NULL when out of memory; caller frees. */
char *clt_plain_source(const char *text);

/* Words of C text. clt_next_word: the next position at which a name is a word; NULL: there is none. The others:
 * whether a macro's value is used, at a position or anywhere; defining it or testing whether it is defined does not
 * count.
 */
static inline bool clt_in_word(char c) { /* in every locale */
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}
const char *clt_next_word(const char *text, const char *at, const char *name);
bool clt_reads_macro_at(const char *text, const char *at);
bool clt_reads_macro(const char *text, const char *name);

/* --- energy.c: the energy that a device has used so far, if the system counts it
 * (docs/reference/objectives.md#energy).
 *
 * Linux powercap counts a CPU (package and memory domains of all sockets, including other programs), NVML an NVIDIA
 * GPU. Nothing is subtracted for idling. --- */
typedef struct clt_energy_meter clt_energy_meter;

/* Opens the device's counter. CLT_E_UNSUPPORTED if it has none or it is not readable: the message says which, and what
 * to do. CLATUNE_POWERCAP and CLATUNE_NVML (docs/reference/environment.md) set others. */
int clt_energy_open(clt_energy_meter **out, const clt_device_info *device, clt_error *error);
void clt_energy_close(clt_energy_meter *meter);

/* CLT_OK if it can be opened; closes it again. */
int clt_energy_check(const clt_device_info *device, clt_error *error);

/* Joules since the meter was opened. Correct if called at least once before a counter wraps around (minutes at least).
 * CLT_E_IO if the counter can no longer be read. */
int clt_energy_read(clt_energy_meter *meter, double *energy_J, clt_error *error);

/* --- frequency.c: the device's clock as NVML or Linux's sysfs reports it. CLATUNE_NVML and CLATUNE_SYSFS
 * (docs/reference/environment.md) set others. --- */
typedef struct clt_frequency_meter clt_frequency_meter;
clt_frequency_meter *clt_frequency_open(const clt_device_info *device); /* NULL: it is not reported */
void clt_frequency_close(clt_frequency_meter *meter);                   /* NULL does nothing */
/* In MHz, of a CPU the fastest of its first eight processors. NaN: not known, as for NULL. */
double clt_frequency_read(const clt_frequency_meter *meter);

/* --- NVIDIA's management library, which comes with the driver and is loaded when it is needed --- */

typedef struct clt_nvml {
  void *library, *gpu; /* library NULL: not open */
  bool initialised;
  int (*init)(void);
  int (*shutdown)(void);
  int (*by_uuid)(const char *uuid, void **gpu);
  int (*by_pci)(const char *address, void **gpu);
  const char *(*text)(int status);
  /* nvmlDeviceGetTotalEnergyConsumption: millijoules since the driver was loaded, from Volta on. */
  int (*energy)(void *gpu, unsigned long long *mJ);
  int (*clock)(void *gpu, int kind, unsigned *mhz); /* nvmlDeviceGetClockInfo; NULL: the library lacks it */
} clt_nvml;

#define CLT_NVML_CLOCK_SM 1

/* Opens the library (CLATUNE_NVML names another) and finds the GPU by its UUID or PCI address. false: `why` says why
 * not. Close it in either case. */
bool clt_nvml_open(clt_nvml *out, const clt_device_info *device, char why[400]);
void clt_nvml_close(clt_nvml *nvml);
