#include <stdio.h>
#include <stdlib.h>

#include "cli/dry_run.h"
#include "cli/file_format.h"
#include "cli/output.h"
#include "cli/tuning.h"

static clt_t4_result *results_of(const clt_measurement *measurements, size_t n, const clt_objective *objective) {
  clt_t4_result *results = calloc(n + 1, sizeof *results);
  for (size_t i = 0; results && i < n; i++)
    results[i] = (clt_t4_result){.measurement = &measurements[i], .objective = objective};
  return results;
}

static int export_store(const cli_tuning *tuning, cli_file_format format, const char *path, size_t *n) {
  const clt_instance *instance = tuning->subject.instance;
  clt_error error = {0};
  clt_store_key key;
  clt_measurement *stored = NULL;
  clt_t4_result *results = NULL;
  *n = 0;
  int rc = clt_store_key_init(&key, instance, &error);
  if (rc == 0) rc = clt_store_newest(&stored, n, tuning->store, &key, clt_instance_space(instance), &error);
  if (rc == 0) results = results_of(stored, *n, tuning->objective);
  if (rc == 0 && results && *n > 0) rc = cli_file_write(format, path, instance, results, *n, &error);
  int code = rc                ? cli_report(&error)
             : results == NULL ? cli_failure("out of memory")
             : *n == 0         ? cli_failure("the store holds no measurement of '%s' at these sizes on this device",
                                             clt_problem_name(clt_instance_problem(instance)))
                               : 0;
  free(results);
  free(stored);
  return code;
}

static int print(const char *path, size_t n, const clt_space *space, bool as_json) {
  unsigned long long valid = clt_space_valid(space);
  if (as_json)
    return cli_print_json(
        json_pack("{s:s, s:I, s:I}", "recording", path, "configurations", (json_int_t)n, "valid", (json_int_t)valid));
  printf("%zu of %llu valid configurations are in %s\n", n, valid, path);
  return 0;
}

static int run_record(const cli_arguments *arguments) {
  cli_tuning tuning;
  size_t n = 0;
  const char *path = cli_text(arguments, "output");
  if (path == NULL) return cli_usage("'clatune record' needs -o FILE: where to write the recording");
  if (cli_given(arguments, "no-store")) return cli_usage("'clatune record' needs a store");
  if (cli_given(arguments, "dry-run")) return cli_dry_run(arguments, "exhaustive", false);
  if (cli_given(arguments, "stored-only") && !cli_has_store(arguments)) return cli_no_store(arguments);
  cli_file_format format;
  int rc = cli_file_format_of(&format, arguments);
  if (rc == 0) rc = cli_tuning_init(&tuning, arguments, "exhaustive");
  if (rc) return rc;
  rc = cli_tuning_keep_slow(&tuning);
  tuning.settings.finalists = 0;
  tuning.settings.skip_default = true;
  if (rc == 0 && !cli_given(arguments, "stored-only")) rc = cli_tuning_measure(&tuning);
  if (rc == 0 || rc == CLI_NO_VALID) rc = export_store(&tuning, format, path, &n);
  if (rc == 0) rc = print(path, n, clt_instance_space(tuning.subject.instance), cli_given(arguments, "json"));
  cli_tuning_release(&tuning);
  return rc;
}

static const cli_flag flags[] = {
    {"output", "FILE", "where to write the recording, compressed if the name ends in .gz; also -o FILE"},
    CLI_FLAG_FILE_FORMAT,
    {"stored-only", NULL, "measures nothing: writes what the store has"},
    CLI_TUNING_FLAGS};

const cli_command cli_record = {
    .name = "record",
    .summary = "measures all configurations and writes them to a file",
    .synopsis = "PROBLEM -o FILE [--format NAME] [--stored-only] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Measures every valid configuration that the store does not have yet, then writes a recording: T4 results\n"
        "with the problem's ConfigurationSpace, for trying searchers and models without the device. Resumable.",
    CLI_FLAGS(flags),
    .evaluator_options = true,
    .n_positional = {1, 1},
    .run = run_record,
};
