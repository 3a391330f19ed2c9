/* A searcher on the bench: a small space with constraints and aliases, a known objective, and a loop that answers in
 * any order. */
#ifndef TESTS_SEARCH_BENCH_H
#define TESTS_SEARCH_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after the headers above, which it needs */

#include "clatune/sys/searcher.h"

#define BENCH_CAPACITY 8192

/* The time of a configuration in seconds, NaN if it fails. */
typedef double (*bench_objective)(const clt_space *space, clt_config config);

typedef struct bench {
  const clt_searcher_type *type;
  clt_search_setup setup;
  const clt_setting *settings;
  size_t n_settings;
  bench_objective objective;
  bool has_first; /* the default configuration */
  clt_config first;
  const clt_config *warm_start; /* n_warm_start, canonical */
  size_t n_warm_start;
  size_t batch;
  size_t stop_after; /* requests, when the search is dropped; 0: goes to its end */
  bool shuffled;     /* answers come in random order, late ones too */
  /* filled */
  clt_config asked[BENCH_CAPACITY]; /* without earlier evaluations */
  size_t n_asked, n_failed;
  double best_s;
  clt_search_report report;
} bench;

clt_space *bench_space(bool with_aliases);
clt_space *bench_small_space(void); /* 288 configurations, with aliases */
clt_space *bench_orders(int n_items); /* and a switch: 2 n! configurations */
double bench_order(const clt_space *space, clt_config config);        /* optimum 1 ms: the reverse order, switched on */
double bench_bowl(const clt_space *space, clt_config config);         /* optimum 1 ms inside the space */
double bench_bowl_failing(const clt_space *space, clt_config config); /* the same, a region around large a*e fails */
double bench_optimum_s(const clt_space *space, bench_objective objective);

static inline void bench_begin_at(bench *b, clt_config config) {
  b->has_first = true;
  b->first = config;
}

/* The searcher's note; NaN: none of that name. */
static inline double bench_note(const bench *b, const char *name) {
  return clt_note_value(b->report.notes, b->report.n_notes, name);
}

/* Runs a searcher to its end, checking each request: in the space, standing for itself, never evaluated before. */
void bench_run(bench *b);

#endif
