#ifndef tile_y
#define tile_y 1
#endif
#define RADIUS 2
#define AT(x, y) image[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)]

/* A row of work-items computes tile_y rows of pixels. */
__kernel void blur(__global float *out, __global const float *image, __constant float *weights, int width, int height) {
    __local float rows[block_size_y * tile_y + 2 * RADIUS][block_size_x + 2 * RADIUS];
    const int left = get_group_id(0) * block_size_x, top = get_group_id(1) * block_size_y * tile_y;
    for (int j = get_local_id(1); j < block_size_y * tile_y + 2 * RADIUS; j += block_size_y)
        for (int i = get_local_id(0); i < block_size_x + 2 * RADIUS; i += block_size_x)
            rows[j][i] = AT(left + i - RADIUS, top + j - RADIUS);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t < tile_y; t++) {
        const int i = get_local_id(0), j = get_local_id(1) + t * block_size_y;
        float sum = 0;
        for (int dy = 0; dy <= 2 * RADIUS; dy++)
            for (int dx = 0; dx <= 2 * RADIUS; dx++) sum += weights[dy * (2 * RADIUS + 1) + dx] * rows[j + dy][i + dx];
        if (left + i < width && top + j < height) out[(top + j) * width + left + i] = sum;
    }
}

__kernel void blur_simply(__global float *out, __global const float *image, __constant float *weights, int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = 0; dy <= 2 * RADIUS; dy++)
        for (int dx = 0; dx <= 2 * RADIUS; dx++) sum += weights[dy * (2 * RADIUS + 1) + dx] * AT(x + dx - RADIUS, y + dy - RADIUS);
    out[y * width + x] = sum;
}
