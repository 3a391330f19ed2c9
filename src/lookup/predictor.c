/* Models kept beside a store. */
#include <clatune/predictor.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"
#include "lookup/lookup.h"
#include "store/store.h"

int clt_predictor_name(char out[33], const clt_instance *instance, clt_error *error) {
  char kernel[33];
  clt_store_key key;
  clt_hasher *hasher = clt_hasher_new();
  int rc = hasher ? clt_instance_kernel_key(instance, kernel, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_store_key_device(&key, instance, error);
  if (rc == CLT_OK) {
    clt_hasher_add_text(hasher, kernel);
    clt_hasher_add_text(hasher, key.device);
    clt_hasher_add_text(hasher, key.driver);
    clt_hasher_hex(hasher, out);
  }
  clt_hasher_free(hasher);
  return rc;
}

int clt_predictor_folder(char **out, const char *store_path, clt_error *error) {
  char *place = NULL;
  int rc = clt_store_place(&place, store_path, error);
  if (rc) return rc;
  *out = clt_format("%s.models", place);
  free(place);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_predictor_path(char **out, const char *store_path, const clt_instance *instance, clt_error *error) {
  char name[33], *folder = NULL;
  int rc = clt_predictor_name(name, instance, error);
  if (rc == CLT_OK) rc = clt_predictor_folder(&folder, store_path, error);
  if (rc) return rc;
  *out = clt_format("%s/%s", folder, name);
  free(folder);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_predictor_save(const clt_model *model, const char *store_path, const clt_instance *instance, clt_error *error) {
  char *path = NULL, *folder = NULL;
  int rc = clt_predictor_path(&path, store_path, instance, error);
  if (rc == CLT_OK) rc = clt_predictor_folder(&folder, store_path, error);
  if (rc == CLT_OK && mkdir(folder, 0700) && errno != EEXIST)
    rc = clt_fail_errno(error, CLT_E_IO, "create the folder of models", folder);
  if (rc == CLT_OK) rc = clt_model_save(model, path, error);
  free(path);
  free(folder);
  return rc;
}

int clt_predictor_load(clt_model **out, const char *store_path, const clt_instance *instance, clt_error *error) {
  char *path = NULL;
  int rc = clt_predictor_path(&path, store_path, instance, error);
  if (rc) return rc;
  if (access(path, F_OK))
    rc = clt_fail(error, CLT_E_NOT_FOUND, "no model of '%s' was trained for this device",
                  clt_problem_name(clt_instance_problem(instance)));
  if (rc == CLT_OK) rc = clt_model_load(out, clt_instance_space(instance), instance, path, error);
  free(path);
  return rc;
}
