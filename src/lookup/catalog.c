/* A catalog: open stores, and a cache of answers. Also finds keys of related kernels. */
#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "device/device.h"
#include "lookup/lookup.h"
#include "problem/data.h"
#include "problem/plan.h"
#include "store/pq.h"
#include "store/store.h"

/* --- texts --- */

/* The key of a text in the map: its hash, or the next number that is not the key of another text. *number: CLT_NO_TEXT
 * if the text is new. */
static uint64_t key_of(const clt_texts *texts, const char *text, size_t *number) {
  uint64_t key = clt_hash64(text, strlen(text)) >> 1; /* never UINT64_MAX, which is not a key */
  for (const uint64_t *place; (place = clt_map_find(&texts->numbers, key)); key++) {
    *number = (size_t)*place;
    if (strcmp(texts->all[*place], text) == 0) return key;
  }
  *number = CLT_NO_TEXT;
  return key;
}

size_t clt_texts_find(const clt_texts *texts, const char *text) {
  size_t number;
  key_of(texts, text, &number);
  return number;
}

size_t clt_texts_add(clt_texts *texts, const char *text) {
  size_t number;
  uint64_t key = key_of(texts, text, &number);
  if (number != CLT_NO_TEXT) return number;
  if (clt_grow(&texts->all, &texts->capacity, texts->n + 1, sizeof *texts->all)) return CLT_NO_TEXT;
  char *copy = strdup(text);
  uint64_t *place = copy ? clt_map_add(&texts->numbers, key, NULL) : NULL;
  if (place == NULL) return free(copy), CLT_NO_TEXT;
  *place = texts->n;
  texts->all[texts->n] = copy;
  return texts->n++;
}

void clt_texts_release(clt_texts *texts) {
  for (size_t i = 0; i < texts->n; i++) free(texts->all[i]);
  free(texts->all);
  clt_map_release(&texts->numbers);
  *texts = (clt_texts){0};
}

/* --- stores --- */

const char *clt_catalog_system_path(void) {
  const char *path = getenv("CLATUNE_SYSTEM_STORE");
  return path && path[0] ? path : CLATUNE_SYSTEM_STORE;
}

static int is_store_name(const struct dirent *entry) { return clt_ends_with(entry->d_name, ".sqlite"); }

int clt_public_results(char ***out, size_t *n, clt_error *error) {
  static const char *const places[] = {"../share/clatune/results", "../../share/clatune/results", NULL};
  const char *named = getenv("CLATUNE_PUBLIC_RESULTS");
  const bool is_named = named && named[0];
  char *folder = is_named ? strdup(named) : clt_find_near_library(places, R_OK);
  if (folder == NULL && !is_named) folder = clt_find_near_program(places, R_OK);
  struct dirent **entries = NULL;
  const int found = folder ? scandir(folder, &entries, is_store_name, alphasort) : 0; /* below 0: there is none */
  int rc = CLT_OK;
  *n = 0;
  *out = clt_new_array(found > 0 ? (size_t)found : 0, sizeof **out);
  if (*out == NULL) rc = clt_fail_memory(error);
  for (int i = 0; i < found; i++) {
    if (rc == CLT_OK && ((*out)[*n] = clt_path_join(folder, entries[i]->d_name)) == NULL) rc = clt_fail_memory(error);
    *n += rc == CLT_OK;
    free(entries[i]);
  }
  free(entries);
  free(folder);
  return rc;
}

static void forget_answers(clt_catalog *catalog) {
  for (size_t i = 0; i < catalog->questions.n; i++) clt_lookup_result_release(&catalog->answers[i]);
  clt_texts_release(&catalog->questions);
}

/* Reopens changed stores from .. to, and clears the cache of answers if a store appeared or changed. */
static int refresh_range(clt_catalog *catalog, size_t from, size_t to, clt_error *error) {
  for (size_t i = from; i < to; i++) {
    clt_catalog_store *s = &catalog->stores[i];
    uint64_t version = 0;
    /* Open a changed store again: it may have been replaced by another file, and a store that is not writable was
     * opened as unchanging. */
    const bool is_open = s->store && clt_store_version(s->store, &version, NULL) == CLT_OK;
    if (is_open && version == s->version) continue;
    clt_error why = {0};
    if (s->store) forget_answers(catalog);
    if (is_open && clt_pq_is_url(s->path)) { /* not a file */
      s->version = version;
      continue;
    }
    clt_store_free(s->store);
    s->store = NULL;
    int rc = clt_store_open_to_read(&s->store, NULL, s->path, &why);
    if (rc == CLT_OK) forget_answers(catalog);
    if (rc == CLT_OK) rc = clt_store_version(s->store, &s->version, &why);
    if (rc && rc != CLT_E_NOT_FOUND) return clt_fail(error, rc, "%s", why.message);
  }
  return CLT_OK;
}

