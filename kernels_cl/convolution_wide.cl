/* convolution_wide.cl - an image of floats filtered with (2 filter_radius + 1)^2 weights, edges repeated.
 *
 * Every parameter is a macro. A work-item computes rows x vectors vectors of `vec` neighbours: rows below one another,
 * vectors next to one another. With `window` it keeps the part of an input row that it needs in registers and takes all
 * taps from there; otherwise each tap is read as a vector. With `reuse_rows` it goes through its input rows, and adds
 * each to all output rows that need it; otherwise it goes through its output rows. use_local: the work-group's part of
 * the input is first copied to local memory. pad: the input is stored with a border, which saves tests. */
#include "polybench/vectors.h"

/* `unroll` is a parameter's name and a pragma's: take its value, then free the name. */
#if unroll
#define UNROLL_TAPS _Pragma("unroll")
#else
#define UNROLL_TAPS _Pragma("unroll 1")
#endif
#undef unroll
#define UNROLL_ALL _Pragma("unroll") /* an array stays in registers only where the loops over it are unrolled */
#if window
#define UNROLL_LINE UNROLL_ALL
#else
#define UNROLL_LINE UNROLL_TAPS
#endif
#if filter_radius <= 4 /* larger filters would take long to compile */
#define UNROLL_INPUT_ROWS UNROLL_ALL
#else
#define UNROLL_INPUT_ROWS _Pragma("unroll 1")
#endif

#define FILTER (2 * filter_radius + 1)
#define MARGIN ((filter_radius + vec - 1) / vec * vec) /* pixels beside a work-item's, in whole vectors */
#define TILE_X (wg_x * vectors * vec)
#define TILE_Y (wg_y * rows)

/* The stored input: border_x columns (convolution_wide.json) and filter_radius rows around the image. */
#define BORDER_X (pad * ((filter_radius + 15) / 16 * 16))
#define BORDER_Y (pad * filter_radius)
#define STORED_WIDTH (width + 2 * BORDER_X)

/* The pixels from column x and row y of the image on. Columns of vectors are multiples of `vec`, so where that divides
 * the rows, vectors are aligned and wholly inside or wholly outside of what is stored. */
static floatv read_pixels(__global const float *restrict input, int x, int y, bool aligned) {
  float parts[vec];
  const int row = clamp(y, -BORDER_Y, height - 1 + BORDER_Y);
  __global const float *const from = input + (row + BORDER_Y) * STORED_WIDTH + BORDER_X;
  if (x >= -BORDER_X && x + vec <= width + BORDER_X)
    return aligned && width % vec == 0 ? *(__global const floatv *)(from + x) : VLOAD(from + x);
  for (int i = 0; i < vec; i++) parts[i] = from[clamp(x + i, -BORDER_X, width - 1 + BORDER_X)];
  return VLOAD(parts);
}

/* The same of a place in the work-group's tile. */
#if use_local
#define CACHE_VECTORS ((TILE_X + 2 * MARGIN) / vec)
#define CACHE_Y (TILE_Y + 2 * filter_radius)
#define PIXELS(x, y, aligned)                                                      \
  ((aligned) ? cache[((y) + filter_radius) * CACHE_VECTORS + ((x) + MARGIN) / vec] \
             : VLOAD((__local const float *)cache + ((y) + filter_radius) * CACHE_VECTORS * vec + (x) + MARGIN))
#else
#define PIXELS(x, y, aligned) read_pixels(input, tile_x + (x), tile_y + (y), aligned)
#endif

/* The parts of an input row that a work-item has at hand, and a tap of its v-th vector. */
#if window
#define LINE (vectors * vec + 2 * MARGIN)
#define HOLD_LINE(y) \
  float line[LINE];  \
  UNROLL_ALL         \
  for (int i = 0; i < LINE / vec; i++) VSTORE(PIXELS(first_x - MARGIN + i * vec, y, true), line + i * vec)
static floatv taken(const float *line, int at) {
  float parts[vec];
  UNROLL_ALL
  for (int i = 0; i < vec; i++) parts[i] = line[at + i];
  return VLOAD(parts);
}
#define TAP(v, dx, y) taken(line, MARGIN + (v)*vec + (dx))
#else
#define HOLD_LINE(y)
#define TAP(v, dx, y) PIXELS(first_x + (v)*vec + (dx), y, false)
#endif

#define WEIGHT(dx, dy) filter[((dy) + filter_radius) * FILTER + (dx) + filter_radius]

static void write_pixels(__global float *restrict output, floatv value, int x, int y) {
  float parts[vec];
  __global float *const to = output + y * width + x;
  if (height % TILE_Y != 0 && y >= height) return;
  if ((width % TILE_X == 0) | ((width % vec == 0) & (x < width))) {
    *(__global floatv *)to = value;
  } else {
    VSTORE(value, parts);
    for (int i = 0; i < vec && x + i < width; i++) to[i] = parts[i];
  }
}

__kernel __attribute__((reqd_work_group_size(wg_x, wg_y, 1))) void convolution_wide(__global const float *restrict input,
                                                                               __constant float *filter,
                                                                               __global float *restrict output) {
  const int local_x = get_local_id(0), local_y = get_local_id(1);
  const int tile_x = (int)get_group_id(0) * TILE_X, tile_y = (int)get_group_id(1) * TILE_Y;
  const int first_x = local_x * vectors * vec, first_y = local_y * rows; /* in the tile */

#if use_local
  __local floatv cache[CACHE_VECTORS * CACHE_Y];
  for (int y = local_y; y < CACHE_Y; y += wg_y)
    for (int x = local_x; x < CACHE_VECTORS; x += wg_x)
      cache[y * CACHE_VECTORS + x] = read_pixels(input, tile_x + x * vec - MARGIN, tile_y + y - filter_radius, true);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  floatv sums[rows][vectors];
  UNROLL_ALL
  for (int r = 0; r < rows; r++) {
    UNROLL_ALL
    for (int v = 0; v < vectors; v++) sums[r][v] = 0;
  }

#if reuse_rows
  UNROLL_INPUT_ROWS
  for (int y = -filter_radius; y < rows + filter_radius; y++) {
    HOLD_LINE(first_y + y);
    UNROLL_LINE
    for (int dx = -filter_radius; dx <= filter_radius; dx++) {
      UNROLL_ALL
      for (int v = 0; v < vectors; v++) {
        const floatv tap = TAP(v, dx, first_y + y);
        UNROLL_ALL
        for (int r = 0; r < rows; r++)
          if (r - filter_radius <= y && y <= r + filter_radius) sums[r][v] += WEIGHT(dx, y - r) * tap;
      }
    }
  }
#else
  UNROLL_ALL
  for (int r = 0; r < rows; r++) {
    UNROLL_TAPS
    for (int dy = -filter_radius; dy <= filter_radius; dy++) {
      HOLD_LINE(first_y + r + dy);
      UNROLL_LINE
      for (int dx = -filter_radius; dx <= filter_radius; dx++) {
        UNROLL_ALL
        for (int v = 0; v < vectors; v++) sums[r][v] += WEIGHT(dx, dy) * TAP(v, dx, first_y + r + dy);
      }
    }
  }
#endif

  UNROLL_ALL
  for (int r = 0; r < rows; r++) {
    UNROLL_ALL
    for (int v = 0; v < vectors; v++)
      write_pixels(output, sums[r][v], tile_x + first_x + v * vec, tile_y + first_y + r);
  }
}
