#include <clatune/model.h>
#include <stdio.h>

#include "cli/output.h"
#include "cli/setting_up.h"

static int answer(const char *path, const clt_model_accuracy *a, bool as_json) {
  if (as_json)
    return cli_print_json(json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "model", path, "rows", (json_int_t)a->n_rows,
                                    "failed_rows", (json_int_t)a->n_failed, "mean_relative_error",
                                    cli_json_real(a->mean_relative_error), "log_error_sd",
                                    cli_json_real(a->log_error_sd), "fit_s", cli_json_real(a->fit_s)));
  char time[32];
  printf("trained on          %zu rows, %zu of them failed\n", a->n_rows, a->n_failed);
  printf("mean relative error %.3g %% on rows not trained on\n", 100 * a->mean_relative_error);
  printf("took                %s\n", cli_time(time, a->fit_s));
  printf("model file          %s\n", path);
  return 0;
}

static int run(const cli_arguments *arguments) {
  cli_subject subject;
  clt_error error = {0};
  clt_model *model = NULL;
  clt_model_accuracy accuracy;
  size_t n_rows = 0;
  const char *path = cli_text(arguments, "output");
  if (path == NULL) return cli_usage("'clatune train' needs -o FILE: where to write the model");
  int rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_REQUIRED);
  if (rc) return rc;
  rc = cli_fit(&model, arguments, &subject, &n_rows);
  if (rc == 0 && clt_model_save(model, path, &error)) rc = cli_report(&error);
  if (rc == 0) {
    clt_model_accuracy_get(model, &accuracy);
    rc = answer(path, &accuracy, cli_given(arguments, "json"));
  }
  clt_model_free(model);
  cli_subject_release(&subject);
  return rc;
}

static const cli_flag flags[] = {CLI_FLAG_DEVICE,
                                 CLI_FLAG_SIZE,
                                 {"output", "FILE", "where to write the model; also -o FILE"},
                                 {"model-type", "NAME", "the model to fit (default ensemble)"},
                                 CLI_FLAG_STORE,
                                 CLI_FLAG_SEED,
                                 CLI_FLAG_JSON};

const cli_command cli_train = {
    .name = "train",
    .summary = "fits a model on stored measurements",
    .synopsis = "PROBLEM -o FILE [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Fits a model of run time and validity on all that the store holds of a problem at these sizes on this\n"
        "device, and writes it to a model file for 'clatune predict'. Measures nothing.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .model_options = true,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};