static int refresh_stores(clt_catalog *catalog, clt_error *error) {
  return refresh_range(catalog, 0, catalog->n_private, error);
}

int clt_catalog_refresh_public(clt_catalog *catalog, clt_error *error) {
  return refresh_range(catalog, catalog->n_private, catalog->n_stores, error);
}

/* Clears the cache of answers if a model was trained. */
static void refresh_models(clt_catalog *catalog) {
  for (clt_catalog_store *s = catalog->stores; s < catalog->stores + catalog->n_stores; s++) {
    const uint64_t version = clt_file_version(s->models);
    if (version != s->models_version) forget_answers(catalog);
    s->models_version = version;
  }
}

int clt_catalog_new(clt_catalog **out, const char *const *stores, size_t n_stores, clt_error *error) {
  const char *const standard[] = {NULL, clt_catalog_system_path()};
  clt_catalog *catalog = calloc(1, sizeof *catalog);
  if (catalog == NULL) return clt_fail_memory(error);
  pthread_mutex_init(&catalog->mutex, NULL);
  char **public = NULL;
  size_t n_public = 0;
  int rc = stores ? CLT_OK : clt_public_results(&public, &n_public, error);
  if (stores == NULL) stores = standard, n_stores = 2;
  catalog->n_private = n_stores;
  catalog->stores = clt_new_array(n_stores + n_public, sizeof *catalog->stores);
  if (rc == CLT_OK && catalog->stores == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n_stores + n_public; i++) {
    clt_catalog_store *s = &catalog->stores[catalog->n_stores++];
    const char *path = i < n_stores ? stores[i] : public[i - n_stores];
    if (path && (s->path = strdup(path)) == NULL) rc = clt_fail_memory(error);
    if (rc == CLT_OK) rc = clt_predictor_folder(&s->models, path, error);
  }
  for (size_t i = 0; i < n_public; i++) free(public[i]);
  free(public);
  if (rc == CLT_OK) rc = refresh_stores(catalog, error);
  if (rc != CLT_OK) {
    clt_catalog_free(catalog);
    return rc;
  }
  *out = catalog;
  return CLT_OK;
}

void clt_catalog_free(clt_catalog *catalog) {
  if (catalog == NULL) return;
  for (size_t i = 0; i < catalog->n_stores; i++) {
    clt_store_free(catalog->stores[i].store);
    free(catalog->stores[i].models);
    free(catalog->stores[i].path);
  }
  forget_answers(catalog);
  clt_kept_models_release(&catalog->models);
  free(catalog->stores);
  free(catalog->answers);
  free(catalog->objective);
  pthread_mutex_destroy(&catalog->mutex);
  free(catalog);
}

int clt_catalog_set_objective(clt_catalog *catalog, const char *objective, clt_error *error) {
  char *copy = objective ? strdup(objective) : NULL;
  if (objective && copy == NULL) return clt_fail_memory(error);
  pthread_mutex_lock(&catalog->mutex);
  free(catalog->objective);
  catalog->objective = copy;
  forget_answers(catalog);
  pthread_mutex_unlock(&catalog->mutex);
  return CLT_OK;
}

/* --- looking up --- */

int clt_catalog_lookup_instance(clt_catalog *catalog, clt_lookup_result *out, const clt_instance *instance,
                                clt_error *error) {
  pthread_mutex_lock(&catalog->mutex);
  int rc = refresh_stores(catalog, error);
  refresh_models(catalog);
  if (rc == CLT_OK) rc = clt_catalog_answer(catalog, out, instance, NULL, error);
  pthread_mutex_unlock(&catalog->mutex);
  return rc;
}

static int copy_result(clt_lookup_result *out, const clt_lookup_result *result, clt_error *error) {
  clt_lookup_result copy = *result;
  copy.configuration = strdup(result->configuration);
  copy.options = strdup(result->options);
  copy.device = strdup(result->device);
  copy.sizes = strdup(result->sizes);
  copy.launches = clt_launch_sizes_copy(result->launches, result->n_launches);
  if (!copy.configuration || !copy.options || !copy.device || !copy.sizes || (copy.n_launches && !copy.launches)) {
    clt_lookup_result_release(&copy);
    return clt_fail_memory(error);
  }
  *out = copy;
  return CLT_OK;
}

void clt_lookup_result_release(clt_lookup_result *result) {
  free(result->configuration);
  free(result->options);
  free(result->device);
  free(result->sizes);
  free(result->launches);
  *result = (clt_lookup_result){.tier = CLT_TIER_DEFAULT};
}

/* Adds a number in base 16. Without printf, which is slow once a library has registered its own formats, as libquadmath
 * does. */
