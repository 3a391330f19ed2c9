#include <clatune/value.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

double clt_value_number(clt_value v) {
  switch (v.type) {
    case CLT_REAL: return v.real;
    case CLT_STRING: return NAN;
    default: return (double)v.integer;
  }
}

bool clt_value_equal(clt_value a, clt_value b) {
  if (a.type == CLT_STRING || b.type == CLT_STRING) return a.type == b.type && strcmp(a.text, b.text) == 0;
  if (a.type == CLT_REAL || b.type == CLT_REAL) return clt_value_number(a) == clt_value_number(b);
  return a.integer == b.integer;
}

int clt_value_compare(clt_value a, clt_value b) {
  if ((a.type == CLT_STRING) != (b.type == CLT_STRING)) return a.type == CLT_STRING ? 1 : -1;
  if (a.type == CLT_STRING) return strcmp(a.text, b.text);
  if (a.type != CLT_REAL && b.type != CLT_REAL) return (a.integer > b.integer) - (a.integer < b.integer);
  double x = clt_value_number(a), y = clt_value_number(b);
  return (x > y) - (x < y);
}

static int compare_elements(const void *a, const void *b) {
  return clt_value_compare(*(const clt_value *)a, *(const clt_value *)b);
}

size_t clt_values_sort(clt_value *values, size_t n) {
  size_t n_left = 0;
  qsort(values, n, sizeof *values, compare_elements);
  for (size_t i = 0; i < n; i++)
    if (n_left == 0 || clt_value_compare(values[n_left - 1], values[i])) values[n_left++] = values[i];
  return n_left;
}

static int print_real(double x, char *out, size_t capacity) {
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    clt_snprintf(text, sizeof text, "%.*g", digits, x);
    if (clt_strtod(text, NULL) == x) break;
  }
  const char *point = strpbrk(text, ".en") ? "" : ".0";
  return snprintf(out, capacity, "%s%s", text, point);
}

int clt_value_print(char *out, size_t capacity, clt_value v) {
  switch (v.type) {
    case CLT_REAL: return print_real(v.real, out, capacity);
    case CLT_STRING: return snprintf(out, capacity, "%s", v.text);
    default: return snprintf(out, capacity, "%lld", (long long)v.integer);
  }
}
