/* raycasting.cl - a volume seen along parallel rays: nearest samples, one per voxel length, coloured by a transfer
 * function and composited front to back.
 *
 * Every parameter arrives as a macro: width, height (of the picture), volume_size (voxels along an edge); wg_x, wg_y
 * (work-group), ppt_x, ppt_y (output pixels per work-item), image_data, image_tf, local_tf, constant_tf, interleave,
 * unroll. docs/reference/problems.md says what each does. Places are fixed-point numbers with FRACTION_BITS fractional bits:
 * all configurations and the reference visit exactly the same voxels. */

#define FRACTION_BITS 16
#define TF_ENTRIES 256
/* A ray ends where less than this share of the light behind would still come through. */
#define OPAQUE (1.0f / 4096.0f)

#define TILE_X (wg_x * ppt_x)
#define TILE_Y (wg_y * ppt_y)
#if interleave
#define PIXEL_X(i) (local_x + (i)*wg_x)
#define PIXEL_Y(j) (local_y + (j)*wg_y)
#else
#define PIXEL_X(i) (local_x * ppt_x + (i))
#define PIXEL_Y(j) (local_y * ppt_y + (j))
#endif

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

#if image_data
#define VOLUME_TYPE __read_only image3d_t
#define VOXEL(column, row, slice) read_imageui(volume, nearest, (int4)(column, row, slice, 0)).x
#else
#define VOLUME_TYPE __global const uchar *restrict
#define VOXEL(column, row, slice) volume[((slice)*volume_size + (row)) * volume_size + (column)]
#endif

/* STORED_TF: the transfer function as it is passed; image_tf wins over constant_tf. */
#if image_tf
#define TF_TYPE __read_only image2d_t
#define STORED_TF(entry) read_imagef(transfer, nearest, (int2)(entry, 0))
#elif constant_tf
#define TF_TYPE __constant float4 *
#define STORED_TF(entry) transfer[entry]
#else
#define TF_TYPE __global const float4 *restrict
#define STORED_TF(entry) transfer[entry]
#endif

#if local_tf
#define TF(entry) cache[entry]
#else
#define TF(entry) STORED_TF(entry)
#endif

/* One sample: colours are premultiplied by their opacity, .w is the opacity. */
#define SAMPLE                                                                                       \
  {                                                                                                  \
    const float4 sample = TF(VOXEL(at.x >> FRACTION_BITS, at.y >> FRACTION_BITS, at.z >> FRACTION_BITS)); \
    colour += through * sample;                                                                      \
    through *= 1.0f - sample.w;                                                                      \
    at += step;                                                                                      \
  }
#define SAMPLE_1 SAMPLE
#define SAMPLE_2 SAMPLE_1 SAMPLE_1
#define SAMPLE_4 SAMPLE_2 SAMPLE_2
#define SAMPLE_8 SAMPLE_4 SAMPLE_4
#define SAMPLE_16 SAMPLE_8 SAMPLE_8
#define PASTE(a, b) a##b
#define SAMPLES(n) PASTE(SAMPLE_, n)

/* Narrows [first, last] to the steps at which one coordinate, `start` at step 0, lies inside of the volume. */
void clip(int *first, int *last, int start, int step) {
  const int end = (volume_size << FRACTION_BITS) - 1;
  const int enter = step < 0 ? start - end : -start, leave = step < 0 ? start : end - start;
  const int length = abs(step);
  if (length == 0) {
    if (start < 0 || start > end) *last = -1;
    return;
  }
  if (enter > 0) *first = max(*first, (enter - 1) / length + 1);
  *last = leave < 0 ? -1 : min(*last, leave / length);
}

__kernel __attribute__((reqd_work_group_size(wg_x, wg_y, 1))) void raycasting(VOLUME_TYPE volume, TF_TYPE transfer,
                                                                              __constant int4 *camera,
                                                                              __global float4 *restrict picture) {
  const int local_x = get_local_id(0), local_y = get_local_id(1);
  const int tile_x = (int)get_group_id(0) * TILE_X, tile_y = (int)get_group_id(1) * TILE_Y;

#if local_tf
  __local float4 cache[TF_ENTRIES];
  for (int i = local_y * wg_x + local_x; i < TF_ENTRIES; i += wg_x * wg_y) cache[i] = STORED_TF(i);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  const int4 origin = camera[0], right = camera[1], down = camera[2], step = camera[3];
  for (int j = 0; j < ppt_y; j++)
    for (int i = 0; i < ppt_x; i++) {
      const int x = tile_x + PIXEL_X(i), y = tile_y + PIXEL_Y(j);
      if (x >= width || y >= height) continue;
      int4 at = origin + x * right + y * down;
      int first = 0, last = INT_MAX;
      clip(&first, &last, at.x, step.x);
      clip(&first, &last, at.y, step.y);
      clip(&first, &last, at.z, step.z);

      float4 colour = (float4)(0.0f);
      float through = 1.0f;
      first = min(first, last + 1);
      int left = last - first + 1;
      at += first * step;
      for (; left >= unroll && through > OPAQUE; left -= unroll) { SAMPLES(unroll) }
#if unroll > 1
      for (; left > 0 && through > OPAQUE; left--) SAMPLE
#endif
      picture[y * width + x] = colour;
    }
}
