#include "cli/cli.h"

#include <errno.h>
#include <unistd.h>

#include "device/device.h"
#include "format/format.h"
#include "lookup/lookup.h"
#include "model/model.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "store/pq.h"

/* --- devices --- */

int cli_find_device(clt_device_info *out, const char *text, clt_error *error) {
  clt_device_info *devices = NULL;
  size_t n = 0, index = 0;
  int rc = cli_devices_here(&devices, &n, error);
  if (rc == 0) rc = clt_device_select(&index, devices, n, text, error);
  if (rc == 0) *out = devices[index];
  free(devices);
  return rc;
}

/* All *n_out devices that a text names. */
static clt_device_info *find_devices(size_t *n_out, const char *text) {
  clt_device_info *devices = NULL;
  size_t n = 0;
  cli_check(cli_devices_here(&devices, &n, &cli_error));
  size_t *indices = cli_new(n, sizeof *indices);
  clt_device_info *found = cli_new(n, sizeof *found);
  cli_check_device(clt_device_select_all(indices, n_out, devices, n, text, false, &cli_error));
  for (size_t i = 0; i < *n_out; i++) found[i] = devices[indices[i]];
  free(devices);
  return found;
}

void cli_choose_device(clt_device_info *out, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "device");
  cli_check_device(cli_find_device(out, typed ? typed : getenv("CLATUNE_DEVICE"), &cli_error));
}

#define MOST_DEVICES 1000 /* from a store, which may come from anywhere */

static void add_stored_devices(clt_device_info all[MOST_DEVICES], size_t *n, const char *path) {
  clt_store *store = NULL;
  clt_error error = {0};
  int rc = clt_store_open_to_read(&store, NULL, path, &error);
  if (rc == CLT_E_NOT_FOUND) return;
  if (rc) cli_report(&error);
  cli_check(clt_store_devices(all, n, MOST_DEVICES, store, &cli_error));
  clt_store_free(store);
}

/* A device of this machine or, if none matches or there is no driver, one that the store describes. A program has only
 * the host, as when it is tuned. */
static void choose_known_device(clt_device_info *out, const cli_arguments *arguments, const char *text, bool program) {
  clt_error not_here = {0};
  size_t n = 0, index = 0;
  if (program) clt_device_host(out);
  int rc = program ? clt_device_select(&index, out, 1, text, &not_here) : cli_find_device(out, text, &not_here);
  if (rc == 0) return;
  if (rc == CLT_E_MEMORY || rc == CLT_E_AMBIGUOUS) cli_report(&not_here);
  clt_device_info *all = cli_new(MOST_DEVICES, sizeof *all);
  /* The user's store first: it takes precedence. */
  const char *path = cli_text(arguments, "store");
  char **public = NULL;
  size_t n_public = 0;
  add_stored_devices(all, &n, path);
  if (path == NULL) add_stored_devices(all, &n, clt_catalog_system_path());
  if (path == NULL) cli_check(clt_public_results(&public, &n_public, &cli_error));
  for (size_t i = n_public; i-- > 0; free(public[i])) add_stored_devices(all, &n, public[i]);
  free(public);
  if (n == 0) cli_report(&not_here);
  rc = clt_device_select(&index, all, n, text, &cli_error);
  if (rc == CLT_E_DEVICE) cli_say(&not_here);
  if (rc == CLT_E_DEVICE || rc == CLT_E_AMBIGUOUS) cli_message(CLI_FAILURE, "among the devices in the store:");
  cli_check(rc);
  *out = all[index];
}

/* --- the subject --- */

static void free_problem(void *problem) { clt_problem_free(problem); }
static void free_instance(void *instance) { clt_instance_free(instance); }

char *cli_shipped_problem(const char *name) {
  char *installed = clt_format("../share/clatune/problems/%s", name),
       *built = clt_format("../../../kernels_cl/%s", name);
  const char *const names[] = {installed, built, NULL};
  char *found = installed && built ? clt_find_near_program(names, R_OK) : NULL;
  free(installed);
  free(built);
  return found;
}

