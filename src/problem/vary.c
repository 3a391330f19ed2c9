/* Inputs other than the file's own, for the checks of a winner: values that the problem's description allows and on
 * which kernels that are correct by chance give another result (docs/explanation/trust.md, "The check plan"). */
#include "base/base.h"
#include "base/hash.h"
#include "problem/instance.h"

#define NUDGED_SHARE 5     /* CLT_INPUTS_NUDGED changes one element of so many */
#define BACKGROUND 0x1p-12 /* sum of a background, relative to a spike: far below every tolerance */
#define SPREAD 1e3         /* magnitudes above the declared bound in CLT_INPUTS_RANGE */
#define SPECIAL_SHARE 97   /* one element of so many is special, and the last one */
#define EXTREME_SHARE 8    /* one integer of so many is an end of the type's range, 0 or -1 */
#define MOST_SPIKES 64
#define SMALL 64 /* arrays of at most so many elements consist of spikes */

/* An array as single numbers, components of vectors one after the other. */
typedef struct numbers {
  const clt_array *array;
  clt_element_base base;
  unsigned char *data;
  size_t width, n, n_stored; /* bytes of a number; numbers; numbers of an element */
  bool is_real, is_signed;
  double bound; /* of the declared range, which begins at 0; for content that is not drawn, the largest magnitude */
} numbers;

static double get(const numbers *x, size_t i) { return clt_load_number(x->data + i * x->width, x->base); }
static void set(const numbers *x, size_t i, double value) { clt_store_number(x->data + i * x->width, x->base, value); }

/* --- drawn content: the fills "Random", "noise" and "image" --- */

/* Values that inputs may contain but typical ones do not: negative numbers, both signs, zeros, both ends of the range,
 * denormals, and a mixture. Each kind fills an eighth of the array, so that whole rows are of one kind. Integers stay
 * between 0 and the bound. */
static void draw_ends(const numbers *x, clt_rng *rng) {
  static const double denormals[] = {0x1p-20, 0x1p-140, 0x1p-1060}, ends[] = {1 - 0x1p-11, 1 - 0x1p-24, 1 - 0x1p-53};
  enum { NEGATIVE, NEGATIVE_TOO, SIGNED, SIGNED_TOO, ZERO, END, DENORMAL, MIXED };
  const size_t share = (x->n + 7) / 8, type = x->is_real ? (size_t)(x->base - CLT_ELEMENT_HALF) : 0;
  for (size_t i = 0; i < x->n; i++) {
    const double unit = clt_rng_unit(rng), sign = clt_rng_below(rng, 2) ? 1 : -1;
    const size_t drawn = clt_rng_below(rng, MIXED), kind = i / share < MIXED ? i / share : drawn;
    if (!x->is_real)
      set(x, i, kind == ZERO ? 0 : kind == END ? floor(x->bound) : floor(unit * (x->bound + 1)));
    else
      set(x, i,
          kind <= NEGATIVE_TOO ? -unit * x->bound
          : kind <= SIGNED_TOO ? sign * unit * x->bound
          : kind == ZERO       ? 0
          : kind == END        ? sign * x->bound * ends[type]
                               : sign * denormals[type]);
  }
}

/* Integers over the whole range of their type; reals up to SPREAD times the bound, of all magnitudes. In the first
 * eighth of an array all reals are large and negative, in the second large and positive: rows without an ordinary
 * number. */
static void draw_whole_range(const numbers *x, clt_rng *rng) {
  for (size_t i = 0; i < x->n; i++) {
    const uint64_t bits = clt_rng_next(rng);
    const double unit = clt_rng_unit(rng);
    if (x->is_real) {
      const size_t eighth = x->base == CLT_ELEMENT_HALF ? 2 : 8 * i / x->n; /* sums of half overflow soon */
      const bool negative = eighth == 0 || (eighth > 1 && bits & 1);
      set(x, i, (negative ? -1 : 1) * x->bound * SPREAD * pow(10, -(eighth > 1 ? 4 : 1) * unit));
      continue;
    }
    const uint64_t sign_bit = (uint64_t)1 << (8 * x->width - 1), ends[] = {sign_bit, sign_bit - 1, 0, UINT64_MAX};
    const uint64_t value = bits % EXTREME_SHARE ? clt_rng_next(rng) : ends[bits / EXTREME_SHARE % 4];
    memcpy(x->data + i * x->width, &value, x->width);
  }
}

static void draw_signed(const numbers *x, clt_rng *rng) {
  const double bound = floor(x->bound);
  for (size_t i = 0; i < x->n; i++) set(x, i, floor(clt_rng_unit(rng) * (2 * bound + 1)) - bound);
}

/* The elements that get a spike, at most MOST_SPIKES: where tiles, rows and the array begin and end, and random ones.
 */
