/* Functions without server and libpq: hiding a URL's password, and values in PostgreSQL's form. */

#include "base/base.h"
#include "store/pq.h"

bool clt_pq_is_url(const char *path) {
  return path && (clt_starts_with(path, "postgresql://") || clt_starts_with(path, "postgres://"));
}

/* Everything before the last @ except a plain name may be a password, and so may an option whose name contains %: hides
 * too much rather than too little. */
int clt_pq_shown(char **out, const char *url, clt_error *error) {
  static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%";
  clt_text text = {0};
  const char *begin = strstr(url, "://"), *at = strrchr(url, '@');
  begin = begin ? begin + 3 : url;
  clt_text_add_shown(&text, url, (size_t)(begin - url), "");
  if (at) {
    clt_text_add_bytes(&text, begin, strspn(begin, name_letters));
    begin = at;
  }
  const size_t n_place = strcspn(begin, "?");
  clt_text_add_shown(&text, begin, n_place, "");
  char before = '?';
  for (const char *option = begin + n_place; *option;) {
    option++; /* ? or & */
    const size_t n = strcspn(option, "&"), n_name = strcspn(option, "=&");
    if (!memchr(option, '%', n_name) && !memmem(option, n_name, "password", 8)) {
      clt_text_add_bytes(&text, &before, 1);
      clt_text_add_shown(&text, option, n, "");
      before = '&';
    }
    option += n;
  }
  return clt_text_take(out, &text, error);
}

/* PostgreSQL only accepts UTF-8. A byte that is not valid UTF-8 becomes the character ESCAPED + byte of a private
 * plane. So do the bytes of these characters themselves, so that every text can be restored. */
#define ESCAPED 0x10fe00u
#define ESCAPED_BYTES "\xf4\x8f" /* the first bytes of each */

void clt_pq_add_text(clt_text *out, const char *text) {
  const size_t n = strlen(text);
  size_t from = 0, i = 0;
  while (i < n) {
    uint32_t c = 0;
    const size_t length = clt_text_character(text + i, n - i, &c);
    if (length > 0 && length <= n - i && (c < ESCAPED || c >= ESCAPED + 256)) {
      i += length;
      continue;
    }
    clt_text_add_bytes(out, text + from, i - from);
    c = ESCAPED + (unsigned char)text[i];
    const unsigned char character[] = {(unsigned char)(0xf0 | c >> 18), (unsigned char)(0x80 | (c >> 12 & 0x3f)),
                                       (unsigned char)(0x80 | (c >> 6 & 0x3f)), (unsigned char)(0x80 | (c & 0x3f))};
    clt_text_add_bytes(out, character, sizeof character);
    from = ++i;
  }
  clt_text_add_bytes(out, text + from, n - from);
}

void clt_pq_restore_text(char *text) {
  char *out = strstr(text, ESCAPED_BYTES);
  for (const char *in = out; in && *in;) {
    uint32_t c = 0;
    const bool is_one = clt_text_character(in, strnlen(in, 4), &c) == 4 && c >= ESCAPED && c < ESCAPED + 256;
    if (is_one && c >= ESCAPED + 128) { /* no valid text needs the others */
      *out++ = (char)(c - ESCAPED);
      in += 4;
    } else {
      *out++ = *in++;
    }
  }
  if (out) *out = '\0';
}

json_t *clt_pq_json_text(const char *text) {
  clt_text escaped = {0};
  if (text == NULL) return json_null();
  clt_pq_add_text(&escaped, text);
  json_t *json = escaped.rc ? NULL : json_stringn(escaped.n ? escaped.bytes : "", escaped.n);
  clt_text_release(&escaped);
  return json;
}

/* JSON has no infinities, but PostgreSQL reads these texts as such. */
json_t *clt_pq_json_number(double number) {
  if (isinf(number)) return json_string(number > 0 ? "Infinity" : "-Infinity");
  return isnan(number) ? json_null() : json_real(number);
}
