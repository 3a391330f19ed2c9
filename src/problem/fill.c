/* Content of logical arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "problem/parts.h"

#define MAX_DATA_BYTES ((size_t)1 << 40)

/* Seeds differ by array, so that two random inputs are not the same. */
static clt_rng generator_of(const clt_fill *fill, const clt_array *array, uint64_t seed) {
  clt_rng rng;
  clt_rng_init(&rng, seed ^ clt_hash64(array->name, strlen(array->name)) ^ ((uint64_t)fill->seed << 32));
  return rng;
}

static size_t n_elements(const clt_array *array) { return array->bytes / array->element.bytes; }

/* The components of an element as they are stored: 4 for 3. */
static size_t n_stored(const clt_array *array) {
  return array->element.bytes / clt_element_base_bytes(array->element.base);
}

static bool is_real(const clt_array *array) { return array->element.base >= CLT_ELEMENT_HALF; }

/* The largest number that content made here has: 1, or what small integers can hold, or 255. */
static double top_of(const clt_array *array) {
  switch (array->element.base) {
    case CLT_ELEMENT_CHAR: return INT8_MAX;
    case CLT_ELEMENT_SHORT: return INT16_MAX;
    case CLT_ELEMENT_USHORT: return UINT16_MAX;
    default: return is_real(array) ? 1 : UINT8_MAX;
  }
}

static int fill_constant(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                         clt_error *error) {
  clt_value value = {.type = CLT_INT, .integer = 0};
  size_t step = clt_element_base_bytes(array->element.base);
  int rc = fill->value == CLT_NO_EXPRESSION ? CLT_OK : clt_evaluate(instance, fill->value, NULL, &value, error);
  if (rc) return rc;
  if (value.type == CLT_STRING)
    return clt_fail(error, CLT_E_EXPRESSION, "argument '%s' cannot be filled with a text", array->name);
  for (size_t i = 0; i < array->bytes; i += step) clt_store_value((char *)data + i, array->element.base, value);
  return CLT_OK;
}

static void fill_uniform(const clt_array *array, void *data, clt_rng *rng, double bound) {
  size_t step = clt_element_base_bytes(array->element.base);
  for (size_t i = 0; i < array->bytes; i += step) {
    double unit = clt_rng_unit(rng);
    clt_store_number((char *)data + i, array->element.base, is_real(array) ? unit * bound : floor(unit * (bound + 1)));
  }
}

static int fill_random(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                       uint64_t seed, clt_error *error) {
  clt_rng rng = generator_of(fill, array, seed);
  double bound = top_of(array);
  int rc = fill->value == CLT_NO_EXPRESSION ? CLT_OK : clt_evaluate_number(instance, fill->value, NULL, &bound, error);
  if (rc == CLT_OK) fill_uniform(array, data, &rng, bound);
  return rc;
}

/* 0, 1, 2 ... in integers (wrapping around), 0 to 1 in reals. */
static void fill_ramp(const clt_array *array, void *data) {
  size_t step = clt_element_base_bytes(array->element.base), stored = n_stored(array), n = n_elements(array);
  double modulus = top_of(array) + 1;
  for (size_t i = 0; i < n; i++) {
    double x = is_real(array) ? (double)i / (double)n : step < 4 ? fmod((double)i, modulus) : (double)i;
    for (size_t c = 0; c < stored; c++)
      clt_store_number((char *)data + (i * stored + c) * step, array->element.base, x);
  }
}

/* A shaded background, discs, bars and a little noise: smooth regions and edges, 0 to 1. */
static double picture(double x, double y, double z, size_t component, double shift) {
  double shade = 0.25 + 0.25 * sin(5 * x + shift) * cos(4 * y + 3 * z + (double)component);
  double disc = hypot(hypot(fmod(3 * x + shift, 1) - 0.5, fmod(3 * y, 1) - 0.5), fmod(2 * z, 1) - 0.25) < 0.3 ? 0.3 : 0;
  double bar = fmod(11 * (x + y) + shift, 1) < 0.2 ? 0.12 : 0;
  return shade + disc + bar;
}

