/* clatune/rng.h - random numbers; the caller owns the generator.
 *
 * xoshiro256** 1.0, seeded with SplitMix64 (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
 * TOMS 2021). The same seed gives the same numbers on every machine. Not suitable for cryptography. */
#ifndef CLATUNE_RNG_H
#define CLATUNE_RNG_H

#include <clatune/error.h>
#include <stdint.h>

CLT_BEGIN_C

typedef struct clt_rng {
  uint64_t state[4];
} clt_rng;

void clt_rng_init(clt_rng *rng, uint64_t seed);        /* every seed is allowed */
uint64_t clt_rng_next(clt_rng *rng);                   /* 64 random bits */
uint64_t clt_rng_below(clt_rng *rng, uint64_t bound);  /* uniform in 0 .. bound - 1, unbiased; bound > 0 */
double clt_rng_unit(clt_rng *rng);                     /* uniform in [0, 1), with 53 random bits */
double clt_rng_normal(clt_rng *rng);                   /* standard normal (Box-Muller) */

CLT_END_C
#endif
