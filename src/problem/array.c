/* Arrays: element types, storing numbers, borders, and comparing a result with its reference. */
#include <float.h>

#include "base/base.h"
#include "problem/instance.h"

/* --- elements --- */

/* Indexed by clt_element_base; then the long names of the unsigned types. */
static const char *const element_names[] = {
    "char",  "uchar",  "short",         "ushort",         "int",          "uint",         "long", "ulong", "half",
    "float", "double", "unsigned char", "unsigned short", "unsigned int", "unsigned long"};

size_t clt_element_base_bytes(clt_element_base base) {
  static const unsigned char bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return bytes[base];
}

double clt_default_tolerance(clt_element_base base) {
  if (base < CLT_ELEMENT_HALF) return 0;
  return base == CLT_ELEMENT_HALF ? 1e-3 : 1e-6;
}

int clt_element_parse(clt_element *out, const char *name) {
  static const char *const suffixes[] = {"", "2", "3", "4", "8", "16"};
  static const int counts[] = {1, 2, 3, 4, 8, 16};
  for (size_t i = 0; i < sizeof element_names / sizeof *element_names; i++) {
    size_t length = strlen(element_names[i]);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      if (strncmp(name, element_names[i], length) != 0 || strcmp(name + length, suffixes[k]) != 0) continue;
      size_t stored = counts[k] == 3 ? 4 : (size_t)counts[k];
      clt_element_base base = (clt_element_base)(i <= CLT_ELEMENT_DOUBLE ? i : 2 * (i - CLT_ELEMENT_DOUBLE) - 1);
      *out = (clt_element){base, counts[k], stored * clt_element_base_bytes(base)};
      return CLT_OK;
    }
  }
  return CLT_E_FORMAT;
}

void clt_element_print(char out[16], clt_element element) {
  int n = snprintf(out, 16, "%s", element_names[element.base]);
  if (element.components > 1) snprintf(out + n, 16 - (size_t)n, "%d", element.components);
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
  double units = nearbyint(ldexp(x, 11 - exponent)); /* at most 2048, which carries into the exponent */
  return (uint16_t)(sign | (uint16_t)((exponent + 13) * 1024 + (int)units));
}

static void store_integer(void *at, clt_element_base base, int64_t x) {
  static const int64_t limits[][2] = {{INT8_MIN, INT8_MAX},   {0, UINT8_MAX},  {INT16_MIN, INT16_MAX}, {0, UINT16_MAX},
                                      {INT32_MIN, INT32_MAX}, {0, UINT32_MAX}, {INT64_MIN, INT64_MAX}, {0, INT64_MAX}};
  if (x < limits[base][0]) x = limits[base][0];
  if (x > limits[base][1]) x = limits[base][1];
  memcpy(at, &x, clt_element_base_bytes(base)); /* assumes little endian, like all hosts with OpenCL drivers */
}

void clt_store_number(void *at, clt_element_base base, double number) {
  const float single = (float)number;
  const uint16_t half = half_of(number);
  if (base == CLT_ELEMENT_HALF) {
    memcpy(at, &half, 2);
  } else if (base == CLT_ELEMENT_FLOAT) {
    memcpy(at, &single, 4);
  } else if (base == CLT_ELEMENT_DOUBLE) {
    memcpy(at, &number, 8);
  } else if (base == CLT_ELEMENT_ULONG && number >= 0x1p63) {
    const uint64_t large = number >= 0x1p64 ? UINT64_MAX : (uint64_t)number;
    memcpy(at, &large, 8);
  } else {
    int64_t integer = number < 0 ? INT64_MIN : INT64_MAX;
    if (fabs(number) < 0x1p63) integer = (int64_t)number;
    store_integer(at, base, isnan(number) ? 0 : integer);
  }
}

void clt_store_value(void *at, clt_element_base base, clt_value value) {
  if (value.type == CLT_REAL || base >= CLT_ELEMENT_HALF) {
    clt_store_number(at, base, clt_value_number(value));
  } else {
    store_integer(at, base, value.type == CLT_STRING ? 0 : value.integer);
  }
}

/* --- borders --- */

/* The logical coordinate for a stored one, clamped; *outside: it is in the border. */
static size_t logical_of(size_t stored, size_t border, size_t extent, bool *outside) {
  size_t position = stored < border ? 0 : stored - border;
  if (position >= extent) position = extent - 1;
  if (stored < border || stored - border >= extent) *outside = true;
  return position;
}