static size_t choose_spikes(size_t out[MOST_SPIKES], const numbers *x, clt_rng *rng) {
  const size_t *extent = x->array->extent, row = extent[0], plane = row * extent[1], n = x->n / x->n_stored;
  const size_t places[] = {0,     n - 1, n / 2, row - 1,   n - row,   plane - 1, n - plane,
                           n / 3, n / 4, n - 2, n / 2 - 1, n / 2 + 1, row,       plane,
                           15,    16,    31,    32,        63,        64,        127,
                           128,   255,   256,   1023,      1024,      row / 2,   n - 1 - row / 2,
                           1,     2,     7,     8};
  size_t n_out = 0, first = n / 2 / (row + 1) * (row + 1); /* near the middle of a diagonal */
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    bool there = places[i] >= n;
    for (size_t k = 0; k < n_out; k++) there = there || out[k] == places[i];
    if (!there) out[n_out++] = places[i];
  }
  out[n_out++] = first < n ? first : 0;
  while (n_out < MOST_SPIKES) out[n_out++] = clt_rng_below(rng, n);
  return n_out;
}

/* A tiny background with spikes, of which the one of this variant dominates every sum and every maximum. Even variants:
 * spikes near the bound. Odd variants: the background is near the bound, and the spikes are near 0, for minima. */
static void draw_spikes(const numbers *x, unsigned variant, clt_rng *rng) {
  const size_t n = x->n / x->n_stored;
  const bool inverted = variant % 2, small = n <= SMALL;
  size_t places[MOST_SPIKES], n_places = choose_spikes(places, x, rng);
  const double top = x->is_real ? x->bound : floor(x->bound);
  for (size_t i = 0; i < x->n; i++) {
    const double little = top * BACKGROUND / (double)n * clt_rng_unit(rng),
                 value = inverted ? top - little * (double)n : little;
    set(x, i, x->is_real ? value : inverted ? top : 0);
  }
  if (small)
    for (n_places = 0; n_places < n; n_places++) places[n_places] = n_places;
  for (size_t k = n_places; k-- > 0;) {
    const bool dominates = k == variant / 2 % n_places;
    for (size_t c = 0; c < x->n_stored; c++) {
      const double size = dominates ? 1 : 0.25 + 0.5 * clt_rng_unit(rng), value = top * (inverted ? 1 - size : size);
      set(x, places[k] * x->n_stored + c, x->is_real ? value : ceil(value));
    }
  }
  /* The dominating one again, as a later one may be at the same place. */
  const size_t at = places[variant / 2 % n_places] * x->n_stored;
  for (size_t c = 0; c < x->n_stored; c++) set(x, at + c, inverted ? 0 : top);
}

/* --- content that the file states: constants, formulas, data files --- */

typedef struct nature {
  double least, most;
  bool constant, sorted, distinct, finite;
} nature;

/* The properties of the array's content that must be kept. CLT_E_MEMORY. */
static int find_nature(nature *out, const numbers *x) {
  double *values = clt_new_array(x->n, sizeof *values);
  if (values == NULL) return CLT_E_MEMORY;
  *out = (nature){INFINITY, -INFINITY, true, true, true, true};
  for (size_t i = 0; i < x->n; i++) {
    values[i] = get(x, i);
    out->constant = out->constant && values[i] == values[0];
    out->finite = out->finite && isfinite(values[i]);
    out->sorted = out->sorted && (i == 0 || values[i] >= values[i - 1]);
    out->least = fmin(out->least, values[i]);
    out->most = fmax(out->most, values[i]);
  }
  if (!x->is_real) qsort(values, x->n, sizeof *values, clt_by_number);
  for (size_t i = 1; i < x->n; i++) out->distinct = out->distinct && values[i] != values[i - 1];
  free(values);
  return CLT_OK;
}

static void vary_constant(const numbers *x, double value, clt_rng *rng) {
  for (size_t i = 0; i < x->n; i++) {
    const double unit = clt_rng_unit(rng);
    if (x->is_real)
      set(x, i, value != 0 ? value * (0.5 + unit) : 2 * unit - 1);
    else
      set(x, i, value != 0 ? floor(value - fabs(value) / 2) + floor(unit * (fabs(value) + 1)) : floor(4 * unit));
  }
}

/* Other content of the same nature. Real numbers are mixtures of two of the array's own, integers are drawn from its
 * own. What is sorted stays sorted, with the same ends. Integers that are all different may say where to write: the
 * numbers from 0 on are shuffled. */
