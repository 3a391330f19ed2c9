#include "base/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

clt_hasher *clt_hasher_new(void) {
  XXH3_state_t *state = XXH3_createState();
  if (state) XXH3_128bits_reset(state);
  return (clt_hasher *)state;
}

clt_hasher *clt_hasher_copy(const clt_hasher *hasher) {
  XXH3_state_t *state = XXH3_createState();
  if (state) XXH3_copyState(state, (const XXH3_state_t *)hasher);
  return (clt_hasher *)state;
}

void clt_hasher_free(clt_hasher *hasher) { XXH3_freeState((XXH3_state_t *)hasher); }

void clt_hasher_add(clt_hasher *hasher, const void *bytes, size_t n) {
  XXH3_128bits_update((XXH3_state_t *)hasher, bytes, n);
}

void clt_hasher_add_text(clt_hasher *hasher, const char *text) { clt_hasher_add(hasher, text, strlen(text) + 1); }

void clt_hasher_hex(const clt_hasher *hasher, char out[33]) {
  XXH128_hash_t hash = XXH3_128bits_digest((const XXH3_state_t *)hasher);
  snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

uint64_t clt_hash64(const void *bytes, size_t n) { return XXH3_64bits(bytes, n); }

uint64_t clt_secret = 1;

static void __attribute__((constructor)) draw_secret(void) {
  if (getrandom(&clt_secret, sizeof clt_secret, GRND_NONBLOCK) > 0) clt_secret |= 1;
}

uint64_t clt_hash64_here(const void *bytes, size_t n) { return XXH3_64bits_withSeed(bytes, n, clt_secret); }

/* As in OpenCL C. */
static uint64_t mul_hi(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)((wide)a * b >> 64);
#else
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
  return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

uint64_t clt_sum64(const void *bytes, size_t n, uint64_t first) {
  const unsigned char *in = bytes;
  uint64_t sum = 0, pair[2] = {0};
  for (size_t at = 0; at < n; at += sizeof pair) {
    if (n - at >= sizeof pair)
      memcpy(pair, in + at, sizeof pair);
    else
      memset(pair, 0, sizeof pair), memcpy(pair, in + at, n - at);
    uint64_t x = pair[0], y = pair[1], i = first + at / sizeof pair;
    CLT_SUM_MIX
    sum += x;
  }
  return sum;
}

bool clt_draw_hex(char *out, size_t n) {
  unsigned char bytes[64];
  if (n / 2 > sizeof bytes || getrandom(bytes, n / 2, 0) != (ssize_t)(n / 2)) return false;
  for (size_t i = 0; i < n / 2; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  return true;
}
