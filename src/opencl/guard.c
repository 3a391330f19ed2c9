/* Guard bands. Their bytes depend on the place and on the object, since the commonest fault copies what lies behind one
 * buffer behind another: with the same bytes in all bands that would leave no trace. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "opencl/object.h"

/* splitmix64's finaliser: neighbouring numbers give unrelated words. */
static uint64_t word_at(uint64_t salt, size_t index) {
  uint64_t x = (salt << 32) + index + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/* The bytes of both bands, one after the other. */
static unsigned char *make_bands(const clt_object *object) {
  size_t bytes = 2 * object->band_bytes;
  unsigned char *bands = malloc(bytes);
  if (bands == NULL) return NULL;
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t word = word_at(object->salt, i / sizeof word);
    memcpy(bands + i, &word, sizeof word);
  }
  return bands;
}

cl_int clt_guard_write(clt_executor *executor, const clt_object *object) {
  if (object->whole == NULL) return CL_SUCCESS;
  unsigned char *bands = make_bands(object);
  if (bands == NULL) return CL_OUT_OF_HOST_MEMORY;
  size_t band = object->band_bytes;
  cl_int status = clEnqueueWriteBuffer(executor->queue, object->whole, CL_TRUE, 0, band, bands, 0, NULL, NULL);
  if (status == CL_SUCCESS)
    status = clEnqueueWriteBuffer(executor->queue, object->whole, CL_TRUE, band + object->bytes, band, bands + band, 0,
                                  NULL, NULL);
  free(bands);
  return status;
}

static void compare(clt_guard_state *state, size_t *distance_bytes, size_t band, const unsigned char *is,
                    const unsigned char *should_be) {
  *state = CLT_GUARD_WHOLE;
  *distance_bytes = 0;
  if (memcmp(is, should_be, 2 * band) == 0) return;
  size_t behind = band, before = 0;
  while (behind < 2 * band && is[behind] == should_be[behind]) behind++;
  *state = behind < 2 * band ? CLT_GUARD_BEHIND : CLT_GUARD_BEFORE;
  *distance_bytes = behind - band;
  if (*state == CLT_GUARD_BEHIND) return;
  while (is[band - 1 - before] == should_be[band - 1 - before]) before++;
  *distance_bytes = before;
}

cl_int clt_guard_check(clt_guard_state *state, size_t *distance_bytes, clt_executor *executor,
                       const clt_object *object) {
  *state = CLT_GUARD_WHOLE;
  if (object->whole == NULL) return CL_SUCCESS;
  size_t band = object->band_bytes;
  unsigned char *should_be = make_bands(object), *is = malloc(2 * band);
  cl_int status = should_be && is ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  if (status == CL_SUCCESS)
    status = clEnqueueReadBuffer(executor->queue, object->whole, CL_TRUE, 0, band, is, 0, NULL, NULL);
  if (status == CL_SUCCESS)
    status = clEnqueueReadBuffer(executor->queue, object->whole, CL_TRUE, band + object->bytes, band, is + band, 0,
                                 NULL, NULL);
  if (status == CL_SUCCESS) compare(state, distance_bytes, band, is, should_be);
  free(should_be);
  free(is);
  return status;
}