void clt_array_store(void *stored, const clt_plan_arg *arg, const void *logical) {
  const size_t element = arg->element.bytes, row_bytes = arg->extent[0] * element, n_border = arg->border[0];
  const bool clamp = arg->border_mode == CLT_BORDER_CLAMP;
  unsigned char *out = stored;
  if (!(arg->border[0] | arg->border[1] | arg->border[2])) {
    memcpy(stored, logical, row_bytes * arg->extent[1] * arg->extent[2]);
    return;
  }
  for (size_t z = 0; z < arg->extent[2] + 2 * arg->border[2]; z++) {
    for (size_t y = 0; y < arg->extent[1] + 2 * arg->border[1]; y++, out += row_bytes + 2 * n_border * element) {
      bool outside = false;
      size_t from_z = logical_of(z, arg->border[2], arg->extent[2], &outside);
      size_t from_y = logical_of(y, arg->border[1], arg->extent[1], &outside);
      const unsigned char *row = (const unsigned char *)logical + (from_z * arg->extent[1] + from_y) * row_bytes;
      unsigned char *left = out, *middle = out + n_border * element, *right = middle + row_bytes;
      if (outside && !clamp) {
        memset(out, 0, row_bytes + 2 * n_border * element);
        continue;
      }
      memcpy(middle, row, row_bytes);
      for (size_t i = 0; i < n_border; i++, left += element, right += element) {
        clamp ? memcpy(left, row, element) : memset(left, 0, element);
        clamp ? memcpy(right, middle + row_bytes - element, element) : memset(right, 0, element);
      }
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

/* Arrays are compared in blocks of doubles, except 64-bit integers, which doubles cannot represent. Blocks are padded
 * to full length and processed in independent lanes, so that the compiler can vectorise without reordering. */
enum { BLOCK = 1024, LANES = 8 };

typedef struct comparison {
  double absolute, relative;
  size_t per_element; /* numbers per element, including padding */
  size_t last;        /* the index of the last incorrect element */
  bool any_not_finite;
  clt_comparison found;
} comparison;

static void add_wrong(comparison *c, size_t number, double error, double reference) {
  const clt_wrong_element wrong = {number / c->per_element, error, fabs(reference)};
  clt_comparison *found = &c->found;
  if (found->n_wrong == 0) found->first = found->worst = wrong;
  if (found->n_wrong == 0 || wrong.index != c->last) found->n_wrong++;
  if (error > found->worst.error) found->worst = wrong;
  c->last = wrong.index;
}

static double half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31) value = mantissa ? (double)NAN : (double)INFINITY;
  return bits & 0x8000 ? -value : value;
}

#define SAME(x) (x)
#define CONVERTER(name, type, convert)                        \
  static void name(double *out, const void *in, size_t n) {   \
    const type *from = in;                                    \
    for (size_t i = 0; i < n; i++) out[i] = convert(from[i]); \
  }
CONVERTER(from_char, int8_t, SAME)
CONVERTER(from_uchar, uint8_t, SAME)
CONVERTER(from_short, int16_t, SAME)
CONVERTER(from_ushort, uint16_t, SAME)
CONVERTER(from_int, int32_t, SAME)
CONVERTER(from_uint, uint32_t, SAME)
CONVERTER(from_long, int64_t, (double))
CONVERTER(from_ulong, uint64_t, (double))
CONVERTER(from_half, uint16_t, half_to_double)
CONVERTER(from_float, float, SAME)
CONVERTER(from_double, double, SAME)
static void (*const converters[])(double *, const void *, size_t) = {from_char, from_uchar, from_short, from_ushort,
                                                                     from_int,  from_uint,  from_long,  from_ulong,
                                                                     from_half, from_float, from_double};

double clt_load_number(const void *at, clt_element_base base) {
  double number, aligned; /* a packed structure's field need not be */
  converters[base](&number, memcpy(&aligned, at, clt_element_base_bytes(base)), 1);
  return number;
}

/* Loads the block of numbers that begins at index i; padding and numbers after the end are 0. */
static void load_block(double *out, const clt_element *element, const void *array, size_t i, size_t n) {
  const size_t n_there = n - i < BLOCK ? n - i : BLOCK;
  converters[element->base](out, (const unsigned char *)array + i * clt_element_base_bytes(element->base), n_there);
  for (size_t k = n_there; k < BLOCK; k++) out[k] = 0;
  for (size_t k = 3; element->components == 3 && k < BLOCK; k += 4) out[k] = 0;
}

/* The difference of equal infinities is 0; if either side is NaN, or only one is infinite, it is infinite. */
static inline double difference(double result, double reference) {
  double d = fabs(result - reference);
  d = result == reference ? 0 : d;
  return d <= DBL_MAX ? d : (double)INFINITY;
}

/* An infinite reference only allows itself, whose difference is 0. */
static inline double allowed(const comparison *c, double reference) {
  double limit = c->absolute + c->relative * fabs(reference);
  return limit < DBL_MAX ? limit : DBL_MAX;
}

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
    c->found.max_abs_error = worst[j] > c->found.max_abs_error ? worst[j] : c->found.max_abs_error;
    matches = matches && !(excess[j] > 0);
  }
  return matches;
}

