/* Converts Giles' configuration file (docs/reference/program-problems.md) to JSON. An entry is NAME = value, or NAME =
 * { value } over several lines; '#' begins a comment. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/load.h"

#define MAX_NAMES 64
#define MAX_DEPTH 15

/* The kinds of entries; they are converted in this order. */
typedef enum giles_kind { SPACE, TEXT, LIST, CONDITIONS, COMMAND, FIGURE, STRATEGY, BUDGET } giles_kind;

typedef struct giles_member {
  const char *name, *key; /* key: of the JSON */
  giles_kind kind;
} giles_member;

static const giles_member members[] = {{"PARAMS", "ConfigurationSpace.Groups", SPACE},
                                       {"CONDITIONS", "ConfigurationSpace.Conditions", CONDITIONS},
                                       {"EVALUATION", "Command.Run", COMMAND},
                                       {"CHECK", "Command.Check", COMMAND},
                                       {"FIGURE_OF_MERIT_FILE", "Command.Figure", FIGURE},
                                       {"PARAMETERS_FILE", "Command.ParametersFile", TEXT},
                                       {"PARAMETERS_FORMAT", "Command.ParametersFormat", TEXT},
                                       {"FILES", "Command.Files", LIST},
                                       {"LINKS", "Command.Links", LIST},
                                       {"STRATEGY", "Strategy", STRATEGY},
                                       {"BUDGET", "Budget", BUDGET}};
#define N_MEMBERS (sizeof members / sizeof *members)

/* The value has no outer braces and no surrounding white space. */
typedef struct giles_entry {
  const char *name, *value;
  int line;
} giles_entry;

/* After the first mistake (rc is not 0), all functions do nothing. */
typedef struct giles {
  clt_source *source;
  clt_error *error;
  int rc;
  json_t *root, *groups;
  giles_entry *entries; /* their texts belong to the source */
  size_t n, capacity;
  const char *declared[MAX_NAMES]; /* names in PARAMS in their order; texts are owned by groups */
  size_t n_declared;
} giles;

#define GILES_FAIL(g, line, name, ...) \
  ((g)->rc = (g)->rc ? (g)->rc : clt_fail_at((g)->error, CLT_E_FORMAT, (g)->source->path, line, name, __VA_ARGS__))
#define GILES_FAIL_ENTRY(g, entry, ...) GILES_FAIL(g, (entry)->line, (entry)->name, __VA_ARGS__)

static char *keep_text(giles *g, const char *text) {
  char *kept = clt_source_keep(g->source, strdup(text), g->error);
  if (kept == NULL && g->rc == CLT_OK) g->rc = CLT_E_MEMORY;
  return kept;
}

/* Checks a result of jansson: 0, or out of memory. */
static void check_json(giles *g, int result) {
  if (result && g->rc == CLT_OK) g->rc = clt_fail_memory(g->error);
}

static const giles_entry *find_entry(const giles *g, const char *name) {
  for (size_t i = 0; i < g->n; i++)
    if (strcmp(g->entries[i].name, name) == 0) return &g->entries[i];
  return NULL;
}

bool clt_is_giles(const char *text) {
  const char *at = text;
  while (*at && (isspace((unsigned char)*at) || *at == '#')) {
    if (*at == '#') at += strcspn(at, "\n");
    if (*at) at++;
  }
  return isalpha((unsigned char)*at) || *at == '_';
}

/* Cuts a copy of the text into names and values. */
static void scan_entries(giles *g) {
  char *text = keep_text(g, g->source->text), *at = text;
  for (; at && *at; at++) /* replace comments by spaces */
    if (*at == '#' && (at == text || isspace((unsigned char)at[-1]))) memset(at, ' ', strcspn(at, "\n"));
  at = text;
  for (int line = 1; g->rc == CLT_OK;) {
    for (; isspace((unsigned char)*at) || *at == ';'; at++) line += *at == '\n';
    if (*at == 0) return;
    char *name = at, *value;
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    char *end = at;
    giles_entry entry = {.name = name, .line = line};
    if (end == name) GILES_FAIL(g, line, NULL, "needs a name: NAME = value");
    at += strspn(at, " \t");
    if (*at != '=') GILES_FAIL(g, line, NULL, "needs '=' after the name");
    if (g->rc) return;
    at += 1 + strspn(at + 1, " \t");
    *end = 0;
    if (*at != '{') { /* the rest of the line */
      value = at;
      end = at += strcspn(at, "\n");
      while (end > value && strchr(" \t\r;", end[-1])) end--;
      if (*at) at++, line++;
    } else { /* the text between a brace and its closing brace */
      value = at + 1;
      for (int depth = 0; *at; at++) {
        line += *at == '\n';
        depth += (*at == '{') - (*at == '}');
        if (depth == 0) break;
      }
      if (*at == 0) GILES_FAIL(g, entry.line, NULL, "the '{' is never closed");
      if (g->rc) return;
      end = at++;
    }
    while (value < end && isspace((unsigned char)*value)) value++;
    while (value < end && isspace((unsigned char)end[-1])) end--;
    *end = 0;
    entry.value = value;
    const giles_entry *other = find_entry(g, name);
    if (other) GILES_FAIL_ENTRY(g, &entry, "\"%s\" is already set on line %d", name, other->line);
    if (clt_grow(&g->entries, &g->capacity, g->n + 1, sizeof *g->entries)) g->rc = clt_fail_memory(g->error);
    if (g->rc == CLT_OK) g->entries[g->n++] = entry;
  }
}

