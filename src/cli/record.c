/* clatune sample, record and convert: measurements without a search, and files of results. */
#include "base/json.h"
#include "cli/tuning.h"
#include "format/format.h"
#include "space/space.h"

/* --- sample --- */

#define MAX_LIST_BYTES (64 << 20)

/* Reads a list of configurations. Each is an object, a text "a=1 b=2", or an object with one of these as its member
 * "configuration". */
static void read_configurations(cli_tuning *tuning, const char *path) {
  clt_source source = {0};
  cli_check_typed(clt_source_read(&source, path, MAX_LIST_BYTES, &cli_error));
  const json_t *list = source.root;
  const clt_space *space = clt_instance_space(tuning->subject.instance);
  const size_t n = json_array_size(list);
  if (n == 0) cli_usage("'%s' has no configurations; it must be a JSON list of them", path);
  clt_config *configurations = cli_new(n, sizeof *configurations);
  for (size_t i = 0; i < n; i++) {
    bool given[CLT_MAX_PARAMETERS];
    const char *violation;
    if (clt_config_read_onto(&configurations[i], given, space, json_array_get(list, i), &cli_error) ||
        clt_config_check_given(given, space, &cli_error))
      cli_usage("configuration %zu of '%s': %s", i, path, cli_error.message);
    if ((violation = clt_space_violation(space, configurations[i], NULL)))
      cli_usage("configuration %zu of '%s' violates a constraint: %s", i, path, violation);
  }
  clt_source_release(&source);
  tuning->settings.configurations = configurations;
  tuning->settings.n_configurations = n;
}

static void print_sample(const json_t *answer) {
  static const clt_line lines[] = {{.form = "{evaluations.total} configuration{evaluations.total:s}: "
                                            "{evaluations.measured} measured, {evaluations.reused} already known;"
                                            " {evaluations.correct} correct"},
                                   {.form = "stored in {store}"}};
  cli_draw(answer, &(clt_text_layout)CLT_TEXT_LAYOUT(0, 1, lines));
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
    {"samples", "N",
     "number of configurations (default 100); with the same seed, a larger number begins with the same ones"},
    {"configurations", "FILE", "measures the configurations of a file instead of random ones: a JSON list of objects"},
    CLI_FLAG_EVENTS,
    CLI_TUNING_FLAGS};

const cli_command cli_sample = {
    .name = "sample",
    .summary = "measures random configurations into the store",
    .synopsis = "PROBLEM (--samples N | --configurations FILE) [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Measures N random valid configurations, or those of a file, and stores the results for 'clatune train' and\n"
        "later tunings.",
    CLI_FLAGS(sample_flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 1},
    .run = run_sample,
};

/* --- record --- */

#define FLAG_FILE_FORMAT \
  { "format", "NAME", "t4 (default) or kernel-tuner: a cache file, with which Kernel Tuner can continue or simulate" }

static bool is_t4_wanted(const cli_arguments *arguments) {
  static const char *const names[] = {"t4", "kernel-tuner"};
  return strcmp(cli_format(arguments, names, 2), names[0]) == 0;
}

