/* search/searchers.h - the entries of the table in searchers.c. */
#ifndef CLT_SEARCH_SEARCHERS_H
#define CLT_SEARCH_SEARCHERS_H

#include <clatune/sys/searcher.h>

/* A result. time_s is nothing where it failed. */
typedef struct clt_row {
  clt_config config;
  double time_s;
  bool failed;
} clt_row;

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

/* How many evaluations the searcher may ask for: the budget without what is evaluated before it is asked. */
static inline int64_t clt_search_allowance(const clt_search_setup *setup) {
  int64_t before = (int64_t)setup->n_evaluated;
  if (setup->budget == INT64_MAX) return setup->budget;
  return setup->budget > before ? setup->budget - before : 0;
}

/* Whether a canonical configuration is evaluated before the searcher is asked. */
static inline bool clt_search_is_evaluated(const clt_search_setup *setup, clt_config config) {
  for (size_t i = 0; i < setup->n_evaluated; i++)
    if (setup->evaluated[i] == config) return true;
  return false;
}

static inline void clt_search_note(clt_search_report *report, const char *name, double value) {
  if (report->n_notes < CLT_MOST_NOTES) report->notes[report->n_notes++] = (clt_note){name, value};
}

#endif
