/* tests/fuzz/fuzz.h - common parts of the fuzz targets. A target is one file with LLVMFuzzerTestOneInput for one
 * reader. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file with this content, for readers that take a path. Close *fd when done with it. */
static inline const char *fuzz_file(int *fd, const uint8_t *data, size_t size) {
  static char path[64];
  *fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (*fd < 0 || write(*fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
  return path;
}

/* The input as a text; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) abort();
  memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

#endif
