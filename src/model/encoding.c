#include "base/base.h"
#include "model/model.h"
#include "model/rows.h"
#include "problem/guidance.h"
#include "space/space.h"

#define LOG_FACTOR 4.0 /* a range from which on ratios matter more than differences */
#define MANY_VALUES 4  /* integers with more values get the exponent of two as well */
#define LARGEST_EXPONENT 6
#define RANGE_SAMPLES 2048 /* configurations that the ranges are taken from, over all instances */
#define FEWEST_SAMPLES 32  /* of one instance */
#define OUTSIDE 1.5f       /* how far a value may lie outside of the range seen */

/* --- parameters --- */

/* Maps n values to [-1, 1] in one column of a table, or leaves the column if all are equal. */
static void scale_column(float *table, size_t n, size_t width, const double *values) {
  double low = values[0], high = values[0];
  for (size_t i = 1; i < n; i++) {
    low = fmin(low, values[i]);
    high = fmax(high, values[i]);
  }
  for (size_t i = 0; i < n && high > low; i++) table[i * width] = (float)((2 * values[i] - low - high) / (high - low));
}

/* is_place: a position among many, which is no size. */
static int encode_parameter(clt_encoded_parameter *e, const clt_parameter *p, bool is_place, clt_error *error) {
  size_t n = e->n_values = p->n_values, n_cells = 0;
  double *numbers = clt_new_array(n, sizeof *numbers), low = INFINITY, high = -INFINITY;
  if (numbers == NULL) return clt_fail_memory(error);
  bool text = false, small_integers = true, powers_of_two = true;
  for (size_t i = 0; i < n; i++) {
    double number = numbers[i] = clt_value_number(p->values[i]);
    text = text || !isfinite(number);
    small_integers = small_integers && p->values[i].type == CLT_INT && fabs(number) <= 0x1p53;
    powers_of_two = powers_of_two && number > 0 && exp2(round(log2(number))) == number;
    low = fmin(low, number);
    high = fmax(high, number);
  }
  bool exponents = small_integers && n > MANY_VALUES && !powers_of_two && !is_place;
  if (text)
    e->width = n;
  else
    e->width = exponents ? 2 : 1;
  if (n < 2) e->width = 0;
  e->table = clt_size_multiply(&n_cells, n, e->width) ? clt_new_array(n_cells, sizeof *e->table) : NULL;
  if (e->table == NULL) {
    free(numbers);
    return clt_fail_memory(error);
  }
  if (e->width && text) {
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) e->table[i * n + j] = i == j ? 1 : -1;
  } else if (e->width) {
    bool ratios = low > 0 && high / low >= LOG_FACTOR;
    for (size_t i = 0; i < n && ratios; i++) numbers[i] = log2(numbers[i]);
    scale_column(e->table, n, e->width, numbers);
    for (size_t i = 0; i < n && exponents; i++) {
      int64_t left = (int64_t)fabs(clt_value_number(p->values[i]));
      for (numbers[i] = 0; left > 0 && left % 2 == 0 && numbers[i] < LARGEST_EXPONENT; left /= 2) numbers[i]++;
    }
    if (exponents) scale_column(e->table + 1, n, e->width, numbers);
  }
  free(numbers);
  return CLT_OK;
}

/* --- resources and sizes: "numbers" of an instance, the resources first --- */

static size_t count_numbers(const clt_instance *instance) {
  return clt_instance_n_resources(instance) + clt_instance_n_sizes(instance);
}

static void find_numbers(const clt_instance *instance, clt_config config, double *out) {
  size_t n = clt_instance_n_resources(instance);
  clt_instance_resources(instance, config, out);
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) out[n + i] = (double)clt_instance_size(instance, i).value;
}

