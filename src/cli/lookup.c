#include <errno.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"
#include "export/export.h"
#include "lookup/lookup.h"
#include "lookup/portable.h"
#include "problem/command.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "store/best.h"

/* --- exported texts --- */

static void print_text(clt_text *text) {
  char *bytes = NULL;
  cli_check(clt_text_take(&bytes, text, &cli_error));
  fputs(bytes, stdout);
  free(bytes);
}

static void print_header(clt_catalog *catalog, const clt_problem *problem, const clt_portable *portable) {
  clt_text text = {0};
  cli_check(clt_export_header(&text, catalog, problem, portable, &cli_error));
  print_text(&text);
}

/* The kernel's source with what its generator decides: the answer gets these options and launches. NULL: the answer
 * needs none, or can do without, and the generator gives none. */
static clt_plan *add_source(clt_lookup_result *found, const clt_instance *instance, const char *format) {
  const bool asked = strcmp(format, "source") == 0, generates = clt_problem_generates(clt_instance_problem(instance));
  const bool optional = strcmp(format, "text") == 0 || strcmp(format, "json") == 0;
  clt_launch_sizes *launches = NULL;
  clt_plan *plan = NULL;
  clt_config config;
  if (!asked && !generates) return NULL;
  if (clt_problem_is_command(clt_instance_problem(instance)))
    cli_usage("--format source is for kernels; this problem runs a program");
  cli_check(clt_config_parse(&config, clt_instance_space(instance), found->configuration, &cli_error));
  int rc = clt_plan_new_with_source(&plan, instance, config, &cli_error);
  if (rc && generates && optional) {
    cli_message(CLI_FOUND, "warning: options and launches are incomplete; %s", cli_error.message);
    return NULL;
  }
  cli_check(rc);
  if (!generates) return plan;
  cli_check(clt_plan_launches(&launches, plan, &cli_error));
  free(found->launches);
  free(found->options);
  found->launches = clt_launch_sizes_copy(launches, found->n_launches = plan->n_launches);
  found->options = strdup(plan->options);
  free(launches);
  if (!found->launches || !found->options) cli_check(clt_fail_memory(&cli_error));
  return plan;
}

static void print_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options) {
  clt_text text = {0};
  clt_export_cmake(&text, problem, from, configuration, options);
  print_text(&text);
}

/* --- one answer, for the given device and sizes --- */

/* The name in a key of the store, "platform|name|compute units"; or the whole text. */
static json_t *device_name_json(const char *key) {
  const char *bar = strchr(key, '|'), *last = strrchr(key, '|');
  if (bar == last) return clt_json_text(key);
  char *name = strndup(bar + 1, (size_t)(last - bar - 1));
  json_t *out = clt_json_text(name ? name : "?");
  free(name);
  return out;
}

static const clt_line answer_lines[] = {
    {"configuration", "{text}"},
    {"options", "{?uses_options}[{options}]"},
    /* On this device at these sizes only the text can differ. */
    {"known from",
     "{tier}[{?stale}{?tier=nearest-size}{?measured_at=$sizes_text} (stale: measured with another version of the "
     "kernel or problem file; tune it again)|{?stale} (stale: tune it again)][: {device_name}[, {measured_at}]]"
     "[{?public}; from the public results][{?unconfirmed}; from one agent, not confirmed]"
     "[{?unchecked}; " CLT_UNCHECKED ", run 'clatune tune' to its end]"},
    {"launch", "{kernel}: global {global:x}, local [{local:x}|left to the driver][{?repeat>1}, {repeat} times]",
     .each = "launches"},
    {"expected",
     "{!objective.is_default}{expected_time_s:time}"
     "|{?objective.is_default}{?objective.name=figure}{expected_value:.5g}[ {objective.unit}]"
     "|{?objective.is_default}{expected_value:time}"},
    {"objective", "{!objective.is_default}{objective.goal} {objective.name}: [{expected_value:in objective.unit}|-]"}};