static int resample(const numbers *x, const nature *is, clt_rng *rng) {
  if (is->constant || x->n < 2) {
    vary_constant(x, get(x, 0), rng);
    return CLT_OK;
  }
  const bool identity = is->distinct && is->sorted && is->least == 0 && is->most == (double)(x->n - 1);
  /* Others may belong together, such as a permutation and its inverse. */
  if (!x->is_real && is->distinct && !is->sorted) return CLT_OK;
  if (identity && !x->is_real) {
    for (size_t i = x->n; i-- > 1;) {
      const size_t k = clt_rng_below(rng, i + 1);
      const double here = get(x, i);
      set(x, i, get(x, k));
      set(x, k, here);
    }
    return CLT_OK;
  }
  double *values = clt_new_array(x->n, sizeof *values);
  if (values == NULL) return CLT_E_MEMORY;
  for (size_t i = 0; i < x->n; i++) {
    const double a = get(x, clt_rng_below(rng, x->n)), b = get(x, clt_rng_below(rng, x->n)), share = clt_rng_unit(rng);
    values[i] = x->is_real && isfinite(a - b) ? a + share * (b - a) : a;
  }
  if (is->sorted) {
    qsort(values, x->n, sizeof *values, clt_by_number);
    values[0] = is->least;
    values[x->n - 1] = is->most;
  }
  for (size_t i = 0; i < x->n; i++) set(x, i, values[i]);
  free(values);
  return CLT_OK;
}

/* One integer of four is any of the type. */
static void mix_whole_range(const numbers *x, clt_rng *rng) {
  for (size_t i = 0; i < x->n; i++) {
    const uint64_t value = clt_rng_next(rng);
    if (clt_rng_below(rng, 4) == 0) memcpy(x->data + i * x->width, &value, x->width);
  }
}

/* Numbers of both signs as large as the array's own. */
static void mix_signs(const numbers *x, double most, clt_rng *rng) {
  for (size_t i = 0; i < x->n; i++) {
    const double value = (2 * clt_rng_unit(rng) - 1) * most;
    set(x, i, x->is_real ? value : trunc(value));
  }
}

/* CLT_INPUTS_RANGE for content that the file states. */
static int widen_stated(const numbers *x, const nature *is, unsigned variant, clt_rng *rng) {
  if (x->is_real && is->sorted && !is->constant) return resample(x, is, rng);
  if (x->is_real) {
    mix_signs(x, x->bound, rng);
    return CLT_OK;
  }
  if (is->constant) {
    vary_constant(x, get(x, 0), rng);
    return CLT_OK;
  }
  if (is->sorted || is->distinct || variant == CLT_RANGE_ENDS) return resample(x, is, rng);
  if (variant == CLT_RANGE_TYPE) {
    if (resample(x, is, rng)) return CLT_E_MEMORY;
    mix_whole_range(x, rng);
  } else if (x->is_signed) {
    mix_signs(x, x->bound, rng);
  }
  return CLT_OK;
}

/* --- both --- */

/* Changes some elements towards the upper end, but none where a kernel would look for a change: at the beginning, in
 * the middle, at the end, and where tiles begin. So whatever it remembers no longer fits, and sums change. */
static void nudge(const numbers *x, const nature *is, bool drawn, clt_rng *rng) {
  const size_t n = x->n / x->n_stored;
  const double most = drawn ? x->bound : is->most;
  for (size_t i = 1; i + 1 < n; i++) {
    if (clt_rng_below(rng, NUDGED_SHARE) || i % 16 == 0 || i == n / 2) continue;
    for (size_t c = 0; c < x->n_stored; c++) {
      const size_t at = i * x->n_stored + c;
      const double here = get(x, at);
      double value = isfinite(here) ? here + 0.5 * (most - here) : here;
      if (is->constant && !drawn) value = here != 0 ? 1.5 * here : 1;
      if (!x->is_real) value = drawn ? ceil(value) : get(x, clt_rng_below(rng, x->n));
      set(x, at, value);
    }
  }
}

/* The middle along each dimension. Of rows in one dimension, the middle is where a row begins, which stencils leave
 * out: so further on. */
static size_t middle_of(const numbers *x) {
  const size_t *e = x->array->extent, n = x->n / x->n_stored,
               middle = e[1] * e[2] > 1 ? e[0] / 2 + e[0] * (e[1] / 2 + e[1] * (e[2] / 2))
                                        : n / 2 + (size_t)(0.29 * sqrt((double)n));
  return middle < n ? middle * x->n_stored : 0;
}

/* Sets one element to 0, the last or one in the middle that is not 0 already. */
static void omit(const numbers *x, unsigned variant) {
  size_t i = variant ? middle_of(x) : x->n - 1;
  while (i > 0 && get(x, i) == 0) i--;
  set(x, i, 0);
}

