#include "dataset/encoding.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define LOG_FACTOR 4.0 /* a range from which on ratios matter more than differences */
#define MANY_VALUES 4  /* integers with more values get the exponent of two as well */
#define LARGEST_EXPONENT 6
#define RANGE_SAMPLES 2048 /* configurations that the range of a resource is taken from */
#define OUTSIDE 1.5f       /* how far a resource may lie outside of the range seen */

/* The exponent of two in an integer. */
static double exponent_of_two(double value) {
  int64_t n = (int64_t)fabs(value);
  int exponent = 0;
  while (n > 0 && n % 2 == 0 && exponent < LARGEST_EXPONENT) {
    n /= 2;
    exponent++;
  }
  return exponent;
}

static bool is_power_of_two(double value) { return value > 0 && exp2(round(log2(value))) == value; }

/* Maps one column of a table to [-1, 1]; false if it is constant. */
static bool scale_column(float *table, size_t n, size_t width, size_t column, const double *values) {
  double low = values[0], high = values[0];
  for (size_t i = 1; i < n; i++) {
    low = fmin(low, values[i]);
    high = fmax(high, values[i]);
  }
  for (size_t i = 0; i < n; i++) table[i * width + column] = (float)((2 * values[i] - low - high) / (high - low));
  return high > low;
}

static bool wants_exponent(const clt_parameter *p) {
  bool all_powers = true;
  for (size_t i = 0; i < p->n_values; i++) {
    double number = clt_value_number(p->values[i]);
    if (p->values[i].type != CLT_INT || fabs(number) > 0x1p53) return false;
    all_powers = all_powers && is_power_of_two(number);
  }
  return p->n_values > MANY_VALUES && !all_powers;
}

static bool has_text(const clt_parameter *p) {
  for (size_t i = 0; i < p->n_values; i++)
    if (!isfinite(clt_value_number(p->values[i]))) return true;
  return false;
}

static bool wants_log2(const double *values, size_t n) {
  double low = values[0], high = values[0];
  for (size_t i = 1; i < n; i++) {
    low = fmin(low, values[i]);
    high = fmax(high, values[i]);
  }
  return low > 0 && high / low >= LOG_FACTOR;
}

static void encode_categories(clt_encoded_parameter *e) {
  for (size_t i = 0; i < e->n_values; i++)
    for (size_t j = 0; j < e->width; j++) e->table[i * e->width + j] = i == j ? 1 : -1;
}

static void encode_numbers(clt_encoded_parameter *e, const clt_parameter *p, double *column) {
  for (size_t i = 0; i < p->n_values; i++) column[i] = clt_value_number(p->values[i]);
  if (wants_log2(column, p->n_values))
    for (size_t i = 0; i < p->n_values; i++) column[i] = log2(column[i]);
  scale_column(e->table, e->n_values, e->width, 0, column);
  if (e->width == 1) return;
  for (size_t i = 0; i < p->n_values; i++) column[i] = exponent_of_two(clt_value_number(p->values[i]));
  if (!scale_column(e->table, e->n_values, e->width, 1, column))
    for (size_t i = 0; i < p->n_values; i++) e->table[i * e->width + 1] = 0;
}

static int encode_parameter(clt_encoded_parameter *e, const clt_parameter *p, clt_error *error) {
  bool text = has_text(p);
  e->n_values = p->n_values;
  e->width = p->n_values < 2 ? 0 : text ? p->n_values : wants_exponent(p) ? 2 : 1;
  size_t n;
  if (!clt_size_multiply(&n, e->n_values, e->width)) return clt_fail_memory(error);
  e->table = clt_new_array(n, sizeof *e->table);
  double *column = clt_new_array(p->n_values, sizeof *column);
  int rc = e->table && column ? CLT_OK : clt_fail_memory(error);
  if (!rc && text && e->width) encode_categories(e);
  if (!rc && !text && e->width) encode_numbers(e, p, column);
  free(column);
  return rc;
}

static int encode_parameters(clt_encoding *encoding, clt_error *error) {
  encoding->n_parameters = clt_space_n_parameters(encoding->space);
  encoding->parameters = clt_new_array(encoding->n_parameters, sizeof *encoding->parameters);
  if (encoding->parameters == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < encoding->n_parameters; i++) {
    clt_encoded_parameter *e = &encoding->parameters[i];
    int rc = encode_parameter(e, clt_space_parameter(encoding->space, i), error);
    if (rc) return rc;
    e->first = encoding->n_inputs;
    encoding->n_inputs += e->width;
  }
  uint64_t stride = 1;
  for (size_t i = encoding->n_parameters; i-- > 0; stride *= encoding->parameters[i].n_values)
    encoding->parameters[i].stride = stride;
  return CLT_OK;
}

/* The values of one resource over the space. */
struct range {
  double low, high, positive; /* the smallest above 0 */
};

static void widen(struct range *range, double value) {
  if (!isfinite(value)) return;
  range->low = fmin(range->low, value);
  range->high = fmax(range->high, value);
  if (value > 0) range->positive = fmin(range->positive, value);
}

