/* The macros that a kernel's text defines, by its own "#define"s: no compiler says which of them win over -D. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "device/inspect.h"

#define MAX_DEPTH 64 /* of conditions that are looked at */

typedef struct reader {
  const char *at;
  int line, next_line; /* where the directive began; of what follows */
  char text[1024];     /* without comments, continued lines joined; what does not fit is cut */
  char conditions[MAX_DEPTH][256];
  size_t depth;
  clt_define *defines; /* line 0: an "#undef" */
  size_t n, capacity;
} reader;

/* What stands where no name, number or string goes on: a comment becomes a blank. */
static const char *skip_comment(reader *r, const char *at) {
  bool block = at[1] == '*';
  for (at += 2; *at && !(block && at[0] == '*' && at[1] == '/'); at++) {
    if (*at == '\n' && !block && at[-1] != '\\') return at;
    r->next_line += *at == '\n';
  }
  return *at ? at + 2 : at;
}

/* A directive stands on the line of its first byte, whatever comment goes before. */
static void put_byte(reader *r, size_t *n, char c) {
  if (*n == 0 && isspace((unsigned char)c)) return;
  if (*n == 0) r->line = r->next_line;
  if (*n + 1 < sizeof r->text) r->text[(*n)++] = c;
}

static bool read_line(reader *r) {
  size_t n = 0;
  char quote = 0;
  if (*r->at == '\0') return false;
  r->line = r->next_line;
  while (*r->at && *r->at != '\n') {
    bool carriage = r->at[0] == '\\' && r->at[1] == '\r' && r->at[2] == '\n';
    if (carriage || (r->at[0] == '\\' && r->at[1] == '\n')) {
      r->at += carriage ? 3 : 2;
      r->next_line++;
    } else if (quote == 0 && r->at[0] == '/' && (r->at[1] == '/' || r->at[1] == '*')) {
      r->at = skip_comment(r, r->at);
      put_byte(r, &n, ' ');
    } else {
      if (quote && *r->at == '\\' && r->at[1])
        put_byte(r, &n, *r->at++);
      else if (*r->at == quote)
        quote = 0;
      else if (quote == 0 && (*r->at == '"' || *r->at == '\''))
        quote = *r->at;
      put_byte(r, &n, *r->at++);
    }
  }
  if (*r->at == '\n') r->at++, r->next_line++;
  while (n && isspace((unsigned char)r->text[n - 1])) n--;
  r->text[n] = '\0';
  return true;
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* What follows "#word"; NULL: the line is another one. */
static const char *directive(const char *line, const char *word) {
  const size_t n = strlen(word);
  line = skip_blanks(line);
  if (*line++ != '#') return NULL;
  line = skip_blanks(line);
  return strncmp(line, word, n) == 0 && !is_name_byte(line[n]) ? skip_blanks(line + n) : NULL;
}

static bool mentions(const char *condition, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(condition, name); at; at = strstr(at + 1, name))
    if ((at == condition || !is_name_byte(at[-1])) && !is_name_byte(at[n])) return true;
  return false;
}

static bool is_guarded(const reader *r, const char *name) {
  for (size_t i = 0; i < r->depth && i < MAX_DEPTH; i++)
    if (mentions(r->conditions[i], name)) return true;
  for (size_t i = 0; i < r->n; i++)
    if (r->defines[i].line == 0 && strcmp(r->defines[i].name, name) == 0) return true;
  return false;
}

static int add_define(reader *r, const char *at, int line, clt_error *error) {
  clt_define define = {.line = line, .conditional = r->depth > 0};
  size_t n = 0;
  while (is_name_byte(at[n])) n++;
  if (n == 0 || n >= sizeof define.name || r->n == CLT_MAX_DEFINES) return CLT_OK;
  if (clt_grow(&r->defines, &r->capacity, r->n + 1, sizeof *r->defines)) return clt_fail_memory(error);
  memcpy(define.name, at, n);
  define.guarded = is_guarded(r, define.name);
  define.has_arguments = at[n] == '(';
  strncpy(define.value, skip_blanks(at + n), sizeof define.value - 1);
  r->defines[r->n++] = define;
  return CLT_OK;
}

/* A condition is kept with those of its "#elif"s: what is under any of them is under all. */
static void note_condition(reader *r, const char *condition) {
  if (r->depth == 0 || r->depth > MAX_DEPTH) return;
  char *kept = r->conditions[r->depth - 1];
  size_t used = strlen(kept), room = sizeof r->conditions[0] - used;
  if (room > 2) kept[used] = ' ', strncpy(kept + used + 1, condition, room - 2), kept[used + room - 1] = '\0';
}

static void open_condition(reader *r, const char *condition) {
  if (r->depth < MAX_DEPTH) memset(r->conditions[r->depth], 0, sizeof r->conditions[0]);
  r->depth++;
  note_condition(r, condition);
}

static int take_directive(reader *r, clt_error *error) {
  const char *at;
  if ((at = directive(r->text, "if")) || (at = directive(r->text, "ifdef")) || (at = directive(r->text, "ifndef"))) {
    open_condition(r, at);
  } else if ((at = directive(r->text, "elif"))) {
    note_condition(r, at);
  } else if (directive(r->text, "endif")) {
    r->depth -= r->depth > 0;
  } else if ((at = directive(r->text, "line")) && isdigit((unsigned char)*at)) {
    r->next_line = (int)(strtol(at, NULL, 10) % 1000000000);
  } else if ((at = directive(r->text, "define"))) {
    return add_define(r, at, r->line > 0 ? r->line : 1, error);
  } else if ((at = directive(r->text, "undef"))) {
    return add_define(r, at, 0, error);
  }
  return CLT_OK;
}

int clt_defines(clt_define **out, size_t *n, const char *text, clt_error *error) {
  reader *r = calloc(1, sizeof *r);
  int rc = r ? CLT_OK : clt_fail_memory(error);
  if (rc) return rc;
  r->at = text;
  r->next_line = 1;
  while (rc == CLT_OK && read_line(r)) rc = take_directive(r, error);
  if (rc == CLT_OK) {
    size_t n_kept = 0; /* without the "#undef"s */
    for (size_t i = 0; i < r->n; i++)
      if (r->defines[i].line > 0) r->defines[n_kept++] = r->defines[i];
    *n = n_kept;
    *out = r->defines;
  } else {
    free(r->defines);
  }
  free(r);
  return rc;
}
