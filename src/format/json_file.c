#include "format/json_file.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/replace.h"

static bool is_compressed(const char *path) {
  size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

int clt_json_file_begin(clt_json_file *out, const char *path, clt_error *error) {
  clt_json_file file = {.path = path, .error = error};
  int fd, rc = clt_replace_begin(&file.beside, &fd, path, error);
  if (rc) return rc;
  file.file = gzdopen(fd, is_compressed(path) ? "wb9" : "wbT");
  if (file.file == NULL) {
    close(fd);
    clt_replace_abandon(file.beside);
    return clt_fail_memory(error);
  }
  *out = file;
  return CLT_OK;
}

static int put(const char *bytes, size_t n, void *user) {
  return n == 0 || gzwrite(user, bytes, (unsigned)n) == (int)n ? 0 : -1;
}

static void fail_writing(clt_json_file *file) { file->rc = clt_fail_errno(file->error, CLT_E_IO, "write", file->path); }

void clt_json_file_text(clt_json_file *file, const char *text) {
  if (file->rc == CLT_OK && put(text, strlen(text), file->file)) fail_writing(file);
}

void clt_json_file_value(clt_json_file *file, json_t *json, size_t flags) {
  if (file->rc == CLT_OK && json == NULL) file->rc = clt_fail_memory(file->error);
  if (file->rc == CLT_OK && json_dump_callback(json, put, file->file, flags | JSON_COMPACT | JSON_ENCODE_ANY))
    fail_writing(file);
  json_decref(json);
}

int clt_json_file_end(clt_json_file *file) {
  if (gzclose(file->file) != Z_OK && file->rc == CLT_OK) fail_writing(file);
  if (file->rc == CLT_OK) return clt_replace_end(file->beside, file->path, file->error);
  clt_replace_abandon(file->beside);
  return file->rc;
}
