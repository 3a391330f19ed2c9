/* All that the stores hold of a problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/lookup.h"

/* A key with the problem's name; whether it is of the problem as it stands, its hash tells. */
typedef struct entry {
  clt_store_key key;
  char *sizes;
  clt_device_info *device;
} entry;

typedef struct entries {
  const char *problem_name;
  entry *all;
  size_t n, capacity;
} entries;

static void release_entry(entry *e) {
  free(e->sizes);
  free(e->device);
}

static int note(void *user, const clt_store_description *d) {
  entries *list = user;
  if (strcmp(d->problem_name, list->problem_name) != 0) return 0;
  if (clt_grow(&list->all, &list->capacity, list->n + 1, sizeof *list->all)) return CLT_E_MEMORY;
  entry e = {d->key, strdup(d->sizes), malloc(sizeof *e.device)};
  if (e.sizes == NULL || e.device == NULL) return release_entry(&e), CLT_E_MEMORY;
  if (clt_device_from_json(e.device, d->device_json, NULL)) return release_entry(&e), 0; /* nobody described it */
  list->all[list->n++] = e;
  return 0;
}

static int visit_entry(clt_store *store, const clt_problem *problem, const entry *e, clt_place_visit visit, void *user,
                       clt_error *error) {
  clt_instance *instance = NULL;
  int rc = clt_stored_instance(&instance, problem, e->device, &e->key, e->sizes, error);
  if (rc || instance == NULL) return rc;
  rc = visit(user, store, &e->key, &instance, e->sizes, error);
  clt_instance_free(instance);
  return rc;
}

static int visit_store(clt_store *store, const clt_problem *problem, clt_place_visit visit, void *user,
                       clt_error *error) {
  entries list = {.problem_name = clt_problem_name(problem)};
  int rc = clt_store_each_key(store, false, note, &list, error);
  for (size_t i = 0; i < list.n; i++) {
    if (rc == CLT_OK) rc = visit_entry(store, problem, &list.all[i], visit, user, error);
    release_entry(&list.all[i]);
  }
  free(list.all);
  return rc;
}

int clt_catalog_each_place(clt_catalog *catalog, const clt_problem *problem, clt_place_visit visit, void *user,
                           clt_error *error) {
  int rc = clt_catalog_look(catalog, error);
  for (size_t i = 0; rc == CLT_OK && i < catalog->n_shelves; i++)
    if (catalog->shelves[i].store) rc = visit_store(catalog->shelves[i].store, problem, visit, user, error);
  return rc;
}

/* --- the best of each --- */

typedef struct listing {
  const char *objective;
  clt_catalog_visit visit;
  void *user;
} listing;

static int visit_best(void *user, clt_store *store, const clt_store_key *key, clt_instance **instance,
                      const char *sizes, clt_error *error) {
  listing *l = user;
  clt_objective *objective = NULL;
  clt_best best = {CLT_CONFIG_NONE, NAN, NAN};
  int rc = clt_objective_new(&objective, *instance, l->objective, error);
  if (rc == CLT_OK) rc = clt_best_of_key(&best, store, key, clt_instance_space(*instance), objective, error);
  if (rc == CLT_OK && best.config != CLT_CONFIG_NONE) {
    clt_lookup_result found = {.tier = CLT_TIER_EXACT};
    rc = clt_lookup_result_complete(&found, *instance, objective, &best, key->device, sizes, error);
    if (rc == CLT_OK) rc = l->visit(l->user, *instance, &found);
    clt_lookup_result_release(&found);
  }
  clt_objective_free(objective);
  return rc;
}

int clt_catalog_each(clt_catalog *catalog, const clt_problem *problem, clt_catalog_visit visit, void *user,
                     clt_error *error) {
  pthread_mutex_lock(&catalog->mutex);
  listing l = {catalog->objective, visit, user};
  int rc = clt_catalog_each_place(catalog, problem, visit_best, &l, error);
  pthread_mutex_unlock(&catalog->mutex);
  return rc < 0 ? rc : CLT_OK;
}