/* Adds the resources (if `resources`) and the sizes that vary over configurations spread evenly over the ranks. */
static int encode_numbers(clt_encoding *encoding, const clt_instance *const *instances, size_t n, bool resources,
                          clt_error *error) {
  size_t n_numbers = count_numbers(instances[0]);
  double values[CLT_MAX_RESOURCES];
  struct {
    double low, high, positive; /* the smallest above 0 */
  } ranges[CLT_MAX_RESOURCES];
  if (n_numbers > CLT_MAX_RESOURCES)
    return clt_fail(error, CLT_E_RANGE,
                    "the problem has more than %d resources and sizes; leave resources out (resources=no)",
                    CLT_MAX_RESOURCES);
  encoding->resources = clt_new_array(n_numbers, sizeof *encoding->resources);
  if (encoding->resources == NULL) return clt_fail_memory(error);
  for (size_t r = 0; r < n_numbers; r++) ranges[r].low = ranges[r].positive = INFINITY, ranges[r].high = -INFINITY;
  uint64_t most = clt_max(RANGE_SAMPLES / n, FEWEST_SAMPLES);
  for (size_t k = 0; k < n; k++) {
    const clt_space *space = clt_instance_space(instances[k]);
    uint64_t valid = clt_space_valid(space), samples = clt_min(valid, most);
    for (uint64_t i = 0; i < samples; i++) {
      uint64_t rank = samples < 2 ? 0 : (uint64_t)((double)i * (double)(valid - 1) / (double)(samples - 1));
      find_numbers(instances[k], clt_space_at(space, rank), values);
      for (size_t r = 0; r < n_numbers; r++) {
        if (!isfinite(values[r])) continue;
        ranges[r].low = fmin(ranges[r].low, values[r]);
        ranges[r].high = fmax(ranges[r].high, values[r]);
        if (values[r] > 0) ranges[r].positive = fmin(ranges[r].positive, values[r]);
      }
    }
  }
  for (size_t r = resources ? 0 : clt_instance_n_resources(instances[0]); r < n_numbers; r++) {
    double low = ranges[r].low, high = ranges[r].high, positive = ranges[r].positive;
    if (!(high > low)) continue;
    /* On a log scale, zero (unused local memory) counts as half of the smallest other value. */
    bool ratios = low >= 0 && high / positive >= LOG_FACTOR;
    encoding->resources[encoding->n_resources++] =
        ratios ? (clt_encoded_resource){r, true, log2(positive) - (low > 0 ? 0 : 1), log2(high)}
               : (clt_encoded_resource){r, false, low, high};
  }
  encoding->n_inputs += encoding->n_resources;
  if (encoding->n_resources) encoding->instance = instances[0];
  return CLT_OK;
}

/* --- encodings --- */

int clt_encoding_new_over(clt_encoding **out, const clt_space *space, const clt_instance *const *instances, size_t n,
                          bool resources, clt_error *error) {
  clt_encoding *encoding = clt_new_array(1, sizeof *encoding);
  if (encoding == NULL) return clt_fail_memory(error);
  encoding->space = space;
  encoding->n_parameters = clt_space_n_parameters(space);
  encoding->parameters = clt_new_array(encoding->n_parameters, sizeof *encoding->parameters);
  int rc = encoding->parameters ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < encoding->n_parameters; i++) {
    encoding->parameters[i].first = encoding->n_inputs;
    const bool is_place = clt_space_has_too_many(space) && clt_space_distinct_of(space, i) != SIZE_MAX;
    rc = encode_parameter(&encoding->parameters[i], clt_space_parameter(space, i), is_place, error);
    encoding->n_inputs += encoding->parameters[i].width;
  }
  uint64_t stride = 1;
  for (size_t i = encoding->n_parameters; rc == CLT_OK && i-- > 0; stride *= encoding->parameters[i].n_values)
    encoding->parameters[i].stride = stride;
  encoding->first_resource = encoding->n_inputs;
  if (rc == CLT_OK && n) rc = encode_numbers(encoding, instances, n, resources, error);
  if (rc == CLT_OK)
    *out = encoding;
  else
    clt_encoding_free(encoding);
  return rc;
}

int clt_encoding_new(clt_encoding **out, const clt_space *space, const clt_instance *instance, clt_error *error) {
  return clt_encoding_new_over(out, space, &instance, instance != NULL, true, error);
}

void clt_encoding_free(clt_encoding *encoding) {
  if (encoding == NULL) return;
  for (size_t i = 0; encoding->parameters && i < encoding->n_parameters; i++) free(encoding->parameters[i].table);
  free(encoding->parameters);
  free(encoding->resources);
  free(encoding);
}

void clt_encoding_bind(clt_encoding *encoding, const clt_instance *instance) {
  encoding->space = clt_instance_space(instance);
  if (encoding->n_resources) encoding->instance = instance;
}

