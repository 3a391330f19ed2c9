/* session/strategy.h - options that the problem itself asks for ("Strategy"), under those that the caller sets. */
#ifndef CLT_SESSION_STRATEGY_H
#define CLT_SESSION_STRATEGY_H

#include <clatune/tune.h>

/* A plug-in's table, and what the caller sets of it. */
typedef struct clt_wished_options {
  const clt_option *table;
  size_t n_table, options_size;
  const clt_setting *settings;
  size_t n_settings;
} clt_wished_options;

/* Refuses options that no searcher and no evaluator has. Those of others than the chosen ones are none of our business.
 */
int clt_strategy_check(const clt_problem *problem, clt_error *error);

/* Fills a plug-in's options: defaults, then the problem's that are in its table, then the caller's. problem: nullable.
 */
int clt_strategy_parse(void *options, const clt_problem *problem, const clt_wished_options *wished, clt_error *error);

#endif
