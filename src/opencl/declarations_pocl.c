#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "opencl/declarations.h"

#define MAX_HEADER_BYTES ((size_t)16 << 20)
enum { MAX_PARENTS = 4 };

static int find_pocl(struct dl_phdr_info *info, size_t bytes, void *user) {
  (void)bytes;
  char **out = user;
  const char *file = strrchr(info->dlpi_name, '/');
  if (file == NULL || strncmp(file, "/libpocl.so", strlen("/libpocl.so")) != 0) return 0;
  *out = realpath(info->dlpi_name, NULL);
  return 1;
}

/* NULL: none. A relocatable PoCL (RELOC in its version) looks for its data relative to its own library. */
static FILE *open_header(char *library) {
  for (int i = 0; i < MAX_PARENTS; i++) {
    char *slash = strrchr(library, '/');
    if (slash == NULL) return NULL;
    *slash = 0;
    char *path = clt_format("%s/share/pocl/include/opencl-c.h", library);
    FILE *file = path ? fopen(path, "re") : NULL;
    free(path);
    if (file) return file;
  }
  return NULL;
}

static int read_all(char **out, FILE *file, clt_error *error) {
  char *text = malloc(MAX_HEADER_BYTES);
  if (text == NULL) return clt_fail_memory(error);
  size_t n = fread(text, 1, MAX_HEADER_BYTES - 1, file);
  int rc = ferror(file) || !feof(file) ? clt_fail(error, CLT_E_IO, "the header of builtin functions cannot be read")
                                       : CLT_OK;
  text[n] = 0;
  if (rc)
    free(text);
  else
    *out = text;
  return rc;
}

int clt_declarations_of_pocl(clt_declarations **out, const char *platform_version, clt_error *error) {
  char *library = NULL, *text = NULL;
  *out = NULL;
  if (strstr(platform_version, "PoCL") == NULL || strstr(platform_version, "RELOC") == NULL) return CLT_OK;
  dl_iterate_phdr(find_pocl, &library);
  if (library == NULL) return CLT_OK;
  FILE *file = open_header(library);
  int rc = file ? read_all(&text, file, error) : CLT_OK;
  if (text) rc = clt_declarations_parse(out, text, error);
  if (file) fclose(file);
  free(text);
  free(library);
  return rc;
}
