/* The fields of clt_device_info as one table, which yields the properties for expressions and the JSON form; keys
 * for stores and locks; selecting devices with a text. */
#include <clatune/device.h>
#include <ctype.h>
#include <limits.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "device/device.h"

typedef enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_U32, FIELD_U64, FIELD_BOOL, FIELD_REAL, FIELD_TYPE } field_kind;

typedef struct device_field {
  const char *property; /* the name in expressions: "device.<JSON key>" */
  field_kind kind;
  size_t offset, capacity; /* capacity: bytes of a text */
} device_field;

#define NAMED(kind, name, field) \
  { "device." name, kind, offsetof(clt_device_info, field), sizeof((clt_device_info *)0)->field }
#define FIELD(kind, field) NAMED(kind, #field, field)
#define TEXT(field) FIELD(FIELD_TEXT, field)

static const device_field fields[] = {
    FIELD(FIELD_INT, platform_index),
    FIELD(FIELD_INT, device_index),
    TEXT(platform_name),
    TEXT(platform_vendor),
    TEXT(platform_version),
    TEXT(icd_suffix),
    TEXT(name),
    TEXT(vendor),
    TEXT(device_version),
    TEXT(driver_version),
    TEXT(opencl_c_version),
    TEXT(uuid),
    TEXT(pci_address),
    TEXT(extensions),
    FIELD(FIELD_TYPE, type),
    FIELD(FIELD_BOOL, available),
    FIELD(FIELD_BOOL, images),
    FIELD(FIELD_BOOL, little_endian),
    FIELD(FIELD_U32, compute_units),
    FIELD(FIELD_U32, clock_mhz),
    FIELD(FIELD_U32, address_bits),
    FIELD(FIELD_U64, max_work_group_size),
    NAMED(FIELD_U64, "max_work_item_size_x", max_work_item_sizes[0]),
    NAMED(FIELD_U64, "max_work_item_size_y", max_work_item_sizes[1]),
    NAMED(FIELD_U64, "max_work_item_size_z", max_work_item_sizes[2]),
    FIELD(FIELD_U64, local_memory_bytes),
    FIELD(FIELD_BOOL, local_memory_dedicated),
    FIELD(FIELD_U64, global_memory_bytes),
    FIELD(FIELD_U64, global_cache_bytes),
    FIELD(FIELD_U64, max_allocation_bytes),
    FIELD(FIELD_U64, max_constant_bytes),
    FIELD(FIELD_U64, max_parameter_bytes),
    FIELD(FIELD_U64, image1d_buffer_max_width),
    FIELD(FIELD_U64, image2d_max_width),
    FIELD(FIELD_U64, image2d_max_height),
    FIELD(FIELD_U64, image3d_max_width),
    FIELD(FIELD_U64, image3d_max_height),
    FIELD(FIELD_U64, image3d_max_depth),
    FIELD(FIELD_U64, base_address_align_bits),
    FIELD(FIELD_U64, preferred_vector_width_float),
    FIELD(FIELD_U64, warp_size),
    FIELD(FIELD_U64, preferred_work_group_multiple),
    TEXT(sub_group_sizes),
    FIELD(FIELD_REAL, timer_resolution_s),
};
#define N_FIELDS (sizeof fields / sizeof *fields)

static const char *json_key(const device_field *field) { return field->property + strlen("device."); }

const char *clt_device_type_name(clt_device_type type) {
  static const char *const names[] = {"cpu", "gpu", "accelerator", "other"};
  return (unsigned)type < 4 ? names[type] : "other";
}

/* --- keys --- */

int clt_device_key(char *out, size_t capacity, const clt_device_info *device) {
  if (!device->platform_name[0] && device->compute_units == 0) return snprintf(out, capacity, "%s", device->name);
  return snprintf(out, capacity, "%s|%s|%u", device->platform_name, device->name, (unsigned)device->compute_units);
}

int clt_device_lock_key(const clt_device_info *device, char *out, size_t capacity) {
  bool has_uuid = strspn(device->uuid, "0") < strlen(device->uuid); /* some drivers report zeros instead of none */
  const char *text = device->pci_address[0] ? device->pci_address : device->name;
  if (has_uuid) text = device->uuid;
  if (device->type == CLT_DEVICE_CPU) return snprintf(out, capacity, "cpu");
  /* The name becomes part of a file name: lower-case letters, digits and single dashes. */
  char simple[128];
  size_t n = 0;
  for (const char *c = text; *c && n + 1 < sizeof simple; c++) {
    if (clt_in_word(*c) && *c != '_')
      simple[n++] = (char)tolower((unsigned char)*c);
    else if (n > 0 && simple[n - 1] != '-')
      simple[n++] = '-';
  }
  simple[n] = '\0';
  return snprintf(out, capacity, "%s-%s", text == device->name ? "device" : "gpu", simple);
}

