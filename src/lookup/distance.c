#include "lookup/distance.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of the "name=N" that begins like the n letters of name, "=" included; 0: it is not there. */
static int64_t size_in(const char *sizes, const char *name, size_t n) {
  for (const char *at = sizes; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, n) == 0) return strtoll(at + n, NULL, 10);
  }
  return 0;
}

double clt_sizes_distance(const char *sizes, const char *others) {
  double distance = 0;
  for (const char *at = sizes, *equals; (equals = strchr(at, '=')); at = equals + strcspn(equals, " ")) {
    at += *at == ' ';
    int64_t own = strtoll(equals + 1, NULL, 10), other = size_in(others, at, (size_t)(equals + 1 - at));
    if (own == other) continue;
    if (own <= 0 || other <= 0) return INFINITY;
    distance += fabs(log((double)other / (double)own));
  }
  return distance;
}
