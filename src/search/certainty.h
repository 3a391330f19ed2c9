/* search/certainty.h - how sure a search may be of its result: what recorded searches of the same length missed.
 *
 * No probability of optimality is known that is calibrated on kernels it was not made from (docs/certainty.md), so none
 * is given. What can be said is how often searches on recorded spaces, where the optimum is known, missed something.
 * The table is written by benchmarks/miss_rates.py. */
#ifndef CLT_SEARCH_CERTAINTY_H
#define CLT_SEARCH_CERTAINTY_H

#include <stddef.h>
#include <stdint.h>

/* Recorded searches of one length by one searcher with its default options, without knowledge from elsewhere. */
typedef struct clt_certainty {
  const char *searcher;
  int64_t evaluations; /* the budget of each search */
  int spaces, searches;
  double tolerance; /* a search has missed something if the space's optimum is faster than its best by more than this */
  double missed;    /* share of the searches, 0 .. 1 */
  double mean_loss; /* of all searches, 1 - optimum / best found, 0 .. 1 */
} clt_certainty;

size_t clt_n_certainties(void);
const clt_certainty *clt_certainty_at(size_t index); /* NULL beyond the last */

/* The longest recorded searches by this searcher that have at most so many evaluations; NULL: none was recorded. */
const clt_certainty *clt_certainty_find(const char *searcher, int64_t evaluations);

#endif
