/* raycasting.c - volume, transfer function, camera and reference of the problem `raycasting` (see raycasting.json). */
#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

#include "pattern.h"

enum { FRACTION_BITS = 16, TF_ENTRIES = 256, RADII = 4096 };

/* ---- the volume: ellipsoidal shells around a centre a little off the middle ---- */

typedef struct shells {
  double centre[3], squeeze[3]; /* in voxels; 1 / half-axis */
  unsigned char density[RADII]; /* by distance from the centre, 0 .. 2 half-axes */
} shells;

static double jitter(uint32_t which, uint64_t seed) { return (double)pattern_unit(which, 77, seed) - 0.5; }

/* Four shells of different radius, thickness and density in nothing. */
static unsigned char density_at(double radius, uint64_t seed) {
  double density = 0.0;
  for (uint32_t i = 0; i < 4; i++) {
    const double middle = 0.22 + 0.22 * i + 0.06 * jitter(i, seed), thickness = 0.03 + 0.01 * i;
    const double off = (radius - middle) / thickness;
    density += (220.0 - 45.0 * i) * exp(-off * off);
  }
  return (unsigned char)fmin(density, 239.0);
}

static void shells_init(shells *s, int size, uint64_t seed) {
  for (uint32_t d = 0; d < 3; d++) {
    s->centre[d] = size * (0.5 + 0.06 * jitter(10 + d, seed));
    s->squeeze[d] = 2.0 / (size * (0.95 + 0.2 * jitter(20 + d, seed)));
  }
  for (int i = 0; i < RADII; i++) s->density[i] = density_at(2.0 * i / RADII, seed);
}

static void fill_row(unsigned char *row, const shells *s, int size, int y, int z, uint64_t seed) {
  const double dy = (y - s->centre[1]) * s->squeeze[1], dz = (z - s->centre[2]) * s->squeeze[2];
  for (int x = 0; x < size; x++) {
    const double dx = (x - s->centre[0]) * s->squeeze[0];
    const double radius = sqrt(dx * dx + dy * dy + dz * dz);
    const int i = radius < 2.0 ? (int)(radius * (RADII / 2)) : RADII - 1;
    const uint32_t grain = pattern_hash((uint32_t)x, (uint32_t)(z * size + y), seed) & 15u;
    row[x] = (unsigned char)(s->density[i] + (s->density[i] > 8 ? grain : 0));
  }
}

/* Generator: the volume. */
int nested_shells(const clt_module_call *call) {
  const int size = (int)call->target->extent[0];
  unsigned char *volume = call->target->data;
  shells *s = malloc(sizeof *s);
  if (!s) return -1;
  shells_init(s, size, call->seed);
#pragma omp parallel for schedule(static)
  for (int z = 0; z < size; z++)
    for (int y = 0; y < size; y++)
      fill_row(volume + ((size_t)z * (size_t)size + (size_t)y) * (size_t)size, s, size, y, z, call->seed);
  free(s);
  return 0;
}

/* ---- the transfer function ---- */

/* Generator: density -> premultiplied colour and opacity. Nothing is clear, each density range has a hue of its own,
 * and the opacity of a sample is such that a ray sees several shells, whatever the resolution. */
int transfer_function(const clt_module_call *call) {
  float *entry = call->target->data;
  const double size = clt_module_value(call, "volume_size", 512);
  for (int i = 0; i < TF_ENTRIES; i++, entry += 4) {
    const double hue = 6.2831853 * (i / 255.0 + 0.1 * (double)(call->seed % 7));
    const double peak = i < 12 ? 0.0 : 0.15 + 0.85 * pow(sin(3.14159265 * (i % 64) / 64.0), 2.0);
    const double opacity = 1.0 - pow(1.0 - 0.9 * peak * i / 255.0, 48.0 / size);
    entry[0] = (float)(opacity * (0.5 + 0.5 * cos(hue)));
    entry[1] = (float)(opacity * (0.5 + 0.5 * cos(hue - 2.0943951)));
    entry[2] = (float)(opacity * (0.5 + 0.5 * cos(hue + 2.0943951)));
    entry[3] = (float)opacity;
  }
  return 0;
}

/* ---- the camera ---- */

typedef struct vector {
  double v[3];
} vector;

