/* The content of logical arrays: generated, or read from files. */
#include <ctype.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "problem/instance.h"

#define MOST_HEADER ((size_t)64 << 10) /* bytes of a PGM header, with its comments */

/* The memory of an array as single numbers. */
typedef struct filling {
  const clt_array *array;
  clt_element_base base;
  char *data;
  size_t step;       /* bytes of a component */
  size_t n_stored;   /* stored components of an element: 4 for 3 */
  size_t n_elements; /* of all dimensions */
  bool is_real;
  double top; /* the largest number of generated content: 1 for reals, for integers 255 or the maximum of the type */
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

/* A picture with values from 0 to 1: a shaded background, discs, bars and a little noise. */
static void fill_picture(const filling *f, clt_rng *rng) {
  const size_t *n = f->array->extent;
  const double shift = 6.283185307179586 * clt_rng_unit(rng);
  for (size_t i = 0; i < f->n_elements * f->n_stored; i++) {
    const size_t element = i / f->n_stored, c = i % f->n_stored;
    const double x = (double)(element % n[0]) / (double)n[0], y = (double)(element / n[0] % n[1]) / (double)n[1],
                 z = (double)(element / n[0] / n[1]) / (double)n[2];
    double shade = 0.25 + 0.25 * sin(5 * x + shift) * cos(4 * y + 3 * z + (double)c);
    bool in_disc = hypot(hypot(fmod(3 * x + shift, 1) - 0.5, fmod(3 * y, 1) - 0.5), fmod(2 * z, 1) - 0.25) < 0.3;
    double disc = in_disc ? 0.3 : 0;
    double bar = fmod(11 * (x + y) + shift, 1) < 0.2 ? 0.12 : 0;
    double value = shade + disc + bar + 0.05 * clt_rng_unit(rng);
    store_at(f, i, f->is_real ? value : floor(value * f->top));
  }
}

/* Reads a number of a PGM header, after white space and comments. NULL: the header ends. */
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

/* Reads a binary PGM ("P5", see the netpbm manual) with 8 or 16 bits. Reals get values from 0 to 1, integers the grey
 * value. */
static int fill_pgm(const filling *f, const char *path, clt_error *error) {
  const clt_array *array = f->array;
  size_t n = 2 * f->n_elements + MOST_HEADER, header[3]; /* width, height, largest value */
  if (array->element.components != 1)
    return clt_fail(error, CLT_E_FORMAT, "'%s' is a greyscale image, but argument '%s' has %d components", path,
                    array->name, array->element.components);
  char *bytes = malloc(n);
  int rc = bytes ? clt_file_read_start(bytes, &n, path, error) : clt_fail_memory(error);
  if (rc) n = 0;
  const char *end = bytes + n, *at = n >= 3 && bytes[0] == 'P' && bytes[1] == '5' ? bytes + 2 : NULL;
  for (int i = 0; at && i < 3; i++) at = header_number(at, end, &header[i]);
  if (at && (at == end || !isspace((unsigned char)*at) || header[2] < 1 || header[2] > 65535)) at = NULL;
  if (at && (header[0] != array->extent[0] || header[1] != array->extent[1] || array->extent[2] != 1)) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %zu x %zu pixels, but argument '%s' has %zu x %zu x %zu elements",
                  path, header[0], header[1], array->name, array->extent[0], array->extent[1], array->extent[2]);
  } else if (rc == CLT_OK && (at == NULL || f->n_elements * (header[2] > 255 ? 2 : 1) > (size_t)(end - at - 1))) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' is not a complete binary PGM file (P5)", path);
  } else if (rc == CLT_OK) {
    const unsigned char *raster = (const unsigned char *)at + 1;
    for (size_t i = 0; i < f->n_elements; i++) {
      unsigned grey = header[2] > 255 ? raster[2 * i] * 256u + raster[2 * i + 1] : raster[i];
      store_at(f, i, f->is_real ? (double)grey / (double)header[2] : grey);
    }
  }
  free(bytes);
  return rc;
}

int clt_fill_raw(void *data, size_t bytes, const char *path, const char *argument, clt_error *error) {
  size_t n;
  int rc = clt_file_size(&n, path, error);
  if (rc == CLT_OK && n != bytes)
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' has %zu bytes, but argument '%s' needs %zu", path, n, argument, bytes);
  return rc ? rc : clt_file_read_start(data, &n, path, error);
}

static uint64_t seed_of(const clt_fill *fill, const clt_array *array, uint64_t seed) {
  return seed ^ clt_hash64(array->name, strlen(array->name)) ^ ((uint64_t)fill->seed << 32);
}

