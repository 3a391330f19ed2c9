#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "store/pq.h"

#define MAX_LONG 160
#define LONG 2       /* what getopt_long returns for the options of the table */
#define POSITIONAL 1 /* what it returns for an argument that is no option */

static bool is_listed(const struct option *longs, const char *name) {
  for (; longs->name; longs++)
    if (strcmp(longs->name, name) == 0) return true;
  return false;
}

static void add_long(struct option *longs, size_t *n, const char *name, int has_argument) {
  if (*n + 1 < MAX_LONG && !is_listed(longs, name)) longs[(*n)++] = (struct option){name, has_argument, NULL, LONG};
}

/* The flags of the command and of the plug-ins that it takes, as getopt_long wants them. */
static void make_longs(struct option *longs, const cli_command *command) {
  size_t n = 0;
  add_long(longs, &n, "help", no_argument);
  for (size_t i = 0; i < command->n_flags; i++)
    add_long(longs, &n, command->flags[i].name, command->flags[i].argument ? required_argument : no_argument);
  for (const clt_plugins *const *kind = command->plugins; *kind; kind++)
    for (size_t i = 0; i < clt_n_plugins(*kind); i++) {
      const clt_option_table t = clt_plugin_table(*kind, i);
      for (const clt_option *o = t.options; o < t.options + t.n; o++)
        add_long(longs, &n, o->name, o->type == CLT_OPTION_BOOL ? optional_argument : required_argument);
    }
}

/* c is what getopt_long returned, typed the argument it looked at. */
static int refuse_option(const cli_command *command, const struct option *longs, int c, const char *typed) {
  const char *names[MAX_LONG];
  char name[64], guess[CLI_GUESS_BYTES] = "";
  size_t n = 0;
  if (c == ':') return cli_usage("option '%s' needs a value (see 'clatune %s --help')", typed, command->name);
  for (; longs[n].name; n++) names[n] = longs[n].name;
  if (strncmp(typed, "--", 2) == 0) {
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
    if (is_listed(longs, name))
      return cli_usage("option '--%s' takes no value (see 'clatune %s --help')", name, command->name);
    cli_guess(guess, "--", name, names, n);
  }
  return cli_usage("there is no option '%s'%s (see 'clatune %s --help')", typed, guess, command->name);
}

int cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv) {
  struct option longs[MAX_LONG] = {0};
  const char *list = NULL; /* the flag that takes the arguments which are no options; NULL: none does */
  *out = (cli_arguments){.command = command,
                         .typed = calloc((size_t)argc + 1, sizeof *out->typed),
                         .positional = calloc((size_t)argc + 1, sizeof *out->positional)};
  if (out->typed == NULL || out->positional == NULL) return cli_failure("out of memory");
  make_longs(longs, command);
  opterr = 0;
  optind = 1;
  for (int c, index, at = 1; (c = getopt_long(argc, argv, "-:ho:q", longs, &index)) != -1; at = optind) {
    const char *name = c == 'h'    ? "help"
                       : c == 'o'  ? "output"
                       : c == 'q'  ? "quiet"
                       : c == LONG ? longs[index].name
                                   : NULL;
    /* Abbreviations, which getopt_long takes, would mean something else once there are more options. */
    if (c == LONG && strcspn(argv[at] + 2, "=") != strlen(name)) return refuse_option(command, longs, '?', argv[at]);
    if (c == POSITIONAL && list) {
      out->typed[out->n_typed++] = (clt_setting){list, optarg};
    } else if (c == POSITIONAL) {
      out->positional[out->n_positional++] = optarg;
    } else if (name == NULL || !is_listed(longs, name)) {
      return refuse_option(command, longs, c, c == 'o' ? "-o" : c == 'q' ? "-q" : argv[optind - 1]);
    } else {
      out->typed[out->n_typed++] = (clt_setting){name, optarg ? optarg : "yes"};
      list = NULL;
      for (size_t i = 0; i < command->n_flags; i++) {
        const cli_flag *flag = &command->flags[i];
        if (flag->argument && strstr(flag->argument, "...") && strcmp(flag->name, name) == 0) list = name;
      }
    }
  }
  if (command->passes && cli_given(out, command->passes)) {
    out->passed = argv + optind;
    out->n_passed = (size_t)(argc - optind);
  } else {
    while (optind < argc) out->positional[out->n_positional++] = argv[optind++];
  }
  if (cli_given(out, "help")) return 0;
  if (out->n_positional < command->n_positional[0])
    return cli_usage("something is missing: clatune %s %s", command->name, command->synopsis);
  if (out->n_positional > command->n_positional[1] && clt_pq_is_url(out->positional[command->n_positional[1]]))
    return cli_usage("'clatune %s' takes the database from --store: --store postgresql://...", command->name);
  if (out->n_positional > command->n_positional[1])
    return cli_usage("'%s' is one argument too many for 'clatune %s'", out->positional[command->n_positional[1]],
                     command->name);
  return 0;
}

