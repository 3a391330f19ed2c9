#include "search/search.h"

clt_plugins clt_searchers = {
    "a searcher",
    CLT_SEARCHER_ABI,
    offsetof(clt_searcher_type, options),
    {&clt_searcher_two_stage, &clt_searcher_surrogate, &clt_searcher_random, &clt_searcher_exhaustive,
     &clt_searcher_hill_climb, &clt_searcher_local, &clt_searcher_annealing, &clt_searcher_genetic, &clt_searcher_ants,
     &clt_searcher_groups}};

const clt_searcher_type *clt_searcher_find(const char *name) { return clt_plugin_find(&clt_searchers, name); }

int clt_searcher_register(const clt_searcher_type *type, clt_error *error) {
  bool whole = type->summary && type->init && type->ask && type->tell && type->fini;
  return clt_plugin_register(&clt_searchers, type, whole, error);
}

double clt_note_value(const clt_note *notes, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(notes[i].name, name) == 0) return notes[i].value;
  return NAN;
}

static const clt_certainty certainties[] = {
#include "search/certainty_table.inc"
};

size_t clt_n_certainties(void) { return sizeof certainties / sizeof *certainties; }

const clt_certainty *clt_certainty_at(size_t index) { return index < clt_n_certainties() ? &certainties[index] : NULL; }

const clt_certainty *clt_certainty_find(const char *searcher, int64_t evaluations) {
  const clt_certainty *found = NULL;
  for (size_t i = 0; i < clt_n_certainties(); i++) {
    const clt_certainty *c = &certainties[i];
    if (strcmp(c->searcher, searcher) != 0 || c->evaluations > evaluations) continue;
    if (found == NULL || c->evaluations > found->evaluations) found = c;
  }
  return found;
}