/* Writes the stored measurements, and those that the session believed. Returns the number of configurations. */
static size_t write_recording(const cli_tuning *tuning, bool stored_only, bool as_t4, const char *path) {
  const clt_instance *instance = tuning->subject.instance;
  clt_store_key key;
  clt_store_answers answers = {0};
  size_t n = 0;
  cli_check(clt_store_key_init(&key, instance, &cli_error));
  cli_check(clt_store_newest(&answers, tuning->store, &key, clt_instance_space(instance), false, NULL, &cli_error));
  clt_measurement *measurements = cli_new(answers.n, sizeof *measurements); /* without logs */
  for (size_t i = 0; i < answers.n; i++) {
    const clt_measurement *m = stored_only ? answers.all[i].newest : answers.all[i].claimed;
    if (m) measurements[n++] = *m;
  }
  if (n == 0)
    cli_failure("the store has no measurement of '%s' at these sizes on this device; see 'clatune store list'",
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
  if (path == NULL) cli_usage("'clatune record' needs -o FILE: the recording to write");
  if (cli_given(arguments, "no-store")) cli_usage("'clatune record' writes stored measurements; leave out --no-store");
  if (cli_given(arguments, "dry-run")) return cli_dry_run(arguments, "exhaustive", false);
  if (cli_given(arguments, "stored-only") && !cli_has_store(arguments)) cli_no_store(arguments);
  const bool as_t4 = is_t4_wanted(arguments);
  cli_tuning_init(&tuning, arguments, "exhaustive");
  cli_tuning_sample(&tuning, arguments);
  const bool stored_only = cli_given(arguments, "stored-only");
  int rc = stored_only ? 0 : cli_tuning_run(&tuning, NULL, false);
  if (rc && rc != CLI_NO_VALID) return rc;
  const size_t n = write_recording(&tuning, stored_only, as_t4, path);
  const uint64_t valid = clt_space_valid(clt_instance_space(tuning.subject.instance));
  return cli_answer_line(arguments,
                         json_pack("{s:o, s:I, s:I}", "recording", clt_json_text(path), "configurations", (json_int_t)n,
                                   "valid", (json_int_t)valid),
                         "{configurations} of {valid} valid configurations are in {recording}");
}

static const cli_flag record_flags[] = {
    {"output", "FILE", "the recording to write, compressed if the name ends in .gz; also -o FILE"},
    FLAG_FILE_FORMAT,
    {"stored-only", NULL, "measures nothing, writes only stored measurements"},
    CLI_TUNING_FLAGS};

const cli_command cli_record = {
    .name = "record",
    .summary = "measures all configurations and writes them to a file",
    .synopsis = "PROBLEM -o FILE [--format NAME] [--stored-only] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Measures every valid configuration that is not in the store yet, then writes a recording: T4 results with the "
        "problem's ConfigurationSpace, for tests of searchers and models without the device. The same command "
        "continues an interrupted recording.",
    CLI_FLAGS(record_flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 1},
    .run = run_record,
};

/* --- convert --- */

static int run_convert(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "output");
  if (path == NULL) cli_usage("'clatune convert' needs -o FILE: the file to write");
  const bool as_t4 = is_t4_wanted(arguments);
  const clt_recording *r = cli_load_recordings((const char *const *)arguments->positional, 1)[0];
  cli_check((as_t4 ? clt_t4_write : clt_kernel_tuner_write)(path, &(clt_results){.recording = r}, &cli_error));
  char *loss = NULL;
  cli_check(clt_recording_loss(&loss, r, as_t4, &cli_error));
  if (*loss && !cli_given(arguments, "quiet")) cli_message(CLI_FOUND, "note: '%s' lacks %s", path, loss);
  free(loss);
  return cli_answer_line(
      arguments,
      json_pack("{s:o, s:I, s:o, s:o}", "file", clt_json_text(path), "configurations", (json_int_t)r->n, "kernel",
                clt_json_text(r->kernel), "device", clt_json_text(r->device)),
      "wrote {configurations} configuration{configurations:s} to {file}");
}

static const cli_flag convert_flags[] = {
    {"output", "FILE", "the file to write, compressed if the name ends in .gz; also -o FILE"},
    FLAG_FILE_FORMAT,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_convert = {
    .name = "convert",
    .summary = "writes other tuners' results as T4 or as a cache file of Kernel Tuner",
    .synopsis = "FILE -o FILE [--format t4|kernel-tuner]",
    .description =
        "Reads results of clatune, Kernel Tuner, CLTune, CLBlast's tuners or KTT, plain or gzip, and writes them in "
        "another format. The format of the input is detected from its content.",
    CLI_FLAGS(convert_flags),
    .n_positional = {1, 1},
    .run = run_convert,
};
