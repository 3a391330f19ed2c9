/* The section "Command". */
#include <regex.h>
#include <sys/stat.h>

#include "base/text.h"
#include "problem/command.h"
#include "problem/load.h"

/* --- words --- */

/* Replaces placeholders in braces by marks, which are shorter, in place. A parameter or size of the same name takes
 * precedence. */
static void mark_places(const clt_problem *problem, char *text) {
  static const char *const names[] = {"scratch", "folder", "parameters", "input", "output", "options"};
  static const char places[] = {CLT_PLACE_SCRATCH, CLT_PLACE_FOLDER, CLT_PLACE_PARAMETERS,
                                CLT_PLACE_INPUT,   CLT_PLACE_OUTPUT, CLT_PLACE_OPTIONS};
  char *out = text;
  while (*text) {
    bool escaped = text[0] == '{' && text[1] == '{', marked = false;
    for (size_t i = 0; text[0] == '{' && !marked && i < sizeof places; i++) {
      size_t n = strlen(names[i]);
      if (strncmp(text + 1, names[i], n) != 0 || text[n + 1] != '}' || clt_is_declared(problem, names[i])) continue;
      marked = true;
      *out++ = CLT_PLACE_MARK;
      *out++ = places[i];
      text += n + 2;
    }
    if (escaped) *out++ = *text++;
    if (!marked) *out++ = *text++;
  }
  *out = 0;
}

/* With a shell, a command is one text, which the shell splits into words. */
static void load_line(clt_problem *problem, clt_command_line *line, const clt_node *node) {
  static const char options[] = {CLT_PLACE_MARK, CLT_PLACE_OPTIONS, 0};
  bool shell = problem->command->shell;
  const size_t n = clt_node_count(node);
  if (shell && !json_is_string(node->json)) clt_node_fail(node, "needs a string, because \"Shell\" is set");
  if (!shell && !json_is_array(node->json))
    clt_node_fail(node, "needs a list of words such as [\"make\", \"-s\"]; to use a string, set \"Shell\": true");
  if (n == 0) clt_node_fail(node, "needs a program");
  line->words = clt_node_new(node, n, sizeof *line->words);
  line->key = clt_load_key(node);
  while (line->n < n && clt_node_ok(node)) {
    clt_node item = clt_node_item(node, line->n), place;
    clt_compiler_option *word = &line->words[line->n++];
    const char *written = clt_load_option(problem, word, &place, &item, "Word");
    if (written && strchr(written, CLT_PLACE_MARK))
      clt_node_fail(&item, "must not contain the control character U+0001");
    char *marked = written && clt_node_ok(node) ? clt_node_keep(node, strdup(written)) : NULL;
    if (marked == NULL) return;
    mark_places(problem, marked);
    word->text = marked;
    if (!shell && strstr(marked, options) && strcmp(marked, options) != 0)
      clt_node_fail(&item, "\"{options}\" becomes several words; make it a separate word");
    else
      clt_load_holes(problem, word, &place);
  }
}

/* --- files --- */

void clt_load_file_names(clt_problem *problem, const char ***out, size_t *n_out, const clt_node *list) {
  size_t n;
  *out = clt_load_list(&n, list, sizeof **out);
  for (size_t i = 0; i < n && clt_node_ok(list); i++) {
    clt_node node = clt_node_item(list, i);
    const char *name = json_string_value(node.json);
    struct stat status;
    if (name == NULL || name[0] == 0) clt_node_fail(&node, "needs the path of a file");
    const char *path = clt_load_path(problem, &node, name);
    if (path && stat(path, &status) != 0) clt_node_fail(&node, "there is no file \"%s\"", name);
    (*out)[(*n_out)++] = name;
  }
}

/* Reads the path of a file in the folder in which the program runs. It must not lead out of that folder. */
static const char *read_inner_path(const clt_node *parent, const char *name) {
  clt_node node = clt_node_member(parent, name);
  const char *path = clt_read_text(parent, name);
  bool leaves = path && (path[0] == 0 || path[0] == '/');
  for (const char *at = path; at && !leaves; at = strchr(at, '/')) {
    at += *at == '/';
    leaves = strncmp(at, "..", 2) == 0 && (at[2] == 0 || at[2] == '/');
  }
  if (leaves) clt_node_fail(&node, "needs a relative path inside the folder in which the program runs");
  return path;
}

