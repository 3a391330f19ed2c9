#include <errno.h>
#include <getopt.h>

#include "cli/cli.h"
#include "store/pq.h"

#define MAX_LONG 160
#define LONG 2       /* the results of getopt_long for the options of the table */
#define POSITIONAL 1 /* its result for an argument that is not an option */

static bool is_listed(const struct option *longs, const char *name) {
  for (; longs->name; longs++)
    if (strcmp(longs->name, name) == 0) return true;
  return false;
}

static void add_long(struct option *longs, size_t *n, const char *name, int has_argument) {
  if (*n + 1 < MAX_LONG && !is_listed(longs, name)) longs[(*n)++] = (struct option){name, has_argument, NULL, LONG};
}

/* The flags of the command and of its plug-ins, for getopt_long. */
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

/* c: the result of getopt_long; typed: the argument that it parsed. */
static void __attribute__((noreturn))
refuse_option(const cli_command *command, const struct option *longs, int c, const char *typed) {
  const char *names[MAX_LONG];
  char name[64], guess[CLI_GUESS_BYTES] = "";
  size_t n = 0;
  if (c == ':') cli_usage("option '%s' needs a value (see 'clatune %s --help')", typed, command->name);
  for (; longs[n].name; n++) names[n] = longs[n].name;
  if (strncmp(typed, "--", 2) == 0) {
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
    if (is_listed(longs, name))
      cli_usage("option '--%s' takes no value (see 'clatune %s --help')", name, command->name);
    cli_guess(guess, "--", name, names, n);
  }
  cli_usage("there is no option '%s'%s (see 'clatune %s --help')", typed, guess, command->name);
}

const cli_flag *cli_find_flag(const cli_command *command, const char *name) {
  for (size_t i = 0; i < command->n_flags; i++)
    if (strcmp(command->flags[i].name, name) == 0) return &command->flags[i];
  return NULL;
}

/* Of the flag with this letter; NULL: there is none. */
static const char *short_name(int letter) {
  if (letter == 'h') return "help";
  if (letter == 'o') return "output";
  return letter == 'q' ? "quiet" : NULL;
}

void cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv) {
  struct option longs[MAX_LONG] = {0};
  const char *list = NULL; /* the flag that takes the arguments that follow; NULL: none */
  bool asks = false, yes;  /* whether yes or no may follow: --lock no */
  *out = (cli_arguments){.command = command,
                         .typed = cli_new((size_t)argc, sizeof *out->typed),
                         .positional = cli_new((size_t)argc, sizeof *out->positional)};
  make_longs(longs, command);
  opterr = 0;
  optind = 1;
  for (int c, index, at = 1; (c = getopt_long(argc, argv, "-:ho:q", longs, &index)) != -1; at = optind) {
    const char *name = c == LONG ? longs[index].name : short_name(c);
    /* getopt_long accepts abbreviations, but a later option could make one ambiguous. */
    if (c == LONG && strcspn(argv[at] + 2, "=") != strlen(name)) refuse_option(command, longs, '?', argv[at]);
    if (c == POSITIONAL && asks && clt_yes_or_no(&yes, optarg)) {
      out->typed[out->n_typed - 1].value = optarg;
    } else if (c == POSITIONAL && list) {
      out->typed[out->n_typed++] = (clt_setting){list, optarg};
    } else if (c == POSITIONAL) {
      out->positional[out->n_positional++] = optarg;
    } else if (name == NULL || !is_listed(longs, name)) {
      const bool is_short = name && c != LONG;
      refuse_option(command, longs, c, is_short ? (char[]){'-', (char)c, '\0'} : argv[optind - 1]);
    } else {
      const cli_flag *flag = cli_find_flag(command, name);
      out->typed[out->n_typed++] = (clt_setting){name, optarg ? optarg : "yes"};
      list = flag && flag->argument && strstr(flag->argument, "...") ? name : NULL;
    }
    asks = c == LONG && longs[index].has_arg == optional_argument && optarg == NULL;
  }
  if (command->passes && (command->passes[0] == '\0' || cli_given(out, command->passes))) {
    out->passed = argv + optind;
    out->n_passed = (size_t)(argc - optind);
  } else {
    while (optind < argc) out->positional[out->n_positional++] = argv[optind++];
  }
  if (cli_given(out, "help")) return;
  if (out->n_positional < command->n_positional[0])
    cli_usage("missing argument; usage: clatune %s %s", command->name, command->synopsis);
  if (out->n_positional <= command->n_positional[1]) return;
  const char *beyond = out->positional[command->n_positional[1]];
  if (clt_pq_is_url(beyond))
    cli_usage("'clatune %s' takes no URL as an argument; name the database with --store postgresql://...",
              command->name);
  if (strchr(beyond, '=') && cli_find_flag(command, "configuration"))
    cli_usage("unexpected argument '%s'; did you mean --configuration \"%s\"?", beyond, beyond);
  cli_usage("unexpected argument '%s'; usage: clatune %s %s", beyond, command->name, command->synopsis);
}

