/* What the entries of Giles' file become as JSON. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/giles_parts.h"

/* --- texts --- */

static bool is_space(char c) { return isspace((unsigned char)c); }

/* The number that the whole text is, or the text. */
static json_t *value_of(const char *text) {
  char *end;
  long long whole = strtoll(text, &end, 10);
  if (*text && *end == 0) return json_integer(whole);
  double real = strtod(text, &end);
  bool plain = text[strspn(text, "+-.0123456789eE")] == 0;
  if (*text && *end == 0 && plain) return json_real(real);
  return json_string(text);
}

static json_t *piece(const char *text, size_t n, bool as_value) {
  while (n > 0 && is_space(*text)) text++, n--;
  while (n > 0 && is_space(text[n - 1])) n--;
  bool quoted = n >= 2 && (*text == '"' || *text == '\'') && text[n - 1] == *text;
  char *copy = quoted ? strndup(text + 1, n - 2) : strndup(text, n);
  json_t *json = copy == NULL ? NULL : as_value && !quoted ? value_of(copy) : json_string(copy);
  free(copy);
  return json;
}

/* Pieces between commas, or between spaces where there is no comma. */
static int split(json_t *out, const giles *g, const giles_entry *entry, bool as_values, clt_error *error) {
  const char *between = strchr(entry->value, ',') ? "," : " \t\r\n";
  const char *at = entry->value;
  while (*at) {
    size_t n = strcspn(at, between);
    bool empty = strspn(at, " \t\r\n") >= n;
    if (empty && *between == ',')
      return giles_fail(g, entry, error, "lacks something between two commas, or at the end");
    if (!empty && json_array_append_new(out, piece(at, n, as_values))) return clt_fail_memory(error);
    at += n;
    at += *at != 0;
  }
  return CLT_OK;
}

/* --- words of a command --- */

static bool needs_shell(const char *word, size_t n) {
  static const char *const signs[] = {"|", "||", "&", "&&", ">", ">>", "<", "2>", "2>&1", "&>"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (strlen(signs[i]) == n && strncmp(word, signs[i], n) == 0) return true;
  return false;
}

/* One word: quotes keep spaces together, and go. */
static int read_word(const giles *g, const giles_entry *entry, const char **at, json_t *words, clt_error *error) {
  char *text = NULL;
  size_t bytes = 0, plain = strcspn(*at, " \t\r\n;'\"");
  if (needs_shell(*at, plain))
    return giles_fail(g, entry, error, "'%.*s' needs a shell, and there is none: put the commands into a script",
                      (int)plain, *at);
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return clt_fail_memory(error);
  char quote = 0;
  for (; **at && (quote || !(is_space(**at) || **at == ';')); ++*at) {
    if (quote ? **at == quote : **at == '"' || **at == '\'')
      quote = quote ? 0 : **at;
    else
      fputc(**at, out);
  }
  int rc = fclose(out) == 0 && text ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && quote) rc = giles_fail(g, entry, error, "the quote %c is never closed", quote);
  if (rc == CLT_OK && json_array_append_new(words, json_string(text))) rc = clt_fail_memory(error);
  free(text);
  return rc;
}

/* "make; ./executable" -> [["make"], ["./executable"]] */
static int split_commands(json_t *out, const giles *g, const giles_entry *entry, clt_error *error) {
  int rc = CLT_OK;
  const char *at = entry->value;
  while (rc == CLT_OK && *at) {
    json_t *words = json_array();
    while (rc == CLT_OK && *at && *at != ';') {
      if (is_space(*at))
        at++;
      else
        rc = read_word(g, entry, &at, words, error);
    }
    at += *at == ';';
    if (rc == CLT_OK && json_array_size(words) > 0 && json_array_append(out, words)) rc = clt_fail_memory(error);
    json_decref(words);
  }
  if (rc == CLT_OK && json_array_size(out) == 0) rc = giles_fail(g, entry, error, "needs a command");
  return rc;
}

/* --- sections --- */

static int add_text(giles *g, json_t *object, const char *name, const char *key, const char *place, clt_error *error) {
  const giles_entry *entry = giles_find(g, name);
  if (entry == NULL) return CLT_OK;
  if (json_object_set_new(object, key, piece(entry->value, strlen(entry->value), false))) return clt_fail_memory(error);
  return giles_note_line(g, place, entry, error);
}

