#include "search/search.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

#define MOST_REGISTERED 64

static const clt_searcher_type *const own[] = {
    &clt_searcher_two_stage,  &clt_searcher_surrogate, &clt_searcher_random,    &clt_searcher_exhaustive,
    &clt_searcher_hill_climb, &clt_searcher_local,     &clt_searcher_annealing, &clt_searcher_genetic,
    &clt_searcher_ants,       &clt_searcher_groups,
};
#define N_OWN (sizeof own / sizeof *own)

static const clt_searcher_type *registered[MOST_REGISTERED];
static size_t n_registered;

size_t clt_n_searchers(void) { return N_OWN + n_registered; }

const clt_searcher_type *clt_searcher_at(size_t index) {
  if (index < N_OWN) return own[index];
  return index < clt_n_searchers() ? registered[index - N_OWN] : NULL;
}

const clt_searcher_type *clt_searcher_find(const char *name) {
  for (size_t i = 0; i < clt_n_searchers(); i++)
    if (strcmp(clt_searcher_at(i)->name, name) == 0) return clt_searcher_at(i);
  return NULL;
}

int clt_searcher_register(const clt_searcher_type *type, clt_error *error) {
  if (type->abi != CLT_SEARCHER_ABI)
    return clt_fail(error, CLT_E_ARGUMENT, "the searcher was made for version %u of the interface, this is %d",
                    type->abi, CLT_SEARCHER_ABI);
  if (!type->name || !type->summary || !type->init || !type->ask || !type->tell || !type->fini)
    return clt_fail(error, CLT_E_ARGUMENT, "a searcher needs a name, a summary, init, ask, tell and fini");
  if (clt_searcher_find(type->name))
    return clt_fail(error, CLT_E_ARGUMENT, "there is a searcher '%.64s' already", type->name);
  if (n_registered == MOST_REGISTERED) return clt_fail(error, CLT_E_ARGUMENT, "there are too many searchers");
  registered[n_registered++] = type;
  return CLT_OK;
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
