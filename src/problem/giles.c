/* Giles' configuration file: NAME = value, or NAME = { value } over several lines; '#' begins a comment. */
#include "problem/giles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/giles_parts.h"

static const char *const known_names[] = {"PARAMS",
                                          "PARAMETERS_FILE",
                                          "PARAMETERS_FORMAT",
                                          "FIGURE_OF_MERIT_FILE",
                                          "EVALUATION",
                                          "STRATEGY",
                                          "CHECK",
                                          "FILES",
                                          "LINKS",
                                          "CONDITIONS",
                                          "BUDGET"};
#define N_KNOWN (sizeof known_names / sizeof *known_names)

/* --- scanning --- */

static bool begins_comment(const char *text, const char *at) {
  return *at == '#' && (at == text || isspace((unsigned char)at[-1]));
}

/* Comments become spaces, so that nobody else has to know them. */
static void blank_comments(char *text) {
  for (char *at = text; *at; at++)
    if (begins_comment(text, at)) memset(at, ' ', strcspn(at, "\n"));
}

bool clt_is_giles(const char *text) {
  const char *at = text;
  while (*at && (isspace((unsigned char)*at) || *at == '#')) {
    if (*at == '#') at += strcspn(at, "\n");
    if (*at) at++;
  }
  return isalpha((unsigned char)*at) || *at == '_';
}

typedef struct scanner {
  giles *g;
  const char *at;
  int line;
} scanner;

static void skip_space(scanner *s) {
  for (; isspace((unsigned char)*s->at) || *s->at == ';'; s->at++) s->line += *s->at == '\n';
}

static int fail_here(const scanner *s, clt_error *error, const char *what) {
  return clt_fail_at(error, CLT_E_FORMAT, s->g->source->path, s->line, NULL, "%s", what);
}

static char *trimmed(const char *text, size_t n) {
  while (n > 0 && isspace((unsigned char)*text)) text++, n--;
  while (n > 0 && (isspace((unsigned char)text[n - 1]))) n--;
  return strndup(text, n);
}

/* The text between a brace and the one that closes it. */
static int scan_braces(scanner *s, char **out, clt_error *error) {
  const char *begin = s->at + 1;
  int depth = 0, first = s->line;
  for (; *s->at; s->at++) {
    s->line += *s->at == '\n';
    depth += (*s->at == '{') - (*s->at == '}');
    if (depth == 0) break;
  }
  if (*s->at == 0) return s->line = first, fail_here(s, error, "the '{' is never closed");
  *out = trimmed(begin, (size_t)(s->at - begin));
  s->at++;
  return *out ? CLT_OK : clt_fail_memory(error);
}

static int scan_value(scanner *s, char **out, clt_error *error) {
  s->at += strspn(s->at, " \t");
  if (*s->at == '{') return scan_braces(s, out, error);
  size_t n = strcspn(s->at, "\n");
  size_t kept = n;
  while (kept > 0 && strchr(" \t\r;", s->at[kept - 1])) kept--;
  *out = trimmed(s->at, kept);
  s->at += n;
  return *out ? CLT_OK : clt_fail_memory(error);
}

static int scan_entry(scanner *s, giles_entry *entry, clt_error *error) {
  size_t n = 0;
  while (isalnum((unsigned char)s->at[n]) || s->at[n] == '_') n++;
  entry->line = s->line;
  if (n == 0) return fail_here(s, error, "needs a name: NAME = value");
  entry->name = strndup(s->at, n);
  if (entry->name == NULL) return clt_fail_memory(error);
  s->at += n + strspn(s->at + n, " \t");
  if (*s->at != '=') return fail_here(s, error, "needs a '=' behind the name");
  s->at++;
  return scan_value(s, &entry->value, error);
}

static int scan(giles *g, char *text, clt_error *error) {
  scanner s = {.g = g, .at = text, .line = 1};
  blank_comments(text);
  for (skip_space(&s); *s.at; skip_space(&s)) {
    if (clt_grow(&g->entries, &g->capacity, g->n + 1, sizeof *g->entries)) return clt_fail_memory(error);
    giles_entry *entry = &g->entries[g->n++];
    *entry = (giles_entry){NULL, NULL, 0};
    int rc = scan_entry(&s, entry, error);
    if (rc) return rc;
    if (giles_find(g, entry->name) != entry)
      return giles_fail(g, entry, error, "\"%s\" is there already, on line %d", entry->name,
                        giles_find(g, entry->name)->line);
  }
  return CLT_OK;
}

/* --- names --- */

giles_entry *giles_find(const giles *g, const char *name) {
  for (size_t i = 0; i < g->n; i++)
    if (g->entries[i].name && strcmp(g->entries[i].name, name) == 0) return &g->entries[i];
  return NULL;
}

static bool is_known(const char *name) {
  for (size_t i = 0; i < N_KNOWN; i++)
    if (strcmp(known_names[i], name) == 0) return true;
  return false;
}

static bool is_declared(const giles *g, const char *name) {
  for (size_t i = 0; i < g->n_declared; i++)
    if (strcmp(g->declared[i], name) == 0) return true;
  return false;
}

