/* stereo.c - the pair of images, the reference and the judge of the problem `stereo` (see stereo.json). */
#include <clatune/module.h>
#include <limits.h>
#include <stdlib.h>

#include "pattern.h"
#include "stereo.h"

/* ---- the scene: a texture on slanted ground with boxes standing before it ---- */

enum { BOX_CELL = 96 };

/* A box stands in a third of a grid's cells; nearer things have larger disparities. */
int stereo_true_disparity(int x, int y, int disparities, uint64_t seed) {
  const int ground = disparities / 8 + (int)(pattern_noise(x, y, 211, seed + 5) * (float)disparities / 3.0f);
  const uint32_t box = pattern_hash((uint32_t)(x / BOX_CELL), (uint32_t)(y / BOX_CELL), seed + 6);
  const int inset = 8 + (int)(box >> 8 & 15), dx = x % BOX_CELL, dy = y % BOX_CELL;
  const int in_box = dx >= inset && dx < BOX_CELL - inset && dy >= inset && dy < BOX_CELL - inset;
  if (box % 3 || !in_box) return ground;
  const int front = ground + 1 + (int)((box >> 16) % (uint32_t)(disparities / 2 + 1));
  return front < disparities ? front : disparities - 1;
}

/* The surface's brightness at a place of the right image, whose columns may go below 0. */
static float texture(int x, int y, uint64_t seed) {
  x += 4096;
  return 60.0f * pattern_noise(x, y, 31, seed) + 70.0f * pattern_noise(x, y, 7, seed + 1) +
         90.0f * pattern_noise(x, y, 3, seed + 2);
}

/* Generator: the argument named "left" or "right". The left image at x shows what the right one shows at
 * x - disparity; each camera has noise of its own. */
int stereo_view(const clt_module_call *call) {
  const int width = (int)call->target->extent[0], height = (int)call->target->extent[1];
  const int disparities = (int)clt_module_value(call, "disparities", 32);
  const int left = strcmp(call->target->name, "left") == 0;
  unsigned char *image = call->target->data;
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const int shift = left ? stereo_true_disparity(x, y, disparities, call->seed) : 0;
      const float noise = 6.0f * pattern_unit((uint32_t)x, (uint32_t)y, call->seed + (left ? 3 : 4));
      image[(size_t)y * (size_t)width + (size_t)x] = (unsigned char)(16.0f + texture(x - shift, y, call->seed) + noise);
    }
  return 0;
}

/* ---- the reference: sums over windows, grown row by row from running sums, not window by window ---- */

typedef struct matcher {
  const unsigned char *left, *right;
  int width, height, disparities, radius;
} matcher;

static int clamp_index(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* Absolute differences of row y at shift d for columns -radius .. width-1+radius, added to or taken off `columns`. */
static void add_row(int *columns, const matcher *m, int y, int d, int sign) {
  const unsigned char *left = m->left + (size_t)clamp_index(y, m->height) * (size_t)m->width;
  const unsigned char *right = m->right + (size_t)clamp_index(y, m->height) * (size_t)m->width;
  for (int x = -m->radius; x < m->width + m->radius; x++)
    columns[x + m->radius] += sign * abs(left[clamp_index(x, m->width)] - right[clamp_index(x - d, m->width)]);
}

static void match_row(unsigned char *best, int *least, const int *columns, const matcher *m, int d) {
  int sum = 0;
  for (int i = 0; i < 2 * m->radius; i++) sum += columns[i];
  for (int x = 0; x < m->width; x++) {
    sum += columns[x + 2 * m->radius];
    if (sum < least[x]) {
      least[x] = sum;
      best[x] = (unsigned char)d;
    }
    sum -= columns[x];
  }
}

/* Rows first .. end-1: for each shift the columns' sums move down with the window. */
static int match_band(unsigned char *disparity, const matcher *m, int first, int end) {
  const size_t columns_bytes = (size_t)(m->width + 2 * m->radius) * sizeof(int);
  const size_t pixels = (size_t)m->width * (size_t)(end - first);
  int *columns = malloc(columns_bytes), *least = malloc(pixels * sizeof *least);
  if (columns && least) {
    for (size_t i = 0; i < pixels; i++) least[i] = INT_MAX;
    for (int d = 0; d < m->disparities; d++) {
      memset(columns, 0, columns_bytes);
      for (int y = first - m->radius; y < first + m->radius; y++) add_row(columns, m, y, d, 1);
      for (int y = first; y < end; y++) {
        const size_t row = (size_t)(y - first) * (size_t)m->width;
        add_row(columns, m, y + m->radius, d, 1);
        match_row(disparity + row + (size_t)first * (size_t)m->width, least + row, columns, m, d);
        add_row(columns, m, y - m->radius, d, -1);
      }
    }
  }
  const int failed = !columns || !least;
  free(columns);
  free(least);
  return failed;
}

/* Reference: of each left pixel the shift of the least sum of absolute differences, the smallest of equals. */
int block_matching(const clt_module_call *call) {
  const clt_module_array *left = clt_module_find(call, "left"), *right = clt_module_find(call, "right");
  const clt_module_array *result = clt_module_find(call, "disparity");
  if (!left || !right || !result) return -1;
  const matcher m = {left->data,
                     right->data,
                     (int)left->extent[0],
                     (int)left->extent[1],
                     (int)clt_module_value(call, "disparities", 32),
                     (int)clt_module_value(call, "window_radius", 3)};
  enum { BAND = 64 };
  int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(| : failed)
  for (int y = 0; y < m.height; y += BAND)
    failed |= match_band(result->data, &m, y, y + BAND < m.height ? y + BAND : m.height);
  return failed ? -1 : 0;
}

/* ---- the judge ---- */

int stereo_disparity_error(const unsigned char *disparity, int width, int height, int disparities, uint64_t seed,
                           double *mean_pixels, double *wrong_share) {
  double sum = 0.0;
  size_t wrong = 0, judged = 0;
  for (int y = 0; y < height; y++)
    for (int x = disparities; x < width; x++, judged++) {
      const int off =
          abs(disparity[(size_t)y * (size_t)width + (size_t)x] - stereo_true_disparity(x, y, disparities, seed));
      sum += off;
      wrong += off > 1;
    }
  if (judged == 0) return -1;
  *mean_pixels = sum / (double)judged;
  *wrong_share = (double)wrong / (double)judged;
  return 0;
}
