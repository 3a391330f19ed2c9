/* device/field.h - the fields of clt_device_info as a table: the one source of properties and of the JSON form. */
#ifndef CLT_DEVICE_FIELD_H
#define CLT_DEVICE_FIELD_H

#include <clatune/device.h>

typedef enum clt_field_kind {
  CLT_FIELD_TEXT,
  CLT_FIELD_INT,
  CLT_FIELD_U32,
  CLT_FIELD_U64,
  CLT_FIELD_BOOL,
  CLT_FIELD_REAL,
  CLT_FIELD_TYPE
} clt_field_kind;

/* property is the name in expressions, "device.<json key>". capacity: bytes of a text field. */
typedef struct clt_field {
  const char *property;
  clt_field_kind kind;
  size_t offset, capacity;
} clt_field;

extern const clt_field clt_device_fields[];
extern const size_t clt_device_n_fields;

const char *clt_field_json_key(const clt_field *field);
const char *clt_device_type_name(clt_device_type type); /* "cpu", "gpu", "accelerator", "other" */

#endif