void cli_arguments_release(cli_arguments *arguments) {
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
  double x = clt_strtod(text, &end);
  if (end == text || *end || !(x >= min && x <= max))
    return cli_usage("option '--%s' needs a number from %g to %g, not '%s'", flag, min, max, text);
  *out = x;
  return 0;
}

int cli_seconds(double *out, const cli_arguments *arguments, const char *flag, double otherwise, double min,
                double max) {
  const char *text = cli_text(arguments, flag);
  *out = text ? clt_seconds_parse(text) : otherwise;
  return !text || (*out >= min && *out <= max)
             ? 0
             : cli_usage("option '--%s' needs from %g to %g " CLT_SECONDS_FORMS ", not '%s'", flag, min, max, text);
}

int cli_no_plugin(const cli_arguments *arguments, const clt_plugins *plugins, const char *name) {
  const char *names[CLT_MOST_PLUGINS];
  char guess[CLI_GUESS_BYTES];
  return cli_usage("there is no %s '%s'%s (see 'clatune %s --help')", clt_plugin_kind(plugins), name,
                   cli_guess(guess, "", name, names, clt_plugin_names(names, plugins)), arguments->command->name);
}

int cli_format(const char **out, const cli_arguments *arguments, const char *const *names, size_t n) {
  const char *typed = cli_text(arguments, "format");
  char list[200] = "", guess[CLI_GUESS_BYTES];
  bool has_json = false, known = typed == NULL;
  for (size_t i = 0, used = 0; i < n; i++) {
    has_json |= strcmp(names[i], "json") == 0;
    known |= typed && strcmp(names[i], typed) == 0;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                             i == 0      ? ""
                             : i + 1 < n ? ", "
                                         : " or ",
                             names[i]);
  }
  bool json = has_json && cli_given(arguments, "json");
  if (typed && json && strcmp(typed, "json") != 0)
    return cli_usage("--json and --format %s contradict each other", typed);
  if (!known) return cli_usage("--format is %s, not '%s'%s", list, typed, cli_guess(guess, "", typed, names, n));
  *out = typed ? typed : json ? "json" : names[0];
  return 0;
}

int cli_texts(const char ***out, size_t *n, const cli_arguments *arguments, const char *flag) {
  *n = 0;
  *out = calloc(arguments->n_typed + 1, sizeof **out);
  if (*out == NULL) return cli_failure("out of memory");
  for (size_t i = 0; i < arguments->n_typed; i++)
    if (strcmp(arguments->typed[i].name, flag) == 0) (*out)[(*n)++] = arguments->typed[i].value;
  return 0;
}

int cli_sizes(clt_size **out, size_t *n, const cli_arguments *arguments) {
  const char **typed;
  size_t bytes = 1;
  *out = NULL;
  int rc = cli_texts(&typed, n, arguments, "size");
  if (rc) return rc;
  for (size_t i = 0; i < *n; i++) bytes += strlen(typed[i]);
  clt_size *sizes = malloc(*n * sizeof *sizes + bytes);
  char *names = (char *)(sizes + *n);
  if (sizes == NULL) rc = cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && i < *n; i++) {
    const char *equals = strchr(typed[i], '=');
    char *end;
    errno = 0;
    long long x = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (equals == NULL || equals == typed[i] || end == equals + 1 || *end || errno)
      rc = cli_usage("option '--size' needs NAME=NUMBER, not '%s'", typed[i]);
    if (rc) break;
    size_t length = (size_t)(equals - typed[i]);
    memcpy(names, typed[i], length);
    names[length] = '\0';
    sizes[i] = (clt_size){names, x};
    names += length + 1;
  }
  free(typed);
  if (rc) return free(sizes), rc;
  *out = sizes;
  return 0;
}

