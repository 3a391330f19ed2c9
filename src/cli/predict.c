#include "lookup/predictor.h"
#include <clatune/sys/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/subject.h"

#define N_PREDICTIONS 16384 /* one by one: some hundredths of a second */

typedef struct ranking {
  clt_config *configs;
  clt_prediction *predictions;
  size_t n;
} ranking;

static json_t *to_json(const cli_subject *subject, const ranking *r) {
  json_t *list = json_array();
  for (size_t i = 0; i < r->n; i++) {
    const clt_prediction *p = &r->predictions[i];
    json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "configuration",
                                          cli_json_configuration(clt_instance_space(subject->instance), r->configs[i]),
                                          "options", cli_json_best_options(subject->instance, r->configs[i]), "time_s",
                                          clt_json_real(exp((double)p->log_cost)), "spread", clt_json_real(p->spread),
                                          "p_valid", clt_json_real(p->p_valid)));
  }
  return json_pack("{s:o}", "predictions", list);
}

static void print_text(const cli_subject *subject, const ranking *r) {
  char time[32];
  printf("%-12s %-8s %-8s configuration\n", "predicted", "spread", "p valid");
  for (size_t i = 0; i < r->n; i++) {
    const clt_prediction *p = &r->predictions[i];
    char *configuration = clt_config_string(clt_instance_space(subject->instance), r->configs[i]);
    printf("%-12s %-8.3g %-8.3g %s\n", cli_time(time, exp((double)p->log_cost)), p->spread, p->p_valid,
           configuration ? configuration : "?");
    free(configuration);
  }
}

/* A model file, a model to fit now, or the one that was trained. */
static int get_model(clt_model **out, const cli_arguments *arguments, const cli_subject *subject) {
  clt_error error = {0};
  size_t n_sizes;
  const char *model = cli_text(arguments, "model");
  if (model == NULL) return cli_trained_model(out, arguments, subject);
  if (clt_model_type_find(model)) return cli_fit(out, arguments, subject, model, false, &n_sizes);
  int rc = clt_model_load(out, clt_instance_space(subject->instance), subject->instance, model, &error);
  return rc ? cli_report(&error) : 0;
}

static bool names_file(const char *model) { return model && clt_model_type_find(model) == NULL; }

static int fill(ranking *r, const clt_model *model, size_t top, bool sweep, clt_error *error) {
  return sweep ? clt_model_best(model, top, 0.5, NULL, 0, r->configs, r->predictions, &r->n, error)
               : clt_model_climb(model, top, 0.5, NULL, 0, N_PREDICTIONS, r->configs, r->predictions, &r->n, error);
}

static int rank(const cli_arguments *arguments, const cli_subject *subject, const clt_model *model, size_t top) {
  clt_error error = {0};
  ranking r = {calloc(top, sizeof *r.configs), calloc(top, sizeof *r.predictions), 0};
  int rc = 0;
  if (r.configs == NULL || r.predictions == NULL) {
    rc = cli_failure("out of memory");
  } else if (fill(&r, model, top, cli_given(arguments, "sweep") || top > N_PREDICTIONS, &error)) {
    rc = cli_report(&error);
  } else if (cli_given(arguments, "json")) {
    rc = cli_print_json(to_json(subject, &r));
  } else {
    print_text(subject, &r);
  }
  free(r.configs);
  free(r.predictions);
  return rc;
}

static int run_predict(const cli_arguments *arguments) {
  cli_subject subject;
  clt_model *model = NULL;
  int64_t top;
  int rc = cli_integer(&top, arguments, "top", 10, 1, 1000000);
  if (rc) return rc;
  bool for_none = names_file(cli_text(arguments, "model")) && !cli_given(arguments, "device");
  cli_device_need need = for_none ? CLI_DEVICE_IF_NAMED : CLI_DEVICE_KNOWN;
  rc = cli_subject_init(&subject, arguments, arguments->positional[0], need);
  if (rc) return rc;
  rc = get_model(&model, arguments, &subject);
  if (rc == 0) rc = rank(arguments, &subject, model, (size_t)top);
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