/* --- PARAMS --- */

static bool is_known(const char *name) {
  for (size_t i = 0; i < N_MEMBERS; i++)
    if (strcmp(members[i].name, name) == 0) return true;
  return false;
}

/* Reads a list up to its '}' or the end of the text, and leaves *at there. */
static void parse_group(giles *g, const giles_entry *params, const char **at, json_t *group, int depth) {
  while (g->rc == CLT_OK && **at && **at != '}') {
    size_t n = strcspn(*at, "{}, \t\r\n");
    if (n > 0) {
      json_t *item = json_stringn(*at, n);
      const char *name = json_string_value(item);
      check_json(g, json_array_append_new(group, item));
      *at += n;
      if (g->n_declared == MAX_NAMES)
        GILES_FAIL_ENTRY(g, params, "more than %d parameters are not supported", MAX_NAMES);
      if (g->rc) return;
      g->declared[g->n_declared++] = name;
      if (!clt_is_name(name))
        GILES_FAIL_ENTRY(g, params, "\"%s\" is not a valid name; use letters, digits and '_'", name);
      if (is_known(name)) GILES_FAIL_ENTRY(g, params, "\"%s\" is a key and cannot be a parameter", name);
    } else if (**at != '{') {
      ++*at;
    } else if (depth == MAX_DEPTH) {
      GILES_FAIL_ENTRY(g, params, "groups must not be nested more than %d deep", MAX_DEPTH);
    } else {
      json_t *inner = json_array();
      ++*at;
      parse_group(g, params, at, inner, depth + 1);
      if (**at == '}') ++*at;
      check_json(g, json_array_append_new(group, inner));
    }
  }
}

static void parse_params(giles *g) {
  const giles_entry *params = find_entry(g, "PARAMS");
  const char *absent[MAX_NAMES + N_MEMBERS];
  size_t n_absent = 0;
  if (params == NULL) GILES_FAIL(g, 1, NULL, "needs PARAMS = {name, name, {name, name}}");
  if (g->rc) return;
  const char *at = params->value;
  parse_group(g, params, &at, g->groups, 0);
  if (g->n_declared == 0) GILES_FAIL_ENTRY(g, params, "needs the name of a parameter");
  if (g->rc) return;
  /* Every entry must be a key or declared in PARAMS, and all declared names must have values. */
  for (size_t i = 0; i < g->n_declared; i++)
    if (find_entry(g, g->declared[i]) == NULL) absent[n_absent++] = g->declared[i];
  const char *without_values = n_absent ? absent[0] : NULL;
  for (size_t i = 0; i < N_MEMBERS; i++)
    if (find_entry(g, members[i].name) == NULL) absent[n_absent++] = members[i].name;
  for (size_t i = 0; i < g->n; i++) {
    const giles_entry *entry = &g->entries[i];
    bool declared = is_known(entry->name);
    for (size_t k = 0; k < g->n_declared; k++) declared = declared || strcmp(g->declared[k], entry->name) == 0;
    if (declared) continue;
    const char *near = clt_nearest_name(entry->name, absent, n_absent);
    GILES_FAIL_ENTRY(g, entry, "\"%s\" is neither a key nor a parameter of PARAMS%s%s%s", entry->name,
                     CLT_DID_YOU_MEAN("\"", near));
  }
  if (without_values)
    GILES_FAIL_ENTRY(g, params, "\"%s\" has no values; add a line such as %s = {1, 2, 4}", without_values,
                     without_values);
}

/* --- pieces of a value --- */