/* The default format depends on the ending of the file name. */
static void load_parameters_file(clt_command *command, const clt_node *section) {
  static const char *const endings[][7] = {[CLT_PARAMETERS_DEFINES] = {".h", ".hh", ".hpp", ".cuh", ".cl", ".inc"},
                                           [CLT_PARAMETERS_ASSIGNMENTS] = {".mk", ".sh", ".env"},
                                           [CLT_PARAMETERS_JSON] = {".json"}};
  const char *file = command->parameters_file = read_inner_path(section, "ParametersFile");
  if (file == NULL) return;
  int form = CLT_PARAMETERS_LINES;
  for (int f = 0; f <= CLT_PARAMETERS_JSON; f++)
    for (size_t i = 0; endings[f][i]; i++)
      if (clt_ends_with(file, endings[f][i])) form = f;
  form = clt_read_choice(section, "ParametersFormat", CLT_NAMES("Defines", "Assignments", "Lines", "JSON"), form);
  command->parameters_form = (clt_parameters_form)form;
}

/* --- the figure of a run --- */

static void check_pattern(const clt_node *node, const char *pattern) {
  char why[200];
  regex_t compiled;
  int mistake = regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE);
  if (mistake == 0) {
    regfree(&compiled);
  } else if (mistake == REG_ESPACE) {
    clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  } else {
    regerror(mistake, &compiled, why, sizeof why);
    clt_node_fail(node, "is not a valid extended regular expression: %s", why);
  }
}

static void load_figure(clt_command *command, const clt_node *section) {
  static const char *const times[] = {"s", "ms", "us", "ns"};
  static const double scales[] = {1, 1e-3, 1e-6, 1e-9};
  clt_node node = clt_node_member(section, "Figure"), pattern = clt_node_member(&node, "Pattern");
  clt_figure *figure = &command->figure;
  if (node.json)
    clt_read_object(&node, CLT_NAMES("From", "File", "Key", "Pattern", "Unit", "Better", "Statistic"), true);
  figure->source = (clt_figure_source)clt_read_choice(
      &node, "From", CLT_NAMES("wall", "user", "system", "cpu", "memory", "file", "output"), CLT_FIGURE_WALL);
  figure->larger_is_better = clt_read_choice(&node, "Better", CLT_NAMES("smaller", "larger"), 0) == 1;
  figure->statistic =
      (clt_statistic)clt_read_choice(&node, "Statistic", CLT_NAMES("minimum", "median", "mean"), CLT_STATISTIC_MINIMUM);
  if (command->batch.used) figure->source = CLT_FIGURE_OUTPUT;
  bool is_read = figure->source == CLT_FIGURE_FILE || figure->source == CLT_FIGURE_OUTPUT;
  figure->file = clt_read_text(&node, "File");
  figure->member = clt_read_text(&node, "Key");
  figure->pattern = clt_read_text(&node, "Pattern");
  if (figure->source == CLT_FIGURE_FILE && figure->file == NULL) clt_node_fail(&node, "needs a \"File\"");
  if (figure->source != CLT_FIGURE_FILE && figure->file)
    clt_member_fail(&node, "File", "is only for \"From\": \"file\"");
  if (!is_read && (figure->member || figure->pattern))
    clt_member_fail(&node, figure->member ? "Key" : "Pattern", "is only for \"From\": \"file\" or \"output\"");
  if (figure->member && figure->pattern) clt_node_fail(&pattern, "conflicts with \"Key\"; remove one of them");
  if (figure->pattern && clt_node_ok(&node)) check_pattern(&pattern, figure->pattern);
  /* A batch's answers contain the figure. */
  if (command->batch.used && (clt_node_has(&node, "From") || figure->file || figure->member || figure->pattern))
    clt_node_fail(&node, "must not have \"From\", \"File\", \"Key\" or \"Pattern\" if there is a \"Batch\"");
  /* A unit of time scales the figure to seconds; other units are only printed. */
  const char *usual = figure->source == CLT_FIGURE_MEMORY ? "bytes" : "s", *stated = clt_read_text(&node, "Unit");
  if (clt_node_has(&node, "Unit") && !is_read)
    clt_member_fail(&node, "Unit",
                    "is always \"%s\" here; remove it, or read the figure with \"From\": \"file\" or \"output\"",
                    usual);
  figure->unit = stated ? stated : usual;
  figure->scale = 1;
  for (size_t i = 0; stated && i < sizeof times / sizeof *times; i++) {
    if (strcmp(stated, times[i]) != 0) continue;
    figure->scale = scales[i];
    figure->unit = usual;
  }
}

