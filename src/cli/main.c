/* clatune: chooses the command or the program, and prints the help of all. */
#include "cli/cli.h"
#include "eval/evaluators.h"
#include "model/model.h"
#include "search/search.h"

extern const cli_command cli_devices, cli_init, cli_space, cli_tune, cli_sample, cli_train, cli_predict, cli_record,
    cli_convert, cli_replay, cli_report_command, cli_lookup, cli_store, cli_measure, cli_verify, cli_completion,
    cli_serve;

#define UNBOUNDED 1e6 /* from here on, a maximum is no limit that a user needs to know */

static void print_option_help(const clt_option *option) {
  static const char *const types[] = {[CLT_OPTION_BOOL] = "[=yes|no]",
                                      [CLT_OPTION_INT] = " N",
                                      [CLT_OPTION_REAL] = " X",
                                      [CLT_OPTION_TEXT] = " TEXT",
                                      [CLT_OPTION_SECONDS] = " S"};
  char left[96], text[512], range[96] = "";
  snprintf(left, sizeof left, "--%s%s", option->name, types[option->type]);
  bool bounded = option->max < UNBOUNDED;
  if (bounded && (option->min != 0 || option->max != 0)) {
    snprintf(range, sizeof range, ", %.6g to %.6g", option->min, option->max);
  } else if (!bounded && option->min != 0) { /* a minimum of 0 goes without saying */
    snprintf(range, sizeof range, ", at least %.6g", option->min);
  }
  snprintf(text, sizeof text, "%s (default %s%s)", option->help,
           option->default_text[0] ? option->default_text : "none", range);
  cli_print_help_line(left, text);
}

static const clt_plugins *const kinds[] = {&clt_searchers, &clt_evaluators, &clt_models};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* --- version --- */

static int run_version(const cli_arguments *arguments) {
  json_t *searchers = json_array();
  for (size_t i = 0; clt_searchers.types[i]; i++)
    json_array_append_new(searchers, json_string(clt_plugin_name(&clt_searchers, i)));
  return cli_answer_line(arguments, json_pack("{s:s, s:o}", "version", CLT_VERSION, "searchers", searchers),
                         "clatune {version}");
}

static const cli_flag version_flags[] = {CLI_FLAG_JSON};

static const cli_command cli_version = {
    .name = "version",
    .summary = "prints the version",
    .synopsis = "[--json]",
    .description = "Prints the version of clatune.",
    CLI_FLAGS(version_flags),
    .run = run_version,
};

/* --- all commands --- */

static const cli_command *const commands[] = {
    &cli_devices, &cli_init,   &cli_space,   &cli_tune,   &cli_sample,     &cli_train,
    &cli_predict, &cli_record, &cli_convert, &cli_replay, &cli_serve,      &cli_report_command,
    &cli_lookup,  &cli_store,  &cli_measure, &cli_verify, &cli_completion, &cli_version};
#define N_COMMANDS (sizeof commands / sizeof *commands)

const cli_command *const *cli_commands(size_t *n) {
  size_t n_programs;
  const cli_program *programs = cli_programs(&n_programs, true);
  const cli_command **all = cli_new(N_COMMANDS + n_programs, sizeof *all);
  memcpy(all, commands, sizeof commands);
  *n = N_COMMANDS;
  for (size_t i = 0; i < n_programs; i++)
    if (programs[i].is_installed) all[(*n)++] = &programs[i].command;
  return all;
}

static const cli_command *find_command(const char *name) {
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

/* helps: a searcher, an evaluator or a model may be meant, too. */
static int refuse_command(const char *name, bool helps) {
  size_t n, n_names, n_plugins = 0;
  const cli_program *programs = cli_programs(&n, false);
  for (size_t k = 0; helps && k < N_KINDS; k++) n_plugins += clt_n_plugins(kinds[k]);
  const char **names = cli_new(N_COMMANDS + n + n_plugins, sizeof *names);
  char guess[CLI_GUESS_BYTES];
  n_names = N_COMMANDS + n;
  for (size_t k = 0; helps && k < N_KINDS; k++)
    for (size_t i = 0; i < clt_n_plugins(kinds[k]); i++) names[n_names++] = clt_plugin_name(kinds[k], i);
  for (size_t i = 0; i < N_COMMANDS; i++) names[i] = commands[i]->name;
  for (size_t i = 0; i < n; i++) {
    names[N_COMMANDS + i] = programs[i].command.name;
    if (strcmp(programs[i].command.name, name) == 0)
      cli_usage("'clatune %s' is not installed; install the package %s", name, programs[i].package);
  }
  cli_guess(guess, "", name, names, n_names);
  if (helps) cli_usage("there is no command, searcher, evaluator or model '%s'%s (see 'clatune --help')", name, guess);
  cli_usage("there is no command '%s'%s (see 'clatune --help')", name, guess);
}

static void print_commands(void) {
  size_t n, n_missing = 0;
  const cli_program *programs = cli_programs(&n, true);
  puts(
      "usage: clatune COMMAND [OPTION...] [ARGUMENT...]\n\n"
      "Searches for the fastest configuration of an OpenCL kernel or of any program.\n\ncommands:");
  for (size_t i = 0; i < N_COMMANDS; i++) cli_print_help_line(commands[i]->name, commands[i]->summary);
  for (size_t i = 0; i < n; i++)
    if (programs[i].is_installed) cli_print_help_line(programs[i].command.name, programs[i].command.summary);
  for (size_t i = 0; i < n; i++) {
    if (programs[i].is_installed) continue;
    if (n_missing++ == 0) puts("\nnot installed, and the package that has it:");
    cli_print_help_line(programs[i].command.name, programs[i].package);
  }
  puts(
      "\n'clatune COMMAND --help' explains a command, 'clatune help NAME' a searcher, an\nevaluator or a model. "
      "'clatune --version' or -V prints the version. A first try:\n"
      "  clatune devices");
  char *shipped = cli_shipped_problem("convolution.json");
  if (shipped == NULL) puts("  clatune init KERNEL.cl");
  printf("  clatune tune %s --device cpu --budget 100\n", shipped ? "convolution.json" : "KERNEL.json");
  free(shipped);
}

/* 'clatune help NAME': of a command, and of all plug-ins with this name. */
static int explain(const char *name) {
  const cli_command *command = find_command(name);
  char *words[] = {(char *)name, "--help", NULL};
  bool found = command != NULL;
  if (command) cli_run_command(command, 2, words);
  for (size_t k = 0; k < N_KINDS; k++) {
    const size_t i = clt_plugin_index(kinds[k], name);
    if (i == clt_n_plugins(kinds[k])) continue;
    const clt_option_table t = clt_plugin_table(kinds[k], i);
    printf("%s%s %s: %s\n", found ? "\n" : "", clt_plugin_kind(kinds[k]), name, clt_plugin_summary(kinds[k], i));
    found = true;
    if (t.n) puts("\noptions:");
    for (size_t o = 0; o < t.n; o++) print_option_help(&t.options[o]);
  }
  if (found) return CLI_FOUND;
  cli_exec_program(name, words);
  return refuse_command(name, true);
}

static int choose_command(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "--help";
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    if (argc > 2) return explain(argv[2]);
    print_commands();
    return argc > 1 ? CLI_FOUND : CLI_USAGE;
  }
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
  const cli_command *command = find_command(name);
  if (command) return cli_run_command(command, argc - 1, argv + 1);
  cli_exec_program(name, argv + 1);
  return refuse_command(name, false);
}

int main(int argc, char **argv) {
  cli_begin();
  return cli_finish(choose_command(argc, argv));
}
