/* search/searchers.h - the entries of the table in searchers.c. */
#ifndef CLT_SEARCH_SEARCHERS_H
#define CLT_SEARCH_SEARCHERS_H

#include <clatune/sys/searcher.h>

extern const clt_searcher_type clt_searcher_random;
extern const clt_searcher_type clt_searcher_exhaustive;
extern const clt_searcher_type clt_searcher_two_stage;
extern const clt_searcher_type clt_searcher_hill_climb;
extern const clt_searcher_type clt_searcher_local;
extern const clt_searcher_type clt_searcher_annealing;
extern const clt_searcher_type clt_searcher_genetic;
extern const clt_searcher_type clt_searcher_ants;
extern const clt_searcher_type clt_searcher_groups;
extern const clt_searcher_type clt_searcher_surrogate;

/* How many evaluations the searcher may ask for: the budget without the one of `first`. */
static inline int64_t clt_search_allowance(const clt_search_setup *setup) {
  if (setup->budget == INT64_MAX || setup->first == CLT_CONFIG_NONE) return setup->budget;
  return setup->budget > 0 ? setup->budget - 1 : 0;
}

#endif