/* What a name without meaning may stand for: a parameter without values, or a key that is missing. */
static int no_such_name(const giles *g, const giles_entry *entry, clt_error *error) {
  const char *absent[GILES_MAX_NAMES + N_KNOWN];
  size_t n = 0;
  for (size_t i = 0; i < g->n_declared; i++)
    if (giles_find(g, g->declared[i]) == NULL) absent[n++] = g->declared[i];
  for (size_t i = 0; i < N_KNOWN; i++)
    if (giles_find(g, known_names[i]) == NULL) absent[n++] = known_names[i];
  const char *near = clt_nearest_name(entry->name, absent, n);
  return giles_fail(g, entry, error, "\"%s\" is neither a key nor a parameter of PARAMS%s%s%s", entry->name,
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int check_names(const giles *g, clt_error *error) {
  const giles_entry *params = giles_find(g, "PARAMS");
  for (size_t i = 0; i < g->n; i++)
    if (!is_known(g->entries[i].name) && !is_declared(g, g->entries[i].name))
      return no_such_name(g, &g->entries[i], error);
  for (size_t i = 0; i < g->n_declared; i++)
    if (giles_find(g, g->declared[i]) == NULL)
      return giles_fail(g, params, error, "\"%s\" has no values: write %s = {1, 2, 4}", g->declared[i], g->declared[i]);
  return CLT_OK;
}

/* --- PARAMS --- */

static int declare(giles *g, const giles_entry *params, const char *name, size_t n, json_t *group, clt_error *error) {
  char *copy = strndup(name, n);
  if (copy == NULL) return clt_fail_memory(error);
  if (g->n_declared < GILES_MAX_NAMES)
    g->declared[g->n_declared++] = copy;
  else
    return free(copy), giles_fail(g, params, error, "has more than %d parameters", GILES_MAX_NAMES);
  if (!clt_is_name(copy))
    return giles_fail(g, params, error, "\"%s\" cannot be a name: use letters, digits and _", copy);
  if (is_known(copy)) return giles_fail(g, params, error, "\"%s\" is a key and cannot be a parameter", copy);
  return json_array_append_new(group, json_string(copy)) ? clt_fail_memory(error) : CLT_OK;
}

/* A list up to its '}', or the end; *at is left there. */
static int parse_group(giles *g, const giles_entry *params, const char **at, json_t *group, int depth,
                       clt_error *error) {
  int rc = CLT_OK;
  while (rc == CLT_OK && **at && **at != '}') {
    size_t n = strcspn(*at, "{}, \t\r\n");
    if (n > 0) {
      rc = declare(g, params, *at, n, group, error);
      *at += n;
    } else if (**at != '{') {
      ++*at;
    } else if (depth == GILES_MAX_DEPTH) {
      rc = giles_fail(g, params, error, "has more than %d groups in each other", GILES_MAX_DEPTH);
    } else {
      json_t *inner = json_array();
      ++*at;
      rc = parse_group(g, params, at, inner, depth + 1, error);
      if (**at == '}') ++*at;
      if (json_array_append_new(group, inner) && rc == CLT_OK) rc = clt_fail_memory(error);
    }
  }
  return rc;
}

static int parse_params(giles *g, json_t *groups, clt_error *error) {
  const giles_entry *params = giles_find(g, "PARAMS");
  if (params == NULL)
    return clt_fail_at(error, CLT_E_FORMAT, g->source->path, 1, NULL, "needs PARAMS = {name, name, {name, name}}");
  const char *at = params->value;
  int rc = parse_group(g, params, &at, groups, 0, error);
  if (rc == CLT_OK && g->n_declared == 0) rc = giles_fail(g, params, error, "needs the name of a parameter");
  return rc ? rc : check_names(g, error);
}

/* --- the whole --- */

int giles_note_line(giles *g, const char *key, const giles_entry *entry, clt_error *error) {
  clt_source *source = g->source;
  if (clt_grow(&source->lines, &source->lines_capacity, source->n_lines + 1, sizeof *source->lines))
    return clt_fail_memory(error);
  char *copy = strdup(key);
  if (copy == NULL) return clt_fail_memory(error);
  source->lines[source->n_lines++] = (clt_key_line){copy, entry->line};
  return CLT_OK;
}

static void release(giles *g) {
  for (size_t i = 0; i < g->n; i++) {
    free(g->entries[i].name);
    free(g->entries[i].value);
  }
  for (size_t i = 0; i < g->n_declared; i++) free(g->declared[i]);
  free(g->entries);
}

/* JSON holds nothing else. */
static int check_text(const clt_source *source, clt_error *error) {
  json_t *text = json_string(source->text);
  json_decref(text);
  return text ? CLT_OK : clt_fail_at(error, CLT_E_FORMAT, source->path, 0, NULL, "is not UTF-8 text");
}

int clt_giles_parse(json_t **out, clt_source *source, clt_error *error) {
  giles g = {.source = source};
  char *text = strdup(source->text);
  json_t *groups = json_array(), *root = NULL;
  int rc = check_text(source, error);
  if (rc == CLT_OK) rc = text && groups ? scan(&g, text, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = parse_params(&g, groups, error);
  if (rc == CLT_OK) rc = giles_to_json(&g, groups, &root, error);
  json_decref(groups);
  free(text);
  release(&g);
  if (rc) return json_decref(root), rc;
  *out = root;
  return CLT_OK;
}
