/* base/text.h - growing text, and questions about text. */
#ifndef CLT_BASE_TEXT_H
#define CLT_BASE_TEXT_H

#include <clatune/error.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a macro, as a text. */
#define CLT_TEXT_OF_THIS(x) #x
#define CLT_TEXT_OF(x) CLT_TEXT_OF_THIS(x)

/* Text that grows. All zeros is empty. Adding has no result: the first failure is kept, what comes after it does
 * nothing, and clt_text_take reports it. */
typedef struct clt_text {
  char *bytes;        /* NULL, or n bytes and a terminator */
  size_t n, capacity; /* capacity > n + 15 where bytes is set */
  int rc;
} clt_text;

void clt_text_add(clt_text *text, const char *more);
void clt_text_add_bytes(clt_text *text, const void *bytes, size_t n);
void clt_text_printf(clt_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds n bytes of a text that others wrote as it may be shown: what is no UTF-8, and characters that a terminal or a
 * page would obey (controls but for those in `allowed`, what turns the direction of writing), become "?". Returns how
 * many bytes were used: all, but for a last character that is cut off. */
size_t clt_text_add_shown(clt_text *text, const char *bytes, size_t n, const char *allowed);

/* How many bytes the first character of n > 0 bytes has, its number in *character; 0: no UTF-8, n + 1: it is cut off.
 */
size_t clt_text_character(const char *bytes, size_t n, uint32_t *character);

/* Hands the text over ("" where nothing was added), malloc'ed; CLT_E_MEMORY where adding failed. Empties it in any
 * case.
 */
int clt_text_take(char **out, clt_text *text, clt_error *error);
void clt_text_release(clt_text *text);

/* Texts in a row, each malloc'ed, with a NULL behind them. All zeros is none, then `all` is NULL. */
typedef struct clt_words {
  char **all;
  size_t n, capacity;
} clt_words;

/* Takes the text over, also on failure. NULL: out of memory. */
int clt_words_add(clt_words *words, char *text, clt_error *error);
void clt_words_free(char **all); /* nullable; up to the NULL */

/* Numbers are written and read with a point whatever the locale of the program that links the library: strtod, snprintf
 * and vsnprintf, for all texts that hold numbers. */
double clt_strtod(const char *text, char **end);
int clt_snprintf(char *out, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int clt_vsnprintf(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* A time as people type it, in seconds: "90", "90s", "5m", "1h". NaN where it is none. */
#define CLT_SECONDS_FORMS "seconds, or a number with s, m or h (90s, 5m, 1h)"
double clt_seconds_parse(const char *text);

/* "1.234 ms"; "-" for what is not finite. Returns out. */
const char *clt_time_text(char out[32], double seconds);

/* The same for libraries that print numbers themselves: between the two, the calling thread has C's locale. enter's
 * result is for leave; it is 0 where there is no memory, and the locale then stays as it is. */
locale_t clt_c_locale_enter(void);
void clt_c_locale_leave(locale_t before);

/* Adds a field of CSV (RFC 4180), quoted where that is needed. */
void clt_text_add_csv(clt_text *text, const char *field);

/* Adds a blank and a word as a shell reads it, quoted where that is needed. */
void clt_text_add_word(clt_text *text, const char *word);

bool clt_starts_with(const char *text, const char *beginning);
bool clt_ends_with(const char *text, const char *end);

/* Whether a text is a name: [A-Za-z_][A-Za-z0-9_]*, whatever the locale. */
bool clt_is_name(const char *text);

/* "Did you mean": of n names the one that is nearest to a mistyped one by edit distance, at most a third of its length
 * and one away; NULL: none is. The answer is one of names. */
const char *clt_nearest_name(const char *typed, const char *const *names, size_t n);
/* The same among n structures of so many bytes, which begin with their names. */
const char *clt_nearest_among(const char *typed, const void *first, size_t n, size_t bytes);
/* For "%s%s%s" behind a name that is unknown: "; did you mean 'near'?" in these quotes; nothing where near is NULL. */
#define CLT_DID_YOU_MEAN(quote, near) \
  (near) ? "; did you mean " quote : "", (near) ? (near) : "", (near) ? quote "?" : ""

#endif
