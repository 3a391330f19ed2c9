/* Binary PGM ("P5") with 8 or 16 bits, as the netpbm manual describes it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/parts.h"

#define MAX_PGM_BYTES ((size_t)1 << 36)

/* Reads a number of the header, with white space and comments before it. NULL at the end. */
static const char *header_number(const char *at, const char *end, size_t *out) {
  while (at < end && (isspace((unsigned char)*at) || *at == '#')) {
    if (*at == '#')
      while (at < end && *at != '\n') at++;
    else
      at++;
  }
  if (at == end || !isdigit((unsigned char)*at)) return NULL;
  for (*out = 0; at < end && isdigit((unsigned char)*at); at++) {
    *out = *out * 10 + (size_t)(*at - '0');
    if (*out > UINT32_MAX) return NULL;
  }
  return at;
}

/* header: width, height, largest value. Returns where the raster begins, or NULL. */
static const char *read_header(const char *bytes, const char *end, size_t header[3]) {
  if (end - bytes < 3 || bytes[0] != 'P' || bytes[1] != '5') return NULL;
  const char *at = bytes + 2;
  for (int i = 0; at && i < 3; i++) at = header_number(at, end, &header[i]);
  if (at == NULL || at == end || !isspace((unsigned char)*at)) return NULL;
  return header[2] >= 1 && header[2] <= 65535 ? at + 1 : NULL;
}

/* Reals get 0 to 1, integers the grey value. */
static void copy_raster(const clt_array *array, void *data, const unsigned char *raster, size_t largest) {
  size_t step = array->element.bytes, n = array->bytes / step;
  bool real = array->element.base >= CLT_ELEMENT_HALF, wide = largest > 255;
  for (size_t i = 0; i < n; i++) {
    unsigned grey = wide ? raster[2 * i] * 256u + raster[2 * i + 1] : raster[i];
    clt_store_number((char *)data + i * step, array->element.base, real ? (double)grey / (double)largest : grey);
  }
}

int clt_pgm_read(const char *path, const clt_array *array, void *data, clt_error *error) {
  char *bytes = NULL;
  size_t n, header[3], raster_bytes = 0;
  if (array->element.components != 1)
    return clt_fail(error, CLT_E_FORMAT, "'%s' is grey; argument '%s' has %d components", path, array->name,
                    array->element.components);
  int rc = clt_file_read(&bytes, &n, path, MAX_PGM_BYTES, error);
  if (rc) return rc;
  const char *raster = read_header(bytes, bytes + n, header);
  bool fits = raster && clt_size_multiply(&raster_bytes, header[0], header[1]) &&
              clt_size_multiply(&raster_bytes, raster_bytes, header[2] > 255 ? 2 : 1) &&
              raster_bytes <= (size_t)(bytes + n - raster);
  if (!fits) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' is no complete binary PGM file (P5)", path);
  } else if (header[0] != array->extent[0] || header[1] != array->extent[1] || array->extent[2] != 1) {
    rc = clt_fail(error, CLT_E_FORMAT, "'%s' is %zu x %zu; argument '%s' is %zu x %zu x %zu", path, header[0],
                  header[1], array->name, array->extent[0], array->extent[1], array->extent[2]);
  } else {
    copy_raster(array, data, (const unsigned char *)raster, header[2]);
  }
  free(bytes);
  return rc;
}
