#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dry_run.h"
#include "cli/output.h"
#include "cli/tuning.h"

/* {"a": 1, "b": true} as "a=1 b=1". */
static char *as_text(const json_t *configuration) {
  char *text = NULL;
  const char *name;
  json_t *value;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return NULL;
  json_object_foreach((json_t *)configuration, name, value) {
    fprintf(out, "%s=", name);
    if (json_is_string(value)) {
      fprintf(out, "%s ", json_string_value(value));
    } else if (json_is_boolean(value)) {
      fprintf(out, "%d ", json_is_true(value));
    } else {
      json_dumpf(value, out, JSON_ENCODE_ANY);
      fputc(' ', out);
    }
  }
  return fclose(out) ? free(text), NULL : text;
}

static int read_one(clt_config *out, const clt_space *space, const json_t *item, size_t index) {
  clt_error error = {0};
  const json_t *inner = json_object_get(item, "configuration");
  if (inner) item = inner;
  char *text = json_is_string(item) ? strdup(json_string_value(item)) : as_text(item);
  if (text == NULL) return cli_failure("out of memory");
  int rc = clt_config_parse(out, space, text, &error);
  free(text);
  if (rc) return cli_usage("configuration %zu: %s", index, error.message);
  const char *violation = clt_space_violation(space, *out, NULL);
  return violation ? cli_usage("configuration %zu violates: %s", index, violation) : 0;
}

/* A JSON array of configurations, as objects or as "a=1 b=2", or of objects with a member "configuration". */
static int read_list(cli_tuning *tuning, const char *path) {
  json_error_t cause;
  json_t *list = json_load_file(path, 0, &cause);
  const clt_space *space = clt_instance_space(tuning->subject.instance);
  size_t n = json_array_size(list);
  if (list == NULL) return cli_usage("%s:%d: %s", path, cause.line, cause.text);
  int rc = n > 0 ? 0 : cli_usage("'%s' needs a list of configurations", path);
  tuning->configurations = calloc(n + 1, sizeof *tuning->configurations);
  if (rc == 0 && tuning->configurations == NULL) rc = cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && tuning->configurations && i < n; i++)
    rc = read_one(&tuning->configurations[i], space, json_array_get(list, i), i);
  json_decref(list);
  tuning->settings.configurations = tuning->configurations;
  tuning->settings.n_configurations = n;
  return rc;
}

static int answer(const cli_tuning *tuning, const clt_tune_result *r, bool as_json) {
  if (as_json) return cli_print_json(cli_tuning_json(tuning, r));
  printf("%lld configurations: %lld measured, %lld already known; %lld correct\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->by_invalidity[CLT_CORRECT]);
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
  rc = list ? read_list(&tuning, list) : 0;
  if (rc == 0) rc = cli_tuning_keep_slow(&tuning);
  if (rc) return cli_tuning_release(&tuning), rc;
  tuning.settings.budget = samples;
  tuning.settings.finalists = 0;
  tuning.settings.skip_default = true;
  if (cli_given(arguments, "json")) tuning.results = json_array();
  return cli_tuning_run(&tuning, answer, cli_given(arguments, "json"));
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
