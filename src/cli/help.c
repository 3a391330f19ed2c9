#include "cli/help.h"

#include <clatune/sys/searcher.h>
#include <stdio.h>
#include <string.h>

#define TEXT_COLUMN 28
#define WIDTH 100
#define UNBOUNDED 1e6 /* maxima from here on only keep numbers sane */

/* Prints text from TEXT_COLUMN on, broken at spaces. */
static void wrap(const char *text) {
  int column = TEXT_COLUMN;
  while (*text) {
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

static void line(const char *left, const char *text) {
  int width = printf("  %s ", left);
  if (width > TEXT_COLUMN) {
    putchar('\n');
    width = 0;
  }
  printf("%*s", TEXT_COLUMN - width, "");
  wrap(text);
}

static void flag_line(const cli_flag *flag) {
  char left[96];
  snprintf(left, sizeof left, "--%s%s%s", flag->name, flag->argument ? " " : "", flag->argument ? flag->argument : "");
  line(left, flag->help);
}

static const char *type_name(clt_option_type type) {
  switch (type) {
    case CLT_OPTION_BOOL: return "[=yes|no]";
    case CLT_OPTION_INT: return " N";
    case CLT_OPTION_REAL: return " X";
    default: return " TEXT";
  }
}

static void option_line(const clt_option *option) {
  char left[96], text[512], range[96] = "";
  snprintf(left, sizeof left, "--%s%s", option->name, type_name(option->type));
  bool bounded = option->max < UNBOUNDED;
  if (bounded && (option->min != 0 || option->max != 0)) {
    snprintf(range, sizeof range, ", %.6g to %.6g", option->min, option->max);
  } else if (!bounded && option->min != 0) { /* nobody expects to give less than nothing */
    snprintf(range, sizeof range, ", at least %.6g", option->min);
  }
  snprintf(text, sizeof text, "%s (default %s%s)", option->help, option->standard[0] ? option->standard : "none",
           range);
  line(left, text);
}

static void searchers(void) {
  puts("\nsearchers:");
  for (size_t i = 0; i < clt_n_searchers(); i++) line(clt_searcher_at(i)->name, clt_searcher_at(i)->summary);
}

void cli_help(const cli_command *const *commands, size_t n) {
  puts(
      "usage: clatune COMMAND [OPTION...] [ARGUMENT...]\n\n"
      "Finds the fastest configuration of an OpenCL kernel.\n\ncommands:");
  for (size_t i = 0; i < n; i++) line(commands[i]->name, commands[i]->summary);
  puts(
      "\n'clatune COMMAND --help' explains a command. A first try:\n"
      "  clatune devices\n"
      "  clatune tune kernels_cl/convolution.json --device pocl --budget 100");
}

void cli_help_command(const cli_arguments *arguments) {
  const cli_command *command = arguments->command;
  printf("usage: clatune %s %s\n\n%s\n\noptions:\n", command->name, command->synopsis, command->description);
  for (size_t i = 0; i < command->n_flags; i++) flag_line(&command->flags[i]);
  line("-h, --help", "prints this");
  if (command->searcher_options) searchers();
  for (size_t g = 0; g < arguments->n_groups; g++) {
    printf("\n%s:\n", arguments->groups[g].title);
    for (size_t i = 0; i < arguments->groups[g].n_options; i++) option_line(&arguments->groups[g].options[i]);
  }
}
