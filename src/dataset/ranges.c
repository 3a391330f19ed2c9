#include "dataset/ranges.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define RANGE_SAMPLES 2048 /* configurations that the ranges are taken from, over all instances */
#define FEWEST_SAMPLES 32  /* of one instance */
#define OUTSIDE 1.5f       /* how far a value may lie outside of the range seen */

/* The values of one resource, or size, over the spaces. */
struct range {
  double low, high, positive; /* the smallest above 0 */
};

static size_t n_numbers(const clt_instance *instance) {
  return clt_instance_n_resources(instance) + clt_instance_n_sizes(instance);
}

static void add_sizes(const clt_instance *instance, double *out) {
  size_t n = clt_instance_n_resources(instance);
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) out[n + i] = (double)clt_instance_size(instance, i).value;
}

static void widen(struct range *range, double value) {
  if (!isfinite(value)) return;
  range->low = fmin(range->low, value);
  range->high = fmax(range->high, value);
  if (value > 0) range->positive = fmin(range->positive, value);
}

static void widen_all(struct range *ranges, const clt_instance *instance, uint64_t most) {
  double values[CLT_MAX_RESOURCES];
  const clt_space *space = clt_instance_space(instance);
  uint64_t valid = clt_space_valid(space), samples = valid < most ? valid : most;
  for (uint64_t i = 0; i < samples; i++) {
    uint64_t rank = samples < 2 ? 0 : (uint64_t)((double)i * (double)(valid - 1) / (double)(samples - 1));
    clt_instance_resources(instance, clt_space_at(space, rank), values);
    add_sizes(instance, values);
    for (size_t r = 0; r < n_numbers(instance); r++) widen(&ranges[r], values[r]);
  }
}

/* Among logarithms a zero (local memory that is not used) stands a factor of two below the smallest other value. */
static void keep(clt_encoding *encoding, size_t index, const struct range *range) {
  if (!(range->high > range->low)) return;
  clt_encoded_resource *e = &encoding->resources[encoding->n_resources++];
  *e = (clt_encoded_resource){index, false, range->low, range->high};
  if (range->low >= 0 && range->high / range->positive >= CLT_LOG_FACTOR) {
    e->log2 = true;
    e->low = log2(range->positive) - (range->low > 0 ? 0 : 1);
    e->high = log2(range->high);
  }
  encoding->n_inputs++;
}

static int find_ranges(struct range **out, const clt_instance *const *instances, size_t n, clt_error *error) {
  size_t n_ranges = n_numbers(instances[0]);
  if (n_ranges > CLT_MAX_RESOURCES)
    return clt_fail(error, CLT_E_RANGE, "more than %d resources and sizes", CLT_MAX_RESOURCES);
  struct range *ranges = clt_new_array(n_ranges, sizeof *ranges);
  if (ranges == NULL) return clt_fail_memory(error);
  for (size_t r = 0; r < n_ranges; r++) ranges[r] = (struct range){INFINITY, -INFINITY, INFINITY};
  uint64_t most = RANGE_SAMPLES / n < FEWEST_SAMPLES ? FEWEST_SAMPLES : RANGE_SAMPLES / n;
  for (size_t i = 0; i < n; i++) widen_all(ranges, instances[i], most);
  *out = ranges;
  return CLT_OK;
}

int clt_encode_ranges(clt_encoding *encoding, const clt_instance *const *instances, size_t n, bool resources,
                      clt_error *error) {
  struct range *ranges = NULL;
  int rc = find_ranges(&ranges, instances, n, error);
  if (rc) return rc;
  size_t end = n_numbers(instances[0]);
  encoding->resources = clt_new_array(end, sizeof *encoding->resources);
  rc = encoding->resources ? CLT_OK : clt_fail_memory(error);
  for (size_t r = resources ? 0 : clt_instance_n_resources(instances[0]); !rc && r < end; r++)
    keep(encoding, r, &ranges[r]);
  if (encoding->n_resources) encoding->instance = instances[0];
  free(ranges);
  return rc;
}

/* --- as inputs --- */

static float scale(const clt_encoded_resource *e, double value) {
  if (!isfinite(value)) return 0;
  if (e->log2) value = value > 0 ? log2(value) : e->low;
  float scaled = (float)((2 * value - e->low - e->high) / (e->high - e->low));
  return scaled > OUTSIDE ? OUTSIDE : scaled < -OUTSIDE ? -OUTSIDE : scaled;
}

void clt_encode_resources(const clt_encoding *encoding, clt_config config, float *out) {
  if (encoding->n_resources == 0) return;
  double values[CLT_MAX_RESOURCES];
  clt_instance_resources(encoding->instance, config, values);
  add_sizes(encoding->instance, values);
  for (size_t r = 0; r < encoding->n_resources; r++)
    out[r] = scale(&encoding->resources[r], values[encoding->resources[r].index]);
}

bool clt_encoding_in_resources(const clt_encoding *encoding, size_t parameter) {
  size_t n = encoding->n_resources ? clt_instance_n_resources(encoding->instance) : 0;
  for (size_t r = 0; r < encoding->n_resources; r++) {
    size_t index = encoding->resources[r].index;
    if (index < n && clt_instance_resource_uses(encoding->instance, index, parameter)) return true;
  }
  return false;
}
