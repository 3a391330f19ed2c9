#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "device/device.h"
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

/* All that a text stands for; *out is malloc'ed. */
static int find_devices(clt_device_info **out, size_t *n_out, const char *text, clt_error *error) {
  clt_device_info *devices = NULL;
  size_t n = 0;
  int rc = cli_devices_here(&devices, &n, error);
  size_t *indices = calloc(n + 1, sizeof *indices);
  clt_device_info *found = calloc(n + 1, sizeof *found);
  if (rc == 0 && (indices == NULL || found == NULL)) rc = clt_fail_memory(error);
  if (rc == 0) rc = clt_device_select_all(indices, n_out, devices, n, text, false, error);
  for (size_t i = 0; rc == 0 && i < *n_out; i++) found[i] = devices[indices[i]];
  free(devices);
  free(indices);
  if (rc) return free(found), rc;
  *out = found;
  return rc;
}

int cli_choose_device(clt_device_info *out, const cli_arguments *arguments) {
  clt_error error = {0};
  const char *typed = cli_text(arguments, "device");
  return cli_find_device(out, typed ? typed : getenv("CLATUNE_DEVICE"), &error) ? cli_report(&error) : 0;
}

#define MOST_DEVICES 1000 /* that are taken from a store, which may be anybody's */

/* Adds the devices that a store describes to *n of `all`; where both know one, what this store says counts. */
static int add_stored_devices(clt_device_info all[MOST_DEVICES], size_t *n, const char *path, clt_error *error) {
  clt_store *store = NULL;
  clt_store_description *keys = NULL;
  clt_error why = {0};
  size_t n_keys = 0;
  int rc = clt_store_open_to_read(&store, NULL, path, &why);
  if (rc == CLT_E_NOT_FOUND) return CLT_OK;
  if (rc) return *error = why, rc;
  rc = clt_store_keys(&keys, &n_keys, store, false, error);
  for (size_t k = 0; k < n_keys; k++) {
    clt_device_info device;
    char key[512], other[512];
    size_t i = 0;
    if (clt_device_from_json(&device, keys[k].device_json, NULL)) continue; /* nobody described it */
    device.platform_index = device.device_index = -1; /* its place on the machine that it was measured on */
    clt_device_key(key, sizeof key, &device);
    for (; i < *n; i++) {
      clt_device_key(other, sizeof other, &all[i]);
      if (strcmp(key, other) == 0) break;
    }
    if (i == MOST_DEVICES) continue;
    all[i] = device;
    if (i == *n) ++*n;
  }
  clt_store_keys_free(keys, n_keys);
  clt_store_free(store);
  return rc;
}

/* A device of this machine, and where none of them is meant, or there is no driver, one that the store describes. */
static int choose_known_device(clt_device_info *out, const cli_arguments *arguments, const char *text) {
  clt_error not_here = {0}, error = {0};
  size_t n = 0, index = 0;
  int rc = cli_find_device(out, text, &not_here);
  if (rc == 0) return 0;
  if (rc == CLT_E_MEMORY || rc == CLT_E_AMBIGUOUS) return cli_report(&not_here);
  clt_device_info *all = calloc(MOST_DEVICES, sizeof *all);
  if (all == NULL) return cli_failure("out of memory");
  /* The user's store last: where both know a device, what it says counts. */
  const char *path = cli_text(arguments, "store");
  rc = path ? CLT_OK : add_stored_devices(all, &n, clt_catalog_system_path(), &error);
  if (rc == 0) rc = add_stored_devices(all, &n, path, &error);
  if (rc == 0 && n == 0) {
    rc = cli_report(&not_here);
  } else if (rc || (rc = clt_device_select(&index, all, n, text, &error))) {
    if (error.code == CLT_E_DEVICE) cli_report(&not_here);
    if (error.code == CLT_E_DEVICE || error.code == CLT_E_AMBIGUOUS) cli_failure("what the store knows:");
    rc = cli_report(&error);
  } else {
    *out = all[index];
  }
  free(all);
  return rc;
}

/* --- the subject --- */

int cli_subject_load(cli_subject *out, const cli_arguments *arguments, const char *path) {
  clt_error error = {0};
  const char *cache = cli_text(arguments, "cache");
  *out = (cli_subject){0};
  if (clt_problem_new(&out->problem, path, &error)) return cli_report(&error);
  if (cache == NULL) return 0;
  int rc = 0;
  if (strcmp(cache, "warm") != 0 && strcmp(cache, "cold") != 0)
    rc = cli_usage("option '--cache' needs 'warm' or 'cold', not '%s'", cache);
  else if (clt_problem_is_command(out->problem))
    rc = cli_usage("option '--cache' is for kernels; a program's runs are its own");
  clt_problem_set_cold_cache(out->problem, strcmp(cache, "cold") == 0);
  if (rc) cli_subject_release(out);
  return rc;
}

int cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need) {
  clt_error error = {0};
  const char *device = cli_text(arguments, "device");
  const bool program = clt_problem_is_command(subject->problem);
  const bool required = need == CLI_DEVICE_REQUIRED || need == CLI_DEVICES_REQUIRED;
  clt_size *sizes = NULL;
  size_t n_sizes = 0, index = 0;
  int rc = 0;
  if (device == NULL && need != CLI_DEVICE_IF_NAMED && !program) device = getenv("CLATUNE_DEVICE");
  if (required && clt_problem_check_kernel(subject->problem, &error)) rc = cli_report(&error);
  if (rc == 0 && need == CLI_DEVICES_REQUIRED && !program) {
    if (find_devices(&subject->device, &subject->n_devices, device, &error)) rc = cli_report(&error);
  } else if (rc == 0 && (device || need != CLI_DEVICE_IF_NAMED)) {
    subject->device = malloc(sizeof *subject->device);
    subject->n_devices = 1;
    if (subject->device == NULL) {
      rc = cli_failure("out of memory");
    } else if (program && (device == NULL || need != CLI_DEVICE_KNOWN)) {
      clt_device_host(subject->device);
      if (clt_device_select(&index, subject->device, 1, device, &error)) rc = cli_report(&error);
    } else if (need == CLI_DEVICE_KNOWN) {
      rc = choose_known_device(subject->device, arguments, device);
    } else if (cli_find_device(subject->device, device, &error)) {
      rc = cli_report(&error);
    }
  }
  if (rc == 0) rc = cli_sizes(&sizes, &n_sizes, arguments);
  if (rc == 0 && clt_instance_new(&subject->instance, subject->problem, sizes, n_sizes, subject->device, &error)) {
    rc = cli_report(&error);
    if (error.code == CLT_E_NOT_FOUND) rc = CLI_USAGE; /* a size that the problem does not have */
  }
  free(sizes);
  bool quiet = cli_given(arguments, "quiet");
  if (rc == 0 && required) clt_instance_warn(subject->instance, cli_log, &quiet);
  if (rc) cli_subject_release(subject);
  return rc;
}

int cli_subject_init(cli_subject *out, const cli_arguments *arguments, const char *path, cli_device_need need) {
  int rc = cli_subject_load(out, arguments, path);
  return rc ? rc : cli_subject_complete(out, arguments, need);
}

void cli_subject_release(cli_subject *subject) {
  clt_instance_free(subject->instance);
  clt_problem_free(subject->problem);
  free(subject->device);
  *subject = (cli_subject){0};
}

/* --- the store, and what is learned from --- */

int cli_open_store(clt_store **out, const cli_arguments *arguments) {
  clt_error error = {0};
  return clt_store_new(out, NULL, cli_text(arguments, "store"), &error) ? cli_report(&error) : 0;
}

int cli_open_store_to_read(clt_store **out, const cli_arguments *arguments) {
  clt_error error = {0};
  int rc = clt_store_open_to_read(out, NULL, cli_text(arguments, "store"), &error);
  return rc && rc != CLT_E_NOT_FOUND ? cli_report(&error) : 0;
}

bool cli_has_store(const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "store");
  char *path = NULL;
  if (clt_pq_is_url(typed)) return true;
  bool there = clt_store_place(&path, typed, NULL) == 0 &&
               (access(path, F_OK) == 0 || errno != ENOENT); /* what cannot be reached is for the store to explain */
  free(path);
  return there;
}

static int say_no_store(const cli_arguments *arguments, const char *more) {
  char *path = NULL;
  if (clt_store_place(&path, cli_text(arguments, "store"), NULL)) path = NULL;
  int rc = cli_failure("there is no store '%s' yet, so nothing is known%s", path ? path : "", more);
  free(path);
  return rc;
}

int cli_no_store(const cli_arguments *arguments) {
  return say_no_store(arguments, "; 'clatune tune' and 'clatune sample' make it");
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
    if (clt_recording_new(&(*out)[i], paths[i], &error)) return cli_report(&error);
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

int cli_fit(clt_model **out, const cli_arguments *arguments, const cli_subject *subject, const char *type,
            bool own_size, size_t *n_sizes) {
  clt_error error = {0};
  clt_store *store = NULL;
  clt_setting *settings = NULL;
  size_t n_settings = 0;
  int64_t seed;
  if (type == NULL) type = "auto";
  int rc = cli_integer(&seed, arguments, "seed", 1, 0, INT64_MAX);
  if (rc == 0) rc = cli_settings(&settings, &n_settings, arguments, &clt_models, type);
  if (rc == 0) rc = cli_open_store_to_read(&store, arguments);
  if (rc == 0 && store == NULL) rc = cli_no_store(arguments);
  if (rc == 0 && clt_predictor_fit(out, n_sizes, store, subject->instance, own_size, type, settings, n_settings,
                                   (uint64_t)seed, 0, &error))
    rc = cli_report(&error);
  clt_store_free(store);
  free(settings);
  return rc;
}

int cli_trained_model(clt_model **out, const cli_arguments *arguments, const cli_subject *subject) {
  clt_error error = {0};
  size_t n_sizes;
  int rc = clt_predictor_load(out, cli_text(arguments, "store"), subject->instance, &error);
  if (rc == CLT_E_NOT_FOUND) return cli_fit(out, arguments, subject, NULL, false, &n_sizes);
  return rc ? cli_report(&error) : 0;
}