/* --- properties --- */

size_t clt_device_n_properties(void) { return N_FIELDS; }

const char *clt_device_property_name(size_t index) { return fields[index].property; }

clt_value clt_device_property(const clt_device_info *device, size_t index) {
  const void *at = (const char *)device + fields[index].offset;
  clt_value value = {.type = CLT_INT};
  switch (fields[index].kind) {
    case FIELD_TEXT: return (clt_value){.type = CLT_STRING, .text = at};
    case FIELD_INT: value.integer = *(const int *)at; break;
    case FIELD_U32: value.integer = *(const uint32_t *)at; break;
    case FIELD_U64: /* drivers report "no limit" as 2^64 - 1; expressions know 63 bits */
      value.integer = *(const uint64_t *)at > INT64_MAX ? INT64_MAX : (int64_t) * (const uint64_t *)at;
      break;
    case FIELD_BOOL: return (clt_value){.type = CLT_BOOL, .integer = *(const bool *)at};
    case FIELD_REAL: return (clt_value){.type = CLT_REAL, .real = *(const double *)at};
    case FIELD_TYPE: return (clt_value){.type = CLT_STRING, .text = clt_device_type_name(*(const clt_device_type *)at)};
  }
  return value;
}

/* --- JSON --- */

json_t *clt_device_json(const clt_device_info *device) {
  json_t *object = json_object();
  for (size_t i = 0; i < N_FIELDS; i++)
    clt_json_set(&object, json_key(&fields[i]), clt_json_value(clt_device_property(device, i)));
  return object;
}

char *clt_device_public_text(clt_device_info *device) {
  device->uuid[0] = device->pci_address[0] = '\0';
  device->platform_index = device->device_index = 0;
  json_t *object = clt_device_json(device);
  char *out = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  return out;
}

/* Sets a field from JSON. Returns NULL, or a description of what is required. */
static const char *read_member(clt_device_info *device, const device_field *field, const json_t *json) {
  void *at = (char *)device + field->offset;
  const char *text = json_string_value(json);
  json_int_t x = json_integer_value(json);
  switch (field->kind) {
    case FIELD_TEXT:
      if (text == NULL) return "a string";
      if (json_string_length(json) >= field->capacity) return "a shorter string";
      memcpy(at, text, json_string_length(json) + 1);
      return NULL;
    case FIELD_TYPE:
      for (clt_device_type type = CLT_DEVICE_CPU; text && type <= CLT_DEVICE_OTHER; type++)
        if (strcmp(text, clt_device_type_name(type)) == 0) {
          *(clt_device_type *)at = type;
          return NULL;
        }
      return "\"cpu\", \"gpu\", \"accelerator\" or \"other\"";
    case FIELD_BOOL:
      if (!json_is_boolean(json)) return "true or false";
      *(bool *)at = json_is_true(json);
      return NULL;
    case FIELD_REAL:
      if (!json_is_number(json)) return "a number";
      *(double *)at = json_number_value(json);
      return NULL;
    default:
      if (!json_is_integer(json) || x < 0 || (field->kind == FIELD_INT && x > INT_MAX) ||
          (field->kind == FIELD_U32 && x > UINT32_MAX))
        return "a whole number in range";
      if (field->kind == FIELD_INT) *(int *)at = (int)x;
      if (field->kind == FIELD_U32) *(uint32_t *)at = (uint32_t)x;
      if (field->kind == FIELD_U64) *(uint64_t *)at = (uint64_t)x;
      return NULL;
  }
}

int clt_device_read(clt_device_info *out, const json_t *object, clt_error *error) {
  clt_device_info device = {.type = CLT_DEVICE_OTHER};
  if (!json_is_object(object))
    return clt_fail(error, CLT_E_FORMAT, "the description of a device must be a JSON object");
  for (size_t i = 0; i < N_FIELDS; i++) {
    const json_t *member = json_object_get(object, json_key(&fields[i]));
    const char *needed = member ? read_member(&device, &fields[i], member) : NULL;
    if (needed) return clt_fail_at(error, CLT_E_FORMAT, NULL, 0, json_key(&fields[i]), "needs %s", needed);
  }
  *out = device;
  return CLT_OK;
}

int clt_device_from_json(clt_device_info *out, const char *text, clt_error *error) {
  json_error_t mistake;
  json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &mistake);
  if (object == NULL) return clt_fail_at(error, CLT_E_FORMAT, NULL, mistake.line, NULL, "%s", mistake.text);
  int rc = clt_device_read(out, object, error);
  json_decref(object);
  return rc;
}

