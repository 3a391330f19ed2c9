#include <clatune/device.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "device/field.h"

int clt_device_key(const clt_device_info *device, char *out, size_t capacity) {
  return snprintf(out, capacity, "%s|%s|%u", device->platform_name, device->name, (unsigned)device->compute_units);
}

/* Some drivers report a UUID of zeros instead of none. */
static bool has_uuid(const clt_device_info *device) { return strspn(device->uuid, "0") < strlen(device->uuid); }

/* A file name's worth of a name: lower-case letters, digits and single dashes. */
static void simplify(char *out, size_t capacity, const char *name) {
  size_t n = 0;
  for (; *name && n + 1 < capacity; name++) {
    if (isalnum((unsigned char)*name)) {
      out[n++] = (char)tolower((unsigned char)*name);
    } else if (n > 0 && out[n - 1] != '-') {
      out[n++] = '-';
    }
  }
  out[n] = 0;
}

int clt_device_lock_key(const clt_device_info *device, char *out, size_t capacity) {
  if (device->type == CLT_DEVICE_CPU) return snprintf(out, capacity, "cpu");
  if (has_uuid(device)) return snprintf(out, capacity, "gpu-%s", device->uuid);
  char simple[128];
  if (device->pci_address[0]) {
    simplify(simple, sizeof simple, device->pci_address);
    return snprintf(out, capacity, "gpu-%s", simple);
  }
  simplify(simple, sizeof simple, device->name);
  return snprintf(out, capacity, "device-%s", simple);
}

size_t clt_device_n_properties(void) { return clt_device_n_fields; }

const char *clt_device_property_name(size_t index) { return clt_device_fields[index].property; }

static clt_value integer(int64_t x) { return (clt_value){.type = CLT_INT, .integer = x}; }

/* Drivers report "no limit" as 2^64 - 1; expressions know 63 bits. */
static clt_value unsigned_integer(uint64_t x) { return integer(x > INT64_MAX ? INT64_MAX : (int64_t)x); }

clt_value clt_device_property(const clt_device_info *device, size_t index) {
  const clt_field *field = &clt_device_fields[index];
  const void *at = (const char *)device + field->offset;
  switch (field->kind) {
    case CLT_FIELD_TEXT: return (clt_value){.type = CLT_STRING, .text = at};
    case CLT_FIELD_INT: return integer(*(const int *)at);
    case CLT_FIELD_U32: return integer(*(const uint32_t *)at);
    case CLT_FIELD_U64: return unsigned_integer(*(const uint64_t *)at);
    case CLT_FIELD_BOOL: return (clt_value){.type = CLT_BOOL, .integer = *(const bool *)at};
    case CLT_FIELD_REAL: return (clt_value){.type = CLT_REAL, .real = *(const double *)at};
    case CLT_FIELD_TYPE:
      return (clt_value){.type = CLT_STRING, .text = clt_device_type_name(*(const clt_device_type *)at)};
  }
  return integer(0);
}
