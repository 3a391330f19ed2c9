#include <clatune/device.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "device/field.h"

#define MIN_UUID_PREFIX 8 /* fewer hex digits would match by accident */

typedef bool matches_fn(const clt_device_info *device, const char *text);

static bool is_place(const char *text) {
  size_t a = strspn(text, "0123456789");
  if (a == 0 || text[a] != ':') return false;
  size_t b = strspn(text + a + 1, "0123456789");
  return b > 0 && text[a + 1 + b] == 0;
}

static bool by_place(const clt_device_info *device, const char *text) {
  return is_place(text) && strtol(text, NULL, 10) == device->platform_index &&
         strtol(strchr(text, ':') + 1, NULL, 10) == device->device_index;
}

/* UUIDs are written with dashes and with NVIDIA's "GPU-" before them, or without. */
static bool by_uuid(const clt_device_info *device, const char *text) {
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

static bool by_type(const clt_device_info *device, const char *text) {
  return device->type != CLT_DEVICE_OTHER && strcasecmp(clt_device_type_name(device->type), text) == 0;
}

static bool by_suffix(const clt_device_info *device, const char *text) {
  return device->icd_suffix[0] && strcasecmp(device->icd_suffix, text) == 0;
}

static bool by_platform(const clt_device_info *device, const char *text) {
  return strcasestr(device->platform_name, text) != NULL;
}

static bool by_name(const clt_device_info *device, const char *text) {
  return strcasestr(device->vendor, text) || strcasestr(device->platform_vendor, text) ||
         strcasestr(device->name, text);
}

static bool anything(const clt_device_info *device, const char *text) {
  (void)device, (void)text;
  return true;
}

static size_t count(matches_fn *matches, const clt_device_info *devices, size_t n, const char *text, size_t *first) {
  size_t found = 0;
  for (size_t i = n; i-- > 0;)
    if (matches(&devices[i], text)) found++, *first = i;
  return found;
}

static void list(char *out, size_t capacity, matches_fn *matches, const clt_device_info *devices, size_t n,
                 const char *text) {
  size_t used = 0;
  out[0] = 0;
  for (size_t i = 0; i < n && used < capacity; i++) {
    const clt_device_info *d = &devices[i];
    if (!matches(d, text)) continue;
    char place[32] = ""; /* a device that is not here has none */
    if (d->platform_index >= 0) snprintf(place, sizeof place, "%d:%d ", d->platform_index, d->device_index);
    used += (size_t)snprintf(out + used, capacity - used, "%s%s%s (%s)", used ? ", " : "", place, d->name,
                             d->platform_name);
  }
}

static int ambiguous(matches_fn *matches, const clt_device_info *devices, size_t n, const char *text,
                     clt_error *error) {
  char candidates[900];
  list(candidates, sizeof candidates, matches, devices, n, text);
  if (!text[0]) return clt_fail(error, CLT_E_AMBIGUOUS, "there are several devices; choose one of: %s", candidates);
  return clt_fail(error, CLT_E_AMBIGUOUS, "'%s' fits several devices; choose one of: %s", text, candidates);
}

static int none(const clt_device_info *devices, size_t n, const char *text, clt_error *error) {
  char candidates[900];
  if (n == 0)
    return clt_fail(error, CLT_E_DEVICE, "there is no OpenCL device; install a driver, such as PoCL for CPUs");
  list(candidates, sizeof candidates, anything, devices, n, text);
  return clt_fail(error, CLT_E_DEVICE, "no device fits '%s'; there are: %s", text, candidates);
}

int clt_device_select(size_t *index, const clt_device_info *devices, size_t n, const char *text, clt_error *error) {
  static matches_fn *const levels[] = {by_place, by_uuid, by_type, by_suffix, by_platform, by_name};
  if (text == NULL) text = "";
  size_t n_levels = is_place(text) ? 1 : sizeof levels / sizeof *levels;
  for (size_t level = 0; level < n_levels; level++) {
    matches_fn *matches = text[0] ? levels[level] : anything;
    size_t first = 0, found = count(matches, devices, n, text, &first);
    if (found > 1) return ambiguous(matches, devices, n, text, error);
    if (found == 1) return *index = first, CLT_OK;
  }
  return none(devices, n, text, error);
}
