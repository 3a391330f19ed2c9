/* format/json_file.h - JSON written piece by piece to a file that is replaced once all is written. */
#ifndef CLT_FORMAT_JSON_FILE_H
#define CLT_FORMAT_JSON_FILE_H

#include <clatune/error.h>
#include <jansson.h>

#include "base/file.h"

/* What was written; the first failure is kept, what comes after it does nothing. */
typedef struct clt_json_file {
  void *file; /* zlib's, compressed or plain */
  clt_replacement replacement;
  int rc;
  clt_error *error;
} clt_json_file;

/* Opens a file beside path; one that ends in ".gz" is compressed. clt_json_file_end in any case but a failure of this.
 */
int clt_json_file_begin(clt_json_file *out, const char *path, clt_error *error);

void clt_json_file_text(clt_json_file *file, const char *text);

/* Steals the reference; NULL is out of memory. flags: jansson's, beside JSON_COMPACT. */
void clt_json_file_value(clt_json_file *file, json_t *json, size_t flags);

/* Puts the file in its place, or removes it where anything failed. */
int clt_json_file_end(clt_json_file *file);

#endif
