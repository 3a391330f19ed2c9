#include "cli/warm_start.h"

#include <clatune/predictor.h>
#include <stdlib.h>

#include "cli/output.h"

static int get_model(clt_model **out, const cli_tuning *t, const cli_arguments *arguments) {
  clt_error error = {0};
  size_t n_sizes;
  int rc = clt_predictor_load(out, cli_text(arguments, "store"), t->subject.instance, &error);
  if (rc == CLT_E_NOT_FOUND) return cli_fit(out, arguments, &t->subject, NULL, false, &n_sizes);
  return rc ? cli_report(&error) : 0;
}

int cli_warm_start(cli_tuning *t, const cli_arguments *arguments) {
  if (cli_given(arguments, "no-store")) return cli_usage("option '--warm-start' needs a store, for its model");
  int rc = get_model(&t->model, t, arguments);
  t->settings.model = t->model;
  return rc;
}
