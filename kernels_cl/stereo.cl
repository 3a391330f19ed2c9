/* stereo.cl - disparity of a rectified pair by block matching: for each pixel of the left image, the shift d in 0 ..
 * disparities-1 at which the windows around left (x, y) and right (x - d, y) differ least (sum of absolute
 * differences; of equal sums the smallest d).
 *
 * Every parameter arrives as a macro: width, height, disparities, window_radius; wg_x, wg_y (work-group), ppt_x,
 * ppt_y (output pixels per work-item), image_left, image_right, local_left, local_right, unroll_disparity,
 * unroll_dx, unroll_dy. docs/reference/problems.md says what each does. Sums are integers: all configurations give exactly the
 * same result. */

#define TEXT_OF(x) #x
#define UNROLL(n) _Pragma(TEXT_OF(unroll n))
#define PASTE_OF(a, b) a##b
#define PASTE(a, b) PASTE_OF(a, b)

/* A work-item computes LANES neighbouring pixels at once, as an OpenCL vector, and ppt_x / LANES such vectors, one
 * work-group apart. */
#if ppt_x < 16
#define LANES ppt_x
#else
#define LANES 16
#endif

/* Sums need 16 bits where the window is small enough for them. */
#define WINDOW (2 * window_radius + 1)
#if WINDOW * WINDOW * 255 <= 65535
#define SUM_SCALAR ushort
#else
#define SUM_SCALAR uint
#endif

#if LANES == 1
#define PIXELS uchar
#define SUMS SUM_SCALAR
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#define WHERE(less, a, b) ((less) ? (a) : (b))
#else
#define PIXELS PASTE(uchar, LANES)
#define SUMS PASTE(SUM_SCALAR, LANES)
#define LOAD(p) PASTE(vload, LANES)(0, p)
#define STORE(v, p) PASTE(vstore, LANES)(v, 0, p)
#define WHERE(less, a, b) select(b, a, less)
#endif
#define TO_SUMS PASTE(convert_, SUMS)
#define TO_PIXELS PASTE(convert_, PIXELS)

#define TILE_X (wg_x * ppt_x)
#define TILE_Y (wg_y * ppt_y)

/* The images are stored with their edges repeated around them, as wide as windows, shifts and the last vector of a row
 * reach: no access is tested or clamped. */
#define LEFT_BORDER (window_radius + LANES - 1)
#define RIGHT_BORDER (window_radius + disparities - 1 + LANES - 1)
#define LEFT_PITCH (width + 2 * LEFT_BORDER)
#define RIGHT_PITCH (width + 2 * RIGHT_BORDER)

__constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

/* One pixel of a stored image, as a buffer or as an image, its border included. */
#if image_left
#define LEFT_TYPE __read_only image2d_t
#define LEFT_PIXEL(column, row) \
  (uchar) read_imageui(left, exact, (int2)((column) + LEFT_BORDER, (row) + window_radius)).x
#else
#define LEFT_TYPE __global const uchar *restrict
#define LEFT_AT(column, row) (left + ((row) + window_radius) * LEFT_PITCH + (column) + LEFT_BORDER)
#define LEFT_PIXEL(column, row) *LEFT_AT(column, row)
#endif
#if image_right
#define RIGHT_TYPE __read_only image2d_t
#define RIGHT_PIXEL(column, row) \
  (uchar) read_imageui(right, exact, (int2)((column) + RIGHT_BORDER, (row) + window_radius)).x
#else
#define RIGHT_TYPE __global const uchar *restrict
#define RIGHT_AT(column, row) (right + ((row) + window_radius) * RIGHT_PITCH + (column) + RIGHT_BORDER)
#define RIGHT_PIXEL(column, row) *RIGHT_AT(column, row)
#endif

/* LANES pixels of an image object, one by one. */
#if LANES == 1
#define GATHER(read, column, row) (read(column, row))
#elif LANES == 2
#define GATHER(read, column, row) (uchar2)(GATHER_2(read, column, row))
#elif LANES == 4
#define GATHER(read, column, row) (uchar4)(GATHER_4(read, column, row))
#elif LANES == 8
#define GATHER(read, column, row) (uchar8)(GATHER_4(read, column, row), GATHER_4(read, (column) + 4, row))
#else
#define GATHER(read, column, row)                                                    \
  (uchar16)(GATHER_4(read, column, row), GATHER_4(read, (column) + 4, row), \
            GATHER_4(read, (column) + 8, row), GATHER_4(read, (column) + 12, row))
