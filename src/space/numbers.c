#include "space/numbers.h"

#include <math.h>

#define EXACT ((int64_t)1 << 53) /* integers up to here are doubles, too */

int64_t clt_floor_divide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t clt_floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0; /* INT64_MIN % -1 traps */
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

static bool exact(int64_t a) { return a >= -EXACT && a <= EXACT; }

double clt_true_divide(int64_t a, int64_t b) {
  if (exact(a) && exact(b)) return (double)a / (double)b;
  return (double)((long double)a / (long double)b);
}

double clt_real_remainder(double a, double b) {
  double remainder = fmod(a, b);
  if (remainder == 0) return copysign(0, b);
  return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

double clt_real_floor_divide(double a, double b) {
  double remainder = fmod(a, b), quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return copysign(0, a / b);
  double whole = floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole; /* the division by b may have rounded down past an integer */
}

bool clt_integer_power(int64_t base, int64_t exponent, int64_t *out) {
  if (base == 0 || base == 1) exponent = exponent > 0;
  if (base == -1) exponent = exponent & 1;
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) return false;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  *out = result;
  return true;
}

bool clt_shift_left(int64_t x, int64_t amount, int64_t *out) {
  if (x == 0) {
    *out = 0;
    return true;
  }
  return amount < 63 && !__builtin_mul_overflow(x, (int64_t)1 << amount, out);
}

int64_t clt_shift_right(int64_t x, int64_t amount) {
  if (amount > 63) amount = 63;
  return x < 0 ? ~(~x >> amount) : x >> amount;
}

bool clt_real_to_integer(double x, int64_t *out) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return false;
  *out = (int64_t)x;
  return true;
}

int clt_compare_integer_real(int64_t a, double b) {
  if (isnan(b)) return 2;
  if (exact(a)) return ((double)a > b) - ((double)a < b);
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  int64_t whole = (int64_t)b; /* cut towards zero; the rest decides among equals */
  if (a != whole) return a > whole ? 1 : -1;
  double rest = b - (double)whole;
  return (rest < 0) - (rest > 0);
}
