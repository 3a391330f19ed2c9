#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/tuning.h"
#include "space/space.h"

/* A configuration as an object, as "a=1 b=2", or as an object with a member "configuration" that is one of these. */
static int read_configuration(clt_config *out, const clt_space *space, const json_t *item, size_t index) {
  clt_error error = {0};
  const json_t *inner = json_object_get(item, "configuration");
  clt_text text = {0};
  const char *name;
  json_t *value;
  if (inner) item = inner;
  if (json_is_string(item)) clt_text_add(&text, json_string_value(item));
  json_object_foreach((json_t *)item, name, value) {
    char *number = json_dumps(value, JSON_ENCODE_ANY);
    const char *shown = json_is_string(value)    ? json_string_value(value)
                        : json_is_boolean(value) ? (json_is_true(value) ? "1" : "0")
                                                 : number;
    clt_text_printf(&text, "%s=%s ", name, shown ? shown : "");
    free(number);
  }
  char *typed;
  if (clt_text_take(&typed, &text, NULL)) return cli_failure("out of memory");
  int rc = clt_config_parse(out, space, typed, &error);
  free(typed);
  if (rc) return cli_usage("configuration %zu: %s", index, error.message);
  const char *violation = clt_space_violation(space, *out, NULL);
  return violation ? cli_usage("configuration %zu violates: %s", index, violation) : 0;
}

static int read_configurations(cli_tuning *tuning, const char *path) {
  json_error_t cause;
  json_t *list = json_load_file(path, 0, &cause);
  const clt_space *space = clt_instance_space(tuning->subject.instance);
  size_t n = json_array_size(list);
  if (list == NULL) return cli_usage("%s:%d: %s", path, cause.line, cause.text);
  int rc = n > 0 ? 0 : cli_usage("'%s' needs a list of configurations", path);
  tuning->configurations = calloc(n + 1, sizeof *tuning->configurations);
  if (rc == 0 && tuning->configurations == NULL) rc = cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && tuning->configurations && i < n; i++)
    rc = read_configuration(&tuning->configurations[i], space, json_array_get(list, i), i);
  json_decref(list);
  tuning->settings.configurations = tuning->configurations;
  tuning->settings.n_configurations = n;
  return rc;
}

static int answer_sample(const cli_tuning *tuning, const clt_tune_result *r, bool as_json) {
  if (as_json) return cli_print_json(cli_tuning_json(tuning, r));
  printf("%lld configurations: %lld measured, %lld already known; %lld correct\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->n_correct);
  if (tuning->store) printf("stored in %s\n", clt_store_path(tuning->store));
  return 0;
}

static int run_sample(const cli_arguments *arguments) {
  cli_tuning tuning;
  int64_t samples;
  int rc = cli_integer(&samples, arguments, "samples", 100, 1, INT64_MAX);
  if (rc == 0 && cli_given(arguments, "dry-run")) return cli_dry_run(arguments, "random", false);
  if (rc == 0) rc = cli_tuning_init(&tuning, arguments, "random");
  if (rc) return rc;
  const char *list = cli_text(arguments, "configurations");
  rc = list ? read_configurations(&tuning, list) : 0;
  if (rc == 0) rc = cli_tuning_sample(&tuning);
  tuning.settings.budget = samples;
  if (cli_given(arguments, "json")) tuning.results = json_array();
  if (rc == 0) rc = cli_tuning_run(&tuning, answer_sample, cli_given(arguments, "json"));
  cli_tuning_release(&tuning);
  return rc;
}

static const cli_flag flags[] = {
    {"samples", "N", "how many configurations (default 100); the same seed draws the same ones first"},
    {"configurations", "FILE", "measures these in place of random ones: a JSON array of objects"},
    CLI_TUNING_FLAGS};

const cli_command cli_sample = {
    .name = "sample",
    .summary = "measures random configurations into the store",
    .synopsis = "PROBLEM (--samples N | --configurations FILE) [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Measures N random valid configurations and stores them, for 'clatune train' and later tunings.\n"
        "With --configurations, those of a file.",
    CLI_FLAGS(flags),
    .evaluator_options = true,
    .n_positional = {1, 1},
    .run = run_sample,
};
