#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "cli/file_format.h"
#include "cli/tuning.h"

/* What the store holds of the whole space. */
typedef struct stored {
  clt_measurement *measurements;
  size_t n, capacity;
} stored;

static int collect_answer(void *user, const clt_store_answer *answer) {
  stored *s = user;
  if (answer->newest == NULL) return 0;
  if (clt_grow(&s->measurements, &s->capacity, s->n + 1, sizeof *s->measurements)) return CLT_E_MEMORY;
  s->measurements[s->n++] = *answer->newest;
  return 0;
}

/* Writes what the store has. Returns 0, or an exit code after a message. */
static int write_recording(const cli_tuning *tuning, cli_file_format format, const char *path, size_t *n) {
  const clt_instance *instance = tuning->subject.instance;
  clt_error error = {0};
  clt_store_key key;
  stored s = {.n = 0};
  clt_t4_result *results = NULL;
  int rc = clt_store_key_init(&key, instance, &error);
  if (rc == 0)
    rc = clt_store_newest(tuning->store, &key, clt_instance_space(instance), false, collect_answer, &s, NULL, &error);
  if (rc == 0 && (results = calloc(s.n + 1, sizeof *results)) == NULL) rc = clt_fail_memory(&error);
  for (size_t i = 0; rc == 0 && i < s.n; i++)
    results[i] = (clt_t4_result){.measurement = &s.measurements[i], .objective = tuning->objective};
  if (rc == 0 && s.n > 0) rc = cli_file_write(format, path, instance, results, s.n, &error);
  *n = s.n;
  free(results);
  free(s.measurements);
  if (rc) return cli_report(&error);
  return s.n ? 0
             : cli_failure("the store holds no measurement of '%s' at these sizes on this device",
                           clt_problem_name(clt_instance_problem(instance)));
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
