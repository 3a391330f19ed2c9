/* The table of models. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "model/model.h"

#define MOST_TYPES 32

extern const clt_model_type clt_model_ensemble, clt_model_trees, clt_model_average, clt_model_auto;

static const clt_model_type *types[MOST_TYPES] = {&clt_model_ensemble, &clt_model_trees, &clt_model_average,
                                                  &clt_model_auto};
static size_t n_types = 4;

size_t clt_n_models(void) { return n_types; }

const clt_model_type *clt_model_type_at(size_t index) { return index < n_types ? types[index] : NULL; }

const clt_model_type *clt_model_type_find(const char *name) {
  for (size_t i = 0; i < n_types; i++)
    if (strcmp(types[i]->name, name) == 0) return types[i];
  return NULL;
}

int clt_model_register(const clt_model_type *type, clt_error *error) {
  if (type->abi != CLT_MODEL_ABI)
    return clt_fail(error, CLT_E_ARGUMENT, "a model is made for interface %u, this clatune has %d", (unsigned)type->abi,
                    CLT_MODEL_ABI);
  if (!type->name || !type->summary || !type->fit || !type->predict || !type->save || !type->load || !type->bind ||
      !type->fini)
    return clt_fail(error, CLT_E_ARGUMENT, "a model lacks its name, its summary or a function");
  if (clt_model_type_find(type->name))
    return clt_fail(error, CLT_E_ARGUMENT, "there is a model '%s' already", type->name);
  if (n_types == MOST_TYPES) return clt_fail(error, CLT_E_RANGE, "there are %d models already", MOST_TYPES);
  types[n_types++] = type;
  return CLT_OK;
}

int clt_model_type_named(const clt_model_type **out, const char *name, clt_error *error) {
  *out = clt_model_type_find(name);
  if (*out) return CLT_OK;
  const char *names[MOST_TYPES];
  for (size_t i = 0; i < n_types; i++) names[i] = types[i]->name;
  const char *near = clt_nearest_name(name, names, n_types);
  if (near) return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; did you mean '%s'?", name, near);
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; the first of %zu is '%s'", name, n_types, names[0]);
}
