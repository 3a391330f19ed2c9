/* clatune train and predict: fits a model to measurements, and prints its best predictions. */
#include "cli/cli.h"
#include "lookup/lookup.h"
#include "model/model.h"

/* --- train --- */

#define LEAST_IMPORTANCE 0.005 /* in "ranking" */

typedef struct parameter_importance {
  const char *parameter;
  double importance;
} parameter_importance;

static int compare_importance(const void *a, const void *b) {
  const parameter_importance *x = a, *y = b;
  return (x->importance < y->importance) - (x->importance > y->importance);
}

static const clt_line train_lines[] = {
    {"trained on", "{rows} measurement{rows:s} at {sizes} size{sizes:s}, {failed_rows} of them failed"},
    {"mean relative error",
     "[{?useless}useless: no better than the mean of the measurements"
     "|{?mean_relative_error>1}above 100 %, as a few predictions are far off,|{mean_relative_error:.3%}|not known] on "
     "measurements not trained on"
     "[{?sizes>1}{!calibrated_error>1}; {calibrated_error:.3%} between configurations of one size]"},
    {"importance", "[*ranking:{parameter} {importance:%}]"},
    {"took", "{fit_s:time}"},
    {"model file", "{model}"}};
static const clt_text_layout train_layout = CLT_TEXT_LAYOUT(0, 20, train_lines);

static int run_train(const cli_arguments *arguments) {
  const char *store = cli_text(arguments, "store"), *networks = cli_text(arguments, "fann");
  const char *path = cli_text(arguments, "output");
  const cli_subject subject = cli_subject_new(arguments, arguments->positional[0], CLI_DEVICE_KNOWN);
  clt_model_accuracy a;
  size_t n_sizes = 0;
  const clt_model *model =
      cli_fit(arguments, &subject, cli_text(arguments, "model"), cli_given(arguments, "size"), &n_sizes);
  /* Into the named file, else next to the store, where the other commands find it. */
  if (path) cli_check(clt_model_save(model, path, &cli_error));
  if (networks) cli_check(clt_model_save_networks(model, networks, &cli_error));
  if (path == NULL) {
    char *place;
    cli_check(clt_predictor_save(model, store, subject.instance, &cli_error));
    cli_check(clt_predictor_path(&place, store, subject.instance, &cli_error));
    path = cli_keep_memory(place);
  }
  const clt_space *space = clt_instance_space(subject.instance);
  size_t n = clt_space_n_parameters(space);
  double shares[CLT_MAX_PARAMETERS];
  parameter_importance ranked[CLT_MAX_PARAMETERS];
  cli_check(clt_model_importance(model, shares, &cli_error));
  for (size_t i = 0; i < n; i++) ranked[i] = (parameter_importance){clt_space_parameter(space, i)->name, shares[i]};
  qsort(ranked, n, sizeof *ranked, compare_importance);
  clt_model_accuracy_get(&a, model);
  json_t *importance = json_object(), *ranking = json_array();
  for (size_t i = 0; i < n; i++) {
    json_object_set_new(importance, ranked[i].parameter, clt_json_real(ranked[i].importance));
    if (ranked[i].importance < LEAST_IMPORTANCE) continue;
    json_array_append_new(ranking, json_pack("{s:s, s:o}", "parameter", ranked[i].parameter, "importance",
                                             clt_json_real(ranked[i].importance)));
  }
  return cli_answer(
      arguments,
      json_pack("{s:b, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "useless", clt_model_useless(&a), "model",
                clt_json_text(path), "rows", (json_int_t)a.n_rows, "failed_rows", (json_int_t)a.n_failed, "sizes",
                (json_int_t)n_sizes, "mean_relative_error", clt_json_real(a.mean_relative_error), "calibrated_error",
                clt_json_real(a.calibrated_error), "log_error_sd", clt_json_real(a.log_error_sd), "fit_s",
                clt_json_real(a.fit_s), "importance", importance, "ranking", ranking),
      &train_layout);
}