static void add_number(clt_text *text, uint64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  digits[--at] = ' ';
  do digits[--at] = "0123456789abcdef"[number & 15];
  while (number >>= 4);
  digits[--at] = '=';
  clt_text_add_bytes(text, digits + at, sizeof digits - at);
}

int clt_catalog_lookup(clt_lookup_result *out, clt_catalog *catalog, const char *problem_path, const clt_size *sizes,
                       size_t n_sizes, const clt_device_info *device, clt_error *error) {
  char *question = NULL;
  clt_text text = {0};
  const char *const parts[] = {problem_path, "\n", device->platform_name,  "\n",
                               device->name, "\n", device->driver_version, "\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) clt_text_add(&text, parts[i]);
  add_number(&text, device->compute_units);
  for (size_t i = 0; i < n_sizes; i++) {
    clt_text_add(&text, sizes[i].name);
    add_number(&text, (uint64_t)sizes[i].value);
  }
  int rc = clt_text_take(&question, &text, error);
  if (rc) return rc;
  pthread_mutex_lock(&catalog->mutex);
  rc = refresh_stores(catalog, error);
  size_t known = rc == CLT_OK ? clt_texts_find(&catalog->questions, question) : CLT_NO_TEXT;
  if (known != CLT_NO_TEXT && catalog->answers[known].is_public) {
    rc = clt_catalog_refresh_public(catalog, error);
    known = clt_texts_find(&catalog->questions, question);
  }
  if (known == CLT_NO_TEXT ||
      catalog->answers[known].tier >= CLT_TIER_PREDICTION) { /* other answers do not depend on models */
    refresh_models(catalog);
    known = clt_texts_find(&catalog->questions, question);
  }
  if (rc == CLT_OK && known == CLT_NO_TEXT) {
    clt_owned owned = {0};
    clt_lookup_result answer;
    rc = clt_problem_new(&owned.problem, problem_path, error);
    if (rc == CLT_OK) rc = clt_instance_new(&owned.instance, owned.problem, sizes, n_sizes, device, error);
    if (rc == CLT_OK) rc = clt_catalog_answer(catalog, &answer, owned.instance, &owned, error);
    clt_owned_release(&owned);
    if (rc == CLT_OK) {
      size_t n = catalog->questions.n + 1;
      if (clt_grow(&catalog->answers, &catalog->answers_capacity, n, sizeof *catalog->answers) == CLT_OK)
        known = clt_texts_add(&catalog->questions, question);
      if (known != CLT_NO_TEXT) {
        catalog->answers[known] = answer;
      } else {
        clt_lookup_result_release(&answer);
        rc = clt_fail_memory(error);
      }
    }
  }
  if (rc == CLT_OK) rc = copy_result(out, &catalog->answers[known], error);
  pthread_mutex_unlock(&catalog->mutex);
  free(question);
  return rc;
}

/* --- related keys --- */

/* Sum of |log(ratio)| over the sizes. INFINITY: the others lack a size, or two sizes differ and one of them is not
 * positive. */
static double sizes_distance(const char *sizes, const char *others) {
  double distance = 0;
  for (const char *at = sizes, *equals; (equals = strchr(at, '=')); at = equals + strcspn(equals, " ")) {
    at += *at == ' ';
    const size_t n = (size_t)(equals + 1 - at); /* of "name=" */
    int64_t own = strtoll(equals + 1, NULL, 10), other = 0;
    for (const char *with = others; with; with = strchr(with, ' ')) {
      with += *with == ' ';
      if (strncmp(with, at, n) != 0) continue;
      other = strtoll(with + n, NULL, 10);
      break;
    }
    if (own == other) continue;
    if (own <= 0 || other <= 0) return INFINITY;
    distance += fabs(log((double)other / (double)own));
  }
  return distance;
}

/* A key that is only a name, from a recording, matches every device of this name. */
static bool is_same_device(const char *key, const char *own) {
  const char *bar = strchr(own, '|');
  const size_t n = strlen(key);
  return strcmp(key, own) == 0 || (bar && strncmp(bar + 1, key, n) == 0 && bar[n + 1] == '|');
}

typedef struct related_walk {
  clt_related_list *list;
  clt_store *store;
  const clt_related_query *query;
} related_walk;

static int add_related(void *user, const clt_store_description *d) {
  const related_walk *w = user;
  const clt_related_query *q = w->query;
  clt_related_list *list = w->list;
  const bool same_text = q->own && strcmp(d->key.problem, q->own->problem) == 0;
  const bool same_kernel = same_text || (q->kernel && d->kernel && strcmp(d->kernel, q->kernel) == 0);
  const bool same_name =
      q->problem_name == NULL || (q->problem_name[0] && strcmp(d->problem_name, q->problem_name) == 0);
  if ((!same_kernel && !same_name) || (q->own && clt_store_same_key(&d->key, q->own))) return 0;
  if (clt_grow(&list->all, &list->capacity, list->n + 1, sizeof *list->all)) return CLT_E_MEMORY;
  clt_related *r = &list->all[list->n];
  r->store = w->store;
  r->number = list->n;
  r->same_text = same_text;
  r->same_kernel = same_kernel;
  r->same_device = q->own && is_same_device(d->key.device, q->own->device);
  r->same_driver = q->own && strcmp(d->key.driver, q->own->driver) == 0;
  r->distance = same_text ? 0 : sizes_distance(q->sizes, d->sizes);
  int rc = clt_store_description_copy(&r->d, d);
  list->n += rc == CLT_OK;
  return rc;
}

int clt_related_add(clt_related_list *list, clt_store *store, const clt_related_query *query, clt_error *error) {
  related_walk w = {list, store, query};
  const bool text_alone = query->problem_name && query->problem_name[0] == '\0' && query->kernel == NULL;
  return clt_store_each_key_of(store, text_alone ? query->own : NULL, query->counted, add_related, &w, error);
}

void clt_related_release(clt_related_list *list) {
  for (size_t i = 0; i < list->n; i++) clt_store_description_release(&list->all[i].d);
  free(list->all);
  *list = (clt_related_list){0};
}

int clt_related_instance(clt_instance **out, bool *another, const clt_related *related, const clt_problem *problem,
                         const clt_device_info *device, clt_error *error) {
  size_t capacity = clt_problem_n_sizes(problem) + 1, n = 0;
  clt_size *sizes = clt_new_array(capacity, sizeof *sizes);
  char *text = strdup(related->d.sizes), *rest = NULL, today[33];
  clt_error why = {0};
  *out = NULL;
  if (another) *another = false;
  if (sizes && text) {
    for (char *part = strtok_r(text, " ", &rest); part && n < capacity; part = strtok_r(NULL, " ", &rest)) {
      char *equals = strchr(part, '=');
      if (equals == NULL) continue;
      *equals = '\0';
      sizes[n++] = (clt_size){part, strtoll(equals + 1, NULL, 10)};
    }
    if (clt_instance_new(out, problem, sizes, n, device, &why)) *out = NULL;
    if (*out && (clt_instance_key(today, *out, &why) || strcmp(today, related->d.key.problem) != 0)) {
      /* the default configuration, which is part of the key, may differ between sizes */
      if (another) *another = clt_instance_reference_kind(*out) != CLT_REFERENCE_DEFAULT;
      clt_instance_free(*out);
      *out = NULL;
    }
  }
  bool no_memory = !sizes || !text || why.code == CLT_E_MEMORY;
  free(sizes);
  free(text);
  return no_memory ? clt_fail_memory(error) : CLT_OK;
}

/* --- all measurements of a problem --- */

static int add_places(clt_related_list *places, clt_store *store, clt_error *error) {
  const clt_related_query query = {.sizes = ""};
  const size_t before = places->n;
  const int rc = clt_related_add(places, store, &query, error);
  if (rc || places->n == before) return rc;
  return clt_store_weigh_devices(&places->all[before].d, places->n - before, sizeof *places->all, false, error);
}

int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error) {
  /* Search under all names: a copy of the problem with another name has the same keys, and only the latest name is
   * stored. If one key of a kernel does not belong to the problem, no key of that kernel does. */
  const clt_related *last = NULL;
  clt_related_list places = {0};
  clt_texts others = {0};
  int rc = refresh_stores(catalog, error);
  for (size_t i = 0; rc == CLT_OK && i < catalog->n_private; i++)
    if (catalog->stores[i].store) rc = add_places(&places, catalog->stores[i].store, error);
  clt_device_info *device = rc == CLT_OK ? malloc(sizeof *device) : NULL;
  if (rc == CLT_OK && device == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < places.n; i++) {
    const clt_related *place = &places.all[i];
    clt_instance *instance = NULL;
    bool another = false;
    char kernel[100]; /* as its voice says */
    snprintf(kernel, sizeof kernel, "%" PRId64 " %s", place->d.voice, place->d.kernel);
    if (clt_texts_find(&others, kernel) != CLT_NO_TEXT) continue;
    if (!clt_store_read_device(device, place->d.device_json, &place->d.key)) continue; /* it is not known */
    rc = clt_related_instance(&instance, &another, place, problem, device, error);
    const bool repeats = last && last->store == place->store && clt_store_same_key(&last->d.key, &place->d.key);
    if (rc == CLT_OK && instance && !repeats) {
      last = place;
      rc = visit(user, place, &instance, error);
    }
    if (another && place->d.kernel[0] && clt_texts_add(&others, kernel) == CLT_NO_TEXT) rc = clt_fail_memory(error);
    clt_instance_free(instance);
  }
  clt_texts_release(&others);
  free(device);
  clt_related_release(&places);
  return rc;
}
