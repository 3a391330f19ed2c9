#include "cli/setting_up.h"

#include <clatune/predictor.h>
#include <clatune/sys/evaluator.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/known_device.h"
#include "cli/output.h"

static int select_device(clt_device_info *out, const char *text) {
  clt_error error = {0};
  return cli_select_device(out, text, &error) ? cli_report(&error) : 0;
}

int cli_choose_device(clt_device_info *out, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "device");
  return select_device(out, typed ? typed : getenv("CLATUNE_DEVICE"));
}

static int choose_host(clt_device_info *out, const char *text) {
  clt_error error = {0};
  size_t index = 0;
  clt_device_host(out);
  return clt_device_select(&index, out, 1, text, &error) ? cli_report(&error) : 0;
}

static int choose_device(cli_subject *subject, const cli_arguments *arguments, const char *text, cli_device_need need) {
  subject->device = malloc(sizeof *subject->device);
  if (subject->device == NULL) return cli_failure("out of memory");
  bool host = clt_problem_is_command(subject->problem) && (text == NULL || need != CLI_DEVICE_KNOWN);
  if (host) return choose_host(subject->device, text);
  if (need == CLI_DEVICE_KNOWN) return cli_choose_known_device(subject->device, arguments, text);
  return select_device(subject->device, text);
}

static int instantiate(cli_subject *subject, const cli_arguments *arguments) {
  clt_error error = {0};
  clt_size *sizes = NULL;
  size_t n_sizes = 0;
  int rc = cli_sizes(&sizes, &n_sizes, arguments);
  if (rc) return rc;
  int failed = clt_instance_new(&subject->instance, subject->problem, sizes, n_sizes, subject->device, &error);
  free(sizes);
  if (failed == CLT_E_NOT_FOUND) return cli_report(&error), CLI_USAGE;
  return failed ? cli_report(&error) : 0;
}

int cli_subject_load(cli_subject *out, const char *path) {
  clt_error error = {0};
  *out = (cli_subject){0};
  return clt_problem_load(&out->problem, path, &error) ? cli_report(&error) : 0;
}

int cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need) {
  const char *device = cli_text(arguments, "device");
  bool kernel = !clt_problem_is_command(subject->problem);
  if (device == NULL && need != CLI_DEVICE_IF_NAMED && kernel) device = getenv("CLATUNE_DEVICE");
  clt_error error = {0};
  int rc = 0;
  if (need == CLI_DEVICE_REQUIRED && clt_problem_check_defines(subject->problem, &error)) rc = cli_report(&error);
  if (rc == 0 && (device || need != CLI_DEVICE_IF_NAMED)) rc = choose_device(subject, arguments, device, need);
  if (rc == 0) rc = instantiate(subject, arguments);
  if (rc) cli_subject_release(subject);
  return rc;
}

int cli_subject_init(cli_subject *out, const cli_arguments *arguments, const char *path, cli_device_need need) {
  int rc = cli_subject_load(out, path);
  return rc ? rc : cli_subject_complete(out, arguments, need);
}

void cli_subject_release(cli_subject *subject) {
  clt_instance_free(subject->instance);
  clt_problem_free(subject->problem);
  free(subject->device);
  *subject = (cli_subject){0};
}

int cli_open_store(clt_store **out, const cli_arguments *arguments) {
  clt_error error = {0};
  return clt_store_open(out, "sqlite", cli_text(arguments, "store"), &error) ? cli_report(&error) : 0;
}

int cli_open_store_to_read(clt_store **out, const cli_arguments *arguments) {
  clt_error error = {0};
  int rc = clt_store_open_to_read(out, "sqlite", cli_text(arguments, "store"), &error);
  return rc && rc != CLT_E_NOT_FOUND ? cli_report(&error) : 0;
}

bool cli_has_store(const cli_arguments *arguments) {
  char *path = NULL;
  bool there = clt_store_place(&path, cli_text(arguments, "store"), NULL) == 0 &&
               (access(path, F_OK) == 0 || errno != ENOENT); /* what cannot be reached is for the store to explain */
  free(path);
  return there;
}

static void say_no_store(const cli_arguments *arguments, const char *more) {
  char *path = NULL;
  if (clt_store_place(&path, cli_text(arguments, "store"), NULL)) path = NULL;
  cli_failure("there is no store '%s' yet, so nothing is known%s", path ? path : "", more);
  free(path);
}

int cli_no_store(const cli_arguments *arguments) {
  say_no_store(arguments, "; 'clatune tune' and 'clatune sample' make it");
  return CLI_FAILURE;
}

void cli_note_no_store(const cli_arguments *arguments) {
  if (!cli_given(arguments, "quiet")) say_no_store(arguments, "");
}

void cli_free_recordings(clt_recording **recordings, size_t n) {
  for (size_t i = 0; recordings && i < n; i++) clt_recording_free(recordings[i]);
  free(recordings);
}

int cli_load_recordings(clt_recording ***out, const char *const *paths, size_t n) {
  clt_error error = {0};
  *out = calloc(n + 1, sizeof **out);
  if (*out == NULL) return cli_failure("out of memory");
  for (size_t i = 0; i < n; i++)
    if (clt_recording_load(&(*out)[i], paths[i], &error)) return cli_report(&error);
  return 0;
}

int cli_load_sources(clt_recording ***out, size_t *n, const cli_arguments *arguments) {
  const char **paths;
  *n = 0;
  if (cli_given(arguments, "no-transfer")) return 0;
  int rc = cli_texts(&paths, n, arguments, "learn-from");
  if (rc == 0) rc = cli_load_recordings(out, paths, *n);
  free(paths);
  return rc;
}

static int read_history(clt_history **out, const cli_arguments *arguments, const cli_subject *subject, bool own_size) {
  clt_error error = {0};
  clt_store *store = NULL;
  clt_history *history = NULL;
  int rc = clt_store_open_to_read(&store, "sqlite", cli_text(arguments, "store"), &error);
  if (rc == CLT_E_NOT_FOUND) return cli_no_store(arguments);
  if (rc == 0) rc = clt_history_read(&history, store, subject->instance, own_size, &error);
  clt_store_close(store);
  if (rc) return cli_report(&error);
  *out = history;
  if (clt_history_n_rows(history)) return 0;
  return cli_failure("the store holds no measurement of '%s'%s on this device; 'clatune sample' makes some",
                     clt_problem_name(subject->problem), own_size ? " at these sizes" : "");
}

int cli_fit(clt_model **out, const cli_arguments *arguments, const cli_subject *subject, const char *type,
            bool own_size, size_t *n_sizes) {
  clt_error error = {0};
  clt_history *history = NULL;
  clt_setting *settings = NULL;
  size_t n_settings = 0;
  int64_t seed;
  if (type == NULL) type = "auto";
  int rc = cli_integer(&seed, arguments, "seed", 1, 0, INT64_MAX);
  if (rc == 0) rc = cli_settings(&settings, &n_settings, arguments, "model", type);
  if (rc) return rc;
  rc = read_history(&history, arguments, subject, own_size);
  if (rc == 0 && clt_history_fit(out, history, type, settings, n_settings, (uint64_t)seed, 0, &error))
    rc = cli_report(&error);
  if (rc == 0) *n_sizes = clt_history_n_sizes(history);
  clt_history_free(history);
  free(settings);
  return rc;
}
