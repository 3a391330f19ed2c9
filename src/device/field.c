#include "device/field.h"

#include <string.h>

#define TEXT(field) \
  { "device." #field, CLT_FIELD_TEXT, offsetof(clt_device_info, field), sizeof((clt_device_info *)0)->field }
#define FIELD(kind, field) \
  { "device." #field, kind, offsetof(clt_device_info, field), 0 }
#define NAMED(kind, name, field) \
  { "device." name, kind, offsetof(clt_device_info, field), 0 }

const clt_field clt_device_fields[] = {
    FIELD(CLT_FIELD_INT, platform_index),
    FIELD(CLT_FIELD_INT, device_index),
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
    FIELD(CLT_FIELD_TYPE, type),
    FIELD(CLT_FIELD_BOOL, available),
    FIELD(CLT_FIELD_BOOL, images),
    FIELD(CLT_FIELD_BOOL, little_endian),
    FIELD(CLT_FIELD_U32, compute_units),
    FIELD(CLT_FIELD_U32, clock_mhz),
    FIELD(CLT_FIELD_U32, address_bits),
    FIELD(CLT_FIELD_U64, max_work_group_size),
    NAMED(CLT_FIELD_U64, "max_work_item_size_x", max_work_item_sizes[0]),
    NAMED(CLT_FIELD_U64, "max_work_item_size_y", max_work_item_sizes[1]),
    NAMED(CLT_FIELD_U64, "max_work_item_size_z", max_work_item_sizes[2]),
    FIELD(CLT_FIELD_U64, local_memory_bytes),
    FIELD(CLT_FIELD_BOOL, local_memory_dedicated),
    FIELD(CLT_FIELD_U64, global_memory_bytes),
    FIELD(CLT_FIELD_U64, global_cache_bytes),
    FIELD(CLT_FIELD_U64, max_allocation_bytes),
    FIELD(CLT_FIELD_U64, max_constant_bytes),
    FIELD(CLT_FIELD_U64, max_parameter_bytes),
    FIELD(CLT_FIELD_U64, image1d_buffer_max_width),
    FIELD(CLT_FIELD_U64, image2d_max_width),
    FIELD(CLT_FIELD_U64, image2d_max_height),
    FIELD(CLT_FIELD_U64, image3d_max_width),
    FIELD(CLT_FIELD_U64, image3d_max_height),
    FIELD(CLT_FIELD_U64, image3d_max_depth),
    FIELD(CLT_FIELD_U64, base_address_align_bits),
    FIELD(CLT_FIELD_U64, preferred_vector_width_float),
    FIELD(CLT_FIELD_U64, warp_size),
    FIELD(CLT_FIELD_U64, preferred_work_group_multiple),
    TEXT(sub_group_sizes),
    FIELD(CLT_FIELD_REAL, timer_resolution_s),
};
const size_t clt_device_n_fields = sizeof clt_device_fields / sizeof *clt_device_fields;

const char *clt_field_json_key(const clt_field *field) { return field->property + strlen("device."); }

const char *clt_device_type_name(clt_device_type type) {
  static const char *const names[] = {"cpu", "gpu", "accelerator", "other"};
  return (unsigned)type < 4 ? names[type] : "other";
}
