/* base/text.h - growing text, and functions on text. */
#pragma once

#include "base/base.h"

/* The value of a macro, as a text. */
#define CLT_TEXT_OF_THIS(x) #x
#define CLT_TEXT_OF(x) CLT_TEXT_OF_THIS(x)

/* Text that grows. All zeros is empty. The functions that add return nothing: the first failure is kept in rc, later
 * additions do nothing, and clt_text_take reports it. */
typedef struct clt_text {
  char *bytes;        /* NULL, or n bytes and a terminator */
  size_t n, capacity; /* capacity > n + 15 unless bytes is NULL */
  int rc;
} clt_text;

void clt_text_add(clt_text *text, const char *more);
void clt_text_add_bytes(clt_text *text, const void *bytes, size_t n);
void clt_text_printf(clt_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds n bytes of untrusted text so that it is safe to display: invalid UTF-8, control characters that are not in
 * `allowed`, and direction marks become "?". Returns the number of bytes that were used: n, or fewer if the last
 * character is incomplete. */
size_t clt_text_add_shown(clt_text *text, const char *bytes, size_t n, const char *allowed);

/* The length in bytes of the first UTF-8 character of n > 0 bytes, and its code point. 0: invalid UTF-8. n + 1: the
 * character is incomplete. */
size_t clt_text_character(const char *bytes, size_t n, uint32_t *character);

/* Moves the text to *out, malloc'ed ("" if nothing was added), and empties it. CLT_E_MEMORY: adding failed; the text is
 * emptied too. */
int clt_text_take(char **out, clt_text *text, clt_error *error);
void clt_text_release(clt_text *text);

/* A list of malloc'ed texts, ended by a NULL. All zeros is an empty list, in which `all` is NULL. */
typedef struct clt_words {
  char **all;
  size_t n, capacity;
} clt_words;

/* Adds a text and takes it over, also on failure. text NULL: the caller ran out of memory; reports that. */
int clt_words_add(clt_words *words, char *text, clt_error *error);
void clt_words_free(char **all); /* nullable; frees the texts up to the NULL */

/* Reads a duration as people type it ("90", "90s", "5m", "1h"), in seconds. NaN: it is not a duration. */
#define CLT_SECONDS_FORMS "seconds, or a number with s, m or h (90s, 5m, 1h)"
double clt_seconds_parse(const char *text);

/* Writes a time in a suitable unit, "1.234 ms"; "-" if it is not finite. Returns out. */
const char *clt_time_text(char out[32], double seconds);

/* Adds a field of CSV (RFC 4180), quoted if necessary. */
void clt_text_add_csv(clt_text *text, const char *field);

/* Adds a space and a word, quoted for a shell if necessary. */
void clt_text_add_word(clt_text *text, const char *word);

/* The line of a log that tells best why something failed: the first with "error", as warnings may come first, else the
 * first. *n: its length, at most 300; 0: the log is empty. */
const char *clt_telling_line(int *n, const char *log);

#define CLT_PLURAL(n) ((n) == 1 ? "" : "s") /* for "%zu row%s" */

bool clt_starts_with(const char *text, const char *beginning);
bool clt_is_one_of(const char *text, const char *const *texts); /* which end by a NULL */
bool clt_ends_with(const char *text, const char *end);

/* Whether a text is a name: [A-Za-z_][A-Za-z0-9_]*, in any locale. */
bool clt_is_name(const char *text);

/* For "did you mean": the name with the smallest edit distance to a mistyped one. NULL: no distance is at most one
 * third of the length plus one. Returns one of names. */
const char *clt_nearest_name(const char *typed, const char *const *names, size_t n);
/* The same for n structures of `bytes` each, which begin with a pointer to their name. */
const char *clt_nearest_among(const char *typed, const void *first, size_t n, size_t bytes);
/* Three arguments for "%s%s%s" after an unknown name: "; did you mean 'near'?" with these quotes; nothing if near is
 * NULL. */
#define CLT_IF_NEAR(near, text) ((near) ? (text) : "")
#define CLT_DID_YOU_MEAN(quote, near) \
  CLT_IF_NEAR(near, "; did you mean " quote), CLT_IF_NEAR(near, near), CLT_IF_NEAR(near, quote "?")
