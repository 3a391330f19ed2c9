/* convolution.c - input and reference of the problem `convolution` (see convolution.json). */
#include <clatune/module.h>
#include <math.h>

#include "pattern.h"

static int clamp_index(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* A photograph's ingredients, in [0, 1]: slow shading, discs and stripes with sharp edges, fine grain. */
static float pixel_of(int x, int y, uint64_t seed) {
  const float shade = pattern_noise(x, y, 257, seed);
  const int cx = x % 192 - 96, cy = y % 160 - 80;
  const int radius = 24 + (int)(pattern_hash((uint32_t)(x / 192), (uint32_t)(y / 160), seed + 1) % 48);
  const float disc = cx * cx + cy * cy < radius * radius ? 0.35f : 0.0f;
  const float stripe = ((x + 2 * y + (int)(seed % 64)) / 23) % 4 == 0 ? 0.15f : 0.0f;
  const float grain = pattern_unit((uint32_t)x, (uint32_t)y, seed + 2);
  return 0.4f * shade + disc + stripe + 0.1f * grain;
}

/* Generator: the image to be filtered. */
int structured_image(const clt_module_call *call) {
  const int width = (int)call->target->extent[0], height = (int)call->target->extent[1];
  float *image = call->target->data;
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) image[(size_t)y * (size_t)width + (size_t)x] = pixel_of(x, y, call->seed);
  return 0;
}

static float box_mean(const float *image, int width, int height, int radius, int x, int y) {
  double sum = 0.0;
  for (int dy = -radius; dy <= radius; dy++) {
    const float *row = image + (size_t)clamp_index(y + dy, height) * (size_t)width;
    for (int dx = -radius; dx <= radius; dx++) sum += row[clamp_index(x + dx, width)];
  }
  return (float)(sum / ((2 * radius + 1) * (2 * radius + 1)));
}

/* Reference: the mean of the (2 filter_radius + 1)^2 pixels around each, edges repeated. */
int box_filter(const clt_module_call *call) {
  const clt_module_array *input = clt_module_find(call, "input"), *output = clt_module_find(call, "output");
  if (!input || !output) return -1;
  const int width = (int)input->extent[0], height = (int)input->extent[1];
  const int radius = (int)clt_module_value(call, "filter_radius", 2);
  const float *image = input->data;
  float *result = output->data;
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      result[(size_t)y * (size_t)width + (size_t)x] = box_mean(image, width, height, radius, x, y);
  return 0;
}
