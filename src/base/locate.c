#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A light scanner: it knows strings, brackets and commas, and believes the rest. */
typedef struct scanner {
  const char *at;
  int line;
} scanner;

static void space(scanner *s) {
  for (; *s->at && strchr(" \t\r\n", *s->at); s->at++)
    if (*s->at == '\n') s->line++;
}

/* Leaves the scanner behind the closing quote. */
static void string(scanner *s) {
  for (s->at++; *s->at && *s->at != '"'; s->at++) {
    if (*s->at == '\\' && s->at[1]) s->at++;
    if (*s->at == '\n') s->line++;
  }
  if (*s->at) s->at++;
}

/* Leaves the scanner behind a value of any kind. */
static void value(scanner *s) {
  int depth = 0;
  for (; *s->at; s->at++) {
    char c = *s->at;
    if (c == '"') {
      string(s);
      s->at--;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return;
    if (c == '\n') s->line++;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth == 0 && (c == '}' || c == ']')) {
      s->at++;
      return;
    }
  }
}

static bool next(scanner *s) {
  space(s);
  if (*s->at != ',') return false;
  s->at++;
  space(s);
  return true;
}

/* The rest of the path behind `name` (n characters), if the path begins with it; else NULL. */
static const char *behind(const char *path, const char *name, size_t n) {
  if (strncmp(path, name, n) != 0) return NULL;
  if (path[n] == '.') return path + n + 1;
  return path[n] == 0 || path[n] == '[' ? path + n : NULL;
}

/* Moves into the member of an object that the path begins with. */
static const char *into_member(scanner *s, const char *path) {
  s->at++;
  space(s);
  while (*s->at == '"') {
    int line = s->line;
    const char *name = s->at + 1;
    string(s);
    const char *rest = behind(path, name, (size_t)(s->at - name - 1));
    space(s);
    if (*s->at != ':') return NULL;
    s->at++;
    if (rest) {
      scanner inside = *s;
      space(&inside);
      s->at = inside.at;
      s->line = *rest ? inside.line : line;
      return rest;
    }
    space(s);
    value(s);
    if (!next(s)) return NULL;
  }
  return NULL;
}

/* Moves to the item of a list that the path begins with: "[2]...". */
static const char *into_item(scanner *s, const char *path) {
  char *end;
  unsigned long index = strtoul(path + 1, &end, 10);
  if (*end != ']') return NULL;
  s->at++;
  space(s);
  for (unsigned long i = 0; i < index; i++) {
    if (*s->at == ']' || *s->at == 0) return NULL;
    value(s);
    if (!next(s)) return NULL;
  }
  return end[1] == '.' ? end + 2 : end + 1;
}

int clt_json_line(const char *text, const char *key) {
  scanner s = {text, 1};
  int line = 0;
  space(&s);
  while (key && *key) {
    bool item = *key == '[';
    if (*s.at != (item ? '[' : '{')) break;
    int before = s.line;
    scanner inside = s;
    key = item ? into_item(&inside, key) : into_member(&inside, key);
    line = key ? inside.line : line ? line : before;
    if (key) s = inside;
  }
  return line;
}
