#include "base/text.h"

#include <ctype.h>

#include "base/base.h"

#define SPARE_BYTES 16

/* --- times --- */

double clt_seconds_parse(const char *text) {
  static const char units[] = "smh";
  char *end;
  double seconds = clt_strtod(text, &end);
  const char *unit = *end ? strchr(units, *end) : units;
  if (end == text || unit == NULL || (*end && end[1])) return NAN;
  for (const char *u = units; u < unit; u++) seconds *= 60;
  return seconds;
}

const char *clt_time_text(char out[32], double seconds) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  size_t i = 0;
  if (!isfinite(seconds)) return strcpy(out, "-");
  while (i < 3 && seconds < units[i].unit) i++;
  clt_snprintf(out, 32, "%.4g %s", seconds / units[i].unit, units[i].name);
  return out;
}

/* --- growing --- */

void clt_text_add_bytes(clt_text *text, const void *bytes, size_t n) {
  if (text->rc == CLT_OK && n > SIZE_MAX - text->n - SPARE_BYTES) text->rc = CLT_E_MEMORY;
  if (text->rc == CLT_OK) text->rc = clt_grow(&text->bytes, &text->capacity, text->n + n + SPARE_BYTES, 1);
  if (text->rc) return;
  if (n) memcpy(text->bytes + text->n, bytes, n);
  text->n += n;
  text->bytes[text->n] = '\0';
}

void clt_text_add(clt_text *text, const char *more) { clt_text_add_bytes(text, more, strlen(more)); }

void clt_text_printf(clt_text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  size_t room = text->rc ? 0 : text->capacity - text->n;
  int n = clt_vsnprintf(room ? text->bytes + text->n : NULL, room, format, arguments);
  if (text->rc == CLT_OK && n < 0) text->rc = CLT_E_MEMORY;
  if (text->rc == CLT_OK && (size_t)n + SPARE_BYTES > room) {
    text->rc = clt_grow(&text->bytes, &text->capacity, text->n + (size_t)n + SPARE_BYTES, 1);
    if (text->rc == CLT_OK && (size_t)n >= room) clt_vsnprintf(text->bytes + text->n, (size_t)n + 1, format, again);
  }
  if (text->rc == CLT_OK) text->n += (size_t)n;
  va_end(again);
  va_end(arguments);
}

size_t clt_text_character(const char *bytes, size_t n, uint32_t *character) {
  const unsigned char *text = (const unsigned char *)bytes;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = 1;
  if (text[0] >> 5 == 6)
    length = 2;
  else if (text[0] >> 4 == 14)
    length = 3;
  else if (text[0] >> 3 == 30)
    length = 4;
  else if (text[0] >= 0x80)
    return 0;
  uint32_t c = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if (i == n) return n + 1;
    if ((text[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (text[i] & 0x3f);
  }
  if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
  *character = c;
  return length;
}

/* Control characters, which a terminal would execute, and direction marks. */
static bool is_control(uint32_t c) {
  return c < 32 || (c >= 127 && c < 160) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

size_t clt_text_add_shown(clt_text *text, const char *bytes, size_t n, const char *allowed) {
  size_t from = 0, i = 0;
  while (i < n) {
    uint32_t c = 0;
    size_t length = clt_text_character(bytes + i, n - i, &c);
    if (length > n - i) break;
    if (length == 0 || (is_control(c) && !(c && c < 128 && strchr(allowed, (int)c)))) {
      clt_text_add_bytes(text, bytes + from, i - from);
      clt_text_add(text, "?");
      from = i + (length ? length : 1);
    }
    i += length ? length : 1;
  }
  clt_text_add_bytes(text, bytes + from, i - from);
  return i;
}

int clt_text_take(char **out, clt_text *text, clt_error *error) {
  clt_text_add_bytes(text, "", 0);
  int rc = text->rc ? clt_fail_memory(error) : CLT_OK;
  if (rc == CLT_OK) {
    *out = text->bytes;
    text->bytes = NULL;
  }
  clt_text_release(text);
  return rc;
}

void clt_text_release(clt_text *text) {
  free(text->bytes);
  *text = (clt_text){0};
}

int clt_words_add(clt_words *words, char *text, clt_error *error) {
  if (text == NULL || clt_grow(&words->all, &words->capacity, words->n + 2, sizeof *words->all) != CLT_OK) {
    free(text);
    return clt_fail_memory(error);
  }
  words->all[words->n++] = text;
  words->all[words->n] = NULL;
  return CLT_OK;
}

void clt_words_free(char **all) {
  for (size_t i = 0; all && all[i]; i++) free(all[i]);
  free(all);
}

void clt_text_add_csv(clt_text *text, const char *field) {
  const bool quoted = field[strcspn(field, ",\"\r\n")] != '\0';
  if (quoted) clt_text_add(text, "\"");
  for (const char *c = field; *c; c++) clt_text_printf(text, quoted && *c == '"' ? "\"\"" : "%c", *c);
  if (quoted) clt_text_add(text, "\"");
}

void clt_text_add_word(clt_text *text, const char *word) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+@%-";
  if (word[0] && word[strspn(word, plain)] == '\0') {
    clt_text_printf(text, " %s", word);
    return;
  }
  clt_text_add(text, " '");
  for (; *word; word++) clt_text_add(text, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
  clt_text_add(text, "'");
}

bool clt_starts_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool clt_is_one_of(const char *text, const char *const *texts) {
  while (*texts && strcmp(*texts, text) != 0) texts++;
  return *texts != NULL;
}

bool clt_ends_with(const char *text, const char *end) {
  size_t n = strlen(text), n_end = strlen(end);
  return n >= n_end && memcmp(text + n - n_end, end, n_end) == 0;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool clt_is_name(const char *text) {
  if (!is_letter(*text)) return false;
  while (is_letter(*text) || (*text >= '0' && *text <= '9')) text++;
  return *text == '\0';
}

#define LONGEST 64 /* characters of a name that are compared */

/* Levenshtein's distance with transpositions of neighbours as one edit. Keeps three rows of the table. */
static size_t edit_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), rows[3][LONGEST + 1];
  if (n > LONGEST || m > LONGEST) return LONGEST;
  for (size_t j = 0; j <= m; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i - 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      row[j] = clt_min(clt_min(above[j], row[j - 1]) + 1,
                       above[j - 1] + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1])));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = clt_min(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

const char *clt_nearest_among(const char *typed, const void *first, size_t n, size_t bytes) {
  const char *nearest = NULL;
  size_t nearest_distance = strlen(typed) / 3 + 2;
  for (size_t i = 0; i < n; i++) {
    const char *name = *(const char *const *)((const char *)first + i * bytes);
    size_t d = edit_distance(typed, name);
    if (d < nearest_distance) {
      nearest_distance = d;
      nearest = name;
    }
  }
  return nearest;
}

const char *clt_nearest_name(const char *typed, const char *const *names, size_t n) {
  return clt_nearest_among(typed, names, n, sizeof *names);
}

const char *clt_telling_line(int *n, const char *log) {
  const char *out = log;
  bool is_error = false;
  *n = 0;
  for (const char *line = log; !is_error && *line; line += strcspn(line, "\n"), line += strspn(line, "\n")) {
    const size_t length = strcspn(line, "\n");
    is_error = memmem(line, length, "error", 5) != NULL;
    if (length > 0 && (*n == 0 || is_error)) out = line, *n = length < 300 ? (int)length : 300;
  }
  return out;
}
