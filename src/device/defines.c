/* Finds the macros that a kernel's text defines itself, because compilers do not report which of them override -D. */
#include <ctype.h>

#include "base/base.h"
#include "device/device.h"

typedef struct condition {
  const char *text;
  size_t depth;
} condition;

typedef struct define_reader {
  condition *conditions; /* the open conditions with their "#elif"s; what is below one of them depends on all */
  size_t n_conditions, conditions_capacity, depth;
  clt_define *defines; /* line 0: an "#undef" */
  size_t n, capacity;
} define_reader;

char *clt_plain_source(const char *in) {
  char *text = malloc(strlen(in) + 1), *out = text, quote = 0;
  size_t n_breaks = 0; /* line breaks in a comment or behind a backslash, not yet written */
  bool blank = true;   /* nothing but white space in this line so far */
  if (text == NULL) return NULL;
  while (*in) {
    size_t joined = 0;
    if (strncmp(in, "\\\n", 2) == 0) joined = 2;
    if (strncmp(in, "\\\r\n", 3) == 0) joined = 3;
    bool ends = *in == '\n';
    if (joined) {
      in += joined;
      n_breaks++;
    } else if (quote == 0 && in[0] == '/' && (in[1] == '*' || in[1] == '/')) {
      bool block = in[1] == '*';
      for (in += 2; *in && !(block ? in[0] == '*' && in[1] == '/' : *in == '\n' && in[-1] != '\\'); in++)
        n_breaks += *in == '\n';
      if (block && *in) in += 2;
      *out++ = ' ';
    } else {
      if (quote && *in == '\\' && in[1])
        *out++ = *in++;
      else if (*in == quote || ends)
        quote = 0;
      else if (quote == 0 && (*in == '"' || *in == '\''))
        quote = *in;
      blank = ends || (blank && isspace((unsigned char)*in));
      *out++ = *in++;
    }
    for (; blank && n_breaks; n_breaks--) *out++ = '\n';
  }
  *out = '\0';
  return text;
}

/* --- words --- */

const char *clt_next_word(const char *text, const char *at, const char *name) {
  const size_t n = strlen(name);
  while ((at = strstr(at, name)) != NULL && ((at > text && clt_in_word(at[-1])) || clt_in_word(at[n]))) at++;
  return at;
}

bool clt_reads_macro_at(const char *text, const char *at) {
  static const char *const others[] = {"define", "undef", "ifdef", "ifndef", "defined"};
  while (at > text && strchr(" \t(", at[-1])) at--;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const size_t n = strlen(others[i]);
    if ((size_t)(at - text) > n && strncmp(at - n, others[i], n) == 0 && !clt_in_word(at[-(ptrdiff_t)n - 1]))
      return false;
  }
  return true;
}

bool clt_reads_macro(const char *text, const char *name) {
  for (const char *at = text; (at = clt_next_word(text, at, name)) != NULL; at++)
    if (clt_reads_macro_at(text, at)) return true;
  return false;
}

/* --- definitions --- */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\f\v"); }

static int add_condition(define_reader *r, const char *text, clt_error *error) {
  if (clt_grow(&r->conditions, &r->conditions_capacity, r->n_conditions + 1, sizeof *r->conditions))
    return clt_fail_memory(error);
  r->conditions[r->n_conditions++] = (condition){text, r->depth};
  return CLT_OK;
}

static int add_define(define_reader *r, const char *at, int line, clt_error *error) {
  clt_define define = {.line = line, .conditional = r->depth > 0};
  size_t n = 0;
  while (clt_in_word(at[n])) n++;
  if (n == 0 || n >= sizeof define.name || r->n == CLT_MAX_DEFINES) return CLT_OK;
  if (clt_grow(&r->defines, &r->capacity, r->n + 1, sizeof *r->defines)) return clt_fail_memory(error);
  memcpy(define.name, at, n);
  for (const condition *c = r->conditions; c < r->conditions + r->n_conditions; c++)
    define.guarded |= clt_next_word(c->text, c->text, define.name) != NULL;
  for (size_t i = 0; i < r->n; i++)
    define.guarded |= r->defines[i].line == 0 && strcmp(r->defines[i].name, define.name) == 0;
  define.has_arguments = at[n] == '(';
  strncpy(define.value, skip_blanks(at + n), sizeof define.value - 1);
  r->defines[r->n++] = define;
  return CLT_OK;
}

int clt_defines(clt_define **out, size_t *n, const char *text, clt_error *error) {
  define_reader r = {0};
  int rc = CLT_OK, number = 1;
  char *plain = clt_plain_source(text), *next;
  if (plain == NULL) return clt_fail_memory(error);
  for (char *line = plain; rc == CLT_OK && line; line = next, number++) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);) line[--length] = '\0';
    const char *at = skip_blanks(line);
    if (*at != '#') continue;
    char word[8] = "";
    at = skip_blanks(at + 1);
    for (size_t i = 0; clt_in_word(*at); i++, at++)
      if (i + 1 < sizeof word) word[i] = *at;
    at = skip_blanks(at);
    if (strcmp(word, "if") == 0 || strcmp(word, "ifdef") == 0 || strcmp(word, "ifndef") == 0) {
      r.depth++;
      rc = add_condition(&r, at, error);
    } else if (strcmp(word, "elif") == 0 && r.depth > 0) {
      rc = add_condition(&r, at, error);
    } else if (strcmp(word, "endif") == 0 && r.depth > 0) {
      while (r.n_conditions && r.conditions[r.n_conditions - 1].depth == r.depth) r.n_conditions--;
      r.depth--;
    } else if (strcmp(word, "line") == 0 && isdigit((unsigned char)*at)) {
      number = (int)(strtol(at, NULL, 10) % 1000000000) - 1;
    } else if (strcmp(word, "define") == 0) {
      rc = add_define(&r, at, number > 0 ? number : 1, error);
    } else if (strcmp(word, "undef") == 0) {
      rc = add_define(&r, at, 0, error);
    }
  }
  free(plain);
  free(r.conditions);
  if (rc) {
    free(r.defines);
    return rc;
  }
  *n = 0; /* without the "#undef"s */
  for (size_t i = 0; i < r.n; i++)
    if (r.defines[i].line > 0) r.defines[(*n)++] = r.defines[i];
  *out = r.defines;
  return CLT_OK;
}
