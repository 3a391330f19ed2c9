/* Arrays: element types, storing numbers, borders, and comparing a result with its reference. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "problem/parts.h"

/* --- elements --- */

static const struct {
  const char *name;
  clt_element_base base;
} bases[] = {
    {"char", CLT_ELEMENT_CHAR},
    {"uchar", CLT_ELEMENT_UCHAR},
    {"short", CLT_ELEMENT_SHORT},
    {"ushort", CLT_ELEMENT_USHORT},
    {"int", CLT_ELEMENT_INT},
    {"uint", CLT_ELEMENT_UINT},
    {"long", CLT_ELEMENT_LONG},
    {"ulong", CLT_ELEMENT_ULONG},
    {"half", CLT_ELEMENT_HALF},
    {"float", CLT_ELEMENT_FLOAT},
    {"double", CLT_ELEMENT_DOUBLE},
    {"unsigned char", CLT_ELEMENT_UCHAR},
    {"unsigned short", CLT_ELEMENT_USHORT},
    {"unsigned int", CLT_ELEMENT_UINT},
    {"unsigned long", CLT_ELEMENT_ULONG},
};

size_t clt_element_base_bytes(clt_element_base base) {
  switch (base) {
    case CLT_ELEMENT_CHAR:
    case CLT_ELEMENT_UCHAR: return 1;
    case CLT_ELEMENT_SHORT:
    case CLT_ELEMENT_USHORT:
    case CLT_ELEMENT_HALF: return 2;
    case CLT_ELEMENT_INT:
    case CLT_ELEMENT_UINT:
    case CLT_ELEMENT_FLOAT: return 4;
    case CLT_ELEMENT_LONG:
    case CLT_ELEMENT_ULONG:
    case CLT_ELEMENT_DOUBLE: return 8;
  }
  return 0;
}

int clt_element_parse(clt_element *out, const char *name) {
  static const char *const suffixes[] = {"", "2", "3", "4", "8", "16"};
  static const int counts[] = {1, 2, 3, 4, 8, 16};
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
    size_t length = strlen(bases[i].name);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      if (strncmp(name, bases[i].name, length) != 0 || strcmp(name + length, suffixes[k]) != 0) continue;
      size_t stored = counts[k] == 3 ? 4 : (size_t)counts[k];
      *out = (clt_element){bases[i].base, counts[k], stored * clt_element_base_bytes(bases[i].base)};
      return CLT_OK;
    }
  }
  return CLT_E_FORMAT;
}

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

static void store_integer(void *at, clt_element_base base, int64_t x) {
  static const int64_t limits[][2] = {{INT8_MIN, INT8_MAX},   {0, UINT8_MAX},  {INT16_MIN, INT16_MAX}, {0, UINT16_MAX},
                                      {INT32_MIN, INT32_MAX}, {0, UINT32_MAX}, {INT64_MIN, INT64_MAX}, {0, INT64_MAX}};
  const int64_t *limit = limits[base];
  x = x < limit[0] ? limit[0] : x > limit[1] ? limit[1] : x;
  memcpy(at, &x, clt_element_base_bytes(base)); /* little endian, as all hosts that OpenCL drivers exist for */
}

