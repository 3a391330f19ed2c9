/* sort.c - keys of up to 64 bits from several distributions and in several orders, the reference, and features. */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

#include "../../pattern.h"

enum kind {
  UNIFORM,
  NORMAL,
  EXPONENTIAL,
  FEW,        /* max(1, disorder) values */
  REPLACED,   /* ascending, but that `disorder` of 1,000 are any keys */
  SHIFTED,    /* ascending, but that keys can be `disorder` places away from where they belong */
  RUNS,       /* max(1, disorder) ascending runs */
  DESCENDING, /* but that `disorder` of 1,000 are any keys */
};

static double uniform(size_t i, uint32_t which, uint64_t seed) {
  return (pattern_hash((uint32_t)i, which, seed) + 0.5) * 0x1p-32;
}

/* In [0, 1). */
static double draw(int kind, size_t i, size_t n, double disorder, uint64_t seed) {
  const double u = uniform(i, 1, seed), v = uniform(i, 2, seed), turn = 2 * 3.14159265358979323846;
  const double several = fmax(disorder, 1), in_order = ((double)i + u) / (double)n;
  const size_t run = (size_t)ceil((double)n / several);
  switch (kind) {
    case NORMAL: return 0.5 + sqrt(-2 * log(u)) * cos(turn * v) / 16;
    case EXPONENTIAL: return -log(u) / 32;
    case FEW: return uniform((size_t)(u * several), 3, seed);
    case REPLACED: return v * 1000 < disorder ? u : in_order;
    case SHIFTED: return ((double)i + u * several) / ((double)n + several);
    case RUNS: return ((double)(i % run) + u) / (double)run;
    case DESCENDING: return v * 1000 < disorder ? u : 1 - in_order;
    default: return u + v * 0x1p-32;
  }
}

/* Keys have 4 bytes, those of more than 32 bits 8. */
static int is_wide(const clt_module_call *call) { return clt_module_value(call, "key_bits", 32) > 32; }

int keys_of(const clt_module_call *call) {
  const int wide = is_wide(call), kind = (int)clt_module_value(call, "kind", -1);
  const size_t n = call->target->bytes / (wide ? 8 : 4);
  const double disorder = clt_module_value(call, "disorder", 0), bits = clt_module_value(call, "key_bits", 32);
  const double end = ldexp(1, (int)bits);
  const uint64_t seed = (uint64_t)clt_module_value(call, "seed", 1) * 0x10001 + call->seed;
  if (kind < UNIFORM || kind > DESCENDING || bits < 1 || bits > 64) return 1;
  const uint64_t largest = UINT64_MAX >> (64 - (int)bits);
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) {
    const double at = draw(kind, i, n, disorder, seed) * end;
    const uint64_t key = at < 0 ? 0 : at >= end ? largest : (uint64_t)at;
    if (wide)
      ((uint64_t *)call->target->data)[i] = key;
    else
      ((uint32_t *)call->target->data)[i] = (uint32_t)key;
  }
  return 0;
}

static int compare_narrow(const void *a, const void *b) {
  return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static int compare_wide(const void *a, const void *b) {
  return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}

int sort_keys(const clt_module_call *call) {
  const clt_module_array *keys = clt_module_find(call, "keys"), *sorted = clt_module_find(call, "sorted");
  const size_t bytes = is_wide(call) ? 8 : 4;
  memcpy(sorted->data, keys->data, keys->bytes);
  qsort(sorted->data, keys->bytes / bytes, bytes, is_wide(call) ? compare_wide : compare_narrow);
  return 0;
}

/* --- features: the share of neighbours that descend, of all keys and of 1,024 that are evenly distributed --- */

static double descents(const clt_module_call *call, size_t step) {
  const clt_module_array *keys = clt_module_find(call, "keys");
  const int wide = is_wide(call);
  const size_t n = keys->bytes / (wide ? 8 : 4);
  size_t found = 0, seen = 0;
  for (size_t i = step; i < n; i += step, seen++)
    found += wide ? ((const uint64_t *)keys->data)[i] < ((const uint64_t *)keys->data)[i - step]
                  : ((const uint32_t *)keys->data)[i] < ((const uint32_t *)keys->data)[i - step];
  return seen ? (double)found / (double)seen : 0;
}

int near_descents(const clt_module_call *call) {
  *(double *)call->target->data = descents(call, 1);
  return 0;
}

int far_descents(const clt_module_call *call) {
  const size_t n = (size_t)clt_module_value(call, "n", 1);
  *(double *)call->target->data = descents(call, n < 1024 ? 1 : n / 1024);
  return 0;
}
