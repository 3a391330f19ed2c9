#include "opencl/declarations.h"

#include <ctype.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#define MAX_HEADER_BYTES ((size_t)16 << 20)
enum { MAX_PARENTS = 4 };

#define GUARD "_OPENCL_H_"
#define PREFIX "_cl_"
#define PREFIX_LENGTH (sizeof PREFIX - 1)

/* A piece of the header; one with a name is kept only for sources that mention the name. */
typedef struct piece {
  const char *text;
  size_t length;
  const char *name;
  size_t name_length;
} piece;

struct clt_declarations {
  char *text;
  piece *pieces;
  size_t n_pieces, capacity;
  struct word *learnt;
  size_t n_learnt, learnt_capacity;
};

typedef struct word {
  const char *text;
  size_t length;
} word;

static bool starts_word(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static int compare_words(const void *a, const void *b) {
  const word *x = a, *y = b;
  int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

static const char *skip_literal(const char *in, char **out) {
  char quote = *in;
  *(*out)++ = *in++;
  while (*in && *in != quote && *in != '\n') {
    if (*in == '\\' && in[1]) *(*out)++ = *in++;
    *(*out)++ = *in++;
  }
  if (*in == quote) *(*out)++ = *in++;
  return in;
}

/* A copy without comments and continued lines: then every directive is one line. */
static char *plain(const char *in) {
  char *text = malloc(strlen(in) + 1), *out = text;
  if (text == NULL) return NULL;
  while (*in) {
    if (in[0] == '\\' && in[1] == '\n') {
      in += 2;
    } else if (in[0] == '/' && in[1] == '*') {
      const char *end = strstr(in + 2, "*/");
      in = end ? end + 2 : in + strlen(in);
      *out++ = ' ';
    } else if (in[0] == '/' && in[1] == '/') {
      while (*in && *in != '\n') in += in[0] == '\\' && in[1] ? 2 : 1;
    } else if (*in == '"' || *in == '\'') {
      in = skip_literal(in, &out);
    } else {
      *out++ = *in++;
    }
  }
  *out = 0;
  return text;
}

/* The function that a statement declares: the word before its first parenthesis. Anything but a plain declaration has
 * no name, and is kept for all sources. */
static void name_piece(piece *p) {
  const char *open = memchr(p->text, '(', p->length);
  if (open == NULL || memchr(p->text, '{', p->length) || memchr(p->text, '=', p->length)) return;
  const char *end = open;
  while (end > p->text && isspace((unsigned char)end[-1])) end--;
  const char *begin = end;
  while (begin > p->text && in_word(begin[-1])) begin--;
  if (begin == end || !starts_word(*begin) || strncmp(begin, "__attribute", strlen("__attribute")) == 0) return;
  for (const char *c = p->text; c < begin; c++)
    if (!in_word(*c) && !isspace((unsigned char)*c) && *c != '*') return;
  p->name = begin;
  p->name_length = (size_t)(end - begin);
}

static int add_piece(clt_declarations *d, const char *text, size_t length, bool named, clt_error *error) {
  if (clt_grow(&d->pieces, &d->capacity, d->n_pieces + 1, sizeof *d->pieces)) return clt_fail_memory(error);
  piece *p = &d->pieces[d->n_pieces++];
  *p = (piece){.text = text, .length = length};
  if (named) name_piece(p);
  return CLT_OK;
}

typedef struct line {
  const char *end;  /* behind the newline */
  char first, last; /* its first and last character that is not blank; 0: an empty line */
} line;

static line read_line(const char *text) {
  line out = {.end = strchr(text, '\n')};
  out.end = out.end ? out.end + 1 : text + strlen(text);
  for (const char *c = text; c < out.end; c++) {
    if (isspace((unsigned char)*c)) continue; /* a string: NOLINT(clang-analyzer-core.uninitialized.ArraySubscript) */
    if (out.first == 0) out.first = *c;
    out.last = *c;
  }
  return out;
}

static bool is_guard(const char *text, const char *end) {
  const char *at = strstr(text, GUARD);
  return at && at < end && !in_word(at[strlen(GUARD)]);
}

/* Directives that guard or include are left out: the guard is set by then, and what is included was read before. */
static bool is_left_out(const char *text, const char *end) {
  const char *c = strchr(text, '#') + 1;
  while (c < end && isspace((unsigned char)*c)) c++;
  return strncmp(c, "include", strlen("include")) == 0 ||
         (strncmp(c, "define", strlen("define")) == 0 && is_guard(c, end));
}

static int cut(clt_declarations *d, clt_error *error) {
  const char *statement = NULL;
  int rc = CLT_OK;
  bool guarded = false;
  for (const char *text = d->text; rc == CLT_OK && *text;) {
    line l = read_line(text);
    if (l.first == '#') {
      if (statement) rc = add_piece(d, statement, (size_t)(text - statement), false, error);
      statement = NULL;
      if (!guarded && is_guard(text, l.end))
        guarded = true, rc = add_piece(d, "#if 1\n", strlen("#if 1\n"), false, error);
      else if (rc == CLT_OK && !is_left_out(text, l.end))
        rc = add_piece(d, text, (size_t)(l.end - text), false, error);
    } else if (l.first) {
      if (statement == NULL) statement = text;
      if (l.last == ';') {
        rc = add_piece(d, statement, (size_t)(l.end - statement), true, error);
        statement = NULL;
      }
    }
    text = l.end;
  }
  if (rc == CLT_OK && !guarded) return clt_fail(error, CLT_E_FORMAT, "the header has no guard " GUARD);
  return rc;
}

int clt_declarations_parse(clt_declarations **out, const char *text, clt_error *error) {
  clt_declarations *d = clt_new_array(1, sizeof *d);
  if (d) d->text = plain(text);
  int rc = d && d->text ? cut(d, error) : clt_fail_memory(error);
  if (rc)
    clt_declarations_free(d);
  else
    *out = d;
  return rc;
}

void clt_declarations_free(clt_declarations *declarations) {
  if (declarations == NULL) return;
  free(declarations->pieces);
  free(declarations->learnt);
  free(declarations->text);
  free(declarations);
}

/* All words of a text, behind those already in the list; false: out of memory. */
static bool add_words(word **words, size_t *n, size_t *capacity, const char *text) {
  while (*text) {
    const char *begin = text;
    while (in_word(*text)) text++;
    if (text > begin && starts_word(*begin)) {
      if (clt_grow(words, capacity, *n + 1, sizeof **words)) return false;
      (*words)[(*n)++] = (word){begin, (size_t)(text - begin)};
    }
    if (*text) text++;
  }
  return true;
}

/* -DNAME=word: the D belongs to the first word, so both readings are words. */
static bool add_option_words(word **words, size_t *n, size_t *capacity, const char *options) {
  size_t before = *n;
  if (!add_words(words, n, capacity, options)) return false;
  for (size_t i = before, end = *n; i < end; i++) {
    word w = (*words)[i];
    if (w.text[0] != 'D' || w.length < 2 || w.text == options || w.text[-1] != '-') continue;
    if (clt_grow(words, capacity, *n + 1, sizeof **words)) return false;
    (*words)[(*n)++] = (word){w.text + 1, w.length - 1};
  }
  return true;
}

static void write_pieces(FILE *out, const clt_declarations *d, const word *words, size_t n_words) {
  word last = {0};
  bool last_wanted = false;
  for (size_t i = 0; i < d->n_pieces; i++) {
    const piece *p = &d->pieces[i];
    word name = {p->name, p->name_length};
    /* Overloads stand together: one search answers for all of them. */
    if (name.text && (last.text == NULL || compare_words(&name, &last) != 0)) {
      last = name;
      last_wanted = bsearch(&name, words, n_words, sizeof *words, compare_words) != NULL;
    }
    if (name.text == NULL || last_wanted) fwrite(p->text, 1, p->length, out);
  }
}

static bool is_learnt(const clt_declarations *d, word name) {
  for (size_t i = 0; i < d->n_learnt; i++)
    if (compare_words(&d->learnt[i], &name) == 0) return true;
  return false;
}

size_t clt_declarations_learn(clt_declarations *declarations, const char *log) {
  word *words = NULL;
  size_t n = 0, capacity = 0, before = declarations->n_learnt;
  bool complete = add_words(&words, &n, &capacity, log);
  for (size_t i = 0; complete && i < n; i++) /* PoCL's own names for them */
    if (words[i].length > PREFIX_LENGTH && strncmp(words[i].text, PREFIX, PREFIX_LENGTH) == 0)
      words[i] = (word){words[i].text + PREFIX_LENGTH, words[i].length - PREFIX_LENGTH};
  if (n) qsort(words, n, sizeof *words, compare_words);
  for (size_t i = 0; complete && i < declarations->n_pieces; i++) {
    word name = {declarations->pieces[i].name, declarations->pieces[i].name_length};
    if (name.text == NULL || !bsearch(&name, words, n, sizeof *words, compare_words) || is_learnt(declarations, name))
      continue;
    complete = clt_grow(&declarations->learnt, &declarations->learnt_capacity, declarations->n_learnt + 1,
                        sizeof *declarations->learnt) == 0;
    if (complete) declarations->learnt[declarations->n_learnt++] = name;
  }
  free(words);
  return declarations->n_learnt - before;
}

static bool add_learnt(word **words, size_t *n, size_t *capacity, const clt_declarations *d) {
  if (clt_grow(words, capacity, *n + d->n_learnt + 1, sizeof **words)) return false;
  for (size_t i = 0; i < d->n_learnt; i++) (*words)[(*n)++] = d->learnt[i];
  return true;
}

char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options) {
  word *words = NULL;
  size_t n = 0, capacity = 0, bytes = 0;
  char *text = NULL;
  FILE *out = NULL;
  if (add_learnt(&words, &n, &capacity, declarations) && add_words(&words, &n, &capacity, source) &&
      add_option_words(&words, &n, &capacity, options ? options : ""))
    out = open_memstream(&text, &bytes);
  if (out) {
    if (n) qsort(words, n, sizeof *words, compare_words);
    write_pieces(out, declarations, words, n);
    fprintf(out, "\n#line 1\n%s", source);
    bool broken = ferror(out) != 0;
    if (fclose(out) || broken) {
      free(text);
      text = NULL;
    }
  }
  free(words);
  return text;
}

/* --- the header of the PoCL that this process has loaded --- */

static int find_pocl(struct dl_phdr_info *info, size_t bytes, void *user) {
  (void)bytes;
  char **out = user;
  const char *file = strrchr(info->dlpi_name, '/');
  if (file == NULL || strncmp(file, "/libpocl.so", strlen("/libpocl.so")) != 0) return 0;
  *out = realpath(info->dlpi_name, NULL);
  return 1;
}

int clt_declarations_of_pocl(clt_declarations **out, const char *platform_version, clt_error *error) {
  char *library = NULL, *text = NULL;
  *out = NULL;
  if (strstr(platform_version, "PoCL") == NULL || strstr(platform_version, "RELOC") == NULL) return CLT_OK;
  dl_iterate_phdr(find_pocl, &library);
  if (library == NULL) return CLT_OK;
  /* A relocatable PoCL (RELOC in its version) looks for its data relative to its own library. */
  int rc = CLT_OK;
  for (int i = 0; rc == CLT_OK && text == NULL && i < MAX_PARENTS; i++) {
    char *slash = strrchr(library, '/');
    if (slash == NULL) break;
    *slash = 0;
    char *path = clt_format("%s/share/pocl/include/opencl-c.h", library);
    if (path && access(path, R_OK) == 0) rc = clt_file_read(&text, NULL, path, MAX_HEADER_BYTES, error);
    free(path);
  }
  if (text) rc = clt_declarations_parse(out, text, error);
  free(text);
  free(library);
  return rc;
}