void clt_encode(const clt_encoding *encoding, clt_config config, float *out) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, encoding->space, config);
  for (size_t i = 0; i < encoding->n_parameters; i++) {
    const clt_encoded_parameter *e = &encoding->parameters[i];
    const float *row = e->table + positions[i] * e->width;
    for (size_t j = 0; j < e->width; j++) out[e->first + j] = row[j];
  }
  clt_encode_resources(encoding, config, out + encoding->first_resource);
}

void clt_encode_resources(const clt_encoding *encoding, clt_config config, float *out) {
  double values[CLT_MAX_RESOURCES];
  if (encoding->n_resources == 0) return;
  find_numbers(encoding->instance, config, values);
  for (size_t r = 0; r < encoding->n_resources; r++) {
    const clt_encoded_resource *e = &encoding->resources[r];
    double value = values[e->index];
    out[r] = 0;
    if (!isfinite(value)) continue;
    if (e->log2) value = value > 0 ? log2(value) : e->low;
    const float scaled = (float)((2 * value - e->low - e->high) / (e->high - e->low));
    out[r] = fminf(fmaxf(scaled, -OUTSIDE), OUTSIDE);
  }
}

bool clt_encoding_in_resources(const clt_encoding *encoding, size_t parameter) {
  size_t n = encoding->n_resources ? clt_instance_n_resources(encoding->instance) : 0;
  for (size_t r = 0; r < encoding->n_resources; r++) {
    size_t index = encoding->resources[r].index;
    if (index < n && clt_instance_resource_uses(encoding->instance, index, parameter)) return true;
  }
  return false;
}

/* --- in a model file --- */

/* A size and a resource may have the same name; the key distinguishes them. */
static const char *number_name(const clt_instance *instance, size_t index, const char **key) {
  size_t n = clt_instance_n_resources(instance);
  *key = index < n ? "name" : "size";
  return index < n ? clt_instance_resource_name(instance, index) : clt_instance_size(instance, index - n).name;
}

json_t *clt_encoding_save(const clt_encoding *e) {
  json_t *array = json_array();
  for (const clt_encoded_resource *r = e->resources; r < e->resources + e->n_resources; r++) {
    const char *key, *name = number_name(e->instance, r->index, &key);
    clt_json_append(&array,
                    json_pack("{s:s, s:b, s:f, s:f}", key, name, "log2", (int)r->log2, "low", r->low, "high", r->high));
  }
  return array;
}

int clt_encoding_load(clt_encoding **out, const clt_space *space, const clt_instance *instance, const json_t *resources,
                      clt_error *error) {
  size_t n = json_array_size(resources);
  if (!json_is_array(resources) || n > CLT_MAX_RESOURCES) return clt_model_damaged(error, "resources");
  if (n && instance == NULL)
    return clt_fail(error, CLT_E_FORMAT,
                    "the model uses resources of the problem; give it the problem file instead of a space");
  clt_encoding *e = NULL;
  int rc = clt_encoding_new(&e, space, NULL, error);
  if (rc) return rc;
  e->resources = clt_new_array(n, sizeof *e->resources);
  if (e->resources == NULL) {
    clt_encoding_free(e);
    return clt_fail_memory(error);
  }
  size_t have = instance ? count_numbers(instance) : 0;
  if (have > CLT_MAX_RESOURCES) have = CLT_MAX_RESOURCES;
  for (size_t r = 0; rc == CLT_OK && r < n; r++) {
    const json_t *item = json_array_get(resources, r), *log2 = json_object_get(item, "log2");
    clt_encoded_resource *to = &e->resources[r];
    for (*to = (clt_encoded_resource){0, json_is_true(log2)}; to->index < have; to->index++) {
      const char *key, *name = number_name(instance, to->index, &key);
      if (strcmp(clt_json_string(item, key), name) == 0) break;
    }
    bool good = to->index < have && json_is_boolean(log2) &&
                clt_json_read_number(&to->low, json_object_get(item, "low")) &&
                clt_json_read_number(&to->high, json_object_get(item, "high")) && to->high > to->low;
    if (!good) rc = clt_model_damaged(error, "resources");
  }
  e->n_resources = n;
  e->n_inputs += n;
  e->instance = n ? instance : NULL;
  if (rc == CLT_OK && e->n_inputs == 0) rc = clt_model_damaged(error, "inputs");
  if (rc == CLT_OK)
    *out = e;
  else
    clt_encoding_free(e);
  return rc;
}
