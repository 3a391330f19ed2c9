#include "base/near.h"

#include <string.h>

#define LONGEST 64

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Levenshtein distance, one row at a time. */
static size_t distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
  if (n > LONGEST || m > LONGEST) return LONGEST;
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t above = row[j];
      row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[m];
}

const char *clt_nearest_name(const char *typed, const char *const *names, size_t n) {
  const char *nearest = NULL;
  size_t nearest_distance = strlen(typed) / 3 + 2;
  for (size_t i = 0; i < n; i++) {
    size_t d = distance(typed, names[i]);
    if (d < nearest_distance) {
      nearest_distance = d;
      nearest = names[i];
    }
  }
  return nearest;
}
