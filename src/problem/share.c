/* Data sets in files, one copy for all worker processes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/dataset.h"

static char *file_name(const char *folder, size_t index, const char *kind) {
  return clt_format("%s/array%zu.%s", folder, index, kind);
}

static int save(const void *content, size_t bytes, const char *folder, size_t index, const char *kind,
                clt_error *error) {
  if (content == NULL) return CLT_OK;
  char *path = file_name(folder, index, kind);
  if (path == NULL) return clt_fail_memory(error);
  int rc = clt_file_write(path, content, bytes, error);
  free(path);
  return rc;
}

int clt_data_save(const clt_data *data, const char *folder, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) {
    const clt_array *array = &data->arrays[i];
    rc = save(array->data, array->bytes, folder, i, "data", error);
    if (rc == CLT_OK) rc = save(array->reference, array->bytes, folder, i, "reference", error);
  }
  return rc;
}

static int map_open(void **out, int fd, const char *path, size_t bytes, clt_error *error) {
  struct stat status;
  if (fstat(fd, &status) != 0) return clt_fail_errno(error, CLT_E_IO, "read", path);
  if ((unsigned long long)status.st_size != bytes)
    return clt_fail(error, CLT_E_FORMAT, "'%s' has %lld bytes instead of %zu", path, (long long)status.st_size, bytes);
  void *content = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (content == MAP_FAILED) return clt_fail_errno(error, CLT_E_IO, "map", path);
  *out = content;
  return CLT_OK;
}

/* A file that is not there leaves *out NULL. */
static int map(void **out, size_t bytes, const char *folder, size_t index, const char *kind, clt_error *error) {
  char *path = file_name(folder, index, kind);
  int rc = CLT_OK;
  if (path == NULL) return clt_fail_memory(error);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    rc = map_open(out, fd, path, bytes, error);
    close(fd);
  } else if (errno != ENOENT) {
    rc = clt_fail_errno(error, CLT_E_IO, "open", path);
  }
  free(path);
  return rc;
}

static int map_array(clt_array *array, const char *folder, size_t index, clt_error *error) {
  array->mapped = true;
  int rc = map(&array->data, array->bytes, folder, index, "data", error);
  if (rc == CLT_OK) rc = map(&array->reference, array->bytes, folder, index, "reference", error);
  if (rc == CLT_OK && array->input && array->data == NULL)
    rc = clt_fail(error, CLT_E_IO, "the content of argument '%s' is missing in '%s'", array->name, folder);
  return rc;
}

int clt_data_map(clt_data **out, const clt_instance *instance, uint64_t seed, const char *folder, clt_error *error) {
  clt_data *data = NULL;
  int rc = clt_data_new_empty(&data, instance, seed, error);
  for (size_t i = 0; rc == CLT_OK && i < data->n_arrays; i++) rc = map_array(&data->arrays[i], folder, i, error);
  if (rc == CLT_OK) {
    *out = data;
  } else {
    clt_data_free(data);
  }
  return rc;
}
