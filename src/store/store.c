#include <clatune/sys/store.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/config_text.h"
#include "store/path.h"
#include "store/record.h"

static int unknown_type(const char *name, clt_error *error) {
  char names[256] = "";
  for (size_t i = 0, length = 0; i < clt_n_stores() && length < sizeof names; i++)
    length += (size_t)snprintf(names + length, sizeof names - length, " '%s'", clt_store_type_at(i)->name);
  return clt_fail(error, CLT_E_ARGUMENT, "there is no store of type '%.64s'; there are%s", name, names);
}

static int resolve_path(char **out, const clt_store_type *type, const char *path, bool to_read, clt_error *error) {
  if (type->standard_file == NULL) {
    *out = strdup("");
    return *out ? CLT_OK : clt_fail_memory(error);
  }
  char *standard = NULL;
  int rc = path ? CLT_OK : clt_standard_path(&standard, type->standard_file, error);
  if (rc == CLT_OK && to_read) rc = clt_absolute_path(out, path ? path : standard, error);
  if (rc == CLT_OK && !to_read) rc = clt_prepare_path(out, path ? path : standard, error);
  free(standard);
  return rc;
}

static int open_store(clt_store **out, const char *type_name, const char *path, bool to_read, clt_error *error) {
  const clt_store_type *type = clt_store_type_find(type_name ? type_name : "sqlite");
  if (type == NULL) return unknown_type(type_name, error);
  clt_store *store = calloc(1, sizeof *store);
  if (store == NULL) return clt_fail_memory(error);
  int rc = resolve_path(&store->path, type, path, to_read, error);
  if (rc) goto done;
  store->state = clt_new_array(1, type->state_size);
  if (store->state == NULL) {
    rc = clt_fail_memory(error);
    goto done;
  }
  store->type = type;
  rc = type->open(store->state, store->path, to_read, error);
done:
  if (rc) {
    clt_store_close(store);
  } else {
    *out = store;
  }
  return rc;
}

int clt_store_open(clt_store **out, const char *type, const char *path, clt_error *error) {
  return open_store(out, type, path, false, error);
}

int clt_store_open_to_read(clt_store **out, const char *type, const char *path, clt_error *error) {
  return open_store(out, type, path, true, error);
}

int clt_store_place(char **out, const char *path, clt_error *error) {
  return resolve_path(out, clt_store_type_find("sqlite"), path, true, error);
}

void clt_store_close(clt_store *store) {
  if (store == NULL) return;
  if (store->type) store->type->close(store->state);
  free(store->state);
  free(store->path);
  free(store);
}

const char *clt_store_path(const clt_store *store) { return store->path; }

static const char *text_or_none(const char *text) { return text ? text : ""; }

int clt_store_describe(clt_store *store, const clt_store_key *key, const char *problem_name, const char *problem_path,
                       const char *sizes, const char *device_json, clt_error *error) {
  const clt_store_description description = {.key = *key,
                                             .problem_name = text_or_none(problem_name),
                                             .problem_path = text_or_none(problem_path),
                                             .sizes = text_or_none(sizes),
                                             .device_json = text_or_none(device_json)};
  return store->type->describe(store->state, &description, error);
}

static bool usable_time(double time_s) { return isfinite(time_s) && time_s > 0; }

bool clt_record_plausible(clt_record_kind kind, const clt_measurement *m) {
  if ((unsigned)kind > CLT_RECORD_COMPARED) return false;
  if (kind == CLT_RECORD_ATTEMPT && m->reason == CLT_REASON_NONE) return false;
  if (m->n_runs > CLT_MAX_RUNS) return false;
  if (clt_measurement_correct(m) && !usable_time(m->time_s)) return false;
  if (isinf(m->energy_J) || m->energy_J < 0) return false;
  for (size_t i = 0; i < m->n_runs; i++)
    if (!usable_time(m->runs_s[i])) return false;
  return true;
}

int clt_store_add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                  const clt_measurement *measurement, clt_error *error) {
  if (!clt_record_plausible(kind, measurement))
    return clt_fail(error, CLT_E_ARGUMENT, "a measurement without a usable time cannot be stored as correct");
  char *text = NULL;
  int rc = clt_config_text(&text, space, measurement->config, error);
  if (rc) return rc;
  const clt_store_record record = {
      .kind = kind, .configuration = text, .created_s = (int64_t)time(NULL), .measurement = measurement};
  rc = store->type->add(store->state, key, &record, error);
  free(text);
  return rc;
}

typedef struct walk {
  const clt_config_reader *reader;
  clt_store_visit visit;
  void *user;
  size_t n_foreign;
  char text[CLT_MAX_CONFIG_TEXT]; /* scratch: reading changes it */
} walk;

static bool read_record(walk *w, const clt_store_record *record, clt_config *config) {
  if (record->configuration == NULL || !clt_record_plausible(record->kind, record->measurement)) return false;
  size_t bytes = strnlen(record->configuration, sizeof w->text);
  if (bytes == sizeof w->text) return false;
  memcpy(w->text, record->configuration, bytes + 1);
  return clt_config_reader_read(w->reader, w->text, config);
}

static int visit_record(void *user, const clt_store_record *record) {
  walk *w = user;
  clt_measurement measurement = *record->measurement;
  if (!read_record(w, record, &measurement.config)) {
    w->n_foreign++;
    return 0;
  }
  if (!clt_measurement_correct(&measurement)) measurement.time_s = NAN;
  if (!clt_measurement_correct(&measurement) || measurement.energy_J == 0) measurement.energy_J = NAN;
  return w->visit(w->user, record->kind, &measurement);
}

/* A visitor that runs out of memory has no error to say so with. */
static int complete(int rc, clt_error *error) {
  if (rc == CLT_E_MEMORY && error && error->code == 0) clt_fail_memory(error);
  return rc < 0 ? rc : CLT_OK;
}

typedef int (*walk_fn)(void *state, const clt_store_key *key, clt_store_record_visit visit, void *user,
                       clt_error *error);

static int walk_records(walk_fn records, clt_store *store, const clt_store_key *key, const clt_space *space,
                        clt_store_visit visit, void *user, size_t *n_foreign, clt_error *error) {
  clt_config_reader *reader = NULL;
  int rc = clt_config_reader_new(&reader, space, error);
  if (rc) return rc;
  walk w = {.reader = reader, .visit = visit, .user = user};
  rc = records(store->state, key, visit_record, &w, error);
  clt_config_reader_free(reader);
  if (rc >= 0 && n_foreign) *n_foreign = w.n_foreign;
  return complete(rc, error);
}

int clt_store_each(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit,
                   void *user, size_t *n_foreign, clt_error *error) {
  return walk_records(store->type->each, store, key, space, visit, user, n_foreign, error);
}

int clt_store_best(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit,
                   void *user, clt_error *error) {
  return walk_records(store->type->best, store, key, space, visit, user, NULL, error);
}

int clt_store_version(clt_store *store, uint64_t *version, clt_error *error) {
  return store->type->version(store->state, version, error);
}

int clt_store_each_key(clt_store *store, clt_store_key_visit visit, void *user, clt_error *error) {
  return complete(store->type->each_key(store->state, true, visit, user, error), error);
}

int clt_store_each_key_uncounted(clt_store *store, clt_store_key_visit visit, void *user, clt_error *error) {
  return complete(store->type->each_key(store->state, false, visit, user, error), error);
}