void clt_store_number(void *at, clt_element_base base, double number) {
  float single = (float)number;
  uint16_t half = half_of(number);
  uint64_t large = number >= 0x1p64 ? UINT64_MAX : number >= 0x1p63 ? (uint64_t)number : 0;
  if (base == CLT_ELEMENT_HALF)
    memcpy(at, &half, 2);
  else if (base == CLT_ELEMENT_FLOAT)
    memcpy(at, &single, 4);
  else if (base == CLT_ELEMENT_DOUBLE)
    memcpy(at, &number, 8);
  else if (base == CLT_ELEMENT_ULONG && large)
    memcpy(at, &large, 8);
  else
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

/* --- borders --- */

/* A row of the stored array, n = extent[0] elements of the logical row (NULL: outside, zeros) between its two borders.
 */
static unsigned char *store_row(unsigned char *out, const clt_plan_arg *arg, const unsigned char *row) {
  size_t element = arg->element.bytes, middle = arg->extent[0] * element, border = arg->border[0];
  if (row == NULL) {
    memset(out, 0, middle + 2 * border * element);
    return out + middle + 2 * border * element;
  }
  bool clamp = arg->border_mode == CLT_BORDER_CLAMP;
  for (size_t i = 0; i < border; i++, out += element) clamp ? memcpy(out, row, element) : memset(out, 0, element);
  memcpy(out, row, middle);
  out += middle;
  for (size_t i = 0; i < border; i++, out += element)
    clamp ? memcpy(out, row + middle - element, element) : memset(out, 0, element);
  return out;
}

/* The logical coordinate of a stored one, clamped; *outside is set where it lies in the border. */
static size_t logical_of(size_t stored, size_t border, size_t extent, bool *outside) {
  size_t position = stored < border ? 0 : stored - border;
  if (position >= extent) position = extent - 1;
  if (stored < border || stored - border >= extent) *outside = true;
  return position;
}

void clt_array_store(void *stored, const clt_plan_arg *arg, const void *logical) {
  size_t row_bytes = arg->extent[0] * arg->element.bytes;
  if (!(arg->border[0] | arg->border[1] | arg->border[2])) {
    memcpy(stored, logical, row_bytes * arg->extent[1] * arg->extent[2]);
    return;
  }
  unsigned char *out = stored;
  for (size_t z = 0; z < arg->extent[2] + 2 * arg->border[2]; z++) {
    for (size_t y = 0; y < arg->extent[1] + 2 * arg->border[1]; y++) {
      bool outside = false;
      size_t from_z = logical_of(z, arg->border[2], arg->extent[2], &outside);
      size_t from_y = logical_of(y, arg->border[1], arg->extent[1], &outside);
      const unsigned char *row = (const unsigned char *)logical + (from_z * arg->extent[1] + from_y) * row_bytes;
      out = store_row(out, arg, outside && arg->border_mode == CLT_BORDER_ZERO ? NULL : row);
    }
  }
}

void clt_array_unstore(void *logical, const clt_plan_arg *arg, const void *stored) {
  size_t element = arg->element.bytes, row_bytes = arg->extent[0] * element;
  size_t stored_row = (arg->extent[0] + 2 * arg->border[0]) * element;
  size_t stored_plane = (arg->extent[1] + 2 * arg->border[1]) * stored_row;
  unsigned char *out = logical;
  for (size_t z = 0; z < arg->extent[2]; z++) {
    const unsigned char *row = (const unsigned char *)stored + (z + arg->border[2]) * stored_plane +
                               arg->border[1] * stored_row + arg->border[0] * element;
    for (size_t y = 0; y < arg->extent[1]; y++, row += stored_row, out += row_bytes) memcpy(out, row, row_bytes);
  }
}

/* --- comparing --- */

/* Arrays are compared in blocks, converted to double; 64-bit integers, which doubles cannot hold, in their own loop. */
enum { BLOCK = 1024, LANES = 8 };

typedef struct comparison {
  double absolute, relative;
  double worst; /* largest error so far */
} comparison;

static double half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 0    ? ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                                  : ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

#define SAME(x) (x)
#define CONVERTER(name, type, convert)                                      \
  static void name(double *out, const void *in, size_t n) {                 \
    const type *from = in;                                                  \
    for (size_t i = 0; i + LANES <= n; i += LANES)                          \
      for (size_t j = 0; j < LANES; j++) out[i + j] = convert(from[i + j]); \
    for (size_t i = n - n % LANES; i < n; i++) out[i] = convert(from[i]);   \
  }
CONVERTER(from_char, int8_t, SAME)
CONVERTER(from_uchar, uint8_t, SAME)
CONVERTER(from_short, int16_t, SAME)
CONVERTER(from_ushort, uint16_t, SAME)
CONVERTER(from_int, int32_t, SAME)
CONVERTER(from_uint, uint32_t, SAME)
CONVERTER(from_half, uint16_t, half_to_double)
CONVERTER(from_float, float, SAME)
CONVERTER(from_double, double, SAME)

static void convert_block(double *out, clt_element_base base, const void *in, size_t n) {
  switch (base) {
    case CLT_ELEMENT_CHAR: from_char(out, in, n); break;
    case CLT_ELEMENT_UCHAR: from_uchar(out, in, n); break;
    case CLT_ELEMENT_SHORT: from_short(out, in, n); break;
    case CLT_ELEMENT_USHORT: from_ushort(out, in, n); break;
    case CLT_ELEMENT_INT: from_int(out, in, n); break;
    case CLT_ELEMENT_UINT: from_uint(out, in, n); break;
    case CLT_ELEMENT_HALF: from_half(out, in, n); break;
    case CLT_ELEMENT_FLOAT: from_float(out, in, n); break;
    case CLT_ELEMENT_DOUBLE: from_double(out, in, n); break;
    case CLT_ELEMENT_LONG:
    case CLT_ELEMENT_ULONG: break;
  }
}

/* Equal infinities differ by 0; a NaN on either side, and an infinity against a number, by infinity. */
static inline double difference(double result, double reference) {
  double d = fabs(result - reference);
  d = result == reference ? 0 : d;
  return d <= DBL_MAX ? d : (double)INFINITY;
}

/* An infinite reference allows nothing but itself, whose difference is 0. */
static inline double allowed(const comparison *c, double reference) {
  double limit = c->absolute + c->relative * fabs(reference);
  return limit < DBL_MAX ? limit : DBL_MAX;
}

/* The common case, all within tolerance: independent lanes, so that the compiler may vectorise without reordering. */
static bool block_matches(comparison *c, const double *result, const double *reference) {
  double worst[LANES] = {0}, excess[LANES] = {0};
  const comparison tolerance = *c;
  for (size_t i = 0; i < BLOCK; i += LANES) {
    for (size_t j = 0; j < LANES; j++) {
      double d = difference(result[i + j], reference[i + j]);
      double over = d - allowed(&tolerance, reference[i + j]);
      worst[j] = d > worst[j] ? d : worst[j];
      excess[j] = over > excess[j] ? over : excess[j];
    }
  }
  bool matches = true;
  for (size_t j = 0; j < LANES; j++) {
    c->worst = worst[j] > c->worst ? worst[j] : c->worst;
    matches = matches && !(excess[j] > 0);
  }
  return matches;
}

/* Compares n numbers; returns the index of the first wrong one, or n. */
static size_t first_wrong(comparison *c, const double *result, const double *reference, size_t n) {
  if (n == BLOCK && block_matches(c, result, reference)) return n;
  size_t first = n;
  for (size_t i = 0; i < n; i++) {
    /* n are there: NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    double d = difference(result[i], reference[i]);
    if (d > c->worst) c->worst = d;
    if (first == n && d > allowed(c, reference[i])) first = i;
  }
  return first;
}

static size_t compare_doubles(comparison *c, const clt_element *element, const unsigned char *result,
                              const unsigned char *reference, size_t n) {
  double got[BLOCK], expected[BLOCK];
  size_t width = clt_element_base_bytes(element->base), first = n;
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t length = n - i < BLOCK ? n - i : BLOCK;
    convert_block(got, element->base, result + i * width, length);
    convert_block(expected, element->base, reference + i * width, length);
    for (size_t k = 3; element->components == 3 && k < length; k += 4) got[k] = expected[k] = 0; /* padding */
    size_t wrong = first_wrong(c, got, expected, length);
    if (first == n && wrong < length) first = i + wrong;
  }
  return first;
}

static size_t compare_longs(comparison *c, const clt_element *element, const uint64_t *result,
                            const uint64_t *reference, size_t n) {
  bool is_signed = element->base == CLT_ELEMENT_LONG;
  size_t first = n;
  for (size_t i = 0; i < n; i++) {
    if (result[i] == reference[i] || (element->components == 3 && i % 4 == 3)) continue;
    uint64_t a = result[i], b = reference[i]; /* their distance never overflows as an unsigned one */
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    double d = (double)(less ? b - a : a - b);
    double magnitude = is_signed ? fabs((double)(int64_t)reference[i]) : (double)reference[i];
    if (d > c->worst) c->worst = d;
    if (first == n && d > allowed(c, magnitude)) first = i;
  }
  return first;
}

bool clt_array_matches(const clt_array *array, const void *result, double *max_abs_error, size_t *where) {
  comparison c = {array->absolute_tolerance, array->relative_tolerance, 0};
  const clt_element *element = &array->element;
  size_t n = array->bytes / clt_element_base_bytes(element->base), first;
  if (element->base < CLT_ELEMENT_HALF && memcmp(result, array->reference, array->bytes) == 0) {
    first = n;
  } else if (element->base == CLT_ELEMENT_LONG || element->base == CLT_ELEMENT_ULONG) {
    first = compare_longs(&c, element, result, array->reference, n);
  } else {
    first = compare_doubles(&c, element, result, array->reference, n);
  }
  if (max_abs_error) *max_abs_error = c.worst;
  if (where && first < n) *where = first / (element->bytes / clt_element_base_bytes(element->base));
  return first == n;
}
