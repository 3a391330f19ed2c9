#include <clatune/sys/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/subject.h"
#include "model/model.h"

#define N_PREDICTIONS 16384 /* one by one: some hundredths of a second */

static int print_predictions(const clt_instance *instance, const clt_config *configs, const clt_prediction *predictions,
                             size_t n, bool as_json) {
  const clt_space *space = clt_instance_space(instance);
  json_t *list = json_array();
  char time[32];
  if (!as_json) printf("%-12s %-8s %-8s configuration\n", "predicted", "spread", "p valid");
  for (size_t i = 0; i < n; i++) {
    const clt_prediction *p = &predictions[i];
    double time_s = exp((double)p->log_cost);
    if (as_json) {
      json_array_append_new(
          list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "configuration", cli_json_configuration(space, configs[i]),
                          "options", cli_json_best_options(instance, configs[i]), "time_s", clt_json_real(time_s),
                          "spread", clt_json_real(p->spread), "p_valid", clt_json_real(p->p_valid)));
    } else {
      char *configuration = clt_config_string(space, configs[i]);
      printf("%-12s %-8.3g %-8.3g %s\n", cli_time(time, time_s), p->spread, p->p_valid,
             configuration ? configuration : "?");
      free(configuration);
    }
  }
  if (as_json) return cli_print_json(json_pack("{s:o}", "predictions", list));
  json_decref(list);
  return 0;
}

static int run_predict(const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "model");
  bool is_file = typed && clt_model_type_find(typed) == NULL;
  cli_subject subject;
  clt_model *model = NULL;
  clt_error error = {0};
  size_t n_sizes, n = 0;
  int64_t top;
  int rc = cli_integer(&top, arguments, "top", 10, 1, 1000000);
  if (rc) return rc;
  cli_device_need need = is_file && !cli_given(arguments, "device") ? CLI_DEVICE_IF_NAMED : CLI_DEVICE_KNOWN;
  rc = cli_subject_init(&subject, arguments, arguments->positional[0], need);
  if (rc) return rc;
  const clt_space *space = clt_instance_space(subject.instance);
  if (typed == NULL)
    rc = cli_trained_model(&model, arguments, &subject);
  else if (!is_file)
    rc = cli_fit(&model, arguments, &subject, typed, false, &n_sizes);
  else if (clt_model_load(&model, space, subject.instance, typed, &error))
    rc = cli_report(&error);
  bool sweep = cli_given(arguments, "sweep") || top > N_PREDICTIONS;
  clt_config *configs = calloc((size_t)top, sizeof *configs);
  clt_prediction *predictions = calloc((size_t)top, sizeof *predictions);
  if (rc == 0 && (configs == NULL || predictions == NULL)) rc = cli_failure("out of memory");
  if (rc == 0 &&
      (sweep ? clt_model_best(model, (size_t)top, 0.5, NULL, 0, configs, predictions, &n, &error)
             : clt_model_climb(model, (size_t)top, 0.5, NULL, 0, N_PREDICTIONS, configs, predictions, &n, &error)))
    rc = cli_report(&error);
  if (rc == 0) rc = print_predictions(subject.instance, configs, predictions, n, cli_given(arguments, "json"));
  free(configs);
  free(predictions);
  clt_model_free(model);
  cli_subject_release(&subject);
  return rc;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    {"model", "FILE|NAME",
     "a model file of 'clatune train', or a model to fit now on stored rows (default: what\n"
     "'clatune train' has kept; where there is none, 'auto' is fitted now)"},
    {"top", "K", "how many configurations to print (default 10)"},
    {"sweep", NULL, "predicts every configuration of a large space, too (default: climbs to the best)"},
    CLI_FLAG_STORE,
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_predict = {
    .name = "predict",
    .summary = "prints the configurations that a model predicts to be best",
    .synopsis = "PROBLEM [--model FILE|NAME] [--top K] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Predicts run times and prints the configurations that would be best, those that would probably fail\n"
        "last; also for sizes at which nothing was measured, where the model was trained on several. In a space\n"
        "that is too large to be swept at once it climbs from random configurations to the best neighbour, unless\n"
        "it is told to sweep. Measures nothing. With a model file, no device is needed; its limits apply if one is\n"
        "named.",
    CLI_FLAGS(flags),
    .model_options = true,
    .n_positional = {1, 1},
    .run = run_predict,
};
