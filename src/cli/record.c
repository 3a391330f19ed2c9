/* clatune sample, record and convert: measurements without a search, and results in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/reader.h"
#include "cli/tuning.h"
#include "format/recording.h"
#include "space/space.h"

/* --- sample --- */

#define MAX_LIST_BYTES (64 << 20)

/* A list of configurations, each an object, a text "a=1 b=2", or an object with a member "configuration" that is one of
 * these. */
static int read_configurations(cli_tuning *tuning, const char *path) {
  clt_source source = {0};
  clt_error why = {0};
  if (clt_source_read(&source, path, MAX_LIST_BYTES, &why)) {
    clt_source_release(&source);
    return cli_report(&why), CLI_USAGE;
  }
  json_t *list = source.root;
  const clt_space *space = clt_instance_space(tuning->subject.instance);
  size_t n = json_array_size(list);
  int rc = n > 0 ? 0 : cli_usage("'%s' needs a list of configurations", path);
  tuning->configurations = calloc(n + 1, sizeof *tuning->configurations);
  if (rc == 0 && tuning->configurations == NULL) rc = cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && i < n; i++) {
    clt_error error = {0};
    bool given[CLT_MAX_PARAMETERS];
    clt_config *config = &tuning->configurations[i];
    const char *violation = NULL;
    if (clt_config_read_onto(config, given, space, json_array_get(list, i), &error) ||
        clt_config_check_given(given, space, &error))
      rc = cli_usage("configuration %zu: %s", i, error.message);
    else if ((violation = clt_space_violation(space, *config, NULL)))
      rc = cli_usage("configuration %zu violates: %s", i, violation);
  }
  clt_source_release(&source);
  tuning->settings.configurations = tuning->configurations;
  tuning->settings.n_configurations = n;
  return rc;
}

