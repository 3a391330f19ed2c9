/* instruments/common/defines.h - a configuration as an OpenCL driver sees it: the -D options of a build.
 *
 * "-DNAME=VALUE", "-D NAME=VALUE" and "-DNAME" (the value 1, as for a compiler); the last of several holds. Numbers
 * become numbers, everything else is text. */
#ifndef INSTRUMENTS_DEFINES_H
#define INSTRUMENTS_DEFINES_H

#include "space/expr.h"

typedef struct defines {
  char *text; /* a copy of the options, cut into pieces */
  clt_symbol *symbols;
  size_t n, capacity;
} defines; /* zeroed: empty */

/* Release also after a failure. */
int defines_read(defines *out, const char *options, clt_error *error);
void defines_release(defines *d);
int defines_add(defines *d, const char *name, double value, clt_error *error); /* the name is borrowed */

/* NULL if it is not defined. */
const clt_value *defines_find(const defines *d, const char *name);

/* An expression over them. A name that is not defined is an error. */
int defines_evaluate(const defines *d, const char *expression, clt_value *out, clt_error *error);
int defines_number(const defines *d, const char *expression, double *out, clt_error *error);
int defines_truth(const defines *d, const char *expression, bool *out, clt_error *error);

/* Of names and values, whatever their order and the other options. */
uint64_t defines_hash(const defines *d);

#endif
