/* format/text.h - a whole file in memory, bounded, and JSON text made fit for the parser. */
#ifndef CLT_FORMAT_TEXT_H
#define CLT_FORMAT_TEXT_H

#include <clatune/error.h>
#include <stddef.h>

typedef struct clt_text {
  char *bytes;        /* owned, free() */
  size_t n, capacity; /* capacity >= n + 16 */
} clt_text;

/* Reads a file, plain or gzip, of at most max_bytes when unpacked. */
int clt_text_read(clt_text *out, const char *path, size_t max_bytes, clt_error *error);

/* Walks JSON text once before it is parsed. Refuses what is nested too deeply or has too many values for a parser that
 * builds a tree. Replaces NaN, Infinity and -Infinity, which Python writes and JSON lacks, by empty strings. Where the
 * text ends in the middle, as after an interrupted run, cuts it behind the last whole member of a member of the root
 * object and closes it. Mistakes of other kinds are left to the parser. */
int clt_text_prepare_json(clt_text *text, const char *path, clt_error *error);

#endif