static void print_sample(const cli_tuning *tuning, const clt_tune_result *r) {
  printf("%lld configurations: %lld measured, %lld already known; %lld correct\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->n_correct);
  if (tuning->store) printf("stored in %s\n", clt_store_path(tuning->store));
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
  if (rc == 0) rc = cli_tuning_run(&tuning, print_sample, cli_given(arguments, "json"));
  cli_tuning_release(&tuning);
  return rc;
}

static const cli_flag sample_flags[] = {
    {"samples", "N", "how many configurations (default 100); the same seed draws the same ones first"},
    {"configurations", "FILE", "measures these in place of random ones: a JSON array of objects"},
    CLI_FLAG_EVENTS,
    CLI_TUNING_FLAGS};

const cli_command cli_sample = {
    .name = "sample",
    .summary = "measures random configurations into the store",
    .synopsis = "PROBLEM (--samples N | --configurations FILE) [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Measures N random valid configurations and stores them, for 'clatune train' and later tunings.\n"
        "With --configurations, those of a file.",
    CLI_FLAGS(sample_flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 1},
    .run = run_sample,
};

/* --- record --- */

#define FLAG_FILE_FORMAT \
  { "format", "NAME", "t4 (default) or kernel-tuner: a cache file that Kernel Tuner goes on from and simulates with" }

/* The typed --format, T4 or a cache file of Kernel Tuner. Returns 0, or CLI_USAGE after a message. */
static int is_t4_wanted(bool *out, const cli_arguments *arguments) {
  static const char *const names[] = {"t4", "kernel-tuner"};
  const char *name = names[0];
  int rc = cli_format(&name, arguments, names, 2);
  *out = strcmp(name, "t4") == 0;
  return rc;
}

/* Writes what the store has. Returns 0, or an exit code after a message. */
static int write_recording(const cli_tuning *tuning, bool as_t4, const char *path, size_t *n) {
  const clt_instance *instance = tuning->subject.instance;
  clt_error error = {0};
  clt_store_key key;
  clt_store_answers answers = {0};
  clt_measurement *measurements = NULL; /* without logs */
  *n = 0;
  int rc = clt_store_key_init(&key, instance, &error);
  if (rc == 0) rc = clt_store_newest(&answers, tuning->store, &key, clt_instance_space(instance), false, NULL, &error);
  if (rc == 0 && (measurements = clt_new_array(answers.n, sizeof *measurements)) == NULL) rc = clt_fail_memory(&error);
  for (size_t i = 0; rc == 0 && i < answers.n; i++)
    if (answers.all[i].newest) measurements[(*n)++] = *answers.all[i].newest;
  if (rc == 0 && *n > 0) {
    const clt_results results = {
        .instance = instance, .measurements = measurements, .n = *n, .objective = tuning->objective};
    rc = (as_t4 ? clt_t4_write : clt_kernel_tuner_write)(path, &results, &error);
  }
  free(measurements);
  clt_store_answers_release(&answers);
  if (rc) return cli_report(&error);
  return *n ? 0
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
  bool as_t4;
  int rc = is_t4_wanted(&as_t4, arguments);
  if (rc == 0) rc = cli_tuning_init(&tuning, arguments, "exhaustive");
  if (rc) return rc;
  rc = cli_tuning_sample(&tuning);
  if (rc == 0 && !cli_given(arguments, "stored-only")) rc = cli_tuning_run(&tuning, NULL, false);
  if (rc == 0 || rc == CLI_NO_VALID) rc = write_recording(&tuning, as_t4, path, &n);
  unsigned long long valid = clt_space_valid(clt_instance_space(tuning.subject.instance));
  if (rc == 0 && cli_given(arguments, "json"))
    rc = cli_print_json(
        json_pack("{s:s, s:I, s:I}", "recording", path, "configurations", (json_int_t)n, "valid", (json_int_t)valid));
  else if (rc == 0)
    printf("%zu of %llu valid configurations are in %s\n", n, valid, path);
  cli_tuning_release(&tuning);
  return rc;
}

static const cli_flag record_flags[] = {
    {"output", "FILE", "where to write the recording, compressed if the name ends in .gz; also -o FILE"},
    FLAG_FILE_FORMAT,
    {"stored-only", NULL, "measures nothing: writes what the store has"},
    CLI_TUNING_FLAGS};

const cli_command cli_record = {
    .name = "record",
    .summary = "measures all configurations and writes them to a file",
    .synopsis = "PROBLEM -o FILE [--format NAME] [--stored-only] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Measures every valid configuration that the store does not have yet, then writes a recording: T4 results\n"
        "with the problem's ConfigurationSpace, for trying searchers and models without the device. Resumable.",
    CLI_FLAGS(record_flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 1},
    .run = run_record,
};

/* --- convert --- */

static int run_convert(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  bool as_t4;
  clt_recording *recording = NULL;
  clt_error error = {0};
  if (path == NULL) return cli_usage("'clatune convert' needs -o FILE: where to write");
  int rc = is_t4_wanted(&as_t4, arguments);
  if (rc) return rc;
  if (clt_recording_new(&recording, arguments->positional[0], &error) ||
      (as_t4 ? clt_t4_write : clt_kernel_tuner_write)(path, &(clt_results){.recording = recording}, &error)) {
    rc = cli_report(&error);
  } else if (cli_given(arguments, "json")) {
    rc = cli_print_json(json_pack("{s:s, s:I, s:s, s:s}", "file", path, "configurations", (json_int_t)recording->n,
                                  "kernel", recording->kernel, "device", recording->device));
  } else {
    printf("%zu configurations are in %s\n", recording->n, path);
  }
  clt_recording_free(recording);
  return rc;
}

static const cli_flag convert_flags[] = {
    {"output", "FILE", "where to write, compressed if the name ends in .gz; also -o FILE"},
    FLAG_FILE_FORMAT,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_convert = {
    .name = "convert",
    .summary = "writes other tuners' results as T4 or as a cache file of Kernel Tuner",
    .synopsis = "FILE -o FILE [--format t4|kernel-tuner]",
    .description =
        "Reads results in any form that is known (T4, Kernel Tuner's cache files, CLTune, CLBlast's tuners, KTT, what\n"
        "'clatune record' wrote; plain or gzip), told by their content, and writes them in another one.",
    CLI_FLAGS(convert_flags),
    .n_positional = {1, 1},
    .run = run_convert,
};
