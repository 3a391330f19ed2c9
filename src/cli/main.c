/* clatune: the command line. Each command has a file; this one runs them and prints their help. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "eval/evaluators.h"
#include "model/model.h"
#include "search/search.h"

extern const cli_command cli_devices, cli_init, cli_space, cli_tune, cli_sweep_command, cli_sample, cli_train,
    cli_predict, cli_record, cli_convert, cli_replay, cli_report_command, cli_lookup, cli_store, cli_measure,
    cli_verify, cli_apply, cli_completion, cli_family, cli_serve, cli_capture;

/* --- help --- */

#define TEXT_COLUMN 28
#define WIDTH 100
#define UNBOUNDED 1e6 /* from here on, a maximum is no limit that a user needs to know */

/* Prints a name, and its explanation from TEXT_COLUMN on, broken at spaces. */
static void print_help_line(const char *left, const char *text) {
  int column = printf("  %s ", left);
  if (column > TEXT_COLUMN) {
    putchar('\n');
    column = 0;
  }
  printf("%*s", TEXT_COLUMN - column, "");
  for (column = TEXT_COLUMN; *text;) {
    int length = (int)strcspn(text, " ");
    if (column + length > WIDTH && column > TEXT_COLUMN) {
      printf("\n%*s", TEXT_COLUMN, "");
      column = TEXT_COLUMN;
    }
    printf("%.*s%s", length, text, text[length] ? " " : "");
    column += length + 1;
    text += length + (text[length] != '\0');
  }
  putchar('\n');
}

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
  snprintf(text, sizeof text, "%s (default %s%s)", option->help, option->standard[0] ? option->standard : "none",
           range);
  print_help_line(left, text);
}

static void print_help_of(const cli_arguments *arguments) {
  const cli_command *command = arguments->command;
  printf("usage: clatune %s %s\n\n%s\n\noptions:\n", command->name, command->synopsis, command->description);
  for (size_t i = 0; i < command->n_flags; i++) {
    const cli_flag *flag = &command->flags[i];
    char left[96];
    snprintf(left, sizeof left, "%s--%s%s%s", strcmp(flag->name, "quiet") == 0 ? "-q, " : "", flag->name,
             flag->argument ? " " : "", flag->argument ? flag->argument : "");
    print_help_line(left, flag->help);
  }
  print_help_line("-h, --help", "prints this help");
  for (const clt_plugins *const *kind = command->plugins; *kind; kind++) {
    printf("\n%ss ('clatune help NAME' explains one and its options):\n", clt_plugin_kind(*kind));
    for (size_t i = 0; i < clt_n_plugins(*kind); i++)
      print_help_line(clt_plugin_name(*kind, i), clt_plugin_summary(*kind, i));
  }
  if (command->examples) printf("\nexamples:\n%s", command->examples);
}

/* Explains all plug-ins with this name. found: other text was printed before. Returns whether any text was printed. */
static bool print_plugin_help(const char *name, bool found) {
  static const clt_plugins *const kinds[] = {&clt_searchers, &clt_evaluators, &clt_models};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const size_t i = clt_plugin_index(kinds[k], name);
    if (i == clt_n_plugins(kinds[k])) continue;
    const clt_option_table t = clt_plugin_table(kinds[k], i);
    printf("%s%s %s: %s\n", found ? "\n" : "", clt_plugin_kind(kinds[k]), name, clt_plugin_summary(kinds[k], i));
    found = true;
    if (t.n) puts("\noptions:");
    for (size_t o = 0; o < t.n; o++) print_option_help(&t.options[o]);
  }
  return found;
}

/* --- version --- */

static int run_version(const cli_arguments *arguments) {
  json_t *searchers = json_array();
  for (size_t i = 0; clt_searchers.types[i]; i++)
    json_array_append_new(searchers, json_string(clt_plugin_name(&clt_searchers, i)));
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:o}", "version", CLT_VERSION, "searchers", searchers));
  json_decref(searchers);
  puts("clatune " CLT_VERSION);
  return 0;
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
    &cli_devices, &cli_init,           &cli_space,      &cli_tune,   &cli_sweep_command, &cli_family,
    &cli_sample,  &cli_train,          &cli_predict,    &cli_record, &cli_convert,       &cli_replay,
    &cli_serve,   &cli_report_command, &cli_lookup,     &cli_store,  &cli_measure,       &cli_verify,
    &cli_capture, &cli_apply,          &cli_completion, &cli_version};
#define N_COMMANDS (sizeof commands / sizeof *commands)

const cli_command *const *cli_commands(size_t *n) {
  *n = N_COMMANDS;
  return commands;
}

static const cli_command *find_command(const char *name) {
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

static int run_command(const cli_command *command, int argc, char **argv) {
  cli_arguments arguments;
  cli_arguments_parse(&arguments, command, argc, argv);
  if (!cli_given(&arguments, "help")) return command->run(&arguments);
  print_help_of(&arguments);
  return CLI_FOUND;
}

static int refuse_command(const char *name) {
  const char *names[N_COMMANDS];
  char guess[CLI_GUESS_BYTES];
  for (size_t i = 0; i < N_COMMANDS; i++) names[i] = commands[i]->name;
  cli_usage("there is no command '%s'%s (see 'clatune --help')", name, cli_guess(guess, "", name, names, N_COMMANDS));
}

static int choose_command(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "--help";
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    const cli_command *explained = argc > 2 ? find_command(argv[2]) : NULL;
    char *help[] = {argc > 2 ? argv[2] : NULL, "--help", NULL};
    if (explained) run_command(explained, 2, help);
    if (argc > 2) return print_plugin_help(argv[2], explained) ? CLI_FOUND : refuse_command(argv[2]);
    puts(
        "usage: clatune COMMAND [OPTION...] [ARGUMENT...]\n\n"
        "Finds the fastest configuration of an OpenCL kernel or of any program.\n\ncommands:");
    for (size_t i = 0; i < N_COMMANDS; i++) print_help_line(commands[i]->name, commands[i]->summary);
    puts(
        "\n'clatune COMMAND --help' explains a command, 'clatune help NAME' a searcher, an evaluator or a model.\n"
        "'clatune --version' or -V prints the version. A first try:\n"
        "  clatune devices");
    /* As installed, and in the build folder. */
    static const char *const shipped[] = {"../share/clatune/problems/convolution.json",
                                          "../../../kernels_cl/convolution.json", NULL};
    char *near = clt_find_near_program(shipped, R_OK), *problem = near ? realpath(near, NULL) : NULL;
    if (problem == NULL) puts("  clatune init KERNEL.cl");
    printf("  clatune tune %s --device cpu --budget 100\n", problem ? problem : "KERNEL.json");
    free(near);
    free(problem);
    return argc > 1 ? CLI_FOUND : CLI_USAGE;
  }
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
  const cli_command *command = find_command(name);
  if (command) return run_command(command, argc - 1, argv + 1);
  return refuse_command(name);
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of a file's size (ulimit -f) fails with a message */
  cli_streams_open();
  int rc = choose_command(argc, argv);
  cli_end();
  if (fflush(stdout) || ferror(stdout)) {
    int failure = cli_output_failed();
    if (rc == 0) rc = failure;
  }
  return rc;
}
