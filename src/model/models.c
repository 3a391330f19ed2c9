#include <clatune/sys/model.h>
#include <string.h>

extern const clt_model_type clt_model_ensemble, clt_model_trees, clt_model_average, clt_model_auto;

static const clt_model_type *const table[] = {
    &clt_model_ensemble,
    &clt_model_trees,
    &clt_model_average,
    &clt_model_auto,
};

size_t clt_n_models(void) { return sizeof table / sizeof *table; }

const clt_model_type *clt_model_type_at(size_t index) { return index < clt_n_models() ? table[index] : NULL; }

const clt_model_type *clt_model_type_find(const char *name) {
  for (size_t i = 0; i < clt_n_models(); i++)
    if (strcmp(table[i]->name, name) == 0) return table[i];
  return NULL;
}
