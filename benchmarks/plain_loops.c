#include "plain_loops.h"

#include <stdlib.h>
#include <string.h>

void plain_box_5x5(float *restrict out, const float *restrict image, int width, int height) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      float sum = 0.0f;
      for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++) sum += image[(long)(y + dy) * (width + 4) + x + dx];
      out[(long)y * width + x] = sum * (1.0f / 25);
    }
}

/* Narrows the steps first .. end-1 of a ray to those at which one coordinate is inside of the volume. */
static void clip(long *first, long *end, long start, long step, long size) {
  if (step == 0) {
    if (start < 0 || start >= size) *end = 0;
    return;
  }
  const long enter = step > 0 ? (-start + step - 1) / step : (start - size - step) / -step;
  const long leave = step > 0 ? (size - start + step - 1) / step : (start - step) / -step;
  if (enter > *first) *first = enter;
  if (leave < *end) *end = leave;
}

static void cast(float colour[4], const unsigned char *volume, const float (*transfer)[4], const int32_t (*camera)[4],
                 int x, int y, int size) {
  long first = 0, end = 2L * size;
  int32_t at[3];
  float sum[4] = {0}, through = 1.0f;
  for (int d = 0; d < 3; d++) {
    at[d] = camera[0][d] + x * camera[1][d] + y * camera[2][d];
    clip(&first, &end, at[d], camera[3][d], (long)size << 16);
  }
  for (int d = 0; d < 3; d++) at[d] += (int32_t)first * camera[3][d];
  for (; first < end && through > 1.0f / 4096; first++) {
    const float *sample = transfer[volume[((long)(at[2] >> 16) * size + (at[1] >> 16)) * size + (at[0] >> 16)]];
    for (int c = 0; c < 4; c++) sum[c] += through * sample[c];
    through *= 1.0f - sample[3];
    for (int d = 0; d < 3; d++) at[d] += camera[3][d];
  }
  memcpy(colour, sum, sizeof sum);
}

void plain_raycasting(float (*restrict picture)[4], const unsigned char *volume, const float (*transfer)[4],
                      const int32_t (*camera)[4], int width, int height, int size) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) cast(picture[(long)y * width + x], volume, transfer, camera, x, y, size);
}

/* Sums of one row at one shift: the inner loop runs over pixels, so that a compiler can vectorise it. */
static void sum_row(uint16_t *restrict sums, const unsigned char *left, const unsigned char *right, int width,
                    int left_pitch, int right_pitch, int window) {
  memset(sums, 0, (size_t)width * sizeof *sums);
  for (int dy = 0; dy < window; dy++)
    for (int dx = 0; dx < window; dx++) {
      const unsigned char *a = left + (long)dy * left_pitch + dx, *b = right + (long)dy * right_pitch + dx;
      for (int x = 0; x < width; x++) sums[x] = (uint16_t)(sums[x] + (a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]));
    }
}

static void keep_least(unsigned char *restrict best, uint16_t *restrict least, const uint16_t *restrict sums, int width,
                       int d) {
  for (int x = 0; x < width; x++) {
    best[x] = sums[x] < least[x] ? (unsigned char)d : best[x];
    least[x] = sums[x] < least[x] ? sums[x] : least[x];
  }
}

int plain_stereo(unsigned char *restrict disparity, const unsigned char *left, const unsigned char *right, int width,
                 int height, int disparities, int radius) {
  const int left_pitch = width + 2 * radius, right_pitch = width + 2 * (radius + disparities - 1);
  int failed = 0;
#pragma omp parallel for schedule(static) reduction(| : failed)
  for (int y = 0; y < height; y++) {
    uint16_t *sums = malloc(2 * (size_t)width * sizeof *sums), *least = sums ? sums + width : NULL;
    if (sums) memset(least, 0xff, (size_t)width * sizeof *least);
    for (int d = 0; sums && d < disparities; d++) {
      sum_row(sums, left + (long)y * left_pitch, right + (long)y * right_pitch + disparities - 1 - d, width, left_pitch,
              right_pitch, 2 * radius + 1);
      keep_least(disparity + (long)y * width, least, sums, width, d);
    }
    failed |= !sums;
    free(sums);
  }
  return failed ? -1 : 0;
}

void plain_filterbank(float *restrict out, const float *restrict image, const float *restrict filters, int height,
                      int width, int depth, int n_filters, int filter_height, int filter_width) {
  const int rows = height - filter_height + 1, columns = width - filter_width + 1, run = filter_width * depth;
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      float *sums = out + ((long)r * columns + c) * n_filters;
      for (int k = 0; k < n_filters; k++) sums[k] = 0.0f;
      for (int h = 0; h < filter_height; h++)
        for (int i = 0; i < run; i++) {
          const float x = image[((long)(r + h) * width + c) * depth + i];
          const float *f = filters + ((long)h * run + i) * n_filters;
          for (int k = 0; k < n_filters; k++) sums[k] += x * f[k];
        }
    }
}
