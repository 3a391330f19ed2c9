#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"

#define MOST_DESCRIBED 262144 /* bytes */

/* All that clatune knows of the programs. */
static const struct {
  const char *name, *package;
} programs[] = {{"sweep", "clatune-farm"},
                {"family", "clatune-family"},
                {"capture", "clatune-capture"},
                {"apply", "clatune-capture"}};
#define N_PROGRAMS (sizeof programs / sizeof *programs)

/* The program's path, malloc'ed; NULL: it is not installed. */
static char *find_program(const char *name) {
  /* As installed; in a build folder. */
  static const char *const folders[] = {CLATUNE_PROGRAMS, CLATUNE_BUILT_PROGRAMS};
  const char *given = getenv("CLATUNE_EXEC_PATH");
  char *path = NULL;
  if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")]) return NULL;
  if (given && *given) {
    path = clt_format("%s/clatune-%s", given, name);
    if (path && access(path, X_OK) == 0) return path;
    free(path);
    return NULL;
  }
  for (size_t i = 0; path == NULL && i < sizeof folders / sizeof *folders; i++) {
    char *file = clt_format("%s/clatune-%s", folders[i], name);
    if (file) path = clt_find_near_program((const char *const[]){file, NULL}, X_OK);
    free(file);
  }
  return path;
}

void cli_exec_program(const char *name, char **argv) {
  char *path = find_program(name);
  if (path == NULL) return;
  argv[0] = strrchr(path, '/') + 1;
  execv(path, argv);
  cli_failure("cannot run '%s': %s", path, strerror(errno));
}

/* Asks the program at `path` for its summary and its options. One that does not answer has none. */
static void describe_program(cli_command *out, const char *path) {
  char *words[] = {(char *)path, CLI_DESCRIBE, NULL};
  const clt_spawn spawn = {.program = path, .arguments = words, .in = CLT_SPAWN_NULL};
  clt_text text = {0};
  int status = 0;
  const int rc = clt_spawn_output(&text, &status, &spawn, MOST_DESCRIBED, NULL);
  json_t *json = rc || status ? NULL : json_loadb(text.bytes, text.n, 0, NULL), *option;
  const json_t *options = json_object_get(json, "options");
  cli_flag *flags = cli_new(json_array_size(options), sizeof *flags);
  size_t i;
  json_array_foreach(options, i, option) {
    const json_t *argument = json_object_get(option, "argument");
    flags[i] =
        (cli_flag){clt_json_string(option, "name"), json_string_value(argument), clt_json_string(option, "help")};
  }
  out->summary = clt_json_string(json, "summary");
  out->flags = flags;
  out->n_flags = json_array_size(options);
  if (json) cli_keep_json(json);
  clt_text_release(&text);
}

const cli_program *cli_programs(size_t *n, bool describe) {
  cli_program *all = cli_new(N_PROGRAMS, sizeof *all);
  for (size_t i = 0; i < N_PROGRAMS; i++) {
    char *path = find_program(programs[i].name);
    all[i] =
        (cli_program){.command.name = programs[i].name, .package = programs[i].package, .is_installed = path != NULL};
    if (path && describe) describe_program(&all[i].command, path);
    free(path);
  }
  *n = N_PROGRAMS;
  return all;
}