static const clt_text_layout answer_layout = CLT_TEXT_LAYOUT(0, 18, answer_lines);

/* source (nullable): of a generated kernel. */
static json_t *answer_json(const clt_instance *instance, const clt_objective *objective, const clt_lookup_result *found,
                           const char *source) {
  const char *device = NULL, *at = NULL;
  json_t *device_name = json_null();
  if (found->tier != CLT_TIER_DEFAULT) {
    device = found->device;
    at = found->sizes;
    device_name = device_name_json(device);
  }
  char *sizes = clt_instance_sizes_text(instance);
  json_t *out =
      json_pack("{s:s, s:b, s:o, s:o, s:s, s:b, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tier",
                clt_tier_name(found->tier), "public", found->is_public && found->tier != CLT_TIER_DEFAULT,
                "configuration", cli_json_configuration_text(instance, found->configuration), "text",
                clt_json_text(found->configuration), "options", found->options, "uses_options",
                clt_problem_has_options(clt_instance_problem(instance)) || (source && found->options[0]),
                "expected_time_s", clt_json_real(found->expected_time_s), "stale", found->stale, "unconfirmed",
                found->unconfirmed, "unchecked", found->unchecked, "sizes_text", clt_json_text(sizes), "measured_on",
                clt_json_text(device), "device_name", device_name, "measured_at", clt_json_text(at), "objective",
                clt_json_objective(objective), "expected_value", clt_json_real(found->expected_value), "launches",
                clt_json_launches(found->launches, found->n_launches), "source", clt_json_text(source));
  free(sizes);
  return out;
}

static void look_up_one(clt_catalog *catalog, const cli_arguments *arguments, const char *format) {
  const cli_subject subject = cli_subject_new(arguments, arguments->positional[0], CLI_DEVICE_KNOWN);
  const clt_objective *objective = cli_objective(arguments, subject.instance);
  clt_lookup_result found;
  char from[100];
  cli_check(clt_catalog_lookup_instance(catalog, &found, subject.instance, &cli_error));
  if (found.tier == CLT_TIER_DEFAULT && !cli_has_store(arguments)) cli_note_no_store(arguments);
  const bool json = strcmp(format, "json") == 0, quiet = cli_given(arguments, "quiet");
  if (found.tier == CLT_TIER_DEFAULT && !json && !quiet)
    cli_message(CLI_FOUND,
                "warning: nothing is known for this device and these sizes; these are the default values; run 'clatune "
                "tune' first");
  if (found.unchecked && !json && strcmp(format, "text") != 0 && !quiet)
    cli_message(CLI_FOUND, "note: " CLT_UNCHECKED "; run 'clatune tune' to its end");
  const bool unused = clt_problem_is_command(subject.problem) && !clt_problem_has_options(subject.problem);
  if (strcmp(format, "options") == 0 && unused && !quiet)
    cli_message(CLI_FOUND,
                "note: no command of this program uses {options}; its flags are in its \"Build\" and \"Run\" commands, "
                "and 'clatune lookup' without --format prints the values for them");
  clt_plan *plan = add_source(&found, subject.instance, format);
  json_t *answer = answer_json(subject.instance, objective, &found, plan ? plan->source : NULL);
  if (json) cli_print_json(json_incref(answer));
  if (strcmp(format, "text") == 0) cli_draw(answer, &answer_layout);
  json_decref(answer);
  if (strcmp(format, "options") == 0) puts(found.options);
  if (strcmp(format, "source") == 0) fputs(plan->source, stdout);
  if (strcmp(format, "cmake") == 0) {
    const char *unchecked = found.unchecked ? "; " CLT_UNCHECKED : "";
    snprintf(from, sizeof from, "': %s%s%s", clt_tier_name(found.tier), found.stale ? ", stale" : "", unchecked);
    print_cmake(subject.problem, from, found.configuration, found.options);
  }
  clt_plan_free(plan);
  clt_lookup_result_release(&found);
}

