/* The section "Command". */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/memory.h"
#include "problem/command.h"

static const char *const known_keys[] = {"Build",          "Run",
                                         "Check",          "Shell",
                                         "Files",          "Links",
                                         "Environment",    "EnvironmentPrefix",
                                         "ParametersFile", "ParametersFormat",
                                         "Figure",         "Batch",
                                         "Resources",      "Desirability"};

/* --- places --- */

static const struct {
  const char *name;
  clt_command_place place;
} places[] = {{"{scratch}", CLT_PLACE_SCRATCH}, {"{folder}", CLT_PLACE_FOLDER}, {"{parameters}", CLT_PLACE_PARAMETERS},
              {"{input}", CLT_PLACE_INPUT},     {"{output}", CLT_PLACE_OUTPUT}, {"{options}", CLT_PLACE_OPTIONS}};

/* A parameter or size of that name goes before the place. */
static bool is_declared(const clt_problem *problem, const char *braced) {
  size_t n = strlen(braced) - 2;
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (strlen(problem->parameters[i].name) == n && strncmp(problem->parameters[i].name, braced + 1, n) == 0)
      return true;
  for (size_t i = 0; i < problem->n_sizes; i++)
    if (strlen(problem->sizes[i].name) == n && strncmp(problem->sizes[i].name, braced + 1, n) == 0) return true;
  return false;
}

/* The place that begins here; its length in *length. 0: none. */
static char place_at(const clt_problem *problem, const char *text, size_t *length) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    *length = strlen(places[i].name);
    if (strncmp(text, places[i].name, *length) == 0 && !is_declared(problem, places[i].name))
      return (char)places[i].place;
  }
  return 0;
}

/* Braces of places become marks, in place: those are shorter. */
static void mark_places(const clt_problem *problem, char *text) {
  char *out = text;
  while (*text) {
    size_t length = 0;
    char place = *text == '{' && text[1] != '{' ? place_at(problem, text, &length) : 0;
    if (*text == '{' && text[1] == '{') *out++ = *text++;
    if (place) {
      *out++ = CLT_PLACE_MARK;
      *out++ = place;
      text += length;
    } else {
      *out++ = *text++;
    }
  }
  *out = 0;
}

static const char *misplaced(const char *text) {
  const char mark[] = {CLT_PLACE_MARK, CLT_PLACE_OPTIONS, 0};
  const char *found = strstr(text, mark);
  return found && strlen(text) > 2 ? found : NULL;
}

/* --- commands --- */

static int load_word(clt_problem *problem, clt_compiler_option *word, const clt_node *node, bool shell,
                     clt_error *error) {
  static const char *const known[] = {"Word", "When"};
  clt_node text = *node;
  int rc = CLT_OK;
  word->when = CLT_NO_EXPRESSION;
  if (json_is_object(node->json)) {
    clt_node when = clt_node_member(node, "When");
    text = clt_node_member(node, "Word");
    rc = clt_node_known(&problem->source, node, known, 2, true, error);
    if (rc == CLT_OK) rc = clt_add_expression(problem, &word->when, &when, error);
  }
  if (rc) return rc;
  if (!json_is_string(text.json))
    return clt_node_fail(&problem->source, node, error, "needs a text, or {\"Word\": ..., \"When\": ...}");
  if (strchr(json_string_value(text.json), CLT_PLACE_MARK))
    return clt_node_fail(&problem->source, node, error, "must not hold the character 1");
  word->text = strdup(json_string_value(text.json));
  if (word->text == NULL) return clt_fail_memory(error);
  mark_places(problem, word->text);
  if (!shell && misplaced(word->text))
    return clt_node_fail(&problem->source, node, error,
                         "\"{options}\" stands for several words; make it one of its own");
  return clt_load_holes(problem, word, &text, error);
}

/* With a shell, a command is one text that the shell splits. */
static int load_line(clt_problem *problem, clt_command_line *line, const clt_node *node, bool shell, clt_error *error) {
  const clt_source *source = &problem->source;
  size_t n = json_is_array(node->json) ? json_array_size(node->json) : 1;
  if (shell && !json_is_string(node->json))
    return clt_node_fail(source, node, error, "needs a text for the shell, as \"Shell\" is set");
  if (!shell && !json_is_array(node->json))
    return clt_node_fail(source, node, error,
                         "needs a list of words: [\"make\", \"-s\"]; or set \"Shell\": true for a text");
  if (n == 0) return clt_node_fail(source, node, error, "needs a program");
  line->words = clt_new_array(n, sizeof *line->words);
  line->key = strdup(node->key);
  if (line->words == NULL || line->key == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node word = shell ? *node : clt_node_item(node, i);
    line->n = i + 1;
    rc = load_word(problem, &line->words[i], &word, shell, error);
  }
  return rc;
}

/* One command, or a list of them. */
static int load_build(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  clt_node node = clt_node_member(section, "Build");
  if (node.json == NULL) return CLT_OK;
  const json_t *first = json_array_get(node.json, 0);
  bool several = command->shell ? json_is_array(node.json) : json_is_array(first);
  size_t n = several ? json_array_size(node.json) : 1;
  command->build = clt_new_array(n, sizeof *command->build);
  if (command->build == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node line = several ? clt_node_item(&node, i) : node;
    command->n_build = i + 1;
    rc = load_line(problem, &command->build[i], &line, command->shell, error);
  }
  return rc;
}

static int load_run(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  clt_node run = clt_node_member(section, "Run"), check = clt_node_member(section, "Check");
  if (run.json == NULL) return clt_node_fail(&problem->source, section, error, "needs a \"Run\"");
  int rc = load_line(problem, &command->run, &run, command->shell, error);
  if (rc == CLT_OK && check.json) rc = load_line(problem, &command->check, &check, command->shell, error);
  return rc;
}

