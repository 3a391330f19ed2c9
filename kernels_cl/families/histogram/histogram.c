/* histogram.c - items of 32 bits from several distributions, the reference, and features. */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

#include "../../pattern.h"

enum kind {
  UNIFORM,
  NORMAL,      /* around the middle, with a deviation of 1 / spread of the range */
  EXPONENTIAL, /* with a mean of 1 / spread of the range */
  FEW,         /* `spread` values, equally often */
  ZIPF,        /* `spread` values, the i-th in proportion to 1 / i */
  RUNS,        /* the same value `spread` times */
  SORTED,      /* ascending */
  SMOOTH,      /* as an image's rows: a wave that is `spread` items long, with a little noise */
};

static double uniform(size_t i, uint32_t which, uint64_t seed) {
  return (pattern_hash((uint32_t)i, which, seed) + 0.5) * 0x1p-32;
}

/* In [0, 1). */
static double draw(int kind, size_t i, size_t n, double spread, uint64_t seed) {
  const double u = uniform(i, 1, seed), v = uniform(i, 2, seed), turn = 2 * 3.14159265358979323846;
  switch (kind) {
    case NORMAL: return 0.5 + sqrt(-2 * log(u)) * cos(turn * v) / spread;
    case EXPONENTIAL: return -log(u) / spread;
    case FEW: return uniform((size_t)(u * spread), 3, seed);
    case ZIPF: return uniform((size_t)exp(u * log(spread + 1)), 3, seed);
    case RUNS: return uniform(i / (size_t)spread, 3, seed);
    case SORTED: return ((double)i + u) / (double)n;
    case SMOOTH: return 0.5 + 0.4 * sin(turn * (double)i / spread) + 0.05 * (u - 0.5);
    default: return u;
  }
}

int items_of(const clt_module_call *call) {
  uint32_t *items = call->target->data;
  const size_t n = call->target->bytes / sizeof *items;
  const int kind = (int)clt_module_value(call, "kind", -1);
  const double spread = clt_module_value(call, "spread", 1);
  const uint64_t seed = (uint64_t)clt_module_value(call, "seed", 1) * 0x10001 + call->seed;
  if (kind < UNIFORM || kind > SMOOTH || spread < 1) return 1;
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) {
    const double at = draw(kind, i, n, spread, seed) * 0x1p32;
    items[i] = at < 0 ? 0 : at >= 0x1p32 ? UINT32_MAX : (uint32_t)at;
  }
  return 0;
}

static uint32_t bin_of(uint32_t item, uint32_t bins) { return (uint32_t)((uint64_t)item * bins >> 32); }

int count_items(const clt_module_call *call) {
  const clt_module_array *data = clt_module_find(call, "data"), *histogram = clt_module_find(call, "histogram");
  const uint32_t *items = data->data, bins = (uint32_t)clt_module_value(call, "bins", 1);
  uint32_t *counts = histogram->data;
  memset(counts, 0, histogram->bytes);
  for (size_t i = 0; i < data->extent[0]; i++) counts[bin_of(items[i], bins)]++;
  return 0;
}

/* --- features: of 64 pieces of 64 items each, evenly distributed --- */

enum { PIECES = 64, LENGTH = 64 };

/* The standard deviation of how many of the sample fall into a bin, in means; the share of the largest bin; and the share of
 * items that are in the bin of the one before. */
int sample(const clt_module_call *call) {
  const clt_module_array *data = clt_module_find(call, "data");
  const uint32_t *items = data->data, bins = (uint32_t)clt_module_value(call, "bins", 1);
  const size_t n = data->extent[0];
  uint32_t *counts = calloc(bins, sizeof *counts), largest = 0, taken = 0, repeated = 0, followers = 0;
  double squares = 0;
  if (!counts) return 1;
  for (size_t piece = 0; piece < PIECES; piece++) {
    const size_t from = n * piece / PIECES, end = n * (piece + 1) / PIECES;
    for (size_t i = from; i < end && i < from + LENGTH; i++) {
      counts[bin_of(items[i], bins)]++;
      taken++;
      if (i == from) continue;
      followers++;
      repeated += bin_of(items[i], bins) == bin_of(items[i - 1], bins);
    }
  }
  const double mean = (double)taken / bins;
  for (uint32_t i = 0; i < bins; i++) {
    squares += (counts[i] - mean) * (counts[i] - mean);
    if (counts[i] > largest) largest = counts[i];
  }
  double *out = call->target->data;
  out[0] = sqrt(squares / bins) / mean;
  out[1] = (double)largest / taken;
  out[2] = followers ? (double)repeated / followers : 0;
  free(counts);
  return 0;
}

int items_per_bin(const clt_module_call *call) {
  *(double *)call->target->data = clt_module_value(call, "n", 0) / clt_module_value(call, "bins", 1);
  return 0;
}
