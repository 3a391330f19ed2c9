#include "cli/arguments.h"

#include <clatune/sys/evaluator.h>
#include <clatune/sys/model.h>
#include <clatune/sys/searcher.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/guess.h"
#include "cli/output.h"

#define MAX_LONG 160
#define LONG 2       /* what getopt_long returns for the options of the table */
#define POSITIONAL 1 /* what it returns for an argument that is no option */

static void add_group(cli_arguments *a, const char *kind, const char *name, const clt_option *options, size_t n) {
  if (n == 0 || a->n_groups == CLI_MAX_GROUPS) return;
  char *title = malloc(strlen(kind) + strlen(name) + 2);
  if (title == NULL) return;
  snprintf(title, strlen(kind) + strlen(name) + 2, "%s %s", kind, name);
  a->groups[a->n_groups++] = (cli_option_group){title, options, n};
}

static void collect_groups(cli_arguments *a, const cli_command *command) {
  for (size_t i = 0; command->searcher_options && i < clt_n_searchers(); i++) {
    const clt_searcher_type *t = clt_searcher_at(i);
    add_group(a, "searcher", t->name, t->options, t->n_options);
  }
  for (size_t i = 0; command->evaluator_options && i < clt_n_evaluators(); i++) {
    const clt_evaluator_type *t = clt_evaluator_at(i);
    add_group(a, "evaluator", t->name, t->options, t->n_options);
  }
  for (size_t i = 0; command->model_options && i < clt_n_models(); i++) {
    const clt_model_type *t = clt_model_type_at(i);
    add_group(a, "model", t->name, t->options, t->n_options);
  }
}

static bool listed(const struct option *longs, size_t n, const char *name) {
  for (size_t i = 0; i < n && longs[i].name; i++)
    if (strcmp(longs[i].name, name) == 0) return true;
  return false;
}

static size_t add_long(struct option *longs, size_t n, const char *name, int has_argument) {
  if (n + 1 < MAX_LONG && !listed(longs, n, name)) longs[n++] = (struct option){name, has_argument, NULL, LONG};
  return n;
}

static void make_longs(struct option *longs, const cli_arguments *a, const cli_command *command) {
  size_t n = add_long(longs, 0, "help", no_argument);
  for (size_t i = 0; i < command->n_flags; i++)
    n = add_long(longs, n, command->flags[i].name, command->flags[i].argument ? required_argument : no_argument);
  for (size_t g = 0; g < a->n_groups; g++)
    for (size_t i = 0; i < a->groups[g].n_options; i++) {
      const clt_option *option = &a->groups[g].options[i];
      n = add_long(longs, n, option->name, option->type == CLT_OPTION_BOOL ? optional_argument : required_argument);
    }
  longs[n] = (struct option){0};
}

static int check_positional(const cli_arguments *a) {
  const cli_command *c = a->command;
  if (cli_given(a, "help")) return 0;
  if (a->n_positional < c->min_positional)
    return cli_usage("something is missing: clatune %s %s", c->name, c->synopsis);
  if (a->n_positional > c->max_positional)
    return cli_usage("'%s' is one argument too many for 'clatune %s'", a->positional[c->max_positional], c->name);
  return 0;
}

/* c is what getopt_long returned, typed the argument it looked at. */
static int mistake(const cli_command *command, const struct option *longs, int c, const char *typed) {
  const char *names[MAX_LONG];
  char name[64], guess[CLI_GUESS_BYTES] = "";
  size_t n = 0;
  if (c == ':') return cli_usage("option '%s' needs a value (see 'clatune %s --help')", typed, command->name);
  for (; longs[n].name; n++) names[n] = longs[n].name;
  if (strncmp(typed, "--", 2) == 0) {
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
    if (listed(longs, n, name))
      return cli_usage("option '--%s' takes no value (see 'clatune %s --help')", name, command->name);
    cli_guess(guess, "--", name, names, n);
  }
  return cli_usage("there is no option '%s'%s (see 'clatune %s --help')", typed, guess, command->name);
}

/* Whether a flag takes all arguments that follow. */
static bool is_list(const cli_command *command, const char *name) {
  for (size_t i = 0; name && i < command->n_flags; i++)
    if (strcmp(command->flags[i].name, name) == 0 && command->flags[i].argument)
      return strstr(command->flags[i].argument, "...") != NULL;
  return false;
}

static void add_typed(cli_arguments *out, const char *name, const char *value) {
  out->typed[out->n_typed++] = (clt_setting){name, value};
}

/* list is the flag that takes the arguments which are no options; NULL: none does. */
static int parse(cli_arguments *out, const struct option *longs, int argc, char **argv) {
  const char *list = NULL;
  for (int c, index; (c = getopt_long(argc, argv, "-:ho:", longs, &index)) != -1;) {
    const char *name = c == 'h' ? "help" : c == 'o' ? "output" : c == LONG ? longs[index].name : NULL;
    if (c == POSITIONAL && list)
      add_typed(out, list, optarg);
    else if (c == POSITIONAL)
      out->positional[out->n_positional++] = optarg;
    if (c == POSITIONAL) continue;
    if (name == NULL) return mistake(out->command, longs, c, argv[optind - 1]);
    if (!listed(longs, MAX_LONG, name)) return mistake(out->command, longs, c, "-o");
    add_typed(out, name, optarg ? optarg : "yes");
    list = is_list(out->command, name) ? name : NULL;
  }
  while (optind < argc) out->positional[out->n_positional++] = argv[optind++];
  return check_positional(out);
}

int cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv) {
  struct option longs[MAX_LONG] = {0};
  *out = (cli_arguments){.command = command};
  collect_groups(out, command);
  make_longs(longs, out, command);
  out->typed = calloc((size_t)argc + 1, sizeof *out->typed);
  out->positional = calloc((size_t)argc + 1, sizeof *out->positional);
  if (out->typed == NULL || out->positional == NULL) return cli_failure("out of memory");
  opterr = 0;
  optind = 1;
  return parse(out, longs, argc, argv);
}

void cli_arguments_release(cli_arguments *arguments) {
  for (size_t i = 0; i < arguments->n_groups; i++) free((char *)arguments->groups[i].title);
  free(arguments->typed);
  free(arguments->positional);
}

const char *cli_text(const cli_arguments *arguments, const char *flag) {
  for (size_t i = arguments->n_typed; i-- > 0;)
    if (strcmp(arguments->typed[i].name, flag) == 0) return arguments->typed[i].value;
  return NULL;
}

bool cli_given(const cli_arguments *arguments, const char *flag) { return cli_text(arguments, flag) != NULL; }

int cli_integer(int64_t *out, const cli_arguments *arguments, const char *flag, int64_t otherwise, int64_t min,
                int64_t max) {
  const char *text = cli_text(arguments, flag);
  *out = otherwise;
  if (text == NULL) return 0;
  char *end;
  errno = 0;
  long long x = strtoll(text, &end, 10);
  if (end == text || *end || errno || x < min || x > max)
    return cli_usage("option '--%s' needs a whole number from %lld to %lld, not '%s'", flag, (long long)min,
                     (long long)max, text);
  *out = x;
  return 0;
}

int cli_real_number(double *out, const cli_arguments *arguments, const char *flag, double otherwise, double min,
                    double max) {
  const char *text = cli_text(arguments, flag);
  *out = otherwise;
  if (text == NULL) return 0;
  char *end;
  double x = strtod(text, &end);
  if (end == text || *end || !(x >= min && x <= max))
    return cli_usage("option '--%s' needs a number from %g to %g, not '%s'", flag, min, max, text);
  *out = x;
  return 0;
}

static size_t count(const cli_arguments *arguments, const char *flag) {
  size_t n = 0;
  for (size_t i = 0; i < arguments->n_typed; i++) n += strcmp(arguments->typed[i].name, flag) == 0;
  return n;
}

int cli_texts(const char ***out, size_t *n, const cli_arguments *arguments, const char *flag) {
  *n = 0;
  *out = calloc(arguments->n_typed + 1, sizeof **out);
  if (*out == NULL) return cli_failure("out of memory");
  for (size_t i = 0; i < arguments->n_typed; i++)
    if (strcmp(arguments->typed[i].name, flag) == 0) (*out)[(*n)++] = arguments->typed[i].value;
  return 0;
}

/* "width=4096" -> a size whose name is copied to *names. */
static int parse_size(clt_size *out, char **names, const char *text) {
  const char *equals = strchr(text, '=');
  char *end;
  errno = 0;
  long long x = equals ? strtoll(equals + 1, &end, 10) : 0;
  if (equals == NULL || equals == text || end == equals + 1 || *end || errno)
    return cli_usage("option '--size' needs NAME=NUMBER, not '%s'", text);
  size_t length = (size_t)(equals - text);
  memcpy(*names, text, length);
  (*names)[length] = '\0';
  *out = (clt_size){*names, x};
  *names += length + 1;
  return 0;
}

int cli_sizes(clt_size **out, size_t *n, const cli_arguments *arguments) {
  size_t n_sizes = count(arguments, "size"), bytes = 1;
  for (size_t i = 0; i < arguments->n_typed; i++) bytes += strlen(arguments->typed[i].value) + 1;
  clt_size *sizes = malloc(n_sizes * sizeof *sizes + bytes);
  if (sizes == NULL) return cli_failure("out of memory");
  char *names = (char *)(sizes + n_sizes);
  size_t filled = 0;
  for (size_t i = 0; i < arguments->n_typed; i++) {
    if (strcmp(arguments->typed[i].name, "size") != 0) continue;
    int rc = parse_size(&sizes[filled++], &names, arguments->typed[i].value);
    if (rc) return free(sizes), rc;
  }
  *out = sizes;
  *n = n_sizes;
  return 0;
}

static const cli_option_group *group_with(const cli_arguments *a, const char *prefix, const char *flag) {
  for (size_t g = 0; g < a->n_groups; g++) {
    if (strncmp(a->groups[g].title, prefix, strlen(prefix)) != 0) continue;
    for (size_t i = 0; i < a->groups[g].n_options; i++)
      if (strcmp(a->groups[g].options[i].name, flag) == 0) return &a->groups[g];
  }
  return NULL;
}

int cli_settings(clt_setting **out, size_t *n, const cli_arguments *arguments, const char *kind, const char *name) {
  char own[128];
  snprintf(own, sizeof own, "%s %s", kind, name);
  clt_setting *settings = calloc(arguments->n_typed + 1, sizeof *settings);
  if (settings == NULL) return cli_failure("out of memory");
  size_t filled = 0;
  for (size_t i = 0; i < arguments->n_typed; i++) {
    const char *flag = arguments->typed[i].name;
    const cli_option_group *other = group_with(arguments, kind, flag);
    if (group_with(arguments, own, flag)) {
      settings[filled++] = arguments->typed[i];
    } else if (other) {
      free(settings);
      return cli_usage("option '--%s' belongs to %s, not to %s", flag, other->title, own);
    }
  }
  *out = settings;
  *n = filled;
  return 0;
}
