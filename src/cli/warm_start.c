#include "cli/warm_start.h"

#include <clatune/predictor.h>
#include <stdlib.h>

#include "cli/output.h"

#define SUGGESTIONS \
  8 /* enough that one of them is nearly the best, few enough to cost little where the model is wrong */

static int get_model(clt_model **out, const cli_tuning *t, const cli_arguments *arguments) {
  clt_error error = {0};
  size_t n_sizes;
  int rc = clt_predictor_load(out, cli_text(arguments, "store"), t->subject.instance, &error);
  if (rc == CLT_E_NOT_FOUND) return cli_fit(out, arguments, &t->subject, NULL, false, &n_sizes);
  return rc ? cli_report(&error) : 0;
}

int cli_warm_start(cli_tuning *t, const cli_arguments *arguments) {
  clt_model *model = NULL;
  clt_error error = {0};
  if (cli_given(arguments, "no-store")) return cli_usage("option '--warm-start' needs a store, for its model");
  int rc = get_model(&model, t, arguments);
  if (rc) return rc;
  t->suggestions = calloc(SUGGESTIONS, sizeof *t->suggestions);
  if (t->suggestions == NULL) rc = cli_failure("out of memory");
  if (rc == 0 &&
      clt_model_best(model, SUGGESTIONS, 0.5, NULL, 0, t->suggestions, NULL, &t->settings.n_begin_with, &error))
    rc = cli_report(&error);
  t->settings.begin_with = t->suggestions;
  clt_model_free(model);
  return rc;
}
