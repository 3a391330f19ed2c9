#include "cli/portable.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export.h"
#include "cli/output.h"

static json_t *place_json(const clt_portable_place *p) {
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "device", p->device, "driver", p->driver, "sizes", p->sizes,
                   "relative", clt_json_real(p->relative), "value", clt_json_real(p->value), "best_value",
                   clt_json_real(p->best_value));
}

/* "a=1 b=x" as an object of texts and numbers. */
static json_t *configuration_json(const char *configuration) {
  json_t *out = json_object();
  char *text = strdup(configuration), *rest = NULL;
  for (char *part = text ? strtok_r(text, " ", &rest) : NULL; part; part = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(part, '=');
    if (equals == NULL) continue;
    *equals++ = '\0';
    json_t *number = json_loads(equals, JSON_DECODE_ANY, NULL);
    json_object_set_new(out, part, json_is_number(number) ? json_incref(number) : json_string(equals));
    json_decref(number);
  }
  free(text);
  return out;
}

static int print_json(const clt_portable *p) {
  json_t *places = json_array();
  for (size_t i = 0; i < p->n_places; i++) json_array_append_new(places, place_json(&p->places[i]));
  json_t *open = p->n_open ? json_pack("{s:I, s:s, s:s}", "configurations", (json_int_t)p->n_open, "most_promising",
                                       p->open_configuration, "not_measured_on", p->open_missing)
                           : json_null();
  size_t n_measured = p->n_places - p->n_missing;
  return cli_print_json(json_pack(
      "{s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "configuration", configuration_json(p->configuration), "options",
      p->options, "places", places, "mean_relative", clt_json_real(p->sum_relative / (double)n_measured),
      "worst_relative", clt_json_real(p->worst_relative), "missing", (json_int_t)p->n_missing, "configurations",
      (json_int_t)p->n_configurations, "measured_everywhere", (json_int_t)p->n_complete, "open", open));
}

static int print_text(const clt_portable *p) {
  size_t n_measured = p->n_places - p->n_missing;
  printf("configuration     %s\noptions           %s\n", p->configuration, p->options);
  printf("relative          %.3g in the mean, %.3g at worst (1: the best that is known)\n",
         p->sum_relative / (double)n_measured, p->worst_relative);
  printf("known             %zu configurations, %zu of them measured at all %zu places\n", p->n_configurations,
         p->n_complete, p->n_places);
  for (size_t i = 0; i < p->n_places; i++) {
    const clt_portable_place *at = &p->places[i];
    if (isfinite(at->relative))
      printf("%-17.4g %s%s%s\n", at->relative, at->device, at->sizes[0] ? ", " : "", at->sizes);
    else
      printf("%-17s %s%s%s\n", "not measured", at->device, at->sizes[0] ? ", " : "", at->sizes);
  }
  if (p->n_open)
    printf("could be better   %zu that were not measured everywhere, first of all %s on %s\n", p->n_open,
           p->open_configuration, p->open_missing);
  return CLI_FOUND;
}

static int print(const clt_portable *p, const clt_problem *problem, const char *format) {
  if (strcmp(format, "json") == 0) return print_json(p);
  if (strcmp(format, "text") == 0) return print_text(p);
  if (strcmp(format, "header") == 0) return cli_export_portable_header(stdout, problem, p->configuration, p->options);
  if (strcmp(format, "cmake") == 0) cli_export_portable_cmake(stdout, problem, p->configuration, p->options);
  if (strcmp(format, "options") == 0) puts(p->options);
  return CLI_FOUND;
}

/* Machines get the answer alone: what it lacks is said beside it. */
static void warn(const clt_portable *p, const char *format) {
  if (p->n_missing > 0 && strcmp(format, "text") != 0)
    fprintf(stderr, "clatune: warning: no configuration was measured at all %zu places; this one is not known at %zu\n",
            p->n_places, p->n_missing);
}

int cli_portable(clt_catalog *catalog, const cli_arguments *arguments, const char *format) {
  clt_problem *problem = NULL;
  clt_portable_filter filter = {0};
  clt_size *sizes = NULL;
  const char **devices = NULL;
  clt_portable found = {0};
  clt_error error = {0};
  int rc = cli_texts(&devices, &filter.n_devices, arguments, "device");
  if (rc == 0) rc = cli_sizes(&sizes, &filter.n_sizes, arguments);
  filter.devices = devices;
  filter.sizes = sizes;
  if (rc == 0 && (clt_problem_load(&problem, arguments->positional[0], &error) ||
                  clt_catalog_portable(catalog, &found, problem, &filter, &error)))
    rc = cli_report(&error);
  if (rc == 0) warn(&found, format);
  if (rc == 0) rc = print(&found, problem, format);
  clt_portable_release(&found);
  clt_problem_free(problem);
  free(devices);
  free(sizes);
  return rc;
}
