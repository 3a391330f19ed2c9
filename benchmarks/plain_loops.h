/* The shipped problems as plain C loops for all cores, as a programmer without OpenCL would write them. */
#ifndef CLT_BENCHMARKS_PLAIN_LOOPS_H
#define CLT_BENCHMARKS_PLAIN_LOOPS_H

#include <stdint.h>

/* image: width x height with a border of 2 around it, its rows width + 4 apart. */
void plain_box_5x5(float *restrict out, const float *restrict image, int width, int height);

/* camera: as kernels_cl/raycasting.c makes it. */
void plain_raycasting(float (*restrict picture)[4], const unsigned char *volume, const float (*transfer)[4],
                      const int32_t (*camera)[4], int width, int height, int size);

/* left with a border of radius around it, right with radius + disparities - 1 at the sides and radius above and below.
 * Returns 0, or -1 when out of memory. */
int plain_stereo(unsigned char *restrict disparity, const unsigned char *left, const unsigned char *right, int width,
                 int height, int disparities, int radius);

/* image: height x width x depth, filters: filter_height x filter_width x depth x n_filters, the last fastest. The inner
 * loop runs over the filters, so that a compiler can vectorise it. */
void plain_filterbank(float *restrict out, const float *restrict image, const float *restrict filters, int height,
                      int width, int depth, int n_filters, int filter_height, int filter_width);

/* Fused multiply-adds of single precision, and nothing else, on all cores: the floating-point operations that were done
 * in *time_s seconds. The result is returned, so that nothing is left out. */
float plain_multiply_add(double *operations, double *time_s);

#endif
