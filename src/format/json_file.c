#include "format/json_file.h"

#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/file.h"

int clt_json_file_begin(clt_json_file *out, const char *path, clt_error *error) {
  clt_json_file file = {.error = error};
  int rc = clt_file_replace_open(&file.replacement, path, error);
  if (rc) return rc;
  file.file = gzdopen(file.replacement.fd, clt_ends_with(path, ".gz") ? "wb9" : "wbT");
  if (file.file == NULL) {
    clt_file_replace_abort(&file.replacement);
    return clt_fail_memory(error);
  }
  file.replacement.fd = -1;
  *out = file;
  return CLT_OK;
}

static int put(const char *bytes, size_t n, void *user) {
  return n == 0 || gzwrite(user, bytes, (unsigned)n) == (int)n ? 0 : -1;
}

static void fail_writing(clt_json_file *file) { file->rc = clt_fail_errno(file->error, CLT_E_IO, "write", file->replacement.path); }

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
  if (file->rc == CLT_OK) return clt_file_replace_commit(&file->replacement, file->error);
  clt_file_replace_abort(&file->replacement);
  return file->rc;
}
