/* filterbank.cl - filterbank correlation: z[r, c, k] = sum over h, w, d of x[r + h, c + w, d] f[h, w, d, k].
 *
 * Problem parameters (macros): height, width, depth of the image; n_filters, filter_height, filter_width. Tuning
 * parameters: block_h, block_w, spill, imul_fast, pad_shared, use_tex1d; docs/reference/problems.md says what each does. Derived
 * from the others by the problem file: VECTOR (pixels of a work-item: 1 on a GPU), ROWS (rows of the filters in a
 * launch), OUTPUT_4S (fours of filters in a launch), DEPTH_STEP (depths in local memory at a time).
 *
 * An evaluation is a number of passes. A pass takes ROWS rows of 4 OUTPUT_4S filters: `load_filter` brings their
 * weights into the order in which they are used, `correlate` adds what they contribute. */

#define OUT_HEIGHT (height - filter_height + 1)
#define OUT_WIDTH (width - filter_width + 1)
#define ROW_PASSES ((filter_height + ROWS - 1) / ROWS)

/* The fours of a pass are computed in chunks, whose sums stay in registers. */
#if OUTPUT_4S >= 4 && VECTOR == 1
#define CHUNK 4
#elif OUTPUT_4S >= 2
#define CHUNK 2
#else
#define CHUNK 1
#endif
#define CHUNKS ((OUTPUT_4S + CHUNK - 1) / CHUNK)

/* Filters that there are not are loaded as zeros; fewer than four are not computed. */
#define LANES (n_filters < 4 ? n_filters : 4 * CHUNK)
/* Sums that follow each other wait for each other: with few filters, each is split into several. */
#define PARTS (VECTOR == 1 || LANES >= 4 ? 1 : LANES >= 2 ? 2 : 4)

#if imul_fast
#define MUL(a, b) mul24(a, b)
#else
#define MUL(a, b) ((a) * (b))
#endif

/* What a pass takes: its first row of the filters, and its first filter. */
#define FIRST_ROW(pass) ((pass) % ROW_PASSES * ROWS)
#define FIRST_FILTER(pass) ((pass) / ROW_PASSES * (4 * OUTPUT_4S))

/* Weights: [chunk][row][depth][column][four of the chunk], in fours. A work-item brings those of a four at one place of
 * each row. */
__kernel void load_filter(__global const float *restrict filters, __global float *restrict weights, const uint pass) {
  const uint four = get_global_id(0), column = get_global_id(1), d = get_global_id(2);
  const uint k = FIRST_FILTER(pass) + 4 * four;
  for (uint row = 0; row < ROWS; row++) {
    const uint h = FIRST_ROW(pass) + row;
    const uint from = ((h * filter_width + column) * depth + d) * n_filters + k;
    const uint to = (((four / CHUNK * ROWS + row) * depth + d) * filter_width + column) * CHUNK + four % CHUNK;
#if n_filters % 4 == 0
    vstore4(h < filter_height && k < n_filters ? vload4(0, filters + from) : (float4)(0.0f), to, weights);
#else
    for (uint lane = 0; lane < 4; lane++)
      weights[4 * to + lane] = h < filter_height && k + lane < n_filters ? filters[from + lane] : 0.0f;
#endif
  }
}

#if use_tex1d
#define INPUT_TYPE __read_only image1d_buffer_t
#define INPUT(i) read_imagef(input, (int)(i)).x
#else
#define INPUT_TYPE __global const float *
#define INPUT(i) input[i]
#endif

/* VECTOR neighbouring pixels. */
#if VECTOR == 1
typedef float pixels;
#define LOAD(p) (*(p))
#elif VECTOR == 4
typedef float4 pixels;
#define LOAD(p) vload4(0, p)
#elif VECTOR == 8
typedef float8 pixels;
#define LOAD(p) vload8(0, p)
#else
typedef float16 pixels;
#define LOAD(p) vload16(0, p)
#endif

#define ITEMS_X (block_w / VECTOR)

/* What the block sees of the image, DEPTH_STEP depths at a time: [row][depth][column]. */
#define TILE_ROWS (block_h + ROWS - 1)
#define TILE_COLUMNS (block_w + filter_width - 1)
#define PITCH (TILE_COLUMNS + pad_shared)
#define TILE_ROW (DEPTH_STEP * PITCH)

#if depth % DEPTH_STEP == 0
#define IS_DEPTH(d) true
#else
#define IS_DEPTH(d) ((d) < depth)
#endif

