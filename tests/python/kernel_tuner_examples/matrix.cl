/* C = A * B; a work-item computes rows_each rows of a tile of C. */
__kernel void multiply(__global float *c, __global float *a, __global float *b) {
    __local float ta[block_size_x][block_size_x], tb[block_size_x][block_size_x];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_group_id(0) * block_size_x + x, top = get_group_id(1) * block_size_x;
    float sum[rows_each];
    for (int r = 0; r < rows_each; r++) sum[r] = 0;
    for (int at = 0; at < SIZE; at += block_size_x) {
        for (int r = 0; r < rows_each; r++) {
            ta[y + r * block_size_y][x] = a[(top + y + r * block_size_y) * SIZE + at + x];
            tb[y + r * block_size_y][x] = b[(at + y + r * block_size_y) * SIZE + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < block_size_x; k++)
            for (int r = 0; r < rows_each; r++) sum[r] += ta[y + r * block_size_y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < rows_each; r++) c[(top + y + r * block_size_y) * SIZE + column] = sum[r];
}
