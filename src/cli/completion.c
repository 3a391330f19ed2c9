/* Completion for shells, from the same tables as the help. */
#include <clatune/sys/evaluator.h>
#include <clatune/sys/model.h>
#include <clatune/sys/searcher.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

/* One option of a command. argument NULL: a switch; what it may be is asked of words_for. */
typedef void (*option_visit)(const char *command, const char *name, const char *argument, const char *help);

static void each_option(const cli_command *command, option_visit visit) {
  char *argv[] = {(char *)command->name, "--help", NULL};
  cli_arguments arguments;
  if (cli_arguments_parse(&arguments, command, 2, argv) == 0) {
    for (size_t i = 0; i < command->n_flags; i++)
      visit(command->name, command->flags[i].name, command->flags[i].argument, command->flags[i].help);
    for (size_t g = 0; g < arguments.n_groups; g++)
      for (size_t i = 0; i < arguments.groups[g].n_options; i++) {
        const clt_option *o = &arguments.groups[g].options[i];
        visit(command->name, o->name, o->type == CLT_OPTION_BOOL ? NULL : "VALUE", o->help);
      }
    visit(command->name, "help", NULL, "prints the help");
  }
  cli_arguments_release(&arguments);
}

/* What the values of some options are; files for all others. */
static void print_words(const char *option) {
  if (strcmp(option, "searcher") == 0)
    for (size_t i = 0; i < clt_n_searchers(); i++) printf("%s%s", i ? " " : "", clt_searcher_at(i)->name);
  if (strcmp(option, "evaluator") == 0)
    for (size_t i = 0; i < clt_n_evaluators(); i++) printf("%s%s", i ? " " : "", clt_evaluator_at(i)->name);
  if (strcmp(option, "model") == 0)
    for (size_t i = 0; i < clt_n_models(); i++) printf("%s%s", i ? " " : "", clt_model_type_at(i)->name);
  if (strcmp(option, "format") == 0) fputs("text json options header cmake", stdout);
  if (strcmp(option, "device") == 0) fputs("cpu gpu accelerator pocl intel mesa nv amd", stdout);
}

static const char *const with_words[] = {"searcher", "evaluator", "model", "format", "device"};
#define N_WITH_WORDS (sizeof with_words / sizeof *with_words)

static bool has_words(const char *option) {
  for (size_t i = 0; i < N_WITH_WORDS; i++)
    if (strcmp(with_words[i], option) == 0) return true;
  return false;
}

/* Prints text; bytes of `special` with `escape` before them. */
static void print_escaped(const char *text, const char *special, const char *escape) {
  for (; *text; text++) {
    if (strchr(special, *text)) fputs(escape, stdout);
    putchar(*text);
  }
}

/* --- bash --- */

static void print_bash_option(const char *command, const char *name, const char *argument, const char *help) {
  (void)command, (void)argument, (void)help;
  printf(" --%s", name);
}

static void print_bash(const cli_command *const *commands, size_t n) {
  fputs(
      "_clatune() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=''\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='",
      stdout);
  for (size_t i = 0; i < n; i++) printf("%s ", commands[i]->name);
  fputs(
      "--help --version'\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n"
      "  case ${COMP_WORDS[COMP_CWORD-1]} in\n",
      stdout);
  for (size_t i = 0; i < N_WITH_WORDS; i++) {
    printf("    --%s) words='", with_words[i]);
    print_words(with_words[i]);
    fputs("' ;;\n", stdout);
  }
  fputs(
      "  esac\n  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n"
      "  case ${COMP_WORDS[1]} in\n",
      stdout);
  for (size_t i = 0; i < n; i++) {
    printf("    %s) words='", commands[i]->name);
    each_option(commands[i], print_bash_option);
    fputs("' ;;\n", stdout);
  }
  fputs(
      "  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n  else\n"
      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -o filenames -F _clatune clatune\n",
      stdout);
}

/* --- zsh --- */

/* Within single quotes, which end for a single quote. */
static void print_zsh_text(const char *text) {
  for (; *text; text++) {
    if (strchr("[]:\\", *text)) putchar('\\');
    fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stdout);
  }
}

static void print_zsh_option(const char *command, const char *name, const char *argument, const char *help) {
  (void)command;
  printf(" \\\n        '--%s%s[", name, argument ? "=" : "");
  print_zsh_text(help);
  putchar(']');
  if (argument && has_words(name)) {
    fputs(":value:(", stdout);
    print_words(name);
    putchar(')');
  } else if (argument) {
    fputs(":value:_files", stdout);
  }
  putchar('\'');
}

static void print_zsh(const cli_command *const *commands, size_t n) {
  fputs("#compdef clatune\n_clatune() {\n  local -a commands\n  commands=(\n", stdout);
  for (size_t i = 0; i < n; i++) {
    printf("    '%s:", commands[i]->name);
    print_zsh_text(commands[i]->summary);
    fputs("'\n", stdout);
  }
  fputs(
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n",
      stdout);
  for (size_t i = 0; i < n; i++) {
    printf("    %s)\n      _arguments", commands[i]->name);
    each_option(commands[i], print_zsh_option);
    fputs(" \\\n        '*:file:_files' ;;\n", stdout);
  }
  fputs("  esac\n}\n_clatune \"$@\"\n", stdout);
}

/* --- fish --- */

static void print_fish_option(const char *command, const char *name, const char *argument, const char *help) {
  printf("complete -c clatune -n '__fish_seen_subcommand_from %s' -l %s", command, name);
  if (argument && has_words(name)) {
    fputs(" -x -a '", stdout);
    print_words(name);
    putchar('\'');
  } else if (argument) {
    fputs(" -r", stdout);
  }
  fputs(" -d '", stdout);
  print_escaped(help, "'\\", "\\");
  fputs("'\n", stdout);
}

static void print_fish(const cli_command *const *commands, size_t n) {
  for (size_t i = 0; i < n; i++) {
    printf("complete -c clatune -n __fish_use_subcommand -a %s -d '", commands[i]->name);
    print_escaped(commands[i]->summary, "'\\", "\\");
    fputs("'\n", stdout);
  }
  for (size_t i = 0; i < n; i++) each_option(commands[i], print_fish_option);
}

static int run_completion(const cli_arguments *arguments) {
  size_t n;
  const cli_command *const *commands = cli_commands(&n);
  const char *shell = arguments->positional[0];
  if (strcmp(shell, "bash") == 0)
    print_bash(commands, n);
  else if (strcmp(shell, "zsh") == 0)
    print_zsh(commands, n);
  else if (strcmp(shell, "fish") == 0)
    print_fish(commands, n);
  else
    return cli_usage("completion is for bash, zsh and fish, not for '%s'", shell);
  return CLI_FOUND;
}

const cli_command cli_completion = {
    .name = "completion",
    .summary = "prints a completion script for a shell",
    .synopsis = "bash|zsh|fish",
    .description =
        "Prints what makes the shell complete commands, options and their values. To use it at once:\n"
        "  bash: source <(clatune completion bash)        zsh: source <(clatune completion zsh)\n"
        "  fish: clatune completion fish | source\n"
        "'meson install' puts the three where shells look for them.",
    .n_positional = {1, 1},
    .run = run_completion,
};
