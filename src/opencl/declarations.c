#include <ctype.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "device/device.h"
#include "opencl/internal.h"

#define MAX_HEADER_BYTES ((size_t)16 << 20)
enum { MAX_PARENTS = 4 };

#define GUARD "_OPENCL_H_"
#define PREFIX "_cl_" /* PoCL's own names for builtin functions */
#define PREFIX_LENGTH (sizeof PREFIX - 1)

typedef struct word {
  const char *text;
  size_t length;
} word;

/* A piece of the header; one with a name is kept only for sources that mention the name. */
typedef struct piece {
  word text, name;
} piece;

typedef struct word_list {
  word *items;
  size_t n, capacity;
  bool failed; /* out of memory: some are missing */
} word_list;

struct clt_declarations {
  char *text;
  piece *pieces;
  size_t n_pieces, capacity;
  word_list learnt;
};

static bool starts_word(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static int compare_words(const void *a, const void *b) {
  const word *x = a, *y = b;
  int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int add_piece(clt_declarations *d, const char *text, size_t length, word name, clt_error *error) {
  if (clt_grow(&d->pieces, &d->capacity, d->n_pieces + 1, sizeof *d->pieces)) return clt_fail_memory(error);
  d->pieces[d->n_pieces++] = (piece){{text, length}, name};
  return CLT_OK;
}

/* The function that a statement declares: the word before its first parenthesis. Anything but a plain declaration has
 * no name, and is kept for all sources. */
static word declared_name(const char *text, size_t length) {
  const word none = {NULL, 0};
  const char *end = memchr(text, '(', length);
  if (end == NULL || memchr(text, '{', length) || memchr(text, '=', length)) return none;
  while (end > text && isspace((unsigned char)end[-1])) end--;
  const char *begin = end;
  while (begin > text && in_word(begin[-1])) begin--;
  if (begin == end || !starts_word(*begin) || clt_starts_with(begin, "__attribute")) return none;
  for (const char *c = text; c < begin; c++)
    if (!in_word(*c) && !isspace((unsigned char)*c) && *c != '*') return none;
  return (word){begin, (size_t)(end - begin)};
}

static bool is_guard(const char *text, const char *end) {
  const char *at = strstr(text, GUARD);
  return at && at < end && !in_word(at[strlen(GUARD)]);
}

/* Directives that guard or include are left out: the guard is set by then, and what is included was read before. */
static int cut_header(clt_declarations *d, clt_error *error) {
  const word none = {NULL, 0};
  const char *statement = NULL, *end;
  int rc = CLT_OK;
  bool guarded = false;
  for (const char *line = d->text; rc == CLT_OK && *line; line = end) {
    const char *first = line + strspn(line, " \t\r\f\v"), *newline = strchr(line, '\n');
    end = newline ? newline + 1 : line + strlen(line);
    if (first >= end || *first == '\n') continue;
    if (*first == '#') {
      const char *directive = first + 1 + strspn(first + 1, " \t");
      bool guards = is_guard(line, end);
      if (statement) rc = add_piece(d, statement, (size_t)(line - statement), none, error);
      statement = NULL;
      if (!guarded && guards)
        guarded = true, rc = add_piece(d, "#if 1\n", strlen("#if 1\n"), none, error);
      else if (rc == CLT_OK && !clt_starts_with(directive, "include") &&
               !(guards && clt_starts_with(directive, "define")))
        rc = add_piece(d, line, (size_t)(end - line), none, error);
      continue;
    }
    const char *last = end;
    while (isspace((unsigned char)last[-1])) last--;
    if (statement == NULL) statement = line;
    if (last[-1] == ';') {
      size_t length = (size_t)(end - statement);
      rc = add_piece(d, statement, length, declared_name(statement, length), error);
      statement = NULL;
    }
  }
  if (rc == CLT_OK && !guarded) return clt_fail(error, CLT_E_FORMAT, "the header has no guard " GUARD);
  return rc;
}

int clt_declarations_parse(clt_declarations **out, const char *text, clt_error *error) {
  clt_declarations *d = clt_new_array(1, sizeof *d);
  if (d) d->text = clt_plain_source(text);
  int rc = d && d->text ? cut_header(d, error) : clt_fail_memory(error);
  if (rc) return clt_declarations_free(d), rc;
  *out = d;
  return CLT_OK;
}

void clt_declarations_free(clt_declarations *declarations) {
  if (declarations == NULL) return;
  free(declarations->pieces);
  free(declarations->learnt.items);
  free(declarations->text);
  free(declarations);
}

static void add_word(word_list *list, word w) {
  if (list->failed || clt_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items))
    list->failed = true;
  else
    list->items[list->n++] = w;
}

static void add_words(word_list *list, const char *text) {
  while (*text) {
    const char *begin = text;
    while (in_word(*text)) text++;
    if (text > begin && starts_word(*begin)) add_word(list, (word){begin, (size_t)(text - begin)});
    if (*text) text++;
  }
}

static bool has_word(const word_list *sorted, word w) {
  return sorted->n && bsearch(&w, sorted->items, sorted->n, sizeof w, compare_words);
}

size_t clt_declarations_learn(clt_declarations *declarations, const char *log) {
  word_list words = {0}, *learnt = &declarations->learnt;
  size_t before = learnt->n;
  add_words(&words, log);
  for (size_t i = 0; i < words.n; i++) {
    word *w = &words.items[i];
    if (w->length > PREFIX_LENGTH && strncmp(w->text, PREFIX, PREFIX_LENGTH) == 0)
      *w = (word){w->text + PREFIX_LENGTH, w->length - PREFIX_LENGTH};
  }
  if (words.n) qsort(words.items, words.n, sizeof *words.items, compare_words);
  for (size_t i = 0; !words.failed && i < declarations->n_pieces; i++) {
    word name = declarations->pieces[i].name;
    if (name.text == NULL || !has_word(&words, name)) continue;
    size_t l = 0;
    while (l < learnt->n && compare_words(&learnt->items[l], &name) != 0) l++;
    if (l == learnt->n) add_word(learnt, name);
  }
  free(words.items);
  return learnt->n - before;
}

char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options) {
  word_list words = {0};
  clt_text all = {0};
  char *out = NULL;
  for (size_t i = 0; i < declarations->learnt.n; i++) add_word(&words, declarations->learnt.items[i]);
  add_words(&words, source);
  size_t before = words.n;
  add_words(&words, options ? options : "");
  /* -DNAME=word: the D belongs to the first word, so both readings are words. */
  for (size_t i = before, end = words.n; i < end; i++) {
    word w = words.items[i];
    if (w.text[0] == 'D' && w.length > 1 && w.text != options && w.text[-1] == '-')
      add_word(&words, (word){w.text + 1, w.length - 1});
  }
  if (words.n) qsort(words.items, words.n, sizeof *words.items, compare_words);
  word last = {0};
  bool last_wanted = false;
  for (size_t i = 0; i < declarations->n_pieces; i++) {
    word text = declarations->pieces[i].text, name = declarations->pieces[i].name;
    /* Overloads stand together: one search answers for all of them. */
    if (name.text && (last.text == NULL || compare_words(&name, &last) != 0)) {
      last = name;
      last_wanted = has_word(&words, name);
    }
    if (name.text == NULL || last_wanted) clt_text_add_bytes(&all, text.text, text.length);
  }
  clt_text_add(&all, "\n#line 1\n");
  clt_text_add(&all, source);
  if (words.failed)
    clt_text_release(&all);
  else
    clt_text_take(&out, &all, NULL);
  free(words.items);
  return out;
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

clt_declarations *clt_declarations_of_pocl(const char *platform_version) {
  clt_declarations *declarations = NULL;
  char *library = NULL, *text = NULL, *slash;
  if (strstr(platform_version, "PoCL") == NULL || strstr(platform_version, "RELOC") == NULL) return NULL;
  dl_iterate_phdr(find_pocl, &library);
  /* A relocatable PoCL (RELOC in its version) looks for its data relative to its own library. */
  for (int i = 0; library && text == NULL && i < MAX_PARENTS && (slash = strrchr(library, '/')) != NULL; i++) {
    *slash = 0;
    char *path = clt_format("%s/share/pocl/include/opencl-c.h", library);
    if (path && access(path, R_OK) == 0) clt_file_read(&text, NULL, path, MAX_HEADER_BYTES, NULL);
    free(path);
  }
  if (text) clt_declarations_parse(&declarations, text, NULL);
  free(text);
  free(library);
  return declarations;
}
