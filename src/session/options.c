/* The searcher and the evaluator of a session, and their options. */
#include "session/loop.h"

#include <clatune/tune.h>

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/plugin.h"
#include "base/text.h"
#include "eval/evaluators.h"
#include "problem/load.h"
#include "search/search.h"

#define MAX_OPTION_NAMES 256

const char *clt_tune_evaluator(const char *chosen, const clt_problem *problem) {
  if (chosen) return chosen;
  return problem && clt_problem_is_command(problem) ? "command" : "opencl";
}

const char *clt_tune_searcher(const char *chosen, const clt_problem *problem) {
  if (chosen == NULL && problem) chosen = clt_problem_guidance(problem)->searcher;
  return chosen ? chosen : CLT_DEFAULT_SEARCHER;
}

/* Refuses options that no searcher and no evaluator has. Those of others than the chosen ones do no harm. */
static int check_strategy(const clt_problem *problem, clt_error *error) {
  const clt_plugins *const kinds[] = {&clt_searchers, &clt_evaluators};
  const char *names[MAX_OPTION_NAMES];
  size_t n = 0;
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < clt_n_plugins(kinds[k]); i++) {
      const clt_option_table table = clt_plugin_table(kinds[k], i);
      for (size_t o = 0; o < table.n && n < MAX_OPTION_NAMES; o++) names[n++] = table.options[o].name;
    }
  for (size_t i = 0; i < problem->guidance.n_settings; i++) {
    const char *name = problem->guidance.settings[i].name;
    size_t k = 0;
    while (k < n && strcmp(names[k], name) != 0) k++;
    if (k < n) continue;
    const char *near = clt_nearest_name(name, names, n);
    return clt_key_fail(&problem->source, "Strategy", CLT_E_FORMAT, error,
                        "no searcher and no evaluator has the option \"%s\"%s%s%s", name, CLT_DID_YOU_MEAN("\"", near));
  }
  return CLT_OK;
}

int clt_plugin_options(void **out, size_t *n_stated, const clt_option *table, size_t n_table, size_t options_size,
                       const clt_problem *problem, const clt_setting *settings, size_t n_settings, clt_error *error) {
  size_t n = 0, n_problem = problem ? problem->guidance.n_settings : 0;
  clt_setting *all = clt_new_array(n_problem + n_settings, sizeof *all);
  *out = clt_new_array(1, options_size);
  int rc = all && *out ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && problem) rc = check_strategy(problem, error);
  for (size_t i = 0; rc == CLT_OK && i < n_problem; i++) {
    clt_setting setting = problem->guidance.settings[i];
    for (size_t k = 0; k < n_table; k++)
      if (strcmp(table[k].name, setting.name) == 0) all[n++] = setting;
  }
  for (size_t i = 0; rc == CLT_OK && i < n_settings; i++) all[n++] = settings[i];
  if (rc == CLT_OK) rc = clt_options_parse(*out, options_size, table, n_table, all, n, error);
  if (n_stated) *n_stated = n;
  free(all);
  return rc;
}
