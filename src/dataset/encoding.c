#include "dataset/encoding.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "dataset/ranges.h"

#define MANY_VALUES 4 /* integers with more values get the exponent of two as well */
#define LARGEST_EXPONENT 6

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
  return low > 0 && high / low >= CLT_LOG_FACTOR;
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

int clt_encoding_new(clt_encoding **out, const clt_space *space, const clt_instance *instance, clt_error *error) {
  clt_encoding *encoding = clt_new_array(1, sizeof *encoding);
  if (encoding == NULL) return clt_fail_memory(error);
  encoding->space = space;
  int rc = encode_parameters(encoding, error);
  encoding->first_resource = encoding->n_inputs;
  if (!rc && instance) rc = clt_encode_ranges(encoding, &instance, 1, true, error);
  if (rc) return clt_encoding_free(encoding), rc;
  *out = encoding;
  return CLT_OK;
}

int clt_encoding_new_over(clt_encoding **out, const clt_instance *const *instances, size_t n, bool resources,
                          clt_error *error) {
  clt_encoding *encoding;
  const clt_space *space = clt_instance_space(instances[0]);
  for (size_t i = 1; i < n; i++)
    if (!clt_space_same_parameters(space, clt_instance_space(instances[i])))
      return clt_fail(error, CLT_E_ARGUMENT, "the instances do not have the same tuning parameters");
  int rc = clt_encoding_new(&encoding, space, NULL, error);
  if (rc) return rc;
  rc = clt_encode_ranges(encoding, instances, n, resources, error);
  if (rc) return clt_encoding_free(encoding), rc;
  *out = encoding;
  return CLT_OK;
}

void clt_encoding_bind(clt_encoding *encoding, const clt_instance *instance) {
  encoding->space = clt_instance_space(instance);
  if (encoding->n_resources) encoding->instance = instance;
}

void clt_encoding_set_resources(clt_encoding *encoding, const clt_instance *instance, clt_encoded_resource *resources,
                                size_t n) {
  free(encoding->resources);
  encoding->resources = resources;
  encoding->n_resources = n;
  encoding->n_inputs = encoding->first_resource + n;
  encoding->instance = n ? instance : NULL;
}

void clt_encoding_free(clt_encoding *encoding) {
  if (encoding == NULL) return;
  for (size_t i = 0; encoding->parameters && i < encoding->n_parameters; i++) free(encoding->parameters[i].table);
  free(encoding->parameters);
  free(encoding->resources);
  free(encoding);
}

static void encode_parameters_of(const clt_encoding *encoding, clt_config config, float *out) {
  for (size_t i = 0; i < encoding->n_parameters; i++) {
    const clt_encoded_parameter *e = &encoding->parameters[i];
    const float *row = e->table + clt_encoded_position(e, config) * e->width;
    for (size_t j = 0; j < e->width; j++) out[e->first + j] = row[j];
  }
}

void clt_encode(const clt_encoding *encoding, clt_config config, float *out) {
  encode_parameters_of(encoding, config, out);
  clt_encode_resources(encoding, config, out + encoding->first_resource);
}

void clt_encode_at(const clt_encoding *encoding, const clt_instance *instance, clt_config config, float *out) {
  clt_encoding other = *encoding;
  other.instance = instance;
  encode_parameters_of(encoding, config, out);
  clt_encode_resources(&other, config, out + encoding->first_resource);
}
