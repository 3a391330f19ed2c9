/* lookup/distance.h - how far sizes are from others. */
#ifndef CLT_LOOKUP_DISTANCE_H
#define CLT_LOOKUP_DISTANCE_H

/* Of sizes as clt_instance_sizes_text writes them ("a=1 b=2"): the sum over those of the first text of |log of their
 * ratio|. INFINITY where the second lacks one, or one of the two is not positive and they differ. */
double clt_sizes_distance(const char *sizes, const char *others);

#endif