static void fill_picture(const clt_array *array, void *data, clt_rng *rng) {
  size_t step = clt_element_base_bytes(array->element.base), stored = n_stored(array);
  double top = top_of(array), shift = 6.283185307179586 * clt_rng_unit(rng);
  char *at = data;
  for (size_t z = 0; z < array->extent[2]; z++)
    for (size_t y = 0; y < array->extent[1]; y++)
      for (size_t x = 0; x < array->extent[0]; x++)
        for (size_t c = 0; c < stored; c++, at += step) {
          double value = picture((double)x / (double)array->extent[0], (double)y / (double)array->extent[1],
                                 (double)z / (double)array->extent[2], c, shift);
          value += 0.05 * clt_rng_unit(rng);
          clt_store_number(at, array->element.base, is_real(array) ? value : floor(value * top));
        }
}

static void fill_built_in(const clt_fill *fill, const clt_array *array, void *data, uint64_t seed) {
  clt_rng rng = generator_of(fill, array, seed);
  if (strcmp(fill->function, "ramp") == 0) {
    fill_ramp(array, data);
  } else if (strcmp(fill->function, "noise") == 0) {
    fill_uniform(array, data, &rng, top_of(array));
  } else {
    fill_picture(array, data, &rng);
  }
}

/* T1's generators: an expression over the element's index i. */
static int fill_formula(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                        clt_error *error) {
  size_t step = clt_element_base_bytes(array->element.base), stored = n_stored(array), n = n_elements(array);
  for (size_t i = 0; i < n; i++) {
    clt_value index = {.type = CLT_INT, .integer = (int64_t)i}, value;
    int rc = clt_evaluate(instance, fill->value, &index, &value, error);
    if (rc) return rc;
    if (value.type == CLT_STRING)
      return clt_fail(error, CLT_E_EXPRESSION, "argument '%s' cannot be filled with a text", array->name);
    for (size_t c = 0; c < stored; c++)
      clt_store_value((char *)data + (i * stored + c) * step, array->element.base, value);
  }
  return CLT_OK;
}

static int fill_raw(const clt_fill *fill, const clt_array *array, void *data, clt_error *error) {
  char *bytes = NULL;
  size_t n;
  int rc = clt_file_read(&bytes, &n, fill->file, MAX_DATA_BYTES, error);
  if (rc) return rc;
  if (n == array->bytes) {
    memcpy(data, bytes, n);
  } else {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %zu bytes; argument '%s' needs %zu", fill->file, n, array->name,
                  array->bytes);
  }
  free(bytes);
  return rc;
}

static int fill_by_module(const clt_fill *fill, const clt_array *array, const clt_module_call *call, clt_error *error) {
  clt_module_function function;
  int rc = clt_module_find_function(&function, fill->module, fill->function, error);
  if (rc) return rc;
  if (function(call) != 0)
    return clt_fail(
        error, CLT_E_IO,
        "the generator '%s' of '%s' failed to fill argument '%s': it may not support these problem sizes",
        fill->function, fill->module, array->name);
  return CLT_OK;
}

int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_module_call *call, clt_error *error) {
  switch (fill->kind) {
    case CLT_FILL_NONE:
    case CLT_FILL_REPETITION: return CLT_OK;
    case CLT_FILL_CONSTANT: return fill_constant(instance, fill, array, data, error);
    case CLT_FILL_RANDOM: return fill_random(instance, fill, array, data, call->seed, error);
    case CLT_FILL_BUILT_IN: fill_built_in(fill, array, data, call->seed); return CLT_OK;
    case CLT_FILL_FORMULA: return fill_formula(instance, fill, array, data, error);
    case CLT_FILL_MODULE: return fill_by_module(fill, array, call, error);
    case CLT_FILL_RAW: return fill_raw(fill, array, data, error);
    case CLT_FILL_PGM: return clt_pgm_read(fill->file, array, data, error);
  }
  return CLT_OK;
}