#endif
#define GATHER_2(read, column, row) read(column, row), read((column) + 1, row)
#define GATHER_4(read, column, row) GATHER_2(read, column, row), GATHER_2(read, (column) + 2, row)

/* The tiles in local memory hold what a work-group's windows reach. */
#define CACHE_Y (TILE_Y + 2 * window_radius)
#define LEFT_CACHE_X (TILE_X + 2 * window_radius)
#define RIGHT_CACHE_X (TILE_X + 2 * window_radius + disparities - 1)

/* LEFT(x, y), RIGHT(x, y): LANES pixels from a place of the tile on. */
#if local_left
#define LEFT(x, y) LOAD(left_cache + ((y) + window_radius) * LEFT_CACHE_X + (x) + window_radius)
#elif image_left
#define LEFT(x, y) GATHER(LEFT_PIXEL, tile_x + (x), tile_y + (y))
#else
#define LEFT(x, y) LOAD(LEFT_AT(tile_x + (x), tile_y + (y)))
#endif
#if local_right
#define RIGHT(x, y) LOAD(right_cache + ((y) + window_radius) * RIGHT_CACHE_X + (x) + window_radius + disparities - 1)
#elif image_right
#define RIGHT(x, y) GATHER(RIGHT_PIXEL, tile_x + (x), tile_y + (y))
#else
#define RIGHT(x, y) LOAD(RIGHT_AT(tile_x + (x), tile_y + (y)))
#endif

/* A tile that reaches over the image must not be filled from beyond what is stored. */
#define LAST_COLUMN (width - 1 + window_radius)
#define LAST_ROW (height - 1 + window_radius)

__kernel __attribute__((reqd_work_group_size(wg_x, wg_y, 1))) void stereo(LEFT_TYPE left, RIGHT_TYPE right,
                                                                          __global uchar *restrict disparity) {
  const int local_x = get_local_id(0), local_y = get_local_id(1);
  const int tile_x = (int)get_group_id(0) * TILE_X, tile_y = (int)get_group_id(1) * TILE_Y;

#if local_left
  __local uchar left_cache[LEFT_CACHE_X * CACHE_Y];
  for (int y = local_y; y < CACHE_Y; y += wg_y)
    for (int x = local_x; x < LEFT_CACHE_X; x += wg_x)
      left_cache[y * LEFT_CACHE_X + x] =
          LEFT_PIXEL(min(tile_x + x - window_radius, LAST_COLUMN), min(tile_y + y - window_radius, LAST_ROW));
#endif
#if local_right
  __local uchar right_cache[RIGHT_CACHE_X * CACHE_Y];
  for (int y = local_y; y < CACHE_Y; y += wg_y)
    for (int x = local_x; x < RIGHT_CACHE_X; x += wg_x)
      right_cache[y * RIGHT_CACHE_X + x] = RIGHT_PIXEL(min(tile_x + x - window_radius - disparities + 1, LAST_COLUMN),
                                                       min(tile_y + y - window_radius, LAST_ROW));
#endif
#if local_left || local_right
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  for (int j = 0; j < ppt_y; j++)
    for (int i = 0; i < ppt_x / LANES; i++) {
      const int x = (local_x + i * wg_x) * LANES, y = local_y + j * wg_y;
      if (tile_x + x >= width || tile_y + y >= height) continue;
      SUMS least = (SUMS)(SUM_SCALAR)-1, best = 0;
      UNROLL(unroll_disparity)
      for (int d = 0; d < disparities; d++) {
        SUMS sum = 0;
        UNROLL(unroll_dy)
        for (int dy = -window_radius; dy <= window_radius; dy++)
          UNROLL(unroll_dx)
          for (int dx = -window_radius; dx <= window_radius; dx++) {
            const PIXELS a = LEFT(x + dx, y + dy), b = RIGHT(x + dx - d, y + dy);
            sum += TO_SUMS(max(a, b) - min(a, b));
          }
        best = WHERE(sum < least, (SUMS)(SUM_SCALAR)d, best);
        least = min(sum, least);
      }
      __global uchar *target = disparity + (tile_y + y) * width + tile_x + x;
#if width % LANES == 0
      STORE(TO_PIXELS(best), target);
#else
      PIXELS result = TO_PIXELS(best);
      for (int lane = 0; lane < LANES && tile_x + x + lane < width; lane++) target[lane] = ((uchar *)&result)[lane];
#endif
    }
}