/* If there is no such file, a name without a folder may be a shipped problem's. */
static clt_problem *load_problem(const char *path) {
  clt_problem *out;
  char *shipped = strchr(path, '/') || access(path, F_OK) == 0 ? NULL : cli_shipped_problem(path);
  cli_check(clt_problem_new(&out, shipped ? shipped : path, &cli_error));
  free(shipped);
  return cli_keep(out, free_problem);
}

cli_subject cli_subject_load(const cli_arguments *arguments, const char *path) {
  const char *cache = cli_text(arguments, "cache");
  cli_subject out = {.problem = load_problem(path)};
  if (cache == NULL) return out;
  const bool takes_both =
      strcmp(arguments->command->name, "tune") == 0 || strcmp(arguments->command->name, "measure") == 0;
  const bool both = takes_both && strcmp(cache, "both") == 0;
  if (strcmp(cache, "warm") != 0 && strcmp(cache, "cold") != 0 && !both)
    cli_usage("option '--cache' needs %s, not '%s'", takes_both ? "'warm', 'cold' or 'both'" : "'warm' or 'cold'",
              cache);
  if (clt_problem_is_command(out.problem))
    cli_usage("option '--cache' applies only to kernels; leave it out for a program");
  if (!both) clt_problem_set_cold_cache(out.problem, strcmp(cache, "cold") == 0);
  return out;
}

cli_subject cli_subject_with_cache(const cli_arguments *arguments, const cli_subject *subject, bool cold) {
  cli_subject out = *subject;
  size_t n_sizes = 0;
  const clt_size *sizes = cli_sizes(&n_sizes, arguments);
  out.problem = load_problem(arguments->positional[0]);
  clt_problem_set_cold_cache(out.problem, cold);
  cli_check(clt_instance_new(&out.instance, out.problem, sizes, n_sizes, out.device, &cli_error));
  cli_keep(out.instance, free_instance);
  return out;
}

void cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need) {
  const char *device = cli_text(arguments, "device");
  const bool program = clt_problem_is_command(subject->problem), quiet = cli_given(arguments, "quiet");
  const bool required = need == CLI_DEVICE_REQUIRED || need == CLI_DEVICES_REQUIRED;
  size_t n_sizes = 0, index = 0;
  if (device == NULL && need != CLI_DEVICE_IF_NAMED && !program) device = getenv("CLATUNE_DEVICE");
  if (required) cli_check(clt_problem_check_kernel(subject->problem, &cli_error));
  if (need == CLI_DEVICES_REQUIRED && !program) {
    subject->device = find_devices(&subject->n_devices, device);
  } else if (device || need != CLI_DEVICE_IF_NAMED) {
    subject->device = cli_new(1, sizeof *subject->device);
    subject->n_devices = 1;
    if (program && need != CLI_DEVICE_KNOWN) {
      clt_device_host(subject->device);
      cli_check(clt_device_select(&index, subject->device, 1, device, &cli_error));
    } else if (need == CLI_DEVICE_KNOWN) {
      choose_known_device(subject->device, arguments, device, program);
    } else {
      cli_check_device(cli_find_device(subject->device, device, &cli_error));
    }
  }
  const clt_size *sizes = cli_sizes(&n_sizes, arguments);
  int rc = clt_instance_new(&subject->instance, subject->problem, sizes, n_sizes, subject->device, &cli_error);
  if (rc == CLT_E_NOT_FOUND) cli_check_typed(rc); /* a size that the problem does not have */
  cli_check(rc);
  cli_keep(subject->instance, free_instance);
  if (required) clt_instance_warn(subject->instance, cli_log, (void *)&quiet);
}

cli_subject cli_subject_new(const cli_arguments *arguments, const char *path, cli_device_need need) {
  cli_subject out = cli_subject_load(arguments, path);
  cli_subject_complete(&out, arguments, need);
  return out;
}

/* --- the store, recordings and models --- */

static void free_store(void *store) { clt_store_free(store); }

clt_store *cli_open_store(const cli_arguments *arguments) {
  clt_store *out;
  cli_check(clt_store_new(&out, NULL, cli_text(arguments, "store"), &cli_error));
  return cli_keep(out, free_store);
}