/* Removes surrounding spaces and quotes. as_value: an unquoted number becomes a number. */
static json_t *piece_json(const char *text, size_t n, bool as_value) {
  while (n > 0 && isspace((unsigned char)*text)) text++, n--;
  while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
  bool quoted = n >= 2 && (*text == '"' || *text == '\'') && text[n - 1] == *text;
  char *copy = quoted ? strndup(text + 1, n - 2) : strndup(text, n), *end = copy;
  json_t *json = NULL;
  if (as_value && copy && *copy && !quoted) {
    long long whole = strtoll(copy, &end, 10);
    if (*end == 0) {
      json = json_integer(whole);
    } else {
      double real = clt_strtod(copy, &end);
      if (*end == 0 && copy[strspn(copy, "+-.0123456789eE")] == 0) json = json_real(real);
    }
  }
  if (json == NULL && copy) json = json_string(copy);
  free(copy);
  return json;
}

/* Splits a value at commas, or at spaces if there is no comma. */
static void split_value(giles *g, json_t *out, const giles_entry *entry, bool as_values) {
  const char *between = strchr(entry->value, ',') ? "," : " \t\r\n", *at = entry->value;
  while (g->rc == CLT_OK && *at) {
    size_t n = strcspn(at, between);
    bool empty = strspn(at, " \t\r\n") >= n;
    if (empty && *between == ',')
      GILES_FAIL_ENTRY(g, entry, "an item is missing between two commas or at the end");
    else if (!empty)
      check_json(g, json_array_append_new(out, piece_json(at, n, as_values)));
    at += n;
    at += *at != 0;
  }
}

/* "make; ./executable" -> [["make"], ["./executable"]]. Quoted spaces do not split, and quotes are removed. */
static void split_commands(giles *g, json_t *out, const giles_entry *entry) {
  static const char *const signs[] = {"|", "||", "&", "&&", ">", ">>", "<", "2>", "2>&1", "&>"};
  const char *at = entry->value;
  json_t *words = json_array();
  for (bool end = false; g->rc == CLT_OK && !end;) {
    at += strspn(at, " \t\r\n\v\f");
    end = *at == 0;
    if (*at == 0 || *at == ';') { /* of a command */
      at += *at == ';';
      if (json_array_size(words) > 0) check_json(g, json_array_append_new(out, json_copy(words)));
      json_array_clear(words);
      continue;
    }
    size_t plain = strcspn(at, " \t\r\n;'\"");
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
      if (strlen(signs[i]) == plain && strncmp(at, signs[i], plain) == 0)
        GILES_FAIL_ENTRY(g, entry, "'%s' needs a shell, but commands run without one; put them into a script",
                         signs[i]);
    clt_text text = {0};
    char quote = 0, *word = NULL;
    for (; *at && (quote || !(isspace((unsigned char)*at) || *at == ';')); at++) {
      if (quote ? *at == quote : *at == '"' || *at == '\'')
        quote = quote ? 0 : *at;
      else
        clt_text_add_bytes(&text, at, 1);
    }
    if (quote) GILES_FAIL_ENTRY(g, entry, "the quote %c is never closed", quote);
    if (g->rc == CLT_OK) g->rc = clt_text_take(&word, &text, g->error);
    if (g->rc == CLT_OK) check_json(g, json_array_append_new(words, json_string(word)));
    clt_text_release(&text);
    free(word);
  }
  json_decref(words);
  if (json_array_size(out) == 0) GILES_FAIL_ENTRY(g, entry, "needs a command");
}

/* --- what the entries become --- */

/* Notes the line of a member of the JSON. */
static void note_line(giles *g, const char *key, const giles_entry *entry) {
  clt_source *source = g->source;
  const char *copy = keep_text(g, key);
  if (g->rc == CLT_OK && clt_grow(&source->lines, &source->lines_capacity, source->n_lines + 1, sizeof *source->lines))
    g->rc = clt_fail_memory(g->error);
  if (g->rc == CLT_OK) source->lines[source->n_lines++] = (clt_key_line){copy, entry->line};
}

/* Sets the member of the root, or of an object in it, that key names. Takes json over. */
static void set_member(giles *g, const char *key, json_t *json, const giles_entry *entry) {
  const char *dot = strchr(key, '.');
  json_t *object = dot ? json_object_getn(g->root, key, (size_t)(dot - key)) : g->root;
  if (g->rc)
    json_decref(json);
  else
    check_json(g, json_object_set_new(object, dot ? dot + 1 : key, json));
  note_line(g, key, entry);
}

