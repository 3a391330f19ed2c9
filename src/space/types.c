/* The types of T1 files. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/memory.h"
#include "space/code.h"

typedef enum fit_kind { FIT_INTEGER, FIT_REAL, FIT_BOOL, FIT_STRING } fit_kind;

typedef struct fit {
  const char *name;
  fit_kind kind;
  int64_t least, most; /* of an integer */
} fit;

static const fit fits[] = {
    {"int", FIT_INTEGER, INT32_MIN, INT32_MAX},
    {"integer", FIT_INTEGER, INT64_MIN, INT64_MAX},
    {"uint", FIT_INTEGER, 0, UINT32_MAX},
    {"unsigned int", FIT_INTEGER, 0, UINT32_MAX},
    {"unsigned", FIT_INTEGER, 0, UINT32_MAX},
    {"char", FIT_INTEGER, INT8_MIN, INT8_MAX},
    {"uchar", FIT_INTEGER, 0, UINT8_MAX},
    {"unsigned char", FIT_INTEGER, 0, UINT8_MAX},
    {"short", FIT_INTEGER, INT16_MIN, INT16_MAX},
    {"ushort", FIT_INTEGER, 0, UINT16_MAX},
    {"unsigned short", FIT_INTEGER, 0, UINT16_MAX},
    {"long", FIT_INTEGER, INT64_MIN, INT64_MAX},
    {"ulong", FIT_INTEGER, 0, INT64_MAX},
    {"unsigned long", FIT_INTEGER, 0, INT64_MAX},
    {"int8", FIT_INTEGER, INT8_MIN, INT8_MAX},
    {"int16", FIT_INTEGER, INT16_MIN, INT16_MAX},
    {"int32", FIT_INTEGER, INT32_MIN, INT32_MAX},
    {"int64", FIT_INTEGER, INT64_MIN, INT64_MAX},
    {"uint8", FIT_INTEGER, 0, UINT8_MAX},
    {"uint16", FIT_INTEGER, 0, UINT16_MAX},
    {"uint32", FIT_INTEGER, 0, UINT32_MAX},
    {"uint64", FIT_INTEGER, 0, INT64_MAX},
    {"float", FIT_REAL, 0, 0},
    {"double", FIT_REAL, 0, 0},
    {"half", FIT_REAL, 0, 0},
    {"float16", FIT_REAL, 0, 0},
    {"float32", FIT_REAL, 0, 0},
    {"float64", FIT_REAL, 0, 0},
    {"bool", FIT_BOOL, 0, 1},
    {"boolean", FIT_BOOL, 0, 1},
    {"string", FIT_STRING, 0, 0},
    {"str", FIT_STRING, 0, 0},
};

static bool fit_value(clt_value *value, const fit *type) {
  int64_t integer = value->integer;
  switch (type->kind) {
    case FIT_STRING: return value->type == CLT_STRING;
    case FIT_REAL:
      if (value->type == CLT_STRING) return false;
      *value = (clt_value){.type = CLT_REAL, .real = clt_value_number(*value)};
      return true;
    default:
      if (value->type == CLT_STRING) return false;
      if (value->type == CLT_REAL && !(clt_real_to_integer(value->real, &integer) && (double)integer == value->real))
        return false;
      if (integer < type->least || integer > type->most) return false;
      *value = (clt_value){.type = type->kind == FIT_BOOL ? CLT_BOOL : CLT_INT, .integer = integer};
      return true;
  }
}

int clt_value_fit(clt_value *value, const char *type, clt_error *error) {
  if (type == NULL || *type == '\0') return CLT_OK;
  for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
    if (strcasecmp(fits[i].name, type) != 0) continue;
    char text[200];
    if (fit_value(value, &fits[i])) return CLT_OK;
    clt_value_print(*value, text, sizeof text);
    return clt_fail(error, CLT_E_EXPRESSION, "the value '%s' is not one of the type '%s'", text, type);
  }
  return clt_fail(error, CLT_E_EXPRESSION, "there is no type '%s' (there are int, uint, long, float, bool, string ...)",
                  type);
}

clt_value *clt_values_copy(const clt_value *values, size_t n) {
  size_t bytes;
  if (!clt_size_multiply(&bytes, n, sizeof *values)) return NULL;
  for (size_t i = 0; i < n; i++)
    if (values[i].type == CLT_STRING && __builtin_add_overflow(bytes, strlen(values[i].text) + 1, &bytes)) return NULL;
  clt_value *out = malloc(bytes ? bytes : 1);
  if (out == NULL) return NULL;
  char *texts = (char *)(out + n);
  for (size_t i = 0; i < n; i++) {
    out[i] = values[i];
    if (out[i].type != CLT_STRING) continue;
    out[i].text = strcpy(texts, values[i].text);
    texts += strlen(texts) + 1;
  }
  return out;
}