static const cli_flag train_flags[] = {
    CLI_FLAG_DEVICE,
    {"size", "NAME=N", "trains only on measurements at these sizes (default: at all sizes)"},
    {"output", "FILE", "the model file to write (default: next to the store); also -o FILE"},
    {"fann", "FOLDER", "also writes the networks there, as files of FANN (with --model ensemble)"},
    {"model", "NAME", "type of model: ensemble, trees, average, or auto, the best of them (default auto)"},
    CLI_FLAG_STORE,
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_train = {
    .name = "train",
    .summary = "fits a model on stored measurements",
    .synopsis = "PROBLEM [--model NAME] [-o FILE] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Fits a model of run time and validity to the stored measurements of a problem's kernel on this device, at all "
        "sizes. Without -o, the model is saved next to the store, where 'clatune predict', 'clatune lookup' and "
        "'clatune tune --warm-start' find it. Prints the model's error (with measurements at five sizes or more, at "
        "sizes not trained on) and each parameter's importance: its share of the variation of log time with all others "
        "fixed.",
    CLI_FLAGS(train_flags),
    .plugins = {&clt_models},
    .n_positional = {1, 1},
    .run = run_train,
};

/* --- predict --- */

#define N_PREDICTIONS 16384 /* predicted one by one in some hundredths of a second */

static int run_predict(const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "model");
  const bool is_file = typed && clt_model_type_find(typed) == NULL, as_json = cli_given(arguments, "json");
  const size_t top = (size_t)cli_integer(arguments, "top", 10, 1, 1000000);
  const bool sweep = cli_given(arguments, "sweep") || top > N_PREDICTIONS;
  const cli_device_need need = is_file && !cli_given(arguments, "device") ? CLI_DEVICE_IF_NAMED : CLI_DEVICE_KNOWN;
  const cli_subject subject = cli_subject_new(arguments, arguments->positional[0], need);
  const clt_space *space = clt_instance_space(subject.instance);
  clt_model *model = NULL, *read = NULL;
  size_t n_sizes, n = 0, i_shown;
  if (sweep && clt_space_valid(space) == INT64_MAX)
    cli_usage(
        "more than 2^63 configurations are valid, too many to predict each; leave out --sweep, with --top up to %d",
        N_PREDICTIONS);
  if (is_file)
    cli_check(clt_model_new_saved(&read, space, subject.instance, typed, &cli_error));
  else
    model = typed ? cli_fit(arguments, &subject, typed, false, &n_sizes) : cli_trained_model(arguments, &subject);
  if (read) model = read;
  clt_config *configs = cli_new(top, sizeof *configs);
  clt_prediction *predictions = cli_new(top, sizeof *predictions);
  cli_check(sweep ? clt_model_best(configs, predictions, &n, model, top, 0.5, NULL, 0, &cli_error)
                  : clt_model_climb(model, top, 0.5, N_PREDICTIONS, configs, predictions, &n, &cli_error));
  json_t *list = json_array(), *item;
  for (size_t i = 0; i < n; i++) {
    const clt_prediction *p = &predictions[i];
    json_array_append_new(
        list,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "configuration", clt_json_configuration(space, configs[i]), "text",
                  cli_json_config_text(space, configs[i]), "options", clt_json_options(subject.instance, configs[i]),
                  "time_s", clt_json_real(exp((double)p->log_cost)), "spread", clt_json_real(p->spread), "p_valid",
                  clt_json_real(p->p_valid)));
  }
  if (!as_json) printf("%-12s %-8s %-8s configuration\n", "predicted", "spread", "p valid");
  json_array_foreach(as_json ? NULL : list, i_shown, item) {
    char time[32];
    printf("%-12s %-8.3g %-8.3g %s\n", clt_time_text(time, clt_json_number(item, "time_s")),
           clt_json_number(item, "spread"), clt_json_number(item, "p_valid"), clt_json_string(item, "text"));
  }
  clt_model_free(read);
  int rc = as_json ? cli_print_json(json_pack("{s:O}", "predictions", list)) : CLI_FOUND;
  json_decref(list);
  return rc;
}

static const cli_flag predict_flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    {"model", "FILE|NAME",
     "a model file, or a type of model to fit now to stored measurements (default: the model saved by 'clatune train', "
     "else auto)"},
    {"top", "K", "how many configurations to print (default 10)"},
    {"sweep", NULL,
     "predicts every configuration of the space, even of a large one (default: hill climbing in large spaces)"},
    CLI_FLAG_STORE,
    CLI_FLAG_SEED,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_predict = {
    .name = "predict",
    .summary = "prints the configurations with the best predicted times",
    .synopsis = "PROBLEM [--model FILE|NAME] [--top K] [--device NAME] [--size NAME=N]... [OPTION...]",
    .description =
        "Predicts run times and prints the best configurations, those that will probably fail last. A model trained at "
        "several sizes also predicts for sizes without measurements. With a model file, no device is needed; the "
        "limits of a device apply if one is named.",
    CLI_FLAGS(predict_flags),
    .plugins = {&clt_models},
    .n_positional = {1, 1},
    .run = run_predict,
};
