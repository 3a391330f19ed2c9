#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "format/text.h"

#define MAX_DEPTH 64
#define MAX_VALUES (16u << 20) /* some 50 bytes each in the parser's tree */
#define ENTRY_DEPTH 2          /* inside of {"cache": { */

typedef struct scan {
  char *text;
  size_t n, at;
  char open[MAX_DEPTH];
  size_t depth, n_values;
  size_t whole; /* the text up to here, closed ENTRY_DEPTH times, is well-formed; 0: none */
  bool broken;  /* not JSON: the parser will say where */
} scan;

/* From an opening quote to its closing one; at the end of the text where there is none. */
static void skip_string(scan *s) {
  for (s->at++; s->at < s->n && s->text[s->at] != '"'; s->at++)
    if (s->text[s->at] == '\\') s->at++;
}

static bool starts_with(const scan *s, const char *word, size_t n) {
  return s->n - s->at >= n && memcmp(s->text + s->at, word, n) == 0;
}

static void blank_word(scan *s, size_t n) {
  memset(s->text + s->at, ' ', n);
  memset(s->text + s->at, '"', 2);
  if (s->at > 0 && s->text[s->at - 1] == '-') s->text[s->at - 1] = ' ';
  s->at += n - 1;
}

static bool at_entry_level(const scan *s) { return s->depth == ENTRY_DEPTH && s->open[0] == '{' && s->open[1] == '{'; }

static void open_bracket(scan *s, char c) {
  if (s->depth < MAX_DEPTH) s->open[s->depth] = c;
  s->depth++;
  if (at_entry_level(s)) s->whole = s->at + 1;
}

static void close_bracket(scan *s, char c) {
  if (s->depth == 0 || s->open[s->depth - 1] != (c == '}' ? '{' : '[')) {
    s->broken = true;
    return;
  }
  s->depth--;
  if (at_entry_level(s)) s->whole = s->at + 1;
}

static void step(scan *s) {
  char c = s->text[s->at];
  switch (c) {
    case '"': skip_string(s); break;
    case '{':
    case '[': open_bracket(s, c); break;
    case '}':
    case ']': close_bracket(s, c); break;
    case ',':
    case ':': s->n_values++; break;
    case 'N':
      if (starts_with(s, "NaN", 3)) blank_word(s, 3);
      break;
    case 'I':
      if (starts_with(s, "Infinity", 8)) blank_word(s, 8);
      break;
    default: break;
  }
}

static void mend(clt_text *text, const scan *s) {
  if (s->whole == 0) return;
  text->n = s->whole;
  for (int i = 0; i < ENTRY_DEPTH; i++) text->bytes[text->n++] = '}';
}

int clt_text_prepare_json(clt_text *text, const char *path, clt_error *error) {
  scan s = {.text = text->bytes, .n = text->n};
  for (; s.at < s.n && !s.broken; s.at++) {
    step(&s);
    if (s.depth > MAX_DEPTH) return clt_fail(error, CLT_E_FORMAT, "'%s' is nested more than %d deep", path, MAX_DEPTH);
    if (s.n_values > MAX_VALUES) return clt_fail(error, CLT_E_RANGE, "'%s' has more than %u values", path, MAX_VALUES);
  }
  bool cut_off = s.depth > 0 || s.at > s.n;
  if (cut_off && !s.broken) mend(text, &s);
  return CLT_OK;
}
