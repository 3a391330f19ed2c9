/* cli/command.h - running commands, of clatune itself and of the programs next to it.
 *
 * A program is a file libexec/clatune/clatune-NAME: 'clatune NAME ...' runs it. Programs are made with this library
 * (cli_program_main) or with anything else. clatune knows no more of them than the table in programs.c. */
#ifndef CLT_CLI_COMMAND_H
#define CLT_CLI_COMMAND_H

#include "cli/cli.h"

/* argv[0] is the command's name. Returns an exit code. */
int cli_run_command(const cli_command *command, int argc, char **argv);
void cli_print_help_line(const char *left, const char *text);

/* The first and the last call of main. cli_finish returns the exit code: rc, or a failure of standard output. */
void cli_begin(void);
int cli_finish(int rc);

/* main of a program with one command. */
int cli_program_main(const cli_command *command, int argc, char **argv);
#define CLI_DESCRIBE "--describe" /* its only argument: it prints its summary and its options as JSON */

/* --- clatune's end (programs.c) --- */

/* Replaces this process by the program, with these arguments (argv[0] is replaced). Returns if there is none. */
void cli_exec_program(const char *name, char **argv);

/* The *n programs that clatune's packages have. */
typedef struct cli_program {
  cli_command command; /* without a function; with `describe`, the summary and the flags of an installed one */
  const char *package;
  bool is_installed;
} cli_program;
const cli_program *cli_programs(size_t *n, bool describe);

#endif
