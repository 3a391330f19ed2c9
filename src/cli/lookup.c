#include <clatune/lookup.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/export.h"
#include "cli/output.h"
#include "cli/portable.h"
#include "cli/subject.h"

static int open_catalog(clt_catalog **out, const cli_arguments *arguments) {
  clt_error error = {0};
  const char *store = cli_text(arguments, "store");
  if (clt_catalog_open(out, store ? &store : NULL, store != NULL, &error) ||
      clt_catalog_set_objective(*out, cli_text(arguments, "objective"), &error))
    return cli_report(&error);
  return 0;
}

static int print_json(const clt_instance *instance, const clt_objective *objective, const clt_lookup_result *found) {
  bool elsewhere = found->tier != CLT_TIER_DEFAULT;
  return cli_print_json(json_pack("{s:s, s:o, s:s, s:o, s:b, s:s?, s:s?, s:o, s:o}", "tier", clt_tier_name(found->tier),
                                  "configuration", cli_json_configuration_text(instance, found->configuration),
                                  "options", found->options, "expected_time_s", clt_json_real(found->expected_time_s),
                                  "stale", found->stale, "measured_on", elsewhere ? found->device : NULL, "measured_at",
                                  elsewhere ? found->sizes : NULL, "objective", cli_json_objective(objective),
                                  "expected_value", clt_json_real(found->expected_value)));
}

static int print_text(const clt_problem *problem, const clt_objective *objective, const clt_lookup_result *found) {
  char figure[64], name[160], value[96];
  printf("configuration     %s\noptions           %s\n", found->configuration, found->options);
  printf("known from        %s%s", clt_tier_name(found->tier), found->stale ? " (stale: worth tuning again)" : "");
  if (found->device[0]) printf(": %s%s%s", found->device, found->sizes[0] ? ", " : "", found->sizes);
  if (isfinite(found->expected_time_s))
    printf("\nexpected          %s", cli_figure(figure, problem, found->expected_time_s));
  if (!clt_objective_is_standard(objective))
    printf("\nobjective         %s: %s", cli_objective_text(name, objective),
           cli_value(value, objective, found->expected_value));
  putchar('\n');
  return CLI_FOUND;
}

/* One answer, for the device and the sizes that were typed. */
static int look_up_one(clt_catalog *catalog, const cli_arguments *arguments, const char *format) {
  cli_subject subject;
  clt_objective *objective = NULL;
  clt_lookup_result found;
  clt_error error = {0};
  int rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_KNOWN);
  if (rc) return rc;
  rc = cli_objective(&objective, arguments, subject.instance);
  if (rc == 0 && clt_catalog_lookup_instance(catalog, &found, subject.instance, &error)) {
    rc = cli_report(&error);
  } else if (rc == 0) {
    if (found.tier == CLT_TIER_DEFAULT && !cli_has_store(arguments)) cli_note_no_store(arguments);
    if (strcmp(format, "json") == 0) rc = print_json(subject.instance, objective, &found);
    if (strcmp(format, "options") == 0) puts(found.options);
    if (strcmp(format, "cmake") == 0) cli_export_cmake(stdout, subject.instance, &found);
    if (strcmp(format, "text") == 0) rc = print_text(subject.problem, objective, &found);
    clt_lookup_result_release(&found);
  }
  clt_objective_free(objective);
  cli_subject_release(&subject);
  return rc;
}

static int add_entry(void *user, const clt_instance *instance, const clt_lookup_result *found) {
  return cli_export_add(user, instance, found) ? CLT_E_MEMORY : 0;
}

/* A header of all that is known of the problem. */
static int look_up_all(clt_catalog *catalog, const cli_arguments *arguments) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  cli_export export = {0};
  int rc = 0;
  if (clt_problem_load(&problem, arguments->positional[0], &error) ||
      clt_catalog_each(catalog, problem, add_entry, &export, &error))
    rc = cli_report(&error);
  if (rc == 0 && export.n == 0)
    rc = cli_failure("the store knows nothing of '%s'; 'clatune tune' makes it known", clt_problem_name(problem));
  if (rc == 0) rc = cli_export_header(stdout, problem, &export);
  cli_export_release(&export);
  clt_problem_free(problem);
  return rc;
}

static int look_up(clt_catalog *catalog, const cli_arguments *arguments, const char *format) {
  if (cli_given(arguments, "portable")) return cli_portable(catalog, arguments, format);
  return strcmp(format, "header") == 0 ? look_up_all(catalog, arguments) : look_up_one(catalog, arguments, format);
}

static int answer(const cli_arguments *arguments, const char *format) {
  clt_catalog *catalog = NULL;
  clt_replacement file;
  int rc = open_catalog(&catalog, arguments);
  if (rc) return clt_catalog_close(catalog), rc;
  rc = cli_outfile_begin(&file, cli_text(arguments, "output"));
  if (rc == 0) {
    rc = look_up(catalog, arguments, format);
    rc = cli_outfile_end(&file, rc);
  }
  clt_catalog_close(catalog);
  return rc;
}

static int run_lookup(const cli_arguments *arguments) {
  static const char *const formats[] = {"text", "json", "options", "header", "cmake"};
  const char *format;
  int rc = cli_format(&format, arguments, formats, 5);
  if (rc) return rc;
  if (strcmp(format, "header") == 0 && !cli_given(arguments, "portable") &&
      (cli_given(arguments, "size") || cli_given(arguments, "device")))
    return cli_usage(
        "--format header writes all devices and sizes that the store knows; it takes no --size and no --device");
  return answer(arguments, format);
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    CLI_FLAG_OBJECTIVE,
    CLI_FLAG_STORE,
    {"portable", NULL,
     "the one configuration that is best over all that was measured; --device (parts of stored devices' names) and "
     "--size choose, and may be repeated"},
    {"format", "NAME",
     "text, json, options (for clBuildProgram), cmake (variables), or header (C, all devices and sizes)"},
    {"output", "FILE", "writes the answer to a file, which is replaced once it is whole; also -o FILE"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_lookup = {
    .name = "lookup",
    .summary = "the best known configuration, without measuring",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--portable] [--format NAME] [-o FILE]",
    .description =
        "Answers from what was measured before, and says what the answer rests on: exact, other-driver,\n"
        "nearest-size, same-architecture, or default where nothing that fits is known. Never measures.\n"
        "--format header writes a C header with the best of every device and size in the store.\n"
        "--portable answers with one configuration for several devices or sizes: the least summed relative time.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_lookup,
};
