/* filterbank_naive.cl - the formula of the filterbank correlation, a work-item for each place and filter. */
__kernel void naive(__global const float *restrict input, __global const float *restrict filters,
                    __global float *restrict output) {
  const int k = get_global_id(0), c = get_global_id(1), r = get_global_id(2);
  float sum = 0.0f;
  for (int h = 0; h < filter_height; h++)
    for (int w = 0; w < filter_width; w++)
      for (int d = 0; d < depth; d++)
        sum += input[((r + h) * width + c + w) * depth + d] * filters[((h * filter_width + w) * depth + d) * n_filters + k];
  output[(r * (width - filter_width + 1) + c) * n_filters + k] = sum;
}
