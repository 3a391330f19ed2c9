#include <ctype.h>
#include <link.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
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

/* A piece of the header. A piece with a name is kept only for sources that mention the name. */
typedef struct piece {
  word text;
  uint64_t name; /* its key; 0: none */
} piece;

/* Sets of words hold hashes. If two words have the same hash, the only effect is an unnecessary declaration. */
struct clt_declarations {
  char *text;
  piece *pieces;
  size_t n_pieces, capacity;
  clt_map learnt;
};

static uint64_t word_key(word w) { return clt_hash64(w.text, w.length) >> 1 | 1; } /* a valid key of a map, and not 0 */

static bool starts_word(char c) { return isalpha((unsigned char)c) || c == '_'; }

static int add_piece(clt_declarations *d, const char *text, size_t length, word name, clt_error *error) {
  if (clt_grow(&d->pieces, &d->capacity, d->n_pieces + 1, sizeof *d->pieces)) return clt_fail_memory(error);
  d->pieces[d->n_pieces++] = (piece){{text, length}, name.text ? word_key(name) : 0};
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
  while (begin > text && clt_in_word(begin[-1])) begin--;
  if (begin == end || !starts_word(*begin) || clt_starts_with(begin, "__attribute")) return none;
  for (const char *c = text; c < begin; c++)
    if (!clt_in_word(*c) && !isspace((unsigned char)*c) && *c != '*') return none;
  return (word){begin, (size_t)(end - begin)};
}

static bool is_guard(const char *text, const char *end) {
  const char *at = strstr(text, GUARD);
  return at && at < end && !clt_in_word(at[strlen(GUARD)]);
}

/* Directives of the guard and includes are left out: the guard is defined by then, and the includes were read
 * before. */
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
  if (rc == CLT_OK)
    *out = d;
  else
    clt_declarations_free(d);
  return rc;
}

void clt_declarations_free(clt_declarations *declarations) {
  if (declarations == NULL) return;
  free(declarations->pieces);
  clt_map_release(&declarations->learnt);
  free(declarations->text);
  free(declarations);
}

/* The next word of a text; false at its end. */
static bool next_word(word *out, const char **at) {
  while (**at) {
    const char *begin = *at;
    while (clt_in_word(**at)) ++*at;
    *out = (word){begin, (size_t)(*at - begin)};
    if (out->length > 0 && starts_word(*begin)) return true;
    if (**at) ++*at;
  }
  return false;
}

size_t clt_declarations_learn(clt_declarations *declarations, const char *log) {
  clt_map words = {0};
  size_t before = declarations->learnt.n;
  bool added = true;
  for (word w; added && next_word(&w, &log);) {
    if (w.length > PREFIX_LENGTH && strncmp(w.text, PREFIX, PREFIX_LENGTH) == 0)
      w = (word){w.text + PREFIX_LENGTH, w.length - PREFIX_LENGTH};
    added = clt_map_add(&words, word_key(w), NULL) != NULL;
  }
  for (size_t i = 0; added && i < declarations->n_pieces; i++)
    if (declarations->pieces[i].name && clt_map_find(&words, declarations->pieces[i].name))
      added = clt_map_add(&declarations->learnt, declarations->pieces[i].name, NULL) != NULL;
  clt_map_release(&words);
  return declarations->learnt.n - before;
}

char *clt_declarations_prepend(const clt_declarations *declarations, const char *source, const char *options) {
  clt_map words = {0};
  clt_text all = {0};
  char *out = NULL;
  bool added = true;
  word w;
  for (const char *at = source; added && next_word(&w, &at);) added = clt_map_add(&words, word_key(w), NULL) != NULL;
  for (const char *at = options ? options : ""; added && next_word(&w, &at);) {
    added = clt_map_add(&words, word_key(w), NULL) != NULL;
    /* In -DNAME=word, the D is part of the first word, so the word without it counts as well. */
    if (added && w.text[0] == 'D' && w.length > 1 && w.text > options && w.text[-1] == '-')
      added = clt_map_add(&words, word_key((word){w.text + 1, w.length - 1}), NULL) != NULL;
  }
  uint64_t last = 0;
  bool last_wanted = false;
  for (size_t i = 0; i < declarations->n_pieces; i++) {
    const piece *p = &declarations->pieces[i];
    /* Overloads follow each other, so one lookup answers for all of them. */
    if (p->name && p->name != last) {
      last = p->name;
      last_wanted = clt_map_find(&words, last) || clt_map_find(&declarations->learnt, last);
    }
    if (p->name == 0 || last_wanted) clt_text_add_bytes(&all, p->text.text, p->text.length);
  }
  clt_text_add(&all, "\n#line 1\n");
  clt_text_add(&all, source);
  if (added)
    clt_text_take(&out, &all, NULL);
  else
    clt_text_release(&all);
  clt_map_release(&words);
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
