/* space/numbers.h - Python's arithmetic on 64-bit integers and on doubles: the cases that C does otherwise. */
#ifndef CLT_SPACE_NUMBERS_H
#define CLT_SPACE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

int64_t clt_floor_divide(int64_t a, int64_t b);    /* b != 0, not INT64_MIN / -1 */
int64_t clt_floor_remainder(int64_t a, int64_t b); /* b != 0; the sign of b */
double clt_true_divide(int64_t a, int64_t b);      /* b != 0 */
double clt_real_floor_divide(double a, double b);  /* b != 0 */
double clt_real_remainder(double a, double b);     /* b != 0; the sign of b */

/* exponent >= 0; false on overflow. */
bool clt_integer_power(int64_t base, int64_t exponent, int64_t *out);

/* amount >= 0; false on overflow. */
bool clt_shift_left(int64_t x, int64_t amount, int64_t *out);
int64_t clt_shift_right(int64_t x, int64_t amount);

/* false where x is not finite or beyond 64 bits; x is whole. */
bool clt_real_to_integer(double x, int64_t *out);

/* -1, 0, 1, exactly, also where the integer has no double of its own; 2 if b is NaN. */
int clt_compare_integer_real(int64_t a, double b);

#endif
