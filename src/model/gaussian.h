/* model/gaussian.h - a Gaussian process: it predicts the costs of configurations, and how far each prediction may be
 * off, from few measurements (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, sections 2.2
 * and 5.4).
 *
 * The covariance of two configurations is a Matern function (order 5/2) of their distance. To it, each parameter adds
 * the distance of its encoded values, and a constant if the values differ, each over a length of its own; text and
 * parameters of two values add the constant only. Lengths, variance and noise are those of the largest posterior
 * density. */
#ifndef CLT_MODEL_GAUSSIAN_H
#define CLT_MODEL_GAUSSIAN_H

#include "model/encoding.h"

/* Fits to y of n configurations, n >= 1, and predicts mean and standard deviation of y for n_candidates others. Takes
 * time by the cube of n. The encoding's resources are not used. */
int clt_gaussian_predict(const clt_encoding *encoding, const clt_config *configs, const double *y, size_t n,
                         const clt_config *candidates, size_t n_candidates, float *mean, float *deviation,
                         clt_error *error);

#endif
