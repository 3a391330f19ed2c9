__kernel void total(__global float *sums, __global const float *values, int n) {
    __local float part[block_size_x];
    const int own = get_local_id(0);
    float sum = 0;
    for (int i = get_group_id(0) * block_size_x + own; i < n; i += block_size_x * groups) sum += values[i];
    part[own] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_ = block_size_x / 2; half_ > 0; half_ /= 2) {
        if (own < half_) part[own] += part[own + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (own == 0) sums[get_group_id(0)] = part[0];
}
