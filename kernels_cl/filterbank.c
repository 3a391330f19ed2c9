/* filterbank.c - input and reference of the problem `filterbank` (see filterbank.json). */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

#include "pattern.h"

/* Generator: an image of `depth` planes (x fastest: depth, column, row) around 0: each has shades of another scale, and
 * grain. */
int filterbank_image(const clt_module_call *call) {
  const int depth = (int)call->target->extent[0], width = (int)call->target->extent[1];
  const int height = (int)call->target->extent[2];
  float *image = call->target->data;
#pragma omp parallel for schedule(static)
  for (int r = 0; r < height; r++)
    for (int c = 0; c < width; c++)
      for (int d = 0; d < depth; d++) {
        const float shade = pattern_noise(c, r, 3 + d % 29, call->seed + 2 * (uint64_t)d);
        const float grain = pattern_unit((uint32_t)(c * depth + d), (uint32_t)r, call->seed + 1);
        image[((size_t)r * (size_t)width + (size_t)c) * (size_t)depth + (size_t)d] = 0.7f * shade + 0.3f * grain - 0.5f;
      }
  return 0;
}

/* Generator: filters of noise around 0 (x fastest: filter, depth, place in the filter), of a norm that does not depend
 * on their size. */
int filterbank_filters(const clt_module_call *call) {
  const size_t *extent = call->target->extent;
  const float scale = 2.0f / sqrtf((float)extent[1] * (float)extent[2]);
  float *filters = call->target->data;
  for (size_t i = 0; i < extent[0] * extent[1] * extent[2]; i++)
    filters[i] = scale * (pattern_unit((uint32_t)i, (uint32_t)(i >> 32), call->seed + 3) - 0.5f);
  return 0;
}

typedef struct bank {
  const float *image, *filters;
  size_t depth, width, n_filters, filter_height, filter_width;
} bank;

/* All filters at one place of the image. */
static void correlate_at(const bank *b, double *sums, float *out, size_t r, size_t c) {
  const size_t run = b->filter_width * b->depth; /* a row of a filter, and of the image below it */
  for (size_t k = 0; k < b->n_filters; k++) sums[k] = 0.0;
  for (size_t h = 0; h < b->filter_height; h++) {
    const float *x = b->image + ((r + h) * b->width + c) * b->depth, *f = b->filters + h * run * b->n_filters;
    for (size_t i = 0; i < run; i++, f += b->n_filters)
      for (size_t k = 0; k < b->n_filters; k++) sums[k] += (double)x[i] * (double)f[k];
  }
  for (size_t k = 0; k < b->n_filters; k++) out[k] = (float)sums[k];
}

/* Reference: the filters' correlations with the image wherever they lie in it as a whole (x fastest: filter, column,
 * row). */
int filterbank_correlate(const clt_module_call *call) {
  const clt_module_array *input = clt_module_find(call, "input"), *filters = clt_module_find(call, "filters");
  const clt_module_array *output = clt_module_find(call, "output");
  if (!input || !filters || !output) return -1;
  const size_t columns = output->extent[1];
  const int rows = (int)output->extent[2];
  const bank b = {.image = input->data,
                  .filters = filters->data,
                  .depth = input->extent[0],
                  .width = input->extent[1],
                  .n_filters = filters->extent[0],
                  .filter_height = input->extent[2] - output->extent[2] + 1,
                  .filter_width = input->extent[1] - columns + 1};
  float *result = output->data;
  int failed = 0;
#pragma omp parallel for schedule(static) reduction(| : failed)
  for (int r = 0; r < rows; r++) {
    double *sums = malloc(b.n_filters * sizeof *sums);
    for (size_t c = 0; sums && c < columns; c++)
      correlate_at(&b, sums, result + ((size_t)r * columns + c) * b.n_filters, (size_t)r, c);
    failed |= !sums;
    free(sums);
  }
  return failed ? -1 : 0;
}