/* Variants: NaN; infinities; and zeros of both signs with many equal numbers. */
static void add_special(const numbers *x, unsigned variant, bool mild, clt_rng *rng) {
  for (size_t i = 0; i < x->n; i++) {
    const bool chosen = clt_rng_below(rng, SPECIAL_SHARE) == 0 || i == x->n - 1;
    const uint64_t which = clt_rng_below(rng, 4);
    if (variant == CLT_SPECIAL_TIES)
      set(x, i,
          which == 0   ? 0
          : which == 1 ? (x->is_real && !mild ? -0.0 : 0)
          : which == 2 ? x->bound
                       : floor(x->bound / 2));
    else if (chosen && x->is_real)
      set(x, i, variant == CLT_SPECIAL_NAN ? NAN : which % 2 ? INFINITY : -INFINITY);
  }
}

int clt_vary_array(const clt_array *array, void *data, const clt_recipe *recipe, bool drawn, double bound, bool mild,
                   clt_rng *rng) {
  const clt_element_base base = array->element.base;
  const size_t width = clt_element_base_bytes(base);
  numbers x = {array,
               base,
               data,
               width,
               array->bytes / width,
               array->element.bytes / width,
               .is_real = base >= CLT_ELEMENT_HALF,
               .is_signed = base < CLT_ELEMENT_HALF && base % 2 == 0,
               .bound = bound};
  nature is = {.finite = true};
  clt_inputs inputs = recipe->inputs;
  if (x.n == 0) return CLT_OK;
  const bool ties = inputs == CLT_INPUTS_SPECIAL && recipe->variant == CLT_SPECIAL_TIES;
  if (mild && (inputs == CLT_INPUTS_RANGE || (inputs == CLT_INPUTS_SPECIAL && !ties))) inputs = CLT_INPUTS_OTHER;
  if (!drawn) {
    if (find_nature(&is, &x)) return CLT_E_MEMORY;
    x.bound = fmax(fabs(is.least), fabs(is.most));
    if (x.bound == 0 || !is.finite) x.bound = 1;
  }
  /* Integers that are stated may say where to read and write: they keep to the values that are there. */
  const bool is_free = drawn || (x.is_real && !is.sorted);
  switch (inputs) {
    case CLT_INPUTS_OWN: break;
    case CLT_INPUTS_OTHER:
      if (!drawn) return resample(&x, &is, rng);
      break; /* drawn from another seed */
    case CLT_INPUTS_NUDGED:
      if (drawn || !is.sorted || is.constant) nudge(&x, &is, drawn, rng);
      break;
    case CLT_INPUTS_SPIKES:
      if (!is_free && !(is.constant && x.is_real)) return resample(&x, &is, rng);
      draw_spikes(&x, recipe->variant, rng);
      break;
    case CLT_INPUTS_RANGE:
      if (!drawn) return widen_stated(&x, &is, recipe->variant, rng);
      if (recipe->variant == CLT_RANGE_TYPE)
        draw_whole_range(&x, rng);
      else if (recipe->variant == CLT_RANGE_SIGNED && x.is_signed)
        draw_signed(&x, rng);
      else
        draw_ends(&x, rng);
      break;
    case CLT_INPUTS_OMITTED: omit(&x, recipe->variant); break;
    case CLT_INPUTS_SPECIAL:
      if (!drawn && resample(&x, &is, rng)) return CLT_E_MEMORY;
      if (is_free) add_special(&x, recipe->variant, mild, rng);
      break;
  }
  return CLT_OK;
}

void clt_shake_array(const clt_array *array, void *data) {
  static const double units[] = {0x1p-10, 0x1p-23, 0x1p-52}; /* half, float, double */
  const clt_element_base base = array->element.base;
  const size_t width = clt_element_base_bytes(base), n = array->bytes / width;
  clt_rng rng;
  clt_rng_init(&rng, n ^ clt_hash64(array->name, strlen(array->name)));
  for (size_t i = 0; base >= CLT_ELEMENT_HALF && i < n; i++) {
    unsigned char *at = (unsigned char *)data + i * width;
    const double value = clt_load_number(at, base);
    if (value == trunc(value)) continue; /* may be an index, a label, or a threshold */
    clt_store_number(at, base, value * (1 - 2 * units[base - CLT_ELEMENT_HALF] * clt_rng_unit(&rng)));
  }
}

double clt_vary_scalar(double value, bool is_real, const clt_recipe *recipe, size_t index, clt_rng *rng) {
  const double unit = clt_rng_unit(rng), further = (double)(index / 2);
  if (recipe->inputs != CLT_INPUTS_OTHER && recipe->inputs != CLT_INPUTS_RANGE) return value;
  if (is_real) return value != 0 ? value * (0.6 + 0.3 * unit) : 0.5 + 0.5 * unit;
  /* Counts and strides: once fewer, once more; those with equal values get different ones. */
  const bool fewer = (recipe->inputs == CLT_INPUTS_OTHER) == (index % 2 == 0);
  if (fewer && value > 1) return fmax(1, ceil(value / 2) + floor(unit * floor(value / 2)) - further);
  return fewer ? value - 1 : value + 1 + further;
}
