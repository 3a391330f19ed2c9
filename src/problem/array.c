#include <string.h>

#include "problem/data.h"

/* A row of the stored array, n = extent[0] elements of the logical row (NULL: outside, zeros) between its two borders.
 */
static unsigned char *store_row(unsigned char *out, const clt_plan_arg *arg, const unsigned char *row) {
  size_t element = arg->element.bytes, middle = arg->extent[0] * element, border = arg->border[0];
  if (row == NULL) {
    memset(out, 0, middle + 2 * border * element);
    return out + middle + 2 * border * element;
  }
  bool clamp = arg->border_mode == CLT_BORDER_CLAMP;
  for (size_t i = 0; i < border; i++, out += element) clamp ? memcpy(out, row, element) : memset(out, 0, element);
  memcpy(out, row, middle);
  out += middle;
  for (size_t i = 0; i < border; i++, out += element)
    clamp ? memcpy(out, row + middle - element, element) : memset(out, 0, element);
  return out;
}

/* The logical coordinate of a stored one, clamped; *outside is set where it lies in the border. */
static size_t logical_of(size_t stored, size_t border, size_t extent, bool *outside) {
  size_t position = stored < border ? 0 : stored - border;
  if (position >= extent) position = extent - 1;
  if (stored < border || stored - border >= extent) *outside = true;
  return position;
}

void clt_array_store(void *stored, const clt_plan_arg *arg, const void *logical) {
  size_t row_bytes = arg->extent[0] * arg->element.bytes;
  if (!(arg->border[0] | arg->border[1] | arg->border[2])) {
    memcpy(stored, logical, row_bytes * arg->extent[1] * arg->extent[2]);
    return;
  }
  unsigned char *out = stored;
  for (size_t z = 0; z < arg->extent[2] + 2 * arg->border[2]; z++) {
    for (size_t y = 0; y < arg->extent[1] + 2 * arg->border[1]; y++) {
      bool outside = false;
      size_t from_z = logical_of(z, arg->border[2], arg->extent[2], &outside);
      size_t from_y = logical_of(y, arg->border[1], arg->extent[1], &outside);
      const unsigned char *row = (const unsigned char *)logical + (from_z * arg->extent[1] + from_y) * row_bytes;
      out = store_row(out, arg, outside && arg->border_mode == CLT_BORDER_ZERO ? NULL : row);
    }
  }
}

void clt_array_unstore(void *logical, const clt_plan_arg *arg, const void *stored) {
  size_t element = arg->element.bytes, row_bytes = arg->extent[0] * element;
  size_t stored_row = (arg->extent[0] + 2 * arg->border[0]) * element;
  size_t stored_plane = (arg->extent[1] + 2 * arg->border[1]) * stored_row;
  unsigned char *out = logical;
  for (size_t z = 0; z < arg->extent[2]; z++) {
    const unsigned char *row = (const unsigned char *)stored + (z + arg->border[2]) * stored_plane +
                               arg->border[1] * stored_row + arg->border[0] * element;
    for (size_t y = 0; y < arg->extent[1]; y++, row += stored_row, out += row_bytes) memcpy(out, row, row_bytes);
  }
}