static void compare_doubles(comparison *c, const clt_element *element, const void *result, const void *reference,
                            size_t n) {
  double got[BLOCK], expected[BLOCK];
  for (size_t i = 0; i < n; i += BLOCK) {
    const double worst = c->found.max_abs_error;
    load_block(got, element, result, i, n);
    load_block(expected, element, reference, i, n);
    if (block_matches(c, got, expected)) continue;
    for (size_t k = 0; k < BLOCK; k++) /* a NaN is correct if the reference is NaN, too */
      if ((isnan(got[k]) && isnan(expected[k])) || (c->any_not_finite && !isfinite(got[k]) && !isfinite(expected[k])))
        got[k] = expected[k] = 0;
    c->found.max_abs_error = worst;
    if (block_matches(c, got, expected)) continue;
    for (size_t k = 0; k < BLOCK; k++) {
      const double error = difference(got[k], expected[k]);
      if (error > allowed(c, expected[k])) add_wrong(c, i + k, error, expected[k]);
    }
  }
}

static void compare_longs(comparison *c, const clt_element *element, const uint64_t *result, const uint64_t *reference,
                          size_t n) {
  bool is_signed = element->base == CLT_ELEMENT_LONG;
  for (size_t i = 0; i < n; i++) {
    if (result[i] == reference[i] || (element->components == 3 && i % 4 == 3)) continue;
    uint64_t a = result[i], b = reference[i]; /* unsigned, so that their distance cannot overflow */
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    double d = (double)(less ? b - a : a - b);
    double magnitude = is_signed ? fabs((double)(int64_t)reference[i]) : (double)reference[i];
    if (d > c->found.max_abs_error) c->found.max_abs_error = d;
    if (d > allowed(c, magnitude)) add_wrong(c, i, d, magnitude);
  }
}

bool clt_array_matches(clt_comparison *out, const clt_array *array, const void *result) {
  const clt_element *element = &array->element;
  const size_t width = clt_element_base_bytes(element->base), n = array->bytes / width;
  comparison c = {array->absolute_tolerance, array->relative_tolerance, .per_element = element->bytes / width,
                  .any_not_finite = array->any_not_finite};
  if (element->base == CLT_ELEMENT_LONG || element->base == CLT_ELEMENT_ULONG)
    compare_longs(&c, element, result, array->reference, n);
  else if (element->base >= CLT_ELEMENT_HALF || memcmp(result, array->reference, array->bytes) != 0)
    compare_doubles(&c, element, result, array->reference, n);
  *out = c.found;
  return out->n_wrong == 0;
}

double clt_array_margin(const clt_array *array, const void *other) {
  const size_t n = array->bytes / clt_element_base_bytes(array->element.base);
  const comparison c = {array->absolute_tolerance, array->relative_tolerance};
  double mine[BLOCK], others[BLOCK], margin = 0;
  for (size_t i = 0; i < n; i += BLOCK) {
    load_block(mine, &array->element, array->reference, i, n);
    load_block(others, &array->element, other, i, n);
    for (size_t k = 0; k < BLOCK; k++) {
      const double d = difference(others[k], mine[k]);
      if (d > 0 && !(isnan(mine[k]) && isnan(others[k]))) margin = fmax(margin, d / allowed(&c, mine[k]));
    }
  }
  return margin;
}

/* --- how much a reference can prove --- */

/* The root mean square of an array's finite numbers other than 0; 0 if there are none. Scaled by the largest number, so
 * that squares do not overflow. */
static double root_mean_square(const clt_array *array, double *out_largest) {
  const size_t n = array->bytes / clt_element_base_bytes(array->element.base);
  double block[BLOCK], largest = 0, sum = 0, count = 0;
  for (int summing = 0; summing < 2; summing++) {
    for (size_t i = 0; i < n; i += BLOCK) {
      load_block(block, &array->element, array->reference, i, n);
      for (size_t k = 0; k < BLOCK; k++) {
        const double x = fabs(block[k]);
        if (!(x > 0 && x <= DBL_MAX)) continue;
        if (summing)
          sum += x / largest * (x / largest), count++;
        else if (x > largest)
          largest = x;
      }
    }
  }
  *out_largest = largest;
  return count > 0 ? largest * sqrt(sum / count) : 0;
}