/* --- choosing one by a text --- */

#define MIN_UUID_PREFIX 8 /* fewer hex digits would match by accident */

/* How a text may select a device, in the order of trying. */
typedef enum match_level {
  BY_INDICES,
  BY_UUID,
  BY_TYPE,
  BY_SUFFIX,
  BY_WHOLE_NAME,
  BY_PLATFORM,
  BY_NAME,
  ANYTHING
} match_level;

static bool is_indices(const char *text) {
  size_t a = strspn(text, "0123456789");
  if (a == 0 || text[a] != ':') return false;
  size_t b = strspn(text + a + 1, "0123456789");
  return b > 0 && text[a + 1 + b] == 0;
}

/* UUIDs may have dashes and NVIDIA's prefix "GPU-", or neither. */
static bool matches_uuid(const clt_device_info *device, const char *text) {
  char digits[40];
  size_t n = 0;
  if (strncasecmp(text, "GPU-", 4) == 0) text += 4;
  for (; *text && n + 1 < sizeof digits; text++) {
    if (*text == '-') continue;
    if (!isxdigit((unsigned char)*text)) return false;
    digits[n++] = *text;
  }
  digits[n] = 0;
  return *text == 0 && n >= MIN_UUID_PREFIX && strncasecmp(device->uuid, digits, n) == 0;
}

static bool device_matches(const clt_device_info *device, match_level level, const char *text) {
  switch (level) {
    case BY_INDICES:
      return is_indices(text) && strtol(text, NULL, 10) == device->platform_index &&
             strtol(strchr(text, ':') + 1, NULL, 10) == device->device_index;
    case BY_UUID: return matches_uuid(device, text);
    case BY_TYPE: return device->type != CLT_DEVICE_OTHER && strcasecmp(clt_device_type_name(device->type), text) == 0;
    case BY_SUFFIX: return device->icd_suffix[0] && strcasecmp(device->icd_suffix, text) == 0;
    case BY_WHOLE_NAME: return strcasecmp(device->name, text) == 0;
    case BY_PLATFORM: return strcasestr(device->platform_name, text) != NULL;
    case BY_NAME:
      return strcasestr(device->vendor, text) || strcasestr(device->platform_vendor, text) ||
             strcasestr(device->name, text);
    default: return true;
  }
}

int clt_device_select(size_t *index, const clt_device_info *devices, size_t n, const char *text, clt_error *error) {
  char candidates[900] = "";
  size_t first = 0, n_matching = 0, used = 0;
  if (text == NULL) text = "";
  match_level level = text[0] ? BY_INDICES : ANYTHING;
  for (;; level = is_indices(text) ? ANYTHING : level + 1) { /* the first level with a match decides */
    for (size_t i = n; i-- > 0;)
      if (device_matches(&devices[i], level, text)) n_matching++, first = i;
    if (n_matching || level == ANYTHING) break;
  }
  bool fits = level != ANYTHING || !text[0];
  if (fits && n_matching == 1) {
    *index = first;
    return CLT_OK;
  }
  if (n == 0)
    return clt_fail(error, CLT_E_DEVICE, "there is no OpenCL device; install a driver, such as PoCL for CPUs");
  for (size_t i = 0; i < n && used < sizeof candidates; i++) { /* "0:0 NAME (PLATFORM), ..." */
    const clt_device_info *d = &devices[i];
    char indices[32] = ""; /* a device of another machine has none */
    if (!device_matches(d, level, text)) continue;
    if (d->platform_index >= 0) snprintf(indices, sizeof indices, "%d:%d ", d->platform_index, d->device_index);
    used += (size_t)snprintf(candidates + used, sizeof candidates - used, "%s%s%s (%s)", used ? ", " : "", indices,
                             d->name, d->platform_name);
  }
  if (!fits) return clt_fail(error, CLT_E_DEVICE, "no device matches '%s'; available devices: %s", text, candidates);
  if (text[0])
    return clt_fail(error, CLT_E_AMBIGUOUS, "'%s' matches several devices; choose one of: %s", text, candidates);
  return clt_fail(error, CLT_E_AMBIGUOUS, "there are several devices; choose one of: %s", candidates);
}

