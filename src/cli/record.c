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
static void read_configurations(cli_tuning *tuning, const char *path) {
  clt_source source = {0};
  cli_check_typed(clt_source_read(&source, path, MAX_LIST_BYTES, &cli_error));
  const json_t *list = source.root;
  const clt_space *space = clt_instance_space(tuning->subject.instance);
  const size_t n = json_array_size(list);
  if (n == 0) cli_usage("'%s' needs a list of configurations", path);
  clt_config *configurations = cli_new(n, sizeof *configurations);
  for (size_t i = 0; i < n; i++) {
    bool given[CLT_MAX_PARAMETERS];
    const char *violation;
    if (clt_config_read_onto(&configurations[i], given, space, json_array_get(list, i), &cli_error) ||
        clt_config_check_given(given, space, &cli_error))
      cli_usage("configuration %zu: %s", i, cli_error.message);
    if ((violation = clt_space_violation(space, configurations[i], NULL)))
      cli_usage("configuration %zu violates: %s", i, violation);
  }
  clt_source_release(&source);
  tuning->settings.configurations = configurations;
  tuning->settings.n_configurations = n;
}

static void print_sample(const cli_tuning *tuning, const clt_tune_result *r) {
  printf("%lld configurations: %lld measured, %lld already known; %lld correct\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->n_correct);
  if (tuning->store) printf("stored in %s\n", clt_store_path(tuning->store));
}

static int run_sample(const cli_arguments *arguments) {
  const bool json = cli_given(arguments, "json");
  const int64_t samples = cli_integer(arguments, "samples", 100, 1, INT64_MAX);
  const char *list = cli_text(arguments, "configurations");
  cli_tuning tuning;
  if (cli_given(arguments, "dry-run")) return cli_dry_run(arguments, "random", false);
  cli_tuning_init(&tuning, arguments, "random");
  if (list) read_configurations(&tuning, list);
  cli_tuning_sample(&tuning, arguments);
  tuning.settings.budget = samples;
  if (json) tuning.results = json_array();
  int rc = cli_tuning_run(&tuning, print_sample, json);
  json_decref(tuning.results);
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

static bool is_t4_wanted(const cli_arguments *arguments) {
  static const char *const names[] = {"t4", "kernel-tuner"};
  return strcmp(cli_format(arguments, names, 2), names[0]) == 0;
}

/* Writes what the store has. Returns how many configurations. */
static size_t write_recording(const cli_tuning *tuning, bool as_t4, const char *path) {
  const clt_instance *instance = tuning->subject.instance;
  clt_store_key key;
  clt_store_answers answers = {0};
  size_t n = 0;
  cli_check(clt_store_key_init(&key, instance, &cli_error));
  cli_check(clt_store_newest(&answers, tuning->store, &key, clt_instance_space(instance), false, NULL, &cli_error));
  clt_measurement *measurements = cli_new(answers.n, sizeof *measurements); /* without logs */
  for (size_t i = 0; i < answers.n; i++)
    if (answers.all[i].newest) measurements[n++] = *answers.all[i].newest;
  if (n == 0)
    cli_failure("the store holds no measurement of '%s' at these sizes on this device",
                clt_problem_name(clt_instance_problem(instance)));
  const clt_results results = {
      .instance = instance, .measurements = measurements, .n = n, .objective = tuning->objective};
  cli_check((as_t4 ? clt_t4_write : clt_kernel_tuner_write)(path, &results, &cli_error));
  clt_store_answers_release(&answers);
  return n;
}

static int run_record(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  cli_tuning tuning;
  if (path == NULL) cli_usage("'clatune record' needs -o FILE: where to write the recording");
  if (cli_given(arguments, "no-store")) cli_usage("'clatune record' needs a store");
  if (cli_given(arguments, "dry-run")) return cli_dry_run(arguments, "exhaustive", false);
  if (cli_given(arguments, "stored-only") && !cli_has_store(arguments)) cli_no_store(arguments);
  const bool as_t4 = is_t4_wanted(arguments);
  cli_tuning_init(&tuning, arguments, "exhaustive");
  cli_tuning_sample(&tuning, arguments);
  int rc = cli_given(arguments, "stored-only") ? 0 : cli_tuning_run(&tuning, NULL, false);
  if (rc && rc != CLI_NO_VALID) return rc;
  const size_t n = write_recording(&tuning, as_t4, path);
  unsigned long long valid = clt_space_valid(clt_instance_space(tuning.subject.instance));
  if (cli_given(arguments, "json"))
    return cli_print_json(
        json_pack("{s:s, s:I, s:I}", "recording", path, "configurations", (json_int_t)n, "valid", (json_int_t)valid));
  printf("%zu of %llu valid configurations are in %s\n", n, valid, path);
  return CLI_FOUND;
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
  if (path == NULL) cli_usage("'clatune convert' needs -o FILE: where to write");
  const bool as_t4 = is_t4_wanted(arguments);
  const clt_recording *r = cli_load_recordings((const char *const *)arguments->positional, 1)[0];
  cli_check((as_t4 ? clt_t4_write : clt_kernel_tuner_write)(path, &(clt_results){.recording = r}, &cli_error));
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:I, s:s, s:s}", "file", path, "configurations", (json_int_t)r->n, "kernel",
                                    r->kernel, "device", r->device));
  printf("%zu configurations are in %s\n", r->n, path);
  return CLI_FOUND;
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
