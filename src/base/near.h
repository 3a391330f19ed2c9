/* base/near.h - "did you mean": the name in a list that is nearest to a mistyped one. */
#ifndef CLT_BASE_NEAR_H
#define CLT_BASE_NEAR_H

#include <stddef.h>

/* The nearest of n names by edit distance (at most a third of the length away), or NULL. */
const char *clt_nearest_name(const char *typed, const char *const *names, size_t n);

#endif
