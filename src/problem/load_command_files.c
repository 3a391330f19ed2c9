/* Command.Files and Command.Links: what a program finds in the folder that it runs in; and what is released in the end.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/command.h"

static int check_file(const clt_problem *problem, const clt_node *node, const char *name, clt_error *error) {
  struct stat status;
  char *path = clt_problem_file(problem, name);
  if (path == NULL) return clt_fail_memory(error);
  bool found = stat(path, &status) == 0;
  free(path);
  return found ? CLT_OK : clt_node_fail(&problem->source, node, error, "there is no file \"%s\"", name);
}

static int load_names(clt_problem *problem, char ***out, size_t *n, const clt_node *section, const char *name,
                      clt_error *error) {
  clt_node list = clt_node_member(section, name);
  if (list.json == NULL) return CLT_OK;
  int rc = clt_node_list(&problem->source, &list, error);
  if (rc) return rc;
  *out = clt_new_array(json_array_size(list.json), sizeof **out);
  if (*out == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list.json); i++) {
    clt_node node = clt_node_item(&list, i);
    const char *file = json_string_value(node.json);
    if (file == NULL || file[0] == 0) return clt_node_fail(&problem->source, &node, error, "needs the path of a file");
    if (((*out)[i] = strdup(file)) == NULL) return clt_fail_memory(error);
    *n = i + 1;
    rc = check_file(problem, &node, file, error);
  }
  return rc;
}

int clt_load_command_files(clt_problem *problem, clt_command *command, const clt_node *section, clt_error *error) {
  clt_node files = clt_node_member(section, "Files");
  const char *text = json_string_value(files.json);
  int rc = CLT_OK;
  if (text && strcmp(text, "*") == 0) {
    command->whole_folder = true;
  } else {
    rc = load_names(problem, &command->files, &command->n_files, section, "Files", error);
  }
  return rc ? rc : load_names(problem, &command->links, &command->n_links, section, "Links", error);
}

static void free_line(clt_command_line *line) {
  clt_options_free(line->words, line->n);
  free(line->key);
}

static void free_names(char **names, size_t n) {
  for (size_t i = 0; i < n; i++) free(names[i]);
  free(names);
}

void clt_command_free(clt_command *command) {
  if (command == NULL) return;
  for (size_t i = 0; i < command->n_build; i++) free_line(&command->build[i]);
  free(command->build);
  free_line(&command->run);
  free_line(&command->check);
  free_names(command->files, command->n_files);
  free_names(command->links, command->n_links);
  free(command->environment);
  free(command->parameters_file);
  free(command->figure.file);
  free(command->figure.member);
  free(command->figure.pattern);
  free(command->figure.unit);
  free(command->batch.input);
  free(command->batch.output);
  free(command);
}