static int add_list(giles *g, json_t *object, const char *name, const char *key, const char *place, clt_error *error) {
  const giles_entry *entry = giles_find(g, name);
  if (entry == NULL) return CLT_OK;
  json_t *list = json_array();
  int rc = split(list, g, entry, false, error);
  if (rc == CLT_OK) rc = giles_note_line(g, place, entry, error);
  return json_object_set_new(object, key, list) && rc == CLT_OK ? clt_fail_memory(error) : rc;
}

static int add_parameter(giles *g, json_t *list, size_t i, clt_error *error) {
  const giles_entry *entry = giles_find(g, g->declared[i]);
  char key[64];
  snprintf(key, sizeof key, "ConfigurationSpace.TuningParameters[%zu]", i);
  int rc = giles_note_line(g, key, entry, error);
  json_t *values = entry->value[0] == '[' ? json_string(entry->value) : json_array();
  if (rc == CLT_OK && json_is_array(values)) rc = split(values, g, entry, true, error);
  json_t *parameter = json_pack("{s:s, s:o}", "Name", g->declared[i], "Values", values);
  return json_array_append_new(list, parameter) && rc == CLT_OK ? clt_fail_memory(error) : rc;
}

/* Between ';', as conditions may hold commas. */
static int add_conditions(giles *g, json_t *space, clt_error *error) {
  const giles_entry *entry = giles_find(g, "CONDITIONS");
  if (entry == NULL) return CLT_OK;
  json_t *list = json_array();
  for (const char *at = entry->value; *at; at += *at != 0) {
    size_t n = strcspn(at, ";");
    if (strspn(at, " \t\r\n") < n) json_array_append_new(list, piece(at, n, false));
    at += n;
  }
  int rc = giles_note_line(g, "ConfigurationSpace.Conditions", entry, error);
  return json_object_set_new(space, "Conditions", list) && rc == CLT_OK ? clt_fail_memory(error) : rc;
}

static int add_space(giles *g, json_t *groups, json_t *root, clt_error *error) {
  json_t *list = json_array(), *space = json_pack("{s:o, s:O}", "TuningParameters", list, "Groups", groups);
  if (space == NULL || json_object_set_new(root, "ConfigurationSpace", space)) return clt_fail_memory(error);
  int rc = giles_note_line(g, "ConfigurationSpace.Groups", giles_find(g, "PARAMS"), error);
  for (size_t i = 0; rc == CLT_OK && i < g->n_declared; i++) rc = add_parameter(g, list, i, error);
  return rc ? rc : add_conditions(g, space, error);
}

/* The last command is the one that is run, those before it build. */
static int add_evaluation(giles *g, json_t *command, clt_error *error) {
  const giles_entry *entry = giles_find(g, "EVALUATION");
  if (entry == NULL)
    return clt_fail_at(error, CLT_E_FORMAT, g->source->path, 1, NULL, "needs EVALUATION = { make; ./program }");
  json_t *commands = json_array();
  int rc = split_commands(commands, g, entry, error);
  size_t n = json_array_size(commands);
  if (rc == CLT_OK && json_object_set(command, "Run", json_array_get(commands, n - 1))) rc = clt_fail_memory(error);
  if (rc == CLT_OK) json_array_remove(commands, n - 1);
  if (rc == CLT_OK && n > 1 && json_object_set(command, "Build", commands)) rc = clt_fail_memory(error);
  json_decref(commands);
  if (rc == CLT_OK) rc = giles_note_line(g, "Command.Run", entry, error);
  return rc ? rc : giles_note_line(g, "Command.Build", entry, error);
}

static int add_check(giles *g, json_t *command, clt_error *error) {
  const giles_entry *entry = giles_find(g, "CHECK");
  if (entry == NULL) return CLT_OK;
  json_t *commands = json_array();
  int rc = split_commands(commands, g, entry, error);
  if (rc == CLT_OK && json_array_size(commands) > 1) rc = giles_fail(g, entry, error, "needs a single command");
  if (rc == CLT_OK && json_object_set(command, "Check", json_array_get(commands, 0))) rc = clt_fail_memory(error);
  json_decref(commands);
  return rc ? rc : giles_note_line(g, "Command.Check", entry, error);
}

