#include <float.h>
#include <math.h>
#include <string.h>

#include "problem/data.h"

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

static void convert(double *out, clt_element_base base, const void *in, size_t n) {
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

/* The fourth component of a vector of three is padding. */
static void clear_padding(double *block, size_t n) {
  for (size_t i = 3; i < n; i += 4) block[i] = 0;
}

static size_t compare_doubles(comparison *c, const clt_element *element, const unsigned char *result,
                              const unsigned char *reference, size_t n) {
  double got[BLOCK], expected[BLOCK];
  size_t width = clt_element_base_bytes(element->base), first = n;
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t length = n - i < BLOCK ? n - i : BLOCK;
    convert(got, element->base, result + i * width, length);
    convert(expected, element->base, reference + i * width, length);
    if (element->components == 3) {
      clear_padding(got, length);
      clear_padding(expected, length);
    }
    size_t wrong = first_wrong(c, got, expected, length);
    if (first == n && wrong < length) first = i + wrong;
  }
  return first;
}

/* The distance of two 64-bit integers, signed or not, never overflows as an unsigned one. */
static uint64_t distance(uint64_t a, uint64_t b, bool is_signed) {
  bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
  return less ? b - a : a - b;
}

static size_t compare_longs(comparison *c, const clt_element *element, const uint64_t *result,
                            const uint64_t *reference, size_t n) {
  bool is_signed = element->base == CLT_ELEMENT_LONG;
  size_t first = n;
  for (size_t i = 0; i < n; i++) {
    if (result[i] == reference[i] || (element->components == 3 && i % 4 == 3)) continue;
    double d = (double)distance(result[i], reference[i], is_signed);
    double magnitude = is_signed ? fabs((double)(int64_t)reference[i]) : (double)reference[i];
    if (d > c->worst) c->worst = d;
    if (first == n && d > allowed(c, magnitude)) first = i;
  }
  return first;
}

static bool is_integer(clt_element_base base) {
  return base != CLT_ELEMENT_HALF && base != CLT_ELEMENT_FLOAT && base != CLT_ELEMENT_DOUBLE;
}

bool clt_array_matches(const clt_array *array, const void *result, double *max_abs_error, size_t *where) {
  comparison c = {array->absolute_tolerance, array->relative_tolerance, 0};
  const clt_element *element = &array->element;
  size_t n = array->bytes / clt_element_base_bytes(element->base), first;
  if (is_integer(element->base) && memcmp(result, array->reference, array->bytes) == 0) {
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
