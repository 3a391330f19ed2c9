/* Completion for shells, from the same tables as the help. */
#include <clatune/sys/evaluator.h>
#include <clatune/sys/model.h>
#include <clatune/sys/searcher.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "eval/evaluators.h"
#include "model/model.h"
#include "search/search.h"

/* What is typed as "clatune COMMAND --help": it lists the options. Release it. */
static cli_arguments list_options(const cli_command *command) {
  char *argv[] = {(char *)command->name, "--help", NULL};
  cli_arguments out;
  cli_arguments_parse(&out, command, 2, argv);
  return out;
}

/* Option number `index`: the command's own, its plug-ins', --help. argument NULL: a switch. False: no more. */
static bool option_at(cli_flag *out, const cli_arguments *of, size_t index) {
  if (index < of->command->n_flags) return *out = of->command->flags[index], true;
  index -= of->command->n_flags;
  for (size_t g = 0; g < of->n_groups; index -= of->groups[g++].n_options) {
    if (index >= of->groups[g].n_options) continue;
    const clt_option *o = &of->groups[g].options[index];
    *out = (cli_flag){o->name, o->type == CLT_OPTION_BOOL ? NULL : "VALUE", o->help};
    return true;
  }
  *out = (cli_flag){"help", NULL, "prints the help"};
  return index == 0;
}

static const char *const with_words[] = {"searcher", "evaluator", "model", "format", "device"};
#define N_WITH_WORDS (sizeof with_words / sizeof *with_words)

/* What the values of an option are, until the next call; NULL: files. */
static const char *words_of(const char *option) {
  static char words[1024];
  size_t used = 0;
  const clt_plugins *plugins = strcmp(option, "searcher") == 0    ? &clt_searchers
                               : strcmp(option, "evaluator") == 0 ? &clt_evaluators
                               : strcmp(option, "model") == 0     ? &clt_models
                                                                  : NULL;
  if (strcmp(option, "format") == 0) return "text json options header cmake";
  if (strcmp(option, "device") == 0) return "cpu gpu accelerator pocl intel mesa nv amd";
  for (size_t i = 0; plugins && plugins->types[i] && used < sizeof words; i++)
    used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? " " : "", clt_plugin_name(plugins, i));
  return plugins ? words : NULL;
}

/* Prints text with a backslash before the bytes of `special`; in single quotes of a Bourne shell, one is written so. */
static void print_escaped(const char *text, const char *special, bool bourne) {
  for (; *text; text++) {
    if (strchr(special, *text)) putchar('\\');
    fputs(bourne && *text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stdout);
  }
}

static void print_bash(const cli_command *const *commands, size_t n) {
  fputs(
      "_clatune() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=''\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    words='",
      stdout);
  for (size_t i = 0; i < n; i++) printf("%s ", commands[i]->name);
  fputs(
      "--help --version'\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n"
      "  case ${COMP_WORDS[COMP_CWORD-1]} in\n",
      stdout);
  for (size_t i = 0; i < N_WITH_WORDS; i++) printf("    --%s) words='%s' ;;\n", with_words[i], words_of(with_words[i]));
  fputs(
      "  esac\n  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n"
      "  fi\n  case ${COMP_WORDS[1]} in\n",
      stdout);
  for (size_t i = 0; i < n; i++) {
    cli_arguments options = list_options(commands[i]);
    cli_flag option;
    printf("    %s) words='", commands[i]->name);
    for (size_t k = 0; option_at(&option, &options, k); k++) printf(" --%s", option.name);
    fputs("' ;;\n", stdout);
    cli_arguments_release(&options);
  }
  fputs(
      "  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n  else\n"
      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -o filenames -F _clatune clatune\n",
      stdout);
}

static void print_zsh(const cli_command *const *commands, size_t n) {
  fputs("#compdef clatune\n_clatune() {\n  local -a commands\n  commands=(\n", stdout);
  for (size_t i = 0; i < n; i++) {
    printf("    '%s:", commands[i]->name);
    print_escaped(commands[i]->summary, "[]:\\", true);
    puts("'");
  }
  fputs(
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n",
      stdout);
  for (size_t i = 0; i < n; i++) {
    cli_arguments options = list_options(commands[i]);
    cli_flag option;
    printf("    %s)\n      _arguments", commands[i]->name);
    for (size_t k = 0; option_at(&option, &options, k); k++) {
      const char *words = option.argument ? words_of(option.name) : NULL;
      printf(" \\\n        '--%s%s[", option.name, option.argument ? "=" : "");
      print_escaped(option.help, "[]:\\", true);
      if (words)
        printf("]:value:(%s)'", words);
      else
        fputs(option.argument ? "]:value:_files'" : "]'", stdout);
    }
    fputs(" \\\n        '*:file:_files' ;;\n", stdout);
    cli_arguments_release(&options);
  }
  fputs("  esac\n}\n_clatune \"$@\"\n", stdout);
}

static void print_fish(const cli_command *const *commands, size_t n) {
  for (size_t i = 0; i < n; i++) {
    printf("complete -c clatune -n __fish_use_subcommand -a %s -d '", commands[i]->name);
    print_escaped(commands[i]->summary, "'\\", false);
    puts("'");
  }
  for (size_t i = 0; i < n; i++) {
    cli_arguments options = list_options(commands[i]);
    cli_flag option;
    for (size_t k = 0; option_at(&option, &options, k); k++) {
      const char *words = option.argument ? words_of(option.name) : NULL;
      printf("complete -c clatune -n '__fish_seen_subcommand_from %s' -l %s%s%s%s -d '", commands[i]->name, option.name,
             words             ? " -x -a '"
             : option.argument ? " -r"
                               : "",
             words ? words : "", words ? "'" : "");
      print_escaped(option.help, "'\\", false);
      puts("'");
    }
    cli_arguments_release(&options);
  }
}

static int run_completion(const cli_arguments *arguments) {
  size_t n;
  const cli_command *const *commands = cli_commands(&n);
  const char *shell = arguments->positional[0];
  if (strcmp(shell, "bash") == 0) return print_bash(commands, n), CLI_FOUND;
  if (strcmp(shell, "zsh") == 0) return print_zsh(commands, n), CLI_FOUND;
  if (strcmp(shell, "fish") == 0) return print_fish(commands, n), CLI_FOUND;
  return cli_usage("completion is for bash, zsh and fish, not for '%s'", shell);
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