int clt_device_select_all(size_t *out, size_t *n_out, const clt_device_info *devices, size_t n, const char *text,
                          bool kinds, clt_error *error) {
  if (text == NULL) text = "";
  const char *colon = strchr(text, ':');
  const bool suffixed = colon && strcasecmp(colon, ":all") == 0;
  const size_t length = suffixed ? (size_t)(colon - text) : strlen(text);
  size_t n_found = 0;
  clt_error why = {0};
  for (size_t i = 0; i < n; i++) {
    const char *kind = devices[i].type == CLT_DEVICE_OTHER ? "" : clt_device_type_name(devices[i].type);
    const bool is_meant =
        (kinds || suffixed) && length > 0 && strlen(kind) == length && strncasecmp(text, kind, length) == 0;
    if (is_meant || strcasecmp(text, "all") == 0) out[n_found++] = i;
  }
  int rc = n_found ? CLT_OK : clt_device_select(out, devices, n, text, &why);
  *n_out = n_found ? n_found : 1;
  if (rc != CLT_E_DEVICE || strchr(text, ',') == NULL) return rc ? clt_fail_as(error, &why) : CLT_OK;
  char *words = strdup(text), *rest = words;
  size_t *found = clt_new_array(n, sizeof *found);
  rc = words && found ? CLT_OK : clt_fail_memory(error);
  *n_out = 0;
  for (char *word; rc == CLT_OK && (word = strsep(&rest, ",")) != NULL;) {
    rc = clt_device_select_all(found, &n_found, devices, n, word + strspn(word, " "), kinds, error);
    for (size_t k = 0; rc == CLT_OK && k < n_found; k++) {
      size_t i = 0;
      while (i < *n_out && out[i] != found[k]) i++;
      if (i == *n_out) out[(*n_out)++] = found[k];
    }
  }
  free(words);
  free(found);
  return rc;
}

/* --- caches --- */

/* The sum of all last-level caches in bytes; a shared cache counts with the first processor that shares it. */
static double processor_cache_bytes(void) {
  double bytes = 0;
  const long n = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < n; cpu++) {
    FILE *size = NULL, *shared = NULL;
    for (int index = 9; size == NULL && index >= 0; index--) {
      char path[128];
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cache/index%d/size", cpu, index);
      size = fopen(path, "re");
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cache/index%d/shared_cpu_list", cpu, index);
      if (size) shared = fopen(path, "re");
    }
    long kib = 0, first = cpu;
    if (size && fscanf(size, "%ldK", &kib) == 1 && shared && fscanf(shared, "%ld", &first) == 1 && first == cpu)
      bytes += 1024.0 * (double)kib;
    if (size) fclose(size);
    if (shared) fclose(shared);
  }
  return bytes;
}

#define LARGE_CACHES 0x1p29

uint64_t clt_cold_bytes(const clt_device_info *device) {
  const double told = (double)device->global_cache_bytes;
  const double known = device->type == CLT_DEVICE_CPU ? processor_cache_bytes() : 0;
  const double wanted = known > 0 ? 2 * fmax(told, known) : fmax(2 * told, LARGE_CACHES);
  return (uint64_t)fmin(wanted, fmin((double)device->global_memory_bytes / 16, (double)device->max_allocation_bytes));
}

/* --- this machine --- */

#define HOST "host" /* the platform */

bool clt_device_is_host(const clt_device_info *device) { return strcmp(device->platform_name, HOST) == 0; }

void clt_device_host(clt_device_info *out) {
  struct utsname system;
  long processors = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  memset(out, 0, sizeof *out);
  out->type = CLT_DEVICE_CPU;
  out->available = out->little_endian = true;
  strcpy(out->platform_name, HOST);
  FILE *file = fopen("/proc/cpuinfo", "re");
  char line[512];
  while (file && !(out->name[0] && out->vendor[0]) && fgets(line, sizeof line, file)) { /* "model name\t: ..." */
    const char *colon = strchr(line, ':'), *text = colon ? colon + 1 + strspn(colon + 1, " \t") : NULL;
    if (text && !out->name[0] && strncmp(line, "model name", strlen("model name")) == 0)
      snprintf(out->name, sizeof out->name, "%.*s", (int)strcspn(text, "\n"), text);
    if (text && !out->vendor[0] && strncmp(line, "vendor_id", strlen("vendor_id")) == 0)
      snprintf(out->vendor, sizeof out->vendor, "%.*s", (int)strcspn(text, "\n"), text);
  }
  if (file) fclose(file);
  if (uname(&system) == 0) {
    if (out->name[0] == 0) snprintf(out->name, sizeof out->name, "%.64s", system.machine);
    snprintf(out->driver_version, sizeof out->driver_version, "%.60s %.60s", system.sysname, system.machine);
  }
  out->compute_units = processors > 0 ? (uint32_t)processors : 1;
  if (pages > 0 && page > 0) out->global_memory_bytes = (uint64_t)pages * (uint64_t)page;
}
