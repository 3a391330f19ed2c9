/* cli/arguments.h - what was typed, parsed by getopt_long from the commands' and plug-ins' tables. */
#ifndef CLT_CLI_ARGUMENTS_H
#define CLT_CLI_ARGUMENTS_H

#include <clatune/problem.h>

#include "cli/command.h"

#define CLI_MAX_GROUPS 32

struct cli_arguments {
  const cli_command *command;
  clt_setting *typed; /* every flag in the order typed; a switch has the value "yes" */
  size_t n_typed;
  char **positional; /* owned; the texts are argv's */
  size_t n_positional;
  cli_option_group groups[CLI_MAX_GROUPS];
  size_t n_groups;
};

/* Parses argv (argv[0] is the command's name). Prints a message and returns CLI_USAGE on a mistake. --help is typed as
 * any other switch. */
int cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv);
void cli_arguments_release(cli_arguments *arguments);

/* The last value typed for a flag; NULL: not typed. */
const char *cli_text(const cli_arguments *arguments, const char *flag);
bool cli_given(const cli_arguments *arguments, const char *flag);

/* All values typed for a flag, in order: *out is malloc'ed. Returns 0 or an exit code. */
int cli_texts(const char ***out, size_t *n, const cli_arguments *arguments, const char *flag);

/* A number in min..max, or `otherwise` where the flag was not typed. Returns 0, or CLI_USAGE after a message. */
int cli_integer(int64_t *out, const cli_arguments *arguments, const char *flag, int64_t otherwise, int64_t min,
                int64_t max);
int cli_real_number(double *out, const cli_arguments *arguments, const char *flag, double otherwise, double min,
                    double max);

/* The typed --size NAME=N as sizes; *out is malloc'ed (names are borrowed from a buffer at its end) and freed with
 * free. */
int cli_sizes(clt_size **out, size_t *n, const cli_arguments *arguments);

/* The typed flags that belong to the plug-in `title` ("searcher two-stage"): *out is malloc'ed. A typed flag that
 * belongs to another plug-in of the same kind and not to this one is a usage mistake. */
int cli_settings(clt_setting **out, size_t *n, const cli_arguments *arguments, const char *kind, const char *name);

#endif
