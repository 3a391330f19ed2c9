/* Running a command, and its help: of clatune itself and of the programs in libexec/clatune, which have one each. */
#include <signal.h>

#include "base/base.h"
#include "cli/cli.h"
#include "store/pq.h"

#define TEXT_COLUMN 24
#define WIDTH 80

/* Prints n bytes of text from a column on, and breaks it at single spaces; further lines begin at `indent`. */
static void put_wrapped(const char *text, size_t n, int column, int indent) {
  for (const char *end = text + n; text < end;) {
    const int length = (int)clt_min(strcspn(text, " "), (size_t)(end - text));
    if (column + length > WIDTH && column > indent) column = printf("\n%*s", indent, "") - 1;
    column += printf("%.*s", length, text);
    text += length;
    const char *word = text + strspn(text, " ");
    if (word < end && column + (int)(word - text) + (int)strcspn(word, " \n") <= WIDTH)
      column += printf("%.*s", (int)(word - text), text);
    else if (word < end)
      column = WIDTH;
    text = word;
  }
  putchar('\n');
}

/* A text whose single line breaks mean nothing, and whose indented lines and empty lines stand. */
static void put_paragraphs(const char *text) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    char *joined = cli_new(strlen(text) + 1, 1);
    const bool is_plain = *text != ' ';
    memcpy(joined, text, n);
    while (is_plain && n > 0 && text[n] == '\n' && text[n + 1] && !strchr(" \n", text[n + 1])) {
      joined[n] = ' ';
      const size_t more = strcspn(text + n + 1, "\n");
      memcpy(joined + n + 1, text + n + 1, more);
      n += 1 + more;
    }
    put_wrapped(joined, n, 0, is_plain ? 0 : 4);
    text += n + (text[n] == '\n');
  }
}

/* Commands with explanations next to them; under them if a line would be too long. */
static void put_examples(const char *text) {
  for (; *text; text += *text == '\n') {
    const size_t n = strcspn(text, "\n");
    const char *gap = n > WIDTH ? memmem(text + 2, n - 2, "  ", 2) : NULL;
    const size_t n_left = gap ? (size_t)(gap - text) : n;
    const size_t n_gap = gap ? strspn(gap, " ") : 0;
    printf("%.*s%s", (int)n_left, text, gap ? "\n      " : "\n");
    if (gap) put_wrapped(gap + n_gap, n - n_left - n_gap, 6, 6);
    text += n;
  }
}

/* The text begins at TEXT_COLUMN. */
void cli_print_help_line(const char *left, const char *text) {
  int column = printf("  %s ", left);
  if (column > TEXT_COLUMN) {
    putchar('\n');
    column = 0;
  }
  printf("%*s", TEXT_COLUMN - column, "");
  put_wrapped(text, strlen(text), TEXT_COLUMN, TEXT_COLUMN);
}

static void print_help(const cli_arguments *arguments) {
  const cli_command *command = arguments->command;
  const int column = printf("usage: clatune %s ", command->name);
  put_wrapped(command->synopsis, strlen(command->synopsis), column, column);
  putchar('\n');
  put_paragraphs(command->description);
  puts("\noptions:");
  for (size_t i = 0; i < command->n_flags; i++) {
    const cli_flag *flag = &command->flags[i];
    char left[96];
    const char *also = strcmp(flag->name, "quiet") == 0 ? "-q, " : "";
    snprintf(left, sizeof left, flag->argument ? "%s--%s %s" : "%s--%s", also, flag->name, flag->argument);
    cli_print_help_line(left, flag->help);
  }
  cli_print_help_line("-h, --help", "prints this help");
  for (const clt_plugins *const *kind = command->plugins; *kind; kind++) {
    printf("\n%ss ('clatune help NAME' explains one and its options):\n", clt_plugin_kind(*kind));
    for (size_t i = 0; i < clt_n_plugins(*kind); i++)
      cli_print_help_line(clt_plugin_name(*kind, i), clt_plugin_summary(*kind, i));
  }
  if (command->examples) {
    puts("\nexamples:");
    put_examples(command->examples);
  }
}

int cli_run_command(const cli_command *command, int argc, char **argv) {
  cli_arguments arguments;
  cli_arguments_parse(&arguments, command, argc, argv);
  if (!cli_given(&arguments, "help")) return command->run(&arguments);
  print_help(&arguments);
  return CLI_FOUND;
}

void cli_begin(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of a file's size (ulimit -f) fails with a message */
  cli_streams_open();
  clt_pq_on_wait(cli_wait_for_others);
}

int cli_finish(int rc) {
  cli_end();
  if (fflush(stdout) == 0 && !ferror(stdout)) return rc;
  const int failure = cli_output_failed();
  return rc ? rc : failure;
}

/* --- the programs --- */

static void add_option(json_t *options, const char *name, const char *argument, const char *help) {
  json_array_append_new(options, json_pack("{s:s, s:s*, s:s}", "name", name, "argument", argument, "help", help));
}

int cli_program_main(const cli_command *command, int argc, char **argv) {
  cli_begin();
  if (argc != 2 || strcmp(argv[1], CLI_DESCRIBE) != 0) return cli_finish(cli_run_command(command, argc, argv));
  json_t *options = json_array(); /* the command's description, which programs.c reads */
  for (size_t i = 0; i < command->n_flags; i++)
    add_option(options, command->flags[i].name, command->flags[i].argument, command->flags[i].help);
  for (const clt_plugins *const *kind = command->plugins; *kind; kind++)
    for (size_t i = 0; i < clt_n_plugins(*kind); i++) {
      const clt_option_table t = clt_plugin_table(*kind, i);
      for (const clt_option *o = t.options; o < t.options + t.n; o++)
        add_option(options, o->name, o->type == CLT_OPTION_BOOL ? NULL : "VALUE", o->help);
    }
  return cli_finish(cli_print_json(json_pack("{s:s, s:o}", "summary", command->summary, "options", options)));
}