/* A sum of many numbers adds rounding errors of its own to those of the numbers. A number that moves further than
 * MOST_ROUNDING of the largest jumps, as at a threshold, which says nothing about the others. */
#define ROUNDINGS 16.0
#define MOST_ROUNDING 0.01

bool clt_array_allow_rounding(clt_array *array, const void *shaken) {
  const size_t n = array->bytes / clt_element_base_bytes(array->element.base);
  double mine[BLOCK], others[BLOCK], most = 0, largest;
  size_t n_numbers = 0, n_jumps = 0;
  if (array->element.base < CLT_ELEMENT_HALF) return true;
  root_mean_square(array, &largest);
  for (size_t i = 0; i < n; i += BLOCK) {
    load_block(mine, &array->element, array->reference, i, n);
    load_block(others, &array->element, shaken, i, n);
    for (size_t k = 0; k < BLOCK; k++) {
      const double moved = fabs(mine[k] - others[k]);
      if (!isfinite(moved) || (mine[k] == 0 && moved == 0)) continue;
      n_numbers++;
      if (moved > MOST_ROUNDING * largest)
        n_jumps++;
      else
        most = fmax(most, moved);
    }
  }
  array->rounding = fmin(ROUNDINGS * most, MOST_ROUNDING * largest);
  array->absolute_tolerance = fmax(array->absolute_tolerance, array->rounding);
  return n_jumps <= n_numbers / 2;
}

void clt_array_scale_tolerance(clt_array *array) {
  const bool widens = array->widening != CLT_WIDEN_NOT;
  if (!(array->scales_tolerance || widens) || array->reference == NULL) return;
  double largest = 0;
  const double scale = array->absolute_tolerance > 0 || widens ? root_mean_square(array, &largest) : 0;
  if (array->scales_tolerance && scale > 0 && scale < 1) array->absolute_tolerance *= scale;
  if (widens)
    array->absolute_tolerance =
        fmax(array->absolute_tolerance,
             array->relative_tolerance * (array->widening == CLT_WIDEN_TO_LARGEST ? largest : scale));
  array->absolute_tolerance = fmax(array->absolute_tolerance, array->rounding);
  array->scales_tolerance = false;
  array->widening = CLT_WIDEN_NOT;
}

void clt_array_warn(const clt_array *array, clt_log_fn log, void *log_user) {
  const comparison c = {array->absolute_tolerance, array->relative_tolerance};
  double block[BLOCK];
  size_t n = array->bytes / clt_element_base_bytes(array->element.base), n_nan = 0, n_not_zero = 0, n_weak = 0;
  if (!array->verified || array->reference == NULL) return;
  for (size_t i = 0; i < n; i += BLOCK) {
    load_block(block, &array->element, array->reference, i, n);
    for (size_t k = 0; k < BLOCK; k++) {
      n_nan += isnan(block[k]) != 0;
      n_not_zero += block[k] != 0;
      n_weak += block[k] != 0 && fabs(block[k]) <= allowed(&c, block[k]);
    }
  }
  n_not_zero -= n_nan;
  if (array->element.components == 3) n -= n / 4;
  if (n_nan > 0) {
    clt_log(
        log, log_user, CLT_LOG_WARNING,
        "%zu of %zu numbers of argument '%.100s' are never written by the reference, or are NaN; if they stay as they "
        "are before the run, give the argument a \"FillType\" for that",
        n_nan, n, array->name);
  }
  if (n_not_zero == 0 && n_nan < n) {
    clt_log(log, log_user, CLT_LOG_WARNING,
            "the reference of argument '%.100s' is 0 everywhere%s; a kernel that writes only zeros would pass",
            array->name, n_nan ? " else" : "");
  } else if (n_weak > n_not_zero / 2) {
    clt_log(log, log_user, CLT_LOG_WARNING,
            "the tolerance of argument '%.100s' is too large: a result of 0 would pass for %zu of the %zu numbers that "
            "are not 0; state a smaller \"AbsoluteTolerance\" (now %g) or \"RelativeTolerance\" (now %g)",
            array->name, n_weak, n_not_zero, array->absolute_tolerance, array->relative_tolerance);
  }
}