/* Rows and columns beyond the image are not used, but must not be read. */
inline void load_tile(__local float *tile, INPUT_TYPE input, const int first_row, const int first_column,
                      const int first_depth) {
  for (int row = get_local_id(1); row < TILE_ROWS; row += block_h)
    for (int column = get_local_id(0); column < TILE_COLUMNS; column += ITEMS_X) {
      const int y = min(first_row + row, height - 1), x = min(first_column + column, width - 1);
      const int from = MUL(y, width * depth) + MUL(x, depth) + first_depth;
      __local float *to = tile + MUL(row, TILE_ROW) + column;
      for (int d = 0; d < DEPTH_STEP; d++)
        if (IS_DEPTH(first_depth + d)) to[d * PITCH] = INPUT(from + d);
    }
}

/* The taps of `rows` rows of one chunk, for the pixels of a work-item. */
inline void add_taps(pixels sums[LANES], __local const float *tile, __constant const float *weights,
                     const int rows, const int depths) {
  pixels parts[LANES * PARTS];
#pragma unroll
  for (int k = 0; k < LANES * PARTS; k++) parts[k] = 0.0f;
  for (int row = 0; row < rows; row++)
    for (int d = 0; d < depths; d++) {
      __local const float *taps = tile + row * TILE_ROW + d * PITCH;
      __constant const float *w = weights + (row * depth + d) * (filter_width * 4 * CHUNK);
#pragma unroll
      for (int column = 0; column < filter_width; column++) {
        const pixels value = LOAD(taps + column);
#pragma unroll
        for (int k = 0; k < LANES; k++) parts[column % PARTS * LANES + k] += value * w[column * 4 * CHUNK + k];
      }
    }
#pragma unroll
  for (int k = 0; k < LANES; k++) {
    sums[k] = parts[k];
#pragma unroll
    for (int part = 1; part < PARTS; part++) sums[k] += parts[part * LANES + k];
  }
}

#if n_filters % (4 * CHUNK) == 0 || n_filters < 4
#define IS_FILTER(k) true
#else
#define IS_FILTER(k) ((k) < n_filters)
#endif

/* Writes or adds the sums of the filters first .. to the pixels that there are. */
inline void put(__global float *output, const int at, const int n_pixels, const int first,
                const pixels sums[LANES], const bool add) {
  const float *lanes = (const float *)sums;
#pragma unroll
  for (int p = 0; p < VECTOR; p++)
#pragma unroll
    for (int k = 0; k < LANES; k++)
      if (p < n_pixels && IS_FILTER(first + k)) {
        __global float *to = output + at + p * n_filters + first + k;
        *to = add ? *to + lanes[k * VECTOR + p] : lanes[k * VECTOR + p];
      }
}

__kernel __attribute__((reqd_work_group_size(ITEMS_X, block_h, 1))) void correlate(INPUT_TYPE input,
                                                                                   __constant float *weights,
                                                                                   __global float *output,
                                                                                   const uint pass) {
  const int local_x = get_local_id(0), local_y = get_local_id(1);
  const int first_row = MUL((int)get_group_id(1), block_h), first_column = MUL((int)get_group_id(0), block_w);
  const int row = first_row + local_y, column = first_column + local_x * VECTOR;
  const int first_filter_row = FIRST_ROW(pass), first_filter = FIRST_FILTER(pass);
  const int rows = filter_height % ROWS == 0 ? ROWS : min(ROWS, filter_height - first_filter_row);
  const int place = MUL(row, OUT_WIDTH * n_filters) + MUL(column, n_filters);
  __local float tile[TILE_ROWS * TILE_ROW];
#if spill
  __local int places[block_h * (ITEMS_X + pad_shared)];
  places[local_y * (ITEMS_X + pad_shared) + local_x] = place;
#define PLACE places[local_y * (ITEMS_X + pad_shared) + local_x]
#else
#define PLACE place
#endif
  for (int first_depth = 0; first_depth < depth; first_depth += DEPTH_STEP) {
    const int depths = depth % DEPTH_STEP == 0 ? DEPTH_STEP : min(DEPTH_STEP, depth - first_depth);
    load_tile(tile, input, first_row + first_filter_row, first_column, first_depth);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row < OUT_HEIGHT && column < OUT_WIDTH)
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        pixels sums[LANES];
        add_taps(sums, tile + MUL(local_y, TILE_ROW) + local_x * VECTOR,
                 weights + (chunk * ROWS * depth + first_depth) * (filter_width * 4 * CHUNK), rows, depths);
        put(output, PLACE, OUT_WIDTH - column, first_filter + chunk * CHUNK * 4, sums,
            first_filter_row > 0 || first_depth > 0);
      }
    if (depth > DEPTH_STEP) barrier(CLK_LOCAL_MEM_FENCE);
  }
}
