/* stereo.h - the known disparity of the problem `stereo`'s pair of images, and how far a result is from it. Offered by
 * the module stereo.c to programs that load it. */
#ifndef CLATUNE_STEREO_H
#define CLATUNE_STEREO_H

#include <stdint.h>

/* The disparity of left pixel (x, y) in the pair of this seed, 0 .. disparities-1. */
int stereo_true_disparity(int x, int y, int disparities, uint64_t seed);

/* Mean absolute error of a computed disparity in pixels, and the share of pixels that are off by more than one. The
 * first `disparities` columns are not judged: what they show lies partly outside of the right image. -1 where none is
 * left. */
int stereo_disparity_error(const unsigned char *disparity, int width, int height, int disparities, uint64_t seed,
                           double *mean_pixels, double *wrong_share);

#endif