/* seed 1: the file's own content. *bound: of drawn content. */
static int fill_own(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                    const clt_module_call *call, uint64_t seed, double *out_bound, clt_error *error) {
  static const double tops[] = {
      [CLT_ELEMENT_CHAR] = INT8_MAX,     [CLT_ELEMENT_UCHAR] = UINT8_MAX, [CLT_ELEMENT_SHORT] = INT16_MAX,
      [CLT_ELEMENT_USHORT] = UINT16_MAX, [CLT_ELEMENT_INT] = UINT8_MAX,   [CLT_ELEMENT_UINT] = UINT8_MAX,
      [CLT_ELEMENT_LONG] = UINT8_MAX,    [CLT_ELEMENT_ULONG] = UINT8_MAX, [CLT_ELEMENT_HALF] = 1,
      [CLT_ELEMENT_FLOAT] = 1,           [CLT_ELEMENT_DOUBLE] = 1};
  clt_element_base base = array->element.base;
  size_t step = clt_element_base_bytes(base);
  const filling f = {.array = array,
                     .base = base,
                     .data = data,
                     .step = step,
                     .n_stored = array->element.bytes / step,
                     .n_elements = array->bytes / array->element.bytes,
                     .is_real = base >= CLT_ELEMENT_HALF,
                     .top = tops[base]};
  clt_calculation c = {instance, NULL, error, CLT_OK};
  clt_value value = {.type = CLT_INT};
  double bound = f.top;
  clt_rng rng; /* the seed depends on the array, so that random inputs differ */
  clt_rng_init(&rng, seed_of(fill, array, seed));
  switch (fill->kind) {
    case CLT_FILL_NONE:
    case CLT_FILL_REPETITION:
    case CLT_FILL_FIELDS: return CLT_OK;
    case CLT_FILL_CONSTANT:
      if (fill->value) clt_evaluate_component(&c, fill->value, f.data, base, f.n_elements * f.n_stored);
      break;
    case CLT_FILL_FORMULA:
      for (size_t i = 0; i < f.n_elements && c.rc == CLT_OK && value.type != CLT_STRING; i++) {
        const clt_value index = {.type = CLT_INT, .integer = (int64_t)i};
        c.slots = &index;
        value = clt_evaluate(&c, fill->value);
        for (size_t k = 0; k < f.n_stored; k++) clt_store_value(f.data + (i * f.n_stored + k) * step, base, value);
      }
      break;
    case CLT_FILL_RANDOM:
      if (fill->value) bound = clt_evaluate_number(&c, fill->value);
      if (c.rc == CLT_OK) fill_uniform(&f, &rng, bound);
      break;
    case CLT_FILL_BUILT_IN:
      if (strcmp(fill->function, "ramp") == 0) /* 0, 1, 2 ... in integers (wrapping around), 0 to 1 in reals */
        for (size_t i = 0; i < f.n_elements * f.n_stored; i++) {
          double at = (double)(i / f.n_stored);
          if (f.is_real) at /= (double)f.n_elements;
          store_at(&f, i, !f.is_real && step < 4 ? fmod(at, f.top + 1) : at);
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
    case CLT_FILL_RAW: return clt_fill_raw(data, array->bytes, fill->file, array->name, error);
    case CLT_FILL_PGM: return fill_pgm(&f, fill->file, error);
  }
  if (value.type == CLT_STRING)
    return clt_fail(error, CLT_E_EXPRESSION, "the \"FillValue\" of argument '%s' must be a number", array->name);
  *out_bound = bound;
  return c.rc;
}

bool clt_fill_is_drawn(const clt_fill *fill) {
  return fill->kind == CLT_FILL_RANDOM || (fill->kind == CLT_FILL_BUILT_IN && strcmp(fill->function, "ramp") != 0);
}

int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_recipe *recipe, const clt_module_call *call, clt_error *error) {
  const bool drawn = clt_fill_is_drawn(fill), stays = fill->stays || !clt_recipe_varies(recipe, array->name);
  const bool nudged = recipe->inputs == CLT_INPUTS_NUDGED || recipe->inputs == CLT_INPUTS_OMITTED;
  clt_module_call own = *call;
  double bound = 1;
  if (stays || nudged || !(drawn || fill->kind == CLT_FILL_MODULE)) own.seed = CLT_OWN_SEED;
  int rc = fill_own(instance, fill, array, data, &own, own.seed, &bound, error);
  /* A generator's output may have a structure, also with other arrays, so it only gets other seeds. */
  const bool of_module = fill->kind == CLT_FILL_MODULE && recipe->inputs != CLT_INPUTS_OMITTED;
  if (rc || stays || of_module || fill->kind == CLT_FILL_NONE) return rc;
  clt_rng rng;
  clt_rng_init(&rng, ~seed_of(fill, array, call->seed));
  rc = clt_vary_array(array, data, recipe, drawn, bound, fill->never_hostile, &rng);
  return rc ? clt_fail_memory(error) : CLT_OK;
}
