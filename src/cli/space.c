#include <stdio.h>

#include "cli/cli.h"
#include "space/space.h"

static json_t *space_json(const cli_subject *subject, const char *path) {
  const clt_space *space = clt_instance_space(subject->instance);
  json_t *parameters = json_array();
  uint64_t aliases; /* null if the problem declares none, or there are too many to count */
  bool counted = clt_space_has_aliases(space) && clt_space_count_aliases(&aliases, space, NULL) == 0;
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *parameter = clt_space_parameter(space, i);
    json_t *values = json_array();
    for (size_t v = 0; v < parameter->n_values; v++)
      json_array_append_new(values, clt_json_value(parameter->values[v]));
    json_array_append_new(parameters, json_pack("{s:s, s:o}", "name", parameter->name, "values", values));
  }
  return json_pack("{s:s, s:s, s:I, s:I, s:o, s:I, s:o, s:o, s:s?, s:o}", "file", path, "problem",
                   clt_problem_name(subject->problem), "cartesian", (json_int_t)clt_space_cartesian(space), "valid",
                   (json_int_t)clt_space_valid(space), "aliases",
                   counted ? json_integer((json_int_t)aliases) : json_null(), "groups",
                   (json_int_t)clt_space_n_groups(space), "build_s", clt_json_real(clt_space_build_s(space)), "sizes",
                   cli_json_sizes(subject->instance), "device", subject->device ? subject->device->name : NULL,
                   "parameters", parameters);
}

static void print_space(const cli_subject *subject, const char *path) {
  const clt_space *space = clt_instance_space(subject->instance);
  uint64_t cartesian = clt_space_cartesian(space), valid = clt_space_valid(space), aliases;
  clt_error error = {0};
  char time[32], why[1000];
  printf("%s: %s\n", path, clt_problem_name(subject->problem));
  const size_t n = clt_space_n_parameters(space), n_groups = clt_space_n_groups(space);
  printf("  cartesian   %llu configurations of %zu tuning parameter%s in %zu independent group%s\n",
         (unsigned long long)cartesian, n, n == 1 ? "" : "s", n_groups, n_groups == 1 ? "" : "s");
  printf("  valid       %llu (%.3g %%) %s%s\n", (unsigned long long)valid,
         cartesian ? 100.0 * (double)valid / (double)cartesian : 0,
         subject->device ? "within the limits of " : "without the limits of a device",
         subject->device ? subject->device->name : "");
  if (valid == 0) {
    clt_space_explain_empty(why, sizeof why, space);
    printf("  none valid  %s\n", why);
  }
  if (clt_space_has_aliases(space) && clt_space_count_aliases(&aliases, space, &error))
    printf("  aliases     not counted: %s\n", error.message);
  else if (clt_space_has_aliases(space))
    printf("  aliases     %llu; %llu canonical configurations to measure\n", (unsigned long long)aliases,
           (unsigned long long)(valid - aliases));
  printf("  counted in  %s\n", clt_time_text(time, clt_space_build_s(space)));
}

static int run_space(const cli_arguments *arguments) {
  json_t *list = cli_given(arguments, "json") ? json_array() : NULL;
  for (size_t i = 0; i < arguments->n_positional; i++) {
    const char *path = arguments->positional[i];
    const cli_subject subject = cli_subject_new(arguments, path, CLI_DEVICE_IF_NAMED);
    if (list)
      json_array_append_new(list, space_json(&subject, path));
    else
      print_space(&subject, path);
  }
  int rc = list ? cli_print_json(json_incref(arguments->n_positional > 1 ? list : json_array_get(list, 0))) : 0;
  json_decref(list);
  return rc;
}

static const cli_flag flags[] = {CLI_FLAG_DEVICE, CLI_FLAG_SIZE, CLI_FLAG_JSON, CLI_FLAG_QUIET};

const cli_command cli_space = {
    .name = "space",
    .summary = "counts the configurations of a problem",
    .synopsis = "PROBLEM... [--device NAME] [--size NAME=N]... [--json]",
    .description =
        "Counts the configurations of problems, without their kernels. With --device, the limits of the device apply "
        "in\n"
        "addition to the conditions in the problem file. With --json, one file gives an object, several give a list.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1000},
    .run = run_space,
};
