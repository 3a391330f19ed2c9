/* Completion scripts for shells, from the same tables as the help. */
#include "cli/cli.h"
#include "eval/evaluators.h"
#include "model/model.h"
#include "search/search.h"

static const char *const with_words[] = {"searcher", "evaluator", "model", "format", "device"};
#define N_WITH_WORDS (sizeof with_words / sizeof *with_words)

/* The values of an option, valid until the next call; NULL: files. */
static const char *words_of(const char *option) {
  static char words[1024];
  size_t used = 0;
  const clt_plugins *plugins = NULL;
  if (strcmp(option, "searcher") == 0) plugins = &clt_searchers;
  if (strcmp(option, "evaluator") == 0) plugins = &clt_evaluators;
  if (strcmp(option, "model") == 0) plugins = &clt_models;
  if (strcmp(option, "format") == 0) return "text json options header cmake";
  if (strcmp(option, "device") == 0) return "cpu gpu accelerator pocl intel mesa nv amd";
  for (size_t i = 0; plugins && plugins->types[i] && used < sizeof words; i++)
    used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? " " : "", clt_plugin_name(plugins, i));
  return plugins ? words : NULL;
}

/* A script: fixed texts, and between them templates for each command, option and list of values. In a template, '@' is
 * the command, '~' the option, '#' the help and '^' the values. */
typedef struct shell {
  const char *name;
  const char *special; /* characters of the help that need a backslash */
  bool bourne;         /* a quote within single quotes is escaped as in sh */
  const char *begin, *summary, *before_values, *values, *before_commands, *command;
  const char *option[3]; /* a switch; an option with listed values; any other */
  const char *end_of_command, *end;
} shell;

static const shell shells[] = {
    {.name = "bash",
     .begin = "_clatune() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=''\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
              "    words='",
     .summary = "@ ",
     .before_values = "--help --version'\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n"
                      "  case ${COMP_WORDS[COMP_CWORD-1]} in\n",
     .values = "    --~) words='^' ;;\n",
     .before_commands = "  esac\n  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                        "    return\n  fi\n  case ${COMP_WORDS[1]} in\n",
     .command = "    @) words='",
     .option = {" --~", " --~", " --~"},
     .end_of_command = "' ;;\n",
     .end = "  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n  else\n"
            "    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -o filenames -F _clatune clatune\n"},
    {.name = "zsh",
     .special = "[]:\\",
     .bourne = true,
     .begin = "#compdef clatune\n_clatune() {\n  local -a commands\n  commands=(\n",
     .summary = "    '@:#'\n",
     .before_values = "",
     .values = "",
     .before_commands = "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
                        "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n",
     .command = "    @)\n      _arguments",
     .option = {" \\\n        '--~[#]'", " \\\n        '--~=[#]:value:(^)'", " \\\n        '--~=[#]:value:_files'"},
     .end_of_command = " \\\n        '*:file:_files' ;;\n",
     .end = "  esac\n}\n_clatune \"$@\"\n"},
    {.name = "fish",
     .special = "'\\",
     .begin = "",
     .summary = "complete -c clatune -n __fish_use_subcommand -a @ -d '#'\n",
     .before_values = "",
     .values = "",
     .before_commands = "",
     .command = "",
     .option = {"complete -c clatune -n '__fish_seen_subcommand_from @' -l ~ -d '#'\n",
                "complete -c clatune -n '__fish_seen_subcommand_from @' -l ~ -x -a '^' -d '#'\n",
                "complete -c clatune -n '__fish_seen_subcommand_from @' -l ~ -r -d '#'\n"},
     .end_of_command = "",
     .end = ""},
};

static void put_form(const shell *s, const char *form, const char *command, const cli_flag *option) {
  for (; *form; form++) {
    if (*form == '@') fputs(command, stdout);
    if (*form == '~') fputs(option->name, stdout);
    if (*form == '^') fputs(words_of(option->name), stdout);
    for (const char *help = *form == '#' ? option->help : ""; *help; help++) {
      if (strchr(s->special, *help)) putchar('\\');
      fputs(s->bourne && *help == '\'' ? "'\\''" : (char[]){*help, '\0'}, stdout);
    }
    if (strchr("@~^#", *form) == NULL) putchar(*form);
  }
}

/* argument NULL: a switch. */
static void put_option(const shell *s, const cli_command *command, const char *name, const char *argument,
                       const char *help) {
  int kind = 0;
  if (argument) kind = words_of(name) ? 1 : 2;
  put_form(s, s->option[kind], command->name, &(cli_flag){name, argument, help});
}

static int run_completion(const cli_arguments *arguments) {
  size_t n, i = 0;
  const cli_command *const *commands = cli_commands(&n);
  const char *typed = arguments->positional[0];
  while (i < sizeof shells / sizeof *shells && strcmp(typed, shells[i].name) != 0) i++;
  if (i == sizeof shells / sizeof *shells)
    cli_usage("there is no completion for '%s'; choose bash, zsh or fish", typed);
  const shell *s = &shells[i];
  fputs(s->begin, stdout);
  for (i = 0; i < n; i++) put_form(s, s->summary, commands[i]->name, &(cli_flag){.help = commands[i]->summary});
  fputs(s->before_values, stdout);
  for (i = 0; i < N_WITH_WORDS; i++) put_form(s, s->values, NULL, &(cli_flag){.name = with_words[i]});
  fputs(s->before_commands, stdout);
  for (i = 0; i < n; i++) {
    const cli_command *c = commands[i];
    put_form(s, s->command, c->name, NULL);
    for (size_t k = 0; k < c->n_flags; k++) put_option(s, c, c->flags[k].name, c->flags[k].argument, c->flags[k].help);
    for (const clt_plugins *const *kind = c->plugins; *kind; kind++)
      for (size_t k = 0; k < clt_n_plugins(*kind); k++) {
        const clt_option_table t = clt_plugin_table(*kind, k);
        for (const clt_option *o = t.options; o < t.options + t.n; o++)
          put_option(s, c, o->name, o->type == CLT_OPTION_BOOL ? NULL : "VALUE", o->help);
      }
    put_option(s, c, "help", NULL, "prints the help");
    fputs(s->end_of_command, stdout);
  }
  fputs(s->end, stdout);
  return CLI_FOUND;
}

const cli_command cli_completion = {
    .name = "completion",
    .summary = "prints a completion script for a shell",
    .synopsis = "bash|zsh|fish",
    .description =
        "Prints a script that makes a shell complete commands, options and their values. To use it at once:\n"
        "  bash: source <(clatune completion bash)        zsh: source <(clatune completion zsh)\n"
        "  fish: clatune completion fish | source\n"
        "'meson install' installs the three scripts where shells find them.",
    .n_positional = {1, 1},
    .run = run_completion,
};