/* --- the section --- */

void clt_load_command(clt_problem *problem, const clt_node *root) {
  clt_node section = clt_node_member(root, "Command"), build = clt_node_member(&section, "Build"),
           run = clt_node_member(&section, "Run"), check = clt_node_member(&section, "Check"),
           files = clt_node_member(&section, "Files"), links = clt_node_member(&section, "Links"),
           batch = clt_node_member(&section, "Batch");
  if (section.json == NULL || !clt_node_ok(root)) return;
  if (clt_node_has(root, "KernelSpecification"))
    clt_node_fail(&section, "conflicts with \"KernelSpecification\"; remove one of them");
  clt_read_object(&section,
                  CLT_NAMES("Build", "Run", "Check", "Shell", "Files", "Links", "Environment", "EnvironmentPrefix",
                            "ParametersFile", "ParametersFormat", "Figure", "Batch", "Resources", "Desirability"),
                  true);
  clt_command *command = problem->command = clt_node_new(&section, 1, sizeof *problem->command);
  if (!clt_node_ok(root)) return;
  command->shell = clt_read_flag(&section, "Shell", false);
  if (build.json) { /* one command, or a list of them */
    bool several = command->shell ? json_is_array(build.json) : json_is_array(json_array_get(build.json, 0));
    size_t n = several ? json_array_size(build.json) : 1;
    command->build = clt_node_new(&section, n, sizeof *command->build);
    for (size_t i = 0; i < n && clt_node_ok(root); i++) {
      clt_node line = several ? clt_node_item(&build, i) : build;
      load_line(problem, &command->build[command->n_build++], &line);
    }
  }
  if (run.json == NULL) clt_node_fail(&section, "needs a \"Run\"");
  if (clt_node_ok(root)) load_line(problem, &command->run, &run);
  if (clt_node_ok(root) && check.json) load_line(problem, &command->check, &check);
  if (json_is_string(files.json) && strcmp(json_string_value(files.json), "*") == 0)
    command->whole_folder = true;
  else
    clt_load_file_names(problem, &command->files, &command->n_files, &files);
  clt_load_file_names(problem, &command->links, &command->n_links, &links);
  bool environment = clt_read_flag(&section, "Environment", true);
  const char *start = clt_read_text(&section, "EnvironmentPrefix");
  if (start && !clt_is_name(start))
    clt_member_fail(&section, "EnvironmentPrefix",
                    "must be the beginning of a variable's name: letters, digits and '_'");
  if (start && !environment) clt_member_fail(&section, "EnvironmentPrefix", "is only for \"Environment\": true");
  if (environment) command->environment = start ? start : "";
  load_parameters_file(command, &section);
  if (batch.json) {
    command->batch.used = true;
    clt_read_object(&batch, CLT_NAMES("Input", "Output"), true);
    command->batch.input = read_inner_path(&batch, "Input");
    command->batch.output = read_inner_path(&batch, "Output");
    if (command->check.n)
      clt_node_fail(&section,
                    "must not have both \"Check\" and \"Batch\"; with \"Batch\", the program reports failures itself");
    if (command->parameters_file)
      clt_node_fail(&section,
                    "must not have both \"ParametersFile\" and \"Batch\"; with \"Batch\", the program reads its input");
    command->environment = NULL; /* a batch has many configurations */
  }
  load_figure(command, &section);
  clt_load_hints(problem, &section);
}
