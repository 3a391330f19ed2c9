/* Content of logical arrays. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/parts.h"

/* An array's memory, number by number. */
typedef struct filling {
  const clt_array *array;
  clt_element_base base;
  char *data;
  size_t step;       /* bytes of a component */
  size_t n_stored;   /* components of an element as they are stored: 4 for 3 */
  size_t n_elements; /* of all dimensions */
  bool is_real;
  double top; /* the largest number that content made here has: 1, or what small integers can hold, or 255 */
} filling;

static void store_at(const filling *f, size_t component, double number) {
  clt_store_number(f->data + component * f->step, f->base, number);
}

static void fill_uniform(const filling *f, clt_rng *rng, double bound) {
  for (size_t i = 0; i < f->n_elements * f->n_stored; i++) {
    double unit = clt_rng_unit(rng);
    store_at(f, i, f->is_real ? unit * bound : floor(unit * (bound + 1)));
  }
}

/* A shaded background, discs, bars and a little noise: smooth regions and edges, 0 to 1. */
static double picture_at(double x, double y, double z, size_t component, double shift) {
  double shade = 0.25 + 0.25 * sin(5 * x + shift) * cos(4 * y + 3 * z + (double)component);
  double disc = hypot(hypot(fmod(3 * x + shift, 1) - 0.5, fmod(3 * y, 1) - 0.5), fmod(2 * z, 1) - 0.25) < 0.3 ? 0.3 : 0;
  double bar = fmod(11 * (x + y) + shift, 1) < 0.2 ? 0.12 : 0;
  return shade + disc + bar;
}

static void fill_picture(const filling *f, clt_rng *rng) {
  const size_t *n = f->array->extent;
  double shift = 6.283185307179586 * clt_rng_unit(rng);
  size_t at = 0;
  for (size_t z = 0; z < n[2]; z++)
    for (size_t y = 0; y < n[1]; y++)
      for (size_t x = 0; x < n[0]; x++)
        for (size_t c = 0; c < f->n_stored; c++) {
          double value =
              picture_at((double)x / (double)n[0], (double)y / (double)n[1], (double)z / (double)n[2], c, shift) +
              0.05 * clt_rng_unit(rng);
          store_at(f, at++, f->is_real ? value : floor(value * f->top));
        }
}

static int fill_raw(const filling *f, const char *path, clt_error *error) {
  char *bytes = NULL;
  size_t n;
  int rc = clt_file_read(&bytes, &n, path, CLT_MAX_DATA_BYTES, error);
  if (rc) return rc;
  if (n == f->array->bytes)
    memcpy(f->data, bytes, n);
  else
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %zu bytes; argument '%s' needs %zu", path, n, f->array->name,
                  f->array->bytes);
  free(bytes);
  return rc;
}

/* Reads a number of a PGM's header, with white space and comments before it. NULL at the end. */
static const char *header_number(const char *at, const char *end, size_t *out) {
  while (at < end && (isspace((unsigned char)*at) || *at == '#')) {
    if (*at == '#')
      while (at < end && *at != '\n') at++;
    else
      at++;
  }
  if (at == end || !isdigit((unsigned char)*at)) return NULL;
  for (*out = 0; at < end && isdigit((unsigned char)*at); at++) {
    *out = *out * 10 + (size_t)(*at - '0');
    if (*out > UINT32_MAX) return NULL;
  }
  return at;
}

/* Binary PGM ("P5") with 8 or 16 bits, as the netpbm manual describes it. Reals get 0 to 1, integers the grey value. */
static int fill_pgm(const filling *f, const char *path, clt_error *error) {
  const clt_array *array = f->array;
  char *bytes = NULL;
  size_t n, header[3], raster_bytes = 0; /* width, height, largest value */
  if (array->element.components != 1)
    return clt_fail(error, CLT_E_FORMAT, "'%s' is grey; argument '%s' has %d components", path, array->name,
                    array->element.components);
  int rc = clt_file_read(&bytes, &n, path, CLT_MAX_DATA_BYTES, error);
  if (rc) return rc;
  const char *end = bytes + n, *at = n >= 3 && bytes[0] == 'P' && bytes[1] == '5' ? bytes + 2 : NULL;
  for (int i = 0; at && i < 3; i++) at = header_number(at, end, &header[i]);
  bool fits = at && at < end && isspace((unsigned char)*at) && header[2] >= 1 && header[2] <= 65535 &&
              clt_size_multiply(&raster_bytes, header[0], header[1]) &&
              clt_size_multiply(&raster_bytes, raster_bytes, header[2] > 255 ? 2 : 1) &&
              raster_bytes <= (size_t)(end - at - 1);
  if (!fits) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' is no complete binary PGM file (P5)", path);
  } else if (header[0] != array->extent[0] || header[1] != array->extent[1] || array->extent[2] != 1) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' is %zu x %zu; argument '%s' is %zu x %zu x %zu", path, header[0],
                  header[1], array->name, array->extent[0], array->extent[1], array->extent[2]);
  } else {
    const unsigned char *raster = (const unsigned char *)at + 1;
    for (size_t i = 0; i < f->n_elements; i++) {
      unsigned grey = header[2] > 255 ? raster[2 * i] * 256u + raster[2 * i + 1] : raster[i];
      store_at(f, i, f->is_real ? (double)grey / (double)header[2] : grey);
    }
  }
  free(bytes);
  return rc;
}