static bool has_option(const clt_plugins *plugins, size_t index, const char *flag) {
  clt_option_table t = clt_plugin_table(plugins, index);
  while (t.n > 0 && strcmp(t.options[t.n - 1].name, flag) != 0) t.n--;
  return t.n > 0;
}

int cli_settings(clt_setting **out, size_t *n, const cli_arguments *arguments, const clt_plugins *plugins,
                 const char *name) {
  const clt_plugins *const *taken = arguments->command->plugins;
  while (*taken && *taken != plugins) taken++;
  const size_t own = clt_plugin_index(plugins, name), n_plugins = *taken ? clt_n_plugins(plugins) : 0;
  *n = 0;
  *out = calloc(arguments->n_typed + 1, sizeof **out);
  if (*out == NULL) return cli_failure("out of memory");
  for (size_t i = 0; i < arguments->n_typed; i++) {
    const char *flag = arguments->typed[i].name;
    size_t other = 0;
    while (other < n_plugins && !has_option(plugins, other, flag)) other++;
    if (own < n_plugins && has_option(plugins, own, flag)) {
      (*out)[(*n)++] = arguments->typed[i];
    } else if (other < n_plugins) {
      free(*out);
      *out = NULL;
      return cli_usage("option '--%s' belongs to %s %s, not to %s %s", flag, clt_plugin_kind(plugins),
                       clt_plugin_name(plugins, other), clt_plugin_kind(plugins), name);
    }
  }
  return 0;
}

const char *cli_guess(char out[CLI_GUESS_BYTES], const char *dashes, const char *typed, const char *const *names,
                      size_t n) {
  const char *near = clt_nearest_name(typed, names, n);
  for (size_t i = 0; near == NULL && strlen(typed) > 1 && i < n; i++) /* an abbreviation */
    if (clt_starts_with(names[i], typed)) near = names[i];
  out[0] = '\0';
  if (near) snprintf(out, CLI_GUESS_BYTES, "; did you mean '%s%s'?", dashes, near);
  return out;
}

/* --- actions --- */

int cli_run_action(const cli_arguments *arguments, const cli_action *actions, size_t n) {
  static const char everywhere[] = " store json quiet help ";
  const char *what = arguments->positional[0], *command = arguments->command->name;
  char guess[CLI_GUESS_BYTES], all[300] = "";
  const cli_action *action = NULL;
  for (size_t i = 0, used = 0; i < n; i++) {
    if (strcmp(actions[i].name, what) == 0) action = &actions[i];
    if (used < sizeof all)
      used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                               i == 0      ? ""
                               : i + 1 < n ? ", "
                                           : " and ",
                               actions[i].name);
  }
  if (action == NULL) {
    const char *near = clt_nearest_among(what, actions, n, sizeof *actions);
    return cli_usage("'clatune %s' can %s, not '%s'%s", command, all, what,
                     cli_guess(guess, "", what, &near, near != NULL));
  }
  if (arguments->n_positional > action->max_positional)
    return cli_usage("'clatune %s %s' does not know what to do with '%s'%s", command, what,
                     arguments->positional[action->max_positional],
                     strcmp(command, "store") == 0 ? "; the store that is meant is named by --store" : "");
  /* A flag that an action would pass over in silence is refused: 'import --dry-run' must not import. */
  for (size_t k = 0; k < arguments->n_typed; k++) {
    char word[64];
    bool is_own = false;
    snprintf(word, sizeof word, " %s ", arguments->typed[k].name);
    for (size_t i = 0; i < arguments->command->n_flags; i++)
      is_own |= strcmp(arguments->command->flags[i].name, arguments->typed[k].name) == 0;
    if (strstr(everywhere, word) == NULL && strstr(action->flags, word) == NULL &&
        (is_own || strstr(action->flags, " * ") == NULL))
      return cli_usage("'clatune %s %s' takes no option '--%s'", command, what, arguments->typed[k].name);
  }
  return action->run(arguments);
}
