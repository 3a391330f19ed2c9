#include "cli/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

static void message(const char *format, va_list arguments) {
  fputs("clatune: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

int cli_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  message(format, arguments);
  va_end(arguments);
  return CLI_USAGE;
}

int cli_failure(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  message(format, arguments);
  va_end(arguments);
  return CLI_FAILURE;
}

int cli_exit_code(int code) {
  switch (code) {
    case CLT_E_ARGUMENT: return CLI_USAGE;
    case CLT_E_DEVICE:
    case CLT_E_AMBIGUOUS: return CLI_NO_DEVICE;
    case CLT_E_NO_VALID: return CLI_NO_VALID;
    case CLT_E_VERIFY: return CLI_VERIFY_FAILED;
    case CLT_E_STORE: return CLI_STORE_UNUSABLE;
    default: return CLI_FAILURE;
  }
}

int cli_report(const clt_error *error) {
  char text[2048];
  clt_error_format(error, text, sizeof text);
  cli_failure("%s", text);
  return cli_exit_code(error->code);
}

void cli_log(void *user, int level, const char *text) {
  const bool *quiet = user;
  if (level == 0) fprintf(stderr, "clatune: warning: %s\n", text);
  if (level == 1 && !(quiet && *quiet)) fprintf(stderr, "clatune: %s\n", text);
}

int cli_print_json(json_t *json) {
  if (json == NULL) return cli_failure("out of memory");
  int rc = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  json_decref(json);
  putchar('\n');
  return rc ? cli_failure("cannot write to standard output") : 0;
}

json_t *cli_json_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *cli_json_value(clt_value value) {
  switch (value.type) {
    case CLT_REAL: return cli_json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return json_string(value.text);
    default: return json_integer(value.integer);
  }
}

json_t *cli_json_configuration(const clt_space *space, clt_config config) {
  json_t *out = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(space); i++)
    json_object_set_new(out, clt_space_parameter(space, i)->name, cli_json_value(clt_space_value(space, config, i)));
  return out;
}

json_t *cli_json_sizes(const clt_instance *instance) {
  json_t *out = json_object();
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    json_object_set_new(out, size.name, json_integer(size.value));
  }
  return out;
}

json_t *cli_json_device(const clt_device_info *device) {
  char *text = NULL;
  if (device == NULL || clt_device_to_json(&text, device, NULL)) return json_null();
  json_t *out = json_loads(text, 0, NULL);
  free(text);
  return out ? out : json_null();
}

json_t *cli_json_best_options(const clt_instance *instance, clt_config config) {
  char *options = NULL;
  if (clt_instance_options(instance, config, &options, NULL)) return json_null();
  json_t *out = json_string(options);
  free(options);
  return out;
}

json_t *cli_json_quality(const clt_problem *problem, double value) {
  const char *name = clt_problem_quality_name(problem);
  if (name == NULL) return json_null();
  return json_pack("{s:s, s:s, s:o}", "name", name, "unit", clt_problem_quality_unit(problem), "value",
                   cli_json_real(value));
}

void cli_print_quality(const clt_problem *problem, double value, int width) {
  const char *name = clt_problem_quality_name(problem), *unit = clt_problem_quality_unit(problem);
  if (name == NULL) return;
  if (isfinite(value)) {
    printf("%-*s %.3g%s%s\n", width - 1, name, value, unit[0] ? " " : "", unit);
  } else {
    printf("%-*s not known\n", width - 1, name);
  }
}

const char *cli_figure(char out[64], const clt_problem *problem, double value) {
  if (clt_problem_figure_is_time(problem)) return cli_time(out, value);
  if (!isfinite(value)) return strcpy(out, "-");
  snprintf(out, 64, "%.5g %.40s", clt_problem_figure(problem, value), clt_problem_figure_unit(problem));
  return out;
}

const char *cli_time(char out[32], double seconds) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  size_t i = 0;
  if (!isfinite(seconds)) return strcpy(out, "-");
  while (i < 3 && seconds < units[i].unit) i++;
  snprintf(out, 32, "%.4g %s", seconds / units[i].unit, units[i].name);
  return out;
}
