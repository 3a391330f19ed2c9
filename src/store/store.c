/* Common to all types of stores: the list of types, the files' places, the checks of records, and the newest answer of
 * each configuration. */
#include "store/store.h"

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "device/device.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"
#include "store/pq.h"

clt_plugins clt_stores = {
    "a type of store", CLT_STORE_ABI, 0, {&clt_store_sqlite, &clt_store_memory, &clt_store_postgresql}};

int clt_store_register(const clt_store_type *type, clt_error *error) {
  return clt_plugin_register(&clt_stores, type, true, error);
}

/* --- the file's place --- */

/* The path of a store's file: absolute or beginning with "./"; "" for a type without files. path NULL:
 * $XDG_DATA_HOME/clatune/<file>, or ~/.local/share/clatune/<file> if the variable is unset or relative (XDG base
 * directory specification). A database's URL is unchanged. Creates nothing. */
static int resolve_path(char **out, const clt_store_type *type, const char *path, clt_error *error) {
  const char *file = type->standard_file, *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  bool has_data = data && data[0] == '/', has_home = home && home[0] == '/';
  if (clt_pq_is_url(path)) return (*out = strdup(path)) ? CLT_OK : clt_fail_memory(error);
  if (file && path == NULL && !has_data && !has_home)
    return clt_fail(error, CLT_E_STORE,
                    "no place for the store: neither XDG_DATA_HOME nor HOME is set; name a file with --store");
  if (file == NULL)
    *out = strdup("");
  else if (path)
    *out = path[0] == '/' ? strdup(path) : clt_format("./%s", path);
  else
    *out = has_data ? clt_format("%s/clatune/%s", data, file) : clt_format("%s/.local/share/clatune/%s", home, file);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_store_place(char **out, const char *path, clt_error *error) {
  return clt_pq_is_url(path) ? clt_pq_shown(out, path, error) : resolve_path(out, &clt_store_sqlite, path, error);
}

/* --- opening --- */

static int open_store(clt_store **out, const char *name, const char *path, bool to_read, clt_error *error) {
  const char *standard = clt_pq_is_url(path) ? "postgresql" : "sqlite";
  const clt_store_type *type = clt_plugin_find(&clt_stores, name ? name : standard);
  if (type == NULL) {
    char names[512] = "";
    for (size_t i = 0, length = 0; clt_stores.types[i] && length < sizeof names; i++)
      length += (size_t)snprintf(names + length, sizeof names - length, " '%s'", clt_plugin_name(&clt_stores, i));
    return clt_fail(error, CLT_E_ARGUMENT, "there is no store of type '%.64s'; choose one of%s", name, names);
  }
  clt_store *store = calloc(1, sizeof *store);
  if (store == NULL) return clt_fail_memory(error);
  int rc = resolve_path(&store->path, type, path, error);
  if (rc == CLT_OK && type->standard_file && !to_read) {
    char *folder = clt_path_folder(store->path);
    rc = folder ? clt_folder_make(folder, NULL) : CLT_E_MEMORY;
    if (rc)
      rc = rc == CLT_E_MEMORY ? clt_fail_memory(error)
                              : clt_fail_errno(error, CLT_E_STORE, "create the store's folder", folder);
    free(folder);
  }
  if (rc == CLT_OK && (store->state = clt_new_array(1, type->state_size)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) {
    store->type = type;
    rc = type->open(store->state, store->path, to_read, error);
  }
  if (rc == CLT_OK && clt_pq_is_url(path)) { /* the path is shown in messages, so without a password */
    char *shown = NULL;
    rc = clt_pq_shown(&shown, path, error);
    if (rc == CLT_OK) free(store->path);
    if (rc == CLT_OK) store->path = shown;
  }
  if (rc) {
    clt_store_free(store);
    return rc;
  }
  *out = store;
  return CLT_OK;
}

int clt_store_new(clt_store **out, const char *type, const char *path, clt_error *error) {
  return open_store(out, type, path, false, error);
}

int clt_store_open_to_read(clt_store **out, const char *type, const char *path, clt_error *error) {
  return open_store(out, type, path, true, error);
}

void clt_store_free(clt_store *store) {
  if (store == NULL) return;
  if (store->type) store->type->close(store->state);
  free(store->state);
  free(store->path);
  free(store);
}

const char *clt_store_path(const clt_store *store) { return store->path; }

int clt_store_version(clt_store *store, uint64_t *version, clt_error *error) {
  return store->type->transaction(store->state, CLT_STORE_NONE, version, error);
}

/* --- keys --- */

int clt_store_key_of_device(clt_store_key *key, const clt_device_info *device, clt_error *error) {
  clt_store_key made;
  memset(&made, 0, sizeof made);
  int length = clt_device_key(made.device, sizeof made.device, device);
  if (length < 0 || (size_t)length >= sizeof made.device)
    return clt_fail(error, CLT_E_RANGE, "the name of the device '%.64s' is too long", device->name);
  snprintf(made.driver, sizeof made.driver, "%s", device->driver_version);
  *key = made;
  return CLT_OK;
}

bool clt_store_read_device(clt_device_info *out, const char *json, const clt_store_key *key) {
  clt_store_key own;
  return clt_device_from_json(out, json, NULL) == CLT_OK && clt_store_key_of_device(&own, out, NULL) == CLT_OK &&
         strcmp(own.device, key->device) == 0 && strcmp(own.driver, key->driver) == 0;
}

int clt_store_key_device(clt_store_key *key, const clt_instance *instance, clt_error *error) {
  const clt_device_info *device = clt_instance_device(instance);
  return device ? clt_store_key_of_device(key, device, error)
                : clt_fail(error, CLT_E_ARGUMENT, "a key in the store needs a device");
}

int clt_store_key_init(clt_store_key *key, const clt_instance *instance, clt_error *error) {
  clt_store_key made;
  int rc = clt_store_key_device(&made, instance, error);
  if (rc == CLT_OK) rc = clt_instance_key(made.problem, instance, error);
  if (rc == CLT_OK) *key = made;
  return rc;
}

bool clt_store_same_key(const clt_store_key *a, const clt_store_key *b) {
  return strcmp(a->problem, b->problem) == 0 && strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0;
}

/* --- writing --- */

int clt_store_describe(clt_store *store, const clt_store_description *description, clt_error *error) {
  return store->type->add(store->state, description, NULL, NULL, error);
}

int clt_store_describe_instance(clt_store *store, const clt_store_key *key, const clt_instance *instance,
                                clt_error *error) {
  const clt_problem *problem = clt_instance_problem(instance);
  json_t *json = clt_device_json(clt_instance_device(instance));
  char *device = json_dumps(json, JSON_COMPACT), *sizes = clt_instance_sizes_text(instance), kernel[33];
  int rc = device && sizes ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_instance_kernel_key(kernel, instance, error);
  if (rc == CLT_OK)
    rc = clt_store_describe(store,
                            &(clt_store_description){.key = *key,
                                                     .problem_name = clt_problem_name(problem),
                                                     .problem_path = clt_problem_path(problem),
                                                     .sizes = sizes,
                                                     .device_json = device,
                                                     .kernel = kernel},
                            error);
  json_decref(json);
  free(device);
  free(sizes);
  return rc;
}

static bool usable_number(double x) { return isfinite(x) && x > 0; }

bool clt_record_plausible(const clt_store_record *record) {
  const clt_measurement *m = record->measurement;
  if (record->configuration == NULL || (unsigned)record->kind > CLT_RECORD_COMPARED) return false;
  if (record->kind == CLT_RECORD_ATTEMPT && m->reason == CLT_REASON_NONE) return false;
  if (m->n_runs > CLT_MAX_RUNS) return false;
  if (clt_measurement_correct(m) && !usable_number(m->time_s) && !isfinite(m->figure)) return false;
  if (isinf(m->energy_J) || m->energy_J < 0) return false;
#define IMPOSSIBLE_USE(member) || isinf(m->use.member) || m->use.member < 0
#define IMPOSSIBLE_STATE(member) || isinf(m->state.member) || m->state.member < 0
  if (false CLT_KERNEL_USE_TABLE(IMPOSSIBLE_USE) CLT_DEVICE_STATE_TABLE(IMPOSSIBLE_STATE)) return false;
  for (size_t i = 0; i < m->n_runs; i++)
    if (!usable_number(m->runs_s[i]) && !(isnan(m->runs_s[i]) && isfinite(m->figure))) return false;
  return true;
}

/* --- adding --- */

/* The origin belongs to an open store, not to a file: copies and restored backups of a file continue independently. */
static int draw_origin(clt_store *store, clt_error *error) {
  return clt_draw_hex(store->origin, sizeof store->origin - 1)
             ? CLT_OK
             : clt_fail_errno(error, CLT_E_STORE, "draw random numbers for the store", store->path);
}

int clt_store_add(clt_store *store, const clt_store_key *key, const clt_space *space, clt_record_kind kind,
                  const clt_measurement *measurement, clt_error *error) {
  const clt_store_description description = {.key = *key};
  clt_store_record record = {.kind = kind, .configuration = "", .measurement = measurement};
  char *text = NULL;
  if (!clt_record_plausible(&record))
    return clt_fail(error, CLT_E_ARGUMENT, "a measurement without a usable time or figure cannot be stored as correct");
  int rc = store->origin[0] ? CLT_OK : draw_origin(store, error);
  if (rc == CLT_OK) rc = clt_config_text(&text, space, measurement->config, error);
  if (rc) return rc;
  record.configuration = text;
  record.created_s = store->ahead_s != 0 ? (int64_t)(clt_now_s() + store->ahead_s) : (int64_t)time(NULL);
  record.origin = store->origin;
  record.sequence = ++store->sequence;
  record.own = true;
  const bool is_finalist = kind == CLT_RECORD_FINALIST || kind == CLT_RECORD_COMPARED;
  if (!is_finalist) store->comparison = 0;
  if (is_finalist && store->comparison == 0) store->comparison = record.sequence;
  record.comparison = store->comparison;
  rc = store->type->add(store->state, &description, &record, NULL, error);
  free(text);
  return rc;
}

void clt_store_begin_comparison(clt_store *store) { store->comparison = store->sequence + 1; }

/* --- reading --- */

typedef struct record_walk {
  const clt_config_reader *reader;
  clt_store_record_visit visit;
  void *user;
  int64_t newest;                 /* the largest number so far */
  int64_t before_s;               /* the store's */
  char text[CLT_MAX_CONFIG_TEXT]; /* a copy, because reading changes it */
} record_walk;

static int visit_record(void *user, const clt_store_description *none, const clt_store_record *record) {
  record_walk *w = user;
  (void)none;
  if (record->number > w->newest) w->newest = record->number;
  if (w->before_s && record->created_s >= w->before_s) return 0;
  clt_measurement m = *record->measurement;
  size_t bytes = clt_record_plausible(record) ? strnlen(record->configuration, sizeof w->text) : sizeof w->text;
  if (bytes < sizeof w->text) memcpy(w->text, record->configuration, bytes + 1);
  if (bytes == sizeof w->text || !clt_config_reader_read(w->reader, w->text, &m.config)) {
    m.config = CLT_CONFIG_NONE;
    return w->visit(w->user, record, &m);
  }
  if (!clt_measurement_correct(&m)) m.time_s = m.figure = NAN;
  if (!clt_measurement_correct(&m) || m.energy_J == 0) m.energy_J = NAN;
  return w->visit(w->user, record, &m);
}

/* A visitor that runs out of memory cannot set the error itself. */
static int end_walk(int rc, clt_error *error) {
  if (rc == CLT_E_MEMORY && error && error->code == 0) clt_fail_memory(error);
  return rc < 0 ? rc : CLT_OK;
}

static int walk_records(clt_store *store, clt_store_order order, const clt_store_key *key, const clt_space *space,
                        const char *configuration, int64_t *since, clt_store_record_visit visit, void *user,
                        clt_error *error) {
  clt_config_reader *reader = NULL;
  int rc = clt_config_reader_new(&reader, space, error);
  if (rc) return rc;
  record_walk w = {
      .reader = reader, .visit = visit, .user = user, .newest = since ? *since : 0, .before_s = store->before_s};
  rc = store->type->walk(store->state, order, key, configuration, w.newest, visit_record, &w, error);
  clt_config_reader_free(reader);
  if (rc >= 0 && since) *since = w.newest;
  return end_walk(rc, error);
}

int clt_store_walk(clt_store *store, clt_store_order order, const clt_store_key *key, const clt_space *space,
                   clt_store_record_visit visit, void *user, clt_error *error) {
  return walk_records(store, order, key, space, NULL, NULL, visit, user, error);
}

int clt_store_walk_words(clt_store *store, const clt_store_key *key, const clt_space *space, clt_config config,
                         clt_store_record_visit visit, void *user, clt_error *error) {
  char *text = NULL;
  int rc = clt_config_text(&text, space, config, error);
  if (rc == CLT_OK) rc = walk_records(store, CLT_STORE_OLDEST_FIRST, key, space, text, NULL, visit, user, error);
  free(text);
  return rc;
}

typedef struct kind_visit {
  clt_store_visit visit;
  void *user;
  size_t n_foreign;
} kind_visit;

static int visit_kind(void *user, const clt_store_record *record, const clt_measurement *m) {
  kind_visit *k = user;
  if (m->config == CLT_CONFIG_NONE) {
    k->n_foreign++;
    return 0;
  }
  return k->visit(k->user, record->kind, m);
}

int clt_store_each(clt_store *store, const clt_store_key *key, const clt_space *space, clt_store_visit visit,
                   void *user, size_t *n_foreign, clt_error *error) {
  kind_visit k = {visit, user, 0};
  const int rc = clt_store_walk(store, CLT_STORE_OLDEST_FIRST, key, space, visit_kind, &k, error);
  if (rc == CLT_OK && n_foreign) *n_foreign = k.n_foreign;
  return rc;
}

typedef struct key_walk {
  clt_store_key_visit visit;
  void *user;
} key_walk;

static int visit_key(void *user, const clt_store_description *description, const clt_store_record *none) {
  (void)none;
  return ((key_walk *)user)->visit(((key_walk *)user)->user, description);
}

int clt_store_each_key_of(clt_store *store, const clt_store_key *problem, bool counted, clt_store_key_visit visit,
                          void *user, clt_error *error) {
  key_walk w = {visit, user};
  const clt_store_order order = counted ? CLT_STORE_KEYS_COUNTED : CLT_STORE_KEYS;
  return end_walk(store->type->walk(store->state, order, problem, NULL, 0, visit_key, &w, error), error);
}

int clt_store_each_key(clt_store *store, bool counted, clt_store_key_visit visit, void *user, clt_error *error) {
  return clt_store_each_key_of(store, NULL, counted, visit, user, error);
}

typedef struct key_list {
  clt_store_description *all; /* texts owned */
  size_t n, capacity;
} key_list;

int clt_store_description_copy(clt_store_description *out, const clt_store_description *d) {
  clt_store_description copy = *d;
  const char **const texts[] = {&copy.problem_name, &copy.problem_path, &copy.sizes,
                                &copy.device_json,  &copy.tuning_json,  &copy.kernel};
  const size_t n_texts = sizeof texts / sizeof *texts;
  size_t bytes = 0;
  for (size_t i = 0; i < n_texts; i++) bytes += *texts[i] ? strlen(*texts[i]) + 1 : 1;
  char *at = malloc(bytes); /* one block for all texts, beginning with the first */
  if (at == NULL) return CLT_E_MEMORY;
  for (size_t i = 0; i < n_texts; i++) {
    const char *text = strcpy(at, *texts[i] ? *texts[i] : "");
    at += strlen(text) + 1;
    *texts[i] = text;
  }
  *out = copy;
  return CLT_OK;
}

void clt_store_description_release(clt_store_description *copy) { free((char *)copy->problem_name); }

static int collect_key(void *user, const clt_store_description *d) {
  key_list *list = user;
  if (clt_grow(&list->all, &list->capacity, list->n + 1, sizeof *list->all)) return CLT_E_MEMORY;
  int rc = clt_store_description_copy(&list->all[list->n], d);
  list->n += rc == CLT_OK;
  return rc;
}

int clt_store_keys_of(clt_store_description **out, size_t *n, clt_store *store, const clt_store_key *problem,
                      bool counted, clt_error *error) {
  key_list list = {0};
  int rc = clt_store_each_key_of(store, problem, counted, collect_key, &list, error);
  if (rc) clt_store_keys_free(list.all, list.n);
  if (rc == CLT_OK) *out = list.all;
  if (rc == CLT_OK) *n = list.n;
  return rc;
}

int clt_store_keys(clt_store_description **out, size_t *n, clt_store *store, bool counted, clt_error *error) {
  return clt_store_keys_of(out, n, store, NULL, counted, error);
}

void clt_store_keys_free(clt_store_description *keys, size_t n) {
  for (size_t i = 0; i < n; i++) clt_store_description_release(&keys[i]);
  free(keys);
}

/* --- the newest answer of each configuration --- */

typedef struct answer_walk {
  const clt_space *space;
  bool with_energy;
  int64_t first;  /* clt_first_note */
  clt_map places; /* indices of configurations in the answers */
  clt_store_answers found;
} answer_walk;

static int keep_newest(void *user, const clt_store_record *record, const clt_measurement *m) {
  answer_walk *w = user;
  clt_store_answers *found = &w->found;
  bool correct = clt_measurement_correct(m), is_attempt = record->kind == CLT_RECORD_ATTEMPT, is_new = false;
  if (m->config == CLT_CONFIG_NONE) {
    found->n_foreign++;
    return 0;
  }
  clt_first_note(&w->first, record);
  bool is_answer = record->kind == CLT_RECORD_SEARCH || (!correct && m->reason != CLT_REASON_OUT_OF_MEMORY);
  if ((!is_attempt && !is_answer) || clt_space_canonical(w->space, m->config) != m->config) return 0;
  uint64_t *place = clt_map_add(&w->places, m->config, &is_new);
  if (place == NULL || clt_grow(&found->all, &found->capacity, found->n + 1, sizeof *found->all)) return CLT_E_MEMORY;
  if (is_new) found->all[ *place = found->n++] = (clt_store_answer){.config = m->config};
  clt_store_answer *answer = &found->all[*place];
  if (is_attempt) return answer->n_attempts += record->voice == 0, 0;
  for (size_t i = 0; i < answer->n_words; i++)
    if (answer->words[i].voice == record->voice) return 0; /* by a newer record */
  if (answer->n_words == CLT_MOST_VOICES && record->voice != 0) return 0;
  clt_word *words = realloc(answer->words, (answer->n_words + 1) * sizeof *words);
  if (words == NULL) return CLT_E_MEMORY;
  answer->words = words;
  clt_measurement *copy = NULL;
  if (!w->with_energy || !correct || m->energy_J > 0) {
    copy = malloc(sizeof *copy);
    if (copy == NULL) return CLT_E_MEMORY;
    *copy = *m;
    copy->log = NULL; /* borrowed, up to 16 KiB each, and not needed */
  }
  words[answer->n_words++] = (clt_word){record->voice, correct, m->time_s, copy};
  return 0;
}

static int by_config(const void *a, const void *b) {
  clt_config x = ((const clt_store_answer *)a)->config, y = ((const clt_store_answer *)b)->config;
  return (x > y) - (x < y);
}

int clt_store_newest(clt_store_answers *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                     bool with_energy, int64_t *since, clt_error *error) {
  answer_walk w = {.space = space, .with_energy = with_energy, .first = CLT_NO_VOICE};
  int rc = walk_records(store, CLT_STORE_NEWEST_FIRST, key, space, NULL, since, keep_newest, &w, error);
  clt_belief most = CLT_CLAIMED;
  clt_map_release(&w.places);
  if (rc != CLT_OK) clt_store_answers_release(&w.found);
  for (clt_store_answer *a = w.found.all; a < w.found.all + w.found.n; a++) {
    if (a->n_words) a->chosen = clt_words_judge(&a->belief, a->words, a->n_words, w.first);
    if (a->belief > CLT_DISPUTED) a->claimed = a->words[a->chosen].m;
    if (a->belief > most) most = a->belief;
  }
  for (clt_store_answer *a = w.found.all; a < w.found.all + w.found.n; a++)
    if (a->belief >= CLT_BY_FIRST || most == CLT_CLAIMED) a->newest = a->claimed;
  w.found.has_known = most == CLT_KNOWN;
  if (w.found.n) qsort(w.found.all, w.found.n, sizeof *w.found.all, by_config);
  *out = w.found;
  return rc;
}

void clt_store_answers_release(clt_store_answers *answers) {
  for (size_t i = 0; i < answers->n; i++) {
    for (size_t k = 0; k < answers->all[i].n_words; k++) free((clt_measurement *)answers->all[i].words[k].m);
    free(answers->all[i].words);
  }
  free(answers->all);
  *answers = (clt_store_answers){0};
}
