#include "space/space.h"
#include "cli/cli.h"

static json_t *space_json(const cli_subject *subject, const char *path) {
  const clt_space *space = clt_instance_space(subject->instance);
  const uint64_t cartesian = clt_space_cartesian(space), valid = clt_space_valid(space);
  json_t *parameters = json_array(), *aliases = json_null(), *canonical = json_null(), *uncounted = json_null();
  json_t *none_valid = json_null();
  double combinations = 1; /* may exceed 64 bits */
  uint64_t n_aliases;      /* null if the problem declares none, or there are too many to count */
  clt_error error = {0};
  char why[1000];
  if (clt_space_has_aliases(space) && clt_space_count_aliases(&n_aliases, space, &error)) {
    uncounted = clt_json_text(error.message);
  } else if (clt_space_has_aliases(space)) {
    aliases = json_integer((json_int_t)n_aliases);
    canonical = json_integer((json_int_t)(valid - n_aliases));
  }
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *parameter = clt_space_parameter(space, i);
    combinations *= (double)parameter->n_values;
    json_array_append_new(parameters, clt_json_parameter(parameter));
  }
  json_t *share = clt_space_has_too_many(space) ? json_null() : json_real((double)valid / combinations);
  if (valid == 0) {
    clt_space_explain_empty(why, sizeof why, space);
    none_valid = clt_json_text(why);
  }
  return json_pack("{s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "file",
                   clt_json_text(path), "problem", clt_problem_name(subject->problem), "cartesian",
                   (json_int_t)cartesian, "valid", (json_int_t)valid, "valid_share", share, "none_valid", none_valid,
                   "aliases", aliases, "canonical", canonical, "aliases_not_counted", uncounted, "groups",
                   (json_int_t)clt_space_n_groups(space), "build_s", clt_json_real(clt_space_build_s(space)), "sizes",
                   clt_json_sizes(subject->instance), "device",
                   clt_json_text(subject->device ? subject->device->name : NULL), "parameters", parameters);
}

static const clt_line title_lines[] = {{.form = "{file}: {problem}"}};
static const clt_text_layout title_layout = CLT_TEXT_LAYOUT(0, 1, title_lines);
static const clt_line space_lines[] = {
    {"cartesian",
     "{cartesian} configuration{cartesian:s} of {parameters:n} tuning parameter{parameters:s} in {groups} independent"
     " group{groups:s}"},
    {"valid", "{valid}[ ({valid_share:.3%})|] [within the limits of {device}|without the limits of a device]"},
    {"none valid", "{none_valid}"},
    {"aliases",
     "not counted: {aliases_not_counted}|{aliases}; {canonical} canonical configuration{canonical:s} to measure"},
    {"counted in", "[{build_s:time}|-]"}};
static const clt_text_layout space_layout = CLT_TEXT_LAYOUT(2, 12, space_lines);

static int run_space(const cli_arguments *arguments) {
  const bool as_json = cli_given(arguments, "json");
  json_t *list = json_array();
  for (size_t i = 0; i < arguments->n_positional; i++) {
    const char *path = arguments->positional[i];
    const cli_subject subject = cli_subject_new(arguments, path, CLI_DEVICE_IF_NAMED);
    json_t *json = space_json(&subject, path);
    if (!as_json) {
      cli_draw(json, &title_layout);
      cli_draw(json, &space_layout);
    }
    json_array_append_new(list, json);
  }
  int rc = 0;
  if (as_json) rc = cli_print_json(json_incref(arguments->n_positional > 1 ? list : json_array_get(list, 0)));
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
