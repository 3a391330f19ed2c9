/* clatune/value.h - the value of a tuning parameter, a problem parameter or an expression. */
#ifndef CLATUNE_VALUE_H
#define CLATUNE_VALUE_H

#include <clatune/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CLT_BEGIN_C

typedef enum clt_value_type { CLT_INT, CLT_REAL, CLT_BOOL, CLT_STRING } clt_value_type;

/* A value. CLT_BOOL uses integer (0 or 1). text is borrowed: it lives as long as the space, problem or expression that
 * the value came from. */
typedef struct clt_value {
  clt_value_type type;
  union {
    int64_t integer;
    double real;
    const char *text;
  };
} clt_value;

/* The number in a value: integer or boolean converted, real as it is, NaN for a string. */
double clt_value_number(clt_value v);

/* Writes a value as it stands behind -Dname= : integers in decimal, booleans as 1 and 0, reals with the shortest digits
 * that read back the same and always a point or an exponent, strings as they are. Returns the length needed. */
int clt_value_print(char *out, size_t capacity, clt_value v);

CLT_END_C
#endif
