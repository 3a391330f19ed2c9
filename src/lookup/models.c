/* Models that were loaded once and are kept in memory, by the file that they came from. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "lookup/lookup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

typedef struct known {
  char *path;
  struct stat file; /* as it was when it was read */
  clt_model *model;
  clt_owned owned; /* what the model speaks of between look-ups */
  UT_hash_handle hh;
} known;

struct clt_models {
  known *all;
};

int clt_models_new(clt_models **out, clt_error *error) {
  *out = calloc(1, sizeof **out);
  return *out ? CLT_OK : clt_fail_memory(error);
}

void clt_owned_release(clt_owned *owned) {
  clt_instance_free(owned->instance);
  clt_problem_free(owned->problem);
  *owned = (clt_owned){0};
}

static void free_known(known *k) {
  clt_model_free(k->model);
  clt_owned_release(&k->owned);
  free(k->path);
  free(k);
}

void clt_models_free(clt_models *models) {
  known *k, *next;
  if (models == NULL) return;
  HASH_ITER(hh, models->all, k, next) {
    HASH_DEL(models->all, k);
    free_known(k);
  }
  free(models);
}

static bool same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The one of that file as it is now; an older one is forgotten. */
static known *find(clt_models *models, const char *path, const struct stat *file) {
  known *k;
  HASH_FIND_STR(models->all, path, k);
  if (k == NULL || same_file(&k->file, file)) return k;
  HASH_DEL(models->all, k);
  free_known(k);
  return NULL;
}

/* Takes model and what is owned. */
static int keep(clt_models *models, const char *path, const struct stat *file, clt_model *model, clt_owned *owned,
                clt_error *error) {
  known *k = calloc(1, sizeof *k);
  if (k) *k = (known){.path = strdup(path), .file = *file};
  if (k && k->path) {
    HASH_ADD_KEYPTR(hh, models->all, k->path, strlen(k->path), k);
    if (k->hh.tbl) {
      k->model = model;
      k->owned = *owned;
      *owned = (clt_owned){0};
      return CLT_OK;
    }
  }
  if (k) free_known(k);
  return clt_fail_memory(error);
}

static int use_known(known *k, const clt_instance *instance, clt_owned *owned, clt_model_use use, void *user,
                     clt_error *error) {
  if (clt_model_bind(k->model, instance, NULL)) return CLT_OK;
  int rc = use(user, k->model, error);
  if (owned == NULL) {
    clt_model_bind(k->model, k->owned.instance, NULL); /* as it was before, so it cannot fail */
    return rc;
  }
  clt_owned_release(&k->owned);
  k->owned = *owned;
  *owned = (clt_owned){0};
  return rc;
}

static int use_new(clt_models *models, const char *path, const struct stat *file, const clt_instance *instance,
                   clt_owned *owned, clt_model_use use, void *user, clt_error *error) {
  clt_model *model = NULL;
  int rc = clt_model_load(&model, clt_instance_space(instance), instance, path, NULL);
  if (rc) return rc == CLT_E_MEMORY ? clt_fail_memory(error) : CLT_OK;
  rc = use(user, model, error);
  if (rc || owned == NULL || keep(models, path, file, model, owned, error)) clt_model_free(model);
  return rc;
}

int clt_models_use(clt_models *models, const char *path, const clt_instance *instance, clt_owned *owned,
                   clt_model_use use, void *user, clt_error *error) {
  struct stat file;
  if (stat(path, &file)) return CLT_OK;
  known *k = find(models, path, &file);
  return k ? use_known(k, instance, owned, use, user, error)
           : use_new(models, path, &file, instance, owned, use, user, error);
}
