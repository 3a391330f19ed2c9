#include <clatune/rng.h>
#include <math.h>

static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

void clt_rng_init(clt_rng *rng, uint64_t seed) {
  for (int i = 0; i < 4; i++) { /* SplitMix64 */
    uint64_t z = (seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    rng->state[i] = z ^ (z >> 31);
  }
}

uint64_t clt_rng_next(clt_rng *rng) {
  uint64_t *s = rng->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

uint64_t clt_rng_below(clt_rng *rng, uint64_t bound) {
  uint64_t reject = -bound % bound; /* 2^64 mod bound: without the rejection, small results would be more likely */
  uint64_t x;
  do x = clt_rng_next(rng);
  while (x < reject);
  return x % bound;
}

double clt_rng_unit(clt_rng *rng) { return (double)(clt_rng_next(rng) >> 11) * 0x1p-53; }

double clt_rng_normal(clt_rng *rng) {
  double u = 1 - clt_rng_unit(rng), v = clt_rng_unit(rng);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