static void add_parameters(giles *g) {
  json_t *list = json_object_get(json_object_get(g->root, "ConfigurationSpace"), "TuningParameters");
  for (size_t i = 0; g->rc == CLT_OK && i < g->n_declared; i++) {
    const giles_entry *entry = find_entry(g, g->declared[i]);
    char key[64];
    snprintf(key, sizeof key, "ConfigurationSpace.TuningParameters[%zu]", i);
    note_line(g, key, entry);
    json_t *values = entry->value[0] == '[' ? json_string(entry->value) : json_array();
    if (json_is_array(values)) split_value(g, values, entry, true);
    check_json(g, json_array_append_new(list, json_pack("{s:s, s:o}", "Name", entry->name, "Values", values)));
  }
}

/* "brute_force parallel:4" */
static json_t *parse_strategy(giles *g, const giles_entry *entry) {
  json_t *words = json_array(), *options = json_object(), *strategy = NULL;
  split_value(g, words, entry, false);
  const char *name = json_string_value(json_array_get(words, 0));
  if (name == NULL || strchr(name, ':'))
    GILES_FAIL_ENTRY(g, entry, "must begin with the name of a strategy, such as brute_force");
  for (size_t i = 1; g->rc == CLT_OK && i < json_array_size(words); i++) {
    const char *word = json_string_value(json_array_get(words, i)), *colon = strchr(word, ':');
    if (colon == NULL)
      GILES_FAIL_ENTRY(g, entry, "needs name:value instead of \"%s\"", word);
    else
      check_json(g, json_object_setn_new(options, word, (size_t)(colon - word), json_string(colon + 1)));
  }
  if (g->rc == CLT_OK && strcmp(name, "brute_force") == 0) name = "exhaustive";
  if (g->rc == CLT_OK) strategy = json_pack("{s:s, s:O}", "Searcher", name, "Options", options);
  json_decref(words);
  json_decref(options);
  return strategy;
}

static void add_member(giles *g, const giles_member *member) {
  const giles_entry *entry = find_entry(g, member->name);
  const bool check = strcmp(member->name, "CHECK") == 0;
  if (entry == NULL) {
    if (member->kind == COMMAND && !check) GILES_FAIL(g, 1, NULL, "needs EVALUATION = { make; ./program }");
    return;
  }
  const char *value = entry->value;
  const size_t length = strlen(value);
  json_t *json = NULL, *commands;
  switch (member->kind) {
    case SPACE:
      json = json_incref(g->groups);
      add_parameters(g);
      break;
    case TEXT: json = piece_json(value, length, false); break;
    case FIGURE: json = json_pack("{s:s, s:o}", "From", "file", "File", piece_json(value, length, false)); break;
    case STRATEGY: json = parse_strategy(g, entry); break;
    case BUDGET:
      json = json_pack("[{s:s, s:o}]", "Type", "ConfigurationCount", "BudgetValue", piece_json(value, length, true));
      break;
    case LIST:
      json = json_array();
      split_value(g, json, entry, false);
      break;
    case CONDITIONS: /* between ';', as they may hold commas */
      json = json_array();
      for (const char *at = value; *at; at += *at != 0) {
        size_t n = strcspn(at, ";");
        if (strspn(at, " \t\r\n") < n) check_json(g, json_array_append_new(json, piece_json(at, n, false)));
        at += n;
      }
      break;
    case COMMAND: /* the last command runs, the others build */
      commands = json_array();
      split_commands(g, commands, entry);
      if (json_array_size(commands) > 0) {
        const size_t last = json_array_size(commands) - 1;
        json = json_incref(json_array_get(commands, last));
        json_array_remove(commands, last);
        if (last > 0 && check) GILES_FAIL_ENTRY(g, entry, "needs a single command");
        if (last > 0) set_member(g, "Command.Build", json_incref(commands), entry);
      }
      json_decref(commands);
      break;
  }
  set_member(g, member->key, json, entry);
}

int clt_giles_parse(clt_source *source, clt_error *error) {
  /* By default, all files next to the configuration file are copied, because the makefile may need them. */
  giles g = {
      .source = source,
      .error = error,
      .root = json_pack("{s:{s:[]}, s:{s:s}}", "ConfigurationSpace", "TuningParameters", "Command", "Files", "*"),
      .groups = json_array()};
  json_t *text = json_string(source->text);
  if (text == NULL) GILES_FAIL(&g, 0, NULL, "is not UTF-8 text"); /* JSON is UTF-8 */
  json_decref(text);
  if (g.groups == NULL || g.root == NULL) check_json(&g, -1);
  scan_entries(&g);
  parse_params(&g);
  for (size_t i = 0; g.rc == CLT_OK && i < N_MEMBERS; i++) add_member(&g, &members[i]);
  json_decref(g.groups);
  free(g.entries);
  if (g.rc == CLT_OK)
    source->root = g.root;
  else
    json_decref(g.root);
  return g.rc;
}
