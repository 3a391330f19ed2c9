/* clatune/value.h - the value of a tuning parameter, a problem parameter or an expression. */
#ifndef CLATUNE_VALUE_H
#define CLATUNE_VALUE_H

#include <clatune/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CLT_BEGIN_C

typedef enum clt_value_type { CLT_INT, CLT_REAL, CLT_BOOL, CLT_STRING } clt_value_type;

/* A value. A boolean is in integer (0 or 1). text is borrowed from the space, problem or expression that the value came
 * from. */
typedef struct clt_value {
  clt_value_type type;
  union {
    int64_t integer;
    double real;
    const char *text;
  };
} clt_value;

/* The value as a number; NaN for a string. */
double clt_value_number(clt_value v);

/* Writes a value as in a build option -Dname=value: integers in decimal, booleans as 1 or 0, reals with as many digits
 * as reading them back exactly needs and always with a point or an exponent, strings unchanged. Returns the length that
 * the whole text needs, as snprintf does. */
int clt_value_print(char *out, size_t capacity, clt_value v);

CLT_END_C
#endif
