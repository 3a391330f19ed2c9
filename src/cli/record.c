#include <stdio.h>
#include <stdlib.h>

#include "cli/file_format.h"
#include "cli/tuning.h"

/* Writes what the store has. Returns 0, or an exit code after a message. */
static int write_recording(const cli_tuning *tuning, cli_file_format format, const char *path, size_t *n) {
  const clt_instance *instance = tuning->subject.instance;
  clt_error error = {0};
  clt_store_key key;
  clt_measurement *stored = NULL;
  *n = 0;
  int rc = clt_store_key_init(&key, instance, &error);
  if (rc == 0) rc = clt_store_newest(&stored, n, tuning->store, &key, clt_instance_space(instance), &error);
  if (rc) return cli_report(&error);
  if (*n == 0)
    return free(stored), cli_failure("the store holds no measurement of '%s' at these sizes on this device",
                                     clt_problem_name(clt_instance_problem(instance)));
  clt_t4_result *results = calloc(*n, sizeof *results);
  for (size_t i = 0; results && i < *n; i++)
    results[i] = (clt_t4_result){.measurement = &stored[i], .objective = tuning->objective};
  if (results == NULL)
    rc = cli_failure("out of memory");
  else if (cli_file_write(format, path, instance, results, *n, &error))
    rc = cli_report(&error);
  free(results);
  free(stored);
  return rc;
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
  rc = cli_tuning_sample(&tuning);
  if (rc == 0 && !cli_given(arguments, "stored-only")) rc = cli_tuning_run(&tuning, NULL, false);
  if (rc == 0 || rc == CLI_NO_VALID) rc = write_recording(&tuning, format, path, &n);
  unsigned long long valid = clt_space_valid(clt_instance_space(tuning.subject.instance));
  if (rc == 0 && cli_given(arguments, "json"))
    rc = cli_print_json(
        json_pack("{s:s, s:I, s:I}", "recording", path, "configurations", (json_int_t)n, "valid", (json_int_t)valid));
  else if (rc == 0)
    printf("%zu of %llu valid configurations are in %s\n", n, valid, path);
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
