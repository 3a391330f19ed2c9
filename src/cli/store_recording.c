/* What other tuners measured, or this one wrote to a file, as measurements of a problem in the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "cli/output.h"
#include "cli/store.h"
#include "cli/subject.h"
#include "device/device.h"
#include "format/recording.h"
#include "measurement/objective.h"
#include "store/store.h"

bool cli_is_recording(const char *path) {
  unsigned char start[2] = {0};
  FILE *file = fopen(path, "rb");
  size_t n = file ? fread(start, 1, sizeof start, file) : 0;
  if (file) fclose(file);
  return n == sizeof start && (start[0] == '{' || (start[0] == 0x1f && start[1] == 0x8b));
}

/* --- the instance that it is of --- */

/* The device that the file says of itself; where it does not, the typed one. */
static int choose_device_of(clt_device_info *out, const clt_recording *recording, const cli_arguments *arguments) {
  bool known = clt_device_from_json(out, clt_recording_device_json(recording), NULL) == 0 && out->platform_name[0] &&
               out->driver_version[0];
  if (!known) return cli_choose_device(out, arguments);
  if (!cli_given(arguments, "device")) return 0;
  return cli_usage("'%s' says itself that it was measured on %s; it is imported without --device",
                   clt_recording_name(recording), out->name);
}

static bool has_size(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++)
    if (strcmp(clt_problem_size(problem, i).name, name) == 0) return true;
  return false;
}

/* At the recording's sizes, then the typed ones. */
static int instantiate_for(clt_instance **out, const clt_problem *problem, const clt_recording *recording,
                           const cli_arguments *arguments) {
  clt_device_info device;
  clt_size *typed = NULL, *sizes = NULL;
  size_t n_typed = 0, n = 0;
  clt_error error = {0};
  int rc = choose_device_of(&device, recording, arguments);
  if (rc == 0) rc = cli_sizes(&typed, &n_typed, arguments);
  if (rc == 0 && (sizes = calloc(clt_recording_n_sizes(recording) + n_typed + 1, sizeof *sizes)) == NULL)
    rc = cli_failure("out of memory");
  for (size_t i = 0; rc == 0 && i < clt_recording_n_sizes(recording); i++) {
    clt_size size = clt_recording_problem_size(recording, i);
    bool is_typed = false;
    for (size_t k = 0; k < n_typed; k++) is_typed |= strcmp(typed[k].name, size.name) == 0;
    if (!is_typed && has_size(problem, size.name)) sizes[n++] = size;
  }
  for (size_t k = 0; rc == 0 && k < n_typed; k++) sizes[n++] = typed[k];
  if (rc == 0 && clt_instance_new(out, problem, sizes, n, &device, &error)) rc = cli_report(&error);
  free(sizes);
  free(typed);
  return rc;
}

/* --- adding --- */

/* What tells results apart: the configuration, how it ended and how long it took. */
static uint64_t result_hash(const clt_measurement *m) {
  struct {
    uint64_t config, reason;
    double time_s;
  } result = {m->config, (uint64_t)m->reason, clt_measurement_correct(m) ? m->time_s : 0};
  return clt_hash64(&result, sizeof result);
}

typedef struct stored_results {
  const clt_objective *objective;
  clt_map hashes;
} stored_results;

static int note_stored_result(void *user, clt_record_kind kind, const clt_measurement *m) {
  stored_results *stored = user;
  clt_measurement in_file;
  if (kind != CLT_RECORD_SEARCH) return 0;
  clt_objective_figure_as_time(stored->objective, m, &in_file);
  return clt_map_add(&stored->hashes, result_hash(&in_file), NULL) ? 0 : CLT_E_MEMORY;
}

/* What is not stored yet is collected in memory and merged, so that the store takes all of it or nothing. */
static int add_results(clt_store *store, const clt_instance *instance, const clt_recording_match *match,
                       const clt_recording *recording, cli_import_count *count, clt_error *error) {
  const clt_problem *problem = clt_instance_problem(instance);
  char *sizes = clt_instance_sizes_text(instance), *device = NULL;
  clt_store_key key;
  clt_store *memory = NULL;
  clt_objective *objective = NULL;
  uint64_t added = 0;
  int rc = clt_objective_new(&objective, instance, "", error);
  stored_results stored = {.objective = objective};
  if (rc == 0) rc = clt_store_key_init(&key, instance, error);
  if (rc == 0) rc = clt_store_each(store, &key, match->to, note_stored_result, &stored, NULL, error);
  if (rc == 0) rc = clt_store_open(&memory, "memory", NULL, error);
  for (size_t i = 0; rc == 0 && i < clt_recording_size(recording); i++) {
    clt_measurement m = *clt_recording_at(recording, i); /* its log stays the recording's */
    m.config = clt_recording_translate(match, m.config);
    if (m.config == CLT_CONFIG_NONE || !clt_space_contains(match->to, m.config))
      count->foreign++;
    else if (clt_map_find(&stored.hashes, result_hash(&m)) == NULL)
      rc = clt_store_add(memory, &key, match->to, CLT_RECORD_SEARCH, &m, error);
  }
  if (rc == 0) rc = clt_device_to_json(&device, clt_instance_device(instance), error);
  if (rc == 0 && sizes)
    rc = clt_store_describe(memory, &key, clt_problem_name(problem), clt_problem_path(problem), sizes, device, error);
  if (rc == 0) rc = clt_store_merge(store, memory, NULL, &added, error);
  count->added += added;
  clt_store_close(memory);
  clt_map_release(&stored.hashes);
  clt_objective_free(objective);
  free(device);
  free(sizes);
  return rc;
}

int cli_store_import_recording(const cli_arguments *arguments, const char *path, cli_import_count *count) {
  const char *problem_path = cli_text(arguments, "of");
  clt_problem *problem = NULL;
  clt_recording *recording = NULL;
  clt_instance *instance = NULL;
  clt_store *store = NULL;
  clt_recording_match match;
  clt_error error = {0};
  int rc = 0;
  if (problem_path == NULL) return cli_usage("'%s' is a recording: say by --of FILE which problem it is of", path);
  if (clt_problem_load(&problem, problem_path, &error) || clt_recording_load(&recording, path, &error))
    rc = cli_report(&error);
  if (rc == 0) rc = instantiate_for(&instance, problem, recording, arguments);
  if (rc == 0) {
    match = clt_recording_match_space(recording, clt_instance_space(instance));
    if (match.extra)
      rc = cli_failure("'%s' has a parameter '%s', which the problem lacks: it is of another problem",
                       clt_recording_name(recording), match.extra);
    else if (match.missing)
      rc = cli_failure("'%s' does not say what '%s' was: it is of another problem", clt_recording_name(recording),
                       match.missing);
  }
  if (rc == 0) rc = cli_open_store(&store, arguments);
  if (rc == 0 && add_results(store, instance, &match, recording, count, &error)) rc = cli_report(&error);
  clt_store_close(store);
  clt_instance_free(instance);
  clt_recording_free(recording);
  clt_problem_free(problem);
  return rc;
}