/* --- how the configuration is handed over --- */

static int load_environment(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  bool wanted = true;
  clt_node prefix = clt_node_member(section, "EnvironmentPrefix");
  int rc = clt_node_flag(&wanted, &problem->source, section, "Environment", error);
  if (rc == CLT_OK)
    rc = clt_node_text(&command->environment, &problem->source, section, "EnvironmentPrefix", false, error);
  if (rc) return rc;
  if (command->environment && !clt_is_name(command->environment))
    return clt_node_fail(&problem->source, &prefix, error, "needs the beginning of a variable's name");
  if (command->environment && !wanted)
    return clt_node_fail(&problem->source, &prefix, error, "makes no sense without \"Environment\"");
  if (wanted && command->environment == NULL && (command->environment = strdup("")) == NULL)
    return clt_fail_memory(error);
  return CLT_OK;
}

/* Whether a path stays in the folder that it is seen from. */
static bool stays_inside(const char *path) {
  if (path[0] == 0 || path[0] == '/') return false;
  for (const char *at = path; at; at = strchr(at, '/')) {
    at += *at == '/';
    if (strncmp(at, "..", 2) == 0 && (at[2] == 0 || at[2] == '/')) return false;
  }
  return true;
}

static int load_inner_path(char **out, clt_problem *problem, const clt_node *parent, const char *name,
                           clt_error *error) {
  clt_node node = clt_node_member(parent, name);
  int rc = clt_node_text(out, &problem->source, parent, name, false, error);
  if (rc == CLT_OK && *out && !stays_inside(*out))
    rc = clt_node_fail(&problem->source, &node, error,
                       "needs the name of a file in the folder that the program runs in");
  return rc;
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

static clt_parameters_form usual_form(const char *file) {
  static const struct {
    const char *end;
    clt_parameters_form form;
  } forms[] = {{".h", CLT_PARAMETERS_DEFINES},      {".hh", CLT_PARAMETERS_DEFINES},
               {".hpp", CLT_PARAMETERS_DEFINES},    {".cuh", CLT_PARAMETERS_DEFINES},
               {".cl", CLT_PARAMETERS_DEFINES},     {".inc", CLT_PARAMETERS_DEFINES},
               {".json", CLT_PARAMETERS_JSON},      {".mk", CLT_PARAMETERS_ASSIGNMENTS},
               {".sh", CLT_PARAMETERS_ASSIGNMENTS}, {".env", CLT_PARAMETERS_ASSIGNMENTS}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ends_with(file, forms[i].end)) return forms[i].form;
  return CLT_PARAMETERS_LINES;
}

static int load_parameters_file(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  static const char *const forms[] = {"Defines", "Assignments", "Lines", "JSON"};
  int rc = load_inner_path(&command->parameters_file, problem, section, "ParametersFile", error);
  if (rc || command->parameters_file == NULL) return rc;
  int form = (int)usual_form(command->parameters_file);
  rc = clt_node_choice(&form, &problem->source, section, "ParametersFormat", forms, 4, error);
  command->parameters_form = (clt_parameters_form)form;
  return rc;
}

static int load_batch(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  static const char *const known[] = {"Input", "Output"};
  clt_node batch = clt_node_member(section, "Batch");
  if (batch.json == NULL) return CLT_OK;
  command->batch.used = true;
  int rc = clt_node_object(&problem->source, &batch, error);
  if (rc == CLT_OK) rc = clt_node_known(&problem->source, &batch, known, 2, true, error);
  if (rc == CLT_OK) rc = load_inner_path(&command->batch.input, problem, &batch, "Input", error);
  if (rc == CLT_OK) rc = load_inner_path(&command->batch.output, problem, &batch, "Output", error);
  if (rc) return rc;
  if (command->check.n)
    return clt_node_fail(&problem->source, section, error,
                         "has \"Check\" beside \"Batch\": the program itself says what is invalid");
  if (command->parameters_file)
    return clt_node_fail(&problem->source, section, error,
                         "has \"ParametersFile\" beside \"Batch\": a batch is handed over in its input");
  free(command->environment); /* of which configuration? */
  command->environment = NULL;
  return CLT_OK;
}

static int load_members(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  int rc = clt_node_flag(&command->shell, &problem->source, section, "Shell", error);
  if (rc == CLT_OK) rc = load_build(problem, command, section, error);
  if (rc == CLT_OK) rc = load_run(problem, command, section, error);
  if (rc == CLT_OK) rc = clt_load_command_files(problem, command, section, error);
  if (rc == CLT_OK) rc = load_environment(problem, command, section, error);
  if (rc == CLT_OK) rc = load_parameters_file(problem, command, section, error);
  if (rc == CLT_OK) rc = load_batch(problem, command, section, error);
  if (rc == CLT_OK) rc = clt_load_figure(problem, command, section, error);
  return rc ? rc : clt_load_hints(problem, section, error);
}

int clt_load_command(clt_problem *problem, const clt_node *root, clt_error *error) {
  clt_node section = clt_node_member(root, "Command"), kernel = clt_node_member(root, "KernelSpecification");
  if (section.json == NULL) return CLT_OK;
  if (kernel.json)
    return clt_node_fail(&problem->source, &section, error,
                         "stands beside \"KernelSpecification\"; one of them has to go");
  int rc = clt_node_object(&problem->source, &section, error);
  if (rc == CLT_OK)
    rc = clt_node_known(&problem->source, &section, known_keys, sizeof known_keys / sizeof *known_keys, true, error);
  if (rc) return rc;
  problem->command = clt_new_array(1, sizeof *problem->command);
  if (problem->command == NULL) return clt_fail_memory(error);
  return load_members(problem, problem->command, &section, error);
}
