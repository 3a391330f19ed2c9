#include "format/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define CHUNK_BYTES (64 << 10)
#define SPARE_BYTES 16

static int fail_reading(gzFile file, const char *path, clt_error *error) {
  int code = 0;
  const char *text = gzerror(file, &code);
  if (code == Z_ERRNO) return clt_fail_errno(error, CLT_E_IO, "read", path);
  return clt_fail(error, CLT_E_FORMAT, "cannot unpack '%s': %s", path, text);
}

/* Appends the next chunk; *got is 0 at the end of the file. */
static int read_chunk(clt_text *text, gzFile file, const char *path, size_t *got, clt_error *error) {
  if (clt_grow(&text->bytes, &text->capacity, text->n + CHUNK_BYTES + SPARE_BYTES, 1)) return clt_fail_memory(error);
  int n = gzread(file, text->bytes + text->n, CHUNK_BYTES);
  int code = 0;
  if (n == 0) gzerror(file, &code); /* a file that was cut off ends so */
  if (n < 0 || code != Z_OK) return fail_reading(file, path, error);
  text->n += (size_t)n;
  *got = (size_t)n;
  return CLT_OK;
}

int clt_text_read(clt_text *out, const char *path, size_t max_bytes, clt_error *error) {
  clt_text text = {0};
  errno = 0;
  gzFile file = gzopen(path, "rbe");
  if (file == NULL) return errno ? clt_fail_errno(error, CLT_E_IO, "open", path) : clt_fail_memory(error);
  gzbuffer(file, CHUNK_BYTES);
  size_t got = 1;
  int rc = CLT_OK;
  while (rc == CLT_OK && got) {
    rc = read_chunk(&text, file, path, &got, error);
    if (rc == CLT_OK && text.n > max_bytes)
      rc = clt_fail(error, CLT_E_RANGE, "'%s' is larger than %zu bytes", path, max_bytes);
  }
  gzclose(file);
  if (rc) {
    free(text.bytes);
  } else {
    *out = text;
  }
  return rc;
}