/* --- one configuration for several devices or sizes --- */

static const clt_line portable_lines[] = {
    {"configuration", "{text}"},
    {"options", "{?uses_options}[{options}]"},
    {"relative cost",
     "mean [{mean_relative:.3g}|-], worst [{worst_relative:.3g}|-] (1: the best known)"
     "[{?unconfirmed}; from one agent, not confirmed]"},
    {"measured",
     "{configurations} configuration{configurations:s} at {places:n} place{places:s} (devices and sizes),"
     " {measured_everywhere} of them at all"},
    {"[{relative:.4g}|not measured]", "{device}[, {sizes}]", .each = "places"},
    {"could be better",
     "{open.configurations} configuration{open.configurations:s} not measured everywhere; measure first "
     "{open.most_promising} on {open.not_measured_on}"},
    {"left out",
     "{?left_out>0}{left_out} place{left_out:s} that one agent alone has measured; --device and --size add them"}};
static const clt_text_layout portable_layout = CLT_TEXT_LAYOUT(0, 18, portable_lines);

static json_t *portable_json(const clt_problem *problem, const clt_portable *p) {
  json_t *places = json_array(), *configuration = json_object();
  clt_named_value parameter;
  for (const char *at = p->configuration; clt_next_parameter(&parameter, &at);) {
    json_t *number = parameter.is_spelled ? NULL : json_loads(parameter.value, JSON_DECODE_ANY, NULL);
    char name[300];
    snprintf(name, sizeof name, "%.*s", parameter.name_length, parameter.name);
    json_object_set_new(configuration, name,
                        json_is_number(number) ? json_incref(number) : json_string(parameter.value));
    json_decref(number);
  }
  for (size_t i = 0; i < p->n_places; i++) {
    const clt_portable_place *at = &p->places[i];
    json_array_append_new(
        places, json_pack("{s:o, s:s, s:s, s:o, s:o, s:o}", "device", clt_json_text(at->device), "driver", at->driver,
                          "sizes", at->sizes, "relative", clt_json_real(at->relative), "value",
                          clt_json_real(at->value), "best_value", clt_json_real(at->best_value)));
  }
  json_t *open = p->n_open ? json_pack("{s:I, s:s, s:s}", "configurations", (json_int_t)p->n_open, "most_promising",
                                       p->open_configuration, "not_measured_on", p->open_missing)
                           : json_null();
  size_t n_measured = p->n_places - p->n_missing;
  return json_pack("{s:o, s:o, s:s, s:b, s:b, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "configuration", configuration,
                   "text", clt_json_text(p->configuration), "options", p->options, "uses_options",
                   clt_problem_has_options(problem), "unconfirmed", p->unconfirmed, "left_out",
                   (json_int_t)p->n_left_out, "places", places, "mean_relative",
                   clt_json_real(p->sum_relative / (double)n_measured), "worst_relative",
                   clt_json_real(p->worst_relative), "missing", (json_int_t)p->n_missing, "configurations",
                   (json_int_t)p->n_configurations, "measured_everywhere", (json_int_t)p->n_complete, "open", open);
}

static void look_up_portable(clt_catalog *catalog, const cli_arguments *arguments, const char *format) {
  const cli_subject subject = cli_subject_load(arguments, arguments->positional[0]);
  clt_portable_filter filter = {0};
  clt_portable found = {0};
  filter.devices = cli_texts(&filter.n_devices, arguments, "device");
  filter.sizes = cli_sizes(&filter.n_sizes, arguments);
  cli_check(clt_catalog_portable(catalog, &found, subject.problem, &filter, &cli_error));
  /* Only the text format says that places are missing. */
  if (found.n_missing > 0 && strcmp(format, "text") != 0)
    fprintf(
        stderr,
        "clatune: warning: no configuration was measured at all %zu places (devices and sizes); this one lacks %zu\n",
        found.n_places, found.n_missing);
  json_t *answer = portable_json(subject.problem, &found);
  if (strcmp(format, "json") == 0) cli_print_json(json_incref(answer));
  if (strcmp(format, "text") == 0) cli_draw(answer, &portable_layout);
  json_decref(answer);
  if (strcmp(format, "header") == 0) print_header(catalog, subject.problem, &found);
  if (strcmp(format, "cmake") == 0) print_cmake(subject.problem, " --portable'", found.configuration, found.options);
  if (strcmp(format, "options") == 0) puts(found.options);
  clt_portable_release(&found);
}

