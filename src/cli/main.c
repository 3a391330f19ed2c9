/* clatune: the command line. One file a subcommand; this one chooses among them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/guess.h"
#include "cli/help.h"
#include "cli/output.h"

static const cli_command *const commands[] = {
    &cli_devices, &cli_init,   &cli_space,          &cli_tune,   &cli_sweep, &cli_sample, &cli_train,      &cli_predict, &cli_record,
    &cli_convert, &cli_replay, &cli_report_command, &cli_lookup, &cli_store, &cli_verify, &cli_completion, &cli_version};
#define N_COMMANDS (sizeof commands / sizeof *commands)

const cli_command *const *cli_commands(size_t *n) {
  *n = N_COMMANDS;
  return commands;
}

static const cli_command *find(const char *name) {
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

static int no_command(const char *name) {
  const char *names[N_COMMANDS];
  char guess[CLI_GUESS_BYTES];
  for (size_t i = 0; i < N_COMMANDS; i++) names[i] = commands[i]->name;
  return cli_usage("there is no command '%s'%s (see 'clatune --help')", name,
                   cli_guess(guess, "", name, names, N_COMMANDS));
}

static int run(const cli_command *command, int argc, char **argv) {
  cli_arguments arguments;
  int rc = cli_arguments_parse(&arguments, command, argc, argv);
  if (rc == 0 && cli_given(&arguments, "help")) {
    cli_help_command(&arguments);
  } else if (rc == 0) {
    rc = command->run(&arguments);
  }
  cli_arguments_release(&arguments);
  return rc;
}

static int dispatch(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "--help";
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    const cli_command *explained = argc > 2 ? find(argv[2]) : NULL;
    char *help[] = {argc > 2 ? argv[2] : NULL, "--help", NULL};
    if (explained) return run(explained, 2, help);
    cli_help(commands, N_COMMANDS);
    return argc > 1 ? CLI_FOUND : CLI_USAGE;
  }
  if (strcmp(name, "--version") == 0) name = "version";
  const cli_command *command = find(name);
  if (command == NULL) return no_command(name);
  return run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  int rc = dispatch(argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    int failure = cli_failure("cannot write to standard output");
    if (rc == 0) rc = failure;
  }
  return rc;
}
