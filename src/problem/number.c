/* Numbers as elements of OpenCL's base types. */
#include <math.h>
#include <string.h>

#include "problem/parts.h"

/* IEEE 754 binary16, rounded to nearest even. */
static uint16_t half_of(double x) {
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  x = fabs(x);
  if (isnan(x)) return sign | 0x7e00;
  if (x >= 65520) return sign | 0x7c00;
  int exponent;
  frexp(x, &exponent);
  if (x == 0 || exponent < -13) exponent = -13;      /* subnormal */
  double units = nearbyint(ldexp(x, 11 - exponent)); /* at most 2048: then it carries into the exponent */
  return (uint16_t)(sign | (uint16_t)((exponent + 13) * 1024 + (int)units));
}

static void put(void *at, const void *from, size_t bytes) { memcpy(at, from, bytes); }

static bool store_real(void *at, clt_element_base base, double x) {
  float single = (float)x;
  uint16_t half = half_of(x);
  switch (base) {
    case CLT_ELEMENT_HALF: put(at, &half, 2); return true;
    case CLT_ELEMENT_FLOAT: put(at, &single, 4); return true;
    case CLT_ELEMENT_DOUBLE: put(at, &x, 8); return true;
    default: return false;
  }
}

static void store_integer(void *at, clt_element_base base, int64_t x) {
  static const int64_t limits[][2] = {{INT8_MIN, INT8_MAX},   {0, UINT8_MAX},  {INT16_MIN, INT16_MAX}, {0, UINT16_MAX},
                                      {INT32_MIN, INT32_MAX}, {0, UINT32_MAX}, {INT64_MIN, INT64_MAX}, {0, INT64_MAX}};
  const int64_t *limit = limits[base];
  x = x < limit[0] ? limit[0] : x > limit[1] ? limit[1] : x;
  put(at, &x, clt_element_base_bytes(base)); /* little endian, as all hosts that OpenCL drivers exist for */
}

void clt_store_number(void *at, clt_element_base base, double number) {
  if (store_real(at, base, number)) return;
  if (base == CLT_ELEMENT_ULONG && number >= 0x1p63) {
    uint64_t large = number >= 0x1p64 ? UINT64_MAX : (uint64_t)number;
    put(at, &large, 8);
    return;
  }
  store_integer(at, base,
                number != number    ? 0
                : number >= 0x1p63  ? INT64_MAX
                : number <= -0x1p63 ? INT64_MIN
                                    : (int64_t)number);
}

void clt_store_value(void *at, clt_element_base base, clt_value value) {
  if (value.type == CLT_REAL || base >= CLT_ELEMENT_HALF) {
    clt_store_number(at, base, clt_value_number(value));
  } else {
    store_integer(at, base, value.type == CLT_STRING ? 0 : value.integer);
  }
}