const char *cli_text(const cli_arguments *arguments, const char *flag) {
  for (size_t i = arguments->n_typed; i-- > 0;)
    if (strcmp(arguments->typed[i].name, flag) == 0) return arguments->typed[i].value;
  return NULL;
}

bool cli_given(const cli_arguments *arguments, const char *flag) { return cli_text(arguments, flag) != NULL; }

int64_t cli_integer(const cli_arguments *arguments, const char *flag, int64_t otherwise, int64_t min, int64_t max) {
  const char *text = cli_text(arguments, flag);
  char *end;
  errno = 0;
  long long x = text ? strtoll(text, &end, 10) : otherwise;
  const bool mistaken = text && (end == text || *end || errno || x < min || x > max);
  if (mistaken && max == INT64_MAX)
    cli_usage("option '--%s' needs a whole number of at least %lld, not '%s'", flag, (long long)min, text);
  if (mistaken)
    cli_usage("option '--%s' needs a whole number from %lld to %lld, not '%s'", flag, (long long)min, (long long)max,
              text);
  return x;
}

double cli_real_number(const cli_arguments *arguments, const char *flag, double otherwise, double min, double max) {
  const char *text = cli_text(arguments, flag);
  char *end;
  double x = text ? clt_strtod(text, &end) : otherwise;
  if (text && (end == text || *end || !(x >= min && x <= max)))
    cli_usage("option '--%s' needs a number from %g to %g, not '%s'", flag, min, max, text);
  return x;
}

double cli_seconds(const cli_arguments *arguments, const char *flag, double otherwise, double min, double max) {
  const char *text = cli_text(arguments, flag);
  double x = text ? clt_seconds_parse(text) : otherwise;
  if (text && !(x >= min && x <= max))
    cli_usage("option '--%s' needs from %g to %g " CLT_SECONDS_FORMS ", not '%s'", flag, min, max, text);
  return x;
}

int cli_no_plugin(const cli_arguments *arguments, const clt_plugins *plugins, const char *name) {
  const char *names[CLT_MOST_PLUGINS];
  char guess[CLI_GUESS_BYTES];
  cli_usage("there is no %s '%s'%s (see 'clatune %s --help')", clt_plugin_kind(plugins), name,
            cli_guess(guess, "", name, names, clt_plugin_names(names, plugins)), arguments->command->name);
}

/* "a, b or c", from n names that are stride bytes apart. */
static const char *list_names(char out[300], const void *names, size_t n, size_t stride, const char *last) {
  out[0] = '\0';
  for (size_t i = 0, used = 0; i < n && used < 300; i++) {
    const char *before = i + 1 < n ? ", " : last;
    used += (size_t)snprintf(out + used, 300 - used, "%s%s", i ? before : "",
                             *(const char *const *)((const char *)names + i * stride));
  }
  return out;
}

const char *cli_format(const cli_arguments *arguments, const char *const *names, size_t n) {
  const char *typed = cli_text(arguments, "format"), *found = typed ? NULL : names[0];
  char list[300], guess[CLI_GUESS_BYTES];
  bool json = false;
  for (size_t i = 0; i < n; i++) {
    json |= strcmp(names[i], "json") == 0 && cli_given(arguments, "json");
    if (typed && strcmp(names[i], typed) == 0) found = typed;
  }
  if (typed && json && strcmp(typed, "json") != 0)
    cli_usage("--json and --format %s exclude each other; give one of them", typed);
  if (found == NULL)
    cli_usage("--format needs %s, not '%s'%s", list_names(list, names, n, sizeof *names, " or "), typed,
              cli_guess(guess, "", typed, names, n));
  return json ? "json" : found;
}

