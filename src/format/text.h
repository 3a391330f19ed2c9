/* format/text.h - JSON text made fit for the parser. */
#ifndef CLT_FORMAT_TEXT_H
#define CLT_FORMAT_TEXT_H

#include "base/file.h"

/* Walks JSON text once before it is parsed. Refuses what is nested too deeply or has too many values for a parser that
 * builds a tree. Replaces NaN, Infinity and -Infinity, which Python writes and JSON lacks, by empty strings. Where the
 * text ends in the middle, as after an interrupted run, cuts it behind the last whole member of a member of the root
 * object and closes it. Mistakes of other kinds are left to the parser. */
int clt_text_prepare_json(clt_text *text, const char *path, clt_error *error);

#endif