int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_module_call *call, clt_error *error) {
  clt_element_base base = array->element.base;
  size_t step = clt_element_base_bytes(base);
  const filling f = {.array = array,
                     .base = base,
                     .data = data,
                     .step = step,
                     .n_stored = array->element.bytes / step,
                     .n_elements = array->bytes / array->element.bytes,
                     .is_real = base >= CLT_ELEMENT_HALF,
                     .top = base >= CLT_ELEMENT_HALF     ? 1
                            : base == CLT_ELEMENT_CHAR   ? INT8_MAX
                            : base == CLT_ELEMENT_SHORT  ? INT16_MAX
                            : base == CLT_ELEMENT_USHORT ? UINT16_MAX
                                                         : UINT8_MAX};
  clt_calculation c = {instance, NULL, error, CLT_OK};
  clt_value value = {.type = CLT_INT};
  double bound = f.top;
  clt_rng rng; /* seeds differ by array, so that two random inputs are not the same */
  clt_rng_init(&rng, call->seed ^ clt_hash64(array->name, strlen(array->name)) ^ ((uint64_t)fill->seed << 32));
  switch (fill->kind) {
    case CLT_FILL_NONE:
    case CLT_FILL_REPETITION: return CLT_OK;
    case CLT_FILL_CONSTANT:
    case CLT_FILL_FORMULA:
      if (fill->kind == CLT_FILL_CONSTANT && fill->value != CLT_NO_EXPRESSION) value = clt_evaluate(&c, fill->value);
      for (size_t i = 0; i < f.n_elements && c.rc == CLT_OK && value.type != CLT_STRING; i++) {
        const clt_value index = {.type = CLT_INT, .integer = (int64_t)i};
        c.slots = &index;
        if (fill->kind == CLT_FILL_FORMULA) value = clt_evaluate(&c, fill->value);
        for (size_t k = 0; k < f.n_stored; k++) clt_store_value(f.data + (i * f.n_stored + k) * step, base, value);
      }
      break;
    case CLT_FILL_RANDOM:
      if (fill->value != CLT_NO_EXPRESSION) bound = clt_evaluate_number(&c, fill->value);
      if (c.rc == CLT_OK) fill_uniform(&f, &rng, bound);
      break;
    case CLT_FILL_BUILT_IN:
      if (strcmp(fill->function, "ramp") == 0) /* 0, 1, 2 ... in integers (wrapping around), 0 to 1 in reals */
        for (size_t i = 0; i < f.n_elements * f.n_stored; i++) {
          double at = (double)(i / f.n_stored);
          store_at(&f, i, f.is_real ? at / (double)f.n_elements : step < 4 ? fmod(at, f.top + 1) : at);
        }
      else if (strcmp(fill->function, "noise") == 0)
        fill_uniform(&f, &rng, f.top);
      else
        fill_picture(&f, &rng);
      break;
    case CLT_FILL_MODULE: {
      clt_module_function function;
      int rc = clt_module_find_function(&function, fill->module, fill->function, error);
      if (rc == CLT_OK && function(call) != 0)
        rc = clt_fail(error, CLT_E_IO,
                      "the generator '%s' of '%s' failed to fill argument '%s': it may not support these problem sizes",
                      fill->function, fill->module, array->name);
      return rc;
    }
    case CLT_FILL_RAW: return fill_raw(&f, fill->file, error);
    case CLT_FILL_PGM: return fill_pgm(&f, fill->file, error);
  }
  if (value.type == CLT_STRING)
    return clt_fail(error, CLT_E_EXPRESSION, "argument '%s' cannot be filled with a text", array->name);
  return c.rc;
}
