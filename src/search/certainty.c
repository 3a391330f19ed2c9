#include "search/certainty.h"

#include <string.h>

static const clt_certainty table[] = {
#include "search/certainty_table.inc"
};

size_t clt_n_certainties(void) { return sizeof table / sizeof *table; }

const clt_certainty *clt_certainty_at(size_t index) { return index < clt_n_certainties() ? &table[index] : NULL; }

const clt_certainty *clt_certainty_find(const char *searcher, int64_t evaluations) {
  const clt_certainty *found = NULL;
  for (size_t i = 0; i < clt_n_certainties(); i++) {
    const clt_certainty *c = &table[i];
    if (strcmp(c->searcher, searcher) != 0 || c->evaluations > evaluations) continue;
    if (found == NULL || c->evaluations > found->evaluations) found = c;
  }
  return found;
}