static vector cross(vector a, vector b) {
  return (vector){
      {a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2], a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

static vector unit(vector a) {
  const double length = sqrt(a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2]);
  return (vector){{a.v[0] / length, a.v[1] / length, a.v[2] / length}};
}

/* 0, or -1 where a number does not fit. */
static int store_fixed(int32_t out[4], vector a, double factor) {
  out[3] = 0;
  for (int d = 0; d < 3; d++) {
    const double fixed = a.v[d] * factor * (1 << FRACTION_BITS);
    if (!(fabs(fixed) < INT32_MAX)) return -1;
    out[d] = (int32_t)lround(fixed);
  }
  return 0;
}

/* Whether the kernel can compute, in 32 bits, the starts of all rays and their distances to the volume's sides. */
static int fits(vector centre, vector right, vector down, double size) {
  const double largest = INT32_MAX / (double)(1 << FRACTION_BITS) - 2; /* steps are rounded */
  for (int d = 0; d < 3; d++)
    if (!(fabs(centre.v[d]) + fabs(right.v[d]) + fabs(down.v[d]) + size < largest)) return 0;
  return 1;
}

/* Generator: four vectors in fixed point: place of the upper left pixel's ray at its start, the ways from a pixel to
 * its right and to its lower neighbour, and a ray's step (one voxel length). The picture holds the whole volume from
 * any side: its shorter side is the volume's diagonal. */
int camera(const clt_module_call *call) {
  int32_t(*out)[4] = call->target->data;
  const double size = clt_module_value(call, "volume_size", 512);
  const double width = clt_module_value(call, "width", 1024), height = clt_module_value(call, "height", 1024);
  const double diagonal = sqrt(3.0) * size, pixel = diagonal / fmin(width, height);
  const double turn = 0.6 + 0.9 * (double)((call->seed - 1) % 7), tilt = 0.5;
  const vector forward = {{cos(turn) * cos(tilt), sin(tilt), sin(turn) * cos(tilt)}};
  const vector right = unit(cross(forward, (vector){{0.0, -1.0, 0.0}})), down = cross(forward, right);
  vector centre, origin, half_row = right, half_column = down;
  for (int d = 0; d < 3; d++) {
    centre.v[d] = size / 2 - forward.v[d] * diagonal / 2;
    half_row.v[d] *= pixel * (width - 1) / 2;
    half_column.v[d] *= pixel * (height - 1) / 2;
    origin.v[d] = centre.v[d] - half_row.v[d] - half_column.v[d];
  }
  if (!fits(centre, half_row, half_column, size)) return -1;
  if (store_fixed(out[0], origin, 1.0) || store_fixed(out[1], right, pixel)) return -1;
  return store_fixed(out[2], down, pixel) || store_fixed(out[3], forward, 1.0) ? -1 : 0;
}

/* ---- the reference ---- */

typedef struct scene {
  const unsigned char *volume;
  const float (*transfer)[4];
  const int32_t (*camera)[4];
  int size;
} scene;

static int inside(const int64_t at[3], int size) {
  for (int d = 0; d < 3; d++)
    if (at[d] < 0 || at[d] >= (int64_t)size << FRACTION_BITS) return 0;
  return 1;
}

/* The ray's part inside of the volume is one piece: skip to it step by step, and end behind it. Rays start half a
 * diagonal before the volume's middle, so that all is behind them after one diagonal. */
static void cast(float colour[4], const scene *s, int x, int y, int max_steps) {
  int64_t at[3];
  for (int d = 0; d < 3; d++) at[d] = s->camera[0][d] + (int64_t)x * s->camera[1][d] + (int64_t)y * s->camera[2][d];
  double sum[4] = {0}, through = 1.0;
  int entered = 0;
  for (int n = 0; n < max_steps && through > 1e-9; n++) {
    if (inside(at, s->size)) {
      entered = 1;
      const int64_t row = (at[2] >> FRACTION_BITS) * s->size + (at[1] >> FRACTION_BITS);
      const float *sample = s->transfer[s->volume[row * s->size + (at[0] >> FRACTION_BITS)]];
      for (int c = 0; c < 4; c++) sum[c] += through * (double)sample[c];
      through *= 1.0 - (double)sample[3];
    } else if (entered) {
      break;
    }
    for (int d = 0; d < 3; d++) at[d] += s->camera[3][d];
  }
  for (int c = 0; c < 4; c++) colour[c] = (float)sum[c];
}

/* Reference: the picture. */
int composite(const clt_module_call *call) {
  const clt_module_array *volume = clt_module_find(call, "volume"), *transfer = clt_module_find(call, "transfer");
  const clt_module_array *view = clt_module_find(call, "camera"), *picture = clt_module_find(call, "picture");
  if (!volume || !transfer || !view || !picture) return -1;
  const scene s = {volume->data, (const float(*)[4])transfer->data, (const int32_t(*)[4])view->data,
                   (int)volume->extent[0]};
  const int width = (int)picture->extent[0], height = (int)picture->extent[1];
  float(*result)[4] = picture->data;
#pragma omp parallel for schedule(dynamic, 8)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) cast(result[(size_t)y * (size_t)width + (size_t)x], &s, x, y, 2 * s.size);
  return 0;
}
