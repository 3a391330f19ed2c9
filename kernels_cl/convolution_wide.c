/* convolution_wide.c - input and reference of the problem `convolution_wide`; its images are those of convolution. */
#include "convolution.c"

/* Reference: the sum of the pixels around each, times the weights of `filter`; edges repeated. */
int weighted_filter(const clt_module_call *call) {
  const clt_module_array *input = clt_module_find(call, "input"), *output = clt_module_find(call, "output");
  const float *image = input->data, *weights = clt_module_find(call, "filter")->data;
  const int width = (int)input->extent[0], height = (int)input->extent[1];
  const int radius = (int)clt_module_value(call, "filter_radius", 2), side = 2 * radius + 1;
  float *result = output->data;
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      double sum = 0.0;
      for (int i = 0; i < side * side; i++) {
        const size_t row = (size_t)clamp_index(y + i / side - radius, height) * (size_t)width;
        sum += (double)weights[i] * image[row + (size_t)clamp_index(x + i % side - radius, width)];
      }
      result[(size_t)y * (size_t)width + (size_t)x] = (float)sum;
    }
  return 0;
}