/* The ranges of all resources over configurations spread evenly. */
static void find_ranges(const clt_encoding *encoding, size_t n, struct range *ranges) {
  double values[CLT_MAX_RESOURCES];
  uint64_t valid = clt_space_valid(encoding->space);
  uint64_t samples = valid < RANGE_SAMPLES ? valid : RANGE_SAMPLES;
  for (size_t r = 0; r < n; r++) ranges[r] = (struct range){INFINITY, -INFINITY, INFINITY};
  for (uint64_t i = 0; i < samples; i++) {
    uint64_t rank = samples < 2 ? 0 : (uint64_t)((double)i * (double)(valid - 1) / (double)(samples - 1));
    clt_instance_resources(encoding->instance, clt_space_at(encoding->space, rank), values);
    for (size_t r = 0; r < n; r++) widen(&ranges[r], values[r]);
  }
}

/* Among logarithms a zero (local memory that is not used) stands a factor of two below the smallest other value. */
static void keep_resource(clt_encoding *encoding, size_t index, const struct range *range) {
  if (!(range->high > range->low)) return;
  clt_encoded_resource *e = &encoding->resources[encoding->n_resources++];
  *e = (clt_encoded_resource){index, false, range->low, range->high};
  if (range->low >= 0 && range->high / range->positive >= LOG_FACTOR) {
    e->log2 = true;
    e->low = log2(range->positive) - (range->low > 0 ? 0 : 1);
    e->high = log2(range->high);
  }
  encoding->n_inputs++;
}

static int encode_resource_ranges(clt_encoding *encoding, clt_error *error) {
  encoding->first_resource = encoding->n_inputs;
  if (encoding->instance == NULL) return CLT_OK;
  size_t n = encoding->n_instance_resources = clt_instance_n_resources(encoding->instance);
  if (n > CLT_MAX_RESOURCES) return clt_fail(error, CLT_E_RANGE, "more than %d resources", CLT_MAX_RESOURCES);
  encoding->resources = clt_new_array(n, sizeof *encoding->resources);
  struct range *ranges = clt_new_array(n, sizeof *ranges);
  int rc = encoding->resources && ranges ? CLT_OK : clt_fail_memory(error);
  if (!rc && n) find_ranges(encoding, n, ranges);
  for (size_t r = 0; !rc && r < n; r++) keep_resource(encoding, r, &ranges[r]);
  free(ranges);
  return rc;
}

int clt_encoding_new(clt_encoding **out, const clt_space *space, const clt_instance *instance, clt_error *error) {
  clt_encoding *encoding = clt_new_array(1, sizeof *encoding);
  if (encoding == NULL) return clt_fail_memory(error);
  encoding->space = space;
  encoding->instance = instance && clt_instance_n_resources(instance) ? instance : NULL;
  int rc = encode_parameters(encoding, error);
  if (!rc) rc = encode_resource_ranges(encoding, error);
  if (rc) return clt_encoding_free(encoding), rc;
  *out = encoding;
  return CLT_OK;
}

void clt_encoding_set_resources(clt_encoding *encoding, const clt_instance *instance, clt_encoded_resource *resources,
                                size_t n) {
  free(encoding->resources);
  encoding->resources = resources;
  encoding->n_resources = n;
  encoding->n_inputs = encoding->first_resource + n;
  encoding->instance = n ? instance : NULL;
  encoding->n_instance_resources = n ? clt_instance_n_resources(instance) : 0;
}

void clt_encoding_free(clt_encoding *encoding) {
  if (encoding == NULL) return;
  for (size_t i = 0; encoding->parameters && i < encoding->n_parameters; i++) free(encoding->parameters[i].table);
  free(encoding->parameters);
  free(encoding->resources);
  free(encoding);
}

static float encode_resource(const clt_encoded_resource *e, double value) {
  if (!isfinite(value)) return 0;
  if (e->log2) value = value > 0 ? log2(value) : e->low;
  float scaled = (float)((2 * value - e->low - e->high) / (e->high - e->low));
  return scaled > OUTSIDE ? OUTSIDE : scaled < -OUTSIDE ? -OUTSIDE : scaled;
}

void clt_encode_resources(const clt_encoding *encoding, clt_config config, float *out) {
  if (encoding->n_resources == 0) return;
  double values[CLT_MAX_RESOURCES];
  clt_instance_resources(encoding->instance, config, values);
  for (size_t r = 0; r < encoding->n_resources; r++)
    out[r] = encode_resource(&encoding->resources[r], values[encoding->resources[r].index]);
}

void clt_encode(const clt_encoding *encoding, clt_config config, float *out) {
  for (size_t i = 0; i < encoding->n_parameters; i++) {
    const clt_encoded_parameter *e = &encoding->parameters[i];
    const float *row = e->table + clt_encoded_position(e, config) * e->width;
    for (size_t j = 0; j < e->width; j++) out[e->first + j] = row[j];
  }
  clt_encode_resources(encoding, config, out + encoding->first_resource);
}

bool clt_encoding_in_resources(const clt_encoding *encoding, size_t parameter) {
  for (size_t r = 0; r < encoding->n_resources; r++)
    if (clt_instance_resource_uses(encoding->instance, encoding->resources[r].index, parameter)) return true;
  return false;
}
