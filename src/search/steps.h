/* search/steps.h - a search that goes step by step, asked in batches and answered in any order.
 *
 * A metaheuristic proposes a configuration and learns its time before it proposes the next one. Workers want several at
 * once, and their results come late and in any order. So proposal k is made when exactly the results of the proposals
 * 0 .. k-w have been learnt, in the order of proposing, w being the largest batch asked for so far. With batches of one
 * that is the algorithm of the textbook; with larger ones it works with knowledge that is w - 1 results old. What is
 * asked for depends neither on the order of the results nor on when they come, so that a search that was killed finds
 * its way again. The price: a late result holds up the request w places behind it. */
#ifndef CLT_SEARCH_STEPS_H
#define CLT_SEARCH_STEPS_H

#include <clatune/sys/searcher.h>

#include "search/draw.h"

/* An algorithm. Times are in seconds, INFINITY for a configuration that failed. */
typedef struct clt_steps_rules {
  /* A configuration that clt_steps_is_new. CLT_CONFIG_NONE: cannot tell before the next result is learnt; where none is
   * to come, a random configuration is taken. */
  int (*propose)(void *state, clt_config *out, clt_error *error);
  /* The result of a proposal, of a random configuration taken in its place, or of `first`. */
  int (*learn)(void *state, clt_config config, double time_s, clt_error *error);
} clt_steps_rules;

typedef struct clt_steps {
  const clt_space *space;
  const clt_steps_rules *rules;
  void *state;
  clt_draw draw;
  clt_rng rng;            /* for the algorithm; not that of draw */
  int64_t left;           /* may still be asked for */
  bool exhausted;         /* nothing new is left in the space */
  struct clt_step *steps; /* by order of asking */
  size_t n_asked, n_learnt, capacity, window;
  struct clt_step_of *known; /* configuration -> time */
} clt_steps;

/* steps is zeroed. rules and state outlive it. */
int clt_steps_init(clt_steps *steps, const clt_search_setup *setup, const clt_steps_rules *rules, void *state,
                   clt_error *error);
void clt_steps_release(clt_steps *steps);

/* The searcher's ask and tell, for its table: its state begins with its clt_steps. */
int clt_steps_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error);
int clt_steps_tell(void *state, clt_config config, double cost, const clt_measurement *measurement, clt_error *error);

/* The time of a configuration that stands for itself: INFINITY if it failed; NaN if its result has not been learnt, or
 * if it has not been asked for. */
double clt_steps_time(const clt_steps *steps, clt_config config);

/* Valid, standing for itself, and never asked for. */
bool clt_steps_is_new(const clt_steps *steps, clt_config config);

/* A random configuration that is new; CLT_CONFIG_NONE: there is none. */
int clt_steps_random(clt_steps *steps, clt_config *out, clt_error *error);

#endif
