/* session/options.h - the searcher and the evaluator of a session, and their options. */
#ifndef CLT_SESSION_OPTIONS_H
#define CLT_SESSION_OPTIONS_H

#include <clatune/problem.h>
#include <clatune/sys/option.h>

/* The names that a session uses: `chosen`, or, if that is NULL, the evaluator "command" for a program and "opencl" for
 * a kernel; the problem's searcher, else CLT_DEFAULT_SEARCHER. problem is nullable. */
const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem);
const char *clt_tune_searcher(const char *chosen, const clt_problem *problem);

/* The options of a plug-in: defaults, then those of the problem (nullable) that its table has, then the caller's. *out
 * is malloc'ed; *n_stated (nullable): how many were set. */
int clt_plugin_options(void **out, size_t *n_stated, const clt_option *table, size_t n_table, size_t options_size,
                       const clt_problem *problem, const clt_setting *settings, size_t n_settings, clt_error *error);

#endif