const char **cli_texts(size_t *n, const cli_arguments *arguments, const char *flag) {
  const char **out = cli_new(arguments->n_typed, sizeof *out);
  *n = 0;
  for (size_t i = 0; i < arguments->n_typed; i++)
    if (strcmp(arguments->typed[i].name, flag) == 0) out[(*n)++] = arguments->typed[i].value;
  return out;
}

clt_size *cli_sizes(size_t *n, const cli_arguments *arguments) {
  const char **typed = cli_texts(n, arguments, "size");
  clt_size *sizes = cli_new(*n, sizeof *sizes);
  for (size_t i = 0; i < *n; i++) {
    const char *equals = strchr(typed[i], '=');
    char *end;
    errno = 0;
    long long x = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (equals == NULL || equals == typed[i] || end == equals + 1 || *end || errno)
      cli_usage("option '--size' needs NAME=NUMBER, not '%s'", typed[i]);
    sizes[i] = (clt_size){cli_keep_memory(strndup(typed[i], (size_t)(equals - typed[i]))), x};
  }
  return sizes;
}

static bool has_option(const clt_plugins *plugins, size_t index, const char *flag) {
  clt_option_table t = clt_plugin_table(plugins, index);
  while (t.n > 0 && strcmp(t.options[t.n - 1].name, flag) != 0) t.n--;
  return t.n > 0;
}

clt_setting *cli_settings(size_t *n, const cli_arguments *arguments, const clt_plugins *plugins, const char *name) {
  const clt_plugins *const *taken = arguments->command->plugins;
  while (*taken && *taken != plugins) taken++;
  const size_t own = clt_plugin_index(plugins, name), n_plugins = *taken ? clt_n_plugins(plugins) : 0;
  clt_setting *out = cli_new(arguments->n_typed, sizeof *out);
  *n = 0;
  for (size_t i = 0; i < arguments->n_typed; i++) {
    const char *flag = arguments->typed[i].name;
    size_t other = 0;
    while (other < n_plugins && !has_option(plugins, other, flag)) other++;
    if (own < n_plugins && has_option(plugins, own, flag))
      out[(*n)++] = arguments->typed[i];
    else if (other < n_plugins)
      cli_usage("option '--%s' belongs to %s %s, not to %s %s", flag, clt_plugin_kind(plugins),
                clt_plugin_name(plugins, other), clt_plugin_kind(plugins), name);
  }
  return out;
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

int cli_run_action(const cli_arguments *arguments, const cli_action *actions, size_t n, const char *hint) {
  static const char everywhere[] = " store json quiet help ";
  const char *what = arguments->positional[0], *command = arguments->command->name;
  char guess[CLI_GUESS_BYTES], all[300];
  const cli_action *action = actions;
  while (action < actions + n && strcmp(action->name, what) != 0) action++;
  if (action == actions + n) {
    const char *near = clt_nearest_among(what, actions, n, sizeof *actions);
    cli_usage("'clatune %s' needs %s, not '%s'%s", command, list_names(all, actions, n, sizeof *actions, " or "), what,
              cli_guess(guess, "", what, &near, near != NULL));
  }
  if (arguments->n_positional > action->max_positional)
    cli_usage("unexpected argument '%s' for 'clatune %s %s'%s", arguments->positional[action->max_positional], command,
              what, hint);
  /* A flag that the action would ignore is an error: 'import --dry-run' must not import. */
  for (size_t k = 0; k < arguments->n_typed; k++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", arguments->typed[k].name);
    if (strstr(everywhere, word) == NULL && strstr(action->flags, word) == NULL &&
        (cli_find_flag(arguments->command, arguments->typed[k].name) || strstr(action->flags, " * ") == NULL))
      cli_usage("'clatune %s %s' takes no option '--%s'", command, what, arguments->typed[k].name);
  }
  return action->run(arguments);
}