clt_store *cli_open_store_to_read(const cli_arguments *arguments) {
  clt_store *out;
  clt_error error = {0};
  int rc = clt_store_open_to_read(&out, NULL, cli_text(arguments, "store"), &error);
  if (rc && rc != CLT_E_NOT_FOUND) cli_report(&error);
  return rc ? NULL : cli_keep(out, free_store);
}

clt_store *cli_read_store(const char *path) {
  clt_store *out;
  cli_check(clt_store_open_to_read(&out, NULL, path, &cli_error));
  return cli_keep(out, free_store);
}

bool cli_has_store(const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "store");
  char *path = NULL;
  if (clt_pq_is_url(typed)) return true;
  bool there = clt_store_place(&path, typed, NULL) == 0 &&
               (access(path, F_OK) == 0 || errno != ENOENT); /* opening the store reports other errors */
  free(path);
  return there;
}

static int say_no_store(const cli_arguments *arguments, const char *more) {
  char *path = NULL;
  if (clt_store_place(&path, cli_text(arguments, "store"), NULL)) path = NULL;
  int rc = cli_message(CLI_FAILURE, "there is no store '%s' yet%s", path ? path : "", more);
  free(path);
  return rc;
}

int cli_no_store(const cli_arguments *arguments) {
  cli_exit(say_no_store(arguments, strcmp(arguments->command->name, "family") == 0
                                       ? "; 'clatune family measure' creates it"
                                       : "; 'clatune tune' and 'clatune sample' create it"));
}

void cli_note_no_store(const cli_arguments *arguments) {
  if (!cli_given(arguments, "quiet")) say_no_store(arguments, "");
}

static void free_recording(void *recording) { clt_recording_free(recording); }

clt_recording **cli_load_recordings(const char *const *paths, size_t n) {
  clt_recording **out = cli_new(n, sizeof *out);
  for (size_t i = 0; i < n; i++) {
    cli_check(clt_recording_new(&out[i], paths[i], &cli_error));
    cli_keep(out[i], free_recording);
    if (out[i]->note) fprintf(stderr, "clatune: warning: %s\n", out[i]->note);
  }
  return out;
}

clt_recording **cli_load_sources(size_t *n, const cli_arguments *arguments) {
  const char **paths = cli_texts(n, arguments, "learn-from");
  if (cli_given(arguments, "no-transfer")) *n = 0;
  return cli_load_recordings(paths, *n);
}

static void free_model(void *model) { clt_model_free(model); }

clt_model *cli_fit(const cli_arguments *arguments, const cli_subject *subject, const char *type, bool own_size,
                   size_t *n_sizes) {
  const int64_t seed = cli_integer(arguments, "seed", 1, 0, INT64_MAX);
  size_t n_settings;
  clt_model *out;
  if (type == NULL) type = "auto";
  const clt_setting *settings = cli_settings(&n_settings, arguments, &clt_models, type);
  clt_store *store = cli_open_store_to_read(arguments);
  if (store == NULL) cli_no_store(arguments);
  cli_check(clt_predictor_fit(&out, n_sizes, store, subject->instance, own_size, type, settings, n_settings,
                              (uint64_t)seed, 0, &cli_error));
  return cli_keep(out, free_model);
}

clt_model *cli_trained_model(const cli_arguments *arguments, const cli_subject *subject) {
  clt_error error = {0};
  size_t n_sizes;
  clt_model *out;
  int rc = clt_predictor_load(&out, cli_text(arguments, "store"), subject->instance, &error);
  if (rc == CLT_E_NOT_FOUND) return cli_fit(arguments, subject, NULL, false, &n_sizes);
  if (rc) cli_report(&error);
  return cli_keep(out, free_model);
}

bool cli_has_words(const char *text, const char *words) {
  for (const char *word = words + strspn(words, " "); *word; word += strcspn(word, " "), word += strspn(word, " ")) {
    size_t n = strcspn(word, " ");
    const char *at = text;
    while (*at && (strcspn(at, " ") != n || strncmp(at, word, n) != 0)) at += strcspn(at, " "), at += strspn(at, " ");
    if (*at == '\0') return false;
  }
  return true;
}
