#include "session/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/parts.h"

#define MAX_NAMES 256

const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem) {
  if (chosen) return chosen;
  return problem && clt_problem_is_command(problem) ? "command" : "opencl";
}

const char *clt_tune_searcher(const char *chosen, const clt_problem *problem) {
  const char *stated = problem ? clt_problem_searcher(problem) : NULL;
  return chosen ? chosen : stated ? stated : CLT_DEFAULT_SEARCHER;
}

static bool is_in(const clt_option *table, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(table[i].name, name) == 0) return true;
  return false;
}

static size_t add_names(const char **names, size_t n, const clt_option *table, size_t n_table) {
  for (size_t i = 0; i < n_table && n < MAX_NAMES; i++) names[n++] = table[i].name;
  return n;
}

static size_t all_names(const char **names) {
  size_t n = 0;
  for (size_t i = 0; i < clt_n_searchers(); i++)
    n = add_names(names, n, clt_searcher_at(i)->options, clt_searcher_at(i)->n_options);
  for (size_t i = 0; i < clt_n_evaluators(); i++)
    n = add_names(names, n, clt_evaluator_at(i)->options, clt_evaluator_at(i)->n_options);
  return n;
}

int clt_strategy_check(const clt_problem *problem, clt_error *error) {
  const char *names[MAX_NAMES];
  size_t n = all_names(names);
  for (size_t i = 0; i < clt_problem_n_options(problem); i++) {
    const char *name = clt_problem_option_at(problem, i).name;
    bool found = false;
    for (size_t k = 0; k < n && !found; k++) found = strcmp(names[k], name) == 0;
    if (found) continue;
    const char *near = clt_nearest_name(name, names, n);
    return clt_key_fail(&problem->source, "Strategy", CLT_E_FORMAT, error,
                        "no searcher and no evaluator has the option \"%s\"%s%s%s", name,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
  return CLT_OK;
}

int clt_strategy_parse(void *options, const clt_problem *problem, const clt_wished_options *wished, clt_error *error) {
  size_t n = 0, n_stated = problem ? clt_problem_n_options(problem) : 0;
  clt_setting *all = clt_new_array(n_stated + wished->n_settings, sizeof *all);
  if (all == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n_stated; i++) {
    clt_problem_option option = clt_problem_option_at(problem, i);
    if (is_in(wished->table, wished->n_table, option.name)) all[n++] = (clt_setting){option.name, option.value};
  }
  for (size_t i = 0; i < wished->n_settings; i++) all[n++] = wished->settings[i];
  int rc = clt_options_parse(options, wished->options_size, wished->table, wished->n_table, all, n, error);
  free(all);
  return rc;
}
