/* What needs neither a server nor libpq: what may be shown of a URL, and values as PostgreSQL reads them. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "store/pq.h"

bool clt_pq_is_url(const char *path) {
  return path && (clt_starts_with(path, "postgresql://") || clt_starts_with(path, "postgres://"));
}

/* Whatever stands before the last @ and is more than a name may be a password, and so may an option whose name is
 * spelled with %: better too little is shown. */
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

void clt_pq_add_text(clt_text *out, const char *text) {
  clt_text_add(out, text ? "\"" : "NULL");
  for (size_t n; text && *text; text += n) {
    n = strcspn(text, "\"\\");
    clt_text_add_bytes(out, text, n);
    if (n == 0) clt_text_add(out, "\\"), clt_text_add_bytes(out, text, n = 1);
  }
  if (text) clt_text_add(out, "\"");
}

void clt_pq_add_number(clt_text *out, double number) {
  if (isnan(number))
    clt_text_add(out, "NULL");
  else
    clt_text_printf(out, "%.17g", number);
}
