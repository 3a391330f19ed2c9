/* convolution.cl - box filter of (2 filter_radius + 1)^2 pixels over a single-channel image, edges repeated.
 *
 * Every parameter arrives as a macro: width, height, filter_radius; wg_x, wg_y (work-group), ppt_x, ppt_y (output
 * pixels per work-item), use_image, use_local, pad, interleave, unroll. docs/reference/problems.md says what each does. A work-
 * group computes a tile of TILE_X x TILE_Y neighbouring pixels, whatever the order in which its work-items share it. */

/* `unroll` is a parameter's name and a pragma's: take its value, then free the name. */
#if unroll
#define UNROLL_TAPS _Pragma("unroll")
#else
#define UNROLL_TAPS
#endif
#undef unroll

#define TILE_X (wg_x * ppt_x)
#define TILE_Y (wg_y * ppt_y)
#define FILTER (2 * filter_radius + 1)

/* Pixel of the tile that this work-item computes i-th. */
#if interleave
#define PIXEL_X(i) (local_x + (i)*wg_x)
#define PIXEL_Y(j) (local_y + (j)*wg_y)
#else
#define PIXEL_X(i) (local_x * ppt_x + (i))
#define PIXEL_Y(j) (local_y * ppt_y + (j))
#endif

/* The last tiles reach over the image only where its size is no multiple of theirs: no test otherwise. */
#if width % TILE_X == 0
#define IN_WIDTH(x) true
#else
#define IN_WIDTH(x) ((x) < width)
#endif
#if height % TILE_Y == 0
#define IN_HEIGHT(y) true
#else
#define IN_HEIGHT(y) ((y) < height)
#endif

/* INPUT(column, row): the input at column -filter_radius .. width-1+filter_radius, row likewise. */
#if use_image
#define INPUT_TYPE __read_only image2d_t
#if pad
__constant sampler_t input_sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
#define INPUT(column, row) read_imagef(input, input_sampler, (int2)((column) + filter_radius, (row) + filter_radius)).x
#else
__constant sampler_t input_sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define INPUT(column, row) read_imagef(input, input_sampler, (int2)(column, row)).x
#endif
#else
#define INPUT_TYPE __global const float *restrict
#if pad
#define INPUT(column, row) input[((row) + filter_radius) * (width + 2 * filter_radius) + (column) + filter_radius]
#else
#define INPUT(column, row) input[clamp(row, 0, height - 1) * width + clamp(column, 0, width - 1)]
#endif
#endif

/* TAP(x, y): the input at a place of the tile, its border of filter_radius included. */
#if use_local
#define CACHE_X (TILE_X + 2 * filter_radius)
#define CACHE_Y (TILE_Y + 2 * filter_radius)
#define TAP(x, y) cache[((y) + filter_radius) * CACHE_X + (x) + filter_radius]
#else
#define TAP(x, y) INPUT(tile_x + (x), tile_y + (y))
#endif

/* Places that the padded input holds: a tile that reaches over the image must not be filled from beyond. */
#if pad && width % TILE_X != 0
#define STORED_X(x) min((x), width - 1 + filter_radius)
#else
#define STORED_X(x) (x)
#endif
#if pad && height % TILE_Y != 0
#define STORED_Y(y) min((y), height - 1 + filter_radius)
#else
#define STORED_Y(y) (y)
#endif

__kernel __attribute__((reqd_work_group_size(wg_x, wg_y, 1))) void convolution(INPUT_TYPE input,
                                                                               __global float *restrict output) {
  const int local_x = get_local_id(0), local_y = get_local_id(1);
  const int tile_x = (int)get_group_id(0) * TILE_X, tile_y = (int)get_group_id(1) * TILE_Y;

#if use_local
  __local float cache[CACHE_X * CACHE_Y];
  for (int y = 0; y < CACHE_Y; y += wg_y)
    for (int x = 0; x < CACHE_X; x += wg_x) {
      const int cx = x + local_x, cy = y + local_y;
      if (cx < CACHE_X && cy < CACHE_Y)
        cache[cy * CACHE_X + cx] = INPUT(STORED_X(tile_x + cx - filter_radius), STORED_Y(tile_y + cy - filter_radius));
    }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  for (int j = 0; j < ppt_y; j++)
    for (int i = 0; i < ppt_x; i++) {
      const int x = PIXEL_X(i), y = PIXEL_Y(j);
      if (!(IN_WIDTH(tile_x + x) && IN_HEIGHT(tile_y + y))) continue;
      float sum = 0.0f;
      UNROLL_TAPS
      for (int dy = -filter_radius; dy <= filter_radius; dy++)
        UNROLL_TAPS
        for (int dx = -filter_radius; dx <= filter_radius; dx++) sum += TAP(x + dx, y + dy);
      output[(tile_y + y) * width + tile_x + x] = sum * (1.0f / (FILTER * FILTER));
    }
}