/* --- the command --- */

static void free_catalog(void *catalog) { clt_catalog_free(catalog); }
static void abort_file(void *file) { clt_file_replace_abort(file); }

static int run_lookup(const cli_arguments *arguments) {
  static const char *const formats[] = {"text", "json", "options", "header", "cmake", "source"};
  const char *format = cli_format(arguments, formats, 6), *store = cli_text(arguments, "store");
  const char *path = cli_text(arguments, "output");
  const bool portable = cli_given(arguments, "portable"), header = strcmp(format, "header") == 0;
  clt_catalog *catalog = NULL;
  static clt_replacement file = {.fd = -1}; /* replaces the old file only once it is complete */
  if (portable && strcmp(format, "source") == 0) cli_usage("--format source is for one device; leave out --portable");
  if (header && !portable && (cli_given(arguments, "size") || cli_given(arguments, "device")))
    cli_usage("--format header writes all stored devices and sizes; leave out --size and --device");
  cli_check(clt_catalog_new(&catalog, store ? &store : NULL, store != NULL, &cli_error));
  cli_keep(catalog, free_catalog);
  cli_check(clt_catalog_set_objective(catalog, cli_text(arguments, "objective"), &cli_error));
  if (path) { /* from here on, standard output goes to a temporary file next to it */
    cli_check(clt_file_replace_open(&file, path, &cli_error));
    cli_keep(&file, abort_file);
    fflush(stdout);
    if (dup2(file.fd, STDOUT_FILENO) < 0) cli_failure("cannot write '%s': %s", path, strerror(errno));
  }
  if (path || strcmp(format, "text") != 0) cli_exact_output();
  if (portable)
    look_up_portable(catalog, arguments, format);
  else if (header)
    print_header(catalog, cli_subject_load(arguments, arguments->positional[0]).problem, NULL);
  else
    look_up_one(catalog, arguments, format);
  if (path == NULL) return CLI_FOUND; /* main checks standard output */
  if (fflush(stdout) || ferror(stdout)) cli_failure("cannot write '%s': %s", path, strerror(errno));
  cli_check(clt_file_replace_commit(&file, &cli_error));
  if (!cli_given(arguments, "quiet")) cli_message(CLI_FOUND, "wrote %s", path);
  return CLI_FOUND;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    CLI_FLAG_CACHE,
    CLI_FLAG_OBJECTIVE,
    CLI_FLAG_STORE,
    {"portable", NULL,
     "one configuration for several devices or sizes; --device (a part of a stored device's name) and --size select "
     "them, and may be repeated"},
    {"format", "NAME",
     "text (default), json, options (for clBuildProgram), source (the kernel's), cmake (variables) or header (C, all "
     "devices and sizes)"},
    {"output", "FILE", "writes the answer to a file; also -o FILE"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_lookup = {
    .name = "lookup",
    .summary = "prints the best known configuration, measures nothing",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--portable] [--format NAME] [-o FILE]",
    .description =
        "Prints the best stored configuration with its launches, and how it is known: exact, other-driver,\n"
        "nearest-size, same-architecture, or default if nothing suitable is stored. --format header writes a C header\n"
        "with the best of every stored device and size, from which a program selects at run time. --portable prints\n"
        "one configuration for several devices or sizes, with the minimum sum of relative times.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_lookup,
};
