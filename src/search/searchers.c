#include "search/searchers.h"

#include <string.h>

static const clt_searcher_type *const table[] = {
    &clt_searcher_two_stage,  &clt_searcher_surrogate,  &clt_searcher_random,
    &clt_searcher_exhaustive, &clt_searcher_hill_climb, &clt_searcher_local,
    &clt_searcher_annealing,  &clt_searcher_genetic,    &clt_searcher_ants,
    &clt_searcher_groups,
};

size_t clt_n_searchers(void) { return sizeof table / sizeof *table; }

const clt_searcher_type *clt_searcher_at(size_t index) { return index < clt_n_searchers() ? table[index] : NULL; }

const clt_searcher_type *clt_searcher_find(const char *name) {
  for (size_t i = 0; i < clt_n_searchers(); i++)
    if (strcmp(table[i]->name, name) == 0) return table[i];
  return NULL;
}
