/* store/best.h - the best known configuration of a key, the same for all who ask (docs/explanation/best-known.md). */
#pragma once

#include <clatune/store.h>

#include "measurement/measurement.h"

typedef struct clt_best_query {
  const clt_objective *objective;
  bool (*accepts)(void *user, clt_config config); /* nullable: only these configurations */
  void *user;
  bool believes;          /* every voice: to measure what it says */
  const int64_t *without; /* nullable: a voice that is not believed */
  int64_t only;           /* the only voice that counts; 0: all do */
  clt_config beside;      /* another configuration in the same comparison; CLT_CONFIG_NONE: none */
} clt_best_query;

typedef struct clt_best_known {
  clt_measurement measurement; /* without its log; config CLT_CONFIG_NONE: none is known */
  int64_t voice;               /* who measured it (clt_store_record): 0 here, or unknown */
  bool alone;                  /* voice is not 0, and no other agrees */
  bool others;                 /* others than you have measured, as far as was read */
  bool compared;               /* it was the best of a comparison; else the fastest of the search */
  clt_measurement beside;      /* query->beside in the newest comparison with the best, of which then `measurement` is,
                                  too; config CLT_CONFIG_NONE: none included both */
} clt_best_known;

/* Of a kernel's configuration that was not compared: only finalists' records show that there was such a check. */
#define CLT_UNCHECKED "no check on other inputs or sizes is known"

/* Of what was compared, what is known counts (words.h), and what the first voice says of a configuration until
 * two others agree on it. If nothing counts, the search's best does, unless it is better by a fifth than all that
 * others have measured: then the best without this voice. If one voice tips the answer, all that measured both vote. */
int clt_store_best(clt_best_known *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                   const clt_best_query *query, clt_error *error);

/* --- for doubts.c --- */

#define CLT_MOST_DOUBTED 16

/* The other voices that were heard, in the order of what was read; those beyond are not doubted. */
typedef struct clt_voices {
  int64_t first; /* clt_first_note */
  int64_t all[CLT_MOST_DOUBTED];
  size_t n;
} clt_voices;

/* The best without doubts, and as if n_without voices had said nothing. */
int clt_store_best_without(clt_best_known *out, clt_voices *voices, const int64_t *without, size_t n_without,
                           clt_store *store, const clt_store_key *key, const clt_space *space,
                           const clt_best_query *query, clt_error *error);