static int add_figure(giles *g, json_t *command, clt_error *error) {
  const giles_entry *entry = giles_find(g, "FIGURE_OF_MERIT_FILE");
  if (entry == NULL) return CLT_OK;
  json_t *file = piece(entry->value, strlen(entry->value), false);
  if (json_object_set_new(command, "Figure", json_pack("{s:s, s:o}", "From", "file", "File", file)))
    return clt_fail_memory(error);
  return giles_note_line(g, "Command.Figure", entry, error);
}

/* Whatever the makefile needs lies beside the file, unless that says more. */
static int add_command(giles *g, json_t *root, clt_error *error) {
  json_t *command = json_pack("{s:s}", "Files", "*");
  if (command == NULL || json_object_set_new(root, "Command", command)) return clt_fail_memory(error);
  int rc = add_evaluation(g, command, error);
  if (rc == CLT_OK) rc = add_check(g, command, error);
  if (rc == CLT_OK) rc = add_figure(g, command, error);
  if (rc == CLT_OK) rc = add_text(g, command, "PARAMETERS_FILE", "ParametersFile", "Command.ParametersFile", error);
  if (rc == CLT_OK)
    rc = add_text(g, command, "PARAMETERS_FORMAT", "ParametersFormat", "Command.ParametersFormat", error);
  if (rc == CLT_OK) rc = add_list(g, command, "FILES", "Files", "Command.Files", error);
  return rc ? rc : add_list(g, command, "LINKS", "Links", "Command.Links", error);
}

/* "brute_force parallel:4" */
static int add_strategy(giles *g, json_t *root, clt_error *error) {
  const giles_entry *entry = giles_find(g, "STRATEGY");
  if (entry == NULL) return CLT_OK;
  json_t *words = json_array(), *options = json_object();
  int rc = split(words, g, entry, false, error);
  const char *name = json_string_value(json_array_get(words, 0));
  if (rc == CLT_OK && (name == NULL || strchr(name, ':')))
    rc = giles_fail(g, entry, error, "needs the name of a strategy first, such as brute_force");
  for (size_t i = 1; rc == CLT_OK && i < json_array_size(words); i++) {
    const char *word = json_string_value(json_array_get(words, i)), *colon = strchr(word, ':');
    char *option = colon ? strndup(word, (size_t)(colon - word)) : NULL;
    if (option == NULL) rc = giles_fail(g, entry, error, "needs name:value in place of \"%s\"", word);
    if (option && json_object_set_new(options, option, json_string(colon + 1))) rc = clt_fail_memory(error);
    free(option);
  }
  if (rc == CLT_OK) {
    const char *searcher = strcmp(name, "brute_force") == 0 ? "exhaustive" : name;
    json_t *strategy = json_pack("{s:s, s:O}", "Searcher", searcher, "Options", options);
    rc = json_object_set_new(root, "Strategy", strategy) ? clt_fail_memory(error)
                                                         : giles_note_line(g, "Strategy", entry, error);
  }
  json_decref(words);
  json_decref(options);
  return rc;
}

static int add_budget(giles *g, json_t *root, clt_error *error) {
  const giles_entry *entry = giles_find(g, "BUDGET");
  if (entry == NULL) return CLT_OK;
  json_t *budget = json_pack("[{s:s, s:o}]", "Type", "ConfigurationCount", "BudgetValue",
                             piece(entry->value, strlen(entry->value), true));
  if (json_object_set_new(root, "Budget", budget)) return clt_fail_memory(error);
  return giles_note_line(g, "Budget", entry, error);
}

int giles_to_json(giles *g, json_t *groups, json_t **root, clt_error *error) {
  *root = json_object();
  if (*root == NULL) return clt_fail_memory(error);
  int rc = add_space(g, groups, *root, error);
  if (rc == CLT_OK) rc = add_command(g, *root, error);
  if (rc == CLT_OK) rc = add_strategy(g, *root, error);
  return rc ? rc : add_budget(g, *root, error);
}
