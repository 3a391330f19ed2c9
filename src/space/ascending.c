#include "space/ascending.h"

#include <stdlib.h>

static int by_config(const void *left, const void *right) {
  clt_config a = *(const clt_config *)left, b = *(const clt_config *)right;
  return (a > b) - (a < b);
}

void clt_ascending_sort(clt_config *configs, size_t n) {
  if (n) qsort(configs, n, sizeof *configs, by_config);
}

bool clt_ascending_find(const clt_config *configs, size_t n, clt_config config, size_t *place) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (configs[middle] < config)
      low = middle + 1;
    else
      high = middle;
  }
  if (place) *place = low;
  return low < n && configs[low] == config;
}
